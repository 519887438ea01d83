//! Values that must not be seen: the type that carries them and the redactor that every sink passes through.
//!
//! Two kinds of secret are replaced: the values that this program was given (configuration, environment, tokens),
//! in the spellings in which they come back, and whatever has the shape of a well-known credential. Redaction
//! looks at the text as it is: a caller that holds raw output strips control characters first, because one of
//! them inside a token would hide it.

mod known;
mod shapes;
mod spans;
mod token;
mod value;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;

use known::Known;
use spans::Spans;
pub use token::fresh_token;
pub(crate) use value::edit_strings;

const PASSWORD_MARKER: &str = "[REDACTED:password]";

/// A resolved secret. It has no `Display` and no `Serialize`, and its `Debug` says nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<Arc<str>>) -> Self {
        Self(value.into())
    }

    /// The value, for the one place that has to hand it on (a child's environment, a header).
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Replaces known secret values and anything shaped like a secret by `[REDACTED:kind]`. One for the whole program:
/// clones share what they learn. Idempotent.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Arc<RwLock<Arc<Known>>>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor(…)")
    }
}

impl Redactor {
    /// Values with fewer characters are not searched for: they would blank out ordinary text.
    pub const MIN_CHARS: usize = 6;

    /// From now on these values are replaced wherever they occur, in every clone: as they are, percent-encoded, in
    /// base64 and as a JSON string has them; of a value of several lines also each line of 16 characters or more.
    /// Values shorter than [`Self::MIN_CHARS`] are left out.
    pub fn learn(&self, values: impl IntoIterator<Item = Secret>) {
        let values: Vec<Secret> = values.into_iter().collect();
        // What a panicking thread left behind is whole: it is only ever replaced as one.
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(more) = known.with(&values) {
            *known = Arc::new(more);
        }
    }

    /// These values are not looked for any more. Only for random ones of ours that open nothing any more: their shape is
    /// still known, and what they are made of is part of no other value.
    pub fn forget(&self, values: impl IntoIterator<Item = Secret>) {
        let values: Vec<Secret> = values.into_iter().collect();
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(less) = known.without(&values) {
            *known = Arc::new(less);
        }
    }

    /// `text` without secrets; borrowed when there were none.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).clone();
        let mut spans = Spans::default();
        known.find(text, &mut spans);
        shapes::find(text, &mut spans);
        spans.replace(text)
    }

    /// `text` without the known values only. For what a person decides about: what merely looks like a secret stays,
    /// or whoever wrote it could hide it behind a marker.
    pub fn redact_known<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).clone();
        let mut spans = Spans::default();
        known.find(text, &mut spans);
        spans.replace(text)
    }

    /// The same as [`Self::redact`] for a string that is the member `key` of an object: under a key that ends in a word for a password
    /// the whole string goes.
    pub fn redact_member<'t>(&self, key: Option<&str>, text: &'t str) -> Cow<'t, str> {
        let words = ["password", "passwd", "pwd"];
        let names_password = key.map(str::to_ascii_lowercase).is_some_and(|key| words.iter().any(|w| key.ends_with(w)));
        if names_password && !text.is_empty() && text != PASSWORD_MARKER {
            return Cow::Owned(PASSWORD_MARKER.to_owned());
        }
        self.redact(text)
    }

    /// Redacts every string of a JSON value, keys included. True when there was something to redact.
    pub fn redact_value(&self, value: &mut Value) -> bool {
        edit_strings(value, &mut |key, text| match self.redact_member(key, text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(redacted) => Some(redacted),
        })
    }
}

#[cfg(test)]
mod tests;

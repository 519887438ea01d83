//! The arguments of a call: one value that is shown, hashed, audited and sent.
//!
//! The value is canonical JSON text (keys in RFC 8785 order, minimal escapes, numbers exactly as sent).
//! Duplicate keys, numbers that a receiver could not keep exactly, and lone surrogates are refused here,
//! before anybody is asked.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::json::{Document, JsonError, unescape, utf16_order};
use crate::secret::Redactor;

/// A SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The SHA-256 of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The first eight hexadecimal digits, for people.
    pub fn short(&self) -> String {
        self.to_string().chars().take(8).collect()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digit = |nibble: u8| nibble + if nibble < 10 { b'0' } else { b'a' - 10 };
        let mut text = [0; 64];
        for (pair, byte) in text.as_chunks_mut::<2>().0.iter_mut().zip(self.0) {
            *pair = [digit(byte >> 4), digit(byte & 15)];
        }
        f.write_str(str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why a text cannot be the arguments of a call.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ArgumentsError {
    /// Not JSON.
    #[error("the arguments are not JSON: {reason} at byte {at}")]
    Syntax {
        /// What is wrong.
        reason: &'static str,
        /// Byte offset, from 0.
        at: usize,
    },
    /// JSON, but not an object.
    #[error("the arguments are not a JSON object")]
    NotAnObject,
    /// One object has one key twice.
    #[error("the key \"{key}\" stands twice in one object of the arguments (byte {at})")]
    DuplicateKey {
        /// The key, escaped for display and cut to 80 characters.
        key: String,
        /// Byte offset of the second one, from 0.
        at: usize,
    },
    /// A number that a 64-bit integer or a double cannot hold exactly.
    #[error("the number {number} cannot be kept exactly (byte {at}); send it as a string")]
    InexactNumber {
        /// The number as sent, cut to 80 characters.
        number: String,
        /// Byte offset, from 0.
        at: usize,
    },
    /// Nested deeper than [`Arguments::MAX_DEPTH`].
    #[error("the arguments are nested deeper than {} levels", Arguments::MAX_DEPTH)]
    TooDeep,
    /// Longer than [`Arguments::MAX_BYTES`].
    #[error("the arguments are longer than {} bytes", Arguments::MAX_BYTES)]
    TooLong,
}

/// The arguments of a call as they may be drawn or recorded. Not what is sent: secrets may have been replaced.
#[derive(Clone, PartialEq, Eq)]
pub struct ShownArguments {
    text: Arc<str>,
    digest: Digest,
    bytes: usize,
    hidden: usize,
}

impl ShownArguments {
    /// JSON text in canonical form.
    pub fn canonical(&self) -> &str {
        &self.text
    }

    /// The same text, shared.
    pub fn shared(&self) -> Arc<str> {
        self.text.clone()
    }

    /// SHA-256 of what is sent.
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Length in bytes of what is sent.
    pub const fn len_bytes(&self) -> usize {
        self.bytes
    }

    /// How many strings are not shown as they are sent.
    pub const fn hidden(&self) -> usize {
        self.hidden
    }
}

impl From<Arguments> for ShownArguments {
    /// All of it.
    fn from(arguments: Arguments) -> Self {
        Self { bytes: arguments.canonical.len(), text: arguments.canonical, digest: arguments.digest, hidden: 0 }
    }
}

fn owned(text: Cow<'_, str>) -> Option<String> {
    match text {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text),
    }
}

impl fmt::Debug for ShownArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ShownArguments({} bytes, {}, {} hidden)", self.bytes, self.digest.short(), self.hidden)
    }
}

/// The checked arguments of one call.
#[derive(Clone, PartialEq, Eq)]
pub struct Arguments {
    canonical: Arc<str>,
    digest: Digest,
}

impl Arguments {
    /// The deepest nesting that is accepted.
    pub const MAX_DEPTH: usize = 4096;
    /// The longest text that is accepted, in bytes.
    pub const MAX_BYTES: usize = 16 << 20;

    /// Checks a JSON text and brings it into canonical form.
    ///
    /// # Errors
    /// See [`ArgumentsError`]; nothing is repaired or guessed.
    pub fn parse(text: &str) -> Result<Self, ArgumentsError> {
        if text.len() > Self::MAX_BYTES {
            return Err(ArgumentsError::TooLong);
        }
        let document = Document::parse(text, Self::MAX_DEPTH)?;
        if !document.is_object() {
            return Err(ArgumentsError::NotAnObject);
        }
        Ok(Self::from_canonical(document.canonical()))
    }

    /// No arguments: `{}`.
    pub fn empty() -> Self {
        Self::from_canonical("{}".to_owned())
    }

    /// These arguments with the top-level member `confirm` dropped, if there is one, and `confirm: true` put in.
    #[must_use]
    pub fn with_confirm(&self) -> Self {
        let mut members = top_level_members(&self.canonical);
        members.retain(|member| key_of(member) != "confirm");
        let place = members.partition_point(|member| utf16_order(&key_of(member), "confirm").is_lt());
        members.insert(place, "\"confirm\":true");
        Self::from_canonical(format!("{{{}}}", members.join(",")))
    }

    /// The canonical JSON text: what is shown, hashed, audited and sent.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// The same text, shared.
    pub fn shared(&self) -> Arc<str> {
        self.canonical.clone()
    }

    /// SHA-256 of the canonical text.
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// As a person who decides sees them: only values known to be secret are replaced, and counted.
    pub fn for_person(&self, redactor: &Redactor) -> ShownArguments {
        self.shown(|_, text| owned(redactor.redact_known(text)))
    }

    /// As lists, logs and the audit keep them: everything that looks like a secret is replaced, and counted.
    pub fn for_record(&self, redactor: &Redactor) -> ShownArguments {
        self.shown(|key, text| owned(redactor.redact_member(key, text)))
    }

    /// These arguments as they may be drawn or recorded: each string passes `edit`, see [`Document::edited`].
    fn shown(&self, edit: impl Fn(Option<&str>, &str) -> Option<String>) -> ShownArguments {
        let hidden = Cell::new(0);
        let counted = |key: Option<&str>, text: &str| {
            let edited = edit(key, text);
            hidden.set(hidden.get() + usize::from(edited.is_some()));
            edited
        };
        let text = match Document::parse(&self.canonical, Self::MAX_DEPTH + 1) {
            Ok(document) => document.edited(counted),
            // What was checked once is not refused the second time; if it were, nothing of it would be shown.
            Err(_) => "{}".to_owned(),
        };
        ShownArguments { text: text.into(), digest: self.digest, bytes: self.canonical.len(), hidden: hidden.get() }
    }

    /// Length of the canonical text in bytes.
    pub fn len_bytes(&self) -> usize {
        self.canonical.len()
    }

    fn from_canonical(text: String) -> Self {
        Self { digest: Digest::of(text.as_bytes()), canonical: text.into() }
    }
}

impl From<JsonError> for ArgumentsError {
    fn from(error: JsonError) -> Self {
        // Enough to recognise it by; the rest of a hostile key or number helps nobody.
        let shown = |text: String| crate::text::visible(&text).chars().take(80).collect();
        match error {
            JsonError::Syntax { reason, at } => Self::Syntax { reason, at },
            JsonError::DuplicateKey { key, at } => Self::DuplicateKey { key: shown(key), at },
            JsonError::InexactNumber { number, at } => Self::InexactNumber { number: shown(number), at },
            JsonError::TooDeep => Self::TooDeep,
            JsonError::TooLong => Self::TooLong,
        }
    }
}

/// The members of a canonical object's text, each `"key":value`, without its inside being read again.
fn top_level_members(canonical: &str) -> Vec<&str> {
    let inside = canonical.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    let members = inside.split(|c: char| {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '{' | '[' if !quoted => depth += 1,
            '}' | ']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && !quoted && depth == 0
    });
    members.filter(|member| !member.is_empty()).collect()
}

/// The key of a canonical member: up to the first quote that no backslash escapes.
fn key_of(member: &str) -> std::borrow::Cow<'_, str> {
    let mut escaped = false;
    let inside = member.strip_prefix('"').unwrap_or(member);
    let end = inside.find(|c: char| {
        let closes = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        closes
    });
    unescape(end.and_then(|end| inside.get(..end)).unwrap_or(inside))
}

impl fmt::Debug for Arguments {
    /// The hash and the size: argument values stay out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Arguments({} bytes, {})", self.canonical.len(), self.digest.short())
    }
}

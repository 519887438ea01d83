//! Reading response bodies within bounds: whole JSON answers, error texts, the kind of a body.
//!
//! Used by [`super::job`], [`super::stream`] and [`super::classic`].

use http::header::CONTENT_TYPE;
use reqwest::Response;

use super::endpoint::root_cause;

/// What a body claims to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// `text/event-stream`, whatever its parameters.
    Events,
    /// Anything else.
    Other,
}

/// What an answer's body claims to be.
pub(super) fn kind(answer: &Response) -> Kind {
    if media_type(answer).eq_ignore_ascii_case("text/event-stream") { Kind::Events } else { Kind::Other }
}

/// Its media type without parameters, as sent; empty when there is none.
pub(super) fn media_type(answer: &Response) -> String {
    let value = answer.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_owned()
}

/// Why a body cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum BodyError {
    /// It is longer than the limit.
    TooLarge,
    /// It broke off.
    Broken(String),
}

/// Reads a whole body of at most `limit` bytes.
///
/// # Errors
/// See [`BodyError`].
pub(super) async fn whole(mut answer: Response, limit: usize) -> Result<String, BodyError> {
    let mut bytes = Vec::new();
    loop {
        match answer.chunk().await {
            Ok(Some(piece)) if bytes.len() + piece.len() > limit => return Err(BodyError::TooLarge),
            Ok(Some(piece)) => bytes.extend_from_slice(&piece),
            Ok(None) => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) => return Err(BodyError::Broken(root_cause(&error))),
        }
    }
}

/// Reads the start of a body, at most `limit` bytes of it.
///
/// # Errors
/// Why it could not be read.
pub(super) async fn start(mut answer: Response, limit: usize) -> Result<String, String> {
    let mut bytes = Vec::new();
    while bytes.len() < limit {
        match answer.chunk().await {
            Ok(Some(piece)) => {
                let room = limit - bytes.len();
                bytes.extend_from_slice(piece.get(..room).unwrap_or(&piece));
            }
            Ok(None) => break,
            Err(error) => return Err(root_cause(&error)),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The start of `text`, at most `limit` bytes and cut between characters.
pub(super) fn cut(text: &str, limit: usize) -> &str {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

//! What a refused or failed request means: whether it can have run, and what it says about the connection. Pure.
//!
//! [`super::job`] asks for every answer that is no success and every request that met no answer.

use super::body::cut;
use super::endpoint::root_cause;
use crate::engine::connection::message::{Fault, Lack, Reached};

/// Bytes of an error's body that a reason quotes.
const QUOTED: usize = 200;

/// An answer that is no success, as far as it matters.
pub(super) struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The start of its body, or nothing.
    pub body: String,
    /// The `WWW-Authenticate` header, where there is one.
    pub challenge: Option<String>,
    /// Where it redirects to, where it does.
    pub target: Option<String>,
}

impl Refusal {
    /// What it means for the request. The text is neither cleaned nor redacted.
    pub fn lack(&self) -> Lack {
        let status = self.status;
        let what = match status {
            401 => "unauthorized: the server wants other credentials",
            403 => "unauthorized: the server forbids it to these credentials",
            429 => "the server takes no more requests for now",
            _ => "",
        };
        let challenge = self.challenge.as_deref().map(str::trim).filter(|challenge| !challenge.is_empty());
        let body = self.body.split_whitespace().collect::<Vec<_>>().join(" ");
        let quoted = match cut(&body, QUOTED) {
            "" => String::new(),
            start if start.len() < body.len() => format!(": {start}…"),
            whole => format!(": {whole}"),
        };
        let reason = match (&self.target, challenge) {
            (Some(target), _) => format!("HTTP {status}: the server redirects to {target}, which is not followed"),
            (None, Some(challenge)) if !what.is_empty() => {
                format!("HTTP {status}: {what} (it asks for {}){quoted}", cut(challenge, QUOTED))
            }
            (None, _) if !what.is_empty() => format!("HTTP {status}: {what}{quoted}"),
            (None, _) => format!("HTTP {status}{quoted}"),
        };
        Lack { reached: reached(status), fault: Fault::Status(status), reason }
    }
}

/// A status that is given before anything runs, or any other one.
const fn reached(status: u16) -> Reached {
    match status {
        300..=399 | 401 | 403 | 404 | 405 | 406 | 411 | 413 | 415 | 429 => Reached::No,
        _ => Reached::Perhaps,
    }
}

/// A request that met no answer. `url` is the address as it may be shown.
pub(super) fn of_error(error: &reqwest::Error, url: &str) -> Lack {
    let cause = root_cause(error);
    if error.is_connect() {
        let reason = format!("cannot connect to {url}: {cause}");
        return Lack { reached: Reached::No, fault: Fault::Unreachable, reason };
    }
    if error.is_builder() {
        return Lack { reached: Reached::No, fault: Fault::Broken, reason: cause };
    }
    broken(format!("the connection broke off: {cause}"))
}

/// It was sent, and what came back is no answer.
pub(super) fn broken(reason: String) -> Lack {
    Lack { reached: Reached::Perhaps, fault: Fault::Broken, reason }
}

/// The server does not know our session, and did nothing for that reason.
pub(super) fn session_lost() -> Lack {
    let reason = "the server no longer knows our session".to_owned();
    Lack { reached: Reached::No, fault: Fault::Session, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_name_the_status_and_quote_a_little_of_the_body() {
        let refusal = |status, body: &str, challenge: Option<&str>, target: Option<&str>| {
            let (challenge, target) = (challenge.map(str::to_owned), target.map(str::to_owned));
            let lack = Refusal { status, body: body.to_owned(), challenge, target }.lack();
            (lack.reached, lack.reason)
        };
        assert_eq!(refusal(502, "<h1>Bad\n  gateway</h1>", None, None).1, "HTTP 502: <h1>Bad gateway</h1>");
        assert_eq!(refusal(503, "", None, None), (Reached::Perhaps, "HTTP 503".to_owned()));
        let (reached, reason) = refusal(401, "", Some("Bearer realm=\"x\""), None);
        assert_eq!(reached, Reached::No);
        assert!(reason.contains("unauthorized") && reason.ends_with("(it asks for Bearer realm=\"x\")"), "{reason}");
        let (_, reason) = refusal(307, "moved", None, Some("https://other:8443"));
        assert_eq!(reason, "HTTP 307: the server redirects to https://other:8443, which is not followed");
        let (_, reason) = refusal(500, &"ü".repeat(400), None, None);
        assert!(reason.ends_with("ü…") && reason.len() < 220, "{reason}");
        assert_eq!(refusal(429, "slow down", None, None).0, Reached::No);
    }
}

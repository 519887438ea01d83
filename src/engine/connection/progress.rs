//! What a server says of a call that runs: as it comes off the wire, and as whoever waits for the call may hear it.
//!
//! [`super::client`] notes each notice, [`super::call`] hands the latest on. A server may send as many as it likes:
//! they cost one slot, are cleaned only when they are handed on, and that happens at most every [`PACE`]; the last one
//! always is.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Number, Value};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::secret::Redactor;

/// The shortest time between two notices of one call that are handed on.
const PACE: Duration = Duration::from_millis(100);
/// The longest message that is looked at, in bytes; of a longer one only the figures are handed on.
const LONGEST: usize = 64 << 10;
/// What is handed on of a message, in cells.
const SHOWN: usize = 300;

/// What a server said last of a running call, fit for others. The figures are the server's own and may be in any
/// order.
#[derive(Clone, PartialEq, Debug)]
pub struct Progress {
    /// How far it is.
    pub progress: Number,
    /// How far it has to go.
    pub total: Option<Number>,
    /// In words; sanitised, redacted, one short line.
    pub message: Option<Arc<str>>,
}

/// Where the progress of a call is heard; only the latest is kept.
pub type Hearing = watch::Sender<Option<Progress>>;

/// Who waits for a call: how it is given up, and where its progress is heard.
#[derive(Clone, Debug, Default)]
pub struct Waiter {
    /// Cancelled when nobody waits any more.
    pub cancel: CancellationToken,
    /// `None` where nobody wants to hear of progress.
    pub hearing: Option<Hearing>,
}

impl From<CancellationToken> for Waiter {
    fn from(cancel: CancellationToken) -> Self {
        Self { cancel, hearing: None }
    }
}

/// One notice as it came: neither cleaned nor redacted, bounded.
#[derive(Clone, Debug)]
pub(super) struct Said {
    progress: Number,
    total: Option<Number>,
    message: Option<Box<str>>,
}

impl Said {
    /// Reads the parameters of a notice. `None` when it has no figure.
    pub fn read(params: &Value) -> Option<Self> {
        let number = |key: &str| params.get(key).and_then(Value::as_number).cloned();
        let message = params.get("message").and_then(Value::as_str).filter(|message| message.len() <= LONGEST);
        Some(Self { progress: number("progress")?, total: number("total"), message: message.map(Into::into) })
    }

    /// Cleaned before it is cut, so that no part of a secret is left over at the cut.
    fn cleaned(&self, redactor: &Redactor) -> Progress {
        let message = self.message.as_deref().map(|message| {
            let line = message.trim().replace(['\n', '\t'], " ");
            let clean = crate::text::clean(&line);
            crate::text::fit(&redactor.redact(&clean), SHOWN).into()
        });
        let message = message.filter(|message: &Arc<str>| !message.is_empty());
        Progress { progress: self.progress.clone(), total: self.total.clone(), message }
    }
}

/// Hands notices on, no faster than [`PACE`].
pub(super) struct Pace<'w> {
    said: watch::Receiver<Option<Said>>,
    hearing: Option<&'w Hearing>,
    redactor: &'w Redactor,
    next: Instant,
    waits: bool,
}

impl<'w> Pace<'w> {
    pub fn new(said: watch::Receiver<Option<Said>>, waiter: &'w Waiter, redactor: &'w Redactor) -> Self {
        Self { said, hearing: waiter.hearing.as_ref(), redactor, next: Instant::now(), waits: false }
    }

    /// Waits for the next sign of life of the server, handing on what is due. False once none can come.
    pub async fn sign(&mut self) -> bool {
        loop {
            tokio::select! {
                biased;
                () = sleep_until(self.next), if self.waits => self.tell(),
                changed = self.said.changed() => {
                    self.waits |= self.hearing.is_some();
                    return changed.is_ok();
                }
            }
        }
    }

    /// Hands on what nobody heard yet: the call is over.
    pub fn last_word(&mut self) {
        if self.waits || self.said.borrow_and_update().has_changed() {
            self.tell();
        }
    }

    fn tell(&mut self) {
        self.waits = false;
        self.next = Instant::now() + PACE;
        let said = self.said.borrow().clone();
        if let (Some(hearing), Some(said)) = (self.hearing, said) {
            hearing.send_replace(Some(said.cleaned(self.redactor)));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::secret::Secret;

    fn heard(params: &Value) -> Option<Progress> {
        let redactor = Redactor::default();
        redactor.learn([Secret::new("hunter2-hunter2")]);
        Said::read(params).map(|said| said.cleaned(&redactor))
    }

    #[test]
    fn figures_are_kept_and_words_made_fit() {
        let progress =
            heard(&json!({"progress": 1.50, "total": 3, "message": "a\nb\u{1b}[31m\u{202e} hunter2-hunter2"}));
        let progress = progress.unwrap();
        assert_eq!((progress.progress.to_string(), progress.total.unwrap().to_string()), ("1.5".into(), "3".into()));
        let message = progress.message.unwrap();
        assert!(message.starts_with("a b\\u{202e} [REDACTED"), "{message}");
        assert!(!message.contains("hunter2") && !message.chars().any(char::is_control), "{message}");
        let long = heard(&json!({"progress": 1, "message": "x".repeat(5000)})).unwrap().message.unwrap();
        assert_eq!(crate::text::width(&long), SHOWN);
        let huge = heard(&json!({"progress": 1, "message": "x".repeat(LONGEST + 1)})).unwrap();
        assert_eq!(huge.message, None);
        for none in [json!({}), json!({"progress": "1"}), json!(null), json!([1])] {
            assert_eq!(heard(&none), None, "{none}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_thinned_out_and_its_last_word_kept() {
        let (said, notices) = watch::channel(None);
        let (hearing, mut heard) = watch::channel(None);
        let waiter = Waiter { cancel: CancellationToken::new(), hearing: Some(hearing) };
        let redactor = Redactor::default();
        let mut pace = Pace::new(notices, &waiter, &redactor);
        let flood = async {
            for step in 0..1000_u64 {
                said.send_replace(Said::read(&json!({"progress": step})));
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let counts = async {
            let mut count = 0;
            while heard.changed().await.is_ok() {
                count += 1;
                if heard.borrow().as_ref().unwrap().progress.as_u64() >= Some(900) {
                    break;
                }
            }
            count
        };
        let pump = async { while pace.sign().await {} };
        let both = tokio::time::timeout(Duration::from_secs(10), async { tokio::join!(flood, counts) });
        let count = tokio::select! {
            both = both => both.expect("it is handed on").1,
            () = pump => unreachable!(),
        };
        assert!((8..=11).contains(&count), "{count} in a second");
        pace.last_word();
        assert_eq!(heard.borrow().as_ref().unwrap().progress.as_u64(), Some(999));
    }
}

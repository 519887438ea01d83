//! Whether the caller of a call is there to take its answer.
//!
//! A surface answers an agent that has waited long enough with "repeat the same call" and the question goes on
//! without it. Nothing runs without a live caller, so what a person approves meanwhile waits until the caller is
//! back. Leaving and starting to run are one atomic step: whichever comes first wins. While the call runs, the caller
//! hears by it what the server says of progress. Surfaces hold one end, the pipeline the other; who repeats which call
//! is the surfaces' business.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::engine::connection::progress::{Hearing, Progress};
use crate::engine::snapshot::Withdrawal;

/// How long an approved call waits for its caller to come back.
const UNUSED: Duration = Duration::from_secs(300);

/// Where a call and its caller stand towards each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// The caller waits; nobody was asked, or what was asked is decided and runs.
    Running,
    /// A person is asked, for leave or for what the server wants to know, and the caller waits.
    Asked,
    /// A person was asked and the caller left for now.
    Away,
}

/// One call's caller. Clones are the same caller.
#[derive(Clone, Debug)]
pub struct Hold {
    stage: Arc<watch::Sender<Stage>>,
    why_gone: Arc<OnceLock<Withdrawal>>,
    hearing: Hearing,
}

/// Why an approval could not be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lapsed {
    /// The caller did not come back in time.
    Unused,
    /// The caller gave the call up.
    GivenUp,
}

impl Default for Hold {
    fn default() -> Self {
        Self {
            stage: Arc::new(watch::channel(Stage::Running).0),
            why_gone: Arc::default(),
            hearing: watch::channel(None).0,
        }
    }
}

impl Hold {
    /// Where it stands now.
    pub fn stage(&self) -> Stage {
        *self.stage.borrow()
    }

    /// Waits until it stands anywhere but at `known`.
    pub async fn leaves(&self, known: Stage) {
        // The sender lives as long as this future does.
        let _ = self.stage.subscribe().wait_for(|stage| *stage != known).await;
    }

    /// The caller leaves for now. False when nobody is asked any more: then the answer is near, and the caller stays.
    pub fn leave(&self) -> bool {
        self.step(Stage::Asked, Stage::Away)
    }

    /// The caller is back.
    pub fn come_back(&self) {
        self.step(Stage::Away, Stage::Asked);
    }

    /// What the server says of the call while it runs: the latest only, already paced.
    pub fn progress(&self) -> watch::Receiver<Option<Progress>> {
        let mut heard = self.hearing.subscribe();
        // What was said before anybody listened is news too.
        heard.mark_changed();
        heard
    }

    /// Where the server's progress goes.
    pub(super) fn hearing(&self) -> &Hearing {
        &self.hearing
    }

    /// Says why the caller is about to give the call up; the first reason counts.
    pub fn gone_because(&self, why: Withdrawal) {
        let _ = self.why_gone.set(why);
    }

    /// Waits until the caller has given the call up. A call that anybody else ends has an answer, which its caller gets.
    pub async fn given_up(&self, cancel: &CancellationToken) {
        cancel.cancelled().await;
        if self.why_gone.get().is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// Why the caller gave the call up.
    pub(super) fn why_gone(&self) -> Withdrawal {
        self.why_gone.get().copied().unwrap_or(Withdrawal::Cancelled)
    }

    /// A person is asked.
    pub(super) fn asked(&self) {
        self.step(Stage::Running, Stage::Asked);
    }

    /// The question ended without leave to run: there is nothing to hold any more.
    pub(super) fn answered(&self) {
        self.step(Stage::Asked, Stage::Running);
    }

    /// Waits until the caller is there and keeps it from leaving.
    pub(super) async fn claim(&self, cancel: &CancellationToken) -> Result<(), Lapsed> {
        let mut stages = self.stage.subscribe();
        let claimed = async {
            loop {
                if self.step(Stage::Asked, Stage::Running) || self.stage() == Stage::Running {
                    return;
                }
                // The sender lives as long as this future does.
                let _ = stages.wait_for(|stage| *stage != Stage::Away).await;
            }
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Lapsed::GivenUp),
            () = claimed => Ok(()),
            () = tokio::time::sleep(UNUSED) => Err(Lapsed::Unused),
        }
    }

    fn step(&self, from: Stage, to: Stage) -> bool {
        self.stage.send_if_modified(|stage| {
            let here = *stage == from;
            if here {
                *stage = to;
            }
            here
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_caller_that_left_first_is_waited_for() {
        let hold = Hold::default();
        hold.asked();
        assert!(hold.leave());
        let claim = tokio::spawn({
            let hold = hold.clone();
            async move { hold.claim(&CancellationToken::new()).await }
        });
        tokio::task::yield_now().await;
        assert!(!claim.is_finished());
        hold.come_back();
        assert_eq!(claim.await.unwrap(), Ok(()));
        assert!(!hold.leave(), "what runs is not left");
    }

    #[tokio::test]
    async fn a_call_that_was_claimed_first_keeps_its_caller() {
        let hold = Hold::default();
        assert!(!hold.leave(), "nobody was asked");
        hold.asked();
        assert_eq!(hold.claim(&CancellationToken::new()).await, Ok(()));
        assert!(!hold.leave());
    }

    #[tokio::test(start_paused = true)]
    async fn an_approval_lapses_when_the_caller_stays_away_or_gives_up() {
        let hold = Hold::default();
        hold.asked();
        hold.leave();
        assert_eq!(hold.claim(&CancellationToken::new()).await, Err(Lapsed::Unused));
        let gone = CancellationToken::new();
        gone.cancel();
        assert_eq!(hold.claim(&gone).await, Err(Lapsed::GivenUp));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_ended_for_its_caller_is_not_given_up() {
        let (hold, cancel) = (Hold::default(), CancellationToken::new());
        cancel.cancel();
        let soon = Duration::from_secs(1);
        assert!(
            tokio::time::timeout(soon, hold.given_up(&cancel)).await.is_err(),
            "the program ends, the caller waits"
        );
        hold.gone_because(Withdrawal::Cancelled);
        assert!(tokio::time::timeout(soon, hold.given_up(&cancel)).await.is_ok());
    }
}

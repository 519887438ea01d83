//! The story of one question: recorded when it is asked and when it ends, and only then answered.
//!
//! The core starts one for each question that it shows. It waits for whichever end comes first; that the question is
//! withdrawn is told to the core, whose word is the end all the same.

use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::{Answer, Ended, Inbox, Why};
use crate::clock::Timestamp;
use crate::engine::audit::{Audit, Durability, Kind, Record};
use crate::ids::FormId;

/// See the module.
#[derive(Debug)]
pub(in crate::engine) struct Story {
    pub(in crate::engine) id: FormId,
    /// Whose question, and during which call; it says what is asked for.
    pub(in crate::engine) asked: Record,
    pub(in crate::engine) audit: Audit,
    pub(in crate::engine) inbox: Inbox,
    /// Who answers, for the audit.
    pub(in crate::engine) person: Arc<str>,
    pub(in crate::engine) reply: oneshot::Sender<Answer>,
    pub(in crate::engine) withdrawn: oneshot::Receiver<Why>,
    pub(in crate::engine) end: oneshot::Receiver<Ended>,
}

impl Story {
    /// Follows the question to its end.
    pub(in crate::engine) async fn run(mut self) {
        let began = Instant::now();
        let server = self.asked.connection.as_ref().map_or_else(|| "the server".to_owned(), ToString::to_string);
        // A trail that cannot be written keeps no question from the screen; it keeps back what would be answered.
        let _ = self.audit.append(vec![self.asked.clone()], Durability::Written).await;
        let ended = tokio::select! {
            biased;
            ended = &mut self.end => ended,
            why = &mut self.withdrawn => {
                self.inbox.withdraw(self.id, why.unwrap_or(Why::ServerGone)).await;
                (&mut self.end).await
            }
        };
        let (answer, by_person) = match ended {
            Ok(Ended::Answered(answer)) => (answer, true),
            Ok(Ended::Over(why)) => (Answer::Cancelled(why), false),
            Err(_) => (Answer::Cancelled(Why::Shutdown), false),
        };
        let record = Record {
            at: Timestamp::now(),
            kind: Kind::Answered,
            decider: by_person.then(|| self.person.clone()),
            reason: Some(answer.words().into()),
            elapsed: Some(began.elapsed()),
            ..self.asked
        };
        let written = self.audit.append(vec![record], Durability::Written).await;
        let accepted = matches!(answer, Answer::Accepted(_));
        let answer = match (written, answer) {
            (Err(_), Answer::Accepted(_)) => Answer::Cancelled(Why::NotRecorded),
            (_, answer) => answer,
        };
        let unrecorded = accepted && !matches!(answer, Answer::Accepted(_));
        // Whoever asked may have gone. The person was told that the answer was taken, and hears when it was for nothing.
        let gone = self.reply.send(answer).is_err();
        if accepted && (unrecorded || gone) {
            let why = if unrecorded { "the audit could not be written" } else { "its call is over" };
            self.inbox.tell(format!("your answer to {server} was not sent: {why}")).await;
        }
    }
}

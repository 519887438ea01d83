//! A call that the server answers with questions: they are put to the person, and the call is sent on with the answers.
//!
//! By the server's word such a call did not run. It is the permitted call all along: the same tool and the same arguments,
//! byte for byte, from the one request that the connection handed back. Each time it goes on the seat, the definition and
//! the rules are looked at again, and the trail says so before it is sent. While the person fills a form in, the caller
//! may leave as it may while an approval waits; the call then goes on when the caller is back.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;

use super::hold::Lapsed;
use super::run::Run;
use super::trail;
use crate::engine::audit::Durability;
use crate::engine::connection::{CallFailure, Connection, Reply, Unfinished};
use crate::engine::forms::rounds::{self, MOST_ROUNDS, Wanted};
use crate::engine::forms::{Answer, BUSY, Inbox, Origin, Put, Why};
use crate::engine::gate::Dispatch;
use crate::engine::snapshot::Tier;
use crate::tool::{Entry, elicit};

/// Why a call does not go on whose caller has gone.
const GIVEN_UP: &str = "cancelled by the caller while its question waited";
/// Time before a call is sent on that a server wants again without asking anything.
const BREATH: Duration = Duration::from_secs(1);

impl Run {
    /// Sends the call on for as long as the server asks for more, at most [`MOST_ROUNDS`] times.
    pub(super) async fn go_on(
        &mut self,
        mut unfinished: Unfinished,
        (entry, asked): (&Arc<Entry>, Option<Tier>),
        connection: &Connection,
    ) -> Result<Reply, CallFailure> {
        for round in 1..=MOST_ROUNDS {
            let dispatch = self.next_round(unfinished, (entry, asked), round).await.map_err(CallFailure::Unanswered)?;
            if let Some(why) = self.last_look(entry, asked) {
                return Err(CallFailure::Unanswered(format!("it asked for input, and {why}").into()));
            }
            self.went_on = true;
            unfinished = match self.timed(connection, dispatch).await {
                Ok(Reply::InputRequired(unfinished)) => unfinished,
                answer => return answer,
            };
        }
        let reason = format!("it went on asking for input after {MOST_ROUNDS} answers");
        Err(CallFailure::Unanswered(reason.into()))
    }

    /// The call with what the server asked for, recorded; or why it does not go on.
    async fn next_round(
        &mut self,
        unfinished: Unfinished,
        (entry, asked): (&Arc<Entry>, Option<Tier>),
        round: usize,
    ) -> Result<Dispatch, Arc<str>> {
        let inbox = self.pipeline.forms.clone().ok_or("it asked for input, which is not offered here")?;
        let wanted = rounds::wanted(&unfinished.asks)?;
        if !wanted.questions.is_empty() {
            self.hold.asked();
        }
        let answers = self.answered(&inbox, &wanted, entry).await;
        self.hold.answered();
        let answers = answers?;
        let results: Vec<String> = answers.iter().map(Answer::result).collect();
        let mut record = trail::dispatched(self);
        let given: Vec<String> = answers.iter().map(Answer::words).collect();
        let given = if given.is_empty() { "nothing was asked".to_owned() } else { given.join("; ") };
        let reason = format!("goes on, round {round}: {given}");
        record.reason = Some(self.pipeline.redactor.redact(&reason).as_ref().into());
        self.records.push(record);
        // As strong as the records around a person's decision, where one stands behind the call.
        self.write(if asked.is_some() { Durability::Synced } else { Durability::Written }).await?;
        Ok(unfinished.with(wanted.input(&results)))
    }

    /// The person's answers, once the caller is there for what comes of them; or why the call does not go on.
    async fn answered(&self, inbox: &Inbox, wanted: &Wanted, entry: &Arc<Entry>) -> Result<Vec<Answer>, Arc<str>> {
        let cancel = &self.request.cancel;
        let answers = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(GIVEN_UP.into()),
            answers = self.answers(inbox, wanted, entry) => answers,
        };
        if let Some(why) = answers.iter().find_map(ends_the_call) {
            return Err(format!("it asked for input, and the question went away: {}", why.as_str()).into());
        }
        match self.hold.claim(cancel).await {
            Ok(()) => Ok(answers),
            Err(Lapsed::GivenUp) => Err(GIVEN_UP.into()),
            Err(Lapsed::Unused) => Err("it asked for input, and the caller did not come back for the answer".into()),
        }
    }

    /// Puts all questions to the person at once and waits for every answer.
    async fn answers(&self, inbox: &Inbox, wanted: &Wanted, entry: &Arc<Entry>) -> Vec<Answer> {
        if wanted.questions.is_empty() {
            tokio::time::sleep(BREATH).await;
            return Vec::new();
        }
        let questions = wanted.questions.iter();
        join_all(questions.map(|(_, params)| self.answer(inbox, params.get(), entry))).await
    }

    /// Puts one question to the person and waits for its answer.
    async fn answer(&self, inbox: &Inbox, params: &str, entry: &Arc<Entry>) -> Answer {
        let origin = Origin {
            connection: entry.connection.clone(),
            server: entry.server.clone(),
            during: vec![self.view.id.clone()],
        };
        let form = match elicit::read(params, &self.pipeline.redactor) {
            Ok(form) => form,
            Err(error) => {
                let reason = error.to_string();
                inbox.refused(origin, &reason);
                return Answer::refused(reason);
            }
        };
        let Some(Put { answer, withdraw, .. }) = inbox.put(origin.clone(), form, None) else {
            inbox.refused(origin, BUSY);
            return Answer::refused(BUSY);
        };
        let _withdraw = WithdrawOnDrop(Some(withdraw));
        answer.await.unwrap_or(Answer::Cancelled(Why::Shutdown))
    }
}

/// Says why a question is not waited for any more.
struct WithdrawOnDrop(Option<tokio::sync::oneshot::Sender<Why>>);

impl Drop for WithdrawOnDrop {
    fn drop(&mut self) {
        if let Some(withdraw) = self.0.take() {
            // A question that has ended has nobody who listens.
            let _ = withdraw.send(Why::CallOver);
        }
    }
}

/// Why a call does not go on after this answer; a person's no, and nobody's, go back to the server.
const fn ends_the_call(answer: &Answer) -> Option<Why> {
    match answer {
        Answer::Accepted(_) | Answer::Declined(_) | Answer::Cancelled(Why::ByPerson | Why::Expired) => None,
        Answer::Cancelled(why) => Some(*why),
    }
}

//! The questions that wait: so many of each connection and in all. Each ends exactly once, by the person, by time, or by
//! being withdrawn.
//!
//! Owned by the engine's core task, as the desk of approvals is.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::{Answer, IN_ALL, PER_CONNECTION, Why};
use crate::engine::command::FormAnswer;
use crate::engine::snapshot::FormView;
use crate::ids::{ConnectionName, FormId};
use crate::secret::Redactor;
use crate::tool::elicit::{Entered, Form};

/// How a question ended.
#[derive(Debug)]
pub(in crate::engine) enum Ended {
    /// A person's word.
    Answered(Answer),
    /// Nobody chose.
    Over(Why),
}

/// See the module.
#[derive(Debug, Default)]
pub(in crate::engine) struct Forms {
    pending: BTreeMap<FormId, Pending>,
}

#[derive(Debug)]
struct Pending {
    view: Arc<FormView>,
    expires: Instant,
    end: oneshot::Sender<Ended>,
}

impl Forms {
    /// Why no further question of a connection can wait; `None` when one can.
    pub(in crate::engine) fn full(&self, connection: &ConnectionName) -> Option<String> {
        let of_it = self.pending.values().filter(|pending| pending.view.connection == *connection).count();
        if of_it >= PER_CONNECTION {
            return Some(format!("{of_it} questions of this server wait already"));
        }
        let all = self.pending.len();
        (all >= IN_ALL).then(|| format!("{all} questions wait already"))
    }

    /// Lets a question wait; its one end goes to `end`.
    pub(in crate::engine) fn put(&mut self, view: FormView, expires: Instant, end: oneshot::Sender<Ended>) {
        self.pending.insert(view.id, Pending { view: Arc::new(view), expires, end });
    }

    /// A person's word on a question.
    ///
    /// # Errors
    /// Why nothing was done, for people; the question goes on waiting, if it does.
    pub(in crate::engine) fn answer(
        &mut self,
        id: FormId,
        answer: FormAnswer,
        redactor: &Redactor,
    ) -> Result<(), String> {
        let gone = || "your answer came too late: the question waits no more".to_owned();
        let pending = self.pending.get(&id).ok_or_else(gone)?;
        let answer = match answer {
            FormAnswer::Accept(entered) => {
                let form = &pending.view.form;
                if let Some(label) = secret_in(form, &entered, redactor) {
                    return Err(format!("nothing was sent: what is in \"{label}\" looks like a password or token"));
                }
                let wrong = "nothing was sent: the answer does not fit the form".to_owned();
                Answer::Accepted(form.compose(&entered).map_err(|_| wrong)?)
            }
            FormAnswer::Decline => Answer::Declined(None),
            FormAnswer::Cancel => Answer::Cancelled(Why::ByPerson),
        };
        self.end(id, Ended::Answered(answer));
        Ok(())
    }

    /// Ends every question that has waited its time.
    pub(in crate::engine) fn expire(&mut self, now: Instant) {
        let due: Vec<FormId> = self.pending.iter().filter(|(_, p)| p.expires <= now).map(|(id, _)| *id).collect();
        for id in due {
            self.end(id, Ended::Over(Why::Expired));
        }
    }

    /// When the next question expires.
    pub(in crate::engine) fn next_expiry(&self) -> Option<Instant> {
        self.pending.values().map(|pending| pending.expires).min()
    }

    /// Ends one question, if it waits.
    pub(in crate::engine) fn withdraw(&mut self, id: FormId, why: Why) {
        self.end(id, Ended::Over(why));
    }

    /// Ends every question for which `why` gives a reason.
    pub(in crate::engine) fn withdraw_where(&mut self, why: impl Fn(&FormView) -> Option<Why>) {
        let gone: Vec<(FormId, Why)> =
            self.pending.iter().filter_map(|(id, pending)| Some((*id, why(&pending.view)?))).collect();
        for (id, why) in gone {
            self.end(id, Ended::Over(why));
        }
    }

    /// The questions, oldest first.
    pub(in crate::engine) fn views(&self) -> Vec<Arc<FormView>> {
        self.pending.values().map(|pending| pending.view.clone()).collect()
    }

    fn end(&mut self, id: FormId, ended: Ended) {
        if let Some(pending) = self.pending.remove(&id) {
            // Its story is gone only when the engine itself is.
            let _ = pending.end.send(ended);
        }
    }
}

/// The label of the first field with something that must not be given to a server here.
fn secret_in<'f>(form: &'f Form, entered: &[Entered], redactor: &Redactor) -> Option<&'f str> {
    let secret = |entered: &Entered| match entered {
        Entered::Text(text) => redactor.redact(text) != *text,
        Entered::Switch(_) | Entered::One(_) | Entered::Many(_) => false,
    };
    let mut pairs = form.fields.iter().zip(entered);
    pairs.find(|(_, entered)| secret(entered)).map(|(field, _)| &*field.label)
}

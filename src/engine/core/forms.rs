//! Servers' questions to the person: shown, answered, withdrawn, or refused at once.

use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::Core;
use crate::clock::Timestamp;
use crate::engine::audit::{Durability, Kind, Record};
use crate::engine::command::FormAnswer;
use crate::engine::forms::{self, Answer, Asked, Asking, Origin, Refused, Story, Why};
use crate::engine::snapshot::{AuditHealth, CallView, FormCall, FormView, LogLevel};
use crate::ids::FormId;

impl Core {
    pub(super) fn asking(&mut self, asking: Asking) {
        self.dirty = true;
        match asking {
            Asking::Ask(asked) => self.ask_form(*asked),
            Asking::Withdraw(id, why) => self.forms.withdraw(id, why),
            Asking::Refused(refused) => self.form_refused(&refused),
            Asking::Tell(words) => self.notice(LogLevel::Warn, &words),
        }
    }

    /// Shows a question, or refuses it where it cannot wait.
    fn ask_form(&mut self, asked: Asked) {
        let Asked { id, origin, form, patience, reply, withdrawn } = asked;
        if self.snapshot.stopping {
            // Whoever asked may have gone.
            let _ = reply.send(Answer::Cancelled(Why::Shutdown));
            return;
        }
        let Some(inbox) = self.fixed.pipeline.forms.clone() else { return };
        if let Some(reason) = self.forms.full(&origin.connection) {
            let _ = reply.send(Answer::refused(reason.as_str()));
            return self.form_refused(&Refused { origin, reason: reason.into() });
        }
        let during = self.calls_of(&origin);
        let names: Vec<Arc<str>> = form.fields.iter().map(|field| field.name.clone()).collect();
        let mut record = form_record(Kind::Elicited, &origin, &during);
        let reason = match names.as_slice() {
            [] => "asks for a yes".to_owned(),
            names => format!("asks for {}", forms::names(names)),
        };
        let calls: Vec<&str> = during.iter().map(|call| call.id.as_str()).collect();
        let several = (calls.len() > 1).then(|| format!("; during one of {}", calls.join(", ")));
        let reason = format!("{reason}{}", several.unwrap_or_default());
        record.reason = Some(self.fixed.pipeline.redactor.redact(&reason).as_ref().into());
        let wait = self.outlets.settings.borrow().wait;
        let wait = patience.map_or(wait, |patience| patience.min(wait));
        let now = Timestamp::now();
        let call = |call: &Arc<CallView>| FormCall {
            call: call.id.clone(),
            tool: call.name.clone(),
            caller: call.caller.clone(),
        };
        let view = FormView {
            id,
            connection: origin.connection,
            server: origin.server,
            during: during.iter().map(call).collect(),
            form: Arc::new(form),
            asked_at: now,
            expires_at: now.plus(wait),
        };
        tracing::info!(server = %view.connection, fields = names.len(), "elicitation_asked");
        let (end, ended) = oneshot::channel();
        self.forms.put(view, Instant::now() + wait, end);
        let pipeline = &self.fixed.pipeline;
        let (audit, person) = (pipeline.audit.clone(), pipeline.person.clone());
        self.stories.spawn(Story { id, asked: record, audit, inbox, person, reply, withdrawn, end: ended }.run());
        self.withdraw_forms_of_stopped();
    }

    /// A person's word on a question.
    pub(super) fn answer_form(&mut self, id: FormId, answer: FormAnswer) {
        self.dirty = true;
        let broken = matches!(*self.inlets.audit.borrow(), AuditHealth::Broken { .. });
        if broken && matches!(answer, FormAnswer::Accept(_)) {
            return self.notice(LogLevel::Warn, "nothing was sent: the audit cannot be written");
        }
        let redactor = self.fixed.pipeline.redactor.clone();
        if let Err(why) = self.forms.answer(id, answer, &redactor) {
            self.notice(LogLevel::Warn, &why);
        }
    }

    /// Questions of calls of seats that are stopped go away: what they lead to is not wanted any more.
    pub(super) fn withdraw_forms_of_stopped(&mut self) {
        let stopped = &self.snapshot.stopped_seats;
        let is_stopped = |call: &FormCall| stopped.iter().any(|stopped| Some(&stopped.seat) == call.caller.seat());
        self.forms.withdraw_where(|view| {
            (!view.during.is_empty() && view.during.iter().all(is_stopped)).then_some(Why::SeatStopped)
        });
    }

    /// Records that nobody was asked; of a flood the first and then a count each minute.
    fn form_refused(&mut self, refused: &Refused) {
        let Refused { origin, reason } = refused;
        // Without what is quoted: servers name their fields, and there are as many reasons as we have words for.
        let sort = reason.split('"').next().unwrap_or_default();
        let key = (origin.connection.clone(), Arc::from(sort));
        let Some(count) = self.refused_forms.count(key, Instant::now()) else { return };
        let mut record = form_record(Kind::Answered, origin, &self.calls_of(origin));
        let words = Answer::refused(reason.clone()).words();
        let times = if count == 1 { String::new() } else { format!(" ({count} questions since the last record)") };
        record.reason = Some(self.fixed.pipeline.redactor.redact(&format!("{words}{times}")).as_ref().into());
        tracing::info!(server = %origin.connection, %reason, "elicitation_declined");
        let audit = self.fixed.pipeline.audit.clone();
        // Nothing waits for it, and a failure shows in the writer's health.
        self.stories.spawn(async move { drop(audit.append(vec![record], Durability::Written).await) });
    }

    fn calls_of(&self, origin: &Origin) -> Vec<Arc<CallView>> {
        self.calls.views().into_iter().filter(|call| origin.during.contains(&call.id)).collect()
    }
}

/// A record about a question: whose, and during which call where that is known.
fn form_record(kind: Kind, origin: &Origin, during: &[Arc<CallView>]) -> Record {
    let mut record = Record::new(Timestamp::now(), kind);
    record.server = Some(origin.server.clone());
    record.connection = Some(origin.connection.clone());
    if let [call] = during {
        record.call = Some(call.id.clone());
        record.caller = Some(call.caller.clone());
        record.tool.clone_from(&call.raw_name);
        record.name = Some(call.name.clone());
        record.class = call.class;
    }
    record
}

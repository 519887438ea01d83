//! The pipeline of one call: resolve, classify, record intent, gate, ask, dispatch, record the outcome.
//!
//! The core starts one [`Pipeline::run`] for each call. It owns the call's story from received to finished and
//! tells the core about it by [`CallEvent`]s; it never changes shared state itself.

mod report;
mod trail;

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::audit::{Audit, Decision, Durability, Kind, Outcome, Record};
use super::connection::{CallFailure, Connection, Reply};
use super::gate::desk::{Ending, Question};
use super::gate::{Attendance, AuditState, Case, Changed, Dispatch, Permit, Verdict, judge, policy};
use super::handle::{CallReport, CallRequest};
use super::snapshot::{AuditHealth, CallPhase, CallView, ResultView, Withdrawal};
use crate::clock::Timestamp;
use crate::config::model::ApprovalSettings;
use crate::ids::{CallId, ConnectionName};
use crate::secret::Redactor;
use crate::tool::annotations::Hint;
use crate::tool::delivery::read_only_proven;
use crate::tool::output::{self, CallOutput, OutputNote};
use crate::tool::{Arguments, Catalog, EffectClass, Entry};

/// A connection as calls see it.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// Carries the call; `None` when the connection could not even be configured.
    pub(super) connection: Option<Connection>,
    /// Why calls cannot be sent now; `None` when they can.
    pub(super) down: Option<Arc<str>>,
}

/// What a call tells the core.
#[derive(Debug)]
pub(super) enum CallEvent {
    /// The call as it stands now.
    Changed(Box<CallView>),
    /// A person has to decide.
    Ask(Box<Question>, Box<CallView>),
    /// The caller gave the question up.
    Withdraw(CallId),
}

/// What all calls share.
#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    pub(super) catalog: watch::Receiver<Arc<Catalog>>,
    pub(super) links: watch::Receiver<Arc<HashMap<ConnectionName, Link>>>,
    pub(super) settings: watch::Receiver<Arc<ApprovalSettings>>,
    pub(super) audit: Audit,
    pub(super) core: mpsc::Sender<CallEvent>,
    pub(super) redactor: Redactor,
    pub(super) attendance: Attendance,
    /// Who decides at this screen, for the audit: `person:root`.
    pub(super) person: Arc<str>,
}

impl Pipeline {
    /// Runs one call to its end.
    pub(super) async fn run(self, call: CallId, request: CallRequest) -> CallReport {
        let found = self.catalog.borrow().find(&request.tool).cloned();
        let mut run = Run::new(self, call, request);
        match found {
            Some(entry) => run.with_entry(entry).await,
            None => {
                let reason = run.unknown_tool();
                run.refuse(reason).await
            }
        }
    }
}

/// One call on its way.
struct Run {
    pipeline: Pipeline,
    request: CallRequest,
    received: Instant,
    /// What is shown, hashed, audited and sent.
    arguments: Arguments,
    confirm_set: bool,
    entry: Option<Arc<Entry>>,
    view: CallView,
    /// Records that wait for the next append.
    records: Vec<Record>,
}

/// How a question came back to the pipeline.
enum Answered {
    Approved(Permit),
    Over(CallPhase),
}

/// How an attempt to send went.
enum Sent {
    Over(CallPhase, Option<CallOutput>),
    DefinitionChanged,
}

impl Run {
    fn new(pipeline: Pipeline, call: CallId, request: CallRequest) -> Self {
        let arguments = request.arguments.clone();
        let view = CallView {
            id: call,
            at: Timestamp::now(),
            caller: request.caller.clone(),
            name: request.tool.clone(),
            server: None,
            raw_name: None,
            class: None,
            flags: Vec::new(),
            arguments: Some(arguments.redacted(&pipeline.redactor)),
            policy: None,
            decider: None,
            phase: CallPhase::Running,
            elapsed: None,
            ran: None,
            result: None,
        };
        Self {
            received: Instant::now(),
            confirm_set: false,
            entry: None,
            records: Vec::new(),
            pipeline,
            request,
            arguments,
            view,
        }
    }

    async fn with_entry(mut self, entry: Arc<Entry>) -> CallReport {
        self.place(entry);
        let record = trail::received(&self);
        self.records.push(record);
        if let Some(down) = self.down() {
            return self.refuse_as(CallPhase::Failed { reason: down.clone() }, down).await;
        }
        let mut changed = Changed::No;
        loop {
            let entry = match &self.entry {
                Some(entry) => entry.clone(),
                None => return self.over(CallPhase::Withdrawn(Withdrawal::ServerGone), None).await,
            };
            let (verdict, settings) = self.verdict(&entry, changed);
            let sent = match verdict {
                Verdict::Refuse { reason } => return self.refuse(reason).await,
                Verdict::Allow { permit, decider } => self.send_unasked(&entry, permit, decider).await,
                Verdict::Ask(tier) => {
                    let policy_by = self.view.policy.as_ref().map_or_else(|| "policy".into(), |(_, by)| by.clone());
                    match self.ask(&entry, tier, policy_by, &settings).await {
                        // The question went away with the old definition; the new one is judged anew.
                        Answered::Over(CallPhase::Withdrawn(Withdrawal::DefinitionChanged)) => Sent::DefinitionChanged,
                        Answered::Over(phase) => return self.over(phase, None).await,
                        Answered::Approved(permit) => self.send_approved(permit).await,
                    }
                }
            };
            match sent {
                Sent::Over(phase, output) => return self.over(phase, output).await,
                Sent::DefinitionChanged => {
                    changed = Changed::SinceAsked;
                    let again = self.pipeline.catalog.borrow().again(&entry).cloned();
                    match again {
                        Some(now) => self.place(now),
                        None => self.entry = None,
                    }
                }
            }
        }
    }

    /// Takes the tool as it is now: the view's facts, and the arguments composed for it.
    fn place(&mut self, entry: Arc<Entry>) {
        self.confirm_set = entry.class() == EffectClass::Destructive && entry.takes_confirm();
        self.arguments =
            if self.confirm_set { self.request.arguments.with_confirm() } else { self.request.arguments.clone() };
        self.view.name = entry.name.clone();
        self.view.server = Some(entry.server.clone());
        self.view.raw_name = Some(entry.raw_name.clone());
        self.view.class = Some(entry.class());
        self.view.flags.clone_from(&entry.flags);
        self.view.arguments = Some(self.arguments.redacted(&self.pipeline.redactor));
        self.entry = Some(entry);
    }

    fn verdict(&mut self, entry: &Arc<Entry>, changed: Changed) -> (Verdict, Arc<ApprovalSettings>) {
        let settings = self.pipeline.settings.borrow().clone();
        let answer = policy(&settings, entry, self.request.caller.seat());
        self.view.policy = Some((answer.decision, answer.by.clone()));
        let audit = match *self.pipeline.audit.health().borrow() {
            AuditHealth::Good => AuditState::Good,
            AuditHealth::Broken { .. } => AuditState::Broken,
        };
        let verdict = judge(&Case {
            call: &self.view.id,
            entry,
            arguments: &self.arguments,
            answer: &answer,
            consent: &self.request.consent,
            attendance: self.pipeline.attendance,
            audit,
            changed,
        });
        (verdict, settings)
    }

    /// Puts the question to a person and waits for its one end.
    async fn ask(
        &mut self,
        entry: &Arc<Entry>,
        tier: super::snapshot::Tier,
        policy_by: Arc<str>,
        settings: &ApprovalSettings,
    ) -> Answered {
        let record = trail::asked(self);
        self.records.push(record);
        if let Err(reason) = self.write(Durability::Written).await {
            return Answered::Over(CallPhase::Refused { reason });
        }
        let (end, mut ending) = oneshot::channel();
        let question = Question {
            call: self.view.id.clone(),
            caller: self.request.caller.clone(),
            entry: entry.clone(),
            arguments: self.arguments.clone(),
            confirm_set: self.confirm_set,
            tier,
            policy_by,
            wait: settings.wait,
            end,
        };
        let asked = CallEvent::Ask(Box::new(question), Box::new(self.view.clone()));
        if self.pipeline.core.send(asked).await.is_err() {
            return self.decided(Ending::Withdrawn(Withdrawal::Shutdown)).await;
        }
        let ended = tokio::select! {
            ended = &mut ending => ended,
            () = self.request.cancel.cancelled() => {
                let withdraw = CallEvent::Withdraw(self.view.id.clone());
                // Whatever ended the question first is its end, so the desk is asked and its word awaited.
                match self.pipeline.core.send(withdraw).await {
                    Ok(()) => ending.await,
                    Err(_) => Ok(Ending::Withdrawn(Withdrawal::Cancelled)),
                }
            }
        };
        self.decided(ended.unwrap_or(Ending::Withdrawn(Withdrawal::Shutdown))).await
    }

    /// Records how a question ended. An approval is recorded together with its dispatch.
    async fn decided(&mut self, ending: Ending) -> Answered {
        let person = self.pipeline.person.clone();
        let (phase, decision, reason) = match ending {
            Ending::Approved(permit) if !self.request.cancel.is_cancelled() => {
                self.view.decider = Some(person);
                return Answered::Approved(permit);
            }
            // Approved, but the caller had gone: nothing runs without a live caller.
            Ending::Approved(_) => withdrawn(Withdrawal::Cancelled),
            Ending::Denied { reason } => {
                self.view.decider = Some(person);
                (CallPhase::Denied { reason: reason.clone() }, Decision::Denied, reason)
            }
            Ending::Expired => (CallPhase::Expired, Decision::Expired, "nobody decided in time".into()),
            Ending::Withdrawn(why) => withdrawn(why),
        };
        let record = trail::decided(self, decision, &reason);
        self.records.push(record);
        // The question is over whether or not its end can be written; the writer's health shows a failure.
        let _ = self.write(Durability::Written).await;
        Answered::Over(phase)
    }

    /// Sends a call that a person approved: once, whatever its hints.
    async fn send_approved(&mut self, permit: Permit) -> Sent {
        let Some(dispatch) = self.redeem(permit) else {
            let reason = Withdrawal::DefinitionChanged.as_str();
            let record = trail::decided(self, Decision::Withdrawn, &reason.into());
            self.records.push(record);
            if let Err(reason) = self.write(Durability::Written).await {
                return Sent::Over(CallPhase::Refused { reason }, None);
            }
            self.view.decider = None;
            return Sent::DefinitionChanged;
        };
        let record = trail::decided(self, Decision::Approved, &"".into());
        self.records.push(record);
        let record = trail::dispatched(self);
        self.records.push(record);
        if let Err(reason) = self.write(Durability::Synced).await {
            return Sent::Over(CallPhase::Refused { reason }, None);
        }
        let outcome = self.dispatch(dispatch).await;
        self.finish(outcome).await
    }

    /// Sends a call that nobody had to approve. A proven read, or a tool that is idempotent, is sent once more
    /// after a transport failure without an answer.
    async fn send_unasked(&mut self, entry: &Arc<Entry>, permit: Permit, decider: Arc<str>) -> Sent {
        self.view.decider = Some(decider);
        let read = read_only_proven(&entry.hints.effective);
        let Some(dispatch) = self.redeem(permit) else { return Sent::DefinitionChanged };
        let record = trail::dispatched(self);
        self.records.push(record);
        if let Err(reason) = self.write(Durability::Written).await
            && !read
        {
            return Sent::Over(CallPhase::Refused { reason }, None);
        }
        let first = self.dispatch(dispatch).await;
        let harmless = read || entry.hints.effective.idempotent == Hint::Yes;
        if !(harmless && matches!(first, Err(CallFailure::Lost(_) | CallFailure::NotSent(_)))) {
            return self.finish(first).await;
        }
        let second = match self.verdict(entry, Changed::No).0 {
            Verdict::Allow { permit, .. } => self.redeem(permit),
            _ => None,
        };
        let Some(dispatch) = second else { return self.finish(first).await };
        let record = trail::dispatched(self);
        self.records.push(record);
        if self.write(Durability::Written).await.is_err() && !read {
            return self.finish(first).await;
        }
        match self.dispatch(dispatch).await {
            Err(CallFailure::NotRunning(_) | CallFailure::NotSent(_)) => self.finish(first).await,
            second => self.finish(second).await,
        }
    }

    /// Resolves the entry again and turns the permit into a request, if it still is what was permitted.
    fn redeem(&self, permit: Permit) -> Option<Dispatch> {
        let catalog = self.pipeline.catalog.borrow().clone();
        let now = catalog.again(self.entry.as_ref()?)?;
        permit.redeem(now, &self.arguments)
    }

    async fn dispatch(&mut self, dispatch: Dispatch) -> Result<Reply, CallFailure> {
        self.view.phase = CallPhase::Running;
        self.publish().await;
        let link = self.link();
        let Some(connection) = link.and_then(|link| link.connection) else {
            return Err(CallFailure::NotRunning("its connection is gone".into()));
        };
        let sent = Instant::now();
        let answer = connection.call(dispatch, self.request.cancel.clone()).await;
        self.view.ran = Some(sent.elapsed());
        answer
    }

    /// Turns an answer, or its absence, into the call's end and records it.
    async fn finish(&mut self, answer: Result<Reply, CallFailure>) -> Sent {
        let (phase, output) = match answer {
            Ok(Reply::Result(raw)) => self.read(raw.get()),
            Ok(Reply::Error { code, message }) => {
                let reason = format!("{}: {message} (JSON-RPC error {code})", self.server_name());
                (CallPhase::Failed { reason: reason.into() }, None)
            }
            Err(failure) => {
                let reason: Arc<str> = format!("{}: {failure}", self.server_name()).into();
                match failure {
                    CallFailure::NotRunning(_) | CallFailure::NotSent(_) => (CallPhase::Failed { reason }, None),
                    CallFailure::Lost(_) | CallFailure::TimedOut(_) | CallFailure::Cancelled => {
                        (CallPhase::Unknown { reason }, None)
                    }
                }
            }
        };
        let outcome = match &phase {
            CallPhase::Done { .. } => Outcome::Done,
            CallPhase::Unknown { .. } => Outcome::Unknown,
            _ => Outcome::Failed,
        };
        let record = trail::finished(self, outcome, &phase);
        self.records.push(record);
        // It has run; a failure to write its end shows in the writer's health.
        let _ = self.write(Durability::Written).await;
        Sent::Over(phase, output)
    }

    fn read(&self, raw: &str) -> (CallPhase, Option<CallOutput>) {
        let output = match serde_json::from_str(raw) {
            Ok(value) => output::read_result(&value, &self.pipeline.redactor),
            Err(_) => output::refused(OutputNote::InvalidUtf8),
        };
        for note in &output.notes {
            trail::log_note(*note, &self.view.name);
        }
        let refused = output.notes.iter().any(|note| !matches!(note, OutputNote::SecretsRedacted));
        let phase = if refused {
            CallPhase::Failed { reason: output::as_text(&output).into() }
        } else {
            CallPhase::Done { is_error: output.is_error }
        };
        (phase, Some(output))
    }

    async fn refuse(self, reason: Arc<str>) -> CallReport {
        self.refuse_as(CallPhase::Refused { reason: reason.clone() }, reason).await
    }

    async fn refuse_as(mut self, phase: CallPhase, reason: Arc<str>) -> CallReport {
        let record = trail::refused(&self, &reason);
        self.records.push(record);
        // It does not run; a failure to write shows in the writer's health.
        let _ = self.write(Durability::Written).await;
        self.over(phase, None).await
    }

    /// Publishes the end and makes the caller's report.
    async fn over(mut self, phase: CallPhase, output: Option<CallOutput>) -> CallReport {
        self.view.phase = phase.clone();
        self.view.elapsed = Some(self.received.elapsed());
        let message: Arc<str> = report::message(&self.view, output.as_ref()).into();
        self.view.result = output.as_ref().map(|output| {
            Arc::new(ResultView {
                text: output::as_text(output).into(),
                is_error: output.is_error,
                redacted: output.notes.contains(&OutputNote::SecretsRedacted),
            })
        });
        self.publish().await;
        CallReport {
            call: self.view.id.clone(),
            phase,
            output,
            policy: self.view.policy.clone(),
            elapsed: self.received.elapsed(),
            message,
        }
    }

    async fn write(&mut self, durability: Durability) -> Result<(), Arc<str>> {
        let records = std::mem::take(&mut self.records);
        self.pipeline.audit.append(records, durability).await.map_err(|error| error.to_string().into())
    }

    async fn publish(&self) {
        // The core outlives its calls; when it is gone there is nobody to tell.
        let _ = self.pipeline.core.send(CallEvent::Changed(Box::new(self.view.clone()))).await;
    }

    fn link(&self) -> Option<Link> {
        let entry = self.entry.as_ref()?;
        self.pipeline.links.borrow().get(&entry.connection).cloned()
    }

    /// Why the tool's connection cannot take calls, when it cannot.
    fn down(&self) -> Option<Arc<str>> {
        let why = match self.link() {
            Some(Link { down: None, .. }) => return None,
            Some(Link { down: Some(why), .. }) => why,
            None => "it is not configured any more".into(),
        };
        Some(format!("{} is not running: {why}; nothing was sent", self.server_name()).into())
    }

    fn server_name(&self) -> String {
        self.view.server.as_ref().map_or_else(|| "the server".to_owned(), |name| format!("server \"{name}\""))
    }

    fn unknown_tool(&self) -> Arc<str> {
        let name = crate::text::fit(&self.request.tool, 80).into_owned();
        format!("there is no tool \"{}\"; the catalogue lists what there is", crate::text::visible(&name)).into()
    }
}

fn withdrawn(why: Withdrawal) -> (CallPhase, Decision, Arc<str>) {
    (CallPhase::Withdrawn(why), Decision::Withdrawn, why.as_str().into())
}

impl Run {
    fn record(&self, kind: Kind) -> Record {
        let mut record = Record::new(Timestamp::now(), kind);
        record.call = Some(self.view.id.clone());
        record.caller = Some(self.request.caller.clone());
        record.server = self.view.server.clone();
        record.tool = self.view.raw_name.clone();
        record.name = Some(self.view.name.clone());
        record.class = self.view.class;
        record.flags.clone_from(&self.view.flags);
        record.args_sha256 = Some(self.arguments.digest());
        record
    }
}

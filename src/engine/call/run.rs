//! One call on its way: what is known of it, and the order of its steps.

use std::sync::Arc;

use tokio::time::Instant;

use super::hold::Hold;
use super::{CallEvent, Link, Pipeline, report, trail};
use crate::clock::Timestamp;
use crate::config::model::ApprovalSettings;
use crate::engine::audit::{Durability, Kind, Record};
use crate::engine::connection::Connection;
use crate::engine::gate::desk::Approval;
use crate::engine::gate::standing::with_grant;
use crate::engine::gate::{AuditState, Case, Changed, Verdict, judge};
use crate::engine::handle::{CallReport, CallRequest};
use crate::engine::snapshot::{AuditHealth, CallPhase, CallView, ResultView, Withdrawal};
use crate::ids::{CallId, ConnectionName, GrantId};
use crate::tool::output::{self, CallOutput, OutputNote};
use crate::tool::worker::may_hold;
use crate::tool::{Arguments, Digest, EffectClass, Entry};

/// One call on its way.
pub(super) struct Run {
    pub(super) pipeline: Pipeline,
    pub(super) request: CallRequest,
    pub(super) hold: Hold,
    pub(super) received: Instant,
    /// What is shown, hashed, audited and sent.
    pub(super) arguments: Arguments,
    pub(super) confirm_set: bool,
    /// Where a person changed the arguments: the digest of what they were.
    pub(super) edited_from: Option<Digest>,
    /// It was sent on with answers to what its server asked.
    pub(super) went_on: bool,
    /// The grant that lets it through, where one does.
    pub(super) grant: Option<GrantId>,
    pub(super) entry: Option<Arc<Entry>>,
    /// What would carry it when the tool was looked at: another one may have other credentials or variables.
    pub(super) carrier: Option<Connection>,
    pub(super) view: CallView,
    /// Records that wait for the next append.
    pub(super) records: Vec<Record>,
}

/// How a question came back to the pipeline.
pub(super) enum Answered {
    Approved(Approval),
    /// The rules changed under the question.
    JudgeAnew,
    Over(CallPhase),
}

/// How an attempt to send went.
pub(super) enum Sent {
    Over(CallPhase, Option<CallOutput>),
    DefinitionChanged,
    /// Nothing was sent; the rules changed.
    JudgeAnew,
}

impl Run {
    /// In a box: it goes from step to step by value.
    pub(super) fn new(pipeline: Pipeline, call: CallId, mut request: CallRequest, hold: Hold) -> Box<Self> {
        // Until it is known what is meant, the names are whatever the caller made of them.
        request.tool = pipeline.redactor.redact(&request.tool).into();
        request.caller = request.caller.redacted(&pipeline.redactor);
        let arguments = request.arguments.clone();
        let view = CallView {
            id: call,
            at: Timestamp::now(),
            caller: request.caller.clone(),
            name: request.tool.clone(),
            server: None,
            connection: None,
            raw_name: None,
            class: None,
            flags: Vec::new(),
            arguments: Some(arguments.for_record(&pipeline.redactor)),
            policy: None,
            decider: None,
            phase: CallPhase::Running,
            elapsed: None,
            ran: None,
            result: None,
        };
        Box::new(Self {
            received: Instant::now(),
            confirm_set: false,
            edited_from: None,
            went_on: false,
            grant: None,
            entry: None,
            carrier: None,
            records: Vec::new(),
            pipeline,
            request,
            hold,
            arguments,
            view,
        })
    }

    pub(super) async fn with_entry(mut self: Box<Self>, entry: Arc<Entry>) -> CallReport {
        self.place(entry);
        let record = trail::received(&self);
        self.records.push(record);
        if let Some(reason) = self.stopped() {
            return self.refuse_stopped(reason).await;
        }
        if let Some(down) = self.down() {
            return self.refuse_as(CallPhase::Failed { reason: down.clone() }, down).await;
        }
        let mut changed = Changed::No;
        loop {
            let entry = match &self.entry {
                Some(entry) => entry.clone(),
                None => return self.over(CallPhase::Withdrawn(Withdrawal::ServerGone), None).await,
            };
            if let Some(barred) = self.barred(&entry) {
                return self.refuse(barred).await;
            }
            let (verdict, settings) = self.verdict(&entry, changed);
            let sent = match verdict {
                Verdict::Refuse { reason } => return self.refuse(reason).await,
                Verdict::Allow { permit, decider } => self.send_unasked(&entry, permit, decider).await,
                Verdict::Ask(tier) => {
                    let policy_by = self.view.policy.as_ref().map_or_else(|| "policy".into(), |(_, by)| by.clone());
                    // In boxes: most calls ask nobody, and would carry the room for it.
                    match Box::pin(self.ask(&entry, tier, policy_by, &settings)).await {
                        // The question went away with the old definition; the new one is judged anew.
                        Answered::Over(CallPhase::Withdrawn(Withdrawal::DefinitionChanged)) => Sent::DefinitionChanged,
                        Answered::Over(phase) => return self.over(phase, None).await,
                        Answered::JudgeAnew => Sent::JudgeAnew,
                        Answered::Approved(approval) => Box::pin(self.send_approved(&entry, approval, tier)).await,
                    }
                }
            };
            match sent {
                Sent::Over(phase, output) => return self.over(phase, output).await,
                Sent::JudgeAnew => {
                    if let Some(reason) = self.stopped() {
                        return self.refuse_stopped(reason).await;
                    }
                    self.place(entry);
                }
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

    /// Why a worker does not get the tool as it is now, whatever it was given: the guard is asked at every look.
    fn barred(&self, entry: &Entry) -> Option<Arc<str>> {
        let barred = self.request.caller.is_worker().then(|| may_hold(entry).err()).flatten()?;
        Some(format!("refused: not for a worker: {barred}").into())
    }

    /// Takes the tool as it is now: the view's facts, and the arguments composed for it.
    fn place(&mut self, entry: Arc<Entry>) {
        self.edited_from = None;
        // The connector judges its caller's own `confirm`.
        let composes = entry.takes_confirm() && !entry.connection.is_connector();
        self.confirm_set = entry.class() == EffectClass::Destructive && composes;
        self.arguments =
            if self.confirm_set { self.request.arguments.with_confirm() } else { self.request.arguments.clone() };
        self.view.name = entry.name.clone();
        self.view.server = Some(entry.server.clone());
        self.view.connection = Some(entry.connection.clone());
        self.view.raw_name = Some(entry.raw_name.clone());
        self.view.class = Some(entry.class());
        self.view.flags.clone_from(&entry.flags);
        self.view.arguments = Some(self.arguments.for_record(&self.pipeline.redactor));
        self.entry = Some(entry);
        self.carrier = self.link().and_then(|link| link.connection);
    }

    /// Takes the arguments that a person put in the place of the caller's.
    pub(super) fn edit(&mut self, arguments: Arguments) {
        self.edited_from = Some(self.arguments.digest());
        self.view.arguments = Some(arguments.for_record(&self.pipeline.redactor));
        self.arguments = arguments;
    }

    pub(super) fn verdict(&mut self, entry: &Arc<Entry>, changed: Changed) -> (Verdict, Arc<ApprovalSettings>) {
        let settings = self.pipeline.settings.borrow().clone();
        let standing = self.pipeline.standing.borrow().clone();
        let seat = self.request.caller.seat();
        let answer = standing.answer(&settings, entry, seat);
        let digest = self.arguments.digest();
        // After a change under a question a person looks again, whatever is remembered. What is remembered is the seat's
        // own and no worker's.
        let remembered = changed == Changed::No && !self.request.caller.is_worker();
        let grant = remembered.then(|| standing.grant(entry, seat, digest, Instant::now())).flatten();
        let (answer, decider) = with_grant(answer, grant);
        self.grant = grant.map(|grant| grant.id).filter(|_| &*decider != "policy");
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
            decider: &decider,
            class: standing.class(entry),
            consent: &self.request.consent,
            attendance: self.pipeline.attendance,
            audit,
            changed,
        });
        (verdict, settings)
    }

    /// Why nothing of the caller's seat runs, when a person stopped it.
    pub(super) fn stopped(&self) -> Option<Arc<str>> {
        self.pipeline.standing.borrow().stopped(self.request.caller.seat())
    }

    /// Ends a call that was refused before it came here.
    pub(super) async fn refused_before(mut self: Box<Self>, entry: Option<Arc<Entry>>, reason: Arc<str>) -> CallReport {
        if let Some(entry) = entry {
            self.place(entry);
            let record = trail::received(&self);
            self.records.push(record);
        }
        self.refuse(reason).await
    }

    async fn refuse_stopped(self: Box<Self>, reason: Arc<str>) -> CallReport {
        if let Some(seat) = self.request.caller.seat() {
            // The core outlives its calls; when it is gone there is nobody to tell.
            let _ = self.pipeline.core.send(CallEvent::Stopped(seat.clone())).await;
        }
        self.refuse(reason).await
    }

    pub(super) async fn refuse(self: Box<Self>, reason: Arc<str>) -> CallReport {
        self.refuse_as(CallPhase::Refused { reason: reason.clone() }, reason).await
    }

    async fn refuse_as(mut self: Box<Self>, phase: CallPhase, reason: Arc<str>) -> CallReport {
        let record = trail::refused(&self, &reason);
        self.records.push(record);
        // It does not run; a failure to write shows in the writer's health.
        let _ = self.write(Durability::Written).await;
        self.over(phase, None).await
    }

    /// Publishes the end and makes the caller's report.
    async fn over(mut self: Box<Self>, phase: CallPhase, output: Option<CallOutput>) -> CallReport {
        self.view.phase = phase.clone();
        self.view.elapsed = Some(self.received.elapsed());
        let note = self.note();
        let text: Option<Arc<str>> = output.as_ref().map(|output| output::as_text(output).into());
        let message = report::message(&self.view, text.as_ref());
        let message: Arc<str> = match &note {
            Some(note) if message.is_empty() => note.clone(),
            Some(note) => format!("{note}\n\n{message}").into(),
            None => message,
        };
        self.view.result = output.as_ref().zip(text).map(|(output, text)| {
            Arc::new(ResultView {
                text,
                is_error: output.is_error,
                redacted: output.notes.contains(&OutputNote::SecretsRedacted),
            })
        });
        // The core outlives its calls; when it is gone there is nobody to tell.
        let _ = self.pipeline.ends.send(Box::new(self.view.clone())).await;
        CallReport {
            call: self.view.id.clone(),
            phase,
            output,
            policy: self.view.policy.clone(),
            elapsed: self.received.elapsed(),
            message,
            note,
        }
    }

    /// What the caller has to know beside the result.
    fn note(&self) -> Option<Arc<str>> {
        self.edited_from?;
        let shown = self.arguments.for_person(&self.pipeline.redactor);
        Some(
            format!("a person changed the arguments of this call before approving it, to {}", shown.canonical()).into(),
        )
    }

    pub(super) async fn write(&mut self, durability: Durability) -> Result<(), Arc<str>> {
        let records = std::mem::take(&mut self.records);
        self.pipeline.audit.append(records, durability).await.map_err(|error| error.to_string().into())
    }

    pub(super) async fn publish(&self) {
        // The core outlives its calls; when it is gone there is nobody to tell.
        let _ = self.pipeline.core.send(CallEvent::Changed(Box::new(self.view.clone()))).await;
    }

    /// Whether what carried the tool when it was looked at has made room for another one.
    pub(super) fn is_carried_anew(&self) -> bool {
        match (&self.carrier, self.link().and_then(|link| link.connection)) {
            (Some(then), Some(now)) => !then.is(&now),
            (then, now) => then.is_some() != now.is_some(),
        }
    }

    pub(super) fn link(&self) -> Option<Link> {
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

    pub(super) fn server_name(&self) -> String {
        self.view.connection.as_ref().map_or_else(|| "the server".to_owned(), |name| format!("server \"{name}\""))
    }

    /// Ends a call whose name does not stand for a tool of the caller's. Where it names a connection of the caller's
    /// that is down, that is the reason.
    pub(super) async fn refuse_unknown(self: Box<Self>) -> CallReport {
        let asked = self.request.tool.clone();
        if let Some((connection, why)) = self.meant() {
            let connection = crate::text::visible(connection.as_str()).into_owned();
            let reason: Arc<str> = format!("server \"{connection}\" is not running: {why}; nothing was sent").into();
            return self.refuse_as(CallPhase::Failed { reason: reason.clone() }, reason).await;
        }
        let name = crate::text::fit(&asked, 80).into_owned();
        let name = crate::text::visible(&name);
        let owned: Vec<String> =
            self.pipeline.catalog.borrow().owned(&asked).map(|own| own.reference().to_string()).collect();
        let reason = match (self.request.caller.seat(), owned.as_slice()) {
            (_, []) => format!("there is no tool \"{name}\"; the catalogue lists what there is"),
            (Some(seat), _) => format!("seat \"{seat}\" has no tool \"{name}\": only other seats do"),
            (None, owned) => {
                let owned = crate::text::fit(&owned.join(", "), 200).into_owned();
                let owned = crate::text::visible(&owned);
                format!("\"{name}\" belongs to seats, each with credentials of its own; say whose: {owned}")
            }
        };
        self.refuse(reason.into()).await
    }

    /// The connection that is down and that the name means: one that it says, or the caller's own that has listed
    /// nothing yet and is known to have a tool of that name.
    fn meant(&self) -> Option<(ConnectionName, Arc<str>)> {
        let asked = &self.request.tool;
        let seat = self.request.caller.seat();
        let awaited = seat.and_then(|seat| self.pipeline.catalog.borrow().awaited(seat, asked).cloned());
        let links = self.pipeline.links.borrow();
        let says = |connection: &ConnectionName, link: &Link| {
            let begins = |name: &str| asked.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'));
            let whole = begins(connection.as_str());
            match &link.owner {
                None => whole,
                Some(owner) if Some(owner) == seat => whole || begins(link.server.as_str()),
                Some(_) => whole && seat.is_none(),
            }
        };
        let meant = links.iter().find(|(name, link)| awaited.as_ref() == Some(*name) || says(name, link));
        meant.and_then(|(name, link)| Some((name.clone(), link.down.clone()?)))
    }
}

impl Run {
    pub(super) fn record(&self, kind: Kind) -> Record {
        let mut record = Record::new(Timestamp::now(), kind);
        record.call = Some(self.view.id.clone());
        record.caller = Some(self.request.caller.clone());
        record.server.clone_from(&self.view.server);
        record.connection.clone_from(&self.view.connection);
        record.tool.clone_from(&self.view.raw_name);
        record.name = Some(self.view.name.clone());
        record.class = self.view.class;
        record.flags.clone_from(&self.view.flags);
        record.args_sha256 = Some(self.arguments.digest());
        record
    }
}

//! `tools/call`: from the wire's text to a call through the gate, and back as JSON or as a stream.
//!
//! What goes wrong with a call is a tool error that says what to do next. Only a name that the seat does not have is
//! a protocol error, and it is the same one for absent, hidden and forbidden names.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hyper::StatusCode;
use hyper::body::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::Shared;
use super::admit::Takes;
use super::envelope::{self, ErrorCode, Id, Meta, json_text};
use super::live::{End, Held, Key, Live, Step};
use super::party::{Party, Role};
use super::progress::Notices;
use super::reply::{self, Reply};
use super::sessions::{RECORDED_UNKNOWN, Session};
use super::tasks::Tracks;
use super::workers;
use crate::config::model::ApprovalSettings;
use crate::engine::gate::policy::glob;
use crate::engine::handle::{CallReport, CallRequest, Consent, Hold, Progress, SendError};
use crate::engine::snapshot::CallPhase;
use crate::engine::status::Era;
use crate::tool::{Arguments, Entry};

#[derive(Deserialize)]
struct Params<'b> {
    #[serde(borrow)]
    name: Cow<'b, str>,
    #[serde(borrow, default)]
    arguments: Option<&'b RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<Meta<'b>>,
}

/// Who asks, and how the answer goes back.
pub(super) struct Asker {
    pub(super) id: Id,
    pub(super) party: Party,
    pub(super) session: Arc<Session>,
    pub(super) takes: Takes,
    pub(super) tasks: Tracks,
}

/// How messages of one call are written.
struct Writer {
    id: Id,
    era: Era,
    tasks: Tracks,
    /// Where the client gave a token.
    notices: Option<Notices>,
}

/// What a call that is over comes to.
pub(super) enum Outcome {
    /// The `result` member, as JSON text.
    Result(String),
    /// The seat does not have such a tool any more.
    Unknown,
}

/// Answers one `tools/call`.
pub(super) async fn call(shared: &Arc<Shared>, asker: Asker, params: &str) -> Reply {
    let Ok(params) = serde_json::from_str::<Params<'_>>(params) else {
        let text = "tools/call takes an object with a name and, optionally, arguments";
        return reply::json(StatusCode::OK, envelope::error(Some(&asker.id), ErrorCode::INVALID_PARAMS, text));
    };
    let notices = params.meta.and_then(|meta| meta.progress).and_then(Id::of).map(Notices::new);
    let writer = Writer { id: asker.id.clone(), era: asker.session.era, tasks: asker.tasks, notices };
    let Some(entry) = shared.shelf.table(&asker.party).find(&params.name).cloned() else {
        record_unknown(shared, &asker, &params.name).await;
        return whole(writer.unknown());
    };
    let arguments = params.arguments.map_or_else(|| Ok(Arguments::empty()), |raw| Arguments::parse(raw.get()));
    if asker.session.active().is_some_and(|active| !active.holds(&entry)) {
        return whole(writer.tool_error(&refuse_inactive(shared, &asker, &entry, arguments.ok()).await));
    }
    let arguments = match arguments {
        Ok(arguments) => arguments,
        Err(problem) => {
            shared.metrics.refused.fetch_add(1, Ordering::Relaxed);
            let told = format!("{problem}. Nothing was run; mend the arguments");
            let reason = shared.redactor.redact(&problem.to_string()).as_ref().into();
            // It tells the caller what the arguments lack; an engine that ends records nothing more.
            let _ = refuse(shared, &asker, &entry, Arguments::empty(), reason).await;
            return whole(writer.tool_error(&told));
        }
    };
    let settings = shared.handle.settings();
    let longest = longest_hold(&settings, &asker.session.client_name);
    match start(shared, &asker, &writer, &entry, arguments) {
        Ok(live) => {
            let mut held = Box::new(Held::new(live, longest));
            if writer.notices.is_some() && asker.takes != Takes::Json {
                held.hear();
            }
            answer(shared.clone(), asker.takes, writer, held).await
        }
        Err(reply) => *reply,
    }
}

/// Picks up what this caller left, or starts the call.
fn start(
    shared: &Arc<Shared>,
    asker: &Asker,
    writer: &Writer,
    entry: &Arc<Entry>,
    arguments: Arguments,
) -> Result<Live, Box<Reply>> {
    let session = &asker.session;
    let key = Key {
        seat: session.seat.clone(),
        client: session.client_name.clone(),
        tool: entry.key(),
        arguments: arguments.digest(),
    };
    let id = flight_id(session, &writer.id);
    if let Some(live) = shared.parked.pick_up(&key, &id, session) {
        return Ok(live);
    }
    let (hold, cancel) = (Hold::default(), CancellationToken::new());
    if !session.begin(&id, &cancel, &hold) {
        let text = "a request with this id is still being answered";
        let body = envelope::error(Some(&writer.id), ErrorCode::INVALID_REQUEST, text);
        return Err(Box::new(reply::json(StatusCode::OK, body)));
    }
    let request = CallRequest {
        caller: session.caller(),
        tool: entry.reference(),
        arguments,
        consent: Consent::None,
        cancel: cancel.clone(),
    };
    shared.metrics.calls.fetch_add(1, Ordering::Relaxed);
    match shared.handle.start_call(request, hold.clone()) {
        Ok(report) => Ok(Live::new(key, id, session.clone(), (entry.clone(), (hold, cancel, report)))),
        Err(_) => {
            session.finish(&id);
            Err(Box::new(whole(writer.tool_error(ENDING))))
        }
    }
}

const ENDING: &str = "the dashboard is ending; nothing was run";

/// The engine ended before the call did, or a fault of ours ended it.
const LOST: &str = "the outcome is unknown: the dashboard ended, or failed, before the call did. It may have run; \
                    find out before you repeat it";

/// Sessions cancel by their own ids. Without sessions ids of several clients may be the same, and nobody cancels by
/// them: a number of ours stands in.
pub(super) fn flight_id(session: &Session, id: &Id) -> Id {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    if session.era == Era::Legacy {
        return id.clone();
    }
    Id::ours(COUNT.fetch_add(1, Ordering::Relaxed))
}

async fn answer(shared: Arc<Shared>, takes: Takes, mut writer: Writer, mut held: Box<Held>) -> Reply {
    let first = loop {
        let step = held.step().await;
        match writer.next(&shared, held, step) {
            Next::Event(_, still) if takes == Takes::Json => held = still,
            Next::Event(event, still) => break (event, still),
            Next::Last(message) if takes == Takes::Events => {
                return reply::events(futures_util::stream::iter([reply::event(&message)]));
            }
            Next::Last(message) => return whole(message),
            // Cancelled by the client, which wants no answer any more.
            Next::Nothing => return reply::empty(StatusCode::ACCEPTED),
        }
    };
    let (first, mut held) = first;
    // A client that does not read its stream holds nothing up.
    held.let_go();
    let rest = futures_util::stream::unfold(Some((shared, writer, held)), |state| async move {
        let (shared, mut writer, mut held) = state?;
        let step = held.step().await;
        match writer.next(&shared, held, step) {
            Next::Event(event, held) => Some((event, Some((shared, writer, held)))),
            Next::Last(message) => Some((reply::event(&message), None)),
            Next::Nothing => None,
        }
    });
    reply::events(futures_util::StreamExt::chain(futures_util::stream::iter([first]), rest))
}

/// What a client gets next.
enum Next {
    /// Something on the way; the call goes on.
    Event(Bytes, Box<Held>),
    /// The answer.
    Last(Vec<u8>),
    /// Nothing any more.
    Nothing,
}

impl Writer {
    /// What a step means for the client. A call that was left is parked, or goes on as a task.
    fn next(&mut self, shared: &Shared, held: Box<Held>, step: Step) -> Next {
        match step {
            Step::Beat | Step::Left if self.tasks == Tracks::Yes && held.is_asked() => self.as_task(shared, held, step),
            Step::Beat => Next::Event(self.alive(held.is_asked()), held),
            Step::Said(said) => Next::Event(self.said(&said), held),
            Step::Over(end) => Next::Last(self.end(shared, &held.into_live(), &end)),
            Step::Left => {
                shared.parked.put(held.into_live());
                Next::Last(self.tool_error(
                    "waiting for a person; repeat the same call to pick up the decision. Nothing was run yet",
                ))
            }
            Step::GivenUp => Next::Nothing,
        }
    }

    /// A person is asked, and the client can follow the call as a task.
    fn as_task(&mut self, shared: &Shared, held: Box<Held>, step: Step) -> Next {
        match shared.tasks.put(held, shared.handle.settings().wait) {
            Ok(task) => Next::Last(envelope::result(&self.id, &[task.as_bytes()])),
            Err(held) => {
                // There are as many tasks as there may be: this one is held like any other client's.
                self.tasks = Tracks::No;
                self.next(shared, held, step)
            }
        }
    }

    /// A sign of life: progress where the client gave a token, else a comment.
    fn alive(&mut self, asked: bool) -> Bytes {
        let what = if asked { "waiting for a person" } else { "running" };
        let notice = self.notices.as_mut().and_then(|notices| notices.alive(what));
        notice.map_or_else(|| reply::comment(what), |notice| reply::event(&notice))
    }

    /// What the server says of the call.
    fn said(&mut self, said: &Progress) -> Bytes {
        let notice = self.notices.as_mut().and_then(|notices| notices.said(said));
        notice.map_or_else(|| reply::comment("running"), |notice| reply::event(&notice))
    }

    fn unknown(&self) -> Vec<u8> {
        envelope::error(Some(&self.id), ErrorCode::INVALID_PARAMS, UNKNOWN_TOOL)
    }

    fn tool_error(&self, text: &str) -> Vec<u8> {
        envelope::result(&self.id, &[tool_error(self.era, text).as_bytes()])
    }

    fn end(&self, shared: &Shared, live: &Live, end: &End) -> Vec<u8> {
        match outcome(shared, live, end) {
            Outcome::Result(result) => envelope::result(&self.id, &[result.as_bytes()]),
            Outcome::Unknown => self.unknown(),
        }
    }
}

/// The name is not in the seat's list; the same words for every reason.
pub(super) const UNKNOWN_TOOL: &str = "unknown tool: list the tools for what there is";

/// What a call comes to, for the session that gets the answer.
pub(super) fn outcome(shared: &Shared, live: &Live, end: &End) -> Outcome {
    let (key, era) = (&live.key, live.session.era);
    let Some(report) = &end.0 else { return Outcome::Result(tool_error(era, LOST)) };
    let gone = || shared.handle.catalog().borrow().get(&key.tool).is_none();
    Outcome::Result(match (&report.output, &report.phase) {
        (Some(output), _) => {
            let output = workers::with_token(shared, &key.tool, &live.session, output);
            // What a person changed is said first: the result is not of what was asked for.
            let note = report.note.as_deref().map(|note| json!({"type": "text", "text": note}));
            let linked = super::library::linked(shared, &key.tool, &output.content);
            let content: Vec<&Value> = note.iter().chain(linked.iter()).collect();
            result(era, &content, output.structured.as_ref(), output.is_error)
        }
        // Taken away between our look and the engine's.
        (None, CallPhase::Refused { .. }) if gone() => return Outcome::Unknown,
        (None, _) => tool_error(era, &report.message),
    })
}

fn tool_error(era: Era, text: &str) -> String {
    result(era, &[&json!({"type": "text", "text": text})], None, true)
}

fn result(era: Era, content: &[&Value], structured: Option<&Value>, is_error: bool) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct CallResult<'r> {
        #[serde(skip_serializing_if = "Option::is_none")]
        result_type: Option<&'static str>,
        content: &'r [&'r Value],
        #[serde(skip_serializing_if = "Option::is_none")]
        structured_content: Option<&'r Value>,
        is_error: bool,
    }
    let modern = era == Era::Modern;
    json_text(&CallResult {
        result_type: modern.then_some("complete"),
        content,
        // Earlier revisions know objects only; the blocks say the same in text.
        structured_content: structured.filter(|value| modern || value.is_object()),
        is_error,
    })
}

fn whole(message: Vec<u8>) -> Reply {
    reply::json(StatusCode::OK, message)
}

/// How long this client's calls are held while a person is asked: never longer than a question waits.
pub(super) fn longest_hold(settings: &ApprovalSettings, client: &str) -> Duration {
    let own = settings.hold_by_client.iter().find(|(pattern, _)| glob(pattern, client)).map(|(_, hold)| *hold);
    own.unwrap_or(settings.hold).min(settings.wait)
}

/// Records a call of a tool that the seat has and its session has not activated; with what the agent is told.
async fn refuse_inactive(shared: &Shared, asker: &Asker, entry: &Entry, arguments: Option<Arguments>) -> String {
    let name = &entry.exposed;
    let reason = format!("not active: activate \"{name}\" first, by activate_tool {{\"name\": \"{name}\"}}");
    tracing::info!(tool_name = %name, agent_id = %asker.session.seat, success = false, error = "not_active", "tool_result");
    match refuse(shared, asker, entry, arguments.unwrap_or_else(Arguments::empty), reason.into()).await {
        Ok(report) => report.message.to_string(),
        Err(_) => ENDING.to_owned(),
    }
}

/// Records a call that does not run.
async fn refuse(
    shared: &Shared,
    asker: &Asker,
    entry: &Entry,
    arguments: Arguments,
    reason: Arc<str>,
) -> Result<CallReport, SendError> {
    let request = CallRequest {
        caller: asker.session.caller(),
        tool: entry.reference(),
        arguments,
        consent: Consent::None,
        cancel: CancellationToken::new(),
    };
    shared.handle.refuse(request, reason).await
}

/// Leaves a record of a call of a name that this seat does not have; floods are counted only.
async fn record_unknown(shared: &Shared, asker: &Asker, name: &str) {
    shared.metrics.unknown_tools.fetch_add(1, Ordering::Relaxed);
    let clean = shared.redactor.redact(name);
    let shown = crate::text::fit(&crate::text::visible(&clean), 80).into_owned();
    let asked = asker.session.unknown_tools.fetch_add(1, Ordering::Relaxed);
    if asked >= RECORDED_UNKNOWN {
        return;
    }
    tracing::warn!(tool_name = %shown, agent_id = %asker.session.seat, "tool_unknown");
    let (seat, shown) = match &asker.party.role {
        // What its seat has and it has not is refused all the same, under a name that means nothing to the engine.
        Role::Worker(worker) => (&worker.seat, format!("{shown} (not this worker's)")),
        _ => (&asker.party.holder, shown),
    };
    let exists = |name: &str| shared.handle.catalog().borrow().find(Some(seat), name).is_some();
    if (seat != &asker.party.holder || !exists(name)) && !exists(&shown) {
        let cancel = CancellationToken::new();
        // Whatever the name should come to mean by then, nothing runs.
        cancel.cancel();
        let request = CallRequest {
            caller: asker.session.caller(),
            tool: shown.into(),
            arguments: Arguments::empty(),
            consent: Consent::None,
            cancel,
        };
        // An engine that ends records nothing more.
        let _ = shared.handle.call(request).await;
    }
}

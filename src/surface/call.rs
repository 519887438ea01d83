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
use super::live::{Held, Key, Live, Step};
use super::party::Party;
use super::reply::{self, Reply};
use super::sessions::Session;
use crate::config::model::ApprovalSettings;
use crate::engine::gate::policy::glob;
use crate::engine::handle::{CallReport, CallRequest, Consent, Hold};
use crate::engine::snapshot::CallPhase;
use crate::engine::status::Era;
use crate::tool::{Arguments, Entry};

/// Calls of unknown names that leave a record, for each session; further ones are only counted.
const RECORDED_UNKNOWN: u64 = 16;

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
}

/// How messages of one call are written.
struct Writer {
    id: Id,
    era: Era,
    progress: Option<Box<str>>,
    beats: u64,
}

/// Answers one `tools/call`.
pub(super) async fn call(shared: &Arc<Shared>, asker: Asker, params: &str) -> Reply {
    let writer = |progress| Writer { id: asker.id.clone(), era: asker.session.era, progress, beats: 0 };
    let Ok(params) = serde_json::from_str::<Params<'_>>(params) else {
        let text = "tools/call takes an object with a name and, optionally, arguments";
        return reply::json(StatusCode::OK, envelope::error(Some(&asker.id), ErrorCode::INVALID_PARAMS, text));
    };
    let progress = params.meta.and_then(|meta| meta.progress).and_then(Id::of).map(|token| token.as_json().into());
    let writer = writer(progress);
    let Some(entry) = shared.shelf.table(&asker.party).find(&params.name).cloned() else {
        record_unknown(shared, &asker, &params.name).await;
        return whole(writer.unknown());
    };
    let arguments = match params.arguments.map_or_else(|| Ok(Arguments::empty()), |raw| Arguments::parse(raw.get())) {
        Ok(arguments) => arguments,
        Err(problem) => {
            shared.metrics.refused.fetch_add(1, Ordering::Relaxed);
            return whole(writer.tool_error(&format!("{problem}. Nothing was run; mend the arguments")));
        }
    };
    let settings = shared.handle.settings();
    let longest = longest_hold(&settings, &asker.session.client_name);
    match start(shared, &asker, &writer, &entry, arguments).await {
        Ok(live) => answer(shared.clone(), asker.takes, writer, Held::new(live, longest)).await,
        Err(reply) => *reply,
    }
}

/// Picks up what this caller left, or starts the call.
async fn start(
    shared: &Arc<Shared>,
    asker: &Asker,
    writer: &Writer,
    entry: &Entry,
    arguments: Arguments,
) -> Result<Live, Box<Reply>> {
    let session = &asker.session;
    let key = Key {
        seat: session.seat.clone(),
        client: session.client_name.clone(),
        tool: entry.name.clone(),
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
        tool: entry.name.clone(),
        arguments,
        consent: Consent::None,
        cancel: cancel.clone(),
    };
    shared.metrics.calls.fetch_add(1, Ordering::Relaxed);
    match shared.handle.start_call(request, hold.clone()).await {
        Ok(report) => Ok(Live::new(key, id, session.clone(), (hold, cancel, report))),
        Err(_) => {
            session.finish(&id);
            Err(Box::new(whole(writer.tool_error(ENDING))))
        }
    }
}

const ENDING: &str = "the dashboard is ending; nothing was run";

/// Sessions cancel by their own ids. Without sessions ids of several clients may be the same, and nobody cancels by
/// them: a number of ours stands in.
fn flight_id(session: &Session, id: &Id) -> Id {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    if session.era == Era::Legacy {
        return id.clone();
    }
    Id::ours(COUNT.fetch_add(1, Ordering::Relaxed))
}

async fn answer(shared: Arc<Shared>, takes: Takes, mut writer: Writer, mut held: Held) -> Reply {
    loop {
        match held.step().await {
            Step::Beat if takes != Takes::Json => break,
            Step::Beat => {}
            end => {
                return match writer.ended(&shared, held, end) {
                    Some(message) if takes == Takes::Events => {
                        reply::events(futures_util::stream::iter([reply::event(&message)]))
                    }
                    Some(message) => whole(message),
                    // Cancelled by the client, which wants no answer any more.
                    None => reply::empty(StatusCode::ACCEPTED),
                };
            }
        }
    }
    let first = writer.beat(held.is_asked());
    let rest = futures_util::stream::unfold(Some((shared, writer, held)), |state| async move {
        let (shared, mut writer, mut held) = state?;
        match held.step().await {
            Step::Beat => Some((writer.beat(held.is_asked()), Some((shared, writer, held)))),
            end => writer.ended(&shared, held, end).map(|message| (reply::event(&message), None)),
        }
    });
    reply::events(futures_util::StreamExt::chain(futures_util::stream::iter([first]), rest))
}

impl Writer {
    /// The last message of a call, where there is one. A call that was left is parked.
    fn ended(&mut self, shared: &Shared, held: Held, end: Step) -> Option<Vec<u8>> {
        match end {
            Step::Over(Some(report)) => Some(self.report(shared, &held.into_live().key, &report)),
            Step::Over(None) => Some(self.tool_error(ENDING)),
            Step::Left => {
                shared.parked.put(held.into_live());
                Some(self.tool_error(
                    "waiting for a person; repeat the same call to pick up the decision. Nothing was run yet",
                ))
            }
            Step::GivenUp | Step::Beat => None,
        }
    }

    /// A sign of life: progress where the client gave a token, else a comment.
    fn beat(&mut self, asked: bool) -> Bytes {
        let what = if asked { "waiting for approval" } else { "running" };
        self.beats += 1;
        match &self.progress {
            Some(token) => {
                let params = format!(r#"{{"progressToken":{token},"progress":{},"message":"{what}"}}"#, self.beats);
                reply::event(&envelope::notification("notifications/progress", Some(&params)))
            }
            None => reply::comment(what),
        }
    }

    fn unknown(&self) -> Vec<u8> {
        envelope::error(Some(&self.id), ErrorCode::INVALID_PARAMS, "unknown tool: list the tools for what there is")
    }

    fn tool_error(&self, text: &str) -> Vec<u8> {
        self.result(&[json!({"type": "text", "text": text})], None, true)
    }

    fn report(&self, shared: &Shared, key: &Key, report: &CallReport) -> Vec<u8> {
        if let Some(output) = &report.output {
            if let Some(note) = &report.note {
                // What a person changed is said first: the result is not of what was asked for.
                let mut content = vec![json!({"type": "text", "text": &**note})];
                content.extend(output.content.iter().cloned());
                return self.result(&content, output.structured.as_ref(), output.is_error);
            }
            return self.result(&output.content, output.structured.as_ref(), output.is_error);
        }
        let gone = || shared.handle.catalog().borrow().find(&key.tool).is_none();
        match &report.phase {
            // Taken away between our look and the engine's.
            CallPhase::Refused { .. } if gone() => self.unknown(),
            _ => self.tool_error(&report.message),
        }
    }

    fn result(&self, content: &[Value], structured: Option<&Value>, is_error: bool) -> Vec<u8> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct CallResult<'r> {
            #[serde(skip_serializing_if = "Option::is_none")]
            result_type: Option<&'static str>,
            content: &'r [Value],
            #[serde(skip_serializing_if = "Option::is_none")]
            structured_content: Option<&'r Value>,
            is_error: bool,
        }
        let modern = self.era == Era::Modern;
        let result = CallResult {
            result_type: modern.then_some("complete"),
            content,
            // Earlier revisions know objects only; the blocks say the same in text.
            structured_content: structured.filter(|value| modern || value.is_object()),
            is_error,
        };
        envelope::result(&self.id, &[json_text(&result).as_bytes()])
    }
}

fn whole(message: Vec<u8>) -> Reply {
    reply::json(StatusCode::OK, message)
}

/// How long this client's calls are held while a person is asked: never longer than a question waits.
fn longest_hold(settings: &ApprovalSettings, client: &str) -> Duration {
    let own = settings.hold_by_client.iter().find(|(pattern, _)| glob(pattern, client)).map(|(_, hold)| *hold);
    own.unwrap_or(settings.hold).min(settings.wait)
}

/// Leaves a record of a call of a name that exists nowhere; floods are counted only.
async fn record_unknown(shared: &Shared, asker: &Asker, name: &str) {
    shared.metrics.unknown_tools.fetch_add(1, Ordering::Relaxed);
    let shown = crate::text::fit(&crate::text::visible(name), 80).into_owned();
    let asked = asker.session.unknown_tools.fetch_add(1, Ordering::Relaxed);
    if asked >= RECORDED_UNKNOWN {
        return;
    }
    tracing::warn!(tool_name = %shown, agent_id = %asker.session.seat, "tool_unknown");
    let exists = |name: &str| shared.handle.catalog().borrow().find(name).is_some();
    if !exists(name) && !exists(&shown) {
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

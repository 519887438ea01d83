//! The scoped connector in its two forms: plain calls over `POST /tools/{name}`, and `tools/call` over MCP. What a call
//! may do is judged in [`crate::native::connector`]; only the form is made here.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hyper::StatusCode;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::Shared;
use super::call::{Asker, flight_id};
use super::consent::{self, Wanted};
use super::envelope::{self, ErrorCode, Id, json_text};
use super::reply::{self, Reply};
use super::sessions::Session;
use crate::engine::handle::Hold;
use crate::engine::status::Era;
use crate::native::Badge;
use crate::native::connector::{Answer, Called, table};
use crate::tool::output::{self, CallOutput};

/// Answers a plain call: the body is the arguments object.
pub(super) async fn plain(shared: &Arc<Shared>, badge: &Arc<Badge>, tool: &str, body: &[u8]) -> Reply {
    // What is not UTF-8 is no JSON either, and is refused and recorded as that.
    let arguments = std::str::from_utf8(body).unwrap_or("not UTF-8");
    let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
    let wanted = Wanted { badge, tool, arguments, session: "".into(), client: "http".into() };
    let Some(answer) = run(shared, wanted).await else {
        return reply::json(StatusCode::NOT_FOUND, json_text(&json!({"error": "there is no such tool"})));
    };
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let output = clean(shared, &answer);
    let body = match output.structured {
        Some(body) if status == StatusCode::OK => json!({ "result": body }),
        Some(body) => body,
        None => json!({"error": output::as_text(&output)}),
    };
    reply::json(status, json_text(&body))
}

#[derive(Deserialize)]
struct Params<'b> {
    #[serde(borrow)]
    name: Cow<'b, str>,
    #[serde(borrow, default)]
    arguments: Option<&'b RawValue>,
}

/// Answers one `tools/call` over MCP: a refusal is a tool error whose text is the same JSON body.
pub(super) async fn over_mcp(shared: &Arc<Shared>, badge: &Arc<Badge>, asker: &Asker, params: &str) -> Reply {
    let wrong = |text| reply::json(StatusCode::OK, envelope::error(Some(&asker.id), ErrorCode::INVALID_PARAMS, text));
    let Ok(params) = serde_json::from_str::<Params<'_>>(params) else {
        return wrong("tools/call takes an object with a name and, optionally, arguments");
    };
    asker.session.calls.fetch_add(1, Ordering::Relaxed);
    asker.session.changed();
    let arguments = params.arguments.map_or("{}", RawValue::get);
    let (session, client) = asker.session.named();
    let wanted = Wanted { badge, tool: &params.name, arguments, session, client };
    let Some(flight) = Flight::of(asker) else {
        let text = "a request with this id is still being answered";
        return reply::json(StatusCode::OK, envelope::error(Some(&asker.id), ErrorCode::INVALID_REQUEST, text));
    };
    let ran = tokio::select! {
        biased;
        ran = run(shared, wanted) => ran,
        // It was cancelled, or its session ended: dropped, it is given up. Its client wants no answer any more.
        () = flight.gone.cancelled() => return reply::empty(StatusCode::ACCEPTED),
    };
    let Some(answer) = ran else { return wrong("unknown tool: list the tools for what there is") };
    let output = clean(shared, &answer);
    // The cleaned body again, so that the text is whole JSON whatever was taken out of it.
    let text = output.structured.as_ref().map_or_else(|| output::as_text(&output), Value::to_string);
    let structured = match output.structured {
        Some(Value::Object(mut body)) if answer.status != 200 => {
            body.insert("status".to_owned(), answer.status.into());
            Value::Object(body)
        }
        body => body.unwrap_or_default(),
    };
    let mut result = json!({
        "content": [{"type": "text", "text": text}], "structuredContent": structured, "isError": output.is_error,
    });
    if let (Era::Modern, Some(result)) = (asker.session.era, result.as_object_mut()) {
        result.insert("resultType".to_owned(), "complete".into());
    }
    reply::json(StatusCode::OK, envelope::result(&asker.id, &[json_text(&result).as_bytes()]))
}

/// A call that its session can cancel, for as long as this is kept.
struct Flight<'a> {
    session: &'a Session,
    id: Id,
    gone: CancellationToken,
}

impl<'a> Flight<'a> {
    /// `None` while another call has this id.
    fn of(asker: &'a Asker) -> Option<Self> {
        let (session, id) = (&*asker.session, flight_id(&asker.session, &asker.id));
        let gone = CancellationToken::new();
        // Only one that is there may be forgotten when it is dropped.
        let is_new = session.enlist(&id, &gone, &Hold::default());
        is_new.then(|| Self { session, id, gone })
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        self.session.finish(&self.id);
    }
}

async fn run(shared: &Arc<Shared>, wanted: Wanted<'_>) -> Option<Answer> {
    shared.metrics.calls.fetch_add(1, Ordering::Relaxed);
    let policy = shared.handle.settings().connector.decision;
    let connector = shared.connector.as_ref()?;
    // A name of the caller's own goes into the connector's audit.
    let tool = match table::named(wanted.tool) {
        Some(scoped) => Cow::Borrowed(scoped.tool.name),
        None => shared.redactor.redact(wanted.tool),
    };
    match connector.call(wanted.badge, &tool, wanted.arguments, policy).await {
        Some(Called::Over(answer)) => Some(answer),
        Some(Called::Ask) => Some(consent::ask(shared, connector, &wanted).await),
        None => {
            shared.metrics.unknown_tools.fetch_add(1, Ordering::Relaxed);
            None
        }
    }
}

/// As every tool's result: without control characters and secrets.
fn clean(shared: &Shared, answer: &Answer) -> CallOutput {
    let result = json!({"content": [], "structuredContent": answer.body, "isError": answer.status != 200});
    output::read_result(result, &shared.redactor)
}

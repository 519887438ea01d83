//! What the person does to the company's rows: calls of the company's own tools. They pass the gate like everybody's,
//! so that policy, card and audit are the same.
//!
//! [`Acts`] follows them until they end and says what became of them. It predicts nothing: the rows on the screen change
//! when the store did.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::compose::Draft;
use super::intent::{Effect, Target};
use crate::engine::command::Command;
use crate::engine::snapshot::{CallPhase, CallView, Snapshot};
use crate::ids::{CallId, ConnectionName, ServerName};
use crate::tool::{Arguments, Entry};

/// Calls that are followed.
const MOST: usize = 32;
/// The longest word of a tool that is told, in characters.
const TOLD: usize = 300;
/// What a tool's refusal begins with when somebody else was faster.
const STALE: &str = "stale_version";

/// A call of one of the company's own tools.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Act {
    /// Its name.
    pub tool: &'static str,
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// What to say when it was done; the thing it was done to comes before it.
    pub done: Arc<str>,
    /// What to show then.
    pub then: Then,
    /// What it was written on: it comes back when nothing was done.
    pub draft: Option<Box<Draft>>,
}

/// What follows an act that was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Then {
    /// Nothing.
    Stay,
    /// The item that the tool answers with is selected.
    ShowItem,
}

/// Acts that have not ended.
#[derive(Debug, Default)]
pub struct Acts {
    pending: Vec<(CallId, Act)>,
}

/// One of the company's own tools, as the person at the screen is offered it.
pub fn tool<'s>(name: &str, snapshot: &'s Snapshot) -> Option<&'s Arc<Entry>> {
    let ours = [ConnectionName::shared(&ServerName::ours()), ConnectionName::operators()];
    let entries = ours.iter().flat_map(|connection| snapshot.catalog.of_connection(connection));
    entries.into_iter().find(|entry| &*entry.raw_name == name)
}

/// The words that an argument of one of the company's own tools may be.
pub fn words(name: &str, argument: &str, snapshot: &Snapshot) -> Vec<Arc<str>> {
    let schema = tool(name, snapshot).map(|entry| &entry.input_schema);
    let words = schema.and_then(|schema| schema.pointer(&format!("/properties/{argument}/enum")));
    words.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).map(Arc::from).collect()
}

/// Why nothing can be changed, where nothing can.
pub fn fixed(snapshot: &Snapshot) -> Option<Effect> {
    let words = "nothing can be changed here: the dashboard was started with --read-only";
    snapshot.read_only.then(|| Effect::Complain(words.into()))
}

impl Acts {
    /// The command that an act becomes; from now on it is followed.
    pub fn begin(&mut self, act: Act, snapshot: &Snapshot) -> Effect {
        if let Some(no) = fixed(snapshot) {
            return no;
        }
        let Some(entry) = tool(act.tool, snapshot) else {
            return Effect::Complain(
                format!("there is no tool {} in the catalogue: nothing was done", act.tool).into(),
            );
        };
        let arguments = match Arguments::parse(&Value::Object(act.arguments.clone()).to_string()) {
            Ok(arguments) => arguments,
            Err(error) => return Effect::Complain(format!("nothing was done: {error}").into()),
        };
        let call = CallId::fresh();
        if self.pending.len() >= MOST {
            self.pending.remove(0);
        }
        self.pending.push((call.clone(), act));
        Effect::Send(Command::Call { call, tool: entry.reference(), arguments })
    }

    /// The engine did not take this call. What was written for it, if it was an act.
    pub fn not_sent(&mut self, call: &CallId) -> Option<Act> {
        let at = self.pending.iter().position(|(id, _)| id == call)?;
        Some(self.pending.remove(at).1)
    }

    /// What there is to say about those that ended.
    pub fn settle(&mut self, snapshot: &Snapshot) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.pending.retain(|(id, act)| {
            let call = snapshot.calls.iter().rev().find(|call| call.id == *id);
            let Some(call) = call.filter(|call| call.phase.is_over()) else { return true };
            effects.extend(told(call, act));
            false
        });
        effects
    }
}

/// What became of an act, for the person. A denial is the person's own word and is not told again.
fn told(call: &CallView, act: &Act) -> Vec<Effect> {
    let result = call.result.as_ref().map_or("", |result| &*result.text);
    let words = match &call.phase {
        CallPhase::Done { is_error: false } => return done(result, act),
        CallPhase::Unknown { reason } => return vec![Effect::Complain(reason.clone())],
        CallPhase::Waiting(_) | CallPhase::Running => return Vec::new(),
        CallPhase::Done { is_error: true } => crate::text::fit(result, TOLD).into_owned(),
        CallPhase::Refused { reason } | CallPhase::Failed { reason } => crate::text::fit(reason, TOLD).into_owned(),
        CallPhase::Expired => "nobody decided in time: nothing was changed".to_owned(),
        CallPhase::Withdrawn(why) => format!("the question went away ({}): nothing was changed", why.as_str()),
        CallPhase::Denied { .. } => "denied: nothing was changed".to_owned(),
    };
    match &act.draft {
        Some(draft) => vec![come_back(draft, &words)],
        None if matches!(call.phase, CallPhase::Denied { .. }) => Vec::new(),
        None => vec![Effect::Complain(words.into())],
    }
}

/// What was written, shown again with the reason why nothing came of it.
pub fn come_back(draft: &Draft, why: &str) -> Effect {
    let mut draft = draft.clone();
    // The version that it was begun from would be refused for ever: the person has been told, and says what counts.
    let stale = why.starts_with(STALE) && draft.act.arguments.remove("if_match").is_some();
    let more = if stale { ". Ctrl-S again puts yours in the place of what is there now" } else { "" };
    draft.failed = Some(format!("{why}{more}").into());
    Effect::Write(Box::new(draft))
}

fn done(result: &str, act: &Act) -> Vec<Effect> {
    let item = answered(result);
    let about = item.as_deref().map(|item| format!("{item} ")).unwrap_or_default();
    let mut effects = vec![Effect::Say(format!("{about}{}", act.done).into())];
    effects.extend(item.filter(|_| act.then == Then::ShowItem).map(|item| Effect::Show(Target::Item(item))));
    effects
}

/// The key of the item that a result speaks of.
fn answered(result: &str) -> Option<Arc<str>> {
    let result: Value = serde_json::from_str(result).ok()?;
    let at = |path: &str| result.pointer(path).and_then(Value::as_str);
    let key = at("/item/item").or_else(|| at("/item")).or_else(|| at("/removed")).or_else(|| at("/restored"))?;
    Some(crate::text::visible(key).into())
}

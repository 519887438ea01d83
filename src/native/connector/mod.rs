//! The scoped connector: a small set of tools over the tracker's rows for programs outside, each call judged here.
//!
//! The order of the checks is fixed: a known tool, the token's scope, `confirm: true` for what destroys, then whether
//! what it is about exists in the token's workspace, then whether the token may. Hints tell clients what to expect;
//! they permit nothing. The token's scopes and the caller's own `confirm` decide; under `engine.approvals.connector: ask`
//! a person decides after them about everything that is no read, and what they let through comes back by
//! [`Connector::permitted`]. `deny` closes the connector. The listener calls this after it has looked at the token.

mod audit;
mod issues;
mod recent;
pub mod table;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

pub use audit::{FILE, Outcome as Recorded, Trail};
use table::Scoped;

use super::company::{Badge, Current};
use super::questions::{self, Questions};
use super::request::{Actor, Class, Refusal, Request};
use super::tool::Handler;
use crate::clock::Timestamp;
use crate::config::model::{PolicyDecision, Scope};
use crate::store::{Store, StoreError};
use crate::tool::Arguments;

/// What refuses a destructive call that was not confirmed.
pub const UNCONFIRMED: &str = "confirm: true required for destructive operations";

/// The connector of a company.
#[derive(Debug)]
pub struct Connector {
    store: Store,
    company: Current,
    trail: Trail,
    questions: Option<Arc<Questions>>,
    strangers: Mutex<Strangers>,
}

/// Invocations with a wrong token in the present minute.
#[derive(Debug, Default)]
struct Strangers {
    since: Timestamp,
    count: u32,
}

impl Strangers {
    /// Recorded in one minute at most.
    const MOST: u32 = 20;

    fn is_news(&mut self, now: Timestamp) -> bool {
        if now.since(self.since) >= Duration::from_secs(60) {
            *self = Self { since: now, count: 0 };
        }
        self.count += 1;
        self.count <= Self::MOST
    }
}

/// What comes of an invocation: an HTTP status and a JSON object.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// 200, or what refused it.
    pub status: u16,
    /// `result`'s value, or an object with `error`.
    pub body: Value,
}

/// What has come of an invocation so far.
#[derive(Clone, PartialEq, Debug)]
pub enum Called {
    /// It is over.
    Over(Answer),
    /// It passed every check; a person has to be asked.
    Ask,
}

impl Answer {
    /// As the result of an MCP call; [`Answer::of_result`] reads it back.
    pub fn as_result(&self) -> Box<RawValue> {
        let (is_error, mut body) = (self.status != 200, self.body.clone());
        let text = body.to_string();
        if let Some(body) = body.as_object_mut().filter(|_| is_error) {
            body.insert("status".to_owned(), self.status.into());
        }
        let result = json!({
            "content": [{"type": "text", "text": text}], "structuredContent": body, "isError": is_error,
        });
        // Values of ours can always be written.
        serde_json::value::to_raw_value(&result).unwrap_or_else(|_| RawValue::NULL.to_owned())
    }

    /// From the structured content of such a result.
    pub fn of_result(structured: Option<&Value>, is_error: bool) -> Self {
        let mut body = structured.cloned().unwrap_or_else(|| json!({}));
        let status = if is_error { body.as_object_mut().and_then(|body| body.remove("status")) } else { None };
        let status = status.and_then(|status| status.as_u64()).and_then(|status| u16::try_from(status).ok());
        Self { status: status.unwrap_or(if is_error { 503 } else { 200 }), body }
    }
}

/// Why an invocation that passed every check did not run after all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unasked {
    /// A person said no.
    Denied,
    /// Nobody decided in time.
    Expired,
    /// The question went away: the caller left, the program ends.
    Withdrawn,
    /// Nobody may be asked, or the rules changed.
    Policy,
    /// It waits for a person still; the caller is to come back.
    Waits,
    /// It could not be run.
    Failed,
}

impl Unasked {
    /// Its status and the audit's outcome and reason.
    const fn told(self) -> (u16, Recorded, &'static str) {
        match self {
            Self::Denied => (403, Recorded::Denied, "approval_denied"),
            Self::Expired => (403, Recorded::Denied, "approval_expired"),
            Self::Withdrawn => (403, Recorded::Denied, "approval_withdrawn"),
            Self::Policy => (403, Recorded::Denied, "policy"),
            Self::Waits => (202, Recorded::Denied, "approval_pending"),
            Self::Failed => (503, Recorded::Error, "unavailable"),
        }
    }
}

/// Why an invocation did not run.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Denial {
    status: u16,
    outcome: Recorded,
    reason: &'static str,
    message: String,
}

impl Denial {
    fn denied(status: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { status, outcome: Recorded::Denied, reason, message: message.into() }
    }

    fn error(status: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { status, outcome: Recorded::Error, reason, message: message.into() }
    }
}

impl From<Refusal> for Denial {
    fn from(refusal: Refusal) -> Self {
        match refusal.class {
            // One answer for what does not exist and what is another workspace's.
            Class::NotFound => Self::denied(403, "not_found", refusal.message),
            Class::Forbidden => Self::denied(403, "permission_denied", refusal.message),
            Class::Invalid
            | Class::StaleVersion
            | Class::Conflict
            | Class::Exists
            | Class::InboxFull
            | Class::AlreadyAnswered => Self::error(400, "invalid_arguments", refusal.message),
            Class::Unavailable | Class::NotRunning => Self::error(503, "unavailable", refusal.message),
        }
    }
}

impl From<StoreError> for Denial {
    fn from(error: StoreError) -> Self {
        Refusal::from(error).into()
    }
}

impl From<std::io::Error> for Denial {
    fn from(error: std::io::Error) -> Self {
        Self::error(503, UNRECORDED, format!("the connector's audit cannot be written, so nothing runs: {error}"))
    }
}

/// How a rehearsal ended: it always fails, so that nothing of it is kept.
enum Rehearsed {
    Fine,
    Refused(Denial),
}

impl From<StoreError> for Rehearsed {
    fn from(error: StoreError) -> Self {
        Self::Refused(error.into())
    }
}

/// The reason of what could not be recorded; it is in no file.
const UNRECORDED: &str = "unrecorded";

impl Connector {
    /// The connector over the same store as the tracker.
    pub(super) fn new(store: Store, company: Current, trail: Trail) -> Self {
        Self { store, company, trail, questions: None, strangers: Mutex::default() }
    }

    /// The same; whoever shows the inboxes is told of prompts.
    #[must_use]
    pub fn telling(mut self, questions: &Arc<Questions>) -> Self {
        self.questions = Some(questions.clone());
        self
    }

    /// Runs one invocation of a token that is valid. `None`: there is no such tool; that is recorded, too.
    pub async fn call(
        &self,
        badge: &Arc<Badge>,
        name: &str,
        arguments: &str,
        policy: PolicyDecision,
    ) -> Option<Called> {
        let Some(scoped) = table::named(name) else {
            let shown = crate::text::fit(&crate::text::visible(name), 80).into_owned();
            let denial = Denial::denied(404, "unknown_tool", "there is no such tool");
            // Whether or not it could be recorded: nothing runs.
            let _ = self.refuse(&shown, &badge.scopes, denial).await;
            return None;
        };
        let asks = matches!(policy, PolicyDecision::Ask | PolicyDecision::Type);
        let ran = match self.judge(scoped, badge, arguments, policy) {
            Ok(request) if asks && matches!(scoped.tool.handler, Handler::Write(_)) => {
                match self.rehearse(scoped, request).await {
                    Ok(()) => return Some(Called::Ask),
                    Err(denial) => Err(denial),
                }
            }
            Ok(request) => self.run(scoped, badge, request).await,
            Err(denial) => Err(denial),
        };
        Some(Called::Over(self.answered(scoped, badge, ran).await))
    }

    /// Runs an invocation that a person, or a remembered decision, has let through. Everything is checked again: time
    /// has passed.
    pub async fn permitted(&self, id: &str, name: &str, arguments: &str) -> Answer {
        let company = self.company.get();
        let (Some(badge), Some(scoped)) = (company.badge(id), table::named(name)) else {
            return Answer { status: 403, body: json!({"error": "this token is not in the configuration any more"}) };
        };
        let ran = match self.judge(scoped, badge, arguments, PolicyDecision::Allow) {
            Ok(request) => self.run(scoped, badge, request).await,
            Err(denial) => Err(denial),
        };
        self.answered(scoped, badge, ran).await
    }

    /// Records that an invocation did not run although it passed every check, and why.
    pub async fn not_run(&self, badge: &Badge, name: &str, why: Unasked, message: &str) -> Answer {
        let (status, outcome, reason) = why.told();
        let message = message.to_owned();
        self.refuse(name, &badge.scopes, Denial { status, outcome, reason, message }).await
    }

    async fn answered(&self, scoped: &Scoped, badge: &Badge, ran: Result<Value, Denial>) -> Answer {
        if let (Ok(_), true, Some(questions)) = (&ran, questions::touches_prompts(scoped.tool.name), &self.questions) {
            questions.follow_prompts(&self.store).await;
        }
        match ran {
            Ok(body) => Answer { status: 200, body },
            Err(denial) => self.refuse(scoped.tool.name, &badge.scopes, denial).await,
        }
    }

    /// Whether it would run, by running it and keeping nothing: does what it is about exist, and may the token.
    async fn rehearse(&self, scoped: &'static Scoped, request: Request) -> Result<(), Denial> {
        let Handler::Write(handler) = scoped.tool.handler else { return Ok(()) };
        let job = move |store: &crate::store::WriteStore<'_>| -> Result<(), Rehearsed> {
            handler(store, &request).map_err(|refusal| Rehearsed::Refused(refusal.into()))?;
            // What fails is taken back.
            Err(Rehearsed::Fine)
        };
        match self.store.write(job).await {
            Ok(()) | Err(Rehearsed::Fine) => Ok(()),
            Err(Rehearsed::Refused(denial)) => Err(denial),
        }
    }

    /// Records an invocation whose token is wrong. Floods of them are in the listener's figures only.
    pub async fn turned_away(&self, name: &str) {
        let known = table::named(name).is_some();
        if known && self.strangers.lock().unwrap_or_else(PoisonError::into_inner).is_news(Timestamp::now()) {
            self.refuse(name, &[], Denial::denied(401, "token_invalid", "")).await;
        }
    }

    /// The checks that need no store, in their order.
    fn judge(
        &self,
        scoped: &Scoped,
        badge: &Arc<Badge>,
        arguments: &str,
        policy: PolicyDecision,
    ) -> Result<Request, Denial> {
        if !badge.scopes.contains(&scoped.scope) {
            return Err(Denial::denied(403, "scope_missing", format!("{} scope required", scoped.scope.as_str())));
        }
        let mut arguments = read(arguments)?;
        // What anybody else says about confirming means nothing.
        let confirmed = arguments.remove("confirm");
        if scoped.tool.is_destructive() && confirmed != Some(Value::Bool(true)) {
            return Err(Denial::denied(400, "destructive_flag_missing", UNCONFIRMED));
        }
        if policy == PolicyDecision::Deny {
            let message = "engine.approvals.connector: deny closes the connector here";
            return Err(Denial::denied(403, "policy", message));
        }
        if !self.company.get().halves.tracker {
            return Err(Denial::error(503, "unavailable", "the tracker is closed by engine.native.tracker: false"));
        }
        scoped.tool.check(&arguments)?;
        Ok(Request { actor: Actor::operator(badge), arguments, company: self.company.get(), at: Timestamp::now() })
    }

    async fn run(&self, scoped: &'static Scoped, badge: &Arc<Badge>, request: Request) -> Result<Value, Denial> {
        let (trail, scopes, name) = (self.trail.clone(), badge.scopes.clone(), scoped.tool.name);
        let record = move || trail.append(name, Recorded::Success, "", &scopes);
        match scoped.tool.handler {
            Handler::Read(handler) => {
                let read = move |store: &crate::store::ReadStore<'_>| -> Result<Value, Denial> {
                    let answer = handler(store, &request)?;
                    record()?;
                    Ok(answer)
                };
                self.store.read(read).await
            }
            Handler::Write(handler) => {
                let write = move |store: &crate::store::WriteStore<'_>| -> Result<Value, Denial> {
                    let answer = handler(store, &request)?;
                    // Before it is kept: what is not recorded does not happen.
                    record()?;
                    Ok(answer)
                };
                self.store.write(write).await
            }
            // Its tools are one step in the store each: that step and its record are one.
            Handler::Run(_) => Err(Denial::error(503, "unavailable", "this is no tool of the connector")),
        }
    }

    async fn refuse(&self, tool: &str, scopes: &[Scope], denial: Denial) -> Answer {
        let Denial { status, outcome, reason, message } = denial;
        if reason == UNRECORDED {
            tracing::error!(reason = %message, "connector_audit_not_written");
        } else {
            let (trail, tool, scopes) = (self.trail.clone(), tool.to_owned(), scopes.to_vec());
            let recorded = tokio::task::spawn_blocking(move || trail.append(&tool, outcome, reason, &scopes)).await;
            if let Ok(Err(error)) = recorded {
                tracing::error!(%error, "connector_audit_not_written");
            }
        }
        Answer { status, body: json!({ "error": message }) }
    }
}

/// The arguments as an object: nothing of them is repaired or guessed.
fn read(text: &str) -> Result<Map<String, Value>, Denial> {
    let invalid = |message: String| Denial::error(400, "invalid_arguments", message);
    let checked = Arguments::parse(text).map_err(|error| invalid(error.to_string()))?;
    super::read_arguments(checked.canonical()).map_err(Denial::from)
}

/// The listing as MCP and introspection show it.
pub fn listing() -> Vec<Value> {
    table::TOOLS.iter().map(|scoped| scoped.tool.served()).collect()
}

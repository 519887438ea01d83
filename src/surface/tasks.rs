//! Calls that wait for a person as tasks: the protocol's extension for clients of the era without sessions that
//! rather ask now and then than be held.
//!
//! A task begins when a person is asked. Its client is taken to be there for as long as it keeps asking for the task:
//! what is approved then runs at once; otherwise it waits until the client asks again, as a parked call does. A task is
//! its seat's and its client's, under an id that cannot be guessed; for everybody else it does not exist. How many
//! there are and how long they are kept is bounded. Nobody is told of changes unasked.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::Shared;
use super::call::{self, Asker, Outcome, UNKNOWN_TOOL};
use super::envelope::{self, ErrorCode, Id, Message, Meta, json_text};
use super::live::{Held, KEPT, Live};
use super::reply::{self, Reply};
use super::sessions::{self, Session};
use crate::clock::Timestamp;
use crate::engine::handle::Stage;
use crate::engine::snapshot::{CallPhase, Withdrawal};

/// The extension's name in capabilities.
pub(super) const EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// What clients ask for.
pub(super) const METHODS: [&str; 3] = ["tasks/get", "tasks/update", "tasks/cancel"];

/// How often clients should ask.
const POLL: Duration = Duration::from_secs(1);
/// A client that asked within this time is there to take a result; less where its calls are held for less. Longer would
/// let a call run for a client that was killed.
const PRESENT: Duration = Duration::from_secs(3);
/// Most tasks of one seat.
const MOST_OF_A_SEAT: usize = 128;
/// Most tasks.
const MOST: usize = 512;
/// Most bytes of results that are kept; the oldest make room.
const MOST_BYTES: usize = 64 << 20;

/// Whether a client can follow a call as a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tracks {
    /// It did not say so with this request.
    No,
    /// It declared the extension.
    Yes,
}

impl Tracks {
    /// What a request's `_meta` declares.
    pub(super) fn of(meta: &Meta<'_>) -> Self {
        #[derive(Deserialize)]
        struct Capabilities<'m> {
            #[serde(borrow, default)]
            extensions: HashMap<Cow<'m, str>, &'m RawValue>,
        }
        let declared = meta.capabilities.and_then(|raw| serde_json::from_str::<Capabilities<'_>>(raw.get()).ok());
        let settings = declared.and_then(|declared| declared.extensions.get(EXTENSION).map(|raw| raw.get()));
        if settings.is_some_and(|settings| settings.starts_with('{')) { Self::Yes } else { Self::No }
    }
}

/// Answers one of [`METHODS`].
pub(super) fn answer(shared: &Shared, asker: &Asker, method: &str, message: &Message<'_>) -> Reply {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        task_id: String,
    }
    let invalid =
        |text: &str| reply::json(StatusCode::OK, envelope::error(Some(&asker.id), ErrorCode::INVALID_PARAMS, text));
    if asker.tasks == Tracks::No {
        return not_declared(&asker.id);
    }
    let Ok(Params { task_id }) = message.params::<Params>() else {
        return invalid("name the task in taskId");
    };
    let result = match method {
        "tasks/get" => shared.tasks.get(shared, &asker.session, &task_id),
        "tasks/cancel" => shared.tasks.cancel(&asker.session, &task_id),
        // No task of ours ever asks its client for anything, so there is nothing that an update could answer.
        _ => shared.tasks.touch(&asker.session, &task_id),
    };
    match result {
        Some(result) => reply::json(StatusCode::OK, envelope::result(&asker.id, &[result.as_bytes()])),
        None => invalid("there is no such task, or none any more"),
    }
}

/// The answer to a client that asks for something of tasks and did not declare the extension.
pub(super) fn not_declared(id: &Id) -> Reply {
    let data = json_text(&json!({"requiredCapabilities": {"extensions": {EXTENSION: {}}}}));
    let text = "declare the extension for tasks among the client's capabilities of this request";
    let body = envelope::error_with(Some(id), ErrorCode::MISSING_CAPABILITY, text, Some(&data));
    reply::json(StatusCode::BAD_REQUEST, body)
}

/// All tasks.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    known: Mutex<HashMap<Arc<str>, Task>>,
}

#[derive(Debug)]
struct Task {
    /// Whose it is.
    session: Arc<Session>,
    state: State,
    cancelled: bool,
    created: Timestamp,
    began: Instant,
    /// When the client last asked for it, and how long it counts as there after that.
    seen: Instant,
    present: Duration,
    /// When it is forgotten.
    until: Instant,
    /// What the client was told last, and since when that holds.
    told: Arc<str>,
    updated: Timestamp,
}

#[derive(Debug)]
enum State {
    Open(Box<Live>),
    /// With the result, as JSON text.
    Completed(String),
    /// The call came to a protocol error.
    Failed,
    Cancelled,
}

const ACKNOWLEDGED: &str = r#"{"resultType":"complete"}"#;
const WAITING: &str = "waiting for a person";

impl Tasks {
    /// Makes a task of a call that waits for a person: the JSON text that tells its client. Gives the call back when
    /// there are too many. `wait` is how long a question may wait.
    pub(super) fn put(&self, held: Box<Held>, wait: Duration) -> Result<String, Box<Held>> {
        let session = held.session().clone();
        let mut known = self.lock();
        let of_seat = known.values().filter(|task| task.session.seat == session.seat).count();
        if (of_seat >= MOST_OF_A_SEAT || known.len() >= MOST) && !make_room(&mut known, &session) {
            return Err(held);
        }
        let Some(id) = sessions::fresh_id() else { return Err(held) };
        let present = held.longest().min(PRESENT);
        let mut live = Box::new(held.into_live());
        live.count(true);
        live.hold.come_back();
        if present.is_zero() {
            live.hold.leave();
        }
        let (now, at) = (Instant::now(), Timestamp::now());
        let task = Task {
            session,
            state: State::Open(live),
            cancelled: false,
            created: at,
            began: now,
            seen: now,
            present,
            until: now + wait + KEPT,
            told: WAITING.into(),
            updated: at,
        };
        let text = task.shown(&id, "task");
        known.insert(id, task);
        Ok(text)
    }

    /// The task as it stands, for its own client.
    fn get(&self, shared: &Shared, session: &Session, id: &str) -> Option<String> {
        let mut known = self.lock();
        let task = known.get_mut(id).filter(|task| task.is_of(session))?;
        task.seen();
        let ended = task.look(shared);
        let text = task.shown(id, "complete");
        if ended {
            trim(&mut known);
        }
        Some(text)
    }

    /// Gives the task's call up.
    fn cancel(&self, session: &Session, id: &str) -> Option<String> {
        let mut known = self.lock();
        let task = known.get_mut(id).filter(|task| task.is_of(session))?;
        task.cancelled = true;
        if let State::Open(live) = &task.state {
            live.hold.gone_because(Withdrawal::Cancelled);
            live.cancel.cancel();
        }
        Some(ACKNOWLEDGED.to_owned())
    }

    fn touch(&self, session: &Session, id: &str) -> Option<String> {
        let mut known = self.lock();
        known.get_mut(id).filter(|task| task.is_of(session))?.seen();
        Some(ACKNOWLEDGED.to_owned())
    }

    /// Lets clients that stopped asking leave, and forgets what nobody came back for and what sessions left that have
    /// ended.
    pub(super) fn sweep(&self, shared: &Shared) {
        let now = Instant::now();
        let mut gone = Vec::new();
        let mut known = self.lock();
        known.retain(|_, task| {
            task.look(shared);
            let mut over = now > task.until;
            if let State::Open(live) = &mut task.state {
                if now.duration_since(task.seen) > task.present {
                    live.hold.leave();
                }
                let waits = live.hold.stage() != Stage::Running;
                live.count(waits);
                over |= task.session.ended.is_cancelled();
            }
            if over {
                gone.push(std::mem::replace(&mut task.state, State::Cancelled));
            }
            !over
        });
        trim(&mut known);
        drop(known);
        // Calls that are given up tell others, which need not happen under the lock.
        drop(gone);
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Task>> {
        // What the lock guards is whole after each statement.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Task {
    fn is_of(&self, session: &Session) -> bool {
        self.session.seat == session.seat && self.session.client_name == session.client_name
    }

    /// Its client asked for it, so it is there.
    fn seen(&mut self) {
        let now = Instant::now();
        self.seen = now;
        if let State::Open(live) = &self.state {
            live.hold.come_back();
            self.until = self.until.max(now + KEPT);
        }
    }

    /// Sees how the call stands. True when that was its end.
    fn look(&mut self, shared: &Shared) -> bool {
        let State::Open(live) = &mut self.state else { return false };
        let Some(end) = live.settled() else {
            let told = match live.hold.stage() {
                Stage::Running => live.hold.progress().borrow().as_ref().and_then(|said| said.message.clone()),
                Stage::Asked | Stage::Away => Some(WAITING.into()),
            };
            self.tell(told.unwrap_or_else(|| "running".into()));
            return false;
        };
        let done = end.0.as_ref().is_some_and(|report| matches!(report.phase, CallPhase::Done { .. }));
        let (state, told) = if self.cancelled && !done {
            let why = end.0.map_or_else(|| "cancelled".into(), |report| report.message);
            (State::Cancelled, why)
        } else {
            match call::outcome(shared, live, &end) {
                Outcome::Result(result) => (State::Completed(result), "done".into()),
                Outcome::Unknown => (State::Failed, UNKNOWN_TOOL.into()),
            }
        };
        self.state = state;
        self.until = self.until.max(Instant::now() + KEPT);
        self.tell(told);
        true
    }

    fn tell(&mut self, told: Arc<str>) {
        if self.told != told {
            self.told = told;
            self.updated = Timestamp::now();
        }
    }

    /// JSON text of a result that shows it: `task` for the one that makes it known, `complete` for later ones.
    fn shown(&self, id: &str, result_type: &str) -> String {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Shown<'t> {
            result_type: &'t str,
            task_id: &'t str,
            status: &'static str,
            status_message: &'t str,
            created_at: String,
            last_updated_at: String,
            ttl_ms: u64,
            poll_interval_ms: u64,
        }
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let status = match &self.state {
            State::Open(_) => "working",
            State::Completed(_) => "completed",
            State::Failed => "failed",
            State::Cancelled => "cancelled",
        };
        let mut text = json_text(&Shown {
            result_type,
            task_id: id,
            status,
            status_message: &self.told,
            created_at: self.created.rfc3339(),
            last_updated_at: self.updated.rfc3339(),
            ttl_ms: millis(self.until.duration_since(self.began)),
            poll_interval_ms: millis(POLL),
        });
        let member = match &self.state {
            State::Open(_) | State::Cancelled => return text,
            State::Completed(result) => format!(r#","result":{result}}}"#),
            State::Failed => format!(r#","error":{}}}"#, envelope::error_object(ErrorCode::INVALID_PARAMS, &self.told)),
        };
        text.pop();
        text.push_str(&member);
        text
    }

    fn bytes(&self) -> usize {
        if let State::Completed(result) = &self.state { result.len() } else { 0 }
    }
}

/// Forgets the oldest task of the session's seat that is over. False when there is none.
fn make_room(known: &mut HashMap<Arc<str>, Task>, session: &Session) -> bool {
    forget_oldest(known, |task| task.session.seat == session.seat && !matches!(task.state, State::Open(_)))
}

/// Keeps the results within bounds; the newest one stays in any case.
fn trim(known: &mut HashMap<Arc<str>, Task>) {
    while known.values().map(Task::bytes).sum::<usize>() > MOST_BYTES
        && known.values().filter(|task| task.bytes() > 0).count() > 1
        && forget_oldest(known, |task| task.bytes() > 0)
    {}
}

fn forget_oldest(known: &mut HashMap<Arc<str>, Task>, which: impl Fn(&Task) -> bool) -> bool {
    let oldest = known.iter().filter(|(_, task)| which(task)).min_by_key(|(_, task)| task.updated);
    let Some(id) = oldest.map(|(id, _)| id.clone()) else { return false };
    known.remove(&id).is_some()
}

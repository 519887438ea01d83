//! Resources and prompts on a seat's endpoint: five methods that the engine's library answers, in both eras.
//!
//! Both capabilities are always declared. Clients read capabilities once, when they connect; servers come and go. A
//! capability that depended on which servers happen to be up would hide what starts a second later for as long as the
//! client runs, and an empty list costs nothing. Subscriptions and completions are not offered, so they are not
//! declared. The lists are one page.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hyper::StatusCode;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::Shared;
use super::call::{Asker, flight_id};
use super::envelope::{self, ErrorCode, Id, json_text};
use super::patient::{self, Presence};
use super::reply::{self, Reply};
use crate::engine::handle::Hold;
use crate::engine::library::{Missing, Reader, Refused};
use crate::engine::status::Era;
use crate::org::Seat;
use crate::tool::contents::readdressed;
use crate::tool::offers::OfferList;
use crate::tool::{Arguments, ToolKey};

/// What is declared to clients.
pub(super) fn capabilities() -> Value {
    let list = json!({"listChanged": true});
    json!({"tools": list, "resources": list, "prompts": list})
}

/// The list as it is while no server can be asked.
pub(super) fn empty(list: OfferList) -> Value {
    Value::Object(Map::from_iter([(list.member().to_owned(), json!([]))]))
}

/// Reads of unknown names that leave a record, for each session; further ones are only counted.
const RECORDED_UNKNOWN: u64 = 16;

/// The methods.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Method {
    /// One of the lists.
    List(OfferList),
    /// `resources/read`.
    Read,
    /// `prompts/get`.
    Prompt,
}

impl Method {
    /// The method of this name, if it is one of them.
    pub(super) fn of(name: &str) -> Option<Self> {
        let list = [OfferList::Resources, OfferList::Templates, OfferList::Prompts];
        match name {
            "resources/read" => Some(Self::Read),
            "prompts/get" => Some(Self::Prompt),
            _ => list.into_iter().find(|list| list.method() == name).map(Self::List),
        }
    }
}

/// The lists that a client can hear changes of, tools' first: the notification, and its name in a filter.
pub(super) const LISTS: [(&str, &str); 3] = [
    ("notifications/tools/list_changed", "toolsListChanged"),
    ("notifications/resources/list_changed", "resourcesListChanged"),
    ("notifications/prompts/list_changed", "promptsListChanged"),
];

/// The blocks of a tool's result, links to resources of its server made addresses that the agent can read. Only where
/// the server has resources to read; what anybody can fetch from the web stays, and so does the structured part, which
/// the tool's own schema describes. Screen and audit keep what the server wrote.
pub(super) fn linked<'b>(shared: &Shared, tool: &ToolKey, blocks: &'b [Value]) -> Cow<'b, [Value]> {
    let entry = shared.handle.catalog().borrow().get(tool).cloned();
    match entry.filter(|entry| shared.handle.library().has_resources(&entry.connection)) {
        Some(entry) => readdressed(blocks, entry.server.as_str()),
        None => Cow::Borrowed(blocks),
    }
}

/// What a request asks for, once its parameters are read.
enum Wanted {
    List(OfferList),
    Resource(String),
    Prompt(String, Option<Arguments>),
}

/// Why a request is not understood.
struct Misput(&'static str);

/// Answers one of them.
pub(super) async fn answer(
    shared: &Arc<Shared>,
    (asker, seat): (Asker, &Arc<Seat>),
    method: Method,
    params: &str,
) -> Reply {
    let wanted = match read(method, params) {
        Ok(wanted) => wanted,
        Err(Misput(text)) => {
            let body = envelope::error(Some(&asker.id), ErrorCode::INVALID_PARAMS, text);
            return reply::json(StatusCode::OK, body);
        }
    };
    let cancel = CancellationToken::new();
    let flight = flight_id(&asker.session, &asker.id);
    if !asker.session.enlist(&flight, &cancel, &Hold::default()) {
        let text = "a request with this id is still being answered";
        let body = envelope::error(Some(&asker.id), ErrorCode::INVALID_REQUEST, text);
        return reply::json(StatusCode::OK, body);
    }
    shared.metrics.reads.fetch_add(1, Ordering::Relaxed);
    let takes = asker.takes;
    let presence = Presence::new(asker.session.clone(), flight, cancel.clone());
    // A task of its own: a caller that leaves gives it up by the token, and its record is written all the same.
    let work = tokio::spawn(work(shared.clone(), (asker, seat.clone()), wanted, cancel));
    patient::answer(takes, presence, work).await
}

fn read(method: Method, params: &str) -> Result<Wanted, Misput> {
    #[derive(Deserialize)]
    struct Listing {
        #[serde(default)]
        cursor: Option<Value>,
    }
    #[derive(Deserialize)]
    struct Resource {
        uri: String,
    }
    #[derive(Deserialize)]
    struct Prompt<'p> {
        name: String,
        #[serde(borrow, default)]
        arguments: Option<&'p RawValue>,
    }
    match method {
        // The whole list is one page, so no cursor was ever given out.
        Method::List(list) => match serde_json::from_str::<Listing>(params) {
            Ok(Listing { cursor: None }) => Ok(Wanted::List(list)),
            Ok(_) => Err(Misput("there is no such cursor: the list is one page")),
            Err(_) => Err(Misput("the parameters of a list are an object")),
        },
        Method::Read => {
            let params: Resource = serde_json::from_str(params).map_err(|_| Misput("resources/read takes a uri"))?;
            Ok(Wanted::Resource(params.uri))
        }
        Method::Prompt => {
            let misput = Misput("prompts/get takes a name and, optionally, arguments, an object of strings");
            let Ok(params) = serde_json::from_str::<Prompt<'_>>(params) else { return Err(misput) };
            let Some(raw) = params.arguments.filter(|raw| raw.get() != "null") else {
                return Ok(Wanted::Prompt(params.name, None));
            };
            let strings = serde_json::from_str::<BTreeMap<Cow<'_, str>, Cow<'_, str>>>(raw.get()).is_ok();
            match Arguments::parse(raw.get()) {
                Ok(arguments) if strings => Ok(Wanted::Prompt(params.name, Some(arguments))),
                _ => Err(misput),
            }
        }
    }
}

/// The answer; `None` when its caller gave it up and waits for none.
async fn work(
    shared: Arc<Shared>,
    (asker, seat): (Asker, Arc<Seat>),
    wanted: Wanted,
    cancel: CancellationToken,
) -> Option<Vec<u8>> {
    let library = shared.handle.library();
    let reader = Reader { caller: asker.session.caller(), seat: seat.clone() };
    let (id, era) = (&asker.id, asker.session.era);
    let (answered, what, missing) = match &wanted {
        Wanted::List(list) => {
            let listed = tokio::select! {
                biased;
                () = cancel.cancelled() => return None,
                listed = library.list(&seat, *list) => listed,
            };
            let answered = listed.map(|(items, missing)| (list_result(*list, items, &missing), Caching::Stated));
            (answered, "", list.member())
        }
        Wanted::Resource(address) => {
            let read = library.read(&reader, address, &cancel).await;
            (read.map(|result| (result, Caching::Stated)), "resources/read ", address.as_str())
        }
        Wanted::Prompt(name, arguments) => {
            let read = library.prompt(&reader, (name, arguments.as_ref()), &cancel).await;
            (read.map(|result| (result, Caching::Unstated)), "prompts/get ", name.as_str())
        }
    };
    if cancel.is_cancelled() {
        return None;
    }
    Some(match answered {
        Ok((members, caching)) => result(id, era, members, caching),
        Err(refused) => {
            if refused == Refused::Unknown {
                let asked = asker.session.unknown_tools.fetch_add(1, Ordering::Relaxed);
                if asked < RECORDED_UNKNOWN {
                    library.record_unknown(&reader, &format!("{what}{missing}")).await;
                }
            }
            envelope::error(Some(id), code(&refused, era, &wanted), &refused.to_string())
        }
    })
}

/// Whether the newer era wants to know how long an answer holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Caching {
    Stated,
    Unstated,
}

fn list_result(list: OfferList, items: Vec<Value>, missing: &[Missing]) -> Map<String, Value> {
    let mut members = Map::from_iter([(list.member().to_owned(), Value::Array(items))]);
    if !missing.is_empty() {
        // Whoever wonders where a server's part is finds the reason here; no client has to look.
        let missing =
            missing.iter().map(|missing| json!({"server": missing.server.as_str(), "reason": &*missing.reason}));
        members.insert("_meta".into(), json!({"crewlet/missing": missing.collect::<Vec<_>>()}));
    }
    members
}

fn result(id: &Id, era: Era, mut members: Map<String, Value>, caching: Caching) -> Vec<u8> {
    if era == Era::Modern {
        members.insert("resultType".into(), "complete".into());
        if caching == Caching::Stated {
            members.insert("ttlMs".into(), 0.into());
            members.insert("cacheScope".into(), "private".into());
        }
    }
    envelope::result(id, &[json_text(&members).as_bytes()])
}

/// The code of an error. What does not exist is told in the words of each era.
fn code(refused: &Refused, era: Era, wanted: &Wanted) -> ErrorCode {
    let no_resource = match (era, wanted) {
        (Era::Legacy, Wanted::Resource(_)) => ErrorCode::NO_RESOURCE,
        _ => ErrorCode::INVALID_PARAMS,
    };
    match refused {
        Refused::Unknown | Refused::Server { code: -32002, .. } => no_resource,
        Refused::Server { code: -32602, .. } => ErrorCode::INVALID_PARAMS,
        Refused::Denied(_) | Refused::Failed(_) | Refused::Server { .. } => ErrorCode::INTERNAL,
    }
}

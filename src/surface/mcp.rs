//! One MCP endpoint, a seat's or an operator's, in both eras of the protocol: who opens how, sessions, and every method
//! but `tools/call`.
//!
//! A request whose `_meta` names a revision is answered without a session; `initialize` opens one. Both come by the
//! same path. Resources and prompts, which only seats have, are answered by [`super::library`].

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hyper::body::Bytes;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::admit::{self, Takes};
use super::call::{self, Asker};
use super::envelope::{self, Client, Common, ErrorCode, Id, Kind, LEGACY, MODERN, Malformed, Message, json_text};
use super::party::{Party, Role};
use super::reply::{self, Reply};
use super::sessions::Session;
use super::tasks::Tracks;
use super::{Shared, connector, library, listen, tasks};
use crate::engine::status::Era;
use crate::org::Seat;
use crate::tool::mirror::{self, Mirrored};

/// The header that names a session.
pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// One authorised request to an endpoint.
pub(super) struct Call<'r> {
    pub(super) shared: &'r Arc<Shared>,
    pub(super) party: &'r Party,
    pub(super) method: &'r Method,
    pub(super) headers: &'r HeaderMap,
    pub(super) body: &'r Bytes,
}

/// Answers it.
pub(super) async fn answer(call: Call<'_>) -> Reply {
    match *call.method {
        Method::POST => call.post().await,
        Method::GET => call.get(),
        Method::DELETE => call.delete(),
        _ => reply::text(StatusCode::METHOD_NOT_ALLOWED, "POST, GET or DELETE\n"),
    }
}

impl Call<'_> {
    async fn post(&self) -> Reply {
        let takes = admit::takes(self.headers);
        if takes == Takes::Nothing {
            return reply::text(StatusCode::NOT_ACCEPTABLE, "accept application/json, text/event-stream or both\n");
        }
        let message = match Message::parse(self.body) {
            Ok(message) => message,
            Err(malformed) => return refused(malformed),
        };
        let kind = match message.kind() {
            Ok(kind) => kind,
            Err(malformed) => return refused(malformed),
        };
        let common = message.params::<Common<'_>>().unwrap_or_default();
        let meta = common.meta.unwrap_or_default();
        match kind {
            Kind::Request(id, "initialize") if meta.version.is_none() => self.initialize(&id, &message).await,
            Kind::Request(id, method)
                if meta.version.is_some() || self.says_modern() || method == "server/discover" =>
            {
                if let Some(problem) = self.unlike(&id, method, &meta, &message) {
                    return problem;
                }
                let tasks = Tracks::of(&meta);
                let client = meta.client.unwrap_or_default().redacted(&self.shared.redactor);
                let session = self.shared.sessions.client(&self.party.holder, &client);
                self.modern(method, Asker { tasks, ..self.asker(id, session, takes) }, &message).await
            }
            Kind::Request(id, method) => match self.session() {
                Ok(session) => self.legacy(method, self.asker(id, session, takes), &message).await,
                Err(status) => no_session(status, Some(&id)),
            },
            // In the era without sessions a closed stream says everything that a notification could.
            Kind::Notification(_) if meta.version.is_some() || self.says_modern() => reply::empty(StatusCode::ACCEPTED),
            Kind::Notification(method) => match self.session() {
                Ok(session) => notified(&session, method, &message),
                Err(status) => no_session(status, None),
            },
            Kind::Answer => match self.session() {
                Ok(_) => reply::empty(StatusCode::ACCEPTED),
                Err(status) => no_session(status, None),
            },
        }
    }

    /// The stream on which a session hears that the tools changed.
    fn get(&self) -> Reply {
        if !matches!(admit::takes(self.headers), Takes::Events | Takes::Both) {
            return reply::text(StatusCode::NOT_ACCEPTABLE, "accept text/event-stream\n");
        }
        match self.session() {
            Ok(session) => listen::for_session(self.shared, self.party, session),
            Err(status) => no_session(status, None),
        }
    }

    fn delete(&self) -> Reply {
        match self.session() {
            Ok(session) => {
                self.shared.sessions.close(&session);
                self.shared.parked.sweep(self.shared.handle.settings().wait);
                reply::empty(StatusCode::OK)
            }
            Err(status) => no_session(status, None),
        }
    }

    /// The session that the request names, if it is this seat's.
    fn session(&self) -> Result<Arc<Session>, StatusCode> {
        let known = |version: &str| version == MODERN || LEGACY.contains(&version);
        if self.headers.contains_key(VERSION) && !admit::single(self.headers, &VERSION).is_some_and(known) {
            return Err(StatusCode::BAD_REQUEST);
        }
        let id = admit::single(self.headers, &SESSION_ID).ok_or(StatusCode::BAD_REQUEST)?;
        self.shared.sessions.get(&self.party.holder, id).ok_or(StatusCode::NOT_FOUND)
    }

    fn says_modern(&self) -> bool {
        admit::single(self.headers, &VERSION).is_some_and(|version| version >= MODERN)
    }

    async fn initialize(&self, id: &Id, message: &Message<'_>) -> Reply {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params {
            protocol_version: String,
            #[serde(default)]
            client_info: Client,
        }
        let Ok(params) = message.params::<Params>() else {
            let text = "initialize takes protocolVersion, capabilities and clientInfo";
            return reply::json(StatusCode::OK, envelope::error(Some(id), ErrorCode::INVALID_PARAMS, text));
        };
        let client = params.client_info.redacted(&self.shared.redactor);
        let Some(session) = self.shared.sessions.open(&self.party.holder, &client) else {
            let text = "this seat has as many sessions as it may, and all are busy; end one first";
            return reply::json(StatusCode::SERVICE_UNAVAILABLE, envelope::error(Some(id), ErrorCode::INTERNAL, text));
        };
        tracing::info!(seat = %self.party.holder, session = %session.short, client = %session.client, "session_opened");
        let result = json!({
            "protocolVersion": negotiate(&params.protocol_version),
            "capabilities": self.party.capabilities(Era::Legacy),
            "serverInfo": self.party.server_info(),
            "instructions": self.instructions().await,
        });
        let mut reply = reply::json(StatusCode::OK, envelope::result(id, &[json_text(&result).as_bytes()]));
        // Hexadecimal digits can stand in a header.
        if let Ok(value) = HeaderValue::from_str(&session.id) {
            reply.headers_mut().insert(SESSION_ID, value);
        }
        reply
    }

    /// What a model is told: who it is and what it remembers, and how it comes to its servers' tools.
    async fn instructions(&self) -> String {
        let text = self.party.instructions(&self.shared.memory).await;
        self.shared.with_servers(self.party, text)
    }

    fn asker(&self, id: Id, session: Arc<Session>, takes: Takes) -> Asker {
        Asker { id, party: self.party.clone(), session, takes, tasks: Tracks::No }
    }

    async fn legacy(&self, method: &str, asker: Asker, message: &Message<'_>) -> Reply {
        match method {
            "tools/call" => self.call(asker, message).await,
            "tools/list" => self.list(&asker, "}", message),
            "ping" => reply::json(StatusCode::OK, envelope::result(&asker.id, &[b"{}"])),
            _ => match (library::Method::of(method), self.party.as_seat()) {
                (Some(method), Some(seat)) => self.read((asker, seat), method, message).await,
                _ => reply::json(StatusCode::OK, no_method(&asker.id)),
            },
        }
    }

    async fn modern(&self, method: &str, asker: Asker, message: &Message<'_>) -> Reply {
        match method {
            "tools/call" => self.call(asker, message).await,
            "tools/list" => self.list(&asker, r#","resultType":"complete","ttlMs":0,"cacheScope":"private"}"#, message),
            "server/discover" => {
                let result = json!({
                    "resultType": "complete",
                    "supportedVersions": [MODERN],
                    "capabilities": self.party.capabilities(Era::Modern),
                    "instructions": self.instructions().await,
                    "ttlMs": 0,
                    "cacheScope": "private",
                    "_meta": {"io.modelcontextprotocol/serverInfo": self.party.server_info()},
                });
                reply::json(StatusCode::OK, envelope::result(&asker.id, &[json_text(&result).as_bytes()]))
            }
            "subscriptions/listen" => listen::for_client(self.shared, asker, message),
            method if self.party.has_tasks() && tasks::METHODS.contains(&method) => {
                tasks::answer(self.shared, &asker, method, message)
            }
            _ => match (library::Method::of(method), self.party.as_seat()) {
                (Some(method), Some(seat)) => self.read((asker, seat), method, message).await,
                _ => reply::json(StatusCode::NOT_FOUND, no_method(&asker.id)),
            },
        }
    }

    async fn call(&self, asker: Asker, message: &Message<'_>) -> Reply {
        let params = message.params.map_or("{}", RawValue::get);
        match &self.party.role {
            Role::Connector(badge) => Box::pin(connector::over_mcp(self.shared, badge, &asker, params)).await,
            Role::Seat(_) | Role::Worker(_) | Role::Operator(_) => call::call(self.shared, asker, params).await,
        }
    }

    async fn read(&self, asker: (Asker, &Arc<Seat>), method: library::Method, message: &Message<'_>) -> Reply {
        let params = message.params.map_or("{}", RawValue::get);
        Box::pin(library::answer(self.shared, asker, method, params)).await
    }

    fn list(&self, asker: &Asker, rest: &str, message: &Message<'_>) -> Reply {
        #[derive(Deserialize)]
        struct Params {
            #[serde(default)]
            cursor: Option<serde_json::Value>,
        }
        // The whole list is one page, so no cursor was ever given out.
        if message.params::<Params>().is_ok_and(|params| params.cursor.is_some()) {
            let text = "there is no such cursor: the list is one page";
            return reply::json(StatusCode::OK, envelope::error(Some(&asker.id), ErrorCode::INVALID_PARAMS, text));
        }
        self.shared.metrics.lists.fetch_add(1, Ordering::Relaxed);
        let listed = self.shared.shelf.table(self.party).listed(asker.session.active().map(AsRef::as_ref));
        reply::json_in_parts(envelope::around(&asker.id, r#"{"tools":"#, listed, rest))
    }

    /// What is wrong with a request of the era without sessions: revision, method and name stand in head and body,
    /// and have to be the same.
    fn unlike(&self, id: &Id, method: &str, meta: &envelope::Meta<'_>, message: &Message<'_>) -> Option<Reply> {
        let bad = |code, text: &str| Some(reply::json(StatusCode::BAD_REQUEST, envelope::error(Some(id), code, text)));
        let (Some(version), Some(_)) = (&meta.version, meta.capabilities) else {
            let text = "params._meta must hold io.modelcontextprotocol/protocolVersion and clientCapabilities";
            return bad(ErrorCode::INVALID_PARAMS, text);
        };
        if admit::single(self.headers, &VERSION) != Some(version) {
            return bad(ErrorCode::HEADER_MISMATCH, "MCP-Protocol-Version is not what params._meta says");
        }
        if version != MODERN {
            let text = "this revision is not served without a session";
            let data = json_text(&json!({"supported": [MODERN], "requested": version}));
            let body = envelope::error_with(Some(id), ErrorCode::UNSUPPORTED_VERSION, text, Some(&data));
            return Some(reply::json(StatusCode::BAD_REQUEST, body));
        }
        if admit::single(self.headers, &METHOD) != Some(method) {
            return bad(ErrorCode::HEADER_MISMATCH, "Mcp-Method is not the method of the body");
        }
        self.misnamed(method, message).and_then(|text| bad(ErrorCode::HEADER_MISMATCH, &text))
    }

    /// What the headers say otherwise than the body about what is meant, and about the arguments that a tool wants
    /// repeated.
    fn misnamed(&self, method: &str, message: &Message<'_>) -> Option<String> {
        let (member, what) = match method {
            "tools/call" | "prompts/get" => ("name", "the name"),
            "resources/read" => ("uri", "the uri"),
            method if tasks::METHODS.contains(&method) => ("taskId", "the task's id"),
            _ => return None,
        };
        // Only what the method uses is read: a member that it does not know must not switch the comparison off. One
        // that it does know and that is no text, the method refuses itself.
        let named = message.params::<HashMap<Cow<'_, str>, &RawValue>>().ok()?;
        let name = serde_json::from_str::<Cow<'_, str>>(named.get(member)?.get()).ok()?;
        if admit::single(self.headers, &NAME).and_then(mirror::decoded).as_deref() != Some(&*name) {
            return Some(format!("Mcp-Name is not {what} of the body"));
        }
        if method != "tools/call" {
            return None;
        }
        let arguments =
            named.get("arguments").map(|arguments| arguments.get()).filter(|text| *text != "null").unwrap_or("{}");
        let table = self.shared.shelf.table(self.party);
        let wrong = table.mirrored(&name).iter().find(|marked| !self.agrees(marked, arguments))?;
        Some(format!("{} is not what the arguments hold; list the tools for what to repeat", wrong.header))
    }

    fn agrees(&self, marked: &Mirrored, arguments: &str) -> bool {
        let mut values = self.headers.get_all(&marked.header).iter();
        match (values.next().map(HeaderValue::to_str), values.next()) {
            (None, _) => marked.agrees(None, arguments),
            (Some(Ok(value)), None) => marked.agrees(Some(value), arguments),
            // Twice, or with characters that no header of this kind may hold.
            _ => false,
        }
    }
}

/// The revision that a session speaks: the client's, if it is served, else the newest.
pub(super) fn negotiate(asked: &str) -> &str {
    LEGACY.into_iter().find(|version| *version == asked).unwrap_or(LEGACY[0])
}

fn notified(session: &Session, method: &str, message: &Message<'_>) -> Reply {
    if method == "notifications/cancelled"
        && let Some(id) = cancelled_id(message)
    {
        session.cancel(&id);
    }
    reply::empty(StatusCode::ACCEPTED)
}

/// The request that a `notifications/cancelled` is about.
pub(super) fn cancelled_id(message: &Message<'_>) -> Option<Id> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Cancelled<'b> {
        #[serde(borrow)]
        request_id: &'b RawValue,
    }
    message.params::<Cancelled<'_>>().ok().and_then(|cancelled| Id::of(cancelled.request_id))
}

fn no_method(id: &Id) -> Vec<u8> {
    envelope::error(Some(id), ErrorCode::NO_METHOD, "there is no such method here")
}

fn refused(Malformed(code, text): Malformed) -> Reply {
    reply::json(StatusCode::BAD_REQUEST, envelope::error(None, code, text))
}

fn no_session(status: StatusCode, id: Option<&Id>) -> Reply {
    let text = if status == StatusCode::NOT_FOUND {
        "there is no such session any more; initialize anew"
    } else {
        "name the session in Mcp-Session-Id and a revision that is served; initialize opens one"
    };
    reply::json(status, envelope::error(id, ErrorCode::SESSION, text))
}

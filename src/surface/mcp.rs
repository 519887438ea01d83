//! One MCP endpoint, a seat's or an operator's, in both eras of the protocol: who opens how, sessions, and every method but `tools/call`.
//!
//! A request whose `_meta` names a revision is answered without a session; `initialize` opens one. Both come by the
//! same path. Resources and prompts are not offered, so they are not declared.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hyper::body::Bytes;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;

use super::admit::{self, Takes};
use super::call::{self, Asker};
use super::envelope::{self, Client, Common, ErrorCode, Id, Kind, LEGACY, MODERN, Malformed, Message, json_text};
use super::party::{Party, Role};
use super::reply::{self, Reply};
use super::sessions::Session;
use super::{Shared, connector, listen};

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
            Kind::Request(id, "initialize") if meta.version.is_none() => self.initialize(&id, &message),
            Kind::Request(id, method)
                if meta.version.is_some() || self.says_modern() || method == "server/discover" =>
            {
                if let Some(problem) = self.unlike(&id, method, &meta, &message) {
                    return problem;
                }
                let client = meta.client.unwrap_or_default();
                let session = self.shared.sessions.client(&self.party.holder, &client);
                self.modern(method, self.asker(id, session, takes), &message).await
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

    fn initialize(&self, id: &Id, message: &Message<'_>) -> Reply {
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
        let Some(session) = self.shared.sessions.open(&self.party.holder, &params.client_info) else {
            let text = "this seat has as many sessions as it may, and all are busy; end one first";
            return reply::json(StatusCode::SERVICE_UNAVAILABLE, envelope::error(Some(id), ErrorCode::INTERNAL, text));
        };
        tracing::info!(seat = %self.party.holder, session = %session.short, client = %session.client, "session_opened");
        let result = json!({
            "protocolVersion": negotiate(&params.protocol_version),
            "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": self.party.server_info(),
            "instructions": self.party.instructions(),
        });
        let mut reply = reply::json(StatusCode::OK, envelope::result(id, &[json_text(&result).as_bytes()]));
        // Hexadecimal digits can stand in a header.
        if let Ok(value) = HeaderValue::from_str(&session.id) {
            reply.headers_mut().insert(SESSION_ID, value);
        }
        reply
    }

    fn asker(&self, id: Id, session: Arc<Session>, takes: Takes) -> Asker {
        Asker { id, party: self.party.clone(), session, takes }
    }

    async fn legacy(&self, method: &str, asker: Asker, message: &Message<'_>) -> Reply {
        match method {
            "tools/call" => self.call(asker, message).await,
            "tools/list" => self.list(&asker.id, b"}", message),
            "ping" => reply::json(StatusCode::OK, envelope::result(&asker.id, &[b"{}"])),
            _ => reply::json(StatusCode::OK, no_method(&asker.id)),
        }
    }

    async fn modern(&self, method: &str, asker: Asker, message: &Message<'_>) -> Reply {
        match method {
            "tools/call" => self.call(asker, message).await,
            "tools/list" => {
                self.list(&asker.id, br#","resultType":"complete","ttlMs":0,"cacheScope":"private"}"#, message)
            }
            "server/discover" => {
                let result = json!({
                    "resultType": "complete",
                    "supportedVersions": [MODERN],
                    "capabilities": {"tools": {"listChanged": true}},
                    "instructions": self.party.instructions(),
                    "ttlMs": 0,
                    "cacheScope": "private",
                    "_meta": {"io.modelcontextprotocol/serverInfo": self.party.server_info()},
                });
                reply::json(StatusCode::OK, envelope::result(&asker.id, &[json_text(&result).as_bytes()]))
            }
            "subscriptions/listen" => listen::for_client(self.shared, asker, message),
            _ => reply::json(StatusCode::NOT_FOUND, no_method(&asker.id)),
        }
    }

    async fn call(&self, asker: Asker, message: &Message<'_>) -> Reply {
        let params = message.params.map_or("{}", serde_json::value::RawValue::get);
        match &self.party.role {
            Role::Connector(badge) => connector::over_mcp(self.shared, badge, &asker, params).await,
            Role::Seat(_) | Role::Operator(_) => call::call(self.shared, asker, params).await,
        }
    }

    fn list(&self, id: &Id, rest: &[u8], message: &Message<'_>) -> Reply {
        #[derive(Deserialize)]
        struct Params {
            #[serde(default)]
            cursor: Option<serde_json::Value>,
        }
        // The whole list is one page, so no cursor was ever given out.
        if message.params::<Params>().is_ok_and(|params| params.cursor.is_some()) {
            let text = "there is no such cursor: the list is one page";
            return reply::json(StatusCode::OK, envelope::error(Some(id), ErrorCode::INVALID_PARAMS, text));
        }
        self.shared.metrics.lists.fetch_add(1, Ordering::Relaxed);
        let table = self.shared.shelf.table(self.party);
        reply::json(StatusCode::OK, envelope::result(id, &[br#"{"tools":"#, &table.json, rest]))
    }

    /// What is wrong with a request of the era without sessions: revision, method and name stand in head and body,
    /// and have to be the same.
    fn unlike(&self, id: &Id, method: &str, meta: &envelope::Meta<'_>, message: &Message<'_>) -> Option<Reply> {
        #[derive(Deserialize)]
        struct Named {
            name: String,
        }
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
        if method == "tools/call"
            && let Ok(named) = message.params::<Named>()
            && admit::single(self.headers, &NAME).and_then(listen::decoded).as_deref() != Some(named.name.as_str())
        {
            return bad(ErrorCode::HEADER_MISMATCH, "Mcp-Name is not the tool's name of the body");
        }
        None
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
        request_id: &'b serde_json::value::RawValue,
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

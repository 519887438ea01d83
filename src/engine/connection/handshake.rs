//! Settling on an era and a revision: the probe, its fallbacks, and `initialize`.
//!
//! The supervisor calls [`settle`] with a deadline around it. Servers answer the probe with any error code, with
//! nonsense, with silence, or by dying; all of that means "legacy". Only a modern server's own errors do not.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::client::{Answer, Client, Role};
use super::flight::InFlight;
use super::message::{self, Fault, RpcError};
use super::protocol::{self, MODERN_REFUSALS, UNSUPPORTED_VERSION, revisions, speaks};
use super::tools::ToolSupport;
use crate::engine::status::{Era, Offer, Offers};

/// What the handshake settled. Texts are as sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Settled {
    /// The era.
    pub era: Era,
    /// The revision.
    pub revision: String,
    /// The server's name and version, where it gives them.
    pub name: Option<String>,
    /// See `name`.
    pub version: Option<String>,
    /// Whether it has tools.
    pub tools: ToolSupport,
    /// What it offers beside them.
    pub offers: Offers,
    /// Of which of that it tells when it changes.
    pub announced: Offers,
}

/// Why the handshake came to nothing. Texts are as sent.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum HandshakeError {
    /// The server answered with something that cannot be used.
    #[error("{0}")]
    Refused(String),
    /// No common revision.
    #[error("no common version: the server speaks {server}, this program {}", protocol::all_revisions())]
    Version {
        /// What the server speaks.
        server: String,
    },
    /// The link ended. `probing` is true while the probe was the only thing it had been asked.
    #[error("the connection ended during the handshake: {reason}")]
    Ended {
        /// See above.
        probing: bool,
        /// How it ended.
        reason: Arc<str>,
    },
    /// The server refused both the probe and `initialize`: it locked on an era with the first message.
    #[error("the server refused both server/discover and initialize: {0}")]
    Locked(String),
}

/// Settles with the server on `client`'s link. `known` is the era of an earlier start; a server that answers
/// nothing to the probe within `patience` is sent `initialize` beside it.
///
/// # Errors
/// See [`HandshakeError`].
pub(super) async fn settle(client: &Client, known: Option<Era>, patience: Duration) -> Result<Settled, HandshakeError> {
    if known == Some(Era::Legacy) {
        client.settle_era(Era::Legacy);
        return match initialize(client).await.answer().await {
            // What was known may be old: a server that was updated since may only be modern.
            Answer::Error(refusal) => match discovered(&discover(client).await.answer().await) {
                Some(settled) => {
                    client.settle_era(Era::Modern);
                    Ok(settled)
                }
                None => Err(refused("initialize", &refusal)),
            },
            answer => finish(client, answer).await,
        };
    }
    let mut probe = discover(client).await;
    match tokio::time::timeout(patience, probe.answer()).await {
        Ok(answer) => match judge_probe(answer)? {
            Verdict::Modern(settled) => {
                client.settle_era(Era::Modern);
                Ok(settled)
            }
            Verdict::Legacy(refusal) => {
                client.settle_era(Era::Legacy);
                match (initialize(client).await.answer().await, refusal) {
                    (Answer::Error(error), Some(probe)) => {
                        Err(HandshakeError::Locked(format!("{}; {}", probe.message, error.message)))
                    }
                    (answer, _) => finish(client, answer).await,
                }
            }
        },
        Err(_silence) => race(client, probe).await,
    }
}

/// Probe and `initialize` are both on their way: a slow start, or a server that ignores what it does not know.
async fn race(client: &Client, mut probe: InFlight) -> Result<Settled, HandshakeError> {
    client.settle_era(Era::Legacy);
    let mut initialize = initialize(client).await;
    let mut refused_probe: Option<RpcError> = None;
    let mut refused_initialize: Option<RpcError> = None;
    loop {
        if let (Some(probe), Some(initialize)) = (&refused_probe, &refused_initialize) {
            return Err(HandshakeError::Locked(format!("{}; {}", probe.message, initialize.message)));
        }
        tokio::select! {
            biased;
            answer = probe.answer() => {
                if let Some(settled) = discovered(&answer) {
                    client.settle_era(Era::Modern);
                    return Ok(settled);
                }
                match answer {
                    // A late refusal says nothing while `initialize` is still out.
                    Answer::Error(error) => refused_probe = Some(error),
                    Answer::Result(_) => refused_probe = Some(unusable()),
                    Answer::Undelivered(lack) => return Err(ended(false, lack.reason.into())),
                    Answer::Ended(reason) => return Err(ended(true, reason)),
                }
            },
            answer = initialize.answer() => match answer {
                Answer::Error(error) => refused_initialize = Some(error),
                Answer::Ended(reason) => return Err(ended(refused_probe.is_none(), reason)),
                answer => return finish(client, answer).await,
            },
        }
    }
}

/// The modern terms in an answer to the probe, where it holds some that we speak.
fn discovered(answer: &Answer) -> Option<Settled> {
    match answer {
        Answer::Result(result) => reads_as_discovery(result)?.ok(),
        _ => None,
    }
}

enum Verdict {
    Modern(Settled),
    /// With the error that said so, where it was one.
    Legacy(Option<RpcError>),
}

fn judge_probe(answer: Answer) -> Result<Verdict, HandshakeError> {
    match answer {
        Answer::Result(result) => match reads_as_discovery(&result) {
            Some(Ok(settled)) => Ok(Verdict::Modern(settled)),
            Some(Err(supported)) => only_legacy(&supported),
            None => Ok(Verdict::Legacy(None)),
        },
        Answer::Error(error) if error.code == UNSUPPORTED_VERSION => {
            let supported = strings(error.data.get("supported"));
            if supported.is_empty() {
                return Err(HandshakeError::Version { server: format!("none that it names ({})", error.message) });
            }
            if supported.iter().any(|version| speaks(Era::Modern, version)) {
                return Err(refused("server/discover", &error));
            }
            only_legacy(&supported)
        }
        Answer::Error(error) if MODERN_REFUSALS.contains(&error.code) => Err(refused("server/discover", &error)),
        Answer::Error(error) => Ok(Verdict::Legacy(Some(error))),
        // An endpoint that does not know the question, or stumbles over it; that is what legacy ones do.
        Answer::Undelivered(lack) if matches!(lack.fault, Fault::Status(_)) => Ok(Verdict::Legacy(None)),
        Answer::Undelivered(lack) => Err(ended(true, lack.reason.into())),
        Answer::Ended(reason) => Err(ended(true, reason)),
    }
}

/// A modern server that offers no modern revision of ours: legacy, where it has one of those.
fn only_legacy(supported: &[String]) -> Result<Verdict, HandshakeError> {
    if supported.iter().any(|version| speaks(Era::Legacy, version)) {
        return Ok(Verdict::Legacy(None));
    }
    Err(HandshakeError::Version { server: supported.join(", ") })
}

/// Reads a `server/discover` result. `None`: it is none. `Err`: it offers no modern revision of ours but these.
fn reads_as_discovery(result: &serde_json::value::RawValue) -> Option<Result<Settled, Vec<String>>> {
    let result: Value = serde_json::from_str(result.get()).ok()?;
    if result.get("resultType").is_some_and(|kind| kind.as_str() != Some("complete")) {
        return None;
    }
    let supported = strings(result.get("supportedVersions"));
    if supported.is_empty() {
        return None;
    }
    let Some(revision) = revisions(Era::Modern).find(|ours| supported.iter().any(|theirs| theirs == ours)) else {
        return Some(Err(supported));
    };
    let identity = result.get("_meta").and_then(|meta| meta.get("io.modelcontextprotocol/serverInfo"));
    let identity = identity.or_else(|| result.get("serverInfo"));
    Some(Ok(settled(Era::Modern, revision, identity, &result)))
}

fn settled(era: Era, revision: &str, identity: Option<&Value>, result: &Value) -> Settled {
    let text = |key: &str| identity.and_then(|i| i.get(key)).and_then(Value::as_str).map(ToOwned::to_owned);
    let tools = match result.get("capabilities") {
        Some(Value::Object(capabilities)) => match capabilities.get("tools") {
            None | Some(Value::Null) => ToolSupport::Absent,
            Some(tools) if tools.get("listChanged") == Some(&Value::Bool(true)) => ToolSupport::Announced,
            Some(_) => ToolSupport::Declared,
        },
        _ => ToolSupport::Unsaid,
    };
    let offered = |offer: Offer| result.get("capabilities")?.get(offer.as_str()).filter(|offer| offer.is_object());
    let has = |offer| offered(offer).is_some();
    let tells = |offer| offered(offer).is_some_and(|offer| offer.get("listChanged") == Some(&Value::Bool(true)));
    Settled {
        era,
        revision: revision.to_owned(),
        name: text("name"),
        version: text("version"),
        tools,
        offers: Offers { resources: has(Offer::Resources), prompts: has(Offer::Prompts) },
        announced: Offers { resources: tells(Offer::Resources), prompts: tells(Offer::Prompts) },
    }
}

/// Reads the answer to `initialize` and confirms it.
async fn finish(client: &Client, answer: Answer) -> Result<Settled, HandshakeError> {
    let result = match answer {
        Answer::Result(result) => result,
        Answer::Error(error) => return Err(refused("initialize", &error)),
        Answer::Undelivered(lack) => return Err(ended(false, lack.reason.into())),
        Answer::Ended(reason) => return Err(ended(false, reason)),
    };
    let result: Value = serde_json::from_str(result.get())
        .map_err(|error| HandshakeError::Refused(format!("unreadable answer to initialize: {error}")))?;
    let Some(revision) = result.get("protocolVersion").and_then(Value::as_str) else {
        return Err(HandshakeError::Refused("the answer to initialize names no protocol version".to_owned()));
    };
    if !speaks(Era::Legacy, revision) && !speaks(Era::Modern, revision) {
        return Err(HandshakeError::Version { server: revision.to_owned() });
    }
    let settled = settled(Era::Legacy, revision, result.get("serverInfo"), &result);
    client.notify(message::notification("notifications/initialized", "")).await;
    Ok(settled)
}

async fn discover(client: &Client) -> InFlight {
    send(client, "server/discover", protocol::discover()).await
}

async fn initialize(client: &Client) -> InFlight {
    send(client, "initialize", protocol::initialize(client.asks().offer())).await
}

async fn send(client: &Client, method: &str, params: String) -> InFlight {
    let (flight, frame) = client.prepare(Role::Handshake, method, |_| params);
    // A link that is over is told by the answer.
    let _ = client.queue(frame).await;
    flight
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(ToOwned::to_owned).collect()
}

fn refused(method: &str, error: &RpcError) -> HandshakeError {
    HandshakeError::Refused(format!("the server refused {method}: {} (code {})", error.message, error.code))
}

fn unusable() -> RpcError {
    RpcError { code: 0, message: "unusable answer".to_owned(), data: Value::Null }
}

const fn ended(probing: bool, reason: Arc<str>) -> HandshakeError {
    HandshakeError::Ended { probing, reason }
}

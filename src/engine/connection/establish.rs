//! From an open session to a listed server: handshake and first listing, each within the start limit.
//!
//! The supervisor calls [`establish`] and may drop it at any time; what is left of the session it takes down itself.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::ConnectionSpec;
use super::failure::Trouble;
use super::handshake::{self, HandshakeError, Settled};
use super::lines::LineSink;
use super::link::Carriage;
use super::message::LinkEnd;
use super::session::{Session, TOGETHER};
use super::tools::{self, ToolSupport};
use crate::engine::status::{Era, PeerFacts};
use crate::tool::Listing;

/// Longest time that a silent server gets before it is sent `initialize` beside the probe.
const MAX_PATIENCE: Duration = Duration::from_secs(5);
/// Characters that are kept of a server's own name and version.
const IDENTITY_CHARS: usize = 128;

/// A server that is ready to be called.
pub(super) struct Established {
    /// What it said about itself.
    pub facts: PeerFacts,
    /// Its tools.
    pub listing: Listing,
    /// What to expect when it is listed again.
    pub support: ToolSupport,
}

/// A start that failed.
pub(super) struct StartError {
    /// Why.
    pub trouble: Trouble,
    /// True when one more start with `initialize` alone may end differently: the probe killed the server, or it
    /// locked on an era.
    pub try_legacy: bool,
    /// What the server had said about itself by then.
    pub facts: Option<PeerFacts>,
}

impl From<Trouble> for StartError {
    fn from(trouble: Trouble) -> Self {
        Self { trouble, try_legacy: false, facts: None }
    }
}

/// Shakes hands and lists tools.
pub(super) async fn establish(
    spec: &ConnectionSpec,
    sink: &LineSink,
    session: &mut Session,
    known: Option<Era>,
) -> Result<Established, StartError> {
    let began = Instant::now();
    let limit = spec.startup_timeout;
    let client = session.client.clone();
    let patience = MAX_PATIENCE.min(limit / 3);
    let (settled, end) = beside(session, timeout(limit, handshake::settle(&client, known, patience))).await;
    let settled = match settled {
        Ok(Ok(settled)) => settled,
        Ok(Err(error)) => return Err(judge(error, end, client.carriage())),
        Err(_elapsed) => return Err(Trouble::ConnectTimedOut.into()),
    };
    client.set_announced(settled.announced);
    let facts = facts(sink, &settled, session.pid(), began.elapsed());
    let server_name = facts.name.as_deref().unwrap_or("unknown");
    let (era, revision) = (facts.era.as_str(), &facts.protocol_version);
    tracing::info!(server = %spec.name, server_name, era, %revision, "server_initialized");

    let (listing, end) =
        beside(session, timeout(limit, tools::list(&client, &spec.redactor, settled.era, settled.tools))).await;
    let trouble = match (listing, end) {
        (Ok(Ok(listing)), _) => return Ok(Established { facts, listing, support: settled.tools }),
        (Ok(Err(_)), Some(end)) => Trouble::Ended(end),
        (Ok(Err(reason)), None) => Trouble::Listing(reason),
        (Err(_elapsed), _) => Trouble::ListTimedOut,
    };
    Err(StartError { facts: Some(facts), ..trouble.into() })
}

fn judge(error: HandshakeError, end: Option<LinkEnd>, carriage: Carriage) -> StartError {
    let try_legacy = matches!(error, HandshakeError::Ended { probing: true, .. } | HandshakeError::Locked(_));
    let trouble = match (error, end) {
        (HandshakeError::Ended { .. }, Some(end)) => Trouble::Ended(end),
        (error, _) => Trouble::Handshake(error),
    };
    // A message over the limit, refused credentials, an endpoint that cannot be reached: not the probe's fault.
    let by_itself = match &trouble {
        Trouble::Ended(LinkEnd::TooLarge(_) | LinkEnd::Unauthorized(_)) => false,
        Trouble::Ended(LinkEnd::Broken(_)) => carriage == Carriage::Streams,
        _ => true,
    };
    StartError { trouble, try_legacy: try_legacy && by_itself, facts: None }
}

/// Does `work` while the session lasts; when the session ends first, its requests fail, and so does the work.
async fn beside<T>(session: &mut Session, work: impl Future<Output = T>) -> (T, Option<LinkEnd>) {
    let mut work = pin!(work);
    tokio::select! {
        biased;
        done = &mut work => {
            // What failed because the link is over is told by how that ended, which is known in a moment.
            let over = session.client.is_over();
            let end = if over { timeout(TOGETHER, session.ended()).await.ok().map(|(end, _)| end) } else { None };
            (done, end)
        }
        (end, _) = session.ended() => {
            session.client.fail_pending(&"the connection ended".into());
            (work.await, Some(end))
        }
    }
}

fn facts(sink: &LineSink, settled: &Settled, pid: Option<u32>, took: Duration) -> PeerFacts {
    let clean = |text: &str| -> Arc<str> { sink.clean(text).chars().take(IDENTITY_CHARS).collect::<String>().into() };
    PeerFacts {
        era: settled.era,
        protocol_version: clean(&settled.revision),
        name: settled.name.as_deref().map(clean),
        version: settled.version.as_deref().map(clean),
        offers: settled.offers,
        pid,
        took,
    }
}

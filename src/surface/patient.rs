//! An answer that may take a while: whole where it comes soon, else a stream with signs of life until it is there.
//!
//! For requests that nobody is asked about; calls have more to say while they wait, see [`super::call`].

use std::sync::Arc;

use hyper::StatusCode;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::admit::Takes;
use super::envelope::Id;
use super::live::{BEAT, SOON};
use super::reply::{self, Reply};
use super::sessions::Session;

/// The caller of one request. Dropping it gives the request up.
pub(super) struct Presence {
    session: Arc<Session>,
    id: Id,
    cancel: CancellationToken,
}

impl Presence {
    /// A caller whose request the session has enlisted.
    pub(super) fn new(session: Arc<Session>, id: Id, cancel: CancellationToken) -> Self {
        Self { session, id, cancel }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.session.finish(&self.id);
        self.cancel.cancel();
    }
}

/// The answer that `work` comes back with; `None` when its caller wants none any more.
pub(super) async fn answer(takes: Takes, presence: Presence, mut work: JoinHandle<Option<Vec<u8>>>) -> Reply {
    let soon = if takes == Takes::Json { Ok((&mut work).await) } else { tokio::time::timeout(SOON, &mut work).await };
    let Ok(message) = soon else { return stream(presence, work) };
    match message.ok().flatten() {
        Some(message) if takes == Takes::Events => reply::events(futures_util::stream::iter([reply::event(&message)])),
        Some(message) => reply::json(StatusCode::OK, message),
        None => reply::empty(StatusCode::ACCEPTED),
    }
}

fn stream(presence: Presence, work: JoinHandle<Option<Vec<u8>>>) -> Reply {
    let first = reply::comment("reading");
    let rest = futures_util::stream::unfold(Some((presence, work)), |state| async move {
        let (presence, mut work) = state?;
        match tokio::time::timeout(BEAT, &mut work).await {
            Err(_elapsed) => Some((reply::comment("reading"), Some((presence, work)))),
            Ok(message) => message.ok().flatten().map(|message| (reply::event(&message), None)),
        }
    });
    reply::events(futures_util::StreamExt::chain(futures_util::stream::iter([first]), rest))
}

//! Telling agents that their lists changed: the stream of a session, and `subscriptions/listen`.
//!
//! A stream is nothing but a future that sleeps until the catalog or what servers offer beside it changes; it says so
//! only when the seat's own list is (or, of resources and prompts, may be) another one than before.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use hyper::StatusCode;
use hyper::body::Bytes;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Shared;
use super::admit::Takes;
use super::call::Asker;
use super::envelope::{self, ErrorCode, Message, json_text};
use super::library::LISTS;
use super::party::Party;
use super::reply::{self, Reply};
use super::sessions::Session;
use super::tasks::{self, Tracks};
use crate::engine::library;
use crate::engine::status::Offer;
use crate::native::active::{Chosen, Set};
use crate::tool::Catalog;

/// How often a silent stream says that it is there: this finds out clients that are gone without a word.
const COMMENT: Duration = Duration::from_secs(60);

/// The tools' place among [`LISTS`].
const TOOLS: usize = 0;

/// The place of a list among [`LISTS`].
const fn place(offer: Offer) -> usize {
    match offer {
        Offer::Resources => 1,
        Offer::Prompts => 2,
    }
}

/// The stream that a session opens by GET. A newer one takes its place.
pub(super) fn for_session(shared: &Arc<Shared>, party: &Party, session: Arc<Session>) -> Reply {
    let until = session.take_stream();
    let changes = Changes::new(shared, party, session, until);
    let messages = LISTS.map(|(method, _)| Some(reply::event(&envelope::notification(method, None))));
    let first = futures_util::stream::iter([reply::comment("listening")]);
    reply::events(first.chain(changes.stream(messages)))
}

/// The stream that a client without a session opens by `subscriptions/listen`.
pub(super) fn for_client(shared: &Arc<Shared>, asker: Asker, message: &Message<'_>) -> Reply {
    #[derive(Deserialize, Default)]
    struct Params {
        #[serde(default)]
        notifications: serde_json::Map<String, Value>,
    }
    let Asker { id, party, session, takes, tasks } = asker;
    let Ok(params) = message.params::<Params>() else {
        let text = "subscriptions/listen takes notifications: what to hear of";
        return reply::json(StatusCode::OK, envelope::error(Some(&id), ErrorCode::INVALID_PARAMS, text));
    };
    // Changes of tasks are not pushed, so what is acknowledged does not name them; who asks must know of tasks.
    if params.notifications.contains_key("taskIds") && tasks == Tracks::No {
        return tasks::not_declared(&id);
    }
    if takes == Takes::Json {
        return reply::text(StatusCode::NOT_ACCEPTABLE, "accept text/event-stream\n");
    }
    let wants = |filter: &str| params.notifications.get(filter) == Some(&Value::Bool(true));
    let accepted =
        party.lists().iter().filter(|(_, filter)| wants(filter)).map(|(_, filter)| ((*filter).to_owned(), true.into()));
    let accepted: serde_json::Map<String, Value> = accepted.collect();
    let mark = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}"#, id.as_json());
    let acknowledged = format!(r#"{{"notifications":{},{mark}}}"#, json_text(&accepted));
    let acknowledged = envelope::notification("notifications/subscriptions/acknowledged", Some(&acknowledged));
    // What it does not want to hear of is silence; the stream stays until it or we end it.
    let messages = LISTS.map(|(method, filter)| {
        wants(filter).then(|| reply::event(&envelope::notification(method, Some(&format!("{{{mark}}}")))))
    });
    let result = format!(r#"{{"resultType":"complete",{mark}}}"#);
    let last = reply::event(&envelope::result(&id, &[result.as_bytes()]));
    let until = session.ended.child_token();
    let heard = Changes::new(shared, &party, session, until).stream(messages);
    let first = futures_util::stream::iter([reply::event(&acknowledged)]);
    reply::events(first.chain(heard).chain(futures_util::stream::iter([last])))
}

/// What is said when a list changes, by list; `None` where it is not to be heard of.
type Messages = [Option<Bytes>; LISTS.len()];

struct Changes {
    shared: Arc<Shared>,
    party: Party,
    session: Arc<Session>,
    catalog: watch::Receiver<Arc<Catalog>>,
    /// Under progressive discovery.
    active: Option<(Arc<Set>, watch::Receiver<Arc<Chosen>>)>,
    known: Bytes,
    library: library::Changes,
    shelves: library::Shelves,
    until: CancellationToken,
}

impl Changes {
    fn new(shared: &Arc<Shared>, party: &Party, session: Arc<Session>, until: CancellationToken) -> Self {
        session.streams.fetch_add(1, Ordering::Relaxed);
        let mut catalog = shared.shelf.changes();
        catalog.mark_unchanged();
        let active = session.active().map(|set| (set.clone(), set.changes()));
        let known = shared.shelf.table(party).listed(active.as_ref().map(|(set, _)| set.as_ref()));
        // What changes from here on is told, once more than needed at worst.
        let library = shared.handle.library().changes();
        let shelves = shelves(shared, party);
        let (shared, party) = (shared.clone(), party.clone());
        Self { shared, party, session, catalog, active, known, library, shelves, until }
    }

    /// A message at each change, comments in between, until the session ends or the program does.
    fn stream(self, messages: Messages) -> impl Stream<Item = Bytes> + Send + 'static {
        futures_util::stream::unfold((self, messages), |(mut changes, messages)| async move {
            let event = changes.next(&messages).await?;
            Some((event, (changes, messages)))
        })
    }

    async fn next(&mut self, messages: &Messages) -> Option<Bytes> {
        loop {
            let changed: Vec<usize> = tokio::select! {
                biased;
                () = self.until.cancelled() => return None,
                () = self.shared.shutdown.cancelled() => return None,
                changed = self.catalog.changed() => {
                    changed.ok()?;
                    self.tools_changed().into_iter().collect()
                }
                () = activated(&mut self.active) => self.tools_changed().into_iter().collect(),
                goes_on = self.library.next() => {
                    goes_on.then_some(())?;
                    let now = shelves(&self.shared, &self.party);
                    let changed = now.changed(&self.shelves);
                    self.shelves = now;
                    changed.into_iter().map(place).collect()
                }
                () = tokio::time::sleep(COMMENT) => return Some(reply::comment("listening")),
            };
            let heard = changed.into_iter().filter_map(|list| messages.get(list)?.as_deref());
            let heard = heard.collect::<Vec<_>>().concat();
            if !heard.is_empty() {
                return Some(heard.into());
            }
        }
    }

    fn tools_changed(&mut self) -> Option<usize> {
        let active = self.active.as_ref().map(|(set, _)| set.as_ref());
        let now = self.shared.shelf.table(&self.party).listed(active);
        (now != self.known).then(|| {
            self.known = now;
            TOOLS
        })
    }
}

/// Waits until other tools are active; for ever where all are.
async fn activated(active: &mut Option<(Arc<Set>, watch::Receiver<Arc<Chosen>>)>) {
    let changed = match active {
        Some((_, changes)) => changes.changed().await.is_ok(),
        None => false,
    };
    if !changed {
        std::future::pending::<()>().await;
    }
}

/// What there is beside tools: only for seats.
fn shelves(shared: &Shared, party: &Party) -> library::Shelves {
    party.as_seat().map(|seat| shared.handle.library().shelves(seat)).unwrap_or_default()
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.session.streams.fetch_sub(1, Ordering::Relaxed);
        self.session.seen();
    }
}

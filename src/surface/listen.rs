//! Telling agents that their tools changed: the stream of a session, and `subscriptions/listen`.
//!
//! A stream is nothing but a future that sleeps until the catalog changes; it says so only when the seat's own list
//! is another one than before.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use hyper::StatusCode;
use hyper::body::Bytes;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Shared;
use super::admit::Takes;
use super::call::Asker;
use super::envelope::{self, ErrorCode, Message, json_text};
use super::reply::{self, Reply};
use super::sessions::Session;
use super::tasks::{self, Tracks};
use crate::org::Seat;
use crate::tool::Catalog;

/// How often a silent stream says that it is there: this finds out clients that are gone without a word.
const COMMENT: Duration = Duration::from_secs(60);

const CHANGED: &str = "notifications/tools/list_changed";

/// The stream that a session opens by GET. A newer one takes its place.
pub(super) fn for_session(shared: &Arc<Shared>, seat: &Arc<Seat>, session: Arc<Session>) -> Reply {
    let until = session.take_stream();
    let changes = Changes::new(shared, seat, session, until);
    let message = reply::event(&envelope::notification(CHANGED, None));
    let first = futures_util::stream::iter([reply::comment("listening")]);
    reply::events(first.chain(changes.stream(message)))
}

/// The stream that a client without a session opens by `subscriptions/listen`.
pub(super) fn for_client(shared: &Arc<Shared>, asker: Asker, message: &Message<'_>) -> Reply {
    #[derive(Deserialize, Default)]
    struct Params {
        #[serde(default)]
        notifications: Filter,
    }
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase")]
    struct Filter {
        #[serde(default)]
        tools_list_changed: bool,
        #[serde(default)]
        task_ids: Option<serde::de::IgnoredAny>,
    }
    let Asker { id, seat, session, takes, tasks } = asker;
    let Ok(params) = message.params::<Params>() else {
        let text = "subscriptions/listen takes notifications: what to hear of";
        return reply::json(StatusCode::OK, envelope::error(Some(&id), ErrorCode::INVALID_PARAMS, text));
    };
    // Changes of tasks are not pushed, so what is acknowledged does not name them; who asks must know of tasks.
    if params.notifications.task_ids.is_some() && tasks == Tracks::No {
        return tasks::not_declared(&id);
    }
    if takes == Takes::Json {
        return reply::text(StatusCode::NOT_ACCEPTABLE, "accept text/event-stream\n");
    }
    let wanted = params.notifications.tools_list_changed;
    let accepted = if wanted { json!({"toolsListChanged": true}) } else { json!({}) };
    let mark = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}"#, id.as_json());
    let acknowledged = format!(r#"{{"notifications":{},{mark}}}"#, json_text(&accepted));
    let acknowledged = envelope::notification("notifications/subscriptions/acknowledged", Some(&acknowledged));
    let changed = reply::event(&envelope::notification(CHANGED, Some(&format!("{{{mark}}}"))));
    let result = format!(r#"{{"resultType":"complete",{mark}}}"#);
    let last = reply::event(&envelope::result(&id, &[result.as_bytes()]));
    let until = session.ended.child_token();
    let changes = Changes::new(shared, &seat, session, until).stream(changed);
    // A client that wants to hear nothing still holds the stream until it or we end it.
    let heard = changes.filter(move |event| std::future::ready(wanted || event.starts_with(b":")));
    let first = futures_util::stream::iter([reply::event(&acknowledged)]);
    reply::events(first.chain(heard).chain(futures_util::stream::iter([last])))
}

struct Changes {
    shared: Arc<Shared>,
    seat: Arc<Seat>,
    session: Arc<Session>,
    catalog: watch::Receiver<Arc<Catalog>>,
    known: Bytes,
    until: CancellationToken,
}

impl Changes {
    fn new(shared: &Arc<Shared>, seat: &Arc<Seat>, session: Arc<Session>, until: CancellationToken) -> Self {
        session.streams.fetch_add(1, Ordering::Relaxed);
        let mut catalog = shared.shelf.changes();
        catalog.mark_unchanged();
        let known = shared.shelf.table(seat).json.clone();
        Self { shared: shared.clone(), seat: seat.clone(), session, catalog, known, until }
    }

    /// `message` at each change, comments in between, until the session ends or the program does.
    fn stream(self, message: Bytes) -> impl Stream<Item = Bytes> + Send + 'static {
        futures_util::stream::unfold((self, message), |(mut changes, message)| async move {
            let event = changes.next(&message).await?;
            Some((event, (changes, message)))
        })
    }

    async fn next(&mut self, message: &Bytes) -> Option<Bytes> {
        loop {
            tokio::select! {
                biased;
                () = self.until.cancelled() => return None,
                () = self.shared.shutdown.cancelled() => return None,
                changed = self.catalog.changed() => {
                    changed.ok()?;
                    let now = self.shared.shelf.table(&self.seat).json.clone();
                    if now != self.known {
                        self.known = now;
                        return Some(message.clone());
                    }
                }
                () = tokio::time::sleep(COMMENT) => return Some(reply::comment("listening")),
            }
        }
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.session.streams.fetch_sub(1, Ordering::Relaxed);
        self.session.seen();
    }
}

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
use super::party::Party;
use super::reply::{self, Reply};
use super::sessions::Session;
use crate::tool::Catalog;

/// How often a silent stream says that it is there: this finds out clients that are gone without a word.
const COMMENT: Duration = Duration::from_secs(60);

const CHANGED: &str = "notifications/tools/list_changed";

/// The stream that a session opens by GET. A newer one takes its place.
pub(super) fn for_session(shared: &Arc<Shared>, party: &Party, session: Arc<Session>) -> Reply {
    let until = session.take_stream();
    let changes = Changes::new(shared, party, session, until);
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
    }
    let Asker { id, party, session, takes } = asker;
    let Ok(params) = message.params::<Params>() else {
        let text = "subscriptions/listen takes notifications: what to hear of";
        return reply::json(StatusCode::OK, envelope::error(Some(&id), ErrorCode::INVALID_PARAMS, text));
    };
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
    let changes = Changes::new(shared, &party, session, until).stream(changed);
    // A client that wants to hear nothing still holds the stream until it or we end it.
    let heard = changes.filter(move |event| std::future::ready(wanted || event.starts_with(b":")));
    let first = futures_util::stream::iter([reply::event(&acknowledged)]);
    reply::events(first.chain(heard).chain(futures_util::stream::iter([last])))
}

struct Changes {
    shared: Arc<Shared>,
    party: Party,
    session: Arc<Session>,
    catalog: watch::Receiver<Arc<Catalog>>,
    known: Bytes,
    until: CancellationToken,
}

impl Changes {
    fn new(shared: &Arc<Shared>, party: &Party, session: Arc<Session>, until: CancellationToken) -> Self {
        session.streams.fetch_add(1, Ordering::Relaxed);
        let mut catalog = shared.shelf.changes();
        catalog.mark_unchanged();
        let known = shared.shelf.table(party).json.clone();
        Self { shared: shared.clone(), party: party.clone(), session, catalog, known, until }
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
                    let now = self.shared.shelf.table(&self.party).json.clone();
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

/// The text of a header value that may be wrapped in base64 because it is not plain.
pub(super) fn decoded(value: &str) -> Option<String> {
    let wrapped = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let Some(encoded) = wrapped else { return Some(value.to_owned()) };
    String::from_utf8(from_base64(encoded)?).ok()
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(digits.len());
    let (mut bits, mut count) = (0_u32, 0_u32);
    for byte in digits.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_values_are_read_plain_or_wrapped() {
        for (value, expected) in [
            ("notes_get", Some("notes_get")),
            ("=?base64?bm90ZXNfZ2V0?=", Some("notes_get")),
            ("=?base64?w6k=?=", Some("é")),
            ("=?base64?w6k?=", Some("é")),
            ("=?base64?*?=", None),
            ("=?base64?/w==?=", None),
        ] {
            assert_eq!(decoded(value).as_deref(), expected, "{value}");
        }
    }
}

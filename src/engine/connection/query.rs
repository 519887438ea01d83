//! Questions that are no calls: a server's lists of resources and prompts, one resource, one prompt.
//!
//! The protocol has them change nothing, so they need no permit; what can be asked is a closed set, and `tools/call` is
//! not in it. [`super::Connection::ask`] and [`super::Connection::list`] are the only callers. What an answer means is
//! the library's business.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::time::timeout_at;
use tokio_util::sync::CancellationToken;

use super::call::{self, Patience, Sent};
use super::client::Role;
use super::message::{Fault, quoted};
use super::pages::{self, Broken, Walk};
use super::progress::Waiter;
use super::reach::{REFUSED_TWICE, Way};
use super::{CallFailure, Connection, Reply, protocol};
use crate::engine::status::Era;
use crate::tool::offers::OfferList;

/// Bytes of all pages of one list.
const MAX_BYTES: usize = 4 << 20;
/// Items of one list.
const MAX_ITEMS: usize = 5_000;

/// One question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Query {
    /// `resources/read`, by the server's own URI.
    Resource(Arc<str>),
    /// `prompts/get`, by the server's own name.
    Prompt {
        /// The name.
        name: Arc<str>,
        /// JSON text of the arguments, an object; `None` when there are none.
        arguments: Option<Arc<str>>,
    },
}

impl Query {
    /// The method.
    pub const fn method(&self) -> &'static str {
        match self {
            Self::Resource(_) => "resources/read",
            Self::Prompt { .. } => "prompts/get",
        }
    }

    fn params(&self, era: Era) -> String {
        let fields = match self {
            Self::Resource(uri) => format!(r#""uri":{}"#, quoted(uri)),
            Self::Prompt { name, arguments: None } => format!(r#""name":{}"#, quoted(name)),
            Self::Prompt { name, arguments: Some(all) } => format!(r#""name":{},"arguments":{all}"#, quoted(name)),
        };
        protocol::with_meta(era, &fields)
    }
}

/// A list of a server, as far as it could be had.
#[derive(Debug, Default)]
pub struct Listed {
    /// Its items, as the server wrote them.
    pub items: Vec<Box<RawValue>>,
    /// Why there are no more of them, where there should be; cleaned.
    pub cut: Option<Arc<str>>,
}

/// Asks once; a second time when the server refused the session it was asked in.
pub(super) async fn ask(
    connection: &Connection,
    query: &Query,
    cancel: &CancellationToken,
) -> Result<Reply, CallFailure> {
    let limit = connection.request_timeout;
    let waiter = Waiter::from(cancel.clone());
    let mut way = Way::new(connection, None, limit, &waiter);
    for _ in 0..2 {
        let client = way.find().await?;
        client.note_call();
        let era = client.era().unwrap_or(Era::Legacy);
        let prepared = client.prepare(Role::Ordinary, query.method(), |_| query.params(era));
        // No progress is asked for, so none extends it.
        let patience = Patience { limit, most: limit, touched: Arc::default() };
        match call::send(&client, prepared, patience, &connection.redactor, &waiter).await {
            Sent::Over(end) => return end,
            Sent::SessionLost => {}
        }
    }
    Err(CallFailure::NotSent(REFUSED_TWICE.into()))
}

/// Reads a list within `limit`. What was read before something went wrong is kept.
pub(super) async fn list(connection: &Connection, list: OfferList, limit: Duration) -> Listed {
    let never = Waiter::default();
    let mut listed = Listed::default();
    let deadline = tokio::time::Instant::now() + limit;
    let mut way = Way::new(connection, None, limit, &never);
    for _ in 0..2 {
        listed.items.clear();
        let items = &mut listed.items;
        let reading = async {
            let client = way.find().await.map_err(|failure| Broken::Unusable(failure.to_string()))?;
            client.note_call();
            let walk = Walk { method: list.method(), member: list.member(), max_bytes: MAX_BYTES };
            let era = client.era().unwrap_or(Era::Legacy);
            pages::walk(&client, era, walk, |page| take(items, page, list)).await
        };
        listed.cut = match timeout_at(deadline, reading).await {
            Err(_elapsed) => Some(format!("it did not answer {} within {} s", list.method(), limit.as_secs()).into()),
            Ok(Ok(cut)) => cut,
            Ok(Err(Broken::Undelivered(lack))) if lack.fault == Fault::Session => {
                listed.cut = Some(REFUSED_TWICE.into());
                continue;
            }
            Ok(Err(broken)) => Some(broken.words().into()),
        };
        break;
    }
    listed
}

fn take(items: &mut Vec<Box<RawValue>>, page: &[&RawValue], list: OfferList) -> ControlFlow<Arc<str>> {
    let room = MAX_ITEMS - items.len().min(MAX_ITEMS);
    items.extend(page.iter().take(room).map(|item| (*item).to_owned()));
    if page.len() > room {
        return ControlFlow::Break(format!("the server lists more than {MAX_ITEMS} {}", list.member()).into());
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_carry_what_the_era_demands() {
        let read = Query::Resource("a:\"b\"".into());
        assert_eq!((read.method(), read.params(Era::Legacy)), ("resources/read", r#"{"uri":"a:\"b\""}"#.to_owned()));
        let get = |arguments: Option<&str>| Query::Prompt { name: "p".into(), arguments: arguments.map(Arc::from) };
        assert_eq!(get(None).params(Era::Legacy), r#"{"name":"p"}"#);
        let modern: serde_json::Value = serde_json::from_str(&get(Some(r#"{"x":"1"}"#)).params(Era::Modern)).unwrap();
        assert_eq!(modern["arguments"]["x"], "1");
        assert_eq!(modern["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    }
}

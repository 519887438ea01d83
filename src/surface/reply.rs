//! Answers over HTTP: whole ones, and streams of events that are made while they are read.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::{Stream, StreamExt};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};

/// What goes back to a caller.
pub(super) type Reply = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// An answer without a body.
pub(super) fn empty(status: StatusCode) -> Reply {
    plain(status, Bytes::new(), None)
}

/// A JSON answer.
pub(super) fn json(status: StatusCode, body: impl Into<Bytes>) -> Reply {
    plain(status, body.into(), Some("application/json"))
}

/// A JSON answer in parts that are kept as they are: a long list is one copy for all who ask.
pub(super) fn json_in_parts(parts: impl IntoIterator<Item = Bytes>) -> Reply {
    let mut reply = Response::new(Parts(parts.into_iter().collect()).boxed_unsync());
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}

/// A body whose length is known.
struct Parts(VecDeque<Bytes>);

impl Body for Parts {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Poll::Ready(self.0.pop_front().map(|part| Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.iter().map(|part| part.len() as u64).sum())
    }
}

/// A line of text.
pub(super) fn text(status: StatusCode, body: impl Into<Bytes>) -> Reply {
    plain(status, body.into(), Some("text/plain; charset=utf-8"))
}

fn plain(status: StatusCode, body: Bytes, kind: Option<&'static str>) -> Reply {
    let mut reply = Response::new(Full::new(body).boxed_unsync());
    *reply.status_mut() = status;
    if let Some(kind) = kind {
        reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    reply
}

/// A stream of events.
pub(super) fn events(events: impl Stream<Item = Bytes> + Send + 'static) -> Reply {
    let body = StreamBody::new(events.map(|event| Ok(Frame::data(event)))).boxed_unsync();
    let mut reply = Response::new(body);
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    reply
}

/// One message as an event. `message` is JSON text, which has no line breaks of its own.
pub(super) fn event(message: &[u8]) -> Bytes {
    [b"event: message\ndata: ".as_slice(), message, b"\n\n"].concat().into()
}

/// A sign of life that says nothing to the client.
pub(super) fn comment(text: &str) -> Bytes {
    format!(": {text}\n\n").into()
}

//! The transport of 2024-11-05: one event stream for everything the server says, another address to post to.
//!
//! [`super::job`] turns to it when `initialize` is answered 404 or 405. It has no key of its own in the configuration.

use std::time::Duration;

use reqwest::Response;
use tokio::time::timeout;

use super::body::{self, Kind};
use super::endpoint::Endpoint;
use super::fate;
use super::job::Job;
use super::sse::{Event, Parser};
use crate::engine::connection::message::{Incoming, LinkEnd};

/// A stream that does not begin with its address within this time is no such stream.
const FIRST_EVENT: Duration = Duration::from_secs(10);

/// Opens the stream, posts `text` (the `initialize` of `job`), and reads until the stream ends, which ends the link.
/// False when the endpoint offers no such stream; nothing was posted then.
pub(super) async fn run(job: &Job, text: &str) -> bool {
    let Ok(answer) = job.endpoint.listen(None, &Endpoint::no_session()).await else { return false };
    if !answer.status().is_success() || body::kind(&answer) != Kind::Events {
        return false;
    }
    let mut stream = Stream { answer, parser: Parser::default(), waiting: Vec::new().into_iter() };
    let Ok(Ok(first)) = timeout(FIRST_EVENT, stream.next()).await else { return false };
    if first.kind != "endpoint" {
        return false;
    }
    match job.endpoint.same_origin(&first.data) {
        Ok(url) => job.endpoint.begin_classic(url),
        Err(origin) => {
            let reason = format!("its event stream wants messages sent to another origin, {origin}");
            job.tell(Incoming::End(LinkEnd::Broken(reason))).await;
            return true;
        }
    }
    let post = async {
        let session = job.endpoint.session();
        match job.endpoint.post(text.to_owned(), Vec::new(), &session).await {
            Ok(answer) if answer.status().is_success() => {}
            Ok(answer) => job.lacking(fate::broken(format!("HTTP {} to initialize", answer.status().as_u16()))).await,
            Err(error) => job.lacking(fate::of_error(&error, &job.endpoint.display)).await,
        }
    };
    let read = async {
        loop {
            match stream.next().await {
                Ok(event) if event.kind.is_empty() || event.kind == "message" => {
                    job.take(&event.data, None).await;
                }
                Ok(_) => {}
                Err(reason) => return reason,
            }
        }
    };
    let ((), reason) = tokio::join!(post, read);
    job.tell(Incoming::End(LinkEnd::Broken(reason))).await;
    true
}

struct Stream {
    answer: Response,
    parser: Parser,
    waiting: std::vec::IntoIter<Event>,
}

impl Stream {
    /// The next event that says something, or why there is none.
    async fn next(&mut self) -> Result<Event, String> {
        loop {
            if let Some(event) = self.waiting.find(|event| !event.data.is_empty()) {
                return Ok(event);
            }
            match self.answer.chunk().await {
                Ok(Some(piece)) => match self.parser.push(&piece) {
                    Ok(events) => self.waiting = events.into_iter(),
                    Err(_) => return Err("message over limit in its event stream".to_owned()),
                },
                Ok(None) => return Err("its event stream ended".to_owned()),
                Err(error) => {
                    return Err(format!("its event stream broke off: {}", super::endpoint::root_cause(&error)));
                }
            }
        }
    }
}

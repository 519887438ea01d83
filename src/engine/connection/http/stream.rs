//! The server's own stream in a legacy session: where `list_changed` comes from.
//!
//! [`super::Carrier`] runs one for each session. Optional for servers: 405 means never again; a refusal, a body that is no
//! event stream and a stream that dies young count as failures and back off. None of them touches the status.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::body::{self, Kind};
use super::endpoint::{Endpoint, HttpSession, root_cause};
use super::sse::Parser;
use crate::engine::connection::message::{self, Incoming};

/// A stream that lived for this long was a good one.
const GROWN_UP: Duration = Duration::from_secs(20);
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// How an attempt ended.
enum End {
    /// The server offers no stream.
    NotOffered,
    /// It ended in order, or what came is no stream.
    Over(String),
    /// It broke off, or could not be opened at all: the server may be gone.
    Broken(String),
}

/// Reads the stream of `session`, again and again, until the server says that it offers none.
pub(super) async fn run(endpoint: Arc<Endpoint>, messages: mpsc::Sender<Incoming>, session: HttpSession) {
    let mut pause = FIRST_PAUSE;
    let mut last_event = None;
    loop {
        let began = Instant::now();
        let reason = match once(&endpoint, &messages, &session, &mut last_event).await {
            End::NotOffered => return,
            End::Over(reason) => reason,
            End::Broken(reason) => {
                if messages.send(Incoming::Suspect).await.is_err() {
                    return;
                }
                reason
            }
        };
        let error = endpoint.sink.clean(&reason);
        tracing::debug!(server = %endpoint.name, %error, "server_stream_ended");
        pause = next_pause(pause, began.elapsed());
        sleep(pause).await;
    }
}

/// The pause after a stream that lived for `lived`, when the one before it was `pause`.
fn next_pause(pause: Duration, lived: Duration) -> Duration {
    if lived >= GROWN_UP { FIRST_PAUSE } else { LONGEST_PAUSE.min(pause * 2) }
}

async fn once(
    endpoint: &Endpoint,
    messages: &mpsc::Sender<Incoming>,
    session: &HttpSession,
    last_event: &mut Option<String>,
) -> End {
    let mut answer = match endpoint.listen(last_event.as_deref(), session).await {
        Ok(answer) => answer,
        Err(error) => return End::Broken(root_cause(&error)),
    };
    match answer.status().as_u16() {
        200 if body::kind(&answer) == Kind::Events => {}
        200 => return End::Over(format!("{} is no event stream", body::media_type(&answer))),
        405 => return End::NotOffered,
        status => {
            // What cannot be gone on with is begun anew.
            *last_event = None;
            return End::Over(format!("HTTP {status}"));
        }
    }
    let mut parser = Parser::default();
    loop {
        let events = match answer.chunk().await {
            Ok(Some(piece)) => parser.push(&piece),
            Ok(None) => return End::Over("it ended".to_owned()),
            Err(error) => return End::Broken(root_cause(&error)),
        };
        let Ok(events) = events else { return End::Over("message over limit".to_owned()) };
        for event in events {
            *last_event = event.id.or(last_event.take()).filter(|id| !id.is_empty());
            for message in message::read(&event.data).unwrap_or_default() {
                if messages.send(message).await.is_err() {
                    return End::NotOffered;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_that_die_young_are_opened_a_few_times_and_good_ones_at_once() {
        for lived in [Duration::ZERO, Duration::from_secs(1)] {
            let (mut clock, mut pause, mut opened) = (Duration::ZERO, FIRST_PAUSE, 0);
            while clock <= Duration::from_secs(30) {
                opened += 1;
                pause = next_pause(pause, lived);
                clock += lived + pause;
            }
            assert!((2..=10).contains(&opened), "{opened} in 30 s");
        }
        assert_eq!(next_pause(LONGEST_PAUSE, Duration::from_secs(30)), FIRST_PAUSE);
        assert_eq!(next_pause(LONGEST_PAUSE, Duration::ZERO), LONGEST_PAUSE);
    }
}

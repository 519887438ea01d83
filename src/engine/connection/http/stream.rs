//! The server's own stream in a legacy session: where `list_changed` comes from.
//!
//! Optional for servers. A stream that dies young counts as a failure and backs off; 405 means never again.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::endpoint::{Endpoint, PostError, describe};
use crate::engine::connection::message::{self, Incoming};

/// A stream that lived for this long was a good one.
const GROWN_UP: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Reads the stream, again and again, until the server says that it offers none.
pub(super) async fn run(endpoint: Arc<Endpoint>, messages: mpsc::Sender<Incoming>) {
    let mut pause = FIRST_PAUSE;
    let mut last_event = None;
    loop {
        let began = Instant::now();
        match endpoint.listen(last_event.clone()).await {
            None | Some(Err(PostError::ServerDoesNotSupportSse)) => return,
            Some(Err(error)) => {
                let error = endpoint.sink.clean(&describe(&error));
                tracing::debug!(server = %endpoint.name, %error, "server_stream_failed");
            }
            Some(Ok(mut events)) => {
                while let Some(event) = events.next().await {
                    last_event = event.id.or(last_event);
                    for message in message::read(&event.data).unwrap_or_default() {
                        if messages.send(message).await.is_err() {
                            return;
                        }
                    }
                }
            }
        }
        pause = if began.elapsed() >= GROWN_UP { FIRST_PAUSE } else { LONGEST_PAUSE.min(pause * 2) };
        sleep(pause).await;
    }
}

//! Noticing that an endpoint is gone: a small question when it has been quiet, or when something broke off.
//!
//! The supervisor runs [`run`] beside a ready session. Pipes need none of it: a child's end is told by the system. A
//! question that is answered with anything at all, an error included, says that somebody is there.

use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::client::{Answer, Client, Role};
use super::link::Carriage;
use super::message::Fault;
use super::protocol;
use crate::engine::status::Era;

/// An endpoint is asked after this much silence, while it is used and otherwise; up to a quarter more.
const USED: Duration = Duration::from_secs(30);
const UNUSED: Duration = Duration::from_secs(60);
/// An endpoint counts as used for this long after a call.
const IN_USE: Duration = Duration::from_secs(300);
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between a question without an answer and the second, last one.
const SECOND_TRY: Duration = Duration::from_secs(2);
/// Shortest time between two questions that answers were given to.
const REST: Duration = Duration::from_secs(5);

/// Asks from time to time; comes back with the reason once nobody answers.
pub(super) async fn run(client: &Client) -> String {
    if client.carriage() != Carriage::Http {
        return std::future::pending().await;
    }
    loop {
        let used = client.last_call().is_some_and(|call| call.elapsed() < IN_USE);
        let base = if used { USED } else { UNUSED };
        let jitter = base.mul_f64(0.25 * f64::from(getrandom::u32().unwrap_or(0)) / f64::from(u32::MAX));
        tokio::select! {
            () = sleep_until(client.last_heard() + base + jitter) => {
                if client.last_heard().elapsed() < base {
                    continue;
                }
            }
            () = client.suspected() => {}
        }
        if ask(client).await.is_some() {
            sleep(SECOND_TRY).await;
            if let Some(reason) = ask(client).await {
                return reason;
            }
        }
        sleep(REST).await;
    }
}

/// One question. `None`: somebody is there.
async fn ask(client: &Client) -> Option<String> {
    let began = Instant::now();
    let modern = client.era() == Some(Era::Modern);
    let (method, params) = if modern { ("server/discover", protocol::discover()) } else { ("ping", "{}".to_owned()) };
    match timeout(PATIENCE, client.request(Role::Ordinary, method, |_| params)).await {
        Ok(Answer::Undelivered(lack)) => match lack.fault {
            // A proxy that finds nobody behind it; any other status comes from the server.
            Fault::Status(502..=504) | Fault::Unreachable | Fault::Broken => Some(lack.reason),
            Fault::Status(_) | Fault::Session => None,
        },
        // A server that works on a call may have no time for questions.
        Err(_elapsed) if client.last_heard() < began && client.in_flight() == 0 => {
            Some(format!("it did not answer {method} within {} s", PATIENCE.as_secs()))
        }
        Ok(_) | Err(_) => None,
    }
}

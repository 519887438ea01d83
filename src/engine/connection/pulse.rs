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

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::super::link::{Frame, Source};
    use super::super::message::{Incoming, Lack, LinkEnd, Reached};
    use super::*;

    /// A client on a link whose other side is the test.
    fn client() -> (Client, mpsc::Receiver<Frame>, mpsc::Sender<Incoming>) {
        let (outgoing, frames) = mpsc::channel(8);
        let (messages, incoming) = mpsc::channel(8);
        let client = Client::new(
            outgoing,
            std::sync::Weak::new(),
            Carriage::Http,
            crate::engine::connection::asks::Asks::deaf(),
        );
        client.settle_era(Era::Legacy);
        tokio::spawn(client.clone().run(Source::Tasks(incoming)));
        (client, frames, messages)
    }

    /// Answers `answered` questions and none after them; says how many there were.
    async fn answer(mut frames: mpsc::Receiver<Frame>, messages: mpsc::Sender<Incoming>, answered: usize) -> usize {
        let mut asked = 0;
        while let Some(frame) = frames.recv().await {
            if !frame.text().contains("ping") || !frame.depart() {
                continue;
            }
            asked += 1;
            let id = serde_json::from_str::<serde_json::Value>(frame.text()).unwrap()["id"].as_u64().unwrap();
            let (reached, fault) =
                (Reached::No, if asked <= answered { Fault::Status(404) } else { Fault::Unreachable });
            let lack = Lack { reached, fault, reason: "cannot connect".to_owned() };
            if messages.send(Incoming::Undelivered { id, lack }).await.is_err() {
                break;
            }
        }
        asked
    }

    #[tokio::test(start_paused = true)]
    async fn a_quiet_endpoint_is_asked_now_and_then_and_two_misses_end_it() {
        let (client, frames, messages) = client();
        let other_side = tokio::spawn(answer(frames, messages.clone(), 3));
        let began = Instant::now();
        assert_eq!(run(&client).await, "cannot connect");
        let took = began.elapsed();
        assert!(took >= UNUSED * 4 && took < UNUSED * 6, "calm: {took:?}");
        messages.send(Incoming::End(LinkEnd::Closed)).await.unwrap();
        drop(client);
        assert_eq!(other_side.await.unwrap(), 5, "three answers, two misses");
    }

    #[tokio::test(start_paused = true)]
    async fn an_endpoint_in_use_is_noticed_within_a_minute_and_a_suspect_one_at_once() {
        let (client, frames, messages) = client();
        tokio::spawn(answer(frames, messages.clone(), 0));
        client.note_call();
        let began = Instant::now();
        run(&client).await;
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
        let began = Instant::now();
        messages.send(Incoming::Suspect).await.unwrap();
        run(&client).await;
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_works_on_a_call_may_be_silent() {
        let (client, mut frames, _messages) = client();
        let (_call, frame) = client.prepare(Role::Ordinary, "tools/call", |_| "{}".to_owned());
        client.queue(frame).await.unwrap();
        tokio::spawn(async move { while frames.recv().await.is_some_and(|frame| frame.depart()) {} });
        let silent = timeout(Duration::from_secs(600), run(&client)).await;
        assert!(silent.is_err(), "{silent:?}");
    }
}

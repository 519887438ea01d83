//! Seats that a saved configuration brings or takes away, while agents are there.

use std::sync::Arc;
use std::time::Duration;

use crewlet_tui::config::model::{Config, Source};
use crewlet_tui::engine::command::Command;
use crewlet_tui::engine::handle::Reload;
use crewlet_tui::engine::snapshot::{CallPhase, LogLevel};
use crewlet_tui::surface::tokens;
use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::bench::{Agent, Bench, CONFIG, bench, bench_with};
use crate::relay::{Stdio, count};

const NEW: &str = "  - { name: Newcomer, kind: agent }\n";

fn with_newcomer() -> String {
    CONFIG.replace("mcp_servers:", &format!("{NEW}mcp_servers:"))
}

/// Saves a configuration, and waits until the surfaces go by it: the seat is let in, or not.
async fn save(bench: &mut Bench, text: &str, seat: &str, status: StatusCode) {
    let before = token(bench, seat);
    bench.config = load(text);
    let config = Arc::new(bench.config.clone());
    bench.handle.reload(Reload::Valid { config, notices: Vec::new() }).await.unwrap();
    let come = async {
        loop {
            let token = before.clone().or_else(|| token(bench, seat)).unwrap_or_default();
            let asked = bench.http.delete(bench.url(&format!("/seats/{seat}/mcp"))).bearer_auth(token).send().await;
            // Without a session there is nothing to delete; what is not let in does not get as far.
            let now = asked.unwrap().status();
            if now == status {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(10), come).await.expect("the surfaces follow");
}

fn load(text: &str) -> Config {
    crewlet_tui::config::load(text, &Source::File("config.yaml".into())).expect("a valid config").config
}

fn token(bench: &Bench, seat: &str) -> Option<String> {
    let seat = bench.config.org.seat(&seat.into())?;
    let environment = crewlet_tui::config::expand::ProcessEnvironment;
    Some(tokens::show(&bench.state, seat, &environment).ok()?.expose().to_owned())
}

#[tokio::test]
async fn a_role_that_is_added_has_its_path_its_token_and_its_tools_at_once() {
    let mut bench = bench().await;
    let stays = bench.legacy("release").await;
    save(&mut bench, &with_newcomer(), "newcomer", StatusCode::BAD_REQUEST).await;
    let [legacy, modern] = bench.both("newcomer").await;
    for agent in [&legacy, &modern] {
        assert_eq!(count(&agent.list().await), 4);
        assert_eq!(agent.call("get", "{}").await.outcome(), "ok: ok");
    }
    assert_eq!(bench.get(&bench.token("newcomer"), "/tools").await.0, StatusCode::OK);
    let other = Agent { token: bench.token("release"), ..legacy };
    assert_eq!(other.list_status().await, StatusCode::UNAUTHORIZED);
    assert_eq!(count(&stays.list().await), 4, "nobody else notices");
    let told = bench.until(|snapshot| !snapshot.notices.is_empty()).await;
    let texts: Vec<_> = told.notices.iter().map(|notice| notice.text.as_ref()).collect();
    assert_eq!(texts, ["config.yaml: new seats: newcomer"]);
    bench.stop().await;
}

#[tokio::test]
async fn a_role_that_is_removed_has_no_path_and_its_sessions_end() {
    let mut bench = bench_with(&with_newcomer()).await;
    let agent = bench.legacy("newcomer").await;
    let mut stream = agent.open(Method::GET).await;
    let call = agent.start_call("delete", "{}");
    bench.question().await;
    let token = bench.token("newcomer");
    save(&mut bench, CONFIG, "newcomer", StatusCode::UNAUTHORIZED).await;
    let ended = async { while stream.chunk().await.is_ok_and(|chunk| chunk.is_some()) {} };
    tokio::time::timeout(Duration::from_secs(10), ended).await.expect("its stream ends");
    let withdrawn = |phase: &CallPhase| matches!(phase, CallPhase::Withdrawn(_));
    bench.until(|s| s.sessions.is_empty() && s.calls.iter().any(|call| withdrawn(&call.phase))).await;
    // Whoever was held hears of the end one way or the other.
    let _ = call.await;
    for path in ["/tools", "/metrics", "/seats/newcomer/mcp", "/seats/nobody/mcp"] {
        assert_eq!(bench.get(&token, path).await.0, StatusCode::UNAUTHORIZED, "{path}");
    }
    assert_eq!(agent.list_status().await, StatusCode::UNAUTHORIZED);
    assert_eq!(bench.server.ledger(), []);
    save(&mut bench, &with_newcomer(), "newcomer", StatusCode::BAD_REQUEST).await;
    assert_eq!(bench.legacy("newcomer").await.call("get", "{}").await.outcome(), "ok: ok", "nothing of it is left");
    bench.stop().await;
}

#[tokio::test]
async fn a_seat_that_a_person_stopped_stays_so_when_its_role_comes_back() {
    let mut bench = bench_with(&with_newcomer()).await;
    bench.handle.send(Command::StopSeat("newcomer".into())).unwrap();
    bench.until(|snapshot| !snapshot.stopped_seats.is_empty()).await;
    save(&mut bench, CONFIG, "newcomer", StatusCode::UNAUTHORIZED).await;
    save(&mut bench, &with_newcomer(), "newcomer", StatusCode::BAD_REQUEST).await;
    let refused = bench.legacy("newcomer").await.call("get", "{}").await.outcome();
    assert!(refused.contains("was stopped by person:ada"), "{refused}");
    bench.stop().await;
}

#[tokio::test]
async fn another_token_in_the_configuration_counts_at_once_and_ends_sessions() {
    let fixed =
        |variable: &str| CONFIG.replace("handle: review,", &format!("handle: review, token: '${{{variable}}}',"));
    let mut bench = bench_with(CONFIG).await;
    let agent = bench.legacy("review").await;
    let before = agent.token.clone();
    bench.config = load(&fixed("REVIEW"));
    let config = Arc::new(bench.config.clone());
    bench.handle.reload(Reload::Valid { config, notices: Vec::new() }).await.unwrap();
    bench.until(|snapshot| snapshot.sessions.is_empty()).await;
    assert_eq!(agent.list_status().await, StatusCode::UNAUTHORIZED);
    let now = Agent { token: crate::bench::operator_token("review"), session: None, ..agent.clone() };
    assert_eq!(count(&now.list().await), 4);
    // A token that no client can send lets nobody in, and says so.
    bench.config = load(&fixed("X"));
    save(&mut bench, &fixed("X").replace("${X}", "${X} ${X}"), "nobody", StatusCode::UNAUTHORIZED).await;
    let told = bench.until(|s| s.notices.iter().any(|notice| notice.level == LogLevel::Error)).await;
    assert!(
        told.notices.iter().any(|notice| notice.text.contains("seat \"review\" has no token")),
        "{:?}",
        told.notices
    );
    assert_eq!(now.list_status().await, StatusCode::UNAUTHORIZED);
    save(&mut bench, CONFIG, "review", StatusCode::BAD_REQUEST).await;
    assert_eq!(bench.token("review"), before, "the token that was made is kept");
    bench.stop().await;
}

#[tokio::test]
async fn an_agent_on_stdio_comes_alive_when_its_role_does() {
    let mut bench = bench().await;
    bench.announce();
    let seat = load(&with_newcomer()).org.seat(&"newcomer".into()).unwrap().clone();
    let mut agent = Stdio::of(&seat, bench.state.path());
    let opened = agent.initialize().await;
    let said = opened["result"]["instructions"].as_str().unwrap();
    assert!(said.contains("has no token yet"), "{said}");
    assert_eq!(count(&agent.ask("tools/list", json!({})).await), 0);
    save(&mut bench, &with_newcomer(), "newcomer", StatusCode::BAD_REQUEST).await;
    agent.all_changed().await;
    assert_eq!(count(&agent.ask("tools/list", json!({})).await), 4);
    agent.close().await;
    bench.stop().await;
}

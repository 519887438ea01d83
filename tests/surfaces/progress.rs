//! What agents hear while a call runs: the server's own words under the agent's token, and signs of life in between.

use std::time::Duration;

use crewlet_tui::engine::command::Verdict;
use serde_json::{Value, json};

use crate::bench::{Agent, Answer, Bench, bench, read_until};
use crate::scripted::Reaction;

/// The parameters of every notice before the answer.
fn notices(answer: &Answer) -> Vec<Value> {
    let (_, before) = answer.messages().split_last().map(|(last, before)| (last.clone(), before.to_vec())).unwrap();
    let params = |message: &Value| {
        assert_eq!(message["method"], json!("notifications/progress"), "{message}");
        message["params"].clone()
    };
    before.iter().map(params).collect()
}

fn assert_growing(notices: &[Value]) {
    let figures: Vec<f64> = notices.iter().map(|notice| notice["progress"].as_f64().unwrap()).collect();
    assert!(figures.windows(2).all(|pair| pair[0] < pair[1]), "{figures:?}");
}

/// The token that the server was given with the call that holds `argument`.
async fn token_of(bench: &Bench, argument: &str) -> Value {
    let found = async {
        loop {
            let call = bench.server.received().into_iter().find(|message| {
                message["method"] == json!("tools/call")
                    && message["params"]["arguments"].to_string().contains(argument)
            });
            if let Some(call) = call {
                return call["params"]["_meta"]["progressToken"].clone();
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), found).await.expect("in time")
}

fn notice(token: &Value, progress: u64, message: &str) -> Value {
    let params = json!({"progressToken": token, "progress": progress, "total": 9, "message": message});
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
}

#[tokio::test]
async fn a_servers_progress_reaches_the_agent_under_its_own_token() {
    let bench = bench().await;
    for (agent, token) in bench.both("release").await.into_iter().zip([json!("mine"), json!(7)]) {
        let agent = Agent { progress: Some(token.clone()), ..agent };
        let secret = format!("sk-{}", "a1B2c3D4e5F6g7H8i9J0");
        bench.server.react([Reaction::Progress(vec![
            json!({"progress": 1, "total": 3, "message": "one"}),
            json!({"progress": 2.5, "total": 3, "message": format!("two\n\u{1b}[31mred\u{7}\u{202e} {secret}")}),
        ])]);
        let answer = agent.call("get", "{}").await;
        assert_eq!(answer.outcome(), "ok: ok");
        let notices = notices(&answer);
        assert_growing(&notices);
        assert!(notices.iter().all(|notice| notice["progressToken"] == token), "{notices:?}");
        let last = notices.last().expect("the last one is never left out");
        assert_eq!((&last["progress"], &last["total"]), (&json!(2.5), &json!(3)));
        let message = last["message"].as_str().unwrap();
        assert!(message.starts_with("two red") && message.contains("[REDACTED"), "{message}");
        assert!(!message.contains(&secret) && !message.chars().any(|c| c.is_control() || c == '\u{202e}'), "{message}");
    }
    let upstream = bench.server.received();
    let tokens = upstream.iter().filter_map(|message| message["params"]["_meta"].get("progressToken"));
    assert!(tokens.clone().count() >= 2);
    assert!(tokens.into_iter().all(|token| *token != json!("mine")), "the agent's token stays here");
    bench.stop().await;
}

#[tokio::test]
async fn figures_grow_over_waiting_and_running() {
    let bench = bench().await;
    for agent in bench.both("release").await {
        let agent = Agent { progress: Some(json!("p")), ..agent };
        // As servers do that count from nothing, twice.
        let said = [0, 1, 0, 2].map(|progress| json!({"progress": progress, "total": 2}));
        bench.server.react([Reaction::Silence]);
        let call = agent.start_call("delete", r#"{"n":1}"#);
        let question = bench.question().await;
        let before = bench.server.ledger().len();
        bench.decide(&question, Verdict::Approve).await;
        while bench.server.ledger().len() == before {
            tokio::task::yield_now().await;
        }
        let request = bench.server.received().pop().unwrap();
        for mut params in said {
            params["progressToken"] = request["params"]["_meta"]["progressToken"].clone();
            bench.server.say([json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})]).await;
        }
        let result = json!({"content": [{"type": "text", "text": "done"}]});
        bench.server.say([json!({"jsonrpc": "2.0", "id": request["id"], "result": result})]).await;
        let answer = call.await.unwrap();
        assert_eq!(answer.outcome(), "ok: done");
        let notices = notices(&answer);
        assert_growing(&notices);
        assert_eq!(notices[0]["message"], json!("waiting for a person"));
        let last = notices.last().unwrap();
        assert_eq!((&last["progress"], &last["total"]), (&json!(2), &json!(2)), "{notices:?}");
    }
    bench.stop().await;
}

#[tokio::test]
async fn two_clients_with_one_token_and_one_id_hear_only_their_own() {
    let bench = bench().await;
    for (round, pair) in
        [bench.both("release").await, [bench.modern("release"), bench.modern("review")]].into_iter().enumerate()
    {
        let [a, b] = pair.map(|agent| Agent { progress: Some(json!(1)), ..agent });
        bench.server.react([Reaction::Silence, Reaction::Silence]);
        let who = |name: &str| format!(r#"{{"who":"{name}-{round}"}}"#);
        let ask = |agent: Agent, name: &str| {
            let params = agent.calling("get", &who(name));
            tokio::spawn(async move { agent.post("tools/call", &params, Some(json!(7))).send().await.unwrap() })
        };
        let (first, second) = (ask(a, "a"), ask(b, "b"));
        let (one, two) = (token_of(&bench, &format!("a-{round}")).await, token_of(&bench, &format!("b-{round}")).await);
        bench.server.say([notice(&two, 5, "for b")]).await;
        bench.server.say([notice(&one, 3, "for a")]).await;
        // Of a call that nobody made, and of none.
        bench.server.say([notice(&json!(999_999), 8, "for nobody")]).await;
        bench.server.say([notice(&json!(null), 8, "for nobody")]).await;
        let (mut first, mut second) = (first.await.unwrap(), second.await.unwrap());
        let heard = [read_until(&mut first, "for a").await, read_until(&mut second, "for b").await];
        assert!(!heard[0].contains("for b") && !heard[1].contains("for a"), "{heard:?}");
        assert!(
            heard.iter().all(|text| text.contains(r#""progressToken":1,"#) && !text.contains("nobody")),
            "{heard:?}"
        );
    }
    bench.stop().await;
}

#[tokio::test]
async fn a_flood_is_thinned_out_and_its_last_word_kept() {
    let bench = bench().await;
    let agent = Agent { progress: Some(json!("p")), ..bench.modern("release") };
    let flood = (1..=20_000).map(|n| json!({"progress": n, "total": 20_000, "message": "x".repeat(100)})).collect();
    bench.server.react([Reaction::Progress(flood)]);
    let began = std::time::Instant::now();
    let answer = agent.call("get", "{}").await;
    let most = 3 + began.elapsed().as_millis() / 100;
    let notices = notices(&answer);
    assert!(u128::try_from(notices.len()).unwrap() <= most, "{} notices, at most {most}", notices.len());
    assert_eq!(notices.last().unwrap()["progress"], json!(20_000));
    bench.stop().await;
}

#[tokio::test]
async fn who_takes_json_only_or_gave_no_token_hears_no_progress() {
    let bench = bench().await;
    for agent in bench.both("release").await {
        let said = || Reaction::Progress(vec![json!({"progress": 1, "message": "one"})]);
        bench.server.react([said(), said()]);
        let json_only = Agent { accept: "application/json", progress: Some(json!("p")), ..agent.clone() };
        let answer = json_only.call("get", "{}").await;
        assert!(!answer.is_stream());
        assert_eq!(answer.outcome(), "ok: ok");
        let answer = agent.call("get", "{}").await;
        assert_eq!((answer.outcome().as_str(), answer.messages().len()), ("ok: ok", 1));
    }
    bench.stop().await;
}

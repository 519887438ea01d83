//! Resources and prompts of servers, passed through to agents in both eras.

use std::time::Duration;

use crewlet_tui::engine::audit::{Kind, Outcome};
use crewlet_tui::engine::command::Command;
use crewlet_tui::ids::{ConnectionName, SeatHandle};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::bench::{Agent, Bench, bench, bench_of, read_until, tools};
use crate::scripted::{Reaction, Scripted};

const CONFIG: &str = "
name: Acme
roles:
  - { name: Release Manager, handle: release, kind: agent }
  - { name: Reviewer, handle: review, kind: agent, mcp_env: { vault: { KEY: value } } }
mcp_servers:
  - { name: notes, command: in-memory, tool_prefix: n_ }
  - { name: wiki, command: in-memory, request_timeout_seconds: 1 }
  - { name: vault, command: in-memory, shared: false }
";

fn notes() -> Scripted {
    let server = Scripted::offering(tools());
    let listed = json!({"resources": [
        {"uri": "note://a b/ü?x=1", "name": "odd"},
        {"uri": "note://plain", "name": "pl\u{1b}ain", "mimeType": "text/plain", "icons": [{"src": "https://spy.test"}]},
        7, {"name": "no uri"}, {"uri": "note://plain", "name": "again"},
    ]});
    server.answer_to("resources/list", Reaction::Result(listed));
    let templates = json!({"resourceTemplates": [{"uriTemplate": "note://{id}", "name": "by id"}]});
    server.answer_to("resources/templates/list", Reaction::Result(templates));
    let read =
        |params: &Value| json!({"contents": [{"uri": params["uri"], "text": format!("read {}", params["uri"])}]});
    server.answer_to("resources/read", Reaction::With(read));
    let prompts = json!({"prompts": [{"name": "greet me", "arguments": [{"name": "who", "required": true}]}]});
    server.answer_to("prompts/list", Reaction::Result(prompts));
    let prompt = |params: &Value| {
        json!({"messages": [
            {"role": "user", "content": {"type": "text", "text": format!("hello {}", params["arguments"]["who"])}},
            {"role": "user", "content": {"type": "resource_link", "uri": "note://plain", "name": "plain"}},
        ]})
    };
    server.answer_to("prompts/get", Reaction::With(prompt));
    server
}

/// A bench whose second server has one resource, and one prompt with the name of the first server's.
async fn two() -> (Bench, Scripted) {
    let (notes, wiki) = (notes(), Scripted::offering([]));
    wiki.answer_to("resources/list", Reaction::Result(json!({"resources": [{"uri": "wiki:1", "name": "one"}]})));
    wiki.answer_to("resources/templates/list", Reaction::Result(json!({"resourceTemplates": []})));
    wiki.answer_to("prompts/list", Reaction::Result(json!({"prompts": [{"name": "n_greet me"}]})));
    let bench = bench_of(CONFIG, &[("notes", &notes), ("wiki", &wiki), ("vault", &Scripted::offering([]))]).await;
    (bench, wiki)
}

async fn result(agent: &Agent, method: &str, params: Value) -> Value {
    let message = agent.request(method, params).await.message();
    assert!(message.get("result").is_some(), "{message}");
    message["result"].clone()
}

async fn error(agent: &Agent, method: &str, params: Value) -> (i64, String) {
    let message = agent.request(method, params).await.message();
    let text = message["error"]["message"].as_str().unwrap_or_else(|| panic!("{message}")).to_owned();
    (message["error"]["code"].as_i64().unwrap(), text)
}

fn column(items: &Value, key: &str) -> Vec<String> {
    items.as_array().unwrap().iter().map(|item| item[key].as_str().unwrap().to_owned()).collect()
}

/// How many requests of a method a server received.
fn asked(server: &Scripted, method: &str) -> usize {
    server.methods().iter().filter(|received| *received == method).count()
}

#[tokio::test]
async fn both_eras_see_the_resources_of_all_servers_and_read_them_back() {
    let (bench, _wiki) = two().await;
    for agent in bench.both("release").await {
        let listed = result(&agent, "resources/list", json!({})).await;
        let uris = column(&listed["resources"], "uri");
        let odd = "crewlet://notes/note%3A%2F%2Fa%20b%2F%C3%BC%3Fx%3D1";
        assert_eq!(uris, [odd, "crewlet://notes/note%3A%2F%2Fplain", "crewlet://wiki/wiki%3A1"]);
        assert_eq!(listed["resources"][1], json!({"uri": uris[1], "name": "plain", "mimeType": "text/plain"}));
        let modern = agent.session.is_none();
        assert_eq!(listed.get("ttlMs").is_some() && listed["resultType"] == json!("complete"), modern, "{listed}");
        let read = result(&agent, "resources/read", json!({"uri": odd})).await;
        assert_eq!(read["contents"], json!([{"uri": odd, "text": "read \"note://a b/ü?x=1\""}]));
        let templates = result(&agent, "resources/templates/list", json!({})).await;
        assert_eq!(column(&templates["resourceTemplates"], "uriTemplate"), ["crewlet://notes/~note://{id}"]);
        let read = result(&agent, "resources/read", json!({"uri": "crewlet://notes/~note://x%2Fy"})).await;
        assert_eq!(read["contents"][0]["text"], json!("read \"note://x%2Fy\""));
    }
    bench.stop().await;
}

#[tokio::test]
async fn prompts_have_names_of_their_own_that_do_not_move() {
    let (bench, wiki) = two().await;
    let [legacy, modern] = bench.both("release").await;
    let listed = result(&legacy, "prompts/list", json!({})).await;
    let names = column(&listed["prompts"], "name");
    assert_eq!(names[0], "n_greet_me");
    assert!(names[1].len() <= 64 && names[1].starts_with("wiki_n_greet_me"), "{names:?}");
    assert_eq!(listed["prompts"][0]["arguments"], json!([{"name": "who", "required": true}]));
    for agent in [&legacy, &modern] {
        let params = json!({"name": "n_greet_me", "arguments": {"who": "Ada"}});
        let got = result(agent, "prompts/get", params).await;
        assert_eq!(got["messages"][0]["content"]["text"], json!("hello \"Ada\""));
        assert_eq!(got["messages"][1]["content"]["uri"], json!("crewlet://notes/note%3A%2F%2Fplain"));
    }
    // A server that stops answering keeps its prompts' names.
    wiki.answer_to("prompts/list", Reaction::Error(-32603, "gone"));
    let again = result(&modern, "prompts/list", json!({})).await;
    assert_eq!(column(&again["prompts"], "name"), ["n_greet_me"]);
    assert_eq!(again["_meta"]["crewlet/missing"][0]["server"], json!("wiki"));
    wiki.answer_to("prompts/get", Reaction::Result(json!({"messages": []})));
    assert_eq!(result(&modern, "prompts/get", json!({"name": names[1]})).await["messages"], json!([]));
    let sent = wiki.received().into_iter().find(|message| message["method"] == "prompts/get").unwrap();
    assert_eq!(sent["params"]["name"], json!("n_greet me"));
    bench.stop().await;
}

#[tokio::test]
async fn a_prompt_that_nobody_listed_yet_is_found() {
    let (bench, _wiki) = two().await;
    let agent = bench.modern("release");
    let got = result(&agent, "prompts/get", json!({"name": "n_greet_me", "arguments": {"who": "x"}})).await;
    assert_eq!(got["messages"][0]["content"]["text"], json!("hello \"x\""));
    bench.stop().await;
}

#[tokio::test]
async fn absent_and_forbidden_look_alike_and_nothing_is_asked() {
    let (bench, wiki) = two().await;
    for agent in bench.both("release").await {
        let code = if agent.session.is_some() { -32002 } else { -32602 };
        let mut told = Vec::new();
        // `vault` is the other seat's; the others do not exist or are no addresses.
        for uri in
            ["crewlet://vault/a", "crewlet://nobody/a", "note://plain", "crewlet://notes/a%zz", "crewlet://notes"]
        {
            told.push(error(&agent, "resources/read", json!({"uri": uri})).await);
        }
        assert!(told.iter().all(|error| error.0 == code && *error == told[0]), "{told:?}");
        for name in ["nobody", "odd name", ""] {
            assert_eq!(error(&agent, "prompts/get", json!({"name": name})).await.0, -32602);
        }
        for (method, params) in [
            ("resources/read", json!({})),
            ("prompts/get", json!({"name": "n_greet_me", "arguments": {"who": 7}})),
            ("prompts/get", json!({"name": "n_greet_me", "arguments": []})),
            ("resources/list", json!({"cursor": "x"})),
        ] {
            assert_eq!(error(&agent, method, params).await.0, -32602, "{method}");
        }
        for method in ["resources/subscribe", "resources/unsubscribe", "completion/complete"] {
            assert_eq!(error(&agent, method, json!({"uri": "crewlet://notes/a"})).await.0, -32601, "{method}");
        }
    }
    for method in ["resources/read", "prompts/get"] {
        assert_eq!((asked(&bench.server, method), asked(&wiki, method)), (0, 0), "{method}");
    }
    let refused: Vec<_> = bench.trail.records().into_iter().filter(|record| record.kind == Kind::Refused).collect();
    assert!(refused.iter().any(|record| record.name.as_deref() == Some("resources/read crewlet://vault/a")));
    bench.stop().await;
}

#[tokio::test]
async fn a_read_leaves_the_trail_of_a_call_and_secrets_stay_out_of_it() {
    let (bench, _wiki) = two().await;
    let agent = bench.modern("release");
    result(&agent, "resources/read", json!({"uri": "crewlet://notes/note%3A%2F%2Fplain"})).await;
    let key = format!("sk-proj-{}", "a".repeat(24));
    let params = json!({"name": "n_greet_me", "arguments": {"who": key}});
    let got = result(&agent, "prompts/get", params).await;
    assert_eq!(got["messages"][0]["content"]["text"], json!("hello \"[REDACTED:api-key]\""));
    let records = bench.trail.records();
    let kinds: Vec<Kind> = records.iter().map(|record| record.kind).collect();
    let one = [Kind::Received, Kind::Dispatched, Kind::Finished];
    assert_eq!(kinds, [one, one].concat());
    assert!(records.iter().all(|record| record.server.as_ref().is_some_and(|server| server.as_str() == "notes")));
    let notes = Some(ConnectionName::new("notes"));
    assert!(records.iter().all(|record| record.connection == notes), "whose credentials read");
    assert_eq!(records[0].name.as_deref(), Some("resources/read"));
    assert_eq!(records[0].args.as_deref(), Some(r#"{"uri":"note://plain"}"#));
    assert_eq!(records[3].args.as_deref(), Some(r#"{"arguments":{"who":"[REDACTED:api-key]"},"name":"greet me"}"#));
    assert_eq!((records[2].outcome, records[2].reason.clone()), (Some(Outcome::Done), None));
    assert!(records[0].call.is_some() && records[0].call == records[2].call && records[0].call != records[3].call);
    // The trail is no condition of a read.
    bench.trail.set_broken(Some("full"));
    result(&agent, "resources/read", json!({"uri": "crewlet://notes/note%3A%2F%2Fplain"})).await;
    bench.stop().await;
}

#[tokio::test]
async fn a_hostile_server_costs_only_its_own_rows() {
    let (bench, wiki) = two().await;
    let agent = bench.modern("release");
    let endless: fn(&Value) -> Value = |params| {
        let page: u64 = params["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
        json!({"resources": [{"uri": format!("wiki:{page}")}], "nextCursor": (page + 1).to_string()})
    };
    let repeated: fn(&Value) -> Value = |_| json!({"resources": [{"uri": "wiki:1"}], "nextCursor": "again"});
    let huge: fn(&Value) -> Value = |_| json!({"resources": [{"uri": "wiki:1", "description": "x".repeat(5 << 20)}]});
    let many: fn(&Value) -> Value = |params| {
        let page: usize = params["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
        let all: Vec<Value> = (0..4_000).map(|item| json!({"uri": format!("wiki:{page}:{item}")})).collect();
        json!({"resources": all, "nextCursor": (page + 1).to_string()})
    };
    for (reaction, rows, reason) in [
        (Reaction::With(endless), 100, "the server's list has more than 100 pages"),
        (Reaction::With(repeated), 1, "the server handed out the same page cursor twice"),
        (Reaction::With(huge), 0, "the server's list has more than 4 MiB"),
        (Reaction::With(many), 5_000, "the server lists more than 5000 resources"),
        (Reaction::Result(json!({"resources": "none"})), 0, "the answer holds no list of resources"),
        (Reaction::Result(json!([])), 0, "unreadable answer"),
        (Reaction::Error(-32603, "no \u{1b}[31mluck"), 0, "no luck (code -32603)"),
        (Reaction::Silence, 0, "it did not answer resources/list within 1 s"),
    ] {
        wiki.answer_to("resources/list", reaction.clone());
        let listed = result(&agent, "resources/list", json!({})).await;
        let uris = column(&listed["resources"], "uri");
        let own = uris.iter().filter(|uri| uri.starts_with("crewlet://notes/")).count();
        assert_eq!((own, uris.len() - own), (2, rows), "{reaction:?}");
        let missing = &listed["_meta"]["crewlet/missing"];
        let told = missing[0]["reason"].as_str().unwrap_or_default();
        assert!(missing[0]["server"] == json!("wiki") && told.starts_with(reason), "{missing}");
    }
    bench.stop().await;
}

#[tokio::test]
async fn answers_that_cannot_be_used_name_the_server_and_the_reason() {
    let (bench, wiki) = two().await;
    let agent = bench.legacy("release").await;
    let large: fn(&Value) -> Value = |_| json!({"contents": [{"uri": "wiki:1", "text": "x".repeat(10_000_000)}]});
    let not_found = (-32002, "server \"wiki\": gone (JSON-RPC error -32002)");
    for (reaction, expected) in [
        (Reaction::With(large), (-32603, "server \"wiki\": the answer is larger than 8 MiB")),
        (
            Reaction::Result(json!({"contents": 7})),
            (-32603, "server \"wiki\": the answer is not what was asked for: it holds no list of contents"),
        ),
        (
            Reaction::Result(json!({"contents": [{"text": "a\u{0}"}]})),
            (-32603, "server \"wiki\": the answer is binary data (it holds NUL characters)"),
        ),
        (Reaction::Error(-32002, "gone"), not_found),
        (Reaction::Error(-1, "odd"), (-32603, "server \"wiki\": odd (JSON-RPC error -1)")),
        (Reaction::Silence, (-32603, "server \"wiki\": did not answer within 1 s")),
    ] {
        wiki.answer_to("resources/read", reaction.clone());
        let (code, text) = error(&agent, "resources/read", json!({"uri": "crewlet://wiki/wiki%3A1"})).await;
        assert_eq!((code, text.as_str()), expected, "{reaction:?}");
    }
    let outcomes: Vec<_> = bench.trail.records().into_iter().filter_map(|record| record.outcome).collect();
    assert_eq!(outcomes, [[Outcome::Failed; 5].as_slice(), &[Outcome::Unknown]].concat());
    wiki.answer_to("resources/read", Reaction::HangUp);
    let (_, text) = error(&agent, "resources/read", json!({"uri": "crewlet://wiki/wiki%3A1"})).await;
    assert!(text.starts_with("server \"wiki\": wiki ended before it answered"), "{text}");
    bench.stop().await;
}

#[tokio::test]
async fn a_server_that_is_down_says_so_and_a_stopped_seat_is_refused() {
    let (bench, _wiki) = two().await;
    let agent = bench.modern("release");
    bench.handle.send(Command::Disable(ConnectionName::new("wiki"))).unwrap();
    bench.until(|s| s.servers.iter().any(|server| server.status.word() == "disabled")).await;
    let down = error(&agent, "resources/read", json!({"uri": "crewlet://wiki/wiki%3A1"})).await;
    assert_eq!(down, (-32603, "server \"wiki\" is not running: it is disabled".to_owned()));
    let listed = result(&agent, "resources/list", json!({})).await;
    assert_eq!(listed["resources"].as_array().unwrap().len(), 2);
    assert_eq!(listed["_meta"]["crewlet/missing"], json!([{"server": "wiki", "reason": "it is disabled"}]));
    bench.handle.send(Command::StopSeat(SeatHandle::new("release"))).unwrap();
    bench.until(|s| !s.stopped_seats.is_empty()).await;
    let before = bench.server.methods().len();
    for (method, params) in [
        ("resources/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/read", json!({"uri": "crewlet://notes/note%3A%2F%2Fplain"})),
        ("prompts/get", json!({"name": "n_greet_me"})),
    ] {
        let (code, text) = error(&agent, method, params).await;
        assert!(code == -32603 && text.contains("was stopped by"), "{method}: {code} {text}");
    }
    assert_eq!(bench.server.methods().len(), before, "nothing of a stopped seat reaches a server");
    bench.stop().await;
}

#[tokio::test]
async fn a_server_that_was_never_up_is_missing_from_lists() {
    let config = CONFIG.replace("name: wiki, command: in-memory", "name: wiki, command: in-memory, enabled: false");
    let servers = [("notes", &notes()), ("wiki", &Scripted::new([])), ("vault", &Scripted::offering([]))];
    let bench = bench_of(&config, &servers).await;
    let agent = bench.modern("release");
    for list in ["resources/list", "prompts/list"] {
        let listed = result(&agent, list, json!({})).await;
        let missing = json!([{"server": "wiki", "reason": "it is disabled"}]);
        assert_eq!(listed["_meta"]["crewlet/missing"], missing, "{list}: nobody knows what it has");
    }
    bench.stop().await;
}

#[tokio::test]
async fn a_read_that_finds_no_place_leaves_its_record() {
    let (bench, _wiki) = two().await;
    let agent = bench.modern("release");
    bench.server.answer_to("resources/read", Reaction::Silence);
    let params = json!({"uri": "crewlet://notes/x"});
    let reads: Vec<_> = (0..32)
        .map(|_| {
            let (agent, params) = (agent.clone(), params.clone());
            tokio::spawn(async move { agent.request("resources/read", params).await })
        })
        .collect();
    wait(|| asked(&bench.server, "resources/read") == 32).await;
    let (_, text) = error(&agent, "resources/read", params).await;
    assert!(text.contains("32 requests of this seat are being answered"), "{text}");
    assert!(bench.reasons(Kind::Refused).contains(&text), "the trail says so");
    reads.iter().for_each(tokio::task::JoinHandle::abort);
    bench.stop().await;
}

#[tokio::test]
async fn a_server_that_declares_nothing_is_not_asked() {
    let bench = bench().await;
    let agent = bench.modern("release");
    assert_eq!(result(&agent, "resources/list", json!({})).await["resources"], json!([]));
    assert_eq!(result(&agent, "prompts/list", json!({})).await["prompts"], json!([]));
    assert_eq!(error(&agent, "resources/read", json!({"uri": "crewlet://notes/a"})).await.0, -32602);
    let asked = bench.server.methods();
    assert!(!asked.iter().any(|method| method.starts_with("resources") || method.starts_with("prompts")), "{asked:?}");
    bench.stop().await;
}

#[tokio::test]
async fn a_read_can_be_cancelled_and_ends_with_its_caller() {
    let (bench, _wiki) = two().await;
    let agent = bench.legacy("release").await;
    bench.server.answer_to("resources/read", Reaction::Silence);
    for cancels in [true, false] {
        let (reads, before) = (asked(&bench.server, "resources/read"), asked(&bench.server, "notifications/cancelled"));
        let reading = tokio::spawn({
            let agent = agent.clone();
            async move { agent.request("resources/read", json!({"uri": "crewlet://notes/x"})).await }
        });
        wait(|| asked(&bench.server, "resources/read") > reads).await;
        if cancels {
            agent.notify("notifications/cancelled", json!({"requestId": 7})).await;
            let answer = reading.await.unwrap();
            assert_eq!((answer.status, answer.body.as_str()), (StatusCode::ACCEPTED, ""));
        } else {
            reading.abort();
        }
        wait(|| asked(&bench.server, "notifications/cancelled") > before).await;
    }
    wait(|| bench.trail.records().iter().filter(|record| record.kind == Kind::Finished).count() == 2).await;
    let ends = bench.trail.records().into_iter().filter_map(|record| record.outcome).collect::<Vec<_>>();
    assert_eq!(ends, [Outcome::Unknown, Outcome::Unknown]);
    bench.stop().await;
}

#[tokio::test]
async fn one_seat_cannot_ask_for_everything_at_once() {
    let (bench, _wiki) = two().await;
    let (agent, other) = (bench.modern("release"), bench.modern("review"));
    bench.server.answer_to("resources/read", Reaction::Silence);
    let read = json!({"uri": "crewlet://notes/x"});
    let reading = |_| {
        let (agent, read) = (agent.clone(), read.clone());
        tokio::spawn(async move { agent.request("resources/read", read).await })
    };
    let reading: Vec<_> = (0..32).map(reading).collect();
    wait(|| asked(&bench.server, "resources/read") == 32).await;
    let (code, text) = error(&agent, "resources/read", read.clone()).await;
    assert!(code == -32603 && text.contains("32 requests of this seat"), "{code} {text}");
    // A name that nobody knows would have every server asked.
    assert!(error(&agent, "prompts/get", json!({"name": "unknown"})).await.1.contains("32 requests of this seat"));
    assert_eq!(result(&other, "prompts/list", json!({})).await["prompts"].as_array().unwrap().len(), 2);
    reading.iter().for_each(tokio::task::JoinHandle::abort);
    wait(|| bench.trail.records().iter().filter(|record| record.kind == Kind::Finished).count() == 32).await;
    bench.server.answer_to("resources/read", Reaction::Result(json!({"contents": []})));
    assert_eq!(result(&agent, "resources/read", read).await["contents"], json!([]));
    bench.stop().await;
}

/// Waits until something becomes true that nobody announces.
async fn wait(mut what: impl FnMut() -> bool) {
    let waiting = async {
        while !what() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), waiting).await.expect("in time");
}

#[tokio::test]
async fn a_slow_read_is_a_stream_with_signs_of_life_where_the_client_takes_one() {
    let (bench, _wiki) = two().await;
    let mut agent = bench.modern("release");
    let read = json!({"uri": "crewlet://notes/note%3A%2F%2Fplain"});
    agent.accept = "text/event-stream";
    let answer = agent.request("resources/read", read.clone()).await;
    assert!(answer.is_stream() && answer.message()["result"]["contents"].is_array(), "{answer:?}");
    agent.accept = "application/json, text/event-stream";
    bench.server.answer_to("resources/read", Reaction::Silence);
    let params = json!({"uri": read["uri"], "_meta": serde_json::from_str::<Value>(&agent.calling("x", "{}")).unwrap()["_meta"]});
    let mut stream = agent.post("resources/read", &params.to_string(), Some(json!(1))).send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    read_until(&mut stream, ": reading").await;
    bench.stop().await;
}

#[tokio::test]
async fn agents_hear_of_other_lists_too() {
    let (bench, wiki) = two().await;
    let agent = bench.legacy("release").await;
    let mut stream = agent.open(Method::GET).await;
    read_until(&mut stream, "listening").await;
    bench.server.tell("notifications/prompts/list_changed").await;
    let heard = read_until(&mut stream, "list_changed").await;
    assert!(heard.contains("notifications/prompts/list_changed") && !heard.contains("resources"), "{heard}");
    wiki.tell("notifications/resources/list_changed").await;
    read_until(&mut stream, "notifications/resources/list_changed").await;
    bench.handle.send(Command::Disable(ConnectionName::new("wiki"))).unwrap();
    read_until(&mut stream, "notifications/prompts/list_changed").await;
    bench.stop().await;
}

#[tokio::test]
async fn links_in_a_tool_s_result_can_be_read_back() {
    let (bench, _wiki) = two().await;
    let agent = bench.modern("release");
    let link = |uri: &str| json!({"type": "resource_link", "uri": uri, "name": "x"});
    let embedded = json!({"type": "resource", "resource": {"uri": "note://plain", "text": "t"}});
    let content = json!([link("note://plain"), link("https://a.test/"), embedded]);
    bench.server.react([Reaction::Result(json!({"content": content, "structuredContent": {"uri": "note://plain"}}))]);
    let result = agent.call("n_get", "{}").await.message()["result"].clone();
    let uri = result["content"][0]["uri"].as_str().unwrap();
    assert_eq!(result["content"][1]["uri"], json!("https://a.test/"));
    assert_eq!(result["content"][2]["resource"]["uri"], json!(uri));
    assert_eq!(result["structuredContent"], json!({"uri": "note://plain"}));
    let read = self::result(&agent, "resources/read", json!({"uri": uri})).await;
    assert_eq!(read["contents"][0]["text"], json!("read \"note://plain\""));
    bench.stop().await;
}

//! The handshake's table: what servers answer to the probe and to `initialize`, and what has to come of it.

use serde_json::{Value, json};

use super::scripted::{Reaction, Scripted, discovered, error, initialized, legacy, result, scripted};
use super::*;

/// A legacy server whose reaction to the probe is `probe`.
fn probed(probe: impl Fn(&Value) -> Reaction + Send + Sync + 'static) -> Arc<Scripted> {
    Scripted::new(
        move |_, message| if message["method"] == "server/discover" { probe(message) } else { legacy(message) },
    )
}

#[tokio::test(start_paused = true)]
async fn whatever_an_old_server_says_to_the_probe_it_is_initialized() {
    type Probe = fn(&Value) -> Reaction;
    let probes: [(&str, Probe); 10] = [
        ("method not found", |m| Reaction::Say(vec![error(m, -32601)])),
        ("invalid request", |m| Reaction::Say(vec![error(m, -32600)])),
        ("invalid params", |m| Reaction::Say(vec![error(m, -32602)])),
        ("server error", |m| Reaction::Say(vec![error(m, -32000)])),
        ("code zero", |m| Reaction::Say(vec![error(m, 0)])),
        ("null id", |_| Reaction::Say(vec![json!({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"?"}})])),
        ("empty result", |m| Reaction::Say(vec![result(m, json!({}))])),
        ("null result", |m| Reaction::Say(vec![result(m, Value::Null)])),
        ("only a legacy version", |m| Reaction::Say(vec![result(m, json!({"supportedVersions": ["2025-06-18"]}))])),
        ("silence", |_| Reaction::Silence),
    ];
    for (name, probe) in probes {
        let server = probed(probe);
        let mut bench = Bench::start(scripted(&server));
        bench.ready().await;
        assert_eq!((bench.peer().era, &*bench.peer().protocol_version), (Era::Legacy, "2025-11-25"), "{name}");
        assert_eq!(server.connections(), 1, "{name}");
        let methods = ["server/discover", "initialize", "notifications/initialized", "tools/list"];
        assert_eq!(server.methods(), methods, "{name}");
        assert_eq!(text(bench.call("t", "{}").await), "done", "{name}");
        bench.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn silence_costs_five_seconds_or_a_third_of_the_start_limit() {
    for (limit, expected) in [(30, 5.0), (9, 3.0)] {
        let mut spec = scripted(&probed(|_| Reaction::Silence));
        spec.startup_timeout = Duration::from_secs(limit);
        let mut bench = Bench::start(spec);
        bench.ready().await;
        assert!((bench.peer().took.as_secs_f64() - expected).abs() < 0.1, "{:?}", bench.peer().took);
        bench.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_is_asked_nothing_else() {
    let server = Scripted::new(|_, message| match message["method"].as_str() {
        Some("server/discover") => Reaction::Say(vec![discovered(message)]),
        // A request of the server: a modern client sends no answers.
        Some("tools/list") => Reaction::Say(vec![
            json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
            result(message, json!({"resultType": "complete", "tools": [{"name": "t"}]})),
        ]),
        _ => legacy(message),
    });
    let mut bench = Bench::start(scripted(&server));
    bench.ready().await;
    assert_eq!((bench.peer().era, bench.peer().name.as_deref()), (Era::Modern, Some("m")));
    assert_eq!(text(bench.call("t", "{}").await), "done");
    assert_eq!(server.methods(), ["server/discover", "tools/list", "tools/call"]);
    for message in server.heard("tools/list").iter().chain(&server.heard("tools/call")) {
        assert_eq!(message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    }
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_late_discovery_wins_over_a_refused_initialize() {
    // A slow start: nothing is read for eight seconds, then the probe is answered first.
    let server = Scripted::new(|_, message| match message["method"].as_str() {
        Some("server/discover") => Reaction::Late(Duration::from_secs(8), discovered(message)),
        Some("initialize") => Reaction::Say(vec![error(message, -32022)]),
        Some("tools/list") => Reaction::Say(vec![result(message, json!({"tools": []}))]),
        _ => Reaction::Silence,
    });
    let mut bench = Bench::start(scripted(&server));
    bench.ready().await;
    assert_eq!(bench.peer().era, Era::Modern);
    assert_eq!(server.methods(), ["server/discover", "initialize", "tools/list"], "no cancel of initialize");
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_late_refusal_of_the_probe_is_dropped() {
    let server = probed(|message| Reaction::Late(Duration::from_secs(8), error(message, -32602)));
    let mut bench = Bench::start(scripted(&server));
    bench.ready().await;
    assert_eq!((bench.peer().era, server.connections()), (Era::Legacy, 1));
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_of_the_probe_is_started_again_without_it() {
    let server = probed(|_| Reaction::HangUp);
    let mut bench = Bench::start(scripted(&server));
    bench.ready().await;
    assert_eq!(server.connections(), 2);
    assert_eq!(server.methods().iter().filter(|method| *method == "server/discover").count(), 1);
    assert_eq!(bench.words(), ["starting", "ready"], "it is one start");
    // The era is remembered: a restart does not probe.
    assert!(bench.connection.control(Control::Restart));
    bench.ready().await;
    assert_eq!(server.connections(), 3);
    assert_eq!(server.methods().iter().filter(|method| *method == "server/discover").count(), 1);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_locked_on_an_era_is_started_again() {
    let server = Scripted::new(|connection, message| match (connection, message["method"].as_str()) {
        (0, Some("initialize")) => Reaction::Say(vec![error(message, -32000)]),
        _ => legacy(message),
    });
    let mut bench = Bench::start(scripted(&server));
    bench.ready().await;
    assert_eq!((bench.peer().era, server.connections()), (Era::Legacy, 2));
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_modern_server_refuses_is_no_reason_to_fall_back() {
    for code in [-32020, -32021] {
        let server = probed(move |message| Reaction::Say(vec![error(message, code)]));
        let mut bench = Bench::start(scripted(&server));
        let (_, failure) = bench.backing_off().await;
        assert_eq!(failure.kind, FailureKind::Handshake);
        assert!(failure.headline.contains(&code.to_string()), "{}", failure.headline);
        assert_eq!(server.methods(), ["server/discover"]);
        bench.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn versions_without_overlap_fail_for_good_and_name_both() {
    let unsupported = |supported: Value| {
        move |message: &Value| {
            let error = json!({"code": -32022, "message": "no", "data": {"supported": supported}});
            Reaction::Say(vec![json!({"jsonrpc": "2.0", "id": message["id"], "error": error})])
        }
    };
    let future = json!(["2031-01-01"]);
    let discovered =
        |message: &Value| Reaction::Say(vec![result(message, json!({"supportedVersions": ["2031-01-01"]}))]);
    let initialized = Scripted::new(|_, message| match message["method"].as_str() {
        Some("initialize") => Reaction::Say(vec![result(message, json!({"protocolVersion": "2031-01-01"}))]),
        _ => legacy(message),
    });
    for server in [probed(unsupported(future)), probed(discovered), initialized] {
        let mut bench = Bench::start(scripted(&server));
        let failure = bench.failed().await;
        assert_eq!(failure.kind, FailureKind::Version);
        assert!(failure.headline.starts_with("no common version"), "{}", failure.headline);
        assert!(failure.headline.contains("2031-01-01") && failure.headline.contains("2025-11-25"));
        assert_eq!(bench.words(), ["starting", "failed"], "trying again cannot help");
        bench.stop().await;
    }
    // A list of legacy versions only is no failure.
    let mut bench = Bench::start(scripted(&probed(unsupported(json!(["2025-06-18", "2031-01-01"])))));
    bench.ready().await;
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_known_era_is_used_and_a_stale_one_corrected() {
    let server = probed(|_| Reaction::HangUp);
    let mut bench = Bench::start(ConnectionSpec { known_era: Some(Era::Legacy), ..scripted(&server) });
    bench.ready().await;
    assert_eq!(server.methods(), ["initialize", "notifications/initialized", "tools/list"]);
    bench.stop().await;

    let server = Scripted::new(|_, message| match message["method"].as_str() {
        Some("initialize") => Reaction::Say(vec![error(message, -32022)]),
        Some("server/discover") => Reaction::Say(vec![discovered(message)]),
        _ => legacy(message),
    });
    let mut bench = Bench::start(ConnectionSpec { known_era: Some(Era::Legacy), ..scripted(&server) });
    bench.ready().await;
    assert_eq!(bench.peer().era, Era::Modern);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_servers_requests_and_early_notices_do_no_harm() {
    let server = Scripted::new(|_, message| match message["method"].as_str() {
        Some("initialize") => Reaction::Say(vec![
            json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}),
            json!({"jsonrpc": "2.0", "id": 0, "method": "ping"}),
            json!({"jsonrpc": "2.0", "id": "r", "method": "roots/list"}),
            initialized(message),
        ]),
        _ => legacy(message),
    });
    let mut bench = Bench::start(scripted(&server));
    bench.ready().await;
    assert_eq!(text(bench.call("t", "{}").await), "done");
    let answers: Vec<_> = server.heard.lock().unwrap().iter().filter(|m| m["method"].is_null()).cloned().collect();
    assert_eq!(answers.len(), 2, "{answers:?}");
    assert_eq!((&answers[0]["id"], &answers[0]["result"]), (&json!(0), &json!({})));
    assert_eq!((&answers[1]["id"], &answers[1]["error"]["code"]), (&json!("r"), &json!(-32601)));
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_answers_nothing_names_the_setting() {
    let server = Scripted::new(|_, _| Reaction::Silence);
    let spec =
        ConnectionSpec { startup_timeout: Duration::from_secs(5), restart: RestartPolicy::Never, ..scripted(&server) };
    let mut bench = Bench::start(spec);
    let failure = bench.failed().await;
    assert_eq!(failure.kind, FailureKind::TimedOut);
    assert_eq!(&*failure.headline, "did not connect within 5 s (startup_timeout_seconds)");
    assert!(!server.methods().contains(&"notifications/cancelled".to_owned()));
    bench.stop().await;
}

//! Reading tool lists.

use serde_json::{Value, json};

use super::scripted::{Reaction, Scripted, error, legacy, result, scripted};
use super::*;
use crate::engine::status::Offers;

fn lists(page: impl Fn(&Value) -> Reaction + Send + Sync + 'static) -> Arc<Scripted> {
    Scripted::new(move |_, message| if message["method"] == "tools/list" { page(message) } else { legacy(message) })
}

fn page(message: &Value, names: impl IntoIterator<Item = String>, next: Value) -> Reaction {
    let tools: Vec<_> = names.into_iter().map(|name| json!({"name": name})).collect();
    Reaction::Say(vec![result(message, json!({"tools": tools, "nextCursor": next}))])
}

fn number(message: &Value) -> u64 {
    message["params"]["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap())
}

#[tokio::test(start_paused = true)]
async fn every_page_is_read() {
    for last in [Value::Null, json!("")] {
        let server = lists(move |message| {
            let at = number(message);
            let next = if at < 2 { json!((at + 1).to_string()) } else { last.clone() };
            page(message, (0..50).map(|n| format!("t{}", at * 50 + n)), next)
        });
        let mut bench = Bench::start(scripted(&server));
        bench.ready().await;
        assert_eq!((bench.listing().tools.len(), bench.listing().cut), (150, None));
        bench.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn endless_lists_are_cut_and_say_so() {
    let repeated = lists(|message| page(message, ["t".to_owned()], json!("again")));
    let endless = lists(|message| {
        let at = number(message);
        page(message, [format!("t{at}")], json!((at + 1).to_string()))
    });
    for (server, tools, why) in [(repeated, 1, "twice"), (endless, 100, "100 pages")] {
        let mut bench = Bench::start(scripted(&server));
        bench.ready().await;
        let listing = bench.listing();
        assert_eq!(listing.tools.len(), tools);
        assert!(listing.cut.as_ref().unwrap().contains(why), "{listing:?}");
        bench.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_malformed_tool_costs_only_itself() {
    let server = lists(|message| {
        let tools = json!([{"name": "good"}, 7, {"name": 3}, {"name": "odd", "annotations": {"readOnlyHint": "yes"}}]);
        Reaction::Say(vec![result(message, json!({"tools": tools}))])
    });
    let mut bench = Bench::start(scripted(&server));
    bench.ready().await;
    assert_eq!((bench.listing().tools.len(), bench.listing().rejected.len()), (2, 2));
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_list_that_fails_is_no_healthy_server_without_tools() {
    let refused = lists(|message| Reaction::Say(vec![error(message, -32603)]));
    let nonsense = lists(|message| Reaction::Say(vec![result(message, json!({"tools": 3}))]));
    for server in [refused, nonsense] {
        let mut bench = Bench::start(ConnectionSpec { restart: RestartPolicy::Never, ..scripted(&server) });
        let failure = bench.failed().await;
        assert_eq!(failure.kind, FailureKind::Listing);
        assert!(failure.headline.starts_with("initialize worked, listing tools failed: "), "{}", failure.headline);
        bench.stop().await;
    }
    let silent = lists(|_| Reaction::Silence);
    let mut bench = Bench::start(ConnectionSpec { restart: RestartPolicy::Never, ..scripted(&silent) });
    let failure = bench.failed().await;
    assert_eq!(failure.kind, FailureKind::TimedOut);
    assert!(failure.headline.contains("did not list its tools within 30 s"), "{}", failure.headline);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_without_tools_is_not_asked_for_them() {
    for (capabilities, asked) in [(json!({}), 0), (json!({"prompts": {}}), 0), (Value::Null, 1)] {
        let server = Scripted::new(move |_, message| match message["method"].as_str() {
            Some("initialize") => {
                let answer = json!({"protocolVersion": "2025-06-18", "capabilities": capabilities});
                Reaction::Say(vec![result(message, answer)])
            }
            Some("tools/list") => Reaction::Say(vec![error(message, -32601)]),
            _ => legacy(message),
        });
        let mut bench = Bench::start(scripted(&server));
        bench.ready().await;
        assert_eq!((bench.listing().tools.len(), server.heard("tools/list").len()), (0, asked));
        assert_eq!(&*bench.peer().protocol_version, "2025-06-18");
        bench.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_changes_is_one_listing() {
    let server = Scripted::new(|_, message| match message["method"].as_str() {
        Some("tools/call") => {
            let notice = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
            let mut say = vec![notice; 50];
            say.push(result(message, json!({"content": []})));
            Reaction::Say(say)
        }
        _ => legacy(message),
    });
    let mut bench = Bench::start(scripted(&server));
    bench.ready().await;
    bench.call("t", "{}").await.unwrap();
    bench.until(|event| matches!(event, ConnectionEvent::Listed(_)).then_some(())).await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(server.heard("tools/list").len(), 2);
    assert_eq!(bench.words(), ["starting", "ready"]);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_is_asked_to_tell_of_changes_where_it_offers_that() {
    let modern = |announces: bool| {
        Scripted::new(move |_, message| match message["method"].as_str() {
            Some("server/discover") => {
                let capabilities = json!({"tools": {"listChanged": announces}});
                let answer = json!({"supportedVersions": ["2026-07-28"], "capabilities": capabilities});
                Reaction::Say(vec![result(message, answer)])
            }
            Some("subscriptions/listen") => {
                Reaction::Say(vec![json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})])
            }
            _ => legacy(message),
        })
    };
    for (announces, listed) in [(true, 2), (false, 1)] {
        let server = modern(announces);
        let mut bench = Bench::start(scripted(&server));
        bench.ready().await;
        tokio::time::sleep(Duration::from_secs(120)).await;
        assert_eq!(server.heard("tools/list").len(), listed);
        assert_eq!(server.heard("subscriptions/listen").len(), usize::from(announces));
        bench.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn changes_of_other_lists_are_passed_on_and_read_by_nobody() {
    let server = Scripted::new(|_, message| match message["method"].as_str() {
        Some("server/discover") => {
            let capabilities =
                json!({"tools": {}, "resources": {"listChanged": true}, "prompts": {"listChanged": false}});
            let answer = json!({"supportedVersions": ["2026-07-28"], "capabilities": capabilities});
            Reaction::Say(vec![result(message, answer)])
        }
        Some("subscriptions/listen") => {
            let changed = json!({"jsonrpc": "2.0", "method": "notifications/resources/list_changed"});
            Reaction::Say(vec![changed; 20])
        }
        _ => legacy(message),
    });
    let mut bench = Bench::start(scripted(&server));
    bench.ready().await;
    assert_eq!(bench.peer().offers, Offers { resources: true, prompts: true });
    let changed = |event: &ConnectionEvent| match event {
        ConnectionEvent::OfferChanged(offer) => Some(*offer),
        _ => None,
    };
    assert_eq!(bench.until(changed).await, Offer::Resources);
    let asked = &server.heard("subscriptions/listen")[0]["params"]["notifications"];
    assert_eq!(*asked, json!({"resourcesListChanged": true}));
    assert_eq!(server.heard("resources/list").len(), 0);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_cannot_list_has_still_said_who_it_is() {
    let server = lists(|message| Reaction::Say(vec![error(message, -32603)]));
    let mut bench = Bench::start(ConnectionSpec { restart: RestartPolicy::Never, ..scripted(&server) });
    let failure = bench.failed().await;
    assert_eq!(failure.kind, FailureKind::Listing, "{failure:?}");
    assert_eq!((bench.peer().name.as_deref(), bench.peer().era), (Some("s"), Era::Legacy));
    bench.stop().await;
}

//! Pages: their versions, comments and lists.

use serde_json::{Value, json};

use super::{bench, seat};
use crate::native::request::Class;

#[tokio::test]
async fn pages_keep_their_versions_and_refuse_a_stale_base() {
    let bench = bench("");
    let agent = seat();
    let made =
        bench.call(&agent, "write_page", json!({"title": "Runbook", "body": "restart the server"})).await.unwrap();
    let page = made["page"]["page"].clone();
    let saved =
        bench.call(&agent, "save_page", json!({"page": page, "base_version": 1, "body": "call ada"})).await.unwrap();
    assert_eq!(saved["version"], json!(2));
    let stale = json!({"page": page, "base_version": 1, "body": "x"});
    assert_eq!(bench.refused(&agent, "save_page", stale).await, Class::StaleVersion);
    bench.call(&agent, "comment_on_page", json!({"page": page, "body": "thanks"})).await.unwrap();
    let whole = bench.call(&agent, "get_page", json!({"page": page})).await.unwrap();
    assert_eq!((&whole["body"], &whole["comments"][0]["body"]), (&json!("call ada"), &json!("thanks")));
    for (query, count) in [("restart", 0), ("call runbook", 1)] {
        let found = bench.call(&agent, "search_knowledge", json!({"query": query})).await.unwrap();
        assert_eq!(found["count"], json!(count), "{query}");
    }
}

#[tokio::test]
async fn pages_are_found_by_title_and_label_and_read_as_they_were() {
    let bench = bench("");
    let agent = seat();
    let mut ids = Vec::new();
    for (title, labels) in [("Night runbook", vec!["ops"]), ("Day runbook", vec![]), ("Menu", vec!["ops"])] {
        let new = json!({"title": title, "body": "b", "labels": labels, "message": "first"});
        ids.push(bench.ok(&agent, "write_page", new).await["page"]["page"].clone());
    }
    let titles = async |arguments: Value| {
        let list = bench.ok(&agent, "list_pages", arguments).await;
        list["pages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|page| page["title"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(titles(json!({"title": "runbook"})).await, ["Day runbook", "Night runbook"]);
    assert_eq!(titles(json!({"title": "runbook", "label": "ops"})).await, ["Night runbook"]);
    let page = bench.ok(&agent, "list_pages", json!({"limit": 2})).await;
    assert_eq!(titles(json!({"limit": 2, "cursor": page["next_cursor"]})).await, ["Night runbook"]);
    let saved = json!({"page": ids[0], "base_version": 1, "labels": [], "message": "no label"});
    bench.ok(&agent, "save_page", saved).await;
    assert_eq!(titles(json!({"label": "ops"})).await, ["Menu"]);
    let whole = bench.ok(&agent, "get_page", json!({"page": ids[0], "include": ["versions"]})).await;
    let messages: Vec<_> = whole["versions"].as_array().unwrap().iter().map(|one| one["message"].clone()).collect();
    assert_eq!(messages, [json!("no label"), json!("first")]);
    let then = bench.ok(&agent, "get_page", json!({"page": ids[0], "version": 1})).await;
    assert_eq!((&then["labels"], &then["version"], &then["latest_version"]), (&json!(["ops"]), &json!(1), &json!(2)));
    assert_eq!(bench.refused(&agent, "get_page", json!({"page": ids[0], "version": 9})).await, Class::NotFound);
    let same = json!({"page": ids[0], "base_version": 2, "body": "b", "message": "nothing new"});
    assert_eq!(bench.ok(&agent, "save_page", same).await["version"], json!(2));
}

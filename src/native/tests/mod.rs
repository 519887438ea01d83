//! The tracker's and the pages' tools: who may, what is refused, what comes back.

mod bounds;
mod items;
mod pages;
mod plans;
mod workspace;

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::Native;
use super::request::{Class, Refusal};
use super::table::all;
use super::tool::{Audience, Handler};
use crate::config::model::Source;

use crate::engine::first_party::FirstParty as _;
use crate::engine::snapshot::Caller;
use crate::ids::SeatHandle;
use crate::store::Store;
use crate::tool::annotations::Hint::{self, No, Unknown, Yes};

const CONFIG: &str = "
name: Acme
roles: [ { name: Release }, { name: Ada, kind: human } ]
mcp_servers: []
operators:
  - { id: founder, token: '${T}', seat: ada }
  - { id: web, token: '${T}', projects: [ web ] }
  - { id: viewer, token: '${T}', permission: viewer }
  - { id: member, token: '${T}', permission: member }
";

pub(super) struct Bench {
    pub(super) native: Arc<Native>,
    _folder: tempfile::TempDir,
}

pub(super) fn bench(more: &str) -> Bench {
    let text = format!("{CONFIG}{more}");
    let config = crate::config::load(&text, &Source::File("config.yaml".into())).unwrap().config;
    let folder = tempfile::tempdir().unwrap();
    Bench { native: Native::open(&config, Store::new(folder.path())), _folder: folder }
}

pub(super) fn operator(id: &str) -> Caller {
    Caller::Operator { holder: SeatHandle::of_operator(id), session: "s".into(), client: "c".into() }
}

pub(super) fn seat() -> Caller {
    Caller::Seat { seat: SeatHandle::new("release"), session: "s".into(), client: "c".into() }
}

impl Bench {
    pub(super) async fn call(&self, caller: &Caller, tool: &str, arguments: Value) -> Result<Value, Refusal> {
        self.native.call_as(caller, tool, &arguments.to_string()).await
    }

    pub(super) async fn refused(&self, caller: &Caller, tool: &str, arguments: Value) -> Class {
        self.call(caller, tool, arguments).await.expect_err("a refusal").class
    }

    pub(super) async fn ok(&self, caller: &Caller, tool: &str, arguments: Value) -> Value {
        match self.call(caller, tool, arguments.clone()).await {
            Ok(value) => value,
            Err(refusal) => panic!("{tool} {arguments}: {refusal:?}"),
        }
    }

    pub(super) async fn item(&self, title: &str) -> String {
        let made = self.ok(&Caller::Console, "create_work_item", json!({"project": "WORK", "title": title})).await;
        made["item"]["item"].as_str().unwrap().to_owned()
    }
}

pub(super) fn keys(rows: &Value) -> Vec<&str> {
    rows.as_array().unwrap().iter().map(|row| row["item"].as_str().unwrap()).collect()
}

#[test]
fn the_table_says_what_is_documented_and_nothing_twice() {
    let names: HashSet<_> = all().map(|tool| tool.name).collect();
    assert_eq!(names.len(), all().count());
    for tool in all() {
        let reads = tool.annotations().read_only == Hint::Yes;
        match tool.handler {
            Handler::Read(_) => assert!(reads, "{}", tool.name),
            Handler::Write(_) => assert!(!reads, "{}", tool.name),
            Handler::Run(_) => {}
        }
        assert!(!reads || !(tool.is_destructive() || tool.delivers.is_some()), "{}", tool.name);
    }
    let hints = |name: &str| all().find(|tool| tool.name == name).map(|tool| tool.hints.0).unwrap();
    assert_eq!(hints("search_work_items"), [Yes, Unknown, Yes, Unknown]);
    assert_eq!(hints("remove_work_item"), [No, Yes, Yes, Yes]);
    assert_eq!(hints("comment_on_work_item"), [No, No, Unknown, Yes]);
    assert_eq!(hints("mark_inbox"), [No, No, Yes, No]);
    assert_eq!(hints("list_mcp_server_tools"), [Yes, Unknown, Yes, No]);
    assert_eq!(hints("activate_tool"), [No, No, Yes, No]);
    let task_tools = ["create_task", "assign_task", "update_task", "list_tasks"];
    assert!(task_tools.iter().all(|name| !names.contains(name)));
    // What acts for a seat is its agent's alone.
    let bound = ["delegate", "reflect_and_persist", "use_skill", "a2a_ask", "run_sandbox", "lookup_colleague"];
    let bound: Vec<_> = all().filter(|tool| bound.contains(&tool.name)).collect();
    assert!(bound.iter().all(|tool| tool.audience == Audience::Seats) && !bound.is_empty());
}

#[tokio::test]
async fn an_item_lives_through_its_life() {
    let bench = bench("");
    let (agent, founder) = (seat(), operator("founder"));
    assert_eq!(
        bench.refused(&agent, "create_work_item", json!({"project": "nope", "title": "t"})).await,
        Class::NotFound
    );
    let made = bench.call(&agent, "write_project", json!({"project": "app", "name": "App"})).await.unwrap();
    assert_eq!(made["outcome"], json!("created"));
    let arguments = json!({"project": "app", "title": " Login fails ", "body": "on phones", "priority": "high",
        "assignee": "release", "labels": ["bug"], "due": "2026-12-24"});
    let made = bench.call(&agent, "create_work_item", arguments).await.unwrap();
    assert_eq!((&made["item"]["item"], &made["item"]["reporter"]), (&json!("APP-1"), &json!("seat:release")));
    assert_eq!((&made["item"]["title"], &made["version"]), (&json!("Login fails"), &json!(1)));

    let comment = bench.call(&founder, "comment_on_work_item", json!({"item": "app-1", "body": "why?"})).await.unwrap();
    let reply = json!({"item": "APP-1", "body": "because", "reply_to": comment["comment"]["comment"]});
    bench.call(&agent, "comment_on_work_item", reply).await.unwrap();
    let stale = json!({"item": "APP-1", "status": "done", "if_match": 7});
    assert_eq!(bench.refused(&agent, "update_work_item", stale).await, Class::StaleVersion);
    let done = json!({"item": "APP-1", "status": "done", "assignee": null, "if_match": 1});
    let done = bench.call(&agent, "update_work_item", done).await.unwrap();
    assert_eq!(
        (&done["item"]["status"], &done["item"]["assignee"], &done["version"]),
        (&json!("done"), &json!(null), &json!(2))
    );

    let whole = bench
        .call(&agent, "get_work_item", json!({"item": "APP-1", "include": ["comments", "history"]}))
        .await
        .unwrap();
    assert_eq!(whole["comments"][0]["author"], json!("operator:founder"));
    assert_eq!(whole["history"][0]["detail"], json!("status assignee"), "{whole}");
    let open = bench.call(&agent, "list_work_items", json!({"open_only": true})).await.unwrap();
    assert_eq!(open["items"], json!([]));
    for (label, count) in [("bug", 1), ("ug", 0)] {
        let labelled = bench.call(&agent, "list_work_items", json!({"label": label})).await.unwrap();
        assert_eq!(labelled["items"].as_array().unwrap().len(), count, "{label}");
    }
    bench.call(&agent, "update_work_item", json!({"item": "APP-1", "labels": ["ui"]})).await.unwrap();
    let labelled = bench.call(&agent, "list_work_items", json!({"label": "bug"})).await.unwrap();
    assert_eq!(labelled["items"], json!([]), "labels are taken off, too");
    let found = bench.call(&agent, "search_work_items", json!({"text": "login ph"})).await.unwrap();
    assert_eq!(found["count"], json!(0), "a beginning has three letters at least");
    let found = bench.call(&agent, "search_work_items", json!({"text": "phones log"})).await.unwrap();
    assert_eq!((&found["query"], &found["count"]), (&json!("phones log"), &json!(1)));

    for outcome in ["removed", "already_removed"] {
        let gone = bench.call(&founder, "remove_work_item", json!({"item": "APP-1"})).await.unwrap();
        assert_eq!((&gone["outcome"], &gone["removed"]), (&json!(outcome), &json!("APP-1")));
    }
    assert_eq!(
        bench.refused(&agent, "update_work_item", json!({"item": "APP-1", "title": "x"})).await,
        Class::Conflict
    );
    let trash = bench.call(&founder, "list_work_items", json!({"removed": true})).await.unwrap();
    assert_eq!(trash["items"][0]["item"], json!("APP-1"));
    let back = bench.call(&founder, "restore_work_item", json!({"item": "APP-1"})).await.unwrap();
    assert_eq!(back["outcome"], json!("restored"));
    assert_eq!(bench.call(&agent, "search_work_items", json!({"text": "login"})).await.unwrap()["count"], json!(1));
}

#[tokio::test]
async fn lists_go_on_where_they_ended() {
    let bench = bench("");
    let founder = operator("founder");
    for number in 0..5 {
        let arguments = json!({"project": "WORK", "title": format!("n{number}")});
        bench.call(&founder, "create_work_item", arguments).await.unwrap();
    }
    let (mut seen, mut cursor) = (Vec::new(), json!(null));
    loop {
        let page = bench.call(&founder, "list_work_items", json!({"limit": 2, "cursor": cursor})).await.unwrap();
        seen.extend(page["items"].as_array().unwrap().iter().map(|item| item["title"].clone()));
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen, ["n4", "n3", "n2", "n1", "n0"]);
}

#[tokio::test]
async fn a_closed_half_names_its_setting_and_the_other_goes_on() {
    let bench = bench("engine: { native: { pages: false } }\n");
    let refused = bench.call(&operator("founder"), "list_pages", json!({})).await.unwrap_err();
    assert_eq!(refused.class, Class::Unavailable);
    assert!(refused.message.contains("engine.native.pages"), "{refused}");
    bench.call(&operator("founder"), "list_projects", json!({})).await.unwrap();
    let offered: Vec<Vec<_>> = bench
        .native
        .sources()
        .iter()
        .map(|source| source.listing.iter().flat_map(|listing| &listing.tools))
        .map(|tools| tools.map(|tool| tool.raw_name.to_string()).collect())
        .collect();
    assert!(!offered[0].iter().any(|name| name == "list_pages"), "seats are not offered what is closed");
    assert!(offered[1].iter().any(|name| name == "list_pages"), "operators are told which setting closes it");
    let config =
        crate::config::load("mcp_servers: []\nengine: { native: { pages: false, tracker: false } }\n", &Source::Demo);
    let folder = tempfile::tempdir().unwrap();
    assert!(!Native::open(&config.unwrap().config, Store::new(folder.path())).has_surfaces());
}

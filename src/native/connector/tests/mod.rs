//! The connector's rules, case by case: the order of the checks, statuses and bodies, and what the tools do.

mod asked;
mod listed;
mod trail;

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Answer, Called, FILE, UNCONFIRMED, table};
use crate::config::model::{PolicyDecision, Source};
use crate::native::{Badge, Native};
use crate::store::Store;

const CONFIG: &str = "
name: Acme
roles: [ { name: Release }, { name: Ada, kind: human } ]
mcp_servers: []
engine: { autopilots: [ { id: nightly, seat: release, prompt: 'check the night' } ] }
operators:
  - { id: all, token: '${T}', scopes: [ 'issues:read', 'issues:write', 'comments:read', 'comments:write', 'dashboard:read', 'agents:write', 'autopilot:run' ] }
  - { id: none, token: '${T}' }
  - { id: web, token: '${T}', scopes: [ 'issues:read', 'issues:write', 'comments:write' ], projects: [ web ] }
  - { id: viewer, token: '${T}', scopes: [ 'issues:read', 'issues:write', 'comments:write', 'agents:write', 'autopilot:run' ], permission: viewer }
  - { id: member, token: '${T}', scopes: [ 'issues:read', 'issues:write', 'comments:write' ], permission: member }
";

struct Bench {
    connector: Arc<super::Connector>,
    native: Arc<Native>,
    folder: tempfile::TempDir,
}

fn bench() -> Bench {
    let config = crate::config::load(CONFIG, &Source::File("config.yaml".into())).unwrap().config;
    let folder = tempfile::tempdir().unwrap();
    let native = Native::open(&config, Store::new(folder.path()));
    Bench { connector: native.connector(), native, folder }
}

impl Bench {
    fn badge(&self, id: &str) -> Arc<Badge> {
        self.native.company().badge(id).unwrap().clone()
    }

    async fn call(&self, badge: &str, tool: &str, arguments: Value) -> Answer {
        self.raw(badge, tool, &arguments.to_string()).await
    }

    async fn raw(&self, badge: &str, tool: &str, arguments: &str) -> Answer {
        match self.under(PolicyDecision::Allow, badge, (tool, arguments)).await {
            Called::Over(answer) => answer,
            Called::Ask => panic!("{tool} asks under allow"),
        }
    }

    async fn under(&self, policy: PolicyDecision, badge: &str, (tool, arguments): (&str, &str)) -> Called {
        self.connector.call(&self.badge(badge), tool, arguments, policy).await.expect("a known tool")
    }

    async fn issue(&self, badge: &str, title: &str) -> String {
        let made = self.call(badge, "create_issue", json!({"title": title})).await;
        assert_eq!(made.status, 200, "{made:?}");
        made.body["issue"]["id"].as_str().unwrap().to_owned()
    }

    fn trail(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.path().join(FILE)).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn last(&self) -> (String, String, String) {
        let line = self.trail().pop().expect("a line");
        let text = |key: &str| line[key].as_str().unwrap().to_owned();
        (text("tool"), text("outcome"), text("reason"))
    }
}

fn recorded(tool: &str, outcome: &str, reason: &str) -> (String, String, String) {
    (tool.to_owned(), outcome.to_owned(), reason.to_owned())
}

/// Arguments with which a tool gets past its schema.
fn plausible(tool: &str, issue: &str) -> Value {
    match tool {
        "list_issues" | "dashboard_usage_daily" => json!({}),
        "create_issue" => json!({"title": "x"}),
        "comment_issue" => json!({"issue_id": issue, "body": "x"}),
        "assign_issue_to_agent" => json!({"issue_id": issue, "agent_id": "release"}),
        "trigger_autopilot" => json!({"autopilot_id": "nightly"}),
        "delete_issue" => json!({"issue_id": issue, "confirm": true}),
        "delete_comment" => json!({"comment_id": issue, "confirm": true}),
        _ => json!({"issue_id": issue}),
    }
}

#[tokio::test]
async fn no_scope_is_a_403_whatever_else_is_said() {
    let bench = bench();
    let issue = bench.issue("all", "x").await;
    for scoped in table::TOOLS {
        let answer = bench.call("none", scoped.tool.name, plausible(scoped.tool.name, &issue)).await;
        let text = format!("{} scope required", scoped.scope.as_str());
        assert_eq!((answer.status, &answer.body), (403, &json!({"error": text})), "{}", scoped.tool.name);
        assert_eq!(bench.last(), recorded(scoped.tool.name, "denied", "scope_missing"));
        let nonsense = bench.raw("none", scoped.tool.name, "no json").await;
        assert_eq!(nonsense.status, 403, "the scope comes first");
    }
    assert_eq!(bench.call("all", "get_issue", json!({"issue_id": issue})).await.status, 200, "it is still there");
}

#[tokio::test]
async fn what_destroys_needs_exactly_true() {
    let bench = bench();
    let issue = bench.issue("all", "x").await;
    let comment = bench.call("all", "comment_issue", json!({"issue_id": issue, "body": "b"})).await;
    let comment = comment.body["comment"]["id"].as_str().unwrap().to_owned();
    for (tool, key, id) in [("delete_issue", "issue_id", &issue), ("delete_comment", "comment_id", &comment)] {
        for confirm in [json!("true"), json!(1), json!(false), json!(null), json!([true]), json!({})] {
            let answer = bench.call("all", tool, json!({key: id, "confirm": confirm})).await;
            assert_eq!(answer, Answer { status: 400, body: json!({"error": UNCONFIRMED}) }, "{confirm}");
            assert_eq!(bench.last(), recorded(tool, "denied", "destructive_flag_missing"));
        }
        assert_eq!(bench.call("all", tool, json!({key: id})).await.status, 400);
        let unknown = bench.call("all", tool, json!({key: "nothing"})).await;
        assert_eq!(unknown.body, json!({"error": UNCONFIRMED}), "confirming comes before looking");
    }
    assert_eq!(UNCONFIRMED, "confirm: true required for destructive operations");
    assert_eq!(bench.call("all", "get_issue", json!({"issue_id": issue})).await.status, 200);
}

#[tokio::test]
async fn a_stray_confirm_means_nothing_where_nothing_is_destroyed() {
    let bench = bench();
    let issue = bench.issue("all", "x").await;
    for (tool, arguments) in [
        ("get_issue", json!({"issue_id": issue, "confirm": "what"})),
        ("list_issues", json!({"confirm": false})),
        ("update_issue", json!({"issue_id": issue, "title": "y", "confirm": true})),
    ] {
        assert_eq!(bench.call("all", tool, arguments).await.status, 200, "{tool}");
    }
}

#[tokio::test]
async fn another_workspace_and_nothing_at_all_look_alike() {
    let bench = bench();
    let theirs = bench.issue("all", "theirs").await;
    let own = bench.issue("web", "own").await;
    assert_eq!(
        bench.call("web", "get_issue", json!({"issue_id": own})).await.body["issue"]["project_id"],
        json!("WEB")
    );
    let mut answers = Vec::new();
    for id in
        [theirs.as_str(), "WORK-1", "WORK-99", "WEB-99", "00000000-0000-4000-8000-000000000000", "'; --", "-", "é-1"]
    {
        for (tool, arguments) in [
            ("get_issue", json!({"issue_id": id})),
            ("update_issue", json!({"issue_id": id, "title": "mine now"})),
            ("comment_issue", json!({"issue_id": id, "body": "b"})),
            ("delete_issue", json!({"issue_id": id, "confirm": true})),
        ] {
            answers.push(bench.call("web", tool, arguments).await);
            assert_eq!(bench.last(), recorded(tool, "denied", "not_found"));
        }
    }
    assert_eq!(answers[0], Answer { status: 403, body: json!({"error": "there is no such issue"}) });
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    for project in ["WORK", "APP"] {
        let answer = bench.call("web", "create_issue", json!({"title": "x", "project_id": project})).await;
        assert_eq!(answer.status, 403, "{project}");
    }
    let listed = bench.call("web", "list_issues", json!({})).await.body;
    assert_eq!(listed["issues"].as_array().unwrap().len(), 1, "{listed}");
    let unchanged = bench.call("all", "get_issue", json!({"issue_id": theirs})).await.body;
    assert_eq!(unchanged["issue"]["title"], json!("theirs"));
}

#[tokio::test]
async fn a_viewer_only_reads_and_a_member_deletes_only_its_own() {
    let bench = bench();
    let theirs = bench.issue("all", "theirs").await;
    for (tool, arguments) in [
        ("create_issue", json!({"title": "x"})),
        ("update_issue", json!({"issue_id": theirs, "title": "x"})),
        ("comment_issue", json!({"issue_id": theirs, "body": "x"})),
        ("assign_issue_to_agent", json!({"issue_id": theirs, "agent_id": "release"})),
        ("trigger_autopilot", json!({"autopilot_id": "nightly"})),
        ("delete_issue", json!({"issue_id": theirs, "confirm": true})),
    ] {
        let answer = bench.call("viewer", tool, arguments).await;
        assert_eq!((answer.status, bench.last()), (403, recorded(tool, "denied", "permission_denied")), "{answer:?}");
    }
    let missing = bench.call("viewer", "delete_issue", json!({"issue_id": "WORK-99", "confirm": true})).await;
    assert_eq!((missing.status, bench.last().2), (403, "not_found".to_owned()), "existence comes before permission");
    assert_eq!(bench.call("viewer", "get_issue", json!({"issue_id": theirs})).await.status, 200);

    let own = bench.issue("member", "own").await;
    let refused = bench.call("member", "delete_issue", json!({"issue_id": theirs, "confirm": true})).await;
    assert_eq!((refused.status, bench.last().2), (403, "permission_denied".to_owned()));
    assert_eq!(bench.call("member", "update_issue", json!({"issue_id": theirs, "title": "y"})).await.status, 200);
    assert_eq!(bench.call("member", "delete_issue", json!({"issue_id": own, "confirm": true})).await.status, 200);
    assert_eq!(bench.call("all", "delete_issue", json!({"issue_id": theirs, "confirm": true})).await.status, 200);
}

#[tokio::test]
async fn bad_arguments_are_400_and_say_what_is_wrong() {
    let bench = bench();
    let issue = bench.issue("all", "x").await;
    for (tool, arguments, problem) in [
        ("create_issue", r#"{"title":"a","title":"b"}"#.to_owned(), "stands twice"),
        ("create_issue", "[1]".to_owned(), "not a JSON object"),
        ("create_issue", "{".to_owned(), "not JSON"),
        ("create_issue", "{}".to_owned(), "title is missing"),
        ("create_issue", r#"{"title":null}"#.to_owned(), "title is missing"),
        ("create_issue", r#"{"title":"  "}"#.to_owned(), "title is blank"),
        ("create_issue", r#"{"title":7}"#.to_owned(), "title is not a text"),
        ("create_issue", r#"{"title":"a\u0000b"}"#.to_owned(), "NUL"),
        ("create_issue", json!({"title": "x".repeat(301)}).to_string(), "longer than 300"),
        ("create_issue", r#"{"title":"a","priority":"normal"}"#.to_owned(), "priority is not one of no_priority"),
        ("create_issue", r#"{"title":"a","due_date":"2026-02-30"}"#.to_owned(), "not a day"),
        ("create_issue", r#"{"title":"a","author":"somebody else"}"#.to_owned(), "takes no \"author\""),
        ("list_issues", r#"{"limit":0}"#.to_owned(), "limit is not a whole number"),
        ("list_issues", r#"{"limit":1.5}"#.to_owned(), "limit is not a whole number"),
        ("update_issue", json!({"issue_id": issue, "project_id": "WEB"}).to_string(), "does not move"),
        ("create_issue", format!("{}1{}", "[".repeat(5000), "]".repeat(5000)), "deeper"),
    ] {
        let answer = bench.raw("all", tool, &arguments).await;
        let text = answer.body["error"].as_str().unwrap();
        assert!(answer.status == 400 && text.contains(problem), "{arguments}: {answer:?}");
        assert_eq!(bench.last(), recorded(tool, "error", "invalid_arguments"));
    }
}

#[tokio::test]
async fn repeating_what_is_idempotent_has_no_further_effect_and_creating_twice_makes_two() {
    let bench = bench();
    let issue = bench.issue("all", "x").await;
    assert_ne!(issue, bench.issue("all", "x").await);
    for (tool, arguments) in [
        ("update_issue", json!({"issue_id": issue, "title": "y", "due_date": "2026-12-24"})),
        ("assign_issue_to_agent", json!({"issue_id": issue, "agent_id": "release"})),
        ("delete_issue", json!({"issue_id": issue, "confirm": true})),
    ] {
        let first = bench.call("all", tool, arguments.clone()).await;
        let second = bench.call("all", tool, arguments).await;
        assert_eq!((first.status, &first), (200, &second), "{tool}");
    }
    assert_eq!(bench.call("all", "get_issue", json!({"issue_id": issue})).await.status, 403, "it is gone");
    let comment = |body: &str| json!({"issue_id": "WORK-2", "body": body});
    let one = bench.call("all", "comment_issue", comment("a")).await.body["comment"]["id"].clone();
    let two = bench.call("all", "comment_issue", comment("a")).await.body["comment"]["id"].clone();
    assert_ne!(one, two);
    for _ in 0..2 {
        let answer = bench.call("all", "delete_comment", json!({"comment_id": one, "confirm": true})).await;
        assert_eq!(answer, Answer { status: 200, body: json!({"comment_id": one, "deleted": true}) });
    }
    let left = bench.call("all", "list_comments", json!({"issue_id": "WORK-2"})).await.body;
    assert_eq!(left["comments"].as_array().unwrap().len(), 1, "{left}");
}

#[tokio::test]
async fn the_rows_are_the_trackers_and_the_figures_count_them() {
    let bench = bench();
    let parent = bench.issue("all", "above").await;
    let made = bench
        .call(
            "all",
            "create_issue",
            json!({
                "title": "below", "description": "text", "priority": "medium", "parent_issue_id": parent,
                "assignee_type": "user", "assignee_id": "ada", "due_date": "2026-12-24", "status": "in_progress",
            }),
        )
        .await;
    let issue = &made.body["issue"];
    assert_eq!(
        (&issue["key"], &issue["priority"], &issue["assignee_type"]),
        (&json!("WORK-2"), &json!("medium"), &json!("user"))
    );
    assert_eq!((&issue["parent_issue_id"], &issue["created_by"]), (&json!(parent), &json!("operator:all")));
    let wrong =
        bench.call("all", "create_issue", json!({"title": "x", "assignee_type": "agent", "assignee_id": "ada"})).await;
    assert_eq!(wrong.status, 403);
    let cycle = bench.call("all", "update_issue", json!({"issue_id": parent, "parent_issue_id": issue["id"]})).await;
    assert_eq!(cycle.status, 400, "nothing stands below itself: {cycle:?}");
    let urgent = bench.call("all", "list_issues", json!({"priority": "medium", "assignee": "ada"})).await.body;
    assert_eq!(urgent["issues"].as_array().unwrap().len(), 1);
    bench.call("all", "delete_issue", json!({"issue_id": parent, "confirm": true})).await;
    let days = bench.call("all", "dashboard_usage_daily", json!({"days": 7})).await.body;
    let today = days["days"].as_array().unwrap().last().unwrap();
    assert_eq!((&today["issues_created"], &today["issues_deleted"]), (&json!(2), &json!(1)), "{days}");

    let triggered = bench.call("all", "trigger_autopilot", json!({"autopilot_id": "nightly"})).await;
    assert_eq!(triggered.body["agent_id"], json!("release"));
    let inbox = bench.native.store.read(|store| store.inbox("release", None, None, 10)).await.unwrap();
    assert_eq!((inbox.len(), &*inbox[0].body), (1, "check the night"));
    assert_eq!(bench.call("all", "trigger_autopilot", json!({"autopilot_id": "x"})).await.status, 403);
}

#[tokio::test]
async fn comments_are_listed_to_the_last() {
    let bench = bench();
    let issue = bench.issue("all", "x").await;
    let by = crate::store::Signed {
        who: crate::store::items::Who::new("seat", "release"),
        at: crate::clock::Timestamp::default(),
    };
    let comment = move |store: &crate::store::WriteStore<'_>| {
        let item = store.item("WORK-1")?.unwrap();
        (0..203).try_for_each(|n| store.add_comment(&item, &format!("{n}"), None, &by).map(|_| ()))
    };
    bench.native.store.write(comment).await.unwrap();
    let first = bench.call("all", "list_comments", json!({"issue_id": issue})).await.body;
    let rest = json!({"issue_id": issue, "cursor": first["next_cursor"]});
    let rest = bench.call("all", "list_comments", rest).await.body;
    let count = |page: &Value| page["comments"].as_array().unwrap().len();
    assert_eq!((count(&first), count(&rest), &rest["next_cursor"]), (200, 3, &json!(null)));
}

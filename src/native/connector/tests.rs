//! The connector's rules, case by case: the table of tools, the order of the checks, statuses and bodies, and the trail.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Answer, Called, FILE, UNCONFIRMED, Unasked, listing, table};
use crate::config::model::{PolicyDecision, Source};
use crate::native::tool::Handler;
use crate::native::{Badge, Native};
use crate::store::Store;
use crate::tool::annotations::Hint;

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

#[test]
fn the_tools_are_classified_as_they_are_documented() {
    let hints = |scoped: &table::Scoped| {
        let ticked = scoped.tool.hints.0.map(|hint| hint == Hint::Yes);
        (scoped.tool.name, ticked, scoped.scope.as_str())
    };
    let table: Vec<_> = table::TOOLS.iter().map(hints).collect();
    assert_eq!(
        table,
        [
            ("list_issues", [true, false, true, false], "issues:read"),
            ("get_issue", [true, false, true, false], "issues:read"),
            ("list_comments", [true, false, true, false], "comments:read"),
            ("dashboard_usage_daily", [true, false, true, false], "dashboard:read"),
            ("create_issue", [false, false, false, false], "issues:write"),
            ("update_issue", [false, false, true, false], "issues:write"),
            ("comment_issue", [false, false, false, false], "comments:write"),
            ("assign_issue_to_agent", [false, false, true, false], "agents:write"),
            ("trigger_autopilot", [false, false, false, true], "autopilot:run"),
            ("delete_issue", [false, true, true, false], "issues:write"),
            ("delete_comment", [false, true, true, false], "comments:write"),
        ]
    );
}

#[test]
fn only_ticked_hints_are_advertised_and_confirm_is_described_not_required() {
    for tool in listing() {
        let hints = tool.get("annotations").and_then(Value::as_object).cloned().unwrap_or_default();
        assert!(hints.values().all(|hint| *hint == json!(true)), "{tool}");
        let destructive = hints.contains_key("destructiveHint");
        let confirm = &tool["inputSchema"]["properties"]["confirm"];
        assert_eq!(confirm["type"] == json!("boolean") && confirm["description"].is_string(), destructive, "{tool}");
        assert!(!tool["inputSchema"]["required"].as_array().unwrap().contains(&json!("confirm")), "{tool}");
    }
    let plain = listing().into_iter().find(|tool| tool["name"] == json!("create_issue")).unwrap();
    assert_eq!(plain.get("annotations"), None, "nothing is said where nothing is ticked");
}

#[test]
fn a_read_only_tool_has_a_handler_that_cannot_write_and_destroys_nothing() {
    for scoped in table::TOOLS {
        let reads = scoped.tool.annotations().read_only == Hint::Yes;
        assert_eq!(reads, matches!(scoped.tool.handler, Handler::Read(_)), "{}", scoped.tool.name);
        assert!(!(reads && scoped.tool.is_destructive()), "{}", scoped.tool.name);
        assert!(!scoped.scope.as_str().is_empty(), "{}", scoped.tool.name);
    }
}

#[test]
fn what_reads_the_store_holds_no_statement_that_writes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store");
    let mut blocks = 0;
    for folder in [folder.clone(), folder.join("memory")] {
        for file in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let Some("rs") = file.extension().and_then(|extension| extension.to_str()) else { continue };
            let text = std::fs::read_to_string(&file).unwrap();
            let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            // Every method that a reading handler can call stands in such a block, up to the bracket at its beginning.
            for block in code.join("\n").split("\nimpl ReadStore<'_> {").skip(1) {
                let block = block.split("\n}").next().unwrap();
                blocks += 1;
                for word in ["INSERT", "UPDATE ", "DELETE", "REPLACE", "CREATE ", "DROP ", "execute(", "execute_batch"]
                {
                    assert!(!block.contains(word), "{} reads with {word}", file.display());
                }
            }
        }
    }
    assert!(blocks > 10, "{blocks}: the store is laid out in another way");
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

#[tokio::test]
async fn every_invocation_leaves_one_line_of_exactly_five_fields() {
    let bench = bench();
    assert_eq!(bench.connector.call(&bench.badge("all"), "no\u{1b}[2Jsuch", "{}", PolicyDecision::Allow).await, None);
    bench.issue("web", "secret title").await;
    bench.call("web", "list_issues", json!({})).await;
    bench.call("web", "trigger_autopilot", json!({})).await;
    bench.connector.turned_away("list_issues").await;
    bench.connector.turned_away("nothing of ours").await;
    let trail = bench.trail();
    let outcomes: Vec<_> = trail.iter().map(|line| (line["outcome"].clone(), line["reason"].clone())).collect();
    assert_eq!(
        outcomes,
        [
            (json!("denied"), json!("unknown_tool")),
            (json!("success"), json!("")),
            (json!("success"), json!("")),
            (json!("denied"), json!("scope_missing")),
            (json!("denied"), json!("token_invalid")),
        ]
    );
    for line in &trail {
        let keys: Vec<_> = line.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["tool", "outcome", "reason", "scopes_provided", "timestamp"]);
        let at = line["timestamp"].as_str().unwrap();
        assert!(at.len() == 20 && at.ends_with('Z'), "{at}");
    }
    assert_eq!(trail[1]["scopes_provided"], json!(["issues:read", "issues:write", "comments:write"]));
    let text = std::fs::read_to_string(bench.folder.path().join(FILE)).unwrap();
    assert!(!text.contains("secret title") && !text.contains('\u{1b}'), "{text}");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(bench.folder.path().join(FILE)).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    for _ in 0..50 {
        bench.connector.turned_away("list_issues").await;
    }
    assert!(bench.trail().len() < 30, "floods are counted, not listed");
}

#[tokio::test]
async fn what_cannot_be_recorded_does_not_happen() {
    let bench = bench();
    bench.issue("all", "before").await;
    let file = bench.folder.path().join(FILE);
    std::fs::rename(&file, bench.folder.path().join("aside")).unwrap();
    std::fs::create_dir(&file).unwrap();
    for (tool, arguments) in [("create_issue", json!({"title": "lost"})), ("list_issues", json!({}))] {
        let answer = bench.call("all", tool, arguments).await;
        assert!(answer.status == 503 && answer.body.to_string().contains("audit"), "{answer:?}");
    }
    std::fs::remove_dir(&file).unwrap();
    let listed = bench.call("all", "list_issues", json!({})).await.body;
    assert_eq!(listed["issues"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(bench.issue("all", "after").await.len(), 36);
    assert_eq!(
        bench.call("all", "get_issue", json!({"issue_id": "WORK-2"})).await.body["issue"]["title"],
        json!("after")
    );
}

#[tokio::test]
async fn the_setting_closes_the_connector() {
    let bench = bench();
    for tool in ["create_issue", "list_issues"] {
        let Called::Over(answer) = bench.under(PolicyDecision::Deny, "all", (tool, r#"{"title":"x"}"#)).await else {
            panic!("nobody is asked about what is closed")
        };
        assert_eq!((answer.status, bench.last()), (403, recorded(tool, "denied", "policy")));
    }
    assert_eq!(bench.trail().len(), 2);
}

#[tokio::test]
async fn under_ask_what_passes_every_check_is_asked_about_and_nothing_is_kept_before() {
    let bench = bench();
    let issue = bench.issue("all", "x").await;
    let lines = bench.trail().len();
    for policy in [PolicyDecision::Ask, PolicyDecision::Type] {
        for scoped in table::TOOLS {
            let name = scoped.tool.name;
            let arguments = match name {
                "delete_comment" => continue,
                _ => plausible(name, &issue).to_string(),
            };
            let called = bench.under(policy, "all", (name, &arguments)).await;
            let reads = matches!(scoped.tool.handler, Handler::Read(_));
            assert_eq!(called == Called::Ask, !reads, "{name}: {called:?}");
        }
    }
    let reads = table::TOOLS.iter().filter(|scoped| matches!(scoped.tool.handler, Handler::Read(_))).count();
    assert_eq!(bench.trail().len(), lines + 2 * reads, "what is asked about has no line yet");
    let listed = bench.call("all", "list_issues", json!({})).await.body;
    assert_eq!(listed["issues"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed["issues"][0]["version"], json!(1));
    assert_eq!(bench.native.store.read(|store| store.inbox("release", None, None, 10)).await.unwrap(), []);

    // What the checks refuse is refused before anybody is asked.
    for (badge, tool, arguments, expected) in [
        ("none", "create_issue", json!({"title": "x"}), (403, "scope_missing")),
        ("all", "delete_issue", json!({"issue_id": issue}), (400, "destructive_flag_missing")),
        ("all", "delete_issue", json!({"issue_id": "WORK-99", "confirm": true}), (403, "not_found")),
        ("viewer", "update_issue", json!({"issue_id": issue, "title": "y"}), (403, "permission_denied")),
        ("member", "delete_issue", json!({"issue_id": issue, "confirm": true}), (403, "permission_denied")),
        ("all", "create_issue", json!({"title": 7}), (400, "invalid_arguments")),
    ] {
        let arguments = arguments.to_string();
        let Called::Over(answer) = bench.under(PolicyDecision::Ask, badge, (tool, &arguments)).await else {
            panic!("{badge} {tool} {arguments}")
        };
        assert_eq!((answer.status, bench.last().2.as_str()), expected, "{badge} {tool}");
    }

    let delete = json!({"issue_id": issue, "confirm": true}).to_string();
    let done = bench.connector.permitted("all", "delete_issue", &delete).await;
    assert_eq!((done.status, bench.last()), (200, recorded("delete_issue", "success", "")));
    let late = json!({"issue_id": issue, "title": "y"}).to_string();
    let late = bench.connector.permitted("all", "update_issue", &late).await;
    assert_eq!((late.status, bench.last().2.as_str()), (403, "not_found"), "everything is checked again");
    for (why, expected) in [
        (Unasked::Denied, (403, "approval_denied")),
        (Unasked::Expired, (403, "approval_expired")),
        (Unasked::Withdrawn, (403, "approval_withdrawn")),
        (Unasked::Policy, (403, "policy")),
        (Unasked::Waits, (202, "approval_pending")),
    ] {
        let answer = bench.connector.not_run(&bench.badge("all"), "create_issue", why, "because").await;
        assert_eq!((answer.status, bench.last()), (expected.0, recorded("create_issue", "denied", expected.1)));
        assert_eq!(answer.body, json!({"error": "because"}));
    }
}

#[test]
fn an_answer_comes_back_as_it_went() {
    for answer in [
        Answer { status: 200, body: json!({"issue": {"status": "todo"}}) },
        Answer { status: 403, body: json!({"error": "no"}) },
    ] {
        let result: Value = serde_json::from_str(answer.as_result().get()).unwrap();
        let back = Answer::of_result(result.get("structuredContent"), result["isError"] == json!(true));
        assert_eq!(back, answer);
        assert_eq!(result["content"][0]["text"], json!(answer.body.to_string()), "the text is the body alone");
    }
}

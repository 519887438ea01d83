//! The trail: a line for each invocation, and nothing without its line.

use serde_json::json;

use super::super::FILE;
use super::bench;
use crate::config::model::PolicyDecision;

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

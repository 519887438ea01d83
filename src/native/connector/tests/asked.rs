//! The connector under a policy that closes it or asks, and answers on their way through the pipeline.

use serde_json::{Value, json};

use super::super::{Answer, Called, Unasked, table};
use super::{bench, plausible, recorded};
use crate::config::model::PolicyDecision;
use crate::native::tool::Handler;

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

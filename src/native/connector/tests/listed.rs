//! The table of tools, and that what reads cannot write.

use std::path::Path;

use serde_json::{Value, json};

use super::super::{listing, table};
use crate::native::tool::Handler;
use crate::tool::annotations::Hint;

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

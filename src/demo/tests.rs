//! The demo servers over their lines of JSON.

use std::fs;

use serde_json::{Value, json};

use super::protocol::{Demo, serve};
use super::*;

/// What a server writes for these lines of input.
fn talk(demo: &mut dyn Demo, input: &[Value]) -> Vec<Value> {
    let lines: Vec<String> = input.iter().map(ToString::to_string).collect();
    talk_raw(demo, &format!("{}\n", lines.join("\n")))
}

fn talk_raw(demo: &mut dyn Demo, input: &str) -> Vec<Value> {
    let mut output = Vec::new();
    serve(demo, input.as_bytes(), &mut output).unwrap();
    let output = String::from_utf8(output).unwrap();
    output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn request(method: &str, params: impl Into<Value>) -> Value {
    let params = params.into();
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

fn meta(version: &str) -> Value {
    json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    }})
}

/// The text of a call's result, and whether it is the tool's own error.
fn call(demo: &mut dyn Demo, tool: &str, arguments: impl Into<Value>) -> (String, bool) {
    let reply = talk(demo, &[request("tools/call", json!({"name": tool, "arguments": arguments.into()}))]).remove(0);
    let result = &reply["result"];
    (result["content"][0]["text"].as_str().unwrap().to_owned(), result["isError"].as_bool().unwrap())
}

fn notes() -> (tempfile::TempDir, notes::Notes) {
    let dir = tempfile::tempdir().unwrap();
    let notes = notes::Notes::open(dir.path()).unwrap();
    (dir, notes)
}

#[test]
fn both_eras_are_spoken_by_one_and_the_older_one_by_the_others() {
    let (_keep, mut notes) = notes();
    let reply = talk(&mut notes, &[request("server/discover", meta("2026-07-28"))]).remove(0);
    assert_eq!(reply["result"]["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(reply["result"]["resultType"], "complete");
    assert_eq!(reply["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "crewlet-demo-notes");
    let list = talk(&mut notes, &[request("tools/list", meta("2026-07-28"))]).remove(0);
    assert_eq!(list["result"]["tools"].as_array().unwrap().len(), 7);
    assert_eq!(list["result"]["resultType"], "complete");
    let future = talk(&mut notes, &[request("tools/list", meta("2030-01-01"))]).remove(0);
    assert_eq!(future["error"]["code"], -32022);
    assert_eq!(future["error"]["data"]["supported"], json!(["2026-07-28"]));
    for params in [json!({"protocolVersion": "2025-06-18"}), json!({"protocolVersion": "2026-07-28"}), json!({})] {
        let reply = talk(&mut notes, &[request("initialize", params.clone())]).remove(0);
        let expected = if params["protocolVersion"] == "2025-06-18" { "2025-06-18" } else { "2025-11-25" };
        assert_eq!(reply["result"]["protocolVersion"], expected);
        assert_eq!(reply["result"].get("resultType"), None);
    }
    let mut weather = weather::Weather::default();
    let reply = talk(&mut weather, &[request("server/discover", meta("2026-07-28"))]).remove(0);
    assert_eq!(reply["error"]["code"], -32601);
    assert_eq!(talk(&mut weather, &[request("ping", json!({}))]).remove(0)["result"], json!({}));
}

#[test]
fn bad_messages_get_errors_and_notifications_nothing() {
    let mut weather = weather::Weather::default();
    let input = "nonsense\n\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n{\"a\":1}\n\
                 {\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"nope\"}\n";
    let replies = talk_raw(&mut weather, input);
    let codes: Vec<_> = replies.iter().map(|reply| (reply["id"].clone(), reply["error"]["code"].clone())).collect();
    assert_eq!(codes, [(json!(null), json!(-32700)), (json!(null), json!(-32600)), (json!("x"), json!(-32601))]);
    for params in [json!({"name": "nope"}), json!({}), json!({"name": "forecast", "arguments": [1]})] {
        let reply = talk(&mut weather, &[request("tools/call", params)]).remove(0);
        assert_eq!(reply["error"]["code"], -32602);
    }
}

#[test]
fn notes_are_real_files() {
    let (dir, mut notes) = notes();
    let file = dir.path().join("notes/plan.md");
    assert!(!call(&mut notes, "write_note", json!({"name": "plan", "text": "one\n"})).1);
    assert!(!call(&mut notes, "append_note", json!({"name": "plan", "line": "Two"})).1);
    assert_eq!(fs::read_to_string(&file).unwrap(), "one\nTwo\n");
    assert_eq!(call(&mut notes, "read_note", json!({"name": "plan"})), ("one\nTwo\n".to_owned(), false));
    assert_eq!(call(&mut notes, "search_notes", json!({"text": "two"})), ("plan:2: Two".to_owned(), false));
    assert_eq!(call(&mut notes, "list_notes", json!({})), ("plan\nshopping\nwelcome".to_owned(), false));
    assert!(call(&mut notes, "write_note", json!({"name": "plan", "text": "x"})).1, "nothing is overwritten");
    assert_eq!(fs::read_to_string(&file).unwrap(), "one\nTwo\n");
    for arguments in [json!({"name": "plan"}), json!({"name": "plan", "confirm": "true"})] {
        let (said, failed) = call(&mut notes, "delete_note", arguments);
        assert!(failed && said.contains("confirm: true is required"), "{said}");
        assert!(file.exists());
    }
    assert!(!call(&mut notes, "delete_note", json!({"name": "plan", "confirm": true})).1);
    assert!(!file.exists());
    // Opened again, nothing that was deleted comes back.
    call(&mut notes, "delete_note", json!({"name": "welcome", "confirm": true}));
    let mut again = notes::Notes::open(dir.path()).unwrap();
    assert_eq!(call(&mut again, "list_notes", json!({})).0, "shopping");
}

#[test]
fn a_note_is_dictated_by_the_person_or_not_at_all() {
    let (dir, mut notes) = notes();
    let with = |mut params: Value, more: Value| {
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        request("tools/call", params)
    };
    let mut asked = meta("2026-07-28");
    asked["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {}});
    let tool = json!({"name": "dictate_note", "arguments": {}});
    let alone = talk(&mut notes, &[with(meta("2026-07-28"), tool.clone())]).remove(0);
    assert_eq!(alone["result"]["isError"], true, "nobody to ask: {alone}");
    let first = talk(&mut notes, &[with(asked.clone(), tool.clone())]).remove(0);
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    let question = &first["result"]["inputRequests"]["form"]["params"];
    crate::tool::elicit::read(&question.to_string(), &crate::secret::Redactor::default()).unwrap();
    let mut say = |said: Value| {
        let mut params = tool.clone();
        params["inputResponses"] = json!({"form": said});
        talk(&mut notes, &[with(asked.clone(), params)]).remove(0)
    };
    assert_eq!(say(json!({"action": "decline"}))["result"]["isError"], true);
    let content = json!({"name": "idea", "text": "tea", "kind": "list", "urgent": true});
    let written = say(json!({"action": "accept", "content": content}));
    assert_eq!(written["result"]["resultType"], "complete", "{written}");
    assert_eq!(fs::read_to_string(dir.path().join("notes/idea.md")).unwrap(), "- tea (urgent)\n");
}

#[test]
fn no_note_lies_outside_the_folder() {
    let (dir, mut notes) = notes();
    let secret = dir.path().join("secret.md");
    fs::write(&secret, "secret").unwrap();
    std::os::unix::fs::symlink(&secret, dir.path().join("notes/link.md")).unwrap();
    for name in ["../secret", "/etc/passwd", "a/../../secret", "..", ".", "", "link", "a\0b", "welcome.md", "é"] {
        for tool in ["read_note", "append_note", "delete_note", "write_note"] {
            let arguments = json!({"name": name, "line": "x", "text": "x", "confirm": true});
            let (said, failed) = call(&mut notes, tool, arguments);
            assert!(failed, "{tool} {name:?}: {said}");
        }
    }
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
    assert!(!call(&mut notes, "search_notes", json!({"text": "secret"})).0.contains("link"));
}

#[test]
fn stock_is_changed_in_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let mut shop = inventory::Inventory::open(dir.path(), Some("Corner Shop".to_owned())).unwrap();
    assert_eq!(call(&mut shop, "set_stock", json!({"item": "mug", "count": 2})), ("now 2 of mug".to_owned(), false));
    assert!(!call(&mut shop, "remove_item", json!({"item": "notebook"})).1);
    assert!(call(&mut shop, "remove_item", json!({"item": "notebook"})).1);
    for count in [json!(-1), json!(1.5), json!("2"), json!(null)] {
        assert!(call(&mut shop, "set_stock", json!({"item": "mug", "count": count})).1);
    }
    let mut again = inventory::Inventory::open(dir.path(), Some("Corner Shop".to_owned())).unwrap();
    assert_eq!(call(&mut again, "list_items", json!({})).0, "Corner Shop\n    4  desk lamp\n    2  mug");
    assert!(shop.tools().iter().all(|tool| tool.get("annotations").is_none()));
}

#[test]
fn weather_is_made_up_and_its_hints_are_odd() {
    let mut weather = weather::Weather::default();
    let first = call(&mut weather, "forecast", json!({"city": "Oslo"}));
    assert!(first.0.starts_with("Oslo: ") && first.0.ends_with("(made up)"));
    assert_eq!(first, call(&mut weather, "forecast", json!({"city": "Oslo"})));
    call(&mut weather, "report_observation", json!({"station": "roof", "celsius": 3.5}));
    assert_eq!(call(&mut weather, "observations", json!({})).0, "roof: 3.5 °C");
    assert_eq!(call(&mut weather, "reset_stations", json!({})).0, "forgot 1 observation(s)");
    let hints: Vec<_> = weather.tools().iter().map(|tool| tool.get("annotations").cloned()).collect();
    let contradictory = Some(json!({"readOnlyHint": true, "destructiveHint": true}));
    assert_eq!(hints, [None, None, Some(json!({"readOnlyHint": "true"})), contradictory]);
}

#[test]
fn the_broken_server_names_what_is_missing_and_can_be_mended() {
    let mut stderr = Vec::new();
    assert!(broken::start(None, &mut stderr).unwrap().is_none());
    assert!(String::from_utf8(stderr).unwrap().contains("LEDGER_API_TOKEN is not set"));
    let mut ledger = broken::start(Some("x"), &mut Vec::new()).unwrap().unwrap();
    assert_eq!(call(&mut ledger, "balance", json!({})), ("42.00".to_owned(), false));
}

#[test]
fn every_tool_has_an_object_schema_and_a_description() {
    let (_keep, notes) = notes();
    let dir = tempfile::tempdir().unwrap();
    let shop = inventory::Inventory::open(dir.path(), Some("Corner Shop".to_owned())).unwrap();
    let demos: [&dyn Demo; 4] = [&notes, &shop, &weather::Weather::default(), &broken::Ledger];
    for tool in demos.iter().flat_map(|demo| demo.tools()) {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert!(tool["description"].as_str().is_some_and(|text| !text.is_empty()), "{tool}");
    }
}

#[test]
fn an_unknown_name_and_a_folder_that_is_a_file_are_said() {
    let error = run("nope\n", None).unwrap_err().to_string();
    assert_eq!(error, "there is no demo server \"nope\\n\"; there are notes, inventory, weather, broken, chatty");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let error = run("notes", Some(file)).unwrap_err().to_string();
    assert!(error.contains("the demo folder") && error.contains("cannot be used"), "{error}");
}

#[test]
fn the_example_configuration_is_clean_and_fits_the_servers() {
    let loaded = crate::config::load(crate::config::DEMO, &crate::config::model::Source::Demo);
    let loaded = loaded.unwrap_or_else(|problems| panic!("{}", crate::config::diagnostic::render(&problems)));
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let shared = loaded.config.servers.iter().filter(|server| server.shared);
    let names: Vec<_> = shared.map(|server| server.name.as_str().to_owned()).collect();
    assert_eq!(names, NAMES);
    let seats: Vec<_> = loaded.config.org.agents().map(|seat| seat.connection(&"till".into()).to_string()).collect();
    assert_eq!(seats, ["till::Clerk", "till::Buyer", "till::Writer"]);
    assert!(loaded.config.org.agents().all(|seat| seat.credentials_for(&"till".into()).is_some()));
    let overridden = |server: &str| -> Vec<String> {
        let server = loaded.config.servers.iter().find(|declared| declared.name.as_str() == server).unwrap();
        server.tool_annotations.iter().map(|block| block.tool.to_string()).collect()
    };
    let listed: Vec<_> = weather::Weather::default().tools().into_iter().map(|tool| tool["name"].clone()).collect();
    assert!(overridden("weather").iter().all(|tool| listed.contains(&json!(tool))), "a key that matches no tool");
}

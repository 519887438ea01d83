//! Work items and projects beyond the life of one: what each tool refuses, by class, and what comes back.

use serde_json::{Value, json};

use super::{bench, keys, operator, seat};
use crate::engine::snapshot::Caller;
use crate::native::request::Class;
use crate::native::table::{all, named};
use crate::native::tool::Audience;
use crate::tool::annotations::Hint::{self, No, Unknown, Yes};

#[test]
fn every_tool_has_the_hints_delivery_and_audience_that_are_documented() {
    let reads: [Hint; 4] = [Yes, Unknown, Yes, Unknown];
    let (adds, overwrites, sets) = ([No, No, Unknown, Yes], [No, Yes, Unknown, Yes], [No, No, Yes, Yes]);
    let own = [No, No, Yes, No];
    let table = [
        ("list_work_items", reads, None, true),
        ("get_work_item", reads, None, true),
        ("search_work_items", reads, None, true),
        ("get_work_catalogue", reads, None, true),
        ("list_projects", reads, None, true),
        ("describe_project", reads, None, true),
        ("task_activity", reads, None, true),
        ("my_work", reads, None, true),
        ("create_work_item", adds, Some("tracker"), true),
        ("update_work_item", overwrites, Some("tracker"), true),
        ("comment_on_work_item", adds, Some("tracker"), true),
        ("merge_work_item", adds, Some("tracker"), true),
        ("write_project", overwrites, None, true),
        ("remove_work_item", [No, Yes, Yes, Yes], None, false),
        ("restore_work_item", sets, None, false),
        ("move_work_item", adds, None, false),
        ("list_work_views", reads, None, false),
        ("save_work_view", overwrites, None, false),
        ("write_work_catalogue", overwrites, None, false),
        ("get_person", reads, None, false),
        ("set_priorities", sets, None, false),
        ("set_pins", own, None, false),
        ("work_inbox", reads, None, false),
        ("mark_inbox", own, None, false),
        ("list_pages", reads, None, true),
        ("get_page", reads, None, true),
        ("search_knowledge", reads, None, true),
        ("write_page", adds, Some("pages"), true),
        ("save_page", overwrites, Some("pages"), true),
        ("comment_on_page", adds, Some("pages"), true),
    ];
    for (name, hints, delivers, for_seats) in table {
        let tool = named(name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!((tool.hints.0, tool.delivers), (hints, delivers), "{name}");
        assert_eq!(tool.audience, if for_seats { Audience::Everybody } else { Audience::Operators }, "{name}");
    }
    assert!(all().all(|tool| tool.listed()["inputSchema"]["type"] == json!("object")));
}

#[tokio::test]
async fn lists_are_narrowed_ordered_and_go_on_in_every_order() {
    let bench = bench("");
    let person = Caller::Console;
    for (title, priority, due, kind) in [
        ("alpha login", "low", json!("2026-01-01"), "bug"),
        ("beta login", "urgent", json!(null), "task"),
        ("gamma", "urgent", json!("2020-01-01"), "bug"),
        ("delta", "none", json!("2030-01-01"), "feature"),
    ] {
        let new = json!({"project": "WORK", "title": title, "priority": priority, "due": due, "type": kind});
        bench.ok(&person, "create_work_item", new).await;
    }
    bench.ok(&person, "update_work_item", json!({"item": "WORK-1", "labels": ["x"]})).await;
    let listed = async |arguments: Value| {
        let list = bench.ok(&person, "list_work_items", arguments).await;
        keys(&list["items"]).join(" ").replace("WORK-", "")
    };
    for (arguments, expected) in [
        (json!({"text": "login"}), "2 1"),
        (json!({"text": "login", "type": "bug"}), "1"),
        (json!({"text": "?!"}), ""),
        (json!({"type": "bug"}), "3 1"),
        (json!({"reporter": "person"}), "4 3 2 1"),
        (json!({"due": "overdue"}), "3 1"),
        (json!({"due": "2020-01-01"}), "3"),
        (json!({"due": "none"}), "2"),
        (json!({"sort": "due"}), "3 1 4"),
        (json!({"sort": "priority"}), "3 2 1 4"),
    ] {
        assert_eq!(listed(arguments.clone()).await, expected, "{arguments}");
    }
    for sort in ["created", "updated", "priority", "due"] {
        let whole = listed(json!({"sort": sort})).await;
        let (mut seen, mut cursor) = (Vec::new(), json!(null));
        loop {
            let asked = json!({"sort": sort, "limit": 1, "cursor": cursor});
            let page = bench.ok(&person, "list_work_items", asked).await;
            seen.extend(keys(&page["items"]).into_iter().map(|key| key.replace("WORK-", "")));
            cursor = page["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(seen.join(" "), whole, "{sort}");
    }
    for wrong in [
        json!({"cursor": "x~1"}),
        json!({"sort": "due", "cursor": 7}),
        json!({"cursor": true}),
        json!({"due": "soon"}),
        json!({"due": "none", "sort": "due"}),
        json!({"removed": true, "text": "login"}),
        json!({"sort": "title"}),
    ] {
        assert_eq!(bench.refused(&person, "list_work_items", wrong.clone()).await, Class::Invalid, "{wrong}");
    }
}

#[tokio::test]
async fn a_tree_goes_into_the_trash_and_comes_out_as_one() {
    let bench = bench("");
    let founder = operator("founder");
    let (root, child, other) = (bench.item("root").await, bench.item("child").await, bench.item("gone before").await);
    let leaf = bench.item("leaf").await;
    for (item, parent) in [(&child, &root), (&other, &root), (&leaf, &child)] {
        bench.ok(&founder, "update_work_item", json!({"item": item, "parent": parent})).await;
    }
    bench.ok(&founder, "remove_work_item", json!({"item": other})).await;
    let member = bench.refused(&operator("member"), "remove_work_item", json!({"item": root, "subtree": true})).await;
    assert_eq!(member, Class::Forbidden);
    let gone = bench.ok(&founder, "remove_work_item", json!({"item": root, "subtree": true})).await;
    assert_eq!((&gone["outcome"], &gone["below"]), (&json!("removed"), &json!([child, leaf])));
    assert!(gone["position"].is_i64() && gone["version"].is_i64(), "{gone}");
    assert_eq!(bench.ok(&founder, "list_work_items", json!({})).await["items"], json!([]));
    let back = bench.ok(&founder, "restore_work_item", json!({"item": root})).await;
    assert_eq!((&back["outcome"], &back["below"]), (&json!("restored"), &json!([child, leaf])));
    let trash = bench.ok(&founder, "list_work_items", json!({"removed": true})).await;
    assert_eq!(keys(&trash["items"]), [other.as_str()], "what went by itself comes out by itself");
    bench.ok(&founder, "remove_work_item", json!({"item": root})).await;
    assert_eq!(bench.ok(&founder, "list_work_items", json!({})).await["items"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_moved_item_answers_to_both_its_keys() {
    let bench = bench("");
    let founder = operator("founder");
    let key = bench.item("here").await;
    let moved = bench.ok(&founder, "move_work_item", json!({"item": key, "project": "web"})).await;
    assert_eq!((&moved["item"]["item"], &moved["outcome"]), (&json!("WEB-1"), &json!("moved")));
    let again = bench.ok(&founder, "move_work_item", json!({"item": key, "project": "WEB"})).await;
    assert_eq!((&again["outcome"], &again["position"]), (&json!("already_there"), &json!(null)));
    assert_eq!(bench.ok(&seat(), "get_work_item", json!({"item": key})).await["item"]["item"], json!("WEB-1"));
    let found = bench.ok(&operator("web"), "search_work_items", json!({"text": "here"})).await;
    assert_eq!(found["count"], json!(1), "the text index knows where it is");
    let web = operator("web");
    for (caller, arguments, class) in [
        (&web, json!({"item": "WEB-1", "project": "WORK"}), Class::NotFound),
        (&founder, json!({"item": "WEB-9", "project": "WORK"}), Class::NotFound),
        (&founder, json!({"item": "WEB-1", "project": "nope"}), Class::NotFound),
        (&founder, json!({"item": "WEB-1", "project": "no-pe"}), Class::Invalid),
        (&founder, json!({"item": "WEB-1", "project": "WORK", "if_match": 1}), Class::StaleVersion),
        (&operator("viewer"), json!({"item": "WEB-1", "project": "WORK"}), Class::Forbidden),
        (&seat(), json!({"item": "WEB-1", "project": "WORK"}), Class::Forbidden),
    ] {
        assert_eq!(bench.refused(caller, "move_work_item", arguments.clone()).await, class, "{arguments}");
    }
}

#[tokio::test]
async fn a_merged_item_is_closed_linked_and_opens_again() {
    let bench = bench("");
    let agent = seat();
    let (old, stays, child) = (bench.item("old").await, bench.item("stays").await, bench.item("child").await);
    bench.ok(&agent, "update_work_item", json!({"item": child, "parent": old})).await;
    let merged = bench.ok(&agent, "merge_work_item", json!({"item": old, "into": stays})).await;
    assert_eq!((&merged["item"]["status"], &merged["item"]["merged_into"]), (&json!("closed"), &json!(stays)));
    let get = async |item: &str| bench.ok(&agent, "get_work_item", json!({"item": item, "include": ["links"]})).await;
    assert_eq!(get(&stays).await["links"][0]["kind"], json!("duplicated_by"));
    assert_eq!(get(&child).await["item"]["parent"], json!(stays));
    for (arguments, class) in [
        (json!({"item": old, "into": child}), Class::Conflict),
        (json!({"item": child, "into": old}), Class::Conflict),
        (json!({"item": child, "into": child}), Class::Invalid),
        (json!({"item": child, "into": "WORK-99"}), Class::NotFound),
        (json!({"item": child}), Class::Invalid),
    ] {
        assert_eq!(bench.refused(&agent, "merge_work_item", arguments.clone()).await, class, "{arguments}");
    }
    bench.ok(&agent, "update_work_item", json!({"item": old, "status": "todo"})).await;
    assert_eq!(get(&old).await["item"]["merged_into"], json!(null));
    bench.ok(&operator("founder"), "remove_work_item", json!({"item": stays})).await;
    assert_eq!(bench.refused(&agent, "merge_work_item", json!({"item": old, "into": stays})).await, Class::Conflict);
}

#[tokio::test]
async fn links_stand_on_both_sides_and_are_taken_away_from_either() {
    let bench = bench("");
    let agent = seat();
    let one = bench.item("one").await;
    let new = json!({"project": "WORK", "title": "two", "links": [{"kind": "blocked_by", "item": one}]});
    let made = bench.ok(&agent, "create_work_item", new).await;
    let two = made["item"]["item"].as_str().unwrap().to_owned();
    let kinds = async |item: &str| {
        let shown = bench.ok(&agent, "get_work_item", json!({"item": item, "include": ["links"]})).await;
        shown["links"]
            .as_array()
            .unwrap()
            .iter()
            .map(|link| link["kind"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!((kinds(&one).await, kinds(&two).await), (vec!["blocks".to_owned()], vec!["blocked_by".to_owned()]));
    for (item, other) in [(&one, &two), (&two, &one)] {
        let relates = json!({"item": item, "links": [{"kind": "relates", "item": other}]});
        bench.ok(&agent, "update_work_item", relates).await;
    }
    assert_eq!(kinds(&two).await, ["blocked_by", "relates"], "the same from both sides stands once");
    bench.ok(&agent, "update_work_item", json!({"item": one, "unlink": [{"kind": "blocks", "item": two}]})).await;
    assert_eq!(kinds(&two).await, ["relates"]);
    for (links, class) in [
        (json!([{"kind": "blocks", "item": one}]), Class::Invalid),
        (json!([{"kind": "blocks", "item": "WORK-99"}]), Class::NotFound),
        (json!([{"kind": "likes", "item": two}]), Class::Invalid),
        (json!([{"kind": "blocks"}]), Class::Invalid),
        (json!([{"kind": "blocks", "item": two, "x": 1}]), Class::Invalid),
        (json!(["WORK-2"]), Class::Invalid),
        (json!("WORK-2"), Class::Invalid),
    ] {
        let arguments = json!({"item": one, "links": links});
        assert_eq!(bench.refused(&agent, "update_work_item", arguments).await, class, "{links}");
    }
}

#[tokio::test]
async fn the_catalogue_says_what_items_hold() {
    let bench = bench("");
    let founder = operator("founder");
    let first = bench.ok(&seat(), "get_work_catalogue", json!({})).await;
    assert_eq!((&first["types"][0]["name"], &first["version"]), (&json!("task"), &json!(0)));
    let written = json!({
        "types": [{"name": "story"}, {"name": "bug", "about": "broken"}],
        "fields": [{"name": "size", "kind": "choice", "choices": ["S", "L"]}, {"name": "cost", "kind": "number"},
            {"name": "start", "kind": "day"}],
        "if_match": 0,
    });
    let now = bench.ok(&founder, "write_work_catalogue", written.clone()).await;
    assert_eq!((&now["version"], now["position"].is_i64()), (&json!(1), true), "{now}");
    assert_eq!(bench.refused(&founder, "write_work_catalogue", written).await, Class::Exists);
    let stale = json!({"labels": [], "if_match": 7});
    assert_eq!(bench.refused(&founder, "write_work_catalogue", stale).await, Class::StaleVersion);
    for (arguments, class) in [
        (json!({"types": []}), Class::Invalid),
        (json!({"types": [{"name": "a"}, {"name": "a"}]}), Class::Invalid),
        (json!({"fields": [{"name": "a", "kind": "choice"}]}), Class::Invalid),
        (json!({"fields": [{"name": "a", "kind": "text", "choices": ["x"]}]}), Class::Invalid),
        (json!({"fields": [{"name": "a", "kind": "money"}]}), Class::Invalid),
    ] {
        assert_eq!(bench.refused(&founder, "write_work_catalogue", arguments.clone()).await, class, "{arguments}");
    }
    let labels = json!({"labels": [{"name": "x"}]});
    assert_eq!(bench.refused(&operator("web"), "write_work_catalogue", labels.clone()).await, Class::Forbidden);
    assert_eq!(bench.refused(&operator("viewer"), "write_work_catalogue", labels).await, Class::Forbidden);

    let new = |fields: Value| json!({"project": "WORK", "title": "t", "fields": fields});
    let made = bench.ok(&seat(), "create_work_item", new(json!({"size": "L", "cost": 2.5}))).await;
    assert_eq!((&made["item"]["type"], &made["item"]["fields"]["cost"]), (&json!("story"), &json!(2.5)));
    for fields in
        [json!({"size": "M"}), json!({"cost": "2"}), json!({"start": "soon"}), json!({"mood": "good"}), json!(1)]
    {
        assert_eq!(bench.refused(&seat(), "create_work_item", new(fields.clone())).await, Class::Invalid, "{fields}");
    }
    let kind = json!({"project": "WORK", "title": "t", "type": "epic"});
    assert_eq!(bench.refused(&seat(), "create_work_item", kind).await, Class::Invalid);
    let changed = json!({"item": "WORK-1", "fields": {"size": null, "start": "2026-12-24"}, "type": "bug"});
    bench.ok(&seat(), "update_work_item", changed).await;
    let shown = bench.ok(&seat(), "get_work_item", json!({"item": "WORK-1", "include": ["fields"]})).await;
    let values: Vec<_> = shown["fields"].as_array().unwrap().iter().map(|field| field["value"].clone()).collect();
    assert_eq!(values, [json!(null), json!(2.5), json!("2026-12-24")]);
}

#[tokio::test]
async fn what_happened_is_told_with_what_was_and_what_is() {
    let bench = bench("");
    let agent = seat();
    let key = bench.item("x").await;
    bench.ok(&agent, "update_work_item", json!({"item": key, "status": "done", "priority": "high", "body": "b"})).await;
    bench.ok(&agent, "comment_on_work_item", json!({"item": key, "body": "so it is"})).await;
    let story = bench.ok(&agent, "task_activity", json!({"item": key, "limit": 2})).await;
    assert_eq!(
        (&story["activity"][0]["what"], &story["activity"][0]["body"]),
        (&json!("commented"), &json!("so it is"))
    );
    let fields = &story["activity"][1]["fields"];
    assert_eq!(fields["status"], json!({"from": "todo", "to": "done"}));
    assert_eq!((&fields["priority"]["to"], &fields["body"]), (&json!("high"), &json!(null)));
    let rest = json!({"item": key, "cursor": story["next_cursor"]});
    let rest = bench.ok(&agent, "task_activity", rest).await;
    assert_eq!((&rest["activity"][0]["what"], &rest["next_cursor"]), (&json!("created"), &json!(null)));
    assert_eq!(bench.refused(&operator("web"), "task_activity", json!({"item": key})).await, Class::NotFound);
}

#[tokio::test]
async fn a_project_is_described_and_changed_field_by_field() {
    let bench = bench("");
    let agent = seat();
    assert_eq!(bench.refused(&agent, "write_project", json!({"project": "app"})).await, Class::Invalid);
    bench.ok(&agent, "write_project", json!({"project": "app", "name": "App", "about": "for phones"})).await;
    let lead = json!({"project": "APP", "lead": "ada"});
    let now = bench.ok(&agent, "write_project", lead.clone()).await;
    assert_eq!(
        (&now["about"], &now["lead"], &now["outcome"]),
        (&json!("for phones"), &json!("ada"), &json!("changed"))
    );
    let same = bench.ok(&agent, "write_project", lead).await;
    assert_eq!((&same["outcome"], &same["position"]), (&json!("unchanged"), &json!(null)));
    let nobody = json!({"project": "APP", "lead": "nobody"});
    assert_eq!(bench.refused(&agent, "write_project", nobody).await, Class::NotFound);
    for (title, status) in [("a", "todo"), ("b", "done"), ("c", "todo")] {
        let new = json!({"project": "APP", "title": title, "status": status, "due": "2026-01-01"});
        bench.ok(&agent, "create_work_item", new).await;
    }
    let told = bench.ok(&agent, "describe_project", json!({"project": "app"})).await;
    assert_eq!((&told["open"], &told["by_status"]), (&json!(2), &json!({"done": 1, "todo": 2})));
    assert_eq!(keys(&told["due_next"]), ["APP-1", "APP-3"]);
    for (caller, project) in [(&agent, "NOPE"), (&operator("web"), "APP")] {
        assert_eq!(bench.refused(caller, "describe_project", json!({"project": project})).await, Class::NotFound);
    }
}

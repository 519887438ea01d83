//! A token with a part of the company neither sees nor changes the rest; nobody acts as somebody else.

use serde_json::json;

use super::{bench, keys, operator, seat};
use crate::engine::snapshot::Caller;
use crate::native::request::Class;
use crate::native::table::all;
use crate::native::tool::Audience;

#[tokio::test]
async fn operators_keep_to_their_workspace_and_permission_and_seats_to_their_tools() {
    let bench = bench("");
    let founder = operator("founder");
    bench.call(&founder, "create_work_item", json!({"project": "WORK", "title": "theirs"})).await.unwrap();
    bench.call(&founder, "create_work_item", json!({"project": "WEB", "title": "shared"})).await.unwrap();
    let web = operator("web");
    assert_eq!(bench.refused(&web, "get_work_item", json!({"item": "WORK-1"})).await, Class::NotFound);
    assert_eq!(bench.refused(&web, "list_work_items", json!({"project": "WORK"})).await, Class::NotFound);
    assert_eq!(bench.refused(&web, "write_project", json!({"project": "NEW", "name": "n"})).await, Class::NotFound);
    let listed = bench.call(&web, "list_work_items", json!({})).await.unwrap();
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    assert_eq!(bench.call(&web, "search_work_items", json!({"text": "theirs"})).await.unwrap()["count"], json!(0));
    assert_eq!(bench.call(&web, "list_projects", json!({})).await.unwrap()["projects"].as_array().unwrap().len(), 1);

    assert_eq!(
        bench.refused(&operator("viewer"), "update_work_item", json!({"item": "WEB-1", "title": "x"})).await,
        Class::Forbidden
    );
    assert_eq!(
        bench.refused(&operator("member"), "remove_work_item", json!({"item": "WEB-1"})).await,
        Class::Forbidden
    );
    assert_eq!(bench.refused(&operator("gone"), "list_projects", json!({})).await, Class::Forbidden);
    for tool in all().filter(|tool| tool.audience == Audience::Operators) {
        assert_eq!(
            bench.refused(&seat(), tool.name, json!({"item": "WEB-1"})).await,
            Class::Forbidden,
            "{}",
            tool.name
        );
    }
    bench.call(&Caller::Console, "remove_work_item", json!({"item": "WEB-1"})).await.expect("the person may");
}

#[tokio::test]
async fn no_argument_chooses_the_author() {
    let bench = bench("");
    for key in ["author", "reporter", "actor", "operator_id", "seat"] {
        let refused =
            bench.refused(&seat(), "create_work_item", json!({"project": "WORK", "title": "t", key: "ada"})).await;
        assert_eq!(refused, Class::Invalid, "{key}");
    }
}

#[tokio::test]
async fn what_a_token_does_not_see_is_neither_changed_nor_named_by_it() {
    let bench = bench("  - { id: mine, token: '${T}', seat: ada, projects: [ WEB ] }\n");
    let (founder, mine) = (operator("founder"), operator("mine"));
    let hidden = bench.item("hidden").await;
    for title in ["old", "stays"] {
        bench.ok(&founder, "create_work_item", json!({"project": "WEB", "title": title})).await;
    }
    bench.ok(&founder, "update_work_item", json!({"item": hidden, "parent": "WEB-1"})).await;
    let into = json!({"item": "WEB-1", "into": "WEB-2"});
    assert_eq!(bench.refused(&mine, "merge_work_item", into).await, Class::Conflict, "it would move what is below");
    bench.ok(&founder, "remove_work_item", json!({"item": "WEB-1", "subtree": true})).await;
    assert_eq!(bench.refused(&mine, "restore_work_item", json!({"item": "WEB-1"})).await, Class::Conflict);
    bench.ok(&founder, "restore_work_item", json!({"item": "WEB-1"})).await;

    bench.ok(&founder, "update_work_item", json!({"item": hidden, "parent": null})).await;
    bench.ok(&founder, "update_work_item", json!({"item": "WEB-1", "parent": hidden})).await;
    let shown =
        async |caller| bench.ok(caller, "get_work_item", json!({"item": "WEB-1"})).await["item"]["parent"].clone();
    assert_eq!((shown(&founder).await, shown(&mine).await), (json!(hidden), json!(null)), "not even by its key");

    bench.ok(&founder, "set_priorities", json!({"items": [hidden, "WEB-1"]})).await;
    let ordered = bench.ok(&mine, "set_priorities", json!({"items": ["WEB-2", "WEB-1"]})).await;
    assert_eq!(ordered["queue"], json!(["WEB-2", "WEB-1"]));
    let queue = bench.ok(&founder, "my_work", json!({})).await;
    assert_eq!(keys(&queue["queue"]), ["WEB-2", "WEB-1", hidden.as_str()], "what it does not see stays in the order");

    bench.ok(&founder, "save_work_view", json!({"name": "Theirs", "filter": {"project": "work"}})).await;
    let overwritten = json!({"name": "Theirs", "filter": {}});
    assert_eq!(bench.refused(&mine, "save_work_view", overwritten).await, Class::Conflict);
    for (tool, arguments) in
        [("list_work_items", json!({"view": "Theirs"})), ("set_pins", json!({"views": ["Theirs"]}))]
    {
        let refusals = [
            bench.call(&mine, tool, arguments.clone()).await.unwrap_err(),
            bench
                .call(&mine, tool, serde_json::from_str(&arguments.to_string().replace("Theirs", "None")).unwrap())
                .await
                .unwrap_err(),
        ];
        assert_eq!(refusals[0], refusals[1], "{tool}: as if there were none");
    }
}

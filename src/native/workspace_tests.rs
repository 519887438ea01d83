//! An operator's workspace: what is in other projects is neither shown nor changed to a token that has a few of them.

use serde_json::{Value, json};

use super::request::Class;
use super::tests::{Bench, bench, operator};
use crate::engine::snapshot::Caller;

const WEB: &str = "web";

impl Bench {
    async fn fine(&self, caller: &Caller, tool: &str, arguments: Value) -> Value {
        let done = self.call(caller, tool, arguments.clone()).await;
        done.unwrap_or_else(|refusal| panic!("{tool} {arguments}: {refusal:?}"))
    }

    /// An item of this project, below another one; its key.
    async fn below(&self, project: &str, parent: Option<&str>) -> String {
        let arguments = json!({"project": project, "title": "t", "parent": parent});
        let made = self.fine(&Caller::Console, "create_work_item", arguments).await;
        made["item"]["item"].as_str().unwrap().to_owned()
    }

    async fn get(&self, caller: &Caller, item: &str) -> Value {
        self.fine(caller, "get_work_item", json!({"item": item, "include": ["history", "links", "comments"]})).await
    }
}

async fn two_projects() -> (Bench, Caller) {
    let bench = bench("");
    for project in ["WEB", "APP"] {
        bench.fine(&Caller::Console, "write_project", json!({"project": project, "name": project})).await;
    }
    (bench, operator(WEB))
}

#[tokio::test]
async fn what_an_item_has_to_do_with_other_projects_is_not_shown() {
    let (bench, web) = two_projects().await;
    let app = bench.below("APP", None).await;
    let (child, twin) = (bench.below("WEB", Some(&app)).await, bench.below("WEB", None).await);
    let links = json!({"item": child, "links": [{"kind": "blocks", "item": app}]});
    bench.fine(&Caller::Console, "update_work_item", links).await;
    bench.fine(&Caller::Console, "update_work_item", json!({"item": twin, "parent": app})).await;
    bench.fine(&Caller::Console, "merge_work_item", json!({"item": twin, "into": app})).await;
    let moved = bench.below("APP", None).await;
    let moved = bench.fine(&Caller::Console, "move_work_item", json!({"item": moved, "project": "WEB"})).await;
    for item in [&*child, &*twin, moved["item"]["item"].as_str().unwrap()] {
        let seen = bench.get(&web, item).await.to_string();
        assert!(!seen.contains("APP"), "{item}: {seen}");
        let told = bench.fine(&web, "task_activity", json!({"item": item})).await.to_string();
        assert!(!told.contains("APP"), "{item}: {told}");
    }
    let whole = bench.get(&Caller::Console, &child).await;
    assert_eq!(whole["item"]["parent"], json!(app), "whoever has both projects sees both");
    assert!(whole.to_string().contains("blocks APP-1"));
    let seen = bench.get(&web, &twin).await;
    assert_eq!(
        (&seen["item"]["parent"], &seen["item"]["merged_into"], &seen["history"][0]["fields"]["merged"]["to"]),
        (&Value::Null, &Value::Null, &json!("elsewhere"))
    );
}

#[tokio::test]
async fn what_is_elsewhere_is_not_changed_along_with_an_item() {
    let (bench, web) = two_projects().await;
    let (item, into) = (bench.below("WEB", None).await, bench.below("WEB", None).await);
    let app = bench.below("APP", Some(&item)).await;
    let merge = json!({"item": item, "into": into});
    assert_eq!(bench.refused(&web, "merge_work_item", merge.clone()).await, Class::Conflict);
    assert_eq!(bench.get(&Caller::Console, &app).await["item"]["parent"], json!(item));

    bench.fine(&Caller::Console, "remove_work_item", json!({"item": item, "subtree": true})).await;
    assert_eq!(bench.refused(&web, "restore_work_item", json!({"item": item})).await, Class::Conflict);
    assert!(!bench.get(&Caller::Console, &app).await["item"]["removed"].is_null());
    bench.fine(&Caller::Console, "restore_work_item", json!({"item": item})).await;
    assert!(bench.get(&Caller::Console, &app).await["item"]["removed"].is_null());
    bench.fine(&web, "restore_work_item", json!({"item": item})).await;
    bench.fine(&Caller::Console, "merge_work_item", merge).await;
}

#[tokio::test]
async fn a_member_restores_only_what_it_could_have_removed() {
    let (bench, _) = two_projects().await;
    let member = operator("member");
    let own = bench.fine(&member, "create_work_item", json!({"project": "WEB", "title": "own"})).await;
    let own = own["item"]["item"].clone();
    bench.below("WEB", own.as_str()).await;
    bench.fine(&Caller::Console, "remove_work_item", json!({"item": own, "subtree": true})).await;
    assert_eq!(bench.refused(&member, "restore_work_item", json!({"item": own})).await, Class::Forbidden);
}

#[tokio::test]
async fn views_of_other_projects_are_neither_used_nor_overwritten() {
    let (bench, web) = two_projects().await;
    let view = |project: &str| json!({"name": "plan", "filter": {"project": project}});
    bench.fine(&Caller::Console, "save_work_view", view("APP")).await;
    assert_eq!(bench.refused(&web, "save_work_view", view("WEB")).await, Class::Conflict);
    assert_eq!(bench.refused(&web, "list_work_items", json!({"view": "plan"})).await, Class::NotFound);
    let views = bench.fine(&Caller::Console, "list_work_views", json!({})).await;
    assert_eq!((&views["views"][0]["version"], &views["views"][0]["filter"]["project"]), (&json!(1), &json!("APP")));
}

#[tokio::test]
async fn ordering_a_seats_work_leaves_what_is_elsewhere_in_it() {
    let bench = bench("  - { id: part, token: '${T}', projects: [ web ], seat: release }\n");
    for project in ["WEB", "APP"] {
        bench.fine(&Caller::Console, "write_project", json!({"project": project, "name": project})).await;
    }
    let (web, app) = (bench.below("WEB", None).await, bench.below("APP", None).await);
    bench.fine(&Caller::Console, "set_priorities", json!({"handle": "release", "items": [app]})).await;
    let ordered = bench.fine(&operator("part"), "set_priorities", json!({"items": [web]})).await;
    assert_eq!(ordered["queue"], json!([web]));
    let person = bench.fine(&Caller::Console, "get_person", json!({"handle": "release"})).await;
    let queue: Vec<&Value> = person["work"]["queue"].as_array().unwrap().iter().map(|row| &row["item"]).collect();
    assert_eq!(queue, [&json!(web), &json!(app)]);
}

#[tokio::test]
async fn a_refusal_ends_in_one_full_stop() {
    let bench = bench("");
    let refused = super::result(bench.call(&Caller::Console, "create_work_item", json!({"title": "t"})).await);
    assert!(refused.get().contains(". Nothing was changed") && !refused.get().contains(".. Nothing"), "{refused}");
}

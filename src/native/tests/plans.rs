//! What people make of work: orders, views, pins, and what comes into an inbox.

use serde_json::json;

use super::{Bench, bench, keys, operator, seat};
use crate::engine::snapshot::Caller;
use crate::ids::SeatHandle;
use crate::native::request::Class;

const LINE: &str = "
units:
  - name: Company
    lead: Boss
    roles: [ { name: Boss, kind: human } ]
    children:
      - { name: Build, lead: Head, roles: [ { name: Head, kind: human }, { name: Worker } ] }
      - { name: Sales, roles: [ { name: Seller, manages: [ Worker ] }, { name: Other } ] }
";

/// Operators that work seats of the line above.
fn lined() -> Bench {
    let tokens = ["boss", "head", "worker", "seller", "other"];
    let more: Vec<String> =
        tokens.iter().map(|seat| format!("  - {{ id: {seat}, token: '${{T}}', seat: {seat} }}\n")).collect();
    bench(&format!("{}{LINE}", more.concat()))
}

fn agent(handle: &str) -> Caller {
    Caller::Seat { seat: SeatHandle::new(handle), session: "s".into(), client: "c".into() }
}

#[tokio::test]
async fn only_who_leads_a_line_orders_the_work_of_others() {
    let bench = lined();
    let (one, two) = (bench.item("one").await, bench.item("two").await);
    bench.ok(&Caller::Console, "update_work_item", json!({"item": one, "assignee": "worker"})).await;
    let order = |handle: Option<&str>| match handle {
        Some(handle) => json!({"items": [two, one], "handle": handle}),
        None => json!({"items": [two, one]}),
    };
    for (id, handle, class) in [
        ("worker", None, None),
        ("head", Some("worker"), None),
        ("boss", Some("worker"), None),
        ("boss", Some("head"), None),
        ("seller", Some("worker"), None),
        ("worker", Some("head"), Some(Class::Forbidden)),
        ("head", Some("boss"), Some(Class::Forbidden)),
        ("head", Some("seller"), Some(Class::Forbidden)),
        ("other", Some("worker"), Some(Class::Forbidden)),
        ("member", Some("worker"), Some(Class::Forbidden)),
        ("member", None, Some(Class::Forbidden)),
        ("viewer", Some("worker"), Some(Class::Forbidden)),
        ("boss", Some("nobody"), Some(Class::NotFound)),
    ] {
        let answer = bench.call(&operator(id), "set_priorities", order(handle)).await;
        assert_eq!(answer.as_ref().err().map(|refusal| refusal.class), class, "{id} {handle:?}");
        if let Ok(answer) = answer {
            assert_eq!(answer["by"], json!(format!("operator:{id}")), "the author is the caller");
        }
    }
    assert_eq!(bench.refused(&agent("worker"), "set_priorities", order(None)).await, Class::Forbidden);
    for (items, class) in [(json!([one, "WORK-99"]), Class::NotFound), (json!([one, one]), Class::Invalid)] {
        assert_eq!(
            bench.refused(&operator("worker"), "set_priorities", json!({"items": items})).await,
            class,
            "{items}"
        );
    }
    let mine = bench.ok(&agent("worker"), "my_work", json!({})).await;
    assert_eq!((keys(&mine["queue"]), &mine["assigned"]), (vec![two.as_str(), one.as_str()], &json!([])));
    let person = bench.ok(&operator("boss"), "get_person", json!({"handle": "worker"})).await;
    assert_eq!((&person["kind"], &person["led_by"]), (&json!("agent"), &json!(["head", "boss", "seller"])));
    assert_eq!(keys(&person["work"]["queue"]), [two.as_str(), one.as_str()]);
    assert_eq!(bench.refused(&operator("boss"), "get_person", json!({"handle": "x"})).await, Class::NotFound);
    assert_eq!(bench.refused(&operator("member"), "get_person", json!({})).await, Class::Forbidden);
    let again = bench.ok(&operator("worker"), "set_priorities", order(None)).await;
    assert_eq!(again["position"], json!(null), "the same order again changes nothing");
    bench.ok(&operator("worker"), "set_priorities", json!({"items": []})).await;
    assert_eq!(bench.ok(&agent("worker"), "my_work", json!({})).await["queue"], json!([]));
}

#[tokio::test]
async fn views_are_lists_with_a_name_and_can_be_pinned() {
    let bench = bench("");
    let founder = operator("founder");
    let key = bench.item("urgent one").await;
    bench.item("other").await;
    bench.ok(&founder, "update_work_item", json!({"item": key, "priority": "urgent"})).await;
    let view = json!({"name": "Hot", "filter": {"priority": "urgent", "sort": "updated"}, "if_match": 0});
    let saved = bench.ok(&founder, "save_work_view", view.clone()).await;
    assert_eq!((&saved["outcome"], &saved["version"]), (&json!("created"), &json!(1)));
    assert_eq!(bench.refused(&founder, "save_work_view", view).await, Class::Exists);
    let through = bench.ok(&seat(), "list_work_items", json!({"view": "Hot"})).await;
    assert_eq!(keys(&through["items"]), [key.as_str()]);
    let other = bench.ok(&seat(), "list_work_items", json!({"view": "Hot", "priority": "none"})).await;
    assert_eq!(other["items"].as_array().unwrap().len(), 1, "what the call says comes first");
    assert_eq!(bench.refused(&seat(), "list_work_items", json!({"view": "Cold"})).await, Class::NotFound);
    for filter in [json!({"limit": 3}), json!({"priority": "hot"}), json!("hot"), json!(null)] {
        let wrong = json!({"name": "Wrong", "filter": filter});
        assert_eq!(bench.refused(&founder, "save_work_view", wrong).await, Class::Invalid, "{filter}");
    }
    let stale = json!({"name": "Hot", "filter": {}, "if_match": 5});
    assert_eq!(bench.refused(&founder, "save_work_view", stale).await, Class::StaleVersion);

    let page = bench.ok(&seat(), "write_page", json!({"title": "P", "body": "b"})).await["page"]["page"].clone();
    let pins = json!({"views": ["Hot"], "favorites": [{"kind": "item", "id": key}, {"kind": "page", "id": page},
        {"kind": "project", "id": "work"}]});
    let pinned = bench.ok(&founder, "set_pins", pins.clone()).await;
    assert_eq!((pinned["position"].is_i64(), pinned["favorites"].as_array().unwrap().len()), (true, 3), "{pinned}");
    assert_eq!(bench.ok(&founder, "set_pins", pins).await["position"], json!(null), "once more is nothing new");
    bench.ok(&founder, "set_pins", json!({"favorites": []})).await;
    let views = bench.ok(&founder, "list_work_views", json!({})).await;
    assert_eq!((&views["views"][0]["view"], &views["views"][0]["pinned"]), (&json!("Hot"), &json!(true)));
    for (favorites, class) in [
        (json!([{"kind": "item", "id": "WORK-99"}]), Class::NotFound),
        (json!([{"kind": "page", "id": "x"}]), Class::NotFound),
        (json!([{"kind": "project", "id": "NOPE"}]), Class::NotFound),
        (json!([{"kind": "person", "id": "ada"}]), Class::Invalid),
    ] {
        assert_eq!(bench.refused(&founder, "set_pins", json!({"favorites": favorites})).await, class, "{favorites}");
    }
    assert_eq!(bench.refused(&founder, "set_pins", json!({"views": ["Cold"]})).await, Class::NotFound);
    assert_eq!(bench.refused(&operator("web"), "set_pins", json!({"views": []})).await, Class::Forbidden);
}

#[tokio::test]
async fn an_inbox_hears_of_work_comments_and_names_but_not_of_what_its_owner_did() {
    let bench = bench("");
    let founder = operator("founder");
    let inbox = async || {
        let inbox = bench.ok(&founder, "work_inbox", json!({"unread": true})).await;
        let subjects = inbox["messages"].as_array().unwrap().iter();
        subjects.map(|message| message["subject"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let agent = seat();
    bench.ok(&founder, "create_work_item", json!({"project": "WORK", "title": "mine", "assignee": "ada"})).await;
    assert_eq!(inbox().await, Vec::<String>::new(), "nobody hears of what they did themselves");
    bench.ok(&agent, "comment_on_work_item", json!({"item": "WORK-1", "body": "hello"})).await;
    assert_eq!(inbox().await, ["comment: WORK-1 mine"]);
    bench.ok(&agent, "comment_on_work_item", json!({"item": "WORK-1", "body": "well, @ada?"})).await;
    assert_eq!(inbox().await, ["you are named: WORK-1 mine"], "one message for an item: the latest");
    let new = json!({"project": "WORK", "title": "yours", "assignee": "ada", "body": "mail a@ada.example"});
    bench.ok(&agent, "create_work_item", new).await;
    assert_eq!(inbox().await[0], "assigned to you: WORK-2 yours");
    let message = bench.ok(&founder, "work_inbox", json!({})).await["messages"][1].clone();
    assert_eq!((&message["item"], &message["body"]), (&json!("WORK-1"), &json!("well, @ada?")));

    let (id, position) = (&message["record_id"], message["position"].as_i64().unwrap());
    let early = json!({"read": [{"record_id": id, "position": position - 1}]});
    let marked = bench.ok(&founder, "mark_inbox", early).await;
    assert_eq!((&marked["read"], &marked["passed_over"]), (&json!(0), &json!([id])));
    let later = json!({"snoozed": [{"record_id": id, "until": "2999-01-01T00:00:00Z"}]});
    assert_eq!(bench.ok(&founder, "mark_inbox", later).await["snoozed"], json!(1));
    assert_eq!(inbox().await.len(), 1);
    assert_eq!(bench.ok(&founder, "mark_inbox", json!({"unread": [{"record_id": id}]})).await["unread"], json!(1));
    assert_eq!(inbox().await.len(), 2);
    let through = bench.ok(&founder, "mark_inbox", json!({"seen_through": position})).await;
    assert_eq!((&through["seen_through"], inbox().await.len()), (&json!(1), 1));
    for wrong in [
        json!({"snoozed": [{"record_id": 1}]}),
        json!({"snoozed": [{"record_id": 1, "until": "2001-01-01T00:00:00Z"}]}),
        json!({"snoozed": [1]}),
        json!({"read": ["1"]}),
        json!({"read": [1.5]}),
        json!({"seen_through": "all"}),
    ] {
        assert_eq!(bench.refused(&founder, "mark_inbox", wrong.clone()).await, Class::Invalid, "{wrong}");
    }
    bench.ok(&agent, "update_work_item", json!({"item": "WORK-1", "status": "done"})).await;
    assert_eq!(inbox().await[0], "done: WORK-1 mine", "who asked for it hears of its end");
}

#[tokio::test]
async fn an_operator_works_the_inbox_of_its_seat_only() {
    let bench = bench("");
    let at = crate::clock::Timestamp::from_millis(0);
    let by = crate::store::Signed { who: crate::store::items::Who::new("operator", "x"), at };
    for seat in ["ada", "release"] {
        let by = by.clone();
        bench.native.store.write(move |s| s.send(seat, ("autopilot", "nightly", "go"), &by)).await.unwrap();
    }
    let founder = operator("founder");
    let inbox = bench.call(&founder, "work_inbox", json!({"unread": true})).await.unwrap();
    assert_eq!(inbox["messages"].as_array().unwrap().len(), 1);
    let marked = bench.call(&founder, "mark_inbox", json!({"read": [1, 2, 99]})).await.unwrap();
    assert_eq!(marked["read"], json!(1), "another seat's is none of it");
    assert_eq!(bench.call(&founder, "work_inbox", json!({"unread": true})).await.unwrap()["messages"], json!([]));
    assert_eq!(bench.refused(&operator("web"), "work_inbox", json!({})).await, Class::Forbidden);
}

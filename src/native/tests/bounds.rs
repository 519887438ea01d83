//! What is too much for one answer goes on in another one: nothing is cut without a word. What is asked is bounded.

use serde_json::{Value, json};

use super::{bench, operator, seat};
use crate::clock::Timestamp;
use crate::engine::snapshot::Caller;
use crate::native::request::Class;
use crate::store::items::Who;
use crate::store::{ItemChanges, NewItem, NewPage, Signed, WriteStore};

fn by() -> Signed {
    Signed { who: Who::new("seat", "release"), at: Timestamp::from_millis(7) }
}

/// An item with so many comments and changes, and as many others of ada's.
fn many(store: &WriteStore<'_>, count: usize) -> Result<(), crate::store::StoreError> {
    store.put_project("WORK", "Work", by().at)?;
    let new = |title: String| NewItem {
        project: "WORK".to_owned(),
        title,
        status: "todo".to_owned(),
        assignee: Some(Who::new("user", "ada")),
        ..NewItem::default()
    };
    let mut item = store.create_item(new("first".to_owned()), &by())?.row;
    for n in 0..count {
        store.add_comment(&item, &format!("{n}"), None, &by())?;
        let other = store.create_item(new(format!("other {n}")), &by())?;
        store.tell("ada", (&other.row, 1), (&format!("{n}"), ""), &by())?;
        let changes = ItemChanges { title: Some(format!("first {n}")), ..ItemChanges::default() };
        item = store.update_item(&item, changes, &by())?.row;
    }
    Ok(())
}

/// A page with so many comments, and as many below it.
fn many_below(store: &WriteStore<'_>, count: usize) -> Result<String, crate::store::StoreError> {
    let new = |parent| NewPage {
        container: "main".to_owned(),
        title: "t".to_owned(),
        body: "b".to_owned(),
        labels: Vec::new(),
        parent,
        message: None,
    };
    let page = store.create_page(new(None), &by())?.row;
    for n in 0..count {
        store.add_page_comment(&page, &format!("{n}"), &by())?;
        store.create_page(new(Some(page.id)), &by())?;
    }
    Ok(page.uuid)
}

/// Rows of a list that is gone through to its end.
async fn through(bench: &super::Bench, caller: &Caller, (tool, arguments): (&str, Value), names: [&str; 3]) -> usize {
    let [rows, cursor, next] = names;
    let (mut count, mut asked) = (0, arguments);
    loop {
        let answer = bench.ok(caller, tool, asked.clone()).await;
        count += answer[rows].as_array().unwrap().len();
        if answer[next].is_null() {
            return count;
        }
        asked[cursor] = answer[next].clone();
    }
}

#[tokio::test]
async fn long_lists_go_on_to_their_end() {
    let bench = bench("");
    let (agent, founder) = (seat(), operator("founder"));
    bench.native.store.write(|store| many(store, 205)).await.unwrap();
    let page = bench.native.store.write(|store| many_below(store, 205)).await.unwrap();
    for (caller, tool, arguments, names, count) in [
        (
            &agent,
            "get_work_item",
            json!({"item": "WORK-1"}),
            ["comments", "comments_cursor", "next_comments_cursor"],
            205,
        ),
        (&agent, "task_activity", json!({"item": "WORK-1"}), ["activity", "cursor", "next_cursor"], 411),
        (&agent, "get_page", json!({"page": page}), ["comments", "comments_cursor", "next_comments_cursor"], 205),
        (&agent, "list_pages", json!({"parent": page}), ["pages", "cursor", "next_cursor"], 205),
        (&founder, "work_inbox", json!({"limit": 200}), ["messages", "cursor", "next_cursor"], 205),
        (&founder, "work_inbox", json!({"limit": 1}), ["messages", "cursor", "next_cursor"], 205),
    ] {
        assert_eq!(through(&bench, caller, (tool, arguments), names).await, count, "{tool}");
    }
    let item = bench.ok(&agent, "get_work_item", json!({"item": "WORK-1", "include": ["history"]})).await;
    let rest = json!({"item": "WORK-1", "limit": 200, "cursor": item["next_history_cursor"]});
    let rest = through(&bench, &agent, ("task_activity", rest), ["activity", "cursor", "next_cursor"]).await;
    assert_eq!(item["history"].as_array().unwrap().len() + rest, 411);
    let whole = bench.ok(&agent, "get_page", json!({"page": page, "include": ["children"]})).await;
    let rest = json!({"parent": page, "cursor": whole["next_children_cursor"]});
    let rest = through(&bench, &agent, ("list_pages", rest), ["pages", "cursor", "next_cursor"]).await;
    assert_eq!(whole["children"].as_array().unwrap().len() + rest, 205);
    let work = bench.ok(&founder, "my_work", json!({})).await;
    assert_eq!((work["assigned"].as_array().unwrap().len(), &work["more_assigned"]), (50, &json!(true)));
    for wrong in [json!(7), json!("x~1"), json!("1"), json!("1~")] {
        assert_eq!(bench.refused(&founder, "work_inbox", json!({"cursor": wrong})).await, Class::Invalid, "{wrong}");
    }
}

#[tokio::test]
async fn words_of_a_list_are_no_more_than_there_are() {
    let bench = bench("");
    bench.item("x").await;
    let twice = json!({"item": "WORK-1", "include": ["history", "history"]});
    bench.ok(&seat(), "get_work_item", twice).await;
    for (tool, arguments) in [
        ("get_work_item", json!({"item": "WORK-1", "include": vec!["comments"; 60_000]})),
        ("list_work_items", json!({"status": vec!["todo"; 40_000]})),
    ] {
        assert_eq!(bench.refused(&seat(), tool, arguments).await, Class::Invalid, "{tool}");
    }
}

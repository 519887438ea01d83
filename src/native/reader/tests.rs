//! What the screen reads: order, filters, bounds, redaction, and that changes are told.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::config::model::Source;
use crate::engine::snapshot::Caller;
use crate::native::Native;
use crate::rows::{pages, work};
use crate::secret::Secret;
use crate::store::Store;

struct Bench {
    native: Arc<Native>,
    reader: Arc<RowReader>,
    _folder: tempfile::TempDir,
}

fn bench(more: &str) -> Bench {
    let text = format!("name: Acme\nroles: [ {{ name: Release }}, {{ name: Ops }} ]\nmcp_servers: []\n{more}");
    let config = crate::config::load(&text, &Source::File("config.yaml".into())).unwrap().config;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let redactor = Redactor::default();
    redactor.learn([Secret::new("hunter2hunter2")]);
    let native = Native::open(&config, store);
    let reader = Arc::new(native.reader(redactor));
    Bench { native, reader, _folder: folder }
}

impl Bench {
    async fn call(&self, tool: &str, arguments: serde_json::Value) -> serde_json::Value {
        self.native.call_as(&Caller::Console, tool, &arguments.to_string()).await.unwrap()
    }

    async fn find(&self, ask: Ask) -> Found {
        let answer = self.reader.clone().read(ask.clone()).await;
        assert_eq!(answer.ask, ask);
        answer.found.unwrap()
    }

    async fn listed(&self, wanted: work::Wanted) -> (Vec<String>, usize) {
        let Found::Work(listed) = self.find(Ask::Work(work::Wanted { most: 3, ..wanted })).await else { panic!() };
        (listed.items.iter().map(|item| item.key.to_string()).collect(), listed.all)
    }

    async fn sample(&self) {
        self.call("write_project", json!({"project": "WEB", "name": "Web"})).await;
        for (title, status, priority) in [
            ("Fix the login", "todo", "low"),
            ("100% _done_", "done", "urgent"),
            ("Review it", "in_review", "none"),
            ("Urgent thing", "todo", "urgent"),
            ("Under way", "in_progress", "none"),
        ] {
            let new = json!({"project": "WEB", "title": title, "status": status, "priority": priority,
                "assignee": "ops", "labels": ["Bug"], "body": "the key is hunter2hunter2"});
            self.call("create_work_item", new).await;
        }
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn what_is_worked_on_comes_first_and_filters_are_beginnings() {
    let bench = bench("");
    bench.sample().await;
    let any = work::Wanted::default;
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(bench.listed(any()).await, (words(&["WEB-5", "WEB-3", "WEB-4"]), 5));
    for (wanted, keys) in [
        (work::Wanted { status: some("DO"), ..any() }, &["WEB-2"][..]),
        (work::Wanted { text: "log".into(), ..any() }, &["WEB-1"]),
        (work::Wanted { text: "web-2".into(), ..any() }, &["WEB-2"]),
        (work::Wanted { text: "?!".into(), ..any() }, &[]),
        (work::Wanted { assignee: some("OP"), status: some("todo"), ..any() }, &["WEB-4", "WEB-1"]),
        (work::Wanted { assignee: some("_p"), ..any() }, &[]),
        (work::Wanted { label: some("bu"), project: some("we"), status: some("in_r"), ..any() }, &["WEB-3"]),
        (work::Wanted { project: some("%"), ..any() }, &[]),
        (work::Wanted { trash: true, ..any() }, &[]),
    ] {
        let found = bench.listed(wanted.clone()).await;
        assert_eq!(found, (words(keys), keys.len()), "{wanted:?}");
    }
    bench.call("remove_work_item", json!({"item": "WEB-2"})).await;
    let trash = work::Wanted { trash: true, text: "% _d".into(), ..any() };
    assert_eq!(bench.listed(trash).await, (words(&["WEB-2"]), 1));
    assert_eq!(bench.listed(work::Wanted { status: some("done"), ..any() }).await.1, 0);
}

#[tokio::test]
async fn an_item_is_whole_bounded_and_redacted() {
    let bench = bench("");
    bench.sample().await;
    bench.call("update_work_item", json!({"item": "WEB-4", "parent": "WEB-1"})).await;
    for n in 0..SHOWN + 3 {
        bench.call("comment_on_work_item", json!({"item": "WEB-1", "body": format!("hunter2hunter2 {n}")})).await;
    }
    let Found::Item(Some(item)) = bench.find(Ask::Item("WEB-1".into())).await else { panic!() };
    assert_eq!((item.comments.len(), item.earlier_comments), (SHOWN, 3));
    assert!(item.comments[0].body.ends_with(" 3") && item.comments[SHOWN - 1].body.ends_with(" 102"));
    assert_eq!(item.children.iter().map(|child| &*child.key).collect::<Vec<_>>(), ["WEB-4"]);
    assert!(!format!("{item:?}").contains("hunter2"), "{item:?}");
    assert_eq!((&*item.reporter, item.head.assignee.as_deref()), ("console", Some("ops")));
    assert!(item.history.iter().all(|change| change.detail.is_empty()), "ids of comments say nothing");
    let Found::Item(Some(child)) = bench.find(Ask::Item("WEB-4".into())).await else { panic!() };
    assert_eq!(child.parent.map(|parent| parent.key.to_string()).as_deref(), Some("WEB-1"));
    assert!(matches!(bench.find(Ask::Item("WEB-99".into())).await, Found::Item(None)));
}

#[tokio::test]
async fn pages_stand_by_container_and_keep_their_versions() {
    let bench = bench("");
    let mut first = String::new();
    for (container, title) in [("ops", "b"), ("main", "Z"), ("ops", "A")] {
        let new = json!({"title": title, "body": "hunter2hunter2 one", "container": container, "labels": ["how-to"]});
        let made = bench.call("write_page", new).await;
        first = made["page"]["page"].as_str().unwrap().to_owned();
    }
    bench.call("save_page", json!({"page": first, "base_version": 1, "title": "A2", "body": "two"})).await;
    bench.call("comment_on_page", json!({"page": first, "body": "well done"})).await;
    let list = |wanted: pages::Wanted| async {
        let Found::Pages(listed) = bench.find(Ask::Pages(pages::Wanted { most: 2, ..wanted })).await else { panic!() };
        (listed.pages.iter().map(|page| page.title.to_string()).collect::<Vec<_>>(), listed.all)
    };
    assert_eq!(list(pages::Wanted::default()).await, (words(&["Z", "A2"]), 3));
    assert_eq!(list(pages::Wanted { container: Some("O".into()), ..Default::default() }).await.0, ["A2", "b"]);
    assert_eq!(list(pages::Wanted { text: "two".into(), ..Default::default() }).await.0, ["A2"]);
    assert_eq!(list(pages::Wanted { label: Some("how".into()), ..Default::default() }).await.1, 3);
    let id: Arc<str> = first.into();
    let Found::Page(Some(now)) = bench.find(Ask::Page(id.clone(), None)).await else { panic!() };
    assert_eq!((&*now.body, now.newest, now.versions.len(), now.comments.len()), ("two", 2, 2, 1));
    for n in 0..=SHOWN {
        bench.call("comment_on_page", json!({"page": &*id, "body": format!("and {n}")})).await;
    }
    let Found::Page(Some(now)) = bench.find(Ask::Page(id.clone(), None)).await else { panic!() };
    assert_eq!((now.comments.len(), now.earlier_comments), (SHOWN, 2), "the last ones, and how many there are before");
    assert_eq!((&*now.comments[0].body, &*now.comments[SHOWN - 1].body), ("and 1", "and 100"));
    let Found::Page(Some(then)) = bench.find(Ask::Page(id, Some(1))).await else { panic!() };
    assert_eq!((&*then.head.title, then.head.version, then.newest), ("A", 1, 2));
    assert!(then.body.ends_with(" one") && !then.body.contains("hunter2"), "{}", then.body);
}

#[tokio::test]
async fn what_is_closed_says_by_which_setting() {
    let bench = bench("engine: { native: { tracker: false, pages: false } }\n");
    for (ask, setting) in [
        (Ask::Work(work::Wanted::default()), "engine.native.tracker: false"),
        (Ask::Item("WEB-1".into()), "engine.native.tracker: false"),
        (Ask::Pages(pages::Wanted::default()), "engine.native.pages: false"),
    ] {
        let problem = bench.reader.clone().read(ask).await.found.unwrap_err();
        assert!(problem.contains(setting), "{problem}");
    }
}

#[tokio::test]
async fn a_change_is_told_and_what_changes_nothing_is_not() {
    let bench = bench("");
    let changes = bench.reader.changes();
    let count = || *changes.borrow();
    bench.native.store.read(|store| store.item("WEB-1")).await.unwrap();
    assert_eq!(count(), 0, "reading changes nothing");
    bench.call("write_project", json!({"project": "WEB", "name": "Web"})).await;
    bench.call("create_work_item", json!({"project": "WEB", "title": "One"})).await;
    let before = count();
    assert_eq!(before, 2);
    bench.call("update_work_item", json!({"item": "WEB-1", "title": "One"})).await;
    assert!(
        bench.native.call_as(&Caller::Console, "create_work_item", r#"{"project":"NO","title":"x"}"#).await.is_err()
    );
    assert_eq!(count(), before, "nothing was different, and what fails is taken back");
}

#[tokio::test]
async fn what_another_program_changes_is_told_once_somebody_looks() {
    let bench = bench("");
    let mut changes = bench.reader.changes();
    bench.find(Ask::Work(work::Wanted::default())).await;
    changes.mark_unchanged();
    // Another connection to the same file is to this store what another program is.
    let other = Store::new(bench.native.store.folder());
    other.write(|store| store.put_project("WEB", "Web", crate::clock::Timestamp::now())).await.unwrap();
    tokio::time::timeout(std::time::Duration::from_secs(10), changes.changed()).await.unwrap().unwrap();
    let Found::Work(listed) = bench.find(Ask::Work(work::Wanted::default())).await else { panic!() };
    assert_eq!(listed.projects.len(), 1);
}

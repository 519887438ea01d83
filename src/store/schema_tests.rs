//! Files of earlier versions are brought up to date with what is in them, and lists never read a whole table.

use rusqlite::Connection;

use super::items::Filter;
use super::lists::{Due, Sort};
use super::pages::PageFilter;
use super::schema::{FIRST, OURS};
use super::tests::{AT, all, fresh, new, somebody};
use super::{FILE, PageChanges, Store, WriteStore, backup};

/// What the first version left behind.
const KEPT: &str = "
INSERT INTO project VALUES ('WEB', 'Web', 3, 1);
INSERT INTO item VALUES (1, 'u1', 'WEB', 1, 'above', '', 'todo', 4, 'agent', 'release', 'operator', 'x', NULL,
    '[\"bug\"]', '2026-12-24', 1, 1, 1, NULL);
INSERT INTO item VALUES (2, 'u2', 'WEB', 2, 'gone', '', 'done', 0, NULL, NULL, 'seat', 'ada', 1, '[]', NULL, 3, 1, 2, 5);
INSERT INTO item_label VALUES ('bug', 1);
INSERT INTO item_text (rowid, title, body, project) VALUES (1, 'above', '', 'WEB');
INSERT INTO inbox VALUES (1, 'release', 'autopilot', 'nightly', 'go', 'operator', 'x', 1, NULL);
INSERT INTO change VALUES (1, 1, 'seat', 'ada', 'created', 'WEB', 1, '');
INSERT INTO page VALUES (1, 'p1', 'main', 'Runbook', 'call', '[\"ops\",\"ops\",\"night\"]', NULL, 'seat', 'ada', 'why', 2, 1, 2);
INSERT INTO page_version VALUES (1, 1, 'Runbook', 'restart', 'seat', 'ada', 1);
INSERT INTO page_version VALUES (1, 2, 'Runbook', 'call', 'seat', 'ada', 2);
INSERT INTO page_text (rowid, title, body) VALUES (1, 'Runbook', 'call');
";

#[tokio::test]
async fn a_file_of_the_first_version_goes_on_with_everything_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = Connection::open(folder.path().join(FILE)).unwrap();
    file.execute_batch(FIRST).unwrap();
    file.execute_batch(KEPT).unwrap();
    file.execute_batch(&format!("PRAGMA application_id = {OURS}; PRAGMA user_version = 1;")).unwrap();
    drop(file);

    let store = Store::new(folder.path());
    let items = store.read(|s| s.items(&all(10))).await.unwrap();
    assert_eq!((items.len(), items[0].key(), items[0].kind.as_str()), (1, "WEB-1".to_owned(), "task"));
    assert_eq!(
        (items[0].merged, items[0].fields.len(), items[0].labels.as_slice()),
        (None, 0, &["bug".to_owned()][..])
    );
    let trash = store.read(|s| s.items(&Filter { removed: true, ..all(10) })).await.unwrap();
    assert_eq!(trash[0].key(), "WEB-2");
    let inbox = store.read(|s| s.inbox("release", Some(AT), None, 10)).await.unwrap();
    assert_eq!((inbox.len(), inbox[0].position, inbox[0].item), (1, None, None));
    for (label, count) in [("ops", 1), ("night", 1), ("day", 0)] {
        let filter = PageFilter { label: Some(label.into()), limit: 10, ..PageFilter::default() };
        assert_eq!(store.read(move |s| s.pages(&filter)).await.unwrap().len(), count, "{label}");
    }
    let page = store.read(|s| s.page("p1")).await.unwrap().unwrap();
    let versions = store.read(|s| s.page_versions(1, 10)).await.unwrap();
    let messages: Vec<_> = versions.iter().map(|version| version.message.as_deref()).collect();
    assert_eq!(messages, [Some("why"), None], "of the earlier one it was not kept");
    let changes =
        PageChanges { labels: Some(vec!["day".into()]), message: Some("new".into()), ..PageChanges::default() };
    let before = page.clone();
    store.write(move |s| s.save_page(&page, changes, &somebody())).await.unwrap();
    let then = store.read(move |s| s.page_at(&before, 2)).await.unwrap().unwrap();
    assert_eq!((then.labels.len(), then.body.as_str()), (3, "call"));
    let made = store.write(|s| s.create_item(new("next"), &somebody())).await.unwrap();
    assert_eq!(made.row.key(), "WEB-3");
    let restored = store.write(move |s| s.restore_tree(&trash[0], &somebody())).await.unwrap();
    assert_eq!(restored.row.version, 4);
    drop(store);
    backup::verify(&folder.path().join(FILE)).unwrap();
}

#[tokio::test]
async fn an_inbox_holds_one_message_for_each_item_and_marks_only_what_was_seen() {
    use super::inbox::Mark;
    let folder = tempfile::tempdir().unwrap();
    let store = fresh(folder.path()).await;
    let item = store.write(|s| s.create_item(new("x"), &somebody())).await.unwrap().row;
    let tell = async |position: i64| {
        let item = item.clone();
        let job = move |s: &WriteStore<'_>| s.tell("ada", (&item, position), ("news", ""), &somebody());
        store.write(job).await.unwrap();
    };
    let unread = async || store.read(|s| s.unread("ada", AT)).await.unwrap();
    let mark =
        async |id: (i64, Option<i64>), mark: Mark| store.write(move |s| s.mark("ada", id, mark, AT)).await.unwrap();
    tell(5).await;
    tell(7).await;
    let inbox = store.read(|s| s.inbox("ada", None, None, 10)).await.unwrap();
    assert_eq!((inbox.len(), inbox[0].position, unread().await), (1, Some(7), 1));
    let id = inbox[0].id;
    assert!(!mark((id, Some(5)), Mark::Read).await, "something came to it after that");
    assert_eq!(unread().await, 1);
    assert!(mark((id, Some(7)), Mark::Read).await);
    assert_eq!(unread().await, 0);
    tell(8).await;
    assert_eq!(unread().await, 1, "it is news again");
    let later = crate::clock::Timestamp::from_millis(AT.millis() + 1);
    assert!(mark((id, None), Mark::Snoozed(later)).await);
    assert_eq!(unread().await, 0);
    assert_eq!(store.read(move |s| s.unread("ada", later)).await.unwrap(), 1, "it comes back");
    assert_eq!(store.write(|s| s.seen_through("ada", 7, AT)).await.unwrap(), 0);
    assert_eq!(store.write(|s| s.seen_through("ada", 8, AT)).await.unwrap(), 1);
    assert!(!store.write(move |s| s.mark("release", (id, None), Mark::Unread, AT)).await.unwrap(), "another seat's");
}

#[tokio::test]
async fn lists_are_found_by_an_index_whatever_they_ask() {
    let folder = tempfile::tempdir().unwrap();
    let store = fresh(folder.path()).await;
    let text = |text: &str| Some(text.to_owned());
    let filters = [
        all(51),
        Filter { projects: vec!["WEB".into(), "APP".into()], ..all(51) },
        Filter { statuses: vec!["todo".into()], assignee: text("ada"), ..all(51) },
        Filter { reporter: text("ada"), ..all(51) },
        Filter { kind: text("bug"), ..all(51) },
        Filter { label: text("bug"), ..all(51) },
        Filter { parent: Some(1), priority: Some(4), ..all(51) },
        Filter { due: Some(Due::By("2026-12-24".into())), ..all(51) },
        Filter { due: Some(Due::Never), ..all(51) },
        Filter { text: text("login"), ..all(51) },
        Filter { removed: true, ..all(51) },
    ];
    for filter in filters {
        for sort in [Sort::Newest, Sort::Updated, Sort::Priority, Sort::Due] {
            if (&filter.due, sort) == (&Some(Due::Never), Sort::Due) {
                // Nothing is both; the tools refuse it.
                continue;
            }
            let filter = Filter { sort, ..filter.clone() };
            let asked = filter.clone();
            let plan = store.read(move |s| s.plan(&asked)).await.unwrap();
            let reads_all =
                |line: &String| line.starts_with("SCAN item") && !line.contains("USING") && !line.contains("VIRTUAL");
            assert!(!plan.iter().any(reads_all), "{filter:?}: {plan:#?}");
        }
    }
}

//! The store against everything that can be wrong with its file.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::items::{Filter, Item, Who};
use super::{Changed, FILE, NewItem, Signed, Store, StoreError, WriteStore, backup};
use crate::clock::Timestamp;

pub(super) const AT: Timestamp = Timestamp::from_millis(1_700_000_000_000);

pub(super) fn somebody() -> Signed {
    Signed { who: Who::new("seat", "release"), at: AT }
}

pub(super) fn new(title: &str) -> NewItem {
    NewItem { project: "WEB".into(), title: title.into(), status: "todo".into(), ..NewItem::default() }
}

pub(super) fn all(limit: i64) -> Filter {
    Filter { limit, ..Filter::default() }
}

pub(super) async fn fresh(folder: &Path) -> Store {
    let store = Store::new(folder);
    store.write(|s| s.put_project("WEB", "Web", AT)).await.unwrap();
    store
}

async fn create(store: &Store, title: &str) -> Changed<Item> {
    let new = new(title);
    store.write(move |s| s.create_item(new, &somebody())).await.unwrap()
}

async fn titles(store: &Store) -> Vec<String> {
    let items = store.read(|s| s.items(&all(1000))).await.unwrap();
    items.into_iter().map(|item| item.title).collect()
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn nothing_is_opened_before_it_is_used_and_everything_is_private() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(store.read(|s| s.items(&all(10))).await, Ok(Vec::new()), "reading makes the tables, too");
    let store = fresh(folder.path()).await;
    create(&store, "one").await;
    for file in [FILE.to_owned(), format!("{FILE}-wal"), format!("{FILE}-shm")] {
        assert_eq!(mode(&folder.path().join(&file)), 0o600, "{file}");
    }
    drop(store);
    assert_eq!(titles(&Store::new(folder.path())).await, ["one"], "kept over restarts");
}

#[tokio::test]
async fn a_file_that_is_not_there_any_more_or_another_one_is_not_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let store = fresh(folder.path()).await;
    create(&store, "one").await;
    let (path, aside) = (folder.path().join(FILE), folder.path().join("aside.db"));
    std::fs::rename(&path, &aside).unwrap();
    let refused = async |what: &str| {
        let new = new("lost");
        let written = store.write(move |s| s.create_item(new, &somebody())).await;
        assert_eq!(written, Err(StoreError::Moved), "{what}");
        assert_eq!(store.read(|s| s.items(&all(10))).await, Err(StoreError::Moved), "{what}");
    };
    refused("moved away").await;
    std::fs::copy(&aside, &path).unwrap();
    refused("replaced").await;
    std::fs::rename(&aside, &path).unwrap();
    create(&store, "two").await;
    assert_eq!(titles(&store).await, ["two", "one"], "put back");
    drop(store);
    assert_eq!(titles(&Store::new(folder.path())).await, ["two", "one"]);
}

#[tokio::test]
async fn a_job_that_fails_or_panics_leaves_nothing_and_stops_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let store = fresh(folder.path()).await;
    let failing = |s: &WriteStore<'_>| -> Result<(), StoreError> {
        s.create_item(new("half"), &somebody())?;
        Err(StoreError::Fault)
    };
    assert_eq!(store.write(failing).await, Err(StoreError::Fault));
    let panicking = |s: &WriteStore<'_>| -> Result<(), StoreError> {
        s.create_item(new("half"), &somebody())?;
        panic!("on purpose")
    };
    assert_eq!(store.write(panicking).await, Err(StoreError::Fault));
    let reading = |_: &super::ReadStore<'_>| -> Result<(), StoreError> { panic!("on purpose") };
    assert_eq!(store.read(reading).await, Err(StoreError::Fault));
    let made = create(&store, "whole").await.row;
    assert_eq!((titles(&store).await, made.key()), (vec!["whole".to_owned()], "WEB-1".to_owned()), "no number is lost");
    let found = store.read(|s| s.search_items("half", &[], 10)).await.unwrap();
    assert_eq!(found, [], "the text index goes with the transaction");
}

#[tokio::test]
async fn what_reads_cannot_write_even_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let store = fresh(folder.path()).await;
    let sneaky = |s: &super::ReadStore<'_>| -> Result<usize, StoreError> {
        Ok(s.connection.execute("DELETE FROM project", [])?)
    };
    let refused = store.read(sneaky).await.unwrap_err();
    assert!(matches!(&refused, StoreError::Unusable(text) if text.contains("readonly")), "{refused}");
}

#[tokio::test]
async fn a_full_disk_is_said_and_costs_only_what_did_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let store = fresh(folder.path()).await;
    create(&store, "before").await;
    let bound = |s: &WriteStore<'_>| -> Result<(), StoreError> {
        let pages: i64 = s.connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
        s.connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
        Ok(())
    };
    store.write(bound).await.unwrap();
    let large = NewItem { body: "x".repeat(1 << 20), ..new("large") };
    assert_eq!(store.write(move |s| s.create_item(large, &somebody())).await.unwrap_err(), StoreError::Full);
    assert_eq!(titles(&store).await, ["before"]);
    let free = |s: &WriteStore<'_>| -> Result<(), StoreError> {
        s.connection.query_row("PRAGMA max_page_count = 1000000", [], |_| Ok(()))?;
        Ok(())
    };
    store.write(free).await.unwrap();
    create(&store, "after").await;
    assert_eq!(titles(&store).await, ["after", "before"]);
}

#[tokio::test]
async fn a_locked_file_is_said_and_works_again_once_it_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let store = fresh(folder.path()).await;
    let other = rusqlite::Connection::open(folder.path().join(FILE)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = store.write(|s| s.put_project("APP", "App", AT)).await.unwrap_err();
    assert_eq!(refused, StoreError::Busy);
    assert_eq!(titles(&store).await, Vec::<String>::new(), "reading goes on");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.write(|s| s.put_project("APP", "App", AT)).await, Ok(true));
}

#[tokio::test]
async fn files_that_are_not_ours_are_left_alone_and_named() {
    let refused = async |prepare: &dyn Fn(&Path)| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        prepare(&file);
        let before = std::fs::read(&file).unwrap();
        let store = Store::new(folder.path());
        let refused = store.read(|s| s.items(&all(1))).await.unwrap_err();
        assert_eq!(std::fs::read(&file).unwrap(), before, "nothing is changed");
        std::fs::remove_file(&file).unwrap();
        assert_eq!(store.read(|s| s.items(&all(1))).await, Ok(Vec::new()), "tried again with the next job");
        refused
    };
    let garbage = refused(&|file| std::fs::write(file, "no database at all, ".repeat(200)).unwrap()).await;
    assert!(matches!(garbage, StoreError::Damaged(_)), "{garbage}");
    let foreign = refused(&|file| {
        rusqlite::Connection::open(file).unwrap().execute_batch("CREATE TABLE theirs (a)").unwrap();
    });
    assert_eq!(foreign.await, StoreError::Foreign);
    let later = refused(&|file| {
        let text = format!("PRAGMA application_id = {}; PRAGMA user_version = 99; CREATE TABLE t (a)", 0x4372_6577);
        rusqlite::Connection::open(file).unwrap().execute_batch(&text).unwrap();
    });
    assert!(matches!(later.await, StoreError::Newer { found: 99, .. }));
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(FILE)).unwrap();
    let unusable = Store::new(folder.path()).read(|s| s.items(&all(1))).await.unwrap_err();
    assert!(matches!(unusable, StoreError::Unusable(_)), "{unusable}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_whole_while_others_write() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(backup::backup(folder.path(), &folder.path().join("x")), Err(backup::BackupError::Nothing(_))));
    let store = fresh(folder.path()).await;
    for number in 0..50 {
        create(&store, &format!("item {number}")).await;
    }
    let writing = tokio::spawn({
        let store = store.clone();
        async move {
            for number in 50..100 {
                create(&store, &format!("item {number}")).await;
            }
        }
    });
    let copies = tempfile::tempdir().unwrap();
    let copy = copies.path().join(FILE);
    let (from, to) = (folder.path().to_path_buf(), copy.clone());
    tokio::task::spawn_blocking(move || backup::backup(&from, &to)).await.unwrap().unwrap();
    writing.await.unwrap();
    assert_eq!(mode(&copy), 0o600);
    assert!(matches!(backup::backup(folder.path(), &copy), Err(backup::BackupError::Exists(_))));
    backup::verify(&copy).unwrap();
    let kept = titles(&Store::new(copies.path())).await;
    assert!(kept.len() >= 50 && kept.last().unwrap() == "item 0", "{}", kept.len());
}

#[tokio::test]
async fn hostile_words_find_what_they_say_and_nothing_breaks() {
    let folder = tempfile::tempdir().unwrap();
    let store = fresh(folder.path()).await;
    create(&store, "Café opening: \"NEAR\" the door").await;
    create(&store, "robert'); DROP TABLE item;--").await;
    for (words, hits) in [
        ("cafe", 1),
        ("CAFÉ open", 1),
        ("near", 1),
        ("\"NEAR(", 1),
        ("drop table", 1),
        ("* OR 1=1", 0),
        ("'", 0),
        ("title:x", 0),
        ("op", 0),
        ("open", 1),
        ("\u{0}", 0),
        ("", 0),
    ] {
        let text = words.to_owned();
        let found = store.read(move |s| s.search_items(&text, &[], 10)).await.unwrap();
        assert_eq!(found.len(), hits, "{words}");
    }
    let other = store.read(|s| s.search_items("cafe", &["APP".to_owned()], 10)).await.unwrap();
    assert_eq!(other, [], "another project's");
    let nowhere = store.read(|s| s.search_items("cafe", &["-".to_owned(), "A-WEB".to_owned()], 10)).await.unwrap();
    assert_eq!(nowhere, [], "what is no project's key is not everywhere");
}

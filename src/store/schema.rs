//! The tables, version by version. A version that was released is never changed; the next one is appended.

use rusqlite::{Connection, TransactionBehavior};

use super::StoreError;
use super::schema_tracker::TRACKER;

/// Marks the file as ours: `Crew`.
pub(super) const OURS: i64 = 0x4372_6577;

/// From nothing to the present, one step each.
const VERSIONS: &[&str] = &[FIRST, TRACKER, super::memory::TABLES, super::questions::TABLES];

/// Times are milliseconds since the Unix epoch. People and seats are a kind and a name. `removed` is when something
/// was put into the trash. Keys of items are `project-number`; `uuid` is what the connector calls them.
pub(super) const FIRST: &str = "
CREATE TABLE project (
    key TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, next INTEGER NOT NULL DEFAULT 1, created INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE item (
    id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL REFERENCES project(key), number INTEGER NOT NULL,
    title TEXT NOT NULL, body TEXT NOT NULL, status TEXT NOT NULL, priority INTEGER NOT NULL,
    assignee_kind TEXT, assignee TEXT, reporter_kind TEXT NOT NULL, reporter TEXT NOT NULL,
    parent INTEGER REFERENCES item(id), labels TEXT NOT NULL, due TEXT,
    version INTEGER NOT NULL DEFAULT 1, created INTEGER NOT NULL, updated INTEGER NOT NULL, removed INTEGER,
    UNIQUE (project, number)
);
CREATE INDEX item_by_project ON item (project, id);
CREATE INDEX item_by_status ON item (status, id);
CREATE INDEX item_by_assignee ON item (assignee, id) WHERE assignee IS NOT NULL;
CREATE INDEX item_by_priority ON item (priority, id);
CREATE INDEX item_by_parent ON item (parent, id) WHERE parent IS NOT NULL;
CREATE INDEX item_by_removal ON item (removed);
CREATE INDEX item_in_trash ON item (id) WHERE removed IS NOT NULL;
CREATE TABLE item_label (
    label TEXT NOT NULL, item INTEGER NOT NULL REFERENCES item(id), PRIMARY KEY (label, item)
) WITHOUT ROWID;
CREATE INDEX item_label_by_item ON item_label (item);
CREATE TABLE comment (
    id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, item INTEGER NOT NULL REFERENCES item(id),
    body TEXT NOT NULL, author_kind TEXT NOT NULL, author TEXT NOT NULL,
    reply_to INTEGER REFERENCES comment(id), created INTEGER NOT NULL, removed INTEGER
);
CREATE INDEX comment_by_item ON comment (item, id);
CREATE TABLE page (
    id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, container TEXT NOT NULL, title TEXT NOT NULL,
    body TEXT NOT NULL, labels TEXT NOT NULL, parent INTEGER REFERENCES page(id),
    author_kind TEXT NOT NULL, author TEXT NOT NULL, message TEXT,
    version INTEGER NOT NULL DEFAULT 1, created INTEGER NOT NULL, updated INTEGER NOT NULL
);
CREATE INDEX page_by_container ON page (container, id);
CREATE TABLE page_version (
    page INTEGER NOT NULL REFERENCES page(id), version INTEGER NOT NULL, title TEXT NOT NULL, body TEXT NOT NULL,
    author_kind TEXT NOT NULL, author TEXT NOT NULL, created INTEGER NOT NULL,
    PRIMARY KEY (page, version)
) WITHOUT ROWID;
CREATE TABLE page_comment (
    id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, page INTEGER NOT NULL REFERENCES page(id),
    body TEXT NOT NULL, author_kind TEXT NOT NULL, author TEXT NOT NULL, created INTEGER NOT NULL
);
CREATE INDEX page_comment_by_page ON page_comment (page, id);
CREATE TABLE inbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT, seat TEXT NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL,
    body TEXT NOT NULL, sender_kind TEXT NOT NULL, sender TEXT NOT NULL, created INTEGER NOT NULL, seen INTEGER
);
CREATE INDEX inbox_by_seat ON inbox (seat, id);
CREATE TABLE change (
    position INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, actor_kind TEXT NOT NULL, actor TEXT NOT NULL,
    what TEXT NOT NULL, project TEXT, item INTEGER, detail TEXT NOT NULL
);
CREATE INDEX change_by_time ON change (at);
CREATE INDEX change_by_item ON change (item, position) WHERE item IS NOT NULL;
CREATE VIRTUAL TABLE item_text USING fts5 (
    title, body, project, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE page_text USING fts5 (
    title, body, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);
";

/// Whether the file is ours, or new. Looks only.
pub(super) fn check(connection: &Connection) -> Result<(), StoreError> {
    let mark: i64 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if mark != OURS && tables > 0 {
        return Err(StoreError::Foreign);
    }
    let found = version(connection)?;
    let known = latest();
    if found > known { Err(StoreError::Newer { found, known }) } else { Ok(()) }
}

/// Brings the tables up to date. Two programs that do so at once do it one after the other.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    if version(connection)? == latest() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let from = usize::try_from(version(&transaction)?).unwrap_or(0);
    for step in VERSIONS.iter().skip(from) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", OURS)?;
    transaction.pragma_update(None, "user_version", latest())?;
    transaction.commit()?;
    Ok(())
}

fn version(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

fn latest() -> i64 {
    i64::try_from(VERSIONS.len()).unwrap_or(i64::MAX)
}

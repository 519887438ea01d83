//! What the second version of the tables adds: types, own fields, links, merging and moving of items, trees in the
//! trash, views, pins, queues, the catalogue, and inboxes that hear of work.

/// `item_key` holds the keys that moved items had. `removed_with` is the item that a whole tree went into the trash
/// with. A message about an item stands once for each seat: what happens next is put into the same one.
pub(super) const TRACKER: &str = "
ALTER TABLE project ADD COLUMN about TEXT NOT NULL DEFAULT '';
ALTER TABLE project ADD COLUMN lead TEXT;
ALTER TABLE item ADD COLUMN type TEXT NOT NULL DEFAULT 'task';
ALTER TABLE item ADD COLUMN fields TEXT NOT NULL DEFAULT '{}';
ALTER TABLE item ADD COLUMN merged INTEGER REFERENCES item(id);
ALTER TABLE item ADD COLUMN removed_with INTEGER REFERENCES item(id);
CREATE INDEX item_by_type ON item (type, id);
CREATE INDEX item_by_reporter ON item (reporter, id);
CREATE INDEX item_by_due ON item (due, id) WHERE due IS NOT NULL;
CREATE INDEX item_by_update ON item (updated, id);
CREATE INDEX item_by_state ON item (project, removed, status);
CREATE INDEX item_by_tree ON item (removed_with) WHERE removed_with IS NOT NULL;
CREATE TABLE item_key (
    project TEXT NOT NULL, number INTEGER NOT NULL, item INTEGER NOT NULL REFERENCES item(id),
    PRIMARY KEY (project, number)
) WITHOUT ROWID;
CREATE TABLE item_link (
    item INTEGER NOT NULL REFERENCES item(id), kind TEXT NOT NULL, other INTEGER NOT NULL REFERENCES item(id),
    PRIMARY KEY (item, kind, other)
) WITHOUT ROWID;
CREATE INDEX item_link_back ON item_link (other, kind, item);
ALTER TABLE change ADD COLUMN data TEXT;
CREATE TABLE catalogue (
    id INTEGER PRIMARY KEY CHECK (id = 1), body TEXT NOT NULL, version INTEGER NOT NULL, updated INTEGER NOT NULL
);
CREATE TABLE work_view (
    name TEXT PRIMARY KEY NOT NULL, about TEXT NOT NULL, filter TEXT NOT NULL, author_kind TEXT NOT NULL,
    author TEXT NOT NULL, version INTEGER NOT NULL, updated INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE pin (
    seat TEXT NOT NULL, kind TEXT NOT NULL, target TEXT NOT NULL, place INTEGER NOT NULL,
    PRIMARY KEY (seat, kind, target)
) WITHOUT ROWID;
CREATE TABLE queue (
    seat TEXT NOT NULL, item INTEGER NOT NULL REFERENCES item(id), place INTEGER NOT NULL, PRIMARY KEY (seat, item)
) WITHOUT ROWID;
ALTER TABLE inbox ADD COLUMN item INTEGER REFERENCES item(id);
ALTER TABLE inbox ADD COLUMN position INTEGER;
ALTER TABLE inbox ADD COLUMN snoozed INTEGER;
CREATE UNIQUE INDEX inbox_by_item ON inbox (seat, item) WHERE item IS NOT NULL;
CREATE INDEX inbox_by_time ON inbox (seat, created);
ALTER TABLE page_version ADD COLUMN labels TEXT NOT NULL DEFAULT '[]';
ALTER TABLE page_version ADD COLUMN message TEXT;
CREATE INDEX page_by_parent ON page (parent, id) WHERE parent IS NOT NULL;
CREATE TABLE page_label (
    label TEXT NOT NULL, page INTEGER NOT NULL REFERENCES page(id), PRIMARY KEY (label, page)
) WITHOUT ROWID;
CREATE INDEX page_label_by_page ON page_label (page);
INSERT OR IGNORE INTO page_label SELECT value, page.id FROM page, json_each(page.labels);
UPDATE page_version SET
    labels = (SELECT labels FROM page WHERE id = page_version.page),
    message = (SELECT message FROM page WHERE id = page_version.page)
WHERE version = (SELECT version FROM page WHERE id = page_version.page);
";

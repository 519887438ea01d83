//! Which work items there are: lists by filter and order, searches, and what stands below an item. Nothing here changes
//! anything.

use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

use super::items::{ITEM, Item, item};
use super::{ReadStore, StoreError, text};

/// Which items are wanted; what is `None` or empty does not matter.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Filter {
    /// Any of these projects.
    pub projects: Vec<String>,
    /// Any of these words.
    pub statuses: Vec<String>,
    /// None of these words.
    pub not_statuses: Vec<String>,
    /// Exactly this priority.
    pub priority: Option<i64>,
    /// Assigned to this name.
    pub assignee: Option<String>,
    /// Made by this name.
    pub reporter: Option<String>,
    /// Directly below this item.
    pub parent: Option<i64>,
    /// With this label.
    pub label: Option<String>,
    /// Of this type.
    pub kind: Option<String>,
    /// When it is due.
    pub due: Option<Due>,
    /// Title or body hold all of these words. Of what holds them only the newest [`CANDIDATES`] are looked at.
    pub text: Option<String>,
    /// In the trash, instead of not.
    pub removed: bool,
    /// In which order.
    pub sort: Sort,
    /// Only items after this one in that order.
    pub after: Option<After>,
    /// Skip so many.
    pub offset: i64,
    /// At most so many.
    pub limit: i64,
}

/// How many items that hold the words of a filter are looked at.
pub const CANDIDATES: i64 = 5_000;

/// When something is due.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Due {
    /// On this day or before it.
    By(String),
    /// Never.
    Never,
}

/// In which order items are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sort {
    /// What was made last comes first.
    #[default]
    Newest,
    /// What was changed last comes first.
    Updated,
    /// What is most urgent comes first.
    Priority,
    /// What is due first comes first; what is never due is left out.
    Due,
}

/// A place in a list: the item that stands there, and what it is ordered by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct After {
    /// See [`Sort::key`].
    pub key: String,
    /// The item.
    pub id: i64,
}

impl Sort {
    /// What an item is ordered by, as text; empty where its number alone counts.
    pub fn key(self, item: &Item) -> String {
        match self {
            Self::Newest => String::new(),
            Self::Updated => item.updated.millis().to_string(),
            Self::Priority => item.priority.to_string(),
            Self::Due => item.due.clone().unwrap_or_default(),
        }
    }

    const fn order(self) -> &'static str {
        match self {
            Self::Newest => "id DESC",
            Self::Updated => "updated DESC, id DESC",
            Self::Priority => "priority DESC, id DESC",
            Self::Due => "due, id",
        }
    }

    const fn after(self) -> &'static str {
        match self {
            Self::Newest => " AND id < ?",
            Self::Updated => " AND (updated, id) < (CAST(? AS INTEGER), ?)",
            Self::Priority => " AND (priority, id) < (CAST(? AS INTEGER), ?)",
            Self::Due => " AND (due, id) > (?, ?)",
        }
    }
}

impl Filter {
    /// The query and its values.
    fn query(&self) -> (String, Vec<Value>) {
        // Which ones is found in the indexes alone, so that what is skipped is never read.
        let removed = if self.removed { "NOT NULL" } else { "NULL" };
        // In another order than that of the numbers the index of the order is walked until there are enough, unless
        // something narrower is asked for: a `+` keeps SQLite from taking what nearly all items have for narrow.
        let (wide, place, kind) = match (self.sort, self.removed, self.projects.len()) {
            (Sort::Newest, ..) | (_, true, _) => ("", "project", " AND type = ?"),
            (_, false, ..=1) => ("+", "project", " AND +type = ?"),
            (_, false, _) => ("+", "+project", " AND +type = ?"),
        };
        let mut query = format!("{ITEM} WHERE id IN (SELECT id FROM item WHERE {wide}removed IS {removed}");
        let mut values: Vec<Value> = Vec::new();
        let mut list = |column: &str, not: &str, words: &[String]| {
            if !words.is_empty() {
                let more = ", ?".repeat(words.len() - 1);
                query.extend([" AND ", column, not, " IN (?", &more, ")"]);
                values.extend(words.iter().cloned().map(Value::Text));
            }
        };
        list(place, "", &self.projects);
        list("status", "", &self.statuses);
        list("status", " NOT", &self.not_statuses);
        let text = |text: &Option<String>| text.clone().map(Value::Text);
        let by = match &self.due {
            Some(Due::By(day)) => Some(day.clone()),
            _ => None,
        };
        for (clause, value) in [
            (" AND priority = ?", self.priority.map(Value::Integer)),
            (" AND assignee = ?", text(&self.assignee)),
            (" AND reporter = ?", text(&self.reporter)),
            (" AND parent = ?", self.parent.map(Value::Integer)),
            (kind, text(&self.kind)),
            (" AND id IN (SELECT item FROM item_label WHERE label = ?)", text(&self.label)),
            (" AND due <= ?", text(&by)),
        ] {
            if let Some(value) = value {
                query.push_str(clause);
                values.push(value);
            }
        }
        if self.due == Some(Due::Never) {
            query.push_str(" AND due IS NULL");
        } else if self.sort == Sort::Due {
            query.push_str(" AND due IS NOT NULL");
        }
        if let Some(wanted) = &self.text {
            // Words that are none match nothing.
            let wanted = wanted_in(wanted, &self.projects).unwrap_or_else(|| "\"\"".to_owned());
            query.push_str(
                " AND id IN (SELECT rowid FROM item_text WHERE item_text MATCH ? ORDER BY rowid DESC LIMIT ?)",
            );
            values.extend([Value::Text(wanted), Value::Integer(CANDIDATES)]);
        }
        if let Some(After { key, id }) = &self.after {
            query.push_str(self.sort.after());
            values.extend((self.sort != Sort::Newest).then(|| Value::Text(key.clone())));
            values.push(Value::Integer(*id));
        }
        let order = self.sort.order();
        query.extend([" ORDER BY ", order, " LIMIT ? OFFSET ?) ORDER BY ", order]);
        values.extend([Value::Integer(self.limit), Value::Integer(self.offset)]);
        (query, values)
    }
}

/// All of these words, in these projects where there are any; `None` where nothing can be meant: without words, and in
/// projects that no item can be in.
fn wanted_in(words: &str, projects: &[String]) -> Option<String> {
    let wanted = text::query(words, "title body")?;
    if projects.is_empty() {
        Some(wanted)
    } else {
        Some(format!("{wanted} AND {}", text::any_of("project", projects)?))
    }
}

impl ReadStore<'_> {
    /// Items in the filter's order.
    pub fn items(&self, filter: &Filter) -> Result<Vec<Item>, StoreError> {
        let (query, values) = filter.query();
        rows(self.connection, &query, values)
    }

    /// Items whose title or body hold all of these words (the last one may be a beginning), newest first. Those in the
    /// trash are not found.
    pub fn search_items(&self, words: &str, projects: &[String], limit: i64) -> Result<Vec<Item>, StoreError> {
        let Some(wanted) = wanted_in(words, projects) else { return Ok(Vec::new()) };
        // From the text index alone first: what it finds stands in its own order already.
        let query = format!(
            "{ITEM} WHERE id IN (SELECT rowid FROM item_text WHERE item_text MATCH ? ORDER BY rowid DESC LIMIT ?) \
             ORDER BY id DESC"
        );
        rows(self.connection, &query, vec![Value::Text(wanted), Value::Integer(limit)])
    }

    /// Everything below an item that is not in the trash, at most so many.
    pub fn below(&self, id: i64, limit: i64) -> Result<Vec<Item>, StoreError> {
        let query = format!(
            "WITH RECURSIVE tree(below) AS (SELECT id FROM item WHERE parent = ?1 \
             UNION SELECT item.id FROM item JOIN tree ON item.parent = tree.below) \
             {ITEM} WHERE id IN tree AND removed IS NULL ORDER BY id LIMIT ?2"
        );
        let mut query = self.connection.prepare_cached(&query)?;
        let rows = query.query_map(params![id, limit], item)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The projects of what stands directly below an item, also in the trash.
    pub fn projects_below(&self, id: i64) -> Result<Vec<String>, StoreError> {
        let mut query = self.connection.prepare_cached("SELECT DISTINCT project FROM item WHERE parent = ?1")?;
        let rows = query.query_map([id], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// What went into the trash together with an item and is still there.
    pub fn removed_with(&self, root: i64) -> Result<Vec<Item>, StoreError> {
        let query = format!("{ITEM} WHERE removed_with = ? AND removed IS NOT NULL ORDER BY id");
        rows(self.connection, &query, vec![Value::Integer(root)])
    }

    /// The items that a seat has put into an order, in that order; without those in the trash.
    pub fn queue(&self, seat: &str) -> Result<Vec<Item>, StoreError> {
        // The columns of both tables have different names.
        let query = format!(
            "{ITEM} JOIN (SELECT item AS queued, place FROM queue WHERE seat = ?) ON queued = id \
             WHERE removed IS NULL ORDER BY place"
        );
        rows(self.connection, &query, vec![Value::Text(seat.to_owned())])
    }
}

fn rows(connection: &Connection, query: &str, values: Vec<Value>) -> Result<Vec<Item>, StoreError> {
    let mut query = connection.prepare_cached(query)?;
    let rows = query.query_map(params_from_iter(values), item)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

#[cfg(test)]
impl ReadStore<'_> {
    /// How SQLite finds the items of a filter.
    pub(super) fn plan(&self, filter: &Filter) -> Result<Vec<String>, StoreError> {
        let (query, values) = filter.query();
        let mut query = self.connection.prepare(&format!("EXPLAIN QUERY PLAN {query}"))?;
        let rows = query.query_map(params_from_iter(values), |row| row.get(3))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

//! Work items in the words of the screen.

use std::sync::Arc;

use serde_json::Value;

use super::{MOST, SHOWN, Say};
use crate::native::request::Refusal;
use crate::native::words::{PRIORITIES, word};
use crate::rows::work;
use crate::store::ReadStore;
use crate::store::heads::{Beginnings, ItemHead};
use crate::store::items::{Item, Link, Project};
use crate::store::trail::Change;

impl Say {
    pub(super) fn items(&self, store: &ReadStore<'_>, wanted: &work::Wanted) -> Result<work::Listed, Refusal> {
        let beginnings = Beginnings {
            text: &wanted.text,
            status: wanted.status.as_deref(),
            assignee: wanted.assignee.as_deref(),
            place: wanted.project.as_deref(),
            label: wanted.label.as_deref(),
            removed: wanted.trash,
        };
        let (items, all) = store.item_heads(&beginnings, wanted.most.min(MOST))?;
        let project = |project: Project| work::Project { key: self.text(&project.key), name: self.text(&project.name) };
        Ok(work::Listed {
            items: items.iter().map(|item| self.head(item)).collect(),
            all,
            projects: store.projects()?.into_iter().take(MOST).map(project).collect(),
        })
    }

    fn head(&self, item: &ItemHead) -> work::Head {
        work::Head {
            key: format!("{}-{}", item.project, item.number).into(),
            title: self.text(&item.title),
            status: self.text(&item.status),
            priority: word(PRIORITIES, item.priority),
            assignee: item.assignee.as_deref().map(|name| self.text(name)),
            labels: self.texts(&item.labels),
            due: item.due.as_deref().map(|day| self.text(day)),
            updated: item.updated,
            removed: item.removed,
        }
    }

    fn link(&self, item: &ItemHead) -> work::Link {
        work::Link {
            key: format!("{}-{}", item.project, item.number).into(),
            title: self.text(&item.title),
            status: self.text(&item.status),
        }
    }

    /// What a field holds: a text as it is, everything else as JSON.
    fn value(&self, value: &Value) -> Arc<str> {
        value.as_str().map_or_else(|| self.text(&value.to_string()), |text| self.text(text))
    }

    pub(super) fn item(&self, store: &ReadStore<'_>, name: &str) -> Result<Option<work::Item>, Refusal> {
        let Some(item) = store.item(name)? else { return Ok(None) };
        let parent = match item.parent {
            Some(parent) => store.item_by_id(parent)?.map(|parent| self.link(&head_of(&parent))),
            None => None,
        };
        let mut links = Vec::new();
        for link in store.links(item.id)?.into_iter().take(SHOWN) {
            if let Some(other) = store.item_by_id(link.other)? {
                links.push((self.text(relation(&link)), self.link(&head_of(&other))));
            }
        }
        let (count, before) = store.comment_count(item.id, SHOWN)?;
        let limit = i64::try_from(SHOWN).unwrap_or(0);
        let comments = store.comments(item.id, before, limit)?;
        let change = |change: &Change| work::Change {
            at: change.at,
            actor: self.who(&change.actor),
            what: self.text(&change.what),
            // What stands beside a comment is its id, which says nothing to people.
            detail: if change.what == "commented" { "".into() } else { self.text(&change.detail) },
        };
        Ok(Some(work::Item {
            head: self.head(&head_of(&item)),
            kind: self.text(&item.kind),
            fields: item.fields.iter().take(SHOWN).map(|(name, value)| (self.text(name), self.value(value))).collect(),
            body: self.text(&item.body),
            links,
            reporter: self.who(&item.reporter),
            parent,
            children: store.children(&item, SHOWN)?.iter().map(|item| self.link(item)).collect(),
            version: item.version,
            created: item.created,
            earlier_comments: count.saturating_sub(comments.len()),
            comments: comments.iter().map(|c| self.comment(&c.author, c.created, &c.body)).collect(),
            history: store.history(item.id, limit)?.iter().map(change).collect(),
        }))
    }
}

/// How another item stands to this one, in words.
fn relation(link: &Link) -> &str {
    match (&*link.kind, link.reversed) {
        ("blocks", true) => "blocked by",
        ("duplicates", true) => "duplicated by",
        ("relates", _) => "relates to",
        (kind, _) => kind,
    }
}

fn head_of(item: &Item) -> ItemHead {
    ItemHead {
        project: item.project.clone(),
        number: item.number,
        title: item.title.clone(),
        status: item.status.clone(),
        priority: item.priority,
        assignee: item.assignee.as_ref().map(|who| who.id.clone()),
        labels: item.labels.clone(),
        due: item.due.clone(),
        updated: item.updated,
        removed: item.removed,
    }
}

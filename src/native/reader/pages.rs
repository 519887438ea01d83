//! Pages in the words of the screen.

use super::{MOST, SHOWN, Say};
use crate::native::request::Refusal;
use crate::rows::pages;
use crate::store::ReadStore;
use crate::store::heads::{Beginnings, PageHead, PageVersion};

impl Say {
    pub(super) fn pages(&self, store: &ReadStore<'_>, wanted: &pages::Wanted) -> Result<pages::Listed, Refusal> {
        let beginnings = Beginnings {
            text: &wanted.text,
            place: wanted.container.as_deref(),
            label: wanted.label.as_deref(),
            ..Beginnings::default()
        };
        let (pages, all) = store.page_heads(&beginnings, wanted.most.min(MOST))?;
        Ok(pages::Listed { pages: pages.iter().map(|page| self.page_head(page)).collect(), all })
    }

    fn page_head(&self, page: &PageHead) -> pages::Head {
        pages::Head {
            id: self.text(&page.uuid),
            container: self.text(&page.container),
            title: self.text(&page.title),
            labels: self.texts(&page.labels),
            version: page.version,
            author: self.who(&page.author),
            updated: page.updated,
        }
    }

    pub(super) fn page(
        &self,
        store: &ReadStore<'_>,
        (id, version): (&str, Option<i64>),
    ) -> Result<Option<pages::Page>, Refusal> {
        let Some(page) = store.page(id)? else { return Ok(None) };
        let mut head = self.page_head(&PageHead {
            uuid: page.uuid.clone(),
            container: page.container.clone(),
            title: page.title.clone(),
            labels: page.labels.clone(),
            version: page.version,
            author: page.author.clone(),
            updated: page.updated,
        });
        let mut body = self.text(&page.body);
        let earlier = match version.filter(|version| *version != page.version) {
            Some(version) => store.page_version(page.id, version)?,
            None => None,
        };
        if let Some(earlier) = earlier {
            head.title = self.text(&earlier.title);
            head.author = self.who(&earlier.author);
            (head.version, head.updated) = (earlier.version, earlier.created);
            body = self.text(earlier.body.as_deref().unwrap_or_default());
        }
        let parent = match page.parent {
            Some(parent) => store.page_title(parent)?,
            None => None,
        };
        let version = |version: &PageVersion| pages::Version {
            number: version.version,
            author: self.who(&version.author),
            at: version.created,
            message: version.message.as_deref().map(|message| self.text(message)),
        };
        let (count, before) = store.page_comment_count(page.id, SHOWN)?;
        let comments = store.page_comments(page.id, before, i64::try_from(SHOWN).unwrap_or(0))?;
        Ok(Some(pages::Page {
            head,
            newest: page.version,
            body,
            parent: parent.map(|title| self.text(&title)),
            created: page.created,
            versions: store.page_versions(page.id, SHOWN)?.iter().map(version).collect(),
            earlier_comments: count.saturating_sub(comments.len()),
            comments: comments.iter().map(|c| self.comment(&c.author, c.created, &c.body)).collect(),
        }))
    }
}

//! Answers what a screen asks about the company's rows: as they are in the store, redacted, in bounded portions.
//!
//! Reading is no call: it passes no gate and is in no audit, so it only gives out what the person at the screen may
//! read anyway. Jobs get a [`ReadStore`] and cannot change anything. Each family of questions has a file of its own here.

mod pages;
#[cfg(test)]
mod tests;
mod work;

use std::sync::Arc;

use tokio::sync::watch;

use super::company::Company;
use super::request::Refusal;
use super::tool::Part;
use crate::clock::Timestamp;
use crate::rows::work::Comment;
use crate::rows::{Answer, Ask, Found, Reader, Reading};
use crate::secret::Redactor;
use crate::store::items::Who;
use crate::store::{ReadStore, Store};

/// Comments, changes, versions and items below another one that are shown with it.
const SHOWN: usize = 100;
/// The longest list.
const MOST: usize = 5_000;

/// See the module.
#[derive(Debug)]
pub struct RowReader {
    store: Store,
    company: Arc<Company>,
    redactor: Redactor,
}

impl RowReader {
    /// A reader of this company's store.
    pub const fn new(store: Store, company: Arc<Company>, redactor: Redactor) -> Self {
        Self { store, company, redactor }
    }

    /// # Errors
    /// What has to be open for a question is not.
    fn open(&self, ask: &Ask) -> Result<(), Refusal> {
        let part = match ask {
            Ask::Work(_) | Ask::Item(_) => Part::Work,
            Ask::Pages(_) | Ask::Page(..) => Part::Pages,
        };
        if self.company.is_open(part) { Ok(()) } else { Err(super::closed(part)) }
    }

    async fn find(&self, ask: Ask) -> Result<Found, Refusal> {
        self.open(&ask)?;
        let say = Say(self.redactor.clone());
        let job = move |store: &ReadStore<'_>| -> Result<Found, Refusal> {
            Ok(match &ask {
                Ask::Work(wanted) => Found::Work(say.items(store, wanted)?),
                Ask::Item(name) => Found::Item(say.item(store, name)?.map(Box::new)),
                Ask::Pages(wanted) => Found::Pages(say.pages(store, wanted)?),
                Ask::Page(id, version) => Found::Page(say.page(store, (id, *version))?.map(Box::new)),
            })
        };
        self.store.read(job).await
    }
}

impl Reader for RowReader {
    fn read(self: Arc<Self>, ask: Ask) -> Reading {
        Box::pin(async move {
            let found = self.find(ask.clone()).await.map_err(|refusal| refusal.to_string().into());
            Answer { ask, found }
        })
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.store.changed().subscribe()
    }
}

/// Rows in the words of the screen.
struct Say(Redactor);

impl Say {
    fn text(&self, text: &str) -> Arc<str> {
        self.0.redact(text).into()
    }

    fn texts(&self, texts: &[String]) -> Vec<Arc<str>> {
        texts.iter().map(|text| self.text(text)).collect()
    }

    fn who(&self, who: &Who) -> Arc<str> {
        self.text(&format!("{}:{}", who.kind, who.id))
    }

    fn comment(&self, author: &Who, at: Timestamp, body: &str) -> Comment {
        Comment { author: self.who(author), at, body: self.text(body) }
    }
}

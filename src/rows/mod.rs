//! The company's rows as a screen asks for them: questions that can be compared, answers that own what they say, and
//! the [`Reader`] that answers. Types only; they know neither the screen nor the store.
//!
//! A pane declares what it wants to know as an [`Ask`]; `tui::rows` asks for it, and again after each change. The
//! answers come from [`crate::native`], redacted, and bounded by the question. Nothing here changes anything: who wants
//! to change a row calls the company's tools like everybody else.
//!
//! One more thing to read is one more variant of [`Ask`] and of [`Found`] with its types in a file of their own here, and
//! one arm in `native::reader` with its reading in a file of its own there. The pane says what it wants in
//! `Panes::wants` and gets the answer by `Panes::take`; it keeps what it shows until the next answer.

pub mod pages;
pub mod work;

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::watch;

/// One question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ask {
    /// A list of work items.
    Work(work::Wanted),
    /// One work item by its key or id, with everything that belongs to it.
    Item(Arc<str>),
    /// A list of pages.
    Pages(pages::Wanted),
    /// One page by its id; an earlier version of it where one is named.
    Page(Arc<str>, Option<i64>),
}

/// What was found.
#[derive(Clone, Debug)]
pub enum Found {
    /// To [`Ask::Work`].
    Work(work::Listed),
    /// To [`Ask::Item`]; `None`: there is none.
    Item(Option<Box<work::Item>>),
    /// To [`Ask::Pages`].
    Pages(pages::Listed),
    /// To [`Ask::Page`]; `None`: there is none.
    Page(Option<Box<pages::Page>>),
}

/// An answer with its question.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What was asked.
    pub ask: Ask,
    /// What was found, or one line that says why nothing can be: what is closed and by which setting, what is wrong
    /// with the store.
    pub found: Result<Found, Arc<str>>,
}

/// A read on its way.
pub type Reading = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// Who answers. Reading is not a call: nobody is asked, and it is in no audit.
pub trait Reader: Debug + Send + Sync {
    /// Answers one question. Blocks no thread of the runtime; ends also when what it reads is damaged.
    fn read(self: Arc<Self>, ask: Ask) -> Reading;

    /// Counts up with each change of anything that can be read. Its first value says nothing.
    fn changes(&self) -> watch::Receiver<u64>;
}

/// A reader where there is nothing to read: everything is answered with this line.
#[derive(Debug)]
pub struct Nothing(pub Arc<str>);

impl Reader for Nothing {
    fn read(self: Arc<Self>, ask: Ask) -> Reading {
        Box::pin(async move { Answer { ask, found: Err(self.0.clone()) } })
    }

    fn changes(&self) -> watch::Receiver<u64> {
        watch::channel(0).1
    }
}

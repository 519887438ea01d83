//! A server's question to the person: what it says and the fields it wants filled in, and what makes a filled-in form
//! fit it.
//!
//! The engine reads questions with [`read()`] and writes answers with [`Form::compose`]; the screen draws the fields.
//! Questions come from servers and are hostile until proven otherwise: everything is bounded, and whatever is more than
//! a flat list of simple fields is refused with a reason. Pure.

mod check;
mod read;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use check::{Content, Wrong};
pub use read::{Unsupported, read};

/// A question that can be shown as a form. Every text is sanitised, redacted and bounded; names and values of choices
/// are as sent, because they go back.
#[derive(Clone, PartialEq, Debug)]
pub struct Form {
    /// The server's words, line by line.
    pub message: Vec<Arc<str>>,
    /// The fields, in the server's order.
    pub fields: Vec<Field>,
}

/// One field.
#[derive(Clone, PartialEq, Debug)]
pub struct Field {
    /// Its name in the answer, as sent.
    pub name: Arc<str>,
    /// What it is called on the screen.
    pub label: Arc<str>,
    /// What the server says about it; may be empty.
    pub about: Arc<str>,
    /// Whether it may be left out.
    pub need: Need,
    /// What it takes.
    pub kind: Kind,
}

/// Whether a field may be left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// It may not.
    Required,
    /// It may.
    Optional,
}

/// What a field takes, with what the server suggests.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// Text on one line.
    Text {
        /// The fewest and the most characters.
        length: (Option<u64>, Option<u64>),
        /// The form that it must have.
        format: Option<Format>,
        /// To begin with.
        default: Arc<str>,
    },
    /// A number.
    Number {
        /// Whole numbers only, or any.
        grain: Grain,
        /// The least and the greatest.
        range: (Option<f64>, Option<f64>),
        /// To begin with, as JSON; empty where there is none.
        default: Arc<str>,
    },
    /// Yes or no.
    Switch {
        /// To begin with.
        default: Option<bool>,
    },
    /// One of several.
    One {
        /// What there is to choose from.
        choices: Vec<Choice>,
        /// To begin with, by place.
        default: Option<usize>,
    },
    /// Some of several.
    Many {
        /// What there is to choose from.
        choices: Vec<Choice>,
        /// The fewest and the most of them.
        count: (Option<u64>, Option<u64>),
        /// To begin with, by place.
        default: Vec<usize>,
    },
}

/// Which numbers a field takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grain {
    /// Whole ones.
    Whole,
    /// Any.
    Any,
}

/// The form of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// An address for mail.
    Email,
    /// An address with its scheme.
    Uri,
    /// `2026-11-30`.
    Date,
    /// `2026-11-30T14:03:00Z`.
    DateTime,
}

/// One thing to choose.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// What goes back, as sent.
    pub value: Arc<str>,
    /// What is shown.
    pub label: Arc<str>,
}

/// What a person put into a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entered {
    /// A text, or a number as it was written; empty: nothing.
    Text(String),
    /// Yes, no, or neither.
    Switch(Option<bool>),
    /// A choice by its place, or none.
    One(Option<usize>),
    /// Choices by their places.
    Many(Vec<usize>),
}

impl Field {
    /// What stands in it before anybody wrote anything.
    pub fn begin(&self) -> Entered {
        match &self.kind {
            Kind::Text { default, .. } | Kind::Number { default, .. } => Entered::Text(default.as_ref().to_owned()),
            Kind::Switch { default } => Entered::Switch(*default),
            Kind::One { default, .. } => Entered::One(*default),
            Kind::Many { default, .. } => Entered::Many(default.clone()),
        }
    }
}

impl Format {
    /// What it is, for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Email => "an e-mail address",
            Self::Uri => "an address with its scheme, https://…",
            Self::Date => "a date, 2026-11-30",
            Self::DateTime => "a date and time, 2026-11-30T14:03:00Z",
        }
    }
}

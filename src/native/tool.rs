//! What a first-party tool is: its name, its hints, its arguments and its handler, as data in one place. Listings,
//! schemas and the checking of arguments all come from it.

use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::Native;
use super::request::{Outcome, Refusal, Request};
use super::shape;
use crate::engine::first_party::World;
use crate::engine::snapshot::Caller;
use crate::store::{ReadStore, WriteStore};
use crate::tool::annotations::{Annotations, Hint};

/// One tool.
#[derive(Debug)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// A name for people.
    pub title: &'static str,
    /// What it does.
    pub about: &'static str,
    /// What is known of its effect.
    pub hints: Effects,
    /// The surface that a finished call reaches.
    pub delivers: Option<&'static str>,
    /// What has to be open for it.
    pub part: Part,
    /// Who is offered it.
    pub audience: Audience,
    /// Its arguments.
    pub fields: &'static [Field],
    /// What it does, in code.
    pub handler: Handler,
}

/// The four hints of a tool, in the order read only, destructive, idempotent, open world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effects(pub [Hint; 4]);

/// A part of the company's own tools that can be closed by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Work items: `engine.native.tracker`.
    Work,
    /// Pages: `engine.native.pages`.
    Pages,
    /// What the program always brings.
    Own,
    /// Finding and activating tools: `engine.discovery: progressive`.
    Discovery,
    /// The two ends of a turn: `engine.turn_tools`.
    Turns,
}

/// Who is offered a tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Audience {
    /// Seats, operators and the person at the screen.
    Everybody,
    /// Operators and the person at the screen.
    Operators,
    /// The agents of seats: it acts for the seat that calls it.
    Seats,
}

/// A tool's code. What a read-only tool gets cannot write.
#[derive(Clone, Copy, Debug)]
pub enum Handler {
    /// Changes nothing.
    Read(fn(&ReadStore<'_>, &Request) -> Outcome),
    /// Changes something.
    Write(fn(&WriteStore<'_>, &Request) -> Outcome),
    /// Does more than one step in the store: waits, or works with what lives only while the program runs.
    Run(fn(Ask) -> Running),
}

/// A tool's work that may take a while.
pub type Running = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// What such a tool works with.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The company's own tools and what they stand on.
    pub native: Arc<Native>,
    /// Who asks for what.
    pub request: Request,
    /// Who asks, as the engine sees them, with their session.
    pub caller: Caller,
    /// What there is at this moment.
    pub world: World,
    /// Cancelled when the caller is gone.
    pub cancel: CancellationToken,
}

/// One argument.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its key.
    pub name: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// Whether it has to be there.
    pub required: bool,
    /// What it means.
    pub about: &'static str,
    /// Other names that are taken for it; no schema shows them.
    pub also: &'static [&'static str],
}

/// What an argument may be. `null` counts as absent; where a change may clear a field, it says so.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A text that is not blank, of at most so many characters.
    Text(usize),
    /// A text that may be empty, of at most so many characters.
    Body(usize),
    /// A text that is not blank, of any length.
    Whole,
    /// A value of these types of JSON; what it means is for the handler.
    Loose(&'static [&'static str]),
    /// The same as `Text`; `null` clears it.
    Clearable(usize),
    /// A day, `2026-12-24`; `null` clears it.
    Day,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Some of these words, no more than there are.
    SomeOf(&'static [&'static str]),
    /// Short texts.
    Texts,
    /// A whole number within these bounds.
    Count(i64, i64),
    /// Yes or no.
    Flag,
    /// A moment, `2026-12-24T08:00:00Z`.
    Moment,
    /// Where a list goes on: what it said itself.
    Cursor,
    /// An object with these keys.
    Object(&'static [Field]),
    /// Objects with these keys.
    Objects(&'static [Field]),
    /// Objects with these keys; a whole number stands for one that has only the first of them.
    Marks(&'static [Field]),
    /// Texts and numbers by names that are not known here; `null` clears one.
    Values,
}

/// Most items of a list.
pub(super) const MOST_ITEMS: usize = 64;
/// Longest text of a list, in characters.
pub(super) const LONGEST_ITEM: usize = 64;
/// Most objects of a list.
pub(super) const MOST_OBJECTS: usize = 200;

impl Tool {
    /// As an MCP tool with all that its hints say, also no: for the catalogue.
    pub fn listed(&self) -> Value {
        let mut annotations = Map::new();
        for (name, hint) in crate::tool::annotations::HintName::ALL.into_iter().zip(self.hints.0) {
            if hint != Hint::Unknown {
                annotations.insert(name.camel().to_owned(), Value::Bool(hint == Hint::Yes));
            }
        }
        json!({
            "name": self.name, "title": self.title, "description": self.about,
            "inputSchema": self.schema(), "annotations": annotations,
        })
    }

    /// As an MCP tool as it is served: only what is positively so.
    pub fn served(&self) -> Value {
        let mut tool = json!({
            "name": self.name, "title": self.title, "description": self.about, "inputSchema": self.schema(),
        });
        if let (Some(tool), Some(annotations)) = (tool.as_object_mut(), self.annotations().to_wire()) {
            tool.insert("annotations".to_owned(), Value::Object(annotations));
        }
        tool
    }

    /// Its hints.
    pub fn annotations(&self) -> Annotations {
        let [read_only, destructive, idempotent, open_world] = self.hints.0;
        Annotations { title: String::new(), read_only, destructive, idempotent, open_world }
    }

    /// True when its hints say that it may delete or overwrite.
    pub fn is_destructive(&self) -> bool {
        self.annotations().destructive == Hint::Yes
    }

    fn schema(&self) -> Value {
        schema(self.fields)
    }

    /// Puts arguments that came under another name of a field under its own. What is there under both stays, and is
    /// refused by [`Self::check`].
    pub fn rename(&self, arguments: &mut Map<String, Value>) {
        for field in self.fields {
            for other in field.also {
                if !arguments.contains_key(field.name)
                    && let Some(value) = arguments.remove(*other)
                {
                    arguments.insert(field.name.to_owned(), value);
                }
            }
        }
    }

    /// Checks arguments against the fields.
    ///
    /// # Errors
    /// The first thing that is wrong, with the argument's name.
    pub fn check(&self, arguments: &Map<String, Value>) -> Result<(), Refusal> {
        check(self.fields, arguments, self.name)
    }
}

/// Checks an object against fields; `of` is whose they are.
pub(super) fn check(fields: &[Field], object: &Map<String, Value>, of: &str) -> Result<(), Refusal> {
    let known: HashSet<&str> = fields.iter().map(|field| field.name).collect();
    if let Some(unknown) = object.keys().find(|key| !known.contains(key.as_str())) {
        let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
        let unknown = crate::text::fit(&crate::text::visible(unknown), 40).into_owned();
        let takes = if names.is_empty() { "no arguments".to_owned() } else { names.join(", ") };
        return Err(Refusal::invalid(format!("{of} takes no \"{unknown}\"; it takes {takes}")));
    }
    for field in fields {
        match object.get(field.name) {
            None | Some(Value::Null) if field.required => {
                return Err(Refusal::invalid(format!(
                    "{} is missing: {}",
                    field.name,
                    field.about.trim_end_matches('.')
                )));
            }
            None | Some(Value::Null) => {}
            Some(value) => field.check(value)?,
        }
    }
    Ok(())
}

fn schema(fields: &[Field]) -> Value {
    let properties: Map<String, Value> = fields.iter().map(|field| (field.name.to_owned(), field.schema())).collect();
    let required: Vec<&str> = fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

impl Field {
    /// An argument that has to be there.
    pub const fn required(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, required: true, about, also: &[] }
    }

    /// An argument that may be there.
    pub const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, required: false, about, also: &[] }
    }

    /// The same, also under these names.
    #[must_use]
    pub const fn or(mut self, also: &'static [&'static str]) -> Self {
        self.also = also;
        self
    }

    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text(most) => json!({"type": "string", "minLength": 1, "maxLength": most}),
            Kind::Body(most) => json!({"type": "string", "maxLength": most}),
            Kind::Whole => json!({"type": "string", "minLength": 1}),
            Kind::Loose(types) => json!({"type": types}),
            Kind::Clearable(most) => json!({"type": ["string", "null"], "minLength": 1, "maxLength": most}),
            Kind::Day => json!({"type": ["string", "null"], "format": "date"}),
            Kind::OneOf(words) => json!({"type": "string", "enum": words}),
            Kind::SomeOf(words) => {
                json!({"type": "array", "maxItems": words.len(), "items": {"type": "string", "enum": words}})
            }
            Kind::Texts => {
                let item = json!({"type": "string", "minLength": 1, "maxLength": LONGEST_ITEM});
                json!({"type": "array", "maxItems": MOST_ITEMS, "items": item})
            }
            Kind::Count(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
            Kind::Flag => json!({"type": "boolean"}),
            Kind::Moment => json!({"type": "string", "format": "date-time"}),
            Kind::Cursor => json!({"type": ["integer", "string"]}),
            Kind::Object(fields) => schema(fields),
            Kind::Objects(fields) => json!({"type": "array", "maxItems": MOST_OBJECTS, "items": schema(fields)}),
            Kind::Marks(fields) => {
                json!({"type": "array", "maxItems": MOST_OBJECTS, "items": {"anyOf": [{"type": "integer"}, schema(fields)]}})
            }
            Kind::Values => json!({"type": "object", "additionalProperties": {"type": ["string", "number", "null"]}}),
        };
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("description".to_owned(), self.about.into());
        }
        schema
    }

    fn check(&self, value: &Value) -> Result<(), Refusal> {
        let name = self.name;
        let wrong = |what: String| Err(Refusal::invalid(format!("{name} {what}")));
        let text = |most: usize| match value.as_str() {
            Some(text) if text.chars().count() > most => wrong(format!("is longer than {most} characters")),
            Some(text) if text.contains('\0') => wrong("holds a NUL character".to_owned()),
            Some(_) => Ok(()),
            None => wrong("is not a text".to_owned()),
        };
        match self.kind {
            Kind::Body(most) => text(most),
            Kind::Text(most) | Kind::Clearable(most) => match value.as_str() {
                Some(blank) if blank.trim().is_empty() => wrong("is blank".to_owned()),
                _ => text(most),
            },
            Kind::Whole => match value.as_str() {
                Some(blank) if blank.trim().is_empty() => wrong("is blank".to_owned()),
                _ => text(usize::MAX),
            },
            Kind::Loose(_) => Ok(()),
            Kind::Day => match value.as_str().map(str::parse::<jiff::civil::Date>) {
                Some(Ok(_)) if value.as_str().is_some_and(|text| text.len() == 10) => Ok(()),
                _ => wrong("is not a day such as 2026-12-24".to_owned()),
            },
            Kind::OneOf(words) => match value.as_str() {
                Some(word) if words.contains(&word) => Ok(()),
                _ => wrong(format!("is not one of {}", words.join(", "))),
            },
            Kind::SomeOf(words) => {
                let is_word = |item: &Value| item.as_str().is_some_and(|word| words.contains(&word));
                match value.as_array() {
                    Some(items) if items.len() <= words.len() && items.iter().all(is_word) => Ok(()),
                    _ => wrong(format!("is not a list of some of {}", words.join(", "))),
                }
            }
            Kind::Texts => match value.as_array() {
                Some(items) if items.len() <= MOST_ITEMS && items.iter().all(is_short_text) => Ok(()),
                _ => wrong(format!("is not a list of at most {MOST_ITEMS} texts of 1 to {LONGEST_ITEM} characters")),
            },
            Kind::Count(least, most) => match value.as_i64() {
                Some(number) if (least..=most).contains(&number) => Ok(()),
                _ => wrong(format!("is not a whole number from {least} to {most}")),
            },
            Kind::Flag => match value {
                Value::Bool(_) => Ok(()),
                _ => wrong("is neither true nor false".to_owned()),
            },
            kind => shape::check(name, kind, value),
        }
    }
}

fn is_short_text(item: &Value) -> bool {
    let fits = |text: &str| !text.trim().is_empty() && text.chars().count() <= LONGEST_ITEM && !text.contains('\0');
    item.as_str().is_some_and(fits)
}

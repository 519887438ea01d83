//! The catalogue: which types items have, which labels the company uses, and its own fields of items. Kept as one JSON
//! value; until somebody writes one there is a small one of ours.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::unchanged;
use crate::native::request::{Outcome, Refusal, Request};
use crate::native::words::{CONNECTOR_PRIORITIES, LINKS, PRIORITIES, STATUSES};
use crate::store::items::Item;
use crate::store::{ReadStore, StoreError, WriteStore};

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Catalogue {
    types: Vec<Named>,
    labels: Vec<Named>,
    fields: Vec<Own>,
}

/// A type or a label.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Named {
    name: String,
    #[serde(default)]
    about: String,
}

/// A field that items of this company have beside ours.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Own {
    name: String,
    /// A word of [`crate::native::words::FIELD_KINDS`].
    kind: String,
    #[serde(default)]
    about: String,
    #[serde(default)]
    choices: Vec<String>,
}

impl Default for Catalogue {
    fn default() -> Self {
        let named = |(name, about): (&str, &str)| Named { name: name.to_owned(), about: about.to_owned() };
        let types = [
            ("task", "Something to be done."),
            ("bug", "Something that is broken."),
            ("feature", "Something new."),
            ("epic", "Something large that others stand below."),
        ];
        Self { types: types.map(named).to_vec(), labels: Vec::new(), fields: Vec::new() }
    }
}

impl Catalogue {
    /// As it is now.
    pub fn read(store: &ReadStore<'_>) -> Result<Self, StoreError> {
        let kept = store.catalogue()?;
        // It was written by us; nothing else is kept there.
        Ok(serde_json::from_str(&kept.body).unwrap_or_default())
    }

    /// The type that a word names; the first one where there is no word.
    pub fn kind(&self, word: Option<&str>) -> Result<String, Refusal> {
        let found = match word {
            None => self.types.first(),
            Some(word) => self.types.iter().find(|kind| kind.name == word),
        };
        match (found, word) {
            (Some(kind), _) => Ok(kind.name.clone()),
            (None, None) => Ok("task".to_owned()),
            (None, Some(_)) => {
                let names: Vec<&str> = self.types.iter().map(|kind| kind.name.as_str()).collect();
                Err(Refusal::invalid(format!("type is not one of {}", names.join(", "))))
            }
        }
    }

    /// Values of own fields, checked; `null` takes one away.
    pub fn values(&self, values: Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
        for (name, value) in &values {
            let Some(field) = self.fields.iter().find(|field| field.name == *name) else {
                let names: Vec<&str> = self.fields.iter().map(|field| field.name.as_str()).collect();
                let known = if names.is_empty() { "it has none".to_owned() } else { names.join(", ") };
                let name = crate::text::fit(&crate::text::visible(name), 40).into_owned();
                return Err(Refusal::invalid(format!("the catalogue has no field \"{name}\": {known}")));
            };
            field.check(value)?;
        }
        Ok(values)
    }

    /// The own fields of an item, with what each is.
    pub fn of(&self, item: &Item) -> Value {
        let row = |field: &Own| {
            json!({
                "name": field.name, "kind": field.kind, "about": field.about, "choices": field.choices,
                "value": item.fields.get(&field.name),
            })
        };
        self.fields.iter().map(row).collect()
    }

    /// # Errors
    /// Something in it has no name of its own.
    fn check(&self) -> Result<(), Refusal> {
        let names = [
            ("types", self.types.iter().map(|kind| &kind.name).collect::<Vec<_>>()),
            ("labels", self.labels.iter().map(|label| &label.name).collect()),
            ("fields", self.fields.iter().map(|field| &field.name).collect()),
        ];
        for (list, names) in names {
            let mut seen = std::collections::HashSet::new();
            if let Some(twice) = names.into_iter().find(|name| !seen.insert(*name)) {
                return Err(Refusal::invalid(format!("{list} holds \"{twice}\" twice")));
            }
        }
        if self.types.is_empty() {
            return Err(Refusal::invalid("types is empty: items have a type"));
        }
        match self.fields.iter().find(|field| (field.kind == "choice") == field.choices.is_empty()) {
            Some(field) => {
                Err(Refusal::invalid(format!("field \"{}\": a choice has choices, and nothing else has", field.name)))
            }
            None => Ok(()),
        }
    }
}

impl Own {
    fn check(&self, value: &Value) -> Result<(), Refusal> {
        let fits = match self.kind.as_str() {
            _ if value.is_null() => true,
            "number" => value.is_number(),
            "day" => value.as_str().is_some_and(|day| day.len() == 10 && day.parse::<jiff::civil::Date>().is_ok()),
            "choice" => value.as_str().is_some_and(|word| self.choices.iter().any(|choice| choice == word)),
            _ => value.is_string(),
        };
        let what = match self.kind.as_str() {
            "number" => "a number".to_owned(),
            "day" => "a day such as 2026-12-24".to_owned(),
            "choice" => format!("one of {}", self.choices.join(", ")),
            _ => "a text".to_owned(),
        };
        if fits { Ok(()) } else { Err(Refusal::invalid(format!("field \"{}\" is not {what}", self.name))) }
    }
}

pub fn get(store: &ReadStore<'_>, _: &Request) -> Outcome {
    let version = store.catalogue()?.version;
    Ok(shown(&Catalogue::read(store)?, version))
}

fn shown(catalogue: &Catalogue, version: i64) -> Value {
    json!({
        "types": catalogue.types, "labels": catalogue.labels, "fields": catalogue.fields, "statuses": STATUSES,
        "priorities": PRIORITIES, "connector_priorities": CONNECTOR_PRIORITIES, "links": LINKS, "version": version,
    })
}

/// Takes a list of the arguments, where it is there.
fn list<T: DeserializeOwned>(request: &Request, name: &str, into: &mut Vec<T>) -> Result<(), Refusal> {
    if let Some(given) = request.arguments.get(name).filter(|given| !given.is_null()) {
        let read = serde_json::from_value(given.clone());
        *into = read.map_err(|error| Refusal::invalid(format!("{name} cannot be read: {error}")))?;
    }
    Ok(())
}

pub fn write(store: &WriteStore<'_>, request: &Request) -> Outcome {
    request.actor.may_write()?;
    if !request.actor.workspace.is_empty() {
        return Err(Refusal::forbidden("the catalogue is the whole company's; this token has a part of it only"));
    }
    unchanged(request, "the catalogue", store.catalogue()?.version)?;
    let mut catalogue = Catalogue::read(store)?;
    list(request, "types", &mut catalogue.types)?;
    list(request, "labels", &mut catalogue.labels)?;
    list(request, "fields", &mut catalogue.fields)?;
    catalogue.check()?;
    // Values of ours can always be written.
    let body = serde_json::to_string(&catalogue).unwrap_or_default();
    let now = store.write_catalogue(&body, &request.signed())?;
    let mut shown = shown(&catalogue, now.row.version);
    if let Some(shown) = shown.as_object_mut() {
        shown.insert("position".to_owned(), json!(now.position));
    }
    Ok(shown)
}

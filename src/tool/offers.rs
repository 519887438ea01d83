//! What a server offers beside tools, item by item as agents see it: resources, resource templates, prompts.
//!
//! Each item is taken for itself: a malformed one costs only itself. Only members that the protocol knows and that
//! have the right shape are passed on, because clients refuse a whole list over one odd item; icons are left out, so
//! that no list makes a client fetch something. Text is stripped of control characters and redacted like a result's.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::address::{self, MAX_URI};
use super::listing::Listing;
use super::output::cleaned;
use crate::secret::Redactor;

/// The kinds of lists.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OfferList {
    /// Resources.
    Resources,
    /// Templates of resources' URIs.
    Templates,
    /// Prompts.
    Prompts,
}

impl OfferList {
    /// The method that asks for it.
    pub const fn method(self) -> &'static str {
        match self {
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
            Self::Prompts => "prompts/list",
        }
    }

    /// The member of the answer that holds it.
    pub const fn member(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }
}

/// One item of a list.
#[derive(Clone, PartialEq, Debug)]
pub struct Offered {
    /// What the server calls it: its URI, its template or its name.
    pub raw: Arc<str>,
    /// The item as agents see it. A prompt's `name` is still the server's: who knows all prompts names them.
    pub item: Map<String, Value>,
}

/// Reads one item off the wire.
///
/// # Errors
/// Why it cannot be offered, in a few words.
pub fn read_offer(list: OfferList, server: &str, item: &str, redactor: &Redactor) -> Result<Offered, &'static str> {
    let item: Value = serde_json::from_str(item).map_err(|_| "it cannot be decoded")?;
    let raw = identity(list, &item)?;
    // What would have to be changed to be shown could not be asked for any more.
    if matches!(redactor.redact(&raw), Cow::Owned(_)) {
        return Err("its URI or name holds a secret");
    }
    let mut item = item;
    cleaned(&mut item, redactor).map_err(|_| "it holds NUL characters")?;
    let text = |key: &str| item.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let mut shown = Map::new();
    match list {
        OfferList::Resources => {
            shown.insert("uri".into(), address::expose(server, &raw).into());
        }
        OfferList::Templates => {
            let exposed = address::expose_template(server, &raw).ok_or("its template holds odd characters")?;
            shown.insert("uriTemplate".into(), exposed.into());
        }
        OfferList::Prompts => {}
    }
    shown.insert("name".into(), text("name").unwrap_or(&raw).into());
    for key in ["title", "description"] {
        shown.extend(text(key).map(|text| (key.to_owned(), text.into())));
    }
    if list == OfferList::Prompts {
        shown.extend(item.get("arguments").and_then(arguments).map(|all| ("arguments".to_owned(), all)));
    } else {
        shown.extend(text("mimeType").map(|text| ("mimeType".to_owned(), text.into())));
        let size = item.get("size").filter(|size| size.is_u64() && list == OfferList::Resources);
        shown.extend(size.map(|size| ("size".to_owned(), size.clone())));
        shown.extend(item.get("annotations").and_then(annotations).map(|all| ("annotations".to_owned(), all)));
    }
    Ok(Offered { raw: raw.as_str().into(), item: shown })
}

/// What the server calls an item, as it is: this is what goes back to it.
fn identity(list: OfferList, item: &Value) -> Result<String, &'static str> {
    let key = match list {
        OfferList::Resources => "uri",
        OfferList::Templates => "uriTemplate",
        OfferList::Prompts => "name",
    };
    let raw = item.get(key).and_then(Value::as_str).filter(|raw| !raw.trim().is_empty());
    let raw = raw.ok_or("it has no URI or name")?;
    let too_long = match list {
        OfferList::Prompts => raw.chars().count() > Listing::MAX_NAME_CHARS,
        OfferList::Resources | OfferList::Templates => raw.len() > MAX_URI,
    };
    if too_long {
        return Err("its URI or name is too long");
    }
    Ok(raw.to_owned())
}

/// A prompt's arguments; those without a name are left out.
fn arguments(all: &Value) -> Option<Value> {
    let argument = |argument: &Value| {
        let text = |key: &str| argument.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let mut shown = Map::new();
        shown.insert("name".into(), text("name")?.into());
        for key in ["title", "description"] {
            shown.extend(text(key).map(|text| (key.to_owned(), text.into())));
        }
        let required = argument.get("required").and_then(Value::as_bool);
        shown.extend(required.map(|required| ("required".to_owned(), required.into())));
        Some(Value::Object(shown))
    };
    Some(all.as_array()?.iter().filter_map(argument).collect())
}

fn annotations(all: &Value) -> Option<Value> {
    let mut shown = Map::new();
    let known = |reader: &&Value| matches!(reader.as_str(), Some("user" | "assistant"));
    if let Some(audience) = all.get("audience").and_then(Value::as_array) {
        shown.insert("audience".into(), audience.iter().filter(known).cloned().collect());
    }
    let priority = all.get("priority").filter(|p| p.as_f64().is_some_and(|p| (0.0..=1.0).contains(&p)));
    shown.extend(priority.map(|priority| ("priority".to_owned(), priority.clone())));
    let modified = all.get("lastModified").filter(|modified| modified.is_string());
    shown.extend(modified.map(|modified| ("lastModified".to_owned(), modified.clone())));
    (!shown.is_empty()).then_some(Value::Object(shown))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(list: OfferList, item: &Value) -> Result<Value, &'static str> {
        let redactor = Redactor::default();
        redactor.learn([crate::secret::Secret::new("hunter-22-hunter")]);
        read_offer(list, "notes", &item.to_string(), &redactor).map(|offered| Value::Object(offered.item))
    }

    #[test]
    fn items_keep_what_the_protocol_knows_and_nothing_else() {
        let resource = json!({"uri": "file:///a", "name": "a\u{1b}[31m", "title": 7, "description": "hunter-22-hunter",
            "mimeType": "text/plain", "size": 12, "icons": [{"src": "https://spy.test"}], "_meta": {"x": 1},
            "annotations": {"audience": ["user", "root"], "priority": 3, "lastModified": "2026-01-01"}});
        let expected = json!({"uri": "crewlet://notes/file%3A%2F%2F%2Fa", "name": "a[31m",
            "description": "[REDACTED:secret]", "mimeType": "text/plain", "size": 12,
            "annotations": {"audience": ["user"], "lastModified": "2026-01-01"}});
        assert_eq!(read(OfferList::Resources, &resource), Ok(expected));
        let template = json!({"uriTemplate": "file:///{path}", "name": "files", "size": 1});
        let expected = json!({"uriTemplate": "crewlet://notes/~file:///{path}", "name": "files"});
        assert_eq!(read(OfferList::Templates, &template), Ok(expected));
        let prompt = json!({"name": "greet", "arguments": [{"name": "who", "required": true}, {"required": true}, 3]});
        let expected = json!({"name": "greet", "arguments": [{"name": "who", "required": true}]});
        assert_eq!(read(OfferList::Prompts, &prompt), Ok(expected));
        assert_eq!(read(OfferList::Resources, &json!({"uri": "a:b"})).unwrap()["name"], json!("a:b"));
    }

    #[test]
    fn what_cannot_be_offered_says_why() {
        let long = "x".repeat(MAX_URI + 1);
        let cases = [
            (OfferList::Resources, json!(7), "it has no URI or name"),
            (OfferList::Resources, json!({"uri": 7, "name": "a"}), "it has no URI or name"),
            (OfferList::Resources, json!({"uri": " "}), "it has no URI or name"),
            (OfferList::Resources, json!({"uri": "db://u:hunter-22-hunter@h"}), "its URI or name holds a secret"),
            (OfferList::Resources, json!({"uri": long}), "its URI or name is too long"),
            (OfferList::Resources, json!({"uri": "a:b", "name": "\u{0}"}), "it holds NUL characters"),
            (OfferList::Prompts, json!({"name": "x".repeat(129)}), "its URI or name is too long"),
            (OfferList::Templates, json!({"uriTemplate": "a:\u{1b}{x}"}), "its template holds odd characters"),
        ];
        for (list, item, reason) in cases {
            assert_eq!(read(list, &item), Err(reason), "{item}");
        }
        let odd = read_offer(OfferList::Prompts, "notes", "{\"name\":\"\\ud800\"}", &Redactor::default());
        assert_eq!(odd, Err("it cannot be decoded"));
    }
}

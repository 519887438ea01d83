//! Reading a question as it came off the wire.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Choice, Field, Form, Format, Grain, Kind, Need};
use crate::secret::Redactor;
use crate::text;

/// The longest question that is looked at, in bytes.
const MOST_BYTES: usize = 64 << 10;
/// Fields of one form.
const MOST_FIELDS: usize = 24;
/// Choices of one field.
const MOST_CHOICES: usize = 64;
/// The longest name of a field, in bytes.
const LONGEST_NAME: usize = 128;
/// The longest value of a choice and the longest text that is suggested, in bytes.
const LONGEST_VALUE: usize = 1 << 10;
/// Characters that are shown of the message, of a label, and of what is said about a field.
const MESSAGE: usize = 2_000;
const LABEL: usize = 80;
const ABOUT: usize = 300;
/// Lines that are shown of the message.
const MOST_LINES: usize = 60;

/// Why a question cannot be put to a person.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unsupported {
    /// It is too long.
    #[error("it is longer than {} KiB", MOST_BYTES >> 10)]
    TooLong,
    /// It does not want a form to be filled in.
    #[error("it is in mode \"{0}\"; only forms are shown here")]
    Mode(String),
    /// It says nothing.
    #[error("it has no message")]
    NoMessage,
    /// What it wants is no flat list of fields.
    #[error("its schema is no flat object of fields")]
    NoFields,
    /// It wants too much.
    #[error("it has more than {MOST_FIELDS} fields")]
    TooManyFields,
    /// A field has a name that cannot be shown.
    #[error("a field's name is empty or longer than {LONGEST_NAME} bytes")]
    Name,
    /// A field is more than a text, a number, a yes or no, or a choice.
    #[error("its field \"{0}\" is no text, number, yes or no, or choice of texts")]
    Field(String),
    /// A choice has nothing to choose from, or too much.
    #[error("its field \"{0}\" has no choices, more than {MOST_CHOICES}, or one longer than {LONGEST_VALUE} bytes")]
    Choices(String),
}

/// Reads the parameters of an `elicitation/create` request.
///
/// # Errors
/// Why it cannot be shown as a form.
pub fn read(params: &str, redactor: &Redactor) -> Result<Form, Unsupported> {
    if params.len() > MOST_BYTES {
        return Err(Unsupported::TooLong);
    }
    let params: Value = serde_json::from_str(params).map_err(|_| Unsupported::NoFields)?;
    let reader = Reader { redactor };
    match params.get("mode") {
        None | Some(Value::Null) => {}
        Some(Value::String(mode)) if mode == "form" => {}
        Some(mode) => return Err(Unsupported::Mode(reader.line(mode.as_str().unwrap_or("?"), LABEL))),
    }
    let message = params.get("message").and_then(Value::as_str).filter(|message| !message.trim().is_empty());
    let message = reader.message(message.ok_or(Unsupported::NoMessage)?);
    let schema = params.get("requestedSchema").and_then(Value::as_object).ok_or(Unsupported::NoFields)?;
    let nothing = Map::new();
    let properties = match (schema.get("type").and_then(Value::as_str), schema.get("properties")) {
        (Some("object"), None) => &nothing,
        (Some("object") | None, Some(Value::Object(properties))) => properties,
        _ => return Err(Unsupported::NoFields),
    };
    if properties.len() > MOST_FIELDS {
        return Err(Unsupported::TooManyFields);
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let required: HashSet<&str> = required.filter_map(Value::as_str).collect();
    let fields = properties.iter().map(|(name, schema)| reader.field(name, schema, required.contains(name.as_str())));
    Ok(Form { message, fields: fields.collect::<Result<_, _>>()? })
}

struct Reader<'r> {
    redactor: &'r Redactor,
}

impl Reader<'_> {
    /// Foreign text on one line: cleaned before secrets are looked for, and cut last, so that no part of one is left.
    fn line(&self, text: &str, most: usize) -> String {
        let text = text.replace(['\n', '\r'], " ");
        let text = text::clean(text.trim());
        let text = self.redactor.redact(&text);
        if text.chars().count() <= most {
            return text.into_owned();
        }
        text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
    }

    fn message(&self, message: &str) -> Vec<Arc<str>> {
        let cleaned: Vec<_> = message.trim().lines().map(text::clean).collect();
        let cleaned = cleaned.join("\n");
        let whole = self.redactor.redact(&cleaned);
        let kept: String = whole.chars().take(MESSAGE).collect();
        let missing = whole.chars().count() - kept.chars().count();
        let mut lines: Vec<Arc<str>> = kept.lines().take(MOST_LINES).map(Into::into).collect();
        let left_out = whole.lines().count().saturating_sub(lines.len());
        if missing > 0 || left_out > 0 {
            lines.push(format!("… cut here: {missing} characters and {left_out} lines more").into());
        }
        lines
    }

    fn field(&self, name: &str, schema: &Value, required: bool) -> Result<Field, Unsupported> {
        if name.trim().is_empty() || name.len() > LONGEST_NAME {
            return Err(Unsupported::Name);
        }
        let shown = self.line(name, LABEL);
        let outer = schema.as_object().ok_or_else(|| Unsupported::Field(shown.clone()))?;
        let (schema, nullable) = without_null(outer);
        let text = |key: &str, most: usize| {
            let text = outer.get(key).or_else(|| schema.get(key)).and_then(Value::as_str).unwrap_or_default();
            self.line(text, most)
        };
        let label = text("title", LABEL);
        Ok(Field {
            name: name.into(),
            label: if label.is_empty() { shown.as_str().into() } else { label.into() },
            about: text("description", ABOUT).into(),
            need: if required && !nullable { Need::Required } else { Need::Optional },
            kind: self.kind(schema, outer.get("default"), &shown)?,
        })
    }

    fn kind(&self, schema: &Map<String, Value>, default: Option<&Value>, name: &str) -> Result<Kind, Unsupported> {
        let default = default.or_else(|| schema.get("default")).filter(|value| !value.is_null());
        let size = |key: &str| schema.get(key).and_then(Value::as_u64);
        let kind = match schema.get("type") {
            Some(Value::String(name)) => Some(name.as_str()),
            Some(Value::Array(names)) => only_type(names),
            _ => None,
        };
        let number = |key: &str| schema.get(key).and_then(Value::as_f64);
        Ok(match kind {
            Some("string") if ["enum", "oneOf", "anyOf"].iter().any(|key| schema.contains_key(*key)) => {
                let choices = self.choices(schema, name)?;
                let default = default.and_then(Value::as_str);
                Kind::One { default: choices.iter().position(|choice| Some(&*choice.value) == default), choices }
            }
            Some("string") => Kind::Text {
                length: (size("minLength"), size("maxLength")),
                format: schema.get("format").and_then(Value::as_str).and_then(format),
                default: default
                    .and_then(Value::as_str)
                    .filter(|text| self.may_suggest(text))
                    .unwrap_or_default()
                    .into(),
            },
            Some(grain @ ("number" | "integer")) => Kind::Number {
                grain: if grain == "integer" { Grain::Whole } else { Grain::Any },
                range: (number("minimum"), number("maximum")),
                default: default
                    .filter(|value| value.is_number())
                    .map(Value::to_string)
                    .filter(|number| self.may_suggest(number))
                    .unwrap_or_default()
                    .into(),
            },
            Some("boolean") => Kind::Switch { default: default.and_then(Value::as_bool) },
            Some("array") => {
                let items = schema.get("items").and_then(Value::as_object);
                let items = items.ok_or_else(|| Unsupported::Field(name.to_owned()))?;
                let choices = self.choices(items, name)?;
                let wanted: HashSet<&str> =
                    default.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
                let places = choices.iter().enumerate().filter(|(_, choice)| wanted.contains(&*choice.value));
                let default = places.map(|(place, _)| place).collect();
                Kind::Many { choices, count: (size("minItems"), size("maxItems")), default }
            }
            _ => return Err(Unsupported::Field(name.to_owned())),
        })
    }

    /// True for a text that a field of one line can show as it is: what a person does not see, they do not send. A
    /// secret is neither shown nor sent.
    fn may_suggest(&self, text: &str) -> bool {
        text.len() <= LONGEST_VALUE && !text::has_hidden(text) && self.redactor.redact(text) == text
    }

    fn choices(&self, schema: &Map<String, Value>, name: &str) -> Result<Vec<Choice>, Unsupported> {
        let pairs = pairs(schema).ok_or_else(|| Unsupported::Field(name.to_owned()))?;
        let too_long = pairs.iter().any(|(value, _)| value.len() > LONGEST_VALUE);
        if pairs.is_empty() || pairs.len() > MOST_CHOICES || too_long {
            return Err(Unsupported::Choices(name.to_owned()));
        }
        let choice = |(value, title): (&str, Option<&str>)| {
            let label = self.line(title.filter(|title| !title.trim().is_empty()).unwrap_or(value), LABEL);
            Choice { value: value.into(), label: label.into() }
        };
        Ok(pairs.into_iter().map(choice).collect())
    }
}

/// What there is to choose from: values, each with its title where it has one. `None` when not all of them are texts.
fn pairs(schema: &Map<String, Value>) -> Option<Vec<(&str, Option<&str>)>> {
    if let Some(Value::Array(values)) = schema.get("enum") {
        let titles = schema.get("enumNames").and_then(Value::as_array);
        let title = |place: usize| titles.and_then(|titles| titles.get(place)?.as_str());
        return values.iter().enumerate().map(|(place, value)| Some((value.as_str()?, title(place)))).collect();
    }
    let all = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?;
    all.iter().map(|one| Some((one.get("const")?.as_str()?, one.get("title").and_then(Value::as_str)))).collect()
}

/// Some servers write an optional field as "this or null"; the schema of "this", and whether it was written so.
fn without_null(schema: &Map<String, Value>) -> (&Map<String, Value>, bool) {
    let is_null = |schema: &&Value| schema.get("type").and_then(Value::as_str) == Some("null");
    if let (None, Some(Value::Array(both))) = (schema.get("type"), schema.get("anyOf"))
        && both.len() == 2
        && both.iter().filter(is_null).count() == 1
        && let Some(other) = both.iter().find(|schema| !is_null(schema)).and_then(Value::as_object)
    {
        return (other, true);
    }
    let nullable = matches!(schema.get("type"), Some(Value::Array(names)) if names.iter().any(|name| name == "null"));
    (schema, nullable)
}

/// The one type besides null.
fn only_type(names: &[Value]) -> Option<&str> {
    let mut others = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
    match (others.next(), others.next()) {
        (only, None) => only,
        _ => None,
    }
}

/// Forms that are not known say nothing that could be checked.
fn format(name: &str) -> Option<Format> {
    match name {
        "email" => Some(Format::Email),
        "uri" => Some(Format::Uri),
        "date" => Some(Format::Date),
        "date-time" => Some(Format::DateTime),
        _ => None,
    }
}

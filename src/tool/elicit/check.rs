//! From what a person wrote to the answer, or to what is wrong with it, field by field.

use std::sync::Arc;

use serde_json::Value;

use super::{Choice, Entered, Field, Form, Format, Grain, Kind, Need};

/// The longest number, in characters.
const LONGEST_NUMBER: usize = 40;

/// An answer that fits the form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Content {
    /// A JSON object.
    pub json: Arc<str>,
    /// The names of the fields that are in it.
    pub names: Vec<Arc<str>>,
}

/// What is wrong with one field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wrong {
    /// The field, by its place.
    pub field: usize,
    /// What is wrong, for people.
    pub text: String,
}

impl Form {
    /// The answer that `entered` makes, one for each field in order.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the order of the fields.
    pub fn compose(&self, entered: &[Entered]) -> Result<Content, Vec<Wrong>> {
        let (mut members, mut names, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
        for (place, field) in self.fields.iter().enumerate() {
            match field.value(entered.get(place).unwrap_or(&Entered::Text(String::new()))) {
                Ok(Some(json)) => {
                    members.push(format!("{}:{json}", Value::from(&*field.name)));
                    names.push(field.name.clone());
                }
                Ok(None) if field.need == Need::Required => {
                    wrong.push(Wrong { field: place, text: "has to be filled in".to_owned() });
                }
                Ok(None) => {}
                Err(text) => wrong.push(Wrong { field: place, text }),
            }
        }
        if wrong.is_empty() {
            Ok(Content { json: format!("{{{}}}", members.join(",")).into(), names })
        } else {
            Err(wrong)
        }
    }
}

impl Field {
    /// The field's value as JSON; `None` when there is none.
    fn value(&self, entered: &Entered) -> Result<Option<String>, String> {
        match (&self.kind, entered) {
            (Kind::Text { .. } | Kind::Number { .. }, Entered::Text(text)) if text.trim().is_empty() => Ok(None),
            (Kind::Text { length, format, .. }, Entered::Text(text)) => {
                within(*length, text.chars().count(), "character")?;
                match format {
                    Some(format) if !format.fits(text) => Err(format!("has to be {}", format.words())),
                    _ => Ok(Some(Value::from(text.as_str()).to_string())),
                }
            }
            (Kind::Number { grain, range, .. }, Entered::Text(text)) => number(text.trim(), *grain, *range).map(Some),
            (Kind::Switch { .. }, Entered::Switch(on)) => Ok(on.map(|on| on.to_string())),
            (Kind::One { choices, .. }, Entered::One(chosen)) => {
                let chosen = chosen.map(|place| value_of(choices, place)).transpose()?;
                Ok(chosen.map(|value| value.to_string()))
            }
            (Kind::Many { choices, count, .. }, Entered::Many(chosen)) => {
                if chosen.is_empty() && (self.need == Need::Optional || count.0.is_some_and(|least| least > 0)) {
                    return Ok(None);
                }
                within(*count, chosen.len(), "choice")?;
                let mut places = chosen.clone();
                places.sort_unstable();
                places.dedup();
                let values: Result<Vec<Value>, String> =
                    places.into_iter().map(|place| value_of(choices, place)).collect();
                Ok(Some(Value::Array(values?).to_string()))
            }
            _ => Err("was filled in as another kind of field".to_owned()),
        }
    }
}

fn value_of(choices: &[Choice], place: usize) -> Result<Value, String> {
    choices.get(place).map(|choice| Value::from(&*choice.value)).ok_or_else(|| "is none of the choices".to_owned())
}

fn within((least, most): (Option<u64>, Option<u64>), count: usize, what: &str) -> Result<(), String> {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    let plural = |number: u64| if number == 1 { "" } else { "s" };
    match (least, most) {
        (Some(least), _) if count < least => {
            Err(format!("needs at least {least} {what}{}; it has {count}", plural(least)))
        }
        (_, Some(most)) if count > most => Err(format!("takes at most {most} {what}{}; it has {count}", plural(most))),
        _ => Ok(()),
    }
}

/// A number as it was written: what is typed is what is sent.
fn number(text: &str, grain: Grain, (least, most): (Option<f64>, Option<f64>)) -> Result<String, String> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_json = text.len() <= LONGEST_NUMBER && serde_json::from_str::<serde_json::Number>(text).is_ok();
    if grain == Grain::Whole && !(whole && is_json) {
        return Err("has to be a whole number, 42".to_owned());
    }
    let value = text.parse::<f64>().ok().filter(|value| is_json && value.is_finite());
    let value = value.ok_or_else(|| "has to be a number, 42 or 4.2".to_owned())?;
    match (least, most) {
        (Some(least), _) if value < least => Err(format!("has to be {least} or more")),
        (_, Some(most)) if value > most => Err(format!("has to be {most} or less")),
        _ => Ok(text.to_owned()),
    }
}

impl Format {
    /// A first look: whether the server takes it, the server says.
    fn fits(self, text: &str) -> bool {
        let unbroken = !text.contains(char::is_whitespace);
        match self {
            Self::Email => {
                let parts = text.rsplit_once('@');
                unbroken && parts.is_some_and(|(name, host)| !name.is_empty() && !host.is_empty())
            }
            Self::Uri => {
                let parts = text.split_once(':');
                let scheme = |scheme: &str| {
                    let first = scheme.bytes().next();
                    let rest = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
                    first.is_some_and(|first| first.is_ascii_alphabetic()) && scheme.bytes().all(rest)
                };
                unbroken && parts.is_some_and(|(before, rest)| scheme(before) && !rest.is_empty())
            }
            Self::Date => text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok(),
            Self::DateTime => text.contains(['T', 't']) && text.parse::<jiff::Timestamp>().is_ok(),
        }
    }
}

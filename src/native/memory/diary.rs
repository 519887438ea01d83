//! `reflect_and_persist` and `refresh_memory`: what a seat writes down for itself, and what of it fits the moment.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::hints::{self, Met};
use super::{Acting, Memory};
use crate::clock::Timestamp;
use crate::native::request::{Class, Outcome, Refusal};
use crate::store::StoreError;
use crate::store::memory::{DiaryEntry, DiaryKind, NewEntry};

/// Entries that fit a hint best.
const FITTING: usize = 5;
/// The shortest and the longest life of an entry that ends, in days.
const DAYS: (i64, i64) = (1, 180);
/// The life of one that says only that it ends, in days.
const SOME_DAYS: i64 = 14;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// What the entries of this tool are said to come from.
const SOURCE: &str = "reflect_and_persist";

/// Keeps a fact.
pub(super) async fn reflect(memory: &Memory, acting: &Acting, arguments: &Map<String, Value>) -> Outcome {
    let content = arguments.get("content").and_then(Value::as_str).unwrap_or_default().to_owned();
    let now = Timestamp::now();
    let kind = kind(arguments, now)?;
    let note = arguments.get("note").and_then(Value::as_str).filter(|note| !note.trim().is_empty());
    let metadata = note.map_or_else(|| json!({}), |note| json!({"note": note})).to_string();
    let turn_id = acting.turn.as_ref().map(|turn| turn.id.to_string());
    let agent_id = acting.agent_id.clone();
    let new = NewEntry { agent_id, kind, content, source: SOURCE.to_owned(), turn_id, metadata, at: now };
    let id = memory.store.write(move |store| store.write_diary(&new)).await.map_err(unwritten)?;
    memory.embed_soon();
    let how = match kind {
        DiaryKind::Long => "LONG: it stays".to_owned(),
        DiaryKind::Short { until } => format!("SHORT: it is forgotten after {}", until.rfc3339_seconds()),
    };
    Ok(Value::String(format!("Kept in your private diary as entry {id}, {how}.")))
}

fn unwritten(error: StoreError) -> Refusal {
    Refusal { message: format!("the diary was not written: {error}"), ..Refusal::from(error) }
}

/// How long an entry is kept. A number of days makes it one that ends, whatever its kind says.
fn kind(arguments: &Map<String, Value>, now: Timestamp) -> Result<DiaryKind, Refusal> {
    let short = |days: i64| {
        let days = u32::try_from(days.clamp(DAYS.0, DAYS.1)).unwrap_or(1);
        DiaryKind::Short { until: now.plus(DAY * days) }
    };
    let word = match arguments.get("kind") {
        None | Some(Value::Null) => None,
        Some(Value::String(word)) if word.trim().eq_ignore_ascii_case("long") => Some(DiaryKind::Long),
        Some(Value::String(word)) if word.trim().eq_ignore_ascii_case("short") => Some(short(SOME_DAYS)),
        Some(_) => return Err(Refusal::invalid("kind is neither long nor short")),
    };
    let days = match arguments.get("ttl_days") {
        None | Some(Value::Null) => return Ok(word.unwrap_or(DiaryKind::Long)),
        Some(days) => whole(days).ok_or_else(|| Refusal::invalid("ttl_days is not a whole number of days"))?,
    };
    Ok(short(days))
}

/// A number as a whole one: as it is, with its fraction cut off, or out of a text.
pub(super) fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Some(whole),
            #[allow(clippy::cast_possible_truncation, reason = "the cast saturates, and that is what is meant")]
            (None, Some(float)) if float.is_finite() => Some(float.trunc() as i64),
            _ => None,
        },
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// What of the diary fits a hint.
pub(super) async fn refresh(memory: &Memory, acting: &Acting, arguments: &Map<String, Value>) -> Outcome {
    let Some(turn) = &acting.turn else { return Err(Refusal::forbidden("refresh_memory works only within a turn")) };
    let said = arguments.get("context_hint").and_then(Value::as_str).unwrap_or_default();
    let hint = hints::normal(said);
    match memory.hints().meet(turn.id.as_str(), &hint) {
        Met::Known(block) => return Ok(Value::String(block.to_string())),
        Met::Spent => return Err(spent()),
        Met::New => {}
    }
    let about = turn.trigger.as_deref().map_or_else(|| said.to_owned(), |trigger| format!("{trigger}\n{said}"));
    let block: Arc<str> = match fitting(memory, acting, about).await {
        Ok((entries, all)) => block(&entries, all).into(),
        Err(error) => {
            // The turn's share is not touched: the same hint may find something the next time.
            tracing::warn!(seat = %acting.handle, %error, "memory_filter_failed");
            return Ok(Value::String(format!("{NOTHING} (The diary could not be searched now.)")));
        }
    };
    match memory.hints().keep(turn.id.as_str(), hint, block) {
        Met::Known(block) => Ok(Value::String(block.to_string())),
        Met::Spent | Met::New => Err(spent()),
    }
}

const NOTHING: &str = "Nothing in your diary matches this.";

fn spent() -> Refusal {
    let message = format!("this turn has used its {} different hints; repeat one of them, or go on", hints::MOST);
    Refusal { class: Class::Unavailable, message }
}

async fn fitting(memory: &Memory, acting: &Acting, about: String) -> Result<(Vec<DiaryEntry>, i64), StoreError> {
    let like = memory.likeness(about).await;
    let (agent_id, now) = (acting.agent_id.clone(), Timestamp::now());
    let found = memory.store.read(move |store| {
        let found = store.diary_like(&agent_id, &like, now, FITTING)?;
        Ok::<_, StoreError>((found, store.diary_length(&agent_id, now)?))
    });
    let (entries, all) = found.await?;
    let ids: Vec<i64> = entries.iter().map(|entry| entry.id).collect();
    if !ids.is_empty() {
        // How often something was found is a help, no more: what was found is told without it, too.
        if let Err(error) = memory.store.write(move |store| store.note_retrieved(&ids, now)).await {
            tracing::warn!(%error, "diary_retrieval_not_noted");
        }
    }
    Ok((entries, all))
}

fn block(entries: &[DiaryEntry], all: i64) -> String {
    if entries.is_empty() {
        return NOTHING.to_owned();
    }
    let entries: Vec<String> = entries.iter().map(line).collect();
    format!("From your diary ({} of {all}, what fits best first):\n{}", entries.len(), entries.join("\n"))
}

/// An entry, whole; its further lines stand under its first.
pub(super) fn line(entry: &DiaryEntry) -> String {
    let day = entry.at.rfc3339_seconds();
    let day = day.split('T').next().unwrap_or_default();
    let until = entry.kind.until().map(|until| format!(", until {}", until.rfc3339_seconds())).unwrap_or_default();
    let note = serde_json::from_str::<Value>(&entry.metadata)
        .ok()
        .and_then(|metadata| Some(format!(" (note: {})", metadata.get("note")?.as_str()?.trim_end())));
    let whole = format!("{}{}", entry.content.trim_end(), note.unwrap_or_default());
    format!("- [{day}{until}] {}", indented(&whole))
}

/// A text with everything but its first line moved in, whatever it ends its lines with: none of them can pass for a
/// line of ours.
fn indented(text: &str) -> String {
    text.replace("\r\n", "\n").split(is_line_end).collect::<Vec<_>>().join("\n  ")
}

const fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_ends_when_its_arguments_say_so() {
        let now = Timestamp::from_millis(0);
        let days = |n: u32| Some(DiaryKind::Short { until: now.plus(DAY * n) });
        let long = Some(DiaryKind::Long);
        for (arguments, expected) in [
            (json!({}), long),
            (json!({"ttl_days": null}), long),
            (json!({"kind": null}), long),
            (json!({"kind": "long"}), long),
            (json!({"kind": "LONG"}), long),
            (json!({"kind": "short"}), days(14)),
            (json!({"kind": "Short", "ttl_days": null}), days(14)),
            (json!({"ttl_days": 3}), days(3)),
            (json!({"kind": "long", "ttl_days": 3}), days(3)),
            (json!({"ttl_days": " 7 "}), days(7)),
            (json!({"ttl_days": 3.9}), days(3)),
            (json!({"ttl_days": 0}), days(1)),
            (json!({"ttl_days": -5}), days(1)),
            (json!({"ttl_days": 181}), days(180)),
            (json!({"ttl_days": 1e300}), days(180)),
            (json!({"ttl_days": u64::MAX}), days(180)),
            (json!({"ttl_days": "soon"}), None),
            (json!({"ttl_days": "3.5"}), None),
            (json!({"ttl_days": ""}), None),
            (json!({"ttl_days": true}), None),
            (json!({"ttl_days": [3]}), None),
            (json!({"kind": "forever"}), None),
            (json!({"kind": 3}), None),
        ] {
            let got = kind(arguments.as_object().unwrap(), now).ok();
            assert_eq!(got, expected, "{arguments}");
        }
    }
}

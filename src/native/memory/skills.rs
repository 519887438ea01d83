//! `use_skill` and `refine_skill`: a seat's own skills, loaded when they are needed and bettered by use.

use serde_json::{Map, Value};

use super::{Acting, Memory};
use crate::clock::Timestamp;
use crate::native::request::{Class, Outcome, Refusal};
use crate::store::ReadStore;
use crate::store::memory::{Skill, SkillState};

/// The longest skill, in characters.
pub(crate) const LONGEST: usize = 20_000;
/// Of the reason of a change this much is kept, in characters.
const REASON: usize = 400;
/// Skills of a seat that are listed.
pub(crate) const LISTED: i64 = 1000;
/// What the versions are said to be replaced by.
const KIND: &str = "refine_skill_tool";

/// Loads a skill.
pub(super) async fn load(memory: &Memory, acting: &Acting, arguments: &Map<String, Value>) -> Outcome {
    let name = arguments.get("skill_name").and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    let agent_id = acting.agent_id.clone();
    let found = memory.store.read(move |store| find(store, &agent_id, &name)).await?;
    let warning = match found.state {
        SkillState::Active => "",
        SkillState::Stale => STALE,
        SkillState::Archived => {
            let message = format!("the skill \"{}\" is archived: it is not to be used any more", found.name);
            return Err(Refusal { class: Class::Unavailable, message });
        }
    };
    let turn = acting.turn.as_ref().map_or("", |turn| turn.id.as_str());
    tracing::info!(skill = %found.name, version = found.version, agent = %acting.handle, turn, "skill_used");
    memory.note_used(turn, &found.name);
    let (id, at) = (found.id, Timestamp::now());
    // How often a skill is used is a help, no more: it is loaded without it, too.
    if let Err(error) = memory.store.write(move |store| store.note_used(id, at)).await {
        tracing::warn!(%error, "skill_use_not_noted");
    }
    Ok(Value::String(format!("{warning}{}", found.body)))
}

const STALE: &str = "Warning: this skill is marked as stale. Check each step before you rely on it, and better it with \
    refine_skill when you know more.\n\n";

/// The seat's skill of this name.
///
/// # Errors
/// There is none; another seat's is none, either. Says which there are.
fn find(store: &ReadStore<'_>, agent_id: &str, name: &str) -> Result<Skill, Refusal> {
    if let Some(skill) = store.skill(agent_id, name)? {
        return Ok(skill);
    }
    let names = store.skill_names(agent_id, LISTED)?;
    let shown = crate::text::fit(&crate::text::visible(name), 80).into_owned();
    let there_are =
        if names.is_empty() { "you have none yet".to_owned() } else { format!("yours are: {}", names.join(", ")) };
    Err(Refusal { class: Class::NotFound, message: format!("you have no skill \"{shown}\"; {there_are}") })
}

/// Changes a skill's text.
pub(super) async fn refine(memory: &Memory, acting: &Acting, arguments: &Map<String, Value>) -> Outcome {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    let name = text("name").unwrap_or_default().trim().to_owned();
    let content = text("content").unwrap_or_default().trim().to_owned();
    let append = match arguments.get("action") {
        None | Some(Value::Null) => true,
        Some(Value::String(action)) if action == "append" => true,
        Some(Value::String(action)) if action == "replace_body" => false,
        Some(_) => return Err(Refusal::invalid("action is neither append nor replace_body")),
    };
    let reason = text("reason").map(|reason| reason.trim().chars().take(REASON).collect::<String>());
    let reason = reason.filter(|reason| !reason.is_empty());
    let (agent_id, now) = (acting.agent_id.clone(), Timestamp::now());
    let changed = memory.store.write(move |store| {
        let skill = find(store, &agent_id, &name)?;
        let body = if append { appended(&skill.body, &content) } else { content };
        let length = body.chars().count();
        if length > LONGEST {
            let message =
                format!("the skill would have {length} characters, and {LONGEST} is the most; say it in fewer words");
            return Err(Refusal::invalid(message));
        }
        let version = store.rewrite_skill(&skill, &body, (KIND, reason.as_deref()), now)?;
        Ok((skill.name, version))
    });
    let (name, version) = changed.await?;
    Ok(Value::String(format!("The skill \"{name}\" is at version {version} now; the text before is kept.")))
}

/// The text with one more point at its end.
fn appended(body: &str, content: &str) -> String {
    let bullet = if is_list_item(content) { content.to_owned() } else { format!("- {content}") };
    let body = body.trim();
    if body.is_empty() { bullet } else { format!("{body}\n\n{bullet}") }
}

/// Whether a text begins as a point of a list: with `-`, `*`, `+` or a number.
fn is_list_item(text: &str) -> bool {
    let after = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let marker = if after.len() < text.len() {
        after.strip_prefix(['.', ')'])
    } else {
        text.strip_prefix(['-', '*', '+', '•'])
    };
    marker.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_appended_is_a_point_of_a_list() {
        for (body, content, expected) in [
            ("# Deploy\n", "check the branch", "# Deploy\n\n- check the branch"),
            ("# Deploy", "- check the branch", "# Deploy\n\n- check the branch"),
            ("a", "* b", "a\n\n* b"),
            ("a", "2. b", "a\n\n2. b"),
            ("a", "2) b", "a\n\n2) b"),
            ("a", "2 b", "a\n\n- 2 b"),
            ("a", "-b", "a\n\n- -b"),
            ("a", "**bold**", "a\n\n- **bold**"),
            ("  ", "b", "- b"),
        ] {
            assert_eq!(appended(body, content), expected, "{body:?} {content:?}");
        }
    }
}

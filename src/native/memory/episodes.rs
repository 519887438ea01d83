//! `query_episodes`, and writing down the turns that have ended.

use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::colleagues::line;
use super::diary::whole;
use super::{Acting, Memory};
use crate::native::request::{Outcome, Refusal};
use crate::store::memory::{Episode, NewEpisode, Review};
use crate::turns::Ended;
use crate::turns::verdict::{Claim, Outcome as End};

/// Turns that an answer holds unless it is asked for more, and at most.
const SOME: i64 = 5;
const MOST: i64 = 20;

/// Finds turns that are like something.
pub(super) async fn query(memory: &Memory, acting: &Acting, arguments: &Map<String, Value>) -> Outcome {
    let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default().to_owned();
    let limit = limit(arguments.get("limit"));
    let only = match arguments.get("outcome_filter") {
        None | Some(Value::Null) => None,
        Some(word) => Some(
            word.as_str()
                .and_then(Review::of)
                .ok_or_else(|| Refusal::invalid("outcome_filter is not one of done, self_iterate, failed"))?,
        ),
    };
    let like = memory.likeness(query).await;
    let handle = acting.handle.to_string();
    let found = memory.store.read(move |store| store.episodes_like(&handle, &like, only, limit)).await?;
    if found.is_empty() {
        return Ok(Value::String("None of your finished turns is like that.".to_owned()));
    }
    Ok(json!({"episodes": found.iter().map(shown).collect::<Vec<_>>()}))
}

fn limit(asked: Option<&Value>) -> usize {
    let asked = asked.and_then(whole).unwrap_or(SOME).clamp(1, MOST);
    usize::try_from(asked).unwrap_or(1)
}

fn shown(episode: &Episode) -> Value {
    json!({
        "kind": episode.kind, "turn_id": episode.turn_id, "task_summary": episode.task_summary,
        "plan_summary": episode.plan_summary, "tool_sequence": episode.tools, "skills_used": episode.skills,
        "review_outcome": episode.review, "duration_ms": episode.duration_ms, "ended_at": episode.ended.rfc3339_seconds(),
    })
}

/// Writes down each turn that comes, until none will come any more.
pub(super) async fn write_down(memory: &Memory, mut turns: mpsc::Receiver<Ended>) {
    while let Some(ended) = turns.recv().await {
        let new = episode(memory, &ended);
        match memory.store.write(move |store| store.add_episode(&new)).await {
            Ok(_) => memory.embed_soon(),
            Err(error) => tracing::error!(seat = %ended.seat, turn_id = %ended.turn_id, %error, "episode_not_written"),
        }
    }
}

fn episode(memory: &Memory, ended: &Ended) -> NewEpisode {
    let clean = |text: &str| memory.cleaned(text);
    let role = memory.directory().seat(ended.seat.as_str()).map(|seat| line(&seat.name)).unwrap_or_default();
    let trigger = ended.trigger.as_deref().map(clean);
    let reached =
        if ended.reached.is_empty() { String::new() } else { format!("Reached: {}.", ended.reached.join(", ")) };
    let said = ended.text.as_deref().map(clean).unwrap_or_default();
    let plan: Vec<&str> = [said.as_str(), reached.as_str()].into_iter().filter(|part| !part.is_empty()).collect();
    NewEpisode {
        agent_handle: ended.seat.to_string(),
        agent_role: role,
        task_id: None,
        turn_id: ended.turn_id.to_string(),
        started: ended.began,
        ended: ended.ended,
        task_summary: trigger.unwrap_or_else(|| described(ended)),
        plan_summary: plan.join("\n"),
        tools: ended.calls.iter().map(ToString::to_string).collect(),
        skills: memory.take_used(ended.turn_id.as_str()),
        review: review(ended.outcome),
    }
}

/// What a turn was about that nobody said anything of.
fn described(ended: &Ended) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in &ended.calls {
        if !names.contains(&&**name) {
            names.push(name);
        }
    }
    match names.as_slice() {
        [] => "a turn without calls".to_owned(),
        names => format!("a turn that called {}", names.join(", ")),
    }
}

/// What comes of an outcome: what nobody claimed anything of was left, not failed.
const fn review(outcome: End) -> Review {
    match outcome {
        End::Claimed(Claim::Delivered | Claim::NoAction) => Review::Done,
        End::Claimed(Claim::Blocked) => Review::Failed,
        End::Incomplete | End::Unclaimed => Review::SelfIterate,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_number_within_bounds_or_five() {
        for (asked, expected) in [
            (json!(null), 5),
            (json!("many"), 5),
            (json!([1]), 5),
            (json!(3), 3),
            (json!("7"), 7),
            (json!(2.7), 2),
            (json!(0), 1),
            (json!(-1), 1),
            (json!(21), 20),
            (json!(1e99), 20),
        ] {
            assert_eq!(limit(Some(&asked)), expected, "{asked}");
        }
        assert_eq!(limit(None), 5);
    }
}

//! What seats remember in the words of the screen.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::Say;
use crate::clock::Timestamp;
use crate::native::company::Company;
use crate::native::memory::place_of;
use crate::native::request::Refusal;
use crate::org::agent_id;
use crate::rows::memory::{Kept, Note, Remembered, Wanted, What};
use crate::store::ReadStore;
use crate::store::memory::{DiaryEntry, Episode, Skill};

/// Notes of one answer.
const NOTES: i64 = 500;
/// Bytes of texts of one answer, unless the first one is longer.
const BYTES: i64 = 1 << 20;

impl Say {
    pub(super) fn memory(
        &self,
        store: &ReadStore<'_>,
        wanted: &Wanted,
        company: &Company,
    ) -> Result<Remembered, Refusal> {
        let (now, id) = (Timestamp::now(), agent_id(&company.name, &wanted.seat));
        let handle = wanted.seat.as_str();
        let (notes, all): (Vec<Note>, i64) = match wanted.kept {
            Kept::Diary => {
                let entries = store.newest_diary(&id, now, (NOTES, BYTES))?;
                (entries.iter().map(|entry| self.entry(entry)).collect(), store.diary_length(&id, now)?)
            }
            Kept::Skills => {
                let skills = store.skills(&id, NOTES)?;
                let all = i64::try_from(skills.len()).unwrap_or(i64::MAX);
                (skills.iter().map(|skill| self.skill(skill)).collect(), all)
            }
            Kept::Turns => {
                let turns = store.episodes(handle, None, NOTES)?;
                (turns.iter().map(|turn| self.turn(turn)).collect(), store.episode_count(handle)?)
            }
        };
        let place = place_of(company, handle);
        let marker = store.onboarded(&id)?.filter(|marker| Some(&marker.chain_hash) == place.as_ref());
        let all = usize::try_from(all).unwrap_or(usize::MAX);
        Ok(Remembered { notes: within(notes), all, onboarded: marker.map(|marker| marker.at) })
    }

    fn entry(&self, entry: &DiaryEntry) -> Note {
        let metadata = serde_json::from_str::<Value>(&entry.metadata).unwrap_or_default();
        let remark = metadata.get("note").and_then(Value::as_str).map(|note| self.text(note));
        let what = What::Entry { until: entry.kind.until(), found: entry.retrieved, remark };
        Note { at: entry.at, what, text: self.text(&entry.content) }
    }

    fn skill(&self, skill: &Skill) -> Note {
        let what = What::Skill {
            name: self.text(&skill.name),
            about: self.text(&skill.description),
            state: skill.state.word(),
            version: skill.version,
            used: skill.used,
        };
        Note { at: skill.updated, what, text: self.text(&skill.body) }
    }

    fn turn(&self, turn: &Episode) -> Note {
        let what = What::Turn {
            task: self.text(&turn.task_summary),
            outcome: self.text(&turn.review),
            took: Duration::from_millis(u64::try_from(turn.duration_ms).unwrap_or(0)),
            tools: self.texts(&turn.tools),
            skills: self.texts(&turn.skills),
        };
        Note { at: turn.ended, what, text: self.text(&turn.plan_summary) }
    }
}

/// As many notes as fit, each whole; the first one in any case.
fn within(notes: Vec<Note>) -> Vec<Note> {
    let mut bytes = 0;
    let size = |note: &Note| {
        let more = match &note.what {
            What::Entry { remark, .. } => remark.as_deref().map_or(0, str::len),
            What::Skill { .. } => 0,
            What::Turn { task, tools, .. } => {
                task.len() + tools.iter().map(|tool| Arc::as_ref(tool).len()).sum::<usize>()
            }
        };
        note.text.len() + more
    };
    let fits = |(at, note): &(usize, Note)| {
        bytes += size(note);
        *at == 0 || i64::try_from(bytes).is_ok_and(|bytes| bytes <= BYTES)
    };
    notes.into_iter().enumerate().take_while(fits).map(|(_, note)| note).collect()
}

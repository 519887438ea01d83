//! What a seat is told of itself when its agent connects: who it is, what it remembers, what it can do.
//!
//! Entries are included whole or not at all; a line says how many more there are. What the store cannot say now is
//! left out: nobody is kept from connecting by it, and nobody is nagged about what is not known.

use std::fmt::Write as _;

use super::Memory;
use super::colleagues::line;
use super::diary;
use super::onboarding::chain_hash;
use super::skills::LISTED;
use crate::clock::Timestamp;
use crate::org::agent_id;
use crate::org::directory::Colleague;
use crate::store::StoreError;
use crate::store::memory::DiaryEntry;

/// Bytes of entries that are told at most.
const ROOM: usize = 8 << 10;
/// Entries that are looked at for it.
const ENTRIES: i64 = 50;
/// Skills that are named.
const SKILLS: usize = 100;

/// What the store says of a seat.
#[derive(Clone, PartialEq, Debug)]
struct Kept {
    entries: Vec<DiaryEntry>,
    all: i64,
    skills: Vec<String>,
    onboarded: bool,
}

impl Memory {
    /// Who a seat is and what it remembers, in words for its agent; empty for a seat that nobody knows.
    pub async fn brief(&self, handle: &str) -> String {
        let company = self.company();
        let Some(seat) = company.directory.seat(handle) else { return String::new() };
        let id = agent_id(&company.name, &seat.handle);
        let place = chain_hash(&company.name, seat);
        let room = i64::try_from(ROOM).unwrap_or(i64::MAX);
        let kept = self.store.read(move |store| {
            let now = Timestamp::now();
            Ok::<_, StoreError>(Kept {
                entries: store.newest_diary(&id, now, (ENTRIES, room))?,
                all: store.diary_length(&id, now)?,
                skills: store.skill_names(&id, LISTED)?,
                onboarded: store.onboarded(&id)?.is_some_and(|marker| marker.chain_hash == place),
            })
        });
        let mut text = who(&company.name, seat);
        match kept.await {
            Ok(kept) => text.push_str(&remembered(&kept)),
            Err(error) => tracing::warn!(seat = handle, %error, "brief_without_memory"),
        }
        self.cleaned(&text)
    }
}

fn who(company: &str, seat: &Colleague) -> String {
    let units: Vec<String> = seat.units.iter().map(|unit| line(unit)).collect();
    let within = if units.is_empty() { String::new() } else { format!(", in {}", units.join(" > ")) };
    let mut text = format!("You are {} (handle {}) at {}{within}.", line(&seat.name), seat.handle, line(company));
    if let Some(goal) = seat.profile.goal.as_deref().map(line).filter(|goal| !goal.is_empty()) {
        // Writing to a text cannot fail.
        let _ = write!(text, "\nGoal: {goal}");
    }
    if !seat.profile.responsibilities.is_empty() {
        text.push_str("\nYou answer for:");
        for one in &seat.profile.responsibilities {
            let _ = write!(text, "\n- {}", line(one));
        }
    }
    text
}

fn remembered(kept: &Kept) -> String {
    let mut text = String::new();
    let mut told = Vec::new();
    let mut room = ROOM;
    for entry in &kept.entries {
        let whole = diary::line(entry);
        // One that is too long makes no room for older ones that are not.
        let Some(rest) = room.checked_sub(whole.len()) else { break };
        room = rest;
        told.push(whole);
    }
    let more = usize::try_from(kept.all).unwrap_or(usize::MAX).saturating_sub(told.len());
    if !told.is_empty() {
        let _ = write!(text, "\n\nFrom your private diary, newest first:\n{}", told.join("\n"));
    }
    if more > 0 {
        let those = if told.is_empty() { "Your private diary has" } else { "There are" };
        let (kind, them) = if told.is_empty() { ("", "what fits") } else { (" more", "those that fit") };
        let entries = if more == 1 { "entry" } else { "entries" };
        let _ = write!(text, "\n{those} {more}{kind} {entries}: refresh_memory finds {them} what you are at.");
    }
    if !kept.skills.is_empty() {
        let named: Vec<&str> = kept.skills.iter().map(String::as_str).take(SKILLS).collect();
        let more = kept.skills.len().saturating_sub(named.len());
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let _ = write!(text, "\n\nYour skills, which use_skill loads: {}{more}.", named.join(", "));
    }
    if !kept.onboarded {
        let _ = write!(text, "\n\n{ONBOARDING}");
    }
    text
}

const ONBOARDING: &str = "You are not onboarded to this place yet: read the pages about your company, your units and your \
    role first, then call mark_onboarded with a summary of what you have understood.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::memory::DiaryKind;

    fn entry(id: i64, content: &str) -> DiaryEntry {
        DiaryEntry {
            id,
            kind: DiaryKind::Long,
            content: content.to_owned(),
            metadata: "{}".to_owned(),
            retrieved: 0,
            at: Timestamp::from_millis(1_796_000_000_000),
        }
    }

    #[test]
    fn entries_are_told_whole_or_not_at_all() {
        let half = "x".repeat(ROOM / 2);
        let kept = |entries: Vec<DiaryEntry>, all| Kept { entries, all, skills: Vec::new(), onboarded: true };
        let two_lines = remembered(&kept(vec![entry(1, "first\nsecond")], 1));
        assert_eq!(two_lines, "\n\nFrom your private diary, newest first:\n- [2026-11-30] first\n  second");
        let noted = DiaryEntry {
            metadata: serde_json::json!({"note": "\n- [2026-11-30] x\r## Now\u{2028}do"}).to_string(),
            ..entry(1, "a\r\nb\rc\u{85}d")
        };
        let lines = remembered(&kept(vec![noted], 1));
        let own: Vec<&str> = lines.split(['\n', '\r', '\u{85}', '\u{2028}']).skip(3).collect();
        assert_eq!(own[0], "- [2026-11-30] a");
        assert!(own[1..].iter().all(|line| line.starts_with("  ")), "nothing else stands at the edge: {own:?}");
        let some = remembered(&kept(vec![entry(3, &half), entry(2, "short"), entry(1, &half)], 60));
        assert!(some.contains(&half) && some.contains("- [2026-11-30] short\n"), "{some}");
        assert!(
            some.ends_with("There are 58 more entries: refresh_memory finds those that fit what you are at."),
            "{some}"
        );
        let none = remembered(&kept(vec![entry(1, &"x".repeat(ROOM))], 1));
        assert_eq!(none, "\nYour private diary has 1 entry: refresh_memory finds what fits what you are at.");
        assert_eq!(remembered(&kept(Vec::new(), 0)), "", "onboarded and nothing kept: nothing to say");
    }

    #[test]
    fn skills_are_named_and_whoever_is_new_is_told_so() {
        let skills: Vec<String> = (0..102).map(|n| format!("s{n}")).collect();
        let text = remembered(&Kept { entries: Vec::new(), all: 0, skills, onboarded: false });
        assert!(text.contains("use_skill loads: s0, s1,") && text.contains("s99, and 2 more."), "{text}");
        assert!(text.ends_with("what you have understood."), "{text}");
    }
}

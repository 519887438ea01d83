//! What seats remember: their diaries, their finished turns, their skills, and whether they have been introduced.
//!
//! Rows belong to a seat by [`crate::org::agent_id`] (finished turns by its handle); every method takes the seat, so
//! nobody reads another's. Ways of finding something by likeness are in [`search`].

mod diary;
mod episodes;
mod onboarding;
pub mod search;
mod skills;
#[cfg(test)]
mod tests;
mod vectors;

pub use diary::{DiaryEntry, DiaryKind, NewEntry};
pub use episodes::{Episode, NewEpisode, Review};
pub use onboarding::Marker;
pub use search::Likeness;
pub use skills::{NewSkill, Skill, SkillState, SkillVersion, VERSIONS_KEPT};
pub use vectors::{Unembedded, Vector};

/// The tables. Times are milliseconds since the Unix epoch. The text indexes hold whose a row is as one word, `owner`.
pub(super) const TABLES: &str = "
CREATE TABLE agent_diary (
    id INTEGER PRIMARY KEY AUTOINCREMENT, agent_id TEXT NOT NULL, kind TEXT NOT NULL,
    content TEXT NOT NULL, ttl_until INTEGER, source TEXT NOT NULL, turn_id TEXT, metadata TEXT NOT NULL,
    retrieval_count INTEGER NOT NULL DEFAULT 0, last_retrieved_at INTEGER,
    embedding BLOB, embedding_model TEXT, created_at INTEGER NOT NULL,
    CHECK (kind IN ('diary_long', 'diary_short')), CHECK ((kind = 'diary_short') = (ttl_until IS NOT NULL))
);
CREATE INDEX agent_diary_by_agent ON agent_diary (agent_id, id);
CREATE TABLE skills (
    id INTEGER PRIMARY KEY, agent_id TEXT NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL, body TEXT NOT NULL,
    version INTEGER NOT NULL DEFAULT 1, state TEXT NOT NULL DEFAULT 'active',
    use_count INTEGER NOT NULL DEFAULT 0, last_used_at INTEGER,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    UNIQUE (agent_id, name), CHECK (state IN ('active', 'stale', 'archived'))
);
CREATE TABLE skill_versions (
    skill INTEGER NOT NULL REFERENCES skills(id), version INTEGER NOT NULL, body TEXT NOT NULL, kind TEXT NOT NULL,
    note TEXT, created_at INTEGER NOT NULL, PRIMARY KEY (skill, version)
) WITHOUT ROWID;
CREATE TABLE episodes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, agent_handle TEXT NOT NULL, agent_role TEXT NOT NULL, task_id TEXT,
    turn_id TEXT NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER NOT NULL,
    plan_summary TEXT NOT NULL, task_summary TEXT NOT NULL, tool_sequence TEXT NOT NULL, skills_used TEXT NOT NULL,
    review_outcome TEXT NOT NULL, duration_ms INTEGER NOT NULL, embedding BLOB, embedding_model TEXT,
    kind TEXT NOT NULL DEFAULT 'raw', count INTEGER NOT NULL DEFAULT 1, exemplar_turn_ids TEXT NOT NULL DEFAULT '[]',
    consolidated_into_skill_id INTEGER REFERENCES skills(id), common_task_pattern TEXT, common_outcome TEXT,
    CHECK (review_outcome IN ('done', 'self_iterate', 'failed'))
);
CREATE INDEX episodes_by_agent ON episodes (agent_handle, id);
CREATE TABLE onboarding (
    agent_id TEXT PRIMARY KEY NOT NULL, handle TEXT NOT NULL, role TEXT NOT NULL, chain_hash TEXT NOT NULL,
    summary TEXT NOT NULL, at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE VIRTUAL TABLE agent_diary_text USING fts5 (
    owner, content, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE episodes_text USING fts5 (
    owner, content, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
";

/// Whose a row is as one word of a text index.
fn owner(name: &str) -> String {
    use std::fmt::Write as _;
    name.bytes().fold("x".to_owned(), |mut word, byte| {
        // Writing to a text cannot fail.
        let _ = write!(word, "{byte:02x}");
        word
    })
}

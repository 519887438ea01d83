//! Skills: what a seat has learnt to do, as texts of its own with their earlier versions.

use rusqlite::{OptionalExtension as _, Row, params};

use crate::clock::Timestamp;
use crate::store::items::time;
use crate::store::{ReadStore, StoreError, WriteStore};

/// Earlier versions that are kept of a skill.
pub const VERSIONS_KEPT: i64 = 10;

/// Whether a skill can be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SkillState {
    /// Yes.
    Active,
    /// Yes, with a warning: it may be out of date.
    Stale,
    /// No more.
    Archived,
}

impl SkillState {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Active, Self::Stale, Self::Archived];

    /// The word in rows.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Stale => "stale",
            Self::Archived => "archived",
        }
    }

    /// The one with this word. What nobody knows counts as out of date: it is shown, with a warning.
    pub fn of(word: &str) -> Self {
        Self::ALL.into_iter().find(|state| state.word() == word).unwrap_or(Self::Stale)
    }
}

/// A skill to be made.
#[derive(Clone, PartialEq, Debug)]
pub struct NewSkill {
    /// Whose.
    pub agent_id: String,
    /// Unique among the seat's.
    pub name: String,
    /// One line; may be empty.
    pub description: String,
    /// The text.
    pub body: String,
    /// When.
    pub at: Timestamp,
}

/// A skill.
#[derive(Clone, PartialEq, Debug)]
pub struct Skill {
    /// Counts up over all seats.
    pub id: i64,
    /// Unique among the seat's.
    pub name: String,
    /// One line; may be empty.
    pub description: String,
    /// The text.
    pub body: String,
    /// Counts up with each change of the text.
    pub version: i64,
    /// Whether it can be used.
    pub state: SkillState,
    /// How often it was loaded.
    pub used: i64,
    /// When it was changed last.
    pub updated: Timestamp,
}

/// An earlier text of a skill.
#[derive(Clone, PartialEq, Debug)]
pub struct SkillVersion {
    /// Its version.
    pub version: i64,
    /// The text.
    pub body: String,
    /// What replaced it.
    pub kind: String,
    /// Why, where that was said.
    pub note: Option<String>,
    /// When it was replaced.
    pub at: Timestamp,
}

const SKILL: &str = "SELECT id, name, description, body, version, state, use_count, updated_at FROM skills";

impl ReadStore<'_> {
    /// A seat's skills by name, the archived ones too.
    pub fn skills(&self, agent_id: &str, limit: i64) -> Result<Vec<Skill>, StoreError> {
        let mut query =
            self.connection.prepare_cached(&format!("{SKILL} WHERE agent_id = ?1 ORDER BY name LIMIT ?2"))?;
        let rows = query.query_map(params![agent_id, limit], skill)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The names of a seat's skills that are not archived.
    pub fn skill_names(&self, agent_id: &str, limit: i64) -> Result<Vec<String>, StoreError> {
        let query = "SELECT name FROM skills WHERE agent_id = ?1 AND state <> 'archived' ORDER BY name LIMIT ?2";
        let mut query = self.connection.prepare_cached(query)?;
        let rows = query.query_map(params![agent_id, limit], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// A seat's skill of this name.
    pub fn skill(&self, agent_id: &str, name: &str) -> Result<Option<Skill>, StoreError> {
        let mut query = self.connection.prepare_cached(&format!("{SKILL} WHERE agent_id = ?1 AND name = ?2"))?;
        Ok(query.query_row([agent_id, name], skill).optional()?)
    }

    /// The earlier texts of a skill, the newest first.
    pub fn skill_versions(&self, skill: &Skill) -> Result<Vec<SkillVersion>, StoreError> {
        let query = "SELECT version, body, kind, note, created_at FROM skill_versions WHERE skill = ?1 \
            ORDER BY version DESC";
        let mut query = self.connection.prepare_cached(query)?;
        let version = |row: &Row<'_>| {
            Ok(SkillVersion {
                version: row.get(0)?,
                body: row.get(1)?,
                kind: row.get(2)?,
                note: row.get(3)?,
                at: time(row.get(4)?),
            })
        };
        let rows = query.query_map([skill.id], version)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl WriteStore<'_> {
    /// Makes a skill. `None` when the seat has one of this name.
    pub fn add_skill(&self, new: &NewSkill) -> Result<Option<i64>, StoreError> {
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO skills (agent_id, name, description, body, created_at, updated_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?5) ON CONFLICT DO NOTHING",
        )?;
        let made = insert.execute(params![new.agent_id, new.name, new.description, new.body, new.at.millis()])?;
        Ok((made > 0).then(|| self.connection.last_insert_rowid()))
    }

    /// Gives a skill another text; the one before is kept as a version. The new version's number.
    pub fn rewrite_skill(
        &self,
        skill: &Skill,
        body: &str,
        (kind, note): (&str, Option<&str>),
        at: Timestamp,
    ) -> Result<i64, StoreError> {
        let mut keep = self.connection.prepare_cached(
            "INSERT INTO skill_versions (skill, version, body, kind, note, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        keep.execute(params![skill.id, skill.version, skill.body, kind, note, at.millis()])?;
        let mut update = self
            .connection
            .prepare_cached("UPDATE skills SET body = ?2, version = version + 1, updated_at = ?3 WHERE id = ?1")?;
        update.execute(params![skill.id, body, at.millis()])?;
        let mut forget = self.connection.prepare_cached(
            "DELETE FROM skill_versions WHERE skill = ?1 AND version NOT IN \
             (SELECT version FROM skill_versions WHERE skill = ?1 ORDER BY version DESC LIMIT ?2)",
        )?;
        forget.execute(params![skill.id, VERSIONS_KEPT])?;
        Ok(skill.version + 1)
    }

    /// Says in a line what a skill is for.
    pub fn describe_skill(&self, skill: &Skill, description: &str, at: Timestamp) -> Result<(), StoreError> {
        let query = "UPDATE skills SET description = ?2, updated_at = ?3 WHERE id = ?1";
        self.run(query, params![skill.id, description, at.millis()]).map(|_| ())
    }

    /// Says whether a skill can be used.
    pub fn set_skill_state(&self, skill: &Skill, state: SkillState, at: Timestamp) -> Result<(), StoreError> {
        let mut update =
            self.connection.prepare_cached("UPDATE skills SET state = ?2, updated_at = ?3 WHERE id = ?1")?;
        update.execute(params![skill.id, state.word(), at.millis()])?;
        Ok(())
    }

    /// Notes that a skill was loaded.
    pub fn note_used(&self, skill: i64, at: Timestamp) -> Result<(), StoreError> {
        let mut update = self
            .connection
            .prepare_cached("UPDATE skills SET use_count = use_count + 1, last_used_at = ?2 WHERE id = ?1")?;
        update.execute(params![skill, at.millis()])?;
        Ok(())
    }
}

fn skill(row: &Row<'_>) -> rusqlite::Result<Skill> {
    Ok(Skill {
        id: row.get(0)?,
        name: row.get(1)?,
        description: row.get(2)?,
        body: row.get(3)?,
        version: row.get(4)?,
        state: SkillState::of(&row.get::<_, String>(5)?),
        used: row.get(6)?,
        updated: time(row.get(7)?),
    })
}

//! What seats remember, as tools of theirs: colleagues, diary, finished turns, skills, onboarding.
//!
//! Who acts comes from the caller and the turn from the session, never from an argument. Whoever is no seat's agent is
//! outside of any turn, and these tools refuse. Failing help (an embedding, a counter) never fails a tool.
//!
//! | file | owns |
//! |---|---|
//! | `colleagues` | what is said of those who are looked up |
//! | `diary`, `hints` | keeping facts, and finding again what fits |
//! | `episodes` | finished turns |
//! | `skills` | skills |
//! | `onboarding` | the marker of a seat that knows its place |
//! | `brief` | what an agent is told when it connects |
//! | `embedding` | vectors, where a service for them is configured |

mod brief;
mod colleagues;
mod diary;
mod embedding;
mod episodes;
mod hints;
mod onboarding;
pub(crate) mod skills;
mod table;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::{Map, Value};
use tokio::sync::mpsc;

pub use embedding::Embedder;
pub(super) use onboarding::place_of;
pub(super) use table::TOOLS;

use super::company;
use super::request::{Outcome, Refusal};
use crate::engine::snapshot::Caller;
use crate::ids::SeatHandle;
use crate::org::agent_id;
use crate::org::directory::Directory;
use crate::secret::Redactor;
use crate::store::Store;
use crate::store::memory::Likeness;
use crate::turns::{Current, Ended, Turns};
use hints::Hints;

/// Turns whose skills are remembered until they end.
const TURNS: usize = 1024;
/// Skills of one turn that are.
const SKILLS: usize = 64;

/// See the module.
#[derive(Debug)]
pub struct Memory {
    store: Store,
    company: company::Current,
    turns: Arc<Turns>,
    equipment: OnceLock<Equipment>,
    hints: Mutex<Hints>,
    used: Mutex<Used>,
}

/// What is known only when the program runs as a whole.
#[derive(Debug)]
struct Equipment {
    redactor: Redactor,
    embedder: Option<Embedder>,
}

/// Skills that were loaded in turns that go on.
#[derive(Debug, Default)]
struct Used {
    turns: HashMap<String, Vec<String>>,
    order: VecDeque<String>,
}

/// The seat that acts, and the turn in which it does.
#[derive(Debug)]
struct Acting {
    handle: SeatHandle,
    agent_id: String,
    turn: Option<Current>,
}

impl Memory {
    /// The memory in a store, for a company.
    pub(super) fn new(store: Store, company: company::Current, turns: Arc<Turns>) -> Self {
        Self { store, company, turns, equipment: OnceLock::new(), hints: Mutex::default(), used: Mutex::default() }
    }

    /// From now on texts of its own are redacted, and found also by what they mean where there is a service for it. The
    /// first time counts.
    pub fn equip(&self, redactor: Redactor, embedder: Option<Embedder>) {
        // Set already: as it was.
        let _ = self.equipment.set(Equipment { redactor, embedder });
    }

    fn embedder(&self) -> Option<&Embedder> {
        self.equipment.get()?.embedder.as_ref()
    }

    /// A text for people and agents.
    fn cleaned(&self, text: &str) -> String {
        let clean = crate::tool::output::strip(text);
        self.equipment.get().map_or_else(|| clean.clone().into_owned(), |all| all.redactor.redact(&clean).into_owned())
    }

    /// Who is who.
    fn directory(&self) -> Arc<Directory> {
        self.company.get().directory.clone()
    }

    /// The company's name.
    fn company(&self) -> Arc<str> {
        self.company.get().name.clone()
    }

    fn hints(&self) -> MutexGuard<'_, Hints> {
        self.hints.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The seat that a caller acts for.
    ///
    /// # Errors
    /// It is no seat's agent.
    fn acting(&self, tool: &str, caller: &Caller) -> Result<Acting, Refusal> {
        let Caller::Seat { seat, session, .. } = caller else {
            return Err(Refusal::forbidden(format!(
                "{tool} works only within a seat's turn, and this caller drives no seat"
            )));
        };
        let turn = self.turns.current(seat, session);
        Ok(Acting { handle: seat.clone(), agent_id: agent_id(&self.company(), seat), turn })
    }

    /// One call of a tool of this family, its arguments checked.
    pub(super) async fn call(&self, tool: &str, arguments: &Map<String, Value>, caller: &Caller) -> Outcome {
        let acting = self.acting(tool, caller)?;
        match tool {
            "lookup_colleague" => {
                let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
                colleagues::answer(&self.directory(), query).map(Value::String)
            }
            "reflect_and_persist" => diary::reflect(self, &acting, arguments).await,
            "refresh_memory" => diary::refresh(self, &acting, arguments).await,
            "query_episodes" => episodes::query(self, &acting, arguments).await,
            "use_skill" => skills::load(self, &acting, arguments).await,
            "refine_skill" => skills::refine(self, &acting, arguments).await,
            "mark_onboarded" => onboarding::mark(self, &acting, arguments).await,
            _ => Err(Refusal::not_found("tool")),
        }
    }

    /// Writes down each turn that ends, until none will any more.
    pub async fn write_down(&self, turns: mpsc::Receiver<Ended>) {
        // What was left without a vector at an earlier end.
        self.embed_soon();
        episodes::write_down(self, turns).await;
    }

    /// What a text's like ones are found by: its words, and its vector where one can be had in time.
    async fn likeness(&self, text: String) -> Likeness {
        let vector = match self.embedder() {
            Some(embedder) => embedder.of_query(&text).await,
            None => None,
        };
        Likeness::to(text, vector)
    }

    /// There are rows without a vector.
    fn embed_soon(&self) {
        if let Some(embedder) = self.embedder() {
            embedder.wake(&self.store);
        }
    }

    fn note_used(&self, turn: &str, skill: &str) {
        if turn.is_empty() {
            return;
        }
        let mut used = self.used();
        if !used.turns.contains_key(turn) {
            used.order.push_back(turn.to_owned());
            if used.order.len() > TURNS
                && let Some(oldest) = used.order.pop_front()
            {
                used.turns.remove(&oldest);
            }
        }
        let skills = used.turns.entry(turn.to_owned()).or_default();
        if skills.len() < SKILLS && !skills.iter().any(|known| known == skill) {
            skills.push(skill.to_owned());
        }
    }

    fn take_used(&self, turn: &str) -> Vec<String> {
        let mut used = self.used();
        used.order.retain(|known| known != turn);
        used.turns.remove(turn).unwrap_or_default()
    }
}

//! Questions between seats: one asks, the other's agent answers, and both calls may be minutes apart.
//!
//! A question is kept in the store before its asker waits for it, so that neither a restart nor an asker that hangs up
//! loses it. The asker waits for as long as its deadline says; what is answered later stands in its inbox. Nobody is
//! woken: agents read their inbox. Who waits for whom is known to [`desk`] alone, which lets nobody wait in a ring.
//!
//! | file | owns |
//! |---|---|
//! | `desk` | who waits now, and the board that the screen shows |
//! | `ask`, `inbox`, `reply` | what the three tools do |
//! | `people` | whom a name means |
//! | `views` | rows as JSON and for the board |

mod ask;
pub mod desk;
mod inbox;
mod people;
mod reply;
#[cfg(test)]
mod tests;
mod views;

use std::sync::Arc;

pub use desk::Questions;

use super::request::{Class, Refusal};
use super::tool::{Audience, Effects, Field, Handler, Kind, Part, Tool};
use crate::engine::snapshot::{MOST_ANSWER, QuestionKind};
use crate::store::{ReadStore, Store, StoreError};
use crate::tool::annotations::Hint::{No, Unknown, Yes};

/// Longest question, in characters.
const BRIEF: usize = 20_000;
/// Open questions of one seat's inbox, and of all together.
const OPEN: (i64, i64) = (32, 256);
/// Open questions of one asker: to the same colleague, and to all together. What one asks leaves room for others.
const OF_ONE: (i64, i64) = (8, 32);
/// Open prompts of one seat's inbox, and of all together.
const PROMPTS: (i64, i64) = (64, 256);

/// The three tools.
pub static TOOLS: &[Tool] = &[
    Tool {
        name: "a2a_ask",
        title: "Ask a colleague",
        about: "Asks a colleague (another agent's seat) and waits for the answer, two minutes at most. A colleague that \
            does not answer in time finds the question in its inbox, and you find the answer in yours: a2a_inbox. Put \
            everything it has to know into the brief; it sees nothing of your work. Humans are not asked like this.",
        hints: Effects([No, No, Unknown, Yes]),
        delivers: None,
        part: Part::Own,
        audience: Audience::Seats,
        fields: &[
            Field::required("role_urn", Kind::Text(200), "Whom: a handle or the name of a role.")
                .or(&["target", "target_handle"]),
            Field::required("brief", Kind::Text(BRIEF), "The question, with all it takes to answer it."),
            Field::optional(
                "budget",
                Kind::Count(1, i64::MAX),
                "What the colleague may spend on it, told to it as it is.",
            ),
            Field::optional(
                "deadline",
                Kind::Text(64),
                "Until when to wait: a moment such as 2026-12-24T09:00:00Z, or a span such as PT30S.",
            ),
        ],
        handler: Handler::Run(ask::run),
    },
    Tool {
        name: "a2a_inbox",
        title: "Read the inbox of questions",
        about: "Reads what colleagues ask you, prompts that were put before you, and late answers to what you asked. \
            Read it when you begin and whenever you have finished something: nothing else tells you of a question. \
            a2a_reply answers.",
        hints: Effects([Yes, Unknown, Yes, No]),
        delivers: None,
        part: Part::Own,
        audience: Audience::Everybody,
        fields: &[
            Field::optional("channel", Kind::Text(64), "Only this question or prompt, also one that is answered."),
            Field::optional("limit", Kind::Count(1, 256), "At most so many of each kind; 20 unless told otherwise."),
        ],
        handler: Handler::Read(inbox::read),
    },
    Tool {
        name: "a2a_reply",
        title: "Answer a question",
        about: "Answers a question of a colleague's, or says what came of a prompt. One answer for each, and it cannot be \
            changed.",
        hints: Effects([No, No, Unknown, Yes]),
        delivers: None,
        part: Part::Own,
        audience: Audience::Everybody,
        fields: &[
            Field::required("channel", Kind::Text(64), "The question's channel, as a2a_inbox shows it."),
            Field::required("body", Kind::Text(MOST_ANSWER), "The answer."),
        ],
        handler: Handler::Run(reply::run),
    },
];

impl Questions {
    /// Puts what is open in the store on the board. Where there is no file yet, nothing is.
    ///
    /// # Errors
    /// What is wrong with the file; the board stays as it is.
    pub async fn load(&self, store: &Store) -> Result<(), StoreError> {
        if !store.is_there() {
            return Ok(());
        }
        let open = store.read(|store| store.open_questions(None, OPEN.1)).await?;
        self.show_all(QuestionKind::Colleague, open.iter().map(|question| views::question(question, None)).collect());
        self.load_prompts(store).await
    }

    /// The same for prompts alone: after some were put in, or marked.
    pub async fn follow_prompts(&self, store: &Store) {
        if let Err(error) = self.load_prompts(store).await {
            tracing::warn!(%error, "questions_not_loaded");
        }
    }

    async fn load_prompts(&self, store: &Store) -> Result<(), StoreError> {
        // One after the other, so that what is shown last is what was read last.
        let _turn = self.loading().await;
        let open = store.read(|store| store.open_prompts(None, PROMPTS.1)).await?;
        self.show_all(QuestionKind::Autopilot, open.iter().map(views::prompt).collect());
        Ok(())
    }
}

/// Whether this tool puts prompts into inboxes or marks them.
pub fn touches_prompts(tool: &str) -> bool {
    ["trigger_autopilot", "mark_inbox"].contains(&tool)
}

/// Whether an inbox takes another prompt.
///
/// # Errors
/// It has as many as it takes that nobody has done.
pub fn room_for_prompt(store: &ReadStore<'_>, seat: &str) -> Result<(), Refusal> {
    let (own, all) = store.count_open_prompts(seat)?;
    if own < PROMPTS.0 && all < PROMPTS.1 {
        return Ok(());
    }
    let message = format!("{seat} has {own} prompts to do first, and all seats together {all}; trigger it later");
    Err(Refusal { class: Class::InboxFull, message })
}

/// A fresh channel: unguessable, 48 random bits.
fn fresh_channel() -> Result<Arc<str>, StoreError> {
    let mut bytes = [0_u8; 8];
    if let Some(random) = bytes.get_mut(2..) {
        getrandom::fill(random).map_err(|error| StoreError::Unusable(format!("no random numbers: {error}")))?;
    }
    Ok(format!("a2a-{:012x}", u64::from_be_bytes(bytes)).into())
}

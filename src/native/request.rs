//! One call of a first-party tool: who asks, with which arguments, and what can come of it.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::company::{Badge, Company};
use crate::clock::Timestamp;
use crate::config::model::Permission;
use crate::engine::snapshot::Caller;
use crate::store::items::Who;
use crate::store::{Signed, StoreError};

/// A call on its way into the store.
#[derive(Clone, Debug)]
pub struct Request {
    /// Who asks. No argument can change it.
    pub actor: Actor,
    /// The arguments, checked against the tool's fields.
    pub arguments: Map<String, Value>,
    /// The company.
    pub company: Arc<Company>,
    /// When.
    pub at: Timestamp,
}

/// Who asks, and what they may do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Actor {
    /// What stands beside everything they write.
    pub who: Who,
    /// The seat whose inbox they work.
    pub seat: Option<String>,
    /// The projects that exist for them; empty: all.
    pub workspace: Vec<String>,
    /// What they may do there.
    pub permission: Permission,
    /// Whether they are offered the operators' tools.
    pub is_operator: bool,
}

/// What a tool answers: a JSON object, or a text.
pub type Outcome = Result<Value, Refusal>;

/// Why a tool did nothing.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// What kind of reason it is.
    pub class: Class,
    /// In words, with the next step.
    pub message: String,
}

/// Kinds of reasons.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// The arguments make no sense.
    Invalid,
    /// It does not exist, or not for the one who asks.
    NotFound,
    /// The one who asks may not.
    Forbidden,
    /// It was changed meanwhile.
    StaleVersion,
    /// It does not go together with what is there.
    Conflict,
    /// What was to be made is there already.
    Exists,
    /// The store or the setting does not allow it now.
    Unavailable,
    /// What it needs is not running.
    NotRunning,
    /// No room is left in an inbox.
    InboxFull,
    /// Somebody was first.
    AlreadyAnswered,
}

impl Class {
    /// The word in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::NotFound => "not_found",
            Self::Forbidden => "forbidden",
            Self::StaleVersion => "stale_version",
            Self::Conflict => "conflict",
            Self::Exists => "exists",
            Self::Unavailable => "unavailable",
            Self::NotRunning => "not_running",
            Self::InboxFull => "inbox_full",
            Self::AlreadyAnswered => "already_answered",
        }
    }
}

impl Refusal {
    /// The arguments make no sense.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self { class: Class::Invalid, message: message.into() }
    }

    /// There is none, or none for the one who asks: the two look alike.
    pub fn not_found(what: &str) -> Self {
        Self { class: Class::NotFound, message: format!("there is no such {what}") }
    }

    /// The store or the setting does not allow it now.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self { class: Class::Unavailable, message: message.into() }
    }

    /// The one who asks may not.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self { class: Class::Forbidden, message: message.into() }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self { class: Class::Unavailable, message: error.to_string() }
    }
}

impl Actor {
    /// Whoever the engine says is calling. `None` when it is an operator that the configuration does not have.
    pub fn of(caller: &Caller, company: &Company) -> Option<Self> {
        let all = |who: Who, is_operator| Self {
            seat: (who.kind == "seat").then(|| who.id.clone()),
            who,
            workspace: Vec::new(),
            permission: Permission::Admin,
            is_operator,
        };
        Some(match caller {
            Caller::Console => all(Who::new("console", "person"), true),
            // A worker has no name of its own to write under.
            Caller::Seat { seat, .. } | Caller::Worker { seat, .. } => all(Who::new("seat", seat.as_str()), false),
            Caller::Operator { holder, .. } => Self::operator(company.badge(holder.operator()?)?),
        })
    }

    /// An operator.
    pub fn operator(badge: &Badge) -> Self {
        Self {
            who: Who::new("operator", &*badge.id),
            seat: badge.seat.as_ref().map(ToString::to_string),
            workspace: badge.projects.clone(),
            permission: badge.permission,
            is_operator: true,
        }
    }

    /// Whether a project exists for them.
    pub fn sees(&self, project: &str) -> bool {
        self.workspace.is_empty() || self.workspace.iter().any(|own| own == project)
    }

    /// The person at the screen: nobody stands above them.
    pub fn is_person(&self) -> bool {
        self.who.kind == "console"
    }

    /// Whether they may change things.
    ///
    /// # Errors
    /// They only read.
    pub fn may_write(&self) -> Result<(), Refusal> {
        if self.permission == Permission::Viewer {
            return Err(Refusal::forbidden("this token only reads"));
        }
        Ok(())
    }

    /// Whether they may delete what this one made.
    ///
    /// # Errors
    /// They only read, or delete only what is their own.
    pub fn may_delete(&self, made_by: &Who) -> Result<(), Refusal> {
        self.may_write()?;
        if self.permission == Permission::Member && *made_by != self.who {
            return Err(Refusal::forbidden("this token deletes only what it created itself"));
        }
        Ok(())
    }
}

impl Request {
    /// What stands beside everything that this call changes.
    pub fn signed(&self) -> Signed {
        Signed { who: self.actor.who.clone(), at: self.at }
    }

    /// A text argument that is there.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.arguments.get(name)?.as_str()
    }

    /// A text argument that has to be there.
    pub fn need(&self, name: &str) -> Result<&str, Refusal> {
        self.text(name).ok_or_else(|| Refusal::invalid(format!("{name} is missing")))
    }

    /// `None`: absent; `Some(None)`: cleared by `null`.
    pub fn clearable(&self, name: &str) -> Option<Option<&str>> {
        self.arguments.get(name).map(Value::as_str)
    }

    /// A number that is there.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.arguments.get(name)?.as_i64()
    }

    /// True only when it is there and true.
    pub fn flag(&self, name: &str) -> bool {
        self.arguments.get(name) == Some(&Value::Bool(true))
    }

    /// The texts of a list, where it is there.
    pub fn texts(&self, name: &str) -> Option<Vec<String>> {
        let items = self.arguments.get(name)?.as_array()?;
        Some(items.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect())
    }

    /// The values of a list; none where it is not there.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &Value> {
        self.arguments.get(name).and_then(Value::as_array).into_iter().flatten()
    }

    /// The members of an object; none where it is not there.
    pub fn object(&self, name: &str) -> Map<String, Value> {
        self.arguments.get(name).and_then(Value::as_object).cloned().unwrap_or_default()
    }

    /// The seat whose queue, pins and inbox the one who asks works.
    ///
    /// # Errors
    /// They work none.
    pub fn own_seat(&self) -> Result<&str, Refusal> {
        let none = "this call is made for no seat, so it has no queue, pins and inbox: a token works those of the `seat` \
            that it has under `operators`";
        self.actor.seat.as_deref().ok_or_else(|| Refusal::forbidden(none))
    }
}

//! Whose endpoint a request came to, once its token was looked at: a seat's, a worker's, the operators', or the
//! connector's.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::{library, tasks};
use crate::engine::status::Era;
use crate::engine::workers::Worker;
use crate::ids::SeatHandle;
use crate::native::{Badge, Memory};
use crate::org::Seat;

/// How long a client that connects waits for what its seat remembers.
const SOON: Duration = Duration::from_secs(2);

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Party {
    /// What its sessions, questions and remembered decisions are kept apart by.
    pub(super) holder: SeatHandle,
    pub(super) role: Role,
}

/// What it is offered.
#[derive(Clone, Debug)]
pub(super) enum Role {
    /// A seat's tools.
    Seat(Arc<Seat>),
    /// What a worker of a seat was given of them.
    Worker(Arc<Worker>),
    /// The company's own tracker and pages.
    Operator(Arc<str>),
    /// The scoped connector.
    Connector(Arc<Badge>),
}

impl Party {
    pub(super) fn seat(seat: &Arc<Seat>) -> Self {
        Self { holder: seat.handle.clone(), role: Role::Seat(seat.clone()) }
    }

    pub(super) fn worker(worker: &Arc<Worker>) -> Self {
        Self { holder: worker.holder.clone(), role: Role::Worker(worker.clone()) }
    }

    pub(super) fn operator(badge: &Badge, company: &Arc<str>) -> Self {
        Self { holder: SeatHandle::of_operator(&badge.id), role: Role::Operator(company.clone()) }
    }

    pub(super) fn connector(badge: &Arc<Badge>) -> Self {
        // Not the operator's: sessions of the one surface are none of the other.
        Self { holder: SeatHandle::of_connector(&badge.id), role: Role::Connector(badge.clone()) }
    }

    /// The seat, if it is one: only seats have resources and prompts.
    pub(super) const fn as_seat(&self) -> Option<&Arc<Seat>> {
        match &self.role {
            Role::Seat(seat) => Some(seat),
            Role::Worker(_) | Role::Operator(_) | Role::Connector(_) => None,
        }
    }

    /// Whether its calls can wait for a person, and so become tasks.
    pub(super) const fn has_tasks(&self) -> bool {
        !matches!(self.role, Role::Connector(_))
    }

    /// What is declared to its clients.
    pub(super) fn capabilities(&self, era: Era) -> Value {
        let mut all = match self.role {
            Role::Seat(_) => library::capabilities(),
            Role::Worker(_) | Role::Operator(_) | Role::Connector(_) => json!({"tools": {"listChanged": true}}),
        };
        if let (Era::Modern, true, Some(all)) = (era, self.has_tasks(), all.as_object_mut()) {
            all.insert("extensions".to_owned(), json!({tasks::EXTENSION: {}}));
        }
        all
    }

    /// The lists that its clients can hear changes of.
    pub(super) fn lists(&self) -> &'static [(&'static str, &'static str)] {
        let (tools, _) = library::LISTS.split_at(1);
        if self.as_seat().is_some() { &library::LISTS } else { tools }
    }

    /// Who we are to a client of this endpoint.
    pub(super) fn server_info(&self) -> Value {
        match &self.role {
            Role::Seat(seat) => seat_info(seat),
            Role::Worker(worker) => {
                let title = format!("Worker {} of {}", worker.id, worker.seat);
                json!({"name": "crewlet", "title": title, "version": env!("CARGO_PKG_VERSION")})
            }
            Role::Operator(company) => {
                json!({"name": "crewlet-operator", "title": format!("{company} (Crewlet)"), "version": "1"})
            }
            Role::Connector(_) => json!({"name": "crewlet-connector", "title": "Crewlet connector", "version": "1"}),
        }
    }

    /// What a model is told about this server; a seat's also who it is and what it remembers, as far as that is known
    /// soon.
    pub(super) async fn instructions(&self, memory: &Memory) -> String {
        match &self.role {
            Role::Seat(seat) => {
                let brief = timeout(SOON, memory.brief(seat.handle.as_str())).await.unwrap_or_else(|_| {
                    tracing::warn!(seat = %seat.handle, "brief_too_slow");
                    String::new()
                });
                if brief.is_empty() { WAITING.to_owned() } else { format!("{brief}\n\n{WAITING}") }
            }
            Role::Worker(_) | Role::Operator(_) => WAITING.to_owned(),
            Role::Connector(_) => {
                "Issues of one workspace. A destructive tool needs confirm: true, after the user was asked and agreed. \
                 Do not repeat create_issue or comment_issue on a failure: each makes another one."
                    .to_owned()
            }
        }
    }
}

/// Who we are to a client of this seat.
pub(super) fn seat_info(seat: &Seat) -> Value {
    let title = format!("{} ({})", seat.name, seat.handle);
    json!({"name": "crewlet", "title": title, "version": env!("CARGO_PKG_VERSION")})
}

/// What a model is told about a surface whose calls pass the gate.
pub(super) const WAITING: &str = "Calls that may destroy something, or that nobody has classified, wait for a person. \
    When an answer says that a call is waiting, repeat exactly the same call later to pick up the decision.";

//! The pipeline of one call: resolve, classify, record intent, gate, ask, dispatch, record the outcome.
//!
//! [`Running`](running::Running) starts one [`Pipeline::run`] for each call. It owns the call's story from received to
//! finished and tells the core about it by [`CallEvent`]s; it never changes shared state itself.

mod ask;
pub mod hold;
mod report;
mod rounds;
mod run;
pub(super) mod running;
mod send;
mod trail;

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use super::audit::Audit;
use super::connection::Connection;
use super::first_party::FirstParty;
use super::forms::Inbox;
use super::gate::Attendance;
use super::gate::desk::Question;
use super::gate::standing::Standing;
use super::handle::{CallReport, CallRequest};
use super::snapshot::{CallView, Withdrawal};
use super::status::{Offer, Offers};
use crate::config::model::ApprovalSettings;
use crate::ids::{CallId, ConnectionName, GrantId, SeatHandle, ServerName};
use crate::secret::Redactor;
use crate::tool::Catalog;
use hold::Hold;
use run::Run;

/// A connection as calls and readers see it.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// The bare name of the server behind it.
    pub(super) server: ServerName,
    /// The seat whose own it is.
    pub(super) owner: Option<SeatHandle>,
    /// Carries the call; `None` when the connection could not even be configured.
    pub(super) connection: Option<Connection>,
    /// Runs the call instead, where the tool is the program's own.
    pub(super) own: Option<Arc<dyn FirstParty>>,
    /// Why calls cannot be sent now; `None` when they can.
    pub(super) down: Option<Arc<str>>,
    /// `tool_prefix`; prompts have it too.
    pub(super) prefix: Arc<str>,
    /// Its place among the connections, in configuration order.
    pub(super) place: usize,
    /// What it offers beside tools; `None` while it has not said so yet.
    pub(super) offers: Option<Offers>,
    /// Another number whenever one of those lists may be another one.
    pub(super) versions: [u64; Offer::ALL.len()],
}

/// What a call tells the core.
#[derive(Debug)]
pub(super) enum CallEvent {
    /// The call as it stands now.
    Changed(Box<CallView>),
    /// A person has to decide.
    Ask(Box<Question>, Box<CallView>),
    /// The caller gave the question up.
    Withdraw(CallId, Withdrawal),
    /// A grant let a call through.
    GrantUsed(GrantId),
    /// A call was refused because its seat is stopped.
    Stopped(SeatHandle),
    /// A fault of ours ended the call.
    Lost(CallId),
}

/// What all calls share.
#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    pub(super) catalog: watch::Receiver<Arc<Catalog>>,
    pub(super) links: watch::Receiver<Arc<HashMap<ConnectionName, Link>>>,
    pub(super) settings: watch::Receiver<Arc<ApprovalSettings>>,
    /// Never older than what the catalog shows.
    pub(super) standing: watch::Receiver<Arc<Standing>>,
    pub(super) audit: Audit,
    pub(super) core: mpsc::Sender<CallEvent>,
    /// Calls that are over; the core looks in when it next shows something.
    pub(super) ends: mpsc::Sender<Box<CallView>>,
    pub(super) redactor: Redactor,
    pub(super) attendance: Attendance,
    /// Who decides at this screen, for the audit: `person:root`.
    pub(super) person: Arc<str>,
    /// Where servers' questions to that person go; `None` where nobody answers any.
    pub(super) forms: Option<Inbox>,
}

impl Pipeline {
    /// Runs one call to its end. A name means what it means to the caller's seat.
    pub(super) async fn run(self, call: CallId, request: CallRequest, hold: Hold) -> CallReport {
        let found = self.catalog.borrow().find(request.caller.seat(), &request.tool).cloned();
        let run = Run::new(self, call, request, hold);
        match found {
            Some(entry) => run.with_entry(entry).await,
            None => run.refuse_unknown().await,
        }
    }

    /// Records a call that whoever took it refuses.
    pub(super) async fn refuse(self, call: CallId, request: CallRequest, reason: Arc<str>) -> CallReport {
        let found = self.catalog.borrow().find(request.caller.seat(), &request.tool).cloned();
        let run = Run::new(self, call, request, Hold::default());
        run.refused_before(found, reason).await
    }
}

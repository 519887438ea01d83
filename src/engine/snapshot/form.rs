//! Servers' questions that wait for a person, as the screen shows them.

use std::sync::Arc;

use super::Caller;
use crate::clock::Timestamp;
use crate::ids::{CallId, ConnectionName, FormId, ServerName};
use crate::tool::elicit::Form;

/// A server's question that waits. It never changes while it does.
#[derive(Clone, PartialEq, Debug)]
pub struct FormView {
    /// The question.
    pub id: FormId,
    /// The connection that it came by.
    pub connection: ConnectionName,
    /// Its server, as configured.
    pub server: ServerName,
    /// The calls that it may belong to: one where that is known.
    pub during: Vec<FormCall>,
    /// What it says, and the fields.
    pub form: Arc<Form>,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
}

/// A call during which a server asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormCall {
    /// The call.
    pub call: CallId,
    /// The tool's catalogue name.
    pub tool: Arc<str>,
    /// Who called.
    pub caller: Caller,
}

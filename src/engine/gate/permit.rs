//! Proof that a call may run. Only the gate makes one; it names what it is for, the connection included, and is
//! consumed by use.

use std::sync::Arc;

use crate::ids::{CallId, ConnectionName};
use crate::tool::{Arguments, Digest, Entry, Fingerprint};

/// Permission for one call of one definition over one connection with one set of arguments.
#[derive(Debug)]
pub struct Permit {
    call: CallId,
    connection: ConnectionName,
    fingerprint: Fingerprint,
    arguments: Digest,
}

impl Permit {
    /// Made by the policy's `allow` and by a person's approval, and by nothing else.
    pub(super) fn new(call: CallId, entry: &Entry, arguments: &Arguments) -> Self {
        let connection = entry.connection.clone();
        Self { call, connection, fingerprint: entry.fingerprint, arguments: arguments.digest() }
    }

    /// Turns the permission into the request that a connection accepts. The entry has been resolved again for
    /// this; `None` when it or the arguments are not the ones that were permitted.
    pub fn redeem(self, entry: &Entry, arguments: &Arguments) -> Option<Dispatch> {
        let same = self.connection == entry.connection
            && self.fingerprint == entry.fingerprint
            && self.arguments == arguments.digest();
        same.then(|| Dispatch {
            call: self.call,
            connection: self.connection,
            raw_name: entry.raw_name.clone(),
            arguments: arguments.shared(),
            input: None,
        })
    }
}

/// One permitted `tools/call`, ready to be sent once.
#[derive(Debug)]
pub struct Dispatch {
    call: CallId,
    connection: ConnectionName,
    raw_name: Arc<str>,
    arguments: Arc<str>,
    /// What the server asked for before it completes the call: members of a JSON object.
    input: Option<String>,
}

impl Dispatch {
    /// The same call once more, now that the server has what it asked for. Only what a connection handed back as not
    /// completed can be sent on: tool and arguments are those that were permitted, byte for byte.
    pub(in crate::engine) fn continued(self, input: String) -> Self {
        Self { input: Some(input), ..self }
    }

    /// What goes with the call beside its arguments.
    pub fn input(&self) -> Option<&str> {
        self.input.as_deref()
    }

    /// The call it belongs to.
    pub const fn call(&self) -> &CallId {
        &self.call
    }

    /// The connection that it may be sent over.
    pub const fn connection(&self) -> &ConnectionName {
        &self.connection
    }

    /// The tool's name on the wire.
    pub fn raw_name(&self) -> &str {
        &self.raw_name
    }

    /// Canonical JSON text of the arguments: exactly these bytes are sent.
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    /// A request for tests of connections.
    #[cfg(test)]
    pub(crate) fn for_test(raw_name: &str, arguments: &str) -> Self {
        let (call, connection) = (CallId::new("ctest"), ConnectionName::from("fake"));
        Self { call, connection, raw_name: raw_name.into(), arguments: arguments.into(), input: None }
    }
}

//! The records that a read leaves: those of a call that the policy let through, under the method's name.
//!
//! What is read stands in the arguments: `{"uri": …}` or `{"name": …, "arguments": …}`, by the server's own names. The
//! kinds are those of calls, so every reader of the trail knows them. A read changes nothing: it goes on when the
//! trail cannot be written, which shows in the writer's health. Lists leave no record, like `tools/list`.

use std::sync::Arc;

use serde_json::json;
use tokio::time::Instant;

use super::{Held, Library, Reader, Refused};
use crate::clock::Timestamp;
use crate::engine::audit::{Audit, Durability, Kind, Outcome, Record};
use crate::engine::connection::Query;
use crate::engine::snapshot::Caller;
use crate::ids::CallId;
use crate::secret::Redactor;
use crate::tool::{Arguments, EffectClass};

/// Why nobody is asked.
const BY: &str = "a read by the protocol";

/// One read's records.
pub(super) struct Trail {
    audit: Audit,
    began: Instant,
    /// What all of them say.
    record: Record,
    args: Option<Arc<str>>,
}

impl Trail {
    /// A read that begins now.
    pub fn new(audit: &Audit, redactor: &Redactor, (caller, held): (&Caller, &Held), query: &Query) -> Self {
        let text = match query {
            Query::Resource(uri) => json!({"uri": &**uri}).to_string(),
            Query::Prompt { name, arguments: None } => json!({"name": &**name}).to_string(),
            Query::Prompt { name, arguments: Some(all) } => {
                format!(r#"{{"name":{},"arguments":{all}}}"#, json!(&**name))
            }
        };
        let arguments = Arguments::parse(&text).ok();
        let record = Record {
            call: Some(CallId::fresh()),
            caller: Some(caller.clone()),
            server: Some(held.1.server.clone()),
            connection: Some(held.0.clone()),
            name: Some(query.method().into()),
            class: Some(EffectClass::Read),
            args_sha256: arguments.as_ref().map(Arguments::digest),
            ..Record::new(Timestamp::now(), Kind::Received)
        };
        let args = arguments.map(|arguments| arguments.for_record(redactor).shared());
        Self { audit: audit.clone(), began: Instant::now(), record, args }
    }

    /// It is about to be sent.
    pub async fn sent(&mut self) {
        let mut dispatched = self.record(Kind::Dispatched);
        dispatched.policy = Some(("allow", BY.into()));
        dispatched.decider = Some("policy".into());
        let received = self.received();
        self.append(vec![received, dispatched]).await;
    }

    /// It is not sent.
    pub async fn refused(&mut self, why: &Refused) {
        let mut refused = self.record(Kind::Refused);
        refused.reason = Some(why.to_string().into());
        refused.elapsed = Some(self.began.elapsed());
        let received = self.received();
        self.append(vec![received, refused]).await;
    }

    /// It was sent and is over.
    pub async fn finished(&mut self, outcome: Outcome, why: Option<&Refused>) {
        let mut finished = self.record(Kind::Finished);
        finished.outcome = Some(outcome);
        finished.reason = why.map(|why| why.to_string().into());
        finished.elapsed = Some(self.began.elapsed());
        self.append(vec![finished]).await;
    }

    fn received(&mut self) -> Record {
        Record { args: self.args.take(), ..self.record(Kind::Received) }
    }

    fn record(&self, kind: Kind) -> Record {
        Record { at: Timestamp::now(), kind, ..self.record.clone() }
    }

    async fn append(&self, records: Vec<Record>) {
        if let Err(error) = self.audit.append(records, Durability::Written).await {
            tracing::warn!(%error, "read_not_recorded");
        }
    }
}

impl Library {
    /// Leaves a record of a read of something that the seat does not have. `what` is made fit to be kept.
    pub async fn record_unknown(&self, reader: &Reader, what: &str) {
        let what = crate::text::fit(&crate::text::visible(&self.0.redactor.redact(what)), 160).into_owned();
        let record = Record {
            call: Some(CallId::fresh()),
            caller: Some(reader.caller.clone()),
            name: Some(what.into()),
            reason: Some(Refused::Unknown.to_string().into()),
            ..Record::new(Timestamp::now(), Kind::Refused)
        };
        if let Err(error) = self.0.audit.append(vec![record], Durability::Written).await {
            tracing::warn!(%error, "read_not_recorded");
        }
    }
}

//! One resource, one prompt: asked of the one server that has it, by the server's own name for it.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::trail::Trail;
use super::{Held, Library, Reader, Refused, down};
use crate::engine::LARGE;
use crate::engine::audit::Outcome;
use crate::engine::connection::{CallFailure, Query, Reply};
use crate::engine::status::Offer;
use crate::ids::ServerName;
use crate::secret::Redactor;
use crate::tool::Arguments;
use crate::tool::address::Address;
use crate::tool::contents::{Passed, Unusable, read_prompt, read_resource};
use crate::tool::output::OutputNote;

/// Characters that are kept of a server's own error.
const ERROR_CHARS: usize = 2_000;

/// A question that has found its server.
struct Asking<'a> {
    reader: &'a Reader,
    held: Held,
    query: Query,
}

impl Library {
    /// The members of a `resources/read` result for the resource that agents know by this address.
    ///
    /// # Errors
    /// See [`Refused`].
    pub async fn read(
        &self,
        reader: &Reader,
        address: &str,
        cancel: &CancellationToken,
    ) -> Result<Map<String, Value>, Refused> {
        let Some(Address { server, uri }) = Address::parse(address) else { return Err(Refused::Unknown) };
        let held = self.link(&reader.seat, server).ok_or(Refused::Unknown)?;
        let (server, asked) = (held.1.server.clone(), address.to_owned());
        let asking = Asking { reader, held, query: Query::Resource(uri.as_str().into()) };
        let read =
            move |text: &str, redactor: &Redactor| read_resource(text, (server.as_str(), &uri), &asked, redactor);
        self.ask(asking, Offer::Resources, read, cancel).await
    }

    /// The members of a `prompts/get` result for the prompt that agents know by this name.
    ///
    /// # Errors
    /// See [`Refused`].
    pub async fn prompt(
        &self,
        reader: &Reader,
        (name, arguments): (&str, Option<&Arguments>),
        cancel: &CancellationToken,
    ) -> Result<Map<String, Value>, Refused> {
        let (server, raw) = self.prompt_called(&reader.seat, name).await?;
        let held = self.link(&reader.seat, &server).ok_or(Refused::Unknown)?;
        let query = Query::Prompt { name: raw, arguments: arguments.map(Arguments::shared) };
        let read = move |text: &str, redactor: &Redactor| read_prompt(text, &server, redactor);
        self.ask(Asking { reader, held, query }, Offer::Prompts, read, cancel).await
    }

    async fn ask(
        &self,
        asking: Asking<'_>,
        offer: Offer,
        read: impl FnOnce(&str, &Redactor) -> Result<Passed, Unusable> + Send + 'static,
        cancel: &CancellationToken,
    ) -> Result<Map<String, Value>, Refused> {
        let Asking { reader, held, query } = asking;
        let link = &held.1;
        // Whether a server that is down has it, nobody can say; that it is down is what the agent needs to know.
        if link.down.is_none() && !link.offers(offer) {
            return Err(Refused::Unknown);
        }
        let mut trail = Trail::new(&self.0.audit, &self.0.redactor, (&reader.caller, &held), &query);
        if let Some(refused) = self.stopped(&reader.seat).or_else(|| down(link)) {
            trail.refused(&refused).await;
            return Err(refused);
        }
        let _place = match self.place(&reader.seat) {
            Ok(place) => place,
            Err(refused) => {
                trail.refused(&refused).await;
                return Err(refused);
            }
        };
        let Some(connection) = &link.connection else { return Err(Refused::Unknown) };
        trail.sent().await;
        let (passed, outcome) = match connection.ask(&query, cancel).await {
            Ok(Reply::Result(raw)) => match self.clean(raw, read).await {
                Ok(passed) => (Ok(noted(passed, &link.server, &query)), Outcome::Done),
                Err(unusable) => (Err(failed(&link.server, &unusable)), Outcome::Failed),
            },
            Ok(Reply::Error { code, message }) => {
                let words: String = message.chars().take(ERROR_CHARS).collect();
                let text = format!("server \"{}\": {words} (JSON-RPC error {code})", link.server);
                (Err(Refused::Server { code, text: text.into() }), Outcome::Failed)
            }
            Ok(Reply::InputRequired(_)) => {
                let asks = "it asks for input, which only calls can answer";
                (Err(failed(&link.server, &asks)), Outcome::Failed)
            }
            Err(failure @ (CallFailure::NotRunning(_) | CallFailure::NotSent(_))) => {
                (Err(failed(&link.server, &failure)), Outcome::Failed)
            }
            Err(failure) => (Err(failed(&link.server, &failure)), Outcome::Unknown),
        };
        trail.finished(outcome, passed.as_ref().err()).await;
        passed
    }

    async fn clean(
        &self,
        raw: Box<RawValue>,
        read: impl FnOnce(&str, &Redactor) -> Result<Passed, Unusable> + Send + 'static,
    ) -> Result<Passed, Unusable> {
        let redactor = self.0.redactor.clone();
        if raw.get().len() < LARGE {
            return read(raw.get(), &redactor);
        }
        // Cleaning megabytes takes seconds, in which other requests go on.
        tokio::task::spawn_blocking(move || read(raw.get(), &redactor)).await.unwrap_or(Err(Unusable::Unreadable))
    }
}

fn noted(passed: Passed, server: &ServerName, query: &Query) -> Map<String, Value> {
    if passed.notes.contains(&OutputNote::SecretsRedacted) {
        tracing::warn!(%server, method = query.method(), "read_result_secrets_redacted");
    }
    passed.result
}

fn failed(server: &ServerName, why: &dyn std::fmt::Display) -> Refused {
    Refused::Failed(Arc::from(format!("server \"{server}\": {why}")))
}

//! The company's own tools, which this program brings itself: tracker and pages over [`crate::store`], and what seats
//! need to work.
//!
//! They run in the same pipeline as every server's tools: the engine resolves them in its catalogue, asks where the
//! policy says so, and hands a permitted call to [`Native`] through
//! [`FirstParty`]. Only the scoped [`connector`], where we are the server that
//! judges its callers, has a way of its own. Who asks is never an argument.
//!
//! | file | owns |
//! |---|---|
//! | `table`, `connector::table` | every tool as data, by family: name, hints, arguments, who may, handler |
//! | `tool`, `shape` | what that data means: listings, schemas, checks of arguments |
//! | `request`, `company` | who asks for what, and what is known of the company |
//! | `shared` | what lives only while the program runs, for the tools and the surfaces |
//! | `work`, `pages`, `questions`, `turns`, `memory`, `discovery`, `delegate`, `connector::issues` | what the tools do |
//! | `show`, `words` | rows as JSON; the tracker's words |
//! | `reader` | rows as a screen asks for them |

pub mod active;
mod company;
pub mod connector;
mod delegate;
mod discovery;
pub(crate) mod memory;
mod pages;
pub mod questions;
pub mod reader;
mod request;
mod shape;
mod shared;
mod show;
pub mod table;
#[cfg(test)]
mod tests;
pub mod tool;
mod turns;
mod words;
mod work;
#[cfg(test)]
mod workspace_tests;

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use company::Current;
pub use company::{Badge, Company};
use connector::{Connector, Trail};
pub use memory::{Embedder, Memory};
use reader::RowReader;
pub use request::{Actor, Class, Outcome, Refusal, Request};
pub use shared::Shared;
use tool::{Ask, Audience, Handler, Part, Tool};

use crate::clock::Timestamp;
use crate::config::model::Config;
use crate::engine::first_party::{Asked, FirstParty, Ran, World};
use crate::engine::snapshot::{Board, Caller};
use crate::ids::{ConnectionName, ServerName};
use crate::org::Org;
use crate::secret::Redactor;
use crate::store::Store;
use crate::tool::Listing;
use crate::tool::catalog::Source;

/// Who calls, and what there is then.
#[derive(Debug)]
struct From {
    caller: Caller,
    world: World,
    cancel: CancellationToken,
}

/// See the module.
#[derive(Debug)]
pub struct Native {
    store: Store,
    company: Current,
    shared: Arc<Shared>,
    memory: Arc<Memory>,
    trail: Trail,
}

impl Native {
    /// The tools that the configuration opens, over what is kept.
    pub fn open(config: &Config, store: Store) -> Arc<Self> {
        let trail = Trail::new(store.folder(), store.changed().clone());
        let (company, shared) = (Current::new(Company::of(config)), Arc::new(Shared::of(config)));
        let memory = Arc::new(Memory::new(store.clone(), company.clone(), shared.turns.clone()));
        Arc::new(Self { store, company, shared, memory, trail })
    }

    /// Whether there is anything for operators: tracker or pages.
    pub fn has_surfaces(&self) -> bool {
        let halves = self.company().halves;
        halves.tracker || halves.pages
    }

    /// What lives only while the program runs.
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// What seats remember.
    pub const fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// The company as it stands.
    pub fn company(&self) -> Arc<Company> {
        self.company.get()
    }

    /// What is kept.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Puts on the screen what stood in the inboxes when the program ended.
    pub async fn load_questions(&self) {
        if let Err(error) = self.shared.questions.load(&self.store).await {
            tracing::warn!(%error, "questions_not_loaded");
        }
    }

    /// What a screen reads the company's rows with.
    pub fn reader(self: &Arc<Self>, redactor: Redactor) -> RowReader {
        RowReader::new(self.clone(), redactor)
    }

    /// The scoped connector over the same rows, with its trail beside them.
    pub fn connector(&self) -> Arc<Connector> {
        let new = || {
            let connector = Connector::new(self.store.clone(), self.company.clone(), self.trail.clone());
            Arc::new(connector.telling(&self.shared.questions))
        };
        self.shared.connector.get_or_init(new).clone()
    }

    /// Whether the configuration opens this part.
    pub fn is_open(&self, part: Part) -> bool {
        self.company().is_open(part)
    }

    /// A call of the connector's that the gate has let through.
    async fn run_connector(&self, (name, arguments): (&str, &str), caller: &Caller) -> Box<RawValue> {
        let id = caller.seat().and_then(|holder| holder.connector());
        match (self.shared.connector.get(), id) {
            (Some(connector), Some(id)) => connector.permitted(id, name, arguments).await.as_result(),
            _ => {
                let text =
                    "these tools are for tokens of the connector; the tracker's own do the same for everybody else";
                result(Err(Refusal::forbidden(text)))
            }
        }
    }

    /// One call, checked and run.
    async fn run(self: Arc<Self>, (name, arguments): (&str, &str), from: From) -> Outcome {
        let From { caller, world, cancel } = from;
        let tool = table::named(name).ok_or_else(|| Refusal::not_found("tool"))?;
        if !self.is_open(tool.part) {
            return Err(closed(tool.part));
        }
        let company = self.company();
        let actor = Actor::of(&caller, &company)
            .ok_or_else(|| Refusal::forbidden("this operator is not in the configuration any more"))?;
        // The surfaces do not offer it; this holds whatever they do.
        match tool.audience {
            Audience::Operators if !actor.is_operator => {
                return Err(Refusal::forbidden(format!("{name} is for operators")));
            }
            Audience::Seats if actor.is_operator => {
                return Err(Refusal::forbidden(format!(
                    "{name} acts for a seat, and only the seat's agent can call it"
                )));
            }
            _ => {}
        }
        let mut arguments = read_arguments(arguments)?;
        tool.rename(&mut arguments);
        tool.check(&arguments)?;
        let request = Request { actor, arguments, company, at: Timestamp::now() };
        match tool.handler {
            Handler::Read(handler) => self.store.read(move |store| handler(store, &request)).await,
            Handler::Write(handler) => {
                let outcome = self.store.write(move |store| handler(store, &request)).await;
                if outcome.is_ok() && questions::touches_prompts(name) {
                    self.shared.questions.follow_prompts(&self.store).await;
                }
                outcome
            }
            Handler::Run(handler) => handler(Ask { native: self, request, caller, world, cancel }).await,
        }
    }
}

#[cfg(test)]
impl Native {
    /// One call as the engine makes it, in a world without servers.
    async fn call_as(self: &Arc<Self>, caller: &Caller, tool: &str, arguments: &str) -> Outcome {
        let from = From { caller: caller.clone(), world: World::default(), cancel: CancellationToken::new() };
        self.clone().run((tool, arguments), from).await
    }
}

impl FirstParty for Native {
    /// Seats are offered what is open; a closed half is offered to operators, who are told which setting closes it.
    fn sources(&self) -> Vec<Source> {
        let for_all = |tool: &Tool| tool.audience == Audience::Everybody && self.is_open(tool.part);
        let for_seats = |tool: &Tool| tool.audience == Audience::Seats && self.is_open(tool.part);
        let own: Vec<&str> = table::all().filter(|tool| for_seats(tool)).map(|tool| tool.name).collect();
        tracing::info!(count = own.len(), tools = own.join(" "), "builtin_tools_registered");
        let for_operators = |tool: &Tool| self.has_surfaces() && tool.audience != Audience::Seats && !for_all(tool);
        let mut sources = vec![
            source(ConnectionName::shared(&ServerName::ours()), table::all().filter(|tool| for_all(tool))),
            source(ConnectionName::operators(), table::all().filter(|tool| for_operators(tool))),
            source(ConnectionName::agents(), table::all().filter(|tool| for_seats(tool))),
        ];
        if self.has_surfaces() && self.company().has_connector() {
            let scoped = connector::table::TOOLS.iter().map(|scoped| &scoped.tool);
            // Names of their own: what servers call the same stays theirs.
            sources.push(Source { prefix: "connector_".into(), ..source(ConnectionName::connector(), scoped) });
        }
        sources
    }

    fn acts_for(&self, caller: &Caller) -> Option<Arc<str>> {
        Actor::of(caller, &self.company())?.seat.map(Arc::from)
    }

    fn follow(&self, org: &Org) {
        self.company.follow(org);
    }

    fn questions(&self) -> Option<watch::Receiver<Board>> {
        Some(self.shared.questions.board())
    }

    fn call(self: Arc<Self>, asked: Asked) -> Ran {
        let Asked { dispatch, caller, world, cancel } = asked;
        let from = From { caller, world, cancel };
        Box::pin(async move {
            let called = (dispatch.raw_name(), dispatch.arguments());
            if dispatch.connection().is_connector() {
                return self.run_connector(called, &from.caller).await;
            }
            result(self.run(called, from).await)
        })
    }
}

fn closed(part: Part) -> Refusal {
    let setting = match part {
        Part::Work => "engine.native.tracker: false",
        Part::Pages => "engine.native.pages: false",
        Part::Discovery => "engine.discovery: all",
        Part::Turns => "engine.turn_tools: false",
        // Nothing closes what the program always brings.
        Part::Own => "the configuration",
    };
    Refusal { class: Class::Unavailable, message: format!("this part is closed by {setting}") }
}

/// Arguments as an object. They were checked for what JSON leaves open before.
fn read_arguments(text: &str) -> Result<Map<String, Value>, Refusal> {
    match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err(Refusal::invalid("the arguments are not an object")),
        Err(error) => Err(Refusal::invalid(format!("the arguments cannot be read: {error}"))),
    }
}

/// What a tool answered as the result of an MCP call.
fn result(outcome: Outcome) -> Box<RawValue> {
    let result = match outcome {
        // A text is what it says; there is no structure that could be told beside it.
        Ok(Value::String(text)) => json!({"content": [{"type": "text", "text": text}], "isError": false}),
        Ok(value) => json!({
            "content": [{"type": "text", "text": value.to_string()}], "structuredContent": value, "isError": false,
        }),
        Err(refusal) => {
            // The words of a field end in a full stop of their own.
            let said = refusal.message.trim_end_matches('.');
            let text = format!("{}: {said}. Nothing was changed", refusal.class.as_str());
            json!({
                "content": [{"type": "text", "text": text}],
                "structuredContent": {"refusal": refusal.class.as_str()}, "isError": true,
            })
        }
    };
    // Values of ours can always be written.
    serde_json::value::to_raw_value(&result).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// These tools as the engine places them.
fn source<'t>(connection: ConnectionName, tools: impl Iterator<Item = &'t Tool>) -> Source {
    let mut listing = Listing::default();
    let mut delivers = HashMap::new();
    for tool in tools {
        listing.push(&tool.listed());
        if let Some(surface) = tool.delivers {
            delivers.insert(Arc::from(tool.name), Arc::from(surface));
        }
    }
    Source {
        server: ServerName::ours(),
        connection,
        seat: None,
        identity: "this program".into(),
        prefix: "".into(),
        overrides: Arc::new([]),
        listing: Some(Arc::new(listing)),
        first_party: Some(Arc::new(delivers)),
    }
}

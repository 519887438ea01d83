//! The company's own tracker and pages: tools that this program brings itself, over [`crate::store`].
//!
//! They run in the same pipeline as every server's tools: the engine resolves them in its catalogue, asks where the
//! policy says so, and hands a permitted call to [`Native`] through
//! [`FirstParty`]. Only the scoped [`connector`], where we are the server that
//! judges its callers, has a way of its own. Who asks is never an argument.
//!
//! | file | owns |
//! |---|---|
//! | `table`, `connector::table` | every tool as data: name, hints, arguments, who may, handler |
//! | `tool` | what that data means: listings, schemas, checks of arguments |
//! | `request`, `company` | who asks for what, and what is known of the company |
//! | `work`, `pages`, `connector::issues` | what the tools do |
//! | `show`, `words` | rows as JSON; the tracker's words |
//! | `reader` | rows as a screen asks for them |

mod company;
pub mod connector;
mod pages;
pub mod reader;
mod request;
mod show;
pub mod table;
#[cfg(test)]
mod tests;
pub mod tool;
mod words;
mod work;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

pub use company::{Badge, Company};
use connector::{Connector, Trail};
pub use request::{Actor, Class, Outcome, Refusal, Request};
use tool::{Audience, Half, Handler, Tool};

use crate::clock::Timestamp;
use crate::config::model::Config;
use crate::engine::first_party::{FirstParty, Ran};
use crate::engine::gate::Dispatch;
use crate::engine::snapshot::Caller;
use crate::ids::{ConnectionName, ServerName};
use crate::store::Store;
use crate::tool::Listing;
use crate::tool::catalog::Source;

/// The company's own surfaces.
#[derive(Debug)]
pub struct Native {
    store: Store,
    company: Arc<Company>,
}

impl Native {
    /// The surfaces that the configuration opens; `None` when it closes all of them.
    pub fn open(config: &Config, store: Store) -> Option<Arc<Self>> {
        let company = Arc::new(Company::of(config));
        let open = company.halves.tracker || company.halves.pages;
        open.then(|| Arc::new(Self { store, company }))
    }

    /// The company.
    pub fn company(&self) -> &Arc<Company> {
        &self.company
    }

    /// The scoped connector over the same rows, with its trail in this folder.
    pub fn connector(&self, folder: &Path) -> Connector {
        Connector::new(self.store.clone(), self.company.clone(), Trail::new(folder))
    }

    fn is_open(&self, half: Half) -> bool {
        match half {
            Half::Work => self.company.halves.tracker,
            Half::Pages => self.company.halves.pages,
        }
    }

    /// One call, checked and run.
    async fn run(&self, name: &str, arguments: &str, caller: &Caller) -> Outcome {
        let tool = table::TOOLS.iter().find(|tool| tool.name == name).ok_or_else(|| Refusal::not_found("tool"))?;
        if !self.is_open(tool.half) {
            return Err(closed(tool.half));
        }
        let actor = Actor::of(caller, &self.company)
            .ok_or_else(|| Refusal::forbidden("this operator is not in the configuration any more"))?;
        // The surfaces do not offer it; this holds whatever they do.
        if tool.audience == Audience::Operators && !actor.is_operator {
            return Err(Refusal::forbidden(format!("{name} is for operators")));
        }
        let arguments = read_arguments(arguments)?;
        tool.check(&arguments)?;
        let request = Request { actor, arguments, company: self.company.clone(), at: Timestamp::now() };
        match tool.handler {
            Handler::Read(handler) => self.store.read(move |store| handler(store, &request)).await,
            Handler::Write(handler) => self.store.write(move |store| handler(store, &request)).await,
        }
    }
}

impl FirstParty for Native {
    /// Seats are offered what is open; a closed half is offered to operators, who are told which setting closes it.
    fn sources(&self) -> Vec<Source> {
        let for_all = |tool: &Tool| tool.audience == Audience::Everybody && self.is_open(tool.half);
        vec![
            source(ConnectionName::shared(&ServerName::ours()), for_all),
            source(ConnectionName::operators(), |tool| !for_all(tool)),
        ]
    }

    fn call(self: Arc<Self>, dispatch: Dispatch, caller: Caller) -> Ran {
        Box::pin(async move { result(self.run(dispatch.raw_name(), dispatch.arguments(), &caller).await) })
    }
}

fn closed(half: Half) -> Refusal {
    let setting = match half {
        Half::Work => "engine.native.tracker",
        Half::Pages => "engine.native.pages",
    };
    Refusal { class: Class::Unavailable, message: format!("this part is closed by {setting}: false") }
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
        Ok(value) => json!({
            "content": [{"type": "text", "text": value.to_string()}], "structuredContent": value, "isError": false,
        }),
        Err(refusal) => {
            let text = format!("{}: {}. Nothing was changed", refusal.class.as_str(), refusal.message);
            json!({
                "content": [{"type": "text", "text": text}],
                "structuredContent": {"refusal": refusal.class.as_str()}, "isError": true,
            })
        }
    };
    // Values of ours can always be written.
    serde_json::value::to_raw_value(&result).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// The tools that `offers` chooses, as the engine places them.
fn source(connection: ConnectionName, offers: impl Fn(&Tool) -> bool) -> Source {
    let mut listing = Listing::default();
    let mut delivers = HashMap::new();
    for tool in table::TOOLS.iter().filter(|tool| offers(tool)) {
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

//! From a declared server to a supervised connection: what the configuration says, resolved, and started.
//!
//! The start and the reload use it. It decides nothing: whether a connection has to be started anew is told by
//! comparing two [`Plan`]s, see [`Needs`].

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::connection::{
    self, Connection, ConnectionSpec, Connector, HttpSpec, Initially, NamedEvent, StdioSpec, TransportSpec,
};
use super::core::adopt;
use super::forms::Inbox;
use super::servers::{Declared, Owner};
use super::snapshot::{CredentialView, TransportFacts};
use super::status::{ConnectionStatus, Era, Failure, FailureKind};
use crate::clock::Timestamp;
use crate::config::expand::Environment;
use crate::config::model::{self, Config, RestartPolicy, Unresolved};
use crate::config::resolve::{Resolved, ResolvedTransport};
use crate::ids::{ConnectionName, SeatHandle, ServerName};
use crate::org::Seat;
use crate::secret::{Redactor, Secret};

/// What every connection is started with.
pub(super) struct Launcher {
    pub(super) environment: Arc<dyn Environment>,
    pub(super) redactor: Redactor,
    pub(super) own_children: Vec<(Arc<str>, Arc<str>)>,
    pub(super) connectors: HashMap<ServerName, Arc<dyn Connector>>,
    pub(super) only: Option<Only>,
    pub(super) events: mpsc::Sender<NamedEvent>,
    pub(super) forms: Option<Inbox>,
    pub(super) shutdown: CancellationToken,
}

/// Which of the configured connections are started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Only {
    /// This one.
    Connection(ConnectionName),
    /// Those that all seats share, and the own ones of this seat, where one is named.
    HeldBy(Option<SeatHandle>),
}

impl Only {
    fn wants(&self, connection: &ConnectionName, seat: Option<&Seat>) -> bool {
        match (self, seat) {
            (Self::Connection(only), _) => only == connection,
            (Self::HeldBy(_), None) => true,
            (Self::HeldBy(holder), Some(seat)) => holder.as_ref() == Some(&seat.handle),
        }
    }
}

/// A connection as the configuration wants it, references filled in as they are now.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) declared: Declared,
    pub(super) needs: Needs,
    resolved: Result<Resolved, Vec<Unresolved>>,
    ours: bool,
}

/// What a running connection was made of. While it is the same, the connection goes on untouched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Needs {
    /// Variables and headers in the order of their names; `None` when a reference has no value.
    transport: Option<ResolvedTransport>,
    startup_timeout: Duration,
    request_timeout: Duration,
    restart: RestartPolicy,
    pub(super) enabled: bool,
}

/// A connection that was started, or could not be.
pub(super) struct Launched {
    pub(super) link: Option<Connection>,
    pub(super) status: ConnectionStatus,
    /// Takes down this connection alone.
    pub(super) stop: CancellationToken,
}

impl Launcher {
    /// The connections that a configuration asks for, in its order: one for each shared server, and for each other
    /// server one for each agent seat that names it in its `mcp_env`.
    pub(super) fn plans(&self, config: &Config) -> Vec<Plan> {
        let wanted = |connection: &ConnectionName, seat: Option<&Seat>| {
            self.only.as_ref().is_none_or(|only| only.wants(connection, seat))
        };
        let mut plans = Vec::new();
        for server in &config.servers {
            if server.shared {
                let connection = ConnectionName::shared(&server.name);
                if wanted(&connection, None) {
                    plans.push(self.plan((connection, None), server));
                }
                continue;
            }
            for seat in config.org.agents() {
                let Some(declared) = seat.credentials_for(&server.name) else { continue };
                let connection = seat.connection(&server.name);
                if wanted(&connection, Some(seat)) {
                    plans.push(self.plan((connection, Some(seat)), &server.for_seat(declared)));
                }
            }
        }
        plans
    }

    fn plan(&self, (connection, seat): (ConnectionName, Option<&Seat>), server: &model::Server) -> Plan {
        let resolved = server.resolve(self.environment.as_ref());
        Plan {
            needs: Needs {
                transport: resolved.as_ref().ok().map(|resolved| in_order(resolved.transport.clone())),
                startup_timeout: server.startup_timeout,
                request_timeout: server.request_timeout,
                restart: server.restart,
                enabled: server.enabled,
            },
            declared: declare((connection, seat), server, self.environment.as_ref()),
            resolved,
            ours: server.is_ours(),
        }
    }

    /// Starts the supervisor of a connection; its task goes to `tasks`.
    pub(super) fn launch(
        &self,
        plan: Plan,
        initially: Initially,
        known_era: Option<Era>,
        tasks: &mut JoinSet<()>,
    ) -> Launched {
        let stop = self.shutdown.child_token();
        let transport = match (self.connector(&plan.declared), plan.resolved) {
            (Some(connector), _) => TransportSpec::Custom(connector.clone()),
            (None, Ok(resolved)) => {
                self.redactor.learn(resolved.secrets);
                self.specify(resolved.transport, plan.ours)
            }
            (None, Err(missing)) => return Launched { link: None, status: unresolved(&missing), stop },
        };
        let spec = ConnectionSpec {
            name: plan.declared.connection.clone(),
            server: plan.declared.server,
            transport,
            startup_timeout: plan.needs.startup_timeout,
            request_timeout: plan.needs.request_timeout,
            restart: plan.needs.restart,
            known_era,
            redactor: self.redactor.clone(),
            forms: self.forms.clone(),
        };
        let status = match initially {
            Initially::Enabled => ConnectionStatus::Starting { since: Timestamp::now() },
            Initially::Disabled => ConnectionStatus::Disabled,
        };
        let (link, task) = connection::start(spec, initially, self.events.clone(), stop.clone());
        adopt(tasks, plan.declared.connection, task, self.events.clone());
        Launched { link: Some(link), status, stop }
    }

    fn connector(&self, declared: &Declared) -> Option<&Arc<dyn Connector>> {
        let own = self.connectors.get(declared.connection.as_str());
        own.or_else(|| self.connectors.get(declared.server.as_str()))
    }

    fn specify(&self, transport: ResolvedTransport, ours: bool) -> TransportSpec {
        match transport {
            ResolvedTransport::Stdio { command, args, mut env, cwd, inherit_env, display } => {
                if ours {
                    let added = self.own_children.iter();
                    env.extend(added.map(|(name, value)| (name.clone(), Secret::new(value.clone()))));
                }
                TransportSpec::Stdio(StdioSpec { command, args, display, env, cwd, inherit_env })
            }
            ResolvedTransport::Http { url, display, headers } => {
                TransportSpec::Http(HttpSpec { url, display, headers })
            }
        }
    }
}

impl Plan {
    /// Why it cannot be started, as the status that says so; `None` when it can.
    pub(super) fn unresolved(&self) -> Option<ConnectionStatus> {
        self.resolved.as_ref().err().map(|missing| unresolved(missing))
    }

    /// As declared.
    pub(super) const fn initially(&self) -> Initially {
        if self.needs.enabled { Initially::Enabled } else { Initially::Disabled }
    }
}

/// The same transport with variables and headers by name: in which order they are written says nothing.
fn in_order(mut transport: ResolvedTransport) -> ResolvedTransport {
    match &mut transport {
        ResolvedTransport::Stdio { env, inherit_env, .. } => {
            env.sort_by(|(a, _), (b, _)| a.cmp(b));
            inherit_env.sort_unstable();
        }
        ResolvedTransport::Http { headers, .. } => headers.sort_by(|(a, _), (b, _)| a.cmp(b)),
    }
    transport
}

fn declare(
    (connection, seat): (ConnectionName, Option<&Seat>),
    server: &model::Server,
    environment: &dyn Environment,
) -> Declared {
    let shown: Arc<str> = crate::text::visible(&server.display()).into();
    let (transport, identity) = match &server.transport {
        model::Transport::Stdio { .. } => (TransportFacts::Stdio { command: shown.clone() }, shown),
        model::Transport::Http { url, .. } => (TransportFacts::Http { url: shown }, url.text().into()),
    };
    let credentials = server.credentials(environment).into_iter();
    Declared {
        connection,
        server: server.name.clone(),
        owner: seat.map(|seat| Owner { seat: seat.handle.clone(), role: seat.name.clone() }),
        transport,
        identity,
        prefix: server.tool_prefix.clone(),
        overrides: server.tool_annotations.iter().map(|block| (block.tool.clone(), block.hints.clone())).collect(),
        credentials: credentials
            .map(|credential| CredentialView {
                field: credential.field,
                variables: credential.variables,
                set: credential.set,
            })
            .collect(),
        limits: (server.startup_timeout, server.request_timeout),
    }
}

fn unresolved(missing: &[Unresolved]) -> ConnectionStatus {
    let texts: Vec<String> = missing.iter().map(ToString::to_string).collect();
    let names: Vec<&str> = missing.iter().map(|missing| &*missing.variable).collect();
    for problem in missing {
        tracing::warn!(config = %problem.place, path = %problem.path, names = %problem.variable, "config_reference_unresolved");
    }
    ConnectionStatus::Failed {
        reason: Failure {
            kind: FailureKind::Config,
            headline: texts.join("; ").into(),
            next_step: Some(format!("set {} and start the dashboard anew", names.join(" and ")).into()),
            tail: Arc::new([]),
        },
    }
}

/// The era that each connection settled on, as far as it is known.
pub type Eras = BTreeMap<ConnectionName, Era>;

/// Called with all of them when one is new or another one than before.
pub type ErasChanged = Box<dyn Fn(&Eras) + Send>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::model::Source;

    fn plans(document: &str, variables: &[&str]) -> Vec<Plan> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/configs/valid/");
        let config = crate::config::load_source(&Source::File(format!("{folder}{document}").into())).unwrap().config;
        let variables: HashMap<String, String> =
            variables.iter().map(|name| ((*name).to_owned(), name.to_lowercase())).collect();
        let launcher = Launcher {
            environment: Arc::new(variables),
            redactor: Redactor::default(),
            own_children: Vec::new(),
            connectors: HashMap::new(),
            only: None,
            events: mpsc::channel(1).0,
            forms: None,
            shutdown: CancellationToken::new(),
        };
        launcher.plans(&config)
    }

    /// The connection, and its variables or headers; without, why it cannot be started.
    fn told(plan: &Plan) -> (String, String) {
        let pairs = |all: &[(Arc<str>, Secret)]| {
            all.iter().map(|(name, value)| format!("{name}={}", value.expose())).collect::<Vec<_>>().join(" ")
        };
        let what = match (&plan.needs.transport, plan.unresolved()) {
            (Some(ResolvedTransport::Stdio { env, .. }), _) => pairs(env),
            (Some(ResolvedTransport::Http { headers, .. }), _) => pairs(headers),
            (None, Some(status)) => status.failure().unwrap().headline.to_string(),
            (None, None) => String::new(),
        };
        (plan.declared.connection.to_string(), what)
    }

    #[test]
    fn the_documented_company_has_a_connection_for_each_seat_that_names_a_server() {
        let all = plans(
            "source_integration.yaml",
            &["TAVILY_API_KEY", "ALICE_JIRA_TOKEN", "ALICE_SLACK_BOT", "ALICE_SLACK_SIGNING", "ALICE_GH_TOKEN"],
        );
        let told: Vec<_> = all.iter().map(told).collect();
        let expected = [
            ("tavily", "TAVILY_API_KEY=tavily_api_key"),
            ("atlassian::Senior_Engineer", "JIRA_API_TOKEN=alice_jira_token JIRA_URL=https://mycompany.atlassian.net"),
            ("slack::Senior_Engineer", "SLACK_MCP_XOXB_TOKEN=alice_slack_bot"),
            ("github::Senior_Engineer", "Authorization=Bearer alice_gh_token"),
        ];
        assert_eq!(told, expected.map(|(name, what)| (name.to_owned(), what.to_owned())));
    }

    #[test]
    fn a_unit_hands_down_what_its_roles_do_not_say_and_a_missing_variable_costs_one_seat() {
        let told: Vec<_> = plans("source_unit.yaml", &["JIRA_URL", "TL_JIRA_TOKEN"]).iter().map(told).collect();
        let [lead, engineer] = told.as_slice() else { panic!("{told:?}") };
        assert_eq!(lead.0, "atlassian::Tech_Lead");
        assert!(lead.1.contains("JIRA_API_TOKEN=tl_jira_token JIRA_URL=jira_url"), "{}", lead.1);
        let missing = "ENG_JIRA_TOKEN is not set (units[0].roles[1].mcp_env.atlassian.JIRA_API_TOKEN, source_unit.yaml";
        assert!(engineer.0 == "atlassian::Engineer" && engineer.1.contains(missing), "{engineer:?}");
    }
}

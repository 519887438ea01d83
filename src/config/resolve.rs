//! A server with its references filled in, and what may be told about its credentials.
//!
//! The engine calls [`Server::resolve`] each time it makes a connection, so that a changed variable counts at the
//! next start. Resolved values are [`Secret`]s; everything that is shown keeps the reference text.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::expand::{Environment, Template};
use super::model::{Config, Problem, Server, Transport, Unresolved};
use crate::ids::{ConnectionName, SeatHandle};
use crate::org::Variables;
use crate::org::env::{Keys, overlay};
use crate::secret::Secret;

/// The command that means the running executable.
const OURSELVES: &str = "crewlet-tui";
/// Shorter tokens can be guessed; in bytes.
const SHORTEST_TOKEN: usize = 16;

/// A server that can be connected to.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// How to reach it.
    pub transport: ResolvedTransport,
    /// Values that must not be seen anywhere: for the redactor.
    pub secrets: Vec<Secret>,
}

/// How a server is reached, references filled in. Two that are equal need no restart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ResolvedTransport {
    /// A child process of ours.
    Stdio {
        /// The executable.
        command: PathBuf,
        /// Its arguments.
        args: Vec<Secret>,
        /// The command line as configured, for people.
        display: Arc<str>,
        /// Declared variables.
        env: Vec<(Arc<str>, Secret)>,
        /// Working directory.
        cwd: Option<PathBuf>,
        /// Further variable names handed on from our environment.
        inherit_env: Vec<Arc<str>>,
    },
    /// A streamable HTTP endpoint.
    Http {
        /// The endpoint, without a trailing slash.
        url: Secret,
        /// The URL as configured, without user info and query, for people.
        display: Arc<str>,
        /// Sent with every request.
        headers: Vec<(Arc<str>, Secret)>,
    },
}

/// A configured credential, by name and never by value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Credential {
    /// The variable or header it fills; `url` for the endpoint.
    pub field: Arc<str>,
    /// The variables it takes its value from; empty when the document holds a literal.
    pub variables: Vec<Arc<str>>,
    /// Whether it has a value.
    pub set: bool,
}

/// What does not come up because of a reference.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Owner {
    /// A connection: a server's, or a seat's own to it.
    Connection(ConnectionName),
    /// A seat's token.
    Seat(SeatHandle),
    /// An operator's token.
    Operator(Arc<str>),
}

impl Config {
    /// Every reference that cannot be filled in now, once for each that it belongs to: of the connections that
    /// would be started and of the tokens. The document is fine; its owner would not come up.
    pub fn unresolved(&self, environment: &dyn Environment) -> Vec<(Owner, Unresolved)> {
        let mut all = Vec::new();
        for server in self.servers.iter().filter(|server| server.enabled) {
            let mut look = |name: ConnectionName, server: &Server| {
                let missing = server.resolve(environment).err().unwrap_or_default().into_iter();
                all.extend(missing.map(|problem| (Owner::Connection(name.clone()), problem)));
            };
            if server.shared {
                look(ConnectionName::shared(&server.name), server);
                continue;
            }
            for seat in self.org.agents() {
                if let Some(declared) = seat.credentials_for(&server.name) {
                    look(seat.connection(&server.name), &server.for_seat(declared));
                }
            }
        }
        let seats = self.org.seats.iter();
        let seats = seats.filter_map(|seat| Some((Owner::Seat(seat.handle.clone()), seat.token.as_ref()?)));
        let operators = self.operators.iter();
        let operators = operators.map(|operator| (Owner::Operator(operator.id.clone()), &operator.token));
        for (owner, token) in seats.chain(operators) {
            let problems = resolve_token(token, environment).err().unwrap_or_default();
            all.extend(problems.into_iter().map(|problem| (owner.clone(), problem)));
        }
        let mut seen = HashSet::new();
        all.retain(|(owner, problem)| seen.insert((owner.clone(), problem.path.clone(), problem.variable.clone())));
        all
    }
}

/// Fills a bearer token in.
///
/// # Errors
/// As [`Template::resolve`]; also a default that leaves it empty, since an empty token would let anybody in, and what
/// [`token_problem`] finds.
pub fn resolve_token(token: &Template, environment: &dyn Environment) -> Result<Secret, Vec<Unresolved>> {
    let value = token.resolve(environment)?;
    if value.expose().trim().is_empty() {
        let variable = token.variables().next().cloned().unwrap_or_default();
        return Err(vec![token.unresolved(&variable, Problem::Empty)]);
    }
    if let Some(problem) = token_problem(value.expose()) {
        let variable = token.variables().next().cloned().unwrap_or_default();
        return Err(vec![token.unresolved(&variable, Problem::Unusable(problem))]);
    }
    Ok(value)
}

/// Why nobody is let in by a token: one that can be guessed, or that no client can send.
pub fn token_problem(token: &str) -> Option<&'static str> {
    if token.len() < SHORTEST_TOKEN {
        return Some("is shorter than 16 characters: it could be guessed");
    }
    let plain = token.bytes().all(|byte| byte.is_ascii_graphic());
    (!plain).then_some("holds characters that cannot stand in a header")
}

impl Server {
    /// This server with a seat's own variables or headers laid over it. Header names are compared without case.
    #[must_use]
    pub fn for_seat(&self, declared: &Variables) -> Self {
        let mut server = self.clone();
        match &mut server.transport {
            Transport::Stdio { env, .. } => *env = overlay(env, declared, Keys::Exact),
            Transport::Http { headers, .. } => *headers = overlay(headers, declared, Keys::IgnoreCase),
        }
        server
    }

    /// Fills the references in.
    ///
    /// # Errors
    /// Every variable that is missing, empty, or cannot stand where it is used.
    pub fn resolve(&self, environment: &dyn Environment) -> Result<Resolved, Vec<Unresolved>> {
        let mut fill = Fill { environment, problems: Vec::new(), secrets: Vec::new() };
        let display = self.display();
        let transport = match &self.transport {
            Transport::Stdio { command, args, env, cwd, inherit_env } => ResolvedTransport::Stdio {
                command: executable(fill.place(command, nul_problem).expose()),
                args: args.iter().map(|arg| fill.value(arg, nul_problem)).collect(),
                display,
                env: fill.variables(env, nul_problem),
                cwd: cwd.as_ref().map(|cwd| PathBuf::from(fill.place(cwd, nul_problem).expose())),
                inherit_env: inherit_env.clone(),
            },
            Transport::Http { url, headers } => {
                let url = fill.value(url, url_problem);
                ResolvedTransport::Http {
                    url: Secret::new(url.expose().trim_end_matches('/')),
                    display,
                    headers: fill.variables(headers, header_problem),
                }
            }
        };
        if fill.problems.is_empty() { Ok(Resolved { transport, secrets: fill.secrets }) } else { Err(fill.problems) }
    }

    /// Whether its command is the running executable.
    pub fn is_ours(&self) -> bool {
        matches!(&self.transport, Transport::Stdio { command, .. } if command.text() == OURSELVES)
    }

    /// The command line, or the URL without user info and query, as configured: references by name.
    pub fn display(&self) -> Arc<str> {
        match &self.transport {
            Transport::Stdio { command, args, .. } => {
                let words = std::iter::once(command).chain(args).map(|word| shown_word(&word.display()));
                words.collect::<Vec<_>>().join(" ").into()
            }
            Transport::Http { url, .. } => shown_url(&url.display()).into(),
        }
    }

    /// The credentials it declares: every variable or header that has a reference or whose name says so.
    pub fn credentials(&self, environment: &dyn Environment) -> Vec<Credential> {
        let (fields, url) = match &self.transport {
            Transport::Stdio { env, .. } => (env, None),
            Transport::Http { url, headers } => (headers, Some(url)),
        };
        let url = url.filter(|url| url.variables().next().is_some()).map(|url| credential("url", url, environment));
        let named = fields
            .iter()
            .filter(|(name, value)| names_a_credential(name) || value.variables().next().is_some())
            .map(|(name, value)| credential(name, value, environment));
        named.chain(url).collect()
    }
}

fn credential(field: &str, value: &Template, environment: &dyn Environment) -> Credential {
    Credential {
        field: field.into(),
        variables: value.variables().cloned().collect(),
        set: value.resolve(environment).is_ok_and(|value| !value.expose().is_empty()),
    }
}

/// Fills templates in and keeps what went wrong and what must not be seen.
struct Fill<'e> {
    environment: &'e dyn Environment,
    problems: Vec<Unresolved>,
    secrets: Vec<Secret>,
}

impl Fill<'_> {
    /// The value of a template; empty when it cannot be filled in, which is then among the problems.
    fn value(&mut self, template: &Template, problem: fn(&str) -> Option<&'static str>) -> Secret {
        self.secrets.extend(template.values(self.environment));
        self.place(template, problem)
    }

    /// The same for what names a place and holds no secret: a command, a folder. Blanking out `${HOME}` everywhere
    /// would hide ordinary paths.
    fn place(&mut self, template: &Template, problem: fn(&str) -> Option<&'static str>) -> Secret {
        match template.resolve(self.environment) {
            Err(mut problems) => {
                self.problems.append(&mut problems);
                Secret::new("")
            }
            Ok(value) => {
                if let Some(reason) = problem(value.expose()) {
                    let culprit = template.variables().next().cloned().unwrap_or_default();
                    self.problems.push(template.unresolved(&culprit, Problem::Unusable(reason)));
                }
                value
            }
        }
    }

    fn variables(&mut self, all: &Variables, problem: fn(&str) -> Option<&'static str>) -> Vec<(Arc<str>, Secret)> {
        let mut filled = Vec::with_capacity(all.len());
        for (name, template) in all {
            let value = self.value(template, problem);
            if names_a_credential(name) && !value.expose().is_empty() {
                // `Bearer abc`: the token also turns up without its scheme.
                if let Some((_, bare)) = value.expose().split_once(' ') {
                    self.secrets.push(Secret::new(bare));
                }
                self.secrets.push(value.clone());
            }
            filled.push((name.clone(), value));
        }
        filled
    }
}

/// The executable of a command; our own name means the program that runs now.
fn executable(command: &str) -> PathBuf {
    if command == OURSELVES
        && let Ok(own) = std::env::current_exe()
    {
        return own;
    }
    PathBuf::from(command)
}

/// Whether a variable's or header's name says that its value is a credential.
pub(super) fn names_a_credential(name: &str) -> bool {
    const WORDS: [&str; 14] = [
        "token",
        "secret",
        "password",
        "passwd",
        "passphrase",
        "apikey",
        "accesskey",
        "privatekey",
        "authorization",
        "credential",
        "cookie",
        "bearer",
        "signature",
        "webhookurl",
    ];
    let plain: String = name.to_ascii_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    let lower = name.to_ascii_lowercase();
    let parts = || lower.split(['_', '-', '.']);
    WORDS.iter().any(|word| plain.contains(word))
        || parts().any(|part| matches!(part, "key" | "pat" | "pwd" | "auth" | "dsn"))
}

/// Why a text cannot be handed to a process.
fn nul_problem(value: &str) -> Option<&'static str> {
    value.contains('\0').then_some("has a NUL character in its value")
}

/// Why a text cannot be a header's value.
pub(super) fn header_problem(value: &str) -> Option<&'static str> {
    if value.contains(['\n', '\r']) {
        return Some("has a line break, which a header cannot hold");
    }
    http::HeaderValue::from_str(value).is_err().then_some("has a character that a header cannot hold")
}

/// Why a text cannot be an endpoint.
pub(super) fn url_problem(url: &str) -> Option<&'static str> {
    let after = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let Some(after) = after else { return Some("is no URL with `http://` or `https://`") };
    if after.is_empty() || after.starts_with(['/', '?', '#', ':']) {
        return Some("names no host");
    }
    url.parse::<http::Uri>().is_err().then_some("is no valid URL")
}

/// A URL without user info, query and fragment.
fn shown_url(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let (authority, path) = rest.split_once('/').map_or((rest, ""), |(authority, path)| (authority, path));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let mut shown = if scheme.is_empty() { host.to_owned() } else { format!("{scheme}://{host}") };
    if !path.trim_end_matches('/').is_empty() {
        shown.push('/');
        shown.push_str(path.trim_end_matches('/'));
    }
    shown
}

/// A word of a command line, in quotes where it would not be one word.
fn shown_word(word: &str) -> String {
    let plain = !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || c == '"' || c == '\'');
    if plain { word.to_owned() } else { format!("{word:?}") }
}

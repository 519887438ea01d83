//! `mcp_servers`: names, transports and what does not go together.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::{Lower, seconds, text, texts};
use crate::config::diagnostic::{child, item, quoted};
use crate::config::model::{RestartPolicy, Server, Transport};
use crate::config::resolve;
use crate::config::shape::misspelt;
use crate::config::tree::{Mark, Node};
use crate::ids::ServerName;

const STARTUP_TIMEOUT: Duration = Duration::from_secs(60);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(300);
/// Our own name on the surface that agents use.
const RESERVED: &str = ServerName::OURS;
const LONGEST_NAME: usize = 64;
/// Headers that the connection sets itself, and all that begin with `mcp-`.
const OWN_HEADERS: [&str; 6] =
    ["accept", "connection", "content-length", "content-type", "last-event-id", "transfer-encoding"];

/// Keys that belong to one transport only.
const STDIO_KEYS: [&str; 5] = ["command", "args", "env", "cwd", "inherit_env"];
const HTTP_KEYS: [&str; 2] = ["url", "headers"];

impl Lower<'_> {
    /// All servers, in the order of the document.
    pub(super) fn servers(&mut self, root: &Node) -> Vec<Server> {
        let mut servers = Vec::new();
        let mut places: HashMap<Arc<str>, Mark> = HashMap::new();
        let list = root.get("mcp_servers").map(Node::items).unwrap_or_default();
        for (index, node) in list.iter().enumerate() {
            let path = item("mcp_servers", index);
            let Some(name_node) = node.get("name") else { continue };
            let Some(name) = name_node.text() else { continue };
            self.server_name(name, name_node.mark, &child(&path, "name"));
            if let Some(first) = places.get(name) {
                let message = format!("the server name {} stands twice; first on line {}", quoted(name), first.line);
                self.report.error(name_node.mark, child(&path, "name"), message).help("give each server its own name");
            } else {
                places.insert(name.clone(), name_node.mark);
            }
            if let Some(server) = self.server(node, name, &path) {
                servers.push(server);
            }
        }
        servers
    }

    fn server_name(&mut self, name: &str, mark: Mark, path: &str) {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let problem = if name == RESERVED {
            "is reserved: agents see this program under it"
        } else if name.contains("::") {
            "has `::`, which separates a server from a seat in the names of connections"
        } else if name.trim().is_empty() {
            return; // Reported as blank.
        } else if name.len() > LONGEST_NAME || !name.chars().all(allowed) {
            "is no server name"
        } else {
            return;
        };
        self.report
            .error(mark, path, format!("{} {problem}", quoted(name)))
            .help(format!("1 to {LONGEST_NAME} letters, digits, `.`, `_` or `-`, and not `{RESERVED}`"));
    }

    fn server(&mut self, node: &Node, name: &Arc<str>, path: &str) -> Option<Server> {
        let transport = match text(node, "transport").as_deref() {
            None | Some("stdio") => self.stdio(node, path),
            Some("http") => self.http(node, path),
            Some(_) => None,
        };
        let flag = |key: &str, default| node.get(key).and_then(Node::flag).unwrap_or(default);
        let timeout = |key: &str, default| {
            node.get(key).and_then(seconds).filter(|timeout| !timeout.is_zero()).unwrap_or(default)
        };
        let tool_annotations = self.tool_annotations(node, path);
        Some(Server {
            name: ServerName::new(name.clone()),
            transport: transport?,
            shared: flag("shared", true),
            tool_prefix: text(node, "tool_prefix").unwrap_or_default(),
            tool_annotations,
            startup_timeout: timeout("startup_timeout_seconds", STARTUP_TIMEOUT),
            request_timeout: timeout("request_timeout_seconds", REQUEST_TIMEOUT),
            enabled: flag("enabled", true),
            restart: match text(node, "restart").as_deref() {
                Some("never") => RestartPolicy::Never,
                _ => RestartPolicy::OnFailure,
            },
            place: self.place(node.mark),
        })
    }

    fn stdio(&mut self, node: &Node, path: &str) -> Option<Transport> {
        let help = if node.get("transport").is_some() {
            "remove it, or write `transport: http`"
        } else {
            "a server with a URL needs `transport: http`"
        };
        let conflicts = self.conflicts(node, &HTTP_KEYS, ("stdio", help), path);
        let command = self.required(node, "command", conflicts, path);
        let args_path = child(path, "args");
        let args = node.get("args").map(Node::items).unwrap_or_default();
        for (index, arg) in args.iter().enumerate() {
            self.warn_about_reference(arg, &item(&args_path, index));
        }
        let args = args.iter().enumerate().filter_map(|(index, arg)| self.template(arg, &item(&args_path, index)));
        let args = args.collect();
        if let Some(env) = node.get("env") {
            self.variable_names(env, &child(path, "env"));
        }
        Some(Transport::Stdio {
            command: command?,
            args,
            env: node.get("env").map(|env| self.variables(env, &child(path, "env"))).unwrap_or_default(),
            cwd: self.template_at(node, "cwd", path),
            inherit_env: texts(node.get("inherit_env")),
        })
    }

    fn http(&mut self, node: &Node, path: &str) -> Option<Transport> {
        let help = "remove it, or write `transport: stdio`";
        let conflicts = self.conflicts(node, &STDIO_KEYS, ("http", help), path);
        let url = self.required(node, "url", conflicts, path);
        if let (Some(url), Some(url_node)) = (&url, node.get("url"))
            && let Some(problem) = url.literal().and_then(|url| resolve::url_problem(&url))
        {
            self.report.error(url_node.mark, child(path, "url"), problem).help("such as `https://example.com/mcp`");
        }
        if let Some(headers) = node.get("headers") {
            self.header_names(headers, &child(path, "headers"));
        }
        Some(Transport::Http {
            url: url?,
            headers: node.get("headers").map(|h| self.variables(h, &child(path, "headers"))).unwrap_or_default(),
        })
    }

    /// Reports keys of the other transport; returns how many there are.
    fn conflicts(&mut self, node: &Node, keys: &[&str], (transport, help): (&str, &str), path: &str) -> usize {
        let found: Vec<_> = keys.iter().filter_map(|key| node.entry(key)).collect();
        for entry in &found {
            let message = format!("`{}` does not go with `transport: {transport}`", entry.key);
            self.report.error(entry.mark, child(path, &entry.key), message).help(help);
        }
        found.len()
    }

    /// The template of a key that this transport needs. With the keys of the other transport there, that is the
    /// mistake, and the missing key is not reported on top.
    fn required(
        &mut self,
        node: &Node,
        key: &str,
        conflicts: usize,
        path: &str,
    ) -> Option<crate::config::expand::Template> {
        let Some(value) = node.get(key) else {
            if conflicts == 0 && !misspelt(node, key) {
                let transport = if key == "url" { "http" } else { "stdio" };
                let message = format!("a server with `transport: {transport}` needs `{key}`");
                let help = if key == "url" { "add `url:`" } else { "add `command:`, or `transport: http` and `url:`" };
                self.report.error(node.mark, child(path, key), message).help(help);
            }
            return None;
        };
        if value.text().is_some_and(|text| text.trim().is_empty()) {
            self.report.error(value.mark, child(path, key), "is blank").help(format!("write a {key}"));
        }
        self.template(value, &child(path, key))
    }

    fn warn_about_reference(&mut self, arg: &Node, path: &str) {
        let template = self.template(arg, path);
        if template.is_some_and(|template| template.variables().next().is_some()) {
            self.report
                .warning(arg.mark, path, "a reference in an argument: arguments show in the process list")
                .help("pass a secret in `env`, where the server allows it");
        }
    }

    /// Names of environment variables.
    pub(super) fn variable_names(&mut self, node: &Node, path: &str) {
        for entry in node.entries() {
            if entry.key.is_empty() || entry.key.contains(['=', '\0']) {
                let message = format!("{} cannot name an environment variable", quoted(&entry.key));
                self.report.error(entry.mark, child(path, &entry.key), message).help("letters, digits and `_`");
            }
        }
    }

    /// Names of headers, which do not depend on case, and values that cannot be sent.
    pub(super) fn header_names(&mut self, node: &Node, path: &str) {
        let mut places: HashMap<String, Mark> = HashMap::new();
        for entry in node.entries() {
            let below = child(path, &entry.key);
            if http::HeaderName::from_bytes(entry.key.as_bytes()).is_err() {
                let message = format!("{} is no header name", quoted(&entry.key));
                self.report.error(entry.mark, below.clone(), message).help("letters, digits and `-`");
            }
            let lower = entry.key.to_ascii_lowercase();
            if lower.starts_with("mcp-") || OWN_HEADERS.contains(&&*lower) {
                let message = format!("the header {} is set by the connection itself", quoted(&entry.key));
                self.report.error(entry.mark, below.clone(), message).help("remove it");
            }
            if let Some(first) = places.insert(lower, entry.mark) {
                let message = format!("the header {} stands twice; first on line {}", quoted(&entry.key), first.line);
                self.report.error(entry.mark, below.clone(), message).help("keep one of them; case does not count");
            }
            if let Some(problem) = entry.value.text().and_then(|text| resolve::header_problem(text)) {
                self.report
                    .error(entry.value.mark, below, format!("the value {problem}"))
                    .help("write it on one line, without a block (`|`, `>`)");
            }
        }
    }
}

//! The tables of keys: every typed mapping of the document, once. Pure data.
//!
//! [`super::shape`] checks documents against them and [`super::schema()`] makes the JSON Schema of them. A key that is
//! not here is an error, except below [`Shape::Any`].

use super::shape::{Also, Key, Section, Shape};
use Shape::{Any, Count, Flag, List, Map, Name, OneOf, Seconds, Template, Text, Texts};

/// The document. Its keys of shape [`Shape::Any`] belong to a full Crewlet file and are not used here.
pub(super) static ROOT: Section = Section {
    title: "config",
    // A place for anchors.
    also: Also::Prefix("x-"),
    keys: &[
        Key::optional("name", Name, "The company's name."),
        Key::optional("mcp_servers", List(&Shape::Section(&SERVER)), "The MCP servers to connect to."),
        Key::optional(
            "roles",
            List(&Shape::Section(&ROLE)),
            "Seats of the company; without any there is one, `default`.",
        ),
        Key::optional("units", List(&Shape::Section(&UNIT)), "Units of the company, with their roles."),
        Key::optional("engine", Shape::Section(&ENGINE), "Settings of the engine."),
        Key::optional(
            "operators",
            List(&Shape::Section(&OPERATOR)),
            "Who may use the operator surface and the connector.",
        ),
        Key::optional("tui", Shape::Section(&TUI), "Settings of the screen."),
        unused("description"),
        unused("integrations"),
        unused("knowledge"),
        unused("learning"),
        unused("llm"),
        unused("mission"),
        unused("policies"),
        unused("providers"),
        unused("sandbox"),
        unused("schedules"),
        unused("values"),
        unused("version"),
        unused("vision"),
        unused("workers"),
    ],
};

const fn unused(name: &'static str) -> Key {
    Key::optional(name, Any, "Part of a full Crewlet file; not used by this program.")
}

static SERVER: Section = Section {
    title: "server",
    also: Also::Nothing,
    keys: &[
        Key::required("name", Name, "Unique; 1 to 64 letters, digits, `.`, `_` or `-`."),
        Key::optional(
            "transport",
            OneOf(&["stdio", "http"]),
            "How the server is reached; `stdio` unless told otherwise.",
        ),
        Key::optional("command", Template, "The executable of a stdio server; `crewlet-tui` means this program."),
        Key::optional("args", List(&Template), "Arguments of a stdio server; they show in the process list."),
        Key::optional("env", Map(&Shape::Value), "Environment variables of a stdio server."),
        Key::optional("cwd", Template, "Working directory of a stdio server."),
        Key::optional("inherit_env", List(&Name), "Further variables to hand on from our own environment."),
        Key::optional("url", Template, "Endpoint of an http server."),
        Key::optional("headers", Map(&Shape::Value), "Headers sent with each request to an http server."),
        Key::optional("shared", Flag, "False: one connection for each seat that declares `mcp_env` for the server."),
        Key::optional("enabled", Flag, "False: shown, but not started."),
        Key::optional("restart", OneOf(&["on-failure", "never"]), "What happens when the server ends."),
        Key::optional("tool_prefix", Text, "Put before each tool's name, as it is."),
        Key::optional(
            "tool_annotations",
            Map(&Shape::Section(&HINTS)),
            "Hints by tool name; they win over the server's own.",
        ),
        Key::optional(
            "startup_timeout_seconds",
            Seconds,
            "Bounds connecting and the first tool listing; 60 unless told otherwise.",
        ),
        Key::optional("request_timeout_seconds", Seconds, "Bounds one tool call; 300 unless told otherwise."),
    ],
};

static HINTS: Section = Section {
    title: "hints",
    also: Also::Nothing,
    keys: &[
        Key::optional("title", Text, "A name for people."),
        Key::optional("read_only", Flag, "The tool changes nothing."),
        Key::optional("readOnlyHint", Flag, "The same as `read_only`."),
        Key::optional("destructive", Flag, "The tool may delete or overwrite."),
        Key::optional("destructiveHint", Flag, "The same as `destructive`."),
        Key::optional("idempotent", Flag, "Repeating a call has no further effect."),
        Key::optional("idempotentHint", Flag, "The same as `idempotent`."),
        Key::optional("open_world", Flag, "The tool reaches beyond the local system."),
        Key::optional("openWorldHint", Flag, "The same as `open_world`."),
    ],
};

const MCP_ENV: Shape = Map(&Map(&Shape::Value));

static ROLE: Section = Section {
    title: "role",
    also: Also::Nothing,
    keys: &[
        Key::required("name", Name, "The role's name."),
        Key::optional("kind", OneOf(&["agent", "human"]), "Who sits there; `agent` unless told otherwise."),
        Key::optional("handle", Text, "Short name, unique in the company; made from the name unless given."),
        Key::optional("email", Text, "Mail address."),
        Key::optional("unit", Text, "The unit that a role of the root list belongs to."),
        Key::optional("goal", Text, "What the role is there for."),
        Key::optional("backstory", Text, "Who it is."),
        Key::optional("responsibilities", List(&Text), "What it answers for."),
        Key::optional("manages", List(&Text), "Names of the roles it manages."),
        Key::optional("behavioral_guidelines", List(&Text), "How it behaves."),
        Key::optional("contact", Any, "How to reach a human."),
        Key::optional("availability", Any, "When a human can be reached."),
        Key::optional("token_budget", Count, "Tokens a turn may use."),
        Key::optional("identities", Map(&Text), "Who the seat is elsewhere, for finding colleagues: `slack: U123`."),
        Key::optional("token", Shape::Value, "The seat's bearer token: a reference such as `${VAR}`."),
        Key::optional("mcp_env", MCP_ENV, "Credentials by server: variables for stdio, headers for http."),
        Key::optional("integrations", Any, "Identity on other systems."),
        Key::optional("llm", Any, "Not used by this program."),
        Key::optional("llm_plan", Any, "Not used by this program."),
        Key::optional("llm_execute", Any, "Not used by this program."),
        Key::optional("llm_review", Any, "Not used by this program."),
        Key::optional("llm_subagent", Any, "Not used by this program."),
        Key::optional("llm_auxiliary", Any, "Not used by this program."),
        Key::optional("llm_judge", Any, "Not used by this program."),
        Key::optional("llm_sandbox", Any, "Not used by this program."),
        Key::optional("learning_enabled", Flag, "Not used by this program."),
        Key::optional("sandbox", Shape::Section(&SANDBOX), "The code sandbox."),
        Key::optional("schedules", Any, "Not used by this program."),
        Key::optional("workers", List(&Shape::Section(&WORKER)), "Templates of workers that the role may start."),
        Key::optional("placement", Any, "Not used by this program."),
        Key::optional("project", Text, "The project it writes to."),
        Key::optional("space", Text, "The space it writes to."),
    ],
};

static SANDBOX: Section = Section {
    title: "sandbox",
    also: Also::Anything,
    keys: &[Key::optional("enabled", Flag, "Whether the role may run code in a sandbox.")],
};

static WORKER: Section = Section {
    title: "worker",
    also: Also::Anything,
    keys: &[
        Key::required("name", Name, "The template's name."),
        Key::optional("tools", List(&Name), "The tools that such a worker is given, as far as the role holds them."),
    ],
};

static UNIT: Section = Section {
    title: "unit",
    // The unit's channel on a chat system, named after the system; not used by this program.
    also: Also::Suffix("_channel"),
    keys: &[
        Key::required("name", Name, "The unit's name."),
        Key::optional("id", Text, "A stable identifier."),
        Key::optional("type", Text, "A free label; `team` unless told otherwise."),
        Key::optional("purpose", Text, "What the unit is there for."),
        Key::optional("lead", Text, "Name of the role that leads it; the parent's unless given."),
        Key::optional("goals", List(&Text), "What it wants to reach."),
        Key::optional("knowledge", Any, "Not used by this program."),
        Key::optional("mcp_env", MCP_ENV, "Credentials that the unit's own roles inherit."),
        Key::optional("integrations", Any, "Identity on other systems."),
        Key::optional("roles", List(&Shape::Section(&ROLE)), "The unit's roles."),
        Key::optional("children", List(&Shape::Section(&UNIT)), "Units below it."),
        Key::optional("schedules", Any, "Not used by this program."),
        Key::optional("project", Text, "The project it writes to."),
        Key::optional("space", Text, "The space it writes to."),
    ],
};

static ENGINE: Section = Section {
    title: "engine",
    also: Also::Nothing,
    keys: &[
        Key::optional(
            "listen",
            Text,
            "Loopback address of the HTTP surfaces: `127.0.0.1:7420`; absent or `off`: none.",
        ),
        Key::optional("state_dir", Name, "The state folder."),
        Key::optional(
            "discovery",
            OneOf(&["all", "progressive"]),
            "What agents list at first: `all` tools, or (`progressive`) our own and two that find and activate the rest.",
        ),
        Key::optional("turn_tools", Flag, "False: seats are not offered `turn_begin` and `turn_end`."),
        Key::optional("approvals", Shape::Section(&APPROVALS), "When a person is asked."),
        Key::optional("native", Shape::Section(&NATIVE), "The company's own tracker and pages."),
        Key::optional("autopilots", List(&Shape::Section(&AUTOPILOT)), "Prompts that can be put into a seat's inbox."),
        Key::optional(
            "embeddings",
            Shape::Section(&EMBEDDINGS),
            "A service that finds what seats remember also by meaning; without it, by words.",
        ),
    ],
};

static EMBEDDINGS: Section = Section {
    title: "embeddings",
    also: Also::Nothing,
    keys: &[
        Key::required("url", Template, "Its address; texts are posted to `{url}/embeddings`."),
        Key::required("model", Name, "The model that it uses."),
        Key::optional("key", Shape::Value, "Its bearer token: a reference such as `${VAR}`."),
    ],
};

pub(super) const DECISIONS: &[&str] = &["allow", "ask", "type", "deny"];

static APPROVALS: Section = Section {
    title: "approvals",
    also: Also::Nothing,
    keys: &[
        Key::optional("read", OneOf(DECISIONS), "For tools proven to change nothing; `allow` unless told otherwise."),
        Key::optional(
            "write",
            OneOf(DECISIONS),
            "For tools that change, not destructively; `allow` unless told otherwise.",
        ),
        Key::optional(
            "destructive",
            OneOf(DECISIONS),
            "For tools that may delete or overwrite; `ask` unless told otherwise.",
        ),
        Key::optional(
            "unknown",
            OneOf(DECISIONS),
            "For tools about which nobody said enough; `ask` unless told otherwise.",
        ),
        Key::optional(
            "connector",
            OneOf(DECISIONS),
            "For the scoped connector; `allow` unless told otherwise. `ask` leaves reads alone.",
        ),
        Key::optional("wait_seconds", Seconds, "How long a question waits for a person; 300 unless told otherwise."),
        Key::optional(
            "hold_seconds",
            Seconds,
            "How long a call is held open for its caller; 50 unless told otherwise.",
        ),
        Key::optional("hold_by_client", Map(&Seconds), "The same by client name; `*` stands for any characters."),
        Key::optional("rules", List(&Shape::Section(&RULE)), "Narrower rules."),
    ],
};

static RULE: Section = Section {
    title: "rule",
    also: Also::Nothing,
    keys: &[
        Key::required("tool", Name, "`server/tool` with `*` and `?`, on the server's own tool name."),
        Key::optional("seat", Name, "A handle with `*` and `?`; without it every caller."),
        Key::required("decision", OneOf(DECISIONS), "What the rule says."),
    ],
};

static NATIVE: Section = Section {
    title: "native",
    also: Also::Nothing,
    keys: &[
        Key::optional("tracker", Flag, "Work items; on unless told otherwise."),
        Key::optional("pages", Flag, "Pages; on unless told otherwise."),
    ],
};

static AUTOPILOT: Section = Section {
    title: "autopilot",
    also: Also::Nothing,
    keys: &[
        Key::required("id", Name, "Unique."),
        Key::required("seat", Name, "The handle of the seat whose inbox gets the prompt."),
        Key::required("prompt", Name, "The prompt."),
    ],
};

pub(super) const SCOPES: &[&str] = &[
    "issues:read",
    "issues:write",
    "comments:read",
    "comments:write",
    "dashboard:read",
    "agents:write",
    "autopilot:run",
];

static OPERATOR: Section = Section {
    title: "operator",
    also: Also::Nothing,
    keys: &[
        Key::required("id", Name, "Unique; what the audit names."),
        Key::required("token", Shape::Value, "The bearer token: a reference such as `${VAR}`."),
        Key::optional("scopes", List(&OneOf(SCOPES)), "With any, the token is for the connector only."),
        Key::optional("seat", Name, "The handle of the seat whose queue, pins and inbox it works."),
        Key::optional("projects", List(&Name), "Its workspace: keys of projects; empty: all of them."),
        Key::optional(
            "permission",
            OneOf(&["viewer", "member", "admin"]),
            "What it may do; `admin` unless told otherwise.",
        ),
    ],
};

static TUI: Section = Section {
    title: "tui",
    also: Also::Nothing,
    keys: &[
        Key::optional("theme", Name, "The theme's name."),
        Key::optional("mouse", Flag, "Capture the mouse; off unless told otherwise."),
        Key::optional("bell", Flag, "Ring the terminal's bell for a new question; on unless told otherwise."),
        Key::optional("open_cards", OneOf(&["auto", "badge"]), "Whether an approval card may open by itself."),
        Key::optional("keys", Map(&Texts), "Keys by action; they replace the defaults."),
        Key::optional("ascii", Flag, "Borders and signs in plain ASCII."),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_spelt_as_in_the_model() {
        let model: Vec<_> = crate::config::model::Scope::ALL.iter().map(|(_, text)| *text).collect();
        assert_eq!(model, SCOPES);
    }
}

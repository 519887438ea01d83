//! What a document becomes: seats, inheritance, overrides, resolved servers; and that no text breaks the loader.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::model::{PolicyDecision, Problem, Scope, Transport};
use super::resolve::{Owner, ResolvedTransport};
use super::{Config, Source, load, render};
use crate::ids::{SeatHandle, ServerName};
use crate::org::{Seat, SeatKind};
use crate::tool::{Hint, HintName};

/// Long enough for a token.
const TOKEN: &str = "0123456789abcdef";

fn config(text: &str) -> Config {
    load(text, &Source::File("config.yaml".into())).unwrap_or_else(|problems| panic!("{}", render(&problems))).config
}

fn problems(text: &str) -> String {
    render(&load(text, &Source::File("config.yaml".into())).unwrap_err())
}

fn environment(variables: &[(&str, &str)]) -> HashMap<String, String> {
    variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn seat<'c>(config: &'c Config, handle: &str) -> &'c Seat {
    config.org.seat(&SeatHandle::from(handle)).unwrap()
}

/// `server.KEY=text` for everything that a seat declares or inherits.
fn credentials(seat: &Seat) -> Vec<String> {
    let all = seat.credentials.iter().flat_map(|(server, variables)| variables.iter().map(move |v| (server, v)));
    all.map(|(server, (key, value))| format!("{server}.{key}={}", value.text())).collect()
}

const COMPANY: &str = "
name: Acme
mcp_servers:
  - { name: atlassian, shared: false, command: uvx, args: [mcp-atlassian], env: { JIRA_URL: base, LEVEL: low } }
  - { name: github, shared: false, transport: http, url: 'https://u:p@example.com/mcp/?x=1', headers: { X-A: '1', authorization: none } }
roles:
  - { name: Designer, unit: Backend, mcp_env: { github: { Authorization: 'Bearer ${D}' } } }
  - { name: Loner, unit: Nowhere }
units:
  - name: Backend
    lead: Tech Lead
    mcp_env: { atlassian: { JIRA_URL: '${JIRA_URL}', TOKEN: unit }, github: { X-Team: backend } }
    integrations: { jira: { project: BACK, api_token: hunter22 } }
    roles:
      - { name: Tech Lead, mcp_env: { atlassian: { TOKEN: own } } }
      - { name: Boss, kind: human }
    children:
      - name: Deep
        roles: [ { name: Child, mcp_env: { github: {} } } ]
";

#[test]
fn a_role_inherits_from_its_own_unit_only_and_wins_per_key() {
    let config = config(COMPANY);
    assert_eq!(
        credentials(seat(&config, "tech-lead")),
        ["atlassian.JIRA_URL=${JIRA_URL}", "atlassian.TOKEN=own", "github.X-Team=backend"]
    );
    // Moved into the unit by `unit:`, before the merge.
    let designer = seat(&config, "designer");
    assert_eq!(designer.unit.as_deref(), Some("Backend"));
    assert_eq!(
        credentials(designer),
        [
            "github.X-Team=backend",
            "github.Authorization=Bearer ${D}",
            "atlassian.JIRA_URL=${JIRA_URL}",
            "atlassian.TOKEN=unit"
        ]
    );
    assert_eq!(credentials(seat(&config, "boss")), [""; 0]);
    assert_eq!(seat(&config, "boss").kind, SeatKind::Human);
    // A child unit inherits nothing, but declaring an empty block is a grant.
    let child = seat(&config, "child");
    assert!(child.credentials_for(&ServerName::from("github")).unwrap().is_empty());
    assert!(child.credentials_for(&ServerName::from("atlassian")).is_none());
    assert_eq!(seat(&config, "loner").unit, None);
    let order: Vec<_> = config.org.seats.iter().map(|seat| seat.handle.as_str()).collect();
    assert_eq!(order, ["loner", "tech-lead", "boss", "designer", "child"]);
}

#[test]
fn units_inherit_their_lead_and_keep_identity_without_credentials() {
    let config = config(COMPANY);
    let units: Vec<_> =
        config.org.units.iter().map(|unit| (&*unit.name, unit.parent.as_deref(), unit.lead.as_deref())).collect();
    assert_eq!(units, [("Backend", None, Some("Tech Lead")), ("Deep", Some("Backend"), Some("Tech Lead"))]);
    let identities = &config.org.units.first().unwrap().identities;
    let identities: Vec<_> = identities.iter().map(|identity| (&*identity.system, &*identity.id)).collect();
    assert_eq!(identities, [("jira.project", "BACK")]);
}

#[test]
fn a_seats_values_lie_over_the_servers_own() {
    let config = config(COMPANY);
    let [atlassian, github] = config.servers.as_slice() else { panic!("two servers") };
    let lead = seat(&config, "tech-lead");
    let own = atlassian.for_seat(lead.credentials_for(&atlassian.name).unwrap());
    let resolved = own.resolve(&environment(&[("JIRA_URL", "https://jira")])).unwrap();
    let ResolvedTransport::Stdio { env, args, display, .. } = resolved.transport else { panic!("stdio") };
    let env: Vec<_> = env.iter().map(|(key, value)| format!("{key}={}", value.expose())).collect();
    assert_eq!(env, ["JIRA_URL=https://jira", "LEVEL=low", "TOKEN=own"]);
    assert_eq!(args.len(), 1);
    assert_eq!(&*display, "uvx mcp-atlassian");

    let designer = seat(&config, "designer");
    assert_eq!(designer.connection(&github.name).as_str(), "github::Designer");
    let own = github.for_seat(designer.credentials_for(&github.name).unwrap());
    let resolved = own.resolve(&environment(&[("D", "s3cret-d")])).unwrap();
    let ResolvedTransport::Http { url, display, headers } = resolved.transport else { panic!("http") };
    let headers: Vec<_> = headers.iter().map(|(key, value)| format!("{key}: {}", value.expose())).collect();
    assert_eq!(headers, ["X-A: 1", "Authorization: Bearer s3cret-d", "X-Team: backend"]);
    assert_eq!(url.expose(), "https://u:p@example.com/mcp/?x=1");
    assert_eq!(&*display, "https://example.com/mcp");
    let secrets: Vec<_> = resolved.secrets.iter().map(crate::secret::Secret::expose).collect();
    assert!(secrets.contains(&"s3cret-d"), "{secrets:?}");
    let shown = own.credentials(&environment(&[]));
    let shown: Vec<_> =
        shown.iter().map(|c| (&*c.field, c.variables.iter().map(|v| &**v).collect::<Vec<_>>(), c.set)).collect();
    assert_eq!(shown, [("Authorization", vec!["D"], false)]);
}

#[test]
fn every_field_of_a_server_names_its_missing_variable() {
    let config = config(
        "mcp_servers:\n  - name: a\n    command: ${A}\n    args: ['${B}']\n    env: { T: '${C}' }\n    cwd: ${D}\n  - name: b\n    transport: http\n    url: https://${E}/mcp\n    headers: { Authorization: 'Bearer ${F}' }\n  - { name: c, command: fine }\n",
    );
    let texts: Vec<Vec<String>> = config
        .servers
        .iter()
        .map(|server| match server.resolve(&environment(&[("F", "")])) {
            Ok(_) => Vec::new(),
            Err(unresolved) => unresolved.iter().map(ToString::to_string).collect(),
        })
        .collect();
    assert_eq!(
        texts,
        [
            vec![
                "environment variable A is not set (mcp_servers[0].command, config.yaml:3)",
                "environment variable B is not set (mcp_servers[0].args[0], config.yaml:4)",
                "environment variable C is not set (mcp_servers[0].env.T, config.yaml:5)",
                "environment variable D is not set (mcp_servers[0].cwd, config.yaml:6)",
            ],
            vec![
                "environment variable E is not set (mcp_servers[1].url, config.yaml:9)",
                "environment variable F is set but empty (mcp_servers[1].headers.Authorization, config.yaml:10)",
            ],
            vec![],
        ]
    );
}

#[test]
fn check_is_told_everything_that_would_not_come_up() {
    let config = config(
        "mcp_servers:
  - { name: a, command: '${A}' }
  - { name: off, command: '${OFF}', enabled: false }
  - { name: t, shared: false, command: '${BASE}', env: { K: '${SHADOWED}' } }
  - { name: idle, shared: false, command: '${IDLE}' }
roles:
  - { name: One, mcp_env: { t: { K: '${ONE}' } }, token: '${SEAT:-}' }
  - { name: Two, mcp_env: { t: { K: two } } }
operators: [ { id: f, token: '${OP}' } ]
",
    );
    let unresolved = config.unresolved(&environment(&[]));
    let names: Vec<_> = unresolved.iter().map(|(_, one)| &*one.variable).collect();
    assert_eq!(names, ["A", "BASE", "ONE", "BASE", "SEAT", "OP"]);
    let (owner, first) = unresolved.first().unwrap();
    assert_eq!(*owner, Owner::Connection("a".into()));
    let shown = super::Diagnostic::from(first).to_string();
    assert_eq!(
        shown,
        "config.yaml:2:25: error: mcp_servers[0].command: environment variable A is not set\n  help: set A before you start, or write `${A:-default}`"
    );
    let all = environment(&[("A", "a"), ("BASE", "b"), ("ONE", "1"), ("OP", TOKEN), ("SEAT", TOKEN)]);
    assert_eq!(config.unresolved(&all), []);
    // A token that would let nobody in is told before somebody tries it.
    let all = environment(&[("A", "a"), ("BASE", "b"), ("ONE", "1"), ("OP", "o"), ("SEAT", "0123456789 abcdef")]);
    let unresolved = config.unresolved(&all);
    let shown: Vec<_> = unresolved.iter().map(|(_, one)| one.to_string()).collect();
    assert_eq!(
        shown,
        [
            "environment variable SEAT holds characters that cannot stand in a header (roles[0].token, config.yaml:7)",
            "environment variable OP is shorter than 16 characters: it could be guessed (operators[0].token, config.yaml:9)",
        ]
    );
}

#[test]
fn values_arrive_byte_for_byte_or_are_refused_by_name() {
    let nasty = "pa$$w0rd$HOME${X}#: \"'\\";
    let config = config(
        "mcp_servers:\n  - { name: a, command: x, env: { TOKEN: '${T}' } }\n  - { name: b, transport: http, url: '${U}', headers: { X-Token: '${T}' } }\n",
    );
    let [a, b] = config.servers.as_slice() else { panic!("two servers") };
    let with_newline = format!("{nasty}\n");
    let ResolvedTransport::Stdio { env, .. } = a.resolve(&environment(&[("T", &with_newline)])).unwrap().transport
    else {
        panic!("stdio")
    };
    assert_eq!(env.first().unwrap().1.expose(), with_newline);
    let good = environment(&[("T", nasty), ("U", "https://h/mcp/")]);
    let ResolvedTransport::Http { headers, url, .. } = b.resolve(&good).unwrap().transport else { panic!("http") };
    assert_eq!(headers.first().unwrap().1.expose(), nasty);
    assert_eq!(url.expose(), "https://h/mcp");
    let refused = b.resolve(&environment(&[("T", &with_newline), ("U", "ftp://h")])).unwrap_err();
    let refused: Vec<_> = refused.iter().map(|u| (&*u.variable, matches!(u.problem, Problem::Unusable(_)))).collect();
    assert_eq!(refused, [("U", true), ("T", true)]);
}

#[test]
fn our_own_name_is_the_running_program() {
    let config = config("mcp_servers: [ { name: a, command: crewlet-tui, args: [demo-server, 'two words'] } ]");
    let server = config.servers.first().unwrap();
    assert_eq!(&*server.display(), "crewlet-tui demo-server \"two words\"");
    let ResolvedTransport::Stdio { command, .. } = server.resolve(&environment(&[])).unwrap().transport else {
        panic!("stdio")
    };
    assert_eq!(command, std::env::current_exe().unwrap());
}

#[test]
fn hints_know_their_lines_and_the_protocols_spelling_wins() {
    let config = config(
        "mcp_servers:\n  - name: a\n    command: x\n    tool_annotations:\n      t:\n        read_only: true\n        readOnlyHint: false\n        openWorldHint: true\n        title: T\n",
    );
    let over = config.servers.first().unwrap().tool_annotations.first().unwrap();
    let hint = |name| over.hints.annotations.get(name);
    assert_eq!(
        (hint(HintName::ReadOnly), hint(HintName::OpenWorld), hint(HintName::Destructive)),
        (Hint::No, Hint::Yes, Hint::Unknown)
    );
    let lines: Vec<_> = over.hints.places.iter().map(|place| place.as_ref().map(|place| place.line)).collect();
    assert_eq!(lines, [Some(7), None, None, Some(8)]);
    assert_eq!((over.place.line, over.hints.annotations.title.as_str()), (5, "T"));
}

#[test]
fn settings_and_their_defaults() {
    let config = config(
        "engine: { approvals: { unknown: deny, hold_by_client: { 'x*': 600 } }, listen: 'localhost:1' }\nmcp_servers: [ { name: a, command: x, request_timeout_seconds: 0, startup_timeout_seconds: 1.5 } ]\noperators: [ { id: f, token: '${T}', scopes: ['issues:read'] } ]\n",
    );
    let approvals = &config.engine.approvals;
    assert_eq!((approvals.unknown.decision, approvals.read.decision), (PolicyDecision::Deny, PolicyDecision::Allow));
    assert_eq!(approvals.unknown.place.as_ref().map(ToString::to_string).as_deref(), Some("config.yaml:1"));
    assert_eq!((approvals.wait, approvals.hold), (Duration::from_secs(300), Duration::from_secs(50)));
    assert_eq!(config.engine.listen, Some(([127, 0, 0, 1], 1).into()));
    assert!(config.engine.turn_tools);
    let server = config.servers.first().unwrap();
    assert_eq!(
        (server.startup_timeout, server.request_timeout),
        (Duration::from_millis(1500), Duration::from_secs(300))
    );
    assert_eq!(config.operators.first().unwrap().scopes, [Scope::IssuesRead]);
    let seats: Vec<_> = config.org.seats.iter().map(|seat| (seat.handle.as_str(), seat.kind)).collect();
    assert_eq!(seats, [("default", SeatKind::Agent)]);
    assert_eq!(&*config.company, "company");
}

#[test]
fn a_seat_has_a_profile() {
    let config = config(
        "roles:
  - name: Release Manager
    email: r@example.com
    goal: ship
    responsibilities: [releases, 'on call']
    manages: [Engineer]
    token_budget: 5000
    identities: { chat: U1, code: 42 }
    integrations: { tracker: { user: rm, api_key: hunter22, secret_ref: '${X}' } }
    sandbox: { enabled: true, image: x }
    workers: [ { name: reader, tools: [read_file], goal: read }, { name: bare } ]
",
    );
    let profile = &seat(&config, "release-manager").profile;
    let identities: Vec<_> = profile.identities.iter().map(|identity| (&*identity.system, &*identity.id)).collect();
    assert_eq!(identities, [("chat", "U1"), ("code", "42"), ("tracker.user", "rm")]);
    assert_eq!((profile.email.as_deref(), profile.goal.as_deref()), (Some("r@example.com"), Some("ship")));
    assert_eq!((profile.responsibilities.len(), profile.manages.len(), profile.sandbox), (2, 1, true));
    assert_eq!(profile.token_budget.map(std::num::NonZeroU32::get), Some(5000));
    let workers: Vec<_> = profile.workers.iter().map(|worker| (&*worker.name, worker.tools.len())).collect();
    assert_eq!(workers, [("reader", 1), ("bare", 0)]);
}

#[test]
fn roles_of_one_name_have_connections_of_different_names() {
    let config = config(
        "roles:\n  - { name: Dev Ops, handle: one }\n  - { name: Dev Ops, handle: two }\n  - { name: Other One }\n",
    );
    let server = ServerName::from("s");
    let names: Vec<_> = config.org.seats.iter().map(|seat| seat.connection(&server).to_string()).collect();
    assert_eq!(names, ["s::one", "s::two", "s::Other_One"]);
}

#[test]
fn scalars_keep_their_text() {
    let config =
        config("mcp_servers:\n  - { name: no, command: x, args: [0755, yes, 1.10, 2026-01-01], tool_prefix: on }\n");
    let server = config.servers.first().unwrap();
    assert_eq!((server.name.as_str(), &*server.tool_prefix), ("no", "on"));
    let Transport::Stdio { args, .. } = &server.transport else { panic!("stdio") };
    assert_eq!(args.iter().map(super::Template::text).collect::<Vec<_>>(), ["0755", "yes", "1.10", "2026-01-01"]);
}

#[test]
fn foreign_text_cannot_reach_the_terminal() {
    let text = problems("\"\\e[31mred\": 1\nmcp_servers: [ { name: \"a\\e]0;x\\a\", command: x } ]\n");
    assert!(text.contains("red") && !text.contains('\u{1b}') && !text.contains('\u{7}'), "{text:?}");
}

#[test]
fn secrets_stay_out_of_messages() {
    let text = problems(
        "mcp_servers:\n  - { name: a, command: x, env: { TOKEN: 8675309, B: 'hunter22${' } }\n  - { name: b, transport: http, url: 'ftp://u:hunter22@h', headers: { A: \"hunter22\\n\" } }\noperators: [ { id: f, token: 8675309 } ]\n",
    );
    assert_eq!(text.matches("error: ").count(), 5, "{text}");
    assert!(!text.contains("hunter22") && !text.contains("8675309"), "{text}");
}

#[test]
fn hostile_sizes_are_refused_fast() {
    let start = Instant::now();
    let bomb: String = (0..12).fold("x-0: &a0 [lol]\n".to_owned(), |text, level| {
        let aliases = vec![format!("*a{level}"); 9].join(", ");
        text + &format!("x-{}: &a{} [{aliases}]\n", level + 1, level + 1)
    });
    assert!(problems(&bomb).contains("aliases"));
    let text = problems(&"[".repeat(1_000_000));
    assert!(text.contains("deeper"), "{text}");
    assert!(problems(&"- ".repeat(1_000_000)).contains("deeper"));
    assert!(problems(&"{a: ".repeat(100_000)).contains("deeper"));
    assert!(problems(&"- x\n".repeat(200_000)).contains("values"));
    assert!(problems(&" ".repeat(super::read::MAX_BYTES + 1)).contains("at most"));
    // A flood of problems, each below a long key.
    let long = "k".repeat(1_000);
    let flood =
        (0..5_000).fold(format!("tui:\n  keys:\n    ? {long}\n    :\n"), |text, n| text + &format!("      a{n}: 1\n"));
    let rendered = problems(&flood);
    assert!(rendered.len() < 40_000, "{}", rendered.len());
    // Many of everything that is looked up by name.
    let roles = (0..3_000).fold("roles:\n".to_owned(), |text, n| text + &format!("  - {{ name: r{n}, unit: u{n} }}\n"));
    let units = (0..3_000).fold("units:\n".to_owned(), |text, n| text + &format!("  - {{ name: u{n} }}\n"));
    assert_eq!(config(&(roles + &units)).org.seats.len(), 3_000);
    let servers = (0..2_000).fold("mcp_servers:\n".to_owned(), |text, n| {
        text + &format!("  - {{ name: server-{n}, command: x, shared: false }}\n")
    });
    let env = (0..2_000)
        .fold("roles:\n  - name: r\n    mcp_env:\n".to_owned(), |text, n| text + &format!("      sever_{n}: {{}}\n"));
    assert_eq!(config(&(servers + &env)).servers.len(), 2_000);
    let unknown = (0..10_000).fold("tui:\n".to_owned(), |text, n| text + &format!("  thme{n}: 1\n"));
    assert!(problems(&unknown).contains("more problems"));
    // Generous: a debug build on a busy machine.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn warnings_carry_their_log_events() {
    let text = "mcp_servers: [ { name: a, command: x }, { name: t, command: x, shared: false } ]\nroles:\n  - { name: Dev, unit: U, mcp_env: { a: { T: x }, b: { T: x } } }\nmission: m\n";
    let loaded = load(text, &Source::File("config.yaml".into())).unwrap();
    let mut events: Vec<(&str, Option<&str>, Option<&str>)> = Vec::new();
    for warning in &loaded.warnings {
        let event = warning.event.as_ref().unwrap();
        events.push((event.name, event.role.as_deref(), event.server.as_deref()));
    }
    events.sort_unstable();
    assert_eq!(
        events,
        [
            ("config_keys_unused", None, None),
            ("mcp_env_for_shared_server", Some("Dev"), Some("a")),
            ("mcp_env_unknown_server", Some("Dev"), Some("b")),
            ("mcp_server_template_skipped", None, Some("t")),
            ("role_unit_ref_not_found", Some("Dev"), None),
        ]
    );
    assert_eq!(loaded.config.unused_root_keys, [Arc::from("mission")]);
}

/// Text made of what YAML and this format find interesting.
fn yamlish() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "mcp_servers",
        "name",
        "command",
        "roles",
        "units",
        "engine",
        ":",
        ": ",
        "- ",
        "\n",
        "\n  ",
        "\n    ",
        "[",
        "]",
        "{",
        "}",
        ",",
        "&a",
        "*a",
        "<<",
        "\"",
        "'",
        "|",
        ">",
        "#",
        "?",
        "!",
        "!!str",
        "%",
        "---",
        "...",
        "\t",
        "\r\n",
        "\u{feff}",
        "${",
        "}",
        "${A:-",
        "~",
        "null",
        "0x1F",
        "é",
        "\u{202e}",
        "\0",
        "\\",
        "x-a",
        "mcp_env",
        "tool_annotations",
        "\u{85}",
        "\u{2028}",
    ]);
    prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_yamlish_text_breaks_the_loader(text in yamlish()) {
        if let Err(problems) = load(&text, &Source::Demo) {
            prop_assert!(!problems.is_empty());
        }
    }

    #[test]
    fn no_text_breaks_the_loader(text in any::<String>()) {
        if let Err(problems) = load(&text, &Source::Demo) {
            prop_assert!(!problems.is_empty());
        }
    }

    /// What another YAML writer writes arrives at the server as it was, whatever it is.
    #[test]
    fn values_survive_yaml_and_references(values in prop::collection::vec("[^\\x00]{0,20}", 1..6)) {
        let env: serde_yaml::Mapping = values
            .iter()
            .enumerate()
            .map(|(n, value)| (format!("V{n}").into(), value.replace("${", "$${").into()))
            .collect();
        let mut server = serde_yaml::Mapping::new();
        server.insert("name".into(), "a".into());
        server.insert("command".into(), "x".into());
        server.insert("env".into(), env.into());
        let mut document = serde_yaml::Mapping::new();
        document.insert("mcp_servers".into(), serde_yaml::Value::Sequence(vec![server.into()]));
        let text = serde_yaml::to_string(&document).unwrap();
        // That writer leaves some text unquoted that other readers take for a date or a number; we refuse it.
        let loaded = load(&text, &Source::Demo);
        prop_assume!(!matches!(&loaded, Err(problems) if render(problems).contains("would be a guess")));
        prop_assume!(values.iter().all(|value| !value.contains("$$")));
        let config = loaded.map_err(|problems| TestCaseError::fail(format!("{text}\n{}", render(&problems))))?.config;
        let resolved = config.servers.first().unwrap().resolve(&environment(&[])).unwrap();
        let ResolvedTransport::Stdio { env, .. } = resolved.transport else { panic!("stdio") };
        let found: Vec<_> = env.iter().map(|(_, value)| value.expose().to_owned()).collect();
        prop_assert_eq!(found, values, "{}", text);
    }
}

//! A record as one line of the trail, and a line read back.
//!
//! The writer encodes, the readers decode; nothing here touches a file. Every character that could move a
//! terminal's cursor or reorder text is written as a JSON escape, so that the file can be shown as it is; the
//! value stays the same.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::record::Record;
use crate::engine::snapshot::Caller;
use crate::ids::ConnectionName;
use crate::text;
use crate::tool::annotations::HintSource;
use crate::tool::{Digest, EffectClass, Flag, Hint, HintName};

/// The `prev` of the first line.
pub(super) const NO_PREVIOUS: Digest = Digest([0; 32]);

/// Arguments nested deeper than this are embedded as text: common readers of JSON stop at 128 levels, and the
/// line itself adds one.
const READABLE_DEPTH: usize = 120;

/// Where a line stands in the chain and who writes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) seq: u64,
    pub(super) prev: Digest,
    pub(super) instance: &'a str,
}

/// Appends the line of a record, without its newline.
pub(super) fn encode(line: &mut String, record: &Record, place: Place<'_>) {
    let mut line = Line::start(line, record, place);
    if let Some(call) = &record.call {
        line.text("call", call.as_str());
    }
    if let Some(caller) = &record.caller {
        line.caller(caller);
    }
    if let Some(server) = &record.server {
        line.text("server", server.as_str());
        // A shared connection has the server's name.
        let own = record.connection.as_ref().filter(|connection| connection.as_str() != server.as_str());
        line.optional("connection", own.map(ConnectionName::as_str));
    }
    line.optional("tool", record.tool.as_deref());
    line.optional("name", record.name.as_deref());
    line.optional("class", record.class.map(EffectClass::as_str));
    line.flags(&record.flags);
    line.hints(&record.hints);
    if let Some(digest) = record.args_sha256 {
        line.written("args_sha256", format_args!("\"{digest}\""));
    }
    if let Some(args) = &record.args {
        line.name("args");
        line.arguments(args);
    }
    if let Some((decision, by)) = &record.policy {
        line.written("policy", format_args!("{{\"decision\":\"{decision}\",\"by\":"));
        line.quoted(by);
        line.0.push('}');
    }
    line.optional("decision", record.decision.map(super::Decision::as_str));
    line.optional("decider", record.decider.as_deref());
    line.optional("reason", record.reason.as_deref());
    line.optional("outcome", record.outcome.map(super::Outcome::as_str));
    if let Some(elapsed) = record.elapsed {
        line.written("elapsed_ms", format_args!("{}", elapsed.as_millis()));
    }
    line.optional("actor_seat", record.own.actor_seat.as_deref());
    if let Some(position) = record.own.position {
        line.written("position", format_args!("{position}"));
    }
    line.optional("refusal", record.own.refusal.as_deref());
    line.0.push('}');
}

/// A line that is being written, member after member: one buffer for all, since every call writes some.
struct Line<'l>(&'l mut String);

impl<'l> Line<'l> {
    fn start(line: &'l mut String, record: &Record, place: Place<'_>) -> Self {
        let Place { seq, prev, instance } = place;
        let (time, kind) = (record.at.rfc3339(), record.kind.as_str());
        let mut line = Self(line);
        line.write(format_args!(r#"{{"time":"{time}","seq":{seq},"prev":"{prev}","kind":"{kind}""#));
        line.text("instance", instance);
        line
    }

    fn write(&mut self, json: std::fmt::Arguments<'_>) {
        // Writing into a `String` cannot fail.
        let _ = self.0.write_fmt(json);
    }

    /// The name of the next member.
    fn name(&mut self, name: &str) {
        for part in [",\"", name, "\":"] {
            self.0.push_str(part);
        }
    }

    fn written(&mut self, name: &str, json: std::fmt::Arguments<'_>) {
        self.name(name);
        self.write(json);
    }

    fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        self.quoted(value);
    }

    fn optional(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(name, value);
        }
    }

    fn flags(&mut self, flags: &[Flag]) {
        for (place, flag) in flags.iter().enumerate() {
            if place == 0 {
                self.name("flags");
            }
            self.0.push(if place == 0 { '[' } else { ',' });
            self.quoted(flag.as_str());
        }
        if !flags.is_empty() {
            self.0.push(']');
        }
    }

    fn hints(&mut self, hints: &[(HintName, Hint, HintSource)]) {
        for (place, (name, hint, source)) in hints.iter().enumerate() {
            if place == 0 {
                self.name("hints");
            }
            let before = if place == 0 { "{\"" } else { ",\"" };
            for part in [before, name.snake(), "\":{\"value\":\"", hint.as_str(), "\",\"source\":"] {
                self.0.push_str(part);
            }
            self.quoted(&source.words());
            self.0.push('}');
        }
        if !hints.is_empty() {
            self.0.push('}');
        }
    }

    fn caller(&mut self, caller: &Caller) {
        self.written("caller", format_args!("{{\"kind\":\"{}\"", caller.kind()));
        let mut fact = |name: &str, value: &str| {
            // A plain call has no session.
            if !value.is_empty() {
                self.text(name, value);
            }
        };
        match caller {
            Caller::Console => {}
            Caller::Seat { seat, .. } => fact("seat", seat.as_str()),
            Caller::Worker { seat, holder, .. } => {
                fact("seat", seat.as_str());
                fact("worker", holder.worker().as_ref().map_or(holder.as_str(), |(_, worker)| worker.as_str()));
            }
            Caller::Operator { holder, .. } => {
                fact("operator", holder.operator().or_else(|| holder.connector()).unwrap_or_else(|| holder.as_str()));
            }
        }
        if let Caller::Seat { session, client, .. }
        | Caller::Worker { session, client, .. }
        | Caller::Operator { session, client, .. } = caller
        {
            fact("session", session);
            fact("client", client);
        }
        if let Caller::Operator { session, .. } = caller {
            fact("transport", if session.is_empty() { "http" } else { "mcp" });
        }
        self.0.push('}');
    }

    /// Arguments as they are embedded: the JSON they are, or the same text as a JSON string when a redaction left
    /// something that is no JSON, or when it is nested deeper than common readers follow.
    fn arguments(&mut self, text: &str) {
        if serde_json::from_str::<&RawValue>(text).is_err() || depth(text) > READABLE_DEPTH {
            return self.quoted(text);
        }
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return self.0.push_str(text);
        }
        for c in text.chars() {
            match c {
                // Between tokens a line break is white space; inside a string valid JSON has none.
                '\n' | '\r' | '\t' => self.0.push(' '),
                c => push_shown(self.0, c),
            }
        }
    }

    /// A JSON string.
    fn quoted(&mut self, value: &str) {
        self.0.push('"');
        let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
        if value.bytes().all(is_plain) {
            self.0.push_str(value);
        } else {
            value.chars().for_each(|c| push_escaped(self.0, c));
        }
        self.0.push('"');
    }
}

/// A character inside a JSON string.
fn push_escaped(json: &mut String, c: char) {
    let short = match c {
        '"' => '"',
        '\\' => '\\',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        c => return push_shown(json, c),
    };
    json.push('\\');
    json.push(short);
}

/// A character as it is, or as `\uXXXX` where it would be hidden.
fn push_shown(json: &mut String, c: char) {
    if !text::is_hidden(c) {
        return json.push(c);
    }
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing into a `String` cannot fail.
        let _ = write!(json, "\\u{unit:04x}");
    }
}

/// The deepest nesting of a JSON text.
fn depth(json: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// JSON text with hidden characters as `\uXXXX`. They can stand only inside strings, so the value is the same.
pub fn escape_hidden(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    json.chars().for_each(|c| push_shown(&mut escaped, c));
    escaped
}

/// A line read back; what a record does not state is `None`.
#[derive(Clone, Debug, Deserialize)]
pub struct Stored {
    /// RFC 3339, UTC.
    pub time: String,
    /// Number in the chain, from 1.
    pub seq: u64,
    /// SHA-256 of the previous line, in hex.
    pub prev: String,
    /// `received`, `asked`, `decided`, `dispatched`, `finished`, `refused`, `elicited`, `answered` or `repaired`.
    pub kind: String,
    /// The run of the program that wrote it.
    pub instance: Option<String>,
    /// The call.
    pub call: Option<String>,
    /// Who asked.
    pub caller: Option<StoredCaller>,
    /// The server.
    pub server: Option<String>,
    /// The connection, where it is a seat's own.
    pub connection: Option<String>,
    /// The raw tool name.
    pub tool: Option<String>,
    /// The catalogue name, or the name asked for.
    pub name: Option<String>,
    /// The effect class.
    pub class: Option<String>,
    /// What was odd about the tool.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Effective hints by name.
    pub hints: Option<serde_json::Map<String, serde_json::Value>>,
    /// SHA-256 of the canonical arguments, in hex.
    pub args_sha256: Option<String>,
    /// The arguments, redacted.
    pub args: Option<Box<RawValue>>,
    /// What the policy said.
    pub policy: Option<StoredPolicy>,
    /// `approved`, `denied`, `expired` or `withdrawn`.
    pub decision: Option<String>,
    /// Who decided.
    pub decider: Option<String>,
    /// A reason in words.
    pub reason: Option<String>,
    /// `done`, `failed` or `unknown`.
    pub outcome: Option<String>,
    /// Milliseconds since received.
    pub elapsed_ms: Option<u64>,
    /// The seat that an operator's token works, where the tool is the program's own.
    pub actor_seat: Option<String>,
    /// The position that the company's rows were at with the change.
    pub position: Option<i64>,
    /// The class of a refusal of such a tool.
    pub refusal: Option<String>,
}

/// `caller` of a line.
#[derive(Clone, Debug, Deserialize)]
pub struct StoredCaller {
    /// `console`, `seat` and so on.
    pub kind: String,
    /// The seat.
    pub seat: Option<String>,
    /// The worker's id, where it is one of the seat's.
    pub worker: Option<String>,
    /// The operator's id.
    pub operator: Option<String>,
    /// The agent's session.
    pub session: Option<String>,
    /// Its client.
    pub client: Option<String>,
}

/// `policy` of a line.
#[derive(Clone, Debug, Deserialize)]
pub struct StoredPolicy {
    /// `allow`, `ask`, `type` or `deny`.
    pub decision: String,
    /// The rule or default that made it.
    pub by: String,
}

impl Stored {
    /// Reads a line.
    ///
    /// # Errors
    /// When it is no record, with a short reason.
    pub fn decode(line: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(line).map_err(|error| format!("it is not a record: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::record::{Decision, Kind, Outcome};
    use super::*;
    use crate::clock::Timestamp;
    use crate::ids::{CallId, SeatHandle, ServerName};

    fn encode(record: &Record, place: Place<'_>) -> String {
        let mut line = String::new();
        super::encode(&mut line, record, place);
        line
    }

    fn place() -> Place<'static> {
        Place { seq: 7, prev: NO_PREVIOUS, instance: "i1" }
    }

    fn full() -> Record {
        let caller = Caller::Seat {
            seat: SeatHandle::from("release"),
            session: "7c1e".into(),
            client: "claude-code 2.1".into(),
        };
        Record {
            call: Some(CallId::from("cabc")),
            caller: Some(caller),
            server: Some(ServerName::from("github")),
            tool: Some("delete_branch".into()),
            name: Some("gh_delete_branch".into()),
            class: Some(EffectClass::Destructive),
            flags: vec![Flag::Contradictory],
            hints: vec![(HintName::ReadOnly, Hint::No, HintSource::Builtin)],
            args_sha256: Some(Digest([0xab; 32])),
            args: Some(r#"{"branch":"main"}"#.into()),
            policy: Some(("ask", "class destructive".into())),
            decision: Some(Decision::Approved),
            decider: Some("person:root".into()),
            reason: Some("fine".into()),
            outcome: Some(Outcome::Done),
            elapsed: Some(Duration::from_millis(412)),
            ..Record::new(Timestamp::from_millis(0), Kind::Received)
        }
    }

    #[test]
    fn a_full_record_has_every_field_in_its_order() {
        let expected = concat!(
            r#"{"time":"1970-01-01T00:00:00.000Z","seq":7,"#,
            r#""prev":"0000000000000000000000000000000000000000000000000000000000000000","#,
            r#""kind":"received","instance":"i1","call":"cabc","#,
            r#""caller":{"kind":"seat","seat":"release","session":"7c1e","client":"claude-code 2.1"},"#,
            r#""server":"github","tool":"delete_branch","name":"gh_delete_branch","class":"destructive","#,
            r#""flags":["contradictory"],"hints":{"read_only":{"value":"no","source":"builtin"}},"#,
            r#""args_sha256":"abababababababababababababababababababababababababababababababab","#,
            r#""args":{"branch":"main"},"policy":{"decision":"ask","by":"class destructive"},"#,
            r#""decision":"approved","decider":"person:root","reason":"fine","outcome":"done","elapsed_ms":412}"#,
        );
        assert_eq!(encode(&full(), place()), expected);
    }

    #[test]
    fn absent_fields_are_left_out() {
        let line = encode(&Record::new(Timestamp::from_millis(0), Kind::Repaired), place());
        let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&line).unwrap();
        assert_eq!(object.keys().collect::<Vec<_>>(), ["time", "seq", "prev", "kind", "instance"]);
    }

    #[test]
    fn hostile_text_stays_on_one_line_with_its_value() {
        let text = "a\nb\r\u{1b}[2J\u{0}\u{9b}\"\\\u{7f}";
        let record = Record {
            reason: Some(text.into()),
            args: Some("{\n\"x\":\t\"\u{9b}31m\"}".into()),
            ..Record::new(Timestamp::from_millis(0), Kind::Refused)
        };
        let line = encode(&record, place());
        assert!(!line.chars().any(text::is_hidden), "{line:?}");
        let stored = Stored::decode(line.as_bytes()).unwrap();
        assert_eq!(stored.reason.as_deref(), Some(text));
        let args: serde_json::Value = serde_json::from_str(stored.args.unwrap().get()).unwrap();
        assert_eq!(args, serde_json::json!({"x": "\u{9b}31m"}));
    }

    #[test]
    fn arguments_that_readers_cannot_follow_become_a_string() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(4000), "]".repeat(4000));
        for text in ["{\"token\":[REDACTED:token]}", deep.as_str(), ""] {
            let record = Record { args: Some(text.into()), ..Record::new(Timestamp::from_millis(0), Kind::Received) };
            let stored = Stored::decode(encode(&record, place()).as_bytes()).unwrap();
            assert_eq!(serde_json::from_str::<String>(stored.args.unwrap().get()).unwrap(), text);
        }
    }

    #[test]
    fn numbers_in_arguments_stay_as_sent() {
        let text = r#"{"n":1.10,"big":12345678901234567890123,"e":1E5}"#;
        let record = Record { args: Some(text.into()), ..Record::new(Timestamp::from_millis(0), Kind::Received) };
        assert!(encode(&record, place()).contains(text));
    }
}

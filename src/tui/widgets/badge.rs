//! Words and glyphs for classes, hints, flags, callers and phases, so that every view says them alike.
//!
//! The card and the tools, approvals and calls panes use it. It draws nothing itself.

use super::paint::Span;
use crate::engine::snapshot::{CallPhase, Caller, CredentialView};
use crate::tool::{EffectClass, Flag, Hint};
use crate::tui::theme::Role;

/// The role of a class.
pub const fn class_role(class: EffectClass) -> Role {
    match class {
        EffectClass::Read => Role::ClassRead,
        EffectClass::Write => Role::ClassWrite,
        EffectClass::Destructive => Role::ClassDestructive,
        EffectClass::Unknown => Role::ClassUnknown,
    }
}

/// The word of a class: only the loud one is in capitals.
pub const fn class_word(class: EffectClass) -> &'static str {
    match class {
        EffectClass::Read => "read",
        EffectClass::Write => "write",
        EffectClass::Destructive => "DESTRUCTIVE",
        EffectClass::Unknown => "unknown",
    }
}

/// The badge of a class.
pub fn class(class: EffectClass) -> Span {
    Span::new(class_role(class), class_word(class))
}

/// The glyph of a hint: yes, no, nobody said. Drawing puts letters in its place where glyphs are plain ASCII.
pub fn hint(hint: Hint) -> Span {
    let glyph = match hint {
        Hint::Yes => "✓",
        Hint::No => "✗",
        Hint::Unknown => "?",
    };
    Span::new(hint_role(hint), glyph)
}

/// The role of a hint's word.
pub const fn hint_role(hint: Hint) -> Role {
    match hint {
        Hint::Yes => Role::HintYes,
        Hint::No => Role::HintNo,
        Hint::Unknown => Role::HintUnknown,
    }
}

/// What a flag means, in words.
pub const fn flag(flag: Flag) -> &'static str {
    match flag {
        Flag::Contradictory => "contradictory: it says read only and destructive at once; the worse one counts",
        Flag::MalformedHints => "malformed hints: it states a hint with something that is not true or false",
        Flag::SchemaNotAnObject => "its input schema does not describe an object; agents are given an empty one",
        Flag::ListCut => "its server's list was cut, so more tools may exist",
    }
}

/// What a flag means, in few words.
pub const fn flag_short(flag: Flag) -> &'static str {
    match flag {
        Flag::Contradictory => "contradictory: read only and destructive",
        Flag::MalformedHints => "malformed hints",
        Flag::SchemaNotAnObject => "its schema is no object",
        Flag::ListCut => "its server's list was cut",
    }
}

/// Who asks, short: the seat, or the person at the screen.
pub fn caller_short(caller: &Caller) -> &str {
    match caller {
        Caller::Console => "you",
        Caller::Seat { seat, .. } | Caller::Worker { holder: seat, .. } | Caller::Operator { holder: seat, .. } => {
            seat.as_str()
        }
    }
}

/// Who asks, whole.
pub fn caller_long(caller: &Caller) -> String {
    match caller {
        Caller::Console => "you, at this screen".to_owned(),
        Caller::Seat { seat, session, client } => format!("{client} · seat {seat} · session {session}"),
        Caller::Worker { seat, holder, session, client } => {
            let worker = holder.worker();
            let worker = worker.as_ref().map_or(holder.as_str(), |(_, worker)| worker.as_str());
            format!("{client} · worker {worker} of seat {seat} · session {session}")
        }
        Caller::Operator { holder, session, client } => {
            let (what, id) = match (holder.operator(), holder.connector()) {
                (Some(id), _) => ("operator", id),
                (None, Some(id)) => ("connector token", id),
                (None, None) => ("operator", holder.as_str()),
            };
            // A plain call has no session.
            let session = if session.is_empty() { String::new() } else { format!(" · session {session}") };
            format!("{client} · {what} {id}{session}")
        }
    }
}

/// Who decided, with one name for the person everywhere: `you (person:root)`.
pub fn decider(decider: &str) -> String {
    let word = |word: &str| {
        if word == "person" || word.starts_with("person:") { format!("you ({word})") } else { word.to_owned() }
    };
    decider.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The role of a call's phase.
pub const fn phase_role(phase: &CallPhase) -> Role {
    match phase {
        CallPhase::Waiting(_) => Role::Alert,
        CallPhase::Running => Role::Starting,
        CallPhase::Done { is_error: false } => Role::Ready,
        CallPhase::Done { is_error: true } | CallPhase::Unknown { .. } => Role::Warning,
        CallPhase::Failed { .. } => Role::Failed,
        CallPhase::Denied { .. } | CallPhase::Expired | CallPhase::Withdrawn(_) | CallPhase::Refused { .. } => {
            Role::Stopped
        }
    }
}

/// Where a credential comes from and whether it is there; never its value.
pub fn credential(credential: &CredentialView) -> String {
    let names: Vec<String> = credential.variables.iter().map(|name| format!("${{{name}}}")).collect();
    let field = &credential.field;
    match (names.is_empty(), credential.set) {
        (true, true) => format!("{field} set in the configuration"),
        (true, false) => format!("{field} not set"),
        (false, true) => format!("{field} set from {}", names.join(", ")),
        (false, false) => format!("{field} not set: {} has no value", names.join(", ")),
    }
}

//! What an approval on this card would mean besides "once, as shown": an edit of the arguments, a decision to be
//! remembered, all waiting calls of the tool. Holds choices and their words; decides nothing.

use std::time::Duration;

use crate::engine::command::{GrantScope, Remember, Shown, Verdict};
use crate::engine::snapshot::{ApprovalView, Snapshot, Tier};
use crate::tool::Arguments;
use crate::tui::editor::CallEditor;
use crate::tui::theme::Role;
use crate::tui::widgets::paint::{Row, Span, wrap};

/// Spans that can be remembered, with their words.
const SPANS: [(Option<Duration>, &str); 3] = [
    (Some(Duration::from_secs(600)), "for 10 minutes"),
    (Some(Duration::from_secs(3_600)), "for 1 hour"),
    (None, "until this program ends"),
];
/// Questions whose end has been seen, of which a note is kept.
const MOST_PEEKED: usize = 1_024;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// Open while the arguments are edited.
    pub(super) editor: Option<Box<CallEditor>>,
    /// The arguments to be sent instead.
    pub(super) edited: Option<Arguments>,
    /// Why an edit could not be checked against the schema.
    pub(super) unchecked: Option<String>,
    /// What is to be remembered.
    pub(super) remember: Option<Remember>,
}

/// What a press approves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Act {
    /// The question that is shown.
    One,
    /// All waiting questions about its tool, as they were when it was armed.
    All(Vec<Shown>),
}

impl Plan {
    /// The yes that this comes to.
    pub(super) fn verdict(&self) -> Verdict {
        match (&self.edited, self.remember) {
            (Some(edited), _) => Verdict::ApproveEdited(edited.clone()),
            (None, Some(remember)) => Verdict::ApproveAndRemember(remember),
            (None, None) => Verdict::Approve,
        }
    }

    /// True when an approval would be more than "as shown".
    pub(super) const fn is_plain(&self) -> bool {
        self.edited.is_none() && self.remember.is_none()
    }

    /// True while arguments are being edited, or have been.
    pub(super) const fn is_edit(&self) -> bool {
        self.editor.is_some() || self.edited.is_some()
    }
}

/// The choice with this number, from 1.
pub(super) fn choice(number: u8) -> Option<Remember> {
    let index = usize::from(number.checked_sub(1)?);
    let scope = if index < SPANS.len() { GrantScope::ThisCall } else { GrantScope::ThisTool };
    let (span, _) = SPANS.get(index % SPANS.len()).filter(|_| index < 2 * SPANS.len())?;
    Some(Remember { scope, span: *span })
}

/// A choice in full words: what runs unasked, whose, and for how long.
pub(super) fn words(approval: &ApprovalView, remember: Remember) -> String {
    let (entry, span) = (&approval.entry, SPANS.iter().find(|(span, _)| *span == remember.span));
    let whose = whose(approval);
    let span = span.map_or("", |(_, words)| *words);
    match remember.scope {
        GrantScope::ThisCall => {
            format!("{} :: {} with exactly these arguments, {whose}, {span}", entry.connection, entry.raw_name)
        }
        GrantScope::ThisTool => {
            format!("every call of {} :: {}, whatever its arguments, {whose}, {span}", entry.connection, entry.raw_name)
        }
    }
}

fn whose(approval: &ApprovalView) -> String {
    approval.caller.seat().map_or_else(|| "called by you".to_owned(), |seat| format!("called by seat {seat}"))
}

/// The rows of the page that lists all choices.
pub(super) fn choices(approval: &ApprovalView, width: usize) -> Vec<Row> {
    let mut rows = wrap(
        &[Span::new(Role::Text, "What may run without asking again? The choice counts with your approval:")],
        width,
    );
    for number in 1..=6 {
        let Some(remember) = choice(number) else { continue };
        let key = Span::new(Role::Key, &format!("{number}  "));
        let text = wrap(&[Span::new(Role::Text, &words(approval, remember))], width.saturating_sub(3).max(1));
        for (index, mut row) in text.into_iter().enumerate() {
            row.insert(0, if index == 0 { key.clone() } else { Span::gap(3) });
            rows.push(row);
        }
    }
    rows.push(vec![Span::new(Role::Key, "0  "), Span::new(Role::Text, "nothing: ask again each time")]);
    let end =
        "A change of the tool's definition suspends it. The approvals view lists it (g), and it can be revoked there.";
    rows.extend(wrap(&[Span::new(Role::Dim, end)], width));
    rows
}

/// The waiting questions about the same tool of the same connection, the given one included.
pub(super) fn alike<'s>(approval: &'s ApprovalView, snapshot: &'s Snapshot) -> impl Iterator<Item = &'s ApprovalView> {
    let same = |other: &&ApprovalView| {
        other.entry.connection == approval.entry.connection && other.entry.raw_name == approval.entry.raw_name
    };
    snapshot.approvals.iter().map(AsRef::as_ref).filter(same)
}

/// Which questions have been looked at to their end on this card, as they were then.
#[derive(Clone, Debug, Default)]
pub(super) struct Peeked(Vec<Shown>);

impl Peeked {
    pub(super) fn note(&mut self, shown: Shown) {
        if !self.0.contains(&shown) && self.0.len() < MOST_PEEKED {
            self.0.push(shown);
        }
    }

    /// All questions alike, when they can be approved together; else why not.
    pub(super) fn batch(&self, approval: &ApprovalView, snapshot: &Snapshot) -> Result<Vec<Shown>, String> {
        let alike: Vec<&ApprovalView> = alike(approval, snapshot).collect();
        if alike.len() < 2 {
            return Err("no other call of this tool waits".to_owned());
        }
        if alike.iter().any(|other| other.tier == Tier::Type) {
            return Err("a call whose tool's name must be typed is never approved in a batch".to_owned());
        }
        let missing = alike.iter().filter(|other| !self.0.contains(&other.shown())).count();
        if missing > 0 {
            let all = alike.len();
            return Err(format!(
                "{missing} of the {all} calls have not been looked at to their end (Tab shows the next)"
            ));
        }
        Ok(alike.iter().map(|other| other.shown()).collect())
    }
}

/// A line for the configuration that refuses a call that people keep denying; `None` when they do not.
pub(super) fn rule(approval: &ApprovalView) -> Option<String> {
    let (times, last) = approval.history.same_arguments.as_ref()?;
    if *times < 2 || &**last != "denied" {
        return None;
    }
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let tool = quoted(&format!("{}/{}", approval.entry.server, approval.entry.raw_name));
    let seat = approval.caller.seat().map_or_else(String::new, |seat| format!(" seat: {},", quoted(seat.as_str())));
    Some(format!("- {{tool: {tool},{seat} decision: deny}}"))
}

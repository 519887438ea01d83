//! Asking on a plain terminal: what `call` does when the policy wants a person's decision.
//!
//! Everything is shown before anything can be answered, input typed earlier is thrown away, and only a whole
//! word decides: `yes`, or the tool's name where the policy says `type`.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::Arc;

use super::complain;
use crate::engine::command::{Command, Verdict};
use crate::engine::handle::Handle;
use crate::engine::snapshot::{ApprovalView, DiffLine, Tier};
use crate::text;
use crate::tool::HintName;

/// Puts every question of the engine to the person at the terminal, one after another, for as long as it is polled.
pub(super) async fn answer_questions(handle: &Handle) -> Infallible {
    let mut snapshots = handle.snapshots();
    let mut asked = None;
    loop {
        let question = snapshots.borrow_and_update().approvals.first().cloned();
        if let Some(question) = question.filter(|question| asked != Some(question.id)) {
            asked = Some(question.id);
            decide(handle, question).await;
        }
        if snapshots.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

async fn decide(handle: &Handle, question: Arc<ApprovalView>) {
    complain(&card(&question));
    let tier = question.tier;
    let name = question.entry.name.to_string();
    // Reading a line blocks, so it gets a thread of its own.
    let line = tokio::task::spawn_blocking(move || read_line(tier, &name)).await.ok().flatten();
    let approved = match (&line, question.tier) {
        (Some(line), Tier::Type) => *line == *question.entry.name,
        (Some(line), Tier::Press | Tier::Arm) => line == "yes",
        (None, _) => false,
    };
    let verdict = if approved {
        Verdict::Approve
    } else {
        let reason = line.filter(|line| !matches!(line.as_str(), "" | "n" | "no")).unwrap_or_default();
        Verdict::Deny { reason }
    };
    if let Err(error) = handle.send(Command::Decide(question.shown(), verdict)) {
        complain(&error.to_string());
    }
}

fn read_line(tier: Tier, name: &str) -> Option<String> {
    let stdin = std::io::stdin();
    // What was typed before the question was on the screen is no answer to it. Where the queue cannot be thrown
    // away there is no terminal, and the whole word is still needed.
    let _ = rustix::termios::tcflush(&stdin, rustix::termios::QueueSelector::IFlush);
    complain(&match tier {
        Tier::Type => {
            format!("Type the tool's name, {}, to run it once; anything else denies it:", text::visible(name))
        }
        Tier::Press | Tier::Arm => "Type yes to run it once; anything else denies it and is the reason:".to_owned(),
    });
    loop {
        let mut line = String::new();
        match stdin.read_line(&mut line) {
            Ok(0) | Err(_) => return None,
            // Too short to be a reason, and too easily typed to be a decision.
            Ok(_) if matches!(line.trim(), "y" | "Y") => complain("type the whole word, or no:"),
            Ok(_) => return Some(line.trim().to_owned()),
        }
    }
}

/// The question in plain lines: who, what, effect with sources, and every byte of the arguments.
fn card(question: &ApprovalView) -> String {
    let entry = &question.entry;
    let mut card = String::new();
    let hints: Vec<String> = HintName::ALL
        .into_iter()
        .map(|hint| format!("{} {} ({})", hint.words(), entry.hints.effective.get(hint), entry.hints.source(hint)))
        .collect();
    // Writing to a String cannot fail.
    let _ = writeln!(card, "\nApprove this call?  {}", question.policy_by);
    let _ = writeln!(card, "  what    {} :: {}", entry.connection, text::visible(&entry.raw_name));
    let _ = writeln!(card, "          {}", text::visible(&entry.description));
    let _ = writeln!(card, "  effect  {}  {}", entry.class().as_str().to_uppercase(), hints.join(" · "));
    let _ = writeln!(card, "  args    {}", text::visible(question.arguments.canonical()));
    if question.confirm_set {
        let _ = writeln!(card, "          confirm: true is set by your approval");
    }
    if text::has_hidden(question.arguments.canonical()) {
        let _ = writeln!(card, "          contains hidden characters; they are shown escaped");
    }
    let shown = match question.arguments.hidden() {
        0 => "all shown".to_owned(),
        hidden => format!("{hidden} values are secrets of the configuration and not shown; the server gets them"),
    };
    let (bytes, digest) = (question.arguments.len_bytes(), question.arguments.digest().short());
    let _ = write!(card, "          {bytes} bytes · {shown} · sha256 {digest}");
    if let Some(repeat) = &question.repeat {
        let _ = write!(card, "\n  repeat  the same call was made before: {} ({})", repeat.call, repeat.outcome);
    }
    if let Some(change) = &question.change {
        let _ = write!(card, "\n  CHANGED its definition is not the one that was known (- before, + now):");
        for line in &change.lines {
            let (sign, line) = match line {
                DiffLine::Same(_) => continue,
                DiffLine::Removed(line) => ('-', line),
                DiffLine::Added(line) => ('+', line),
            };
            let _ = write!(card, "\n          {sign} {}", text::visible(line));
        }
    }
    card
}

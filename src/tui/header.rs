//! The two lines at the top: who we are and how things stand, and the views by number.
//!
//! Waiting questions and a broken audit are the only loud things here. Parts drop, words before numbers, as the
//! screen narrows.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::Draw;
use super::format::plural;
use super::panes::View;
use super::widgets::cells::{put_spans, to_cells, width, wrap};
use crate::clock::Precision;
use crate::engine::snapshot::{AuditHealth, Snapshot};
use crate::engine::status::ConnectionStatus;
use crate::tui::theme::Role;

/// From this height on a banner may take two lines.
const ROOMY: u16 = 20;

/// The glyph and the role of a status.
pub const fn status_mark(status: &ConnectionStatus) -> (&'static str, Role) {
    match status {
        ConnectionStatus::Ready { .. } => ("●", Role::Ready),
        ConnectionStatus::Starting { .. } => ("◐", Role::Starting),
        ConnectionStatus::Backoff { .. } => ("◔", Role::Backoff),
        ConnectionStatus::Stopping | ConnectionStatus::Stopped => ("○", Role::Stopped),
        ConnectionStatus::Disabled => ("–", Role::Stopped),
        ConnectionStatus::Failed { .. } => ("✕", Role::Failed),
    }
}

/// How much is said in words.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Detail {
    Full,
    NoAddress,
    Numbers,
    NoCompany,
    Bare,
}

type Spans = Vec<(String, Style)>;

/// Draws the header line.
pub fn render(buf: &mut Buffer, line: Rect, draw: &Draw<'_>) {
    let levels = [Detail::Full, Detail::NoAddress, Detail::Numbers, Detail::NoCompany, Detail::Bare];
    for detail in levels {
        let (left, middle, loud, right) = parts(draw, detail);
        let widths = [&left, &middle, &loud, &right].map(cells);
        let [a, b, c, d] = widths;
        if a + b + c + d + 9 > line.width && detail != Detail::Bare {
            continue;
        }
        // Places do not depend on one another more than they must, so that nothing jumps when a number changes.
        let counts = (line.width / 4).max(a + 3).min(line.width.saturating_sub(b + c + d + 6));
        let waiting = (line.width * 3 / 5).max(counts + b + 2).min(line.width.saturating_sub(c + d + 4));
        put_at(buf, line, 1, &left);
        put_at(buf, line, counts, &middle);
        put_at(buf, line, waiting, &loud);
        put_at(buf, line, line.width.saturating_sub(d + 1), &right);
        return;
    }
}

/// Draws the line of views; the current one stands in brackets. Names go before numbers do.
pub fn render_views(buf: &mut Buffer, line: Rect, draw: &Draw<'_>, current: View) {
    let wordings = [Wording::Roomy, Wording::Snug, Wording::Numbers, Wording::Tight];
    let lines = wordings.map(|wording| views(draw, current, wording));
    let fits = lines.iter().find(|spans| cells(spans) <= line.width).or(lines.last());
    put_at(buf, line, 0, fits.unwrap_or(&Spans::new()));
}

/// How much room the views take.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wording {
    /// ` 1 Servers   2 Tools  [3 Approvals ⚑2]`
    Roomy,
    /// `1Servers 2Tools [3Approvals⚑]`: every name, for 80 columns.
    Snug,
    /// ` 1   2  [3 Approvals ⚑2]`
    Numbers,
    /// `1 2 [3 Approvals ⚑2] 4`
    Tight,
}

fn views(draw: &Draw<'_>, current: View, wording: Wording) -> Spans {
    let waiting = waiting(draw.snapshot);
    let open = draw.snapshot.questions.iter().filter(|question| question.is_open()).count();
    let mut spans: Spans = Vec::new();
    let style = |role| draw.theme.style(role);
    let roomy = matches!(wording, Wording::Roomy | Wording::Numbers);
    // A view without a number is named only while it is in front.
    let unnumbered = current.number().is_none().then_some(current);
    for view in View::ALL.into_iter().chain(unnumbered) {
        let here = view == current;
        let role = if here { Role::Accent } else { Role::Dim };
        let number = view.number().map(|number| number.to_string()).unwrap_or_default();
        let named = here || matches!(wording, Wording::Roomy | Wording::Snug);
        let edge = |bracket: &'static str| {
            if here {
                bracket
            } else if roomy {
                " "
            } else {
                ""
            }
        };
        spans.push((edge("[").to_owned(), style(role)));
        match wording {
            // Without the blank the number has to be told from the name.
            Wording::Snug => spans.extend([(number, style(Role::Key)), (view.words().to_owned(), style(role))]),
            _ if named && number.is_empty() => spans.push((view.words().to_owned(), style(role))),
            _ if named => spans.push((format!("{number} {}", view.words()), style(role))),
            _ => spans.push((number, style(role))),
        }
        if view == View::Approvals && waiting > 0 {
            let flag = match wording {
                // How many they are is said above; a number that grows would push the names about.
                Wording::Snug => "⚑".to_owned(),
                Wording::Tight if !here => "⚑".to_owned(),
                _ => format!(" ⚑{waiting}"),
            };
            spans.push((flag, style(Role::Warning)));
        }
        // Quiet: agents answer each other, and a person may.
        if view == View::Inbox && open > 0 {
            let some = if roomy || here { format!(" ({open})") } else { "?".to_owned() };
            spans.push((some, style(Role::Text)));
        }
        spans.push((edge("]").to_owned(), style(role)));
        spans.push((" ".to_owned(), Style::new()));
    }
    // Blanks at the end are not worth a mark that something was cut.
    while spans.pop_if(|(text, _)| text.trim().is_empty()).is_some() {}
    spans
}

/// What must not be overlooked, in one line, or in two where the screen is high enough; nothing when there is nothing.
pub fn banner(snapshot: &Snapshot, screen: Rect) -> (Role, Vec<String>) {
    let (role, words) = match &snapshot.audit {
        AuditHealth::Broken { reason } => {
            (Role::Alert, format!("AUDIT BROKEN: only proven reads run. {}", crate::text::clean(reason)))
        }
        AuditHealth::Good => {
            let told = |word: &str, problem: &str| format!("{word}: {}", crate::text::clean(problem));
            // What the person has just done first.
            let config = snapshot.config_problem.iter().map(|problem| told("CONFIGURATION REFUSED", problem));
            let listener = snapshot.listener_problem.iter().map(|problem| told("NO LISTENER", problem));
            (Role::Warning, config.chain(listener).collect::<Vec<_>>().join(" · "))
        }
    };
    if words.is_empty() {
        return (role, Vec::new());
    }
    let mut rows = wrap(&words, screen.width.saturating_sub(2).max(1));
    let most = if screen.height < ROOMY { 1 } else { 2 };
    if rows.len() > most {
        // Drawn as far as it goes, with the mark of what is cut.
        let rest: Vec<String> = rows.split_off(most - 1).iter().map(|row| row.trim_end().to_owned()).collect();
        rows.push(rest.join(" "));
    }
    (role, rows)
}

/// The window's title.
pub fn window_title(snapshot: &Snapshot) -> String {
    let company = crate::text::visible(&snapshot.company);
    match waiting(snapshot) {
        0 => format!("crewlet · {company}"),
        waiting => format!("⚑ {waiting} waiting · crewlet · {company}"),
    }
}

/// Everything that waits for the person: calls, and what servers ask.
fn waiting(snapshot: &Snapshot) -> usize {
    snapshot.approvals.len() + snapshot.forms.len()
}

fn parts(draw: &Draw<'_>, detail: Detail) -> (Spans, Spans, Spans, Spans) {
    let snapshot = draw.snapshot;
    let style = |role| draw.theme.style(role);
    let mut left = vec![];
    if detail < Detail::Bare {
        left.push(("crewlet".to_owned(), style(Role::Accent)));
    }
    if detail < Detail::NoCompany {
        left.push((format!("  {}", crate::text::visible(&snapshot.company)), style(Role::Text)));
    }
    if snapshot.read_only {
        left.push(((if detail < Detail::NoCompany { "  read-only" } else { " ro" }).to_owned(), style(Role::Warning)));
    }
    let mut loud = vec![];
    if waiting(snapshot) > 0 {
        let words = if detail < Detail::NoCompany { " waiting " } else { " " };
        loud.push((format!(" ⚑ {}{words}", waiting(snapshot)), style(Role::Alert)));
    }
    let stopped = snapshot.stopped_seats.len();
    if stopped > 0 {
        let words = match detail {
            Detail::Full | Detail::NoAddress => format!("{} stopped  ", plural(stopped, "seat")),
            _ => format!("■{stopped} "),
        };
        loud.insert(0, (words, style(Role::Warning)));
    }
    let mut right = vec![];
    if snapshot.stopping {
        right.push(("stopping  ".to_owned(), style(Role::Warning)));
    }
    if detail == Detail::Full {
        let (role, listener) = match (&snapshot.listener, &snapshot.listener_problem) {
            (Some(address), _) => (Role::Dim, crate::text::visible(address)),
            (None, Some(_)) => (Role::Warning, "no listener".into()),
            (None, None) => (Role::Dim, "listener off".into()),
        };
        right.push((format!("{listener}   "), style(role)));
    }
    right.push((draw.now.time_of_day(draw.zone, Precision::Minutes), style(Role::Text)));
    (left, counts(draw, detail), loud, right)
}

fn counts(draw: &Draw<'_>, detail: Detail) -> Spans {
    let words = ["ready", "starting", "backoff", "stopping", "stopped", "disabled", "failed"];
    let mut spans: Spans = Vec::new();
    for word in words {
        let mut of_word = draw.snapshot.servers.iter().filter(|server| server.status.word() == word).peekable();
        let Some(first) = of_word.peek() else { continue };
        let (glyph, role) = status_mark(&first.status);
        let count = of_word.count();
        if !spans.is_empty() {
            spans.push(((if detail < Detail::Numbers { "  " } else { " " }).to_owned(), Style::new()));
        }
        spans.push((format!("{glyph} {count}"), draw.theme.style(role)));
        if detail < Detail::Numbers {
            spans.push((format!(" {word}"), draw.theme.style(if word == "failed" { role } else { Role::Text })));
        }
    }
    spans
}

fn cells(spans: &Spans) -> u16 {
    to_cells(spans.iter().map(|(text, _)| width(text)).sum())
}

fn put_at(buf: &mut Buffer, line: Rect, x: u16, spans: &Spans) {
    let x = x.min(line.width);
    let borrowed: Vec<(&str, Style)> = spans.iter().map(|(text, style)| (text.as_str(), *style)).collect();
    put_spans(buf, Rect { x: line.x + x, width: line.width - x, ..line }, &borrowed);
}

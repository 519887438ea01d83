//! Drawing a card. Reads the card's state and the clock of the frame; decides nothing.

use std::time::Instant;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::decide::{Blocked, Phase};
use super::ending::Word;
use super::face::{LABEL, labelled};
use super::field::{CHIPS, Field};
use super::{ARM_FROM, Card, UNCONFIRMED, View};
use crate::engine::snapshot::Tier;
use crate::tui::Draw;
use crate::tui::theme::Role;
use crate::tui::widgets::border::{Frame as Border, Weight};
use crate::tui::widgets::paint::{Row, Span, clear, clock, fit_row, flow, plural, put, put_rows, wrap};

impl Card {
    /// Draws the card over whatever is there. `at` is the moment of the frame by the clock of key presses.
    pub fn render(&self, screen: Rect, buf: &mut Buffer, draw: &Draw<'_>, at: Instant) {
        let area = self.frame.area.intersection(screen).intersection(*buf.area());
        if area.is_empty() {
            return;
        }
        clear(buf, area);
        if area.width < 8 || area.height < 4 {
            put(buf, area, &[Span::new(Role::Alert, "a call waits: enlarge the terminal")], draw.theme);
            return;
        }
        let (title, right) = (self.title(draw), self.right());
        let border = Border { title: &title, right: &right, role: Role::CardBorder, weight: Weight::Heavy };
        border.draw(buf, area, draw.theme);
        let inside = Rect { x: area.x + 2, y: area.y + 1, width: area.width - 4, height: area.height - 2 };
        let keys = self.keys(at, draw, usize::from(inside.width));
        let keys_at = usize::from(inside.height).saturating_sub(self.frame.keys.max(1));
        if keys_at >= 2 {
            border.rule(buf, area, (keys_at, draw.theme));
        }
        let above = Rect { height: inside.height.min(u16::try_from(keys_at.saturating_sub(1)).unwrap_or(0)), ..inside };
        let below = Rect {
            y: inside.y.saturating_add(u16::try_from(keys_at).unwrap_or(0)),
            height: inside.height.saturating_sub(u16::try_from(keys_at).unwrap_or(0)),
            ..inside
        };
        put_rows(buf, below, &keys, draw.theme);
        match self.view {
            View::Whole if self.frame.fits => put_rows(buf, above, &self.whole(), draw.theme),
            View::Whole => put_rows(buf, above, &self.cramped(usize::from(above.height)), draw.theme),
            View::Arguments => put_rows(buf, above, &self.arguments_only(), draw.theme),
        }
    }

    fn title(&self, draw: &Draw<'_>) -> Row {
        let shown = &self.shown;
        let word = match &self.phase {
            Phase::Over(ending) => return vec![Span::new(ending.role, ending.title)],
            Phase::Sent { word: Word::Approve, .. } => "Approve: sending…",
            Phase::Sent { word: Word::Deny, .. } => "Deny: sending…",
            Phase::Reason(_) => "Deny?",
            Phase::Armed { .. } | Phase::Committing { .. } | Phase::Typing(_) | Phase::Asking => "Approve?",
        };
        let place = match self.place {
            (place, count) if count > 1 => format!("{place} of {count} · "),
            _ => String::new(),
        };
        let waited = clock(draw.now.since(shown.asked_at));
        let left = clock(shown.expires_at.since(draw.now));
        vec![
            Span::new(Role::Title, word),
            Span::new(Role::Text, &format!("  {place}waiting {waited} · expires in {left}")),
        ]
    }

    fn right(&self) -> Row {
        vec![Span::new(Role::Dim, self.shown.call.as_str())]
    }

    /// The whole question: head, a window of arguments, tail.
    fn whole(&self) -> Vec<Row> {
        let mut rows = self.face.head.clone();
        rows.extend(labelled("args", self.window()));
        rows.push(self.about_arguments());
        rows.extend(self.face.tail.iter().cloned());
        rows
    }

    fn arguments_only(&self) -> Vec<Row> {
        let mut rows = self.face.what.clone();
        rows.extend(labelled("args", self.window()));
        rows.push(self.about_arguments());
        rows
    }

    /// What can be said when the question does not fit: first why it cannot be approved, then what there is room for.
    fn cramped(&self, height: usize) -> Vec<Row> {
        let (width, rows) = self.frame.needs;
        let text = format!("too small to approve here: needs {width}x{rows} cells");
        let inside = usize::from(self.frame.area.width).saturating_sub(4);
        let mut all = wrap(&[Span::new(Role::Warning, &text)], inside);
        // Which tool comes first, then the rest as far as it goes.
        let (what, head) = (&self.face.what, &self.face.head);
        let rest = head.iter().filter(|row| !what.contains(row));
        let room = height.saturating_sub(all.len());
        let kept = if head.len() <= room { room } else { room.saturating_sub(1) };
        all.extend(what.iter().chain(rest).take(kept).cloned());
        if head.len() > kept {
            let missing = plural(head.len() - kept, "line");
            all.push(vec![Span::new(Role::Warning, &format!("… {missing} of the question not shown"))]);
        }
        all
    }

    fn window(&self) -> Vec<Row> {
        let rows = self.arguments.rows();
        let last = rows.min(self.scroll + self.frame.window);
        let mut window: Vec<Row> = (self.scroll..last).map(|index| self.arguments.row(index)).collect();
        if rows == 0 && self.frame.window > 0 {
            window.push(vec![Span::new(Role::Dim, "no arguments")]);
        }
        window
    }

    /// Size, what has been seen, hash.
    fn about_arguments(&self) -> Row {
        let (rows, window) = (self.arguments.rows(), self.frame.window);
        let bytes = self.shown.arguments.len_bytes();
        let size = format!("{} · {} · ", plural(self.arguments.fields(), "field"), plural(bytes, "byte"));
        let unseen = rows.saturating_sub(self.seen_to);
        let seen = if rows <= window {
            Span::new(Role::Dim, "all shown")
        } else if !self.seen_end {
            Span::new(Role::Warning, &format!("{} unseen", plural(unseen, "line")))
        } else {
            let last = (self.scroll + window).min(rows);
            Span::new(Role::Dim, &format!("lines {}-{last} of {rows}", self.scroll + 1))
        };
        let hash = format!(" · sha256 {}…", self.shown.arguments.digest().short());
        vec![Span::gap(LABEL), Span::new(Role::Dim, &size), seen, Span::new(Role::Dim, &hash)]
    }

    /// The rows below the rule: what can be pressed, and what there is to say about it.
    fn keys(&self, at: Instant, draw: &Draw<'_>, width: usize) -> Vec<Row> {
        let mut rows = match &self.phase {
            Phase::Reason(field) => self.reason_keys(field, draw, width),
            Phase::Typing(field) => self.typing_keys(field, at, draw),
            Phase::Over(ending) => told(ending.role, &ending.text, width),
            Phase::Committing { .. } => told(Role::Starting, "approving…", width),
            Phase::Sent { at: sent, .. } if at.saturating_duration_since(*sent) < UNCONFIRMED => {
                told(Role::Starting, "sending…", width)
            }
            Phase::Sent { .. } => {
                let text = "the engine has not confirmed it yet: the decision can be given again";
                let mut rows = wrap(&[Span::new(Role::Warning, text)], width);
                rows.extend(line_of(&self.decision_keys(at, draw), width));
                rows
            }
            Phase::Asking | Phase::Armed { .. } => self.asking_keys(at, draw, width),
        };
        if let Some(message) = self.message {
            rows.truncate(self.frame.keys.saturating_sub(1));
            rows.push(fit_row(&[Span::new(Role::Warning, message)], width));
        }
        rows
    }

    fn asking_keys(&self, at: Instant, draw: &Draw<'_>, width: usize) -> Vec<Row> {
        let mut rows = line_of(&self.decision_keys(at, draw), width);
        let more = [("Tab", "next"), ("Esc", "leave pending"), ("?", "help")];
        rows.extend(line_of(&more.map(|(key, meaning)| hint(key, meaning, Role::Key)), width));
        if let Some(why) = self.why_not(at, draw) {
            let why = wrap(&[Span::new(Role::Warning, &why)], width);
            rows.truncate(self.frame.keys.saturating_sub(why.len()));
            rows.extend(why);
        }
        rows
    }

    fn decision_keys(&self, at: Instant, draw: &Draw<'_>) -> Vec<Row> {
        let blocked = self.blocked(at, draw.snapshot);
        if let (Some(armed), None) = (self.armed(at), blocked) {
            let ready = at.saturating_duration_since(armed) >= ARM_FROM;
            let role = if ready { Role::Alert } else { Role::KeyDead };
            return vec![
                vec![Span::new(role, " ARMED: y again runs it, once, as shown ")],
                vec![Span::new(Role::Text, "any other key disarms")],
            ];
        }
        let yes = match self.shown.tier {
            Tier::Press => "approve once",
            Tier::Arm => "arm, then y again: approve once",
            Tier::Type => "type the tool's name to approve",
        };
        let dead = |blocked: bool| if blocked { Role::KeyDead } else { Role::Key };
        let all = if self.view == View::Whole { "all arguments" } else { "whole card" };
        let no_deny = matches!(blocked, Some(Blocked::Dead | Blocked::ReadOnly));
        vec![
            hint("y", yes, dead(blocked.is_some())),
            hint("n", "deny…", dead(no_deny)),
            hint("d", all, dead(blocked == Some(Blocked::Dead))),
        ]
    }

    /// Why a yes does not count now, where that is not plain to see.
    fn why_not(&self, at: Instant, draw: &Draw<'_>) -> Option<String> {
        match self.blocked(at, draw.snapshot)? {
            Blocked::Dead | Blocked::TooSmall => None,
            Blocked::ReadOnly => Some("read-only: nobody can decide here".to_owned()),
            Blocked::ArgumentsOnly => Some("y counts on the whole card only (d)".to_owned()),
            Blocked::Unseen => {
                let unseen = self.arguments.rows().saturating_sub(self.seen_to);
                Some(format!(
                    "y counts after the end of the arguments: {} below (PgDn, End, d)",
                    plural(unseen, "line")
                ))
            }
        }
    }

    fn reason_keys(&self, field: &Field, draw: &Draw<'_>, width: usize) -> Vec<Row> {
        let numbered = CHIPS.iter().zip(1_u8..);
        let chips: Vec<Row> = numbered.map(|(chip, number)| hint(&number.to_string(), chip, Role::Key)).collect();
        let mut rows = vec![self.input("reason ", field, draw)];
        rows.extend(line_of(&chips, width));
        let send = if field.text().trim().is_empty() { "deny without a reason" } else { "deny" };
        rows.truncate(self.frame.keys.saturating_sub(1));
        rows.extend(line_of(&[hint("Enter", send, Role::Key), hint("Esc", "back", Role::Key)], width));
        rows
    }

    fn typing_keys(&self, field: &Field, at: Instant, draw: &Draw<'_>) -> Vec<Row> {
        let matches = field.text().trim() == self.name_to_type().trim();
        let ready = matches && self.blocked(at, draw.snapshot).is_none();
        let role = if ready { Role::Alert } else { Role::KeyDead };
        let mut keys = vec![Span::new(role, " Ctrl-Y runs it, once, as shown "), Span::gap(2)];
        keys.extend(hint("Esc", "back", Role::Key));
        let name = Span::new(Role::Title, &self.shown.entry.raw_name);
        let ask = vec![Span::new(Role::Text, "type the name of the tool: "), name];
        let width = usize::from(self.frame.area.width).saturating_sub(4);
        vec![fit_row(&ask, width), self.input("name ", field, draw), keys]
    }

    /// A field with its end in sight: the cursor is always at the end.
    fn input(&self, label: &str, field: &Field, draw: &Draw<'_>) -> Row {
        let room = usize::from(self.frame.area.width).saturating_sub(4 + label.len() + 2);
        let mut text = Span::new(Role::Text, field.text());
        let mut start = field.text();
        while text.width() > room {
            let mut rest = start.chars();
            rest.next();
            start = rest.as_str();
            text = Span::new(Role::Text, start);
        }
        let cursor = Span::new(Role::Accent, if draw.theme.ascii { "_" } else { "▏" });
        vec![Span::new(Role::Dim, label), text, cursor]
    }
}

/// Something to read, and the ways on.
fn told(role: Role, text: &str, width: usize) -> Vec<Row> {
    let mut rows = wrap(&[Span::new(role, text)], width);
    rows.extend(line_of(&[hint("Tab", "next", Role::Key), hint("Esc", "close", Role::Key)], width));
    rows
}

/// A key with its meaning.
fn hint(key: &str, meaning: &str, role: Role) -> Row {
    let text = if role == Role::KeyDead { Role::KeyDead } else { Role::Text };
    vec![Span::new(role, key), Span::new(text, &format!(" {meaning}"))]
}

/// Keys side by side, each one whole.
fn line_of(hints: &[Row], width: usize) -> Vec<Row> {
    flow(hints, &Span::gap(2), (0, width))
}

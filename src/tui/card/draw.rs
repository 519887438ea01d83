//! Drawing a card. Reads the card's state and the clock of the frame; decides nothing.

use std::time::Instant;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::body::View;
use super::decide::{Blocked, Phase, Whom};
use super::ending::Word;
use super::face::{LABEL, labelled};
use super::field::{CHIPS, Field};
use super::frame::Space;
use super::plan::{self, Act};
use super::{ARM_FROM, Card, UNCONFIRMED};
use crate::engine::snapshot::Tier;
use crate::tui::Draw;
use crate::tui::format::plural;
use crate::tui::theme::Role;
use crate::tui::widgets::border::{Frame as Border, Weight};
use crate::tui::widgets::cells::clear;
use crate::tui::widgets::paint::{Row, Span, clock, fit_row, flow, put, put_rows, wrap, wrap_capped};

impl Card {
    /// Draws the card over whatever is there. `at` is the moment of the frame by the clock of key presses.
    pub fn render(&self, screen: Rect, buf: &mut Buffer, draw: &Draw<'_>, at: Instant) {
        let area = self.frame.area.intersection(screen).intersection(*buf.area());
        if area.is_empty() {
            return;
        }
        if let Some(editor) = &self.plan.editor {
            let right = if matches!(self.phase, Phase::Over(_)) {
                vec![Span::new(Role::Alert, " the call waits no more: Esc ")]
            } else {
                vec![Span::new(Role::Text, &format!("expires in {}", clock(self.shown.expires_at.since(draw.now))))]
            };
            return editor.render_with(screen, buf, (draw, &right));
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
        match self.body.view {
            View::Whole if self.frame.space == Space::Result => put_rows(buf, above, &self.part(), draw.theme),
            View::Whole if self.frame.fits => put_rows(buf, above, &self.whole(), draw.theme),
            View::Whole => put_rows(buf, above, &self.cramped(usize::from(above.height)), draw.theme),
            View::Arguments | View::Definition | View::Choices => put_rows(buf, above, &self.part(), draw.theme),
        }
    }

    fn title(&self, draw: &Draw<'_>) -> Row {
        let shown = &self.shown;
        let word = match &self.phase {
            Phase::Over(ending) => return vec![Span::new(ending.role, ending.title)],
            Phase::Sent { word: Word::Approve, .. } => "Approve: sending…",
            Phase::Sent { word: Word::Deny, .. } => "Deny: sending…",
            Phase::Reason(_, Whom::This) => "Deny?",
            Phase::Reason(_, Whom::AllOfTool) => "Deny all?",
            _ if self.body.is_edited() => "Approve your edit?",
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
        rows.extend(self.window_rows());
        rows.extend(self.face.tail.iter().cloned());
        rows
    }

    /// One part of the question on all of the card.
    fn part(&self) -> Vec<Row> {
        let mut rows = self.face.what.clone();
        rows.extend(self.window_rows());
        rows
    }

    /// What is shown in the window, and the row about it.
    fn window_rows(&self) -> Vec<Row> {
        let label = match self.body.view {
            View::Definition => "tool",
            View::Choices => "",
            View::Whole if self.body.has_result() => "result",
            View::Whole | View::Arguments if self.body.is_edited() => "edit",
            View::Whole | View::Arguments => "args",
        };
        let mut window = self.body.window();
        if self.body.place().2 == 0 && self.frame.window > 0 {
            let nothing = if label == "result" { "an empty result" } else { "no arguments" };
            window.push(vec![Span::new(Role::Dim, nothing)]);
        }
        let mut rows = labelled(label, window);
        rows.push(self.about_window());
        rows
    }

    /// What can be said when the question does not fit: first why it cannot be approved, then what there is room for.
    fn cramped(&self, height: usize) -> Vec<Row> {
        let (width, rows) = self.frame.needs;
        let text = format!("too small to approve here: needs {width}x{rows} cells");
        let inside = usize::from(self.frame.area.width).saturating_sub(4);
        let over = matches!(self.phase, Phase::Over(_));
        let mut all = if over { Vec::new() } else { wrap(&[Span::new(Role::Warning, &text)], inside) };
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

    /// Size, what has been seen, hash; for other things than arguments only where one is in them.
    fn about_window(&self) -> Row {
        let (top, bottom, rows) = self.body.place();
        let lines = format!("lines {}-{bottom} of {rows}", top + 1);
        let of_result = self.body.view == View::Whole && self.body.has_result();
        if of_result || matches!(self.body.view, View::Definition | View::Choices) {
            let lines = if bottom - top == rows { "all shown".to_owned() } else { lines };
            let more = if of_result { format!("{lines} · the arguments: d") } else { lines };
            return vec![Span::gap(LABEL), Span::new(Role::Dim, &more)];
        }
        let edited = self.plan.edited.as_ref();
        let bytes = edited.map_or(self.shown.arguments.len_bytes(), crate::tool::Arguments::len_bytes);
        let digest = edited.map_or(self.shown.arguments.digest(), crate::tool::Arguments::digest);
        let fields = self.body.json().map_or(0, crate::tui::widgets::json_view::JsonView::fields);
        let size = match edited {
            None => format!("{} · {} · ", plural(fields, "field"), plural(bytes, "byte")),
            Some(_) => format!("- as asked, + as edited · {} · ", plural(bytes, "byte")),
        };
        let seen = if bottom - top == rows {
            Span::new(Role::Dim, "all shown")
        } else if !self.body.seen_end() {
            Span::new(Role::Warning, &format!("{} unseen", plural(self.body.unseen(), "line")))
        } else {
            Span::new(Role::Dim, &lines)
        };
        let hash = format!(" · sha256 {}…", digest.short());
        vec![Span::gap(LABEL), Span::new(Role::Dim, &size), seen, Span::new(Role::Dim, &hash)]
    }

    /// The rows below the rule: what can be pressed, and what there is to say about it.
    fn keys(&self, at: Instant, draw: &Draw<'_>, width: usize) -> Vec<Row> {
        let mut rows = match &self.phase {
            _ if self.body.search.field().is_some() => self.search_keys(width),
            Phase::Reason(field, whom) => self.reason_keys(field, *whom, draw, width),
            Phase::Typing(field) => self.typing_keys(field, at, draw),
            Phase::Over(ending) if self.body.view == View::Whole => {
                let keys = [hint("Enter Esc q", "close", Role::Key)];
                self.told((ending.role, &ending.text), keys.into_iter().chain(self.next_key()), width)
            }
            _ if self.body.view != View::Whole => self.part_keys(width),
            Phase::Committing { .. } => self.told((Role::Starting, "approving…"), self.leaving_keys(), width),
            Phase::Sent { at: sent, .. } if at.saturating_duration_since(*sent) < UNCONFIRMED => {
                self.told((Role::Starting, "sending…"), self.leaving_keys(), width)
            }
            Phase::Sent { .. } => {
                let text = "the engine has not confirmed it yet: the decision can be given again";
                let mut rows = wrap(&[Span::new(Role::Warning, text)], width);
                rows.extend(line_of(&self.decision_keys(at, draw), width));
                rows
            }
            Phase::Asking | Phase::Armed { .. } | Phase::Over(_) => self.asking_keys(at, draw, width),
        };
        if let Some(message) = &self.message {
            rows.truncate(self.frame.keys.saturating_sub(1));
            rows.push(fit_row(&[Span::new(Role::Warning, message)], width));
        }
        rows
    }

    fn asking_keys(&self, at: Instant, draw: &Draw<'_>, width: usize) -> Vec<Row> {
        let mut keys = self.decision_keys(at, draw);
        if self.armed(at).is_none() || self.blocked(at, draw.snapshot).is_some() {
            keys.extend(self.next_key());
            keys.push(hint("Esc", "leave pending", Role::Key));
            keys.push(hint("?", "help", Role::Key));
        }
        let mut rows = line_of(&keys, width);
        let mut notes = Vec::new();
        if let Some(remember) = self.plan.remember {
            let text = format!("y lets run without asking again: {}", plan::words(&self.shown, remember));
            notes.extend(wrap_capped(&[Span::new(Role::Warning, &text)], width, 2));
        }
        if let Some(why) = &self.plan.unchecked {
            notes.extend(wrap_capped(
                &[Span::new(Role::Warning, &format!("your edit is not checked: {why}"))],
                width,
                1,
            ));
        }
        if let Some(why) = self.why_not(at, draw) {
            notes.extend(wrap(&[Span::new(Role::Warning, &why)], width));
        }
        rows.truncate(self.frame.keys.saturating_sub(notes.len()));
        rows.extend(notes);
        rows
    }

    /// Something to read, and the ways on.
    fn told(&self, (role, text): (Role, &str), keys: impl IntoIterator<Item = Row>, width: usize) -> Vec<Row> {
        let keys = line_of(&keys.into_iter().collect::<Vec<_>>(), width);
        let room = self.frame.keys.saturating_sub(keys.len()).max(1);
        let mut rows = wrap_capped(&[Span::new(role, text)], width, room);
        rows.extend(keys);
        rows
    }

    fn leaving_keys(&self) -> Vec<Row> {
        self.next_key().into_iter().chain([hint("Esc", "close", Role::Key)]).collect()
    }

    /// The key to the next question, when there is another one.
    fn next_key(&self) -> Option<Row> {
        let (place, count) = self.place;
        (count > usize::from(place > 0)).then(|| hint("Tab", "next", Role::Key))
    }

    fn decision_keys(&self, at: Instant, draw: &Draw<'_>) -> Vec<Row> {
        let blocked = self.blocked(at, draw.snapshot);
        if let (Some((armed, act)), None) = (self.armed(at), blocked) {
            let ready = at.saturating_duration_since(armed) >= ARM_FROM;
            let role = if ready { Role::Alert } else { Role::KeyDead };
            let text = match act {
                Act::One if self.plan.edited.is_some() => " ARMED: y again runs it, once, as you edited it ".to_owned(),
                Act::One if self.plan.remember.is_some() => " ARMED: y again runs it and remembers it ".to_owned(),
                Act::One => " ARMED: y again runs it, once, as shown ".to_owned(),
                Act::All(all) => format!(" ARMED: b again runs all {} waiting calls of this tool ", all.len()),
            };
            return vec![vec![Span::new(role, &text)], vec![Span::new(Role::Text, "any other key disarms")]];
        }
        let yes = match self.shown.tier {
            Tier::Press if self.plan.is_plain() => "approve once",
            Tier::Press | Tier::Arm if self.plan.remember.is_some() => "arm, then y again: approve and remember",
            Tier::Press => "approve once, as edited",
            Tier::Arm if self.plan.edited.is_some() => "arm, then y again: approve once, as edited",
            Tier::Arm => "arm, then y again: approve once",
            Tier::Type => "type the tool's name to approve",
        };
        let dead = |blocked: bool| if blocked { Role::KeyDead } else { Role::Key };
        let off = matches!(blocked, Some(Blocked::Dead | Blocked::ReadOnly));
        let fixed = off || self.shown.arguments.hidden() > 0;
        let unremembered =
            off || self.shown.tier == Tier::Type || self.shown.caller.is_worker() || self.plan.edited.is_some();
        let mut keys = vec![
            hint("y", yes, dead(blocked.is_some())),
            hint("n", "deny…", dead(off)),
            hint("e", "edit", dead(fixed)),
            hint("d", "all arguments", Role::Key),
            hint("t", "definition", Role::Key),
            hint("r", "remember…", dead(unremembered)),
            hint("x", "stop seat…", dead(off || self.shown.caller.seat().is_none())),
        ];
        if blocked == Some(Blocked::TooSmall) {
            // What cannot be done here gives its room to the words above.
            let kept = [false, !off, false, true, true, false, !off && self.shown.caller.seat().is_some()];
            return keys.into_iter().zip(kept).filter_map(|(key, kept)| kept.then_some(key)).collect();
        }
        if blocked == Some(Blocked::ReadOnly) {
            // Nothing here can be decided, now or later: no key says otherwise.
            let kept = [false, false, false, true, true, false, false];
            return keys.into_iter().zip(kept).filter_map(|(key, kept)| kept.then_some(key)).collect();
        }
        if self.shown.caller.seat().is_none() {
            // The person's own call: there is no seat to stop.
            keys.pop();
        }
        let alike = plan::alike(&self.shown, draw.snapshot).count();
        if alike > 1 {
            keys.push(hint("b", &format!("approve all {alike}"), dead(blocked.is_some())));
            keys.push(hint("N", &format!("deny all {alike}…"), dead(off)));
        }
        keys
    }

    /// Why a yes does not count now, where that is not plain to see.
    fn why_not(&self, at: Instant, draw: &Draw<'_>) -> Option<String> {
        match self.blocked(at, draw.snapshot)? {
            Blocked::Dead | Blocked::TooSmall | Blocked::PartOnly => None,
            Blocked::ReadOnly => Some("read-only: nobody can decide here".to_owned()),
            Blocked::ChangeUnseen => {
                Some("y counts after the difference in the definition has been seen (t)".to_owned())
            }
            Blocked::Unseen => {
                let what = if self.body.is_edited() { "your edit" } else { "the arguments" };
                let unseen = plural(self.body.unseen(), "line");
                Some(format!("y counts after the end of {what}: {unseen} below (PgDn, End, d)"))
            }
        }
    }

    /// The keys while one part is on all of the card. Nothing is decided there.
    fn part_keys(&self, width: usize) -> Vec<Row> {
        let mut keys = vec![hint("Esc", "whole card", Role::Key)];
        if self.body.view == View::Choices {
            keys.insert(0, hint("1-6, 0", "choose", Role::Key));
        } else {
            keys.push(hint("PgDn PgUp End", "scroll", Role::Key));
            keys.push(hint("/", "search", Role::Key));
            if self.body.search.is_active() {
                keys.push(hint("n N", &format!("next, previous \"{}\"", self.body.search.text()), Role::Key));
            }
        }
        keys.push(hint("?", "help", Role::Key));
        line_of(&keys, width)
    }

    fn search_keys(&self, width: usize) -> Vec<Row> {
        let text = self.body.search.field().map(crate::tui::widgets::input::Input::text).unwrap_or_default();
        let field = [Span::new(Role::Dim, "search "), Span::new(Role::Text, &text), Span::new(Role::Accent, "▏")];
        let mut rows = vec![fit_row(&field, width)];
        rows.extend(line_of(&[hint("Enter", "find", Role::Key), hint("Esc", "leave", Role::Key)], width));
        rows
    }

    fn reason_keys(&self, field: &Field, whom: Whom, draw: &Draw<'_>, width: usize) -> Vec<Row> {
        let numbered = CHIPS.iter().zip(1_u8..);
        let chips: Vec<Row> = numbered.map(|(chip, number)| hint(&number.to_string(), chip, Role::Key)).collect();
        let mut rows = vec![self.input("reason ", field, draw)];
        rows.extend(line_of(&chips, width));
        let all = match whom {
            Whom::This => String::new(),
            Whom::AllOfTool => format!(" all {}", plan::alike(&self.shown, draw.snapshot).count()),
        };
        let without = if field.text().trim().is_empty() { " without reason" } else { "" };
        let send = format!("deny{all}{without}");
        rows.truncate(self.frame.keys.saturating_sub(1));
        rows.extend(line_of(&[hint("Enter", &send, Role::Key), hint("Esc", "back", Role::Key)], width));
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

/// A key with its meaning.
fn hint(key: &str, meaning: &str, role: Role) -> Row {
    let text = if role == Role::KeyDead { Role::KeyDead } else { Role::Text };
    vec![Span::new(role, key), Span::new(text, &format!(" {meaning}"))]
}

/// Keys side by side, each one whole.
fn line_of(hints: &[Row], width: usize) -> Vec<Row> {
    flow(hints, &Span::gap(2), (0, width))
}

//! Drawing a server's question. What the server says never stands where something of ours would: it is quoted, and the
//! line that warns of it is ours and always there.

use std::time::Instant;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::field::Filling;
use super::{Phase, Sheet, Word};
use crate::tool::elicit::{Choice, Field, Format, Grain, Kind, Need};
use crate::tui::Draw;
use crate::tui::theme::Role;
use crate::tui::widgets::badge;
use crate::tui::widgets::border::{Frame, Weight};
use crate::tui::widgets::cells::{clear, to_cells};
use crate::tui::widgets::paint::{Row, Span, clock, fit_row, flow, line, put_rows, row_width, wrap, wrap_capped};

/// The widest form.
const MAX_WIDTH: u16 = 88;
/// The highest one.
const MAX_HEIGHT: u16 = 32;
/// The widest column of labels.
const MAX_LABEL: usize = 24;
/// Rows kept for what is said about the field with the focus.
const DETAILS: usize = 4;
/// Below this height no row is left blank for looks.
const ROOMY: u16 = 18;
/// Rows of keys and messages.
const KEYS: usize = 3;
/// What always stands there: form fields are no place for secrets, whoever asks for them.
const WARNING: &str = "the server asks for this; do not enter passwords or tokens";

/// The middle: what can be scrolled.
struct Middle {
    rows: Vec<Row>,
    /// The rows of the field with the focus.
    focused: std::ops::Range<usize>,
    /// Where its text is written.
    input: Option<(usize, usize)>,
}

impl Sheet {
    /// Draws the form over whatever is there.
    pub fn render(&self, screen: Rect, buf: &mut Buffer, draw: &Draw<'_>, at: Instant) {
        let area = self.area().intersection(screen).intersection(*buf.area());
        if area.width < 8 || area.height < 4 {
            return;
        }
        clear(buf, area);
        let (title, right) = (self.title(draw), self.right());
        let frame = Frame { title: &title, right: &right, role: Role::BorderFocused, weight: Weight::Thin };
        frame.draw(buf, area, draw.theme);
        let inside = inside(area);
        let width = usize::from(inside.width);
        let head = self.head(width);
        put_rows(buf, inside, &head, draw.theme);
        let middle = self.middle(width);
        let window = self.window();
        let top = self.top();
        let body = Rect {
            y: inside.y.saturating_add(to_cells(head.len())),
            height: to_cells(window).min(inside.height.saturating_sub(to_cells(head.len()))),
            ..inside
        };
        put_rows(buf, body, middle.rows.iter().skip(top), draw.theme);
        if let (Some((row, column)), Some(Filling::Text(input))) = (middle.input, self.fields.get(self.focus))
            && let Some(place) = row.checked_sub(top).and_then(|down| line(body, down))
            && self.is_filling()
        {
            let left = to_cells(column).min(place.width);
            let place = Rect { x: place.x + left, width: place.width - left, ..place };
            input.render(buf, place, draw.theme.style(Role::Text));
        }
        let below = Rect { y: body.bottom(), height: inside.bottom().saturating_sub(body.bottom()), ..inside };
        put_rows(buf, below, &self.foot(width, at, (top, window, middle.rows.len())), draw.theme);
    }

    fn area(&self) -> Rect {
        let screen = self.screen;
        let width = screen.width.min(MAX_WIDTH);
        let inner = usize::from(width).saturating_sub(4);
        let words: usize = self.view.form.message.iter().map(|line| quoted(line, inner).len()).sum();
        let wanted = 2 + self.head(inner).len() + 2 + words + self.fields.len() + DETAILS + KEYS;
        let height = screen.height.min(to_cells(wanted).min(MAX_HEIGHT));
        Rect { x: screen.x + (screen.width - width) / 2, y: screen.y + (screen.height - height) / 2, width, height }
    }

    /// Rows of the middle on the screen.
    pub(super) fn window(&self) -> usize {
        let inside = inside(self.area());
        usize::from(inside.height).saturating_sub(self.head(usize::from(inside.width)).len() + KEYS)
    }

    /// The first row of the middle that is shown.
    pub(super) fn top(&self) -> usize {
        let width = usize::from(inside(self.area()).width);
        let (middle, window) = (self.middle(width), self.window());
        let most = middle.rows.len().saturating_sub(window);
        match self.scrolled {
            Some(top) => top.min(most),
            // The end of the focused field is in sight, and its beginning before that.
            None => middle.focused.end.saturating_sub(window).min(middle.focused.start).min(most),
        }
    }

    fn title(&self, draw: &Draw<'_>) -> Row {
        let server = self.view.server.as_str();
        if let Phase::Over { title, role, .. } = &self.phase {
            return vec![Span::new(*role, title), Span::new(Role::Text, &format!(": {server} asked you"))];
        }
        let waited = clock(draw.now.since(self.view.asked_at));
        let left = clock(self.view.expires_at.since(draw.now));
        vec![
            Span::new(Role::Title, &format!("{server} asks you")),
            Span::new(Role::Text, &format!("  waiting {waited} · expires in {left}")),
        ]
    }

    fn right(&self) -> Row {
        match self.place {
            (place, count) if count > 1 && place > 0 => vec![Span::new(Role::Dim, &format!("{place} of {count}"))],
            _ => Row::new(),
        }
    }

    /// Who asks and during what, and the standing warning: ours, and always on the screen.
    fn head(&self, width: usize) -> Vec<Row> {
        let view = &self.view;
        let mut who = vec![Span::new(Role::Dim, "server "), Span::new(Role::Text, view.server.as_str())];
        if view.connection.as_str() != view.server.as_str() {
            who.push(Span::new(Role::Dim, &format!(" on {}", view.connection)));
        }
        let during = match view.during.as_slice() {
            [] => "no call that is known".to_owned(),
            [call] => format!("{} · {}", call.tool, badge::caller_long(&call.caller)),
            calls => {
                let tools: Vec<&str> = calls.iter().map(|call| &*call.tool).collect();
                format!("one of {} calls: {}", calls.len(), tools.join(", "))
            }
        };
        let during = [Span::new(Role::Dim, "during "), Span::new(Role::Text, &during)];
        let mut rows = vec![fit_row(&who, width), fit_row(&during, width)];
        rows.extend(wrap(&[Span::new(Role::Warning, WARNING)], width));
        rows
    }

    fn middle(&self, width: usize) -> Middle {
        let mut rows = if self.screen.height < ROOMY { Vec::new() } else { vec![Row::new()] };
        for line in &self.view.form.message {
            rows.extend(quoted(line, width));
        }
        rows.push(Row::new());
        let labels = self.view.form.fields.iter().map(|field| label(field).iter().map(Span::width).sum::<usize>());
        let column = labels.max().unwrap_or(0).min(MAX_LABEL).min(width / 2) + 3;
        let (mut focused, mut input) = (0..rows.len(), None);
        for (place, (field, filling)) in self.view.form.fields.iter().zip(&self.fields).enumerate() {
            let start = rows.len();
            let here = place == self.focus && self.is_filling();
            let mut row = vec![Span::new(Role::Accent, if here { "▸ " } else { "  " })];
            row.extend(fit_row(&label(field), column.saturating_sub(3)));
            row.push(Span::gap(column.saturating_sub(row_width(&row))));
            row.extend(value(field, filling, here));
            rows.push(fit_row(&row, width));
            for wrong in self.wrong.iter().filter(|wrong| wrong.field == place) {
                rows.extend(indented(wrap_capped(&[Span::new(Role::Failed, &wrong.text)], width.saturating_sub(4), 2)));
            }
            if here {
                rows.extend(indented(details(field, filling, width.saturating_sub(4))));
                input = matches!(filling, Filling::Text(_)).then_some((start, column));
                focused = start..rows.len();
            }
        }
        Middle { rows, focused, input }
    }

    fn foot(&self, width: usize, at: Instant, (top, window, rows): (usize, usize, usize)) -> Vec<Row> {
        let mut foot = Vec::new();
        match &self.phase {
            Phase::Over { text, role, word, .. } => {
                foot.extend(wrap_capped(&[Span::new(*role, text)], width, 2));
                foot.push(key(if word.is_some() { "Enter Esc q" } else { "Esc" }, "close", Role::Key));
                return foot;
            }
            Phase::Sent { word, .. } => {
                let text = match word {
                    Word::Accept => "sending…",
                    Word::Decline => "declining…",
                    Word::Cancel => "cancelling…",
                };
                return vec![vec![Span::new(Role::Starting, text)], key("Esc", "leave", Role::Key)];
            }
            Phase::Filling => {}
        }
        let role = if at < self.live_at { Role::KeyDead } else { Role::Key };
        let mut keys = vec![
            key("Ctrl-S", "send", role),
            key("Ctrl-D", "decline", role),
            key("Ctrl-X", "cancel", role),
            key("Esc", "leave waiting", Role::Key),
        ];
        match self.fields.get(self.focus) {
            Some(Filling::Text(_)) | None => {}
            Some(Filling::Many(..)) => keys.push(key("Left Right Space", "choose", role)),
            Some(Filling::Switch(_) | Filling::One(_)) => keys.push(key("Left Right", "choose", role)),
        }
        if self.fields.len() > 1 {
            keys.push(key("Tab", "next field", role));
        }
        if rows > window {
            keys.push(key("PgDn PgUp", &format!("{}-{} of {rows}", top + 1, (top + window).min(rows)), Role::Key));
        }
        foot.extend(flow(&keys, &Span::gap(2), (0, width)));
        if let Some(message) = &self.message {
            foot.truncate(KEYS - 1);
            foot.insert(0, fit_row(&[Span::new(Role::Failed, message)], width));
        }
        foot
    }
}

fn inside(area: Rect) -> Rect {
    Rect {
        x: area.x.saturating_add(2),
        y: area.y.saturating_add(1),
        width: area.width.saturating_sub(4),
        height: area.height.saturating_sub(2),
    }
}

/// A line of the server's words, each row of it behind a mark that says so.
fn quoted(line: &str, width: usize) -> Vec<Row> {
    let mut rows = wrap(&[Span::new(Role::Text, line)], width.saturating_sub(2));
    for row in &mut rows {
        row.insert(0, Span::new(Role::Dim, "> "));
    }
    rows
}

fn indented(mut rows: Vec<Row>) -> Vec<Row> {
    for row in &mut rows {
        row.insert(0, Span::gap(4));
    }
    rows
}

fn label(field: &Field) -> Row {
    let mut row = vec![Span::new(Role::Text, &field.label)];
    if field.need == Need::Required {
        row.push(Span::new(Role::Accent, "*"));
    }
    row
}

/// What stands in a field.
fn value(field: &Field, filling: &Filling, here: bool) -> Row {
    let nothing = |words: &str| vec![Span::new(Role::Dim, words)];
    let chosen = |label: &str| {
        if here {
            vec![Span::new(Role::Key, "< "), Span::new(Role::Text, label), Span::new(Role::Key, " >")]
        } else {
            vec![Span::new(Role::Text, label)]
        }
    };
    match (filling, &field.kind) {
        // The field's own cursor is drawn over this.
        (Filling::Text(input), _) if !input.is_empty() => vec![Span::new(Role::Text, &input.text())],
        (Filling::Text(_), _) if here => Row::new(),
        (Filling::Text(_), _) => nothing("empty"),
        (Filling::Switch(Some(on)), _) => chosen(if *on { "yes" } else { "no" }),
        (Filling::One(Some(place)), Kind::One { choices, .. }) => {
            let mut row = chosen(choices.get(*place).map_or("?", |choice| &choice.label));
            row.push(Span::new(Role::Dim, &format!("  {} of {}", place + 1, choices.len())));
            row
        }
        (Filling::Switch(None) | Filling::One(_), _) if here => chosen("not chosen"),
        (Filling::Switch(None) | Filling::One(_), _) => nothing("not chosen"),
        (Filling::Many(chosen, _), _) if chosen.is_empty() => nothing("none chosen"),
        (Filling::Many(chosen, _), Kind::Many { choices, .. }) => {
            let labels = chosen.iter().filter_map(|place| choices.get(*place)).map(|choice| &*choice.label);
            vec![Span::new(Role::Text, &labels.collect::<Vec<_>>().join(", "))]
        }
        (Filling::Many(..), _) => Row::new(),
    }
}

/// What is said about the field with the focus, and what there is to choose from.
fn details(field: &Field, filling: &Filling, width: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    if !field.about.is_empty() {
        let about = [Span::new(Role::Dim, "> "), Span::new(Role::Dim, &field.about)];
        rows.extend(wrap_capped(&about, width, 3));
    }
    if let Some(rule) = rule(field) {
        rows.extend(wrap_capped(&[Span::new(Role::Dim, &rule)], width, 1));
    }
    match (filling, &field.kind) {
        (Filling::One(chosen), Kind::One { choices, .. }) => rows.extend(listed(choices, width, |place| {
            if *chosen == Some(place) { ("(x) ", Role::Text) } else { ("( ) ", Role::Dim) }
        })),
        (Filling::Many(chosen, at), Kind::Many { choices, .. }) => rows.extend(listed(choices, width, |place| {
            let role = if place == *at { Role::Accent } else { Role::Dim };
            (if chosen.contains(&place) { "[x] " } else { "[ ] " }, role)
        })),
        _ => {}
    }
    rows
}

fn listed(choices: &[Choice], width: usize, mark: impl Fn(usize) -> (&'static str, Role)) -> Vec<Row> {
    let item = |(place, choice): (usize, &Choice)| {
        let (mark, role) = mark(place);
        vec![Span::new(role, mark), Span::new(role, &choice.label)]
    };
    let items: Vec<Row> = choices.iter().enumerate().map(item).collect();
    flow(&items, &Span::gap(2), (0, width))
}

/// What the field takes, in words; nothing where anything of its kind will do.
fn rule(field: &Field) -> Option<String> {
    let between = |least: Option<String>, most: Option<String>| match (least, most) {
        (Some(least), Some(most)) => Some(format!("{least} to {most}")),
        (Some(least), None) => Some(format!("{least} or more")),
        (None, Some(most)) => Some(format!("at most {most}")),
        (None, None) => None,
    };
    let text = |number: &Option<u64>| number.map(|number| number.to_string());
    match &field.kind {
        Kind::Text { length, format, .. } => {
            let length = between(text(&length.0), text(&length.1)).map(|range| format!("{range} characters"));
            let parts: Vec<String> = format.map(Format::words).map(str::to_owned).into_iter().chain(length).collect();
            (!parts.is_empty()).then(|| parts.join(", "))
        }
        Kind::Number { grain, range, .. } => {
            let what = if *grain == Grain::Whole { "a whole number" } else { "a number" };
            let range = between(range.0.map(|n| n.to_string()), range.1.map(|n| n.to_string()));
            Some(range.map_or_else(|| what.to_owned(), |range| format!("{what}, {range}")))
        }
        Kind::Many { count, .. } => between(text(&count.0), text(&count.1)).map(|range| format!("{range} of them")),
        Kind::Switch { .. } | Kind::One { .. } => None,
    }
}

/// A key with its meaning.
fn key(name: &str, meaning: &str, role: Role) -> Row {
    let words = if role == Role::KeyDead { Role::KeyDead } else { Role::Text };
    vec![Span::new(role, name), Span::new(words, &format!(" {meaning}"))]
}

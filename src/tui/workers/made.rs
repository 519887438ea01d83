//! A worker that was just made: where it comes in, what it has, and, once a key asked for it, its token with lines to
//! paste.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{fact, foot, scrolled};
use crate::engine::snapshot::{Snapshot, WorkerView};
use crate::howto::{self, HowTo};
use crate::ids::WorkerId;
use crate::secret::Secret;
use crate::tui::Draw;
use crate::tui::format::plural;
use crate::tui::intent::{Effect, Intent};
use crate::tui::theme::Role;
use crate::tui::widgets::paint::{Row, Span, put_rows, wrap};
use crate::tui::widgets::panel::Scroll;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Made {
    worker: Arc<WorkerView>,
    token: Token,
    is_over: bool,
    rows: Vec<Row>,
    top: usize,
    height: usize,
}

/// Whether its token is on the screen.
#[derive(Clone, Debug)]
enum Token {
    Hidden,
    Shown(Secret),
    /// It was given out already.
    Gone,
}

impl Made {
    pub(super) const fn of(worker: Arc<WorkerView>) -> Self {
        Self { worker, token: Token::Hidden, is_over: false, rows: Vec::new(), top: 0, height: 0 }
    }

    pub(super) fn layout(&mut self, inside: Rect, snapshot: &Snapshot) {
        self.is_over = snapshot.workers.iter().all(|worker| worker.id != self.worker.id);
        if self.is_over {
            self.token = Token::Gone;
        }
        self.rows = self.facts(usize::from(inside.width));
        self.height = usize::from(inside.height).saturating_sub(2);
        self.top = self.top.min(self.rows.len().saturating_sub(self.height));
    }

    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn apply(&mut self, intent: Intent) -> Option<Effect> {
        let page = self.height.saturating_sub(1).max(1);
        match intent {
            Intent::Reveal if matches!(self.token, Token::Hidden) => {
                return Some(Effect::Reveal(self.worker.id.clone()));
            }
            Intent::Copy => return Some(self.copied()),
            Intent::Up => self.top = self.top.saturating_sub(1),
            Intent::Down => self.top += 1,
            Intent::PageUp => self.top = self.top.saturating_sub(page),
            Intent::PageDown => self.top += page,
            _ => {}
        }
        None
    }

    pub(super) fn reveal(&mut self, id: &WorkerId, token: Option<Secret>) {
        if *id == self.worker.id {
            self.token = token.map_or(Token::Gone, Token::Shown);
        }
    }

    pub(super) fn scroll(&self) -> Option<Scroll> {
        (self.rows.len() > self.height).then_some(scrolled(self.top, self.height, self.rows.len()))
    }

    pub(super) fn render(&self, inside: Rect, buf: &mut Buffer, draw: &Draw<'_>) {
        let keys: &[(&str, &str)] = match self.token {
            Token::Hidden => &[("t", "show its token"), ("c", "copy the lines"), ("Esc", "close for good")],
            Token::Shown(_) => &[("c", "copy the lines with the token"), ("Esc", "close for good")],
            Token::Gone => &[("c", "copy the lines"), ("Esc", "close")],
        };
        let body = foot(inside, keys, buf, draw);
        put_rows(buf, body, self.rows.iter().skip(self.top), draw.theme);
    }

    fn copied(&self) -> Effect {
        let blocks: Vec<String> =
            self.lines().iter().map(|how| format!("# {}\n{}\n", how.heading(), how.text)).collect();
        Effect::Copy(blocks.concat().into())
    }

    fn lines(&self) -> Vec<HowTo> {
        let token = if let Token::Shown(token) = &self.token { Some(token.expose()) } else { None };
        howto::for_worker(&self.worker.url, self.worker.id.as_str(), token)
    }

    fn facts(&self, width: usize) -> Vec<Row> {
        let worker = &self.worker;
        let text = |text: &str| Span::new(Role::Text, text);
        let mut rows = Vec::new();
        let mut add = |label: &str, spans: &[Span]| rows.extend(fact(label, spans, width));
        let minutes = plural(usize::try_from(worker.ends.since(worker.since).as_secs() / 60).unwrap_or(0), "minute");
        add("worker", &[Span::new(Role::Title, worker.id.as_str()), text(&format!("  for {minutes}"))]);
        if self.is_over {
            add("", &[Span::new(Role::Warning, "it has ended: nobody comes in by it any more")]);
        }
        add("url", &[text(&worker.url)]);
        add(
            "token",
            &[match &self.token {
                Token::Hidden => Span::new(Role::Dim, "not shown: t shows it, here and only now"),
                Token::Shown(token) => Span::new(Role::Accent, token.expose()),
                Token::Gone => Span::new(Role::Dim, "not to be had any more"),
            }],
        );
        let tools = if worker.tools.is_empty() { "none".to_owned() } else { worker.tools.join(", ") };
        add("tools", &[text(&tools)]);
        for (name, barred) in &worker.barred {
            add("refused", &[Span::new(Role::Warning, name), text(&format!("  {barred}"))]);
        }
        for how in self.lines() {
            rows.push(Row::new());
            rows.push(vec![Span::new(Role::Accent, &how.heading())]);
            rows.extend(wrap(&[text(&how.text)], width));
        }
        rows
    }
}

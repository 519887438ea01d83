//! The time of one frame, without a terminal: the whole path from a new snapshot to the bytes, against a plain
//! ratatui screen of the same size and shape.

use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use crewlet_tui::clock::Timestamp;
use crewlet_tui::config::model::TuiSettings;
use crewlet_tui::engine::snapshot::{LineKind, Snapshot, StderrLine};
use crewlet_tui::ids::{ConnectionName, ServerName};
use crewlet_tui::tool::{Catalog, Hint};
use crewlet_tui::tui::Draw;
use crewlet_tui::tui::msg::{Moment, Msg};
use crewlet_tui::tui::terminal::painter::Painter;
use crewlet_tui::tui::theme::Theme;
use crewlet_tui::tui::ui::Ui;
use jiff::tz::TimeZone;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Block, List, ListState, Paragraph, Row, Table};
use ratatui::{Terminal, TerminalOptions, Viewport};

use super::{Bench, median, row};

#[path = "../../tests/support/sample.rs"]
#[allow(
    dead_code,
    clippy::unwrap_used,
    clippy::wildcard_imports,
    reason = "the same hand-made company as the golden screens"
)]
mod sample;

const FRAMES: usize = 1_000;
const SIZE: Rect = Rect { x: 0, y: 0, width: 120, height: 40 };

/// A writer that only counts.
struct Counter(usize);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Frames while stderr scrolls, with 5,000 tools loaded.
pub fn frame(_: &Bench) {
    let (ours, floor) = (ours(), floor());
    row("frame: p50, stderr scrolling", median(ours.clone()), Some(median(floor.clone())), "ms");
    row("frame: p99, stderr scrolling", p99(ours), Some(p99(floor)), "ms");
}

/// The company of the golden screens, grown: many servers, one of them with many lines, and many tools.
fn crowded(servers: usize, tools: usize) -> Snapshot {
    let mut snapshot = sample::calm();
    let first = snapshot.servers[0].clone();
    snapshot.servers = (0..servers)
        .map(|index| {
            let mut server = (*first).clone();
            server.connection = ConnectionName::new(format!("server{index:02}"));
            server.server = ServerName::new(format!("server{index:02}"));
            Arc::new(server)
        })
        .collect();
    let hints = [Hint::Yes, Hint::Unknown, Hint::Unknown, Hint::No];
    let entry = |index: usize| {
        let name = format!("tool_{index:05}");
        Arc::new(sample::entry(&format!("server{:02}", index % servers), &name, "does one thing", hints))
    };
    snapshot.catalog = Arc::new(Catalog::new((0..tools).map(entry).collect(), Vec::new()));
    let mut server = (*snapshot.servers[0]).clone();
    server.stderr =
        sample::stderr(&(0..5_000).map(|i| format!("{i:010} INFO fixture request {i} done")).collect::<Vec<_>>());
    snapshot.servers[0] = Arc::new(server);
    snapshot
}

fn p99(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() * 99 / 100]
}

fn ours() -> Vec<f64> {
    let zone = TimeZone::UTC;
    let theme = Theme::builtin("midnight").expect("a shipped theme");
    let mut ui = Ui::new(&TuiSettings::default(), &zone);
    let mut snapshot = crowded(20, 5_000);
    let mut painter = Painter::new(Counter(0));
    ui.update(Msg::Resize(SIZE), &snapshot, Moment::now());
    let mut times = Vec::with_capacity(FRAMES);
    for number in 0..FRAMES {
        let mut server = (*snapshot.servers[0]).clone();
        let text = format!("{number:010} INFO fixture request {number} done in {} ms", number % 97);
        server.stderr.push(StderrLine { at: Timestamp::now(), kind: LineKind::Stderr, text: text.into() });
        snapshot.servers[0] = Arc::new(server);
        let began = Instant::now();
        let moment = Moment::now();
        ui.update(Msg::Snapshot, &snapshot, moment);
        let draw = Draw { snapshot: &snapshot, theme: &theme, now: moment.now, zone: &zone, focused: true };
        painter.draw(SIZE, |buffer| ui.render(buffer, &draw, moment.at)).expect("drawn");
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    times
}

fn floor() -> Vec<f64> {
    let options = TerminalOptions { viewport: Viewport::Fixed(SIZE) };
    let mut terminal = Terminal::with_options(CrosstermBackend::new(Counter(0)), options).expect("a terminal");
    let tools: Vec<String> = (0..5_000).map(|i| format!("server{:02}__tool_{i:05}  does one thing", i % 20)).collect();
    let mut logs: Vec<String> = (0..5_000).map(|i| format!("{i:010} INFO fixture request {i} done")).collect();
    let mut times = Vec::with_capacity(FRAMES);
    for number in 0..FRAMES {
        logs.push(format!("{number:010} INFO fixture request {number} done in {} ms", number % 97));
        let began = Instant::now();
        terminal.draw(|frame| draw_floor(frame, &tools, &logs)).expect("drawn");
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    times
}

fn draw_floor(frame: &mut ratatui::Frame<'_>, tools: &[String], logs: &[String]) {
    let [body, foot] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(frame.area());
    let [left, right] = Layout::horizontal([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(body);
    let [top, bottom] = Layout::vertical([Constraint::Length(22), Constraint::Min(0)]).areas(left);
    let rows = (0..20).map(|i| Row::new([format!("server{i:02}"), "ready".into(), "100".into(), "3 ms".into()]));
    let widths = [Constraint::Min(12), Constraint::Length(8), Constraint::Length(6), Constraint::Length(8)];
    frame.render_widget(Table::new(rows, widths).block(Block::bordered().title("Servers")), top);
    let shown = tools.iter().take(usize::from(bottom.height)).map(String::as_str);
    frame.render_stateful_widget(
        List::new(shown).block(Block::bordered().title("Tools")),
        bottom,
        &mut ListState::default(),
    );
    let height = usize::from(right.height.saturating_sub(2));
    let lines: Vec<Line<'_>> = logs.iter().skip(logs.len() - height).map(|log| Line::raw(log.as_str())).collect();
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title("stderr")), right);
    frame.render_widget(Line::raw(" r restart   e on/off   / search   ? help"), foot);
}

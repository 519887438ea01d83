//! One loop over keys, snapshots and deadlines. Turns them into messages, carries effects out, draws when due.
//!
//! Nothing happens on a timer while nothing changes. The loop never waits for the engine: commands leave at once or
//! are refused.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{Event, EventStream, KeyEventKind, MouseEventKind};
use futures_util::StreamExt as _;
use jiff::tz::TimeZone;
use ratatui::layout::Rect;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::frames::Pacer;
use super::header::window_title;
use super::intent::{Effect, Intent};
use super::msg::{Moment, Msg};
use super::rows::Rows;
use super::terminal::{Modes, Terminal, TerminalError, drop_input};
use super::theme::Theme;
use super::theme::load::{self, ThemeError};
use super::ui::Ui;
use super::{Draw, terminal};
use crate::config::expand::Environment;
use crate::config::model::TuiSettings;
use crate::engine::command::Command;
use crate::engine::handle::Handle;
use crate::engine::snapshot::Snapshot;
use crate::rows::{Answer, Nothing, Reader};

/// Rows that one step of the mouse wheel moves.
const WHEEL: usize = 3;
/// How long to wait for the stop that we asked for; without job control it never comes.
const STOP: Duration = Duration::from_millis(300);

/// What a screen is made with.
#[derive(Debug)]
pub struct Options {
    /// `tui` of the configuration.
    pub settings: TuiSettings,
    /// Styles and glyphs.
    pub theme: Theme,
    /// Modes of the terminal.
    pub modes: Modes,
    /// The zone that times are shown in.
    pub zone: TimeZone,
    /// The words that call this program so that it reaches this instance.
    pub program: Vec<String>,
    /// Who answers questions about the company's rows.
    pub reader: Arc<dyn Reader>,
}

impl Options {
    /// For this terminal, with the text of the person's own theme file, when the settings name one.
    ///
    /// # Errors
    /// The theme does not exist or is not complete.
    pub fn new(settings: TuiSettings, environment: &dyn Environment, own: Option<&str>) -> Result<Self, ThemeError> {
        let theme = load::Terminal::from_environment(environment).choose(&settings, own)?;
        let term = environment.get("TERM").unwrap_or_default();
        let title = !matches!(term.as_str(), "" | "dumb" | "linux");
        let modes = Modes { mouse: settings.mouse, title, clipboard: title };
        let program = vec!["crewlet-tui".to_owned()];
        let reader = Arc::new(Nothing("there is no store to read".into()));
        Ok(Self { settings, theme, modes, zone: TimeZone::system(), program, reader })
    }
}

/// Why the screen ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// The person left.
    Quit,
    /// The token was cancelled: a signal.
    Shutdown,
    /// The engine ended.
    EngineEnded,
}

/// Why there is no screen (any more). The terminal has been given back.
#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    /// The terminal cannot be used.
    #[error(transparent)]
    Terminal(#[from] TerminalError),
    /// Signals cannot be listened to, or keys cannot be read.
    #[error("keys or signals cannot be read: {0}")]
    Input(#[source] io::Error),
}

/// Shows the screen until the person leaves, the token is cancelled or the engine ends. The terminal is as it was
/// when this returns; the engine goes on and is the caller's to stop.
///
/// Poll it on one thread for its whole life (`Runtime::block_on`, not `spawn`): a panic of that thread is told from
/// those of others, and gives the terminal back.
///
/// # Errors
/// There is no terminal, or it failed.
pub async fn run(handle: Handle, options: Options, shutdown: CancellationToken) -> Result<Exit, TuiError> {
    terminal::check()?;
    // Read first, taken over second: a failure leaves the terminal alone.
    let continued = signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw())).map_err(TuiError::Input)?;
    let resized = signal(SignalKind::window_change()).map_err(TuiError::Input)?;
    let mut screen = Screen {
        ui: Ui::new(&options.settings, &options.zone).reached_by(options.program.clone()),
        snapshot: handle.snapshot(),
        snapshots: handle.snapshots(),
        terminal: Terminal::enter(options.modes)?,
        pacer: Pacer::default(),
        continued,
        resized,
        handle,
        rows: Rows::start(options.reader.clone()),
        options,
        area: Rect::ZERO,
    };
    let ended = screen.run(&shutdown).await;
    let left = screen.terminal.leave();
    let exit = ended?;
    left.map_err(TerminalError::Io)?;
    Ok(exit)
}

struct Screen {
    ui: Ui,
    snapshot: Arc<Snapshot>,
    snapshots: watch::Receiver<Arc<Snapshot>>,
    terminal: Terminal,
    pacer: Pacer,
    continued: Signal,
    /// Listened to here: the event stream loses a change of size that comes together with a key.
    resized: Signal,
    handle: Handle,
    rows: Rows,
    options: Options,
    area: Rect,
}

impl Screen {
    async fn run(&mut self, shutdown: &CancellationToken) -> Result<Exit, TuiError> {
        let mut events = EventStream::new();
        self.measure().await?;
        loop {
            self.draw()?;
            let deadline = self.deadline();
            let exit = tokio::select! {
                biased;
                () = shutdown.cancelled() => Some(Exit::Shutdown),
                // Before keys: what was typed while we were away must find the screen as it is after the return.
                _ = self.continued.recv() => self.continue_after_stop().await?,
                _ = self.resized.recv() => self.resize().await?,
                event = events.next() => match event {
                    Some(Ok(event)) => self.event(event).await?,
                    Some(Err(error)) => return Err(TuiError::Input(error)),
                    None => return Err(TuiError::Input(io::ErrorKind::UnexpectedEof.into())),
                },
                changed = self.snapshots.changed() => match changed {
                    Ok(()) => self.new_snapshot().await?,
                    Err(_) => Some(Exit::EngineEnded),
                },
                Some(answer) = self.rows.next() => self.answered(answer).await?,
                () = sleep_until(deadline) => self.tell(Msg::Wake).await?,
            };
            if let Some(exit) = exit {
                return Ok(exit);
            }
        }
    }

    /// The next moment at which something must be drawn or may change by itself.
    fn deadline(&self) -> Instant {
        let motion = self.ui.motion(&self.snapshot).next(Moment::now().now);
        let now = Instant::now();
        let moved = now + motion;
        // A deadline that has passed and stays must not become a busy loop.
        let woken = self.ui.wake_at(&self.snapshot).map(|at| Instant::from_std(at).max(now + Pacer::INTERVAL));
        [self.pacer.due(), woken].into_iter().flatten().fold(moved, Instant::min)
    }

    async fn event(&mut self, event: Event) -> Result<Option<Exit>, TuiError> {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.tell(Msg::Key(key)).await,
            Event::Paste(pasted) => self.tell(Msg::Paste(pasted)).await,
            Event::Mouse(mouse) => {
                let intent = match mouse.kind {
                    MouseEventKind::ScrollUp => Intent::Up,
                    MouseEventKind::ScrollDown => Intent::Down,
                    _ => return Ok(None),
                };
                for _ in 0..WHEEL {
                    self.tell(Msg::Wheel(intent)).await?;
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    async fn new_snapshot(&mut self) -> Result<Option<Exit>, TuiError> {
        self.snapshot = self.snapshots.borrow_and_update().clone();
        self.tell(Msg::Snapshot).await
    }

    async fn answered(&mut self, answer: Answer) -> Result<Option<Exit>, TuiError> {
        self.tell(Msg::Rows(Box::new(answer))).await
    }

    async fn resize(&mut self) -> Result<Option<Exit>, TuiError> {
        // Drawn whole also when the size is the old one again: in between the terminal may have cut what was there.
        self.terminal.painter().forget();
        self.measure().await
    }

    async fn measure(&mut self) -> Result<Option<Exit>, TuiError> {
        self.area = Terminal::size().map_err(TerminalError::Io)?;
        self.tell(Msg::Resize(self.area)).await
    }

    /// Gives a message to the screen's state and does what comes of it.
    async fn tell(&mut self, msg: Msg) -> Result<Option<Exit>, TuiError> {
        self.pacer.want();
        let mut exit = None;
        let mut effects = self.ui.update(msg, &self.snapshot, Moment::now());
        while let Some(effect) = (!effects.is_empty()).then(|| effects.remove(0)) {
            match effect {
                Effect::Send(command) => {
                    let call = if let Command::Call { call, .. } = &command { Some(call.clone()) } else { None };
                    if let Err(error) = self.handle.send(command) {
                        effects.extend(self.ui.update(Msg::NotSent(call, error), &self.snapshot, Moment::now()));
                    }
                }
                Effect::Reveal(worker) => {
                    let token = self.handle.workers().claim(&worker, None);
                    let revealed = Msg::Revealed(worker, token);
                    effects.extend(self.ui.update(revealed, &self.snapshot, Moment::now()));
                }
                Effect::Copy(text) => {
                    let copied = self.terminal.copy(&text).map_err(TerminalError::Io)?;
                    effects.extend(self.ui.update(Msg::Copied(copied), &self.snapshot, Moment::now()));
                }
                Effect::Bell => self.terminal.bell().map_err(TerminalError::Io)?,
                Effect::DropInput => drop_input(),
                Effect::Repaint => self.terminal.painter().forget(),
                Effect::Suspend => effects.extend(self.suspend().await?),
                Effect::Leave => exit = Some(Exit::Quit),
                // The screen's state has carried these out itself.
                Effect::Say(_)
                | Effect::Complain(_)
                | Effect::Show(_)
                | Effect::EditCall(_)
                | Effect::EditAnswer(_)
                | Effect::OpenCard(_)
                | Effect::OpenForm(_)
                | Effect::OpenWorkers(_)
                | Effect::OrderWorker(_)
                | Effect::Ask(_)
                | Effect::Write(_)
                | Effect::Choose(_)
                | Effect::Act(_)
                | Effect::Several(_) => {}
            }
        }
        self.rows.want(self.ui.wants());
        Ok(exit)
    }

    /// Stops the process group, as the shell would have done with Ctrl-Z, and takes the terminal back afterwards.
    async fn suspend(&mut self) -> Result<Vec<Effect>, TuiError> {
        self.terminal.leave().map_err(TerminalError::Io)?;
        let stopped = rustix::process::kill_current_process_group(rustix::process::Signal::TSTP);
        if stopped.is_ok() {
            // The stop may take effect a moment later than the call returns.
            let _ = timeout(STOP, self.continued.recv()).await;
        }
        self.terminal.take().map_err(TerminalError::Io)?;
        self.resumed()
    }

    /// Somebody else stopped and continued us; the shell may have set other modes in between.
    async fn continue_after_stop(&mut self) -> Result<Option<Exit>, TuiError> {
        self.terminal.leave().map_err(TerminalError::Io)?;
        self.terminal.take().map_err(TerminalError::Io)?;
        self.resumed()?;
        self.tell(Msg::Resumed).await
    }

    fn resumed(&mut self) -> Result<Vec<Effect>, TuiError> {
        self.area = Terminal::size().map_err(TerminalError::Io)?;
        self.snapshot = self.snapshots.borrow_and_update().clone();
        let mut effects = self.ui.update(Msg::Resize(self.area), &self.snapshot, Moment::now());
        effects.extend(self.ui.update(Msg::Resumed, &self.snapshot, Moment::now()));
        Ok(effects)
    }

    fn draw(&mut self) -> Result<(), TuiError> {
        if !self.pacer.take(Instant::now()) {
            return Ok(());
        }
        let Self { ui, snapshot, terminal, options, area, .. } = self;
        let Moment { now, at } = Moment::now();
        let draw = Draw { snapshot, theme: &options.theme, now, zone: &options.zone, focused: true };
        let drawn = terminal.painter().draw(*area, |buf| ui.render(buf, &draw, at));
        drawn.map_err(TerminalError::Io)?;
        terminal.set_title(&window_title(snapshot)).map_err(TerminalError::Io)?;
        Ok(())
    }
}

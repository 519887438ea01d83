//! The one table of keys: what each key means where, in which words, and which of them stand in the hint line.
//!
//! Keys, the help screen, the hint line and the key table of the README all come from here.

use crossterm::event::KeyCode;

use super::Context;
use super::key::Key;
use crate::tui::intent::Intent;

/// One row.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Where it holds.
    pub context: Context,
    /// What it means.
    pub intent: Intent,
    /// The keys.
    pub keys: &'static [Key],
    /// For the help screen.
    pub words: &'static str,
    /// For the hint line, where it belongs there.
    pub hint: Option<&'static str>,
}

const fn row(context: Context, intent: Intent, keys: &'static [Key], words: &'static str) -> Row {
    Row { context, intent, keys, words, hint: None }
}

impl Row {
    const fn hint(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }
}

const UP: Key = Key::code(KeyCode::Up);
const DOWN: Key = Key::code(KeyCode::Down);
const LEFT: Key = Key::code(KeyCode::Left);
const RIGHT: Key = Key::code(KeyCode::Right);
const PAGE_UP: Key = Key::code(KeyCode::PageUp);
const PAGE_DOWN: Key = Key::code(KeyCode::PageDown);
const HOME: Key = Key::code(KeyCode::Home);
const END: Key = Key::code(KeyCode::End);
const TAB: Key = Key::code(KeyCode::Tab);
const BACK_TAB: Key = Key::code(KeyCode::BackTab);
const ENTER: Key = Key::code(KeyCode::Enter);
const ESC: Key = Key::code(KeyCode::Esc);

use Context as C;
use Intent as I;

/// All default bindings.
pub const TABLE: &[Row] = &[
    row(C::Global, I::View(1), &[Key::char('1')], "servers"),
    row(C::Global, I::View(2), &[Key::char('2')], "tools"),
    row(C::Global, I::View(3), &[Key::char('3')], "approvals"),
    row(C::Global, I::View(4), &[Key::char('4')], "calls"),
    row(C::Global, I::View(5), &[Key::char('5')], "sessions"),
    row(C::Global, I::View(6), &[Key::char('6')], "log"),
    row(C::Global, I::View(7), &[Key::char('7')], "seats"),
    row(C::Global, I::Next, &[TAB], "next pane"),
    row(C::Global, I::Previous, &[BACK_TAB], "previous pane"),
    row(C::Global, I::OpenOldest, &[Key::char('a')], "open what waits longest: a call or a server's question"),
    row(C::Global, I::Back, &[ESC], "close, leave, clear"),
    row(C::Global, I::CommandLine, &[Key::char(':')], "command line").hint("command"),
    row(C::Global, I::Diagnostics, &[Key::char('D')], "write a diagnostic bundle to a file"),
    row(C::Global, I::Help, &[Key::char('?')], "help").hint("help"),
    row(C::Global, I::Quit, &[Key::char('q'), Key::ctrl('c')], "leave; asks first while calls wait or run"),
    row(C::Global, I::Redraw, &[Key::ctrl('l')], "draw everything anew"),
    row(C::Global, I::Suspend, &[Key::ctrl('z')], "stop until the shell continues it"),
    row(C::List, I::Up, &[UP, Key::char('k')], "up"),
    row(C::List, I::Down, &[DOWN, Key::char('j')], "down"),
    row(C::List, I::PageUp, &[PAGE_UP, Key::ctrl('b')], "a page up"),
    row(C::List, I::PageDown, &[PAGE_DOWN, Key::ctrl('f')], "a page down"),
    row(C::List, I::Top, &[HOME, Key::char('g')], "to the first line"),
    row(C::List, I::Bottom, &[END, Key::char('G')], "to the last line"),
    row(C::List, I::Left, &[LEFT], "scroll left"),
    row(C::List, I::Right, &[RIGHT], "scroll right"),
    row(C::Servers, I::Open, &[ENTER], "to its stderr"),
    row(C::Servers, I::Restart, &[Key::char('r')], "restart the connection").hint("restart"),
    row(C::Servers, I::ToggleEnabled, &[Key::char('e')], "enable or disable the connection (asks first)")
        .hint("on/off"),
    row(C::Servers, I::ShowTools, &[Key::char('t')], "its tools").hint("its tools"),
    row(C::Servers, I::Follow, &[Key::char('f')], "follow or pause stderr").hint("follow"),
    row(C::Servers, I::Search, &[Key::char('/')], "search in stderr").hint("search"),
    row(C::Servers, I::NextMatch, &[Key::char('n')], "next match"),
    row(C::Servers, I::PreviousMatch, &[Key::char('N')], "previous match"),
    row(C::Servers, I::CycleServer, &[Key::char('v')], "stderr of one server or of all"),
    row(C::Servers, I::Level, &[Key::char('l')], "step through levels of stderr"),
    row(C::Servers, I::NextError, &[Key::char('x')], "next error"),
    row(C::Servers, I::PreviousError, &[Key::char('X')], "previous error"),
    row(C::Servers, I::Save, &[Key::char('S')], "save to a file"),
    row(C::Servers, I::Copy, &[Key::char('c')], "copy what is visible"),
    row(C::Servers, I::Wrap, &[Key::char('w')], "wrap or cut long lines"),
    row(C::Servers, I::Times, &[Key::char('T')], "times of day, ages or neither"),
    row(C::Stderr, I::Follow, &[Key::char('f')], "follow or pause").hint("follow"),
    row(C::Stderr, I::Search, &[Key::char('/')], "search").hint("search"),
    row(C::Stderr, I::NextMatch, &[Key::char('n')], "next match").hint("next"),
    row(C::Stderr, I::PreviousMatch, &[Key::char('N')], "previous match"),
    row(C::Stderr, I::CycleServer, &[Key::char('v')], "one server or all").hint("all"),
    row(C::Stderr, I::Level, &[Key::char('l')], "step through levels").hint("level"),
    row(C::Stderr, I::NextError, &[Key::char('x')], "next error"),
    row(C::Stderr, I::PreviousError, &[Key::char('X')], "previous error"),
    row(C::Stderr, I::Save, &[Key::char('S')], "save to a file"),
    row(C::Stderr, I::Copy, &[Key::char('c')], "copy what is visible"),
    row(C::Stderr, I::Wrap, &[Key::char('w')], "wrap or cut long lines"),
    row(C::Stderr, I::Times, &[Key::char('T')], "times of day, ages or neither"),
    row(C::Stderr, I::Restart, &[Key::char('r')], "restart the connection").hint("restart"),
    row(C::Stderr, I::ToggleEnabled, &[Key::char('e')], "enable or disable the connection (asks first)"),
    row(C::Stderr, I::ShowTools, &[Key::char('t')], "its tools"),
    row(C::Tools, I::Open, &[ENTER], "call the tool").hint("call"),
    row(C::Tools, I::Schema, &[Key::char('s')], "the schema whole").hint("schema"),
    row(C::Tools, I::CycleClass, &[Key::char('c')], "step through class filters").hint("class"),
    row(C::Tools, I::ViewAs, &[Key::char('v')], "look at the tools as a seat, or as a worker of one").hint("view as…"),
    row(C::Tools, I::CycleServer, &[Key::char('S')], "step through server filters").hint("server"),
    row(C::Tools, I::Search, &[Key::char('/')], "filter by name").hint("filter"),
    row(C::Looks, I::Open, &[ENTER], "look at them so").hint("choose"),
    row(C::Looks, I::Back, &[ESC, Key::char('q'), Key::char('v')], "leave it as it is").hint("leave"),
    row(C::Looks, I::Up, &[UP, Key::char('k')], "up").hint("up"),
    row(C::Looks, I::Down, &[DOWN, Key::char('j')], "down").hint("down"),
    row(C::Looks, I::PageUp, &[PAGE_UP], "a page up"),
    row(C::Looks, I::PageDown, &[PAGE_DOWN, Key::char(' ')], "a page down"),
    row(C::Looks, I::Top, &[HOME, Key::char('g')], "to the first line"),
    row(C::Looks, I::Bottom, &[END, Key::char('G')], "to the last line"),
    row(C::Looks, I::Help, &[Key::char('?')], "help").hint("help"),
    row(C::Approvals, I::Open, &[ENTER], "open the card or the form; release the stopped seat").hint("open"),
    row(C::Approvals, I::StopSeat, &[Key::char('x')], "stop the seat that asks (asks first)").hint("stop…"),
    row(C::Approvals, I::ReleaseSeat, &[Key::char('R')], "release a stopped seat (asks first)").hint("release…"),
    row(C::Approvals, I::DenyAll, &[Key::char('D')], "deny everything that waits (asks first)").hint("deny all…"),
    row(C::Approvals, I::Grants, &[Key::char('g')], "remembered decisions").hint("grants"),
    row(C::Grants, I::Revoke, &[Key::char('x')], "revoke the grant (asks first)").hint("revoke…"),
    row(C::Grants, I::Grants, &[Key::char('g')], "back to the waiting questions").hint("waiting questions"),
    row(C::Calls, I::Open, &[ENTER], "details of the call, or its card").hint("open"),
    row(C::Calls, I::Search, &[Key::char('/')], "filter").hint("filter"),
    row(C::Calls, I::CycleClass, &[Key::char('c')], "step through class filters"),
    row(C::Calls, I::Follow, &[Key::char('f')], "follow the newest").hint("follow"),
    row(C::Calls, I::CancelCall, &[Key::char('x')], "give up a call of your own").hint("give up"),
    row(C::Sessions, I::Open, &[ENTER], "to the session's calls").hint("its calls"),
    row(C::Sessions, I::StopSeat, &[Key::char('x')], "stop the session's seat (asks first)").hint("stop seat…"),
    row(C::Sessions, I::ReleaseSeat, &[Key::char('R')], "release a stopped seat (asks first)").hint("release…"),
    row(C::Log, I::Follow, &[Key::char('f')], "follow or pause").hint("follow"),
    row(C::Log, I::Level, &[Key::char('l')], "step through levels").hint("level"),
    row(C::Log, I::Search, &[Key::char('/')], "search").hint("search"),
    row(C::Log, I::NextMatch, &[Key::char('n')], "next match").hint("next"),
    row(C::Log, I::PreviousMatch, &[Key::char('N')], "previous match"),
    row(C::Log, I::NextError, &[Key::char('x')], "next error"),
    row(C::Log, I::PreviousError, &[Key::char('X')], "previous error"),
    row(C::Log, I::Save, &[Key::char('S')], "save to a file"),
    row(C::Log, I::Copy, &[Key::char('c')], "copy what is visible"),
    row(C::Log, I::Wrap, &[Key::char('w')], "wrap or cut long lines").hint("wrap"),
    row(C::Log, I::Times, &[Key::char('T')], "times of day, ages or neither"),
    row(C::Seats, I::Open, &[ENTER], "to everything about the seat or unit").hint("details"),
    row(C::Seats, I::ShowTools, &[Key::char('t')], "the tools that the seat holds").hint("its tools"),
    row(C::Seats, I::ShowWorkerTools, &[Key::char('w')], "those of them that a worker of the seat may hold")
        .hint("for workers"),
    row(C::Seats, I::StopSeat, &[Key::char('x')], "stop the seat (asks first)").hint("stop seat…"),
    row(C::Seats, I::ReleaseSeat, &[Key::char('R')], "release a stopped seat (asks first)").hint("release…"),
    row(C::Card, I::Approve, &[Key::char('y')], "approve once").hint("approve once"),
    row(C::Card, I::Deny, &[Key::char('n')], "deny with a reason").hint("deny…"),
    row(C::Card, I::EditArguments, &[Key::char('e')], "edit the arguments; the difference is shown first").hint("edit"),
    row(C::Card, I::AllArguments, &[Key::char('d')], "all arguments").hint("all arguments"),
    row(C::Card, I::Definition, &[Key::char('t')], "the tool's definition, and how it changed").hint("definition"),
    row(C::Card, I::Remember, &[Key::char('r')], "choose what may run without asking again").hint("remember…"),
    row(C::Card, I::StopSeat, &[Key::char('x')], "stop the seat that asks (asks first)").hint("stop seat…"),
    row(C::Card, I::ApproveAll, &[Key::char('b')], "approve all waiting calls of the tool, each looked at before"),
    row(C::Card, I::DenyAll, &[Key::char('N')], "deny all waiting calls of the tool, with a reason"),
    row(C::Card, I::Next, &[TAB], "next question").hint("next"),
    row(C::Card, I::Previous, &[BACK_TAB], "previous question"),
    row(C::Card, I::Back, &[ESC], "leave pending").hint("leave pending"),
    row(C::Card, I::Help, &[Key::char('?')], "help").hint("help"),
    row(C::Card, I::Up, &[UP], "scroll up"),
    row(C::Card, I::Down, &[DOWN], "scroll down"),
    row(C::Card, I::PageUp, &[PAGE_UP], "a page up"),
    row(C::Card, I::PageDown, &[PAGE_DOWN], "a page down"),
    row(C::Card, I::Top, &[HOME], "to the first line"),
    row(C::Card, I::Bottom, &[END], "to the last line"),
    row(C::CardReading, I::Search, &[Key::char('/')], "search").hint("search"),
    row(C::CardReading, I::NextMatch, &[Key::char('n')], "next match").hint("next"),
    row(C::CardReading, I::PreviousMatch, &[Key::char('N')], "previous match").hint("previous"),
    row(C::CardReading, I::AllArguments, &[Key::char('d')], "all arguments, or back to the whole card"),
    row(C::CardReading, I::Definition, &[Key::char('t')], "the tool's definition, or back to the whole card"),
    row(C::CardReading, I::Back, &[ESC], "back to the whole card").hint("whole card"),
    row(C::CardReading, I::Help, &[Key::char('?')], "help").hint("help"),
    row(C::CardReading, I::Up, &[UP, Key::char('k')], "scroll up"),
    row(C::CardReading, I::Down, &[DOWN, Key::char('j')], "scroll down"),
    row(C::CardReading, I::PageUp, &[PAGE_UP], "a page up"),
    row(C::CardReading, I::PageDown, &[PAGE_DOWN, Key::char(' ')], "a page down"),
    row(C::CardReading, I::Top, &[HOME], "to the first line"),
    row(C::CardReading, I::Bottom, &[END], "to the last line"),
    row(C::CardRemember, I::Choose(1), &[Key::char('1')], "this exact call, for 10 minutes"),
    row(C::CardRemember, I::Choose(2), &[Key::char('2')], "this exact call, for 1 hour"),
    row(C::CardRemember, I::Choose(3), &[Key::char('3')], "this exact call, until the program ends"),
    row(C::CardRemember, I::Choose(4), &[Key::char('4')], "this tool for this seat, for 10 minutes"),
    row(C::CardRemember, I::Choose(5), &[Key::char('5')], "this tool for this seat, for 1 hour"),
    row(C::CardRemember, I::Choose(6), &[Key::char('6')], "this tool for this seat, until the program ends"),
    row(C::CardRemember, I::Choose(0), &[Key::char('0')], "nothing: ask again each time"),
    row(C::CardRemember, I::Back, &[ESC], "back to the card, nothing chosen").hint("back"),
    row(C::CardRemember, I::Up, &[UP], "scroll up"),
    row(C::CardRemember, I::Down, &[DOWN], "scroll down"),
    row(C::CardRemember, I::Help, &[Key::char('?')], "help").hint("help"),
    row(C::CardReason, I::Submit, &[ENTER], "deny, with what is written as the reason").hint("deny"),
    row(C::CardReason, I::Back, &[ESC], "back to the card").hint("back"),
    row(C::Editor, I::Submit, &[Key::ctrl('s'), Key::code(KeyCode::F(5))], "send the call, or look at the difference")
        .hint("send"),
    row(C::Editor, I::Back, &[ESC], "close without sending").hint("close"),
    row(C::Form, I::Submit, &[Key::ctrl('s'), Key::code(KeyCode::F(5))], "send what is filled in").hint("send"),
    row(C::Form, I::Decline, &[Key::ctrl('d')], "say no to the server").hint("decline"),
    row(C::Form, I::Dismiss, &[Key::ctrl('x')], "neither: tell the server that nobody chose").hint("cancel"),
    row(C::Form, I::Back, &[ESC], "leave it waiting; what is filled in is kept").hint("leave waiting"),
    row(C::Form, I::Next, &[TAB, DOWN, ENTER], "next field").hint("next field"),
    row(C::Form, I::Previous, &[BACK_TAB, UP], "previous field"),
    row(C::Form, I::Toggle, &[Key::char(' ')], "choose, or the next choice; in a text a blank"),
    row(C::Form, I::Right, &[RIGHT], "next choice; in a text the cursor"),
    row(C::Form, I::Left, &[LEFT], "previous choice; in a text the cursor"),
    row(C::Form, I::PageUp, &[PAGE_UP], "scroll up"),
    row(C::Form, I::PageDown, &[PAGE_DOWN], "scroll down"),
    row(C::Confirm, I::Yes, &[Key::char('y')], "yes").hint("yes"),
    row(C::Confirm, I::No, &[Key::char('n')], "no").hint("no"),
    row(C::Confirm, I::Back, &[ESC], "no").hint("back"),
    row(C::Help, I::Back, &[ESC, Key::char('q'), Key::char('?')], "close").hint("close"),
    row(C::Help, I::Up, &[UP, Key::char('k')], "scroll up").hint("up"),
    row(C::Help, I::Down, &[DOWN, Key::char('j')], "scroll down").hint("down"),
    row(C::Help, I::PageUp, &[PAGE_UP], "a page up"),
    row(C::Help, I::PageDown, &[PAGE_DOWN, Key::char(' ')], "a page down"),
    row(C::Help, I::Top, &[HOME], "to the first line"),
    row(C::Help, I::Bottom, &[END], "to the last line"),
    row(C::Help, I::Copy, &[Key::char('c')], "copy the lines to paste (of :connect)"),
    row(C::Filter, I::Submit, &[ENTER], "keep what is written").hint("keep"),
    row(C::Filter, I::Back, &[ESC], "leave it").hint("leave"),
];

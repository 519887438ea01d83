//! What the person means, and what must be done about it. The keymap makes intents; nobody else looks at keys.

use std::sync::Arc;

use super::act::Act;
use super::choose::Choice;
use super::compose::Draft;
use crate::engine::command::Command;
use crate::tool::ToolKey;

/// What the person means. Which ones a context takes is in the keymap's table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Intent {
    /// Selection or scroll by one line.
    Up,
    /// See `Up`.
    Down,
    /// By a page.
    PageUp,
    /// See `PageUp`.
    PageDown,
    /// To the first line.
    Top,
    /// To the last line.
    Bottom,
    /// Scroll sideways, or out of something.
    Left,
    /// Scroll sideways, or into something.
    Right,
    /// The next pane of the view (on a card: the next question).
    Next,
    /// The previous one.
    Previous,
    /// The n-th view, from 1.
    View(u8),
    /// Open what is selected: a call editor for a tool, details for a call, the card for a question.
    Open,
    /// Close, leave, clear: never decides anything.
    Back,
    /// Start typing a filter or search.
    Search,
    /// Next match.
    NextMatch,
    /// Previous match.
    PreviousMatch,
    /// To the next line that speaks of an error.
    NextError,
    /// To the previous one.
    PreviousError,
    /// Write what the pane keeps to a file.
    Save,
    /// Copy what is visible to the terminal's clipboard.
    Copy,
    /// Write everything that helps to find a fault to a file.
    Diagnostics,
    /// Open the command line.
    CommandLine,
    /// Step through class filters.
    CycleClass,
    /// Step through server filters.
    CycleServer,
    /// Step through status filters.
    CycleStatus,
    /// Choose as whom the catalogue is looked at.
    ViewAs,
    /// Follow or pause.
    Follow,
    /// Wrap or cut long lines.
    Wrap,
    /// Absolute or relative times.
    Times,
    /// Step through levels.
    Level,
    /// Restart the selected connection.
    Restart,
    /// Enable or disable the selected connection (asks first).
    ToggleEnabled,
    /// Show the tools of the selected connection.
    ShowTools,
    /// Show what a worker of the selected seat may hold.
    ShowWorkerTools,
    /// The workers of the selected seat.
    Workers,
    /// Make a worker of the seat.
    MakeWorker,
    /// End the selected worker (asks first).
    EndWorker,
    /// Show the token of a new worker.
    Reveal,
    /// Show what the selected seat remembers, part by part.
    Memory,
    /// Show the schema whole.
    Schema,
    /// Open the oldest waiting question.
    OpenOldest,
    /// On a card: arm, then commit.
    Approve,
    /// On a card: deny with a reason.
    Deny,
    /// On a card: approve all waiting calls of the tool that have been looked at.
    ApproveAll,
    /// Deny all waiting calls: on a card those of the tool, in the list all of them.
    DenyAll,
    /// On a card: all arguments.
    AllArguments,
    /// On a card: the tool's definition whole.
    Definition,
    /// On a card: edit the arguments.
    EditArguments,
    /// On a card: choose what to remember.
    Remember,
    /// The n-th choice; 0 for none of them.
    Choose(u8),
    /// Stop the seat that asks (asks first).
    StopSeat,
    /// Release a stopped seat (asks first).
    ReleaseSeat,
    /// Show the remembered decisions.
    Grants,
    /// Take a remembered decision back (asks first).
    Revoke,
    /// Begin a new work item.
    NewItem,
    /// Write a comment.
    Comment,
    /// Change title and text.
    EditText,
    /// Choose another status.
    SetStatus,
    /// Choose another priority.
    SetPriority,
    /// Choose who works on it.
    Assign,
    /// Choose another project.
    MoveItem,
    /// Put it into the trash.
    Remove,
    /// Take it out of the trash.
    Restore,
    /// What is in the trash, or what is not.
    Trash,
    /// An earlier version.
    Older,
    /// A later version.
    Newer,
    /// Show the connector's audit.
    ShowTrail,
    /// Send what the editor holds.
    Submit,
    /// On a form: say no to the server.
    Decline,
    /// On a form: tell the server that nobody chose.
    Dismiss,
    /// On a form: choose, or the next choice.
    Toggle,
    /// Give up a running call of one's own.
    CancelCall,
    /// The help screen.
    Help,
    /// Draw everything anew.
    Redraw,
    /// Stop the process as the shell's Ctrl-Z does.
    Suspend,
    /// Leave; asks first while calls wait.
    Quit,
    /// Yes, in a question that is not an approval (leave? disable?).
    Yes,
    /// No, in such a question.
    No,
}

impl Intent {
    /// The name that `tui.keys` uses: `page_up`, `view_1`.
    #[expect(clippy::too_many_lines, reason = "a line for each")]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::PageUp => "page_up",
            Self::PageDown => "page_down",
            Self::Top => "top",
            Self::Bottom => "bottom",
            Self::Left => "left",
            Self::Right => "right",
            Self::Next => "next",
            Self::Previous => "previous",
            Self::View(number) => view_name(number),
            Self::Open => "open",
            Self::Back => "back",
            Self::Search => "search",
            Self::NextMatch => "next_match",
            Self::PreviousMatch => "previous_match",
            Self::NextError => "next_error",
            Self::PreviousError => "previous_error",
            Self::Save => "save",
            Self::Copy => "copy",
            Self::Diagnostics => "diagnostics",
            Self::CommandLine => "command_line",
            Self::CycleClass => "cycle_class",
            Self::CycleServer => "cycle_server",
            Self::ViewAs => "view_as",
            Self::Follow => "follow",
            Self::Wrap => "wrap",
            Self::Times => "times",
            Self::Level => "level",
            Self::Restart => "restart",
            Self::ToggleEnabled => "toggle_enabled",
            Self::ShowTools => "show_tools",
            Self::ShowWorkerTools => "show_worker_tools",
            Self::Workers => "workers",
            Self::MakeWorker => "make_worker",
            Self::EndWorker => "end_worker",
            Self::Reveal => "reveal",
            Self::Memory => "memory",
            Self::Schema => "schema",
            Self::OpenOldest => "open_oldest",
            Self::Approve => "approve",
            Self::Deny => "deny",
            Self::ApproveAll => "approve_all",
            Self::DenyAll => "deny_all",
            Self::AllArguments => "all_arguments",
            Self::Definition => "definition",
            Self::EditArguments => "edit_arguments",
            Self::Remember => "remember",
            Self::Choose(number) => choice_name(number),
            Self::StopSeat => "stop_seat",
            Self::ReleaseSeat => "release_seat",
            Self::Grants => "grants",
            Self::Revoke => "revoke",
            Self::NewItem => "new_item",
            Self::Comment => "comment",
            Self::EditText => "edit_text",
            Self::SetStatus => "set_status",
            Self::SetPriority => "set_priority",
            Self::Assign => "assign",
            Self::MoveItem => "move_item",
            Self::Remove => "remove",
            Self::Restore => "restore",
            Self::Trash => "trash",
            Self::Older => "older",
            Self::Newer => "newer",
            Self::ShowTrail => "show_trail",
            Self::CycleStatus => "cycle_status",
            Self::Submit => "submit",
            Self::Decline => "decline",
            Self::Dismiss => "dismiss",
            Self::Toggle => "toggle",
            Self::CancelCall => "cancel_call",
            Self::Help => "help",
            Self::Redraw => "redraw",
            Self::Suspend => "suspend",
            Self::Quit => "quit",
            Self::Yes => "yes",
            Self::No => "no",
        }
    }
}

const fn view_name(number: u8) -> &'static str {
    match number {
        0 => "view_0",
        1 => "view_1",
        2 => "view_2",
        3 => "view_3",
        4 => "view_4",
        5 => "view_5",
        6 => "view_6",
        7 => "view_7",
        8 => "view_8",
        9 => "view_9",
        _ => "view",
    }
}

const fn choice_name(number: u8) -> &'static str {
    match number {
        0 => "choose_0",
        1 => "choose_1",
        2 => "choose_2",
        3 => "choose_3",
        4 => "choose_4",
        5 => "choose_5",
        6 => "choose_6",
        _ => "choose",
    }
}

/// What must be done outside a pane's or modal's own state. [`Ui::update`](super::ui::Ui::update) acts on those that
/// concern the screen and hands the others out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Hand a command to the engine.
    Send(Command),
    /// Say something in the foot line.
    Say(Arc<str>),
    /// Say that something went wrong; stays until a key.
    Complain(Arc<str>),
    /// Go to a view, selecting the thing named.
    Show(Target),
    /// Open the editor for a call of this tool.
    EditCall(ToolKey),
    /// Open the sheet for the answer to a question in the inbox: its channel.
    EditAnswer(Arc<str>),
    /// Open the card of this question.
    OpenCard(crate::ids::ApprovalId),
    /// Open the form of this server's question.
    OpenForm(crate::ids::FormId),
    /// Show the workers of this seat.
    OpenWorkers(crate::ids::SeatHandle),
    /// Make a worker of this seat: show what to choose.
    OrderWorker(crate::ids::SeatHandle),
    /// Hand out the token of a new worker, for the layer that made it.
    Reveal(crate::ids::WorkerId),
    /// Ask the person something that is not an approval; a yes sends the command.
    Ask(Question),
    /// Let the person write what a tool of the company's own is to be called with.
    Write(Box<Draft>),
    /// Let the person choose one of several things.
    Choose(Choice),
    /// Call a tool of the company's own, and say what became of it.
    Act(Act),
    /// Several things, in order.
    Several(Vec<Effect>),
    /// Put text into the terminal's clipboard.
    Copy(Arc<str>),
    /// Ring the terminal's bell.
    Bell,
    /// Forget keys that were typed before a question appeared.
    DropInput,
    /// Draw every cell anew.
    Repaint,
    /// Give the terminal back and stop until the shell continues us.
    Suspend,
    /// End the screen.
    Leave,
}

/// A yes-or-no question that is not an approval.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// What is asked, one line.
    pub title: Arc<str>,
    /// What a yes would mean.
    pub detail: Arc<str>,
    /// What a yes does.
    pub yes: Box<Effect>,
}

/// Somewhere to go on the screen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// The tools view, filtered to a connection.
    ToolsOf(crate::ids::ConnectionName),
    /// The tools view, filtered to what a seat holds.
    ToolsOfSeat(crate::ids::SeatHandle),
    /// The tools view, filtered to what a worker of the seat may hold.
    ToolsOfWorker(crate::ids::SeatHandle),
    /// The calls view with this call selected.
    Call(crate::ids::CallId),
    /// This item by its key, where the work view is in front.
    Item(Arc<str>),
    /// The connector's audit.
    Trail,
}

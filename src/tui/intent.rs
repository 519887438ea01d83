//! What the person means, and what must be done about it. The keymap makes intents; nobody else looks at keys.

use std::sync::Arc;

use crate::engine::command::Command;

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
    /// Step through class filters.
    CycleClass,
    /// Step through server filters.
    CycleServer,
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
    /// Show the schema whole.
    Schema,
    /// Open the oldest waiting question.
    OpenOldest,
    /// On a card: arm, then commit.
    Approve,
    /// On a card: deny with a reason.
    Deny,
    /// On a card: all arguments.
    AllArguments,
    /// Send what the editor holds.
    Submit,
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

/// What must be done outside the screen's own state.
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
    /// Open the editor for a call of this catalogue name.
    EditCall(Arc<str>),
    /// Open the card of this question.
    OpenCard(crate::ids::ApprovalId),
}

/// Somewhere to go on the screen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// The tools view, filtered to a connection.
    ToolsOf(crate::ids::ConnectionName),
    /// The calls view with this call selected.
    Call(crate::ids::CallId),
}

//! The keys of the hint line: of the pane with the focus, and only those that do something now.

use super::Ui;
use crate::engine::snapshot::Snapshot;
use crate::tui::intent::Intent;
use crate::tui::keymap::Context;
use crate::tui::layout::TWO_PANES;

impl Ui {
    /// The keys that do something where the focus is.
    pub(super) fn hints(&self, snapshot: &Snapshot) -> Vec<(String, &'static str)> {
        let context = self.context();
        let nothing_waits =
            snapshot.approvals.is_empty() && snapshot.forms.is_empty() && snapshot.stopped_seats.is_empty();
        let possible = |intent: Intent| {
            let fixed = snapshot.read_only && changes(context, intent);
            let idle = context == Context::Approvals && nothing_waits && intent != Intent::Grants;
            let empty = match intent {
                Intent::Revoke => snapshot.grants.is_empty(),
                Intent::CancelCall => !self.panes.may_give_up(snapshot),
                Intent::NextMatch => !self.panes.searching(),
                Intent::Open if context == Context::Inbox => !self.panes.may_answer(snapshot),
                _ => false,
            };
            !(fixed
                || empty
                || !self.panes.possible(intent)
                || (idle && !matches!(intent, Intent::CommandLine | Intent::Help)))
        };
        let mut hints = self.keymap.hints(context, possible);
        let in_pane = self.modals.is_empty() && !self.panes.typing();
        if in_pane && self.screen.width < TWO_PANES {
            hints.splice(0..0, self.other_pane(context, snapshot));
        }
        if let Some(words) = self.panes.way_back().filter(|_| in_pane) {
            let key = |context, intent| self.keymap.key_for(context, intent);
            hints.retain(|(_, hint)| *hint != words);
            hints.splice(0..0, key(Context::Global, Intent::Back).map(|key| (key, words)));
            if matches!(context, Context::Tools | Context::Calls) {
                hints.splice(0..0, key(Context::List, Intent::Down).map(|key| (key, "scroll")));
            }
        }
        hints
    }

    /// Where one pane has the whole screen and the keys' hints do not lead to the other one: the key that does.
    fn other_pane(&self, context: Context, snapshot: &Snapshot) -> Option<(String, &'static str)> {
        if self.panes.way_back().is_some() {
            return None;
        }
        let key = |context, intent| self.keymap.key_for(context, intent);
        match context {
            Context::Servers if !snapshot.servers.is_empty() => Some((key(context, Intent::Open)?, "stderr")),
            Context::Tools if !snapshot.catalog.entries().is_empty() => {
                Some((key(Context::Global, Intent::Next)?, "details"))
            }
            Context::Sessions if !snapshot.sessions.is_empty() => {
                Some((key(Context::Global, Intent::Next)?, "details"))
            }
            _ => None,
        }
    }
}

/// True for what `--read-only` does not allow.
const fn changes(context: Context, intent: Intent) -> bool {
    match intent {
        Intent::Restart
        | Intent::ToggleEnabled
        | Intent::Revoke
        | Intent::StopSeat
        | Intent::ReleaseSeat
        | Intent::DenyAll
        | Intent::CancelCall
        | Intent::NewItem
        | Intent::Comment
        | Intent::EditText
        | Intent::SetStatus
        | Intent::SetPriority
        | Intent::Assign
        | Intent::MoveItem
        | Intent::Remove
        | Intent::Restore => true,
        Intent::Open => matches!(context, Context::Tools | Context::Inbox),
        _ => false,
    }
}

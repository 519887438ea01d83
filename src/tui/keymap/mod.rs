//! From a key press to an [`Intent`], by where the screen stands. Nobody else looks at keys, except fields that
//! take text.
//!
//! The defaults are in [`table`]; `tui.keys` replaces the keys of an action everywhere the action occurs.

pub mod key;
pub mod table;

use std::fmt::Write as _;
use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent};

use self::key::Key;
use self::table::{Row, TABLE};
use super::intent::Intent;
use crate::tool::ConfigRef;

/// Where a key is looked up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Context {
    /// Everywhere outside modals and text fields.
    Global,
    /// Every list and text pane.
    List,
    /// The list of servers.
    Servers,
    /// A server's stderr.
    Stderr,
    /// The catalogue.
    Tools,
    /// As whom the catalogue is looked at.
    Looks,
    /// Waiting questions.
    Approvals,
    /// Remembered decisions.
    Grants,
    /// Calls.
    Calls,
    /// Agents that use the surfaces.
    Sessions,
    /// Our own diagnostics.
    Log,
    /// The company's chart.
    Seats,
    /// Work items.
    Work,
    /// The company's pages.
    Pages,
    /// One page, while it is read.
    Page,
    /// The scoped connector's audit.
    Trail,
    /// A sheet to write on.
    Compose,
    /// A list to choose from.
    Choose,
    /// What stands in the seats' inboxes.
    Inbox,
    /// An approval card.
    Card,
    /// The arguments or the definition on all of a card.
    CardReading,
    /// What to remember of an approval.
    CardRemember,
    /// The reason of a denial.
    CardReason,
    /// The editor of a call.
    Editor,
    /// The answer to a question of the inbox.
    Answer,
    /// A server's question.
    Form,
    /// The workers of a seat.
    Workers,
    /// What a new worker should have.
    WorkerOrder,
    /// A worker that was just made.
    WorkerMade,
    /// A yes-or-no question that is not an approval.
    Confirm,
    /// The help screen.
    Help,
    /// A filter or search field.
    Filter,
}

impl Context {
    /// Whether lines that are longer than the pane are scrolled sideways there.
    pub const fn scrolls_sideways(self) -> bool {
        matches!(self, Self::Stderr | Self::Log | Self::Trail)
    }

    /// All of them, in the order of the help screen.
    pub const ALL: [Self; 32] = [
        Self::Global,
        Self::List,
        Self::Servers,
        Self::Stderr,
        Self::Tools,
        Self::Looks,
        Self::Approvals,
        Self::Grants,
        Self::Calls,
        Self::Sessions,
        Self::Log,
        Self::Seats,
        Self::Work,
        Self::Pages,
        Self::Page,
        Self::Trail,
        Self::Compose,
        Self::Choose,
        Self::Inbox,
        Self::Card,
        Self::CardReading,
        Self::CardRemember,
        Self::CardReason,
        Self::Editor,
        Self::Answer,
        Self::Form,
        Self::Workers,
        Self::WorkerOrder,
        Self::WorkerMade,
        Self::Confirm,
        Self::Help,
        Self::Filter,
    ];

    /// Its heading.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Global => "Everywhere",
            Self::List => "Lists and text",
            Self::Servers => "Servers",
            Self::Stderr => "Standard error",
            Self::Tools => "Tools",
            Self::Looks => "As whom to look at the tools",
            Self::Approvals => "Approvals",
            Self::Grants => "Grants",
            Self::Calls => "Calls",
            Self::Sessions => "Sessions",
            Self::Log => "Log",
            Self::Seats => "Seats",
            Self::Work => "Work",
            Self::Pages => "Pages",
            Self::Page => "Reading a page",
            Self::Trail => "Connector",
            Self::Compose => "Writing",
            Self::Choose => "Choosing",
            Self::Inbox => "Inbox",
            Self::Card => "Approval card",
            Self::CardReading => "Reading on a card",
            Self::CardRemember => "What to remember",
            Self::CardReason => "Reason of a denial",
            Self::Editor => "Call editor",
            Self::Answer => "Answer",
            Self::Form => "A server's question",
            Self::Workers => "Workers of a seat",
            Self::WorkerOrder => "Making a worker",
            Self::WorkerMade => "A new worker",
            Self::Confirm => "Question",
            Self::Help => "Help",
            Self::Filter => "Search field",
        }
    }

    /// Where a key is looked up next when this context does not know it.
    pub const fn parent(self) -> Option<Self> {
        match self {
            Self::Servers
            | Self::Stderr
            | Self::Tools
            | Self::Approvals
            | Self::Grants
            | Self::Calls
            | Self::Sessions
            | Self::Log
            | Self::Seats
            | Self::Work
            | Self::Pages
            | Self::Page
            | Self::Trail
            | Self::Inbox => Some(Self::List),
            Self::List => Some(Self::Global),
            _ => None,
        }
    }

    /// This context and those that it falls back to, in the order in which they are asked.
    pub fn chain(self) -> impl Iterator<Item = Self> {
        std::iter::successors(Some(self), |context| context.parent())
    }
}

/// Something wrong in `tui.keys`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum KeyProblem {
    /// No such action.
    #[error("{place}: there is no action \"{action}\" to bind keys to; the help screen's names are in the README")]
    UnknownAction {
        /// As written.
        action: Arc<str>,
        /// Where.
        place: ConfigRef,
    },
    /// No such key.
    #[error("{place}: \"{key}\" is no key; write it like ctrl-x, f5, pageup or a single character")]
    UnknownKey {
        /// As written.
        key: Arc<str>,
        /// Where.
        place: ConfigRef,
    },
    /// Two actions on one key in one place.
    #[error("{place}: {key} already means \"{other}\" under {}; \"{action}\" does not get it there", .context.words())]
    Conflict {
        /// The key.
        key: String,
        /// The action that keeps it.
        other: &'static str,
        /// The action that asked for it.
        action: &'static str,
        /// Where on the screen.
        context: Context,
        /// Where in the file.
        place: ConfigRef,
    },
    /// A key that must never decide.
    #[error("{place}: {key} cannot be bound to \"{action}\": Enter, Esc, q and Ctrl-C never decide anything")]
    MustNotDecide {
        /// The key.
        key: String,
        /// The action.
        action: &'static str,
        /// Where.
        place: ConfigRef,
    },
}

/// All bindings of this run.
#[derive(Clone, Debug)]
pub struct Keymap {
    bindings: Vec<Binding>,
}

#[derive(Clone, Debug)]
struct Binding {
    row: &'static Row,
    keys: Vec<Key>,
    place: Option<ConfigRef>,
}

impl Default for Keymap {
    fn default() -> Self {
        Self { bindings: TABLE.iter().map(|row| Binding { row, keys: row.keys.to_vec(), place: None }).collect() }
    }
}

/// One entry of `tui.keys`: an action's name, its keys as written, and where it stands.
pub type Override = (Arc<str>, Vec<Arc<str>>, ConfigRef);

/// Looks a key up among the defaults.
pub fn lookup(context: Context, event: KeyEvent) -> Option<Intent> {
    Keymap::default().lookup(context, event)
}

impl Keymap {
    /// The defaults with `tui.keys` laid over them, and everything that is wrong there. What is wrong is left out.
    pub fn with(overrides: &[Override]) -> (Self, Vec<KeyProblem>) {
        let mut map = Self::default();
        let mut problems = Vec::new();
        for (action, written, place) in overrides {
            let keys = read_keys(written, place, &mut problems);
            let mut found = false;
            for binding in map.bindings.iter_mut().filter(|binding| binding.row.intent.name() == &**action) {
                found = true;
                binding.keys = allowed(binding.row, &keys, place, &mut problems);
                binding.place = Some(place.clone());
            }
            if !found {
                problems.push(KeyProblem::UnknownAction { action: action.clone(), place: place.clone() });
            }
        }
        map.settle(&mut problems);
        (map, problems)
    }

    /// What a key means. In modals and text fields only keys with Ctrl reach the global ones.
    pub fn lookup(&self, context: Context, event: KeyEvent) -> Option<Intent> {
        let key = Key::from(event);
        let fallback = (key.has_ctrl() && context.chain().all(|c| c != Context::Global)).then_some(Context::Global);
        context.chain().chain(fallback).find_map(|context| {
            self.bindings
                .iter()
                .find(|binding| binding.row.context == context && binding.keys.contains(&key))
                .map(|binding| binding.row.intent)
        })
    }

    /// The first key of an intent in a context, as shown.
    pub fn key_for(&self, context: Context, intent: Intent) -> Option<String> {
        let binding = self.bindings.iter().find(|b| b.row.context == context && b.row.intent == intent)?;
        binding.keys.first().map(Key::to_string)
    }

    /// Keys and words for the hint line of a context, the most important first, of the intents that can be carried
    /// out.
    pub fn hints(&self, context: Context, possible: impl Fn(Intent) -> bool) -> Vec<(String, &'static str)> {
        let chain: Vec<_> = context.chain().collect();
        let in_chain = chain.iter().flat_map(|context| self.bindings.iter().filter(|b| b.row.context == *context));
        in_chain
            .filter(|b| possible(b.row.intent))
            .filter_map(|b| Some((b.keys.first()?.to_string(), b.row.hint?)))
            .collect()
    }

    /// Keys and words of one context, for the help screen.
    pub fn rows(&self, context: Context) -> Vec<(String, &'static str)> {
        let rows = self.bindings.iter().filter(|b| b.row.context == context && !b.keys.is_empty());
        rows.map(|b| (joined(&b.keys, "  "), b.row.words)).collect()
    }

    /// An override takes its key from nobody: on a conflict the other action keeps it.
    fn settle(&mut self, problems: &mut Vec<KeyProblem>) {
        let taken: Vec<(Context, Intent, Key, bool)> = self
            .bindings
            .iter()
            .flat_map(|b| b.keys.iter().map(move |key| (b.row.context, b.row.intent, *key, b.place.is_some())))
            .collect();
        for binding in &mut self.bindings {
            let (row, Some(place)) = (binding.row, binding.place.clone()) else { continue };
            binding.keys.retain(|key| {
                let mine = taken.iter().position(|(c, i, k, _)| (*c, *i, *k) == (row.context, row.intent, *key));
                let other = taken.iter().enumerate().find(|(at, (context, intent, other, overridden))| {
                    *context == row.context
                        && *intent != row.intent
                        && other == key
                        && (!overridden || Some(*at) < mine)
                });
                if let Some((_, (_, other, ..))) = other {
                    problems.push(KeyProblem::Conflict {
                        key: key.to_string(),
                        other: other.name(),
                        action: row.intent.name(),
                        context: row.context,
                        place: place.clone(),
                    });
                }
                other.is_none()
            });
        }
    }
}

/// The key table of the README, from the defaults.
pub fn markdown() -> String {
    let mut out = String::new();
    for context in Context::ALL {
        let _ = write!(out, "**{}**\n\n| keys | action | does |\n|---|---|---|\n", context.words());
        for row in TABLE.iter().filter(|row| row.context == context) {
            let keys: Vec<String> = row.keys.iter().map(|key| format!("`{key}`")).collect();
            let _ = writeln!(out, "| {} | `{}` | {} |", keys.join(" "), row.intent.name(), row.words);
        }
        out.push('\n');
    }
    out
}

fn joined(keys: &[Key], between: &str) -> String {
    keys.iter().map(Key::to_string).collect::<Vec<_>>().join(between)
}

fn read_keys(written: &[Arc<str>], place: &ConfigRef, problems: &mut Vec<KeyProblem>) -> Vec<Key> {
    let mut keys = Vec::new();
    for text in written {
        match Key::parse(text) {
            Ok(key) => keys.push(key),
            Err(_) => problems.push(KeyProblem::UnknownKey { key: text.clone(), place: place.clone() }),
        }
    }
    keys
}

fn allowed(row: &Row, keys: &[Key], place: &ConfigRef, problems: &mut Vec<KeyProblem>) -> Vec<Key> {
    let decides = match row.context {
        Context::Card => {
            matches!(row.intent, Intent::Approve | Intent::ApproveAll | Intent::Deny | Intent::DenyAll)
        }
        Context::Form => matches!(row.intent, Intent::Submit | Intent::Decline | Intent::Dismiss),
        Context::WorkerOrder => row.intent == Intent::Submit,
        _ => false,
    };
    let never = [Key::code(KeyCode::Enter), Key::code(KeyCode::Esc), Key::char('q'), Key::ctrl('c')];
    let mut kept = Vec::new();
    for key in keys {
        if decides && never.contains(key) {
            let (key, action) = (key.to_string(), row.intent.name());
            problems.push(KeyProblem::MustNotDecide { key, action, place: place.clone() });
        } else {
            kept.push(*key);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::KeyModifiers;
    use std::collections::HashSet;

    fn press(code: KeyCode) -> KeyEvent {
        KeyEvent::new(code, KeyModifiers::NONE)
    }

    fn line(line: u32) -> ConfigRef {
        ConfigRef { file: "config.yaml".into(), line }
    }

    fn bind(action: &str, keys: &[&str]) -> Override {
        (action.into(), keys.iter().map(|key| Arc::from(*key)).collect(), line(9))
    }

    #[test]
    fn no_key_means_two_things_in_one_context() {
        let mut seen = HashSet::new();
        for row in TABLE {
            for key in row.keys {
                assert!(seen.insert((row.context, *key)), "{key} twice under {:?}", row.context);
            }
        }
    }

    #[test]
    fn nothing_but_its_keys_decides_a_card() {
        for code in [KeyCode::Enter, KeyCode::Esc, KeyCode::Char('q'), KeyCode::Char(' ')] {
            let intent = lookup(Context::Card, press(code));
            assert!(!matches!(intent, Some(Intent::Approve | Intent::Deny)), "{code:?}");
        }
        assert_eq!(lookup(Context::Card, KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)), Some(Intent::Quit));
        assert_eq!(lookup(Context::Card, press(KeyCode::Char('y'))), Some(Intent::Approve));
        assert_eq!(lookup(Context::Card, press(KeyCode::Char('a'))), None);
    }

    #[test]
    fn panes_fall_back_to_lists_and_lists_to_everywhere() {
        assert_eq!(lookup(Context::Tools, press(KeyCode::Char('j'))), Some(Intent::Down));
        assert_eq!(lookup(Context::Log, press(KeyCode::Char('q'))), Some(Intent::Quit));
        assert_eq!(lookup(Context::Filter, press(KeyCode::Char('q'))), None);
    }

    #[test]
    fn overrides_replace_the_keys_of_an_action() {
        let (map, problems) = Keymap::with(&[bind("restart", &["R"])]);
        assert_eq!(problems, []);
        assert_eq!(map.lookup(Context::Servers, press(KeyCode::Char('R'))), Some(Intent::Restart));
        assert_eq!(map.lookup(Context::Servers, press(KeyCode::Char('r'))), None);
        assert_eq!(map.lookup(Context::Stderr, press(KeyCode::Char('R'))), Some(Intent::Restart));
    }

    #[test]
    fn what_is_wrong_is_reported_and_left_out() {
        let (map, problems) = Keymap::with(&[
            bind("restart", &["t"]),
            bind("fly", &["x"]),
            bind("help", &["hyper-h"]),
            bind("approve", &["enter", "y"]),
        ]);
        let text: Vec<String> = problems.iter().map(KeyProblem::to_string).collect();
        assert_eq!(
            text,
            [
                "config.yaml:9: there is no action \"fly\" to bind keys to; the help screen's names are in the README",
                "config.yaml:9: \"hyper-h\" is no key; write it like ctrl-x, f5, pageup or a single character",
                "config.yaml:9: Enter cannot be bound to \"approve\": Enter, Esc, q and Ctrl-C never decide anything",
                "config.yaml:9: t already means \"show_tools\" under Servers; \"restart\" does not get it there",
                "config.yaml:9: t already means \"show_tools\" under Standard error; \"restart\" does not get it there",
            ]
        );
        assert_eq!(map.lookup(Context::Servers, press(KeyCode::Char('t'))), Some(Intent::ShowTools));
        assert_eq!(map.lookup(Context::Card, press(KeyCode::Enter)), None);
    }

    #[test]
    fn the_readme_table_names_every_action() {
        let table = markdown();
        assert!(TABLE.iter().all(|row| table.contains(&format!("`{}`", row.intent.name()))));
    }
}

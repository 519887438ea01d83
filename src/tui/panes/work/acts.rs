//! What the keys of the work view change: each is one call of a tool of the tracker's, begun by writing or choosing.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::WorkPane;
use crate::engine::snapshot::Snapshot;
use crate::org::SeatKind;
use crate::rows::work::Head;
use crate::tui::act::{Act, Then, fixed, tool, words};
use crate::tui::choose::Choice;
use crate::tui::compose::{Blank, Draft};
use crate::tui::intent::{Effect, Intent};

/// The project that the tracker makes by itself, offered where there is none.
const FIRST_PROJECT: &str = "WORK";

/// A call about an item.
fn about(tool: &'static str, item: &str, done: impl Into<Arc<str>>) -> Act {
    let arguments = Map::from_iter([("item".to_owned(), item.into())]);
    Act { tool, arguments, done: done.into(), then: Then::Stay, draft: None }
}

/// The same with one more argument.
fn with(mut act: Act, argument: &str, value: Value) -> Effect {
    act.arguments.insert(argument.to_owned(), value);
    Effect::Act(act)
}

fn complain(words: impl Into<Arc<str>>) -> Effect {
    Effect::Complain(words.into())
}

impl WorkPane {
    /// What a key that changes something comes to.
    pub(super) fn change(&self, intent: Intent, snapshot: &Snapshot) -> Option<Effect> {
        if let Some(no) = fixed(snapshot) {
            return Some(no);
        }
        if let Some(Err(closed)) = &self.listed {
            return Some(complain(closed.clone()));
        }
        if intent == Intent::NewItem {
            return Some(self.new_item());
        }
        let Some(head) = self.head() else {
            let gone = |key| format!("{key} is not in the list any more; Esc goes back to it");
            return Some(complain(self.selected().map_or_else(|| "no item is selected".to_owned(), gone)));
        };
        let key = &*head.key;
        if self.trash && intent != Intent::Restore && intent != Intent::Remove {
            return Some(complain(format!("{key} is in the trash; R takes it out")));
        }
        Some(match intent {
            Intent::Comment => Effect::Write(Box::new(Draft {
                title: format!("Comment on {key}").into(),
                blanks: vec![Blank::text("body", "").required()],
                act: about("comment_on_work_item", key, "has your comment"),
                failed: None,
                place: None,
            })),
            Intent::EditText => return Some(self.edit_text(key)),
            Intent::SetStatus => choose_word(head, ("status", &head.status), snapshot),
            Intent::SetPriority => choose_word(head, ("priority", head.priority), snapshot),
            Intent::Assign => assign(head, snapshot),
            Intent::MoveItem => self.move_item(head, snapshot),
            Intent::Remove if self.trash => complain(format!("{key} is in the trash already")),
            Intent::Remove => {
                Effect::Act(about("remove_work_item", key, "is in the trash; t shows it, R takes it out"))
            }
            Intent::Restore if !self.trash => complain(format!("{key} is not in the trash; t shows what is")),
            Intent::Restore => Effect::Act(about("restore_work_item", key, "is out of the trash")),
            _ => return None,
        })
    }

    fn new_item(&self) -> Effect {
        let listed = self.listed();
        let fits = |project: &&Arc<str>| {
            let wanted = self.two.filter.value("project");
            wanted.is_some_and(|wanted| project.to_lowercase().starts_with(&wanted))
        };
        let projects = || listed.into_iter().flat_map(|listed| listed.projects.iter().map(|project| &project.key));
        let here = self.head().and_then(|head| head.key.rsplit_once('-')).map(|(project, _)| project);
        let project = projects().find(fits).map(|key| &**key).or(here).or_else(|| projects().next().map(|key| &**key));
        let act = Act {
            tool: "create_work_item",
            arguments: Map::new(),
            done: "is made".into(),
            then: Then::ShowItem,
            draft: None,
        };
        Effect::Write(Box::new(Draft {
            title: "New work item".into(),
            blanks: vec![
                Blank::line("project", project.unwrap_or(FIRST_PROJECT)),
                Blank::line("title", ""),
                Blank::text("body", ""),
            ],
            act,
            failed: None,
            place: None,
        }))
    }

    /// Title and text of the item as it was read; it is not changed when somebody else was faster.
    fn edit_text(&self, key: &str) -> Effect {
        let Some(item) = self.item().filter(|item| &*item.head.key == key) else {
            return complain(format!("{key} is being read: try again; Enter shows it"));
        };
        let mut act = about("update_work_item", key, "is changed");
        act.arguments.insert("if_match".to_owned(), item.version.into());
        Effect::Write(Box::new(Draft {
            title: format!("Edit {key}").into(),
            blanks: vec![Blank::line("title", &item.head.title).optional(), Blank::text("body", &item.body)],
            act,
            failed: None,
            place: None,
        }))
    }

    fn move_item(&self, head: &Head, snapshot: &Snapshot) -> Effect {
        if tool("move_work_item", snapshot).is_none() {
            return complain("there is no tool that moves items to another project");
        }
        let own = head.key.rsplit_once('-').map_or("", |(project, _)| project);
        let projects: Vec<_> = self.listed().into_iter().flat_map(|listed| &listed.projects).collect();
        if projects.len() < 2 {
            return complain("there is no other project to move it to");
        }
        let option = |project: &&crate::rows::work::Project| {
            let act = about("move_work_item", &head.key, format!("is in {} now", project.key));
            // It has another key there.
            let act = Act { then: Then::ShowItem, ..act };
            (project.key.clone(), project.name.clone(), with(act, "project", (*project.key).into()))
        };
        let now = projects.iter().position(|project| &*project.key == own);
        let options = projects.iter().map(option).collect();
        Effect::Choose(Choice { title: format!("Move {} to", head.key).into(), options, now })
    }
}

/// One of the words that the tool takes for this field.
fn choose_word(head: &Head, (field, now): (&'static str, &str), snapshot: &Snapshot) -> Effect {
    let words = words("update_work_item", field, snapshot);
    if words.is_empty() {
        return complain("there is no tool that changes items: nothing was done");
    }
    let option = |word: &Arc<str>| {
        let shown: Arc<str> = word.replace('_', " ").into();
        let act = about("update_work_item", &head.key, format!("has {field} {shown} now"));
        (shown, Arc::from(""), with(act, field, (**word).into()))
    };
    let at = words.iter().position(|word| &**word == now);
    let options = words.iter().map(option).collect();
    Effect::Choose(Choice { title: format!("{field} of {}", head.key).into(), options, now: at })
}

/// One of the seats, or nobody.
fn assign(head: &Head, snapshot: &Snapshot) -> Effect {
    let act = |done: String| about("update_work_item", &head.key, done);
    let nobody = with(act("is nobody's now".to_owned()), "assignee", Value::Null);
    let mut options = vec![(Arc::from("nobody"), Arc::from(""), nobody)];
    for seat in snapshot.chart.seats() {
        let handle: Arc<str> = seat.handle.as_str().into();
        let kind = if seat.kind == SeatKind::Human { "human" } else { "agent" };
        let effect = with(act(format!("is {handle}'s now")), "assignee", (*handle).into());
        options.push((handle, format!("{} · {kind}", seat.name).into(), effect));
    }
    let now = match head.assignee.as_deref() {
        None => Some(0),
        Some(name) => options.iter().position(|(handle, ..)| &**handle == name),
    };
    Effect::Choose(Choice { title: format!("who works on {}", head.key).into(), options, now })
}

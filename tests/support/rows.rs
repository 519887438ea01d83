//! The company's rows as a screen gets them: a reader that answers at once, and a catalogue with the company's own tools.

use std::sync::Arc;

use crewlet_tui::clock::Timestamp;
use crewlet_tui::config::model::Source;
use crewlet_tui::engine::first_party::FirstParty as _;
use crewlet_tui::engine::ring::Ring;
use crewlet_tui::engine::snapshot::Snapshot;
use crewlet_tui::native::Native;
use crewlet_tui::rows::memory::{Kept, Note, Remembered, What};
use crewlet_tui::rows::pages::Page;
use crewlet_tui::rows::trail::Record;
use crewlet_tui::rows::work::Head;
use crewlet_tui::rows::{Answer, Ask, Found, pages, work};
use crewlet_tui::store::Store;
use crewlet_tui::tool::Catalog;
use crewlet_tui::tool::names::Names;

use super::sample::ago;

/// What there is.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub items: Vec<work::Item>,
    pub pages: Vec<pages::Page>,
    pub trail: Vec<Arc<Record>>,
    /// What every seat remembers.
    pub notes: Vec<Note>,
    /// Nothing can be read, for this reason.
    pub closed: Option<Arc<str>>,
}

impl Rows {
    /// A company at work.
    pub fn sample() -> Self {
        let mut items = vec![
            item("WEB-12", "Release notes for 2.4 say nothing of the new login", "in_progress", "urgent"),
            item("WEB-9", "Branch protection is off on main", "in_review", "high"),
            item("WEB-13", "Rotate the search key", "todo", "normal"),
            item("OPS-2", "Disk of the build machine is full twice a week", "todo", "none"),
            item("WEB-4", "Old docs answer 404", "done", "low"),
            item("OPS-1", "Try the other mail server", "cancelled", "none"),
        ];
        let whole = &mut items[0];
        whole.head.assignee = Some("release".into());
        whole.head.labels = vec!["docs".into(), "2.4".into()];
        whole.head.due = Some("2026-12-04".into());
        whole.body =
            "The login page changed in 2.4 and the notes do not say so.\n\nSupport was asked three times.".into();
        whole.parent = Some(link("WEB-1", "Release 2.4", "in_progress"));
        whole.links = vec![("blocked by".into(), link("WEB-9", "Branch protection is off on main", "in_review"))];
        whole.fields = vec![("severity".into(), "2".into())];
        whole.kind = "bug".into();
        whole.children = vec![link("WEB-13", "Rotate the search key", "todo")];
        whole.comments = vec![
            comment("seat:release", 7_200, "I have a draft; the screenshots are missing."),
            comment("operator:founder", 600, "Thank you.\nPlease ship it today."),
        ];
        whole.history = vec![
            change(600, "operator:founder", "commented", ""),
            change(9_000, "seat:release", "updated", "status assignee"),
            change(90_000, "operator:founder", "created", ""),
        ];
        items[1].head.assignee = Some("ops".into());
        let pages = vec![
            page("a", ("main", "How we write release notes"), 3),
            page("b", ("main", "Who decides what"), 1),
            page("c", ("runbooks", "The build machine"), 7),
        ];
        let scopes = "issues:read issues:write";
        let trail = vec![
            record(3_600, "list_issues", ("success", ""), scopes),
            record(3_540, "create_issue", ("success", ""), scopes),
            record(3_480, "delete_issue", ("denied", "destructive_flag_missing"), scopes),
            record(60, "trigger_autopilot", ("denied", "scope_missing"), "issues:read"),
            record(30, "update_issue", ("error", "invalid_arguments"), scopes),
        ];
        Self { items, pages, trail, notes: notes(), closed: None }
    }

    /// Every text is foreign and hostile.
    pub fn hostile() -> Self {
        let long: Arc<str> = "漢字e\u{301}\u{1b}[2J\u{202e}👨‍👩‍👧‍👦\u{9b}31m\n".repeat(20).into();
        let mut rows = Self::sample();
        for item in &mut rows.items {
            let Head { key, title, status, assignee, due, labels, .. } = &mut item.head;
            for text in [key, title, status, assignee.get_or_insert_default(), due.get_or_insert_default()] {
                *text = format!("{text}{long}").into();
            }
            *labels = vec![long.clone(); 3];
            (item.body, item.reporter) = (long.clone(), long.clone());
            item.children = vec![link(&long, &long, &long); 3];
            item.links = vec![(long.clone(), link(&long, &long, &long)); 3];
            (item.fields, item.kind) = (vec![(long.clone(), long.clone()); 3], long.clone());
            item.comments = vec![comment(&long, 1, &long); 3];
            item.history = vec![change(1, &long, &long, &long); 3];
        }
        for page in &mut rows.pages {
            let Page { head, body, parent, versions, comments, .. } = page;
            (head.title, head.container, head.author) = (long.clone(), long.clone(), long.clone());
            (*body, *parent) = (long.clone(), Some(long.clone()));
            for version in versions.iter_mut() {
                (version.author, version.message) = (long.clone(), Some(long.clone()));
            }
            *comments = vec![comment(&long, 1, &long); 3];
        }
        let hostile =
            Record { tool: long.clone(), outcome: long.clone(), reason: long.clone(), scopes: long, at: ago(1) };
        rows.trail = (0..30).map(|_| Arc::new(hostile.clone())).collect();
        let text: Arc<str> = rows.trail[0].tool.clone();
        for note in &mut rows.notes {
            note.text = text.clone();
            match &mut note.what {
                What::Entry { remark, .. } => *remark = Some(text.clone()),
                What::Skill { name, about, .. } => (*name, *about) = (text.clone(), text.clone()),
                What::Turn { task, outcome, tools, skills, .. } => {
                    (*task, *outcome) = (text.clone(), text.clone());
                    (*tools, *skills) = (vec![text.clone(); 3], vec![text.clone(); 3]);
                }
            }
        }
        rows
    }

    /// What a reader would answer.
    pub fn answer(&self, ask: &Ask) -> Answer {
        let found = match (&self.closed, ask) {
            (Some(why), _) => Err(why.clone()),
            (None, Ask::Work(wanted)) => Ok(Found::Work(self.list(wanted))),
            (None, Ask::Item(key)) => {
                Ok(Found::Item(self.items.iter().find(|item| item.head.key == *key).cloned().map(Box::new)))
            }
            (None, Ask::Pages(wanted)) => {
                let fits = |page: &&pages::Page| page.head.title.to_lowercase().contains(&wanted.text);
                let found: Vec<_> = self.pages.iter().filter(fits).map(|page| page.head.clone()).collect();
                Ok(Found::Pages(pages::Listed { all: found.len(), pages: found }))
            }
            (None, Ask::Page(id, version)) => {
                let page = self.pages.iter().find(|page| page.head.id == *id).cloned();
                Ok(Found::Page(page.map(|mut page| {
                    page.head.version = version.unwrap_or(page.newest);
                    Box::new(page)
                })))
            }
            (None, Ask::Memory(wanted)) => {
                let part = |note: &&Note| match note.what {
                    What::Entry { .. } => wanted.kept == Kept::Diary,
                    What::Skill { .. } => wanted.kept == Kept::Skills,
                    What::Turn { .. } => wanted.kept == Kept::Turns,
                };
                let notes: Vec<Note> = self.notes.iter().filter(part).cloned().collect();
                let more = if wanted.kept == Kept::Diary { 40 } else { 0 };
                let onboarded = (wanted.kept != Kept::Skills).then(|| ago(90_000));
                Ok(Found::Memory(Remembered { all: notes.len() + more, notes, onboarded }))
            }
            (None, Ask::Trail) => {
                let mut ring = Ring::new(100);
                self.trail.iter().for_each(|record| ring.push(record.clone()));
                Ok(Found::Trail(ring))
            }
        };
        Answer { ask: ask.clone(), found }
    }

    fn list(&self, wanted: &work::Wanted) -> work::Listed {
        let fits = |item: &&work::Item| {
            let begins = |text: &str, beginning: &Option<String>| {
                beginning.as_ref().is_none_or(|beginning| text.to_lowercase().starts_with(beginning.as_str()))
            };
            let head = &item.head;
            head.removed.is_some() == wanted.trash
                && begins(&head.status, &wanted.status)
                && begins(&head.key, &wanted.project)
                && head.title.to_lowercase().contains(&wanted.text)
        };
        let found: Vec<_> = self.items.iter().filter(fits).map(|item| item.head.clone()).collect();
        let project = |key: &str, name: &str| work::Project { key: key.into(), name: name.into() };
        work::Listed {
            all: found.len(),
            items: found.into_iter().take(wanted.most).collect(),
            projects: vec![project("OPS", "Operations"), project("WEB", "Website")],
        }
    }
}

/// The same with the company's own tools in its catalogue.
pub fn with_tools(mut snapshot: Snapshot) -> Snapshot {
    let text = "name: Acme AI\nmcp_servers: []\n";
    let config = crewlet_tui::config::load(text, &Source::File("config.yaml".into())).unwrap().config;
    // Nothing is opened before it is used.
    let native = Native::open(&config, Store::new(std::path::Path::new("/nowhere")));
    let (own, _) = Catalog::place(&native.sources(), &Names::default());
    let entries = snapshot.catalog.entries().iter().chain(own.entries()).cloned().collect();
    snapshot.catalog = Arc::new(Catalog::new(entries, Vec::new()));
    snapshot
}

fn notes() -> Vec<Note> {
    let entry = |seconds, until: Option<i64>, found, remark: Option<&str>, text: &str| Note {
        at: ago(seconds),
        what: What::Entry { until: until.map(|until| ago(-until)), found, remark: remark.map(Into::into) },
        text: text.into(),
    };
    let skill = |name: &str, about: &str, state, version, text: &str| Note {
        at: ago(3_600),
        what: What::Skill { name: name.into(), about: about.into(), state, version, used: version * 2 },
        text: text.into(),
    };
    let turn = |seconds, outcome: &str, task: &str, tools: &[&str], text: &str| Note {
        at: ago(seconds),
        what: What::Turn {
            task: task.into(),
            outcome: outcome.into(),
            took: std::time::Duration::from_secs(75),
            tools: tools.iter().map(|tool| (*tool).into()).collect(),
            skills: if outcome == "done" { vec!["cut-a-release".into()] } else { Vec::new() },
        },
        text: text.into(),
    };
    vec![
        entry(600, None, 3, Some("said by ops"), "Tags are signed with the key of the build machine, never with mine."),
        entry(7_200, Some(259_200), 0, None, "Freeze until Monday.\nAsk the founder before any merge."),
        skill(
            "cut-a-release",
            "Branch, notes, tag",
            "active",
            4,
            "# Cut a release\n\n- branch from main\n- notes first\n- tag last",
        ),
        skill("rotate-keys", "", "stale", 1, "Ask ops."),
        turn(
            900,
            "done",
            "Release 2.4",
            &["github_create_branch", "write_page", "github_create_branch"],
            "Branch is cut.\nReached: github, pages.",
        ),
        turn(90_000, "self_iterate", "a turn that called get_page", &["get_page"], ""),
        turn(180_000, "failed", "Rotate the search key", &[], "Nobody gave me the key."),
    ]
}

fn item(key: &str, title: &str, status: &str, priority: &'static str) -> work::Item {
    work::Item {
        head: Head {
            key: key.into(),
            title: title.into(),
            status: status.into(),
            priority,
            assignee: None,
            labels: Vec::new(),
            due: None,
            updated: ago(600),
            removed: None,
        },
        kind: "task".into(),
        fields: Vec::new(),
        links: Vec::new(),
        body: "".into(),
        reporter: "operator:founder".into(),
        parent: None,
        children: Vec::new(),
        version: 4,
        created: ago(90_000),
        comments: Vec::new(),
        earlier_comments: 0,
        history: vec![change(90_000, "operator:founder", "created", "")],
    }
}

fn link(key: &str, title: &str, status: &str) -> work::Link {
    work::Link { key: key.into(), title: title.into(), status: status.into() }
}

fn comment(author: &str, seconds: i64, body: &str) -> work::Comment {
    work::Comment { author: author.into(), at: ago(seconds), body: body.into() }
}

fn change(seconds: i64, actor: &str, what: &str, detail: &str) -> work::Change {
    work::Change { at: ago(seconds), actor: actor.into(), what: what.into(), detail: detail.into() }
}

fn page(id: &str, (container, title): (&str, &str), newest: i64) -> Page {
    let at = |number: i64| ago(86_400 * (newest - number + 1));
    let version = |number| pages::Version {
        number,
        author: "seat:release".into(),
        at: at(number),
        message: (number == 1).then(|| "begun".into()),
    };
    Page {
        head: pages::Head {
            id: id.into(),
            container: container.into(),
            title: title.into(),
            labels: vec!["writing".into()],
            version: newest,
            author: "seat:release".into(),
            updated: at(newest),
        },
        newest,
        body: format!("{title}.\n\n{}", "Say what changed for whom, and what they have to do. ".repeat(6)).into(),
        parent: None,
        created: at(1),
        versions: (1..=newest).rev().map(version).collect(),
        earlier_comments: 0,
        comments: vec![comment("operator:founder", 4_000, "Good.")],
    }
}

fn record(seconds: i64, tool: &str, (outcome, reason): (&str, &str), scopes: &str) -> Arc<Record> {
    let at: Timestamp = ago(seconds);
    let (tool, outcome, reason, scopes) = (tool.into(), outcome.into(), reason.into(), scopes.into());
    Arc::new(Record { at, tool, outcome, reason, scopes })
}

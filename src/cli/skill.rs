//! `skill`: a seat's skills in the store, also beside a running instance: the store's file takes several programs.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Subcommand;

use super::{Exit, Global, complain, print, token};
use crate::clock::Timestamp;
use crate::engine::state_dir::StateDir;
use crate::native::memory::skills::{LISTED, LONGEST};
use crate::org::agent_id;
use crate::run;
use crate::store::memory::{NewSkill, Skill, SkillState};
use crate::store::{Store, StoreError};

/// Longest name and description, in characters.
const NAME: usize = 80;
const ABOUT: usize = 300;
/// Bytes of a file that are read at most: more cannot be so few characters.
const MOST: u64 = (LONGEST as u64) * 4 + 1;
/// What the versions are said to be replaced by.
const KIND: &str = "skill_command";

/// What can be done with skills.
#[derive(Subcommand, Debug)]
pub(super) enum SkillCommand {
    /// List a seat's skills
    List {
        /// The seat's handle
        seat: String,
    },
    /// Print a skill's text
    Show {
        /// The seat's handle
        seat: String,
        /// The skill's name
        name: String,
    },
    /// Give a seat a skill
    Add {
        /// The seat's handle
        seat: String,
        /// The skill's name
        name: String,
        /// The file that holds its text, or - for standard input
        file: PathBuf,
        /// What it is for, in one line
        #[arg(long, value_name = "TEXT")]
        about: Option<String>,
        /// Take the place of the skill of this name; its text is kept as a version
        #[arg(long)]
        replace: bool,
    },
    /// Say whether a skill can be used: active, stale (with a warning) or archived (no more)
    Mark {
        /// The seat's handle
        seat: String,
        /// The skill's name
        name: String,
        /// active, stale or archived
        #[arg(value_parser = state)]
        state: SkillState,
    },
}

/// Runs one of them.
pub(super) fn run(global: &Global, command: &SkillCommand) -> Exit {
    match act(global, command) {
        Ok(text) => {
            print(&text);
            Exit::Fine
        }
        Err((exit, problem)) => {
            complain(&crate::text::visible(&problem));
            exit
        }
    }
}

/// Whether a skill can be used, in a word.
///
/// # Errors
/// It is another word.
pub(super) fn state(word: &str) -> Result<SkillState, String> {
    let known = SkillState::ALL.into_iter().find(|state| state.word() == word);
    known.ok_or_else(|| "active, stale or archived".to_owned())
}

type Problem = (Exit, String);

fn act(global: &Global, command: &SkillCommand) -> Result<String, Problem> {
    let (SkillCommand::List { seat }
    | SkillCommand::Show { seat, .. }
    | SkillCommand::Add { seat, .. }
    | SkillCommand::Mark { seat, .. }) = command;
    let (seat, folder) = token::seat(global, seat)?;
    let company = run::load(global).map_err(|problems| (Exit::Config, run::explain(global, &problems)))?;
    let agent_id = agent_id(&company.config().company, &seat.handle);
    let changes = matches!(command, SkillCommand::Add { .. } | SkillCommand::Mark { .. });
    if changes && global.read_only {
        return Err((Exit::Refused, "--read-only changes no skill".to_owned()));
    }
    // Where nothing was ever kept, looking makes nothing.
    let there = folder.join(crate::store::FILE).exists();
    match command {
        SkillCommand::List { .. } if !there => return Ok(none(seat.handle.as_str())),
        SkillCommand::Show { name, .. } if !there => return Err(unknown(name)),
        _ => {}
    }
    let state = StateDir::open(folder).map_err(|error| failed(error.to_string()))?;
    let store = Store::new(state.path());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed(format!("the runtime cannot be started: {error}")))?;
    runtime.block_on(async {
        match command {
            SkillCommand::List { .. } => list(&store, agent_id, seat.handle.as_str()).await,
            SkillCommand::Show { name, .. } => show(&store, agent_id, name.clone()).await,
            SkillCommand::Add { name, file, about, replace, .. } => {
                let new = NewSkill {
                    agent_id,
                    name: line(name, NAME, "a skill's name")?,
                    description: about
                        .as_deref()
                        .map(|about| line(about, ABOUT, "--about"))
                        .transpose()?
                        .unwrap_or_default(),
                    body: read(file)?,
                    at: Timestamp::now(),
                };
                add(&store, new, if *replace { Taken::Replace } else { Taken::Refuse }).await
            }
            SkillCommand::Mark { name, state, .. } => mark(&store, (agent_id, name.clone()), *state).await,
        }
    })
}

/// What becomes of a skill whose name is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Taken {
    Refuse,
    Replace,
}

fn failed(problem: impl Into<String>) -> Problem {
    (Exit::Failed, problem.into())
}

fn store_failed(error: &StoreError) -> Problem {
    failed(error.to_string())
}

/// One line of a bounded length.
fn line(text: &str, most: usize, what: &str) -> Result<String, Problem> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > most || text.chars().any(char::is_control) {
        return Err((Exit::Usage, format!("{what} is one line of 1 to {most} characters")));
    }
    Ok(text.to_owned())
}

/// The text of a file, or of stdin for `-`.
fn read(file: &Path) -> Result<String, Problem> {
    let named = file.display().to_string();
    let mut bytes = Vec::new();
    let done = if named == "-" {
        std::io::stdin().lock().take(MOST).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|file| file.take(MOST).read_to_end(&mut bytes))
    };
    done.map_err(|error| {
        failed(format!(
            "cannot read {named}: {error}; name the file that holds the skill's text, or - for standard input"
        ))
    })?;
    let length = bytes.len() as u64;
    let text = String::from_utf8(bytes).ok().filter(|_| length < MOST);
    let text = text.filter(|text| text.chars().count() <= LONGEST && !text.contains('\0'));
    let text = text.ok_or_else(|| failed(format!("{named} is no text of at most {LONGEST} characters in UTF-8")))?;
    if text.trim().is_empty() { Err(failed(format!("{named} is empty"))) } else { Ok(text.trim_end().to_owned()) }
}

async fn list(store: &Store, agent_id: String, seat: &str) -> Result<String, Problem> {
    let all = store.read(move |store| store.skills(&agent_id, LISTED)).await;
    let all: Vec<Skill> = all.map_err(|error: StoreError| store_failed(&error))?;
    if all.is_empty() {
        return Ok(none(seat));
    }
    let widest = all.iter().map(|skill| crate::text::width(&crate::text::visible(&skill.name))).max().unwrap_or(0);
    let row = |skill: &Skill| {
        let name = crate::text::visible(&skill.name).into_owned();
        let gap = " ".repeat(widest.saturating_sub(crate::text::width(&name)));
        let (state, version) = (skill.state.word(), skill.version);
        let about = crate::text::visible(&skill.description).into_owned();
        format!("{name}{gap}  {state:<8}  version {version}, used {}  {about}", skill.used).trim_end().to_owned() + "\n"
    };
    Ok(all.iter().map(row).collect())
}

fn none(seat: &str) -> String {
    format!("{seat} has no skills; crewlet-tui skill add {seat} NAME FILE makes one\n")
}

async fn show(store: &Store, agent_id: String, name: String) -> Result<String, Problem> {
    let wanted = name.clone();
    let skill = store.read(move |store| store.skill(&agent_id, &wanted)).await;
    let skill: Option<Skill> = skill.map_err(|error: StoreError| store_failed(&error))?;
    let body = skill.ok_or_else(|| unknown(&name))?.body;
    // Line by line: what would move the cursor is shown instead of obeyed.
    Ok(body.lines().map(|line| crate::text::visible(line).into_owned() + "\n").collect())
}

fn unknown(name: &str) -> Problem {
    failed(format!("the seat has no skill \"{name}\"; `crewlet-tui skill list SEAT` names them"))
}

async fn add(store: &Store, new: NewSkill, taken: Taken) -> Result<String, Problem> {
    let name = new.name.clone();
    let made = store.write(move |store| {
        if store.add_skill(&new)?.is_some() {
            return Ok(Some(1));
        }
        let Some(known) = store.skill(&new.agent_id, &new.name)?.filter(|_| taken == Taken::Replace) else {
            return Ok(None);
        };
        let version = store.rewrite_skill(&known, &new.body, (KIND, None), new.at)?;
        store.set_skill_state(&known, SkillState::Active, new.at)?;
        if !new.description.is_empty() {
            store.describe_skill(&known, &new.description, new.at)?;
        }
        Ok(Some(version))
    });
    let made: Option<i64> = made.await.map_err(|error: StoreError| store_failed(&error))?;
    match made {
        Some(version) => Ok(format!("{} is at version {version}\n", crate::text::visible(&name))),
        None => {
            Err(failed(format!("there is a skill \"{name}\" already; with --replace its text is kept as a version")))
        }
    }
}

async fn mark(store: &Store, (agent_id, name): (String, String), state: SkillState) -> Result<String, Problem> {
    let wanted = name.clone();
    let done = store.write(move |store| {
        let Some(known) = store.skill(&agent_id, &wanted)? else { return Ok(false) };
        store.set_skill_state(&known, state, Timestamp::now())?;
        Ok(true)
    });
    let done: bool = done.await.map_err(|error: StoreError| store_failed(&error))?;
    if done { Ok(format!("{} is {}\n", crate::text::visible(&name), state.word())) } else { Err(unknown(&name)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_skill_is_added_once_and_replaced_where_that_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        let new = |body: &str, about: &str| NewSkill {
            agent_id: "a".to_owned(),
            name: "deploy".to_owned(),
            description: about.to_owned(),
            body: body.to_owned(),
            at: Timestamp::from_millis(1),
        };
        assert_eq!(add(&store, new("one", "how to"), Taken::Refuse).await.unwrap(), "deploy is at version 1\n");
        let (exit, problem) = add(&store, new("two", ""), Taken::Refuse).await.unwrap_err();
        assert!(exit == Exit::Failed && problem.contains("--replace"), "{problem}");
        mark(&store, ("a".to_owned(), "deploy".to_owned()), SkillState::Archived).await.unwrap();
        assert_eq!(add(&store, new("two", ""), Taken::Replace).await.unwrap(), "deploy is at version 2\n");
        let listed = async || list(&store, "a".to_owned(), "release").await.unwrap();
        assert_eq!(listed().await, "deploy  active    version 2, used 0  how to\n", "without --about as it was");
        add(&store, new("three", "better"), Taken::Replace).await.unwrap();
        assert!(listed().await.ends_with("  better\n"), "{}", listed().await);
        assert_eq!(show(&store, "a".to_owned(), "deploy".to_owned()).await.unwrap(), "three\n");
        assert!(mark(&store, ("b".to_owned(), "deploy".to_owned()), SkillState::Stale).await.is_err());
    }

    #[test]
    fn a_text_is_one_of_bounded_length_in_utf_8() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("skill.md");
        let refused = |bytes: &[u8]| {
            std::fs::write(&file, bytes).unwrap();
            read(&file).is_err()
        };
        for bytes in [&b"\xff"[..], b"a\0b", b" \n", &vec![b'x'; LONGEST + 1]] {
            assert!(refused(bytes), "{} bytes", bytes.len());
        }
        assert!(!refused("ä".repeat(LONGEST).as_bytes()));
        assert!(line("two\nlines", NAME, "x").is_err() && line(&"x".repeat(81), NAME, "x").is_err());
    }
}

//! What is said of colleagues that were looked up. Pure.

use std::fmt::Write as _;

use crate::native::request::{Class, Refusal};
use crate::org::SeatKind;
use crate::org::directory::{Colleague, Directory, Found};
use crate::tool::output::strip;

/// A query is repeated to this length, in characters.
const ECHOED: usize = 80;
/// What somebody is there for is told to this length, in characters.
const TOLD: usize = 200;

/// Answers a query: who is meant, or which ones may be.
///
/// # Errors
/// Nobody is meant, or nobody is known at all.
pub(super) fn answer(directory: &Directory, query: &str) -> Result<String, Refusal> {
    if directory.is_empty() {
        let message = "no directory of the company is loaded, so nobody can be looked up".to_owned();
        return Err(Refusal { class: Class::Unavailable, message });
    }
    let found = directory.find(query);
    let shown = short(query, ECHOED);
    match found.as_slice() {
        [] => {
            let message =
                format!("nobody in the company is known as \"{shown}\"; try a handle, a role's name or a part of it");
            Err(Refusal { class: Class::NotFound, message })
        }
        [(one, how)] => {
            if *how != Found::Exact {
                tracing::info!(handle = %one.handle, how = how.words(), "lookup_colleague_inferred_handle");
            }
            Ok(format!("{}{}", inferred(&shown, *how), identity(one)))
        }
        several => Ok(candidates(&shown, several)),
    }
}

fn inferred(query: &str, how: Found) -> String {
    match how {
        Found::Exact => String::new(),
        how => format!("inferred: \"{query}\" is nobody's exact name; matched by {}\n", how.words()),
    }
}

/// One colleague, a line for each fact.
fn identity(one: &Colleague) -> String {
    let human = one.kind == SeatKind::Human;
    let profile = &one.profile;
    let mut lines = vec![
        format!("handle: {}", one.handle),
        format!("kind: {}", kind(one)),
        format!("{}: {}", if human { "name" } else { "role" }, line(&one.name)),
    ];
    let mut say = |name: &str, value: Option<String>| {
        lines.extend(value.filter(|value| !value.is_empty()).map(|value| format!("{name}: {value}")));
    };
    let units: Vec<String> = one.units.iter().map(|unit| line(unit)).collect();
    say("unit", Some(units.join(" > ")));
    say("email", profile.email.as_deref().map(line));
    for known in &one.elsewhere {
        say(&transport_id(&known.system), Some(line(&known.id)));
    }
    if human {
        say("goal", profile.goal.as_deref().map(|goal| short(goal, TOLD)));
        say("background", profile.backstory.as_deref().map(|story| short(story, TOLD)));
        let does: Vec<String> = profile.responsibilities.iter().map(|one| line(one)).collect();
        say("responsibilities", Some(short(&does.join("; "), TOLD)));
        say("availability", profile.availability.as_deref().map(line));
        lines.push(
            "note: a human; answers come later, when they have read what you wrote, not within this turn".to_owned(),
        );
    }
    lines.join("\n")
}

/// `chat_id` for the system `chat`; a field of a system's keeps its own name: `code_login`, `chat_user_id`.
fn transport_id(system: &str) -> String {
    let name = line(system).replace(['.', ' '], "_");
    if system.contains('.') || name.ends_with("_id") { name } else { format!("{name}_id") }
}

fn candidates(query: &str, several: &[(&Colleague, Found)]) -> String {
    let mut text =
        format!("\"{query}\" may mean any of {}; choose one of these handles and look it up:", several.len());
    for (one, how) in several {
        let human = if one.kind == SeatKind::Human { " [human]" } else { "" };
        // Writing to a text cannot fail.
        let _ = write!(text, "\n- {}: {} ({}){human}", one.handle, line(&one.name), how.words());
    }
    text
}

const fn kind(one: &Colleague) -> &'static str {
    match one.kind {
        SeatKind::Agent => "agent",
        SeatKind::Human => "human",
    }
}

/// A text as one line: nothing in it can look like a line of ours.
pub(super) fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The same, of at most so many characters.
fn short(text: &str, most: usize) -> String {
    let whole = line(&strip(text));
    if whole.chars().count() <= most {
        return whole;
    }
    whole.chars().take(most - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::org::{Identity, Org, Seat};

    fn org() -> Org {
        let mut ceo = Seat { unit: Some("Board".into()), ..Seat::agent("agent-ceo", "Agent  CEO\n") };
        ceo.profile.email = Some("ceo@acme.example".into());
        let known = |system: &str, id: &str| Identity { system: system.into(), id: id.into() };
        ceo.profile.identities = vec![known("chat", "U1"), known("code.login", "boss"), known("board_id", "77")];
        let mut ada = Seat { kind: SeatKind::Human, ..Seat::agent("ada", "Ada Byron") };
        ada.profile.goal = Some("g".repeat(300).into());
        ada.profile.backstory = Some("Wrote\nthe first\tprogram.".into());
        ada.profile.responsibilities = vec!["engines".into(), "tables".into()];
        ada.profile.availability = Some("weekdays".into());
        Org { seats: vec![ceo, ada, Seat::agent("adam", "Adam")], units: Vec::new() }
    }

    fn answered(query: &str) -> Result<String, Refusal> {
        answer(&Directory::of(&org()), query)
    }

    #[test]
    fn one_is_told_line_by_line() {
        assert_eq!(
            answered("U1").unwrap(),
            "handle: agent-ceo\nkind: agent\nrole: Agent CEO\nunit: Board\nemail: ceo@acme.example\nchat_id: U1\n\
             code_login: boss\nboard_id: 77"
        );
        let inferred = answered("ceo").unwrap();
        assert!(
            inferred
                .starts_with("inferred: \"ceo\" is nobody's exact name; matched by partial name\nhandle: agent-ceo\n"),
            "{inferred}"
        );
        let alike = answered("AGENT_CEO").unwrap();
        assert!(alike.starts_with("inferred: ") && alike.contains("case or format\n"), "{alike}");
        let fuzzy = answered("agnt ceo").unwrap();
        assert!(fuzzy.contains("matched by fuzzy 0.94\nhandle: agent-ceo\n"), "{fuzzy}");
    }

    #[test]
    fn a_human_is_told_with_what_it_takes_to_reach_one() {
        let ada = answered("ada").unwrap();
        let goal = format!("goal: {}…\n", "g".repeat(199));
        for words in [
            "kind: human\nname: Ada Byron\n",
            &goal,
            "background: Wrote the first program.\n",
            "responsibilities: engines; tables\n",
            "availability: weekdays\n",
            "answers come later",
        ] {
            assert!(ada.contains(words), "{words:?} in {ada}");
        }
    }

    #[test]
    fn several_are_listed_and_nobody_is_guessed() {
        let alike = answered("ad a").unwrap();
        assert!(alike.ends_with("\n- ada: Ada Byron (fuzzy 0.86) [human]\n- adam: Adam (fuzzy 0.75)"), "{alike}");
        let mut org = org();
        org.seats.extend((0..30).map(|n| Seat::agent(format!("helper-{n:02}"), "Helper\n- nobody: x")));
        let listed = answer(&Directory::of(&org), "helper").unwrap();
        assert_eq!(listed.lines().count(), 31, "all of them, none with two lines: {listed}");
        assert!(listed.contains("\n- helper-07: Helper - nobody: x (partial name)\n"), "{listed}");
        assert!(!listed.contains("handle:") && !listed.contains("kind:"), "{listed}");
    }

    #[test]
    fn nobody_is_told_differently_from_no_directory() {
        let nobody = answered(&format!("no  such\nbody {}", "x".repeat(200))).unwrap_err();
        assert!(nobody.message.contains(&format!("\"no such body {}…\"", "x".repeat(66))), "{}", nobody.message);
        let none = answer(&Directory::default(), "ceo").unwrap_err();
        assert_eq!(none.class, Class::Unavailable);
        assert!(none.message.contains("no directory"), "{}", none.message);
    }
}

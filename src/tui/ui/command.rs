//! The command line that `:` opens: views by name, `connect`, `help`, `quit`. It never decides anything.

use crate::text;
use crate::tui::panes::View;

/// What was asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Asked {
    /// Nothing.
    Nothing,
    /// A view.
    View(View),
    /// Lines to connect an agent to this seat, or to the first one.
    Connect(Option<String>),
    /// The help screen.
    Help,
    /// The end.
    Quit,
}

/// Stands behind the cursor while nothing is typed.
pub const HINT: &str = "connect [SEAT], connector, help, quit, or a view's name";

/// What can be typed, with what each does: for the help screen.
pub const COMMANDS: [(&str, &str); 5] = [
    ("tools, log …", "a view, by its name"),
    ("connector", "what programs did through the connector"),
    ("connect SEAT", "lines to paste into an agent, so that it drives this seat; without one the first seat"),
    ("help", "this"),
    ("quit", "leave; asks first while calls wait or run"),
];

/// Reads a command; a beginning that only one command has is enough.
///
/// # Errors
/// One line that says which commands there are.
pub fn read(line: &str) -> Result<Asked, String> {
    let mut words = line.split_whitespace();
    let Some(word) = words.next() else { return Ok(Asked::Nothing) };
    let rest: Vec<&str> = words.collect();
    let views = View::ALL.into_iter().chain([View::Connector]);
    let views = views.map(|view| (view.words().to_lowercase(), Asked::View(view)));
    let seat = rest.first().map(|seat| (*seat).to_owned());
    let others = [("connect", Asked::Connect(seat)), ("help", Asked::Help), ("quit", Asked::Quit)];
    let all: Vec<(String, Asked)> = views.chain(others.map(|(name, asked)| (name.to_owned(), asked))).collect();
    let wanted = word.to_lowercase();
    let fitting = || all.iter().filter(|(name, _)| name.starts_with(&wanted));
    // One that all the others begin with is as good as the only one: `con` is `connect`, not `connector`.
    let shortest = fitting().min_by_key(|(name, _)| name.len());
    let found = shortest.filter(|(name, _)| *name == wanted || fitting().all(|(other, _)| other.starts_with(name)));
    let most = usize::from(matches!(found, Some((_, Asked::Connect(_)))));
    match found {
        Some((_, asked)) if rest.len() <= most => Ok(asked.clone()),
        _ => {
            let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
            Err(format!("there is no command \"{}\"; there are: {}", text::visible(line.trim()), names.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_by_their_beginnings() {
        for (line, asked) in [
            ("", Asked::Nothing),
            ("  tools ", Asked::View(View::Tools)),
            ("t", Asked::View(View::Tools)),
            ("connect", Asked::Connect(None)),
            ("con", Asked::Connect(None)),
            ("connecto", Asked::View(View::Connector)),
            ("w", Asked::View(View::Work)),
            ("connect release", Asked::Connect(Some("release".to_owned()))),
            ("Q", Asked::Quit),
            ("help", Asked::Help),
        ] {
            assert_eq!(read(line), Ok(asked), "{line:?}");
        }
        for line in ["c", "approve", "quit now", "connect a b", "\u{1b}[2J"] {
            let error = read(line).unwrap_err();
            assert!(error.contains("connect, help, quit") && !error.contains('\u{1b}'), "{error}");
        }
    }
}

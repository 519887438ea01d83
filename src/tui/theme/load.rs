//! Theme files: text in, a complete theme or every problem at once out. Choosing a theme for this terminal.
//!
//! Knows no files: the composition root reads a user's theme and hands its text in.

use std::collections::BTreeMap;
use std::sync::Arc;

use ratatui::style::{Modifier, Style};
use serde::Deserialize;

use super::color::{self, Depth};
use super::{Role, Theme};
use crate::config::expand::Environment;
use crate::config::model::TuiSettings;

/// The shipped themes.
pub const NAMES: [&str; 4] = ["midnight", "daylight", "contrast", "plain16"];

const FILES: [(&str, &str); 4] = [
    ("midnight", include_str!("../../../themes/midnight.yaml")),
    ("daylight", include_str!("../../../themes/daylight.yaml")),
    ("contrast", include_str!("../../../themes/contrast.yaml")),
    ("plain16", include_str!("../../../themes/plain16.yaml")),
];

/// Why a theme cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ThemeError {
    /// Not a YAML mapping of roles to styles.
    #[error("the theme is not a mapping of roles to styles: {0}")]
    Shape(String),
    /// Readable, but wrong; every problem is named.
    #[error("the theme cannot be used: {}", .0.join("; "))]
    Problems(Vec<String>),
    /// No such shipped theme and no text was given.
    #[error("there is no theme \"{name}\"; shipped are {}", NAMES.join(", "))]
    Unknown {
        /// The name.
        name: Arc<str>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spec {
    fg: Option<String>,
    bg: Option<String>,
    #[serde(default)]
    add: Vec<String>,
}

/// What the terminal and the person asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Terminal {
    /// `NO_COLOR` is set, or the terminal is dumb.
    pub colourless: bool,
    /// Its background is light, as far as it says.
    pub light: bool,
    /// How many colours it has.
    pub depth: Depth,
}

impl Terminal {
    /// What the environment says: `NO_COLOR`, `TERM`, `COLORTERM`, `COLORFGBG`.
    pub fn from_environment(environment: &dyn Environment) -> Self {
        let get = |name| environment.get(name).unwrap_or_default();
        let term = get("TERM");
        let background = get("COLORFGBG").rsplit(';').next().and_then(|bg| bg.parse::<u8>().ok());
        Self {
            colourless: !get("NO_COLOR").is_empty() || term == "dumb",
            light: matches!(background, Some(7 | 15)),
            depth: Depth::of(&get("COLORTERM"), &term),
        }
    }

    /// The theme for this terminal: no colours where none are wanted, else the one named (its text, when it is the
    /// user's own), else a shipped one that suits the background.
    ///
    /// # Errors
    /// The named theme does not exist or is not complete.
    pub fn choose(&self, settings: &TuiSettings, own: Option<&str>) -> Result<Theme, ThemeError> {
        let mut theme = match (own, settings.theme.as_deref()) {
            (Some(text), _) => Theme::parse(text)?,
            (None, Some(name)) => Theme::builtin(name)?,
            (None, None) => Theme::builtin(if self.light { "daylight" } else { "midnight" })?,
        };
        // A broken theme is reported even where its colours would not be used.
        theme = if self.colourless { Theme::plain() } else { theme.at_depth(self.depth) };
        theme.ascii = settings.ascii;
        Ok(theme)
    }
}

impl Theme {
    /// A shipped theme.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn builtin(name: &str) -> Result<Self, ThemeError> {
        match FILES.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => Self::parse(text),
            None => Err(ThemeError::Unknown { name: name.into() }),
        }
    }

    /// Reads a theme: every role once, `fg` and `bg` as a colour name, 0 to 255 or `#rrggbb`, `add` a list of
    /// modifiers.
    ///
    /// # Errors
    /// Names every missing and unknown role, colour and modifier.
    pub fn parse(text: &str) -> Result<Self, ThemeError> {
        let shape = |error: serde_yaml::Error| ThemeError::Shape(error.to_string());
        // By way of a mapping, which refuses a role that stands twice.
        let mapping: serde_yaml::Mapping = serde_yaml::from_str(text).map_err(shape)?;
        let mut specs: BTreeMap<String, Spec> =
            serde_yaml::from_value(serde_yaml::Value::Mapping(mapping)).map_err(shape)?;
        let mut styles = [Style::new(); Role::ALL.len()];
        let mut problems = Vec::new();
        for (slot, role) in styles.iter_mut().zip(Role::ALL) {
            match specs.remove(role.name()) {
                Some(spec) => *slot = style(role, &spec, &mut problems),
                None => problems.push(format!("the role \"{}\" is missing", role.name())),
            }
        }
        problems.extend(specs.keys().map(|name| format!("there is no role \"{}\"", crate::text::visible(name))));
        if problems.is_empty() { Ok(Self { styles, ascii: false }) } else { Err(ThemeError::Problems(problems)) }
    }
}

fn style(role: Role, spec: &Spec, problems: &mut Vec<String>) -> Style {
    let mut style = Style::new();
    if role == Role::Text && (spec.fg.is_some() || spec.bg.is_some()) {
        problems.push("the role \"text\" takes no colours: body text is the terminal's own".to_owned());
    }
    for (key, value) in [("fg", &spec.fg), ("bg", &spec.bg)] {
        let Some(value) = value else { continue };
        match color::parse(value) {
            Some(color) if key == "fg" => style = style.fg(color),
            Some(color) => style = style.bg(color),
            None => problems.push(format!("{}.{key}: \"{}\" is no colour", role.name(), crate::text::visible(value))),
        }
    }
    for name in &spec.add {
        match modifier(name) {
            Some(modifier) => style = style.add_modifier(modifier),
            None => {
                problems.push(format!("{}.add: \"{}\" is no modifier", role.name(), crate::text::visible(name)));
            }
        }
    }
    style
}

fn modifier(name: &str) -> Option<Modifier> {
    Some(match name {
        "bold" => Modifier::BOLD,
        "dim" => Modifier::DIM,
        "italic" => Modifier::ITALIC,
        "underlined" => Modifier::UNDERLINED,
        "reversed" => Modifier::REVERSED,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Vars(&'static [(&'static str, &'static str)]);

    impl Environment for Vars {
        fn get(&self, name: &str) -> Option<String> {
            self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        }
    }

    fn choose(vars: &'static [(&'static str, &'static str)]) -> Theme {
        Terminal::from_environment(&Vars(vars)).choose(&TuiSettings::default(), None).unwrap()
    }

    #[test]
    fn no_color_and_dumb_terminals_get_no_colours() {
        assert!(choose(&[("NO_COLOR", "1"), ("TERM", "xterm-256color")]).is_plain());
        assert!(choose(&[("TERM", "dumb")]).is_plain());
        assert!(!choose(&[("NO_COLOR", ""), ("TERM", "xterm-256color")]).is_plain());
    }

    #[test]
    fn a_light_background_gets_the_light_theme() {
        let light = choose(&[("COLORFGBG", "0;15"), ("TERM", "xterm-256color")]);
        assert_eq!(light.style(Role::Ready), Theme::builtin("daylight").unwrap().style(Role::Ready));
        let dark = choose(&[("COLORFGBG", "15;0"), ("TERM", "xterm-256color")]);
        assert_eq!(dark.style(Role::Ready), Theme::builtin("midnight").unwrap().style(Role::Ready));
    }

    #[test]
    fn every_problem_is_named_at_once() {
        let error = Theme::parse("text: { fg: red }\ndim: { fg: mauve, add: [blink] }\nglow: {}\n").unwrap_err();
        let ThemeError::Problems(problems) = error else { panic!("{error}") };
        let text = problems.join("\n");
        for part in [
            "body text is the terminal's own",
            "dim.fg: \"mauve\" is no colour",
            "dim.add: \"blink\" is no modifier",
            "the role \"accent\" is missing",
            "the role \"card_border\" is missing",
            "there is no role \"glow\"",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }

    #[test]
    fn what_is_no_mapping_is_refused() {
        for text in ["", "- a", "text: 3", "text: {}\ntext: {}", "text: { size: 3 }"] {
            assert!(Theme::parse(text).is_err(), "{text}");
        }
        assert!(matches!(Theme::builtin("neon"), Err(ThemeError::Unknown { .. })));
    }
}

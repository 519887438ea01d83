//! `${VAR}` references: parsed once when the document is read, filled in when a connection is made.
//!
//! `${NAME}` and `${NAME:-default}` are references, `$${` is a literal `${`, everything else (a bare `$NAME`, `$$`)
//! is literal. A single pass: what a variable holds is never looked at again. A default runs to the next `}`.

use std::collections::HashMap;
use std::sync::Arc;

use super::model::{Problem, Unresolved};
use crate::secret::Secret;
use crate::tool::ConfigRef;

/// Where variables come from; tests bring their own.
pub trait Environment: Send + Sync {
    /// The value of a variable, `None` when it is not set (or not valid Unicode).
    fn get(&self, name: &str) -> Option<String>;
}

/// The environment of the process.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessEnvironment;

impl Environment for ProcessEnvironment {
    fn get(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

/// Variables that a test brings, or a fixed set.
impl<S: std::hash::BuildHasher + Send + Sync> Environment for HashMap<String, String, S> {
    fn get(&self, name: &str) -> Option<String> {
        Self::get(self, name).cloned()
    }
}

/// A scalar that may hold references, together with the place it stands in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Template {
    text: Arc<str>,
    parts: Vec<Part>,
    path: Arc<str>,
    place: ConfigRef,
    /// From 1.
    column: u32,
}

/// A run of a template.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// Taken as it is.
    Literal(String),
    /// `${name}` or `${name:-default}`.
    Reference {
        /// The variable.
        name: Arc<str>,
        /// Its default, also an empty one.
        default: Option<String>,
    },
}

/// A `${` that is no reference.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Malformed {
    /// Which `${` of the text, from 0.
    pub(super) dollar_brace: usize,
    /// What is wrong with it, without its text: it may be part of a secret.
    pub(super) problem: &'static str,
}

impl Template {
    /// A template at its place, in this column from 1.
    pub(super) fn new(
        text: &Arc<str>,
        path: impl Into<Arc<str>>,
        (place, column): (ConfigRef, u32),
    ) -> Result<Self, Malformed> {
        Ok(Self { parts: parse(text)?, text: text.clone(), path: path.into(), place, column })
    }

    /// The text as written, with its references: what is shown.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The field's path: `mcp_servers[2].env.JIRA_TOKEN`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Where it stands.
    pub const fn place(&self) -> &ConfigRef {
        &self.place
    }

    /// The variables it refers to, in order of appearance.
    pub fn variables(&self) -> impl Iterator<Item = &Arc<str>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Literal(_) => None,
            Part::Reference { name, .. } => Some(name),
        })
    }

    /// The text with `${NAME}` for each reference, defaults left out: for people, who may read over a shoulder.
    pub fn display(&self) -> String {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Literal(text) => text.clone(),
                Part::Reference { name, .. } => format!("${{{name}}}"),
            })
            .collect()
    }

    /// The text, when it has no references.
    pub(super) fn literal(&self) -> Option<String> {
        self.variables().next().is_none().then(|| self.display())
    }

    /// Fills the references in, in a single pass.
    ///
    /// # Errors
    /// Every variable without a default that is missing or empty.
    pub fn resolve(&self, environment: &dyn Environment) -> Result<Secret, Vec<Unresolved>> {
        let mut resolved = String::new();
        let mut missing = Vec::new();
        for part in &self.parts {
            match part {
                Part::Literal(text) => resolved.push_str(text),
                Part::Reference { name, default } => match (environment.get(name), default) {
                    (Some(value), _) if !value.is_empty() => resolved.push_str(&value),
                    (_, Some(default)) => resolved.push_str(default),
                    (Some(_), None) => missing.push(self.unresolved(name, Problem::Empty)),
                    (None, None) => missing.push(self.unresolved(name, Problem::Missing)),
                },
            }
        }
        if missing.is_empty() { Ok(Secret::new(resolved)) } else { Err(missing) }
    }

    /// The values that its variables have now, for the redactor.
    pub fn values(&self, environment: &dyn Environment) -> Vec<Secret> {
        let value = |name: &Arc<str>| environment.get(name).filter(|value| !value.is_empty());
        self.variables().filter_map(value).map(Secret::new).collect()
    }

    pub(super) fn unresolved(&self, variable: &Arc<str>, problem: Problem) -> Unresolved {
        Unresolved {
            variable: variable.clone(),
            path: self.path.clone(),
            place: self.place.clone(),
            column: self.column,
            problem,
        }
    }
}

/// Splits a text into literals and references.
pub(super) fn parse(text: &str) -> Result<Vec<Part>, Malformed> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    let mut dollar_brace = 0;
    while let Some((before, after)) = rest.split_once("${") {
        if let Some(before) = before.strip_suffix('$') {
            literal.push_str(before);
            literal.push_str("${");
            rest = after;
        } else {
            literal.push_str(before);
            let malformed = |problem| Malformed { dollar_brace, problem };
            let (inside, behind) = after.split_once('}').ok_or(malformed("a reference is not closed with `}`"))?;
            let reference = reference(inside).map_err(malformed)?;
            if !literal.is_empty() {
                parts.push(Part::Literal(std::mem::take(&mut literal)));
            }
            parts.push(reference);
            rest = behind;
        }
        dollar_brace += 1;
    }
    literal.push_str(rest);
    if !literal.is_empty() || parts.is_empty() {
        parts.push(Part::Literal(literal));
    }
    Ok(parts)
}

/// What stands between `${` and `}`.
fn reference(inside: &str) -> Result<Part, &'static str> {
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    if default.is_some_and(|default| default.contains("${")) || name.contains("${") {
        return Err("a reference stands inside another one");
    }
    let mut characters = name.chars();
    let first = characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if !first || !characters.all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err("`${` is not followed by a variable's name (letters, digits and `_`)");
    }
    Ok(Part::Reference { name: name.into(), default: default.map(str::to_owned) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn template(text: &str) -> Result<Template, Malformed> {
        Template::new(&text.into(), "env.A", (ConfigRef { file: "config.yaml".into(), line: 3 }, 7))
    }

    fn filled(text: &str, variables: &[(&str, &str)]) -> Result<String, Vec<String>> {
        let environment: HashMap<String, String> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let resolved = template(text).unwrap().resolve(&environment);
        resolved.map(|secret| secret.expose().to_owned()).map_err(|all| all.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn references_are_filled_in_once_and_byte_for_byte() {
        let nasty = "pa$$w0rd$HOME${X}#: \"'\\\n";
        let table = [
            ("${A}", nasty),
            ("Bearer ${B}", "Bearer b"),
            ("${B}-${B}", "b-b"),
            ("${MISSING:-fallback}", "fallback"),
            ("${MISSING:-}", ""),
            ("${EMPTY:-x}", "x"),
            ("${B:-x}", "b"),
            ("${MISSING:-a:-b}", "a:-b"),
            ("$B $$ $", "$B $$ $"),
            ("$${B}", "${B}"),
            ("$$${B}", "$${B}"),
            ("", ""),
            ("}{", "}{"),
        ];
        for (text, expected) in table {
            assert_eq!(filled(text, &[("A", nasty), ("B", "b"), ("EMPTY", "")]).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn every_missing_or_empty_variable_is_named() {
        assert_eq!(
            filled("${ONE}${TWO}${EMPTY}", &[("TWO", "2"), ("EMPTY", "")]),
            Err(vec![
                "environment variable ONE is not set (env.A, config.yaml:3)".to_owned(),
                "environment variable EMPTY is set but empty (env.A, config.yaml:3)".to_owned(),
            ])
        );
    }

    #[test]
    fn malformed_references_are_errors() {
        let table = [
            ("${1X}", 0),
            ("${a.b}", 0),
            ("${}", 0),
            ("ok ${A} ${", 1),
            ("$${ ${A", 1),
            ("${A:-${B}}", 0),
            ("${A${B}}", 0),
            ("${ A }", 0),
            ("${A:default}", 0),
            ("${ß}", 0),
        ];
        for (text, dollar_brace) in table {
            assert_eq!(template(text).map_err(|error| error.dollar_brace).err(), Some(dollar_brace), "{text}");
        }
    }

    #[test]
    fn display_hides_defaults() {
        assert_eq!(template("https://${HOST:-u:pw@h}/x").unwrap().display(), "https://${HOST}/x");
    }

    proptest! {
        #[test]
        fn escaped_text_comes_out_as_it_was(text in ".{0,60}") {
            prop_assume!(!text.contains("$${") && !text.contains("$$"));
            let escaped = text.replace("${", "$${");
            prop_assert_eq!(filled(&escaped, &[]), Ok(text));
        }

        #[test]
        fn values_are_never_scanned(before in "[a-z $]{0,8}", value in ".{1,40}", after in "[a-z {}$]{0,8}") {
            prop_assume!(!before.ends_with('$') && !after.contains("${") && !before.contains("${"));
            let text = format!("{before}${{V}}{after}");
            prop_assert_eq!(filled(&text, &[("V", &value)]), Ok(format!("{before}{value}{after}")));
        }

        #[test]
        fn any_text_parses_or_is_refused(text in "[$A-Z{}:-]{0,30}") {
            if let Ok(template) = template(&text) {
                let _ = template.resolve(&HashMap::new());
                prop_assert_eq!(template.text(), text);
            }
        }
    }
}

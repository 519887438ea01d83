//! Seat handles: which texts are one, and how a role's name becomes one. Pure.

/// True for `^[a-z0-9][a-z0-9-]*$`.
pub fn is_valid(handle: &str) -> bool {
    !handle.is_empty()
        && !handle.starts_with('-')
        && handle.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// The handle that a role's name gives: lower case, each run of other characters one `-`, none at the ends.
/// Empty when the name has no letter or digit of ASCII.
pub fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.trim().to_lowercase().chars() {
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn slugs() {
        let table = [
            ("Sarah Chen", "sarah-chen"),
            ("QA/Test Lead", "qa-test-lead"),
            (" ...CEO!! ", "ceo"),
            ("Agent CEO", "agent-ceo"),
            ("!!!", ""),
            ("日本", ""),
            ("Zoë", "zo"),
            ("a--b", "a-b"),
        ];
        for (name, expected) in table {
            assert_eq!(slug(name), expected, "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn a_slug_is_a_handle_or_empty(name in ".{0,40}") {
            let slug = slug(&name);
            prop_assert!(slug.is_empty() || is_valid(&slug), "{}", slug);
        }
    }
}

//! What somebody looks for, as a query of the text index. Pure.
//!
//! Words are quoted, so that nothing in them is an operator of the index; what is no letter or digit separates words.

use std::collections::HashSet;

/// Words that are looked for at most: more than a line of text has.
const MOST_WORDS: usize = 200;
/// The same where rows only have to be like the text.
const MOST_LIKE: usize = 64;
/// A last word this long may be the beginning of one. Shorter ones begin too many.
const SHORTEST_BEGINNING: usize = 3;

/// Words that say nothing about what a text is about.
const EVERYWHERE: [&str; 48] = [
    "a", "about", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "do", "does", "for", "from", "has",
    "have", "how", "i", "if", "in", "is", "it", "its", "my", "not", "of", "on", "or", "our", "so", "that", "the",
    "their", "they", "this", "to", "was", "we", "were", "what", "when", "which", "who", "will", "with", "you",
];

/// All of the words of `text` in any of these columns; `None` when it has no words.
pub(super) fn query(text: &str, columns: &str) -> Option<String> {
    let mut words: Vec<String> = words(text).take(MOST_WORDS).map(|word| format!("\"{word}\"")).collect();
    let last = words.last_mut()?;
    let goes_on = text.ends_with(char::is_alphanumeric);
    // With its two quotes.
    if goes_on && last.chars().count() >= SHORTEST_BEGINNING + 2 {
        last.push('*');
    }
    Some(format!("({{{columns}}} : ({}))", words.join(" AND ")))
}

/// Any of these in one column, each a single word; `None` when there are none.
pub(super) fn any_of(column: &str, any: &[String]) -> Option<String> {
    let is_word = |one: &&String| words(one).eq([one.as_str()]);
    let quoted: Vec<String> = any.iter().filter(is_word).map(|word| format!("\"{word}\"")).collect();
    (!quoted.is_empty()).then(|| format!("({{{column}}} : ({}))", quoted.join(" OR ")))
}

/// Any word of `text` in one column, each once; `None` when it has none. The last words count: what somebody is at comes
/// last.
pub(super) fn any_word(column: &str, text: &str) -> Option<String> {
    let mut seen = HashSet::new();
    let all: Vec<&str> = words(text).collect();
    let telling: Vec<&str> =
        all.iter().copied().filter(|word| !EVERYWHERE.contains(&word.to_lowercase().as_str())).collect();
    let latest = if telling.is_empty() { all } else { telling };
    let latest = latest.into_iter().rev().filter(|word| seen.insert(word.to_lowercase()));
    let quoted: Vec<String> = latest.take(MOST_LIKE).map(|word| format!("\"{word}\"")).collect();
    (!quoted.is_empty()).then(|| format!("({{{column}}} : ({}))", quoted.join(" OR ")))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_and_operators_are_words() {
        for (text, expected) in [
            ("login page", Some("({title body} : (\"login\" AND \"page\"*))")),
            (
                "a \"b\" OR c* NEAR(d)",
                Some("({title body} : (\"a\" AND \"b\" AND \"OR\" AND \"c\" AND \"NEAR\" AND \"d\"))"),
            ),
            ("ab", Some("({title body} : (\"ab\"))")),
            ("done.", Some("({title body} : (\"done\"))")),
            ("-- ; ' \" *", None),
            ("", None),
        ] {
            assert_eq!(query(text, "title body").as_deref(), expected, "{text}");
        }
        assert_eq!(
            any_of("project", &["WEB".to_owned(), "APP".to_owned()]).unwrap(),
            "({project} : (\"WEB\" OR \"APP\"))"
        );
        let many = (0..150).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        assert_eq!(query(&many, "title").unwrap().matches('"').count(), 300, "every word counts");
        let odd = ["A-B", "-", "", "WEB"].map(str::to_owned);
        assert_eq!(any_of("project", &odd).unwrap(), "({project} : (\"WEB\"))", "what is no word means no other one");
        assert_eq!(any_of("project", &odd[..3]), None);
        assert_eq!(any_of("project", &[]), None);
        assert_eq!(any_word("content", "x B; b OR near").unwrap(), "({content} : (\"near\" OR \"b\" OR \"x\"))");
        assert_eq!(any_word("content", "what is it").unwrap(), "({content} : (\"it\" OR \"is\" OR \"what\"))");
        assert_eq!(any_word("content", "- \""), None);
    }
}

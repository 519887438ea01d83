//! Names as people mean them: without case, accents and the marks that stand between words. Pure.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::canonical_combining_class;

/// A name for comparing: compatibility forms and accents taken off, case folded (`ß` is `ss`, `ı` is `i`), and
/// whitespace, underscores and dashes of every kind made one space.
pub(super) fn fold(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    // Down, up and down again folds what has no lower or no upper case of its own length: ẞ, ß, ſ, ς, ı.
    let plain = name.nfkd().filter(|c| canonical_combining_class(*c) == 0);
    let cased = plain.flat_map(char::to_lowercase).flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    // Folding may have made marks of its own: İ becomes i and a dot above.
    for c in cased.nfkd().filter(|c| canonical_combining_class(*c) == 0) {
        if c.is_whitespace() || c == '_' || is_dash(c) {
            if !folded.is_empty() && !folded.ends_with(' ') {
                folded.push(' ');
            }
        } else {
            folded.push(c);
        }
    }
    folded.truncate(folded.trim_end().len());
    folded
}

/// The dashes of Unicode, those that are compatible with one of them aside: they are gone by then.
const fn is_dash(c: char) -> bool {
    matches!(
        c,
        '-' | '\u{ad}' | '\u{58a}' | '\u{5be}' | '\u{1400}' | '\u{1806}' | '\u{2010}'
            ..='\u{2015}'
                | '\u{2053}'
                | '\u{207b}'
                | '\u{208b}'
                | '\u{2212}'
                | '\u{2e17}'
                | '\u{2e1a}'
                | '\u{2e3a}'
                | '\u{2e3b}'
                | '\u{2e40}'
                | '\u{2e5d}'
                | '\u{301c}'
                | '\u{3030}'
                | '\u{30a0}'
                | '\u{10ead}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fold_to_what_people_mean() {
        for (name, expected) in [
            ("  Sarah   CHEN ", "sarah chen"),
            ("qa_lead", "qa lead"),
            ("qa-lead", "qa lead"),
            ("qa\u{2014}lead", "qa lead"),
            ("qa\u{2212}_-\u{a0}lead", "qa lead"),
            ("Zoë Müller", "zoe muller"),
            ("Zoe\u{308}", "zoe"),
            ("STRASSE", "strasse"),
            ("Straße", "strasse"),
            ("STRAẞE", "strasse"),
            ("Ilgın", "ilgin"),
            ("İLGİN", "ilgin"),
            ("ΟΔΟΣ", "οδοσ"),
            ("οδος", "οδοσ"),
            ("ﬁnance", "finance"),
            ("Ａｄａ", "ada"),
            ("-", ""),
            ("", ""),
        ] {
            assert_eq!(fold(name), expected, "{name:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn folding_twice_changes_nothing(name in ".{0,24}") {
            let once = fold(&name);
            proptest::prop_assert_eq!(fold(&once), once);
        }
    }
}

//! The difference of two texts, line by line: pure, bounded in time, the same answer every time.

/// One line of a difference.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Line<'t> {
    /// In both.
    Same(&'t str),
    /// Only in the earlier text.
    Removed(&'t str),
    /// Only in the later text.
    Added(&'t str),
}

/// Pairs of lines that are compared at most. Beyond it the differing middle is given as removed and added whole.
const MOST_PAIRS: usize = 1_000_000;

/// What has to be removed from and added to `before` to make it `after`, with the fewest lines.
pub fn diff<'t, S: AsRef<str>>(before: &'t [S], after: &'t [S]) -> Vec<Line<'t>> {
    let before: Vec<&str> = before.iter().map(AsRef::as_ref).collect();
    let after: Vec<&str> = after.iter().map(AsRef::as_ref).collect();
    let head = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let rest = before.len().min(after.len()) - head;
    let tail = before.iter().rev().zip(after.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let inner = |lines: &[&'t str]| lines.get(head..lines.len() - tail).unwrap_or_default().to_vec();
    let (old, new) = (inner(&before), inner(&after));
    let mut lines: Vec<Line<'t>> = before.iter().take(head).map(|line| Line::Same(line)).collect();
    middle(&old, &new, &mut lines);
    lines.extend(before.iter().skip(before.len() - tail).map(|line| Line::Same(line)));
    lines
}

/// The part between the common start and the common end, by the longest common subsequence.
fn middle<'t>(old: &[&'t str], new: &[&'t str], lines: &mut Vec<Line<'t>>) {
    if old.len().saturating_mul(new.len()) > MOST_PAIRS {
        lines.extend(old.iter().map(|line| Line::Removed(line)));
        lines.extend(new.iter().map(|line| Line::Added(line)));
        return;
    }
    let width = new.len() + 1;
    // common[i * width + j]: how many lines old[i..] and new[j..] have in common.
    let mut common = vec![0_u32; (old.len() + 1) * width];
    let at = |common: &[u32], i: usize, j: usize| common.get(i * width + j).copied().unwrap_or(0);
    for (i, a) in old.iter().enumerate().rev() {
        for (j, b) in new.iter().enumerate().rev() {
            let best =
                if a == b { at(&common, i + 1, j + 1) + 1 } else { at(&common, i + 1, j).max(at(&common, i, j + 1)) };
            if let Some(cell) = common.get_mut(i * width + j) {
                *cell = best;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    loop {
        match (old.get(i), new.get(j)) {
            (Some(a), Some(b)) if a == b => {
                lines.push(Line::Same(a));
                (i, j) = (i + 1, j + 1);
            }
            (Some(a), Some(_)) if at(&common, i + 1, j) >= at(&common, i, j + 1) => {
                lines.push(Line::Removed(a));
                i += 1;
            }
            (Some(a), None) => {
                lines.push(Line::Removed(a));
                i += 1;
            }
            (_, Some(b)) => {
                lines.push(Line::Added(b));
                j += 1;
            }
            (None, None) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(lines: &[Line<'_>]) -> String {
        let line = |line: &Line<'_>| match line {
            Line::Same(text) => format!(" {text}"),
            Line::Removed(text) => format!("-{text}"),
            Line::Added(text) => format!("+{text}"),
        };
        lines.iter().map(line).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn only_what_changed_is_marked() {
        for (before, after, expected) in [
            ("a b c", "a b c", " a, b, c"),
            ("a b c", "a x c", " a,-b,+x, c"),
            ("a c", "a b c", " a,+b, c"),
            ("a b a", "a", " a,-b,-a"),
            ("a b c d", "b d e", "-a, b,-c, d,+e"),
        ] {
            let (before, after): (Vec<&str>, Vec<&str>) = (before.split(' ').collect(), after.split(' ').collect());
            assert_eq!(text(&diff(&before, &after)), expected);
        }
        assert_eq!(text(&diff::<&str>(&[], &["a"])), "+a");
    }

    #[test]
    fn huge_texts_are_not_compared_pair_by_pair() {
        let before: Vec<String> = (0..5_000).map(|n| format!("a{n}")).collect();
        let after: Vec<String> = (0..5_000).map(|n| format!("b{n}")).collect();
        assert_eq!(diff(&before, &after).len(), 10_000);
    }

    proptest! {
        #[test]
        fn both_texts_can_be_read_out_of_it(before in "[abc]{0,12}", after in "[abc]{0,12}") {
            let split = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
            let (before, after) = (split(&before), split(&after));
            let lines = diff(&before, &after);
            let old: Vec<&str> = lines.iter().filter_map(|line| match line {
                Line::Same(text) | Line::Removed(text) => Some(*text),
                Line::Added(_) => None,
            }).collect();
            let new: Vec<&str> = lines.iter().filter_map(|line| match line {
                Line::Same(text) | Line::Added(text) => Some(*text),
                Line::Removed(_) => None,
            }).collect();
            prop_assert_eq!(old, before.iter().map(String::as_str).collect::<Vec<_>>());
            prop_assert_eq!(new, after.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}

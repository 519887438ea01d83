//! The difference of two texts, line by line. Pure; bounded work.

use std::sync::Arc;

use crate::engine::snapshot::DiffLine;

/// Pairs of lines that are compared at most; beyond, everything that differs is shown as replaced.
const MOST_PAIRS: usize = 1 << 20;

/// The lines of both texts in order: kept, removed from `before`, added in `after`.
pub fn diff(before: &str, after: &str) -> Vec<DiffLine> {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = before.iter().zip(&after).take_while(same).count();
    let shorter = before.len().min(after.len());
    let tail = before.iter().rev().zip(after.iter().rev()).take_while(same).count().min(shorter - head);
    let middle = |lines: &[&str]| -> Vec<Arc<str>> {
        lines.iter().take(lines.len() - tail).skip(head).map(|line| Arc::from(*line)).collect()
    };
    let kept = |line: &&str| DiffLine::Same(Arc::from(*line));
    let mut out: Vec<DiffLine> = before.iter().take(head).map(kept).collect();
    compare(&middle(&before), &middle(&after), &mut out);
    out.extend(before.iter().skip(before.len() - tail).map(kept));
    out
}

/// The longest common subsequence, where the texts are short enough for it.
fn compare(before: &[Arc<str>], after: &[Arc<str>], out: &mut Vec<DiffLine>) {
    let width = after.len() + 1;
    if before.len().saturating_mul(after.len()) > MOST_PAIRS {
        out.extend(before.iter().cloned().map(DiffLine::Removed));
        out.extend(after.iter().cloned().map(DiffLine::Added));
        return;
    }
    // common[b * width + a]: length of the longest common subsequence of the rests from b and from a.
    let mut common = vec![0_u32; (before.len() + 1) * width];
    let at = |common: &[u32], b: usize, a: usize| common.get(b * width + a).copied().unwrap_or(0);
    for (b, old) in before.iter().enumerate().rev() {
        for (a, new) in after.iter().enumerate().rev() {
            let best = if old == new {
                at(&common, b + 1, a + 1) + 1
            } else {
                at(&common, b + 1, a).max(at(&common, b, a + 1))
            };
            if let Some(cell) = common.get_mut(b * width + a) {
                *cell = best;
            }
        }
    }
    let (mut b, mut a) = (0, 0);
    loop {
        match (before.get(b), after.get(a)) {
            (Some(old), Some(new)) if old == new => {
                out.push(DiffLine::Same(old.clone()));
                (b, a) = (b + 1, a + 1);
            }
            (Some(old), new) if new.is_none() || at(&common, b + 1, a) >= at(&common, b, a + 1) => {
                out.push(DiffLine::Removed(old.clone()));
                b += 1;
            }
            (_, Some(new)) => {
                out.push(DiffLine::Added(new.clone()));
                a += 1;
            }
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn picture(lines: &[DiffLine]) -> String {
        let line = |line: &DiffLine| match line {
            DiffLine::Same(text) => format!(" {text}"),
            DiffLine::Removed(text) => format!("-{text}"),
            DiffLine::Added(text) => format!("+{text}"),
        };
        lines.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn only_what_differs_is_marked() {
        assert_eq!(picture(&diff("a\nb\nc\nd", "a\nx\nc\nd\ne")), " a\n-b\n+x\n c\n d\n+e");
        assert_eq!(picture(&diff("a\na", "a")), " a\n-a");
        assert_eq!(picture(&diff("", "a")), "+a");
    }

    #[test]
    fn long_texts_cost_bounded_work() {
        let text = |c: char| (0..5_000).map(|n| format!("{c}{n}")).collect::<Vec<_>>().join("\n");
        assert_eq!(diff(&text('a'), &text('b')).len(), 10_000);
    }

    proptest! {
        #[test]
        fn both_texts_can_be_read_back(before in "([abc]\n){0,12}", after in "([abc]\n){0,12}") {
            let (mut old, mut new) = (String::new(), String::new());
            for line in diff(&before, &after) {
                match line {
                    DiffLine::Same(text) => {
                        old.extend([&*text, "\n"]);
                        new.extend([&*text, "\n"]);
                    }
                    DiffLine::Removed(text) => old.extend([&*text, "\n"]),
                    DiffLine::Added(text) => new.extend([&*text, "\n"]),
                }
            }
            prop_assert_eq!((old, new), (before, after));
        }
    }
}

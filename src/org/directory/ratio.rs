//! How alike two texts are: the ratio of Ratcliff and Obershelp, as Python's `difflib` computes it without its
//! heuristic for popular elements. Pure.

use std::ops::Range;

/// Twice the number of matched characters over the length of both, from 0 to 1. Two empty texts are alike.
///
/// Not symmetric: which of two equally long common runs counts first depends on the order.
pub(super) fn ratio(a: &str, b: &str) -> f64 {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let total = a.len() + b.len();
    if total == 0 {
        return 1.0;
    }
    let mut matched = 0;
    let mut parts = vec![(0..a.len(), 0..b.len())];
    while let Some((left, right)) = parts.pop() {
        let (at_a, at_b, size) = longest(&a, &b, left.clone(), right.clone());
        if size > 0 {
            matched += size;
            parts.push((left.start..at_a, right.start..at_b));
            parts.push((at_a + size..left.end, at_b + size..right.end));
        }
    }
    as_float(2 * matched) / as_float(total)
}

/// The longest run that both parts have; of several the one that begins first in `a`, then first in `b`.
fn longest(a: &[char], b: &[char], left: Range<usize>, right: Range<usize>) -> (usize, usize, usize) {
    let mut best = (left.start, right.start, 0);
    // For each place in `b`: how long the common run is that ends there and at the present place in `a`.
    let mut before = vec![0_usize; right.len() + 1];
    for (i, one) in a.iter().enumerate().take(left.end).skip(left.start) {
        let mut now = vec![0_usize; right.len() + 1];
        for (k, other) in b.get(right.clone()).unwrap_or_default().iter().enumerate() {
            if one != other {
                continue;
            }
            let size = before.get(k).copied().unwrap_or(0) + 1;
            if let Some(slot) = now.get_mut(k + 1) {
                *slot = size;
            }
            if size > best.2 {
                best = (i + 1 - size, right.start + k + 1 - size, size);
            }
        }
        before = now;
    }
    best
}

#[allow(clippy::cast_precision_loss, reason = "lengths of names")]
fn as_float(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_those_of_difflib() {
        // Computed with `difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()`.
        for (a, b, expected) in include!("ratios.in") {
            assert!((ratio(a, b) - expected).abs() < 1e-12, "{a:?} {b:?}: {}", ratio(a, b));
        }
    }
}

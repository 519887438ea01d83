//! Places in a text that are to be replaced, and the replacing. Overlapping places become one, so that no part of
//! either is left over.

use std::borrow::Cow;

/// Every kind that a marker can name.
pub(super) const KINDS: [&str; 11] = [
    "secret",
    "api-key",
    "slack-token",
    "aws-key",
    "github-token",
    "gitlab-token",
    "plane-token",
    "plane-webhook-secret",
    "crewlet-token",
    "private-key",
    "password",
];

const OPENING: &str = "[REDACTED:";

/// One place, as byte offsets, and what is there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Span {
    start: usize,
    end: usize,
    kind: &'static str,
}

/// The places found so far.
#[derive(Default, Debug)]
pub(super) struct Spans(Vec<Span>);

impl Spans {
    /// Adds a place. Places that come in the order of their ends are merged at once, so that a value which
    /// overlaps itself all over a text costs no memory.
    pub(super) fn push(&mut self, start: usize, end: usize, kind: &'static str) {
        let mut span = Span { start, end, kind };
        while let Some(last) = self.0.last()
            && last.start < span.end
            && span.start < last.end
        {
            let kind = if last.start <= span.start { last.kind } else { span.kind };
            span = Span { start: last.start.min(span.start), end: last.end.max(span.end), kind };
            self.0.pop();
        }
        self.0.push(span);
    }

    /// Whether a place found so far covers the byte before `at`. The places have to be settled.
    pub(super) fn cover_before(&self, at: usize) -> bool {
        let after = self.0.partition_point(|span| span.start < at);
        after > 0 && self.0.get(after - 1).is_some_and(|span| at <= span.end)
    }

    /// Sorts the places and merges those that overlap.
    pub(super) fn settle(&mut self) {
        let mut spans = std::mem::take(&mut self.0);
        // Of those that start together the longest names the kind.
        spans.sort_by_key(|span| (span.start, usize::MAX - span.end));
        for span in spans {
            self.push(span.start, span.end, span.kind);
        }
    }

    /// `text` with a marker in each place.
    pub(super) fn replace(mut self, text: &str) -> Cow<'_, str> {
        if self.0.is_empty() {
            return Cow::Borrowed(text);
        }
        self.settle();
        let markers = markers(text);
        self.0.retain(|span| !inside_marker(&markers, *span));
        if self.0.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for span in self.0 {
            out.push_str(text.get(from..span.start).unwrap_or_default());
            out.push_str(OPENING);
            out.push_str(span.kind);
            out.push(']');
            from = span.end;
        }
        out.push_str(text.get(from..).unwrap_or_default());
        Cow::Owned(out)
    }
}

/// Where markers stand already. What they say is public, so nothing in them is a secret, whatever it looks like.
fn markers(text: &str) -> Vec<(usize, usize)> {
    let starts = text.match_indices(OPENING).map(|(at, _)| at);
    let marker = |at: usize| {
        let rest = text.get(at + OPENING.len()..)?;
        let kind = KINDS.iter().find(|kind| rest.strip_prefix(**kind).is_some_and(|tail| tail.starts_with(']')))?;
        Some((at, at + OPENING.len() + kind.len() + 1))
    };
    starts.filter_map(marker).collect()
}

fn inside_marker(markers: &[(usize, usize)], span: Span) -> bool {
    let after = markers.partition_point(|(start, _)| *start <= span.start);
    after > 0 && markers.get(after - 1).is_some_and(|(_, end)| span.end <= *end)
}

//! What the client of one call hears of its progress: our own signs of life while a person is asked, and what the
//! server says once it runs, under one token of the client's and with figures that only grow.
//!
//! The server's figures go out as they are. Signs of life in between, and figures that do not grow, get the smallest
//! step on from what was said last, so that a server's next figure is still a larger one. Pure.

use serde::Serialize;
use serde_json::Number;

use super::envelope::{self, Id};
use crate::engine::handle::Progress;

/// A small step is this part of what was said last. A power of two: its multiples are short in JSON.
const STEPS: f64 = 4096.0;

/// See the module.
#[derive(Debug)]
pub(super) struct Notices {
    token: Id,
    last: Option<f64>,
}

impl Notices {
    /// For the token that the client gave.
    pub(super) fn new(token: Id) -> Self {
        Self { token, last: None }
    }

    /// A sign of life of ours. `None` when there is no larger figure left.
    pub(super) fn alive(&mut self, what: &str) -> Option<Vec<u8>> {
        let progress = self.small_step()?;
        Some(self.notice(&progress, None, Some(what)))
    }

    /// What the server said. `None` when there is no larger figure left.
    pub(super) fn said(&mut self, said: &Progress) -> Option<Vec<u8>> {
        let grows = said.progress.as_f64().filter(|now| self.last.is_none_or(|last| *now > last));
        let progress = match grows {
            Some(now) => {
                self.last = Some(now);
                said.progress.clone()
            }
            None => self.small_step()?,
        };
        Some(self.notice(&progress, said.total.as_ref(), said.message.as_deref()))
    }

    fn small_step(&mut self) -> Option<Number> {
        let next = self.last.map_or(0.0, |last| last + last.abs().max(1.0) / STEPS);
        // Infinite ones are no JSON.
        let number = Number::from_f64(next)?;
        self.last = Some(next);
        Some(number)
    }

    fn notice(&self, progress: &Number, total: Option<&Number>, message: Option<&str>) -> Vec<u8> {
        #[derive(Serialize)]
        struct Figures<'p> {
            progress: &'p Number,
            #[serde(skip_serializing_if = "Option::is_none")]
            total: Option<&'p Number>,
            #[serde(skip_serializing_if = "Option::is_none")]
            message: Option<&'p str>,
        }
        let figures = envelope::json_text(&Figures { progress, total, message });
        // The token goes back as it came, to the last digit.
        let params = figures.replacen('{', &format!(r#"{{"progressToken":{},"#, self.token.as_json()), 1);
        envelope::notification("notifications/progress", Some(&params))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, value::RawValue};

    use super::*;

    fn notices() -> Notices {
        Notices::new(Id::of(&serde_json::from_str::<Box<RawValue>>("12345678901234567890123").unwrap()).unwrap())
    }

    fn said(progress: &str) -> Progress {
        Progress { progress: progress.parse().unwrap(), total: Some(3.into()), message: Some("half {way".into()) }
    }

    fn figure(notice: &[u8]) -> f64 {
        let notice: Value = serde_json::from_slice(notice).unwrap();
        notice["params"]["progress"].as_f64().unwrap()
    }

    #[test]
    fn the_servers_figures_go_out_as_they_are_where_they_grow() {
        let mut notices = notices();
        let first = notices.alive("waiting").unwrap();
        let again = notices.alive("waiting").unwrap();
        assert!(figure(&again) > figure(&first));
        let text = String::from_utf8(notices.said(&said("1")).unwrap()).unwrap();
        let params = r#"{"progressToken":12345678901234567890123,"progress":1,"total":3,"message":"half {way"}"#;
        assert!(text.contains(params), "{text}");
        let same = figure(&notices.said(&said("1")).unwrap());
        assert!(same > 1.0 && same < 1.01, "{same}");
        assert!(figure(&notices.alive("running").unwrap()) > same);
        assert!((figure(&notices.said(&said("2")).unwrap()) - 2.0).abs() < f64::EPSILON);
        assert!(notices.said(&said("1.7e308")).is_some());
        let after: Vec<_> = std::iter::from_fn(|| notices.alive("running")).take(1000).collect();
        assert!(after.len() < 1000, "an end is reached, not passed");
    }

    proptest! {
        #[test]
        fn figures_only_grow(steps in proptest::collection::vec(proptest::option::of(-1e6..1e6_f64), 1..40)) {
            let mut notices = notices();
            let mut last = f64::NEG_INFINITY;
            for step in steps {
                let notice = match step {
                    None => notices.alive("running"),
                    Some(figure) => notices.said(&said(&format!("{figure:e}"))),
                };
                let figure = figure(&notice.unwrap());
                prop_assert!(figure > last, "{figure} after {last}");
                last = figure;
            }
        }
    }
}

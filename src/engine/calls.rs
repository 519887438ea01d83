//! The calls of this run, as the screen lists them: bounded, newest last, with the results of recent ones.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::snapshot::{CallPhase, CallView, History, Repeat};
use crate::ids::CallId;
use crate::tool::{Digest, Entry, Hint, ShownArguments};

/// Calls kept.
const CALLS: usize = 1_000;
/// Bytes of result text kept over all calls.
const RESULT_BYTES: usize = 16 << 20;

/// A call like an earlier one is taken for a repetition within this time.
const REPEAT_WITHIN: Duration = Duration::from_secs(10 * 60);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// By their place in the list.
    views: BTreeMap<u64, Arc<CallView>>,
    places: HashMap<CallId, u64>,
    next: u64,
    /// What the arguments were before a person changed them.
    edited: HashMap<CallId, Digest>,
    results: VecDeque<(CallId, usize)>,
    result_bytes: usize,
}

impl Calls {
    /// Takes the newest state of a call. A call that is over stays as it ended. True when this ended it.
    pub(super) fn put(&mut self, view: CallView) -> bool {
        let known = self.places.get(&view.id).and_then(|place| Some((*place, self.views.get(place)?)));
        if known.is_some_and(|(_, known)| known.phase.is_over()) {
            return false;
        }
        let over = view.phase.is_over();
        let digest = |view: &CallView| view.arguments.as_ref().map(ShownArguments::digest);
        if let Some((_, known)) = known
            && let (Some(before), Some(now)) = (digest(known), digest(&view))
            && before != now
        {
            self.edited.entry(view.id.clone()).or_insert(before);
        }
        let place = known.map(|(place, _)| place);
        // One that has ended and fallen off the list long ago does not come back as running.
        let is_past = |oldest: &Arc<CallView>| self.views.len() >= CALLS && view.at < oldest.at;
        if place.is_none() && !over && self.views.values().next().is_some_and(is_past) {
            return false;
        }
        let place = place.unwrap_or_else(|| {
            self.next += 1;
            self.places.insert(view.id.clone(), self.next);
            self.next
        });
        if let Some(result) = &view.result {
            self.result_bytes += result.text.len();
            self.results.push_back((view.id.clone(), result.text.len()));
        }
        self.views.insert(place, Arc::new(view));
        self.trim();
        over
    }

    /// All kept calls, oldest first.
    pub(super) fn views(&self) -> Vec<Arc<CallView>> {
        self.views.values().cloned().collect()
    }

    /// What was decided about `entry` before, and about exactly these arguments.
    pub(super) fn history(&self, entry: &Entry, arguments: Digest) -> History {
        let mut history = History::default();
        let same_tool = |view: &&Arc<CallView>| {
            view.connection.as_ref() == Some(&entry.connection) && view.raw_name.as_ref() == Some(&entry.raw_name)
        };
        for view in self.views.values().filter(same_tool) {
            // What the policy or a grant let through, nobody looked at.
            let by_person = view.decider.as_ref().is_some_and(|decider| !is_unasked(decider));
            match &view.phase {
                CallPhase::Denied { reason } => {
                    history.denied += 1;
                    history.last_denial = (!reason.is_empty()).then(|| reason.clone());
                }
                phase if by_person && phase.is_over() => history.approved += 1,
                _ => {}
            }
            let same_arguments = view.arguments.as_ref().is_some_and(|known| known.digest() == arguments);
            if same_arguments && view.phase.is_over() {
                let count = history.same_arguments.as_ref().map_or(0, |(count, _)| *count);
                history.same_arguments = Some((count + 1, view.phase.word().into()));
            }
        }
        history
    }

    /// The latest earlier call of the same caller, tool and arguments, not long before `view`, where a second one may
    /// have a further effect. One that was sent tells more than one that never ran.
    pub(super) fn repeat(&self, view: &CallView, entry: &Entry, arguments: Digest) -> Option<Repeat> {
        if entry.hints.effective.idempotent == Hint::Yes {
            return None;
        }
        let same = |earlier: &&Arc<CallView>| {
            earlier.id != view.id
                && earlier.caller.seat() == view.caller.seat()
                && earlier.connection.as_ref() == Some(&entry.connection)
                && earlier.raw_name.as_ref() == Some(&entry.raw_name)
                && view.at.since(earlier.at) <= REPEAT_WITHIN
                && self.had(earlier, arguments)
        };
        let earlier = self.views.values().filter(same);
        let found = earlier.max_by_key(|earlier| (was_sent(&earlier.phase), earlier.at))?;
        Some(Repeat { call: found.id.clone(), at: found.at, outcome: found.phase.word().into() })
    }

    /// Whether a call came with these arguments, or was sent with them after a person had changed them.
    fn had(&self, view: &CallView, arguments: Digest) -> bool {
        let now = view.arguments.as_ref().map(ShownArguments::digest);
        now == Some(arguments) || self.edited.get(&view.id) == Some(&arguments)
    }

    fn trim(&mut self) {
        while self.views.len() > CALLS {
            let oldest = self.views.iter().find(|(_, view)| view.phase.is_over()).map(|(place, _)| *place);
            let Some(view) = oldest.and_then(|place| self.views.remove(&place)) else { break };
            self.places.remove(&view.id);
            self.edited.remove(&view.id);
        }
        while self.result_bytes > RESULT_BYTES && self.results.len() > 1 {
            let Some((id, bytes)) = self.results.pop_front() else { break };
            self.result_bytes -= bytes;
            if let Some(view) = self.places.get(&id).and_then(|place| self.views.get_mut(place)) {
                *view = Arc::new(CallView { result: None, ..(**view).clone() });
            }
        }
    }
}

fn is_unasked(decider: &str) -> bool {
    decider == "policy" || decider.starts_with("grant:")
}

const fn was_sent(phase: &CallPhase) -> bool {
    matches!(phase, CallPhase::Running | CallPhase::Done { .. } | CallPhase::Failed { .. } | CallPhase::Unknown { .. })
}

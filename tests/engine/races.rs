//! Races by a seeded scheduler: decisions against cancels, expiry, changed definitions, disabled servers, stopped
//! seats and the end of the program. Each call ends once, is sent if and only if somebody approved it, and the trail
//! tells the same story as the server's ledger.

use std::collections::HashMap;
use std::time::Duration;

use crewlet_tui::engine::audit::{Decision, Kind, MemoryTrail, Outcome, Record};
use crewlet_tui::engine::command::{Command, GrantScope, Remember, Shown, Verdict};
use crewlet_tui::engine::handle::{CallReport, CallRequest, SendError};
use crewlet_tui::engine::snapshot::CallPhase;
use crewlet_tui::ids::{CallId, ConnectionName, GrantId};
use crewlet_tui::tool::{Arguments, Digest};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::bench::{Bench, bench, delete, request_by, tools};
use crate::scripted::Reaction;

const SEEDS: u64 = 300;

/// xorshift64*: enough to choose by, and the same on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap() % sides
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        if all.is_empty() { None } else { Some(all[self.below(all.len())]) }
    }
}

struct Race {
    bench: Bench,
    dice: Dice,
    calls: Vec<JoinHandle<Result<CallReport, SendError>>>,
    cancels: Vec<tokio_util::sync::CancellationToken>,
    /// Everything that ever was on the screen, so that late decisions are tried as well.
    shown: Vec<Shown>,
}

impl Race {
    async fn new(seed: u64) -> Self {
        let dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        Self { bench: bench().await, dice, calls: Vec::new(), cancels: Vec::new(), shown: Vec::new() }
    }

    fn call(&mut self) {
        let tool = self.dice.one_of(&["delete", "mystery", "delete", "append", "get"]).unwrap();
        let seat = self.dice.one_of(&[Some("release"), Some("other"), None]).unwrap();
        let id = self.dice.below(3);
        let request: CallRequest = request_by(seat, tool, &json!({"id": id.to_string()}).to_string());
        self.cancels.push(request.cancel.clone());
        let handle = self.bench.handle.clone();
        self.calls.push(tokio::spawn(async move { handle.call(request).await }));
    }

    fn verdict(&mut self) -> Verdict {
        let edited = Arguments::parse(r#"{"id":"edited"}"#).unwrap();
        let remember = Remember { scope: GrantScope::ThisTool, span: Some(Duration::from_secs(60)) };
        match self.dice.below(6) {
            0 | 1 => Verdict::Approve,
            2 => Verdict::ApproveEdited(edited),
            3 => Verdict::ApproveAndRemember(remember),
            _ => Verdict::Deny { reason: "no".into() },
        }
    }

    async fn change_tools(&mut self) {
        let mut changed = tools();
        match self.dice.below(4) {
            0 => changed[4]["annotations"] = json!({"readOnlyHint": true}),
            1 => changed[4]["description"] = json!("something else"),
            2 => changed.truncate(3),
            _ => changed = vec![delete()],
        }
        let tools = if self.dice.below(2) == 0 { tools() } else { changed };
        self.bench.server.change_tools(tools).await;
    }

    async fn step(&mut self) {
        for question in &self.bench.handle.snapshot().approvals {
            if !self.shown.contains(&question.shown()) {
                self.shown.push(question.shown());
            }
        }
        let send = |bench: &Bench, command| bench.handle.send(command).expect("taken");
        match self.dice.below(16) {
            0..=2 => self.call(),
            3..=5 => {
                let verdict = self.verdict();
                if let Some(shown) = self.dice.one_of(&self.shown) {
                    send(&self.bench, Command::Decide(shown, verdict));
                }
            }
            6 => {
                let all = self.bench.handle.snapshot().approvals.iter().map(|question| question.shown()).collect();
                let verdict = self.verdict();
                send(&self.bench, Command::DecideAll(all, verdict));
            }
            7 => {
                if !self.cancels.is_empty() {
                    let at = self.dice.below(self.cancels.len());
                    self.cancels[at].cancel();
                }
            }
            8 => self.change_tools().await,
            9 => {
                let notes = ConnectionName::new("notes");
                let all = [Command::Disable(notes.clone()), Command::Enable(notes.clone()), Command::Restart(notes)];
                send(&self.bench, all[self.dice.below(3)].clone());
            }
            10 => send(&self.bench, Command::StopSeat("release".into())),
            11 => send(&self.bench, Command::ReleaseSeat("release".into())),
            12 => send(&self.bench, Command::Revoke(GrantId(1))),
            13 => self.bench.server.react([Reaction::HangUp]),
            14 => tokio::time::advance(Duration::from_secs([1, 61, 299][self.dice.below(3)])).await,
            _ => tokio::time::sleep(Duration::from_millis([1, 40][self.dice.below(2)])).await,
        }
        for _ in 0..self.dice.below(12) {
            tokio::task::yield_now().await;
        }
    }

    async fn finish(mut self, seed: u64) -> Vec<CallReport> {
        let (server, trail) = (self.bench.server.clone(), self.bench.trail.clone());
        let ended_early = self.dice.below(2) == 0;
        let reports = if ended_early {
            self.bench.stop().await;
            ends(self.calls).await
        } else {
            let reports = ends(self.calls).await;
            self.bench.stop().await;
            reports
        };
        judge(seed, &reports, &trail, &server.ledger());
        reports
    }
}

/// The reports; a call that the ended engine did not take any more has none.
async fn ends(calls: Vec<JoinHandle<Result<CallReport, SendError>>>) -> Vec<CallReport> {
    let mut reports = Vec::new();
    for call in calls {
        reports.extend(call.await.expect("no panic"));
    }
    reports
}

fn judge(seed: u64, reports: &[CallReport], trail: &MemoryTrail, ledger: &[(String, String)]) {
    let mut stories: HashMap<CallId, Vec<Record>> = HashMap::new();
    for record in trail.records() {
        stories.entry(record.call.clone().expect("a call")).or_default().push(record);
    }
    let mut sent: Vec<(String, Digest)> =
        ledger.iter().map(|(tool, arguments)| (tool.clone(), Digest::of(arguments.as_bytes()))).collect();
    let (mut ran, mut may) = (Vec::new(), Vec::new());
    for report in reports {
        let story = stories.remove(&report.call).unwrap_or_default();
        let told = format!("seed {seed}: {:?} {:?}", report.phase, words(&story));
        let of = |kind: Kind| story.iter().filter(|record| record.kind == kind).collect::<Vec<_>>();
        let decided = |decision| of(Kind::Decided).iter().filter(|record| record.decision == Some(decision)).count();
        let (approved, dispatched) = (decided(Decision::Approved), of(Kind::Dispatched));
        let asked = of(Kind::Asked).len();
        assert!(report.phase.is_over(), "{told}");
        assert_eq!(asked, of(Kind::Decided).len(), "each question has one end: {told}");
        assert!(approved <= 1, "{told}");
        let ended = of(Kind::Finished).len()
            + of(Kind::Refused).len()
            + usize::from(matches!(
                report.phase,
                CallPhase::Denied { .. } | CallPhase::Expired | CallPhase::Withdrawn(_)
            ));
        assert_eq!(ended, 1, "one end: {told}");
        let unasked = dispatched.iter().all(|record| {
            record.decider.as_deref().is_some_and(|decider| decider == "policy" || decider.starts_with("grant:"))
        });
        if approved == 1 {
            assert_eq!(dispatched.len(), 1, "an approval is sent once: {told}");
            assert_eq!(dispatched[0].decider.as_deref(), Some("person:ada"), "{told}");
        } else {
            assert!(unasked, "nothing is sent without an approval: {told}");
        }
        // Answered: it ran. Otherwise it may have. The last sending is the one that was answered.
        let answered = matches!(report.phase, CallPhase::Done { .. });
        for (index, record) in dispatched.iter().enumerate() {
            let what = (record.tool.as_deref().unwrap_or_default().to_owned(), record.args_sha256.expect("a digest"));
            if answered && index + 1 == dispatched.len() { ran.push((what, told.clone())) } else { may.push(what) }
        }
    }
    for (what, told) in ran {
        let at = sent.iter().position(|sent| *sent == what);
        sent.remove(at.unwrap_or_else(|| panic!("what was answered is in the ledger: {told}")));
    }
    sent.retain(|sent| may.iter().position(|what| what == sent).map(|at| may.remove(at)).is_none());
    assert_eq!(sent, [], "seed {seed}: everything in the ledger was dispatched");
    assert!(stories.is_empty(), "seed {seed}: every story has a report");
}

fn words(story: &[Record]) -> Vec<String> {
    let word = |record: &Record| {
        let detail = record.decision.map(Decision::as_str).or(record.outcome.map(Outcome::as_str)).unwrap_or_default();
        format!("{} {detail}", record.kind.as_str())
    };
    story.iter().map(word).collect()
}

#[tokio::test(start_paused = true)]
async fn whatever_comes_first_each_call_ends_once_and_runs_only_if_approved() {
    let mut ends: HashMap<&str, usize> = HashMap::new();
    let mut notes = 0;
    for seed in 0..SEEDS {
        let mut race = Race::new(seed).await;
        race.call();
        for _ in 0..24 {
            race.step().await;
        }
        for report in race.finish(seed).await {
            *ends.entry(report.phase.word()).or_default() += 1;
            notes += usize::from(report.note.is_some());
        }
    }
    for word in ["done", "denied", "expired", "withdrawn", "refused", "failed", "unknown"] {
        assert!(ends.get(word).is_some_and(|count| *count >= 5), "{word} is among the ends: {ends:?}");
    }
    assert!(notes >= 5, "edited calls are among them");
}

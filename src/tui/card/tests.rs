//! The card as a state machine with explicit instants, and its pictures.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;
use ratatui::buffer::Buffer;

use super::fixtures::{
    NOON, approval, assert_clean, delete_branch, drawing, ended, entry, hostile, screen, screen_text, snapshot,
};
use super::{Card, CardContext, Outcome};
use crate::engine::command::{Command, Verdict};
use crate::engine::snapshot::{ApprovalView, CallPhase, Snapshot, Tier, Withdrawal};
use crate::tool::Hint;
use crate::tui::intent::{Effect, Intent};

pub(super) const SHORT: &str = r#"{"branch":"main","repo":"acme/api"}"#;

/// A card on a screen, with a clock of its own.
pub(super) struct Bench {
    pub(super) card: Card,
    pub(super) snapshot: Snapshot,
    pub(super) start: Instant,
    pub(super) size: (u16, u16),
}

impl Bench {
    pub(super) fn new(approvals: Vec<ApprovalView>) -> Self {
        Self::sized(approvals, (100, 30))
    }

    pub(super) fn sized(approvals: Vec<ApprovalView>, size: (u16, u16)) -> Self {
        let start = Instant::now();
        let snapshot = snapshot(approvals);
        let card = Card::open(snapshot.approvals[0].clone(), NOON, start);
        let mut bench = Self { card, snapshot, start, size };
        bench.layout();
        bench
    }

    pub(super) fn destructive() -> Self {
        Self::new(vec![approval(1, delete_branch(), SHORT, Tier::Arm)])
    }

    pub(super) fn layout(&mut self) {
        self.card.layout(screen(self.size.0, self.size.1), &self.snapshot);
    }

    pub(super) fn at(&self, millis: u64) -> Instant {
        self.start + Duration::from_millis(millis)
    }

    pub(super) fn code(&mut self, millis: u64, intent: Option<Intent>, code: KeyCode) -> Outcome {
        let at = self.at(millis);
        self.card.key(intent, KeyEvent::new(code, KeyModifiers::NONE), at, &self.snapshot)
    }

    /// Presses a key of the card's table.
    pub(super) fn press(&mut self, millis: u64, key: char) -> Outcome {
        let intent = match key {
            'y' => Some(Intent::Approve),
            'n' => Some(Intent::Deny),
            'd' => Some(Intent::AllArguments),
            'e' => Some(Intent::EditArguments),
            't' => Some(Intent::Definition),
            'r' => Some(Intent::Remember),
            'x' => Some(Intent::StopSeat),
            'b' => Some(Intent::ApproveAll),
            'N' => Some(Intent::DenyAll),
            'G' => Some(Intent::Bottom),
            _ => None,
        };
        self.code(millis, intent, KeyCode::Char(key))
    }

    pub(super) fn write(&mut self, millis: u64, text: &str) {
        for (index, c) in text.chars().enumerate() {
            self.code(millis + 130 * index as u64, None, KeyCode::Char(c));
        }
    }

    pub(super) fn ctrl_y(&mut self, millis: u64) -> Outcome {
        let key = KeyEvent::new(KeyCode::Char('y'), KeyModifiers::CONTROL);
        let at = self.at(millis);
        self.card.key(None, key, at, &self.snapshot)
    }

    pub(super) fn end(&mut self, index: usize, phase: CallPhase) {
        self.snapshot = ended(&self.snapshot, index, phase);
        self.layout();
    }

    fn buffer(&self, millis: u64) -> Buffer {
        let area = screen(self.size.0, self.size.1);
        let mut buf = Buffer::empty(area);
        drawing(&self.snapshot, |draw| self.card.render(area, &mut buf, draw, self.at(millis)));
        buf
    }

    pub(super) fn text(&self, millis: u64) -> String {
        screen_text(&self.buffer(millis))
    }
}

/// The verdict that an outcome hands over, if any.
pub(super) fn verdict(outcome: &Outcome) -> Option<Verdict> {
    outcome.effects.iter().find_map(|effect| match effect {
        Effect::Send(Command::Decide(_, verdict)) => Some(verdict.clone()),
        _ => None,
    })
}

pub(super) fn approves(outcome: &Outcome) -> bool {
    verdict(outcome) == Some(Verdict::Approve)
}

#[test]
fn a_write_needs_one_press_after_the_dead_time() {
    for (millis, counts) in [(0, false), (200, false), (499, false), (500, true), (5_000, true)] {
        let write = entry("github", "create_issue", [Hint::No, Hint::No, Hint::No, Hint::Yes]);
        let mut bench = Bench::new(vec![approval(1, write, SHORT, Tier::Press)]);
        assert_eq!(approves(&bench.press(millis, 'y')), counts, "{millis} ms");
    }
}

#[test]
fn a_destructive_call_needs_two_presses_in_the_window() {
    let table = [
        (50, false, "a held key"),
        (119, false, "a held key"),
        (200, false, "too soon"),
        (299, false, "too soon"),
        (300, true, "the window opens"),
        (1_500, true, "inside"),
        (3_000, true, "the window closes"),
        (3_001, false, "too late: it arms again"),
    ];
    for (gap, counts, why) in table {
        let mut bench = Bench::destructive();
        assert!(!approves(&bench.press(600, 'y')), "the first press arms");
        assert_eq!(approves(&bench.press(600 + gap, 'y')), counts, "{gap} ms: {why}");
    }
}

#[test]
fn a_press_that_came_too_late_arms_again() {
    let mut bench = Bench::destructive();
    bench.press(600, 'y');
    assert!(!approves(&bench.press(4_000, 'y')));
    assert!(approves(&bench.press(4_400, 'y')));
}

#[test]
fn a_key_held_since_before_the_card_never_counts() {
    for tier in [Tier::Press, Tier::Arm] {
        let mut bench = Bench::new(vec![approval(1, delete_branch(), SHORT, tier)]);
        for step in 0..200 {
            assert!(!approves(&bench.press(step * 30, 'y')), "{tier:?} at {} ms", step * 30);
        }
    }
}

#[test]
fn the_decision_is_bound_to_what_was_shown() {
    let mut bench = Bench::destructive();
    let shown = bench.snapshot.approvals[0].clone();
    bench.press(600, 'y');
    let outcome = bench.press(1_000, 'y');
    let expected = Command::Decide(shown.shown(), Verdict::Approve);
    assert_eq!(outcome, Outcome { close: false, effects: vec![Effect::Send(expected)] });
}

impl Bench {
    pub(super) fn tick(&mut self, millis: u64) -> Outcome {
        let at = self.at(millis);
        self.card.tick(at, &self.snapshot)
    }
}

#[test]
fn a_key_held_down_from_arming_on_does_not_commit() {
    // Keyboards wait before they begin to repeat: the first repetition looks like a second press.
    for delay in [250, 320, 500, 660] {
        let mut bench = Bench::destructive();
        bench.tick(500);
        assert!(!approves(&bench.press(600, 'y')));
        for step in 0..60 {
            let millis = 600 + delay + step * 33;
            assert!(!approves(&bench.tick(millis)), "{delay} ms before the first, at {millis} ms");
            assert!(!approves(&bench.press(millis, 'y')), "{delay} ms before the first, at {millis} ms");
        }
    }
}

#[test]
fn a_second_press_counts_when_nothing_follows_at_once() {
    for tier in [Tier::Press, Tier::Arm] {
        let mut bench = Bench::new(vec![approval(1, delete_branch(), SHORT, tier)]);
        bench.tick(500);
        if tier == Tier::Arm {
            bench.press(600, 'y');
        }
        assert!(!approves(&bench.press(1_000, 'y')), "held back");
        assert_eq!(
            bench.card.wake_after(bench.at(1_000)),
            Some(bench.at(1_120).min(bench.card.next_second(bench.at(1_000))))
        );
        assert!(!approves(&bench.tick(1_119)));
        assert!(approves(&bench.tick(1_120)));
        assert_eq!(bench.tick(1_300), Outcome::default(), "once");
    }
}

#[test]
fn text_that_arrives_key_by_key_at_once_does_not_decide() {
    let mut bench = Bench::new(vec![approval(1, delete_branch(), SHORT, Tier::Press)]);
    bench.tick(500);
    for (index, key) in "yes".chars().enumerate() {
        assert!(!approves(&bench.press(1_000 + index as u64, key)));
    }
    assert!(!approves(&bench.tick(2_000)));
}

#[test]
fn an_approval_held_back_is_not_given_when_the_question_ends() {
    let mut bench = Bench::new(vec![approval(1, delete_branch(), SHORT, Tier::Press)]);
    bench.tick(500);
    bench.press(1_000, 'y');
    bench.end(0, CallPhase::Withdrawn(Withdrawal::CallerGone));
    assert_eq!(bench.tick(1_200), Outcome::default());
    assert!(bench.text(1_200).contains("withdrawn: caller gone; nothing was sent"));
}

#[test]
fn no_other_key_approves() {
    let keys = [KeyCode::Enter, KeyCode::Char(' '), KeyCode::Char('1'), KeyCode::Char('a'), KeyCode::Char('q')];
    for armed in [false, true] {
        for code in keys {
            let mut bench = Bench::destructive();
            if armed {
                bench.press(600, 'y');
            }
            let outcome = bench.code(1_000, None, code);
            assert_eq!(outcome, Outcome::default(), "{code:?}");
            assert!(!approves(&bench.press(1_400, 'y')), "{code:?} disarms");
        }
        let mut bench = Bench::destructive();
        let outcome = bench.code(1_000, Some(Intent::Back), KeyCode::Esc);
        assert_eq!(outcome, Outcome { close: true, effects: Vec::new() });
    }
}

#[test]
fn a_second_decision_is_not_sent_while_one_is_on_its_way() {
    let mut bench = Bench::destructive();
    bench.press(600, 'y');
    assert!(approves(&bench.press(1_000, 'y')));
    bench.layout();
    assert!(bench.text(1_100).contains("sending…"));
    assert_eq!(bench.press(1_500, 'y'), Outcome::default());
    assert_eq!(bench.press(1_700, 'n'), Outcome::default());
    // Unconfirmed after two seconds: the whole act again.
    assert!(bench.text(3_100).contains("has not confirmed"));
    assert!(!approves(&bench.press(3_200, 'y')));
    assert!(approves(&bench.press(3_600, 'y')));
}

pub(super) fn long_arguments(lines: usize) -> String {
    let members: Vec<String> = (0..lines).map(|n| format!(r#""k{n:04}":"value {n}""#)).collect();
    format!("{{{}}}", members.join(","))
}

#[test]
fn unseen_arguments_cannot_be_approved() {
    let write = || approval(1, delete_branch(), &long_arguments(60), Tier::Press);
    let mut bench = Bench::new(vec![write()]);
    assert!(bench.text(600).contains("lines unseen"));
    assert!(!approves(&bench.press(600, 'y')));
    bench.press(900, 'G');
    assert!(bench.text(1_000).contains("of 60"));
    assert!(approves(&bench.press(1_200, 'y')));

    // Page by page, the count goes down to nothing.
    let mut bench = Bench::new(vec![write()]);
    for step in 0..20 {
        bench.code(600 + step * 10, Some(Intent::PageDown), KeyCode::PageDown);
    }
    assert!(approves(&bench.press(1_200, 'y')));
}

#[test]
fn the_arguments_alone_can_be_read_but_not_approved() {
    let mut bench = Bench::new(vec![approval(1, delete_branch(), &long_arguments(20), Tier::Press)]);
    bench.press(600, 'd');
    assert!(bench.text(700).contains("k0019"), "all of them on one screen");
    assert!(!approves(&bench.press(800, 'y')));
    bench.press(1_000, 'd');
    assert!(approves(&bench.press(1_200, 'y')), "seen there is seen");
}

#[test]
fn a_card_that_does_not_fit_cannot_be_approved_and_says_so() {
    for size in [(40, 12), (30, 40), (100, 12), (80, 14)] {
        let mut bench = Bench::sized(vec![approval(1, delete_branch(), SHORT, Tier::Press)], size);
        assert!(!approves(&bench.press(600, 'y')), "{size:?}");
        assert!(bench.text(700).contains("too small to approve"), "{size:?}\n{}", bench.text(700));
        bench.press(900, 'n');
        let denied = bench.code(1_200, None, KeyCode::Enter);
        assert_eq!(verdict(&denied), Some(Verdict::Deny { reason: String::new() }), "{size:?}");
    }
    let mut bench = Bench::sized(vec![approval(1, delete_branch(), SHORT, Tier::Press)], (40, 12));
    bench.size = (80, 24);
    bench.layout();
    assert!(approves(&bench.press(600, 'y')), "it fits after a resize");
}

#[test]
fn a_question_that_ends_while_armed_says_what_happened_and_decides_nothing() {
    let table = [
        (CallPhase::Withdrawn(Withdrawal::CallerGone), "withdrawn: caller gone; nothing was sent"),
        (CallPhase::Withdrawn(Withdrawal::DefinitionChanged), "withdrawn: definition changed; nothing was sent"),
        (CallPhase::Expired, "expired: nobody decided in time; nothing was sent"),
        (CallPhase::Denied { reason: "no".into() }, "decided by you (person), not on this card: denied: \"no\""),
        (CallPhase::Done { is_error: false }, "decided by you (person), not on this card: executed in 412 ms"),
    ];
    for (phase, words) in table {
        let two = vec![
            approval(1, delete_branch(), SHORT, Tier::Arm),
            approval(2, delete_branch(), r#"{"branch":"other"}"#, Tier::Arm),
        ];
        let mut bench = Bench::new(two);
        bench.press(600, 'y');
        bench.end(0, phase);
        assert!(bench.text(900).contains(words), "{words}\n{}", bench.text(900));
        assert!(bench.text(900).contains("\"main\""), "it did not jump to the other question");
        assert_eq!(bench.press(1_000, 'y'), Outcome::default());
        assert!(bench.text(1_000).contains("nothing was decided by that key"));
    }
}

#[test]
fn after_a_decision_the_outcome_is_shown_in_place() {
    let table = [
        (CallPhase::Running, "approved: running…"),
        (CallPhase::Done { is_error: false }, "executed in 412 ms"),
        (CallPhase::Done { is_error: true }, "the tool reports an error"),
        (CallPhase::Failed { reason: "no such branch".into() }, "failed in 412 ms: no such branch"),
        (CallPhase::Unknown { reason: "the server died".into() }, "unknown: the server died; it was sent"),
        (CallPhase::Withdrawn(Withdrawal::Cancelled), "your approval came too late: withdrawn: cancelled; nothing"),
    ];
    for (phase, words) in table {
        let mut bench = Bench::destructive();
        bench.press(600, 'y');
        bench.press(1_000, 'y');
        bench.end(0, phase);
        assert!(bench.text(1_100).contains(words), "{words}\n{}", bench.text(1_100));
    }
}

#[test]
fn tab_goes_through_the_queue_and_starts_anew() {
    let queue = (1..=3).map(|id| approval(id, delete_branch(), &format!(r#"{{"n":{id}}}"#), Tier::Arm)).collect();
    let mut bench = Bench::new(queue);
    assert!(bench.text(0).contains("1 of 3"));
    bench.press(600, 'y');
    bench.code(1_000, Some(Intent::Next), KeyCode::Tab);
    assert_eq!(bench.card.approval().0, 2);
    assert!(bench.text(1_000).contains("2 of 3"));
    assert!(!approves(&bench.press(1_100, 'y')), "dead again");
    assert!(!approves(&bench.press(1_600, 'y')), "and the arming of the other card is gone");
    let decided = bench.press(2_000, 'y');
    let [Effect::Send(Command::Decide(decided, Verdict::Approve))] = decided.effects.as_slice() else {
        panic!("{decided:?}")
    };
    assert_eq!((decided.approval.0, decided.arguments), (2, bench.snapshot.approvals[1].arguments.digest()));
    bench.code(2_200, Some(Intent::Previous), KeyCode::BackTab);
    assert_eq!(bench.card.approval().0, 1);
    bench.code(2_400, Some(Intent::Previous), KeyCode::BackTab);
    assert_eq!(bench.card.approval().0, 3, "around the end");
}

#[test]
fn new_questions_never_move_the_shown_one() {
    let mut bench = Bench::destructive();
    bench.press(600, 'y');
    for id in 2..50 {
        bench.snapshot.approvals.push(Arc::new(approval(id, delete_branch(), r#"{"other":1}"#, Tier::Arm)));
        bench.layout();
    }
    assert_eq!(bench.card.approval().0, 1);
    assert!(bench.text(900).contains("1 of 49"));
    assert!(approves(&bench.press(1_000, 'y')), "still armed for the same question");
}

#[test]
fn a_denial_takes_a_reason_by_number_or_in_words() {
    let mut bench = Bench::destructive();
    assert_eq!(bench.press(300, 'n'), Outcome::default());
    assert_eq!(bench.card.context(), CardContext::Keys, "dead");
    bench.press(600, 'n');
    assert_eq!(bench.card.context(), CardContext::Text);
    bench.code(650, None, KeyCode::Char('n'));
    assert!(!bench.text(660).contains("reason n"), "the held key does not write");
    bench.code(800, None, KeyCode::Char('1'));
    assert!(bench.text(800).contains("reason wrong target"));
    bench.code(1_000, None, KeyCode::Char('2'));
    let denied = bench.code(1_200, None, KeyCode::Enter);
    assert_eq!(verdict(&denied), Some(Verdict::Deny { reason: "not now".to_owned() }));

    let mut bench = Bench::destructive();
    bench.press(600, 'n');
    bench.write(800, "use 2 keys");
    let denied = bench.code(3_000, None, KeyCode::Enter);
    assert_eq!(verdict(&denied), Some(Verdict::Deny { reason: "use 2 keys".to_owned() }));

    let mut bench = Bench::destructive();
    bench.press(600, 'n');
    assert_eq!(bench.code(900, None, KeyCode::Esc), Outcome::default());
    assert_eq!(bench.card.context(), CardContext::Keys);
}

#[test]
fn pasted_text_never_decides() {
    for tier in [Tier::Press, Tier::Arm, Tier::Type] {
        let mut bench = Bench::new(vec![approval(1, delete_branch(), SHORT, tier)]);
        bench.card.paste("yyyy\n");
        assert!(!bench.text(700).contains("sending"));
        if tier == Tier::Type {
            bench.press(700, 'y');
            bench.card.paste("delete_branch");
            assert!(!approves(&bench.ctrl_y(1_200)));
        }
    }
    let mut bench = Bench::destructive();
    bench.press(600, 'n');
    bench.card.paste("not this\nbranch\n");
    let denied = bench.code(900, None, KeyCode::Enter);
    assert_eq!(verdict(&denied), Some(Verdict::Deny { reason: "not this branch".to_owned() }));
}

#[test]
fn the_name_is_typed_and_enter_does_not_commit_it() {
    let mut bench = Bench::new(vec![approval(1, delete_branch(), SHORT, Tier::Type)]);
    bench.press(600, 'y');
    assert_eq!(bench.card.context(), CardContext::Text);
    bench.write(800, "delete_branc");
    assert!(!approves(&bench.ctrl_y(3_000)));
    bench.write(3_200, "h");
    assert_eq!(bench.code(3_400, None, KeyCode::Enter), Outcome::default());
    assert!(bench.text(3_400).contains("Enter decides nothing"));
    assert!(approves(&bench.ctrl_y(3_600)));
}

#[test]
fn nothing_is_decided_under_read_only() {
    let mut bench = Bench::new(vec![approval(1, delete_branch(), SHORT, Tier::Press)]);
    bench.snapshot.read_only = true;
    assert_eq!(bench.press(600, 'y'), Outcome::default());
    assert_eq!(bench.press(900, 'n'), Outcome::default());
    assert!(bench.text(1_000).contains("read-only"));
    assert_eq!(bench.card.context(), CardContext::Keys);
}

#[test]
fn it_wakes_for_what_changes_by_itself() {
    let mut bench = Bench::destructive();
    let after = |bench: &Bench, millis| bench.card.wake_after(bench.at(millis)).map(|at| at - bench.start);
    let millis = Duration::from_millis;
    assert_eq!(after(&bench, 0), Some(millis(500)), "keys come to life");
    assert_eq!(after(&bench, 500), Some(millis(1_000)), "a second of the countdown");
    bench.press(600, 'y');
    assert_eq!(after(&bench, 600), Some(millis(900)), "armed");
    assert_eq!(after(&bench, 3_100), Some(millis(3_600)), "disarmed");
    bench.end(0, CallPhase::Expired);
    assert_eq!(after(&bench, 3_200), None);
}

#[test]
fn the_size_does_not_depend_on_the_state() {
    let mut bench = Bench::new(vec![
        approval(1, delete_branch(), SHORT, Tier::Arm),
        approval(2, delete_branch(), &long_arguments(50), Tier::Type),
    ]);
    let corner = |bench: &Bench| (bench.card.frame.area, bench.text(700).lines().next().map(str::len));
    let area = corner(&bench).0;
    bench.press(600, 'y');
    assert_eq!(corner(&bench).0, area);
    bench.press(1_000, 'n');
    assert_eq!(corner(&bench).0, area);
    bench.code(1_300, None, KeyCode::Esc);
    bench.code(1_600, Some(Intent::Next), KeyCode::Tab);
    assert_eq!(corner(&bench).0, area);
    bench.end(1, CallPhase::Expired);
    assert_eq!(corner(&bench).0, area);
}

/// All of the arguments as they can be read by scrolling, without blanks.
fn read_through(bench: &mut Bench) -> String {
    let mut rows: std::collections::BTreeMap<usize, String> = std::collections::BTreeMap::new();
    bench.code(600, Some(Intent::Top), KeyCode::Home);
    for step in 0..10_000 {
        let window = bench.card.frame.window;
        for index in bench.card.body.place().0..bench.card.body.place().0 + window {
            // What is drawn, not what was laid out.
            let text = bench.card.body.row(index);
            rows.insert(index, crate::tui::widgets::paint::row_text(&text));
        }
        let before = bench.card.body.place().0;
        bench.code(610 + step, Some(Intent::Down), KeyCode::Down);
        if bench.card.body.place().0 == before {
            break;
        }
    }
    rows.into_values().collect::<String>().replace(' ', "")
}

#[test]
fn every_byte_of_the_arguments_can_be_reached() {
    let long = format!(r#"{{"body":"{}rm-rf/home/somebody/--no-preserve-root-ok"}}"#, "x".repeat(12 << 10));
    let deep = format!(r#"{{"deep":{}"end"{}}}"#, "[".repeat(100), "]".repeat(100));
    for (arguments, end) in [(long, "--no-preserve-root-ok\""), (deep, "]]]]"), (long_arguments(60), "\"value59\"")] {
        for size in [(100, 30), (80, 24), (40, 12)] {
            let mut bench = Bench::sized(vec![approval(1, delete_branch(), &arguments, Tier::Press)], size);
            if size.0 == 40 {
                bench.press(500, 'd');
            }
            let all = read_through(&mut bench);
            assert!(all.ends_with(end), "{size:?}: {all}");
            let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
            assert_eq!(letters(&all), letters(&arguments), "{size:?}");
        }
    }
}

#[test]
fn wide_characters_never_move_the_border() {
    let odd = r#"{"a":"👨‍👩‍👧‍👦♻️1️⃣🇩🇪 عربى 한글 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字","漢字":"e"}"#;
    for width in 44..100 {
        let tool = entry("服务器", "删除分支👨‍👩‍👧‍👦", [Hint::Unknown; 4]);
        let bench = Bench::sized(vec![approval(1, tool, odd, Tier::Arm)], (width, 40));
        let (buf, area) = (bench.buffer(700), bench.card.frame.area);
        for y in area.top() + 1..area.bottom() - 1 {
            let edges = [area.left(), area.right() - 1].map(|x| buf[(x, y)].symbol().to_owned());
            assert_eq!(edges, ["┃", "┃"], "width {width}, row {y}");
        }
    }
}

#[test]
fn a_decision_given_again_is_still_ours() {
    let mut bench = Bench::new(vec![approval(1, delete_branch(), SHORT, Tier::Press)]);
    assert!(approves(&bench.press(600, 'y')));
    bench.press(3_000, 'n');
    bench.code(3_300, None, KeyCode::Esc);
    bench.end(0, CallPhase::Done { is_error: false });
    assert!(!bench.text(3_500).contains("not on this card"));
}

#[test]
fn odd_things_are_told() {
    let mut odd = delete_branch();
    odd.flags = vec![crate::tool::Flag::Contradictory];
    let mut question = approval(1, odd, r#"{"a":"\u001b[31m","confirm":true}"#, Tier::Arm);
    question.confirm_set = true;
    let bench = Bench::new(vec![question]);
    let text = bench.text(700);
    for words in ["contradictory", "hidden characters", "set by your approval", "${RELEASE_GH_TOKEN}", "config.yaml:41"]
    {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

#[test]
fn all_oddities_together_still_fit_a_small_terminal() {
    let mut odd = delete_branch();
    odd.flags = vec![crate::tool::Flag::Contradictory, crate::tool::Flag::MalformedHints, crate::tool::Flag::ListCut];
    let mut question = approval(1, odd, r#"{"a":"\u001b[31m","confirm":true}"#, Tier::Press);
    question.confirm_set = true;
    // A line of 24 is the screen's own.
    let mut bench = Bench::sized(vec![question], (80, 23));
    insta::assert_snapshot!("80x23_odd", bench.text(600));
    assert!(approves(&bench.press(600, 'y')), "{}", bench.text(600));
}

#[test]
fn golden_screens() {
    for size in [(120, 40), (80, 24), (40, 12)] {
        let queue =
            vec![approval(1, delete_branch(), SHORT, Tier::Arm), approval(2, delete_branch(), SHORT, Tier::Arm)];
        let mut bench = Bench::sized(queue, size);
        let name = |state: &str| format!("{}x{}_{state}", size.0, size.1);
        insta::assert_snapshot!(name("asking"), bench.text(700));
        bench.press(700, 'y');
        insta::assert_snapshot!(name("armed"), bench.text(1_100));
        bench.press(1_200, 'n');
        insta::assert_snapshot!(name("reason"), bench.text(1_300));
        bench.code(1_500, None, KeyCode::Enter);
        bench.end(0, CallPhase::Denied { reason: Arc::from("") });
        insta::assert_snapshot!(name("denied"), bench.text(1_600));
    }
    let mut bench = Bench::sized(vec![approval(1, delete_branch(), &long_arguments(60), Tier::Type)], (80, 24));
    insta::assert_snapshot!("80x24_unseen", bench.text(700));
    bench.press(700, 'G');
    bench.press(900, 'y');
    bench.write(1_100, "delete_branch");
    insta::assert_snapshot!("80x24_typed", bench.text(4_000));
}

#[test]
fn dead_keys_look_dead() {
    use ratatui::style::Modifier;
    let bench = Bench::destructive();
    let bold_y = |millis| {
        let buf = bench.buffer(millis);
        buf.content().iter().any(|cell| cell.symbol() == "y" && cell.modifier.contains(Modifier::BOLD))
    };
    assert!(!bold_y(499) && bold_y(500));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_size_and_any_text_is_survived(
        (width, height) in (0_u16..130, 0_u16..45),
        name in "[\\PC\u{202e}\u{1b}]{1,40}",
        text in "[\\PC\u{200b}\u{9b}\n]{0,200}",
        keys in "[ynd1G\u{1}]{0,8}",
    ) {
        let arguments = serde_json::json!({"text": text, "more": hostile()}).to_string();
        let mut tool = entry("git\u{202e}hub", &name, [Hint::Unknown; 4]);
        tool.description = text.as_str().into();
        let mut bench = Bench::sized(vec![approval(1, tool, &arguments, Tier::Arm)], (width, height));
        for (index, key) in keys.chars().enumerate() {
            bench.press(600 + 400 * index as u64, key);
            assert_clean(&bench.buffer(600 + 400 * index as u64));
        }
        // A buffer that is smaller than what was laid out.
        let area = screen(width / 2, height / 2);
        let mut buf = Buffer::empty(area);
        drawing(&bench.snapshot, |draw| bench.card.render(area, &mut buf, draw, bench.at(9_000)));
        bench.size = (height, width);
        bench.layout();
        assert_clean(&bench.buffer(9_000));
    }
}

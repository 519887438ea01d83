//! Editing, remembering, batches, changed definitions, stopping: with explicit instants, and their pictures.

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::fixtures::{NOON, approval, call_of, delete_branch, entry};
use super::tests::{Bench, SHORT, approves, long_arguments, verdict};
use super::{CardContext, Outcome};
use crate::clock::Timestamp;
use crate::engine::command::{Command, GrantScope, Remember, Shown, Verdict};
use crate::engine::snapshot::{
    ApprovalView, CallPhase, Caller, DefinitionChange, DiffLine, Known, Repeat, ResultView, Tier, Withdrawal,
};
use crate::ids::SeatHandle;
use crate::secret::Redactor;
use crate::tool::{Arguments, Hint};
use crate::tui::intent::{Effect, Intent};

impl Bench {
    /// Replaces what the editor holds and asks for the difference.
    fn rewrite(&mut self, millis: u64, text: &str) {
        let control = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL);
        let at = self.at(millis);
        for _ in 0..200 {
            self.card.key(None, KeyEvent::new(KeyCode::Down, KeyModifiers::NONE), at, &self.snapshot);
        }
        self.card.key(None, KeyEvent::new(KeyCode::End, KeyModifiers::NONE), at, &self.snapshot);
        for _ in 0..400 {
            self.card.key(None, KeyEvent::new(KeyCode::Backspace, KeyModifiers::NONE), at, &self.snapshot);
        }
        self.card.paste(text);
        self.card.key(Some(Intent::Submit), control('s'), at, &self.snapshot);
    }

    fn shown(&self, index: usize) -> Shown {
        self.snapshot.approvals[index].shown()
    }

    /// Looks at every question of the queue for a second, beginning with the first.
    fn look_at_all(&mut self, from: u64) -> u64 {
        for step in 0..self.snapshot.approvals.len() as u64 {
            self.code(from + 1_000 * (step + 1), Some(Intent::Next), KeyCode::Tab);
        }
        from + 1_000 * (self.snapshot.approvals.len() as u64 + 1)
    }
}

fn write_tool(id: u64, arguments: &str) -> ApprovalView {
    approval(id, entry("github", "create_issue", [Hint::No, Hint::No, Hint::No, Hint::Yes]), arguments, Tier::Press)
}

const NEW: &str = r#"{"branch": "other", "repo": "acme/api"}"#;

#[test]
fn an_edit_is_shown_and_approved_as_a_value_of_its_own() {
    let mut bench = Bench::destructive();
    bench.press(300, 'e');
    assert_eq!(bench.card.context(), CardContext::Keys, "dead");
    bench.press(600, 'e');
    assert_eq!(bench.card.context(), CardContext::Editor);
    bench.rewrite(1_000, NEW);
    let text = bench.text(1_100);
    for words in ["Approve your edit?", "-   \"branch\": \"main\"", "+   \"branch\": \"other\"", "    \"repo\""] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    let edited = Arguments::parse(NEW).unwrap();
    assert!(text.contains(&edited.digest().short()), "its own hash\n{text}");
    assert!(verdict(&bench.press(1_400, 'y')).is_none(), "dead after the edit");
    assert!(verdict(&bench.press(1_600, 'y')).is_none(), "arms");
    assert!(bench.text(1_700).contains("as you edited it"));
    let outcome = bench.press(2_000, 'y');
    let expected = Command::Decide(bench.shown(0), Verdict::ApproveEdited(edited));
    assert_eq!(outcome.effects, [Effect::Send(expected)]);
}

#[test]
fn an_edit_that_does_not_fit_the_schema_stays_in_the_editor() {
    let mut bench = Bench::destructive();
    bench.press(600, 'e');
    bench.rewrite(1_000, r#"{"branch": 7}"#);
    assert_eq!(bench.card.context(), CardContext::Editor);
    assert!(bench.text(1_100).contains("do not fit the tool's schema"), "{}", bench.text(1_100));
    bench.rewrite(1_300, "{");
    assert_eq!(bench.card.context(), CardContext::Editor);
    bench.code(1_500, Some(Intent::Back), KeyCode::Esc);
    assert!(bench.text(1_500).contains("what you wrote is lost"));
    bench.code(1_700, None, KeyCode::Char('y'));
    assert_eq!(bench.card.context(), CardContext::Keys);
    assert!(!approves(&bench.press(1_900, 'y')), "the y that closed it, and one soon after, decide nothing");
    bench.press(2_300, 'y');
    assert!(approves(&bench.press(2_700, 'y')), "as it was sent");
}

#[test]
fn an_edit_without_a_change_is_none() {
    let mut bench = Bench::destructive();
    bench.press(600, 'e');
    bench.rewrite(1_000, "{\"repo\": \"acme/api\",\n\"branch\": \"main\"}");
    assert!(bench.text(1_100).contains("nothing was changed"));
    bench.press(1_600, 'y');
    assert!(approves(&bench.press(2_000, 'y')));
}

#[test]
fn the_end_of_an_edit_has_to_be_seen() {
    let mut bench = Bench::new(vec![write_tool(1, SHORT)]);
    bench.press(600, 'e');
    let long = long_arguments(60).replacen('{', r#"{"branch":"b","repo":"r","#, 1);
    bench.rewrite(1_000, &long);
    assert!(bench.text(1_600).contains("y counts after the end of your edit"), "{}", bench.text(1_600));
    assert!(verdict(&bench.press(1_700, 'y')).is_none());
    bench.press(2_000, 'G');
    let edited = Arguments::parse(&long).unwrap();
    assert_eq!(verdict(&bench.press(2_300, 'y')), Some(Verdict::ApproveEdited(edited)));
}

#[test]
fn secrets_are_counted_and_cannot_be_edited() {
    let mut question = approval(1, delete_branch(), SHORT, Tier::Arm);
    let redactor = Redactor::default();
    redactor.learn([crate::secret::Secret::new("acme/api-and-more")]);
    let arguments = Arguments::parse(r#"{"branch":"main","repo":"acme/api-and-more"}"#).unwrap();
    question.arguments = arguments.for_person(&redactor);
    assert_eq!(question.arguments.hidden(), 1);
    let mut bench = Bench::new(vec![question]);
    let text = bench.text(700);
    assert!(text.contains("1 value is a secret of your configuration and not shown; the server gets it"), "{text}");
    bench.press(700, 'e');
    assert_eq!(bench.card.context(), CardContext::Keys);
    assert!(bench.text(800).contains("cannot be edited: 1 value"), "{}", bench.text(800));
}

#[test]
fn a_question_that_ends_while_it_is_edited_leaves_the_keys_without_meaning() {
    let two = vec![write_tool(1, SHORT), write_tool(2, SHORT)];
    let mut bench = Bench::new(two);
    bench.press(600, 'e');
    bench.end(0, CallPhase::Withdrawn(Withdrawal::CallerGone));
    assert_eq!(bench.card.context(), CardContext::Editor);
    assert!(bench.text(700).contains("the call waits no more"), "{}", bench.text(700));
    for (step, key) in ['y', 'n', 'x', 'b', 'N', 'e', 'r'].into_iter().enumerate() {
        assert_eq!(bench.press(1_000 + 400 * step as u64, key), Outcome::default());
    }
    assert_eq!(bench.code(5_000, Some(Intent::Submit), KeyCode::Char('s')), Outcome::default());
    assert_eq!(bench.code(5_200, Some(Intent::Next), KeyCode::Tab), Outcome::default());
    assert_eq!(bench.card.approval().0, 1, "it did not go to the other question");
    bench.code(5_400, Some(Intent::Back), KeyCode::Esc);
    let text = bench.text(5_500);
    assert!(text.contains("withdrawn: caller gone; nothing was sent"), "{text}");
    assert_eq!(bench.press(6_000, 'y'), Outcome::default());
}

#[test]
fn a_choice_says_its_scope_in_full_and_counts_with_the_approval() {
    let minutes = |n: u64| Some(Duration::from_secs(n * 60));
    let table = [
        (1, GrantScope::ThisCall, minutes(10), "with exactly these arguments, called by seat release, for 10 minutes"),
        (2, GrantScope::ThisCall, minutes(60), "with exactly these arguments, called by seat release, for 1 hour"),
        (3, GrantScope::ThisCall, None, "called by seat release, until this program ends"),
        (4, GrantScope::ThisTool, minutes(10), "every call of github::release :: create_issue, whatever its arguments"),
        (5, GrantScope::ThisTool, minutes(60), "called by seat release, for 1 hour"),
        (6, GrantScope::ThisTool, None, "until this program ends"),
    ];
    for (number, scope, span, words) in table {
        let mut bench = Bench::new(vec![write_tool(1, SHORT)]);
        bench.press(600, 'r');
        assert_eq!(bench.card.context(), CardContext::Choosing);
        let squeezed = |text: String| text.replace('┃', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(squeezed(bench.text(700)).contains(words), "before the key: {words}\n{}", bench.text(700));
        assert!(verdict(&bench.press(800, 'y')).is_none(), "nothing is approved among the choices");
        bench.code(1_000, Some(Intent::Choose(number)), KeyCode::Char('1'));
        assert!(squeezed(bench.text(1_100)).contains("y lets run without asking again"), "{}", bench.text(1_100));
        assert!(verdict(&bench.press(1_300, 'y')).is_none(), "dead");
        assert!(verdict(&bench.press(1_600, 'y')).is_none(), "two presses, also for a write");
        let given = verdict(&bench.press(2_000, 'y'));
        assert_eq!(given, Some(Verdict::ApproveAndRemember(Remember { scope, span })), "{number}");
    }
}

#[test]
fn a_choice_can_be_taken_back() {
    let mut bench = Bench::new(vec![write_tool(1, SHORT)]);
    for (at, number) in [(600, 5), (2_000, 0)] {
        bench.press(at, 'r');
        bench.code(at + 300, Some(Intent::Choose(number)), KeyCode::Char('5'));
    }
    assert!(approves(&bench.press(3_000, 'y')));
}

#[test]
fn what_must_be_typed_or_was_edited_is_never_remembered() {
    let mut bench = Bench::new(vec![approval(1, delete_branch(), SHORT, Tier::Type)]);
    bench.press(600, 'r');
    assert_eq!(bench.card.context(), CardContext::Keys);
    assert!(bench.text(700).contains("never remembered"));
    let mut bench = Bench::new(vec![write_tool(1, SHORT)]);
    bench.press(600, 'r');
    bench.code(900, Some(Intent::Choose(4)), KeyCode::Char('4'));
    bench.press(1_500, 'e');
    bench.rewrite(2_000, NEW);
    bench.press(2_600, 'r');
    assert_eq!(bench.card.context(), CardContext::Keys);
    assert!(matches!(verdict(&bench.press(3_000, 'y')), Some(Verdict::ApproveEdited(_))), "the choice is gone");
}

#[test]
fn a_batch_needs_every_end_to_have_been_looked_at() {
    let queue = || vec![write_tool(1, r#"{"n":1}"#), write_tool(2, &long_arguments(60)), write_tool(3, r#"{"n":3}"#)];
    let mut bench = Bench::new(queue());
    bench.press(600, 'b');
    assert!(bench.text(700).contains("2 of the 3 calls have not been looked at"), "{}", bench.text(700));
    let after = bench.look_at_all(1_000);
    bench.press(after, 'b');
    assert!(bench.text(after).contains("1 of the 3 calls"), "the long one's end was not shown");
    bench.code(after + 200, Some(Intent::Next), KeyCode::Tab);
    bench.press(after + 400, 'G');
    bench.code(after + 1_000, Some(Intent::Next), KeyCode::Tab);
    assert!(bench.press(after + 2_000, 'b').effects.is_empty(), "arms, also for writes");
    assert!(bench.text(after + 2_100).contains("b again runs all 3 waiting calls of this tool"));
    assert!(bench.press(after + 2_200, 'b').effects.is_empty(), "too soon");
    let all = (0..3).map(|index| bench.shown(index)).collect();
    let sent = bench.press(after + 2_500, 'b');
    assert_eq!(sent.effects, [Effect::Send(Command::DecideAll(all, Verdict::Approve))]);
}

#[test]
fn a_glance_shorter_than_the_dead_time_is_no_look() {
    let mut bench = Bench::new((1..=3).map(|id| write_tool(id, SHORT)).collect());
    for step in 0..6 {
        bench.code(600 + step * 130, Some(Intent::Next), KeyCode::Tab);
    }
    bench.press(3_000, 'b');
    assert!(bench.text(3_000).contains("of the 3 calls have not been looked at"), "{}", bench.text(3_000));
}

#[test]
fn a_batch_is_off_when_the_waiting_calls_change() {
    let two = || Bench::new(vec![write_tool(1, SHORT), write_tool(2, SHORT)]);
    // A new call of the tool, and another definition of one that was looked at.
    let newcomer = |bench: &mut Bench| bench.snapshot.approvals.push(Arc::new(write_tool(3, SHORT)));
    let changed = |bench: &mut Bench| {
        let mut other = write_tool(2, SHORT);
        Arc::make_mut(&mut other.entry).fingerprint = delete_branch().fingerprint;
        bench.snapshot.approvals[1] = Arc::new(other);
    };
    for change in [&newcomer as &dyn Fn(&mut Bench), &changed] {
        let mut bench = two();
        let after = bench.look_at_all(600);
        bench.press(after, 'b');
        change(&mut bench);
        bench.layout();
        assert_eq!(bench.press(after + 500, 'b'), Outcome::default());
        assert!(bench.text(after + 600).contains("not been looked at"), "{}", bench.text(after + 600));
    }
    // The same while the press is held back.
    let mut bench = two();
    bench.tick(500);
    let after = bench.look_at_all(600);
    bench.press(after, 'b');
    bench.press(after + 500, 'b');
    newcomer(&mut bench);
    assert_eq!(bench.tick(after + 700), Outcome::default());
    assert!(bench.text(after + 700).contains("nothing was decided"));
}

#[test]
fn one_key_does_not_commit_what_the_other_armed() {
    let mut bench = Bench::new((1..=2).map(|id| approval(id, delete_branch(), SHORT, Tier::Arm)).collect());
    let after = bench.look_at_all(600);
    bench.press(after, 'y');
    assert!(bench.press(after + 500, 'b').effects.is_empty(), "disarms, and arms the batch");
    assert!(bench.press(after + 1_000, 'y').effects.is_empty(), "disarms the batch");
    assert!(approves(&bench.press(after + 1_500, 'y')));
}

#[test]
fn there_is_no_batch_across_tools_or_of_typed_ones() {
    let typed = |id| approval(id, delete_branch(), SHORT, Tier::Type);
    let mut bench = Bench::new(vec![typed(1), typed(2)]);
    let after = bench.look_at_all(600);
    bench.press(after, 'b');
    assert!(bench.text(after).contains("never approved in a batch"));
    let mut bench = Bench::new(vec![write_tool(1, SHORT), approval(2, delete_branch(), SHORT, Tier::Arm)]);
    let after = bench.look_at_all(600);
    bench.press(after, 'b');
    assert!(bench.text(after).contains("no other call of this tool waits"));
}

#[test]
fn all_calls_of_a_tool_are_denied_with_one_reason() {
    let queue = vec![write_tool(1, SHORT), approval(2, delete_branch(), SHORT, Tier::Arm), write_tool(3, SHORT)];
    let mut bench = Bench::new(queue);
    bench.press(600, 'N');
    assert!(bench.text(700).contains("deny all 2"), "{}", bench.text(700));
    bench.code(900, None, KeyCode::Char('1'));
    let sent = bench.code(1_100, None, KeyCode::Enter);
    let all = vec![bench.shown(0), bench.shown(2)];
    let reason = "wrong target".to_owned();
    assert_eq!(sent.effects, [Effect::Send(Command::DecideAll(all, Verdict::Deny { reason }))]);
}

fn changed() -> ApprovalView {
    let line = |text: &str| Arc::<str>::from(text);
    let lines = vec![
        DiffLine::Same(line("description: Delete a branch")),
        DiffLine::Removed(line("destructive: yes")),
        DiffLine::Added(line("destructive: no")),
    ];
    let change = DefinitionChange { since: NOON, approved: Known::Approved, lines };
    ApprovalView { change: Some(Arc::new(change)), ..write_tool(1, SHORT) }
}

#[test]
fn a_changed_definition_is_loud_and_has_to_be_looked_at() {
    let mut bench = Bench::new(vec![changed()]);
    let text = bench.text(600);
    assert!(text.contains("definition changed since a person last approved it"), "{text}");
    assert!(!approves(&bench.press(600, 'y')));
    assert!(bench.text(700).contains("after the difference in the definition has been seen (t)"));
    bench.press(900, 't');
    assert_eq!(bench.card.context(), CardContext::Reading);
    let text = bench.text(1_000);
    assert!(text.contains("- destructive: yes") && text.contains("+ destructive: no"), "{text}");
    assert!(!approves(&bench.press(1_200, 'y')), "not while it is read");
    bench.code(1_400, Some(Intent::Back), KeyCode::Esc);
    assert!(approves(&bench.press(1_600, 'y')));
}

#[test]
fn the_definition_is_whole() {
    let mut bench = Bench::sized(vec![approval(1, delete_branch(), SHORT, Tier::Arm)], (100, 60));
    bench.press(600, 't');
    let mut text = String::new();
    for step in 0..20 {
        text.push_str(&bench.text(700));
        bench.code(800 + step * 200, Some(Intent::PageDown), KeyCode::PageDown);
    }
    for words in ["It cannot be brought back.", "config.yaml:41", "input schema", "\"force\"", "fingerprint"] {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

#[test]
fn stopping_a_seat_asks_first() {
    let mut bench = Bench::new(vec![write_tool(1, SHORT), write_tool(2, SHORT)]);
    assert_eq!(bench.press(300, 'x'), Outcome::default(), "dead");
    let outcome = bench.press(600, 'x');
    let [Effect::Ask(question)] = outcome.effects.as_slice() else { panic!("{outcome:?}") };
    assert_eq!(*question.yes, Effect::Send(Command::StopSeat(SeatHandle::from("release"))));
    assert!(question.detail.contains("2 waiting calls are withdrawn"), "{}", question.detail);
    let mut own = write_tool(1, SHORT);
    own.caller = Caller::Console;
    let mut bench = Bench::new(vec![own]);
    assert_eq!(bench.press(600, 'x'), Outcome::default());
    assert!(bench.text(700).contains("no seat to stop"));
}

#[test]
fn nothing_is_changed_under_read_only() {
    let mut bench = Bench::new(vec![write_tool(1, SHORT), write_tool(2, SHORT)]);
    bench.snapshot.read_only = true;
    for (step, key) in ['e', 'r', 'x', 'b', 'N'].into_iter().enumerate() {
        assert_eq!(bench.press(600 + 300 * step as u64, key), Outcome::default(), "{key}");
        assert_eq!(bench.card.context(), CardContext::Keys, "{key}");
    }
}

#[test]
fn the_arguments_are_searched_around_their_end() {
    let mut bench = Bench::new(vec![write_tool(1, &long_arguments(60))]);
    bench.press(600, 'd');
    bench.code(800, Some(Intent::Search), KeyCode::Char('/'));
    assert_eq!(bench.card.context(), CardContext::Search);
    bench.write(1_000, "value 59");
    assert_eq!(bench.code(3_000, Some(Intent::Submit), KeyCode::Enter), Outcome::default());
    assert!(bench.text(3_100).contains("k0059"));
    bench.code(3_300, Some(Intent::NextMatch), KeyCode::Char('n'));
    assert!(bench.text(3_400).contains("on from the beginning"));
    assert_eq!(bench.card.context(), CardContext::Reading, "n denies nothing here");
    bench.code(3_600, Some(Intent::Back), KeyCode::Esc);
    bench.press(3_800, 'd');
    bench.code(4_000, Some(Intent::NextMatch), KeyCode::Char('n'));
    assert!(bench.text(4_100).contains("nothing is looked for"), "leaving forgets");
}

#[test]
fn a_likely_repeat_tells_how_the_earlier_call_ended() {
    let at = Timestamp::from_millis(NOON.millis() - 18_000 - 125_000);
    let repeat = Repeat { call: "c0000000009".into(), at, outcome: "done".into() };
    let bench = Bench::new(vec![ApprovalView { repeat: Some(repeat), ..write_tool(1, SHORT) }]);
    let text = bench.text(600);
    assert!(text.contains("LIKELY A REPEAT: the same call came 2 min 05 s before (c0000000009): done"), "{text}");
}

#[test]
fn a_call_that_keeps_being_denied_comes_with_a_rule() {
    let mut question = approval(1, delete_branch(), SHORT, Tier::Arm);
    question.history.same_arguments = Some((1, "denied".into()));
    assert!(!Bench::new(vec![question.clone()]).text(600).contains("decision: deny"));
    question.history.same_arguments = Some((2, "denied".into()));
    let text = Bench::new(vec![question]).text(600);
    assert!(text.contains(r#"- {tool: "github/delete_branch", seat: "release", decision: deny}"#), "{text}");
}

#[test]
fn a_result_can_be_read_where_the_card_was() {
    let mut bench = Bench::new(vec![write_tool(1, SHORT)]);
    bench.press(600, 'y');
    let lines: Vec<String> = (0..100).map(|n| format!("line {n} of it")).collect();
    let mut call = call_of(&bench.snapshot.approvals[0], CallPhase::Done { is_error: false });
    call.result = Some(Arc::new(ResultView { text: lines.join("\n").into(), is_error: false, redacted: false }));
    bench.snapshot.approvals.clear();
    bench.snapshot.calls = vec![Arc::new(call)];
    bench.layout();
    let text = bench.text(700);
    assert!(text.contains("executed in 412 ms") && text.contains("result  line 0 of it"), "{text}");
    bench.press(800, 'G');
    assert!(bench.text(900).contains("line 99 of it"));
    bench.press(1_000, 'd');
    assert!(bench.text(1_100).contains("\"acme/api\""), "{}", bench.text(1_100));
}

#[test]
fn golden_screens() {
    for size in [(120, 40), (80, 24), (40, 12)] {
        let name = |state: &str| format!("desk_{}x{}_{state}", size.0, size.1);
        let mut bench = Bench::sized(vec![changed(), write_tool(2, SHORT)], size);
        insta::assert_snapshot!(name("changed"), bench.text(700));
        bench.press(700, 't');
        insta::assert_snapshot!(name("definition"), bench.text(800));
        bench.code(1_000, Some(Intent::Back), KeyCode::Esc);
        bench.press(1_200, 'r');
        insta::assert_snapshot!(name("choices"), bench.text(1_300));
        bench.code(1_500, Some(Intent::Choose(5)), KeyCode::Char('5'));
        insta::assert_snapshot!(name("remembers"), bench.text(2_100));
        bench.press(2_200, 'e');
        insta::assert_snapshot!(name("editing"), bench.text(2_300));
        bench.rewrite(2_500, NEW);
        insta::assert_snapshot!(name("edited"), bench.text(3_100));
    }
}

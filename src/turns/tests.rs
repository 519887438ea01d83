//! Verdicts as a table, and turns over time.

use std::fmt::Write as _;

use super::verdict::{Ledger, acted, delivered, delivered_to};
use super::*;
use crate::tool::Hint::{No, Unknown, Yes};
use crate::tui::card::fixtures::entry;

fn call(name: &str, surface: Option<&str>, open_world: crate::tool::Hint, fate: Fate) -> Call {
    Call { name: name.into(), surface: surface.map(Arc::from), open_world, fate }
}

fn ledger(calls: &[Call]) -> Ledger {
    let mut ledger = Ledger::default();
    calls.iter().cloned().for_each(|call| ledger.add(call));
    ledger
}

fn surfaces(names: &[&str]) -> Vec<Arc<str>> {
    names.iter().map(|name| Arc::from(*name)).collect()
}

#[test]
fn what_counts_as_a_delivery_and_as_an_act() {
    use Fate::{Done, Failed};
    // Calls; delivered; delivered to chat; to mail, which nobody reaches; acted.
    let table = [
        (vec![], [false, false, false, false]),
        (vec![call("read", None, Unknown, Done)], [false, false, false, false]),
        (vec![call("ask", None, Yes, Done)], [false, false, false, true]),
        (vec![call("note", None, No, Done)], [false, false, false, false]),
        (vec![call("post", Some("chat"), Yes, Done)], [true, true, true, true]),
        (vec![call("odd", Some("chat"), Unknown, Done)], [true, true, true, true]),
        (vec![call("private", Some("chat"), No, Done)], [true, true, true, true]),
        (vec![call("post", Some("chat"), Yes, Failed)], [false, false, false, false]),
        (vec![call("ask", None, Yes, Failed)], [false, false, false, false]),
        (vec![call("comment", Some("tracker"), Yes, Done)], [true, false, true, true]),
        (
            vec![call("comment", Some("tracker"), Yes, Done), call("post", Some("chat"), Yes, Failed)],
            [true, false, true, true],
        ),
        (
            vec![call("post", Some("chat"), Yes, Failed), call("post", Some("chat"), Yes, Done)],
            [true, true, true, true],
        ),
    ];
    let reachable = surfaces(&["chat", "tracker"]);
    for (calls, expected) in table {
        let all = ledger(&calls);
        let to = |reply| delivered_to(reply, &all, &reachable);
        assert_eq!([delivered(&all), to(Some("chat")), to(Some("mail")), acted(&all)], expected, "{calls:?}");
        assert_eq!(to(None), delivered(&all), "nowhere in particular: anybody will do");
    }
}

#[test]
fn the_whole_table_of_verdicts() {
    let done = |name: &str, surface: Option<&str>, open| call(name, surface, open, Fate::Done);
    let nothing = vec![];
    let chat = vec![done("post", Some("chat"), Yes)];
    let tracker = vec![done("comment", Some("tracker"), Yes)];
    let asked = vec![done("ask", None, Yes)];
    let failed = vec![call("post", Some("chat"), Yes, Fate::Failed)];
    let all = [("nothing", nothing), ("chat", chat), ("tracker", tracker), ("asked", asked), ("failed", failed)];
    let reachable = surfaces(&["chat", "tracker"]);
    let mut text = String::new();
    for (claim, word) in Claim::ALL {
        for owes in ["none", "engine", "tool", "tool:chat", "tool:mail"] {
            for (calls, made) in &all {
                let judged = verdict(claim, &owes.parse().unwrap(), &ledger(made), &reachable);
                let judged = match judged {
                    Verdict::Accept => "accept".to_owned(),
                    Verdict::Correct(correction) => format!("correct: {correction}"),
                };
                let _ = writeln!(text, "{word:<9}  {owes:<9}  {calls:<7}  {judged}");
            }
        }
    }
    insta::assert_snapshot!("verdicts", text);
}

#[test]
fn a_correction_names_what_there_is_and_no_more() {
    let said = |owes: &str, calls: &[Call], reachable: &[&str]| match verdict(
        Claim::Delivered,
        &owes.parse().unwrap(),
        &ledger(calls),
        &surfaces(reachable),
    ) {
        Verdict::Correct(correction) => correction.to_string(),
        Verdict::Accept => "accept".to_owned(),
    };
    assert!(said("tool", &[], &[]).ends_with("None of your tools reaches anybody: end the turn as blocked"));
    assert!(said("tool", &[], &["chat"]).contains("Send it with a tool of chat, then"));
    assert!(said("tool", &[], &["chat", "pages", "tracker"]).contains("a tool of chat, pages or tracker, then"));
    let failing: Vec<Call> = (0..9).map(|n| call(&format!("t{n}"), Some("chat"), Yes, Fate::Failed)).collect();
    assert!(said("tool", &failing, &["chat"]).contains("(t4, t5, t6, t7, t8 failed)"));
}

#[test]
fn what_was_reached_is_kept_longer_than_the_calls() {
    let mut all = ledger(&[call("post", Some("chat"), Yes, Fate::Done)]);
    (0..1_000).for_each(|_| all.add(call("read", None, No, Fate::Done)));
    assert_eq!((all.calls().count(), all.counts()), (128, (1_001, 1, 0)));
    assert!(delivered(&all) && acted(&all));
    let Verdict::Correct(correction) = verdict(Claim::NoAction, &Obligation::Nothing, &all, &[]) else { panic!() };
    assert!(correction.to_string().starts_with("you did act in this turn, and reached chat."), "{correction}");
}

#[test]
fn an_obligation_is_one_of_four_words() {
    for text in ["none", "tool", "tool:chat", "tool:my.server_1-x", "engine"] {
        assert_eq!(text.parse::<Obligation>().unwrap().to_string(), text);
    }
    let long = format!("tool:{}", "x".repeat(65));
    for text in ["", "Tool", "tool:", "tool:a b", "tool:\u{202e}", "tool:a::b", "engine:x", " none", &long] {
        assert!(text.parse::<Obligation>().is_err(), "{text}");
    }
}

struct World {
    turns: Arc<Turns>,
    ends: tokio::sync::mpsc::Receiver<Ended>,
}

impl World {
    fn new() -> Self {
        let turns = Arc::new(Turns::default());
        let ends = turns.ends().take().unwrap();
        Self { turns, ends }
    }

    fn open(&self, session: &str, bound: Bound) -> Place {
        self.turns.open(Who { seat: "release".into(), session: session.into(), client: "agent 1".into() }, bound)
    }

    fn begin(&self, session: &str, owes: &str) -> Option<TurnId> {
        self.turns
            .begin((&"release".into(), &session.into()), Some("mail".into()), owes.parse().unwrap())
            .map(|begun| begun.id)
    }

    fn end(&self, session: &str, claim: Claim) -> Option<Judged> {
        let text = Some("done".into());
        self.turns.end((&"release".into(), &session.into()), (claim, text), &surfaces(&["chat", "tracker"]))
    }

    /// Outcome, calls and reached surfaces of each turn that ended since the last look.
    fn ended(&mut self) -> Vec<(&'static str, usize, String)> {
        let ended = std::iter::from_fn(|| self.ends.try_recv().ok());
        ended.map(|ended| (ended.outcome.as_str(), ended.calls.len(), ended.reached.join(" "))).collect()
    }
}

fn finish(place: &Place, server: &str, read: crate::tool::Hint) {
    place.finished(&entry(server, "post", [read, No, No, Yes]), Fate::Done, Instant::now());
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_corrected_once_and_then_incomplete() {
    let mut world = World::new();
    let place = world.open("a", Bound::Session);
    let id = world.begin("a", "tool:chat").unwrap();
    finish(&place, "chat", Yes);
    let Some(Judged::Corrected { message, .. }) = world.end("a", Claim::Delivered) else { panic!() };
    assert!(message.starts_with("your answer reached nobody"), "{message}");
    assert_eq!(place.view(&Redactor::default()).unwrap().now.as_ref().unwrap().corrected.as_ref().unwrap().1, message);
    finish(&place, "tracker", No);
    let judged = world.end("a", Claim::Delivered).unwrap();
    let missing = match &judged {
        Judged::Over { id: over, outcome: Outcome::Incomplete, missing: Some(missing), .. } if *over == id => missing,
        other => panic!("{other:?}"),
    };
    assert!(missing.starts_with("your answer went to tracker, and whoever waits for it waits on chat"), "{missing}");
    assert_eq!(world.ended(), [("incomplete", 2, "tracker".to_owned())]);
    assert_eq!(world.end("a", Claim::Delivered), Some(Judged::Idle), "that turn is over");
}

#[tokio::test(start_paused = true)]
async fn after_a_correction_what_is_so_is_accepted() {
    let mut world = World::new();
    let place = world.open("a", Bound::Session);
    world.begin("a", "tool:chat");
    assert!(matches!(world.end("a", Claim::NoAction), Some(Judged::Corrected { .. })));
    finish(&place, "chat", No);
    assert!(matches!(world.end("a", Claim::Delivered), Some(Judged::Over { missing: None, .. })));
    assert_eq!(world.ended(), [("delivered", 1, "chat".to_owned())]);
    let view = place.view(&Redactor::default()).unwrap();
    assert!(view.now.is_none() && view.before.as_ref().unwrap().text.as_deref() == Some("done"), "{view:?}");
}

#[tokio::test(start_paused = true)]
async fn without_the_tools_a_turn_is_the_session() {
    let mut world = World::new();
    let place = world.open("a", Bound::Session);
    assert!(place.view(&Redactor::default()).is_none());
    finish(&place, "chat", No);
    tokio::time::advance(GAP * 3).await;
    finish(&place, "tracker", No);
    place.sweep();
    assert_eq!(world.ended(), []);
    place.close();
    assert_eq!(world.ended(), [("unclaimed", 2, "chat tracker".to_owned())]);
    finish(&place, "chat", No);
    assert_eq!((world.begin("a", "none"), world.end("a", Claim::Blocked)), (None, None), "it is over");
    drop(place);
    assert_eq!(world.ended(), []);
}

#[tokio::test(start_paused = true)]
async fn where_there_are_no_sessions_a_turn_ends_in_silence() {
    let mut world = World::new();
    let place = world.open("a", Bound::Silence);
    finish(&place, "chat", No);
    tokio::time::advance(GAP).await;
    finish(&place, "chat", No);
    tokio::time::advance(GAP + Duration::from_millis(1)).await;
    finish(&place, "tracker", No);
    assert_eq!(world.ended(), [("unclaimed", 2, "chat".to_owned())]);
    tokio::time::advance(GAP + Duration::from_millis(1)).await;
    place.sweep();
    assert_eq!(world.ended(), [("unclaimed", 1, "tracker".to_owned())]);
    // One that was declared is its agent's to end.
    world.begin("a", "none");
    tokio::time::advance(GAP * 2).await;
    finish(&place, "chat", No);
    assert_eq!(world.ended(), []);
}

#[tokio::test(start_paused = true)]
async fn a_turn_without_calls_that_falls_silent_is_shown_no_more() {
    let mut world = World::new();
    let place = world.open("a", Bound::Silence);
    world.turns.current(&"release".into(), &"a".into()).unwrap();
    assert!(place.view(&Redactor::default()).unwrap().now.is_some());
    tokio::time::advance(GAP + Duration::from_millis(1)).await;
    assert!(place.sweep(), "that is a change");
    assert_eq!((place.view(&Redactor::default()), world.ended()), (None, vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_begun_ends_the_one_before() {
    let mut world = World::new();
    let place = world.open("a", Bound::Session);
    finish(&place, "chat", No);
    let first = world.begin("a", "none").unwrap();
    assert_eq!(world.ended(), [("unclaimed", 1, "chat".to_owned())]);
    let second = world.begin("a", "tool").unwrap();
    assert_eq!(world.ended(), [("incomplete", 0, String::new())]);
    assert!(first != second && world.turns.current(&"release".into(), &"a".into()).unwrap().id == second);
}

#[tokio::test(start_paused = true)]
async fn calls_of_two_sessions_do_not_mix() {
    let mut world = World::new();
    let (a, b) = (world.open("a", Bound::Session), world.open("b", Bound::Session));
    world.begin("a", "tool");
    world.begin("b", "tool");
    finish(&a, "chat", No);
    assert!(matches!(world.end("b", Claim::Delivered), Some(Judged::Corrected { .. })));
    assert!(matches!(world.end("a", Claim::Delivered), Some(Judged::Over { missing: None, .. })));
    drop(b);
    assert_eq!(world.ended(), [("delivered", 1, "chat".to_owned()), ("incomplete", 0, String::new())]);
}

#[tokio::test(start_paused = true)]
async fn a_call_counts_for_the_turn_that_it_began_in() {
    let world = World::new();
    let place = world.open("a", Bound::Session);
    let post = entry("chat", "post", [No, No, No, Yes]);
    world.begin("a", "none");
    tokio::time::advance(Duration::from_secs(5)).await;
    place.finished(&post, Fate::Done, Instant::now() - Duration::from_secs(6));
    let now = |place: &Place| place.view(&Redactor::default()).unwrap().now.clone();
    assert_eq!(now(&place).unwrap().reached, surfaces(&["chat"]), "sent together with turn_begin");
    world.end("a", Claim::Delivered);
    tokio::time::advance(Duration::from_secs(5)).await;
    place.finished(&post, Fate::Done, Instant::now() - Duration::from_secs(6));
    assert_eq!(now(&place), None, "it began in a turn that is over");
    place.finished(&post, Fate::Done, Instant::now() - Duration::from_secs(4));
    assert_eq!(now(&place).unwrap().calls, (1, 0));
}

#[tokio::test(start_paused = true)]
async fn the_tools_of_turns_are_no_calls_of_a_turn() {
    let world = World::new();
    let place = world.open("a", Bound::Session);
    let own = |raw| Entry { origin: Origin::Builtin, ..entry("crewlet", raw, [No, No, Yes, No]) };
    for raw in [BEGIN, END] {
        place.finished(&own(raw), Fate::Done, Instant::now());
    }
    assert_eq!((place.view(&Redactor::default()), world.end("a", Claim::NoAction)), (None, Some(Judged::Idle)));
    place.finished(&entry("chat", END, [No, No, Yes, No]), Fate::Done, Instant::now());
    assert_eq!(
        place.view(&Redactor::default()).unwrap().now.as_ref().unwrap().calls,
        (1, 0),
        "a server's tool may be called so"
    );
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_is_slow_loses_turns_and_they_are_counted() {
    let mut world = World::new();
    let place = world.open("a", Bound::Session);
    for _ in 0..300 {
        world.begin("a", "none");
        world.end("a", Claim::Blocked);
    }
    assert_eq!((world.ended().len(), world.turns.ends().lost()), (256, 44));
    finish(&place, "chat", No);
    world.turns.close();
    assert_eq!(world.ends.recv().await.unwrap().outcome, Outcome::Unclaimed);
    assert_eq!(world.ends.recv().await, None);
}

//! The trail on disk: chain, roll-over, repair, a folder that cannot be written.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use proptest::prelude::*;

use super::file::Trail;
use super::line::Stored;
use super::*;
use crate::clock::Timestamp;
use crate::engine::snapshot::Caller;
use crate::ids::CallId;

fn state() -> (tempfile::TempDir, StateDir) {
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::open(dir.path().join("state")).unwrap();
    (dir, state)
}

fn record(kind: Kind, call: &str) -> Record {
    Record { call: Some(CallId::from(call)), ..Record::new(Timestamp::from_millis(1_000), kind) }
}

fn decided(call: &str, decision: Decision) -> Record {
    Record { decision: Some(decision), ..record(Kind::Decided, call) }
}

fn stored(dir: &Path) -> Vec<Stored> {
    let mut all = Vec::new();
    read::each_line(dir, |line| all.push(Stored::decode(line).unwrap())).unwrap();
    all
}

fn kinds(dir: &Path) -> Vec<String> {
    stored(dir).into_iter().map(|stored| stored.kind).collect()
}

/// Appends one batch as another process would: with a trail of its own.
fn append(dir: &Path, records: &[Record]) {
    let mut trail = Trail::new(dir.to_path_buf(), "other".into(), u64::MAX);
    trail.lock().unwrap().append(&[records], Durability::Written).unwrap();
}

fn holds(dir: &Path) -> bool {
    verify(dir).unwrap().holds()
}

fn first_break(dir: &Path) -> String {
    verify(dir).unwrap().breaks.first().map(ToString::to_string).unwrap_or_default()
}

#[tokio::test]
async fn records_are_numbered_chained_and_private() {
    let (_keep, state) = state();
    let (audit, opened) = open(&state, "i1").unwrap();
    assert_eq!(opened, Opened::default());
    audit
        .append(vec![record(Kind::Received, "c1"), record(Kind::Dispatched, "c1")], Durability::Written)
        .await
        .unwrap();
    audit.append(vec![record(Kind::Finished, "c1")], Durability::Synced).await.unwrap();
    let lines = stored(state.path());
    assert_eq!(lines.iter().map(|line| line.seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(lines[0].prev, "0".repeat(64));
    assert_eq!(lines[0].instance.as_deref(), Some("i1"));
    let verdict = verify(state.path()).unwrap();
    assert_eq!(verdict, Verdict { lines: 3, files: 1, ..Verdict::default() });
    for file in [chain::CURRENT, chain::HEAD, chain::LOCK] {
        assert_eq!(fs::metadata(state.file(file)).unwrap().mode() & 0o777, 0o600, "{file}");
    }
    assert_eq!(fs::metadata(state.file("instances/i1")).unwrap().mode() & 0o777, 0o600);
    audit.close().await;
    assert!(!state.file("instances/i1").exists(), "an end in order leaves no mark");
    assert!(audit.append(vec![record(Kind::Received, "c2")], Durability::Written).await.is_err());
}

#[tokio::test]
async fn a_question_of_the_server_does_not_close_its_call() {
    let (_keep, state) = state();
    let (audit, _) = open(&state, "i1").unwrap();
    let batch = [Kind::Received, Kind::Dispatched, Kind::Elicited, Kind::Answered].map(|kind| record(kind, "c1"));
    audit.append(batch.into(), Durability::Written).await.unwrap();
    audit.close().await;
    assert!(state.file("instances/i1").exists(), "the call is open: the next start closes it");
}

#[tokio::test]
async fn many_callers_at_once_are_all_written() {
    let (_keep, state) = state();
    let (audit, _) = open(&state, "i1").unwrap();
    let calls = (0..600).map(|n| {
        let audit = audit.clone();
        async move {
            let call = format!("c{n}");
            let batch = vec![record(Kind::Received, &call), record(Kind::Dispatched, &call)];
            audit.append(batch, Durability::Written).await.unwrap();
            audit.append(vec![record(Kind::Finished, &call)], Durability::Written).await.unwrap();
        }
    });
    futures_util::future::join_all(calls).await;
    assert_eq!(verify(state.path()).unwrap().lines, 1800);
    assert!(holds(state.path()));
}

#[tokio::test]
async fn another_process_may_append_in_between() {
    let (_keep, state) = state();
    let (audit, _) = open(&state, "i1").unwrap();
    audit.append(vec![record(Kind::Received, "c1")], Durability::Written).await.unwrap();
    append(state.path(), &[record(Kind::Refused, "c2")]);
    audit.append(vec![record(Kind::Refused, "c1")], Durability::Written).await.unwrap();
    append(state.path(), &[record(Kind::Refused, "c3")]);
    assert_eq!(kinds(state.path()), ["received", "refused", "refused", "refused"]);
    assert!(holds(state.path()));
}

#[test]
fn the_chain_goes_on_through_full_files() {
    let (_keep, state) = state();
    let dir = state.path();
    let mut trail = Trail::new(dir.to_path_buf(), "i1".into(), 400);
    for n in 0..10 {
        trail.lock().unwrap().append(&[&[record(Kind::Refused, &format!("c{n}"))]], Durability::Written).unwrap();
    }
    let files = chain::files(dir).unwrap();
    assert!(files.len() > 2, "{files:?}");
    assert_eq!(stored(dir).len(), 10);
    assert!(holds(dir));
    assert_eq!(read::last_lines(dir, 4).unwrap().len(), 4);
    // The current file just renamed and the new one not yet begun: the state after a crash between the two.
    fs::rename(dir.join(chain::CURRENT), dir.join(chain::rolled_name(stored(dir)[9].seq + 1))).unwrap();
    append(dir, &[record(Kind::Refused, "c10")]);
    assert!(holds(dir));
    fs::remove_file(&files[1]).unwrap();
    assert!(first_break(dir).contains("missing"), "{}", first_break(dir));
}

#[test]
fn a_torn_last_line_is_set_aside_and_noted() {
    let (_keep, state) = state();
    let dir = state.path();
    append(dir, &[record(Kind::Refused, "c1")]);
    let mut bytes = fs::read(dir.join(chain::CURRENT)).unwrap();
    bytes.extend_from_slice(b"{\"time\":\"2026-");
    fs::write(dir.join(chain::CURRENT), bytes).unwrap();
    let verdict = verify(dir).unwrap();
    assert_eq!((verdict.holds(), verdict.torn), (true, 14));
    append(dir, &[record(Kind::Refused, "c2")]);
    assert_eq!(kinds(dir), ["refused", "repaired", "refused"]);
    assert_eq!(fs::read(dir.join("audit.torn")).unwrap(), b"{\"time\":\"2026-\n");
    assert!(holds(dir));
}

#[test]
fn a_cut_end_is_noticed_and_stays_visible() {
    let (_keep, state) = state();
    let dir = state.path();
    append(dir, &[record(Kind::Refused, "c1")]);
    let one = fs::read(dir.join(chain::CURRENT)).unwrap();
    append(dir, &[record(Kind::Refused, "c2"), record(Kind::Refused, "c3")]);
    fs::write(dir.join(chain::CURRENT), one).unwrap();
    assert_eq!(first_break(dir), "audit.jsonl:2: 2 line(s) at the end are missing: the head file names line number 3");
    append(dir, &[record(Kind::Refused, "c4")]);
    assert!(stored(dir)[1].reason.as_ref().unwrap().contains("lines after number 1 up to number 3 are missing"));
    assert_eq!(first_break(dir), "audit.jsonl:2: number 4 follows number 1: 2 line(s) are missing");
}

#[test]
fn a_head_that_lags_is_normal() {
    let (_keep, state) = state();
    let dir = state.path();
    append(dir, &[record(Kind::Refused, "c1")]);
    let head = fs::read(dir.join(chain::HEAD)).unwrap();
    append(dir, &[record(Kind::Refused, "c2")]);
    fs::write(dir.join(chain::HEAD), head).unwrap();
    let verdict = verify(dir).unwrap();
    assert_eq!((verdict.holds(), verdict.head_lag), (true, 1));
    append(dir, &[record(Kind::Refused, "c3")]);
    assert_eq!(verify(dir).unwrap(), Verdict { lines: 3, files: 1, ..Verdict::default() });
}

#[tokio::test]
async fn a_start_with_nothing_to_close_brings_the_head_up_to_date() {
    let (_keep, state) = state();
    let dir = state.path();
    append(dir, &[record(Kind::Received, "c1"), record(Kind::Dispatched, "c1")]);
    let head = fs::read(dir.join(chain::HEAD)).unwrap();
    append(dir, &[record(Kind::Finished, "c1")]);
    // Killed between the last line of a call and the head, and before there was any head.
    for lagging in [Some(head), None] {
        match lagging {
            Some(head) => fs::write(dir.join(chain::HEAD), head).unwrap(),
            None => fs::remove_file(dir.join(chain::HEAD)).unwrap(),
        }
        let (audit, opened) = open(&state, "next").unwrap();
        assert_eq!(opened, Opened::default());
        audit.close().await;
        assert_eq!(verify(dir).unwrap(), Verdict { lines: 3, files: 1, ..Verdict::default() });
    }
}

#[tokio::test]
async fn an_empty_batch_is_answered_like_any_other() {
    let (_keep, state) = state();
    let (audit, _) = open(&state, "i1").unwrap();
    assert_eq!(audit.append(Vec::new(), Durability::Synced).await, Ok(()));
    audit.close().await;
}

#[tokio::test]
async fn a_call_whose_server_asked_something_is_still_open() {
    let (_keep, state) = state();
    let (audit, _) = open(&state, "i1").unwrap();
    for kind in [Kind::Received, Kind::Dispatched, Kind::Elicited, Kind::Answered] {
        audit.append(vec![record(kind, "c1")], Durability::Written).await.unwrap();
    }
    audit.close().await;
    drop(audit);
    // The thread that held the mark ends when it likes; until then nobody may take its calls for lost.
    let mark = fs::File::open(state.file("instances/i1")).expect("with a call open the mark stays");
    mark.lock().unwrap();
    drop(mark);
    let (_next, opened) = open(&state, "next").unwrap();
    assert_eq!(opened.unknown, [CallId::from("c1")]);
}

#[test]
fn the_changed_line_is_named_and_not_its_neighbour() {
    let (_keep, state) = state();
    let dir = state.path();
    append(dir, &["c1", "c2", "c3", "c4"].map(|call| record(Kind::Refused, call)));
    let whole = fs::read_to_string(dir.join(chain::CURRENT)).unwrap();
    for line in 1..=4 {
        let changed = whole.replace(&format!("\"c{line}\""), "\"cX\"");
        fs::write(dir.join(chain::CURRENT), changed).unwrap();
        let found = first_break(dir);
        assert!(found.starts_with(&format!("audit.jsonl:{line}: it was changed after")), "{found}");
        assert_eq!(verify(dir).unwrap().broken, 1);
    }
    let third = whole.lines().nth(2).unwrap();
    let prev = Stored::decode(third.as_bytes()).unwrap().prev;
    fs::write(dir.join(chain::CURRENT), whole.replace(&prev, &"1".repeat(64))).unwrap();
    assert_eq!(first_break(dir), "audit.jsonl:3: its `prev` is not the hash of the line before it");
}

#[tokio::test]
async fn calls_of_a_killed_instance_are_closed_and_those_of_a_living_one_are_not() {
    let (_keep, state) = state();
    let (living, _) = open(&state, "living").unwrap();
    living
        .append(vec![record(Kind::Received, "cl"), record(Kind::Dispatched, "cl")], Durability::Written)
        .await
        .unwrap();
    // An instance that was killed: its mark lies there and nobody locks it.
    fs::write(state.file("instances/dead"), "2\n").unwrap();
    let mut dead = Trail::new(state.path().to_path_buf(), "dead".into(), u64::MAX);
    let seat = Caller::Seat { seat: "release".into(), session: "7c1e".into(), client: "agent 1".into() };
    let sent = Record {
        caller: Some(seat),
        class: Some(crate::tool::EffectClass::Destructive),
        args_sha256: Some(crate::tool::Digest([7; 32])),
        ..record(Kind::Received, "csent")
    };
    let records = [
        sent,
        record(Kind::Dispatched, "csent"),
        // What its server asked meanwhile does not end it.
        record(Kind::Elicited, "csent"),
        record(Kind::Answered, "csent"),
        record(Kind::Received, "cwait"),
        record(Kind::Asked, "cwait"),
        record(Kind::Received, "cyes"),
        decided("cyes", Decision::Approved),
        record(Kind::Received, "cno"),
        decided("cno", Decision::Denied),
        record(Kind::Dispatched, "cdone"),
        record(Kind::Finished, "cdone"),
    ];
    dead.lock().unwrap().append(&[&records], Durability::Written).unwrap();
    let (_next, opened) = open(&state, "next").unwrap();
    assert_eq!(opened.unknown, [CallId::from("csent")]);
    assert_eq!(opened.withdrawn, [CallId::from("cwait")]);
    assert_eq!(opened.unsent, [CallId::from("cyes")]);
    let closing: Vec<_> = stored(state.path())
        .into_iter()
        .filter(|stored| stored.instance.as_deref() == Some("next"))
        .map(|s| (s.call.unwrap(), s.kind, s.decision.or(s.outcome).unwrap()))
        .collect();
    let expected =
        [("csent", "finished", "unknown"), ("cwait", "decided", "withdrawn"), ("cyes", "finished", "failed")];
    assert_eq!(closing, expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned())));
    let all = stored(state.path());
    let sent: Vec<_> = all.iter().filter(|stored| stored.call.as_deref() == Some("csent")).collect();
    let facts = |s: &Stored| (s.class.clone(), s.args_sha256.clone(), s.caller.clone().map(|c| (c.seat, c.client)));
    assert_eq!(facts(sent[0]), facts(sent[4]), "the last record names caller, class and arguments like the first");
    assert!(holds(state.path()));
    let (_third, opened) = open(&state, "third").unwrap();
    assert_eq!(opened, Opened::default(), "closed once only");
}

#[tokio::test]
async fn a_trail_that_cannot_be_written_refuses_and_comes_back() {
    let (_keep, state) = state();
    let (audit, _) = open(&state, "i1").unwrap();
    let mut health = audit.health();
    audit.append(vec![record(Kind::Received, "c1")], Durability::Written).await.unwrap();
    // Root may write everywhere, so not a matter of permissions: a folder stands where the file was.
    fs::rename(state.file(chain::CURRENT), state.file("kept")).unwrap();
    fs::create_dir(state.file(chain::CURRENT)).unwrap();
    let refused = audit.append(vec![record(Kind::Dispatched, "c1")], Durability::Synced).await.unwrap_err();
    assert!(refused.reason.contains("audit.jsonl"), "{refused}");
    assert!(matches!(&*health.borrow_and_update(), AuditHealth::Broken { .. }));
    fs::remove_dir(state.file(chain::CURRENT)).unwrap();
    fs::rename(state.file("kept"), state.file(chain::CURRENT)).unwrap();
    // Nobody appends: the writer finds out by itself.
    health.wait_for(|health| *health == AuditHealth::Good).await.unwrap();
    audit.append(vec![record(Kind::Refused, "c1")], Durability::Written).await.unwrap();
    assert_eq!(kinds(state.path()), ["received", "repaired", "refused"]);
    assert!(stored(state.path())[1].reason.as_ref().unwrap().contains("1 record(s) were refused"));
    assert!(holds(state.path()));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_refuses_and_leaves_the_chain_as_it_was() {
    let (_keep, state) = state();
    let (audit, _) = open(&state, "i1").unwrap();
    let mut health = audit.health();
    audit.append(vec![record(Kind::Refused, "c1")], Durability::Written).await.unwrap();
    fs::rename(state.file(chain::CURRENT), state.file("kept")).unwrap();
    // Everything written there fails as on a full disk.
    std::os::unix::fs::symlink("/dev/full", state.file(chain::CURRENT)).unwrap();
    let refused = audit.append(vec![record(Kind::Received, "c2")], Durability::Written).await.unwrap_err();
    assert!(refused.reason.contains("audit.jsonl: No space left"), "{refused}");
    assert!(matches!(&*health.borrow_and_update(), AuditHealth::Broken { .. }));
    fs::remove_file(state.file(chain::CURRENT)).unwrap();
    fs::rename(state.file("kept"), state.file(chain::CURRENT)).unwrap();
    health.wait_for(|health| *health == AuditHealth::Good).await.unwrap();
    let lines = stored(state.path());
    assert_eq!(lines.len(), 2, "what was wrong only for a while is not said for ever");
    assert!(lines[1].reason.as_ref().unwrap().contains("1 record(s) were refused"));
    assert!(holds(state.path()));
}

#[tokio::test]
async fn a_trail_that_is_broken_at_the_start_does_not_stop_the_program() {
    let (_keep, state) = state();
    fs::create_dir(state.file(chain::LOCK)).unwrap();
    let (audit, opened) = open(&state, "i1").unwrap();
    assert!(opened.broken.is_some());
    let mut health = audit.health();
    assert!(matches!(&*health.borrow(), AuditHealth::Broken { .. }));
    fs::remove_dir(state.file(chain::LOCK)).unwrap();
    health.wait_for(|health| *health == AuditHealth::Good).await.unwrap();
    audit.append(vec![record(Kind::Refused, "c1")], Durability::Written).await.unwrap();
    assert!(holds(state.path()));
}

#[test]
fn a_running_instance_is_not_opened_twice() {
    let (_keep, state) = state();
    let (_audit, _) = open(&state, "i1").unwrap();
    let (_, opened) = open(&state, "i1").unwrap();
    assert!(opened.broken.unwrap().reason.contains("running already"));
    for name in ["", "../x", "a b", &"x".repeat(65)] {
        assert!(open(&state, name).is_err(), "{name}");
    }
}

#[tokio::test]
async fn the_memory_audit_keeps_what_was_asked_and_can_break() {
    let (audit, trail) = Audit::memory();
    audit.append(vec![record(Kind::Received, "c1")], Durability::Synced).await.unwrap();
    trail.set_broken(Some("disk full"));
    assert!(audit.append(vec![record(Kind::Dispatched, "c1")], Durability::Written).await.is_err());
    assert!(matches!(&*audit.health().borrow(), AuditHealth::Broken { .. }));
    trail.set_broken(None);
    audit.append(vec![record(Kind::Refused, "c1")], Durability::Written).await.unwrap();
    let kinds: Vec<_> = trail.with_durability().iter().map(|(record, how)| (record.kind, *how)).collect();
    assert_eq!(kinds, [(Kind::Received, Durability::Synced), (Kind::Refused, Durability::Written)]);
}

#[test]
fn a_follower_sees_new_lines_across_a_roll_over() {
    let (_keep, state) = state();
    let mut follow = read::Follow::new(state.path()).unwrap();
    let mut trail = Trail::new(state.path().to_path_buf(), "i1".into(), 400);
    let mut seen = 0;
    for n in 0..8 {
        trail.lock().unwrap().append(&[&[record(Kind::Refused, &format!("c{n}"))]], Durability::Written).unwrap();
        if n % 2 == 1 {
            seen += follow.read().unwrap().len();
        }
    }
    assert!(chain::files(state.path()).unwrap().len() > 1);
    assert_eq!(seen, 8);
}

#[test]
fn a_story_is_found_by_the_start_of_its_name() {
    let (_keep, state) = state();
    append(state.path(), &[record(Kind::Received, "cab"), record(Kind::Received, "cabc"), record(Kind::Refused, "cx")]);
    let found = |prefix| read::story(state.path(), prefix).map(|records| records.len()).map_err(|e| e.to_string());
    assert_eq!(found("cab"), Ok(1), "the whole name wins over a longer one");
    assert_eq!(found("cabc"), Ok(1));
    assert_eq!(found("ca"), Err("\"ca\" fits several calls: cab, cabc; give more of the name".to_owned()));
    assert_eq!(found("z"), Err("the audit has no call \"z\"".to_owned()));
}

/// A trail of a few records with varied content, as bytes.
fn small_trail(reasons: &[String]) -> (tempfile::TempDir, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    for reason in reasons {
        let record = Record { reason: Some(reason.as_str().into()), ..record(Kind::Refused, "c1") };
        append(dir.path(), &[record]);
    }
    let bytes = fs::read(dir.path().join(chain::CURRENT)).unwrap();
    (dir, bytes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_was_written_verifies_whatever_it_says(reasons in prop::collection::vec(any::<String>(), 1..6)) {
        let (dir, _) = small_trail(&reasons);
        prop_assert!(holds(dir.path()));
        let back: Vec<String> = stored(dir.path()).into_iter().map(|stored| stored.reason.unwrap()).collect();
        prop_assert_eq!(back, reasons);
    }

    #[test]
    fn any_changed_byte_is_noticed(
        reasons in prop::collection::vec("[ -~]{0,8}", 1..5),
        at in any::<prop::sample::Index>(),
        flip in 1_u8..=255,
    ) {
        let (dir, mut bytes) = small_trail(&reasons);
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        fs::write(dir.path().join(chain::CURRENT), bytes).unwrap();
        prop_assert!(!holds(dir.path()));
    }

    #[test]
    fn any_removed_or_moved_line_is_noticed(
        reasons in prop::collection::vec("[a-z]{0,8}", 2..6),
        one in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
    ) {
        let (dir, bytes) = small_trail(&reasons);
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let (one, other) = (one.index(lines.len()), other.index(lines.len()));
        let mut removed = lines.clone();
        removed.remove(one);
        fs::write(dir.path().join(chain::CURRENT), removed.concat()).unwrap();
        prop_assert!(!holds(dir.path()));
        let mut moved = lines.clone();
        moved.swap(one, other);
        fs::write(dir.path().join(chain::CURRENT), moved.concat()).unwrap();
        prop_assert_eq!(holds(dir.path()), one == other);
    }
}

//! The audit against the worst that happens to a process, and what the `audit` command says about it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, missing_docs)] // helpers of tests, too

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crewlet_tui::cli::audit::{self, AuditCommandError, Format};
use crewlet_tui::clock::Timestamp;
use crewlet_tui::engine::audit::line::Stored;
use crewlet_tui::engine::audit::{Decision, Durability, Kind, Outcome, Record, new_instance, open, read, verify};
use crewlet_tui::engine::snapshot::Caller;
use crewlet_tui::engine::state_dir::StateDir;
use crewlet_tui::ids::{CallId, SeatHandle, ServerName};
use crewlet_tui::tool::annotations::HintSource;
use crewlet_tui::tool::{Digest, EffectClass, Flag, Hint, HintName};

/// Set for the child process of the crash test: the state folder that it writes to until it is killed.
const CHILD: &str = "CREWLET_TEST_AUDIT_CHILD";

fn record(kind: Kind, call: &str, at: i64) -> Record {
    Record { call: Some(CallId::from(call)), ..Record::new(Timestamp::from_millis(at), kind) }
}

/// Writes calls and says after each that its record is durable, until it is killed.
async fn write_until_killed(dir: &str) {
    let state = StateDir::open(dir).unwrap();
    let instance = new_instance();
    let (audit, _) = open(&state, &instance).unwrap();
    let mut stdout = std::io::stdout();
    for n in 0_u64.. {
        let call = format!("c-{instance}-{n}");
        let batch = vec![record(Kind::Received, &call, 0), record(Kind::Dispatched, &call, 0)];
        audit.append(batch, Durability::Written).await.unwrap();
        // Not `println`, which the test harness would keep for itself.
        writeln!(stdout, "durable {call}").unwrap();
        stdout.flush().unwrap();
        audit.append(vec![record(Kind::Finished, &call, 0)], Durability::Written).await.unwrap();
    }
}

fn start_child(dir: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_killed_writer_leaves_a_chain_that_holds", "--nocapture"])
        .env(CHILD, dir)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits for `count` durable calls, kills the child, and returns every call that it had said was durable.
fn kill_after(mut child: Child, count: usize) -> Vec<String> {
    let durable = |line: std::io::Result<String>| line.unwrap().strip_prefix("durable ").map(str::to_owned);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().filter_map(durable);
    let mut calls: Vec<String> = lines.by_ref().take(count).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    calls.extend(lines);
    assert!(calls.len() >= count, "the child ended by itself");
    calls
}

#[tokio::test]
async fn a_killed_writer_leaves_a_chain_that_holds() {
    if let Ok(dir) = std::env::var(CHILD) {
        write_until_killed(&dir).await;
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::open(dir.path().join("state")).unwrap();
    let mut durable = Vec::new();
    for round in 1..=3 {
        // Two at once: one-shot commands append beside the dashboard.
        let children = [start_child(state.path()), start_child(state.path())];
        durable.extend(children.into_iter().flat_map(|child| kill_after(child, 100 * round)));
    }
    let (audit, _) = open(&state, "after").unwrap();
    audit.close().await;
    let verdict = verify(state.path()).unwrap();
    assert!(verdict.holds(), "{:?}", verdict.breaks);
    assert_eq!((verdict.torn, verdict.head_lag), (0, 0));

    let (mut unfinished, mut dispatched) = (HashSet::new(), HashSet::new());
    read::each_line(state.path(), |line| {
        let stored = Stored::decode(line).unwrap();
        let Some(call) = stored.call else { return };
        match stored.kind.as_str() {
            "finished" => assert!(unfinished.remove(&call), "{call} ended twice"),
            "dispatched" => assert!(dispatched.insert(call), "sent twice"),
            _ => assert!(unfinished.insert(call), "received twice"),
        }
    })
    .unwrap();
    assert!(durable.iter().all(|call| dispatched.contains(call)), "a call that was said to be durable is missing");
    assert!(unfinished.is_empty(), "left open: {unfinished:?}");
    assert_eq!(std::fs::read_dir(state.file("instances")).unwrap().count(), 0);
}

/// A call that a person approved and whose answer was lost, one that was refused, one that waits.
async fn told_trail(state: &StateDir) {
    let (audit, _) = open(state, "i1").unwrap();
    let caller = Caller::Seat {
        seat: SeatHandle::from("release"),
        session: "7c1e".into(),
        client: "claude-code\u{1b}[31m 2.1".into(),
    };
    let tool = |kind, call, at| Record {
        server: Some(ServerName::from("github")),
        tool: Some("delete_branch".into()),
        name: Some("gh_delete_branch".into()),
        ..record(kind, call, at)
    };
    let hints = vec![
        (HintName::ReadOnly, Hint::Yes, HintSource::Server),
        (HintName::OpenWorld, Hint::Unknown, HintSource::Nobody),
    ];
    let received = Record {
        caller: Some(caller),
        class: Some(EffectClass::Destructive),
        flags: vec![Flag::Contradictory],
        hints,
        args_sha256: Some(Digest([0x9f; 32])),
        args: Some(r#"{"branch":"main"}"#.into()),
        policy: Some(("ask", "class destructive".into())),
        ..tool(Kind::Received, "cabc", 0)
    };
    let decided = Record {
        decision: Some(Decision::Approved),
        decider: Some("person:root".into()),
        elapsed: Some(Duration::from_millis(12_345)),
        args_sha256: Some(Digest([0x1e; 32])),
        args: Some(r#"{"branch":"old"}"#.into()),
        ..tool(Kind::Decided, "cabc", 12_345)
    };
    let finished = Record {
        outcome: Some(Outcome::Unknown),
        reason: Some("the server ended".into()),
        elapsed: Some(Duration::from_millis(12_700)),
        ..tool(Kind::Finished, "cabc", 12_700)
    };
    let refused = Record {
        caller: Some(Caller::Console),
        name: Some("no_such_tool".into()),
        reason: Some("unknown tool".into()),
        ..record(Kind::Refused, "cxyz", 20_000)
    };
    let (asked, dispatched) = (tool(Kind::Asked, "cabc", 1), tool(Kind::Dispatched, "cabc", 12_346));
    let waiting = tool(Kind::Asked, "copen", 30_000);
    let all = vec![received, asked, decided, dispatched, finished, refused, waiting];
    audit.append(all, Durability::Synced).await.unwrap();
}

async fn told() -> (tempfile::TempDir, StateDir) {
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::open(dir.path()).unwrap();
    told_trail(&state).await;
    (dir, state)
}

fn said(command: impl FnOnce(&mut dyn Write) -> Result<u8, AuditCommandError>) -> (u8, String) {
    let mut out = Vec::new();
    let code = command(&mut out).unwrap();
    (code, String::from_utf8(out).unwrap())
}

#[tokio::test]
async fn why_tells_the_story_of_a_call() {
    let (_keep, state) = told().await;
    let (code, story) = said(|out| audit::why(state.path(), "ca", out));
    assert_eq!(code, 0);
    let client = crewlet_tui::text::visible("claude-code\u{1b}[31m 2.1").into_owned();
    let lost = "finished: unknown (sent, and the answer was lost: it may have happened) after 12.7 s";
    let expected = format!(
        "\
call cabc
  1970-01-01T00:00:00.000Z  seat release ({client}, session 7c1e) asked for github/delete_branch
                            class destructive, contradictory
                            hint read only: yes (server)
                            hint open world: unknown (nobody said)
                            arguments {{\"branch\":\"main\"}} (sha256 9f9f9f9f…)
                            policy: ask (class destructive)
  1970-01-01T00:00:00.001Z  a person was asked
  1970-01-01T00:00:12.345Z  approved by person:root after 12.3 s
                            arguments {{\"branch\":\"old\"}} (sha256 1e1e1e1e…)
  1970-01-01T00:00:12.346Z  sent to github
  1970-01-01T00:00:12.700Z  {lost}: the server ended
"
    );
    assert_eq!(story, expected);
    let (_, story) = said(|out| audit::why(state.path(), "cxyz", out));
    assert!(story.contains("refused: unknown tool\n"), "{story}");
    assert!(story.ends_with(" console had asked for no_such_tool\n"), "{story}");
    let (_, story) = said(|out| audit::why(state.path(), "copen", out));
    assert!(story.ends_with("it has not ended\n"), "{story}");
    let error = audit::why(state.path(), "c", &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("cabc, copen, cxyz"), "{error}");
}

#[tokio::test]
async fn why_says_who_allowed_a_call_that_nobody_was_asked_about() {
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::open(dir.path()).unwrap();
    let (audit, _) = open(&state, "i1").unwrap();
    let console = |kind, at| Record {
        caller: Some(Caller::Console),
        name: Some("list".into()),
        policy: Some(("allow", "class read".into())),
        ..record(kind, "cread", at)
    };
    let received = Record { policy: None, ..console(Kind::Received, 0) };
    let dispatched = Record { decider: Some("policy".into()), ..console(Kind::Dispatched, 1) };
    let finished =
        Record { outcome: Some(Outcome::Done), elapsed: Some(Duration::from_millis(2)), ..console(Kind::Finished, 2) };
    let refused = Record {
        call: Some(CallId::from("cno")),
        reason: Some("refused: a person has to decide".into()),
        ..console(Kind::Refused, 3)
    };
    audit.append(vec![received, dispatched, finished, refused], Durability::Written).await.unwrap();
    let (_, story) = said(|out| audit::why(state.path(), "cread", out));
    let expected = "\
call cread
  1970-01-01T00:00:00.000Z  console asked for list
  1970-01-01T00:00:00.001Z  sent to the server, allowed by policy
                            policy: allow (class read)
  1970-01-01T00:00:00.002Z  finished: done after 2 ms
";
    assert_eq!(story, expected);
    let (_, story) = said(|out| audit::why(state.path(), "cno", out));
    let expected = "\
call cno
  1970-01-01T00:00:00.003Z  refused: a person has to decide
                            console had asked for list
                            policy: allow (class read)
";
    assert_eq!(story, expected);
}

#[tokio::test]
async fn a_reader_that_goes_away_is_no_error() {
    struct Gone;
    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let (_keep, state) = told().await;
    let dir = state.path();
    let codes = [
        audit::tail(dir, 3, Format::Words, &mut Gone),
        audit::follow(dir, 3, Format::Words, &mut Gone),
        audit::export(dir, None, &mut Gone),
        audit::verify(dir, &mut Gone),
        audit::why(dir, "cabc", &mut Gone),
    ];
    assert_eq!(codes.map(|code| code.unwrap()), [0; 5]);
}

#[tokio::test]
async fn tail_and_export_show_records_without_moving_the_cursor() {
    let (_keep, state) = told().await;
    let (_, words) = said(|out| audit::tail(state.path(), 3, Format::Words, out));
    let lost = "unknown (sent, and the answer was lost: it may have happened) after 12.7 s: the server ended";
    let expected = format!(
        "\
1970-01-01T00:00:12.700Z  finished    cabc  github/delete_branch  {lost}
1970-01-01T00:00:20.000Z  refused     cxyz  console  no_such_tool  unknown tool
1970-01-01T00:00:30.000Z  asked       copen  github/delete_branch
"
    );
    assert_eq!(words, expected);
    let trail = std::fs::read_to_string(state.file("audit.jsonl")).unwrap();
    let (_, all) = said(|out| audit::export(state.path(), None, out));
    assert_eq!(all, trail, "an export is the trail as it is");
    let (_, late) = said(|out| audit::export(state.path(), Some(Timestamp::from_millis(12_700)), out));
    assert_eq!(late.lines().count(), 3);
    // A line that somebody else wrote.
    let forged = format!("{trail}{{\"reason\":\"\u{1b}[2J\u{9b}31m\"}}\n");
    std::fs::write(state.file("audit.jsonl"), forged).unwrap();
    for (_, shown) in [
        said(|out| audit::tail(state.path(), 9, Format::Words, out)),
        said(|out| audit::tail(state.path(), 9, Format::Json, out)),
        said(|out| audit::export(state.path(), None, out)),
        said(|out| audit::verify(state.path(), out)),
    ] {
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
    }
}

#[tokio::test]
async fn verify_names_the_first_broken_line_and_exits_1() {
    let (_keep, state) = told().await;
    let good = said(|out| audit::verify(state.path(), out));
    assert_eq!(good, (0, "the chain holds: 7 record(s) in 1 file(s)\n".to_owned()));
    let trail = std::fs::read_to_string(state.file("audit.jsonl")).unwrap();
    std::fs::write(state.file("audit.jsonl"), trail.replace("person:root", "person:eve!")).unwrap();
    let (code, said) = said(|out| audit::verify(state.path(), out));
    assert_eq!(code, 1);
    assert!(said.starts_with("broken: audit.jsonl:3: it was changed after it was written"), "{said}");
}

#[test]
fn a_folder_without_a_trail_is_said_to_be_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut out = Vec::new();
    for result in [
        audit::verify(dir.path(), &mut out),
        audit::tail(&dir.path().join("none"), 3, Format::Words, &mut out),
        audit::why(dir.path(), "c", &mut out),
    ] {
        let error = result.unwrap_err().to_string();
        assert!(error.contains("there is no audit in"), "{error}");
    }
    assert!(out.is_empty());
}

#[test]
fn since_takes_times_days_and_ages() {
    let now = Timestamp::from_millis(10 * 86_400_000);
    let since = |text| audit::since(text, now).map(Timestamp::millis).map_err(|error| error.to_string());
    assert_eq!(since("1970-01-02T00:00:01Z"), Ok(86_401_000));
    assert_eq!(since("1970-01-03"), Ok(2 * 86_400_000));
    assert_eq!(since("90m"), Ok(now.millis() - 5_400_000));
    assert_eq!(since("7d"), Ok(3 * 86_400_000));
    for wrong in ["", "yesterday", "-3h", "9999999999999999d", "h"] {
        assert!(since(wrong).unwrap_err().contains("is neither a time"), "{wrong}");
    }
}

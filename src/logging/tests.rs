//! What reaches the file, the pane and stderr, and in which form.

use std::fs;

use super::*;
use crate::secret::Secret;

/// Runs `work` with a sink of its own and returns the lines of its file.
fn logged(detail: Detail, redactor: Redactor, work: impl FnOnce()) -> (Vec<Value>, Vec<LogRecord>, u64) {
    let dir = tempfile::tempdir().unwrap();
    let logs = dir.path().join("logs");
    let (sink, mut logging) = Sink::new(&Options { dir: Some(&logs), detail, redactor, stderr: Stderr::Quiet });
    assert_eq!(logging.problem, None);
    let subscriber = tracing_subscriber::registry().with(sink.with_filter(levels(detail)));
    tracing::subscriber::with_default(subscriber, work);
    let dropped = logging.dropped.clone();
    let mut records = Vec::new();
    while let Ok(record) = logging.records.try_recv() {
        records.push(record);
    }
    // Writes out what waits for the file.
    drop(logging);
    let files: Vec<_> = fs::read_dir(&logs).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [file] = &files[..] else { panic!("{files:?}") };
    let day = Timestamp::now().rfc3339();
    let name = format!("crewlet-tui.{}.log", day.split('T').next().unwrap());
    // A run over midnight may have begun the day before.
    let before = Timestamp::from_millis(Timestamp::now().millis() - 86_400_000).rfc3339();
    let yesterday = format!("crewlet-tui.{}.log", before.split('T').next().unwrap());
    let found = file.file_name().unwrap().to_str().unwrap();
    assert!([name, yesterday].contains(&found.to_owned()), "{found}");
    let text = fs::read_to_string(file).unwrap();
    (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), records, dropped.pane())
}

#[test]
fn an_event_becomes_a_json_line_and_a_record_for_the_pane() {
    let (lines, records, _) = logged(Detail::Normal, Redactor::default(), || {
        tracing::info!(server = "github", tools = 3, names = ?["a", "b"], "server_initialized");
    });
    let [line] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!(line["level"], "info");
    assert_eq!(line["event"], "server_initialized");
    assert_eq!(line["server"], "github");
    assert_eq!(line["tools"], 3);
    assert_eq!(line["names"], r#"["a", "b"]"#);
    assert_eq!(line["target"], "crewlet_tui::logging::tests");
    let [record] = &records[..] else { panic!("{records:?}") };
    assert_eq!((record.level, &*record.event), (LogLevel::Info, "server_initialized"));
    assert_eq!(record.server.as_deref(), Some("github"));
    assert_eq!(&*record.text, r#"tools=3 names=["a", "b"]"#);
}

#[test]
fn levels_are_those_of_the_mode_and_libraries_stay_at_warn() {
    let work = || {
        tracing::debug!("ours_debug");
        tracing::info!("ours_info");
        tracing::info!(target: "rmcp::service", "theirs_info");
        tracing::debug!(target: "hyper", "theirs_debug");
        tracing::warn!(target: "reqwest", "theirs_warn");
    };
    let events = |detail| -> Vec<String> {
        let (_, records, _) = logged(detail, Redactor::default(), work);
        records.into_iter().map(|record| record.event.to_string()).collect()
    };
    assert_eq!(events(Detail::Normal), ["ours_info", "theirs_warn"]);
    assert_eq!(events(Detail::Debug), ["ours_debug", "ours_info", "theirs_warn"]);
}

#[test]
fn hostile_text_stays_on_one_line_without_control_characters() {
    let (lines, records, _) = logged(Detail::Normal, Redactor::default(), || {
        tracing::warn!(server = "a\u{1b}[2Jb", reason = "x\ny\u{9b}31m", time = "forged", "odd\nevent");
    });
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["field.time"], "forged");
    let shown = format!("{}{}{}", records[0].event, records[0].server.as_ref().unwrap(), records[0].text);
    assert!(!shown.chars().any(char::is_control), "{shown:?}");
    assert!(!lines[0].to_string().contains("\\u001b"), "{}", lines[0]);
}

#[test]
fn long_fields_are_cut_visibly() {
    let long = "é".repeat(FIELD);
    let (lines, _, _) = logged(Detail::Normal, Redactor::default(), || tracing::info!(long, "long"));
    let text = lines[0]["long"].as_str().unwrap();
    assert!(text.len() < FIELD + 64);
    assert!(text.ends_with(&format!("… ({FIELD} more bytes)")));
}

#[test]
fn a_pane_that_nobody_reads_drops_and_counts() {
    let (lines, records, dropped) = logged(Detail::Normal, Redactor::default(), || {
        for n in 0..PANE_QUEUE + 5 {
            tracing::info!(n, "many");
        }
    });
    assert_eq!((records.len(), dropped), (PANE_QUEUE, 5));
    assert_eq!(lines.len(), PANE_QUEUE + 5, "the file has them all");
}

#[test]
fn a_panic_is_logged_with_its_place() {
    let before = std::panic::take_hook();
    let (lines, _, _) = logged(Detail::Normal, Redactor::default(), || {
        // The hook runs on this thread, under this test's subscriber.
        install_panic_hook(|_| {});
        let caught = std::panic::catch_unwind(|| panic!("no {}", "luck"));
        assert!(caught.is_err());
    });
    std::panic::set_hook(before);
    assert_eq!(lines[0]["event"], "panic");
    assert_eq!(lines[0]["reason"], "no luck");
    assert!(lines[0]["location"].as_str().unwrap().starts_with("src/logging/tests.rs:"), "{}", lines[0]);
}

#[test]
fn secrets_pass_the_redactor_before_anything_else() {
    let redactor = Redactor::default();
    redactor.learn([Secret::new("hunter2-hunter2")]);
    let text = "key hunter2-hunter2 and hunter2-hunter2";
    let expected = redactor.redact(text).into_owned();
    let (lines, records, _) = logged(Detail::Normal, redactor, || tracing::error!(reason = text, "http_error"));
    assert_eq!(lines[0]["reason"].as_str().unwrap(), expected);
    assert_eq!(*records[0].text, format!("reason={expected}"));
}

#[test]
fn a_log_folder_that_cannot_be_made_is_a_problem_and_no_end() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let options = Options {
        dir: Some(&file.join("logs")),
        detail: Detail::Normal,
        redactor: Redactor::default(),
        stderr: Stderr::Quiet,
    };
    let (sink, logging) = Sink::new(&options);
    assert!(logging.problem.is_some_and(|problem| problem.contains("logs")));
    assert!(sink.file.is_none());
}

#[test]
fn stderr_lines_are_short_and_plain() {
    let record = LogRecord {
        at: Timestamp::from_millis(0),
        level: LogLevel::Warn,
        event: "server_stopped_with_exit_status".into(),
        server: Some("github".into()),
        text: "reason=exit 1".into(),
    };
    assert_eq!(compact(&record), "warn server_stopped_with_exit_status github: reason=exit 1\n");
}

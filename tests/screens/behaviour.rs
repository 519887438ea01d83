//! What keys, questions and news do.

use std::sync::Arc;

use crewlet_tui::config::model::{OpenCards, TuiSettings};
use crewlet_tui::engine::command::{Command, GrantScope, Shown, Verdict};
use crewlet_tui::engine::handle::SendError;
use crewlet_tui::engine::snapshot::{CallPhase, CallView, Caller, GrantView, LogLevel, Notice, Snapshot, StoppedSeat};
use crewlet_tui::ids::{ApprovalId, CallId, ConnectionName, GrantId, SeatHandle, ServerName};
use crewlet_tui::tui::frames::Motion;
use crewlet_tui::tui::intent::Effect;
use crewlet_tui::tui::msg::Msg;
use crewlet_tui::tui::panes::View;
use crossterm::event::{KeyCode, KeyEvent};

use super::support::sample;
use super::support::screen::{Screen, event};

const SIZE: (u16, u16) = (120, 40);

fn foot(screen: &Screen) -> String {
    screen.text().lines().last().unwrap_or_default().trim().to_owned()
}

fn asks(snapshot: &mut Snapshot, id: u64) {
    snapshot.approvals.push(sample::approval(id, "github_delete_branch", 0));
}

#[test]
fn a_card_opens_by_itself_when_nobody_is_typing() {
    let mut screen = Screen::new(SIZE, sample::calm());
    screen.wait(3_000);
    let effects = screen.publish(|snapshot| asks(snapshot, 7));
    assert_eq!(effects, [Effect::Bell, Effect::DropInput]);
    assert_eq!(screen.ui.open_card(), Some(ApprovalId(7)));
}

#[test]
fn a_card_waits_until_no_key_came_for_two_seconds() {
    let mut screen = Screen::new(SIZE, sample::calm());
    screen.press(&["down"]);
    assert_eq!(screen.publish(|snapshot| asks(snapshot, 7)), [Effect::Bell]);
    assert_eq!((screen.ui.open_card(), screen.wake_in()), (None, Some(2_000)));
    screen.wait(1_999);
    screen.send(Msg::Wake);
    assert_eq!(screen.ui.open_card(), None);
    screen.wait(1);
    screen.send(Msg::Wake);
    assert_eq!(screen.ui.open_card(), Some(ApprovalId(7)));
}

#[test]
fn a_card_takes_the_focus_from_no_text_field_and_no_modal() {
    for keys in [&["6", "/"][..], &["?"], &["e"]] {
        let mut screen = Screen::new(SIZE, sample::calm());
        screen.press(keys);
        screen.publish(|snapshot| asks(snapshot, 7));
        screen.wait(60_000);
        screen.send(Msg::Wake);
        assert_eq!(screen.ui.open_card(), None, "{keys:?}");
        assert_eq!(screen.wake_in(), None, "{keys:?}");
        screen.press(&["esc"]);
        screen.wait(2_000);
        screen.send(Msg::Wake);
        assert_eq!(screen.ui.open_card(), Some(ApprovalId(7)), "{keys:?}");
    }
}

#[test]
fn a_card_that_was_left_stays_closed_and_a_opens_the_oldest() {
    let mut screen = Screen::new(SIZE, sample::busy());
    screen.wait(3_000);
    screen.send(Msg::Wake);
    assert_eq!(screen.ui.open_card(), Some(ApprovalId(1)));
    screen.press(&["esc"]);
    screen.wait(60_000);
    screen.send(Msg::Wake);
    assert_eq!((screen.ui.open_card(), screen.wake_in()), (None, None));
    screen.press(&["a"]);
    assert_eq!(screen.ui.open_card(), Some(ApprovalId(1)));
    screen.press(&["esc"]);
    screen.wait(3_000);
    screen.publish(|snapshot| asks(snapshot, 9));
    assert_eq!(screen.ui.open_card(), Some(ApprovalId(9)), "a new question is news");
}

#[test]
fn with_badge_no_card_opens_by_itself() {
    let settings = TuiSettings { open_cards: OpenCards::Badge, bell: false, ..TuiSettings::default() };
    let mut screen = Screen::with(SIZE, sample::calm(), &settings);
    screen.wait(10_000);
    assert_eq!(screen.publish(|snapshot| asks(snapshot, 7)), []);
    assert_eq!((screen.ui.open_card(), screen.wake_in()), (None, None));
    assert!(screen.text().lines().next().unwrap().contains("⚑ 1 waiting"));
}

#[test]
fn nothing_is_decided_on_a_screen_too_small_to_see_it() {
    let mut screen = Screen::new(SIZE, sample::busy());
    screen.press(&["a"]);
    screen.resize(30, 8);
    assert_eq!(screen.press(&["y", "y", "n", "tab"]), []);
    assert_eq!(screen.ui.open_card(), Some(ApprovalId(1)));
    assert_eq!(screen.text().trim(), "needs 40 x 12");
    assert_eq!(screen.press(&["ctrl-z"]), [Effect::Suspend]);
}

#[test]
fn a_stop_disarms_the_card_and_the_dead_time_begins_anew() {
    for stopped_by_others in [false, true] {
        let mut screen = Screen::new(SIZE, sample::busy());
        screen.press(&["a"]);
        screen.wait(600);
        screen.press(&["y"]);
        assert!(screen.text().contains("ARMED"));
        if !stopped_by_others {
            assert_eq!(screen.press(&["ctrl-z"]), [Effect::Suspend]);
            assert!(!screen.text().contains("ARMED"));
        }
        assert_eq!(screen.send(Msg::Resumed), [Effect::Repaint, Effect::DropInput]);
        assert!(!screen.text().contains("ARMED"));
        assert_eq!(screen.press(&["y", "y"]), [], "dead for 500 ms");
        assert!(!screen.text().contains("ARMED"));
        screen.wait(200);
        screen.press(&["y"]);
        assert!(screen.text().contains("ARMED"));
    }
}

#[test]
fn keys_that_do_nothing_on_a_waiting_card_say_how_to_leave_it() {
    let mut screen = Screen::new(SIZE, sample::busy());
    screen.press(&["a"]);
    screen.wait(600);
    for (key, words) in
        [("enter", "Esc leaves it pending"), ("4", "Esc leaves it pending"), ("q", "Esc leaves it pending, then q")]
    {
        assert_eq!(screen.press(&[key]), [], "{key}");
        assert!(screen.text().contains(words), "{key}: {}", screen.text());
        assert_eq!(screen.ui.open_card(), Some(ApprovalId(1)), "{key}");
    }
    screen.press(&["d"]);
    let text = screen.text();
    let keys = text.lines().find(|line| line.contains("Esc whole card")).unwrap();
    assert!(!keys.contains(" y ") && !text.contains("approve once"), "{text}");
    screen.press(&["y"]);
    assert!(screen.text().contains("nothing is decided here"), "{}", screen.text());
}

#[test]
fn a_view_key_puts_the_focus_on_the_list_and_hints_follow_the_focus() {
    let mut screen = Screen::new(SIZE, sample::busy());
    for (view, way) in [("1", "tab"), ("2", "tab"), ("4", "enter")] {
        let mut selection = vec![view];
        // The last call is over: Enter shows its detail, not a card.
        selection.extend(if view == "4" { vec!["end"] } else { vec![] });
        screen.press(&selection);
        let on_list = foot(&screen);
        assert!(!on_list.contains("Esc list"), "{view}: {on_list}");
        screen.press(&[way]);
        let on_detail = foot(&screen);
        assert!(on_detail.contains("Esc list"), "{view}: {on_detail}");
        assert_eq!(on_detail.contains("scroll"), view != "1", "{view}: {on_detail}");
        screen.press(&["esc"]);
        assert_eq!(foot(&screen), on_list, "{view}");
        screen.press(&[way, "5", view]);
        assert_eq!(foot(&screen), on_list, "{view}: it begins on the list");
    }
}

#[test]
fn hints_offer_only_what_can_be_done() {
    let mut screen = Screen::new(SIZE, sample::calm());
    screen.press(&["3"]);
    assert_eq!(foot(&screen), "g grants   : command   ? help", "nothing waits");
    for (keys, words) in [(&["3", "g"][..], "revoke"), (&["4"], "give up"), (&["6"], "n next")] {
        screen.press(keys);
        assert!(!foot(&screen).contains(words), "{words}: {}", foot(&screen));
    }
    for (read_only, seen) in [(false, true), (true, false)] {
        let mut snapshot = sample::busy();
        snapshot.read_only = read_only;
        let mut own = CallView::clone(&snapshot.calls[2]);
        (own.id, own.caller, own.phase) = (CallId::new("cx00000mine"), Caller::Console, CallPhase::Running);
        snapshot.calls.push(Arc::new(own));
        let mut screen = Screen::new(SIZE, snapshot);
        for (view, words) in
            [("1", "r restart"), ("1", "e on/off"), ("2", "Enter call"), ("3", "x stop"), ("4", "x give up")]
        {
            screen.press(&[view]);
            assert_eq!(foot(&screen).contains(words), seen, "{words}: {}", foot(&screen));
        }
        screen.press(&["1", "a"]);
        screen.wait(600);
        for words in ["y arm", "n deny", "e edit", "r remember", "x stop"] {
            assert_eq!(screen.text().contains(words), seen, "{words}: {}", screen.text());
        }
    }
}

#[test]
fn a_message_goes_after_five_seconds_also_under_a_dialog() {
    let mut screen = Screen::new(SIZE, sample::calm());
    screen.press(&["r", "?"]);
    assert_eq!(foot(&screen), "restarting filesystem");
    assert_eq!(screen.wake_in(), Some(4_800));
    screen.wait(4_800);
    screen.send(Msg::Wake);
    assert!(foot(&screen).starts_with("Esc close"), "{}", foot(&screen));
}

#[test]
fn a_failure_stands_once_beside_the_list_and_readable_in_it() {
    let mut screen = Screen::new(SIZE, sample::calm());
    screen.press(&["down", "down", "down", "down", "down"]);
    let text = screen.text();
    assert_eq!(text.matches("next: install the module").count(), 1, "{text}");
    assert!(text.lines().any(|line| line.contains("linear") && line.contains("exit 1 after 0.8 s: No")), "{text}");
    screen.resize(80, 24);
    assert!(screen.text().contains("next: install the module"), "alone, the list tells it: {}", screen.text());
}

#[test]
fn leaving_asks_while_calls_wait_or_run() {
    let mut screen = Screen::new(SIZE, sample::calm());
    assert_eq!(screen.press(&["q"]), [Effect::Leave]);
    let mut screen = Screen::new(SIZE, sample::busy());
    for way in ["q", "ctrl-c"] {
        assert_eq!(screen.press(&[way]), [Effect::DropInput]);
        let text = screen.text();
        assert!(text.contains("2 calls wait for a decision and will be withdrawn."), "{text}");
        assert!(text.contains("1 call is"), "{text}");
        assert_eq!(screen.press(&["enter", "q", "n"]), []);
        assert!(!screen.text().contains("withdrawn"));
    }
    screen.press(&["q"]);
    assert_eq!(screen.press(&["y"]), [], "dead at first");
    screen.wait(100);
    assert_eq!(screen.press(&["y"]), [Effect::Leave]);
}

#[test]
fn disabling_asks_first_and_restarting_does_not() {
    let mut screen = Screen::new(SIZE, sample::calm());
    let name = || ConnectionName::from("filesystem");
    assert_eq!(screen.press(&["r"]), [Effect::Send(Command::Restart(name()))]);
    assert_eq!(foot(&screen), "restarting filesystem");
    let asked = |screen: &mut Screen, keys: &[&str], answer| {
        screen.press(keys);
        screen.wait(100);
        screen.press(&[answer])
    };
    assert_eq!(asked(&mut screen, &["e"], "n"), []);
    assert_eq!(asked(&mut screen, &["e"], "y"), [Effect::Send(Command::Disable(name()))]);
    assert_eq!(asked(&mut screen, &["end", "e"], "y"), [Effect::Send(Command::Enable(ConnectionName::from("tavily")))]);
}

#[test]
fn under_read_only_nothing_is_changed() {
    let mut snapshot = sample::calm();
    snapshot.read_only = true;
    let mut screen = Screen::new(SIZE, snapshot);
    for key in ["r", "e"] {
        assert_eq!(screen.press(&[key]), []);
        assert!(foot(&screen).contains("--read-only"), "{key}");
    }
}

#[test]
fn the_selection_stays_on_the_same_server_when_rows_move() {
    let mut screen = Screen::new(SIZE, sample::calm());
    screen.press(&["down", "down"]);
    screen.publish(|snapshot| snapshot.servers.rotate_right(1));
    assert!(screen.text().contains("stderr · github::release"));
    screen.publish(|snapshot| snapshot.servers.retain(|server| server.connection.as_str() != "github::release"));
    assert!(screen.text().contains("stderr · github::alice"));
}

#[test]
fn a_busy_engine_is_shown_until_a_key() {
    let mut screen = Screen::new(SIZE, sample::calm());
    screen.send(Msg::NotSent(None, SendError::Busy));
    screen.wait(60_000);
    screen.send(Msg::Wake);
    assert_eq!(foot(&screen), "✕ the engine is busy; nothing was done");
    screen.press(&["down"]);
    assert!(foot(&screen).starts_with("r restart"));
}

#[test]
fn notices_are_shown_once() {
    let mut screen = Screen::new(SIZE, sample::calm());
    let notice = |sequence, level, text: &str| Notice { sequence, at: sample::NOW, level, text: text.into() };
    screen.publish(|snapshot| snapshot.notices.push(notice(0, LogLevel::Info, "config.yaml was read again")));
    assert_eq!((foot(&screen).as_str(), screen.wake_in()), ("config.yaml was read again", Some(5_000)));
    screen.wait(5_000);
    screen.send(Msg::Wake);
    assert!(foot(&screen).starts_with("r restart"));
    screen.publish(|snapshot| snapshot.notices.push(notice(1, LogLevel::Error, "port 7420 is in use")));
    assert_eq!(foot(&screen), "✕ port 7420 is in use");
}

#[test]
fn a_held_key_does_not_act_on_what_appeared_under_it() {
    let mut screen = Screen::new(SIZE, sample::calm());
    screen.press(&["?"]);
    assert!(screen.text().contains("Esc closes"));
    for _ in 0..5 {
        screen.wait(40);
        screen.send(Msg::Key(event("?")));
    }
    assert!(screen.text().contains("Esc closes"), "a held ? does not close what it opened");
    screen.press(&["?"]);
    assert!(!screen.text().contains("Esc closes"));
}

#[test]
fn seconds_are_drawn_only_while_something_counts_them() {
    let mut screen = Screen::new(SIZE, sample::calm());
    assert_eq!(screen.ui.motion(&screen.snapshot), Motion::Seconds, "a server is starting");
    screen.press(&["6"]);
    assert_eq!(screen.ui.motion(&screen.snapshot), Motion::Minutes);
    screen.press(&["1"]);
    screen.publish(|snapshot| snapshot.servers.retain(|server| server.status.word() != "starting"));
    assert_eq!(screen.ui.motion(&screen.snapshot), Motion::Minutes);
    assert_eq!(screen.wake_in(), None);
}

#[test]
fn paused_stderr_stays_on_what_was_read() {
    let mut screen = Screen::new(SIZE, sample::calm());
    let lines: Vec<String> = (0..200).map(|n| format!("line number {n}")).collect();
    screen.publish(|snapshot| Arc::make_mut(&mut snapshot.servers[0]).stderr = sample::stderr(&lines));
    assert!(screen.text().contains("line number 199"));
    screen.press(&["tab", "pageup"]);
    let top = |screen: &Screen| screen.text().lines().nth(3).unwrap_or_default().trim_end().to_owned();
    let before = top(&screen);
    screen.publish(|snapshot| {
        let ring = &mut Arc::make_mut(&mut snapshot.servers[0]).stderr;
        let line = ring.get(0).unwrap().clone();
        (0..300).for_each(|_| ring.push(line.clone()));
    });
    assert_eq!(top(&screen), before);
    assert!(screen.text().contains("paused · 33"), "{}", screen.text());
    screen.press(&["f"]);
    assert!(screen.text().contains("following"));
}

#[test]
fn a_search_in_stderr_finds_and_says_when_it_does_not() {
    let mut screen = Screen::new((80, 24), sample::calm());
    screen.press(&["down", "down", "/"]);
    screen.type_text("rate");
    screen.press(&["enter"]);
    let text = screen.text();
    assert!(text.contains("stderr · github::release") && text.contains("/rate"), "{text}");
    screen.press(&["/"]);
    screen.type_text("qqq");
    screen.press(&["enter"]);
    assert_eq!(foot(&screen), "✕ \"qqq\" is nowhere here");
}

#[test]
fn narrow_views_show_one_pane_and_tab_swaps() {
    let mut screen = Screen::new((80, 24), sample::calm());
    assert!(screen.text().contains("╭ Servers") && !screen.text().contains("stderr ·"));
    screen.press(&["tab"]);
    assert!(!screen.text().contains("╭ Servers") && screen.text().contains("stderr ·"));
    screen.press(&["esc"]);
    assert!(screen.text().contains("╭ Servers"));
}

#[test]
fn views_go_by_number() {
    let mut screen = Screen::new(SIZE, sample::calm());
    for (key, view) in [
        ("2", View::Tools),
        ("3", View::Approvals),
        ("4", View::Calls),
        ("5", View::Sessions),
        ("6", View::Log),
        ("7", View::Seats),
        ("1", View::Servers),
    ] {
        screen.press(&[key]);
        assert_eq!(screen.ui.view(), view);
    }
}

#[test]
fn the_card_of_ones_own_call_opens_at_once() {
    let mut screen = Screen::new(SIZE, sample::calm());
    screen.press(&["2", "down", "enter"]);
    assert_eq!(screen.press(&["ctrl-s"]), []);
    assert!(screen.text().contains("repo, branch are empty: Ctrl-S again sends it so"), "{}", screen.text());
    let effects = screen.press(&["ctrl-s"]);
    let [Effect::Send(Command::Call { call, tool, .. })] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!((&**tool, screen.ui.view()), ("filesystem/write_file", View::Calls));
    screen.publish(|snapshot| {
        let mut approval = (*sample::approval(7, "filesystem_write_file", 0)).clone();
        approval.call = call.clone();
        snapshot.approvals.push(Arc::new(approval));
    });
    assert_eq!(screen.ui.open_card(), Some(ApprovalId(7)));
}

#[test]
fn the_tools_of_a_server_are_one_key_away() {
    let mut screen = Screen::new(SIZE, sample::calm());
    screen.press(&["t"]);
    assert_eq!(screen.ui.view(), View::Tools);
    assert!(screen.text().contains("server:filesystem"), "{}", screen.text());
}

#[test]
fn what_a_seat_holds_is_one_key_away_and_nothing_of_it_moves_by_itself() {
    let mut screen = Screen::new(SIZE, sample::calm());
    screen.press(&["7", "down", "down", "down", "down"]);
    assert_eq!((screen.ui.motion(&screen.snapshot), screen.wake_in()), (Motion::Minutes, None));
    screen.press(&["t"]);
    let of_seat = screen.text();
    assert!(of_seat.contains("Tools · as seat release") && of_seat.contains(" 7/7 "), "{of_seat}");
    screen.press(&["7", "w"]);
    let text = screen.text();
    assert_eq!(screen.ui.view(), View::Tools);
    assert!(text.contains("Tools · as a worker of release") && text.contains(" 5/7 "), "{text}");
    assert!(!text.contains("github_delete_branch"), "{text}");
    screen.press(&["7"]);
    let effects = screen.press(&["x"]);
    assert_eq!(effects, [Effect::DropInput]);
    assert!(screen.text().contains("Stop seat release?"), "{}", screen.text());
}

#[test]
fn the_line_of_views_fits_whatever_waits() {
    for (width, waiting) in [(120, 0), (120, 12), (80, 0), (80, 2), (80, 123), (79, 2), (60, 12), (40, 2)] {
        for view in View::ALL {
            let mut snapshot = sample::calm();
            snapshot.approvals = (0..waiting).map(|id| sample::approval(id + 1, "tavily_search", 4)).collect();
            snapshot.questions = sample::questions();
            let mut screen = Screen::new((width, 24), snapshot);
            screen.press(&[&view.number().unwrap().to_string()]);
            let picture = screen.text();
            let line = picture.lines().nth(1).unwrap();
            let current = line.split(['[', ']']).nth(1).unwrap_or_default();
            assert!(current.contains(view.words()) && line.matches(']').count() == 1, "{width} {waiting}: {line:?}");
            assert!(
                View::ALL.iter().all(|view| line.contains(&view.number().unwrap().to_string())),
                "{width} {waiting}: {line:?}"
            );
            assert!(!line.contains('…'), "{width} {waiting}: {line:?}");
        }
    }
}

#[test]
fn a_decision_is_handed_out_once_and_the_next_card_waits() {
    let mut screen = Screen::new(SIZE, sample::busy());
    screen.press(&["a"]);
    assert_eq!(screen.press(&["y"]), [], "keys are dead at first");
    screen.wait(600);
    assert_eq!(screen.press(&["y"]), [], "armed");
    screen.wait(400);
    assert_eq!(screen.press(&["y"]), [], "it counts only when no other key follows at once");
    screen.wait(120);
    let effects = screen.send(Msg::Wake);
    assert!(
        matches!(&effects[..], [Effect::Send(Command::Decide(Shown { approval: ApprovalId(1), .. }, _))]),
        "{effects:?}"
    );
    screen.publish(|snapshot| _ = snapshot.approvals.remove(0));
    assert_eq!(screen.ui.open_card(), Some(ApprovalId(1)), "the card shows what became of it");
    screen.wait(3_000);
    screen.send(Msg::Wake);
    assert_eq!(screen.wake_in(), None, "the other question cannot open over it");
    screen.press(&["esc"]);
    assert_eq!(screen.ui.open_card(), None);
    screen.wait(2_000);
    screen.send(Msg::Wake);
    assert_eq!(screen.ui.open_card(), Some(ApprovalId(2)));
}

#[test]
fn a_held_key_never_decides() {
    let mut screen = Screen::new(SIZE, sample::busy());
    screen.press(&["a"]);
    screen.wait(600);
    assert_eq!(screen.press(&["y"]), [], "armed");
    // A keyboard's first repeat comes late enough to look like a second press; the next ones give it away.
    screen.wait(400);
    for _ in 0..60 {
        assert_eq!(screen.send(Msg::Key(KeyEvent::from(KeyCode::Char('y')))), []);
        screen.wait(33);
        assert_eq!(screen.send(Msg::Wake), []);
    }
    screen.wait(5_000);
    assert_eq!(screen.send(Msg::Wake), []);
}

#[test]
fn a_seat_is_stopped_from_its_card_and_released_from_the_list() {
    let mut screen = Screen::new(SIZE, sample::busy());
    screen.press(&["a"]);
    screen.wait(1_000);
    assert_eq!(screen.press(&["x"]), [Effect::DropInput]);
    assert!(screen.text().contains("Stop seat release?"), "{}", screen.text());
    let seat = || SeatHandle::from("release");
    screen.wait(1_000);
    assert_eq!(screen.press(&["enter", "n"]), [], "only y says yes");
    screen.press(&["x"]);
    screen.wait(700);
    assert_eq!(screen.press(&["y"]), [], "a card may have come up under the fingers");
    screen.wait(300);
    assert_eq!(screen.press(&["y"]), [Effect::Send(Command::StopSeat(seat()))]);
    let mut screen = Screen::new(SIZE, sample::calm());
    screen.publish(|snapshot| {
        snapshot.stopped_seats = vec![StoppedSeat { seat: seat(), since: sample::NOW, refused: 2 }];
    });
    assert!(screen.text().lines().next().unwrap().contains("1 seat stopped"), "{}", screen.text());
    screen.press(&["3", "R"]);
    screen.wait(100);
    assert_eq!(screen.press(&["y"]), [Effect::Send(Command::ReleaseSeat(seat()))]);
}

#[test]
fn arguments_are_edited_and_approved_with_the_keys_of_the_table() {
    let mut screen = Screen::new(SIZE, sample::busy());
    screen.press(&["a"]);
    screen.wait(1_000);
    screen.press(&["e"]);
    assert!(screen.text().contains("Edit github_delete_branch"), "{}", screen.text());
    screen.press(&["down", "end", "left", "left", "x", "ctrl-s"]);
    assert!(screen.text().contains("+   \"branch\": \"mainx\""), "{}", screen.text());
    screen.wait(1_000);
    screen.press(&["y"]);
    screen.wait(400);
    screen.press(&["y"]);
    screen.wait(200);
    let [Effect::Send(Command::Decide(shown, Verdict::ApproveEdited(sent)))] = &screen.send(Msg::Wake)[..] else {
        panic!("{}", screen.text())
    };
    assert_eq!(sent.canonical(), r#"{"branch":"mainx","repo":"acme/api"}"#);
    assert_eq!(*shown, screen.snapshot.approvals[0].shown());
}

#[test]
fn grants_are_revoked_with_the_keys_of_the_table() {
    let mut screen = Screen::new(SIZE, sample::calm());
    screen.publish(|snapshot| {
        snapshot.grants = vec![Arc::new(GrantView {
            id: GrantId(4),
            seat: None,
            server: ServerName::from("git"),
            connection: "git".into(),
            tool: "git_log".into(),
            scope: GrantScope::ThisTool,
            arguments: None,
            given_at: sample::NOW,
            expires_at: None,
            uses: 1,
            suspended: None,
        })];
    });
    screen.press(&["3"]);
    assert!(screen.text().contains("1 remembered decision in force (g)."), "{}", screen.text());
    screen.press(&["g"]);
    screen.publish(|snapshot| asks(snapshot, 7));
    screen.wait(3_000);
    screen.send(Msg::Wake);
    assert_eq!((screen.ui.open_card(), screen.wake_in()), (None, None), "x on a card stops a seat");
    screen.press(&["x"]);
    assert!(screen.text().contains("Revoke the grant for git_log?"), "{}", screen.text());
    screen.wait(100);
    assert_eq!(screen.press(&["y"]), [Effect::Send(Command::Revoke(GrantId(4)))]);
    screen.press(&["esc"]);
    screen.wait(3_000);
    screen.send(Msg::Wake);
    assert_eq!(screen.ui.open_card(), Some(ApprovalId(7)));
}

#[test]
fn help_never_cuts_its_words_and_names_what_can_be_typed() {
    for view in ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0"] {
        let mut screen = Screen::new((80, 90), sample::empty());
        screen.press(&[view, "?"]);
        let text = screen.text();
        assert!(text.contains("After :") && text.contains("connect SEAT"), "{view}: {text}");
        let help = text.lines().filter(|line| line.starts_with("    │") || line.contains("│   │"));
        assert!(!help.clone().any(|line| line.contains("… │")), "{view}: {text}");
    }
    let mut screen = Screen::new((80, 40), sample::calm());
    screen.press(&["7", "?"]);
    assert!(screen.text().contains("past turns"), "{}", screen.text());
    let mut screen = Screen::new((80, 24), sample::calm());
    screen.press(&[":"]);
    assert!(foot(&screen).contains("connect [SEAT], connector, help, quit"), "{}", foot(&screen));
    screen.press(&["c"]);
    assert_eq!(foot(&screen), ":c");
}

#[test]
fn where_one_pane_has_the_screen_a_hint_leads_to_the_other() {
    for (keys, narrow) in [(&["1"][..], "Enter stderr"), (&["2"], "Tab details"), (&["5"], "Tab details")] {
        for (width, there) in [(80, true), (120, false)] {
            let mut screen = Screen::new((width, 24), sample::calm());
            screen.press(keys);
            assert_eq!(foot(&screen).contains(narrow), there, "{keys:?} {width}: {}", foot(&screen));
        }
    }
}

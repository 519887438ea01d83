//! The registry on a paused clock: who gets in, until when, and how many there may be.

use super::*;
use crate::tool::worker::Barred;

fn open() -> (Workers, Redactor) {
    let (workers, redactor) = (Workers::default(), Redactor::default());
    workers.open(([0, 0, 0, 0], 7420).into(), &redactor);
    (workers, redactor)
}

fn order(seat: &str, minutes: u16) -> Order {
    Order {
        id: WorkerId::fresh(),
        seat: seat.into(),
        by: "agent 1 · session 7c1e".into(),
        task: "find it\u{202e}\nsay it".into(),
        minutes,
        admission: Admission { barred: vec![("post\u{7}".into(), Barred::NotHeld)], ..Admission::default() },
    }
}

fn minted(workers: &Workers, seat: &str, minutes: u16) -> (Arc<WorkerView>, Secret) {
    let view = workers.mint(order(seat, minutes)).unwrap();
    let token = workers.claim(&view.id, None).unwrap();
    (view, token)
}

fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

#[tokio::test(start_paused = true)]
async fn a_worker_comes_in_by_its_own_token_until_its_time_is_over() {
    let (workers, _) = open();
    let (one, token) = minted(&workers, "ada", 2);
    let (other, others) = minted(&workers, "ada", 60);
    assert_eq!(&*one.url, format!("http://127.0.0.1:7420/workers/{}/mcp", one.id));
    let comes_in = |view: &WorkerView, token: &Secret| workers.admit(view.id.as_str(), Some(token.expose())).is_some();
    assert!(comes_in(&one, &token) && comes_in(&other, &others));
    assert!(!comes_in(&one, &others) && !comes_in(&other, &token), "each its own");
    for wrong in [None, Some(""), Some("crewlet_"), token.expose().get(..40)] {
        assert!(workers.admit(one.id.as_str(), wrong).is_none(), "{wrong:?}");
    }
    assert!(workers.admit("", Some("")).is_none() && workers.admit("w0", Some(token.expose())).is_none());
    tokio::time::advance(Duration::from_millis(119_999)).await;
    assert!(comes_in(&one, &token));
    tokio::time::advance(Duration::from_millis(1)).await;
    assert!(!comes_in(&one, &token) && comes_in(&other, &others));
    assert_eq!(workers.views(), std::slice::from_ref(&other));
    assert_eq!(workers.sweep().iter().map(|gone| &gone.id).collect::<Vec<_>>(), [&one.id]);
    assert!(workers.sweep().is_empty() && workers.count() == 1);
    tokio::time::advance(minutes(u64::from(MOST_MINUTES))).await;
    assert!(!comes_in(&other, &others), "nobody has longer");
}

#[tokio::test(start_paused = true)]
async fn times_are_brought_within_their_bounds() {
    let (workers, _) = open();
    for (asked, has) in [(0, 1), (1, 1), (60, 60), (61, MOST_MINUTES), (u16::MAX, MOST_MINUTES)] {
        let (view, _) = minted(&workers, "ada", asked);
        assert_eq!(view.ends.since(view.since), minutes(u64::from(has)), "{asked}");
        workers.end(&view.id);
    }
}

#[tokio::test(start_paused = true)]
async fn a_seat_has_so_many_and_what_is_over_counts_no_more() {
    let (workers, _) = open();
    let first = minted(&workers, "ada", 1).0;
    for _ in 1..MOST_OF_A_SEAT {
        minted(&workers, "ada", 5);
    }
    assert_eq!(workers.mint(order("ada", 5)), Err(MintError::TooMany));
    minted(&workers, "bob", 5);
    assert!(workers.end(&first.id) && !workers.end(&first.id), "once");
    let (_, token) = minted(&workers, "ada", 5);
    assert_eq!(workers.mint(order("ada", 5)), Err(MintError::TooMany));
    assert!(workers.end_where(|worker| worker.seat.as_str() == "ada"));
    assert!(workers.views().iter().all(|view| view.seat.as_str() == "bob"));
    assert!(workers.known_ids().iter().all(|id| workers.admit(id, Some(token.expose())).is_none()));
    assert_eq!(workers.sweep().len(), 1 + MOST_OF_A_SEAT);
}

#[tokio::test]
async fn a_token_is_given_out_once_and_never_shown() {
    let (workers, redactor) = open();
    let view = workers.mint(order("ada", 5)).unwrap();
    let token = workers.claim(&view.id, None).unwrap();
    assert_eq!(workers.claim(&view.id, None), None);
    assert_eq!(workers.claim(&WorkerId::fresh(), None), None);
    assert_eq!(redactor.redact_known(token.expose()), "[REDACTED:secret]");
    for text in [format!("{view:?}"), format!("{workers:?}"), format!("{:?}", workers.views())] {
        assert!(!text.contains(token.expose()) && !text.contains("crewlet_"), "{text}");
    }
    assert_eq!((&*view.task, &*view.barred[0].0), ("find it\\u{202e}\nsay it", "post\\x07"), "in visible form");
    let secret = Order { task: token.expose().into(), by: token.expose().into(), ..order("ada", 5) };
    let view = workers.mint(secret).unwrap();
    assert_eq!((&*view.task, &*view.by), ("[REDACTED:secret]", "[REDACTED:secret]"));
}

#[tokio::test]
async fn a_worker_ends_with_the_session_that_made_it_and_with_the_surfaces() {
    let (workers, _) = open();
    let session = CancellationToken::new();
    let bound = workers.mint(order("ada", 5)).unwrap();
    let token = workers.claim(&bound.id, Some(session.clone())).unwrap();
    let free = minted(&workers, "ada", 5);
    assert!(workers.admit(bound.id.as_str(), Some(token.expose())).is_some());
    session.cancel();
    assert!(workers.admit(bound.id.as_str(), Some(token.expose())).is_none());
    assert!(workers.admit(free.0.id.as_str(), Some(free.1.expose())).is_some());
    workers.close();
    assert!(workers.admit(free.0.id.as_str(), Some(free.1.expose())).is_none());
    assert_eq!(workers.mint(order("ada", 5)), Err(MintError::NoListener));
    assert_eq!(Workers::default().mint(order("ada", 5)), Err(MintError::NoListener));
}

#[tokio::test(start_paused = true)]
async fn whoever_looks_after_them_is_woken_by_what_came_and_went() {
    let (workers, _) = open();
    let (view, _) = minted(&workers, "ada", 5);
    workers.changed().await;
    workers.end(&view.id);
    workers.changed().await;
    let nothing = tokio::time::timeout(minutes(60), workers.changed()).await;
    assert!(nothing.is_err(), "its time runs out without a word");
    let id = WorkerId::fresh();
    let twice = || Order { id: id.clone(), ..order("ada", 5) };
    assert!(workers.mint(twice()).is_ok());
    assert_eq!(workers.mint(twice()), Err(MintError::Taken));
}

impl Workers {
    fn known_ids(&self) -> Vec<String> {
        self.lock().known.keys().map(ToString::to_string).collect()
    }
}

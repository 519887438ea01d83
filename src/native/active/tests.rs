//! Whose set is whose, when one ends, and that nothing grows without bound.

use serde_json::json;

use super::*;
use crate::tool::Listing;
use crate::tool::catalog::Source;
use crate::tool::names::Names;

/// A silence that is just short enough.
const ALMOST: Duration = Duration::from_secs(30 * 60 - 1);

fn catalog(tools: usize) -> Catalog {
    let mut listing = Listing::default();
    (0..tools).for_each(|number| listing.push(&json!({"name": format!("t{number}")})));
    let source = Source {
        server: "s".into(),
        connection: "s".into(),
        seat: None,
        identity: "s".into(),
        prefix: "".into(),
        overrides: Arc::new([]),
        listing: Some(Arc::new(listing)),
        first_party: None,
    };
    Catalog::place(&[source], &Names::default()).0
}

fn caller(session: &str) -> Caller {
    Caller::Seat { seat: "ada".into(), session: session.into(), client: "agent 1".into() }
}

fn progressive() -> Arc<Active> {
    Arc::new(Active::new(Discovery::Progressive))
}

#[tokio::test(start_paused = true)]
async fn a_sessions_set_is_its_own_and_goes_with_it() {
    let (active, catalog, ada) = (progressive(), catalog(2), SeatHandle::new("ada"));
    let first = active.session(&ada, &"one".into()).unwrap();
    let second = active.session(&ada, &"two".into()).unwrap();
    let tool = &catalog.entries()[0];
    let mut heard = (first.set().changes(), second.set().changes());
    assert_eq!(first.set().activate(tool, &catalog), Activated::Now(1));
    assert_eq!(first.set().activate(tool, &catalog), Activated::Already);
    assert!(first.set().holds(tool) && !second.set().holds(tool));
    assert_eq!((heard.0.has_changed().unwrap(), heard.1.has_changed().unwrap()), (true, false));
    heard.0.mark_unchanged();
    assert_eq!(active.entries(&caller("one"), &catalog).len(), 1);
    assert_eq!(active.entries(&caller("two"), &catalog).len(), 0);
    tokio::time::advance(GAP * 4).await;
    active.sweep();
    assert_eq!(active.entries(&caller("one"), &catalog).len(), 1, "a session's set has no end of its own");
    drop(first);
    assert!(active.of(&caller("one")).is_none());
    assert!(active.of(&Caller::Console).is_none());
}

#[tokio::test(start_paused = true)]
async fn a_client_program_keeps_its_set_over_gaps_that_are_short_enough() {
    let (active, catalog, ada) = (progressive(), catalog(1), SeatHandle::new("ada"));
    let (agent, tool) = (Arc::<str>::from("agent 1"), &catalog.entries()[0]);
    let join = |session: &str| active.client(&ada, &session.into(), &agent).unwrap();
    let first = join("x");
    first.set().activate(tool, &catalog);
    drop(first);
    tokio::time::advance(ALMOST).await;
    active.sweep();
    let again = join("y");
    assert!(again.set().holds(tool));
    again.seen();
    tokio::time::advance(ALMOST).await;
    again.seen();
    assert!(again.set().holds(tool), "no gap was too long");
    let other = active.client(&ada, &"z".into(), &"agent 2".into()).unwrap();
    let elsewhere = active.client(&"bob".into(), &"y".into(), &agent).unwrap();
    assert!(!other.set().holds(tool) && !elsewhere.set().holds(tool));
    let mut heard = again.set().changes();
    tokio::time::advance(GAP).await;
    again.seen();
    assert!(!again.set().holds(tool) && heard.has_changed().unwrap(), "it begins anew, and hears of it");
    heard.mark_unchanged();
    again.set().activate(tool, &catalog);
    tokio::time::advance(GAP).await;
    active.sweep();
    assert!(!again.set().holds(tool), "also when it only listens");
    drop((again, other, elsewhere));
    active.sweep();
    assert_eq!(active.lock().unwrap().clients.len(), 0, "nothing is kept");
    assert_eq!(active.lock().unwrap().members.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn neither_tools_nor_programs_fill_the_memory() {
    let (active, ada) = (progressive(), SeatHandle::new("ada"));
    let catalog = catalog(MOST_TOOLS + 1);
    let keeps = active.client(&ada, &"k".into(), &"keeps".into()).unwrap();
    let (last, rest) = catalog.entries().split_last().unwrap();
    for tool in rest {
        keeps.set().activate(tool, &catalog);
    }
    assert_eq!(keeps.set().activate(last, &catalog), Activated::Full);
    let now = self::catalog(0);
    assert_eq!(keeps.set().activate(last, &now), Activated::Now(1), "what is gone makes room");
    for number in 0..MOST_CLIENTS * 2 {
        tokio::time::advance(Duration::from_secs(1)).await;
        keeps.seen();
        drop(active.client(&ada, &"s".into(), &format!("made up {number}").into()));
    }
    let known = active.lock().unwrap();
    assert_eq!(known.clients.len(), MOST_CLIENTS);
    assert!(known.clients.contains_key(&(ada, "keeps".into())), "the longest silent goes first");
}

#[test]
fn where_everything_is_active_there_are_no_sets() {
    let (active, catalog) = (Arc::new(Active::default()), catalog(2));
    assert!(active.session(&"ada".into(), &"one".into()).is_none());
    assert_eq!(active.entries(&caller("one"), &catalog).len(), 2);
}

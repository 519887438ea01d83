//! The store with 100,000 work items: how long lists and searches take, and writing one more.

use std::time::Instant;

use crewlet_tui::clock::Timestamp;
use crewlet_tui::store::items::{Filter, Who};
use crewlet_tui::store::lists::Sort;
use crewlet_tui::store::{NewItem, Signed, Store, StoreError};
use tokio::runtime::Runtime;

use super::{Bench, row};

const ITEMS: u64 = 100_000;
const WORDS: [&str; 12] = [
    "login", "invoice", "export", "timeout", "mobile", "search", "cache", "payment", "report", "upload", "session",
    "mail",
];

/// Prints the 99th percentile of each question in milliseconds.
pub fn store(bench: &Bench) {
    let folder = bench.state("store");
    std::fs::create_dir_all(&folder).expect("a folder");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let store = Store::new(&folder);
    let began = Instant::now();
    runtime.block_on(fill(&store));
    row("store: items written in one job, k/s", ITEMS as f64 / began.elapsed().as_secs_f64() / 1_000.0, None, "k/s");

    let page = || Filter { limit: 51, ..Filter::default() };
    let questions: [(&str, Filter); 8] = [
        ("list newest", page()),
        (
            "list one status and assignee",
            Filter { statuses: vec!["done".into()], assignee: Some("seat3".into()), ..page() },
        ),
        ("list urgent of one project", Filter { projects: vec!["WEB".into()], priority: Some(4), ..page() }),
        ("list a label that nobody has", Filter { label: Some("nothing".into()), ..page() }),
        ("list what changed last", Filter { sort: Sort::Updated, ..page() }),
        ("list words in one project", Filter { text: Some("login".into()), projects: vec!["WEB".into()], ..page() }),
        ("list at offset 90,000", Filter { offset: 90_000, ..page() }),
        (
            "list open of one reporter",
            Filter { reporter: Some("seat9".into()), not_statuses: vec!["done".into()], ..page() },
        ),
    ];
    for (name, filter) in questions {
        let ask = || {
            let filter = filter.clone();
            runtime.block_on(store.read(move |s| s.items(&filter).map(|items| items.len()))).expect("a list")
        };
        row(&format!("store: {name}, p99"), p99(ask), None, "ms");
    }
    for (name, words, projects) in [
        ("search a common word", "login", Vec::new()),
        ("search two words", "payment timeout", Vec::new()),
        ("search a beginning in one project", "invoi", vec!["WEB".to_owned()]),
        ("search one number", "item 77777", Vec::new()),
        ("search what is not there", "zeppelin", Vec::new()),
    ] {
        let ask = || {
            let projects = projects.clone();
            let job = move |s: &crewlet_tui::store::ReadStore<'_>| {
                s.search_items(words, &projects, 20).map(|found| found.len())
            };
            runtime.block_on(store.read(job)).expect("a search")
        };
        row(&format!("store: {name}, p99"), p99(ask), None, "ms");
    }
    let write = || runtime.block_on(store.write(|s| s.create_item(item(1), &signed(9)).map(|made| made.row.number)));
    row("store: one more item on disk, p99", p99(|| write().expect("an item")), None, "ms");
    drop((store, Runtime::shutdown_background(runtime)));
}

fn signed(seat: u64) -> Signed {
    Signed { who: Who::new("seat", format!("seat{seat}")), at: Timestamp::now() }
}

async fn fill(store: &Store) {
    let job = |s: &crewlet_tui::store::WriteStore<'_>| -> Result<(), StoreError> {
        s.put_project("WEB", "Web", Timestamp::now())?;
        s.put_project("APP", "App", Timestamp::now())?;
        for number in 0..ITEMS {
            s.create_item(item(number), &signed(number % 10))?;
        }
        Ok(())
    };
    store.write(job).await.expect("items");
}

fn item(number: u64) -> NewItem {
    let pick = |step: u64| WORDS[usize::try_from(number.wrapping_mul(step) / 7 % 12).unwrap_or(0)];
    NewItem {
        project: if number.is_multiple_of(3) { "WEB" } else { "APP" }.into(),
        title: format!("{} and {}: item {number}", pick(5), pick(11)),
        body: format!("{} {} {} ", pick(13), pick(17), pick(19)).repeat(8),
        status: ["todo", "in_progress", "done"][usize::try_from(number % 3).unwrap_or(0)].into(),
        priority: i64::try_from(number % 5).unwrap_or(0),
        assignee: Some(Who::new("agent", format!("seat{}", number % 7))),
        parent: None,
        labels: vec![pick(23).to_owned()],
        ..NewItem::default()
    }
}

/// The 99th percentile of 200 runs, in milliseconds.
fn p99<T>(mut ask: impl FnMut() -> T) -> f64 {
    let mut times: Vec<f64> = (0..200)
        .map(|_| {
            let began = Instant::now();
            std::hint::black_box(ask());
            began.elapsed().as_secs_f64() * 1_000.0
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() * 99 / 100]
}

//! A killed `serve` under load: what was acknowledged is there, and nothing is there by halves.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crewlet_tui::store::backup;
use crewlet_tui::store::items::Filter;
use crewlet_tui::store::{FILE, ReadStore, Store, StoreError};
use serde_json::{Value, json};

use crate::program::Serving;

const TOKEN: &str = "bridge-token-0123456789";
const WORKERS: usize = 4;

/// An item's title and number, its comments, and how often its title is found.
type Row = (String, i64, Vec<String>, usize);

/// One plain call; `None` when the program is gone.
async fn call(http: &reqwest::Client, address: &str, tool: &str, arguments: Value) -> Option<Value> {
    let request = http.post(format!("http://{address}/tools/{tool}")).bearer_auth(TOKEN);
    let answer = request.header("content-type", "application/json").body(arguments.to_string()).send().await.ok()?;
    assert_eq!(answer.status(), 200);
    serde_json::from_str(&answer.text().await.ok()?).ok()
}

/// Creates issues with a comment each until the program is gone. The titles whose issue and comment were acknowledged.
async fn work(address: String, name: String, done: Arc<AtomicUsize>) -> Vec<String> {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut acknowledged = Vec::new();
    for number in 0.. {
        let title = format!("{name}n{number}");
        let Some(made) = call(&http, &address, "create_issue", json!({"title": title})).await else { break };
        let comment = json!({"issue_id": made["result"]["issue"]["id"], "body": title});
        if call(&http, &address, "comment_issue", comment).await.is_none() {
            break;
        }
        acknowledged.push(title);
        done.fetch_add(1, Ordering::Relaxed);
    }
    acknowledged
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_writer_leaves_everything_it_acknowledged_and_no_halves() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("kept");
    let config = format!(
        "name: Acme\nmcp_servers: []\nengine: {{ state_dir: '{}' }}\n\
         operators: [ {{ id: bridge, token: '${{BRIDGE:-{TOKEN}}}', scopes: ['issues:write', 'comments:write'] }} ]\n",
        state.display()
    );
    std::fs::write(folder.path().join("config.yaml"), config).unwrap();
    let mut acknowledged = Vec::new();
    for round in 0..3 {
        let mut serving = Serving::start(folder.path(), &[]);
        let done = Arc::new(AtomicUsize::new(0));
        let worker = |number| work(serving.address.clone(), format!("r{round}w{number}"), done.clone());
        let workers: Vec<_> = (0..WORKERS).map(|number| tokio::spawn(worker(number))).collect();
        while done.load(Ordering::Relaxed) < 40 {
            tokio::task::yield_now().await;
        }
        // SIGKILL: nobody is told, nothing is closed.
        serving.child.kill().unwrap();
        for worker in workers {
            acknowledged.extend(worker.await.unwrap());
        }
    }
    backup::verify(&state.join(FILE)).expect("a sound file");

    let whole = |store: &ReadStore<'_>| -> Result<Vec<Row>, StoreError> {
        let items = store.items(&Filter { limit: 100_000, ..Filter::default() })?;
        let row = |item: crewlet_tui::store::items::Item| {
            let comments = store.comments(item.id, 0, 10)?.into_iter().map(|comment| comment.body).collect();
            let found = store.search_items(&format!("{}.", item.title), &[], 10)?.len();
            assert_eq!(
                store.history(item.id, 10)?.last().map(|change| change.what.clone()).as_deref(),
                Some("created")
            );
            Ok((item.title, item.number, comments, found))
        };
        items.into_iter().map(row).collect()
    };
    let rows = Store::new(&state).read(whole).await.unwrap();
    for title in &acknowledged {
        let row = rows.iter().find(|(known, ..)| known == title).unwrap_or_else(|| panic!("{title} is lost"));
        assert_eq!((&row.2, row.3), (&vec![title.clone()], 1), "with its comment and its words");
    }
    let mut numbers: Vec<i64> = rows.iter().map(|row| row.1).collect();
    numbers.sort_unstable();
    let counted: Vec<i64> = (1..).take(rows.len()).collect();
    assert_eq!(numbers, counted, "no number is lost or given twice");

    let trail = std::fs::read_to_string(state.join("connector.jsonl")).unwrap();
    let lines: Vec<Value> = trail.lines().map(|line| serde_json::from_str(line).expect("a whole line")).collect();
    let created = lines.iter().filter(|line| line["tool"] == json!("create_issue")).count();
    assert!(created >= rows.len(), "{created} recorded, {} kept: nothing is kept that was not recorded", rows.len());
}

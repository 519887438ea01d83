//! Vectors of texts from a service that speaks `POST {url}/embeddings`, where one is configured.
//!
//! Rows are written without waiting for it; afterwards the rows that have no vector of the configured model yet are gone
//! through, newest first, so that nothing is lost by an outage or a full queue: there is none. A query waits a moment
//! for its vector and does without it otherwise. While the service fails it is left alone for growing times.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::{Client, Url};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::clock::Timestamp;
use crate::engine::connection::{http_client, root_cause};
use crate::secret::Secret;
use crate::store::memory::{Unembedded, Vector};
use crate::store::{Store, StoreError};

/// What is sent of a text, in characters: services refuse longer ones. What is kept is always whole.
const INPUT: usize = 8_000;
/// How long a query waits.
const QUERY: Duration = Duration::from_secs(3);
/// How long a batch of rows may take.
const BATCH_TIME: Duration = Duration::from_secs(60);
/// Rows of one request.
const BATCH: i64 = 16;
/// What every service has a vector for; sent for empty texts, too, which some refuse.
const PLAINEST: &str = "-";
/// The longest answer that is read, in bytes.
const ANSWER: usize = 32 << 20;
/// Numbers of a vector, at most.
const NUMBERS: usize = 16_384;
/// For so long a service that failed is left alone, at first and at most.
const REST: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// The service. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Embedder {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    client: Client,
    url: Url,
    model: String,
    key: Option<Secret>,
    rest: Mutex<Rest>,
    running: AtomicBool,
    wanted: Notify,
}

/// When the service may be asked again.
#[derive(Debug, Default)]
struct Rest {
    until: Option<Instant>,
    failures: u32,
}

/// Why there are no vectors.
#[derive(Debug, thiserror::Error)]
enum EmbedError {
    #[error("no answer within {} s", .0.as_secs())]
    Slow(Duration),
    #[error("no answer: {0}")]
    Unreachable(String),
    #[error("it answered with status {0}")]
    Status(u16),
    #[error("its answer is {0}")]
    Malformed(&'static str),
}

impl EmbedError {
    /// Whether the text itself was refused: another one may do.
    const fn is_refusal(&self) -> bool {
        matches!(self, Self::Status(400 | 413 | 422))
    }
}

impl Embedder {
    /// A service at this address.
    ///
    /// # Errors
    /// What is wrong with the address, without it: it may hold a secret.
    pub fn new(url: &Secret, model: &str, key: Option<Secret>) -> Result<Self, String> {
        let text = format!("{}/embeddings", url.expose().trim_end_matches('/'));
        let url = Url::parse(&text).map_err(|error| format!("the url is not usable: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("the url begins with \"{}:\", not with http: or https:", url.scheme()));
        }
        let client = http_client(&url)?;
        let shared = Shared {
            client,
            url,
            model: model.to_owned(),
            key,
            rest: Mutex::default(),
            running: AtomicBool::new(false),
            wanted: Notify::new(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The vector of what somebody looks for; `None` when it cannot be had soon.
    pub async fn of_query(&self, text: &str) -> Option<Vector> {
        if text.trim().is_empty() || self.shared.is_resting() {
            return None;
        }
        let asked = self.shared.ask(&[text], QUERY).await;
        self.shared.note(asked.as_ref().err());
        asked.ok()?.pop()
    }

    /// Says that there may be rows without a vector. The first time it also starts going through them.
    pub fn wake(&self, store: &Store) {
        self.shared.wanted.notify_one();
        if !self.shared.running.swap(true, Ordering::Relaxed) {
            drop(tokio::spawn(go_through(self.shared.clone(), store.clone())));
        }
    }
}

/// Gives every row its vector, for as long as the program runs. What is left when it ends is found at the next start.
async fn go_through(shared: Arc<Shared>, store: Store) {
    loop {
        shared.wait_for_rest().await;
        match batch(&shared, &store).await {
            Ok(true) => {}
            Ok(false) => shared.wanted.notified().await,
            Err(error) => {
                tracing::warn!(%error, "embedding_rows_not_read");
                tokio::time::sleep(REST.1).await;
            }
        }
    }
}

/// One round. True when there may be more to do.
async fn batch(shared: &Shared, store: &Store) -> Result<bool, StoreError> {
    let model = shared.model.clone();
    let rows = store.read(move |store| store.unembedded(&model, Timestamp::now(), BATCH)).await?;
    if rows.is_empty() {
        return Ok(false);
    }
    let texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
    match shared.ask(&texts, BATCH_TIME).await {
        Ok(vectors) => {
            shared.note(None);
            keep(shared, store, rows.into_iter().zip(vectors.into_iter().map(Some)).collect()).await?;
        }
        // One of them may be what it will not have: each by itself.
        Err(error) if error.is_refusal() => one_by_one(shared, store, rows).await?,
        Err(error) => shared.note(Some(&error)),
    }
    Ok(true)
}

async fn one_by_one(shared: &Shared, store: &Store, rows: Vec<Unembedded>) -> Result<(), StoreError> {
    // A service that refuses the plainest text as well, such as one without this model, says nothing about any text.
    if let Err(error) = shared.ask(&[PLAINEST], BATCH_TIME).await {
        shared.note(Some(&error));
        return Ok(());
    }
    for row in rows {
        let vector = match shared.ask(&[&row.text], BATCH_TIME).await {
            Ok(mut vectors) => vectors.pop(),
            Err(error) if error.is_refusal() => None,
            Err(error) => {
                shared.note(Some(&error));
                return Ok(());
            }
        };
        keep(shared, store, vec![(row, vector)]).await?;
    }
    shared.note(None);
    Ok(())
}

async fn keep(shared: &Shared, store: &Store, rows: Vec<(Unembedded, Option<Vector>)>) -> Result<(), StoreError> {
    let model = shared.model.clone();
    let job = move |store: &crate::store::WriteStore<'_>| {
        rows.iter().try_for_each(|(row, vector)| store.embed(row, &model, vector.as_ref()))
    };
    store.write(job).await
}

impl Shared {
    /// The vectors of some texts, in their order.
    async fn ask(&self, texts: &[&str], most: Duration) -> Result<Vec<Vector>, EmbedError> {
        timeout(most, self.post(texts)).await.unwrap_or(Err(EmbedError::Slow(most)))
    }

    async fn post(&self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError> {
        let inputs: Vec<&str> =
            texts.iter().map(|text| if text.trim().is_empty() { PLAINEST } else { trimmed(text) }).collect();
        let body = json!({"model": self.model, "input": inputs, "encoding_format": "float"}).to_string();
        let mut request = self.client.post(self.url.clone()).header("content-type", "application/json").body(body);
        if let Some(key) = &self.key {
            request = request.bearer_auth(key.expose());
        }
        // Without its address, which may hold a secret.
        let unreachable = |error: reqwest::Error| EmbedError::Unreachable(root_cause(&error));
        let answer = request.send().await.map_err(unreachable)?;
        if !answer.status().is_success() {
            return Err(EmbedError::Status(answer.status().as_u16()));
        }
        let mut bytes = Vec::new();
        let mut stream = answer.bytes_stream();
        while let Some(part) = stream.next().await {
            bytes.extend_from_slice(&part.map_err(unreachable)?);
            if bytes.len() > ANSWER {
                return Err(EmbedError::Malformed("too long"));
            }
        }
        self.read(&bytes, texts.len())
    }

    fn read(&self, bytes: &[u8], count: usize) -> Result<Vec<Vector>, EmbedError> {
        #[derive(Deserialize)]
        struct Answer {
            data: Vec<One>,
        }
        #[derive(Deserialize)]
        struct One {
            #[serde(default)]
            index: Option<usize>,
            embedding: Vec<f32>,
        }
        let answer: Answer = serde_json::from_slice(bytes).map_err(|_| EmbedError::Malformed("no list of vectors"))?;
        let mut ones: Vec<(usize, Vec<f32>)> =
            answer.data.into_iter().enumerate().map(|(at, one)| (one.index.unwrap_or(at), one.embedding)).collect();
        ones.sort_by_key(|(index, _)| *index);
        if ones.len() != count || ones.iter().enumerate().any(|(at, (index, _))| at != *index) {
            return Err(EmbedError::Malformed("not one vector for each text"));
        }
        let usable =
            |numbers: &[f32]| (1..=NUMBERS).contains(&numbers.len()) && numbers.iter().all(|number| number.is_finite());
        if !ones.iter().all(|(_, numbers)| usable(numbers)) {
            return Err(EmbedError::Malformed("no usable vector"));
        }
        Ok(ones.into_iter().map(|(_, numbers)| Vector { model: self.model.clone(), numbers }).collect())
    }

    fn is_resting(&self) -> bool {
        let rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        rest.until.is_some_and(|until| Instant::now() < until)
    }

    async fn wait_for_rest(&self) {
        let until = self.rest.lock().unwrap_or_else(PoisonError::into_inner).until;
        if let Some(until) = until {
            tokio::time::sleep_until(until).await;
        }
    }

    /// Notes how asking went.
    fn note(&self, error: Option<&EmbedError>) {
        let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(error) = error else {
            if rest.failures > 0 {
                tracing::info!("embeddings_available_again");
            }
            *rest = Rest::default();
            return;
        };
        rest.failures = rest.failures.saturating_add(1);
        let pause = REST.0.saturating_mul(1 << (rest.failures - 1).min(10)).min(REST.1);
        rest.until = Some(Instant::now() + pause);
        // Once for each outage: the words go on without them.
        if rest.failures == 1 {
            tracing::warn!(%error, "embeddings_unavailable");
        }
    }
}

/// The beginning of a text that is sent.
fn trimmed(text: &str) -> &str {
    text.char_indices().nth(INPUT).map_or(text, |(end, _)| text.get(..end).unwrap_or(text))
}

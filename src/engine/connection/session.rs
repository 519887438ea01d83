//! One start of a connection: the link, its client and, for stdio, the child. Ends once, is taken down once.
//!
//! The supervisor opens a session, watches it and takes it down. Dropping one (a panic) fails its calls and kills its
//! child at once.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::asks::Asks;
use super::client::Client;
use super::failure::Trouble;
use super::lines::LineSink;
use super::message::LinkEnd;
use super::stdio::{Exit, Process};
use super::{ConnectionSpec, TransportSpec, http, wire};

/// A child's pipes and its exit do not end in one moment; the second one is waited for this long.
pub(super) const TOGETHER: Duration = Duration::from_millis(500);

/// A server that is told goodbye over HTTP gets this time.
const FAREWELL: Duration = Duration::from_secs(3);

/// An open connection.
pub(super) struct Session {
    /// Its client.
    pub client: Client,
    tasks: JoinSet<()>,
    close: CancellationToken,
    farewell: Option<JoinHandle<()>>,
    process: Option<Process>,
    sink: Arc<LineSink>,
}

/// What is known of a session that has been taken down.
#[derive(Default)]
pub(super) struct Remains {
    /// How the child ended, where it did so by itself.
    pub exit: Option<Exit>,
    /// The last lines of stderr.
    pub tail: Arc<[Arc<str>]>,
}

impl Session {
    /// Starts the child or prepares the endpoint. Has to be called on a worker of the runtime: the child is told
    /// when the thread that made it dies.
    pub fn open(spec: &ConnectionSpec, sink: &Arc<LineSink>) -> Result<Self, Trouble> {
        let (process, link) = match &spec.transport {
            TransportSpec::Stdio(stdio) => {
                let (process, link) = Process::spawn(stdio, &spec.name, sink).map_err(Trouble::Spawn)?;
                (Some(process), link)
            }
            TransportSpec::Http(http) => (None, http::open(http, &spec.name, sink)?),
            TransportSpec::Custom(connector) => {
                let (writer, reader) = connector.connect();
                (None, wire::spawn(wire::Writer::Stream(writer), reader, sink.clone()))
            }
        };
        let client = Client::new(link.outgoing, link.direct, link.carriage, Asks::of(spec));
        let mut tasks = link.tasks;
        tasks.spawn(client.clone().run(link.incoming));
        Ok(Self { client, tasks, close: link.close, farewell: link.farewell, process, sink: sink.clone() })
    }

    /// The child's process id.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().and_then(Process::id)
    }

    /// Waits until the link or the child ends; with the child's end, where it came. May be dropped and asked again.
    pub async fn ended(&mut self) -> (LinkEnd, Option<Exit>) {
        let Self { client, tasks, process, .. } = self;
        let exited = async {
            match process.as_mut() {
                Some(process) => process.exited().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            end = client.ended() => match (&end, process) {
                (LinkEnd::Closed | LinkEnd::Broken(_), Some(process)) => {
                    (end, timeout(TOGETHER, process.exited()).await.ok())
                }
                _ => (end, None),
            },
            // What the child wrote before its end is still in the pipe.
            exit = exited => (timeout(TOGETHER, client.ended()).await.unwrap_or(LinkEnd::Closed), Some(exit)),
            () = panicked(tasks) => (LinkEnd::Internal, None),
        }
    }

    /// Closes the link and takes the child down with everything it left. Requests that wait fail with `reason`.
    pub async fn take_down(mut self, reason: &Arc<str>) -> Remains {
        self.client.fail_pending(reason);
        self.close.cancel();
        let mut remains = Remains::default();
        if let Some(process) = self.process.take() {
            let tail = process.tail().clone();
            remains.exit = process.exit();
            process.take_down().await;
            remains.tail = tail.lines(&self.sink);
        }
        if let Some(farewell) = self.farewell.take() {
            let _ = timeout(FAREWELL, farewell).await;
        }
        let mut tasks = std::mem::take(&mut self.tasks);
        tasks.shutdown().await;
        remains
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.client.fail_pending(&"the connection was dropped".into());
        self.close.cancel();
    }
}

/// Waits until one of the tasks panics.
async fn panicked(tasks: &mut JoinSet<()>) {
    while let Some(ended) = tasks.join_next().await {
        if ended.is_err_and(|error| error.is_panic()) {
            return;
        }
    }
    std::future::pending::<()>().await;
}

//! The listener: accepted sockets, HTTP/1.1, and the way of one request through the checks to its endpoint.
//!
//! Everything is refused as early as it can be: foreign names and origins before the token, the token before the
//! body, the body's size before its content.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::metrics::Counted;
use super::party::Party;
use super::reply::{self, Reply};
use super::{Shared, admit, connector, mcp, workers};
use crate::native::Badge;

/// Longest body that is read, in bytes.
const LONGEST_BODY: usize = 4 << 20;
/// Most connections at once; further ones wait to be accepted.
const CONNECTIONS: usize = 1024;
/// How long a request's head may take, and again its body.
const PATIENCE: Duration = Duration::from_secs(30);
/// A body that took longer than this is looked at with its token once more.
const SLOW: Duration = Duration::from_millis(100);
/// How long open answers may take to end once the program is ending.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What is said to a foreign Host or Origin.
const FOREIGN: &str =
    "this Host or Origin is not taken; use the address that the dashboard shows, and no browser page\n";

/// Accepts until the program ends.
pub(super) async fn serve(shared: Arc<Shared>, listener: TcpListener) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = shared.shutdown.cancelled() => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            accepted = accept(&listener, &places) => accepted,
        };
        let Some((socket, place)) = accepted else { continue };
        let shared = shared.clone();
        connections.spawn(async move {
            connection(shared, socket).await;
            drop(place);
        });
    }
    let ended = async { while connections.join_next().await.is_some() {} };
    // What is still open then is closed by force.
    let _ = tokio::time::timeout(LAST_WORDS, ended).await;
}

async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((socket, _)) => {
            prepare(&socket);
            Some((socket, place))
        }
        Err(error) => {
            tracing::warn!(%error, "accept_failed");
            // Out of file descriptors, most likely: trying again at once would only burn.
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}

/// Small answers leave at once: without this each streamed reply waits for the client's acknowledgement.
pub(super) fn prepare(socket: &TcpStream) {
    if let Err(error) = socket.set_nodelay(true) {
        tracing::warn!(%error, "no_delay_not_set");
    }
}

async fn connection(shared: Arc<Shared>, socket: TcpStream) {
    let shutdown = shared.shutdown.clone();
    let service = service_fn(move |request| {
        let shared = shared.clone();
        async move { Ok::<Reply, Infallible>(answer(shared, request).await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_headers(64);
    let connection = builder.serve_connection(TokioIo::new(socket), service);
    tokio::pin!(connection);
    // A connection that breaks has nobody to tell; what it waited for is withdrawn as its future is dropped.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Reply {
    shared.metrics.requests.fetch_add(1, Ordering::Relaxed);
    let (head, body) = request.into_parts();
    let ours = admit::host_is_ours(&head.headers, head.uri.authority(), shared.listening)
        && admit::origin_is_ours(&head.headers, shared.listening);
    if !ours {
        shared.metrics.forbidden.fetch_add(1, Ordering::Relaxed);
        shared.turned_away("a foreign Host or Origin");
        return reply::text(StatusCode::FORBIDDEN, FOREIGN);
    }
    let path = head.uri.path();
    if path == "/healthz" && head.method == Method::GET {
        return reply::text(StatusCode::OK, "ok\n");
    }
    workers::tokens_changed(&shared);
    let token = admit::bearer(&head.headers);
    let Some(route) = Route::of(&shared, path, token) else {
        if let (Some(connector), Some(tool)) = (&shared.connector, path.strip_prefix("/tools/")) {
            connector.turned_away(tool).await;
        }
        shared.metrics.unauthorised.fetch_add(1, Ordering::Relaxed);
        shared.turned_away("a missing or wrong token");
        return unauthorised();
    };
    match (route, &head.method) {
        (Route::Mcp(party), method) => {
            if *method == Method::POST && !admit::is_json(&head.headers) {
                return reply::text(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send application/json\n");
            }
            let began = Instant::now();
            let body = match read(body).await {
                Ok(body) => body,
                Err(reply) => return reply,
            };
            if began.elapsed() > SLOW {
                // The token may have been replaced meanwhile.
                workers::tokens_changed(&shared);
                if !matches!(Route::of(&shared, path, token), Some(Route::Mcp(_))) {
                    return unauthorised();
                }
            }
            let call = mcp::Call { shared: &shared, party: &party, method, headers: &head.headers, body: &body };
            mcp::answer(call).await
        }
        (Route::Tools(parties), &Method::GET) => reply::json(StatusCode::OK, shared.shelf.introspect(&parties)),
        (Route::Tool(badge, tool), &Method::POST) => {
            if !admit::is_json(&head.headers) {
                return reply::text(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send application/json\n");
            }
            match read(body).await {
                Ok(body) => Box::pin(connector::plain(&shared, &badge, &tool, &body)).await,
                Err(reply) => reply,
            }
        }
        (Route::Tool(..), _) => reply::text(StatusCode::METHOD_NOT_ALLOWED, "POST\n"),
        (Route::Metrics, &Method::GET) => reply::text(StatusCode::OK, figures(&shared)),
        (Route::Tools(_) | Route::Metrics, _) => reply::text(StatusCode::METHOD_NOT_ALLOWED, "GET\n"),
        (Route::Nothing, _) => reply::empty(StatusCode::NOT_FOUND),
    }
}

fn figures(shared: &Shared) -> String {
    let counted = Counted {
        sessions: shared.sessions.count(),
        parked: shared.parked.count(),
        tasks: shared.tasks.count(),
        workers: shared.handle.workers().count(),
        turns_lost: shared.sessions.turns.ends().lost(),
    };
    shared.metrics.render(&shared.handle.snapshot(), counted)
}

/// Where an authorised request goes.
enum Route {
    /// An MCP endpoint.
    Mcp(Party),
    /// What these are offered, together.
    Tools(Vec<Party>),
    /// A plain call of the connector.
    Tool(Arc<Badge>, String),
    Metrics,
    Nothing,
}

impl Route {
    /// `None` when the token does not open the path. Paths of seats that do not exist look like any wrong token.
    fn of(shared: &Shared, path: &str, token: Option<&str>) -> Option<Self> {
        let handle = path.strip_prefix("/seats/").and_then(|rest| rest.strip_suffix("/mcp"));
        if let Some(handle) = handle {
            let fits = shared.tokens.fits(handle, token);
            let seat = shared.seats.seat(handle)?;
            return fits.then(|| Self::Mcp(Party::seat(&seat)));
        }
        if let Some(worker) = path.strip_prefix("/workers/").and_then(|rest| rest.strip_suffix("/mcp")) {
            let worker = workers::admit(shared, worker, token)?;
            return Some(Self::Mcp(Party::worker(&worker)));
        }
        if let Some(badge) = shared.badges.holder(token) {
            return Self::of_operator(shared, path, badge);
        }
        let seat = shared.tokens.seat_of(token)?;
        let seat = shared.seats.seat(seat.as_str())?;
        match path {
            // A seat's token opens nothing of the operators'.
            "/operator/mcp" | "/connector/mcp" => None,
            path if path.starts_with("/tools/") => None,
            "/tools" => Some(Self::Tools(vec![Party::seat(&seat)])),
            "/metrics" => Some(Self::Metrics),
            _ => Some(Self::Nothing),
        }
    }

    /// With the company's own surfaces closed, their paths do not exist.
    fn of_operator(shared: &Shared, path: &str, badge: &Arc<Badge>) -> Option<Self> {
        let connector = || Party::connector(badge);
        // A token with scopes is for the connector only.
        let company = shared.company.as_ref();
        let operator = company.filter(|_| badge.scopes.is_empty()).map(|company| Party::operator(badge, company));
        Some(match (path, company) {
            ("/metrics", _) => Self::Metrics,
            (_, None) => Self::Nothing,
            ("/operator/mcp", Some(_)) => Self::Mcp(operator?),
            ("/connector/mcp", Some(_)) => Self::Mcp(connector()),
            ("/tools", Some(_)) => Self::Tools(operator.into_iter().chain([connector()]).collect()),
            (path, Some(_)) => match path.strip_prefix("/tools/") {
                Some(tool) => Self::Tool(badge.clone(), tool.to_owned()),
                None => Self::Nothing,
            },
        })
    }
}

/// Without a word on why.
fn unauthorised() -> Reply {
    let mut reply = reply::empty(StatusCode::UNAUTHORIZED);
    reply.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    reply
}

async fn read(body: Incoming) -> Result<Bytes, Reply> {
    match tokio::time::timeout(PATIENCE, Limited::new(body, LONGEST_BODY).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            Err(reply::text(StatusCode::PAYLOAD_TOO_LARGE, "the body is longer than 4 MiB\n"))
        }
        Ok(Err(_)) => Err(reply::empty(StatusCode::BAD_REQUEST)),
        Err(_) => Err(reply::empty(StatusCode::REQUEST_TIMEOUT)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn accepted_sockets_send_small_answers_at_once() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (socket, _place) = accept(&listener, &Arc::new(Semaphore::new(1))).await.unwrap();
        assert!(socket.nodelay().unwrap());
        drop(client);
    }
}

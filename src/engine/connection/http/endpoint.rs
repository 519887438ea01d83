//! The endpoint: URL, client, configured headers, and the session that the server gave us.
//!
//! [`super::job`] and [`super::stream`] send through it. Secrets in the URL and the headers stay in here.

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use http::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use serde_json::Value;
use tokio::time::timeout;

use super::headers;
use crate::engine::connection::HttpSpec;
use crate::engine::connection::lines::LineSink;
use crate::ids::ConnectionName;

const CONNECT_TIME: Duration = Duration::from_secs(5);
const FAREWELL_TIME: Duration = Duration::from_secs(2);

/// What goes wrong with one request.
pub(super) type PostError = StreamableHttpError<reqwest::Error>;

/// One endpoint and our session with it.
pub(super) struct Endpoint {
    url: Arc<str>,
    client: reqwest::Client,
    configured: HashMap<HeaderName, HeaderValue>,
    session: Mutex<HttpSession>,
    /// The connection, for logs.
    pub name: ConnectionName,
    /// The URL as it may be shown.
    pub display: Arc<str>,
    /// Cleans what is shown.
    pub sink: Arc<LineSink>,
}

#[derive(Clone, Default)]
struct HttpSession {
    legacy: bool,
    id: Option<Arc<str>>,
    revision: Option<HeaderValue>,
}

impl Endpoint {
    /// Checks the configuration and makes a client.
    ///
    /// # Errors
    /// A text that names what cannot be used, without its value.
    pub fn new(spec: &HttpSpec, name: &ConnectionName, sink: Arc<LineSink>) -> Result<Self, String> {
        let url = reqwest::Url::parse(spec.url.expose()).map_err(|error| format!("its url is not usable: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("its url begins with \"{}:\", not with http: or https:", url.scheme()));
        }
        let mut configured = HashMap::new();
        for (name, value) in &spec.headers {
            let parsed = HeaderName::from_bytes(name.as_bytes());
            let name = parsed.map_err(|_| format!("\"{name}\" is no name of an HTTP header"))?;
            if headers::is_ours(&name) {
                return Err(format!("the header {name} is set by this program and cannot be configured"));
            }
            let mut value = HeaderValue::from_str(value.expose())
                .map_err(|_| format!("the value of its header {name} holds characters that cannot be sent"))?;
            value.set_sensitive(true);
            configured.insert(name, value);
        }
        let client = client(&url).map_err(|error| format!("no HTTP client: {}", root_cause(&error)))?;
        Ok(Self {
            url: spec.url.expose().into(),
            client,
            configured,
            session: Mutex::default(),
            name: name.clone(),
            display: spec.display.clone(),
            sink,
        })
    }

    /// Sends one message.
    pub async fn post(
        &self,
        message: ClientJsonRpcMessage,
        value: &Value,
    ) -> Result<StreamableHttpPostResponse, PostError> {
        let session = self.session();
        let mut all = self.configured.clone();
        all.extend(headers::of_message(value, session.revision));
        let mut limits = StreamableHttpResponseLimits::default();
        limits.max_error_response_size = 8 << 10;
        let id = session.id;
        self.client.post_message_with_response_limits(self.url.clone(), message, id, None, all, limits).await
    }

    /// Opens the stream of the server's own messages. `None` without a session to open it for.
    pub async fn listen(
        &self,
        last_event: Option<String>,
    ) -> Option<Result<impl Stream<Item = Event> + Send + Unpin + use<>, PostError>> {
        let session = self.session();
        let id = session.id?;
        let mut all = self.configured.clone();
        all.extend(session.revision.map(|revision| (headers::VERSION, revision)));
        let stream = self.client.get_stream(self.url.clone(), Some(id), last_event, None, all).await;
        Some(stream.map(|events| {
            let good =
                events.take_while(|event| std::future::ready(event.is_ok())).filter_map(|event| async { event.ok() });
            Box::pin(good.map(|event| Event { data: event.data.unwrap_or_default(), id: event.id }))
        }))
    }

    /// Notes what the answer to `initialize` says: the session, and the revision for the header.
    pub fn begin_session(&self, id: Option<String>, revision: Option<&str>) {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        session.legacy = true;
        session.id = id.map(Arc::from);
        session.revision = revision.and_then(|revision| HeaderValue::from_str(revision).ok());
    }

    /// True once `initialize` was answered.
    pub fn is_legacy(&self) -> bool {
        self.session().legacy
    }

    /// True while our requests carry a session.
    pub fn has_session(&self) -> bool {
        self.session().id.is_some()
    }

    /// Tells the server that the session is over, where there is one. A server may not care.
    pub async fn leave(&self) {
        let session = self.session();
        let Some(id) = session.id else { return };
        let mut all = self.configured.clone();
        all.extend(session.revision.map(|revision| (headers::VERSION, revision)));
        let _ = timeout(FAREWELL_TIME, self.client.delete_session(self.url.clone(), id, None, all)).await;
    }

    fn session(&self) -> HttpSession {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// One event of the server's own stream.
pub(super) struct Event {
    /// A message, or nothing.
    pub data: String,
    /// Where to go on from, should the stream break.
    pub id: Option<String>,
}

fn client(url: &reqwest::Url) -> reqwest::Result<reqwest::Client> {
    static PROVIDER: Once = Once::new();
    // The HTTP client panics without one. Somebody else may have installed theirs first, which is as good.
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    let mut builder = reqwest::Client::builder()
        .connect_timeout(CONNECT_TIME)
        // A redirect would carry credentials to wherever the server points.
        .redirect(reqwest::redirect::Policy::none())
        // Reused connections to some servers stall for 40 ms per request.
        .pool_max_idle_per_host(0)
        .tcp_nodelay(true);
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    builder.build()
}

fn is_loopback(url: &reqwest::Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The innermost reason of an error. The outer ones hold the URL, which may hold a secret.
pub(super) fn root_cause(error: &reqwest::Error) -> String {
    let mut cause = error.source();
    while let Some(source) = cause.and_then(Error::source) {
        cause = Some(source);
    }
    cause.map_or_else(|| "no further reason".to_owned(), ToString::to_string)
}

/// An error for logs.
pub(super) fn describe(error: &PostError) -> String {
    match error {
        PostError::Client(error) => root_cause(error),
        other => other.to_string(),
    }
}

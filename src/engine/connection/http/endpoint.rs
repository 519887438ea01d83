//! The endpoint: URL, client, configured headers, and the session that the server gave us.
//!
//! [`super::job`], [`super::stream`] and [`super::classic`] send through it. Secrets in the URL and the headers stay in
//! here. The client is our own and not the protocol crate's: that one reads answers into its types and writes them out
//! again, which changes numbers and loses what it does not know.

use std::error::Error;
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Response, Url};
use tokio::time::timeout;

use super::headers;
use crate::engine::connection::HttpSpec;
use crate::engine::connection::lines::LineSink;
use crate::ids::ConnectionName;

const CONNECT_TIME: Duration = Duration::from_secs(5);
const FAREWELL_TIME: Duration = Duration::from_secs(2);

/// One endpoint and our session with it.
pub(super) struct Endpoint {
    url: Url,
    client: reqwest::Client,
    configured: HeaderMap,
    session: Mutex<HttpSession>,
    /// The connection, for logs.
    pub name: ConnectionName,
    /// The URL as it may be shown.
    pub display: Arc<str>,
    /// Cleans what is shown.
    pub sink: Arc<LineSink>,
}

/// What requests carry, as far as the server gave it to us.
#[derive(Clone, Default, Debug)]
pub(super) struct HttpSession {
    /// `initialize` was answered.
    pub legacy: bool,
    /// The session's name.
    pub id: Option<HeaderValue>,
    /// The revision for the header.
    pub revision: Option<HeaderValue>,
    /// Where to post in the 2024-11-05 transport, which has two addresses.
    pub classic: Option<Url>,
}

impl Endpoint {
    /// Checks the configuration and makes a client.
    ///
    /// # Errors
    /// A text that names what cannot be used, without its value.
    pub fn new(spec: &HttpSpec, name: &ConnectionName, sink: Arc<LineSink>) -> Result<Self, String> {
        let url = Url::parse(spec.url.expose()).map_err(|error| format!("its url is not usable: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("its url begins with \"{}:\", not with http: or https:", url.scheme()));
        }
        let mut configured = HeaderMap::new();
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
        let client = client(&url)?;
        let session = Mutex::default();
        Ok(Self { url, client, configured, session, name: name.clone(), display: spec.display.clone(), sink })
    }

    /// Posts one message with headers that follow from it.
    pub async fn post(
        &self,
        text: String,
        more: Vec<(HeaderName, HeaderValue)>,
        session: &HttpSession,
    ) -> reqwest::Result<Response> {
        let mut all = self.headers(session, "application/json, text/event-stream");
        all.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in more {
            all.insert(name, value);
        }
        let url = session.classic.as_ref().unwrap_or(&self.url);
        self.client.post(url.clone()).headers(all).body(text).send().await
    }

    /// Opens a stream of the server's: its own messages, or, after `last_event`, the rest of a broken one.
    pub async fn listen(&self, last_event: Option<&str>, session: &HttpSession) -> reqwest::Result<Response> {
        let mut all = self.headers(session, "text/event-stream");
        all.extend(session.revision.clone().map(|revision| (headers::VERSION, revision)));
        let last_event = last_event.and_then(|id| HeaderValue::from_bytes(id.as_bytes()).ok());
        all.extend(last_event.map(|id| (headers::LAST_EVENT, id)));
        self.client.get(self.url.clone()).headers(all).send().await
    }

    /// Notes what the answer to `initialize` says: the session, and the revision for the header.
    pub fn begin_session(&self, id: Option<HeaderValue>, revision: Option<&str>) {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        session.legacy = true;
        session.id = id;
        session.revision = revision.and_then(|revision| HeaderValue::from_str(revision).ok());
    }

    /// From here on messages are posted to `url`.
    pub fn begin_classic(&self, url: Url) {
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) =
            HttpSession { legacy: true, classic: Some(url), ..HttpSession::default() };
    }

    /// What requests carry now.
    pub fn session(&self) -> HttpSession {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What a request that makes a session carries: nothing of an earlier one.
    pub fn no_session() -> HttpSession {
        HttpSession::default()
    }

    /// Tells the server that the session is over, where there is one. A server may not care.
    pub async fn leave(&self) {
        let session = self.session();
        if session.id.is_none() {
            return;
        }
        let mut all = self.headers(&session, "application/json, text/event-stream");
        all.extend(session.revision.map(|revision| (headers::VERSION, revision)));
        let _ = timeout(FAREWELL_TIME, self.client.delete(self.url.clone()).headers(all).send()).await;
    }

    /// `address`, as an answer from this endpoint gives it, where it has the endpoint's origin.
    ///
    /// # Errors
    /// The origin it has instead, without credentials, path and query.
    pub fn same_origin(&self, address: &str) -> Result<Url, String> {
        let url = self.url.join(address.trim()).map_err(|_| "an address that cannot be read".to_owned())?;
        if url.origin() == self.url.origin() { Ok(url) } else { Err(url.origin().ascii_serialization()) }
    }

    /// The origin that a redirect leads to, for people.
    pub fn redirect_target(&self, answer: &Response) -> String {
        let location = answer.headers().get(LOCATION).and_then(|location| location.to_str().ok());
        match location.map(|location| self.same_origin(location)) {
            Some(Ok(url)) => format!("{}{}", url.origin().ascii_serialization(), url.path()),
            Some(Err(origin)) => origin,
            None => "nowhere that it names".to_owned(),
        }
    }

    fn headers(&self, session: &HttpSession, accept: &'static str) -> HeaderMap {
        let mut all = self.configured.clone();
        all.insert(ACCEPT, HeaderValue::from_static(accept));
        all.extend(session.id.clone().map(|id| (headers::SESSION, id)));
        all
    }
}

/// A client for requests to this address: no redirects, nothing sent twice, no proxy to ourselves.
///
/// # Errors
/// What is missing for one, without the address.
pub(crate) fn client(url: &Url) -> Result<reqwest::Client, String> {
    static PROVIDER: Once = Once::new();
    // The HTTP client panics without one. Somebody else may have installed theirs first, which is as good.
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    let mut builder = reqwest::Client::builder()
        .connect_timeout(CONNECT_TIME)
        // A redirect would carry credentials to wherever the server points.
        .redirect(reqwest::redirect::Policy::none())
        // Reused connections to some servers stall for 40 ms per request.
        .pool_max_idle_per_host(0)
        // A request that fails is judged by us; nothing may send it a second time.
        .retry(reqwest::retry::never())
        .referer(false)
        .tcp_nodelay(true);
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| format!("no HTTP client: {}", root_cause(&error)))
}

fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The innermost reason of an error. The outer ones hold the URL, which may hold a secret.
pub(crate) fn root_cause(error: &reqwest::Error) -> String {
    let mut cause = error.source();
    while let Some(source) = cause.and_then(Error::source) {
        cause = Some(source);
    }
    cause.map_or_else(|| "no further reason".to_owned(), ToString::to_string)
}

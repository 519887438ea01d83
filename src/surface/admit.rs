//! Who may talk to the listener at all: pure checks of one request's head, before its body is read.
//!
//! A web page can make a browser send requests to a loopback address, so names and origins are checked on every
//! path before anything else. Tokens are looked up in [`super::tokens`].

use std::net::{IpAddr, SocketAddr};

use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::http::uri::Authority;

/// The one value of a header; `None` when it is missing, stands twice or is not plain text.
pub(super) fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(first)
}

/// Whether the request names us: one `Host` with a loopback name (or the address we were told to listen on), and no
/// other authority in the request line.
pub(super) fn host_is_ours(headers: &HeaderMap, target: Option<&Authority>, listening: SocketAddr) -> bool {
    let named = single(headers, &HOST).and_then(|host| host.parse::<Authority>().ok());
    let fits = |authority: &Authority| !authority.as_str().contains('@') && is_us(authority.host(), listening);
    named.as_ref().is_some_and(fits) && target.is_none_or(fits)
}

fn is_us(host: &str, listening: SocketAddr) -> bool {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    if bare.eq_ignore_ascii_case("localhost") {
        return true;
    }
    let Ok(address) = bare.parse::<IpAddr>() else { return false };
    match listening.ip() {
        // Only exactly these: 127.1 or ::ffff:127.0.0.1 are no names that we give out.
        ip if ip.is_loopback() => address == ip || bare == "127.0.0.1" || bare == "::1",
        // Bound to every address: a rebound name is no literal address, so any literal will do.
        ip if ip.is_unspecified() => !address.is_unspecified(),
        ip => address == ip || bare == "127.0.0.1" || bare == "::1",
    }
}

/// Whether the request comes from no web page at all or from our own address.
pub(super) fn origin_is_ours(headers: &HeaderMap, listening: SocketAddr) -> bool {
    if !headers.contains_key(ORIGIN) {
        return true;
    }
    let Some(rest) = single(headers, &ORIGIN).and_then(|origin| origin.strip_prefix("http://")) else { return false };
    let Ok(authority) = rest.parse::<Authority>() else { return false };
    let port = authority.port_u16().unwrap_or(80);
    authority.as_str() == rest && !rest.contains('@') && port == listening.port() && is_us(authority.host(), listening)
}

/// The bearer token, where there is exactly one that is not empty.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = single(headers, &AUTHORIZATION)?.split_once(' ')?;
    let token = token.trim_matches(' ');
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Whether the body is declared as JSON.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let essence = single(headers, &CONTENT_TYPE).map(|value| value.split(';').next().unwrap_or_default());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

/// What kinds of answers the caller takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Takes {
    /// One JSON object.
    Json,
    /// A stream of events.
    Events,
    /// Either.
    Both,
    /// Neither.
    Nothing,
}

/// What the caller's `Accept` headers say; without any it takes JSON.
pub(super) fn takes(headers: &HeaderMap) -> Takes {
    let mut seen = false;
    let (mut json, mut events) = (false, false);
    for value in headers.get_all(ACCEPT) {
        seen = true;
        for range in value.to_str().unwrap_or_default().split(',') {
            let mut parts = range.split(';').map(str::trim);
            let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
            let refused = parts.any(|part| {
                let weight = part.strip_prefix("q=").or_else(|| part.strip_prefix("Q="));
                weight.and_then(|weight| weight.parse::<f32>().ok()) == Some(0.0)
            });
            json |= !refused && matches!(essence.as_str(), "application/json" | "application/*" | "*/*");
            events |= !refused && matches!(essence.as_str(), "text/event-stream" | "text/*" | "*/*");
        }
    }
    match (json || !seen, events) {
        (true, true) => Takes::Both,
        (true, false) => Takes::Json,
        (false, true) => Takes::Events,
        (false, false) => Takes::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn headers(lines: &[(HeaderName, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(name.clone(), HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    fn loopback() -> SocketAddr {
        ([127, 0, 0, 1], 7420).into()
    }

    #[test]
    fn hosts() {
        let table: [(&[&str], bool); 15] = [
            (&["localhost:7420"], true),
            (&["LOCALHOST:7420"], true),
            (&["127.0.0.1:7420"], true),
            (&["[::1]:7420"], true),
            (&["localhost"], true),
            (&["evil.test"], false),
            (&["localhost.evil.test"], false),
            (&["127.0.0.1.nip.io"], false),
            (&["0.0.0.0:7420"], false),
            (&["127.1:7420"], false),
            (&["user@localhost:7420"], false),
            (&[""], false),
            (&[], false),
            (&["localhost", "localhost"], false),
            (&["localhost", "evil.test"], false),
        ];
        for (hosts, expected) in table {
            let lines: Vec<_> = hosts.iter().map(|host| (HOST, *host)).collect();
            assert_eq!(host_is_ours(&headers(&lines), None, loopback()), expected, "{hosts:?}");
        }
        let foreign: Authority = "evil.test".parse().unwrap();
        assert!(!host_is_ours(&headers(&[(HOST, "localhost")]), Some(&foreign), loopback()));
        let open = SocketAddr::from(([0, 0, 0, 0], 7420));
        assert!(host_is_ours(&headers(&[(HOST, "192.0.2.7:7420")]), None, open));
        assert!(!host_is_ours(&headers(&[(HOST, "evil.test:7420")]), None, open));
    }

    #[test]
    fn origins() {
        let table: [(&[&str], bool); 12] = [
            (&[], true),
            (&["http://localhost:7420"], true),
            (&["http://127.0.0.1:7420"], true),
            (&["http://[::1]:7420"], true),
            (&["http://localhost:6274"], false),
            (&["http://localhost"], false),
            (&["https://localhost:7420"], false),
            (&["https://evil.test"], false),
            (&["null"], false),
            (&["http://localhost.evil.test:7420"], false),
            (&[""], false),
            (&["http://localhost:7420", "http://localhost:7420"], false),
        ];
        for (origins, expected) in table {
            let lines: Vec<_> = origins.iter().map(|origin| (ORIGIN, *origin)).collect();
            assert_eq!(origin_is_ours(&headers(&lines), loopback()), expected, "{origins:?}");
        }
    }

    #[test]
    fn bearers() {
        let table: [(&[&str], Option<&str>); 8] = [
            (&["Bearer abc"], Some("abc")),
            (&["bearer  abc "], Some("abc")),
            (&["Bearer "], None),
            (&["Bearer"], None),
            (&["Basic abc"], None),
            (&["abc"], None),
            (&[], None),
            (&["Bearer abc", "Bearer abc"], None),
        ];
        for (values, expected) in table {
            let lines: Vec<_> = values.iter().map(|value| (AUTHORIZATION, *value)).collect();
            assert_eq!(bearer(&headers(&lines)), expected, "{values:?}");
        }
    }

    #[test]
    fn kinds_of_bodies_and_answers() {
        for (value, expected) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("text/plain", false),
            ("application/jsonx", false),
        ] {
            assert_eq!(is_json(&headers(&[(CONTENT_TYPE, value)])), expected, "{value}");
        }
        for (value, expected) in [
            ("application/json, text/event-stream", Takes::Both),
            ("*/*", Takes::Both),
            ("application/json", Takes::Json),
            ("text/event-stream", Takes::Events),
            ("application/json, text/event-stream;q=0", Takes::Json),
            ("image/png", Takes::Nothing),
        ] {
            assert_eq!(takes(&headers(&[(ACCEPT, value)])), expected, "{value}");
        }
        assert_eq!(takes(&HeaderMap::new()), Takes::Json);
    }
}

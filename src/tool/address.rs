//! The addresses under which agents read resources of servers: `crewlet://{server}/{percent-encoded original URI}`.
//!
//! The original is encoded whole, so that it comes back byte for byte, whatever a server calls its resources, and no
//! server can name what is another's: a `crewlet:` URI of a server is encoded like any other. A template cannot be
//! encoded, because its client fills it in by rules of its own; it is exposed as `crewlet://{server}/~{template as it
//! is}`, and what comes back after the `~` is taken as it is. Pure; the engine and the surfaces use it.

use std::fmt::Write as _;

const SCHEME: &str = "crewlet://";
/// Stands before an original that is not encoded.
const VERBATIM: char = '~';
/// The longest original URI that is listed or read, in bytes: it may have to stand in a header.
pub const MAX_URI: usize = 8 << 10;

/// A server's resource.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address<'a> {
    /// The server's name as it was written.
    pub server: &'a str,
    /// What the server calls it.
    pub uri: String,
}

impl<'a> Address<'a> {
    /// Reads an address that was exposed. `None` when it is none, or longer than it may be.
    pub fn parse(text: &'a str) -> Option<Self> {
        let scheme = text.get(..SCHEME.len())?;
        let rest = text.get(SCHEME.len()..).filter(|_| scheme.eq_ignore_ascii_case(SCHEME))?;
        let (server, path) = rest.split_once('/')?;
        let uri = match path.strip_prefix(VERBATIM) {
            Some(verbatim) => verbatim.to_owned(),
            None => decoded(path)?,
        };
        let fits = !server.is_empty() && !uri.is_empty() && uri.len() <= MAX_URI;
        fits.then_some(Self { server, uri })
    }
}

/// The address of a server's resource.
pub fn expose(server: &str, uri: &str) -> String {
    let mut out = format!("{SCHEME}{server}/");
    for byte in uri.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
            out.push(char::from(byte));
        } else {
            // Writing into a `String` cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// The address of a server's URI template. `None` when it holds what no URI holds as it is.
pub fn expose_template(server: &str, template: &str) -> Option<String> {
    let odd = |c: char| c.is_whitespace() || c.is_control() || crate::text::is_hidden(c);
    (!template.contains(odd)).then(|| format!("{SCHEME}{server}/{VERBATIM}{template}"))
}

/// Undoes the encoding once. `None` for what was not encoded whole and well.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_uri_comes_back_byte_for_byte() {
        for uri in [
            "file:///a b/ü.txt?x=1&y=%2F#z",
            "test://static/resource/1",
            "~odd",
            "crewlet://other/file%3A%2F%2Fa",
            "line\nbreak\u{0}\u{202e}",
            "a%zz%",
            "/",
        ] {
            let exposed = expose("Srv.1", uri);
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_.%:/".contains(c);
            assert!(exposed.chars().all(plain), "{exposed}");
            assert_eq!(Address::parse(&exposed), Some(Address { server: "Srv.1", uri: uri.to_owned() }));
        }
        assert_eq!(expose("notes", "file:///a"), "crewlet://notes/file%3A%2F%2F%2Fa");
    }

    #[test]
    fn a_filled_in_template_is_what_the_server_s_own_would_be() {
        let exposed = expose_template("notes", "note://{owner}/{+path}{?rev}").unwrap();
        assert_eq!(exposed, "crewlet://notes/~note://{owner}/{+path}{?rev}");
        let filled = "crewlet://notes/~note://a%2Fb%20c/x/y?rev=1";
        assert_eq!(Address::parse(filled).unwrap().uri, "note://a%2Fb%20c/x/y?rev=1");
        assert_eq!(expose_template("notes", "note://{a}\u{202e}"), None);
        assert_eq!(expose_template("notes", "note://{a} b"), None);
    }

    #[test]
    fn what_is_no_address_is_none() {
        let long = format!("crewlet://notes/{}", "a".repeat(MAX_URI + 1));
        for text in [
            "",
            "file:///a",
            "crewlet:/notes/a",
            "crewlet://notes",
            "crewlet://notes/",
            "crewlet://notes/~",
            "crewlet:///a",
            "crewlet://notes/a%2",
            "crewlet://notes/a%+1",
            "crewlet://notes/%ff",
            "crewlét://notes/a",
            &long,
        ] {
            assert_eq!(Address::parse(text), None, "{text}");
        }
        assert_eq!(Address::parse("CREWLET://notes/a").unwrap().uri, "a");
    }
}

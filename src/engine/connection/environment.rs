//! What a child sees of our environment: a short fixed list, what the configuration names, and nothing else.
//!
//! [`super::stdio`] calls it for each spawn. Pure: the caller brings our environment.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use super::StdioSpec;

/// Handed on when set: search path, locale, terminal, certificates, home and folders.
const PLAIN: [&str; 22] = [
    "PATH",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_NUMERIC",
    "TERM",
    "TZ",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "HOME",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
];
/// Handed on when set and without user info, in either case of letters.
const PROXIES: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];

/// The variables of a child, ours filtered and the declared ones last; each name once.
pub(super) fn of_child(
    ours: impl IntoIterator<Item = (OsString, OsString)>,
    spec: &StdioSpec,
) -> Vec<(OsString, OsString)> {
    let declared = |name: &OsStr| spec.env.iter().any(|(declared, _)| OsStr::new(&**declared) == name);
    let mut variables: Vec<_> = ours
        .into_iter()
        .filter(|(name, value)| !declared(name) && may_inherit(name, value, &spec.inherit_env))
        .collect();
    variables.extend(spec.env.iter().map(|(name, value)| (OsString::from(&**name), OsString::from(value.expose()))));
    variables
}

fn may_inherit(name: &OsStr, value: &OsStr, also: &[Arc<str>]) -> bool {
    let Some(name) = name.to_str() else { return false };
    if also.iter().any(|wanted| **wanted == *name) || PLAIN.contains(&name) {
        return true;
    }
    PROXIES.iter().any(|proxy| *proxy == name || proxy.to_ascii_lowercase() == name) && !has_user_info(value)
}

/// Whether a proxy setting holds a user name or password. What cannot be read is taken to hold one.
fn has_user_info(value: &OsStr) -> bool {
    value.to_str().is_none_or(|value| value.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::Secret;

    #[test]
    fn a_child_sees_the_list_and_what_it_declares() {
        let ours = [
            ("PATH", "/bin"),
            ("HOME", "/h"),
            ("K1", "ours"),
            ("K2", "b"),
            ("AWS_SECRET_ACCESS_KEY", "c"),
            ("HTTPS_PROXY", "http://u:p@h"),
            ("http_proxy", "http://h:1"),
            ("Http_Proxy", "http://h:1"),
            ("SSL_CERT_FILE", "/c"),
            ("EXTRA", "x"),
        ];
        let spec = StdioSpec {
            command: "x".into(),
            args: Vec::new(),
            display: "x".into(),
            env: vec![("K1".into(), Secret::new("theirs")), ("HOME".into(), Secret::new("/elsewhere"))],
            cwd: None,
            inherit_env: vec!["EXTRA".into()],
        };
        let child = of_child(ours.map(|(name, value)| (name.into(), value.into())), &spec);
        let mut child: Vec<_> =
            child.iter().map(|(n, v)| format!("{}={}", n.to_str().unwrap(), v.to_str().unwrap())).collect();
        child.sort();
        assert_eq!(
            child,
            ["EXTRA=x", "HOME=/elsewhere", "K1=theirs", "PATH=/bin", "SSL_CERT_FILE=/c", "http_proxy=http://h:1"]
        );
    }
}

//! The redactor: each shape, each spelling of a known value, overlaps, and that a second time changes nothing.

use std::time::Instant;

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// `n` characters that look like a token.
fn random(n: usize) -> String {
    "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0z".chars().cycle().take(n).collect()
}

fn knowing(values: &[&str]) -> Redactor {
    let redactor = Redactor::default();
    redactor.learn(values.iter().map(|value| Secret::new(*value)));
    redactor
}

#[test]
fn shapes_are_replaced_by_their_kind() {
    let cases = [
        ("api-key", format!("sk-{}", random(20))),
        ("api-key", format!("sk-proj-{}", random(60))),
        ("api-key", format!("sk-ant-api03-{}", random(60))),
        ("slack-token", format!("xoxb-{}", random(20))),
        ("slack-token", format!("xoxp-{}", random(24))),
        ("slack-token", format!("xoxe-{}", random(24))),
        ("aws-key", format!("AKIA{}", random(16).to_ascii_uppercase())),
        ("github-token", format!("ghp_{}", random(36))),
        ("github-token", format!("ghs_{}", random(40))),
        ("github-token", format!("github_pat_{}", random(60))),
        ("gitlab-token", format!("glpat-{}", random(20))),
        ("gitlab-token", format!("glrt-{}", random(20))),
        ("plane-token", format!("plane_api_{}", random(32))),
        ("plane-webhook-secret", format!("plane_wh_{}", random(32))),
        ("crewlet-token", super::fresh_token().unwrap().expose().to_owned()),
        ("private-key", format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", random(64))),
        ("private-key", "-----BEGIN RSA PRIVATE KEY-----\\nabc\\n-----END RSA PRIVATE KEY-----".to_owned()),
        ("private-key", format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n{}", random(70), random(40))),
        ("password", "password=hunter2".to_owned()),
        ("password", "PassWord : x".to_owned()),
        ("password", "passwd=\"two words\"".to_owned()),
        ("password", "pwd:'it'tail".to_owned()),
    ];
    let redactor = Redactor::default();
    for (kind, secret) in cases {
        let text = format!("before {secret} after");
        assert_eq!(redactor.redact(&text), format!("before [REDACTED:{kind}] after"), "{text}");
        assert_eq!(redactor.redact(&secret), format!("[REDACTED:{kind}]"), "alone: {secret}");
    }
}

#[test]
fn a_password_in_json_takes_nothing_else_along() {
    let redactor = Redactor::default();
    for (text, expected) in [
        (r#"{"password":"a b\"c","user":"x"}"#, r#"{"[REDACTED:password],"user":"x"}"#),
        (r#"{"db_password": null, "user": "x"}"#, r#"{"db_[REDACTED:password], "user": "x"}"#),
        (r"{'pwd': 'x', 'user': 'y'}", r"{'[REDACTED:password], 'user': 'y'}"),
        (r#"{\"passwd\":\"x y\",\"user\":\"z\"}"#, r#"{\"[REDACTED:password],\"user\":\"z\"}"#),
    ] {
        assert_eq!(redactor.redact(text), expected, "{text}");
    }
}

#[test]
fn a_password_inside_a_json_string_hides_no_other_member() {
    let redactor = Redactor::default();
    for (text, expected) in [
        (r#"{"a":"password=x","cmd":"rm -rf /"}"#, r#"{"a":"[REDACTED:password]","cmd":"rm -rf /"}"#),
        (r#"{"a":"password=","cmd":"rm -rf /"}"#, r#"{"a":"password=","cmd":"rm -rf /"}"#),
        (r#"["password=x","rm"]"#, r#"["[REDACTED:password]","rm"]"#),
        (r#"password=a"b"c next"#, "[REDACTED:password] next"),
        (r#"password="a b"c next"#, "[REDACTED:password] next"),
        ("password:\tx", "[REDACTED:password]"),
        // Only what stands on the same line.
        ("password: \nnext", "password: \nnext"),
        ("password:", "password:"),
    ] {
        assert_eq!(redactor.redact(text), expected, "{text}");
    }
}

#[test]
fn ordinary_text_is_left_alone_and_borrowed() {
    let redactor = knowing(&["known-secret-value"]);
    for text in [
        "",
        "the task-list-of-everything-we-have-to-do is long",
        "risk-assessment-2024-for-the-whole-company",
        "sk-tooshort",
        "ghp_short xoxb-short AKIASHORT",
        "your password is needed; see pwd(1)",
        "the BEGIN PRIVATE KEY line",
        "known-secret",
        "日本語",
    ] {
        assert!(matches!(redactor.redact(text), Cow::Borrowed(_)), "{text}");
    }
}

#[test]
fn a_key_behind_an_escape_is_no_word() {
    let redactor = Redactor::default();
    let key = "sk-aaaaaaaaaaaaaaaaaaaaaaaa";
    assert_eq!(redactor.redact(&format!(r"x\n{key}")), r"x\n[REDACTED:api-key]");
    assert_eq!(redactor.redact(&format!("k%3D{key}")), "k%3D[REDACTED:api-key]");
    assert_eq!(redactor.redact(&format!("task-{key}")), "task-[REDACTED:api-key]");
    assert_eq!(redactor.redact(&format!("xsk-{}", random(20))), "x[REDACTED:api-key]");
}

#[test]
fn a_key_without_its_end_does_not_swallow_the_text() {
    let text = "-----BEGIN PRIVATE KEY-----\nis what a key starts with, and this goes on";
    let expected = "[REDACTED:private-key]\nis what a key starts with, and this goes on";
    assert_eq!(Redactor::default().redact(text), expected);
}

#[test]
fn known_values_are_found_in_every_spelling() {
    let value = "p@ss/w\"ö rd+1?";
    let redactor = knowing(&[value]);
    for spelled in [
        value.to_owned(),
        "p%40ss%2Fw%22%C3%B6%20rd%2B1%3F".to_owned(),
        "p%40ss%2fw%22%c3%b6%20rd%2b1%3f".to_owned(),
        "p%40ss/w%22%C3%B6%20rd%2B1%3F".to_owned(),
        "p%40ss%2Fw%22%C3%B6+rd%2B1%3F".to_owned(),
        r#"p@ss/w\"ö rd+1?"#.to_owned(),
        r#"p@ss\/w\"ö rd+1?"#.to_owned(),
        r#"p@ss/w\"\u00f6 rd+1?"#.to_owned(),
        "cEBzcy93IsO2IHJkKzE/".to_owned(),
        "cEBzcy93IsO2IHJkKzE_".to_owned(),
    ] {
        assert_eq!(redactor.redact(&format!("<{spelled}>")), "<[REDACTED:secret]>", "{spelled}");
    }
}

#[test]
fn a_value_inside_a_longer_base64_text_is_found() {
    // The three positions of `a-long-enough-secret` behind `u:`, `us:` and `usr:`.
    let redactor = knowing(&["a-long-enough-secret"]);
    for (text, head) in [
        ("dTphLWxvbmctZW5vdWdoLXNlY3JldA==", "dTp"),
        ("dXM6YS1sb25nLWVub3VnaC1zZWNyZXQ=", "dXM6"),
        ("dXNyOmEtbG9uZy1lbm91Z2gtc2VjcmV0", "dXNyO"),
    ] {
        let out = redactor.redact(text).into_owned();
        assert!(out.contains("[REDACTED:secret]") && out.starts_with(head), "{out}");
        assert!(out.len() < head.len() + "[REDACTED:secret]".len() + 5, "{out}");
    }
}

#[test]
fn values_of_several_lines_are_found_line_by_line() {
    let key = "-----BEGIN X-----\nMIIEvQIBADANBgkqhkiG9w0\r\nshort\nAAAAB3NzaC1yc2EAAAADAQAB\n-----END X-----\n";
    let redactor = knowing(&[key]);
    assert_eq!(redactor.redact(key.trim()), "[REDACTED:secret]");
    assert_eq!(redactor.redact(&key.trim().replace('\r', "\\r").replace('\n', "\\n")), "[REDACTED:secret]");
    assert_eq!(redactor.redact("2: MIIEvQIBADANBgkqhkiG9w0"), "2: [REDACTED:secret]");
    assert_eq!(redactor.redact("short"), "short");
}

#[test]
fn overlaps_leave_nothing_over() {
    let redactor = knowing(&["abcdefgh", "efghijkl", "ijklmnop", "secret with spaces", "abcdefghijkl"]);
    assert_eq!(redactor.redact("<abcdefghijklmnop>"), "<[REDACTED:secret]>");
    assert_eq!(redactor.redact("<abcdefghefghijkl>"), "<[REDACTED:secret][REDACTED:secret]>");
    assert_eq!(redactor.redact("password=secret with spaces."), "[REDACTED:password].");
    assert_eq!(redactor.redact(&format!("password={}", random(9))), "[REDACTED:password]");
}

#[test]
fn short_values_are_not_searched_for() {
    let redactor = knowing(&["12345", "ab", "      ", "öööööö"]);
    assert_eq!(redactor.redact("12345 ab       "), "12345 ab       ");
    assert_eq!(redactor.redact("öööööö"), "[REDACTED:secret]", "six characters count, not bytes");
}

#[test]
fn a_forgotten_token_is_still_known_by_its_shape_and_others_by_their_value() {
    let (one, other) = (super::fresh_token().unwrap(), super::fresh_token().unwrap());
    assert_ne!(one, other);
    let redactor = knowing(&["another-value"]);
    redactor.learn([one.clone(), other.clone()]);
    let turned = |secret: &Secret| format!("{} another-value", secret.expose());
    redactor.forget([one.clone()]);
    assert_eq!(redactor.redact_known(&turned(&other)), "[REDACTED:secret] [REDACTED:secret]");
    assert_eq!(redactor.redact_known(&turned(&one)), format!("{} [REDACTED:secret]", one.expose()));
    assert_eq!(redactor.redact(&turned(&one)), "[REDACTED:crewlet-token] [REDACTED:secret]");
    redactor.forget([other.clone(), Secret::new("another-value"), one]);
    assert_eq!(redactor.redact_known(&turned(&other)), turned(&other));
}

#[test]
fn clones_learn_together() {
    let one = Redactor::default();
    let other = one.clone();
    other.learn([Secret::new("learned-later")]);
    assert_eq!(one.redact("learned-later"), "[REDACTED:secret]");
}

#[test]
fn nothing_shows_in_debug() {
    let redactor = knowing(&["hunter2hunter2"]);
    let shown = format!("{redactor:?} {:?}", Secret::new("hunter2hunter2"));
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[test]
fn a_marker_is_no_secret() {
    let redactor = knowing(&["REDACTED", "password", "secret"]);
    let once = redactor.redact("my password=x is secret").into_owned();
    assert_eq!(once, "my [REDACTED:password] is [REDACTED:secret]");
    assert_eq!(redactor.redact(&once), once);
    let foreign = knowing(&["canary-value"]);
    assert_eq!(
        foreign.redact("[REDACTED:canary-value]"),
        "[REDACTED:[REDACTED:secret]]",
        "a marker of somebody else's"
    );
}

#[test]
fn values_are_redacted_down_to_every_leaf() {
    let redactor = knowing(&["known-secret"]);
    let mut value = json!({"a": ["x known-secret", {"b": "password=x"}], "known-secret": 1, "[REDACTED:secret]": 2, "n": 3,
        "db_password": "hunter2", "Pwd": "", "passwords": "none"});
    assert!(redactor.redact_value(&mut value));
    let expected = json!({
        "a": ["x [REDACTED:secret]", {"b": "[REDACTED:password]"}],
        "[REDACTED:secret]": 1, "[REDACTED:secret] (2)": 2, "n": 3,
        "db_password": "[REDACTED:password]", "Pwd": "", "passwords": "none"
    });
    assert_eq!(value, expected);
    assert!(!redactor.redact_value(&mut value), "a second time finds nothing");
}

#[test]
fn hostile_text_takes_linear_time() {
    let redactor = knowing(&["aaaaaaaa", "aaaaaaaaaaaa"]);
    let started = Instant::now();
    for unit in ["a", "ask-", "-----BEGIN PRIVATE KEY-----", "password=", "password=\"", "pwd\\\"", "[REDACTED:", "sk-"]
    {
        let text = unit.repeat(200_000 / unit.len());
        let once = redactor.redact(&text).into_owned();
        assert_eq!(redactor.redact(&once), once, "{unit}");
    }
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}

fn secretive() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "sk-",
        "task-",
        "aaaaaaaaaaaaaaaaaaaaaaaa",
        "A1b2C3d4E5f6G7h8I9j0K1l2",
        "AKIAAAAAAAAAAAAAAAAA",
        "ghp_",
        "glpat-",
        "xoxb-",
        "password",
        "pwd",
        "passwd",
        "=",
        ":",
        " ",
        "\n",
        "\"",
        "'",
        "\\",
        "\\n",
        ",",
        "}",
        "[REDACTED:",
        "]",
        "[REDACTED:password]",
        "[REDACTED:api-key]",
        "secret",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "first-known",
        "known-second",
        "second",
        "Zmlyc3Qta25vd24",
        "%3D",
        "é",
    ])
    .prop_map(str::to_owned);
    prop::collection::vec(prop_oneof![9 => piece, 1 => any::<String>()], 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_second_time_changes_nothing(text in secretive()) {
        let redactor = knowing(&["first-known", "known-second", "password", "wn-sec"]);
        let once = redactor.redact(&text).into_owned();
        prop_assert_eq!(redactor.redact(&once), once.as_str());
    }

    #[test]
    fn no_known_value_is_left(text in secretive()) {
        let redactor = knowing(&["first-known", "known-second"]);
        let out = redactor.redact(&text);
        prop_assert!(!out.contains("first-known") && !out.contains("known-second"), "{}", out);
    }
}

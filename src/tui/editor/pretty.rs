//! Canonical JSON with line breaks, for editing and for telling two versions apart line by line. Pure.
//!
//! Nothing but white space outside strings is added: numbers and strings stay as they are, to the last byte.

/// Containers nested deeper than this stay on one line: blanks before lines must not outgrow the text.
const MAX_DEPTH: usize = 12;

/// `canonical`, one member or item a line.
pub fn pretty(canonical: &str) -> String {
    let mut out = String::with_capacity(canonical.len() * 2);
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    let mut before = ' ';
    for c in canonical.chars() {
        if quoted {
            out.push(c);
            quoted = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            before = c;
            continue;
        }
        let empty = matches!((before, c), ('{', '}') | ('[', ']'));
        match c {
            '}' | ']' => {
                if !empty {
                    break_line(&mut out, depth, depth.saturating_sub(1));
                }
                depth = depth.saturating_sub(1);
            }
            _ if matches!(before, '{' | '[' | ',') => break_line(&mut out, depth, depth),
            _ => {}
        }
        out.push(c);
        match c {
            '{' | '[' => depth += 1,
            ':' => out.push(' '),
            '"' => quoted = true,
            _ => {}
        }
        before = c;
    }
    out
}

fn break_line(out: &mut String, depth: usize, indent: usize) {
    if depth <= MAX_DEPTH {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", indent));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Arguments;
    use proptest::prelude::*;

    #[test]
    fn members_stand_on_lines_of_their_own() {
        let text = pretty(r#"{"a":[],"b":{"c":[1.10,"x,{\"}"]},"d":{}}"#);
        assert_eq!(
            text,
            "{\n  \"a\": [],\n  \"b\": {\n    \"c\": [\n      1.10,\n      \"x,{\\\"}\"\n    ]\n  },\n  \"d\": {}\n}"
        );
        assert_eq!(pretty("{}"), "{}");
    }

    proptest! {
        #[test]
        fn it_means_the_same(key in "\\PC{0,8}", text in "\\PC{0,20}", number in -1000_i64..1000, deep in 0_usize..40) {
            let inner = serde_json::json!({key: [text, number, {}, [], true]}).to_string();
            let whole = format!("{{\"k\":{}{inner}{}}}", "[".repeat(deep), "]".repeat(deep));
            let arguments = Arguments::parse(&whole).unwrap();
            prop_assert_eq!(Arguments::parse(&pretty(arguments.canonical())).unwrap(), arguments);
        }
    }
}

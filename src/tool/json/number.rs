//! JSON numbers as text: their grammar, and whether a receiver keeps their value.
//!
//! Only [`super`] calls this. Numbers are never converted for sending; they travel as they were written.

/// How many bytes at the start of `bytes` are a JSON number.
///
/// # Errors
/// What is missing, and the offset where.
pub(super) fn scan(bytes: &[u8]) -> Result<usize, (&'static str, usize)> {
    let digits = |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    let whole = digits(at);
    match (whole, bytes.get(at)) {
        (0, _) => return Err(("a digit is missing", at)),
        (2.., Some(b'0')) => return Err(("a number starts with a zero too many", at)),
        _ => at += whole,
    }
    if bytes.get(at) == Some(&b'.') {
        at += 1;
        match digits(at) {
            0 => return Err(("a digit is missing after the point", at)),
            fraction => at += fraction,
        }
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        match digits(at) {
            0 => return Err(("a digit is missing in the exponent", at)),
            exponent => at += exponent,
        }
    }
    Ok(at)
}

/// Whether a JSON number denotes exactly a 64-bit integer, or the decimal value that a double is written as.
pub(super) fn is_exact(text: &str) -> bool {
    if text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok() {
        return true;
    }
    let Ok(double) = text.parse::<f64>() else { return false };
    // A double can lie in the middle of two shortest spellings (…611.25 between …611.2 and …611.3). Writers differ
    // there: RFC 8785, like JavaScript, takes the even one, others the upper one.
    let spellings = serde_json::Number::from_f64(double).map(|even| [even.to_string(), format!("{double:e}")]);
    let value = Decimal::of(text);
    spellings.into_iter().flatten().any(|spelling| Decimal::of(&spelling) == value)
}

/// A decimal value in one form only: `0.digits * 10^exponent`, digits without zeros at either end.
#[derive(PartialEq, Eq, Debug)]
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    fn of(text: &str) -> Self {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
        digits.drain(..zeros);
        if digits.is_empty() {
            // Every spelling of zero is the same value; receivers may drop its sign, the text keeps it.
            return Self { negative: false, digits, exponent: 0 };
        }
        let count = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
        // An exponent beyond 64 bits is far outside a double's range, and no double is written with one.
        let stated = exponent.parse().unwrap_or(if exponent.starts_with('-') { i64::MIN } else { i64::MAX });
        let exponent = stated.saturating_add(count(whole.len())).saturating_sub(count(zeros));
        Self { negative, digits, exponent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grammar() {
        for (text, expected) in [
            ("0", Ok(1)),
            ("-0", Ok(2)),
            ("10,", Ok(2)),
            ("1.5e+10]", Ok(7)),
            ("1E2", Ok(3)),
            ("-", Err(("a digit is missing", 1))),
            ("01", Err(("a number starts with a zero too many", 0))),
            ("-00", Err(("a number starts with a zero too many", 1))),
            ("1.", Err(("a digit is missing after the point", 2))),
            ("1e-", Err(("a digit is missing in the exponent", 3))),
        ] {
            assert_eq!(scan(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn exactness() {
        for exact in [
            "0",
            "-0",
            "-0.0",
            "0e999999999999999999999",
            "1.10",
            "0.1",
            "9007199254740993",
            "18446744073709551615",
            "-9223372036854775808",
            "1e20",
            "1E2",
            "100000000000000000000",
            "1e+2",
            "5e-324",
            "0.00000100",
            "1.7976931348623157e308",
            "0.3",
            "123456789.123",
            "1000e-3",
            "9007199254740992.0",
            "-775096345895611.2",
            "-775096345895611.3",
        ] {
            assert!(is_exact(exact), "{exact}");
        }
        for inexact in [
            "1e400",
            "-1e400",
            "9007199254740993.0",
            "0.1000000000000000055511151231257827",
            "1e-400",
            "-775096345895611.25",
            "18446744073709551616.5",
            "18446744073709551617",
            "-9223372036854775809",
            "4e-324",
            "1e99999999999999999999",
            "1e-99999999999999999999",
            "0.30000000000000000001",
            "123456789012345678901234567890",
        ] {
            assert!(!is_exact(inexact), "{inexact}");
        }
    }

    #[test]
    fn very_long_numbers_take_linear_time() {
        let written_at_length = format!("0.{}1e10001", "0".repeat(10_000));
        assert!(is_exact(&written_at_length), "it is 1");
        let million_digits = format!("0.{}", "3".repeat(1_000_000));
        assert!(!is_exact(&million_digits));
        // The standard library, like other receivers, caps the exponents that it reads.
        let beyond_receivers = format!("0.{}1e1000001", "0".repeat(1_000_000));
        assert!(!is_exact(&beyond_receivers));
    }
}

//! A call that a modern server answers with questions: what it asks for, and what is sent back with the call. Pure.
//!
//! The server says with such an answer that it has not completed the call; the same call is sent again with the answers
//! and with the server's own state, byte for byte as it came.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Times that one call is sent on with answers.
pub(in crate::engine) const MOST_ROUNDS: usize = 8;
/// Questions in one answer.
const MOST_QUESTIONS: usize = super::PER_CONNECTION;
/// The longest name of a question, and the longest state, in bytes.
const LONGEST_KEY: usize = 256;
const LONGEST_STATE: usize = 256 << 10;

/// What a server wants before it completes a call.
#[derive(Debug)]
pub(in crate::engine) struct Wanted {
    /// Its questions: their names, and their parameters as JSON.
    pub(in crate::engine) questions: Vec<(String, Box<RawValue>)>,
    state: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Kind<'r> {
    #[serde(borrow, default, rename = "resultType")]
    kind: Option<Cow<'r, str>>,
}

#[derive(Deserialize)]
struct Required<'r> {
    #[serde(borrow, default, rename = "inputRequests")]
    requests: Option<BTreeMap<String, &'r RawValue>>,
    #[serde(borrow, default, rename = "requestState")]
    state: Option<&'r RawValue>,
}

#[derive(Deserialize)]
struct Request<'r> {
    #[serde(borrow)]
    method: Cow<'r, str>,
    #[serde(borrow, default)]
    params: Option<&'r RawValue>,
}

/// True for a result that says that input is needed.
pub(in crate::engine) fn is_input_required(result: &RawValue) -> bool {
    // Looked for first: results can be long, and hardly any is one of these.
    result.get().contains("input_required")
        && serde_json::from_str::<Kind<'_>>(result.get())
            .is_ok_and(|read| read.kind.as_deref() == Some("input_required"))
}

/// Reads what is wanted.
///
/// # Errors
/// Why it cannot be given, for the caller.
pub(in crate::engine) fn wanted(result: &RawValue) -> Result<Wanted, String> {
    let required: Required<'_> = serde_json::from_str(result.get())
        .map_err(|_| "it asked for input in a form that cannot be read".to_owned())?;
    let state = required.state.filter(|state| state.get() != "null");
    let requests = required.requests.unwrap_or_default();
    if requests.is_empty() && state.is_none() {
        return Err("it asked for input without saying which".to_owned());
    }
    if requests.len() > MOST_QUESTIONS || requests.keys().any(|key| key.len() > LONGEST_KEY) {
        return Err(format!("it asked more than {MOST_QUESTIONS} questions at once, or named one too long"));
    }
    if state.is_some_and(|state| state.get().len() > LONGEST_STATE) {
        return Err(format!("its state for the call has more than {} KiB", LONGEST_STATE >> 10));
    }
    let mut questions = Vec::new();
    for (key, request) in requests {
        let request: Request<'_> = serde_json::from_str(request.get())
            .map_err(|_| "it asked for input in a form that cannot be read".to_owned())?;
        if request.method != "elicitation/create" {
            let method: String = request.method.chars().take(60).collect();
            return Err(format!("it asked for \"{}\", which is not offered here", crate::text::visible(&method)));
        }
        questions.push((key, request.params.map(ToOwned::to_owned).unwrap_or_default()));
    }
    Ok(Wanted { questions, state: state.map(ToOwned::to_owned) })
}

impl Wanted {
    /// What goes into the call's parameters beside what was there: members of a JSON object.
    pub(in crate::engine) fn input(&self, answers: &[String]) -> String {
        let pair =
            |((key, _), answer): (&(String, Box<RawValue>), &String)| format!("{}:{answer}", Value::from(key.as_str()));
        let responses: Vec<String> = self.questions.iter().zip(answers).map(pair).collect();
        let responses = (!responses.is_empty()).then(|| format!(r#""inputResponses":{{{}}}"#, responses.join(",")));
        let state = self.state.as_ref().map(|state| format!(r#""requestState":{}"#, state.get()));
        responses.into_iter().chain(state).collect::<Vec<_>>().join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn what_is_wanted_is_read_and_goes_back_with_the_state_as_it_came() {
        let result = raw(
            r#"{"resultType":"input_required","inputRequests":{"b\"":{"method":"elicitation/create","params":{"a":1}},
            "a":{"method":"elicitation/create"}},"requestState":"x\u0041 \/"}"#,
        );
        assert!(is_input_required(&result));
        let wanted = wanted(&result).unwrap();
        let asked: Vec<(&str, &str)> = wanted.questions.iter().map(|(key, params)| (&**key, params.get())).collect();
        assert_eq!(asked, [("a", "null"), ("b\"", r#"{"a":1}"#)]);
        let input = wanted.input(&["{}".to_owned(), r#"{"action":"decline"}"#.to_owned()]);
        assert_eq!(input, r#""inputResponses":{"a":{},"b\"":{"action":"decline"}},"requestState":"x\u0041 \/""#);
        let only_state = super::wanted(&raw(r#"{"resultType":"input_required","requestState":"s"}"#)).unwrap();
        assert_eq!(only_state.input(&[]), r#""requestState":"s""#);
    }

    #[test]
    fn what_cannot_be_given_is_said() {
        for result in [r#"{"content":[{"text":"input_required"}]}"#, "[]", r#"{"resultType":1,"x":"input_required"}"#] {
            assert!(!is_input_required(&raw(result)), "{result}");
        }
        let ask = |requests: &str| format!(r#"{{"resultType":"input_required","inputRequests":{requests}}}"#);
        let many: Vec<String> = (0..5).map(|n| format!(r#""{n}":{{"method":"elicitation/create"}}"#)).collect();
        for (result, words) in [
            (ask("{}"), "without saying which"),
            (ask(r#"{"a":{"method":"sampling/createMessage","params":{}}}"#), "\"sampling/createMessage\""),
            (ask(r#"{"a":7}"#), "cannot be read"),
            (ask("[]"), "cannot be read"),
            (ask(&format!("{{{}}}", many.join(","))), "more than 4 questions"),
            (format!(r#"{{"requestState":"{}"}}"#, "s".repeat(300_000)), "more than 256 KiB"),
        ] {
            let error = wanted(&raw(&result)).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}

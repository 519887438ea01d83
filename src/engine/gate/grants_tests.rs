//! Tables of remembered decisions: what they turn into what, and what they leave alone.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::desk::{Desk, Question, Surroundings};
use super::grants::{Grants, MOST, NotRemembered};
use super::standing::{Standing, with_grant};
use crate::clock::Timestamp;
use crate::config::model::{ApprovalRule, ApprovalSettings, PolicyDecision};
use crate::engine::command::{GrantScope, Remember};
use crate::engine::snapshot::{ApprovalView, Caller, Tier};
use crate::ids::{CallId, ConnectionName, GrantId, SeatHandle, ServerName};
use crate::tool::catalog::Source;
use crate::tool::names::Names;
use crate::tool::{Arguments, Catalog, ConfigRef, EffectClass, Entry, Listing};

const TOOL: Remember = Remember { scope: GrantScope::ThisTool, span: Some(Duration::from_secs(600)) };
const CALL: Remember = Remember { scope: GrantScope::ThisCall, span: None };

fn entry(server: &str, name: &str, annotations: &Value) -> Arc<Entry> {
    let mut listing = Listing::default();
    listing.push(&json!({"name": name, "annotations": annotations}));
    let server = ServerName::new(server);
    let source = Source {
        connection: ConnectionName::shared(&server),
        seat: None,
        identity: server.as_str().into(),
        server,
        prefix: "".into(),
        overrides: Arc::new([]),
        first_party: None,
        listing: Some(Arc::new(listing)),
    };
    Catalog::place(&[source], &Names::default()).0.entries()[0].clone()
}

fn hints(class: EffectClass) -> Value {
    match class {
        EffectClass::Read => json!({"readOnlyHint": true}),
        EffectClass::Write => json!({"destructiveHint": false}),
        EffectClass::Destructive => json!({"destructiveHint": true}),
        EffectClass::Unknown => json!({}),
    }
}

fn view(entry: &Arc<Entry>, seat: Option<&str>, arguments: &Arguments, tier: Tier) -> Arc<ApprovalView> {
    let caller = seat.map_or(Caller::Console, |seat| Caller::Seat {
        seat: seat.into(),
        session: "s".into(),
        client: "c".into(),
    });
    let question = Question {
        call: CallId::new("c1"),
        caller,
        entry: entry.clone(),
        arguments: arguments.clone(),
        confirm_set: false,
        tier,
        policy_by: "test".into(),
        wait: Duration::from_secs(300),
        end: tokio::sync::oneshot::channel().0,
    };
    let mut desk = Desk::default();
    let id = desk.ask(question, Surroundings::default(), arguments.clone().into(), Timestamp::from_millis(0));
    desk.view(id).unwrap().clone()
}

fn give(grants: &mut Grants, view: &ApprovalView, remember: Remember) -> Result<GrantId, NotRemembered> {
    grants.give(view, remember, &"person:ada".into(), Timestamp::from_millis(0))
}

fn standing(grants: &Grants) -> Standing {
    Standing { grants: grants.all().to_vec(), ..Standing::default() }
}

fn decide(
    standing: &Standing,
    settings: &ApprovalSettings,
    entry: &Entry,
    seat: Option<&str>,
    arguments: &Arguments,
) -> (PolicyDecision, String) {
    let seat = seat.map(SeatHandle::from);
    let answer = standing.answer(settings, entry, seat.as_ref());
    let grant = standing.grant(entry, seat.as_ref(), arguments.digest(), Instant::now());
    let (answer, decider) = with_grant(answer, grant);
    (answer.decision, decider.to_string())
}

/// Rule x class x grant x seat: a grant turns `ask` into `allow` for its seat and its tool, and changes nothing else.
#[tokio::test(start_paused = true)]
async fn a_grant_only_turns_ask_into_allow_for_its_seat_and_tool() {
    use PolicyDecision::{Allow, Ask, Deny, Type};
    let arguments = Arguments::empty();
    let seats = [Some("release"), Some("other"), None];
    for class in EffectClass::ALL {
        let granted = entry("notes", "write", &hints(class));
        let others = [entry("notes", "other", &hints(class)), entry("mail", "write", &hints(class))];
        for given_to in seats {
            let mut grants = Grants::default();
            give(&mut grants, &view(&granted, given_to, &arguments, Tier::Arm), TOOL).unwrap();
            let with = standing(&grants);
            for rule in [None, Some(Allow), Some(Ask), Some(Type), Some(Deny)] {
                let place = ConfigRef { file: "config.yaml".into(), line: 1 };
                let rules = rule.map(|decision| ApprovalRule { tool: "*/*".into(), seat: None, decision, place });
                let settings = ApprovalSettings { rules: rules.into_iter().collect(), ..ApprovalSettings::default() };
                for seat in seats {
                    let told = format!("{class} {rule:?} given to {given_to:?}, called by {seat:?}");
                    let without = decide(&Standing::default(), &settings, &granted, seat, &arguments);
                    let expected = match without.0 {
                        Ask if seat == given_to => (Allow, "grant:1 by person:ada".to_owned()),
                        _ => without,
                    };
                    assert_eq!(decide(&with, &settings, &granted, seat, &arguments), expected, "{told}");
                    for other in &others {
                        let without = decide(&Standing::default(), &settings, other, seat, &arguments);
                        assert_eq!(
                            decide(&with, &settings, other, seat, &arguments),
                            without,
                            "{told}: {}",
                            other.name
                        );
                    }
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_grant_counts_for_its_definition_its_arguments_and_its_time() {
    let settings = ApprovalSettings::default();
    let seat = Some("release");
    let tool = entry("notes", "wipe", &json!({"destructiveHint": true}));
    let changed = entry("notes", "wipe", &json!({"destructiveHint": true, "title": "x"}));
    let (these, others) = (Arguments::parse(r#"{"id":1}"#).unwrap(), Arguments::parse(r#"{"id":2}"#).unwrap());
    let mut grants = Grants::default();
    let id = give(&mut grants, &view(&tool, seat, &these, Tier::Arm), CALL).unwrap();
    let decision = |grants: &Grants, entry: &Entry, arguments: &Arguments| {
        decide(&standing(grants), &settings, entry, seat, arguments).0
    };
    assert_eq!(decision(&grants, &tool, &these), PolicyDecision::Allow);
    assert_eq!(decision(&grants, &tool, &others), PolicyDecision::Ask);
    assert_eq!(decision(&grants, &changed, &these), PolicyDecision::Ask, "also before it is suspended");
    assert!(grants.revoke(id) && !grants.revoke(id));
    assert_eq!(decision(&grants, &tool, &these), PolicyDecision::Ask);
    give(&mut grants, &view(&tool, seat, &these, Tier::Arm), TOOL).unwrap();
    tokio::time::advance(Duration::from_millis(599_999)).await;
    assert_eq!(decision(&grants, &tool, &others), PolicyDecision::Allow);
    tokio::time::advance(Duration::from_millis(1)).await;
    assert_eq!(decision(&grants, &tool, &others), PolicyDecision::Ask, "also before it is dropped");
    assert!(grants.expire(Instant::now()));
    assert_eq!(grants.next_expiry(), None);
}

#[tokio::test(start_paused = true)]
async fn what_is_typed_is_not_remembered_and_grants_are_bounded() {
    let tool = entry("notes", "wipe", &json!({}));
    let mut grants = Grants::default();
    let typed = view(&tool, None, &Arguments::empty(), Tier::Type);
    assert_eq!(give(&mut grants, &typed, TOOL), Err(NotRemembered::Typed));
    for n in 0..MOST {
        let arguments = Arguments::parse(&format!("{{\"n\":{n}}}")).unwrap();
        let question = view(&tool, None, &arguments, Tier::Arm);
        give(&mut grants, &question, CALL).unwrap();
        // A second one for the same takes the place of the first.
        give(&mut grants, &question, CALL).unwrap();
        assert_eq!(grants.all().len(), n + 1);
    }
    let one_more = view(&tool, None, &Arguments::empty(), Tier::Arm);
    assert_eq!(give(&mut grants, &one_more, CALL), Err(NotRemembered::Full));
}

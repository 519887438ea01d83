//! The policy: what the configuration says about a call. Pure functions of settings, tool and caller.

use std::sync::Arc;

use crate::config::model::{ApprovalRule, ApprovalSettings, PlacedDecision, PolicyDecision};
use crate::ids::SeatHandle;
use crate::tool::{Catalog, EffectClass, Entry};

/// A decision and what made it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicyAnswer {
    /// The decision.
    pub decision: PolicyDecision,
    /// `class destructive -> ask (config.yaml:41)`, `rule notes/* -> deny (config.yaml:50)`.
    pub by: Arc<str>,
}

/// What the policy says about a call of `entry` by a seat (`None`: the person at the screen or the shell). The
/// strictest of the rules that match counts; any matching rule beats the class default.
pub fn policy(settings: &ApprovalSettings, entry: &Entry, seat: Option<&SeatHandle>) -> PolicyAnswer {
    policy_of_class(settings, entry, seat, entry.class())
}

/// The same as if the tool were of this class.
pub fn policy_of_class(
    settings: &ApprovalSettings,
    entry: &Entry,
    seat: Option<&SeatHandle>,
    class: EffectClass,
) -> PolicyAnswer {
    if entry.connection.is_connector() {
        return of_connector(&settings.connector, class);
    }
    let target = target(entry);
    let matching = settings.rules.iter().filter(|rule| matches(rule, &target, seat));
    if let Some(rule) = matching.max_by_key(|rule| rule.decision) {
        let by = format!("rule {} -> {} ({})", rule.tool, rule.decision.as_str(), rule.place);
        return PolicyAnswer { decision: rule.decision, by: by.into() };
    }
    let PlacedDecision { decision, place } = class_default(settings, class);
    let place = place.as_ref().map_or_else(|| "default".to_owned(), ToString::to_string);
    let by = format!("class {class} -> {} ({place})", decision.as_str());
    PolicyAnswer { decision: *decision, by: by.into() }
}

/// What is said about the scoped connector: rules and classes are for the gate's own callers, and reads are not asked
/// about.
fn of_connector(placed: &PlacedDecision, class: EffectClass) -> PolicyAnswer {
    let PlacedDecision { decision, place } = placed;
    let place = place.as_ref().map_or_else(|| "default".to_owned(), ToString::to_string);
    match (decision, class) {
        (PolicyDecision::Ask | PolicyDecision::Type, EffectClass::Read) => {
            PolicyAnswer { decision: PolicyDecision::Allow, by: format!("connector, a read ({place})").into() }
        }
        _ => PolicyAnswer { decision: *decision, by: format!("connector -> {} ({place})", decision.as_str()).into() },
    }
}

/// The rules that match no tool of the catalog, in the order of the document.
pub fn unmatched<'s>(settings: &'s ApprovalSettings, catalog: &Catalog) -> Vec<&'s ApprovalRule> {
    let judged = catalog.entries().iter().filter(|entry| !entry.connection.is_connector());
    let targets: Vec<String> = judged.map(|entry| target(entry)).collect();
    let idle = |rule: &&ApprovalRule| !targets.iter().any(|target| glob(&rule.tool, target));
    settings.rules.iter().filter(idle).collect()
}

/// Whether `pattern` (`*`: any run of characters, `?`: one) matches the whole of `text`. Linear memory, no
/// backtracking beyond the last star.
pub fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while let Some(c) = text.get(t) {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p, t));
                p += 1;
            }
            Some(expected) if *expected == '?' || expected == c => {
                p += 1;
                t += 1;
            }
            _ => match retry {
                Some((star, from)) => {
                    p = star + 1;
                    t = from + 1;
                    retry = Some((star, from + 1));
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(|c| *c == '*')
}

fn target(entry: &Entry) -> String {
    format!("{}/{}", entry.server, entry.raw_name)
}

fn matches(rule: &ApprovalRule, target: &str, seat: Option<&SeatHandle>) -> bool {
    let seat_matches = match (&rule.seat, seat) {
        (None, _) => true,
        (Some(pattern), Some(seat)) => glob(pattern, seat.as_str()),
        (Some(_), None) => false,
    };
    seat_matches && glob(&rule.tool, target)
}

const fn class_default(settings: &ApprovalSettings, class: EffectClass) -> &PlacedDecision {
    match class {
        EffectClass::Read => &settings.read,
        EffectClass::Write => &settings.write,
        EffectClass::Destructive => &settings.destructive,
        EffectClass::Unknown => &settings.unknown,
    }
}

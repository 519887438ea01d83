//! The company's chart as screens see it: units, and the seats in them, as a tree in the order of the configuration.
//!
//! Made once for each configuration by the core; the snapshot hands it on. What changes while a configuration stands
//! (connections, sessions, stops) is elsewhere in the snapshot, by handle.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::CredentialView;
use crate::config::expand::{Environment, Template};
use crate::ids::SeatHandle;
use crate::org::{Identity, Org, Profile, Seat, SeatKind, Unit, WorkerTemplate};
use crate::secret::Redactor;
use crate::text;

/// Characters of one text that are kept.
const LONGEST: usize = 2_000;
/// Entries of one list that are kept.
const MOST: usize = 100;

/// See the module. Seats outside of units come first, then each unit with its seats and the units below it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Chart {
    /// From the top.
    pub rows: Vec<ChartRow>,
}

/// A line of the tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChartRow {
    /// Units above it.
    pub depth: usize,
    /// What stands there.
    pub node: ChartNode,
}

/// What stands in a line of the tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChartNode {
    /// A unit.
    Unit(Arc<UnitView>),
    /// A seat.
    Seat(Arc<SeatView>),
}

/// A part of the company.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnitView {
    /// Its names from the top, with a number where that would not tell it from another one. It stays over a reload.
    pub id: Arc<str>,
    /// As declared, every text cleaned.
    pub unit: Unit,
    /// Seats in it and in the units below it: agents, humans.
    pub seats: (usize, usize),
}

/// A position in the company.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeatView {
    /// Unique in the company.
    pub handle: SeatHandle,
    /// The role's name.
    pub name: Arc<str>,
    /// Who sits there.
    pub kind: SeatKind,
    /// Names of the units that it sits in, the outermost first.
    pub units: Vec<Arc<str>>,
    /// Name of the role that leads its unit.
    pub lead: Option<Arc<str>>,
    /// Names of the units that it leads.
    pub leads: Vec<Arc<str>>,
    /// As declared, every text cleaned.
    pub profile: Profile,
    /// The token that the configuration names for it; `None`: the program makes one.
    pub token: Option<CredentialView>,
}

impl Chart {
    /// The chart of a company. Texts are redacted and cleaned; of variables only names are kept, and whether they have
    /// a value now.
    pub fn of(org: &Org, redactor: &Redactor, environment: &dyn Environment) -> Self {
        let clean = Cleaning(redactor);
        let names: HashSet<&str> = org.units.iter().map(|unit| &*unit.name).collect();
        let seat = |seat: &Seat, units: &[Arc<str>]| {
            let lead = units.last().and_then(|name| org.units.iter().find(|unit| unit.name == *name)?.lead.as_ref());
            let leads = org.units.iter().filter(|unit| unit.lead.as_ref() == Some(&seat.name));
            ChartRow {
                depth: units.len(),
                node: ChartNode::Seat(Arc::new(SeatView {
                    handle: seat.handle.clone(),
                    name: clean.text(&seat.name),
                    kind: seat.kind,
                    lead: clean.maybe(lead),
                    leads: clean.list(leads.map(|unit| &unit.name)),
                    units: clean.list(units),
                    profile: clean.profile(&seat.profile),
                    token: seat.token.as_ref().map(|token| told(token, environment)),
                })),
            }
        };
        let inside = |seat: &&Seat| seat.unit.as_ref().is_some_and(|unit| names.contains(&**unit));
        let mut rows: Vec<ChartRow> =
            org.seats.iter().filter(|known| !inside(known)).map(|known| seat(known, &[])).collect();
        let mut waiting: HashMap<&str, Vec<&Seat>> = HashMap::new();
        for known in org.seats.iter().filter(inside) {
            waiting.entry(known.unit.as_deref().unwrap_or_default()).or_default().push(known);
        }
        let mut above: Vec<Arc<str>> = Vec::new();
        let mut ids = HashSet::new();
        for unit in &org.units {
            // Units stand depth first: what is not above this one is over.
            while above.last().is_some_and(|last| Some(last) != unit.parent.as_ref()) {
                above.pop();
            }
            let id = own_id(&above, &unit.name, &mut ids);
            let view = UnitView { id, unit: clean.unit(unit), seats: (0, 0) };
            rows.push(ChartRow { depth: above.len(), node: ChartNode::Unit(Arc::new(view)) });
            above.push(unit.name.clone());
            // Of several units with one name the first has all the seats.
            let own = waiting.remove(&*unit.name).unwrap_or_default();
            rows.extend(own.into_iter().map(|known| seat(known, &above)));
        }
        count(&mut rows);
        Self { rows }
    }

    /// The seats, from the top.
    pub fn seats(&self) -> impl Iterator<Item = &Arc<SeatView>> {
        self.rows.iter().filter_map(|row| match &row.node {
            ChartNode::Seat(seat) => Some(seat),
            ChartNode::Unit(_) => None,
        })
    }
}

/// A unit's names from the top.
fn own_id(above: &[Arc<str>], name: &str, ids: &mut HashSet<String>) -> Arc<str> {
    let mut path: Vec<&str> = above.iter().map(|name| &**name).collect();
    path.push(name);
    let path = path.join("\n");
    let mut id = path.clone();
    let mut nth = 2_u32;
    while !ids.insert(id.clone()) {
        id = format!("{path}\n#{nth}");
        nth += 1;
    }
    id.into()
}

/// Counts each unit's seats.
fn count(rows: &mut [ChartRow]) {
    let mut at = (0..rows.len()).rev();
    // By depth: agents and humans below the row that is looked at.
    let mut below: Vec<(usize, usize)> = Vec::new();
    while let Some(row) = at.next().and_then(|index| rows.get_mut(index)) {
        below.resize(below.len().max(row.depth + 2), (0, 0));
        let (agents, humans) = match &mut row.node {
            ChartNode::Seat(seat) => {
                (usize::from(seat.kind == SeatKind::Agent), usize::from(seat.kind == SeatKind::Human))
            }
            ChartNode::Unit(unit) => {
                let own = below.get_mut(row.depth + 1).map(std::mem::take).unwrap_or_default();
                Arc::make_mut(unit).seats = own;
                own
            }
        };
        if let Some(known) = below.get_mut(row.depth) {
            *known = (known.0 + agents, known.1 + humans);
        }
    }
}

fn told(token: &Template, environment: &dyn Environment) -> CredentialView {
    CredentialView {
        field: "token".into(),
        variables: token.variables().cloned().collect(),
        set: token.resolve(environment).is_ok_and(|value| !value.expose().is_empty()),
    }
}

/// Takes secrets and what cannot be seen out of declared texts, and bounds them.
struct Cleaning<'r>(&'r Redactor);

impl Cleaning<'_> {
    /// One line.
    fn text(&self, text: &str) -> Arc<str> {
        let redacted = self.0.redact(text);
        let words: Vec<&str> = redacted.split_whitespace().collect();
        let mut line = text::clean(&words.join(" ")).into_owned();
        if let Some((end, _)) = line.char_indices().nth(LONGEST) {
            line.truncate(end);
            line.push('…');
        }
        line.into()
    }

    fn maybe(&self, text: Option<&Arc<str>>) -> Option<Arc<str>> {
        text.map(|text| self.text(text)).filter(|text| !text.is_empty())
    }

    fn list<'t>(&self, texts: impl IntoIterator<Item = &'t Arc<str>>) -> Vec<Arc<str>> {
        texts.into_iter().take(MOST).map(|text| self.text(text)).collect()
    }

    fn identities(&self, identities: &[Identity]) -> Vec<Identity> {
        let known = identities.iter().take(MOST);
        known.map(|known| Identity { system: self.text(&known.system), id: self.text(&known.id) }).collect()
    }

    fn unit(&self, unit: &Unit) -> Unit {
        Unit {
            name: self.text(&unit.name),
            kind: self.text(&unit.kind),
            purpose: self.maybe(unit.purpose.as_ref()),
            lead: self.maybe(unit.lead.as_ref()),
            goals: self.list(&unit.goals),
            parent: self.maybe(unit.parent.as_ref()),
            identities: self.identities(&unit.identities),
            place: unit.place.clone(),
        }
    }

    fn profile(&self, profile: &Profile) -> Profile {
        let workers = profile.workers.iter().take(MOST);
        Profile {
            email: self.maybe(profile.email.as_ref()),
            goal: self.maybe(profile.goal.as_ref()),
            backstory: self.maybe(profile.backstory.as_ref()),
            responsibilities: self.list(&profile.responsibilities),
            manages: self.list(&profile.manages),
            availability: self.maybe(profile.availability.as_ref()),
            identities: self.identities(&profile.identities),
            token_budget: profile.token_budget,
            sandbox: profile.sandbox,
            workers: workers
                .map(|worker| WorkerTemplate { name: self.text(&worker.name), tools: self.list(&worker.tools) })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::model::Source;
    use crate::secret::Secret;
    use crate::tool::ConfigRef;

    fn unit(name: &str, parent: Option<&str>) -> Unit {
        Unit {
            name: name.into(),
            kind: "team".into(),
            purpose: None,
            lead: None,
            goals: Vec::new(),
            parent: parent.map(Into::into),
            identities: Vec::new(),
            place: ConfigRef { file: "config.yaml".into(), line: 1 },
        }
    }

    fn seat(handle: &str, unit: Option<&str>, kind: SeatKind) -> Seat {
        Seat { unit: unit.map(Into::into), kind, ..Seat::agent(handle, handle.to_uppercase()) }
    }

    fn chart(org: &Org) -> Chart {
        Chart::of(org, &Redactor::default(), &HashMap::<String, String>::new())
    }

    /// The tree, two blanks for each level.
    fn drawn(chart: &Chart) -> Vec<String> {
        let line = |row: &ChartRow| {
            let what = match &row.node {
                ChartNode::Unit(unit) => format!("{} {:?}", unit.unit.name, unit.seats),
                ChartNode::Seat(seat) => seat.handle.to_string(),
            };
            format!("{}{what}", "  ".repeat(row.depth))
        };
        chart.rows.iter().map(line).collect()
    }

    #[test]
    fn the_tree_is_in_the_order_of_the_document_and_counts_what_is_below() {
        let (agent, human) = (SeatKind::Agent, SeatKind::Human);
        let org = Org {
            seats: vec![
                seat("chief", None, human),
                seat("lost", Some("Nowhere"), agent),
                seat("cto", Some("Tech"), human),
                seat("dev", Some("Back"), agent),
                seat("dba", Some("Data"), agent),
                seat("page", Some("Front"), agent),
                seat("rep", Some("Sales"), agent),
            ],
            units: vec![
                unit("Tech", None),
                unit("Back", Some("Tech")),
                unit("Data", Some("Back")),
                unit("Front", Some("Tech")),
                unit("Sales", None),
                unit("Empty", None),
            ],
        };
        let expected = [
            "chief",
            "lost",
            "Tech (3, 1)",
            "  cto",
            "  Back (2, 0)",
            "    dev",
            "    Data (1, 0)",
            "      dba",
            "  Front (1, 0)",
            "    page",
            "Sales (1, 0)",
            "  rep",
            "Empty (0, 0)",
        ];
        assert_eq!(drawn(&chart(&org)), expected);
        let dba = chart(&org).seats().find(|seat| seat.handle.as_str() == "dba").cloned().unwrap();
        assert_eq!(dba.units.iter().map(|name| &**name).collect::<Vec<_>>(), ["Tech", "Back", "Data"]);
    }

    #[test]
    fn every_line_has_an_identity_of_its_own() {
        let org = Org {
            seats: vec![seat("a", Some("Same"), SeatKind::Agent)],
            units: vec![unit("Same", None), unit("Same", None), unit("Same", Some("Same"))],
        };
        let chart = chart(&org);
        let ids: HashSet<Arc<str>> = chart
            .rows
            .iter()
            .filter_map(|row| match &row.node {
                ChartNode::Unit(unit) => Some(unit.id.clone()),
                ChartNode::Seat(_) => None,
            })
            .collect();
        assert_eq!(ids.len(), 3, "{ids:?}");
        assert_eq!(chart.seats().count(), 1, "a seat stands once");
    }

    #[test]
    fn declared_texts_are_redacted_cleaned_and_bounded() {
        let mut boss = seat("boss", Some("Top"), SeatKind::Human);
        boss.profile.goal = Some("line one\n  two hunter2hunter2 \u{1b}[31mred\u{202e}".into());
        boss.profile.responsibilities = vec!["x".repeat(LONGEST * 2).into(); MOST + 1];
        let mut top = unit("Top", None);
        top.lead = Some("BOSS".into());
        let redactor = Redactor::default();
        redactor.learn([Secret::new("hunter2hunter2")]);
        let org = Org { seats: vec![boss], units: vec![top] };
        let chart = Chart::of(&org, &redactor, &HashMap::<String, String>::new());
        let boss = chart.seats().next().unwrap();
        let goal = boss.profile.goal.as_deref().unwrap();
        assert!(goal.starts_with("line one two ") && !goal.contains("hunter2"), "{goal}");
        assert!(!goal.contains('\u{1b}') && !goal.contains('\u{202e}'), "{goal}");
        let lengths: Vec<usize> = boss.profile.responsibilities.iter().map(|text| text.chars().count()).collect();
        assert_eq!((lengths.len(), lengths[0]), (MOST, LONGEST + 1));
        assert_eq!((boss.lead.as_deref(), boss.leads.len()), (Some("BOSS"), 1));
    }

    #[test]
    fn of_a_token_only_names_are_kept_and_whether_they_have_a_value() {
        let document = "name: x\nroles:\n  - name: Dev\n    token: \"${DEV_TOKEN}\"\n  - name: Ops\n";
        let file = tempfile::NamedTempFile::with_suffix(".yaml").unwrap();
        std::fs::write(file.path(), document).unwrap();
        let config = crate::config::load_source(&Source::File(file.path().into())).unwrap().config;
        for (value, set) in [(None, false), (Some("a-value-of-16-chars"), true)] {
            let environment: HashMap<String, String> =
                value.map(|value| ("DEV_TOKEN".to_owned(), value.to_owned())).into_iter().collect();
            let chart = Chart::of(&config.org, &Redactor::default(), &environment);
            let tokens: Vec<_> = chart.seats().map(|seat| seat.token.clone()).collect();
            let named = CredentialView { field: "token".into(), variables: vec!["DEV_TOKEN".into()], set };
            assert_eq!(tokens, [Some(named), None]);
            assert!(!format!("{chart:?}").contains("a-value-of"));
        }
    }
}

//! Who is who: from anything that somebody is called to the seats that may be meant.
//!
//! Made once of the company's seats; the tool that looks colleagues up and everything else that takes a colleague as
//! an argument ask here. Pure: what is said about an answer is said elsewhere.

mod fold;
mod ratio;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::{Identity, Org, Profile, Seat, SeatKind};
use crate::ids::SeatHandle;
use fold::fold;
use ratio::ratio;

/// Shorter names are not looked for inside of others.
const SHORTEST_PART: usize = 3;
/// Shorter names are like too many.
const SHORTEST_LIKENESS: usize = 4;
/// What is less alike is somebody else.
const LIKE: f64 = 0.6;
/// Longer names are cut for comparing, in characters: nobody is called that, and comparing takes its square.
const LONGEST: usize = 300;
/// The last words of names of fields that hold who somebody is on a system.
const NAMES_SOMEBODY: [&str; 8] = ["id", "user", "username", "login", "account", "handle", "email", "name"];

/// The company's seats as colleagues know them.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    people: Vec<Colleague>,
}

/// One seat as colleagues know it.
#[derive(Clone, Debug)]
pub struct Colleague {
    /// Its handle.
    pub handle: SeatHandle,
    /// The role's name.
    pub name: Arc<str>,
    /// Who sits there.
    pub kind: SeatKind,
    /// The units that it is in, the outermost first.
    pub units: Vec<Arc<str>>,
    /// What the configuration says of it.
    pub profile: Profile,
    /// Who it is elsewhere: the system and the name there.
    pub elsewhere: Vec<Identity>,
    folded: [String; 2],
}

/// How a colleague was found.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Found {
    /// By a name that is exactly this one.
    Exact,
    /// By a name that differs in case or in how it is written.
    Alike,
    /// By a part of a name.
    Part,
    /// By a name that is like it, so much from 0 to 1.
    Fuzzy(f64),
}

impl Found {
    /// In words.
    pub fn words(self) -> String {
        match self {
            Self::Exact => "exact".to_owned(),
            Self::Alike => "case or format".to_owned(),
            Self::Part => "partial name".to_owned(),
            Self::Fuzzy(score) => format!("fuzzy {score:.2}"),
        }
    }
}

impl Directory {
    /// The directory of a company.
    pub fn of(org: &Org) -> Self {
        Self { people: org.seats.iter().map(|seat| Colleague::of(seat, org)).collect() }
    }

    /// True when there is nobody to find.
    pub fn is_empty(&self) -> bool {
        self.people.is_empty()
    }

    /// The seat with this handle.
    pub fn seat(&self, handle: &str) -> Option<&Colleague> {
        self.people.iter().find(|colleague| colleague.handle.as_str() == handle)
    }

    /// Everybody that `query` may mean: those of the first way of finding that finds anybody, by handle; where names
    /// are only like it, the likest first.
    pub fn find(&self, query: &str) -> Vec<(&Colleague, Found)> {
        let query = query.trim();
        let query = query.char_indices().nth(LONGEST).map_or(query, |(end, _)| query.get(..end).unwrap_or(query));
        let folded = fold(query);
        let length = folded.chars().count();
        let by = |found: Found, hits: &dyn Fn(&Colleague) -> bool| -> Vec<(&Colleague, Found)> {
            let mut hits: Vec<_> = self.people.iter().filter(|one| hits(one)).map(|one| (one, found)).collect();
            hits.sort_by(|(a, _), (b, _)| a.handle.cmp(&b.handle));
            hits
        };
        let mut found = by(Found::Exact, &|one| one.is_called(query));
        if found.is_empty() && length > 0 {
            found = by(Found::Alike, &|one| one.folded.contains(&folded));
        }
        if found.is_empty() && length >= SHORTEST_PART {
            found =
                by(Found::Part, &|one| one.folded.iter().any(|name| begins_word(name, &folded) || runs(&folded, name)));
        }
        if found.is_empty() && length >= SHORTEST_LIKENESS {
            found = self.people.iter().filter_map(|one| Some((one, Found::Fuzzy(one.likeness(&folded)?)))).collect();
            let score = |found: &Found| if let Found::Fuzzy(score) = found { *score } else { 0.0 };
            found.sort_by(|(a, x), (b, y)| score(y).total_cmp(&score(x)).then_with(|| a.handle.cmp(&b.handle)));
        }
        found
    }
}

impl Colleague {
    fn of(seat: &Seat, org: &Org) -> Self {
        let mut units = Vec::new();
        let mut next = seat.unit.clone();
        while let Some(name) = next.take() {
            let unit = org.units.iter().find(|unit| unit.name == name);
            // A unit cannot be above itself; a name that stands twice must not go round for ever.
            if units.contains(&name) {
                break;
            }
            next = unit.and_then(|unit| unit.parent.clone());
            units.insert(0, name);
        }
        Self {
            handle: seat.handle.clone(),
            name: seat.name.clone(),
            kind: seat.kind,
            units,
            profile: seat.profile.clone(),
            elsewhere: seat
                .profile
                .identities
                .iter()
                .filter(|identity| names_somebody(&identity.system))
                .cloned()
                .collect(),
            folded: [fold(seat.handle.as_str()), fold(&seat.name)],
        }
    }

    /// Whether this is exactly one of its names.
    fn is_called(&self, query: &str) -> bool {
        let handle = self.handle.as_str();
        let mentioned = query.strip_prefix('@').unwrap_or(query);
        let mail = self.profile.email.as_deref().is_some_and(|mail| mail.trim().eq_ignore_ascii_case(query));
        handle == mentioned
            || (mentioned.contains('_') && handle == mentioned.replace('_', "-"))
            || &*self.name == query
            || (mail && !query.is_empty())
            || self.elsewhere.iter().any(|known| known.id.trim() == query && !query.is_empty())
    }

    fn likeness(&self, folded: &str) -> Option<f64> {
        let best = self.folded.iter().map(|name| ratio(folded, name)).fold(0.0, f64::max);
        (best >= LIKE).then_some(best)
    }
}

/// Identities that were declared as such, and those fields of `integrations` that say who somebody is.
fn names_somebody(system: &str) -> bool {
    let Some((_, field)) = system.rsplit_once('.') else { return true };
    field.rsplit('_').next().is_some_and(|last| NAMES_SOMEBODY.contains(&last.to_ascii_lowercase().as_str()))
}

/// Whether `part` stands in `name` from the beginning of a word on.
fn begins_word(name: &str, part: &str) -> bool {
    name.match_indices(part).any(|(at, _)| ends_word(name.get(..at)))
}

/// Whether the words of `name` stand in `text`, whole and one after the other.
fn runs(text: &str, name: &str) -> bool {
    let whole = |(at, _): (usize, &str)| {
        let after = text.get(at + name.len()..).and_then(|rest| rest.chars().next());
        ends_word(text.get(..at)) && !after.is_some_and(char::is_alphanumeric)
    };
    !name.is_empty() && text.match_indices(name).any(whole)
}

fn ends_word(before: Option<&str>) -> bool {
    !before.and_then(|before| before.chars().next_back()).is_some_and(char::is_alphanumeric)
}

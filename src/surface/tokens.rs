//! The seats' bearer tokens: made when a seat first has an endpoint, kept in the state folder, compared in constant
//! time.
//!
//! `tokens.json` (mode 0600, replaced as a whole) maps seats to tokens that we made. A seat whose token the
//! configuration takes from a variable is not in it. The listener looks at the file's stamp at each request, so a
//! rotation by another process counts at once. Only digests are kept in memory for comparing.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use crate::config::expand::{Environment, Template};
use crate::config::resolve::{resolve_token, token_problem};
use crate::engine::state_dir::StateDir;
use crate::ids::SeatHandle;
use crate::org::{Org, Seat};
use crate::secret::{Redactor, Secret, fresh_token};
use crate::tool::Digest;

const FILE: &str = "tokens.json";

/// Why a seat has no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// `tokens.json` cannot be read or written.
    #[error("tokens.json in the state folder cannot be used: {0}")]
    File(#[from] io::Error),
    /// The system's generator gives nothing.
    #[error("no random token can be made: the system's generator failed")]
    NoRandom,
    /// The variable that the configuration names cannot be used.
    #[error("seat \"{seat}\" has no token: {problem}")]
    Unresolved {
        /// The seat.
        seat: SeatHandle,
        /// What is wrong with the variable.
        problem: String,
    },
    /// The same for an operator's.
    #[error("operator \"{operator}\" has no token: {problem}")]
    Operator {
        /// Its id.
        operator: Arc<str>,
        /// What is wrong with the variable.
        problem: String,
    },
    /// The token comes from a variable, so it is not ours to change.
    #[error(
        "the token of seat \"{0}\" comes from a variable of the configuration; set another value there and start anew"
    )]
    FromVariable(SeatHandle),
    /// The seat has never been given one.
    #[error("seat \"{0}\" has no token yet; the dashboard or `serve` makes it, with a listener")]
    None(SeatHandle),
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    seats: BTreeMap<String, String>,
}

/// The token of a seat as it stands, for commands.
pub fn show(state: &StateDir, seat: &Seat, environment: &dyn Environment) -> Result<Secret, TokenError> {
    if seat.token.is_some() {
        return from_variable(seat, environment);
    }
    let kept = read(state)?;
    let token = kept.seats.get(seat.handle.as_str()).ok_or_else(|| TokenError::None(seat.handle.clone()))?;
    Ok(Secret::new(token.as_str()))
}

/// Makes a new token for a seat; the old one stops counting at once.
pub fn rotate(state: &StateDir, seat: &Seat) -> Result<Secret, TokenError> {
    if seat.token.is_some() {
        return Err(TokenError::FromVariable(seat.handle.clone()));
    }
    let mut kept = read(state)?;
    let token = fresh()?;
    kept.seats.insert(seat.handle.to_string(), token.expose().to_owned());
    write(state, &kept)?;
    Ok(token)
}

/// The listener's view of all tokens.
pub(super) struct Tokens {
    state: StateDir,
    redactor: Redactor,
    environment: Arc<dyn Environment>,
    current: Mutex<Current>,
}

#[derive(Default)]
struct Current {
    /// Seats whose token is in the file.
    ours: Vec<SeatHandle>,
    /// Those that the configuration names.
    fixed: Vec<(SeatHandle, Digest)>,
    stamp: Option<Stamp>,
    known: Arc<[(SeatHandle, Digest)]>,
}

/// What came of other seats.
#[derive(Debug, Default)]
pub(super) struct Followed {
    /// Seats that had a token which does not open anything any more.
    pub(super) ended: Vec<SeatHandle>,
    /// Seats that cannot have one, with the reason; nobody gets in as them.
    pub(super) problems: Vec<TokenError>,
}

/// What tells one version of the file from the next: a replaced file is a new one.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp(u64, i64, i64, u64);

impl Tokens {
    /// Tokens for these seats, and why some have none.
    ///
    /// # Errors
    /// When `tokens.json` cannot be used.
    pub(super) fn open(
        state: &StateDir,
        org: &Org,
        environment: Arc<dyn Environment>,
        redactor: &Redactor,
    ) -> Result<(Self, Vec<TokenError>), TokenError> {
        let (state, redactor) = (state.clone(), redactor.clone());
        let tokens = Self { state, redactor, environment, current: Mutex::default() };
        tokens.make(org)?;
        let problems = tokens.follow(org).problems;
        Ok((tokens, problems))
    }

    /// Gives every agent seat a token: the configuration's, the one it has, or a fresh one. Seats that are none any
    /// more have none either.
    pub(super) fn follow(&self, org: &Org) -> Followed {
        let mut problems: Vec<TokenError> = self.make(org).err().into_iter().collect();
        let (mut fixed, mut ours) = (Vec::new(), Vec::new());
        for seat in org.agents() {
            if seat.token.is_none() {
                ours.push(seat.handle.clone());
                continue;
            }
            match from_variable(seat, self.environment.as_ref()) {
                Ok(token) => {
                    fixed.push((seat.handle.clone(), digest(token.expose())));
                    self.redactor.learn([token]);
                }
                Err(problem) => problems.push(problem),
            }
        }
        let mut current = self.lock();
        let before = std::mem::replace(&mut *current, Current { ours, fixed, ..Current::default() });
        self.read_again(&mut current);
        Followed { ended: before.lacking(&current), problems }
    }

    /// Makes the tokens that the file does not have yet.
    fn make(&self, org: &Org) -> Result<(), TokenError> {
        let mut kept = read(&self.state)?;
        let lacks = |seat: &&Seat| seat.token.is_none() && !kept.seats.contains_key(seat.handle.as_str());
        let lacking: Vec<String> = org.agents().filter(lacks).map(|seat| seat.handle.to_string()).collect();
        if lacking.is_empty() {
            return Ok(());
        }
        for seat in lacking {
            kept.seats.insert(seat, fresh()?.expose().to_owned());
        }
        write(&self.state, &kept)
    }

    /// Whether this is the seat's token. Takes the same time for every token and for seats that do not exist.
    pub(super) fn fits(&self, seat: &str, token: Option<&str>) -> bool {
        let expected = self.lock().all().find_map(|(known, digest)| (known.as_str() == seat).then_some(*digest));
        let given = digest(token.unwrap_or_default());
        let same = expected.unwrap_or(Digest([0; 32])).0.ct_eq(&given.0);
        bool::from(same & Choice::from(u8::from(expected.is_some() && token.is_some())))
    }

    /// The seat that this token belongs to.
    pub(super) fn seat_of(&self, token: Option<&str>) -> Option<SeatHandle> {
        let given = digest(token?);
        let current = self.lock();
        let mut found = u64::MAX;
        for (index, (_, digest)) in (0_u64..).zip(current.all()) {
            found.conditional_assign(&index, digest.0.ct_eq(&given.0));
        }
        current.all().nth(usize::try_from(found).ok()?).map(|(seat, _)| seat.clone())
    }

    /// Reads the file again when it was replaced. Gives the seats whose token changed.
    pub(super) fn refresh(&self) -> Vec<SeatHandle> {
        let mut current = self.lock();
        if current.ours.is_empty() {
            // All are the configuration's.
            return Vec::new();
        }
        let before = Current { known: current.known.clone(), ..Current::default() };
        if self.read_again(&mut current) { before.lacking(&current) } else { Vec::new() }
    }

    fn read_again(&self, current: &mut Current) -> bool {
        let stamp = std::fs::metadata(self.state.file(FILE))
            .ok()
            .map(|file| Stamp(file.ino(), file.mtime(), file.mtime_nsec(), file.size()));
        if stamp == current.stamp {
            return false;
        }
        // A file that is gone or unreadable lets nobody in: it does not open what it was to close.
        let kept = read(&self.state).unwrap_or_else(|error| {
            tracing::error!(%error, "tokens_unreadable");
            Kept::default()
        });
        self.redactor.learn(kept.seats.values().map(|token| Secret::new(token.as_str())));
        let usable = |seat: &SeatHandle| kept.seats.get(seat.as_str()).filter(|token| token_problem(token).is_none());
        current.known = current.ours.iter().filter_map(|seat| Some((seat.clone(), digest(usable(seat)?)))).collect();
        current.stamp = stamp;
        true
    }

    /// Never poisoned for long: what it guards is whole after each statement.
    fn lock(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Current {
    fn all(&self) -> impl Iterator<Item = &(SeatHandle, Digest)> {
        self.fixed.iter().chain(self.known.iter())
    }

    /// The seats with a token here that has none or another one there.
    fn lacking(&self, now: &Self) -> Vec<SeatHandle> {
        let gone = self.all().filter(|pair| !now.all().any(|other| other == *pair));
        gone.map(|(seat, _)| seat.clone()).collect()
    }
}

fn from_variable(seat: &Seat, environment: &dyn Environment) -> Result<Secret, TokenError> {
    let failed = |problem: String| TokenError::Unresolved { seat: seat.handle.clone(), problem };
    let Some(template) = &seat.token else { return Err(TokenError::None(seat.handle.clone())) };
    resolve(template, environment).map_err(failed)
}

/// A token that a variable holds; the error says what is wrong with it.
pub(super) fn resolve(template: &Template, environment: &dyn Environment) -> Result<Secret, String> {
    resolve_token(template, environment).map_err(|problems| {
        let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
        texts.join("; ")
    })
}

fn digest(token: &str) -> Digest {
    Digest::of(token.as_bytes())
}

fn fresh() -> Result<Secret, TokenError> {
    fresh_token().ok_or(TokenError::NoRandom)
}

fn read(state: &StateDir) -> Result<Kept, TokenError> {
    match std::fs::read(state.file(FILE)) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).map_err(io::Error::from)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Kept::default()),
        Err(error) => Err(error.into()),
    }
}

fn write(state: &StateDir, kept: &Kept) -> Result<(), TokenError> {
    let bytes = serde_json::to_vec_pretty(kept).map_err(io::Error::from)?;
    Ok(state.write_atomic(FILE, &bytes)?)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    struct Nothing;

    impl Environment for Nothing {
        fn get(&self, _: &str) -> Option<String> {
            None
        }
    }

    fn org(seats: &[&str]) -> Org {
        Org { seats: seats.iter().map(|seat| Seat::agent(*seat, *seat)).collect(), units: Vec::new() }
    }

    fn open(state: &StateDir, org: &Org) -> Tokens {
        Tokens::open(state, org, Arc::new(Nothing), &Redactor::default()).unwrap().0
    }

    #[test]
    fn each_seat_has_its_own_token_and_keeps_it() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::open(dir.path()).unwrap();
        let org = org(&["a", "b"]);
        let tokens = open(&state, &org);
        let of = |seat: usize| show(&state, &org.seats[seat], &Nothing).unwrap();
        let (a, b) = (of(0), of(1));
        assert!(tokens.fits("a", Some(a.expose())) && tokens.fits("b", Some(b.expose())));
        assert!(!tokens.fits("a", Some(b.expose())));
        for wrong in [None, Some(""), Some("crewlet_"), a.expose().get(..20)] {
            assert!(!tokens.fits("a", wrong), "{wrong:?}");
        }
        assert!(!tokens.fits("nobody", Some(a.expose())) && !tokens.fits("", Some("")));
        assert_eq!(tokens.seat_of(Some(b.expose())), Some(SeatHandle::new("b")));
        assert_eq!(tokens.seat_of(Some("x")), None);
        drop(tokens);
        assert!(open(&state, &org).fits("a", Some(a.expose())), "kept over restarts");
    }

    #[test]
    fn a_rotation_counts_at_once_and_says_whose() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::open(dir.path()).unwrap();
        let org = org(&["a", "b"]);
        let tokens = open(&state, &org);
        let old = show(&state, &org.seats[0], &Nothing).unwrap();
        assert_eq!(tokens.refresh(), []);
        let new = rotate(&state, &org.seats[0]).unwrap();
        assert_eq!(tokens.refresh(), [SeatHandle::new("a")]);
        assert!(!tokens.fits("a", Some(old.expose())) && tokens.fits("a", Some(new.expose())));
    }

    #[test]
    fn a_damaged_or_lost_file_lets_nobody_in() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::open(dir.path()).unwrap();
        let org = org(&["a"]);
        let tokens = open(&state, &org);
        let token = show(&state, &org.seats[0], &Nothing).unwrap();
        state.write_atomic(FILE, b"not json").unwrap();
        tokens.refresh();
        assert!(!tokens.fits("a", Some(token.expose())));
        state.write_atomic(FILE, br#"{"seats":{"a":""}}"#).unwrap();
        tokens.refresh();
        assert!(!tokens.fits("a", Some("")) && !tokens.fits("a", None));
    }

    #[test]
    fn a_seat_whose_variable_is_missing_or_short_does_not_start() {
        struct Variables(HashMap<&'static str, &'static str>);
        impl Environment for Variables {
            fn get(&self, name: &str) -> Option<String> {
                self.0.get(name).map(ToString::to_string)
            }
        }
        let text = "name: A\nroles: [ { name: r, kind: agent, token: '${T}' } ]\nmcp_servers: []\n";
        let source = crate::config::model::Source::File("c.yaml".into());
        let org = crate::config::load(text, &source).unwrap().config.org;
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::open(dir.path()).unwrap();
        for (value, fits) in
            [(None, false), (Some(""), false), (Some("short"), false), (Some("0123456789abcdef"), true)]
        {
            let environment = Arc::new(Variables(value.map(|value| ("T", value)).into_iter().collect()));
            let (tokens, problems) = Tokens::open(&state, &org, environment, &Redactor::default()).unwrap();
            assert_eq!((tokens.fits("r", value), problems.is_empty()), (fits, fits), "{value:?}");
        }
        assert!(matches!(rotate(&state, &org.seats[0]), Err(TokenError::FromVariable(_))));
    }
}

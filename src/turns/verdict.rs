//! Whether a turn did what its agent says: pure functions over what the turn owed and the calls that it finished.
//!
//! Only calls that got through count. Failed ones, refused ones and those whose outcome nobody knows never do.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::tool::{Entry, Hint};

/// Finished calls of a turn that are kept one by one; what they reached is kept of all.
const KEPT: usize = 128;
/// Names that a correction lists at most.
const NAMED: usize = 5;
/// Longest name of a surface: that of a server.
const SURFACE: usize = 64;

/// What a turn owes to whoever made it begin.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Obligation {
    /// Nobody waits for an answer.
    #[default]
    Nothing,
    /// Somebody waits for an answer that a tool has to carry: on this surface, or on any.
    Tool(Option<Arc<str>>),
    /// Somebody waits for an answer that the program carries: the text at the turn's end.
    Engine,
}

impl Obligation {
    /// Whether somebody waits for an answer.
    pub const fn awaits(&self) -> bool {
        !matches!(self, Self::Nothing)
    }
}

impl fmt::Display for Obligation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("none"),
            Self::Tool(None) => f.write_str("tool"),
            Self::Tool(Some(surface)) => write!(f, "tool:{surface}"),
            Self::Engine => f.write_str("engine"),
        }
    }
}

/// A text that names no obligation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("is not none, tool, tool:SURFACE or engine, where SURFACE is a server's name, tracker or pages")]
pub struct NoObligation;

impl FromStr for Obligation {
    type Err = NoObligation;

    fn from_str(text: &str) -> Result<Self, NoObligation> {
        match text {
            "none" => Ok(Self::Nothing),
            "tool" => Ok(Self::Tool(None)),
            "engine" => Ok(Self::Engine),
            _ => {
                let surface = text.strip_prefix("tool:").ok_or(NoObligation)?;
                let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
                let named = (1..=SURFACE).contains(&surface.len()) && surface.chars().all(fits);
                named.then(|| Self::Tool(Some(surface.into()))).ok_or(NoObligation)
            }
        }
    }
}

/// What an agent says of its turn.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Claim {
    /// Whoever waited has an answer.
    Delivered,
    /// There was nothing to do.
    NoAction,
    /// It cannot go on.
    Blocked,
}

impl Claim {
    /// All of them with their words.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Delivered, "delivered"), (Self::NoAction, "no_action"), (Self::Blocked, "blocked")];
}

/// How a turn ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// Its agent said so and it was so.
    Claimed(Claim),
    /// Its agent was corrected and made another claim that was not so, or never ended what it had begun.
    Incomplete,
    /// Nobody began it or ended it: its session ended or fell silent, or a turn was begun after it.
    Unclaimed,
}

impl Outcome {
    /// `delivered`, `no_action`, `blocked`, `incomplete`, `unclaimed`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claimed(Claim::Delivered) => "delivered",
            Self::Claimed(Claim::NoAction) => "no_action",
            Self::Claimed(Claim::Blocked) => "blocked",
            Self::Incomplete => "incomplete",
            Self::Unclaimed => "unclaimed",
        }
    }
}

/// How a call ended, as far as it counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fate {
    /// It got through.
    Done,
    /// It failed, was refused, or nobody knows.
    Failed,
}

/// A finished call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The tool's catalogue name.
    pub name: Arc<str>,
    /// The surface that such a call reaches, where it reaches one.
    pub surface: Option<Arc<str>>,
    /// Whether it reaches the world outside.
    pub open_world: Hint,
    /// How it ended.
    pub fate: Fate,
}

impl Call {
    /// A finished call of a tool.
    pub fn of(entry: &Entry, fate: Fate) -> Self {
        let (surface, open_world) = (entry.delivery.surface.clone(), entry.hints.effective.open_world);
        Self { name: entry.name.clone(), surface, open_world, fate }
    }

    /// Whether it got through and was more than a look.
    pub fn acts(&self) -> bool {
        self.fate == Fate::Done && (self.surface.is_some() || self.open_world == Hint::Yes)
    }
}

/// The finished calls of a turn.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ledger {
    calls: VecDeque<Call>,
    reached: Vec<Arc<str>>,
    acted: u64,
    finished: u64,
    failed: u64,
}

impl Ledger {
    /// Takes a finished call.
    pub fn add(&mut self, call: Call) {
        self.finished += 1;
        self.failed += u64::from(call.fate == Fate::Failed);
        self.acted += u64::from(call.acts());
        if let (Fate::Done, Some(surface)) = (call.fate, &call.surface)
            && !self.reached.contains(surface)
        {
            self.reached.push(surface.clone());
        }
        if self.calls.len() >= KEPT {
            self.calls.pop_front();
        }
        self.calls.push_back(call);
    }

    /// The newest of them, oldest first.
    pub fn calls(&self) -> impl DoubleEndedIterator<Item = &Call> {
        self.calls.iter()
    }

    /// The surfaces that were reached, in the order in which they were.
    pub fn reached(&self) -> &[Arc<str>] {
        &self.reached
    }

    /// How many calls there were, how many of them were more than a look and got through, and how many failed.
    pub const fn counts(&self) -> (u64, u64, u64) {
        (self.finished, self.acted, self.failed)
    }

    /// The names of the newest calls that pass, each once, the newest last.
    fn names(&self, which: impl Fn(&Call) -> bool) -> Vec<Arc<str>> {
        let mut names: Vec<Arc<str>> = Vec::new();
        for call in self.calls.iter().rev().filter(|call| which(call)) {
            if names.len() < NAMED && !names.contains(&call.name) {
                names.push(call.name.clone());
            }
        }
        names.reverse();
        names
    }
}

/// Whether the calls reached anybody.
pub fn delivered(ledger: &Ledger) -> bool {
    !ledger.reached.is_empty()
}

/// Whether the calls reached whoever waits on `reply`. Where that is nowhere in particular, or a surface that the seat
/// cannot reach, anybody will do.
pub fn delivered_to(reply: Option<&str>, ledger: &Ledger, reachable: &[Arc<str>]) -> bool {
    match reply.filter(|reply| reachable.iter().any(|surface| **surface == **reply)) {
        Some(reply) => ledger.reached.iter().any(|surface| **surface == *reply),
        None => delivered(ledger),
    }
}

/// Whether the calls did anything that somebody else can see.
pub const fn acted(ledger: &Ledger) -> bool {
    ledger.acted > 0
}

/// What is made of a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It stands.
    Accept,
    /// It is not so.
    Correct(Correction),
}

/// Why a claim is not so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Correction {
    /// It claims an answer that reached nobody.
    ReachedNobody {
        /// Where the answer is awaited, as far as the seat reaches that.
        awaited: Option<Arc<str>>,
        /// What the seat can reach.
        reachable: Vec<Arc<str>>,
        /// Calls that would have reached somebody, and failed.
        failed: Vec<Arc<str>>,
    },
    /// It claims an answer that went elsewhere.
    ReachedElsewhere {
        /// Where the answer is awaited.
        awaited: Arc<str>,
        /// Where it went.
        reached: Vec<Arc<str>>,
    },
    /// It claims that there was nothing to do, and somebody waits.
    Awaited(Obligation),
    /// It claims that there was nothing to do, and it did something.
    Acted {
        /// What it reached.
        reached: Vec<Arc<str>>,
        /// With what.
        calls: Vec<Arc<str>>,
    },
}

/// What is made of a claim about a turn that owed `obligation` and finished these calls, by a seat that can reach
/// these surfaces.
pub fn verdict(claim: Claim, obligation: &Obligation, ledger: &Ledger, reachable: &[Arc<str>]) -> Verdict {
    match (claim, obligation) {
        (Claim::Delivered, Obligation::Tool(reply)) if !delivered_to(reply.as_deref(), ledger, reachable) => {
            let awaited = reply.clone().filter(|reply| reachable.contains(reply));
            Verdict::Correct(match awaited {
                Some(awaited) if delivered(ledger) => {
                    Correction::ReachedElsewhere { awaited, reached: ledger.reached.clone() }
                }
                awaited => Correction::ReachedNobody {
                    awaited,
                    reachable: reachable.to_vec(),
                    failed: ledger.names(|call| call.fate == Fate::Failed && call.surface.is_some()),
                },
            })
        }
        (Claim::NoAction, obligation) if obligation.awaits() => {
            Verdict::Correct(Correction::Awaited(obligation.clone()))
        }
        (Claim::NoAction, _) if acted(ledger) => {
            Verdict::Correct(Correction::Acted { reached: ledger.reached.clone(), calls: ledger.names(Call::acts) })
        }
        (Claim::Delivered | Claim::NoAction | Claim::Blocked, _) => Verdict::Accept,
    }
}

impl fmt::Display for Correction {
    /// For the model: what is missing, and what to do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReachedNobody { awaited, reachable, failed } => {
                let place = awaited.as_ref().map(|awaited| format!(" on {awaited}")).unwrap_or_default();
                write!(
                    f,
                    "your answer reached nobody: somebody waits for it{place}, and no call of this turn carried it"
                )?;
                if !failed.is_empty() {
                    write!(f, " ({} failed)", failed.join(", "))?;
                }
                f.write_str(". What you write outside of tools is read by nobody. ")?;
                match (awaited, reachable.as_slice()) {
                    (Some(awaited), _) => write!(f, "Send it with a tool of {awaited}")?,
                    (None, []) => return f.write_str("None of your tools reaches anybody: end the turn as blocked"),
                    (None, reachable) => write!(f, "Send it with a tool of {}", either(reachable))?,
                }
                f.write_str(", then end the turn again; if you cannot, end it as blocked and say why")
            }
            Self::ReachedElsewhere { awaited, reached } => write!(
                f,
                "your answer went to {}, and whoever waits for it waits on {awaited}. Send it with a tool of {awaited}, \
                 then end the turn again; if you cannot, end it as blocked and say why",
                reached.join(", "),
            ),
            Self::Awaited(Obligation::Engine) => f.write_str(
                "somebody waits for your answer, so the turn cannot end in silence. End it as delivered with the \
                 answer as its text, or as blocked and say why",
            ),
            Self::Awaited(obligation) => {
                let place = match obligation {
                    Obligation::Tool(Some(surface)) => format!(" on {surface}"),
                    _ => String::new(),
                };
                write!(
                    f,
                    "somebody waits for your answer{place}, so the turn cannot end in silence. Answer with a tool and \
                     end the turn as delivered, or end it as blocked and say why",
                )
            }
            Self::Acted { reached, calls } => {
                f.write_str("you did act in this turn")?;
                if !calls.is_empty() {
                    write!(f, ", with {}", calls.join(", "))?;
                }
                if !reached.is_empty() {
                    write!(f, ", and reached {}", reached.join(", "))?;
                }
                f.write_str(". End it as delivered, or as blocked if it could not be finished")
            }
        }
    }
}

/// `a`, `a or b`, `a, b or c`.
fn either(names: &[Arc<str>]) -> String {
    match names.split_last() {
        None => String::new(),
        Some((last, [])) => last.to_string(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}

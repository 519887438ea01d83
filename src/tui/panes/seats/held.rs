//! What each seat holds, counted once for each catalogue and chart. Pure.

use std::collections::HashMap;
use std::sync::Arc;

use crate::engine::snapshot::{Chart, Snapshot};
use crate::ids::SeatHandle;
use crate::org::{SeatKind, WorkerTemplate};
use crate::tool::worker::{Barred, may_hold};
use crate::tool::{Catalog, EffectClass};

/// What a seat holds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Held {
    /// Its tools by class, in the order of [`EffectClass::ALL`].
    pub(super) by_class: [usize; 4],
    /// How many of them a worker of the seat may not hold, by reason.
    pub(super) refused: Vec<(&'static str, usize)>,
}

impl Held {
    fn of<'e>(entries: impl Iterator<Item = &'e Arc<crate::tool::Entry>>) -> Self {
        let mut held = Self::default();
        for entry in entries {
            let class = EffectClass::ALL.iter().position(|class| *class == entry.class());
            if let Some(count) = class.and_then(|at| held.by_class.get_mut(at)) {
                *count += 1;
            }
            if let Err(why) = may_hold(entry).map_err(Barred::why) {
                match held.refused.iter_mut().find(|(reason, _)| *reason == why) {
                    Some((_, count)) => *count += 1,
                    None => held.refused.push((why, 1)),
                }
            }
        }
        held
    }

    /// All its tools.
    pub(super) fn tools(&self) -> usize {
        self.by_class.iter().sum()
    }

    /// Those that a worker may not hold.
    pub(super) fn refused(&self) -> usize {
        self.refused.iter().map(|(_, count)| count).sum()
    }
}

/// Of the tools that a worker's template lists: how many the seat holds, and how many of those a worker may not.
pub(super) fn of_template(template: &WorkerTemplate, seat: &SeatHandle, catalog: &Catalog) -> (usize, usize) {
    let held = template.tools.iter().filter_map(|name| catalog.find(Some(seat), name));
    held.fold((0, 0), |(held, refused), entry| (held + 1, refused + usize::from(may_hold(entry).is_err())))
}

/// What all agents' seats hold, kept while catalogue and chart are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Holdings {
    of: Option<(Arc<Catalog>, Arc<Chart>)>,
    seats: HashMap<SeatHandle, Arc<Held>>,
}

impl Holdings {
    /// Counts anew where there is another catalogue or chart.
    pub(super) fn follow(&mut self, snapshot: &Snapshot) {
        let (catalog, chart) = (&snapshot.catalog, &snapshot.chart);
        let same = |(c, o): &(Arc<Catalog>, Arc<Chart>)| Arc::ptr_eq(c, catalog) && Arc::ptr_eq(o, chart);
        if self.of.as_ref().is_some_and(same) {
            return;
        }
        self.of = Some((catalog.clone(), chart.clone()));
        // Seats without connections of their own all hold the same.
        let mut shared: Option<Arc<Held>> = None;
        let mut held = |seat: &SeatHandle| {
            let count = || Arc::new(Held::of(catalog.of_seat(seat)));
            if catalog.has_own(seat) { count() } else { shared.get_or_insert_with(count).clone() }
        };
        let agents = chart.seats().filter(|seat| seat.kind == SeatKind::Agent);
        self.seats = agents.map(|seat| (seat.handle.clone(), held(&seat.handle))).collect();
    }

    /// What a seat holds; nothing for a human's.
    pub(super) fn get(&self, seat: &SeatHandle) -> Option<&Arc<Held>> {
        self.seats.get(seat)
    }
}

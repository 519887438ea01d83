//! A bounded log that is cheap to snapshot: sealed chunks are shared, only the open one is copied on write.
//!
//! The engine appends; every snapshot holds a clone that never changes. Items are addressed by sequence
//! number, so a paused view stays anchored to what the person was reading while older items fall off.

use std::collections::VecDeque;
use std::sync::Arc;

const CHUNK: usize = 256;

/// A bounded sequence of items, numbered from 0 for as long as it lives.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    sealed: VecDeque<Arc<[T]>>,
    open: Arc<Vec<T>>,
    first: u64,
    capacity: usize,
}

impl<T: Clone> Ring<T> {
    /// An empty ring that keeps at least the last `capacity` items (and at most one chunk of 256 more).
    pub fn new(capacity: usize) -> Self {
        Self { sealed: VecDeque::new(), open: Arc::new(Vec::new()), first: 0, capacity }
    }

    /// Appends one item; the oldest chunk falls off when the ring is over its capacity.
    pub fn push(&mut self, item: T) {
        let open = Arc::make_mut(&mut self.open);
        open.push(item);
        if open.len() < CHUNK {
            return;
        }
        self.sealed.push_back(std::mem::take(open).into());
        while self.sealed_len() > self.capacity.saturating_add(CHUNK) {
            let Some(dropped) = self.sealed.pop_front() else { return };
            self.first += dropped.len() as u64;
        }
    }

    /// The sequence number of the oldest item that is still kept.
    pub const fn first(&self) -> u64 {
        self.first
    }

    /// The sequence number that the next item will get.
    pub fn end(&self) -> u64 {
        self.first + self.len() as u64
    }

    /// Number of items kept.
    pub fn len(&self) -> usize {
        self.sealed_len() + self.open.len()
    }

    /// True when nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item with this sequence number, if it is still kept.
    pub fn get(&self, sequence: u64) -> Option<&T> {
        let offset = usize::try_from(sequence.checked_sub(self.first)?).ok()?;
        // Sealed chunks all have the same length.
        match self.sealed.get(offset / CHUNK) {
            Some(chunk) => chunk.get(offset % CHUNK),
            None => self.open.get(offset.checked_sub(self.sealed_len())?),
        }
    }

    /// Items from `from` on with their sequence numbers, oldest first.
    pub fn iter_from(&self, from: u64) -> impl DoubleEndedIterator<Item = (u64, &T)> {
        (from.max(self.first)..self.end()).filter_map(|sequence| self.get(sequence).map(|item| (sequence, item)))
    }

    /// All items with their sequence numbers, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, &T)> {
        self.iter_from(self.first)
    }

    fn sealed_len(&self) -> usize {
        self.sealed.len() * CHUNK
    }
}

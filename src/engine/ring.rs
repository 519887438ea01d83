//! A bounded log that is cheap to snapshot: sealed chunks are shared, only the open one is copied on write.
//!
//! The engine appends; every snapshot holds a clone that never changes. Items are addressed by sequence
//! number, so a paused view stays anchored to what the person was reading while older items fall off.

use std::collections::VecDeque;
use std::sync::Arc;

const CHUNK: usize = 256;

/// A bounded sequence of items, numbered from 0 for as long as it lives. Bounded by a number of items and by what
/// they weigh; a clone costs the same whatever it holds.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    sealed: Arc<VecDeque<Chunk<T>>>,
    open: Arc<Vec<T>>,
    open_bytes: usize,
    sealed_bytes: usize,
    first: u64,
    capacity: usize,
    most_bytes: usize,
}

/// Items that do not change any more.
#[derive(Clone, Debug)]
struct Chunk<T> {
    items: Arc<[T]>,
    bytes: usize,
}

impl<T: Clone> Ring<T> {
    /// An empty ring that keeps at least the last `capacity` items (and at most one chunk of 256 more).
    pub fn new(capacity: usize) -> Self {
        Self::bounded(capacity, usize::MAX)
    }

    /// The same, and only as many of them as weigh at most `most_bytes`, apart from one chunk of 256.
    pub fn bounded(capacity: usize, most_bytes: usize) -> Self {
        Self {
            sealed: Arc::default(),
            open: Arc::new(Vec::new()),
            open_bytes: 0,
            sealed_bytes: 0,
            first: 0,
            capacity,
            most_bytes,
        }
    }

    /// Appends one item; the oldest chunk falls off when the ring is over its capacity.
    pub fn push(&mut self, item: T) {
        self.push_weighing(item, size_of::<T>());
    }

    /// Appends one item that takes `bytes` of memory, its own size included.
    pub fn push_weighing(&mut self, item: T, bytes: usize) {
        let open = Arc::make_mut(&mut self.open);
        open.push(item);
        self.open_bytes = self.open_bytes.saturating_add(bytes);
        if open.len() < CHUNK {
            return;
        }
        let chunk = Chunk { items: std::mem::take(open).into(), bytes: std::mem::take(&mut self.open_bytes) };
        self.sealed_bytes = self.sealed_bytes.saturating_add(chunk.bytes);
        Arc::make_mut(&mut self.sealed).push_back(chunk);
        while self.sealed_len() > self.capacity.saturating_add(CHUNK) || self.sealed_bytes > self.most_bytes {
            if !self.drop_oldest() {
                return;
            }
        }
    }

    /// Lets the oldest chunk of items fall off. False when there is none but the one that is still being filled.
    pub fn drop_oldest(&mut self) -> bool {
        let Some(dropped) = Arc::make_mut(&mut self.sealed).pop_front() else { return false };
        self.first += dropped.items.len() as u64;
        self.sealed_bytes = self.sealed_bytes.saturating_sub(dropped.bytes);
        true
    }

    /// What the items weigh.
    pub const fn bytes(&self) -> usize {
        self.sealed_bytes.saturating_add(self.open_bytes)
    }

    /// The sequence number of the oldest item that is still kept: so many fell off before it.
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
            Some(chunk) => chunk.items.get(offset % CHUNK),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_while_items_fall_off_by_count() {
        let mut ring = Ring::new(1_000);
        for n in 0..10_000_u64 {
            ring.push(n);
            assert!(ring.len() <= 1_000 + 2 * CHUNK);
        }
        assert!(ring.len() >= 1_000);
        assert_eq!((ring.end(), ring.get(9_999), ring.get(ring.first())), (10_000, Some(&9_999), Some(&ring.first())));
        assert_eq!(ring.get(ring.first() - 1), None);
        assert!(ring.iter().all(|(sequence, item)| sequence == *item));
    }

    #[test]
    fn heavy_items_fall_off_by_weight_and_a_clone_keeps_what_it_had() {
        let mut ring = Ring::bounded(1_000_000, 10 * CHUNK * 100);
        for n in 0..20 * CHUNK as u64 {
            ring.push_weighing(n, 100);
        }
        let before = ring.clone();
        assert_eq!(ring.bytes(), 10 * CHUNK * 100);
        for n in 0..CHUNK as u64 {
            ring.push_weighing(20 * CHUNK as u64 + n, 1_000);
        }
        assert!(ring.bytes() <= 10 * CHUNK * 100, "{}", ring.bytes());
        assert_eq!(ring.first(), 20 * CHUNK as u64, "one heavy chunk took the place of all");
        assert_eq!((before.first(), before.len()), (10 * CHUNK as u64, 10 * CHUNK));
        assert!(ring.drop_oldest() && !ring.drop_oldest());
        assert_eq!((ring.bytes(), ring.first()), (0, ring.end()));
    }
}

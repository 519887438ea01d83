//! Files that are written again and again, off the engine's thread: only the newest state counts, and at most one
//! write starts each half second. Dropping the saver writes what waits.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The shortest time between the starts of two writes.
const PAUSE: Duration = Duration::from_millis(500);

struct Slot<T> {
    next: Option<T>,
    closing: Closing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Closing {
    No,
    Yes,
}

/// Writes the newest value that it was handed.
pub(super) struct Saver<T> {
    shared: Arc<(Mutex<Slot<T>>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> Saver<T> {
    /// A saver that writes by `write`, in a thread of its own.
    pub(super) fn new(write: impl Fn(&T) + Send + 'static) -> Self {
        let shared = Arc::new((Mutex::new(Slot { next: None, closing: Closing::No }), Condvar::new()));
        let inner = shared.clone();
        let thread = std::thread::Builder::new().name("saver".to_owned()).spawn(move || run(&inner, &write)).ok();
        Self { shared, thread }
    }

    /// Hands over the newest state.
    pub(super) fn save(&self, value: T) {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner).next = Some(value);
        self.shared.1.notify_one();
    }
}

impl<T> Drop for Saver<T> {
    fn drop(&mut self) {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner).closing = Closing::Yes;
        self.shared.1.notify_one();
        if let Some(thread) = self.thread.take() {
            // A writer that panicked has been logged.
            let _ = thread.join();
        }
    }
}

fn run<T>(shared: &(Mutex<Slot<T>>, Condvar), write: &impl Fn(&T)) {
    let (slot, changed) = shared;
    let mut held = slot.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if let Some(value) = held.next.take() {
            drop(held);
            write(&value);
            held = slot.lock().unwrap_or_else(PoisonError::into_inner);
            if held.closing == Closing::No {
                held = changed
                    .wait_timeout_while(held, PAUSE, |slot| slot.closing == Closing::No)
                    .map_or_else(|p| p.into_inner().0, |(held, _)| held);
            }
        } else if held.closing == Closing::Yes {
            return;
        } else {
            held = changed.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;

    #[test]
    fn the_newest_state_is_written_in_the_end_and_a_flood_costs_few_writes() {
        let (written, writes) = sync_channel(2_000);
        let saver = Saver::new(move |value: &u32| written.send(*value).expect("room"));
        for value in 0..1_000 {
            saver.save(value);
        }
        drop(saver);
        let all: Vec<u32> = writes.iter().collect();
        assert_eq!(all.last(), Some(&999));
        assert!(all.len() <= 3, "{all:?}");
        assert!(all.is_sorted());
    }
}

//! The event queue with its total order: time, then actions before all else, then the order of
//! scheduling.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// What may come first within one millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// An action of the scenario.
    Action,
    /// Everything else.
    Event,
}

struct Entry<E> {
    key: (u64, Rank, u64),
    event: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}
impl<E> Eq for Entry<E> {}
impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

/// Events by time. No two have the same place: a sequence number decides.
pub struct Queue<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    sequence: u64,
}

impl<E> Queue<E> {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Queue<E> {
        Queue { heap: BinaryHeap::new(), sequence: 0 }
    }

    /// Adds an event at a time in milliseconds.
    pub fn push(&mut self, at_ms: u64, rank: Rank, event: E) {
        self.sequence += 1;
        self.heap.push(Reverse(Entry { key: (at_ms, rank, self.sequence), event }));
    }

    /// When the first event comes.
    #[must_use]
    pub fn next_ms(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse(entry)| entry.key.0)
    }

    /// Takes the first event if it comes at `now_ms` or before.
    pub fn pop_due(&mut self, now_ms: u64) -> Option<E> {
        if self.next_ms()? > now_ms {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry.event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_come_first_then_the_order_of_scheduling() {
        let mut queue = Queue::new();
        queue.push(5, Rank::Event, "b");
        queue.push(5, Rank::Event, "c");
        queue.push(5, Rank::Action, "a");
        queue.push(4, Rank::Event, "earlier");
        let order: Vec<_> = std::iter::from_fn(|| queue.pop_due(5)).collect();
        assert_eq!(order, ["earlier", "a", "b", "c"]);
    }
}

//! What an execution will have to move, and whether that pays, given what stays.

use super::windows::Missing;
use super::{Hold, needs_snapshot, range, written};
use crate::abi::Array;
use crate::cost::{Moves, Rates};
use crate::spans::holds;

/// Of so many executions one is waited for.
const AWAITED_EVERY: u64 = 16;

impl Hold {
    /// What an array will have to move, as far as that can be told before the execution.
    pub fn moves(&self, array: &Array) -> Moves {
        let plain = Moves::of(array);
        if !array.held() {
            return plain;
        }
        let found = self.entries.iter().find(|entry| holds(entry.host, range(array)));
        let Some(entry) = found.filter(|entry| !needs_snapshot(array) || !entry.before.is_empty()) else {
            return plain;
        };
        let stale = match entry.missing(array, |rows, bytes| rows.equivalent() < bytes) {
            Missing::Nothing => 0,
            Missing::Parts(parts) => parts.iter().map(|&(start, end)| end - start).sum(),
            Missing::Window(rows) => rows.equivalent(),
        };
        let repeated = written(array).is_some_and(|result| entry.is_dirty_with(&result));
        Moves {
            to_device: Some(stale).filter(|&bytes| bytes > 0),
            // What is dirty already comes back once for all.
            to_host: plain.to_host.filter(|_| !repeated),
        }
    }

    /// Seconds until the original loop could begin: what is dirty has to come back first.
    pub fn seconds_to_leave(&self, rates: &Rates) -> f64 {
        let dirty = self.entries.iter().flat_map(|entry| &entry.dirty);
        dirty.map(|result| rates.transfer(result.bytes)).sum()
    }

    /// An execution would stay on the host because of its transfers: whether with all that was missed since the program last touched the
    /// arrays they would have paid. Without transfers `gain` seconds are gained.
    pub fn worth_moving(&mut self, gain: f64, arrays: &[Array], rates: &Rates) -> bool {
        let held = || arrays.iter().filter(|array| array.held()).map(|array| (array, self.moves(array)));
        let seconds = |bytes: Option<u64>| bytes.map_or(0.0, |bytes| rates.transfer(bytes));
        let (there, back, mask) = held().fold((0.0, 0.0, 0), |(there, back, mask), (array, moves)| {
            (there + seconds(moves.to_device), back + seconds(moves.to_host), mask | array.mask())
        });
        self.missed += gain.max(0.0);
        self.missed_mask |= mask;
        self.missed_back = self.missed_back.max(back);
        gain > 0.0 && self.missed >= there + back
    }

    /// Whether this execution is to be waited for: a failure of the first one leaves the original loop, and few are under way.
    pub fn awaits(&mut self) -> bool {
        self.executions += 1;
        self.executions % AWAITED_EVERY == 1
    }
}

//! What an execution will have to move, and whether that pays, given what stays.

use super::Activation;
use crate::base::abi::Array;
use crate::cost::{Moves, Rates};
use crate::residency::{Dirty, Missing, needs_snapshot};

/// Of so many executions one is waited for.
const AWAITED_EVERY: u64 = 16;

impl Activation {
    /// What an array will have to move, as far as that can be told before the execution.
    pub fn moves(&self, array: &Array) -> Moves {
        let plain = Moves::of(array);
        if !array.held() {
            return plain;
        }
        let found = self.residency.entry_for(array);
        let Some(entry) = found.filter(|entry| !needs_snapshot(array) || entry.snapshot) else {
            return plain;
        };
        let stale = match entry.missing(array, |rows, bytes| rows.equivalent() < bytes) {
            Missing::Nothing => 0,
            Missing::Parts(parts) => parts.iter().map(|&(start, end)| end - start).sum(),
            Missing::Window(rows) => rows.equivalent(),
        };
        let repeated = Dirty::of(array).is_some_and(|result| entry.is_dirty_with(&result));
        Moves {
            to_device: Some(stale).filter(|&bytes| bytes > 0),
            // What is dirty already comes back once for all.
            to_host: plain.to_host.filter(|_| !repeated),
        }
    }

    /// Seconds until the original loop could begin: what is dirty has to come back first.
    pub fn seconds_to_leave(&self, rates: &Rates) -> f64 {
        let dirty = self.residency.entries().iter().flat_map(|entry| &entry.dirty);
        dirty.map(|result| rates.transfer(result.bytes)).sum()
    }

    /// An execution would stay on the host because of its transfers: whether with all that was missed since
    /// the program last touched the arrays they would have paid. Without transfers `gain` seconds are gained.
    pub fn worth_moving(&mut self, gain: f64, arrays: &[Array], rates: &Rates) -> bool {
        self.touch(arrays);
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

    /// Whether this execution is to be waited for: a failure of the first one leaves the original loop, and
    /// few are under way.
    pub fn awaits(&mut self) -> bool {
        self.executions += 1;
        self.executions % AWAITED_EVERY == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::{ARRAY_COPY_IN, ARRAY_COPY_OUT, ARRAY_HELD, ARRAY_MASK_SHIFT};
    use crate::base::size::Size;
    use crate::cost::Course;
    use crate::cost::machine::REFERENCE;
    use crate::process::registry::State;

    /// Which of 40 activations of a function would load the code of its loop, 16 updates of ever smaller
    /// parts of a matrix of n x n: as `crate::execution::choice` decides while it is not loaded. The host
    /// takes `host` times its estimate, but a small one took `before` times that.
    fn loads(n: u64, host: f64, before: f64) -> Option<usize> {
        let rates = Rates::of(&REFERENCE, 8);
        let state: &'static State = Box::leak(Box::default());
        let learned = &state.learned;
        let small = Size { work: 4096.0, moved: 0.0 };
        learned.host_took(before * small.work * 1e-9, small, &rates);
        let array = |size: u64, flags: u32, mask: u32| Array {
            start: std::ptr::without_provenance_mut(4096 << (20 * mask)),
            bytes: size * n * 8,
            bias: 0,
            out_offset: 0,
            out_bytes: size * n * 8,
            flags: flags | ARRAY_HELD | mask << ARRAY_MASK_SHIFT,
            element_bytes: 8,
            row_bytes: 0,
            row_count: [0; 3],
            row_stride: [0; 3],
        };
        (0..40).find(|_| {
            let mut activation = Activation::default();
            let loads = (0..16).any(|k| {
                let size = n - k * n / 16;
                let work = (size * size) as f64;
                let arrays = [array(size, ARRAY_COPY_IN | ARRAY_COPY_OUT, 1), array(size, ARRAY_COPY_IN, 2)];
                let on_host = |estimate: f64, size| {
                    if learned.times(estimate) {
                        learned.host_took(host * work * 1e-9, size, &rates);
                    }
                };
                if let Some(seconds) = learned.tiny(work, &rates) {
                    on_host(seconds, Size { work, moved: 0.0 });
                    return false;
                }
                let moves = arrays.each_ref().map(|array| activation.moves(array));
                let estimate = learned.estimate(work, moves, 1, &rates);
                let course = activation.course(state, &estimate, &arrays, &rates);
                let (alone, shared) = (estimate.gain(), estimate.gain_without_transfers());
                let gain = match alone > 0.0 {
                    true => Some(alone).filter(|_| !learned.is_doubtful(&estimate, true)),
                    false => Some(shared).filter(|&gain| activation.worth_moving(gain, &arrays, &rates)),
                };
                let pays = |gain| learned.worth_loading(&estimate, gain, 0.5e-3);
                if course != Course::Host && gain.is_some_and(pays) {
                    return true;
                }
                activation.went(false);
                on_host(estimate.host, estimate.size());
                false
            });
            activation.end_episode();
            loads
        })
    }

    #[test]
    fn estimates_of_executions_that_share_transfers_load_nothing() {
        // Vectorised, in the cache; small executions took as long as it takes to measure them.
        for host in [0.05, 0.1, 0.15, 0.2, 0.3] {
            for before in [1.0, 3.0, 5.0] {
                for n in [256, 512] {
                    assert_eq!(loads(n, host, before), None, "{n} {host} {before}");
                }
            }
        }
        // Where the host takes what is estimated, or more, it pays at once.
        for (n, host, expected) in [(512, 1.0, 0), (1024, 1.0, 0), (1024, 0.5, 0), (512, 3.0, 0)] {
            assert_eq!(loads(n, host, 1.0), Some(expected), "{n} {host}");
        }
    }
}

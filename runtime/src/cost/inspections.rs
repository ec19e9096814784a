//! Inspections for nothing: lists of integers that were looked at before executions that stayed on the host.
//!
//! **Problem.** The side of an execution is chosen when the ranges of its arrays are known, and ranges that
//! data decides are known behind an inspection, which may take half as long as the original loop. Where the
//! host is chosen each time, the program is slower for having been compiled with pollyrs.
//!
//! **Approach.** After the host was chosen, as many executions run there without an inspection as make it a
//! small part of what they take. What is looked at less often than that is looked at again: sizes and rates
//! change.
//!
//! # Invariant
//! An inspection that is refused leaves the original loop, which may always run.

use crate::base::config::{Config, DeviceChoice, Offload};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Executions without an inspection behind one for nothing: an inspection reads what the loop reads, at most,
/// and is so no more than a twentieth.
const WITHOUT: u32 = 20;
/// Lists that are remembered; all are forgotten when there are more.
const LISTS: usize = 1024;
/// Lists of an execution.
const OF_ONE: usize = 16;

/// A list: where it begins, and its bytes.
pub type List = (u64, i64);

thread_local! {
    /// The lists of the execution that this thread is about to begin.
    static ASKED: RefCell<Vec<List>> = const { RefCell::new(Vec::new()) };
    /// How long inspections took since the last execution that was reported.
    static SPENT: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Does an inspection, whose time counts for the thread's next execution.
pub fn timed<T>(look: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let found = look();
    SPENT.set(SPENT.get() + start.elapsed());
    found
}

/// Milliseconds of inspections that no execution was told of yet.
pub fn take_ms() -> f64 {
    SPENT.take().as_secs_f64() * 1e3
}

/// How many executions are left that do without, by list.
static LEFT: Mutex<Option<HashMap<List, u32>>> = Mutex::new(None);

fn with_left<T>(then: impl FnOnce(&mut HashMap<List, u32>) -> T) -> T {
    then(LEFT.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// Whether a list is worth a look. Where the settings choose the side it always is.
pub fn is_worth(config: &Config, list: List) -> bool {
    let chosen = config.device == DeviceChoice::Emulated || config.offload != Offload::Auto;
    // All ranks look at the same.
    chosen || config.job.shares() || may_pay(list)
}

fn may_pay(list: List) -> bool {
    let worth = with_left(|left| match left.get_mut(&list) {
        Some(n) if *n > 0 => {
            *n -= 1;
            false
        }
        _ => true,
    });
    if worth {
        ASKED.with_borrow_mut(|asked| {
            asked.truncate(OF_ONE - 1);
            asked.push(list);
        });
    }
    worth
}

/// The side of the execution that the last inspections of this thread were for.
pub fn settle(on_host: bool) {
    let asked = ASKED.take();
    if asked.is_empty() {
        return;
    }
    with_left(|left| {
        if left.len() + asked.len() > LISTS {
            left.clear();
        }
        for list in asked {
            if on_host {
                left.insert(list, WITHOUT);
            } else {
                left.remove(&list);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_that_stay_on_the_host_do_without() {
        let list = (0x7777_0000, 400);
        assert!(may_pay(list));
        settle(true);
        assert_eq!((0..WITHOUT).filter(|_| may_pay(list)).count(), 0);
        assert!(may_pay(list), "looked at again");
        settle(false);
        assert!(may_pay(list) && may_pay(list), "the device was chosen");
    }

    #[test]
    fn time_is_told_once() {
        assert_eq!(timed(|| 7), 7);
        assert_eq!(timed(|| std::thread::sleep(Duration::from_millis(2))), ());
        assert!(take_ms() >= 2.0);
        assert_eq!(take_ms(), 0.0);
    }
}

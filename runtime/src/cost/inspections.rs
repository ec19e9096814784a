//! Inspections for nothing: integers that were looked at before executions that stayed on the host.
//!
//! **Problem.** The side of an execution is chosen when the ranges of its arrays are known, and ranges that
//! data decides are known behind an inspection, which may take half as long as the original loop. Where the
//! host is chosen each time, the program is slower for having been compiled with pollyrs.
//!
//! **Approach.** An execution asks ahead of its inspections whether it is worth them ([`worth`]): the least
//! that the device could take, with no transfers, is less than what the host takes, and the time of
//! inspections for nothing is a small part of what the host took ([`super::budget::INSPECTIONS`]). Sizes and
//! rates change, so that what is paid back is tried again. Lists that are sorted by place have accounts of
//! their own ([`super::lists`]).
//!
//! **Example.** A gather of 30 elements takes 30 ns by the estimate, and a launch 10 µs: nothing is looked
//! at. One of 10^6 takes 1 ms; its inspection takes 0.3 ms, behind which the host is chosen: some six more
//! executions on the host come before the next inspection.
//!
//! # Invariant
//! An inspection that is refused leaves the original loop, which may always run.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Estimate, Learned, OVERHEAD, Rates, lists};
use crate::base::config::{Config, DeviceChoice, Offload};
use crate::base::error::{Error, Result};
use crate::base::size::Size;

/// Executions without an inspection behind one for nothing, of code that does not ask ahead: an inspection
/// reads what the loop reads, at most, and is so no more than a twentieth.
const WITHOUT: u32 = 20;
/// Lists that are remembered; all are forgotten when there are more.
const LISTS: usize = 1024;
/// Lists of an execution.
const OF_ONE: usize = 16;

/// A list: where it begins, and its bytes.
pub type List = (u64, i64);

/// An execution that asked ahead, and is to be inspected or was.
#[derive(Clone, Copy)]
struct Current {
    learned: &'static Learned,
    size: Size,
    /// By the estimate.
    host: f64,
}

thread_local! {
    /// The lists of the execution that this thread is about to begin.
    static ASKED: RefCell<Vec<List>> = const { RefCell::new(Vec::new()) };
    /// How long inspections took since the last execution that was reported.
    static SPENT: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    /// The execution that this thread is about to begin, and what its inspections took.
    static CURRENT: Cell<Option<Current>> = const { Cell::new(None) };
    static TOOK: Cell<f64> = const { Cell::new(0.0) };
}

/// Does an inspection, whose time counts for the thread's next execution.
pub fn timed<T>(look: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let found = look();
    let took = start.elapsed();
    SPENT.set(SPENT.get() + took);
    TOOK.set(TOOK.get() + took.as_secs_f64());
    found
}

/// Milliseconds of inspections that no execution was told of yet.
pub fn take_ms() -> f64 {
    SPENT.take().as_secs_f64() * 1e3
}

/// Whether the settings choose the side, or all ranks have to do the same.
pub(super) fn is_chosen(config: &Config) -> bool {
    config.device == DeviceChoice::Emulated || config.offload != Offload::Auto || config.job.shares()
}

/// Whether an execution of so much work, with so many kernels, is worth its inspections. `holds`: something
/// is on the device, so that the original loop is not free.
///
/// # Errors
/// Why the original loop is to run.
pub fn worth(
    config: &Config,
    learned: &'static Learned,
    (work, kernels): (f64, u32),
    rates: &Rates,
    holds: bool,
) -> Result<()> {
    if config.device == DeviceChoice::Off {
        return Err(Error::DeviceOff);
    }
    if config.offload == Offload::Never {
        return Err(Error::Never);
    }
    if holds || is_chosen(config) {
        return Ok(());
    }
    let no = |device: f64, host: f64, size| {
        let (device_ms, host_ms) = (device * 1e3, host * 1e3);
        Err(Error::NotWorthIt { device_ms, host_ms, size })
    };
    if let Some(seconds) = learned.tiny(work, rates) {
        return no(OVERHEAD, seconds, Size { work, moved: 0.0 });
    }
    // What is there already moves nothing.
    let estimate @ Estimate { device, host, .. } = learned.estimate(work, [], kernels as usize, rates);
    let size = estimate.size();
    if estimate.gain() <= 0.0 {
        return no(device, host, size);
    }
    if !learned.looks.is_paid(host) {
        return Err(Error::Inspected { host_ms: host * 1e3, size });
    }
    CURRENT.set(Some(Current { learned, size, host }));
    TOOK.set(0.0);
    Ok(())
}

/// A check of an execution that asked ahead failed, so that the original loop runs: its size, if its time is
/// to be learnt.
pub fn refused() -> Option<Size> {
    let current = CURRENT.get()?;
    settle(true);
    current.learned.times(current.host).then_some(current.size)
}

/// How many executions are left that do without, by list.
static LEFT: Mutex<Option<HashMap<List, u32>>> = Mutex::new(None);

fn with_left<T>(then: impl FnOnce(&mut HashMap<List, u32>) -> T) -> T {
    then(LEFT.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// Whether a list is worth a look. Where the settings choose the side, or the execution was found to be worth
/// it, it always is.
pub fn is_worth(config: &Config, list: List) -> bool {
    CURRENT.get().is_some() || is_chosen(config) || may_pay(list)
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
    lists::settle(on_host);
    if let Some(current) = CURRENT.take() {
        if on_host {
            current.learned.looks.owes(TOOK.take());
        } else {
            current.learned.looks.forgive();
        }
    }
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
    use super::super::budget::INSPECTIONS;
    use super::super::machine::REFERENCE;
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

    /// Where the side is chosen by time.
    fn asks(learned: &'static Learned, work: f64, holds: bool) -> Result<()> {
        let config = Config { device: DeviceChoice::Cuda, ..Config::new(|_| None, []) };
        worth(&config, learned, (work, 1), &Rates::of(&REFERENCE, 8), holds)
    }

    #[test]
    fn little_work_is_not_inspected() {
        let learned: &Learned = Box::leak(Box::default());
        for (work, holds, worth) in [
            (30.0, false, false),
            (3e3, false, false),
            (1e6, false, true),
            (30.0, true, true),
            (-1.0, false, false),
        ] {
            assert_eq!(asks(learned, work, holds).is_ok(), worth, "{work} {holds}");
            CURRENT.take();
        }
    }

    /// The host is chosen each time, behind an inspection that takes as long as a part of the loop.
    #[test]
    fn inspections_for_nothing_are_a_small_part() {
        for part in [0.01, 0.3, 1.0, 5.0] {
            let learned: &Learned = Box::leak(Box::default());
            let (mut host, mut inspected, mut last) = (0.0, 0.0, 0.0);
            for _ in 0..1000 {
                if asks(learned, 1e6, false).is_ok() {
                    last = part * 1e-3;
                    inspected += last;
                    TOOK.set(last);
                    assert!(is_worth(&Config::new(|_| None, []), (8, 8)));
                    settle(true);
                }
                host += 1e-3;
            }
            assert!(inspected - last <= INSPECTIONS * host + 1e-9, "{part}: {inspected} of {host}");
            assert!(inspected > 0.4 * INSPECTIONS * host || part < INSPECTIONS, "{part}: looked at again");
            // What is chosen to be on the device is looked at each time.
            learned.looks.forgive();
            for _ in 0..3 {
                assert!(asks(learned, 1e6, false).is_ok());
                TOOK.set(1.0);
                settle(false);
            }
        }
    }
}

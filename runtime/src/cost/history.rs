//! What executions of the same size took, on either side.
//!
//! Problem: the scales of [`super::Learned`] stand for sizes within a factor of eight, and a side that looks
//! a little worse by them is never tried. Where both sides take about as long, that is too coarse: a product
//! of 64 x 64 stayed on the device for 54 µs where the host takes 43. Approach: for the few sizes that a SCoP
//! ran with last the times of both sides are kept as they were measured, and count in place of the estimates.
//! The host, where it is not known, is tried where that is cheap: where the estimates differ by less than
//! [`CLEAR`] and the loop is short, or where all trials together cost no more than [`SHARE`] of what
//! executions of this size took so far; the device as long as little is lost to the host by that
//! ([`super::budget`]). Now and then, ever more rarely, the side that was a little slower gets another
//! chance, since other programs may have disturbed it: two executions, since after a change of sides the
//! first one is cold.
//!
//! Only executions whose arrays go there and back each time are compared: what stays in a hold moves once for
//! many executions ([`super::episodes`]).
//!
//! Example: 50 µs on the device by the estimate, 60 on the host. Four executions on the device take 54 µs,
//! four on the host 43; the rest stay on the host, but for some (the 32nd and 33rd, the 64th, ...) that look
//! whether the device is still slower.

use std::sync::atomic::{AtomicU64, Ordering};

use super::budget::{Budget, On};
use super::{CLEAR, Estimate, Figure, LONG, MEASURED};
use crate::base::size::Size;

/// Sizes that are known at once. More (a loop around the SCoP changes its size) displace each other, and are
/// left to the estimates.
const SIZES: usize = 8;
/// A side is known after so many measurements; the first ones are cold.
const KNOWN: u64 = 4;
/// What trials of the other side may cost of the time so far.
const SHARE: f64 = 1.0 / 32.0;
/// A measurement above the figure raises it by this part of the difference: what disturbs a measurement makes
/// it longer, never shorter.
const RISE: f64 = 1.0 / 8.0;
/// The first execution, both sides being known, that may try the slower one again: where that was hardly
/// slower, and where it was a little.
pub(super) const CLOSE_RETRY: u64 = 4;
pub(super) const FIRST_RETRY: u64 = 32;
/// So much slower it may have been.
pub(super) const CLOSE: f64 = 1.15;
pub(super) const RETRIED: f64 = 1.5;

/// What the times say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Advice {
    /// The better estimate.
    Estimate,
    /// This execution is to show what the host takes.
    TryHost,
    /// The same of the device.
    TryDevice,
}

/// Seconds of executions on one side.
#[derive(Debug, Default)]
pub(super) struct Side {
    seconds: Figure,
    count: AtomicU64,
}

impl Side {
    pub(super) fn took(&self, seconds: f64) {
        let typical = match self.seconds.get() {
            Some(known) if self.count.load(Ordering::Relaxed) > 1 && seconds > known => {
                known + (seconds - known) * RISE
            }
            _ => seconds,
        };
        self.seconds.set(typical);
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// The figure, if it is known.
    fn known(&self) -> Option<f64> {
        self.after(KNOWN)
    }

    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// The figure after so many measurements.
    pub(super) fn after(&self, measurements: u64) -> Option<f64> {
        self.seconds.get().filter(|_| self.count() >= measurements)
    }

    pub(super) fn clear(&self) {
        self.count.store(0, Ordering::Relaxed);
        self.seconds.set(0.0);
    }
}

/// Executions of one size.
#[derive(Debug, Default)]
struct Times {
    /// 0: not used.
    key: AtomicU64,
    host: Side,
    device: Side,
    /// Executions since both sides are known.
    turns: AtomicU64,
    budget: Budget,
}

/// The sizes that a SCoP ran with last. Threads that measure at once may lose measurements, or count one for
/// another size.
#[derive(Debug, Default)]
pub struct History {
    sizes: [Times; SIZES],
    /// What is displaced next.
    next: AtomicU64,
}

impl History {
    fn find(&self, size: Size) -> Option<&Times> {
        let key = size.key();
        self.sizes.iter().find(|times| times.key.load(Ordering::Relaxed) == key)
    }

    fn enter(&self, size: Size) -> &Times {
        self.find(size).unwrap_or_else(|| {
            let times = &self.sizes[self.next.fetch_add(1, Ordering::Relaxed) as usize % SIZES];
            times.key.store(0, Ordering::Relaxed);
            times.host.clear();
            times.device.clear();
            times.turns.store(0, Ordering::Relaxed);
            times.budget.clear();
            times.key.store(size.key(), Ordering::Relaxed);
            times
        })
    }

    pub fn host_took(&self, seconds: f64, size: Size) {
        if seconds > 0.0 {
            let times = self.enter(size);
            times.budget.on_host();
            times.host.took(seconds);
        }
    }

    pub fn device_took(&self, seconds: f64, size: Size) {
        if seconds > 0.0 {
            let times = self.enter(size);
            times.budget.elsewhere(On::Device, seconds, times.host.after(1), times.device.count() == 0);
            times.device.took(seconds);
        }
    }

    /// Puts measured times in the place of estimated ones.
    pub fn advise(&self, estimate: &mut Estimate) -> Advice {
        let Some(times) = self.find(estimate.size()) else { return Advice::Estimate };
        let Times { host: on_host, device: on_device, budget, .. } = times;
        let (host, device) = (on_host.known(), on_device.known());
        // Its own measurements say more, but for the first.
        estimate.host = host.or(on_host.after(2)).unwrap_or(estimate.host);
        let Estimate { host: h, device: estimated, .. } = *estimate;
        estimate.device = device.unwrap_or(estimated);
        let d = estimate.device;
        match (host, device) {
            (Some(_), Some(_)) => {
                let turn = 1 + times.turns.fetch_add(1, Ordering::Relaxed);
                let limit = if turn < FIRST_RETRY { CLOSE } else { RETRIED };
                let retries = turn >= CLOSE_RETRY && (turn.is_power_of_two() || (turn - 1).is_power_of_two());
                let again = retries && h.max(d) < limit * h.min(d);
                match h < d {
                    true if again && budget.allows(d - h, h) => Advice::TryDevice,
                    false if again || budget.is_spent(On::Device, h) => Advice::TryHost,
                    _ => Advice::Estimate,
                }
            }
            (None, Some(_)) if is_cheap(KNOWN, h, d, on_device.count() as f64) => Advice::TryHost,
            (Some(_), None) => match budget.tries(On::Device, on_device, d, h) {
                true if on_device.count() == 0 && d < h => Advice::Estimate,
                true => Advice::TryDevice,
                false if d < h => Advice::TryHost,
                false => Advice::Estimate,
            },
            _ => Advice::Estimate,
        }
    }
}

/// Whether a side, estimated to take `unknown`, may be tried so many times where the other one took `known`,
/// `times` times.
pub(super) fn is_cheap(trials: u64, unknown: f64, known: f64, times: f64) -> bool {
    let short = (MEASURED..LONG).contains(&unknown) && unknown < CLEAR * known;
    short || trials as f64 * (unknown - known) < SHARE * times * known
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(host: f64, device: f64) -> Estimate {
        Estimate { host, device, work: 1e5, unscaled: device, transfers: 0.0, moved: 1e-5, leave: 0.0 }
    }

    /// Where executions go that take so long, by an estimate that does not learn: `d` and `h`.
    fn sides(history: &History, executions: usize, estimated: (f64, f64), real: (f64, f64)) -> String {
        let mut sides = String::new();
        for _ in 0..executions {
            let mut estimate = estimate(estimated.0, estimated.1);
            let advice = history.advise(&mut estimate);
            let on_device = match advice {
                Advice::Estimate => estimate.gain() > 0.0,
                Advice::TryHost => false,
                Advice::TryDevice => true,
            };
            match on_device {
                true => history.device_took(real.1, estimate.size()),
                false => history.host_took(real.0, estimate.size()),
            }
            sides.push(if on_device { 'd' } else { 'h' });
        }
        sides
    }

    #[test]
    fn the_faster_side_is_found() {
        // (estimated host and device, real host and device, sides)
        let table = [
            ((60e-6, 50e-6), (43e-6, 54e-6), "ddddhhhhhhhh"),
            ((50e-6, 54e-6), (54e-6, 43e-6), "hhhhdddddddd"),
            // It might take 90: not tried before as much may be lost.
            ((50e-6, 60e-6), (54e-6, 43e-6), "hhhhhhhhhhhhhhddddd"),
            ((60e-6, 50e-6), (60e-6, 50e-6), "ddddhhhhdddd"),
            // Far apart, or long: not tried at once.
            ((90e-6, 30e-6), (20e-6, 30e-6), "dddddddddddd"),
            ((30e-3, 20e-3), (10e-3, 20e-3), "dddddddddddd"),
            ((10e-6, 30e-6), (10e-6, 8e-6), "hhhhhhhhhhhh"),
        ];
        for (estimated, real, expected) in table {
            assert_eq!(
                sides(&History::default(), expected.len(), estimated, real),
                expected,
                "{estimated:?} {real:?}"
            );
        }
    }

    #[test]
    fn what_is_far_apart_is_tried_when_that_costs_little() {
        // 4 * 60 µs are a 32nd of 256 * 30 µs.
        let history = History::default();
        assert_eq!(sides(&history, 254, (90e-6, 30e-6), (20e-6, 30e-6)), "d".repeat(254));
        assert!(sides(&history, 12, (90e-6, 30e-6), (20e-6, 30e-6)).ends_with("hhhhhhhh"));
    }

    #[test]
    fn cold_and_disturbed_measurements_do_not_last() {
        let side = Side::default();
        for seconds in [1e-3, 50e-6, 50e-6] {
            side.took(seconds);
        }
        assert_eq!(side.known(), None);
        side.took(90e-6);
        assert!((side.known().unwrap() - 55e-6).abs() < 1e-9);
        side.took(51e-6);
        assert_eq!((side.known(), side.count()), (Some(51e-6), 5));
    }

    #[test]
    fn the_slower_side_gets_another_chance() {
        let history = History::default();
        // The host was disturbed while it was tried.
        assert_eq!(sides(&history, 8, (60e-6, 50e-6), (70e-6, 50e-6)), "ddddhhhh");
        assert_eq!(sides(&history, 31, (60e-6, 50e-6), (40e-6, 50e-6)), "d".repeat(31));
        let later = sides(&history, 40, (60e-6, 50e-6), (40e-6, 50e-6));
        assert_eq!(later, format!("hd{}dd{}", "h".repeat(30), "h".repeat(6)));
        // What is close is tried again soon.
        let history = History::default();
        sides(&history, 8, (60e-6, 50e-6), (54e-6, 50e-6));
        assert_eq!(sides(&history, 18, (60e-6, 50e-6), (54e-6, 50e-6)), "dddhhddhhddddddhhd");
        // Not one that was far slower.
        let history = History::default();
        sides(&history, 8, (60e-6, 50e-6), (90e-6, 50e-6));
        assert_eq!(sides(&history, 200, (60e-6, 50e-6), (90e-6, 50e-6)), "d".repeat(200));
    }

    #[test]
    fn sizes_displace_each_other() {
        let history = History::default();
        let size = |work: f64| Size { work, moved: 1e-5 };
        for n in 0..20 {
            for _ in 0..KNOWN {
                history.host_took(1e-4 * f64::from(n + 1), size(f64::from(n)));
            }
        }
        let host = |n: f64| {
            let mut estimate = Estimate { work: n, ..estimate(1.0, 5.0) };
            history.advise(&mut estimate);
            estimate.host
        };
        assert_eq!((host(11.0), host(12.0), host(19.0)), (1.0, 1e-4 * 13.0, 1e-4 * 20.0));
        // Arrays of other sizes are another matter.
        assert!(history.find(Size { work: 19.0, moved: 2e-5 }).is_none());
        // No key means an unused entry.
        assert!(Size::default().key() != 0 && History::default().find(Size::default()).is_none());
    }
}

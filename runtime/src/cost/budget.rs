//! What may be lost to find out whether the other side is faster.
//!
//! Problem: nobody knows what a side takes that was never tried, and where the device is never worth it each
//! trial is a loss. Trials as such, however few, cost 5 to 10% of 40 executions where the device takes twice
//! as long. Approach: never fall behind the host by more than a small part of what it would have taken for
//! all executions so far (conservative bandits; Wu, Shariff, Lattimore, Szepesvári: Conservative Bandits,
//! ICML 2016, section 2). What the trials lost is counted as it was measured; what the next one may lose, by
//! the estimate and how wrong estimates are until there are measurements, and by these then. Executions that
//! gain pay back what was lost, but are no savings for later.
//!
//! Example: 100 µs on the host, 90 µs on the device by the estimate: at most 135, as far as estimates can be
//! trusted, so it is tried at once. It takes 200: the next trial, expected to take 110, waits until 55
//! executions are over. Had it taken 50, the device would have had all that follow.

use std::sync::atomic::{AtomicU64, Ordering};

use super::history::Side;
use super::{Figure, LONG, MEASURED};

/// How many times as long as estimated a side may well take.
pub(super) const WRONG: f64 = 1.5;
/// A side that is estimated to take this part of what is known is tried again after the first time, whatever
/// that took: it may have been cold.
const CONVINCING: f64 = 0.7;
/// What may be lost in executions of moderate length: this part of one, and of all so far. A single trial
/// that takes twice as long is 2.5% of 40.
const FIRST: f64 = 0.6;
const MORE: f64 = 1.0 / 200.0;
/// What may be lost in the long run.
const SHARE: f64 = 1.0 / 50.0;

/// Inspections for nothing may take this part of what the host takes.
pub(super) const INSPECTIONS: f64 = 1.0 / 20.0;

/// Seconds of inspections for nothing that the host's time has not paid back yet.
#[derive(Debug, Default)]
pub struct Debt(Figure);

impl Debt {
    /// An execution takes so many seconds on the host: whether nothing is owed. If not, it pays back.
    pub(super) fn is_paid(&self, host: f64) -> bool {
        let owed = self.0.get().unwrap_or(0.0);
        if owed > 0.0 {
            self.0.set(owed - INSPECTIONS * host);
        }
        owed <= 0.0
    }

    pub(super) fn owes(&self, seconds: f64) {
        self.0.set(self.0.get().unwrap_or(0.0).max(0.0) + seconds);
    }

    pub(super) fn forgive(&self) {
        self.0.set(0.0);
    }
}

/// What was spent.
#[derive(Debug, Default)]
pub struct Budget {
    executions: AtomicU64,
    /// Seconds, by what they were spent on.
    lost: [Figure; 2],
}

/// What is not on the host: on the device, or part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    Device,
    Both,
}

impl Budget {
    /// An execution was on the host.
    pub fn on_host(&self) {
        self.executions.fetch_add(1, Ordering::Relaxed);
    }

    /// One that was not took so many seconds, where the host takes `host`, if that is known. A `first` one
    /// may have been cold: of what it took longer only as much counts as the host takes.
    pub fn elsewhere(&self, on: On, seconds: f64, host: Option<f64>, first: bool) {
        self.executions.fetch_add(1, Ordering::Relaxed);
        if let Some(host) = host {
            let loss = if first { (seconds - host).min(host) } else { seconds - host };
            self.lost[on as usize].set((self.lost(on) + loss).max(0.0));
        }
    }

    /// How many there were.
    pub fn executions(&self) -> f64 {
        self.executions.load(Ordering::Relaxed) as f64
    }

    fn lost(&self, on: On) -> f64 {
        self.lost[on as usize].get().unwrap_or(0.0)
    }

    /// Seconds that may be lost in all where an execution is known to take `known`.
    fn limit(&self, known: f64) -> f64 {
        let executions = self.executions();
        let soon = if (MEASURED..LONG).contains(&known) { FIRST + MORE * executions } else { 0.0 };
        known * soon.max(SHARE * executions)
    }

    /// Whether so many seconds more may be lost.
    pub fn allows(&self, loss: f64, known: f64) -> bool {
        self.lost(On::Device) + self.lost(On::Both) + loss.max(0.0) <= self.limit(known)
    }

    /// Whether what seemed better has lost too much all the same, where the host takes `host`: its times may
    /// vary more than its figure says.
    pub fn is_spent(&self, on: On, host: f64) -> bool {
        self.lost(on) > self.limit(host)
    }

    /// Whether a side may be tried whose time is not known, but estimated, where another one takes `known`. A
    /// long execution follows the estimate: there may be few of them.
    pub fn tries(&self, on: On, side: &Side, estimated: f64, known: f64) -> bool {
        let expected = match (side.count(), side.after(1)) {
            (1, Some(first)) => (first.min(WRONG * estimated) * estimated).sqrt(),
            (2.., Some(measured)) => measured,
            _ if known >= LONG => estimated,
            _ => WRONG * estimated,
        };
        match expected > known {
            _ if side.count() < 2 && estimated <= CONVINCING * known => true,
            true => self.allows(expected - known, known),
            false => !self.is_spent(on, known),
        }
    }

    pub fn clear(&self) {
        self.executions.store(0, Ordering::Relaxed);
        self.lost.iter().for_each(|lost| lost.set(0.0));
    }
}

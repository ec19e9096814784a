//! Whether the device is worth it: an estimate at each execution, where sizes are known, corrected by what
//! executions took.
//!
//! ```text
//! device = (OVERHEAD + ARRAY * copies + launching(launches) + transfers(bytes in) + transfers(bytes out)
//!           + work * device instance + serial * SERIAL) * device_scale
//! host   = work * host instance * host_scale
//! ```
//!
//! The figures of launches, transfers and instances are constants of one machine, scaled by what was measured
//! on this one ([`crate::cost::machine`], [`Rates`]).
//!
//! `serial` is what one thread of the device runs, one addition after the other: a sum of 2.7 · 10^8
//! exponentials that keeps its order took 15.7 s on an H200, and 1.2 on the host.
//!
//! `work` counts statement instances, of which a launch-bound or branchy kernel makes a hundred times fewer a
//! second than a matrix product. So each SCoP keeps what it learnt ([`Learned`]): its launches, and for each
//! side the factor between measured and estimated time, 1 until the first measurement, then a running
//! geometric mean; one factor for each size of the work (caches, launches and vector loops make it depend on
//! that), or that of the nearest known size. A wrong side is left after one or two executions: a first
//! execution on the device that is slower than expected may have been a cold one, and gets a second try. Of
//! executions whose host side is estimated below [`MEASURED`] few are timed on the host, so that short loops
//! pay next to nothing for it. Sizes that come again are decided by what they took ([`history`]).
//!
//! Starting the driver takes [`Rates::startup`], loading a SCoP's code its [`price`]. Nobody knows how often
//! a SCoP will run; so executions that would gain stay on the host until the gains they missed add up to the
//! price, which is then paid: at most twice the best that could be done with hindsight (the ski-rental rule;
//! Karlin, Manasse, Rudolph, Sleator: Competitive snoopy caching, Algorithmica 1988, section 2). One large
//! execution pays at once. Of the code a wrong estimate must not be the reason ([`loading`]); of the driver's
//! start the loss is bounded by a part of the time that the process has run ([`starting`]). Starting the
//! driver in a background thread would hide the price, but a program that ends or forks meanwhile would meet
//! a driver half started.
//!
//! An execution that turns out badly on the device is given up: nothing has come back yet, so the original
//! loop can still run. That happens when it has taken [`PATIENCE`] times what the host is estimated to need,
//! and kernels remain to be launched.
//!
//! Example: `y[i] += a[i]` on 10^6 doubles: host 1 ms; device 10 µs + 9 µs + 3 µs + 0.55 ms in + 0.27 ms
//! out + 20 µs = 0.9 ms, a gain of 0.1 ms: about 2,000 such executions pass before the driver is started for
//! them.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::abi::Array;
use crate::cost::machine::{Machine, REFERENCE};

mod budget;
mod episodes;
mod history;
pub mod inspections;
pub mod lists;
mod loading;
pub mod machine;
#[cfg(test)]
mod regret;
mod starting;

use crate::base::size::Size;
use episodes::Episodes;
pub use episodes::{Course, FREE, Finished, Plan};
pub use history::Advice;
use history::History;
use loading::Loading;
pub use loading::price;
use starting::Starting;
pub use starting::Wait;

/// Seconds from begin to end of an execution that moves nothing (8 µs measured, a wait included).
pub const OVERHEAD: f64 = 10e-6;
/// Seconds for a copy, however small (3 µs measured).
const ARRAY: f64 = 3e-6;
/// Seconds for a launch that goes as part of a graph ([`crate::gpu::chain`]; 1.14 to 1.18 µs measured), where
/// one alone takes what [`REFERENCE`] says.
const CHAINED: f64 = 1.2e-6;
/// Launches that go one by one.
const ALONE: f64 = 64.0;
/// Large arrays in ordinary memory go as fast as all threads copy, but no faster than the link, and both not
/// alone: by this part of what [`REFERENCE`] says. Measured for 256 MB with 1, 2, 4, 8 threads: 12, 22, 38,
/// 50 GB/s.
const SHARE: f64 = 0.92;
/// The first megabytes of an array go slower: 1 MB takes 65 µs, 4 MB 200 µs.
const SLOW_BYTES: f64 = 4e6;
const SLOW_RATE: f64 = 22e9;
/// Seconds for a statement instance on the device: 24 bytes of traffic each at 1.2 TB/s.
const DEVICE_INSTANCE: f64 = 0.02e-9;
/// Seconds for one that waits for the one before, an addition of what is in shared memory.
const SERIAL: f64 = 5e-9;
/// Seconds for a statement instance on one host core: a few vectorised operations, or one cache miss in ten.
const HOST_INSTANCE: f64 = 1e-9;
/// Of host executions estimated to be shorter than this some are timed.
pub const MEASURED: f64 = 20e-6;
/// Of so many one.
const SHORT_MEASURED_EVERY: u64 = 16;
/// What is shorter stays on the host without further ado: an execution that moves its arrays takes 10 µs, one
/// whose arrays are there 4, and a call of the library that says no 0.3.
pub const TINY: f64 = 9e-6;
/// Executions in holds that are measured: the first ones, and of so many one.
const HELD_MEASURED: u64 = 4;
const HELD_MEASURED_EVERY: u64 = 32;
/// The host's time is known after so many measurements: its first ones are cold. Until then it has to be this
/// many times the device's, or long, for the device to be used.
const KNOWN: u64 = 4;
const CLEAR: f64 = 2.0;
const LONG: f64 = 10e-3;
/// How many times the host's estimated time an execution may take on the device before it is given up.
const PATIENCE: f64 = 2.0;
/// No execution is given up before so many seconds: one-time costs and hiccups are shorter.
const MIN_PATIENCE: f64 = 5e-3;
/// A single measurement changes a scale by no more than this factor.
const MAX_CHANGE: f64 = 64.0;

/// Seconds for what is done many times on this machine.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// To start the driver and make a context.
    pub startup: f64,
    launch: f64,
    chained: f64,
    /// For a byte of a large copy.
    byte: f64,
    device_instance: f64,
    serial: f64,
    host_instance: f64,
}

impl Rates {
    pub fn of(machine: &Machine, copy_threads: usize) -> Rates {
        let threads = machine.thread * copy_threads.max(1) as f64;
        Rates {
            startup: machine.startup,
            launch: machine.launch,
            chained: CHAINED * machine.launch / REFERENCE.launch,
            byte: 1.0 / (SHARE * threads.min(machine.link)),
            device_instance: DEVICE_INSTANCE * REFERENCE.device / machine.device,
            serial: SERIAL,
            host_instance: HOST_INSTANCE * REFERENCE.host / machine.host,
        }
    }

    /// For so many launches.
    fn launching(&self, launches: f64) -> f64 {
        launches.min(ALONE) * self.launch + (launches - ALONE).max(0.0) * self.chained
    }

    /// For a copy, either way.
    pub fn transfer(&self, bytes: u64) -> f64 {
        ARRAY + bytes as f64 * self.byte + (bytes as f64).min(SLOW_BYTES) / SLOW_RATE
    }
}

/// Estimated seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub device: f64,
    pub host: f64,
    /// Statement instances.
    pub work: f64,
    /// Of the device's, what doesn't depend on the launches, before it is scaled.
    unscaled: f64,
    /// Of the device's, what the transfers take.
    transfers: f64,
    /// The same before it is scaled.
    moved: f64,
    /// What has to come back before the original loop may run.
    pub leave: f64,
}

/// What an array moves: bytes to the device and back; None: no copy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moves {
    pub to_device: Option<u64>,
    pub to_host: Option<u64>,
}

impl Moves {
    /// What it moves where nothing stays on the device.
    pub fn of(array: &Array) -> Moves {
        Moves { to_device: array.copied_in().then(|| array.bytes_in()), to_host: array.bytes_out() }
    }
}

impl Estimate {
    pub fn size(&self) -> Size {
        Size { work: self.work, moved: self.moved }
    }

    /// Milliseconds on the device and on the host, for reports.
    pub fn reported(&self) -> (f64, f64, Size) {
        (self.device * 1e3, self.host * 1e3, self.size())
    }

    pub fn gain(&self) -> f64 {
        self.host + self.leave - self.device
    }

    /// The gain of an execution whose arrays are on the device and stay there.
    pub fn gain_without_transfers(&self) -> f64 {
        self.gain() + self.transfers
    }

    /// The device's seconds without the transfers, and those of the transfers.
    pub fn device_parts(&self) -> (f64, f64) {
        ((self.device - self.transfers).max(0.0), self.transfers)
    }

    /// Seconds after which an execution on the device is given up.
    pub fn patience(&self) -> f64 {
        (self.host * PATIENCE).max(MIN_PATIENCE)
    }
}

/// A positive number that threads read and write at will; 0 while unknown.
#[derive(Debug, Default)]
struct Figure(AtomicU64);

impl Figure {
    const fn new() -> Figure {
        Figure(AtomicU64::new(0))
    }

    fn get(&self) -> Option<f64> {
        Some(f64::from_bits(self.0.load(Ordering::Relaxed))).filter(|&value| value > 0.0)
    }

    fn set(&self, value: f64) {
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }

    /// Two threads may lose one of their summands: it is an estimate.
    fn add(&self, value: f64) -> f64 {
        let sum = self.get().unwrap_or(0.0) + value;
        self.set(sum);
        sum
    }

    /// A scale after an execution took `measured` where `estimated` was expected.
    fn correct(&self, measured: f64, estimated: f64) {
        let ratio = measured / estimated;
        if !(ratio > 0.0 && ratio.is_finite()) {
            return;
        }
        let ratio = ratio.clamp(1.0 / MAX_CHANGE, MAX_CHANGE);
        match self.get() {
            None => self.set(ratio),
            Some(scale) => self.set(scale * ratio.sqrt()),
        }
    }
}

/// Sizes of work that have a scale of their own: powers of 8 from 2^6 to 2^42 instances.
const CLASSES: usize = 13;

/// The factors between measured and estimated time, by the size of the work.
#[derive(Debug, Default)]
struct Scales {
    classes: [Figure; CLASSES],
    /// Of which classes there is one, a bit each: a loop that is never worth the device asks a million times.
    known: AtomicU64,
    /// Measurements, also by size.
    counts: [AtomicU64; CLASSES],
}

impl Scales {
    /// The nearest to (log2(work) - 6) / 3; NaN and anything below the first class give the first.
    fn class(work: f64) -> usize {
        let bits = work.max(1.0).to_bits();
        let (exponent, fraction) = ((bits >> 52) as i64 - 1023, bits << 12 >> 12);
        // Twice the logarithm, rounded down; halves round up.
        let halves = 2 * exponent + i64::from(fraction > std::f64::consts::SQRT_2.to_bits() << 12 >> 12);
        (halves - 9).div_euclid(6).clamp(0, CLASSES as i64 - 1) as usize
    }

    /// The scale of the class, or of the nearest one that has any; the smaller one of two.
    fn get(&self, work: f64) -> Option<f64> {
        if self.known.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let own = Scales::class(work);
        let known = |class: usize| self.classes.get(class).and_then(Figure::get);
        (0..CLASSES).find_map(|d| own.checked_sub(d).and_then(known).or_else(|| known(own + d)))
    }

    /// How often the class was measured.
    fn count(&self, work: f64) -> u64 {
        self.counts[Scales::class(work)].load(Ordering::Relaxed)
    }

    /// An execution took `measured` where `unscaled` would be without any scale. The first `cold` ones
    /// replace what was before.
    fn correct(&self, work: f64, measured: f64, unscaled: f64, cold: u64) {
        let class = Scales::class(work);
        if self.counts[class].fetch_add(1, Ordering::Relaxed) < cold {
            self.classes[class].set(0.0);
        }
        let scale = self.classes[class].get().unwrap_or(1.0);
        self.classes[class].correct(measured, unscaled * scale);
        self.note(class);
    }

    /// The class may have a scale now.
    fn note(&self, class: usize) {
        self.known.fetch_or(1 << class, Ordering::Relaxed);
    }
}

/// What the executions of a SCoP have shown.
#[derive(Debug, Default)]
pub struct Learned {
    device_scale: Scales,
    host_scale: Scales,
    launches: Figure,
    /// What one thread would run alone in the next execution, in additions.
    serial: Figure,
    loading: Loading,
    /// What inspections before executions on the host took.
    looks: budget::Debt,
    /// Sizes that come again.
    history: History,
    /// Executions that share their transfers, of which this SCoP's is the first.
    pub episodes: Episodes,
    /// Short executions on the host, and executions in holds.
    short: AtomicU64,
    held: AtomicU64,
}

/// Of the process.
static STARTING: Starting = Starting::new();

impl Learned {
    /// What an execution takes on either side.
    pub fn estimate(
        &self,
        work: f64,
        moves: impl IntoIterator<Item = Moves>,
        kernels: usize,
        rates: &Rates,
    ) -> Estimate {
        // A negative or undefined estimate of the work says nothing in favour of the device.
        let work = if work > 0.0 { work } else { 0.0 };
        let copies = moves.into_iter().flat_map(|moves| [moves.to_device, moves.to_host]).flatten();
        let moved: f64 = copies.map(|bytes| rates.transfer(bytes)).sum();
        let launches = self.launches.get().unwrap_or(kernels as f64);
        let scale = self.device_scale(work);
        let serial = self.serial.get().unwrap_or(0.0);
        let unscaled = OVERHEAD + moved + work * rates.device_instance + serial * rates.serial;
        // What larger executions take says nothing about the costs of an execution as such.
        let least =
            if self.device_scale.count(work) == 0 { OVERHEAD + rates.launching(launches) } else { 0.0 };
        Estimate {
            work,
            unscaled,
            transfers: moved * scale,
            moved,
            device: ((unscaled + rates.launching(launches)) * scale).max(least),
            host: self.host_seconds(work, rates),
            leave: 0.0,
        }
    }

    /// Before an execution: one thread of the device would run so many additions alone.
    pub fn run_alone(&self, additions: f64) {
        self.serial.set(additions);
    }

    fn host_seconds(&self, work: f64, rates: &Rates) -> f64 {
        work * rates.host_instance * self.host_scale.get(work).unwrap_or(1.0)
    }

    /// What the host takes, if nothing on the device can be faster.
    pub fn tiny(&self, work: f64, rates: &Rates) -> Option<f64> {
        Some(self.host_seconds(work.max(0.0), rates)).filter(|seconds| *seconds < TINY)
    }

    /// Whether an execution on the host, estimated to take `seconds`, is to be timed.
    pub fn times(&self, seconds: f64) -> bool {
        seconds >= MEASURED || self.short.fetch_add(1, Ordering::Relaxed) % SHORT_MEASURED_EVERY == 1
    }

    /// Whether an execution in a hold is to be measured.
    pub fn measures_held(&self) -> bool {
        let n = self.held.fetch_add(1, Ordering::Relaxed);
        n < HELD_MEASURED || n.is_multiple_of(HELD_MEASURED_EVERY)
    }

    /// Whether the device is a little better by figures of which the host's are not known well. `held`: the
    /// arrays may stay there, and transfers may be needed this time only.
    pub fn is_doubtful(&self, estimate: &Estimate, held: bool) -> bool {
        let Estimate { host, device, work, transfers, leave, .. } = *estimate;
        let device = if held { device - transfers } else { device };
        leave == 0.0
            && host < CLEAR * device
            && (MEASURED..LONG).contains(&host)
            && self.host_scale.count(work) < KNOWN
    }

    fn device_scale(&self, work: f64) -> f64 {
        let scale = self.device_scale.get(work).unwrap_or(1.0);
        if self.device_scale.count(work) == 1 { scale.min(1.0) } else { scale }
    }

    /// What executions of the same size say, whose times count in place of the estimated ones.
    pub fn advise(&self, estimate: &mut Estimate) -> Advice {
        if estimate.host < MEASURED { Advice::Estimate } else { self.history.advise(estimate) }
    }

    /// An execution whose arrays all moved took `seconds` on the device, with all that belongs to it.
    pub fn device_took_in_all(&self, seconds: f64, size: Size) {
        self.history.device_took(seconds, size);
    }

    /// An execution on the device took `seconds` from its first copy to its last.
    pub fn device_took(&self, seconds: f64, estimate: Estimate, launches: u64, rates: &Rates) {
        // The launches are known now: only the rest of the difference is the scale's.
        let unscaled = estimate.unscaled + rates.launching(launches as f64);
        if seconds > 0.0 && seconds.is_finite() {
            self.device_scale.correct(estimate.work, seconds, unscaled, 2);
        }
        self.launches.set(launches as f64);
    }

    /// An execution was given up after `seconds` and so many launches.
    pub fn given_up(&self, seconds: f64, estimate: Estimate, launches: u64, rates: &Rates) {
        // The next estimate is at least as long; at once, for the next attempt would cost as much again.
        let scale = seconds / (estimate.unscaled + rates.launching(launches as f64));
        let class = Scales::class(estimate.work);
        let former = self.device_scale.classes[class].get().unwrap_or(1.0);
        self.device_scale.classes[class].set(scale.max(former));
        self.device_scale.note(class);
        self.device_scale.counts[class].fetch_add(2, Ordering::Relaxed);
        self.launches.set(launches as f64);
        self.history.device_took(seconds, estimate.size());
    }

    /// The original loop took `seconds`.
    pub fn host_took(&self, seconds: f64, size: Size, rates: &Rates) {
        self.host_scale.correct(size.work, seconds, size.work * rates.host_instance, 1);
        if seconds >= MEASURED {
            self.history.host_took(seconds, size);
        }
    }

    /// Counts a gain that is missed if the answer is no: whether the code is worth loading, which takes
    /// `price` seconds.
    pub fn worth_loading(&self, estimate: &Estimate, gain: f64, price: f64) -> bool {
        self.loading.pays(estimate, gain, self.host_scale.count(estimate.work), price)
    }
    /// The same for the driver's start; if not, what it waits for. `price`: seconds, with those of the code
    /// if it has to be loaded. `age`: how long the process has run.
    pub fn worth_starting(
        &self,
        estimate: &Estimate,
        gain: f64,
        price: f64,
        age: impl FnOnce() -> f64,
    ) -> Result<(), Wait> {
        STARTING.pays(estimate, gain, self.host_scale.count(estimate.work), price, age)
    }
}

#[cfg(test)]
mod tests;

//! One execution of a versioned SCoP: begin, launches, end.
//!
//! Invariants:
//!
//! * host memory is only written in [`Run::end`], by results ([`crate::device::results`]), and by what an
//!   execution displaces from a hold ([`crate::activation`]): results of earlier ones, complete since then;
//! * host memory is written before everything has succeeded only where the original loop would write all of
//!   it again ([`overlap`]);
//! * results of arrays that are held stay on the device; an error of a launch that may have changed what only
//!   the device has ends the program, since nothing can restore it. Where an execution may turn out not to
//!   count for what the data are, a copy can;
//! * whatever happens, dropping the run waits for the device and frees what it holds, or leaves both to the
//!   hold.
//!
//! Example: `A[i] = A[i-1]` for `i` in `5 .. 10` on doubles touches `A[4] .. A[9]` and writes `A[5] .. A[9]`:
//! `start = &A[4]`, `bytes = 48`, `bias = -32`, `out_offset = 8`, `out_bytes = 40`. The device gets 48 bytes
//! at some `d` with `d = start (mod 16)`, the kernel's argument is `d - 32`, and 40 bytes come back from
//! `d + 8` to `start + 8`.

mod begin;
mod checks;
mod choice;
mod compare;
mod divided;
mod faults;
pub mod late;
mod overlap;
mod placed;
mod ranks;
mod room;

use std::ffi::c_int;
use std::time::{Duration, Instant};

pub use begin::begin;

use crate::activation::Activation;
use crate::base::abi::{Array, Kernel, Scop};
use crate::base::caller::fatal;
use crate::base::config::Config;
use crate::base::error::{Error, Result};
use crate::base::faults::Operation;
use crate::base::planted::unless;
use crate::cost::{Estimate, inspections};
use crate::device::results::{Back, lost};
use crate::device::{NoQueue, Queue};
use crate::hosts::World;
use crate::process::lines::ExecutionLine;
use crate::process::nvtx::Range;
use crate::process::profile::{self, Progress};
use crate::process::registry::{self, State};
use crate::residency::Found;
use placed::{Home, Placed};

/// The part of a launch that is queued.
#[derive(Clone, Copy)]
enum Part {
    All,
    Slice { first: bool },
}

/// How far an execution is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// No launch may have changed anything.
    Placing,
    /// Launches may have changed arrays.
    Launching,
    /// What launches changed of what only the device has is as it was before them.
    Restored,
    /// It has succeeded.
    Over,
}

/// Why an execution is on the device, and until when.
struct Chosen {
    state: &'static State,
    estimate: Estimate,
    setups: u64,
}

/// What is the same all along.
struct Fixed {
    config: &'static Config,
    scop: &'static Scop,
    /// Ranks that share it.
    world: Option<&'static World>,
    /// Statement instances.
    work: f64,
}

/// When it began.
struct Times {
    start: Instant,
    /// Before it makes room.
    begun: Instant,
    /// After driver, code and memory are there.
    ready: Instant,
}

/// What was done.
#[derive(Default)]
struct Counts {
    launches: u64,
    bytes_in: u64,
    bytes_out: u64,
}

/// What later choices are made from.
struct Learning {
    /// Where the settings leave the choice to the estimate.
    chosen: Option<Chosen>,
    /// Its time is learnt from.
    measured: bool,
    /// What was inspected for it.
    asked: Vec<Found>,
}

/// An execution on a device.
pub struct Run<'a> {
    fixed: Fixed,
    times: Times,
    counts: Counts,
    learning: Learning,
    queue: Box<dyn Queue>,
    /// Where queue and held arrays come from, and go back to: of the thread that runs the execution, and of
    /// nobody else.
    activation: Option<&'a mut Activation>,
    arrays: Vec<Placed>,
    /// The first error; later operations are left out.
    error: Option<Error>,
    /// Copies and slices beside others.
    beside: overlap::Beside,
    stage: Stage,
    /// Argument slots, reused by each launch.
    slots: Vec<u64>,
    /// What is known so far of a launch that several devices share.
    parts: divided::Parts,
    /// What is told of a long one.
    progress: Option<Progress>,
    /// Closed when all else is over.
    _range: Option<Range>,
}

impl Run<'_> {
    /// Launches a kernel; errors are kept for [`Run::end`].
    ///
    /// # Safety
    /// `scalars` points to as many slots as the kernel has scalars.
    pub unsafe fn launch(&mut self, kernel: u32, blocks: u64, scalars: *const u64) {
        self.note_launch(kernel as usize, blocks);
        if self.error.is_some() || blocks == 0 {
            return;
        }
        // SAFETY: the caller's promise.
        let launched = unsafe {
            let prepared = self.prepare(kernel as usize, |_| u64::MAX).and_then(|()| self.meet());
            prepared.and_then(|()| self.try_launch(kernel, blocks, scalars, Part::All))
        };
        if let Err(error) = launched {
            self.fail(error);
        }
    }

    unsafe fn try_launch(&mut self, index: u32, blocks: u64, scalars: *const u64, part: Part) -> Result<()> {
        let Some(kernel) = self.fixed.scop.kernels().get(index as usize) else {
            return Err(Error::Descriptor(format!("no kernel {index}")));
        };
        self.fixed.config.faults.check(Operation::Launch)?;
        self.check_patience()?;
        // SAFETY: the caller's promise.
        unsafe { self.fill_slots(kernel, scalars) };
        self.stage = Stage::Launching;
        // SAFETY: the slots are laid out as the header describes; slices of a launch don't depend on each
        // other.
        unsafe {
            match part {
                Part::Slice { first } => self.queue.launch_slice(index as usize, blocks, &self.slots, first),
                Part::All => self.queue.launch(index as usize, blocks, &self.slots),
            }
        }?;
        self.counts.launches += 1;
        if let Some(progress) = &mut self.progress {
            progress.tell(self.fixed.scop, self.counts.launches);
        }
        Ok(())
    }

    /// The argument slots of a launch.
    ///
    /// # Safety
    /// As for [`Run::launch`].
    unsafe fn fill_slots(&mut self, kernel: &Kernel, scalars: *const u64) {
        self.slots.clear();
        for &array in kernel.array_index() {
            self.slots.push(self.arrays[array as usize].argument);
        }
        for scalar in 0..kernel.n_scalars as usize {
            // SAFETY: the caller's promise.
            self.slots.push(unsafe { scalars.add(scalar).read() });
        }
    }

    /// Gives up an execution that takes far longer than the original loop would.
    fn check_patience(&self) -> Result<()> {
        let Some(chosen) = self.learning.chosen.as_ref().filter(|_| self.fixed.world.is_none()) else {
            return Ok(());
        };
        // What only the device has can't be given up.
        if self.stage == Stage::Launching && self.endangers() {
            return Ok(());
        }
        let taken = self.times.ready.elapsed();
        if taken <= Duration::from_secs_f64(chosen.estimate.patience()) {
            return Ok(());
        }
        let seconds = taken.as_secs_f64();
        chosen.state.learned.given_up(seconds, chosen.estimate, self.counts.launches, registry::rates());
        let (host, size) = (chosen.estimate.host, chosen.estimate.size());
        Err(Error::GivenUp { after_ms: seconds * 1e3, host_ms: host * 1e3, size })
    }

    /// The sizes of an array's inner dimensions, for the reports of the checked device.
    pub fn shape(&mut self, index: usize, dims: usize, sizes: [i64; 3]) {
        self.queue.shape(index, dims, sizes);
    }

    /// Keeps the first error.
    pub fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    /// Waits, copies the written ranges back, reports; results of held arrays stay. An error: host memory is
    /// as it was before. The result is what the program's `errno` is to be, if the program would have set it.
    ///
    /// # Safety
    /// The arrays' written ranges are writable.
    pub unsafe fn end(mut self) -> Result<Option<c_int>> {
        let failed = self.error.take().or(self.fixed.config.faults.check(Operation::Sync).err());
        if let Some(world) = self.fixed.world {
            ranks::agree(world, "the end of an execution", self.fixed.scop, failed.is_none())
                .map_err(|error| failed.clone().unwrap_or(error))?;
        }
        if let Some(error) = failed {
            return Err(error);
        }
        // SAFETY: the caller's promise.
        unsafe { self.fetch_all() }?;
        self.queue.submit()?;
        if self.fixed.config.check.any() {
            self.queue.synchronize()?;
            self.queue.check();
        }
        if self.fixed.config.check.copies {
            self.check_claims()?;
            // SAFETY: the caller's promise.
            unsafe { self.check_unwritten() }?;
        }
        // SAFETY: the caller's promise.
        let errno = unsafe { self.check_faults() }?;
        if self.fixed.config.compare.is_some() {
            // SAFETY: the caller's promise.
            unsafe { self.keep_apart() }?;
            return Err(Error::Compared);
        }
        // SAFETY: the caller's promise.
        let brought = unsafe { self.hurry() }?;
        self.counts.bytes_out = brought.iter().sum();
        let results = overlap::results(&self.arrays, &brought);
        let waits = self.activation.as_mut().is_none_or(|activation| activation.awaits())
            || !results.is_empty()
            || self.counts.bytes_out > 0
            || self.fixed.config.reports()
            || self.learning.measured;
        if waits {
            let _range = Range::open(|| "to the host".into());
            let mut back = Back { config: self.fixed.config, scop: self.fixed.scop, queue: &mut *self.queue };
            // SAFETY: the caller's promise.
            self.counts.bytes_out += unsafe { back.bring(&results) }?;
        } else if self.activation.as_ref().is_some_and(|activation| activation.copying) {
            unless("copies-read", || self.queue.await_copies())?;
        }
        if let Some(activation) = &mut self.activation {
            activation.copying = false;
        }
        self.queue.returned();
        // SAFETY: the caller's promise.
        unsafe { self.keep() };
        self.stage = Stage::Over;
        let late = late::took(self.fixed.scop, self.times.ready.elapsed().as_secs_f64());
        if let Some(Chosen { state, estimate, setups }) = self.learning.chosen.take()
            && setups == self.queue.setups()
            && self.learning.measured
        {
            let now = Instant::now();
            // In a hold other arrays may have to come back before there is room.
            let since = if self.activation.is_some() { self.times.begun } else { self.times.ready };
            let seconds = (now - since).as_secs_f64();
            state.learned.device_took(seconds, estimate, self.counts.launches, registry::rates());
            if self.activation.is_none() {
                state.learned.device_took_in_all((now - self.times.start).as_secs_f64(), estimate.size());
            }
        }
        if self.fixed.config.reports() {
            self.report(late);
        }
        Ok(errno)
    }

    /// The results of held arrays are the hold's.
    ///
    /// # Safety
    /// As for [`begin`].
    unsafe fn keep(&mut self) {
        let Some(activation) = &mut self.activation else { return };
        let arrays: Vec<(Array, bool)> = self.arrays.iter().map(|p| (p.host, p.is_held())).collect();
        let Fixed { config, scop, .. } = self.fixed;
        // SAFETY: the caller's promise.
        if let Err(error) = unsafe { activation.keep(config, &mut *self.queue, scop, &arrays) } {
            lost(scop, &error);
        }
        activation.learn(&std::mem::take(&mut self.learning.asked));
    }

    /// Whether the launches may have changed what only the device has.
    fn endangers(&self) -> bool {
        let Some(activation) = &self.activation else { return false };
        self.arrays.iter().any(|placed| placed.is_held() && activation.endangers(&placed.host))
    }

    fn report(&mut self, late: Option<String>) {
        let line = ExecutionLine {
            device: self.queue.label().into(),
            kernels: self.counts.launches,
            kernel_ms: self.queue.kernel_ms(),
            setup_ms: (self.times.ready - self.times.start).as_secs_f64() * 1e3,
            inspect_ms: inspections::take_ms(),
            total_ms: self.times.start.elapsed().as_secs_f64() * 1e3,
            bytes_to_device: self.counts.bytes_in,
            bytes_to_host: self.counts.bytes_out,
            devices: if self.queue.divided().0 > 0 { self.queue.devices() } else { 1 },
            bytes_between_devices: self.queue.divided().1,
            late,
            ..ExecutionLine::of(self.fixed.scop, self.times.start)
        };
        profile::report(self.fixed.config, &line);
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        if self.activation.is_none() {
            return;
        }
        let failed = matches!(self.stage, Stage::Launching | Stage::Restored);
        if self.stage == Stage::Launching && self.endangers() {
            fatal(&format!("{}: a failure left arrays half changed on the device", self.fixed.scop.name()));
        }
        let mut queue = std::mem::replace(&mut self.queue, Box::new(NoQueue));
        if self.beside.forked {
            // After a failure; what fails here, too, is the device.
            let _ = queue.gather();
        }
        // Memory of this execution alone; what was copied in from buffers of it is there.
        if self.arrays.iter().any(|placed| !placed.before.is_empty()) && queue.synchronize().is_err() {
            self.arrays.iter_mut().for_each(|placed| std::mem::forget(std::mem::take(&mut placed.before)));
        }
        for placed in self.arrays.iter().filter(|p| matches!(p.home, Home::Own | Home::Beside)) {
            queue.give_back(placed.device);
        }
        self.arrays.iter().filter_map(|placed| placed.saved).for_each(|saved| queue.give_back(saved));
        // What is as it was before is not worthless.
        let restored = self.stage == Stage::Restored;
        let lost = |placed: &&Placed| placed.is_held() && !(restored && placed.saved.is_some());
        let held: Vec<Array> = self.arrays.iter().filter(lost).map(|p| p.host).collect();
        if let Some(activation) = &mut self.activation {
            activation.finish(self.fixed.config, &mut *queue, &held, failed);
            activation.queue = Some(queue);
        }
    }
}

//! The end of an execution: checks, results, what is learnt and reported; and what is given back, however it
//! ends.

use std::ffi::c_int;
use std::time::Instant;

use super::array::{Home, Placed};
use super::run::{Chosen, Fixed, Run, Stage};
use super::{late, overlap, ranks};
use crate::base::abi::Array;
use crate::base::caller::fatal;
use crate::base::error::{Error, Result};
use crate::base::faults::Operation;
use crate::base::planted::unless;
use crate::cost::{inspections, lists};
use crate::device::NoQueue;
use crate::device::results::{Back, lost};
use crate::process::lines::ExecutionLine;
use crate::process::nvtx::Range;
use crate::process::{profile, registry};

impl Run<'_> {
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
        lists::note_held(self.activation.as_ref().is_some_and(|activation| activation.holds()));
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

    fn report(&mut self, late: Option<String>) {
        let divided = self.queue.divided().0 > 0;
        let line = ExecutionLine {
            device: self.queue.label().into(),
            kernels: self.counts.launches,
            kernel_ms: self.queue.kernel_ms(),
            setup_ms: (self.times.ready - self.times.start).as_secs_f64() * 1e3,
            inspect_ms: inspections::take_ms(),
            total_ms: self.times.start.elapsed().as_secs_f64() * 1e3,
            bytes_to_device: self.counts.bytes_in,
            bytes_to_host: self.counts.bytes_out,
            devices: if divided { self.queue.devices() } else { 1 },
            lanes: if divided { self.queue.lanes().unwrap_or_default() } else { Vec::new() },
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

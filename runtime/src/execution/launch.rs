//! One launch of an execution: its arguments, and whether the execution still pays.

use std::time::Duration;

use super::run::{Part, Run, Stage};
use crate::base::abi::Kernel;
use crate::base::error::{Error, Result};
use crate::base::faults::Operation;
use crate::process::registry;

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

    pub(super) unsafe fn try_launch(
        &mut self,
        index: u32,
        blocks: u64,
        scalars: *const u64,
        part: Part,
    ) -> Result<()> {
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
    pub(super) unsafe fn fill_slots(&mut self, kernel: &Kernel, scalars: *const u64) {
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
    pub(super) fn check_patience(&self) -> Result<()> {
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
}

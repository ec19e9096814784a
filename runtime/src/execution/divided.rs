//! Launches that several devices share.
//!
//! The program asks first ([`Run::n_parts`]), then tells what each part touches ([`Run::part`]), and the launch is made when all parts are known
//! ([`Run::launch_parts`]).

use crate::base::abi::PartRange;
use crate::base::error::{Error, Result};
use crate::base::faults::Operation;
use crate::device::Part;

use super::Run;

/// What is known so far of a launch.
#[derive(Default)]
pub(super) struct Parts {
    kernel: usize,
    parts: Vec<Part>,
}

impl Run<'_> {
    /// How many devices share a launch that could be cut into so many parts.
    pub fn n_parts(&mut self, kernel: u32, units: u64) -> u64 {
        self.parts.kernel = kernel as usize;
        self.parts.parts.clear();
        if self.error.is_some() { 1 } else { (self.queue.devices() as u64).min(units).max(1) }
    }

    /// The next part of the launch that [`Run::n_parts`] was asked about.
    ///
    /// # Safety
    /// `scalars` as for [`Run::launch`]; the part touches and writes nothing else than the ranges say.
    pub unsafe fn part(&mut self, blocks: u64, scalars: *const u64, ranges: &[PartRange]) -> Result<()> {
        let Some(kernel) = self.scop.kernels().get(self.parts.kernel).filter(|_| self.error.is_none()) else {
            return Ok(());
        };
        // SAFETY: the caller's promise.
        unsafe { self.fill_slots(kernel, scalars) };
        let mut part = Part { blocks, arguments: self.slots.clone(), ..Part::default() };
        for range in ranges {
            let placed = self.arrays.get(range.array as usize);
            let placed = placed.ok_or_else(|| Error::Descriptor(format!("no array {}", range.array)))?;
            let (device, bytes) = (placed.device, placed.host.bytes);
            let span = |[start, end]: [u64; 2]| (device + start.min(bytes), device + end.min(bytes));
            part.touched.push(span(range.touched));
            part.written.push(span(range.written));
        }
        self.parts.parts.push(part);
        Ok(())
    }

    /// Launches the parts; errors are kept for [`Run::end`].
    ///
    /// # Safety
    /// The parts are all of one launch.
    pub unsafe fn launch_parts(&mut self) {
        if self.error.is_some() {
            return;
        }
        // SAFETY: the caller's promise.
        if let Err(error) = unsafe { self.try_launch_parts() } {
            self.fail(error);
        }
    }

    unsafe fn try_launch_parts(&mut self) -> Result<()> {
        let Parts { kernel, parts } = std::mem::take(&mut self.parts);
        if self.scop.kernels().get(kernel).is_none() {
            return Err(Error::Descriptor(format!("no kernel {kernel}")));
        }
        // SAFETY: as for a launch of all blocks.
        unsafe { self.prepare(kernel, |_| u64::MAX) }?;
        self.meet()?;
        self.config.faults.check(Operation::Launch)?;
        self.check_patience()?;
        self.launched = true;
        // SAFETY: the caller's promise; the slots are laid out as the header describes.
        unsafe { self.queue.launch_parts(kernel, &parts) }?;
        self.launches += parts.len() as u64;
        if let Some(progress) = &mut self.progress {
            progress.tell(self.scop, self.launches);
        }
        Ok(())
    }
}

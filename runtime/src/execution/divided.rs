//! Launches that several devices share.
//!
//! The program asks first ([`Run::n_parts`]), then tells what each part touches ([`Run::part`]), and the
//! launch is made when all parts are known ([`Run::launch_parts`]).

use crate::base::abi::PartRange;
use crate::base::error::{Error, Result};
use crate::base::faults::Operation;
use crate::device::Part;

use super::overlap::INSTANCE_SECONDS;
use super::run::{Parts, Run, Stage};

/// Device memory is passed at some 3 TB/s, and two H100 in lock step take 15 us a step: at half of the
/// former's time a launch gains as much as it costs.
const SHARED_BYTES: u64 = 128 << 20;
/// Seconds by [`INSTANCE_SECONDS`], which is the least that work takes.
const SHARED_SECONDS: f64 = 1e-3;

impl Run<'_> {
    /// How many parts a launch has that could be cut into so many; 0: nothing needs to be known of parts. (Of
    /// one part as well it is known what it touches: that alone has to be where it runs.)
    pub fn n_parts(&mut self, kernel: u32, units: u64) -> u64 {
        self.parts.kernel = kernel as usize;
        self.parts.parts.clear();
        match self.queue.devices() {
            _ if self.error.is_some() => 0,
            1 => 0,
            _ if self.pays() => self.queue.parts(kernel as usize, units),
            _ => 1,
        }
    }

    /// Whether the execution is long enough for devices that wait for each other at each launch: by the bytes
    /// of its arrays, which a launch takes so long to pass as two devices take to exchange something, or by
    /// its work.
    fn pays(&self) -> bool {
        let bytes = self.arrays.iter().fold(0u64, |sum, placed| sum.saturating_add(placed.host.bytes));
        self.queue.always_shares()
            || bytes >= SHARED_BYTES
            || self.fixed.work * INSTANCE_SECONDS >= SHARED_SECONDS
    }

    /// The next part of the launch that [`Run::n_parts`] was asked about.
    ///
    /// # Safety
    /// `scalars` as for [`Run::launch`]; the part touches and writes nothing else than the ranges say.
    pub unsafe fn part(&mut self, blocks: u64, scalars: *const u64, ranges: &[PartRange]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.note_part(self.parts.kernel, blocks, scalars) };
        let Some(kernel) = self.fixed.scop.kernels().get(self.parts.kernel).filter(|_| self.error.is_none())
        else {
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
        if self.fixed.scop.kernels().get(kernel).is_none() {
            return Err(Error::Descriptor(format!("no kernel {kernel}")));
        }
        // SAFETY: as for a launch of all blocks.
        unsafe { self.prepare(kernel, |_| u64::MAX) }?;
        self.meet()?;
        self.fixed.config.faults.check(Operation::Launch)?;
        self.check_patience()?;
        self.stage = Stage::Launching;
        // SAFETY: the caller's promise; the slots are laid out as the header describes.
        unsafe { self.queue.launch_parts(kernel, &parts) }?;
        self.counts.launches += parts.len() as u64;
        if let Some(progress) = &mut self.progress {
            progress.tell(self.fixed.scop, self.counts.launches);
        }
        Ok(())
    }
}

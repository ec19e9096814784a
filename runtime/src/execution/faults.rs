//! Kernels that meet what the model lacks: the execution does not count.
//!
//! Problem: a kernel that would have to set `errno` can't; it sets a byte of a fault cell, an array of the
//! execution. Invariants:
//!
//! * the cell is read behind all kernels, also where copies run beside them;
//! * where it says that the original loop has to run, the program's memory is as it was, and so is what only
//!   the device had: of that there is a copy from before the first launch.

use std::ffi::c_int;

use crate::base::abi::{FAULT_CHECK, FAULT_ERANGE, FAULT_NAN, FAULT_PERHAPS};
use crate::base::caller::ERANGE;
use crate::base::error::{Error, Result};
use crate::base::faults::Operation;
use crate::base::planted::unless;

use super::array::Placed;
use super::run::{Run, Stage};

/// Bytes of a fault cell.
const BYTES: usize = 8;

impl Run<'_> {
    /// Waits for the kernels, if they may report faults, and looks whether one did. The result is `errno`, if
    /// it is to be set.
    ///
    /// # Safety
    /// As for [`Run::end`].
    pub(super) unsafe fn check_faults(&mut self) -> Result<Option<c_int>> {
        // What some device has set, by number.
        let mut set = [false; BYTES];
        let cells: Vec<_> =
            self.arrays.iter().filter(|a| a.host.is_fault()).map(|a| (a.device, a.host.bytes)).collect();
        if !cells.is_empty() {
            // Copies beside kernels would not wait for these.
            unless("fault-gather", || self.gather())?;
        }
        let devices = 0..self.queue.devices();
        let each = |cell: (u64, u64)| devices.clone().map(move |device| (device, cell));
        for (device, (from, bytes)) in cells.into_iter().flat_map(each) {
            let landing = self.queue.landing(bytes)?;
            // SAFETY: the buffer is as long as the cell, which has landed after the wait.
            let landed = unsafe {
                if !self.queue.copy_out_of(device, landing, from, bytes)? {
                    continue;
                }
                unless("fault-cell", || self.queue.synchronize())?;
                std::slice::from_raw_parts(landing, bytes as usize)
            };
            for (byte, set) in landed.iter().zip(&mut set) {
                *set |= *byte != 0;
            }
        }
        // Whoever may set `ERANGE` changes nothing beside one that does.
        set[FAULT_PERHAPS] &= !set[FAULT_ERANGE];
        let faulty = set.iter().enumerate().any(|(at, set)| at != FAULT_ERANGE && *set);
        if faulty {
            // SAFETY: the caller's promise.
            unsafe { self.restore() }?;
            return Err(match (set[FAULT_CHECK], set[FAULT_NAN]) {
                (true, _) => Error::Check,
                (_, true) => Error::Nan,
                _ => Error::Fault,
            });
        }
        Ok(set[FAULT_ERANGE].then_some(ERANGE))
    }

    /// Copies what only the device has, and the launches may change, where the execution may turn out not to
    /// count.
    pub(super) fn save(&mut self) -> Result<()> {
        let Some(activation) =
            self.activation.as_ref().filter(|_| self.arrays.iter().any(|a| a.host.is_fault()))
        else {
            return Ok(());
        };
        for index in 0..self.arrays.len() {
            let Placed { host, device, .. } = self.arrays[index];
            if self.arrays[index].is_held() && activation.endangers(&host) {
                self.fixed.config.faults.check(Operation::Alloc)?;
                let to = self.queue.allocate(host.bytes, host.start as u64)?;
                self.arrays[index].saved = Some(to);
                // SAFETY: two allocations of the array's size.
                unsafe { self.queue.copy_within(to, device, host.bytes) }?;
            }
        }
        Ok(())
    }

    /// Undoes the launches, which are over, where [`Run::save`] made a copy.
    ///
    /// # Safety
    /// As for [`Run::end`].
    unsafe fn restore(&mut self) -> Result<()> {
        for &Placed { host, device, saved, .. } in &self.arrays {
            let Some(saved) = saved else { continue };
            // SAFETY: as in `save`.
            unsafe { self.queue.copy_within(device, saved, host.bytes) }?;
        }
        self.stage = Stage::Restored;
        Ok(())
    }
}

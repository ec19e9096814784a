//! The device's results, where they are compared with the original loop's and do not go to the program's
//! memory ([`crate::process::compare`]).

use super::run::Run;
use crate::base::error::Result;
use crate::device::results::{Back, Returning};
use crate::device::snapshot::Snapshot;
use crate::memory::guarded;
use crate::process::compare::{self, Results, Written};

impl Run<'_> {
    /// Keeps what the device has computed for [`compare::take`].
    ///
    /// # Safety
    /// The arrays' written ranges are readable where the program says that they are.
    pub(super) unsafe fn keep_apart(&mut self) -> Result<()> {
        let mut arrays = Vec::new();
        for (index, placed) in self.arrays.iter().enumerate() {
            let Some((offset, bytes)) = placed.host.out_range() else { continue };
            let place = placed.host.start.cast::<u8>().wrapping_add(offset as usize);
            let mut copy = Snapshot::new(bytes)?;
            guarded::copy(&mut copy, place)?;
            let element = placed.host.element_bytes.max(1);
            let array = self.fixed.scop.array_name(index).into_owned();
            let first = (offset as i64 - placed.host.bias) / i64::from(element);
            arrays.push((placed, Written { array, element: element as usize, first, place, bytes: copy }));
        }
        let results: Vec<Returning<'_>> = arrays
            .iter_mut()
            .map(|(placed, written)| {
                let (offset, bytes) = placed.host.out_range().unwrap_or_default();
                let range = offset as usize..(offset + bytes) as usize;
                Returning {
                    from: placed.device + offset,
                    to: written.bytes.as_mut_ptr(),
                    bytes,
                    shape: placed.host.shape(),
                    before: placed.before.get(range).unwrap_or_default(),
                    again: false,
                    rows: None,
                }
            })
            .collect();
        let mut back = Back { config: self.fixed.config, scop: self.fixed.scop, queue: &mut *self.queue };
        // SAFETY: the places are ours, as long as the ranges.
        unsafe { back.bring(&results) }?;
        let results =
            Results { device: self.queue.label(), arrays: arrays.into_iter().map(|(_, w)| w).collect() };
        compare::keep(self.fixed.scop, results);
        Ok(())
    }
}

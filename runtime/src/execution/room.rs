//! Arrays that the device can't hold at once.
//!
//! Problem: a lack of memory empties the pool, brings back what is held and tries again, each time; where the
//! device is smaller than what an execution touches, all of that is in vain. Approach: such an execution is
//! refused before anything is given up for it.

use crate::base::abi::{ARRAY_SCRATCH, Array};
use crate::base::error::{Error, Result};
use crate::base::spans::unite;

use super::run::Run;

impl Run<'_> {
    pub(super) fn check_room(&self) -> Result<()> {
        let Some(memory) = self.queue.memory() else { return Ok(()) };
        let all = || self.arrays.iter().map(|placed| placed.host);
        if all().fold(0, |sum: u64, array| sum.saturating_add(array.bytes)) <= memory {
            return Ok(());
        }
        let bytes = least(all());
        if bytes > memory { Err(Error::TooLarge { bytes, memory }) } else { Ok(()) }
    }
}

/// The least memory that arrays take: some may share it.
fn least(arrays: impl Iterator<Item = Array>) -> u64 {
    let (mut scratch, mut shared) = (0u64, Vec::new());
    for array in arrays.filter(|array| array.bytes > 0) {
        if array.flags & ARRAY_SCRATCH != 0 {
            scratch = scratch.saturating_add(array.bytes);
        } else {
            unite(&mut shared, (array.start as u64, array.start as u64 + array.bytes));
        }
    }
    shared.iter().fold(scratch, |sum, (start, end)| sum.saturating_add(end - start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_counts_once() {
        let array = |start: usize, bytes: u64, flags: u32| Array {
            start: std::ptr::without_provenance_mut(start),
            bytes,
            bias: 0,
            out_offset: 0,
            out_bytes: 0,
            flags,
            element_bytes: 8,
            row_bytes: 0,
            row_count: [0; 3],
            row_stride: [0; 3],
        };
        for (arrays, bytes) in [
            (vec![], 0),
            (vec![array(4096, 100, 0), array(8192, 50, 0)], 150),
            (vec![array(4096, 100, 0), array(4096, 100, 0), array(4150, 100, 0)], 154),
            (vec![array(0, 100, ARRAY_SCRATCH), array(0, 100, ARRAY_SCRATCH), array(4096, 1, 0)], 201),
            (vec![array(0, u64::MAX, ARRAY_SCRATCH), array(0, 2, ARRAY_SCRATCH)], u64::MAX),
            (vec![array(0, 0, 0)], 0),
        ] {
            assert_eq!(least(arrays.into_iter()), bytes);
        }
    }
}

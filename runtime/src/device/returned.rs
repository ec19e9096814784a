//! What comes back to the program's memory, byte for byte.
//!
//! **Problem.** A SCoP may write some of the elements between the first and the last one it writes: the
//! inside of a grid, the even elements, a triangle. What lies in between belongs to the program, and another
//! of its threads may be writing there meanwhile. So results are not copied over the whole range but settled
//! element by element.
//!
//! **Invariant.** Only bytes of elements that the device wrote are stored to. For a [`Shape::Rows`] they are
//! known; for a [`Shape::Changed`] they are found by comparing with a snapshot: what the device did not write
//! is what went in, and an element that the device wrote without changing it needs no store. (That is why the
//! snapshot is what is copied in: a second read of the program's memory could differ.)

use crate::base::rows::Rows;
use crate::base::shape::Shape;
use crate::device::POISON;
use crate::memory::packed::{self, Packed};

/// The program's memory where results go; threads store to different bytes of it.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    to: *mut u8,
    /// Rows that the address stands for.
    packed: Option<&'a Packed>,
}

// SAFETY: a plain address; `settle` hands disjoint parts to its threads.
unsafe impl Send for Target<'_> {}
// SAFETY: as above.
unsafe impl Sync for Target<'_> {}

impl<'a> Target<'a> {
    /// What begins at `to`, which may stand for rows.
    pub fn new(to: *mut u8, packed: Option<&'a Packed>) -> Target<'a> {
        Target { to, packed }
    }

    /// # Safety
    /// `at .. at + bytes.len()` is valid for writes and no other thread's.
    pub unsafe fn store(self, at: usize, bytes: &[u8]) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.packed {
                Some(packed) => packed.store(self.to.addr() as u64 + at as u64, bytes),
                None => self.to.add(at).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()),
            }
        }
    }
}

/// Below this many bytes a thread of its own is not worth starting (some 20 microseconds).
const MIN_PART: usize = 1 << 20;

/// Stores `results`, the bytes of the written range as the device left them, to `to`, with up to `threads`
/// threads; `before` is the same range as it went in, for [`Shape::Changed`].
///
/// # Safety
/// `to` is valid for writes of the bytes that the shape selects; [`Shape::check`] has no objection for
/// `results.len()` bytes, and `before` is as long as `results` for [`Shape::Changed`].
pub unsafe fn settle(to: Target<'_>, results: &[u8], shape: &Shape, before: &[u8], threads: usize) {
    let units = match *shape {
        Shape::Dense => results.len().div_ceil(BLOCK),
        Shape::Rows(Rows { count, .. }) => count.iter().product::<u64>() as usize,
        Shape::Changed { .. } => results.len().div_ceil(BLOCK),
    };
    let part = |units: std::ops::Range<usize>| match *shape {
        Shape::Dense => {
            let bytes = units.start * BLOCK..(units.end * BLOCK).min(results.len());
            // SAFETY: the caller's promise; parts are disjoint.
            unsafe { to.store(bytes.start, &results[bytes]) };
        }
        Shape::Rows(Rows { bytes, count, stride }) => {
            for row in units.map(|u| u as u64) {
                let (a, b, c) = (row / count[2] / count[1], row / count[2] % count[1], row % count[2]);
                let at = (a * stride[0] + b * stride[1] + c * stride[2]) as usize;
                // SAFETY: the caller's promise: a row of the shape; rows are disjoint.
                unsafe { to.store(at, &results[at..at + bytes as usize]) };
            }
        }
        Shape::Changed { element } => {
            for start in units.map(|u| u * BLOCK) {
                let block = start..(start + BLOCK).min(results.len());
                // SAFETY: the caller's promise; blocks are disjoint.
                unsafe { settle_changed(to, start, &results[block.clone()], &before[block], element) };
            }
        }
    };
    let parts = (results.len() / MIN_PART).clamp(1, threads.max(1)).min(units.max(1));
    let share = |i: usize| i * units / parts..(i + 1) * units / parts;
    std::thread::scope(|scope| {
        let part = &part;
        // A thread that cannot be started leaves its share to this one.
        let left: Vec<usize> = (1..parts)
            .filter(|&i| std::thread::Builder::new().spawn_scoped(scope, move || part(share(i))).is_err())
            .collect();
        part(share(0));
        left.into_iter().for_each(|i| part(share(i)));
    });
}

/// Stores a part of the results that begins `at` bytes into the written range, on this thread. The range is
/// `before`, the whole of it as it went in, for [`Shape::Changed`], of whose element size `at` is a multiple.
///
/// # Safety
/// As for [`settle`]; `to` is where the range begins.
pub unsafe fn settle_part(target: Target<'_>, at: usize, part: &[u8], shape: &Shape, before: &[u8]) {
    match *shape {
        // SAFETY: the caller's promise.
        Shape::Dense => unsafe { target.store(at, part) },
        Shape::Changed { element } => {
            for (index, new) in part.chunks(BLOCK).enumerate() {
                let start = at + index * BLOCK;
                // SAFETY: the caller's promise.
                unsafe { settle_changed(target, start, new, &before[start..start + new.len()], element) };
            }
        }
        Shape::Rows(Rows { bytes, count, stride }) => {
            let (start, end) = (at as u64, (at + part.len()) as u64);
            Rows { bytes, count, stride }.meet((start, end), |first, last| {
                let stored = &part[(first - start) as usize..(last - start) as usize];
                // SAFETY: the caller's promise: inside of a row of the shape.
                unsafe { target.store(first as usize, stored) };
            });
        }
    }
}

/// `POLLYRS_RT_CHECK`: until a result comes back, the program's memory holds what nobody would mistake for
/// it: who reads it too early shows.
///
/// # Safety
/// `to` is the address of the result's place, which is writable; [`Shape::check`] has no objection.
pub unsafe fn obliterate(to: u64, bytes: u64, shape: &Shape) {
    // What comes back of the others depends on what is there.
    if !matches!(shape, Shape::Changed { .. }) {
        let packed = packed::of(to);
        let to = Target::new(std::ptr::with_exposed_provenance_mut(to as usize), packed.as_deref());
        // SAFETY: the caller's promise.
        unsafe { settle(to, &vec![POISON; bytes as usize], shape, &[], 1) };
    }
}

/// Bytes compared at once: long enough for the comparison to be fast, short enough to skip what did not
/// change. Every element size (1, 2, 4, 8) divides it.
const BLOCK: usize = 4096;

/// # Safety
/// The elements that differ are valid for writes at `at` and no other thread's.
unsafe fn settle_changed(to: Target, at: usize, new: &[u8], old: &[u8], element: u64) {
    if new == old {
        return;
    }
    let element = element.max(1) as usize;
    for (j, (new, old)) in new.chunks(element).zip(old.chunks(element)).enumerate() {
        if new != old {
            // SAFETY: an element that the device changed, hence wrote: the caller's promise.
            unsafe { to.store(at + j * element, new) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program's memory after a settlement, where the device wrote 2 over 1 and another thread made it 9.
    fn after(shape: &Shape, written: &[usize]) -> Vec<u8> {
        let before = vec![1; 40];
        let mut results = before.clone();
        written.iter().for_each(|&at| results[at] = 2);
        let mut memory = vec![9; 40];
        // SAFETY: the vector is as long as the results.
        unsafe { settle(Target::new(memory.as_mut_ptr(), None), &results, shape, &before, 1) };
        memory
    }

    fn stored(memory: &[u8]) -> Vec<usize> {
        (0..memory.len()).filter(|&at| memory[at] != 9).collect()
    }

    #[test]
    fn only_what_the_device_wrote_is_stored() {
        let rows = Shape::Rows(Rows { bytes: 2, count: [1, 2, 3], stride: [0, 20, 5] });
        assert_eq!(rows.check(40), None);
        let expected: Vec<usize> = [0, 5, 10, 20, 25, 30].iter().flat_map(|&r| [r, r + 1]).collect();
        assert_eq!(stored(&after(&rows, &[0, 25])), expected);

        let changed = Shape::Changed { element: 4 };
        let memory = after(&changed, &[5, 36]);
        assert_eq!(stored(&memory), [4, 5, 6, 7, 36, 37, 38, 39]);
        assert_eq!((memory[4], memory[5], memory[36]), (1, 2, 2));

        assert_eq!(stored(&after(&Shape::Dense, &[3])).len(), 40);
    }

    #[test]
    fn parts_store_what_the_whole_stores() {
        let shapes = [
            Shape::Dense,
            Shape::Changed { element: 4 },
            Shape::Rows(Rows { bytes: 2, count: [1, 2, 3], stride: [0, 20, 5] }),
            Shape::Rows(Rows { bytes: 3, count: [2, 3, 2], stride: [18, 6, 3] }),
            Shape::Rows(Rows { bytes: 40, count: [1, 1, 1], stride: [0, 0, 0] }),
            Shape::Rows(Rows { bytes: 1, count: [1, 1, 8], stride: [0, 0, 5] }),
        ];
        for shape in shapes {
            let before: Vec<u8> = (0..40).collect();
            let results: Vec<u8> = (0..40).map(|i| if i % 3 == 0 { i + 100 } else { i }).collect();
            let mut whole = vec![9; 40];
            // SAFETY: the vectors are as long as the results.
            unsafe { settle(Target::new(whole.as_mut_ptr(), None), &results, &shape, &before, 1) };
            for step in [4, 8, 12, 40] {
                let mut memory = vec![9; 40];
                for at in (0..40).step_by(step).rev() {
                    let part = &results[at..(at + step).min(40)];
                    // SAFETY: as above.
                    unsafe { settle_part(Target::new(memory.as_mut_ptr(), None), at, part, &shape, &before) };
                }
                assert_eq!(memory, whole, "{shape:?} {step}");
            }
        }
    }

    #[test]
    fn changes_in_every_block_are_found() {
        let n = 3 * MIN_PART + 24;
        for (element, threads) in [(1, 1), (2, 2), (4, 3), (8, 16)] {
            let before: Vec<u8> = (0..n).map(|i| (i * 7) as u8).collect();
            let mut results = before.clone();
            for at in (0..n).step_by(1013) {
                results[at] ^= 0x40;
            }
            let mut memory = before.clone();
            // SAFETY: the vector is as long as the results.
            unsafe {
                settle(
                    Target::new(memory.as_mut_ptr(), None),
                    &results,
                    &Shape::Changed { element },
                    &before,
                    threads,
                )
            };
            assert_eq!(memory, results, "{element}");
        }
    }

    #[test]
    fn rows_stay_inside() {
        let rows = |count, stride| Shape::Rows(Rows { bytes: 8, count, stride });
        assert_eq!(rows([1, 1, 4], [0, 0, 10]).check(38), None);
        assert!(rows([1, 1, 4], [0, 0, 10]).check(37).is_some());
        assert!(rows([1, 0, 4], [0, 0, 10]).check(38).is_some());
        assert!(rows([u64::MAX, 2, 4], [u64::MAX, 0, 10]).check(38).is_some());
    }
}

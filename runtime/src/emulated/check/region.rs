//! An array on the device, element by element.

use super::shadow::Cell;
use super::site::{MAY_KEEP, Site};
use crate::base::abi::Array;
use crate::base::rows::Rows;
use crate::base::shape::Shape;

/// An array on the device.
pub(super) struct Region {
    pub(super) begin: u64,
    pub(super) end: u64,
    /// The address of the element with all subscripts 0.
    pub(super) argument: u64,
    pub(super) element: u64,
    pub(super) host: Array,
    pub(super) scratch: bool,
    pub(super) held: bool,
    pub(super) cells: Vec<Cell>,
    /// What the array held before the first store that may keep an element; empty without one.
    pub(super) before: Vec<u8>,
    /// Which elements other stores wrote.
    pub(super) changed: Vec<bool>,
    /// Sizes of all dimensions but the first; None: not known.
    pub(super) inner: Option<Vec<i64>>,
}

impl Region {
    pub(super) fn cell_range(&self, address: u64, bytes: u64) -> std::ops::Range<usize> {
        let first = (address - self.begin) / self.element;
        let last = (address + bytes.max(1) - 1 - self.begin) / self.element;
        first as usize..last as usize + 1
    }

    /// The bytes of element `at` now.
    fn bytes(&self, at: usize) -> &[u8] {
        let offset = at as u64 * self.element;
        let n = self.element.min(self.end - self.begin - offset) as usize;
        // SAFETY: `placed` had this memory of the emulated device, which lives until the execution ends.
        unsafe { std::slice::from_raw_parts((self.begin + offset) as *const u8, n) }
    }

    /// Element `at` is about to be written.
    pub(super) fn note_value(&mut self, at: usize, site: &Site) {
        if site.flags & MAY_KEEP == 0 {
            self.changed[at] = true;
        } else if self.before.is_empty() {
            // SAFETY: as in `bytes`.
            let all = unsafe {
                std::slice::from_raw_parts(self.begin as *const u8, (self.end - self.begin) as usize)
            };
            self.before = all.to_vec();
        }
    }

    /// Whether element `at` was written with the value that it had.
    pub(super) fn is_kept(&self, at: usize) -> bool {
        let (bytes, offset) = (self.bytes(at), at * self.element as usize);
        !self.changed[at] && self.before.get(offset..offset + bytes.len()) == Some(bytes)
    }

    /// Which elements come back, now or later.
    pub(super) fn returned(&self) -> Vec<bool> {
        let (offset, bytes) = self.host.out_range().unwrap_or((0, 0));
        returned_cells(&self.host.shape(), offset, bytes, self.element, self.cells.len())
    }
}

/// Which elements come back.
fn returned_cells(shape: &Shape, offset: u64, bytes: u64, element: u64, n: usize) -> Vec<bool> {
    let mut cells = vec![false; n];
    let mut mark = |from: u64, bytes: u64| {
        for at in from / element..(from + bytes).div_ceil(element) {
            if let Some(cell) = cells.get_mut(at as usize) {
                *cell = true;
            }
        }
    };
    match *shape {
        _ if bytes == 0 => {}
        Shape::Dense | Shape::Changed { .. } => mark(offset, bytes),
        Shape::Rows(Rows { bytes, count, stride }) => {
            for a in 0..count[0] {
                for b in 0..count[1] {
                    for c in 0..count[2] {
                        mark(offset + a * stride[0] + b * stride[1] + c * stride[2], bytes);
                    }
                }
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_come_back() {
        let as_text =
            |cells: Vec<bool>| -> String { cells.iter().map(|c| if *c { 'x' } else { '.' }).collect() };
        assert_eq!(as_text(returned_cells(&Shape::Dense, 8, 24, 8, 6)), ".xxx..");
        assert_eq!(as_text(returned_cells(&Shape::Dense, 0, 0, 8, 3)), "...");
        let rows = Shape::Rows(Rows { bytes: 8, count: [1, 2, 2], stride: [0, 32, 12] });
        assert_eq!(as_text(returned_cells(&rows, 4, 56, 4, 16)), ".xx.xx...xx.xx..");
    }
}

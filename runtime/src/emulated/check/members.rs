//! What several devices that share an execution tell each other of it.

use super::Checker;
use super::shadow::Cell;

impl Checker {
    /// `bytes` at `to` came from another device, with what is known of them there.
    pub fn pulled(&mut self, to: u64, other: &Checker, from: u64, bytes: u64) {
        for (own, theirs) in self.regions.iter_mut().zip(&other.regions) {
            let (Some(own), Some(theirs)) = (own, theirs) else { continue };
            let (begin, end) = (to.max(own.begin), (to + bytes).min(own.end));
            if begin >= end {
                continue;
            }
            let cells = own.cell_range(begin, end - begin);
            let there = theirs.cell_range(from + (begin - to), end - begin);
            for (cell, known) in own.cells[cells].iter_mut().zip(&theirs.cells[there]) {
                if known.undefined() { cell.undefine() } else { cell.define() }
            }
        }
    }

    /// What lies here is another device's.
    pub fn lacks(&mut self, device: u64, bytes: u64) {
        for region in self.regions.iter_mut().flatten() {
            let (begin, end) = (device.max(region.begin), (device + bytes).min(region.end));
            if begin < end {
                let cells = region.cell_range(begin, end - begin);
                region.cells[cells].iter_mut().for_each(Cell::undefine);
            }
        }
    }

    /// What the kernels of another device did in this execution counts as done here.
    pub fn absorb(&mut self, other: &Checker) {
        for (own, theirs) in self.regions.iter_mut().zip(&other.regions) {
            let (Some(own), Some(theirs)) = (own, theirs) else { continue };
            let returned = theirs.returned();
            for (at, (cell, other)) in own.cells.iter_mut().zip(&theirs.cells).enumerate() {
                cell.absorb(other, returned[at] || !theirs.is_kept(at));
            }
        }
    }

    /// Of each byte, whether it has a value.
    pub fn knowledge(&self, from: u64, bytes: u64) -> Vec<u8> {
        let mut known = vec![1; bytes as usize];
        for region in self.regions.iter().flatten() {
            let (begin, end) = (from.max(region.begin), (from + bytes).min(region.end));
            for address in begin..end.max(begin) {
                let cell = &region.cells[((address - region.begin) / region.element) as usize];
                known[(address - from) as usize] &= u8::from(!cell.undefined());
            }
        }
        known
    }

    /// Bytes at `to` came from a device of another rank, with what is known of them there.
    pub fn learn(&mut self, to: u64, known: &[u8]) {
        for region in self.regions.iter_mut().flatten() {
            let (begin, end) = (to.max(region.begin), (to + known.len() as u64).min(region.end));
            if begin >= end {
                continue;
            }
            for at in region.cell_range(begin, end - begin) {
                let first = region.begin + at as u64 * region.element;
                let part = first.max(begin)..(first + region.element).min(end);
                let part = (part.start - to) as usize..(part.end - to) as usize;
                let defined = known[part].iter().all(|byte| *byte != 0);
                if defined { region.cells[at].define() } else { region.cells[at].undefine() }
            }
        }
    }

    /// What the kernels of this device did, for those of other ranks.
    pub fn account(&self) -> Vec<u8> {
        self.regions.iter().flatten().flat_map(|region| region.cells.iter().map(Cell::account)).collect()
    }

    /// [`Checker::absorb`] of a device of another rank.
    pub fn hear(&mut self, account: &[u8]) {
        let cells = self.regions.iter_mut().flatten().flat_map(|region| &mut region.cells);
        cells.zip(account).for_each(|(cell, account)| cell.hear(*account));
    }
}

//! What was copied in of an array, kept to tell later what the device changed ([`crate::device::returned`]).
//!
//! Problem: fresh memory is slow. The system hands out large blocks page by page, at their first use, and
//! takes them back with the block: a snapshot of 54 MB cost 25 ms in every execution, ten times its copy. So
//! blocks are kept for later snapshots, and fresh ones are not written to before the threads that fill them
//! do it. Invariants: no more than [`KEPT_BYTES`] are kept; all of a kept block is initialised.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use crate::base::error::Result;
use crate::device::buffer;

/// Two matrices of 4000 x 4000 doubles.
const KEPT_BYTES: usize = 256 << 20;
/// The allocator itself keeps smaller ones.
const WORTH_BYTES: usize = 1 << 20;

static KEPT: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// A snapshot, or none: then it is empty. What it holds at first means nothing.
#[derive(Debug, Default)]
pub struct Snapshot(Vec<u8>);

impl Snapshot {
    pub fn new(bytes: u64) -> Result<Snapshot> {
        let wanted = bytes as usize;
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |block: &Vec<u8>| block.len() >= wanted && block.len() / 2 <= wanted;
        if let Some(at) = kept.iter().position(fits) {
            let mut block = kept.swap_remove(at);
            block.truncate(wanted);
            return Ok(Snapshot(block));
        }
        drop(kept);
        Ok(Snapshot(buffer(bytes)?))
    }
}

impl Deref for Snapshot {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Snapshot {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        let block = std::mem::take(&mut self.0);
        if block.len() < WORTH_BYTES || block.len() > KEPT_BYTES {
            return;
        }
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(block);
        // The oldest go first.
        while kept.iter().map(Vec::capacity).sum::<usize>() > KEPT_BYTES {
            kept.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_used_again_and_limited() {
        let size = (40 << 20) + 5;
        let first = Snapshot::new(size).unwrap();
        assert!(first.iter().step_by(4096).all(|&byte| byte == 0));
        let address = first.as_ptr();
        drop(first);
        let again = Snapshot::new(size - 77).unwrap();
        assert_eq!((again.as_ptr(), again.len() as u64), (address, size - 77));
        // Far smaller ones don't get it, larger ones can't.
        drop(again);
        let others = [Snapshot::new(size / 4).unwrap(), Snapshot::new(size).unwrap()];
        assert!(others.iter().all(|other| other.as_ptr() != address));
        drop(others);
        let many: Vec<_> = (0..9).map(|_| Snapshot::new(size).unwrap()).collect();
        drop(many);
        let total = || KEPT.lock().unwrap().iter().map(Vec::capacity).sum::<usize>();
        assert!(total() > KEPT_BYTES / 2 && total() <= KEPT_BYTES);
        drop(Snapshot::new(2 * KEPT_BYTES as u64).unwrap());
        assert!(total() <= KEPT_BYTES);
        assert!(Snapshot::default().is_empty());
    }
}

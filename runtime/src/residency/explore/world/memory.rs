//! The memory of the program and of a device, as numbers, and what moves between them.

use std::collections::BTreeMap;

use super::super::events::{BASE, BYTES};
use crate::base::error::{Error, Result};
use crate::base::planted::skips;
use crate::base::rows::Rows;
use crate::base::shape::Shape;
use crate::base::spans::Span;
use crate::residency::{Back, Carrier};

/// What memory holds in which nobody wrote anything. No two values are the same, but where one is a copy of
/// the other.
pub(super) const UNDEFINED: u32 = 0;
/// Device memory is this far apart.
pub(super) const APART: u64 = 1 << 20;
/// Rows are faster than so many times their bytes.
pub(super) const PREFERRED: u64 = 1;

/// Device memory.
#[derive(Clone, Default)]
pub(super) struct Block {
    pub(super) bytes: Vec<u32>,
    /// Written by a kernel, and not come back.
    pub(super) lent: Vec<bool>,
    pub(super) snapshot: Option<Vec<u32>>,
}

/// Both sides' memory, and what goes on between them.
#[derive(Clone, Default)]
pub(super) struct Memory {
    pub(super) host: [u32; BYTES],
    pub(super) blocks: BTreeMap<u64, Block>,
    /// Operations until one fails, of which kind.
    pub(super) fails: Option<(u32, bool)>,
    /// What was done that must not be.
    pub(super) problem: Option<String>,
}

impl Memory {
    pub(super) fn block(&mut self, device: u64) -> (&mut Block, usize) {
        let memory = device / APART * APART;
        (self.blocks.get_mut(&memory).expect("device memory"), (device - memory) as usize)
    }

    /// Whether the operation fails that is to fail.
    pub(super) fn operation(&mut self, memory: bool) -> Result<()> {
        let Some((left, only_memory)) = &mut self.fails else { return Ok(()) };
        if *only_memory && !memory {
            return Ok(());
        }
        let fails = *left == 0;
        let error =
            if *only_memory { Error::OutOfMemory { bytes: 1 } } else { Error::Internal("stopped".into()) };
        *left = left.saturating_sub(1);
        if fails {
            self.fails = None;
            return Err(error);
        }
        Ok(())
    }

    pub(super) fn complain(&mut self, text: impl FnOnce() -> String) {
        if self.problem.is_none() {
            self.problem = Some(text());
        }
    }
}

/// The bytes of a shape that begins at `start`.
pub(super) fn bytes_of(start: u64, bytes: u64, shape: &Shape) -> Vec<u64> {
    match shape {
        Shape::Rows(rows) => {
            rows.offsets().flat_map(|offset| start + offset..start + offset + rows.bytes).collect()
        }
        _ => (start..start + bytes).collect(),
    }
}

/// What a byte of the program's memory is at first.
pub(super) fn first_value(at: usize) -> u32 {
    at as u32 + 1
}

pub(super) fn index(address: u64) -> usize {
    (address - BASE) as usize
}

impl Carrier<()> for Memory {
    fn allocate(&mut self, host: Span) -> Result<u64> {
        self.operation(true)?;
        let free = (1..).map(|n| n * APART).find(|at| !self.blocks.contains_key(at)).expect("an address");
        let bytes = (host.1 - host.0) as usize;
        let block = Block { bytes: vec![UNDEFINED; bytes], lent: vec![false; bytes], snapshot: None };
        self.blocks.insert(free, block);
        Ok(free)
    }

    fn give_back(&mut self, memory: u64) {
        if self.blocks.remove(&memory).is_none() {
            self.complain(|| "memory is given back twice".into());
        }
    }

    fn snapshot(&mut self, memory: u64, bytes: u64) -> Result<()> {
        self.operation(true)?;
        self.block(memory).0.snapshot = Some(vec![UNDEFINED; bytes as usize]);
        Ok(())
    }

    fn forget_snapshot(&mut self, memory: u64) {
        self.block(memory).0.snapshot = None;
    }

    fn move_to(&mut self, to: u64, from: u64, bytes: u64) -> Result<()> {
        self.operation(false)?;
        for i in 0..bytes {
            let (block, at) = self.block(from + i);
            let (value, lent) = (block.bytes[at], block.lent[at]);
            let (block, at) = self.block(to + i);
            (block.bytes[at], block.lent[at]) = (value, lent);
        }
        Ok(())
    }

    fn outdated(&mut self, device: u64, bytes: u64) {
        let (block, at) = self.block(device);
        if block.lent[at..at + bytes as usize].contains(&true) {
            self.complain(|| "a result is outdated that did not come back".into());
        }
    }

    fn forsaken(&mut self, _device: u64, _bytes: u64) {}

    fn settled(&mut self, device: u64, bytes: u64) {
        let (block, at) = self.block(device);
        if block.lent[at..at + bytes as usize].contains(&true) {
            self.complain(|| "a result did not come back before the program may use it".into());
        }
    }

    fn prefers(&self, rows: &Rows, bytes: u64) -> bool {
        rows.total() * PREFERRED < bytes
    }

    fn bring(&mut self, results: &[Back<'_>], _writer: Option<()>) -> Result<()> {
        self.operation(false)?;
        for Back { memory, offset, result, rows, .. } in results {
            let shape = rows.map_or(result.shape.clone(), Shape::Rows);
            for address in bytes_of(result.start, result.bytes, &shape) {
                let (block, first) = self.block(memory + offset);
                let at = first + (address - result.start) as usize;
                let (value, lent) = (block.bytes[at], block.lent[at]);
                let stores = match (&result.shape, &block.snapshot) {
                    (Shape::Changed { .. }, None) => {
                        return Err(Error::Internal("a result has no snapshot".into()));
                    }
                    (Shape::Changed { .. }, Some(before)) => before[at] != value,
                    _ => true,
                };
                if stores && !lent {
                    self.complain(|| format!("byte {} comes back, but no kernel wrote it", index(address)));
                }
                if stores {
                    self.host[index(address)] = value;
                }
            }
        }
        for Back { memory, offset, result, rows, .. } in results.iter().filter(|back| back.again) {
            let shape = rows.map_or(result.shape.clone(), Shape::Rows);
            for address in bytes_of(result.start, result.bytes, &shape) {
                let (block, first) = self.block(memory + offset);
                let at = first + (address - result.start) as usize;
                if let Some(before) = block.snapshot.as_mut().filter(|_| !skips("seen-snapshot")) {
                    before[at] = block.bytes[at];
                }
            }
        }
        // Some results may overlap.
        for Back { memory, offset, result, .. } in results.iter().filter(|back| !back.again) {
            for address in bytes_of(result.start, result.bytes, &result.shape) {
                let (block, first) = self.block(memory + offset);
                block.lent[first + (address - result.start) as usize] = false;
            }
        }
        Ok(())
    }
}

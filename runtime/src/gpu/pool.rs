//! Device memory between executions.
//!
//! `cuMemAlloc` takes some 100 µs and waits for the device, so what an execution frees is kept for the next.
//! Invariants:
//!
//! * no work refers to a kept block: queues synchronise before they give back ([`crate::gpu::cuda`]);
//! * at most `limit` bytes are kept, so that the rest of the device is left to the program's own use of it.

use std::collections::BTreeMap;

use crate::driver::Address;

/// Device memory of one allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub address: Address,
    pub size: u64,
}

/// Freed device memory that is kept.
#[derive(Debug)]
pub struct Pool {
    /// By size.
    free: BTreeMap<u64, Vec<Address>>,
    bytes: u64,
    limit: u64,
}

impl Pool {
    pub fn new(limit: u64) -> Pool {
        Pool { free: BTreeMap::new(), bytes: 0, limit }
    }

    /// Whether nothing is kept. Then blocks have exactly the size that is asked for, so that a tool which
    /// watches the driver's allocations (compute-sanitizer) sees an access beyond an array.
    pub fn is_off(&self) -> bool {
        self.limit == 0
    }

    /// The size to allocate for `bytes`.
    pub fn size(&self, bytes: u64) -> Option<u64> {
        if self.is_off() { Some(bytes.max(1)) } else { Pool::round(bytes) }
    }

    /// The size of a block that may be kept: a power of two up to 1 MiB, then multiples of 2 MiB, the
    /// driver's own granularity.
    fn round(bytes: u64) -> Option<u64> {
        const MIB: u64 = 1 << 20;
        if bytes <= MIB {
            Some(bytes.max(512).next_power_of_two())
        } else {
            bytes.checked_next_multiple_of(2 * MIB)
        }
    }

    /// The smallest kept block that holds `size`, unless it wastes more than a quarter.
    pub fn take(&mut self, size: u64) -> Option<Block> {
        let (&found, addresses) = self.free.range_mut(size..=size.saturating_add(size / 4)).next()?;
        let address = addresses.pop()?;
        if addresses.is_empty() {
            self.free.remove(&found);
        }
        self.bytes -= found;
        Some(Block { address, size: found })
    }

    /// Keeps a block, or returns it if the pool is full.
    pub fn give(&mut self, block: Block) -> Option<Block> {
        if block.size > self.limit.saturating_sub(self.bytes) {
            return Some(block);
        }
        self.bytes += block.size;
        self.free.entry(block.size).or_default().push(block.address);
        None
    }

    pub fn clear(&mut self) -> Vec<Block> {
        self.bytes = 0;
        let free = std::mem::take(&mut self.free);
        let blocks = |(size, addresses): (u64, Vec<Address>)| {
            addresses.into_iter().map(move |address| Block { address, size })
        };
        free.into_iter().flat_map(blocks).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pool_keeps_within_its_limit() {
        let mut pool = Pool::new(3 << 20);
        let block = |address, size| Block { address, size };
        assert_eq!(pool.give(block(1, 2 << 20)), None);
        assert_eq!(pool.give(block(2, 2 << 20)), Some(block(2, 2 << 20)));
        assert_eq!(pool.give(block(3, 1024)), None);
        assert_eq!(pool.take(512), None, "twice the size is wasteful");
        assert_eq!(pool.take(1024), Some(block(3, 1024)));
        assert_eq!(pool.take(1024), None);
        assert_eq!(pool.clear(), [block(1, 2 << 20)]);
        assert_eq!((pool.bytes, pool.take(2 << 20)), (0, None));
    }

    #[test]
    fn sizes() {
        for (bytes, size) in [(1, 512), (513, 1024), (1 << 20, 1 << 20), ((1 << 20) + 1, 2 << 20)] {
            assert_eq!(Pool::round(bytes), Some(size));
        }
        assert_eq!(Pool::round(u64::MAX), None);
        assert_eq!(Pool::new(1).size(513), Some(1024));
        assert_eq!((Pool::new(0).size(513), Pool::new(0).size(0)), (Some(513), Some(1)));
    }
}

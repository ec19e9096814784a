//! Blocks that wait for each other: which of a launch have ended.

use std::sync::atomic::{AtomicBool, Ordering};

/// The blocks of a launch.
#[derive(Debug)]
pub struct Tasks {
    ended: Vec<AtomicBool>,
}

impl Tasks {
    pub fn new(blocks: u64) -> Tasks {
        Tasks { ended: (0..blocks).map(|_| AtomicBool::new(false)).collect() }
    }

    /// Whether a block has ended: what it wrote is there then.
    pub fn has_ended(&self, block: u64) -> bool {
        self.ended.get(block as usize).is_some_and(|ended| ended.load(Ordering::Acquire))
    }

    pub fn end(&self, block: u64) {
        if let Some(ended) = self.ended.get(block as usize) {
            ended.store(true, Ordering::Release);
        }
    }
}

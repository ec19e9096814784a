//! What the checked device remembers of each location: who wrote it last, who read it last, and whether anybody wrote it at all.
//!
//! **Problem.** Find every pair of accesses to one location, of which one is a write, that nothing orders: made by different blocks
//! of one launch, or by different threads of a block between the same two barriers.
//!
//! **Solution.** Blocks run one after the other and the threads of a block in rounds from barrier to barrier, so one counter
//! tells everything: an *epoch* begins with each launch, block and round. Two accesses are of one launch, of one block or of one
//! round if no launch, block or round began between their epochs. It is enough to keep the last write, and the reads and the updates of the last
//! round in which there were any (FastTrack: Flanagan, Freund, PLDI 2009): what an older access conflicts with, a younger one
//! that is ordered behind it in the same block does too.

use crate::emulated::check::Site;

/// Stands for several threads of a block, and for several blocks.
const MANY_THREADS: u16 = u16::MAX;
const MANY_BLOCKS: u16 = u16::MAX - 1;

/// Somebody's access.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    /// 0: there was none.
    pub epoch: u32,
    /// Linear index in the block.
    thread: u16,
    undefined: bool,
    pub site: *const Site,
}

const NOBODY: Stamp = Stamp { epoch: 0, thread: 0, undefined: false, site: std::ptr::null() };

impl Stamp {
    /// The one thread that it was.
    pub fn thread(&self) -> Option<u64> {
        (self.thread < MANY_BLOCKS).then_some(self.thread.into())
    }

    /// All accesses of a kind that does not conflict with itself, and one more.
    fn joined(self, clock: &Clock, thread: u16, site: *const Site) -> Stamp {
        let thread = if self.epoch < clock.launch {
            thread
        } else if self.thread == MANY_BLOCKS || self.epoch < clock.block {
            MANY_BLOCKS
        } else if self.epoch == clock.now && self.thread != thread {
            MANY_THREADS
        } else {
            thread
        };
        Stamp { epoch: clock.now, thread, undefined: false, site }
    }
}

/// One location.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    write: Stamp,
    read: Stamp,
    /// Updates in any order.
    update: Stamp,
}

/// What nobody wrote.
pub const FRESH: Cell = Cell { write: Stamp { undefined: true, ..NOBODY }, read: NOBODY, update: NOBODY };

/// When it is.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    pub now: u32,
    launch: u32,
    block: u32,
    /// Where the blocks of this launch began.
    blocks: Vec<(u32, u64)>,
}

impl Clock {
    /// A new round; false: there are no numbers left.
    pub fn round(&mut self) -> bool {
        self.now = self.now.saturating_add(1);
        self.now < u32::MAX
    }

    pub fn begin_launch(&mut self) -> bool {
        let more = self.round();
        (self.launch, self.block) = (self.now, self.now);
        self.blocks.clear();
        more
    }

    pub fn begin_block(&mut self, block: u64) -> bool {
        let more = self.round();
        self.block = self.now;
        self.blocks.push((self.now, block));
        more
    }

    /// The block of this launch that ran at `epoch`.
    pub fn block_at(&self, epoch: u32) -> Option<u64> {
        let behind = self.blocks.partition_point(|(begin, _)| *begin <= epoch);
        behind.checked_sub(1).map(|at| self.blocks[at].1)
    }

    fn conflicts(&self, earlier: &Stamp, thread: u16) -> Option<Between> {
        if earlier.epoch == 0 || earlier.epoch < self.launch {
            None
        } else if earlier.epoch < self.block || earlier.thread == MANY_BLOCKS {
            Some(Between::Blocks)
        } else if earlier.epoch == self.now && earlier.thread != thread {
            Some(Between::Threads)
        } else {
            None
        }
    }
}

/// What a conflict is between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// Of one launch.
    Blocks,
    /// Of one block, between the same barriers.
    Threads,
}

/// Two accesses that nothing orders.
#[derive(Clone, Copy, Debug)]
pub struct Conflict {
    pub between: Between,
    pub earlier: Stamp,
    /// The earlier one is a write.
    pub wrote: bool,
}

impl Cell {
    pub fn undefined(&self) -> bool {
        self.write.undefined
    }

    /// What the program copied in.
    pub fn define(&mut self) {
        self.write.undefined = false;
    }

    /// What another device has.
    pub fn undefine(&mut self) {
        self.write.undefined = true;
    }

    /// What kernels of another device did to it.
    pub fn absorb(&mut self, other: &Cell) {
        if !other.undefined() {
            self.define();
        }
        if other.written() && !self.written() {
            let undefined = self.write.undefined;
            self.write = Stamp { undefined, ..other.last_write() };
        }
        if other.was_read() && !self.was_read() {
            self.read = other.read;
        }
    }

    /// Whether a kernel wrote it.
    pub fn written(&self) -> bool {
        self.last_write().epoch != 0
    }

    /// Whether a kernel read it.
    pub fn was_read(&self) -> bool {
        self.read.epoch != 0
    }

    pub fn last_write(&self) -> Stamp {
        if self.update.epoch > self.write.epoch { self.update } else { self.write }
    }

    /// Whether a read now would not be ordered with the last write.
    pub fn being_written(&self, clock: &Clock, thread: u16) -> bool {
        clock.conflicts(&self.write, thread).or_else(|| clock.conflicts(&self.update, thread)).is_some()
    }

    pub fn read(&mut self, clock: &Clock, thread: u16, site: *const Site) -> Option<Conflict> {
        let conflict = |earlier: Stamp| {
            clock.conflicts(&earlier, thread).map(|between| Conflict { between, earlier, wrote: true })
        };
        let found = conflict(self.write).or_else(|| conflict(self.update));
        self.read = self.read.joined(clock, thread, site);
        found
    }

    pub fn write(
        &mut self,
        clock: &Clock,
        thread: u16,
        site: *const Site,
        undefined: bool,
    ) -> Option<Conflict> {
        let conflict = |stamp: Stamp, wrote| {
            clock.conflicts(&stamp, thread).map(|between| Conflict { between, earlier: stamp, wrote })
        };
        let found = conflict(self.write, true)
            .or_else(|| conflict(self.update, true))
            .or_else(|| conflict(self.read, false));
        self.write = Stamp { epoch: clock.now, thread, undefined, site };
        found
    }

    /// A read and a write in one, which conflicts with everything but its like.
    pub fn update(
        &mut self,
        clock: &Clock,
        thread: u16,
        site: *const Site,
        undefined: bool,
    ) -> Option<Conflict> {
        let conflict = |stamp: Stamp, wrote| {
            clock.conflicts(&stamp, thread).map(|between| Conflict { between, earlier: stamp, wrote })
        };
        let found = conflict(self.write, true).or_else(|| conflict(self.read, false));
        self.update = self.update.joined(clock, thread, site);
        self.write.undefined |= undefined;
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_SITE: *const Site = std::ptr::null();

    /// What, block, round, thread.
    type Step = (char, u64, u32, u16);

    /// Accesses in the order in which they run; the result is what the last one runs into.
    fn last(accesses: &[Step]) -> Option<Between> {
        let (mut clock, mut cell) = (Clock::default(), FRESH);
        clock.begin_launch();
        let mut at = None;
        let mut found = None;
        for (n, &(what, block, round, thread)) in accesses.iter().enumerate() {
            match at {
                Some((b, _)) if b == block => {}
                _ => {
                    clock.begin_block(block);
                    at = Some((block, 0));
                }
            }
            while at.is_some_and(|(_, r)| r < round) {
                clock.round();
                at = at.map(|(b, r)| (b, r + 1));
            }
            found = match what {
                'r' => cell.read(&clock, thread, NO_SITE),
                'w' => cell.write(&clock, thread, NO_SITE, false),
                'u' => cell.update(&clock, thread, NO_SITE, false),
                _ => {
                    clock.begin_launch();
                    at = None;
                    None
                }
            }
            .map(|c| c.between);
            assert!(found.is_none() || n + 1 == accesses.len(), "{accesses:?}: found at {n}");
        }
        found
    }

    #[test]
    fn what_is_ordered_and_what_is_not() {
        use Between::*;
        let table: &[(&[Step], Option<Between>)] = &[
            (&[('w', 0, 0, 0), ('r', 0, 0, 0)], None),
            (&[('w', 0, 0, 0), ('r', 0, 0, 1)], Some(Threads)),
            (&[('w', 0, 0, 0), ('w', 0, 0, 1)], Some(Threads)),
            (&[('r', 0, 0, 0), ('w', 0, 0, 1)], Some(Threads)),
            (&[('r', 0, 0, 0), ('r', 0, 0, 1)], None),
            (&[('w', 0, 0, 0), ('r', 0, 1, 1)], None),
            (&[('r', 0, 0, 0), ('w', 0, 1, 1)], None),
            // The thread itself is among several that read.
            (&[('r', 0, 0, 0), ('r', 0, 0, 1), ('w', 0, 0, 1)], Some(Threads)),
            (&[('r', 0, 0, 0), ('r', 0, 0, 1), ('w', 0, 1, 1)], None),
            // Reads of an earlier round are forgotten, those of this one are not.
            (&[('r', 0, 0, 0), ('r', 0, 1, 1), ('w', 0, 1, 1)], None),
            (&[('w', 0, 0, 0), ('r', 1, 0, 0)], Some(Blocks)),
            (&[('r', 0, 0, 0), ('w', 1, 0, 0)], Some(Blocks)),
            (&[('w', 0, 3, 0), ('w', 1, 0, 0)], Some(Blocks)),
            (&[('r', 0, 0, 0), ('r', 1, 0, 0), ('w', 1, 1, 0)], Some(Blocks)),
            (&[('w', 0, 0, 0), ('-', 0, 0, 0), ('w', 1, 0, 1)], None),
            (&[('r', 0, 0, 0), ('r', 1, 0, 1), ('-', 0, 0, 0), ('w', 0, 0, 5)], None),
            // Updates get along with each other, and with nothing else.
            (&[('u', 0, 0, 0), ('u', 0, 0, 1), ('u', 1, 0, 0)], None),
            (&[('w', 0, 0, 0), ('-', 0, 0, 0), ('u', 1, 0, 0), ('u', 2, 0, 0)], None),
            (&[('w', 0, 0, 0), ('u', 0, 0, 1)], Some(Threads)),
            (&[('u', 0, 0, 0), ('u', 0, 0, 1), ('r', 0, 0, 1)], Some(Threads)),
            (&[('u', 0, 0, 0), ('u', 0, 0, 1), ('w', 0, 0, 1)], Some(Threads)),
            (&[('u', 0, 0, 0), ('u', 1, 0, 0), ('r', 1, 0, 0)], Some(Blocks)),
            (&[('r', 0, 0, 0), ('u', 1, 0, 0)], Some(Blocks)),
            (&[('u', 0, 0, 0), ('u', 0, 0, 1), ('r', 0, 1, 5)], None),
            (&[('w', 0, 0, 0), ('u', 0, 0, 0), ('u', 0, 0, 1)], Some(Threads)),
            (&[('w', 0, 0, 0), ('u', 0, 1, 0), ('u', 0, 1, 1)], None),
            (&[('w', 0, 0, 0), ('u', 0, 1, 0), ('u', 1, 0, 1)], Some(Blocks)),
        ];
        for (accesses, expected) in table {
            assert_eq!(last(accesses), *expected, "{accesses:?}");
        }
    }

    #[test]
    fn epochs_name_blocks() {
        let mut clock = Clock::default();
        clock.begin_launch();
        for block in [4, 2, 7] {
            clock.begin_block(block);
            clock.round();
        }
        assert_eq!([1, 2, 3, 4, 7].map(|e| clock.block_at(e)), [None, Some(4), Some(4), Some(2), Some(7)]);
    }
}

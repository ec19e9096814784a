//! What the checked device remembers of each location: who wrote it last, who read it last, and whether
//! anybody wrote it at all.
//!
//! **Problem.** Find every pair of accesses to one location, of which one is a write, that nothing orders:
//! made by different blocks of one launch, or by different threads of a block between the same two barriers.
//!
//! **Solution.** Blocks run one after the other and the threads of a block in rounds from barrier to barrier,
//! so one counter tells everything: an *epoch* begins with each launch, block and round. Two accesses are of
//! one launch, of one block or of one round if no launch, block or round began between their epochs. It is
//! enough to keep the last write, and the reads and the updates of the last round in which there were any
//! (FastTrack: Flanagan, Freund, PLDI 2009): what an older access conflicts with, a younger one that is
//! ordered behind it in the same block does too.
//!
//! Blocks of a launch that wait for each other are ordered by that ([`Order`]): what a block did before it
//! signalled is ahead of what the threads do that waited for it, or for one that had, and what the others of
//! their block do behind the next barrier.

use std::cell::RefCell;
use std::collections::BTreeMap;

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
        let thread = if self.epoch < clock.launch || clock.is_ordered(&self, thread) {
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
    /// Of blocks that wait for each other.
    order: Option<Order>,
}

/// What is ordered among the blocks of a launch that wait for each other.
#[derive(Clone, Debug, Default)]
struct Order {
    /// By block: when it signalled, and which blocks it knew then to have ended, itself included.
    ended: Vec<Option<(u32, Vec<u64>)>>,
    /// Those that the running block's threads know to have ended, and those that one thread does until the
    /// next barrier.
    known: Vec<u64>,
    fresh: Vec<(u16, u64)>,
    /// By location: when blocks that don't know of each other read it, and in which thread, where several
    /// did.
    readers: RefCell<BTreeMap<usize, Vec<(u32, u16)>>>,
}

fn has(set: &[u64], block: u64) -> bool {
    set.get((block / 64) as usize).is_some_and(|word| word >> (block % 64) & 1 != 0)
}

impl Order {
    /// All that is known where a block is known to have ended.
    fn learn(&mut self, block: u64) {
        let Some(Some((_, of_block))) = self.ended.get(block as usize) else { return };
        for (word, more) in self.known.iter_mut().zip(of_block) {
            *word |= more;
        }
    }

    /// Whether a thread of the running block knows that a block has ended.
    fn knows(&self, thread: u16, block: u64) -> bool {
        let by = |(waiter, ended): &(u16, u64)| {
            let ended = self.ended.get(*ended as usize).and_then(Option::as_ref);
            *waiter == thread && ended.is_some_and(|(_, of_block)| has(of_block, block))
        };
        has(&self.known, block) || self.fresh.iter().any(by)
    }
}

impl Clock {
    /// A new round; false: there are no numbers left.
    pub fn round(&mut self) -> bool {
        self.now = self.now.saturating_add(1);
        if let Some(order) = &mut self.order {
            for (_, block) in std::mem::take(&mut order.fresh) {
                order.learn(block);
            }
        }
        self.now < u32::MAX
    }

    /// `tasks`: the number of blocks, if they wait for each other.
    pub fn begin_launch(&mut self, tasks: Option<u64>) -> bool {
        self.order = tasks.map(|blocks| Order {
            ended: vec![None; blocks as usize],
            known: vec![0; blocks.div_ceil(64) as usize],
            ..Order::default()
        });
        let more = self.round();
        (self.launch, self.block) = (self.now, self.now);
        self.blocks.clear();
        more
    }

    pub fn begin_block(&mut self, block: u64) -> bool {
        let more = self.round();
        self.block = self.now;
        self.blocks.push((self.now, block));
        if let Some(order) = &mut self.order {
            order.known.fill(0);
        }
        more
    }

    pub fn waited(&mut self, thread: u16, block: u64) {
        if let Some(order) = &mut self.order {
            order.fresh.push((thread, block));
        }
    }

    /// The running block has ended; nothing of this round is ahead of that.
    pub fn signalled(&mut self) {
        let block = self.block_at(self.now);
        if let (Some(order), Some(block)) = (&mut self.order, block) {
            let mut known = order.known.clone();
            if let Some(word) = known.get_mut((block / 64) as usize) {
                *word |= 1 << (block % 64);
            }
            // What is said once can't be taken back.
            if let Some(ended @ None) = order.ended.get_mut(block as usize) {
                *ended = Some((self.now, known));
            }
        }
    }

    /// Whether an access of another block in this launch is ahead of what a thread of the running one does
    /// now.
    fn is_ordered(&self, earlier: &Stamp, thread: u16) -> bool {
        if earlier.thread == MANY_BLOCKS || earlier.epoch < self.launch || earlier.epoch >= self.block {
            return false;
        }
        self.is_ahead(earlier.epoch, thread)
    }

    fn is_ahead(&self, epoch: u32, thread: u16) -> bool {
        let (Some(order), Some(block)) = (&self.order, self.block_at(epoch)) else { return false };
        let before = order.ended.get(block as usize).and_then(Option::as_ref).is_some_and(|e| epoch < e.0);
        before && order.knows(thread, block)
    }

    /// The reads of a location that the running block does not know of, from here on.
    fn note_reader(&self, location: usize, earlier: &Stamp, thread: u16) {
        let Some(order) = &self.order else { return };
        // With several blocks among them all are noted, and have been.
        let several = earlier.thread == MANY_BLOCKS;
        let ordered = || earlier.epoch >= self.block || self.is_ordered(earlier, thread);
        if earlier.epoch < self.launch || !several && ordered() {
            return;
        }
        let mut readers = order.readers.borrow_mut();
        let readers = readers.entry(location).or_default();
        if !several {
            readers.push((earlier.epoch, earlier.thread));
        }
        readers.push((self.now, thread));
        readers.sort_unstable();
        readers.dedup();
    }

    /// Whether all reads of a location by several blocks are ahead of what a thread does now.
    fn all_ahead(&self, location: usize, thread: u16) -> bool {
        let Some(order) = &self.order else { return false };
        let readers = order.readers.borrow();
        // The thread itself may have read it just now, to write it.
        let own = |(epoch, by): (u32, u16)| {
            epoch >= self.block && (epoch < self.now || epoch == self.now && by == thread)
        };
        readers.get(&location).is_some_and(|all| all.iter().all(|e| own(*e) || self.is_ahead(e.0, thread)))
    }

    /// The block of this launch that ran at `epoch`.
    pub fn block_at(&self, epoch: u32) -> Option<u64> {
        let behind = self.blocks.partition_point(|(begin, _)| *begin <= epoch);
        behind.checked_sub(1).map(|at| self.blocks[at].1)
    }

    /// With an access of a thread that follows.
    fn conflict(&self, earlier: Stamp, thread: u16, wrote: bool) -> Option<Conflict> {
        self.conflicts(&earlier, thread).map(|between| Conflict { between, earlier, wrote })
    }

    fn conflicts(&self, earlier: &Stamp, thread: u16) -> Option<Between> {
        let before = earlier.epoch == 0 || earlier.epoch < self.launch;
        if before || self.is_ordered(earlier, thread) {
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

    /// What kernels of another device did to it. `counts`: a write of these did not only keep its value.
    pub fn absorb(&mut self, other: &Cell, counts: bool) {
        if !other.undefined() {
            self.define();
        }
        if counts && other.written() && !self.written() {
            let undefined = self.write.undefined;
            self.write = Stamp { undefined, ..other.last_write() };
        }
        if other.was_read() && !self.was_read() {
            self.read = other.read;
        }
    }

    /// What kernels did to it, for a process that has neither their code nor their clock.
    pub fn account(&self) -> u8 {
        u8::from(!self.undefined()) | u8::from(self.written()) << 1 | u8::from(self.was_read()) << 2
    }

    /// [`Cell::absorb`] of a device in another process.
    pub fn hear(&mut self, account: u8) {
        let stamp = |bit: u8| Stamp { epoch: u32::from(account >> bit & 1), ..NOBODY };
        let write = Stamp { undefined: account & 1 == 0, ..stamp(1) };
        self.absorb(&Cell { write, read: stamp(2), update: NOBODY }, true);
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
        let conflict = |earlier| clock.conflict(earlier, thread, true);
        let found = conflict(self.write).or_else(|| conflict(self.update));
        clock.note_reader(std::ptr::from_ref(self) as usize, &self.read, thread);
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
        let conflict = |earlier, wrote| clock.conflict(earlier, thread, wrote);
        let read = || {
            let known =
                self.read.thread == MANY_BLOCKS && clock.all_ahead(std::ptr::from_ref(self) as usize, thread);
            if known { None } else { conflict(self.read, false) }
        };
        let found = conflict(self.write, true).or_else(|| conflict(self.update, true)).or_else(read);
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
        let conflict = |earlier, wrote| clock.conflict(earlier, thread, wrote);
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
        clock.begin_launch(None);
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
                    clock.begin_launch(None);
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

    /// What happens in a launch of four blocks that wait for each other: `w`rite, `r`ead, `a`wait block n,
    /// `s`ignal, `|` a barrier, by block and thread.
    fn last_of_tasks(steps: &[(char, u64, u16)]) -> Option<Between> {
        let (mut clock, mut cell) = (Clock::default(), FRESH);
        clock.begin_launch(Some(4));
        let mut found = None;
        for (n, &(what, block, thread)) in steps.iter().enumerate() {
            let conflict = match what {
                'b' => {
                    clock.begin_block(block);
                    None
                }
                'w' => cell.write(&clock, thread, NO_SITE, false),
                'r' => cell.read(&clock, thread, NO_SITE),
                'a' => {
                    clock.waited(thread, block);
                    None
                }
                's' => {
                    clock.signalled();
                    None
                }
                _ => {
                    clock.round();
                    None
                }
            };
            found = conflict.map(|c| c.between);
            assert!(found.is_none() || n + 1 == steps.len(), "{steps:?}: found at {n}");
        }
        found
    }

    #[test]
    fn blocks_that_wait_for_each_other() {
        use Between::Blocks;
        /// What a thread does: to which block, place or signal, and as which thread.
        type Event = (char, u64, u16);
        const B: fn(u64) -> Event = |block| ('b', block, 0);
        const BAR: Event = ('|', 0, 0);
        const END: Event = ('s', 0, 0);
        let table: &[(&[Event], Option<Between>)] = &[
            (&[B(0), ('w', 0, 1), BAR, END, B(1), ('a', 0, 0), BAR, ('r', 0, 1)], None),
            // Nobody waited, or for another block, or without a barrier.
            (&[B(0), ('w', 0, 1), BAR, END, B(1), BAR, ('r', 0, 1)], Some(Blocks)),
            (
                &[B(0), ('w', 0, 1), BAR, END, B(1), BAR, END, B(2), ('a', 1, 0), BAR, ('r', 0, 1)],
                Some(Blocks),
            ),
            (&[B(0), ('w', 0, 1), BAR, END, B(1), ('a', 0, 0), ('r', 0, 1)], Some(Blocks)),
            (&[B(0), ('w', 0, 1), BAR, END, B(1), ('a', 0, 0), ('r', 0, 0)], None),
            // The signal is too early.
            (&[B(0), BAR, END, ('w', 0, 1), B(1), ('a', 0, 0), BAR, ('r', 0, 1)], Some(Blocks)),
            // Through another one.
            (
                &[
                    B(0),
                    ('w', 0, 1),
                    BAR,
                    END,
                    B(1),
                    ('a', 0, 0),
                    BAR,
                    END,
                    B(2),
                    ('a', 1, 0),
                    BAR,
                    ('r', 0, 1),
                ],
                None,
            ),
            // A block reads what it writes, behind two others that read it, in one thread or in two.
            (
                &[
                    B(0),
                    ('r', 0, 1),
                    BAR,
                    END,
                    B(1),
                    ('r', 0, 1),
                    BAR,
                    END,
                    B(2),
                    ('a', 0, 0),
                    ('a', 1, 0),
                    BAR,
                    ('r', 0, 3),
                    ('r', 0, 3),
                    ('w', 0, 3),
                ],
                None,
            ),
            (
                &[
                    B(0),
                    ('r', 0, 1),
                    BAR,
                    END,
                    B(1),
                    ('r', 0, 1),
                    BAR,
                    END,
                    B(2),
                    ('a', 0, 0),
                    ('a', 1, 0),
                    BAR,
                    ('r', 0, 3),
                    ('r', 0, 5),
                    ('w', 0, 3),
                ],
                Some(Blocks),
            ),
            // Reads before a write: of one block, of two, of which one is not waited for.
            (&[B(0), ('r', 0, 1), BAR, END, B(1), BAR, ('w', 0, 1)], Some(Blocks)),
            (
                &[
                    B(0),
                    ('r', 0, 1),
                    BAR,
                    END,
                    B(1),
                    ('r', 0, 1),
                    BAR,
                    END,
                    B(2),
                    ('a', 0, 0),
                    ('a', 1, 0),
                    BAR,
                    ('w', 0, 1),
                ],
                None,
            ),
            (
                &[
                    B(0),
                    ('r', 0, 1),
                    BAR,
                    END,
                    B(1),
                    ('r', 0, 1),
                    BAR,
                    END,
                    B(2),
                    ('a', 1, 0),
                    BAR,
                    ('w', 0, 1),
                ],
                Some(Blocks),
            ),
            (
                &[
                    B(0),
                    ('r', 0, 1),
                    BAR,
                    END,
                    B(1),
                    ('a', 0, 0),
                    BAR,
                    ('r', 0, 1),
                    BAR,
                    END,
                    B(2),
                    ('a', 1, 0),
                    BAR,
                    ('w', 0, 1),
                ],
                None,
            ),
        ];
        for (steps, expected) in table {
            assert_eq!(last_of_tasks(steps), *expected, "{steps:?}");
        }
    }

    #[test]
    fn epochs_name_blocks() {
        let mut clock = Clock::default();
        clock.begin_launch(None);
        for block in [4, 2, 7] {
            clock.begin_block(block);
            clock.round();
        }
        assert_eq!([1, 2, 3, 4, 7].map(|e| clock.block_at(e)), [None, Some(4), Some(4), Some(2), Some(7)]);
    }
}

//! Device copies of arrays that outlive an execution (`POLLYRS_RT_RESIDENT=on`).
//!
//! Problem: successive SCoPs of a program use the same arrays, and most time goes into copying them in again.
//! Approach: the device memory of a large array is kept together with the host range it belongs to. When a
//! later execution wants the range, the kernel tells which pages the program wrote meanwhile
//! ([`crate::memory::written`]), and only these are copied.
//!
//! Invariants, for an entry that no execution uses:
//!
//! * in every page that lies in `valid` as a whole and that the kernel calls unwritten, device and host
//!   agree. So the protection is set *before* a page is copied in, and after it was copied back; results go
//!   back unprotected, as 30,000 faults would cost more than the transfer. Parts of pages at the edges are
//!   copied every time;
//! * the host ranges of entries don't overlap, so that protecting a page again forgets nothing that another
//!   entry needs;
//! * host memory is always up to date: results come back at the end of each execution, whatever stays on the
//!   device.
//!
//! Arrays of which only some bytes come back, since other threads may write the others meanwhile, are not
//! kept: such a write between the copy back and the new protection would go unnoticed.
//!
//! One execution at a time has the table; others go without. What fails takes its entries along. An array
//! that the program rewrites between executions, twice for the most part, is not kept any more: the faults
//! would cost more than they save.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::abi::Array;
use crate::base::spans::{Span, whole_pages, without};
use crate::gpu::pool::Block;
use crate::memory::written::Tracker;

/// Smaller arrays are copied: asking the kernel takes about as long.
const MIN_BYTES: u64 = 256 << 10;
/// Executions in a row that find more than half of an array written, after which it is not kept.
const MAX_REWRITTEN: u32 = 2;
/// Arrays known not to be worth it; more are forgotten.
const MAX_REWRITTEN_ARRAYS: usize = 4096;

struct Entry {
    host: Span,
    block: Block,
    /// The device address of `host.0`.
    device: u64,
    /// Empty while an execution uses the entry.
    valid: Span,
    rewritten: u32,
    in_use: bool,
    /// The latest use, to drop the oldest first.
    stamp: u64,
}

/// What an execution does with an entry.
struct Use {
    host: Span,
    /// What comes back.
    out: Option<Span>,
    copied_in: bool,
    /// Where it is copied in, its pages could be protected.
    tracked: bool,
}

/// The answer for an array.
pub enum Kept {
    /// Not kept: use memory of the execution's own.
    No,
    /// On the device from the first address on; the given parts are to be copied in.
    Yes { device: u64, stale: Vec<Span> },
    /// Worth keeping: bring memory ([`Residents::add`]).
    Fresh,
}

/// The table.
#[derive(Default)]
pub struct Residents {
    tracker: Option<Option<Tracker>>,
    /// By the beginning of the host range.
    entries: BTreeMap<u64, Entry>,
    rewritten: BTreeSet<Span>,
    uses: Vec<Use>,
    taken: bool,
    clock: u64,
}

fn overlap(a: Span, b: Span) -> Span {
    let start = a.0.max(b.0);
    (start, a.1.min(b.1).max(start))
}

fn bytes(span: Span) -> u64 {
    span.1 - span.0
}

fn out_range(array: &Array) -> Option<Span> {
    let (offset, bytes) = array.out_range()?;
    Some((array.start as u64 + offset, array.start as u64 + offset + bytes))
}

impl Residents {
    /// Gives the table to an execution; false: another one has it, or the kernel can't watch.
    pub fn take(&mut self) -> bool {
        let able = self.tracker.get_or_insert_with(Tracker::open).is_some();
        let taken = able && !self.taken;
        self.taken |= taken;
        taken
    }

    /// What is there of an array. Entries that are in its way are dropped into `dropped`. `whole`: nothing or
    /// all of the written range comes back.
    pub fn find(&mut self, array: &Array, whole: bool, dropped: &mut Vec<Block>) -> Kept {
        let host = array.span();
        if !whole {
            // What is kept of it becomes stale; without the protection its results come back without faults.
            for start in self.overlapping(host) {
                if !self.entries[&start].in_use {
                    dropped.extend(self.entries.remove(&start).map(|entry| entry.block));
                }
            }
            if let Some(Some(tracker)) = &self.tracker {
                tracker.unprotect(whole_pages(host));
            }
            return Kept::No;
        }
        if array.bytes < MIN_BYTES || self.rewritten.contains(&host) {
            return Kept::No;
        }
        let near: Vec<u64> = self.overlapping(host);
        let holds = |entry: &Entry| entry.host.0 <= host.0 && host.1 <= entry.host.1;
        if near.iter().any(|start| self.entries[start].in_use) {
            return Kept::No;
        }
        if let [start] = near[..]
            && holds(&self.entries[&start])
        {
            let unwritten = self.unwritten(start, host);
            let entry = self.entries.get_mut(&start);
            if let Some(entry) = entry
                && array.copied_in()
            {
                let half = unwritten.iter().copied().map(bytes).sum::<u64>() < array.bytes / 2;
                entry.rewritten = if half { entry.rewritten + 1 } else { 0 };
                if entry.rewritten >= MAX_REWRITTEN {
                    self.give_up(host);
                    dropped.extend(self.entries.remove(&start).map(|entry| entry.block));
                    return Kept::No;
                }
            }
            return self.begin_use(start, array, unwritten);
        }
        for start in near {
            dropped.extend(self.entries.remove(&start).map(|entry| entry.block));
        }
        let registered = matches!(&self.tracker, Some(Some(tracker)) if tracker.register(host));
        if registered { Kept::Fresh } else { Kept::No }
    }

    /// Keeps new memory for an array for which [`Residents::find`] said `Fresh`.
    pub fn add(&mut self, array: &Array, block: Block, device: u64) -> Kept {
        let host = array.span();
        let entry = Entry { host, block, device, valid: (0, 0), rewritten: 0, in_use: false, stamp: 0 };
        self.entries.insert(host.0, entry);
        self.begin_use(host.0, array, Vec::new())
    }

    fn overlapping(&self, host: Span) -> Vec<u64> {
        // Entries don't overlap, so both ends ascend.
        let before = self.entries.range(..host.1).rev();
        before.take_while(|(_, entry)| entry.host.1 > host.0).map(|(&start, _)| start).collect()
    }

    fn unwritten(&self, start: u64, host: Span) -> Vec<Span> {
        let (Some(Some(tracker)), Some(entry)) = (&self.tracker, self.entries.get(&start)) else {
            return Vec::new();
        };
        tracker.unwritten(whole_pages(overlap(entry.valid, host)))
    }

    fn begin_use(&mut self, start: u64, array: &Array, unwritten: Vec<Span>) -> Kept {
        let (host, out, copied_in) = (array.span(), out_range(array), array.copied_in());
        let (Some(entry), Some(Some(tracker))) = (self.entries.get_mut(&start), &self.tracker) else {
            return Kept::No;
        };
        self.clock += 1;
        entry.stamp = self.clock;
        entry.in_use = true;
        entry.valid = (0, 0);
        let device = entry.device + (host.0 - entry.host.0);
        let mut tracked = true;
        if copied_in {
            // Before anything is read. What comes back is protected afterwards.
            let returning = out.map(whole_pages);
            for part in without(whole_pages(host), returning.as_slice()) {
                tracked &= tracker.protect(part);
            }
        }
        self.uses.push(Use { host, out, copied_in, tracked });
        let stale = if copied_in { without(host, &unwritten) } else { Vec::new() };
        Kept::Yes { device, stale }
    }

    /// The results are about to be written to the program's memory.
    pub fn returning(&mut self) {
        let Some(Some(tracker)) = &self.tracker else { return };
        for out in self.uses.iter().filter_map(|known| known.out) {
            // Where it is not registered, or fails, the writes are slow and noted.
            tracker.unprotect(whole_pages(out));
        }
    }

    /// The results are in place: what the execution used is valid.
    pub fn returned(&mut self) {
        let Some(Some(tracker)) = &self.tracker else { return };
        for Use { host, out, copied_in, tracked } in self.uses.drain(..) {
            let tracked = tracked && out.is_none_or(|out| tracker.protect(whole_pages(out)));
            let entry = self.entries.range_mut(..=host.0).next_back().map(|(_, entry)| entry);
            if let Some(entry) = entry.filter(|_| tracked) {
                entry.in_use = false;
                entry.valid = if copied_in { host } else { out.unwrap_or((0, 0)) };
            }
        }
    }

    /// Ends the use of the table; what was in use and is not valid is dropped.
    pub fn release(&mut self, dropped: &mut Vec<Block>) {
        self.uses.clear();
        self.taken = false;
        self.entries.retain(|_, entry| {
            if entry.in_use {
                dropped.push(entry.block);
            }
            !entry.in_use
        });
    }

    /// The device failed: its addresses mean nothing any more.
    pub fn forget(&mut self) {
        self.entries.clear();
        self.uses.clear();
        self.taken = false;
    }

    /// Drops what nobody uses, the oldest first, until no more than `limit` bytes are kept.
    pub fn shrink(&mut self, limit: u64) -> Vec<Block> {
        let mut total: u64 = self.entries.values().map(|entry| entry.block.size).sum();
        let mut unused: Vec<(u64, u64)> = self
            .entries
            .iter()
            .filter(|(_, entry)| !entry.in_use)
            .map(|(&start, entry)| (entry.stamp, start))
            .collect();
        unused.sort_unstable();
        let mut dropped = Vec::new();
        for (_, start) in unused {
            if total <= limit {
                break;
            }
            if let Some(entry) = self.entries.remove(&start) {
                total -= entry.block.size;
                dropped.push(entry.block);
            }
        }
        dropped
    }

    fn give_up(&mut self, host: Span) {
        if self.rewritten.len() >= MAX_REWRITTEN_ARRAYS {
            self.rewritten.clear();
        }
        self.rewritten.insert(host);
        if let Some(Some(tracker)) = &self.tracker {
            tracker.unprotect(whole_pages(host));
        }
    }
}

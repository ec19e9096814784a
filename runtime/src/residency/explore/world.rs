//! The state of the model: the books, memory on both sides, and what a program without a device would have.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::events::{Access, BASE, BYTES, Course, Event, What, X, Y, Z};
use crate::base::abi::Array;
use crate::base::error::{Error, Result};
use crate::base::rows::Rows;
use crate::base::shape::Shape;
use crate::residency::Strip;
use crate::residency::{Carrier, Dirty, Place, Residency};

mod memory;

use memory::{Memory, bytes_of, first_value, index};

type Problem<T> = std::result::Result<T, String>;

/// An array of the execution under way.
struct Placed {
    access: Access,
    array: Array,
    /// The device address of its range.
    device: u64,
    stale: Vec<(u64, u64)>,
    window: Option<Rows>,
    held: bool,
    beside: bool,
    snapshot: Option<Vec<u32>>,
}

#[derive(Clone)]
pub struct World {
    residency: Residency<()>,
    memory: Memory,
    /// What the program would have in its memory without a device.
    truth: [u32; BYTES],
    /// The last value that was new.
    last: u32,
    /// Of the activation that runs, and whether the callee touches X itself.
    depth: usize,
    touches: bool,
}

impl Default for World {
    fn default() -> Self {
        World::with(Residency::default())
    }
}

impl World {
    /// With so many entries at most that an execution did not use.
    pub fn limited(entries: usize) -> World {
        World::with(Residency::limited(entries))
    }

    fn with(residency: Residency<()>) -> World {
        let values = std::array::from_fn(first_value);
        let memory = Memory { host: values, ..Memory::default() };
        let last = BYTES as u32;
        World { residency, memory, truth: values, last, depth: 0, touches: false }
    }

    fn fresh(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    /// What tells states apart: numbers of values don't.
    pub fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.residency.hash(&mut hasher);
        (self.depth, self.touches).hash(&mut hasher);
        let current = |at: usize| u32::from(self.memory.host[at] == self.truth[at]) << at;
        (0..BYTES).map(current).sum::<u32>().hash(&mut hasher);
        for entry in self.residency.entries() {
            let block = &self.memory.blocks[&entry.device];
            let bytes = &block.bytes[..(entry.host.1 - entry.host.0) as usize];
            for (at, &value) in bytes.iter().enumerate() {
                let place = index(entry.host.0) + at;
                let before = block.snapshot.as_ref().map(|before| before[at]);
                let copies = [Some(self.truth[place]), Some(self.memory.host[place]), Some(value), before];
                // For each copy the first one that is the same.
                let first = |copy| copies.iter().position(|other| *other == copy).unwrap_or_default() as u16;
                let same = copies.iter().fold(0, |word, copy| word << 2 | first(*copy));
                (same << 1 | u16::from(block.lent[at])).hash(&mut hasher);
            }
        }
        hasher.finish()
    }

    /// Whether the event can happen here; if so, it has. An error: what must not be.
    pub fn follow(&mut self, event: &Event) -> Problem<bool> {
        let happens = match &event.what {
            What::Execution { arrays, course } => self.execute(arrays, *course)?,
            What::Host { depth, read, write, reads, writes } => {
                // What the callee did not announce it does not touch.
                let touches_x = *depth == 1 && reads.first() == Some(&X.0);
                if self.depth != *depth || touches_x && !self.touches {
                    return Ok(false);
                }
                self.residency.release(&mut self.memory, *read, *write).map_err(|e| e.to_string())?;
                self.read(reads.iter().copied())?;
                for &at in writes {
                    self.store(at);
                }
                true
            }
            What::Look { first, bytes, step, times } => {
                let strip = Strip::new(BASE + first, *bytes, *step, *times).ok_or("no strip")?;
                self.residency.look(&mut self.memory, &strip).map_err(|e| e.to_string())?;
                for time in 0..=*times {
                    let first = first.wrapping_add_signed(step * time as i64);
                    self.read(first..first + bytes)?;
                }
                true
            }
            What::Store { at } => {
                let span = (BASE + at, BASE + at + 1);
                self.residency.write(&mut self.memory, span).map_err(|e| e.to_string())?;
                self.store(*at);
                true
            }
            What::Free => {
                if self.depth != 0 {
                    return Ok(false);
                }
                self.residency.discard(&mut self.memory, 1);
                self.residency.release(&mut self.memory, 1, 1).map_err(|e| e.to_string())?;
                (X.0..X.1).for_each(|at| self.store(at));
                true
            }
            What::Call { releases } => {
                if self.depth != 0 {
                    return Ok(false);
                }
                if *releases {
                    self.residency.release(&mut self.memory, 1, 1).map_err(|e| e.to_string())?;
                }
                (self.depth, self.touches) = (1, *releases);
                self.residency.turn_to(1);
                true
            }
            What::Return { throws } => {
                if self.depth != 1 {
                    return Ok(false);
                }
                self.leave(*throws).map_err(|e| e.to_string())?;
                // The callee's own array is dead.
                (Z.0..Z.1).for_each(|at| self.store(at));
                (self.depth, self.touches) = (0, false);
                true
            }
        };
        if happens {
            self.check()?;
        }
        Ok(happens)
    }

    fn leave(&mut self, throws: bool) -> Result<()> {
        if throws {
            self.residency.release(&mut self.memory, u32::MAX, u32::MAX)?;
        } else if let Some(unknown) = self.residency.hand_over(&[0, 1]) {
            self.residency.drop_these(&mut self.memory, &unknown)?;
        }
        self.residency.turn_to(0);
        Ok(())
    }

    /// The program reads its memory.
    fn read(&self, bytes: impl IntoIterator<Item = u64>) -> Problem<()> {
        for at in bytes {
            if self.memory.host[at as usize] != self.truth[at as usize] {
                return Err(format!("the program reads byte {at}, which is of yesterday"));
            }
        }
        Ok(())
    }

    /// The program writes its memory.
    fn store(&mut self, at: u64) {
        let value = self.fresh();
        (self.memory.host[at as usize], self.truth[at as usize]) = (value, value);
    }

    /// An execution, as [`crate::execution`] carries it out.
    fn execute(&mut self, accesses: &[Access], course: Course) -> Problem<bool> {
        let depths: Vec<usize> = accesses.iter().filter_map(Access::depth).collect();
        if depths.iter().any(|&depth| depth != self.depth) || depths.is_empty() && self.depth != 0 {
            return Ok(false);
        }
        self.memory.fails = match course {
            Course::Stops(n) => Some((n, false)),
            Course::NoMemory(n) => Some((n, true)),
            _ => None,
        };
        let mut own = Vec::new();
        let begun = self.begin(accesses, &mut own);
        let stopped =
            self.memory.fails.take().is_none() && matches!(course, Course::Stops(_) | Course::NoMemory(_));
        let happens = match begun {
            Err(Error::Internal(text)) if text != "stopped" => return Err(text),
            // The operation that is to fail is not there: as without it.
            Ok(_) if !stopped && matches!(course, Course::Stops(_) | Course::NoMemory(_)) => false,
            Err(_) => {
                self.residency.finish(&mut self.memory, &[], false);
                self.run_original(accesses)?;
                true
            }
            Ok(placed) => self.launch(placed, course)?,
        };
        for memory in own {
            self.memory.give_back(memory);
        }
        Ok(happens)
    }

    /// Places all arrays and copies them in. `own` becomes the memory of the execution's own.
    fn begin(&mut self, accesses: &[Access], own: &mut Vec<u64>) -> Result<Vec<Placed>> {
        let mut order: Vec<&Access> = accesses.iter().collect();
        order.sort_by_key(|access| access.array.out_range().is_none());
        let mut all = Vec::new();
        for access in order {
            let array = access.array();
            let (stale, window) = (vec![(0, array.bytes)], None);
            let mut placed = Placed {
                access: access.clone(),
                array,
                device: 0,
                stale,
                window,
                held: false,
                beside: false,
                snapshot: None,
            };
            match self.residency.place(&mut self.memory, &array)? {
                Place::Entry { device, stale, window, .. } => {
                    (placed.device, placed.stale, placed.window, placed.held) = (device, stale, window, true);
                }
                Place::Beside => placed.beside = true,
                Place::Own => {}
            }
            if !placed.held {
                placed.device =
                    self.memory.allocate((array.start as u64, array.start as u64 + array.bytes))?;
                own.push(placed.device);
            }
            all.push(placed);
        }
        for placed in &mut all {
            self.copy_in(placed);
        }
        Ok(all)
    }

    fn copy_in(&mut self, placed: &mut Placed) {
        let Placed { array, device, held, beside, window, .. } = *placed;
        if !(array.copied_in() || held && array.needs_values()) {
            return;
        }
        let first = array.start as u64;
        let copy = |memory: &mut Memory, start: u64, end: u64| {
            for address in start..end {
                let value = memory.host[index(address)];
                let (block, at) = memory.block(device + (address - first));
                if block.lent[at] {
                    memory.complain(|| format!("byte {} is copied in over a result", index(address)));
                    return;
                }
                block.bytes[at] = value;
                if let Some(before) = &mut block.snapshot {
                    before[at] = value;
                }
            }
        };
        if beside {
            let filled = self.residency.beside(&array).expect("a place");
            for (from, (start, end)) in filled.there {
                for i in 0..end - start {
                    let (block, at) = self.memory.block(from + i);
                    let value = block.bytes[at];
                    let (block, at) = self.memory.block(device + (start - first) + i);
                    block.bytes[at] = value;
                }
            }
            filled.rest.into_iter().for_each(|(start, end)| copy(&mut self.memory, start, end));
        } else if held {
            if let Some(rows) = window {
                for offset in rows.offsets() {
                    copy(&mut self.memory, first + offset, first + offset + rows.bytes);
                }
                self.residency.copied_window(&array);
            }
            for &(offset, bytes) in &placed.stale {
                for part in self.residency.lacks(&array, (first + offset, first + offset + bytes)) {
                    copy(&mut self.memory, part.0, part.1);
                    self.residency.copied_in(&array, part);
                }
            }
        } else {
            copy(&mut self.memory, first, first + array.bytes);
            placed.snapshot = Some(self.memory.block(device).0.bytes.clone());
        }
    }

    /// The kernels, and what comes behind them.
    fn launch(&mut self, all: Vec<Placed>, course: Course) -> Problem<bool> {
        let before = self.truth;
        for placed in &all {
            self.kernel_reads(placed, &before, |_| true)?;
        }
        let fails = course == Course::Fails;
        let endangered = |placed: &Placed| placed.held && self.residency.endangers(&placed.array);
        if fails && all.iter().any(endangered) {
            // It ends the program.
            return Ok(false);
        }
        for placed in &all {
            for &byte in &placed.access.writes {
                let value = match course {
                    Course::ChangesNothing if placed.array.needs_values() => self.truth[byte as usize],
                    Course::ChangesBack => first_value(byte as usize),
                    _ => self.fresh(),
                };
                let (block, at) =
                    self.memory.block(placed.device + (BASE + byte - placed.array.start as u64));
                (block.bytes[at], block.lent[at]) = (value, true);
                if !fails {
                    self.truth[byte as usize] = value;
                }
            }
        }
        // What another thread of the kernel has written by then is not seen through an array that is only
        // read.
        for placed in &all {
            self.kernel_reads(placed, &before, |byte| !placed.access.writes.contains(&byte))?;
        }
        if fails {
            let held: Vec<Array> = all.iter().filter(|p| p.held).map(|p| p.array).collect();
            self.residency.finish(&mut self.memory, &held, true);
            let accesses: Vec<Access> = all.into_iter().map(|placed| placed.access).collect();
            self.run_original(&accesses)?;
            return Ok(true);
        }
        for placed in all.iter().filter(|placed| !placed.held) {
            self.bring_own(placed);
        }
        let arrays: Vec<(Array, bool)> = all.iter().map(|placed| (placed.array, placed.held)).collect();
        self.residency.ended(&mut self.memory, (), &arrays).map_err(|e| e.to_string())?;
        self.residency.finish(&mut self.memory, &[], false);
        Ok(true)
    }

    /// A kernel reads some of an array, where `expected` are the values of all memory.
    fn kernel_reads(
        &mut self,
        placed: &Placed,
        expected: &[u32; BYTES],
        reads: impl Fn(u64) -> bool,
    ) -> Problem<()> {
        for &byte in placed.access.reads.iter().filter(|byte| reads(**byte)) {
            let (block, at) = self.memory.block(placed.device + (BASE + byte - placed.array.start as u64));
            if block.bytes[at] != expected[byte as usize] {
                return Err(format!("a kernel reads byte {byte} of another time"));
            }
        }
        Ok(())
    }

    /// Results in memory of the execution's own.
    fn bring_own(&mut self, placed: &Placed) {
        let Some(result) = Dirty::of(&placed.array) else { return };
        for address in bytes_of(result.start, result.bytes, &result.shape) {
            let at = (address - placed.array.start as u64) as usize;
            let value = self.memory.block(placed.device).0.bytes[at];
            let changed = placed.snapshot.as_ref().is_none_or(|before| before[at] != value);
            if changed || !matches!(result.shape, Shape::Changed { .. }) {
                self.memory.host[index(address)] = value;
            }
        }
    }

    /// The original loop, with everything in the program's memory.
    fn run_original(&mut self, accesses: &[Access]) -> Problem<()> {
        self.residency.release(&mut self.memory, u32::MAX, u32::MAX).map_err(|e| e.to_string())?;
        for access in accesses {
            self.read(access.reads.iter().copied())?;
        }
        for access in accesses {
            access.writes.iter().for_each(|&at| self.store(at));
        }
        Ok(())
    }

    /// All invariants of the books.
    fn check(&mut self) -> Problem<()> {
        if let Some(problem) = self.memory.problem.take() {
            return Err(problem);
        }
        self.residency.check()?;
        if self.memory.blocks.len() != self.residency.entries().len() {
            return Err("device memory is lost".into());
        }
        let mut lent = [false; BYTES];
        for entry in self.residency.entries() {
            let block = &self.memory.blocks[&entry.device];
            if entry.snapshot != block.snapshot.is_some() {
                return Err("a snapshot is not where it is said to be".into());
            }
            let mut valid = [false; BYTES];
            let windows = entry.windows.iter().flat_map(|(span, rows)| {
                bytes_of(span.0, span.1 - span.0, &Shape::Rows(*rows)).into_iter().map(index)
            });
            let parts = entry.valid.iter().flat_map(|&(start, end)| (start..end).map(index));
            parts.chain(windows).for_each(|at| valid[at] = true);
            // What is true of some objects only says nothing of others' bytes.
            if let Some(owners) = entry.loose {
                let objects = if owners.depth == 0 { [(1, X), (2, Y)] } else { [(1, Z), (2, X)] };
                let own = |at: u64| {
                    objects.iter().any(|(bit, span)| owners.mask & bit != 0 && (span.0..span.1).contains(&at))
                };
                (0..BYTES).for_each(|at| valid[at] &= own(at as u64));
            }
            let covered = |address: u64, whole: bool| {
                entry.dirty.iter().any(|result| {
                    !(whole && matches!(result.shape, Shape::Changed { .. }))
                        && bytes_of(result.start, result.bytes, &result.shape).contains(&address)
                })
            };
            for (i, &value) in block.bytes.iter().enumerate() {
                if i >= (entry.host.1 - entry.host.0) as usize {
                    break;
                }
                let (address, at) = (entry.host.0 + i as u64, index(entry.host.0) + i);
                if valid[at] && value != self.truth[at] {
                    return Err(format!("byte {at} is said to be valid on the device"));
                }
                if block.lent[i] && !covered(address, false) {
                    return Err(format!("byte {at} was written by a kernel and will not come back"));
                }
                lent[at] |= block.lent[i];
                let Some(before) = block.snapshot.as_ref().filter(|_| valid[at] && !covered(address, true))
                else {
                    continue;
                };
                if before[i] == value && self.memory.host[at] != value {
                    return Err(format!("byte {at} differs from its snapshot and is taken for unchanged"));
                }
                if before[i] != value && !block.lent[i] {
                    return Err(format!("the snapshot of byte {at} is not what was copied in"));
                }
            }
        }
        for (at, lent) in lent.iter().enumerate().take(BYTES) {
            if !lent && self.memory.host[at] != self.truth[at] {
                return Err(format!(
                    "byte {at} of the program's memory is of yesterday, and nothing is lent"
                ));
            }
        }
        Ok(())
    }
}

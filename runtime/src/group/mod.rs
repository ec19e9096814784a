//! Several devices that work as one: a queue made of one queue on each.
//!
//! Problem: an execution, and what stays on the device between executions, know one device with one memory.
//! Approach: memory is allocated on the first device, whose addresses stand for it everywhere else; other
//! devices get a replica when they first need one. What each has of a range is in its [`books`]. The parts of
//! a launch go to one device each, behind copies of what it touches and does not have.
//!
//! Invariants:
//!
//! * before a part is launched its device has all that lies between its first and last touched byte, those
//!   that it writes among them. Behind the launch it alone has what lies between its first and last written
//!   byte: nobody else writes there, or else the launch is not divided ([`apart`]);
//! * what a launch as a whole touches, and what is copied within the device's memory, is brought to the first
//!   device before;
//! * copies between devices wait for all that the giving one was asked before, and whatever the giving one is
//!   asked later waits for them;
//! * so at every call the memory of this queue has, in terms of [`Queue`], the contents that it would have on
//!   one device.
//!
//! Example: a stencil of radius 1 on 300 rows, three devices, time steps in a host loop: the rows are copied
//! in by thirds, over three links. Each step moves rows 99 and 199 up, 100 and 200 down, of the array that is
//! read. At the end each device copies its third of the result out.

mod books;
mod links;
mod ranks;

use crate::base::abi::{ARRAY_SCRATCH, Array, Scop};
use crate::base::error::{Error, Result};
use crate::base::planted::skips;
use crate::base::rows::{Plane, Rows};
use crate::base::spans::Span;
use crate::device::code::ModuleSlot;
use crate::device::results::Returning;
use crate::device::{Part, Queue, Store};
use crate::hosts::World;
use books::{Books, Move, share_of};
use ranks::{Ranks, Step};

/// A device among several. What it does not say is done by its [`Queue`].
pub trait Member: Queue {
    /// Bytes from which on a copy from or to the program is worth the links of several devices.
    const SHARED_COPY: u64;
    /// Each has a link of its own, so that copies of several go at once.
    const LINKS: bool;

    /// For others to wait for: everything that was asked of this one so far.
    fn mark(&mut self) -> Result<()> {
        Ok(())
    }

    /// What is asked from now on waits for what another one marked last.
    fn await_member(&mut self, _other: &Self) -> Result<()> {
        Ok(())
    }

    /// Copies from another one's memory.
    ///
    /// # Safety
    /// The ranges lie in allocations of the two queues.
    unsafe fn pull(&mut self, to: u64, other: &Self, from: u64, bytes: u64) -> Result<()>;

    /// [`Queue::copy_in`] to a replica.
    ///
    /// # Safety
    /// As there.
    unsafe fn copy_in_replica(&mut self, to: u64, from: *const u8, bytes: u64) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.copy_in(to, from, bytes) }
    }

    /// [`Queue::give_back`] of a replica.
    fn give_back_replica(&mut self, device: u64) {
        self.give_back(device);
    }

    /// What follows is for the checks of the emulated device, whose first member keeps the books of all.
    ///
    /// Launches of an execution follow, on whatever member; asked of the first.
    fn before_launches(&mut self) {}

    /// What lies here is another one's from now on.
    fn lacks(&mut self, _device: u64, _bytes: u64) {}

    /// What came from the program went to another one.
    fn copied_elsewhere(&mut self, _device: u64, _bytes: u64) {}

    /// A replica has the values that the first member has, where it is valid.
    fn share(&mut self, _device: u64, _first: &Self, _from: u64, _valid: &[Span]) {}

    /// What another one's kernels did counts as this one's.
    fn absorb(&mut self, _other: &Self) {}

    /// Memory of the host for messages, to send or to receive, where the device reaches some faster than
    /// other memory. It is this until the next call for the same.
    fn room(&mut self, _receives: bool, _bytes: u64) -> Option<*mut u8> {
        None
    }

    /// Waits that messages made were no end of the kernels' time.
    fn resume(&mut self) {}

    /// Takes what a member of another rank has sent, with what is known of it ([`Member::knowledge`]).
    ///
    /// # Safety
    /// As for [`Queue::copy_in`].
    unsafe fn receive(&mut self, to: u64, bytes: &[u8], _known: &[u8]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.copy_in_replica(to, bytes.as_ptr(), bytes.len() as u64) }
    }

    /// Of each byte, whether it has a value; nothing where nobody checks.
    fn knowledge(&self, _from: u64, _bytes: u64) -> Vec<u8> {
        Vec::new()
    }

    /// What this one's kernels did, for a member of another rank; nothing where nobody checks.
    fn account(&self) -> Vec<u8> {
        Vec::new()
    }

    /// [`Member::absorb`] of a member of another rank.
    fn hear(&mut self, _account: &[u8]) {}
}

/// An allocation.
struct Memory {
    /// Its address on the first device.
    start: u64,
    bytes: u64,
    host: u64,
    /// On each device; `None`: not yet. Of another rank's any number.
    places: Vec<Option<u64>>,
    books: Books,
    /// Each device has contents of its own from the first launch on: a fault may be anybody's.
    apart: bool,
}

impl Memory {
    fn span(&self) -> Span {
        (self.start, self.start + self.bytes)
    }
}

/// A part of a memory on some member: the memory's place there, and the part's first byte and the one behind
/// its last.
type Piece = (u64, u64, u64);

/// An array of the execution.
#[derive(Clone, Copy)]
struct PlacedArray {
    array: Array,
    device: u64,
    argument: u64,
    held: bool,
}

impl PlacedArray {
    fn is_written(&self) -> bool {
        self.array.out_range().is_some() || self.array.is_fault() || self.array.flags & ARRAY_SCRATCH != 0
    }
}

/// See the module documentation.
pub struct Group<M> {
    /// Those of this rank.
    here: Vec<M>,
    /// Where others have some, too.
    ranks: Option<Ranks>,
    memories: Vec<Memory>,
    scop: &'static Scop,
    /// By index.
    arrays: Vec<Option<PlacedArray>>,
    /// Bytes that moved between devices, in this execution.
    moved: u64,
    /// Launches of this execution that were divided.
    divided: u64,
    /// However short they are, and what they touch.
    always: bool,
}

/// A launch that touches so few bytes, and has so few blocks, is done where its data are, rather than shared:
/// a device has as many multiprocessors, and two in lock step take 15 us to exchange something.
const LITTLE_BYTES: u64 = 1 << 20;
const LITTLE_BLOCKS: u64 = 132;

/// So few bytes each rank copies from its program's memory, rather than to ask another one for them.
const LITTLE_COPY: u64 = 4096;

impl<M: Member> Group<M> {
    /// Of two or more. `always`: they share all launches, whether it pays or not.
    pub fn of(members: Vec<M>, scop: &'static Scop, always: bool) -> Group<M> {
        let (memories, arrays) = (Vec::new(), Vec::new());
        Group { here: members, ranks: None, memories, scop, arrays, moved: 0, divided: 0, always }
    }

    /// With the members of all ranks.
    pub fn across(members: Vec<M>, scop: &'static Scop, always: bool, world: &'static World) -> Group<M> {
        let ranks = Ranks::new(world, members.len());
        let mut group = Group::of(members, scop, always);
        group.ranks = Some(ranks);
        group
    }

    fn first(&mut self) -> &mut M {
        &mut self.here[0]
    }

    /// The allocation that an address lies in, and how far.
    fn find(&self, device: u64) -> Result<(usize, u64)> {
        let inside = |memory: &Memory| (memory.start..memory.start + memory.bytes).contains(&device);
        let index = self.memories.iter().position(inside);
        let index = index.ok_or_else(|| Error::Internal("an address of no memory".into()))?;
        Ok((index, device - self.memories[index].start))
    }

    /// A memory's address on a member.
    fn place(&mut self, index: usize, member: usize) -> Result<u64> {
        let Memory { start, bytes, host, ref places, .. } = self.memories[index];
        if let Some(address) = places[member] {
            return Ok(address);
        }
        let own_first = member == self.base();
        let address = match self.member(member) {
            _ if own_first => start,
            Some(member) => member.allocate(bytes, host)?,
            None => 0,
        };
        self.memories[index].places[member] = Some(address);
        for number in 0..self.arrays.len() {
            if self.arrays[number].is_some_and(|placed| (start..start + bytes).contains(&placed.device)) {
                self.tell_placed(number, member);
            }
        }
        Ok(address)
    }

    /// Tells a member of an array that lies in a memory which it has a replica of.
    fn tell_placed(&mut self, number: usize, member: usize) {
        let Some(PlacedArray { array, device, argument, held }) = self.arrays[number] else { return };
        let Ok((index, offset)) = self.find(device) else { return };
        let Memory { start, ref places, ref books, .. } = self.memories[index];
        let Some(place) = places[member] else { return };
        let Some(at) = self.at(member).and_then(|at| at.checked_sub(1)) else { return };
        let (first, others) = self.here.split_at_mut(1);
        let Some(other) = others.get_mut(at) else { return };
        if held {
            other.share(place, &first[0], start, books.has(member));
        }
        let device = place + offset;
        other.placed(number, &array, device, argument.wrapping_sub(start).wrapping_add(place), held);
    }

    /// Carries out moves between members, for several memories.
    fn carry_out(&mut self, moves: &[(usize, Vec<Move>)]) -> Result<()> {
        let all = || moves.iter().flat_map(|(_, moves)| moves);
        if all().next().is_none() {
            return Ok(());
        }
        for (index, moves) in moves {
            for Move { from, to, .. } in moves {
                self.place(*index, *from)?;
                self.place(*index, *to)?;
            }
        }
        self.carry_between_ranks(moves)?;
        let here = |m: &Move| Some((self.at(m.from)?, self.at(m.to)?));
        let mut pairs: Vec<(usize, usize)> = all().filter_map(here).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let involved = |which: fn(&(usize, usize)) -> usize| {
            let mut members: Vec<usize> = pairs.iter().map(which).collect();
            members.sort_unstable();
            members.dedup();
            members
        };
        for from in involved(|pair| pair.0) {
            self.here[from].mark()?;
        }
        for &(from, to) in &pairs {
            if let Ok([from, to]) = self.here.get_disjoint_mut([from, to]) {
                to.await_member(from)?;
            }
        }
        for (index, moves) in moves {
            for &Move { from, to, part: (start, end) } in moves {
                let memory = &self.memories[*index];
                self.moved += end - start;
                let (Some(source), Some(target)) = (memory.places[from], memory.places[to]) else { continue };
                let (Some(from), Some(to)) = (self.at(from), self.at(to)) else { continue };
                if let Ok([from, to]) = self.here.get_disjoint_mut([from, to]) {
                    // SAFETY: parts of the memory on both devices.
                    unsafe { to.pull(target + start, from, source + start, end - start) }?;
                }
            }
            self.memories[*index].books.moved(moves);
        }
        for to in involved(|pair| pair.1) {
            self.here[to].mark()?;
        }
        for &(from, to) in &pairs {
            if let Ok([from, to]) = self.here.get_disjoint_mut([from, to]) {
                from.await_member(to)?;
            }
        }
        Ok(())
    }

    /// Brings parts of memory to members: by member, addresses on the first device.
    fn gather(&mut self, needs: &[(usize, Span)]) -> Result<()> {
        let moves = self.moves(needs);
        self.carry_out(&moves)
    }

    /// What has to move for that, by the memory's number.
    fn moves(&self, needs: &[(usize, Span)]) -> Vec<(usize, Vec<Move>)> {
        let mut moves = Vec::new();
        for (index, memory) in self.memories.iter().enumerate() {
            let (start, end) = memory.span();
            let here = |&(member, part): &(usize, Span)| {
                let part = (part.0.max(start), part.1.min(end));
                (part.0 < part.1).then(|| (member, (part.0 - start, part.1 - start)))
            };
            let here: Vec<(usize, Span)> = needs.iter().filter_map(here).collect();
            let found = memory.books.moves(&here);
            if !found.is_empty() {
                moves.push((index, found));
            }
        }
        moves
    }

    /// Bytes that would move if members had to have these parts of memory.
    fn bytes_moved(&self, needs: &[(usize, Span)]) -> u64 {
        self.moves(needs).iter().flat_map(|(_, moves)| moves).map(|m| m.part.1 - m.part.0).sum()
    }

    /// The member that runs each part. Parts that may write to the same place, and less than there are
    /// devices, are one member's: of that which has most of what they touch. So are those that touch little,
    /// where they would have to be told it.
    fn assign(&self, parts: &[Part]) -> Vec<usize> {
        let each: Vec<usize> = (0..parts.len()).collect();
        let divisible = parts.len() <= self.count() && parts.len() > 1 && apart(parts);
        let needs = needs_of(each.iter().copied().zip(parts));
        let touched: u64 = needs.iter().map(|(_, (start, end))| end - start).sum();
        let blocks: u64 = parts.iter().map(|part| part.blocks).sum();
        if divisible && (self.always || touched > LITTLE_BYTES || blocks > LITTLE_BLOCKS) {
            return each;
        }
        let on = |member: usize| self.bytes_moved(&needs_of(parts.iter().map(|part| (member, part))));
        let best = (0..self.count()).map(|member| (on(member), member)).min();
        let (least, member) = best.unwrap_or_default();
        if divisible && self.bytes_moved(&needs) <= least { each } else { vec![member; parts.len()] }
    }

    /// A member has a new version of what lies at these addresses.
    fn set(&mut self, member: usize, (start, end): Span) -> Result<()> {
        if start >= end {
            return Ok(());
        }
        let (index, offset) = self.find(start)?;
        let memory = &mut self.memories[index];
        if memory.apart && memory.books.missing(0, (offset, offset + (end - start))).is_empty() {
            return Ok(());
        }
        let lost = memory.books.set(member, (offset, offset + (end - start)));
        for (other, (from, to)) in lost {
            let Some(place) = self.memories[index].places[other] else { continue };
            if let Some(other) = self.member(other) {
                other.lacks(place + from, to - from);
            }
        }
        Ok(())
    }

    /// The first member lacks what others alone have of a part of a memory.
    fn tell_missing(&mut self, index: usize, part: Span) {
        let Memory { start, ref books, .. } = self.memories[index];
        for (from, to) in books.missing(self.base(), part) {
            self.first().lacks(start + from, to - from);
        }
    }

    /// What members of this rank do, by their numbers here.
    fn local<J: Copy>(&self, jobs: &[(usize, J)]) -> Vec<(usize, J)> {
        jobs.iter().filter_map(|&(member, job)| Some((self.at(member)?, job))).collect()
    }

    /// Who gives each piece of a part to the program: by member, its place of the memory, and from where to
    /// where. And where the part begins.
    fn givers(&mut self, from: u64, bytes: u64) -> Result<(Vec<(usize, Piece)>, u64)> {
        let (index, offset) = self.find(from)?;
        let memory = &self.memories[index];
        let mut pieces = Vec::new();
        for (member, (start, end)) in memory.books.givers((offset, offset + bytes), memory.bytes) {
            pieces.push((member, (self.place(index, member)?, start, end)));
        }
        Ok((pieces, offset))
    }

    /// The arrays of a kernel.
    fn used(&self, kernel: usize) -> Vec<PlacedArray> {
        let indices = self.scop.kernels().get(kernel).map_or(&[][..], |kernel| kernel.array_index());
        let placed = indices.iter().filter_map(|&index| self.arrays.get(index as usize).copied().flatten());
        placed.filter(|placed| placed.array.bytes > 0).collect()
    }

    /// The arguments of a part, at its member's addresses.
    fn translated(&mut self, kernel: usize, member: usize, arguments: &[u64]) -> Result<Vec<u64>> {
        let mut arguments = arguments.to_vec();
        let indices = self.scop.kernels().get(kernel).map_or(&[][..], |kernel| kernel.array_index());
        for (slot, &array) in arguments.iter_mut().zip(indices) {
            let placed = self.arrays.get(array as usize).copied().flatten();
            let Some(placed) = placed.filter(|placed| placed.array.bytes > 0) else { continue };
            let (index, _) = self.find(placed.device)?;
            let place = self.place(index, member)?;
            *slot = slot.wrapping_sub(self.memories[index].start).wrapping_add(place);
        }
        Ok(arguments)
    }
}

/// What members have to have before the parts that they run.
fn needs_of<'a>(parts: impl Iterator<Item = (usize, &'a Part)>) -> Vec<(usize, Span)> {
    let of = |(member, part): (usize, &'a Part)| part.touched.iter().map(move |&span| (member, span));
    parts.flat_map(of).filter(|(_, span)| span.0 < span.1).collect()
}

/// Whether no two parts write between the same bytes.
fn apart(parts: &[Part]) -> bool {
    let mut written: Vec<(usize, Span)> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        written.extend(part.written.iter().filter(|span| span.0 < span.1).map(|&span| (number, span)));
    }
    written.sort_unstable_by_key(|(_, span)| *span);
    // Of one part spans may overlap: the farthest end so far, and whose it is.
    let mut farthest: Option<(usize, u64)> = None;
    let mut second: u64 = 0;
    for (number, (start, end)) in written {
        match farthest {
            Some((owner, reach)) => {
                let others = if owner == number { second } else { reach };
                if start < others {
                    return false;
                }
                if end > reach {
                    if owner != number {
                        second = reach;
                    }
                    farthest = Some((number, end));
                } else if owner != number {
                    second = second.max(end);
                }
            }
            None => farthest = Some((number, end)),
        }
    }
    true
}

impl<M> Drop for Group<M> {
    fn drop(&mut self) {
        if let Some(ranks) = &self.ranks {
            ranks.world.gathers(self.memories.len());
        }
    }
}

impl<M: Member> Queue for Group<M> {
    fn label(&self) -> &'static str {
        self.here[0].label()
    }

    fn devices(&self) -> usize {
        self.count()
    }

    fn always_shares(&self) -> bool {
        self.always
    }

    fn divided(&self) -> (u64, u64) {
        (self.divided, self.moved)
    }

    fn memory(&self) -> Option<u64> {
        self.ranks.as_ref().map_or_else(|| self.here[0].memory(), |ranks| ranks.memory)
    }

    fn meet(&mut self) -> Result<()> {
        self.meet_ranks()
    }

    fn is_shared(&self) -> bool {
        self.ranks.is_some()
    }

    fn unify(&mut self, snapshot: &mut [u8]) -> Result<()> {
        self.unify_snapshot(snapshot)
    }

    fn allocate(&mut self, bytes: u64, host: u64) -> Result<u64> {
        let allocated = self.first().allocate(bytes, host);
        let agreed = self.agree(Step::Allocate, [bytes], allocated.is_ok());
        let start = allocated?;
        if agreed.is_err() {
            self.first().give_back(start);
            // As where it happened: the same is tried next.
            return Err(Error::OutOfMemory { bytes });
        }
        if let Some(ranks) = &self.ranks {
            ranks.world.spreads();
        }
        let devices = self.count();
        let mut places = vec![None; devices];
        places[0] = Some(start);
        self.memories.push(Memory { start, bytes, host, places, books: Books::new(devices), apart: false });
        Ok(start)
    }

    fn give_back(&mut self, device: u64) {
        let Some(index) = self.memories.iter().position(|memory| memory.start == device) else { return };
        let memory = self.memories.swap_remove(index);
        if let Some(ranks) = &self.ranks {
            ranks.world.gathers(1);
        }
        self.first().give_back(memory.start);
        for (member, place) in memory.places.into_iter().enumerate() {
            if let (Some(place), Some(1..)) = (place, self.at(member)) {
                let Some(member) = self.member(member) else { continue };
                member.give_back_replica(place);
            }
        }
    }

    fn aim(&mut self, scop: &'static Scop, module: &'static ModuleSlot) -> Result<()> {
        self.scop = scop;
        self.arrays.clear();
        (self.moved, self.divided) = (0, 0);
        self.here.iter_mut().try_for_each(|member| member.aim(scop, module))
    }

    fn placed(&mut self, index: usize, array: &Array, device: u64, argument: u64, held: bool) {
        self.first().placed(index, array, device, argument, held);
        if array.bytes == 0 {
            return;
        }
        if self.arrays.len() <= index {
            self.arrays.resize(index + 1, None);
        }
        self.arrays[index] = Some(PlacedArray { array: *array, device, argument, held });
        if array.is_fault()
            && let Ok((memory, _)) = self.find(device)
        {
            self.memories[memory].apart = true;
        }
        for member in 0..self.count() {
            self.tell_placed(index, member);
        }
    }

    fn shape(&mut self, index: usize, dims: usize, sizes: [i64; 3]) {
        self.here.iter_mut().for_each(|member| member.shape(index, dims, sizes));
    }

    fn check(&mut self) {
        let (first, others) = self.here.split_at_mut(1);
        others.iter().for_each(|other| first[0].absorb(other));
        self.hear_accounts();
        self.first().check();
    }

    fn returning(&mut self) {
        self.first().returning();
    }

    fn returned(&mut self) {
        self.first().returned();
        for index in 0..self.memories.len() {
            self.tell_missing(index, (0, self.memories[index].bytes));
        }
    }

    fn brought(&mut self, results: &[Returning<'_>]) {
        self.first().brought(results);
    }

    fn moved(&mut self, to: u64, from: u64, bytes: u64) {
        self.first().moved(to, from, bytes);
        if let Ok((index, offset)) = self.find(to) {
            self.tell_missing(index, (offset, offset + bytes));
        }
    }

    fn outdated(&mut self, device: u64, bytes: u64) {
        self.first().outdated(device, bytes);
    }

    fn forsaken(&mut self, device: u64, bytes: u64) {
        self.first().forsaken(device, bytes);
    }

    fn settled(&mut self, device: u64, bytes: u64) {
        self.first().settled(device, bytes);
    }

    unsafe fn copy_within(&mut self, to: u64, from: u64, bytes: u64) -> Result<()> {
        self.gather(&[(0, (from, from + bytes))])?;
        if self.base() == 0 {
            // SAFETY: the caller's promise.
            unsafe { self.first().copy_within(to, from, bytes) }?;
        }
        self.set(0, (to, to + bytes))
    }

    unsafe fn copy_in(&mut self, to: u64, from: *const u8, bytes: u64) -> Result<()> {
        let (index, offset) = self.find(to)?;
        let Memory { bytes: whole, apart, .. } = self.memories[index];
        // SAFETY: the caller's promise.
        unsafe { self.note_data(from, bytes) };
        if self.ranks.is_some() && (bytes < M::SHARED_COPY.max(LITTLE_COPY) || apart) {
            // SAFETY: the caller's promise.
            return unsafe { self.copy_in_everywhere(to, from, bytes) };
        }
        let devices = if bytes < M::SHARED_COPY || apart { 1 } else { self.count() };
        let mut copies = Vec::new();
        for member in 0..devices {
            let (start, end) = share_of(whole, member, devices);
            let (start, end) = (start.max(offset), end.min(offset + bytes));
            if start < end {
                copies.push((member, (self.place(index, member)?, start, end)));
            }
        }
        let from = from.expose_provenance();
        let own = self.local(&copies);
        self.at_once(own, bytes, |member, number, (place, start, end)| {
            let from = std::ptr::with_exposed_provenance(from + (start - offset) as usize);
            // SAFETY: the caller's promise; a part of both ranges.
            unsafe {
                match number {
                    0 => member.copy_in(place + start, from, end - start),
                    _ => member.copy_in_replica(place + start, from, end - start),
                }
            }
        })?;
        let address = self.memories[index].start;
        for (member, (_, start, end)) in copies {
            self.set(member, (address + start, address + end))?;
            if member != self.base() {
                self.first().copied_elsewhere(address + start, end - start);
            }
        }
        Ok(())
    }

    fn prefers(&self, rows: &Rows, range: u64) -> bool {
        self.here[0].prefers(rows, range)
    }

    unsafe fn copy_rows_in(&mut self, to: u64, from: *const u8, rows: &Rows) -> Result<()> {
        let (index, offset) = self.find(to)?;
        let end = (offset + rows.reach()).min(self.memories[index].bytes);
        let span = (to, to + (end - offset));
        self.gather(&[(0, span)])?;
        if self.base() == 0 {
            // SAFETY: the caller's promise.
            unsafe { self.first().copy_rows_in(to, from, rows) }?;
        } else {
            rows.offsets().for_each(|offset| self.first().copied_elsewhere(to + offset, rows.bytes));
        }
        self.set(0, span)
    }

    unsafe fn copy_plane_out(&mut self, to: *mut u8, from: u64, rows: &Rows, plane: &Plane) -> Result<()> {
        let (index, offset) = self.find(from)?;
        let mut row = 0;
        while row < plane.rows {
            // Rows that one member has, from here on.
            let at = |row: u64| offset + plane.offset + row * rows.pitch();
            let memory = &self.memories[index];
            let has = |member: usize, row: u64| {
                memory.books.missing(member, (at(row), at(row) + rows.bytes)).is_empty()
            };
            let Some(member) = (0..self.count()).find(|&member| has(member, row)) else {
                let span = (memory.start + at(row), memory.start + at(row) + rows.bytes);
                self.gather(&[(0, span)])?;
                let known = &self.memories[index].books;
                if !known.missing(0, (at(row), at(row) + rows.bytes)).is_empty() {
                    // Nobody wrote some of it.
                    let here = Plane { offset: plane.offset + row * rows.pitch(), rows: 1 };
                    let to = to.wrapping_add((row * rows.bytes) as usize);
                    let place = self.place(index, 0)? + offset;
                    // SAFETY: the caller's promise, for one row.
                    unsafe {
                        self.tell_rows(0, to, rows.bytes, |m| m.copy_plane_out(to, place, rows, &here))
                    }?;
                    row += 1;
                }
                continue;
            };
            let mut end = row + 1;
            while end < plane.rows && has(member, end) {
                end += 1;
            }
            let here = Plane { offset: plane.offset + row * rows.pitch(), rows: end - row };
            let to = to.wrapping_add((row * rows.bytes) as usize);
            let (place, bytes) = (self.place(index, member)? + offset, here.rows * rows.bytes);
            // SAFETY: the caller's promise, for some of the rows.
            unsafe { self.tell_rows(member, to, bytes, |m| m.copy_plane_out(to, place, rows, &here)) }?;
            row = end;
        }
        Ok(())
    }

    fn mark_copies(&mut self) -> Result<()> {
        self.here.iter_mut().try_for_each(Queue::mark_copies)
    }

    fn await_copies(&mut self) -> Result<()> {
        self.here.iter_mut().try_for_each(Queue::await_copies)
    }

    unsafe fn launch(&mut self, kernel: usize, blocks: u64, arguments: &[u64]) -> Result<()> {
        self.first().before_launches();
        let used = self.used(kernel);
        let spans: Vec<(usize, Span)> =
            used.iter().map(|placed| (0, (placed.device, placed.device + placed.array.bytes))).collect();
        self.gather(&spans)?;
        if self.base() == 0 {
            // SAFETY: the caller's promise.
            unsafe { self.first().launch(kernel, blocks, arguments) }?;
        }
        for (placed, (_, span)) in used.iter().zip(spans) {
            if placed.is_written() {
                self.set(0, span)?;
            }
        }
        Ok(())
    }

    unsafe fn launch_parts(&mut self, kernel: usize, parts: &[Part]) -> Result<()> {
        self.first().before_launches();
        let places = self.assign(parts);
        let placed = || places.iter().copied().zip(parts).filter(|(_, part)| part.blocks > 0);
        if !skips("exchange") {
            self.gather(&needs_of(placed()))?;
        }
        for (member, part) in placed() {
            let arguments = self.translated(kernel, member, &part.arguments)?;
            if let Some(member) = self.member(member) {
                // SAFETY: the caller's promise, at this member's addresses.
                unsafe { member.launch(kernel, part.blocks, &arguments) }?;
            }
        }
        for (member, part) in placed() {
            for &span in &part.written {
                self.set(member, span)?;
            }
        }
        self.divided += u64::from(places.iter().any(|&member| member != places[0]));
        Ok(())
    }

    fn submit(&mut self) -> Result<()> {
        self.here.iter_mut().try_for_each(Queue::submit)
    }

    fn discard(&mut self) {
        self.here.iter_mut().for_each(Queue::discard);
    }

    fn synchronize(&mut self) -> Result<()> {
        // All are waited for, whatever one says.
        self.here.iter_mut().map(Queue::synchronize).fold(Ok(()), Result::and)
    }

    fn landing(&mut self, bytes: u64) -> Result<*mut u8> {
        self.first().landing(bytes)
    }

    fn expect_delivery(&mut self, bytes: u64) {
        self.first().expect_delivery(bytes);
    }

    unsafe fn deliver(&mut self, to: *mut u8, from: *const u8, bytes: u64) {
        // SAFETY: the caller's promise.
        unsafe { self.first().deliver(to, from, bytes) };
    }

    unsafe fn copy_out(&mut self, to: *mut u8, from: u64, bytes: u64) -> Result<()> {
        let (copies, offset) = self.givers(from, bytes)?;
        if self.ranks.is_some() {
            // SAFETY: the caller's promise.
            return unsafe { self.tell_all(to, offset, &copies) };
        }
        let to = to.expose_provenance();
        self.at_once(copies, bytes, |member, _, (place, start, end)| {
            let to = std::ptr::with_exposed_provenance_mut(to + (start - offset) as usize);
            // SAFETY: the caller's promise, for a part of it.
            unsafe { member.copy_out(to, place + start, end - start) }
        })
    }

    unsafe fn copy_out_of(&mut self, device: usize, to: *mut u8, from: u64, bytes: u64) -> Result<bool> {
        let (index, offset) = self.find(from)?;
        let Some(place) = self.memories[index].places[device] else { return Ok(false) };
        // SAFETY: the caller's promise.
        unsafe { self.tell_rows(device, to, bytes, |member| member.copy_out(to, place + offset, bytes)) }?;
        Ok(true)
    }

    fn setups(&self) -> u64 {
        self.here.iter().map(Queue::setups).sum()
    }

    fn copies_through(&mut self, bytes: u64) -> bool {
        self.ranks.is_none() && self.first().copies_through(bytes)
    }

    unsafe fn copy_through(&mut self, from: u64, bytes: u64, store: &Store<'_>) -> Result<()> {
        let (copies, offset) = self.givers(from, bytes)?;
        self.at_once(copies, bytes, |member, _, (place, start, end)| {
            let before = (start - offset) as usize;
            let store = |at: usize, piece: &[u8]| store(before + at, piece);
            // SAFETY: the caller's promise, for a part of it.
            unsafe { member.copy_through(place + start, end - start, &store) }
        })
    }

    fn kernel_ms(&mut self) -> f64 {
        self.here.iter_mut().map(Queue::kernel_ms).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::spans::overlaps;

    fn part(written: &[Span]) -> Part {
        Part { blocks: 1, arguments: Vec::new(), touched: Vec::new(), written: written.to_vec() }
    }

    #[test]
    fn parts_that_write_to_the_same_place_are_seen() {
        for (parts, expected) in [
            (vec![part(&[(0, 10)]), part(&[(10, 20)])], true),
            (vec![part(&[(0, 11)]), part(&[(10, 20)])], false),
            (vec![part(&[(0, 10), (50, 60)]), part(&[(10, 50), (60, 70)])], true),
            (vec![part(&[(0, 10), (50, 61)]), part(&[(10, 50), (60, 70)])], false),
            // One part may write through two arrays.
            (vec![part(&[(0, 10), (5, 8)]), part(&[(10, 20)])], true),
            (vec![part(&[(0, 100), (5, 8)]), part(&[(50, 60)])], false),
            (vec![part(&[(0, 30)]), part(&[(30, 90), (40, 50)]), part(&[(90, 99), (0, 0)])], true),
            (vec![part(&[(30, 90)]), part(&[(20, 30), (90, 91)]), part(&[(89, 99)])], false),
        ] {
            assert_eq!(apart(&parts), expected);
        }
        // Any order, against all pairs.
        let mut state = 1u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        for _ in 0..5000 {
            let span = |random: &mut dyn FnMut(u64) -> u64| {
                let start = random(40);
                (start, start + random(8))
            };
            let mut parts = Vec::new();
            for _ in 0..3 {
                let spans: Vec<Span> = (0..2).map(|_| span(&mut random)).collect();
                parts.push(part(&spans));
            }
            let meets = |a: &Part, b: &Part| {
                let some = |span: &&Span| span.0 < span.1;
                let all = |x: Span| b.written.iter().filter(some).any(|&y| overlaps(x, y));
                a.written.iter().filter(some).any(|&x| all(x))
            };
            let expected =
                !(meets(&parts[0], &parts[1]) || meets(&parts[0], &parts[2]) || meets(&parts[1], &parts[2]));
            assert_eq!(apart(&parts), expected, "{:?}", parts.iter().map(|p| &p.written).collect::<Vec<_>>());
        }
    }
}

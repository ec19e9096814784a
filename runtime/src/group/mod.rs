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
//!   asked later waits for them, but for parts of the same launch that have nothing to do with them
//!   ([`beside`]);
//! * so at every call the memory of this queue has, in terms of [`Queue`], the contents that it would have on
//!   one device.
//!
//! Example: a stencil of radius 1 on 300 rows, three devices, time steps in a host loop: the rows are copied
//! in by thirds, over three links. Each step moves rows 99 and 199 up, 100 and 200 down, of the array that is
//! read. At the end each device copies its third of the result out.

mod assign;
mod beside;
mod books;
mod exchange;
mod links;
mod member;
mod queue;
mod ranks;

use crate::base::abi::{ARRAY_SCRATCH, Array, Scop};
use crate::base::error::{Error, Result};
use crate::base::spans::Span;
use crate::hosts::World;
use beside::Exchanges;
use books::Books;
pub use member::Member;
use ranks::Ranks;

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
    exchanges: Exchanges,
}

impl<M: Member> Group<M> {
    /// Of two or more. `always`: they share all launches, whether it pays or not.
    pub fn of(members: Vec<M>, scop: &'static Scop, always: bool) -> Group<M> {
        let (memories, arrays) = (Vec::new(), Vec::new());
        Group {
            here: members,
            ranks: None,
            memories,
            scop,
            arrays,
            moved: 0,
            divided: 0,
            always,
            exchanges: Exchanges::default(),
        }
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

    /// What members of this rank do, by their numbers here.
    fn local<J: Copy>(&self, jobs: &[(usize, J)]) -> Vec<(usize, J)> {
        jobs.iter().filter_map(|&(member, job)| Some((self.at(member)?, job))).collect()
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

impl<M> Drop for Group<M> {
    fn drop(&mut self) {
        if let Some(ranks) = &self.ranks {
            ranks.world.gathers(self.memories.len());
        }
    }
}

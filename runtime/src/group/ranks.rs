//! A group whose members are of several ranks ([`crate::hosts`]).
//!
//! Problem: every rank has the program's memory and decides the same, but only some of the devices. Approach:
//! books and plans are of all members, numbered in the order of the ranks; what a plan says is done by those
//! who own the members that it names. A copy between members of two ranks is a message, and what the program
//! is to see comes to all ranks from the one that has it.
//!
//! Invariants:
//!
//! * the address of a memory is its place on this rank's first member, so it differs from rank to rank; plans
//!   name bytes of memories, in the order in which these were made, never addresses;
//! * before the first message of a plan the ranks agree on it ([`World::agree`]);
//! * a failure behind that, on one rank, ends the job: the others count on it.

use crate::base::caller::fatal;
use crate::base::error::{Error, Result};
use crate::base::planted::skips;
use crate::base::spans::Span;
use crate::device::buffer;
use crate::group::books::Move;
use crate::group::{Group, Member, Piece};
use crate::hosts::{Agreement, Point, World, digest_of};

/// Messages are no longer than this, and so is what is under way at once, which needs memory on both sides.
const MESSAGE_BYTES: u64 = 16 << 20;
const ROUND_BYTES: u64 = 64 << 20;

/// What ranks are about to do, for the digest.
#[derive(Clone, Copy)]
pub(super) enum Step {
    Allocate = 1,
    Exchange,
    Tell,
    Unify,
}

/// The ranks of a group.
pub(super) struct Ranks {
    pub world: &'static World,
    /// This rank's first member.
    pub first: usize,
    /// Whose each member is.
    pub owners: Vec<usize>,
    pub memory: Option<u64>,
    /// Memory for messages to others, and from them, where devices have no better.
    rooms: [Vec<u8>; 2],
}

impl Ranks {
    /// Before the others are known.
    pub fn new(world: &'static World, members: usize) -> Ranks {
        Ranks {
            world,
            first: 0,
            owners: vec![world.rank(); members],
            memory: None,
            rooms: Default::default(),
        }
    }

    /// The first member of each rank.
    pub fn firsts(&self) -> impl Iterator<Item = usize> {
        (0..self.owners.len()).filter(|&member| member == 0 || self.owners[member - 1] != self.owners[member])
    }
}

/// A message's part of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Message {
    index: usize,
    from: usize,
    to: usize,
    part: Span,
}

/// A message's bytes in a room.
struct Parcel {
    start: *mut u8,
    data: usize,
    known: usize,
}

impl Parcel {
    fn bytes(&self) -> &[u8] {
        // SAFETY: a part of the room, which stays as it is while its round lasts, and nothing is under way to
        // it.
        unsafe { std::slice::from_raw_parts(self.start, self.data + self.known) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; parcels lie apart.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.data + self.known) }
    }

    /// Where what is known of the data is; these may be under way.
    fn known_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.start.wrapping_add(self.data), self.known) }
    }
}

/// Moves as messages.
fn messages(moves: &[(usize, Vec<Move>)], crosses: impl Fn(&Move) -> bool) -> Vec<Message> {
    let mut messages = Vec::new();
    for (index, moves) in moves {
        for &Move { from, to, part: (mut start, end) } in moves.iter().filter(|m| crosses(m)) {
            while start < end {
                let next = end.min(start.saturating_add(MESSAGE_BYTES));
                messages.push(Message { index: *index, from, to, part: (start, next) });
                start = next;
            }
        }
    }
    messages
}

/// Messages that may be under way at once.
fn rounds(messages: &[Message]) -> impl Iterator<Item = &[Message]> {
    let mut bytes = 0;
    messages.chunk_by(move |_, next| {
        bytes += next.part.1 - next.part.0;
        let goes = bytes <= ROUND_BYTES - MESSAGE_BYTES;
        bytes = if goes { bytes } else { 0 };
        goes
    })
}

impl<M: Member> Group<M> {
    /// The number of this rank's first member.
    pub(super) fn base(&self) -> usize {
        self.ranks.as_ref().map_or(0, |ranks| ranks.first)
    }

    /// All members.
    pub(super) fn count(&self) -> usize {
        self.ranks.as_ref().map_or(self.here.len(), |ranks| ranks.owners.len())
    }

    /// Where a member is among those of this rank.
    pub(super) fn at(&self, member: usize) -> Option<usize> {
        member.checked_sub(self.base()).filter(|at| *at < self.here.len())
    }

    /// A member of this rank.
    pub(super) fn member(&mut self, member: usize) -> Option<&mut M> {
        let at = self.at(member)?;
        self.here.get_mut(at)
    }

    fn owner(&self, member: usize) -> usize {
        self.ranks.as_ref().and_then(|ranks| ranks.owners.get(member).copied()).unwrap_or(0)
    }

    /// The members of all ranks become known.
    pub(super) fn meet_ranks(&mut self) -> Result<()> {
        let (devices, memory) = (self.here.len(), self.here[0].memory());
        let Some(ranks) = &mut self.ranks else { return Ok(()) };
        let layout = ranks.world.layout(devices, memory);
        let rank = ranks.world.rank();
        if layout.devices[rank] != devices {
            return Err(Error::Internal("the number of devices has changed".into()));
        }
        let owned = |(rank, &devices): (usize, &usize)| std::iter::repeat_n(rank, devices);
        ranks.owners = layout.devices.iter().enumerate().flat_map(owned).collect();
        ranks.first = layout.devices[..rank].iter().sum();
        ranks.memory = layout.memory;
        Ok(())
    }

    /// What is copied in, for the digest, where that is asked for.
    ///
    /// # Safety
    /// The range is readable.
    pub(super) unsafe fn note_data(&self, from: *const u8, bytes: u64) {
        if let Some(Ranks { world, .. }) = self.ranks.as_ref().filter(|ranks| ranks.world.compares_data) {
            // SAFETY: the caller's promise.
            world.note([digest_of(unsafe { std::slice::from_raw_parts(from, bytes as usize) })]);
        }
    }

    /// Copies to the first device of each rank, which has the program's memory.
    ///
    /// # Safety
    /// As for [`crate::device::Queue::copy_in`].
    pub(super) unsafe fn copy_in_everywhere(&mut self, to: u64, from: *const u8, bytes: u64) -> Result<()> {
        let (index, offset) = self.find(to)?;
        let firsts: Vec<usize> = self.ranks.iter().flat_map(|ranks| ranks.firsts()).collect();
        self.set(0, (to, to + bytes))?;
        for member in firsts {
            self.place(index, member)?;
            self.memories[index].books.copied(member, (offset, offset + bytes));
        }
        // SAFETY: the caller's promise.
        unsafe { self.first().copy_in(to, from, bytes) }
    }

    /// The ranks agree on what they are about to do. An error: some rank is not able to.
    pub(super) fn agree(&self, step: Step, words: impl IntoIterator<Item = u64>, able: bool) -> Result<()> {
        let Some(Ranks { world, .. }) = &self.ranks else { return Ok(()) };
        world.note([step as u64]);
        world.note(words);
        let what = match step {
            Step::Allocate => "memory for an array",
            Step::Exchange => "an exchange between devices",
            Step::Unify => "a copy of what results are compared with",
            Step::Tell => "results on their way to the program",
        };
        let text = || format!("{} ({}): {what}", self.scop.name(), self.scop.at());
        match world.agree(&Point { text: &text, able, alone: false, ranges: 0 }) {
            Agreement::All => Ok(()),
            Agreement::Refused(rank) => Err(Error::Elsewhere(rank)),
            Agreement::Alone | Agreement::Differ => Err(Error::Parted),
        }
    }

    /// A failure that the others don't know of.
    fn surely<T>(&self, done: Result<T>) -> T {
        done.unwrap_or_else(|error| {
            fatal(&format!("{}: a message between ranks failed: {error}", self.scop.name()))
        })
    }

    /// The moves between members of different ranks.
    pub(super) fn carry_between_ranks(&mut self, moves: &[(usize, Vec<Move>)]) -> Result<()> {
        if self.ranks.is_none() {
            return Ok(());
        }
        let messages = messages(moves, |m| self.owner(m.from) != self.owner(m.to));
        if messages.is_empty() {
            return Ok(());
        }
        let words = |m: &Message| [m.index as u64, m.from as u64, m.to as u64, m.part.0, m.part.1];
        self.agree(Step::Exchange, messages.iter().flat_map(words), true)?;
        if !skips("rank-message") {
            rounds(&messages).for_each(|round| self.carry_round(round));
        }
        Ok(())
    }

    fn carry_round(&mut self, round: &[Message]) {
        let Some(world) = self.ranks.as_ref().map(|ranks| ranks.world) else { return };
        let mut out = self.parcels(round, false);
        let mut into = self.parcels(round, true);
        for (message, at, parcel) in &mut out {
            self.pack(message, *at, parcel);
        }
        if !out.is_empty() {
            let waited = self.here.iter_mut().map(M::synchronize).fold(Ok(()), Result::and);
            self.surely(waited);
        }
        let sent = out.iter().map(|(message, _, parcel)| (self.owner(message.to), parcel.bytes()));
        let sent: Vec<(usize, &[u8])> = sent.collect();
        let landing =
            into.iter_mut().map(|(message, _, parcel)| (self.owner(message.from), parcel.bytes_mut()));
        let mut landing: Vec<(usize, &mut [u8])> = landing.collect();
        world.exchange(&sent, &mut landing);
        for (message, at, parcel) in &into {
            let place = self.memories[message.index].places[message.to].unwrap_or_default();
            let (data, known) = parcel.bytes().split_at(parcel.data);
            // SAFETY: a part of the memory; what it comes from stays until the wait below.
            let done = unsafe { self.here[*at].receive(place + message.part.0, data, known) };
            self.surely(done);
        }
        let waited = self.here.iter_mut().map(M::synchronize).fold(Ok(()), Result::and);
        self.surely(waited);
        self.here.iter_mut().for_each(M::resume);
    }

    /// The messages of a round that this rank sends, or receives: each with the member's place here.
    fn parcels<'a>(&mut self, round: &'a [Message], receives: bool) -> Vec<(&'a Message, usize, Parcel)> {
        let mut parcels = Vec::new();
        let mut bytes = 0;
        for message in round {
            let member = if receives { message.to } else { message.from };
            let Some(at) = self.at(member) else { continue };
            let (start, end) = message.part;
            let place = self.memories[message.index].places[member].unwrap_or_default();
            // What is known of sent bytes is asked when they are packed.
            let known = self.here[at].knowledge(place + start, end - start).len();
            parcels.push((message, at, bytes, (end - start) as usize, known));
            bytes += (end - start) as usize + known;
        }
        let room = if bytes > 0 { self.room(receives, bytes) } else { std::ptr::null_mut() };
        let parcel = |offset, data, known| Parcel { start: room.wrapping_add(offset), data, known };
        parcels
            .into_iter()
            .map(|(message, at, offset, data, known)| (message, at, parcel(offset, data, known)))
            .collect()
    }

    /// Memory of the host for the messages of a round.
    fn room(&mut self, receives: bool, bytes: usize) -> *mut u8 {
        if let Some(room) = self.here[0].room(receives, bytes as u64) {
            return room;
        }
        let Some(ranks) = &mut self.ranks else { return std::ptr::null_mut() };
        let room = &mut ranks.rooms[usize::from(receives)];
        if room.len() < bytes {
            *room = match buffer(bytes as u64) {
                Ok(room) => room,
                Err(error) => fatal(&format!("a message between ranks failed: {error}")),
            };
        }
        room.as_mut_ptr()
    }

    /// Fills a message, which is complete after a wait: the data, and what is known of them.
    fn pack(&mut self, message: &Message, at: usize, parcel: &mut Parcel) {
        let (start, end) = message.part;
        let place = self.memories[message.index].places[message.from].unwrap_or_default();
        let known = self.here[at].knowledge(place + start, end - start);
        // SAFETY: a part of the memory; the room is as large.
        let done = unsafe { self.here[at].copy_out(parcel.start, place + start, end - start) };
        self.surely(done);
        parcel.known_mut().copy_from_slice(&known);
    }

    /// Copies pieces of a memory, of which `to` is the place of the byte `offset`, to the memory of all
    /// ranks' programs.
    ///
    /// # Safety
    /// As for [`crate::device::Queue::copy_out`].
    pub(super) unsafe fn tell_all(
        &mut self,
        to: *mut u8,
        offset: u64,
        pieces: &[(usize, Piece)],
    ) -> Result<()> {
        let words = pieces.iter().flat_map(|(member, (_, start, end))| [*member as u64, *start, *end]);
        self.agree(Step::Tell, words, true)?;
        let place = |start: u64| to.wrapping_add((start - offset) as usize);
        let mut copied = false;
        for &(member, (from, start, end)) in pieces {
            if let Some(member) = self.member(member) {
                // SAFETY: the caller's promise, for a part of it.
                let done = unsafe { member.copy_out(place(start), from + start, end - start) };
                self.surely(done);
                copied = true;
            }
        }
        if copied {
            let waited = self.here.iter_mut().map(M::synchronize).fold(Ok(()), Result::and);
            self.surely(waited);
        }
        for &(member, (_, start, end)) in pieces {
            // SAFETY: the caller's promise; nothing is under way to this part any more.
            unsafe { self.broadcast(member, place(start), end - start) };
        }
        Ok(())
    }

    /// Rows that a member has, which lie one behind the other at `to` for all ranks then.
    ///
    /// # Safety
    /// `to` is writable for so many bytes, and `copy` copies as many there.
    pub(super) unsafe fn tell_rows(
        &mut self,
        member: usize,
        to: *mut u8,
        bytes: u64,
        copy: impl FnOnce(&mut M) -> Result<()>,
    ) -> Result<()> {
        if self.ranks.is_none() {
            return self.member(member).map_or(Ok(()), copy);
        }
        self.agree(Step::Tell, [member as u64, bytes], true)?;
        if let Some(member) = self.member(member) {
            let done = copy(member).and_then(|()| member.synchronize());
            self.surely(done);
        }
        // SAFETY: the caller's promise.
        unsafe { self.broadcast(member, to, bytes) };
        Ok(())
    }

    /// # Safety
    /// `to` is writable for so many bytes, which the member's rank has there.
    unsafe fn broadcast(&self, member: usize, to: *mut u8, bytes: u64) {
        let Some(Ranks { world, .. }) = &self.ranks else { return };
        if skips("rank-result") {
            return;
        }
        // SAFETY: the caller's promise.
        let bytes = unsafe { std::slice::from_raw_parts_mut(to, bytes as usize) };
        let owner = self.owner(member);
        bytes.chunks_mut(MESSAGE_BYTES as usize).for_each(|part| world.broadcast(owner, part));
    }

    /// A snapshot becomes that of the first rank.
    pub(super) fn unify_snapshot(&self, snapshot: &mut [u8]) -> Result<()> {
        self.agree(Step::Unify, [snapshot.len() as u64], true)?;
        if !skips("rank-snapshot") {
            // SAFETY: the snapshot's bytes.
            unsafe { self.broadcast(0, snapshot.as_mut_ptr(), snapshot.len() as u64) };
        }
        Ok(())
    }

    /// The checks of the emulated device: what kernels of other ranks did.
    pub(super) fn hear_accounts(&mut self) {
        let Some(Ranks { world, .. }) = self.ranks else { return };
        let own = self.here[0].account();
        if own.is_empty() {
            return;
        }
        for rank in 0..world.ranks() {
            let mut account = own.clone();
            account.chunks_mut(MESSAGE_BYTES as usize).for_each(|part| world.broadcast(rank, part));
            if rank != world.rank() {
                self.here[0].hear(&account);
            }
        }
    }
}

#[cfg(test)]
mod tests;

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
}

impl Ranks {
    /// Before the others are known.
    pub fn new(world: &'static World, members: usize) -> Ranks {
        Ranks { world, first: 0, owners: vec![world.rank(); members], memory: None }
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
        match world.agree(&Point { text: &text, able, alone: false }) {
            Agreement::All => Ok(()),
            Agreement::Refused(rank) => Err(Error::Elsewhere(rank)),
            Agreement::Alone => Err(Error::Parted),
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
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        for message in round {
            if let Some(at) = self.at(message.from) {
                sent.push((self.owner(message.to), self.packed(message, at)));
            }
        }
        for member in &mut self.here {
            let done = if sent.is_empty() { Ok(()) } else { member.synchronize() };
            done.unwrap_or_else(|error| fatal(&format!("a message between ranks failed: {error}")));
        }
        for message in round {
            if let Some(at) = self.at(message.to) {
                let bytes = message.part.1 - message.part.0;
                let place = self.memories[message.index].places[message.to].unwrap_or_default();
                let known = self.here[at].knowledge(place + message.part.0, bytes).len() as u64;
                let landing = self.surely(buffer(bytes + known));
                received.push((self.owner(message.from), landing));
            }
        }
        let sent: Vec<(usize, &[u8])> = sent.iter().map(|(to, bytes)| (*to, &bytes[..])).collect();
        let mut landing: Vec<(usize, &mut [u8])> =
            received.iter_mut().map(|(from, bytes)| (*from, &mut bytes[..])).collect();
        world.exchange(&sent, &mut landing);
        let mut received = received.iter();
        for message in round {
            let Some(at) = self.at(message.to) else { continue };
            let Some((_, bytes)) = received.next() else { continue };
            let place = self.memories[message.index].places[message.to].unwrap_or_default();
            let (data, known) = bytes.split_at((message.part.1 - message.part.0) as usize);
            // SAFETY: a part of the memory; the buffer lives until the wait below.
            let done = unsafe { self.here[at].receive(place + message.part.0, data, known) };
            self.surely(done);
        }
        let waited = self.here.iter_mut().map(M::synchronize).fold(Ok(()), Result::and);
        self.surely(waited);
    }

    /// What a message holds, complete after a wait: the data, and what is known of them.
    fn packed(&mut self, message: &Message, at: usize) -> Vec<u8> {
        let (start, end) = message.part;
        let place = self.memories[message.index].places[message.from].unwrap_or_default();
        let known = self.here[at].knowledge(place + start, end - start);
        let mut bytes = self.surely(buffer(end - start));
        bytes.reserve_exact(known.len());
        // SAFETY: a part of the memory; a buffer of this size, whose bytes don't move.
        let done = unsafe { self.here[at].copy_out(bytes.as_mut_ptr(), place + start, end - start) };
        self.surely(done);
        bytes.extend_from_slice(&known);
        bytes
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

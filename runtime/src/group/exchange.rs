//! What members have of memories, and how they get what they lack.

use super::books::Move;
use super::{Group, Member, Memory, Piece};
use crate::base::error::Result;
use crate::base::spans::Span;

/// Who gives something to whom.
pub(super) type Pairs = Vec<(usize, usize)>;

/// Those who give something.
pub(super) fn givers_of(pairs: &Pairs) -> Vec<usize> {
    ends(pairs, |pair| pair.0)
}

/// Those who get something.
pub(super) fn takers_of(pairs: &Pairs) -> Vec<usize> {
    ends(pairs, |pair| pair.1)
}

fn ends(pairs: &Pairs, which: fn(&(usize, usize)) -> usize) -> Vec<usize> {
    let mut members: Vec<usize> = pairs.iter().map(which).collect();
    members.sort_unstable();
    members.dedup();
    members
}

impl<M: Member> Group<M> {
    /// Carries out moves between members, for several memories.
    pub(super) fn carry_out(&mut self, moves: &[(usize, Vec<Move>)]) -> Result<()> {
        if moves.iter().all(|(_, moves)| moves.is_empty()) {
            return Ok(());
        }
        self.place_ends(moves)?;
        self.carry_between_ranks(moves)?;
        let pairs = self.pairs(moves);
        for from in givers_of(&pairs) {
            self.here[from].mark()?;
        }
        self.takers_wait(&pairs)?;
        self.pull_all(moves)?;
        for to in takers_of(&pairs) {
            self.here[to].mark()?;
        }
        self.givers_wait(&pairs)
    }

    /// Both ends of all moves have room for the memory.
    pub(super) fn place_ends(&mut self, moves: &[(usize, Vec<Move>)]) -> Result<()> {
        for (index, moves) in moves {
            for Move { from, to, .. } in moves {
                self.place(*index, *from)?;
                self.place(*index, *to)?;
            }
        }
        Ok(())
    }

    /// Which members of this rank give something to which.
    pub(super) fn pairs(&self, moves: &[(usize, Vec<Move>)]) -> Pairs {
        let here = |m: &Move| Some((self.at(m.from)?, self.at(m.to)?));
        let mut pairs: Pairs = moves.iter().flat_map(|(_, moves)| moves).filter_map(here).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Who gets something waits for what the giving one has marked.
    pub(super) fn takers_wait(&mut self, pairs: &Pairs) -> Result<()> {
        for &(from, to) in pairs {
            if let Ok([from, to]) = self.here.get_disjoint_mut([from, to]) {
                to.await_member(from)?;
            }
        }
        Ok(())
    }

    /// And the other way round.
    pub(super) fn givers_wait(&mut self, pairs: &Pairs) -> Result<()> {
        for &(from, to) in pairs {
            if let Ok([from, to]) = self.here.get_disjoint_mut([from, to]) {
                from.await_member(to)?;
            }
        }
        Ok(())
    }

    /// The copies themselves.
    pub(super) fn pull_all(&mut self, moves: &[(usize, Vec<Move>)]) -> Result<()> {
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
        Ok(())
    }

    /// Brings parts of memory to members: by member, addresses on the first device.
    pub(super) fn gather(&mut self, needs: &[(usize, Span)]) -> Result<()> {
        let moves = self.moves(needs);
        self.carry_out(&moves)
    }

    /// What has to move for that, by the memory's number.
    pub(super) fn moves(&self, needs: &[(usize, Span)]) -> Vec<(usize, Vec<Move>)> {
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
    pub(super) fn bytes_moved(&self, needs: &[(usize, Span)]) -> u64 {
        self.moves(needs).iter().flat_map(|(_, moves)| moves).map(|m| m.part.1 - m.part.0).sum()
    }

    /// A member has a new version of what lies at these addresses.
    pub(super) fn set(&mut self, member: usize, (start, end): Span) -> Result<()> {
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
    pub(super) fn tell_missing(&mut self, index: usize, part: Span) {
        let Memory { start, ref books, .. } = self.memories[index];
        for (from, to) in books.missing(self.base(), part) {
            self.first().lacks(start + from, to - from);
        }
    }

    /// Who gives each piece of a part to the program: by member, its place of the memory, and from where to
    /// where. And where the part begins.
    pub(super) fn givers(&mut self, from: u64, bytes: u64) -> Result<(Vec<(usize, Piece)>, u64)> {
        let (index, offset) = self.find(from)?;
        let memory = &self.memories[index];
        let mut pieces = Vec::new();
        for (member, (start, end)) in memory.books.givers((offset, offset + bytes), memory.bytes) {
            pieces.push((member, (self.place(index, member)?, start, end)));
        }
        Ok((pieces, offset))
    }
}

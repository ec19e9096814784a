//! Exchanges that go on beside the kernels of their own launch.
//!
//! Problem: a launch waits for what its devices lack, and they for it: 115 us a launch where two neighbours
//! give 18 MB each to every one of four H200, next to 1.37 ms of work. Approach: a launch has three parts a
//! device in place of one. The middle one mostly touches nothing that comes from elsewhere: it goes to the
//! device's queue at once, and the other parts, behind the exchange, to streams beside that.
//!
//! Parts are free if nothing that moves before the launch lies in what they touch. Invariant: nothing that
//! moves lies between the first and the last byte that some part writes, on whatever device, or else
//! everything waits for the exchange as a whole ([`Group::carry_out`]). So what free parts, copies, and other
//! parts do at the same time is apart: a copy reads what no part writes, and writes what no free part
//! touches.
//!
//! Example: a stencil of radius 1 on 900 rows, three devices: device 1 computes rows 400 to 499 while rows
//! 299 and 600 come; then 300 to 399 and 500 to 599, as soon as both are there.

use super::assign::needs_of;
use super::books::Move;
use super::exchange::{givers_of, takers_of};
use super::{Group, Member};
use crate::base::abi::Kernel;
use crate::base::error::Result;
use crate::base::planted::skips;
use crate::base::spans::{Span, overlaps};
use crate::device::Part;

/// Parts of a launch for each device, if its exchange is to go on beside it.
const EACH: usize = 3;
/// So many bytes have to have moved before the last launch of the kernel. Parts of fewer rows compute more of
/// their neighbours' rows: 6% for bands of 256 planes and four steps, but 10% for those of 4,096 rows of a
/// grid in two dimensions, whose exchange of some megabytes takes less than that. And events and launches of
/// three times as many parts take some 60 us of the host for four devices.
const WORTH_BYTES: u64 = 16 << 20;
/// And each part has so many units, as what is computed more by three parts than by one must not be much.
const LEAST_UNITS: u64 = 6;

/// Of each kernel in this execution: how often it was launched in parts, and the bytes that moved for that
/// the last time.
#[derive(Default)]
pub(super) struct Exchanges(Vec<(u64, u64)>);

impl Exchanges {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    fn of(&self, kernel: usize) -> (u64, u64) {
        self.0.get(kernel).copied().unwrap_or_default()
    }

    fn note(&mut self, kernel: usize, bytes: u64) {
        if self.0.len() <= kernel {
            self.0.resize(kernel + 1, (0, 0));
        }
        self.0[kernel] = (self.0[kernel].0 + 1, bytes);
    }
}

/// A part on its member.
struct Launch {
    member: usize,
    /// For what it gets from other members.
    waits: bool,
    blocks: u64,
    arguments: Vec<u64>,
}

/// Which parts are free; `None`: everything waits.
fn free_parts(moves: &[(usize, Span)], places: &[usize], parts: &[Part]) -> Option<Vec<bool>> {
    let meets =
        |spans: &[Span], part: Span| spans.iter().any(|&span| span.0 < span.1 && overlaps(span, part));
    if moves.is_empty() || moves.iter().any(|&(_, part)| parts.iter().any(|p| meets(&p.written, part))) {
        return None;
    }
    let waits = |(&member, part): (&usize, &Part)| {
        moves.iter().any(|&(to, moved)| to == member && meets(&part.touched, moved))
    };
    let free: Vec<bool> = places.iter().zip(parts).map(|both| !waits(both) || skips("early-part")).collect();
    let some = |free: bool| move |(&is, part): (&bool, &Part)| is == free && part.blocks > 0;
    let each = || free.iter().zip(parts);
    (each().any(some(true)) && (each().any(some(false)) || skips("early-part"))).then_some(free)
}

impl<M: Member> Group<M> {
    /// In how many parts a launch goes, of so many units.
    pub(super) fn parts_of(&self, kernel: usize, units: u64) -> u64 {
        let devices = self.count() as u64;
        let each = EACH as u64;
        let (launches, moved) = self.exchanges.of(kernel);
        // Tests have both kinds in turn.
        let wanted = if self.always {
            launches % 2 == 1 && units >= devices * each
        } else {
            moved >= WORTH_BYTES && units >= devices * each * LEAST_UNITS
        };
        if wanted && self.ranks.is_none() { devices * each } else { devices.min(units).max(1) }
    }

    /// How many parts of a launch of so many go to one device, in turn.
    pub(super) fn each_of(&self, parts: usize) -> usize {
        if parts == EACH * self.count() { EACH } else { 1 }
    }

    /// [`crate::device::Queue::launch_parts`] on the members that run the parts.
    ///
    /// # Safety
    /// As there.
    pub(super) unsafe fn launch_on(&mut self, kernel: usize, places: &[usize], parts: &[Part]) -> Result<()> {
        let needs = needs_of(places.iter().copied().zip(parts).filter(|(_, part)| part.blocks > 0));
        let moves = if skips("exchange") { Vec::new() } else { self.moves(&needs) };
        let moved = |(index, moves): &(usize, Vec<Move>)| {
            let start = self.memories[*index].start;
            moves.iter().map(|m| (m.to, (start + m.part.0, start + m.part.1))).collect::<Vec<_>>()
        };
        let spans: Vec<(usize, Span)> = moves.iter().flat_map(moved).collect();
        self.exchanges.note(kernel, spans.iter().map(|(_, (start, end))| end - start).sum());
        let is_graph = self.scop.kernels().get(kernel).is_some_and(Kernel::is_graph);
        let may_be_beside = self.ranks.is_none() && !is_graph && parts.len() > self.count();
        let free = may_be_beside.then(|| free_parts(&spans, places, parts)).flatten();
        let launch = |(at, (&member, part)): (usize, (&usize, &Part))| {
            let waits = free.as_ref().is_some_and(|free| !free[at]);
            let arguments = self.translated(kernel, member, &part.arguments)?;
            Ok(Launch { member, waits, blocks: part.blocks, arguments })
        };
        let some = |(_, (_, part)): &(usize, (&usize, &Part))| part.blocks > 0;
        let launches = places.iter().zip(parts).enumerate().filter(some).map(launch);
        let launches = launches.collect::<Result<Vec<Launch>>>()?;
        // SAFETY: the caller's promise, at each member's addresses.
        unsafe {
            match free {
                Some(_) => self.launch_beside(kernel, &launches, &moves),
                None => {
                    self.carry_out(&moves)?;
                    self.send(kernel, &launches, false)
                }
            }
        }
    }

    /// Launches free parts, and beside them the others behind what moves.
    unsafe fn launch_beside(
        &mut self,
        kernel: usize,
        launches: &[Launch],
        moves: &[(usize, Vec<Move>)],
    ) -> Result<()> {
        self.place_ends(moves)?;
        let pairs = self.pairs(moves);
        let takers = takers_of(&pairs);
        for from in givers_of(&pairs) {
            self.here[from].mark()?;
        }
        // SAFETY: the caller's promise.
        let mut launch = || unsafe {
            takers.iter().try_for_each(|&to| self.here[to].fork_beside())?;
            self.send(kernel, launches, false)?;
            self.takers_wait(&pairs)?;
            self.pull_all(moves)?;
            takers.iter().try_for_each(|&to| self.here[to].mark())?;
            self.send(kernel, launches, true)
        };
        let launched = launch();
        // All are joined, whatever one says.
        let joined = takers.iter().map(|&to| self.here[to].join_beside()).fold(Ok(()), Result::and);
        launched.and(joined)?;
        self.givers_wait(&pairs)
    }

    /// Launches what waits for an exchange beside it, or the rest.
    unsafe fn send(&mut self, kernel: usize, launches: &[Launch], beside: bool) -> Result<()> {
        let mut numbers = vec![0; self.count()];
        for Launch { member, blocks, arguments, .. } in launches.iter().filter(|l| l.waits == beside) {
            let number = &mut numbers[*member];
            let Some(member) = self.member(*member) else { continue };
            if beside {
                member.launch_beside(*number)?;
                *number += 1;
            }
            // SAFETY: the caller's promise.
            unsafe { member.launch(kernel, *blocks, arguments) }?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_touch_what_moves_wait() {
        let part = |touched: Span, written: Span| Part {
            blocks: 1,
            arguments: Vec::new(),
            touched: vec![touched, written],
            written: vec![written],
        };
        // Rows 0 to 59 of an array from byte 0 on, on two devices, and of the one that is written from 100.
        let parts: Vec<Part> = (0..6)
            .map(|n: u64| part(((10 * n).saturating_sub(1), 10 * n + 11), (100 + 10 * n, 110 + 10 * n)))
            .collect();
        let places = [0, 0, 0, 1, 1, 1];
        let halos = [(0, (30, 31)), (1, (29, 30))];
        let free = Some(vec![true, true, false, false, true, true]);
        assert_eq!(free_parts(&halos, &places, &parts), free);
        // What one device gets is no other one's.
        let free = Some(vec![true, true, true, false, true, true]);
        assert_eq!(free_parts(&halos[1..], &places, &parts), free);
        // Nothing moves; all wait; something that moves is written, by whomever.
        assert_eq!(free_parts(&[], &places, &parts), None);
        assert_eq!(free_parts(&[(0, (0, 60)), (1, (0, 60))], &places, &parts), None);
        for written in [(100, 101), (159, 160), (0, 200)] {
            assert_eq!(free_parts(&[halos[0], (1, written)], &places, &parts), None);
        }
    }
}

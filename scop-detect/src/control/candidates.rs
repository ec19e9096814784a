//! The search for regions: as large as possible, as small as necessary.
//!
//! **Problem.** A SCoP is a single-entry single-exit region, but not all such regions are in LLVM's region
//! tree: a sequence of two loop nests, for one, is not. So the search works on *chains*: the postdominators
//! of a block cut the code behind it into elements, each of which is a region, and any run of consecutive
//! elements is a region too. A run is modelled as a whole. If that fails, the element to blame splits the
//! run; an element that fails alone is opened: the body of a loop, or the arms of a branch, are chains again.
//!
//! **Invariants.** Every loop lies in a found SCoP, or in one an element with a rejection, or is reported at
//! the end. No block is in two SCoPs.
//!
//! **Example.** `for (t) { for (i) S; printf(); for (j) T; for (k) U; }`: the chain of the function is one
//! element, the time loop, which fails because of `printf`. Its body is the chain `for i`, `printf`, `for j`,
//! `for k`; the SCoPs found are
//! `for i` and `for j; for k`.

use crate::base::blame::several_exits;
use crate::base::cfg::Cfg;
use crate::base::fail::{Fail, block_location, loc, value_location};
use crate::base::instructions::terminator_reason;
use crate::base::ir::{self, Block, Op};
use crate::base::region::Candidate;
use crate::memory::raw::OUTER_POINTER;
use pollyrs_llvm_shim::{Analyses, LoopData, LoopId};
use pollyrs_scop::{Location, RejectReason, Rejection};
use std::collections::BTreeSet;

/// Loops in nests that stand in a row and become one SCoP. The work on a SCoP grows faster than it does, and
/// data stays on the device between two as well; what a time loop holds is one element of a run, of any size.
const MOST_LOOPS: usize = 16;

/// Models one region.
pub(crate) type Model<'m, T> = dyn FnMut(&Candidate) -> Result<T, Fail> + 'm;

/// A search for models of type `T`.
pub(crate) struct Search<'a, 'm, T> {
    pub an: &'a Analyses<'a>,
    pub cfg: &'a Cfg,
    pub model: &'a mut Model<'m, T>,
    pub function: String,
    pub scops: Vec<T>,
    pub rejections: Vec<Rejection>,
    /// Nothing is rejected aloud.
    pub quiet: bool,
    /// Blocks of regions found or given up with a reason.
    pub settled: BTreeSet<Block>,
    /// Blocks that a chain led to.
    pub walked: BTreeSet<Block>,
    /// Attempts left; a function of thousands of loops must not take for ever.
    pub attempts: usize,
}

/// The reason for which a loop over windows stays on the host where they move by neither one nor two.
fn other_steps() -> RejectReason {
    RejectReason::Subscript {
        array: "what is read in windows".into(),
        blocker: "the step of the windows (for steps of 1 and 2 there are versions)".into(),
    }
}

impl<T> Search<'_, '_, T> {
    pub fn run(&mut self) {
        if let Some(entry) = self.cfg.blocks.first().copied() {
            self.chain(entry, None, None);
        }
        // Loops that no single-entry single-exit region holds.
        for l in 0..self.an.loops().len() {
            let data = &self.an.loops()[l];
            if self.settled.contains(&data.header) {
                continue;
            }
            let (reason, place) = self.unstructured(LoopId(l));
            self.settled.extend(data.blocks.iter().copied());
            let location = data.location.clone().map(loc);
            self.reject(reason, place.or_else(|| location.clone()), location, &data.blocks);
        }
    }

    fn reject(
        &mut self,
        reason: RejectReason,
        location: Option<Location>,
        at: Option<Location>,
        blocks: &[Block],
    ) {
        if self.quiet {
            return;
        }
        let depth = depth(self.an.loops(), blocks);
        let r = Rejection { reason, function: self.function.clone(), location, loop_location: at, depth };
        if !self.rejections.contains(&r) {
            self.rejections.push(r);
        }
    }

    /// Why no region holds the loop, and where that is, if it is at one place.
    fn unstructured(&self, l: LoopId) -> (RejectReason, Option<Location>) {
        let data = &self.an.loops()[l.0];
        for b in &data.blocks {
            if let Some(t) = ir::terminator(*b).filter(|t| ir::opcode(*t) != Some(Op::LLVMBr)) {
                return (terminator_reason(t), value_location(t));
            }
        }
        if data.exiting.len() == 1 {
            (RejectReason::ControlFlow, None)
        } else {
            (several_exits(self.an, l, data.header).reason, None)
        }
    }

    fn has_loop(&self, c: &Candidate) -> bool {
        self.an
            .loops()
            .iter()
            .any(|l| c.blocks.contains(&l.header) && l.blocks.iter().all(|b| c.blocks.contains(b)))
    }

    /// The chain of postdominators from `from` to `end`, all in the loop `level`; a region between each two.
    /// A loop is one link: behind its header comes what follows the loop.
    fn chain(&mut self, from: Block, end: Option<Block>, level: Option<LoopId>) {
        let mut elements: Vec<Candidate> = Vec::new();
        let mut at = from;
        while Some(at) != end {
            self.walked.insert(at);
            let headed = self.child_loop(at, level);
            let next = match headed {
                Some(l) => self.an.loops()[l.0].exit,
                None => self.cfg.ipdom(at),
            };
            let next = next.filter(|n| self.in_level(*n, level));
            // There is another version, for what nearly all programs do: that one is reported.
            let stays = |l: &LoopId| {
                let data = &self.an.loops()[l.0];
                data.kept || data.other_steps || data.tiles || data.aside
            };
            let aside = |l: &LoopId| {
                let data = &self.an.loops()[l.0];
                data.apart || data.uneven_rows || data.listed || stays(l)
            };
            if let (Some(l), Some(n), false) = (headed.filter(aside), next, self.quiet) {
                self.runs(std::mem::take(&mut elements), level);
                if self.an.loops()[l.0].other_steps {
                    let at = self.an.loops()[l.0].location.clone().map(loc);
                    let blocks = self.an.loops()[l.0].blocks.clone();
                    self.reject(other_steps(), at.clone(), at, &blocks);
                } else if !stays(&l) {
                    self.quiet = true;
                    self.runs(self.cfg.region(at, n).into_iter().collect(), level);
                    self.quiet = false;
                }
                self.settled.extend(self.an.loops()[l.0].blocks.iter().copied());
                at = n;
                continue;
            }
            match next.and_then(|n| self.cfg.region(at, n)) {
                // Where branches meet that have no common end, each leads here; what is behind belongs to the
                // first that came.
                Some(c) if c.blocks.iter().any(|b| self.settled.contains(b)) => {
                    self.runs(std::mem::take(&mut elements), level);
                }
                Some(c) => elements.push(c),
                None => {
                    // Not structured here: what came before may still be good, and so may what lies inside.
                    self.runs(std::mem::take(&mut elements), level);
                    if let Some(l) = headed {
                        self.body(l);
                    }
                    if headed.is_none() || next.is_none() {
                        let only = || vec![at];
                        let from = headed.map_or_else(only, |l| self.an.loops()[l.0].blocks.clone());
                        self.beneath(&from, next.or(end), level);
                    }
                }
            }
            match next {
                Some(n) => at = n,
                None => break,
            }
        }
        self.runs(elements, level);
    }

    fn in_level(&self, b: Block, level: Option<LoopId>) -> bool {
        level.is_none_or(|l| self.an.loops()[l.0].blocks.contains(&b))
    }

    /// The loop right inside `level` that `b` is the header of.
    fn child_loop(&self, b: Block, level: Option<LoopId>) -> Option<LoopId> {
        self.an.innermost_loop(b).filter(|l| Some(*l) != level && self.an.loops()[l.0].header == b)
    }

    /// Chains from the blocks that control comes to only by way of `from`, a block or a loop. They may be
    /// behind several ways that each have another end as well: `v.push(x)` on any of them may throw, and what
    /// handles that leads elsewhere.
    fn beneath(&mut self, from: &[Block], end: Option<Block>, level: Option<LoopId>) {
        if self.attempts == 0 {
            return;
        }
        self.attempts -= 1;
        // In the order of the branch first.
        let next = from.iter().flat_map(|b| self.cfg.successors(*b)).chain(self.cfg.blocks.iter().copied());
        let led = |b: &Block| !from.contains(b) && self.cfg.idom(*b).is_some_and(|d| from.contains(&d));
        let next: Vec<Block> = next.filter(led).collect();
        for s in next {
            let forward = Some(s) != end && self.in_level(s, level);
            if forward && !self.settled.contains(&s) && !self.walked.contains(&s) {
                self.chain(s, end, level);
            }
        }
    }

    /// The inside of a loop. The latch closes the body; it holds at most the step and the test.
    fn body(&mut self, l: LoopId) {
        let data = &self.an.loops()[l.0];
        match data.latch {
            Some(latch) if latch != data.header => self.chain(data.header, Some(latch), Some(l)),
            _ => {}
        }
    }

    fn runs(&mut self, elements: Vec<Candidate>, level: Option<LoopId>) {
        let mut rest = &elements[..];
        // Straight-line code at the ends of a run stays outside.
        while let Some(first) = rest.iter().position(|c| self.has_loop(c)) {
            rest = &rest[first..];
            let len = self.shorter(rest, self.portion(rest));
            rest = &rest[self.longest(&rest[..len], level)..];
        }
    }

    /// How many elements from the first on are tried as one region.
    fn portion(&self, run: &[Candidate]) -> usize {
        let loops = |c: &Candidate| self.an.loops().iter().filter(|l| c.blocks.contains(&l.header)).count();
        let mut left = MOST_LOOPS;
        let fits = run.iter().take_while(|c| {
            let fits = loops(c) <= left;
            left = left.saturating_sub(loops(c));
            fits
        });
        fits.count().max(1)
    }

    /// Finds a SCoP at the beginning of `run`, or opens its first element. Returns the number of elements
    /// dealt with.
    fn longest(&mut self, run: &[Candidate], level: Option<LoopId>) -> usize {
        let mut len = run.len();
        loop {
            let Some(c) = self.merged(&run[..len]) else {
                if len == 1 {
                    return 1;
                }
                // (Two elements of which the second is the join block are no region, either, and stay two.)
                let next = self.shorter(run, 1);
                len = if next >= len { 1 } else { next };
                continue;
            };
            if self.attempts == 0 {
                self.give_up(&c);
                return len;
            }
            self.attempts -= 1;
            match self.two_versions(&c).map_or_else(|| (self.model)(&c), Err) {
                Ok(s) => {
                    self.settled.extend(c.blocks.iter().copied());
                    self.scops.push(s);
                    return len;
                }
                Err(f) if len == 1 => {
                    self.open(&c, f, level);
                    return 1;
                }
                Err(f) => {
                    let blamed = f.block.and_then(|b| run[..len].iter().position(|e| e.blocks.contains(&b)));
                    // What is too much work is halved: going down one by one would spend the rest on the
                    // same.
                    let fewer =
                        if matches!(f.reason, RejectReason::Budget { .. }) { len / 2 } else { len - 1 };
                    let max = blamed.unwrap_or(fewer).clamp(1, len - 1);
                    let next = self.shorter(run, max);
                    // The join block behind the loop is no element of its own.
                    len = if next >= len { 1 } else { next };
                }
            }
        }
    }

    /// The failure of what holds a loop over rows that are not all as long, and the version of it for those
    /// that are: no model is both.
    fn two_versions(&self, c: &Candidate) -> Option<Fail> {
        let beside = |l: &&LoopData| c.blocks.contains(&l.header) && !l.blocks.contains(&c.entry);
        let version =
            self.an.loops().iter().filter(|l| l.uneven_rows || l.tiles || l.grouped).find(beside)?;
        Some(Fail {
            reason: RejectReason::ControlFlow,
            block: Some(version.header),
            location: block_location(version.header),
        })
    }

    /// The length of the run that ends in the last loop of the first `max` elements; with the block behind
    /// it, if PHIs there join several ways out of the run: then the values that leave it are these PHIs.
    fn shorter(&self, run: &[Candidate], max: usize) -> usize {
        let len = run[..max.max(1)].iter().rposition(|c| self.has_loop(c)).map_or(1, |l| l + 1);
        let last = &run[len - 1];
        let edges = self.cfg.predecessors(last.exit).into_iter().filter(|p| last.blocks.contains(p)).count();
        let phis = ir::instructions(last.exit).first().is_some_and(|i| ir::opcode(*i) == Some(Op::LLVMPHI));
        if edges > 1 && phis && run.len() > len { len + 1 } else { len }
    }

    fn merged(&self, run: &[Candidate]) -> Option<Candidate> {
        let whole = self.cfg.region(run.first()?.entry, run.last()?.exit)?;
        let loops = run.iter().filter(|c| self.has_loop(c)).count();
        Some(Candidate { joined: loops > 1, ..whole })
    }

    fn give_up(&mut self, c: &Candidate) {
        self.settled.extend(c.blocks.iter().copied());
        let location = block_location(c.entry);
        let blocks: Vec<Block> = c.blocks.iter().copied().collect();
        self.reject(RejectReason::Budget { stage: "detection".into() }, location.clone(), location, &blocks);
    }

    /// An element that is no SCoP: its parts may be.
    fn open(&mut self, c: &Candidate, why: Fail, level: Option<LoopId>) {
        let (scops, rejections) = (self.scops.len(), self.rejections.len());
        let headed = self.child_loop(c.entry, level);
        match headed {
            // (No part of it is modelled.)
            Some(l) if self.an.loops()[l.0].points || self.an.loops()[l.0].grouped => {}
            Some(l) => self.body(l),
            None => self.beneath(&[c.entry], Some(c.exit), level),
        }
        // Of parts of a loop that has values read before it ([`crate::base::invariant_loads`]), or that moves
        // their pointers, it is known that they are parts; the whole says more.
        let changes = |reason: &RejectReason| match reason {
            RejectReason::BaseChanges { .. } => true,
            RejectReason::Subscript { blocker, .. } => blocker == OUTER_POINTER,
            _ => false,
        };
        // (That the pointer itself is none of the device's values says less.)
        let more = !changes(&why.reason) && !matches!(why.reason, RejectReason::Type { .. });
        if more && self.rejections[rejections..].iter().all(|r| changes(&r.reason)) {
            self.rejections.truncate(rejections);
        }
        let silent = self.rejections.len() == rejections;
        if silent && (self.scops.len() == scops || headed.is_some()) {
            let outermost = self.an.loops().iter().find(|l| l.blocks.iter().all(|b| c.blocks.contains(b)));
            let at = outermost.and_then(|l| l.location.clone()).map(loc);
            let blocks: Vec<Block> = c.blocks.iter().copied().collect();
            self.reject(why.reason, why.location, at, &blocks);
        }
        self.settled.extend(c.blocks.iter().copied());
    }
}

/// How many loops are one inside of the other in `blocks`.
fn depth(loops: &[LoopData], blocks: &[Block]) -> u32 {
    let inside = || loops.iter().filter(|l| blocks.contains(&l.header)).map(|l| l.depth);
    match (inside().min(), inside().max()) {
        (Some(first), Some(last)) => last - first + 1,
        _ => 0,
    }
}

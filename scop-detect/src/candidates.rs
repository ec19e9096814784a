//! The search for regions: as large as possible, as small as necessary.
//!
//! **Problem.** A SCoP is a single-entry single-exit region, but not all such regions are in LLVM's region tree: a sequence of
//! two loop nests, for one, is not. So the search works on *chains*: the postdominators of a block cut the code behind it
//! into elements, each of which is a region, and any run of consecutive elements is a region too. A run is modelled as a
//! whole. If that fails, the element to blame splits the run; an element that fails alone is opened: the body of a loop,
//! or the arms of a branch, are chains again.
//!
//! **Invariant.** Every loop lies in a found SCoP, or in one an element with a rejection, or is reported at the end.
//!
//! **Example.** `for (t) { for (i) S; printf(); for (j) T; for (k) U; }`: the chain of the function is one element, the time
//! loop, which fails because of `printf`. Its body is the chain `for i`, `printf`, `for j`, `for k`; the SCoPs found are
//! `for i` and `for j; for k`.

use crate::builder::{Candidate, Fail, block_location, loc};
use crate::cfg::Cfg;
use crate::ir::{self, Block, Op};
use pollyrs_llvm_shim::{Analyses, LoopId};
use pollyrs_scop::{RejectReason, Rejection, Scop};
use std::collections::BTreeSet;

/// Models one region.
pub(crate) type Model<'m> = dyn FnMut(&Candidate) -> Result<Scop, Fail> + 'm;

pub(crate) struct Search<'a, 'm> {
    pub an: &'a Analyses<'a>,
    pub cfg: &'a Cfg,
    pub model: &'a mut Model<'m>,
    pub function: String,
    pub scops: Vec<Scop>,
    pub rejections: Vec<Rejection>,
    /// Blocks of regions found or given up with a reason.
    pub settled: BTreeSet<Block>,
    /// Attempts left; a function of thousands of loops must not take for ever.
    pub attempts: usize,
}

impl Search<'_, '_> {
    pub fn run(&mut self) {
        if let Some(entry) = self.cfg.blocks.first().copied() {
            self.chain(entry, None);
        }
        // Loops that no single-entry single-exit region holds.
        for l in 0..self.an.loops().len() {
            let data = &self.an.loops()[l];
            if data.blocks.iter().any(|b| self.settled.contains(b)) {
                continue;
            }
            let reason = self.unstructured(LoopId(l));
            self.settled.extend(data.blocks.iter().copied());
            let location = data.location.clone().map(loc);
            self.reject(reason, location.clone(), location);
        }
    }

    fn reject(&mut self, reason: RejectReason, location: Option<pollyrs_scop::Location>, at: Option<pollyrs_scop::Location>) {
        let r = Rejection { reason, function: self.function.clone(), location, loop_location: at };
        if !self.rejections.contains(&r) {
            self.rejections.push(r);
        }
    }

    fn unstructured(&self, l: LoopId) -> RejectReason {
        let data = &self.an.loops()[l.0];
        for b in &data.blocks {
            if let Some(op) = ir::terminator(*b).and_then(ir::opcode).filter(|op| *op != Op::LLVMBr) {
                return RejectReason::Terminator { opcode: ir::opcode_text(op) };
            }
        }
        if data.exiting.len() == 1 { RejectReason::ControlFlow } else { RejectReason::LoopExits }
    }

    fn has_loop(&self, c: &Candidate) -> bool {
        self.an.loops().iter().any(|l| c.blocks.contains(&l.header) && l.blocks.iter().all(|b| c.blocks.contains(b)))
    }

    /// The chain of postdominators from `from` to `end`; a region between each two.
    fn chain(&mut self, from: Block, end: Option<Block>) {
        let mut elements: Vec<Candidate> = Vec::new();
        let mut at = from;
        while Some(at) != end {
            let next = self.cfg.ipdom(at);
            let element = next.and_then(|n| self.cfg.region(at, n));
            match element {
                Some(c) => elements.push(c),
                None => {
                    // Not structured here: what came before may still be good.
                    self.runs(std::mem::take(&mut elements));
                    self.open_unstructured(at, next.or(end));
                }
            }
            match next {
                Some(n) => at = n,
                None => break,
            }
        }
        self.runs(elements);
    }

    /// Behind a block that begins no region, other blocks may.
    fn open_unstructured(&mut self, at: Block, end: Option<Block>) {
        if self.attempts == 0 {
            return;
        }
        self.attempts -= 1;
        let inside_loop = self.an.innermost_loop(at);
        for s in self.cfg.successors(at) {
            let forward = self.cfg.idom(s) == Some(at) && Some(s) != end;
            let same = self.an.innermost_loop(s);
            if forward && !self.settled.contains(&s) && (same == inside_loop || self.enters(s, inside_loop)) {
                self.chain(s, end);
            }
        }
    }

    /// `s` is in a loop inside `outer`, or behind it.
    fn enters(&self, s: Block, outer: Option<LoopId>) -> bool {
        match outer {
            None => true,
            Some(o) => self.an.loops()[o.0].blocks.contains(&s),
        }
    }

    fn runs(&mut self, elements: Vec<Candidate>) {
        let mut rest = &elements[..];
        // Straight-line code at the ends of a run stays outside.
        while let Some(first) = rest.iter().position(|c| self.has_loop(c)) {
            rest = &rest[first..];
            let len = rest.iter().rposition(|c| self.has_loop(c)).map_or(1, |l| l + 1);
            rest = &rest[self.longest(&rest[..len])..];
        }
    }

    /// Finds a SCoP at the beginning of `run`, or opens its first element. Returns the number of elements dealt with.
    fn longest(&mut self, run: &[Candidate]) -> usize {
        let mut len = run.len();
        loop {
            let Some(c) = self.merged(&run[..len]) else {
                if len == 1 {
                    return 1;
                }
                len = self.shorter(run, len, 1);
                continue;
            };
            if self.attempts == 0 {
                self.give_up(&c);
                return len;
            }
            self.attempts -= 1;
            match (self.model)(&c) {
                Ok(s) => {
                    self.settled.extend(c.blocks.iter().copied());
                    self.scops.push(s);
                    return len;
                }
                Err(f) if len == 1 => {
                    self.open(&c, f);
                    return 1;
                }
                Err(f) => {
                    let blamed = f.block.and_then(|b| run[..len].iter().position(|e| e.blocks.contains(&b)));
                    len = self.shorter(run, len, blamed.unwrap_or(len - 1).max(1));
                }
            }
        }
    }

    /// A shorter run of at most `max` elements that ends in a loop.
    fn shorter(&self, run: &[Candidate], len: usize, max: usize) -> usize {
        let max = max.min(len - 1).max(1);
        run[..max].iter().rposition(|c| self.has_loop(c)).map_or(1, |l| l + 1)
    }

    fn merged(&self, run: &[Candidate]) -> Option<Candidate> {
        self.cfg.region(run.first()?.entry, run.last()?.exit)
    }

    fn give_up(&mut self, c: &Candidate) {
        self.settled.extend(c.blocks.iter().copied());
        let location = block_location(c.entry);
        self.reject(RejectReason::Budget { stage: "detection".into() }, location.clone(), location);
    }

    /// An element that is no SCoP: its parts may be.
    fn open(&mut self, c: &Candidate, why: Fail) {
        let (scops, rejections) = (self.scops.len(), self.rejections.len());
        let headed = self.an.innermost_loop(c.entry).filter(|l| {
            let d = &self.an.loops()[l.0];
            d.header == c.entry && d.blocks.iter().all(|b| c.blocks.contains(b))
        });
        match headed {
            Some(l) => {
                let data = &self.an.loops()[l.0];
                // The latch closes the body; it holds at most the step and the test.
                if let (Some(latch), true) = (data.latch, data.blocks.len() > 1) {
                    self.body(l, latch);
                }
            }
            None => {
                let successors = self.cfg.successors(c.entry);
                for s in successors.iter().filter(|s| **s != c.exit && c.blocks.contains(s)) {
                    if self.cfg.idom(*s) == Some(c.entry) && !self.settled.contains(s) {
                        self.chain(*s, Some(c.exit));
                    }
                }
            }
        }
        let silent = self.rejections.len() == rejections;
        if silent && (self.scops.len() == scops || headed.is_some()) {
            let outermost = self.an.loops().iter().find(|l| l.blocks.iter().all(|b| c.blocks.contains(b)));
            let at = outermost.and_then(|l| l.location.clone()).map(loc);
            self.reject(why.reason, why.location, at);
        }
        self.settled.extend(c.blocks.iter().copied());
    }

    fn body(&mut self, l: LoopId, latch: Block) {
        let header = self.an.loops()[l.0].header;
        if header != latch {
            self.chain(header, Some(latch));
        }
    }
}

//! PHIs that hand one value on share a cell.
//!
//! **Problem.** `for (k) { if (c(k)) continue; s += a[k]; }` is a PHI at the head of the loop and one where
//! the two ways through an iteration meet, and loops around it add one each, and one behind each guard. With
//! a cell for each, most statements only copy, and all that follows, from dependences to proofs, takes many
//! times as long. So they go out of SSA form as in a compiler: cells between which values are copied become
//! one where nothing else is in it whenever it is read (Boissinot et al., "Revisiting Out-of-SSA Translation
//! for Correctness, Code Quality, and Efficiency", CGO 2009). [`crate::carried`] has what needs to be known
//! of single iterations.
//!
//! ```text
//! for k { in C: t = s;  else S: t = s + a[k];  always C1: s = t; }        becomes
//! for k { not in C: s = s + a[k]; }
//! ```
//!
//! **Invariant.** Two cells become one only if each read of it is proved to get the value that it names:
//! [`Web::flows`] follows the control flow with the set of values that the cell surely holds, which knows
//! nothing of why the cells were chosen (as the checker of register allocations in Cranelift's regalloc2). A
//! write makes it one value; a PHI joins the set on an edge whose value is in it; a value leaves it where it
//! is computed anew.

use crate::base::builder::{Builder, Given};
use crate::base::flow::Flow;
use crate::base::ir::{self, Block, Op, Value};
use crate::base::scalars::{CellKind, common};
use crate::values::effects::{Effect, Effects, Out};
use std::collections::{BTreeMap, BTreeSet};

/// The values that a cell surely holds.
type Held = BTreeSet<Value>;

/// Two cells that would be one.
struct Web<'a, 'b> {
    builder: &'a Builder<'b>,
    flow: &'a Flow,
    fx: &'a Effects,
    kept: usize,
    gone: usize,
    /// What is left to execute and touches the cell: before the region, and in a block, in the order of
    /// execution.
    first: Vec<&'a Effect>,
    rest: BTreeMap<Block, Vec<&'a Effect>>,
    /// What reads it behind the loops.
    behind: Vec<&'a Effect>,
}

impl Builder<'_> {
    /// Makes one cell of two where one is copied to the other, as often as there are such.
    pub fn join_phis(&self, flow: &Flow, fx: &mut Effects) {
        // The copies of an edge go where the cell was that they are of.
        let mut tried = BTreeSet::new();
        loop {
            let found = self.given.joinable(flow, fx).into_iter().find(|pair| {
                tried.insert(*pair) && Web::new(self, flow, fx, *pair).is_some_and(|w| w.flows().is_some())
            });
            let Some((kept, gone)) = found else { return drop_unused_cells(fx) };
            fx.effects.retain(|e| {
                !self.given.copies(flow, e).is_some_and(|c| c == (kept, gone) || c == (gone, kept))
            });
            let own = fx.effects.iter_mut().flat_map(Effect::cells_mut).filter(|c| **c == gone);
            own.for_each(|c| *c = kept);
            // What was not proved may be now.
            tried.clear();
        }
    }
}

impl Given<'_> {
    /// Pairs of cells of which one is copied to the other, the one of fewer loops first. No loop's iterations
    /// may have to wait for each other that did not before: what reads a cell of an inner loop gets no other
    /// storage but where it is itself part of what an outer loop carries.
    fn joinable(&self, flow: &Flow, fx: &Effects) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for (a, b) in fx.effects.iter().filter_map(|e| self.copies(flow, e)) {
            let depth = |c: usize| fx.cells[c].loops.len();
            let (kept, gone) = if depth(a) <= depth(b) { (a, b) } else { (b, a) };
            let (x, y) = (&fx.cells[kept], &fx.cells[gone]);
            let alike = x.kind == CellKind::Phi
                && !x.live_out
                && !y.live_out
                && ir::type_of(x.value) == ir::type_of(y.value)
                && common(&x.loops, &y.loops) == x.loops.len();
            let inner = x.loops.len() < y.loops.len();
            if kept != gone
                && alike
                && (!inner || carried_on(fx, gone, kept))
                && !pairs.contains(&(kept, gone))
            {
                pairs.push((kept, gone));
            }
        }
        // What outer loops carry goes first: a cell that something else has joined may not be able to.
        pairs.sort_by_key(|(kept, gone)| fx.cells[*kept].loops.len() == fx.cells[*gone].loops.len());
        pairs
    }

    /// The cells that an effect copies from and to, if it does nothing else.
    fn copies(&self, flow: &Flow, e: &Effect) -> Option<(usize, usize)> {
        let plain = e.tree.is_empty() && e.synthesized.is_empty() && e.stored.is_empty() && !e.behind;
        match (&e.out, e.reads.as_slice()) {
            (Out::Cell(v, to), [(u, from)]) if plain && self.origin(flow, *u) == self.origin(flow, *v) => {
                Some((*from, *to))
            }
            _ => None,
        }
    }
}

/// Leaves out the cells that no effect touches any more. No cells may be added afterwards.
fn drop_unused_cells(fx: &mut Effects) {
    let used: BTreeSet<usize> = fx.effects.iter_mut().flat_map(Effect::cells_mut).map(|c| *c).collect();
    let numbers: BTreeMap<usize, usize> = used.iter().enumerate().map(|(new, old)| (*old, new)).collect();
    fx.effects.iter_mut().flat_map(Effect::cells_mut).for_each(|c| *c = numbers[c]);
    let mut n = 0..;
    fx.cells.retain(|_| n.next().is_some_and(|n| used.contains(&n)));
}

/// Whether `gone` is read for other cells only, and `kept` is computed from one of them.
fn carried_on(fx: &Effects, gone: usize, kept: usize) -> bool {
    let (mut reached, mut work) = (BTreeSet::from([gone]), vec![gone]);
    while let Some(from) = work.pop() {
        for e in fx.effects.iter().filter(|e| e.reads.iter().any(|(_, c)| *c == from)) {
            let cells: Vec<usize> = match e.out {
                Out::Cell(_, to) => vec![to],
                _ => e.outs.iter().map(|(_, to)| *to).collect(),
            };
            // What stores to memory goes with the loop that carries it only if it has to. (The place of a
            // minimum does.)
            let place = matches!(e.out, Out::Store(s) if ir::is_kept(s));
            if from == gone && !matches!(e.out, Out::Cell(..)) && !place && !cells.contains(&kept) {
                return false;
            }
            work.extend(cells.into_iter().filter(|to| reached.insert(*to)));
        }
    }
    reached.contains(&kept)
}

impl<'a, 'b> Web<'a, 'b> {
    /// `None` if an effect touches the cells in a way that is not followed.
    fn new(
        builder: &'a Builder<'b>,
        flow: &'a Flow,
        fx: &'a Effects,
        (kept, gone): (usize, usize),
    ) -> Option<Self> {
        let (first, rest, behind) = (Vec::new(), BTreeMap::new(), Vec::new());
        let mut web = Web { builder, flow, fx, kept, gone, first, rest, behind };
        let (mut touching, mut behind): (Vec<&Effect>, Vec<&Effect>) = (Vec::new(), Vec::new());
        for e in fx.effects.iter().filter(|e| web.reads(e).next().is_some() || web.writes(e).next().is_some())
        {
            if builder.given.copies(flow, e).is_some_and(|c| c == (kept, gone) || c == (gone, kept)) {
                continue;
            }
            match web.writes(e).count() {
                0 if e.behind => behind.push(e),
                0 | 1 if !e.behind => touching.push(e),
                _ => return None,
            }
        }
        touching.sort_by_key(|e| e.at);
        web.behind = behind;
        let loops = &fx.cells[kept].loops;
        for e in touching {
            let around = flow.loops.get(&e.block)?;
            if e.loops.len() < around.len() {
                web.first.push(e);
            } else if common(loops, &e.loops) == loops.len() {
                web.rest.entry(e.block).or_default().push(e);
            } else {
                return None;
            }
        }
        Some(web)
    }

    fn is_own(&self, cell: usize) -> bool {
        cell == self.kept || cell == self.gone
    }

    fn reads(&self, e: &'a Effect) -> impl Iterator<Item = Value> {
        e.reads.iter().filter(|(_, c)| self.is_own(*c)).map(|(v, _)| *v)
    }

    fn writes(&self, e: &'a Effect) -> impl Iterator<Item = Value> {
        let out = match e.out {
            Out::Cell(v, c) => Some((v, c)),
            _ => None,
        };
        out.into_iter().chain(e.outs.iter().copied()).filter(|(_, c)| self.is_own(*c)).map(|(v, _)| v)
    }

    fn name(&self, v: Value) -> Value {
        self.builder.given.origin(self.flow, v)
    }

    /// Whether the cell holds what each read of it wants, whichever way control goes.
    fn flows(&self) -> Option<()> {
        let mut before: BTreeMap<Block, Held> = BTreeMap::new();
        let entry = self.builder.given.region.entry;
        let mut held = Held::new();
        for e in &self.first {
            if self.reads(e).next().is_some() {
                return None;
            }
            held = self.writes(e).map(|v| self.name(v)).collect();
        }
        // (A function begins with it, or it is entered from outside.)
        let outside: Vec<Block> = self
            .builder
            .given
            .cfg
            .predecessors(entry)
            .into_iter()
            .filter(|p| !self.builder.given.contains(*p))
            .collect();
        if outside.is_empty() {
            before.insert(entry, held.clone());
        }
        for from in outside {
            self.join(&mut before, from, entry, &held);
        }
        let mut changed = true;
        while changed {
            changed = false;
            for b in &self.flow.order {
                let Some(held) = before.get(b).cloned() else { continue };
                for (from, to, held) in self.run(*b, held)? {
                    changed |= self.join(&mut before, from, to, &held);
                }
            }
        }
        // What is not reached is not understood.
        self.rest.keys().all(|b| before.contains_key(b)).then_some(())
    }

    /// What the cell holds on each edge out of a block that it holds `held` before; `None` if a read wants
    /// something else.
    fn run(&self, b: Block, mut held: Held) -> Option<Vec<(Block, Block, Held)>> {
        let inner = self.flow.subregions.iter().position(|s| s.head == b);
        let blocks = inner.map(|k| &self.flow.subregions[k].blocks);
        for own in [b].iter().chain(blocks.into_iter().flatten()) {
            for v in ir::instructions(*own) {
                if *own != b || ir::opcode(v) != Some(Op::LLVMPHI) {
                    held.remove(&v);
                }
            }
        }
        let exit = inner.map(|k| ir::instructions(self.flow.subregions[k].exit)).unwrap_or_default();
        for p in exit.into_iter().take_while(|v| ir::opcode(*v) == Some(Op::LLVMPHI)) {
            held.remove(&p);
        }
        // Edges on which something was written in the block.
        let mut edges: BTreeMap<Block, Held> = BTreeMap::new();
        let mut written = false;
        for e in self.rest.get(&b).into_iter().flatten() {
            if !self.reads(e).all(|v| !written && held.contains(&self.name(v))) {
                return None;
            }
            let Some(v) = self.writes(e).next() else { continue };
            written = true;
            let held_now = Held::from([self.name(v)]);
            if e.whole {
                held = held_now;
                edges.clear();
            } else {
                edges.insert(e.edge?, held_now);
            }
        }
        let mut ways = Vec::new();
        let ends = match blocks {
            Some(blocks) => blocks.iter().copied().chain([b]).collect(),
            None => vec![b],
        };
        for from in ends {
            for to in self.builder.given.cfg.successors(from) {
                let inside = blocks.is_some_and(|all| all.contains(&to));
                let wanted = self.behind.iter().flat_map(|e| self.reads(e));
                let at_end = edges.get(&to).unwrap_or(&held);
                if !self.builder.given.contains(to)
                    && !wanted.into_iter().all(|v| at_end.contains(&self.name(v)))
                {
                    return None;
                }
                if !inside && self.builder.given.contains(to) && !self.builder.found.excluded.contains(&to) {
                    ways.push((from, to, edges.get(&to).unwrap_or(&held).clone()));
                }
            }
        }
        Some(ways)
    }

    /// Carries what the cell holds along an edge; whether less is known of the cell behind it now.
    fn join(&self, before: &mut BTreeMap<Block, Held>, from: Block, to: Block, held: &Held) -> bool {
        let loops = |b: Block| self.flow.loops.get(&b).map_or(&[][..], Vec::as_slice);
        let own = &self.fx.cells[self.kept].loops;
        let stays = common(loops(from), own) == common(loops(to), own)
            && self.builder.given.headed_loop(self.flow, to).is_none_or(|l| !own.contains(&l));
        let mut now = Held::new();
        if stays {
            let phis: Vec<Value> = ir::instructions(to)
                .into_iter()
                .take_while(|v| ir::opcode(*v) == Some(Op::LLVMPHI))
                .collect();
            // What a subregion chooses by itself keeps its name.
            let chosen = self.flow.subregion_edge(from, to).is_some();
            now.extend(held.iter().filter(|v| chosen || !phis.contains(v)));
            for p in phis {
                let value = ir::incoming(p).into_iter().find(|(_, b)| *b == from).map(|(v, _)| v);
                if value.is_some_and(|v| held.contains(&self.name(v))) {
                    now.insert(p);
                }
            }
        }
        match before.get_mut(&to) {
            None => before.insert(to, now).is_none(),
            Some(known) => {
                let less = known.intersection(&now).copied().collect::<Held>();
                let fewer = less.len() < known.len();
                *known = less;
                fewer
            }
        }
    }
}

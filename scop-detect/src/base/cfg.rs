//! The control-flow graph as indices: predecessors, dominators, postdominators, single-entry single-exit
//! regions.
//!
//! Dominators follow Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001). Postdominators
//! are computed from a virtual exit behind every block without successors; a block that reaches none of them
//! has no postdominator.

use crate::base::ir::{self, Block, Value};
use crate::base::region::Candidate;
use pollyrs_llvm_shim::{Analyses, LoopId};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) struct Cfg {
    /// Reverse postorder; the index of a block is its position here.
    pub blocks: Vec<Block>,
    index: BTreeMap<Block, usize>,
    pub succs: Vec<Vec<usize>>,
    pub preds: Vec<Vec<usize>>,
    idom: Vec<Option<usize>>,
    ipdom: Vec<Option<usize>>,
    /// Position of an instruction in its block.
    positions: BTreeMap<Value, usize>,
    first_non_phi: Vec<Option<Value>>,
    /// Whether a block follows one that control does not come to for now: the handler of an exception that
    /// is assumed not to be thrown.
    behind_handlers: Vec<bool>,
}

impl Cfg {
    pub fn new(an: &Analyses<'_>) -> Cfg {
        let blocks = an.reverse_postorder().to_vec();
        let index: BTreeMap<Block, usize> = blocks.iter().enumerate().map(|(i, b)| (*b, i)).collect();
        let n = blocks.len();
        let mut succs = vec![Vec::new(); n];
        let mut preds = vec![Vec::new(); n];
        let mut positions = BTreeMap::new();
        let mut first_non_phi = vec![None; n];
        for (i, b) in blocks.iter().enumerate() {
            for s in ir::successors(*b).iter().filter_map(|s| index.get(s).copied()) {
                if !succs[i].contains(&s) {
                    succs[i].push(s);
                    preds[s].push(i);
                }
            }
            for (p, v) in ir::instructions(*b).into_iter().enumerate() {
                positions.insert(v, p);
                if first_non_phi[i].is_none() && ir::opcode(v) != Some(ir::Op::LLVMPHI) {
                    first_non_phi[i] = Some(v);
                }
            }
        }
        let unreached = |b: &Block| {
            ir::uses(b.as_value()).iter().filter_map(|(t, _)| ir::parent(*t)).any(|p| !index.contains_key(&p))
        };
        let behind_handlers = blocks.iter().map(unreached).collect();
        let idom = dominators(n, 0, &succs, &preds);
        // Reversed, with the virtual exit as node n.
        let mut rsuccs = preds.clone();
        let mut rpreds = succs.clone();
        rsuccs.push((0..n).filter(|i| succs[*i].is_empty()).collect());
        for (i, p) in rpreds.iter_mut().enumerate() {
            if succs[i].is_empty() {
                p.push(n);
            }
        }
        rpreds.push(Vec::new());
        let ipdom = dominators(n + 1, n, &rsuccs, &rpreds);
        let ipdom = ipdom[..n].iter().map(|d| d.filter(|d| *d < n)).collect();
        Cfg { blocks, index, succs, preds, idom, ipdom, positions, first_non_phi, behind_handlers }
    }

    pub fn id(&self, b: Block) -> Option<usize> {
        self.index.get(&b).copied()
    }

    pub fn first_non_phi(&self, b: Block) -> Option<Value> {
        self.first_non_phi[self.id(b)?]
    }

    /// Position in reverse postorder, then in the block: any definition comes before its uses outside PHIs.
    pub fn position(&self, v: Value) -> (usize, usize) {
        let block = ir::parent(v).and_then(|b| self.id(b)).unwrap_or(0);
        (block, self.positions.get(&v).copied().unwrap_or(0))
    }

    pub fn idom(&self, b: Block) -> Option<Block> {
        self.idom[self.id(b)?].map(|i| self.blocks[i])
    }

    pub fn ipdom(&self, b: Block) -> Option<Block> {
        self.ipdom[self.id(b)?].map(|i| self.blocks[i])
    }

    fn is_behind_handler(&self, b: Block) -> bool {
        self.id(b).is_some_and(|i| self.behind_handlers[i])
    }

    pub fn predecessors(&self, b: Block) -> Vec<Block> {
        self.id(b).map(|i| self.preds[i].iter().map(|p| self.blocks[*p]).collect()).unwrap_or_default()
    }

    pub fn successors(&self, b: Block) -> Vec<Block> {
        self.id(b).map(|i| self.succs[i].iter().map(|p| self.blocks[*p]).collect()).unwrap_or_default()
    }

    /// The region that `entry` begins and `exit` follows: everything between is entered through `entry` only
    /// and left to `exit` only, also by ways that are assumed not to be taken, which are put back.
    pub fn region(&self, entry: Block, exit: Block) -> Option<Candidate> {
        if entry == exit {
            return None;
        }
        let mut blocks = BTreeSet::from([entry]);
        let mut work = vec![entry];
        while let Some(b) = work.pop() {
            let next = self.successors(b);
            if next.is_empty() {
                return None;
            }
            for s in next {
                if s != exit && blocks.insert(s) {
                    work.push(s);
                }
            }
        }
        let closed = blocks
            .iter()
            .filter(|b| **b != entry)
            .all(|b| !self.is_behind_handler(*b) && self.predecessors(*b).iter().all(|p| blocks.contains(p)));
        let leaves = blocks.iter().any(|b| self.successors(*b).contains(&exit));
        // Entering a loop at its header is the one way in; an entry in the middle of a loop that lies inside
        // is irreducible.
        (closed && leaves).then_some(Candidate { entry, exit, blocks, joined: false })
    }
}

fn dominators(n: usize, root: usize, succs: &[Vec<usize>], preds: &[Vec<usize>]) -> Vec<Option<usize>> {
    // Postorder by an explicit stack.
    let mut order = Vec::new();
    let mut seen = vec![false; n];
    let mut stack = vec![(root, 0)];
    seen[root] = true;
    while let Some((b, k)) = stack.pop() {
        if let Some(s) = succs[b].get(k) {
            stack.push((b, k + 1));
            if !seen[*s] {
                seen[*s] = true;
                stack.push((*s, 0));
            }
        } else {
            order.push(b);
        }
    }
    let mut number = vec![usize::MAX; n];
    for (i, b) in order.iter().enumerate() {
        number[*b] = i;
    }
    let mut idom: Vec<Option<usize>> = vec![None; n];
    idom[root] = Some(root);
    let mut changed = true;
    while changed {
        changed = false;
        for b in order.iter().rev().copied().filter(|b| *b != root) {
            let mut new = None;
            for p in preds[b].iter().copied().filter(|p| idom[*p].is_some()) {
                new = Some(match new {
                    None => p,
                    Some(q) => intersect(p, q, &idom, &number),
                });
            }
            if new != idom[b] {
                idom[b] = new;
                changed = true;
            }
        }
    }
    idom[root] = None;
    idom
}

fn intersect(mut a: usize, mut b: usize, idom: &[Option<usize>], number: &[usize]) -> usize {
    while a != b {
        let lower = if number[a] < number[b] { &mut a } else { &mut b };
        match idom[*lower] {
            Some(d) => *lower = d,
            None => break,
        }
    }
    a
}

/// The blocks of a region in an order that keeps the original execution order: topological, the blocks of a
/// loop together. `None` for irreducible control flow.
pub(crate) fn program_order(
    cfg: &Cfg,
    an: &Analyses<'_>,
    region: &Candidate,
    inside: &dyn Fn(LoopId) -> bool,
) -> Option<Vec<Block>> {
    let mut order = Order { cfg, an, region, inside, out: Vec::new() };
    order.add(None, region.entry)?;
    (order.out.len() == region.blocks.len()).then_some(order.out)
}

/// Blocks while they are put in order, loop by loop.
struct Order<'a> {
    cfg: &'a Cfg,
    an: &'a Analyses<'a>,
    region: &'a Candidate,
    /// Whether a loop is all in the region.
    inside: &'a dyn Fn(LoopId) -> bool,
    out: Vec<Block>,
}

impl Order<'_> {
    fn parent(&self, l: LoopId) -> Option<LoopId> {
        self.an.loops()[l.0].parent.filter(|p| (self.inside)(*p))
    }

    fn innermost(&self, b: Block) -> Option<LoopId> {
        self.an.innermost_loop(b).filter(|l| (self.inside)(*l))
    }

    /// The child of loop `level` (or the block itself) that `b` belongs to; `None` if `b` is not in `level`.
    fn item(&self, level: Option<LoopId>, b: Block) -> Option<Block> {
        let mut rep = b;
        let mut l = self.innermost(b);
        while l != level {
            let own = l?;
            rep = self.an.loops()[own.0].header;
            l = self.parent(own);
        }
        Some(rep)
    }

    /// Adds the blocks of a loop, or all of them, from `start` on.
    fn add(&mut self, level: Option<LoopId>, start: Block) -> Option<()> {
        let mut blocks: Vec<Block> = match level {
            None => self.region.blocks.iter().copied().collect(),
            Some(l) => self.an.loops()[l.0].blocks.clone(),
        };
        blocks.sort_by_key(|b| self.cfg.id(*b));
        let start_item = self.item(level, start)?;
        // Edges between the items of this level, back edges to the start left out.
        let mut waiting: BTreeMap<Block, BTreeSet<Block>> = BTreeMap::new();
        let mut items = Vec::new();
        for b in &blocks {
            let i = self.item(level, *b)?;
            if !items.contains(&i) {
                items.push(i);
            }
            for s in self.cfg.successors(*b).into_iter().filter(|s| blocks.contains(s)) {
                let j = self.item(level, s)?;
                if j != i && !(level.is_some() && j == start_item) {
                    waiting.entry(j).or_default().insert(i);
                }
            }
        }
        items.sort_by_key(|b| self.cfg.id(*b));
        while !items.is_empty() {
            let k = items.iter().position(|i| waiting.get(i).is_none_or(BTreeSet::is_empty))?;
            let i = items.remove(k);
            for w in waiting.values_mut() {
                w.remove(&i);
            }
            match self.child(level, i) {
                Some(x) if self.an.loops()[x.0].header == i => self.add(Some(x), i)?,
                _ => self.out.push(i),
            }
        }
        Some(())
    }

    /// The loop directly inside of `level` that `b` is in.
    fn child(&self, level: Option<LoopId>, b: Block) -> Option<LoopId> {
        let mut l = self.innermost(b);
        while let Some(x) = l {
            if Some(x) == level {
                return None;
            }
            let parent = self.parent(x);
            if parent == level {
                return Some(x);
            }
            l = parent;
        }
        None
    }
}

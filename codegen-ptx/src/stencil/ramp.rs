//! Which nodes a block's iteration needs.
//!
//! **Problem.** A block computes the rows of its output, and of node `n` some rows more at both ends, `lo`
//! and `hi` of them. Node `n` lags behind the loads, so the first iterations come to rows of late nodes that
//! nobody reads, and where nodes lag further than they reach, the last ones to rows of early nodes. With four
//! time iterations and 55 rows of output 63 iterations compute 252 rows, of which 232 are needed.
//!
//! **Solution.** The first and last iterations of warps whose columns are inside of the grid have a loop of
//! their own, in which the nodes are in groups, each behind a branch that the warp's threads take together,
//! once a trip of the unrolled loop:
//! ```text
//! trip from iteration `now`:  active_g = now + U - 1 >= first row + c_g and now <= last row + d_g
//! iteration:                  if (active_g) { values of the group's nodes, given to other threads }; stores; ...; barrier
//! ```
//! In the loop for all iterations the branches cost more than they save (heat3d27 on an H200 295 GStencil/s
//! without, 283 with them).
//!
//! # Invariants
//! - With `lag` the iterations that a node lags, it is in row `r` in iteration `r + lag`. Rows from
//!   `first - lo` to `last + hi` are needed, so no iteration ahead of `first - lo + lag` or behind
//!   `last + hi + lag` is: `c_g` and `d_g` are the least and the largest of these of a group.
//! - What a group that is left out gives its nodes' queues is no value; nothing that is needed reads it, as
//!   it is of rows that are not.
//! - Barriers, loads, stores and their walking addresses are outside of the branches.
//! - A group has enough independent chains of instructions to hide their latency, or else all nodes of a time
//!   iteration.

use crate::ir::llvm::*;
use crate::stencil::tile::{Tile, Values};
use inkwell::llvm_sys::LLVMIntPredicate::LLVMIntSLE;
use pollyrs_schedule::planted::planted;
use pollyrs_schedule::stencil::StencilPlan;

/// Points of a group at least. On an H200, with groups of 4 points, of 8, and one group, laplacian3d had 633,
/// 626 and 612 GStencil/s (its nodes have 4 points).
const CHAINS: usize = 4;

/// Nodes that are computed, or not, together.
pub(super) struct Group {
    pub nodes: Vec<usize>,
    /// Whether the trip needs them; `None`: all do.
    active: Option<Value>,
}

/// A branch around a group: where it began, and where both ways meet.
pub(super) struct Join {
    before: Block,
    after: Block,
}

/// The least lag of the last node for which it pays: that of three time iterations that reach one row.
const LAG: i64 = 3;

/// Whether a block's ends have a loop of their own: in three dimensions, where blocks have some fifty rows,
/// and where several iterations are fused. On an H200 laplacian3d (four iterations) had 614 GStencil/s
/// without and 649 with it (647 with one for warps at the sides, too), but heat3d27 and gradient3d (two) 254
/// and 236, 377 and 370; laplacian2d with twelve gained nothing.
pub(super) fn pays(p: &StencilPlan) -> bool {
    p.stencil.dims == 3 && p.max_lag() >= LAG
}

/// The groups of a plan's computed nodes, in their order.
fn split(p: &StencilPlan) -> Vec<Vec<usize>> {
    let cells = p.config.cells.iter().product::<u32>() as usize;
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for i in computed(p) {
        match groups.last_mut() {
            Some(g) if g.len() * cells < CHAINS || g.iter().any(|n| p.nodes[*n].time == p.nodes[i].time) => {
                g.push(i);
            }
            _ => groups.push(vec![i]),
        }
    }
    groups
}

fn computed(p: &StencilPlan) -> impl Iterator<Item = usize> {
    p.order.iter().copied().filter(|i| p.nodes[*i].step.is_some())
}

/// The iterations in which a node is in a row that is needed, from the block's first row and from its last.
fn needed(p: &StencilPlan, n: usize) -> (i64, i64) {
    let n = &p.nodes[n];
    let late = if planted("ramp") { 2 * p.unroll as i64 } else { 0 };
    (n.lag - n.lo[0] + late, n.lag + n.hi[0])
}

/// The groups of a trip from iteration `now` on.
pub(super) fn groups(t: &Tile<'_>, now: Value) -> Vec<Group> {
    let (ir, p) = (t.k.ir, t.fixed.plan);
    if !t.cursor.ramp {
        return vec![Group { nodes: computed(p).collect(), active: None }];
    }
    let last = ir.add(now, t.number(p.unroll as i64 - 1));
    let group = |nodes: Vec<usize>| {
        let first = nodes.iter().map(|n| needed(p, *n).0).min().unwrap_or(0);
        let end = nodes.iter().map(|n| needed(p, *n).1).max().unwrap_or(0);
        let begun = ir.icmp(LLVMIntSLE, ir.add(t.fixed.rows[0], t.number(first)), last);
        let goes_on = ir.icmp(LLVMIntSLE, now, ir.add(t.fixed.rows[1], t.number(end)));
        Group { nodes, active: Some(ir.and(begun, goes_on)) }
    };
    split(p).into_iter().map(group).collect()
}

/// Whether a trip from iteration `now` on needs all nodes, in some iteration each.
pub(super) fn all_needed(t: &Tile<'_>, now: Value) -> Value {
    let (ir, p) = (t.k.ir, t.fixed.plan);
    let first = computed(p).map(|n| needed(p, n).0).max().unwrap_or(0);
    let end = computed(p).map(|n| needed(p, n).1).min().unwrap_or(0);
    let last = ir.add(now, t.number(p.unroll as i64 - 1));
    let begun = ir.icmp(LLVMIntSLE, ir.add(t.fixed.rows[0], t.number(first)), last);
    ir.and(begun, ir.icmp(LLVMIntSLE, now, ir.add(t.fixed.rows[1], t.number(end))))
}

impl Group {
    /// The builder is afterwards where the group's code belongs.
    pub fn enter(&self, t: &Tile<'_>) -> Option<Join> {
        let ir = t.k.ir;
        let active = self.active?;
        let (before, needed) = (ir.block(), ir.append_block(t.fixed.function, "needed"));
        let after = ir.append_block(t.fixed.function, "computed");
        ir.cond_br(active, needed, after);
        ir.at_end(needed);
        Some(Join { before, after })
    }

    /// The builder is afterwards behind the group, whose nodes have values in `current`, as they have if it
    /// was left out.
    pub fn leave(&self, t: &Tile<'_>, Join { before, after }: Join, current: &mut [Option<Values>]) {
        let ir = t.k.ir;
        let from = ir.block();
        ir.br(after);
        ir.at_end(after);
        for n in self.nodes.iter().copied() {
            let nothing = t.element(n).zero();
            let ty = t.element(n);
            for v in current[n].iter_mut().flatten() {
                *v = ir.phi(ty, &[(nothing, before), (*v, from)]);
            }
        }
    }
}

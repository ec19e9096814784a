//! Reports of fused steps: calls that may set `errno` ([`crate::statement::errno`]).
//!
//! **Problem.** A block computes more points than the program does there: outside of a step's box, in rows
//! and columns around what it needs of a step, from values that are none. What happens at these must not be
//! reported.
//!
//! **Solution.** A report counts at points that are in the step's box and in the node's region (`Node::lo`,
//! `Node::hi`), where a block has the program's values. Each point of the box is in the region of some block,
//! so nothing is missed; some are in several, which report the same.
//!
//! # Invariants
//! - Regions hold the tile, and tiles cover the hull of each live buffer, and so the boxes within. Steps with
//!   other boxes, steps on lattices, and those of which no output depends on a node are not fused where they
//!   may report something.
//! - No branch is on what is computed where reports do not count.

use crate::ir::calls;
use crate::ir::llvm::*;
use crate::stencil::tile::{Extent, Tile};
use pollyrs_schedule::stencil::{Node, StencilPlan, Step};
use pollyrs_scop::Scop;

/// By step: whether it may report something and each of its points is one where reports count. (Where isl has
/// no answer, it is taken for one that is not.)
pub(super) fn counted(scop: &Scop, plan: &StencilPlan) -> Vec<bool> {
    let holds_tile = |n: &Node| n.lo.iter().chain(&n.hi).all(|e| *e >= 0);
    let of = |(number, step): (usize, &Step)| {
        may_report(scop, plan, number)
            && step.lattices.is_empty()
            && plan.nodes.iter().filter(|n| n.step == Some(number)).all(|n| n.needed && holds_tile(n))
            && plan.covers(step).unwrap_or(false)
    };
    plan.stencil.steps.iter().enumerate().map(of).collect()
}

fn may_report(scop: &Scop, plan: &StencilPlan, number: usize) -> bool {
    let statement = &scop.statements[plan.stencil.steps[number].stmt.0];
    statement.body.iter().any(|i| calls::is_reported(host_value(*i)))
}

/// Whether a plan's kernels need the fault cell.
pub(super) fn any(scop: &Scop, plan: &StencilPlan) -> bool {
    (0..plan.stencil.steps.len()).any(|number| may_report(scop, plan, number))
}

impl Tile<'_> {
    /// Whether a point is in the box of its step and in the region of its node.
    pub(super) fn counts_at(&self, node: usize, number: usize, row: Value, cell: usize) -> Value {
        let ir = self.k.ir;
        let n = &self.fixed.plan.nodes[node];
        let at = [row, self.cursor.columns[cell].at[0], self.cursor.columns[cell].at[1]];
        let mut all = ir.bool(true);
        for (axis, at) in at.into_iter().enumerate() {
            let Some(d) = self.dimension(axis) else { continue };
            let [first, last] = match axis {
                0 => self.fixed.rows,
                _ => [
                    ir.add(self.fixed.origin[axis - 1], self.number(self.fixed.plan.halo[axis])),
                    self.fixed.last[axis - 1],
                ],
            };
            let [first, last] =
                [ir.sub(first, self.number(n.lo[axis])), ir.add(last, self.number(n.hi[axis]))];
            let [lower, upper] = self.corners(Extent::Step(number), d);
            all = ir.and(all, ir.and(self.both(at, first, last), self.both(at, lower, upper)));
        }
        all
    }
}

//! Values from thread to thread, through shared memory.
//!
//! A node's row stays in a *slot* until the last iteration that reads it; there are [`StencilPlan::slots`] of
//! them, which take turns. The code of an iteration names them by its number in the unrolled loop; where the
//! unrolling is no multiple of the number of slots, their addresses change places at the end of each trip.
//!
//! Where a line of threads is a warp, values may pass along x by shuffles instead
//! ([`Exchange`](pollyrs_schedule::stencil::Exchange)).

use crate::ir::error::{Result, internal};
use crate::ir::llvm::*;
use crate::ops::shuffle;
use crate::stencil::tile::Tile;
use pollyrs_schedule::stencil::{NodeRead, StencilPlan, plan};

/// Bytes of a slot of all nodes, and where each node's part begins in it.
pub(super) fn layout(plan: &StencilPlan, bytes: &dyn Fn(usize) -> usize) -> (usize, Vec<usize>) {
    let (mut begin, mut end) = (Vec::new(), 0usize);
    for (i, n) in plan.nodes.iter().enumerate() {
        begin.push(end.next_multiple_of(bytes(i) * plan.config.together()));
        if n.needed {
            end = plan::slot_end(plan, i, end, bytes(i));
        }
    }
    (end.next_multiple_of(16), begin)
}

impl Tile<'_> {
    /// The addresses of all slots at the start of the kernel.
    pub fn slot_addresses(&self) -> Vec<Value> {
        let ir = self.k.ir;
        let slots = self.fixed.plan.slots as i64;
        (0..slots)
            .map(|s| ir.byte_offset(self.fixed.shared, ir.int(s * self.fixed.slot_bytes as i64)))
            .collect()
    }

    /// What an operand of a step is at a cell.
    pub(super) fn operand(
        &mut self,
        node: usize,
        r: &NodeRead,
        cell: usize,
        iteration: i64,
        own: &dyn Fn(usize, usize, usize) -> Option<Value>,
    ) -> Result<Value> {
        let ir = self.k.ir;
        let plan = self.fixed.plan;
        let age = plan.nodes[node].lag - plan.nodes[r.node].lag - r.offset[0];
        let [ny, nx] = plan.config.cells.map(i64::from);
        let (y, x) = (cell as i64 / nx + r.offset[1], cell as i64 % nx + r.offset[2]);
        if (0..ny).contains(&y) && (0..nx).contains(&x) {
            return match own(r.node, age as usize, (y * nx + x) as usize) {
                Some(v) => Ok(v),
                None => internal(format!("node {} is not there when node {node} reads it", r.node)),
            };
        }
        // Shared by the cells and nodes that need it.
        if let Some(v) = self.cursor.fetched.get(&(r.node, age, [y, x])) {
            return Ok(*v);
        }
        let owner = [y.div_euclid(ny), x.div_euclid(nx)];
        let its_cell = (y.rem_euclid(ny) * nx + x.rem_euclid(nx)) as usize;
        if plan.config.shuffles(owner[0]) {
            let Some(v) = own(r.node, age as usize, its_cell) else {
                return internal(format!("node {} is not there when node {node} reads it", r.node));
            };
            let v = shuffle::from_lane(&self.k, v, owner[1] as i32)?;
            self.cursor.fetched.insert((r.node, age, [y, x]), v);
            return Ok(v);
        }
        let (ty, _) = self.fixed.elements[plan.nodes[r.node].buffer];
        // With the cells beside it, if they come together.
        let width = plan.config.together();
        let first = its_cell - its_cell % width;
        let at = self.slot(r.node, iteration - age, first, owner)?;
        self.note("a step's value from another thread", plan.nodes[r.node].buffer);
        if width == 1 {
            let v = ir.load_aligned(ty, at, self.bytes(r.node));
            self.cursor.fetched.insert((r.node, age, [y, x]), v);
            return Ok(v);
        }
        let v = ir.load_aligned(ir.vector_type(ty, width as u32), at, self.bytes(r.node) * width as u32);
        for i in 0..width as i64 {
            let x = x - (its_cell - first) as i64 + i;
            self.cursor.fetched.insert((r.node, age, [y, x]), ir.extract(v, i as u32));
        }
        Ok(ir.extract(v, (its_cell - first) as u32))
    }

    /// Reads what a step needs of other threads' values, ahead of its code: all of it was there at the last
    /// barrier.
    pub(super) fn fetch_operands(
        &mut self,
        node: usize,
        iteration: i64,
        own: &dyn Fn(usize, usize, usize) -> Option<Value>,
    ) -> Result<()> {
        let plan = self.fixed.plan;
        if self.is_missed(node) {
            return Ok(());
        }
        let [ny, nx] = plan.config.cells.map(i64::from);
        for cell in 0..self.cells() {
            for r in plan.nodes[node].reads.iter().filter(|r| r.case.is_none()) {
                let (y, x) = (cell as i64 / nx + r.offset[1], cell as i64 % nx + r.offset[2]);
                let fresh = plan.nodes[node].lag - plan.nodes[r.node].lag == r.offset[0];
                if !fresh && (!(0..ny).contains(&y) || !(0..nx).contains(&x)) {
                    self.operand(node, r, cell, iteration, own)?;
                }
            }
        }
        Ok(())
    }

    /// Gives a row of a node to other threads.
    pub(super) fn exchange(&self, node: usize, iteration: i64, values: &[Value]) -> Result<()> {
        let (ir, width) = (self.k.ir, self.fixed.plan.config.together());
        for cell in plan::exchanged_cells(self.fixed.plan, node).into_iter().filter(|c| c % width == 0) {
            let to = self.slot(node, iteration, cell, [0, 0])?;
            self.note("a step's value for other threads", self.fixed.plan.nodes[node].buffer);
            let value = match width {
                1 => values[cell],
                _ => ir.vector(self.element(node), &values[cell..cell + width]),
            };
            ir.store_aligned(value, to, self.bytes(node) * width as u32);
        }
        Ok(())
    }

    /// The address in shared memory of a cell of the thread `owner` away, as it was in an iteration.
    fn slot(&self, node: usize, iteration: i64, cell: usize, owner: [i64; 2]) -> Result<Value> {
        let ir = self.k.ir;
        let plan = self.fixed.plan;
        let margin = plan::margins(plan, node).map(|m| m as i64);
        let width: Vec<i64> = (0..2).map(|a| i64::from(plan.config.threads[a]) + 2 * margin[a]).collect();
        let cells = plan::exchanged_cells(plan, node);
        let Some(at) = cells.iter().position(|c| *c == cell) else {
            return internal("a cell is not exchanged");
        };
        let slot = self.cursor.slots[iteration.rem_euclid(plan.slots as i64) as usize];
        let together = plan.config.together() as i64;
        let (plane, beside) = (at as i64 / together * width[0] * width[1], at as i64 % together);
        let there = (owner[0] + margin[0]) * width[1] + owner[1] + margin[1];
        let bytes = i64::from(self.bytes(node));
        let mine = ir.add(ir.mul(self.fixed.thread[0], self.number(width[1])), self.fixed.thread[1]);
        let mine = self.wide(ir.mul(mine, self.number(bytes * together)));
        let mine = ir.byte_offset(slot, mine);
        let offset = ((plane + there) * together + beside) * bytes;
        Ok(ir.byte_offset(mine, ir.int(offset + self.fixed.begins[node] as i64)))
    }
}

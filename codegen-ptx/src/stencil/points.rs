//! Which points of a row a step computes: those in its box and on its lattices. The others keep their values.

use crate::ir::error::{Result, internal};
use crate::ir::llvm::*;
use crate::stencil::tile::{Extent, Tile, Values, Version};
use inkwell::llvm_sys::LLVMIntPredicate::*;
use pollyrs_schedule::stencil::{Lattice, Step, StepAccess, plan};

impl Tile<'_> {
    /// The coordinates along row, y and x at which a step's instance is executed for a cell. The program's
    /// own loads need an instance that there is: points that the step does not compute are moved to one
    /// nearby.
    pub(super) fn executed(
        &self,
        (number, step): (usize, &Step),
        row: Value,
        cell: usize,
        time: Value,
    ) -> [Value; 3] {
        let ir = self.k.ir;
        let mut at = [row, self.cursor.columns[cell].at[0], self.cursor.columns[cell].at[1]];
        if !step.accesses.contains(&StepAccess::Plain) {
            return at;
        }
        let first = match self.cursor.version {
            Version::Inner => 3,
            Version::Sides => 1,
            Version::Border => 0,
        };
        for (axis, c) in at.iter_mut().enumerate().skip(first) {
            if let Some(d) = self.dimension(axis) {
                let [lower, upper] = self.corners(Extent::Step(number), d);
                *c = ir.smax(self.smin(*c, upper), lower);
            }
        }
        for l in &step.lattices {
            let d = step.iterators[l.pivot - 1].0;
            let axis = plan::axis(self.fixed.plan.stencil.dims, d);
            // The nearest one below, or, at the box's lower side, above: the box has as many elements as the
            // modulus.
            let below = ir.sub(at[axis], self.remainder(step, l, time, at));
            let outside = ir.icmp(LLVMIntSLT, below, self.corners(Extent::Step(number), d)[0]);
            at[axis] = ir.select(outside, ir.add(below, self.number(l.modulus)), below);
        }
        at
    }

    /// How far a point is behind one of a lattice, along its pivot: from 0 to the modulus less 1.
    fn remainder(&self, step: &Step, l: &Lattice, time: Value, at: [Value; 3]) -> Value {
        let ir = self.k.ir;
        let mut sum = self.number(l.constant);
        for (j, factor) in l.coefficients.iter().enumerate().filter(|(_, factor)| **factor != 0) {
            let iterator = match j.checked_sub(1).map(|j| step.iterators[j]) {
                None => ir.trunc(time, ir.i32_type()),
                Some((d, shift)) => {
                    ir.add(at[plan::axis(self.fixed.plan.stencil.dims, d)], self.number(shift))
                }
            };
            sum = ir.add(sum, ir.mul(iterator, self.number(*factor)));
        }
        // Moduli are powers of two, so that this is right for negative sums as well, and for those that wrap.
        ir.and(sum, self.number(l.modulus - 1))
    }

    /// The values of a row behind a step that computed `out`: where it computes nothing, what `own` or,
    /// outside of the hull, `border` has.
    pub(super) fn with_kept(
        &self,
        node: usize,
        (number, step): (usize, &Step),
        (row, time): (Value, Value),
        out: Values,
        own: &dyn Fn(usize, usize, usize) -> Option<Value>,
        border: Option<&Values>,
    ) -> Result<Values> {
        let ir = self.k.ir;
        let n = &self.fixed.plan.nodes[node];
        let boxed = self.cursor.version != Version::Inner
            && (self.fixed.plan.stencil.buffers[n.buffer].has_border || step.partial);
        if !boxed && step.lattices.is_empty() {
            return Ok(out);
        }
        let old = match (n.keep, border) {
            (Some(before), _) => {
                let age = n.lag - self.fixed.plan.nodes[before].lag;
                (0..self.cells()).map(|c| own(before, age as usize, c)).collect::<Option<Values>>()
            }
            (None, given) => given.cloned(),
        };
        let Some(old) = old else {
            return internal(format!("the border of node {node} is not there"));
        };
        let row_in = self.row_inside(Extent::Step(number), row);
        let columns = &self.cursor.inside[self.fixed.plan.stencil.buffers.len() + number];
        let result = |c: usize| {
            let mut computed = boxed.then(|| self.holds(row_in, columns[c]));
            for l in &step.lattices {
                let at = [row, self.cursor.columns[c].at[0], self.cursor.columns[c].at[1]];
                let on = ir.icmp(LLVMIntEQ, self.remainder(step, l, time, at), self.number(0));
                computed = Some(computed.map_or(on, |all| ir.and(all, on)));
            }
            computed.map_or(out[c], |computed| ir.select(computed, out[c], old[c]))
        };
        Ok((0..self.cells()).map(result).collect())
    }
}

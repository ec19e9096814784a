//! A row of a node: what its points read, compute and keep, and who gets it.

use crate::ir::error::{Result, internal};
use crate::ir::llvm::*;
use crate::kernel::module::StencilScalar;
use crate::kernel::storage::PlainBuilder as KernelBuilder;
use crate::ops::fast_division;
use crate::statement::emit::emit_stored;
use crate::stencil::tile::{Extent, Tile, Values, Version};
use pollyrs_schedule::stencil::{Step, StepAccess, plan};
use pollyrs_scop::{AccessValue, StmtId};
use std::collections::BTreeMap;

/// The iterators of an instance, what it reads, by load, and whether what it reports counts, where it may
/// report something.
type Point = (Vec<Value>, BTreeMap<usize, Value>, Option<Value>);

impl Tile<'_> {
    /// A row of a step. `own` gives the thread's own value of a node, so many iterations ago.
    pub fn compute(
        &mut self,
        node: usize,
        row: Value,
        iteration: i64,
        own: &dyn Fn(usize, usize, usize) -> Option<Value>,
        border: Option<&Values>,
    ) -> Result<Values> {
        let n = &self.fixed.plan.nodes[node];
        let Some((number, step)) = n.step.and_then(|s| Some((s, self.fixed.plan.stencil.steps.get(s)?)))
        else {
            return internal("a node without a step is computed");
        };
        let ir = self.k.ir;
        if let (true, Some(kept)) = (self.is_missed(node), n.keep) {
            let age = (n.lag - self.fixed.plan.nodes[kept].lag) as usize;
            let held = (0..self.cells()).map(|c| own(kept, age, c)).collect::<Option<Values>>();
            return held.ok_or(crate::CodegenError::Internal(format!("what node {node} keeps is not there")));
        }
        let statement = &self.k.scop.statements[step.stmt.0];
        let time = ir.add(self.scalar(StencilScalar::Time), ir.int(n.time));
        let mut points = Vec::new();
        let place = self.place_of(step, row);
        for cell in 0..self.cells() {
            let mut given = BTreeMap::new();
            for r in &n.reads {
                let AccessValue::Instruction(load) = statement.accesses[r.access].value else {
                    return internal("a stencil reads a scalar");
                };
                let Some(case) = r.case else {
                    given.insert(load.address(), self.operand(node, r, cell, iteration, own)?);
                    continue;
                };
                // Inner rows do not meet a case that is thin along rows; inner columns meet none.
                let rows_miss = self.dimension(0).is_some_and(|d| step.cases[case].thin.contains(&d));
                if self.cursor.version == Version::Inner
                    || (self.cursor.version == Version::Sides && rows_miss)
                {
                    continue;
                }
                let (Some(usual), Some(masks)) =
                    (given.get(&load.address()).copied(), self.cursor.cases.get(&(number, case)))
                else {
                    return internal("a case without what it differs from");
                };
                let column = masks[cell];
                let applies = self.holds(self.row_inside(Extent::Case(number, case), row), column);
                let other = self.operand(node, r, cell, iteration, own)?;
                given.insert(load.address(), ir.select(applies, other, usual));
            }
            let coordinates = self.executed((number, step), place, cell, time);
            let mut iterators = vec![time];
            for (d, shift) in &step.iterators {
                let c = coordinates[plan::axis(self.fixed.plan.stencil.dims, *d)];
                iterators.push(ir.add(self.wide(c), ir.int(*shift)));
            }
            let counts = self.fixed.counted[number].then(|| self.counts_at(node, number, row, cell));
            points.push((iterators, given, counts));
        }
        let out = self.results(step.stmt, step.write, &points)?;
        self.with_kept(node, (number, step), (row, time), out, own, border)
    }

    /// The row of a step's instances. Where these load from memory that no step writes, it is another number
    /// in each iteration: addresses of every step, array and column would become variables of their own
    /// otherwise ([`Tile::varying`]), more than there are registers for.
    fn place_of(&self, step: &Step, row: Value) -> Value {
        let loads = step.accesses.contains(&StepAccess::Plain) && self.fixed.plan.stencil.dims > 1;
        if loads { self.fixed(row) } else { row }
    }

    /// Whether this version meets none of a node's points: nothing of a thin box is met by inner rows, or
    /// inner columns.
    pub(super) fn is_missed(&self, node: usize) -> bool {
        let n = &self.fixed.plan.nodes[node];
        let Some(step) = n.step.and_then(|s| self.fixed.plan.stencil.steps.get(s)) else { return false };
        n.keep.is_some()
            && match self.cursor.version {
                Version::Inner => !step.thin.is_empty(),
                Version::Sides => step.thin.contains(&0),
                Version::Border => false,
            }
    }

    /// What the points of a step store. Their divisions and roots have one test for unusual operands
    /// ([`fast_division`]), but at the border, where values that are thrown away are often unusual.
    fn results(&mut self, stmt: StmtId, write: usize, points: &[Point]) -> Result<Values> {
        let ir = self.k.ir;
        let emit = self.k.emit.clone();
        let all = |k: &mut KernelBuilder<'_>| {
            let one = |(iterators, given, counts): &Point| {
                k.counts = *counts;
                emit_stored(k, &emit, stmt, write, iterators, given.clone())
            };
            let values = points.iter().map(one).collect::<Result<Values>>();
            k.counts = None;
            values
        };
        let before = ir.block();
        let last = before.last();
        let values = all(&mut self.k)?;
        if !self.cursor.tests || self.cursor.version == Version::Border || ir.block() != before {
            return Ok(values);
        }
        // What a division stores itself is replaced: its user stands in for it.
        let held: Vec<Value> = values.iter().map(|v| ir.freeze(*v)).collect();
        let Some(test) = fast_division::use_fast_paths(&self.k, last) else {
            for (v, held) in values.iter().zip(&held) {
                // SAFETY: the handle is not used any more.
                unsafe { held.replace(*v) };
            }
            return Ok(values);
        };
        let [_, join] = fast_division::branch(ir, test);
        let exactly = all(&mut self.k)?;
        let from = ir.block();
        ir.br(join);
        ir.at_end(join);
        let phi = |(q, e): (&Value, &Value)| {
            let ty = q.ty();
            ir.phi(ty, &[(*q, before), (*e, from)])
        };
        Ok(held.iter().zip(&exactly).map(phi).collect())
    }

    /// Gives a row to other threads and, if it is final, to memory.
    pub fn publish(&mut self, node: usize, iteration: i64, row: Value, values: &Values) -> Result<()> {
        let n = &self.fixed.plan.nodes[node];
        if n.exchange {
            self.exchange(node, iteration, values)?;
        }
        if n.output { self.store_output(node, row, values) } else { Ok(()) }
    }
}

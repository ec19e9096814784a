//! Where what an effect computes comes from: values that it computes itself, cells, and affine numbers.

use crate::base::blame::type_reason;
use crate::base::builder::{Builder, Given};
use crate::base::fail::{Fail, Stop};
use crate::base::flow::Flow;
use crate::base::instructions::{check_body, inputs, is_expensive};
use crate::base::ir::{self, Block, Op, Value};
use crate::base::place::Place;
use crate::base::scalars::{CellKind, common};
use crate::memory::raw::base_of;
use crate::values::effects::{Effect, Effects, Out};
use isl::Set;
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{LoopId, ScevExpr, ScevKind};
use pollyrs_scop::RejectReason;

/// Operand trees of other blocks up to this size are computed again instead of passed through a cell.
const MAX_FORWARD: usize = 8;

impl Builder<'_> {
    /// The expression of an integer that code generation can compute from counters and parameters.
    pub(crate) fn affine_value(
        &mut self,
        flow: &Flow,
        v: Value,
        user: Block,
        domain: &Set,
    ) -> Result<Option<ScevExpr>, Fail> {
        if !ir::int_bits(v).is_some_and(|b| (8..=64).contains(&b)) {
            return Ok(None);
        }
        let e = self.given.an.scev(v, self.given.an.innermost_loop(user));
        let place = Place::new(flow.loops.get(&user).cloned().unwrap_or_default(), domain.clone(), Some(v));
        let counter = ir::opcode(v) == Some(Op::LLVMPHI) && matches!(e.kind, ScevKind::AddRec { .. });
        let r = match self.strictly(|me| me.congruent(&e, &place)) {
            Err(Stop::Blocker(_)) if counter => self.congruent(&e, &place),
            r => r,
        };
        match r {
            Ok(_) => Ok(Some(e)),
            Err(Stop::Blocker(_)) => Ok(None),
            Err(Stop::Isl(e)) => Err(e.into()),
        }
    }

    /// Makes `v` available to the effect.
    pub(crate) fn resolve(
        &mut self,
        flow: &Flow,
        fx: &mut Effects,
        e: &mut Effect,
        v: Value,
    ) -> Result<(), Fail> {
        if !e.done.insert(v) || ir::is_literal(v) {
            return Ok(());
        }
        let at = match &e.out {
            Out::Store(s) => *s,
            Out::Cell(..) | Out::Subregion(_) => v,
        };
        if ir::is_pointer(v) {
            let opcode = "store of a pointer".to_string();
            return Err(Fail { block: Some(e.block), ..Fail::at(RejectReason::Instruction { opcode }, at) });
        }
        let Some(block) = ir::parent(v).filter(|b| self.given.contains(*b)) else {
            if !ir::computable(v) || ir::is_constant(v) {
                return Err(Fail { block: Some(e.block), ..Fail::at(type_reason(ir::type_of(v), at), at) });
            }
            if !fx.invariants.contains(&v) {
                fx.invariants.push(v);
            }
            return Ok(());
        };
        if let Some(k) = flow.within.get(&block) {
            if matches!(e.out, Out::Subregion(own) if own == *k) {
                return self.execute_within(flow, fx, e, v);
            }
            let depth = common(&flow.loops[&block], &e.loops);
            let cell = self.cell(flow, fx, CellKind::Scalar, v, depth)?;
            e.reads.push((v, cell));
            return Ok(());
        }
        if let Some(scev) = self.affine_value(flow, v, e.block, &e.domain)? {
            e.synthesized.push((v, scev));
            return Ok(());
        }
        let (own, depth) = (flow.loops[&block].clone(), common(&flow.loops[&block], &e.loops));
        if ir::opcode(v) != Some(Op::LLVMPHI) {
            let mut size = 0;
            if block == e.block
                && let Some(store) = self.stored_before(fx, e, v)?
            {
                e.stored.push((v, store));
                return Ok(());
            }
            if block == e.block || depth == own.len() && self.forwardable(flow, fx, e, v, &mut size)? {
                return self.execute(flow, fx, e, v);
            }
        }
        let cell = self.cell_of(flow, fx, e, v)?;
        e.reads.push((v, cell));
        Ok(())
    }

    /// The cell that holds `v` when `e` runs.
    pub(crate) fn cell_of(
        &mut self,
        flow: &Flow,
        fx: &mut Effects,
        e: &Effect,
        v: Value,
    ) -> Result<usize, Fail> {
        // A PHI that only hands a value on is that value, where it comes from a finished loop.
        let origin = self.given.origin(flow, v);
        let source = ir::parent(origin).and_then(|b| flow.loops.get(&b)).cloned();
        let depth = |l: &[LoopId]| common(l, &e.loops);
        if let Some(own) = source.filter(|l| depth(l) < l.len()) {
            if let Some(p) = self.given.handed_to(flow, origin, depth(&own)) {
                return self.cell(flow, fx, CellKind::Phi, p, depth(&own));
            }
            let headed = ir::opcode(origin) == Some(Op::LLVMPHI)
                && self.given.phi_depth(flow, origin, &e.loops).is_some();
            if !headed {
                return self.cell(flow, fx, CellKind::Scalar, origin, depth(&own));
            }
        }
        let own = ir::parent(v).and_then(|b| flow.loops.get(&b)).cloned().unwrap_or_default();
        match ir::opcode(v) {
            Some(Op::LLVMPHI) => match self.given.phi_depth(flow, v, &e.loops) {
                Some(d) => self.cell(flow, fx, CellKind::Phi, v, d),
                None => self.cell(flow, fx, CellKind::Scalar, v, depth(&own)),
            },
            _ => self.cell(flow, fx, CellKind::Scalar, v, depth(&own)),
        }
    }

    pub(crate) fn execute(
        &mut self,
        flow: &Flow,
        fx: &mut Effects,
        e: &mut Effect,
        v: Value,
    ) -> Result<(), Fail> {
        check_body(v)?;
        e.tree.insert(self.given.cfg.position(v), v);
        for o in inputs(v).into_iter().chain(self.found.subscript_values(v)) {
            self.resolve(flow, fx, e, o)?;
        }
        Ok(())
    }

    /// An instruction of the subregion that `e` is.
    pub(crate) fn execute_within(
        &mut self,
        flow: &Flow,
        fx: &mut Effects,
        e: &mut Effect,
        v: Value,
    ) -> Result<(), Fail> {
        let phi = ir::opcode(v) == Some(Op::LLVMPHI);
        if !phi {
            check_body(v)?;
        } else if !ir::computable(v) {
            return Err(Fail::at(type_reason(ir::type_of(v), v), v));
        }
        e.tree.insert(self.given.cfg.position(v), v);
        let from = if phi { ir::incoming(v).into_iter().map(|(x, _)| x).collect() } else { inputs(v) };
        for o in from.into_iter().chain(self.found.subscript_values(v)) {
            self.resolve(flow, fx, e, o)?;
        }
        Ok(())
    }

    /// Whether the tree under `v`, which another block computes, gives the same value when computed here.
    pub(crate) fn forwardable(
        &mut self,
        flow: &Flow,
        fx: &Effects,
        e: &Effect,
        v: Value,
        size: &mut usize,
    ) -> Result<bool, Fail> {
        if ir::is_literal(v) || !self.given.defined_inside(v) {
            return Ok(true);
        }
        let block = ir::parent(v).unwrap_or(e.block);
        let own = &flow.loops[&block];
        if common(own, &e.loops) < own.len() {
            return Ok(self.affine_value(flow, v, e.block, &e.domain)?.is_some());
        }
        *size += 1;
        if *size > MAX_FORWARD {
            return Ok(false);
        }
        if self.affine_value(flow, v, e.block, &e.domain)?.is_some() {
            return Ok(true);
        }
        match ir::opcode(v) {
            Some(Op::LLVMPHI) => Ok(true),
            Some(Op::LLVMLoad) if self.found.data_subscripts.contains_key(&v) => Ok(false),
            Some(Op::LLVMLoad) => Ok(check_body(v).is_ok() && !fx.written.contains(&base_of(self, v)?)),
            _ if check_body(v).is_err() || is_expensive(v) => Ok(false),
            _ => {
                for o in inputs(v) {
                    if !self.forwardable(flow, fx, e, o, size)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }
}

impl Given<'_> {
    /// What PHIs of a single value (those that keep loops closed, for one) hand on.
    pub fn origin(&self, flow: &Flow, mut v: Value) -> Value {
        while let (Some(Op::LLVMPHI), true) = (ir::opcode(v), self.defined_inside(v)) {
            let mut values = ir::incoming(v).into_iter().map(|(x, _)| x);
            match values.next() {
                // A subregion's values leave it through the PHIs behind it.
                Some(x) if x != v && values.all(|y| y == x) && !is_within(flow, x) => v = x,
                _ => break,
            }
        }
        v
    }
}

pub(crate) fn is_within(flow: &Flow, v: Value) -> bool {
    ir::parent(v).is_some_and(|b| flow.within.contains_key(&b))
}

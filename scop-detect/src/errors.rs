//! Error blocks: bounds checks, assertions.
//!
//! **Problem.** `a[i]` of a Rust slice is `if i >= a.len() { panic }`: a second exit of the loop. The thesis of Grosser names
//! assuming such exits not taken, with the condition checked before the loop, as future work. Here the branch is a call of
//! [`pollyrs_llvm_shim::CHECK`] when detection sees it, so the loop has one exit, and every iteration that executes the call must satisfy
//! its condition: an [`AssumptionKind::ErrorBlock`]. If the assumption fails, the original loop runs, and panics where it did.
//!
//! Affine conditions become exact assumptions. `i * n + k < len`, the check of a linearised matrix, is not affine; but where
//! the index has no negative coefficient and no negative symbol, its largest value over a rectangular nest is the one at the last
//! iteration of every loop. The host computes that, it is a parameter `last`, and `last < len` suffices.
//!
//! **Invariant.** `last` does not wrap: all symbols, and all trip counts, are assumed to be within the bound that keeps the whole
//! polynomial within its type ([`Builder::bound_products`]).

use crate::builder::{Builder, Fail, Place, Stop};
use crate::domains::{Flow, lift};
use crate::instructions::is_check;
use crate::ir::{self, Block, Op, Pred, Value};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{ScevExpr, ScevKind};
use pollyrs_scop::{AssumptionKind, RejectReason};

const NOTE: &str = "no check in the loop fails";

impl Builder<'_> {
    /// Assumes the checks of a block.
    pub fn checks(&mut self, flow: &Flow, b: Block) -> Result<(), Fail> {
        for call in ir::instructions(b).into_iter().filter(|v| is_check(*v)) {
            let condition = ir::operand(call, 0);
            let place = self.place(flow, b, Some(call))?;
            let failed = match self.condition(condition, &place) {
                Ok(fine) => self.fails(fine, &place),
                Err(Stop::Blocker(b)) => self.largest_index(flow, condition, &place, b),
                Err(e) => Err(e),
            };
            failed.map_err(|s| s.fail(call, |blocker| RejectReason::Condition { blocker }))?;
        }
        Ok(())
    }

    pub fn fails(&mut self, fine: isl::Set, place: &Place) -> Result<(), Stop> {
        let bad = place.domain.clone().subtract(fine)?;
        self.assume(AssumptionKind::ErrorBlock, bad, place, NOTE)
    }

    /// `index <u length` with an index that is a polynomial.
    fn largest_index(
        &mut self,
        flow: &Flow,
        condition: Value,
        place: &Place,
        blocker: String,
    ) -> Result<(), Stop> {
        let blocked = || Err(Stop::Blocker(blocker.clone()));
        if ir::opcode(condition) != Some(Op::LLVMICmp) {
            return blocked();
        }
        let scope = self.scope(condition, place);
        let side = |i: u32| -> ScevExpr { self.an.scev(ir::operand(condition, i), scope) };
        let (index, length) = match ir::icmp_predicate(condition) {
            Pred::LLVMIntULT => (side(0), side(1)),
            Pred::LLVMIntUGT => (side(1), side(0)),
            _ => return blocked(),
        };
        let last = self.an.at_last_iteration(index.handle, &place.loops);
        if last.kind == ScevKind::CouldNotCompute || !self.is_invariant(&last) || index.bits != 64 {
            return blocked();
        }
        let mut quasi = Vec::new();
        let polynomial = self.polynomial(&index, place, &mut quasi)?;
        if !quasi.is_empty() {
            return blocked();
        }
        let bound = self.bound_products(&polynomial, &index, true, place, &quasi)?;
        for (dim, l) in place.loops.iter().enumerate() {
            let Some((_, count)) = flow.entered.get(l) else { return blocked() };
            let count = lift(count.clone(), place.loops.len() - dim)?;
            let over = count.gt_set(self.constant(bound, place)?)?;
            let note = format!("the unsigned or narrow index {} does not wrap", self.describe(&index));
            self.assume(AssumptionKind::NoWrap, over, place, &note)?;
        }
        let length = self.unsigned(&length, place)?;
        let p = self.param(&last)?;
        let fine = self.param_aff(p, place.space()?)?.lt_set(length)?;
        self.fails(fine, place)
    }
}

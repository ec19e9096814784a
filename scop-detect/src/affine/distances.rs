//! Numbers whose difference is affine where they are not.
//!
//! **Problem.** A flat array in rows is often gone through from the begin of a row to its end:
//! `for (k = i * n; k < (i + 1) * n; k++)`. Neither end is affine in `i` and the parameter `n`, and the
//! difference of both is one only as mathematical integers: `n`, if neither product wraps.
//!
//! **Method.** Both are polynomials, congruent to the program's values modulo 2^bits. They are *equal* to
//! them where they lie in the range of the type, which is assumed, and checked by the host with its products.
//! Then the difference is that of the polynomials.

use crate::affine::loop_ends::Below;
use crate::affine::wraps::never_wraps;
use crate::base::builder::Builder;
use crate::base::fail::Stop;
use crate::base::ir::{Block, Pred};
use crate::base::place::Place;
use isl::{PwAff, Set};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{LoopId, ScevExpr, ScevKind};
use pollyrs_scop::AssumptionKind;

/// Steps of a counter.
const MAX_STEP: i128 = 1 << 12;

impl Builder<'_> {
    /// `a - b` as mathematical integers, if it is affine though one of them is a product of what varies; both
    /// as unsigned numbers or both as signed ones. `above` is what can be added to `a` without a wrap.
    fn distance(
        &mut self,
        (a, b): (&ScevExpr, &ScevExpr),
        above: i64,
        unsigned: bool,
        place: &Place,
    ) -> Result<Option<PwAff>, Stop> {
        if a.is_pointer || b.is_pointer || a.bits != b.bits || !matches!(a.bits, 32 | 64) {
            return Ok(None);
        }
        let mut quasi = Vec::new();
        let (p, q) = (self.polynomial(a, place, &mut quasi)?, self.polynomial(b, place, &mut quasi)?);
        let difference = &p - &q;
        if (p.is_affine() && q.is_affine()) || !difference.is_affine() {
            return Ok(None);
        }
        let Some(function) = self.affine_function(&difference, place, &quasi)? else { return Ok(None) };
        for (e, p, above) in [(a, &p, above), (b, &q, 0)] {
            if above == 0 && !unsigned && never_wraps(e) {
                continue;
            }
            let top = if a.bits < 64 { (1i64 << (a.bits - 1)) - 1 } else { i64::MAX };
            let low = if unsigned { 0 } else { -top - 1 };
            let note = format!("{} does not wrap", self.polynomial_text(p, place));
            self.assume_range(AssumptionKind::NoWrap, p, (low, top - above), place, &quasi, &note)?;
        }
        Ok(Some(function))
    }

    /// The backedge-taken count of a loop that goes on while its counter, which steps by a number, is less
    /// than what does not change in it.
    pub fn count_by_distance(
        &mut self,
        exiting: Block,
        l: LoopId,
        place: &Place,
    ) -> Result<Option<PwAff>, Stop> {
        let Some(Below { first, step, end, unsigned, .. }) = self.given.below(exiting, l) else {
            return Ok(None);
        };
        let ScevKind::Constant(by @ 1..=MAX_STEP) = step.kind else { return Ok(None) };
        if !self.given.an.is_loop_invariant(end.handle, l) {
            return Ok(None);
        }
        let by = by as i64;
        let Some(distance) = self.distance((&end, &first), by - 1, unsigned, place)? else { return Ok(None) };
        let rounded = distance.add(self.constant(i128::from(by - 1), place)?)?;
        let count = rounded.scale_down(isl::Val::int(&self.given.ctx, by)?)?.floor()?;
        Ok(Some(count.max(self.constant(0, place)?)?.coalesce()?))
    }

    /// Where the comparison `a pred b` of signed integers holds, none of which is affine.
    pub fn compared_by_distance(
        &mut self,
        pred: Pred,
        (a, b): (&ScevExpr, &ScevExpr),
        place: &Place,
    ) -> Result<Option<Set>, Stop> {
        // A guard in front of all loops is better left outside: what stands beside it was computed by the
        // loop before.
        if place.loops.is_empty() {
            return Ok(None);
        }
        let Some(d) = self.distance((a, b), 0, false, place)? else { return Ok(None) };
        let zero = self.constant(0, place)?;
        Ok(match pred {
            Pred::LLVMIntSGT => Some(d.gt_set(zero)?),
            Pred::LLVMIntSGE => Some(d.ge_set(zero)?),
            Pred::LLVMIntSLT => Some(d.lt_set(zero)?),
            Pred::LLVMIntSLE => Some(d.le_set(zero)?),
            _ => None,
        })
    }
}

//! Conditions of branches as sets of instances.

use crate::base::builder::Builder;
use crate::base::fail::Stop;
use crate::base::ir::{self, Op, Pred, Value};
use crate::base::place::Place;
use isl::{PwAff, Set, Val};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{ScevExpr, ScevKind};

impl Builder<'_> {
    /// The iterations of `place` in which the i1 value `c` is true.
    pub fn condition(&mut self, c: Value, place: &Place) -> Result<Set, Stop> {
        let blocked = |me: &Self| Err(Stop::Blocker(me.condition_name(c)));
        if let Some(v) = ir::constant_int(c) {
            return Ok(if v != 0 { Set::universe(place.space()?)? } else { Set::empty(place.space()?)? });
        }
        let arg = |i| ir::operand(c, i);
        let inside =
            |me: &Self| ir::opcode(c).is_some() && (me.given.defined_inside(c) || ir::int_bits(c) == Some(1));
        match ir::opcode(c) {
            Some(Op::LLVMICmp) if !ir::is_pointer(arg(0)) => self.comparison(c, place),
            Some(Op::LLVMICmp) if matches!(ir::icmp_predicate(c), Pred::LLVMIntEQ | Pred::LLVMIntNE) => {
                let scope = self.given.scope(c, place);
                let (a, b) = (self.given.an.scev(arg(0), scope), self.given.an.scev(arg(1), scope));
                match self.equal(&a, &b, place)? {
                    Some(equal) if ir::icmp_predicate(c) == Pred::LLVMIntEQ => Ok(equal),
                    Some(equal) => Ok(equal.complement()?),
                    None => blocked(self),
                }
            }
            Some(Op::LLVMAnd) => {
                Ok(self.condition(arg(0), place)?.intersect(self.condition(arg(1), place)?)?)
            }
            Some(Op::LLVMOr) => Ok(self.condition(arg(0), place)?.union(self.condition(arg(1), place)?)?),
            Some(Op::LLVMXor) => {
                let (a, b) = (self.condition(arg(0), place)?, self.condition(arg(1), place)?);
                Ok(a.clone().subtract(b.clone())?.union(b.subtract(a)?)?)
            }
            Some(Op::LLVMSelect) => {
                let s = self.condition(arg(0), place)?;
                // The arm that is not selected may be poison: it is only looked at where it is selected.
                let then = Place { domain: place.domain.clone().intersect(s.clone())?, ..place.clone() };
                let other = Place { domain: place.domain.clone().subtract(s.clone())?, ..place.clone() };
                let (a, b) = (self.condition(arg(1), &then)?, self.condition(arg(2), &other)?);
                Ok(a.intersect(s.clone())?.union(b.subtract(s)?)?)
            }
            Some(Op::LLVMFreeze) => self.condition(arg(0), place),
            Some(Op::LLVMTrunc) if inside(self) => {
                let x = self.given.an.scev(arg(0), self.given.scope(c, place));
                let x = self.congruent(&x, place)?.pwa;
                let odd = x.modulo(Val::int(&self.given.ctx, 2)?)?;
                Ok(odd.eq_set(self.constant(1, place)?)?)
            }
            _ => blocked(self),
        }
    }

    pub fn condition_name(&self, c: Value) -> String {
        match ir::opcode(c) {
            Some(Op::LLVMICmp | Op::LLVMFCmp | Op::LLVMTrunc) => ir::operands(c)
                .into_iter()
                .filter(|o| !ir::is_constant(*o))
                // What differs from iteration to iteration, rather than what it is compared with.
                .min_by_key(|o| !self.given.defined_inside(*o))
                .map_or_else(|| self.name_of(c), |o| self.name_of(o)),
            // What conditions are joined of: the first one that is more than a constant.
            Some(Op::LLVMAnd | Op::LLVMOr | Op::LLVMXor | Op::LLVMSelect | Op::LLVMFreeze) => ir::operands(c)
                .into_iter()
                .find(|o| !ir::is_constant(*o) && ir::int_bits(*o) == Some(1))
                .map_or_else(|| self.name_of(c), |o| self.condition_name(o)),
            _ => self.name_of(c),
        }
    }

    pub(crate) fn comparison(&mut self, c: Value, place: &Place) -> Result<Set, Stop> {
        let scope = self.given.scope(c, place);
        let (a, b) =
            (self.given.an.scev(ir::operand(c, 0), scope), self.given.an.scev(ir::operand(c, 1), scope));
        let pred = ir::icmp_predicate(c);
        let signed = [Pred::LLVMIntSGT, Pred::LLVMIntSGE, Pred::LLVMIntSLT, Pred::LLVMIntSLE].contains(&pred);
        let (a, b) = match self.given.both_without_sign(&a, &b).filter(|_| !signed) {
            Some(wide) => wide,
            None => (a, b),
        };
        if matches!(a.kind, ScevKind::CouldNotCompute) || matches!(b.kind, ScevKind::CouldNotCompute) {
            return Err(Stop::Blocker(self.condition_name(c)));
        }
        if matches!(pred, Pred::LLVMIntUGT | Pred::LLVMIntUGE | Pred::LLVMIntULT | Pred::LLVMIntULE) {
            return self.unsigned_comparison(pred, &a, &b, place);
        }
        let zero = |e: &ScevExpr| matches!(e.kind, ScevKind::Constant(0));
        if matches!(pred, Pred::LLVMIntEQ | Pred::LLVMIntNE) && zero(&b) {
            let all_zero = self.is_zero(ir::operand(c, 0), place)?;
            return Ok(if pred == Pred::LLVMIntEQ { all_zero } else { all_zero.complement()? });
        }
        let minus_one = matches!(b.kind, ScevKind::Constant(-1));
        if let Some(Op::LLVMOr | Op::LLVMAnd | Op::LLVMXor) = ir::opcode(ir::operand(c, 0))
            && ((pred == Pred::LLVMIntSLT && zero(&b)) || (pred == Pred::LLVMIntSGT && minus_one))
        {
            let negative = self.is_negative(ir::operand(c, 0), place)?;
            return Ok(if pred == Pred::LLVMIntSLT { negative } else { negative.complement()? });
        }
        let before = (self.assumed.set.clone(), self.assumed.all.clone());
        let both = self.exact(&a, place).and_then(|x| Ok((x, self.exact(&b, place)?)));
        let (x, y) = match both {
            Err(Stop::Blocker(_)) if matches!(pred, Pred::LLVMIntEQ | Pred::LLVMIntNE) => {
                (self.assumed.set, self.assumed.all) = before;
                let equal = self.equal(&a, &b, place)?.ok_or(Stop::Blocker(self.condition_name(c)))?;
                return Ok(if pred == Pred::LLVMIntEQ { equal } else { equal.complement()? });
            }
            Err(Stop::Blocker(why)) => {
                let failed = (self.assumed.set.clone(), self.assumed.all.clone());
                (self.assumed.set, self.assumed.all) = before;
                return match self.compared_by_distance(pred, (&a, &b), place) {
                    Ok(Some(found)) => Ok(found),
                    Err(Stop::Isl(e)) => Err(e.into()),
                    Ok(None) | Err(Stop::Blocker(_)) => {
                        (self.assumed.set, self.assumed.all) = failed;
                        Err(Stop::Blocker(why))
                    }
                };
            }
            both => both?,
        };
        Ok(match pred {
            Pred::LLVMIntEQ => x.eq_set(y)?,
            Pred::LLVMIntNE => x.ne_set(y)?,
            Pred::LLVMIntSGT => x.gt_set(y)?,
            Pred::LLVMIntSGE => x.ge_set(y)?,
            Pred::LLVMIntSLT => x.lt_set(y)?,
            _ => x.le_set(y)?,
        })
    }

    /// Where `a` and `b` are equal, by their difference: it may be affine where neither of them is, as of the
    /// two ends of a row, `i * m` and `(i + 1) * m`. `None` if it is not affine either.
    pub(crate) fn equal(&mut self, a: &ScevExpr, b: &ScevExpr, place: &Place) -> Result<Option<Set>, Stop> {
        // A guard in front of all loops is better left outside: what stands beside it was computed by the
        // loop before.
        if place.loops.is_empty() {
            return Ok(None);
        }
        let null = |e: &ScevExpr| match e.kind {
            ScevKind::Constant(0) => true,
            ScevKind::Unknown(v) => e.is_pointer && ir::is_null_or_undef(v),
            _ => false,
        };
        let difference = match (b.is_pointer && null(a), a.is_pointer && null(b)) {
            (true, _) => self.given.an.not_null(b.handle),
            (_, true) => self.given.an.not_null(a.handle),
            _ => self.given.an.difference(a.handle, b.handle),
        };
        if difference.kind == ScevKind::CouldNotCompute {
            return Ok(None);
        }
        match self.exact(&difference, place) {
            Ok(d) => Ok(Some(d.eq_set(self.constant(0, place)?)?)),
            Err(Stop::Blocker(_)) => Ok(None),
            Err(stop) => Err(stop),
        }
    }

    /// Where `v` is zero. LLVM joins comparisons: `x == 0 && y == n` becomes `(x | (y ^ n)) == 0`.
    pub(crate) fn is_zero(&mut self, v: Value, place: &Place) -> Result<Set, Stop> {
        let arg = |i| ir::operand(v, i);
        let scope = self.given.scope(v, place);
        let whole = self.given.an.scev(v, scope);
        let whole = self.given.without_sign(&whole).unwrap_or(whole);
        match ir::opcode(v) {
            // An addition in disguise is left to scalar evolution.
            Some(Op::LLVMOr) if matches!(whole.kind, ScevKind::Unknown(_)) => {
                Ok(self.is_zero(arg(0), place)?.intersect(self.is_zero(arg(1), place)?)?)
            }
            Some(Op::LLVMXor) if !ir::is_constant(arg(1)) || matches!(whole.kind, ScevKind::Unknown(_)) => {
                let (a, b) = (self.given.an.scev(arg(0), scope), self.given.an.scev(arg(1), scope));
                Ok(self.exact(&a, place)?.eq_set(self.exact(&b, place)?)?)
            }
            _ => Ok(self.exact(&whole, place)?.eq_set(self.constant(0, place)?)?),
        }
    }

    /// Where `v` is negative: the sign of `x | y` is that of either, the sign of `x & y` that of both, and
    /// `x ^ y` is negative where they differ (Fortran's `modulo` asks that).
    pub(crate) fn is_negative(&mut self, v: Value, place: &Place) -> Result<Set, Stop> {
        let arg = |i| ir::operand(v, i);
        let scope = self.given.scope(v, place);
        let whole = self.given.an.scev(v, scope);
        let unseen = matches!(whole.kind, ScevKind::Unknown(_));
        match ir::opcode(v) {
            Some(Op::LLVMOr) if unseen => {
                Ok(self.is_negative(arg(0), place)?.union(self.is_negative(arg(1), place)?)?)
            }
            Some(Op::LLVMAnd) if unseen => {
                Ok(self.is_negative(arg(0), place)?.intersect(self.is_negative(arg(1), place)?)?)
            }
            Some(Op::LLVMXor) if unseen => {
                let (a, b) = (self.is_negative(arg(0), place)?, self.is_negative(arg(1), place)?);
                Ok(a.clone().subtract(b.clone())?.union(b.subtract(a)?)?)
            }
            _ => Ok(self.exact(&whole, place)?.lt_set(self.constant(0, place)?)?),
        }
    }

    /// With `y >= 0`, `x <u y` is `0 <= x < y`: exact whatever the sign of `x`. Only the larger side needs an
    /// assumption.
    pub(crate) fn unsigned_comparison(
        &mut self,
        pred: Pred,
        a: &ScevExpr,
        b: &ScevExpr,
        place: &Place,
    ) -> Result<Set, Stop> {
        let (small, large, strict) = match pred {
            Pred::LLVMIntULT => (a, b, true),
            Pred::LLVMIntULE => (a, b, false),
            Pred::LLVMIntUGT => (b, a, true),
            _ => (b, a, false),
        };
        let zero = self.constant(0, place)?;
        let less = |x: PwAff, y: PwAff| if strict { x.lt_set(y) } else { x.le_set(y) };
        // Numbers below zero are above all others, in their own order: `n - 3 <u -2` says that `n` is neither
        // 1 nor 2.
        let below_zero = |e: &ScevExpr| matches!(e.kind, ScevKind::Constant(c) if c < 0);
        if let ScevKind::Constant(_) = small.kind {
            if below_zero(small) {
                let (c, x) = (self.exact(small, place)?, self.exact(large, place)?);
                return Ok(less(c, x.clone())?.intersect(x.lt_set(zero)?)?);
            }
            // `C <u x`: also true for negative x.
            let (c, x) = (self.unsigned(small, place)?, self.exact(large, place)?);
            return Ok(less(c, x.clone())?.union(x.lt_set(zero)?)?);
        }
        if below_zero(large) {
            let (x, c) = (self.exact(small, place)?, self.exact(large, place)?);
            return Ok(less(x.clone(), c)?.union(x.ge_set(zero)?)?);
        }
        let y = self.unsigned(large, place)?;
        let x = self.exact(small, place)?;
        Ok(less(x.clone(), y)?.intersect(x.ge_set(zero)?)?)
    }
}

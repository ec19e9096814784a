//! The values that an integer computed from data may have: see [`crate::memory::data_subscripts`].
//!
//! **Problem.** `min(max(y, 0), h - 1)` is between 0 and `h - 1` for any `y`, an `unsigned char` below 256,
//! and `best` in `if (…) best = j;` one of the values of `j` before, or what it was set to in front of the
//! loop. Such sets are computed from expressions and instructions, as sets over the iterations and the value.
//!
//! **Invariant.** A set has all values that the program may compute; what is not looked into may be anything.

use crate::base::builder::{Builder, Given};
use crate::base::fail::{Fail, Stop};
use crate::base::flow::Flow;
use crate::base::ir::{self, Op, Value};
use crate::base::place::Place;
use crate::base::scalars::common;
use crate::memory::roundings::rounds;
use isl::{DimType, PwAff, Set};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{ScevExpr, ScevKind};
use pollyrs_scop::{AssumptionKind, RejectReason};
use std::collections::BTreeSet;

/// Types up to this width bound a value by themselves.
const NARROW: u32 = 16;
/// Lists of so many bits are inspected where they can be: a type of 16 bits is a bound for tables of 65536
/// elements, and most that such a list names have fewer. Tables for 8 bits have 256.
const LISTED: u32 = 16;
/// Choices, and sources of a choice.
const MAX_VALUES: usize = 64;
/// Sets with more pieces are taken for their hull.
const MAX_PIECES: u32 = 4;

impl Builder<'_> {
    /// The signed value of `e`, if it is affine whatever the parameters are; what is known before the region
    /// may be assumed not to wrap, and what the counters alone give if that is asked for
    /// ([`crate::memory::data_subscripts::FoundSubscript::assuming`]).
    pub fn affine(&mut self, e: &ScevExpr, place: &Place) -> Result<Option<PwAff>, Fail> {
        let value = match self.given.is_invariant(e) || self.mode.assuming && !self.given.has_unknown(e) {
            true => self.exact(e, place),
            false => self.strictly(|me| me.exact(e, place)),
        };
        match value {
            Ok(f) => Ok(Some(f)),
            Err(Stop::Blocker(_)) => Ok(None),
            Err(Stop::Isl(e)) => Err(e.into()),
        }
    }

    /// What `e` may be at `place`, read as a signed number: `[params] -> { [i..., v] }`.
    pub fn values(&mut self, flow: &Flow, e: &ScevExpr, place: &Place, depth: u32) -> Result<Set, Fail> {
        let d = place.dims() as u32;
        if let Some(f) = self.affine(e, place)? {
            let more = f.insert_dims(DimType::In, d, 1)?;
            let domain = place.domain.clone().add_dims(DimType::Set, 1)?;
            return Ok(self.last(place)?.eq_set(more)?.intersect(domain)?);
        }
        let open =
            e.bits >= 8 && !self.mode.by_type && (self.given.is_rounding(e) || self.given.is_listed(e));
        self.mode.narrow |= open;
        let any = match e.bits {
            0..=NARROW if !open => {
                self.given.between(place, -(1 << (e.bits.max(1) - 1)), (1 << (e.bits.max(1) - 1)) - 1)?
            }
            _ => Set::universe(place.space()?)?.add_dims(DimType::Set, 1)?,
        };
        if depth == 0 {
            return Ok(any);
        }
        match &e.kind {
            ScevKind::SMax(ops) => self.choices(flow, ops, place, depth, PwAff::ge_set),
            ScevKind::SMin(ops) => self.choices(flow, ops, place, depth, PwAff::le_set),
            ScevKind::UMin(ops) => {
                // Not above any operand, if that is not negative.
                let mut all = any;
                for o in ops {
                    let own = self.values(flow, o, place, depth - 1)?;
                    if is_bounded(&own)? && self.not_negative(&own, place)? {
                        // { [i, x, v] : 0 <= v <= x }
                        let pair = own.add_dims(DimType::Set, 1)?;
                        let (x, v) = (self.at(&pair, d)?, self.at(&pair, d + 1)?);
                        let under = v.clone().le_set(x)?.intersect(v.nonneg_set()?)?;
                        all = all.intersect(pair.intersect(under)?.project_out(DimType::Set, d, 1)?)?;
                    }
                }
                Ok(all.coalesce()?)
            }
            ScevKind::ZeroExtend(x) => {
                if self.given.is_listed(x)
                    && let ScevKind::Unknown(v) = x.kind
                {
                    if let Some(values) = self.inspected_naturals(flow, v, place)? {
                        return Ok(values);
                    }
                    if !self.mode.by_type {
                        self.mode.narrow = true;
                        return Ok(any);
                    }
                }
                let own = self.values(flow, x, place, depth - 1)?;
                if let ScevKind::Unknown(v) = x.kind
                    && let Some(natural) = self.rounded_naturals(flow, v, place)?
                {
                    return Ok(natural);
                }
                if self.not_negative(&own, place)? {
                    Ok(own)
                } else if x.bits <= NARROW && (self.mode.by_type || !self.given.is_rounding(x)) {
                    self.given.between(place, 0, (1 << x.bits) - 1)
                } else if (self.is_inspected(&own)? || self.given.is_count(x))
                    && is_bounded(&own)?
                    && self.assume_not_negative(&own, place, &self.describe(x))?
                {
                    Ok(own)
                } else {
                    Ok(any)
                }
            }
            ScevKind::SignExtend(x) => self.values(flow, x, place, depth - 1),
            ScevKind::Unknown(v) if self.given.defined_inside(*v) => {
                self.values_of(flow, *v, place, depth, any)
            }
            ScevKind::Add(_) => match divisor(e) {
                Some(n @ 1..) => self.given.between(place, 0, n - 1),
                _ => Ok(self.sums(flow, e, place, depth)?.unwrap_or(any)),
            },
            _ => Ok(any),
        }
    }

    /// What a value and what is affine may be together, if that does not wrap.
    fn sums(&mut self, flow: &Flow, e: &ScevExpr, place: &Place, depth: u32) -> Result<Option<Set>, Fail> {
        let mut rest: Option<PwAff> = None;
        let mut one = None;
        for o in e.operands() {
            match (self.affine(o, place)?, one) {
                (Some(f), _) => {
                    rest = Some(match rest {
                        None => f,
                        Some(r) => r.add(f)?,
                    });
                }
                (None, None) => one = Some(o),
                (None, Some(_)) => return Ok(None),
            }
        }
        let (Some(rest), Some(x)) = (rest, one) else { return Ok(None) };
        if !e.nsw && !self.never_wraps_here(e) {
            return Ok(None);
        }
        let own = self.values(flow, x, place, depth - 1)?;
        if !is_bounded(&own)? {
            return Ok(None);
        }
        // { [i, x, v] : v = x + rest }
        let d = place.dims() as u32;
        let pair = own.add_dims(DimType::Set, 1)?;
        let sum = self.at(&pair, d)?.add(rest.insert_dims(DimType::In, d, 2)?)?;
        let equal = self.at(&pair, d + 1)?.eq_set(sum)?;
        Ok(Some(pair.intersect(equal)?.project_out(DimType::Set, d, 1)?))
    }

    /// Of an instruction that scalar evolution does not look into; `any` if nothing is known.
    fn values_of(&mut self, flow: &Flow, v: Value, place: &Place, depth: u32, any: Set) -> Result<Set, Fail> {
        let bits = ir::int_bits(v).unwrap_or(64);
        let number = |i| ir::operands(v).get(i).and_then(|o| ir::constant_int(*o)).filter(|c| *c >= 0);
        match (ir::opcode(v), number(1)) {
            (Some(Op::LLVMAnd), Some(mask)) => self.given.between(place, 0, mask),
            (Some(Op::LLVMURem), Some(n @ 1..)) => self.given.between(place, 0, n - 1),
            (Some(Op::LLVMSRem), Some(n @ 1..)) => self.given.between(place, 1 - n, n - 1),
            (Some(Op::LLVMLShr), Some(by)) if by > 0 && i64::from(bits) - by <= i64::from(NARROW) => {
                self.given.between(place, 0, (1 << (i64::from(bits) - by).max(0)) - 1)
            }
            (Some(Op::LLVMLoad), _) => Ok(self.inspected_values(flow, v, place)?.unwrap_or(any)),
            (Some(Op::LLVMURem | Op::LLVMSRem), None) => {
                Ok(self.remainders(flow, v, place, depth)?.unwrap_or(any))
            }
            (Some(Op::LLVMFPToSI | Op::LLVMFPToUI | Op::LLVMCall), _) => {
                Ok(self.rounded_values(flow, v, place)?.unwrap_or(any))
            }
            (Some(Op::LLVMPHI | Op::LLVMSelect | Op::LLVMFreeze), _) => {
                if let Some(values) = self.counted_values(v, place)? {
                    return Ok(values);
                }
                Ok(self.among(flow, v, place, depth)?.unwrap_or(any))
            }
            _ => Ok(any),
        }
    }

    /// What a remainder by a size may be, of what is known to be bounded.
    fn remainders(&mut self, flow: &Flow, v: Value, place: &Place, depth: u32) -> Result<Option<Set>, Fail> {
        let scope = ir::parent(v).and_then(|b| self.given.an.innermost_loop(b));
        let [x, n] = [0, 1].map(|i| self.given.an.scev(ir::operand(v, i), scope));
        if !self.given.is_invariant(&n) {
            return Ok(None);
        }
        let Some(n) = self.affine(&n, place)? else { return Ok(None) };
        let own = self.values(flow, &x, place, depth - 1)?;
        // { [i, x, v] }: where neither is negative.
        if !is_bounded(&own)? || !self.may_be_natural(&own, place)? {
            return Ok(None);
        }
        let d = place.dims() as u32;
        let outside = place.domain.clone().subtract(n.clone().pos_set()?)?;
        match self.assume(
            AssumptionKind::NonNegative,
            outside,
            place,
            "the divisor of a remainder is positive",
        ) {
            Ok(()) => {}
            Err(Stop::Blocker(_)) => return Ok(None),
            Err(Stop::Isl(e)) => return Err(e.into()),
        }
        let n = n.insert_dims(DimType::In, d, 1)?;
        let last = self.last(place)?;
        let below = last.clone().lt_set(n)?.intersect(last.nonneg_set()?)?;
        Ok(Some(below.intersect(place.domain.clone().add_dims(DimType::Set, 1)?)?))
    }

    /// Whether values are not negative, or may be assumed not to be.
    fn may_be_natural(&mut self, values: &Set, place: &Place) -> Result<bool, Fail> {
        Ok(self.not_negative(values, place)?
            || self.is_inspected(values)?
                && self.assume_not_negative(values, place, "the dividend of a remainder")?)
    }

    /// What a choice among values may be; `None` if it is not known.
    fn among(&mut self, flow: &Flow, v: Value, place: &Place, depth: u32) -> Result<Option<Set>, Fail> {
        let d = place.loops.len();
        // Loops whose iterations before may have left the value, and all inside, count for nothing.
        let mut fixed = d;
        let (mut choices, mut sources) = (BTreeSet::new(), Vec::new());
        let mut work = vec![v];
        while let Some(x) = work.pop() {
            if choices.contains(&x) || sources.contains(&x) {
                continue;
            }
            if choices.len() + sources.len() >= MAX_VALUES {
                return Ok(None);
            }
            let choice = match ir::opcode(x) {
                Some(Op::LLVMPHI) if self.given.defined_inside(x) => {
                    let Some(own) = flow.place_of(x) else { return Ok(None) };
                    let scev =
                        self.given.an.scev(x, ir::parent(x).and_then(|b| self.given.an.innermost_loop(b)));
                    if x != v && self.affine(&scev, &own)?.is_some() {
                        None
                    } else {
                        let headed = ir::parent(x).and_then(|b| {
                            let l = self.given.an.innermost_loop(b)?;
                            (self.given.an.loops()[l.0].header == b).then_some(l)
                        });
                        if let Some(at) = headed.and_then(|l| place.loops.iter().position(|o| *o == l)) {
                            fixed = fixed.min(at);
                        }
                        let from: Vec<_> = (ir::incoming(x).into_iter())
                            .filter(|(_, b)| !self.found.excluded.contains(b))
                            .collect();
                        // What comes in from outside, and from in here all the same, is of an execution
                        // before.
                        if from.iter().any(|(y, b)| !self.given.contains(*b) && self.given.defined_inside(*y))
                        {
                            return Ok(None);
                        }
                        Some(from.into_iter().map(|(y, _)| y).collect())
                    }
                }
                Some(Op::LLVMSelect) if self.given.defined_inside(x) => {
                    Some(vec![ir::operand(x, 1), ir::operand(x, 2)])
                }
                Some(Op::LLVMFreeze) if self.given.defined_inside(x) => Some(vec![ir::operand(x, 0)]),
                _ => None,
            };
            match choice {
                Some(next) => {
                    choices.insert(x);
                    work.extend::<Vec<Value>>(next);
                }
                None => sources.push(x),
            }
        }
        let mut all: Option<Set> = None;
        for x in sources {
            let (own, scope) = match self.given.defined_inside(x) {
                true => {
                    let Some(own) = flow.place_of(x) else { return Ok(None) };
                    (own, ir::parent(x).and_then(|b| self.given.an.innermost_loop(b)))
                }
                false => (self.given.before_region(None)?, None),
            };
            let kept = common(&own.loops, &place.loops[..fixed]);
            let scev = self.given.an.scev(x, scope);
            let values = self.values(flow, &scev, &own, depth - 1)?;
            if !is_bounded(&values)? {
                return Ok(None);
            }
            let values = values.project_out(DimType::Set, kept as u32, (own.dims() - kept) as u32)?;
            let values = values.insert_dims(DimType::Set, kept as u32, (place.dims() - kept) as u32)?;
            let here = place.domain.clone().intersect_params(self.context.clone())?;
            let values = values.intersect(here.add_dims(DimType::Set, 1)?)?;
            all = Some(match all {
                None => values,
                Some(a) => a.union(values)?.coalesce()?,
            });
        }
        let Some(all) = all else { return Ok(None) };
        Ok(Some(match all.n_basic_set()? > MAX_PIECES {
            true => Set::from_basic_set(all.simple_hull()?)?,
            false => all,
        }))
    }

    /// The value of an operand than which no other one is better: `better(x, y)` where `x` is as good as `y`.
    fn choices(
        &mut self,
        flow: &Flow,
        ops: &[ScevExpr],
        place: &Place,
        depth: u32,
        better: fn(PwAff, PwAff) -> isl::Result<Set>,
    ) -> Result<Set, Fail> {
        let d = place.dims() as u32;
        let mut all: Option<Set> = None;
        for o in ops {
            let own = self.values(flow, o, place, depth - 1)?;
            all = Some(match all {
                None => own,
                Some(a) => {
                    // { [i, x, y] }
                    let pairs =
                        a.add_dims(DimType::Set, 1)?.intersect(own.insert_dims(DimType::Set, d, 1)?)?;
                    let (x, y) = (self.at(&pairs, d)?, self.at(&pairs, d + 1)?);
                    let first = pairs.clone().intersect(better(x.clone(), y.clone())?)?;
                    let second = pairs.intersect(better(y, x)?)?;
                    let first = first.project_out(DimType::Set, d + 1, 1)?;
                    first.union(second.project_out(DimType::Set, d, 1)?)?.coalesce()?
                }
            });
        }
        all.ok_or_else(|| Fail::new(RejectReason::ControlFlow, self.given.region.entry))
    }

    /// Dimension `d` of the space of `set`.
    fn at(&self, set: &Set, d: u32) -> isl::Result<PwAff> {
        let ls = isl::LocalSpace::from_space(set.space()?)?;
        PwAff::from_aff(isl::Aff::var_on_domain(ls, DimType::Set, d)?)
    }

    /// The dimension of the value behind those of `place`.
    fn last(&self, place: &Place) -> isl::Result<PwAff> {
        let more = Set::universe(place.space()?)?.add_dims(DimType::Set, 1)?;
        self.at(&more, place.dims() as u32)
    }

    pub fn not_negative(&self, values: &Set, place: &Place) -> Result<bool, Fail> {
        let negative = values.clone().intersect_params(self.context.clone())?.upper_bound_val(
            DimType::Set,
            place.dims() as u32,
            isl::Val::int(&self.given.ctx, -1)?,
        )?;
        Ok(negative.is_empty()?)
    }
}

impl Given<'_> {
    /// Whether an integer is rounded from a number that the host may look into.
    fn is_rounding(&self, e: &ScevExpr) -> bool {
        matches!(e.kind, ScevKind::Unknown(v) if self.defined_inside(v) && rounds(v).is_some())
    }

    /// Whether `e` is loaded and has so few bits that its type bounds it, and so many that few tables have as
    /// many elements.
    fn is_listed(&self, e: &ScevExpr) -> bool {
        let loaded = |v: Value| self.defined_inside(v) && ir::opcode(v) == Some(Op::LLVMLoad);
        e.bits == LISTED && matches!(e.kind, ScevKind::Unknown(v) if loaded(v))
    }

    pub fn between(&self, place: &Place, low: i64, high: i64) -> Result<Set, Fail> {
        let d = place.dims() as u32;
        let all = place.domain.clone().add_dims(DimType::Set, 1)?;
        let (low, high) = (isl::Val::int(&self.ctx, low)?, isl::Val::int(&self.ctx, high)?);
        Ok(all.lower_bound_val(DimType::Set, d, low)?.upper_bound_val(DimType::Set, d, high)?)
    }
}

/// The `n` of an unsigned remainder `x % n`, which scalar evolution writes as `x - n * (x /u n)`.
pub(crate) fn divisor(e: &ScevExpr) -> Option<i64> {
    let ScevKind::Add(ops) = &e.kind else { return None };
    let [a, b] = &ops[..] else { return None };
    let of = |x: &ScevExpr, product: &ScevExpr| {
        let ScevKind::Mul(factors) = &product.kind else { return None };
        let [ScevKind::Constant(c), ScevKind::UDiv(y, n)] =
            &factors.iter().map(|f| f.kind.clone()).collect::<Vec<_>>()[..]
        else {
            return None;
        };
        let n = match n.kind {
            ScevKind::Constant(n) if n > 0 && n == -*c && y.handle == x.handle => n,
            _ => return None,
        };
        i64::try_from(n).ok()
    };
    of(a, b).or_else(|| of(b, a))
}

/// Whether the last dimension has both bounds wherever the others are.
pub(crate) fn is_bounded(values: &Set) -> isl::Result<bool> {
    let last = values.dim(DimType::Set)? - 1;
    Ok(values.dim_has_lower_bound(DimType::Set, last)? && values.dim_has_upper_bound(DimType::Set, last)?)
}

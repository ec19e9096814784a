//! Sizes that are the distance of two addresses.
//!
//! **Problem.** The size of a `std::vector` is `(end - begin) / 8`, a quotient that scalar evolution does not
//! see through, and in `a[a.size() - 1 - i]` the division is gone: the offset has `end - begin` bytes. Each
//! address as a parameter is beyond what is believed of sizes, in every process, and nothing would tie the
//! bytes to the size.
//!
//! **Decision.** An address that only occurs in differences is no parameter. The distance of two is a
//! multiple of the parameter for a quotient of it, where the program has one: `8 * size`, or `8 * count + 8`
//! for a loop's count `(end - begin - 8) / 8`. Otherwise it is a parameter itself.
//!
//! **Invariant.** That the distance is this multiple is computed by the host before a launch, from the
//! addresses, in arithmetic whose overflow is checked.

use crate::base::addresses::{address_value, is_address};
use crate::base::builder::{Builder, Given, scaled};
use crate::base::fail::{Fail, Stop};
use crate::base::found::Multiple;
use crate::base::ir::{self, Op, Value};
use crate::base::place::Place;
use isl::{PwAff, Val};
use pollyrs_delinearize::Polynomial;
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{ScevExpr, ScevHandle, ScevKind};
use pollyrs_scop::{AssumptionKind, RejectReason};

/// A sum as multiples of distances, and its other terms.
pub(crate) struct Spanned {
    pub distances: Vec<(i128, ScevExpr)>,
    pub rest: Vec<ScevExpr>,
}

impl Builder<'_> {
    /// A sum with distances of addresses, modulo 2^64, as a polynomial, and what is left of the sum.
    pub fn polynomial_of_spans(
        &mut self,
        ops: &[ScevExpr],
    ) -> Result<Option<(Polynomial, Vec<ScevExpr>)>, Stop> {
        let Some(spanned) = self.given.spanned(ops) else { return Ok(None) };
        let mut sum = Polynomial::zero();
        for (times, distance) in &spanned.distances {
            let Multiple { param, times: by, constant } = self.span(distance)?;
            let size = Polynomial::param(param).scale(i128::from(by));
            sum = &sum + &(&size + &Polynomial::constant(i128::from(constant))).scale(*times);
        }
        Ok(Some((sum, spanned.rest)))
    }

    /// A quotient of a distance that is a multiple of another parameter already.
    pub fn quotient_of_span(&mut self, e: &ScevExpr, place: &Place) -> Result<Option<PwAff>, Stop> {
        let Some((dividend, by)) = self.given.span_divided(e) else { return Ok(None) };
        let Some((distance, more)) = self.given.distance_and_number(&dividend) else { return Ok(None) };
        let Some(Multiple { param, times, constant }) = self.found.spans.get(&distance.handle).copied()
        else {
            return Ok(None);
        };
        if self.params[param].scev.handle == e.handle {
            return Ok(None);
        }
        self.assume_multiple(&distance, Multiple { param, times, constant })?;
        let size = self.given.scale(self.param_aff(param, place.space()?)?, i128::from(times))?;
        let size = size.add(self.constant(i128::from(constant) + i128::from(more), place)?)?;
        if !is_shift(e) {
            let negative = size.clone().lt_set(self.constant(0, place)?)?;
            let note = format!("{} is not negative", self.describe(&dividend));
            self.assume(AssumptionKind::NonNegative, negative, place, &note)?;
        }
        Ok(Some(size.scale_down(Val::int(&self.given.ctx, by)?)?.floor()?))
    }

    /// The parameter that the distance of two addresses is a multiple of.
    pub fn span(&mut self, distance: &ScevExpr) -> Result<Multiple, Stop> {
        if let Some(found) = self.found.spans.get(&distance.handle).copied() {
            // What was assumed since then may have been taken back.
            self.assume_multiple(distance, found)?;
            return Ok(found);
        }
        let known = self.params.iter().enumerate().filter(|(_, p)| !p.inspected);
        let known = known.map(|(index, p)| (index, p.scev.clone())).collect::<Vec<_>>();
        let mut found = known.into_iter().find_map(|(param, e)| {
            let (dividend, times) = self.given.span_divided(&e)?;
            let (of, more) = self.given.distance_and_number(&dividend)?;
            (of.handle == distance.handle).then_some(Multiple { param, times, constant: -more })
        });
        if found.is_none()
            && let Some((quotient, times)) = self.given.quotient_in_program(distance)
        {
            found = self.param(&quotient).ok().map(|param| Multiple { param, times, constant: 0 });
        }
        let found = match found {
            Some(found) => found,
            None => Multiple { param: self.param(distance)?, times: 1, constant: 0 },
        };
        self.assume_multiple(distance, found)?;
        self.found.spans.insert(distance.handle, found);
        Ok(found)
    }

    /// Assumes of all distances that were met what they are multiples of: polynomials that are remembered
    /// rest on it, whatever was taken back since.
    pub fn assume_spans(&mut self) -> Result<(), Fail> {
        let all: Vec<(ScevHandle, Multiple)> = self.found.spans.iter().map(|(d, m)| (*d, *m)).collect();
        for (distance, multiple) in all {
            let Some(bytes) = self.params.iter().position(|p| p.scev.handle == distance) else { continue };
            let distance = self.params[bytes].scev.clone();
            match self.assume_multiple(&distance, multiple) {
                Ok(()) => {}
                Err(Stop::Isl(e)) => return Err(e.into()),
                Err(Stop::Blocker(_)) => {
                    return Err(Fail::new(RejectReason::ControlFlow, self.given.region.entry));
                }
            }
        }
        Ok(())
    }

    /// Assumes that a distance is this multiple of another parameter. No equality enters what isl knows: as a
    /// fraction of the other one each of both would be of no use.
    fn assume_multiple(&mut self, distance: &ScevExpr, multiple: Multiple) -> Result<(), Stop> {
        let Multiple { param, times, constant } = multiple;
        let bytes = self.param(distance)?;
        if bytes == param {
            return Ok(());
        }
        let value = Polynomial::param(param).scale(i128::from(times));
        let value = &value + &Polynomial::constant(i128::from(constant));
        let place = self.given.before_region(None)?;
        let note = format!("{} is {}", self.params[bytes].display, self.polynomial_text(&value, &place));
        self.assume_zero(AssumptionKind::Delinearization, &(&Polynomial::param(bytes) - &value), &note)
    }
}

impl Given<'_> {
    /// Whether `e` is a quotient of a distance of addresses and a number, by a number.
    pub fn is_span_quotient(&self, e: &ScevExpr) -> bool {
        matches!(e.kind, ScevKind::UDiv(..))
            && self.span_divided(e).is_some_and(|(x, _)| self.distance_and_number(&x).is_some())
    }

    /// The terms of a sum that are distances of addresses. `None` where there are none.
    pub fn spanned(&self, ops: &[ScevExpr]) -> Option<Spanned> {
        let mut rest = Vec::new();
        let mut addresses: Vec<(i128, &ScevExpr)> = Vec::new();
        for o in ops {
            let (times, x) = scaled(o);
            match is_address(x) && self.is_invariant(x) {
                true => addresses.push((times, x)),
                false => rest.push(o.clone()),
            }
        }
        let mut distances = Vec::new();
        while let Some(at) = addresses.iter().position(|(times, _)| *times > 0) {
            let (times, end) = addresses.swap_remove(at);
            let opposite = |(n, x): &(i128, &ScevExpr)| *n == -times && is_subtracted(end, x);
            let any = || addresses.iter().position(|(n, _)| *n == -times);
            let begin = addresses.iter().position(opposite).or_else(any)?;
            let (_, begin) = addresses.swap_remove(begin);
            let distance = self.an.difference(end.handle, begin.handle);
            if distance.kind == ScevKind::CouldNotCompute {
                return None;
            }
            distances.push((times, distance));
        }
        (addresses.is_empty() && !distances.is_empty()).then_some(Spanned { distances, rest })
    }

    /// `(x, n)` of the quotient `x / n` of what has a distance of addresses in it, by a number, rounded down;
    /// without sign, if scalar evolution has it.
    fn span_divided(&self, e: &ScevExpr) -> Option<(ScevExpr, i64)> {
        match &e.kind {
            ScevKind::UDiv(x, n) => match n.kind {
                ScevKind::Constant(n) if self.is_invariant(x) => {
                    Some(((**x).clone(), i64::try_from(n).ok().filter(|n| *n > 0)?))
                }
                _ => None,
            },
            ScevKind::Unknown(v) => {
                let (x, n) = divided(*v)?;
                Some((self.an.scev(x, None), n))
            }
            _ => None,
        }
    }

    /// A sum of one distance of addresses and a number.
    fn distance_and_number(&self, e: &ScevExpr) -> Option<(ScevExpr, i64)> {
        let ScevKind::Add(ops) = &e.kind else { return None };
        let Spanned { distances, rest } = self.spanned(ops)?;
        let [(1, distance)] = &distances[..] else { return None };
        let number = match &rest[..] {
            [] => 0,
            [ScevExpr { kind: ScevKind::Constant(c), .. }] => i64::try_from(*c).ok()?,
            _ => return None,
        };
        Some((distance.clone(), number))
    }

    /// A quotient of a distance that the program has computed before the region, and by what.
    fn quotient_in_program(&self, distance: &ScevExpr) -> Option<(ScevExpr, i64)> {
        let ScevKind::Add(ops) = &distance.kind else { return None };
        let address = ops.iter().map(|o| scaled(o).1).find_map(address_value)?;
        let entry = self.region.entry;
        let before = |v: &Value| {
            let at = ir::parent(*v);
            !self.defined_inside(*v) && at.is_some_and(|b| self.an.dominates(b, entry))
        };
        let users = |v: Value| ir::uses(v).into_iter().map(|(user, _)| user);
        let casts = users(address).filter(|u| ir::opcode(*u) == Some(Op::LLVMPtrToInt));
        let numbers: Vec<Value> = casts.chain([address]).collect();
        let sums = numbers.into_iter().flat_map(users).filter(|u| ir::opcode(*u) == Some(Op::LLVMSub));
        let mut quotients = sums.flat_map(users).filter(before).filter_map(|q| {
            let (x, by) = divided(q)?;
            (self.an.scev(x, None).handle == distance.handle).then(|| (self.an.scev(q, None), by))
        });
        quotients.next()
    }
}

/// Whether the program computes `end - begin` somewhere.
fn is_subtracted(end: &ScevExpr, begin: &ScevExpr) -> bool {
    let (Some(end), Some(begin)) = (address_value(end), address_value(begin)) else { return false };
    let source = |v: Value| match ir::opcode(v) {
        Some(Op::LLVMPtrToInt) => ir::operand(v, 0),
        _ => v,
    };
    let numbers = |v: Value| {
        let casts = ir::uses(v).into_iter().map(|(u, _)| u);
        casts.filter(|u| ir::opcode(*u) == Some(Op::LLVMPtrToInt)).chain([v])
    };
    numbers(end).any(|e| {
        ir::uses(e).into_iter().any(|(user, _)| {
            ir::opcode(user) == Some(Op::LLVMSub) && source(ir::operand(user, 1)) == source(begin)
        })
    })
}

/// Whether `e` is a quotient that is rounded down whatever the sign.
fn is_shift(e: &ScevExpr) -> bool {
    matches!(e.kind, ScevKind::Unknown(v) if ir::opcode(v) == Some(Op::LLVMAShr))
}

/// `(x, n)` of an instruction that divides `x` by the number `n` and that scalar evolution takes for a black
/// box, where nothing is lost: `(end - begin) / 8` of elements of 8 bytes.
fn divided(v: Value) -> Option<(Value, i64)> {
    let n = ir::constant_int(ir::operands(v).get(1).copied()?)?;
    match ir::opcode(v) {
        Some(Op::LLVMAShr) if (1..32).contains(&n) => Some((ir::operand(v, 0), 1 << n)),
        Some(Op::LLVMSDiv) if (1..1 << 32).contains(&n) => Some((ir::operand(v, 0), n)),
        _ => None,
    }
}

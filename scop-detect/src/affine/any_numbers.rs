//! Numbers that may be any of their type: random ones, hashes, sets of bits.
//!
//! **Problem.** `n = random() % 200` is a fine length, but scalar evolution writes it as
//! `x - 200 * (x / 200)`. With the number `x` as a parameter, which has to be less than [`WIDE_BOUND`] and
//! not negative where it is read without a sign, the loop would be called offloaded and never run.
//!
//! What is taken from such a number is a parameter instead: `x / n`, its low bits, a remainder.
//! `300 + 2 x - 10 (x / 5)` is `300 + 2 p` with `p = x - 5 (x / 5)`. So is the remainder of any number that
//! no loop changes by a size: with rows of `n`, `a[k % n]` would be `a[-(k / n)][k]`, for `k < n` only.
//!
//! What tells these numbers from sizes, of which `n - n % 4` is wanted as what it is, is a guess: it chooses
//! parameters, and nothing that is proved or checked depends on it.

use crate::base::builder::scaled;
use crate::base::builder::{Builder, Given};
use crate::base::fail::Stop;
use crate::base::found::WIDE_BOUND;
use crate::base::ir::{self, Op, Value};
use pollyrs_delinearize::Polynomial;
use pollyrs_llvm_shim::{ScevExpr, ScevHandle, ScevKind};

/// A sum is `by` times a remainder, and the rest.
pub(crate) struct Taken {
    pub remainder: ScevExpr,
    /// What the remainder is less than, if that is a number.
    pub below: Option<i128>,
    pub by: i64,
    pub rest: Vec<ScevExpr>,
}

impl Builder<'_> {
    /// Whether `e`, which does not change, is a parameter as a whole: a quotient or the low bits of a number
    /// that may be any.
    pub fn is_part(&mut self, e: &ScevExpr) -> bool {
        match &e.kind {
            ScevKind::UDiv(x, _) => self.may_be_any(x),
            // Types that are no power of two wide are masks.
            ScevKind::ZeroExtend(x) if !matches!(x.bits, 8 | 16 | 32 | 64) => self.contains_any(x),
            ScevKind::ZeroExtend(x) => self.may_be_any(x),
            _ => false,
        }
    }

    /// Whether nothing bounds `e`, which is made of a number that may be any.
    fn may_be_any(&mut self, e: &ScevExpr) -> bool {
        self.given.is_wide(e) && self.is_scrambled(e)
    }

    fn is_scrambled(&mut self, e: &ScevExpr) -> bool {
        if let Some(known) = self.memo.any_numbers.get(&e.handle) {
            return *known;
        }
        let huge = |o: &ScevExpr| matches!(o.kind, ScevKind::Constant(c) if is_multiplier(c, e.bits));
        let found = match &e.kind {
            ScevKind::Unknown(v) => self.given.is_any_number(*v),
            ScevKind::Add(ops) => match self.remainder(ops) {
                Some(_) => false,
                None => ops.iter().any(|o| huge(o) || self.is_scrambled(o)),
            },
            ScevKind::Mul(ops) => ops.iter().any(|o| huge(o) || self.is_scrambled(o)),
            ScevKind::UDiv(x, _) | ScevKind::Truncate(x) => self.is_scrambled(x),
            _ => false,
        };
        self.memo.any_numbers.insert(e.handle, found);
        found
    }

    /// Whether a number that may be any is in `e`.
    fn contains_any(&mut self, e: &ScevExpr) -> bool {
        self.is_scrambled(e) || e.operands().into_iter().any(|o| self.contains_any(o))
    }

    /// The remainder of a number that may be any that is in a sum, and how often. (Its type may be a wider
    /// one.)
    fn remainder(&mut self, ops: &[ScevExpr]) -> Option<Taken> {
        for o in ops {
            let found = quotient_times_divisor(o).or_else(|| quotient_of_quotient(o, ops));
            let Some(Multiple { dividend, quotient, divisor, times }) = found else { continue };
            // A number of 32 bits is no parameter as a product, either.
            let narrow = matches!(divisor, Divisor::Value(_)) && self.is_scrambled(extended(dividend));
            // What no loop changes is a place in a ring, or what is left of a size.
            let settled = matches!(divisor, Divisor::Value(_)) && self.given.is_invariant(dividend);
            if !(narrow || settled || self.may_be_any(dividend)) || !self.given.is_invariant(o) {
                continue;
            }
            let by = i64::try_from(-times).ok().filter(|by| *by != 0)?;
            let product = match divisor {
                Divisor::Number(n) => (quotient.handle, i64::try_from(-n).ok()?),
                Divisor::Value(n) if n.bits == 64 => {
                    (self.given.an.product(&[n.handle, quotient.handle]).handle, -1)
                }
                // The product is a term of the sum.
                Divisor::Value(n) if n.bits == o.bits && by.abs() == 1 => (o.handle, by),
                Divisor::Value(_) => continue,
            };
            let remainder = self.given.an.sum(&[(dividend.handle, 1), product]);
            if remainder.kind != ScevKind::CouldNotCompute {
                let below = match divisor {
                    Divisor::Number(n) => Some(n),
                    Divisor::Value(_) => None,
                };
                return Some(Taken { remainder, below, by, rest: Vec::new() });
            }
        }
        self.spread_remainder(ops)
    }

    /// The same by a divisor that scalar evolution has multiplied out, or narrowed:
    /// `x - (x / (m + 1)) - m * (x / (m + 1))`.
    fn spread_remainder(&mut self, ops: &[ScevExpr]) -> Option<Taken> {
        for o in ops {
            let (by, x) = scaled(o);
            let x = extended(widened(x));
            let quotient = ops.iter().flat_map(factors).map(widened).find(|core| {
                matches!(&core.kind, ScevKind::UDiv(dividend, n) if extended(dividend).handle == x.handle
                    && !matches!(n.kind, ScevKind::Constant(_)))
            });
            let Some(ScevExpr { kind: ScevKind::UDiv(x, n), handle, .. }) = quotient else { continue };
            if n.bits != 64 || !self.is_scrambled(extended(x)) || !self.given.is_invariant(o) {
                continue;
            }
            let product = self.given.an.product(&[n.handle, *handle]);
            let remainder = self.given.an.sum(&[(x.handle, 1), (product.handle, -1)]);
            if remainder.kind != ScevKind::CouldNotCompute {
                let by = i64::try_from(by).ok()?;
                return Some(Taken { remainder, below: None, by, rest: Vec::new() });
            }
        }
        None
    }

    /// What a sum takes from a number that may be any. The rest has fewer quotients.
    pub fn taken_terms(&mut self, e: &ScevExpr) -> Option<Taken> {
        let ScevKind::Add(ops) = &e.kind else { return None };
        let found = self.remainder(ops)?;
        let (mut rest, integers): (Vec<ScevExpr>, Vec<ScevExpr>) =
            ops.iter().cloned().partition(|o| o.is_pointer);
        let mut terms: Vec<(ScevHandle, i64)> = integers.iter().map(|o| (o.handle, 1)).collect();
        terms.push((found.remainder.handle, found.by.checked_neg()?));
        let others = self.given.an.sum(&terms);
        let fewer = quotients(&others) < integers.iter().map(quotients).sum();
        if others.kind == ScevKind::CouldNotCompute || !fewer {
            return None;
        }
        rest.push(others);
        Some(Taken { rest, ..found })
    }

    /// The parameter for the remainder.
    pub fn taken_param(&mut self, found: &Taken) -> Result<usize, Stop> {
        let parameter = self.param(&found.remainder)?;
        if let Some(n) = found.below {
            self.within(parameter, 0, n - 1)?;
        }
        Ok(parameter)
    }

    /// A sum with such a remainder as a polynomial, and what is left of the sum.
    pub fn polynomial_taken(&mut self, e: &ScevExpr) -> Result<Option<(Polynomial, Vec<ScevExpr>)>, Stop> {
        let Some(found) = self.taken_terms(e) else { return Ok(None) };
        let parameter = Polynomial::param(self.taken_param(&found)?);
        Ok(Some((parameter.scale(i128::from(found.by)), found.rest)))
    }
}

impl Given<'_> {
    /// Whether its range says less of a number than a parameter has to keep.
    fn is_wide(&self, e: &ScevExpr) -> bool {
        let (least, most) = self.an.signed_range(e.handle);
        match e.bits {
            64 => least < -WIDE_BOUND || most > WIDE_BOUND,
            32 => least < i64::from(i32::MIN / 2) && most > i64::from(i32::MAX / 2),
            _ => false,
        }
    }

    /// A value that is made or used as only random numbers, hashes and sets of bits are, or of which all uses
    /// want a part.
    fn is_any_number(&self, v: Value) -> bool {
        if !matches!(ir::int_bits(v), Some(32 | 64)) || self.defined_inside(v) {
            return false;
        }
        let uses = ir::uses(v);
        scrambles(v)
            || uses.iter().any(|(u, _)| scrambles(*u))
            || (!uses.is_empty() && uses.iter().all(|(u, _)| divides(*u, v)))
    }
}

/// `times` the product of a quotient and its divisor.
struct Multiple<'e> {
    dividend: &'e ScevExpr,
    quotient: &'e ScevExpr,
    divisor: Divisor<'e>,
    times: i128,
}

enum Divisor<'e> {
    Number(i128),
    Value(&'e ScevExpr),
}

/// `k * n * (x / n)`, or that of narrower numbers.
fn quotient_times_divisor(e: &ScevExpr) -> Option<Multiple<'_>> {
    let (times, core) = scaled(e);
    let quotient = widened(core);
    if let ScevKind::UDiv(dividend, n) = &quotient.kind
        && let ScevKind::Constant(n) = n.kind
    {
        return (n > 0 && times % n == 0).then_some(Multiple {
            dividend,
            quotient,
            divisor: Divisor::Number(n),
            times: times / n,
        });
    }
    let ScevKind::Mul(factors) = &e.kind else { return None };
    let quotient = factors.iter().map(widened).find(|f| matches!(f.kind, ScevKind::UDiv(..)))?;
    let ScevKind::UDiv(dividend, n) = &quotient.kind else { return None };
    let others: Vec<&ScevExpr> =
        factors.iter().map(widened).filter(|f| f.handle != quotient.handle).collect();
    let times = match others[..] {
        [by] if by.handle == n.handle => 1,
        [ScevExpr { kind: ScevKind::Constant(k), .. }, by] if by.handle == n.handle => *k,
        _ => return None,
    };
    Some(Multiple { dividend, quotient, divisor: Divisor::Value(n), times })
}

/// `k * n * (y / (m n))` beside `-k (y / m)`, which is the quotient of that by `n`.
fn quotient_of_quotient<'e>(e: &'e ScevExpr, ops: &'e [ScevExpr]) -> Option<Multiple<'e>> {
    let by_number = |e: &'e ScevExpr| {
        let (times, core) = scaled(e);
        let quotient = widened(core);
        let ScevKind::UDiv(y, m) = &quotient.kind else { return None };
        let ScevKind::Constant(m) = m.kind else { return None };
        (m > 0).then_some((times, quotient, y, m))
    };
    let (times, quotient, y, whole) = by_number(e)?;
    ops.iter().filter_map(by_number).find_map(|(k, dividend, x, m)| {
        let n = whole / m;
        (x.handle == y.handle && whole % m == 0 && n > 1 && times == -k * n).then_some(Multiple {
            dividend,
            quotient,
            divisor: Divisor::Number(n),
            times: -k,
        })
    })
}

/// The factors of a product.
fn factors(e: &ScevExpr) -> &[ScevExpr] {
    match &e.kind {
        ScevKind::Mul(factors) => factors,
        _ => std::slice::from_ref(e),
    }
}

/// What was extended.
fn extended(e: &ScevExpr) -> &ScevExpr {
    match &e.kind {
        ScevKind::ZeroExtend(x) => x,
        _ => e,
    }
}

/// What was narrowed.
fn widened(e: &ScevExpr) -> &ScevExpr {
    match &e.kind {
        ScevKind::Truncate(x) => x,
        _ => e,
    }
}

/// Whether `u` takes a part of `v`.
fn divides(u: Value, v: Value) -> bool {
    match ir::opcode(u) {
        Some(Op::LLVMUDiv | Op::LLVMURem | Op::LLVMAnd) => true,
        Some(Op::LLVMLShr) => ir::operand(u, 0) == v,
        Some(Op::LLVMTrunc) => {
            let uses = ir::uses(u);
            !uses.is_empty() && uses.iter().all(|(w, _)| ir::opcode(*w) == Some(Op::LLVMAnd))
        }
        _ => false,
    }
}

/// Whether `u` is an operation after which a number may be any: an exclusive or, a rotation, a product by a
/// multiplier of a generator.
fn scrambles(u: Value) -> bool {
    let constant = |i| ir::constant_int(ir::operand(u, i));
    match ir::opcode(u) {
        // (Two signs are compared by an exclusive or as well.)
        Some(Op::LLVMXor) => {
            let compared = |(w, _): &(Value, _)| ir::opcode(*w) == Some(Op::LLVMICmp);
            constant(1) != Some(-1) && !ir::uses(u).iter().all(compared)
        }
        Some(Op::LLVMMul) => {
            constant(1).is_some_and(|c| is_multiplier(i128::from(c), ir::int_bits(u).unwrap_or(0)))
        }
        Some(Op::LLVMCall) => ir::callee(u).is_some_and(|f| {
            let name = ir::name(f);
            ["llvm.fsh", "llvm.bswap", "llvm.bitreverse"].iter().any(|n| name.starts_with(n))
        }),
        _ => false,
    }
}

/// Multipliers of congruential generators are odd and large (Knuth, The Art of Computer Programming, volume
/// 2, 3.2.1.2); sizes are not multiplied by such.
fn is_multiplier(c: i128, bits: u32) -> bool {
    let least = match bits {
        64 => i128::from(WIDE_BOUND),
        32 => 1 << 16,
        _ => return false,
    };
    c % 2 != 0 && c.abs() > least
}

/// How many divisions there are in an expression.
fn quotients(e: &ScevExpr) -> usize {
    usize::from(matches!(e.kind, ScevKind::UDiv(..))) + e.operands().into_iter().map(quotients).sum::<usize>()
}

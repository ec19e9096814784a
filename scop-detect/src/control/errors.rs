//! Error blocks: bounds checks, assertions.
//!
//! **Problem.** `a[i]` of a Rust slice is `if i >= a.len() { panic }`: a second exit of the loop. The thesis
//! of Grosser names assuming such exits not taken, with the condition checked before the loop, as future
//! work. Here the branch is a call of [`pollyrs_llvm_shim::CHECK`] when detection sees it, so the loop has
//! one exit, and every iteration that executes the call must satisfy its condition: an
//! [`AssumptionKind::ErrorBlock`]. If the assumption fails, the original loop runs, and panics where it did.
//!
//! Affine conditions become assumptions as they are. `i * n + k < len`, the check of a linearised matrix, is
//! not affine. It is bounded: where an index is affine in each counter, with a factor that has one sign, it
//! is largest at one end of the counter's range. What is left is a polynomial in parameters; each of its
//! products becomes a parameter, which the host computes, and the condition is affine in those.
//! `0 <= i < n, 0 <= k < n` leave `nn - 1 < len` with `nn = n * n`. An index in pieces (`k` or its neighbour,
//! at a border) has to be in range in each of them.
//!
//! A condition on what the loop loads or computes (`if (w <= 0) exit(1)`) is no assumption: the device
//! evaluates it, and sets the SCoP's fault cell where it does not hold ([`pollyrs_scop::ArrayKind::Fault`]).
//! Then nothing of what it computed counts, and the original loop runs.
//!
//! **Invariant.** Nothing wraps: all symbols are assumed to be within the bound that keeps the whole
//! polynomial within its type ([`Builder::bound_products`]), and so are the products.

use crate::base::builder::{Builder, Found};
use crate::base::fail::{Fail, Stop};
use crate::base::flow::Flow;
use crate::base::instructions::is_check;
use crate::base::ir::{self, Block, Op, Pred, Value};
use crate::base::place::Place;
use isl::{DimType, Map, PwAff, Val};
use pollyrs_delinearize::{Polynomial, Symbol};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{LoopId, ScevExpr, ScevKind};
use pollyrs_scop::{AssumptionKind, RejectReason};

/// What a check of a subscript against a length depends on that each iteration loads.
const ROW: &str = "the length of a row (loaded in each iteration)";
const NOTE: &str = "no check in the loop fails";
/// Conditions joined by `and` are looked into this deep.
const MAX_DEPTH: u32 = 8;
/// A check that falls into more cases is not looked at.
const MAX_CASES: usize = 9;

impl Builder<'_> {
    /// Assumes the checks of a block.
    pub fn checks(&mut self, flow: &Flow, b: Block) -> Result<(), Fail> {
        for call in ir::instructions(b).into_iter().filter(|v| is_check(*v)) {
            let place = flow.place(b, Some(call))?;
            self.check_or_report(call, &place, &place.loops)?;
        }
        Ok(())
    }

    /// Assumes that the condition of a check holds at `place`, or lets the device report where it does not.
    /// `counted` are loops whose iterations the model counts, though scalar evolution may not.
    pub fn check_or_report(&mut self, call: Value, place: &Place, counted: &[LoopId]) -> Result<(), Fail> {
        let condition = ir::operand(call, 0);
        let blocker = match self.check(condition, place) {
            Ok(()) => return Ok(()),
            Err(Stop::Isl(e)) => return Err(e.into()),
            Err(Stop::Blocker(blocker)) => blocker,
        };
        if self.compares_length(condition) {
            return Err(Fail::at(RejectReason::Check { blocker: ROW.to_string() }, call));
        }
        match self.obstacle_to_reports(counted) {
            Some(obstacle) => {
                let obstacle = obstacle.to_string();
                Err(Fail::at(RejectReason::CheckBeside { blocker, obstacle }, call))
            }
            None => {
                self.found.reported.insert(call);
                Ok(())
            }
        }
    }

    /// What keeps checks that depend on data from being reported by the device. The iterations behind the one
    /// that fails run there all the same, so that nothing in the region may trap or go on without an end
    /// because of that. (That no address may depend on data is seen later.)
    fn obstacle_to_reports(&self, counted: &[LoopId]) -> Option<&'static str> {
        let divides = |v: &Value| {
            let division =
                matches!(ir::opcode(*v), Some(Op::LLVMSDiv | Op::LLVMUDiv | Op::LLVMSRem | Op::LLVMURem));
            division && ir::constant_int(ir::operand(*v, 1)).is_none_or(|c| c <= 0)
        };
        let open = |b: &Block| {
            self.given.an.innermost_loop(*b).is_some_and(|l| {
                self.given.inside(l)
                    && !counted.contains(&l)
                    && self.given.an.backedge_taken_count(l).kind == ScevKind::CouldNotCompute
            })
        };
        let mut blocks = self.given.region.blocks.difference(&self.found.excluded);
        blocks.find_map(|b| match ir::instructions(*b).iter().any(divides) {
            true => Some("an integer is divided by one that may be 0"),
            false => open(b).then_some("a loop ends by data"),
        })
    }

    /// Whether a check compares a subscript with what is loaded in each iteration, as the length of one
    /// vector among others.
    fn compares_length(&self, condition: Value) -> bool {
        let loads = |v: Value| ir::opcode(v) == Some(Op::LLVMLoad);
        // (Before an inner loop it is loaded under the condition that the loop runs.)
        let length = |v: Value| {
            loads(v) || ir::opcode(v) == Some(Op::LLVMPHI) && ir::operands(v).into_iter().any(loads)
        };
        ir::opcode(condition) == Some(Op::LLVMICmp)
            && ir::icmp_predicate(condition) == Pred::LLVMIntULT
            && length(ir::operand(condition, 1))
            && !loads(ir::operand(condition, 0))
    }

    /// Assumes that `condition` holds wherever it is evaluated.
    pub fn check(&mut self, condition: Value, place: &Place) -> Result<(), Stop> {
        let before = (self.assumed.set.clone(), self.assumed.all.clone());
        match self.condition(condition, place) {
            Ok(fine) => {
                let bad = place.domain.clone().subtract(fine)?;
                self.assume(AssumptionKind::ErrorBlock, bad, place, NOTE)
            }
            Err(Stop::Blocker(blocker)) => {
                (self.assumed.set, self.assumed.all) = before;
                if self.holds_at_ends(condition, place, MAX_DEPTH)? {
                    Ok(())
                } else {
                    Err(Stop::Blocker(blocker))
                }
            }
            Err(e) => Err(e),
        }
    }

    /// Assumes what suffices for `condition`, comparisons of polynomials joined by `and`. `false` if that is
    /// not possible.
    fn holds_at_ends(&mut self, condition: Value, place: &Place, depth: u32) -> Result<bool, Stop> {
        let arg = |i| ir::operand(condition, i);
        let is_false = |v: Value| ir::constant_int(v) == Some(0);
        let both = match ir::opcode(condition) {
            Some(Op::LLVMAnd) => true,
            Some(Op::LLVMSelect) => is_false(arg(2)),
            _ => false,
        };
        if both && depth > 0 {
            for c in [arg(0), arg(1)] {
                match self.strictly(|me| me.condition(c, place)) {
                    Err(Stop::Isl(e)) => return Err(e.into()),
                    Ok(fine) => {
                        let bad = place.domain.clone().subtract(fine)?;
                        self.assume(AssumptionKind::ErrorBlock, bad, place, NOTE)?;
                    }
                    Err(Stop::Blocker(_)) if !self.holds_at_ends(c, place, depth - 1)? => return Ok(false),
                    Err(Stop::Blocker(_)) => {}
                }
            }
            return Ok(true);
        }
        if ir::opcode(condition) != Some(Op::LLVMICmp) || ir::is_pointer(arg(0)) {
            return Ok(false);
        }
        // `low < high`, or `low <= high`.
        let predicate = ir::icmp_predicate(condition);
        let unsigned =
            matches!(predicate, Pred::LLVMIntULT | Pred::LLVMIntULE | Pred::LLVMIntUGT | Pred::LLVMIntUGE);
        let (low, high, strict) = match predicate {
            Pred::LLVMIntULT | Pred::LLVMIntSLT => (0, 1, true),
            Pred::LLVMIntULE | Pred::LLVMIntSLE => (0, 1, false),
            Pred::LLVMIntUGT | Pred::LLVMIntSGT => (1, 0, true),
            Pred::LLVMIntUGE | Pred::LLVMIntSGE => (1, 0, false),
            _ => return Ok(false),
        };
        let scope = self.given.scope(condition, place);
        let (mut sides, mut quasi) = (Vec::new(), Vec::new());
        for i in [low, high] {
            let e = self.given.an.scev(ir::operand(condition, i), scope);
            match self.exact_polynomial(&e, place, &mut quasi)? {
                Some(p) => sides.push(p),
                None => return Ok(false),
            }
        }
        let between = &(&sides[1] - &sides[0]) - &Polynomial::constant(i128::from(strict));
        let mut needed = vec![between];
        if unsigned {
            needed.push(sides[0].clone());
        }
        for p in needed {
            let Some(cases) = self.cases(p, place, &quasi)? else { return Ok(false) };
            for (p, domain) in cases {
                let Some(least) = self.least(p, &domain, place)? else { return Ok(false) };
                let bad = least.lt_set(self.constant(0, place)?)?;
                self.assume(AssumptionKind::ErrorBlock, bad, place, NOTE)?;
            }
        }
        Ok(true)
    }

    /// The polynomial whose value is the signed value of `e`; what is in pieces in it (the neighbour of a
    /// border's cell) is added to `quasi`.
    fn exact_polynomial(
        &mut self,
        e: &ScevExpr,
        place: &Place,
        quasi: &mut Vec<PwAff>,
    ) -> Result<Option<Polynomial>, Stop> {
        if e.kind == ScevKind::CouldNotCompute || !matches!(e.bits, 32 | 64) {
            return Ok(None);
        }
        let p = match self.polynomial(e, place, quasi) {
            Ok(p) => p,
            Err(Stop::Blocker(_)) => return Ok(None),
            Err(stop) => return Err(stop),
        };
        self.bound_products(&p, e, false, place, quasi)?;
        Ok(Some(p))
    }

    /// `p` with what is in pieces replaced by each piece, and the iterations where it is that.
    fn cases(
        &mut self,
        p: Polynomial,
        place: &Place,
        quasi: &[PwAff],
    ) -> Result<Option<Vec<(Polynomial, isl::Set)>>, Stop> {
        let known = self.known()?;
        let mut cases = vec![(p, place.domain.clone().intersect_params(known)?)];
        for (d, function) in quasi.iter().enumerate() {
            let mut next = Vec::new();
            for (p, domain) in cases {
                let powers = p.powers_of(Symbol::Iter(place.dims() + d));
                if powers.keys().all(|power| *power == 0) {
                    next.push((p, domain));
                    continue;
                }
                let total = domain.clone().subtract(function.clone().domain()?)?.is_empty()?;
                if !total || powers.keys().any(|power| *power > 1) {
                    return Ok(None);
                }
                let part = |power| powers.get(&power).cloned().unwrap_or_default();
                for (there, piece) in function.pieces()? {
                    let domain = domain.clone().intersect(there)?;
                    if domain.is_empty()? {
                        continue;
                    }
                    let Some(value) = self.as_polynomial(&PwAff::from_aff(piece)?)? else { return Ok(None) };
                    next.push((&part(0) + &(&part(1) * &value), domain));
                }
            }
            cases = next;
            if cases.len() > MAX_CASES {
                return Ok(None);
            }
        }
        Ok(Some(cases))
    }

    /// The least value of `p` over the iterations of `domain`, some of those of `place`, or a smaller one, as
    /// a function of parameters. Inner counters first.
    fn least(&mut self, mut p: Polynomial, domain: &isl::Set, place: &Place) -> Result<Option<PwAff>, Stop> {
        for d in (0..place.loops.len()).rev() {
            let powers = p.powers_of(Symbol::Iter(d));
            let Some(factor) = powers.get(&1).cloned() else { continue };
            if factor.involves_iters() || powers.keys().any(|k| *k > 1) {
                return Ok(None);
            }
            let Some(rises) = self.sign(&factor, place)? else { return Ok(None) };
            // Of counters further out the ends may depend.
            let inner = (place.loops.len() - d - 1) as u32;
            let range = domain.clone().project_out(DimType::Set, d as u32 + 1, inner)?;
            let range = Map::from_range(range)?.move_dims(DimType::In, 0, DimType::Out, 0, d as u32)?;
            let end = if rises { range.dim_min(0)? } else { range.dim_max(0)? };
            let pieces = end.pieces()?;
            let [(_, end)] = &pieces[..] else { return Ok(None) };
            let Some(end) = self.as_polynomial(&PwAff::from_aff(end.clone())?)? else { return Ok(None) };
            let rest = powers.get(&0).cloned().unwrap_or_default();
            p = &rest + &(&factor * &end);
        }
        self.affine_in_products(&p, place).map(Some)
    }

    /// Whether a polynomial in parameters is not negative; it is assumed to have the sign that it has where
    /// all sizes are alike. `None` if it has none there.
    fn sign(&mut self, p: &Polynomial, place: &Place) -> Result<Option<bool>, Stop> {
        if let Some(c) = p.as_constant() {
            return Ok(Some(c >= 0));
        }
        let Some(typical) = p.eval(|_| 1 << 12) else { return Ok(None) };
        if typical == 0 {
            return Ok(None);
        }
        let value = self.affine_in_products(p, place)?;
        let zero = self.constant(0, place)?;
        let bad = if typical > 0 { value.lt_set(zero)? } else { value.gt_set(zero)? };
        self.assume(AssumptionKind::NoWrap, bad, place, "sizes are not negative")?;
        Ok(Some(typical > 0))
    }

    /// Assumes that the product of some parameters does not wrap in 64 bits.
    fn product_fits(&mut self, factors: &[usize], place: &Place) -> Result<(), Stop> {
        let most = (i64::MAX as f64).powf(1.0 / factors.len() as f64).floor() as i128 - 1;
        for i in factors {
            let (v, note) = (self.param_aff(*i, place.space()?)?, self.params[*i].display.clone());
            let under = v.clone().lt_set(self.constant(-most, place)?)?;
            let over = v.gt_set(self.constant(most, place)?)?;
            let note = format!("products of {note} do not wrap");
            self.assume(AssumptionKind::NoWrap, under.union(over)?, place, &note)?;
        }
        Ok(())
    }

    /// A polynomial in parameters, with a parameter for each product.
    fn affine_in_products(&mut self, p: &Polynomial, place: &Place) -> Result<PwAff, Stop> {
        let mut sum = self.constant(p.constant_term(), place)?;
        for (m, c) in p.terms().filter(|(m, _)| m.degree() > 0) {
            let mut factors = Vec::new();
            for (s, power) in m.factors() {
                let Symbol::Param(i) = s else { return Err(Stop::Blocker("a loop counter".into())) };
                factors.extend((0..power).map(|_| i));
            }
            let index = match factors[..] {
                [only] => only,
                _ => {
                    self.product_fits(&factors, place)?;
                    let handles: Vec<_> = factors.iter().map(|i| self.params[*i].scev.handle).collect();
                    let product = self.given.an.product(&handles);
                    self.param(&product)?
                }
            };
            let c = i64::try_from(c).map_err(|_| Stop::Blocker(c.to_string()))?;
            sum = sum.add(self.param_aff(index, place.space()?)?.scale(Val::int(&self.given.ctx, c)?)?)?;
        }
        Ok(sum)
    }
}

impl Found {
    /// Whether the device reports what the call does.
    pub fn reports(&self, call: Value) -> bool {
        ir::may_set_errno(call) || self.reported.contains(&call)
    }
}

//! The state of one attempt to model one region: parameters, context, assumptions.
//!
//! Invariants: `assumed` is the conjunction of the recorded assumptions; no recorded assumption is implied by
//! the context and the ones before it; parameters are never removed, so indices into `params` stay valid.

use crate::base::addresses::is_address;
use crate::base::cfg::Cfg;
use crate::base::fail::{Fail, Stop, value_location};
use crate::base::found::{
    Appended, FoundSubscript, FoundUpdate, Inspected, KnownRange, KnownSize, Multiple, ParamEntry, Rounded,
    Uncovered, WIDE_BOUND,
};
use crate::base::invariant_loads::Assumed;
use crate::base::ir::{self, Block, Value};
use crate::base::options::DetectOptions;
use crate::base::place::Place;
use crate::base::region::Candidate;
use crate::base::tried::CountedStores;
use isl::{DimType, PwAff, Set, Space};
use pollyrs_delinearize::{Known, Residue};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{Analyses, LoopId, ScevExpr, ScevHandle, ScevKind};
use pollyrs_scop::{ArrayId, Assumption, AssumptionKind, ProductRange, RejectReason};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// One attempt at one region.
pub(crate) struct Builder<'a> {
    pub given: Given<'a>,
    pub params: Vec<ParamEntry>,
    pub context: Set,
    /// isl names in use.
    pub names: BTreeSet<String>,
    /// Parameters that a fact of the context ties to others; their range is part of that fact, so they stay.
    pub tied: BTreeSet<usize>,
    /// Conditions in front of the region that have cases, of which the context has the hull only.
    pub guards: Vec<Set>,
    /// For loops around the region: the parameter that counts its iterations, and what to subtract from it.
    pub outer_counters: BTreeMap<LoopId, Option<(usize, i64)>>,
    pub assumed: Assumptions,
    pub found: Found,
    pub memo: Memo,
    pub mode: Mode,
}

/// What is fixed: the function, the region, what the user said.
pub(crate) struct Given<'a> {
    pub an: &'a Analyses<'a>,
    pub cfg: &'a Cfg,
    pub ctx: isl::Context,
    pub region: &'a Candidate,
    pub shapes: &'a Known,
    pub invariant_loads: &'a Assumed,
    /// [`crate::DetectOptions::counted_stores`].
    pub counted_stores: &'a CountedStores,
}

/// What is assumed of the parameters.
#[derive(Clone)]
pub(crate) struct Assumptions {
    /// The conjunction of all.
    pub set: Set,
    pub all: Vec<Assumption>,
    /// Of products of sizes, which the host computes.
    pub products: Vec<ProductRange>,
}

/// What was found in the region beside affine accesses.
#[derive(Default)]
pub(crate) struct Found {
    /// Blocks that are left out of the model, as they are assumed not to be entered: see
    /// [`crate::control::versions`].
    pub excluded: BTreeSet<Block>,
    /// Where instructions access memory, if that is known: see [`crate::memory::fields`].
    pub residues: BTreeMap<Value, (Value, Option<Residue>)>,
    /// What data chooses of the addresses of loads: see [`crate::memory::data_subscripts`].
    pub data_subscripts: BTreeMap<Value, Vec<FoundSubscript>>,
    /// What stores do to elements that data chooses, by store: see [`crate::memory::updates`].
    pub updates: BTreeMap<Value, FoundUpdate>,
    /// Arrays that are appended to: see [`crate::memory::appends`].
    pub appended: Vec<Appended>,
    /// Arrays of which iterations have different elements because the program says so: see
    /// [`crate::memory::promises`].
    pub promised: BTreeSet<ArrayId>,
    /// What is looked at before the SCoP runs: see [`crate::memory::inspect`].
    pub inspections: Vec<Inspected>,
    /// Integers that are rounded from numbers: see [`crate::memory::roundings`].
    pub roundings: Vec<Rounded>,
    /// Loads whose elements are bounded by loops that data counts: see [`crate::memory::counted`].
    pub counted_accesses: BTreeSet<Value>,
    /// Loops of subregions whose counters only [`crate::memory::counted`] bounds.
    pub wide_loops: BTreeSet<LoopId>,
    /// What distances of addresses are multiples of, by handle: see [`crate::affine::spans`].
    pub spans: BTreeMap<ScevHandle, Multiple>,
    /// Checks that the device reports where they fail: see [`crate::control::errors`].
    pub reported: BTreeSet<Value>,
}

/// Sets of parameters for which it is remembered what is known of them.
const MAX_KNOWN: usize = 8;

/// What was asked before.
#[derive(Default)]
pub(crate) struct Memo {
    /// Sums whose instructions do not wrap, and some that may, by the handle of the expression.
    pub unwrapped: BTreeMap<ScevHandle, bool>,
    /// Sums whose ranges were found before: see [`crate::affine::ranges`].
    pub known_ranges: Vec<KnownRange>,
    /// Expressions that are made of numbers that may be any, and some that aren't, by handle: see
    /// [`crate::affine::any_numbers`].
    pub any_numbers: BTreeMap<ScevHandle, bool>,
    /// Polynomials of values that the region does not change, by what was known where they were asked for.
    pub sizes: BTreeMap<ScevHandle, Vec<KnownSize>>,
    /// Quotients that no few cases cover: see [`crate::affine::remainders`].
    pub uncovered_quotients: Vec<Uncovered>,
    /// The context and the assumptions, and both together: see [`Builder::known`].
    known: RefCell<Option<[Set; 3]>>,
    /// All that was known, and what that says of some parameters.
    known_of: RefCell<Vec<(Set, BTreeSet<usize>, Set)>>,
}

/// What may be done meanwhile.
#[derive(Default)]
pub(crate) struct Mode {
    /// While set, an expression that would need a new assumption is a blocker.
    pub strict: bool,
    /// While set, integers that are loaded may be inspected.
    pub inspecting: bool,
    /// Values of counters may be assumed not to wrap ([`crate::memory::choices`]).
    pub assuming: bool,
    /// Types of few bits bound what is rounded to them ([`crate::memory::choices`]).
    pub by_type: bool,
    /// One was met that they do not bound.
    pub narrow: bool,
}

impl<'a> Builder<'a> {
    pub fn new(
        an: &'a Analyses<'a>,
        cfg: &'a Cfg,
        ctx: isl::Context,
        region: &'a Candidate,
        options: &'a DetectOptions,
        (invariant_loads, counted_stores): (&'a Assumed, &'a CountedStores),
    ) -> Result<Self, Fail> {
        let universe = Set::universe(Space::unit(&ctx)?)?;
        let shapes = &options.shapes;
        Ok(Builder {
            given: Given { an, cfg, ctx, region, shapes, invariant_loads, counted_stores },
            params: Vec::new(),
            context: universe.clone(),
            names: BTreeSet::new(),
            tied: BTreeSet::new(),
            guards: Vec::new(),
            outer_counters: BTreeMap::new(),
            assumed: Assumptions { set: universe, all: Vec::new(), products: Vec::new() },
            found: Found::default(),
            memo: Memo::default(),
            mode: Mode { by_type: true, ..Mode::default() },
        })
    }

    /// The parameter that stands for the invariant integer `e`.
    pub fn param(&mut self, e: &ScevExpr) -> Result<usize, Stop> {
        if let Some(i) = self.params.iter().position(|p| p.scev.handle == e.handle && !p.inspected) {
            return Ok(i);
        }
        let before = self.given.cfg.first_non_phi(self.given.region.entry);
        let whole = if has_division(e) { self.given.an.safe_division(e.handle) } else { e.clone() };
        if whole.handle != e.handle && whole.kind != ScevKind::CouldNotCompute {
            return self.param(&whole);
        }
        // An address is beyond what is believed of sizes.
        let number = !e.is_pointer && !is_address(e);
        let usable = (e.bits <= 32 || e.bits == 64) && number && self.given.is_invariant(e);
        if !usable || !before.is_some_and(|b| self.given.an.can_expand(e.handle, b)) {
            return Err(Stop::Blocker(self.describe(e)));
        }
        let display = self.describe(e);
        let name = self.fresh_name(&display, "p");
        let space = Space::params_named(&self.given.ctx, [name.as_str()])?;
        let bound = if e.bits == 64 { WIDE_BOUND } else { 1i64 << (e.bits - 1) };
        let top = if e.bits == 64 { bound } else { bound - 1 };
        let (least, most) = match self.given.an.signed_range(e.handle) {
            (least, most) if least <= top && most >= -bound => (least.max(-bound), most.min(top)),
            // A number that is always beyond what is assumed: the check before the launch says so.
            _ => (-bound, top),
        };
        let range = Set::universe(space)?
            .lower_bound_val(DimType::Param, 0, isl::Val::int(&self.given.ctx, least)?)?
            .upper_bound_val(DimType::Param, 0, isl::Val::int(&self.given.ctx, most)?)?;
        self.context = self.context.clone().intersect(range)?;
        self.params.push(ParamEntry { name, display, bits: e.bits, scev: e.clone(), inspected: false });
        Ok(self.params.len() - 1)
    }

    /// The function of `space` that returns parameter `index`.
    pub fn param_aff(&self, index: usize, space: Space) -> isl::Result<PwAff> {
        let id = isl::Id::new(&self.given.ctx, &self.params[index].name)?;
        let space = space.add_param_id(id.clone())?;
        PwAff::from_aff(isl::Aff::param_on_domain(space, id)?)
    }

    /// Records that no point of `violating` is in the domain of `place`.
    pub fn assume(
        &mut self,
        kind: AssumptionKind,
        violating: Set,
        place: &Place,
        note: &str,
    ) -> Result<(), Stop> {
        let violating = violating.intersect(place.domain.clone())?;
        if violating.plain_is_empty()? {
            return Ok(());
        }
        let all = self.known()?;
        let known = self.known_of_those(&violating, &all)?;
        let bad = violating.intersect_params(known.clone())?;
        // (Where less is known of those parameters, what is known of others may rule it out.)
        let never = match known.plain_is_equal(&all)? {
            true => bad.is_empty()?,
            false => bad.clone().intersect_params(all)?.is_empty()?,
        };
        if never {
            return Ok(());
        }
        if self.mode.strict {
            return Err(Stop::Blocker(format!("whether {note}")));
        }
        // What is known must not be negated along, nor that the loops run at all: `n <= len`, not
        // `n <= len or n <= 0 or m <= 0`. A few of those multiply to hundreds of cases, and where they matter
        // there is next to nothing to do.
        let entered = place.domain.clone().params()?.gist(known.clone())?.simple_hull()?;
        let bad = bad.params()?.gist(known.clone())?.gist(Set::from_basic_set(entered)?)?;
        let simple = if kind == AssumptionKind::NoWrap { None } else { convex_complement(&bad)? };
        let good = match simple.map_or_else(|| outside(&bad, kind, &known), |good| Ok(Some(good)))? {
            Some(enough) if !known.is_disjoint(&enough)? => enough,
            _ => bad.complement()?,
        };
        self.assume_params(kind, good, place.inst, note)
    }

    /// What is known of the parameters, where it has cases only of those that `set` depends on: an assumption
    /// about a nest's bound says nothing of what is tested in front of the nest.
    fn known_of_those(&self, set: &Set, known: &Set) -> isl::Result<Set> {
        if known.n_basic_set()? < 2 {
            return Ok(known.clone());
        }
        let involved: BTreeSet<usize> = self.involved(set)?.into_iter().collect();
        let mut memo = self.memo.known_of.borrow_mut();
        for (all, some, found) in memo.iter() {
            if *some == involved && all.plain_is_equal(known)? {
                return Ok(found.clone());
            }
        }
        let found = self.only_of(known.clone(), &involved)?.coalesce()?;
        memo.truncate(MAX_KNOWN - 1);
        memo.insert(0, (known.clone(), involved, found.clone()));
        Ok(found)
    }

    /// What is known of the parameters: the context, where the assumptions hold. Asked far more often than
    /// either changes.
    pub fn known(&self) -> isl::Result<Set> {
        let mut memo = self.memo.known.borrow_mut();
        if let Some([context, assumed, known]) = &*memo
            && context.plain_is_equal(&self.context)?
            && assumed.plain_is_equal(&self.assumed.set)?
        {
            return Ok(known.clone());
        }
        let known = self.context.clone().intersect(self.assumed.set.clone())?;
        *memo = Some([self.context.clone(), self.assumed.set.clone(), known.clone()]);
        Ok(known)
    }

    /// What a set of parameters says of some of them.
    pub fn only_of(&self, mut set: Set, some: &BTreeSet<usize>) -> isl::Result<Set> {
        for (_, p) in self.params.iter().enumerate().filter(|(index, _)| !some.contains(index)) {
            let at = set.find_dim_by_id(DimType::Param, &isl::Id::new(&self.given.ctx, &p.name)?)?;
            if at >= 0 {
                set = set.project_out(DimType::Param, at as u32, 1)?;
            }
        }
        Ok(set)
    }

    /// The parameters that `set` depends on.
    pub fn involved(&self, set: &Set) -> isl::Result<Vec<usize>> {
        let mut all = Vec::new();
        for (i, p) in self.params.iter().enumerate() {
            let at = set.find_dim_by_id(DimType::Param, &isl::Id::new(&self.given.ctx, &p.name)?)?;
            if at >= 0 && set.involves_dims(DimType::Param, at as u32, 1)? {
                all.push(i);
            }
        }
        Ok(all)
    }

    /// Records a condition on the parameters.
    pub fn assume_params(
        &mut self,
        kind: AssumptionKind,
        good: Set,
        at: Option<Value>,
        note: &str,
    ) -> Result<(), Stop> {
        let known = self.known()?;
        let set = good.coalesce()?.gist(known.clone())?.coalesce()?;
        if known.is_subset(&set)? {
            return Ok(());
        }
        if self.mode.strict || known.is_disjoint(&set)? || self.is_excluded(known.intersect(set.clone())?)? {
            return Err(Stop::Blocker(format!("whether {note}")));
        }
        self.assumed.set = self.assumed.set.clone().intersect(set.clone())?.coalesce()?;
        let location = at.and_then(value_location);
        self.assumed.all.push(Assumption { kind, set, location, note: note.to_string() });
        Ok(())
    }

    /// Records a condition that must hold for the model, as an assumption of kind `kind`.
    pub fn require(
        &mut self,
        kind: AssumptionKind,
        good: Set,
        at: Value,
        note: &str,
        why: RejectReason,
    ) -> Result<(), Fail> {
        self.assume_params(kind, good, Some(at), note).map_err(|s| s.fail(at, |_| why))
    }

    /// Whether the conditions in front of the region leave none of these parameters: in a version for
    /// elements that do not lie side by side, in one array or in another one, both strides can't be the
    /// elements' size.
    fn is_excluded(&self, mut params: Set) -> isl::Result<bool> {
        for guard in &self.guards {
            params = params.intersect(guard.clone())?;
        }
        params.is_empty()
    }

    /// Runs `f`; a blocker leaves no trace and needs no new assumption.
    pub fn strictly<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T, Stop>) -> Result<T, Stop> {
        let outer = std::mem::replace(&mut self.mode.strict, true);
        let r = f(self);
        self.mode.strict = outer;
        r
    }
}

impl Given<'_> {
    /// Where values that are known before the region are evaluated.
    pub fn before_region(&self, inst: Option<Value>) -> isl::Result<Place> {
        let domain = Set::universe(Space::unit(&self.ctx)?)?.from_params()?;
        Ok(Place::new(Vec::new(), domain, inst))
    }

    /// The loop in whose iterations operands of `v` are asked for: the innermost of the place, or what lies
    /// around the region. (Without a loop, scalar evolution would give their values after all loops.)
    pub fn scope(&self, v: Value, place: &Place) -> Option<LoopId> {
        place.loops.last().copied().or_else(|| ir::parent(v).and_then(|b| self.an.innermost_loop(b)))
    }

    pub fn contains(&self, b: Block) -> bool {
        self.region.blocks.contains(&b)
    }

    /// Whether the whole loop is inside the region.
    pub fn inside(&self, l: LoopId) -> bool {
        self.an.loops().get(l.0).is_some_and(|d| d.blocks.iter().all(|b| self.contains(*b)))
    }

    /// The loops of the region around `b`, outermost first.
    pub fn loops_of(&self, b: Block) -> Vec<LoopId> {
        let mut v = Vec::new();
        let mut l = self.an.innermost_loop(b);
        while let Some(id) = l {
            if !self.inside(id) {
                break;
            }
            v.push(id);
            l = self.an.loops()[id.0].parent;
        }
        v.reverse();
        v
    }

    /// Defined by an instruction of the region.
    pub fn defined_inside(&self, v: Value) -> bool {
        ir::parent(v).is_some_and(|b| self.contains(b))
    }

    /// Whether the expression has one value for as long as the region runs, known before it starts.
    pub fn is_invariant(&self, e: &ScevExpr) -> bool {
        match &e.kind {
            ScevKind::Unknown(v) if self.defined_inside(*v) => false,
            // Of a loop around the region the counter is known; of one that ended before, only its last value
            // was.
            ScevKind::AddRec { loop_id, .. }
                if self.inside(*loop_id)
                    || !self.an.loops()[loop_id.0].blocks.contains(&self.region.entry) =>
            {
                false
            }
            ScevKind::CouldNotCompute | ScevKind::VScale => false,
            _ => e.operands().into_iter().all(|o| self.is_invariant(o)),
        }
    }
}

pub(crate) fn has_division(e: &ScevExpr) -> bool {
    matches!(e.kind, ScevKind::UDiv(..)) || e.operands().into_iter().any(has_division)
}

/// `(x, n)` of `x % n`, for a number `n`.
pub(crate) fn remainder_by_number(ops: &[ScevExpr]) -> Option<(&ScevExpr, i128)> {
    let [a, b] = ops else { return None };
    [(a, b), (b, a)].into_iter().find_map(|(x, o)| {
        let (times, quotient) = scaled(o);
        let ScevKind::UDiv(y, n) = &quotient.kind else { return None };
        matches!(n.kind, ScevKind::Constant(n) if n == -times && y.handle == x.handle).then_some((x, -times))
    })
}

/// An expression without its number, `(k, x)` of `k * x`.
pub(crate) fn scaled(e: &ScevExpr) -> (i128, &ScevExpr) {
    match &e.kind {
        ScevKind::Mul(factors) => match &factors[..] {
            [ScevExpr { kind: ScevKind::Constant(k), .. }, x] => (*k, x),
            _ => (1, e),
        },
        _ => (1, e),
    }
}

/// Constraints whose negations are worth writing down exactly.
const FEW_CONSTRAINTS: usize = 2;
/// Least bound that counts as the one at which something wraps.
const LARGE: f64 = 64.0;
/// What every size is taken to be, to tell what mostly holds.
const TYPICAL: [f64; 1] = [65536.0];
/// Sizes that differ, as those of an array, a part of it and a step do.
const UNEQUAL: [f64; 7] = [65536.0, 1.0, 900.0, 17.0, 4096.0, 3.0, 128.0];

/// Cases of a complement that are worth looking at.
const FEW_CASES: usize = 8;

/// All that is not in `bad`, where that is one case in spite of the cases that `bad` has:
/// `lb <= ub and lb < n` of `ub >= n and lb >= n or ub < n and lb > ub`, the values for which a loop from
/// `lb` to `min(ub, n - 1)` has iterations. One side of each case would be less: `ub >= n`, which holds for
/// the last thread's part of a parallel loop only.
fn convex_complement(bad: &Set) -> isl::Result<Option<Set>> {
    let mut cases = 1usize;
    for piece in bad.basic_set_list()?.to_vec()? {
        cases = cases.saturating_mul(piece.constraints()?.len());
    }
    if cases > FEW_CASES {
        return Ok(None);
    }
    let good = bad.clone().complement()?.coalesce()?;
    Ok((good.basic_set_list()?.to_vec()?.len() == 1).then_some(good))
}

/// Where `bad`, the parameters that violate an assumption, has many constraints, a simple set outside of it:
/// for each of its pieces, the points that violate one constraint. Where something may wrap it is the one
/// that only large values satisfy; otherwise the one that does not hold for typical sizes (`len < n` of
/// `0 <= len < n`: all sizes are equal there). The complement would be a union with a part for each
/// constraint, and the conjunction of a few such unions has hundreds of parts. A parameter that is `known`
/// to be small has no typical size: of `n <= -4 and c <= 1`, with a choice `c` of 0 or 4, it is the former.
fn outside(bad: &Set, kind: AssumptionKind, known: &Set) -> isl::Result<Option<Set>> {
    let mut pieces = Vec::new();
    for piece in bad.basic_set_list()?.to_vec()? {
        pieces.push((piece.constraints()?, piece));
    }
    let few = if kind == AssumptionKind::NoWrap { FEW_CONSTRAINTS } else { 1 };
    if pieces.iter().map(|(c, _)| c.len()).sum::<usize>() <= few {
        return Ok(None);
    }
    let reach = reach(known)?;
    let mut good = Set::universe(bad.space()?)?;
    for (constraints, piece) in pieces {
        let mut chosen: Option<((usize, f64), &isl::Constraint)> = None;
        for c in &constraints {
            let (wraps, size) = match kind {
                AssumptionKind::NoWrap => (true, least(c)?),
                _ => (false, typical_violation(c, &TYPICAL, &reach)?),
            };
            // Of those that do not hold where all sizes are equal, the one that fails for most others, too:
            // of `step <= n - first` and `count < -1` the latter.
            let often = if wraps { 0 } else { often_violated(c, &reach)? };
            let from = if wraps { LARGE } else { 1.0 };
            if size >= from && chosen.is_none_or(|(s, _)| (often, size) > s) {
                chosen = Some(((often, size), c));
            }
        }
        let part = match chosen {
            Some((_, c)) if kind == AssumptionKind::NoWrap => small_side(c)?,
            Some((_, c)) => Set::from_basic_set(isl::BasicSet::from_constraint(c.clone())?)?.complement()?,
            None => Set::from_basic_set(piece)?.complement()?,
        };
        good = good.intersect(part)?;
    }
    Ok(Some(good))
}

/// Between which constants parameters are, by their constraints of their own.
fn reach(known: &Set) -> isl::Result<Vec<(f64, f64)>> {
    let params = known.dim(DimType::Param)?;
    let mut reach = vec![(f64::NEG_INFINITY, f64::INFINITY); params as usize];
    for c in known.clone().params()?.simple_hull()?.constraints()? {
        let coefficient = |at: u32| c.coefficient(DimType::Param, at as i32).map(number);
        let mut involved = Vec::new();
        for at in 0..params {
            involved.push(coefficient(at)?);
        }
        let mut own = involved.iter().enumerate().filter(|(_, by)| **by != 0.0);
        let (Some((at, by)), None) = (own.next(), own.next()) else { continue };
        let divs = c.dim(DimType::Div)?;
        if divs > 0 && c.involves_dims(DimType::Div, 0, divs)? {
            continue;
        }
        let bound = -number(c.constant()?) / by;
        if *by > 0.0 || c.is_equality()? {
            reach[at].0 = reach[at].0.max(bound);
        }
        if *by < 0.0 || c.is_equality()? {
            reach[at].1 = reach[at].1.min(bound);
        }
    }
    Ok(reach)
}

fn number(v: isl::Val) -> f64 {
    v.to_i64().map_or(0.0, |v| v as f64)
}

/// By how much an inequality without divisions is violated where the parameters are `sizes`, over and over,
/// as far as they reach; 0 if it holds there.
fn typical_violation(c: &isl::Constraint, sizes: &[f64], reach: &[(f64, f64)]) -> isl::Result<f64> {
    let divs = c.dim(DimType::Div)?;
    if c.is_equality()? || divs > 0 && c.involves_dims(DimType::Div, 0, divs)? {
        return Ok(0.0);
    }
    let mut value = number(c.constant()?);
    for (at, size) in (0..c.dim(DimType::Param)?).zip(sizes.iter().cycle()) {
        let (least, most) = reach.get(at as usize).copied().unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let size = size.min(most).max(least);
        value += size * number(c.coefficient(DimType::Param, at as i32)?);
    }
    Ok((-value).max(0.0))
}

/// For how many of some unequal sizes an inequality is violated.
fn often_violated(c: &isl::Constraint, reach: &[(f64, f64)]) -> isl::Result<usize> {
    let mut count = 0;
    for first in 0..UNEQUAL.len() {
        let sizes: Vec<f64> = UNEQUAL.iter().cycle().skip(first).take(UNEQUAL.len()).copied().collect();
        count += usize::from(typical_violation(c, &sizes, reach)? > 0.0);
    }
    Ok(count)
}

/// The half-space outside of `c` in which the origin lies.
fn small_side(c: &isl::Constraint) -> isl::Result<Set> {
    let outside = Set::from_basic_set(isl::BasicSet::from_constraint(c.clone())?)?.complement()?;
    for side in outside.basic_set_list()?.to_vec()? {
        let origin = side
            .constraints()?
            .iter()
            .all(|c| c.constant().is_ok_and(|v| v.to_i64().is_some_and(|v| v >= 0)));
        if origin {
            return Set::from_basic_set(side);
        }
    }
    Ok(outside)
}

/// How large the largest parameter is at least where `c` holds; 0 if nothing is known.
fn least(c: &isl::Constraint) -> isl::Result<f64> {
    let divs = c.dim(DimType::Div)?;
    if divs > 0 && c.involves_dims(DimType::Div, 0, divs)? {
        return Ok(0.0);
    }
    let mut sum = 0.0;
    for at in 0..c.dim(DimType::Param)? {
        sum += number(c.coefficient(DimType::Param, at as i32)?).abs();
    }
    let constant = number(c.constant()?);
    let beyond = if c.is_equality()? { constant.abs() } else { -constant };
    Ok(if sum > 0.0 { (beyond / sum).max(0.0) } else { 0.0 })
}

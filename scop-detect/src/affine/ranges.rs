//! Ranges of polynomials that the host checks.
//!
//! **Problem.** `A[i * n + j]` with an index of 32 bits is right as long as `i * n + j` stays below 2^32. isl
//! has no products of parameters, and bounds on the factors (`n <= 46340`) refuse most of the sizes that fit.
//! The host can compute the largest value.
//!
//! **Invariant.** Of a polynomial without products of counters, `c0 + c1 * i1 + ...` with coefficients in the
//! parameters, every value on the domain is between the sum of the least and the sum of the largest
//! `ck * ik`, for `ik` between its least and largest value on the domain. For a box that is exact. The sign
//! of a coefficient need not be known: the host takes the smaller and the larger product.
//!
//! What belongs together is bounded together: in `(i == n - 1 ? 0 : i + 1) * n`, which is `n + i * n + q * n`
//! with `q = -n` in the last row, it is `i + q` that stays above -2, not `q`; in `(t % 3) * n`, which is
//! `t * n + q * -3n` with `q = t / 3`, it is `t - 3 q`.

use crate::base::builder::{Assumptions, Builder};
use crate::base::fail::{Stop, value_location};
use crate::base::found::KnownRange;
use crate::base::ir;
use crate::base::place::Place;
use isl::{DimType, Map, MultiPwAff, PwAff, PwMultiAff, Set};
use pollyrs_delinearize::{Polynomial, Symbol};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{LoopId, ScevExpr, ScevKind};
use pollyrs_scop::{AssumptionKind, ProductRange, ProductTerm};

/// A bound of a counter in more cases than this is not worth its check.
const MAX_PIECES: u32 = 8;

/// Numbers, each with the factors that it multiplies.
type Terms = Vec<(i64, Vec<PwAff>)>;

/// A coefficient, with the dimensions that it stands before, up to a number each.
type Factor = (Polynomial, Vec<(usize, i64)>);

/// The coefficients of the counters of `p`, and what is left of `sum`, which is `p` without its constant;
/// `None` with products of counters.
fn factors(p: &Polynomial, sum: &Polynomial) -> Option<(Vec<Factor>, Polynomial)> {
    let mut rest = sum.clone();
    let mut sums: Vec<Factor> = Vec::new();
    for s in p.symbols() {
        let Symbol::Iter(d) = s else { continue };
        let powers = p.powers_of(s);
        let coefficient = powers.get(&1).filter(|_| powers.keys().all(|e| *e <= 1))?;
        if coefficient.involves_iters() {
            return None;
        }
        rest = &rest - &(coefficient * &Polynomial::symbol(s));
        let times = i64::try_from(coefficient.content()).ok()?;
        let one = coefficient.div_exact_constant(i128::from(times))?;
        let negated = &Polynomial::constant(0) - &one;
        match sums.iter_mut().find(|(c, _)| *c == one || *c == negated) {
            Some((c, dims)) => dims.push((d, if *c == one { times } else { -times })),
            None => sums.push((one, vec![(d, times)])),
        }
    }
    Some((sums, rest))
}

/// A coefficient, and the least and the largest value of what it stands before.
type Bound = (Polynomial, (PwAff, PwAff));

/// Iterations whose dimensions have bounds that the host can compute.
struct Bounded {
    domain: Set,
    /// Around all of the domain, if it has several pieces.
    hull: Option<Set>,
    /// Dimensions of the place; those behind it are quotients.
    dims: usize,
    /// `[params] -> { : ... }`: where there are any iterations; and what is known there.
    executed: Set,
    within: Set,
}

impl Bounded {
    fn new(domain: Set, known: &Set, dims: usize) -> isl::Result<Bounded> {
        let executed = domain.clone().params()?.gist(known.clone())?.coalesce()?;
        let hull = match domain.n_basic_set()? {
            0 | 1 => None,
            _ => Some(Set::from_basic_set(domain.clone().coalesce()?.simple_hull()?)?),
        };
        let within = known.clone().intersect(executed.clone())?;
        Ok(Bounded { domain, hull, dims, executed, within })
    }

    /// A quotient that is known to be whole may lose its rounding, and code needs it.
    fn simple(&self, f: PwAff) -> isl::Result<PwAff> {
        let simpler = f.clone().gist_params(self.within.clone())?.coalesce()?;
        if is_integral(&simpler)? { Ok(simpler) } else { f.coalesce() }
    }

    /// The least and the largest value of a dimension, if these are simple.
    fn bounds(&self, set: &Set, d: i32) -> isl::Result<Option<(PwAff, PwAff)>> {
        let (set, d) = shadow(set, d)?;
        let Some((least, most)) = found(set.clone().dim_min(d))?.zip(found(set.dim_max(d))?) else {
            return Ok(None);
        };
        let (least, most) = (self.simple(least)?, self.simple(most)?);
        let plain = |f: &PwAff| Ok(f.n_piece()? <= MAX_PIECES && is_integral(f)?);
        Ok(if plain(&least)? && plain(&most)? { Some((least, most)) } else { None })
    }

    /// Coefficients and the bounds of what they stand before; `None` if there are none.
    fn terms(&self, coefficient: Polynomial, dims: Vec<(usize, i64)>) -> isl::Result<Option<Vec<Bound>>> {
        let quasi = dims.iter().any(|(d, _)| *d >= self.dims);
        if dims.len() > 1
            && quasi
            && let Some(range) = self.bounds(&sum_of(&self.domain, &dims)?, 0)?
        {
            return Ok(Some(vec![(coefficient, range)]));
        }
        let mut found = Vec::new();
        for (d, times) in dims {
            let Ok(at) = i32::try_from(d) else { return Ok(None) };
            // A hull has fewer cases, but what bounds one part of a band from above, `max(0, i - k)`, is no
            // bound of the hull.
            let range = match &self.hull {
                Some(hull) if d < self.dims => match self.bounds(hull, at)? {
                    Some(wide) => Some(narrower(wide, self.bounds(&self.domain, at)?, &self.executed)?),
                    None => None,
                },
                hull => match (self.bounds(&self.domain, at)?, hull) {
                    (None, Some(hull)) => self.bounds(hull, at)?,
                    (range, _) => range,
                },
            };
            let Some(range) = range else { return Ok(None) };
            found.push((coefficient.scale(i128::from(times)), range));
        }
        Ok(Some(found))
    }
}

impl Builder<'_> {
    /// Assumes that `p`, over the dimensions of `place` and `quasi`, lies in `low..=high` wherever `place` is
    /// executed.
    pub fn assume_range(
        &mut self,
        kind: AssumptionKind,
        p: &Polynomial,
        (low, high): (i64, i64),
        place: &Place,
        quasi: &[PwAff],
        note: &str,
    ) -> Result<(), Stop> {
        let blocked = || Stop::Blocker(format!("whether {note}"));
        let known = self.known()?;
        let mut domain = place.domain.clone().intersect_params(known.clone())?;
        if let Some(m) = extension(place, quasi)? {
            domain = domain.apply(Map::from_pw_multi_aff(m)?)?;
        }
        if domain.is_empty()? {
            return Ok(());
        }
        if self.mode.strict || p.is_poisoned() {
            return Err(blocked());
        }
        let constant = p.constant_term();
        let sum = p - &Polynomial::constant(constant);
        let offset = i64::try_from(constant).map_err(|_| blocked())?;
        let mut found = KnownRange {
            kind,
            sum,
            limits: (low, high),
            domain: place.domain.clone(),
            known,
            between: None,
            range: None,
        };
        if quasi.is_empty() && self.is_known_range(&found, offset)? {
            return Ok(());
        }
        let bounded = Bounded::new(domain, &found.known, place.dims())?;
        let mut terms = Vec::new();
        let (sums, rest) = factors(p, &found.sum).ok_or_else(blocked)?;
        for (coefficient, dims) in sums {
            for (coefficient, between) in bounded.terms(coefficient, dims)?.ok_or_else(blocked)? {
                let coefficient = self.products(&coefficient).ok_or_else(blocked)??;
                terms.push(ProductTerm { coefficient, between: Some(between) });
            }
        }
        if !rest.is_zero() {
            let coefficient = self.products(&rest).ok_or_else(blocked)??;
            terms.push(ProductTerm { coefficient, between: None });
        }
        found.between = interval(&terms, &bounded.within)?;
        if !found.fits(offset) {
            // In one order, so that equal sums are found equal.
            terms.sort_by_cached_key(ToString::to_string);
            let location = place.inst.and_then(value_location);
            let (note, executed, offsets) = (note.to_string(), bounded.executed, (offset, offset));
            let range = ProductRange { kind, executed, terms, offsets, low, high, location, note };
            found.range = Some(range);
        }
        let range = found.range.clone();
        if quasi.is_empty() {
            self.memo.known_ranges.push(found);
        }
        Ok(range.map_or(Ok(()), |range| self.assumed.add_range(range))?)
    }

    /// Assumes that a sum of products of parameters is 0.
    pub fn assume_zero(&mut self, kind: AssumptionKind, p: &Polynomial, note: &str) -> Result<(), Stop> {
        let blocked = || Stop::Blocker(format!("whether {note}"));
        let constant = p.constant_term();
        let offset = i64::try_from(constant).map_err(|_| blocked())?;
        let sum = p - &Polynomial::constant(constant);
        let coefficient = self.products(&sum).ok_or_else(blocked)??;
        let range = ProductRange {
            kind,
            executed: Set::universe(isl::Space::unit(&self.given.ctx)?)?,
            terms: vec![ProductTerm { coefficient, between: None }],
            offsets: (offset, offset),
            low: 0,
            high: 0,
            location: None,
            note: note.to_string(),
        };
        for known in &self.assumed.products {
            if known.offsets == range.offsets && is_like(known, &range)? {
                return Ok(());
            }
        }
        if self.mode.strict { Err(blocked()) } else { Ok(self.assumed.add_range(range)?) }
    }

    /// Whether the range of such a sum was found before; what it needs is assumed then.
    fn is_known_range(&mut self, sought: &KnownRange, offset: i64) -> Result<bool, Stop> {
        for r in 0..self.memo.known_ranges.len() {
            let r = &self.memo.known_ranges[r];
            if !r.is_of(sought)? {
                continue;
            }
            if r.fits(offset) {
                return Ok(true);
            }
            if let Some(range) = &r.range {
                let range = ProductRange { offsets: (offset, offset), ..range.clone() };
                self.assumed.add_range(range)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `p` as numbers and factors; `None` if a number is too large.
    fn products(&self, p: &Polynomial) -> Option<isl::Result<Terms>> {
        let mut sum = Vec::new();
        for (m, c) in p.terms() {
            let number = i64::try_from(c).ok()?;
            let mut factors = Vec::new();
            for (s, power) in m.factors() {
                let Symbol::Param(index) = s else { return None };
                let value = isl::Space::unit(&self.given.ctx).and_then(|s| self.param_aff(index, s));
                match value {
                    Ok(f) => factors.extend(std::iter::repeat_n(f, power as usize)),
                    Err(e) => return Some(Err(e)),
                }
            }
            sum.push((number, factors));
        }
        Some(Ok(sum))
    }

    /// Assumes bounds under which the product terms of `p` stay inside the type of `x`.
    ///
    /// Products are beyond isl, so the condition is a sufficient one: with `s` the sum of the coefficients'
    /// absolute values and `d` the degree, every symbol `v` has `|v| <= K` where `s * K^d` is below the
    /// type's bound. For an unsigned linear index `i*n + j` of 32 bits that is `n <= 46340`, `j <= 46340`.
    /// Returns `K`.
    pub fn bound_products(
        &mut self,
        p: &Polynomial,
        x: &ScevExpr,
        unsigned: bool,
        place: &Place,
        quasi: &[PwAff],
    ) -> Result<i128, Stop> {
        let limit: i128 = if unsigned { (1i128 << x.bits) - 1 } else { (1i128 << (x.bits - 1)) - 1 };
        let sum: i128 = p.terms().map(|(_, c)| c.abs()).sum();
        let degree = p.degree();
        let fits =
            |k: i128| k.checked_pow(degree).and_then(|v| v.checked_mul(sum)).is_some_and(|v| v <= limit);
        let (mut low, mut high) = (0i128, 1i128 << 62);
        while low + 1 < high {
            let mid = (low + high) / 2;
            if fits(mid) { low = mid } else { high = mid }
        }
        // Unsigned: all terms must be products of non-negative factors, so that the sum is not negative.
        let bottom = if unsigned { 0 } else { -low };
        if unsigned && p.terms().any(|(_, c)| c < 0) {
            return Err(Stop::Blocker(format!("{}, an unsigned value that may wrap", self.describe(x))));
        }
        let note = format!("the unsigned or narrow index {} does not wrap", self.describe(x));
        // Bounds of parameters first: they mostly imply those of the counters.
        for s in p.symbols().into_iter().rev() {
            let v = match s {
                Symbol::Iter(d) if d < place.dims() => self.dim(d, place)?,
                Symbol::Iter(d) => quasi[d - place.dims()].clone(),
                Symbol::Param(i) => self.param_aff(i, place.space()?)?,
            };
            let under = v.clone().lt_set(self.constant(bottom, place)?)?;
            let over = v.gt_set(self.constant(low, place)?)?;
            self.assume(AssumptionKind::NoWrap, under.union(over)?, place, &note)?;
        }
        Ok(low)
    }

    /// The text of `p` in the program's names.
    pub fn polynomial_text(&self, p: &Polynomial, place: &Place) -> String {
        p.display_with(|s| match s {
            Symbol::Param(i) => self.params.get(i).map_or_else(|| s.to_string(), |p| p.display.clone()),
            Symbol::Iter(d) => {
                let counter = place.loops.get(d).and_then(|l| self.counter_name(*l));
                counter.unwrap_or_else(|| s.to_string())
            }
        })
    }
}

impl Assumptions {
    /// One range serves for all that differ in their offset only.
    fn add_range(&mut self, new: ProductRange) -> isl::Result<()> {
        let mut like = None;
        for (at, r) in self.products.iter().enumerate() {
            if is_like(r, &new)? {
                like = Some(at);
                break;
            }
        }
        match like.map(|at| &mut self.products[at]) {
            Some(known) => {
                if !known.executed.plain_is_equal(&new.executed)? {
                    known.executed = known.executed.clone().union(new.executed)?.coalesce()?;
                }
                known.offsets.0 = known.offsets.0.min(new.offsets.0);
                known.offsets.1 = known.offsets.1.max(new.offsets.1);
            }
            None => self.products.push(new),
        }
        Ok(())
    }
}

impl Builder<'_> {
    /// The source's name of what counts the iterations of a loop.
    pub fn counter_name(&self, l: LoopId) -> Option<String> {
        let header = self.given.an.loops().get(l.0)?.header;
        let phis =
            ir::instructions(header).into_iter().take_while(|i| ir::opcode(*i) == Some(ir::Op::LLVMPHI));
        let counts = |p: &ir::Value| {
            let e = self.given.an.scev(*p, Some(l));
            ir::int_bits(*p).is_some() && matches!(e.kind, ScevKind::AddRec { loop_id, .. } if loop_id == l)
        };
        // Names with a dot are the compiler's.
        phis.filter(counts).find_map(|p| self.user_name(p, 4).filter(|n| !n.contains('.')))
    }
}

/// Of two ranges for the parameters in `within`, the second one where that ends earlier. A hull of the
/// iterations for different parameters (`n > 0`, and `n <= 0` where `n - 1` iterations of 32 bits are some
/// 2^32) forgets which belong to which, and nobody's index would be found to fit.
fn narrower(
    wide: (PwAff, PwAff),
    narrow: Option<(PwAff, PwAff)>,
    within: &Set,
) -> isl::Result<(PwAff, PwAff)> {
    let Some(narrow) = narrow else { return Ok(wide) };
    let below = wide.0.clone().lt_set(narrow.0.clone())?;
    let above = wide.1.clone().gt_set(narrow.1.clone())?;
    let same = below.union(above)?.intersect(within.clone())?.is_empty()?;
    Ok(if same { wide } else { narrow })
}

/// The dimension `d` of a set and where it is in the result: of a polyhedron of many dimensions that is its
/// shadow, which is as good for a range.
fn shadow(set: &Set, d: i32) -> isl::Result<(Set, i32)> {
    const FEW: u32 = 2;
    match set.dim(DimType::Set)? > FEW && set.n_basic_set()? == 1 {
        true => Ok((set.shadow(d as u32)?, 0)),
        false => Ok((set.clone(), d)),
    }
}

/// Whether two ranges differ at most in where they hold and in their constants.
fn is_like(a: &ProductRange, b: &ProductRange) -> isl::Result<bool> {
    if (a.kind, a.low, a.high, a.terms.len()) != (b.kind, b.low, b.high, b.terms.len()) {
        return Ok(false);
    }
    for (s, t) in a.terms.iter().zip(&b.terms) {
        if !is_same_term(s, t)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_same_term(a: &ProductTerm, b: &ProductTerm) -> isl::Result<bool> {
    let shape =
        |t: &ProductTerm| -> Vec<(i64, usize)> { t.coefficient.iter().map(|(n, f)| (*n, f.len())).collect() };
    if shape(a) != shape(b) || a.between.is_some() != b.between.is_some() {
        return Ok(false);
    }
    let factors = |t: &ProductTerm| -> Vec<PwAff> {
        let ends = t.between.iter().flat_map(|(least, most)| [least.clone(), most.clone()]);
        t.coefficient.iter().flat_map(|(_, f)| f.iter().cloned()).chain(ends).collect()
    };
    for (f, g) in factors(a).iter().zip(&factors(b)) {
        if !f.plain_is_equal(g)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether no piece has a denominator outside of rounded quotients. Between the rows of a pitch in bytes,
/// bounds of unions may be fractions that are whole only where they count, which isl does not optimise over.
fn is_integral(f: &PwAff) -> isl::Result<bool> {
    for (_, aff) in f.pieces()? {
        if !aff.denominator()?.is_one()? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The least or largest value that isl was asked for; isl fails, and has no other word for it, where there is
/// none. A budget that is spent says nothing of a bound.
fn found<T>(extreme: isl::Result<T>) -> isl::Result<Option<T>> {
    match extreme {
        Err(isl::Error::Failed(_)) => Ok(None),
        extreme => extreme.map(Some),
    }
}

/// The values of a sum of multiples of dimensions.
fn sum_of(domain: &Set, dims: &[(usize, i64)]) -> isl::Result<Set> {
    let mut sum = PwAff::constant_on(domain.space()?, 0)?;
    for (d, times) in dims {
        let ls = isl::LocalSpace::from_space(domain.space()?)?;
        let dim = PwAff::from_aff(isl::Aff::var_on_domain(ls, DimType::Set, *d as u32)?)?;
        sum = sum.add(dim.scale(isl::Val::int(domain.context(), *times)?)?)?;
    }
    let sum = PwMultiAff::from_multi_pw_aff(MultiPwAff::from_pw_aff(sum)?)?;
    domain.clone().apply(Map::from_pw_multi_aff(sum)?)
}

/// Bounds of a sum for parameters in `within`, from those of its factors one by one; `None` where there are
/// none.
fn interval(terms: &[ProductTerm], within: &Set) -> isl::Result<Option<(i128, i128)>> {
    let of = |f: &PwAff| -> isl::Result<Option<(i128, i128)>> {
        let f = f.clone().intersect_params(within.clone())?;
        // Equalities may have made fractions of it.
        if !is_integral(&f)? {
            return Ok(None);
        }
        let Some((least, most)) = found(f.clone().min_value())?.zip(found(f.max_value())?) else {
            return Ok(None);
        };
        let ends = (least.to_i64(), most.to_i64());
        Ok(match ends {
            (Some(a), Some(b)) => Some((a.into(), b.into())),
            _ => None,
        })
    };
    let times = |(a, b): (i128, i128), (c, d): (i128, i128)| {
        let ends = [(a, c), (a, d), (b, c), (b, d)].map(|(x, y)| x.checked_mul(y));
        let ends: Option<Vec<i128>> = ends.into_iter().collect();
        ends.and_then(|e| Some((*e.iter().min()?, *e.iter().max()?)))
    };
    let plus = |(a, b): (i128, i128), (c, d): (i128, i128)| Some((a.checked_add(c)?, b.checked_add(d)?));
    let mut sum = (0, 0);
    for t in terms {
        let mut coefficient = (0, 0);
        for (number, factors) in &t.coefficient {
            let mut product = (i128::from(*number), i128::from(*number));
            for f in factors {
                let Some(next) = of(f)?.and_then(|f| times(product, f)) else { return Ok(None) };
                product = next;
            }
            let Some(next) = plus(coefficient, product) else { return Ok(None) };
            coefficient = next;
        }
        if let Some((low, high)) = &t.between {
            let (Some((low, _)), Some((_, high))) = (of(low)?, of(high)?) else { return Ok(None) };
            let Some(next) = times(coefficient, (low, high)) else { return Ok(None) };
            coefficient = next;
        }
        let Some(next) = plus(sum, coefficient) else { return Ok(None) };
        sum = next;
    }
    Ok(Some(sum))
}

/// `{ [i] -> [i, q(i)] }`, where there are functions `q`.
pub(crate) fn extension(place: &Place, quasi: &[PwAff]) -> isl::Result<Option<PwMultiAff>> {
    if quasi.is_empty() {
        return Ok(None);
    }
    let mut m: Option<MultiPwAff> = None;
    let dims = (0..place.dims()).map(|d| {
        let ls = isl::LocalSpace::from_space(place.space()?)?;
        PwAff::from_aff(isl::Aff::var_on_domain(ls, DimType::Set, d as u32)?)
    });
    for p in dims.chain(quasi.iter().cloned().map(Ok)) {
        let p = MultiPwAff::from_pw_aff(p?)?;
        m = Some(match m {
            None => p,
            Some(m) => m.flat_range_product(p)?,
        });
    }
    m.map(PwMultiAff::from_multi_pw_aff).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_bound_is_told_from_what_was_not_found_out() {
        let ctx = isl::Context::new();
        let of = |text: &str| {
            let set = Set::read(&ctx, text).unwrap();
            let known = Set::read(&ctx, "{ : }").unwrap();
            Bounded::new(set.clone(), &known, 1).unwrap().bounds(&set, 0)
        };
        let cases = [
            ("[n] -> { [i] : 0 <= i < n }", true),
            ("[n, m] -> { [i] : m <= 2i <= n }", true),
            ("[n] -> { [i] : 0 <= i }", false),
            ("[n] -> { [i] : i < n }", false),
            ("{ [i] }", false),
        ];
        for (text, bounded) in cases {
            assert_eq!(of(text).unwrap().is_some(), bounded, "{text}");
        }
        let set = Set::read(&ctx, cases[1].0).unwrap();
        let bounded = Bounded::new(set.clone(), &Set::read(&ctx, "{ : }").unwrap(), 1).unwrap();
        let _budget = ctx.budget(1);
        assert!(matches!(bounded.bounds(&set, 0), Err(isl::Error::Quota)));
    }
}

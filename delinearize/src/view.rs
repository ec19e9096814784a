//! A guessed shape made into a view: subscripts by division, multiples of sizes put right, and the exact
//! condition.
//!
//! **Division** (Section 13.3, step 3): the offset divided by the innermost size leaves the innermost
//! subscript as remainder; the quotient is divided by the next size, and so on.
//!
//! **Multiples of a size** (Section 13.3.2): `A[0][M - 1]` divides to `A[1][-1]`. For every number `k`,
//! `A[.., f - k, k*s + g, ..]` is the same address as `A[.., f, g, ..]`; for one iteration one `k` only is
//! inside. In this order an access gets, for each inner dimension from the innermost,
//! 1. one `k` that is inside for all iterations and parameters,
//! 2. several `k`, each on its part of the iterations, if together they are inside for all,
//! 3. `k = 0`, if some parameters make all iterations inside (a condition is needed),
//! 4. the `k`, or the several, that need the weakest condition;
//!
//! of those that are inside for some of the parameters that programs have ([`Executed::usual`]; for `k = 0`
//! [`Executed::short`] will do), and else of all.
//!
//! **Condition**: with `D` the executed iterations, the violations are `{ x in D : f_k < 0 or f_k >= d_k }`
//! for some inner dimension `k`; the view is right for the parameters in the complement of their projection.
//! Where something is executed that includes `d_k > 0`. isl projects integer points exactly, so the condition
//! is neither too weak nor too strong.

use crate::affine::to_pw_aff;
use crate::poly::{Polynomial, Symbol, gcd};
use crate::shapes::Sizes;
use crate::typical::{End, UNLIKE, ends, origins};
use crate::{DelinearizeError, Problem};
use pollyrs_isl as isl;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

type Result<T> = std::result::Result<T, DelinearizeError>;

/// Largest multiple of a size moved between neighbouring dimensions (`k_l`, `k_u` of the paper, which tries
/// one).
const MAX_MULTIPLE: i128 = 2;
/// An access in more pieces than this (two dimensions of three) gets a condition instead.
const MAX_PIECES: usize = 9;
/// A condition of more cases than this is replaced by a stronger one without cases, where there is one. Each
/// check at run time, and each set that it is intersected with before, has them all.
const MAX_CASES: u32 = 3;

/// Conditions of a part that are looked at one by one.
const MAX_WIDENED: usize = 12;

/// A condition of more parts than this is left as isl gives it.
const MAX_TIDY: usize = 12;

/// Subscripts on a part of an access's iterations.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub domain: isl::Set,
    /// The first access that has this domain, if it is that of a whole access.
    whole: Option<usize>,
    /// Outermost first, affine.
    pub subscripts: Vec<Polynomial>,
    /// By dimension: the multiple of its size that was moved into it from the one before.
    moved: Vec<i128>,
}

impl Piece {
    /// The same addresses with `k` times `size`, the size of dimension `at`, moved into that dimension from
    /// the one before.
    fn moved(&self, k: i128, at: usize, size: &Polynomial) -> Piece {
        let mut f = self.subscripts.clone();
        f[at] = &f[at] + &size.scale(k);
        f[at - 1] = &f[at - 1] - &Polynomial::constant(k);
        let mut moved = self.moved.clone();
        moved[at] += k;
        Piece { domain: self.domain.clone(), whole: self.whole, subscripts: f, moved }
    }
}

/// Iterations outside of a dimension.
#[derive(Debug)]
struct Outside {
    set: isl::Set,
    empty: bool,
    /// The parameters for which there are any.
    params: OnceCell<isl::Set>,
}

/// A piece that is inside of a dimension, or all multiples of the size with what each leaves outside.
type Placed = std::result::Result<Piece, Vec<(i128, Rc<Outside>)>>;

impl Outside {
    fn params(&self) -> Result<isl::Set> {
        if let Some(known) = self.params.get() {
            return Ok(known.clone());
        }
        let found = self.set.clone().params()?;
        Ok(self.params.get_or_init(|| found).clone())
    }
}

/// A shape with subscripts for all accesses.
pub(crate) struct View {
    pub sizes: Sizes,
    /// For each access, the pieces; they cover its executed iterations where no violation is.
    pub pieces: Vec<Vec<Piece>>,
    /// Parameters of the context for which something is outside.
    pub violations: isl::Set,
}

impl View {
    pub fn is_unconditional(&self) -> Result<bool> {
        Ok(self.violations.is_empty()?)
    }

    pub fn max_pieces(&self) -> usize {
        self.pieces.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Whether accesses that differ by less than a row are in different rows: some reach over the end of a
    /// row, others do not.
    pub fn wraps(&self) -> bool {
        let mut all = self.pieces.iter().flatten();
        let first = all.next();
        all.any(|p| first.is_some_and(|f| f.moved != p.moved))
    }
}

/// Subscripts of all accesses in the shape `sizes`, `None` where one is not affine in 64 bits. With `adjust`,
/// the sizes may be multiplied by common divisors of the subscripts.
pub(crate) fn divide(
    offsets: &[Polynomial],
    sizes: &Sizes,
    adjust: bool,
) -> Option<(Sizes, Vec<Vec<Polynomial>>)> {
    // The symbol in which a size is divided by matters for subscripts that contain other symbols of it.
    let variants = sizes.iter().map(|s| s.symbols().len()).max().unwrap_or(1).max(1);
    let mut found = (0..variants).find_map(|v| {
        let all: Option<Vec<_>> = offsets.iter().map(|o| divide_one(o, sizes, v)).collect();
        Some((sizes.clone(), all?))
    })?;
    if adjust {
        scale_sizes(&mut found.0, &mut found.1);
    }
    let fits = |p: &Polynomial| p.terms().all(|(_, c)| i64::try_from(c).is_ok());
    (found.0.iter().all(fits) && found.1.iter().flatten().all(fits)).then_some(found)
}

fn divide_one(offset: &Polynomial, sizes: &Sizes, variant: usize) -> Option<Vec<Polynomial>> {
    let mut rest = offset.clone();
    let mut inner = Vec::new();
    for size in sizes.iter().rev() {
        let mut symbols: Vec<Symbol> = size.symbols().into_iter().collect();
        let coefficient = |s: &Symbol| size.powers_of(*s).get(&1).map_or(0, |c| c.content());
        symbols.sort_by_key(coefficient);
        let (q, r) = match symbols.get(variant % symbols.len().max(1)) {
            Some(x) => rest.div_rem_in(size, *x)?,
            None => rest.div_rem(size)?,
        };
        if !r.is_affine() {
            return None;
        }
        inner.push(r);
        rest = q;
    }
    inner.push(rest);
    inner.reverse();
    inner[0].is_affine().then_some(inner)
}

/// Sizes `b*P` (Section 13.3.3): where all subscripts of dimension `k` are multiples of `g`, they are divided
/// by it, the size of `k + 1` is multiplied by it, and (what the paper leaves out) the size of `k` is divided
/// by it, so `g` must divide that too. It weakens the condition on `k + 1` and keeps the one on `k`.
fn scale_sizes(sizes: &mut Sizes, subscripts: &mut [Vec<Polynomial>]) {
    for k in 0..sizes.len() {
        let mut g = subscripts.iter().fold(0, |g, f| gcd(g, f[k].content()));
        if k > 0 {
            g = gcd(g, sizes[k - 1].content());
        }
        if g <= 1 {
            continue;
        }
        for f in subscripts.iter_mut() {
            if let Some(q) = f[k].div_exact_constant(g) {
                f[k] = q;
            }
        }
        if k > 0
            && let Some(q) = sizes[k - 1].div_exact_constant(g)
        {
            sizes[k - 1] = q;
        }
        sizes[k] = sizes[k].scale(g);
    }
}

/// isl's side of a problem: domains cut to the context, with one list of parameters.
pub(crate) struct Executed<'a> {
    pub problem: &'a Problem<'a>,
    pub params: isl::Space,
    pub context: isl::Set,
    /// For each access.
    pub domains: Vec<isl::Set>,
    /// For each access, the parameters for which it is executed.
    executed: Vec<isl::Set>,
    /// [`Executed::usual`], once it is asked for.
    pub(crate) usual: OnceCell<isl::Set>,
    /// [`Executed::short`], once it is asked for.
    pub(crate) short: OnceCell<isl::Set>,
    /// Parameters for which anything is executed.
    pub any: isl::Set,
    /// For each access, the first one with the same domain and offset, whose pieces it shares: a read and a
    /// write of an element, say.
    pub(crate) first: Vec<usize>,
    /// For each access, the first one with the same domain.
    pub(crate) same_domain: Vec<usize>,
    /// For each parameter of `params`, whether it is an origin.
    pub(crate) origins: Vec<bool>,
    pub(crate) ends: Vec<Option<End>>,
    /// What was found for whole domains (by `same_domain`), a subscript and a size: guesses have inner
    /// dimensions in common.
    known: RefCell<BTreeMap<(usize, Polynomial, Polynomial), Rc<Outside>>>,
}

impl<'a> Executed<'a> {
    pub fn new(problem: &'a Problem<'a>) -> Result<Self> {
        let names = problem.params.iter().map(String::as_str);
        let named = isl::Space::params_named(problem.context.context(), names)?;
        let mut context = problem.context.clone().align_params(named)?;
        for a in problem.accesses {
            context = context.align_params(a.domain.space()?.params()?)?;
        }
        let params = context.space()?;
        let mut any = isl::Set::empty(params.clone())?;
        let (mut domains, mut executed) = (Vec::<isl::Set>::new(), Vec::<isl::Set>::new());
        let (mut first, mut same_domain) = (Vec::new(), Vec::new());
        for (n, a) in problem.accesses.iter().enumerate() {
            let (mut equal, mut twin) = (n, n);
            for (m, b) in problem.accesses[..n].iter().enumerate() {
                if same_domain[m] == m && b.domain.plain_is_equal(&a.domain)? {
                    equal = m;
                }
                if same_domain[m] == equal && b.offset == a.offset {
                    twin = m;
                    break;
                }
            }
            same_domain.push(equal);
            first.push(twin);
            if equal < n {
                domains.push(domains[equal].clone());
                executed.push(executed[equal].clone());
                continue;
            }
            let d = a
                .domain
                .clone()
                .align_params(params.clone())?
                .intersect_params(context.clone())?
                .coalesce()?;
            let runs = d.clone().params()?;
            any = any.union(runs.clone())?;
            executed.push(runs);
            domains.push(d);
        }
        let any = any.coalesce()?;
        let origins = origins(problem, &params)?;
        let ends = ends(problem, &params)?;
        Ok(Executed {
            problem,
            params,
            context,
            domains,
            executed,
            any,
            first,
            same_domain,
            origins,
            ends,
            usual: OnceCell::new(),
            short: OnceCell::new(),
            known: RefCell::default(),
        })
    }

    /// The piece that is a whole access.
    fn whole(&self, access: usize, subscripts: &[Polynomial]) -> Piece {
        let whole = Some(self.same_domain[access]);
        let moved = vec![0; subscripts.len()];
        Piece { domain: self.domains[access].clone(), whole, subscripts: subscripts.to_vec(), moved }
    }

    pub(crate) fn nonneg(&self, p: &Polynomial, space: &isl::Space) -> Result<isl::Set> {
        Ok(to_pw_aff(p, space, self.problem.params)?.nonneg_set()?)
    }

    /// `0 <= f`, `f < size`.
    fn bounds(&self, f: &Polynomial, size: &Polynomial, space: &isl::Space) -> Result<(isl::Set, isl::Set)> {
        let above = &(size - f) - &Polynomial::constant(1);
        Ok((self.nonneg(f, space)?, self.nonneg(&above, space)?))
    }

    /// Iterations of `piece` with its subscript `at` outside `0 <= f < size`.
    fn outside(&self, piece: &Piece, at: usize, size: &Polynomial) -> Result<Rc<Outside>> {
        let f = &piece.subscripts[at];
        let key = piece.whole.map(|n| (n, f.clone(), size.clone()));
        if let Some(known) = key.as_ref().and_then(|k| self.known.borrow().get(k).cloned()) {
            return Ok(known);
        }
        let set = self.beyond(f, &Polynomial::default(), size, &piece.domain)?;
        let empty = set.is_empty()?;
        let found = Rc::new(Outside { set, empty, params: OnceCell::new() });
        if let Some(key) = key {
            self.known.borrow_mut().insert(key, found.clone());
        }
        Ok(found)
    }

    /// Iterations of `domain` with `f < low` or `f >= high`. (The intersection with a half-space, where a
    /// subtraction would be taken apart constraint by constraint.)
    fn beyond(
        &self,
        f: &Polynomial,
        low: &Polynomial,
        high: &Polynomial,
        domain: &isl::Set,
    ) -> Result<isl::Set> {
        let space = domain.space()?;
        let below = &(low - f) - &Polynomial::constant(1);
        let mut all: Option<isl::Set> = None;
        for half in [below, f - high] {
            let part = domain.clone().intersect(self.nonneg(&half, &space)?)?;
            if !part.is_empty()? {
                all = Some(match all {
                    Some(other) => other.union(part)?,
                    None => part,
                });
            }
        }
        Ok(all.map_or_else(|| isl::Set::empty(space), Ok)?)
    }

    /// The view of shape `sizes` with these subscripts as they come from the division, if it needs neither a
    /// condition nor more than one piece an access. Gives up at the first sign that it does, so it costs less
    /// than [`Executed::view`].
    pub fn simple_view(&self, sizes: &Sizes, subscripts: &[Vec<Polynomial>]) -> Result<Option<View>> {
        let mut pieces: Vec<Vec<Piece>> = Vec::new();
        for (n, f) in subscripts.iter().enumerate() {
            if let Some(shared) = pieces.get(self.first[n]) {
                pieces.push(shared.clone());
                continue;
            }
            let mut piece = self.whole(n, f);
            for k in (0..sizes.len()).rev() {
                match self.place_whole(&piece, k + 1, &sizes[k])? {
                    Ok(placed) => piece = placed,
                    Err(_) => return Ok(None),
                }
            }
            pieces.push(vec![piece]);
        }
        let violations = isl::Set::empty(self.params.clone())?;
        Ok(Some(View { sizes: sizes.clone(), pieces, violations }))
    }

    /// The view of shape `sizes` with these subscripts as they come from the division. `None`, as soon as
    /// that is known, if it is wrong wherever anything is executed, or wherever another one is, with the
    /// violations `other`.
    pub fn view(
        &self,
        sizes: &Sizes,
        subscripts: &[Vec<Polynomial>],
        other: Option<&isl::Set>,
    ) -> Result<Option<View>> {
        let mut violations = isl::Set::empty(self.params.clone())?;
        let mut found: Vec<isl::Set> = Vec::new();
        let mut pieces: Vec<Vec<Piece>> = Vec::new();
        for (n, f) in subscripts.iter().enumerate() {
            if let Some(shared) = pieces.get(self.first[n]) {
                pieces.push(shared.clone());
                continue;
            }
            let mut mine = vec![self.whole(n, f)];
            for k in (0..sizes.len()).rev() {
                let mut next = Vec::new();
                let room = MAX_PIECES.saturating_sub(mine.len() - 1).max(1);
                for piece in mine {
                    let (parts, outside) = self.place(piece, k + 1, &sizes[k], room)?;
                    next.extend(parts);
                    let mut new = !outside.plain_is_empty()?;
                    for old in &found {
                        new = new && !old.plain_is_equal(&outside)?;
                    }
                    if !new {
                        continue;
                    }
                    found.push(outside.clone());
                    violations = violations.union(outside)?.coalesce()?;
                    if other.map_or(Ok(false), |o| o.is_subset(&violations))?
                        || !self.any.is_empty()? && self.any.is_subset(&violations)?
                    {
                        return Ok(None);
                    }
                }
                mine = next;
            }
            pieces.push(mine);
        }
        Ok(Some(View { sizes: sizes.clone(), pieces, violations }))
    }

    /// `piece` with the one multiple of `size` moved that is inside for all iterations; else all multiples
    /// with the iterations outside.
    fn place_whole(&self, piece: &Piece, at: usize, size: &Polynomial) -> Result<Placed> {
        if piece.domain.is_empty()? {
            return Ok(Ok(piece.clone()));
        }
        let mut options = Vec::new();
        for k in (0..=MAX_MULTIPLE).flat_map(|k| if k == 0 { vec![0] } else { vec![k, -k] }) {
            let placed = piece.moved(k, at, size);
            let outside = self.outside(&placed, at, size)?;
            if outside.empty {
                return Ok(Ok(placed));
            }
            options.push((k, outside));
        }
        Ok(Err(options))
    }

    /// Moves multiples of `size` between the dimensions `at - 1` and `at` of `piece` so that `at` is inside.
    /// Gives the parts and the parameters for which some iteration of the piece is in none.
    fn place(
        &self,
        piece: Piece,
        at: usize,
        size: &Polynomial,
        room: usize,
    ) -> Result<(Vec<Piece>, isl::Set)> {
        let none = isl::Set::empty(self.params.clone())?;
        let options = match self.place_whole(&piece, at, size)? {
            Ok(placed) => return Ok((vec![placed], none)),
            Err(options) => options,
        };
        let whole = |k: i128| vec![piece.moved(k, at, size)];
        let rest = self.left_over(&piece, at, size)?;
        if rest.is_empty()? {
            let parts = self.slabs(&piece, at, size)?;
            if parts.len() <= room {
                return Ok((parts, none));
            }
        }
        // A condition is needed. Impossible: every parameter that executes the piece violates it.
        let executed = match piece.whole {
            Some(n) => self.executed[n].clone(),
            None => piece.domain.clone().params()?,
        };
        let usual = self.usual()?.intersect(executed.clone())?;
        let mut slabs: Option<Vec<Piece>> = None;
        if let Some((0, outside)) = options.first() {
            let violated = outside.params()?;
            if !self.short()?.intersect(executed.clone())?.is_subset(&violated)? {
                return Ok((whole(0), violated));
            }
        }
        for (usually, there) in [(true, usual), (false, executed.clone())] {
            let mut best: Option<(Vec<Piece>, isl::Set)> = None;
            for (k, outside) in &options {
                let violated = outside.params()?;
                let possible = !there.is_subset(&violated)?;
                if *k == 0 && possible {
                    return Ok((whole(0), violated));
                }
                if possible && weaker(&violated, best.as_ref().map(|b| &b.1))? {
                    best = Some((whole(*k), violated));
                }
            }
            // Several parts are worth a weaker condition where nothing else is: what is in one row in the
            // program's mind is in one part.
            if let Some(best) = best.take_if(|_| usually) {
                return Ok(best);
            }
            let parts = match &slabs {
                Some(known) => known.clone(),
                None => slabs.insert(self.slabs(&piece, at, size)?).clone(),
            };
            if parts.len() <= room {
                let violated = rest.clone().params()?;
                if !there.is_subset(&violated)? && weaker(&violated, best.as_ref().map(|b| &b.1))? {
                    best = Some((parts, violated));
                }
            }
            if let Some(best) = best {
                return Ok(best);
            }
        }
        Ok((whole(0), executed))
    }

    /// What the slabs leave over: they lie side by side, between `-MAX_MULTIPLE` and `MAX_MULTIPLE + 1`
    /// sizes; all, where the size is not positive.
    fn left_over(&self, piece: &Piece, at: usize, size: &Polynomial) -> Result<isl::Set> {
        let (low, high) = (size.scale(-MAX_MULTIPLE), size.scale(MAX_MULTIPLE + 1));
        self.beyond(&piece.subscripts[at], &low, &high, &piece.domain)
    }

    /// The parts of `piece` on which one multiple each is inside.
    fn slabs(&self, piece: &Piece, at: usize, size: &Polynomial) -> Result<Vec<Piece>> {
        let space = piece.domain.space()?;
        let mut parts = Vec::new();
        for k in -MAX_MULTIPLE..=MAX_MULTIPLE {
            let part = piece.moved(k, at, size);
            let (low, high) = self.bounds(&part.subscripts[at], size, &space)?;
            let domain = piece.domain.clone().intersect(low)?.intersect(high)?;
            if !domain.is_empty()? {
                parts.push(Piece { domain, whole: None, ..part });
            }
        }
        Ok(parts)
    }

    /// The subscript functions of an access, simplified for its executed iterations.
    pub fn functions(&self, access: usize, pieces: &[Piece]) -> Result<Vec<isl::PwAff>> {
        let domain = &self.domains[access];
        let space = domain.space()?;
        let params = self.problem.params;
        let dims = pieces.first().map_or(0, |p| p.subscripts.len());
        (0..dims)
            .map(|k| {
                let same = pieces.windows(2).all(|w| w[0].subscripts[k] == w[1].subscripts[k]);
                if same {
                    return to_pw_aff(&pieces[0].subscripts[k], &space, params);
                }
                let mut sum: Option<isl::PwAff> = None;
                for p in pieces {
                    let aff = crate::affine::to_aff(&p.subscripts[k], &space, params)?;
                    let part = isl::PwAff::alloc(p.domain.clone(), aff)?;
                    sum = Some(match sum {
                        Some(s) => s.union_add(part)?,
                        None => part,
                    });
                }
                let sum = sum.ok_or(DelinearizeError::Malformed("no pieces"))?;
                // Simplifying each piece by itself lets them overlap outside of the domain, where isl would
                // then see a relation with several values.
                let simple = sum.coalesce()?.gist(domain.clone())?;
                Ok(if simple.isa_aff()? { simple } else { simple.intersect_domain(domain.clone())? })
            })
            .collect()
    }

    /// The condition of a view, gisted against the context.
    pub fn assumption(&self, view: &View) -> Result<isl::Set> {
        if view.is_unconditional()? {
            return Ok(isl::Set::universe(self.params.clone())?);
        }
        // Where nothing is executed the view is right, and elsewhere that need not be said again: a union of
        // `nothing is executed` with the condition simplified for the rest is shorter than what the
        // subtraction gives.
        let right = self.context.clone().subtract(view.violations.clone())?.coalesce()?;
        let right = right.gist(self.any.clone())?.union(self.any.clone().complement()?)?;
        let right = right.gist(self.context.clone())?.coalesce()?;
        tidy(right)
    }

    /// What to check in place of `assumption`: that, or if it has many cases what makes the view right if all
    /// accesses are executed, and also otherwise; no union, and it holds for sizes that are alike. (For each
    /// loop `it does not run, or its accesses fit`: of several loops with sizes of their own that is a case
    /// for each set of loops.)
    pub fn check(&self, view: &View, assumption: &isl::Set) -> Result<isl::Set> {
        let simpler = if assumption.n_basic_set()? > MAX_CASES { self.all_fit(view)? } else { None };
        Ok(simpler.unwrap_or_else(|| assumption.clone()))
    }

    fn all_fit(&self, view: &View) -> Result<Option<isl::Set>> {
        let mut all = self.context.clone();
        for d in &self.domains {
            all = all.intersect(d.clone().params()?)?;
        }
        let typical = self.alike(all.clone(), UNLIKE, false)?;
        let fits = all.clone().subtract(view.violations.clone())?;
        // Without saying that all are executed if that is not needed.
        for simple in [fits.clone().gist(all)?, fits.gist(self.context.clone())?] {
            let (mut usual, mut others) = (None, Vec::new());
            for part in simple.coalesce()?.basic_sets()? {
                let part = isl::Set::from_basic_set(part)?;
                if !part.clone().intersect(self.context.clone())?.is_disjoint(&view.violations)? {
                    continue;
                }
                match &usual {
                    None if !part.is_disjoint(&typical)? => usual = Some(part),
                    _ => others.push(part),
                }
            }
            let Some(usual) = usual else { continue };
            let usual = self.widened(usual, view)?;
            // A row of `min(m, 40)` is 40 or `m` long: of two cases both are checked for.
            return match &others[..] {
                [other] => Ok(Some(usual.union(self.widened(other.clone(), view)?)?.coalesce()?)),
                _ => Ok(Some(usual)),
            };
        }
        Ok(None)
    }

    /// `part` without the constraints that the view is right without: of what is known to be unequal
    /// (`x < y or x > y`) a part has one side.
    fn widened(&self, part: isl::Set, view: &View) -> Result<isl::Set> {
        let mut kept = part.basic_set_list()?.to_vec()?.iter().try_fold(Vec::new(), |mut all, b| {
            all.extend(b.constraints()?);
            Ok::<_, isl::Error>(all)
        })?;
        let joined = |constraints: &[isl::Constraint]| -> Result<isl::Set> {
            let mut set = isl::Set::universe(part.space()?)?;
            for c in constraints {
                set = set.intersect(isl::Set::from_basic_set(isl::BasicSet::from_constraint(c.clone())?)?)?;
            }
            Ok(set)
        };
        if kept.len() > MAX_WIDENED {
            return Ok(part);
        }
        let (mut at, mut widest) = (0, part.clone());
        while at < kept.len() {
            let mut fewer = kept.clone();
            fewer.remove(at);
            let wider = joined(&fewer)?;
            if wider.clone().intersect(self.context.clone())?.is_disjoint(&view.violations)? {
                (kept, widest) = (fewer, wider);
            } else {
                at += 1;
            }
        }
        Ok(widest)
    }
}

/// The same set with each part cut to what the others do not say: subtraction makes parts disjoint
/// (`n <= 0 or (n > 0 and m <= s)`), which a run-time check need not be. For a part `B` and the rest `R`,
/// `gist(B, complement of R)` is `B` outside `R`, and inside `R` nothing matters.
fn tidy(set: isl::Set) -> Result<isl::Set> {
    let mut parts =
        set.basic_sets()?.into_iter().map(isl::Set::from_basic_set).collect::<isl::Result<Vec<_>>>()?;
    if parts.len() < 2 || parts.len() > MAX_TIDY {
        return Ok(set);
    }
    parts.sort_by_cached_key(|s| s.to_string());
    for n in 0..parts.len() {
        let mut rest = isl::Set::empty(set.space()?)?;
        for (_, p) in parts.iter().enumerate().filter(|(m, _)| *m != n) {
            rest = rest.union(p.clone())?;
        }
        parts[n] = parts[n].clone().gist(rest.complement()?)?;
    }
    let mut tidied = isl::Set::empty(set.space()?)?;
    for p in parts {
        tidied = tidied.union(p)?;
    }
    Ok(tidied.coalesce()?)
}

/// Whether the violations `a` are fewer than `b`; anything is fewer than nothing known.
pub(crate) fn weaker(a: &isl::Set, b: Option<&isl::Set>) -> Result<bool> {
    match b {
        None => Ok(true),
        Some(b) => Ok(a.is_subset(b)? && !b.is_subset(a)?),
    }
}

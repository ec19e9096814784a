//! The choice among guessed shapes: the weakest condition wins.
//!
//! Offsets that are all affine have the linear view, which is always right. A view with more dimensions is
//! better for locality and for the cost of dependence analysis, and is taken if it needs no condition and no
//! case distinction. A view that needs a condition is taken only if the IR's array type names its sizes *and*
//! some counter strides over a whole row of it: without either there is no sign that the program means such
//! an array. With both, the condition buys parallelism: for `float A[9][1024]` and `j < m`, the linear view
//! has row `i` overlap row `i + 1` for large `m`.
//!
//! Otherwise guesses are tried until one needs no condition; failing that, the one whose violations are
//! fewest; among incomparable ones (otherwise the first, so that the result is deterministic) one that is
//! right where all sizes are alike: `A[i * s + i + j]` for `i + j < m` is a matrix with rows of `s`, not one
//! with rows of `s + 1`, where `j` would have to stay below `s - i`.

use crate::affine::{self, Result};
use crate::poly::{Polynomial, Symbol};
use crate::quotient;
use crate::shapes::{self, Sizes};
use crate::typical::Typical;
use crate::view::{self, Executed, View};
use crate::{Blocked, DelinearizeError, Origin, Problem, Shape};
use std::collections::BTreeSet;

/// Views derived with isl for one problem at most, a bound on compile time.
const MAX_VIEWS: usize = 24;
/// isl operations of the search for the rows of a band.
const BAND: u64 = 200_000;

pub(crate) fn best(problem: &Problem) -> Result<Shape> {
    let offsets = affine::element_offsets(problem)?;
    if offsets.iter().all(Polynomial::is_affine) {
        return affine_offsets(problem, &offsets);
    }
    check_counters(problem, &offsets)?;
    let run = Executed::new(problem)?;
    if let Some(wide) = run.in_one_part()?
        && let Ok(shape) = found(&offsets, &run, &wide)
        && shape.likely
    {
        return Ok(shape);
    }
    found(&offsets, &run, &run)
}

/// The best shape; `wide`: for conditions.
fn found(offsets: &[Polynomial], run: &Executed, wide: &Executed) -> Result<Shape> {
    let problem = run.problem;
    let mut search = Search { wide, ..Search::new(run, offsets) };
    let guesses = shapes::guesses(offsets, false);
    let shifted: Vec<Sizes> = guesses.iter().flat_map(shapes::shifted).collect();
    // The later lists are for what the earlier ones do not explain, or not well: only where sizes that are
    // alike break the condition, as for the rows of a band, `A[i * (k + 1) + j - i]` of which a counter
    // strides over `k`. A shape that is right for all sizes is better than one for equal ones, and this than
    // one for nearly equal ones.
    let explained =
        |v: &View| -> Result<Typical> { if v.max_pieces() == 1 { wide.typical(v) } else { Ok(Typical::No) } };
    let mut near: Option<(Typical, View)> = None;
    for list in [guesses, shapes::guesses(offsets, true), shifted] {
        if let Some(view) = search.simple(&list, true)? {
            let view = search.plain(&view.sizes)?.unwrap_or(view);
            return finish(wide, &view, Origin::Strides);
        }
        if problem.certain || near.as_ref().is_some_and(|(typical, _)| *typical == Typical::Equal) {
            continue;
        }
        let typical = search.weakest()?.map_or(Ok(Typical::No), explained)?;
        if near.as_ref().map_or(Typical::No, |(typical, _)| *typical) < typical
            && let Some(view) = search.chosen()?
        {
            near = Some((typical, view));
        }
    }
    if problem.certain {
        return Err(Blocked::NeverInside.into());
    }
    if let Some((typical, view)) = near {
        let band = if typical == Typical::Equal { search.band(&view)? } else { None };
        return finish(wide, &band.unwrap_or(view), Origin::Strides);
    }
    if search.weakest()?.is_none_or(|v| v.max_pieces() > 1)
        && let Some(view) = search.simple(&shapes::by_parameters(offsets), true)?
    {
        return finish(wide, &view, Origin::Strides);
    }
    if let Some(view) = search.chosen()? {
        return finish(wide, &view, Origin::Strides);
    }
    Err(if search.tried.is_empty() { stuck(problem, offsets) } else { Blocked::NeverInside.into() })
}

/// The error for offsets that no guess makes affine. To blame is the parameter with the fewest products
/// without which the others have a shape; failing that, the first product.
fn stuck(problem: &Problem, offsets: &[Polynomial]) -> DelinearizeError {
    let blocked = |access, term: &Polynomial| {
        Blocked::NonAffineSubscript { access, term: affine::display(term, problem.params) }.into()
    };
    let products = |o: &Polynomial| -> Vec<Polynomial> {
        o.terms().filter(|(m, _)| m.degree() > 1).map(|(m, c)| Polynomial::term(m.clone(), c)).collect()
    };
    let symbols: BTreeSet<Symbol> = offsets.iter().flat_map(products).flat_map(|t| t.symbols()).collect();
    let mut best: Option<(usize, usize, Polynomial)> = None;
    for s in symbols.into_iter().filter(|s| matches!(s, Symbol::Param(_))) {
        let holds = |t: &Polynomial| t.symbols().contains(&s);
        let without: Vec<Polynomial> = offsets
            .iter()
            .map(|o| products(o).iter().filter(|t| holds(t)).fold(o.clone(), |rest, t| &rest - t))
            .collect();
        let mut shapes = shapes::guesses(&without, false).into_iter();
        if without.iter().all(Polynomial::is_affine)
            || shapes.any(|sizes| quotient::divide(&without, &sizes, false).is_some())
        {
            let mut culprits = offsets.iter().enumerate().flat_map(|(n, o)| {
                products(o).into_iter().filter(holds).map(move |t| (n, t)).collect::<Vec<_>>()
            });
            if let Some((access, term)) = culprits.next() {
                let count = 1 + culprits.count();
                if best.as_ref().is_none_or(|b| count < b.0) {
                    best = Some((count, access, term));
                }
            }
        }
    }
    if let Some((_, access, term)) = best {
        return blocked(access, &term);
    }
    let first = offsets.iter().enumerate().find_map(|(n, o)| Some((n, products(o).into_iter().next()?)));
    match first {
        Some((access, term)) => blocked(access, &term),
        None => Blocked::NeverInside.into(),
    }
}

/// A product or power of counters is in no affine subscript times a size.
fn check_counters(problem: &Problem, offsets: &[Polynomial]) -> Result<()> {
    for (access, offset) in offsets.iter().enumerate() {
        for (m, c) in offset.terms() {
            let counters: u32 =
                m.factors().filter(|(s, _)| matches!(s, Symbol::Iter(_))).map(|(_, e)| e).sum();
            if counters > 1 {
                let term = affine::display(&Polynomial::term(m.clone(), c), problem.params);
                return Err(Blocked::NonAffineSubscript { access, term }.into());
            }
        }
    }
    Ok(())
}

struct Search<'a> {
    run: &'a Executed<'a>,
    /// For views that need a condition.
    wide: &'a Executed<'a>,
    offsets: &'a [Polynomial],
    /// Divisions done, with their (perhaps scaled) sizes.
    tried: Vec<Divided>,
    /// The best of the first `.1` of them.
    weakest: (Option<View>, usize),
}

struct Divided {
    sizes: Sizes,
    subscripts: Vec<Vec<Polynomial>>,
}

impl<'a> Search<'a> {
    fn new(run: &'a Executed<'a>, offsets: &'a [Polynomial]) -> Self {
        Search { run, wide: run, offsets, tried: Vec::new(), weakest: (None, 0) }
    }

    /// The first guess that is right for all parameters with one piece an access. Guesses seen before are
    /// passed over.
    fn simple(&mut self, guesses: &[Sizes], adjust: bool) -> Result<Option<View>> {
        for guess in guesses {
            if self.tried.len() >= MAX_VIEWS {
                break;
            }
            let Some((sizes, subscripts)) = quotient::divide(self.offsets, guess, adjust) else { continue };
            if self.tried.iter().any(|t| t.sizes == sizes) {
                continue;
            }
            if let Some(view) = self.run.simple_view(&sizes, &subscripts)? {
                return Ok(Some(view));
            }
            self.tried.push(Divided { sizes, subscripts });
        }
        Ok(None)
    }

    /// The same shape without the numbers added to its sizes, if that is right for all parameters too: the
    /// rows `R[k][k + 1 + j]` of a triangle step by `n + 1`, in which they are a square array with rows of
    /// `n + 1`, but also one with the program's rows of `n`. The rows of a halo array are left in the shape
    /// without its numbers.
    fn plain(&mut self, sizes: &Sizes) -> Result<Option<View>> {
        let plain: Sizes = sizes.iter().map(without_number).collect();
        if plain == *sizes {
            return Ok(None);
        }
        self.simple(&[plain], true)
    }

    /// Of the guesses that [`Search::simple`] found not to be simple, the one with the weakest condition, if
    /// any has a possible one.
    fn weakest(&mut self) -> Result<Option<&View>> {
        while let Some(t) = self.tried.get(self.weakest.1) {
            self.weakest.1 += 1;
            // One that is right for all parameters can only be beaten by one with fewer pieces.
            let other = self.weakest.0.as_ref().map(|best| &best.violations);
            if let Some(view) = self.wide.view(&t.sizes, &t.subscripts, other)?
                && self.better(&view, self.weakest.0.as_ref())?
            {
                self.weakest.0 = Some(view);
            }
        }
        Ok(self.weakest.0.as_ref())
    }

    /// What [`Search::weakest`] finds, or the same shape without the numbers added to its sizes, where that
    /// is right for sizes that are alike: `L[k + 1 + i + k * ld]`, a triangle of which a counter steps by
    /// `ld + 1`, has columns of `ld`. That they are not shorter than the triangle is a little more than what
    /// the shape with columns of `ld + 1` needs, but true of the program's matrix. Rows of `e + 1`, as of a
    /// Fortran array `lo:hi` with `e = hi - lo`, are not rows of `e`: then the last row would have to be
    /// shorter by the number of rows.
    fn chosen(&mut self) -> Result<Option<View>> {
        self.weakest()?;
        let Some(view) = self.weakest.0.take() else { return Ok(None) };
        let plain: Sizes = view.sizes.iter().map(without_number).collect();
        if plain != view.sizes
            && let Some((sizes, subscripts)) = quotient::divide(self.offsets, &plain, true)
            && let Some(other) = self.wide.view(&sizes, &subscripts, None)?
            && other.max_pieces() <= view.max_pieces()
            && self.wide.typical(&other)? == Typical::Equal
            && is_barely_weaker(&view, &other)?
            && (!is_longer(&view.sizes) || !self.wide.tight(&view)?.is_subset(&other.violations)?)
        {
            return Ok(Some(other));
        }
        Ok(Some(view))
    }

    /// A shape with an element more or less in each row, if far more parameters than of `equal` are right for
    /// it. Of a band, `A[(i + j) * (k + 1) + k - i]`, a counter strides over `k`: rows of `k` are right if
    /// there are at most `k` of them, rows of `k + 1` if `k` is not negative. It is looked for in
    /// nests, and not longer than bands take.
    fn band(&self, equal: &View) -> Result<Option<View>> {
        let has_two =
            |access: &crate::AccessPoly| access.domain.dim(pollyrs_isl::DimType::Set).map(|n| n > 1);
        let mut several = false;
        for access in self.run.problem.accesses {
            several |= has_two(access)?;
        }
        if !several || equal.is_unconditional()? {
            return Ok(None);
        }
        match self.run.problem.context.context().with_budget(BAND, || self.weaker_band(equal)) {
            Err(DelinearizeError::Isl(pollyrs_isl::Error::Quota)) => Ok(None),
            found => found,
        }
    }

    /// [`Search::band`] within no budget of its own.
    fn weaker_band(&self, equal: &View) -> Result<Option<View>> {
        for guess in shapes::shifted(&equal.sizes).iter().take(2) {
            if let Some((sizes, subscripts)) = quotient::divide(self.offsets, guess, true)
                && let Some(view) = self.wide.view(&sizes, &subscripts, Some(&equal.violations))?
                && view.max_pieces() == 1
                && view::weaker(&view.violations, Some(&equal.violations))?
                && !is_barely_weaker(&view, equal)?
                && self.wide.typical(&view)? == Typical::Equal
            {
                return Ok(Some(view));
            }
        }
        Ok(None)
    }

    /// Whether `pieced` has a condition and more pieces than `other`, which is right for some of the usual
    /// sizes.
    fn is_pieced_for_nothing(&self, pieced: &View, other: &View) -> Result<bool> {
        if pieced.max_pieces() <= other.max_pieces() || pieced.is_unconditional()? {
            return Ok(false);
        }
        let short = other.max_pieces() == 1 && self.steps_by_rows(&other.sizes);
        let usual = if short { self.wide.short()? } else { self.wide.usual()? };
        Ok(!usual.is_subset(&other.violations)?)
    }

    /// Whether counters step by the rows, planes and so on of a shape, as they are.
    fn steps_by_rows(&self, sizes: &Sizes) -> bool {
        let mut stride = Polynomial::constant(1);
        sizes.iter().rev().all(|size| {
            stride = &stride * size;
            let negative = -&stride;
            self.offsets.iter().any(|o| {
                let counters = o.symbols().into_iter().filter(|s| matches!(s, Symbol::Iter(_)));
                let mut steps = counters.filter_map(|s| o.powers_of(s).remove(&1));
                steps.any(|step| step == stride || step == negative)
            })
        })
    }

    fn better(&self, view: &View, best: Option<&View>) -> Result<bool> {
        let Some(best) = best else { return Ok(true) };
        if view.is_unconditional()? && best.is_unconditional()? {
            return Ok(view.max_pieces() < best.max_pieces());
        }
        // Several pieces and a condition are for what no row holds as a whole, whatever the sizes are that
        // programs have.
        if self.is_pieced_for_nothing(view, best)? || self.is_pieced_for_nothing(best, view)? {
            return Ok(view.max_pieces() < best.max_pieces());
        }
        if view::weaker(&view.violations, Some(&best.violations))? {
            return Ok(true);
        }
        // Sizes that are tied to each other may make any view wrong where all parameters are alike, so this
        // decides between those only that cannot be compared.
        let comparable = best.violations.is_subset(&view.violations)?;
        let (new, old) = (self.wide.typical(view)?, self.wide.typical(best)?);
        // What is right for nearly equal sizes only is not worth more pieces: an offset among the parameters
        // is no size.
        let cheap = new == Typical::Equal || view.max_pieces() <= best.max_pieces();
        Ok(!comparable && new > old && cheap)
    }
}

/// Whether the parameters for which `view` is right and `other` is not lie in a hyperplane: rows may be an
/// element shorter, for a triangle in a matrix. Rows of a band, which are right for any number of them, are
/// far more often right than rows of one element less, which would have to be as long as there are rows.
fn is_barely_weaker(view: &View, other: &View) -> Result<bool> {
    let alone = other.violations.clone().subtract(view.violations.clone())?;
    for constraint in alone.clone().affine_hull()?.constraints()? {
        if constraint.is_equality()? {
            return Ok(true);
        }
    }
    alone.is_empty().map_err(Into::into)
}

/// A size without the number added to its parameters.
fn without_number(size: &Polynomial) -> Polynomial {
    match size.degree() {
        0 => size.clone(),
        _ => size - &Polynomial::constant(size.constant_term()),
    }
}

fn affine_offsets(problem: &Problem, offsets: &[Polynomial]) -> Result<Shape> {
    let linear = affine::linear(problem, offsets)?;
    let hints = hints(problem, offsets);
    let guesses = shapes::guesses(offsets, false);
    if hints.is_empty() && guesses.is_empty() {
        return Ok(linear);
    }
    let run = Executed::new(problem)?;
    let mut search = Search::new(&run, offsets);
    if let Some(view) = search.simple(&hints, false)? {
        return finish(&run, &view, Origin::Hint);
    }
    for t in &search.tried {
        if let Some(view) = run.view(&t.sizes, &t.subscripts, None)?.filter(|v| v.max_pieces() == 1) {
            return finish(&run, &view, Origin::Hint);
        }
    }
    match search.simple(&guesses, false)? {
        Some(view) => finish(&run, &view, Origin::Strides),
        None => Ok(linear),
    }
}

/// The distinct hints of which some counter strides over whole rows, most dimensions first.
fn hints(problem: &Problem, offsets: &[Polynomial]) -> Vec<Sizes> {
    let mut found: Vec<Sizes> = Vec::new();
    for hint in problem.accesses.iter().filter_map(|a| a.size_hint.as_ref()) {
        let Some(row) = hint.last().copied().filter(|_| hint.iter().all(|s| *s > 0)) else { continue };
        let strides_rows = offsets.iter().any(|o| {
            o.terms().any(|(m, c)| {
                row > 1 && c % i128::from(row) == 0 && m.factors().any(|(s, _)| matches!(s, Symbol::Iter(_)))
            })
        });
        let sizes: Sizes = hint.iter().map(|s| Polynomial::constant(i128::from(*s))).collect();
        if strides_rows && !found.contains(&sizes) {
            found.push(sizes);
        }
    }
    found.sort_by_key(|s| std::cmp::Reverse(s.len()));
    found
}

fn finish(run: &Executed, view: &View, origin: Origin) -> Result<Shape> {
    let subscripts =
        view.pieces.iter().enumerate().map(|(n, p)| run.functions(n, p)).collect::<Result<Vec<_>>>()?;
    let sizes = std::iter::once(None).chain(view.sizes.iter().cloned().map(Some)).collect();
    let assumption = run.assumption(view)?;
    let check = run.check(view, &assumption)?;
    let overlapping = run.overlapping(view, &assumption)?;
    let likely = run.is_likely(view)?;
    let pinned = run.is_pinned(view)?;
    let wraps = view.wraps();
    Ok(Shape { sizes, subscripts, assumption, check, overlapping, origin, likely, pinned, wraps })
}

/// Whether a size is longer than the same without its number.
fn is_longer(sizes: &Sizes) -> bool {
    sizes.iter().any(|size| size.terms().any(|(m, c)| m.degree() == 0 && c > 0))
}

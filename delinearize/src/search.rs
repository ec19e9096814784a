//! The choice among guessed shapes: the weakest condition wins.
//!
//! Offsets that are all affine have the linear view, which is always right. A view with more dimensions is better for locality
//! and for the cost of dependence analysis, and is taken if it needs no condition and no case distinction; with a condition only if the
//! IR's array type names its sizes *and* some counter strides over a whole row of it: without either there is no sign that the program
//! means such an array.
//!
//! Otherwise guesses are tried until one needs no condition; failing that, the one whose violations are fewest (the
//! first among incomparable ones, so the result is deterministic).

use crate::affine;
use crate::poly::{Polynomial, Symbol};
use crate::shapes::{self, Sizes};
use crate::view::{self, Executed, View};
use crate::{Blocked, DelinearizeError, Origin, Problem, Shape};

type Result<T> = std::result::Result<T, DelinearizeError>;

/// Views derived with isl for one problem at most, a bound on compile time.
const MAX_VIEWS: usize = 24;

pub(crate) fn best(problem: &Problem) -> Result<Shape> {
    let offsets = affine::element_offsets(problem)?;
    if offsets.iter().all(Polynomial::is_affine) {
        return affine_offsets(problem, &offsets);
    }
    check_counters(problem, &offsets)?;
    let run = Executed::new(problem)?;
    let mut search = Search { run: &run, offsets: &offsets, tried: Vec::new(), derived: 0, best: None };
    let guesses = shapes::guesses(&offsets, false);
    search.all(&guesses)?;
    if search.best.is_none() {
        search.all(&shapes::guesses(&offsets, true))?;
    }
    if search.best.is_none() {
        let moved: Vec<Sizes> = guesses.iter().flat_map(shapes::shifted).collect();
        search.all(&moved)?;
    }
    match search.best {
        Some(view) => finish(&run, &view, Origin::Strides),
        None if search.derived > 0 => Err(Blocked::NeverInside.into()),
        None => Err(stuck(problem, &offsets)),
    }
}

/// The error for offsets that no guess makes affine.
fn stuck(problem: &Problem, offsets: &[Polynomial]) -> DelinearizeError {
    let first =
        offsets.iter().enumerate().find_map(|(n, o)| Some((n, affine::product_in(o, problem.params)?)));
    match first {
        Some((access, term)) => Blocked::NonAffineSubscript { access, term }.into(),
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
    offsets: &'a [Polynomial],
    tried: Vec<Sizes>,
    derived: usize,
    best: Option<View>,
}

impl Search<'_> {
    fn all(&mut self, guesses: &[Sizes]) -> Result<()> {
        for sizes in guesses {
            if self.derived >= MAX_VIEWS || self.settled()? {
                break;
            }
            let Some(view) = self.attempt(sizes, true)? else { continue };
            if self.better(&view)? {
                self.best = Some(view);
            }
        }
        Ok(())
    }

    fn attempt(&mut self, sizes: &Sizes, adjust: bool) -> Result<Option<View>> {
        let Some((sizes, subscripts)) = view::divide(self.offsets, sizes, adjust) else { return Ok(None) };
        if self.tried.contains(&sizes) {
            return Ok(None);
        }
        self.tried.push(sizes.clone());
        self.derived += 1;
        Ok(Some(self.run.view(sizes, subscripts)?))
    }

    fn settled(&self) -> Result<bool> {
        match &self.best {
            Some(b) => Ok(b.max_pieces() == 1 && b.is_unconditional()?),
            None => Ok(false),
        }
    }

    fn better(&self, view: &View) -> Result<bool> {
        if self.run.impossible(view)? {
            return Ok(false);
        }
        let Some(best) = &self.best else { return Ok(true) };
        if view.is_unconditional()? && best.is_unconditional()? {
            return Ok(view.max_pieces() < best.max_pieces());
        }
        view::weaker(&view.violations, Some(&best.violations))
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
    let mut search = Search { run: &run, offsets, tried: Vec::new(), derived: 0, best: None };
    let mut conditional = None;
    for (sizes, origin) in
        hints.iter().map(|h| (h, Origin::Hint)).chain(guesses.iter().map(|g| (g, Origin::Strides)))
    {
        if search.derived >= MAX_VIEWS {
            break;
        }
        let Some(view) = search.attempt(sizes, false)? else { continue };
        if view.max_pieces() != 1 {
            continue;
        }
        if view.is_unconditional()? {
            return finish(&run, &view, origin);
        }
        if origin == Origin::Hint && conditional.is_none() && !run.impossible(&view)? {
            conditional = Some(view);
        }
    }
    match conditional {
        Some(view) => finish(&run, &view, Origin::Hint),
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
    Ok(Shape { sizes, subscripts, assumption: run.assumption(view)?, origin })
}

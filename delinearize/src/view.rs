//! A guessed shape made into a view: subscripts by division, multiples of sizes put right, and the exact
//! condition.
//!
//! Subscripts come by division ([`crate::quotient`]).
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

use crate::affine::{Result, to_pw_aff};
use crate::poly::Polynomial;
use crate::shapes::Sizes;
use crate::typical::{End, ends, origins};
use crate::{DelinearizeError, Problem};
use pollyrs_isl as isl;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

/// Largest multiple of a size moved between neighbouring dimensions (`k_l`, `k_u` of the paper, which tries
/// one).
const MAX_MULTIPLE: i128 = 2;
/// An access in more pieces than this (two dimensions of three) gets a condition instead.
const MAX_PIECES: usize = 9;
/// A domain of more parts (of cases that other branches leave over) is taken as one for conditions.
const MAX_PARTS: u32 = 2;

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

/// A piece that is inside of a dimension, or all multiples of the size, each of which leaves something
/// outside.
type Placed = std::result::Result<Piece, Vec<i128>>;

/// What is outside of `low <= f < high`, as two polynomials that are not negative there.
type Halves = [Polynomial; 2];

fn halves(f: &Polynomial, low: &Polynomial, high: &Polynomial) -> Halves {
    [&(low - f) - &Polynomial::constant(1), f - high]
}

/// A polynomial without its number, and the number.
fn split(p: &Polynomial) -> (Polynomial, i128) {
    let number = p.constant_term();
    (p - &Polynomial::constant(number), number)
}

/// Where a polynomial is not negative in a domain, by the number added to it: the more, the more iterations.
#[derive(Clone, Copy, Debug)]
struct Reach {
    /// Nowhere up to here.
    nowhere: i128,
    /// Somewhere from here on.
    somewhere: i128,
}

/// The parameters for which a view is wrong, as they are found.
struct Violations<'a> {
    run: &'a Executed<'a>,
    /// Those of another view, in all of which this one must not be wrong.
    other: Option<&'a isl::Set>,
    all: isl::Set,
    /// What they are made of.
    parts: Vec<isl::Set>,
    /// The polynomials, by domain and without their numbers, whose iterations are among them, up to a number.
    covered: BTreeMap<(usize, Polynomial), i128>,
}

impl<'a> Violations<'a> {
    fn new(run: &'a Executed<'a>, other: Option<&'a isl::Set>) -> Result<Self> {
        let all = isl::Set::empty(run.params.clone())?;
        Ok(Violations { run, other, all, parts: Vec::new(), covered: BTreeMap::new() })
    }

    /// Whether all of `piece` on these sides is among them, or nothing.
    fn include(&self, run: &Executed, piece: &Piece, sides: &Halves) -> Result<bool> {
        let Some(id) = piece.whole else { return Ok(false) };
        for p in sides {
            let (linear, number) = split(p);
            let covered = self.covered.get(&(id, linear)).is_some_and(|most| number <= *most);
            if !covered && !run.is_negative(piece, p)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Notes that all of `piece` on these sides is about to be among them.
    fn note(&mut self, piece: &Piece, sides: &Halves) {
        let Some(id) = piece.whole else { return };
        for p in sides {
            let (linear, number) = split(p);
            let most = self.covered.entry((id, linear)).or_insert(number);
            *most = number.max(*most);
        }
    }

    /// Adds some; false as soon as it is seen that a view with them is of no use.
    fn add(&mut self, outside: isl::Set) -> Result<bool> {
        if outside.plain_is_empty()? {
            return Ok(true);
        }
        for part in &self.parts {
            if outside.is_subset(part)? {
                return Ok(true);
            }
        }
        self.parts.push(outside.clone());
        self.all = self.all.clone().union(outside)?.coalesce()?;
        // Ever more seldom, since it costs the more the more there are.
        Ok(!self.parts.len().is_power_of_two() || self.are_possible()?)
    }

    /// Whether a view with these is right anywhere, and anywhere where the other one is not.
    fn are_possible(&self) -> Result<bool> {
        if self.other.map_or(Ok(false), |o| o.is_subset(&self.all))? {
            return Ok(false);
        }
        Ok(self.run.any.is_empty()? || !self.run.any.is_subset(&self.all)?)
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
    /// What was found for whole domains (by `same_domain`) and polynomials without their numbers: guesses
    /// have inner dimensions in common, and accesses to neighbours all but the number.
    reach: RefCell<BTreeMap<(usize, Polynomial), Reach>>,
    /// The parameters for which a polynomial is somewhere not negative in a whole domain.
    somewhere: RefCell<BTreeMap<(usize, Polynomial), isl::Set>>,
    /// For domains in several parts, what is a little more, in one.
    hulls: RefCell<BTreeMap<usize, isl::Set>>,
}

impl<'a> Executed<'a> {
    pub fn new(problem: &'a Problem<'a>) -> Result<Self> {
        Executed::of(problem, u32::MAX)
    }

    /// The same with one part in place of several for domains of many, which is a little more: a condition
    /// for that is enough, and costs far less. `None`: no domain has many.
    pub fn in_one_part(&self) -> Result<Option<Self>> {
        for d in &self.domains {
            if d.n_basic_set()? > MAX_PARTS {
                return Ok(Some(Executed::of(self.problem, MAX_PARTS)?));
            }
        }
        Ok(None)
    }

    /// With domains of at most this many parts.
    fn of(problem: &'a Problem<'a>, parts: u32) -> Result<Self> {
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
            let d = a.domain.clone().align_params(params.clone())?;
            let mut d = d.intersect_params(context.clone())?.coalesce()?;
            if d.n_basic_set()? > parts {
                d = isl::Set::from_basic_set(d.unshifted_simple_hull()?)?;
            }
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
            reach: RefCell::default(),
            somewhere: RefCell::default(),
            hulls: RefCell::default(),
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

    /// Iterations of `domain` for which `p` is not negative. (The intersection with a half-space, where a
    /// subtraction would be taken apart constraint by constraint.)
    fn half(&self, domain: &isl::Set, p: &Polynomial) -> Result<isl::Set> {
        Ok(domain.clone().intersect(self.nonneg(p, &domain.space()?)?)?)
    }

    /// Whether `p` is negative in all iterations of `piece`.
    fn is_negative(&self, piece: &Piece, p: &Polynomial) -> Result<bool> {
        let Some(id) = piece.whole else { return Ok(self.half(&piece.domain, p)?.is_empty()?) };
        let (linear, number) = split(p);
        let key = (id, linear);
        let known = self.reach.borrow().get(&key).copied();
        let mut reach = known.unwrap_or(Reach { nowhere: i128::MIN, somewhere: i128::MAX });
        if number <= reach.nowhere || number >= reach.somewhere {
            return Ok(number <= reach.nowhere);
        }
        let negative = self.is_negative_in_hull(piece, id, p)? || self.half(&piece.domain, p)?.is_empty()?;
        match negative {
            true => reach.nowhere = number,
            false => reach.somewhere = number,
        }
        self.reach.borrow_mut().insert(key, reach);
        Ok(negative)
    }

    /// The same of a domain in one part around that of `piece`, which costs less than one in several.
    fn is_negative_in_hull(&self, piece: &Piece, id: usize, p: &Polynomial) -> Result<bool> {
        if piece.domain.n_basic_set()? < 2 {
            return Ok(false);
        }
        let known = self.hulls.borrow().get(&id).cloned();
        let hull = match known {
            Some(hull) => hull,
            None => {
                let hull = isl::Set::from_basic_set(piece.domain.clone().unshifted_simple_hull()?)?;
                self.hulls.borrow_mut().insert(id, hull.clone());
                hull
            }
        };
        Ok(self.half(&hull, p)?.is_empty()?)
    }

    /// The parameters for which `p` is not negative in some iteration of `piece`.
    fn where_not_negative(&self, piece: &Piece, p: &Polynomial) -> Result<isl::Set> {
        let Some(id) = piece.whole else { return Ok(self.half(&piece.domain, p)?.params()?) };
        let key = (id, p.clone());
        if let Some(known) = self.somewhere.borrow().get(&key).cloned() {
            return Ok(known);
        }
        let found = self.half(&piece.domain, p)?.params()?;
        self.somewhere.borrow_mut().insert(key, found.clone());
        Ok(found)
    }

    /// Whether `piece` is nowhere outside.
    fn is_inside(&self, piece: &Piece, halves: &Halves) -> Result<bool> {
        Ok(self.is_negative(piece, &halves[0])? && self.is_negative(piece, &halves[1])?)
    }

    /// The parameters for which something of `piece` is outside.
    fn outside(&self, piece: &Piece, halves: &Halves) -> Result<isl::Set> {
        let mut all: Option<isl::Set> = None;
        for half in halves {
            if !self.is_negative(piece, half)? {
                let part = self.where_not_negative(piece, half)?;
                all = Some(match all {
                    Some(other) => other.union(part)?,
                    None => part,
                });
            }
        }
        Ok(all.map_or_else(|| isl::Set::empty(self.params.clone()), Ok)?)
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
        let mut violations = Violations::new(self, other)?;
        let mut pieces: Vec<Vec<Piece>> = vec![Vec::new(); subscripts.len()];
        // What reaches farthest comes first: between two accesses that are right on a condition all are.
        let farthest = |n: &usize| -> i128 { subscripts[*n].iter().map(|f| f.constant_term().abs()).sum() };
        let mut order: Vec<usize> = (0..subscripts.len()).filter(|n| self.first[*n] == *n).collect();
        order.sort_by_key(|n| std::cmp::Reverse(farthest(n)));
        for n in order {
            let mut mine = vec![self.whole(n, &subscripts[n])];
            for k in (0..sizes.len()).rev() {
                let mut next = Vec::new();
                let room = MAX_PIECES.saturating_sub(mine.len() - 1).max(1);
                for piece in mine {
                    let (parts, outside) = self.place(piece, k + 1, &sizes[k], room, &mut violations)?;
                    next.extend(parts);
                    if !violations.add(outside)? {
                        return Ok(None);
                    }
                }
                mine = next;
            }
            pieces[n] = mine;
        }
        for (n, first) in self.first.iter().enumerate() {
            if *first != n {
                pieces[n] = pieces[*first].clone();
            }
        }
        let possible = violations.are_possible()?;
        Ok(possible.then_some(View { sizes: sizes.clone(), pieces, violations: violations.all }))
    }

    /// `piece` with the one multiple of `size` moved that is inside for all iterations; else all multiples
    /// there are.
    fn place_whole(&self, piece: &Piece, at: usize, size: &Polynomial) -> Result<Placed> {
        if piece.domain.is_empty()? {
            return Ok(Ok(piece.clone()));
        }
        let mut options = Vec::new();
        for k in (0..=MAX_MULTIPLE).flat_map(|k| if k == 0 { vec![0] } else { vec![k, -k] }) {
            let placed = piece.moved(k, at, size);
            if self.is_inside(&placed, &beyond(&placed, at, size))? {
                return Ok(Ok(placed));
            }
            options.push(k);
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
        found: &mut Violations,
    ) -> Result<(Vec<Piece>, isl::Set)> {
        let none = isl::Set::empty(self.params.clone())?;
        let options = match self.place_whole(&piece, at, size)? {
            Ok(placed) => return Ok((vec![placed], none)),
            Err(options) => options,
        };
        let whole = |k: i128| vec![piece.moved(k, at, size)];
        let sides = beyond(&piece, at, size);
        if found.include(self, &piece, &sides)? {
            return Ok((whole(0), none));
        }
        // The slabs lie side by side, between `-MAX_MULTIPLE` and `MAX_MULTIPLE + 1` sizes; all is left over
        // where the size is not positive.
        let (low, high) = (size.scale(-MAX_MULTIPLE), size.scale(MAX_MULTIPLE + 1));
        let left_over = halves(&piece.subscripts[at], &low, &high);
        if self.is_inside(&piece, &left_over)? {
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
        let usual = self.usual()?.intersect(executed.clone())?.coalesce()?;
        let mut slabs: Option<Vec<Piece>> = None;
        let violations = |k: i128| {
            let placed = piece.moved(k, at, size);
            self.outside(&placed, &beyond(&placed, at, size))
        };
        if let Some(0) = options.first() {
            let violated = violations(0)?;
            if !self.short()?.intersect(executed.clone())?.is_subset(&violated)? {
                found.note(&piece, &sides);
                return Ok((whole(0), violated));
            }
        }
        for (usually, there) in [(true, usual), (false, executed.clone())] {
            let mut best: Option<(Vec<Piece>, isl::Set)> = None;
            for k in &options {
                let violated = violations(*k)?;
                let possible = !there.is_subset(&violated)?;
                if *k == 0 && possible {
                    found.note(&piece, &sides);
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
                let violated = self.outside(&piece, &left_over)?;
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
}

/// What is outside of the dimension `at`, of this size.
fn beyond(piece: &Piece, at: usize, size: &Polynomial) -> Halves {
    halves(&piece.subscripts[at], &Polynomial::default(), size)
}

/// Whether the violations `a` are fewer than `b`; anything is fewer than nothing known.
pub(crate) fn weaker(a: &isl::Set, b: Option<&isl::Set>) -> Result<bool> {
    match b {
        None => Ok(true),
        Some(b) => Ok(a.is_subset(b)? && !b.is_subset(a)?),
    }
}

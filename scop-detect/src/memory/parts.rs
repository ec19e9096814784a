//! Several arrays in one allocation.
//!
//! **Problem.** The levels of an image pyramid lie one after the other, `at` and `next` elements from the
//! start, with rows of `w` and of `w / 2`; a work array holds a vector and behind it a matrix. All are
//! accesses to one base pointer, but no shape fits them. Each is an array by itself, at a *shift* from the
//! base that does not change: the products and parameters in its offsets that multiply no counter.
//!
//! Two matrices at places in a workspace, `w[p + i * n + j]` and `w[q + i * n + j]`, have one shape as well:
//! the places are columns in rows of `n`, which only few of them are. Such a shape is *pinned*
//! ([`pollyrs_delinearize::Shape::pinned`]), and gives way to an array at each place.
//!
//! One array may begin anywhere, too: layer `l` of all activations, `a[l * B * T * C + i]`, is a vector
//! `l * B * T * C` elements from the base, not an array of four dimensions in which the layer has to be the
//! last subscript but one. What all accesses have in common belongs to the place of the array, if it does
//! without a condition on sizes or with a weaker one; where lower bounds are in a descriptor, that is the
//! number of the first element as well, `-1 - lb` in `a(-1:n + 2)`.
//!
//! **Invariants.** The parts have one base and different shifts; no two of them of which one is written are
//! touched in the same bytes, which is checked at run time as for arrays of different bases. A stride of the
//! part, `ld` in `A[i * ld + ld + j]`, is in no shift, so that rows of one matrix are not taken apart;
//! `k * ld` is.
//!
//! Memory that is only read may be read in rows that reach into the next ones: frames of a signal,
//! `x[f * hop + i]` for `i < size`, overlap where `hop` is less than `size`, and nothing in the code says
//! whether it is. That subscripts stay inside rows is no condition then ([`pollyrs_scop::Array::apart`]).
//!
//! **Example.** `L[next + y * (w / 2) + x] = L[at + 2 * y * w + 2 * x]` is the array `L[*][w / 2]` at
//! `8 * next` bytes, and `L_2[*][w]` at `8 * at`.

use crate::base::builder::{Assumptions, Builder};
use crate::base::fail::{Fail, Stop};
use crate::base::ir::{self, Op, Value};
use crate::base::place::Place;
use crate::memory::accesses::Shaped;
use crate::memory::fields::by_width;
use crate::memory::raw::Raw;
use isl::PwAff;
use pollyrs_delinearize::{Monomial, Polynomial, Symbol};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::ScevKind;
use pollyrs_scop::{Assumption, AssumptionKind, ProductRange, RejectReason};
use std::collections::BTreeSet;

/// What is assumed: the set, the assumptions behind it, and ranges of products.
pub(crate) type Assumed = (isl::Set, Vec<Assumption>, Vec<ProductRange>);

/// Each pair is compared before a launch.
const MAX_PARTS: usize = 6;

/// Sums of parameters (each below 2^46) with larger coefficients could leave 64 bits.
const MAX_COEFFICIENT: i128 = 1 << 12;

/// Elements at the beginning of rows that may be a halo.
const WIDEST_HALO: i128 = 8;

/// A counter with more values is spelled out in no product, and no more products of one access are.
const MAX_VALUES: i64 = 16;
const MAX_SPELLED: usize = 2;

/// Whether an access touches all that lies between the least and the largest of each subscript.
fn fills_its_box(domain: isl::Set, subscripts: &[PwAff], known: &isl::Set) -> isl::Result<bool> {
    let mut places: Option<isl::Map> = None;
    for subscript in subscripts {
        let map = isl::Map::from_pw_aff(subscript.clone())?;
        places = Some(match places {
            Some(places) => places.flat_range_product(map)?,
            None => map,
        });
    }
    let Some(places) = places else { return Ok(true) };
    domain.apply(places)?.gist_params(known.clone())?.coalesce()?.is_box()
}

/// An array and the accesses to it, by number.
pub(crate) struct Part {
    pub shaped: Shaped,
    /// Bytes from the base; `None` is 0.
    pub shift: Option<PwAff>,
    pub accesses: Vec<usize>,
}

impl Builder<'_> {
    /// The arrays that the accesses of `base` are to: one, or where that has no shape that is mostly right,
    /// several; and several where elements of different widths are apart.
    pub fn arrays_of(&mut self, base: Value, raws: &[Raw]) -> Result<Vec<Part>, Fail> {
        let mut parts = self.arrays_of_widths(base, raws)?;
        let loads = raws.iter().all(|r| ir::opcode(r.inst) == Some(Op::LLVMLoad));
        // (Rows of a table are apart, or packed by their length.)
        if let ([part], [first, ..], true) = (&mut parts[..], raws, loads && !is_row(base)) {
            let mut accesses = part.accesses.iter().zip(&part.shaped.subscripts);
            let known = self.context.clone();
            let fills = |(at, subs): (&usize, &Vec<PwAff>)| {
                fills_its_box(raws[*at].place.domain.clone(), subs, &known)
            };
            if accesses.all(|access| matches!(fills(access), Ok(true))) {
                self.let_rows_overlap(base, first.inst, &mut part.shaped)?;
            }
        }
        Ok(parts)
    }

    /// Takes back that subscripts stay inside the rows of an array that is only read. What is read is taken
    /// for all between the least and the largest of each subscript then: the last of some chunks, which is
    /// shorter, would reach into what follows the array.
    fn let_rows_overlap(&mut self, base: Value, first: Value, shaped: &mut Shaped) -> Result<(), Fail> {
        let Some(loose) = shaped.loose.take() else { return Ok(()) };
        if loose.after != (self.assumed.all.len(), self.assumed.products.len()) {
            return Ok(());
        }
        self.assumed.restore(loose.before);
        let array = self.name_of(base);
        let note = format!("rows of {array} have elements");
        let blocker = RejectReason::Subscript { array, blocker: "its bounds".into() };
        self.require(AssumptionKind::Delinearization, loose.overlapping, first, &note, blocker)?;
        let known = self.known()?;
        if !known.is_subset(&loose.apart)? {
            shaped.apart = Some(loose.apart);
        }
        Ok(())
    }

    fn arrays_of_widths(&mut self, base: Value, raws: &[Raw]) -> Result<Vec<Part>, Fail> {
        let widths = by_width(raws);
        if widths.len() > 1 {
            self.found.note_residues(base, raws);
        }
        if widths.len() <= 1 || !self.widths_are_apart(base, raws, &widths) {
            return self.arrays_of_width(base, raws);
        }
        let mut parts = Vec::new();
        for members in widths.values() {
            let own: Vec<Raw> = members.iter().map(|k| raws[*k].clone()).collect();
            for mut part in self.arrays_of_width(base, &own)? {
                part.accesses.iter_mut().for_each(|k| *k = members[*k]);
                parts.push(part);
            }
        }
        Ok(parts)
    }

    /// The arrays that accesses of one width are to.
    fn arrays_of_width(&mut self, base: Value, raws: &[Raw]) -> Result<Vec<Part>, Fail> {
        let before = self.assumed.assumed_so_far();
        let whole = self.shape(base, raws);
        let shapeless = match &whole {
            Ok(shaped) => !shaped.likely || shaped.pinned,
            Err(f) => matches!(f.reason, RejectReason::Subscript { .. } | RejectReason::ElementType { .. }),
        };
        if whole.is_ok() && !before.0.is_subset(&self.assumed.set)? || shapeless {
            let shift = common(raws).filter(|p| !p.is_zero());
            // A lower bound that no small number is also has the first element's number beside it.
            let pinned = whole.as_ref().is_ok_and(|w| w.pinned);
            let first = shift.as_ref().filter(|_| pinned).and_then(|s| Some(s + &least(raws)?));
            for shift in first.into_iter().chain(shift) {
                let whole = whole.as_ref().ok();
                if let Some(part) = self.at_a_distance(base, raws, before.clone(), (&shift, whole))? {
                    return Ok(vec![part]);
                }
            }
        }
        let conditional = whole.is_ok() && !before.0.is_subset(&self.assumed.set)?;
        if (conditional || shapeless)
            && let Some(part) = self.spelled(base, raws, before.clone(), shapeless)?
        {
            return Ok(vec![part]);
        }
        // Regions that are only tried together can do without each other.
        let placed = conditional && self.are_places(raws)?;
        if (shapeless || placed) && !self.given.region.joined {
            let after = self.assumed.assumed_so_far();
            self.assumed.restore(before.clone());
            // What begins with the array itself is its rows, and a place beside that is in one of them.
            let places = by_shift(raws).iter().all(|(shift, _)| !shift.is_zero());
            let different = whole.as_ref().is_ok_and(|w| !(w.pinned && places || placed));
            if let Some(parts) = self.parts(base, raws, different)? {
                return Ok(parts);
            }
            self.assumed.restore(after);
        }
        let whole = whole?;
        if (conditional || is_row(base))
            && let Some(part) = self.behind_first_elements(base, raws, before)?
        {
            return Ok(vec![part]);
        }
        Ok(vec![Part { shaped: whole, shift: None, accesses: (0..raws.len()).collect() }])
    }

    /// Whether accesses are at several places that are parameters, each of which does nothing else: in a
    /// workspace matrices may begin anywhere, and rows need not be longer than what is in them.
    fn are_places(&self, raws: &[Raw]) -> isl::Result<bool> {
        let mut other: BTreeSet<usize> = BTreeSet::new();
        for r in raws {
            other.extend(self.involved(&r.place.domain)?);
            let counted = |m: &Monomial| m.factors().any(|(s, _)| matches!(s, Symbol::Iter(_)));
            let steps = r.offset.terms().filter(|(m, _)| counted(m)).flat_map(|(m, _)| m.factors());
            other.extend(steps.filter_map(|(s, _)| match s {
                Symbol::Param(p) => Some(p),
                Symbol::Iter(_) => None,
            }));
        }
        let is_place = |m: &Monomial| match m.factors().collect::<Vec<_>>()[..] {
            [(Symbol::Param(p), 1)] => {
                let of_loop = matches!(self.params[p].scev.kind, ScevKind::AddRec { .. });
                !other.contains(&p) && !of_loop
            }
            _ => false,
        };
        // (Of rows that are exchanged in a matrix by columns, a row's number is the place of its element.)
        let side_by_side = |r: &Raw| {
            let step = |s: &Symbol| r.offset.powers_of(*s).remove(&1).and_then(|c| c.as_constant());
            let symbols = r.offset.symbols();
            symbols.iter().any(|s| matches!(s, Symbol::Iter(_)) && step(s).is_some())
        };
        let groups = by_shift(raws);
        let places =
            |shift: &Polynomial| !shift.is_zero() && shift.terms().all(|(m, c)| c > 0 && is_place(m));
        Ok(groups.len() > 1 && raws.iter().all(side_by_side) && groups.iter().all(|(shift, _)| places(shift)))
    }

    /// The accesses without `shift`, which is the same in all of their offsets, where that has a shape that
    /// is right for more sizes. `before` is what was assumed before the shape `whole`, which all of the
    /// offset has, if it has one.
    fn at_a_distance(
        &mut self,
        base: Value,
        raws: &[Raw],
        before: Assumed,
        (shift, whole): (&Polynomial, Option<&Shaped>),
    ) -> Result<Option<Part>, Fail> {
        let after = self.assumed.assumed_so_far();
        self.assumed.restore(before.clone());
        let own: Vec<Raw> = raws.iter().map(|r| Raw { offset: &r.offset - shift, ..r.clone() }).collect();
        let part = match (self.shape(base, &own), self.bytes(shift)) {
            (Ok(shaped), Ok(shift)) => Part { shaped, shift, accesses: (0..raws.len()).collect() },
            (Err(f), _)
                if matches!(f.reason, RejectReason::Budget { .. } | RejectReason::Internal { .. }) =>
            {
                return Err(f);
            }
            (_, Err(Stop::Isl(e))) => return Err(e.into()),
            _ => {
                self.assumed.restore(after);
                return Ok(None);
            }
        };
        let free = before.0.is_subset(&self.assumed.set)? && self.assumed.products.len() == before.2.len();
        let better = match whole {
            None => true,
            Some(_) if free => true,
            Some(whole) if part.shaped.wraps || part.shaped.sizes.len() != whole.sizes.len() => false,
            Some(whole) if whole.pinned && part.shaped.likely && !part.shaped.pinned => true,
            // The same condition, or a weaker one, keeps the program's rows; so does none but that rows have
            // elements, where there was another one.
            Some(whole) => {
                let weaker =
                    after.0.is_subset(&self.assumed.set)? && !self.assumed.set.is_subset(&after.0)?;
                let all_rows = |assumed: &isl::Set, shaped: &Shaped| -> isl::Result<bool> {
                    let known = before.0.clone().intersect(self.context.clone())?;
                    rows_with_elements(shaped, &known)?.is_subset(assumed)
                };
                weaker
                    || self.assumed.products.len() == before.2.len()
                        && all_rows(&self.assumed.set, &part.shaped)?
                        && !all_rows(&after.0, whole)?
            }
        };
        // Distances between accesses that are products are told apart by rows.
        let apart = free && own.iter().any(|r| invariant(&r.offset, &BTreeSet::new()).degree() > 0);
        let rows = whole.filter(|w| apart && w.likely && w.sizes.len() > part.shaped.sizes.len());
        let kept = match rows {
            Some(rows) => !self.counted_rows(rows)?,
            None => false,
        };
        if better && !kept {
            return Ok(Some(part));
        }
        self.assumed.restore(after);
        Ok(None)
    }

    /// Whether rows are as long as a loop around the region has counted: of `a[y * w + j]` with a counter `y`
    /// of such a loop the place is `y * w`, not element `w` of rows of `y`.
    fn counted_rows(&self, shaped: &Shaped) -> isl::Result<bool> {
        for size in shaped.sizes.iter().flatten() {
            for p in self.params.iter().filter(|p| matches!(p.scev.kind, ScevKind::AddRec { .. })) {
                let id = isl::Id::new(&self.given.ctx, &p.name)?;
                let at = size.space()?.find_dim_by_id(isl::DimType::Param, &id)?;
                if at >= 0 && size.involves_dims(isl::DimType::Param, at as u32, 1)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The accesses without the elements that all of them leave out at the beginning, where that makes the
    /// shape right for more sizes: of the rows of a table, since matrices that begin at 1 (Numerical Recipes)
    /// have pointers to the place in front of each row, and `a[i][m]` is the last of `m` elements; and of
    /// what lies behind the fields of a structure, `p->table[k * step]` with 66 numbers in front of the
    /// table, which need no rows of 67. `before` is what was assumed before the shape that all is for now.
    fn behind_first_elements(
        &mut self,
        base: Value,
        raws: &[Raw],
        before: Assumed,
    ) -> Result<Option<Part>, Fail> {
        let number = |r: &Raw| r.offset.terms().find(|(m, _)| m.degree() == 0).map_or(0, |(_, c)| c);
        let Some(least) = raws.iter().map(number).min().filter(|c| (1..=MAX_COEFFICIENT).contains(c)) else {
            return Ok(None);
        };
        let width =
            raws.first().and_then(|r| ir::elem_type(ir::accessed_type(r.inst))).map_or(1, |e| e.bytes());
        if !is_row(base) && least <= WIDEST_HALO * i128::from(width) {
            return Ok(None);
        }
        let place = self.given.before_region(None)?;
        let shift = match self.constant(least, &place) {
            Ok(shift) => shift.project_domain_on_params()?,
            Err(Stop::Isl(e)) => return Err(e.into()),
            Err(Stop::Blocker(_)) => return Ok(None),
        };
        let whole = self.assumed.assumed_so_far();
        self.assumed.restore(before);
        let first = Polynomial::constant(least);
        let own: Vec<Raw> = raws.iter().map(|r| Raw { offset: &r.offset - &first, ..r.clone() }).collect();
        if let Ok(shaped) = self.shape(base, &own)
            && least % i128::from(shaped.elem.bytes()) == 0
            && whole.0.is_subset(&self.assumed.set)?
            && !self.assumed.set.is_subset(&whole.0)?
        {
            return Ok(Some(Part { shaped, shift: Some(shift), accesses: (0..raws.len()).collect() }));
        }
        self.assumed.restore(whole);
        Ok(None)
    }

    /// The accesses with the products of a size and a counter of few values as a case for each value, where
    /// that has a shape that is always right, or mostly where there is no other: of four parts of `q = n / 4`
    /// elements that a loop goes through in `x[i * n + part * q + j]`, and another one as rows of `n`.
    /// (Whether sizes are negative is a question that every check asks.)
    fn spelled(
        &mut self,
        base: Value,
        raws: &[Raw],
        before: Assumed,
        no_other: bool,
    ) -> Result<Option<Part>, Fail> {
        let mut any = false;
        let mut own = Vec::new();
        for r in raws {
            let spelled = match self.spelled_products(r) {
                Ok(spelled) => spelled,
                Err(Stop::Isl(e)) => return Err(e.into()),
                Err(Stop::Blocker(_)) => None,
            };
            any |= spelled.is_some();
            own.push(spelled.unwrap_or_else(|| r.clone()));
        }
        if !any {
            return Ok(None);
        }
        let after = self.assumed.assumed_so_far();
        self.assumed.restore(before.clone());
        let tried = self.shape(base, &own);
        match tried {
            Ok(shaped)
                if no_other && shaped.likely
                    || self.assumed.products.len() == before.2.len()
                        && self.natural(before.0.clone())?.is_subset(&self.assumed.set)? =>
            {
                return Ok(Some(Part { shaped, shift: None, accesses: (0..raws.len()).collect() }));
            }
            Err(f) if matches!(f.reason, RejectReason::Budget { .. } | RejectReason::Internal { .. }) => {
                return Err(f);
            }
            _ => self.assumed.restore(after),
        }
        Ok(None)
    }

    /// An access with the values of products of a parameter and a counter of few values; `None` where there
    /// are none.
    fn spelled_products(&mut self, r: &Raw) -> Result<Option<Raw>, Stop> {
        let mut quasi = r.quasi.clone();
        let mut offset = Polynomial::zero();
        for (m, c) in r.offset.terms() {
            let term = Polynomial::term(m.clone(), c);
            let function = match m.factors().collect::<Vec<_>>()[..] {
                [(Symbol::Iter(d), 1), (Symbol::Param(p), 1)]
                | [(Symbol::Param(p), 1), (Symbol::Iter(d), 1)]
                    if d < r.place.loops.len() && quasi.len() < r.quasi.len() + MAX_SPELLED =>
                {
                    self.multiples_of(p, d, &r.place)?
                }
                _ => None,
            };
            match function {
                Some(f) => {
                    quasi.push(f);
                    let own = Polynomial::iter(r.place.dims() + quasi.len() - 1);
                    offset = &offset + &own.scale(c);
                }
                None => offset = &offset + &term,
            }
        }
        if quasi.len() == r.quasi.len() {
            return Ok(None);
        }
        let mut place = r.place.clone();
        place.domain = self.with_quotients_of(place.domain, &r.offset)?;
        Ok(Some(Raw { inst: r.inst, place, offset, quasi }))
    }

    /// The product of parameter `p` and dimension `d` of a place, if that has few values.
    fn multiples_of(&self, p: usize, d: usize, place: &Place) -> isl::Result<Option<PwAff>> {
        let val = |n| isl::Val::int(&self.given.ctx, n);
        let dim = d as u32;
        let few = isl::Set::universe(place.space()?)?
            .lower_bound_val(isl::DimType::Set, dim, val(0)?)?
            .upper_bound_val(isl::DimType::Set, dim, val(MAX_VALUES - 1)?)?;
        if !place.domain.clone().is_subset(&few)? {
            return Ok(None);
        }
        let mut sum: Option<PwAff> = None;
        for k in 0..MAX_VALUES {
            let there = few.clone().fix_val(isl::DimType::Set, dim, val(k)?)?;
            if place.domain.clone().is_disjoint(&there)? {
                continue;
            }
            let piece = self.param_aff(p, place.space()?)?.scale(val(k)?)?.intersect_domain(there)?;
            sum = Some(match sum {
                Some(s) => s.union_add(piece)?,
                None => piece,
            });
        }
        Ok(sum)
    }

    /// The part of `params` in which none is negative, but for those that must be.
    fn natural(&self, params: isl::Set) -> isl::Result<isl::Set> {
        let mut all = params.intersect(self.context.clone())?;
        for p in 0..all.dim(isl::DimType::Param)? {
            let own =
                all.clone().lower_bound_val(isl::DimType::Param, p, isl::Val::int(&self.given.ctx, 0)?)?;
            if !own.is_empty()? {
                all = own;
            }
        }
        Ok(all)
    }

    /// The arrays at different shifts, if all have shapes that are mostly right. What has one shape that is
    /// hardly ever right is a part of a matrix rather than several arrays, unless those have to be
    /// `different`, and are in their shapes.
    fn parts(&mut self, base: Value, raws: &[Raw], different: bool) -> Result<Option<Vec<Part>>, Fail> {
        let groups = by_shift(raws);
        if !(2..=MAX_PARTS).contains(&groups.len()) || !in_one_nest(raws, &groups) {
            return Ok(None);
        }
        let mut parts = Vec::new();
        for (shift, accesses) in groups {
            let own: Vec<Raw> = accesses
                .iter()
                .map(|k| Raw { offset: &raws[*k].offset - &shift, ..raws[*k].clone() })
                .collect();
            let shaped = match self.shape(base, &own) {
                Ok(shaped) if shaped.likely => shaped,
                Ok(_) => return Ok(None),
                Err(f) if matches!(f.reason, RejectReason::Budget { .. } | RejectReason::Internal { .. }) => {
                    return Err(f);
                }
                Err(_) => return Ok(None),
            };
            let shift = match self.bytes(&shift) {
                Ok(shift) => shift,
                Err(Stop::Isl(e)) => return Err(e.into()),
                Err(Stop::Blocker(_)) => return Ok(None),
            };
            parts.push(Part { shaped, shift, accesses });
        }
        let mut alike = true;
        for pair in parts.windows(2) {
            alike &= same_sizes(&pair[0].shaped, &pair[1].shaped)?;
        }
        Ok((!different || !alike).then_some(parts))
    }

    /// A polynomial in parameters as a function of them, with names for products.
    fn bytes(&mut self, p: &Polynomial) -> Result<Option<PwAff>, Stop> {
        if p.is_zero() {
            return Ok(None);
        }
        let blocked = || Stop::Blocker("a shift".into());
        let place = self.given.before_region(None)?;
        let mut sum = self.constant(0, &place)?;
        for (m, c) in p.terms() {
            let factors: Vec<usize> = m
                .factors()
                .flat_map(|(s, n)| match s {
                    Symbol::Param(p) => vec![p; n as usize],
                    Symbol::Iter(_) => vec![],
                })
                .collect();
            if c.abs() > MAX_COEFFICIENT || p.terms().count() > 8 {
                return Err(blocked());
            }
            let value = match factors[..] {
                [] => {
                    sum = sum.add(self.constant(c, &place)?)?;
                    continue;
                }
                [p] => p,
                _ => {
                    let handles: Vec<_> = factors.iter().map(|p| self.params[*p].scev.handle).collect();
                    let product = self.given.an.product(&handles);
                    self.param(&product)?
                }
            };
            let factor = i64::try_from(c).map_err(|_| blocked())?;
            let term =
                self.param_aff(value, place.space()?)?.scale(isl::Val::int(&self.given.ctx, factor)?)?;
            sum = sum.add(term)?;
        }
        Ok(Some(sum.project_domain_on_params()?))
    }
}

impl Assumptions {
    pub fn assumed_so_far(&self) -> Assumed {
        (self.set.clone(), self.all.clone(), self.products.clone())
    }

    fn restore(&mut self, assumed: Assumed) {
        (self.set, self.all, self.products) = assumed;
    }
}

/// Whether it is the first row of a table.
fn is_row(base: Value) -> bool {
    let call = (ir::opcode(base) == Some(Op::LLVMExtractValue)).then(|| ir::operand(base, 0));
    call.and_then(ir::callee).is_some_and(ir::looks_at_rows)
}

fn same_sizes(a: &Shaped, b: &Shaped) -> isl::Result<bool> {
    let mut same = a.elem == b.elem && a.sizes.len() == b.sizes.len();
    for pair in a.sizes.iter().zip(&b.sizes) {
        if let (Some(a), Some(b)) = pair {
            same &= a.is_equal(b)?;
        }
    }
    Ok(same)
}

/// The accesses with their shifts, in the order of the first ones. What is a stride of any access tells no
/// two arrays apart: an extent with two names (`n` and `max(n, 0)`) would make two of one matrix.
fn by_shift(raws: &[Raw]) -> Vec<(Polynomial, Vec<usize>)> {
    let own: Vec<BTreeSet<Monomial>> = raws.iter().map(strides).collect();
    let all: BTreeSet<Monomial> = own.iter().flatten().cloned().collect();
    let mut groups: Vec<(Polynomial, Polynomial, Vec<usize>)> = Vec::new();
    for (k, r) in raws.iter().enumerate() {
        let (shift, key) = (invariant(&r.offset, &own[k]), invariant(&r.offset, &all));
        match groups.iter_mut().find(|(_, other, _)| *other == key) {
            Some((common, _, members)) => {
                if *common != shift {
                    *common = key;
                }
                members.push(k);
            }
            None => groups.push((shift, key, vec![k])),
        }
    }
    groups.into_iter().map(|(shift, _, members)| (shift, members)).collect()
}

/// The least number that is added in an offset, where accesses of whole elements are left without it.
fn least(raws: &[Raw]) -> Option<Polynomial> {
    let number = |r: &Raw| r.offset.terms().find(|(m, _)| m.degree() == 0).map_or(0, |(_, c)| c);
    let least = raws.iter().map(number).min()?;
    let bytes = ir::elem_type(ir::accessed_type(raws.first()?.inst))?.bytes();
    let whole = least % i128::from(bytes) == 0 && least != 0 && least.abs() <= MAX_COEFFICIENT;
    whole.then(|| Polynomial::constant(least))
}

/// The terms in parameters only that all offsets have; `None` of no accesses.
fn common(raws: &[Raw]) -> Option<Polynomial> {
    let none = BTreeSet::new();
    let mut shared: Option<Polynomial> = None;
    for r in raws {
        let own = invariant(&r.offset, &none);
        shared = Some(match shared {
            None => own,
            Some(shared) => {
                let has = |m: &Monomial, c: i128| own.terms().any(|(n, d)| n == m && c == d);
                let kept = shared.terms().filter(|(m, c)| has(m, *c));
                kept.fold(Polynomial::zero(), |sum, (m, c)| &sum + &Polynomial::term(m.clone(), c))
            }
        });
    }
    shared
}

/// Where all sizes of a shape are positive.
fn rows_with_elements(shaped: &Shaped, params: &isl::Set) -> isl::Result<isl::Set> {
    let mut all = params.clone();
    for size in shaped.sizes.iter().flatten() {
        let one = PwAff::constant_on(size.domain_space()?, 1)?;
        all = all.intersect(size.clone().ge_set(one)?.params()?)?;
    }
    Ok(all)
}

/// Whether loop nests connect the groups. Nests that follow each other may have two views of one array; each
/// by itself has one.
fn in_one_nest(raws: &[Raw], groups: &[(Polynomial, Vec<usize>)]) -> bool {
    let nested = |a: &usize, b: &usize| {
        let (a, b) = (&raws[*a].place.loops, &raws[*b].place.loops);
        a.starts_with(b) || b.starts_with(a)
    };
    let meet = |a: usize, b: usize| groups[a].1.iter().any(|x| groups[b].1.iter().any(|y| nested(x, y)));
    let mut reached = BTreeSet::from([0]);
    for _ in groups {
        let next: Vec<usize> = (0..groups.len()).filter(|b| reached.iter().any(|a| meet(*a, *b))).collect();
        reached.extend(next);
    }
    reached.len() == groups.len()
}

/// The products of parameters, and parameters, that multiply counters.
fn strides(r: &Raw) -> BTreeSet<Monomial> {
    let mut found = BTreeSet::new();
    for s in r.offset.symbols().into_iter().filter(|s| matches!(s, Symbol::Iter(_))) {
        let stride = r.offset.powers_of(s).remove(&1).unwrap_or_default();
        found.extend(stride.terms().map(|(m, _)| m.clone()).filter(|m| m.degree() > 0));
    }
    found
}

/// The terms in parameters only that are no multiple of one of `strides` by a number.
fn invariant(offset: &Polynomial, strides: &BTreeSet<Monomial>) -> Polynomial {
    let counted = |m: &Monomial| m.factors().any(|(s, _)| matches!(s, Symbol::Iter(_)));
    let mut sum = Polynomial::zero();
    for (m, c) in offset.terms().filter(|(m, _)| m.degree() > 0 && !counted(m) && !strides.contains(m)) {
        sum = &sum + &Polynomial::term(m.clone(), c);
    }
    sum
}

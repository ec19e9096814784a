//! Memory accesses: base pointers, byte offsets, arrays.
//!
//! **Problem.** An address is a base pointer, which must not change in the region, plus an integer polynomial
//! in loop counters and parameters. All accesses of one base are given to [`pollyrs_delinearize`] together,
//! which finds one shape for them.
//!
//! Integer divisions and minima (`A[(t + 1) % 2][i]`) are no polynomials: each such piece becomes a further
//! dimension of the domain handed over, fixed to its function, and is put back into the subscripts
//! afterwards.

use crate::affine::ranges::extension;
use crate::base::blame::type_reason;
use crate::base::builder::Builder;
use crate::base::fail::Fail;
use crate::base::ir::{self, Value};
use crate::memory::parts::Assumed;
use crate::memory::raw::Raw;
use isl::{DimType, Map, PwAff, Set};
use pollyrs_delinearize::{AccessPoly, Blocked, DelinearizeError, Polynomial, Problem, Symbol};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{ScevExpr, ScevKind};
use pollyrs_scop::{AssumptionKind, ElemType, RejectReason};
use std::collections::BTreeSet;

/// An array with the subscripts of its accesses, each a function of the access's place.
pub(crate) struct Shaped {
    pub elem: ElemType,
    pub sizes: Vec<Option<PwAff>>,
    pub subscripts: Vec<Vec<PwAff>>,
    /// Whether what is assumed for the shape mostly holds.
    pub likely: bool,
    /// Whether it holds only where a place in the array is one of a few.
    pub pinned: bool,
    /// Whether some accesses reach over the ends of rows.
    pub wraps: bool,
    /// What may be assumed instead where nothing is written.
    pub loose: Option<Loose>,
    /// [`pollyrs_scop::Array::apart`].
    pub apart: Option<Set>,
}

/// A weaker condition for a shape of memory that is only read.
pub(crate) struct Loose {
    /// What was assumed before the shape's own condition, and how much with it.
    pub before: Assumed,
    pub after: (usize, usize),
    /// Rows have elements.
    pub overlapping: Set,
    /// Subscripts stay inside of rows.
    pub apart: Set,
}

/// A shape, and its sizes as functions of the parameters.
type View = (pollyrs_delinearize::Shape, Vec<Option<PwAff>>);

impl Builder<'_> {
    /// One shape for all accesses of `base`.
    pub fn shape(&mut self, base: Value, raws: &[Raw]) -> Result<Shaped, Fail> {
        let array = self.name_of(base);
        let first =
            raws.first().ok_or_else(|| Fail::new(RejectReason::ControlFlow, self.given.region.entry))?.inst;
        let types: Vec<ElemType> =
            raws.iter().filter_map(|r| ir::elem_type(ir::accessed_type(r.inst))).collect();
        let Some(elem) = types.first().copied() else {
            return Err(Fail::at(type_reason(ir::accessed_type(first), first), first));
        };
        if let Some(k) = types.iter().position(|t| t.bytes() != elem.bytes()) {
            let bytes = Some((elem.bytes().max(types[k].bytes()), elem.bytes().min(types[k].bytes())));
            return Err(Fail::at(RejectReason::ElementType { array, bytes }, raws[k].inst));
        }
        let mut offsets: Vec<Polynomial> = raws.iter().map(|r| r.offset.clone()).collect();
        self.known_numbers(&mut offsets)?;
        let executed: Vec<Set> = raws.iter().map(|r| r.place.domain.clone()).collect();
        self.strides_of_versions(&mut offsets, &executed)?;
        self.named_quotients(&mut offsets, raws)?;
        self.unit_strides(&mut offsets, u64::from(elem.bytes()), first)?;
        self.pitches_in_elements(&mut offsets, u64::from(elem.bytes()), first)?;
        self.nested_strides(&mut offsets, raws)?;
        let mut domains = Vec::new();
        for (r, offset) in raws.iter().zip(&offsets) {
            let domain = self.extended_domain(r)?;
            let with = self.with_quotients_of(domain, offset);
            domains.push(with.map_err(|s| s.fail(first, |_| RejectReason::ControlFlow))?);
        }
        let mut viewed = self.view(raws, &domains, &offsets, (elem, false));
        if let Err(DelinearizeError::Blocked(Blocked::NonAffineSubscript { .. })) = viewed
            && let Ok(true) = self.named_products(&mut offsets)
        {
            // Without a shape after all, it is the product that is reported.
            viewed = self.view(raws, &domains, &offsets, (elem, false)).or(viewed);
        }
        let settled = |viewed: &Result<View, DelinearizeError>| match viewed {
            Ok((shape, _)) => shape.is_unconditional(),
            Err(_) => Ok(false),
        };
        let mut certain = offsets.clone();
        if !settled(&viewed)?
            && let Ok(true) = self.settled_extents(&mut certain, raws)
            && let Ok(simpler) = self.view(raws, &domains, &certain, (elem, viewed.is_ok()))
            && (viewed.is_err() || simpler.0.is_unconditional()?)
        {
            (offsets, viewed) = (certain, Ok(simpler));
        }
        let mut flat = offsets.clone();
        if !settled(&viewed)?
            && let Ok(true) = self.flat_products(&mut flat, raws)
            && let Ok(better) = self.view(raws, &domains, &flat, (elem, viewed.is_ok()))
            && (viewed.is_err() || better.0.is_unconditional()?)
        {
            (offsets, viewed) = (flat, Ok(better));
        }
        if let Ok((shape, _)) = &viewed
            && !shape.is_unconditional()?
            && let Ok(true) = self.split_offsets(&mut offsets, raws, shape, elem.bytes())
        {
            viewed = self.view(raws, &domains, &offsets, (elem, false)).or(viewed);
        }
        let (shape, sizes) = viewed.map_err(|e| self.delinearize_fail(e, &array, raws, first))?;
        self.same_view(&array, raws, &shape)?;
        self.full_rows(&array, raws, &shape)?;
        let subscript = RejectReason::Subscript { array: array.clone(), blocker: "its bounds".into() };
        let note = format!("subscripts of {array} stay inside its dimensions");
        let before = self.assumed.assumed_so_far();
        let apart = shape.check.params()?;
        self.require(AssumptionKind::Delinearization, apart.clone(), first, &note, subscript)?;
        let after = (self.assumed.all.len(), self.assumed.products.len());
        let loose = match shape.overlapping {
            Some(set) => Some(Loose { before, after, overlapping: set.params()?, apart }),
            None => None,
        };
        let mut subscripts = Vec::new();
        for (r, subs) in raws.iter().zip(&shape.subscripts) {
            let back = extension(&r.place, &r.quasi)?;
            let mut all = Vec::new();
            for s in subs.iter().cloned() {
                let s = match &back {
                    Some(m) => s.reset_tuple_id(DimType::In)?.pullback_pw_multi_aff(m.clone())?,
                    None => s,
                };
                all.push(total(s)?);
            }
            subscripts.push(all);
        }
        Ok(Shaped {
            elem,
            sizes,
            subscripts,
            likely: shape.likely,
            pinned: shape.pinned,
            wraps: shape.wraps,
            loose,
            apart: None,
        })
    }

    /// The shape of accesses at these offsets, and its sizes.
    fn view(
        &self,
        raws: &[Raw],
        domains: &[Set],
        offsets: &[Polynomial],
        (elem, certain): (ElemType, bool),
    ) -> Result<View, DelinearizeError> {
        let mut accesses = Vec::new();
        for ((r, domain), offset) in raws.iter().zip(domains).zip(offsets) {
            let hint = ir::address(r.inst).and_then(ir::constant_sizes);
            accesses.push(AccessPoly {
                offset: offset.clone(),
                domain: domain.clone(),
                size_hint: hint.filter(|h| h.iter().all(|s| *s > 0)),
            });
        }
        let params: Vec<String> = self.params.iter().map(|p| p.name.clone()).collect();
        let context = self.known_of(&accesses)?;
        let rounded = self.found.roundings.iter().map(|r| (r.low.clone(), r.high.clone()));
        let found = self.found.inspections.iter().map(|i| (i.low.clone(), i.high.clone()));
        let found: Vec<_> = found.chain(rounded).collect();
        let problem = Problem {
            params: &params,
            context: &context,
            element_bytes: elem.bytes(),
            accesses: &accesses,
            found: &found,
            certain,
        };
        let shape = self.given.shapes.delinearize(&problem)?;
        let sizes = shape.size_functions(&problem)?;
        Ok((shape, sizes))
    }

    /// How many elements a row of lists gets (`list[i * most + count++] = j`) is data: a row that holds them
    /// only if there are no more than `most` iterations is shorter in programs, and the check before the nest
    /// would never hold.
    fn full_rows(&self, array: &str, raws: &[Raw], shape: &pollyrs_delinearize::Shape) -> Result<(), Fail> {
        let appended = raws.iter().find(|r| self.appends(r.inst).is_some());
        match appended {
            Some(r) if shape.sizes.len() > 1 && !shape.is_unconditional()? => {
                let blocker = "how many elements a row gets, which is data".to_string();
                Err(Fail::at(RejectReason::Subscript { array: array.to_string(), blocker }, r.inst))
            }
            _ => Ok(()),
        }
    }

    /// `term`, written with the dimensions `i0`, `i1`, ... of the domain of `r`, in the program's names.
    fn source_term(&self, term: &str, r: &Raw) -> String {
        let factors = term.split('*').map(|factor| {
            let (name, power) = factor.split_once('^').map_or((factor, None), |(n, p)| (n, Some(p)));
            let own = match name.strip_prefix('i').and_then(|d| d.parse::<usize>().ok()) {
                Some(d) if d < r.place.loops.len() => self.counter_name(r.place.loops[d]),
                Some(_) => Some("(a quotient or a choice)".to_string()),
                None => self.params.iter().find(|p| p.name == name).map(|p| p.display.clone()),
            };
            let own = own.unwrap_or_else(|| name.to_string());
            power.map_or_else(|| own.clone(), |p| format!("{own}^{p}"))
        });
        factors.collect::<Vec<_>>().join("*")
    }

    /// What is known of the parameters of some accesses. The others (strides of other arrays, bytes behind a
    /// pitch in elements) multiply the work on every guess.
    fn known_of(&self, accesses: &[AccessPoly]) -> isl::Result<Set> {
        let mut used = BTreeSet::new();
        for a in accesses {
            used.extend(a.offset.symbols().into_iter().filter_map(|s| match s {
                Symbol::Param(i) => Some(i),
                Symbol::Iter(_) => None,
            }));
            used.extend(self.involved(&a.domain)?);
        }
        self.only_of(self.known()?, &used)
    }

    /// Refuses to join loops that take an array for a flat one with loops that take it for one of several
    /// dimensions.
    ///
    /// `for (k < rows * cols) s += A[k]` after `A[i * cols + j] = …` would be modelled as the first row only,
    /// under an assumption that hardly ever holds. The flat access is blamed, so that the search splits
    /// there. An access within the first row that just cannot be proved to stay in it is tolerated, unless
    /// the loops can do without each other.
    fn same_view(&self, array: &str, raws: &[Raw], shape: &pollyrs_delinearize::Shape) -> Result<(), Fail> {
        let subscript = |blocker| RejectReason::Subscript { array: array.into(), blocker };
        let parametric = |p: &Option<Polynomial>| p.as_ref().is_some_and(|p| p.as_constant().is_none());
        if !shape.sizes.iter().any(parametric) || shape.is_unconditional()? {
            return Ok(());
        }
        let Some(Some(row)) = shape.sizes.last() else { return Ok(()) };
        let known = self.known()?;
        for (r, subs) in raws.iter().zip(&shape.subscripts) {
            let (true, true, Some(last)) = (r.quasi.is_empty(), r.offset.is_affine(), subs.last()) else {
                continue;
            };
            let domain = r.place.domain.clone().intersect_params(known.clone())?;
            let size = self.affine_function(row, &r.place, &[]).map_err(|s| s.fail(r.inst, subscript))?;
            let Some(size) = size else { continue };
            let inside = last.clone().nonneg_set()?.intersect(last.clone().lt_set(size)?)?;
            let flat = self.involved(&domain)?.into_iter().any(|p| is_product(&self.params[p].scev));
            if (flat || self.given.region.joined) && !domain.is_subset(&inside)? {
                let blocker = "another view of the same memory, with fewer dimensions".to_string();
                return Err(Fail::at(subscript(blocker), r.inst));
            }
        }
        Ok(())
    }

    fn delinearize_fail(&self, e: DelinearizeError, array: &str, raws: &[Raw], first: Value) -> Fail {
        let inst = |a: usize| raws.get(a).map_or(first, |r| r.inst);
        let array = array.to_string();
        match e {
            DelinearizeError::Isl(e) => Fail::from(e),
            DelinearizeError::Blocked(Blocked::NotDivisible { access, .. }) => {
                Fail::at(RejectReason::ElementType { array, bytes: None }, inst(access))
            }
            DelinearizeError::Blocked(Blocked::NonAffineSubscript { access, term }) => {
                let blocker = match raws.get(access) {
                    Some(r) => format!("the product {}", self.source_term(&term, r)),
                    None => format!("the product {term}"),
                };
                Fail::at(RejectReason::Subscript { array, blocker }, inst(access))
            }
            DelinearizeError::Blocked(Blocked::Overflow { access }) => {
                Fail::at(RejectReason::Subscript { array, blocker: "a huge number".into() }, inst(access))
            }
            DelinearizeError::Blocked(Blocked::NeverInside) => Fail::at(
                RejectReason::Subscript { array, blocker: "accesses outside of any array shape".into() },
                first,
            ),
            DelinearizeError::Range(value) => {
                Fail::at(RejectReason::Subscript { array, blocker: format!("the number {value}") }, first)
            }
            DelinearizeError::Malformed(m) => {
                let stage = "delinearization".to_string();
                Fail::at(RejectReason::Internal { stage, message: m.to_string() }, first)
            }
        }
    }
}

/// Whether `e` is the product of two values that are not constants, with constants added.
fn is_product(e: &ScevExpr) -> bool {
    match &e.kind {
        ScevKind::Mul(ops) => ops.iter().filter(|o| !matches!(o.kind, ScevKind::Constant(_))).count() > 1,
        ScevKind::Add(ops) | ScevKind::SMax(ops) | ScevKind::UMax(ops) => ops.iter().any(is_product),
        ScevKind::SignExtend(x) | ScevKind::ZeroExtend(x) | ScevKind::Truncate(x) => is_product(x),
        _ => false,
    }
}

/// The same function where it is defined, and some value elsewhere: the model's assumptions exclude those
/// points, and the verifier wants a total function. What all pieces have in common (that parameters are in
/// the ranges of their types) is dropped first, or the points without it would be pieces of their own in all
/// that follows.
fn total(p: PwAff) -> isl::Result<PwAff> {
    if p.isa_aff()? {
        return Ok(p);
    }
    let p = simplified(p)?;
    let missing = p.clone().domain()?.complement()?;
    if missing.is_empty()? {
        return Ok(p);
    }
    let zero = PwAff::constant_on(p.domain_space()?, 0)?.intersect_domain(missing)?;
    p.union_add(zero)?.coalesce()
}

/// Without what all pieces have in common. Each is simplified by itself, so that outside of it pieces may
/// meet: then less is dropped.
fn simplified(p: PwAff) -> isl::Result<PwAff> {
    let defined = p.clone().domain()?;
    for simple in [p.clone().gist(defined.clone())?, p.clone().gist_params(defined.params()?)?] {
        if Map::from_pw_aff(simple.clone())?.is_single_valued()? {
            return simple.coalesce();
        }
    }
    Ok(p)
}

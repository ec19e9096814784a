//! The model's verifier: what every producer of a [`Scop`] must guarantee.

use crate::model::*;
use pollyrs_isl as isl;
use std::collections::BTreeSet;

/// A broken invariant of the model: an internal error of detection.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    #[error("duplicate name {0}")]
    DuplicateName(String),
    #[error("{stmt}: the tuple of {what} is not {expected}")]
    Tuple { stmt: String, what: &'static str, expected: String },
    #[error("{stmt}: an access relation to {array} is not single-valued or not total on the domain")]
    Relation { stmt: String, array: String },
    #[error("{0}: rows overlap, and something is written")]
    Overlap(String),
    #[error("{0}: the size of an inner dimension is missing")]
    MissingSize(String),
    #[error("{0}: inspected values are written, or depend on what is inspected later")]
    Inspection(String),
    #[error("{0}: what it is rounded from depends on what is known later")]
    Rounding(String),
    #[error(
        "{0}: an update is not all that is done to the array, or some accesses have a place and others don't"
    )]
    Update(String),
    #[error("the schedule does not order exactly the statements' instances")]
    Schedule,
    #[error(transparent)]
    Isl(#[from] isl::Error),
}

/// Checks the invariants that the crate documentation lists.
pub fn verify(scop: &Scop) -> Result<(), VerifyError> {
    let mut names = BTreeSet::new();
    let all = scop.params.iter().map(|p| &p.name);
    let all = all.chain(scop.arrays.iter().map(|a| &a.name)).chain(scop.statements.iter().map(|s| &s.name));
    for n in all {
        if !names.insert(n.clone()) {
            return Err(VerifyError::DuplicateName(n.clone()));
        }
    }
    for a in &scop.arrays {
        let missing = a.sizes.iter().enumerate().any(|(i, s)| s.is_none() && (i > 0 || !a.is_memory()));
        if missing {
            return Err(VerifyError::MissingSize(a.name.clone()));
        }
    }
    for a in scop.statements.iter().flat_map(|s| &s.accesses).filter(|a| a.kind != AccessKind::Read) {
        for array in scop.arrays.iter().filter(|array| array.apart.is_some()) {
            if array.same_place(scop.array(a.array))? {
                return Err(VerifyError::Overlap(array.name.clone()));
            }
        }
    }
    for s in &scop.statements {
        if s.domain.tuple_name()?.as_deref() != Some(&s.name) {
            return Err(VerifyError::Tuple {
                stmt: s.name.clone(),
                what: "the domain",
                expected: s.name.clone(),
            });
        }
        for a in &s.accesses {
            verify_access(scop, s, a)?;
        }
    }
    for (n, i) in scop.inspections.iter().enumerate() {
        let array = scop.array(i.array);
        let mut fine = i.elements.tuple_name()?.as_deref() == Some(&array.name);
        for later in &scop.inspections[n..] {
            for p in [later.low, later.high] {
                fine &= scop.params.get(p).is_some_and(|p| p.inspected)
                    && !i.elements.involves_dims(isl::DimType::Param, p as u32, 1)?;
            }
        }
        for a in scop.statements.iter().flat_map(|s| &s.accesses).filter(|a| a.kind != AccessKind::Read) {
            fine &= a.array != i.array && !scop.array(a.array).same_place(array)?;
        }
        if !fine {
            return Err(VerifyError::Inspection(array.name.clone()));
        }
    }
    verify_roundings(scop)?;
    for (id, array) in scop.arrays.iter().enumerate() {
        let own = || {
            let all = scop.statements.iter().flat_map(|s| s.accesses.iter().map(move |a| (s, a)));
            all.filter(|(_, a)| a.array == ArrayId(id))
        };
        let ops: BTreeSet<Option<UpdateOp>> = own().map(|(s, a)| s.update_of(a).map(|u| u.op)).collect();
        let placed: BTreeSet<bool> = own().map(|(_, a)| a.place.is_some()).collect();
        let distinct = scop.inspections.iter().any(|i| i.distinct)
            || appended(scop, ArrayId(id))
            || promised(scop, ArrayId(id))?;
        if ops.len() > 1 || placed.len() > 1 || placed.contains(&true) && !distinct {
            return Err(VerifyError::Update(array.name.clone()));
        }
    }
    let scheduled = scop.schedule.domain()?;
    let mut domain = isl::UnionSet::empty(&scop.ctx)?;
    for s in &scop.statements {
        domain = domain.add_set(s.domain.clone())?;
    }
    let scheduled = scheduled.intersect_params(scop.context.clone())?;
    if !scheduled.is_equal(&domain.intersect_params(scop.context.clone())?)? {
        return Err(VerifyError::Schedule);
    }
    Ok(())
}

/// `{ Stmt[i, ...] -> [i] }`
pub fn outermost_counter(domain: &isl::Set) -> isl::Result<isl::Map> {
    let local = isl::LocalSpace::from_space(domain.space()?)?;
    isl::Map::from_pw_aff(isl::PwAff::from_aff(isl::Aff::var_on_domain(local, isl::DimType::Set, 0)?)?)
}

/// Terms are made of earlier ones, and of nothing that is known later only.
fn verify_roundings(scop: &Scop) -> Result<(), VerifyError> {
    for (n, r) in scop.roundings.iter().enumerate() {
        let later = scop.roundings[n..].iter().map(|l| (l.low, l.high));
        let unseen = scop.inspections.iter().skip(r.behind).map(|i| (i.low, i.high));
        let later: Vec<usize> = later.chain(unseen).flat_map(|(low, high)| [low, high]).collect();
        let mut fine = !r.terms.is_empty() && r.behind <= scop.inspections.len();
        for p in &later {
            fine &= scop.params.get(*p).is_some_and(|p| p.inspected);
        }
        for (at, t) in r.terms.iter().enumerate() {
            fine &= match &t.kind {
                TermKind::Any | TermKind::Known(_) => true,
                TermKind::Count { low, high } => {
                    let mut free = true;
                    for (f, p) in [low, high].into_iter().flat_map(|f| later.iter().map(move |p| (f, *p))) {
                        free &= !f.involves_dims(isl::DimType::Param, p as u32, 1)?;
                    }
                    free
                }
                TermKind::Memory { array, elements, .. } => {
                    let mut free = elements.tuple_name()?.as_deref() == Some(&scop.array(*array).name);
                    for p in &later {
                        free &= !elements.involves_dims(isl::DimType::Param, *p as u32, 1)?;
                    }
                    free
                }
                TermKind::Made(_, of) => of.iter().all(|x| *x < at),
                TermKind::AtMost { of, bound, .. } | TermKind::AtLeast { of, bound, .. } => {
                    *of < at && *bound < at
                }
            };
        }
        for (i, p) in scop.inspections.iter().take(r.behind).flat_map(|i| [(i, r.low), (i, r.high)]) {
            fine &= !i.elements.involves_dims(isl::DimType::Param, p as u32, 1)?;
        }
        if !fine {
            return Err(VerifyError::Rounding(r.display.clone()));
        }
    }
    Ok(())
}

/// Whether the program's promise orders all accesses of an array: data chooses their elements, and their
/// places are the outermost counter.
fn promised(scop: &Scop, array: ArrayId) -> Result<bool, VerifyError> {
    let mut fine = scop.promised.contains(&array);
    for s in &scop.statements {
        for a in s.accesses.iter().filter(|a| a.array == array) {
            let Some(place) = &a.place else { return Ok(false) };
            let dims = place.dim(isl::DimType::In)?;
            let chosen = a.within.as_ref().is_some_and(|w| !w.values.is_empty());
            fine &=
                chosen && a.kind != AccessKind::MustWrite && dims > 0 && place.dim(isl::DimType::Out)? == 1;
            let domain = s.domain.clone().intersect_params(scop.context.clone())?;
            let own = place.clone().reset_tuple_id(isl::DimType::Out)?.intersect_domain(domain.clone())?;
            fine = fine && own.is_equal(&outermost_counter(&s.domain)?.intersect_domain(domain)?)?;
        }
    }
    Ok(fine)
}

/// Whether an array is appended to, in the way that the model says.
fn appended(scop: &Scop, array: ArrayId) -> bool {
    let own = |a: &&Append| a.array == array && a.step > 0 && a.total.0 < scop.statements.len();
    scop.appends.iter().find(own).is_some()
}

fn verify_access(scop: &Scop, s: &Statement, a: &Access) -> Result<(), VerifyError> {
    let array = scop.array(a.array);
    if a.relation.tuple_name(isl::DimType::In)?.as_deref() != Some(&s.name) {
        return Err(VerifyError::Tuple { stmt: s.name.clone(), what: "an access", expected: s.name.clone() });
    }
    if a.relation.tuple_name(isl::DimType::Out)?.as_deref() != Some(&array.name)
        || a.relation.dim(isl::DimType::Out)? as usize != array.dims()
    {
        return Err(VerifyError::Tuple {
            stmt: s.name.clone(),
            what: "an access",
            expected: array.name.clone(),
        });
    }
    let domain = s.domain.clone().intersect_params(scop.context.clone())?;
    let function = |relation: &isl::Map, domain: &isl::Set| -> isl::Result<bool> {
        Ok(domain.is_subset(&relation.clone().domain()?)? && relation.is_single_valued()?)
    };
    let fine = match &a.within {
        // The element of one execution is a function; what the instance may touch is any set.
        Some(w) => {
            let more = (w.counters.len() + w.values.len()) as u32;
            let id = domain.tuple_id()?;
            let domain = domain.clone().add_dims(isl::DimType::Set, more)?.set_tuple_id(id)?;
            function(&w.relation, &domain)?
        }
        None => function(&a.relation, &domain)?,
    };
    if !fine {
        return Err(VerifyError::Relation { stmt: s.name.clone(), array: array.name.clone() });
    }
    Ok(())
}

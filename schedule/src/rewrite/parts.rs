//! Pieces that the rewritings share: fresh names, extents, the statement that copies an array.

use crate::strategy::volume;
use crate::tree::{ScheduleTree, Tree};
use crate::{Result, known};
use pollyrs_isl as isl;
use pollyrs_scop::{Access, AccessKind, AccessValue, Array, ArrayId, Scop, Statement, ValueHandle};

/// A new array may have this many times the elements of the largest array of the program, as the model sees
/// both.
pub(super) const MAX_GROWTH: f64 = 2.0;

/// The elements of the largest array of the program.
pub(super) fn largest_volume(scop: &Scop) -> Result<f64> {
    let mut largest = 0.0_f64;
    for id in (0..scop.arrays.len()).map(ArrayId).filter(|id| scop.array(*id).is_memory()) {
        let touched = scop.accesses(|_, a| a.array == id)?.range()?;
        if !touched.is_empty()? {
            largest = largest.max(volume(scop, &isl::Set::from_union_set(touched)?)?);
        }
    }
    Ok(largest)
}

/// `base`, with a number behind it if the SCoP has the name.
pub(super) fn fresh(scop: &Scop, base: &str) -> String {
    let taken = |n: &str| {
        scop.params.iter().any(|p| p.name == n)
            || scop.arrays.iter().any(|a| a.name == n)
            || scop.statements.iter().any(|s| s.name == n)
    };
    if !taken(base) {
        return base.into();
    }
    (2_u32..).map(|i| format!("{base}{i}")).find(|n| !taken(n)).unwrap_or_default()
}

/// The smallest size that holds all values of a set `{ [v] }` as subscripts, zero without any; `None` if a
/// value may be negative or there is no bound: `[params] -> { [size] }`.
pub(super) fn extent(scop: &Scop, values: isl::Set) -> Result<Option<isl::PwAff>> {
    let known = known(scop)?;
    let values = values.intersect_params(known.clone())?.coalesce()?;
    if values.is_empty()? {
        return Ok(Some(isl::PwAff::constant_on(scop.param_space()?, 0)?));
    }
    let negative = values.clone().upper_bound_si(isl::DimType::Set, 0, -1)?;
    if !negative.is_empty()? || !values.dim_has_upper_bound(isl::DimType::Set, 0)? {
        return Ok(None);
    }
    let last = values.dim_max(0)?.add_constant(isl::Val::int(&scop.ctx, 1)?)?.coalesce()?;
    let size = last.gist(known)?.union_max(isl::PwAff::constant_on(scop.param_space()?, 0)?)?;
    Ok(Some(size.align_params(scop.param_space()?)?))
}

/// `{ S[i] -> X[a] }` becomes `{ S[i] -> Y[p, a] }` for `prefix = { S[i] -> [p] }`, or `{ S[i] -> Y[a] }`
/// without one.
pub(super) fn renamed(relation: &isl::Map, prefix: Option<isl::Map>, name: &str) -> Result<isl::Map> {
    let plain = relation.clone().reset_tuple_id(isl::DimType::Out)?;
    let full = match prefix {
        Some(p) => p.flat_range_product(plain)?,
        None => plain,
    };
    Ok(full.set_tuple_name(isl::DimType::Out, name)?)
}

/// The value handle of a load of `array`: copies of its elements have this type.
pub(super) fn element_value(scop: &Scop, array: ArrayId) -> Option<ValueHandle> {
    let reads = scop.statements.iter().flat_map(|s| &s.accesses);
    reads.filter(|a| a.array == array && a.kind == AccessKind::Read).find_map(|a| match a.value {
        AccessValue::Instruction(v) | AccessValue::ScalarRead(v) => Some(v),
        AccessValue::ScalarWrite(_) => None,
    })
}

/// A statement that reads `from`, a relation from its instances, and stores the value at `to`.
pub(super) fn copy(
    name: &str,
    domain: isl::Set,
    (from_array, from): (ArrayId, isl::Map),
    (to_array, to): (ArrayId, isl::Map),
    value: ValueHandle,
) -> Statement {
    let read = Access::new(AccessKind::Read, from_array, from, AccessValue::ScalarRead(value));
    let write = Access::new(AccessKind::MustWrite, to_array, to, AccessValue::ScalarWrite(value));
    Statement {
        name: name.into(),
        domain,
        accesses: vec![read, write],
        body: vec![],
        synthesized: vec![],
        reduction: None,
        updates: Vec::new(),
        running: None,
        subregion: None,
        location: None,
    }
}

/// Appends an array.
pub(super) fn push(scop: &mut Scop, array: Array) -> ArrayId {
    scop.arrays.push(array);
    ArrayId(scop.arrays.len() - 1)
}

/// The schedule of `scop` with the last statement of it, which is not in the schedule yet, behind all others.
pub(super) fn at_the_end(scop: &Scop) -> Result<isl::Schedule> {
    let old = ScheduleTree::from_isl(&scop.schedule)?;
    let Some(last) = scop.statements.last() else { return Ok(scop.schedule.clone()) };
    let own = isl::UnionSet::from_set(last.domain.clone())?;
    let filter = own.clone().universe()?;
    let leaf = Tree::Leaf.under(members(&last.domain)?);
    let mut children = match old.root {
        Tree::Sequence(children) => children,
        other => vec![(old.domain.clone().universe()?, other)],
    };
    children.push((filter, leaf));
    ScheduleTree { domain: old.domain.union(own)?, root: Tree::Sequence(children) }.to_isl()
}

/// One member for each dimension of a statement's domain.
pub(super) fn members(domain: &isl::Set) -> Result<Vec<isl::UnionPwAff>> {
    let mut out = Vec::new();
    for d in 0..domain.dim(isl::DimType::Set)? {
        let ls = isl::LocalSpace::from_space(domain.space()?)?;
        let aff = isl::Aff::var_on_domain(ls, isl::DimType::Set, d)?;
        out.push(isl::UnionPwAff::from_pw_aff(isl::PwAff::from_aff(aff)?)?);
    }
    Ok(out)
}

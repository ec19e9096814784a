//! Pieces that the rewritings share: fresh names, extents, the statement that copies an array.

use crate::strategy::volume;
use crate::tree::{Band, ScheduleTree, Tree, member_map};
use crate::{Result, known};
use pollyrs_isl as isl;
use pollyrs_scop::{
    Access, AccessKind, AccessValue, Array, ArrayId, ArrayKind, ElemType, Scop, Statement, ValueHandle,
};

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

/// All instances that a statement could have.
pub(super) fn all_of(s: &Statement) -> Result<isl::UnionSet> {
    Ok(isl::UnionSet::from_set(isl::Set::universe(s.domain.space()?)?)?)
}

/// Whether a member of a band counts by the iterator at `at` of a statement.
pub(super) fn counts(scop: &Scop, m: &isl::UnionPwAff, s: &Statement, at: u32) -> Result<bool> {
    if s.domain.dim(isl::DimType::Set)? <= at {
        return Ok(false);
    }
    let own = isl::UnionSet::from_set(s.domain.clone().intersect_params(known(scop)?)?)?;
    let wanted = members(&s.domain)?;
    let wanted = member_map(&wanted[at as usize])?.intersect_domain(own.clone())?;
    Ok(member_map(m)?.intersect_domain(own)?.is_equal(&wanted)?)
}

/// A tree for some of its instances.
pub(super) fn restricted(tree: &Tree, kept: &isl::UnionSet) -> Result<Tree> {
    Ok(match tree {
        Tree::Leaf => Tree::Leaf,
        Tree::Mark(name, child) => Tree::Mark(name.clone(), Box::new(restricted(child, kept)?)),
        Tree::Band(b) => {
            let members = b.members.iter().map(|m| m.clone().intersect_domain(kept.clone()));
            let members = members.collect::<isl::Result<Vec<_>>>()?;
            Tree::Band(Band { members, child: Box::new(restricted(&b.child, kept)?), ..b.clone() })
        }
        Tree::Sequence(children) => {
            let mut some = Vec::new();
            for (filter, child) in children {
                let filter = filter.clone().intersect(kept.clone())?;
                if !filter.is_empty()? {
                    some.push((filter, restricted(child, kept)?));
                }
            }
            match some.len() {
                1 => some.remove(0).1,
                _ => Tree::Sequence(some),
            }
        }
    })
}

/// The statement with the iterators of a view, `{ new instance -> old instance }`.
pub(super) fn under(s: &mut Statement, view: &isl::Map) -> Result<()> {
    s.domain = s.domain.clone().apply(view.clone().reverse()?)?.coalesce()?;
    for a in &mut s.accesses {
        a.relation = view.clone().apply_range(a.relation.clone())?.coalesce()?;
    }
    for y in &mut s.synthesized {
        let f = view.clone().apply_range(isl::Map::from_pw_aff(y.function.clone())?)?;
        y.function = isl::PwMultiAff::from_map(f)?.at(0)?.coalesce()?;
    }
    Ok(())
}

/// The sizes of an array with a cell for each of `cells`, `{ [o, p] }`; `None` where it has no bound or would
/// be too large.
pub(super) fn sizes(
    scop: &Scop,
    cells: &isl::Set,
    (at, kept): (u32, &[u32]),
) -> Result<Option<Vec<Option<isl::PwAff>>>> {
    let mut sizes = Vec::new();
    for d in kept.iter().copied().chain([at]) {
        let values = cells.clone().project_out(isl::DimType::Set, d + 1, at - d)?;
        let values = values.project_out(isl::DimType::Set, 0, d)?.reset_tuple_id()?;
        let Some(size) = extent(scop, values)? else { return Ok(None) };
        sizes.push(Some(size));
    }
    let mut plain = cells.clone().reset_tuple_id()?;
    for d in (0..at).rev().filter(|d| !kept.contains(d)) {
        plain = plain.project_out(isl::DimType::Set, d, 1)?;
    }
    let fits = at == 0 || volume(scop, &plain)? <= MAX_GROWTH * largest_volume(scop)?;
    Ok(fits.then_some(sizes))
}

/// Adds the cell that tells of NaNs on the device, where the program has none for such news.
pub(super) fn add_nan_flag(scop: &mut Scop) {
    if scop.arrays.iter().any(|a| matches!(a.kind, ArrayKind::Fault { .. })) {
        return;
    }
    let name = fresh(scop, "nan");
    let (display, elem) = ("the NaN flag".to_string(), ElemType::Int(32));
    let kind = ArrayKind::Fault { leaves: false };
    push(scop, Array { name, display, elem, sizes: Vec::new(), kind, shift: None, apart: None });
}

/// The instances of all statements.
pub(super) fn domain_of(scop: &Scop) -> Result<isl::UnionSet> {
    let mut all = isl::UnionSet::empty(&scop.ctx)?;
    for s in &scop.statements {
        all = all.add_set(s.domain.clone())?;
    }
    Ok(all)
}

/// A statement without instructions.
pub(super) fn plain(name: &str, domain: isl::Set, accesses: Vec<Access>, like: &Statement) -> Statement {
    Statement {
        name: name.into(),
        domain,
        accesses,
        body: vec![],
        synthesized: vec![],
        reduction: None,
        updates: Vec::new(),
        running: None,
        subregion: None,
        location: like.location.clone(),
    }
}

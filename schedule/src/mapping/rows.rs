//! Rows in shared memory while a block has them ([`crate::strategy::ROWS`]).
//!
//! A block runs one stage: all threads enter it, rows that are read from before are copied, neighbouring
//! threads neighbouring elements, and behind a barrier come the steps of the nest.
//! ```text
//! _enter;  for turns { _in0(s0, s1) };  _barrier(-1);  the steps, with a barrier behind each
//! ```
//! A window has the block's rows and a column more than a row may be long, so that threads with a row each
//! are in different banks. What is written goes to memory as well, unless only the block reads it, and
//! something writes the element again: exponentials of which quotients take the place.

use super::leaf::Leaf;
use super::site::Site;
use crate::mapped::Window;
use crate::names::Param::Block;
use crate::names::Tuple::{self, Barrier, Enter};
use crate::planted::planted;
use crate::strategy::{COLUMNS, arrays_of_rows, rows_of_block};
use crate::tree::Tree;
use crate::{Dependences, Result, ScheduleError};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId, Scop};

/// The step of copies, ahead of all others.
pub(super) const BEFORE: i64 = -1;

pub(super) struct Staging {
    pub windows: Vec<Window>,
    /// `[params, _b*, _t*] -> { _in0[s0, s1] }` by window: the copies of a thread.
    copies: Vec<isl::Set>,
}

/// The windows of a site whose leaves these are; `None` without any.
pub(super) fn staging(
    scop: &Scop,
    deps: &Dependences,
    site: &Site,
    domain: &isl::UnionSet,
    leaves: &[Leaf],
    threads: &[u32],
) -> Result<Option<Staging>> {
    let ctx = &scop.ctx;
    let [p, q] = threads else { return Ok(None) };
    let mut row: Option<isl::UnionPwAff> = None;
    let mut kernels = Vec::new();
    for leaf in leaves {
        let Some(first) = leaf.members.first() else { return Ok(None) };
        let first = first.clone().intersect_domain(leaf.domain.clone().universe()?)?;
        row = Some(match row {
            Some(row) => row.union_add(first)?,
            None => first,
        });
        kernels.push((leaf.domain.clone(), leaf.inner.depth() > 0));
    }
    let Some(row) = row else { return Ok(None) };
    let found = arrays_of_rows(scop, &kernels, &row)?;
    let Some(rows) = rows_of_block(scop, &found) else { return Ok(None) };
    if site.members.len() != 1 || !site.host.is_empty() {
        return Err(ScheduleError::Unsupported("rows in a loop"));
    }
    let (mut windows, mut copies) = (Vec::new(), Vec::new());
    for (number, r) in found.iter().enumerate() {
        let (name, copy) = (&scop.array(r.array).name, Tuple::Window(number));
        let first = format!("{rows} * {} + {}", Block(0), r.ahead);
        let lower = vec![
            isl::PwAff::read(ctx, &format!("[{}] -> {{ {Enter}[] -> [({first})] }}", Block(0)))?,
            isl::PwAff::read(ctx, &format!("{{ {Enter}[] -> [(0)] }}"))?,
        ];
        let passing = passing(scop, deps, domain, r.array)?;
        let size = vec![rows as u32, COLUMNS as u32 + 1];
        let from_before = from_before(deps, domain, name)?;
        let copied = rows - i64::from(planted("row-copy"));
        let mine = format!(
            "[_b0, _t0, _t1] -> {{ {name}[s0, s1] : {first} <= s0 < {first} + {copied} and exists e, f : s0 = {p} * e + {} + _t0 and s1 = {q} * f + _t1 }}",
            r.ahead
        );
        let elements = isl::UnionSet::read(ctx, &mine)?.intersect(from_before)?;
        let to_copy = isl::UnionMap::read(ctx, &format!("{{ {name}[s0, s1] -> {copy}[s0, s1] }}"))?;
        let elements = elements.apply(to_copy)?.coalesce()?;
        let empty = isl::Set::read(ctx, &format!("{{ {copy}[s0, s1] : false }}"))?;
        copies.push(match elements.is_empty()? {
            true => empty,
            false => isl::Set::from_union_set(elements)?,
        });
        windows.push(Window { array: r.array, copy, lower, size, passing, disturbed: Vec::new() });
    }
    Ok(Some(Staging { windows, copies }))
}

/// Elements of an array that instances of a launch read and no other one of it has written.
fn from_before(deps: &Dependences, domain: &isl::UnionSet, array: &str) -> Result<isl::UnionSet> {
    let other = deps.tagged_flow.clone().subtract_domain(domain.clone())?.range()?.unwrap()?;
    let mut elements = isl::UnionSet::empty(domain.context())?;
    for set in deps.no_source.clone().union(other)?.intersect_domain(domain.clone())?.range()?.sets()? {
        if set.tuple_name()?.as_deref() == Some(array) {
            elements = elements.add_set(set)?;
        }
    }
    Ok(elements.coalesce()?)
}

/// `{ S[i] -> _enter[] }`: writes to an array that need no store. All that read their values are instances of
/// the launch, hence of the block, as no dependence joins two rows; and their elements are surely written
/// again. Statements that have other instances as well store all: a condition on an instance would take as
/// long as its store.
fn passing(scop: &Scop, deps: &Dependences, domain: &isl::UnionSet, array: ArrayId) -> Result<isl::UnionMap> {
    let ctx = &scop.ctx;
    let writes = scop.accesses(|_, a| a.array == array && a.kind != AccessKind::Read)?;
    let surely = scop.accesses(|_, a| a.array == array && a.kind == AccessKind::MustWrite)?;
    let again = writes.apply_range(surely.reverse()?)?.intersect(deps.output.clone())?.domain()?;
    let mut seen = isl::UnionSet::empty(ctx)?;
    for m in deps.tagged_flow.maps()? {
        let cell = m.clone().range()?.unwrap()?.tuple_name(isl::DimType::Out)?;
        if cell.as_ref() == Some(&scop.array(array).name) {
            let readers = isl::UnionMap::from_map(m)?.range_factor_domain()?;
            let inside = readers.clone().intersect_range(domain.clone())?;
            seen = seen.union(readers.subtract(inside)?.domain()?)?;
        }
    }
    let mut left = isl::UnionSet::empty(ctx)?;
    for set in domain.sets()? {
        let own = isl::UnionSet::from_set(set)?;
        if own.is_subset(&again)? && own.is_disjoint(&seen)? {
            left = left.union(own)?;
        }
    }
    Ok(left.product_map(isl::UnionSet::read(ctx, &format!("{{ {Enter}[] }}"))?)?)
}

impl Staging {
    /// A thread's tree, its domain and the steps, with what comes before.
    pub fn ahead_of(
        &self,
        root: Tree,
        domain: isl::UnionSet,
        steps: isl::UnionMap,
    ) -> Result<(Tree, isl::UnionSet, isl::UnionMap)> {
        let ctx = domain.context().clone();
        let (mut domain, mut steps) = (domain, steps);
        let set = |text: String| isl::UnionSet::read(&ctx, &text);
        let enter = set(format!("{{ {Enter}[] }}"))?;
        domain = domain.union(enter.clone())?;
        steps = steps.union(isl::UnionMap::read(&ctx, &format!("{{ {Enter}[] -> [{BEFORE}] }}"))?)?;
        let mut children = vec![(enter, Tree::Leaf)];
        for (w, copies) in self.windows.iter().zip(&self.copies) {
            if copies.is_empty()? {
                continue;
            }
            domain = domain.add_set(copies.clone())?;
            let to = format!("{{ {}[s0, s1] -> [{BEFORE}] }}", w.copy);
            steps = steps.union(isl::UnionMap::read(&ctx, &to)?)?;
            let member =
                |d: u32| isl::UnionPwAff::read(&ctx, &format!("{{ {}[s0, s1] -> [(s{d})] }}", w.copy));
            let turns = Tree::Leaf.under(vec![member(0)?, member(1)?]);
            children.push((set(format!("{{ {}[s0, s1] }}", w.copy))?, turns));
        }
        children.push((set(format!("{{ {Barrier}[{BEFORE}] }}"))?, Tree::Leaf));
        match root {
            Tree::Sequence(rest) => children.extend(rest),
            _ => return Err(ScheduleError::Unsupported("rows without a sequence of steps")),
        }
        Ok((Tree::Sequence(children), domain, steps))
    }
}

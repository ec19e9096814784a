//! What an iteration stores and the next one loads, handed on in a cell instead ([`pollyrs_scop::Running`]).
//!
//! The statement takes the value from a cell and leaves what it stores there, too; a copy ahead of the loop
//! sets the cell to what the first iteration would load. So the statement updates the cell as a running total
//! does, and [`super::scan`] cuts it. Where all iterations have the same element, it is stored once, behind
//! the loop. Each iteration of the loops around has a cell of its own.
//!
//! # Example
//! `for i >= 1: y[i] = y[i-1] + x[i]` becomes `c = y[0]; for i >= 1: c = y[i] = c + x[i]`;
//! `for i { *s += x[i]; y[i] = *s }` becomes `c = *s; for i: c = y[i] = c + x[i]; *s = c`.

use super::made::{LoopCarried, Made};
use super::parts::{MAX_GROWTH, all_of, copy, counts, extent, fresh, largest_volume, push};
use super::reduce::next;
use crate::planted::planted;
use crate::strategy::volume;
use crate::tree::{Band, ScheduleTree, Tree, member_map};
use crate::{Dependences, Result, ScheduleError, known};
use pollyrs_isl as isl;
use pollyrs_scop::{Access, AccessKind, AccessValue, Array, ArrayKind, Scop, Statement, StmtId};

/// The SCoP with a cell for what instances of statement `n` take over; `None` if they take over nothing from
/// the instances before.
pub(super) fn carry(scop: &Scop, deps: &Dependences, n: usize) -> Result<Option<Made>> {
    let old = &scop.statements[n];
    let Some(running) = &old.running else { return Ok(None) };
    let (read, write) = (&old.accesses[running.update.read], &old.accesses[running.update.write]);
    let (AccessValue::Instruction(load), AccessValue::Instruction(store)) = (read.value, write.value) else {
        return Ok(None);
    };
    let Some(at) = old.domain.dim(isl::DimType::Set)?.checked_sub(1) else { return Ok(None) };
    let domain = old.domain.clone().intersect_params(known(scop)?)?;
    let next = next(&domain, at)?;
    if !old.is_plain() || !takes_over(scop, deps, (old, read), &next)? {
        return Ok(None);
    }
    // { S[o, first] }, { S[o, last] }
    let (first, last) =
        (domain.clone().subtract(next.clone().range()?)?, domain.clone().subtract(next.domain()?)?);
    let stays = read.relation.is_equal(&write.relation)?;
    let Some(sizes) = sizes(scop, &first, at)? else { return Ok(None) };
    let mut new = scop.clone();
    let target = scop.array(read.array);
    let cell_name = fresh(&new, &format!("{}_handed", target.name));
    let kind = ArrayKind::Scalar { value: load, live_out: false };
    let (display, elem) = (target.display.clone(), target.elem);
    let cell = push(
        &mut new,
        Array { name: cell_name.clone(), display, elem, sizes, kind, shift: None, apart: None },
    );
    let outer = |space: isl::Space| -> Result<isl::Map> {
        let all = isl::Set::universe(space)?.identity()?;
        let more = all.dim(isl::DimType::Out)? - at;
        Ok(all.project_out(isl::DimType::Out, at, more)?)
    };
    let to_cell = |space: isl::Space| -> Result<isl::Map> {
        Ok(outer(space)?.set_tuple_name(isl::DimType::Out, &cell_name)?)
    };

    let s = &mut new.statements[n];
    let relation = to_cell(s.domain.space()?)?;
    let mut running = running.clone();
    s.accesses[running.update.read] =
        Access::new(AccessKind::Read, cell, relation.clone(), AccessValue::ScalarRead(load));
    let left = Access::new(AccessKind::MustWrite, cell, relation, AccessValue::ScalarWrite(running.stored));
    if stays {
        s.accesses[running.update.write] = left;
    } else {
        s.accesses.push(left);
        running.update.write = s.accesses.len() - 1;
    }
    s.body.retain(|v| *v != load && !(stays && *v == store));
    (s.running, s.reduction) = (Some(running), None);

    // { B[o] -> S[o, first] }
    let mut added = Vec::new();
    for (instances, behind) in [(first, false), (last, true)] {
        if behind && !stays {
            continue;
        }
        let name = fresh(&new, &format!("S{}", new.statements.len()));
        let view = outer(domain.space()?)?.intersect_domain(instances)?.reverse()?;
        let view = view.set_tuple_name(isl::DimType::In, &name)?.coalesce()?;
        let domain = view.clone().domain()?.gist_params(known(scop)?)?;
        let relation = view.clone().apply_range(read.relation.clone())?.coalesce()?;
        let (element, own) = ((read.array, relation), (cell, to_cell(domain.space()?)?));
        let (from, to) = if behind { (own, element) } else { (element, own) };
        new.statements
            .push(Statement { location: old.location.clone(), ..copy(&name, domain, from, to, load) });
        added.push(view);
    }
    let tree = ScheduleTree::from_isl(&scop.schedule)?;
    let insert = Insert { scop, new: &new, n, at, views: &added };
    let Some(root) = insert.tree(&tree.root, &tree.domain)? else { return Ok(None) };
    let mut all = tree.domain.clone();
    for s in &new.statements[scop.statements.len()..] {
        all = all.add_set(s.domain.clone())?;
    }
    new.schedule = ScheduleTree { domain: all, root }.to_isl()?;
    let id = |k: usize| StmtId(scop.statements.len() + k);
    let carried = LoopCarried { statement: StmtId(n), before: id(0), behind: stays.then(|| id(1)) };
    Ok(Some(Made { loop_carried: vec![carried], ..Made::from(new) }))
}

/// Whether each instance but the first of its loop reads what the one before wrote.
fn takes_over(
    scop: &Scop,
    deps: &Dependences,
    (s, read): (&Statement, &Access),
    next: &isl::Map,
) -> Result<bool> {
    let reads = isl::UnionSet::from_set(read.relation.clone().wrap()?)?;
    let own = deps.tagged_flow.clone().intersect_domain(all_of(s)?)?;
    let own = own.intersect_params(known(scop)?)?;
    let taken = own.intersect_range(reads)?.range_factor_domain()?;
    let next = isl::UnionMap::from_map(next.clone())?;
    let from_elsewhere = taken.clone().subtract(next.clone())?.range()?;
    Ok(!next.is_empty()? && next.is_subset(&taken)? && from_elsewhere.is_disjoint(&next.range()?)?)
}

/// The sizes of an array with a cell for each iteration of the loops around; `None` where it has no bound or
/// would be too large.
fn sizes(scop: &Scop, first: &isl::Set, at: u32) -> Result<Option<Vec<Option<isl::PwAff>>>> {
    let cells = first.clone().project_out(isl::DimType::Set, at, 1)?.reset_tuple_id()?;
    let mut sizes = Vec::new();
    for d in 0..at {
        let values = cells.clone().project_out(isl::DimType::Set, d + 1, at - d - 1)?;
        let Some(size) = extent(scop, values.project_out(isl::DimType::Set, 0, d)?)? else { return Ok(None) };
        sizes.push(Some(size));
    }
    let fits = at == 0 || volume(scop, &cells)? <= MAX_GROWTH * largest_volume(scop)?;
    Ok(fits.then_some(sizes))
}

/// Puts the copies ahead of the loop and behind it.
struct Insert<'a> {
    scop: &'a Scop,
    new: &'a Scop,
    n: usize,
    /// The position of the loop's iterator.
    at: u32,
    /// The copies, with the instances in whose iterations of the loops around they run: `{ B[o] -> S[o, i]
    /// }`.
    views: &'a [isl::Map],
}

impl Insert<'_> {
    /// The tree with the copies; `None` if the loop is not found.
    fn tree(&self, tree: &Tree, domain: &isl::UnionSet) -> Result<Option<Tree>> {
        let s = &self.scop.statements[self.n];
        let own = all_of(s)?;
        Ok(match tree {
            Tree::Leaf => None,
            Tree::Mark(name, c) => self.tree(c, domain)?.map(|c| Tree::Mark(name.clone(), Box::new(c))),
            Tree::Sequence(children) => {
                let (mut out, mut any) = (Vec::new(), false);
                for (filter, child) in children {
                    let inside = domain.clone().intersect(filter.clone())?;
                    if inside.is_disjoint(&own)? {
                        out.push((filter.clone(), child.clone()));
                        continue;
                    }
                    let Some(t) = self.tree(child, &inside)?.filter(|_| !any) else { return Ok(None) };
                    let mut filter = filter.clone();
                    for copy in &self.new.statements[self.scop.statements.len()..] {
                        filter = filter.add_set(copy.domain.clone())?;
                    }
                    out.push((filter, t));
                    any = true;
                }
                any.then_some(Tree::Sequence(out))
            }
            Tree::Band(b) => {
                for (i, m) in b.members.iter().enumerate() {
                    if counts(self.scop, m, s, self.at)? {
                        let above = b.members[..i].iter().map(|m| self.member(m));
                        let above = above.collect::<Result<Vec<_>>>()?;
                        let inside = b.child.as_ref().clone().under(b.members[i..].to_vec());
                        return Ok(Some(self.around(inside, domain)?.under(above)));
                    }
                }
                let Some(child) = self.tree(&b.child, domain)? else { return Ok(None) };
                let members = b.members.iter().map(|m| self.member(m)).collect::<Result<Vec<_>>>()?;
                Some(Tree::Band(Band { members, child: Box::new(child), ..b.clone() }))
            }
        })
    }

    /// The loop between the copies.
    fn around(&self, inside: Tree, domain: &isl::UnionSet) -> Result<Tree> {
        let mut out = vec![(domain.clone().universe()?, inside)];
        let mut copies = self.new.statements[self.scop.statements.len()..].iter();
        if let Some(before) = copies.next() {
            let at = usize::from(planted("carry-start"));
            out.insert(at, (all_of(before)?, Tree::Leaf));
        }
        for behind in copies {
            out.push((all_of(behind)?, Tree::Leaf));
        }
        Ok(Tree::Sequence(out))
    }

    /// A member of a band around the loop, on the copies as well.
    fn member(&self, m: &isl::UnionPwAff) -> Result<isl::UnionPwAff> {
        let maps = member_map(m)?;
        let mut out = m.clone();
        for view in self.views {
            let seen = isl::UnionMap::from_map(view.clone())?.apply_range(maps.clone())?;
            let seen = isl::Map::from_union_map(seen)?.coalesce()?;
            if !seen.is_single_valued()? {
                return Err(ScheduleError::Unsupported("a loop around one that hands a value on"));
            }
            let f = isl::PwMultiAff::from_map(seen)?.at(0)?;
            out = out.union_add(isl::UnionPwAff::from_pw_aff(f)?)?;
        }
        Ok(out)
    }
}

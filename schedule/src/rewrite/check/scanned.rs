//! The rule for running totals that were cut into parts ([`Scanned`]): a statement `S` of the original
//! updates a cell `X` that others look at on the way. It is `S'` now, in cells `Q`, as are those that look at
//! it; `Start` sets sums of parts, in cells `P`, which `Sum`, a second `S`, updates; `Before` notes `X` in
//! `Q`, and `Rest` applies `P` to `X`.
//!
//! 1. *Form.* `S'` and others with new iterators are the original ones, one for one, but that what was `X` is
//!    `Q`: all of a statement's reads of `X`, or none. `Sum` is the part of `S` that its update needs, but
//!    that what was `X` is `P`. `Start` stores the identity; `Before` copies; `Rest` runs the instructions of
//!    the update with the original accesses of `X`. Nothing else touches `P` or `Q`.
//! 2. *Operands.* What `Sum` reads besides `P` is what `S` reads.
//! 3. *Parts.* For each cell and value of the outer iterators there is one path through `P`: from `Start`
//!    through instances of `Sum` to one `Rest`. The instances of `S` that the first and the last `Sum` of the
//!    path of `R` stand for are its *first* and its *last*.
//! 4. *Rest.* The flow of `S` through `X` is that of the paths and, from the last of one `R` to the first of
//!    the next, that of `Rest` through `X`. What else the first of `R` reads is what `R` reads. So `X` is
//!    behind `R` what it was behind its last: the first value with the same updates, of which consecutive
//!    ones were combined.
//! 5. *Values.* A read of `Q` sees `S'`, or a `Before` that read `X` behind an `R` (its last is meant) or
//!    behind a statement outside: that is what the original read of `X` sees. So `Q` is what `X` was.
//! 6. *Others.* Other reads of `X` see the last of an `R` where they saw `S`, or another statement as before.
//!    Every order of statements outside against `S` is kept against all `Rest` with the same outer iterators.
//!
//! No two updates change their order, so the operation need not commute.

use super::Check;
use crate::rewrite::made::Scanned;
use crate::{Dependences, Result};
use pollyrs_isl as isl;
use pollyrs_scop::{
    Access, AccessKind, AccessValue, ArrayId, ArrayKind, Reduction, Scop, Statement, StmtId, ValueHandle,
};
use std::collections::BTreeSet;

/// A total with its statements and cells.
struct Total<'a> {
    old: &'a Statement,
    new: &'a Statement,
    start: &'a Statement,
    sum: &'a Statement,
    before: &'a Statement,
    rest: &'a Statement,
    reduction: &'a Reduction,
    /// What the update needs of the body.
    needs: &'a [ValueHandle],
    /// The numbers that accesses of `sum` have in `old`.
    kept: Vec<usize>,
    view: &'a isl::Map,
    x: ArrayId,
    p: ArrayId,
    q: ArrayId,
}

/// What `Rest` stands for.
struct Stand {
    /// `{ R -> S }`: the first instance of the part.
    first: isl::UnionMap,
    /// `{ R -> S; other -> other }`: its last instance, whose value is behind it in `X`, and instances of the
    /// original.
    value: isl::UnionMap,
    /// `{ S -> S }`: of one part.
    paths: isl::UnionMap,
}

impl<'a> Check<'a> {
    /// The cells of parts of running totals.
    pub(super) fn running(&self) -> Vec<ArrayId> {
        let mut out = Vec::new();
        for scan in &self.made.scans {
            for s in [scan.sum, scan.before] {
                let accesses = self.new.statements.get(s.0).into_iter().flat_map(|s| &s.accesses);
                out.extend(accesses.filter(|a| a.kind != AccessKind::Read).map(|a| a.array));
            }
        }
        out.retain(|a| self.is_new(*a));
        out
    }

    /// The rule of the module above, for all totals.
    pub(super) fn scanned(&mut self) -> Result<()> {
        let totals: Vec<_> = self.made.scans.iter().filter_map(|s| self.total(*s)).collect();
        let cells: BTreeSet<_> = totals.iter().flat_map(|t| [t.x, t.p, t.q]).collect();
        let form = totals.len() == self.made.scans.len()
            && cells.len() == 3 * totals.len()
            && self.new.statements.len() == self.old.statements.len() + 4 * totals.len()
            && self.pairs().is_empty();
        self.report(form, || "running totals of another form".into());
        if !form {
            return Ok(());
        }
        for (id, view) in &self.made.instances {
            let same = self.same_under(*id, view, &totals)?;
            self.report(same, || format!("statement {} differs", id.0));
        }
        for t in &totals {
            let form = self.form_of(t, &totals)?;
            self.report(form, || format!("{} is no total in parts", t.old.name));
        }
        if self.found.is_empty() {
            for t in &totals {
                self.operands_of(t)?;
                if let Some(stand) = self.paths(t)? {
                    self.values_of(t, &stand)?;
                    self.others(t, &stand)?;
                }
            }
        }
        Ok(())
    }

    fn total(&self, scan: Scanned) -> Option<Total<'a>> {
        let (old, new): (&'a Scop, &'a Scop) = (self.old, self.new);
        let added =
            |id: StmtId| new.statements[old.statements.len()..].get(id.0.checked_sub(old.statements.len())?);
        let (s, t) = (old.statements.get(scan.total.0)?, new.statements.get(scan.total.0)?);
        let (reduction, needs) = match (&s.reduction, &s.running) {
            (Some(r), _) => (r, s.body.as_slice()),
            (None, Some(r)) => (&r.update, r.needs.as_slice()),
            (None, None) => return None,
        };
        let (read, write) = (reduction.read, reduction.write);
        if !reduction.companions.is_empty() || read.max(write) >= s.accesses.len() {
            return None;
        }
        let kept = (0..s.accesses.len()).filter(|n| match s.accesses[*n].value {
            AccessValue::Instruction(v) => needs.contains(&v),
            AccessValue::ScalarRead(_) => true,
            AccessValue::ScalarWrite(_) => *n == write,
        });
        let kept: Vec<_> = kept.collect();
        let own = kept.iter().position(|n| *n == write)?;
        let (sum, before) = (added(scan.sum)?, added(scan.before)?);
        Some(Total {
            old: s,
            new: t,
            start: added(scan.start)?,
            sum,
            before,
            rest: added(scan.rest)?,
            reduction,
            needs,
            kept,
            view: self.made.instances.get(&scan.total)?,
            x: s.accesses.get(reduction.write)?.array,
            p: sum.accesses.get(own)?.array,
            q: t.accesses.get(reduction.write)?.array,
        })
    }

    /// Part 1, for a statement of the original with new iterators.
    fn same_under(&self, id: StmtId, view: &isl::Map, totals: &[Total<'a>]) -> Result<bool> {
        let (Some(old), Some(new)) = (self.old.statements.get(id.0), self.new.statements.get(id.0)) else {
            return Ok(false);
        };
        let inside = view.clone().intersect_domain(new.domain.clone())?;
        let mut same = old.name == new.name
            && old.body == new.body
            && old.reduction == new.reduction
            && old.running == new.running
            && old.is_plain()
            && new.is_plain()
            && old.updates.is_empty()
            && new.updates.is_empty()
            && old.accesses.len() == new.accesses.len()
            && self.integers(old, new, view)?
            && inside.is_bijective()?
            && inside.clone().domain()?.is_equal(&new.domain)?
            && inside.range()?.is_equal(&old.domain)?;
        for t in totals {
            let of_x: Vec<_> =
                old.accesses.iter().zip(&new.accesses).filter(|(a, _)| a.array == t.x).collect();
            let switched = of_x.iter().filter(|(_, b)| b.array == t.q).count();
            let reads = of_x.iter().filter(|(a, _)| a.kind == AccessKind::Read).count();
            same &= match old.name == t.old.name {
                true => switched == 2 && of_x.len() == 2 && reads == 1,
                false => reads == of_x.len() && (switched == 0 || switched == 1 && reads == 1),
            };
        }
        for (x, y) in old.accesses.iter().zip(&new.accesses) {
            let running = totals.iter().any(|t| x.array == t.x && y.array == t.q);
            same &= x.kind == y.kind
                && x.value == y.value
                && x.place.is_none()
                && y.place.is_none()
                && (running || self.same_access(x, y, new, view)?);
        }
        Ok(same)
    }

    /// Whether `y`, of the statement `new`, is the access `x` of what `view` says.
    fn same_access(&self, x: &Access, y: &Access, new: &Statement, view: &isl::Map) -> Result<bool> {
        let wanted = view.clone().apply_range(x.relation.clone())?.intersect_domain(new.domain.clone())?;
        let got = y.relation.clone().intersect_domain(new.domain.clone())?;
        Ok(x.array == y.array && got.is_equal(&wanted)?)
    }

    /// Whether the integers of `new` are those of what `view` says.
    fn integers(&self, old: &Statement, new: &Statement, view: &isl::Map) -> Result<bool> {
        let mut same = old.synthesized.len() == new.synthesized.len();
        for (x, y) in old.synthesized.iter().zip(&new.synthesized) {
            let got = isl::Map::from_pw_aff(y.function.clone())?.intersect_domain(new.domain.clone())?;
            let wanted = view.clone().apply_range(isl::Map::from_pw_aff(x.function.clone())?)?;
            let wanted = wanted.intersect_domain(new.domain.clone())?;
            same &= x.value == y.value && got.is_equal(&wanted)?;
        }
        Ok(same)
    }

    /// Part 1, for the statements of a total.
    fn form_of(&self, t: &Total<'a>, totals: &[Total<'a>]) -> Result<bool> {
        let (r, old) = (t.reduction, t.old);
        let cell = |id: ArrayId| {
            matches!(self.new.array(id).kind, ArrayKind::Scalar { live_out: false, .. })
                && self.is_new(id)
                && self.new.array(id).elem == self.old.array(t.x).elem
        };
        let is = |a: &Access, of: (AccessKind, ArrayId, AccessValue)| (a.kind, a.array, a.value) == of;
        let alike =
            |s: &Statement, a: usize, b: usize| s.accesses[a].relation.is_equal(&s.accesses[b].relation);
        let (read, write) = (AccessKind::Read, AccessKind::MustWrite);
        let (x_read, x_write) = (&old.accesses[r.read], &old.accesses[r.write]);
        let regrouped = |s: &Statement| {
            s.reduction.as_ref().is_some_and(|q| {
                q.regrouped
                    && q.companions.is_empty()
                    && q.numbers == r.numbers
                    && q.commutative == r.commutative
            })
        };
        let mut ok = cell(t.p) && cell(t.q) && (!r.numbers || self.reports_numbers());
        ok &= self.old.array(t.x).elem == self.new.array(t.x).elem
            && x_write.kind == write
            && x_read.kind == read;
        ok &= alike(old, r.read, r.write)? && alike(t.new, r.read, r.write)?;
        // Start and Before.
        ok &= t.start.body.is_empty()
            && matches!(t.start.accesses.as_slice(), [w]
                if is(w, (write, t.p, AccessValue::ScalarWrite(r.identity))));
        ok &= t.before.body.is_empty()
            && matches!(t.before.accesses.as_slice(), [a, b] if a.array == t.x && a.kind == read
                && b.array == t.q && b.kind == write
                && matches!((a.value, b.value), (AccessValue::ScalarRead(v), AccessValue::ScalarWrite(w)) if v == w));
        // Sum.
        let view = self.sum_view(t)?;
        let inside = view.clone().intersect_domain(t.sum.domain.clone())?;
        let place = |n: usize| t.kept.iter().position(|k| *k == n);
        let (Some(at_read), Some(at_write)) = (place(r.read), place(r.write)) else { return Ok(false) };
        ok &= t.sum.body == t.needs
            && t.needs.iter().all(|v| old.body.contains(v))
            && r.update.iter().all(|v| t.needs.contains(v))
            && t.sum.accesses.len() == t.kept.len()
            && t.sum.running.is_none()
            && t.sum.reduction.as_ref().is_some_and(|q| {
                (q.value, q.identity, &q.update) == (r.value, r.identity, &r.update)
                    && (q.read, q.write) == (at_read, at_write)
            })
            && regrouped(t.sum)
            && self.integers(old, t.sum, &view)?
            && inside.is_bijective()?
            && inside.clone().domain()?.is_equal(&t.sum.domain)?
            && inside.range()?.is_equal(&old.domain)?;
        if !ok || !alike(t.sum, at_read, at_write)? {
            return Ok(false);
        }
        let order = |a: &Access| old.body.iter().position(|v| AccessValue::Instruction(*v) == a.value);
        for (b, n) in t.sum.accesses.iter().zip(&t.kept) {
            let a = &old.accesses[*n];
            ok &= a.kind == b.kind && a.value == b.value;
            ok &= match *n == r.read || *n == r.write {
                true => b.array == t.p,
                // What the same instance stores comes later: dependences are between instances.
                false => {
                    let stored = old.accesses.iter().filter(|w| w.array == a.array && w.kind != read);
                    let mut behind = stored.map(|w| order(a).zip(order(w)).is_some_and(|(a, w)| a < w));
                    a.array != t.x
                        && a.kind == read
                        && behind.all(|b| b)
                        && self.same_access(a, b, t.sum, &view)?
                }
            };
        }
        // Rest.
        ok &= t.rest.body == r.update && regrouped(t.rest);
        ok &= matches!(t.rest.accesses.as_slice(), [a, b, c]
            if is(a, (read, t.x, x_read.value))
                && is(b, (write, t.x, x_write.value))
                && is(c, (read, t.p, AccessValue::ScalarRead(r.value))));
        let made = [t.start, t.before, t.sum, t.rest];
        for s in made {
            ok &= s.is_plain() && s.updates.is_empty() && (s.name == t.sum.name || s.synthesized.is_empty());
        }
        // Nothing else touches the cells.
        for s in &self.new.statements {
            let own = made.iter().any(|m| m.name == s.name);
            let viewed = self.made.instances.keys().any(|id| self.new.statements[id.0].name == s.name);
            let of_others =
                totals.iter().any(|o| [o.start, o.before, o.sum, o.rest].iter().any(|m| m.name == s.name));
            for a in &s.accesses {
                ok &= own || a.array != t.p && (a.array != t.q || viewed && !of_others);
                ok &= !own || a.array != t.q || s.name == t.before.name;
                ok &= own || !of_others || a.array != t.x;
            }
        }
        Ok(ok)
    }

    /// `{ Sum -> S }`
    fn sum_view(&self, t: &Total<'a>) -> Result<isl::Map> {
        Ok(t.view.clone().set_tuple_name(isl::DimType::In, &t.sum.name)?)
    }

    fn sums(&self, t: &Total<'a>) -> Result<isl::UnionMap> {
        Ok(isl::UnionMap::from_map(self.sum_view(t)?)?.intersect_domain(self.all_of(t.sum)?)?)
    }

    /// `{ new instance -> old instance }`, of all statements of the original.
    fn back(&self) -> Result<isl::UnionMap> {
        let mut out = isl::UnionMap::empty(&self.old.ctx)?;
        for (n, s) in self.old.statements.iter().enumerate() {
            let own = self.all_of(&self.new.statements[n])?;
            out = out.union(match self.made.instances.get(&StmtId(n)) {
                Some(view) => isl::UnionMap::from_map(view.clone())?.intersect_domain(own)?,
                None => self.all_of(s)?.identity()?,
            })?;
        }
        Ok(out)
    }

    /// `{ writer -> [reader -> cell] }` with the readers that `of` maps in place of what it maps.
    fn read_by(&self, flow: isl::UnionMap, of: &isl::UnionMap) -> Result<isl::UnionMap> {
        let cells = flow.clone().range()?.unwrap()?.range()?.identity()?;
        Ok(flow.apply_range(of.clone().product(cells)?)?)
    }

    /// `{ writer -> [reader -> cell] }` for readers in `of`.
    pub(super) fn seen_by(&self, flow: isl::UnionMap, of: &isl::UnionSet) -> Result<isl::UnionMap> {
        let readers = flow.clone().range()?.unwrap()?.intersect_domain(of.clone())?;
        Ok(flow.intersect_range(readers.wrap()?)?)
    }

    /// Part 2.
    fn operands_of(&mut self, t: &Total<'a>) -> Result<()> {
        let (sums, back) = (self.sums(t)?, self.back()?);
        let (s_old, s_sum) = (self.all_of(t.old)?, self.all_of(t.sum)?);
        let read = t.kept.iter().map(|n| &t.old.accesses[*n]).filter(|a| a.kind == AccessKind::Read);
        let arrays: BTreeSet<_> = read.map(|a| a.array).filter(|a| *a != t.x).collect();
        // { S -> cell } of what Sum reads as well.
        let mut cells = isl::UnionMap::empty(&self.old.ctx)?;
        for n in &t.kept {
            let own = isl::UnionMap::from_map(t.old.accesses[*n].relation.clone())?;
            cells = cells.union(own.intersect_domain(s_old.clone())?)?;
        }
        for y in arrays {
            let name = self.old.array(y).name.clone();
            let old = self.tagged(self.old_deps, &name)?.intersect_range(cells.clone().wrap()?)?;
            let new = self.seen_by(self.tagged(self.new_deps, &name)?, &s_sum)?;
            let known = new.clone().domain()?.is_subset(&back.clone().domain()?)?;
            let new = self.read_by(new, &sums)?.apply_domain(back.clone())?;
            self.report(known && new.is_equal(&old)?, || format!("an operand sees another value of {name}"));
            let old = self.unseen(self.old_deps, &name)?.intersect(cells.clone())?;
            let new = self.unseen(self.new_deps, &name)?.intersect_domain(s_sum.clone())?;
            let same = new.apply_domain(sums.clone())?.is_equal(&old)?;
            self.report(same, || format!("an operand finds {name} elsewhere"));
        }
        Ok(())
    }

    /// Readers of an array that nothing wrote before.
    fn unseen_readers(&self, deps: &Dependences, id: ArrayId) -> Result<isl::UnionSet> {
        Ok(self.unseen(deps, &self.new.array(id).name)?.domain()?)
    }

    /// Parts 3 and 4.
    fn paths(&mut self, t: &Total<'a>) -> Result<Option<Stand>> {
        let r = t.reduction;
        let outer = t.old.domain.dim(isl::DimType::Set)?.saturating_sub(1);
        let (s_old, s_sum, s_rest) = (self.all_of(t.old)?, self.all_of(t.sum)?, self.all_of(t.rest)?);
        let flow = self.through(self.new_deps, &self.new.array(t.p).name)?;
        let part = |from: &isl::UnionSet, to: &isl::UnionSet| -> Result<isl::UnionMap> {
            Ok(flow.clone().intersect_domain(from.clone())?.intersect_range(to.clone())?)
        };
        let begun = part(&self.all_of(t.start)?, &s_sum)?;
        let (path, applied) = (part(&s_sum, &s_sum)?, part(&s_sum, &s_rest)?);
        // { X[...] -> [P[...] -> [o]] }
        let tag = |s: &Statement, n: usize| -> Result<isl::UnionMap> {
            let cell = isl::UnionMap::from_map(s.accesses[n].relation.clone())?;
            let cell = cell.intersect_domain(self.all_of(s)?)?;
            Ok(cell.range_product(self.key(s, outer)?)?)
        };
        let own = t.kept.iter().position(|n| *n == r.write).unwrap_or_default();
        let (set, used, read) = (tag(t.start, 0)?, tag(t.sum, own)?, tag(t.rest, 2)?);
        let stays = |flow: &isl::UnionMap, from: &isl::UnionMap, to: &isl::UnionMap| -> Result<bool> {
            Ok(flow.is_subset(&from.clone().apply_range(to.clone().reverse()?)?)?)
        };
        let all = begun.clone().union(path.clone())?.union(applied.clone())?;
        let firsts = begun.clone().range()?;
        let paths = self.unseen_readers(self.new_deps, t.p)?.is_empty()?
            && flow.is_equal(&all)?
            && set.is_injective()?
            && read.is_injective()?
            && stays(&begun, &set, &used)?
            && stays(&path, &used, &used)?
            && stays(&applied, &used, &read)?
            && begun.is_bijective()?
            && firsts.is_equal(&s_sum.clone().subtract(path.clone().range()?)?)?
            && path.is_bijective()?
            && applied.is_bijective()?
            && applied.clone().domain()?.is_equal(&s_sum.clone().subtract(path.clone().domain()?)?)?
            && applied.clone().range()?.is_equal(&s_rest)?;
        self.report(paths, || format!("the parts of {} are no paths", t.old.name));
        let sums = self.sums(t)?;
        let first = read.apply_range(used.intersect_domain(firsts)?.reverse()?)?.apply_range(sums.clone())?;
        let last = applied.reverse()?.apply_range(sums.clone())?;
        let ends = first.is_single_valued()? && first.clone().domain()?.is_equal(&s_rest)?;
        self.report(ends, || format!("a part of {} has no first update", t.old.name));
        let value = self.back()?.union(last)?;
        let paths = path.apply_domain(sums.clone())?.apply_range(sums)?;
        let stand = Stand { first, value, paths };
        self.rests(t, &stand, (&s_old, &s_rest))?;
        Ok(self.found.is_empty().then_some(stand))
    }

    /// Part 4.
    fn rests(
        &mut self,
        t: &Total<'a>,
        stand: &Stand,
        (s_old, s_rest): (&isl::UnionSet, &isl::UnionSet),
    ) -> Result<()> {
        let (x, first) = (self.old.array(t.x).name.clone(), &stand.first);
        let old = self.through(self.old_deps, &x)?.intersect_range(s_old.clone())?;
        let new = self.through(self.new_deps, &x)?.intersect_range(s_rest.clone())?;
        let known = new.clone().domain()?.is_subset(&stand.value.clone().domain()?)?;
        let new = new.apply_domain(stand.value.clone())?.apply_range(first.clone())?;
        let same = known
            && old.clone().reverse()?.is_single_valued()?
            && old.is_equal(&new.union(stand.paths.clone())?)?;
        self.report(same, || format!("{} does not apply its parts one after the other", t.rest.name));
        let old_unseen = self.unseen_readers(self.old_deps, t.x)?.intersect(s_old.clone())?;
        let new_unseen = self.unseen_readers(self.new_deps, t.x)?.intersect(s_rest.clone())?;
        let same = new_unseen.apply(first.clone())?.is_equal(&old_unseen)?
            && old_unseen.is_disjoint(&old.range()?)?;
        self.report(same, || format!("{} starts elsewhere", t.old.name));
        let last = stand.value.clone().intersect_domain(s_rest.clone())?;
        let of_s = isl::UnionMap::from_map(t.old.accesses[t.reduction.write].relation.clone())?;
        let cell = last.apply_range(of_s)?;
        for a in &t.rest.accesses[..2] {
            let own = isl::UnionMap::from_map(a.relation.clone())?.intersect_domain(s_rest.clone())?;
            let same = own.is_equal(&cell)?;
            self.report(same, || format!("{} is of another cell", t.rest.name));
        }
        Ok(())
    }

    /// The original statements whose reads of `X` are of `Q` now, and those with other reads of it.
    fn switched(&self, t: &Total<'a>) -> Result<isl::UnionSet> {
        let mut out = isl::UnionSet::empty(&self.old.ctx)?;
        for (s, new) in self.old.statements.iter().zip(&self.new.statements) {
            if new.accesses.iter().any(|a| a.array == t.q) {
                out = out.union(self.all_of(s)?)?;
            }
        }
        Ok(out)
    }

    /// Part 5.
    fn values_of(&mut self, t: &Total<'a>, stand: &Stand) -> Result<()> {
        let back = self.back()?;
        let (x, q) = (self.old.array(t.x).name.clone(), self.new.array(t.q).name.clone());
        let (s_new, s_before) = (self.all_of(t.new)?, self.all_of(t.before)?);
        let flow = self.through(self.new_deps, &q)?;
        let noted = self.through(self.new_deps, &x)?.intersect_range(s_before.clone())?;
        let known = noted.clone().domain()?.is_subset(&stand.value.clone().domain()?)?
            && flow.clone().domain()?.is_subset(&s_new.clone().union(s_before.clone())?)?
            && flow.clone().range()?.is_subset(&back.clone().domain()?)?
            && self.unseen_readers(self.new_deps, t.q)?.is_empty()?;
        let noted = noted.apply_domain(stand.value.clone())?;
        let from_before = flow.clone().intersect_domain(s_before.clone())?;
        let direct = flow.intersect_domain(s_new)?.apply_domain(back.clone())?;
        let new = direct.union(noted.apply_range(from_before.clone())?)?.apply_range(back.clone())?;
        let switched = self.switched(t)?;
        let old = self.through(self.old_deps, &x)?.intersect_range(switched.clone())?;
        self.report(known && new.is_equal(&old)?, || {
            format!("a part of {} starts from another value", t.old.name)
        });
        let unseen = self.unseen_readers(self.new_deps, t.x)?.intersect(s_before)?;
        let new = unseen.apply(from_before)?.apply(back)?;
        let old = self.unseen_readers(self.old_deps, t.x)?.intersect(switched)?;
        let same = new.is_equal(&old)?;
        self.report(same, || format!("a part of {} starts elsewhere", t.old.name));
        Ok(())
    }

    /// Part 6.
    fn others(&mut self, t: &Total<'a>, stand: &Stand) -> Result<()> {
        let (back, x) = (self.back()?, self.old.array(t.x).name.clone());
        let switched = self.switched(t)?;
        let (s_old, s_rest) = (self.all_of(t.old)?, self.all_of(t.rest)?);
        let own = s_rest.union(self.all_of(t.before)?)?;
        let outside = |flow: isl::UnionMap, own: &isl::UnionSet| -> Result<isl::UnionMap> {
            Ok(flow.clone().subtract(self.seen_by(flow, own)?)?)
        };
        let old = outside(self.tagged(self.old_deps, &x)?, &switched)?;
        let new = outside(self.tagged(self.new_deps, &x)?, &own)?;
        let known = new.clone().domain()?.is_subset(&stand.value.clone().domain()?)?;
        let new = self.read_by(new, &back)?.apply_domain(stand.value.clone())?;
        self.report(known && new.is_equal(&old)?, || format!("others see another value of {x}"));
        let old = self.unseen(self.old_deps, &x)?.subtract_domain(switched)?;
        let new = self.unseen(self.new_deps, &x)?.subtract_domain(own)?.apply_domain(back)?;
        let same = new.is_equal(&old)?;
        self.report(same, || format!("others find {x} elsewhere"));
        let outer = t.old.domain.dim(isl::DimType::Set)?.saturating_sub(1);
        let to_rest = self.key(t.old, outer)?.apply_range(self.key(t.rest, outer)?.reverse()?)?;
        self.stays_around(t.x, &s_old, &to_rest, &t.rest.name)
    }
}

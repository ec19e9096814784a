//! The rule for elements that cells took the place of ([`LoopCarried`]): a statement `S` of the original
//! reads an element of `Y` and writes one. It reads a cell of `X` now and writes one, too. `Before` copies an
//! element of `Y` to `X`; `Behind`, if there is one, copies `X` to `Y` in place of what `S` wrote.
//!
//! 1. *Form.* `S` is the original one, but that its load is a read of `X`, and that what is stored is written
//!    to `X` as well, or instead. Copies are no more than that; nothing else touches `X`. In an instance the
//!    load is not of what the same one stored before.
//! 2. *Values.* A read of `X` sees an instance of `S`, or a `Before` that read the same element of `Y`. The
//!    instance that the original load saw is that one, or the one that `Before` saw; where that one saw what
//!    was there ahead of the SCoP, so does `Before`.
//! 3. *Others.* With a `Behind`: it has the element that all instances of `S` have which are in the same
//!    iterations of the loops around. Its value is that of one of them: others see it where they saw that
//!    one, and the order of others against `S` is kept against all `Behind`.
//!
//! All other accesses are as they were, and the general rule keeps their order.

use super::Check;
use crate::rewrite::made::LoopCarried;
use crate::{Dependences, Result};
use pollyrs_isl as isl;
use pollyrs_scop::{
    Access, AccessKind, AccessValue, ArrayId, ArrayKind, Reduction, Running, Statement, StmtId, ValueHandle,
};

/// A statement with its copies.
struct Handed<'a> {
    old: &'a Statement,
    new: &'a Statement,
    before: &'a Statement,
    behind: Option<&'a Statement>,
    running: &'a Running,
    load: ValueHandle,
    x: ArrayId,
    y: ArrayId,
}

impl<'a> Check<'a> {
    /// The statements to which the rule of this module applies.
    pub(super) fn hands_on(&self, n: usize) -> bool {
        self.made.loop_carried.iter().any(|c| c.statement.0 == n)
    }

    /// The cells.
    pub(super) fn handed(&self) -> Vec<ArrayId> {
        self.made.loop_carried.iter().filter_map(|c| Some(self.handed_by(*c)?.x)).collect()
    }

    /// The rule of the module above.
    pub(super) fn loop_carried(&mut self) -> Result<()> {
        let [c] = self.made.loop_carried.as_slice() else {
            self.report(self.made.loop_carried.is_empty(), || {
                "two statements were given cells at once".into()
            });
            return Ok(());
        };
        let alone = self.made.instances.is_empty() && self.made.scans.is_empty() && self.pairs().is_empty();
        let added = 1 + usize::from(c.behind.is_some());
        let known = alone && self.new.statements.len() == self.old.statements.len() + added;
        let Some(h) = self.handed_by(*c).filter(|_| known) else {
            self.report(false, || "a value that is handed on in another form".into());
            return Ok(());
        };
        let form = self.form_of_handed(&h)?;
        self.report(form, || format!("{} hands on what it did not", h.old.name));
        if form {
            self.handed_values(&h)?;
            self.seen_behind(&h)?;
        }
        Ok(())
    }

    fn handed_by(&self, c: LoopCarried) -> Option<Handed<'a>> {
        let (old, new) = (self.old.statements.get(c.statement.0)?, self.new.statements.get(c.statement.0)?);
        let added = |id: StmtId| {
            self.new.statements[self.old.statements.len()..].get(id.0.checked_sub(self.old.statements.len())?)
        };
        let running = old.running.as_ref()?;
        let read = old.accesses.get(running.update.read)?;
        let AccessValue::Instruction(load) = read.value else { return None };
        let behind = match c.behind {
            Some(b) => Some(added(b)?),
            None => None,
        };
        let x = new.accesses.get(running.update.read)?.array;
        Some(Handed { old, new, before: added(c.before)?, behind, running, load, x, y: read.array })
    }

    /// Part 1.
    fn form_of_handed(&self, h: &Handed<'a>) -> Result<bool> {
        let (old, new, r) = (h.old, h.new, &h.running.update);
        let (Some(read), Some(write)) = (old.accesses.get(r.read), old.accesses.get(r.write)) else {
            return Ok(false);
        };
        let AccessValue::Instruction(store) = write.value else { return Ok(false) };
        let cell = self.new.array(h.x);
        let element = self.old.array(h.y);
        let mut ok = self.is_new(h.x)
            && matches!(cell.kind, ArrayKind::Scalar { live_out: false, .. })
            && (cell.elem == element.elem && element.is_memory())
            && (write.array == h.y && write.kind == AccessKind::MustWrite && read.kind == AccessKind::Read)
            && (old.name == new.name && old.domain.is_equal(&new.domain)?)
            && (old.is_plain() && new.is_plain() && old.updates.is_empty() && new.updates.is_empty())
            && old.accesses.iter().filter(|a| a.array == h.y && a.kind != AccessKind::Read).count() == 1
            && old.synthesized.len() == new.synthesized.len();
        for (a, b) in old.synthesized.iter().zip(&new.synthesized) {
            ok &= a.value == b.value && a.function.is_equal(&b.function)?;
        }
        let kept: Vec<_> = old
            .body
            .iter()
            .copied()
            .filter(|v| *v != h.load && !(h.behind.is_some() && *v == store))
            .collect();
        let at = if h.behind.is_some() { r.write } else { old.accesses.len() };
        let running = Running { update: Reduction { write: at, ..r.clone() }, ..h.running.clone() };
        ok &= new.body == kept
            && new.reduction.is_none()
            && new.running.as_ref() == Some(&running)
            && new.accesses.len() == old.accesses.len().max(at + 1);
        // What is taken away is the load and the store alone.
        ok &= ![&running.needs, &running.update.update]
            .iter()
            .any(|v| v.contains(&h.load) || h.behind.is_some() && v.contains(&store));
        let is = |a: &Access, of: (AccessKind, ArrayId, AccessValue)| {
            (a.kind, a.array, a.value) == of && a.place.is_none()
        };
        let (reads, writes) = (AccessKind::Read, AccessKind::MustWrite);
        for (n, b) in new.accesses.iter().enumerate() {
            ok &= match old.accesses.get(n) {
                _ if n == at => is(b, (writes, h.x, AccessValue::ScalarWrite(h.running.stored))),
                _ if n == r.read => is(b, (reads, h.x, AccessValue::ScalarRead(h.load))),
                Some(a) => {
                    a.kind == b.kind
                        && a.value == b.value
                        && a.array == b.array
                        && a.place.is_none()
                        && b.place.is_none()
                        && self.same_element(a, b)?
                }
                None => false,
            };
        }
        ok &= self.loads_before(h, read, write)?;
        for (copy, from, to) in
            std::iter::once((h.before, h.y, h.x)).chain(h.behind.map(|behind| (behind, h.x, h.y)))
        {
            ok &= copy.is_plain()
                && (copy.body.is_empty() && copy.synthesized.is_empty() && copy.updates.is_empty())
                && copy.reduction.is_none()
                && copy.running.is_none()
                && matches!(copy.accesses.as_slice(), [a, b]
                    if a.kind == reads && a.array == from && a.place.is_none()
                        && b.kind == writes && b.array == to && b.place.is_none()
                        && matches!((a.value, b.value), (AccessValue::ScalarRead(v), AccessValue::ScalarWrite(w)) if v == w));
        }
        let own = |s: &Statement| {
            [Some(h.new), Some(h.before), h.behind].into_iter().flatten().any(|o| o.name == s.name)
        };
        Ok(ok && self.new.statements.iter().all(|s| own(s) || s.accesses.iter().all(|a| a.array != h.x)))
    }

    /// Whether the load of an instance is not of what the same one stored: dependences are between instances.
    fn loads_before(&self, h: &Handed<'a>, read: &Access, write: &Access) -> Result<bool> {
        let order = |a: &Access| h.old.body.iter().position(|v| AccessValue::Instruction(*v) == a.value);
        if order(read).zip(order(write)).is_some_and(|(r, w)| r < w) {
            return Ok(true);
        }
        let both = read.relation.clone().intersect(write.relation.clone())?;
        Ok(both.intersect_domain(h.old.domain.clone())?.intersect_params(self.known.clone())?.is_empty()?)
    }

    fn relation(&self, s: &Statement, a: &Access) -> Result<isl::UnionMap> {
        Ok(isl::UnionMap::from_map(a.relation.clone())?.intersect_domain(self.all_of(s)?)?)
    }

    /// `{ Behind -> S; other -> other }`: whose value it is.
    fn values_behind(&self, h: &Handed<'a>) -> Result<isl::UnionMap> {
        let mut out = isl::UnionMap::empty(&self.old.ctx)?;
        for s in &self.old.statements {
            out = out.union(self.all_of(s)?.identity()?)?;
        }
        let Some(behind) = h.behind else { return Ok(out) };
        let flow = self.through(self.new_deps, &self.new.array(h.x).name)?;
        let flow = flow.intersect_range(self.all_of(behind)?)?.intersect_domain(self.all_of(h.old)?)?;
        Ok(out.union(flow.reverse()?)?)
    }

    /// Part 2.
    fn handed_values(&mut self, h: &Handed<'a>) -> Result<()> {
        let (x, y) = (self.new.array(h.x).name.clone(), self.old.array(h.y).name.clone());
        let (own, first) = (self.all_of(h.old)?, self.all_of(h.before)?);
        let r = &h.running.update;
        let reads = self.relation(h.old, &h.old.accesses[r.read])?;
        let value = self.values_behind(h)?;
        let flow = self.through(self.new_deps, &x)?.intersect_range(own.clone())?;
        let begun = flow.clone().intersect_domain(first.clone())?;
        let direct = flow.clone().intersect_domain(own.clone())?;
        // The copy is of the element that the reader had.
        let copied = begun.clone().reverse()?.apply_range(self.relation(h.before, &h.before.accesses[0])?)?;
        let seen = self.tagged(self.new_deps, &y)?;
        let seen = self.seen_by(seen, &first)?.range_factor_domain()?;
        let known = self.unseen(self.new_deps, &x)?.is_empty()?
            && flow.is_equal(&begun.clone().union(direct.clone())?)?
            && flow.reverse()?.is_single_valued()?
            && copied.is_subset(&reads)?
            && seen.clone().domain()?.is_subset(&value.clone().domain()?)?;
        let new = direct.union(seen.apply_domain(value)?.apply_range(begun.clone())?)?;
        let old = self.tagged(self.old_deps, &y)?.intersect_range(reads.clone().wrap()?)?;
        let old = old.range_factor_domain()?;
        let same = known && old.clone().reverse()?.is_single_valued()? && new.is_equal(&old)?;
        self.report(same, || format!("{} takes over another value", h.old.name));
        let unseen_old = self.unseen(self.old_deps, &y)?.intersect(reads)?.domain()?;
        let unseen_new = self.unseen(self.new_deps, &y)?.intersect_domain(first)?.domain()?;
        let same =
            unseen_new.apply(begun)?.is_equal(&unseen_old)? && unseen_old.is_disjoint(&old.range()?)?;
        self.report(same, || format!("{} begins with another value", h.old.name));
        Ok(())
    }

    /// Part 3.
    fn seen_behind(&mut self, h: &Handed<'a>) -> Result<()> {
        let Some(behind) = h.behind else { return Ok(()) };
        let y = self.old.array(h.y).name.clone();
        let (own, last) = (self.all_of(h.old)?, self.all_of(behind)?);
        let value = self.values_behind(h)?;
        let outer = h.old.domain.dim(isl::DimType::Set)?.saturating_sub(1);
        let to_behind = self.key(h.old, outer)?.apply_range(self.key(behind, outer)?.reverse()?)?;
        let written = self.relation(h.old, &h.old.accesses[h.running.update.write])?;
        let stored = to_behind.clone().apply_range(self.relation(behind, &behind.accesses[1])?)?;
        let of_behind = value.clone().intersect_domain(last.clone())?;
        let one = of_behind.clone().domain()?.is_equal(&last)?
            && of_behind.is_single_valued()?
            && of_behind.reverse()?.is_subset(&to_behind)?
            && written.is_equal(&stored)?;
        self.report(one, || format!("{} stores something else", behind.name));
        let outside = |deps: &Dependences, readers: &isl::UnionSet| -> Result<isl::UnionMap> {
            let flow = self.tagged(deps, &y)?;
            Ok(flow.clone().subtract(self.seen_by(flow, readers)?)?)
        };
        let new = outside(self.new_deps, &self.all_of(h.before)?)?;
        let known = new.clone().domain()?.is_subset(&value.clone().domain()?)?;
        let same = known && new.apply_domain(value)?.is_equal(&outside(self.old_deps, &own)?)?;
        self.report(same, || format!("others see another value of {y}"));
        let old = self.unseen(self.old_deps, &y)?.subtract_domain(own.clone())?;
        let new = self.unseen(self.new_deps, &y)?.subtract_domain(self.all_of(h.before)?)?;
        self.report(old.is_equal(&new)?, || format!("others find {y} elsewhere"));
        self.stays_around(h.y, &own, &to_behind, &behind.name)
    }
}

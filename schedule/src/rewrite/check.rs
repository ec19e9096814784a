//! The proof that a rewritten SCoP computes what the original does.
//!
//! # What is proved
//! 1. *Statements.* The original statements are there with the same instances and the same bodies; each
//!    access is the original one, or the same access of a new array with further leading subscripts.
//! 2. *Order.* The new order keeps every dependence of the original that goes through arrays that are still
//!    used.
//! 3. *Values.* A new array over the memory of an original one is never written, its reads have the original
//!    subscripts, and no write of the original SCoP reaches them: they see what the memory held before. Of
//!    any other new array, every read sees the instance that the original read sees: the value-based flow
//!    through the new array is the flow through the original one.
//! 4. *Last values.* Where all accesses of an array were given to a new one, the only accesses left are the
//!    writes of one new statement without a body, which runs behind all statements of the original, has
//!    exactly the elements that the original writes, and reads for each the value of the instance that the
//!    original would have written last.
//! 5. *Sizes.* Subscripts of a new array that is not memory lie within its sizes.
//! 6. *Regrouping.* A statement that is an update of a regroupable operation may have other iterators and
//!    partial results: the module `regrouped`. One whose results are looked at on the way may be a running
//!    total in parts: the module `scanned`. What an instance takes over from the one before may be handed on
//!    in a cell: the module `loop_carried`.
//! 7. *Versions.* A statement may have become two, by its domain: the module `versions`.
//! 8. *Overlap.* Every pair of arrays that must not overlap is still compared, with the memory of new arrays
//!    in place of the old.
//!
//! Nothing of the rewritings is used here: only the two SCoPs and their dependences.

use super::made::Made;
use crate::{Dependences, Result, budgeted, known};
use pollyrs_isl as isl;
use pollyrs_scop::{Access, AccessKind, AccessValue, ArrayId, ArrayKind, Reduction, Scop, Statement, StmtId};

/// What is not proved, in words for developers; empty if the new SCoP may stand for the old one.
pub fn check(
    old: &Scop,
    old_deps: &Dependences,
    made: &Made,
    new_deps: &Dependences,
    budget: u64,
) -> Result<Vec<String>> {
    budgeted(&old.ctx, "checking a rewriting", budget, || {
        let known = known(old)?;
        let time = made.scop.schedule.map()?;
        let mut c = Check { old, old_deps, new: &made.scop, made, new_deps, known, time, found: Vec::new() };
        c.statements()?;
        if c.found.is_empty() {
            c.order()?;
            c.values()?;
            c.regrouped()?;
            c.loop_carried()?;
            c.divided()?;
            c.overlap()?;
        }
        Ok(c.found)
    })
}

struct Check<'a> {
    old: &'a Scop,
    old_deps: &'a Dependences,
    new: &'a Scop,
    made: &'a Made,
    new_deps: &'a Dependences,
    known: isl::Set,
    /// The new order.
    time: isl::UnionMap,
    found: Vec<String>,
}

impl Check<'_> {
    fn report(&mut self, holds: bool, text: impl FnOnce() -> String) {
        if !holds {
            self.found.push(text());
        }
    }

    fn is_new(&self, id: ArrayId) -> bool {
        id.0 >= self.old.arrays.len()
    }

    /// Rule 1.
    fn statements(&mut self) -> Result<()> {
        let (old, new) = (self.old, self.new);
        self.report(new.statements.len() >= old.statements.len(), || "a statement is missing".into());
        self.report(new.arrays.len() >= old.arrays.len(), || "an array is missing".into());
        if !self.found.is_empty() {
            return Ok(());
        }
        for (a, b) in old.arrays.iter().zip(&new.arrays) {
            self.report(a.name == b.name && a.kind == b.kind && a.elem == b.elem, || {
                format!("{} differs", a.name)
            });
        }
        for (n, (a, b)) in old.statements.iter().zip(&new.statements).enumerate() {
            if self.made.instances.contains_key(&StmtId(n)) || self.hands_on(n) || self.is_divided(n) {
                continue;
            }
            let same = a.name == b.name
                && a.reduction == b.reduction
                && a.subregion == b.subregion
                && a.body == b.body
                && a.accesses.len() == b.accesses.len()
                && a.synthesized.len() == b.synthesized.len()
                && a.domain.is_equal(&b.domain)?;
            self.report(same, || format!("{} differs", a.name));
            if !same {
                continue;
            }
            for (x, y) in a.synthesized.iter().zip(&b.synthesized) {
                let same = x.value == y.value && x.function.is_equal(&y.function)?;
                self.report(same, || format!("an integer of {} differs", a.name));
            }
            for (x, y) in a.accesses.iter().zip(&b.accesses) {
                let same = x.kind == y.kind && x.value == y.value && self.same_element(x, y)?;
                self.report(same, || format!("an access of {} differs", a.name));
            }
        }
        Ok(())
    }

    /// Whether `y` is the access `x`, or that of a new array whose last subscripts are those of `x`.
    fn same_element(&self, x: &Access, y: &Access) -> Result<bool> {
        match (&x.within, &y.within) {
            (None, None) => {}
            // Control flow inside of a statement stays with its array.
            (Some(v), Some(w))
                if x.array == y.array
                    && x.certain == y.certain
                    && v.counters == w.counters
                    && v.values == w.values =>
            {
                if !v.relation.is_equal(&w.relation)? {
                    return Ok(false);
                }
            }
            _ => return Ok(false),
        }
        if x.array == y.array {
            return Ok(x.relation.is_equal(&y.relation)?);
        }
        let (from, to) = (self.old.array(x.array), self.new.array(y.array));
        let more = y.relation.dim(isl::DimType::Out)?.checked_sub(x.relation.dim(isl::DimType::Out)?);
        let (Some(more), true, true) = (more, self.is_new(y.array), from.elem == to.elem) else {
            return Ok(false);
        };
        let own = y.relation.clone().reset_tuple_id(isl::DimType::Out)?;
        let own = own.project_out(isl::DimType::Out, 0, more)?;
        Ok(own.is_equal(&x.relation.clone().reset_tuple_id(isl::DimType::Out)?)?)
    }

    /// Rule 2.
    fn order(&mut self) -> Result<()> {
        let renamed = self.pairs().into_iter().map(|(x, _)| x).collect::<Vec<_>>();
        let mut kept = isl::UnionMap::empty(&self.old.ctx)?;
        let all = self.old_deps.all(self.old)?;
        for id in (0..self.old.arrays.len()).map(ArrayId).filter(|id| !renamed.contains(id)) {
            let accesses = self.old.accesses(|_, a| a.array == id)?;
            let mut through = all.clone().intersect(self.conflicts(self.old, id, accesses)?)?;
            // Chains of a regrouped update have rules of their own; what its instances depend on through
            // other arrays stays, be it between instances of one chain.
            for s in self.grouped() {
                let old = &self.old.statements[s.0];
                let cells = old.reduction.iter().flat_map(Reduction::cells);
                if cells.into_iter().any(|c| old.accesses[c.write].array == id) {
                    let own = isl::UnionSet::from_set(isl::Set::universe(old.domain.space()?)?)?;
                    through = through.subtract_domain(own.clone())?;
                    through = through.clone().subtract(through.intersect_range(own)?)?;
                }
            }
            kept = kept.union(through)?;
        }
        // Through arrays of which only some reads were renamed, all that is left counts.
        for id in &renamed {
            let left = self.new.accesses(|s, a| a.array == *id && self.is_old(s))?;
            kept = kept.union(all.clone().intersect(self.conflicts(self.new, *id, left)?)?)?;
        }
        let mut views =
            kept.clone().domain()?.universe()?.union(kept.clone().range()?.universe()?)?.identity()?;
        for (s, view) in &self.made.instances {
            let old = isl::UnionSet::from_set(isl::Set::universe(self.old.statements[s.0].domain.space()?)?)?;
            views = views.subtract_domain(old)?.union(isl::UnionMap::from_map(view.clone().reverse()?)?)?;
        }
        for (old, view) in self.divisions()? {
            views = views.subtract_domain(old)?.union(view)?;
        }
        if !self.made.instances.is_empty() || !self.made.versions.is_empty() {
            kept = kept.apply_domain(views.clone())?.apply_range(views)?;
        }
        let kept = kept.intersect_params(self.known.clone())?.coalesce()?;
        let timed = self.time.clone().domain()?;
        let all = kept.clone().domain()?.union(kept.clone().range()?)?;
        self.report(all.is_subset(&timed)?, || "an instance has no place in the new order".into());
        let forward = self.forward(&kept)?;
        self.report(forward, || "the new order breaks a dependence".into());
        Ok(())
    }

    /// The statements whose updates are grouped in another way.
    fn grouped(&self) -> Vec<StmtId> {
        match self.made.scans.is_empty() {
            true => self.made.instances.keys().copied().collect(),
            false => self.made.scans.iter().map(|s| s.total).collect(),
        }
    }

    /// Pairs of instances that access one element of an array, one of them by a write. (Of two reads nobody
    /// knows which came first.)
    fn conflicts(&self, of: &Scop, id: ArrayId, accesses: isl::UnionMap) -> Result<isl::UnionMap> {
        let writes = of.accesses(|s, a| a.array == id && a.kind != AccessKind::Read && self.is_old(s))?;
        let first = writes.clone().apply_range(accesses.clone().reverse()?)?;
        Ok(first.union(accesses.apply_range(writes.reverse()?)?)?)
    }

    /// Whether of each two instances, which have a place in the new order, the first one runs first. The
    /// order is total: to look for pairs the other way round takes no differences of relations, whose pieces
    /// multiply; and most statements are in no pair with most others.
    fn forward(&self, pairs: &isl::UnionMap) -> Result<bool> {
        for m in pairs.maps()? {
            let of = |s: isl::Set| self.time.clone().intersect_domain(isl::UnionSet::from_set(s)?);
            let not_before = of(m.clone().domain()?)?.lex_ge(of(m.clone().range()?)?)?;
            if !isl::UnionMap::from_map(m)?.intersect(not_before)?.is_empty()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_old(&self, s: &Statement) -> bool {
        self.old.statements.iter().any(|o| o.name == s.name)
    }

    /// Original arrays and the new ones that took accesses from them.
    fn pairs(&self) -> Vec<(ArrayId, ArrayId)> {
        let mut out = Vec::new();
        for (n, (a, b)) in self.old.statements.iter().zip(&self.new.statements).enumerate() {
            if self.made.instances.contains_key(&StmtId(n)) || self.hands_on(n) {
                continue;
            }
            for (x, y) in a.accesses.iter().zip(&b.accesses) {
                if x.array != y.array && !out.contains(&(x.array, y.array)) {
                    out.push((x.array, y.array));
                }
            }
        }
        out
    }

    /// Rules 3 and 4.
    fn values(&mut self) -> Result<()> {
        let pairs = self.pairs();
        for (x, y) in &pairs {
            let unique = pairs.iter().filter(|(a, b)| a == x || b == y).count() == 1;
            self.report(unique, || "an array has two stand-ins".into());
            let (old, new) = (self.old.array(*x), self.new.array(*y));
            match (&old.kind, &new.kind) {
                (ArrayKind::Memory { .. }, ArrayKind::Memory { .. }) if old.same_place(new)? => {
                    self.renamed(*x, *y)?
                }
                (ArrayKind::Memory { .. }, ArrayKind::Scalar { live_out: false, .. }) => self.each(*x, *y)?,
                _ => self.report(false, || "a new array of a wrong kind".into()),
            }
        }
        for s in &self.new.statements[self.old.statements.len()..] {
            let used = s.accesses.iter().any(|a| pairs.iter().any(|(_, y)| a.array == *y))
                || self.partial().iter().any(|p| s.accesses.iter().any(|a| a.array == *p));
            let used =
                used || self.made.versions.iter().any(|(_, v)| std::ptr::eq(s, &self.new.statements[v.0]));
            let used = used || self.handed().iter().any(|x| s.accesses.iter().any(|a| a.array == *x));
            self.report(used, || format!("{} has no purpose", s.name));
        }
        for y in pairs.into_iter().map(|(_, y)| y).chain(self.partial()).chain(self.handed()) {
            self.sizes(y)?;
        }
        Ok(())
    }

    /// Rule 5.
    fn sizes(&mut self, id: ArrayId) -> Result<()> {
        let array = self.new.array(id);
        let touched =
            self.new.accesses(|_, a| a.array == id)?.range()?.intersect_params(self.known.clone())?;
        if array.is_memory() || touched.is_empty()? {
            return Ok(());
        }
        let touched = isl::Set::from_union_set(touched)?;
        for (d, size) in array.sizes.iter().enumerate() {
            let ls = isl::LocalSpace::from_space(touched.space()?)?;
            let at = isl::PwAff::from_aff(isl::Aff::var_on_domain(ls, isl::DimType::Set, d as u32)?)?;
            let zero = isl::PwAff::constant_on(touched.space()?, 0)?;
            let mut inside = at.clone().ge_set(zero)?;
            if let Some(size) = size {
                let size = isl::Map::from_pw_aff(size.clone().from_range()?)?.range()?;
                let size = isl::Map::from_domain_and_range(isl::Set::universe(touched.space()?)?, size)?;
                inside = inside.intersect(at.lt_set(isl::PwMultiAff::from_map(size)?.at(0)?)?)?;
            }
            let fits = size.is_some() && touched.is_subset(&inside)?;
            self.report(fits, || format!("{} is too small", array.name));
        }
        Ok(())
    }

    /// Rule 3, for a second array over the same memory.
    fn renamed(&mut self, x: ArrayId, y: ArrayId) -> Result<()> {
        let (a, b) = (self.old.array(x), self.new.array(y));
        let mut same = a.sizes.len() == b.sizes.len();
        for (p, q) in a.sizes.iter().zip(&b.sizes) {
            same &= match (p, q) {
                (Some(p), Some(q)) => p.is_equal(q)?,
                (None, None) => true,
                _ => false,
            };
        }
        self.report(same, || format!("{} has another shape", b.name));
        let written = self.new.statements.iter().flat_map(|s| &s.accesses);
        let written = written.filter(|a| a.array == y).any(|a| a.kind != AccessKind::Read);
        self.report(!written, || format!("{} is written", self.new.array(y).name));
        for (s, t) in self.old.statements.iter().zip(&self.new.statements) {
            for (old, _) in s.accesses.iter().zip(&t.accesses).filter(|(_, n)| n.array == y) {
                let reads = old.relation.clone().intersect_domain(s.domain.clone())?;
                let reads = isl::UnionMap::from_map(reads.intersect_params(self.known.clone())?)?.wrap()?;
                let seen = self.old_deps.tagged_flow.clone().range()?.intersect(reads)?;
                let none = seen.intersect_params(self.known.clone())?.is_empty()?;
                self.report(none, || format!("a read of {} sees a write", self.new.array(y).name));
                // Dependences are between instances: what the same one wrote earlier is not among them.
                let order = |x: &Access| s.body.iter().position(|v| AccessValue::Instruction(*v) == x.value);
                for w in s.accesses.iter().filter(|w| w.array == x && w.kind != AccessKind::Read) {
                    let both = w.relation.clone().intersect(old.relation.clone())?;
                    let both =
                        both.intersect_domain(s.domain.clone())?.intersect_params(self.known.clone())?;
                    let behind = order(old).zip(order(w)).is_some_and(|(read, write)| write < read);
                    let apart = !behind || both.is_empty()?;
                    self.report(apart, || format!("a read of {} sees its own write", self.new.array(y).name));
                }
            }
        }
        Ok(())
    }

    /// `{ writer -> reader }` through one array.
    fn through(&self, deps: &Dependences, name: &str) -> Result<isl::UnionMap> {
        let mut flow = isl::UnionMap::empty(&self.old.ctx)?;
        for m in deps.tagged_flow.maps()? {
            let cell = m.clone().range()?.unwrap()?.tuple_name(isl::DimType::Out)?;
            if cell.as_deref() == Some(name) {
                flow = flow.add_map(m.range_factor_domain()?)?;
            }
        }
        Ok(flow.intersect_params(self.known.clone())?)
    }

    /// Rules 3 and 4, for an array with further subscripts.
    fn each(&mut self, x: ArrayId, y: ArrayId) -> Result<()> {
        let (from, to) = (self.old.array(x).name.clone(), self.new.array(y).name.clone());
        for (what, deps, name) in [("original", self.old_deps, &from), ("new", self.new_deps, &to)] {
            for m in deps.no_source.maps()? {
                let unseen = m.tuple_name(isl::DimType::Out)?.as_ref() == Some(name)
                    && !m.intersect_params(self.known.clone())?.is_empty()?;
                self.report(!unseen, || format!("a read of the {what} {name} sees no write"));
            }
        }
        let (last, rest): (Vec<&Statement>, Vec<&Statement>) = self.new.statements
            [self.old.statements.len()..]
            .iter()
            .partition(|s| s.accesses.iter().any(|a| a.array == y));
        let [last] = last.as_slice() else {
            self.report(false, || format!("{to} is not copied back by one statement"));
            return Ok(());
        };
        let left = self.new.statements[..self.old.statements.len()].iter().chain(rest);
        let left = left.flat_map(|s| &s.accesses).any(|a| a.array == x);
        self.report(!left, || format!("{from} is still used"));
        let form = last.body.is_empty()
            && last.synthesized.is_empty()
            && matches!(last.accesses.as_slice(), [r, w]
                if r.kind == AccessKind::Read && r.array == y && w.kind == AccessKind::MustWrite && w.array == x
                    && matches!((r.value, w.value), (AccessValue::ScalarRead(a), AccessValue::ScalarWrite(b)) if a == b));
        self.report(form, || format!("{} is no copy", last.name));
        if !form {
            return Ok(());
        }
        let own = isl::UnionSet::from_set(last.domain.clone())?;
        let flow = self.through(self.new_deps, &to)?;
        let inside = flow.clone().subtract(flow.clone().intersect_range(own.clone())?)?;
        let same = inside.is_equal(&self.through(self.old_deps, &from)?)?;
        self.report(same, || format!("the flow through {to} is not that through {from}"));
        // What the copy would see if the original's writes had gone to the original array.
        let writes = self.old.accesses(|_, a| a.array == x && a.kind == AccessKind::MustWrite)?;
        let other = self.old.accesses(|_, a| a.array == x && a.kind == AccessKind::MayWrite)?;
        self.report(other.is_empty()?, || format!("{from} has writes that may not happen"));
        let cell = last.accesses[1].relation.clone().intersect_domain(last.domain.clone())?;
        let sink = isl::UnionMap::from_map(cell.intersect_params(self.known.clone())?)?;
        let wanted = isl::UnionAccessInfo::from_sink(sink.clone())?
            .set_must_source(writes.clone().intersect_params(self.known.clone())?)?
            .set_schedule(self.new.schedule.clone())?
            .compute_flow()?
            .must_dependence()?;
        let got = flow.intersect_range(own.clone())?;
        self.report(got.is_equal(&wanted)?, || format!("{} does not copy the last values", last.name));
        let (all, copied) = (writes.range()?.intersect_params(self.known.clone())?, sink.clone().range()?);
        let exact = all.is_equal(&copied)? && sink.is_injective()?;
        self.report(exact, || format!("{} does not copy what is written", last.name));
        // Behind all that there was. (Copies of several arrays have nothing to do with each other.)
        let time = self.time.clone().intersect_domain(self.new.schedule.domain()?)?;
        let mut before = isl::UnionSet::empty(&self.old.ctx)?;
        for s in &self.new.statements[..self.old.statements.len()] {
            before = before.union(isl::UnionSet::from_set(s.domain.clone())?)?;
        }
        let (own_time, others) = (time.clone().intersect_domain(own)?, time.intersect_domain(before)?);
        let early = own_time.lex_lt(others)?.intersect_params(self.known.clone())?;
        self.report(early.is_empty()?, || format!("{} runs too early", last.name));
        Ok(())
    }

    /// Rule 8.
    fn overlap(&mut self) -> Result<()> {
        let compared = |a: ArrayId, b: ArrayId| {
            self.new.alias_checks.iter().any(|(p, q)| (*p, *q) == (a, b) || (*p, *q) == (b, a))
        };
        let over = |id: ArrayId| -> Result<Vec<ArrayId>> {
            let mut all = Vec::new();
            for (i, a) in self.new.arrays.iter().enumerate() {
                if self.old.array(id).same_place(a)? {
                    all.push(ArrayId(i));
                }
            }
            Ok(all)
        };
        let mut missing = false;
        for (a, b) in &self.old.alias_checks {
            for p in over(*a)? {
                for q in over(*b)? {
                    // Two that nothing writes may overlap.
                    missing |= !(compared(p, q) || self.is_new(p) && self.is_new(q));
                }
            }
        }
        self.report(!missing, || "arrays that may overlap are not compared".into());
        Ok(())
    }
}

mod instances;
mod loop_carried;
mod regrouped;
mod scanned;
mod versions;

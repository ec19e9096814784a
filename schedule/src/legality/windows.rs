//! Rules for arrays that a block keeps in a window of shared memory ([`Window`]).
//!
//! A *stage* of a block is what it runs between two moves of its windows: the steps `(p, a)` with one `p`.
//! For each window, of array `A`:
//! 1. *First.* `_enter[p]` runs in every thread of every block with instances of the stage, ahead of the
//!    copies `_in[p, s]`; both are in steps `(p, e)` with `e < a` for all steps `(p, a)` of the stage's
//!    instances. (Rules 1 and 2 of steps hold for them as for instances.)
//! 2. *Inside.* `lower(p) <= s < lower(p) + size` for all elements that instances access and copies bring.
//! 3. *There.* What an instance reads is copied, or all its sources, and there is one, are in the same stage.
//! 4. *Quiet.* No other block of the launch writes what a block copies.
//! 5. *Harmless.* Copies read only what the SCoP reads.
//! 6. *Left out.* For an instance in `passing` another one surely writes the cell later, and all that read
//!    its value are in the same stage.
//! 7. *Only.* `A` is memory, and its accesses are single elements: no array has two windows.
//!
//! # Why that is enough
//! Writes go to the window and to `A`, by one thread in one step, so by the rules of order `A` in global
//! memory is as without windows. Let `S` in stage `p` read a cell whose value `W` wrote (or nobody did). If
//! `W` is in the stage, it ran in an earlier step of it, and no other write to the cell did between: that
//! would be a dependence out of order. Else the cell was copied from `A` when the stage began, which held
//! `W`'s value: `W` ran before `S`, hence before the whole stage, since stages of a block don't interleave,
//! and no block of the launch but this one touches the cell; and whoever wrote the cell after that would do
//! so out of order, in the stage as well as before it.
//!
//! A store that is left out changes what `A` holds only until the next one to its cell that is not, and there
//! is one, since the last has no later write. Whoever reads the cell from `A` meanwhile does not need what it
//! finds: the instances that need the value are in the stage and have it from the window.

use super::{Checker, Rule, forget, names, params_of, restrict};
use crate::Result;
use crate::mapped::{MappedKernel, Placement, Window};
use crate::names::Tuple::{self, Enter};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, AccessValue, Within};

/// What the rules need of a kernel.
struct Stages {
    /// `[params, _h*, _b*] -> { S[i] -> _enter[p] }`: of the instances of a block.
    of: isl::UnionMap,
    /// `[params, _h*, _b*, _t*]`: the part of the thread's schedule that a started thread runs.
    domain: isl::UnionSet,
    /// The whole of it, whose differences have fewer cases: what is looked for runs in a started thread
    /// anyway.
    all: isl::UnionSet,
    threads: Vec<String>,
    /// Coordinates of a stage.
    n: usize,
}

impl Checker<'_> {
    /// All rules, for all windows of a kernel.
    pub(super) fn windows(&mut self, i: usize) -> Result<()> {
        let k = &self.mapped.kernels[i];
        if k.windows().is_empty() {
            return Ok(());
        }
        let Some(stages) = self.stages(k)? else {
            return self.report_set(Rule::Window, &k.name, k.domain.clone());
        };
        self.entered(k, &stages)?;
        for (number, w) in k.windows().iter().enumerate() {
            let twice = k.windows()[..number].iter().any(|o| o.array == w.array || o.copy == w.copy);
            if twice || !self.plain(k, w)? {
                self.report_set(Rule::Window, &k.name, k.domain.clone())?;
                continue;
            }
            self.window(i, w, &stages)?;
        }
        Ok(())
    }

    fn stages(&self, k: &MappedKernel) -> Result<Option<Stages>> {
        let ctx = &self.scop.ctx;
        let Some(steps) = k.steps() else { return Ok(None) };
        let domain = k.domain.clone().intersect_params(self.known.clone())?;
        let own = steps.clone().intersect_domain(domain.clone())?;
        let Some(n) = own.maps()?.first().map(|m| m.dim(isl::DimType::Out)).transpose()? else {
            return Ok(None);
        };
        let Some(n) = (n as usize).checked_sub(1) else { return Ok(None) };
        let c = names("c", n + 1);
        let stage = format!("{{ [{}] -> {Enter}[{}] }}", c.join(","), c[..n].join(","));
        let of = own.apply_range(isl::UnionMap::read(ctx, &stage)?)?;
        let blocks: Vec<_> = k.grid.iter().map(|g| g.param.clone()).collect();
        let in_block = restrict(domain, &k.tile_map, &params_of(&blocks))?;
        let of = of.intersect_domain(in_block)?;
        let started = self.started(k, self.launched(k)?)?;
        let threads = k.block.iter().map(|b| b.param.clone()).collect();
        let all = k.schedule.domain()?;
        let domain = all.clone().intersect_params(started)?;
        Ok(Some(Stages { of, domain, all, threads, n }))
    }

    /// Rule 7.
    fn plain(&self, k: &MappedKernel, w: &Window) -> Result<bool> {
        let array = self.scop.array(w.array);
        let mut ok = array.is_memory()
            && array.dims() > 0
            && w.lower.len() == array.dims()
            && w.size.len() == array.dims()
            && matches!(w.copy, Tuple::Window(_))
            && self.mapped.placement.get(w.array.0) == Some(&Placement::Global);
        for set in k.domain.sets()? {
            let name = set.tuple_name()?.unwrap_or_default();
            let Some((_, s)) = self.scop.statement_named(&name) else { return Ok(false) };
            ok &= s.subregion.as_ref().is_none_or(|r| r.loops.is_empty());
            for a in s.accesses.iter().filter(|a| a.array == w.array) {
                let once = a.within.as_ref().is_none_or(Within::is_function);
                let plain = match a.value {
                    AccessValue::Instruction(_) => true,
                    // A stored value that is read back; stores of cells don't go to memory as well.
                    AccessValue::ScalarRead(_) => a.kind == AccessKind::Read,
                    AccessValue::ScalarWrite(_) => false,
                };
                ok &= plain && once && a.relation.is_single_valued()?;
            }
        }
        Ok(ok)
    }

    /// Rule 1, but for the order of steps.
    fn entered(&mut self, k: &MappedKernel, stages: &Stages) -> Result<()> {
        let ctx = &self.scop.ctx;
        let p = names("p", stages.n).join(",");
        let enters = isl::UnionSet::read(ctx, &format!("{{ {Enter}[{p}] }}"))?;
        // Those that there are not, to be met by what is looked for: a difference would compute what is
        // quantified in that.
        let missing = enters.clone().subtract(stages.all.clone())?;
        let enters = stages.domain.clone().intersect(enters)?;
        // In every thread: the stages with instances, for all values of the threads' parameters.
        let wanted = stages.of.clone().range()?.intersect_params(stages.domain.clone().params()?)?;
        self.report_set(Rule::Window, &k.name, wanted.intersect(missing.clone())?)?;
        let time = k.schedule.map()?;
        // Times of all that might be, as in `steps`; what there is comes from the other side of the
        // intersections.
        let at = time.clone().intersect_domain(enters.clone().universe()?)?;
        self.report_set(Rule::Window, &k.name, enters.clone().subtract(at.clone().domain()?)?)?;
        for w in k.windows() {
            let tuple = [names("p", stages.n), names("s", w.size.len())].concat().join(",");
            let copies = isl::UnionSet::read(ctx, &format!("{{ {}[{tuple}] }}", w.copy))?;
            let copies = stages.domain.clone().intersect(copies)?;
            let moves = isl::UnionMap::read(ctx, &format!("{{ {}[{tuple}] -> {Enter}[{p}] }}", w.copy))?;
            let moves = moves.intersect_domain(copies.clone())?;
            let times = time.clone().intersect_domain(copies.clone().universe()?)?;
            self.report_set(Rule::Window, &k.name, copies.clone().subtract(times.clone().domain()?)?)?;
            self.report_set(Rule::Window, &k.name, moves.clone().range()?.intersect(missing.clone())?)?;
            self.report_map(Rule::Window, &k.name, times.lex_le(at.clone())?.intersect(moves)?)?;
            self.ahead(k, stages, &copies, &tuple, &w.copy.to_string())?;
        }
        self.ahead(k, stages, &enters, &p, &Enter.to_string())
    }

    /// That `{ name[tuple] }`, of which the first coordinates are those of a stage, is in a step of it ahead
    /// of all its instances.
    fn ahead(
        &mut self,
        k: &MappedKernel,
        stages: &Stages,
        which: &isl::UnionSet,
        tuple: &str,
        name: &str,
    ) -> Result<()> {
        let ctx = &self.scop.ctx;
        let Some(steps) = k.steps() else { return Ok(()) };
        let (p, n) = (names("p", stages.n), stages.n);
        let step = steps.clone().intersect_domain(which.clone())?;
        self.report_set(Rule::Window, &k.name, which.clone().subtract(step.clone().domain()?)?)?;
        let own = [p.clone(), vec!["e".into()]].concat().join(",");
        let stage = isl::UnionMap::read(ctx, &format!("{{ {name}[{tuple}] -> [{own}] }}"))?;
        self.report_map(Rule::Window, &k.name, step.clone().subtract(stage)?)?;
        // { name[p, ...] -> name[p, ...] } with a step of an instance that is not later.
        let all = steps.clone().intersect_domain(stages.of.clone().domain()?)?;
        let later = [p, vec!["f".into()]].concat().join(",");
        let late = isl::UnionMap::read(ctx, &format!("{{ [{own}] -> [{later}] : f <= e }}"))?;
        debug_assert_eq!(
            step.maps()?.first().map(|m| m.dim(isl::DimType::Out)).transpose()?.unwrap_or(n as u32 + 1),
            n as u32 + 1
        );
        self.report_map(Rule::Window, &k.name, step.apply_range(late)?.intersect_range(all.range()?)?)
    }

    /// Rules 2 to 6.
    fn window(&mut self, i: usize, w: &Window, stages: &Stages) -> Result<()> {
        let ctx = &self.scop.ctx;
        let k = &self.mapped.kernels[i];
        let name = &self.scop.array(w.array).name;
        let (p, s) = (names("p", stages.n), names("s", w.size.len()));
        let tuple = [p.clone(), s.clone()].concat().join(",");
        // { _enter[p] -> A[s] } of a block, from all its threads.
        let text =
            format!("{{ {}[{tuple}] -> [{Enter}[{}] -> {name}[{}]] }}", w.copy, p.join(","), s.join(","));
        let copied = stages.domain.clone().apply(isl::UnionMap::read(ctx, &text)?)?.unwrap()?;
        let copied = forget(copied, &stages.threads)?.coalesce()?;

        let accesses = self.scop.accesses(|_, a| a.array == w.array)?;
        let reads = self.scop.accesses(|_, a| a.array == w.array && a.kind == AccessKind::Read)?;
        let touched = stages.of.clone().reverse()?.apply_range(accesses)?;
        for d in 0..w.size.len() {
            let only = isl::UnionMap::read(ctx, &format!("{{ {name}[{}] -> [s{d}] }}", s.join(",")))?;
            let low = isl::UnionMap::from_map(isl::Map::from_pw_aff(w.lower[d].clone())?)?;
            let inside = isl::UnionSet::read(ctx, &format!("{{ [s, l] : l <= s < l + {} }}", w.size[d]))?;
            for found in [&touched, &copied] {
                let at = found.clone().apply_range(only.clone())?;
                let stray = at.domain()?.subtract(low.clone().domain()?)?;
                self.report_set(Rule::Window, &k.name, stray)?;
                let pairs = found.clone().apply_range(only.clone())?.flat_range_product(low.clone())?;
                self.report_set(Rule::Window, &k.name, pairs.range()?.subtract(inside.clone())?)?;
            }
        }

        self.there(i, w, stages, &copied, &reads)?;
        self.quiet(k, w, &copied)?;
        self.left_out(i, w, stages)?;
        let all = reads.intersect_params(self.known.clone())?.range()?;
        self.report_set(Rule::Window, &k.name, copied.range()?.subtract(all)?)
    }

    /// Rule 3.
    fn there(
        &mut self,
        i: usize,
        w: &Window,
        stages: &Stages,
        copied: &isl::UnionMap,
        reads: &isl::UnionMap,
    ) -> Result<()> {
        let k = &self.mapped.kernels[i];
        let hidden: Vec<_> = k.host_params.iter().chain(k.grid.iter().map(|g| &g.param)).cloned().collect();
        // { [S[i] -> A[s]] } that a stage reads and does not copy.
        let stage_of = stages.of.clone();
        let read = stage_of.clone().range_product(reads.clone())?;
        let brought = stage_of.clone().domain()?.product_map(copied.clone().wrap()?)?;
        let brought = brought.coalesce()?;
        let rest = read.subtract(brought)?;
        if rest.is_empty()? {
            return Ok(());
        }
        // { S[i] -> A[s] }
        let rest = forget(rest.range_factor_range()?, &hidden)?.coalesce()?;
        self.report_map(Rule::Window, &k.name, rest.clone().intersect(self.deps.no_source.clone())?)?;
        let mut sources = isl::UnionMap::empty(&self.scop.ctx)?;
        for m in self.flow_through(w)? {
            let m = isl::UnionMap::from_map(m)?.intersect_range(rest.clone().wrap()?)?;
            sources = sources.union(m.range_factor_domain()?)?;
        }
        self.in_stage(i, stages, sources)
    }

    /// `{ W[i] -> [S[j] -> A[s]] }`, value-based, of a window's array.
    fn flow_through(&self, w: &Window) -> Result<Vec<isl::Map>> {
        let name = self.scop.array(w.array).name.clone();
        let mut out = Vec::new();
        for m in self.deps.tagged_flow.maps()? {
            if m.clone().range()?.unwrap()?.tuple_name(isl::DimType::Out)?.as_ref() == Some(&name) {
                out.push(m);
            }
        }
        Ok(out)
    }

    /// `{ W -> S }` of which both are in one stage of one block of one launch, and W is in this kernel at
    /// all.
    fn in_stage(&mut self, i: usize, stages: &Stages, pairs: isl::UnionMap) -> Result<()> {
        let k = &self.mapped.kernels[i];
        let place = self.stage_place(k, stages)?;
        let same = place.clone().domain()?.universe()?;
        let placed = pairs.clone().intersect_domain(same.clone())?;
        let with_place = place.clone().domain()?.universe()?.identity()?.range_product(place)?;
        let placed = placed.apply_domain(with_place.clone())?.apply_range(with_place.clone())?;
        let equal = placed.clone().range()?.unwrap()?.range()?.universe()?.identity()?;
        let together = pairs.clone().universe()?.product(equal)?;
        self.report_map(Rule::Window, &k.name, placed.subtract(together)?)?;
        let inside = self.launches[i].clone().domain()?;
        self.report_map(Rule::Window, &k.name, pairs.clone().subtract_domain(inside.clone())?)?;
        self.report_set(Rule::Window, &k.name, pairs.range()?.subtract(inside)?)
    }

    /// Rule 6.
    fn left_out(&mut self, i: usize, w: &Window, stages: &Stages) -> Result<()> {
        let k = &self.mapped.kernels[i];
        let hidden: Vec<_> = k.host_params.iter().chain(k.grid.iter().map(|g| &g.param)).cloned().collect();
        let left = forget(stages.of.clone().intersect(w.passing.clone())?, &hidden)?.domain()?.coalesce()?;
        if left.is_empty()? {
            return Ok(());
        }
        let writes = self.scop.accesses(|_, a| a.array == w.array && a.kind != AccessKind::Read)?;
        let surely = self.scop.accesses(|_, a| a.array == w.array && a.kind == AccessKind::MustWrite)?;
        let again = writes.apply_range(surely.reverse()?)?.intersect(self.deps.output.clone())?;
        self.report_set(Rule::Window, &k.name, left.clone().subtract(again.domain()?)?)?;
        let mut readers = isl::UnionMap::empty(&self.scop.ctx)?;
        for m in self.flow_through(w)? {
            let m = isl::UnionMap::from_map(m)?.intersect_domain(left.clone())?;
            readers = readers.union(m.range_factor_domain()?)?;
        }
        self.in_stage(i, stages, readers)
    }

    /// `{ S[i] -> [K[h] -> [tile, p]] }`
    fn stage_place(&self, k: &MappedKernel, stages: &Stages) -> Result<isl::UnionMap> {
        let ctx = &self.scop.ctx;
        let Some(steps) = k.steps() else {
            return Err(crate::ScheduleError::Unsupported("a window without steps"));
        };
        let c = names("c", stages.n + 1);
        let p =
            isl::UnionMap::read(ctx, &format!("{{ [{}] -> [{}] }}", c.join(","), c[..stages.n].join(",")))?;
        let in_launch = k.tile_map.clone().flat_range_product(steps.clone().apply_range(p)?)?;
        let x = names("x", k.host_params.len());
        let launch = params_of(&k.host_params).replacen("{ [", &format!("{{ {}[", k.name), 1);
        debug_assert_eq!(x.len(), k.host_params.len());
        let place = k.domain.clone().product_map(isl::UnionSet::read(ctx, &launch)?)?;
        forget(place.range_product(in_launch)?, &k.host_params)
    }

    /// Rule 4.
    fn quiet(&mut self, k: &MappedKernel, w: &Window, copied: &isl::UnionMap) -> Result<()> {
        let ctx = &self.scop.ctx;
        let blocks: Vec<_> = k.grid.iter().map(|g| g.param.clone()).collect();
        let own = isl::UnionSet::read(ctx, &params_of(&blocks))?;
        let loads = forget(own.product_map(copied.clone().range()?)?, &blocks)?;
        let writes = self.scop.accesses(|_, a| a.array == w.array && a.kind != AccessKind::Read)?;
        let writes = k.tile_map.clone().intersect_domain(k.domain.clone())?.reverse()?.apply_range(writes)?;
        let met = loads.apply_range(writes.reverse()?)?;
        let x = names("x", blocks.len()).join(",");
        let same = isl::UnionMap::read(ctx, &format!("{{ [{x}] -> [{x}] }}"))?;
        self.report_map(Rule::Window, &k.name, met.subtract(same)?)
    }
}

//! Rules for cells that loops keep in registers ([`Promotion`]).
//!
//! Let `p` be the prefix of a thread's schedule at a mark: the instances `{ S[i] : p(S[i]) = v }` are a
//! *run*. The code may load the cell before the run and store it behind, if
//! 1. only instances of the promoted statement are below the mark;
//! 2. the promoted accesses of all instances of a run are of one cell: so the register has the value that
//!    memory would have;
//! 3. no other access of the run is of this cell: so no one in the run misses what the register has;
//! 4. one of the promoted accesses is a write of all instances: so the store behind the run stores nothing
//!    where the instances do not. (A cell that a statement keeps as it was, where the program stores under a
//!    condition, is such a write, though no certain one: the code stores it in each instance.)
//! 5. where threads wait for each other, all instances of a run are of one step.
//!
//! Runs with an instance only: the code loads and stores where the loop has an iteration. What other threads
//! of the launch do between does not matter, as order is proved: none of them touches a cell that this one
//! writes, or not in the same step.

use super::{Checker, Rule};
use crate::Result;
use crate::mapped::{MappedKernel, Placement, Promotion};
use crate::names::Mark;
use pollyrs_isl as isl;
use pollyrs_scop::AccessKind;

impl Checker<'_> {
    /// Rules 1 to 4 for all marks of a kernel.
    pub(super) fn promotions(&mut self, i: usize) -> Result<()> {
        let k = &self.mapped.kernels[i];
        if k.promotions.is_empty() {
            return Ok(());
        }
        let domain = k.schedule.domain()?;
        if k.tiling().is_some() || !k.windows().is_empty() {
            return self.report_set(Rule::Promotion, &k.name, domain);
        }
        let mut nodes = vec![k.schedule.root()?];
        while let Some(node) = nodes.pop() {
            nodes.extend(node.children()?);
            if node.node_type()? != isl::NodeType::Mark {
                continue;
            }
            let Some(mark @ Mark::Promoted(_)) = Mark::of(&node.mark_id()?.name()) else { continue };
            let below = node.domain()?;
            match k.promotions.iter().find(|p| p.mark == mark) {
                Some(p) => self.promotion(k, p, below, node.prefix_schedule_union_map()?)?,
                None => self.report_set(Rule::Promotion, &k.name, below)?,
            }
        }
        Ok(())
    }

    fn promotion(
        &mut self,
        k: &MappedKernel,
        p: &Promotion,
        below: isl::UnionSet,
        prefix: isl::UnionMap,
    ) -> Result<()> {
        let below = below.intersect_params(k.context.clone())?;
        let Some(s) = self.scop.statements.get(p.statement.0) else {
            return self.report_set(Rule::Promotion, &k.name, below);
        };
        let own = isl::UnionSet::from_set(s.domain.clone())?;
        self.report_set(Rule::Promotion, &k.name, below.clone().subtract(own)?)?;
        let promoted: Vec<_> = p.accesses.iter().filter_map(|at| s.accesses.get(*at)).collect();
        let written = promoted.iter().any(|a| a.kind == AccessKind::MustWrite);
        let Some(first) = promoted.first().filter(|_| written && s.is_plain()) else {
            return self.report_set(Rule::Promotion, &k.name, below);
        };
        let memory = self.mapped.placement.get(first.array.0) == Some(&Placement::Global)
            && self.scop.array(first.array).is_memory();
        if !memory || promoted.len() != p.accesses.len() {
            return self.report_set(Rule::Promotion, &k.name, below);
        }
        // { [prefix] -> A[s] }
        let run = prefix.intersect_domain(below)?.reverse()?;
        let touched = |a: &pollyrs_scop::Access| -> Result<isl::UnionMap> {
            Ok(run.clone().apply_range(isl::UnionMap::from_map(a.relation.clone())?)?)
        };
        let mut cells = isl::UnionMap::empty(&self.scop.ctx)?;
        for a in &promoted {
            cells = cells.union(touched(a)?)?;
        }
        let mut bad = isl::UnionMap::empty(&self.scop.ctx)?;
        if let Some(steps) = k.steps() {
            let steps = run.clone().apply_range(steps.clone())?;
            if !steps.is_single_valued()? {
                bad = steps;
            }
        }
        if !cells.is_single_valued()? {
            bad = bad.union(cells.clone())?;
        }
        for (at, a) in s.accesses.iter().enumerate() {
            if a.array == first.array && !p.accesses.contains(&at) {
                bad = bad.union(touched(a)?.intersect(cells.clone())?)?;
            }
        }
        self.report_map(Rule::Promotion, &k.name, bad)
    }
}

//! The rule for loops whose iterations a thread may execute some at once ([`Mark::Together`]).
//!
//! Let `p` be the prefix of a thread's schedule at a mark: of the instances beneath it none depends on
//! another one with the same `p`. Then code may load for some of them before it stores the first: what a load
//! finds there was stored by none of them. What other threads do meanwhile is in order already, or in no
//! order with any of them.

use super::{Checker, Rule};
use crate::Result;
use crate::names::Mark;
use pollyrs_isl as isl;

impl Checker<'_> {
    pub(super) fn together(&mut self, i: usize) -> Result<()> {
        let k = &self.mapped.kernels[i];
        if k.steps().is_none() && k.tiling().is_some() {
            return Ok(());
        }
        let mut nodes = vec![k.schedule.root()?];
        while let Some(node) = nodes.pop() {
            nodes.extend(node.children()?);
            if node.node_type()? != isl::NodeType::Mark
                || Mark::of(&node.mark_id()?.name()) != Some(Mark::Together)
            {
                continue;
            }
            let below = super::steps::statements(&node.domain()?)?.intersect_params(k.context.clone())?;
            let deps = self.deps.all(self.scop)?.intersect_domain(below.clone())?;
            let deps = deps.intersect_range(below.clone())?;
            let prefix = node.prefix_schedule_union_map()?.intersect_domain(below)?;
            let same = prefix.clone().apply_range(prefix.reverse()?)?;
            self.report_map(Rule::Together, &k.name, deps.intersect(same)?)?;
        }
        Ok(())
    }
}

//! The rule for updates that a block makes in shared memory
//! ([`Mode::Counters`](crate::Mode)): all that the kernel does to the array is updates of
//! integers with one operation, so that they may be combined in any grouping, and of elements in the box.
//! Nothing waits for them but the end of the launch, and no other thing of the kernel is in shared memory.

use super::{Checker, Rule};
use crate::Result;
use pollyrs_isl as isl;
use pollyrs_scop::UpdateOp;
use std::collections::BTreeSet;

impl Checker<'_> {
    pub(super) fn counters(&mut self, i: usize) -> Result<()> {
        let k = &self.mapped.kernels[i];
        let mut seen = BTreeSet::new();
        for c in k.counters() {
            let mut ops = BTreeSet::new();
            for set in k.domain.sets()? {
                let name = set.tuple_name()?.unwrap_or_default();
                let Some((_, s)) = self.scop.statement_named(&name) else { continue };
                ops.extend(
                    s.accesses.iter().filter(|a| a.array == c.array).map(|a| s.update_of(a).map(|u| u.op)),
                );
            }
            let one = ops.len() == 1 && ops.iter().all(|op| op.is_some_and(|op| op != UpdateOp::FAdd));
            let whole = c.bounds.len() == self.scop.array(c.array).dims();
            if !one || !whole || !seen.insert(c.array) {
                self.report_set(Rule::Counters, &k.name, k.domain.clone())?;
                continue;
            }
            let touched =
                self.scop.accesses(|_, a| a.array == c.array)?.intersect_domain(k.domain.clone())?;
            let elements = isl::Set::from_union_set(touched.clone().range()?)?;
            let mut right = k.domain.clone().params()?;
            for (d, (first, last)) in c.bounds.iter().enumerate() {
                right = right.intersect(first.clone().le_set(elements.clone().dim_min(d as i32)?)?)?;
                right = right.intersect(last.clone().ge_set(elements.clone().dim_max(d as i32)?)?)?;
            }
            let wrong = k.domain.clone().subtract(k.domain.clone().intersect_params(right)?)?;
            self.report_set(Rule::Counters, &k.name, wrong.intersect(touched.domain()?)?)?;
        }
        Ok(())
    }
}

//! The rule for reads that may go ahead of stores ([`MappedKernel::hoistable`](crate::MappedKernel)): no
//! instance of the same launch wrote the cell before, nor did the instance itself. The dependences are
//! value-based; but whatever wrote the cell before the last writer runs no later than that one, as order is
//! proved, so it is in no later launch; and if the last writer is in an earlier launch, or is none, then all
//! are.

use super::{Checker, Rule};
use crate::Result;
use pollyrs_isl as isl;
use pollyrs_scop::AccessKind;

impl Checker<'_> {
    pub(super) fn hoisting(&mut self, i: usize) -> Result<()> {
        let k = &self.mapped.kernels[i];
        if k.hoistable.is_empty() {
            return Ok(());
        }
        let launch = self.launches[i].clone();
        let within = launch.clone().apply_range(launch.reverse()?)?;
        for (id, at) in &k.hoistable {
            let access = self.scop.statements.get(id.0).and_then(|s| Some((s, s.accesses.get(*at)?)));
            let Some((s, a)) = access else {
                self.report_set(Rule::Hoisting, &k.name, k.domain.clone())?;
                continue;
            };
            let own = isl::UnionSet::from_set(s.domain.clone())?;
            let written = s.accesses[..*at].iter().any(|w| w.kind != AccessKind::Read && w.array == a.array);
            if a.kind != AccessKind::Read || a.within.is_some() || written {
                self.report_set(Rule::Hoisting, &k.name, own.clone())?;
            }
            let cells =
                isl::UnionSet::from_set(a.relation.clone().intersect_domain(s.domain.clone())?.wrap()?)?;
            let flow = self.deps.tagged_flow.clone().intersect_range(cells)?.range_factor_domain()?;
            self.report_map(Rule::Hoisting, &k.name, flow.intersect(within.clone())?)?;
        }
        Ok(())
    }
}

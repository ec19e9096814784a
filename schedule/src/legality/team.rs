//! The rule for teams ([`Mode::Team`]): threads that run an instance together
//! load what the launch does not write wherever they share the work, which is nowhere but in a statement's
//! subregion; other elements of arrays that it writes are the first thread's alone. So all of a team compute
//! the same. Nothing else of the kernel is shared by threads, and a team lies in a warp.

use super::{Checker, Rule};
use crate::Result;
use crate::mapped::Mode;
use pollyrs_isl as isl;
use pollyrs_scop::AccessKind;

impl Checker<'_> {
    pub(super) fn team(&mut self, i: usize) -> Result<()> {
        let k = &self.mapped.kernels[i];
        let Mode::Team(team) = k.mode else { return Ok(()) };
        let threads = k.block.iter().map(|b| u64::from(b.size)).product::<u64>() * u64::from(team);
        let alone = k.promotions.is_empty() && k.block.len() < 3;
        if !alone || !matches!(team, 2 | 4 | 8 | 16 | 32) || threads > 1024 {
            self.report_set(Rule::Team, &k.name, k.domain.clone())?;
        }
        let mut run = Vec::new();
        for set in k.domain.sets()? {
            let name = set.tuple_name()?.unwrap_or_default();
            if let Some((_, s)) = self.scop.statement_named(&name) {
                run.push((s, set));
            }
        }
        let mut written = Vec::new();
        for (s, _) in &run {
            written.extend(s.accesses.iter().filter(|a| a.kind != AccessKind::Read).map(|a| a.array));
        }
        for (s, set) in &run {
            let mut wrong = !s.updates.is_empty();
            for a in s.accesses.iter().filter(|a| a.within.is_some()) {
                for id in &written {
                    wrong |= *id == a.array || self.scop.array(*id).same_place(self.scop.array(a.array))?;
                }
            }
            if wrong {
                self.report_set(Rule::Team, &k.name, isl::UnionSet::from_set(set.clone())?)?;
            }
        }
        Ok(())
    }
}

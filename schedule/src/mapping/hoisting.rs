//! Reads of what memory has before the launch.
//!
//! Where few threads run long loops, nothing hides the latency of a load but other loads on their way. Code
//! generation can tell a load from earlier stores by their arrays, but not by their subscripts: in
//! `d[i] -= w * d[i-1]` no iteration before writes to the cell `d[i]`, and only the dependences say so.

use crate::mapped::{FEW_THREADS, MappedKernel};
use crate::{Dependences, Result, known};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, Scop, StmtId};

/// The reads, by statement and access, of which no instance of the launch has written the cell before; of
/// kernels of few threads, and of arrays to which they write: others are read-only. The checker proves them
/// once more.
pub(super) fn reads(scop: &Scop, deps: &Dependences, k: &MappedKernel) -> Result<Vec<(StmtId, usize)>> {
    let threads: u32 = k.block.iter().map(|b| b.size).product();
    if threads > FEW_THREADS || k.tiling().is_some() || k.steps().is_some() {
        return Ok(Vec::new());
    }
    let mut run = Vec::new();
    for (n, s) in scop.statements.iter().enumerate() {
        let instances = k.domain.extract_set(s.domain.space()?)?;
        if !instances.is_empty()? {
            run.push((StmtId(n), s, instances));
        }
    }
    let accesses = || run.iter().flat_map(|(_, s, _)| &s.accesses);
    let written = |array| accesses().any(|a| a.kind != AccessKind::Read && a.array == array);
    let mut flow = None;
    let mut found = Vec::new();
    for (id, s, instances) in &run {
        for (at, a) in s.accesses.iter().enumerate() {
            let memory = scop.array(a.array).is_memory();
            let before = s.accesses[..at].iter().any(|w| w.kind != AccessKind::Read && w.array == a.array);
            if a.kind != AccessKind::Read || a.within.is_some() || !memory || before || !written(a.array) {
                continue;
            }
            let flow = match &flow {
                Some(f) => f,
                None => flow.insert(
                    deps.tagged_flow
                        .clone()
                        .intersect_params(known(scop)?)?
                        .intersect_domain(k.domain.clone())?,
                ),
            };
            let cells = a.relation.clone().intersect_domain(instances.clone())?.wrap()?;
            let into = flow.clone().intersect_range(isl::UnionSet::from_set(cells)?)?;
            if into.is_empty()? {
                found.push((*id, at));
            }
        }
    }
    Ok(found)
}

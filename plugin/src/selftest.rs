//! The passes `pollyrs-test-version…`: rewrites loop regions as offloading would, with a check that always
//! fails and poison for the values the offloaded side would deliver. The program must still verify and do
//! what it did; a use outside of the region that bypassed its PHI, or a path around the check, shows as a
//! wrong result.

use crate::base::error::PluginError;
use pollyrs_codegen_ptx::Ir;
use pollyrs_llvm_shim::ir::{Module, Value};
use pollyrs_llvm_shim::{Analyses, LoopId, RegionData, Session, version_region};
use std::collections::BTreeSet;

/// Which regions.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum Size {
    /// The smallest around each outermost loop.
    Smallest,
    /// The largest around each outermost loop.
    Largest,
    /// The smallest around each innermost loop: the check then is inside a loop.
    Innermost,
}

/// Works on clones and adopts them, as the real pass does. Returns whether anything changed.
pub fn version_loop_regions(module: Module, size: Size) -> Result<bool, PluginError> {
    // SAFETY: LLVM hands a pass a live module.
    let session = unsafe { Session::new(module) };
    let mut changed = false;
    for f in crate::ir::functions(module) {
        let Ok(clone) = session.clone_function(f) else { continue };
        session.run_passes(clone, "loop-simplify,lcssa")?;
        session.simplify_regions(clone)?;
        if version_all(&session, clone, size)? == 0 {
            session.erase_function(clone)?;
            continue;
        }
        session.adopt_body(f, clone)?;
        session.verify_module().map_err(PluginError::Internal)?;
        changed = true;
    }
    Ok(changed)
}

/// How many regions were versioned.
fn version_all(session: &Session, f: Value, size: Size) -> Result<u32, PluginError> {
    let mut plan = Vec::new();
    {
        let analyses = session.analyses(f)?;
        for region in loop_regions(&analyses, size) {
            if let Some(check) = analyses.split_entry(region.entry, &region.blocks) {
                plan.push((check, region));
            }
        }
    }
    let mut versioned = 0;
    for (check, region) in plan {
        let Some(exit) = region.exit else { continue };
        let Ok(v) = version_region(f, check, region.entry, exit, &region.blocks) else { continue };
        let old = check.end();
        let never = session.module().context().int_type(1).zero();
        let ir = Ir::new(session.module().context());
        ir.before(old);
        ir.cond_br(never, v.offload, v.host_begin);
        // SAFETY: a branch, which nothing has as an operand.
        unsafe { old.erase() };
        ir.at_end(v.offload);
        ir.br(v.merge);
        for live_out in &v.live_outs {
            live_out.phi.add_incoming(live_out.phi.ty().poison(), v.offload);
        }
        versioned += 1;
    }
    session.invalidate(f)?;
    Ok(versioned)
}

/// For each loop asked for a region that holds it; no two overlap.
fn loop_regions(analyses: &Analyses<'_>, size: Size) -> Vec<RegionData> {
    let mut chosen: Vec<RegionData> = Vec::new();
    let loops = analyses.loops();
    let parents: BTreeSet<_> = loops.iter().filter_map(|l| l.parent).collect();
    for (i, l) in loops.iter().enumerate() {
        let asked_for = match size {
            Size::Smallest | Size::Largest => l.parent.is_none(),
            Size::Innermost => !parents.contains(&LoopId(i)),
        };
        if !asked_for {
            continue;
        }
        let holds = |r: &&RegionData| {
            let blocks: BTreeSet<_> = r.blocks.iter().collect();
            r.exit.is_some() && l.blocks.iter().all(|b| blocks.contains(b))
        };
        let candidates = analyses.regions().iter().filter(holds);
        let region = match size {
            Size::Smallest | Size::Innermost => candidates.min_by_key(|r| r.blocks.len()),
            Size::Largest => candidates.max_by_key(|r| r.blocks.len()),
        };
        let Some(region) = region else { continue };
        // Two loops with several exits can share blocks of their regions.
        if chosen.iter().all(|c| c.blocks.iter().all(|b| !region.blocks.contains(b))) {
            chosen.push(region.clone());
        }
    }
    chosen
}

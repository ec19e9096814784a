//! The commit: device code of a function's SCoPs goes into the host module, the working copy is rewritten,
//! verified, and takes the original body's place.

use crate::base::error::PluginError;
use crate::base::options::Options;
use crate::base::timing::Phase;
use crate::compiled::Compiled;
use crate::ir;
use crate::remarks;
use crate::residency;
use pollyrs_codegen_ptx as codegen;
use pollyrs_llvm_shim::ir::Value;
use pollyrs_llvm_shim::{Analyses, Regions, Session};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};

/// Instructions of the checks and launches of one SCoP, at most. The checks are one block, and what LLVM does
/// with a block takes more than linear time: three seconds for the overlaps of 60 arrays, half a minute where
/// ranges have many cases.
const MAX_HOST_CODE: u64 = 32_000;

/// Why versions of loops stay on the host: for tables of rows, for sizes or pointers of objects, for steps of
/// windows, and for rows of which the last one is shorter.
const KEPT: [&CStr; 5] = [
    c"the rows of a table can't be one array",
    c"what is exchanged or assigned has different sizes, or overlaps",
    c"windows move by steps other than 1 and 2",
    c"the elements are no whole number of rows, or do not begin with one",
    c"tiles are not one next to the other, or there are too many points",
];

impl Compiled {
    /// Makes the check block and the parameters' values while analyses are alive.
    fn prepare(&mut self, analyses: &Analyses<'_>, regions: &Regions) -> Result<(), PluginError> {
        // SAFETY: the search looked for SCoPs with these analyses.
        self.entry = Some(unsafe { codegen::prepare(analyses, &self.scop, regions) }?);
        Ok(())
    }
}

/// The SCoPs' blocks.
pub fn regions(all: &[Compiled]) -> Regions {
    let mut regions = Regions::default();
    all.iter().for_each(|c| regions.push(codegen::blocks(&c.scop)));
    regions
}

/// Makes the check blocks of all SCoPs of a function. Where one begins in the block in which another one
/// ends, its check block is between them.
pub fn prepare(analyses: &Analyses<'_>, all: &mut [Compiled]) -> Result<(), PluginError> {
    let regions = regions(all);
    for c in all.iter_mut() {
        c.prepare(analyses, &regions)?;
    }
    let begin =
        |c: &Compiled| c.entry.as_ref().map(|e| (c.scop.region.entry, codegen::handle_of_block(e.check)));
    let begins: BTreeMap<_, _> = all.iter().filter_map(begin).collect();
    for c in all {
        if let Some(check) = begins.get(&c.scop.region.exit) {
            c.scop.region.exit = *check;
        }
    }
    Ok(())
}

/// What a rewrite needs beside the SCoPs.
pub struct Rewrite<'a> {
    pub session: &'a Session,
    pub options: &'a Options,
    /// isl operations a SCoP.
    pub budget: u64,
    pub residency: Option<&'a residency::Plan>,
    /// What functions that work with their callers' holds became, by function.
    pub extended: &'a RefCell<BTreeMap<Value, Value>>,
}

/// Rewrites `clone` and makes it the body of `f`. On an error `f` is untouched and the clone still there.
pub fn rewrite(
    with: &Rewrite<'_>,
    f: Value,
    clone: Value,
    compiled: &mut [Compiled],
) -> Result<(), PluginError> {
    let Rewrite { session, .. } = *with;
    let mut added = Vec::new();
    let seen: Vec<_> = compiled.iter().map(|c| remarks::Seen::of(&c.scop)).collect();
    let result = rewrite_clone(with, (clone, &f.name()), compiled, &mut added);
    if let Err(e) = result {
        for kernel in added {
            kernel.replace_uses(kernel.ty().undef());
            // SAFETY: an internal kernel that only the clone's descriptors referred to.
            unsafe { kernel.delete_function() };
        }
        return Err(e);
    }
    for (c, seen) in compiled.iter().zip(&seen) {
        remarks::offloaded(with.options, f, c, seen);
    }
    Phase::Adoption.time(|| session.adopt_body(f, clone))?;
    // The function's parameters and its callers' call sites promise no more than the run-time library keeps.
    session.weaken_attributes(f);
    Ok(())
}

/// A call gets the hold in `slot`.
fn lend_residency(with: &Rewrite<'_>, slot: Value, lend: &residency::Lend) -> Result<(), PluginError> {
    let module = with.session.module();
    let known = with.extended.borrow().get(&lend.callee).copied();
    let extended = match known {
        Some(extended) => extended,
        None => {
            let (enter, give) = codegen::placeholders(module);
            let extended = with.session.extend(lend.callee, enter, give)?;
            with.extended.borrow_mut().insert(lend.callee, extended);
            extended
        }
    };
    let table = codegen::known_table(module, &lend.known);
    with.session.redirect(lend.call, extended, slot, table);
    Ok(())
}

fn rewrite_clone(
    with: &Rewrite<'_>,
    (clone, name): (Value, &str),
    compiled: &mut [Compiled],
    added: &mut Vec<Value>,
) -> Result<(), PluginError> {
    let Rewrite { session, options, budget, residency, .. } = *with;
    let borrowing = residency.and_then(residency::Plan::borrowing);
    let slot = residency.map(|_| codegen::residency_slot(clone, borrowing));
    for i in 0..compiled.len() {
        let (c, later) = match compiled[i..].split_first_mut() {
            Some(parts) => parts,
            None => break,
        };
        c.code = c.device.take().map(|job| job.wait()).transpose()?;
        let emulated = if options.targets.emulated {
            let lower = || codegen::lower_emulated(&c.kernels, session.module(), options.targets.checked);
            let functions = Phase::Emulated.time(lower)?;
            for f in &functions {
                // One function may stand under several descriptors.
                if !added.contains(f) {
                    added.push(*f);
                }
            }
            Some(functions)
        } else {
            None
        };
        let entry = c.entry.take().ok_or(PluginError::Internal("the SCoP was not prepared".into()))?;
        let plan = codegen::HostPlan {
            scop: &c.scop,
            mapped: &c.mapped,
            kernels: c.kernels.kernels(),
            images: c.code.as_ref().map_or(&[], |code| &code.images),
            emulated: emulated.as_deref(),
            checked: options.targets.checked,
            footprints: &c.footprints,
            inspected: &c.inspected,
            work: &c.work,
            fused: c.kernels.fused(),
            slices: &c.slices,
            parts: &c.parts,
            held: residency
                .zip(slot)
                .map(|(residency, slot)| codegen::Held { slot, masks: &residency.masks[i] }),
        };
        let _budget = c.scop.ctx.budget(budget);
        let before = ir::size(clone);
        // SAFETY: the working copy holds the region that detection found in it.
        let live_outs = Phase::Host.time(|| unsafe { codegen::emit(clone, &plan, &entry) })?;
        later.iter_mut().for_each(|other| codegen::rename(&mut other.scop, &live_outs));
        if ir::size(clone).saturating_sub(before) > MAX_HOST_CODE {
            return Err(codegen::CodegenError::Isl(pollyrs_isl::Error::Quota).into());
        }
    }
    if let (Some(residency), Some(slot)) = (residency, slot) {
        codegen::emit_releases(clone, slot, &residency.releases, borrowing);
        for lend in &residency.lends {
            lend_residency(with, slot, lend)?;
        }
    }
    session.invalidate(clone)?;
    // What stays on the host beside these says so as well.
    if !compiled.is_empty() {
        let name = CString::new(format!("{name} (other version)"))
            .map_err(|e| PluginError::Internal(e.to_string()))?;
        session.record_kept(clone, &name, KEPT);
    }
    session.weaken_attributes(clone);
    crate::prepare::restore(session, clone)?;
    Phase::Verification.time(|| session.verify_function(clone)).map_err(PluginError::Internal)?;
    Ok(())
}

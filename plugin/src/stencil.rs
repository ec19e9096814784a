//! Fused time steps for the SCoPs that are stencils; the others, and all where anything goes wrong, keep the mapping's kernels.

use crate::options::Options;
use pollyrs_codegen_ptx as codegen;
use pollyrs_schedule::stencil;
use pollyrs_schedule::{Dependences, MappedScop};
use pollyrs_scop::Scop;

/// Adds fused kernels to `kernels` if the SCoP is a stencil and its plan is proved.
pub fn fuse(
    scop: &Scop,
    deps: &Dependences,
    mapped: &MappedScop,
    kernels: &mut codegen::KernelModule,
    options: &Options,
) {
    match try_fuse(scop, deps, mapped, kernels, options) {
        Ok(what) if options.verbose => eprintln!("pollyrs: {}: {what}", scop.name),
        Err(why) if options.verbose => eprintln!("pollyrs: {}: steps are not fused: {why}", scop.name),
        _ => {}
    }
}

fn try_fuse(
    scop: &Scop,
    deps: &Dependences,
    mapped: &MappedScop,
    kernels: &mut codegen::KernelModule,
    options: &Options,
) -> Result<String, String> {
    let found = stencil::recognise(scop, deps).map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
    if !stencil::check::time_on_host(mapped).map_err(|e| e.to_string())? {
        return Err("the time loop does not run on the host".into());
    }
    let fuse = options.fuse_steps.map(i64::from);
    let plan = stencil::plan(scop, &found, fuse).map_err(|e| e.to_string())?;
    if let Some(v) = stencil::check(&plan).map_err(|e| e.to_string())?.first() {
        return Err(format!("internal error: the proof failed: {v}"));
    }
    codegen::fuse(kernels, scop, mapped, &plan).map_err(|e| e.to_string())?;
    let steps = plan.config.fuse as usize / plan.stencil.period as usize * plan.stencil.steps.len();
    Ok(format!("{steps} steps fused, {} time iterations a launch", plan.config.fuse))
}

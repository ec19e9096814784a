//! Fused time steps for the SCoPs that are stencils; the others, and all where anything goes wrong, keep the mapping's kernels.

use crate::options::Options;
use pollyrs_codegen_ptx as codegen;
use pollyrs_schedule::stencil::{self, Wish};
use pollyrs_schedule::{Dependences, MappedScop};
use pollyrs_scop::Scop;

/// Adds fused kernels to `kernels` if the SCoP is a stencil and its plans are proved; the result says what was done, or why nothing
/// was.
pub fn fuse(
    scop: &Scop,
    deps: &Dependences,
    mapped: &MappedScop,
    kernels: &mut codegen::KernelModule,
    options: &Options,
) -> Result<String, String> {
    let result = try_fuse(scop, deps, mapped, kernels, options);
    if options.verbose {
        match &result {
            Ok(what) => eprintln!("pollyrs: {}: {what}", scop.name),
            Err(why) => eprintln!("pollyrs: {}: steps are not fused: {why}", scop.name),
        }
    }
    result
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
    let shape = match options.stencil_shape.as_slice() {
        [ty, tx, cy, cx, l] => Some(([*ty, *tx], [*cy, *cx], *l == 2, if *l == 4 { 4 } else { 1 })),
        _ => None,
    };
    let wish = Wish { fuse: options.fuse_steps.map(i64::from), shape };
    let plans = stencil::plans(scop, &found, &wish, &codegen::work(scop)).map_err(|e| e.to_string())?;
    for plan in &plans {
        let violations = stencil::check(plan).map_err(|e| e.to_string())?;
        if let Some(v) = violations.first().filter(|_| !pollyrs_schedule::planted::unproved()) {
            return Err(format!("the proof failed: {v}"));
        }
    }
    codegen::fuse(kernels, scop, mapped, &plans).map_err(|e| e.to_string())?;
    let depths: Vec<String> = plans.iter().map(|p| p.config.fuse.to_string()).collect();
    let first = &plans[0];
    let [ty, tx] = first.config.threads;
    let [cy, cx] = first.config.cells;
    Ok(format!(
        "{} time iterations a launch; blocks of {ty} x {tx} threads, {cy} x {cx} columns each{}; {} registers, {} blocks a multiprocessor",
        depths.join(" or "),
        if first.config.apart { ", steps apart" } else { "" },
        first.model.registers,
        first.model.resident,
    ))
}

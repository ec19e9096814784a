//! Fused time steps for the SCoPs that are stencils; the others keep the mapping's kernels. A plan whose
//! proof fails is an internal error.

use crate::base::options::{Options, Strategy};
use crate::compiled::{Failure, Steps};
use pollyrs_codegen_ptx as codegen;
use pollyrs_schedule::stencil::{self, NotStencil, Stencil, Wish};
use pollyrs_schedule::{Dependences, MappedScop};
use pollyrs_scop::{ArrayKind, Scop};
use pollyrs_tuning::StencilShape;
use tracing::info;

/// Adds fused kernels to `kernels` if the SCoP is a stencil and its plans are proved; the result says what
/// was done.
pub fn fuse(
    scop: &Scop,
    deps: &Dependences,
    mapped: &MappedScop,
    kernels: &mut codegen::KernelModule,
    options: &Options,
) -> Result<Steps, Failure> {
    let result = try_fuse(scop, deps, mapped, kernels, options);
    match &result {
        Ok(steps) => info!("{}", steps.what),
        Err(why) => info!("steps are not fused: {why}"),
    }
    result
}

/// The stencil that a SCoP is, as it stands or with loops over colours unfolded: then the statements of the
/// latter are the stencil's. `steps`: the mapping has launches for each step, without which unfolding, which
/// takes long, is of no use.
fn recognised(scop: &Scop, deps: &Dependences, steps: bool) -> Result<(Option<Scop>, Stencil), Failure> {
    let why = match stencil::recognise(scop, deps) {
        Ok(found) => return Ok((None, found)),
        Err(refusal) => refusal.form()?,
    };
    if steps
        && matches!(why, NotStencil::Shape | NotStencil::Domain | NotStencil::Access)
        && let Some((unfolded, deps)) = stencil::unfold(scop, deps)?
    {
        let found = stencil::recognise(&unfolded, &deps)?;
        return Ok((Some(unfolded), found));
    }
    if matches!(why, NotStencil::Scalars) {
        return Err(Failure::Reason(in_a_scalar(scop)));
    }
    Err(why.into())
}

/// Names in the message about values that are no elements of arrays.
const MAX_NAMES: usize = 3;

/// "a value crosses statements in a scalar: s"
fn in_a_scalar(scop: &Scop) -> String {
    let mut names: Vec<&str> = Vec::new();
    for a in scop.arrays.iter().filter(|a| matches!(a.kind, ArrayKind::Scalar { .. } | ArrayKind::Phi { .. }))
    {
        if !names.contains(&a.display.as_str()) {
            names.push(&a.display);
        }
    }
    match names.len() {
        1..=MAX_NAMES => format!("{}: {}", NotStencil::Scalars, names.join(", ")),
        _ => NotStencil::Scalars.to_string(),
    }
}

/// Whether a SCoP is a stencil.
pub fn is_one(scop: &Scop, deps: &Dependences) -> bool {
    recognised(scop, deps, true).is_ok()
}

fn try_fuse(
    scop: &Scop,
    deps: &Dependences,
    mapped: &MappedScop,
    kernels: &mut codegen::KernelModule,
    options: &Options,
) -> Result<Steps, Failure> {
    let steps = stencil::check::time_on_host(mapped)?;
    let (unfolded, found) = recognised(scop, deps, steps)?;
    let statements = unfolded.as_ref().unwrap_or(scop);
    if !steps {
        return Err(Failure::Reason("the time loop does not run on the host".into()));
    }
    let shape = match options.stencil_shape.as_slice() {
        [ty, tx, cy, cx, l] => Some(([*ty, *tx], [*cy, *cx], *l == 2, if *l == 4 { 4 } else { 1 })),
        _ => None,
    };
    let wish = Wish { fuse: options.fuse_steps.map(i64::from), shape };
    let work = codegen::work(statements);
    let plans = stencil::plans(statements, &found, &wish, &work)?;
    let wished = wish.fuse.is_some() || wish.shape.is_some() || options.strategy == Strategy::Streaming;
    if !wished && stencil::better_alone(statements, &plans[0], &work) {
        return Err(Failure::Reason("a launch for each step is faster".into()));
    }
    for plan in &plans {
        let violations = stencil::check(plan)?;
        if let Some(v) = violations.first().filter(|_| !pollyrs_schedule::planted::unproved()) {
            return Err(Failure::Unproved(v.to_string()));
        }
    }
    codegen::fuse(kernels, statements, mapped, &plans)?;
    let depths: Vec<String> =
        plans.iter().filter(|p| !p.config.complete).map(|p| p.config.fuse.to_string()).collect();
    let first = &plans[0];
    let [ty, tx] = first.config.threads;
    let [cy, cx] = first.config.cells;
    let what = format!(
        "{} time iterations a launch; blocks of {ty} x {tx} threads, {cy} x {cx} columns each{}; {} registers, {} blocks a multiprocessor",
        depths.join(" or "),
        if first.config.apart { ", steps apart" } else { "" },
        first.model.registers,
        first.model.resident,
    );
    let shape = StencilShape {
        dims: found.dims,
        fuse: first.config.fuse,
        period: found.period,
        threads: first.config.threads,
        columns: first.config.cells,
        variant: match (first.config.apart, first.config.rows) {
            (true, _) => 2,
            (false, 4) => 4,
            _ => 1,
        },
    };
    Ok(Steps { what, shape: Some(shape) })
}

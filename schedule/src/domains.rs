//! Domains of kernels, of whatever mapping.

use crate::Result;
use crate::mapped::{MappedKernel, Mode, Steps};
use pollyrs_isl as isl;
use pollyrs_scop::Scop;

/// The kernel with its parameters in the order of `MappedKernel`'s documentation: `[params, _h*, _b*, _t*]`.
pub(crate) fn aligned(scop: &Scop, k: MappedKernel) -> Result<MappedKernel> {
    let host = scop.params.iter().map(|p| &p.name).chain(&k.host_params);
    let launch = isl::Space::params_named(&scop.ctx, host.clone().map(|s| s.as_str()))?;
    let all = host.chain(k.grid.iter().map(|g| &g.param)).chain(k.block.iter().map(|b| &b.param));
    let thread = isl::Space::params_named(&scop.ctx, all.map(|s| s.as_str()))?;
    let mut grid = k.grid;
    for g in &mut grid {
        g.lower = g.lower.clone().align_params(launch.clone())?;
        g.count = g.count.clone().align_params(launch.clone())?;
    }
    Ok(MappedKernel {
        name: k.name,
        host_params: k.host_params,
        domain: k.domain.align_params(launch.clone())?,
        grid,
        block: k.block,
        tile_map: k.tile_map.align_params(launch.clone())?,
        thread_map: k.thread_map.align_params(launch.clone())?,
        schedule: k.schedule.align_params(thread.clone())?,
        context: k.context.align_params(thread)?,
        mode: match k.mode {
            Mode::Steps(s) => Mode::Steps(Steps { order: s.order.align_params(launch)?, of: s.of }),
            other => other,
        },
        promotions: k.promotions,
        hoistable: k.hoistable,
    })
}

/// One polyhedron around a context: what it says less makes guards, never wrong code.
pub(crate) fn simple(context: isl::Set) -> Result<isl::Set> {
    let context = context.remove_divs()?.coalesce()?;
    if context.n_basic_set()? <= 1 {
        return Ok(context);
    }
    Ok(isl::Set::from_basic_set(context.simple_hull()?)?)
}

//! Time tiles for the SCoPs whose time loop can be tiled: mapped, and proved before anything is made of them.

use crate::base::options::Options;
use crate::base::timing::Phase;
use crate::base::trace::answer;
use crate::compiled::Failure;
use pollyrs_codegen_ptx as codegen;
use pollyrs_schedule as schedule;
use pollyrs_scop::Scop;
use tracing::info;

/// The largest budget that proofs of windows get: beyond it they rarely end, and there is a mapping without.
const WINDOWS_BUDGET: u64 = 10_000_000;

/// Instructions of the largest statement up to which hexagons are 12 steps high, not 8: the code of a full
/// stage, all of whose steps are unrolled, has to be fetched for every stage. On an H200 with 5x6x256 and
/// 3x8x256 heat2d (9 loads and 17 operations a point) had 367 and 423 GStencil/s, laplacian2d (5 and 7) is
/// faster with the first.
const SHORT: usize = 16;

/// The sizes of hexagons and parallelograms for statements in two dimensions. The first two are 24 points
/// wide. With divisions or roots a step's points are emitted twice, and two blocks on a multiprocessor hide
/// latency: 1x4 is 12 points wide and has 4 steps (gradient2d, by sizes of hexagons with 1 x 256 threads: 1x4
/// 320 GStencil/s, 3x3 264, 3x8 222, 5x6 200; with 2 x 256 threads 220, 258, 227, 190).
fn hexagons(scop: &Scop, spread: bool) -> Vec<i64> {
    let long = scop.statements.iter().any(|s| s.body.len() > SHORT);
    if spread {
        vec![3, 8, schedule::time_tiling::SPREAD_ROW]
    } else if codegen::divides(scop) {
        vec![1, 4, schedule::time_tiling::ROW_2D]
    } else if long {
        vec![3, 8, schedule::time_tiling::ROW_2D]
    } else {
        vec![5, 6, schedule::time_tiling::ROW_2D]
    }
}

/// The SCoP mapped by time tiles and proved, or why it gets the ordinary mapping.
pub fn tile_time(
    options: &Options,
    scop: &Scop,
    deps: &schedule::Dependences,
    tiling: schedule::time_tiling::TimeTiling,
    budget: u64,
    windows: bool,
) -> Result<schedule::MappedScop, Failure> {
    let mut sizes: Vec<i64> = options.tile.iter().map(|s| i64::from(*s)).collect();
    // Few threads don't hide the latency of a function's branches.
    let spread = options.techniques.map_or_else(|| codegen::takes_long(scop), |t| t.spread);
    if sizes.is_empty() && tiling == schedule::time_tiling::TimeTiling::Hybrid {
        let dims = scop.statements.iter().map(|s| s.domain.dim(pollyrs_isl::DimType::Set));
        if dims.collect::<Result<Vec<_>, _>>()?.into_iter().max() == Some(3) {
            sizes = hexagons(scop, spread);
        }
    }
    if options.show_tiles
        && let Ok(band) = schedule::time_tiling::recognise(scop, deps)
    {
        let points = schedule::time_tiling::picture::picture(&scop.ctx, tiling, &band, &sizes);
        answer(format_args!("pollyrs-tiles {}", scop.name));
        for p in points? {
            answer(format_args!("pollyrs-tile {p}"));
        }
    }
    let proved = |wish: schedule::time_tiling::Techniques| {
        let map = || schedule::time_tiling::map(scop, deps, tiling, &sizes, wish, budget);
        let mapped = Phase::Mapping.time(map)?;
        let check_budget = if wish.windows { 4 * budget.min(WINDOWS_BUDGET) } else { 4 * budget };
        let check = || schedule::legality::check_within(scop, deps, &mapped, check_budget);
        let violations = Phase::Check.time(check)?;
        match violations.first().filter(|_| !schedule::planted::unproved()) {
            Some(v) => Err(Failure::Unproved(v.to_string())),
            None => Ok(mapped),
        }
    };
    // Measured in three dimensions: small tiles bring more than they pass on (bench/notes/015-time-tiles.md).
    let mut wish = options.techniques.unwrap_or_default();
    for s in &scop.statements {
        let dims = s.domain.dim(pollyrs_isl::DimType::Set)?;
        wish.windows &= dims <= 3 || options.techniques.is_some();
    }
    wish.windows &= windows;
    wish.spread = spread;
    // What is in shared memory makes proofs longer; without it they may fit the budget.
    proved(wish).or_else(|why| {
        if !wish.windows || matches!(why, Failure::Unproved(_)) {
            return Err(why);
        }
        info!("values of time tiles stay in global memory: {why}");
        proved(schedule::time_tiling::Techniques { windows: false, ..wish }).map_err(|_| why)
    })
}

//! Few results, each a long sum: products of tall matrices with themselves (`AᵀA`), tensors times factors.
//!
//! A sum keeps its order, so that a thread runs it, and it takes as long as its additions wait for each
//! other. With few points nothing else can be gained but that no addition waits for memory: a block has one
//! small tile, a point a thread, and most of its threads only help to bring strips of the operands to shared
//! memory, a strip ahead of the one that is computed. So many small blocks use as many multiprocessors as
//! there are tiles.
//!
//! # Example
//! `C[i][j] += A[k][i] * A[k][j]` with 32 × 32 results and a million iterations: 32 blocks of 256 threads,
//! one warp of which adds up; a strip has 256 rows of 4 elements and of 8.

use super::super::launch::values;
use super::super::site::Site;
use super::super::tile::{Shape, Tile};
use super::affine::{functions, linear};
use super::region::leaves;
use crate::Result;
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, Scop};

/// Points of a tile along each of both members.
/// (One warp: two on a multiprocessor read
/// shared memory as fast as it gives.)
const POINTS: [Shape; 2] = [
    Shape { threads: 4, lanes: 4, points: 1, vector: 1 },
    Shape { threads: 8, lanes: 8, points: 1, vector: 1 },
];
/// Threads of a block, and blocks of a multiprocessor.
const THREADS: u32 = 256;
const RESIDENTS: u32 = 4;
/// Bytes of the operands of a strip.
const STRIP_BYTES: u32 = 16 * 1024;
/// With padding.
const SHARED_BYTES: u32 = 24 * 1024;
/// Strips that the loop must have, where it is the only one, and where others are around it; beside so many
/// iterations for each two of the points along both members together, which are few therefore: larger tiles
/// need many along both. (One condition: with a second one all sets of a product would have more cases.)
const LEAST_STRIPS: [i64; 2] = [4, 1];
const ITERATIONS: [i64; 2] = [8, 1];

/// The tile, and the condition `[params, _h*] -> { : ... }` under which it pays.
pub(super) fn shape(
    scop: &Scop,
    site: &Site,
    other: &Tile,
    bounds: &[(isl::PwAff, isl::PwAff)],
) -> Result<Option<(Tile, isl::Set)>> {
    let reuses = other.stream.is_none() && !other.unrolled && !other.wide;
    if !reuses || site.members.len() != 2 || !site.host.is_empty() {
        return Ok(None);
    }
    let Some((member, depth, bytes)) = longest(scop, site)? else { return Ok(None) };
    let strip = 1_u32 << (STRIP_BYTES / bytes.max(1)).max(1).ilog2();
    let strip = if depth > 1 { strip / 2 } else { strip };
    let val = |v: i64| isl::Val::int(&scop.ctx, v);
    let run = values(&site.domain, &member)?;
    let (first, last) = (run.clone().dim_min(0)?.coalesce()?, run.dim_max(0)?.coalesce()?);
    let least = LEAST_STRIPS[usize::from(depth > 1)] * i64::from(strip);
    let mut points = isl::PwAff::read(&scop.ctx, "{ [(0)] }")?;
    for (min, max) in bounds {
        points = points.add(max.clone().sub(min.clone())?.add_constant(val(1)?)?)?.coalesce()?;
    }
    let needed = points.scale(val(ITERATIONS[usize::from(depth > 1)])?)?.add_constant(val(2 * least)?)?;
    let run = last.sub(first)?.add_constant(val(1)?)?.scale(val(2)?)?;
    let long = needed.le_set(run)?.coalesce()?;
    let tile = Tile {
        dims: POINTS.to_vec(),
        strip,
        stages: 0,
        shared: SHARED_BYTES,
        residents: RESIDENTS,
        products: false,
        weight: 1,
        helpers: THREADS / POINTS.iter().map(|s| s.threads).product::<u32>(),
        ..other.clone()
    };
    Ok(Some((tile, long)))
}

/// The innermost loop whose operands take most bytes an iteration, the number of loops it is in, itself among
/// them, and the bytes for all points of a tile.
fn longest(scop: &Scop, site: &Site) -> Result<Option<(isl::UnionPwAff, usize, u32)>> {
    let mut found = Vec::new();
    leaves(&site.inner, &site.domain, &mut vec![], &mut found)?;
    let mut best: Option<(isl::UnionPwAff, usize, u32)> = None;
    for leaf in &found {
        let Some(member) = leaf.path.last() else { continue };
        let mut bytes = 0;
        for set in leaf.domain.sets()? {
            let Some((_, s)) = scop.statement_named(&set.tuple_name()?.unwrap_or_default()) else {
                return Ok(None);
            };
            let at: Vec<_> = site.members.iter().chain(&leaf.path).cloned().collect();
            let Some(time) = functions(&at, &set)? else { continue };
            for a in s.accesses.iter().filter(|a| a.kind == AccessKind::Read) {
                let array = scop.array(a.array);
                if !array.is_memory() || array.dims() == 0 {
                    continue;
                }
                let Some(rows) = linear(&time, &a.relation)? else { continue };
                let moves = |i: usize| rows.iter().any(|r| r.inputs[i] != 0);
                if moves(at.len() - 1) {
                    let points = POINTS.iter().enumerate().filter(|(m, _)| moves(*m));
                    bytes += array.elem.bytes() * points.map(|(_, s)| s.threads).product::<u32>();
                }
            }
        }
        if bytes > 0 && best.as_ref().is_none_or(|b| bytes > b.2) {
            best = Some((member.clone(), leaf.path.len(), bytes));
        }
    }
    Ok(best)
}

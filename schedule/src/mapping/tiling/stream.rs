//! Kernels with few points that each run through many operands: rows and columns of matrix-vector products.
//!
//! A sum keeps its order, so one thread runs it, and a few thousand threads cannot keep enough loads in
//! flight; along a row neighbouring threads do not even read neighbouring elements. Here a warp computes 32
//! points, and the block's other warps only help to bring the strips of the operands to shared memory, in
//! wide, coalesced loads, a strip ahead of the one that is computed.
//!
//! Where there are fewer blocks than multiprocessors, half as many points make a block, and a strip has twice
//! as many of their elements: as much is on its way for each block, and there are more. (On an H200,
//! milliseconds of `mvt` at 2000 and 4000, doubles: 0.096 and 0.151 with 32 points, 0.046 and 0.097 with 16,
//! 0.062 and 0.181 with 8; at 8000, where there are two blocks of 32 for each multiprocessor, 0.294, 0.348
//! and 0.552.)
//!
//! # Example
//! `y[i] += A[i][j] * x[j]` at n = 8000: 250 blocks of 256 threads; a strip is 32 × 128 elements of A, 16
//! KiB, twice in shared memory.

use super::super::launch::values;
use super::super::site::Site;
use super::super::tile::{Shape, Tile};
use super::affine::{Row, functions, linear};
use super::region::{is_constant, leaves, written};
use crate::Result;
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId, Scop};
use std::collections::BTreeMap;

/// Points of a block: a warp computes.
const POINTS: u32 = 32;
/// Threads of a block, most of them helpers, and blocks of a multiprocessor: four of 256 have as many strips
/// on their way as two of 512 have threads for, and four warps that compute. (On an H100, 16384 rows of 1024
/// floats: 0.028 and 0.049 ms of a count, 0.034 and 0.054 of the place of the largest, 0.079 and 0.134 of
/// sums of exponentials.)
pub(super) const THREADS: u32 = 256;
pub(super) const RESIDENTS: u32 = 4;
/// The same where half a warp computes: few blocks, each of which needs all threads. (Weighted sums of 65536
/// rows, 256 columns: 1.49 ms, with the former 2.79.)
const THREADS_OF_FEW: u32 = 512;
const RESIDENTS_OF_FEW: u32 = 2;
/// Bytes of the elements of a strip in all streams: what a set of buffers has room for, without padding and
/// vectors.
pub(super) const STRIP_BYTES: u32 = 16 * 1024;
/// With padding and vectors: half of what every device has for a block.
pub(super) const SHARED_BYTES: u32 = 24 * 1024;
/// More points have enough threads of their own.
const MOST_POINTS: i64 = 1 << 17;
/// Strips that a loop must have.
const LEAST_STRIPS: i64 = 2;

/// An array and its subscripts.
type Read = (ArrayId, Vec<Row>);

/// The tile of a kernel with streams: reads whose elements are different ones for each point and each
/// iteration of a loop. Where several members are parallel, neighbouring threads have to be rows apart, and
/// neighbouring iterations next to each other: sums along the last dimension.
pub(super) fn shape(scop: &Scop, site: &Site) -> Result<Option<Tile>> {
    let Some(last) = site.members.len().checked_sub(1) else { return Ok(None) };
    let mut found = Vec::new();
    leaves(&site.inner, &site.domain, &mut vec![], &mut found)?;
    let written = written(scop, &site.domain)?;
    // All statements beneath a loop share its buffers.
    let mut streams: BTreeMap<String, (isl::UnionPwAff, Vec<Read>)> = BTreeMap::new();
    for leaf in &found {
        let Some((member, around)) = leaf.path.split_last() else { continue };
        let (mut reads, mut apart) = (Vec::new(), last == 0);
        for set in leaf.domain.sets()? {
            let name = set.tuple_name()?.unwrap_or_default();
            let Some((_, s)) = scop.statement_named(&name) else { return Ok(None) };
            let at: Vec<_> = site.members.iter().chain(around).chain([member]).cloned().collect();
            let Some(time) = functions(&at, &set)? else { continue };
            for a in s.accesses.iter().filter(|a| a.kind == AccessKind::Read) {
                let array = scop.array(a.array);
                if array.dims() < 2 || !(array.is_memory() || is_constant(scop, a.array, &written)) {
                    continue;
                }
                let Some(rows) = linear(&time, &a.relation)? else { continue };
                let moves = |i: usize| rows.iter().any(|r| r.inputs[i] != 0);
                let (fast, time) = (rows.len() - 1, at.len() - 1);
                // Strips of other reads, as of a diagonal, are no boxes.
                let strip = rows.iter().filter(|r| r.inputs[time] != 0).count() == 1;
                if moves(last) && strip {
                    apart |= rows[fast].inputs[last] == 0 && rows[fast].inputs[time] != 0;
                    reads.push((a.array, rows));
                }
            }
        }
        if !reads.is_empty() && apart {
            let (_, all) = streams.entry(member.to_string()).or_insert((member.clone(), Vec::new()));
            // What several statements read goes through one buffer.
            for r in reads {
                if !all.contains(&r) {
                    all.push(r);
                }
            }
        }
    }
    let bytes = |s: &(_, Vec<Read>)| s.1.iter().map(|r| scop.array(r.0).elem.bytes()).sum::<u32>();
    let Some(widest) = streams.into_values().max_by_key(bytes) else { return Ok(None) };
    let bytes = bytes(&widest);
    let tile = Tile {
        dims: site
            .members
            .iter()
            .enumerate()
            .map(|(d, _)| if d == last { row(POINTS) } else { Shape::ONE })
            .collect(),
        strip: strip(POINTS, bytes),
        stages: 0,
        shared: SHARED_BYTES,
        residents: RESIDENTS,
        products: false,
        weight: 1,
        helpers: THREADS / POINTS,
        repeats: true,
        stream: Some(widest.0),
        unrolled: false,
        slides: None,
        wide: false,
    };
    Ok(Some(tile))
}

/// Points of a block side by side.
fn row(points: u32) -> Shape {
    Shape { threads: points, lanes: points, points: 1, vector: 1 }
}

/// Iterations of a strip with so many points whose streams have elements of so many bytes together.
fn strip(points: u32, bytes: u32) -> u32 {
    1 << (STRIP_BYTES / points / bytes).max(1).ilog2()
}

/// The tile for launches that have no block of `tile` for each multiprocessor, and the condition
/// `[params, _h*] -> { : ... }` on their points: half a warp computes, and strips are twice as long.
pub(super) fn few(
    tile: &Tile,
    bounds: &[(isl::PwAff, isl::PwAff)],
    multiprocessors: u32,
) -> Result<Option<(Tile, isl::Set)>> {
    let ([(min, max)], [Shape { threads: POINTS, .. }]) = (bounds, tile.dims.as_slice()) else {
        return Ok(None);
    };
    let most = isl::Val::int(min.context(), i64::from(multiprocessors * POINTS) - 1)?;
    let few = min.clone().add_constant(most)?.ge_set(max.clone())?;
    let half = Tile {
        dims: vec![row(POINTS / 2)],
        strip: 2 * tile.strip,
        helpers: THREADS_OF_FEW / (POINTS / 2),
        residents: RESIDENTS_OF_FEW,
        ..tile.clone()
    };
    Ok(Some((half, few)))
}

/// Where it pays: long loops, and few points or whole blocks of points with rows.
pub(super) fn pays(
    scop: &Scop,
    member: &isl::UnionPwAff,
    domain: &isl::UnionSet,
    tile: &Tile,
    bounds: &[(isl::PwAff, isl::PwAff)],
) -> Result<isl::Set> {
    let val = |v: i64| isl::Val::int(&scop.ctx, v);
    let run = values(domain, member)?;
    let (first, last) = (run.clone().dim_min(0)?.coalesce()?, run.dim_max(0)?.coalesce()?);
    let mut out = first.add_constant(val(LEAST_STRIPS * i64::from(tile.strip) - 1)?)?.le_set(last)?;
    match bounds {
        [(min, max)] => {
            out = out.intersect(min.clone().add_constant(val(MOST_POINTS)?)?.ge_set(max.clone())?)?
        }
        [.., (min, max)] => {
            out =
                out.intersect(min.clone().add_constant(val(i64::from(POINTS) - 1)?)?.le_set(max.clone())?)?;
        }
        [] => {}
    }
    Ok(out)
}

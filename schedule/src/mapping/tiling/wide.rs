//! Kernels that wait for memory: a thread takes several points along the lanes of its warp, as many as keep enough bytes on their way.
//!
//! A multiprocessor needs some 16 bytes on their way a thread to use all of the memory's rate (Little's law: rate times latency, over all threads that it
//! holds). Points of less take several of them a thread, a warp apart from each other, so that each access of a warp stays one piece of memory. Threads all of
//! whose points exist run code without conditions, where loads of all points come first.
//!
//! # Example
//! `a[i] = b[i] ^ 255` over bytes: 16 points a thread, a block of 256 threads has 4096, thread `t` those at `t`, `t + 256`, ….

use super::super::{MapOptions, Site};
use super::region::leaves;
use super::shape::{MAX_BULK, Shape, Tile};
use crate::Result;
use crate::strategy::{Model, movements};
use pollyrs_scop::{AccessKind, ArrayId, Scop};
use std::collections::BTreeMap;

/// Bytes that a thread has on their way.
const BYTES: u32 = 16;
/// Points of a thread at most: registers and code.
const MAX_POINTS: u32 = 16;
/// Loads of a thread at most, of all of its points.
const MAX_LOADS: u32 = 64;
/// Threads of a block along the last two members, where there are two.
const THREADS: [u32; 2] = [8, 32];
/// Blocks of 256 threads on a multiprocessor: half of its threads and 64 registers each.
const RESIDENTS: u32 = 4;

/// The tile of one launch, if its points wait for memory and move few bytes each.
pub(super) fn shape(scop: &Scop, options: &MapOptions, site: &Site) -> Result<Option<Tile>> {
    let n = site.members.len();
    let default = MapOptions::default();
    if n == 0 || site.inner.depth() > 0 || options.threads != default.threads || options.points != default.points {
        return Ok(None);
    }
    let Some((bytes, loads)) = moved(scop, options, site)? else { return Ok(None) };
    let mut points = 1;
    while points < MAX_POINTS && points * bytes < BYTES && 2 * points * loads <= MAX_LOADS {
        points *= 2;
    }
    if points == 1 {
        return Ok(None);
    }
    let mut dims = vec![Shape::ONE; n];
    let last = if n == 1 { THREADS.iter().product() } else { THREADS[1] };
    dims[n - 1] = Shape { threads: last, lanes: 32, points, vector: 1 };
    if n > 1 {
        dims[n - 2] = Shape { threads: THREADS[0], ..Shape::ONE };
    }
    Ok(Some(Tile {
        dims,
        strip: 0,
        stages: 0,
        shared: 0,
        residents: RESIDENTS,
        products: false,
        weight: 1,
        helpers: 1,
        repeats: options.divides,
        stream: None,
        unrolled: true,
    }))
}

/// Bytes that a point reads, each array once, and its loads; `None` if lanes don't move along memory, or arithmetic takes the time.
fn moved(scop: &Scop, options: &MapOptions, site: &Site) -> Result<Option<(u32, u32)>> {
    let mut found = Vec::new();
    leaves(&site.inner, &site.domain, &mut vec![], &mut found)?;
    let (mut read, mut loads, mut bulk) = (BTreeMap::<ArrayId, u32>::new(), 0, 0);
    for leaf in &found {
        for set in leaf.domain.sets()? {
            if set.is_empty()? {
                continue;
            }
            let Some((id, s)) = scop.statement_named(&set.tuple_name()?.unwrap_or_default()) else {
                return Ok(None);
            };
            // The points of a thread advance together.
            if !s.is_plain() {
                return Ok(None);
            }
            bulk += options.bulk.get(id.0).map_or(0, |b| *b as usize);
            for a in s.accesses.iter().filter(|a| a.kind == AccessKind::Read) {
                let array = scop.array(a.array);
                if array.is_memory() && array.dims() > 0 {
                    read.insert(a.array, array.elem.bytes());
                    loads += 1;
                }
            }
        }
    }
    if loads == 0 || bulk * MAX_POINTS as usize > MAX_BULK {
        return Ok(None);
    }
    let (found, _) = movements(&Model::new(scop)?, &site.domain, &site.members)?;
    // Lanes touch neighbours, or all of them one element.
    let (mut dense, mut along) = (true, false);
    for access in &found {
        let Some(Some(step)) = access.steps.last() else { return Ok(None) };
        let Some((last, outer)) = step.split_last() else { continue };
        dense &= outer.iter().all(|d| *d == 0.0) && last.abs() <= 1.0;
        along |= *last != 0.0;
    }
    Ok((dense && along).then_some((read.values().sum(), loads)))
}

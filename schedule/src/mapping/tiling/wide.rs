//! Kernels that wait for memory: a thread takes several points, as many as keep enough bytes on their way.
//!
//! A multiprocessor needs some 16 bytes on their way a thread to use all of the memory's rate (Little's law:
//! rate times latency, over all threads that it holds). Points of less take several of them a thread, so far
//! from each other that each access of a warp stays one piece of memory: along the lanes a block's width
//! apart, along rows a block's height. Threads all of whose points exist run code without conditions, where
//! loads of all points come first.
//!
//! Where what is written lies along one member and what is read along another one (transpositions), lanes lie
//! along both, and a thread's points are consecutive where it writes: reads use whole sectors of 32 bytes,
//! writes are vectors of 16.
//!
//! Points that move nothing but bytes and halves are consecutive, too, so that a thread's accesses are a few
//! wide ones ([`vectors`]; `codegen-ptx/src/tiled/words.rs`): in rows, where these begin at multiples of a
//! word. So are those of a line that read a window of it.
//!
//! # Example
//! `a[i] = b[i] * s` over floats: 4 points a thread, a block of 256 threads has 1024, thread `t` those at
//! `t`, `t + 256`, …. `a[i] = b[i] ^ 255` over bytes: 16 points a thread, from `4 t` on and every 1024.
//! `a[j][i] = b[i][j]` over floats: 8 lanes along `j`, 4 along `i`, four consecutive `i` a thread.

use super::super::options::MapOptions;
use super::super::site::Site;
use super::super::tile::{Shape, Tile};
use super::affine::{functions, linear};
use super::neighbours::reads;
use super::normal::shifted;
use super::shape::MAX_BULK;
use crate::Result;
use crate::strategy::{Model, Movement, movements};
use pollyrs_isl as isl;
use pollyrs_scop::{Access as PlainAccess, AccessKind, ArrayId, Scop, Statement};
use std::collections::BTreeMap;

/// Bytes that a thread has on their way.
const BYTES: u32 = 16;
/// Points of a thread at most (registers and code), and along the lanes where rows may be short.
const MAX_POINTS: u32 = 16;
const MAX_ALONG: u32 = 4;
/// Loads of a thread at most, of all of its points.
const MAX_LOADS: usize = 64;
/// Bytes of narrow elements, and consecutive points of a thread that move such. (Sixteen in a line take 0.144
/// ms in place of 0.150 for 256 MB that are aligned, and 1.23 in place of 0.22 for such that are not: single
/// bytes are stored sixteen bytes apart then.)
const NARROW: u32 = 2;
const WORD: u32 = 4;
/// Loads of a thread with such points at most: of those beside each other, four are one.
const MAX_NARROW_LOADS: usize = 4 * MAX_LOADS;
/// Loads of a point that shares them with its neighbours along a line, at least, for consecutive points: by
/// count, what lanes four elements apart read of their windows takes as long as what neighbours read where
/// there are three.
const LEAST_OF_WINDOWS: usize = 5;
/// Elements from lane to lane at most.
const MAX_STEP: f64 = 4.0;
/// Threads of a block along the last two members, where there are two.
const THREADS: [u32; 2] = [8, 32];
const WARP: u32 = 32;
/// Bytes that memory moves at least.
const SECTOR: u32 = 32;
/// Values of the last three members that [`planes`] need, in tiles: so that at most a third of the code with
/// conditions runs, and lanes with points are the most.
const LEAST_OF_PLANES: [[u32; 2]; 3] = [[2, 1], [1, 1], [3, 4]];
/// Blocks of 256 threads on a multiprocessor: half of its threads and 64 registers each.
const RESIDENTS: u32 = 4;

/// What the points of a launch move.
struct Moved {
    /// Bytes that a point reads, each array once, and those left out that some other points read as well.
    bytes: u32,
    loads: usize,
    /// Whether neighbours along a member read the same elements.
    shared: Vec<bool>,
    accesses: Vec<Access>,
}

/// How an access moves, from point to point along each member.
struct Access {
    array: ArrayId,
    bytes: u32,
    writes: bool,
    steps: Vec<Step>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Not at all.
    Same,
    /// To an element nearby, so many elements away.
    Near(u32),
    Far,
}

impl Step {
    fn is_near(self) -> bool {
        matches!(self, Step::Near(_))
    }
}

/// The tile of one launch, if its points wait for memory and move few bytes each.
pub(super) fn shape(scop: &Scop, options: &MapOptions, site: &Site) -> Result<Option<Tile>> {
    let default = MapOptions::default();
    if site.members.is_empty() || options.threads != default.threads || options.points != default.points {
        return Ok(None);
    }
    let Some(moved) = moved(scop, options, site)? else { return Ok(None) };
    let dims = along(&moved, site.members.len()).or_else(|| turned(&moved, site.members.len()));
    Ok(dims.map(|dims| Tile {
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
        slides: None,
        wide: true,
    }))
}

/// What a point moves; `None` if that is not known, or arithmetic takes the time.
fn moved(scop: &Scop, options: &MapOptions, site: &Site) -> Result<Option<Moved>> {
    let n = site.members.len();
    let (loads, bulk, shared) = match reads(scop, options, site, 0, None)? {
        Some((reads, _, bulk)) => {
            let shared = |m: usize| {
                reads.iter().any(|((_, inputs, _), at)| {
                    let moved =
                        |e: &Vec<i64>| e.iter().zip(inputs).map(|(e, c)| e + c[m]).collect::<Vec<_>>();
                    at.len() > 1 && at.iter().any(|e| at.contains(&moved(e)))
                })
            };
            (reads.values().map(|r| r.len()).sum(), bulk, (0..n).map(shared).collect())
        }
        None if site.inner.depth() == 0 => match counted(scop, options, site)? {
            Some((loads, bulk)) => (loads, bulk, vec![false; n]),
            None => return Ok(None),
        },
        None => return Ok(None),
    };
    if loads == 0 || bulk * MAX_POINTS as usize > MAX_BULK {
        return Ok(None);
    }
    let (found, _) = movements(&Model::new(scop)?, &site.domain, &site.members)?;
    let mut arrays = BTreeMap::new();
    let mut accesses = Vec::new();
    for a in &found {
        let steps: Vec<_> = (0..n).map(|m| step(scop, a, m)).collect::<Result<_>>()?;
        if !a.writes && !steps.contains(&Step::Same) {
            // What lies between two lanes' elements is read with them.
            let between = if let Some(Step::Near(n)) = steps.last() { *n } else { 1 };
            arrays.insert(a.array, a.bytes * between);
        }
        accesses.push(Access { array: a.array, bytes: a.bytes, writes: a.writes, steps });
    }
    Ok(Some(Moved { bytes: arrays.values().sum(), loads, shared, accesses }))
}

/// The loads of statements without loops, and the instructions of their divisions and functions. What is read
/// may be chosen by data: points outside of the box read what one in it does.
fn counted(scop: &Scop, options: &MapOptions, site: &Site) -> Result<Option<(usize, usize)>> {
    let (mut loads, mut bulk) = (0, 0);
    for set in site.domain.sets()? {
        let statement = scop.statement_named(&set.tuple_name()?.unwrap_or_default());
        let Some((id, s)) = statement.filter(|(_, s)| reads_what_data_chooses(s)) else { return Ok(None) };
        loads += s
            .accesses
            .iter()
            .filter(|a| a.kind == AccessKind::Read && scop.array(a.array).is_memory())
            .count();
        bulk += options.bulk.get(id.0).map_or(0, |b| *b as usize);
    }
    Ok(Some((loads, bulk)))
}

/// Whether each instance runs the same instructions, and writes an element known beforehand.
fn reads_what_data_chooses(s: &Statement) -> bool {
    let known = |a: &PlainAccess| a.within.is_none() || a.kind == AccessKind::Read;
    s.subregion.is_none() && s.updates.is_empty() && s.accesses.iter().all(known)
}

/// How an access moves along a member. Inner dimensions of constant size are part of a row.
fn step(scop: &Scop, access: &Movement, member: usize) -> Result<Step> {
    let Some(step) = &access.steps[member] else { return Ok(Step::Far) };
    let (mut apart, mut size) = (0.0, Some(1.0));
    for (moves, of) in step.iter().zip(&scop.array(access.array).sizes).rev() {
        match size {
            Some(size) => apart += moves * size,
            None if *moves == 0.0 => {}
            None => return Ok(Step::Far),
        }
        let constant = match of {
            Some(of) if of.is_cst()? => of.clone().max_value()?.to_i64(),
            _ => None,
        };
        size = size.zip(constant).map(|(size, n)| size * n as f64);
    }
    Ok(match f64::abs(apart) {
        0.0 => Step::Same,
        near if near <= MAX_STEP => Step::Near(near as u32),
        _ => Step::Far,
    })
}

/// Points of a thread beyond the first, by doubling, as long as there is room.
fn points(moved: &Moved, most: u32) -> u32 {
    let mut points = 1;
    while points < most && points * moved.bytes < BYTES && 2 * points as usize * moved.loads <= MAX_LOADS {
        points *= 2;
    }
    points
}

/// Lanes along the last member, which all accesses move along.
fn along(moved: &Moved, n: usize) -> Option<Vec<Shape>> {
    let steps: Vec<_> = moved.accesses.iter().map(|a| a.steps[n - 1]).collect();
    let points = points(moved, MAX_POINTS);
    if points == 1 || steps.contains(&Step::Far) || !steps.iter().any(|s| s.is_near()) {
        return None;
    }
    let mut dims = vec![Shape::ONE; n];
    if n == 1 {
        let windows = moved.shared[0] && moved.loads >= LEAST_OF_WINDOWS;
        let vector = match narrow(moved) {
            true => points.min(WORD),
            false if windows => points,
            false => 1,
        };
        dims[0] = Shape { threads: THREADS.iter().product(), lanes: WARP, points, vector };
        return Some(dims);
    }
    // Rows of three dimensions may be short; rows that share what they read are a thread's own.
    let lane = if n > 2 || moved.shared[n - 2] { 1 } else { points.min(MAX_ALONG) };
    let row = points / lane;
    dims[n - 2] = Shape { threads: THREADS[0], lanes: 1, points: row, vector: row };
    dims[n - 1] = Shape { threads: THREADS[1], lanes: WARP, points: lane, vector: 1 };
    Some(dims)
}

/// Whether all that moves along the last member are bytes and halves.
fn narrow(moved: &Moved) -> bool {
    let moves = |a: &&Access| a.steps.last().is_some_and(|s| s.is_near());
    moved.accesses.iter().filter(moves).all(|a| a.bytes <= NARROW)
}

/// For rows of bytes and halves: a thread has four consecutive points of several rows. The tile in place of
/// one whose lanes are consecutive ([`along`]), and the condition `[params, _h*] -> { : ... }` under which
/// rows begin at multiples of a word.
pub(super) fn vectors(
    scop: &Scop,
    options: &MapOptions,
    site: &Site,
    tile: &Tile,
) -> Result<Option<(Tile, isl::Set)>> {
    let n = tile.dims.len();
    let rows_alone = |dims: &[Shape]| dims.iter().all(|s| s.points == 1 && s.threads == 1);
    let fits = tile.unrolled
        && tile.slides.is_none()
        && n >= 2
        && tile.dims[n - 1].lanes == WARP
        && rows_alone(&tile.dims[..n - 2]);
    if !fits {
        return Ok(None);
    }
    let Some(moved) = moved(scop, options, site)?.filter(narrow) else { return Ok(None) };
    let mut rows = if moved.shared[n - 2] { WORD } else { MAX_POINTS / WORD };
    while rows > 1 && (rows * WORD) as usize * moved.loads > MAX_NARROW_LOADS {
        rows /= 2;
    }
    let mut pays = isl::Set::read(&scop.ctx, "{ : }")?;
    for a in moved.accesses.iter().filter(|a| a.steps[n - 1].is_near()) {
        let array = scop.array(a.array);
        // (That of a line or of cells is no row.)
        let Some(Some(size)) = array.sizes.last().filter(|_| array.sizes.len() > 1) else { return Ok(None) };
        let part = isl::Val::int(&scop.ctx, WORD.into())?;
        pays = pays.intersect(size.clone().modulo(part)?.zero_set()?.params()?)?;
    }
    let mut dims = tile.dims.clone();
    dims[n - 2] = Shape { points: rows, vector: rows, ..dims[n - 2] };
    dims[n - 1] = Shape { points: WORD, vector: WORD, ..dims[n - 1] };
    Ok(Some((Tile { dims, wide: true, ..tile.clone() }, pays)))
}

/// The site with its last member counted from where an element that is written begins a vector of so many: so
/// do those of all tiles then. (`y[i][j + 1]` at `j` is written in vectors if tiles begin at `j = 3`.)
pub(super) fn placed(scop: &Scop, site: &Site, launched: &isl::UnionSet, vector: u32) -> Result<Site> {
    let Some(last) = site.members.len().checked_sub(1) else { return Ok(site.clone()) };
    for set in launched.sets()? {
        let Some((_, s)) = scop.statement_named(&set.tuple_name()?.unwrap_or_default()) else { continue };
        let Some(time) = functions(&site.members, &set)? else { continue };
        for a in s.accesses.iter().filter(|a| a.kind != AccessKind::Read && a.within.is_none()) {
            if !scop.array(a.array).is_memory() {
                continue;
            }
            let relation = a.relation.clone().intersect_domain(set.clone())?;
            let rows = linear(&time, &relation)?;
            let Some(row) = rows.as_ref().and_then(|r| r.last()).filter(|r| r.inputs[last] == 1) else {
                continue;
            };
            let mut placed = site.clone();
            let by = row.constant.rem_euclid(vector.into());
            placed.members[last] = shifted(&site.members[last], &[], by, &site.domain)?;
            return Ok(placed);
        }
    }
    Ok(site.clone())
}

/// For rows of few members of three, as channels by pixels of an image: a thread's points lie along the
/// member outside of both. The tile in place of one that needs many rows ([`along`]), and the condition
/// `[params, _h*] -> { : ... }` under which most lanes have points.
pub(super) fn planes(
    scop: &Scop,
    tile: &Tile,
    bounds: &[(isl::PwAff, isl::PwAff)],
) -> Result<Option<(Tile, isl::Set)>> {
    let n = tile.dims.len();
    let [.., plane, row, last] = tile.dims.as_slice() else { return Ok(None) };
    if !tile.wide || plane.tile() > 1 || row.points == 1 || last.lanes < WARP {
        return Ok(None);
    }
    let mut dims = tile.dims.clone();
    dims[n - 3] = Shape { points: row.points, vector: row.points, ..Shape::ONE };
    dims[n - 2] = Shape { points: 1, vector: 1, ..*row };
    let mut pays = isl::Set::read(&scop.ctx, "{ : }")?;
    for ((s, (min, max)), least) in dims.iter().zip(bounds).skip(n - 3).zip(LEAST_OF_PLANES) {
        let least = isl::Val::int(&scop.ctx, i64::from(s.tile() * least[0] / least[1]) - 1)?;
        pays = pays.intersect(min.clone().add_constant(least)?.le_set(max.clone())?)?;
    }
    Ok(Some((Tile { dims, ..tile.clone() }, pays)))
}

/// Lanes along the member that writes move along and one that reads move along.
fn turned(moved: &Moved, n: usize) -> Option<Vec<Shape>> {
    let fit = |m: usize, writes: bool| {
        let mut of = moved.accesses.iter().filter(|a| a.writes == writes).map(|a| a.steps[m]);
        of.all(|s| s != Step::Far)
    };
    let near =
        |m: usize, writes: bool| moved.accesses.iter().any(|a| a.writes == writes && a.steps[m].is_near());
    let write = (0..n).rev().find(|m| fit(*m, true) && near(*m, true))?;
    let far = moved.accesses.iter().filter(|a| !a.writes && a.steps[write] == Step::Far);
    let far: Vec<_> = far.collect();
    let read = (0..n).rev().find(|m| *m != write && far.iter().all(|a| a.steps[*m].is_near()))?;
    let bytes = |writes: bool| moved.accesses.iter().filter(|a| a.writes == writes).map(|a| a.bytes).max();
    let (written, sector) = (bytes(true)?, SECTOR / bytes(false)?.clamp(1, SECTOR));
    let points = BYTES / written;
    if points < 2 || points as usize * moved.loads > MAX_LOADS || far.is_empty() {
        return None;
    }
    let lanes = sector.min(WARP);
    let mut dims = vec![Shape::ONE; n];
    dims[read] = Shape { threads: THREADS[1], lanes, points: 1, vector: 1 };
    dims[write] = Shape { threads: THREADS[0], lanes: WARP / lanes, points, vector: points };
    Some(dims)
}

#[cfg(test)]
mod tests {
    use crate::mapping::MapOptions;
    use crate::mapping::tests::mapped_with;
    use crate::testing::scop;
    use pollyrs_scop::ElemType;

    /// Threads, points of a thread and consecutive ones by dimension of the first kernel with tiles; with
    /// elements of these types.
    fn shape(text: &str, elem: ElemType) -> Option<Vec<[u32; 3]>> {
        let mut scop = scop(&format!("param n m; {text}"));
        scop.arrays.iter_mut().for_each(|a| a.elem = elem);
        let m = mapped_with(&scop, &MapOptions::default());
        let k = m.kernels.iter().find(|k| k.tiling().is_some())?;
        let t = k.tiling()?;
        Some(k.block.iter().zip(&t.dims).map(|(b, d)| [b.size, d.points, d.vector]).collect())
    }

    #[test]
    fn few_rows_take_points_of_several_planes() {
        let cube = "param n m; array A n n m; array B n n m; for i : 0 <= i < n { for j : 0 <= j < n { for k : 0 <= k < m { S : A[i,j,k] = B[i,j,k]; } } }";
        let m = mapped_with(&scop(cube), &MapOptions::default());
        let tiled: Vec<_> = m.kernels.iter().filter_map(|k| Some((k, k.tiling()?))).collect();
        let shape = |(k, t): &(&crate::mapped::MappedKernel, &crate::mapped::Tiling)| -> Vec<_> {
            k.block.iter().zip(&t.dims).map(|(b, d)| [b.size, d.points, d.vector]).collect()
        };
        assert_eq!(
            tiled.iter().map(shape).collect::<Vec<_>>(),
            [[[1, 1, 1], [8, 2, 2], [32, 1, 1]], [[1, 2, 2], [8, 1, 1], [32, 1, 1]]]
        );
    }

    #[test]
    fn shapes() {
        const F32: ElemType = ElemType::F32;
        const F64: ElemType = ElemType::F64;
        const U8: ElemType = ElemType::Int(8);
        let line = "array A n; array B n; array C n; for i : 0 <= i < n ";
        let plane = "array A n m; array B n m; array b m; for i : 0 <= i < n { for j : 0 <= j < m ";
        for (text, elem, expected) in [
            (format!("{line} {{ S : A[i] = B[i]; }}"), F32, Some(vec![[256, 4, 1]])),
            (format!("{line} {{ S : A[i] = B[i]; }}"), F64, Some(vec![[256, 2, 1]])),
            (format!("{line} {{ S : A[i] = B[i]; }}"), U8, Some(vec![[256, 16, 4]])),
            (format!("{line} {{ S : A[i] = B[i]; }}"), ElemType::F16, Some(vec![[256, 8, 4]])),
            (format!("{line} {{ S : A[i] = A[i], B[i]; }}"), F32, Some(vec![[256, 2, 1]])),
            // Enough bytes; what lies between two elements is read as well.
            (format!("{line} {{ S : A[i] = B[i], C[i]; }}"), F64, None),
            ("array A n; array B n 4; for i : 0 <= i < n { S : A[i] = B[i,0]; }".into(), F32, None),
            ("array A n; array B n 3; for i : 0 <= i < n { S : A[i] = B[i,0], B[i,1], B[i,2]; }".into(), U8, Some(vec![[256, 8, 4]])),
            // Lanes far from each other.
            ("array A n; array B n m; for i : 0 <= i < n { S : A[i] = B[i,0]; }".into(), F32, None),
            // A row that all rows read is no traffic.
            (format!("{plane} {{ S : A[i,j] = B[i,j], b[j]; }} }}"), F32, Some(vec![[8, 1, 1], [32, 4, 1]])),
            (format!("{plane} {{ S : A[i,j] = B[i,j]; }} }}"), U8, Some(vec![[8, 4, 4], [32, 4, 4]])),
            (format!("{plane} {{ S : A[i,j] = B[i,j], B[i+1,j]; }} }}"), U8, Some(vec![[8, 4, 4], [32, 4, 4]])),
            // Rows that share what they read.
            (format!("{plane} {{ S : A[i,j] = B[i,j], B[i+1,j]; }} }}"), F32, Some(vec![[8, 4, 4], [32, 1, 1]])),
            (
                "array A n n n; array B n n n; for i : 0 <= i < n { for j : 0 <= j < n { for k : 0 <= k < n { S : A[i,j,k] = B[i,j,k]; } } }".into(),
                F32,
                Some(vec![[1, 1, 1], [8, 4, 4], [32, 1, 1]]),
            ),
            // Transpositions: vectors where it is written, lanes along both.
            ("array A m n; array B n m; for i : 0 <= i < n { for j : 0 <= j < m { S : A[j,i] = B[i,j]; } }".into(), F32, Some(vec![[8, 4, 4], [32, 1, 1]])),
            ("array A m n; array B n m; for i : 0 <= i < n { for j : 0 <= j < m { S : A[i,j] = B[j,i]; } }".into(), F64, Some(vec![[32, 1, 1], [8, 2, 2]])),
            // Two cells of a point; a loop whose length is not known.
            (format!("{line} {{ S : A[2*i] = B[i]; T : A[2*i+1] = C[i]; }}"), F32, None),
            (format!("{plane} {{ for k : 0 <= k < n {{ S : A[i,j] = A[i,j], B[k,j]; }} }} }}"), F32, None),
        ] {
            assert_eq!(shape(&text, elem), expected, "{text} {elem:?}");
        }
    }
}

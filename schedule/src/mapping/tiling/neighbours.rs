//! Kernels whose neighbouring points read the same elements: filters with windows of constant size, and
//! statements that read around a point.
//!
//! A thread computes a few consecutive points along one member, so that what several of them read is loaded
//! once: a window moves by one row from a point to the next, and what is the same for all points (the weights
//! of a filter) is loaded once as well. Loops of constant length are unrolled in threads all of whose points
//! exist, innermost loops of other lengths [`UNROLLED`] iterations at a time, which share what they load as
//! well. There is no shared memory: lanes lie along the last members, as in plain kernels.
//!
//! Where a window moves along rows of memory ([`windows`]), points along two members share more: each element
//! of the window is used by points along the one (whose outputs differ in their weights), each weight by
//! points along the other one. Such kernels are preferred to tiles with shared memory, whose buffers can't
//! hold windows that move with the lanes.
//!
//! # Example
//! `out[y][x] += in[y + r][x + q] * w[r][q]`, `0 <= r, q < 5`: a point has 50 loads, eight along `y` have 12
//! × 5 + 25 in place of 400. `out[y][x] += in[y + r][x] * w[r]`, `0 <= r < n`: four iterations have 8 loads,
//! of eight points 11 + 4 in place of 64. `out[f][y][x] += in[c][y + r][x + q] * w[f][c][r][q]`,
//! `0 <= c < n`, `0 <= r, q < 3`: eight points along `y` and four along `f` have 30 + 36 in place of 576.

use super::super::launch::values;
use super::super::options::MapOptions;
use super::super::site::Site;
use super::super::tile::{Shape, Tile};
use super::affine::{Row, functions, linear_with_quotients};
use super::region::leaves;
use super::shape::MAX_BULK;
use crate::Result;
use crate::sharing::{LEAST_LOADS, POINTS, shares};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId, Scop};
use std::collections::{BTreeMap, BTreeSet};

/// Iterations of an innermost loop of unknown length that run one behind the other without a branch.
pub const UNROLLED: u32 = 4;
/// Points of a thread for windows of unknown height.
const SLIDING: [u32; 2] = [8, 4];
/// Points of a thread along two members, the one that a window moves along last.
const PAIRS: [[u32; 2]; 3] = [[4, 8], [8, 4], [4, 4]];
/// Loads that remain at most where points lie along two members: with a load for four products, loads and
/// arithmetic take the same time.
const MUST_REMAIN_OF_PAIRS: f64 = 0.25;
/// And of those that points along the window's member alone would have. (A depthwise convolution keeps 0.83:
/// 0.206 in place of 0.172 ms on an H100.)
const MUST_REMAIN_OF_ONE: f64 = 0.7;
/// Elements from lane to lane at most, of a window: half of what is loaded is used.
const MAX_STEP: i64 = 2;
/// Threads of a block, a warp at a time.
const WARP: u32 = 32;
const WARPS: u32 = 4;
/// Registers of a thread: 64; where a tile loads more than so many elements, 128, for what waits for the next
/// points does not fit. (Steps of boxes of floats on an H200, points a second: 5^3 with 300 loads 123 and 107
/// billion, 9^2 with 144 loads 192 and 151, 7^3 with 686 loads 9 and 47.)
const RESIDENTS: [u32; 2] = [8, 4];
const MANY_LOADS: usize = 512;
/// Instances of a tile's points that are unrolled: compile time.
const MAX_INSTANCES: usize = 512;
/// Loops of more iterations are not unrolled, as those of unknown length.
const MAX_LENGTH: i64 = MAX_INSTANCES as i64;
/// Points along both members that a launch with two of them needs: a block for each multiprocessor.
pub(super) const ALONE: u32 = 512;

/// Elements that a point reads, by array and by what they depend on: where they are apart from that.
type Reads = BTreeMap<(ArrayId, Vec<Vec<i64>>, Vec<Params>), BTreeSet<Vec<i64>>>;
type Params = Vec<(String, i64)>;

/// The tile of one launch, if points along some member share enough.
pub(super) fn shape(scop: &Scop, options: &MapOptions, site: &Site) -> Result<Option<Tile>> {
    if let Some(tile) = sliding(scop, options, site)? {
        return Ok(Some(tile));
    }
    let Some(moved) = moved(scop, options, site)? else { return Ok(None) };
    let Some(mut dims) = lanes(site)? else { return Ok(None) };
    let n = site.members.len();
    let free = (0..n).filter(|m| dims[*m].threads == 1);
    let remaining = |m: usize| moved.remaining(&[(m, POINTS)]);
    let Some((m, loads)) = free.map(|m| (m, remaining(m))).min_by_key(|(m, loads)| (*loads, n - m)) else {
        return Ok(None);
    };
    if !moved.fits(POINTS) || !shares(moved.alone, loads as f64 / f64::from(POINTS)) {
        return Ok(None);
    }
    dims[m] = Shape { threads: WARPS, lanes: 1, points: POINTS, vector: POINTS };
    Ok(Some(tile(dims, RESIDENTS[usize::from(loads > MANY_LOADS)], options)))
}

/// The tile of one launch with a window of unknown height, which moves along its own loop as it does along a
/// thread's points: all of them use a row of elements that is loaded once.
fn sliding(scop: &Scop, options: &MapOptions, site: &Site) -> Result<Option<Tile>> {
    let n = site.members.len();
    if n < 2 || !(site.host.is_empty() || options.neighbours_in_steps) {
        return Ok(None);
    }
    let Some(mut dims) = lanes(site)? else { return Ok(None) };
    let mut best: Option<(f64, usize, usize, u32, usize)> = None;
    for depth in 0..deepest(site)?.saturating_sub(1) {
        let Some((reads, instances, bulk)) = reads(scop, options, site, UNROLLED, Some(depth))? else {
            return Ok(None);
        };
        let alone = reads.values().map(|r| r.len()).sum::<usize>();
        let moved = Moved { reads, alone, instances, bulk };
        if alone * (UNROLLED as usize) < LEAST_LOADS {
            continue;
        }
        for (m, points) in (0..n).filter(|m| dims[*m].threads == 1).flat_map(|m| SLIDING.map(|p| (m, p))) {
            // Each row of a window that begins or ends has code of its own.
            let copies = (points * points) as usize;
            if instances * copies > MAX_INSTANCES || bulk * copies > MAX_BULK {
                continue;
            }
            let (loads, moves) = row_loads(&moved.reads, n, m, points as usize);
            let share = loads as f64 / f64::from(points);
            let gains = moves && loads < moved.remaining(&[(m, points)]);
            if gains
                && shares(alone * UNROLLED as usize, share * f64::from(UNROLLED))
                && best.is_none_or(|b| share < b.0)
            {
                best = Some((share, m, depth, points, loads));
            }
        }
    }
    let Some((_, m, depth, points, loads)) = best else { return Ok(None) };
    dims[m] = Shape { threads: WARPS, lanes: 1, points, vector: points };
    let residents = RESIDENTS[usize::from(loads > MANY_LOADS)];
    Ok(Some(Tile { slides: Some(depth), ..tile(dims, residents, options) }))
}

/// The number of loops around the innermost statements.
fn deepest(site: &Site) -> Result<usize> {
    let mut found = Vec::new();
    leaves(&site.inner, &site.domain, &mut vec![], &mut found)?;
    Ok(found.iter().map(|l| l.path.len()).max().unwrap_or(0))
}

/// What points along a member load for a row of a window, and whether some of it is the same for all of them:
/// the iteration moves it as the point does. (What depends on the iteration alone differs, as points are at
/// different ones.)
fn row_loads(reads: &Reads, n: usize, m: usize, points: usize) -> (usize, bool) {
    let (mut loads, mut moves) = (0, false);
    for ((_, inputs, _), at) in reads {
        let same = inputs.iter().all(|c| c[m] == c[n]);
        moves |= same && inputs.iter().any(|c| c[m] != 0);
        loads += if same { at.len() } else { points * at.len() };
    }
    (loads, moves)
}

/// The tile of one launch in whose loops a window moves along rows of memory, with points along two members.
pub(super) fn windows(scop: &Scop, options: &MapOptions, site: &Site) -> Result<Option<Tile>> {
    let Some(moved) = moved(scop, options, site)? else { return Ok(None) };
    let Some(mut dims) = lanes(site)? else { return Ok(None) };
    let n = site.members.len();
    if dims.iter().filter(|d| d.threads > 1).count() > 1 || dims[n - 1].threads == 1 {
        return Ok(None);
    }
    let mut best: Option<(f64, [usize; 2], [u32; 2])> = None;
    for window in (0..n - 1).filter(|m| moved.slides(*m)) {
        for other in (0..n - 1).filter(|m| *m != window && !moved.slides(*m)) {
            for points in PAIRS.into_iter().filter(|[a, b]| moved.fits(a * b)) {
                let loads = moved.remaining(&[(other, points[0]), (window, points[1])]);
                let share = loads as f64 / (moved.alone * (points[0] * points[1]) as usize) as f64;
                let one =
                    moved.remaining(&[(window, POINTS)]) as f64 / (moved.alone * POINTS as usize) as f64;
                if share > MUST_REMAIN_OF_ONE * one {
                    continue;
                }
                if best.as_ref().is_none_or(|b| share < b.0) {
                    best = Some((share, [other, window], points));
                }
            }
        }
    }
    let Some((_, [other, window], points)) = best.filter(|b| b.0 <= MUST_REMAIN_OF_PAIRS) else {
        return Ok(None);
    };
    // Warps of a block read the same windows.
    dims[other] = Shape { threads: WARPS, lanes: 1, points: points[0], vector: points[0] };
    dims[window] = Shape { threads: 1, lanes: 1, points: points[1], vector: points[1] };
    Ok(Some(tile(dims, RESIDENTS[1], options)))
}

fn tile(dims: Vec<Shape>, residents: u32, options: &MapOptions) -> Tile {
    Tile {
        dims,
        strip: 0,
        stages: 0,
        shared: 0,
        residents,
        products: false,
        weight: 1,
        helpers: 1,
        repeats: options.divides,
        stream: None,
        unrolled: true,
        slides: None,
        wide: false,
    }
}

/// What the points of a launch read, and how much code one is.
struct Moved {
    reads: Reads,
    /// Loads of a point by itself.
    alone: usize,
    instances: usize,
    bulk: usize,
}

fn moved(scop: &Scop, options: &MapOptions, site: &Site) -> Result<Option<Moved>> {
    let n = site.members.len();
    if n < 2 || !(site.host.is_empty() || options.neighbours_in_steps) {
        return Ok(None);
    }
    let Some((reads, instances, bulk)) = reads(scop, options, site, UNROLLED, None)? else { return Ok(None) };
    let alone = reads.values().map(|r| r.len()).sum::<usize>();
    Ok((alone >= LEAST_LOADS).then_some(Moved { reads, alone, instances, bulk }))
}

impl Moved {
    /// Whether so many points are compiled fast.
    fn fits(&self, points: u32) -> bool {
        self.instances * points as usize <= MAX_INSTANCES && self.bulk * points as usize <= MAX_BULK
    }

    /// The loads of a box of points.
    fn remaining(&self, points: &[(usize, u32)]) -> usize {
        let shared = |inputs: &[Vec<i64>], at: &BTreeSet<Vec<i64>>| {
            let mut all = at.clone();
            for (m, points) in points {
                let along = |e: &Vec<i64>| {
                    let step: Vec<_> = inputs.iter().map(|c| c[*m]).collect();
                    let e = e.clone();
                    (0..i64::from(*points))
                        .map(move |p| e.iter().zip(&step).map(|(e, c)| e + p * c).collect())
                };
                all = all.iter().flat_map(along).collect::<BTreeSet<Vec<i64>>>();
            }
            all.len()
        };
        self.reads.iter().map(|((_, inputs, _), at)| shared(inputs, at)).sum()
    }

    /// Whether a window that lies along the lanes moves along a member: a point reads what its neighbour
    /// reads in another iteration.
    fn slides(&self, m: usize) -> bool {
        self.reads.iter().any(|((_, inputs, _), at)| {
            let step: Vec<_> = inputs.iter().map(|c| c[m]).collect();
            let lane = inputs.iter().rev().enumerate().all(|(d, c)| match (d, c.last()) {
                (0, Some(step)) => (1..=MAX_STEP).contains(step),
                (_, step) => step == Some(&0),
            });
            let next = |e: &Vec<i64>| e.iter().zip(&step).map(|(e, c)| e + c).collect::<Vec<_>>();
            lane && step.iter().any(|s| *s != 0) && at.iter().any(|e| at.contains(&next(e)))
        })
    }
}

/// Members with lanes of a warp: a block has three dimensions, and warps lie along another one.
const MAX_LANED: usize = 2;

/// A warp along the last member, or the last two where the last has few values; `None` where both have.
fn lanes(site: &Site) -> Result<Option<Vec<Shape>>> {
    // (Statements of a kernel that nothing is left of have no values.)
    if site.domain.is_empty()? {
        return Ok(None);
    }
    let one = |threads| Shape { threads, lanes: threads, points: 1, vector: 1 };
    let mut dims = vec![one(1); site.members.len()];
    let (mut left, mut laned) = (WARP, 0);
    for (m, dim) in site.members.iter().zip(&mut dims).rev() {
        let needed = extent(&values(&site.domain, m)?, 0)?
            .and_then(|(min, max)| u32::try_from(max.checked_sub(min)?.checked_add(1)?).ok())
            .unwrap_or(left);
        let threads = needed.clamp(1, left).next_power_of_two();
        *dim = one(threads);
        left /= threads;
        laned += usize::from(threads > 1);
        if left == 1 || laned == MAX_LANED {
            break;
        }
    }
    Ok((left == 1).then_some(dims))
}

/// The least and the greatest value of a dimension that parameters allow, where they are constants.
fn extent(set: &isl::Set, dim: i32) -> Result<Option<(i64, i64)>> {
    // (Where there is none, a value is infinite.)
    let set = set.clone().project_out_all_params()?;
    Ok(set.clone().dim_min_val(dim)?.to_i64().zip(set.dim_max_val(dim)?.to_i64()))
}

/// What a point reads, its instances, and the instructions of their divisions and functions; `None` if that
/// is not known, or differs between points. Of a loop of unknown length that is the innermost one it is what
/// `unrolled` iterations read, of others what one does; zero: such loops are not known. `along`: the number
/// of a loop of unknown length, not the innermost one, whose steps come behind those of the members.
pub(super) fn reads(
    scop: &Scop,
    options: &MapOptions,
    site: &Site,
    unrolled: u32,
    along: Option<usize>,
) -> Result<Option<(Reads, usize, usize)>> {
    let n = site.members.len();
    let mut found = Vec::new();
    leaves(&site.inner, &site.domain, &mut vec![], &mut found)?;
    let (mut reads, mut all, mut bulk) = (Reads::new(), 0, 0);
    for leaf in &found {
        for set in leaf.domain.sets()? {
            if set.is_empty()? {
                continue;
            }
            let Some((id, s)) = scop.statement_named(&set.tuple_name()?.unwrap_or_default()) else {
                return Ok(None);
            };
            if !s.is_plain() {
                return Ok(None);
            }
            let Some(point) = functions(&site.members, &set)? else { return Ok(None) };
            let (iterations, time) = match functions(&leaf.path, &set)? {
                None => (vec![vec![]], point),
                Some(at) => {
                    let run = at.clone().range()?;
                    let mut iterations = vec![vec![]];
                    for d in 0..leaf.path.len() {
                        let innermost = d + 1 == leaf.path.len();
                        let sample = if innermost { unrolled } else { unrolled.min(1) };
                        // (The largest number of its type bounds a loop as well.)
                        let short = |(min, max): &(i64, i64)| max.saturating_sub(*min) < MAX_LENGTH;
                        let known = extent(&run, d as i32)?.filter(short);
                        if along == Some(d) && (innermost || known.is_some()) {
                            return Ok(None);
                        }
                        let (min, max) = match known {
                            Some(extent) => extent,
                            None if sample > 0 => (0, i64::from(sample) - 1),
                            None => return Ok(None),
                        };
                        if max.saturating_sub(min) as usize >= MAX_INSTANCES / iterations.len() {
                            return Ok(None);
                        }
                        iterations = (iterations.iter())
                            .flat_map(|i: &Vec<i64>| (min..=max).map(move |t| [i.as_slice(), &[t]].concat()))
                            .collect();
                    }
                    (iterations, point.flat_range_product(at)?)
                }
            };
            all += iterations.len();
            bulk += iterations.len() * options.bulk.get(id.0).map_or(0, |b| *b as usize);
            for a in s.accesses.iter().filter(|a| a.kind == AccessKind::Read) {
                let array = scop.array(a.array);
                if !array.is_memory() || array.dims() == 0 {
                    continue;
                }
                let Some(rows) = linear_with_quotients(&time, &a.relation)? else { return Ok(None) };
                let place = |t: &Vec<i64>| {
                    let of =
                        |r: &Row| r.constant + r.inputs[n..].iter().zip(t).map(|(c, t)| c * t).sum::<i64>();
                    rows.iter().map(of).collect::<Vec<_>>()
                };
                let step = |r: &Row| along.map(|d| r.inputs.get(n + d).copied().unwrap_or(0));
                let inputs = rows.iter().map(|r| r.inputs[..n].iter().copied().chain(step(r)).collect());
                let inputs = inputs.collect();
                let params = rows.iter().map(|r| r.params.clone()).collect();
                let at = reads.entry((a.array, inputs, params)).or_default();
                at.extend(iterations.iter().map(place));
            }
        }
    }
    Ok(Some((reads, all, bulk)))
}

#[cfg(test)]
mod tests {
    use crate::mapping::MapOptions;
    use crate::mapping::tests::mapped_with;
    use crate::testing::scop;

    /// Threads and points of a thread by dimension, where neighbours share loads.
    fn shape(text: &str) -> Option<Vec<(u32, u32)>> {
        let m = mapped_with(&scop(text), &MapOptions::default());
        let k = m.kernels.iter().find(|k| k.tiling().is_some_and(|t| t.unrolled))?;
        let t = k.tiling()?;
        Some(k.block.iter().zip(&t.dims).map(|(b, d)| (b.size, d.points)).collect())
    }

    /// A window of `h` by `w` elements around each point of three dimensions, and what else the statement
    /// reads.
    fn window(h: &str, w: &str, more: &str) -> String {
        format!(
            "param n m; array A n n n; array B n n n; array f n n;
             for c : 0 <= c < n {{ for i : 0 <= i < n - {h} {{ for j : 0 <= j < n - {w} {{
               for p : 0 <= p < {h} {{ for q : 0 <= q < {w} {{ S : B[c,i,j] = B[c,i,j], A[c,i+p,j+q]{more}; }} }} }} }} }}"
        )
    }

    /// A window of 3 by 3 elements in the plane `p` of two.
    fn planes(p: &str) -> String {
        let at = |p: i32, q: i32| format!("A[{{p}},c,i+{p},j+{q}]");
        let reads: Vec<_> = (0..9).map(|k| at(k / 3, k % 3)).collect();
        let text = format!(
            "for c : 0 <= c < n {{ for i : 0 <= i < n - 2 {{ for j : 0 <= j < n - 2 {{
               S : A[(t + 1) mod 2,c,i+1,j+1] = {}; }} }} }}",
            reads.join(", ")
        );
        text.replace("{p}", p)
    }

    #[test]
    fn shapes() {
        let columns = Some(vec![(1, 1), (4, 8), (32, 1)]);
        for (text, expected) in [
            (window("3", "3", ""), columns.clone()),
            // (The same weights for all channels are a few loads less only.)
            (window("7", "2", ", f[p,q]"), columns.clone()),
            // Few loads; hardly any shared; weights make up for it.
            (window("2", "2", ""), None),
            (window("2", "5", ""), None),
            (window("2", "5", ", f[p,q]"), columns.clone()),
            // Windows of a height that is not known: points share rows, but not weights, which change from
            // row to row.
            (window("m", "3", ""), columns.clone()),
            (window("m", "m", ""), Some(vec![(1, 1), (4, 8), (32, 1)])),
            (window("m", "3", ", f[p,q]"), None),
            (window("3", "m", ""), columns.clone()),
            // One that would take long to compile.
            (window("9", "9", ""), None),
            // Each step of a loop is a launch, which writes one of two planes and reads the other.
            (
                format!("param n m; array A 2 n n n; for t : 0 <= t < m {{ {} }}", planes("t mod 2")),
                columns.clone(),
            ),
            // The plane that is written is not known to be another one.
            (format!("param n m p; array A 2 n n n; for t : 0 <= t < m {{ {} }}", planes("p")), None),
            // Loops of unknown length: along rows weights are shared only, along columns what iterations side
            // by side read.
            (
                "param n r; array A n n; array B n n; array f n;
                 for i : 0 <= i < n { for j : r <= j < n - r { for k : -r <= k <= r { S : B[i,j] = A[i,j+k], f[k+r]; } } }"
                    .into(),
                Some(vec![(4, 8), (32, 1)]),
            ),
            (
                "param n r; array A n n; array B n n; array f n;
                 for i : r <= i < n - r { for j : 0 <= j < n { for k : -r <= k <= r { S : B[i,j] = B[i,j], A[i+k,j], f[k+r]; } } }"
                    .into(),
                Some(vec![(4, 8), (32, 1)]),
            ),
            // Windows along rows, and outputs that read the same ones.
            (
                "param n m; array A n n n; array B n n n; array f n n 3 3;
                 for c : 0 <= c < n { for i : 0 <= i < n - 2 { for j : 0 <= j < n - 2 { for d : 0 <= d < n { for p : 0 <= p < 3 { for q : 0 <= q < 3 {
                   S : B[c,i,j] = B[c,i,j], A[d,i+p,j+q], f[c,d,p,q]; } } } } } }"
                    .into(),
                Some(vec![(4, 4), (1, 8), (32, 1)]),
            ),
            // Channels: the last member has three values only.
            (
                "param n; array A n n n; array B n n n;
                 for i : 0 <= i < n - 8 { for j : 0 <= j < n { for c : 0 <= c < 3 {
                   for p : 0 <= p < 8 { S : B[i,j,c] = B[i,j,c], A[i+p,j,c]; } } } }"
                    .into(),
                Some(vec![(4, 8), (8, 1), (4, 1)]),
            ),
        ] {
            assert_eq!(shape(&text), expected, "{text}");
        }
    }
}

//! The shape of a block: how many lanes of a warp lie along each dimension.
//!
//! Memory moves in sectors of 32 bytes. A warp along x uses all of each where x is adjacent in memory, and a
//! sector a lane where another dimension is: a transposition writes (or reads) eight times the bytes. Lanes
//! along both dimensions use whole sectors on both sides.
//!
//! **Method.** Of a few shapes the one whose warps touch the fewest sectors and cache lines, by the linear
//! parts of the accesses; blocks along x unless another one saves [`MUST_SAVE`]. A heuristic: every shape is
//! legal, since all members are coincident.
//!
//! # Example
//! `B[j][i] = A[i][j]` in doubles: 32 lanes along j read 8 sectors of 2 lines and write 32 sectors of 32
//! lines; 8 along j and 4 along i read 8 of 4 and write 8 of 8.

use super::launch::values;
use super::options::MapOptions;
use super::site::Site;
use crate::Result;
use crate::strategy::{Model, Movement, movements, steps};
use crate::tree::{Tree, member_map};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, Scop};

/// Bytes of a sector and of a cache line.
const UNITS: [f64; 2] = [32.0, 128.0];
const WARP: u32 = 32;
/// What another shape has to cost at most, in units of that of a warp along x.
const MUST_SAVE: f64 = 0.7;

/// Threads along the last (at most three) members, outermost first, for a kernel whose blocks have the
/// default sizes.
pub(super) fn threads(scop: &Scop, site: &Site, options: &MapOptions) -> Result<Option<Vec<u32>>> {
    let n = site.members.len().min(3);
    let shapes: &[&[u32]] = match n {
        2 => &[&[16, 16], &[32, 8]],
        3 => &[&[4, 16, 8], &[32, 1, 8]],
        _ => return Ok(None),
    };
    let default = MapOptions::default();
    if options.threads[n - 1] != default.threads[n - 1] || options.points[n - 1] != default.points[n - 1] {
        return Ok(None);
    }
    let (found, _) = movements(&Model::new(scop)?, &site.domain, &site.members)?;
    let most = MUST_SAVE * cost(&found, &default.threads[n - 1]);
    let mut best = None;
    for shape in shapes {
        let cost = cost(&found, shape);
        if cost < best.map_or(most, |(c, _)| c) {
            best = Some((cost, shape));
        }
    }
    Ok(best.map(|(_, shape)| shape.to_vec()))
}

/// Threads of a block with one dimension in which every thread runs a loop: more of them where neighbours
/// touch neighbouring elements. (A block of a warp takes 80 ns of a multiprocessor to begin, which is half of
/// the time of a sum of 31 products on an H200; but the lines of rows that each thread reads by itself are
/// better spread over all multiprocessors, and so are loops that store in each iteration: a tridiagonal
/// solver for 4,096 columns took 6.8 ms in place of 5.4.)
pub(super) fn looped(scop: &Scop, site: &Site, options: &MapOptions) -> Result<u32> {
    if options.looped != MapOptions::default().looped {
        return Ok(options.looped);
    }
    // What a loop stores waits for memory from iteration to iteration, rather than for the block to begin.
    for m in &site.members {
        let elements = scop.accesses(|_, a| a.kind != AccessKind::Read && scop.array(a.array).is_memory())?;
        let stored =
            member_map(m)?.intersect_domain(site.domain.clone())?.reverse()?.apply_range(elements)?;
        if !stored.is_single_valued()? {
            return Ok(options.looped);
        }
    }
    let steps = steps(&Model::new(scop)?, &site.domain, &site.members)?;
    Ok(if steps.iter().all(|s| s.strided == 0.0) { 2 * options.looped } else { options.looped })
}

/// Iterations of all loops of a point at most that are no more than statements one behind the other, as the
/// channels of a pixel.
const SHORT: i64 = 4;

/// Whether the loops that a thread runs are so short, whatever the parameters are.
pub(super) fn short(site: &Site) -> Result<bool> {
    fn iterations(tree: &Tree, domain: &isl::UnionSet) -> Result<Option<i64>> {
        Ok(match tree {
            Tree::Leaf => Some(1),
            Tree::Mark(_, child) => iterations(child, domain)?,
            Tree::Band(b) => {
                let mut all = iterations(&b.child, domain)?;
                for m in &b.members {
                    let run = values(domain, m)?.project_out_all_params()?;
                    let ends = run.clone().dim_min_val(0)?.to_i64().zip(run.dim_max_val(0)?.to_i64());
                    let length = ends.map(|(first, last)| last.saturating_sub(first).saturating_add(1));
                    all = all.zip(length).map(|(all, length)| all.saturating_mul(length));
                }
                all
            }
            Tree::Sequence(children) => {
                let mut most = Some(1);
                for (filter, child) in children {
                    let own = iterations(child, &domain.clone().intersect(filter.clone())?)?;
                    most = most.zip(own).map(|(a, b): (i64, i64)| a.max(b));
                }
                most
            }
        })
    }
    Ok(iterations(&site.inner, &site.domain)?.is_some_and(|n| n <= SHORT))
}

/// Sectors and lines that the warps of blocks of this shape touch, over all accesses.
fn cost(accesses: &[Movement], threads: &[u32]) -> f64 {
    let mut lanes = vec![1; threads.len()];
    let mut left = WARP;
    for (lanes, threads) in lanes.iter_mut().zip(threads).rev() {
        *lanes = left.min(*threads);
        left /= *lanes;
    }
    accesses
        .iter()
        .map(|a| a.instances * UNITS.iter().map(|unit| touched(a, &lanes, *unit)).sum::<f64>())
        .sum()
}

/// How many aligned pieces of `unit` bytes an access of a warp touches, the first lane's at the beginning of
/// one.
fn touched(access: &Movement, lanes: &[u32], unit: f64) -> f64 {
    let (mut apart, mut run) = (1.0, 1.0);
    let first = access.steps.len() - lanes.len();
    for (lanes, step) in lanes.iter().zip(&access.steps[first..]) {
        let lanes = f64::from(*lanes);
        let Some((last, outer)) = step.as_ref().and_then(|s| s.split_last()) else {
            // No subscript at all, or no step along this member alone.
            apart *= if step.is_some() { 1.0 } else { lanes };
            continue;
        };
        let elements = unit / f64::from(access.bytes);
        if outer.iter().any(|d| *d != 0.0) || last.abs() >= elements {
            apart *= lanes;
        } else {
            run += (lanes - 1.0) * last.abs();
        }
    }
    apart * (run * f64::from(access.bytes) / unit).ceil()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::tests::mapped;
    use crate::testing::scop;
    use pollyrs_scop::ArrayId;

    fn lanes(steps: &[&[f64]], bytes: u32, lanes: &[u32]) -> [f64; 2] {
        let steps = steps.iter().map(|s| Some(s.to_vec())).collect();
        let access = Movement { instances: 1.0, accesses: 1, array: ArrayId(0), bytes, writes: false, steps };
        UNITS.map(|unit| touched(&access, lanes, unit))
    }

    #[test]
    fn sectors_and_lines() {
        let (row, column): (&[&[f64]], &[&[f64]]) =
            (&[&[1.0, 0.0], &[0.0, 1.0]], &[&[0.0, 1.0], &[1.0, 0.0]]);
        for (steps, bytes, shape, expected) in [
            (row, 8, [1, 32], [8.0, 2.0]),
            (row, 8, [4, 8], [8.0, 4.0]),
            (column, 8, [1, 32], [32.0, 32.0]),
            (column, 8, [4, 8], [8.0, 8.0]),
            (column, 4, [4, 8], [8.0, 8.0]),
            (row, 1, [1, 32], [1.0, 1.0]),
            // Every third byte; the same element for all lanes along x; a diagonal.
            (&[&[96.0], &[3.0]], 1, [1, 32], [3.0, 1.0]),
            (&[&[1.0], &[0.0]], 8, [1, 32], [1.0, 1.0]),
            (&[&[1.0, 0.0], &[1.0, 1.0]], 8, [1, 32], [32.0, 32.0]),
            (&[&[], &[]], 8, [1, 32], [1.0, 1.0]),
        ] {
            assert_eq!(lanes(steps, bytes, &shape), expected, "{steps:?} {bytes} {shape:?}");
        }
    }

    #[test]
    fn shapes() {
        for (text, expected) in [
            ("array A n n; array B n n; for i : 0 <= i < n { for j : 0 <= j < n { S : B[j,i] = A[i,j]; } }", vec![32, 8]),
            ("array A n n; array B n n; for i : 0 <= i < n { for j : 0 <= j < n { S : B[i,j] = A[i,j]; } }", vec![8, 32]),
            // A column of one of many arrays is no reason.
            (
                "array A n n; array B n n; array C n n; array D n n; array x n;
                 for i : 0 <= i < n { for j : 0 <= j < n { S : D[i,j] = A[i,j], B[i,j], C[i,j], x[i]; } }",
                vec![8, 32],
            ),
            (
                "array A n n n; array B n n n;
                 for i : 0 <= i < n { for j : 0 <= j < n { for k : 0 <= k < n { S : B[i,k,j] = A[i,j,k]; } } }",
                vec![4, 16, 8],
            ),
            (
                "array A n n n; array B n n n;
                 for i : 0 <= i < n { for j : 0 <= j < n { for k : 0 <= k < n { S : B[k,j,i] = A[i,j,k]; } } }",
                vec![32, 1, 8],
            ),
        ] {
            let m = mapped(&scop(&format!("param n; {text}")));
            assert_eq!(m.kernels[0].block.iter().map(|b| b.size).collect::<Vec<_>>(), expected, "{text}");
        }
    }

    #[test]
    fn loops() {
        for (text, expected) in [
            (
                "array A n; array w n; for i : 0 <= i < n { for j : 0 <= j < n { S : A[i] = A[i], w[j]; } }",
                64,
            ),
            (
                "array A n; array B n n; for i : 0 <= i < n { for j : 0 <= j < n { S : A[i] = A[i], B[j,i]; } }",
                64,
            ),
            (
                "array A n; array B n n; for i : 0 <= i < n { for j : 0 <= j < n { S : A[i] = A[i], B[i,j]; } }",
                32,
            ),
            ("array B n n; for i : 0 <= i < n { for j : 1 <= j < n { S : B[j,i] = B[j,i], B[j-1,i]; } }", 32),
        ] {
            let m = mapped(&scop(&format!("param n; {text}")));
            assert_eq!(m.kernels[0].block[0].size, expected, "{text}");
        }
    }
}

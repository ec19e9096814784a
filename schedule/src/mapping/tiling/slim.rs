//! Many results along one member and few along the other one: products of tall matrices with small ones, a
//! layer of few units for many samples.
//!
//! Tiles that are about as high as wide need many points along both members, and the plain kernel, which
//! served all other sizes, loads both operands for each product. Where one member has few points, a tile is
//! eight times as long along the other one: a thread still has as many points along both, so that it loads as
//! little for each product, and as many blocks run.
//!
//! # Example
//! `C[i][j] += A[i][k] * B[k][j]` with a million rows and 32 columns: blocks of 128 threads, 32 along `i` and
//! 4 along `j`, with 8 × 8 points each.

use super::super::site::Site;
use super::super::tile::{Shape, Tile};
use crate::Result;
use pollyrs_isl as isl;

/// Threads of a block, and lanes along the member with many points and along the other one, all of whose
/// threads are in one warp. (Fragments of products have their own lanes.)
const THREADS: u32 = 128;
const LANES: [u32; 2] = [8, 4];
/// Points of a thread at most: sums in registers.
const MOST_POINTS: u32 = 64;
/// Tiles along the member with many points, at least: one for about half of an H200's 132 multiprocessors.
const MANY: u32 = 64;
/// The part of a tile that the other one has, at least, is one of so many. (Of the plain kernel, no more
/// lanes are in use then.)
const FEW: u32 = 4;

/// The tiles for launches that have too few points along a member for `small`, each with the condition
/// `[params, _h*] -> { : ... }` under which it pays.
pub(super) fn shapes(
    site: &Site,
    small: &Tile,
    bounds: &[(isl::PwAff, isl::PwAff)],
) -> Result<Vec<(Tile, isl::Set)>> {
    let tiled: Vec<_> = (0..small.dims.len()).filter(|d| small.dims[*d].points > 1).collect();
    let reuses = small.stream.is_none() && !small.unrolled && !small.wide;
    let &[y, x] = tiled.as_slice() else { return Ok(vec![]) };
    if !reuses || !site.host.is_empty() || small.dims[y].points * small.dims[x].points > MOST_POINTS {
        return Ok(vec![]);
    }
    let threads = |dims: &[Shape]| dims.iter().map(|d| d.threads).product::<u32>();
    let mut out = Vec::new();
    for [many, few] in [[y, x], [x, y]] {
        let mut dims = small.dims.clone();
        if !small.products {
            (dims[many].lanes, dims[few].lanes) = (LANES[0], LANES[1]);
        }
        dims[few].threads = dims[few].lanes;
        dims[many].threads = THREADS / dims[few].threads;
        let residents = (small.residents * threads(&small.dims) / threads(&dims)).max(1);
        let least = [MANY * dims[many].tile(), dims[few].tile() / FEW];
        let mut pays = isl::Set::read(site.domain.context(), "{ : }")?;
        for (d, least) in [many, few].into_iter().zip(least) {
            let (min, max) = &bounds[d];
            let least = isl::Val::int(min.context(), i64::from(least) - 1)?;
            pays = pays.intersect(min.clone().add_constant(least)?.le_set(max.clone())?)?;
        }
        out.push((Tile { dims, residents, ..small.clone() }, pays));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use crate::mapping::MapOptions;
    use crate::mapping::tests::mapped_with;
    use crate::testing::scop;
    use pollyrs_scop::ElemType;

    /// Threads and points by dimension of all kernels with several points a thread.
    fn shapes(sizes: &str, elem: ElemType) -> Vec<Vec<[u32; 2]>> {
        let text = "param n m l; array A n l; array B l m; array C n m; for i : 0 <= i < n { for j : 0 <= j < m { for k : 0 <= k < l { S : C[i,j] = C[i,j], A[i,k], B[k,j]; } } }";
        let mut scop = scop(&text.replace("0 <= j < m", sizes));
        scop.arrays.iter_mut().for_each(|a| a.elem = elem);
        let m = mapped_with(&scop, &MapOptions::default());
        let tiled = m.kernels.iter().filter_map(|k| Some(k.block.iter().zip(&k.tiling()?.dims)));
        let shapes = tiled.map(|dims| dims.map(|(b, d)| [b.size, d.points]).collect::<Vec<_>>());
        shapes.filter(|s| s.iter().any(|[_, points]| *points > 1)).collect()
    }

    #[test]
    fn sizes_of_few_by_many_have_tiles() {
        let both = [[[32, 8], [4, 8]], [[4, 8], [32, 8]]].map(Vec::from);
        let found = shapes("0 <= j < m", ElemType::F32);
        assert!(both.iter().all(|b| found.contains(b)), "{found:?}");
        // Sixty columns, known: rows alone may be many. Six fill no quarter of a tile.
        assert_eq!(shapes("0 <= j < 60", ElemType::F32), both[..1]);
        assert_eq!(shapes("0 <= j < 6", ElemType::F32), Vec::<Vec<[u32; 2]>>::new());
        let wide = shapes("0 <= j < 60", ElemType::F64);
        assert_eq!(wide, [[[32, 8], [4, 4]]].map(Vec::from));
    }
}

//! What every tiling has to satisfy, for all points of the unbounded space.

use super::band::{Ratio, Slopes};
use super::picture::list;
use super::shape::Phase;
use crate::names::names;
use pollyrs_isl as isl;

/// From numerators and denominators, forward first.
pub fn slopes([n0, d0, n1, d1]: [i64; 4]) -> Slopes {
    Slopes { forward: Ratio::new(n0, d0), backward: Ratio::new(n1, d1) }
}

/// Every point is in exactly one tile of exactly one phase.
pub fn assert_partition(phases: &[Phase], space: usize) {
    let ctx = phases[0].place.context();
    let mut all =
        isl::Set::read(ctx, &format!("{{ [t, {}] : false }}", names("s", space).join(","))).unwrap();
    for p in phases {
        assert!(p.place.is_single_valued().unwrap(), "{}", p.place);
        let domain = p.place.clone().domain().unwrap();
        assert!(all.is_disjoint(&domain).unwrap(), "overlap");
        all = all.union(domain).unwrap();
    }
    let gap = all.complement().unwrap();
    assert!(gap.is_empty().unwrap(), "gap at {}", gap.sample_point().unwrap());
}

/// Every dependence within the cone that spans at most `reach` times goes to a later launch, or to a later
/// step of its tile.
pub fn assert_order(phases: &[Phase], slopes: &[Slopes], reach: i64) {
    let n = slopes.len();
    let mut that = vec![format!("0 < u - t <= {reach}")];
    for (d, s) in slopes.iter().enumerate() {
        let Slopes { forward: f, backward: b } = s;
        that.push(format!("{} * (x{d} - s{d}) <= {} * (u - t)", f.den, f.num));
        that.push(format!("{} * (x{d} - s{d}) >= {} * (t - u)", b.den, b.num));
    }
    let (from, to) = (names("s", n).join(", "), names("x", n).join(", "));
    let text = format!("{{ [t, {from}] -> [u, {to}] : {} }}", that.join(" and "));
    let ctx = phases[0].place.context();
    let deps = isl::Map::read(ctx, &text).unwrap();
    for (i, p) in phases.iter().enumerate() {
        for (j, q) in phases.iter().enumerate() {
            let pairs = deps.clone().apply_domain(place(p)).unwrap().apply_range(place(q)).unwrap();
            let (b, c) = (p.blocks, p.steps);
            let tuple = |prime: &str| {
                let all = [vec!["T".to_string()], names("b", b), names("c", c)].concat();
                all.iter().map(|n| format!("{n}{prime}")).collect::<Vec<_>>().join(", ")
            };
            let mut good = vec![if i < j { "T <= T'" } else { "T < T'" }.to_string()];
            if i == j {
                let same: Vec<_> = (0..b).map(|d| format!("b{d} = b{d}'")).collect();
                for d in 0..c {
                    let equal: Vec<_> = (0..d).map(|e| format!("c{e} = c{e}'")).collect();
                    let all =
                        [vec!["T = T'".to_string()], same.clone(), equal, vec![format!("c{d} < c{d}'")]];
                    good.push(all.concat().join(" and "));
                }
            }
            let text = format!("{{ [{}] -> [{}] : ({}) }}", tuple(""), tuple("'"), good.join(") or ("));
            let bad = pairs.subtract(isl::Map::read(ctx, &text).unwrap()).unwrap();
            assert!(
                bad.is_empty().unwrap(),
                "phases {i} and {j}: {}",
                bad.wrap().unwrap().sample_point().unwrap()
            );
        }
    }
}

/// `{ [t, s] -> [T, blocks, steps] }`
fn place(p: &Phase) -> isl::Map {
    let kept = (1 + p.blocks + p.steps) as u32;
    p.place.clone().project_out(isl::DimType::Out, kept, p.extents.len() as u32).unwrap()
}

/// The steps and local coordinates of the points of tile `[T, blocks]`, sorted.
pub fn points_of_tile(p: &Phase, tile: &[i64]) -> Vec<Vec<i64>> {
    assert_eq!(tile.len(), 1 + p.blocks);
    let mut points = p.place.clone().range().unwrap();
    for (d, v) in tile.iter().enumerate() {
        points = points.fix_si(isl::DimType::Set, d as u32, *v as i32).unwrap();
    }
    let mut out = Vec::new();
    let first = tile.len() as u32;
    list(points.project_out(isl::DimType::Set, 0, first).unwrap(), &mut vec![], &mut out).unwrap();
    out
}

/// The number of points of a bounded set for fixed parameters.
pub fn count(set: isl::Set) -> usize {
    let mut out = Vec::new();
    let set = set.project_out_all_params().unwrap().reset_tuple_id().unwrap();
    list(set, &mut vec![], &mut out).unwrap();
    out.len()
}

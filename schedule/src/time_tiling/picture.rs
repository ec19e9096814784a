//! The tiling of a SCoP in a window of time and one space dimension, point by point: what
//! `pollyrs show --tiles` draws.

use super::{Band, TimeTiling, phases};
use crate::Result;
use pollyrs_isl as isl;
use std::fmt;

/// A point of the window and where it is computed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TilePoint {
    pub time: i64,
    pub space: i64,
    pub phase: usize,
    /// The time tile and the block.
    pub tile: Vec<i64>,
    /// The step in the tile.
    pub step: Vec<i64>,
}

impl fmt::Display for TilePoint {
    /// `t s phase T,b0,... c0,...`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |v: &[i64]| v.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
        write!(f, "{} {} {} {} {}", self.time, self.space, self.phase, list(&self.tile), list(&self.step))
    }
}

/// Logical times and points along the first space dimension; the other coordinates are 0.
const WINDOW: (i64, i64) = (20, 56);

/// All points of the window, sorted. A point that no tile or more than one has is missing or there more than
/// once.
pub fn picture(ctx: &isl::Context, tiling: TimeTiling, band: &Band, sizes: &[i64]) -> Result<Vec<TilePoint>> {
    let phases = phases(ctx, tiling, band, sizes)?;
    let mut out = Vec::new();
    for (number, phase) in phases.iter().enumerate() {
        let others: String = (1..band.dims).map(|_| ", 0").collect();
        let window = format!("{{ [t, s{others}] : 0 <= t < {} and 0 <= s < {} }}", WINDOW.0, WINDOW.1);
        let places =
            phase.place.clone().intersect_domain(isl::Set::read(ctx, &window)?)?.wrap()?.flatten()?;
        let mut points = Vec::new();
        list(places, &mut Vec::new(), &mut points)?;
        for p in points {
            let (tile, rest) = p[1 + band.dims..].split_at(1 + phase.blocks);
            out.push(TilePoint {
                time: p[0],
                space: p[1],
                phase: number,
                tile: tile.to_vec(),
                step: rest[..phase.steps].to_vec(),
            });
        }
    }
    out.sort();
    Ok(out)
}

/// All points of a bounded set.
pub(super) fn list(points: isl::Set, at: &mut Vec<i64>, out: &mut Vec<Vec<i64>>) -> Result<()> {
    if points.is_empty()? {
        return Ok(());
    }
    let d = at.len() as u32;
    if d == points.dim(isl::DimType::Set)? {
        out.push(at.clone());
        return Ok(());
    }
    let first = points.clone().dim_min(d as i32)?.max_value()?.to_i64();
    let last = points.clone().dim_max(d as i32)?.max_value()?.to_i64();
    for v in first.unwrap_or(0)..=last.unwrap_or(-1) {
        at.push(v);
        list(points.clone().fix_si(isl::DimType::Set, d, v as i32)?, at, out)?;
        at.pop();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time_tiling::testing::slopes;

    #[test]
    fn every_point_of_the_window_once() {
        let ctx = isl::Context::new();
        for (tiling, sizes) in [
            (TimeTiling::Hybrid, [2, 3, 4]),
            (TimeTiling::Diamond, [6, 4, 0]),
            (TimeTiling::Split, [4, 2, 4]),
        ] {
            let band = Band {
                dims: 1,
                levels: 1,
                coordinates: isl::UnionMap::empty(&ctx).unwrap(),
                slopes: vec![slopes([1, 1, 3, 2])],
                forms: vec![],
            };
            let points = picture(&ctx, tiling, &band, &sizes).unwrap();
            let places: Vec<_> = points.iter().map(|p| (p.time, p.space)).collect();
            let want: Vec<_> = (0..WINDOW.0).flat_map(|t| (0..WINDOW.1).map(move |s| (t, s))).collect();
            assert_eq!(places, want, "{tiling:?}");
        }
    }
}

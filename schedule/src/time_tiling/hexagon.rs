//! Hybrid hexagonal/parallelogram tiling (Grosser, Cohen, Holewinski, Sadayappan, Verdoolaege, "Hybrid
//! hexagonal/classical tiling for GPUs", CGO 2014, section 3): hexagons in time and the outermost space
//! dimension, parallelograms along the others.
//!
//! # Shape
//! With slopes `δ⁰`, `δ¹`, `f0 = ⌊δ⁰ h⌋` and `f1 = ⌊δ¹ h⌋`, hexagons lie in boxes of `2h + 2` times and
//! `2 w + 2 + f0 + f1` points. Time tile `T` consists of the hexagons of phase 0 and, half a box later and
//! half a box to the side, those of phase 1. Local coordinates of phase 1 are
//! ```text
//! a = t - (2h + 2) T,   b = s0 + T (f1 - f0) - (2w + 2 + f0 + f1) S0
//! ```
//! and with `t + h + 1` for `t` and `s0 + f0 + w + 1` for `s0` those of phase 0. A point is in the hexagon if
//! (`d` the slopes' denominators)
//! ```text
//! δ⁰ a - b <= (2h + 1) δ⁰ - f0                     δ¹ a + b <= (2h + 1) δ¹ + f0 + w           the top
//! δ¹ a + b >= h δ¹ - (d¹ - 1) / d¹                 δ⁰ a - b >= h δ⁰ - f0 - w - f1 - (d⁰ - 1) / d⁰
//! ```
//! Each point of the plane is in one hexagon if `w >= max(δ⁰ + {δ⁰ h}, δ¹ + {δ¹ h}) - 1`, which
//! [`Hexagon::new`] sees to; all hexagons have the same points. Hexagons of one phase of one `T` don't depend
//! on each other.

use super::band::{Band, Ratio, Slopes};
use super::shape::{Phase, Place};
use crate::Result;
use crate::planted::planted;
use pollyrs_isl as isl;

/// A hexagon: half its height less one, and the points of its narrowest row less one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hexagon {
    pub h: i64,
    pub w: i64,
    pub slopes: Slopes,
}

impl Hexagon {
    /// The hexagon for this height and width, or the next larger one: `h + 1` becomes a multiple of `levels`,
    /// so that all tiles start with the same statement, and `w` is at least what makes the shape convex.
    pub fn new(h: i64, w: i64, levels: i64, slopes: Slopes) -> Hexagon {
        let h = (h.max(0) + 1 + levels - 1) / levels * levels - 1;
        // δ + {δ h} - 1 = (num + (num h) mod den - den) / den
        let least = |r: Ratio| -(-(r.num + (r.num * h).rem_euclid(r.den) - r.den)).div_euclid(r.den);
        let w = w.max(0).max(least(slopes.forward)).max(least(slopes.backward));
        Hexagon { h, w, slopes }
    }

    fn floors(&self) -> (i64, i64) {
        (self.slopes.forward.floor_of(self.h), self.slopes.backward.floor_of(self.h))
    }

    /// The extents of a box: times and points.
    pub fn extents(&self) -> (i64, i64) {
        let (f0, f1) = self.floors();
        (2 * self.h + 2, 2 * self.w + 2 + f0 + f1)
    }

    /// Adds `T`, the block `b0`, the time `a` in the tile (not yet as a step) and the local coordinate `l0`
    /// of the hexagons of a phase.
    pub(super) fn add(&self, place: &mut Place, phase: i64) {
        let ((f0, f1), (height, width)) = (self.floors(), self.extents());
        let (h, w) = (self.h, self.w);
        let (late, aside) = if phase == 0 { (h + 1, f0 + w + 1) } else { (0, 0) };
        place.time(&format!("t + {late} - {height} * T"), height);
        place.block("b0");
        place.local("l0", format!("s0 + {aside} + {} * T - {width} * b0", f1 - f0), width);
        let Slopes { forward: Ratio { num: n0, den: d0 }, backward: Ratio { num: n1, den: d1 } } =
            self.slopes;
        place.that(format!("{n0} * a - {d0} * l0 <= {}", (2 * h + 1) * n0 - d0 * f0));
        place.that(format!("{n1} * a + {d1} * l0 <= {}", (2 * h + 1) * n1 + d1 * (f0 + w)));
        place.that(format!("{n1} * a + {d1} * l0 >= {}", h * n1 - (d1 - 1)));
        place.that(format!("{n0} * a - {d0} * l0 >= {}", h * n0 - d0 * (f0 + w + f1) - (d0 - 1)));
    }
}

/// The phases for the sizes `[h, w0, w1, ...]`; what is missing is chosen.
pub fn phases(ctx: &isl::Context, band: &Band, sizes: &[i64]) -> Result<Vec<Phase>> {
    let default: &[i64] = match band.dims {
        1 => &[31, 96],
        2 => &[5, 6, 256],
        _ => &[1, 1, 32, 32],
    };
    let size = |i: usize| sizes.get(i).copied().unwrap_or(default[i]).max(1);
    let mut slopes = band.slopes[0];
    if planted("cone") {
        slopes.forward.num = (slopes.forward.num - 1).max(0);
    }
    let hexagon = Hexagon::new(size(0), size(1), band.levels, slopes);
    let mut phases = Vec::new();
    for phase in 0..2 {
        let mut place = Place::new(band.dims);
        hexagon.add(&mut place, phase);
        for d in 1..band.dims {
            place.parallelogram(d, band.slopes[d], "a", size(d + 1));
        }
        place.step("a");
        phases.push(place.finish(ctx)?);
    }
    Ok(phases)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time_tiling::testing::{self, slopes};

    /// Slopes of symmetric, asymmetric, one-sided, steep and rational cones.
    const SLOPES: [[i64; 4]; 10] = [
        [1, 1, 1, 1],
        [0, 1, 0, 1],
        [2, 1, 1, 1],
        [1, 1, 0, 1],
        [1, 2, 1, 1],
        [1, 2, 1, 3],
        [3, 2, 1, 2],
        [5, 3, 7, 4],
        [0, 1, 3, 1],
        [4, 1, 4, 1],
    ];

    #[test]
    fn convexity_and_statements() {
        // The example of section 3.2: distances (1, -2) and (2, 2), h = 2.
        let hexagon = Hexagon::new(2, 0, 1, slopes([1, 1, 2, 1]));
        assert_eq!((hexagon.h, hexagon.w), (2, 1));
        assert_eq!(Hexagon::new(2, 3, 1, slopes([1, 1, 2, 1])).w, 3);
        // δ = 3/2 and h = 1: 3/2 + 1/2 - 1.
        assert_eq!(Hexagon::new(1, 0, 1, slopes([3, 2, 0, 1])).w, 1);
        for (h, levels, want) in [(2, 1, 2), (2, 2, 3), (3, 2, 3), (4, 3, 5), (1, 4, 3)] {
            assert_eq!(Hexagon::new(h, 2, levels, slopes([1, 1, 1, 1])).h, want);
        }
    }

    #[test]
    fn hexagons_tile_the_plane_with_equal_tiles() {
        let ctx = isl::Context::new();
        for s in SLOPES {
            for (h, w) in [(0, 0), (1, 0), (2, 0), (2, 3), (3, 1), (5, 2)] {
                let hexagon = Hexagon::new(h, w, 1, slopes(s));
                let phases: Vec<_> = (0..2)
                    .map(|p| {
                        let mut place = Place::new(1);
                        hexagon.add(&mut place, p);
                        place.step("a");
                        place.finish(&ctx).unwrap()
                    })
                    .collect();
                testing::assert_partition(&phases, 1);
                testing::assert_order(&phases, &[slopes(s)], 2 * h + 4);
                let points: Vec<_> = phases.iter().map(|p| testing::points_of_tile(p, &[0, 0])).collect();
                assert_eq!(points[0], points[1], "{hexagon:?}");
                assert_eq!(points[0], testing::points_of_tile(&phases[1], &[3, -2]), "{hexagon:?}");
            }
        }
    }

    #[test]
    fn closed_form_of_the_size() {
        // Section 3.7: 2 (1 + 2h + h² + w (h + 1)) points for δ⁰ = δ¹ = 1.
        let ctx = isl::Context::new();
        for (h, w) in [(0, 0), (1, 2), (3, 1), (4, 7)] {
            let hexagon = Hexagon::new(h, w, 1, slopes([1, 1, 1, 1]));
            let mut place = Place::new(1);
            hexagon.add(&mut place, 1);
            place.step("a");
            let points = testing::points_of_tile(&place.finish(&ctx).unwrap(), &[0, 0]).len() as i64;
            assert_eq!(points, 2 * (1 + 2 * h + h * h + w * (h + 1)));
        }
    }

    #[test]
    fn hybrid_tiles_cover_and_keep_the_order() {
        let ctx = isl::Context::new();
        let s = [[1, 1, 1, 1], [1, 2, 3, 2], [2, 1, 0, 1]];
        let band = Band {
            dims: 2,
            levels: 2,
            coordinates: isl::UnionMap::empty(&ctx).unwrap(),
            slopes: vec![slopes(s[1]), slopes(s[2])],
            forms: vec![],
        };
        let phases = phases(&ctx, &band, &[2, 1, 3]).unwrap();
        testing::assert_partition(&phases, 2);
        testing::assert_order(&phases, &band.slopes, 6);
    }
}

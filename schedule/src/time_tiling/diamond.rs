//! Diamond tiling (Bandishti, Pananilath, Bondhugula, "Tiling stencil computations to maximize parallelism",
//! SC 2012; conditions on the sizes: Grosser, "A decoupled approach to high-level loop optimization", 2014,
//! section 6.1) of time and the outermost space dimension, with parallelograms along the others.
//!
//! The hyperplanes are the edges of the cone of dependences: with `d` the common denominator of the slopes,
//! ```text
//! x = d (δ¹ t + s0),   y = d (δ⁰ t - s0),   i = ⌊x / n⌋,   j = ⌊y / n⌋
//! ```
//! No dependence lowers `x` or `y`. Tiles with one sum `T = i + j` are one launch: from one of them to
//! another, `i` or `j` falls. Equal sizes along both hyperplanes make `x + y`, hence `T`, a function of time
//! alone up to rounding: all tiles of a launch start at once. The determinant of the hyperplanes is
//! `d² (δ⁰ + δ¹)`; sizes that are multiples of it give all tiles the same points.

use super::band::{Band, Ratio, Slopes};
use super::shape::{Phase, Place};
use crate::Result;
use pollyrs_isl as isl;

/// A diamond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diamond {
    /// Of `x` and of `y`.
    pub size: i64,
    /// The common denominator of the slopes, and what they are multiplied by it.
    pub den: i64,
    pub forward: i64,
    pub backward: i64,
}

impl Diamond {
    /// The smallest diamond with equal tiles that is at least `h` times high.
    pub fn new(h: i64, slopes: Slopes) -> Diamond {
        let Slopes { forward: f, mut backward } = slopes;
        if f.num == 0 && backward.num == 0 {
            // No neighbours at all: any cone will do.
            backward = Ratio { num: 1, den: 1 };
        }
        let common = |d: &i64| d % f.den == 0 && d % backward.den == 0;
        let den = (1..f.den * backward.den).find(common).unwrap_or(f.den * backward.den);
        let (forward, backward) = (f.floor_of(den), backward.floor_of(den));
        let determinant = den * (forward + backward);
        // A tile is 2 size / (forward + backward) times high, less what rounding takes.
        let size = (h * (forward + backward) + 1) / 2;
        Diamond { size: (size + determinant - 1) / determinant * determinant, den, forward, backward }
    }

    /// The first time of tile `T` is `t >= (size T) / (forward + backward)`, the last one that many times
    /// later.
    fn add(&self, place: &mut Place) {
        let Diamond { size, den, forward, backward } = *self;
        place.block("b0");
        place.that(format!("0 <= {backward} * t + {den} * s0 - {size} * b0 < {size}"));
        place.that(format!("0 <= {forward} * t - {den} * s0 - {size} * T + {size} * b0 < {size}"));
        // Sizes are multiples of the sum of the slopes, so tiles start at whole times.
        let rise = size / (forward + backward);
        place.time(&format!("t - {rise} * T"), 2 * rise);
        // x = size b0 + x', s0 = (x - backward t) / den: the least coordinate is that of x' = 0 at the last
        // time.
        let reach = (backward * 2 * rise + den - 1) / den;
        let drift = backward * rise;
        // s0 = (size b0 - drift T) / den + local - reach, both quotients whole.
        let value = format!("s0 - {} * b0 + {} * T + {reach}", size / den, drift / den);
        place.local("l0", value, reach + size / den + 1);
    }
}

/// The one phase for the sizes `[h, w1, ...]`; what is missing is chosen.
pub fn phases(ctx: &isl::Context, band: &Band, sizes: &[i64]) -> Result<Vec<Phase>> {
    let default: &[i64] = match band.dims {
        1 => &[128],
        2 => &[16, 32],
        _ => &[8, 8, 32],
    };
    let size = |i: usize| sizes.get(i).copied().unwrap_or(default[i]).max(1);
    let diamond = Diamond::new(size(0), band.slopes[0]);
    let mut place = Place::new(band.dims);
    diamond.add(&mut place);
    for d in 1..band.dims {
        place.parallelogram(d, band.slopes[d], "a", size(d));
    }
    place.step("a");
    Ok(vec![place.finish(ctx)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time_tiling::testing::{self, slopes};

    #[test]
    fn diamonds_cover_and_keep_the_order() {
        let ctx = isl::Context::new();
        for s in
            [[1, 1, 1, 1], [2, 1, 1, 1], [1, 2, 1, 1], [3, 2, 1, 3], [0, 1, 1, 1], [0, 1, 0, 1], [1, 3, 1, 1]]
        {
            for h in [1, 4, 7] {
                let coordinates = isl::UnionMap::empty(&ctx).unwrap();
                let band = Band { dims: 1, levels: 1, coordinates, slopes: vec![slopes(s)], forms: vec![] };
                let phases = phases(&ctx, &band, &[h]).unwrap();
                testing::assert_partition(&phases, 1);
                testing::assert_order(&phases, &band.slopes, 6);
                let at = |tile: &[i64]| testing::points_of_tile(&phases[0], tile);
                assert_eq!(at(&[0, 0]), at(&[1, 0]), "{s:?}");
                assert_eq!(at(&[0, 0]), at(&[3, -2]), "{s:?}");
            }
        }
    }

    #[test]
    fn closed_forms() {
        // Section 6.3 for the heat equation: T²/2 operations with T the height, an even number.
        for h in [2, 4, 6, 12] {
            let d = Diamond::new(h, slopes([1, 1, 1, 1]));
            assert_eq!((d.size, d.den), (h, 1));
            let ctx = isl::Context::new();
            let mut place = Place::new(1);
            d.add(&mut place);
            place.step("a");
            let points = testing::points_of_tile(&place.finish(&ctx).unwrap(), &[0, 0]).len() as i64;
            assert_eq!(points, h * h / 2);
        }
        // δ⁰ = 1, δ¹ = 2 (A[t][i-1], A[t][i+2]): determinant 3. Slopes 1/3 and 1: 3 (1 + 3).
        assert_eq!(Diamond::new(1, slopes([1, 1, 2, 1])).size % 3, 0);
        assert_eq!(Diamond::new(1, slopes([1, 3, 1, 1])).size % 12, 0);
    }
}

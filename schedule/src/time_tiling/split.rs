//! Split tiling (Grosser, Cohen, Kelly, Ramanujam, Sadayappan, Verdoolaege, "Split tiling for GPUs",
//! GPGPU-6 2013) with rectangular bases.
//!
//! Bands of `h` logical times run one after the other. Within a band each space dimension is cut into
//! *upright* tiles, which narrow by the slopes from one time to the next and so need nothing of their
//! neighbours in the band, and *inverted* ones between them, which widen:
//! ```text
//! a = t - h T,   b = s - p S
//! upright    δ⁰ a <= b <= u - δ¹ a              inverted    u - δ¹ a < b < p + δ⁰ a
//! ```
//! A *colour* says for each dimension which of the two a tile is; there are `2^n` for `n` split dimensions,
//! and all tiles of one colour are one launch. Along each dimension a dependence in a band stays in its tile
//! or goes from an upright tile to an inverted one, so colours run in the order of the number of their
//! inverted dimensions.
//!
//! Only the two outermost dimensions are split; along the third there are parallelograms, so there are at
//! most four launches a band.

use super::band::{Band, Ratio, Slopes};
use super::shape::{Phase, Place};
use crate::Result;
use pollyrs_isl as isl;

/// The tiles along one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trapezoid {
    /// Times of a band.
    pub h: i64,
    /// The widest row of an upright tile has `upright + 1` points.
    pub upright: i64,
    /// From one upright tile to the next.
    pub period: i64,
    pub slopes: Slopes,
}

impl Trapezoid {
    /// The narrowest rows of both kinds have at least `w` points.
    pub fn new(h: i64, w: i64, slopes: Slopes) -> Trapezoid {
        let narrowing = slopes.forward.ceil_of(h - 1) + slopes.backward.ceil_of(h - 1);
        let upright = narrowing + w - 1;
        Trapezoid { h, upright, period: upright + 1 + w, slopes }
    }

    fn add(&self, place: &mut Place, d: usize, inverted: bool) {
        let Slopes { forward: Ratio { num: n0, den: d0 }, backward: Ratio { num: n1, den: d1 } } =
            self.slopes;
        let (s, b, l) = (format!("s{d}"), format!("b{d}"), format!("l{d}"));
        place.block(&b);
        // Local coordinates of inverted tiles begin with the points of their widest row.
        let reach = self.slopes.backward.ceil_of(self.h - 1);
        let first = if inverted { self.upright + 1 - reach } else { 0 };
        let end =
            if inverted { self.period + self.slopes.forward.ceil_of(self.h - 1) } else { self.upright + 1 };
        place.local(&l, format!("{s} - {first} - {} * {b}", self.period), end - first);
        let (u, p) = (self.upright, self.period);
        if inverted {
            place.that(format!("{n1} * a + {d1} * {l} >= {}", d1 * (u - first) + 1));
            place.that(format!("{d0} * {l} - {n0} * a <= {}", d0 * (p - first) - 1));
        } else {
            place.that(format!("{n0} * a <= {d0} * {l} and {n1} * a + {d1} * {l} <= {}", d1 * u));
        }
    }
}

/// Dimensions that are split.
const MAX_SPLIT: usize = 2;

/// The phases for the sizes `[h, w0, w1, ...]`; what is missing is chosen.
pub fn phases(ctx: &isl::Context, band: &Band, sizes: &[i64]) -> Result<Vec<Phase>> {
    let default: &[i64] = match band.dims {
        1 => &[32, 64],
        2 => &[4, 4, 24],
        _ => &[2, 2, 4, 32],
    };
    let size = |i: usize| sizes.get(i).copied().unwrap_or(default[i]).max(1);
    // All bands start with the same statement.
    let h = (size(0) + band.levels - 1) / band.levels * band.levels;
    let split = band.dims.min(MAX_SPLIT);
    let mut colours: Vec<u32> = (0..1 << split).collect();
    colours.sort_by_key(|c| (c.count_ones(), *c));
    let mut phases = Vec::new();
    for colour in colours {
        let mut place = Place::new(band.dims);
        place.time(&format!("t - {h} * T"), h);
        for d in 0..split {
            Trapezoid::new(h, size(d + 1), band.slopes[d]).add(&mut place, d, colour >> d & 1 == 1);
        }
        for d in split..band.dims {
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

    #[test]
    fn colours_cover_and_keep_the_order() {
        let ctx = isl::Context::new();
        for s in [
            vec![[1, 1, 1, 1]],
            vec![[0, 1, 2, 1]],
            vec![[3, 2, 1, 3]],
            vec![[0, 1, 0, 1]],
            vec![[1, 1, 1, 1], [2, 1, 1, 2]],
            vec![[1, 2, 1, 1], [0, 1, 1, 1]],
        ] {
            let slopes: Vec<_> = s.iter().map(|s| slopes(*s)).collect();
            let coordinates = isl::UnionMap::empty(&ctx).unwrap();
            let band = Band { dims: s.len(), levels: 1, coordinates, slopes, forms: vec![] };
            for sizes in [[1, 1, 1], [3, 1, 2], [4, 3, 1]] {
                let phases = phases(&ctx, &band, &sizes).unwrap();
                assert_eq!(phases.len(), 1 << s.len());
                testing::assert_partition(&phases, s.len());
                testing::assert_order(&phases, &band.slopes, 6);
            }
        }
    }

    #[test]
    fn widths() {
        // Eight times narrow a tile by 7 points on either side.
        let t = Trapezoid::new(8, 2, slopes([1, 1, 1, 1]));
        assert_eq!((t.upright + 1, t.period), (16, 18));
    }
}

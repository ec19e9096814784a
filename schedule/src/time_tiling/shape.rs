//! What all time tilings produce: phases, each of which places points of the band in tiles.

use super::band::{Ratio, Slopes};
use crate::Result;
use crate::names::Param;
use crate::names::names;
use pollyrs_isl as isl;

/// A kind of tile. The tiles of one phase with the same `T` are one launch; for each `T` the phases are
/// launched in order.
#[derive(Clone, Debug)]
pub struct Phase {
    /// `{ [logical time, space] -> [T, blocks, steps, local] }`, single-valued: the tile, the step in the
    /// tile between whose barriers a point is computed, and the place among the points of the step. All
    /// constraints are affine, so that fixing the tile leaves no division.
    pub place: isl::Map,
    pub blocks: usize,
    pub steps: usize,
    /// Local coordinates are in `0 .. extent`.
    pub extents: Vec<i64>,
    /// The host parameter that is `T`.
    pub launch: String,
}

/// The text of a [`Phase::place`] while it grows.
pub(super) struct Place {
    space: usize,
    blocks: Vec<String>,
    steps: Vec<String>,
    local: Vec<String>,
    pub extents: Vec<i64>,
    constraints: Vec<String>,
}

impl Place {
    /// Of points `[t, s0, ...]`. The tile's time is `T`.
    pub fn new(space: usize) -> Place {
        Place { space, blocks: vec![], steps: vec![], local: vec![], extents: vec![], constraints: vec![] }
    }

    pub fn block(&mut self, name: &str) {
        self.blocks.push(name.into());
    }

    pub fn step(&mut self, name: &str) {
        self.steps.push(name.into());
    }

    /// A local coordinate with values in `0 .. extent`.
    pub fn local(&mut self, name: &str, value: String, extent: i64) {
        self.constraints.push(format!("{name} = {value} and 0 <= {name} < {extent}"));
        self.local.push(name.into());
        self.extents.push(extent);
    }

    /// The time in the tile, which is its last step coordinate: `a = value`, in `0 .. height`.
    pub fn time(&mut self, value: &str, height: i64) {
        self.constraints.push(format!("a = {value} and 0 <= a < {height}"));
    }

    pub fn that(&mut self, constraint: String) {
        self.constraints.push(constraint);
    }

    /// Parallelogram tiles of width `w` along dimension `d`, one after the other (Grosser, Cohen, Holewinski,
    /// Sadayappan, Verdoolaege, "Hybrid hexagonal/classical tiling for GPUs", CGO 2014, formulas 16 and 19):
    /// `S = ⌊(s + δ¹ u) / w⌋`, with `u` the time in the tile. No dependence goes to a smaller `S`, since `s`
    /// falls by at most `δ¹` in a unit of time.
    pub fn parallelogram(&mut self, d: usize, slopes: Slopes, u: &str, w: i64) {
        let Ratio { num, den } = slopes.backward;
        let shift = if den == 1 { format!("{num} * {u}") } else { format!("floor(({num} * {u}) / {den})") };
        let step = format!("c{d}");
        self.local(&format!("l{d}"), format!("s{d} + {shift} - {w} * {step}"), w);
        self.step(&step);
    }

    pub fn finish(self, ctx: &isl::Context) -> Result<Phase> {
        let out = [&["T".to_string()][..], &self.blocks, &self.steps, &self.local].concat();
        let text = format!(
            "{{ [t, {}] -> [{}] : {} }}",
            names("s", self.space).join(", "),
            out.join(", "),
            self.constraints.join(" and ")
        );
        Ok(Phase {
            place: isl::Map::read(ctx, &text)?,
            blocks: self.blocks.len(),
            steps: self.steps.len(),
            extents: self.extents,
            launch: Param::Host(0).to_string(),
        })
    }
}

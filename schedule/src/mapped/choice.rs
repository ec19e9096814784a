//! What is chosen between at run time: shapes of tiles, and where a launch is cut between two of them.

use pollyrs_isl as isl;

/// Instances that run in blocks with steps or in launches, whichever is estimated to be faster. The value of
/// `param` may be any integer: up to zero it is the blocks, else the launches, which the checker proves to be
/// one of both. Generated code takes the one with the smaller time.
#[derive(Clone, Debug)]
pub struct Nested {
    /// A parameter of `MappedScop::host` (`_n0`).
    pub param: String,
    /// Of the blocks, and of the launches.
    pub times: [Time; 2],
}

/// Tiles whose code need not be there from the beginning. The value of `param`, another parameter of
/// [`crate::mapped::MappedScop::host`], may be any integer: up to zero tiles run, else plain kernels with the
/// same instances, which the checker proves to be one of both.
#[derive(Clone, Debug)]
pub struct Late {
    pub param: String,
    /// The tiled kernels.
    pub kernels: Vec<usize>,
}

/// An estimate that depends on sizes.
#[derive(Clone, Debug)]
pub enum Time {
    Number(f64),
    /// `[params] -> { [] -> [v] }`
    Extent(isl::PwAff),
    Sum(Vec<Time>),
    Product(Vec<Time>),
    Max(Vec<Time>),
}

/// One of the kernels of a [`Choice`].
#[derive(Clone, Copy, Debug)]
pub struct Alternative {
    /// Index of the kernel.
    pub kernel: usize,
    /// Time of a multiprocessor with as many blocks as fit it, in any unit.
    pub weight: u32,
    pub residents: u32,
}

/// Kernels with the same instances, of which one is launched. The value of `param` may be any integer:
/// whatever it is, exactly one of them runs, which the checker proves. Generated code takes the one with the
/// smallest time ([`Alternative::time`]).
///
/// With a cut, the value is a point instead: of two kernels that share the instances, the first runs the
/// points below it, the second what is left, again for any integer.
#[derive(Clone, Debug)]
pub struct Choice {
    /// A parameter of `MappedScop::host` (`_c0`).
    pub param: String,
    /// For the values 0, 1, ... of `param`.
    pub kernels: Vec<Alternative>,
    pub multiprocessors: u32,
    pub cut: Option<Cut>,
}

/// Where the instances of two kernels may be parted: at multiples of the first one's tiles along one
/// dimension.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The dimension of the grids.
    pub dim: usize,
    /// Points of a tile of the first kernel along it.
    pub tile: u32,
    /// Tiles of the second kernel in one of the first along it.
    pub ratio: u32,
    /// The smallest point, and the one behind the largest: the choice should lie between them, and at a
    /// multiple of a tile or at the end.
    pub first: isl::PwAff,
    pub end: isl::PwAff,
    /// By kernel, for each dimension of the grid: the smallest tile coordinate and the number of tiles if the
    /// kernel had all instances; `[params] -> { [] -> [v] }`.
    pub grids: [Vec<(isl::PwAff, isl::PwAff)>; 2],
}

/// Blocks that two kernels have by where their instances are parted.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// Tiles of the first kernel along the cut dimension, and along all others, if it had all instances.
    pub large: [u64; 2],
    /// The same of the second one.
    pub small: [u64; 2],
    /// Tiles of the second one in a tile of the first, along the cut dimension.
    pub ratio: u64,
}

impl Alternative {
    /// The time of a launch: a multiprocessor runs `residents` of its blocks at once, in `weight`; those left
    /// over take a third of that, and the rest in proportion to their number (measured on an H200: two of six
    /// resident blocks take 0.57 of the time of six; `bench/notes/002-matrix-products.md` compares
    /// predictions with measurements).
    pub fn time(&self, blocks: u64, multiprocessors: u32) -> u64 {
        let (weight, residents) = (u64::from(self.weight), u64::from(self.residents.max(1)));
        let busy = blocks.div_ceil(multiprocessors.max(1).into());
        let left = busy % residents;
        let last = if left > 0 { weight / 3 + 2 * weight * left / (3 * residents) } else { 0 };
        (busy / residents).saturating_mul(weight).saturating_add(last)
    }
}

impl Choice {
    /// The number of tiles of the first kernel to run by it, along the cut dimension, of those that may be
    /// best: none, all, all but the last, and as many as fill the multiprocessors.
    pub fn candidates(&self, blocks: &Blocks) -> [u64; 4] {
        let [rows, columns] = blocks.large;
        let (a, columns) = (self.kernels[0], columns.max(1));
        let slots = u64::from(self.multiprocessors) * u64::from(a.residents.max(1));
        let waves = rows.saturating_mul(columns) / slots.max(1);
        [rows, 0, rows.saturating_sub(1), (waves.saturating_mul(slots) / columns).min(rows)]
    }

    /// The time of both launches with the first `rows` tiles by the first kernel; a second launch has to gain
    /// a twentieth, as much as predictions are off (products of doubles, 2600 x 2600 x 2000: 0.548 ms cut,
    /// 0.536 in small tiles).
    pub fn time(&self, blocks: &Blocks, rows: u64) -> u64 {
        let left = blocks.small[0].saturating_sub(rows * blocks.ratio);
        let large = self.kernels[0].time(rows.saturating_mul(blocks.large[1]), self.multiprocessors);
        let small = self.kernels[1].time(left.saturating_mul(blocks.small[1]), self.multiprocessors);
        let both = large.saturating_add(small);
        if rows > 0 && left > 0 && rows < blocks.large[0] {
            both.saturating_add(both / 20)
        } else {
            large.max(small)
        }
    }

    /// The best of the [candidates](Choice::candidates), the first of equals.
    pub fn best(&self, blocks: &Blocks) -> u64 {
        let candidates = self.candidates(blocks);
        candidates.into_iter().min_by_key(|rows| self.time(blocks, *rows)).unwrap_or(0)
    }
}

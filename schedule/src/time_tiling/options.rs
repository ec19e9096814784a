//! What time tiles may be, and why there are none.

use crate::Refusal;

/// The shapes of tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeTiling {
    /// Hexagons, with parallelograms along all space dimensions but the first. Sizes: `h, w0, w1, ...`
    Hybrid,
    /// Diamonds, with parallelograms. Sizes: `height, w1, ...`
    Diamond,
    /// Trapezoids along every dimension. Sizes: `height, w0, w1, ...`
    Split,
}

/// What the code of a tile does beyond being right. Each can be switched off, to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Techniques {
    /// Values pass between the steps of a tile in shared memory.
    pub windows: bool,
    /// Stages with all points have code of their own, in which steps and the points of a thread are unrolled.
    pub unroll: bool,
    /// Values that no one needs outside of their stage are not stored to global memory.
    pub passing: bool,
    /// The cache lines of the next stage are asked for while one is computed.
    pub prefetch: bool,
    /// In two dimensions, the rows of a step are spread over several times as many threads: where a point
    /// takes long, more of them hide it.
    pub spread: bool,
}

impl Default for Techniques {
    fn default() -> Self {
        Techniques { windows: true, unroll: true, passing: true, prefetch: true, spread: false }
    }
}

/// Why a SCoP is not tiled in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTiled {
    #[error("the statements are not all nests of up to three dimensions under a time loop")]
    Shape,
    #[error("the time loop does not carry all dependences")]
    Order,
    #[error("a dependence reaches further than a constant times its distance in time")]
    Unbounded,
    #[error("the space dimensions are not bounded by one interval each")]
    Bounds,
}

/// Something of a SCoP that is tiled in time, or why it is not.
pub type Tiled<T> = std::result::Result<T, Refusal<NotTiled>>;

//! Sizes of tiles and blocks, which forms are chosen from, and the budget.

use super::tile::TilingOptions;
use pollyrs_scop::StmtId;

/// Where the nests of a placed tree run in blocks ([`crate::strategy::NEST`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nests {
    /// Where they are estimated to be faster, for the sizes of an execution.
    Auto,
    Never,
    Always,
}

/// Sizes of tiles and blocks, and the budget.
#[derive(Clone, Debug)]
pub struct MapOptions {
    /// Threads along the dimensions of a block with one, two and three dimensions, outermost first. At most
    /// 1024 in all.
    pub threads: [Vec<u32>; 3],
    /// Threads of a block with one dimension in which every thread runs a loop.
    pub looped: u32,
    /// Points of a tile for each thread along each dimension; 1 everywhere unless a strategy reuses data
    /// between them.
    pub points: [Vec<u32>; 3],
    /// Kernels with reuse along two dimensions compute several points a thread; `None`: never.
    pub tiling: Option<TilingOptions>,
    /// Tiles of wavefronts: points along each loop, outermost first, what is missing is chosen; `None`: a
    /// launch for each front.
    pub waves: Option<Vec<i64>>,
    pub nests: Nests,
    /// Where loops of launches are one launch whose blocks wait for each other ([`crate::strategy::GRAPH`]).
    pub graphs: Nests,
    /// Tiles have a plain kernel beside them that runs while their code isn't there
    /// ([`crate::mapped::MappedScop::late`]).
    pub late: bool,
    /// Neighbouring points share loads in kernels that a loop of the host launches as well. (Time steps that
    /// are fused have no use for that.)
    pub neighbours_in_steps: bool,
    /// Statements that do nothing but fuse a product of doubles into a sum: `c = fma(a, b, c)`.
    pub products: Vec<StmtId>,
    /// Statements whose last operation waits for another one of the same instance: `t = a * b; c = c + t`,
    /// without contraction.
    pub chained: Vec<StmtId>,
    /// Whether some statement divides integers, which must not happen at points that do not exist.
    pub divides: bool,
    /// By statement: instructions of the device that its divisions and functions are. Statements that are not
    /// listed have none.
    pub bulk: Vec<u32>,
    /// isl operations.
    pub budget: u64,
}

impl Default for MapOptions {
    /// Warps along x, eight of them a block: enough to hide latency at any register count the kernels reach,
    /// small enough that partial tiles waste little. In three dimensions four, with the outermost dimension
    /// the block's, not the thread's: what depends on it alone is computed once a warp, not by each thread,
    /// where index arithmetic is most of the instructions (bench/notes/016-sizes-and-steps.md: on an H200
    /// stencils are 10 to 16% faster than with 4x4x32, and nothing is slower; 8 along y idle where the middle
    /// loop is short).
    fn default() -> Self {
        MapOptions {
            threads: [vec![256], vec![8, 32], vec![1, 4, 32]],
            // Few iterations, each long: blocks of a warp spread them over most multiprocessors, and where
            // there are many, 32 blocks of a warp still share one.
            looped: 32,
            points: [vec![1], vec![1, 1], vec![1, 1, 1]],
            tiling: Some(TilingOptions::default()),
            waves: Some(Vec::new()),
            nests: Nests::Auto,
            graphs: Nests::Never,
            late: false,
            neighbours_in_steps: true,
            products: Vec::new(),
            chained: Vec::new(),
            divides: false,
            bulk: Vec::new(),
            budget: crate::DEFAULT_BUDGET,
        }
    }
}

impl MapOptions {
    /// `(tile size, threads)` along dimension `d` of `n`; beyond three dimensions, only the innermost three
    /// have threads.
    pub(super) fn sizes(&self, n: usize, d: usize) -> (u32, u32) {
        let Some(d) = d.checked_sub(n.saturating_sub(3)) else { return (1, 1) };
        let n = n.min(3);
        let at =
            |v: &[Vec<u32>; 3], default: u32| v.get(n - 1).and_then(|v| v.get(d)).copied().unwrap_or(default);
        let threads = at(&self.threads, 1).max(1);
        (threads * at(&self.points, 1).max(1), threads)
    }
}

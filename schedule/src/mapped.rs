//! A SCoP mapped to the device: what the mapping produces, the checker proves and code generation reads.

use pollyrs_isl as isl;

/// Where an array lives while a SCoP runs on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Device memory.
    Global,
    /// One cell in each thread: only for scalars and PHIs whose dataflow survives the contraction.
    Private,
}

/// One dimension of the grid. Both functions are over the parameters and the kernel's host parameters:
/// `[params, _h*] -> { [] -> [v] }`.
#[derive(Clone, Debug)]
pub struct GridDim {
    /// The parameter that stands for the tile coordinate in `MappedKernel::schedule` (`_b0`).
    pub param: String,
    /// The smallest tile coordinate: block index 0 along this dimension is tile coordinate `lower`.
    pub lower: isl::PwAff,
    /// The number of tile coordinates, positive wherever the kernel is launched.
    pub count: isl::PwAff,
}

/// One dimension of the block.
#[derive(Clone, Debug)]
pub struct BlockDim {
    /// The parameter that stands for the thread index in `MappedKernel::schedule` (`_t0`).
    pub param: String,
    /// Threads along this dimension.
    pub size: u32,
}

/// A kernel. One launch executes the instances of `domain` for fixed values of its host parameters.
#[derive(Clone, Debug)]
pub struct MappedKernel {
    /// The kernel's tuple name in `MappedScop::host` (`K0`).
    pub name: String,
    /// Parameters that stand for the host loops around the launch (`_h0`, ...): the dimensions of the kernel's tuple in
    /// `MappedScop::host`.
    pub host_params: Vec<String>,
    /// `[params, _h*] -> { S[i] }`: the instances of one launch.
    pub domain: isl::UnionSet,
    /// Outermost (slowest) first; the last one varies fastest in the linear block index.
    pub grid: Vec<GridDim>,
    /// Outermost first; the last one is x.
    pub block: Vec<BlockDim>,
    /// `[params, _h*] -> { S[i] -> [tile coordinates] }`, one output dimension a grid dimension.
    pub tile_map: isl::UnionMap,
    /// `[params, _h*] -> { S[i] -> [thread indices] }`, one output dimension a block dimension, each in `0 .. size`.
    pub thread_map: isl::UnionMap,
    /// `[params, _h*, _b*, _t*]`: what one thread executes, in order. Its domain is `domain` restricted to the instances with
    /// `tile_map = _b*` and `thread_map = _t*`.
    pub schedule: isl::Schedule,
    /// `[params, _h*, _b*, _t*] -> { : ... }`: what holds in every thread of every launch (ranges of `_b*` and `_t*`
    /// included).
    pub context: isl::Set,
}

/// A mapped SCoP.
#[derive(Clone, Debug)]
pub struct MappedScop {
    pub kernels: Vec<MappedKernel>,
    /// `[params] -> { K0[_h0, ...]; K1[]; ... }` with the order of the launches: host loops and sequences. A kernel's domain
    /// holds exactly the host iterations in which it has something to do.
    pub host: isl::Schedule,
    /// By `ArrayId`.
    pub placement: Vec<Placement>,
}

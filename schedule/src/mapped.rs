//! A SCoP mapped to the device: what the mapping produces, the checker proves and code generation reads.

mod choice;
mod tiling;

pub use choice::{Alternative, Blocks, Choice, Cut, Late, Nested, Time};
pub use tiling::{Guard, OperandTile, RegisterCell, SharedGroup, TiledDim, Tiling, Without};

use crate::names::{Mark, Tuple};
use crate::task::{Carried, TaskMemory, Update};
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
    /// Parameters that stand for the host loops around the launch (`_h0`, ...): the dimensions of the
    /// kernel's tuple in `MappedScop::host`.
    pub host_params: Vec<String>,
    /// `[params, _h*] -> { S[i] }`: the instances of one launch.
    pub domain: isl::UnionSet,
    /// Outermost (slowest) first; the last one varies fastest in the linear block index, unless code
    /// generation orders tiles in groups.
    pub grid: Vec<GridDim>,
    /// Outermost first; the last one is x.
    pub block: Vec<BlockDim>,
    /// `[params, _h*] -> { S[i] -> [tile coordinates] }`, one output dimension a grid dimension.
    pub tile_map: isl::UnionMap,
    /// `[params, _h*] -> { S[i] -> [thread indices] }`, one output dimension a block dimension, each in
    /// `0 .. size`.
    pub thread_map: isl::UnionMap,
    /// `[params, _h*, _b*, _t*]`: what one thread executes, in order. Its domain is `domain` restricted to
    /// the instances with `tile_map = _b*` and `thread_map = _t*`.
    pub schedule: isl::Schedule,
    /// `[params, _h*, _b*, _t*] -> { : ... }`: what holds in every thread of every launch (ranges of `_b*`
    /// and `_t*` included).
    pub context: isl::Set,
    /// What the threads of a block have to do with each other.
    pub mode: Mode,
    /// Cells that stay in a register while a loop runs: what the marks in `schedule` say whose names begin
    /// with [`Mark::Promoted`].
    pub promotions: Vec<Promotion>,
    /// Reads, by statement and index of the access, whose cell no instance of the launch has written before:
    /// code may load earlier than it says.
    pub hoistable: Vec<(pollyrs_scop::StmtId, usize)>,
}

/// What the threads of a block have to do with each other, and how many points each has at a time.
#[derive(Clone, Debug)]
pub enum Mode {
    /// Nothing, and one.
    Points,
    /// So many threads of a block for each one with instances, a power of two up to a warp: a *team*, side by
    /// side, runs an instance together. Each of them computes all of it, but for what iterations of
    /// [`pollyrs_scop::Spread`] compute alone, which they share; the first one alone accesses what the kernel
    /// writes.
    Team(u32),
    /// Arrays whose updates a block makes in shared memory first.
    Counters(Vec<Counters>),
    /// A thread computes several points side by side: [`MappedKernel::schedule`] is the tiling's.
    Tiled(Box<Tiling>),
    /// The threads of a block wait for each other.
    Steps(Steps),
}

/// [`MappedKernel::schedule`] holds, beside the instances, `_barrier[c]`, the same for all threads of a
/// block, in lexicographic order, and every thread executes the instances of step `c` after all earlier
/// barriers and before `_barrier[c]`.
#[derive(Clone, Debug)]
pub struct Steps {
    /// `[params, _h*] -> { S[i] -> [c] }`
    pub order: isl::UnionMap,
    pub of: StepsOf,
}

/// What a block runs in steps, and where values pass between these.
#[derive(Clone, Debug)]
pub enum StepsOf {
    /// Loops beneath parallel ones; in memory.
    Nest,
    /// The same, of rows that a block has in shared memory from its only stage on.
    Rows(Vec<Window>),
    /// A tile of time steps.
    Tile(Stages),
    /// *Tasks*: each block claims the next tile from a counter, in lexicographic order. `schedule` holds,
    /// beside instances and barriers, `_wait[c, b']` in one thread of a block: step `c` and all later ones
    /// run when the block of tile `b'` has ended. With updates it holds `_update0[k]`, ..., the same for all
    /// threads of a block, ahead of the instances that they are, which are beneath a mark of this name; with
    /// carried ones `_carried0[c]` likewise; with stages `_stage[k]`.
    Task(TaskMemory),
}

/// The stages of a tile of time steps.
#[derive(Clone, Debug, Default)]
pub struct Stages {
    /// Arrays whose values pass between steps in shared memory.
    pub windows: Vec<Window>,
    /// `[params, _h*, _b*] -> { _enter[p] }`: stages that get code of their own, for which all that is known
    /// of them is used; one polyhedron. Any set is right.
    pub full: Option<isl::Set>,
    /// The steps of stages are unrolled, where full ones have code of their own.
    pub unrolled: bool,
    /// Full stages ask for the cache lines of the next one.
    pub prefetch: bool,
}

/// What every kernel has; the fields are those of [`MappedKernel`].
pub(crate) struct Core {
    pub domain: isl::UnionSet,
    pub grid: Vec<GridDim>,
    pub block: Vec<BlockDim>,
    pub tile_map: isl::UnionMap,
    pub thread_map: isl::UnionMap,
    pub schedule: isl::Schedule,
    pub context: isl::Set,
}

impl MappedKernel {
    /// A kernel whose threads have nothing to do with each other, and run one point at a time.
    pub(crate) fn new(name: String, host_params: Vec<String>, core: Core) -> MappedKernel {
        let Core { domain, grid, block, tile_map, thread_map, schedule, context } = core;
        MappedKernel {
            name,
            host_params,
            domain,
            grid,
            block,
            tile_map,
            thread_map,
            schedule,
            context,
            mode: Mode::Points,
            promotions: Vec::new(),
            hoistable: Vec::new(),
        }
    }

    pub fn tiling(&self) -> Option<&Tiling> {
        match &self.mode {
            Mode::Tiled(t) => Some(t),
            _ => None,
        }
    }

    /// The order of its steps.
    pub fn steps(&self) -> Option<&isl::UnionMap> {
        match &self.mode {
            Mode::Steps(s) => Some(&s.order),
            _ => None,
        }
    }

    fn steps_of(&self) -> Option<&StepsOf> {
        match &self.mode {
            Mode::Steps(s) => Some(&s.of),
            _ => None,
        }
    }

    /// Arrays whose values pass between steps in shared memory.
    pub fn windows(&self) -> &[Window] {
        match self.steps_of() {
            Some(StepsOf::Rows(windows)) => windows,
            Some(StepsOf::Tile(s)) => &s.windows,
            _ => &[],
        }
    }

    /// Whether blocks have rows in shared memory.
    pub fn has_rows(&self) -> bool {
        matches!(self.steps_of(), Some(StepsOf::Rows(_)))
    }

    /// Those of a tile of time steps.
    pub fn stages(&self) -> Option<&Stages> {
        match self.steps_of() {
            Some(StepsOf::Tile(s)) => Some(s),
            _ => None,
        }
    }

    /// [`Stages::full`], if it has such.
    pub fn full(&self) -> Option<&isl::Set> {
        self.stages()?.full.as_ref()
    }

    /// Set if the blocks are tasks.
    pub fn task(&self) -> Option<&TaskMemory> {
        match self.steps_of() {
            Some(StepsOf::Task(memory)) => Some(memory),
            _ => None,
        }
    }

    /// Updates of a task.
    pub fn updates(&self) -> &[Update] {
        self.task().map_or(&[], |t| &t.updates)
    }

    /// Carried updates of a task.
    pub fn carried(&self) -> &[Carried] {
        self.task().map_or(&[], |t| &t.carried)
    }

    pub fn counters(&self) -> &[Counters] {
        match &self.mode {
            Mode::Counters(counters) => counters,
            _ => &[],
        }
    }

    /// Threads that run an instance together.
    pub fn team(&self) -> u32 {
        match self.mode {
            Mode::Team(threads) => threads,
            _ => 1,
        }
    }
}

/// What mistakes are planted in.
#[cfg(test)]
impl MappedKernel {
    pub(crate) fn tiling_mut(&mut self) -> &mut Tiling {
        match &mut self.mode {
            Mode::Tiled(t) => t,
            other => panic!("no tiling: {other:?}"),
        }
    }

    pub(crate) fn counters_mut(&mut self) -> &mut Vec<Counters> {
        match &mut self.mode {
            Mode::Counters(counters) => counters,
            other => panic!("no counters: {other:?}"),
        }
    }

    pub(crate) fn steps_mut(&mut self) -> &mut Steps {
        match &mut self.mode {
            Mode::Steps(s) => s,
            other => panic!("no steps: {other:?}"),
        }
    }

    pub(crate) fn windows_mut(&mut self) -> &mut Vec<Window> {
        match &mut self.steps_mut().of {
            StepsOf::Rows(windows) | StepsOf::Tile(Stages { windows, .. }) => windows,
            other => panic!("no windows: {other:?}"),
        }
    }

    pub(crate) fn task_mut(&mut self) -> &mut TaskMemory {
        match &mut self.steps_mut().of {
            StepsOf::Task(memory) => memory,
            other => panic!("no task: {other:?}"),
        }
    }
}

/// An array of which a kernel only makes updates of integers with one operation ([`pollyrs_scop::Update`]),
/// which a block combines in counters of its own in shared memory, from the identity, and with the array
/// behind its last instance: if at most so many elements may be updated.
#[derive(Clone, Debug)]
pub struct Counters {
    pub array: pollyrs_scop::ArrayId,
    /// The smallest and the largest subscripts of what a launch may update, one for each dimension of the
    /// array: `[params, _h*] -> { [s] }`.
    pub bounds: Vec<(isl::PwAff, isl::PwAff)>,
    /// Elements that there is room for.
    pub most: u32,
}

/// Blocks of at most so many threads are those of long loops, in which nothing but other loads hides the
/// latency of a load.
pub const FEW_THREADS: u32 = 64;

/// The cell that all instances beneath a mark access by some of their accesses, for fixed values of all loops
/// around it. Code loads it before the loop beneath the mark and stores it behind, both only if the loop has
/// an iteration; or it leaves it in memory.
#[derive(Clone, Debug)]
pub struct Promotion {
    /// What is above the loop.
    pub mark: Mark,
    /// The only statement beneath it.
    pub statement: pollyrs_scop::StmtId,
    /// Indices of the statement's accesses to the cell.
    pub accesses: Vec<usize>,
}

/// A box of an array in shared memory, while a block runs the steps that are equal but for their last
/// coordinate: a *stage* `p`.
///
/// The thread's schedule holds, for each stage, `_enter[p]` in every thread, from where on the window begins
/// at `lower(p)`, and `_in0[p, s]` in one thread, which copies `A[s]` into it; [`Steps::order`] has
/// them in a step of the stage before all others. From there on every access of the kernel to the array is
/// one of the window. What is written goes to the array in global memory as well, by the same thread, but for
/// [`Window::passing`]: nothing has to be copied back.
#[derive(Clone, Debug)]
pub struct Window {
    pub array: pollyrs_scop::ArrayId,
    /// The tuple of the copies.
    pub copy: Tuple,
    /// The smallest subscripts in the window: `[params, _h*, _b*] -> { _enter[p] -> [s] }`, one for each
    /// dimension of the array.
    pub lower: Vec<isl::PwAff>,
    /// Elements along each dimension of the array.
    pub size: Vec<u32>,
    /// `[params, _h*, _b*] -> { S[i] -> _enter[p] }`: instances of a stage whose values no one needs in the
    /// array: the code may store them, or not.
    pub passing: isl::UnionMap,
    /// Statements of which an instance that there is not would read, were it computed, what the second
    /// statement may write meanwhile, if code has both between the same barriers. The value is thrown away:
    /// nothing but the reports of tools that watch shared memory depends on it.
    pub disturbed: Vec<(pollyrs_scop::StmtId, pollyrs_scop::StmtId)>,
}

impl Window {
    /// Elements from one row of each dimension to the next.
    pub fn strides(&self) -> Vec<u64> {
        let mut strides = vec![1; self.size.len()];
        for d in (1..self.size.len()).rev() {
            strides[d - 1] = strides[d] * u64::from(self.size[d]);
        }
        strides
    }

    pub fn elements(&self) -> u64 {
        self.size.iter().map(|s| u64::from(*s)).product()
    }
}

/// A mapped SCoP.
#[derive(Clone, Debug)]
pub struct MappedScop {
    pub kernels: Vec<MappedKernel>,
    /// `[params] -> { K0[_h0, ...]; K1[]; ... }` with the order of the launches: host loops and sequences. A
    /// kernel's domain holds exactly the host iterations in which it has something to do.
    pub host: isl::Schedule,
    /// By `ArrayId`.
    pub placement: Vec<Placement>,
    /// The parameters of `host` that are not the SCoP's: these, and those of `nested`.
    pub choices: Vec<Choice>,
    pub nested: Vec<Nested>,
    pub late: Option<Late>,
    /// Launches may be cut for several devices: kernels take the number of their first block.
    pub divides: bool,
}

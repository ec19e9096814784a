//! A SCoP mapped to the device: what the mapping produces, the checker proves and code generation reads.

use crate::names::{Mark, Tuple};
use crate::task::{TaskMemory, Update};
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
    /// stages `_stage[k]`.
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

/// A kernel in which every thread computes a block of points side by side: whatever loops run beneath the
/// mapped members, they are the same for all points, so that one loop serves them all and operands are reused
/// from registers and shared memory.
///
/// A *point* is a value of the mapped members `v`, inside the box `min .. max`. Block `b`, thread `t` and
/// point number `p` of the thread have
/// ```text
/// v = tile b + vector (t + threads (p / vector)) + p mod vector,    tile = threads points
/// ```
/// along each dimension. A thread executes, for each of its points, the instances of `min(v, max)`: outside
/// the box it repeats the work of a point of the box, in registers, and stores nothing. So no thread leaves a
/// loop or a barrier early. Points of the box that the launch does not have compute as well, what they like,
/// and store nothing.
#[derive(Clone, Debug)]
pub struct Tiling {
    /// One for each dimension of the grid.
    pub dims: Vec<TiledDim>,
    /// Threads of a warp along each dimension, 32 in all: thread indices are digits of the linear index by
    /// these, then by warps.
    pub lanes: Vec<u32>,
    /// Blocks that should fit a multiprocessor at once.
    pub residents: u32,
    /// Sets of buffers for strips that come by copies that no thread waits for; 0: two sets, filled through
    /// registers.
    pub stages: u32,
    /// Whether all that runs in loops fuses products of doubles into sums ([`crate::MapOptions::products`]).
    pub products: bool,
    /// Threads of a block for each one with points. The others only help to fill the buffers; they are the
    /// slowest part of the linear thread index.
    pub helpers: u32,
    /// Whether threads all of whose points are in the box run code of their own, in which loops of constant
    /// length are unrolled and neighbouring points share loads, and those without points none. There are no
    /// operand tiles then.
    pub unrolled: bool,
    /// There, the number of a loop along whose iterations a window moves as it does from point to point of a
    /// thread, which lie along one dimension: the loop runs row by row of what is read, each row for all
    /// points that have it. Each point's iterations stay in their order.
    pub slides: Option<usize>,
    /// `[params, _h*] -> { S[i] -> [v] }`: the point of an instance.
    pub member_map: isl::UnionMap,
    /// `[params, _h*, _b*, _v*]`: what one point executes, in order, and `_copy0[c]`, ... where the block
    /// fills the buffers of an operand tile. No bound and no condition depends on `_v*`. What has a guard may
    /// hold more than the point's instances.
    pub schedule: isl::Schedule,
    /// `[params, _h*, _b*, _v*] -> { : min <= _v <= max, _v in the tile _b, and what is known }`.
    pub context: isl::Set,
    /// `[params, _h*, _b*] -> { : ... }`: the tiles with points; others leave at once. `None`: all.
    pub tiles: Option<isl::Set>,
    /// Statements of which the schedule has too many instances. A statement without a guard may have some at
    /// points that the launch does not have.
    pub guards: Vec<Guard>,
    /// Arrays whose cell of a point lives in a register: loaded first, stored last. Every array that the
    /// kernel writes is here or private.
    pub registers: Vec<RegisterCell>,
    pub operand_tiles: Vec<OperandTile>,
}

impl Tiling {
    /// Whether access number `access` of a statement reads an array in registers, but from memory.
    pub fn reads_in_memory(&self, statement: pollyrs_scop::StmtId, access: usize) -> bool {
        self.registers.iter().any(|r| r.apart.contains(&(statement, access)))
    }
}

/// A statement that runs only where an instance exists.
#[derive(Clone, Debug)]
pub struct Guard {
    pub statement: pollyrs_scop::StmtId,
    /// `[params, _h*] -> { S[i] }`: those of the schedule's instances that run.
    pub instances: isl::Set,
}

/// One dimension of a [`Tiling`].
#[derive(Clone, Debug)]
pub struct TiledDim {
    /// The parameter that stands for the point's coordinate (`_v0`).
    pub param: String,
    /// Points of a thread, a multiple of `vector`.
    pub points: u32,
    /// Consecutive points of a thread.
    pub vector: u32,
    /// The bounds of the box; `[params, _h*] -> { [v] }`.
    pub min: isl::PwAff,
    pub max: isl::PwAff,
}

/// An array of which each point uses one cell, and each cell belongs to one point.
#[derive(Clone, Debug)]
pub struct RegisterCell {
    pub array: pollyrs_scop::ArrayId,
    /// `[params, _h*] -> { [v] -> A[s] }`, defined where the point uses the cell.
    pub cell: isl::Map,
    /// `[params, _h*, _b*] -> { : ... }`: tiles of which all points in the box use their cells. `None`: all,
    /// if any does.
    pub full: Option<isl::Set>,
    /// Reads of elements that no instance of the launch writes (the other plane of an array with two): these
    /// stay in memory.
    pub apart: Vec<(pollyrs_scop::StmtId, usize)>,
}

/// A strip of a sequential loop whose operands are copied to shared memory first.
#[derive(Clone, Debug)]
pub struct OperandTile {
    /// The tuple of the copy in [`Tiling::schedule`].
    pub name: Tuple,
    /// `{ S[i] -> _copy0[c] }`: the copy whose buffers an instance reads.
    pub reads: isl::UnionMap,
    /// Iterations of a full strip.
    pub strip: u32,
    /// `[params, _h*, _b*] -> { _copy0[c] }`: strips in which no guard keeps a point of the launch from an
    /// instance. `None`: all.
    pub full: Option<isl::Set>,
    /// Other strips without guards: those in which some statements have no instance of any point, and no
    /// guard keeps a point from one of the rest.
    pub without: Vec<Without>,
    pub groups: Vec<SharedGroup>,
}

/// Strips in which statements that have guards do not run at all.
#[derive(Clone, Debug)]
pub struct Without {
    /// `[params, _h*, _b*] -> { _copy0[c] }`
    pub strips: isl::Set,
    pub statements: Vec<pollyrs_scop::StmtId>,
}

/// References to a read-only array that share a buffer.
#[derive(Clone, Debug)]
pub struct SharedGroup {
    pub array: pollyrs_scop::ArrayId,
    /// Statements and numbers of their accesses.
    pub accesses: Vec<(pollyrs_scop::StmtId, usize)>,
    /// The smallest subscripts in the buffer: `[params, _h*, _b*] -> { _copy0[c] -> [s] }`, one for each
    /// dimension of the array.
    pub lower: Vec<isl::PwAff>,
    /// Elements of the buffer along each dimension of the array.
    pub size: Vec<u32>,
    /// Dimensions of the array in the order of the buffer, slowest first.
    pub order: Vec<usize>,
    /// Elements between the starts of neighbouring rows beyond the row's size.
    pub padding: u32,
    /// For each dimension of the array: the coordinate of the point that its subscript follows, if it moves
    /// within a tile: it is as far from the smallest in the buffer as the point is from the start of its
    /// tile.
    pub along: Vec<Option<usize>>,
    /// A box of subscripts between the first and the last element that the launch reads:
    /// `[params, _h*] -> { [s] }`. Copies stay within.
    pub bounds: Vec<(isl::PwAff, isl::PwAff)>,
}

impl SharedGroup {
    /// Elements from one row of each dimension of the array to the next.
    pub fn strides(&self) -> Vec<u32> {
        let mut strides = vec![1; self.size.len()];
        let mut stride = 1;
        for (n, d) in self.order.iter().rev().enumerate() {
            strides[*d] = stride;
            stride *= self.size[*d] + if n == 0 { self.padding } else { 0 };
        }
        strides
    }

    /// Elements of the buffer, with padding.
    pub fn elements(&self) -> u32 {
        match self.order.last() {
            Some(d) => self.size.iter().product::<u32>() / self.size[*d] * (self.size[*d] + self.padding),
            None => 1,
        }
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
/// [`MappedScop::host`], may be any integer: up to zero tiles run, else plain kernels with the same
/// instances, which the checker proves to be one of both.
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

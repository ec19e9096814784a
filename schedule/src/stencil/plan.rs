//! How a launch computes its fused steps.
//!
//! Axes are `[row, y, x]`: rows are streamed through, columns `(y, x)` belong to threads. One-dimensional stencils have one row,
//! two-dimensional ones have `y = 0` only.
//!
//! Iteration `it` of a block computes row `it - lag(v)` of every node `v`: a step may read a row only when it is there, so
//! a node lags behind each node it reads by the largest row offset, and by one more where another thread's column is read,
//! since that needs a barrier between. One barrier an iteration then serves all nodes.

use super::{NotStencil, Stencil, StepAccess};
use pollyrs_scop::Scop;

/// What can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Time iterations a launch, a multiple of the period.
    pub fuse: i64,
    /// Threads along y and x.
    pub threads: [u32; 2],
    /// Columns of a thread along y and x.
    pub cells: [u32; 2],
}

/// A version of a buffer: at the start of the launch, or behind one of its steps.
#[derive(Clone, Debug)]
pub struct Node {
    pub buffer: usize,
    /// `None`: the version at the start.
    pub step: Option<usize>,
    /// Time iteration within the launch.
    pub time: i64,
    /// The reads of buffers, in the order of the statement's accesses.
    pub reads: Vec<NodeRead>,
    /// The node before it of the same buffer, if the buffer has a border: outside of the box its values are kept.
    pub keep: Option<usize>,
    pub lag: i64,
    /// The region in which it is computed: the tile, extended towards lower and higher coordinates.
    pub lo: [i64; 3],
    pub hi: [i64; 3],
    /// Iterations that its values stay in registers.
    pub window: usize,
    /// Other threads read it.
    pub exchange: bool,
    /// The final version of a live buffer.
    pub output: bool,
    /// Whether an output depends on it.
    pub needed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRead {
    /// Position in the statement's accesses.
    pub access: usize,
    pub node: usize,
    pub offset: [i64; 3],
}

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct StencilPlan {
    pub stencil: Stencil,
    pub config: Config,
    pub nodes: Vec<Node>,
    /// The needed nodes in an order in which an iteration can compute them.
    pub order: Vec<usize>,
    /// Iterations of the unrolled loop; also the number of shared memory slots of each exchanged node.
    pub unroll: usize,
    /// Output columns of a block, by axis; rows are chosen at run time.
    pub tile: [i64; 3],
    /// Columns in front of the tile that the block computes too, by axis.
    pub halo: [i64; 3],
}

/// 32-bit registers that the queues of a thread may take. Ten steps of five points need 80, and the kernel 157 registers, at
/// which three blocks of 128 threads share an SM; eight steps of nine points need 128, and are faster with two blocks than
/// four steps with more (measured on an H200).
const QUEUE_REGISTERS: usize = 132;
/// Static shared memory of a block.
pub const SHARED_LIMIT: usize = 48 * 1024;
/// At least this part of the columns that a block computes must be output.
const MIN_EFFICIENCY: f64 = 0.4;

/// The axes of space dimension `d`.
pub fn axis(dims: usize, d: usize) -> usize {
    match (dims, d) {
        (1, _) | (2, 1) => 2,
        (_, d) => d,
    }
}

/// A plan for the stencil of `scop`; `fuse` is the number of time iterations a launch that the user wants.
pub fn plan(scop: &Scop, stencil: &Stencil, fuse: Option<i64>) -> Result<StencilPlan, NotStencil> {
    let words =
        stencil.buffers.iter().map(|b| scop.array(b.array).elem.bytes().div_ceil(4)).max().unwrap_or(1);
    let (threads, cells, steps) = match (stencil.dims, words) {
        (1, _) => ([1, 256], [1, 4], 32),
        (2, 1) => ([1, 128], [1, 4], 10),
        (2, _) => ([1, 128], [1, 2], 8),
        (_, 1) => ([8, 32], [4, 2], 4),
        _ => ([8, 32], [2, 2], 4),
    };
    let per_period = stencil.steps.len() as i64;
    let wanted = match fuse {
        Some(f) => (f / stencil.period).max(1),
        None => (steps / per_period).max(1),
    };
    for periods in (1..=wanted).rev() {
        let config = Config { fuse: periods * stencil.period, threads, cells };
        let p = with_config(stencil, config);
        if fits(scop, &p) {
            return Ok(p);
        }
    }
    Err(NotStencil::Resources)
}

/// Whether the device has room for the plan and most of what it computes is output.
fn fits(scop: &Scop, p: &StencilPlan) -> bool {
    let mut registers = 0;
    let mut shared = 0;
    let cells = p.config.cells.iter().product::<u32>() as usize;
    for (i, n) in p.nodes.iter().enumerate().filter(|(_, n)| n.needed) {
        let bytes = scop.array(p.stencil.buffers[n.buffer].array).elem.bytes() as usize;
        if p.stencil.dims > 1 {
            registers += n.window * cells * bytes.div_ceil(4);
        }
        shared = shared_end(p, i, shared, bytes);
    }
    let mut efficiency = 1.0;
    for axis in 1..3 {
        let held = f64::from(p.config.threads[axis - 1] * p.config.cells[axis - 1]);
        if p.tile[axis] < 1 {
            return false;
        }
        efficiency *= p.tile[axis].min(held as i64) as f64 / held;
    }
    registers <= QUEUE_REGISTERS
        && shared <= SHARED_LIMIT
        && (efficiency >= MIN_EFFICIENCY || p.config.fuse == p.stencil.period)
}

/// Where node `i`'s slots end if they start at `begin` (bytes).
pub fn shared_end(p: &StencilPlan, i: usize, begin: usize, bytes: usize) -> usize {
    let begin = begin.next_multiple_of(bytes);
    if !p.nodes[i].exchange {
        return begin;
    }
    begin + p.unroll * exchanged_cells(p, i).len() * slot_threads(p, i) * bytes
}

/// Threads of a slot, with the margin that columns of neighbouring blocks would have.
fn slot_threads(p: &StencilPlan, i: usize) -> usize {
    let margin = margins(p, i);
    (0..2).map(|a| p.config.threads[a] as usize + 2 * margin[a]).product()
}

/// How many threads away along y and x another thread's value is read.
pub fn margins(p: &StencilPlan, i: usize) -> [usize; 2] {
    let mut margin = [0usize; 2];
    for r in p.nodes.iter().flat_map(|n| &n.reads).filter(|r| r.node == i) {
        for (a, m) in margin.iter_mut().enumerate() {
            let far = r.offset[a + 1].unsigned_abs() as usize;
            *m = far.div_ceil(p.config.cells[a] as usize).max(*m);
        }
    }
    margin
}

/// The cells of a thread that other threads read of node `i`, as `cy * cells_x + cx`, ascending.
pub fn exchanged_cells(p: &StencilPlan, i: usize) -> Vec<usize> {
    let [ny, nx] = p.config.cells.map(i64::from);
    let mut cells = std::collections::BTreeSet::new();
    for r in p.nodes.iter().flat_map(|n| &n.reads).filter(|r| r.node == i) {
        for cy in 0..ny {
            for cx in 0..nx {
                let (y, x) = (cy + r.offset[1], cx + r.offset[2]);
                if !(0..ny).contains(&y) || !(0..nx).contains(&x) {
                    cells.insert((y.rem_euclid(ny) * nx + x.rem_euclid(nx)) as usize);
                }
            }
        }
    }
    cells.into_iter().collect()
}

/// The plan with these choices, whether or not it fits.
pub fn with_config(stencil: &Stencil, config: Config) -> StencilPlan {
    let node = |buffer, step, time| Node {
        buffer,
        step,
        time,
        reads: Vec::new(),
        keep: None,
        lag: 0,
        lo: [0; 3],
        hi: [0; 3],
        window: 0,
        exchange: false,
        output: false,
        needed: false,
    };
    let mut nodes: Vec<Node> = Vec::new();
    let mut last: Vec<Option<usize>> = vec![None; stencil.buffers.len()];
    for (b, buffer) in stencil.buffers.iter().enumerate().filter(|(_, b)| b.live) {
        debug_assert!(buffer.live);
        last[b] = Some(nodes.len());
        nodes.push(node(b, None, 0));
    }
    for t in (0..config.fuse).step_by(stencil.period as usize) {
        for (k, step) in stencil.steps.iter().enumerate() {
            let mut n = node(step.buffer, Some(k), t + step.time);
            for (access, a) in step.accesses.iter().enumerate() {
                if let StepAccess::Buffer { buffer, offset } = a
                    && let Some(from) = last[*buffer]
                {
                    let mut o = [0; 3];
                    for (d, v) in offset.iter().enumerate() {
                        o[axis(stencil.dims, d)] = *v;
                    }
                    n.reads.push(NodeRead { access, node: from, offset: o });
                }
            }
            for r in &n.reads {
                let crosses = i64::from(r.offset[1] != 0 || r.offset[2] != 0);
                let lag = nodes[r.node].lag;
                n.lag = n.lag.max(lag + (r.offset[0] + crosses).max(0));
            }
            if stencil.buffers[step.buffer].has_border
                && let Some(before) = last[step.buffer]
            {
                n.keep = Some(before);
                n.lag = n.lag.max(nodes[before].lag);
            }
            last[step.buffer] = Some(nodes.len());
            nodes.push(n);
        }
    }
    for (b, v) in last.iter().enumerate() {
        if let (Some(v), true) = (v, stencil.buffers[b].live) {
            nodes[*v].output = true;
            nodes[*v].needed = true;
        }
    }
    // Backwards: what is read must be computed where it is read.
    for i in (0..nodes.len()).rev() {
        let (lag, lo, hi) = (nodes[i].lag, nodes[i].lo, nodes[i].hi);
        if !nodes[i].needed {
            continue;
        }
        let kept = nodes[i].keep.map(|node| NodeRead { access: 0, node, offset: [0; 3] });
        for r in nodes[i].reads.clone().into_iter().chain(kept) {
            let p = &mut nodes[r.node];
            p.needed = true;
            for a in 0..3 {
                p.lo[a] = p.lo[a].max(lo[a] - r.offset[a]);
                p.hi[a] = p.hi[a].max(hi[a] + r.offset[a]);
            }
            let age = (lag - p.lag - r.offset[0]) as usize;
            p.window = p.window.max(age);
            p.exchange |= r.offset[1] != 0 || r.offset[2] != 0;
        }
    }
    let mut unroll = 1;
    for n in nodes.iter().filter(|n| n.needed) {
        unroll = unroll.max(n.window);
        for r in &n.reads {
            if r.offset[1] != 0 || r.offset[2] != 0 {
                unroll = unroll.max((n.lag - nodes[r.node].lag - r.offset[0]) as usize + 1);
            }
        }
    }
    let mut halo = [0; 3];
    let mut tile = [1; 3];
    for a in 1..3 {
        let needed = || nodes.iter().filter(|n| n.needed);
        halo[a] = needed().map(|n| n.lo[a]).max().unwrap_or(0);
        let after = needed().map(|n| n.hi[a]).max().unwrap_or(0);
        tile[a] = i64::from(config.threads[a - 1] * config.cells[a - 1]) - halo[a] - after;
    }
    let order = (0..nodes.len()).filter(|i| nodes[*i].needed).collect();
    StencilPlan { stencil: stencil.clone(), config, nodes, order, unroll, tile, halo }
}

impl StencilPlan {
    /// Iterations of a block before its first and behind its last output row: iteration `first_row - warm_up` is the first,
    /// `last_row + drain` the last.
    pub fn warm_up(&self) -> i64 {
        self.nodes.iter().filter(|n| n.needed).map(|n| n.lo[0] - n.lag).max().unwrap_or(0)
    }

    pub fn drain(&self) -> i64 {
        self.nodes.iter().filter(|n| n.output).map(|n| n.lag).max().unwrap_or(0)
    }

    pub fn max_lag(&self) -> i64 {
        self.nodes.iter().filter(|n| n.needed).map(|n| n.lag).max().unwrap_or(0)
    }
}

//! What a plan costs, from exact counts: instructions, registers, shared memory, redundant points, memory traffic.
//!
//! Units: a *slot* is the issue of one instruction for one warp; a multiprocessor of compute capability 9.0 has four a cycle. A block's
//! iteration computes a row of every node. With `k` blocks on a multiprocessor it takes
//! ```text
//! max(latency, k * warps * slots / 4)    cycles
//! ```
//! where the latency is that of the longest chain of the iteration and its barrier. Constants were fitted to the sweep in bench/RESULTS.md.

use super::StepAccess;
use super::plan::{StencilPlan, exchanged_cells, shared_end};
use pollyrs_scop::Scop;
use std::collections::BTreeSet;

/// The most time iterations and the most steps that are fused: code grows with them.
pub const MAX_STEPS: i64 = 12;
pub const MAX_NODES: i64 = 36;
/// A kernel that needs more registers a thread spills (255 is the limit of the hardware; addresses and temporaries are estimated).
pub const MAX_REGISTERS: usize = 216;
/// Registers for addresses, bounds and temporaries.
const BASE_REGISTERS: usize = 40;
const REGISTER_FILE: usize = 65536;
const SHARED_OF_MULTIPROCESSOR: usize = 227 * 1024;
const THREADS_OF_MULTIPROCESSOR: usize = 2048;
/// Issue slots: an arithmetic instruction for a read value (a multiplication, an addition, now and then another).
const SLOTS_A_READ: f64 = 1.6;
/// Slots an iteration for the loop, rows, addresses, and the barrier.
const SLOTS_AN_ITERATION: f64 = 24.0;
/// Cycles of a barrier and of a value's way through shared memory.
const BARRIER_CYCLES: f64 = 90.0;
/// Cycles of a step that waits for the step before it in the same iteration.
const CHAIN_CYCLES: f64 = 36.0;
/// Cycles of the chain inside of a step.
const STEP_CYCLES: f64 = 60.0;
/// Bytes a cycle and multiprocessor from and to device memory (3.6 TB/s, 132 multiprocessors, 1.9 GHz).
const BYTES_A_CYCLE: f64 = 14.0;
/// Rows of a block that the redundant rows are spread over where the grid is large.
const USUAL_ROWS: f64 = 160.0;

/// See the module documentation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Model {
    /// Registers of a thread.
    pub registers: usize,
    /// Bytes of shared memory of a block.
    pub shared: usize,
    /// Blocks that a multiprocessor holds at once.
    pub resident: i64,
    /// Cycles of an iteration if nothing but its own chain limits it, and of its instructions.
    pub latency: f64,
    pub issue: f64,
    /// Cycles of a multiprocessor for one point and step, redundant work and the limit of device memory included.
    pub point: f64,
}

impl Model {
    /// Cycles of an iteration with so many blocks on the multiprocessor.
    pub fn iteration(&self, blocks: i64) -> i64 {
        // A little more for each block, even where the latency covers it.
        (self.latency.max(self.issue * blocks as f64) + 0.06 * self.issue * blocks as f64).ceil() as i64
    }
}

/// The model of a plan.
pub fn model(scop: &Scop, p: &StencilPlan) -> Model {
    let s = &p.stencil;
    let cells = p.config.cells.iter().product::<u32>() as usize;
    let threads = p.config.threads.iter().product::<u32>() as usize;
    let words = |buffer: usize| (scop.array(s.buffers[buffer].array).elem.bytes() as usize).div_ceil(4);
    let (mut registers, mut shared, mut slots, mut traffic) = (BASE_REGISTERS, 0, SLOTS_AN_ITERATION, 0.0);
    let mut fetched = BTreeSet::new();
    for (i, n) in p.nodes.iter().enumerate().filter(|(_, n)| n.needed) {
        let wide = words(n.buffer);
        shared = shared_end(p, i, shared, scop.array(s.buffers[n.buffer].array).elem.bytes() as usize);
        registers += if s.dims == 1 { cells * wide / 2 } else { (n.window * cells + usize::from(n.step.is_none()) * cells) * wide };
        slots += exchanged_cells(p, i).len() as f64 * wide as f64;
        // The arithmetic units for 64 bits are half as many.
        let each = wide as f64 * cells as f64;
        match n.step {
            None => {
                slots += 4.0 + 1.5 * cells as f64;
                traffic += 4.0 * each;
            }
            Some(k) if !s.steps[k].thin.is_empty() => {}
            Some(k) => {
                // The steps of one statement share what they read and most of their arithmetic.
                let first = k == 0 || (s.steps[k - 1].stmt, s.steps[k - 1].time) != (s.steps[k].stmt, s.steps[k].time);
                let reads = s.steps[k].accesses.iter().filter(|a| **a != StepAccess::Write).count();
                slots += each * if first { 1.0 + SLOTS_A_READ * reads as f64 } else { 6.0 };
                let plain = s.steps[k].accesses.iter().filter(|a| **a == StepAccess::Plain).count();
                slots += 4.0 * (plain * cells) as f64;
                traffic += 1.0 * plain as f64 * each;
            }
        }
        if n.output {
            slots += 6.0 + 2.0 * cells as f64;
            traffic += 4.0 * each;
        }
        for r in &n.reads {
            let [ny, nx] = p.config.cells.map(i64::from);
            for c in 0..cells as i64 {
                let (y, x) = (c / nx + r.offset[1], c % nx + r.offset[2]);
                let age = n.lag - p.nodes[r.node].lag - r.offset[0];
                if !((0..ny).contains(&y) && (0..nx).contains(&x)) && fetched.insert((r.node, age, y, x, n.lag)) {
                    slots += words(p.nodes[r.node].buffer) as f64;
                }
            }
        }
    }
    let by_registers = REGISTER_FILE / (threads * registers.next_multiple_of(8));
    let by_shared = SHARED_OF_MULTIPROCESSOR / (shared + 1024);
    let resident = by_registers.min(by_shared).min(THREADS_OF_MULTIPROCESSOR / threads) as i64;
    let steps = p.nodes.iter().filter(|n| n.needed && n.step.is_some()).count() as f64;
    let chain = if p.config.apart { 0.0 } else { CHAIN_CYCLES * steps };
    let issue = threads as f64 / 32.0 * slots / 4.0;
    let mut m = Model { registers, shared, resident, latency: BARRIER_CYCLES + STEP_CYCLES + chain, issue, point: f64::MAX };
    if resident == 0 {
        return m;
    }
    // Points of a block's iteration that count, for all the program's steps.
    let output: f64 = (1..3).map(|a| p.tile[a] as f64).product();
    let halo = (p.warm_up() + p.drain()) as f64;
    let rows = if s.dims == 1 { 1.0 } else { USUAL_ROWS / (USUAL_ROWS + halo) };
    let iterations = if s.dims == 1 { 1.0 + p.max_lag() as f64 } else { 1.0 };
    let instances = super::instances(&s.steps).len() as f64 * (p.config.fuse / s.period) as f64;
    let useful = output * rows * instances;
    let compute = m.iteration(resident) as f64 / resident as f64 * iterations;
    // `traffic` is that of all threads; neighbours' halos come from the cache.
    let memory = traffic * output / cells as f64 / BYTES_A_CYCLE;
    // Near the balance of the two, each slows the other.
    m.point = (compute.powi(4) + memory.powi(4)).powf(0.25) / useful;
    m
}

//! What a plan costs, from exact counts: instructions, registers, shared memory, redundant points, memory traffic.
//!
//! Units: a *slot* is the issue of one instruction for one warp; a multiprocessor of compute capability 9.0 has four a cycle. A block's
//! iteration computes a row of every node. With `k` blocks of `w` warps on a multiprocessor it takes
//! ```text
//! 0.7 * issue * k + 900 + 2.2 * slots    cycles,  issue = w * slots / 4
//! ```
//! the last term for the dependent instructions of one warp, the constant for the barrier and device memory. Fitted on an H200: five
//! points, 3072 x 3072, ten steps, four warps, 733 and 907 GStencil/s with two and three blocks; seven points, 384^3, four steps, 374
//! and 438 GStencil/s with sixteen and thirty-two warps. What it is not fitted to is in bench/RESULTS.md.

use super::StepAccess;
use super::plan::{StencilPlan, exchanged_cells, shared_end};
use pollyrs_scop::Scop;
use std::collections::BTreeSet;

/// The most time iterations and the most steps that are fused: code grows with them.
pub const MAX_STEPS: i64 = 12;
pub const MAX_NODES: i64 = 36;
/// A kernel that needs more registers a thread spills (255 is the limit of the hardware; addresses and temporaries are estimated).
pub const MAX_REGISTERS: usize = 200;
/// Registers for addresses, bounds and temporaries.
const BASE_REGISTERS: usize = 34;
const REGISTER_FILE: usize = 65536;
const SHARED_OF_MULTIPROCESSOR: usize = 227 * 1024;
const THREADS_OF_MULTIPROCESSOR: usize = 2048;
/// Issue slots: an arithmetic instruction for a read value (a multiplication, an addition, now and then another).
const SLOTS_A_READ: f64 = 1.6;
/// Slots an iteration for the loop, rows, addresses, and the barrier.
const SLOTS_AN_ITERATION: f64 = 24.0;
/// Slots of an access to shared memory, which has a quarter of the rate of arithmetic but a path of its own.
const SLOTS_SHARED: f64 = 2.0;
/// Of the formula above.
const ISSUE: f64 = 0.7;
const CYCLES_AN_ITERATION: f64 = 900.0;
const CYCLES_A_SLOT: f64 = 2.2;
/// What the ends of a launch cost, in steps.
const LAUNCH_STEPS: f64 = 1.5;
/// Bytes a cycle and multiprocessor from and to device memory (2.8 TB/s, 132 multiprocessors, 1.9 GHz).
const BYTES_A_CYCLE: f64 = 11.0;
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
    /// Warps of a block.
    pub warps: f64,
    /// Cycles of a block's instructions of an iteration.
    pub issue: f64,
    /// Cycles of a multiprocessor for one point and step, redundant work and the limit of device memory included.
    pub point: f64,
}

impl Model {
    /// Cycles of an iteration with so many blocks on the multiprocessor.
    pub fn iteration(&self, blocks: i64) -> i64 {
        let slots = 4.0 * self.issue / self.warps.max(1.0);
        (ISSUE * self.issue * blocks as f64 + CYCLES_AN_ITERATION + CYCLES_A_SLOT * slots).ceil() as i64
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
        registers += if s.dims == 1 {
            cells * wide / 2
        } else {
            (n.window * cells + usize::from(n.step.is_none()) * cells) * wide
        };
        slots += SLOTS_SHARED * exchanged_cells(p, i).len() as f64 * wide as f64;
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
                let first = k == 0
                    || (s.steps[k - 1].stmt, s.steps[k - 1].time) != (s.steps[k].stmt, s.steps[k].time);
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
                if !((0..ny).contains(&y) && (0..nx).contains(&x))
                    && fetched.insert((r.node, age, y, x, n.lag))
                {
                    slots += SLOTS_SHARED * words(p.nodes[r.node].buffer) as f64;
                }
            }
        }
    }
    // Temporaries and what is loaded early come with the queues (ptxas 12.9; the kernel is held to what the model says).
    registers += (registers - BASE_REGISTERS) * 2 / 7;
    registers +=
        p.nodes.iter().filter(|n| n.step.is_none()).map(|n| p.ahead * cells * words(n.buffer)).sum::<usize>();
    let by_registers = REGISTER_FILE / (threads * registers.next_multiple_of(8));
    let by_shared = SHARED_OF_MULTIPROCESSOR / (shared + 1024);
    let resident = by_registers.min(by_shared).min(THREADS_OF_MULTIPROCESSOR / threads) as i64;
    let warps = threads as f64 / 32.0;
    let issue = warps * slots / 4.0;
    let mut m = Model { registers, shared, resident, warps, issue, point: f64::MAX };
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
    // Each launch has its ends besides: blocks that wait for the last one, the first rows from memory.
    let ends = 1.0 + LAUNCH_STEPS / instances;
    m.point = ends * (compute.powi(4) + memory.powi(4)).powf(0.25) / useful;
    m
}

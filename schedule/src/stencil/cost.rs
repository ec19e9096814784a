//! What a plan costs, from exact counts: instructions, registers, shared memory, redundant points, memory
//! traffic.
//!
//! Units: a *slot* is the issue of one instruction for one warp; a multiprocessor of compute capability 9.0
//! has four a cycle. A block's iteration computes a row of every node. With `k` blocks of `w` warps on a
//! multiprocessor it takes
//! ```text
//! 0.34 * issue * k + 520 + 1.25 * slots    cycles,  issue = w * slots / 4
//! ```
//! but at least 0.7 * issue * k; the last term for the dependent instructions of one warp, the constant for
//! the barrier and device memory. Fitted to most of the variants in bench/fused_steps.csv, of twelve stencils
//! in both element types, 3072 x 3072 and 384^3, on an H200 (bench/sweep.py): times are within 16% (root of
//! the mean square of the logarithm). How far the chosen variants are from the best is in
//! bench/notes/013-stencils.md.

use super::plan::{StencilPlan, WARP, exchanged_cells, slot_end};
use super::versions::Node;
use super::{Stencil, StepAccess};
use pollyrs_scop::Scop;
use std::collections::BTreeSet;

/// The most time iterations and the most steps that are fused: code grows with them.
pub const MAX_STEPS: i64 = 12;
pub const MAX_NODES: i64 = 36;
/// A kernel that needs more registers a thread spills (255 is the limit of the hardware; addresses and
/// temporaries are estimated).
pub const MAX_REGISTERS: usize = 224;
/// Registers for bounds and temporaries.
const BASE_REGISTERS: usize = 36;
/// And for each live buffer: addresses of its rows that are loaded and stored, of sides; and of each column,
/// that at the sides.
const BUFFER_REGISTERS: usize = 12;
const SIDE_REGISTERS: usize = 2;
const REGISTER_FILE: usize = 65536;
const SHARED_OF_MULTIPROCESSOR: usize = 227 * 1024;
const THREADS_OF_MULTIPROCESSOR: usize = 2048;
/// Slots an iteration for the loop, rows, addresses, and the barrier.
const SLOTS_AN_ITERATION: f64 = 24.0;
/// Slots of an access to shared memory, which has a quarter of the rate of arithmetic but a path of its own.
const SLOTS_SHARED: f64 = 2.0;
/// Of the formula above.
const ISSUE: f64 = 0.34;
const CYCLES_AN_ITERATION: f64 = 520.0;
const CYCLES_A_SLOT: f64 = 1.25;
/// Warps can't always take turns.
const ISSUE_BOUND: f64 = 0.7;
/// The same of blocks of one warp, which has no barrier to wait at.
const ISSUE_OF_WARPS: f64 = 0.9;
const CYCLES_OF_WARPS: f64 = 150.0;
const BLOCKS_OF_MULTIPROCESSOR: usize = 32;
/// Blocks of more than sixteen warps, and of warps that the four schedulers of a multiprocessor do not share
/// evenly, take that much longer than the formula says.
const LARGE_BLOCK: f64 = 1.05;
const UNEVEN_BLOCK: f64 = 1.06;
const SCHEDULERS: f64 = 4.0;
/// Between two launches.
const CYCLES_A_LAUNCH: f64 = 4000.0;
/// Bytes a cycle and multiprocessor from and to device memory (2.8 TB/s, 132 multiprocessors, 1.9 GHz).
const BYTES_A_CYCLE: f64 = 11.0;
/// Points along each dimension of the grid for which a plan is chosen, in two and three dimensions. In three,
/// a block has a large part of a plane, and how many blocks there are for each multiprocessor changes much
/// from size to size: with 24 x 56 points a block 84 blocks for 320 x 320, of 132 multiprocessors. So the
/// model is the geometric mean of some.
const USUAL_EXTENTS: [&[i64]; 2] = [&[3072], &[256, 320, 384, 512]];
/// And in one dimension, where arrays of some hundred thousand points are as usual as those of some million.
const USUAL_LINES: [f64; 2] = [262144.0, 4194304.0];
/// In one dimension blocks of one warp take the cycles of their instructions and of the lines of the cache
/// that their accesses touch, and a launch these, on an H200 (heat1d and burgers1d, 4 to 16 columns, 8 to 48
/// steps, 262,144 to 16.8 million points): the program needs 5 µs for one, as long as there are fewer than a
/// graph of launches holds.
const CYCLES_A_LINE: f64 = 7500.0;
/// Of larger blocks: cycles of a step that waits for nothing but its barrier and neighbours, and more for
/// each warp: a launch of 16 and 32 steps with blocks of four warps takes 2.4 and 3.9 µs on 4000 points, with
/// eight 2.6 and 5.3. Then what [`ISSUE`] is in more dimensions.
const CYCLES_A_STEP: f64 = 140.0;
const CYCLES_A_WARP: f64 = 8.0;
const ISSUE_OF_LINES: f64 = 0.46;
/// How much longer those take than the formula says, beside blocks of one warp (order 8, reaction and
/// diffusion).
const LARGER_BLOCK_OF_LINES: f64 = 1.3;
/// Registers of a thread in one dimension, and of each cell and live buffer: 31, 56 and 86 of 4, 8 and 12
/// floats, 48, 90 and 132 of doubles (ptxas 12.9).
const BASE_OF_LINES: usize = 14;
const REGISTERS_A_CELL: usize = 6;
/// Instructions of a launch in one dimension, each of which a warp needs once, from which on warps wait for
/// them: burgers1d has 1609 GStencil/s with 16 steps (1800) and 1230 with 24 (2700).
const CACHED_OF_LINES: f64 = 2000.0;
const MULTIPROCESSORS: i64 = 132;
/// Instructions of the loop over rows beyond which warps wait for instructions (Nsight Compute: 6% of the
/// samples at 1400; the best variants have up to 2400), and how much longer twice as many take.
const CACHED_INSTRUCTIONS: f64 = 2400.0;
const MISSED: f64 = 0.4;

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
    /// Cycles of a multiprocessor for one point and step, redundant work and the limit of device memory
    /// included.
    pub point: f64,
    /// Whether warps wait for each other.
    pub barriers: bool,
}

impl Model {
    /// Cycles of an iteration with so many blocks on the multiprocessor.
    pub fn iteration(&self, blocks: i64) -> i64 {
        let slots = 4.0 * self.issue / self.warps.max(1.0);
        let (issue, wait) = match self.barriers {
            true => (ISSUE, CYCLES_AN_ITERATION),
            false => (ISSUE_OF_WARPS, CYCLES_OF_WARPS),
        };
        let all = self.issue * blocks as f64;
        (issue * all + wait + CYCLES_A_SLOT * slots).max(ISSUE_BOUND * all).ceil() as i64
    }
}

/// What an iteration of a thread needs.
struct Needs {
    registers: usize,
    /// Bytes of a slot of shared memory.
    shared: usize,
    /// Issue slots.
    slots: f64,
    /// Bytes of device memory.
    traffic: f64,
    /// Lines of the cache that a warp's accesses touch: a thread's cells are side by side, so that each
    /// access touches as many as there are cells.
    lines: f64,
    /// Registers of what is read of arrays that no step writes: the same at all points, and of each point,
    /// which assemblers load at an iteration's begin (upwind2d: fused steps with two such arrays took 336
    /// registers where there were 128, and five times as long as without them).
    held: usize,
    waiting: usize,
}

/// Words of four bytes of a buffer's element.
fn words(scop: &Scop, s: &Stencil, buffer: usize) -> usize {
    (scop.array(s.buffers[buffer].array).elem.bytes() as usize).div_ceil(4)
}

impl Needs {
    fn of(scop: &Scop, p: &StencilPlan, work: &[f64]) -> Needs {
        let s = &p.stencil;
        let cells = p.config.cells.iter().product::<u32>() as usize;
        let mut needs = Needs {
            registers: if s.dims == 1 { BASE_OF_LINES } else { BASE_REGISTERS },
            shared: 0,
            slots: SLOTS_AN_ITERATION,
            traffic: 0.0,
            lines: 0.0,
            held: 0,
            waiting: 0,
        };
        let mut fetched = BTreeSet::new();
        for (i, n) in p.nodes.iter().enumerate().filter(|(_, n)| n.needed) {
            let wide = words(scop, s, n.buffer);
            let bytes = scop.array(s.buffers[n.buffer].array).elem.bytes() as usize;
            needs.shared = slot_end(p, i, needs.shared, bytes);
            needs.registers += match (s.dims, n.step) {
                // A version takes the place of the one before it.
                (1, None) => REGISTERS_A_CELL * cells * wide,
                (1, _) => 0,
                _ => (n.window * cells + usize::from(n.step.is_none()) * cells) * wide,
            };
            needs.slots += SLOTS_SHARED * exchanged_cells(p, i).len() as f64 * wide as f64;
            needs.add_step(p, n, wide, work);
            // Tiles amid the grid have no cases.
            for r in n.reads.iter().filter(|r| r.case.is_none()) {
                let [ny, nx] = p.config.cells.map(i64::from);
                for c in 0..cells as i64 {
                    let (y, x) = (c / nx + r.offset[1], c % nx + r.offset[2]);
                    let age = n.lag - p.nodes[r.node].lag - r.offset[0];
                    if !((0..ny).contains(&y) && (0..nx).contains(&x))
                        && fetched.insert((r.node, age, y, x, n.lag))
                    {
                        needs.slots += SLOTS_SHARED * words(scop, s, p.nodes[r.node].buffer) as f64;
                    }
                }
            }
        }
        needs
    }

    /// Loads, arithmetic and stores of a version with elements of so many words.
    fn add_step(&mut self, p: &StencilPlan, n: &Node, wide: usize, work: &[f64]) {
        let s = &p.stencil;
        let cells = p.config.cells.iter().product::<u32>() as usize;
        // The arithmetic units for 64 bits are half as many.
        let each = wide as f64 * cells as f64;
        match n.step {
            None => {
                self.slots += 4.0 + 1.5 * cells as f64;
                self.traffic += 4.0 * each;
                self.lines += each;
            }
            Some(k) if !s.steps[k].thin.is_empty() => {}
            Some(k) => {
                // The steps of one statement share its arithmetic.
                let steps = super::instances(&s.steps).into_iter().find(|r| r.contains(&k));
                let together = steps.map_or(1, |r| r.len()) as f64;
                self.slots += each * work.get(s.steps[k].stmt.0).copied().unwrap_or(1.0) / together;
                // What all points read stays in registers.
                let plain = s.steps[k].accesses.iter().filter(|a| **a == StepAccess::Plain).count();
                let plain = plain - s.steps[k].held;
                self.held = self.held.max(s.steps[k].held * wide);
                self.waiting += plain * cells * wide;
                self.slots += 4.0 * (plain * cells) as f64;
                // The test, and the choice between the old value and the new one.
                self.slots += 2.0 * (s.steps[k].lattices.len() * cells) as f64;
                self.traffic += 1.0 * plain as f64 * each;
                self.lines += plain as f64 * each;
            }
        }
        if n.output {
            self.slots += 6.0 + 2.0 * cells as f64;
            self.traffic += 4.0 * each;
            self.lines += each;
        }
    }

    /// Temporaries and what is loaded early come with the queues (ptxas 12.9; the kernel is held to what the
    /// model says).
    fn all_registers(&self, scop: &Scop, p: &StencilPlan) -> usize {
        let s = &p.stencil;
        let cells = p.config.cells.iter().product::<u32>() as usize;
        let mut registers = self.registers;
        if s.dims == 1 {
            return registers;
        }
        registers += (registers - BASE_REGISTERS) * 2 / 7;
        let inputs = p.nodes.iter().filter(|n| n.step.is_none());
        registers += inputs.map(|n| p.prefetch_distance * cells * words(scop, s, n.buffer)).sum::<usize>();
        // Not more than six: what the inner loop of many needs at once is less, the rest waits in local
        // memory. In three dimensions, where rows are loaded along with what other threads have, two: maxwell
        // (six) takes 39.8 ms with 16 x 32 threads and three steps, held to 128 registers, and 53 to 106 with
        // blocks or steps for which there are enough.
        let most = if s.dims == 3 { 2 } else { 6 };
        let live = p.nodes.iter().filter(|n| n.step.is_none()).count().min(most);
        registers += live * (BUFFER_REGISTERS + SIDE_REGISTERS * cells);
        // In three dimensions a kernel that is held to fewer is faster than one with fewer steps: maxwell3d
        // on an H100 23.9 ms with three steps and 128 registers, 32.5 with two.
        registers + self.held + if s.dims == 2 { self.waiting } else { 0 }
    }
}

/// Blocks of so many threads on a multiprocessor.
fn residents(threads: usize, registers: usize, shared: usize) -> i64 {
    // Each of the four schedulers has its own part of the registers.
    let each = REGISTER_FILE / SCHEDULERS as usize / (WARP as usize * registers.next_multiple_of(8));
    let by_registers = each * SCHEDULERS as usize / threads.div_ceil(WARP as usize);
    let by_shared = SHARED_OF_MULTIPROCESSOR / (shared + 1024);
    by_registers.min(by_shared).min(THREADS_OF_MULTIPROCESSOR / threads).min(BLOCKS_OF_MULTIPROCESSOR) as i64
}

/// The model of a plan.
pub fn model(scop: &Scop, p: &StencilPlan, work: &[f64]) -> Model {
    let s = &p.stencil;
    let cells = p.config.cells.iter().product::<u32>() as usize;
    let threads = p.config.threads.iter().product::<u32>() as usize;
    let needs = Needs::of(scop, p, work);
    let slots = needs.slots;
    let bytes = s.buffers.iter().map(|b| scop.array(b.array).elem.bytes() as usize).max().unwrap_or(0);
    let shared = (needs.shared.next_multiple_of(8) * p.slots).max(p.transposed_elements() * bytes);
    let registers = needs.all_registers(scop, p);
    let resident = residents(threads, registers, shared);
    let warps = threads as f64 / 32.0;
    let issue = warps * slots / 4.0;
    let barriers = !p.config.is_warp();
    let mut m = Model { registers, shared, resident, warps, issue, point: f64::MAX, barriers };
    if resident == 0 {
        return m;
    }
    // `traffic` is that of all threads; neighbours' halos come from the cache.
    let instances = super::instances(&s.steps).len() as f64 * (p.config.fuse / s.period) as f64;
    if s.dims == 1 {
        let wide = (0..s.buffers.len()).map(|b| words(scop, s, b)).max();
        let long = slots / wide.unwrap_or(1) as f64 / CACHED_OF_LINES;
        let longer = 1.0 + MISSED * (long - 1.0).max(0.0);
        // Where rows change places: one line, and shared memory twice.
        let touched = if p.transposes() { 3.0 } else { cells as f64 };
        m.point = longer * usual_line(p, &m, warps * touched * needs.lines) / instances;
        return m;
    }
    let mut longer = match warps {
        w if w > 16.0 => LARGE_BLOCK,
        w if w % SCHEDULERS != 0.0 && barriers => UNEVEN_BLOCK,
        _ => 1.0,
    };
    // The loop over rows should fit the instruction cache.
    let trip = 4.0 * issue / warps * p.unroll as f64;
    longer *= 1.0 + MISSED * (trip / CACHED_INSTRUCTIONS - 1.0).max(0.0);
    let memory = needs.traffic / cells as f64 / BYTES_A_CYCLE;
    let of_extent = |extent: &i64| {
        let compute = longer * usual_grid(p, &m, *extent);
        // Near the balance of the two, each slows the other.
        (compute.powi(4) + memory.powi(4)).powf(0.25)
    };
    let extents = USUAL_EXTENTS[usize::from(s.dims == 3)];
    m.point = extents.iter().map(of_extent).product::<f64>().powf(1.0 / extents.len() as f64) / instances;
    m
}

/// Cycles of a launch for a point in one dimension, where a block computes node after node, each once: the
/// geometric mean of those of short lines and of long ones.
fn usual_line(p: &StencilPlan, m: &Model, lines: f64) -> f64 {
    let steps = 1.0 + p.max_lag() as f64;
    let of_line = |extent: f64| {
        let points = extent / MULTIPROCESSORS as f64;
        let blocks = points / p.tile[2] as f64;
        let compute = if m.barriers {
            let waves = (blocks / m.resident as f64).max(1.0);
            let of_step = CYCLES_A_STEP + CYCLES_A_WARP * m.warps;
            LARGER_BLOCK_OF_LINES * waves * (steps * of_step + ISSUE_OF_LINES * m.issue * m.resident as f64)
        } else {
            blocks * m.issue
        };
        (CYCLES_A_LINE + compute + blocks * lines) / points
    };
    let [short, long] = USUAL_LINES.map(of_line);
    (short * long).sqrt()
}

/// Cycles of a multiprocessor for one of its points, in a launch on a grid of this extent. The rows of a
/// block are chosen as the host does it.
fn usual_grid(p: &StencilPlan, m: &Model, extent: i64) -> f64 {
    let axes = if p.stencil.dims == 3 { 1..3 } else { 2..3 };
    let columns: i64 =
        axes.map(|a| extent.div_euclid(p.tile[a]) + i64::from(extent % p.tile[a] != 0)).product();
    let ceil = |a: i64, b: i64| (a + b - 1) / b;
    let time = |each: i64| {
        let rows = ceil(extent, (each * MULTIPROCESSORS / columns).clamp(1, extent));
        let busiest = ceil(columns * ceil(extent, rows), MULTIPROCESSORS);
        let (waves, rest) = (busiest / m.resident, busiest % m.resident);
        let wave = waves * m.iteration(m.resident) + if rest > 0 { m.iteration(rest) } else { 0 };
        (rows + p.warm_up() + p.drain()) * wave
    };
    let least = (1..=32).map(time).min().unwrap_or(0);
    let points = (extent as f64).powi(p.stencil.dims as i32) / MULTIPROCESSORS as f64;
    (least as f64 + CYCLES_A_LAUNCH) / points
}

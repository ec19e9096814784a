//! How a launch computes its fused steps.
//!
//! Axes are `[row, y, x]`: rows are streamed through, columns `(y, x)` belong to threads. One-dimensional
//! stencils have one row, two-dimensional ones have `y = 0` only.
//!
//! Iteration `it` of a block computes row `it - lag(v)` of every node `v`: a step may read a row only when it
//! is there, so a node lags behind each node it reads by the largest row offset, and by one more where
//! another thread's column is read, since that needs a barrier between. One barrier an iteration then serves
//! all nodes.
//!
//! Blocks of one warp need no barrier: values pass from lane to lane by shuffles, in the iteration that
//! computes them if need be ([`Config::is_warp`]).

use super::cost::{MAX_NODES, MAX_REGISTERS, MAX_STEPS, Model, model};
use super::functions::params;
use super::versions::{Node, need, queues, versions};
use super::{NotStencil, Stencil, Step, StepAccess};
use crate::planted::planted;
use pollyrs_scop::Scop;

/// Threads of a warp.
pub const WARP: u32 = 32;

/// What can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Time iterations a launch, a multiple of the period.
    pub fuse: i64,
    /// Threads along y and x.
    pub threads: [u32; 2],
    /// Columns of a thread along y and x.
    pub cells: [u32; 2],
    /// Whether no node reads what the same iteration computes: all nodes of an iteration are independent, for
    /// one more row in each queue.
    pub apart: bool,
    /// The loop over rows is unrolled a multiple of this many times.
    pub rows: usize,
    /// Whether the last version of every buffer is written, not only of those that the next launch reads:
    /// then the arrays hold what the program's do.
    pub complete: bool,
    /// Whether each iteration of the unrolled loop has a place of its own in shared memory: then assemblers
    /// know which loads may pass which stores.
    pub fixed: bool,
    /// Whether rows are loaded one iteration ahead of their use, which takes fewer registers than several.
    pub near: bool,
    pub exchange: Exchange,
}

/// How values pass from thread to thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// Through shared memory.
    Shared,
    /// Along x by shuffles, for which a line of threads is a warp; else through shared memory.
    Lanes,
    /// The same, with a thread's columns along x as one access.
    Lines,
}

impl Config {
    /// No step, a column a thread.
    pub const PLAIN: Config = Config {
        fuse: 0,
        threads: [1, 256],
        cells: [1, 1],
        apart: false,
        rows: 1,
        complete: false,
        fixed: false,
        near: false,
        exchange: Exchange::Shared,
    };

    /// Whether a block is one warp, in which all values pass by shuffles.
    pub fn is_warp(&self) -> bool {
        self.threads == [1, WARP]
    }

    /// Whether values of a thread so many threads away along y come by shuffles.
    pub fn shuffles(&self, away: i64) -> bool {
        self.is_warp() || self.exchange != Exchange::Shared && away == 0
    }

    /// Cells that one access to shared memory takes, side by side along x.
    pub fn together(&self) -> usize {
        if self.exchange == Exchange::Lines { self.cells[1] as usize } else { 1 }
    }
}

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct StencilPlan {
    pub stencil: Stencil,
    pub config: Config,
    pub nodes: Vec<Node>,
    /// The needed nodes in an order in which an iteration can compute them.
    pub order: Vec<usize>,
    /// Iterations of the unrolled loop.
    pub unroll: usize,
    /// Rows of each exchanged node that shared memory holds.
    pub slots: usize,
    /// How many iterations ahead of its use a row is loaded: a divisor of `unroll`, so that no value has to
    /// be moved while it is being loaded.
    pub prefetch_distance: usize,
    /// How many rows before it is loaded a row is asked of the cache; 0: not at all.
    pub prefetch: usize,
    /// Output columns of a block, by axis; rows are chosen at run time.
    pub tile: [i64; 3],
    /// Columns in front of the tile that the block computes too, by axis.
    pub halo: [i64; 3],
    pub model: Model,
}

/// Shared memory of a block: what compute capability 9.0 gives one.
const SHARED_LIMIT: usize = 224 * 1024;

/// Rows between the request to the cache and the load: device memory answers after 0.6 to 1.2 microseconds,
/// in two to four iterations.
const PREFETCH_ROWS: usize = 4;

/// The axes of space dimension `d`.
pub fn axis(dims: usize, d: usize) -> usize {
    match (dims, d) {
        (1, _) | (2, 1) => 2,
        (_, d) => d,
    }
}

impl StencilPlan {
    /// Whether rows change places between the lanes of a warp on their way from and to memory: there, a lane
    /// has every 32nd element, so that each access of the warp is one of consecutive elements. In more
    /// dimensions a row's accesses are few beside the steps that a launch takes for it.
    pub fn transposes(&self) -> bool {
        self.stencil.dims == 1 && self.config.is_warp() && self.config.cells[1] > 1
    }

    /// Elements of shared memory for that: one more for each 32, so that neither side meets a bank twice.
    pub fn transposed_elements(&self) -> usize {
        if self.transposes() { (WARP as usize + 1) * self.config.cells[1] as usize } else { 0 }
    }
}

/// What the user asks for; `None`: chosen by the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// Time iterations a launch.
    pub fuse: Option<i64>,
    /// Threads and cells along y and x, and whether nodes are apart.
    pub shape: Option<([u32; 2], [u32; 2], bool, usize)>,
}

/// Arithmetic of a point, in instructions, from which on it is heavy, as divisions and roots with exact
/// results are.
pub(super) const HEAVY_WORK: f64 = 40.0;
/// The same from which on three columns a thread are too many in two dimensions: on an H200 gradient2d with
/// approximations (18) has 1181 GStencil/s with three and 1258 with two, with exact divisions (47) 582 and
/// 602 with one, where laplacian2d (5) has 1906 with three and 1555 with two, heat2d (9) 1028 and 924.
const WORK_OF_TWO: f64 = 18.0;

/// Live buffers from which on warps alone are tried in two dimensions, and the registers that these may need
/// by the model, though some wait in local memory: on an H200 lattice2d (nine) has 72 GStencil/s with warps
/// and four steps, 66 and 62 with the best of larger blocks, 32 with one step a launch; in doubles 35, 30
/// and 22. With exact divisions, which each of a statement's outputs tests by itself in a warp, they are
/// slow: d2q9_box of bench/literature 12 with four steps, 25 with one step a launch (H100).
const MANY_BUFFERS: usize = 6;
const MANY_REGISTERS: usize = 320;

/// Shapes that are tried: threads and cells along y and x. `work`: the most of a point; `wide`: whether
/// elements have 64 bits; `live`: how many buffers.
fn shapes(dims: usize, work: f64, wide: bool, live: usize) -> Vec<([u32; 2], [u32; 2])> {
    let pairs = |t: &[[u32; 2]], c: &[[u32; 2]]| -> Vec<_> {
        t.iter().flat_map(|t| c.iter().map(|c| (*t, *c))).collect()
    };
    match dims {
        // Warps with eight to twelve columns a thread, here with the best of larger blocks: heat1d 4919 and
        // 2786 GStencil/s, in doubles 3575 and 1434; burgers1d 1759 and 1222, 1148 and 760.
        1 => {
            let mut all = pairs(&[[1, WARP]], &[[1, 12], [1, 8], [1, 6], [1, 4]]);
            all.extend(pairs(&[[1, 128]], &[[1, 4], [1, 2]]));
            all
        }
        2 => {
            let mut all = pairs(&[[1, 256], [1, 128]], &[[1, 2], [1, 1]]);
            if live >= MANY_BUFFERS && work < HEAVY_WORK {
                all.push(([1, WARP], [1, 1]));
            }
            if work < WORK_OF_TWO {
                all.extend(pairs(&[[1, 192], [1, 128]], &[[1, 3]]));
            }
            all
        }
        _ => {
            // In doubles laplacian3d has 353 GStencil/s with 16 x 32 threads and 373 with 12 x 32, heat3d27
            // 143 and 170, gradient3d 188 and 181. With 8 x 32 of 3 x 1 heat3d27 has 157, and anisotropic3d
            // 182 for 207.
            let heavy = work >= HEAVY_WORK;
            if wide && !heavy {
                let mut all = pairs(&[[12, 32]], &[[2, 2], [3, 1], [1, 1]]);
                all.extend(pairs(&[[8, 32]], &[[2, 2], [1, 1]]));
                return all;
            }
            let mut all = pairs(&[[32, 32], [16, 32], [8, 32]], &[[2, 1], [2, 2], [1, 1]]);
            if !heavy {
                all.extend(pairs(&[[12, 32]], &[[2, 2], [3, 1]]));
            }
            all
        }
    }
}

/// Plans for the stencil of `scop`, deepest first: the one of the least modelled time a step, shallower ones
/// for the steps that are left over, and a complete one of a period, for what is left then and the last
/// steps.
///
/// `work` is, by statement, how many instructions the arithmetic of one instance issues, of operands of 32
/// bits.
pub fn plans(
    scop: &Scop,
    stencil: &Stencil,
    wish: &Wish,
    work: &[f64],
) -> Result<Vec<StencilPlan>, NotStencil> {
    let of_points = stencil.steps.iter().filter_map(|s| work.get(s.stmt.0).copied());
    let most_work = of_points.fold(0.0, f64::max);
    let wide = stencil.buffers.iter().any(|b| scop.array(b.array).elem.bytes() > 4);
    let live = stencil.buffers.iter().filter(|b| b.live).count();
    let shapes: Vec<_> = match wish.shape {
        Some(shape) => vec![shape],
        None => {
            shapes(stencil.dims, most_work, wide, live).into_iter().map(|(t, c)| (t, c, false, 1)).collect()
        }
    };
    let wanted = wish.fuse.map(|f| (f / stencil.period).max(1));
    let deepest = if stencil.dims == 1 { 32 } else { MAX_STEPS };
    let most =
        wanted.unwrap_or((deepest / stencil.period).min(MAX_NODES / stencil.steps.len() as i64).max(1));
    let mut best: Option<StencilPlan> = None;
    for (threads, cells, apart, rows) in shapes {
        let mut plan_of = |periods: i64| {
            // Rows are loaded early, and slots are fixed, where there is room for it.
            let ways = [(true, false), (false, false), (true, true), (false, true)].map(|(fixed, near)| {
                let fuse = periods * stencil.period;
                let exchange = exchange(scop, stencil, threads, cells, work);
                Config { fuse, threads, cells, apart, rows, complete: false, fixed, near, exchange }
            });
            let narrow = threads == [1, WARP] && live >= MANY_BUFFERS;
            let nearly = most_work < HEAVY_WORK || narrow || wish.shape.is_some();
            let ways = ways.into_iter().filter(|c| !c.near || nearly);
            let p = ways.filter_map(|config| planned(scop, stencil, config, work));
            let p = p.min_by(|a, b| a.model.point.total_cmp(&b.model.point));
            let most = if narrow { MANY_REGISTERS } else { MAX_REGISTERS };
            let fits = p.as_ref().is_some_and(|p| wish.shape.is_some() || p.model.registers <= most);
            if let Some(p) = p.filter(|_| fits)
                && best.as_ref().is_none_or(|b| p.model.point < b.model.point)
            {
                best = Some(p);
            }
            fits
        };
        match wanted {
            // The number the user wants, or the nearest below that fits.
            Some(w) => {
                let _ = (1..=w).rev().any(&mut plan_of);
            }
            None => {
                let _ = (1..=most).all(&mut plan_of);
            }
        }
    }
    let best = best.ok_or(NotStencil::Resources)?;
    let mut plans = vec![best];
    let mut rest = plans[0].config.fuse / stencil.period / 3;
    // Single periods are left to the complete plan.
    while rest > 1 {
        let config = Config { fuse: rest * stencil.period, ..plans[0].config };
        plans.extend(planned(scop, stencil, config, work));
        rest /= 3;
    }
    let config = Config { fuse: stencil.period, complete: true, ..plans[0].config };
    plans.extend(planned(scop, stencil, config, work));
    Ok(plans)
}

/// Arithmetic of a point, in instructions, from which on shared memory is not what limits.
const MUCH_WORK: f64 = 16.0;

/// How values best pass. On an H200, in GStencil/s through shared memory, with lanes, with lines: laplacian3d
/// 674, 681, 710; heat3d27, where columns of neighbours in both directions are read as well, 310, 319, 300;
/// gradient3d, with a division and a root a point, 392, 391, 382.
fn exchange(scop: &Scop, s: &Stencil, threads: [u32; 2], cells: [u32; 2], work: &[f64]) -> Exchange {
    let words = s.buffers.iter().all(|b| scop.array(b.array).elem.bytes() == 4);
    let cases = s.steps.iter().any(|step| !step.cases.is_empty());
    if s.dims != 3 || threads[1] != WARP || !words || cases {
        return Exchange::Shared;
    }
    let diagonal = |o: &Vec<i64>| o[1] != 0 && o[2] != 0;
    let accesses = s.steps.iter().flat_map(|step| &step.accesses);
    if accesses.into_iter().any(|a| matches!(a, StepAccess::Buffer { offset, .. } if diagonal(offset))) {
        return Exchange::Lanes;
    }
    let much = s.steps.iter().any(|step| work.get(step.stmt.0).is_none_or(|w| *w >= MUCH_WORK));
    if much || !matches!(cells[1], 2 | 4) { Exchange::Shared } else { Exchange::Lines }
}

/// The plan with its model, if the device has room for it.
fn planned(scop: &Scop, stencil: &Stencil, config: Config, work: &[f64]) -> Option<StencilPlan> {
    let mut p = with_config(stencil, config);
    if p.tile[1..].iter().any(|t| *t < 1) {
        return None;
    }
    p.model = model(scop, &p, work);
    (p.model.shared <= SHARED_LIMIT && p.model.resident > 0).then_some(p)
}

/// Where node `i`'s part of a slot ends if it starts at `begin` (bytes).
pub fn slot_end(p: &StencilPlan, i: usize, begin: usize, bytes: usize) -> usize {
    let begin = begin.next_multiple_of(bytes * p.config.together());
    if !p.nodes[i].exchange {
        return begin;
    }
    begin + exchanged_cells(p, i).len() * slot_threads(p, i) * bytes
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

/// The cells of a thread that other threads read of node `i` in shared memory, as `cy * cells_x + cx`,
/// ascending.
pub fn exchanged_cells(p: &StencilPlan, i: usize) -> Vec<usize> {
    let [ny, nx] = p.config.cells.map(i64::from);
    let mut cells = std::collections::BTreeSet::new();
    for r in p.nodes.iter().flat_map(|n| &n.reads).filter(|r| r.node == i) {
        for cy in 0..ny {
            for cx in 0..nx {
                let (y, x) = (cy + r.offset[1], cx + r.offset[2]);
                let crosses = !(0..ny).contains(&y) || !(0..nx).contains(&x);
                if crosses && !p.config.shuffles(y.div_euclid(ny)) {
                    cells.insert((y.rem_euclid(ny) * nx + x.rem_euclid(nx)) as usize);
                }
            }
        }
    }
    cells.into_iter().collect()
}

/// The plan with these choices, whether or not it fits.
pub fn with_config(stencil: &Stencil, config: Config) -> StencilPlan {
    let mut nodes = versions(stencil, &config);
    need(&mut nodes);
    let (unroll, slots) = queues(&nodes, &config);
    // Device memory answers after 0.6 to 1.2 microseconds, as long as two or three iterations.
    let prefetch_distance =
        if config.near { None } else { (2..=4).rev().find(|a| unroll % a == 0) }.unwrap_or(1);
    let mut halo = [0; 3];
    let mut tile = [1; 3];
    for a in 1..3 {
        let needed = || nodes.iter().filter(|n| n.needed);
        halo[a] = needed().map(|n| n.lo[a]).max().unwrap_or(0);
        halo[a] -= i64::from(planted("halo") && halo[a] > 0);
        let after = needed().map(|n| n.hi[a]).max().unwrap_or(0);
        tile[a] = i64::from(config.threads[a - 1] * config.cells[a - 1]) - halo[a] - after;
    }
    let order = (0..nodes.len()).filter(|i| nodes[*i].needed).collect();
    StencilPlan {
        stencil: stencil.clone(),
        config,
        nodes,
        order,
        unroll,
        slots,
        prefetch_distance,
        prefetch: if config.fuse > 0 { PREFETCH_ROWS } else { 0 },
        tile,
        halo,
        model: Model::default(),
    }
}

impl StencilPlan {
    /// Iterations of a block before its first and behind its last output row: iteration `first_row - warm_up`
    /// is the first, `last_row + drain` the last.
    pub fn warm_up(&self) -> i64 {
        self.nodes.iter().filter(|n| n.needed).map(|n| n.lo[0] - n.lag).max().unwrap_or(0)
    }

    pub fn drain(&self) -> i64 {
        self.nodes.iter().filter(|n| n.output).map(|n| n.lag).max().unwrap_or(0)
    }

    /// How far around a block's output its values come from, along the outermost dimension: by the proof, no
    /// needed node's region is larger.
    pub fn reach(&self) -> [i64; 2] {
        let axis = axis(self.stencil.dims, 0);
        let less = i64::from(planted("band-halo"));
        let most = |ends: fn(&Node) -> &[i64; 3]| {
            let reached = self.nodes.iter().filter(|n| n.needed).map(|n| ends(n)[axis]).max().unwrap_or(0);
            (reached - less).max(0)
        };
        [most(|n| &n.lo), most(|n| &n.hi)]
    }

    /// Whether the box of a step lies in the hull of a live buffer for all sizes: a launch's tiles cover it.
    ///
    /// # Errors
    /// isl's.
    pub fn covers(&self, step: &Step) -> crate::Result<bool> {
        let s = &self.stencil;
        for b in s.buffers.iter().filter(|b| b.live) {
            let mut inside = true;
            for d in 0..s.dims {
                let lower = params(step.lower[d].clone().ge_set(b.lower[d].clone())?)?;
                let upper = params(step.upper[d].clone().le_set(b.upper[d].clone())?)?;
                inside = inside && s.runs.is_subset(&lower.intersect(upper)?)?;
            }
            if inside {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub fn max_lag(&self) -> i64 {
        self.nodes.iter().filter(|n| n.needed).map(|n| n.lag).max().unwrap_or(0)
    }
}

//! The host's side of [`crate::stencil::blocks`]: how many rows the blocks of a launch have.
//!
//! A block of `rows` output rows runs `rows + halo` iterations. More blocks have fewer rows and more halo;
//! fewer blocks leave multiprocessors idle, or with too few warps to hide latencies. The first and the last
//! block have fewer rows, which take longer, and begin first. The host tries some numbers of blocks a
//! multiprocessor and takes the one of the least modelled time ([`StencilPlan::model`]), once with the same
//! rows for all columns, and once with fewer for those at the sides.
//!
//! Numbers of blocks are numbers of waves only if all take as long. Otherwise multiprocessors wait at the
//! end, a sixth of a wave where the sides have as many rows. With the choice between the two, and with the
//! same rows for all columns only (H200, GStencil/s): laplacian2d 1907 and 1892, at 16384^2 2481 and 2419, in
//! doubles 902 and 853; heat2d and gradient3d the same; always with fewer, laplacian2d 1475.

use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use crate::kernel::module::Part;
use inkwell::llvm_sys::LLVMIntPredicate::*;
use pollyrs_schedule::stencil::StencilPlan;

/// Multiprocessors of the largest current device (H200). A smaller one runs more waves of the same blocks.
const MULTIPROCESSORS: i64 = 132;
/// Numbers of blocks a multiprocessor that are tried: 1 to 32.
const BLOCKS_EACH: [i64; 12] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32];
/// Bits for each of them, less one, in the one number from which the host takes them.
const EACH_BITS: i64 = 5;
/// Iterations of a block at the sides and of another that take as long.
const ITERATIONS: [i64; 2] = [5, 6];
/// What it takes more, in parts of a wave, if blocks at the sides have as many iterations as the others.
const WAITING: i64 = 6;
/// And whatever they have, as numerator and denominator: blocks of the same number of iterations don't end
/// together, and who is early has nothing left to do. A 5-point stencil in fused steps of 14 on 16,384 x
/// 32,768 floats has 1882, 2003, 2105, 2178, 2220, 2240 GStencil/s with 1, 2, 3, 4, 6, 8 waves, on 8,192 x
/// 32,768 1893, 2031, 2116, 2186, 2177, 2176 (H100).
const UNEVEN: [i64; 2] = [1, 10];

/// The blocks of one part of the columns.
#[derive(Clone, Copy)]
pub(crate) struct Share {
    pub columns: Value,
    /// Rows of a block, and how many of them the first one does not have.
    pub rows: Value,
    pub less: Value,
    /// Blocks one above the other.
    pub above: Value,
}

/// All blocks of a launch.
pub(crate) struct Shape {
    side: Share,
    middle: Share,
}

impl Shape {
    pub fn of(&self, part: Part) -> Share {
        match part {
            Part::Side => self.side,
            Part::Middle => self.middle,
        }
    }

    /// The number of blocks.
    pub fn blocks(&self, ir: &Ir) -> Value {
        let of = |s: Share| ir.mul(s.columns, s.above);
        ir.add(of(self.side), of(self.middle))
    }
}

/// The blocks for a height, if the stencil has rows, and numbers of columns of blocks along y and x.
pub(crate) fn shape(
    ir: &Ir,
    function: Value,
    p: &StencilPlan,
    height: Option<Value>,
    counts: [Value; 2],
) -> Shape {
    let [lines, across] = counts;
    let all = ir.mul(lines, across);
    let Some(height) = height else {
        let share = |columns, above| Share { columns, rows: ir.int(1), less: ir.int(0), above };
        return Shape { side: share(ir.int(0), ir.int(0)), middle: share(all, ir.int(1)) };
    };
    let more = |n, than| ir.icmp(LLVMIntSGT, n, ir.int(than));
    let (has_sides, sides) = match p.stencil.dims {
        2 => (more(across, 2), ir.int(2)),
        _ => {
            let around = ir.sub(ir.mul(ir.add(lines, across), ir.int(2)), ir.int(4));
            (ir.and(more(lines, 2), more(across, 2)), around)
        }
    };
    let sides = ir.select(has_sides, sides, ir.int(0));
    let columns = [sides, ir.sub(all, sides)];
    let rows = Search { ir, p, height, columns }.run(function);
    let share = |i: usize| {
        let above = row_blocks(ir, p, height, rows[i]);
        Share { columns: columns[i], rows: rows[i], less: fewer(ir, p, rows[i]), above }
    };
    Shape { side: share(0), middle: share(1) }
}

fn ceil(ir: &Ir, a: Value, b: Value) -> Value {
    ir.sdiv(ir.add(a, ir.sub(b, ir.int(1))), b)
}

fn smin(ir: &Ir, a: Value, b: Value) -> Value {
    ir.select(ir.icmp(LLVMIntSLT, a, b), a, b)
}

/// How many rows fewer than the others the first and the last block have: theirs take longer, since boxes end
/// there.
fn fewer(ir: &Ir, p: &StencilPlan, rows: Value) -> Value {
    let most = ir.int(p.max_lag() + (p.unroll + p.prefetch_distance) as i64);
    smin(ir, ir.sdiv(rows, ir.int(3)), most)
}

/// Blocks one above the other.
fn row_blocks(ir: &Ir, p: &StencilPlan, height: Value, rows: Value) -> Value {
    let covered = ir.sub(ir.add(height, fewer(ir, p, rows)), ir.int(1));
    let blocks = ir.add(ir.sdiv(covered, rows), ir.int(1));
    ir.select(ir.icmp(LLVMIntSGT, height, ir.int(0)), blocks, ir.int(0))
}

/// See the module documentation.
struct Search<'a> {
    ir: &'a Ir,
    p: &'a StencilPlan,
    height: Value,
    /// Columns of blocks, of the sides and of the others.
    columns: [Value; 2],
}

impl Search<'_> {
    /// Rows of a block at the sides and of another. A loop, which is kept: unrolled, its divisions would be
    /// most of what the compiler has to do for the host's code.
    fn run(&self, function: Value) -> [Value; 2] {
        let ir = self.ir;
        let packed = BLOCKS_EACH.iter().rev().fold(0, |all, each| (all << EACH_BITS) | (each - 1));
        let (before, body, after) = (
            ir.block(),
            ir.append_block(function, "pollyrs.rows"),
            ir.append_block(function, "pollyrs.rows.end"),
        );
        ir.br(body);
        ir.at_end(body);
        let phi = |start: i64| ir.phi(ir.i64_type(), &[(ir.int(start), before)]);
        let (left, least, best) = (phi(packed), phi(i64::MAX), [phi(1), phi(1)]);
        let each = ir.add(ir.and(left, ir.int((1 << EACH_BITS) - 1)), ir.int(1));
        let (mut time, mut rows) = (least, best);
        for fewer in [false, true] {
            let (t, r) = self.candidate(each, fewer);
            let better = ir.icmp(LLVMIntSLT, t, time);
            time = ir.select(better, t, time);
            rows = [0, 1].map(|i| ir.select(better, r[i], rows[i]));
        }
        // The last candidate is not 1, so that nothing is left behind it only.
        let rest = ir.udiv(left, ir.int(1 << EACH_BITS));
        for (phi, next) in [(left, rest), (least, time), (best[0], rows[0]), (best[1], rows[1])] {
            ir.add_incoming(phi, next, body);
        }
        let end = ir.cond_br(ir.icmp(LLVMIntNE, rest, ir.int(0)), body, after);
        hint_loops(function, "llvm.loop.unroll.disable", None, |e| e == end);
        ir.at_end(after);
        rows.map(|r| ir.smax(r, ir.int(1)))
    }

    /// The time, without a unit, with about so many blocks a multiprocessor, and the rows of a block;
    /// `apart`: with fewer for the sides.
    fn candidate(&self, each: Value, apart: bool) -> (Value, [Value; 2]) {
        let Search { ir, p, height, columns: [sides, middle] } = *self;
        let one = ir.int(1);
        let halo = ir.int(p.warm_up() + p.drain());
        let [fewer_iterations, iterations] = ITERATIONS.map(|n| ir.int(n));
        // Blocks one above the other, with those at the sides counted as so many more.
        let all = ir.mul(each, ir.int(MULTIPROCESSORS));
        let wanted = if apart {
            let shares = ir.add(ir.mul(middle, fewer_iterations), ir.mul(sides, iterations));
            ir.sdiv(ir.mul(all, fewer_iterations), ir.smax(shares, one))
        } else {
            ir.sdiv(all, ir.smax(ir.add(sides, middle), one))
        };
        let wanted = smin(ir, ir.smax(wanted, one), ir.smax(height, one));
        let less = fewer(ir, p, ceil(ir, height, wanted));
        let rows = ir.smax(ceil(ir, ir.add(height, ir.mul(less, ir.int(2))), wanted), one);
        let of_sides = if apart {
            let alike = ir.sdiv(ir.mul(ir.add(rows, halo), fewer_iterations), iterations);
            ir.smax(ir.sub(alike, halo), ceil(ir, rows, ir.int(2)))
        } else {
            rows
        };
        let blocks = ir.add(
            ir.mul(middle, row_blocks(ir, p, height, rows)),
            ir.mul(sides, row_blocks(ir, p, height, of_sides)),
        );
        // Blocks of the busiest multiprocessor, as full waves and a last one.
        let resident = p.model.resident.max(1);
        let busiest = ceil(ir, blocks, ir.int(MULTIPROCESSORS));
        let waves = ir.sdiv(busiest, ir.int(resident));
        let rest = ir.sub(busiest, ir.mul(waves, ir.int(resident)));
        let mut last = ir.int(0);
        for k in 1..resident {
            last = ir.select(ir.icmp(LLVMIntSGE, rest, ir.int(k)), ir.int(p.model.iteration(k)), last);
        }
        let one_wave = p.model.iteration(resident);
        let uneven = one_wave * UNEVEN[0] / UNEVEN[1];
        let mut cycles = ir.add(ir.add(ir.mul(waves, ir.int(one_wave)), last), ir.int(uneven));
        let sided = ir.icmp(LLVMIntSGT, sides, ir.int(0));
        if !apart {
            cycles = ir.add(cycles, ir.select(sided, ir.int(one_wave / WAITING), ir.int(0)));
        }
        let time = ir.mul(ir.add(rows, halo), cycles);
        let time = if apart { ir.select(sided, time, ir.int(i64::MAX)) } else { time };
        (time, [of_sides, rows])
    }
}

//! The order of a grid's blocks: by groups of rows. The order of a block's threads: by warps, neighbours
//! along both dimensions.
//!
//! Some hundred blocks run at once. In the plain order these are a few rows of tiles and all columns: with
//! long rows, all operands of the columns pass through the L2 cache for every few rows. In groups of 16 rows,
//! columns outside, they are about as many rows as columns. The order is a permutation of the grid's blocks,
//! and nothing depends on the order of blocks.
//!
//! # Example
//! Index `i` in a plane of `h` rows and `w` columns: group `g = i / (16 w)` with `r = min(16, h - 16 g)`
//! rows; `j = i mod (16 w)`; row `16 g + j mod r`, column `j / r`.

use crate::affine::expr::pw_aff_expr;
use crate::ir::builder::Ir;
use crate::ir::error::{Result, internal};
use crate::ir::intrinsics::THREAD_ID;
use crate::ir::llvm::*;
use crate::ir::types::WARP;
use crate::kernel::axes::{axes, helper_axis};
use crate::kernel::builder::KernelBuilder;
use crate::kernel::storage::OfMapping;
use inkwell::llvm_sys::LLVMIntPredicate::LLVMIntULT;
use pollyrs_isl as isl;
use pollyrs_schedule::Tiling;

/// Rows of a group: on an H200, 264 tiles of a matrix product run at once.
pub(crate) const GROUP_ROWS: u32 = 16;
const ROWS: i64 = GROUP_ROWS as i64;

/// Whether the blocks of a kernel are in groups: its last two dimensions have tiles of several points.
pub(crate) fn in_groups<'a, S: OfMapping<'a>>(k: &KernelBuilder<'a, S>) -> bool {
    let of_points = |t: &Tiling| t.dims.len() >= 2 && t.dims.iter().rev().take(2).all(|d| d.points > 1);
    k.kernel().tiling().is_some_and(|t| t.helpers <= 1 && of_points(t))
}

/// Column and row of block `index` in a plane. `by_columns`: quotient and remainder by the number of columns.
pub(crate) fn in_plane(
    ir: &Ir,
    index: Value,
    rows: Value,
    by_columns: impl Fn(Value) -> Result<[Value; 2]>,
) -> Result<[Value; 2]> {
    // `index / (16 w)` is `(index / 16) / w`.
    let [group, rest] = by_columns(ir.udiv(index, ir.int(ROWS)))?;
    let inside = ir.add(ir.mul(rest, ir.int(ROWS)), ir.urem(index, ir.int(ROWS)));
    let first = ir.mul(group, ir.int(ROWS));
    let left = ir.sub(rows, first);
    let height = ir.select(ir.icmp(LLVMIntULT, left, ir.int(ROWS)), left, ir.int(ROWS));
    // All are less than 2^31.
    let [inside, height] = [inside, height].map(|v| ir.trunc(v, ir.i32_type()));
    let [column, row] = [ir.udiv(inside, height), ir.urem(inside, height)].map(|v| ir.zext(v, ir.i64_type()));
    Ok([column, ir.add(first, row)])
}

/// The lane that a lane stands for: in a warp of 4 by 8 its neighbours are the next one along x and the next
/// one along y.
///
/// Shared memory serves a load of 16 bytes in quarters of a warp, two of them at once where each lane reads
/// what the next one does, or what the next but one does. With eight lanes in a row this holds only for
/// operands that are the same along x (measured on an H200, product of floats at 8192: 22% fewer wavefronts,
/// 46.3 instead of 43.7 TFLOP/s).
fn interleaved<'a, S: OfMapping<'a>>(k: &KernelBuilder<'a, S>, tiling: &Tiling, lane: Value) -> Value {
    // For bits x0, x1, x2, y0, y1 where they come from.
    const FROM: [u32; 5] = [0, 2, 3, 1, 4];
    let lanes: Vec<u32> = tiling.lanes.iter().copied().filter(|l| *l > 1).collect();
    if lanes != [4, 8] {
        return lane;
    }
    let ir = k.ir;
    (0..).zip(FROM).fold(ir.int32(0), |sum, (to, from)| {
        let bit = ir.urem(ir.udiv(lane, ir.int32(1 << from)), ir.int32(2));
        ir.add(sum, ir.mul(bit, ir.int32(1 << to)))
    })
}

/// The thread's coordinates: lanes of a warp are digits of the linear index by the tiling's lanes, the rest
/// by warps.
pub(crate) fn threads<'a, S: OfMapping<'a>>(
    k: &KernelBuilder<'a, S>,
    tiling: &Tiling,
) -> Result<Vec<(String, Value)>> {
    let ir = k.ir;
    let sizes: Vec<u32> = k.kernel().block.iter().map(|b| b.size).collect();
    // Of a warp with helpers, only some lanes may have points.
    let lanes = tiling.lanes.iter().product::<u32>();
    let fits = tiling.lanes.len() == sizes.len()
        && (lanes == WARP || tiling.helpers > 1 && lanes > 0 && WARP.is_multiple_of(lanes))
        && tiling.lanes.iter().zip(&sizes).all(|(l, s)| *l > 0 && s.is_multiple_of(*l));
    if !fits {
        return internal("a block that its warps do not divide");
    }
    let constant = |v: u32| ir.int32(v);
    let linear = linear_thread(k)?;
    let (mut lane, mut warp) = (ir.urem(linear, constant(lanes)), ir.udiv(linear, constant(lanes)));
    if !tiling.products {
        lane = interleaved(k, tiling, lane);
    }
    let mut out = Vec::new();
    for ((b, lanes), size) in k.kernel().block.iter().zip(&tiling.lanes).zip(&sizes).rev() {
        let (lanes, warps) = (constant(*lanes), constant(size / lanes));
        let low = ir.urem(lane, lanes);
        let high = ir.mul(ir.urem(warp, warps), lanes);
        out.push((b.param.clone(), ir.zext(ir.add(low, high), ir.i64_type())));
        (lane, warp) = (ir.udiv(lane, lanes), ir.udiv(warp, warps));
    }
    Ok(out)
}

/// [`KernelInfo::slice_tiles`]: of kernels that are launched once in an execution, those that have several
/// tiles along the first dimension; of all that do, where launches are cut for several devices.
pub(crate) fn slice_tiles<'a, S: OfMapping<'a>>(k: &KernelBuilder<'a, S>) -> Result<u32> {
    let Some(first) = k.kernel().grid.first() else { return Ok(0) };
    let count = pw_aff_expr(&first.count, None)?;
    let many = count.expr_type()? != isl::AstExprType::Int || count.int()?.to_i64().is_none_or(|n| n > 1);
    // A tiled kernel may have the place where its launch is cut as a parameter.
    let once = k.kernel().host_params.is_empty() || k.kernel().tiling().is_some();
    let cut = (k.mapped.divides || once && k.kernel().steps().is_none()) && k.kernel().task().is_none();
    if !many || !cut {
        return Ok(0);
    }
    Ok(if k.kernel().grid.len() == 2 && in_groups(k) { GROUP_ROWS } else { 1 })
}

/// The number of the thread among those for the same points.
pub(crate) fn helper<'a, S: OfMapping<'a>>(k: &KernelBuilder<'a, S>) -> Result<Value> {
    match THREAD_ID.get(helper_axis(k.kernel())?) {
        Some(axis) => Ok(k.abstract_call(axis, k.ir.int_type(32))),
        None => internal("helpers in a block of three dimensions"),
    }
}

/// The linear index of the thread in its block, an `i32`: neighbours in it are neighbours in a warp.
pub(crate) fn linear_thread<'a, S: OfMapping<'a>>(k: &KernelBuilder<'a, S>) -> Result<Value> {
    let ir = k.ir;
    let (mut linear, mut scale) = (ir.int32(0), 1);
    for (axis, b) in axes(k.kernel())?.into_iter().zip(&k.kernel().block).rev() {
        let Some(axis) = axis else { continue };
        let id = k.abstract_call(THREAD_ID[axis], ir.int_type(32));
        linear = ir.add(linear, ir.mul(id, ir.int32(scale)));
        scale *= b.size;
    }
    if k.kernel().tiling().is_some_and(|t| t.helpers > 1) {
        linear = ir.add(linear, ir.mul(helper(k)?, ir.int32(scale)));
    }
    Ok(linear)
}

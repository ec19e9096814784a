//! The order of a grid's blocks: by groups of rows.
//!
//! Some hundred blocks run at once. In the plain order these are a few rows of tiles and all columns: with long rows, all operands of the
//! columns pass through the L2 cache for every few rows. In groups of 16 rows, columns outside, they are about as many rows as
//! columns. The order is a permutation of the grid's blocks, and nothing depends on the order of blocks.
//!
//! # Example
//! Index `i` in a plane of `h` rows and `w` columns: group `g = i / (16 w)` with `r = min(16, h - 16 g)` rows;
//! `j = i mod (16 w)`; row `16 g + j mod r`, column `j / r`.

use crate::ir::Ir;
use crate::kernel::KernelBuilder;
use inkwell::llvm_sys::LLVMIntPredicate::LLVMIntULT;
use inkwell::llvm_sys::prelude::*;

/// Rows of a group: on an H200, 264 tiles of a matrix product run at once.
const ROWS: i64 = 16;

/// Whether the blocks of a kernel are in groups: its last two dimensions have tiles of several points.
pub(crate) fn in_groups(k: &KernelBuilder<'_>) -> bool {
    let Some(t) = &k.kernel.tiling else { return false };
    t.helpers <= 1 && t.dims.len() >= 2 && t.dims.iter().rev().take(2).all(|d| d.points > 1)
}

/// Column and row of block `index` in a plane.
pub(crate) fn in_plane(
    ir: &Ir,
    index: LLVMValueRef,
    rows: LLVMValueRef,
    columns: LLVMValueRef,
) -> [LLVMValueRef; 2] {
    let all = ir.mul(columns, ir.int(ROWS));
    let (group, inside) = (ir.udiv(index, all), ir.urem(index, all));
    let first = ir.mul(group, ir.int(ROWS));
    let left = ir.sub(rows, first);
    let height = ir.select(ir.icmp(LLVMIntULT, left, ir.int(ROWS)), left, ir.int(ROWS));
    [ir.udiv(inside, height), ir.add(first, ir.urem(inside, height))]
}

//! Which columns and rows a block has.
//!
//! **Problem.** Blocks at the grid's sides take a fifth to two fifths longer than others: they test columns,
//! and their barriers wait for the warp that does. In one wave they end last, while most multiprocessors have
//! nothing to do any more; in several, those that begin late do.
//!
//! **Solution.** The columns at the sides are a part of their own: its blocks begin first, and may have fewer
//! rows (the host's side, [`crate::host::stencil_rows`]).
//! ```text
//! block b:  side = b < Columns(Side) RowBlocks(Side);  b' = b, less those of the sides if it is none
//!           column = b' mod Columns(part), rows = b' / Columns(part), of which the last come first
//! ```
//! The columns of the sides are numbered: in two dimensions the first and the last; in three the first and
//! the last line of them, then two of each line between. The others are numbered line by line. Where a
//! dimension has less than three columns of blocks there are no sides, and the others are all.

use crate::ir::intrinsics::BLOCK_ID;
use crate::ir::llvm::*;
use crate::kernel::module::{Part, StencilScalar};
use crate::stencil::tile::Tile;
use inkwell::llvm_sys::LLVMIntPredicate::*;
use pollyrs_schedule::planted::planted;

/// A block's position.
pub(super) struct Position {
    /// Number of its columns along y and x, of its rows, rows of a block, and rows that the first block does
    /// not have; all have 32 bits.
    pub columns: [Value; 2],
    pub rows: Value,
    pub height: Value,
    pub less: Value,
}

impl Tile<'_> {
    /// See the module documentation.
    pub(super) fn position(&self) -> Position {
        let ir = self.k.ir;
        // A launch has less than 2^31 blocks.
        let block = ir.trunc(self.k.abstract_call(BLOCK_ID, ir.i64_type()), ir.i32_type());
        let each = |f: fn(Part) -> StencilScalar| [Part::Side, Part::Middle].map(|p| self.corner(f(p)));
        let [columns, above] = [each(StencilScalar::Columns), each(StencilScalar::RowBlocks)];
        let of_sides = ir.mul(columns[0], above[0]);
        let side = ir.icmp(LLVMIntULT, block, of_sides);
        let of_part = |[a, b]: [Value; 2]| ir.select(side, a, b);
        let rest = ir.sub(block, of_part([self.number(0), of_sides]));
        let column = ir.urem(rest, of_part(columns));
        let rows = ir.udiv(rest, of_part(columns));
        // The last ones come first: those at the grid's border take longest.
        let last = ir.sub(of_part(above), self.number(1));
        let first = ir.icmp(LLVMIntEQ, rows, self.number(0));
        Position {
            columns: self.column(column, side, columns[0]),
            rows: ir.select(first, last, ir.sub(rows, self.number(1))),
            height: of_part(each(StencilScalar::Rows)),
            less: of_part(each(StencilScalar::Less)),
        }
    }

    /// The position along y and x of the column with a number in its part.
    fn column(&self, number: Value, side: Value, sides: Value) -> [Value; 2] {
        let ir = self.k.ir;
        let [zero, one, two] = [0, 1, 2].map(|n| self.number(n));
        let [lines, across] = [1, 2].map(|axis| self.corner(StencilScalar::Count(axis)));
        let number = if planted("side-columns") { ir.select(side, zero, number) } else { number };
        // Columns in front of the middle ones.
        let margin = ir.zext(ir.icmp(LLVMIntNE, sides, zero), ir.i32_type());
        let end = ir.sub(across, one);
        if self.dimension(1).is_none() {
            let at_side = ir.select(ir.icmp(LLVMIntEQ, number, zero), zero, end);
            return [zero, ir.select(side, at_side, ir.add(number, margin))];
        }
        let inner = ir.smax(ir.sub(across, ir.add(margin, margin)), one);
        let middle = [ir.add(ir.udiv(number, inner), margin), ir.add(ir.urem(number, inner), margin)];
        // On the first line, or on the last.
        let first = ir.icmp(LLVMIntULT, number, across);
        let line =
            [ir.select(first, zero, ir.sub(lines, one)), ir.sub(number, ir.select(first, zero, across))];
        let rest = ir.sub(number, ir.add(across, across));
        let between = [
            ir.add(ir.udiv(rest, two), one),
            ir.select(ir.icmp(LLVMIntEQ, ir.and(rest, one), zero), zero, end),
        ];
        let on_line = ir.icmp(LLVMIntSLT, rest, zero);
        let pick = |a: usize| ir.select(side, ir.select(on_line, line[a], between[a]), middle[a]);
        [pick(0), pick(1)]
    }
}

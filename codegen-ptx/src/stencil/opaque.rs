//! Values that optimizers do not see through.

use crate::ir::llvm::*;
use crate::kernel::module::StencilScalar;
use crate::ops::pinned::same;
use crate::stencil::tile::Tile;
use inkwell::llvm_sys::LLVMIntPredicate::LLVMIntEQ;
use inkwell::llvm_sys::LLVMTypeKind;

impl Tile<'_> {
    /// A test as a mask, 0 where it holds and 1 elsewhere, that the optimizer cannot see through: a predicate
    /// that lives through the loop would be packed into a register with others and unpacked at each use, a
    /// mask is tested by one instruction together with another ([`Self::holds`]).
    pub(super) fn mask(&self, holds: Value) -> Value {
        let ir = self.k.ir;
        same(ir, ir.i32_type(), "=r,0", false, ir.select(holds, ir.int32(0), ir.int32(1)))
    }

    /// Whether two masks hold.
    pub(super) fn holds(&self, a: Value, b: Value) -> Value {
        let ir = self.k.ir;
        ir.icmp(LLVMIntEQ, ir.or(a, b), ir.int32(0))
    }

    /// A value that was loaded, in another register, by an instruction that is more than a move: the register
    /// is free for the next load then. Assemblers move values at the end of the loop otherwise, and threads
    /// wait there for loads that have just begun.
    pub fn taken(&self, v: Value) -> Value {
        if self.fixed.plan.config.near {
            return v;
        }
        let ir = self.k.ir;
        let ty = v.ty();
        let int = match ty.kind() {
            LLVMTypeKind::LLVMFloatTypeKind => ir.i32_type(),
            LLVMTypeKind::LLVMDoubleTypeKind => ir.i64_type(),
            LLVMTypeKind::LLVMIntegerTypeKind if matches!(ty.int_width(), Some(32 | 64)) => ty,
            _ => return v,
        };
        let zero = ir.trunc(self.scalar(StencilScalar::Zero), int);
        let bits = ir.or(ir.bit_cast(v, int), zero);
        ir.bit_cast(bits, ty)
    }

    /// A 64-bit integer that the optimizer takes for another one in each iteration of a loop. By loop
    /// strength reduction each address that is such a number of bytes from another would become a variable of
    /// its own, with two registers and five instructions an iteration in place of two.
    pub fn varying(&self, v: Value) -> Value {
        same(self.k.ir, self.k.ir.i64_type(), "=l,0", true, v)
    }

    /// A 32-bit integer, computed in the current block.
    pub fn fixed(&self, v: Value) -> Value {
        same(self.k.ir, self.k.ir.i32_type(), "=r,0", true, v)
    }
}

//! Contraction as a decision of the IR: products and sums of one expression become `llvm.fmuladd`, and
//! nothing else may be contracted.
//!
//! Under `-ffp-contract=fast`, which is Fortran's default in flang, operations carry the flag `contract`, and
//! each back end fuses what it likes: an NVIDIA GPU's other pairs than the host's. With `contract=early` the
//! choice is made before any pass has changed the order of operands, by the rule that clang has for
//! `-ffp-contract=on`:
//! ```text
//! a * b + c * d    %x = fmul contract %a, %b         %y = fmul %c, %d
//!                  %y = fmul contract %c, %d    →    %s = call @llvm.fmuladd(%a, %b, %y)
//!                  %s = fadd contract %x, %y
//! ```
//! The product on the left is fused if there are two. A host with fused instructions (`-mfma`) and a device
//! then compute the same bits.

use crate::ir::functions;
use inkwell::llvm_sys::{LLVMFastMathAllowContract, LLVMOpcode, LLVMTypeKind};
use pollyrs_codegen_ptx::Ir;
use pollyrs_llvm_shim::forbid_contraction;
use pollyrs_llvm_shim::ir::{Block, Module, Value};

/// Fuses in all functions of the module, and takes the flag `contract` from what is left.
pub fn expressions(module: Module) {
    let ir = Ir::new(module.context());
    for block in functions(module).into_iter().flat_map(Value::blocks) {
        fuse_in(module, &ir, block);
    }
}

fn fuse_in(module: Module, ir: &Ir, block: Block) {
    for sum in block.instructions() {
        let opcode = sum.opcode();
        if !matches!(opcode, LLVMOpcode::LLVMFAdd | LLVMOpcode::LLVMFSub) || !contracts(sum) {
            continue;
        }
        let [left, right] = [0, 1].map(|i| sum.operand(i));
        let minus = opcode == LLVMOpcode::LLVMFSub;
        let (product, mut other) = match (is_product(left, block), is_product(right, block)) {
            (true, _) => (left, right),
            (false, true) => (right, left),
            (false, false) => continue,
        };
        ir.before(sum);
        let [mut a, b] = [0, 1].map(|i| product.operand(i));
        // x - a * b = fma(-a, b, x), a * b - x = fma(a, b, -x): negation is exact.
        if minus && product == right {
            a = ir.fneg(a);
        } else if minus {
            other = ir.fneg(other);
        }
        let call = ir.call_function(module.intrinsic(NAME, &[sum.ty()]), &[a, b, other]);
        call.set_fast_math_flags(sum.fast_math_flags() & product.fast_math_flags());
        // SAFETY: a product is looked at only in its sum's block, behind which nobody asks for the two.
        unsafe {
            sum.replace(call);
            product.erase();
        }
    }
    block.instructions().into_iter().for_each(forbid_contraction);
}

const NAME: &str = "llvm.fmuladd";

fn contracts(i: Value) -> bool {
    i.fast_math_flags() & LLVMFastMathAllowContract != 0
}

/// A product that only one instruction of the block uses, in a type that has fused instructions everywhere.
fn is_product(v: Value, block: Block) -> bool {
    let ty = v.ty().vector().map_or(v.ty(), |(element, _)| element);
    let plain = matches!(ty.kind(), LLVMTypeKind::LLVMFloatTypeKind | LLVMTypeKind::LLVMDoubleTypeKind);
    v.opcode() == LLVMOpcode::LLVMFMul
        && plain
        && contracts(v)
        && v.parent() == Some(block)
        && v.is_used_once()
}

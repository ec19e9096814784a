//! Updates of elements that data chooses: each is one atomic operation, in whatever order threads come.
//!
//! ```text
//! %k = sext i32 %p to i64                 %k = ...
//! %old = load i32, ptr h + %k        →    %new' = add i32 0, %w          the chain, from the identity
//! %new = add nsw i32 %old, %w             atomicrmw add ptr h + %k, %new' syncscope("device") monotonic
//! store i32 %new, ptr h + %k
//! ```
//!
//! # Invariants
//! - Nobody looks at what an update leaves before the launch is over, so that no order between an update and
//!   other accesses is asked for.
//! - Partial sums may wrap where the program's do not: the chain has no `nsw` and `nuw`.
//! - A sum of floats is a loop of exchanges: `atom.add.f32` takes subnormal numbers for zeros, which no flag
//!   of the program allows. (That of doubles does not.)

use crate::ir::builder::Ir;
use crate::ir::calls::replace_calls;
use crate::ir::error::Result;
use crate::ir::llvm::*;
use inkwell::llvm_sys::{
    LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic, LLVMAtomicRMWBinOp, LLVMIntPredicate, LLVMLinkage,
    LLVMTypeKind,
};
use pollyrs_scop::UpdateOp;

/// `void (ptr, float)`.
const ADD_FLOAT: &str = "pollyrs.update.add.f32";
const SCOPE: &str = "device";

/// Adds to, or combines with, what is at an address.
pub(crate) fn emit(ir: &Ir, op: UpdateOp, address: Value, value: Value) -> Value {
    use LLVMAtomicRMWBinOp::*;
    let ty = value.ty();
    if op == UpdateOp::FAdd && ty.kind() == LLVMTypeKind::LLVMFloatTypeKind {
        let module = ir.block().function().module();
        let f = module.declare(ADD_FLOAT, ir.void_type().function(&[ir.ptr_type(), ty]));
        return ir.call_function(f, &[address, value]);
    }
    let op = match op {
        UpdateOp::Add => LLVMAtomicRMWBinOpAdd,
        UpdateOp::And => LLVMAtomicRMWBinOpAnd,
        UpdateOp::Or => LLVMAtomicRMWBinOpOr,
        UpdateOp::Xor => LLVMAtomicRMWBinOpXor,
        UpdateOp::SMin => LLVMAtomicRMWBinOpMin,
        UpdateOp::SMax => LLVMAtomicRMWBinOpMax,
        UpdateOp::UMin => LLVMAtomicRMWBinOpUMin,
        UpdateOp::UMax => LLVMAtomicRMWBinOpUMax,
        UpdateOp::FAdd => LLVMAtomicRMWBinOpFAdd,
    };
    atomic(ir, op, address, value)
}

fn scope(ir: &Ir) -> u32 {
    ir.scope(SCOPE)
}

fn atomic(ir: &Ir, op: LLVMAtomicRMWBinOp, address: Value, value: Value) -> Value {
    ir.update(op, address, value, LLVMAtomicOrderingMonotonic, scope(ir))
}

/// As atomic operations of the host.
pub(crate) fn to_host(module: Module) -> Result<()> {
    let Some(f) = module.function(ADD_FLOAT) else { return Ok(()) };
    replace_calls(module, f, |ir, call| {
        let (address, value) = (call.operand(0), call.operand(1));
        Ok(atomic(ir, LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpFAdd, address, value))
    })
}

/// As a loop that ends when nobody came between.
pub(crate) fn to_ptx(module: Module) -> Result<()> {
    let Some(f) = module.function(ADD_FLOAT) else { return Ok(()) };
    let ir = Ir::new(module.context());
    let [entry, again, done] = ["entry", "again", "done"].map(|name| ir.append_block(f, name));
    {
        let (address, value) = (f.param(0), f.param(1));
        let float = value.ty();
        ir.at_end(entry);
        let first = ir.load(ir.i32_type(), address);
        first.set_ordering(LLVMAtomicOrderingMonotonic);
        first.set_alignment(4);
        ir.br(again);
        ir.at_end(again);
        let old = ir.phi(ir.i32_type(), &[(first, entry)]);
        let number = ir.cast(inkwell::llvm_sys::LLVMOpcode::LLVMBitCast, old, float);
        let sum = ir.binary(inkwell::llvm_sys::LLVMOpcode::LLVMFAdd, number, value);
        let new = ir.cast(inkwell::llvm_sys::LLVMOpcode::LLVMBitCast, sum, ir.i32_type());
        let pair = ir.exchange(address, old, new, LLVMAtomicOrderingMonotonic, scope(&ir));
        let seen = ir.field(pair, 0);
        ir.add_incoming(old, seen, again);
        let same = ir.icmp(LLVMIntPredicate::LLVMIntEQ, seen, old);
        ir.cond_br(same, done, again);
        ir.at_end(done);
        ir.ret_void();
        f.set_linkage(LLVMLinkage::LLVMInternalLinkage);
    }
    f.add_attribute(FUNCTION, "alwaysinline", 0);
    Ok(())
}

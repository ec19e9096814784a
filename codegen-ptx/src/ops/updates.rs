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

use crate::ir::builder::{Ir, module_context};
use crate::ir::calls::{find_function, replace_calls};
use crate::ir::error::Result;
use crate::ir::llvm::*;
use crate::ir::llvm::{function_of, module_of};
use crate::ir::types::{type_kind, type_of};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{
    LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic, LLVMAtomicRMWBinOp, LLVMIntPredicate, LLVMLinkage,
    LLVMTypeKind,
};
use pollyrs_scop::UpdateOp;

/// `void (ptr, float)`.
const ADD_FLOAT: &str = "pollyrs.update.add.f32";
const SCOPE: &str = "device";

/// Adds to, or combines with, what is at an address.
pub(crate) fn emit(ir: &Ir, op: UpdateOp, address: LLVMValueRef, value: LLVMValueRef) -> LLVMValueRef {
    use LLVMAtomicRMWBinOp::*;
    let ty = type_of(value);
    if op == UpdateOp::FAdd && type_kind(ty) == LLVMTypeKind::LLVMFloatTypeKind {
        let module = module_of(function_of(ir.block()));
        let f = declare(module, ADD_FLOAT, function_type(ir.void_type(), &[ir.ptr_type(), ty]));
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
    // SAFETY: a live context; a name with its length.
    unsafe { LLVMGetSyncScopeID(ir.ctx, SCOPE.as_ptr().cast(), SCOPE.len()) }
}

fn atomic(ir: &Ir, op: LLVMAtomicRMWBinOp, address: LLVMValueRef, value: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: a pointer and a value of a type that the operation takes; the builder stands in a block.
    unsafe {
        LLVMBuildAtomicRMWSyncScope(ir.raw(), op, address, value, LLVMAtomicOrderingMonotonic, scope(ir))
    }
}

/// As atomic operations of the host.
pub(crate) fn to_host(module: LLVMModuleRef) -> Result<()> {
    let Some(f) = find_function(module, ADD_FLOAT) else { return Ok(()) };
    replace_calls(module, f, |ir, call| {
        // SAFETY: a live call with two arguments.
        let (address, value) = unsafe { (LLVMGetOperand(call, 0), LLVMGetOperand(call, 1)) };
        Ok(atomic(ir, LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpFAdd, address, value))
    })
}

/// As a loop that ends when nobody came between.
pub(crate) fn to_ptx(module: LLVMModuleRef) -> Result<()> {
    let Some(f) = find_function(module, ADD_FLOAT) else { return Ok(()) };
    let ir = Ir::new(module_context(module));
    let [entry, again, done] = ["entry", "again", "done"].map(|name| ir.append_block(f, name));
    // SAFETY: a function of two parameters without a body until now; the exchange gives a pair of what was
    // there and whether it was exchanged.
    unsafe {
        let (address, value) = (LLVMGetParam(f, 0), LLVMGetParam(f, 1));
        let float = LLVMTypeOf(value);
        ir.at_end(entry);
        let first = ir.load(ir.i32_type(), address);
        LLVMSetOrdering(first, LLVMAtomicOrderingMonotonic);
        LLVMSetAlignment(first, 4);
        ir.br(again);
        ir.at_end(again);
        let old = ir.phi(ir.i32_type(), &[(first, entry)]);
        let number = ir.cast(inkwell::llvm_sys::LLVMOpcode::LLVMBitCast, old, float);
        let sum = ir.binary(inkwell::llvm_sys::LLVMOpcode::LLVMFAdd, number, value);
        let new = ir.cast(inkwell::llvm_sys::LLVMOpcode::LLVMBitCast, sum, ir.i32_type());
        let order = LLVMAtomicOrderingMonotonic;
        let pair = LLVMBuildAtomicCmpXchgSyncScope(ir.raw(), address, old, new, order, order, scope(&ir));
        let seen = LLVMBuildExtractValue(ir.raw(), pair, 0, c"".as_ptr());
        ir.add_incoming(old, seen, again);
        let same = ir.icmp(LLVMIntPredicate::LLVMIntEQ, seen, old);
        ir.cond_br(same, done, again);
        ir.at_end(done);
        ir.ret_void();
        LLVMSetLinkage(f, LLVMLinkage::LLVMInternalLinkage);
    }
    add_enum_attribute(ir.ctx, f, FUNCTION, "alwaysinline", 0);
    Ok(())
}

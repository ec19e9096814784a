//! Values from lane to lane of a warp.
//!
//! `iN @pollyrs.shuffle.N(iN, i32)` with N = 32 or 64 is the first argument in the lane that is so many lanes
//! away, a constant, or in the lane itself where there is no such lane. All threads of the warp call it
//! together.
//!
//! `iN @pollyrs.pass.N(iN, i32, i32)` is the first argument in the lane that the second says, of as many
//! threads side by side as the third says, a constant: a *team*, a power of two of the warp's threads. All
//! threads of the team call it together.

use crate::ir::builder::Ir;
use crate::ir::calls::{find_function, replace_calls};
use crate::ir::error::{Result, internal};
use crate::ir::intrinsics::{EMU_PASS, EMU_SHUFFLE, thread_of};
use crate::ir::llvm::*;
use crate::ir::types::type_of;
use crate::kernel::builder::KernelBuilder;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;

const WIDTHS: [u32; 2] = [32, 64];

fn name(width: u32) -> String {
    format!("pollyrs.shuffle.{width}")
}

/// The integer type as wide as a scalar type of at most 64 bits.
fn bits_of(ir: &Ir, ty: LLVMTypeRef) -> Option<(LLVMTypeRef, u32)> {
    use inkwell::llvm_sys::LLVMTypeKind::*;
    // SAFETY: live type and context.
    unsafe {
        let width = match LLVMGetTypeKind(ty) {
            LLVMHalfTypeKind | LLVMBFloatTypeKind => 16,
            LLVMFloatTypeKind => 32,
            LLVMDoubleTypeKind => 64,
            LLVMIntegerTypeKind => LLVMGetIntTypeWidth(ty),
            _ => return None,
        };
        (width <= 64).then(|| (LLVMIntTypeInContext(ir.ctx, width), width))
    }
}

/// The intrinsic of the target that passes a value within a team.
fn team_name(width: u32) -> String {
    format!("pollyrs.pass.{width}")
}

/// A scalar of at most 64 bits of the lane so many lanes away.
pub(crate) fn from_lane<S>(k: &KernelBuilder<'_, S>, v: LLVMValueRef, away: i32) -> Result<LLVMValueRef> {
    passed(k, v, name, &[k.ir.int32(away as u32)])
}

/// A scalar of at most 64 bits of a lane of the team, whose number is an `i32`.
pub(crate) fn of_team<S>(
    k: &KernelBuilder<'_, S>,
    v: LLVMValueRef,
    lane: LLVMValueRef,
) -> Result<LLVMValueRef> {
    passed(k, v, team_name, &[lane, k.ir.int32(k.kernel.team)])
}

fn passed<S>(
    k: &KernelBuilder<'_, S>,
    v: LLVMValueRef,
    name: fn(u32) -> String,
    more: &[LLVMValueRef],
) -> Result<LLVMValueRef> {
    let ir = k.ir;
    let ty = type_of(v);
    let Some((narrow, width)) = bits_of(ir, ty) else {
        return internal("a value that no lane passes");
    };
    let passed = if width <= 32 { 32 } else { 64 };
    // SAFETY: live types; the casts are between types of one size, and integers are extended to 32 or 64
    // bits.
    unsafe {
        let wide = LLVMIntTypeInContext(ir.ctx, passed);
        let bits = LLVMBuildZExt(ir.raw(), LLVMBuildBitCast(ir.raw(), v, narrow, EMPTY), wide, EMPTY);
        let types: Vec<_> = [wide].into_iter().chain(more.iter().map(|_| ir.i32_type())).collect();
        let f = declare(k.module, &name(passed), function_type(wide, &types));
        for a in ["nounwind", "willreturn", "convergent"] {
            add_enum_attribute(ir.ctx, f, FUNCTION, a, 0);
        }
        // Nothing but the values of the lanes.
        add_enum_attribute(ir.ctx, f, FUNCTION, "memory", 0);
        let arguments: Vec<_> = [bits].into_iter().chain(more.iter().copied()).collect();
        let got = ir.call_function(f, &arguments);
        Ok(LLVMBuildBitCast(ir.raw(), LLVMBuildTrunc(ir.raw(), got, narrow, EMPTY), ty, EMPTY))
    }
}

/// Calls with their value and how many lanes away it is.
fn replace(
    module: LLVMModuleRef,
    width: u32,
    build: impl Fn(&Ir, LLVMValueRef, LLVMValueRef, i64) -> Result<LLVMValueRef>,
) -> Result<()> {
    let Some(f) = find_function(module, &name(width)) else { return Ok(()) };
    replace_calls(module, f, |ir, call| {
        // SAFETY: a live call with two arguments, of which the second is a constant.
        let (v, away) =
            unsafe { (LLVMGetOperand(call, 0), LLVMConstIntGetSExtValue(LLVMGetOperand(call, 1))) };
        build(ir, call, v, away)
    })
}

/// As instructions of PTX, one for 32 bits.
pub(crate) fn to_ptx(module: LLVMModuleRef) -> Result<()> {
    let pass = |ir: &Ir, v: LLVMValueRef, away: i64| {
        let i32_type = ir.i32_type();
        // The last argument bounds the lanes: the first one of the warp, or the last.
        let (direction, bound) = if away > 0 { ("down", 31) } else { ("up", 0) };
        let ty = function_type(i32_type, &[i32_type; 4]);
        let f = declare(module, &format!("llvm.nvvm.shfl.sync.{direction}.i32"), ty);
        let all = ir.int32(u32::MAX);
        ir.call_function(f, &[all, v, ir.int32(away.unsigned_abs() as u32), ir.int32(bound)])
    };
    replace(module, 32, |ir, _, v, away| Ok(pass(ir, v, away)))?;
    replace(module, 64, |ir, _, v, away| Ok(in_halves(ir, v, |half| pass(ir, half, away))))?;
    let pass = |ir: &Ir, v: LLVMValueRef, call: LLVMValueRef| {
        let (lane, lanes) = (operand(call, 1), lanes_of(call));
        let i32_type = ir.i32_type();
        let f = declare(module, "llvm.nvvm.shfl.sync.idx.i32", function_type(i32_type, &[i32_type; 4]));
        let mask = match lanes {
            32 => ir.int32(u32::MAX),
            _ => {
                // The threads of the team: lanes beyond it may be elsewhere.
                let own = ir.call_function(
                    declare(module, "llvm.nvvm.read.ptx.sreg.laneid", function_type(i32_type, &[])),
                    &[],
                );
                let first = ir.and(own, ir.int32(!(lanes - 1)));
                ir.binary(LLVMOpcode::LLVMShl, ir.int32((1 << lanes) - 1), first)
            }
        };
        // The last argument says how many lanes are numbered from zero, and what bounds them.
        let bound = ir.int32((32 - lanes) << 8 | 31);
        ir.call_function(f, &[mask, v, lane, bound])
    };
    for width in WIDTHS {
        let Some(f) = find_function(module, &team_name(width)) else { continue };
        replace_calls(module, f, |ir, call| {
            let v = operand(call, 0);
            Ok(if width == 32 { pass(ir, v, call) } else { in_halves(ir, v, |half| pass(ir, half, call)) })
        })?;
    }
    Ok(())
}

/// The lanes of a team that a call passes a value in.
fn lanes_of(call: LLVMValueRef) -> u32 {
    // SAFETY: a live call, whose last argument is a constant.
    unsafe { LLVMConstIntGetZExtValue(LLVMGetOperand(call, 2)) as u32 }
}

/// An integer of 64 bits as two of 32.
fn in_halves(ir: &Ir, v: LLVMValueRef, pass: impl Fn(LLVMValueRef) -> LLVMValueRef) -> LLVMValueRef {
    // SAFETY: a live context; both types have the same size.
    unsafe {
        let halves = ir.vector_type(ir.i32_type(), 2);
        let both = LLVMBuildBitCast(ir.raw(), v, halves, EMPTY);
        let mut out = LLVMGetUndef(halves);
        for i in 0..2 {
            out = ir.insert(out, pass(ir.extract(both, i)), i);
        }
        LLVMBuildBitCast(ir.raw(), out, ir.i64_type(), EMPTY)
    }
}

/// As calls of the run-time library, in functions whose first argument is the thread's descriptor.
pub(crate) fn to_host(module: LLVMModuleRef) -> Result<()> {
    for width in WIDTHS {
        replace(module, width, |ir, call, v, away| {
            let (long, thread) = (ir.i64_type(), thread_of(call));
            let ty = function_type(long, &[ir.ptr_type(), long, ir.i32_type()]);
            let f = declare(module, EMU_SHUFFLE, ty);
            add_enum_attribute(ir.ctx, f, FUNCTION, "nounwind", 0);
            let away = ir.int32(away as u32);
            Ok(ir.trunc(ir.call_function(f, &[thread, ir.zext(v, long), away]), type_of(v)))
        })?;
        let Some(f) = find_function(module, &team_name(width)) else { continue };
        replace_calls(module, f, |ir, call| {
            let (long, thread, v) = (ir.i64_type(), thread_of(call), operand(call, 0));
            let ty = function_type(long, &[ir.ptr_type(), long, ir.i32_type(), ir.i32_type()]);
            let f = declare(module, EMU_PASS, ty);
            add_enum_attribute(ir.ctx, f, FUNCTION, "nounwind", 0);
            let arguments = [thread, ir.zext(v, long), operand(call, 1), ir.int32(lanes_of(call))];
            Ok(ir.trunc(ir.call_function(f, &arguments), type_of(v)))
        })?;
    }
    Ok(())
}

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
use crate::ir::calls::replace_calls;
use crate::ir::error::{Result, internal};
use crate::ir::intrinsics::{EMU_PASS, EMU_SHUFFLE, thread_of};
use crate::ir::llvm::*;
use crate::kernel::builder::KernelBuilder;
use inkwell::llvm_sys::LLVMOpcode;

const WIDTHS: [u32; 2] = [32, 64];

fn name(width: u32) -> String {
    format!("pollyrs.shuffle.{width}")
}

/// The integer type as wide as a scalar type of at most 64 bits.
fn bits_of(ir: &Ir, ty: Type) -> Option<(Type, u32)> {
    use inkwell::llvm_sys::LLVMTypeKind::*;
    let width = match ty.kind() {
        LLVMHalfTypeKind | LLVMBFloatTypeKind => 16,
        LLVMFloatTypeKind => 32,
        LLVMDoubleTypeKind => 64,
        LLVMIntegerTypeKind => ty.int_width()?,
        _ => return None,
    };
    (width <= 64).then(|| (ir.ctx.int_type(width), width))
}

/// The intrinsic of the target that passes a value within a team.
fn team_name(width: u32) -> String {
    format!("pollyrs.pass.{width}")
}

/// A scalar of at most 64 bits of the lane so many lanes away.
pub(crate) fn from_lane<S>(k: &KernelBuilder<'_, S>, v: Value, away: i32) -> Result<Value> {
    passed(k, v, name, &[k.ir.int32(away as u32)])
}

/// A scalar of at most 64 bits of a lane of the team, whose number is an `i32`.
pub(crate) fn of_team<S>(k: &KernelBuilder<'_, S>, v: Value, lane: Value) -> Result<Value> {
    passed(k, v, team_name, &[lane, k.ir.int32(k.launch.team)])
}

fn passed<S>(k: &KernelBuilder<'_, S>, v: Value, name: fn(u32) -> String, more: &[Value]) -> Result<Value> {
    let ir = k.ir;
    let ty = v.ty();
    let Some((narrow, width)) = bits_of(ir, ty) else {
        return internal("a value that no lane passes");
    };
    let passed = if width <= 32 { 32 } else { 64 };
    let wide = ir.ctx.int_type(passed);
    let bits = ir.zext(ir.bit_cast(v, narrow), wide);
    let types: Vec<_> = [wide].into_iter().chain(more.iter().map(|_| ir.i32_type())).collect();
    let f = k.module.declare(&name(passed), wide.function(&types));
    for a in ["nounwind", "willreturn", "convergent"] {
        f.add_attribute(FUNCTION, a, 0);
    }
    // Nothing but the values of the lanes.
    f.add_attribute(FUNCTION, "memory", 0);
    let arguments: Vec<_> = [bits].into_iter().chain(more.iter().copied()).collect();
    let got = ir.call_function(f, &arguments);
    Ok(ir.bit_cast(ir.trunc(got, narrow), ty))
}

/// Calls with their value and how many lanes away it is.
fn replace(
    module: Module,
    width: u32,
    build: impl Fn(&Ir, Value, Value, i64) -> Result<Value>,
) -> Result<()> {
    let Some(f) = module.function(&name(width)) else { return Ok(()) };
    replace_calls(module, f, |ir, call| match call.operand(1).constant_int() {
        Some(away) => build(ir, call, call.operand(0), away),
        None => internal("a lane that is not constant"),
    })
}

/// As instructions of PTX, one for 32 bits.
pub(crate) fn to_ptx(module: Module) -> Result<()> {
    let pass = |ir: &Ir, v: Value, away: i64| {
        let i32_type = ir.i32_type();
        // The last argument bounds the lanes: the first one of the warp, or the last.
        let (direction, bound) = if away > 0 { ("down", 31) } else { ("up", 0) };
        let ty = i32_type.function(&[i32_type; 4]);
        let f = module.declare(&format!("llvm.nvvm.shfl.sync.{direction}.i32"), ty);
        let all = ir.int32(u32::MAX);
        ir.call_function(f, &[all, v, ir.int32(away.unsigned_abs() as u32), ir.int32(bound)])
    };
    replace(module, 32, |ir, _, v, away| Ok(pass(ir, v, away)))?;
    replace(module, 64, |ir, _, v, away| Ok(in_halves(ir, v, |half| pass(ir, half, away))))?;
    let pass = |ir: &Ir, v: Value, call: Value| {
        let (lane, lanes) = (call.operand(1), lanes_of(call));
        let i32_type = ir.i32_type();
        let f = module.declare("llvm.nvvm.shfl.sync.idx.i32", i32_type.function(&[i32_type; 4]));
        let mask = match lanes {
            32 => ir.int32(u32::MAX),
            _ => {
                // The threads of the team: lanes beyond it may be elsewhere.
                let own = ir.call_function(
                    module.declare("llvm.nvvm.read.ptx.sreg.laneid", i32_type.function(&[])),
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
        let Some(f) = module.function(&team_name(width)) else { continue };
        replace_calls(module, f, |ir, call| {
            let v = call.operand(0);
            Ok(if width == 32 { pass(ir, v, call) } else { in_halves(ir, v, |half| pass(ir, half, call)) })
        })?;
    }
    Ok(())
}

/// The lanes of a team that a call passes a value in.
fn lanes_of(call: Value) -> u32 {
    call.operand(2).constant_unsigned().and_then(|n| u32::try_from(n).ok()).unwrap_or(crate::ir::types::WARP)
}

/// An integer of 64 bits as two of 32.
fn in_halves(ir: &Ir, v: Value, pass: impl Fn(Value) -> Value) -> Value {
    let halves = ir.vector_type(ir.i32_type(), 2);
    let both = ir.bit_cast(v, halves);
    let mut out = halves.undef();
    for i in 0..2 {
        out = ir.insert(out, pass(ir.extract(both, i)), i);
    }
    ir.bit_cast(out, ir.i64_type())
}

/// As calls of the run-time library, in functions whose first argument is the thread's descriptor.
pub(crate) fn to_host(module: Module) -> Result<()> {
    for width in WIDTHS {
        replace(module, width, |ir, call, v, away| {
            let (long, thread) = (ir.i64_type(), thread_of(call));
            let ty = long.function(&[ir.ptr_type(), long, ir.i32_type()]);
            let f = module.declare(EMU_SHUFFLE, ty);
            f.add_attribute(FUNCTION, "nounwind", 0);
            let away = ir.int32(away as u32);
            Ok(ir.trunc(ir.call_function(f, &[thread, ir.zext(v, long), away]), v.ty()))
        })?;
        let Some(f) = module.function(&team_name(width)) else { continue };
        replace_calls(module, f, |ir, call| {
            let (long, thread, v) = (ir.i64_type(), thread_of(call), call.operand(0));
            let ty = long.function(&[ir.ptr_type(), long, ir.i32_type(), ir.i32_type()]);
            let f = module.declare(EMU_PASS, ty);
            f.add_attribute(FUNCTION, "nounwind", 0);
            let arguments = [thread, ir.zext(v, long), call.operand(1), ir.int32(lanes_of(call))];
            Ok(ir.trunc(ir.call_function(f, &arguments), v.ty()))
        })?;
    }
    Ok(())
}

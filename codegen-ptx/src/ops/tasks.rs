//! Blocks that are tasks of a graph: each claims its number from a counter, waits for others by flags, and
//! raises its own.
//!
//! ```text
//! i64  @pollyrs.claim(ptr flags, i32 thread)             the block's number; all threads of a block call it
//! void @pollyrs.wait(ptr flags, i64 block)               until that block has signalled; one thread calls it, a barrier follows
//! void @pollyrs.signal(ptr flags, i64 block, i32 thread) behind a barrier; all threads call it
//! ```
//! `flags` are words that are zero when the launch begins: the counter, and a flag for each block. `thread`
//! is the linear index in the block.
//!
//! # Invariants
//! - A block is claimed by one that runs, so that whoever waits for a lower number waits for a block that
//!   runs or has ended.
//! - What threads of a block stored ahead of the barrier before a signal is seen by all threads of a block
//!   behind the barrier that follows its wait: barriers order within a block, the release and the acquire
//!   between two of them, and order is transitive (PTX ISA, "Memory consistency model", causality order).

use crate::ir::builder::Ir;
use crate::ir::calls::replace_calls;
use crate::ir::error::Result;
use crate::ir::intrinsics::thread_of;
use crate::ir::llvm::*;
use crate::kernel::builder::KernelBuilder;
use inkwell::llvm_sys::LLVMLinkage;

const CLAIM: &str = "pollyrs.claim";
const WAIT: &str = "pollyrs.wait";
const SIGNAL: &str = "pollyrs.signal";
/// The run-time library's.
const EMU_WAIT: &str = "pollyrs_rt_emu_wait";
const EMU_SIGNAL: &str = "pollyrs_rt_emu_signal";
/// Bytes of a flag.
const FLAG: i64 = 4;
/// From here on there are loads and stores with an order.
const ORDERED: u32 = 70;

fn call<S>(k: &KernelBuilder<'_, S>, name: &str, ret: Type, args: &[Value]) -> Value {
    let types: Vec<_> = args.iter().map(|a| a.ty()).collect();
    let f = k.module.declare(name, ret.function(&types));
    f.add_attribute(FUNCTION, "nounwind", 0);
    if name != WAIT {
        f.add_attribute(FUNCTION, "convergent", 0);
    }
    k.ir.call_function(f, args)
}

/// The number of the block.
pub(crate) fn claim<S>(k: &KernelBuilder<'_, S>, flags: Value, thread: Value) -> Value {
    call(k, CLAIM, k.ir.i64_type(), &[flags, thread])
}

pub(crate) fn wait<S>(k: &KernelBuilder<'_, S>, flags: Value, block: Value) {
    call(k, WAIT, k.ir.void_type(), &[flags, block]);
}

pub(crate) fn signal<S>(k: &KernelBuilder<'_, S>, flags: Value, block: Value, thread: Value) {
    call(k, SIGNAL, k.ir.void_type(), &[flags, block, thread]);
}

fn flag_of(ir: &Ir, call: Value) -> Value {
    let offset = ir.mul(ir.add(call.operand(1), ir.int(1)), ir.int(FLAG));
    ir.ptr_to_int(ir.byte_offset(call.operand(0), offset))
}

/// As instructions of PTX.
pub(crate) fn to_ptx(module: Module, arch: u32) -> Result<()> {
    const SHARED: u32 = 3;
    if let Some(f) = module.function(CLAIM) {
        replace_calls(module, f, |ir, call| {
            let name = format!("{}_claimed", call.block().function().name());
            let variable = module.global(&name).unwrap_or_else(|| {
                let variable = module.add_global(&name, ir.i32_type(), SHARED);
                variable.set_initializer(ir.i32_type().undef());
                variable.set_linkage(LLVMLinkage::LLVMInternalLinkage);
                variable.set_alignment(4);
                variable
            });
            let place = ir.addrspace_cast(variable, ir.ptr_type());
            let ty = ir.void_type().function(&[ir.i64_type(), ir.i32_type(), ir.i64_type()]);
            let text = "{ .reg .pred p; .reg .u32 t; setp.eq.u32 p, $1, 0; @p atom.add.u32 t, [$0], 1; @p st.volatile.u32 [$2], t; }";
            let args = [ir.ptr_to_int(call.operand(0)), call.operand(1), ir.ptr_to_int(place)];
            ir.assembly(ty, text, "l,r,l,~{memory}", true, &args);
            let ty = ir.void_type().function(&[ir.i32_type()]);
            let barrier = module.declare("llvm.nvvm.barrier.cta.sync.aligned.all", ty);
            ir.call_function(barrier, &[ir.int32(0)]);
            let claimed = ir.load(ir.i32_type(), place);
            claimed.set_volatile(true);
            Ok(ir.zext(claimed, ir.i64_type()))
        })?;
    }
    if let Some(f) = module.function(WAIT) {
        replace_calls(module, f, |ir, call| {
            let ty = ir.void_type().function(&[ir.i64_type()]);
            let look = match arch {
                ORDERED.. => "AGAIN: ld.acquire.gpu.u32 t, [$0]; setp.eq.u32 p, t, 0; @p bra AGAIN;",
                _ => "AGAIN: ld.volatile.u32 t, [$0]; setp.eq.u32 p, t, 0; @p bra AGAIN; membar.gl;",
            };
            let text = format!("{{ .reg .pred p; .reg .u32 t; {look} }}");
            Ok(ir.assembly(ty, &text, "l,~{memory}", true, &[flag_of(ir, call)]))
        })?;
    }
    if let Some(f) = module.function(SIGNAL) {
        replace_calls(module, f, |ir, call| {
            let ty = ir.void_type().function(&[ir.i64_type(), ir.i32_type()]);
            let raise = match arch {
                ORDERED.. => "@p st.release.gpu.u32 [$0], 1;",
                _ => "@p membar.gl; @p st.volatile.u32 [$0], 1;",
            };
            let text = format!("{{ .reg .pred p; setp.eq.u32 p, $1, 0; {raise} }}");
            Ok(ir.assembly(ty, &text, "l,r,~{memory}", true, &[flag_of(ir, call), call.operand(2)]))
        })?;
    }
    Ok(())
}

/// As calls of the run-time library, which starts blocks in their order; `block`: the number that it gave a
/// block.
pub(crate) fn to_host(module: Module, block: impl Fn(&Ir, Value) -> Value) -> Result<()> {
    if let Some(f) = module.function(CLAIM) {
        replace_calls(module, f, |ir, call| Ok(block(ir, call)))?;
    }
    for (name, to, args) in [(WAIT, EMU_WAIT, 2), (SIGNAL, EMU_SIGNAL, 1)] {
        let Some(f) = module.function(name) else { continue };
        replace_calls(module, f, |ir, call| {
            let types = [ir.ptr_type(), ir.i64_type()];
            let f = module.declare(to, ir.void_type().function(&types[..args]));
            f.add_attribute(FUNCTION, "nounwind", 0);
            let values = [thread_of(call), call.operand(1)];
            Ok(ir.call_function(f, &values[..args]))
        })?;
    }
    Ok(())
}

//! Kernel IR as ordinary host code, for the emulated device of the run-time library.
//!
//! Each kernel becomes a function of the host module with the signature of `PollyrsEmuKernel`: arguments are
//! read through the argument array, coordinates from the thread descriptor.
//! ```text
//! define internal void @pollyrs.emu.f_K0(ptr %thread, ptr %args) "pollyrs-kernel" {
//!   %0 = load ptr, ptr %args             ; args[0] points to the first argument
//!   %A = load ptr, ptr %0
//!   %block = load i64, ptr %thread
//!   ...
//! ```
//!
//! # Invariants
//! - All functions are internal and carry the string attribute `pollyrs-kernel`, by which our own pass leaves
//!   them alone.
//! - They have the target attributes of the host function, so that calling conventions agree.

use crate::ir::builder::Ir;
use crate::ir::calls::{replace_calls, verify};
use crate::ir::error::{CodegenError, Result, internal};
use crate::ir::intrinsics::{BARRIER, BLOCK_ID, EMU_BARRIER, OPAQUE, PREFETCH, SHARED, THREAD_ID, thread_of};
use crate::ir::llvm::*;
use crate::kernel::module::KernelModule;
use crate::ops::{copies, fast_division, mma, shuffle, tasks, updates};
use inkwell::llvm_sys::LLVMLinkage;

/// Offsets in `PollyrsEmuThread` (runtime/include/pollyrs_rt.h).
const BLOCK_OFFSET: i64 = 0;
const THREAD_OFFSET: [i64; 3] = [8, 12, 16];
const SHARED_OFFSET: i64 = 24;

/// Instructions of a kernel that the host's pipeline does not optimize: unrolled tiles would take most of the
/// compile time (half of it in vectorizers), for a device on which nobody waits for speed.
const LARGE: usize = 1500;
/// The same with a call at each access. (18 steps of five points in a line, 5000 instructions in one block:
/// constraint elimination takes gigabytes.)
const LARGE_CHECKED: usize = 4000;

/// The attribute by which our pass recognises kernels in a host module.
pub const KERNEL_ATTRIBUTE: &str = "pollyrs-kernel";

/// Adds the kernels to the host module; the result are functions `void(ptr thread, ptr args)`, in the order
/// of [`KernelModule::kernels`]. `checked`: each access tells the run-time library (see
/// [`crate::device::checked`]).
/// `host_module` is the one that `km` was built for.
pub fn lower_emulated(km: &KernelModule, host_module: Module, checked: bool) -> Result<Vec<Value>> {
    // SAFETY: no handle of the copy leaves this function.
    let module = unsafe { OwnedModule::clone_of(km.module()) };
    module.get().adopt_target(host_module);
    let context = host_module.context();
    let mut names: Vec<String> = Vec::new();
    let mut made = Vec::new();
    for (at, k) in km.kernels.iter().enumerate() {
        // One function under several descriptors.
        if let Some(same) = km.kernels[..at].iter().position(|other| other.name == k.name) {
            names.push(names[same].clone());
            continue;
        }
        let Some(kernel) = module.get().function(&k.name) else {
            return internal(format!("no kernel {}", k.name));
        };
        let name = free_name(host_module, &format!("pollyrs.emu.{}", k.name));
        let (f, arguments) = with_host_signature(context, module.get(), kernel, &name);
        made.push((f, arguments, k.arrays.len()));
        f.add_string_attribute(KERNEL_ATTRIBUTE, "");
        f.add_attribute(FUNCTION, "nounwind", 0);
        for (key, value) in &km.host_target {
            f.add_string_attribute(key, value);
        }
        names.push(name);
    }
    let info = |name: &str| names.iter().position(|n| n == name).map(|at| &km.kernels[at]);
    mma::to_host(module.get(), info)?;
    shuffle::to_host(module.get())?;
    updates::to_host(module.get())?;
    lower_abstract(module.get())?;
    fast_division::to_host(module.get(), checked)?;
    for (f, arguments, arrays) in made {
        if f.instructions().len() > if checked { LARGE_CHECKED } else { LARGE } {
            for a in ["noinline", "optnone"] {
                f.add_attribute(FUNCTION, a, 0);
            }
        }
        if checked {
            crate::ops::elements::split(&Ir::new(context), module.get(), f);
            crate::device::checked::instrument(module.get(), f, &arguments[..arrays])?;
        }
        crate::device::checked::forget_sites(context, f);
    }
    verify(module.get())?;
    // SAFETY: kernels have names of their own, which the host's module does not declare.
    if !unsafe { pollyrs_llvm_shim::move_definitions(module.get(), host_module) } {
        return Err(CodegenError::Llvm("the emulated kernels cannot be linked".into()));
    }
    let mut kernels = Vec::new();
    for name in names {
        let Some(f) = host_module.function(&name) else {
            return internal(format!("{name} was not linked"));
        };
        f.set_linkage(LLVMLinkage::LLVMInternalLinkage);
        kernels.push(f);
    }
    Ok(kernels)
}

/// `name`, or `name.2` and so on, whichever the module does not have.
fn free_name(module: Module, name: &str) -> String {
    let taken = |n: &str| module.function(n).is_some();
    if !taken(name) {
        return name.to_string();
    }
    let numbered = (2u64..).map(|i| format!("{name}.{i}")).find(|n| !taken(n));
    numbered.unwrap_or_else(|| name.to_string())
}

/// The kernel as `void name(ptr thread, ptr args)`, and its arguments' values there.
fn with_host_signature(context: Context, module: Module, kernel: Value, name: &str) -> (Value, Vec<Value>) {
    let ir = Ir::new(context);
    let mut arguments = Vec::new();
    let f = module.declare(name, ir.void_type().function(&[ir.ptr_type(), ir.ptr_type()]));
    let first = ir.append_block(f, "");
    ir.at_end(first);
    for (i, label) in [(0, "thread"), (1, "args")] {
        f.param(i).set_name(label);
    }
    let args = f.param(1);
    for (i, parameter) in (0..).zip(kernel.params()) {
        let slot = ir.load(ir.ptr_type(), ir.byte_offset(args, ir.int(8 * i)));
        let value = ir.load(parameter.ty(), slot);
        let label = parameter.name();
        value.set_name(&label);
        parameter.replace_uses(value);
        arguments.push(value);
    }
    let entry = kernel.entry();
    for block in kernel.blocks() {
        block.remove();
        block.append_to(f);
    }
    ir.br(entry);
    // SAFETY: nothing uses it any more.
    unsafe { kernel.delete_function() };

    (f, arguments)
}

fn lower_abstract(module: Module) -> Result<()> {
    copies::to_host(module)?;
    let block = |ir: &Ir, call| ir.load(ir.i64_type(), ir.byte_offset(thread_of(call), ir.int(BLOCK_OFFSET)));
    tasks::to_host(module, block)?;
    if let Some(f) = module.function(BLOCK_ID) {
        replace_calls(module, f, |ir, call| Ok(block(ir, call)))?;
    }
    for (name, offset) in THREAD_ID.iter().zip(THREAD_OFFSET) {
        if let Some(f) = module.function(name) {
            replace_calls(module, f, |ir, call| {
                Ok(ir.load(ir.i32_type(), ir.byte_offset(thread_of(call), ir.int(offset))))
            })?;
        }
    }
    if let Some(f) = module.function(SHARED) {
        replace_calls(module, f, |ir, call| {
            Ok(ir.load(ir.ptr_type(), ir.byte_offset(thread_of(call), ir.int(SHARED_OFFSET))))
        })?;
    }
    if let Some(f) = module.function(OPAQUE) {
        replace_calls(module, f, |_, call| Ok(call.operand(0)))?;
    }
    if let Some(f) = module.function(PREFETCH) {
        // There is no cache to ask.
        replace_calls(module, f, |ir, _| Ok(ir.null()))?;
    }
    if let Some(f) = module.function(BARRIER) {
        replace_calls(module, f, |ir, call| {
            let ty = ir.void_type().function(&[ir.ptr_type()]);
            Ok(ir.call_function(module.declare(EMU_BARRIER, ty), &[thread_of(call)]))
        })?;
    }
    Ok(())
}

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

use crate::ir::builder::{Ir, c_string};
use crate::ir::calls::{find_function, replace_calls, verify};
use crate::ir::error::{CodegenError, Result, internal};
use crate::ir::intrinsics::{BARRIER, BLOCK_ID, EMU_BARRIER, OPAQUE, PREFETCH, SHARED, THREAD_ID, thread_of};
use crate::ir::llvm::operand;
use crate::ir::llvm::*;
use crate::kernel::module::KernelModule;
use crate::ops::{copies, mma, quick, shuffle, tasks, updates};
use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;

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
///
/// # Safety
/// `host_module` is the live module for which `km` was built.
pub unsafe fn lower_emulated(
    km: &KernelModule,
    host_module: LLVMModuleRef,
    checked: bool,
) -> Result<Vec<LLVMValueRef>> {
    let module = OwnedModule::clone_of(km.module());
    // SAFETY: the caller's promise.
    let context = unsafe {
        LLVMSetTarget(module.0, LLVMGetTarget(host_module));
        LLVMSetDataLayout(module.0, LLVMGetDataLayoutStr(host_module));
        LLVMGetModuleContext(host_module)
    };
    let mut names: Vec<String> = Vec::new();
    let mut made = Vec::new();
    for (at, k) in km.kernels.iter().enumerate() {
        // One function under several descriptors.
        if let Some(same) = km.kernels[..at].iter().position(|other| other.name == k.name) {
            names.push(names[same].clone());
            continue;
        }
        let Some(kernel) = find_function(module.0, &k.name) else {
            return internal(format!("no kernel {}", k.name));
        };
        let name = free_name(host_module, &format!("pollyrs.emu.{}", k.name));
        let (f, arguments) = with_host_signature(context, module.0, kernel, &name);
        made.push((f, arguments, k.arrays.len()));
        add_string_attribute(context, f, KERNEL_ATTRIBUTE, "");
        add_enum_attribute(context, f, FUNCTION, "nounwind", 0);
        for (key, value) in &km.host_target {
            add_string_attribute(context, f, key, value);
        }
        names.push(name);
    }
    let info = |name: &str| names.iter().position(|n| n == name).map(|at| &km.kernels[at]);
    mma::to_host(module.0, info)?;
    shuffle::to_host(module.0)?;
    updates::to_host(module.0)?;
    lower_abstract(module.0)?;
    quick::to_host(module.0, checked)?;
    for (f, arguments, arrays) in made {
        if instructions(f).len() > if checked { LARGE_CHECKED } else { LARGE } {
            for a in ["noinline", "optnone"] {
                add_enum_attribute(context, f, FUNCTION, a, 0);
            }
        }
        if checked {
            crate::ops::elements::split(&Ir::new(context), module.0, f);
            crate::device::checked::instrument(module.0, f, &arguments[..arrays])?;
        }
        crate::device::checked::forget_sites(context, f);
    }
    verify(module.0)?;
    if !pollyrs_llvm_shim::move_definitions(module.0, host_module) {
        return Err(CodegenError::Llvm("the emulated kernels cannot be linked".into()));
    }
    let mut kernels = Vec::new();
    for name in names {
        let Some(f) = find_function(host_module, &name) else {
            return internal(format!("{name} was not linked"));
        };
        // SAFETY: a live function. It had external linkage so that it kept its name.
        unsafe { LLVMSetLinkage(f, LLVMLinkage::LLVMInternalLinkage) };
        kernels.push(f);
    }
    Ok(kernels)
}

/// `name`, or `name.2` and so on, whichever the module does not have.
fn free_name(module: LLVMModuleRef, name: &str) -> String {
    let taken = |n: &str| {
        let n = c_string(n);
        // SAFETY: live module.
        unsafe { !LLVMGetNamedFunction(module, n.as_ptr()).is_null() }
    };
    if !taken(name) {
        return name.to_string();
    }
    let numbered = (2u64..).map(|i| format!("{name}.{i}")).find(|n| !taken(n));
    numbered.unwrap_or_else(|| name.to_string())
}

/// The kernel as `void name(ptr thread, ptr args)`, and its arguments' values there.
fn with_host_signature(
    context: LLVMContextRef,
    module: LLVMModuleRef,
    kernel: LLVMValueRef,
    name: &str,
) -> (LLVMValueRef, Vec<LLVMValueRef>) {
    let ir = Ir::new(context);
    let mut arguments = Vec::new();
    let f = declare(module, name, function_type(ir.void_type(), &[ir.ptr_type(), ir.ptr_type()]));
    let first = ir.append_block(f, "");
    ir.at_end(first);
    // SAFETY: live functions; every use of an argument is replaced before its function goes; blocks move in
    // order.
    unsafe {
        for (i, label) in [(0, "thread"), (1, "args")] {
            LLVMSetValueName2(LLVMGetParam(f, i), label.as_ptr().cast(), label.len());
        }
        let args = LLVMGetParam(f, 1);
        for i in 0..LLVMCountParams(kernel) {
            let parameter = LLVMGetParam(kernel, i);
            let slot = ir.load(ir.ptr_type(), ir.byte_offset(args, ir.int(8 * i64::from(i))));
            let value = ir.load(LLVMTypeOf(parameter), slot);
            let label = name_of(parameter);
            LLVMSetValueName2(value, label.as_ptr().cast(), label.len());
            LLVMReplaceAllUsesWith(parameter, value);
            arguments.push(value);
        }
        let entry = LLVMGetEntryBasicBlock(kernel);
        let mut block = entry;
        while !block.is_null() {
            let next = LLVMGetNextBasicBlock(block);
            LLVMRemoveBasicBlockFromParent(block);
            LLVMAppendExistingBasicBlock(f, block);
            block = next;
        }
        ir.br(entry);
        LLVMDeleteFunction(kernel);
    }
    (f, arguments)
}

fn lower_abstract(module: LLVMModuleRef) -> Result<()> {
    copies::to_host(module)?;
    let block = |ir: &Ir, call| ir.load(ir.i64_type(), ir.byte_offset(thread_of(call), ir.int(BLOCK_OFFSET)));
    tasks::to_host(module, block)?;
    if let Some(f) = find_function(module, BLOCK_ID) {
        replace_calls(module, f, |ir, call| Ok(block(ir, call)))?;
    }
    for (name, offset) in THREAD_ID.iter().zip(THREAD_OFFSET) {
        if let Some(f) = find_function(module, name) {
            replace_calls(module, f, |ir, call| {
                Ok(ir.load(ir.i32_type(), ir.byte_offset(thread_of(call), ir.int(offset))))
            })?;
        }
    }
    if let Some(f) = find_function(module, SHARED) {
        replace_calls(module, f, |ir, call| {
            Ok(ir.load(ir.ptr_type(), ir.byte_offset(thread_of(call), ir.int(SHARED_OFFSET))))
        })?;
    }
    if let Some(f) = find_function(module, OPAQUE) {
        replace_calls(module, f, |_, call| Ok(operand(call, 0)))?;
    }
    if let Some(f) = find_function(module, PREFETCH) {
        // There is no cache to ask.
        replace_calls(module, f, |ir, _| Ok(ir.null()))?;
    }
    if let Some(f) = find_function(module, BARRIER) {
        replace_calls(module, f, |ir, call| {
            let ty = function_type(ir.void_type(), &[ir.ptr_type()]);
            Ok(ir.call_function(declare(module, EMU_BARRIER, ty), &[thread_of(call)]))
        })?;
    }
    Ok(())
}

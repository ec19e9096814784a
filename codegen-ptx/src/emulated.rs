//! Kernel IR as ordinary host code, for the emulated device of the run-time library.
//!
//! Each kernel becomes two functions of the host module: the kernel itself, with the coordinates read from the thread
//! descriptor in a further last argument, and a wrapper with the signature of `PollyrsEmuKernel` that unpacks the arguments:
//! ```text
//! define internal void @pollyrs.emu.f_K0(ptr %thread, ptr %args) {
//!   %0 = load ptr, ptr %args             ; args[0] points to the first argument
//!   %1 = load ptr, ptr %0
//!   ...
//!   call void @f_K0(ptr %1, ..., ptr %thread)
//! ```
//!
//! # Invariants
//! - All functions are internal and carry the string attribute `pollyrs-kernel`, by which our own pass leaves them alone.
//! - They have the target attributes of the host function, so that calling conventions agree.

use crate::error::{CodegenError, Result, internal};
use crate::ir::{Ir, c_string};
use crate::kernel::{BARRIER, BLOCK_ID, KernelModule, THREAD_ID, verify};
use crate::llvm::*;
use crate::ptx::{find_function, replace_calls};
use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::linker::LLVMLinkModules2;
use inkwell::llvm_sys::prelude::*;

/// Offsets in `PollyrsEmuThread` (runtime/include/pollyrs_rt.h).
const BLOCK_OFFSET: i64 = 0;
const THREAD_OFFSET: [i64; 3] = [8, 12, 16];

/// The attribute by which our pass recognises kernels in a host module.
pub const KERNEL_ATTRIBUTE: &str = "pollyrs-kernel";

/// Adds the kernels to the host module; the result are functions `void(ptr thread, ptr args)`, in the order of
/// [`KernelModule::kernels`]. `like` is the host function whose target attributes they get.
///
/// # Safety
/// `host_module` is the live module for which `km` was built, and `like` one of its functions.
pub unsafe fn lower_emulated(
    km: &KernelModule,
    host_module: LLVMModuleRef,
    like: LLVMValueRef,
) -> Result<Vec<LLVMValueRef>> {
    let module = OwnedModule::clone_of(km.module());
    // SAFETY: the caller's promise.
    let context = unsafe {
        LLVMSetTarget(module.0, LLVMGetTarget(host_module));
        LLVMSetDataLayout(module.0, LLVMGetDataLayoutStr(host_module));
        LLVMGetModuleContext(host_module)
    };
    let mut wrappers = Vec::new();
    for k in &km.kernels {
        let Some(kernel) = find_function(module.0, &k.name) else {
            return internal(format!("no kernel {}", k.name));
        };
        let kernel = with_thread(context, module.0, kernel);
        let name = free_name(host_module, &format!("pollyrs.emu.{}", k.name));
        wrap(context, module.0, kernel, &name);
        wrappers.push(name);
        // SAFETY: a live function; the name is free in both modules, so linking does not merge it.
        unsafe {
            let name = free_name(host_module, &format!("pollyrs.emu.body.{}", k.name));
            LLVMSetValueName2(kernel, name.as_ptr().cast(), name.len());
        }
    }
    lower_abstract(module.0)?;
    let mut defined = Vec::new();
    for f in functions(module.0) {
        // SAFETY: live functions.
        if unsafe { LLVMIsDeclaration(f) } == 0 {
            add_string_attribute(context, f, KERNEL_ATTRIBUTE, "");
            add_enum_attribute(context, f, FUNCTION, "nounwind", 0);
            copy_target(like, f);
            defined.push(name_of(f));
        }
    }
    verify(module.0)?;
    // SAFETY: both modules live in one context; linking consumes the source.
    if unsafe { LLVMLinkModules2(host_module, module.into_raw()) } != 0 {
        return Err(CodegenError::Llvm("the emulated kernels cannot be linked".into()));
    }
    for name in defined {
        if let Some(f) = find_function(host_module, &name) {
            // SAFETY: a live function.
            unsafe { LLVMSetLinkage(f, LLVMLinkage::LLVMInternalLinkage) };
        }
    }
    wrappers
        .iter()
        .map(|n| find_function(host_module, n).map_or_else(|| internal(format!("{n} was not linked")), Ok))
        .collect()
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

/// The kernel with the thread descriptor as a further last argument.
fn with_thread(context: LLVMContextRef, module: LLVMModuleRef, kernel: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: live function; blocks move to the new function in order, arguments are replaced one by one.
    unsafe {
        let count = LLVMCountParams(kernel);
        let mut types: Vec<_> = (0..count).map(|i| LLVMTypeOf(LLVMGetParam(kernel, i))).collect();
        types.push(LLVMPointerTypeInContext(context, 0));
        let ty = function_type(LLVMVoidTypeInContext(context), &types);
        let name = c_string(&name_of(kernel));
        LLVMSetValueName2(kernel, EMPTY, 0);
        let new = LLVMAddFunction(module, name.as_ptr(), ty);
        for i in 0..count {
            let (from, to) = (LLVMGetParam(kernel, i), LLVMGetParam(new, i));
            let label = name_of(from);
            LLVMReplaceAllUsesWith(from, to);
            LLVMSetValueName2(to, label.as_ptr().cast(), label.len());
            for a in ["noalias", "readonly"] {
                let kind = LLVMGetEnumAttributeKindForName(a.as_ptr().cast(), a.len());
                if !LLVMGetEnumAttributeAtIndex(kernel, i + 1, kind).is_null() {
                    add_enum_attribute(context, new, i + 1, a, 0);
                }
            }
        }
        let mut block = LLVMGetFirstBasicBlock(kernel);
        while !block.is_null() {
            let next = LLVMGetNextBasicBlock(block);
            LLVMRemoveBasicBlockFromParent(block);
            LLVMAppendExistingBasicBlock(new, block);
            block = next;
        }
        LLVMDeleteFunction(kernel);
        new
    }
}

/// `void name(ptr thread, ptr args)`.
fn wrap(context: LLVMContextRef, module: LLVMModuleRef, kernel: LLVMValueRef, name: &str) {
    let ir = Ir::new(context);
    let wrapper = declare(module, name, function_type(ir.void_type(), &[ir.ptr_type(), ir.ptr_type()]));
    let block = ir.append_block(wrapper, "");
    ir.at_end(block);
    // SAFETY: both functions have the parameters asked for.
    unsafe {
        let (thread, args) = (LLVMGetParam(wrapper, 0), LLVMGetParam(wrapper, 1));
        let count = LLVMCountParams(kernel) - 1;
        let mut values: Vec<_> = (0..count)
            .map(|i| {
                let slot = ir.load(ir.ptr_type(), ir.byte_offset(args, ir.int(8 * i64::from(i))));
                ir.load(LLVMTypeOf(LLVMGetParam(kernel, i)), slot)
            })
            .collect();
        values.push(thread);
        ir.call_function(kernel, &values);
    }
    ir.ret_void();
}

/// The thread descriptor of the kernel that a call is in.
fn thread_of(call: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: a live call in a function made by `with_thread`, whose last argument is the descriptor.
    unsafe {
        let f = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
        LLVMGetParam(f, LLVMCountParams(f) - 1)
    }
}

fn lower_abstract(module: LLVMModuleRef) -> Result<()> {
    if let Some(f) = find_function(module, BLOCK_ID) {
        replace_calls(module, f, |ir, call| {
            Ok(ir.load(ir.i64_type(), ir.byte_offset(thread_of(call), ir.int(BLOCK_OFFSET))))
        })?;
    }
    for (name, offset) in THREAD_ID.iter().zip(THREAD_OFFSET) {
        if let Some(f) = find_function(module, name) {
            replace_calls(module, f, |ir, call| {
                Ok(ir.load(ir.i32_type(), ir.byte_offset(thread_of(call), ir.int(offset))))
            })?;
        }
    }
    if let Some(f) = find_function(module, BARRIER) {
        replace_calls(module, f, |ir, call| {
            let ty = function_type(ir.void_type(), &[ir.ptr_type()]);
            Ok(ir.call_function(declare(module, "pollyrs_rt_emu_barrier", ty), &[thread_of(call)]))
        })?;
    }
    Ok(())
}

/// Copies the attributes that fix the instruction set.
fn copy_target(from: LLVMValueRef, to: LLVMValueRef) {
    // SAFETY: live functions; keys with their lengths.
    unsafe {
        for key in ["target-cpu", "target-features", "tune-cpu"] {
            let a = LLVMGetStringAttributeAtIndex(from, FUNCTION, key.as_ptr().cast(), key.len() as u32);
            if !a.is_null() {
                LLVMAddAttributeAtIndex(to, FUNCTION, a);
            }
        }
    }
}

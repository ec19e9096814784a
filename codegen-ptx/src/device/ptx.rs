//! Kernel IR to PTX, and PTX to machine code.
//!
//! # Invariants
//! - Floating-point semantics are those of the IR's flags: LLVM's NVPTX back end (22) fuses a multiplication
//!   and an addition only where both carry `contract`, divides and takes roots rounded to nearest unless
//!   `afn` says otherwise, and flushes nothing. Library functions come from bitcode that is linked in
//!   (`Precise`, no `ftz`).
//! - The text is a pure function of the kernel IR, the options and the bitcode library.
//! - LLVM aborts on instructions that it cannot select; therefore every call that is left before selection is
//!   checked against the list of what the back end knows, and an unknown one is an error of ours.
//!
//! # Example
//! `%r = load float, ptr %p` from an array that the kernel never writes becomes `ld.global.nc.f32`.

use crate::device::library::{MathLibrary, PtxOptions, check_calls, find_math_library};
use crate::device::machine::{DeviceModule, Machine};
use crate::ir::builder::{Ir, c_string};
use crate::ir::calls::{find_function, replace_calls, verify};
use crate::ir::error::{CodegenError, Result, internal, unsupported};
use crate::ir::intrinsics::{BARRIER, BLOCK_ID, OPAQUE, PREFETCH, SHARED, THREAD_ID};
use crate::ir::llvm::operand;
use crate::ir::llvm::*;
use crate::ir::math::{LibraryFunction, Precision, exact_function, library_function, library_intrinsic};
use crate::kernel::module::{KernelInfo, KernelModule};
use crate::ops::bulk::check_length;
use crate::ops::{copies, mma, packed, predicate, quick, roots, shuffle, squares, tasks, updates};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMLinkage, LLVMOpcode, LLVMTypeKind};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// PTX text of all kernels, without a trailing NUL.
///
/// # Errors
/// [`CodegenError::Unsupported`] where a mathematical function has no device version.
pub fn lower_ptx(km: &KernelModule, options: &PtxOptions) -> Result<String> {
    prepare_ptx(km, options)?.ptx()
}

/// Everything that user code can make fail: kernels whose abstract functions are the device's, with the
/// library functions that they need. What is left is [`DeviceModule::ptx`], on any thread.
///
/// # Errors
/// [`CodegenError::Unsupported`] where a mathematical function has no device version;
/// [`CodegenError::TooLong`].
pub fn prepare_ptx(km: &KernelModule, options: &PtxOptions) -> Result<DeviceModule> {
    prepare(km, options, |_| true)
}

/// The same of the kernels that are not [late](KernelInfo::late).
///
/// # Errors
/// Those of [`prepare_ptx`].
pub fn prepare_early_ptx(km: &KernelModule, options: &PtxOptions) -> Result<DeviceModule> {
    prepare(km, options, |k| !k.late)
}

fn prepare(
    km: &KernelModule,
    options: &PtxOptions,
    wanted: impl Fn(&KernelInfo) -> bool,
) -> Result<DeviceModule> {
    let machine = Machine::new(options)?;
    let module = OwnedModule::clone_of(km.module());
    machine.adopt(module.0);
    for (at, k) in km.kernels.iter().enumerate() {
        // One function may stand under several descriptors.
        if km.kernels[..at].iter().any(|other| other.name == k.name) {
            continue;
        }
        match find_function(module.0, &k.name) {
            // SAFETY: a kernel, which nothing calls.
            Some(f) if !wanted(k) => unsafe { LLVMDeleteFunction(f) },
            _ => lower_kernel(module.0, k)?,
        }
    }
    predicate::to_ptx(module.0)?;
    lower_shared(module.0, km)?;
    mma::to_ptx(module.0, options.arch)?;
    lower_abstract(module.0, options.arch)?;
    lower_math(module.0, options)?;
    internalize(module.0, km);
    check_calls(module.0)?;
    check_length(module.0)?;
    verify(module.0)?;
    let names = km.names().into_iter().filter(|name| find_function(module.0, name).is_some());
    Ok(DeviceModule::new(&module, options, &names.collect::<Vec<_>>()))
}

/// Attributes of an entry, arguments in global memory, loads that nothing invalidates.
fn lower_kernel(module: LLVMModuleRef, info: &KernelInfo) -> Result<()> {
    const PTX_KERNEL: u32 = 71;
    let name = c_string(&info.name);
    // SAFETY: live module.
    let function = unsafe { LLVMGetNamedFunction(module, name.as_ptr()) };
    if function.is_null() {
        return internal(format!("no kernel {}", info.name));
    }
    // SAFETY: a live function with at least one block.
    let (context, first) = unsafe {
        LLVMSetFunctionCallConv(function, PTX_KERNEL);
        (LLVMGetModuleContext(module), LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)))
    };
    let [x, y, z] = info.block;
    // Stronger than a maximum: every launch has exactly these sizes, so the thread indices get exact ranges.
    add_string_attribute(context, function, "nvvm.reqntid", &format!("{x},{y},{z}"));
    mark_invariant_loads(context, function);
    let ir = Ir::new(context);
    ir.before(first);
    for i in 0..info.arrays.len() as u32 {
        // SAFETY: arrays come first among the parameters. The replacement also hits the cast, whose operand
        // is put back.
        unsafe {
            let argument = LLVMGetParam(function, i);
            let global = ir.addrspace_cast(argument, ir.pointer_in(1));
            let generic = ir.addrspace_cast(global, ir.ptr_type());
            LLVMReplaceAllUsesWith(argument, generic);
            LLVMSetOperand(global, 0, argument);
        }
    }
    Ok(())
}

/// Marks loads from `readonly` arguments: nothing writes there while a kernel runs, `noalias` says that no
/// other argument does.
fn mark_invariant_loads(context: LLVMContextRef, function: LLVMValueRef) {
    const NAME: &str = "invariant.load";
    const READONLY: &str = "readonly";
    // SAFETY: live context; names with their lengths.
    let (kind, readonly, node) = unsafe {
        (
            LLVMGetMDKindIDInContext(context, NAME.as_ptr().cast(), NAME.len() as u32),
            LLVMGetEnumAttributeKindForName(READONLY.as_ptr().cast(), READONLY.len()),
            LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, std::ptr::null_mut(), 0)),
        )
    };
    // SAFETY: live instructions; a pointer is followed through address computations to where it comes from.
    unsafe {
        let arguments: BTreeMap<usize, u32> =
            (0..LLVMCountParams(function)).map(|i| (LLVMGetParam(function, i) as usize, i + 1)).collect();
        for i in instructions(function) {
            if LLVMGetInstructionOpcode(i) != LLVMOpcode::LLVMLoad {
                continue;
            }
            let mut pointer = LLVMGetOperand(i, 0);
            while !LLVMIsAGetElementPtrInst(pointer).is_null() {
                pointer = LLVMGetOperand(pointer, 0);
            }
            if let Some(at) = arguments.get(&(pointer as usize))
                && !LLVMGetEnumAttributeAtIndex(function, *at, readonly).is_null()
            {
                LLVMSetMetadata(i, kind, node);
            }
        }
    }
}

/// Shared memory as an internal variable of each kernel that asks for it.
fn lower_shared(module: LLVMModuleRef, km: &KernelModule) -> Result<()> {
    const SPACE: u32 = 3;
    let Some(f) = find_function(module, SHARED) else { return Ok(()) };
    replace_calls(module, f, |ir, call| {
        // SAFETY: a live call in a kernel; the variable is new or of the same size.
        unsafe {
            let kernel = name_of(LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)));
            let Some(info) = km.kernels.iter().find(|k| k.name == kernel) else {
                return internal(format!("{kernel} is no kernel"));
            };
            let name = c_string(&format!("{kernel}_shared"));
            let mut variable = LLVMGetNamedGlobal(module, name.as_ptr());
            if variable.is_null() {
                let size = if info.dynamic_shared_bytes() > 0 { 0 } else { info.shared_bytes };
                let ty = LLVMArrayType2(ir.i8_type(), u64::from(size));
                variable = LLVMAddGlobalInAddressSpace(module, ty, name.as_ptr(), SPACE);
                // Without a size and a definition it is what the launch asks for.
                if size > 0 {
                    LLVMSetInitializer(variable, LLVMGetUndef(ty));
                    LLVMSetLinkage(variable, LLVMLinkage::LLVMInternalLinkage);
                }
                LLVMSetAlignment(variable, 128);
            }
            Ok(ir.addrspace_cast(variable, ir.ptr_type()))
        }
    })
}

fn lower_abstract(module: LLVMModuleRef, arch: u32) -> Result<()> {
    copies::to_ptx(module, arch)?;
    shuffle::to_ptx(module)?;
    quick::to_ptx(module)?;
    roots::to_ptx(module)?;
    squares::share(module)?;
    packed::to_ptx(module)?;
    updates::to_ptx(module)?;
    tasks::to_ptx(module, arch)?;
    if let Some(f) = find_function(module, BLOCK_ID) {
        replace_calls(module, f, |ir, _| {
            let ty = function_type(ir.i32_type(), &[]);
            let id = ir.call_function(declare(module, "llvm.nvvm.read.ptx.sreg.ctaid.x", ty), &[]);
            Ok(ir.zext(id, ir.i64_type()))
        })?;
    }
    for (name, axis) in THREAD_ID.iter().zip(["x", "y", "z"]) {
        if let Some(f) = find_function(module, name) {
            replace_calls(module, f, |ir, _| {
                let ty = function_type(ir.i32_type(), &[]);
                Ok(ir.call_function(declare(module, &format!("llvm.nvvm.read.ptx.sreg.tid.{axis}"), ty), &[]))
            })?;
        }
    }
    if let Some(f) = find_function(module, OPAQUE) {
        replace_calls(module, f, |ir, call| {
            let ty = function_type(ir.i64_type(), &[ir.i64_type()]);
            Ok(ir.assembly(ty, "", "=l,0", true, &[operand(call, 0)]))
        })?;
    }
    if let Some(f) = find_function(module, PREFETCH) {
        replace_calls(module, f, |ir, call| {
            let ty = function_type(ir.void_type(), &[ir.i64_type()]);
            let global = ir.addrspace_cast(operand(call, 0), ir.pointer_in(1));
            Ok(ir.assembly(ty, "prefetch.global.L2 [$0];", "l", true, &[ir.ptr_to_int(global)]))
        })?;
    }
    if let Some(f) = find_function(module, BARRIER) {
        replace_calls(module, f, |ir, _| {
            let ty = function_type(ir.void_type(), &[ir.i32_type()]);
            let barrier = declare(module, "llvm.nvvm.barrier.cta.sync.aligned.all", ty);
            Ok(ir.call_function(barrier, &[ir.int32(0)]))
        })?;
    }
    Ok(())
}

/// Replaces functions of the C library, intrinsics without an instruction, and `frem`.
fn lower_math(module: LLVMModuleRef, options: &PtxOptions) -> Result<()> {
    let mut needed: BTreeMap<String, LibraryFunction> = BTreeMap::new();
    let mut library: Option<MathLibrary> = options.math_library.clone();
    let mut device_name = |f: LibraryFunction| -> Result<String> {
        if library.is_none() {
            library = find_math_library(
                std::env::var_os("CUDA_HOME").map(PathBuf::from).as_deref(),
                options.ptxas.as_deref(),
            );
        }
        let name = match &library {
            Some(MathLibrary::Libdevice(_)) => f.libdevice(),
            Some(MathLibrary::Libclc(_)) => f.libclc(),
            None => return unsupported(format!("{}: no libdevice and no libclc found", f.name)),
        };
        needed.insert(name.clone(), f);
        Ok(name)
    };
    lower_frem(module, &mut device_name)?;
    for function in functions(module) {
        // SAFETY: live function.
        if unsafe { LLVMIsDeclaration(function) } == 0 {
            continue;
        }
        let name = name_of(function);
        let target = if let Some(f) = library_function(&name).or_else(|| library_intrinsic(&name)) {
            device_name(f)?
        } else if let Some(intrinsic) = exact_function(&name) {
            intrinsic
        } else {
            continue;
        };
        replace_calls(module, function, |ir, call| {
            // SAFETY: a live call; the replacement takes the same arguments.
            unsafe {
                let ty = LLVMGetCalledFunctionType(call);
                let args: Vec<_> =
                    (0..LLVMGetNumArgOperands(call)).map(|a| LLVMGetOperand(call, a)).collect();
                let new = ir.call_function(declare(module, &target, ty), &args);
                if LLVMCanValueUseFastMathFlags(call) != 0 {
                    LLVMSetFastMathFlags(new, LLVMGetFastMathFlags(call));
                }
                Ok(new)
            }
        })?;
    }
    match library {
        Some(MathLibrary::Libdevice(path) | MathLibrary::Libclc(path)) if !needed.is_empty() => {
            link_library(module, &path, &needed)
        }
        _ => Ok(()),
    }
}

/// The back end expands `frem` as `x - trunc(x / y) * y`, which is inexact; C's `fmod` is exact.
fn lower_frem(
    module: LLVMModuleRef,
    device_name: &mut impl FnMut(LibraryFunction) -> Result<String>,
) -> Result<()> {
    // SAFETY: live module; an instruction is removed after its uses are replaced.
    unsafe {
        let ir = Ir::new(LLVMGetModuleContext(module));
        for i in functions(module).into_iter().flat_map(instructions) {
            if LLVMGetInstructionOpcode(i) != LLVMOpcode::LLVMFRem {
                continue;
            }
            let ty = LLVMTypeOf(i);
            let precision = match LLVMGetTypeKind(ty) {
                LLVMTypeKind::LLVMFloatTypeKind => Precision::Single,
                LLVMTypeKind::LLVMDoubleTypeKind => Precision::Double,
                _ => return unsupported("the remainder of half-precision numbers"),
            };
            let name = device_name(LibraryFunction::fmod(precision))?;
            ir.before(i);
            let f = declare(module, &name, function_type(ty, &[ty, ty]));
            let call = ir.call_function(f, &[LLVMGetOperand(i, 0), LLVMGetOperand(i, 1)]);
            LLVMReplaceAllUsesWith(i, call);
            LLVMInstructionEraseFromParent(i);
        }
    }
    Ok(())
}

/// Links the needed functions of a bitcode library, and what they need, and nothing else.
fn link_library(
    module: LLVMModuleRef,
    path: &Path,
    needed: &BTreeMap<String, LibraryFunction>,
) -> Result<()> {
    if !pollyrs_llvm_shim::link_needed(module, &std::fs::read(path)?) {
        return Err(CodegenError::Llvm(format!("{} cannot be linked", path.display())));
    }
    for name in needed.keys() {
        // SAFETY: live function.
        let defined = find_function(module, name).is_some_and(|f| unsafe { LLVMIsDeclaration(f) } == 0);
        if !defined {
            return unsupported(format!("{name}: not in {}", path.display()));
        }
    }
    Ok(())
}

/// Everything but the kernels becomes internal, so that the optimizer inlines and drops it.
fn internalize(module: LLVMModuleRef, km: &KernelModule) {
    for f in functions(module) {
        let name = name_of(f);
        // SAFETY: live functions.
        unsafe {
            if LLVMIsDeclaration(f) == 0 && !km.kernels.iter().any(|k| k.name == name) {
                LLVMSetLinkage(f, LLVMLinkage::LLVMInternalLinkage);
            }
        }
    }
}

/// Machine code for `arch` (70 for `sm_70`) from PTX text, with the program `ptxas`.
///
/// # Errors
/// [`CodegenError::Tool`] with what ptxas said.
pub fn assemble(ptx: &[u8], ptxas: &Path, arch: u32) -> Result<Vec<u8>> {
    let dir = tempfile::tempdir()?;
    let (input, output) = (dir.path().join("kernel.ptx"), dir.path().join("kernel.cubin"));
    std::fs::File::create(&input)?.write_all(ptx)?;
    let result = std::process::Command::new(ptxas)
        .arg(format!("--gpu-name=sm_{arch}"))
        .args(["-O3", "-o"])
        .arg(&output)
        .arg(&input)
        .output()?;
    if !result.status.success() {
        let message = String::from_utf8_lossy(&result.stderr).trim().to_string();
        return Err(CodegenError::Tool { tool: ptxas.display().to_string(), message });
    }
    Ok(std::fs::read(output)?)
}

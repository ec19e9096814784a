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
use crate::device::sines;
use crate::ir::builder::Ir;
use crate::ir::calls::{replace_calls, verify};
use crate::ir::error::{CodegenError, Result, internal, unsupported};
use crate::ir::intrinsics::{BARRIER, BLOCK_ID, OPAQUE, PREFETCH, SHARED, THREAD_ID};
use crate::ir::llvm::*;
use crate::ir::math::{LibraryFunction, Precision, exact_function, library_function, library_intrinsic};
use crate::kernel::module::{KernelInfo, KernelModule};
use crate::ops::bulk::check_length;
use crate::ops::{copies, fast_division, mma, packed, predicate, roots, shuffle, squares, tasks, updates};
use inkwell::llvm_sys::{LLVMLinkage, LLVMOpcode, LLVMTypeKind};
use std::collections::{BTreeMap, BTreeSet};
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
    // SAFETY: no handle of the copy leaves this function.
    let module = unsafe { OwnedModule::clone_of(km.module()) };
    machine.adopt(module.get());
    for (at, k) in km.kernels.iter().enumerate() {
        // One function may stand under several descriptors.
        if km.kernels[..at].iter().any(|other| other.name == k.name) {
            continue;
        }
        match module.get().function(&k.name) {
            // SAFETY: a kernel, which nothing calls.
            Some(f) if !wanted(k) => unsafe { f.delete_function() },
            _ => lower_kernel(module.get(), k)?,
        }
    }
    predicate::to_ptx(module.get())?;
    lower_shared(module.get(), km)?;
    mma::to_ptx(module.get(), options.arch)?;
    lower_abstract(module.get(), options.arch)?;
    lower_math(module.get(), options, &machine)?;
    internalize(module.get(), km);
    check_calls(module.get())?;
    check_length(module.get())?;
    verify(module.get())?;
    let names = km.names().into_iter().filter(|name| module.get().function(name).is_some());
    Ok(DeviceModule::new(&module, options, &names.collect::<Vec<_>>()))
}

/// Attributes of an entry, arguments in global memory, loads that nothing invalidates.
fn lower_kernel(module: Module, info: &KernelInfo) -> Result<()> {
    const PTX_KERNEL: u32 = 71;
    let Some(function) = module.function(&info.name) else {
        return internal(format!("no kernel {}", info.name));
    };
    function.set_calling_convention(PTX_KERNEL);
    let [x, y, z] = info.block;
    // Stronger than a maximum: every launch has exactly these sizes, so the thread indices get exact ranges.
    function.add_string_attribute("nvvm.reqntid", &format!("{x},{y},{z}"));
    mark_invariant_loads(function);
    let ir = Ir::new(module.context());
    ir.at_start(function.entry());
    for i in 0..info.arrays.len() as u32 {
        let argument = function.param(i);
        let global = ir.addrspace_cast(argument, ir.pointer_in(1));
        let generic = ir.addrspace_cast(global, ir.ptr_type());
        argument.replace_uses(generic);
        global.set_operand(0, argument);
    }
    Ok(())
}

/// Marks loads from `readonly` arguments: nothing writes there while a kernel runs, `noalias` says that no
/// other argument does.
fn mark_invariant_loads(function: Value) {
    let context = function.context();
    let (kind, node) = (context.kind("invariant.load"), context.node(&[]));
    let arguments: BTreeMap<Value, u32> = function.params().into_iter().zip(1..).collect();
    for i in function.instructions().into_iter().filter(|i| i.is_load()) {
        // Through address computations to where it comes from.
        let mut pointer = i.operand(0);
        while pointer.is_gep() {
            pointer = pointer.operand(0);
        }
        if let Some(at) = arguments.get(&pointer)
            && function.attribute(*at, "readonly").is_some()
        {
            i.set_metadata(kind, Some(node));
        }
    }
}

/// Shared memory as an internal variable of each kernel that asks for it.
fn lower_shared(module: Module, km: &KernelModule) -> Result<()> {
    const SPACE: u32 = 3;
    let Some(f) = module.function(SHARED) else { return Ok(()) };
    replace_calls(module, f, |ir, call| {
        let kernel = call.block().function().name();
        let Some(info) = km.kernels.iter().find(|k| k.name == kernel) else {
            return internal(format!("{kernel} is no kernel"));
        };
        let name = format!("{kernel}_shared");
        let variable = module.global(&name).unwrap_or_else(|| {
            let size = if info.dynamic_shared_bytes() > 0 { 0 } else { info.shared_bytes };
            let ty = ir.i8_type().array_of(u64::from(size));
            let variable = module.add_global(&name, ty, SPACE);
            // Without a size and a definition it is what the launch asks for.
            if size > 0 {
                variable.set_initializer(ty.undef());
                variable.set_linkage(LLVMLinkage::LLVMInternalLinkage);
            }
            variable.set_alignment(128);
            variable
        });
        Ok(ir.addrspace_cast(variable, ir.ptr_type()))
    })
}

fn lower_abstract(module: Module, arch: u32) -> Result<()> {
    copies::to_ptx(module, arch)?;
    shuffle::to_ptx(module)?;
    fast_division::to_ptx(module)?;
    roots::to_ptx(module)?;
    squares::share(module)?;
    packed::to_ptx(module)?;
    updates::to_ptx(module)?;
    tasks::to_ptx(module, arch)?;
    if let Some(f) = module.function(BLOCK_ID) {
        replace_calls(module, f, |ir, _| {
            let ty = ir.i32_type().function(&[]);
            let id = ir.call_function(module.declare("llvm.nvvm.read.ptx.sreg.ctaid.x", ty), &[]);
            Ok(ir.zext(id, ir.i64_type()))
        })?;
    }
    for (name, axis) in THREAD_ID.iter().zip(["x", "y", "z"]) {
        if let Some(f) = module.function(name) {
            replace_calls(module, f, |ir, _| {
                let ty = ir.i32_type().function(&[]);
                Ok(ir.call_function(module.declare(&format!("llvm.nvvm.read.ptx.sreg.tid.{axis}"), ty), &[]))
            })?;
        }
    }
    if let Some(f) = module.function(OPAQUE) {
        replace_calls(module, f, |ir, call| {
            let ty = ir.i64_type().function(&[ir.i64_type()]);
            Ok(ir.assembly(ty, "", "=l,0", true, &[call.operand(0)]))
        })?;
    }
    if let Some(f) = module.function(PREFETCH) {
        replace_calls(module, f, |ir, call| {
            let ty = ir.void_type().function(&[ir.i64_type()]);
            let global = ir.addrspace_cast(call.operand(0), ir.pointer_in(1));
            Ok(ir.assembly(ty, "prefetch.global.L2 [$0];", "l", true, &[ir.ptr_to_int(global)]))
        })?;
    }
    if let Some(f) = module.function(BARRIER) {
        replace_calls(module, f, |ir, _| {
            let ty = ir.void_type().function(&[ir.i32_type()]);
            let barrier = module.declare("llvm.nvvm.barrier.cta.sync.aligned.all", ty);
            Ok(ir.call_function(barrier, &[ir.int32(0)]))
        })?;
    }
    Ok(())
}

/// What makes one call of calls with the same arguments.
const SHARED_CALLS: &str = "function(sroa,early-cse<memssa>)";

/// Replaces functions of the C library, intrinsics without an instruction, and `frem`.
fn lower_math(module: Module, options: &PtxOptions, machine: &Machine) -> Result<()> {
    let mut needed: BTreeSet<String> = BTreeSet::new();
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
        needed.insert(name.clone());
        Ok(name)
    };
    lower_frem(module, &mut device_name)?;
    for function in module.functions() {
        if !function.is_declaration() {
            continue;
        }
        let name = function.name();
        let target = if let Some(f) = library_function(&name).or_else(|| library_intrinsic(&name)) {
            device_name(f)?
        } else if let Some(intrinsic) = exact_function(&name) {
            intrinsic
        } else {
            continue;
        };
        replace_calls(module, function, |ir, call| {
            let ty = call.called_type();
            let args: Vec<_> = (0..call.argument_count()).map(|a| call.operand(a)).collect();
            let f = module.declare(&target, ty);
            for a in ["nounwind", "willreturn", "memory"] {
                f.add_attribute(FUNCTION, a, 0);
            }
            let new = ir.call_function(f, &args);
            if call.may_have_fast_math_flags() {
                new.set_fast_math_flags(call.fast_math_flags());
            }
            Ok(new)
        })?;
    }
    if !needed.is_empty() {
        // Statements load and compute the same numbers each for itself. A function that is inlined has
        // branches, and what is behind a branch twice stays there twice.
        machine.run(module, SHARED_CALLS)?;
    }
    if sines::may_join(module) {
        needed.extend(sines::join(module).map(String::from));
    }
    match library {
        Some(MathLibrary::Libdevice(path) | MathLibrary::Libclc(path)) if !needed.is_empty() => {
            link_library(module, &path, &needed)
        }
        _ => Ok(()),
    }
}

/// The back end expands `frem` as `x - trunc(x / y) * y`, which is inexact; C's `fmod` is exact.
fn lower_frem(module: Module, device_name: &mut impl FnMut(LibraryFunction) -> Result<String>) -> Result<()> {
    let ir = Ir::new(module.context());
    for i in module.functions().into_iter().flat_map(Value::instructions) {
        if i.opcode() != LLVMOpcode::LLVMFRem {
            continue;
        }
        let ty = i.ty();
        let precision = match ty.kind() {
            LLVMTypeKind::LLVMFloatTypeKind => Precision::Single,
            LLVMTypeKind::LLVMDoubleTypeKind => Precision::Double,
            _ => return unsupported("the remainder of half-precision numbers"),
        };
        let name = device_name(LibraryFunction::fmod(precision))?;
        ir.before(i);
        let f = module.declare(&name, ty.function(&[ty, ty]));
        let call = ir.call_function(f, &[i.operand(0), i.operand(1)]);
        // SAFETY: the handle is not used any more.
        unsafe { i.replace(call) };
    }

    Ok(())
}

/// Links the needed functions of a bitcode library, and what they need, and nothing else.
fn link_library(module: Module, path: &Path, needed: &BTreeSet<String>) -> Result<()> {
    // SAFETY: functions of the library are known by name alone.
    if !unsafe { pollyrs_llvm_shim::link_needed(module, &std::fs::read(path)?) } {
        return Err(CodegenError::Llvm(format!("{} cannot be linked", path.display())));
    }
    for name in needed {
        let defined = module.function(name).is_some_and(|f| !f.is_declaration());
        if !defined {
            return unsupported(format!("{name}: not in {}", path.display()));
        }
    }
    Ok(())
}

/// Everything but the kernels becomes internal, so that the optimizer inlines and drops it.
fn internalize(module: Module, km: &KernelModule) {
    for f in module.functions() {
        let name = f.name();
        if !f.is_declaration() && !km.kernels.iter().any(|k| k.name == name) {
            f.set_linkage(LLVMLinkage::LLVMInternalLinkage);
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

//! LLVM's NVPTX back end: optimization and text of a prepared module, on any thread.
//!
//! # Invariants
//! - A [`DeviceModule`] owns bytes only; each use of it has an LLVM context of its own, so that many may be
//!   lowered at once.
//! - The text is a pure function of those bytes and of architecture and PTX version.

use crate::device::library::{PtxOptions, check_calls};
use crate::ir::builder::{Ir, c_string};
use crate::ir::error::{CodegenError, Result};
use crate::ir::llvm::*;
use crate::ops::{load_hoisting, sum_prefetch, together, walks};
use inkwell::llvm_sys::bit_reader::LLVMParseBitcodeInContext2;
use inkwell::llvm_sys::bit_writer::LLVMWriteBitcodeToMemoryBuffer;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::target_machine::*;
use inkwell::llvm_sys::{LLVMLinkage, LLVMOpcode};
use inkwell::targets::{InitializationConfig, Target};
use std::ffi::CStr;

/// From so many bytes of bitcode on, kernels are unrolled tiles. The back end then numbers values once less,
/// which saves a seventh of its time: the tiles of a product of matrices have the same code, a plain kernel
/// beside them has slightly other code.
const UNROLLED: usize = 32 << 10;

/// LLVM's passes for kernels without functions of a library: those of `default<O3>`, in its order, that
/// change the text of any kernel of the benchmark sets or of the tests' programs. Clang's pipeline is for
/// code that people write; a kernel is one function without calls, vectors for the host or memory of its own,
/// from expressions of isl and statements that are canonical already.
const KERNEL_PASSES: &str = "nvvm-reflect,\
    function(nvvm-intr-range,infer-address-spaces,simplifycfg<speculate-blocks>,sroa<modify-cfg>,early-cse),\
    ipsccp,globalopt,\
    function(COMBINE,simplifycfg<switch-range-to-icmp>,early-cse<memssa>,speculative-execution<only-if-divergent-target>,\
        correlated-propagation,COMBINE,simplifycfg<switch-range-to-icmp>,reassociate,\
        loop-mssa(licm<no-allowspeculation>,loop-rotate,licm),simplifycfg<switch-range-to-icmp>,COMBINE,loop(indvars,pollyrs-unroll-full),gvn,sccp,\
        COMBINE,correlated-propagation,adce,dse,loop-mssa(licm)),\
    function(infer-alignment,loop-load-elim,\
        simplifycfg<forward-switch-cond;switch-range-to-icmp;switch-to-arithmetic;switch-to-lookup;no-keep-loops;\
            hoist-common-insts;sink-common-insts>,\
        slp-vectorizer,loop-unroll<O3>,infer-alignment,COMBINE,loop-mssa(licm),div-rem-pairs,\
        simplifycfg<switch-range-to-icmp;switch-to-arithmetic;hoist-loads-stores-with-cond-faulting;speculate-unpredictables>)";

/// One round, as clang asks for; `COMBINE` in [`KERNEL_PASSES`].
const COMBINE: &str = "instcombine<max-iterations=1;no-verify-fixpoint>";

/// The back end splits constants off addresses itself, and looks for strength to reduce with all copies of
/// the common parts still there: what it asks about each is quadratic. Done before, and with the copies gone,
/// its text is the same and half of that pass's time is saved; of tiles only, as the back end's value
/// numbering, which others get, finds other copies then.
const SPLIT_ADDRESSES: &str = "function(separate-const-offset-from-gep,early-cse)";

/// For functions of [`walks`].
const INLINED: &str = "always-inline,globaldce";

/// What inlining, and whatever comes of it, needs.
const LIBRARY_PASSES: &str = "function(infer-address-spaces),default<O3>";

/// Kernels that only have to be optimized and selected; made by [`prepare_ptx`](crate::prepare_ptx).
#[derive(Clone, Debug)]
pub struct DeviceModule {
    bitcode: Bitcode,
    alike: Bitcode,
    arch: u32,
    ptx_version: Option<u32>,
}

impl DeviceModule {
    /// `kernels`: the names of those that are in the module, each once.
    pub(crate) fn new(module: &OwnedModule, options: &PtxOptions, kernels: &[String]) -> DeviceModule {
        module.get().set_source_name("");
        let names: Vec<(String, String)> = kernels
            .iter()
            .enumerate()
            .flat_map(|(i, name)| {
                ["", "_shared"].map(|end| (format!("{name}{end}"), format!("pollyrs.{i}{end}")))
            })
            .collect();
        names.iter().for_each(|(own, neutral)| rename(module.get(), own, neutral));
        let alike = Bitcode::of(module);
        names.iter().for_each(|(own, neutral)| rename(module.get(), neutral, own));
        DeviceModule {
            bitcode: Bitcode::of(module),
            alike,
            arch: options.arch,
            ptx_version: options.ptx_version,
        }
    }

    /// The bytes with kernels under neutral names: the same for kernels that differ in nothing else.
    pub fn alike(&self) -> &[u8] {
        &self.alike.0
    }

    /// Bytes of bitcode: what it costs to compile is about proportional.
    pub fn size(&self) -> usize {
        self.bitcode.0.len()
    }

    /// The bytes, and with what they are compiled: all that the text depends on, but for this crate and LLVM.
    pub fn identity(&self) -> (&[u8], String) {
        (&self.bitcode.0, format!("sm_{} ptx {:?}", self.arch, self.ptx_version))
    }

    /// The text, without a trailing NUL.
    ///
    /// # Errors
    /// [`CodegenError::Llvm`] and [`CodegenError::Unsupported`] where the optimizer made what the back end
    /// does not know.
    pub fn ptx(&self) -> Result<String> {
        let options = PtxOptions { arch: self.arch, ptx_version: self.ptx_version, ..Default::default() };
        let unrolled = self.size() >= UNROLLED;
        let machine = Machine::with_level(
            &options,
            match unrolled {
                false => LLVMCodeGenOptLevel::LLVMCodeGenLevelAggressive,
                true => LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
            },
        )?;
        let context = OwnedContext::new();
        let module = parse_bitcode(context.0, &self.bitcode)?;
        machine.optimize(module.get())?;
        load_hoisting::gather_before_divisions(module.get());
        together::to_ptx(module.get())?;
        hide_extensions(module.get());
        load_hoisting::gather(module.get());
        sum_prefetch::load(module.get());
        if walks::join(module.get()) {
            machine.run(module.get(), INLINED)?;
        }
        check_calls(module.get())?;
        if unrolled {
            machine.run(module.get(), SPLIT_ADDRESSES)?;
        }
        machine.emit(module.get())
    }
}

/// Gives a function or variable another name, if there is one with this.
fn rename(module: Module, from: &str, to: &str) {
    [module.function(from), module.global(from)].into_iter().flatten().for_each(|value| value.set_name(to));
}

/// An LLVM context that modules are dropped before.
struct OwnedContext(Context);

impl OwnedContext {
    fn new() -> OwnedContext {
        // SAFETY: nothing is asked of the caller.
        OwnedContext(unsafe { Context::new(LLVMContextCreate()) })
    }
}

impl Drop for OwnedContext {
    fn drop(&mut self) {
        // SAFETY: ours, and not used afterwards.
        unsafe { LLVMContextDispose(self.0.raw()) };
    }
}

/// The bytes of a module.
#[derive(Clone, Debug)]
pub(crate) struct Bitcode(Vec<u8>);

impl Bitcode {
    fn of(module: &OwnedModule) -> Bitcode {
        // SAFETY: live module; the buffer is ours and copied before it goes.
        unsafe {
            let buffer = LLVMWriteBitcodeToMemoryBuffer(module.get().raw());
            let bytes =
                std::slice::from_raw_parts(LLVMGetBufferStart(buffer).cast(), LLVMGetBufferSize(buffer));
            let copy = bytes.to_vec();
            LLVMDisposeMemoryBuffer(buffer);
            Bitcode(copy)
        }
    }
}

/// A module in `context`, which has to outlive it.
pub(crate) fn parse_bitcode(context: Context, bitcode: &Bitcode) -> Result<OwnedModule> {
    // SAFETY: live context; the bytes outlive the buffer, which is disposed of after parsing; the module is
    // ours.
    unsafe {
        let buffer = LLVMCreateMemoryBufferWithMemoryRange(
            bitcode.0.as_ptr().cast(),
            bitcode.0.len(),
            c"kernels".as_ptr(),
            0,
        );
        let mut module = std::ptr::null_mut();
        let failed = LLVMParseBitcodeInContext2(context.raw(), buffer, &mut module) != 0;
        LLVMDisposeMemoryBuffer(buffer);
        if failed {
            return Err(CodegenError::Llvm("not LLVM bitcode".into()));
        }
        Ok(OwnedModule::new(Module::new(module)))
    }
}

/// LLVM's NVPTX target machine.
pub(crate) struct Machine(LLVMTargetMachineRef);

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: ours, and not used afterwards.
        unsafe { LLVMDisposeTargetMachine(self.0) };
    }
}

const TRIPLE: &CStr = c"nvptx64-nvidia-cuda";

impl Machine {
    pub fn new(options: &PtxOptions) -> Result<Machine> {
        Machine::with_level(options, LLVMCodeGenOptLevel::LLVMCodeGenLevelAggressive)
    }

    fn with_level(options: &PtxOptions, level: LLVMCodeGenOptLevel) -> Result<Machine> {
        // Guarded by a lock; the same registration twice is harmless.
        Target::initialize_nvptx(&InitializationConfig {
            asm_parser: false,
            asm_printer: true,
            base: true,
            disassembler: false,
            info: true,
            machine_code: true,
        });
        let cpu = c_string(&format!("sm_{}", options.arch));
        let features = c_string(&options.ptx_version.map(|v| format!("+ptx{v}")).unwrap_or_default());
        // SAFETY: NUL-terminated strings; the target is LLVM's own static.
        unsafe {
            let mut target = std::ptr::null_mut();
            let mut message = std::ptr::null_mut();
            if LLVMGetTargetFromTriple(TRIPLE.as_ptr(), &mut target, &mut message) != 0 {
                return Err(CodegenError::Llvm(pollyrs_llvm_shim::ir::take_message(message)));
            }
            let machine = LLVMCreateTargetMachine(
                target,
                TRIPLE.as_ptr(),
                cpu.as_ptr(),
                features.as_ptr(),
                level,
                LLVMRelocMode::LLVMRelocDefault,
                LLVMCodeModel::LLVMCodeModelDefault,
            );
            if machine.is_null() {
                return Err(CodegenError::Llvm("no NVPTX target machine".into()));
            }
            Ok(Machine(machine))
        }
    }

    /// Gives a module this machine's triple and data layout.
    pub fn adopt(&self, module: Module) {
        // SAFETY: live module and machine.
        unsafe {
            LLVMSetTarget(module.raw(), TRIPLE.as_ptr());
            let layout = LLVMCreateTargetDataLayout(self.0);
            inkwell::llvm_sys::target::LLVMSetModuleDataLayout(module.raw(), layout);
            inkwell::llvm_sys::target::LLVMDisposeTargetData(layout);
        }
    }

    fn optimize(&self, module: Module) -> Result<()> {
        // SAFETY: live functions.
        let of_library = |f: &Value| !f.is_declaration() && f.linkage() == LLVMLinkage::LLVMInternalLinkage;
        let passes = match module.functions().iter().any(of_library) {
            true => LIBRARY_PASSES.to_string(),
            false => KERNEL_PASSES.replace("COMBINE", COMBINE),
        };
        self.run(module, &passes)
    }

    pub fn run(&self, module: Module, passes: &str) -> Result<()> {
        // SAFETY: live machine and module, which has a context of its own.
        unsafe { pollyrs_llvm_shim::optimize(module, self.0.cast(), passes) }
            .map_err(|e| CodegenError::Llvm(e.to_string()))
    }

    fn emit(&self, module: Module) -> Result<String> {
        // SAFETY: live module and machine; the buffer is ours and copied before it goes.
        unsafe {
            let mut message = std::ptr::null_mut();
            let mut buffer = std::ptr::null_mut();
            let kind = LLVMCodeGenFileType::LLVMAssemblyFile;
            if LLVMTargetMachineEmitToMemoryBuffer(self.0, module.raw(), kind, &mut message, &mut buffer) != 0
            {
                return Err(CodegenError::Llvm(pollyrs_llvm_shim::ir::take_message(message)));
            }
            let bytes =
                std::slice::from_raw_parts(LLVMGetBufferStart(buffer).cast(), LLVMGetBufferSize(buffer));
            let text = String::from_utf8_lossy(bytes).trim_end_matches('\0').to_string();
            LLVMDisposeMemoryBuffer(buffer);
            Ok(text)
        }
    }
}

/// Hides extensions of narrow values that may have wrapped from straight-line strength reduction, a pass of
/// the back end that (LLVM 22.1, `opt -passes=slsr`) takes `sext (x + c)` for `sext x` and a constant whether
/// the sum wraps or not, and `xor i1 x, true` for such a sum: of `q[u > 0 ? i : i - 1]` beside
/// `q[u > 0 ? i - 1 : i]` it made `q[i - 2]`, where `u > 0`. Values of 32 bits are indices that were shown
/// not to wrap.
fn hide_extensions(module: Module) {
    let ir = Ir::new(module.context());
    for i in module.functions().into_iter().flat_map(Value::instructions) {
        let signed = match i.opcode() {
            LLVMOpcode::LLVMSExt => true,
            LLVMOpcode::LLVMZExt => false,
            _ => continue,
        };
        let (from, ty) = (i.operand(0), i.ty());
        let (Some(narrow), Some(width)) = (from.ty().int_width(), ty.int_width()) else { continue };
        if !from.is_instruction() || narrow >= 32 {
            continue;
        }
        let wraps = match from.opcode() {
            LLVMOpcode::LLVMXor => true,
            LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMSub | LLVMOpcode::LLVMMul | LLVMOpcode::LLVMShl => {
                let (with_signs, without) = from.no_wrap();
                !(if signed { with_signs } else { without })
            }
            _ => false,
        };
        if !wraps {
            continue;
        }
        if narrow == 1 {
            let one = if signed { ty.all_ones() } else { ty.int(1, false) };
            ir.before(i);
            let chosen = ir.select(from, one, ty.zero());
            // SAFETY: the handle is not used any more.
            unsafe { i.replace(chosen) };
            continue;
        }
        let constraints = match width {
            16 => "=h,0",
            32 => "=r,0",
            64 => "=l,0",
            _ => continue,
        };
        ir.before(i.behind());
        let hidden = ir.assembly(ty.function(&[ty]), "", constraints, false, &[i]);
        i.replace_uses(hidden);
        hidden.set_operand(0, i);
    }
}

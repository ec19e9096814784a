//! SCoPs and mappings by hand: bodies from IR text, sets from isl text; and a device that runs emulated
//! kernels in this process.

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::targets::{InitializationConfig, Target};
use pollyrs_codegen_ptx::*;
use pollyrs_isl as isl;
use pollyrs_llvm_shim::ir;
use pollyrs_schedule::{BlockDim, GridDim, MappedKernel, MappedScop, Mode, Placement};
use pollyrs_scop::*;
use std::ffi::c_void;

/// A handle of a value or block of the test's module, or of nothing.
fn handle(address: usize) -> ValueHandle {
    // SAFETY: the module outlives the SCoP.
    unsafe { ValueHandle::new(address) }
}

pub struct Fixture<'c> {
    pub module: Module<'c>,
    pub scop: Scop,
    pub placement: Vec<Placement>,
    pub kernels: Vec<MappedKernel>,
}

impl<'c> Fixture<'c> {
    /// A SCoP in the function `f` of `ir`, with these parameters.
    pub fn new(context: &'c Context, ir: &str, params: &[&str]) -> Fixture<'c> {
        let buffer = MemoryBuffer::create_from_memory_range_copy(ir.as_bytes(), "ir");
        let module = context.create_module_from_ir(buffer).unwrap();
        let ctx = isl::Context::new();
        // SAFETY: a live module.
        let entry = unsafe { ir::Module::new(module.as_mut_ptr()) }.function("f").unwrap().entry();
        let entry = handle(entry.address());
        let params = params.iter().map(|p| Param {
            name: p.to_string(),
            display: p.to_string(),
            bits: 64,
            // SAFETY: nobody looks.
            scev: unsafe { ScevHandle::new(0) },
            inspected: false,
        });
        let scop = Scop {
            name: "f.1".into(),
            function: "f".into(),
            location: None,
            params: params.collect(),
            context: isl::Set::read(&ctx, "{ : }").unwrap(),
            assumptions: vec![],
            ranges: vec![],
            invariants: vec![],
            arrays: vec![],
            statements: vec![],
            schedule: isl::Schedule::from_domain(isl::UnionSet::empty(&ctx).unwrap()).unwrap(),
            region: Region { entry, exit: entry, blocks: vec![] },
            alias_checks: vec![],
            long: false,
            in_place: vec![],
            invariant_loads: vec![],
            inspections: vec![],
            roundings: vec![],
            appends: vec![],
            promised: vec![],
            reordered: vec![],
            loops: vec![],
            ctx,
        };
        Fixture { module, scop, placement: vec![], kernels: vec![] }
    }

    /// An argument or instruction of `f` by name; `store N` is the N-th store.
    pub fn value(&self, name: &str) -> ValueHandle {
        let f = self.ir().function("f").unwrap();
        let stores = f.instructions().into_iter().filter(|i| i.is_store()).enumerate();
        let stores = stores.map(|(n, i)| (format!("store {n}"), i));
        let named = f.params().into_iter().chain(f.instructions()).map(|v| (v.name(), v));
        let found = stores.chain(named).find(|(own, _)| own == name);
        handle(found.unwrap_or_else(|| panic!("no value {name}")).1.address())
    }

    /// The module, which lives as long as the fixture.
    pub fn ir(&self) -> ir::Module {
        // SAFETY: a live module; nothing of it is used behind the fixture.
        unsafe { ir::Module::new(self.module.as_mut_ptr()) }
    }

    /// An array of memory, `sizes` as isl text (`""` for none), or a scalar cell if `kind` says so.
    pub fn array(&mut self, name: &str, elem: ElemType, sizes: &[&str], private: bool) -> ArrayId {
        let size = |s: &&str| (!s.is_empty()).then(|| isl::PwAff::read(&self.scop.ctx, s).unwrap());
        let kind = if private {
            ArrayKind::Scalar { value: handle(0), live_out: false }
        } else {
            ArrayKind::Memory { base: handle(0) }
        };
        let sizes = sizes.iter().map(size).collect();
        self.scop.arrays.push(Array {
            name: name.into(),
            display: name.into(),
            elem,
            sizes,
            kind,
            shift: None,
            apart: None,
        });
        self.placement.push(if private { Placement::Private } else { Placement::Global });
        ArrayId(self.scop.arrays.len() - 1)
    }

    pub fn invariant(&mut self, name: &str) {
        let value = self.value(name);
        self.scop.invariants.push(Invariant { value, display: name.into() });
    }

    /// Adds a statement; accesses are `(kind, array, isl text, value)`.
    pub fn statement(
        &mut self,
        domain: &str,
        accesses: &[(AccessKind, ArrayId, &str, AccessValue)],
        body: &[&str],
        synthesized: &[(&str, &str)],
    ) {
        let ctx = self.scop.ctx.clone();
        let domain = isl::Set::read(&ctx, domain).unwrap();
        let access = |(kind, array, text, value): &(AccessKind, ArrayId, &str, AccessValue)| {
            Access::new(*kind, *array, isl::Map::read(&ctx, text).unwrap(), *value)
        };
        let statement = Statement {
            name: domain.tuple_name().unwrap().unwrap(),
            domain,
            accesses: accesses.iter().map(access).collect(),
            body: body.iter().map(|n| self.value(n)).collect(),
            synthesized: synthesized
                .iter()
                .map(|(n, f)| Synthesized {
                    value: self.value(n),
                    function: isl::PwAff::read(&ctx, f).unwrap(),
                })
                .collect(),
            reduction: None,
            updates: Vec::new(),
            running: None,
            subregion: None,
            location: None,
        };
        self.scop.statements.push(statement);
    }

    /// Adds a kernel; `grid` holds (parameter, lower, count).
    pub fn kernel(
        &mut self,
        host_params: &[&str],
        grid: &[(&str, &str, &str)],
        block: &[(&str, u32)],
        context: &str,
        schedule: &str,
    ) {
        let ctx = &self.scop.ctx;
        let schedule = isl::Schedule::read(ctx, schedule).unwrap();
        let empty = isl::UnionMap::empty(ctx).unwrap();
        let dim = |(p, l, c): &(&str, &str, &str)| GridDim {
            param: p.to_string(),
            lower: isl::PwAff::read(ctx, l).unwrap(),
            count: isl::PwAff::read(ctx, c).unwrap(),
        };
        self.kernels.push(MappedKernel {
            name: format!("K{}", self.kernels.len()),
            host_params: host_params.iter().map(|s| s.to_string()).collect(),
            domain: schedule.domain().unwrap(),
            grid: grid.iter().map(dim).collect(),
            block: block.iter().map(|(p, size)| BlockDim { param: p.to_string(), size: *size }).collect(),
            tile_map: empty.clone(),
            thread_map: empty,
            context: isl::Set::read(ctx, context).unwrap(),
            schedule,
            mode: Mode::Points,
            promotions: vec![],
            hoistable: Vec::new(),
        });
    }

    pub fn build(&self) -> Result<KernelModule> {
        let host = isl::Schedule::from_domain(isl::UnionSet::empty(&self.scop.ctx).unwrap()).unwrap();
        let mapped = MappedScop {
            kernels: self.kernels.clone(),
            host,
            placement: self.placement.clone(),
            choices: vec![],
            nested: vec![],
            late: None,
            divides: false,
        };
        build_kernels(self.ir(), &self.scop, &mapped)
    }
}

#[repr(C)]
struct EmuThread {
    block: u64,
    thread: [u32; 3],
    reserved: u32,
    shared: *mut c_void,
    scheduler: *mut c_void,
}

/// Runs one launch of kernel `index`: every thread of every block, one after the other (so without barriers).
/// `args` are the slots in the kernel's order.
pub fn launch(fixture: &Fixture, km: &KernelModule, index: usize, blocks: u64, args: &[u64]) {
    Target::initialize_native(&InitializationConfig::default()).unwrap();
    // The engine takes the module: a copy.
    let host = fixture.module.clone();
    // SAFETY: a copy of the module for which the kernels were built, in the same context.
    let functions = unsafe { lower_emulated(km, ir::Module::new(host.as_mut_ptr()), false) }.unwrap();
    // The engine finds external functions only.
    functions[index].set_linkage(inkwell::llvm_sys::LLVMLinkage::LLVMExternalLinkage);
    let name = functions[index].name();
    host.verify().unwrap();
    let engine = host.create_jit_execution_engine(OptimizationLevel::Default).unwrap();
    let address = engine.get_function_address(&name).unwrap();
    // SAFETY: the signature of PollyrsEmuKernel; the engine lives to the end of this function.
    let kernel: extern "C" fn(*const EmuThread, *const *const u64) = unsafe { std::mem::transmute(address) };
    let slots: Vec<*const u64> = args.iter().map(|a| a as *const u64).collect();
    let [x, y, z] = km.kernels()[index].block;
    for block in 0..blocks {
        for t in 0..x * y * z {
            let thread = EmuThread {
                block,
                thread: [t % x, t / x % y, t / x / y],
                reserved: 0,
                shared: std::ptr::null_mut(),
                scheduler: std::ptr::null_mut(),
            };
            kernel(&thread, slots.as_ptr());
        }
    }
}

/// A deterministic stream of numbers in -1 .. 1.
pub fn noise(seed: u64) -> impl Iterator<Item = f64> {
    let mut s = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    std::iter::repeat_with(move || {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        (s >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    })
}

/// ptxas, if this machine has one: `POLLYRS_PTXAS` or in the path.
pub fn ptxas() -> Option<std::path::PathBuf> {
    let named = std::env::var_os("POLLYRS_PTXAS").map(std::path::PathBuf::from);
    let found = std::env::var_os("PATH")
        .and_then(|p| std::env::split_paths(&p).map(|d| d.join("ptxas")).find(|p| p.is_file()));
    named.or(found)
}

/// The argument that a kernel divides by an extent of its grid with.
pub fn factor(count: usize) -> u64 {
    (i64::MAX as u64 / count.max(1) as u64).wrapping_add(1)
}

//! The constants that describe a SCoP to the run-time library: `PollyrsScop`, `PollyrsKernel` and
//! `PollyrsImage` of `runtime/include/pollyrs_rt.h`, as private globals of the host module.

use crate::CodegenError;
use crate::host::abi::{
    KERNEL_CHECKED, KERNEL_GRAPH, KERNEL_HAS_BARRIER, KERNEL_LATE, KERNEL_PLAIN_SHIFT, SCOP_APART, VERSION,
};
use crate::host::checks::are_apart;
use crate::host::plan::HostPlan;
use crate::ir::builder::{Ir, c_string};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMLinkage, LLVMUnnamedAddr};
use pollyrs_scop::ArrayId;

/// What a descriptor says beside the plan.
pub struct Said<'s> {
    /// A [`cache_slot`].
    pub cache: LLVMValueRef,
    /// Texts of the checks.
    pub reasons: &'s [String],
    /// Of the arrays on the device.
    pub array_names: &'s [String],
    /// The position of an array among those.
    pub array_index: &'s dyn Fn(ArrayId) -> Option<u32>,
}

/// Adds the descriptor of the plan's SCoP to `module` and returns its address.
pub fn build(
    module: LLVMModuleRef,
    ir: &Ir,
    plan: &HostPlan<'_>,
    said: &Said<'_>,
) -> Result<LLVMValueRef, CodegenError> {
    let Said { cache, reasons, array_names, array_index } = *said;
    let g = Globals { module, ir };
    let mut kernels = Vec::new();
    for (i, k) in plan.kernels.iter().enumerate() {
        let emulated = plan.emulated.map_or(ir.null(), |e| e[i]);
        let mut indices = Vec::new();
        for a in &k.arrays {
            let at = array_index(*a).ok_or(CodegenError::Internal("a kernel uses a private array".into()))?;
            indices.push(ir.int32(at));
        }
        let mut flags = if k.has_barrier { KERNEL_HAS_BARRIER } else { 0 };
        if plan.checked {
            flags |= KERNEL_CHECKED;
        }
        if k.graph {
            flags |= KERNEL_GRAPH;
        }
        if k.late {
            flags |= KERNEL_LATE;
        }
        if k.plain_shared_bytes < k.dynamic_shared_bytes() {
            flags |= k.plain_shared_bytes.div_ceil(1024) << KERNEL_PLAIN_SHIFT;
        }
        let block: Vec<LLVMValueRef> = k.block.iter().map(|b| ir.int32(*b)).collect();
        kernels.push(g.structure(&[
            g.string(k.entry.as_ref().unwrap_or(&k.name)),
            emulated,
            ir.int32(flags),
            ir.int32(k.shared_bytes + k.exchange_bytes),
            block[0],
            block[1],
            block[2],
            ir.int32(indices.len() as u32),
            g.array(&indices, ir.i32_type()),
            ir.int32(k.scalars.len() as u32),
            ir.int32(k.dynamic_shared_bytes()),
        ]));
    }
    let images: Vec<LLVMValueRef> = plan
        .images
        .iter()
        .map(|i| {
            g.structure(&[
                ir.int32(i.kind as u32),
                ir.int32(i.arch),
                g.bytes(&i.data),
                ir.int(i.data.len() as i64),
            ])
        })
        .collect();
    let texts = |list: &[String]| {
        let list: Vec<LLVMValueRef> = list.iter().map(|s| g.string(s)).collect();
        g.array(&list, ir.ptr_type())
    };
    let at = plan.scop.location.as_ref().map_or(String::new(), |l| l.to_string());
    let scop = g.structure(&[
        ir.int32(VERSION),
        ir.int32(if are_apart(plan.scop)? { SCOP_APART } else { 0 }),
        g.string(&plan.scop.name),
        g.string(&at),
        ir.int32(kernels.len() as u32),
        ir.int32(images.len() as u32),
        g.structures(&kernels),
        g.structures(&images),
        ir.int32(reasons.len() as u32),
        ir.int32(array_names.len() as u32),
        texts(reasons),
        texts(array_names),
        cache,
        // Behind the last field, for the linker.
        g.version(),
    ]);
    Ok(g.constant(scop, "pollyrs.scop"))
}

/// 8 zero bytes of a SCoP's that the run-time library may write.
pub fn cache_slot(module: LLVMModuleRef, ir: &Ir) -> LLVMValueRef {
    // SAFETY: a live module; LLVM makes the name unique.
    unsafe {
        let ty = ir.i64_type();
        let g = LLVMAddGlobal(module, ty, c"pollyrs.cache".as_ptr());
        LLVMSetInitializer(g, LLVMConstNull(ty));
        LLVMSetLinkage(g, LLVMLinkage::LLVMPrivateLinkage);
        g
    }
}

struct Globals<'a> {
    module: LLVMModuleRef,
    ir: &'a Ir,
}

impl Globals<'_> {
    /// What only a run-time library has that knows this version of the ABI.
    fn version(&self) -> LLVMValueRef {
        let name = c_string(&format!("pollyrs_rt_abi_{VERSION}"));
        // SAFETY: a live module.
        unsafe {
            let known = LLVMGetNamedGlobal(self.module, name.as_ptr());
            if !known.is_null() {
                return known;
            }
            let g = LLVMAddGlobal(self.module, self.ir.i32_type(), name.as_ptr());
            LLVMSetGlobalConstant(g, 1);
            g
        }
    }

    /// A private constant with this initialiser.
    fn constant(&self, init: LLVMValueRef, name: &str) -> LLVMValueRef {
        // SAFETY: a constant of this module's context; LLVM makes the name unique.
        unsafe {
            let g = LLVMAddGlobal(self.module, LLVMTypeOf(init), c_string(name).as_ptr());
            LLVMSetInitializer(g, init);
            LLVMSetGlobalConstant(g, 1);
            LLVMSetLinkage(g, LLVMLinkage::LLVMPrivateLinkage);
            LLVMSetUnnamedAddress(g, LLVMUnnamedAddr::LLVMGlobalUnnamedAddr);
            g
        }
    }

    fn structure(&self, fields: &[LLVMValueRef]) -> LLVMValueRef {
        let mut fields = fields.to_vec();
        // SAFETY: constants of this context.
        unsafe { LLVMConstStructInContext(self.ir.ctx, fields.as_mut_ptr(), fields.len() as u32, 0) }
    }

    /// The address of an array of these; null if empty.
    fn array(&self, items: &[LLVMValueRef], ty: LLVMTypeRef) -> LLVMValueRef {
        if items.is_empty() {
            return self.ir.null();
        }
        let mut items = items.to_vec();
        // SAFETY: constants of type `ty`.
        let init = unsafe { LLVMConstArray2(ty, items.as_mut_ptr(), items.len() as u64) };
        self.constant(init, "pollyrs.list")
    }

    fn structures(&self, items: &[LLVMValueRef]) -> LLVMValueRef {
        match items.first() {
            None => self.ir.null(),
            // SAFETY: a live constant.
            Some(first) => self.array(items, unsafe { LLVMTypeOf(*first) }),
        }
    }

    /// The address of these bytes and a NUL.
    fn bytes(&self, data: &[u8]) -> LLVMValueRef {
        // SAFETY: the buffer lives through the call, which copies it.
        let init = unsafe { LLVMConstStringInContext2(self.ir.ctx, data.as_ptr().cast(), data.len(), 0) };
        self.constant(init, "pollyrs.data")
    }

    fn string(&self, text: &str) -> LLVMValueRef {
        self.bytes(c_string(text).to_bytes())
    }
}

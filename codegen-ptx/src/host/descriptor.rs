//! The constants that describe a SCoP to the run-time library: `PollyrsScop`, `PollyrsKernel` and
//! `PollyrsImage` of `runtime/include/pollyrs_rt.h`, as private globals of the host module.

use crate::CodegenError;
use crate::host::abi::{
    KERNEL_CHECKED, KERNEL_GRAPH, KERNEL_HAS_BARRIER, KERNEL_LATE, KERNEL_PLAIN_SHIFT, SCOP_APART, VERSION,
};
use crate::host::checks::are_apart;
use crate::host::plan::HostPlan;
use crate::ir::builder::{Ir, c_string};
use crate::ir::llvm::*;
use inkwell::llvm_sys::LLVMLinkage;
use pollyrs_scop::ArrayId;

/// What a descriptor says beside the plan.
pub struct Said<'s> {
    /// A [`cache_slot`].
    pub cache: Value,
    /// Texts of the checks.
    pub reasons: &'s [String],
    /// Of the arrays on the device.
    pub array_names: &'s [String],
    /// The position of an array among those.
    pub array_index: &'s dyn Fn(ArrayId) -> Option<u32>,
}

/// Adds the descriptor of the plan's SCoP to `module` and returns its address.
pub fn build(module: Module, ir: &Ir, plan: &HostPlan<'_>, said: &Said<'_>) -> Result<Value, CodegenError> {
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
        let block: Vec<Value> = k.block.iter().map(|b| ir.int32(*b)).collect();
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
    let images: Vec<Value> = plan
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
        let list: Vec<Value> = list.iter().map(|s| g.string(s)).collect();
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
pub fn cache_slot(module: Module, ir: &Ir) -> Value {
    let ty = ir.i64_type();
    let g = module.add_global("pollyrs.cache", ty, 0);
    g.set_initializer(ty.zero());
    g.set_linkage(LLVMLinkage::LLVMPrivateLinkage);
    g
}

struct Globals<'a> {
    module: Module,
    ir: &'a Ir,
}

impl Globals<'_> {
    /// What only a run-time library has that knows this version of the ABI.
    fn version(&self) -> Value {
        let name = format!("pollyrs_rt_abi_{VERSION}");
        self.module.global(&name).unwrap_or_else(|| {
            let g = self.module.add_global(&name, self.ir.i32_type(), 0);
            g.set_constant(true);
            g
        })
    }

    /// A private constant with this initialiser.
    fn constant(&self, init: Value, name: &str) -> Value {
        self.module.add_private_constant(name, init)
    }

    fn structure(&self, fields: &[Value]) -> Value {
        self.ir.ctx.structure(fields)
    }

    /// The address of an array of these; null if empty.
    fn array(&self, items: &[Value], ty: Type) -> Value {
        if items.is_empty() {
            return self.ir.null();
        }
        self.constant(ty.array(items), "pollyrs.list")
    }

    fn structures(&self, items: &[Value]) -> Value {
        match items.first() {
            None => self.ir.null(),
            Some(first) => self.array(items, first.ty()),
        }
    }

    /// The address of these bytes and a NUL.
    fn bytes(&self, data: &[u8]) -> Value {
        self.constant(self.ir.ctx.text(data, true), "pollyrs.data")
    }

    fn string(&self, text: &str) -> Value {
        self.bytes(c_string(text).to_bytes())
    }
}

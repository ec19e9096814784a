//! What tiles need of a target: loads of whole vectors.
//!
//! `{ T, ... } @pollyrs.load.T.n(ptr)` loads `n` elements of an array that no one writes during the launch, aligned to their size. As an
//! ordinary load it would not survive: the optimizer splits it into elements, and merges these with the loads of the unaligned case.
//! `@pollyrs.own.T.n(ptr)` is the same for elements that only the thread itself writes, behind the load and with values made from it.

use crate::error::Result;
use crate::ir::Ir;
use crate::kernel::KernelBuilder;
use crate::llvm::*;
use crate::ptx::{find_function, replace_calls};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use pollyrs_scop::ElemType;

/// An element type's suffix in PTX, its constraint in inline assembly, and how many of it are 16 bytes.
struct Vector {
    suffix: &'static str,
    constraint: &'static str,
    width: u32,
}

/// Who writes what is loaded during a launch.
#[derive(Clone, Copy)]
enum Kind {
    /// No one.
    Constant,
    /// The thread, later.
    Own,
}

const KINDS: [Kind; 2] = [Kind::Constant, Kind::Own];

const VECTORS: [Vector; 4] = [
    Vector { suffix: "f32", constraint: "f", width: 4 },
    Vector { suffix: "f64", constraint: "d", width: 2 },
    Vector { suffix: "b32", constraint: "r", width: 4 },
    Vector { suffix: "b64", constraint: "l", width: 2 },
];

impl Vector {
    fn of(elem: ElemType) -> Option<&'static Vector> {
        let suffix = match elem {
            ElemType::F32 => "f32",
            ElemType::F64 => "f64",
            ElemType::Int(32) => "b32",
            ElemType::Int(64) => "b64",
            _ => return None,
        };
        VECTORS.iter().find(|v| v.suffix == suffix)
    }

    fn name(&self, kind: Kind) -> String {
        let kind = match kind {
            Kind::Constant => "load",
            Kind::Own => "own",
        };
        format!("pollyrs.{kind}.{}.{}", self.suffix, self.width)
    }

    fn element(&self, ir: &Ir) -> LLVMTypeRef {
        match self.suffix {
            "f32" => ir.float_type(),
            "f64" => ir.double_type(),
            "b32" => ir.i32_type(),
            _ => ir.i64_type(),
        }
    }

    fn result(&self, ir: &Ir) -> LLVMTypeRef {
        let mut fields = vec![self.element(ir); self.width as usize];
        // SAFETY: live types of one context.
        unsafe { LLVMStructTypeInContext(ir.ctx, fields.as_mut_ptr(), self.width, 0) }
    }
}

/// Whether there are vectors of an element type.
pub(super) fn has_vector(elem: ElemType) -> bool {
    Vector::of(elem).is_some()
}

/// Loads `width` elements of a constant array at a 16-byte boundary; `None` if there is no such access.
pub(super) fn load_vector(
    k: &KernelBuilder<'_>,
    elem: ElemType,
    width: u32,
    from: LLVMValueRef,
) -> Option<Vec<LLVMValueRef>> {
    load(k, Kind::Constant, elem, width, from)
}

/// Loads `width` elements that are the thread's own at a 16-byte boundary; `None` if there is no such access.
pub(super) fn load_own_vector(
    k: &KernelBuilder<'_>,
    elem: ElemType,
    width: u32,
    from: LLVMValueRef,
) -> Option<Vec<LLVMValueRef>> {
    load(k, Kind::Own, elem, width, from)
}

fn load(
    k: &KernelBuilder<'_>,
    kind: Kind,
    elem: ElemType,
    width: u32,
    from: LLVMValueRef,
) -> Option<Vec<LLVMValueRef>> {
    let v = Vector::of(elem).filter(|v| v.width == width)?;
    let f = declare(k.module, &v.name(kind), function_type(v.result(k.ir), &[k.ir.ptr_type()]));
    for a in ["nounwind", "willreturn"] {
        add_enum_attribute(k.ir.ctx, f, FUNCTION, a, 0);
    }
    let loaded = k.ir.call_function(f, &[from]);
    Some((0..width).map(|i| k.ir.field(loaded, i)).collect())
}

/// As instructions of PTX.
pub(crate) fn to_ptx(module: LLVMModuleRef) -> Result<()> {
    for (v, kind) in VECTORS.iter().flat_map(|v| KINDS.map(|kind| (v, kind))) {
        let Some(f) = find_function(module, &v.name(kind)) else { continue };
        let cache = match kind {
            Kind::Constant => ".nc",
            Kind::Own => "",
        };
        let results: Vec<_> = (0..v.width).map(|i| format!("${i}")).collect();
        let text =
            format!("ld.global{cache}.v{}.{} {{{}}}, [${}];", v.width, v.suffix, results.join(", "), v.width);
        let outputs: Vec<_> = (0..v.width).map(|_| format!("={}", v.constraint)).collect();
        let constraints = format!("{},l", outputs.join(","));
        replace_calls(module, f, |ir, call| {
            // SAFETY: a live call with one argument, a pointer to global memory.
            let global = ir.addrspace_cast(unsafe { LLVMGetOperand(call, 0) }, ir.pointer_in(1));
            let ty = function_type(v.result(ir), &[ir.i64_type()]);
            Ok(ir.assembly(ty, &text, &constraints, false, &[ir.ptr_to_int(global)]))
        })?;
    }
    Ok(())
}

/// As ordinary loads.
pub(crate) fn to_host(module: LLVMModuleRef) -> Result<()> {
    for (v, kind) in VECTORS.iter().flat_map(|v| KINDS.map(|kind| (v, kind))) {
        let Some(f) = find_function(module, &v.name(kind)) else { continue };
        replace_calls(module, f, |ir, call| {
            // SAFETY: a live call with one argument.
            let from = unsafe { LLVMGetOperand(call, 0) };
            let loaded = ir.load_aligned(v.result(ir), from, super::VECTOR_BYTES);
            Ok(loaded)
        })?;
    }
    Ok(())
}

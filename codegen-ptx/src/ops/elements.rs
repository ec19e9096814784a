//! Accesses of vectors as accesses of their elements, for the checks ([`crate::device::checked`]): of a
//! vector of two threads' values one may be undefined, and the other one used.
//!
//! A load whose users take single elements becomes their loads, and a store of a vector that was put together
//! from elements becomes theirs. Others stay.

use crate::ir::builder::{Ir, SITE};
use crate::ir::llvm::instructions;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::{LLVMABISizeOfType, LLVMGetModuleDataLayout};
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMOpcode, LLVMTypeKind};

/// Splits the accesses of a function.
pub(crate) fn split(ir: &Ir, module: LLVMModuleRef, function: LLVMValueRef) {
    // SAFETY: live instructions of the function. Those of the list are erased one by one, when nothing uses
    // them any more, and no others of the list with them.
    unsafe {
        let of = |wanted| move |i: &LLVMValueRef| LLVMGetInstructionOpcode(*i) == wanted;
        let all = instructions(function);
        let loads: Vec<_> = all.iter().copied().filter(of(LLVMOpcode::LLVMLoad)).collect();
        let stores: Vec<_> = all.into_iter().filter(of(LLVMOpcode::LLVMStore)).collect();
        loads.into_iter().for_each(|i| split_load(ir, module, i));
        stores.into_iter().for_each(|i| split_store(ir, module, i));
    }
}

/// An access of a plain vector.
struct Access {
    access: LLVMValueRef,
    address: LLVMValueRef,
    element: LLVMTypeRef,
    bytes: u64,
    align: u32,
    elements: u32,
}

impl Access {
    /// # Safety
    /// A live load or store of a value of type `ty`.
    unsafe fn new(module: LLVMModuleRef, i: LLVMValueRef, address: u32, ty: LLVMTypeRef) -> Option<Access> {
        // SAFETY: the caller's; the module has a data layout, and elements of vectors are sized.
        unsafe {
            let plain = LLVMGetVolatile(i) == 0
                && LLVMGetOrdering(i) == LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic;
            if LLVMGetTypeKind(ty) != LLVMTypeKind::LLVMVectorTypeKind || !plain {
                return None;
            }
            let element = LLVMGetElementType(ty);
            let bytes = LLVMABISizeOfType(LLVMGetModuleDataLayout(module), element);
            let elements = LLVMGetVectorSize(ty);
            // Bits are not side by side in memory as bytes are.
            let whole = LLVMABISizeOfType(LLVMGetModuleDataLayout(module), ty) == bytes * u64::from(elements);
            let (address, align) = (LLVMGetOperand(i, address), LLVMGetAlignment(i));
            whole.then_some(Access { access: i, address, element, bytes, align, elements })
        }
    }

    fn at(&self, ir: &Ir, n: u32) -> LLVMValueRef {
        ir.element(self.element, self.address, ir.int(n.into()))
    }

    /// Gives the access of element `n` the alignment and what is said about the whole.
    ///
    /// # Safety
    /// A live load or store.
    unsafe fn describe(&self, ir: &Ir, n: u32, i: LLVMValueRef) {
        let offset = u64::from(n) * self.bytes;
        let align = if n == 0 { self.align } else { self.align.min(1 << offset.trailing_zeros().min(16)) };
        // SAFETY: the caller's; the name is passed with its length.
        unsafe {
            LLVMSetAlignment(i, align);
            let site = LLVMGetMDKindIDInContext(ir.ctx, SITE.as_ptr().cast(), SITE.len() as u32);
            let note = LLVMGetMetadata(self.access, site);
            if !note.is_null() {
                LLVMSetMetadata(i, site, note);
            }
        }
    }
}

/// # Safety
/// A live load.
unsafe fn split_load(ir: &Ir, module: LLVMModuleRef, i: LLVMValueRef) {
    // SAFETY: the caller's; what is erased has no users any more.
    unsafe {
        let Some(a) = Access::new(module, i, 0, LLVMTypeOf(i)) else { return };
        let users = users(i);
        let position = |u: LLVMValueRef| {
            let takes = LLVMGetInstructionOpcode(u) == LLVMOpcode::LLVMExtractElement;
            takes.then(|| constant(LLVMGetOperand(u, 1), a.elements)).flatten()
        };
        if users.is_empty() || users.iter().any(|u| position(*u).is_none()) {
            return;
        }
        ir.before(i);
        let mut loaded = vec![None; a.elements as usize];
        for u in users {
            let Some(n) = position(u) else { continue };
            let v = *loaded[n as usize].get_or_insert_with(|| {
                let v = ir.load(a.element, a.at(ir, n));
                a.describe(ir, n, v);
                v
            });
            LLVMReplaceAllUsesWith(u, v);
            LLVMInstructionEraseFromParent(u);
        }
        LLVMInstructionEraseFromParent(i);
    }
}

/// # Safety
/// A live store.
unsafe fn split_store(ir: &Ir, module: LLVMModuleRef, i: LLVMValueRef) {
    // SAFETY: the caller's; a store has no users.
    unsafe {
        let mut whole = LLVMGetOperand(i, 0);
        let Some(a) = Access::new(module, i, 1, LLVMTypeOf(whole)) else { return };
        let mut values = vec![None; a.elements as usize];
        while !LLVMIsAInsertElementInst(whole).is_null() {
            let Some(n) = constant(LLVMGetOperand(whole, 2), a.elements) else { return };
            values[n as usize].get_or_insert(LLVMGetOperand(whole, 1));
            whole = LLVMGetOperand(whole, 0);
        }
        let Some(values) = values.into_iter().collect::<Option<Vec<_>>>() else { return };
        ir.before(i);
        for (n, v) in (0..).zip(values) {
            let s = ir.store(v, a.at(ir, n));
            a.describe(ir, n, s);
        }
        LLVMInstructionEraseFromParent(i);
    }
}

/// # Safety
/// A live value.
unsafe fn users(v: LLVMValueRef) -> Vec<LLVMValueRef> {
    // SAFETY: the caller's.
    unsafe {
        let first = LLVMGetFirstUse(v);
        let uses = std::iter::successors((!first.is_null()).then_some(first), |u| {
            let next = LLVMGetNextUse(*u);
            (!next.is_null()).then_some(next)
        });
        uses.map(|u| LLVMGetUser(u)).collect()
    }
}

/// A constant below `end`.
///
/// # Safety
/// A live value.
unsafe fn constant(v: LLVMValueRef, end: u32) -> Option<u32> {
    // SAFETY: the caller's.
    unsafe {
        if LLVMIsAConstantInt(v).is_null() {
            return None;
        }
        u32::try_from(LLVMConstIntGetZExtValue(v)).ok().filter(|n| *n < end)
    }
}

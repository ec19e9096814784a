//! Accesses of vectors as accesses of their elements, for the checks ([`crate::device::checked`]): of a
//! vector of two threads' values one may be undefined, and the other one used.
//!
//! A load whose users take single elements becomes their loads, and a store of a vector that was put together
//! from elements becomes theirs. Others stay.

use crate::ir::builder::{Ir, SITE};
use crate::ir::llvm::*;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMOpcode};

/// Splits the accesses of a function.
pub(crate) fn split(ir: &Ir, module: Module, function: Value) {
    let of = |wanted| move |i: &Value| i.opcode() == wanted;
    let all = function.instructions();
    let loads: Vec<_> = all.iter().copied().filter(of(LLVMOpcode::LLVMLoad)).collect();
    let stores: Vec<_> = all.into_iter().filter(of(LLVMOpcode::LLVMStore)).collect();
    loads.into_iter().for_each(|i| split_load(ir, module, i));
    stores.into_iter().for_each(|i| split_store(ir, module, i));
}

/// An access of a plain vector.
struct Access {
    access: Value,
    address: Value,
    element: Type,
    bytes: u64,
    align: u32,
    elements: u32,
}

impl Access {
    /// Of a load or store of a value of type `ty`, if that is a plain vector.
    fn new(module: Module, i: Value, address: u32, ty: Type) -> Option<Access> {
        let plain = !i.is_volatile() && i.ordering() == LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic;
        let (element, elements) = ty.vector().filter(|_| plain)?;
        let bytes = module.abi_size(element);
        // Bits are not side by side in memory as bytes are.
        let whole = module.abi_size(ty) == bytes * u64::from(elements);
        let (address, align) = (i.operand(address), i.alignment());
        whole.then_some(Access { access: i, address, element, bytes, align, elements })
    }

    fn at(&self, ir: &Ir, n: u32) -> Value {
        ir.element(self.element, self.address, ir.int(n.into()))
    }

    /// Gives the access of element `n` the alignment and what is said about the whole.
    fn describe(&self, ir: &Ir, n: u32, i: Value) {
        let offset = u64::from(n) * self.bytes;
        let align = if n == 0 { self.align } else { self.align.min(1 << offset.trailing_zeros().min(16)) };
        i.set_alignment(align);
        let site = ir.ctx.kind(SITE);
        let note = self.access.metadata(site);
        if note.is_some() {
            i.set_metadata(site, note);
        }
    }
}

fn split_load(ir: &Ir, module: Module, i: Value) {
    let Some(a) = Access::new(module, i, 0, i.ty()) else { return };
    let users = i.users();
    let position = |u: Value| {
        let takes = u.opcode() == LLVMOpcode::LLVMExtractElement;
        takes.then(|| constant(u.operand(1), a.elements)).flatten()
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
        // SAFETY: the handle is not used any more.
        unsafe { u.replace(v) };
    }
    // SAFETY: nothing uses it any more.
    unsafe { i.erase() };
}

fn split_store(ir: &Ir, module: Module, i: Value) {
    let mut whole = i.operand(0);
    let Some(a) = Access::new(module, i, 1, whole.ty()) else { return };
    let mut values = vec![None; a.elements as usize];
    while whole.is_insert() {
        let Some(n) = constant(whole.operand(2), a.elements) else { return };
        values[n as usize].get_or_insert(whole.operand(1));
        whole = whole.operand(0);
    }
    let Some(values) = values.into_iter().collect::<Option<Vec<_>>>() else { return };
    ir.before(i);
    for (n, v) in (0..).zip(values) {
        let s = ir.store(v, a.at(ir, n));
        a.describe(ir, n, s);
    }
    // SAFETY: nothing uses it any more.
    unsafe { i.erase() };
}

/// A constant below `end`.
fn constant(v: Value, end: u32) -> Option<u32> {
    u32::try_from(v.constant_unsigned()?).ok().filter(|n| *n < end)
}

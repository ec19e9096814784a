//! Addresses as numbers.

use crate::base::ir::{self, Op, Value};
use pollyrs_llvm_shim::{ScevExpr, ScevKind};

/// Whether `e` is an address as a number: of a pointer, or one that a pointer is made of.
pub(crate) fn is_address(e: &ScevExpr) -> bool {
    e.bits == 64 && !e.is_pointer && address_value(e).is_some()
}

/// The pointer, or the number.
pub(crate) fn address_value(e: &ScevExpr) -> Option<Value> {
    match &e.kind {
        ScevKind::PtrToInt(x) => match x.kind {
            ScevKind::Unknown(v) => Some(v),
            _ => None,
        },
        ScevKind::Unknown(v) => {
            let kind = |v: Value| ir::opcode(v);
            let made = ir::uses(*v).into_iter().any(|(user, _)| match kind(user) {
                Some(Op::LLVMIntToPtr) => true,
                Some(Op::LLVMFreeze) => {
                    ir::uses(user).iter().any(|(u, _)| kind(*u) == Some(Op::LLVMIntToPtr))
                }
                _ => false,
            });
            (made || kind(*v) == Some(Op::LLVMPtrToInt)).then_some(*v)
        }
        _ => None,
    }
}

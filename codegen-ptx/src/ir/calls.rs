//! Functions of a module and calls of them: looked up, replaced, verified.

use crate::ir::builder::Ir;
use crate::ir::error::{Result, internal};
use crate::ir::llvm::*;
use inkwell::llvm_sys::LLVMTypeKind;

/// Replaces every call of the function `name` by what `f` builds in front of it, and removes the declaration.
pub(crate) fn replace_calls(
    module: Module,
    function: Value,
    mut f: impl FnMut(&Ir, Value) -> Result<Value>,
) -> Result<()> {
    let ir = Ir::new(module.context());
    for call in function.calls() {
        ir.before(call);
        let new = f(&ir, call)?;
        if call.ty().kind() != LLVMTypeKind::LLVMVoidTypeKind {
            call.replace_uses(new);
        }
        // SAFETY: nothing uses it any more.
        unsafe { call.erase() };
    }
    if function.is_used() {
        return internal(format!("{} is used other than by calls", function.name()));
    }
    // SAFETY: nothing uses it any more.
    unsafe { function.delete_function() };
    Ok(())
}

/// What detection said of a call that may set `errno`; empty where nothing in the loop looks at it.
pub(crate) fn errno_attribute(call: Value) -> Option<String> {
    call.call_attribute(pollyrs_llvm_shim::ERRNO)
}

/// Whether the call is one that detection made pure although it may set `errno`.
pub(crate) fn may_be_set(call: Value) -> bool {
    errno_attribute(call).is_some()
}

/// Whether the call stands for a branch that leaves the loop where its condition does not hold.
pub(crate) fn is_check(call: Value) -> bool {
    call.is_call()
        && [pollyrs_llvm_shim::CHECK, pollyrs_llvm_shim::CHECK_RETURN]
            .contains(&call.callee().name().as_str())
}

/// Whether a kernel reports what the call does, in the fault cell.
pub(crate) fn is_reported(call: Value) -> bool {
    may_be_set(call) || is_check(call)
}

/// LLVM's verifier.
pub(crate) fn verify(module: Module) -> Result<()> {
    module.verify().or_else(|text| internal(format!("broken kernel module: {text}")))
}

/// Whether an instruction is a store.
pub(crate) fn is_store(i: Value) -> bool {
    i.is_store()
}

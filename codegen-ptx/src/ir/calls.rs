//! Functions of a module and calls of them: looked up, replaced, verified.

use crate::ir::builder::{Ir, c_string};
use crate::ir::error::{Result, internal};
use crate::ir::llvm::*;
use inkwell::llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMOpcode, LLVMTypeKind};

/// Replaces every call of the function `name` by what `f` builds in front of it, and removes the declaration.
pub(crate) fn replace_calls(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    mut f: impl FnMut(&Ir, LLVMValueRef) -> Result<LLVMValueRef>,
) -> Result<()> {
    // SAFETY: live module and function; a call is removed after its uses are replaced.
    unsafe {
        let ir = Ir::new(LLVMGetModuleContext(module));
        for call in calls_of(function) {
            ir.before(call);
            let new = f(&ir, call)?;
            if LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMTypeKind::LLVMVoidTypeKind {
                LLVMReplaceAllUsesWith(call, new);
            }
            LLVMInstructionEraseFromParent(call);
        }
        if !LLVMGetFirstUse(function).is_null() {
            return internal(format!("{} is used other than by calls", name_of(function)));
        }
        LLVMDeleteFunction(function);
    }
    Ok(())
}

/// The function `name`, if the module has it.
pub(crate) fn find_function(module: LLVMModuleRef, name: &str) -> Option<LLVMValueRef> {
    let name = c_string(name);
    // SAFETY: live module.
    let f = unsafe { LLVMGetNamedFunction(module, name.as_ptr()) };
    (!f.is_null()).then_some(f)
}

/// What detection said of a call that may set `errno`; empty where nothing in the loop looks at it.
pub(crate) fn errno_attribute(call: LLVMValueRef) -> Option<LLVMAttributeRef> {
    const KEY: &str = pollyrs_llvm_shim::ERRNO;
    // SAFETY: a live value; attributes are asked of calls only.
    let found = unsafe {
        if LLVMIsACallInst(call).is_null() {
            return None;
        }
        LLVMGetCallSiteStringAttribute(call, FUNCTION, KEY.as_ptr().cast(), KEY.len() as u32)
    };
    (!found.is_null()).then_some(found)
}

/// Whether the call is one that detection made pure although it may set `errno`.
pub(crate) fn may_be_set(call: LLVMValueRef) -> bool {
    errno_attribute(call).is_some()
}

/// Whether the call stands for a branch that leaves the loop where its condition does not hold.
pub(crate) fn is_check(call: LLVMValueRef) -> bool {
    // SAFETY: a live value; its callee is asked of a call only.
    let callee = unsafe {
        if LLVMIsACallInst(call).is_null() {
            return false;
        }
        LLVMGetCalledValue(call)
    };
    name_of(callee) == pollyrs_llvm_shim::CHECK
}

/// Whether a kernel reports what the call does, in the fault cell.
pub(crate) fn is_reported(call: LLVMValueRef) -> bool {
    may_be_set(call) || is_check(call)
}

/// LLVM's verifier.
pub(crate) fn verify(module: LLVMModuleRef) -> Result<()> {
    let mut message = std::ptr::null_mut();
    // SAFETY: a live module; the message is ours.
    let broken =
        unsafe { LLVMVerifyModule(module, LLVMVerifierFailureAction::LLVMReturnStatusAction, &mut message) };
    let text = take_message(message);
    if broken != 0 { internal(format!("broken kernel module: {text}")) } else { Ok(()) }
}

/// Whether an instruction is a store.
pub(crate) fn is_store(i: LLVMValueRef) -> bool {
    // SAFETY: an instruction of the host.
    unsafe { LLVMGetInstructionOpcode(i) == LLVMOpcode::LLVMStore }
}

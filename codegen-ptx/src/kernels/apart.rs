//! Accesses of different arrays do not meet: each array is an alias scope of its own (LLVM language
//! reference, "noalias and alias.scope metadata").
//!
//! Arguments of kernels whose threads pass values on at barriers are not `noalias`, since others write to
//! them. Their arrays lie apart all the same, so that the sum of a row may stay in a register although what
//! is read beside it is an array of the kernel as well.

use crate::ir::llvm::*;
use crate::kernels::arguments::Argument;
use inkwell::llvm_sys::LLVMOpcode::{LLVMLoad, LLVMStore};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;

const DOMAIN: &str = "pollyrs.arrays";

/// Gives all loads and stores of a draft's arrays their scopes. `arguments` are the draft's, in order.
pub(crate) fn apart(context: LLVMContextRef, draft: LLVMValueRef, arguments: &[Argument]) {
    let is_array = |i: &usize| matches!(arguments[*i], Argument::Array(_));
    let arrays: Vec<usize> = (0..arguments.len()).filter(is_array).collect();
    // SAFETY: live context and function; names are passed with their lengths, operands of nodes are live
    // metadata.
    unsafe {
        let text = |s: &str| LLVMMDStringInContext2(context, s.as_ptr().cast(), s.len());
        let node =
            |mut parts: Vec<LLVMMetadataRef>| LLVMMDNodeInContext2(context, parts.as_mut_ptr(), parts.len());
        let kind = |s: &str| LLVMGetMDKindIDInContext(context, s.as_ptr().cast(), s.len() as u32);
        let domain = node(vec![text(DOMAIN)]);
        let scopes: Vec<_> =
            arrays.iter().map(|i| node(vec![text(&format!("pollyrs.array.{i}")), domain])).collect();
        let (scope_kind, noalias_kind) = (kind("alias.scope"), kind("noalias"));
        let mut block = LLVMGetFirstBasicBlock(draft);
        while !block.is_null() {
            let mut i = LLVMGetFirstInstruction(block);
            while !i.is_null() {
                let at = match LLVMGetInstructionOpcode(i) {
                    LLVMLoad => Some(operand(i, 0)),
                    LLVMStore => Some(operand(i, 1)),
                    _ => None,
                };
                let own = at
                    .map(base)
                    .and_then(|b| arrays.iter().position(|a| LLVMGetParam(draft, *a as u32) == b));
                if let Some(own) = own {
                    let others = scopes.iter().enumerate().filter(|(n, _)| *n != own).map(|(_, s)| *s);
                    let set = |kind: u32, parts: Vec<LLVMMetadataRef>| {
                        LLVMSetMetadata(i, kind, LLVMMetadataAsValue(context, node(parts)));
                    };
                    set(scope_kind, vec![scopes[own]]);
                    set(noalias_kind, others.collect());
                }
                i = LLVMGetNextInstruction(i);
            }
            block = LLVMGetNextBasicBlock(block);
        }
    }
}

/// What an address is an offset of.
fn base(address: LLVMValueRef) -> LLVMValueRef {
    let mut at = address;
    // SAFETY: a live value; the first operand of an address computation is its base.
    while unsafe { !LLVMIsAGetElementPtrInst(at).is_null() } {
        at = operand(at, 0);
    }
    at
}

//! Accesses of different arrays do not meet: each array is an alias scope of its own (LLVM language
//! reference, "noalias and alias.scope metadata").
//!
//! Arguments of kernels whose threads pass values on at barriers are not `noalias`, since others write to
//! them. Their arrays lie apart all the same, so that the sum of a row may stay in a register although what
//! is read beside it is an array of the kernel as well.

use crate::ir::llvm::*;
use crate::kernels::arguments::Argument;
use inkwell::llvm_sys::LLVMOpcode::{LLVMLoad, LLVMStore};

const DOMAIN: &str = "pollyrs.arrays";

/// Gives all loads and stores of a draft's arrays their scopes. `arguments` are the draft's, in order.
pub(crate) fn apart(draft: Value, arguments: &[Argument]) {
    let is_array = |i: &usize| matches!(arguments[*i], Argument::Array(_));
    let arrays: Vec<usize> = (0..arguments.len()).filter(is_array).collect();
    let context = draft.context();
    let domain = context.node(&[context.text_node(DOMAIN)]);
    let scope = |i: &usize| context.node(&[context.text_node(&format!("pollyrs.array.{i}")), domain]);
    let scopes: Vec<_> = arrays.iter().map(scope).collect();
    let (scope_kind, noalias_kind) = (context.kind("alias.scope"), context.kind("noalias"));
    for i in draft.instructions() {
        let at = match i.opcode() {
            LLVMLoad => Some(i.operand(0)),
            LLVMStore => Some(i.operand(1)),
            _ => None,
        };
        let own = at.map(base).and_then(|b| arrays.iter().position(|a| draft.param(*a as u32) == b));
        if let Some(own) = own {
            let others = scopes.iter().enumerate().filter(|(n, _)| *n != own).map(|(_, s)| *s);
            i.set_metadata(scope_kind, Some(context.node(&[scopes[own]])));
            i.set_metadata(noalias_kind, Some(context.node(&others.collect::<Vec<_>>())));
        }
    }
}

/// What an address is an offset of.
fn base(address: Value) -> Value {
    let mut at = address;
    while at.is_gep() {
        at = at.operand(0);
    }
    at
}

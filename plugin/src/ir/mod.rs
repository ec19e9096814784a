//! What the plugin asks of functions.

pub mod callgraph;

use inkwell::llvm_sys::LLVMLinkage::LLVMAvailableExternallyLinkage;
use pollyrs_llvm_shim::ir::{Module, Value};

/// The module's function definitions, in order.
pub fn functions(module: Module) -> Vec<Value> {
    module.functions().into_iter().filter(|f| !f.is_declaration()).collect()
}

/// Whether a definition is there for inlining only.
pub fn is_copy_from_elsewhere(f: Value) -> bool {
    f.linkage() == LLVMAvailableExternallyLinkage
}

/// Whether an instruction calls a function, and says where it goes on.
pub fn is_call(instruction: Value) -> bool {
    instruction.is_call() || instruction.is_invoke()
}

/// The number of instructions of a function.
pub fn size(f: Value) -> u64 {
    f.blocks().into_iter().map(|b| b.instructions().len() as u64).sum()
}

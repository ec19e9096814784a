//! What kernels and host code ask of LLVM's IR beyond its handles: loops' hints, modules that are owned.

use inkwell::llvm_sys::core::{LLVMCloneModule, LLVMDisposeModule};
pub(crate) use pollyrs_llvm_shim::ir::{Block, Context, FUNCTION, Module, Type, Value};
use pollyrs_scop::ValueHandle;

/// What a handle of the SCoP stands for.
pub fn host_value(handle: ValueHandle) -> Value {
    // SAFETY: a handle of the SCoP is a live value of the host module (promise of whoever made it).
    unsafe { Value::new(handle.address() as *mut _) }
}

/// The handle of a value.
pub(crate) fn handle_of(value: Value) -> ValueHandle {
    // SAFETY: a live value.
    unsafe { ValueHandle::new(value.address()) }
}

/// The handle of a block.
pub fn handle_of_block(block: Block) -> ValueHandle {
    // SAFETY: a live block.
    unsafe { ValueHandle::new(block.address()) }
}

/// The block that a handle of the SCoP stands for; tests have SCoPs without any.
pub fn host_block(handle: ValueHandle) -> Option<Block> {
    // SAFETY: a handle of the SCoP is a live block of the host module (promise of whoever made it).
    unsafe { Block::maybe(handle.address() as *mut _) }
}

/// A module that is disposed of with the value.
#[derive(Debug)]
pub(crate) struct OwnedModule(Module);

impl OwnedModule {
    /// # Safety
    /// Nobody else disposes of it, and no handle of it or of its parts is used once this is dropped.
    pub unsafe fn new(module: Module) -> OwnedModule {
        OwnedModule(module)
    }

    /// # Safety
    /// No handle of the copy or of its parts is used once this is dropped.
    pub unsafe fn clone_of(module: Module) -> OwnedModule {
        // SAFETY: a live module; the copy is ours.
        OwnedModule(unsafe { Module::new(LLVMCloneModule(module.raw())) })
    }

    pub fn get(&self) -> Module {
        self.0
    }
}

impl Drop for OwnedModule {
    fn drop(&mut self) {
        // SAFETY: ours, and not used afterwards (promise of whoever made it).
        unsafe { LLVMDisposeModule(self.0.raw()) };
    }
}

/// Gives the loops of a function that end in a terminator for which `ends` holds a hint for the optimizer,
/// alone or with a value.
pub(crate) fn hint_loops(function: Value, hint: &str, value: Option<Value>, ends: impl Fn(Value) -> bool) {
    let context = function.context();
    for end in function.blocks().into_iter().filter_map(Block::terminator).filter(|end| ends(*end)) {
        let hint: Vec<Value> = [context.text_node(hint)].into_iter().chain(value).collect();
        let node = context.distinct_node(context.node(&hint));
        end.set_metadata(context.kind("llvm.loop"), Some(node));
    }
}

pub(crate) fn is_true(v: Value) -> bool {
    v.constant_unsigned() == Some(1)
}

//! Where the elements are that statements of such a kernel access.

use crate::affine::expr::ExprEmitter;
use crate::ir::builder::Ir;
use crate::ir::error::Result;
use crate::ir::llvm::*;
use crate::kernel::storage::{Element, SharedMemory, Storage, Stored};
use crate::staged::state::{KernelBuilder, Staged};
use crate::staged::{boxes, counters, groups, promotion, stores, window};

impl<'a> Storage<'a> for Staged<'a> {
    fn address(k: &mut KernelBuilder<'a>, e: &Element<'_>) -> Result<Option<Value>> {
        if let Some(at) = in_window(k, e)?.or_else(|| promotion::register(k, e.statement, e.access)) {
            return Ok(Some(at));
        }
        boxes::address(k, e)
    }

    fn counter(k: &mut KernelBuilder<'a>, e: &Element<'_>) -> Result<Option<(Value, Value)>> {
        counters::of_element(k, e)
    }

    fn is_spare(k: &KernelBuilder<'a>) -> bool {
        groups::happens(k).is_some()
    }

    fn only_stores(k: &KernelBuilder<'a>) -> bool {
        groups::only_stores(k)
    }

    fn value(
        k: &mut KernelBuilder<'a>,
        ty: Type,
        make: impl FnOnce(&Ir) -> Result<Value>,
    ) -> Result<Option<Value>> {
        groups::batched(k, ty, make)
    }

    fn finish(
        k: &mut KernelBuilder<'a>,
        emit: &ExprEmitter<'_>,
        e: &Element<'_>,
        stored: Stored<'_>,
    ) -> Result<()> {
        if in_window(k, e)?.is_none() {
            return Ok(());
        }
        let subscripts = e.subscripts()?;
        stores::from_window(k, emit, (e.array, e.statement), &subscripts, stored)
    }

    fn shared_memory(&self) -> SharedMemory {
        let bytes = self.windows.shared_bytes.max(self.boxes.shared_bytes).max(self.counters.shared_bytes);
        SharedMemory { bytes, plain_bytes: bytes, products: false }
    }
}

/// The address in a window of shared memory.
fn in_window(k: &KernelBuilder<'_>, e: &Element<'_>) -> Result<Option<Value>> {
    if k.kernel().windows().is_empty() {
        return Ok(None);
    }
    window::address(k, e.array, &e.subscripts()?, Some(e.statement))
}

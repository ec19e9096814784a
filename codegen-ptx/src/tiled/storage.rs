//! Where the elements are that a point's statements access: registers of the point, buffers of shared memory,
//! or their arrays' memory.

use crate::ir::error::Result;
use crate::ir::llvm::*;
use crate::kernel::storage::{Element, SharedMemory, Storage};
use crate::tiled::guard::kept;
use crate::tiled::state::{KernelBuilder, Tiled, register, shared};
use crate::tiled::words;

impl<'a> Storage<'a> for Tiled<'a> {
    fn loaded(k: &mut KernelBuilder<'a>, e: &Element<'_>, ty: Type) -> Result<Option<Value>> {
        shared(k, e.statement, e.access, ty, e.subscript)
    }

    fn address(k: &mut KernelBuilder<'a>, e: &Element<'_>) -> Result<Option<Value>> {
        if k.storage.tiling.reads_in_memory(e.statement, e.access) {
            return Ok(None);
        }
        register(k, e.array)
    }

    fn alignment(k: &mut KernelBuilder<'a>, e: &Element<'_>) -> Result<u32> {
        words::alignment(k, e)
    }

    fn kept(k: &KernelBuilder<'a>, v: Value, cell: Value, align: u32) -> Value {
        kept(k, v, cell, align)
    }

    fn shared_memory(&self) -> SharedMemory {
        SharedMemory {
            bytes: self.shared_bytes,
            plain_bytes: self.plain_shared_bytes,
            products: self.products,
        }
    }
}

//! How the elements that statements access are stored.
//!
//! A statement's code asks for the value or the address of an element, and says what it stores; it does not
//! know whether that is in the array's own memory, in shared memory or in registers. Each kind of kernel
//! answers in its own way: [`Storage`].

use crate::affine::expr::ExprEmitter;
use crate::ir::builder::Ir;
use crate::ir::error::Result;
use crate::ir::llvm::*;
use crate::kernel::builder::KernelBuilder;
use pollyrs_schedule::MappedKernel;
use pollyrs_scop::{ArrayId, StmtId};

/// An element that an instance of a statement accesses.
#[derive(Clone, Copy)]
pub(crate) struct Element<'e> {
    pub statement: StmtId,
    /// The number of the access in its statement.
    pub access: usize,
    pub array: ArrayId,
    pub dims: usize,
    /// Emits the value of a subscript.
    pub subscript: &'e dyn Fn(usize) -> Result<Value>,
}

impl Element<'_> {
    /// The values of all subscripts.
    pub fn subscripts(&self) -> Result<Vec<Value>> {
        (0..self.dims).map(self.subscript).collect()
    }
}

/// A value that was stored to an element.
#[derive(Clone, Copy)]
pub(crate) struct Stored<'e> {
    pub value: Value,
    pub align: u32,
    /// Who stores, for the checked device.
    pub what: &'e str,
}

/// Shared memory of a block, in bytes.
#[derive(Clone, Copy, Default)]
pub(crate) struct SharedMemory {
    pub bytes: u32,
    /// Without operations of warps.
    pub plain_bytes: u32,
    /// Whether there are operations of warps.
    pub products: bool,
}

/// Where elements are. Without an answer of its own they are in the arrays' memory, and each instance is
/// emitted once and runs.
pub(crate) trait Storage<'a>: Sized {
    /// The value of an element that needs no load from its address.
    fn loaded(_: &mut KernelBuilder<'a, Self>, _: &Element<'_>, _: Type) -> Result<Option<Value>> {
        Ok(None)
    }

    /// The address of an element that is not in its array's memory.
    fn address(_: &mut KernelBuilder<'a, Self>, _: &Element<'_>) -> Result<Option<Value>> {
        Ok(None)
    }

    /// What the address of an element in its array's memory is known to be a multiple of, in bytes.
    fn alignment(_: &mut KernelBuilder<'a, Self>, _: &Element<'_>) -> Result<u32> {
        Ok(1)
    }

    /// Where an update is made that may be made in shared memory first: whether it is, and the address there.
    fn counter(_: &mut KernelBuilder<'a, Self>, _: &Element<'_>) -> Result<Option<(Value, Value)>> {
        Ok(None)
    }

    /// Whether the instance may not run: what it loads is thrown away then.
    fn is_spare(_: &KernelBuilder<'a, Self>) -> bool {
        false
    }

    /// Whether the instance was emitted before, and only its stores are left.
    fn only_stores(_: &KernelBuilder<'a, Self>) -> bool {
        false
    }

    /// The value that a store takes, which `make` computes; `None` if nothing is stored yet.
    fn value(
        k: &mut KernelBuilder<'a, Self>,
        _: Type,
        make: impl FnOnce(&Ir) -> Result<Value>,
    ) -> Result<Option<Value>> {
        make(k.ir).map(Some)
    }

    /// What a store of `v` leaves at an address.
    fn kept(_: &KernelBuilder<'a, Self>, v: Value, _: Value, _: u32) -> Value {
        v
    }

    /// Behind a store to an element's address: what else has to get the value.
    fn finish(
        _: &mut KernelBuilder<'a, Self>,
        _: &ExprEmitter<'_>,
        _: &Element<'_>,
        _: Stored<'_>,
    ) -> Result<()> {
        Ok(())
    }

    /// What all of it takes, once the kernel is built.
    fn shared_memory(&self) -> SharedMemory;
}

/// The storage of a kernel that a mapping made.
pub(crate) trait OfMapping<'a> {
    fn kernel(&self) -> &'a MappedKernel;
}

/// That of a kernel whose coordinates are not there yet: the kernel.
pub(crate) struct Coming<'a>(pub &'a MappedKernel);

impl<'a> OfMapping<'a> for Coming<'a> {
    fn kernel(&self) -> &'a MappedKernel {
        self.0
    }
}

/// All elements are in their arrays' memory, or where the caller says: of fused steps, which no mapping made.
pub(crate) struct Plain;

impl Storage<'_> for Plain {
    fn shared_memory(&self) -> SharedMemory {
        SharedMemory::default()
    }
}

/// The state of a kernel with [`Plain`] storage.
pub(crate) type PlainBuilder<'a> = KernelBuilder<'a, Plain>;

//! Loads of consecutive elements that are parts of one wide load.
//!
//! Where a thread's points are consecutive, what they read is, too. A load that is known to be at a multiple
//! of more bytes than its own says so, and the back end joins it with those beside it: sixteen bytes are one
//! access. Whether memory is where that holds is tested once a thread, with code of its own behind the test.
//!
//! **Argument.** A thread's first point is at a multiple of its consecutive points along each dimension:
//! tiles and the places of threads in them are. So a subscript is a sum of such multiples, of unknown values,
//! and a number ([`Sum::multiple`](crate::affine::sums::Sum::multiple)). Dimensions of constant size have
//! constant strides; the stride of the others is a multiple of a row of unknown length, which the test has
//! looked at, as it has at the first element. (The checked device looks at each address.)
//!
//! # Example
//! `y[i][j] = max(x[i][j - 1], x[i][j], x[i][j + 1])` over bytes, four points a thread along `j`: the loads
//! of `x[i][j]` of point `p` are at `4 k + p`, so that those of the four points are one load of 32 bits. What
//! is left and right of it stays single.

use crate::ir::builder::Ir;
use crate::ir::error::Result;
use crate::ir::llvm::*;
use crate::ir::types::{VECTOR_BYTES, WARP};
use crate::kernel::storage::Element;
use crate::tiled::state::{KernelBuilder, Tiled, register};
use inkwell::llvm_sys::LLVMIntPredicate::LLVMIntEQ;
use pollyrs_schedule::Tiling;
use pollyrs_scop::{AccessKind, ArrayId, ElemType};
use std::collections::BTreeMap;

/// By array: bytes.
pub(crate) type Words = BTreeMap<ArrayId, u32>;

/// Whether elements are less than what an access of a thread moves at least.
pub(super) fn is_narrow(elem: ElemType) -> bool {
    elem.bytes() < 4
}

/// The bytes of the widest access to so many consecutive elements.
pub(super) fn width(vector: u32, elem: ElemType) -> u32 {
    let bytes = vector * elem.bytes();
    (1 << bytes.trailing_zeros()).min(VECTOR_BYTES)
}

/// What a thread tests: the words, and of values the bits that have to be zero.
pub(super) struct Test {
    pub words: Words,
    zeros: Vec<(Value, i64)>,
}

/// The test of the arrays of which points read consecutive elements in memory; `None` if there are no such
/// arrays.
pub(super) fn test(k: &mut KernelBuilder<'_>, tiling: &Tiling) -> Result<Option<Test>> {
    let Some(vector) = tiling.dims.last().map(|d| d.vector).filter(|v| *v > 1) else { return Ok(None) };
    if tiling.lanes.last() != Some(&WARP) {
        return Ok(None);
    }
    let mut words = Words::new();
    for s in &k.scop.statements {
        for a in s.accesses.iter().filter(|a| a.kind == AccessKind::Read && a.within.is_none()) {
            let array = k.scop.array(a.array);
            let word = width(vector, array.elem);
            let wide = array.is_memory() && word > array.elem.bytes() && !array.sizes.is_empty();
            if wide && k.arrays.contains_key(&a.array) && register(k, a.array)?.is_none() {
                words.insert(a.array, word);
            }
        }
    }
    let mut zeros = Vec::new();
    for (id, word) in &words {
        zeros.push((k.ir.ptr_to_int(k.arrays[id]), i64::from(*word) - 1));
        let elem = k.scop.array(*id).elem.bytes();
        zeros.extend(row(k, *id)?.map(|row| (row, i64::from(word / elem) - 1)));
    }
    Ok((!words.is_empty()).then_some(Test { words, zeros }))
}

impl Test {
    /// Whether memory is as wide loads need it.
    pub fn holds(&self, ir: &Ir) -> Value {
        let zero = |(v, bits): &(Value, i64)| ir.icmp(LLVMIntEQ, ir.and(*v, ir.int(*bits)), ir.int(0));
        self.zeros.iter().map(zero).fold(ir.bool(true), |all, c| ir.and(all, c))
    }
}

/// The elements of an array's rows, if that is no number.
fn row(k: &mut KernelBuilder<'_>, id: ArrayId) -> Result<Option<Value>> {
    let mut row = k.ir.int(1);
    for d in (1..k.scop.array(id).sizes.len()).rev() {
        let size = k.size(id, d)?;
        row = k.ir.mul(row, size);
        if size.constant_int().is_none() {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

/// What the address of an element is known to be a multiple of, in bytes: 1 where nothing was tested.
pub(super) fn alignment(k: &mut KernelBuilder<'_>, e: &Element<'_>) -> Result<u32> {
    let Some(word) = k.storage.cursor.words.get(&e.array).copied() else { return Ok(1) };
    let firsts = firsts(k)?;
    let of = |v: Value| firsts.iter().find(|(first, _)| *first == v).map_or(1, |(_, n)| u64::from(*n));
    let mut stride = u64::from(k.scop.array(e.array).elem.bytes());
    let mut low = u64::from(word);
    for d in (0..e.dims).rev() {
        let s = (e.subscript)(d)?;
        low |= stride.wrapping_mul(k.emit.sum_of(s).multiple(&of));
        if d > 0 {
            match k.size(e.array, d)?.constant_int() {
                Some(size) => stride = stride.wrapping_mul(size as u64),
                None => break,
            }
        }
    }
    Ok(1 << low.trailing_zeros())
}

/// The coordinates of the thread's first point, and the consecutive points along their dimensions.
fn firsts(k: &mut KernelBuilder<'_>) -> Result<Vec<(Value, u32)>> {
    let emit = k.emit.clone();
    let Tiled { tiling, coordinates, .. } = &mut k.storage;
    let mut out = Vec::new();
    for (d, c) in tiling.dims.iter().zip(coordinates.iter()) {
        if let Some((terms, 0)) = c.plain.first().and_then(|v| emit.sum_of(*v).terms_apart())
            && let [first] = terms.as_slice()
        {
            out.push((*first, d.vector));
        }
    }
    Ok(out)
}

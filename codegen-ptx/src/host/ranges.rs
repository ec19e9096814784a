//! What a SCoP touches of its arrays, as values in the check block: ranges of bytes, rows that come back, and
//! their place in `PollyrsArray` of `runtime/include/pollyrs_rt.h`.
//!
//! # Invariant
//! Nothing here can trap or is poison, whatever the parameters; a range counts only where its `fits` is true.

use crate::CodegenError;
use crate::affine::expr::ExprEmitter;
use crate::host::abi::{
    ARRAY_WORDS, CHANGED, COPY_IN, COPY_OUT, FAULT, GUARDED, OWN, ROW_DIMS, ROWS, SCRATCH,
};
use crate::host::plan::Slots;
use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use inkwell::llvm_sys::LLVMIntPredicate::*;
use pollyrs_isl as isl;
use pollyrs_schedule::{Corner, Footprint, Returned};
use pollyrs_scop::{ArrayId, ArrayKind, Scop};

/// 64-bit parameters and touched ranges must lie within ± this many (2^46): addresses have 47 bits, and sums
/// of a few hundred such terms stay inside 64 bits.
pub(crate) const RANGE: i64 = 1 << 46;

/// The touched range of one array, as values in the check block.
#[derive(Clone, Copy)]
pub(crate) struct Range {
    /// Address of the first touched byte (a pointer).
    pub start: Value,
    pub bytes: Value,
    /// An `i1`: whether there are any.
    pub nonempty: Value,
    pub bias: Value,
    pub out_offset: Value,
    pub out_bytes: Value,
    pub flags: u32,
    pub element_bytes: u32,
    /// What to add to the flags, where only the parameters say whether all of the range is there.
    pub unsure: Option<Value>,
    /// With [`ROWS`]: what exactly comes back; with [`CHANGED`] as well, nothing else is touched.
    pub rows: Option<Rows>,
}

/// Rows of contiguous bytes that come back or are touched: bytes of one, and for each outer dimension their
/// number and distance in bytes, outermost first.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    pub(crate) bytes: Value,
    pub(crate) dims: [(Value, Value); ROW_DIMS],
}

impl Rows {
    /// These rows where they are `apart`, and else one of all `bytes`.
    fn or_all_at_once(self, ir: &Ir, apart: Value, bytes: Value) -> Rows {
        let once = |(count, distance)| (ir.select(apart, count, ir.int(1)), distance);
        Rows { bytes: ir.select(apart, self.bytes, bytes), dims: self.dims.map(once) }
    }
}

/// The addresses `[begin, end)` that a range takes, as integers. The end of an empty range is 0, so that
/// nothing overlaps it.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    begin: Value,
    end: Value,
}

pub(crate) fn extent(ir: &Ir, r: &Range) -> Extent {
    let begin = ir.ptr_to_int(r.start);
    let end = ir.add(begin, r.bytes);
    Extent { begin, end: ir.select(r.nonempty, end, ir.int(0)) }
}

/// The address of the element with all subscripts zero, as an integer.
pub(crate) fn base_address(ir: &Ir, r: &Range) -> Value {
    ir.add(ir.ptr_to_int(r.start), r.bias)
}

/// The addresses of `bytes` bytes at a pointer.
pub(crate) fn extent_of_place(ir: &Ir, pointer: Value, bytes: u32) -> Extent {
    let begin = ir.ptr_to_int(ir.freeze(pointer));
    Extent { begin, end: ir.add(begin, ir.int(i64::from(bytes))) }
}

/// Whether two ranges share no byte.
pub(crate) fn disjoint(ir: &Ir, a: &Extent, b: &Extent) -> Value {
    let before = ir.icmp(LLVMIntULE, a.end, b.begin);
    let after = ir.icmp(LLVMIntULE, b.end, a.begin);
    ir.or(before, after)
}

/// The touched and the written range of a memory array, and whether they are small enough to trust.
pub(crate) fn memory_range(
    ir: &Ir,
    expr: &mut ExprEmitter<'_>,
    scop: &Scop,
    id: ArrayId,
    f: &Footprint,
) -> Result<(Range, Option<Value>), CodegenError> {
    let array = scop.array(id);
    let ArrayKind::Memory { base } = array.kind else {
        return Err(CodegenError::Internal("footprint of an array that is not memory".into()));
    };
    let mut base = ir.freeze(host_value(base));
    // The shift of an array inside of an allocation is bounded as its range is: what is compared are numbers,
    // which must not wrap around.
    let mut near = None;
    if let Some(shift) = &array.shift {
        let shift = expr.emit_pw_aff(shift)?;
        near = Some(ir.icmp(LLVMIntULT, ir.add(shift, ir.int(RANGE)), ir.int(2 * RANGE)));
        base = ir.byte_offset(base, shift);
    }
    let eb = array.elem.bytes();
    let touched = byte_range(ir, expr, scop, id, (&f.touched_min, &f.touched_max), &f.nonempty)?;
    let bytes = ir.sub(touched.end, touched.begin);
    let bias = ir.sub(ir.int(0), touched.begin);
    let mut range = Range {
        start: ir.byte_offset(base, touched.begin),
        bytes,
        nonempty: touched.nonempty,
        bias,
        out_offset: ir.int(0),
        out_bytes: ir.int(0),
        flags: if f.must_read_before_write { COPY_IN } else { 0 },
        element_bytes: eb,
        unsure: None,
        rows: None,
    };
    match &f.certain_where {
        _ if f.certain => {}
        Some(there) => {
            let there = expr.emit_set(&there.clone().gist(scop.context.clone())?)?;
            range.unsure = Some(ir.select(there, ir.int(0), ir.int(i64::from(GUARDED))));
        }
        None => range.flags |= GUARDED,
    }
    let mut fits = touched.fits;
    if let Some(near) = near {
        fits = ir.and(fits, ir.or(near, ir.not(touched.nonempty)));
    }
    if let Some((min, max)) = &f.written {
        let mut written = byte_range(ir, expr, scop, id, (min, max), &f.written_nonempty)?;
        fits = ir.and(fits, written.fits);
        if f.written_boxed && !f.boxed {
            // A box's corners are no elements and may lie outside of what is touched; every element lies
            // inside of both.
            let empty = ir.icmp(LLVMIntEQ, written.begin, written.end);
            let (begin, end) = (ir.smax(written.begin, touched.begin), ir.smin(written.end, touched.end));
            written.begin = ir.select(empty, written.begin, begin);
            written.end = ir.select(empty, written.end, end);
        }
        range.out_bytes = ir.sub(written.end, written.begin);
        let nothing = ir.icmp(LLVMIntEQ, range.out_bytes, ir.int(0));
        let offset = ir.sub(written.begin, touched.begin);
        range.out_offset = ir.select(nothing, ir.int(0), offset);
        range.flags |= COPY_OUT;
        match &f.returned {
            Returned::Dense => {}
            Returned::Box(corner) if corner.min.len() <= ROW_DIMS + 1 => {
                range.flags |= ROWS;
                range.rows = Some(rows(ir, expr, scop, id, corner)?);
            }
            Returned::Box(_) | Returned::Sparse => range.flags |= CHANGED,
        }
    }
    if let Some(corner) = f.window.as_ref().filter(|corner| corner.min.len() <= ROW_DIMS + 1) {
        range.flags |= ROWS | CHANGED;
        if range.rows.is_none() {
            let mut rows = rows(ir, expr, scop, id, corner)?;
            if let Some(apart) = &array.apart {
                let apart = expr.emit_set(apart)?;
                rows = rows.or_all_at_once(ir, apart, bytes);
            }
            range.rows = Some(rows);
        }
        if !f.reads_initial {
            // What is not written does not come back.
            range.flags &= !COPY_IN;
        }
    }
    Ok((range, Some(fits)))
}

/// The rows of a box of elements, given by its corners. Nothing here is looked at unless the written range is
/// not empty and fits.
pub(crate) fn rows(
    ir: &Ir,
    expr: &mut ExprEmitter<'_>,
    scop: &Scop,
    id: ArrayId,
    Corner { min, max }: &Corner,
) -> Result<Rows, CodegenError> {
    let array = scop.array(id);
    let mut stride = ir.int(array.elem.bytes() as i64);
    let mut rows = Rows { bytes: stride, dims: [(ir.int(1), ir.int(0)); ROW_DIMS] };
    let missing = ROW_DIMS + 1 - min.len();
    for d in (0..min.len()).rev() {
        let (first, last) = (expr.emit_pw_aff(&min[d])?, expr.emit_pw_aff(&max[d])?);
        let count = ir.add(ir.sub(last, first), ir.int(1));
        if d + 1 == min.len() {
            rows.bytes = ir.mul(count, stride);
        } else {
            rows.dims[missing + d] = (count, stride);
        }
        if let Some(Some(size)) = array.sizes.get(d) {
            stride = ir.mul(stride, expr.emit_pw_aff(size)?);
        }
    }
    Ok(rows)
}

/// A byte range `[begin, end)` relative to the base; empty as `[0, 0)`.
struct ByteRange {
    begin: Value,
    end: Value,
    nonempty: Value,
    fits: Value,
}

fn byte_range(
    ir: &Ir,
    expr: &mut ExprEmitter<'_>,
    scop: &Scop,
    id: ArrayId,
    (min, max): (&isl::PwMultiAff, &isl::PwMultiAff),
    nonempty: &isl::Set,
) -> Result<ByteRange, CodegenError> {
    let eb = scop.array(id).elem.bytes() as i64;
    let nonempty = expr.emit_set(&nonempty.clone().gist(scop.context.clone())?)?;
    let (first, o1) = linear_offset(ir, expr, scop, id, min)?;
    let (last, o2) = linear_offset(ir, expr, scop, id, max)?;
    // Nothing touched is [0, 0), whatever the ends came to. Elements are compared, so that bytes cannot
    // overflow.
    let zero = ir.int(0);
    let first = ir.select(nonempty, first, zero);
    let after = ir.select(nonempty, ir.add(last, ir.int(1)), zero);
    let limit = RANGE / eb;
    let mut bad = ir.and(nonempty, ir.or(o1, o2));
    for v in [first, after] {
        let shifted = ir.add(v, ir.int(limit));
        bad = ir.or(bad, ir.icmp(LLVMIntUGT, shifted, ir.int(2 * limit)));
    }
    bad = ir.or(bad, ir.icmp(LLVMIntSLT, after, first));
    let size = ir.int(eb);
    Ok(ByteRange { begin: ir.mul(first, size), end: ir.mul(after, size), nonempty, fits: ir.not(bad) })
}

/// The linear offset, in elements, of an element given by its subscripts, and whether computing it
/// overflowed.
pub(crate) fn linear_offset(
    ir: &Ir,
    expr: &mut ExprEmitter<'_>,
    scop: &Scop,
    id: ArrayId,
    element: &isl::PwMultiAff,
) -> Result<(Value, Value), CodegenError> {
    let dims = 0..scop.array(id).dims() as i32;
    let subscripts = dims.map(|d| element.at(d)).collect::<isl::Result<Vec<_>>>()?;
    offset_of(ir, expr, scop, id, &subscripts)
}

/// The same for subscripts by themselves.
pub(crate) fn offset_of(
    ir: &Ir,
    expr: &mut ExprEmitter<'_>,
    scop: &Scop,
    id: ArrayId,
    subscripts: &[isl::PwAff],
) -> Result<(Value, Value), CodegenError> {
    let array = scop.array(id);
    let mut offset = ir.int(0);
    let mut overflow = ir.bool(false);
    for (d, subscript) in subscripts.iter().enumerate() {
        let subscript = expr.emit_pw_aff(subscript)?;
        if d == 0 {
            offset = subscript;
            continue;
        }
        let size = array.sizes[d].as_ref().ok_or(CodegenError::Internal("a size is missing".into()))?;
        let size = expr.emit_pw_aff(size)?;
        let (scaled, o1) = ir.with_overflow("smul", offset, size);
        let (sum, o2) = ir.with_overflow("sadd", scaled, subscript);
        offset = sum;
        overflow = ir.or(overflow, ir.or(o1, o2));
    }
    Ok((offset, overflow))
}

/// Device-only storage of a scalar or PHI that crosses threads, or the cell of a live-out value.
pub(crate) fn scratch_range(
    ir: &Ir,
    expr: &mut ExprEmitter<'_>,
    scop: &Scop,
    id: ArrayId,
    slots: &Slots,
) -> Result<(Range, Option<Value>), CodegenError> {
    let array = scop.array(id);
    let eb = array.elem.bytes();
    if let Some(slot) = slots.live_out.get(&id) {
        if array.dims() != 0 {
            return Err(CodegenError::Internal("a live-out value has dimensions".into()));
        }
        let bytes = ir.int(eb as i64);
        let fault = matches!(array.kind, ArrayKind::Fault { .. });
        let range = Range {
            start: *slot,
            bytes,
            nonempty: ir.bool(true),
            bias: ir.int(0),
            out_offset: ir.int(0),
            out_bytes: if fault { ir.int(0) } else { bytes },
            flags: if fault { COPY_IN | FAULT } else { COPY_OUT | OWN },
            element_bytes: eb,
            unsure: None,
            rows: None,
        };
        return Ok((range, None));
    }
    let mut bytes = ir.int(eb as i64);
    let mut bad = ir.bool(false);
    for size in &array.sizes {
        let size = size.as_ref().ok_or(CodegenError::Internal("a size is missing".into()))?;
        let size = expr.emit_pw_aff(size)?;
        let size = ir.smax(size, ir.int(0));
        let (product, overflow) = ir.with_overflow("smul", bytes, size);
        bytes = product;
        bad = ir.or(bad, overflow);
    }
    bad = ir.or(bad, ir.icmp(LLVMIntUGT, bytes, ir.int(RANGE)));
    let range = Range {
        start: ir.null(),
        bytes,
        nonempty: ir.bool(true),
        bias: ir.int(0),
        out_offset: ir.int(0),
        out_bytes: ir.int(0),
        flags: SCRATCH,
        element_bytes: eb,
        unsure: None,
        rows: None,
    };
    Ok((range, Some(ir.not(bad))))
}

/// Fills the `i`-th `PollyrsArray`.
pub(crate) fn store_array(ir: &Ir, arrays: Value, i: u64, r: &Range) {
    let at = |word: u64| ir.byte_offset(arrays, ir.int(((i * ARRAY_WORDS + word) * 8) as i64));
    ir.store(r.start, at(0));
    ir.store(r.bytes, at(1));
    ir.store(r.bias, at(2));
    ir.store(r.out_offset, at(3));
    ir.store(r.out_bytes, at(4));
    // flags in the low, element_bytes in the high half of the last word (little endian).
    let flags = ir.int(r.flags as i64 | (r.element_bytes as i64) << 32);
    ir.store(r.unsure.map_or(flags, |unsure| ir.or(flags, unsure)), at(5));
    let Some(rows) = &r.rows else { return };
    ir.store(rows.bytes, at(6));
    for (k, (count, stride)) in rows.dims.into_iter().enumerate() {
        ir.store(count, at(7 + k as u64));
        ir.store(stride, at(7 + (ROW_DIMS + k) as u64));
    }
}

//! The copies that fill the buffers of a panel: all threads load into registers, and store to shared memory later.
//!
//! Each thread moves vectors of up to 16 bytes along the array's last dimension, neighbouring threads neighbouring ones. Loads come in
//! three forms, chosen by conditions that are the same in all threads of the block:
//! - the box of the buffer is inside the elements that the launch reads and its rows are aligned: one access a vector;
//! - it is inside: elements one by one;
//! - else every subscript is clamped to the launch's elements. What a clamped load gets belongs to no point of the box.

use super::lower;
use super::{VECTOR_BYTES, alignment, linear_thread};
use crate::ast_expr::ExprEmitter;
use crate::error::{Result, internal};
use crate::kernel::{KernelBuilder, SHARED, llvm_elem};
use inkwell::llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntSLE, LLVMIntULT};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use pollyrs_schedule::{Panel, SharedGroup};
use pollyrs_scop::ElemType;

/// How the threads of a block share the vectors of a buffer.
struct Share {
    /// Elements of a vector.
    width: u32,
    /// Vectors of the buffer.
    vectors: u32,
    threads: u32,
}

impl Share {
    fn new(k: &KernelBuilder<'_>, g: &SharedGroup) -> Share {
        let bytes = k.scop.array(g.array).elem.bytes();
        let last = g.size.last().copied().unwrap_or(1);
        let fits = |w: &u32| w * bytes <= VECTOR_BYTES && last.is_multiple_of(*w);
        let width = [4, 2, 1].into_iter().find(fits).unwrap_or(1);
        let threads = k.kernel.block.iter().map(|b| b.size).product();
        Share { width, vectors: g.size.iter().product::<u32>() / width, threads }
    }

    fn rounds(&self) -> u32 {
        self.vectors.div_ceil(self.threads)
    }

    /// Whether some threads have nothing to move in a round.
    fn partial(&self, round: u32) -> bool {
        (round + 1) * self.threads > self.vectors
    }

    fn number(&self, k: &KernelBuilder<'_>, thread: LLVMValueRef, round: u32) -> LLVMValueRef {
        k.ir.add(thread, k.ir.int((round * self.threads).into()))
    }

    /// The place in the buffer of a vector's first element; the last vector stands in for those beyond the buffer.
    fn local(&self, k: &KernelBuilder<'_>, g: &SharedGroup, thread: LLVMValueRef, round: u32) -> Vec<LLVMValueRef> {
        let ir = k.ir;
        let mut rest = self.number(k, thread, round);
        if self.partial(round) {
            let last = ir.int(i64::from(self.vectors) - 1);
            rest = ir.select(ir.icmp(LLVMIntULT, rest, last), rest, last);
        }
        let mut local = vec![ir.int(0); g.size.len()];
        for (d, size) in g.size.iter().enumerate().rev() {
            let width = if d + 1 == g.size.len() { self.width } else { 1 };
            let digits = ir.int((size / width).into());
            local[d] = ir.mul(ir.urem(rest, digits), ir.int(width.into()));
            rest = ir.udiv(rest, digits);
        }
        local
    }
}

/// The linear index of the thread in its block.
fn thread(k: &KernelBuilder<'_>) -> Result<LLVMValueRef> {
    k.at_entry(|| Ok(k.ir.zext(linear_thread(k)?, k.ir.i64_type())))
}

/// The offset of a buffer among those of its panel, in bytes, and the size of all.
pub(super) fn layout(k: &KernelBuilder<'_>, panel: &Panel) -> (Vec<u32>, u32) {
    let mut bytes = 0_u32;
    let mut offsets = Vec::new();
    for g in &panel.groups {
        offsets.push(bytes);
        let size = g.elements() * k.scop.array(g.array).elem.bytes();
        bytes = (bytes + size).next_multiple_of(VECTOR_BYTES);
    }
    (offsets, bytes)
}

/// The smallest subscripts of a buffer.
pub(super) fn smallest(
    emit: &ExprEmitter<'_>,
    g: &SharedGroup,
    args: &[LLVMValueRef],
) -> Result<Vec<LLVMValueRef>> {
    let mut emit = emit.clone();
    for (d, v) in args.iter().enumerate() {
        emit.names.insert(crate::ast_expr::iterator_name(d as u32), *v);
    }
    g.lower
        .iter()
        .map(|f| emit.emit_int(&crate::ast_expr::pw_aff_expr(&crate::ast_expr::parameterize(f)?, None)?))
        .collect()
}

/// Loads what the thread moves of the copy `args`: for each group, round and element of a vector a value.
pub(super) fn load(
    k: &mut KernelBuilder<'_>,
    function: LLVMValueRef,
    emit: &ExprEmitter<'_>,
    panel: &Panel,
    args: &[LLVMValueRef],
) -> Result<Vec<LLVMValueRef>> {
    let mut values = Vec::new();
    for g in &panel.groups {
        let lower = smallest(emit, g, args)?;
        values.extend(load_group(k, function, g, &lower)?);
    }
    Ok(values)
}

fn load_group(
    k: &mut KernelBuilder<'_>,
    function: LLVMValueRef,
    g: &SharedGroup,
    lower: &[LLVMValueRef],
) -> Result<Vec<LLVMValueRef>> {
    let ir = k.ir;
    let share = Share::new(k, g);
    let elem = k.scop.array(g.array).elem;
    let (ty, bytes, align) = (llvm_elem(ir, elem), elem.bytes(), alignment(k, g.array));
    let Some(base) = k.arrays.get(&g.array).copied() else { return internal("a buffer without an array") };
    let thread = thread(k)?;
    let sizes = (1..g.size.len()).map(|d| k.size(g.array, d)).collect::<Result<Vec<_>>>()?;
    let linear = |at: &[LLVMValueRef]| {
        let first = at.first().copied().unwrap_or(ir.int(0));
        at.iter().skip(1).zip(&sizes).fold(first, |sum, (s, size)| ir.add(ir.mul(sum, *size), *s))
    };
    let context = k.kernel.context.clone().params()?;
    let mut bounds = Vec::new();
    for (min, max) in &g.bounds {
        let min = crate::ast_expr::pw_aff_expr(min, Some(&context))?;
        let max = crate::ast_expr::pw_aff_expr(max, Some(&context))?;
        bounds.push(k.at_entry(|| Ok((k.emit.emit_int(&min)?, k.emit.emit_int(&max)?)))?);
    }
    let mut inside = ir.bool(true);
    for ((low, size), (min, max)) in lower.iter().zip(&g.size).zip(&bounds) {
        let end = ir.add(*low, ir.int(i64::from(*size) - 1));
        inside = ir.and(inside, ir.and(ir.icmp(LLVMIntSLE, *min, *low), ir.icmp(LLVMIntSLE, end, *max)));
    }
    let after = ir.append_block(function, "loaded");
    let (within, clamped) = (ir.append_block(function, "within"), ir.append_block(function, "clamped"));
    ir.cond_br(inside, within, clamped);
    let mut arms: Vec<(LLVMBasicBlockRef, Vec<LLVMValueRef>)> = Vec::new();

    ir.at_end(within);
    let corner = ir.element(ty, base, linear(lower));
    let addresses: Vec<_> = (0..share.rounds())
        .map(|r| ir.element(ty, corner, linear(&share.local(k, g, thread, r))))
        .collect();
    if share.width * bytes == VECTOR_BYTES && !matches!(elem, ElemType::F16 | ElemType::BF16) {
        let row = ir.mul(sizes.last().copied().unwrap_or(ir.int(0)), ir.int(bytes.into()));
        let low = ir.and(ir.or(ir.ptr_to_int(corner), row), ir.int(i64::from(VECTOR_BYTES) - 1));
        let (vector, single) = (ir.append_block(function, "vectors"), ir.append_block(function, "elements"));
        ir.cond_br(ir.icmp(LLVMIntEQ, low, ir.int(0)), vector, single);
        ir.at_end(vector);
        let mut values = Vec::new();
        for address in &addresses {
            match lower::load_vector(k, elem, share.width, *address) {
                Some(v) => values.extend(v),
                None => return internal("a vector without a load"),
            }
        }
        ir.br(after);
        arms.push((vector, values));
        ir.at_end(single);
    }
    let mut values = Vec::new();
    for address in &addresses {
        for i in 0..share.width {
            values.push(ir.load_aligned(ty, ir.element(ty, *address, ir.int(i.into())), align));
        }
    }
    arms.push((ir.block(), values));
    ir.br(after);

    ir.at_end(clamped);
    // Hidden, so that nothing of this rare path is computed outside of the loop and kept in registers.
    let thread = k.opaque(thread);
    let mut values = Vec::new();
    for r in 0..share.rounds() {
        let local = share.local(k, g, thread, r);
        for i in 0..share.width {
            let mut at = Vec::new();
            for (d, (min, max)) in bounds.iter().enumerate() {
                let more = if d + 1 == g.size.len() { i } else { 0 };
                let s = ir.add(lower[d], ir.add(local[d], ir.int(more.into())));
                let s = ir.select(ir.icmp(LLVMIntSLE, s, *max), s, *max);
                at.push(ir.select(ir.icmp(LLVMIntSLE, s, *min), *min, s));
            }
            values.push(ir.load_aligned(ty, ir.element(ty, base, linear(&at)), align));
        }
    }
    ir.br(after);
    arms.push((clamped, values));

    ir.at_end(after);
    let count = arms[0].1.len();
    Ok((0..count)
        .map(|i| ir.phi(ty, &arms.iter().map(|(block, values)| (values[i], *block)).collect::<Vec<_>>()))
        .collect())
}

/// Stores what [`load`] gave to the buffers that start `offset` bytes into shared memory.
pub(super) fn store(
    k: &mut KernelBuilder<'_>,
    function: LLVMValueRef,
    panel: &Panel,
    values: &[LLVMValueRef],
    offset: LLVMValueRef,
) -> Result<()> {
    let ir = k.ir;
    let thread = thread(k)?;
    let (starts, _) = layout(k, panel);
    let mut values = values.iter().copied();
    for (g, start) in panel.groups.iter().zip(starts) {
        let share = Share::new(k, g);
        let elem = k.scop.array(g.array).elem;
        let (ty, bytes) = (llvm_elem(ir, elem), elem.bytes());
        let strides = g.strides();
        let last = strides.last().copied().unwrap_or(1);
        let rows = strides.iter().take(strides.len().saturating_sub(1));
        let whole = last == 1 && rows.clone().all(|s| s.is_multiple_of(share.width));
        for r in 0..share.rounds() {
            let moved: Vec<_> = values.by_ref().take(share.width as usize).collect();
            let local = share.local(k, g, thread, r);
            let mut to = ir.int(0);
            for (l, stride) in local.iter().zip(&strides) {
                to = ir.add(to, ir.mul(*l, ir.int((*stride).into())));
            }
            let shared = k.abstract_call(SHARED, ir.ptr_type());
            let buffer = ir.byte_offset(ir.byte_offset(shared, offset), ir.int(start.into()));
            let to = ir.element(ty, buffer, to);
            let next = if share.partial(r) {
                let (own, next) = (ir.append_block(function, "own"), ir.append_block(function, "next"));
                let exists = ir.icmp(LLVMIntULT, share.number(k, thread, r), ir.int(share.vectors.into()));
                ir.cond_br(exists, own, next);
                ir.at_end(own);
                Some(next)
            } else {
                None
            };
            if whole && share.width > 1 {
                ir.store_aligned(ir.vector(ty, &moved), to, share.width * bytes);
            } else {
                for (i, v) in moved.into_iter().enumerate() {
                    let to = ir.element(ty, to, ir.int(i as i64 * i64::from(last)));
                    ir.store_aligned(v, to, bytes);
                }
            }
            if let Some(next) = next {
                ir.br(next);
                ir.at_end(next);
            }
        }
    }
    Ok(())
}

/// A value of type `ty` that nobody looks at.
pub(super) fn poison(ty: LLVMTypeRef) -> LLVMValueRef {
    // SAFETY: a live type.
    unsafe { LLVMGetPoison(ty) }
}

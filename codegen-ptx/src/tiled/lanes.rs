//! Copies to buffers element by element: neighbouring lanes move neighbouring elements.
//!
//! Where rows do not start at multiples of 16 bytes, vectors are no accesses. If each lane moved the elements
//! of its vector one after the other, the lanes of a warp would be 16 bytes apart, and every access would
//! touch four times as many lines as it moves. So the elements of a buffer are shared anew: number
//! `e = thread + threads round`, in the order of the array. (On an H200, products of floats in tiles of 64 ×
//! 64 at 3001: 1.50 ms in place of 1.55; of doubles at 2049 0.498 in place of 0.598, before these came by
//! chunks of 16 bytes from any row, [`super::chunks`].)
//!
//! Sizes and threads are powers of two, so the digits of `e` along the buffer's dimensions are those of the
//! thread plus those of the round, which are constants: nothing carries.
//!
//! # Example
//! 128 threads, a buffer of 128 rows with 8 elements each: round `r` moves
//! `(thread / 8 + 16 r, thread mod 8)`, from `start + min(thread / 8 + 16 r, last) row`. In the loop over
//! strips only `start` is kept; the rest is three instructions an element: the sums of a tile need the
//! registers.

use crate::ir::builder::Ir;
use crate::ir::error::Result;
use crate::ir::llvm::*;
use crate::tiled::copy;
use crate::tiled::copy::{Share, Source, Stream};
use crate::tiled::state::KernelBuilder;
use inkwell::llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntSLE, LLVMIntSLT, LLVMIntULT};
use inkwell::llvm_sys::LLVMOpcode::LLVMTrunc;
use pollyrs_schedule::planted::planted;
use pollyrs_schedule::{OperandTile, SharedGroup};

/// Threads with so many points have no instruction and no register to spare in the loop over strips: on an
/// H200, products of floats with 8 × 16 points a thread took 4.8% longer at 4096, where all loads are of
/// vectors, and at 4101 no less.
const MANY_POINTS: u32 = 128;

/// A subscript in the buffer is kept within these.
pub(super) type Clamp = Option<(Value, Value)>;

/// How the threads of a block share the elements of a buffer.
pub(super) struct Lanes {
    /// The address of the first strip's first element.
    corner: Value,
    /// By dimension: the thread's digits.
    local: Vec<Value>,
    threads: u32,
    clamps: Vec<Clamp>,
    sizes: Vec<u32>,
    /// Bytes from one element to the next, by dimension.
    strides: Vec<Value>,
    /// By round and dimension: the round's digits.
    rounds: Vec<Vec<u32>>,
}

/// Whether digits do not carry, and a thread moves as many elements as its vectors have: the registers of
/// both forms are the same.
fn regular(share: &Share, g: &SharedGroup) -> bool {
    share.width > 1
        && share.threads.is_power_of_two()
        && g.size.iter().all(|s| s.is_power_of_two())
        && share.vectors.is_multiple_of(share.threads)
}

/// The digits of a number of an element, by dimension.
fn digits(sizes: &[u32], mut number: u32) -> Vec<u32> {
    let mut out = vec![0; sizes.len()];
    for (digit, size) in out.iter_mut().zip(sizes).rev() {
        (*digit, number) = (number % size, number / size);
    }
    out
}

/// The digits of a thread's number, by dimension.
fn own(ir: &Ir, g: &SharedGroup, mut thread: Value, mut threads: u32) -> Vec<Value> {
    let mut out = vec![ir.int(0); g.size.len()];
    for (digit, size) in out.iter_mut().zip(&g.size).rev() {
        if threads > 1 {
            let size = ir.int((*size).into());
            (*digit, thread) = (ir.urem(thread, size), ir.udiv(thread, size));
        }
        threads = threads.div_ceil(*size);
    }
    out
}

impl Lanes {
    /// `None` if the buffer has no such order.
    pub fn new(
        k: &KernelBuilder<'_>,
        g: &SharedGroup,
        source: &Source,
        (thread, corner): (Value, Value),
        clamps: Vec<Clamp>,
    ) -> Option<Lanes> {
        let share = &source.share;
        if !regular(share, g) || !source.whole() {
            return None;
        }
        let ir = k.ir;
        let mut strides = vec![ir.int(source.elem.bytes().into())];
        for size in source.sizes.iter().rev() {
            strides.insert(0, ir.mul(strides[0], *size));
        }
        let count = share.vectors * share.width / share.threads;
        let rounds: Vec<_> = (0..count).map(|r| digits(&g.size, r * share.threads)).collect();
        let local = own(ir, g, thread, share.threads);
        Some(Lanes { corner, local, threads: share.threads, clamps, sizes: g.size.clone(), strides, rounds })
    }

    /// Whether rounds differ along a dimension.
    fn turns(&self, d: usize) -> bool {
        self.rounds.iter().any(|r| r[d] > 0)
    }

    /// Whether 32 bits hold what is computed in the loop: subscripts in the buffer, strides in bytes.
    pub fn fits(&self, k: &KernelBuilder<'_>) -> Value {
        let ir = k.ir;
        let mut all = ir.bool(true);
        for d in (0..self.strides.len()).filter(|d| self.turns(*d)) {
            all = ir.and(all, ir.icmp(LLVMIntULT, self.strides[d], ir.int(1 << 32)));
            if let Some((min, max)) = self.clamps[d] {
                all = ir.and(all, ir.icmp(LLVMIntSLT, min, ir.int(self.sizes[d].into())));
                all = ir.and(all, ir.icmp(LLVMIntSLE, ir.int(0), max));
            }
        }
        all
    }

    /// Where the thread's elements of the first strip start: what does not differ from round to round.
    pub fn start(&self, k: &KernelBuilder<'_>) -> Value {
        let ir = k.ir;
        (0..self.local.len()).filter(|d| !self.turns(*d)).fold(self.corner, |at, d| {
            let local = match self.clamps[d] {
                Some((min, max)) => ir.smax(ir.smin(self.local[d], max), min),
                None => self.local[d],
            };
            ir.byte_offset(at, ir.mul(local, self.strides[d]))
        })
    }

    /// The address of each round's element, from [`Lanes::start`]'s of the strip. Only where [`Lanes::fits`]
    /// holds.
    pub fn addresses(&self, k: &KernelBuilder<'_>, start: Value) -> Vec<Value> {
        let ir = k.ir;
        // 32 bits by 32 bits are one instruction. Hidden, so that it stays where it is.
        let low = |v| ir.cast(LLVMTrunc, v, ir.i32_type());
        let turning: Vec<_> = (0..self.local.len()).filter(|d| self.turns(*d)).collect();
        let own: Vec<_> = turning.iter().map(|d| low(k.opaque(self.local[*d]))).collect();
        let one = |round: &Vec<u32>| {
            turning.iter().zip(&own).fold(start, |at, (d, own)| {
                let mut local = ir.add(*own, ir.int32(round[*d]));
                if let Some((min, max)) = self.clamps[*d] {
                    let first = low(ir.smax(min, ir.int(0)));
                    let last = low(ir.smin(max, ir.int(i64::from(self.sizes[*d]) - 1)));
                    local = ir.smax(ir.smin(local, last), first);
                }
                let [local, stride] = [local, low(self.strides[*d])].map(|v| ir.zext(v, ir.i64_type()));
                ir.byte_offset(at, ir.mul(local, stride))
            })
        };
        self.rounds.iter().map(one).collect()
    }

    /// The number of each round's element in the buffer.
    pub fn places(&self, k: &KernelBuilder<'_>, g: &SharedGroup, thread: Value) -> Vec<Value> {
        let ir = k.ir;
        let strides = g.strides();
        // Hidden, so that no register keeps it from strip to strip.
        let own = (own(ir, g, k.opaque(thread), self.threads).iter().zip(&strides))
            .fold(ir.int(0), |sum, (l, stride)| ir.add(sum, ir.mul(*l, ir.int((*stride).into()))));
        let constant = |r: &Vec<u32>| r.iter().zip(&strides).map(|(d, s)| i64::from(d * s)).sum();
        self.rounds.iter().map(|r| ir.add(own, ir.int(constant(r)))).collect()
    }
}

/// The lanes of all groups, or none: an order of registers is that of all groups. None for threads with many
/// points, either.
pub(super) fn all(k: &KernelBuilder<'_>, lanes: Vec<Option<Lanes>>) -> Option<Vec<Lanes>> {
    let points = k.kernel().tiling().iter().flat_map(|t| &t.dims).map(|d| d.points).product::<u32>();
    lanes.into_iter().collect::<Option<Vec<_>>>().filter(|_| points < MANY_POINTS)
}

impl Stream {
    /// Stores what [`Stream::load`] gave to the buffers that start `offset` bytes into shared memory.
    pub fn store(
        &self,
        k: &mut KernelBuilder<'_>,
        function: Value,
        operand_tile: &OperandTile,
        values: &[Value],
        offset: Value,
    ) -> Result<()> {
        let Some(lanes) = &self.lanes else { return copy::store(k, function, operand_tile, values, offset) };
        let ir = k.ir;
        let block = |name: &str| ir.append_block(function, name);
        let (elements, vectors, after) = (block("putelements"), block("putvectors"), block("stored"));
        ir.cond_br(ir.icmp(LLVMIntEQ, self.form, ir.int(1)), elements, vectors);
        ir.at_end(elements);
        let (starts, _) = copy::layout(k, operand_tile);
        let (thread, mut moved) = (copy::thread(k)?, values.iter());
        for (((l, source), g), start) in lanes.iter().zip(&self.sources).zip(&operand_tile.groups).zip(starts)
        {
            k.ir.note("a copy to shared memory", &k.scop.array(g.array).display);
            let buffer = copy::buffer(k, offset, start);
            for (r, (to, v)) in l.places(k, g, thread).into_iter().zip(moved.by_ref()).enumerate() {
                if r == 0 && planted("lane-round") {
                    continue;
                }
                ir.store_aligned(*v, ir.element(source.ty, buffer, to), source.elem.bytes());
            }
        }
        ir.br(after);
        ir.at_end(vectors);
        copy::store(k, function, operand_tile, values, offset)?;
        ir.br(after);
        ir.at_end(after);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_thread_and_round_do_not_carry() {
        for (sizes, threads) in
            [(vec![128, 8], 128), (vec![8, 128], 128), (vec![4, 64, 16], 64), (vec![2, 8, 4], 16)]
        {
            let elements: u32 = sizes.iter().product();
            let mut seen = std::collections::BTreeSet::new();
            for number in 0..elements {
                let sum: Vec<_> = (digits(&sizes, number % threads).iter())
                    .zip(digits(&sizes, number / threads * threads))
                    .map(|(t, r)| t + r)
                    .collect();
                assert_eq!(sum, digits(&sizes, number), "{sizes:?} {threads} {number}");
                assert!(seen.insert(sum));
            }
        }
    }
}

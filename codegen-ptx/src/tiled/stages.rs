//! Products of doubles whose operands come by copies that threads do not wait for (`cp.async`), and whose
//! factors are in registers one operation ahead.
//!
//! There are `n` sets of buffers ([`Tiling::stages`](pollyrs_schedule::Tiling::stages)); strip `t` uses set
//! `t mod n`. A strip has `m > 1` operations of a warp for each fragment ([`Fragments`]).
//! ```text
//! barrier
//! for each of the strips 0 .. n - 2: if it is whole: copy it; commit
//! wait for all commits but the last n - 2; barrier; load the factors of operation 0 of strip 0
//! for each whole strip t
//!   for each operation s < m
//!     if s = m - 1: wait for all commits but the last n - 2; barrier
//!     load the factors of the operation behind this one    (of strip t + 1 if s = m - 1)
//!     if s = 0: if strip t + n - 1 is whole: copy it; commit
//!     multiply the factors of operation s
//! ```
//! So tensor cores have work while factors are on their way from shared memory, at the turn from strip to
//! strip as well. (Prototypes on an H200, products at 4096, tiles of 128 × 128 by strips of 16: 60.0 TFLOP/s,
//! without loads ahead 47.1; cuBLAS 60.6 in the same run.)
//!
//! **Argument.** The arrays are not written in this launch, so that a copy may come as early as it likes.
//! There is one commit for each strip up to `t + n - 1` when strip `t` waits, whether something was copied or
//! not, so that all but the last `n - 2` hold the copies of strip `t + 1`; each thread waits for its own
//! ones, and the barrier for all threads. What is copied in strip `t` goes to the buffers of strip `t - 1`,
//! whose last reads are before the barrier in strip `t - 1`. Behind the last whole strip nothing is on its
//! way; what is loaded there as factors of a strip that was not copied is not used.
//!
//! In strips in which a guard keeps some point from an instance
//! ([`OperandTile::full`](pollyrs_schedule::OperandTile::full)) the points run one by one.

use crate::affine::expr::ExprEmitter;
use crate::ir::error::Result;
use crate::ir::llvm::*;
use crate::ops::copies;
use crate::ops::mma::DEPTH;
use crate::tiled::chunks::{Chunks, Strip};
use crate::tiled::copy;
use crate::tiled::pipeline::{Span, Strips};
use crate::tiled::product::{Fragments, Operands};
use crate::tiled::state::KernelBuilder;
use crate::tiled::walk::{barrier_after, barrier_before, enter, guarded, holds};
use inkwell::llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntSLE};
use pollyrs_schedule::planted::planted;

/// A loop over strips of products.
pub(super) struct Products<'p, 'n> {
    pub strips: &'p Strips,
    pub span: &'p Span,
    pub chunks: &'p Chunks,
    pub fragments: &'p Fragments<'n>,
    pub function: Value,
}

/// Addresses of the thread's chunks, by group and round.
type Addresses = Vec<Vec<Value>>;

impl Products<'_, '_> {
    /// The whole strips, the first of which is whole. Ends in a branch to `left`; the result is the first
    /// strip that is left, and the block that the branch is in.
    pub fn whole_strips<'a>(
        &self,
        k: &mut KernelBuilder<'a>,
        emit: &mut ExprEmitter<'a>,
        left: Block,
    ) -> Result<(Value, Block)> {
        let ir = k.ir;
        let Span { init, step, .. } = self.span;
        let tiling = k.storage.tiling;
        let (stages, operand_tile) = (tiling.stages, &tiling.operand_tiles[self.strips.operand_tile]);
        let (_, bytes) = copy::layout(k, operand_tile);
        let (bytes, all) = (ir.int(bytes.into()), ir.int(i64::from(stages * bytes)));

        k.storage.cursor.places = Some(self.chunks.places());
        // Others may still be reading the buffers for another loop.
        barrier_before(k);
        // Strips in front of `end` are on their way.
        let (mut end, mut addresses) = (*init, self.chunks.addresses.clone());
        for s in 0..i64::from(stages) - 1 {
            let at = ir.add(*init, ir.int(step * s));
            end = self.prefetch(k, emit, at, end, &addresses, ir.mul(bytes, ir.int(s)))?;
            addresses = self.moved(k, &addresses);
        }
        let factors = self.turn(k, emit, *init, ir.int(0))?;
        let (body, before) = (ir.append_block(self.function, "strip"), ir.block());
        ir.br(body);

        ir.at_end(body);
        let mut phis = Vec::new();
        let mut phi = |start: Value| {
            let phi = ir.phi(start.ty(), &[]);
            phis.push((phi, start));
            phi
        };
        let (value, offset, behind) = (phi(*init), phi(ir.int(0)), phi(end));
        let addresses: Addresses = addresses.iter().map(|g| g.iter().map(|a| phi(*a)).collect()).collect();
        let factors = factors.of(&factors.values().map(&mut phi).collect::<Vec<_>>());
        let target = ir.add(value, ir.int(step * i64::from(stages - 1)));
        let free =
            ir.select(ir.icmp(LLVMIntEQ, offset, ir.int(0)), ir.sub(all, bytes), ir.sub(offset, bytes));
        let free = if planted("stage-buffer") { offset } else { free };
        let next = ir.add(value, ir.int(*step));
        let turned = ir.add(offset, bytes);
        let turned = ir.select(ir.icmp(LLVMIntEQ, turned, all), ir.int(0), turned);
        let mut end = behind;
        let factors = match &operand_tile.full {
            None => self.operations(k, emit, factors, (value, offset), (next, turned), |k, emit| {
                end = self.prefetch(k, emit, target, behind, &addresses, free)?;
                Ok(())
            })?,
            Some(full) => {
                end = self.prefetch(k, emit, target, behind, &addresses, free)?;
                self.enter(k, emit, value, offset)?;
                let whole = holds(k, emit, full)?;
                let block = |name: &str| ir.append_block(self.function, name);
                let (points, some, after) = (block("allpoints"), block("somepoints"), block("endpoints"));
                ir.cond_br(whole, points, some);
                ir.at_end(points);
                k.storage.cursor.unguarded = true;
                let one =
                    self.operations(k, emit, factors, (value, offset), (next, turned), |_, _| Ok(()))?;
                k.storage.cursor.unguarded = false;
                let from = ir.block();
                ir.br(after);
                ir.at_end(some);
                // The buffers in force are those that the other way ended with.
                let start = self.enter(k, emit, value, offset)?;
                guarded(k, self.function, emit, &self.strips.inner, operand_tile.strip, start)?;
                let other = self.turn(k, emit, next, turned)?;
                let behind = ir.block();
                ir.br(after);
                ir.at_end(after);
                let pairs = one.values().zip(other.values());
                let joined: Vec<_> = pairs.map(|(a, b)| ir.phi(a.ty(), &[(a, from), (b, behind)])).collect();
                one.of(&joined)
            }
        };
        k.storage.cursor.loaded.clear();
        k.storage.cursor.places = None;
        let done = ir.block();
        let again = [next, turned, end].into_iter();
        let again = again.chain(self.moved(k, &addresses).into_iter().flatten()).chain(factors.values());
        for ((phi, start), again) in phis.into_iter().zip(again) {
            ir.add_incoming(phi, start, before);
            ir.add_incoming(phi, again, done);
        }
        ir.cond_br(ir.icmp(LLVMIntSLE, end, next), left, body);
        Ok((next, done))
    }

    /// All operations of the strip at `value` whose buffers start at `offset`; `copies` comes behind the
    /// first loads. The result are the factors of the first operation of the strip behind it.
    fn operations<'a>(
        &self,
        k: &mut KernelBuilder<'a>,
        emit: &mut ExprEmitter<'a>,
        first: Operands,
        (value, offset): (Value, Value),
        (next, turned): (Value, Value),
        copies: impl FnOnce(&mut KernelBuilder<'a>, &mut ExprEmitter<'a>) -> Result<()>,
    ) -> Result<Operands> {
        let ir = k.ir;
        let count = k.storage.tiling.operand_tiles[self.strips.operand_tile].strip / DEPTH;
        let variable = self.strips.inner.for_iterator()?.id()?.name();
        let (mut factors, mut copies) = (first, Some(copies));
        for s in 0..count {
            let behind = if s + 1 < count {
                let start = self.enter(k, emit, value, offset)?;
                let start = ir.add(start, ir.int(i64::from((s + 1) * DEPTH)));
                self.fragments.load(k, emit, &variable, start)?
            } else {
                self.turn(k, emit, next, turned)?
            };
            if let Some(copies) = copies.take() {
                copies(k, emit)?;
            }
            self.fragments.multiply(k, &factors)?;
            factors = behind;
        }
        Ok(factors)
    }

    /// Waits for the strip at `value` in the buffers that start at `offset`, and loads the factors of its
    /// first operation.
    fn turn<'a>(
        &self,
        k: &mut KernelBuilder<'a>,
        emit: &mut ExprEmitter<'a>,
        value: Value,
        offset: Value,
    ) -> Result<Operands> {
        let variable = self.strips.inner.for_iterator()?.id()?.name();
        let stages = k.storage.tiling.stages;
        copies::wait(k, stages - 2);
        barrier_after(k);
        let start = self.enter(k, emit, value, offset)?;
        self.fragments.load(k, emit, &variable, start)
    }

    /// Makes the buffers of the strip at `value`, which start at `offset`, those in force; the result is its
    /// first iteration.
    fn enter<'a>(
        &self,
        k: &mut KernelBuilder<'a>,
        emit: &mut ExprEmitter<'a>,
        value: Value,
        offset: Value,
    ) -> Result<Value> {
        let stages = k.storage.tiling.stages;
        let args = self.strips.args_at(emit, &self.span.name, value)?;
        enter(k, emit, self.strips.operand_tile, &args, offset, stages)?;
        Ok(self.strips.extent(k, emit, &self.span.name, value)?.0)
    }

    /// Copies the strip `at` to the buffers that start at `offset` if it is whole and all strips before it
    /// are on their way, which end at `end`; commits. The result is where they end now.
    fn prefetch<'a>(
        &self,
        k: &mut KernelBuilder<'a>,
        emit: &mut ExprEmitter<'a>,
        at: Value,
        end: Value,
        addresses: &Addresses,
        offset: Value,
    ) -> Result<Value> {
        let ir = k.ir;
        let operand_tile = &k.storage.tiling.operand_tiles[self.strips.operand_tile];
        let (_, whole) = self.strips.extent(k, emit, &self.span.name, at)?;
        let exists = ir.and(ir.icmp(LLVMIntSLE, at, self.span.last), ir.icmp(LLVMIntEQ, at, end));
        let block = |name: &str| ir.append_block(self.function, name);
        let (fetch, after) = (block("prefetch"), block("fetched"));
        let skipped = ir.block();
        ir.cond_br(ir.and(exists, whole), fetch, after);
        ir.at_end(fetch);
        let args = self.strips.args_at(emit, &self.span.name, at)?;
        let strip = Strip { addresses, args: &args, offset };
        self.chunks.copy(k, self.function, emit, operand_tile, &strip)?;
        let (further, from) = (ir.add(at, ir.int(self.span.step)), ir.block());
        ir.br(after);
        ir.at_end(after);
        let end = ir.phi(ir.i64_type(), &[(end, skipped), (further, from)]);
        copies::commit(k);
        Ok(end)
    }

    /// The addresses of the next strip.
    fn moved(&self, k: &KernelBuilder<'_>, addresses: &Addresses) -> Addresses {
        let groups = addresses.iter().zip(&self.chunks.steps);
        groups.map(|(g, step)| g.iter().map(|a| k.ir.byte_offset(*a, *step)).collect()).collect()
    }
}

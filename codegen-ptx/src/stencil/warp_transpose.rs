//! Rows change places between the lanes of a warp on their way from and to memory.
//!
//! Problem: a lane computes neighbouring columns, eight in one dimension. If it loads and stores these, each
//! access of the warp touches as many lines of the cache, and eight times as many sectors as it has bytes
//! for: on an H200 that is what a launch of 32 steps takes (`bench/notes/014-stencils-contracted.md`).
//! Approach: accesses are those of consecutive elements, lane `l` has column `32 k + l` of the `k`-th, and
//! shared memory between:
//! ```text
//! load:   for k: shared[33 k + l] = source[32 k + l];  barrier;  for c: e = cells * l + c: own[c] = shared[e + e / 32];  barrier
//! store:  the same backwards
//! ```
//! Invariants: all lanes of the warp come here together; blocks are one warp, so that barriers cost little.
//! While the columns are exchanged, those of [`Tile::columns`] and their masks are the ones that are loaded
//! and stored.

use crate::ir::intrinsics::BARRIER;
use crate::ir::llvm::*;
use crate::stencil::tile::{Tile, Values, WARP};
use inkwell::llvm_sys::LLVMOpcode;
use pollyrs_schedule::planted::planted;
use std::mem::swap;

impl Tile<'_> {
    /// The masks of the columns that are loaded and stored.
    pub(super) fn prepare_transposes(&mut self) {
        self.exchange_columns();
        let masks = self.cursor.transposed.is_some().then(|| self.masks());
        if let Some(masks) = masks {
            self.cursor.inside = masks;
        }
        self.exchange_columns();
    }

    /// From the thread's own columns to those that it loads and stores, or back.
    pub(super) fn exchange_columns(&mut self) {
        if let Some((columns, inside)) = &mut self.cursor.transposed {
            swap(columns, &mut self.cursor.columns);
            swap(inside, &mut self.cursor.inside);
        }
    }

    /// Elements from one of the columns that are loaded to the next.
    pub(super) fn stride(&self) -> i64 {
        if self.cursor.transposed.is_some() { WARP.into() } else { 1 }
    }

    /// What was loaded of a buffer, by the thread's own columns.
    pub(super) fn to_own(&self, buffer: usize, values: Values) -> Values {
        if self.cursor.transposed.is_none() { values } else { self.transpose(buffer, &values, false) }
    }

    /// The thread's own values, by the columns that it stores.
    pub(super) fn to_memory(&self, buffer: usize, values: &Values) -> Values {
        if self.cursor.transposed.is_none() { values.clone() } else { self.transpose(buffer, values, true) }
    }

    fn transpose(&self, buffer: usize, values: &Values, to_memory: bool) -> Values {
        let ir = self.k.ir;
        let (ty, bytes) = (self.fixed.elements[buffer].0, self.buffer_bytes(buffer));
        let lane = self.fixed.thread[1];
        let place = |cell: usize, own: bool| {
            let at = if own {
                let e = ir.add(ir.mul(lane, self.number(values.len() as i64)), self.number(cell as i64));
                ir.add(e, ir.binary(LLVMOpcode::LLVMLShr, e, self.number(5)))
            } else {
                ir.add(lane, self.number((i64::from(WARP) + 1) * cell as i64))
            };
            ir.byte_offset(self.fixed.shared, self.wide(ir.mul(at, self.number(bytes.into()))))
        };
        for (cell, v) in values.iter().enumerate() {
            self.note("a row on its way", buffer);
            ir.store_aligned(*v, place(cell, to_memory), bytes);
        }
        self.wait();
        let load = |cell| -> Value {
            self.note("a row on its way", buffer);
            ir.load_aligned(ty, place(cell, !to_memory), bytes)
        };
        let transposed = (0..values.len()).map(load).collect();
        self.wait();
        transposed
    }

    fn wait(&self) {
        if planted("warp-transpose") {
            return;
        }
        self.k.abstract_call(BARRIER, self.k.ir.void_type());
    }
}

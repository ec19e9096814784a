//! One thread's share of a tile: what is fixed, where the code that is being emitted is, and coordinates.
//! What the thread does is in the modules above this one: `entry` computes what is fixed, `node` a row
//! of a node, `memory` loads and stores, `exchange` hands values to other threads.
//!
//! A thread owns `cells` columns, contiguous along y and x. Rows and columns are coordinates of the arrays,
//! in 32 bits: the host fuses no steps where they do not fit.

use crate::ir::intrinsics::BARRIER;
use crate::ir::llvm::*;
use crate::kernel::module::StencilScalar;
use crate::kernel::storage::PlainBuilder as KernelBuilder;
use inkwell::llvm_sys::LLVMIntPredicate::*;
use pollyrs_schedule::stencil::{StencilPlan, plan};
use pollyrs_scop::ArrayId;
use std::collections::BTreeMap;

/// By cell.
pub(super) type Values = Vec<Value>;

/// A column of the thread.
#[derive(Clone, Copy)]
pub(super) struct Column {
    /// Coordinates along y and x.
    pub(super) at: [Value; 2],
    /// A mask: whether the block writes it.
    pub(super) output: Value,
}

/// A box that is tested against.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// The hull of a buffer.
    Hull(usize),
    /// The box of a step.
    Step(usize),
    /// The box of a case of a step.
    Case(usize, usize),
}

/// What the code of an iteration can rely on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Version {
    /// All rows and columns are inside: no test is needed.
    Inner,
    /// All rows are inside; columns are tested, once for all rows.
    Sides,
    /// Nothing.
    Border,
}

/// One thread's share of a tile.
pub(super) struct Tile<'a> {
    pub k: KernelBuilder<'a>,
    pub fixed: Fixed<'a>,
    pub cursor: Cursor,
}

/// What is the same in all of a thread's code: computed in the entry block.
pub(super) struct Fixed<'a> {
    pub function: Value,
    pub plan: &'a StencilPlan,
    pub(super) elements: &'a [(Type, u32)],
    pub(super) given: BTreeMap<StencilScalar, Value>,
    pub(super) src: BTreeMap<ArrayId, Value>,
    pub(super) dst: BTreeMap<ArrayId, Value>,
    pub(super) shared: Value,
    /// Where each node's part of a slot begins, and bytes of a slot.
    pub(super) begins: Vec<usize>,
    pub(super) slot_bytes: usize,
    pub(super) thread: [Value; 2],
    /// The block's first column along y and x, halo included.
    pub(super) origin: [Value; 2],
    /// The block's last output column along y and x.
    pub(super) last: [Value; 2],
    /// The block's output rows.
    pub(super) rows: [Value; 2],
    /// First and last iteration.
    pub begin: Value,
    pub end: Value,
    /// By step, whether its reports count ([`super::reports`]).
    pub(super) counted: Vec<bool>,
    /// By buffer: linear index of the element `[selectors, 0, 0, 0]`, and elements a row and a line (of the y
    /// dimension).
    pub(super) layout: Vec<Layout>,
}

/// What belongs to the code that is being emitted.
pub(super) struct Cursor {
    /// The version, and whether it is the one for a block's first and last iterations ([`super::ramp`]).
    pub version: Version,
    pub ramp: bool,
    /// Whether the points of a step have a test of their own for operands of divisions
    /// ([`super::iteration`]).
    pub(super) tests: bool,
    /// Addresses of the slots, by iteration of the unrolled loop modulo their number.
    pub slots: Vec<Value>,
    pub(super) columns: Vec<Column>,
    /// The columns that a thread loads and stores, where these are others ([`super::warp_transpose`]), and
    /// their masks; or the thread's own, while `columns` are those.
    pub(super) transposed: Option<(Vec<Column>, Vec<Vec<Value>>)>,
    /// By buffer, then by step, a mask for each column: whether it is in the box.
    pub(super) inside: Vec<Vec<Value>>,
    /// By step and case the same, of the version: the inner one has none.
    pub(super) cases: BTreeMap<(usize, usize), Vec<Value>>,
    /// What this iteration has read of other threads' values: node, age, and cell from the thread's first.
    pub(super) fetched: BTreeMap<(usize, i64, [i64; 2]), Value>,
    /// For each buffer that is loaded, and each that is stored, the address of the thread's first column in
    /// the row that comes next; at the sides, of a load, the row's offset in bytes.
    pub(super) walks: BTreeMap<(usize, bool), Value>,
    /// Whether rows are asked of the cache early.
    pub(super) prefetches: Option<Value>,
    /// By buffer and cell, see [`Tile::enter`].
    pub(super) sides: BTreeMap<usize, Values>,
}

impl Cursor {
    /// Before the first version.
    pub(super) fn new() -> Cursor {
        Cursor {
            version: Version::Border,
            ramp: false,
            tests: true,
            slots: Vec::new(),
            columns: Vec::new(),
            transposed: None,
            inside: Vec::new(),
            cases: BTreeMap::new(),
            fetched: BTreeMap::new(),
            walks: BTreeMap::new(),
            prefetches: None,
            sides: BTreeMap::new(),
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Layout {
    pub(super) start: Value,
    pub(super) row: Value,
    pub(super) line: Value,
}

/// Threads of a warp.
pub(super) const WARP: u32 = 32;

impl<'a> Tile<'a> {
    pub(super) fn scalar(&self, s: StencilScalar) -> Value {
        self.fixed.given.get(&s).copied().unwrap_or_else(|| self.k.ir.int(0))
    }

    pub fn cells(&self) -> usize {
        self.fixed.plan.config.cells.iter().product::<u32>() as usize
    }

    /// The array dimension of an axis; the missing ones have one coordinate, 0.
    pub(super) fn dimension(&self, axis: usize) -> Option<usize> {
        (0..self.fixed.plan.stencil.dims).find(|d| plan::axis(self.fixed.plan.stencil.dims, *d) == axis)
    }

    /// What the host computed, in 32 bits.
    pub(super) fn corner(&self, s: StencilScalar) -> Value {
        self.k.ir.trunc(self.scalar(s), self.k.ir.i32_type())
    }

    /// First and last coordinate of a box along a dimension.
    pub(super) fn ends(&self, e: Extent, d: usize) -> [StencilScalar; 2] {
        let steps = &self.fixed.plan.stencil.steps;
        match e {
            Extent::Step(k) if steps[k].partial => {
                [StencilScalar::StepLower(k, d), StencilScalar::StepUpper(k, d)]
            }
            Extent::Case(k, c) => [StencilScalar::CaseLower(k, c, d), StencilScalar::CaseUpper(k, c, d)],
            Extent::Step(k) => self.ends(Extent::Hull(steps[k].buffer), d),
            Extent::Hull(b) => [StencilScalar::Lower(b, d), StencilScalar::Upper(b, d)],
        }
    }

    pub(super) fn corners(&self, e: Extent, d: usize) -> [Value; 2] {
        self.ends(e, d).map(|s| self.corner(s))
    }

    /// Bounds along an axis.
    pub(super) fn bound(&self, axis: usize, f: impl Fn(usize) -> StencilScalar) -> Value {
        self.dimension(axis).map_or(self.number(0), |d| self.corner(f(d)))
    }

    /// A constant coordinate.
    pub fn number(&self, v: i64) -> Value {
        self.k.ir.int32(v as u32)
    }

    pub(super) fn wide(&self, v: Value) -> Value {
        self.k.ir.sext(v, self.k.ir.i64_type())
    }

    pub(super) fn both(&self, at: Value, lower: Value, upper: Value) -> Value {
        let ir = self.k.ir;
        ir.and(ir.icmp(LLVMIntSLE, lower, at), ir.icmp(LLVMIntSLE, at, upper))
    }

    pub(super) fn smin(&self, a: Value, b: Value) -> Value {
        let ir = self.k.ir;
        ir.select(ir.icmp(LLVMIntSLT, a, b), a, b)
    }

    /// The linear index of an element of a buffer.
    pub(super) fn index(&self, b: usize, row: Value, at: [Value; 2]) -> Value {
        let ir = self.k.ir;
        let l = self.fixed.layout[b];
        let mut index = ir.add(l.start, self.wide(at[1]));
        if self.fixed.plan.stencil.dims == 3 {
            index = ir.add(index, ir.mul(self.wide(at[0]), l.line));
        }
        if self.fixed.plan.stencil.dims > 1 {
            index = ir.add(index, ir.mul(self.wide(row), l.row));
        }
        index
    }

    /// First and last column of the thread's warp along an axis; of the block where warps are not lines of
    /// threads.
    pub(super) fn reach(&self, axis: usize) -> [Value; 2] {
        let ir = self.k.ir;
        let [threads, cells] =
            [self.fixed.plan.config.threads, self.fixed.plan.config.cells].map(|n| i64::from(n[axis - 1]));
        let lines = self.fixed.plan.config.threads[1].is_multiple_of(WARP);
        let (begin, held) = match (lines, axis) {
            (false, _) => (ir.int32(0), threads),
            (true, 2) => (ir.and(self.fixed.thread[1], self.number(-i64::from(WARP))), WARP.into()),
            (true, _) => (self.fixed.thread[0], 1),
        };
        let first = ir.add(self.fixed.origin[axis - 1], ir.mul(begin, self.number(cells)));
        [first, ir.add(first, self.number(held * cells - 1))]
    }

    /// Called at the start of an iteration's code.
    pub fn begin_iteration(&mut self) {
        self.cursor.fetched.clear();
    }

    /// The type of a node's values.
    pub fn element(&self, node: usize) -> Type {
        self.fixed.elements[self.fixed.plan.nodes[node].buffer].0
    }

    /// Bytes of an element of a buffer, and of a node's.
    pub(super) fn buffer_bytes(&self, b: usize) -> u32 {
        self.k.scop.array(self.fixed.plan.stencil.buffers[b].array).elem.bytes()
    }

    pub(super) fn bytes(&self, node: usize) -> u32 {
        self.buffer_bytes(self.fixed.plan.nodes[node].buffer)
    }

    /// Waits for the other threads of the block, if values pass through shared memory.
    pub fn barrier(&self) {
        if self.fixed.plan.config.is_warp() {
            return;
        }
        self.k.abstract_call(BARRIER, self.k.ir.void_type());
    }
}

//! Which version of the code a warp needs: tests of rows and columns against boxes.

use crate::ir::llvm::*;
use crate::kernel::module::StencilScalar;
use crate::stencil::tile::{Column, Extent, Tile, Version};
use inkwell::llvm_sys::LLVMIntPredicate::*;
use pollyrs_schedule::stencil::Step;
use std::collections::BTreeMap;

impl Tile<'_> {
    /// The boxes that are tested against, with the dimensions in which they are thin.
    fn extents(&self) -> impl Iterator<Item = (Extent, &[usize])> {
        let s = &self.fixed.plan.stencil;
        let hulls = (0..s.buffers.len()).map(|b| (Extent::Hull(b), &[][..]));
        let partial = s.steps.iter().enumerate().filter(|(_, s)| s.partial);
        let cases = s.steps.iter().enumerate().flat_map(|(k, step)| {
            let of_step = step.cases.iter().enumerate();
            of_step.map(move |(c, case)| (Extent::Case(k, c), case.thin.as_slice()))
        });
        hulls.chain(partial.map(|(k, s)| (Extent::Step(k), s.thin.as_slice()))).chain(cases)
    }

    /// Whether rows `first` to `last` are inside of every box, and away from those that are thin along rows.
    /// The same for all threads of a block.
    pub fn rows_inside(&self, first: Value, last: Value) -> Value {
        let ir = self.k.ir;
        let mut inside = ir.bool(true);
        if self.dimension(0).is_none() {
            return inside;
        }
        for (e, thin) in self.extents() {
            let [lower, upper] = self.corners(e, 0);
            let holds = if thin.contains(&0) {
                ir.or(ir.icmp(LLVMIntSLT, last, lower), ir.icmp(LLVMIntSLT, upper, first))
            } else {
                ir.and(ir.icmp(LLVMIntSLE, lower, first), ir.icmp(LLVMIntSLE, last, upper))
            };
            inside = ir.and(inside, holds);
        }
        inside
    }

    /// Whether no row from `first` to `last` is the first or last that is read of a buffer.
    pub fn rows_within(&self, first: Value, last: Value) -> Value {
        let ir = self.k.ir;
        (0..self.fixed.plan.stencil.buffers.len()).fold(ir.bool(true), |all, b| {
            let [lower, upper] = [StencilScalar::OuterLower(b, 0), StencilScalar::OuterUpper(b, 0)];
            let above = ir.icmp(LLVMIntSLT, self.corner(lower), first);
            ir.and(all, ir.and(above, ir.icmp(LLVMIntSLT, last, self.corner(upper))))
        })
    }

    /// Whether all columns of the warp are inside of every box, and away from those that are thin along
    /// columns. The same for all threads of a warp: barriers are passed in any version.
    pub fn columns_inside(&self) -> Value {
        let ir = self.k.ir;
        let mut inside = ir.bool(true);
        for (e, thin) in self.extents() {
            // Without its rows nothing of the box is met.
            if thin.contains(&0) && self.dimension(0) == Some(0) {
                continue;
            }
            let mut apart = ir.bool(false);
            for axis in 1..3 {
                let Some(d) = self.dimension(axis) else { continue };
                let ([lower, upper], [first, last]) = (self.corners(e, d), self.reach(axis));
                if thin.contains(&d) {
                    let before = ir.icmp(LLVMIntSLT, last, lower);
                    apart = ir.or(apart, ir.or(before, ir.icmp(LLVMIntSLT, upper, first)));
                } else if thin.is_empty() {
                    let covers = ir.and(ir.icmp(LLVMIntSLE, lower, first), ir.icmp(LLVMIntSLE, last, upper));
                    inside = ir.and(inside, covers);
                }
            }
            if !thin.is_empty() {
                inside = ir.and(inside, apart);
            }
        }
        inside
    }

    /// Whether the warp's columns are all away from what the block's outputs depend on.
    pub fn is_idle(&self) -> Value {
        let ir = self.k.ir;
        let mut idle = ir.bool(false);
        for axis in 1..3 {
            let needed = self.fixed.plan.nodes.iter().filter(|n| n.needed);
            let after = needed.map(|n| n.hi[axis]).max().unwrap_or(0);
            let last = ir.add(self.fixed.last[axis - 1], self.number(after));
            idle = ir.or(idle, ir.icmp(LLVMIntSGT, self.reach(axis)[0], last));
        }
        idle
    }

    /// The masks of [`Tile::inside`].
    pub(super) fn masks(&self) -> Vec<Vec<Value>> {
        let hulls = (0..self.fixed.plan.stencil.buffers.len()).map(Extent::Hull);
        self.masks_of(hulls.chain((0..self.fixed.plan.stencil.steps.len()).map(Extent::Step)))
    }

    /// The masks of the cases, in front of the loop of a version that needs them.
    pub(super) fn enter_cases(&mut self) {
        self.cursor.cases.clear();
        if self.cursor.version == Version::Inner {
            return;
        }
        let numbers =
            |(k, step): (usize, &Step)| (0..step.cases.len()).map(move |c| (k, c)).collect::<Vec<_>>();
        let all: Vec<_> = self.fixed.plan.stencil.steps.iter().enumerate().flat_map(numbers).collect();
        let masks = self.masks_of(all.iter().map(|(k, c)| Extent::Case(*k, *c)));
        self.cursor.cases = all.into_iter().zip(masks).collect();
    }

    /// For each box a mask of each column; boxes with the same corners share them.
    fn masks_of(&self, boxes: impl Iterator<Item = Extent>) -> Vec<Vec<Value>> {
        let ir = self.k.ir;
        let mut made: BTreeMap<Vec<usize>, Vec<Value>> = BTreeMap::new();
        let mask_of = |e: Extent| {
            let axes: Vec<(usize, usize)> = (1..3).filter_map(|a| Some((a, self.dimension(a)?))).collect();
            let key =
                axes.iter().flat_map(|(_, d)| self.ends(e, *d)).map(|s| self.scalar(s).address()).collect();
            let build = || {
                let inside = |c: &Column| {
                    axes.iter().fold(ir.bool(true), |all, (axis, d)| {
                        let [lower, upper] = self.corners(e, *d);
                        ir.and(all, self.both(c.at[axis - 1], lower, upper))
                    })
                };
                self.cursor.columns.iter().map(|c| self.mask(inside(c))).collect()
            };
            made.entry(key).or_insert_with(build).clone()
        };
        boxes.map(mask_of).collect()
    }

    /// A mask: whether a row is in a box.
    pub(super) fn row_inside(&self, e: Extent, row: Value) -> Value {
        if self.fixed.plan.stencil.dims == 1 || self.cursor.version != Version::Border {
            return self.number(0);
        }
        let [lower, upper] = self.corners(e, 0);
        self.mask(self.both(row, lower, upper))
    }
}

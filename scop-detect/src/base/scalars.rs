//! Values that cross statements: virtual arrays.
//!
//! **Problem.** A statement's body is straight-line code of one block. A value used in another block needs a
//! place. There are two kinds of places, as in Polly's `MemoryKind` (Value, PHI), but expanded:
//! - `Scalar(v, c)`: written where `v` is defined, read by users whose innermost common loop with the
//!   definition has depth `c`; one cell for each iteration of those `c` loops. If the definition is deeper,
//!   only its last iteration writes.
//! - `Phi(p)`: written at the end of the incoming blocks, read by the users inside the innermost loop around
//!   `p`. One cell for each iteration of the loops around `p`, without the loop that a header PHI carries a
//!   value around.
//!
//! **Invariant.** Between a write of a cell and a read of it in original order there is no other write of the
//! cell, unless the PHI itself is assigned anew in between: users in the same iteration of the innermost loop
//! of `p` run before the latch writes the next value, and the latch's own statements are kept together if
//! they would not.
//!
//! **Example.** `for (i...) { s = 0; for (j...) s += A[i][j]; B[i] = s; }` has `Phi(s)[i]`, written with `0`
//! before the inner loop and with the sum in it, and `Scalar(sum, 1)[i]`, written in the last iteration of
//! `j`.

use crate::base::blame::{several_exits, type_reason};
use crate::base::builder::{Builder, Given};
use crate::base::fail::Fail;
use crate::base::flow::Flow;
use crate::base::instructions::check_effects;
use crate::base::ir::{self, Block, Op, Value};
use isl::{DimType, Map, PwAff, Set};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::LoopId;
use pollyrs_scop::{ElemType, RejectReason};

/// PHIs with one source that are followed.
const MAX_NAMES: u32 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellKind {
    Scalar,
    Phi,
}

/// A virtual array.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub kind: CellKind,
    pub value: Value,
    /// The loops that index it, outermost first.
    pub loops: Vec<LoopId>,
    pub elem: ElemType,
    pub live_out: bool,
}

/// Length of the common prefix.
pub(crate) fn common(a: &[LoopId], b: &[LoopId]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

impl Builder<'_> {
    /// Refuses a region for a call in it, which says more than the pointers that its result or its arguments
    /// are.
    fn check_calls(&self) -> Result<(), Fail> {
        let calls =
            |b: &Block| ir::instructions(*b).into_iter().filter(|v| ir::opcode(*v) == Some(ir::Op::LLVMCall));
        self.given.region.blocks.difference(&self.found.excluded).flat_map(calls).try_for_each(check_effects)
    }

    pub fn new_cell(&self, flow: &Flow, kind: CellKind, value: Value, depth: usize) -> Result<Cell, Fail> {
        let ty = || type_reason(ir::type_of(value), value);
        if ir::is_pointer(value) {
            self.check_calls()?;
        }
        // Odd integers, truth values among them, lie in the next wider cell.
        let wide =
            || ir::int_bits(value).filter(|b| *b <= 64).map(|b| ElemType::Int(b.next_power_of_two().max(8)));
        let elem = ir::elem_type(ir::type_of(value)).or_else(wide).ok_or_else(|| Fail::at(ty(), value))?;
        let block = ir::parent(value).ok_or_else(|| Fail::at(ty(), value))?;
        let loops = flow.loops.get(&block).map(|l| l[..depth.min(l.len())].to_vec()).unwrap_or_default();
        Ok(Cell { kind, value, loops, elem, live_out: false })
    }

    /// The last iterations of `domain` for each iteration of its outermost `depth` loops.
    pub fn last_of(&self, domain: &Set, depth: usize) -> isl::Result<Set> {
        let dims = domain.dim(DimType::Set)?;
        if depth as u32 >= dims {
            return Ok(domain.clone());
        }
        let known = self.known()?;
        let d = domain.clone().intersect_params(known.clone())?;
        let m =
            Map::from_range(d).and_then(|m| m.move_dims(DimType::In, 0, DimType::Out, 0, depth as u32))?;
        let last = m.lexmax()?.move_dims(DimType::Out, 0, DimType::In, 0, depth as u32)?.range()?;
        last.coalesce()?.gist_params(known)
    }

    /// Upper bounds of the number of iterations of the loops that index `cell`, functions of the parameters.
    pub fn cell_sizes(&self, flow: &Flow, cell: &Cell) -> Result<Vec<PwAff>, Fail> {
        let mut sizes = Vec::new();
        for l in &cell.loops {
            let (entered, count) = &flow.entered[l];
            let known = self.known()?;
            let entered = entered.clone().intersect_params(known.clone())?;
            let dims = entered.dim(DimType::Set)?;
            // { [outer] -> [count] }, its range's maximum. Where the loops around it do not matter, neither
            // does when it is entered: a bound is enough, and that of all conditions on the way has a piece
            // for each of them.
            let counts = Map::from_pw_aff(count.clone())?;
            let alone = dims == 0 || !count.involves_dims(DimType::In, 0, dims)?;
            let counts = if alone { counts } else { counts.intersect_domain(entered)? }.range()?;
            debug_assert!(dims <= flow.loops.len() as u32);
            let max = counts.dim_max(0)?;
            let space = max.domain_space()?;
            let zero = PwAff::constant_on(space, 0)?;
            let one = isl::Val::int(&self.given.ctx, 1)?;
            // Where the loop is never entered, no cell is needed, yet a size is.
            sizes.push(max.add_constant(one)?.union_max(zero)?.coalesce()?.gist_params(known)?);
        }
        Ok(sizes)
    }
}

impl Given<'_> {
    /// The loop of the region that `p`'s block is the header of.
    pub fn headed_loop(&self, flow: &Flow, block: Block) -> Option<LoopId> {
        flow.loops.get(&block)?.last().copied().filter(|l| self.an.loops()[l.0].header == block)
    }

    /// The cell from which a statement of `user` reads the PHI `p` directly, as the depth of its index;
    /// `None` if the user is outside the innermost loop around `p`.
    pub fn phi_depth(&self, flow: &Flow, p: Value, user: &[LoopId]) -> Option<usize> {
        let block = ir::parent(p)?;
        let around = flow.loops.get(&block)?;
        let readable = common(around, user) == around.len();
        readable.then(|| around.len() - usize::from(self.headed_loop(flow, block).is_some()))
    }

    /// Values defined in the region and used behind it, with those that they are other names of: scalar
    /// evolution takes a PHI in the same loop with one source for that, and of a frozen number that is
    /// narrowed or widened the number itself.
    pub fn live_outs(&self) -> Vec<Value> {
        let blocks = self.cfg.blocks.iter().filter(|b| self.contains(**b));
        let defined = blocks.flat_map(|b| ir::instructions(*b));
        defined.filter(|v| !ir::is_void(*v) && self.lives_on(*v, MAX_NAMES)).collect()
    }

    fn lives_on(&self, v: Value, names: u32) -> bool {
        ir::uses(v).into_iter().any(|(user, _)| {
            // (Blocks that cannot be reached are error blocks; the device does not get there.)
            let Some(block) = ir::parent(user).filter(|b| self.cfg.id(*b).is_some()) else {
                return false;
            };
            !self.contains(block)
                || names > 0
                    && ir::opcode(v) == Some(Op::LLVMFreeze)
                    && matches!(
                        ir::opcode(user),
                        Some(Op::LLVMTrunc | Op::LLVMZExt | Op::LLVMSExt | Op::LLVMFreeze)
                    )
                    && self.lives_on(user, names - 1)
                || names > 0
                    && ir::opcode(user) == Some(Op::LLVMPHI)
                    && ir::parent(v)
                        .is_some_and(|own| self.an.innermost_loop(own) == self.an.innermost_loop(block))
                    && ir::incoming(user).into_iter().all(|(x, _)| x == v)
                    && self.lives_on(user, names - 1)
        })
    }

    /// With several edges into an exit that has PHIs, no single value stands for what happened in the region.
    pub fn check_exit(&self) -> Result<(), Fail> {
        let exit = self.region.exit;
        let edges = self.cfg.predecessors(exit).into_iter().filter(|p| self.contains(*p)).count();
        let phis = ir::instructions(exit).first().is_some_and(|i| ir::opcode(*i) == Some(Op::LLVMPHI));
        if edges <= 1 || !phis {
            return Ok(());
        }
        let several = self.an.loops().iter().position(|l| l.exiting.len() > 1 && self.contains(l.header));
        Err(match several {
            Some(l) => several_exits(self.an, LoopId(l), self.region.entry),
            None => Fail::new(RejectReason::LoopExits { blocker: None }, self.region.entry),
        })
    }
}

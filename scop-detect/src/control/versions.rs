//! Versions of a loop for strides that are one: those for other strides are left out.
//!
//! **Problem.** flang makes two versions of each innermost loop over an assumed-shape array: one for elements
//! that lie side by side, one for any stride, chosen by a test of the descriptor, `stride == 8`. The second
//! multiplies counters by the stride, so it makes the array one of a further dimension, of which there is one
//! element, in all loops of the region. Only one of the two runs, and which one is known before the region:
//! the other is left out of the model, under the assumption that the test goes the way that it nearly always
//! does. Where elements do lie apart the original runs.
//!
//! **Invariants.** A test is decided only if the value that it fixes multiplies a counter in an address
//! behind the way left out, and no counter there has a constant stride: of other tests (`if (verbose)`, or
//! `m == 1` for `A[i * m + j]`) either way is as likely. Excluded are the blocks that only such ways lead to;
//! no way leads from one out of the region but through blocks that are not excluded.
//!
//! **Example.** `for (j) if (s == 8) for (i) A[p * j + 8 * i] = 0; else for (i) A[p * j + s * i] = 0;`
//! (subscripts in bytes) is
//! ```text
//! assume s = 8; S0: domain { S0[j, i] }; must-write S0[j, i] -> A[j, i]
//! ```

use crate::base::builder::{Builder, Given};
use crate::base::fail::{Fail, Stop};
use crate::base::ir::{self, Block, Op, Pred, Value};
use pollyrs_llvm_shim::{ScevExpr, ScevHandle, ScevKind};
use pollyrs_scop::AssumptionKind;
use std::collections::BTreeSet;

/// Conditions joined by `and` are looked into this deep.
const MAX_DEPTH: u32 = 8;

/// A branch on equalities: the way to leave out, and the values compared.
struct Test {
    head: Block,
    condition: Value,
    equal: bool,
    out: Block,
    values: Vec<Value>,
}

/// The value that a condition has where what it compares for equality with constants is equal; these values
/// are added to `found`.
fn equality(condition: Value, depth: u32, found: &mut Vec<Value>) -> Option<bool> {
    let mut arg = |i| equality(ir::operand(condition, i), depth.checked_sub(1)?, found);
    match ir::opcode(condition)? {
        Op::LLVMICmp => {
            ir::constant_int(ir::operand(condition, 1))?;
            found.push(ir::operand(condition, 0));
            match ir::icmp_predicate(condition) {
                Pred::LLVMIntEQ => Some(true),
                Pred::LLVMIntNE => Some(false),
                _ => None,
            }
        }
        Op::LLVMAnd => (arg(0)? && arg(1)?).then_some(true),
        Op::LLVMOr => (!arg(0)? && !arg(1)?).then_some(false),
        Op::LLVMXor => (ir::constant_int(ir::operand(condition, 1))? != 0).then_some(!arg(0)?),
        // `and` and `or` that do not look at the second operand for nothing.
        Op::LLVMSelect => {
            let (first, number) = (arg(0)?, |i| ir::constant_int(ir::operand(condition, i)));
            if first && number(2) == Some(0) {
                arg(1)?.then_some(true)
            } else if !first && number(1).is_some_and(|n| n != 0) {
                (!arg(2)?).then_some(false)
            } else {
                None
            }
        }
        Op::LLVMFreeze => arg(0),
        _ => None,
    }
}

impl Builder<'_> {
    /// Excludes the versions for other strides. Whether there are any.
    pub fn leave_out_versions(&mut self) -> Result<bool, Fail> {
        let heads: Vec<Block> =
            self.given.cfg.blocks.iter().copied().filter(|b| self.given.contains(*b)).collect();
        let mut tests: Vec<Test> = heads.into_iter().filter_map(|head| self.test(head)).collect();
        // What is behind fewer ways is less, so ways that lead nowhere of their own go first.
        let mut excluded = self.given.behind(&tests);
        loop {
            let before = tests.len();
            tests.retain(|t| excluded.contains(&t.out) && self.fixes_a_stride(t, &excluded));
            if tests.len() == before {
                break;
            }
            excluded = self.given.behind(&tests);
        }
        let leaves = |b: &Block| self.given.cfg.successors(*b).iter().any(|s| !self.given.contains(*s));
        if excluded.is_empty() || excluded.iter().any(leaves) {
            return Ok(false);
        }
        for t in &tests {
            let place = self.given.before_region(None)?;
            let equal = match self.condition(t.condition, &place) {
                Ok(holds) if t.equal => holds,
                Ok(holds) => holds.complement()?,
                Err(Stop::Isl(e)) => return Err(e.into()),
                Err(Stop::Blocker(_)) => return Ok(false),
            };
            let at = ir::terminator(t.head);
            let names: BTreeSet<String> = t.values.iter().map(|v| self.name_of(*v)).collect();
            let names = names.into_iter().collect::<Vec<_>>().join(" and ");
            let note = format!("elements lie side by side: the stride in {names} is their size");
            match self.assume_params(AssumptionKind::Delinearization, equal.params()?, at, &note) {
                Ok(()) => {}
                Err(Stop::Isl(e)) => return Err(e.into()),
                Err(Stop::Blocker(_)) => return Ok(false),
            }
        }
        self.found.excluded = excluded;
        Ok(true)
    }

    /// The test at the end of a block, of values known before the region. One outside of loops chooses
    /// between regions that may be modelled each by itself, unless there is more in the region.
    fn test(&mut self, head: Block) -> Option<Test> {
        let condition = ir::branch_condition(head)?;
        let [yes, no] = self.given.cfg.successors(head)[..] else { return None };
        let mut values = Vec::new();
        let equal = equality(condition, MAX_DEPTH, &mut values)?;
        let exits = self
            .given
            .an
            .innermost_loop(head)
            .is_some_and(|l| self.given.an.loops()[l.0].exiting.contains(&head));
        if yes == no || exits || (self.given.loops_of(head).is_empty() && !self.given.region.joined) {
            return None;
        }
        let place = self.given.before_region(None).ok()?;
        self.strictly(|me| me.condition(condition, &place)).ok()?;
        Some(Test { head, condition, equal, out: if equal { no } else { yes }, values })
    }

    /// Whether a value that the test fixes multiplies a counter in an address of the blocks.
    fn fixes_a_stride(&self, test: &Test, blocks: &BTreeSet<Block>) -> bool {
        let own = blocks.iter().filter(|b| self.given.an.dominates(test.out, **b) || test.out == **b);
        let accesses = own.flat_map(|b| ir::instructions(*b)).filter_map(|i| Some((i, ir::address(i)?)));
        let mut strides = BTreeSet::new();
        for (inst, address) in accesses {
            let scope = ir::parent(inst).and_then(|b| self.given.an.innermost_loop(b));
            let e = self.given.an.scev(address, scope);
            if !has_constant_step(&e) {
                self.strides(&e, false, MAX_DEPTH, &mut strides);
            }
        }
        test.values.iter().any(|v| {
            let mut fixed = BTreeSet::new();
            self.strides(&self.given.an.scev(*v, None), true, MAX_DEPTH, &mut fixed);
            !fixed.is_disjoint(&strides)
        })
    }

    /// The values in the steps and products of an expression, or in all of it.
    fn strides(&self, e: &ScevExpr, all: bool, depth: u32, found: &mut BTreeSet<ScevHandle>) {
        if depth == 0 {
            return;
        }
        match &e.kind {
            ScevKind::Unknown(v) if self.given.defined_inside(*v) && ir::opcode(*v) == Some(Op::LLVMAShr) => {
                let x = self
                    .given
                    .an
                    .scev(ir::operand(*v, 0), ir::parent(*v).and_then(|b| self.given.an.innermost_loop(b)));
                self.strides(&x, all, depth - 1, found);
            }
            ScevKind::Unknown(_) if all => {
                found.insert(e.handle);
            }
            ScevKind::AddRec { operands, .. } => {
                for (i, o) in operands.iter().enumerate() {
                    self.strides(o, all || i > 0, depth - 1, found);
                }
            }
            ScevKind::Mul(operands) => {
                let factors = operands.iter().filter(|o| !matches!(o.kind, ScevKind::Constant(_))).count();
                operands.iter().for_each(|o| self.strides(o, all || factors > 1, depth - 1, found));
            }
            _ => e.operands().into_iter().for_each(|o| self.strides(o, all, depth - 1, found)),
        }
    }
}

impl Given<'_> {
    /// The blocks of the region that only the ways left out lead to.
    fn behind(&self, tests: &[Test]) -> BTreeSet<Block> {
        let mut reached = BTreeSet::from([self.region.entry]);
        let mut work = vec![self.region.entry];
        while let Some(b) = work.pop() {
            for s in self.cfg.successors(b) {
                let cut = tests.iter().any(|t| t.head == b && t.out == s);
                if !cut && self.contains(s) && reached.insert(s) {
                    work.push(s);
                }
            }
        }
        self.region.blocks.difference(&reached).copied().collect()
    }
}

/// Whether some loop moves an address by a constant.
fn has_constant_step(e: &ScevExpr) -> bool {
    let constant = |e: &ScevExpr| matches!(e.kind, ScevKind::Constant(_));
    let own = matches!(&e.kind, ScevKind::AddRec { operands, .. } if operands[1..].iter().any(constant));
    // A counter that is cut off to fewer bits is a factor of its own, of a stride beside it.
    let strided = matches!(&e.kind, ScevKind::Mul(factors) if !factors.iter().any(constant));
    own || (!strided && e.operands().into_iter().any(has_constant_step))
}

//! Values that are stored and used again in the same iteration.
//!
//! **Problem.** In `A[i] = exp(A[i] - m); s += A[i];` compilers add the value that they stored. A loop around
//! one statement with both is as serial as the sum, with everything that its terms cost; the same in
//! `r[i] -= a * q[i]; rr += r[i] * r[i];`.
//!
//! **Method.** The effect that writes the carried cell takes the value from the element where the block has
//! stored it, so that the store is a statement by itself, whose loop may run in parallel.
//!
//! **Invariants.** Effect and store belong to one block, the effect runs when the block is over, the store is
//! not conditional, and nothing in the block stores to the same base after it; arrays of different bases do
//! not overlap. So the element holds the value. (That the order of statements stays so is what the
//! dependences say: the access is a read of the array like any other.)

use crate::base::builder::Builder;
use crate::base::fail::Fail;
use crate::base::instructions::{inputs, is_expensive};
use crate::base::ir::{self, Op, Value};
use crate::base::scalars::CellKind;
use crate::memory::raw::base_of;
use crate::values::effects::{Effect, Effects, Out};
use std::collections::BTreeSet;

/// Larger operand trees are not looked through.
const MAX_TREE: usize = 64;

impl Builder<'_> {
    /// The store after which `v`, an operand of what `e` writes, lies in memory: if a statement of its own
    /// can then be parallel.
    pub fn stored_before(&self, fx: &Effects, e: &Effect, v: Value) -> Result<Option<Value>, Fail> {
        let Out::Cell(value, cell) = e.out else { return Ok(None) };
        let at_the_end = fx.cells[cell].kind == CellKind::Phi && e.at == usize::MAX;
        if !at_the_end || value == v || ir::elem_type(ir::type_of(v)).is_none() {
            return Ok(None);
        }
        if matches!(ir::opcode(v), None | Some(Op::LLVMPHI | Op::LLVMLoad)) {
            return Ok(None);
        }
        let stores: Vec<Value> =
            ir::instructions(e.block).into_iter().filter(|i| ir::opcode(*i) == Some(Op::LLVMStore)).collect();
        let Some(at) = stores.iter().position(|s| ir::operand(*s, 0) == v && !ir::is_conditional_store(*s))
        else {
            return Ok(None);
        };
        let base = base_of(self, stores[at])?;
        for later in &stores[at + 1..] {
            if base_of(self, *later)? == base {
                return Ok(None);
            }
        }
        Ok(self.worth_a_statement(e, v, stores[at], base)?.then_some(stores[at]))
    }

    /// Whether `v` costs something, or is computed from the array itself (which keeps store and cell in one
    /// statement), and not from what the iterations before have left.
    fn worth_a_statement(&self, e: &Effect, v: Value, store: Value, base: Value) -> Result<bool, Fail> {
        let (mut worth, mut seen, mut next) = (false, BTreeSet::new(), vec![v]);
        let own = self.given.an.innermost_loop(e.block).map(|l| &self.given.an.loops()[l.0].blocks);
        let varies = |i: Value| ir::parent(i).is_some_and(|b| own.is_some_and(|own| own.contains(&b)));
        while let Some(i) = next.pop() {
            if !seen.insert(i) || !varies(i) {
                continue;
            }
            match ir::opcode(i) {
                // Integers are counters as a rule, or indices from them.
                Some(Op::LLVMPHI) if ir::int_bits(i).is_none() => return Ok(false),
                Some(Op::LLVMPHI) => continue,
                Some(Op::LLVMLoad) => {
                    worth |= ir::parent(i) == Some(e.block)
                        && self.given.cfg.position(i) < self.given.cfg.position(store)
                        && base_of(self, i)? == base;
                    continue;
                }
                _ => worth |= is_expensive(i),
            }
            if seen.len() > MAX_TREE {
                return Ok(false);
            }
            next.extend(inputs(i));
        }
        Ok(worth)
    }
}

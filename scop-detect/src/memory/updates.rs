//! Updates of elements that data chooses: `h[p[i]]++`, `f[node[e]] += v`,
//! `if (c) most[k[i]] = max(most[k[i]], x[i])`.
//!
//! **Problem.** What is stored to under a subscript that data chooses orders all iterations. Where all that
//! is done to the array are updates with one operation that is associative and commutative, no order matters,
//! as long as each is made as a whole.
//!
//! **What is one.** A load, a chain of instructions in its block, and a store to the same address behind
//! them. Nothing else looks at the value that is loaded or at what becomes of it, and no other store to the
//! same base lies between. (With one, `t = h[a]; h[b]++; h[a] = t + 1;` would lose the update in the middle.)
//! A minimum or maximum may be a comparison of what is loaded: from the identity it holds where the store
//! makes a difference. The chain may choose to keep what is there: `select(c, old + v, old)`.
//!
//! **What isn't.** Sums of floating-point numbers without `reassoc`, which keep their order; elements
//! narrower than 32 bits, which devices have no operation for.

use crate::base::builder::{Builder, Given};
use crate::base::fail::Fail;
use crate::base::flow::Flow;
use crate::base::found::{Draft, FoundUpdate};
use crate::base::ir::{self, Block, Op, Value, flags, handle, identity};
use crate::memory::raw::base_of;
use inkwell::llvm_sys::LLVMFastMathAllowReassoc;
use pollyrs_scop::{AccessKind, AccessValue, Array, ArrayId, ElemType, RejectReason, Update, UpdateOp};
use std::collections::BTreeSet;

/// Instructions of a chain.
const MAX_CHAIN: usize = 32;

/// Where a chain comes from.
#[derive(Default)]
struct Chain {
    load: Option<Value>,
    instructions: Vec<Value>,
    op: Option<UpdateOp>,
    ordered: bool,
}

impl Builder<'_> {
    /// The update that a store is the end of.
    pub fn update_of(&self, store: Value) -> Option<FoundUpdate> {
        if ir::opcode(store) != Some(Op::LLVMStore) || !ir::is_simple_access(store) {
            return None;
        }
        let (block, address, new) = (ir::parent(store)?, ir::address(store)?, ir::operand(store, 0));
        let elem = ir::elem_type(ir::type_of(new))?;
        let wide = matches!(elem, ElemType::Int(32 | 64) | ElemType::F32 | ElemType::F64);
        if !wide || store.alignment() < elem.bytes() {
            return None;
        }
        let mut c = Chain::default();
        if !self.given.follow(&mut c, new, (block, address)) {
            return None;
        }
        let (load, op) = (c.load?, c.op?);
        let inner: BTreeSet<Value> = c.instructions.iter().copied().chain([load]).collect();
        let used_inside = |v: &Value| {
            ir::uses(*v)
                .into_iter()
                .all(|(user, _)| c.instructions.contains(&user) || *v == new && user == store)
        };
        // (The store takes the last value alone, and none as its address.)
        if !inner.iter().all(used_inside) || inner.contains(&address) {
            return None;
        }
        let base = base_of(self, store).ok()?;
        let (first, last) = (self.given.cfg.position(load), self.given.cfg.position(store));
        for v in ir::instructions(block) {
            let at = self.given.cfg.position(v);
            if at > first
                && at < last
                && ir::opcode(v) == Some(Op::LLVMStore)
                && base_of(self, v).ok()? == base
            {
                return None;
            }
        }
        let mut chain = c.instructions;
        chain.sort_by_key(|v| self.given.cfg.position(*v));
        chain.dedup();
        Some(FoundUpdate { load, chain, op, ordered: c.ordered })
    }

    /// Marks a store whose load has an element that data chooses: the same one.
    pub fn find_update(&mut self, store: Value) {
        if let Some(found) = self.update_of(store)
            && let Some(chosen) = self.found.data_subscripts.get(&found.load).cloned()
        {
            if !found.ordered {
                self.found.data_subscripts.insert(store, chosen);
            }
            self.found.updates.insert(store, found);
        }
    }

    /// Why a store under a subscript that data chooses can't be modelled, when it is neither an update nor
    /// one of a list.
    pub fn not_apart(&mut self, flow: &Flow, store: Value) -> Fail {
        self.found.data_subscripts.remove(&store);
        let (base, place) = match (base_of(self, store), flow.place_of(store)) {
            (Ok(base), Some(place)) => (base, place),
            (Err(fail), _) => return fail,
            _ => return Fail::at(RejectReason::ControlFlow, store),
        };
        let fail = match self.data_dependent_access(flow, store, base, place) {
            Err(fail) => fail,
            Ok(_) => {
                let (array, blocker) = (self.name_of(base), "data".to_string());
                Fail::at(RejectReason::Subscript { array, blocker }, store)
            }
        };
        self.no_update(store, fail)
    }

    /// The reason, or a better one.
    pub fn no_update(&self, store: Value, fail: Fail) -> Fail {
        match self.found.updates.get(&store) {
            Some(found) if found.ordered && matches!(fail.reason, RejectReason::Subscript { .. }) => {
                let value = base_of(self, store).map_or_else(|_| "it".to_string(), |b| self.name_of(b));
                Fail::at(RejectReason::OrderedSum { value }, store)
            }
            _ => fail,
        }
    }

    /// Fills in [`Statement::updates`](pollyrs_scop::Statement). The result is a store to an array that is
    /// accessed otherwise, too.
    pub fn add_updates(&self, drafts: &mut [Draft], arrays: &[Array]) -> Option<Value> {
        for d in drafts.iter_mut() {
            for a in d.statement.accesses.iter().filter(|a| a.kind != AccessKind::Read) {
                let AccessValue::Instruction(v) = a.value else { continue };
                let store = ir::value(v);
                if let Some(found) = self
                    .found
                    .updates
                    .get(&store)
                    .filter(|f| !f.ordered && self.found.data_subscripts.contains_key(&store))
                {
                    d.statement.updates.push(Update {
                        load: handle(found.load),
                        store: v,
                        chain: found.chain.iter().map(|v| handle(*v)).collect(),
                        op: found.op,
                        identity: handle(identity(found.op, ir::operand(store, 0))),
                    });
                }
            }
        }
        (0..arrays.len()).find_map(|id| {
            let own = || {
                let all = drafts.iter().map(|d| &d.statement);
                let all = all.flat_map(|s| s.accesses.iter().map(move |a| (s, a)));
                all.filter(|(_, a)| a.array == ArrayId(id))
            };
            let ops: BTreeSet<Option<UpdateOp>> = own().map(|(s, a)| s.update_of(a).map(|u| u.op)).collect();
            let store = || own().find_map(|(s, a)| s.update_of(a).map(|u| ir::value(u.store)));
            if ops.len() < 2 { None } else { store() }
        })
    }
}

impl Given<'_> {
    /// Whether `v` is what is loaded from an address, combined with other values; collects the way there.
    fn follow(&self, c: &mut Chain, v: Value, at: (Block, Value)) -> bool {
        let (block, address) = at;
        if ir::parent(v) != Some(block) || c.instructions.len() >= MAX_CHAIN {
            return false;
        }
        let Some(opcode) = ir::opcode(v) else { return false };
        if opcode == Op::LLVMLoad {
            let same = self.same_address(v, address) && ir::is_simple_access(v);
            if !same || c.load.is_some_and(|l| l != v) {
                return false;
            }
            c.load = Some(v);
            return true;
        }
        if c.instructions.contains(&v) {
            return true;
        }
        let begins = |x: Value| self.reaches(x, at, MAX_CHAIN);
        let arg = |i| ir::operand(v, i);
        if opcode == Op::LLVMSelect {
            if let Some((condition, load, op)) = self.selected(v, at) {
                c.instructions.extend([condition, v]);
                let fine = c.op.is_none_or(|known| known == op) && c.load.is_none_or(|l| l == load);
                (c.op, c.load) = (Some(op), Some(load));
                return fine;
            }
            c.instructions.push(v);
            return !begins(arg(0)) && self.follow(c, arg(1), at) && self.follow(c, arg(2), at);
        }
        let reassoc = flags(v) & LLVMFastMathAllowReassoc != 0;
        let (op, operands, from) = match opcode {
            Op::LLVMAdd => (UpdateOp::Add, vec![arg(0), arg(1)], 0..2),
            Op::LLVMSub => (UpdateOp::Add, vec![arg(0), arg(1)], 0..1),
            Op::LLVMAnd => (UpdateOp::And, vec![arg(0), arg(1)], 0..2),
            Op::LLVMOr => (UpdateOp::Or, vec![arg(0), arg(1)], 0..2),
            Op::LLVMXor => (UpdateOp::Xor, vec![arg(0), arg(1)], 0..2),
            Op::LLVMFAdd => (UpdateOp::FAdd, vec![arg(0), arg(1)], 0..2),
            Op::LLVMFSub => (UpdateOp::FAdd, vec![arg(0), arg(1)], 0..1),
            Op::LLVMCall if ir::is_intrinsic(v) => {
                let args = ir::call_args(v);
                let Some(name) = ir::callee(v).map(ir::name) else { return false };
                match name.split('.').nth(1) {
                    Some("smin") => (UpdateOp::SMin, args, 0..2),
                    Some("smax") => (UpdateOp::SMax, args, 0..2),
                    Some("umin") => (UpdateOp::UMin, args, 0..2),
                    Some("umax") => (UpdateOp::UMax, args, 0..2),
                    Some("fma" | "fmuladd") => (UpdateOp::FAdd, args, 2..3),
                    _ => return false,
                }
            }
            _ => return false,
        };
        if c.op.is_some_and(|known| known != op) {
            return false;
        }
        c.op = Some(op);
        c.ordered |= op == UpdateOp::FAdd && !reassoc;
        c.instructions.push(v);
        let inside: Vec<usize> = (0..operands.len()).filter(|i| begins(operands[*i])).collect();
        match inside[..] {
            [one] if from.contains(&one) => self.follow(c, operands[one], at),
            _ => false,
        }
    }

    /// Whether a value is computed from what is loaded from the address, in the same block.
    fn reaches(&self, v: Value, at: (Block, Value), depth: usize) -> bool {
        if depth == 0 || ir::parent(v) != Some(at.0) {
            // (Too deep: taken for one, which only refuses.)
            return depth == 0;
        }
        match ir::opcode(v) {
            Some(Op::LLVMLoad) => self.same_address(v, at.1),
            Some(Op::LLVMPHI) | None => false,
            _ => ir::operands(v).into_iter().any(|o| self.reaches(o, at, depth - 1)),
        }
    }

    /// Whether a load is of an address.
    fn same_address(&self, load: Value, address: Value) -> bool {
        let (Some(own), Some(block)) = (ir::address(load), ir::parent(load)) else { return false };
        let scope = self.an.innermost_loop(block);
        own == address || self.an.scev(own, scope).handle == self.an.scev(address, scope).handle
    }

    /// A minimum or maximum by a comparison of what is loaded: the comparison, the load.
    fn selected(&self, select: Value, at: (Block, Value)) -> Option<(Value, Value, UpdateOp)> {
        let [condition, yes, no] = [0, 1, 2].map(|i| ir::operand(select, i));
        if ir::opcode(condition) != Some(Op::LLVMICmp) || ir::parent(condition) != Some(at.0) {
            return None;
        }
        let old = |v: Value| {
            ir::opcode(v) == Some(Op::LLVMLoad)
                && ir::parent(v) == Some(at.0)
                && ir::is_simple_access(v)
                && self.same_address(v, at.1)
        };
        let (load, value, taken) = match (old(yes), old(no)) {
            (true, false) => (yes, no, false),
            (false, true) => (no, yes, true),
            _ => return None,
        };
        let first = match (ir::operand(condition, 0), ir::operand(condition, 1)) {
            (a, b) if a == value && b == load => true,
            (a, b) if a == load && b == value => false,
            _ => return None,
        };
        Some((condition, load, extremum(condition, first, taken)?))
    }
}

/// What a comparison with the value that is stored comes to. `first`: the value is its first operand;
/// `taken`: it is stored where the comparison holds.
fn extremum(compare: Value, first: bool, taken: bool) -> Option<UpdateOp> {
    use inkwell::llvm_sys::LLVMIntPredicate::*;
    let (signed, greater) = match ir::icmp_predicate(compare) {
        LLVMIntSGT | LLVMIntSGE => (true, true),
        LLVMIntSLT | LLVMIntSLE => (true, false),
        LLVMIntUGT | LLVMIntUGE => (false, true),
        LLVMIntULT | LLVMIntULE => (false, false),
        _ => return None,
    };
    Some(match (signed, (greater == first) == taken) {
        (true, true) => UpdateOp::SMax,
        (true, false) => UpdateOp::SMin,
        (false, true) => UpdateOp::UMax,
        (false, false) => UpdateOp::UMin,
    })
}

//! Loads at the beginning of their blocks: of iterations of unrolled loops, of the points of a thread.
//!
//! A warp waits for each load unless others are on their way. ptxas moves loads ahead, but not of a division
//! or a square root, which have a slow path with branches, and, of arrays that the kernel writes to, not of a
//! store. Here loads go ahead of these where the value is known to be the same:
//! - of read-only arrays (`!invariant.load`),
//! - of cells that nothing in the launch has written before
//!   ([`MappedKernel::hoistable`](pollyrs_schedule::MappedKernel)),
//! - of other memory than what is stored in between.
//!
//! Loops of kernels with few threads hide latency by nothing else: half of a thread's registers may wait. In
//! blocks that are no loops a few may ([`FEW_WAITING`]).
//!
//! # Example
//! Two iterations of `d[i] = (d[i] - a[i] * d[i-1]) / b[i]` load `a[i]`, `d[i]`, `b[i]`, `a[i+1]`, `d[i+1]`,
//! `b[i+1]`, then divide twice.
//! `m[i] = a * m[i] + b * g[i]; v[i] = c * v[i] + d * g[i]; p[i] -= m[i] / sqrt(v[i])` loads `m[i]`, `g[i]`,
//! `v[i]` and `p[i]` at once, and waits for memory once in place of three times.

use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use crate::kernel::builder::KernelBuilder;
use crate::ops::walks::{GLOBAL, apart};
use inkwell::llvm_sys::LLVMOpcode;
use pollyrs_scop::StmtId;
use std::collections::BTreeSet;

const KIND: &str = "pollyrs.hoistable";
/// Bytes of a thread's registers for values that wait: half of them.
const WAITING: u64 = 512;
/// The same where many threads share a multiprocessor's registers, and in what runs once.
const FEW_WAITING: u64 = 64;
/// Stores that a load is compared with at most.
const MOST_STORES: usize = 16;

/// Notes of the load of an access that nothing in the launch has written to its cell before.
pub(crate) fn mark<S>(k: &KernelBuilder<'_, S>, access: (StmtId, usize), load: Value) {
    if k.launch.hoistable.contains(&access) && load.is_load() {
        load.set_metadata(k.ir.ctx.kind(KIND), Some(k.ir.ctx.node(&[])));
    }
}

/// Hoists loads in the innermost loops of kernels with few threads; the module is optimized.
pub(crate) fn gather(module: Module) {
    for function in module.functions() {
        if threads(function).is_some_and(|n| n <= pollyrs_schedule::FEW_THREADS) {
            for block in function.blocks().into_iter().filter(|b| is_loop(*b)) {
                gather_in(module, function, block, WAITING);
            }
        }
    }
}

/// Hoists loads from global memory in blocks that are no loops, which divisions may be about to part.
/// (Loops of many threads, as sums over neighbours with a quotient each, got slower by 2%.)
pub(crate) fn gather_before_divisions(module: Module) {
    for function in module.functions() {
        for block in function.blocks().into_iter().filter(|b| !is_loop(*b)) {
            gather_in(module, function, block, FEW_WAITING);
        }
    }
}

/// Whether a block is an innermost loop.
fn is_loop(block: Block) -> bool {
    block.successors().contains(&block)
}

/// The threads of each block of a kernel.
fn threads(function: Value) -> Option<u32> {
    let text = function.string_attribute("nvvm.reqntid")?;
    text.split(',').map(|n| n.parse::<u32>().ok()).try_fold(1u32, |all, n| all.checked_mul(n?))
}

/// The argument that an address comes from.
pub(crate) fn base(function: Value, mut pointer: Value) -> Option<Value> {
    loop {
        if pointer.is_argument() {
            return (pointer.function_of_argument() == function).then_some(pointer);
        }
        let through = pointer.is_gep() || pointer.is_space_cast();
        if !through {
            return None;
        }
        pointer = pointer.operand(0);
    }
}

/// Whether the kernel reaches what an argument points to only through it.
pub(crate) fn is_noalias(function: Value, argument: Value) -> bool {
    let at = (1..).zip(function.params()).find(|(_, p)| *p == argument);
    at.is_some_and(|(i, _)| function.attribute(i, "noalias").is_some())
}

/// What stands between a load and the beginning of its block.
#[derive(Default)]
struct Passed {
    /// There is a division, or what else ptxas makes branches for.
    slow: bool,
    /// Stores, and the arguments that their addresses come from.
    stores: Vec<(Value, Option<Value>)>,
    /// A barrier, or whatever else may write anywhere.
    unknown: bool,
    waiting: u64,
}

impl Passed {
    fn store(&mut self, function: Value, i: Value) {
        self.unknown |= i.is_volatile() || i.is_atomic();
        self.stores.push((i, base(function, i.operand(1))));
    }

    /// Whether none of the stores is to what a load reads.
    fn is_apart(&self, module: Module, function: Value, load: Value) -> bool {
        let from = base(function, load.operand(0)).filter(|p| is_noalias(function, *p));
        let few = self.stores.len() <= MOST_STORES;
        self.stores.iter().all(|(store, to)| {
            let others = |(p, q): (Value, Value)| p != q && is_noalias(function, q);
            from.zip(*to).is_some_and(others) || few && apart(module, function, *store, load)
        })
    }
}

/// Hoists loads of one block, as many as may wait: instructions move, and none goes.
fn gather_in(module: Module, function: Value, block: Block, most: u64) {
    let context = module.context();
    let (invariant, early) = (context.kind("invariant.load"), context.kind(KIND));
    let all: Vec<_> = block.instructions().into_iter().filter(|i| !i.is_phi()).collect();
    // With a slow one among them, instructions ahead of it are not reordered with what is behind.
    let slow = all.iter().any(|i| is_slow(*i));
    let mut passed = Passed { slow, ..Passed::default() };
    let mut hoisted = Hoisted::new(block, all[0]);
    for i in all {
        match i.opcode() {
            LLVMOpcode::LLVMLoad => {
                let constant = i.metadata(invariant).is_some();
                let wants = passed.slow || !constant && !passed.stores.is_empty();
                let global = i.operand(0).ty().address_space() == Some(GLOBAL);
                let is_one = global || most == WAITING;
                if !wants || !is_one || passed.unknown || i.is_volatile() || i.is_atomic() {
                    continue;
                }
                let early = || i.metadata(early).is_some() && base(function, i.operand(0)).is_some();
                let size = module.store_size(i.ty());
                if constant || early() || passed.is_apart(module, function, i) {
                    if passed.waiting + size > most {
                        return;
                    }
                    if hoisted.take(i) {
                        passed.waiting += size;
                    }
                }
            }
            LLVMOpcode::LLVMStore => passed.store(function, i),
            LLVMOpcode::LLVMCall => passed.unknown |= !nature(i).0,
            LLVMOpcode::LLVMFence | LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg => {
                passed.unknown = true
            }
            _ => {}
        }
    }
}

/// Whether ptxas makes branches for an instruction.
fn is_slow(i: Value) -> bool {
    use LLVMOpcode::*;
    match i.opcode() {
        LLVMFDiv | LLVMFRem | LLVMSDiv | LLVMUDiv | LLVMSRem | LLVMURem => true,
        LLVMCall => !nature(i).1,
        _ => false,
    }
}

/// Whether a call's function touches no memory, and whether it is an instruction or a few, without branches.
pub(crate) fn nature(call: Value) -> (bool, bool) {
    const FAST: [&str; 10] = ["fm", "fabs", "min", "max", "umin", "umax", "smin", "smax", "abs", "copysign"];
    let callee = call.callee();
    if !callee.is_function() {
        return (false, false);
    }
    let pure = callee.attribute(FUNCTION, "memory") == Some(0);
    let name = callee.name();
    let fast = name.strip_prefix("llvm.").is_some_and(|n| FAST.iter().any(|f| n.starts_with(f)));
    (pure, fast)
}

/// The instructions at the beginning of a block, in order, and the one behind them.
pub(crate) struct Hoisted {
    block: Block,
    moved: BTreeSet<usize>,
    at: Value,
}

impl Hoisted {
    /// In front of an instruction of the block.
    pub(crate) fn new(block: Block, at: Value) -> Hoisted {
        Hoisted { block, moved: BTreeSet::new(), at }
    }

    /// Whether [`Self::take`] moves a value.
    pub(crate) fn may_take(&self, v: Value) -> bool {
        self.needs(v, v.is_load(), &mut Vec::new())
    }

    /// Hoists a load, or a number that addresses are computed from, and what it takes; false if that is
    /// more than arithmetic.
    pub(crate) fn take(&mut self, v: Value) -> bool {
        let mut needed = Vec::new();
        if !self.needs(v, v.is_load(), &mut needed) {
            return false;
        }
        for i in needed {
            if i == self.at {
                self.at = i.behind();
            } else {
                let ir = Ir::new(i.context());
                i.remove();
                ir.before(self.at);
                ir.put(i);
            }
            self.moved.insert(i.address());
        }
        true
    }

    /// Appends what has to move, operands first.
    fn needs(&self, i: Value, load: bool, needed: &mut Vec<Value>) -> bool {
        const MOST: usize = 32;
        let free = i.parent() != Some(self.block)
            || i.is_phi()
            || self.moved.contains(&i.address())
            || needed.contains(&i);
        if free {
            return true;
        }
        if !load && !is_arithmetic(i) || needed.len() >= MOST {
            return false;
        }
        let operands = i.operand_count();
        if !(0..operands).all(|n| self.needs(i.operand(n), false, needed)) {
            return false;
        }
        needed.push(i);
        true
    }
}

/// Address arithmetic: nothing that waits or traps.
pub(crate) fn is_arithmetic(i: Value) -> bool {
    use LLVMOpcode::*;
    matches!(
        i.opcode(),
        LLVMAdd
            | LLVMSub
            | LLVMMul
            | LLVMShl
            | LLVMLShr
            | LLVMAShr
            | LLVMAnd
            | LLVMOr
            | LLVMXor
            | LLVMZExt
            | LLVMSExt
            | LLVMTrunc
            | LLVMGetElementPtr
            | LLVMAddrSpaceCast
            | LLVMICmp
            | LLVMSelect
    )
}

//! Loads of unrolled loops at the beginning of their iterations.
//!
//! A warp by itself waits for each load unless others are on their way. ptxas moves loads ahead, but not of a
//! division or a square root, which have a slow path with branches, and, of arrays that the kernel writes to,
//! not of a store. Here loads go ahead of these where the value is known to be the same:
//! - of read-only arrays (`!invariant.load`),
//! - of cells that nothing in the launch has written before
//!   ([`MappedKernel::early`](pollyrs_schedule::MappedKernel)),
//! - of arrays that the block does not store to.
//!
//! # Example
//! Two iterations of `d[i] = (d[i] - a[i] * d[i-1]) / b[i]` load `a[i]`, `d[i]`, `b[i]`, `a[i+1]`, `d[i+1]`,
//! `b[i+1]`, then divide twice.

use crate::ir::llvm::opcode;
use crate::ir::llvm::*;
use crate::kernel::builder::KernelBuilder;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::{LLVMGetModuleDataLayout, LLVMStoreSizeOfType};
use pollyrs_scop::StmtId;
use std::collections::BTreeSet;

const KIND: &str = "pollyrs.early";
/// Bytes of a thread's registers for values that wait: half of them.
const WAITING: u64 = 512;

pub(crate) fn kind(context: LLVMContextRef, name: &str) -> u32 {
    // SAFETY: live context; a name with its length.
    unsafe { LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32) }
}

/// Notes of the load of an access that nothing in the launch has written to its cell before.
pub(crate) fn mark<S>(k: &KernelBuilder<'_, S>, access: (StmtId, usize), load: LLVMValueRef) {
    if k.kernel.early.contains(&access) {
        // SAFETY: a live load.
        unsafe {
            if LLVMIsALoadInst(load).is_null() {
                return;
            }
            let node = LLVMMDNodeInContext2(k.ir.ctx, std::ptr::null_mut(), 0);
            LLVMSetMetadata(load, kind(k.ir.ctx, KIND), LLVMMetadataAsValue(k.ir.ctx, node));
        }
    }
}

/// Moves loads ahead in the innermost loops of kernels with few threads; the module is optimized.
pub(crate) fn gather(module: LLVMModuleRef) {
    for function in functions(module) {
        if threads(function).is_none_or(|n| n > pollyrs_schedule::FEW_THREADS) {
            continue;
        }
        // SAFETY: live function.
        unsafe {
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                let end = LLVMGetBasicBlockTerminator(block);
                if (0..LLVMGetNumSuccessors(end)).any(|i| LLVMGetSuccessor(end, i) == block) {
                    gather_in(module, function, block);
                }
                block = LLVMGetNextBasicBlock(block);
            }
        }
    }
}

/// The threads of each block of a kernel.
fn threads(function: LLVMValueRef) -> Option<u32> {
    const NAME: &str = "nvvm.reqntid";
    // SAFETY: live function; the string is read with its length.
    let text = unsafe {
        let attribute = LLVMGetStringAttributeAtIndex(
            function,
            inkwell::llvm_sys::LLVMAttributeFunctionIndex,
            NAME.as_ptr().cast(),
            NAME.len() as u32,
        );
        if attribute.is_null() {
            return None;
        }
        let mut length = 0;
        let value = LLVMGetStringAttributeValue(attribute, &mut length);
        String::from_utf8_lossy(std::slice::from_raw_parts(value.cast(), length as usize)).into_owned()
    };
    text.split(',').map(|n| n.parse::<u32>().ok()).try_fold(1u32, |all, n| all.checked_mul(n?))
}

/// The argument that an address comes from.
pub(crate) fn base(function: LLVMValueRef, mut pointer: LLVMValueRef) -> Option<LLVMValueRef> {
    // SAFETY: live values; address computations have the pointer as their first operand.
    unsafe {
        loop {
            if !LLVMIsAArgument(pointer).is_null() {
                return (LLVMGetParamParent(pointer) == function).then_some(pointer);
            }
            let through =
                !LLVMIsAGetElementPtrInst(pointer).is_null() || !LLVMIsAAddrSpaceCastInst(pointer).is_null();
            if !through {
                return None;
            }
            pointer = LLVMGetOperand(pointer, 0);
        }
    }
}

/// Whether the kernel reaches what an argument points to only through it.
pub(crate) fn is_noalias(function: LLVMValueRef, argument: LLVMValueRef) -> bool {
    const NAME: &str = "noalias";
    // SAFETY: a live function and one of its arguments.
    unsafe {
        let noalias = LLVMGetEnumAttributeKindForName(NAME.as_ptr().cast(), NAME.len());
        let at = (0..LLVMCountParams(function)).find(|i| LLVMGetParam(function, *i) == argument);
        at.is_some_and(|i| !LLVMGetEnumAttributeAtIndex(function, i + 1, noalias).is_null())
    }
}

/// What stands between a load and the beginning of its block.
#[derive(Default)]
struct Passed {
    /// There is a division, or what else ptxas makes branches for.
    slow: bool,
    store: bool,
    /// A barrier, or whatever else may write anywhere.
    unknown: bool,
    waiting: u64,
}

/// # Safety
/// A live block of the function.
unsafe fn gather_in(module: LLVMModuleRef, function: LLVMValueRef, block: LLVMBasicBlockRef) {
    // SAFETY: the caller's live block, whose instructions are live, too: they move, and none goes.
    unsafe {
        let context = LLVMGetModuleContext(module);
        let (invariant, early) = (kind(context, "invariant.load"), kind(context, KIND));
        let mut all = Vec::new();
        let mut i = LLVMGetFirstInstruction(block);
        while !i.is_null() {
            if LLVMIsAPHINode(i).is_null() {
                all.push(i);
            }
            i = LLVMGetNextInstruction(i);
        }
        // The arguments that the block stores to; `None` for whatever else it may.
        let stores = all.iter().filter(|i| LLVMGetInstructionOpcode(**i) == LLVMOpcode::LLVMStore);
        let stored: Vec<_> = stores.map(|i| base(function, LLVMGetOperand(*i, 1))).collect();
        let distinct = |from: LLVMValueRef| {
            base(function, from).is_some_and(|b| {
                is_noalias(function, b)
                    && stored.iter().all(|s| s.is_some_and(|s| s != b && is_noalias(function, s)))
            })
        };
        let layout = LLVMGetModuleDataLayout(module);
        // With a slow one among them, instructions ahead of it are not reordered with what is behind.
        let slow = all.iter().any(|i| is_slow(*i));
        let mut passed = Passed { slow, ..Passed::default() };
        let mut ahead = Ahead { block, moved: BTreeSet::new(), at: all[0] };
        for i in all {
            match LLVMGetInstructionOpcode(i) {
                LLVMOpcode::LLVMLoad => {
                    let pointer = LLVMGetOperand(i, 0);
                    let constant = !LLVMGetMetadata(i, invariant).is_null();
                    let may = constant
                        || !LLVMGetMetadata(i, early).is_null() && base(function, pointer).is_some()
                        || distinct(pointer);
                    let wants = passed.slow || !constant && passed.store;
                    let size = LLVMStoreSizeOfType(layout, LLVMTypeOf(i));
                    if may && wants && !passed.unknown && LLVMGetVolatile(i) == 0 {
                        if passed.waiting + size > WAITING {
                            return;
                        }
                        if ahead.take(i) {
                            passed.waiting += size;
                        }
                    }
                }
                LLVMOpcode::LLVMStore => passed.store = true,
                LLVMOpcode::LLVMCall => passed.unknown |= !nature(i).0,
                LLVMOpcode::LLVMFence | LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg => {
                    passed.unknown = true
                }
                _ => {}
            }
        }
    }
}

/// Whether ptxas makes branches for an instruction.
unsafe fn is_slow(i: LLVMValueRef) -> bool {
    use LLVMOpcode::*;
    // SAFETY: the caller's instruction.
    unsafe {
        match LLVMGetInstructionOpcode(i) {
            LLVMFDiv | LLVMFRem | LLVMSDiv | LLVMUDiv | LLVMSRem | LLVMURem => true,
            LLVMCall => !nature(i).1,
            _ => false,
        }
    }
}

/// Whether a call's function touches no memory, and whether it is an instruction or a few, without branches.
pub(crate) unsafe fn nature(call: LLVMValueRef) -> (bool, bool) {
    const NAME: &str = "memory";
    const FAST: [&str; 10] = ["fm", "fabs", "min", "max", "umin", "umax", "smin", "smax", "abs", "copysign"];
    // SAFETY: the caller's live call.
    unsafe {
        let callee = LLVMGetCalledValue(call);
        if LLVMIsAFunction(callee).is_null() {
            return (false, false);
        }
        let kind = LLVMGetEnumAttributeKindForName(NAME.as_ptr().cast(), NAME.len());
        let at = inkwell::llvm_sys::LLVMAttributeFunctionIndex;
        let attribute = LLVMGetEnumAttributeAtIndex(callee, at, kind);
        let pure = !attribute.is_null() && LLVMGetEnumAttributeValue(attribute) == 0;
        let name = name_of(callee);
        let fast = name.strip_prefix("llvm.").is_some_and(|n| FAST.iter().any(|f| n.starts_with(f)));
        (pure, fast)
    }
}

/// The instructions at the beginning of a block, in order, and the one behind them.
struct Ahead {
    block: LLVMBasicBlockRef,
    moved: BTreeSet<usize>,
    at: LLVMValueRef,
}

impl Ahead {
    /// Moves a load and what its address takes ahead; false if that is more than arithmetic.
    unsafe fn take(&mut self, load: LLVMValueRef) -> bool {
        // SAFETY: live instructions of the block; each is put back where it was taken out.
        unsafe {
            let mut needed = Vec::new();
            if !self.needs(load, true, &mut needed) {
                return false;
            }
            for i in needed {
                if i == self.at {
                    self.at = LLVMGetNextInstruction(i);
                } else {
                    let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(i)));
                    LLVMInstructionRemoveFromParent(i);
                    LLVMPositionBuilderBefore(builder, self.at);
                    LLVMInsertIntoBuilder(builder, i);
                    LLVMDisposeBuilder(builder);
                }
                self.moved.insert(i as usize);
            }
            true
        }
    }

    /// Appends what has to move, operands first.
    unsafe fn needs(&self, i: LLVMValueRef, load: bool, needed: &mut Vec<LLVMValueRef>) -> bool {
        const MOST: usize = 32;
        // SAFETY: a live value, and the operands that it has.
        unsafe {
            let free = LLVMIsAInstruction(i).is_null()
                || LLVMGetInstructionParent(i) != self.block
                || !LLVMIsAPHINode(i).is_null()
                || self.moved.contains(&(i as usize))
                || needed.contains(&i);
            if free {
                return true;
            }
            if !load && !is_arithmetic(i) || needed.len() >= MOST {
                return false;
            }
            let operands = LLVMGetNumOperands(i) as u32;
            if !(0..operands).all(|n| self.needs(LLVMGetOperand(i, n), false, needed)) {
                return false;
            }
            needed.push(i);
            true
        }
    }
}

/// Address arithmetic: nothing that waits or traps.
unsafe fn is_arithmetic(i: LLVMValueRef) -> bool {
    use LLVMOpcode::*;
    let opcode = opcode(i);
    matches!(
        opcode,
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

//! Instructions: their operands and flags, terminators, PHIs.

use super::value::of;
use super::{Block, Place, Type, Value, c};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate};
use std::ptr::NonNull;

impl Value {
    /// The code of an instruction; `LLVMUserOp1`, which none has, of what is no instruction.
    pub fn opcode(self) -> LLVMOpcode {
        if !self.is_instruction() {
            return LLVMOpcode::LLVMUserOp1;
        }
        // SAFETY: a live instruction.
        unsafe { LLVMGetInstructionOpcode(self.raw()) }
    }

    /// The block of an instruction that is in one.
    pub fn parent(self) -> Option<Block> {
        if !self.is_instruction() {
            return None;
        }
        // SAFETY: a live instruction.
        unsafe { Block::maybe(LLVMGetInstructionParent(self.raw())) }
    }

    /// The same.
    ///
    /// # Panics
    /// For what is in no block.
    #[track_caller]
    pub fn block(self) -> Block {
        let Some(block) = self.parent() else { panic!("in no block: {}", self.text()) };
        block
    }

    pub fn next(self) -> Option<Value> {
        // SAFETY: a live instruction of a block.
        self.parent().and_then(|_| unsafe { Value::maybe(LLVMGetNextInstruction(self.raw())) })
    }

    pub fn previous(self) -> Option<Value> {
        // SAFETY: a live instruction of a block.
        self.parent().and_then(|_| unsafe { Value::maybe(LLVMGetPreviousInstruction(self.raw())) })
    }

    /// What comes behind an instruction that ends no block.
    ///
    /// # Panics
    /// For one that does.
    #[track_caller]
    pub fn behind(self) -> Value {
        let Some(next) = self.next() else { panic!("nothing behind {}", self.text()) };
        next
    }

    /// Takes an instruction out of its block.
    pub fn remove(self) {
        if self.parent().is_some() {
            // SAFETY: a live instruction of a block, which owns it no longer.
            unsafe { LLVMInstructionRemoveFromParent(self.raw()) }
        }
    }

    /// Erases an instruction.
    ///
    /// # Safety
    /// No handle of it is used any more, and nothing has it as an operand.
    ///
    /// # Panics
    /// For what is in no block.
    #[track_caller]
    pub unsafe fn erase(self) {
        self.block();
        // SAFETY: a live instruction of a block, and the caller's promise.
        unsafe { LLVMInstructionEraseFromParent(self.raw()) }
    }

    /// Puts `by` in the place of an instruction that is of its type, and erases that.
    ///
    /// # Safety
    /// No handle of the instruction is used any more.
    ///
    /// # Panics
    /// For a value of another type.
    #[track_caller]
    pub unsafe fn replace(self, by: Value) {
        self.replace_uses(by);
        // SAFETY: without uses now, and the caller's promise.
        unsafe { self.erase() }
    }

    of! {
        /// A copy of an instruction, in no block.
        copy() -> Value = [is_instruction] |raw| Value::new(LLVMInstructionClone(raw));
        /// What a call calls.
        callee() -> Value = [is_call, is_invoke] |raw| Value::new(LLVMGetCalledValue(raw));
        /// Of a call.
        argument_count() -> u32 = [is_call, is_invoke] |raw| LLVMGetNumArgOperands(raw);
        /// The type of the function that a call calls.
        called_type() -> Type = [is_call, is_invoke] |raw| Type::new(LLVMGetCalledFunctionType(raw));
        /// Of an address.
        source_type() -> Type = [is_gep] |raw| Type::new(LLVMGetGEPSourceElementType(raw));
        /// Of an address.
        index_count() -> u32 = [is_gep] |raw| LLVMGetNumIndices(raw);
        allocated_type() -> Type = [is_alloca] |raw| Type::new(LLVMGetAllocatedType(raw));
        alignment() -> u32 = [is_load, is_store, is_alloca, is_update, is_exchange, is_global_object] |raw| LLVMGetAlignment(raw);
        set_alignment(bytes: u32) -> () = [is_load, is_store, is_alloca, is_update, is_exchange, is_global_object] |raw| LLVMSetAlignment(raw, bytes);
        is_volatile() -> bool = [is_load, is_store, is_update, is_exchange] |raw| LLVMGetVolatile(raw) != 0;
        set_volatile(volatile: bool) -> () = [is_load, is_store, is_update, is_exchange] |raw| LLVMSetVolatile(raw, volatile.into());
        ordering() -> LLVMAtomicOrdering = [is_load, is_store, is_update, is_fence] |raw| LLVMGetOrdering(raw);
        set_ordering(ordering: LLVMAtomicOrdering) -> () = [is_load, is_store, is_update, is_fence] |raw| LLVMSetOrdering(raw, ordering);
        /// Whether other threads see it as one.
        is_atomic() -> bool = [is_instruction] |raw| LLVMIsAtomic(raw) != 0;
        has_metadata() -> bool = [is_instruction] |raw| LLVMHasMetadata(raw) != 0;
        metadata(kind: u32) -> Option<Value> = [is_instruction] |raw| Value::maybe(LLVMGetMetadata(raw, kind));
        /// Attaches a node of metadata, or takes it off.
        set_metadata(kind: u32, node: Option<Value>) -> () = [is_instruction]
            |raw| LLVMSetMetadata(raw, kind, node.map_or(std::ptr::null_mut(), Value::raw));
        icmp_predicate() -> LLVMIntPredicate = [is_icmp] |raw| LLVMGetICmpPredicate(raw);
        fcmp_predicate() -> LLVMRealPredicate = [is_fcmp] |raw| LLVMGetFCmpPredicate(raw);
        /// Whether an extension by zeros is poison for a negative number.
        is_of_natural() -> bool = [is_zext] |raw| LLVMGetNNeg(raw) != 0;
        forget_location() -> () = [is_instruction] |raw| LLVMInstructionSetDebugLoc(raw, std::ptr::null_mut());
    }

    /// The arguments of a call.
    ///
    /// # Panics
    /// For another kind of value.
    #[track_caller]
    pub fn arguments(self) -> Vec<Value> {
        (0..self.argument_count()).map(|n| self.operand(n)).collect()
    }

    /// A load or store that is neither volatile nor atomic.
    pub fn is_simple_access(self) -> bool {
        (self.is_load() || self.is_store())
            && !self.is_volatile()
            && self.ordering() == LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
    }

    /// The address of a load or a store.
    pub fn accessed(self) -> Option<Value> {
        match self.opcode() {
            LLVMOpcode::LLVMLoad => Some(self.operand(0)),
            LLVMOpcode::LLVMStore => Some(self.operand(1)),
            _ => None,
        }
    }

    /// Whether it has metadata of a kind.
    pub fn has_metadata_of(self, kind: &str) -> bool {
        self.is_instruction() && self.metadata(self.context().kind(kind)).is_some()
    }

    /// The flags of a floating-point operation; none of anything else.
    pub fn fast_math_flags(self) -> u32 {
        // SAFETY: a live value that may have flags.
        if self.may_have_fast_math_flags() { unsafe { LLVMGetFastMathFlags(self.raw()) } } else { 0 }
    }

    pub fn may_have_fast_math_flags(self) -> bool {
        c::LLVMCanValueUseFastMathFlags(self) != 0
    }

    /// Of a floating-point operation; of anything else nothing happens.
    pub fn set_fast_math_flags(self, flags: u32) {
        if self.is_instruction() && self.may_have_fast_math_flags() {
            // SAFETY: a live instruction that may have flags.
            unsafe { LLVMSetFastMathFlags(self.raw(), flags) }
        }
    }

    /// Whether a sum, difference, product or shift to the left never wraps: with signs, without.
    pub fn no_wrap(self) -> (bool, bool) {
        if !self.may_say_no_wrap() {
            return (false, false);
        }
        // SAFETY: a live instruction that has these flags.
        unsafe { (LLVMGetNSW(self.raw()) != 0, LLVMGetNUW(self.raw()) != 0) }
    }

    /// That it may wrap.
    pub fn forget_no_wrap(self) {
        if self.may_say_no_wrap() {
            // SAFETY: a live instruction that has these flags.
            unsafe {
                LLVMSetNSW(self.raw(), 0);
                LLVMSetNUW(self.raw(), 0);
            }
        }
    }

    fn may_say_no_wrap(self) -> bool {
        use LLVMOpcode::*;
        matches!(self.opcode(), LLVMAdd | LLVMSub | LLVMMul | LLVMShl)
    }

    /// That the operands of a comparison of integers may have different signs.
    pub fn forget_same_sign(self) {
        if self.is_icmp() {
            // SAFETY: a live comparison of integers.
            unsafe { LLVMSetICmpSameSign(self.raw(), 0) }
        }
    }

    /// Whether it is a disjunction of numbers without a bit in common.
    pub fn is_disjoint(self) -> bool {
        // SAFETY: a live disjunction.
        self.opcode() == LLVMOpcode::LLVMOr && unsafe { LLVMGetIsDisjoint(self.raw()) != 0 }
    }

    /// The kinds of metadata of an instruction, but for its place in the source.
    pub fn metadata_kinds(self) -> Vec<u32> {
        if !self.is_instruction() {
            return Vec::new();
        }
        // SAFETY: a live instruction; the list is ours, and has as many entries.
        unsafe {
            let mut count = 0;
            let entries = LLVMInstructionGetAllMetadataOtherThanDebugLoc(self.raw(), &mut count);
            let kinds = (0..count as u32).map(|n| LLVMValueMetadataEntriesGetKind(entries, n)).collect();
            LLVMDisposeValueMetadataEntries(entries);
            kinds
        }
    }
}

/// Terminators and PHIs.
impl Value {
    /// Of a terminator; none of anything else.
    pub fn successor_count(self) -> u32 {
        // SAFETY: a live terminator.
        if self.is_terminator() { unsafe { LLVMGetNumSuccessors(self.raw()) } } else { 0 }
    }

    /// # Panics
    /// For one that it has not.
    #[track_caller]
    pub fn successor(self, n: u32) -> Block {
        assert!(n < self.successor_count(), "no successor {n} of {}", self.text());
        // SAFETY: a live terminator with so many successors.
        unsafe { Block::new(LLVMGetSuccessor(self.raw(), n)) }
    }

    pub fn successors(self) -> Vec<Block> {
        (0..self.successor_count()).map(|n| self.successor(n)).collect()
    }

    /// Whether it is a branch with a condition.
    pub fn is_conditional(self) -> bool {
        // SAFETY: a live branch.
        self.is_branch() && unsafe { LLVMIsConditional(self.raw()) != 0 }
    }

    of! {
        /// Of a branch that has one.
        condition() -> Value = [is_conditional] |raw| Value::new(LLVMGetCondition(raw));
        incoming_count() -> u32 = [is_phi] |raw| LLVMCountIncoming(raw);
        add_incoming(v: Value, from: Block) -> () = [is_phi]
            |raw| LLVMAddIncoming(raw, &mut v.raw(), &mut from.raw(), 1);
    }

    /// The value of a PHI number `n`.
    ///
    /// # Panics
    /// For one that it has not.
    #[track_caller]
    pub fn incoming_value(self, n: u32) -> Value {
        assert!(n < self.incoming_count(), "no value {n} of {}", self.text());
        // SAFETY: a live PHI with so many values.
        unsafe { Value::new(LLVMGetIncomingValue(self.raw(), n)) }
    }

    /// Where the value of a PHI number `n` comes from.
    ///
    /// # Panics
    /// For one that it has not.
    #[track_caller]
    pub fn incoming_block(self, n: u32) -> Block {
        assert!(n < self.incoming_count(), "no block {n} of {}", self.text());
        // SAFETY: a live PHI with as many blocks as values.
        unsafe { Block::new(LLVMGetIncomingBlock(self.raw(), n)) }
    }

    /// The values of a PHI and where they come from.
    #[track_caller]
    pub fn incoming(self) -> Vec<(Value, Block)> {
        (0..self.incoming_count()).map(|n| (self.incoming_value(n), self.incoming_block(n))).collect()
    }
}

impl Place {
    /// `None` for what is no instruction, or has no location.
    pub fn of(v: Value) -> Option<Place> {
        // SAFETY: a live instruction.
        let place = v.is_instruction().then(|| unsafe { LLVMInstructionGetDebugLoc(v.raw()) });
        place.and_then(NonNull::new).map(Place)
    }
}

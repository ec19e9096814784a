//! Values: constants, arguments, functions, instructions; metadata as far as it is a value.

use super::{Block, Context, Module, Type, handle, take_message, text_at};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMInstructionSetDebugLoc;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMLinkage, LLVMOpcode, LLVMUnnamedAddr};

handle! {
    Value = LLVMValueRef to LLVMValue
}

/// The attribute index of a function itself; 0 is the result, from 1 on the parameters.
pub const FUNCTION: u32 = u32::MAX;

/// What follows from one to the next.
pub(super) fn listed<T: Copy>(first: Option<T>, next: impl Fn(T) -> Option<T>) -> Vec<T> {
    std::iter::successors(first, |at| next(*at)).collect()
}

/// Which kind of value it is.
macro_rules! kinds {
    ($($(#[$meta:meta])* $name:ident = $call:ident;)*) => { $(
        $(#[$meta])*
        pub fn $name(self) -> bool {
            // SAFETY: a live value.
            unsafe { !$call(self.raw()).is_null() }
        }
    )* };
}

/// What is asked of a value that is such a one, checked by the kinds in brackets.
macro_rules! of {
    ($($(#[$meta:meta])* $name:ident($($arg:ident: $ty:ty),*) -> $result:ty = [$($kind:ident),+] |$raw:ident| $call:expr;)*) => { $(
        $(#[$meta])*
        ///
        /// # Panics
        /// For another kind of value.
        #[track_caller]
        pub fn $name(self, $($arg: $ty),*) -> $result {
            let $raw = self.expect($(self.$kind())||+, stringify!($name)).raw();
            // SAFETY: a live value of the kind that LLVM's cast asks for.
            unsafe { $call }
        }
    )* };
}

impl Value {
    kinds! {
        is_instruction = LLVMIsAInstruction;
        is_terminator = LLVMIsATerminatorInst;
        is_binary = LLVMIsABinaryOperator;
        is_cast = LLVMIsACastInst;
        is_space_cast = LLVMIsAAddrSpaceCastInst;
        is_call = LLVMIsACallInst;
        is_invoke = LLVMIsAInvokeInst;
        is_phi = LLVMIsAPHINode;
        is_branch = LLVMIsABranchInst;
        is_icmp = LLVMIsAICmpInst;
        is_select = LLVMIsASelectInst;
        is_load = LLVMIsALoadInst;
        is_store = LLVMIsAStoreInst;
        is_update = LLVMIsAAtomicRMWInst;
        is_exchange = LLVMIsAAtomicCmpXchgInst;
        is_fence = LLVMIsAFenceInst;
        is_alloca = LLVMIsAAllocaInst;
        is_gep = LLVMIsAGetElementPtrInst;
        is_insert = LLVMIsAInsertElementInst;
        is_user = LLVMIsAUser;
        is_constant_int = LLVMIsAConstantInt;
        is_constant_real = LLVMIsAConstantFP;
        is_undef = LLVMIsAUndefValue;
        is_global = LLVMIsAGlobalValue;
        is_global_object = LLVMIsAGlobalObject;
        is_variable = LLVMIsAGlobalVariable;
        is_function = LLVMIsAFunction;
        is_argument = LLVMIsAArgument;
        is_text_node = LLVMIsAMDString;
        is_node = LLVMIsAMDNode;
    }

    #[track_caller]
    fn expect(self, holds: bool, what: &str) -> Value {
        assert!(holds, "no {what} of {}", self.text());
        self
    }

    pub fn is_constant(self) -> bool {
        // SAFETY: a live value.
        unsafe { LLVMIsConstant(self.raw()) != 0 }
    }

    pub fn is_block(self) -> bool {
        // SAFETY: a live value.
        unsafe { LLVMValueIsBasicBlock(self.raw()) != 0 }
    }

    pub fn ty(self) -> Type {
        // SAFETY: a live value.
        unsafe { Type::new(LLVMTypeOf(self.raw())) }
    }

    pub fn context(self) -> Context {
        self.ty().context()
    }

    pub fn name(self) -> String {
        let mut length = 0;
        // SAFETY: a live value.
        unsafe { text_at(LLVMGetValueName2(self.raw(), &mut length), length) }
    }

    pub fn set_name(self, name: &str) {
        // SAFETY: a live value; the name is passed with its length.
        unsafe { LLVMSetValueName2(self.raw(), name.as_ptr().cast(), name.len()) }
    }

    /// The value as LLVM prints it, for messages.
    pub fn text(self) -> String {
        // SAFETY: a live value; the message is ours.
        unsafe { take_message(LLVMPrintValueToString(self.raw())) }.trim().to_string()
    }

    /// Those that have it as an operand, once for each; a snapshot.
    pub fn users(self) -> Vec<Value> {
        let mut users = Vec::new();
        // SAFETY: a live value, whose uses live as long as nothing is changed.
        unsafe {
            let mut at = LLVMGetFirstUse(self.raw());
            while !at.is_null() {
                users.push(Value::new(LLVMGetUser(at)));
                at = LLVMGetNextUse(at);
            }
        }
        users
    }

    pub fn is_used(self) -> bool {
        // SAFETY: a live value.
        unsafe { !LLVMGetFirstUse(self.raw()).is_null() }
    }

    /// Whether it is used in one place.
    pub fn is_used_once(self) -> bool {
        // SAFETY: a live value, and its first use.
        unsafe {
            let first = LLVMGetFirstUse(self.raw());
            !first.is_null() && LLVMGetNextUse(first).is_null()
        }
    }

    /// # Panics
    /// For a value of another type.
    #[track_caller]
    pub fn replace_uses(self, by: Value) {
        assert!(self.ty() == by.ty(), "{} has another type than {}", by.text(), self.text());
        if self != by {
            // SAFETY: live values of one type.
            unsafe { LLVMReplaceAllUsesWith(self.raw(), by.raw()) }
        }
    }

    /// Operands, those of a call its function among them; none of what has none.
    pub fn operand_count(self) -> u32 {
        // SAFETY: a live value that has operands; LLVM counts no more than fit.
        if self.is_user() { unsafe { LLVMGetNumOperands(self.raw()) as u32 } } else { 0 }
    }

    /// # Panics
    /// For one that it has not.
    #[track_caller]
    pub fn operand(self, n: u32) -> Value {
        assert!(n < self.operand_count(), "no operand {n} of {}", self.text());
        // SAFETY: a live value with so many operands.
        unsafe { Value::new(LLVMGetOperand(self.raw(), n)) }
    }

    pub fn operands(self) -> Vec<Value> {
        (0..self.operand_count()).map(|n| self.operand(n)).collect()
    }

    /// # Panics
    /// For an operand that it has not, or a value of another type.
    #[track_caller]
    pub fn set_operand(self, n: u32, v: Value) {
        assert!(self.operand(n).ty() == v.ty(), "an operand of another type for {}", self.text());
        // SAFETY: a live value with so many operands.
        unsafe { LLVMSetOperand(self.raw(), n, v.raw()) }
    }
}

/// Constants.
impl Value {
    /// The number that an integer of at most 64 bits is, if it is a constant.
    pub fn constant_int(self) -> Option<i64> {
        // SAFETY: a live constant of integers.
        self.is_constant_int().then(|| unsafe { LLVMConstIntGetSExtValue(self.raw()) })
    }

    /// The same, without a sign.
    pub fn constant_unsigned(self) -> Option<u64> {
        // SAFETY: a live constant of integers.
        self.is_constant_int().then(|| unsafe { LLVMConstIntGetZExtValue(self.raw()) })
    }

    /// The floating-point number that it is, if it is a constant, and whether it is another one as a
    /// `double`.
    pub fn constant_real(self) -> Option<(f64, bool)> {
        let mut loses = 0;
        // SAFETY: a live constant of floating-point numbers.
        self.is_constant_real().then(|| unsafe {
            let number = LLVMConstRealGetDouble(self.raw(), &mut loses);
            (number, loses != 0)
        })
    }

    /// The text of a string of metadata.
    pub fn node_text(self) -> Option<String> {
        let mut length = 0;
        // SAFETY: a live string of metadata.
        self.is_text_node()
            .then(|| unsafe { text_at(LLVMGetMDString(self.raw(), &mut length), length as usize) })
    }

    /// The operands of a node of metadata that are there.
    pub fn node_operands(self) -> Vec<Option<Value>> {
        if !self.is_node() {
            return Vec::new();
        }
        // SAFETY: a live node; the array has room for as many operands.
        unsafe {
            let mut parts = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(self.raw()) as usize];
            LLVMGetMDNodeOperands(self.raw(), parts.as_mut_ptr());
            parts.into_iter().map(|v| Value::maybe(v)).collect()
        }
    }
}

/// Instructions.
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
        forget_location() -> () = [is_instruction] |raw| LLVMInstructionSetDebugLoc(raw, std::ptr::null_mut());
    }

    /// The flags of a floating-point operation; none of anything else.
    pub fn fast_math_flags(self) -> u32 {
        // SAFETY: a live value that may have flags.
        if self.may_have_fast_math_flags() { unsafe { LLVMGetFastMathFlags(self.raw()) } } else { 0 }
    }

    pub fn may_have_fast_math_flags(self) -> bool {
        // SAFETY: a live value.
        unsafe { LLVMCanValueUseFastMathFlags(self.raw()) != 0 }
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

/// Functions and global variables.
impl Value {
    of! {
        module() -> Module = [is_global] |raw| Module::new(LLVMGetGlobalParent(raw));
        is_declaration() -> bool = [is_global] |raw| LLVMIsDeclaration(raw) != 0;
        linkage() -> LLVMLinkage = [is_global] |raw| LLVMGetLinkage(raw);
        set_linkage(linkage: LLVMLinkage) -> () = [is_global] |raw| LLVMSetLinkage(raw, linkage);
        /// The type of what is at its address.
        value_type() -> Type = [is_global] |raw| Type::new(LLVMGlobalGetValueType(raw));
        /// That its address does not matter.
        set_unnamed() -> () = [is_global] |raw| LLVMSetUnnamedAddress(raw, LLVMUnnamedAddr::LLVMGlobalUnnamedAddr);
        set_constant(constant: bool) -> () = [is_variable] |raw| LLVMSetGlobalConstant(raw, constant.into());
        set_calling_convention(number: u32) -> () = [is_function] |raw| LLVMSetFunctionCallConv(raw, number);
        param_count() -> u32 = [is_function] |raw| LLVMCountParams(raw);
        first_block() -> Option<Block> = [is_function] |raw| Block::maybe(LLVMGetFirstBasicBlock(raw));
        /// The function of an argument.
        function_of_argument() -> Value = [is_argument] |raw| Value::new(LLVMGetParamParent(raw));
    }

    /// The first value of a global variable.
    ///
    /// # Panics
    /// For another kind of value, or one of another type.
    pub fn set_initializer(self, v: Value) {
        assert!(self.is_variable() && self.value_type() == v.ty(), "no first value of {}", self.text());
        // SAFETY: a live variable, and a live constant of its type.
        unsafe { LLVMSetInitializer(self.raw(), v.raw()) }
    }

    /// A parameter of a function.
    ///
    /// # Panics
    /// For one that it has not.
    #[track_caller]
    pub fn param(self, n: u32) -> Value {
        assert!(n < self.param_count(), "no parameter {n} of {}", self.name());
        // SAFETY: a live function with so many parameters.
        unsafe { Value::new(LLVMGetParam(self.raw(), n)) }
    }

    pub fn params(self) -> Vec<Value> {
        (0..self.param_count()).map(|n| self.param(n)).collect()
    }

    /// The blocks of a function in order, as they are now.
    #[track_caller]
    pub fn blocks(self) -> Vec<Block> {
        listed(self.first_block(), Block::next)
    }

    /// The block that a function starts with.
    ///
    /// # Panics
    /// For one without blocks.
    #[track_caller]
    pub fn entry(self) -> Block {
        let Some(block) = self.first_block() else { panic!("no body of {}", self.name()) };
        block
    }

    /// The instructions of a function in order, as they are now.
    #[track_caller]
    pub fn instructions(self) -> Vec<Value> {
        self.blocks().into_iter().flat_map(Block::instructions).collect()
    }

    /// The calls of a function.
    pub fn calls(self) -> Vec<Value> {
        self.users().into_iter().filter(|u| u.is_call() && u.callee() == self).collect()
    }

    /// Deletes a function.
    ///
    /// # Safety
    /// No handle of it, or of a part of it, is used any more; nothing has one as an operand.
    ///
    /// # Panics
    /// For another kind of value.
    pub unsafe fn delete_function(self) {
        let raw = self.expect(self.is_function(), "function").raw();
        // SAFETY: a live function, and the caller's promise.
        unsafe { LLVMDeleteFunction(raw) }
    }
}

/// Attributes. `at` is LLVM's: [`FUNCTION`], 0 for the result, from 1 on for parameters.
impl Value {
    /// Adds an attribute (with a value, where it takes one) to a function, if this LLVM knows it.
    ///
    /// # Panics
    /// For another kind of value.
    pub fn add_attribute(self, at: u32, name: &str, value: u64) {
        let raw = self.expect(self.is_function(), "attribute").raw();
        let Some(kind) = attribute_kind(name) else { return };
        // SAFETY: a live function.
        unsafe {
            LLVMAddAttributeAtIndex(raw, at, LLVMCreateEnumAttribute(self.context().raw(), kind, value))
        }
    }

    /// Adds an attribute without a value to a call, if this LLVM knows it.
    ///
    /// # Panics
    /// For another kind of value.
    pub fn add_call_attribute(self, name: &str) {
        let raw = self.expect(self.is_call(), "attribute").raw();
        let Some(kind) = attribute_kind(name) else { return };
        // SAFETY: a live call.
        unsafe {
            LLVMAddCallSiteAttribute(raw, FUNCTION, LLVMCreateEnumAttribute(self.context().raw(), kind, 0))
        }
    }

    /// Adds a string attribute to a function.
    ///
    /// # Panics
    /// For another kind of value.
    pub fn add_string_attribute(self, key: &str, value: &str) {
        let raw = self.expect(self.is_function(), "attribute").raw();
        // SAFETY: a live function; both strings are passed with their lengths.
        unsafe {
            let (k, v) = (key.as_ptr().cast(), value.as_ptr().cast());
            let context = self.context().raw();
            let made = LLVMCreateStringAttribute(context, k, key.len() as u32, v, value.len() as u32);
            LLVMAddAttributeAtIndex(raw, FUNCTION, made);
        }
    }

    /// The value of an attribute of a function; 0 for one without a value.
    pub fn attribute(self, at: u32, name: &str) -> Option<u64> {
        let kind = attribute_kind(name).filter(|_| self.is_function())?;
        // SAFETY: a live function; its attribute is one with a kind.
        unsafe {
            let found = LLVMGetEnumAttributeAtIndex(self.raw(), at, kind);
            (!found.is_null()).then(|| LLVMGetEnumAttributeValue(found))
        }
    }

    /// The value of a string attribute of a function.
    pub fn string_attribute(self, key: &str) -> Option<String> {
        if !self.is_function() {
            return None;
        }
        let mut length = 0;
        // SAFETY: a live function; its attribute is one of strings.
        unsafe {
            let (k, n) = (key.as_ptr().cast(), key.len() as u32);
            let found = LLVMGetStringAttributeAtIndex(self.raw(), FUNCTION, k, n);
            let text = || text_at(LLVMGetStringAttributeValue(found, &mut length), length as usize);
            (!found.is_null()).then(text)
        }
    }

    /// The value of a string attribute of a call.
    pub fn call_attribute(self, key: &str) -> Option<String> {
        if !self.is_call() {
            return None;
        }
        let mut length = 0;
        // SAFETY: a live call; its attribute is one of strings.
        unsafe {
            let (k, n) = (key.as_ptr().cast(), key.len() as u32);
            let found = LLVMGetCallSiteStringAttribute(self.raw(), FUNCTION, k, n);
            let text = || text_at(LLVMGetStringAttributeValue(found, &mut length), length as usize);
            (!found.is_null()).then(text)
        }
    }
}

/// The number of an attribute that this LLVM knows.
fn attribute_kind(name: &str) -> Option<u32> {
    // SAFETY: the name is passed with its length.
    let kind = unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) };
    (kind != 0).then_some(kind)
}

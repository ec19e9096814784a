//! Values: constants, arguments, functions, instructions; metadata as far as it is a value.

use super::{Context, Type, c, handle, take_message, text_at};
use inkwell::llvm_sys::LLVMUse;
use inkwell::llvm_sys::core::*;

handle! {
    Value = LLVMValueRef to LLVMValue
}

/// The attribute index of a function itself; 0 is the result, from 1 on the parameters.
pub const FUNCTION: u32 = u32::MAX;

/// A use of a value, which lives for as long as its user has it.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Use(std::ptr::NonNull<LLVMUse>);

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
pub(super) use of;

/// A value of one kind, for functions of C++ that take no other.
macro_rules! kind {
    ($($(#[$meta:meta])* $name:ident by $as:ident = |$v:ident| $holds:expr;)*) => { $(
        $(#[$meta])*
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub(crate) struct $name(Value);

        impl Value {
            /// # Panics
            /// For another kind of value.
            #[track_caller]
            pub(crate) fn $as(self) -> $name {
                let $v = self;
                $name($v.expect($holds, stringify!($name)))
            }
        }
    )* };
}

kind! {
    Function by as_function = |v| v.is_function();
    /// In a block.
    Call by as_call = |v| (v.is_call() || v.is_invoke()) && v.parent().is_some();
    /// In a block.
    Instruction by as_instruction = |v| v.is_instruction() && v.parent().is_some();
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
        is_fcmp = LLVMIsAFCmpInst;
        is_zext = LLVMIsAZExtInst;
        is_select = LLVMIsASelectInst;
        is_load = LLVMIsALoadInst;
        is_store = LLVMIsAStoreInst;
        is_update = LLVMIsAAtomicRMWInst;
        is_exchange = LLVMIsAAtomicCmpXchgInst;
        is_fence = LLVMIsAFenceInst;
        is_alloca = LLVMIsAAllocaInst;
        is_gep = LLVMIsAGetElementPtrInst;
        is_insert = LLVMIsAInsertElementInst;
        is_extract = LLVMIsAExtractValueInst;
        is_inline_asm = LLVMIsAInlineAsm;
        is_user = LLVMIsAUser;
        is_constant_int = LLVMIsAConstantInt;
        is_constant_real = LLVMIsAConstantFP;
        is_null_pointer = LLVMIsAConstantPointerNull;
        /// `undef` or `poison`.
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
    pub(super) fn expect(self, holds: bool, what: &str) -> Value {
        assert!(holds, "no {what} of {}", self.text());
        self
    }

    pub fn is_constant(self) -> bool {
        c::LLVMIsConstant(self) != 0
    }

    /// The constant whose bits are all zero.
    pub fn is_null(self) -> bool {
        c::LLVMIsNull(self) != 0
    }

    pub fn is_block(self) -> bool {
        c::LLVMValueIsBasicBlock(self) != 0
    }

    pub fn ty(self) -> Type {
        c::LLVMTypeOf(self)
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
        std::iter::successors(c::LLVMGetFirstUse(self), |at| c::LLVMGetNextUse(*at))
            .map(|at| c::LLVMGetUser(at))
            .collect()
    }

    pub fn is_used(self) -> bool {
        c::LLVMGetFirstUse(self).is_some()
    }

    /// Whether it is used in one place.
    pub fn is_used_once(self) -> bool {
        c::LLVMGetFirstUse(self).is_some_and(|first| c::LLVMGetNextUse(first).is_none())
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
        self.is_short_int().then(|| unsafe { LLVMConstIntGetSExtValue(self.raw()) })
    }

    /// The same, without a sign.
    pub fn constant_unsigned(self) -> Option<u64> {
        // SAFETY: a live constant of integers.
        self.is_short_int().then(|| unsafe { LLVMConstIntGetZExtValue(self.raw()) })
    }

    fn is_short_int(self) -> bool {
        self.is_constant_int() && self.ty().int_width().is_some_and(|bits| bits <= 64)
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

    /// The bytes of a constant of text, as text; with its NUL if it has one.
    pub fn constant_text(self) -> Option<String> {
        let mut length = 0;
        // SAFETY: a live constant of text; only arrays of data are asked whether they are that.
        unsafe {
            let is_text =
                !LLVMIsAConstantDataArray(self.raw()).is_null() && LLVMIsConstantString(self.raw()) != 0;
            is_text.then(|| text_at(LLVMGetAsString(self.raw(), &mut length), length))
        }
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

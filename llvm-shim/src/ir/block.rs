//! Blocks.

use super::{Value, c, handle, value::listed};
use inkwell::llvm_sys::core::{
    LLVMAppendExistingBasicBlock, LLVMDeleteBasicBlock, LLVMRemoveBasicBlockFromParent,
};

handle! {
    Block = LLVMBasicBlockRef to LLVMBasicBlock
}

/// What a block may have.
macro_rules! parts {
    ($($(#[$meta:meta])* $name:ident = $call:ident;)*) => { $(
        $(#[$meta])*
        pub fn $name(self) -> Option<Value> {
            c::$call(self)
        }
    )* };
}

impl Block {
    parts! {
        /// The terminator, unless the block is being built.
        terminator = LLVMGetBasicBlockTerminator;
        first = LLVMGetFirstInstruction;
        last = LLVMGetLastInstruction;
        /// The function that it is in.
        parent = LLVMGetBasicBlockParent;
    }

    /// The terminator of a block that is complete.
    ///
    /// # Panics
    /// For one that is not.
    #[track_caller]
    pub fn end(self) -> Value {
        let Some(end) = self.terminator() else { panic!("a block without an end") };
        end
    }

    /// The function that it is in.
    ///
    /// # Panics
    /// For a block that was taken out of its function.
    #[track_caller]
    pub fn function(self) -> Value {
        let Some(function) = self.parent() else { panic!("a block of no function") };
        function
    }

    /// Blocks that may run next, by the operands of its end; none while it has no end.
    pub fn successors(self) -> Vec<Block> {
        self.terminator().map(Value::successors).unwrap_or_default()
    }

    /// Instructions in order, as they are now.
    pub fn instructions(self) -> Vec<Value> {
        listed(self.first(), Value::next)
    }

    /// The block as an operand of terminators.
    pub fn as_value(self) -> Value {
        c::LLVMBasicBlockAsValue(self)
    }

    pub fn next(self) -> Option<Block> {
        c::LLVMGetNextBasicBlock(self)
    }

    /// Takes it out of its function, or does nothing if it is in none.
    pub fn remove(self) {
        if self.parent().is_some() {
            // SAFETY: a live block of a function, which owns it no longer.
            unsafe { LLVMRemoveBasicBlockFromParent(self.raw()) }
        }
    }

    /// Puts a block that is in no function behind the last one of `function`.
    ///
    /// # Panics
    /// For a block of a function, or what is no function.
    pub fn append_to(self, function: Value) {
        assert!(self.parent().is_none() && function.is_function(), "a block of a function already");
        // SAFETY: a live block in no function, and a live function.
        unsafe { LLVMAppendExistingBasicBlock(function.raw(), self.raw()) }
    }

    /// Deletes it with its instructions.
    ///
    /// # Safety
    /// No handle of it, or of one of its instructions, is used any more; nothing else has one as an operand.
    pub unsafe fn delete(self) {
        // SAFETY: a live block, and the caller's promise.
        unsafe { LLVMDeleteBasicBlock(self.raw()) }
    }
}

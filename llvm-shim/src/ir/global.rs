//! Functions, global variables, and attributes of functions and calls.

use super::value::{listed, of};
use super::{Block, FUNCTION, Module, Type, Value, text_at};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::{LLVMLinkage, LLVMUnnamedAddr};

impl Module {
    /// A constant of this module alone, whose address does not matter.
    pub fn add_private_constant(self, name: &str, init: Value) -> Value {
        let variable = self.add_global(name, init.ty(), 0);
        variable.set_initializer(init);
        variable.set_constant(true);
        variable.set_linkage(LLVMLinkage::LLVMPrivateLinkage);
        variable.set_unnamed();
        variable
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
        /// The number of an intrinsic; 0 for another function.
        intrinsic() -> u32 = [is_function] |raw| LLVMGetIntrinsicID(raw);
        /// The first value of a global variable, if it has one here.
        initializer() -> Option<Value> = [is_variable] |raw| Value::maybe(LLVMGetInitializer(raw));
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

    /// The position of an argument among its function's parameters.
    pub fn argument_index(self) -> Option<u32> {
        let function = self.is_argument().then(|| self.function_of_argument())?;
        (0..function.param_count()).find(|n| function.param(*n) == self)
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

    /// Takes an attribute from a function.
    ///
    /// # Panics
    /// For another kind of value.
    pub fn remove_attribute(self, at: u32, name: &str) {
        let raw = self.expect(self.is_function(), "attribute").raw();
        if let Some(kind) = attribute_kind(name) {
            // SAFETY: a live function.
            unsafe { LLVMRemoveEnumAttributeAtIndex(raw, at, kind) }
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

    /// The value of an attribute of a call, or else of the function that it calls; 0 for one without a
    /// value.
    pub fn promise(self, name: &str) -> Option<u64> {
        let kind = attribute_kind(name).filter(|_| self.is_call() || self.is_invoke())?;
        // SAFETY: a live call; its attribute is one with a kind.
        let own = unsafe {
            let found = LLVMGetCallSiteEnumAttribute(self.raw(), FUNCTION, kind);
            (!found.is_null()).then(|| LLVMGetEnumAttributeValue(found))
        };
        own.or_else(|| self.callee().attribute(FUNCTION, name))
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

//! Modules and what they declare.

use super::types::raw_types;
use super::value::listed;
use super::{Context, Type, Value, c, c_string, handle, take_message, text_at};
use inkwell::llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::target::{
    LLVMABISizeOfType, LLVMGetModuleDataLayout, LLVMPointerSize, LLVMSizeOfTypeInBits, LLVMStoreSizeOfType,
};
use std::ffi::CStr;

handle! {
    Module = LLVMModuleRef to LLVMModule
}

impl Module {
    pub fn context(self) -> Context {
        c::LLVMGetModuleContext(self)
    }

    /// The function with this name.
    pub fn function(self, name: &str) -> Option<Value> {
        // SAFETY: a live module and string.
        unsafe { Value::maybe(LLVMGetNamedFunction(self.raw(), c_string(name).as_ptr())) }
    }

    /// The global variable with this name.
    pub fn global(self, name: &str) -> Option<Value> {
        // SAFETY: a live module and string.
        unsafe { Value::maybe(LLVMGetNamedGlobal(self.raw(), c_string(name).as_ptr())) }
    }

    /// Functions in order, as they are now.
    pub fn functions(self) -> Vec<Value> {
        listed(c::LLVMGetFirstFunction(self), |f| c::LLVMGetNextFunction(f.as_function()))
    }

    /// A new function, with a number behind its name if there is one with it.
    pub fn add_function(self, name: &str, ty: Type) -> Value {
        // SAFETY: a live module and type of one context.
        unsafe { Value::new(LLVMAddFunction(self.raw(), c_string(name).as_ptr(), ty.raw())) }
    }

    /// The function with this name, declared with `ty` if it is not there.
    pub fn declare(self, name: &str, ty: Type) -> Value {
        self.function(name).unwrap_or_else(|| self.add_function(name, ty))
    }

    /// The declaration of an intrinsic for these types.
    ///
    /// # Panics
    /// For a name of none.
    pub fn intrinsic(self, name: &str, types: &[Type]) -> Value {
        let mut types = raw_types(types);
        // SAFETY: a live module and types of one context; name and array are passed with their lengths.
        unsafe {
            let id = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
            assert!(id != 0, "no intrinsic: {name}");
            Value::new(LLVMGetIntrinsicDeclaration(self.raw(), id, types.as_mut_ptr(), types.len()))
        }
    }

    /// A new global variable, without a first value.
    pub fn add_global(self, name: &str, ty: Type, space: u32) -> Value {
        // SAFETY: a live module and type of one context.
        unsafe {
            let name = c_string(name);
            Value::new(LLVMAddGlobalInAddressSpace(self.raw(), ty.raw(), name.as_ptr(), space))
        }
    }

    /// What the front end calls it.
    pub fn name(self) -> String {
        let mut length = 0;
        // SAFETY: a live module, to which its name belongs.
        unsafe { text_at(LLVMGetModuleIdentifier(self.raw(), &mut length), length) }
    }

    /// The triple of its target; empty for none.
    pub fn target(self) -> String {
        // SAFETY: a live module; a string of its own, which is copied.
        unsafe { CStr::from_ptr(LLVMGetTarget(self.raw())) }.to_string_lossy().into_owned()
    }

    /// Bytes of a pointer to memory as such.
    pub fn pointer_size(self) -> u32 {
        // SAFETY: a live module, to which its layout belongs.
        unsafe { LLVMPointerSize(LLVMGetModuleDataLayout(self.raw())) }
    }

    /// The name of the file that it comes from, as it says.
    pub fn set_source_name(self, name: &str) {
        // SAFETY: a live module; the name is passed with its length.
        unsafe { LLVMSetSourceFileName(self.raw(), name.as_ptr().cast(), name.len()) }
    }

    /// Bytes that a store of the type writes.
    ///
    /// # Panics
    /// For a type without a size.
    pub fn store_size(self, ty: Type) -> u64 {
        // SAFETY: a live module and a type with a size.
        unsafe { LLVMStoreSizeOfType(LLVMGetModuleDataLayout(self.raw()), self.sized(ty).raw()) }
    }

    /// Bytes from one element of an array to the next.
    ///
    /// # Panics
    /// For a type without a size.
    pub fn abi_size(self, ty: Type) -> u64 {
        // SAFETY: a live module and a type with a size.
        unsafe { LLVMABISizeOfType(LLVMGetModuleDataLayout(self.raw()), self.sized(ty).raw()) }
    }

    /// # Panics
    /// For a type without a size.
    pub fn size_in_bits(self, ty: Type) -> u64 {
        // SAFETY: a live module and a type with a size.
        unsafe { LLVMSizeOfTypeInBits(LLVMGetModuleDataLayout(self.raw()), self.sized(ty).raw()) }
    }

    fn sized(self, ty: Type) -> Type {
        assert!(c::LLVMTypeIsSized(ty) != 0, "no size: {}", ty.text());
        ty
    }

    /// Gives it the target and the layout of another one.
    pub fn adopt_target(self, other: Module) {
        // SAFETY: live modules; strings are copied.
        unsafe {
            LLVMSetTarget(self.raw(), LLVMGetTarget(other.raw()));
            LLVMSetDataLayout(self.raw(), LLVMGetDataLayoutStr(other.raw()));
        }
    }

    pub fn text(self) -> String {
        // SAFETY: a live module; the message is ours.
        unsafe { take_message(LLVMPrintModuleToString(self.raw())) }
    }

    /// What LLVM's verifier says against it.
    ///
    /// # Errors
    /// The verifier's words.
    pub fn verify(self) -> Result<(), String> {
        let mut message = std::ptr::null_mut();
        let action = LLVMVerifierFailureAction::LLVMReturnStatusAction;
        // SAFETY: a live module; the message is ours.
        unsafe {
            let broken = LLVMVerifyModule(self.raw(), action, &mut message) != 0;
            let text = take_message(message);
            if broken { Err(text) } else { Ok(()) }
        }
    }
}

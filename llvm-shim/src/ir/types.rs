//! Contexts and types.

use super::{Module, Value, c, c_string, handle, take_message};
use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMTypeRef;

handle! {
    /// What owns types, constants and metadata.
    Context = LLVMContextRef to LLVMContext
}

handle! {
    Type = LLVMTypeRef to LLVMType
}

/// Types without parts of their own.
macro_rules! types {
    ($($(#[$meta:meta])* $name:ident = $call:ident;)*) => { $(
        $(#[$meta])*
        pub fn $name(self) -> Type {
            c::$call(self)
        }
    )* };
}

impl Context {
    types! {
        void_type = LLVMVoidTypeInContext;
        half_type = LLVMHalfTypeInContext;
        bfloat_type = LLVMBFloatTypeInContext;
        float_type = LLVMFloatTypeInContext;
        double_type = LLVMDoubleTypeInContext;
    }

    pub fn int_type(self, bits: u32) -> Type {
        c::LLVMIntTypeInContext(self, bits)
    }

    pub fn pointer_type(self, space: u32) -> Type {
        c::LLVMPointerTypeInContext(self, space)
    }

    pub fn struct_type(self, fields: &[Type]) -> Type {
        let mut fields = raw_types(fields);
        // SAFETY: live types of one context; the array lives through the call.
        unsafe {
            let ty = LLVMStructTypeInContext(self.raw(), fields.as_mut_ptr(), fields.len() as u32, 0);
            Type::new(ty)
        }
    }

    /// A new module, which belongs to the caller.
    pub fn new_module(self, name: &str) -> Module {
        // SAFETY: a live context and string.
        unsafe { Module::new(LLVMModuleCreateWithNameInContext(c_string(name).as_ptr(), self.raw())) }
    }

    /// The number of a kind of metadata.
    pub fn kind(self, name: &str) -> u32 {
        // SAFETY: a live context; the name is passed with its length.
        unsafe { LLVMGetMDKindIDInContext(self.raw(), name.as_ptr().cast(), name.len() as u32) }
    }

    /// A string of metadata.
    pub fn text_node(self, text: &str) -> Value {
        // SAFETY: a live context; the text is passed with its length.
        unsafe {
            let text = LLVMMDStringInContext2(self.raw(), text.as_ptr().cast(), text.len());
            Value::new(LLVMMetadataAsValue(self.raw(), text))
        }
    }

    /// A node of metadata with these operands: values, or metadata as such.
    pub fn node(self, operands: &[Value]) -> Value {
        // SAFETY: live values of one context; the array lives through the call.
        unsafe {
            let mut parts: Vec<_> = operands.iter().map(|v| LLVMValueAsMetadata(v.raw())).collect();
            let node = LLVMMDNodeInContext2(self.raw(), parts.as_mut_ptr(), parts.len());
            Value::new(LLVMMetadataAsValue(self.raw(), node))
        }
    }

    /// A node that is its own first operand, which makes it different from all others.
    pub fn distinct_node(self, operand: Value) -> Value {
        // SAFETY: a live value of the context; the array lives through the call; the node has two operands.
        unsafe {
            let mut parts = [std::ptr::null_mut(), LLVMValueAsMetadata(operand.raw())];
            let node = LLVMMDNodeInContext2(self.raw(), parts.as_mut_ptr(), parts.len());
            let node = LLVMMetadataAsValue(self.raw(), node);
            LLVMReplaceMDNodeOperandWith(node, 0, LLVMValueAsMetadata(node));
            Value::new(node)
        }
    }

    /// A constant of text, without a NUL behind it unless it has one.
    pub fn text(self, text: &[u8], with_nul: bool) -> Value {
        // SAFETY: a live context; the bytes are passed with their length.
        unsafe {
            let (at, length) = (text.as_ptr().cast(), text.len());
            Value::new(LLVMConstStringInContext2(self.raw(), at, length, (!with_nul).into()))
        }
    }

    /// A constant of a structure.
    pub fn structure(self, fields: &[Value]) -> Value {
        let mut fields: Vec<_> = fields.iter().map(|v| v.raw()).collect();
        // SAFETY: live constants of one context; the array lives through the call.
        unsafe {
            let made = LLVMConstStructInContext(self.raw(), fields.as_mut_ptr(), fields.len() as u32, 0);
            Value::new(made)
        }
    }
}

pub(super) fn raw_types(types: &[Type]) -> Vec<LLVMTypeRef> {
    types.iter().map(|ty| ty.raw()).collect()
}

/// Constants without parts of their own.
macro_rules! constants {
    ($($(#[$meta:meta])* $name:ident = $call:ident;)*) => { $(
        $(#[$meta])*
        pub fn $name(self) -> Value {
            c::$call(self)
        }
    )* };
}

impl Type {
    constants! {
        /// The constant whose bits are all zero.
        zero = LLVMConstNull;
        undef = LLVMGetUndef;
        poison = LLVMGetPoison;
    }

    pub fn kind(self) -> LLVMTypeKind {
        c::LLVMGetTypeKind(self)
    }

    pub fn context(self) -> Context {
        c::LLVMGetTypeContext(self)
    }

    /// The width of an integer type.
    pub fn int_width(self) -> Option<u32> {
        // SAFETY: a live type, of integers.
        (self.kind() == LLVMTypeKind::LLVMIntegerTypeKind).then(|| unsafe { LLVMGetIntTypeWidth(self.raw()) })
    }

    /// Elements and their type, of a vector of fixed length.
    pub fn vector(self) -> Option<(Type, u32)> {
        if self.kind() != LLVMTypeKind::LLVMVectorTypeKind {
            return None;
        }
        // SAFETY: a live type, of vectors.
        unsafe { Some((Type::new(LLVMGetElementType(self.raw())), LLVMGetVectorSize(self.raw()))) }
    }

    /// Of pointers: the number of their address space.
    pub fn address_space(self) -> Option<u32> {
        // SAFETY: a live type, of pointers.
        (self.kind() == LLVMTypeKind::LLVMPointerTypeKind)
            .then(|| unsafe { LLVMGetPointerAddressSpace(self.raw()) })
    }

    pub fn is_pointer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMPointerTypeKind
    }

    /// Elements and their type, of an array.
    pub fn array_parts(self) -> Option<(Type, u64)> {
        if self.kind() != LLVMTypeKind::LLVMArrayTypeKind {
            return None;
        }
        // SAFETY: a live type, of arrays.
        unsafe { Some((Type::new(LLVMGetElementType(self.raw())), LLVMGetArrayLength2(self.raw()))) }
    }

    /// Whether a function's type takes any number of arguments.
    pub fn is_variadic(self) -> bool {
        // SAFETY: a live type, of functions.
        self.kind() == LLVMTypeKind::LLVMFunctionTypeKind && unsafe { LLVMIsFunctionVarArg(self.raw()) != 0 }
    }

    pub fn array_of(self, elements: u64) -> Type {
        c::LLVMArrayType2(self, elements)
    }

    pub fn vector_of(self, elements: u32) -> Type {
        c::LLVMVectorType(self, elements)
    }

    /// A function's type with this result.
    pub fn function(self, params: &[Type]) -> Type {
        let mut params = raw_types(params);
        // SAFETY: live types of one context; the array lives through the call.
        unsafe { Type::new(LLVMFunctionType(self.raw(), params.as_mut_ptr(), params.len() as u32, 0)) }
    }

    /// The constant of an integer type with the low bits of `value`.
    ///
    /// # Panics
    /// For another type.
    pub fn int(self, value: u64, signed: bool) -> Value {
        assert!(self.int_width().is_some(), "no integers: {}", self.text());
        // SAFETY: a live type, of integers.
        unsafe { Value::new(LLVMConstInt(self.raw(), value, signed.into())) }
    }

    /// The constant of an integer type whose bits are all one.
    ///
    /// # Panics
    /// For another type.
    pub fn all_ones(self) -> Value {
        assert!(self.int_width().is_some(), "no integers: {}", self.text());
        // SAFETY: a live type, of integers.
        unsafe { Value::new(LLVMConstAllOnes(self.raw())) }
    }

    /// The constant of a floating-point type.
    ///
    /// # Panics
    /// For another type.
    pub fn real(self, value: f64) -> Value {
        use LLVMTypeKind::*;
        let real = matches!(
            self.kind(),
            LLVMHalfTypeKind | LLVMBFloatTypeKind | LLVMFloatTypeKind | LLVMDoubleTypeKind
        );
        assert!(real, "no floating-point numbers: {}", self.text());
        // SAFETY: a live type, of floating-point numbers.
        unsafe { Value::new(LLVMConstReal(self.raw(), value)) }
    }

    /// The constant of an array of constants of this type.
    pub fn array(self, items: &[Value]) -> Value {
        let mut items: Vec<_> = items.iter().map(|v| v.raw()).collect();
        // SAFETY: live constants; the array lives through the call.
        unsafe { Value::new(LLVMConstArray2(self.raw(), items.as_mut_ptr(), items.len() as u64)) }
    }

    pub fn text(self) -> String {
        // SAFETY: a live type; the message is ours.
        unsafe { take_message(LLVMPrintTypeToString(self.raw())) }
    }
}

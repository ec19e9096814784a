//! Functions of LLVM's C API that answer for any live handle of their types: they are safe, as handles are
//! live.

use super::value::{Function, Use};
use super::{Block, Context, Module, Type, Value};
use inkwell::llvm_sys::LLVMTypeKind;
use std::ffi::c_int;

unsafe extern "C" {
    pub safe fn LLVMIsConstant(v: Value) -> c_int;
    pub safe fn LLVMIsNull(v: Value) -> c_int;
    pub safe fn LLVMValueIsBasicBlock(v: Value) -> c_int;
    pub safe fn LLVMCanValueUseFastMathFlags(v: Value) -> c_int;
    pub safe fn LLVMTypeOf(v: Value) -> Type;
    pub safe fn LLVMGetFirstUse(v: Value) -> Option<Use>;
    pub safe fn LLVMGetNextUse(u: Use) -> Option<Use>;
    pub safe fn LLVMGetUser(u: Use) -> Value;

    pub safe fn LLVMGetTypeKind(t: Type) -> LLVMTypeKind;
    pub safe fn LLVMGetTypeContext(t: Type) -> Context;
    pub safe fn LLVMTypeIsSized(t: Type) -> c_int;
    pub safe fn LLVMConstNull(t: Type) -> Value;
    pub safe fn LLVMGetUndef(t: Type) -> Value;
    pub safe fn LLVMGetPoison(t: Type) -> Value;
    pub safe fn LLVMArrayType2(elements: Type, count: u64) -> Type;
    pub safe fn LLVMVectorType(elements: Type, count: u32) -> Type;

    pub safe fn LLVMVoidTypeInContext(c: Context) -> Type;
    pub safe fn LLVMHalfTypeInContext(c: Context) -> Type;
    pub safe fn LLVMBFloatTypeInContext(c: Context) -> Type;
    pub safe fn LLVMFloatTypeInContext(c: Context) -> Type;
    pub safe fn LLVMDoubleTypeInContext(c: Context) -> Type;
    pub safe fn LLVMIntTypeInContext(c: Context, bits: u32) -> Type;
    pub safe fn LLVMPointerTypeInContext(c: Context, space: u32) -> Type;

    pub safe fn LLVMGetBasicBlockTerminator(b: Block) -> Option<Value>;
    pub safe fn LLVMGetFirstInstruction(b: Block) -> Option<Value>;
    pub safe fn LLVMGetLastInstruction(b: Block) -> Option<Value>;
    pub safe fn LLVMGetBasicBlockParent(b: Block) -> Option<Value>;
    pub safe fn LLVMGetNextBasicBlock(b: Block) -> Option<Block>;
    pub safe fn LLVMBasicBlockAsValue(b: Block) -> Value;

    pub safe fn LLVMGetModuleContext(m: Module) -> Context;
    pub safe fn LLVMGetFirstFunction(m: Module) -> Option<Value>;
    pub safe fn LLVMGetNextFunction(f: Function) -> Option<Value>;
}

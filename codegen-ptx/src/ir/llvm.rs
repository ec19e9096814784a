//! LLVM's C API under short names, as far as kernels need it: an extension of [`Ir`], modules, functions,
//! attributes, messages. No policy.
//!
//! # Invariants
//! Every handle (module, value, type, block) that reaches a function of this crate belongs to the one
//! `LLVMContext` that the caller of a public entry point vouched for, and lives until that entry point
//! returns. The unsafe blocks below rely on it; the entry points are `unsafe fn` because only their caller
//! can know it.

use crate::ir::builder::{Ir, c_string};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMInlineAsmDialect, LLVMOpcode};
use std::ffi::{CStr, c_char};

pub(crate) const EMPTY: *const c_char = c"".as_ptr();

macro_rules! binary {
    ($($name:ident = $op:ident;)*) => { $(
        pub fn $name(&self, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
            self.binary(LLVMOpcode::$op, a, b)
        }
    )* };
}

macro_rules! cast {
    ($($name:ident = $op:ident;)*) => { $(
        pub fn $name(&self, v: LLVMValueRef, ty: LLVMTypeRef) -> LLVMValueRef {
            self.cast(LLVMOpcode::$op, v, ty)
        }
    )* };
}

/// What kernels need beyond the host plan's instructions.
impl Ir {
    binary! {
        sdiv = LLVMSDiv;
        udiv = LLVMUDiv;
        srem = LLVMSRem;
        urem = LLVMURem;
        ashr = LLVMAShr;
    }
    cast! {
        trunc = LLVMTrunc;
        zext = LLVMZExt;
        sext = LLVMSExt;
        addrspace_cast = LLVMAddrSpaceCast;
    }

    pub fn exact_sdiv(&self, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: live handles of one context (module invariant).
        unsafe { LLVMBuildExactSDiv(self.raw(), a, b, EMPTY) }
    }

    pub fn neg(&self, v: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: live handles of one context (module invariant).
        unsafe { LLVMBuildNeg(self.raw(), v, EMPTY) }
    }

    pub fn int_type(&self, bits: u32) -> LLVMTypeRef {
        // SAFETY: live context (module invariant).
        unsafe { LLVMIntTypeInContext(self.ctx, bits) }
    }

    pub fn pointer_in(&self, space: u32) -> LLVMTypeRef {
        // SAFETY: live context (module invariant).
        unsafe { LLVMPointerTypeInContext(self.ctx, space) }
    }

    /// Calls a function with arguments of its parameters' types.
    pub fn call_function(&self, f: LLVMValueRef, args: &[LLVMValueRef]) -> LLVMValueRef {
        let mut args = args.to_vec();
        // SAFETY: `f` is a function; the arguments are live and match its type.
        unsafe {
            let ty = LLVMGlobalGetValueType(f);
            LLVMBuildCall2(self.raw(), ty, f, args.as_mut_ptr(), args.len() as u32, EMPTY)
        }
    }

    /// An element of a vector.
    pub fn extract(&self, vector: LLVMValueRef, i: u32) -> LLVMValueRef {
        // SAFETY: a live vector with that many elements.
        unsafe { LLVMBuildExtractElement(self.raw(), vector, self.int32(i), EMPTY) }
    }

    /// A vector with another element.
    pub fn insert(&self, vector: LLVMValueRef, v: LLVMValueRef, i: u32) -> LLVMValueRef {
        // SAFETY: a live vector with that many elements of the value's type.
        unsafe { LLVMBuildInsertElement(self.raw(), vector, v, self.int32(i), EMPTY) }
    }

    /// A call of inline assembly. With side effects it stays where it is, and may do anything to memory.
    pub fn assembly(
        &self,
        ty: LLVMTypeRef,
        text: &str,
        constraints: &str,
        side_effects: bool,
        operands: &[LLVMValueRef],
    ) -> LLVMValueRef {
        let mut operands = operands.to_vec();
        // SAFETY: a function type and live values of its parameters' types; strings are passed with their
        // lengths.
        unsafe {
            let asm = LLVMGetInlineAsm(
                ty,
                text.as_ptr().cast(),
                text.len(),
                constraints.as_ptr().cast(),
                constraints.len(),
                side_effects.into(),
                0,
                LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
                0,
            );
            LLVMBuildCall2(self.raw(), ty, asm, operands.as_mut_ptr(), operands.len() as u32, EMPTY)
        }
    }

    /// The address `base + index * sizeof(elem)`; no claim that it stays inside an object.
    pub fn element(&self, elem: LLVMTypeRef, base: LLVMValueRef, index: LLVMValueRef) -> LLVMValueRef {
        let mut index = [index];
        // SAFETY: live handles of one context; one index over a sized type.
        unsafe { LLVMBuildGEP2(self.raw(), elem, base, index.as_mut_ptr(), 1, EMPTY) }
    }

    pub fn vector_type(&self, elem: LLVMTypeRef, width: u32) -> LLVMTypeRef {
        // SAFETY: a live type that can be a vector's element.
        unsafe { LLVMVectorType(elem, width) }
    }

    pub fn float_type(&self) -> LLVMTypeRef {
        // SAFETY: live context (module invariant).
        unsafe { LLVMFloatTypeInContext(self.ctx) }
    }

    /// A field of a structure.
    pub fn field(&self, structure: LLVMValueRef, at: u32) -> LLVMValueRef {
        // SAFETY: a live value of a structure type with more fields.
        unsafe { LLVMBuildExtractValue(self.raw(), structure, at, EMPTY) }
    }

    /// A vector of these values of type `elem`.
    pub fn vector(&self, elem: LLVMTypeRef, values: &[LLVMValueRef]) -> LLVMValueRef {
        // SAFETY: live values of one type.
        unsafe {
            let mut v = LLVMGetPoison(self.vector_type(elem, values.len() as u32));
            for (i, x) in values.iter().enumerate() {
                v = LLVMBuildInsertElement(self.raw(), v, *x, self.int32(i as u32), EMPTY);
            }
            v
        }
    }

    pub fn load_aligned(&self, ty: LLVMTypeRef, from: LLVMValueRef, align: u32) -> LLVMValueRef {
        let v = self.load(ty, from);
        // SAFETY: a load.
        unsafe { LLVMSetAlignment(v, align) };
        self.mark_access(v);
        v
    }

    pub fn store_aligned(&self, v: LLVMValueRef, to: LLVMValueRef, align: u32) {
        let s = self.store(v, to);
        // SAFETY: a store.
        unsafe { LLVMSetAlignment(s, align) };
        self.mark_access(s);
    }
}

/// A module that is disposed of with the value.
#[derive(Debug)]
pub(crate) struct OwnedModule(pub LLVMModuleRef);

impl OwnedModule {
    pub fn clone_of(module: LLVMModuleRef) -> OwnedModule {
        // SAFETY: live module (module invariant).
        OwnedModule(unsafe { LLVMCloneModule(module) })
    }
}

impl Drop for OwnedModule {
    fn drop(&mut self) {
        // SAFETY: ours, and not used afterwards.
        unsafe { LLVMDisposeModule(self.0) };
    }
}

/// A message that LLVM hands over.
pub(crate) fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: a NUL-terminated string of LLVM's that is ours to dispose of.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}

/// The value's name.
pub(crate) fn name_of(value: LLVMValueRef) -> String {
    let mut len = 0;
    // SAFETY: a live value; the bytes are copied at once.
    unsafe {
        let p = LLVMGetValueName2(value, &mut len);
        String::from_utf8_lossy(std::slice::from_raw_parts(p.cast(), len)).into_owned()
    }
}

/// The value as text, for messages.
pub(crate) fn text_of(value: LLVMValueRef) -> String {
    // SAFETY: a live value.
    take_message(unsafe { LLVMPrintValueToString(value) }).trim().to_string()
}

/// The module as text.
pub(crate) fn module_text(module: LLVMModuleRef) -> String {
    // SAFETY: a live module.
    take_message(unsafe { LLVMPrintModuleToString(module) })
}

/// The functions of a module, in order.
pub(crate) fn functions(module: LLVMModuleRef) -> Vec<LLVMValueRef> {
    // SAFETY: a live module; the list is copied before anyone changes it.
    unsafe { list(LLVMGetFirstFunction(module), |f| LLVMGetNextFunction(f)) }
}

/// The blocks of a function, in order.
pub(crate) fn blocks(function: LLVMValueRef) -> Vec<LLVMBasicBlockRef> {
    // SAFETY: a live function; the list is copied before anyone changes it.
    unsafe { list(LLVMGetFirstBasicBlock(function), |b| LLVMGetNextBasicBlock(b)) }
}

/// The instructions of a function, in order.
pub(crate) fn instructions(function: LLVMValueRef) -> Vec<LLVMValueRef> {
    blocks(function).into_iter().flat_map(instructions_of).collect()
}

/// The instructions of a block, in order.
pub(crate) fn instructions_of(block: LLVMBasicBlockRef) -> Vec<LLVMValueRef> {
    // SAFETY: a live block; the list is copied before anyone changes it.
    unsafe { list(LLVMGetFirstInstruction(block), |i| LLVMGetNextInstruction(i)) }
}

/// The calls of a function.
pub(crate) fn calls_of(function: LLVMValueRef) -> Vec<LLVMValueRef> {
    // SAFETY: a live function; a user of a function that is not a call is left out.
    unsafe {
        list(LLVMGetFirstUse(function), |u| LLVMGetNextUse(u))
            .into_iter()
            .map(|u| LLVMGetUser(u))
            .filter(|u| !LLVMIsACallInst(*u).is_null() && LLVMGetCalledValue(*u) == function)
            .collect()
    }
}

pub(crate) fn list<T>(first: *mut T, next: impl Fn(*mut T) -> *mut T) -> Vec<*mut T> {
    let mut items = Vec::new();
    let mut at = first;
    while !at.is_null() {
        items.push(at);
        at = next(at);
    }
    items
}

/// The function `name` of `module`, declared with `ty` if it is not there.
pub(crate) fn declare(module: LLVMModuleRef, name: &str, ty: LLVMTypeRef) -> LLVMValueRef {
    let name = c_string(name);
    // SAFETY: live module and type of one context.
    unsafe {
        let f = LLVMGetNamedFunction(module, name.as_ptr());
        if f.is_null() { LLVMAddFunction(module, name.as_ptr(), ty) } else { f }
    }
}

pub(crate) fn function_type(ret: LLVMTypeRef, params: &[LLVMTypeRef]) -> LLVMTypeRef {
    let mut params = params.to_vec();
    // SAFETY: live types of one context.
    unsafe { LLVMFunctionType(ret, params.as_mut_ptr(), params.len() as u32, 0) }
}

/// Adds an attribute without a value to a call.
pub(crate) fn add_call_attribute(call: LLVMValueRef, name: &str) {
    // SAFETY: a live call in a module; the name is passed with its length.
    unsafe {
        let context = LLVMGetTypeContext(LLVMTypeOf(call));
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        LLVMAddCallSiteAttribute(call, FUNCTION, LLVMCreateEnumAttribute(context, kind, 0));
    }
}

/// Adds an enum attribute (with a value, where it takes one). `index` is LLVM's: `u32::MAX` the function, 0
/// the result, from 1 the parameters.
pub(crate) fn add_enum_attribute(
    context: LLVMContextRef,
    f: LLVMValueRef,
    index: u32,
    name: &str,
    value: u64,
) {
    // SAFETY: live function; the name is passed with its length. Kind 0 means that this LLVM does not know
    // it.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        if kind != 0 {
            LLVMAddAttributeAtIndex(f, index, LLVMCreateEnumAttribute(context, kind, value));
        }
    }
}

/// Adds a string attribute to a function.
pub(crate) fn add_string_attribute(context: LLVMContextRef, f: LLVMValueRef, key: &str, value: &str) {
    // SAFETY: live function; both strings are passed with their lengths.
    unsafe {
        let (k, v) = (key.as_ptr().cast(), value.as_ptr().cast());
        let attribute = LLVMCreateStringAttribute(context, k, key.len() as u32, v, value.len() as u32);
        LLVMAddAttributeAtIndex(f, FUNCTION, attribute);
    }
}

/// The attribute index of the function itself.
pub(crate) const FUNCTION: u32 = u32::MAX;

/// Gives the loops that end in a terminator for which `ends` holds a hint for the optimizer, alone or with a
/// value.
///
/// # Safety
/// Live handles of one context.
pub(crate) unsafe fn hint_loops(
    context: LLVMContextRef,
    function: LLVMValueRef,
    hint: &str,
    value: Option<LLVMValueRef>,
    ends: impl Fn(LLVMValueRef) -> bool,
) {
    const LOOP: &str = "llvm.loop";
    // SAFETY: the caller's promise; the node of a loop is its own first operand, which makes it distinct.
    unsafe {
        let kind = LLVMGetMDKindIDInContext(context, LOOP.as_ptr().cast(), LOOP.len() as u32);
        let mut block = LLVMGetFirstBasicBlock(function);
        while !block.is_null() {
            let end = LLVMGetBasicBlockTerminator(block);
            if ends(end) {
                let name = LLVMMDStringInContext2(context, hint.as_ptr().cast(), hint.len());
                let mut hint = vec![name];
                hint.extend(value.map(|v| LLVMValueAsMetadata(v)));
                let hint = LLVMMDNodeInContext2(context, hint.as_mut_ptr(), hint.len());
                let mut node = [std::ptr::null_mut(), hint];
                let node = LLVMMDNodeInContext2(context, node.as_mut_ptr(), node.len());
                let node = LLVMMetadataAsValue(context, node);
                LLVMReplaceMDNodeOperandWith(node, 0, LLVMValueAsMetadata(node));
                LLVMSetMetadata(end, kind, node);
            }
            block = LLVMGetNextBasicBlock(block);
        }
    }
}

/// The number that an integer of at most 64 bits is, if it is a constant.
pub(crate) fn constant_int(v: LLVMValueRef) -> Option<i64> {
    // SAFETY: a live value; the number is asked of constants only.
    unsafe { (!LLVMIsAConstantInt(v).is_null()).then(|| LLVMConstIntGetSExtValue(v)) }
}

pub(crate) fn operand(i: LLVMValueRef, n: u32) -> LLVMValueRef {
    // SAFETY: the callers ask for operands that the instruction has.
    unsafe { LLVMGetOperand(i, n) }
}

/// Operands of an instruction, those of a call its function among them.
pub(crate) fn operands_of(i: LLVMValueRef) -> u32 {
    // SAFETY: a live instruction, which has a few.
    unsafe { LLVMGetNumOperands(i) as u32 }
}

pub(crate) fn opcode(i: LLVMValueRef) -> LLVMOpcode {
    // SAFETY: the callers ask of live instructions only: 0, which others have, is no opcode.
    unsafe { LLVMGetInstructionOpcode(i) }
}

/// What a call calls.
pub(crate) fn callee(call: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: a live call.
    unsafe { LLVMGetCalledValue(call) }
}

pub(crate) fn arguments_of(call: LLVMValueRef) -> u32 {
    // SAFETY: a live call.
    unsafe { LLVMGetNumArgOperands(call) }
}

/// The alignment of a load or store.
pub(crate) fn alignment_of(access: LLVMValueRef) -> u32 {
    // SAFETY: a live load or store.
    unsafe { LLVMGetAlignment(access) }
}

/// The function that a block is in.
pub(crate) fn function_of(block: LLVMBasicBlockRef) -> LLVMValueRef {
    // SAFETY: a live block of a function.
    unsafe { LLVMGetBasicBlockParent(block) }
}

/// The module that a function is in.
pub(crate) fn module_of(function: LLVMValueRef) -> LLVMModuleRef {
    // SAFETY: a live function of a module.
    unsafe { LLVMGetGlobalParent(function) }
}

/// A parameter of a function, which has as many.
pub(crate) fn param(function: LLVMValueRef, n: u32) -> LLVMValueRef {
    // SAFETY: a live function; the callers ask for parameters that it has.
    unsafe { LLVMGetParam(function, n) }
}

/// The constant of a type whose bits are all zero.
pub(crate) fn zero_of(ty: LLVMTypeRef) -> LLVMValueRef {
    // SAFETY: a live type.
    unsafe { LLVMConstNull(ty) }
}

pub(crate) fn real_of(ty: LLVMTypeRef, value: f64) -> LLVMValueRef {
    // SAFETY: a live floating-point type.
    unsafe { LLVMConstReal(ty, value) }
}

pub(crate) fn poison_of(ty: LLVMTypeRef) -> LLVMValueRef {
    // SAFETY: a live type.
    unsafe { LLVMGetPoison(ty) }
}

/// The last instruction of a block that is complete.
pub(crate) fn end_of(block: LLVMBasicBlockRef) -> LLVMValueRef {
    // SAFETY: a live block.
    unsafe { LLVMGetBasicBlockTerminator(block) }
}

pub(crate) fn is_true(v: LLVMValueRef) -> bool {
    // SAFETY: a live value; the number is asked of constants only.
    unsafe { !LLVMIsAConstantInt(v).is_null() && LLVMConstIntGetZExtValue(v) == 1 }
}

//! What LLVM says of functions, blocks and calls, read through its C API.

pub mod callgraph;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;

/// The module's function definitions, in order.
pub fn functions(module: LLVMModuleRef) -> Vec<LLVMValueRef> {
    let mut all = Vec::new();
    // SAFETY: a live module.
    unsafe {
        let mut f = LLVMGetFirstFunction(module);
        while !f.is_null() {
            if LLVMIsDeclaration(f) == 0 {
                all.push(f);
            }
            f = LLVMGetNextFunction(f);
        }
    }
    all
}

pub fn module_name(module: LLVMModuleRef) -> String {
    let mut len = 0;
    // SAFETY: a live module; LLVM returns pointer and length of its name.
    unsafe {
        let p = LLVMGetModuleIdentifier(module, &mut len);
        String::from_utf8_lossy(std::slice::from_raw_parts(p.cast::<u8>(), len)).into_owned()
    }
}

pub fn name_of(f: LLVMValueRef) -> String {
    let mut len = 0;
    // SAFETY: a live value; LLVM returns pointer and length of its name.
    unsafe {
        let p = LLVMGetValueName2(f, &mut len);
        String::from_utf8_lossy(std::slice::from_raw_parts(p.cast::<u8>(), len)).into_owned()
    }
}

pub fn function_text(f: LLVMValueRef) -> String {
    // SAFETY: a live value; the message is freed after the copy.
    unsafe {
        let p = LLVMPrintValueToString(f);
        let text = std::ffi::CStr::from_ptr(p).to_string_lossy().into_owned();
        LLVMDisposeMessage(p);
        text
    }
}

/// Whether a definition is there for inlining only.
pub fn is_copy_from_elsewhere(f: LLVMValueRef) -> bool {
    // SAFETY: a live function.
    unsafe { LLVMGetLinkage(f) == inkwell::llvm_sys::LLVMLinkage::LLVMAvailableExternallyLinkage }
}

/// The instructions of a block, in order.
pub fn instructions(block: LLVMBasicBlockRef) -> Vec<LLVMValueRef> {
    let mut all = Vec::new();
    // SAFETY: a live block.
    unsafe {
        let mut i = LLVMGetFirstInstruction(block);
        while !i.is_null() {
            all.push(i);
            i = LLVMGetNextInstruction(i);
        }
    }
    all
}

/// The number of instructions of a function.
pub fn size(f: LLVMValueRef) -> u64 {
    let mut n = 0;
    // SAFETY: a live function.
    unsafe {
        let mut block = LLVMGetFirstBasicBlock(f);
        while !block.is_null() {
            let mut i = LLVMGetFirstInstruction(block);
            while !i.is_null() {
                n += 1;
                i = LLVMGetNextInstruction(i);
            }
            block = LLVMGetNextBasicBlock(block);
        }
    }
    n
}

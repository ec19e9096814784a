//! A thin safe builder over LLVM's C API: only what the host plan and the kernels need, on raw value handles,
//! because the model's handles are raw too.
//!
//! # Invariants
//! - Every handle given to a method is live and belongs to the builder's context; the crate gets handles from
//!   the host module, which outlives all of code generation, or from this builder.
//! - Integers are `i64` unless a name says otherwise.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate};
use std::cell::RefCell;
use std::ffi::{CStr, CString};

/// An instruction builder positioned in some block.
pub struct Ir {
    builder: LLVMBuilderRef,
    pub ctx: LLVMContextRef,
    /// What accesses are made for, until it is set anew; see [`Ir::note`].
    site: RefCell<Option<Noted>>,
}

impl Drop for Ir {
    fn drop(&mut self) {
        // SAFETY: the builder is ours.
        unsafe { LLVMDisposeBuilder(self.builder) }
    }
}

/// `text` as a C string; inner NULs (which LLVM names may not hold anyway) end it.
pub fn c_string(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

const EMPTY: &CStr = c"";

/// What [`Ir::note`] said.
struct Noted {
    what: String,
    array: String,
    spare: bool,
}

/// In the metadata of [`Ir::note_spare`].
pub(crate) const SPARE: &str = "spare";

/// The kind of metadata that [`Ir::note`] leaves.
pub(crate) const SITE: &str = "pollyrs.site";

impl Ir {
    pub fn new(ctx: LLVMContextRef) -> Ir {
        // SAFETY: live context.
        Ir { builder: unsafe { LLVMCreateBuilderInContext(ctx) }, ctx, site: RefCell::new(None) }
    }

    /// From now on, accesses of kernels carry who makes them (a statement, a copy) and the name of the array,
    /// as metadata. The checked emulated device reports with it; nothing else reads it.
    pub fn note(&self, what: &str, array: &str) {
        let (what, array) = (what.to_owned(), array.to_owned());
        *self.site.borrow_mut() = Some(Noted { what, array, spare: false });
    }

    /// As [`Ir::note`], for loads whose value may be thrown away: another thread may be writing there then.
    pub fn note_spare(&self, what: &str, array: &str) {
        let (what, array) = (what.to_owned(), array.to_owned());
        *self.site.borrow_mut() = Some(Noted { what, array, spare: true });
    }

    /// Attaches what [`Ir::note`] said to a load or store.
    pub(crate) fn mark_access(&self, access: LLVMValueRef) {
        let site = self.site.borrow();
        let Some(Noted { what, array, spare }) = site.as_ref() else { return };
        // SAFETY: live context and instruction; strings are passed with their lengths.
        unsafe {
            let text = |t: &str| LLVMMDStringInContext2(self.ctx, t.as_ptr().cast(), t.len());
            let mut parts = [text(what), text(array), text(if *spare { SPARE } else { "" })];
            let node = LLVMMDNodeInContext2(self.ctx, parts.as_mut_ptr(), parts.len());
            let kind = LLVMGetMDKindIDInContext(self.ctx, SITE.as_ptr().cast(), SITE.len() as u32);
            LLVMSetMetadata(access, kind, LLVMMetadataAsValue(self.ctx, node));
        }
    }

    /// Says that a conditional branch rarely goes to its first successor.
    pub fn mark_rare(&self, branch: LLVMValueRef) {
        const NAMES: [&str; 2] = ["prof", "branch_weights"];
        // SAFETY: live context and instruction; strings are passed with their lengths.
        unsafe {
            let kind = LLVMGetMDKindIDInContext(self.ctx, NAMES[0].as_ptr().cast(), NAMES[0].len() as u32);
            let name = LLVMMDStringInContext2(self.ctx, NAMES[1].as_ptr().cast(), NAMES[1].len());
            let weights = [1, 1 << 16].map(|w| LLVMValueAsMetadata(self.int32(w)));
            let mut parts = [name, weights[0], weights[1]];
            let node = LLVMMDNodeInContext2(self.ctx, parts.as_mut_ptr(), parts.len());
            LLVMSetMetadata(branch, kind, LLVMMetadataAsValue(self.ctx, node));
        }
    }

    pub fn raw(&self) -> LLVMBuilderRef {
        self.builder
    }

    pub fn at_end(&self, block: LLVMBasicBlockRef) {
        // SAFETY: see the module's invariants.
        unsafe { LLVMPositionBuilderAtEnd(self.builder, block) }
    }

    pub fn before(&self, instruction: LLVMValueRef) {
        // SAFETY: see the module's invariants.
        unsafe { LLVMPositionBuilderBefore(self.builder, instruction) }
    }

    pub fn block(&self) -> LLVMBasicBlockRef {
        // SAFETY: the builder is positioned.
        unsafe { LLVMGetInsertBlock(self.builder) }
    }

    pub fn i64_type(&self) -> LLVMTypeRef {
        // SAFETY: live context.
        unsafe { LLVMInt64TypeInContext(self.ctx) }
    }

    pub fn i32_type(&self) -> LLVMTypeRef {
        // SAFETY: live context.
        unsafe { LLVMInt32TypeInContext(self.ctx) }
    }

    pub fn i8_type(&self) -> LLVMTypeRef {
        // SAFETY: live context.
        unsafe { LLVMInt8TypeInContext(self.ctx) }
    }

    pub fn ptr_type(&self) -> LLVMTypeRef {
        // SAFETY: live context.
        unsafe { LLVMPointerTypeInContext(self.ctx, 0) }
    }

    pub fn double_type(&self) -> LLVMTypeRef {
        // SAFETY: live context.
        unsafe { LLVMDoubleTypeInContext(self.ctx) }
    }

    pub fn void_type(&self) -> LLVMTypeRef {
        // SAFETY: live context.
        unsafe { LLVMVoidTypeInContext(self.ctx) }
    }

    pub fn int(&self, v: i64) -> LLVMValueRef {
        // SAFETY: live context.
        unsafe { LLVMConstInt(self.i64_type(), v as u64, 1) }
    }

    pub fn int32(&self, v: u32) -> LLVMValueRef {
        // SAFETY: live context.
        unsafe { LLVMConstInt(self.i32_type(), v as u64, 0) }
    }

    pub fn bool(&self, v: bool) -> LLVMValueRef {
        // SAFETY: live context.
        unsafe { LLVMConstInt(LLVMInt1TypeInContext(self.ctx), v as u64, 0) }
    }

    pub fn null(&self) -> LLVMValueRef {
        // SAFETY: live context.
        unsafe { LLVMConstNull(self.ptr_type()) }
    }

    pub fn binary(&self, op: LLVMOpcode, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: see the module's invariants.
        unsafe { LLVMBuildBinOp(self.builder, op, a, b, EMPTY.as_ptr()) }
    }

    pub fn add(&self, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
        self.binary(LLVMOpcode::LLVMAdd, a, b)
    }

    pub fn sub(&self, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
        self.binary(LLVMOpcode::LLVMSub, a, b)
    }

    pub fn mul(&self, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
        self.binary(LLVMOpcode::LLVMMul, a, b)
    }

    pub fn and(&self, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
        self.binary(LLVMOpcode::LLVMAnd, a, b)
    }

    pub fn or(&self, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
        self.binary(LLVMOpcode::LLVMOr, a, b)
    }

    pub fn not(&self, a: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: see the module's invariants.
        unsafe { LLVMBuildNot(self.builder, a, EMPTY.as_ptr()) }
    }

    pub fn icmp(&self, p: LLVMIntPredicate, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: see the module's invariants.
        unsafe { LLVMBuildICmp(self.builder, p, a, b, EMPTY.as_ptr()) }
    }

    /// `a > b` of floating-point numbers; not of a NaN.
    pub fn fcmp_greater(&self, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: live values of one type.
        unsafe { LLVMBuildFCmp(self.builder, LLVMRealPredicate::LLVMRealOGT, a, b, EMPTY.as_ptr()) }
    }

    pub fn select(&self, c: LLVMValueRef, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: see the module's invariants.
        unsafe { LLVMBuildSelect(self.builder, c, a, b, EMPTY.as_ptr()) }
    }

    pub fn smax(&self, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
        let c = self.icmp(LLVMIntPredicate::LLVMIntSGT, a, b);
        self.select(c, a, b)
    }

    pub fn smin(&self, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
        let c = self.icmp(LLVMIntPredicate::LLVMIntSLT, a, b);
        self.select(c, a, b)
    }

    pub fn cast(&self, op: LLVMOpcode, v: LLVMValueRef, ty: LLVMTypeRef) -> LLVMValueRef {
        // SAFETY: see the module's invariants.
        unsafe { LLVMBuildCast(self.builder, op, v, ty, EMPTY.as_ptr()) }
    }

    /// `v`, or some fixed value where `v` is poison or undefined: to branch on it is then no undefined
    /// behaviour.
    pub fn freeze(&self, v: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: see the module's invariants.
        unsafe { LLVMBuildFreeze(self.builder, v, EMPTY.as_ptr()) }
    }

    /// Sign-extends or truncates an integer to `i64`.
    pub fn to_i64(&self, v: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: see the module's invariants.
        unsafe { LLVMBuildIntCast2(self.builder, v, self.i64_type(), 1, EMPTY.as_ptr()) }
    }

    pub fn ptr_to_int(&self, v: LLVMValueRef) -> LLVMValueRef {
        self.cast(LLVMOpcode::LLVMPtrToInt, v, self.i64_type())
    }

    /// `pointer + bytes`, without any claim about objects.
    pub fn byte_offset(&self, pointer: LLVMValueRef, bytes: LLVMValueRef) -> LLVMValueRef {
        let mut index = [bytes];
        // SAFETY: see the module's invariants; the index array lives through the call.
        unsafe { LLVMBuildGEP2(self.builder, self.i8_type(), pointer, index.as_mut_ptr(), 1, EMPTY.as_ptr()) }
    }

    pub fn load(&self, ty: LLVMTypeRef, pointer: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: see the module's invariants.
        unsafe { LLVMBuildLoad2(self.builder, ty, pointer, EMPTY.as_ptr()) }
    }

    pub fn store(&self, value: LLVMValueRef, pointer: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: see the module's invariants.
        unsafe { LLVMBuildStore(self.builder, value, pointer) }
    }

    pub fn alloca(&self, ty: LLVMTypeRef, name: &str) -> LLVMValueRef {
        // SAFETY: see the module's invariants.
        unsafe { LLVMBuildAlloca(self.builder, ty, c_string(name).as_ptr()) }
    }

    pub fn br(&self, to: LLVMBasicBlockRef) -> LLVMValueRef {
        // SAFETY: see the module's invariants.
        unsafe { LLVMBuildBr(self.builder, to) }
    }

    pub fn cond_br(&self, c: LLVMValueRef, t: LLVMBasicBlockRef, e: LLVMBasicBlockRef) -> LLVMValueRef {
        // SAFETY: see the module's invariants.
        unsafe { LLVMBuildCondBr(self.builder, c, t, e) }
    }

    pub fn ret_void(&self) -> LLVMValueRef {
        // SAFETY: see the module's invariants.
        unsafe { LLVMBuildRetVoid(self.builder) }
    }

    pub fn phi(&self, ty: LLVMTypeRef, incoming: &[(LLVMValueRef, LLVMBasicBlockRef)]) -> LLVMValueRef {
        // SAFETY: see the module's invariants.
        let phi = unsafe { LLVMBuildPhi(self.builder, ty, EMPTY.as_ptr()) };
        for (v, b) in incoming {
            self.add_incoming(phi, *v, *b);
        }
        phi
    }

    pub fn add_incoming(&self, phi: LLVMValueRef, value: LLVMValueRef, block: LLVMBasicBlockRef) {
        let (mut v, mut b) = (value, block);
        // SAFETY: see the module's invariants; one value, one block.
        unsafe { LLVMAddIncoming(phi, &mut v, &mut b, 1) }
    }

    /// A new block at the end of `function`.
    pub fn append_block(&self, function: LLVMValueRef, name: &str) -> LLVMBasicBlockRef {
        // SAFETY: see the module's invariants.
        unsafe { LLVMAppendBasicBlockInContext(self.ctx, function, c_string(name).as_ptr()) }
    }

    /// Calls `callee`, a function of type `ret(params)` whose parameter types are those of `args`.
    pub fn call(&self, ret: LLVMTypeRef, callee: LLVMValueRef, args: &[LLVMValueRef]) -> LLVMValueRef {
        let mut args = args.to_vec();
        // SAFETY: see the module's invariants; the arrays live through the calls.
        unsafe {
            let mut types: Vec<LLVMTypeRef> = args.iter().map(|a| LLVMTypeOf(*a)).collect();
            let ty = LLVMFunctionType(ret, types.as_mut_ptr(), types.len() as u32, 0);
            LLVMBuildCall2(self.builder, ty, callee, args.as_mut_ptr(), args.len() as u32, EMPTY.as_ptr())
        }
    }

    /// The function `name` of `module`, declared as `ret(params)` if it is not there.
    pub fn declare(
        &self,
        module: LLVMModuleRef,
        name: &str,
        ret: LLVMTypeRef,
        params: &[LLVMTypeRef],
    ) -> LLVMValueRef {
        let mut params = params.to_vec();
        // SAFETY: see the module's invariants; the array lives through the call.
        unsafe {
            let name = c_string(name);
            let f = LLVMGetNamedFunction(module, name.as_ptr());
            if !f.is_null() {
                return f;
            }
            let ty = LLVMFunctionType(ret, params.as_mut_ptr(), params.len() as u32, 0);
            LLVMAddFunction(module, name.as_ptr(), ty)
        }
    }

    /// `{ value, overflow } = llvm.<op>.with.overflow.i64(a, b)`; `op` is `sadd`, `ssub` or `smul`.
    pub fn with_overflow(&self, op: &str, a: LLVMValueRef, b: LLVMValueRef) -> (LLVMValueRef, LLVMValueRef) {
        let name = format!("llvm.{op}.with.overflow");
        let mut types = [self.i64_type()];
        let mut args = [a, b];
        // SAFETY: the intrinsic exists for i64; the builder is positioned inside a module.
        unsafe {
            let id = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
            let module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(self.block()));
            let f = LLVMGetIntrinsicDeclaration(module, id, types.as_mut_ptr(), 1);
            let ty = LLVMIntrinsicGetType(self.ctx, id, types.as_mut_ptr(), 1);
            let r = LLVMBuildCall2(self.builder, ty, f, args.as_mut_ptr(), 2, EMPTY.as_ptr());
            (
                LLVMBuildExtractValue(self.builder, r, 0, EMPTY.as_ptr()),
                LLVMBuildExtractValue(self.builder, r, 1, EMPTY.as_ptr()),
            )
        }
    }
}

/// The terminator of a block, if it has one.
pub fn terminator(block: LLVMBasicBlockRef) -> Option<LLVMValueRef> {
    // SAFETY: a live block.
    let t = unsafe { LLVMGetBasicBlockTerminator(block) };
    (!t.is_null()).then_some(t)
}

/// Removes an instruction that has no uses.
pub fn erase(instruction: LLVMValueRef) {
    // SAFETY: a live instruction without uses.
    unsafe { LLVMInstructionEraseFromParent(instruction) }
}

/// The context of a module.
pub fn module_context(module: LLVMModuleRef) -> LLVMContextRef {
    // SAFETY: a live module.
    unsafe { LLVMGetModuleContext(module) }
}

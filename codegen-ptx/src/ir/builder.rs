//! A builder of instructions: only what the host plan and the kernels need, on typed handles.
//!
//! # Invariants
//! - Every handle given to a method belongs to the builder's context; the crate gets handles from the host
//!   module, which outlives all of code generation, or from this builder.
//! - Integers are `i64` unless a name says otherwise.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::{LLVMBuilderRef, LLVMTypeRef};
use inkwell::llvm_sys::{
    LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMInlineAsmDialect, LLVMIntPredicate, LLVMOpcode,
    LLVMRealPredicate,
};
pub(crate) use pollyrs_llvm_shim::ir::c_string;
use pollyrs_llvm_shim::ir::{Block, Context, Module, Type, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::c_char;

/// An instruction builder positioned in some block.
pub struct Ir {
    builder: LLVMBuilderRef,
    pub ctx: Context,
    /// What accesses are made for, until it is set anew; see [`Ir::note`].
    site: RefCell<Option<Noted>>,
}

impl Drop for Ir {
    fn drop(&mut self) {
        // SAFETY: the builder is ours.
        unsafe { LLVMDisposeBuilder(self.builder) }
    }
}

const EMPTY: *const c_char = c"".as_ptr();

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

/// Instructions that one call makes, at the builder's place.
macro_rules! instructions {
    ($($(#[$meta:meta])* $name:ident($($arg:ident: $ty:ty),*) = |$ir:ident| $call:expr;)*) => { $(
        $(#[$meta])*
        pub fn $name(&self, $($arg: $ty),*) -> Value {
            let $ir = self;
            // SAFETY: a live builder, and live handles of its context; arrays live through the call.
            unsafe { Value::new($call) }
        }
    )* };
}

/// Operations on two values of one type.
macro_rules! binary {
    ($($name:ident = $op:ident;)*) => { $(
        pub fn $name(&self, a: Value, b: Value) -> Value {
            self.binary(LLVMOpcode::$op, a, b)
        }
    )* };
}

macro_rules! cast {
    ($($name:ident = $op:ident;)*) => { $(
        pub fn $name(&self, v: Value, ty: Type) -> Value {
            self.cast(LLVMOpcode::$op, v, ty)
        }
    )* };
}

/// Places and notes.
impl Ir {
    pub fn new(ctx: Context) -> Ir {
        // SAFETY: live context.
        Ir { builder: unsafe { LLVMCreateBuilderInContext(ctx.raw()) }, ctx, site: RefCell::new(None) }
    }

    /// From now on, accesses of kernels carry who makes them (a statement, a copy) and the name of the array,
    /// as metadata. The checked emulated device reports with it; nothing else reads it.
    pub fn note(&self, what: &str, array: &str) {
        let (what, array) = (what.to_owned(), array.to_owned());
        *self.site.borrow_mut() = Some(Noted { what, array, spare: false });
    }

    /// As [`Ir::note`], for loads whose value may be thrown away (another thread may be writing there then),
    /// and for stores that may give elements which the program leaves alone the values that they have.
    pub fn note_spare(&self, what: &str, array: &str) {
        let (what, array) = (what.to_owned(), array.to_owned());
        *self.site.borrow_mut() = Some(Noted { what, array, spare: true });
    }

    /// Attaches what [`Ir::note`] said to a load or store.
    pub(crate) fn mark_access(&self, access: Value) {
        let site = self.site.borrow();
        let Some(Noted { what, array, spare }) = site.as_ref() else { return };
        let parts = [what.as_str(), array, if *spare { SPARE } else { "" }].map(|t| self.ctx.text_node(t));
        access.set_metadata(self.ctx.kind(SITE), Some(self.ctx.node(&parts)));
    }

    /// Says that a conditional branch rarely goes to its first successor.
    pub fn mark_rare(&self, branch: Value) {
        let [once, often] = [1, 1 << 16].map(|w| self.int32(w));
        let node = self.ctx.node(&[self.ctx.text_node("branch_weights"), once, often]);
        branch.set_metadata(self.ctx.kind("prof"), Some(node));
    }

    pub fn at_end(&self, block: Block) {
        // SAFETY: a live builder and block.
        unsafe { LLVMPositionBuilderAtEnd(self.builder, block.raw()) }
    }

    /// In front of what a block begins with; at the end of an empty one.
    pub fn at_start(&self, block: Block) {
        match block.first() {
            Some(first) => self.before(first),
            None => self.at_end(block),
        }
    }

    /// # Panics
    /// For what is in no block.
    pub fn before(&self, instruction: Value) {
        instruction.block();
        // SAFETY: a live builder, and an instruction of a block.
        unsafe { LLVMPositionBuilderBefore(self.builder, instruction.raw()) }
    }

    /// Where it builds.
    ///
    /// # Panics
    /// Before it was given a place.
    pub fn block(&self) -> Block {
        // SAFETY: a live builder, in a live block.
        unsafe { Block::new(LLVMGetInsertBlock(self.builder)) }
    }

    /// Puts an instruction that is in no block at the builder's place.
    ///
    /// # Panics
    /// For an instruction of a block.
    pub fn put(&self, instruction: Value) {
        assert!(instruction.parent().is_none(), "in a block already: {}", instruction.text());
        // SAFETY: a live builder, and a live instruction in no block.
        unsafe { LLVMInsertIntoBuilder(self.builder, instruction.raw()) }
    }

    /// A copy of an instruction, with `known` values in place of its operands.
    pub fn put_copy(&self, instruction: Value, known: &BTreeMap<usize, Value>) -> Value {
        let copy = instruction.copy();
        self.put(copy);
        for at in 0..copy.operand_count() {
            if let Some(other) = known.get(&copy.operand(at).address()) {
                copy.set_operand(at, *other);
            }
        }
        copy
    }

    /// A new block at the end of `function`.
    pub fn append_block(&self, function: Value, name: &str) -> Block {
        assert!(function.is_function(), "a block of {}", function.text());
        // SAFETY: a live context and function.
        unsafe {
            let name = c_string(name);
            Block::new(LLVMAppendBasicBlockInContext(self.ctx.raw(), function.raw(), name.as_ptr()))
        }
    }
}

/// Types and constants.
impl Ir {
    pub fn i64_type(&self) -> Type {
        self.ctx.int_type(64)
    }

    pub fn i32_type(&self) -> Type {
        self.ctx.int_type(32)
    }

    pub fn i8_type(&self) -> Type {
        self.ctx.int_type(8)
    }

    pub fn int_type(&self, bits: u32) -> Type {
        self.ctx.int_type(bits)
    }

    pub fn ptr_type(&self) -> Type {
        self.ctx.pointer_type(0)
    }

    pub fn pointer_in(&self, space: u32) -> Type {
        self.ctx.pointer_type(space)
    }

    pub fn vector_type(&self, elem: Type, width: u32) -> Type {
        elem.vector_of(width)
    }

    pub fn float_type(&self) -> Type {
        self.ctx.float_type()
    }

    pub fn double_type(&self) -> Type {
        self.ctx.double_type()
    }

    pub fn void_type(&self) -> Type {
        self.ctx.void_type()
    }

    pub fn int(&self, v: i64) -> Value {
        self.i64_type().int(v as u64, true)
    }

    pub fn int32(&self, v: u32) -> Value {
        self.i32_type().int(v.into(), false)
    }

    pub fn bool(&self, v: bool) -> Value {
        self.ctx.int_type(1).int(v.into(), false)
    }

    pub fn null(&self) -> Value {
        self.ptr_type().zero()
    }
}

/// Arithmetic.
impl Ir {
    /// # Panics
    /// For operands of two types.
    #[track_caller]
    pub fn binary(&self, op: LLVMOpcode, a: Value, b: Value) -> Value {
        assert_alike(a, b);
        // SAFETY: a live builder, and live values of one type.
        unsafe { Value::new(LLVMBuildBinOp(self.builder, op, a.raw(), b.raw(), EMPTY)) }
    }

    binary! {
        add = LLVMAdd;
        sub = LLVMSub;
        mul = LLVMMul;
        and = LLVMAnd;
        or = LLVMOr;
        sdiv = LLVMSDiv;
        udiv = LLVMUDiv;
        srem = LLVMSRem;
        urem = LLVMURem;
        ashr = LLVMAShr;
        lshr = LLVMLShr;
        shl = LLVMShl;
    }
    cast! {
        trunc = LLVMTrunc;
        zext = LLVMZExt;
        sext = LLVMSExt;
        addrspace_cast = LLVMAddrSpaceCast;
        bit_cast = LLVMBitCast;
    }

    /// # Panics
    /// For operands of two types.
    #[track_caller]
    pub fn icmp(&self, p: LLVMIntPredicate, a: Value, b: Value) -> Value {
        assert_alike(a, b);
        // SAFETY: a live builder, and live values of one type.
        unsafe { Value::new(LLVMBuildICmp(self.builder, p, a.raw(), b.raw(), EMPTY)) }
    }

    /// # Panics
    /// For operands of two types.
    #[track_caller]
    pub fn fcmp(&self, p: LLVMRealPredicate, a: Value, b: Value) -> Value {
        assert_alike(a, b);
        // SAFETY: a live builder, and live values of one type.
        unsafe { Value::new(LLVMBuildFCmp(self.builder, p, a.raw(), b.raw(), EMPTY)) }
    }

    /// `a > b` of floating-point numbers; not of a NaN.
    pub fn fcmp_greater(&self, a: Value, b: Value) -> Value {
        self.fcmp(LLVMRealPredicate::LLVMRealOGT, a, b)
    }

    /// # Panics
    /// For values of two types.
    #[track_caller]
    pub fn select(&self, c: Value, a: Value, b: Value) -> Value {
        assert_alike(a, b);
        // SAFETY: a live builder, and live values of one type.
        unsafe { Value::new(LLVMBuildSelect(self.builder, c.raw(), a.raw(), b.raw(), EMPTY)) }
    }

    pub fn smax(&self, a: Value, b: Value) -> Value {
        let c = self.icmp(LLVMIntPredicate::LLVMIntSGT, a, b);
        self.select(c, a, b)
    }

    pub fn smin(&self, a: Value, b: Value) -> Value {
        let c = self.icmp(LLVMIntPredicate::LLVMIntSLT, a, b);
        self.select(c, a, b)
    }

    instructions! {
        exact_sdiv(a: Value, b: Value) = |ir| LLVMBuildExactSDiv(ir.builder, a.raw(), b.raw(), EMPTY);
        not(a: Value) = |ir| LLVMBuildNot(ir.builder, a.raw(), EMPTY);
        neg(a: Value) = |ir| LLVMBuildNeg(ir.builder, a.raw(), EMPTY);
        fneg(a: Value) = |ir| LLVMBuildFNeg(ir.builder, a.raw(), EMPTY);
        cast(op: LLVMOpcode, v: Value, ty: Type) = |ir| LLVMBuildCast(ir.builder, op, v.raw(), ty.raw(), EMPTY);
        /// `v`, or some fixed value where `v` is poison or undefined: to branch on it is then no undefined
        /// behaviour.
        freeze(v: Value) = |ir| LLVMBuildFreeze(ir.builder, v.raw(), EMPTY);
        /// Sign-extends or truncates an integer to `i64`.
        to_i64(v: Value) = |ir| LLVMBuildIntCast2(ir.builder, v.raw(), ir.i64_type().raw(), 1, EMPTY);
        /// An element of a vector.
        extract(vector: Value, i: u32) =
            |ir| LLVMBuildExtractElement(ir.builder, vector.raw(), ir.int32(i).raw(), EMPTY);
        /// A vector with another element.
        insert(vector: Value, v: Value, i: u32) =
            |ir| LLVMBuildInsertElement(ir.builder, vector.raw(), v.raw(), ir.int32(i).raw(), EMPTY);
        /// A field of a structure.
        field(structure: Value, at: u32) = |ir| LLVMBuildExtractValue(ir.builder, structure.raw(), at, EMPTY);
        /// A structure with another field.
        with_field(structure: Value, v: Value, at: u32) =
            |ir| LLVMBuildInsertValue(ir.builder, structure.raw(), v.raw(), at, EMPTY);
    }

    pub fn ptr_to_int(&self, v: Value) -> Value {
        self.cast(LLVMOpcode::LLVMPtrToInt, v, self.i64_type())
    }

    /// A vector of these values of type `elem`.
    pub fn vector(&self, elem: Type, values: &[Value]) -> Value {
        let all = self.vector_type(elem, values.len() as u32).poison();
        (0..).zip(values).fold(all, |all, (i, v)| self.insert(all, *v, i))
    }
}

/// Memory.
impl Ir {
    /// `pointer + bytes`, without any claim about objects.
    pub fn byte_offset(&self, pointer: Value, bytes: Value) -> Value {
        self.element(self.i8_type(), pointer, bytes)
    }

    instructions! {
        /// The address `base + index * sizeof(elem)`; no claim that it stays inside an object.
        element(elem: Type, base: Value, index: Value) =
            |ir| LLVMBuildGEP2(ir.builder, elem.raw(), base.raw(), [index.raw()].as_mut_ptr(), 1, EMPTY);
        load(ty: Type, pointer: Value) = |ir| LLVMBuildLoad2(ir.builder, ty.raw(), pointer.raw(), EMPTY);
        store(value: Value, pointer: Value) = |ir| LLVMBuildStore(ir.builder, value.raw(), pointer.raw());
        alloca(ty: Type, name: &str) = |ir| LLVMBuildAlloca(ir.builder, ty.raw(), c_string(name).as_ptr());
        /// `bytes` times the byte `v`.
        fill(pointer: Value, v: Value, bytes: Value, align: u32) =
            |ir| LLVMBuildMemSet(ir.builder, pointer.raw(), v.raw(), bytes.raw(), align);
        /// Combines what is at an address with a value, as one operation for those of a scope; what was
        /// there.
        update(op: LLVMAtomicRMWBinOp, pointer: Value, v: Value, order: LLVMAtomicOrdering, scope: u32) =
            |ir| LLVMBuildAtomicRMWSyncScope(ir.builder, op, pointer.raw(), v.raw(), order, scope);
        /// Replaces what is at an address if it is `old`: what was there, and whether it was that.
        exchange(pointer: Value, old: Value, new: Value, order: LLVMAtomicOrdering, scope: u32) =
            |ir| LLVMBuildAtomicCmpXchgSyncScope(ir.builder, pointer.raw(), old.raw(), new.raw(), order, order, scope);
    }

    pub fn load_aligned(&self, ty: Type, from: Value, align: u32) -> Value {
        let v = self.load(ty, from);
        v.set_alignment(align);
        self.mark_access(v);
        v
    }

    pub fn store_aligned(&self, v: Value, to: Value, align: u32) {
        let s = self.store(v, to);
        s.set_alignment(align);
        self.mark_access(s);
    }
}

/// Control flow and calls.
impl Ir {
    instructions! {
        br(to: Block) = |ir| LLVMBuildBr(ir.builder, to.raw());
        cond_br(c: Value, t: Block, e: Block) = |ir| LLVMBuildCondBr(ir.builder, c.raw(), t.raw(), e.raw());
        ret_void() = |ir| LLVMBuildRetVoid(ir.builder);
        ret(v: Value) = |ir| LLVMBuildRet(ir.builder, v.raw());
        empty_phi(ty: Type) = |ir| LLVMBuildPhi(ir.builder, ty.raw(), EMPTY);
    }

    pub fn phi(&self, ty: Type, incoming: &[(Value, Block)]) -> Value {
        let phi = self.empty_phi(ty);
        incoming.iter().for_each(|(v, b)| self.add_incoming(phi, *v, *b));
        phi
    }

    pub fn add_incoming(&self, phi: Value, value: Value, block: Block) {
        phi.add_incoming(value, block);
    }

    /// Calls what is of type `ty`.
    fn call_typed(&self, ty: Type, callee: Value, args: &[Value]) -> Value {
        let mut args: Vec<_> = args.iter().map(|a| a.raw()).collect();
        let (at, count) = (args.as_mut_ptr(), args.len() as u32);
        // SAFETY: a live builder, and live handles of its context; the array lives through the call.
        unsafe { Value::new(LLVMBuildCall2(self.builder, ty.raw(), callee.raw(), at, count, EMPTY)) }
    }

    /// Calls `callee`, a function of type `ret(params)` whose parameter types are those of `args`.
    pub fn call(&self, ret: Type, callee: Value, args: &[Value]) -> Value {
        let types: Vec<Type> = args.iter().map(|a| a.ty()).collect();
        self.call_typed(ret.function(&types), callee, args)
    }

    /// Calls a function with arguments of its parameters' types.
    pub fn call_function(&self, f: Value, args: &[Value]) -> Value {
        self.call_typed(f.value_type(), f, args)
    }

    /// A call of inline assembly. With side effects it stays where it is, and may do anything to memory.
    pub fn assembly(
        &self,
        ty: Type,
        text: &str,
        constraints: &str,
        side_effects: bool,
        operands: &[Value],
    ) -> Value {
        // SAFETY: a function type; strings are passed with their lengths.
        let asm = unsafe {
            Value::new(LLVMGetInlineAsm(
                ty.raw(),
                text.as_ptr().cast(),
                text.len(),
                constraints.as_ptr().cast(),
                constraints.len(),
                side_effects.into(),
                0,
                LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
                0,
            ))
        };
        self.call_typed(ty, asm, operands)
    }

    /// The function `name` of `module`, declared as `ret(params)` if it is not there.
    pub fn declare(&self, module: Module, name: &str, ret: Type, params: &[Type]) -> Value {
        module.declare(name, ret.function(params))
    }

    /// `{ value, overflow } = llvm.<op>.with.overflow.i64(a, b)`; `op` is `sadd`, `ssub` or `smul`.
    pub fn with_overflow(&self, op: &str, a: Value, b: Value) -> (Value, Value) {
        let name = format!("llvm.{op}.with.overflow");
        let mut types: [LLVMTypeRef; 1] = [self.i64_type().raw()];
        let module = self.block().function().module();
        // SAFETY: the intrinsic exists for i64; the builder is positioned inside a module.
        let (f, ty) = unsafe {
            let id = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
            let f = LLVMGetIntrinsicDeclaration(module.raw(), id, types.as_mut_ptr(), 1);
            let ty = LLVMIntrinsicGetType(self.ctx.raw(), id, types.as_mut_ptr(), 1);
            (Value::new(f), Type::new(ty))
        };
        let r = self.call_typed(ty, f, &[a, b]);
        (self.field(r, 0), self.field(r, 1))
    }

    /// The number of a scope of atomic operations.
    pub fn scope(&self, name: &str) -> u32 {
        // SAFETY: a live context; the name is passed with its length.
        unsafe { LLVMGetSyncScopeID(self.ctx.raw(), name.as_ptr().cast(), name.len()) }
    }
}

/// LLVM folds constants as it builds, and expects of these what its verifier asks of instructions.
#[track_caller]
fn assert_alike(a: Value, b: Value) {
    assert!(a.ty() == b.ty(), "values of two types: {} and {}", a.text(), b.text());
}

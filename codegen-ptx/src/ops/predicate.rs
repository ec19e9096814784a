//! Accesses of single elements under a condition, as predicated instructions of PTX.
//!
//! A thread at the border of the box asks for each of its points whether the launch has it: up to 256
//! branches around one access each. In kernel IR they are branches, for every target. LLVM's passes take most
//! of their time for so many blocks (straight-line strength reduction alone ten times as long for a product
//! of matrices), and the warp would part at each. So the branches that [`mark`] says are of this form
//! ```text
//! br %inside, own, next                          %old = load register
//! own:                                           %x = (%inside) ld.global [address], else %old
//!   %x = load [address]                 becomes  store %x, register
//!   store %x, register
//! next:
//! ```
//! and the same for stores from registers to memory, and for copies of chunks ([`intrinsics::CHUNK`]).
//!
//! # Invariants
//! - A block that has anything else in it than address computations and such accesses stays behind its
//!   branch: nothing rests on the mark.
//! - The elements are aligned to their size, in global or shared memory.

use crate::ir::builder::Ir;
use crate::ir::error::Result;
use crate::ir::intrinsics;
use crate::ir::intrinsics::SHARED as SHARED_MEMORY;
use crate::ir::llvm::*;
use crate::ir::marks::kind;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMOpcode, LLVMTypeKind};

const GLOBAL: u32 = 1;
const SHARED: u32 = 3;
/// Stores that become predicated ones at most: for more a branch is cheaper.
const MOST: usize = 4;

/// A block with accesses of memory: between registers and addresses.
struct Guarded {
    /// A load, and the store of its value to a register.
    load: Option<(LLVMValueRef, LLVMValueRef)>,
    /// Stores to memory, and copies of chunks.
    stores: Vec<LLVMValueRef>,
}

/// How an element is accessed.
struct Element {
    suffix: &'static str,
    constraint: &'static str,
    space: u32,
}

/// Turns the marked branches of the module's functions into predicates.
pub(crate) fn to_ptx(module: LLVMModuleRef) -> Result<()> {
    // SAFETY: a live module.
    let ir = unsafe { Ir::new(LLVMGetModuleContext(module)) };
    let kind = kind(ir.ctx);
    for function in functions(module) {
        // SAFETY: live instructions.
        let marked = |i: &LLVMValueRef| unsafe {
            LLVMGetInstructionOpcode(*i) == LLVMOpcode::LLVMBr
                && LLVMIsConditional(*i) != 0
                && !LLVMGetMetadata(*i, kind).is_null()
        };
        let branches: Vec<_> = instructions(function).into_iter().filter(marked).collect();
        for branch in branches {
            // SAFETY: live; what is removed is this branch and the block behind it, which has no marked one.
            unsafe {
                let (own, next) = (LLVMGetSuccessor(branch, 0), LLVMGetSuccessor(branch, 1));
                match guarded(own, next) {
                    Some(access) => join(&ir, branch, own, next, &access),
                    None => LLVMSetMetadata(branch, kind, std::ptr::null_mut()),
                }
            }
        }
    }
    Ok(())
}

/// What the block does, if it is of the form above and only `next` follows it.
///
/// # Safety
/// Live blocks of a finished function.
unsafe fn guarded(own: LLVMBasicBlockRef, next: LLVMBasicBlockRef) -> Option<Guarded> {
    use LLVMOpcode::*;
    // SAFETY: as the caller says; operands exist for the opcodes at hand.
    unsafe {
        let last = LLVMGetBasicBlockTerminator(own);
        let joins = LLVMGetInstructionOpcode(last) == LLVMBr
            && LLVMIsConditional(last) == 0
            && LLVMGetSuccessor(last, 0) == next
            && LLVMGetInstructionOpcode(LLVMGetFirstInstruction(next)) != LLVMPHI;
        if !joins {
            return None;
        }
        let (mut loads, mut kept, mut stores) = (Vec::new(), Vec::new(), Vec::new());
        for i in instructions_of(own) {
            match LLVMGetInstructionOpcode(i) {
                LLVMAdd | LLVMSub | LLVMMul | LLVMGetElementPtr | LLVMICmp | LLVMSelect | LLVMSExt
                | LLVMZExt | LLVMTrunc | LLVMShl | LLVMAnd | LLVMOr => {}
                LLVMBr if i == last => {}
                LLVMLoad if is_slot(LLVMGetOperand(i, 0)) => {}
                LLVMLoad => loads.push(i),
                LLVMStore if is_slot(LLVMGetOperand(i, 1)) => kept.push(i),
                LLVMStore => stores.push(i),
                LLVMCall if is_copy(i) => stores.push(i),
                _ => return None,
            }
        }
        if stores.len() > MOST || !stores.iter().chain(&loads).all(|i| is_copy(*i) || element(*i).is_some()) {
            return None;
        }
        match (&loads[..], &kept[..], stores.is_empty()) {
            ([], [], false) => Some(Guarded { load: None, stores }),
            ([load], [store], true) => {
                let only_use = LLVMGetNextUse(LLVMGetFirstUse(*load)).is_null();
                let moved = LLVMGetOperand(*store, 0) == *load && only_use;
                moved.then_some(Guarded { load: Some((*load, *store)), stores })
            }
            _ => None,
        }
    }
}

/// Whether an instruction copies a chunk.
///
/// # Safety
/// A live instruction.
unsafe fn is_copy(i: LLVMValueRef) -> bool {
    // SAFETY: as the caller says.
    unsafe { !LLVMIsACallInst(i).is_null() && name_of(LLVMGetCalledValue(i)) == intrinsics::CHUNK }
}

/// How a load or store accesses its element; `None` if no predicated instruction does.
///
/// # Safety
/// A live load or store.
unsafe fn element(i: LLVMValueRef) -> Option<Element> {
    // SAFETY: as the caller says.
    unsafe {
        let loads = LLVMGetInstructionOpcode(i) == LLVMOpcode::LLVMLoad;
        let (ty, pointer) = match loads {
            true => (LLVMTypeOf(i), LLVMGetOperand(i, 0)),
            false => (LLVMTypeOf(LLVMGetOperand(i, 0)), LLVMGetOperand(i, 1)),
        };
        let (suffix, constraint, bytes) = match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMFloatTypeKind => ("f32", "f", 4),
            LLVMTypeKind::LLVMDoubleTypeKind => ("f64", "d", 8),
            LLVMTypeKind::LLVMIntegerTypeKind => match LLVMGetIntTypeWidth(ty) {
                32 => ("b32", "r", 4),
                64 => ("b64", "l", 8),
                _ => return None,
            },
            _ => return None,
        };
        let root = root(pointer);
        let shared = !LLVMIsACallInst(root).is_null() && name_of(LLVMGetCalledValue(root)) == SHARED_MEMORY;
        let space = if shared { SHARED } else { GLOBAL };
        (LLVMGetAlignment(i) >= bytes && LLVMGetVolatile(i) == 0).then_some(Element {
            suffix,
            constraint,
            space,
        })
    }
}

/// Whether an address is in a stack slot of the thread.
///
/// # Safety
/// A live pointer.
unsafe fn is_slot(pointer: LLVMValueRef) -> bool {
    // SAFETY: as the caller says.
    unsafe { !LLVMIsAAllocaInst(root(pointer)).is_null() }
}

/// What the address computations of a pointer begin with.
///
/// # Safety
/// A live pointer.
unsafe fn root(mut pointer: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: as the caller says.
    unsafe {
        while !LLVMIsAGetElementPtrInst(pointer).is_null() {
            pointer = LLVMGetOperand(pointer, 0);
        }
        pointer
    }
}

/// Moves the block in front of its branch, which becomes the predicate of its access.
///
/// # Safety
/// What [`guarded`] found of live blocks.
unsafe fn join(
    ir: &Ir,
    branch: LLVMValueRef,
    own: LLVMBasicBlockRef,
    next: LLVMBasicBlockRef,
    access: &Guarded,
) {
    // SAFETY: as the caller says. The moved instructions stay in order, and what they use stands before the
    // branch; nothing behind the block uses them, since it does not dominate what follows.
    unsafe {
        let condition = LLVMGetCondition(branch);
        let last = LLVMGetBasicBlockTerminator(own);
        for i in instructions_of(own) {
            if i != last {
                LLVMInstructionRemoveFromParent(i);
                ir.before(branch);
                LLVMInsertIntoBuilder(ir.raw(), i);
            }
        }
        let address = |p: LLVMValueRef, space: u32| ir.ptr_to_int(ir.addrspace_cast(p, ir.pointer_in(space)));
        let (i64, bool) = (ir.i64_type(), ir.int_type(1));
        let name = |e: &Element| if e.space == SHARED { "shared" } else { "global" };
        if let Some((load, store)) = access.load
            && let Some(e) = element(load)
        {
            let ty = LLVMTypeOf(load);
            ir.before(load);
            // The store's address may be computed behind the load.
            let from = address(LLVMGetOperand(load, 0), e.space);
            ir.before(store);
            let old = ir.load_aligned(ty, LLVMGetOperand(store, 1), LLVMGetAlignment(store));
            let text = format!("@$2 ld.{}.{} $0, [$1];", name(&e), e.suffix);
            let constraints = format!("={},l,b,0", e.constraint);
            let signature = function_type(ty, &[i64, bool, ty]);
            let loaded = ir.assembly(signature, &text, &constraints, true, &[from, condition, old]);
            LLVMReplaceAllUsesWith(load, loaded);
            LLVMInstructionEraseFromParent(load);
        }
        for store in &access.stores {
            if is_copy(*store) {
                ir.before(*store);
                let to = address(LLVMGetOperand(*store, 0), SHARED);
                let from = address(LLVMGetOperand(*store, 1), GLOBAL);
                let signature = function_type(ir.void_type(), &[i64, i64, bool]);
                let text = "@$2 cp.async.ca.shared.global [$0], [$1], 16;";
                ir.assembly(signature, text, "l,l,b,~{memory}", true, &[to, from, condition]);
                LLVMInstructionEraseFromParent(*store);
                continue;
            }
            let Some(e) = element(*store) else { continue };
            let value = LLVMGetOperand(*store, 0);
            ir.before(*store);
            let to = address(LLVMGetOperand(*store, 1), e.space);
            let text = format!("@$2 st.{}.{} [$0], $1;", name(&e), e.suffix);
            let signature = function_type(ir.void_type(), &[i64, LLVMTypeOf(value), bool]);
            let constraints = format!("l,{},b,~{{memory}}", e.constraint);
            ir.assembly(signature, &text, &constraints, true, &[to, value, condition]);
            LLVMInstructionEraseFromParent(*store);
        }
        ir.before(branch);
        ir.br(next);
        LLVMInstructionEraseFromParent(branch);
        LLVMDeleteBasicBlock(own);
    }
}

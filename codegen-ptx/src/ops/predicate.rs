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
use inkwell::llvm_sys::{LLVMOpcode, LLVMTypeKind};

const GLOBAL: u32 = 1;
const SHARED: u32 = 3;
/// Stores that become predicated ones at most: for more a branch is cheaper.
const MOST: usize = 4;

/// A block with accesses of memory: between registers and addresses.
struct Guarded {
    /// A load, and the store of its value to a register.
    load: Option<(Value, Value)>,
    /// Stores to memory, and copies of chunks.
    stores: Vec<Value>,
}

/// How an element is accessed.
struct Element {
    suffix: &'static str,
    constraint: &'static str,
    space: u32,
}

/// Turns the marked branches of the module's functions into predicates.
pub(crate) fn to_ptx(module: Module) -> Result<()> {
    let ir = Ir::new(module.context());
    let kind = kind(ir.ctx);
    for function in module.functions() {
        let marked =
            |i: &Value| i.opcode() == LLVMOpcode::LLVMBr && i.is_conditional() && i.metadata(kind).is_some();
        let branches: Vec<_> = function.instructions().into_iter().filter(marked).collect();
        for branch in branches {
            let (own, next) = (branch.successor(0), branch.successor(1));
            match guarded(own, next) {
                Some(access) => join(&ir, branch, own, next, &access),
                None => branch.set_metadata(kind, None),
            }
        }
    }
    Ok(())
}

/// What the block does, if it is of the form above and only `next` follows it.
fn guarded(own: Block, next: Block) -> Option<Guarded> {
    use LLVMOpcode::*;
    let last = own.end();
    let joins = last.opcode() == LLVMBr
        && !last.is_conditional()
        && last.successor(0) == next
        && next.first().is_none_or(|i| !i.is_phi());
    if !joins {
        return None;
    }
    let (mut loads, mut kept, mut stores) = (Vec::new(), Vec::new(), Vec::new());
    for i in own.instructions() {
        match i.opcode() {
            LLVMAdd | LLVMSub | LLVMMul | LLVMGetElementPtr | LLVMICmp | LLVMSelect | LLVMSExt | LLVMZExt
            | LLVMTrunc | LLVMShl | LLVMAnd | LLVMOr => {}
            LLVMBr if i == last => {}
            LLVMLoad if is_slot(i.operand(0)) => {}
            LLVMLoad => loads.push(i),
            LLVMStore if is_slot(i.operand(1)) => kept.push(i),
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
            let moved = store.operand(0) == *load && load.is_used_once();
            moved.then_some(Guarded { load: Some((*load, *store)), stores })
        }
        _ => None,
    }
}

/// Whether an instruction copies a chunk.
fn is_copy(i: Value) -> bool {
    i.is_call() && i.callee().name() == intrinsics::CHUNK
}

/// How a load or store accesses its element; `None` if no predicated instruction does.
fn element(i: Value) -> Option<Element> {
    let loads = i.opcode() == LLVMOpcode::LLVMLoad;
    let (ty, pointer) = match loads {
        true => (i.ty(), i.operand(0)),
        false => (i.operand(0).ty(), i.operand(1)),
    };
    let (suffix, constraint, bytes) = match ty.kind() {
        LLVMTypeKind::LLVMFloatTypeKind => ("f32", "f", 4),
        LLVMTypeKind::LLVMDoubleTypeKind => ("f64", "d", 8),
        LLVMTypeKind::LLVMIntegerTypeKind => match ty.int_width()? {
            32 => ("b32", "r", 4),
            64 => ("b64", "l", 8),
            _ => return None,
        },
        _ => return None,
    };
    let root = root(pointer);
    let shared = root.is_call() && root.callee().name() == SHARED_MEMORY;
    let space = if shared { SHARED } else { GLOBAL };
    (i.alignment() >= bytes && !i.is_volatile()).then_some(Element { suffix, constraint, space })
}

/// Whether an address is in a stack slot of the thread.
fn is_slot(pointer: Value) -> bool {
    root(pointer).is_alloca()
}

/// What the address computations of a pointer begin with.
fn root(mut pointer: Value) -> Value {
    while pointer.is_gep() {
        pointer = pointer.operand(0);
    }
    pointer
}

/// Moves the block in front of its branch, which becomes the predicate of its access.
fn join(ir: &Ir, branch: Value, own: Block, next: Block, access: &Guarded) {
    let condition = branch.condition();
    let last = own.end();
    for i in own.instructions() {
        if i != last {
            i.remove();
            ir.before(branch);
            ir.put(i);
        }
    }
    let address = |p: Value, space: u32| ir.ptr_to_int(ir.addrspace_cast(p, ir.pointer_in(space)));
    let (i64, bool) = (ir.i64_type(), ir.int_type(1));
    let name = |e: &Element| if e.space == SHARED { "shared" } else { "global" };
    if let Some((load, store)) = access.load
        && let Some(e) = element(load)
    {
        let ty = load.ty();
        ir.before(load);
        // The store's address may be computed behind the load.
        let from = address(load.operand(0), e.space);
        ir.before(store);
        let old = ir.load_aligned(ty, store.operand(1), store.alignment());
        let text = format!("@$2 ld.{}.{} $0, [$1];", name(&e), e.suffix);
        let constraints = format!("={},l,b,0", e.constraint);
        let signature = ty.function(&[i64, bool, ty]);
        let loaded = ir.assembly(signature, &text, &constraints, true, &[from, condition, old]);
        // SAFETY: the handle is not used any more.
        unsafe { load.replace(loaded) };
    }
    for store in &access.stores {
        if is_copy(*store) {
            ir.before(*store);
            let to = address(store.operand(0), SHARED);
            let from = address(store.operand(1), GLOBAL);
            let signature = ir.void_type().function(&[i64, i64, bool]);
            let text = "@$2 cp.async.ca.shared.global [$0], [$1], 16;";
            ir.assembly(signature, text, "l,l,b,~{memory}", true, &[to, from, condition]);
            // SAFETY: nothing uses it any more.
            unsafe { store.erase() };
            continue;
        }
        let Some(e) = element(*store) else { continue };
        let value = store.operand(0);
        ir.before(*store);
        let to = address(store.operand(1), e.space);
        let text = format!("@$2 st.{}.{} [$0], $1;", name(&e), e.suffix);
        let signature = ir.void_type().function(&[i64, value.ty(), bool]);
        let constraints = format!("l,{},b,~{{memory}}", e.constraint);
        ir.assembly(signature, &text, &constraints, true, &[to, value, condition]);
        // SAFETY: nothing uses it any more.
        unsafe { store.erase() };
    }
    ir.before(branch);
    ir.br(next);
    // SAFETY: nothing uses it any more.
    unsafe { branch.erase() };
    // SAFETY: nothing leads to it any more.
    unsafe { own.delete() };
}

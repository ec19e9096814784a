//! What tiles need of a target: loads of whole vectors, and copies to shared memory that threads do not wait
//! for.
//!
//! `{ T, ... } @pollyrs.load.T.n(ptr)` loads `n` elements of an array that no one writes during the launch,
//! aligned to their size. As an ordinary load it would not survive: the optimizer splits it into elements,
//! and merges these with the loads of the unaligned case. `@pollyrs.own.T.n(ptr)` is the same for elements
//! that only the thread itself writes, behind the load and with values made from it.
//!
//! `void @pollyrs.async.chunk(ptr to, ptr from, i1 low, i1 high)` starts to copy 16 bytes, aligned to 16,
//! from an array that no one writes during the launch to shared memory; without `low` or `high`, the lower or
//! the upper half is not the array's, or nobody asks for it, and any value will do. (A target may read it:
//! memory is not divided so finely that one half could be missing.) `@pollyrs.async.commit()` ends a group of
//! copies, and `@pollyrs.async.wait.m()` waits for all groups of the thread but the last `m`. Only code for
//! `@pollyrs.has_mma` ([`crate::tiled::product`]) reaches them. The emulated device copies at once.
//!
//! `void @pollyrs.async.element.n(ptr to, ptr from)` is the same for one element of `n` bytes, at an address
//! that `n` divides, for every target: where there are no such copies it is a load and a store. A thread
//! holds no register until the element is there, so that all copies of a block are on their way at once.

use crate::ir::builder::{Ir, SITE};
use crate::ir::calls::replace_calls;
use crate::ir::error::Result;
use crate::ir::intrinsics::CHUNK;
use crate::ir::llvm::*;
use crate::kernel::builder::KernelBuilder;
use pollyrs_scop::ElemType;

/// An element type's suffix in PTX, its constraint in inline assembly, and how many of it are 16 bytes.
struct Vector {
    suffix: &'static str,
    constraint: &'static str,
    width: u32,
}

/// Who writes what is loaded during a launch.
#[derive(Clone, Copy)]
enum Kind {
    /// No one.
    Constant,
    /// The thread, later.
    Own,
}

const KINDS: [Kind; 2] = [Kind::Constant, Kind::Own];

const VECTORS: [Vector; 4] = [
    Vector { suffix: "f32", constraint: "f", width: 4 },
    Vector { suffix: "f64", constraint: "d", width: 2 },
    Vector { suffix: "b32", constraint: "r", width: 4 },
    Vector { suffix: "b64", constraint: "l", width: 2 },
];

impl Vector {
    fn of(elem: ElemType) -> Option<&'static Vector> {
        let suffix = match elem {
            ElemType::F32 => "f32",
            ElemType::F64 => "f64",
            ElemType::Int(32) => "b32",
            ElemType::Int(64) => "b64",
            _ => return None,
        };
        VECTORS.iter().find(|v| v.suffix == suffix)
    }

    fn name(&self, kind: Kind) -> String {
        let kind = match kind {
            Kind::Constant => "load",
            Kind::Own => "own",
        };
        format!("pollyrs.{kind}.{}.{}", self.suffix, self.width)
    }

    fn element(&self, ir: &Ir) -> Type {
        match self.suffix {
            "f32" => ir.float_type(),
            "f64" => ir.double_type(),
            "b32" => ir.i32_type(),
            _ => ir.i64_type(),
        }
    }

    fn result(&self, ir: &Ir) -> Type {
        ir.ctx.struct_type(&vec![self.element(ir); self.width as usize])
    }
}

/// Whether there are vectors of an element type.
pub(crate) fn has_vector(elem: ElemType) -> bool {
    Vector::of(elem).is_some()
}

/// Loads `width` elements of a constant array at a 16-byte boundary; `None` if there is no such access.
pub(crate) fn load_vector<S>(
    k: &KernelBuilder<'_, S>,
    elem: ElemType,
    width: u32,
    from: Value,
) -> Option<Vec<Value>> {
    load(k, Kind::Constant, elem, width, from)
}

/// Loads `width` elements that are the thread's own at a 16-byte boundary; `None` if there is no such access.
pub(crate) fn load_own_vector<S>(
    k: &KernelBuilder<'_, S>,
    elem: ElemType,
    width: u32,
    from: Value,
) -> Option<Vec<Value>> {
    load(k, Kind::Own, elem, width, from)
}

fn load<S>(
    k: &KernelBuilder<'_, S>,
    kind: Kind,
    elem: ElemType,
    width: u32,
    from: Value,
) -> Option<Vec<Value>> {
    let v = Vector::of(elem).filter(|v| v.width == width)?;
    let f = k.module.declare(&v.name(kind), v.result(k.ir).function(&[k.ir.ptr_type()]));
    for a in ["nounwind", "willreturn"] {
        f.add_attribute(FUNCTION, a, 0);
    }
    let loaded = k.ir.call_function(f, &[from]);
    Some((0..width).map(|i| k.ir.field(loaded, i)).collect())
}

const ASYNC: &str = "pollyrs.async.";

const COMMIT: &str = "pollyrs.async.commit";
const ELEMENT: &str = "pollyrs.async.element.";
/// A number of groups is part of the instruction; no more are waited for.
const MOST_GROUPS: u32 = 8;
/// The architecture from which on there are such copies.
const ASYNC_FROM: u32 = 80;

/// A call of a function that reads or writes memory.
fn effect<S>(k: &KernelBuilder<'_, S>, name: &str, args: &[Value]) -> Value {
    let params: Vec<_> = args.iter().map(|a| a.ty()).collect();
    let f = k.module.declare(name, k.ir.void_type().function(&params));
    for a in ["nounwind", "willreturn"] {
        f.add_attribute(FUNCTION, a, 0);
    }
    k.ir.call_function(f, args)
}

/// Starts to copy a chunk of which these halves have a meaning.
pub(crate) fn copy<S>(k: &KernelBuilder<'_, S>, to: Value, from: Value, halves: [Value; 2]) {
    effect(k, CHUNK, &[to, from, halves[0], halves[1]]);
}

/// The sizes of elements that there are copies of.
const ELEMENTS: [u32; 2] = [4, 8];

/// Starts to copy an element of so many bytes; `false` if there is no such copy.
pub(crate) fn copy_element<S>(k: &KernelBuilder<'_, S>, bytes: u32, to: Value, from: Value) -> bool {
    if !ELEMENTS.contains(&bytes) {
        return false;
    }
    let call = effect(k, &format!("{ELEMENT}{bytes}"), &[to, from]);
    k.ir.mark_access(call);
    true
}

/// Ends a group of copies.
pub(crate) fn commit<S>(k: &KernelBuilder<'_, S>) {
    effect(k, COMMIT, &[]);
}

/// Waits for the thread's copies but those of the last `groups`.
pub(crate) fn wait<S>(k: &KernelBuilder<'_, S>, groups: u32) {
    effect(k, &format!("{ASYNC}wait.{}", groups.min(MOST_GROUPS - 1)), &[]);
}

/// Replaces copies, commits and waits, each by what a function builds: to, from and halves; nothing; the
/// number of groups.
fn replace_copies(
    module: Module,
    copy: impl Fn(&Ir, [Value; 4]) -> Value,
    commit: impl Fn(&Ir) -> Value,
    wait: impl Fn(&Ir, u32) -> Value,
) -> Result<()> {
    if let Some(f) = module.function(CHUNK) {
        replace_calls(module, f, |ir, call| {
            let argument = |i| call.operand(i);
            Ok(copy(ir, [0, 1, 2, 3].map(argument)))
        })?;
    }
    if let Some(f) = module.function(COMMIT) {
        replace_calls(module, f, |ir, _| Ok(commit(ir)))?;
    }
    for groups in 0..MOST_GROUPS {
        let Some(f) = module.function(&format!("{ASYNC}wait.{groups}")) else { continue };
        replace_calls(module, f, |ir, _| Ok(wait(ir, groups)))?;
    }
    Ok(())
}

/// Replaces copies of elements, each by what a function builds for so many bytes, `to` and `from`.
fn replace_elements(module: Module, copy: impl Fn(&Ir, u32, Value) -> Value) -> Result<()> {
    for bytes in ELEMENTS {
        let Some(f) = module.function(&format!("{ELEMENT}{bytes}")) else { continue };
        replace_calls(module, f, |ir, call| Ok(copy(ir, bytes, call)))?;
    }
    Ok(())
}

/// A copy of an element as a load and a store, which carry what the call says of itself.
fn load_and_store(ir: &Ir, bytes: u32, call: Value) -> Value {
    let v = ir.load_aligned(ir.ctx.int_type(8 * bytes), call.operand(1), bytes);
    let store = ir.store(v, call.operand(0));
    store.set_alignment(bytes);
    let kind = ir.ctx.kind(SITE);
    for access in [v, store] {
        access.set_metadata(kind, call.metadata(kind));
    }
    ir.null()
}

/// Copies as instructions of PTX; nothing where the architecture has none and nothing reaches them.
fn copies_to_ptx(module: Module, arch: u32) -> Result<()> {
    if arch < ASYNC_FROM {
        replace_elements(module, load_and_store)?;
        return replace_copies(module, |ir, _| ir.null(), Ir::null, |ir, _| ir.null());
    }
    let call = |ir: &Ir, name: &str, args: &[Value]| {
        let params: Vec<_> = args.iter().map(|a| a.ty()).collect();
        ir.call_function(module.declare(name, ir.void_type().function(&params)), args)
    };
    replace_elements(module, |ir, bytes, c| {
        let to = ir.addrspace_cast(c.operand(0), ir.pointer_in(3));
        let from = ir.addrspace_cast(c.operand(1), ir.pointer_in(1));
        call(ir, &format!("llvm.nvvm.cp.async.ca.shared.global.{bytes}"), &[to, from])
    })?;
    replace_copies(
        module,
        |ir, [to, from, ..]| {
            let to = ir.addrspace_cast(to, ir.pointer_in(3));
            let from = ir.addrspace_cast(from, ir.pointer_in(1));
            // Through the first cache: past it, products took 12 to 70% longer on an H200
            // (`bench/notes/002-matrix-products.md`).
            call(ir, "llvm.nvvm.cp.async.ca.shared.global.16", &[to, from])
        },
        |ir| call(ir, "llvm.nvvm.cp.async.commit.group", &[]),
        |ir, groups| call(ir, "llvm.nvvm.cp.async.wait.group", &[ir.int32(groups)]),
    )
}

/// Copies as loads and stores of eight bytes; the other half stands in for one without a meaning.
fn copies_to_host(module: Module) -> Result<()> {
    const WORD: u32 = 8;
    let copy = |ir: &Ir, [to, from, low, high]: [Value; 4]| {
        let upper = ir.byte_offset(from, ir.int(WORD.into()));
        for (at, from) in [(0, ir.select(low, from, upper)), (WORD, ir.select(high, upper, from))] {
            let v = ir.load_aligned(ir.i64_type(), from, WORD);
            ir.store_aligned(v, ir.byte_offset(to, ir.int(at.into())), WORD);
        }
        ir.null()
    };
    replace_elements(module, load_and_store)?;
    replace_copies(module, copy, Ir::null, |ir, _| ir.null())
}

/// As instructions of PTX.
pub(crate) fn to_ptx(module: Module, arch: u32) -> Result<()> {
    copies_to_ptx(module, arch)?;
    for (v, kind) in VECTORS.iter().flat_map(|v| KINDS.map(|kind| (v, kind))) {
        let Some(f) = module.function(&v.name(kind)) else { continue };
        let cache = match kind {
            Kind::Constant => ".nc",
            Kind::Own => "",
        };
        let results: Vec<_> = (0..v.width).map(|i| format!("${i}")).collect();
        let text =
            format!("ld.global{cache}.v{}.{} {{{}}}, [${}];", v.width, v.suffix, results.join(", "), v.width);
        let outputs: Vec<_> = (0..v.width).map(|_| format!("={}", v.constraint)).collect();
        let constraints = format!("{},l", outputs.join(","));
        replace_calls(module, f, |ir, call| {
            let global = ir.addrspace_cast(call.operand(0), ir.pointer_in(1));
            let ty = v.result(ir).function(&[ir.i64_type()]);
            Ok(ir.assembly(ty, &text, &constraints, false, &[ir.ptr_to_int(global)]))
        })?;
    }
    Ok(())
}

/// As ordinary loads and stores.
pub(crate) fn to_host(module: Module) -> Result<()> {
    copies_to_host(module)?;
    for (v, kind) in VECTORS.iter().flat_map(|v| KINDS.map(|kind| (v, kind))) {
        let Some(f) = module.function(&v.name(kind)) else { continue };
        replace_calls(module, f, |ir, call| {
            let from = call.operand(0);
            let loaded = ir.load_aligned(v.result(ir), from, crate::ir::types::VECTOR_BYTES);
            Ok(loaded)
        })?;
    }
    Ok(())
}

//! Emulated kernels that tell the run-time library what they do, so that it finds races, accesses out of
//! bounds, reads of what nobody wrote, and divergent barriers.
//!
//! Every load, store and barrier of a kernel gets a call with a *site*, a constant that says who accesses
//! what:
//! ```text
//! %u = call i32 @pollyrs_rt_emu_load(ptr %thread, ptr %address, ptr @site)      ; 1: nobody wrote there
//! %v = load double, ptr %address
//! ...
//! call void @pollyrs_rt_emu_store(ptr %thread, ptr %address, ptr @site2, i32 %undefined)
//! ```
//!
//! That a value is read which nobody wrote is no mistake yet: threads of a halo compute with such values and
//! throw the results away. So each value has a shadow bit, `undefined`, that goes through arithmetic, selects
//! and PHIs as in MemorySanitizer (Stepanov and Serebryany, CGO 2015); the run-time library complains when an
//! undefined value decides a branch, makes an address, or reaches an array of the program.
//!
//! # Invariants
//! - The pass sees the finished kernel: what other lowerings add is checked too. Vectors are accessed element
//!   by element ([`crate::ops::elements`]).
//! - Values and order of the kernel's accesses stay; shadows live in values and stack slots of their own.
//! - Stack slots of a thread (cells of scalars, registers of a tile) have shadows, but no calls.

use crate::ir::builder::{Ir, SITE, SPARE, c_string};
use crate::ir::error::{Result, internal};
use crate::ir::intrinsics::{EMU_BARRIER, EMU_PASS, EMU_SHUFFLE};
use crate::ir::llvm::*;
use inkwell::llvm_sys::LLVMIntPredicate::LLVMIntNE;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMOpcode, LLVMTypeKind};
use std::collections::{BTreeMap, BTreeSet};

/// `PollyrsEmuSite::flags`: a store.
const WRITE: u32 = 1;
/// A load whose value may be thrown away.
const MAY_BE_UNUSED: u32 = 2;
/// A store that combines with what is there, as one operation.
const UPDATE: u32 = 4;
/// A store that may give elements the values that they have.
const MAY_KEEP: u32 = 8;
/// From this bit on: the logarithm of what the address is a multiple of, if that is more than an element.
const MULTIPLE: u32 = 8;
/// `PollyrsEmuSite::argument` of shared memory, and where the array is not known.
const SHARED_MEMORY: u32 = u32::MAX;
const ANY_ARRAY: u32 = u32::MAX - 1;

/// Where a pointer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    /// The thread descriptor or the argument array: no memory of the device.
    Frame,
    /// A stack slot of the thread.
    Private,
    Shared,
    /// The kernel's array argument with this number.
    Array(u32),
    Unknown,
}

/// Adds the calls to a kernel made by [`lower_emulated`](crate::lower_emulated), whose array arguments are
/// `arrays`.
pub(crate) fn instrument(module: Module, function: Value, arrays: &[Value]) -> Result<()> {
    let (context, thread, arguments) = (module.context(), function.param(0), function.param(1));
    let blocks = reverse_postorder(function);
    let mut c = Checker {
        ir: Ir::new(context),
        module,
        thread,
        arguments,
        arrays: arrays.iter().enumerate().map(|(i, a)| (a.address(), i as u32)).collect(),
        shadows: BTreeMap::new(),
        slots: BTreeMap::new(),
        sites: BTreeMap::new(),
        granule: 0,
    };
    let all: Vec<Value> = blocks.iter().flat_map(|b| b.instructions()).collect();
    // The smallest access tells how finely shared memory is watched.
    let sizes = all.iter().filter_map(|i| {
        let (address, ty) = accessed(*i)?;
        (c.root(address) == Root::Shared).then(|| c.bytes(ty))
    });
    c.granule = sizes.min().unwrap_or(1);
    let mut phis = Vec::new();
    for i in all {
        c.instruction(i, &mut phis)?;
    }
    for (phi, shadow) in phis {
        for n in 0..phi.incoming_count() {
            let (value, block) = (phi.incoming_value(n), phi.incoming_block(n));
            let bit = c.shadow(value).unwrap_or_else(|| c.ir.bool(false));
            c.ir.add_incoming(shadow, bit, block);
        }
    }
    Ok(())
}

/// Removes the metadata of [`Ir::note`] and [`predicate::mark`](crate::ops::predicate): nothing of it reaches
/// the program.
pub(crate) fn forget_sites(context: Context, function: Value) {
    let kind = context.kind(SITE);
    for i in function.instructions() {
        if i.has_metadata() {
            i.set_metadata(kind, None);
            i.set_metadata(crate::ir::marks::kind(context), None);
        }
    }
}

/// The reachable blocks: each after those that dominate it.
fn reverse_postorder(function: Value) -> Vec<Block> {
    let mut order = Vec::new();
    let entry = function.entry();
    let mut seen = BTreeSet::from([entry.address()]);
    let mut stack = vec![(entry, 0)];
    while let Some((block, next)) = stack.pop() {
        let successor = {
            let end = block.end();
            (next < end.successor_count()).then(|| end.successor(next))
        };
        match successor {
            None => order.push(block),
            Some(s) => {
                stack.push((block, next + 1));
                if seen.insert(s.address()) {
                    stack.push((s, 0));
                }
            }
        }
    }
    order.reverse();
    order
}

/// The address and the type of a load or store.
fn accessed(i: Value) -> Option<(Value, Type)> {
    match i.opcode() {
        LLVMOpcode::LLVMLoad => Some((i.operand(0), i.ty())),
        LLVMOpcode::LLVMStore => Some((i.operand(1), i.operand(0).ty())),
        LLVMOpcode::LLVMAtomicRMW => Some((i.operand(0), i.operand(1).ty())),
        _ => None,
    }
}

/// Everything that tells two sites apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SiteKey {
    what: String,
    array: String,
    flags: u32,
    argument: u32,
    bytes: u32,
}

struct Checker {
    ir: Ir,
    module: Module,
    thread: Value,
    arguments: Value,
    /// The number of an array argument, by value.
    arrays: BTreeMap<usize, u32>,
    /// The bit of a value that may be undefined; a value that is not here is defined.
    shadows: BTreeMap<usize, Value>,
    /// The shadow of a stack slot: a byte for each of its bytes.
    slots: BTreeMap<usize, Value>,
    sites: BTreeMap<SiteKey, Value>,
    granule: u32,
}

impl Checker {
    fn bytes(&self, ty: Type) -> u32 {
        self.module.store_size(ty) as u32
    }

    /// Where a pointer comes from.
    fn root(&self, pointer: Value) -> Root {
        self.root_of(pointer, &mut BTreeSet::new()).unwrap_or(Root::Unknown)
    }

    /// The same; `None` if only PHIs that are `seen` lead to it.
    fn root_of(&self, pointer: Value, seen: &mut BTreeSet<usize>) -> Option<Root> {
        if let Some(n) = self.arrays.get(&pointer.address()) {
            return Some(Root::Array(*n));
        }
        if pointer == self.thread || pointer == self.arguments {
            return Some(Root::Frame);
        }
        if !pointer.is_instruction() {
            return Some(Root::Unknown);
        }
        let common = |among: Vec<Value>, seen: &mut BTreeSet<usize>| {
            let roots = among.into_iter().filter_map(|v| self.root_of(v, seen));
            roots.reduce(|a, b| if a == b { a } else { Root::Unknown })
        };
        Some(match pointer.opcode() {
            LLVMOpcode::LLVMGetElementPtr => return self.root_of(pointer.operand(0), seen),
            LLVMOpcode::LLVMAlloca => Root::Private,
            // The descriptor holds one pointer that kernels read: shared memory.
            LLVMOpcode::LLVMLoad if self.base_is(pointer.operand(0), self.thread) => Root::Shared,
            LLVMOpcode::LLVMLoad if self.root(pointer.operand(0)) == Root::Frame => Root::Frame,
            LLVMOpcode::LLVMSelect => {
                return common(vec![pointer.operand(1), pointer.operand(2)], seen);
            }
            LLVMOpcode::LLVMPHI => {
                if !seen.insert(pointer.address()) {
                    return None;
                }
                return common(pointer.incoming().into_iter().map(|(v, _)| v).collect(), seen);
            }
            _ => Root::Unknown,
        })
    }

    fn base_is(&self, pointer: Value, base: Value) -> bool {
        pointer == base || pointer.is_gep() && self.base_is(pointer.operand(0), base)
    }

    fn shadow(&self, v: Value) -> Option<Value> {
        self.shadows.get(&v.address()).copied()
    }

    /// Whether any of these values is undefined.
    fn any(&self, values: impl Iterator<Item = Value>) -> Option<Value> {
        values.filter_map(|v| self.shadow(v)).reduce(|a, b| if a == b { a } else { self.ir.or(a, b) })
    }

    fn set(&mut self, v: Value, bit: Option<Value>) {
        if let Some(bit) = bit {
            self.shadows.insert(v.address(), bit);
        }
    }

    fn instruction(&mut self, i: Value, phis: &mut Vec<(Value, Value)>) -> Result<()> {
        use LLVMOpcode::*;
        let ty = i.ty();
        match i.opcode() {
            LLVMPHI => {
                self.ir.before(i);
                let shadow = self.ir.phi(self.ir.ctx.int_type(1), &[]);
                phis.push((i, shadow));
                self.set(i, Some(shadow));
            }
            LLVMAlloca => {
                self.ir.before(i.behind());
                self.slot(i);
            }
            LLVMLoad => self.load(i, ty),
            // Threads report that errno is to be set, all with the same value.
            LLVMStore if i.ordering() != LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic => {}
            LLVMStore => self.store(i)?,
            LLVMAtomicRMW => self.update(i),
            LLVMBr | LLVMSwitch => {
                self.ir.before(i);
                self.refuse(i, i.operand(0));
            }
            LLVMSelect => {
                self.ir.before(i.behind());
                let (c, a, b) = (i.operand(0), i.operand(1), i.operand(2));
                let chosen = match (self.shadow(a), self.shadow(b)) {
                    (None, None) => None,
                    (a, b) => {
                        let defined = self.ir.bool(false);
                        Some(self.ir.select(c, a.unwrap_or(defined), b.unwrap_or(defined)))
                    }
                };
                let bit = match (self.shadow(c), chosen) {
                    (Some(c), Some(v)) => Some(self.ir.or(c, v)),
                    (c, v) => c.or(v),
                };
                self.set(i, bit);
            }
            LLVMCall => self.call(i, ty, i.behind()),
            LLVMRet | LLVMUnreachable => {}
            _ => {
                self.ir.before(i.behind());
                let bit = self.any(i.operands().into_iter());
                self.set(i, bit);
            }
        }
        Ok(())
    }

    fn call(&mut self, i: Value, ty: Type, next: Value) {
        let (callee, count) = (i.callee(), i.argument_count());
        if callee.name() == EMU_BARRIER {
            self.ir.before(i);
            let site = self.site(i, 0, ANY_ARRAY);
            self.run_time("pollyrs_rt_emu_barrier_at", self.ir.void_type(), &[self.thread, site]);
            // SAFETY: a call without a result.
            unsafe { i.erase() };
            return;
        }
        if [EMU_SHUFFLE, EMU_PASS].contains(&callee.name().as_str()) {
            // The bit passes as the value does.
            if let Some(bit) = self.shadow(i.operand(1)) {
                self.ir.before(next);
                let long = self.ir.i64_type();
                let mut args = vec![self.thread, self.ir.zext(bit, long)];
                args.extend((2..count).map(|n| i.operand(n)));
                let passed = self.run_time(&callee.name(), long, &args);
                let bit = self.ir.icmp(LLVMIntNE, passed, self.ir.int(0));
                self.set(i, Some(bit));
            }
            return;
        }
        if ty.kind() != LLVMTypeKind::LLVMVoidTypeKind {
            self.ir.before(next);
            let bit = self.any((0..count).map(|n| i.operand(n)));
            self.set(i, bit);
        }
    }

    /// The shadow of a stack slot: all bytes undefined.
    fn slot(&mut self, i: Value) {
        let size = self.module.abi_size(i.allocated_type());
        let shadow = self.ir.alloca(self.ir.i8_type().array_of(size), "undefined");
        let one = self.ir.i8_type().int(1, false);
        self.ir.fill(shadow, one, self.ir.int(size as i64), 1);
        self.slots.insert(i.address(), shadow);
    }

    /// The address in a stack slot's shadow that belongs to `pointer`.
    fn in_slot(&self, pointer: Value) -> Option<Value> {
        if let Some(shadow) = self.slots.get(&pointer.address()) {
            return Some(*shadow);
        }
        if !pointer.is_gep() {
            return None;
        }
        let base = self.in_slot(pointer.operand(0))?;
        let copy = pointer.copy();
        copy.set_operand(0, base);
        self.ir.put(copy);
        Some(copy)
    }

    fn load(&mut self, i: Value, ty: Type) {
        let address = i.operand(0);
        self.ir.before(i);
        let bit = match self.root(address) {
            Root::Frame => return,
            Root::Private => {
                let Some(shadow) = self.in_slot(address) else { return };
                self.ir.load(self.ir.i8_type(), shadow)
            }
            root => {
                self.refuse(i, address);
                let site = self.site(i, 0, argument(root));
                let _ = ty;
                self.run_time("pollyrs_rt_emu_load", self.ir.i32_type(), &[self.thread, address, site])
            }
        };
        let zero = bit.ty().zero();
        let bit = self.ir.icmp(LLVMIntNE, bit, zero);
        self.set(i, Some(bit));
    }

    fn store(&mut self, i: Value) -> Result<()> {
        let (value, address) = (i.operand(0), i.operand(1));
        self.ir.before(i);
        let bit = self.shadow(value).unwrap_or_else(|| self.ir.bool(false));
        match self.root(address) {
            Root::Frame => return internal("a store to the descriptor of a thread"),
            Root::Private => {
                let Some(shadow) = self.in_slot(address) else { return Ok(()) };
                let byte = self.ir.zext(bit, self.ir.i8_type());
                let bytes = self.ir.int(self.bytes(value.ty()).into());
                self.ir.fill(shadow, byte, bytes, 1);
            }
            root => {
                self.refuse(i, address);
                let site = self.site(i, WRITE, argument(root));
                let bit = self.ir.zext(bit, self.ir.i32_type());
                let void = self.ir.void_type();
                self.run_time("pollyrs_rt_emu_store", void, &[self.thread, address, site, bit]);
            }
        }
        Ok(())
    }

    /// What is there is read, and written with a value: undefined if one of the two is.
    fn update(&mut self, i: Value) {
        let (address, value) = (i.operand(0), i.operand(1));
        self.ir.before(i);
        self.refuse(i, address);
        let site = self.site(i, WRITE | UPDATE, argument(self.root(address)));
        let bit = self.shadow(value).unwrap_or_else(|| self.ir.bool(false));
        let bit = self.ir.zext(bit, self.ir.i32_type());
        self.run_time("pollyrs_rt_emu_store", self.ir.void_type(), &[self.thread, address, site, bit]);
    }

    /// In front of an instruction to which an undefined operand is a mistake.
    fn refuse(&mut self, i: Value, value: Value) {
        let Some(bit) = self.shadow(value) else { return };
        let site = self.site(i, 0, ANY_ARRAY);
        let bit = self.ir.zext(bit, self.ir.i32_type());
        self.run_time("pollyrs_rt_emu_decide", self.ir.void_type(), &[self.thread, site, bit]);
    }

    fn run_time(&self, name: &str, ret: Type, args: &[Value]) -> Value {
        let params: Vec<Type> = args.iter().map(|a| a.ty()).collect();
        let f = self.module.declare(name, ret.function(&params));
        f.add_attribute(FUNCTION, "nounwind", 0);
        self.ir.call_function(f, args)
    }

    /// The `PollyrsEmuSite` of an instruction.
    fn site(&mut self, i: Value, flags: u32, argument: u32) -> Value {
        let (what, array, spare) = said(i);
        let flags = match (spare, flags & WRITE == 0) {
            (false, _) => flags,
            (true, true) => flags | MAY_BE_UNUSED,
            (true, false) => flags | MAY_KEEP,
        };
        let bytes = accessed(i).map_or(0, |(_, ty)| self.bytes(ty));
        let claims = bytes > 0 && i.alignment() > bytes && argument < ANY_ARRAY;
        let flags = if claims { flags | i.alignment().ilog2() << MULTIPLE } else { flags };
        let key = SiteKey { what, array, flags, argument, bytes };
        if let Some(site) = self.sites.get(&key) {
            return *site;
        }
        let site = self.constant(&key);
        self.sites.insert(key, site);
        site
    }

    fn constant(&self, site: &SiteKey) -> Value {
        let ir = &self.ir;
        let global = |init: Value| self.module.add_private_constant("pollyrs.site", init);
        let text = |t: &str| global(ir.ctx.text(c_string(t).to_bytes(), true));
        let numbers = [site.bytes, site.flags, site.argument, self.granule].map(|n| ir.int32(n));
        let mut fields = vec![text(&site.what), text(&site.array)];
        fields.extend(numbers);
        global(ir.ctx.structure(&fields))
    }
}

fn argument(root: Root) -> u32 {
    match root {
        Root::Array(n) => n,
        Root::Shared => SHARED_MEMORY,
        _ => ANY_ARRAY,
    }
}

/// What [`Ir::note`] said about an instruction.
fn said(i: Value) -> (String, String, bool) {
    let node = i.metadata(i.context().kind(SITE));
    let parts = node.map(Value::node_operands).unwrap_or_default();
    // Made by `Ir::mark_access`: three strings.
    let [what, array, spare] = parts.as_slice() else {
        return ("the kernel".into(), String::new(), false);
    };
    let text = |v: &Option<Value>| v.and_then(Value::node_text).unwrap_or_default();
    (text(what), text(array), text(spare) == SPARE)
}

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
use crate::ir::llvm::{opcode, operand, zero_of};
use crate::ir::types::{type_kind, type_of};
use inkwell::llvm_sys::LLVMIntPredicate::LLVMIntNE;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::{LLVMABISizeOfType, LLVMGetModuleDataLayout, LLVMStoreSizeOfType};
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMLinkage, LLVMOpcode, LLVMTypeKind, LLVMUnnamedAddr};
use std::collections::{BTreeMap, BTreeSet};

/// `PollyrsEmuSite::flags`: a store.
const WRITE: u32 = 1;
/// A load whose value may be thrown away.
const MAY_BE_UNUSED: u32 = 2;
/// A store that combines with what is there, as one operation.
const UPDATE: u32 = 4;
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
pub(crate) fn instrument(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    arrays: &[LLVMValueRef],
) -> Result<()> {
    // SAFETY: live module and function of two parameters.
    let (context, thread, arguments) =
        unsafe { (LLVMGetModuleContext(module), LLVMGetParam(function, 0), LLVMGetParam(function, 1)) };
    let blocks = reverse_postorder(function);
    let mut c = Checker {
        ir: Ir::new(context),
        module,
        thread,
        arguments,
        arrays: arrays.iter().enumerate().map(|(i, a)| (*a as usize, i as u32)).collect(),
        shadows: BTreeMap::new(),
        slots: BTreeMap::new(),
        sites: BTreeMap::new(),
        granule: 0,
    };
    let all: Vec<LLVMValueRef> = blocks.iter().flat_map(|b| instructions_of(*b)).collect();
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
        // SAFETY: a live PHI.
        for n in 0..unsafe { LLVMCountIncoming(phi) } {
            // SAFETY: as many values as blocks.
            let (value, block) = unsafe { (LLVMGetIncomingValue(phi, n), LLVMGetIncomingBlock(phi, n)) };
            let bit = c.shadow(value).unwrap_or_else(|| c.ir.bool(false));
            c.ir.add_incoming(shadow, bit, block);
        }
    }
    Ok(())
}

/// Removes the metadata of [`Ir::note`] and [`predicate::mark`](crate::ops::predicate): nothing of it reaches
/// the program.
pub(crate) fn forget_sites(context: LLVMContextRef, function: LLVMValueRef) {
    // SAFETY: live context; the name is passed with its length.
    let kind = unsafe { LLVMGetMDKindIDInContext(context, SITE.as_ptr().cast(), SITE.len() as u32) };
    for i in instructions(function) {
        // SAFETY: a live instruction.
        unsafe {
            if LLVMHasMetadata(i) != 0 {
                LLVMSetMetadata(i, kind, std::ptr::null_mut());
                LLVMSetMetadata(i, crate::ir::marks::kind(context), std::ptr::null_mut());
            }
        }
    }
}

/// The reachable blocks: each after those that dominate it.
fn reverse_postorder(function: LLVMValueRef) -> Vec<LLVMBasicBlockRef> {
    let mut order = Vec::new();
    // SAFETY: a live function with a body.
    let entry = unsafe { LLVMGetEntryBasicBlock(function) };
    let mut seen = BTreeSet::from([entry as usize]);
    let mut stack = vec![(entry, 0)];
    while let Some((block, next)) = stack.pop() {
        // SAFETY: a live block with a terminator.
        let successor = unsafe {
            let end = LLVMGetBasicBlockTerminator(block);
            (next < LLVMGetNumSuccessors(end)).then(|| LLVMGetSuccessor(end, next))
        };
        match successor {
            None => order.push(block),
            Some(s) => {
                stack.push((block, next + 1));
                if seen.insert(s as usize) {
                    stack.push((s, 0));
                }
            }
        }
    }
    order.reverse();
    order
}

/// The address and the type of a load or store.
fn accessed(i: LLVMValueRef) -> Option<(LLVMValueRef, LLVMTypeRef)> {
    // SAFETY: a live instruction.
    unsafe {
        match opcode(i) {
            LLVMOpcode::LLVMLoad => Some((operand(i, 0), LLVMTypeOf(i))),
            LLVMOpcode::LLVMStore => Some((operand(i, 1), LLVMTypeOf(operand(i, 0)))),
            LLVMOpcode::LLVMAtomicRMW => Some((operand(i, 0), LLVMTypeOf(operand(i, 1)))),
            _ => None,
        }
    }
}

/// Everything that tells two sites apart.
type SiteKey = (String, String, u32, u32, u32);

struct Checker {
    ir: Ir,
    module: LLVMModuleRef,
    thread: LLVMValueRef,
    arguments: LLVMValueRef,
    /// The number of an array argument, by value.
    arrays: BTreeMap<usize, u32>,
    /// The bit of a value that may be undefined; a value that is not here is defined.
    shadows: BTreeMap<usize, LLVMValueRef>,
    /// The shadow of a stack slot: a byte for each of its bytes.
    slots: BTreeMap<usize, LLVMValueRef>,
    sites: BTreeMap<SiteKey, LLVMValueRef>,
    granule: u32,
}

impl Checker {
    fn bytes(&self, ty: LLVMTypeRef) -> u32 {
        // SAFETY: a sized type; the module has a data layout.
        unsafe { LLVMStoreSizeOfType(LLVMGetModuleDataLayout(self.module), ty) as u32 }
    }

    /// Where a pointer comes from.
    fn root(&self, pointer: LLVMValueRef) -> Root {
        self.root_of(pointer, &mut BTreeSet::new()).unwrap_or(Root::Unknown)
    }

    /// The same; `None` if only PHIs that are `seen` lead to it.
    fn root_of(&self, pointer: LLVMValueRef, seen: &mut BTreeSet<usize>) -> Option<Root> {
        if let Some(n) = self.arrays.get(&(pointer as usize)) {
            return Some(Root::Array(*n));
        }
        if pointer == self.thread || pointer == self.arguments {
            return Some(Root::Frame);
        }
        // SAFETY: a live value.
        if unsafe { LLVMIsAInstruction(pointer).is_null() } {
            return Some(Root::Unknown);
        }
        let common = |among: Vec<LLVMValueRef>, seen: &mut BTreeSet<usize>| {
            let roots = among.into_iter().filter_map(|v| self.root_of(v, seen));
            roots.reduce(|a, b| if a == b { a } else { Root::Unknown })
        };
        Some(match opcode(pointer) {
            LLVMOpcode::LLVMGetElementPtr => return self.root_of(operand(pointer, 0), seen),
            LLVMOpcode::LLVMAlloca => Root::Private,
            // The descriptor holds one pointer that kernels read: shared memory.
            LLVMOpcode::LLVMLoad if self.base_is(operand(pointer, 0), self.thread) => Root::Shared,
            LLVMOpcode::LLVMLoad if self.root(operand(pointer, 0)) == Root::Frame => Root::Frame,
            LLVMOpcode::LLVMSelect => {
                return common(vec![operand(pointer, 1), operand(pointer, 2)], seen);
            }
            LLVMOpcode::LLVMPHI => {
                if !seen.insert(pointer as usize) {
                    return None;
                }
                // SAFETY: a live PHI.
                let incoming = unsafe {
                    (0..LLVMCountIncoming(pointer)).map(|n| LLVMGetIncomingValue(pointer, n)).collect()
                };
                return common(incoming, seen);
            }
            _ => Root::Unknown,
        })
    }

    fn base_is(&self, pointer: LLVMValueRef, base: LLVMValueRef) -> bool {
        // SAFETY: a live value.
        let is_gep = unsafe { !LLVMIsAGetElementPtrInst(pointer).is_null() };
        pointer == base || is_gep && self.base_is(operand(pointer, 0), base)
    }

    fn shadow(&self, v: LLVMValueRef) -> Option<LLVMValueRef> {
        self.shadows.get(&(v as usize)).copied()
    }

    /// Whether any of these values is undefined.
    fn any(&self, values: impl Iterator<Item = LLVMValueRef>) -> Option<LLVMValueRef> {
        values.filter_map(|v| self.shadow(v)).reduce(|a, b| if a == b { a } else { self.ir.or(a, b) })
    }

    fn set(&mut self, v: LLVMValueRef, bit: Option<LLVMValueRef>) {
        if let Some(bit) = bit {
            self.shadows.insert(v as usize, bit);
        }
    }

    fn instruction(&mut self, i: LLVMValueRef, phis: &mut Vec<(LLVMValueRef, LLVMValueRef)>) -> Result<()> {
        use LLVMOpcode::*;
        // SAFETY: a live instruction in a block; only a terminator has none behind it.
        let (ty, next, count) =
            unsafe { (LLVMTypeOf(i), LLVMGetNextInstruction(i), LLVMGetNumOperands(i) as u32) };
        let operands = || (0..count).map(|n| operand(i, n));
        match opcode(i) {
            LLVMPHI => {
                self.ir.before(i);
                // SAFETY: live context.
                let shadow = self.ir.phi(unsafe { LLVMInt1TypeInContext(self.ir.ctx) }, &[]);
                phis.push((i, shadow));
                self.set(i, Some(shadow));
            }
            LLVMAlloca => {
                self.ir.before(next);
                self.slot(i);
            }
            LLVMLoad => self.load(i, ty),
            // Threads report that errno is to be set, all with the same value.
            // SAFETY: a live store.
            LLVMStore if unsafe { LLVMGetOrdering(i) } != LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic => {
            }
            LLVMStore => self.store(i)?,
            LLVMAtomicRMW => self.update(i),
            LLVMBr | LLVMSwitch => {
                self.ir.before(i);
                self.refuse(i, operand(i, 0));
            }
            LLVMSelect => {
                self.ir.before(next);
                let (c, a, b) = (operand(i, 0), operand(i, 1), operand(i, 2));
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
            LLVMCall => self.call(i, ty, next),
            LLVMRet | LLVMUnreachable => {}
            _ => {
                self.ir.before(next);
                let bit = self.any(operands());
                self.set(i, bit);
            }
        }
        Ok(())
    }

    fn call(&mut self, i: LLVMValueRef, ty: LLVMTypeRef, next: LLVMValueRef) {
        // SAFETY: a call.
        let (callee, count) = unsafe { (LLVMGetCalledValue(i), LLVMGetNumArgOperands(i)) };
        if name_of(callee) == EMU_BARRIER {
            self.ir.before(i);
            let site = self.site(i, 0, ANY_ARRAY);
            self.run_time("pollyrs_rt_emu_barrier_at", self.ir.void_type(), &[self.thread, site]);
            // SAFETY: a call without a result.
            unsafe { LLVMInstructionEraseFromParent(i) };
            return;
        }
        if [EMU_SHUFFLE, EMU_PASS].contains(&name_of(callee).as_str()) {
            // The bit passes as the value does.
            if let Some(bit) = self.shadow(operand(i, 1)) {
                self.ir.before(next);
                let long = self.ir.i64_type();
                let mut args = vec![self.thread, self.ir.zext(bit, long)];
                args.extend((2..count).map(|n| operand(i, n)));
                let passed = self.run_time(&name_of(callee), long, &args);
                let bit = self.ir.icmp(LLVMIntNE, passed, self.ir.int(0));
                self.set(i, Some(bit));
            }
            return;
        }
        if type_kind(ty) != LLVMTypeKind::LLVMVoidTypeKind {
            self.ir.before(next);
            let bit = self.any((0..count).map(|n| operand(i, n)));
            self.set(i, bit);
        }
    }

    /// The shadow of a stack slot: all bytes undefined.
    fn slot(&mut self, i: LLVMValueRef) {
        // SAFETY: an alloca of one element of a sized type; the fill is as long as the shadow.
        unsafe {
            let size = LLVMABISizeOfType(LLVMGetModuleDataLayout(self.module), LLVMGetAllocatedType(i));
            let shadow = self.ir.alloca(LLVMArrayType2(self.ir.i8_type(), size), "undefined");
            let one = LLVMConstInt(self.ir.i8_type(), 1, 0);
            LLVMBuildMemSet(self.ir.raw(), shadow, one, self.ir.int(size as i64), 1);
            self.slots.insert(i as usize, shadow);
        }
    }

    /// The address in a stack slot's shadow that belongs to `pointer`.
    fn in_slot(&self, pointer: LLVMValueRef) -> Option<LLVMValueRef> {
        if let Some(shadow) = self.slots.get(&(pointer as usize)) {
            return Some(*shadow);
        }
        // SAFETY: a live value; the copy of an address computation goes where the builder is and gets an
        // operand of its type.
        unsafe {
            if LLVMIsAGetElementPtrInst(pointer).is_null() {
                return None;
            }
            let base = self.in_slot(operand(pointer, 0))?;
            let copy = LLVMInstructionClone(pointer);
            LLVMSetOperand(copy, 0, base);
            LLVMInsertIntoBuilder(self.ir.raw(), copy);
            Some(copy)
        }
    }

    fn load(&mut self, i: LLVMValueRef, ty: LLVMTypeRef) {
        let address = operand(i, 0);
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
        let zero = zero_of(type_of(bit));
        let bit = self.ir.icmp(LLVMIntNE, bit, zero);
        self.set(i, Some(bit));
    }

    fn store(&mut self, i: LLVMValueRef) -> Result<()> {
        let (value, address) = (operand(i, 0), operand(i, 1));
        self.ir.before(i);
        let bit = self.shadow(value).unwrap_or_else(|| self.ir.bool(false));
        match self.root(address) {
            Root::Frame => return internal("a store to the descriptor of a thread"),
            Root::Private => {
                let Some(shadow) = self.in_slot(address) else { return Ok(()) };
                let byte = self.ir.zext(bit, self.ir.i8_type());
                // SAFETY: a live type; the shadow has a byte for each byte of the slot.
                unsafe {
                    let bytes = self.ir.int(self.bytes(LLVMTypeOf(value)).into());
                    LLVMBuildMemSet(self.ir.raw(), shadow, byte, bytes, 1);
                }
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
    fn update(&mut self, i: LLVMValueRef) {
        let (address, value) = (operand(i, 0), operand(i, 1));
        self.ir.before(i);
        self.refuse(i, address);
        let site = self.site(i, WRITE | UPDATE, argument(self.root(address)));
        let bit = self.shadow(value).unwrap_or_else(|| self.ir.bool(false));
        let bit = self.ir.zext(bit, self.ir.i32_type());
        self.run_time("pollyrs_rt_emu_store", self.ir.void_type(), &[self.thread, address, site, bit]);
    }

    /// In front of an instruction to which an undefined operand is a mistake.
    fn refuse(&mut self, i: LLVMValueRef, value: LLVMValueRef) {
        let Some(bit) = self.shadow(value) else { return };
        let site = self.site(i, 0, ANY_ARRAY);
        let bit = self.ir.zext(bit, self.ir.i32_type());
        self.run_time("pollyrs_rt_emu_decide", self.ir.void_type(), &[self.thread, site, bit]);
    }

    fn run_time(&self, name: &str, ret: LLVMTypeRef, args: &[LLVMValueRef]) -> LLVMValueRef {
        let params: Vec<LLVMTypeRef> = args.iter().map(|a| type_of(*a)).collect();
        let f = declare(self.module, name, function_type(ret, &params));
        add_enum_attribute(self.ir.ctx, f, FUNCTION, "nounwind", 0);
        self.ir.call_function(f, args)
    }

    /// The `PollyrsEmuSite` of an instruction.
    fn site(&mut self, i: LLVMValueRef, flags: u32, argument: u32) -> LLVMValueRef {
        let (what, array, spare) = said(i);
        let flags = if spare && flags & WRITE == 0 { flags | MAY_BE_UNUSED } else { flags };
        let bytes = accessed(i).map_or(0, |(_, ty)| self.bytes(ty));
        let key = (what, array, flags, argument, bytes);
        if let Some(site) = self.sites.get(&key) {
            return *site;
        }
        let site = self.constant(&key);
        self.sites.insert(key, site);
        site
    }

    fn constant(&self, (what, array, flags, argument, bytes): &SiteKey) -> LLVMValueRef {
        let ir = &self.ir;
        let global = |init: LLVMValueRef| {
            // SAFETY: a constant of this module's context; LLVM makes the name unique.
            unsafe {
                let g = LLVMAddGlobal(self.module, LLVMTypeOf(init), c"pollyrs.site".as_ptr());
                LLVMSetInitializer(g, init);
                LLVMSetGlobalConstant(g, 1);
                LLVMSetLinkage(g, LLVMLinkage::LLVMPrivateLinkage);
                LLVMSetUnnamedAddress(g, LLVMUnnamedAddr::LLVMGlobalUnnamedAddr);
                g
            }
        };
        let text = |t: &str| {
            let t = c_string(t);
            let t = t.to_bytes();
            // SAFETY: the buffer lives through the call, which copies it.
            global(unsafe { LLVMConstStringInContext2(ir.ctx, t.as_ptr().cast(), t.len(), 0) })
        };
        let numbers = [*bytes, *flags, *argument, self.granule].map(|n| ir.int32(n));
        let mut fields = vec![text(what), text(array)];
        fields.extend(numbers);
        // SAFETY: constants of this context.
        global(unsafe { LLVMConstStructInContext(ir.ctx, fields.as_mut_ptr(), fields.len() as u32, 0) })
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
fn said(i: LLVMValueRef) -> (String, String, bool) {
    // SAFETY: a live instruction; the node, if there is one, was made by `Ir::mark_access` and has three
    // strings.
    unsafe {
        let kind = LLVMGetMDKindIDInContext(
            LLVMGetTypeContext(LLVMTypeOf(i)),
            SITE.as_ptr().cast(),
            SITE.len() as u32,
        );
        let node = if LLVMHasMetadata(i) == 0 { std::ptr::null_mut() } else { LLVMGetMetadata(i, kind) };
        if node.is_null() || LLVMGetMDNodeNumOperands(node) != 3 {
            return ("the kernel".into(), String::new(), false);
        }
        let mut parts = [std::ptr::null_mut(); 3];
        LLVMGetMDNodeOperands(node, parts.as_mut_ptr());
        let text = |v: LLVMValueRef| {
            let mut len = 0;
            let p = LLVMGetMDString(v, &mut len);
            if p.is_null() {
                return String::new();
            }
            String::from_utf8_lossy(std::slice::from_raw_parts(p.cast(), len as usize)).into_owned()
        };
        (text(parts[0]), text(parts[1]), text(parts[2]) == SPARE)
    }
}

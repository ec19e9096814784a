//! What calls may do to arrays that stay on the device: summaries of the module's functions, and of the C
//! library's.
//!
//! Problem: between two SCoPs a program calls `checksum(n, A)`, `print_row(A)` or `seconds()`. Alias analysis
//! alone lets each of them do anything, so nothing could stay. A summary tells what a function may read and
//! write, through which parameter.
//!
//! ```text
//! double checksum(int n, const double *A) { for (...) s += A[i]; printf("%g\n", s); return s; }
//!   parameters: n -, A read; other memory: -; publishes (printf); does not throw
//! ```
//!
//! # Invariants
//! - A summary is made from a function's own body, local variables promoted, before the function is
//!   rewritten: what it does to arrays on the device is that function's affair, and done when it returns.
//! - What is not understood is `anything`; a function under way (recursion) is not understood.
//! - Memory that a function allocates or has on its stack is in no summary: nobody's array lies there before
//!   the call.

use crate::ir;
use crate::ir::callgraph::calls;
use crate::ir::instructions;
use crate::residency::library::{Argument, Library};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMOpcode, LLVMTypeKind};
use pollyrs_llvm_shim::{self as shim, Session, Touch};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Larger functions may do anything: a summary is not to cost more than the code that it spares.
const MAX_INSTRUCTIONS: u64 = 20_000;

/// What a call may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Of the memory that each argument points into.
    pub arguments: Vec<Touch>,
    /// Of each parameter: no copy of the pointer is left behind.
    pub forgets: Vec<bool>,
    /// Of global variables, by address, which is only looked up.
    pub globals: BTreeMap<usize, Touch>,
    /// Of any other memory that is not its own.
    pub other: Touch,
    /// Others may learn of the call, and read what was written before.
    pub publishes: bool,
    /// An exception may come out of it.
    pub throws: bool,
    /// All of the above, and it may order accesses of this thread with another's.
    pub anything: bool,
}

impl Effects {
    fn anything() -> Effects {
        Effects { anything: true, ..Effects::default() }
    }

    /// Adds what is done through a pointer.
    fn add(&mut self, pointer: LLVMValueRef, touch: Touch) {
        if !touch.any() {
            return;
        }
        for object in shim::underlying_objects(pointer) {
            match owner(object) {
                Owner::Nobody => {}
                Owner::Parameter(index) => {
                    if self.arguments.len() <= index {
                        self.arguments.resize(index + 1, Touch::NONE);
                    }
                    self.arguments[index] |= touch;
                }
                Owner::Global => *self.globals.entry(object as usize).or_default() |= touch,
                Owner::Unknown => self.other |= touch,
            }
        }
    }
}

enum Owner {
    /// The function's own, or no memory at all.
    Nobody,
    Parameter(usize),
    Global,
    Unknown,
}

fn owner(object: LLVMValueRef) -> Owner {
    // SAFETY: a live value.
    unsafe {
        if !LLVMIsAArgument(object).is_null() {
            let f = LLVMGetParamParent(object);
            let index = (0..LLVMCountParams(f)).position(|i| LLVMGetParam(f, i) == object);
            return index.map_or(Owner::Unknown, Owner::Parameter);
        }
        if !LLVMIsAGlobalVariable(object).is_null() {
            return Owner::Global;
        }
        let own = !LLVMIsAAllocaInst(object).is_null()
            || !LLVMIsAConstantPointerNull(object).is_null()
            || LLVMIsUndef(object) != 0
            || shim::is_new_memory(object);
        if own { Owner::Nobody } else { Owner::Unknown }
    }
}

/// Functions whose first argument's memory is gone: `free` and, of C++, `operator delete` and `delete[]`,
/// also with sizes and alignments.
const FREEING: [&str; 9] = [
    "free",
    "_ZdlPv",
    "_ZdaPv",
    "_ZdlPvm",
    "_ZdaPvm",
    "_ZdlPvSt11align_val_t",
    "_ZdaPvSt11align_val_t",
    "_ZdlPvmSt11align_val_t",
    "_ZdaPvmSt11align_val_t",
];

/// The summaries of a module, made when they are asked for.
pub struct Summaries<'s> {
    session: &'s Session,
    /// By function; `None` while it is under way.
    known: RefCell<BTreeMap<usize, Option<Rc<Effects>>>>,
}

impl<'s> Summaries<'s> {
    pub fn new(session: &'s Session) -> Summaries<'s> {
        Summaries { session, known: RefCell::default() }
    }

    /// What a call or an invoke may do, if more is known than its attributes say.
    pub fn of_call(&self, call: LLVMValueRef) -> Option<Rc<Effects>> {
        let f = shim::callee(call)?;
        let facts = shim::call_facts(call);
        if facts.bundles {
            return None;
        }
        if shim::is_final(f) {
            return self.of(f);
        }
        // SAFETY: a live function.
        let declared = unsafe { LLVMIsDeclaration(f) != 0 };
        let library = Library::of(&name_of(f)).filter(|_| declared && facts.builtin)?;
        of_library(&library, call).map(Rc::new)
    }

    /// Whether a call frees its argument: nobody may read there any more, whatever else it does. (A program
    /// may have an `operator delete` of its own, which may do anything but look at what is gone.)
    pub fn frees(&self, call: LLVMValueRef) -> bool {
        let Some(f) = shim::callee(call) else { return false };
        let facts = shim::call_facts(call);
        // SAFETY: a live function.
        let declared = unsafe { LLVMIsDeclaration(f) != 0 };
        declared && facts.builtin && !facts.bundles && FREEING.contains(&name_of(f).as_str())
    }

    /// Whether an exception may come out of a call of `f`, which has a body. `None`: `f` is under way.
    pub fn throws(&self, f: LLVMValueRef) -> Option<bool> {
        let effects = self.of(f)?;
        Some(if effects.anything { !shim::does_not_throw(f) } else { effects.throws })
    }

    /// Adds what an instruction does; of a call what `of_call` says, if given. False: anything.
    pub fn add_to(&self, effects: &mut Effects, i: LLVMValueRef, of_call: Option<&Effects>) -> bool {
        match of_call {
            Some(callee) => self.add_callee(effects, i, callee),
            None => self.add(effects, i),
        }
        .is_some()
    }

    /// Must be called before a function is rewritten that others may still ask for.
    pub fn remember(&self, f: LLVMValueRef) {
        // SAFETY: a live function.
        let used = unsafe { !LLVMGetFirstUse(f).is_null() };
        if used && shim::is_final(f) {
            self.of(f);
        }
    }

    /// `None`: the function is under way.
    fn of(&self, f: LLVMValueRef) -> Option<Rc<Effects>> {
        if let Some(known) = self.known.borrow().get(&(f as usize)) {
            return known.clone();
        }
        self.known.borrow_mut().insert(f as usize, None);
        let effects = Rc::new(self.summarise(f).unwrap_or_else(Effects::anything));
        self.known.borrow_mut().insert(f as usize, Some(Rc::clone(&effects)));
        Some(effects)
    }

    /// `None`: not understood.
    fn summarise(&self, f: LLVMValueRef) -> Option<Effects> {
        // SAFETY: a live function.
        let variadic = unsafe { LLVMIsFunctionVarArg(LLVMGlobalGetValueType(f)) != 0 };
        if variadic || ir::size(f) > MAX_INSTRUCTIONS {
            return None;
        }
        let copy = self.session.clone_function(f).ok()?;
        let promoted = self.session.run_passes(copy, "sroa");
        let effects = promoted.ok().and_then(|()| {
            self.note_captures(copy);
            self.scan(copy)
        });
        self.session.erase_function(copy).ok()?;
        effects.map(|effects| Effects { throws: effects.throws && !shim::does_not_throw(f), ..effects })
    }

    /// Notes at the calls of a working copy which arguments are not captured: then alias analysis knows what
    /// stays the function's own.
    pub fn note_captures(&self, f: LLVMValueRef) {
        for call in calls(f) {
            let Some(effects) = self.of_call(call) else { continue };
            // SAFETY: a live call.
            let count = unsafe { LLVMGetNumArgOperands(call) };
            for (index, _) in pointers(call, count) {
                if effects.forgets.get(index as usize) == Some(&true) {
                    shim::note_not_captured(call, index);
                }
            }
        }
    }

    fn scan(&self, f: LLVMValueRef) -> Option<Effects> {
        // SAFETY: a live function.
        let parameters: Vec<LLVMValueRef> =
            unsafe { (0..LLVMCountParams(f)).map(|i| LLVMGetParam(f, i)).collect() };
        let forgets = parameters.into_iter().map(|p| is_pointer(p) && !shim::may_be_captured(p)).collect();
        let mut effects = Effects { forgets, ..Effects::default() };
        // SAFETY: a live function and its blocks and instructions.
        unsafe {
            let mut block = LLVMGetFirstBasicBlock(f);
            while !block.is_null() {
                for i in instructions(block) {
                    self.add(&mut effects, i)?;
                }
                block = LLVMGetNextBasicBlock(block);
            }
        }
        Some(effects)
    }

    /// Adds what an instruction does. `None`: anything.
    fn add(&self, effects: &mut Effects, i: LLVMValueRef) -> Option<()> {
        // SAFETY: a live instruction, whose operands depend on its opcode.
        unsafe {
            match LLVMGetInstructionOpcode(i) {
                LLVMOpcode::LLVMLoad if is_plain(i) => effects.add(LLVMGetOperand(i, 0), Touch::READ),
                LLVMOpcode::LLVMStore if is_plain(i) => effects.add(LLVMGetOperand(i, 1), Touch::WRITE),
                LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke => self.add_call(effects, i)?,
                LLVMOpcode::LLVMResume | LLVMOpcode::LLVMCleanupRet | LLVMOpcode::LLVMCatchSwitch => {
                    effects.throws = true;
                }
                LLVMOpcode::LLVMLoad
                | LLVMOpcode::LLVMStore
                | LLVMOpcode::LLVMFence
                | LLVMOpcode::LLVMAtomicRMW
                | LLVMOpcode::LLVMAtomicCmpXchg
                | LLVMOpcode::LLVMVAArg
                | LLVMOpcode::LLVMCallBr
                | LLVMOpcode::LLVMIndirectBr => return None,
                _ => {}
            }
        }
        Some(())
    }

    fn add_call(&self, effects: &mut Effects, call: LLVMValueRef) -> Option<()> {
        let facts = shim::call_facts(call);
        // SAFETY: a live call.
        let (count, caught) = unsafe {
            (LLVMGetNumArgOperands(call), LLVMGetInstructionOpcode(call) == LLVMOpcode::LLVMInvoke)
        };
        let Some(callee) = self.of_call(call) else {
            if !facts.no_sync {
                return None;
            }
            for (index, pointer) in pointers(call, count) {
                effects.add(pointer, shim::argument_effect(call, index).and(facts.arguments));
            }
            effects.other |= facts.other;
            effects.throws |= !facts.no_throw && !caught;
            return Some(());
        };
        self.add_callee(effects, call, &callee)
    }

    fn add_callee(&self, effects: &mut Effects, call: LLVMValueRef, callee: &Effects) -> Option<()> {
        if callee.anything {
            return None;
        }
        // SAFETY: a live call.
        let (count, caught) = unsafe {
            (LLVMGetNumArgOperands(call), LLVMGetInstructionOpcode(call) == LLVMOpcode::LLVMInvoke)
        };
        for (index, pointer) in pointers(call, count) {
            effects.add(pointer, callee.arguments.get(index as usize).copied().unwrap_or_default());
        }
        for (global, touch) in &callee.globals {
            *effects.globals.entry(*global).or_default() |= *touch;
        }
        effects.other |= callee.other;
        effects.publishes |= callee.publishes;
        effects.throws |= callee.throws && !shim::call_facts(call).no_throw && !caught;
        Some(())
    }
}

/// The pointers that a call passes, with their numbers.
pub fn pointers(call: LLVMValueRef, count: u32) -> impl Iterator<Item = (u32, LLVMValueRef)> {
    // SAFETY: a live call with so many arguments.
    let arguments = (0..count).map(move |index| (index, unsafe { LLVMGetOperand(call, index) }));
    arguments.filter(|(_, v)| is_pointer(*v))
}

fn is_pointer(v: LLVMValueRef) -> bool {
    // SAFETY: a live value.
    unsafe { LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMTypeKind::LLVMPointerTypeKind }
}

/// `None`: a stream that may be anything.
fn of_library(library: &Library, call: LLVMValueRef) -> Option<Effects> {
    let mut effects = Effects { publishes: library.publishes, ..Effects::default() };
    // SAFETY: a live call.
    let count = unsafe { LLVMGetNumArgOperands(call) };
    for index in 0..count as usize {
        // SAFETY: as above.
        let argument = unsafe { LLVMGetOperand(call, index as u32) };
        effects.forgets.push(library.forgets);
        effects.arguments.push(match library.argument(index) {
            Argument::Plain => Touch::NONE,
            Argument::Pointer(touch) => touch,
            Argument::Stream if is_standard_stream(argument) => Touch::NONE,
            Argument::Stream => return None,
        });
    }
    Some(effects)
}

/// A load of the C library's variable.
fn is_standard_stream(v: LLVMValueRef) -> bool {
    // SAFETY: a live value, and its operand where it is a load.
    unsafe {
        if LLVMIsALoadInst(v).is_null() {
            return false;
        }
        let from = LLVMGetOperand(v, 0);
        !LLVMIsAGlobalVariable(from).is_null()
            && LLVMIsDeclaration(from) != 0
            && ["stdout", "stderr"].contains(&name_of(from).as_str())
    }
}

/// Neither volatile nor ordered.
fn is_plain(access: LLVMValueRef) -> bool {
    // SAFETY: a live load or store.
    unsafe {
        let ordering = LLVMGetOrdering(access);
        LLVMGetVolatile(access) == 0
            && matches!(
                ordering,
                LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
                    | LLVMAtomicOrdering::LLVMAtomicOrderingUnordered
            )
    }
}

fn name_of(v: LLVMValueRef) -> String {
    let mut len = 0;
    // SAFETY: a live value; LLVM returns pointer and length of its name.
    unsafe {
        let p = LLVMGetValueName2(v, &mut len);
        String::from_utf8_lossy(std::slice::from_raw_parts(p.cast::<u8>(), len)).into_owned()
    }
}

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
use crate::residency::library::{Argument, Library};
use inkwell::llvm_sys::LLVMAtomicOrdering::{LLVMAtomicOrderingNotAtomic, LLVMAtomicOrderingUnordered};
use inkwell::llvm_sys::LLVMOpcode;
use pollyrs_llvm_shim::ir::Value;
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
    pub globals: BTreeMap<Value, Touch>,
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
    fn add(&mut self, pointer: Value, touch: Touch) {
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
                Owner::Global => *self.globals.entry(object).or_default() |= touch,
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

fn owner(object: Value) -> Owner {
    if object.is_argument() {
        return object.argument_index().map_or(Owner::Unknown, |index| Owner::Parameter(index as usize));
    }
    if object.is_variable() {
        return Owner::Global;
    }
    let own =
        object.is_alloca() || object.is_null_pointer() || object.is_undef() || shim::is_new_memory(object);
    if own { Owner::Nobody } else { Owner::Unknown }
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
    known: RefCell<BTreeMap<Value, Option<Rc<Effects>>>>,
}

impl<'s> Summaries<'s> {
    pub fn new(session: &'s Session) -> Summaries<'s> {
        Summaries { session, known: RefCell::default() }
    }

    /// What a call or an invoke may do, if more is known than its attributes say.
    pub fn of_call(&self, call: Value) -> Option<Rc<Effects>> {
        let f = shim::callee(call)?;
        let facts = shim::call_facts(call);
        if facts.bundles {
            return None;
        }
        if shim::is_final(f) {
            return self.of(f);
        }
        let declared = f.is_declaration();
        let library = Library::of(&f.name()).filter(|_| declared && facts.builtin)?;
        of_library(&library, call).map(Rc::new)
    }

    /// Whether a call frees its argument: nobody may read there any more, whatever else it does. (A program
    /// may have an `operator delete` of its own, which may do anything but look at what is gone.)
    pub fn frees(&self, call: Value) -> bool {
        let Some(f) = shim::callee(call) else { return false };
        let facts = shim::call_facts(call);
        let declared = f.is_declaration();
        declared && facts.builtin && !facts.bundles && FREEING.contains(&f.name().as_str())
    }

    /// Whether an exception may come out of a call of `f`, which has a body. `None`: `f` is under way.
    pub fn throws(&self, f: Value) -> Option<bool> {
        let effects = self.of(f)?;
        Some(if effects.anything { !shim::does_not_throw(f) } else { effects.throws })
    }

    /// Adds what an instruction does; of a call what `of_call` says, if given. False: anything.
    pub fn add_to(&self, effects: &mut Effects, i: Value, of_call: Option<&Effects>) -> bool {
        match of_call {
            Some(callee) => self.add_callee(effects, i, callee),
            None => self.add(effects, i),
        }
        .is_some()
    }

    /// Must be called before a function is rewritten that others may still ask for.
    pub fn remember(&self, f: Value) {
        if f.is_used() && shim::is_final(f) {
            self.of(f);
        }
    }

    /// `None`: the function is under way.
    fn of(&self, f: Value) -> Option<Rc<Effects>> {
        if let Some(known) = self.known.borrow().get(&f) {
            return known.clone();
        }
        self.known.borrow_mut().insert(f, None);
        let effects = Rc::new(self.summarise(f).unwrap_or_else(Effects::anything));
        self.known.borrow_mut().insert(f, Some(Rc::clone(&effects)));
        Some(effects)
    }

    /// `None`: not understood.
    fn summarise(&self, f: Value) -> Option<Effects> {
        if f.value_type().is_variadic() || ir::size(f) > MAX_INSTRUCTIONS {
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
    pub fn note_captures(&self, f: Value) {
        for call in calls(f) {
            let Some(effects) = self.of_call(call) else { continue };
            for (index, _) in pointers(call) {
                if effects.forgets.get(index as usize) == Some(&true) {
                    shim::note_not_captured(call, index);
                }
            }
        }
    }

    fn scan(&self, f: Value) -> Option<Effects> {
        let forgets = f.params().into_iter().map(|p| p.ty().is_pointer() && !shim::may_be_captured(p));
        let mut effects = Effects { forgets: forgets.collect(), ..Effects::default() };
        for i in f.instructions() {
            self.add(&mut effects, i)?;
        }
        Some(effects)
    }

    /// Adds what an instruction does. `None`: anything.
    fn add(&self, effects: &mut Effects, i: Value) -> Option<()> {
        match i.opcode() {
            LLVMOpcode::LLVMLoad if is_plain(i) => effects.add(i.operand(0), Touch::READ),
            LLVMOpcode::LLVMStore if is_plain(i) => effects.add(i.operand(1), Touch::WRITE),
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
        Some(())
    }

    fn add_call(&self, effects: &mut Effects, call: Value) -> Option<()> {
        let facts = shim::call_facts(call);
        let Some(callee) = self.of_call(call) else {
            if !facts.no_sync {
                return None;
            }
            for (index, pointer) in pointers(call) {
                effects.add(pointer, shim::argument_effect(call, index).and(facts.arguments));
            }
            effects.other |= facts.other;
            effects.throws |= !facts.no_throw && !call.is_invoke();
            return Some(());
        };
        self.add_callee(effects, call, &callee)
    }

    fn add_callee(&self, effects: &mut Effects, call: Value, callee: &Effects) -> Option<()> {
        if callee.anything {
            return None;
        }
        for (index, pointer) in pointers(call) {
            effects.add(pointer, callee.arguments.get(index as usize).copied().unwrap_or_default());
        }
        for (global, touch) in &callee.globals {
            *effects.globals.entry(*global).or_default() |= *touch;
        }
        effects.other |= callee.other;
        effects.publishes |= callee.publishes;
        effects.throws |= callee.throws && !shim::call_facts(call).no_throw && !call.is_invoke();
        Some(())
    }
}

/// The pointers that a call passes, with their numbers.
pub fn pointers(call: Value) -> impl Iterator<Item = (u32, Value)> {
    (0..).zip(call.arguments()).filter(|(_, v)| v.ty().is_pointer())
}

/// `None`: a stream that may be anything.
fn of_library(library: &Library, call: Value) -> Option<Effects> {
    let mut effects = Effects { publishes: library.publishes, ..Effects::default() };
    for (index, argument) in call.arguments().into_iter().enumerate() {
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
fn is_standard_stream(v: Value) -> bool {
    v.is_load() && {
        let from = v.operand(0);
        from.is_variable() && from.is_declaration() && ["stdout", "stderr"].contains(&from.name().as_str())
    }
}

/// A load or store that is neither volatile nor ordered.
fn is_plain(access: Value) -> bool {
    !access.is_volatile()
        && matches!(access.ordering(), LLVMAtomicOrderingNotAtomic | LLVMAtomicOrderingUnordered)
}

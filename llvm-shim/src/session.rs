//! A session: pass builder and analysis managers for one module.
//!
//! The working copy of a function lives between [`Session::clone_function`] and either
//! [`Session::adopt_body`] or [`Session::erase_function`]; the module verifies before, between and after,
//! with and without debug info.

use crate::ir::{Block, Function, Module, Value};
use crate::{Analyses, ShimError, sys};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{CStr, c_void};
use std::panic::Location;
use std::ptr::NonNull;
use std::rc::Rc;

/// Inlining stops once it has added this many times `max_instructions`: rounds alone would allow growth
/// exponential in their number.
const INLINE_GROWTH: u32 = 32;

/// How many [`Analyses`] of each function live.
pub(crate) type Uses = Rc<RefCell<BTreeMap<Value, usize>>>;

/// Pass builder and analysis managers of its own for one module; see the module documentation. When dropped
/// it erases clones left over (after a panic, say) and unused declarations and constants that came into the
/// module since it began.
pub struct Session {
    raw: NonNull<sys::RawSession>,
    module: Module,
    uses: Uses,
    /// Whether each step begins with LLVM's verifier, and the step before.
    verifies: Cell<bool>,
    last: Cell<Option<&'static Location<'static>>>,
    limit: Cell<u64>,
}

/// What C++ says of a function with handlers of that kind (llvm-shim/cpp/clone.cpp).
const FUNCLETS: &str = "its exception handlers are funclets";

impl Session {
    /// # Safety
    /// The module lives as long as the session and what is got from it is used, and its functions are
    /// rewritten by no other one in that time. The session's steps end the life of what they rewrite: handles
    /// of a function's blocks, instructions and expressions are not used behind a step over that function,
    /// nor those of a function that [`Session::adopt_body`] or [`Session::erase_function`] took away.
    pub unsafe fn new(module: Module) -> Session {
        // SAFETY: the module outlives the session (the caller's promise), which is freed on drop.
        let raw = unsafe { sys::prs_session_new(module) };
        Session {
            raw,
            module,
            uses: Uses::default(),
            verifies: Cell::new(false),
            last: Cell::new(None),
            limit: Cell::new(u64::MAX),
        }
    }

    /// From now on each step refuses a function that the step before has broken: [`ShimError::Broken`]. For
    /// tests: it takes as long as the steps themselves.
    pub fn verify_steps(&self) {
        self.verifies.set(true);
    }

    /// The module, which lives as long as the session is used.
    pub fn module(&self) -> Module {
        self.module
    }

    pub(crate) fn raw(&self) -> &sys::RawSession {
        // SAFETY: made by `prs_session_new`, freed on drop; C++ changes it behind a cell.
        unsafe { self.raw.as_ref() }
    }

    /// Copies `f` as `<f>.pollyrs`: internal, no comdat, the same attributes, a distinct copy of its
    /// subprogram. Calls of `f` inside stay calls of `f`.
    ///
    /// # Errors
    /// [`ShimError::NotCloneable`]: declarations, naked functions, coroutines before splitting, blocks whose
    /// address is taken, functions whose definition another module owns. [`ShimError::Funclets`]: functions
    /// whose exception handlers are funclets.
    pub fn clone_function(&self, f: Value) -> Result<Value, ShimError> {
        let (clone, reason) = sys::collect_bytes(|into| {
            sys::prs_clone_function(self.raw(), f.as_function(), into, sys::push_bytes)
        });
        match (clone, reason.as_str()) {
            (Some(clone), _) => Ok(clone),
            (None, FUNCLETS) => Err(ShimError::Funclets),
            (None, _) => Err(ShimError::NotCloneable(reason)),
        }
    }

    /// Replaces `f`'s body by the clone's and erases the clone. `f` keeps name, linkage, parameter attributes
    /// and subprogram; debug scopes of the clone are mapped back to it; its function attributes become the
    /// clone's, which inlining may have had to weaken.
    pub fn adopt_body(&self, f: Value, clone: Value) -> Result<(), ShimError> {
        let (f, clone) = (self.require_unused(f)?, self.require_idle(clone)?);
        if sys::prs_adopt_body(self.raw(), f, clone) { Ok(()) } else { Err(ShimError::ForeignClone) }
    }

    /// Deletes a clone (or any unused function of the module).
    pub fn erase_function(&self, clone: Value) -> Result<(), ShimError> {
        sys::prs_erase_function(self.raw(), self.require_unused(clone)?);
        Ok(())
    }

    /// Runs a function pass pipeline, written as for opt's `-passes` (without `function(…)` around it).
    pub fn run_passes(&self, f: Value, pipeline: &str) -> Result<(), ShimError> {
        let f = self.require_idle(f)?;
        // SAFETY: the text is passed with its length.
        let (ok, message) = sys::collect_bytes(|into| unsafe {
            sys::prs_run_passes(self.raw(), f, pipeline.as_ptr(), pipeline.len(), into, sys::push_bytes)
        });
        if ok { Ok(()) } else { Err(ShimError::Pipeline(message)) }
    }

    /// Inlines direct calls inside loops, at most `max_rounds` deep, to callees of at most `max_instructions`
    /// that are defined here and not replaceable, noinline, optnone, directly recursive or variadic; but not
    /// into loops that keep a call whatever is inlined. Returns how many.
    pub fn inline_calls_in_loops(
        &self,
        f: Value,
        max_instructions: u32,
        max_rounds: u32,
    ) -> Result<u32, ShimError> {
        self.inline(f, max_instructions, max_rounds, false)
    }

    /// The same for a function none of whose loops is looked at: only small functions without loops are
    /// inlined, and those that fill variables.
    pub fn inline_calls_aside(
        &self,
        f: Value,
        max_instructions: u32,
        max_rounds: u32,
    ) -> Result<u32, ShimError> {
        self.inline(f, max_instructions, max_rounds, true)
    }

    fn inline(&self, f: Value, most: u32, rounds: u32, aside: bool) -> Result<u32, ShimError> {
        let f = self.require_idle(f)?;
        let total = most.saturating_mul(INLINE_GROWTH);
        Ok(sys::prs_inline_calls_in_loops(self.raw(), f, most, rounds, total, aside))
    }

    /// The function that all stores of some blocks of a working copy were inlined from. `None`: there are
    /// none, or they are of several functions, or of this one, or that is not known any more.
    pub fn origin(&self, blocks: &[Block]) -> Option<Value> {
        // SAFETY: a list of so many blocks.
        unsafe { sys::prs_origin(blocks.as_ptr(), blocks.len()) }
    }

    /// What [`Session::origin`] says of a function is forgotten.
    pub fn forget_origins(&self, f: Value) {
        sys::prs_forget_origins(f.as_function())
    }

    /// Divides blocks that end in a branch around loops behind their last side effect (a call that does more
    /// than compute, a volatile or atomic access), so that a region can begin with the branch.
    pub fn split_effects(&self, f: Value) -> Result<(), ShimError> {
        sys::prs_split_effects(self.raw(), self.require_idle(f)?);
        Ok(())
    }

    /// Gives every region with a loop exactly one edge into its exit from inside (from a join block inside
    /// the region) and one entering edge. The join block is a block of PHIs and a branch; the region that
    /// ends *at* the join block still exists in the region tree, as a child of the one that contains it.
    pub fn simplify_regions(&self, f: Value) -> Result<(), ShimError> {
        sys::prs_simplify_regions(self.raw(), self.require_idle(f)?);
        Ok(())
    }

    /// Loops, regions, dominators, scalar evolution and alias analysis of `f`.
    pub fn analyses(&self, f: Value) -> Result<Analyses<'_>, ShimError> {
        let raw = sys::prs_analyses_new(self.raw(), f.as_function()).ok_or(ShimError::Declaration)?;
        Ok(Analyses::new(raw, f, Rc::clone(&self.uses)))
    }

    /// Whether `f` has a loop, without the cost of [`Session::analyses`].
    pub fn has_loops(&self, f: Value) -> bool {
        sys::prs_has_loops(self.raw(), f.as_function())
    }

    /// The verifier's complaint about one function, if any.
    pub fn verify_function(&self, f: Value) -> Result<(), String> {
        let f = f.as_function();
        let (ok, text) = sys::collect_bytes(|into| sys::prs_verify_function(f, into, sys::push_bytes));
        if ok { Ok(()) } else { Err(text) }
    }

    /// The verifier's complaint about the whole module, debug info included, if any.
    pub fn verify_module(&self) -> Result<(), String> {
        let (ok, text) =
            sys::collect_bytes(|into| sys::prs_verify_module(self.module, into, sys::push_bytes));
        if ok { Ok(()) } else { Err(text) }
    }

    /// Forgets cached analyses after the caller changed `f` by other means.
    pub fn invalidate(&self, f: Value) -> Result<(), ShimError> {
        sys::prs_invalidate(self.raw(), self.require_idle(f)?);
        Ok(())
    }

    /// Loops that stay on the host beside a version for the device tell the run-time library of each
    /// execution, as loops of the function `name`, and why: rows are not equally far apart, what next to no
    /// program does, other steps of windows, rows of which the last one is shorter, or tiles that are apart.
    pub fn record_kept(&self, f: Value, name: &CStr, [apart, kept, steps, uneven, tiles]: [&CStr; 5]) {
        // SAFETY: strings that live through the call, in which they are copied.
        unsafe {
            sys::prs_record_kept(
                self.raw(),
                f.as_function(),
                name.as_ptr(),
                apart.as_ptr(),
                kept.as_ptr(),
                steps.as_ptr(),
                uneven.as_ptr(),
                tiles.as_ptr(),
            );
        }
    }

    /// Drops what no longer holds of a function that now calls a runtime: `memory(…)` admits inaccessible
    /// memory, `nosync`, `nofree`, `norecurse`, `nocallback` and the like go, at its calls too.
    pub fn weaken_attributes(&self, f: Value) {
        sys::prs_weaken_attributes(f.as_function())
    }

    /// Moves the body of `f`, which [`can_extend`], to a new function with two more pointers as parameters,
    /// which `f` then calls with null. In the body the last arguments of calls of `first` and `second` become
    /// those parameters.
    ///
    /// # Errors
    /// [`ShimError::NotCloneable`] for a function that can't be extended.
    pub fn extend(&self, f: Value, first: Option<Value>, second: Option<Value>) -> Result<Value, ShimError> {
        if !can_extend(f) {
            return Err(ShimError::NotCloneable("it takes no more parameters".to_owned()));
        }
        Ok(sys::prs_extend(self.raw(), self.require_idle(f)?, first, second))
    }

    /// Replaces a call of a function by one of what [`Session::extend`] made of it; a `tail` marker goes. The
    /// call lives no longer.
    ///
    /// # Panics
    /// For a call of a function that has not two arguments less.
    pub fn redirect(&self, call: Value, extended: Value, first: Value, second: Value) {
        assert!(call.argument_count() + 2 == extended.param_count(), "{}", call.text());
        sys::prs_redirect(call.as_call(), extended.as_function(), first, second)
    }

    /// From here on rewritings may do so much, in operations of isl. The step that would do more ends on its
    /// way, with a function that means the same, and each that follows refuses: [`ShimError::Work`].
    pub fn limit_work(&self, operations: u64) {
        self.limit.set(operations);
        sys::prs_limit_work(self.raw(), operations)
    }

    /// # Errors
    /// [`ShimError::Work`] if the last step ended on its way.
    pub fn require_work(&self) -> Result<(), ShimError> {
        if self.work() > self.limit.get() { Err(ShimError::Work) } else { Ok(()) }
    }

    /// What was done since the last [`Session::limit_work`].
    pub fn work(&self) -> u64 {
        sys::prs_work(self.raw())
    }

    fn require_unused(&self, f: Value) -> Result<Function, ShimError> {
        if self.uses.borrow().contains_key(&f) { Err(ShimError::Busy) } else { Ok(f.as_function()) }
    }

    /// What each step over a function begins with. Steps need a body.
    #[track_caller]
    pub(crate) fn require_idle(&self, f: Value) -> Result<Function, ShimError> {
        let function = self.require_unused(f)?;
        if f.is_declaration() {
            return Err(ShimError::Declaration);
        }
        if !sys::prs_begin_step(self.raw(), function) {
            return Err(ShimError::Work);
        }
        if self.verifies.get() {
            let before = self.last.replace(Some(Location::caller()));
            self.verify_function(f).map_err(|problem| {
                let step = before.map_or_else(|| "the beginning".to_owned(), Location::to_string);
                ShimError::Broken { step, problem: problem.lines().next().unwrap_or_default().to_owned() }
            })?;
        }
        Ok(function)
    }
}

/// Moves all definitions of a module to another one of the same context; declarations become those that are
/// there. `false`, with nothing done: a name is defined in both, or there are aliases.
///
/// # Safety
/// No handle of a declaration that is defined in the other module is used any more.
pub unsafe fn move_definitions(from: Module, to: Module) -> bool {
    // SAFETY: the caller's promise.
    unsafe { sys::prs_move_definitions(from, to) }
}

/// Runs a pipeline of passes, in their textual form, over a module for a target machine. The loop pass
/// `pollyrs-unroll-full` is `loop-unroll-full` with the thresholds of `-O3`.
///
/// # Errors
/// [`ShimError::Pipeline`] where the text does not parse.
///
/// # Safety
/// A live `LLVMTargetMachineRef`, nothing else uses the module's context, and no handle of what is in the
/// module is used any more.
pub unsafe fn optimize(module: Module, machine: *mut c_void, pipeline: &str) -> Result<(), ShimError> {
    // SAFETY: the text is passed with its length, and the caller's promise.
    let (ok, message) = sys::collect_bytes(|into| unsafe {
        sys::prs_optimize(module, machine, pipeline.as_ptr(), pipeline.len(), into, sys::push_bytes)
    });
    if ok { Ok(()) } else { Err(ShimError::Pipeline(message)) }
}

/// Links what a module declares and the bitcode of a library defines, and what that needs. `false`: it is no
/// bitcode, or does not fit the module.
///
/// # Safety
/// No handle of a declaration that the library defines is used any more.
pub unsafe fn link_needed(to: Module, library: &[u8]) -> bool {
    // SAFETY: so many bytes, and the caller's promise.
    unsafe { sys::prs_link_needed(to, library.as_ptr(), library.len()) }
}

/// Whether [`Session::extend`] may be asked for.
pub fn can_extend(f: Value) -> bool {
    sys::prs_can_extend(f.as_function())
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: `raw` came from `prs_session_new`; `Analyses` borrow the session, so none is left.
        unsafe { sys::prs_session_free(self.raw) }
    }
}

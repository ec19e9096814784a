//! isl contexts, errors and operation budgets.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char, c_int, c_ulong, c_void};
use std::rc::Rc;

#[repr(C)]
pub(crate) struct RawCtx {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    fn isl_ctx_alloc() -> *mut RawCtx;
    fn isl_ctx_free(ctx: *mut RawCtx);
    fn isl_options_set_on_error(ctx: *mut RawCtx, val: c_int) -> c_int;
    fn isl_options_set_ast_build_atomic_upper_bound(ctx: *mut RawCtx, val: c_int) -> c_int;
    fn isl_options_set_ast_build_prefer_pdiv(ctx: *mut RawCtx, val: c_int) -> c_int;
    fn isl_options_set_ast_build_detect_min_max(ctx: *mut RawCtx, val: c_int) -> c_int;
    fn isl_options_set_ast_build_exploit_nested_bounds(ctx: *mut RawCtx, val: c_int) -> c_int;
    fn isl_options_set_schedule_outer_coincidence(ctx: *mut RawCtx, val: c_int) -> c_int;
    fn isl_options_set_schedule_maximize_band_depth(ctx: *mut RawCtx, val: c_int) -> c_int;
    fn isl_options_set_schedule_maximize_coincidence(ctx: *mut RawCtx, val: c_int) -> c_int;
    fn isl_options_set_schedule_serialize_sccs(ctx: *mut RawCtx, val: c_int) -> c_int;
    fn isl_options_set_schedule_whole_component(ctx: *mut RawCtx, val: c_int) -> c_int;
    fn isl_options_set_schedule_treat_coalescing(ctx: *mut RawCtx, val: c_int) -> c_int;
    fn isl_options_set_schedule_max_constant_term(ctx: *mut RawCtx, val: c_int) -> c_int;
    fn isl_options_set_schedule_max_coefficient(ctx: *mut RawCtx, val: c_int) -> c_int;
    fn isl_ctx_last_error(ctx: *mut RawCtx) -> c_int;
    fn isl_ctx_last_error_msg(ctx: *mut RawCtx) -> *const c_char;
    fn isl_ctx_reset_error(ctx: *mut RawCtx);
    fn isl_ctx_set_max_operations(ctx: *mut RawCtx, max: c_ulong);
    fn isl_ctx_get_max_operations(ctx: *mut RawCtx) -> c_ulong;
    fn isl_ctx_reset_operations(ctx: *mut RawCtx);
    fn isl_val_zero(ctx: *mut RawCtx) -> *mut c_void;
    fn isl_val_free(v: *mut c_void) -> *mut c_void;
    /// Of `c/meter.c`.
    fn pollyrs_isl_meter(ctx: *mut RawCtx);
}

const ISL_ON_ERROR_CONTINUE: c_int = 1;
const ISL_ERROR_QUOTA: c_int = 6;

/// What isl reported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The operation budget of [`Context::with_budget`] is spent.
    #[error("isl's operation budget is spent")]
    Quota,
    /// Any other failure inside isl, with isl's message.
    #[error("isl: {0}")]
    Failed(String),
    /// A string with an inner NUL, a number out of range, or a value of the wrong kind was handed in.
    #[error("isl: bad argument: {0}")]
    Argument(&'static str),
}

pub type Result<T> = std::result::Result<T, Error>;

struct Inner {
    raw: *mut RawCtx,
    /// Operations under budgets that have ended or were suspended.
    spent: Cell<u64>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: the last reference; every wrapper holds a clone of the Rc, so no isl object is left.
        unsafe { isl_ctx_free(self.raw) }
    }
}

/// An isl context. Cheap to clone; all clones are the same context.
#[derive(Clone)]
pub struct Context(Rc<Inner>);

impl Default for Context {
    fn default() -> Self {
        Self::new()
    }
}

impl Context {
    /// A fresh context whose errors come back as [`Error`] and whose options are the ones pollyrs relies on.
    pub fn new() -> Self {
        // SAFETY: plain allocation and option setting; isl aborts on out-of-memory only.
        unsafe {
            let ctx = isl_ctx_alloc();
            isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE);
            isl_options_set_ast_build_atomic_upper_bound(ctx, 1);
            isl_options_set_ast_build_prefer_pdiv(ctx, 1);
            isl_options_set_ast_build_detect_min_max(ctx, 1);
            isl_options_set_ast_build_exploit_nested_bounds(ctx, 1);
            isl_options_set_schedule_outer_coincidence(ctx, 1);
            isl_options_set_schedule_maximize_band_depth(ctx, 1);
            isl_options_set_schedule_maximize_coincidence(ctx, 1);
            isl_options_set_schedule_whole_component(ctx, 0);
            isl_options_set_schedule_treat_coalescing(ctx, 1);
            isl_options_set_schedule_max_constant_term(ctx, 20);
            isl_options_set_schedule_max_coefficient(ctx, 20);
            Context(Rc::new(Inner { raw: ctx, spent: Cell::new(0) }))
        }
    }

    /// Whether the scheduler keeps strongly connected components apart (distribution) instead of fusing them.
    pub fn set_schedule_serialize_sccs(&self, on: bool) {
        // SAFETY: the context is live.
        unsafe { isl_options_set_schedule_serialize_sccs(self.raw(), on as c_int) };
    }

    pub(crate) fn raw(&self) -> *mut RawCtx {
        self.0.raw
    }

    /// The pending error, which is cleared.
    pub(crate) fn take_error(&self) -> Error {
        // SAFETY: the context is live; the message is a NUL-terminated string owned by it, copied before the
        // reset.
        unsafe {
            let kind = isl_ctx_last_error(self.raw());
            let msg = isl_ctx_last_error_msg(self.raw());
            let text = if msg.is_null() {
                "unknown error".to_string()
            } else {
                CStr::from_ptr(msg).to_string_lossy().into_owned()
            };
            // The parser reports a spent budget as a syntax error: see whether one more operation is granted.
            let probe = isl_val_zero(self.raw());
            let spent = kind == ISL_ERROR_QUOTA || probe.is_null();
            isl_val_free(probe);
            isl_ctx_reset_error(self.raw());
            if spent { Error::Quota } else { Error::Failed(text) }
        }
    }

    /// Runs `f` with at most `operations` isl operations (0: no limit of its own); past that, isl calls
    /// return [`Error::Quota`]. See [`Context::budget`].
    pub fn with_budget<T, E: From<Error>>(
        &self,
        operations: u64,
        f: impl FnOnce() -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let _guard = self.budget(operations);
        f()
    }

    /// Runs `f` without a limit: for printing, in which isl 0.27 dereferences a null pointer where an
    /// operation is refused.
    pub(crate) fn without_limit<T>(&self, f: impl FnOnce() -> T) -> T {
        // SAFETY: the context is live; the limit is put back.
        unsafe {
            let max = isl_ctx_get_max_operations(self.raw());
            isl_ctx_set_max_operations(self.raw(), 0);
            let result = f();
            isl_ctx_set_max_operations(self.raw(), max);
            result
        }
    }

    /// Operations under all budgets so far: a measure of the work done that is the same on every machine.
    pub fn operations(&self) -> u64 {
        self.0.spent.get() + self.counted()
    }

    /// Operations since isl's counter was reset. isl does not tell, but under a limit of `max` it refuses one
    /// more operation just if it has counted `max`; so the count is found by bisection. Each probe that is
    /// granted counts too, which makes the result too large by some dozens.
    fn counted(&self) -> u64 {
        // SAFETY: the context is live; the limit is put back.
        unsafe {
            let max = isl_ctx_get_max_operations(self.raw());
            let refused = |limit: u64| {
                isl_ctx_set_max_operations(self.raw(), limit as c_ulong);
                let probe = isl_val_zero(self.raw());
                isl_val_free(probe);
                probe.is_null()
            };
            let (mut low, mut high) = (0, 1u64);
            while refused(high) {
                low = high;
                high = high.saturating_mul(2);
            }
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if refused(middle) { low = middle } else { high = middle }
            }
            isl_ctx_reset_error(self.raw());
            isl_ctx_set_max_operations(self.raw(), max);
            low
        }
    }

    /// A budget of `operations` isl operations (0: no limit of its own) that holds until the guard is
    /// dropped. Budgets nest: what is spent inside counts outside as well, and an inner one is never larger
    /// than what is left of the outer one.
    ///
    /// An operation is an allocation, a pivot, or as much arithmetic on vectors as `c/meter.c` says; about
    /// 100 ns.
    pub fn budget(&self, operations: u64) -> Budget {
        let used = self.counted();
        self.0.spent.set(self.0.spent.get() + used);
        // SAFETY: the context is live, and stays so while the stack holds it and the meter charges it.
        unsafe {
            let outer = match isl_ctx_get_max_operations(self.raw()) {
                0 => None,
                max => Some(left(max, used)),
            };
            let own = (operations > 0).then_some(operations);
            let limit = own.into_iter().chain(outer).min();
            isl_ctx_reset_operations(self.raw());
            isl_ctx_set_max_operations(self.raw(), limit.unwrap_or(0) as c_ulong);
            CHARGED.with_borrow_mut(|stack| stack.push(self.clone()));
            pollyrs_isl_meter(self.raw());
            Budget { ctx: self.clone(), outer }
        }
    }
}

thread_local! {
    /// The contexts with budgets in force; the meter charges the last one.
    static CHARGED: RefCell<Vec<Context>> = const { RefCell::new(Vec::new()) };
}

/// What is left of a limit: one operation at least, since a limit of none means to isl that there is no
/// limit.
fn left(limit: u64, used: u64) -> u64 {
    limit.saturating_sub(used).max(1)
}

/// An operation budget in force; see [`Context::budget`].
pub struct Budget {
    ctx: Context,
    /// What was left of the budget around this one.
    outer: Option<u64>,
}

impl Drop for Budget {
    fn drop(&mut self) {
        let used = self.ctx.counted();
        self.ctx.0.spent.set(self.ctx.0.spent.get() + used);
        let charged = CHARGED.with_borrow_mut(|stack| {
            let own = stack.iter().rposition(|c| Rc::ptr_eq(&c.0, &self.ctx.0));
            own.map(|at| stack.remove(at));
            stack.last().cloned()
        });
        // SAFETY: the contexts are live: this one, and the one that the stack still holds.
        unsafe {
            pollyrs_isl_meter(charged.map_or(std::ptr::null_mut(), |c| c.raw()));
            isl_ctx_reset_operations(self.ctx.raw());
            let limit = self.outer.map_or(0, |outer| left(outer, used));
            isl_ctx_set_max_operations(self.ctx.raw(), limit as c_ulong);
        }
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("isl::Context")
    }
}

//! isl contexts, errors and operation budgets.

use std::cell::Cell;
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
        // SAFETY: the context is live; the message is a NUL-terminated string owned by it, copied before the reset.
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

    /// Runs `f` with at most `operations` isl operations (0: without a limit); past that, isl calls return
    /// [`Error::Quota`]. An enclosing budget is suspended meanwhile and starts anew afterwards.
    pub fn with_budget<T, E: From<Error>>(
        &self,
        operations: u64,
        f: impl FnOnce() -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let _guard = self.budget(operations);
        f()
    }

    /// Operations under all budgets so far: a measure of the work done that is the same on every machine.
    pub fn operations(&self) -> u64 {
        self.0.spent.get() + self.counted()
    }

    fn account(&self) {
        self.0.spent.set(self.0.spent.get() + self.counted());
    }

    /// Operations since isl's counter was reset. isl does not tell, but under a limit of `max` it refuses one more
    /// operation just if it has counted `max`; so the count is found by bisection. Each probe that is granted counts too, which
    /// makes the result too large by some dozens.
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

    /// The same as a guard: the budget holds until the guard is dropped.
    pub fn budget(&self, operations: u64) -> Budget {
        // SAFETY: the context is live.
        unsafe {
            let outer = isl_ctx_get_max_operations(self.raw());
            self.account();
            isl_ctx_reset_operations(self.raw());
            isl_ctx_set_max_operations(self.raw(), operations as c_ulong);
            Budget { ctx: self.clone(), outer }
        }
    }
}

/// An operation budget in force; see [`Context::budget`].
pub struct Budget {
    ctx: Context,
    outer: c_ulong,
}

impl Drop for Budget {
    fn drop(&mut self) {
        // SAFETY: the context is live.
        unsafe {
            self.ctx.account();
            isl_ctx_reset_operations(self.ctx.raw());
            isl_ctx_set_max_operations(self.ctx.raw(), self.outer);
        }
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("isl::Context")
    }
}

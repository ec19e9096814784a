//! How Rust values cross into isl and back, and the macros that declare isl's functions once, as a table.

use crate::context::{Context, Error, Result};
use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};

unsafe extern "C" {
    fn free(p: *mut c_void);
}

/// A value isl's functions take.
pub trait Arg {
    type Raw;
    fn into_raw(self) -> Self::Raw;
}

/// A value isl's functions give.
pub trait Ret: Sized {
    type Raw;
    fn from_raw(raw: Self::Raw, ctx: &Context) -> Result<Self>;
}

macro_rules! plain_arg {
    ($($t:ty => $raw:ty),*) => { $(impl Arg for $t {
        type Raw = $raw;
        fn into_raw(self) -> $raw { self as $raw }
    })* };
}
plain_arg!(bool => c_int, i32 => c_int, u32 => c_uint, i64 => c_long);

impl Arg for &CStr {
    type Raw = *const c_char;
    fn into_raw(self) -> *const c_char {
        self.as_ptr()
    }
}

impl Ret for bool {
    type Raw = c_int;
    fn from_raw(raw: c_int, ctx: &Context) -> Result<Self> {
        if raw < 0 { Err(ctx.take_error()) } else { Ok(raw != 0) }
    }
}

impl Ret for u32 {
    type Raw = c_int;
    fn from_raw(raw: c_int, ctx: &Context) -> Result<Self> {
        if raw < 0 { Err(ctx.take_error()) } else { Ok(raw as u32) }
    }
}

/// A plain C int with no error value.
impl Ret for i32 {
    type Raw = c_int;
    fn from_raw(raw: c_int, _: &Context) -> Result<Self> {
        Ok(raw)
    }
}

impl Ret for i64 {
    type Raw = c_long;
    fn from_raw(raw: c_long, _: &Context) -> Result<Self> {
        Ok(raw)
    }
}

impl Ret for () {
    type Raw = c_int;
    fn from_raw(raw: c_int, ctx: &Context) -> Result<Self> {
        if raw < 0 { Err(ctx.take_error()) } else { Ok(()) }
    }
}

/// A string isl allocated and hands over.
impl Ret for String {
    type Raw = *mut c_char;
    fn from_raw(raw: *mut c_char, ctx: &Context) -> Result<Self> {
        if raw.is_null() {
            return Err(ctx.take_error());
        }
        // SAFETY: a NUL-terminated string from malloc that is ours now.
        unsafe {
            let s = CStr::from_ptr(raw).to_string_lossy().into_owned();
            free(raw.cast());
            Ok(s)
        }
    }
}

/// A string that isl keeps; absent names are `None`.
impl Ret for Option<String> {
    type Raw = *const c_char;
    fn from_raw(raw: *const c_char, _: &Context) -> Result<Self> {
        if raw.is_null() {
            return Ok(None);
        }
        // SAFETY: a NUL-terminated string owned by the isl object, copied at once.
        Ok(Some(unsafe { CStr::from_ptr(raw) }.to_string_lossy().into_owned()))
    }
}

/// Declares wrapper types: `Set = isl_set(isl_set_copy, isl_set_free);`
macro_rules! isl_types {
    ($($(#[$m:meta])* $ty:ident = $copy:ident, $free:ident;)*) => { $(
        $(#[$m])*
        pub struct $ty { ptr: std::ptr::NonNull<std::ffi::c_void>, ctx: $crate::Context }

        impl $ty {
            /// The context this value lives in.
            pub fn context(&self) -> &$crate::Context { &self.ctx }
        }

        impl Drop for $ty {
            fn drop(&mut self) {
                unsafe extern "C" { fn $free(p: *mut std::ffi::c_void) -> *mut std::ffi::c_void; }
                // SAFETY: the pointer is ours and the context is still alive.
                unsafe { $free(self.ptr.as_ptr()) };
            }
        }

        impl Clone for $ty {
            fn clone(&self) -> Self {
                unsafe extern "C" { fn $copy(p: *mut std::ffi::c_void) -> *mut std::ffi::c_void; }
                // SAFETY: copying raises a reference count; it gives the same non-NULL pointer.
                let ptr = unsafe { std::ptr::NonNull::new_unchecked($copy(self.ptr.as_ptr())) };
                $ty { ptr, ctx: self.ctx.clone() }
            }
        }

        impl $crate::ffi::Arg for $ty {
            type Raw = *mut std::ffi::c_void;
            fn into_raw(self) -> *mut std::ffi::c_void {
                let me = std::mem::ManuallyDrop::new(self);
                // SAFETY: `me` is never used again, so the context handle is read exactly once.
                drop(unsafe { std::ptr::read(&me.ctx) });
                me.ptr.as_ptr()
            }
        }

        impl $crate::ffi::Arg for &$ty {
            type Raw = *mut std::ffi::c_void;
            fn into_raw(self) -> *mut std::ffi::c_void { self.ptr.as_ptr() }
        }

        impl $crate::ffi::Ret for $ty {
            type Raw = *mut std::ffi::c_void;
            fn from_raw(raw: *mut std::ffi::c_void, ctx: &$crate::Context) -> $crate::Result<Self> {
                match std::ptr::NonNull::new(raw) {
                    Some(ptr) => Ok($ty { ptr, ctx: ctx.clone() }),
                    None => Err(ctx.take_error()),
                }
            }
        }
    )* };
}

/// Declares methods as a table. `keep` rows borrow the receiver, `take` rows consume it, `new` rows are
/// constructors from a context.
macro_rules! isl_methods {
    ($ty:ident
     keep { $(fn $kn:ident($($ka:ident: $kt:ty),*) -> $kr:ty = $ks:ident;)* }
     take { $(fn $tn:ident($($ta:ident: $tt:ty),*) -> $tr:ty = $ts:ident;)* }
    ) => {
        #[allow(clippy::too_many_arguments)]
        impl $ty {
            $(pub fn $kn(&self $(, $ka: $kt)*) -> $crate::Result<$kr> {
                #[allow(clashing_extern_declarations)]
                unsafe extern "C" {
                    fn $ks(this: *mut std::ffi::c_void $(, $ka: <$kt as $crate::ffi::Arg>::Raw)*)
                        -> <$kr as $crate::ffi::Ret>::Raw;
                }
                // SAFETY: isl's documented signature; the receiver is borrowed, arguments by value are handed
                // over.
                let raw = unsafe { $ks(self.ptr.as_ptr() $(, $crate::ffi::Arg::into_raw($ka))*) };
                <$kr as $crate::ffi::Ret>::from_raw(raw, &self.ctx)
            })*
            $(pub fn $tn(self $(, $ta: $tt)*) -> $crate::Result<$tr> {
                #[allow(clashing_extern_declarations)]
                unsafe extern "C" {
                    fn $ts(this: *mut std::ffi::c_void $(, $ta: <$tt as $crate::ffi::Arg>::Raw)*)
                        -> <$tr as $crate::ffi::Ret>::Raw;
                }
                let ctx = self.ctx.clone();
                // SAFETY: isl's documented signature; receiver and arguments by value are handed over.
                let raw = unsafe {
                    $ts($crate::ffi::Arg::into_raw(self) $(, $crate::ffi::Arg::into_raw($ta))*)
                };
                <$tr as $crate::ffi::Ret>::from_raw(raw, &ctx)
            })*
        }
    };
}

/// Methods that say the same in fewer words. They are never needed, so where isl fails in the middle of one
/// (isl 0.27: "total dimensionality changed unexpectedly" of `reduce_coefficients`) the result is the value
/// as it was; only a spent budget is an error.
macro_rules! isl_simplifications {
    ($($ty:ident::$name:ident = $sym:ident;)*) => { $(
        impl $ty {
            pub fn $name(self) -> $crate::Result<$ty> {
                unsafe extern "C" { fn $sym(v: *mut std::ffi::c_void) -> *mut std::ffi::c_void; }
                let kept = self.clone();
                // SAFETY: the value is handed over; isl leaves what others hold as it is.
                match <$ty as $crate::ffi::Ret>::from_raw(unsafe { $sym($crate::ffi::Arg::into_raw(self)) }, kept.context()) {
                    Err($crate::Error::Failed(_)) => Ok(kept),
                    other => other,
                }
            }
        }
    )* };
}

/// `read`, `Display` and `Debug` for types with isl's textual form.
macro_rules! isl_text {
    ($($ty:ident = $read:ident, $to_str:ident;)*) => { $(
        impl $ty {
            /// Parses isl's notation.
            pub fn read(ctx: &$crate::Context, text: &str) -> $crate::Result<Self> {
                unsafe extern "C" {
                    fn $read(ctx: *mut $crate::context::RawCtx, s: *const std::ffi::c_char)
                        -> *mut std::ffi::c_void;
                }
                let text = $crate::ffi::c_string(text)?;
                // SAFETY: live context, NUL-terminated string.
                let raw = unsafe { $read(ctx.raw(), text.as_ptr()) };
                <$ty as $crate::ffi::Ret>::from_raw(raw, ctx)
            }
        }
        isl_display! { $ty = $to_str; }
    )* };
}

/// `Display` and `Debug` alone.
macro_rules! isl_display {
    ($($ty:ident = $to_str:ident;)*) => { $(
        isl_methods! { $ty keep { fn to_str() -> String = $to_str; } take {} }
        impl std::fmt::Display for $ty {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.context().without_limit(|| self.to_str()) {
                    Ok(s) => f.write_str(&s),
                    Err(_) => f.write_str("?"),
                }
            }
        }
        impl std::fmt::Debug for $ty {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    )* };
}

/// `Target::name(source)` for isl functions that convert one value.
macro_rules! isl_conversions {
    ($($ty:ident::$name:ident($t:ty) = $sym:ident;)*) => { $(
        impl $ty {
            pub fn $name(value: $t) -> $crate::Result<$ty> {
                #[allow(clashing_extern_declarations)]
                unsafe extern "C" { fn $sym(v: *mut std::ffi::c_void) -> *mut std::ffi::c_void; }
                let ctx = value.context().clone();
                // SAFETY: the value is handed over.
                <$ty as $crate::ffi::Ret>::from_raw(unsafe { $sym($crate::ffi::Arg::into_raw(value)) }, &ctx)
            }
        }
    )* };
}

pub(crate) fn c_string(s: &str) -> Result<std::ffi::CString> {
    std::ffi::CString::new(s).map_err(|_| Error::Argument("string with an inner NUL"))
}

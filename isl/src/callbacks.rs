//! isl functions that take a callback, as functions that return vectors.

use crate::context::{Context, Result};
use crate::ffi::{Arg, Ret};
use crate::functions::{Aff, MultiAff, PwAff, PwMultiAff};
use crate::relations::Set;
use std::ffi::{c_int, c_void};

type PieceFn = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void) -> c_int;

struct Sink<T> {
    ctx: Context,
    out: Vec<Result<(Set, T)>>,
}

unsafe extern "C" fn push_piece<T: Ret<Raw = *mut c_void>>(
    set: *mut c_void,
    value: *mut c_void,
    user: *mut c_void,
) -> c_int {
    // SAFETY: `user` is the Sink that `pieces` passes; isl hands both values over.
    let sink = unsafe { &mut *user.cast::<Sink<T>>() };
    let set = Set::from_raw(set, &sink.ctx);
    let value = T::from_raw(value, &sink.ctx);
    sink.out.push(set.and_then(|s| Ok((s, value?))));
    0
}

macro_rules! isl_pieces {
    ($($ty:ident of $el:ident = $sym:ident;)*) => { $(
        impl $ty {
            /// The pieces: disjoint domains and the function on each.
            pub fn pieces(&self) -> Result<Vec<(Set, $el)>> {
                unsafe extern "C" { fn $sym(p: *mut c_void, f: PieceFn, user: *mut c_void) -> c_int; }
                let mut sink = Sink::<$el> { ctx: self.context().clone(), out: Vec::new() };
                let user: *mut Sink<$el> = &mut sink;
                // SAFETY: the callback only uses `user`, which outlives the call.
                let stat = unsafe { $sym(self.into_raw(), push_piece::<$el>, user.cast()) };
                <()>::from_raw(stat, self.context())?;
                sink.out.into_iter().collect()
            }
        }
    )* };
}

isl_pieces! {
    PwAff of Aff = isl_pw_aff_foreach_piece;
    PwMultiAff of MultiAff = isl_pw_multi_aff_foreach_piece;
}

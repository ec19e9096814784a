//! The functions of `include/pollyrs_rt.h`: each takes what generated code hands over, and lets no panic out.

mod emulated;
mod execution;
mod inspections;
mod original;
mod residency;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::base::caller::{Errno, Inside};
use crate::base::error::{self, Error};

/// Runs `body`; a panic becomes an error, and `errno` stays.
fn guarded<T>(body: impl FnOnce() -> error::Result<T>) -> error::Result<T> {
    let _errno = Errno::kept();
    let _inside = Inside::enter();
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => result,
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            Err(Error::Internal(text.unwrap_or_default()))
        }
    }
}

//! Two versions of a region under one check.
//!
//! ```text
//!   check ──────────┐                    br host_begin; the caller makes it conditional
//!     │          offload                 empty; the caller fills it, and ends it in `br merge` or `br host_begin`
//!  host_begin       │
//!   entry …         │
//!    region         │
//!  host_end         │
//!     └── merge ────┘                    one PHI a live-out
//!          │
//!         exit
//! ```
//! **Invariant.** Every edge that left the region for `exit` goes through `host_end` and `merge`; every use
//! outside of a value of the region uses the PHI in `merge` instead. Until the caller has connected
//! `offload`, the function is the program it was, plus one unreachable unterminated block.

use crate::ir::{Block, Value};
use crate::{ShimError, sys};

/// The new blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versioned {
    pub offload: Block,
    pub host_begin: Block,
    pub host_end: Block,
    pub merge: Block,
    pub live_outs: Vec<LiveOut>,
}

/// A value of the region used outside.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LiveOut {
    /// Defined in the region. Where several edges left the region with different values for one PHI of the
    /// exit, a PHI in `host_end`; a region with one exiting edge has none of those.
    pub value: Value,
    /// In `merge`, with the incoming value of `host_end`; the caller adds one for each branch from its side.
    pub phi: Value,
}

/// Invalidates all analyses of `f`. `blocks` is the region; `check` ends in `br entry` and is the only block
/// outside it that branches to `entry`; blocks of the region branch to blocks of the region and to `exit`, or
/// don't return.
///
/// # Errors
/// [`ShimError::Region`] if one of these conditions does not hold, if a live-out is a token, or an edge to
/// split comes from `indirectbr` or `callbr` or leads to an exception pad. Then nothing was changed.
pub fn version_region(
    f: Value,
    check: Block,
    entry: Block,
    exit: Block,
    blocks: &[Block],
) -> Result<Versioned, ShimError> {
    let mut r = sys::VersionRecord::default();
    let mut values = Vec::new();
    let (ok, message) = sys::collect_bytes(|into| {
        // SAFETY: a list of so many blocks.
        unsafe {
            sys::prs_version_region(
                f.as_function(),
                check,
                entry,
                exit,
                blocks.as_ptr(),
                blocks.len(),
                &mut r,
                &mut values,
                sys::push,
                into,
                sys::push_bytes,
            )
        }
    });
    let sys::VersionRecord {
        offload: Some(offload),
        host_begin: Some(host_begin),
        host_end: Some(host_end),
        merge: Some(merge),
    } = r
    else {
        return Err(ShimError::Region(message));
    };
    if !ok {
        return Err(ShimError::Region(message));
    }
    let live_outs = values.chunks_exact(2).map(|p| LiveOut { value: p[0], phi: p[1] }).collect();
    Ok(Versioned { offload, host_begin, host_end, merge, live_outs })
}

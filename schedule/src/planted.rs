//! Bugs on purpose, to show that they would be found (scripts/planted): each is a condition at the place that
//! it breaks.
//!
//! Only with the feature `planted`, and then only the one that `POLLYRS_PLANT` names; otherwise [`planted`]
//! is a constant.

/// Every bug, and what it breaks.
pub const BUGS: [(&str, &str); 53] = [
    ("no-anti", "dependences: no anti dependences"),
    ("no-flow", "dependences: no flow dependences"),
    ("coincident", "scheduler: every member of a band is coincident"),
    ("swap-launches", "mapping: a sequence of launches is reversed"),
    ("tile-stride", "mapping: tiles are one point further apart"),
    ("grid-count", "mapping: the last block is missing"),
    ("idle-thread", "mapping: the last thread does nothing"),
    ("private", "mapping: scalars of several threads are private"),
    ("operand-tile-shift", "promotion: a buffer starts one element late"),
    ("operand-tile-size", "promotion: a buffer is one element short"),
    ("barrier-before", "promotion: no barrier between the last reads of a buffer and its next contents"),
    ("barrier-after", "promotion: no barrier between a buffer's contents and its reads"),
    ("shared-bytes", "promotion: half the shared memory is asked for"),
    ("lane-round", "promotion: lanes leave the elements of their first round out"),
    ("strip-without", "strips: a statement with instances in a strip is left out of its code"),
    ("stage-buffer", "stages: a strip is copied to the buffers of the one that is being computed"),
    ("last-chunk", "stages: rows that begin in the middle of a chunk go without their last one"),
    ("rest", "windows: iterations that run side by side go beyond the last one"),
    ("reading", "stencil: a read of a later neighbour is taken for one of the element before that"),
    ("halo", "stencil: the halo is one point narrower"),
    ("lag", "stencil: a step does not wait for the barrier that its neighbours' values need"),
    ("slots", "stencil: one slot too few for values in flight"),
    ("row-barrier", "stencil: no barrier between rows"),
    ("warp-transpose", "stencil: lanes change places without waiting for each other"),
    ("ramp", "stencil: rows at the start of a block are left out although a later step reads them"),
    ("touched", "stencil: tiles write a buffer's hull although the program touches less"),
    ("side-columns", "stencil: all blocks at the sides compute the first column"),
    ("pair-order", "reductions: parts of updates whose order counts are no runs"),
    ("joined-parts", "reductions: launches of parts become one although the second needs the first"),
    ("scan-start", "scans: a part of a running total begins with the total behind it"),
    ("append-count", "scans: what is appended goes where the count of the first iteration says"),
    ("carry-start", "scans: a cell takes its first value behind the loop that needs it"),
    ("phases", "time tiles: the phases of a time tile are reversed"),
    ("step-barrier", "time tiles: the code has no barriers between steps"),
    ("cone", "time tiles: hexagons lean one point less than the dependences"),
    ("nest-barrier", "nests: the last step of an iteration has no barrier behind it"),
    ("graph-wait", "graphs: a task does not wait for some that it reads from"),
    ("graph-signal", "graphs: a task signals when it begins"),
    ("home-copy", "graphs: a row of a task's tile does not come to shared memory"),
    ("carried-last", "graphs: an element that stays in registers is stored a step before its last one"),
    ("update-barrier", "graphs: operands of an update are overwritten while others read them"),
    ("counter-barrier", "counters: a block adds its counters up without waiting for all of its threads"),
    ("team-rest", "teams: an iteration behind the last one is computed"),
    ("spare-columns", "graphs: a thread executes columns of a tile that there are not"),
    ("row-copy", "rows: the last row of a block is not copied to shared memory"),
    ("both-versions", "rows: what is added up in parts is added up as ever as well"),
    ("slice-end", "slices: the last block of a slice gets no data of its own"),
    ("slice-later", "slices: results go back although later launches change them"),
    ("part-halo", "parts: what the last row of blocks of a part touches does not count"),
    ("band-halo", "bands: the rows around a band of fused steps are one too few"),
    ("copy-out", "host code: the last row is not copied back"),
    ("last-iteration", "code generation: loops stop one iteration early"),
    ("retyped", "sequences: arrays of different types are taken for different memory"),
];

/// Whether this bug is planted.
#[cfg(feature = "planted")]
pub fn planted(bug: &str) -> bool {
    debug_assert!(BUGS.iter().any(|(name, _)| *name == bug));
    std::env::var("POLLYRS_PLANT").is_ok_and(|name| name == bug)
}

/// Whether this bug is planted.
#[cfg(not(feature = "planted"))]
pub const fn planted(_bug: &str) -> bool {
    false
}

/// Whether the proofs are left out, so that what is behind them is tested.
#[cfg(feature = "planted")]
pub fn unproved() -> bool {
    std::env::var_os("POLLYRS_UNPROVED").is_some()
}

/// Whether the proofs are left out.
#[cfg(not(feature = "planted"))]
pub const fn unproved() -> bool {
    false
}

/// Tells that a proof has found a planted bug, where what it refuses is left out without a word.
#[cfg(feature = "planted")]
pub fn refused(bug: &str, why: &str) {
    if planted(bug) {
        tracing::info!(target: "pollyrs::answer", "the legality check failed: {why}");
    }
}

/// Nothing is planted.
#[cfg(not(feature = "planted"))]
pub const fn refused(_bug: &str, _why: &str) {}

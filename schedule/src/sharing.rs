//! When neighbouring points of a thread share loads: for the mapping, which makes such threads, and for
//! whoever asks what it will do.

/// Points of a thread. (On an H200, blocks of four warps with 4 and 8 points a thread, 64 registers: 0.94 and
/// 0.77 ms of `depthwise` in `bench/unseen.c` without contraction, 1.49 plain; of eight warps with 4 points,
/// 64 registers: 1.03, with 8 points and 80 registers: 0.94.)
pub const POINTS: u32 = 8;
/// With fewer loads a point waits for memory, not for its loads.
pub const LEAST_LOADS: usize = 6;
/// Loads that remain at most, of those that points have by themselves: of few, and of at least
/// [`SEVERAL_LOADS`]. (A star of order 4 in three dimensions keeps 0.72 of 25 and is twice as fast on an
/// H200: those that are saved are the ones of other planes, which come from farther away.)
const MUST_REMAIN: [f64; 2] = [0.6, 0.75];
const SEVERAL_LOADS: usize = 20;

/// Whether points share enough: each has so many loads alone, and so many in a thread with others.
pub fn shares(alone: usize, remaining: f64) -> bool {
    remaining <= MUST_REMAIN[usize::from(alone >= SEVERAL_LOADS)] * alone as f64
}

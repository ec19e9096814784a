//! What the passes of the plugin do.

/// What a pass of ours is asked to do. Ordered: a stage from `Detect` on includes all before it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Prepare every function for analysis, in place.
    Canonicalise,
    /// Version the smallest region around each outermost loop, with a check that fails.
    TestVersion,
    /// The same with the largest region.
    TestVersionLargest,
    /// The same with the smallest region around each innermost loop.
    TestVersionInnermost,
    Detect,
    Scop,
    Deps,
    Schedule,
    Mapping,
    Kernel,
    Ptx,
    Host,
    /// The pass itself: offload, print nothing.
    Run,
    /// At `-O0`: nothing is done, and a remark says so.
    Unoptimized,
}

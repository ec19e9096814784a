//! Expressions of scalar evolution.

/// LLVM's `const SCEV *`, valid while the [`crate::Analyses`] live it came from; or `CouldNotCompute`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct ScevHandle(usize);

impl ScevHandle {
    /// Of `CouldNotCompute`.
    pub const NONE: ScevHandle = ScevHandle(0);

    pub(crate) fn new(address: usize) -> ScevHandle {
        ScevHandle(address)
    }

    pub fn is_none(self) -> bool {
        self == ScevHandle::NONE
    }

    /// A number that tells it from others; 0 for `CouldNotCompute`.
    pub fn address(self) -> usize {
        self.0
    }
}

//! The size of an execution.

/// What tells executions of a SCoP apart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    /// Statement instances.
    pub work: f64,
    /// Estimated seconds of the transfers.
    pub moved: f64,
}

impl Size {
    /// Not 0.
    pub fn key(self) -> u64 {
        (self.work.to_bits() ^ self.moved.to_bits().rotate_left(32)) | 1
    }
}

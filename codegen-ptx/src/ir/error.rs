//! What can go wrong in code generation. None of it touches the host module: the original loop stays.

use pollyrs_isl as isl;

/// Why no code came out.
#[derive(Debug, thiserror::Error)]
pub enum CodegenError {
    /// The kernel needs something the target does not have; user code can cause this.
    #[error("the device cannot run {0}")]
    Unsupported(String),
    /// An integer of the generated code does not fit 64 bits.
    #[error("the integer {0} does not fit 64 bits")]
    IntegerRange(String),
    /// An invariant between the stages is broken: a bug of pollyrs.
    #[error("internal error in code generation: {0}")]
    Internal(String),
    /// isl's code has an access where the stage of its window is not known; a mapping without windows has no
    /// such place.
    #[error("an access outside of its window's stage")]
    Unscoped,
    /// isl's code has a barrier under a condition with a thread's number, or a loop of a tile with a point's,
    /// which may well be the same for all; another mapping need not have it.
    #[error("a condition that is not the same in all threads of a block or points of a tile")]
    Divergent,
    /// More instructions than LLVM and ptxas compile in reasonable time; a mapping without tiles has fewer.
    #[error("kernels of {0} instructions are too long")]
    TooLong(u64),
    /// LLVM refused: a broken module, a pass pipeline, a missing target.
    #[error("llvm: {0}")]
    Llvm(String),
    /// An external tool (ptxas) failed.
    #[error("{tool}: {message}")]
    Tool { tool: String, message: String },
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Isl(#[from] isl::Error),
}

pub type Result<T> = std::result::Result<T, CodegenError>;

pub(crate) fn internal<T>(message: impl Into<String>) -> Result<T> {
    Err(CodegenError::Internal(message.into()))
}

pub(crate) fn unsupported<T>(what: impl Into<String>) -> Result<T> {
    Err(CodegenError::Unsupported(what.into()))
}

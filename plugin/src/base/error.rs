//! The plugin's error type.

use pollyrs_codegen_ptx::CodegenError;
use pollyrs_llvm_shim::ShimError;
use thiserror::Error;

/// Why a run, or the work on one function, stopped. Unsupported *input* is not here: that is a rejection and
/// a remark.
#[derive(Debug, Error)]
pub enum PluginError {
    /// The user's mistake.
    #[error("option '{name}': {problem}")]
    Option { name: String, problem: String },
    #[error(transparent)]
    Shim(#[from] ShimError),
    #[error(transparent)]
    Codegen(#[from] CodegenError),
    /// Our mistake.
    #[error("{0}")]
    Internal(String),
}

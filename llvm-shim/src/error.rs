//! The crate's one error type.

use thiserror::Error;

/// Why a request could not be carried out; the IR is unchanged unless a variant says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ShimError {
    #[error("pass pipeline does not parse: {0}")]
    Pipeline(String),
    #[error("function cannot be cloned: {0}")]
    NotCloneable(String),
    #[error("the function's exception handlers are funclets")]
    Funclets,
    #[error("the function is a declaration")]
    Declaration,
    #[error("analyses of the function are still in use")]
    Busy,
    #[error("the clone does not belong to this function or session")]
    ForeignClone,
    #[error("region cannot be versioned: {0}")]
    Region(String),
    #[error("a check in place of an error block was lost")]
    Errors,
    #[error("a mark of a loop over tiles was lost")]
    Tiles,
    #[error("a mark of a loop that lists name the elements of was lost")]
    Grouped,
    #[error("a mark of a call that may set errno was lost")]
    Errno,
    #[error("rewriting takes too much work")]
    Work,
    /// Only where steps are verified.
    #[error("behind {step} the function is not valid: {problem}")]
    Broken { step: String, problem: String },
    #[error("a store that stood for a conditional one was changed")]
    Conditions,
}

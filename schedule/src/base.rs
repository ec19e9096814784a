//! Errors, budgets, and what is known of parameters: for all stages.

use pollyrs_isl as isl;
use pollyrs_scop::{AssumptionKind, Scop};

/// Operations of isl a stage may use unless its options say otherwise.
pub const DEFAULT_BUDGET: u64 = 5_000_000;

/// Why a stage of this crate gives no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// The operation budget of the named stage is spent.
    #[error("the operation budget of {0} is spent")]
    Budget(&'static str),
    /// No loop of the SCoP can run in parallel.
    #[error("no loop can run in parallel")]
    NoParallelism,
    /// A schedule that was given is none of this SCoP, or not legal.
    #[error("the schedule that was given does not fit: {0}")]
    Given(String),
    /// A schedule tree uses something the stage does not handle.
    #[error("unsupported schedule tree: {0}")]
    Unsupported(&'static str),
    #[error(transparent)]
    Isl(isl::Error),
}

/// The mapping's errors are the crate's.
pub type MapError = ScheduleError;

pub type Result<T> = std::result::Result<T, ScheduleError>;

impl From<isl::Error> for ScheduleError {
    /// What a budget around all stages ends is none of their errors.
    fn from(e: isl::Error) -> Self {
        match e {
            isl::Error::Quota => ScheduleError::Budget("scheduling"),
            e => ScheduleError::Isl(e),
        }
    }
}

/// Why a SCoP is not brought into a form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal<W> {
    /// It has not what the form asks for.
    #[error("{0}")]
    Form(W),
    /// A stage gives no result.
    #[error("{0}")]
    Failed(ScheduleError),
}

impl<W> Refusal<W> {
    /// What the form asks for; a failure goes on.
    pub fn form(self) -> Result<W> {
        match self {
            Refusal::Form(why) => Ok(why),
            Refusal::Failed(e) => Err(e),
        }
    }
}

impl<W> From<ScheduleError> for Refusal<W> {
    fn from(e: ScheduleError) -> Self {
        Refusal::Failed(e)
    }
}

impl<W> From<isl::Error> for Refusal<W> {
    fn from(e: isl::Error) -> Self {
        Refusal::Failed(e.into())
    }
}

/// Runs a stage that may refuse under a budget, and names it in the error.
pub(crate) fn budgeted_form<T, W>(
    ctx: &isl::Context,
    stage: &'static str,
    operations: u64,
    f: impl FnOnce() -> std::result::Result<T, Refusal<W>>,
) -> std::result::Result<T, Refusal<W>> {
    ctx.with_budget(operations, f).map_err(|e| match e {
        Refusal::Failed(e) if is_quota(&e) => ScheduleError::Budget(stage).into(),
        e => e,
    })
}

/// Runs a stage under a budget and names it in the error.
pub(crate) fn budgeted<T>(
    ctx: &isl::Context,
    stage: &'static str,
    operations: u64,
    f: impl FnOnce() -> Result<T>,
) -> Result<T> {
    ctx.with_budget(operations, f).map_err(|e| if is_quota(&e) { ScheduleError::Budget(stage) } else { e })
}

/// Whether an error means a spent budget. isl's message is looked at too, since some of its callers turn the
/// error's kind into another one on the way up.
pub(crate) fn is_quota(e: &ScheduleError) -> bool {
    match e {
        ScheduleError::Budget(_) => true,
        ScheduleError::Isl(isl::Error::Failed(text)) => {
            text.contains("maximal number of operations exceeded")
        }
        _ => false,
    }
}

/// What is known of the parameters while the mapped SCoP runs: the facts of its context and those assumptions
/// that are one polyhedron (a disjunction would only make every later set larger; leaving a condition out is
/// sound). `[params] -> { : ... }`
///
/// Dependences are asked for under [`independent`] as well.
pub(crate) fn known(scop: &Scop) -> Result<isl::Set> {
    let mut known = scop.facts()?;
    for a in &scop.assumptions {
        if a.set.n_basic_set()? <= 1 {
            known = known.intersect(a.set.clone())?;
        }
    }
    Ok(known.coalesce()?)
}

/// What is known of the parameters where dependences are, with what says that there are none: such conditions
/// have a case for each order of two parts of an array. `[params] -> { : ... }`
pub(crate) fn independent(scop: &Scop) -> Result<isl::Set> {
    let mut known = known(scop)?;
    for a in scop.assumptions.iter().filter(|a| a.kind == AssumptionKind::Independence) {
        known = known.intersect(a.set.clone())?;
    }
    Ok(known.coalesce()?)
}

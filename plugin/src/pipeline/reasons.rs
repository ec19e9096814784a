//! Errors of the stages as reasons why a SCoP stays on the host.

use pollyrs_codegen_ptx as codegen;
use pollyrs_schedule as schedule;
use pollyrs_scop::RejectReason;

/// Of scheduling, mapping and proofs.
pub fn reject_reason(e: schedule::ScheduleError) -> RejectReason {
    match e {
        schedule::ScheduleError::Budget(stage) => RejectReason::Budget { stage: stage.into() },
        schedule::ScheduleError::Given(why) => RejectReason::Given { why },
        schedule::ScheduleError::NoParallelism => {
            RejectReason::NoParallelism { values: Vec::new(), chooser: None }
        }
        e => RejectReason::Internal { stage: "scheduling".into(), message: e.to_string() },
    }
}

/// Of code generation.
pub fn generated(e: codegen::CodegenError) -> RejectReason {
    match e {
        codegen::CodegenError::Unsupported(what) => RejectReason::Device { what },
        codegen::CodegenError::IntegerRange(value) => RejectReason::wide_number(&value),
        e if is_quota(&e) || matches!(e, codegen::CodegenError::TooLong(_)) => {
            RejectReason::Budget { stage: "code generation".into() }
        }
        e => RejectReason::Internal { stage: "code generation".into(), message: e.to_string() },
    }
}

/// An error of ours, which keeps the original loop.
pub fn unproved(stage: &str, violation: &str) -> RejectReason {
    let message = format!("the legality check failed: {violation}");
    RejectReason::Internal { stage: stage.into(), message }
}

pub fn is_quota(e: &codegen::CodegenError) -> bool {
    matches!(e, codegen::CodegenError::Isl(pollyrs_isl::Error::Quota))
}

/// Why what was estimated of a launch is not used.
pub enum Refusal {
    /// The proof found this violation: an estimate of another kind may be right.
    Wrong(String),
    Failed(RejectReason),
}

impl Refusal {
    pub fn failed(e: schedule::ScheduleError) -> Refusal {
        Refusal::Failed(reject_reason(e))
    }

    pub fn reason(self, stage: &str) -> RejectReason {
        match self {
            Refusal::Wrong(violation) => unproved(stage, &violation),
            Refusal::Failed(reason) => reason,
        }
    }
}

//! The lines of the files that this library writes and the command's tools read: one JSON object each.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

pub use crate::device::Lane;

/// One execution of a SCoP: a line of `POLLYRS_RT_PROFILE`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ExecutionLine {
    pub scop: String,
    pub at: String,
    /// `cuda`, `emulated` or `host`.
    pub device: Cow<'static, str>,
    /// Launches.
    pub kernels: u64,
    pub kernel_ms: f64,
    /// Before the first copy.
    pub setup_ms: f64,
    /// Integers that were looked at ahead of the execution; not part of the total.
    #[serde(skip_serializing_if = "is_no_time")]
    pub inspect_ms: f64,
    pub total_ms: f64,
    pub bytes_to_device: u64,
    pub bytes_to_host: u64,
    /// Of a job whose processes share work, which one this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// Devices that shared launches, if several did, and what moved between these.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub devices: usize,
    #[serde(skip_serializing_if = "is_zero")]
    pub bytes_between_devices: u64,
    /// What each of these did, where it is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lanes: Vec<Lane>,
    /// Kernels were compiled later than this execution, and plain ones took their place: what became of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<String>,
    /// Microseconds from 1970 to the beginning of the execution.
    pub start_us: u64,
    /// The process, and a number for the thread that ran it.
    pub process: u32,
    pub thread: u64,
    /// No execution: results of earlier ones came back when the program wanted them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub release: bool,
    /// Why the original loop ran; only with device `host`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether a check failed.
    #[serde(skip)]
    pub refused: bool,
}

impl ExecutionLine {
    /// The original loop ran.
    pub fn on_host(&self) -> bool {
        self.device == "host"
    }

    /// What is left of the time without setup and kernels: transfers and launches.
    pub fn transfer_ms(&self) -> f64 {
        (self.total_ms - self.setup_ms - self.kernel_ms).max(0.0)
    }

    /// Both ways.
    pub fn bytes(&self) -> u64 {
        self.bytes_to_device + self.bytes_to_host
    }
}

fn one() -> usize {
    1
}

fn is_one(devices: &usize) -> bool {
    *devices == 1
}

fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

fn is_no_time(ms: &f64) -> bool {
    *ms == 0.0
}

/// What both sides of an execution computed: a line of `POLLYRS_RT_COMPARE`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ComparisonLine {
    pub scop: String,
    pub at: String,
    pub device: Cow<'static, str>,
    /// Compared, of all arrays.
    pub elements: u64,
    pub differences: Vec<Difference>,
}

/// An array with elements that are not the same on both sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Difference {
    pub array: String,
    pub element_bytes: usize,
    /// How many are.
    pub different: u64,
    /// The number of the first different one, counted from that with all subscripts 0.
    pub element: i64,
    /// Its bytes in hexadecimal digits, in the order of their addresses.
    pub host: String,
    pub on_device: String,
    /// The largest relative difference, if elements are as large as floating-point numbers and all that
    /// differ are finite ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest: Option<f64>,
}

//! Reports: one JSON line for each execution of a versioned SCoP, text for humans, and a summary at exit.
//!
//! A line goes out in one `write` to a file opened for appending, so that threads and processes may share the file. The
//! file is opened anew for each line: a program that closes all descriptors (a daemon) must not get the profile in its own
//! files. Example:
//!
//! ```text
//! {"scop":"kernel_gemm#0","at":"gemm.c:85","device":"cuda","kernels":1,"kernel_ms":0.31,"total_ms":2.9,
//!  "bytes_to_device":24000000,"bytes_to_host":8000000}
//! {"scop":"kernel_gemm#0","at":"gemm.c:85","device":"host","kernels":0,"kernel_ms":0.0,"total_ms":71.2,
//!  "bytes_to_device":0,"bytes_to_host":0,"reason":"offloading is switched off (POLLYRS_RT_DEVICE=off)"}
//! ```
//!
//! Times are in milliseconds; `total_ms` is the time between begin and end, transfers and waiting included.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use serde::Serialize;

use crate::abi::{ABI_VERSION, Scop};
use crate::config::Config;

/// One execution.
#[derive(Debug, Serialize)]
pub struct Line {
    pub scop: String,
    pub at: String,
    /// `cuda`, `emulated` or `host`.
    pub device: &'static str,
    /// Launches.
    pub kernels: u64,
    pub kernel_ms: f64,
    pub total_ms: f64,
    pub bytes_to_device: u64,
    pub bytes_to_host: u64,
    /// Why the original loop ran; only with device `host`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Line {
    /// A line about an execution of the original loop.
    pub fn host(scop: &Scop, reason: String, total_ms: f64) -> Line {
        // A descriptor of another version can't be read beyond its version.
        let known = scop.abi_version == ABI_VERSION;
        let (name, at) = if known { (scop.name(), scop.at()) } else { ("?".into(), "".into()) };
        Line {
            scop: name.into_owned(),
            at: at.into_owned(),
            device: "host",
            kernels: 0,
            kernel_ms: 0.0,
            total_ms,
            bytes_to_device: 0,
            bytes_to_host: 0,
            reason: Some(reason),
        }
    }

    fn text(&self) -> String {
        let place = if self.at.is_empty() { String::new() } else { format!(" ({})", self.at) };
        match &self.reason {
            Some(reason) => {
                format!("pollyrs: {}{place}: host, {:.3} ms: {reason}", self.scop, self.total_ms)
            }
            None => format!(
                "pollyrs: {}{place}: {}, {:.3} ms, {} launches {:.3} ms, {} bytes in, {} bytes out",
                self.scop,
                self.device,
                self.total_ms,
                self.kernels,
                self.kernel_ms,
                self.bytes_to_device,
                self.bytes_to_host
            ),
        }
    }
}

/// Reports one execution as the settings ask.
pub fn report(config: &Config, line: &Line) {
    if let Some(path) = &config.profile {
        append(path, line);
    }
    if config.verbose {
        // A closed stderr is no reason to stop the program, as `eprintln` would.
        let _ = writeln!(std::io::stderr(), "{}", line.text());
        summarise(line);
    }
}

fn append(path: &Path, line: &Line) {
    static COMPLAINED: AtomicBool = AtomicBool::new(false);
    let write = || -> std::io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        let written = OpenOptions::new().append(true).create(true).open(path)?.write(&text)?;
        if written == text.len() { Ok(()) } else { Err(std::io::ErrorKind::WriteZero.into()) }
    };
    if let Err(error) = write()
        && !COMPLAINED.swap(true, Ordering::Relaxed)
    {
        let _ = writeln!(std::io::stderr(), "pollyrs: can't write the profile {}: {error}", path.display());
    }
}

/// Sums over the executions of one SCoP on one device.
#[derive(Clone, Copy, Default)]
struct Totals {
    executions: u64,
    kernels: u64,
    kernel_ms: f64,
    total_ms: f64,
}

static TOTALS: Mutex<BTreeMap<(String, &'static str), Totals>> = Mutex::new(BTreeMap::new());

fn summarise(line: &Line) {
    static REGISTER: Once = Once::new();
    REGISTER.call_once(|| {
        // SAFETY: a C function of the process; the handler has the right type and lives as long as this library.
        unsafe { atexit(print_summary) };
    });
    let mut totals = TOTALS.lock().unwrap_or_else(PoisonError::into_inner);
    let total = totals.entry((line.scop.clone(), line.device)).or_default();
    total.executions += 1;
    total.kernels += line.kernels;
    total.kernel_ms += line.kernel_ms;
    total.total_ms += line.total_ms;
}

unsafe extern "C" {
    fn atexit(handler: extern "C" fn()) -> c_int;
}

extern "C" fn print_summary() {
    // Another thread may hold the lock for ever, in a forked child for one: then no summary.
    let Ok(totals) = TOTALS.try_lock() else { return };
    let mut text = String::from("pollyrs: summary\n");
    for ((scop, device), total) in totals.iter() {
        text += &format!(
            "pollyrs:   {scop}: {device}: {} executions, {:.3} ms, {} launches {:.3} ms\n",
            total.executions, total.total_ms, total.kernels, total.kernel_ms
        );
    }
    let _ = std::io::stderr().write_all(text.as_bytes());
}

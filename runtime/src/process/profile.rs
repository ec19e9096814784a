//! Reports: one JSON line for each execution of a versioned SCoP, text for humans, and a summary at exit.
//!
//! A line goes out in one `write` to a file opened for appending, so that threads and processes may share the
//! file. The file is opened anew for each line: a program that closes all descriptors (a daemon) must not get
//! the profile in its own files. Example:
//!
//! ```text
//! {"scop":"kernel_gemm#0","at":"gemm.c:85","device":"cuda","kernels":1,"kernel_ms":0.31,"setup_ms":0.01,"total_ms":1.1,
//! "bytes_to_device":24000000,"bytes_to_host":8000000,"start_us":1763750000000000,"process":7,"thread":1}
//! {"scop":"kernel_gemm#0","at":"gemm.c:85","device":"host","kernels":0,"kernel_ms":0.0,"setup_ms":0.0,"total_ms":71.2,
//! "bytes_to_device":0,"bytes_to_host":0,"start_us":1763750000002000,"process":7,"thread":1,
//! "reason":"offloading is switched off (POLLYRS_RT_DEVICE=off)"}
//! ```
//!
//! A line with `"release":true` is about results that had stayed on the device and came back later
//! ([`crate::activation`]).
//!
//! `rank` is the process's number in a job whose processes share work ([`crate::hosts`]). Where several
//! devices shared launches, `devices` says how many, `bytes_between_devices` what moved between these, and
//! `lanes` what each did when.
//!
//! Times are in milliseconds; `total_ms` is the time between begin and end, transfers and waiting included;
//! `setup_ms` is what passed before the first copy: the start of the driver, the loading of the code,
//! allocations. What remains when setup and kernels are taken off went into transfers and launches; the
//! summary calls it transfers and gives its rate.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;

use crate::base::abi::Scop;
use crate::base::config::Config;
use crate::hosts;
use crate::process::lines::ExecutionLine;

/// Numbers threads in the order of their first reports.
fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local!(static NUMBER: u64 = NEXT.fetch_add(1, Ordering::Relaxed));
    NUMBER.try_with(|number| *number).unwrap_or(0)
}

impl ExecutionLine {
    /// A line about an execution that began at `start`, with nothing but that filled in.
    pub fn of(scop: &Scop, start: Instant) -> ExecutionLine {
        // A descriptor of another version can't be read beyond its version.
        let (name, at) = if scop.understood() { (scop.name(), scop.at()) } else { ("?".into(), "".into()) };
        ExecutionLine::named(name.into_owned(), at.into_owned(), start)
    }

    fn named(scop: String, at: String, start: Instant) -> ExecutionLine {
        let ago = start.elapsed();
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        ExecutionLine {
            scop,
            at,
            device: "host".into(),
            kernels: 0,
            kernel_ms: 0.0,
            setup_ms: 0.0,
            inspect_ms: 0.0,
            total_ms: 0.0,
            bytes_to_device: 0,
            bytes_to_host: 0,
            rank: hosts::rank(),
            devices: 1,
            bytes_between_devices: 0,
            lanes: Vec::new(),
            late: None,
            start_us: since.saturating_sub(ago).as_micros() as u64,
            process: std::process::id(),
            thread: thread_number(),
            release: false,
            reason: None,
            refused: false,
        }
    }

    /// A line about an execution of the original loop.
    pub fn host(scop: &Scop, start: Instant, reason: String) -> ExecutionLine {
        let total_ms = start.elapsed().as_secs_f64() * 1e3;
        ExecutionLine { total_ms, reason: Some(reason), ..ExecutionLine::of(scop, start) }
    }

    /// A line about an execution of a copy of a loop that never runs on the device.
    pub fn kept(function: &str, at: &str, start: Instant, reason: String) -> ExecutionLine {
        let total_ms = start.elapsed().as_secs_f64() * 1e3;
        ExecutionLine {
            total_ms,
            reason: Some(reason),
            ..ExecutionLine::named(function.to_owned(), at.to_owned(), start)
        }
    }

    /// A line about results of a SCoP that came back after its executions.
    pub fn returned(scop: &Scop, device: &'static str, start: Instant, bytes_to_host: u64) -> ExecutionLine {
        let total_ms = start.elapsed().as_secs_f64() * 1e3;
        ExecutionLine {
            device: device.into(),
            total_ms,
            bytes_to_host,
            release: true,
            ..ExecutionLine::of(scop, start)
        }
    }

    fn text(&self) -> String {
        let place = if self.at.is_empty() { String::new() } else { format!(" ({})", self.at) };
        match &self.reason {
            Some(reason) => {
                format!("pollyrs: {}{place}: host, {:.3} ms: {reason}", self.scop, self.total_ms)
            }
            None if self.release => format!(
                "pollyrs: {}{place}: {}, {:.3} ms, {} bytes out on demand",
                self.scop, self.device, self.total_ms, self.bytes_to_host
            ),
            None => format!(
                "pollyrs: {}{place}: {}{}, {:.3} ms, {} launches {:.3} ms, {} bytes in, {} bytes out{}",
                self.scop,
                self.device,
                if self.devices > 1 { format!(" x {}", self.devices) } else { String::new() },
                self.total_ms,
                self.kernels,
                self.kernel_ms,
                self.bytes_to_device,
                self.bytes_to_host,
                match self.bytes_between_devices {
                    0 => String::new(),
                    bytes => format!(", {bytes} bytes between devices"),
                }
            ),
        }
    }
}

/// A SCoP with its place, as tools show it.
pub fn title(scop: &Scop) -> String {
    // A descriptor of another version can't be read beyond its version.
    if !scop.understood() {
        return "?".into();
    }
    match (scop.name(), scop.at()) {
        (name, at) if at.is_empty() => name.into_owned(),
        (name, at) => format!("{name} ({at})"),
    }
}

/// `POLLYRS_RT_VERBOSE`: that a long execution gets on, a line a second.
pub struct Progress {
    start: Instant,
    told: Instant,
}

impl Progress {
    const INTERVAL: Duration = Duration::from_secs(1);

    pub fn since(start: Instant) -> Progress {
        Progress { start, told: start }
    }

    /// So many launches were made; the device is at most some graphs behind.
    pub fn tell(&mut self, scop: &Scop, launches: u64) {
        let now = Instant::now();
        if now - self.told < Progress::INTERVAL {
            return;
        }
        self.told = now;
        let seconds = (now - self.start).as_secs_f64();
        let _ =
            writeln!(std::io::stderr(), "pollyrs: {}: {launches} launches in {seconds:.1} s", title(scop));
    }
}

/// Reports one execution as the settings ask.
pub fn report(config: &Config, line: &ExecutionLine) {
    if let Some(path) = &config.profile {
        append(path, line);
    }
    if config.verbose {
        // A closed stderr is no reason to stop the program, as `eprintln` would.
        let _ = writeln!(std::io::stderr(), "{}", line.text());
        summarise(line);
    }
}

/// Appends a line of JSON to a file.
pub fn append(path: &Path, line: &impl Serialize) {
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
    runs: u64,
    launches: u64,
    kernel_ms: f64,
    setup_ms: f64,
    total_ms: f64,
    bytes_in: u64,
    bytes_out: u64,
}

/// By SCoP and device.
type Table = BTreeMap<(String, Cow<'static, str>), Totals>;

/// Executions of a SCoP that were refused one after the other, and the most that were; why the last one of
/// these was.
#[derive(Clone, Default)]
struct Refusals {
    now: u64,
    most: u64,
    reason: String,
}

/// By SCoP and place.
type Refused = BTreeMap<(String, String), Refusals>;

/// A SCoP that is refused as often as this in a row is said to be.
const OFTEN: u64 = 10;

static TOTALS: Mutex<(Table, Refused)> = Mutex::new((BTreeMap::new(), BTreeMap::new()));

fn summarise(line: &ExecutionLine) {
    static REGISTER: Once = Once::new();
    REGISTER.call_once(|| {
        // SAFETY: a C function of the process; the handler has the right type and lives as long as this
        // library.
        unsafe { atexit(print_summary) };
    });
    let mut known = TOTALS.lock().unwrap_or_else(PoisonError::into_inner);
    let (totals, refused) = &mut *known;
    count_refusals(refused, line);
    let total = totals.entry((line.scop.clone(), line.device.clone())).or_default();
    total.runs += u64::from(!line.release);
    total.launches += line.kernels;
    total.kernel_ms += line.kernel_ms;
    total.setup_ms += line.setup_ms;
    total.total_ms += line.total_ms;
    total.bytes_in += line.bytes_to_device;
    total.bytes_out += line.bytes_to_host;
}

fn count_refusals(refused: &mut Refused, line: &ExecutionLine) {
    if line.release {
        return;
    }
    let own = (line.scop.clone(), line.at.clone());
    if !line.refused {
        if let Some(known) = refused.get_mut(&own) {
            known.now = 0;
        }
        return;
    }
    let known = refused.entry(own).or_default();
    known.now += 1;
    if known.now >= known.most {
        known.most = known.now;
        known.reason = line.reason.clone().unwrap_or_default();
    }
}

unsafe extern "C" {
    fn atexit(handler: extern "C" fn()) -> c_int;
}

extern "C" fn print_summary() {
    // Another thread may hold the lock for ever, in a forked child for one: then no summary.
    let Ok(known) = TOTALS.try_lock() else { return };
    let text = summary(&known.0) + &often(&known.1);
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// A line for each SCoP that was refused again and again.
fn often(refused: &Refused) -> String {
    let mut text = String::new();
    for ((scop, at), known) in refused.iter().filter(|(_, known)| known.most >= OFTEN) {
        let place = if at.is_empty() { String::new() } else { format!(" ({at})") };
        text += &format!(
            "pollyrs: {scop}{place} was refused {} times in a row, the last time because: {}\n",
            known.most, known.reason
        );
    }
    text
}

/// The table at exit. An example:
///
/// ```text
/// pollyrs: summary, times in ms
/// pollyrs:   SCoP           where  runs  launches   kernels  transfers     setup      total     MB in    MB
/// out    GB/s pollyrs:   kernel_gemm#0  cuda      5         5     1.550      4.020   190.300    195.870
/// 120.0      40.0   39.80 pollyrs:   kernel_init#1  host      1         0         -          -         -
/// 12.010         -         -       -
/// ```
fn summary(totals: &Table) -> String {
    let width = totals.keys().map(|(scop, _)| scop.chars().count()).max().unwrap_or(0).max(4);
    let mut text = format!(
        "pollyrs: summary, times in ms\npollyrs:   {:width$}  {:8} {:>6} {:>9} {:>11} {:>11} {:>11} {:>11} {:>10} {:>10} {:>7}\n",
        "SCoP",
        "where",
        "runs",
        "launches",
        "kernels",
        "transfers",
        "setup",
        "total",
        "MB in",
        "MB out",
        "GB/s"
    );
    for ((scop, device), total) in totals {
        let Totals { runs, launches, kernel_ms, setup_ms, total_ms, bytes_in, bytes_out } = *total;
        text += &format!("pollyrs:   {scop:width$}  {device:8} {runs:>6} {launches:>9} ");
        if *device == "host" {
            text += &format!(
                "{:>11} {:>11} {:>11} {total_ms:>11.3} {:>10} {:>10} {:>7}\n",
                "-", "-", "-", "-", "-", "-"
            );
            continue;
        }
        let (bytes, transfer_ms) = (bytes_in + bytes_out, (total_ms - setup_ms - kernel_ms).max(0.0));
        let rate = if bytes > 0 && transfer_ms > 0.0 { bytes as f64 / transfer_ms / 1e6 } else { 0.0 };
        text += &format!(
            "{kernel_ms:>11.3} {transfer_ms:>11.3} {setup_ms:>11.3} {total_ms:>11.3} {:>10.1} {:>10.1} {rate:>7.2}\n",
            bytes_in as f64 / 1e6,
            bytes_out as f64 / 1e6
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_in_a_row_are_told() {
        let mut refused = Refused::new();
        let start = Instant::now();
        let mut runs = |count: usize, name: &str, refusal: bool| {
            for n in 0..count {
                let line = ExecutionLine::kept(name, "a.c:3", start, format!("n = {n} < 4"));
                count_refusals(&mut refused, &ExecutionLine { refused: refusal, ..line });
            }
        };
        runs(9, "seldom", true);
        runs(1, "seldom", false);
        runs(9, "seldom", true);
        runs(3, "often", true);
        runs(1, "often", false);
        runs(12, "often", true);
        runs(2, "often", false);
        runs(20, "never", false);
        let expected =
            "pollyrs: often (a.c:3) was refused 12 times in a row, the last time because: n = 11 < 4\n";
        assert_eq!(often(&refused), expected);
    }

    #[test]
    fn summary_table() {
        let cuda = Totals {
            runs: 5,
            launches: 5,
            kernel_ms: 1.5,
            setup_ms: 190.0,
            total_ms: 195.5,
            bytes_in: 120_000_000,
            bytes_out: 40_000_000,
        };
        let host = Totals { runs: 1, total_ms: 12.01, ..Totals::default() };
        let table = Table::from([
            (("kernel_gemm#0".into(), "cuda".into()), cuda),
            (("é#1".into(), "host".into()), host),
        ]);
        let expected = "\
pollyrs: summary, times in ms
pollyrs:   SCoP           where      runs  launches     kernels   transfers       setup       total      MB in     MB out    GB/s
pollyrs:   kernel_gemm#0  cuda          5         5       1.500       4.000     190.000     195.500      120.0       40.0   40.00
pollyrs:   é#1            host          1         0           -           -           -      12.010          -          -       -
";
        assert_eq!(summary(&table), expected);
    }
}

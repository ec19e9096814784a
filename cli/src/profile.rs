//! `pollyrs profile`: runs a program and shows where its loop nests ran, and what took how long.
//!
//! The run-time library writes one JSON line an execution (`POLLYRS_RT_PROFILE`). From these come a table,
//! and a page with a timeline ([`page`]) or a drawing of that ([`drawing`]). Both are made of what there is,
//! also where the program is interrupted.
//!
//! The library measures when an execution began, and how long its setup, its kernels and all of it took. The
//! rest went into transfers and waiting; the page shows it before and after the kernels in proportion to the
//! bytes each way.

mod drawing;
mod page;

use crate::interrupt;
use pollyrs_rt::lines::ExecutionLine;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

/// The program and its arguments.
#[derive(Debug, clap::Args)]
pub struct ProfileArgs {
    /// Write the timeline to this file: a page that zooms, or, named FILE.svg, a drawing
    #[arg(short, long, value_name = "FILE.html")]
    output: Option<PathBuf>,
    /// Only show a profile that POLLYRS_RT_PROFILE has written: no program is run
    #[arg(long, value_name = "FILE", conflicts_with = "program")]
    read: Option<PathBuf>,
    /// The program, and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required_unless_present = "read")]
    program: Vec<OsString>,
}

/// What stops a profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// Files.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The page's figures.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The program did not start.
    #[error("cannot run '{program}': {source}")]
    Spawn {
        /// The program.
        program: String,
        /// Why.
        source: std::io::Error,
    },
}

/// Runs the program, or reads a profile; the result is the program's exit status.
pub fn run(args: &ProfileArgs) -> Result<u8, ProfileError> {
    let file = tempfile::NamedTempFile::new()?;
    let (path, status) = match (&args.read, args.program.split_first()) {
        (Some(path), _) => (path.clone(), 0),
        (None, Some((program, words))) => {
            interrupt::listen();
            let status =
                Command::new(program).args(words).env("POLLYRS_RT_PROFILE", file.path()).status().map_err(
                    |source| ProfileError::Spawn { program: program.to_string_lossy().into_owned(), source },
                )?;
            (file.path().to_owned(), crate::driver::exit_byte(status))
        }
        (None, None) => return Ok(2),
    };
    let lines = read(&fs_err::read_to_string(path)?);
    crate::output::tell(&table(&lines, interrupt::happened()));
    if let Some(output) = &args.output {
        let is_drawing = output.extension().is_some_and(|e| e.eq_ignore_ascii_case("svg"));
        fs_err::write(output, if is_drawing { drawing::drawing(&lines) } else { page::page(&lines)? })?;
        crate::output::tell(&format!("timeline: {}\n", output.display()));
    }
    Ok(status)
}

/// The lines that are whole: a program that was killed may leave half of one.
fn read(text: &str) -> Vec<ExecutionLine> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Sums over the executions of one SCoP on one device.
#[derive(Default)]
struct Total {
    at: String,
    runs: u64,
    launches: u64,
    kernel_ms: f64,
    transfer_ms: f64,
    setup_ms: f64,
    total_ms: f64,
    bytes_in: u64,
    bytes_out: u64,
    reasons: BTreeMap<String, u64>,
}

impl Total {
    /// GB/s of the transfers.
    fn rate(&self) -> Option<f64> {
        let bytes = self.bytes_in + self.bytes_out;
        (bytes > 0 && self.transfer_ms > 0.0).then(|| bytes as f64 / self.transfer_ms / 1e6)
    }
}

fn totals(lines: &[ExecutionLine]) -> Vec<((String, String), Total)> {
    let mut totals: BTreeMap<(String, String), Total> = BTreeMap::new();
    for line in lines {
        let total = totals.entry((line.scop.clone(), line.device.to_string())).or_default();
        total.at.clone_from(&line.at);
        total.runs += u64::from(!line.release);
        total.launches += line.kernels;
        total.kernel_ms += line.kernel_ms;
        total.transfer_ms += if line.on_host() { 0.0 } else { line.transfer_ms() };
        total.setup_ms += line.setup_ms;
        total.total_ms += line.total_ms;
        total.bytes_in += line.bytes_to_device;
        total.bytes_out += line.bytes_to_host;
        if let Some(reason) = &line.reason {
            // Numbers differ from one execution to the next.
            let reason = reason.split(':').next().unwrap_or(reason);
            *total.reasons.entry(reason.to_owned()).or_default() += 1;
        }
    }
    let mut totals: Vec<_> = totals.into_iter().collect();
    totals.sort_by(|a, b| b.1.total_ms.total_cmp(&a.1.total_ms));
    totals
}

/// `interrupted`: an execution that had begun is not among the lines.
fn table(lines: &[ExecutionLine], interrupted: bool) -> String {
    if lines.is_empty() && interrupted {
        return "pollyrs: interrupted before an execution of a loop nest had ended\n".to_owned();
    }
    if lines.is_empty() {
        return "pollyrs: no loop nest of the program was reached that could be offloaded (pollyrs report FILE tells why)\n".to_owned();
    }
    let totals = totals(lines);
    let width = totals.iter().map(|((scop, _), _)| scop.chars().count()).max().unwrap_or(0).max(9);
    let mut text = format!(
        "{:width$}  {:8} {:>7} {:>8} {:>11} {:>11} {:>10} {:>11} {:>9} {:>9} {:>7}  place\n",
        "loop nest",
        "where",
        "runs",
        "launches",
        "kernels ms",
        "transf. ms",
        "setup ms",
        "total ms",
        "MB in",
        "MB out",
        "GB/s"
    );
    for ((scop, device), t) in &totals {
        let rate = t.rate().map_or("-".to_owned(), |r| format!("{r:.2}"));
        let _ = writeln!(
            text,
            "{scop:width$}  {device:8} {:>7} {:>8} {:>11.3} {:>11.3} {:>10.3} {:>11.3} {:>9.1} {:>9.1} {rate:>7}  {}",
            t.runs,
            t.launches,
            t.kernel_ms,
            t.transfer_ms,
            t.setup_ms,
            t.total_ms,
            t.bytes_in as f64 / 1e6,
            t.bytes_out as f64 / 1e6,
            t.at
        );
        for (reason, count) in &t.reasons {
            let _ = writeln!(text, "{:width$}    {count} × {reason}", "");
        }
    }
    text
}

/// What executions took, by loop nest and place (`file.c:5`, without folders), in words.
pub fn times(text: &str) -> BTreeMap<(String, String), String> {
    let mut all: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for ((scop, device), t) in totals(&read(text)) {
        let place = t.at.rsplit('/').next().unwrap_or_default().to_owned();
        let runs = if t.runs == 1 { "1 run".to_owned() } else { format!("{} runs", t.runs) };
        let parts = match device.as_str() {
            "host" => String::new(),
            _ => format!(" (kernels {:.3} ms, transfers {:.3} ms)", t.kernel_ms, t.transfer_ms),
        };
        let line = format!(
            "{runs} on {}, {:.3} ms{parts}",
            if device == "host" { "the CPU" } else { &device },
            t.total_ms
        );
        all.entry((scop, place)).or_default().push(line);
    }
    all.into_iter().map(|(key, lines)| (key, lines.join("; "))).collect()
}

/// What a stretch of time was spent on: name and colour.
const HOST: (&str, &str) = ("original loop", "#8a8f98");
const SETUP: (&str, &str) = ("setup", "#d9a441");
const TO_DEVICE: (&str, &str) = ("to the device", "#4a90d9");
const KERNELS: (&str, &str) = ("kernels", "#3fa45b");
const TO_HOST: (&str, &str) = ("to the host", "#9a5fc9");
/// The parts of an execution, in their order, with milliseconds and bytes.
fn stretches(line: &ExecutionLine) -> Vec<((&'static str, &'static str), f64, u64)> {
    if line.on_host() {
        return vec![(HOST, line.total_ms, 0)];
    }
    let share = if line.bytes() > 0 { line.bytes_to_device as f64 / line.bytes() as f64 } else { 0.0 };
    let transfers = line.transfer_ms();
    let parts = [
        (SETUP, line.setup_ms, 0),
        (TO_DEVICE, transfers * share, line.bytes_to_device),
        (KERNELS, line.kernel_ms, 0),
        (TO_HOST, transfers * (1.0 - share), line.bytes_to_host),
    ];
    parts.into_iter().filter(|(_, ms, _)| *ms > 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) const LINES: &str = r#"{"scop":"gemm#0","at":"a<b>.c:3","device":"cuda","kernels":2,"kernel_ms":1.0,"setup_ms":2.0,"total_ms":6.0,"bytes_to_device":3000000,"bytes_to_host":1000000,"start_us":1000,"process":1,"thread":1}
{"scop":"gemm#0","at":"a<b>.c:3","device":"cuda","kernels":0,"kernel_ms":0,"setup_ms":0,"total_ms":1.0,"bytes_to_device":0,"bytes_to_host":1000000,"start_us":9000,"process":1,"thread":1,"release":true}
{"scop":"init#0","at":"","device":"host","kernels":0,"kernel_ms":0,"setup_ms":0,"total_ms":0.5,"bytes_to_device":0,"bytes_to_host":0,"start_us":8000,"process":1,"thread":2,"reason":"not worth a transfer: x"}
{"scop":"half"#;

    #[test]
    fn sums_by_scop_and_device() {
        let lines = read(LINES);
        assert_eq!(lines.len(), 3);
        let totals = totals(&lines);
        let (key, gemm) = &totals[0];
        assert_eq!((key.0.as_str(), key.1.as_str()), ("gemm#0", "cuda"));
        assert_eq!((gemm.runs, gemm.launches, gemm.bytes_in, gemm.bytes_out), (1, 2, 3_000_000, 2_000_000));
        assert!((gemm.transfer_ms - 4.0).abs() < 1e-9);
        let text = table(&lines, false);
        assert!(text.contains("1 × not worth a transfer\n") && !text.contains("half"), "{text}");
        // 5 MB in 4 ms; nothing was moved for the original loop.
        let rates: Vec<&str> =
            text.lines().skip(1).filter_map(|line| line.split_whitespace().nth(10)).collect();
        assert_eq!(rates, ["1.25", "-"], "{text}");
    }

    #[test]
    fn times_belong_to_a_loop_nest_and_its_place() {
        let times = times(LINES);
        let gemm = times.get(&("gemm#0".to_owned(), "a<b>.c:3".to_owned())).unwrap();
        assert_eq!(gemm, "1 run on cuda, 7.000 ms (kernels 1.000 ms, transfers 4.000 ms)");
        assert_eq!(times.get(&("init#0".to_owned(), String::new())).unwrap(), "1 run on the CPU, 0.500 ms");
    }

    #[test]
    fn stretches_fill_the_execution() {
        let lines = read(LINES);
        let parts = stretches(&lines[0]);
        assert_eq!(
            parts.iter().map(|p| p.0.0).collect::<Vec<_>>(),
            ["setup", "to the device", "kernels", "to the host"]
        );
        assert!((parts.iter().map(|p| p.1).sum::<f64>() - 6.0).abs() < 1e-9);
        assert!((parts[1].1 - 2.25).abs() < 1e-9);
        assert_eq!(stretches(&lines[2]), [(HOST, 0.5, 0)]);
    }

    #[test]
    fn what_is_said_without_lines() {
        assert!(table(&[], true).contains("interrupted before"));
        assert!(table(&[], false).contains("no loop nest of the program was reached"));
    }
}

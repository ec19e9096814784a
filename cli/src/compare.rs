//! `pollyrs compare`: runs a program, each loop nest on the device and on the CPU, and says where their
//! results differ.
//!
//! The run-time library does it (`POLLYRS_RT_COMPARE`): after each execution on the device the original loop
//! runs as well, and what both have computed is compared byte for byte. The program goes on with the CPU's
//! results, so that each difference is one of its own loop nest.
//!
//! ```text
//! loop nest  where     runs  elements  different  place
//! sum        emulated     3         3          3  sum.c:4
//!   first in execution 1: total[0] is 1024.5 on the CPU and 1024.5000000000002 on the device
//! ```

use pollyrs_rt::lines::{ComparisonLine, Difference};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::process::Command;

/// The program and its arguments.
#[derive(Debug, clap::Args)]
pub struct CompareArgs {
    /// Differences of floating-point numbers up to this part of the larger one do not count (elements of 4
    /// and 8 bytes are taken for numbers); sums that may be regrouped, and functions such as exp, differ in
    /// the last digits
    #[arg(long, value_name = "RATIO", default_value_t = 0.0)]
    tolerance: f64,
    /// The program, and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    program: Vec<OsString>,
}

/// What stops a comparison.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// Files.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The program did not start.
    #[error("cannot run '{program}': {source}")]
    Spawn {
        /// The program.
        program: String,
        /// Why.
        source: std::io::Error,
    },
}

/// Runs the program. The result is its exit status, or 1 if it ended well and results differ.
pub fn run(args: &CompareArgs) -> Result<u8, CompareError> {
    let file = tempfile::NamedTempFile::new()?;
    let Some((program, words)) = args.program.split_first() else { return Ok(2) };
    crate::interrupt::listen();
    let status = Command::new(program)
        .args(words)
        .env("POLLYRS_RT_COMPARE", file.path())
        .env("POLLYRS_RT_OFFLOAD", "always")
        .status()
        .map_err(|source| CompareError::Spawn { program: program.to_string_lossy().into_owned(), source })?;
    let text = fs_err::read_to_string(file.path())?;
    let lines: Vec<ComparisonLine> =
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let (table, same) = table(&lines, args.tolerance);
    crate::output::tell(&table);
    Ok(match crate::driver::exit_byte(status) {
        0 => u8::from(!same),
        status => status,
    })
}

/// Sums over the executions of one loop nest.
#[derive(Default)]
struct Total {
    at: String,
    runs: u64,
    elements: u64,
    different: u64,
    first: Option<(u64, Difference)>,
}

/// The text, and whether all results are the same.
fn table(lines: &[ComparisonLine], tolerance: f64) -> (String, bool) {
    if lines.is_empty() {
        let text = "pollyrs: no loop nest of the program ran on a device, so nothing was compared (pollyrs profile PROGRAM tells why)\n";
        return (text.to_owned(), true);
    }
    let mut totals: BTreeMap<(&str, &str), Total> = BTreeMap::new();
    for line in lines {
        let total = totals.entry((&line.scop, &line.device)).or_default();
        total.at.clone_from(&line.at);
        total.runs += 1;
        total.elements += line.elements;
        for d in line.differences.iter().filter(|d| d.largest.is_none_or(|l| l > tolerance)) {
            total.different += d.different;
            if total.first.is_none() {
                total.first = Some((total.runs, d.clone()));
            }
        }
    }
    let width = totals.keys().map(|(scop, _)| scop.chars().count()).max().unwrap_or(0).max(9);
    let mut text = format!(
        "{:width$}  {:8} {:>7} {:>12} {:>12}  place\n",
        "loop nest", "where", "runs", "elements", "different"
    );
    for ((scop, device), t) in &totals {
        let _ = writeln!(
            text,
            "{scop:width$}  {device:8} {:>7} {:>12} {:>12}  {}",
            t.runs, t.elements, t.different, t.at
        );
        if let Some((run, d)) = &t.first {
            let _ = writeln!(
                text,
                "  first in execution {run}: {}, element {}: {} on the CPU, {} on the device",
                d.array,
                d.element,
                value(&d.host),
                value(&d.on_device)
            );
        }
    }
    let same = totals.values().all(|t| t.different == 0);
    let _ = writeln!(text, "{}", if same { "all results are the same" } else { "results differ" });
    (text, same)
}

/// Bytes as a number where they have the size of one, and as they are: `1.5 (0x3fc00000)`.
fn value(digits: &str) -> String {
    let pairs = digits.as_bytes().chunks(2);
    let bytes: Option<Vec<u8>> =
        pairs.map(|p| u8::from_str_radix(std::str::from_utf8(p).ok()?, 16).ok()).collect();
    let Some(bytes) = bytes else { return digits.to_owned() };
    let hex: String = bytes.iter().rev().map(|b| format!("{b:02x}")).collect();
    if let Ok(number) = bytes.as_slice().try_into().map(f64::from_le_bytes) {
        return format!("{number:?} (0x{hex})");
    }
    match bytes.as_slice().try_into().map(f32::from_le_bytes) {
        Ok(number) => format!("{number:?} (0x{hex})"),
        Err(_) => format!("0x{hex}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_of_a_nest_is_told() {
        let text = r#"{"scop":"f","at":"f.c:3","device":"cuda","elements":8,"differences":[]}
{"scop":"f","at":"f.c:3","device":"cuda","elements":8,"differences":[{"array":"a","element_bytes":8,"different":2,"element":5,"host":"000000000000f83f","on_device":"000000000000f03f","largest":0.3}]}
{"scop":"f","at":"f.c:3","device":"cuda","elements":8,"differences":[{"array":"b","element_bytes":8,"different":1,"element":0,"host":"00","on_device":"01"}]}"#;
        let lines: Vec<ComparisonLine> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        let (text, same) = table(&lines[..2], 0.0);
        assert!(!same && text.contains(" 16 ") && text.contains("f.c:3"), "{text}");
        let first = "first in execution 2: a, element 5: 1.5 (0x3ff8000000000000) on the CPU, 1.0 (0x3ff0000000000000)";
        assert!(text.contains(first), "{text}");
        assert!(table(&lines[..2], 0.5).1, "within the tolerance");
        assert!(!table(&lines, 0.5).1, "what is no number is compared as it is");
        assert!(table(&[], 0.0).0.contains("nothing was compared"));
    }

    #[test]
    fn values_are_numbers_and_bytes() {
        let table = [("0000c03f", "1.5 (0x3fc00000)"), ("0201", "0x0102"), ("zz", "zz")];
        for (digits, want) in table {
            assert_eq!(value(digits), want);
        }
    }
}

//! `pollyrs schedule`: the loop nests of files as their model has them, with the program's order as a
//! schedule of isl's, in a file that `pollyrs cc --tuned` reads. A schedule that was changed there is checked
//! against the dependences, mapped, and proved like any other.

use crate::report::ReportError;
use crate::report::collect::{self, Details};
use pollyrs_tuning::{Choice, Entry, Tuned};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

/// Which schedules are written, and where to.
#[derive(Clone, Debug, clap::Args)]
pub struct ScheduleArgs {
    /// Write to this file, in place of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Source files, and options of the compiler and of pollyrs (as for 'pollyrs cc')
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    args: Vec<OsString>,
}

/// Compiles, and writes what there is; the result is the exit status.
pub fn run(args: &ScheduleArgs) -> Result<u8, ReportError> {
    // '-O3 -o FILE.json x.c': the compiler has no output.
    let (mut words, mut output) = (args.args.clone(), args.output.clone());
    if let Some(at) = words.iter().position(|w| w == "-o").filter(|at| at + 1 < words.len()) {
        output = words.drain(at..at + 2).nth(1).map(PathBuf::from);
    }
    let mut tuned = Tuned::new("");
    for remark in collect::files(&words, Details::Model)? {
        let Some(details) = remark.details else { continue };
        let model = details.model;
        let known = tuned.find(&remark.function, &model.content).is_some();
        if model.original.is_empty() || known {
            continue;
        }
        let options = Choice::from([("schedule".to_owned(), model.original.clone())]);
        let (function, content, scop) = (remark.function, model.content.clone(), details.scop);
        let (ms, model_ms, launches) = (None, None, 0);
        tuned.entries.push(Entry {
            function,
            content,
            scop,
            options,
            ms,
            model_ms,
            launches,
            model: Some(model),
        });
    }
    if tuned.entries.is_empty() {
        eprintln!("pollyrs: no loop nest is offloaded ('pollyrs report' tells why)");
    }
    let text = tuned.text()?;
    match &output {
        Some(path) => {
            std::fs::write(path, text).map_err(|source| ReportError::File { path: path.clone(), source })?
        }
        None => match std::io::stdout().write_all(text.as_bytes()) {
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => return Err(e.into()),
            _ => {}
        },
    }
    Ok(0)
}

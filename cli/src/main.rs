//! The `pollyrs` command. Each subcommand is a module of its own with a `run` function that returns the
//! process's exit status; this file only parses the first word and prints errors.

mod advice;
mod cache;
mod compare;
mod doctor;
mod driver;
mod explain;
mod generate;
mod interrupt;
mod names;
mod output;
mod profile;
mod report;
mod schedule;
mod show;
mod tune;

use cache::CacheArgs;
use clap::{CommandFactory, Parser, Subcommand};
use compare::CompareArgs;
use doctor::DoctorArgs;
use driver::{DriverArgs, Mode};
use explain::ExplainArgs;
use generate::GenerateArgs;
use profile::ProfileArgs;
use report::ReportArgs;
use schedule::ScheduleArgs;
use show::ShowArgs;
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;
use tune::TuneArgs;

/// Compiles affine loop nests for NVIDIA GPUs.
#[derive(Debug, Parser)]
#[command(name = "pollyrs", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compile or link; the compiler (clang, clang++ or flang) follows from the kinds of the input files
    #[command(disable_help_flag = true)]
    Cc(DriverArgs),
    /// Compile or link with clang++
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(DriverArgs),
    /// Compile or link with flang
    #[command(disable_help_flag = true)]
    Fc(DriverArgs),
    /// Tell what happens to each loop of files or of a build, why, and what to do about it
    Report(ReportArgs),
    /// Explain the code of a remark, such as PRS106
    Explain(ExplainArgs),
    /// Run a program and show where its loops ran and how long they took
    Profile(ProfileArgs),
    /// Run a program with each loop nest on both sides, and say where device and CPU have different results
    Compare(CompareArgs),
    /// Write the schedules of files' loop nests, to look at or to change, for 'pollyrs cc --tuned'
    Schedule(ScheduleArgs),
    /// Draw the time tiles of a file's stencils
    Show(ShowArgs),
    /// Measure other choices than the model's on the device, and write the best to a file that later
    /// compilations read
    Tune(TuneArgs),
    /// Check compilers, driver, device and limits of this machine
    Doctor(DoctorArgs),
    /// Show how much device code is kept from build to build, and where, or remove it
    Cache(CacheArgs),
    /// Write manual pages and shell completions
    #[command(hide = true)]
    Generate(GenerateArgs),
}

/// What links to the executable stand for: `pollyrs-cc` for `pollyrs cc`, for tools that take no compiler of
/// two words.
const LINKS: [(&str, &str); 3] = [("pollyrs-cc", "cc"), ("pollyrs-c++", "c++"), ("pollyrs-fc", "fc")];

/// The command line, with the subcommand that the executable's name stands for.
fn words(given: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = given.into_iter().collect();
    let name = words.first().map(Path::new).and_then(Path::file_name).map(OsStr::to_owned);
    if let Some((_, command)) = LINKS.iter().find(|(link, _)| name.as_deref() == Some(OsStr::new(link))) {
        words.insert(1, OsString::from(*command));
    }
    tune::in_order(words)
}

fn main() -> ExitCode {
    let result: Result<u8, Box<dyn Error>> = match Cli::parse_from(words(std::env::args_os())).command {
        Command::Cc(args) => driver::run(Mode::ByInput, &args).map_err(Into::into),
        Command::Cxx(args) => driver::run(Mode::Cxx, &args).map_err(Into::into),
        Command::Fc(args) => driver::run(Mode::Fortran, &args).map_err(Into::into),
        Command::Report(args) => report::run(&args).map_err(Into::into),
        Command::Explain(args) => explain::run(&args).map_err(Into::into),
        Command::Profile(args) => profile::run(&args).map_err(Into::into),
        Command::Compare(args) => compare::run(&args).map_err(Into::into),
        Command::Schedule(args) => schedule::run(&args).map_err(Into::into),
        Command::Show(args) => show::run(&args).map_err(Into::into),
        Command::Tune(args) => tune::run(&args).map_err(Into::into),
        Command::Doctor(args) => Ok(doctor::run(&args)),
        Command::Cache(args) => cache::run(&args).map_err(Into::into),
        Command::Generate(args) => generate::run(&args, Cli::command()).map_err(Into::into),
    };
    match result {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            output::tell(&format!("pollyrs: error: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn words_to_tune_keep_the_dashes_before_the_programs_arguments() {
        let words = ["pollyrs", "tune", "--runs", "5", "-O3", "x.c", "-lm", "--", "2000", "-v"];
        match Cli::try_parse_from(words).map(|c| c.command) {
            Ok(Command::Tune(args)) => {
                let text = format!("{args:?}");
                assert!(text.contains(r#"args: ["-O3", "x.c", "-lm", "--", "2000", "-v"]"#), "{text}");
                assert!(text.contains("runs: 5"), "{text}");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn links_stand_for_commands() {
        let table =
            [("pollyrs", "x"), ("/a/pollyrs-cc", "cc"), ("pollyrs-c++", "c++"), ("./pollyrs-fc", "fc")];
        for (name, first) in table {
            assert_eq!(words([name.into(), "x".into()])[1], *first, "{name}");
        }
    }

    #[test]
    fn compiler_options_pass_through_unparsed() {
        let cli =
            Cli::try_parse_from(["pollyrs", "cc", "-O3", "--version", "-h", "--help", "a.c", "-o", "a"]);
        match cli.map(|c| c.command) {
            Ok(Command::Cc(args)) => {
                assert_eq!(
                    args.args,
                    ["-O3", "--version", "-h", "--help", "a.c", "-o", "a"].map(Into::into)
                        as [std::ffi::OsString; 7]
                );
            }
            other => panic!("{other:?}"),
        }
    }
}

//! The compiler driver: `pollyrs cc …`.
//!
//! A pass plugin needs three things that an ordinary build does not have: `-fpass-plugin=` (and options
//! behind `-mllvm`) where IR is optimised, and the run-time library where a program is linked. The driver
//! adds exactly these and passes everything else through in its order, so that `CC="pollyrs cc"` works in any
//! build.
//!
//! Invariants:
//! - a command line without an input file (`--version`, `-print-…`) reaches the compiler as it is;
//! - the plugin is added only if something is compiled, the run-time library only if something is linked;
//! - the run-time library comes after every input, since a linker reads archives in order.
//!
//! Example: `pollyrs cc -O3 a.c --pollyrs-targets=emulated -o a` becomes `clang-22
//! -fpass-plugin=…/libpollyrs.so -mllvm -pollyrs-targets=emulated -O3 a.c -o a …/libpollyrs_rt.a -lpthread
//! -lm …`.

mod command;
mod inputs;
pub mod install;
mod options;
mod response;

use crate::output;
pub use command::Compiler;
use install::Install;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Command;

/// Which compiler the user asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `pollyrs cc`: by the inputs' kinds.
    ByInput,
    /// `pollyrs c++`.
    Cxx,
    /// `pollyrs fc`.
    Fortran,
}

/// The untouched words after the subcommand.
#[derive(Debug, clap::Args)]
pub struct DriverArgs {
    /// Options of pollyrs (see --pollyrs-help) and of the compiler, and input files
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<OsString>,
}

/// What can stop the driver before the compiler runs.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// A `--pollyrs-…` option that does not exist.
    #[error("unknown option '{0}' (pollyrs cc --pollyrs-help lists all)")]
    UnknownOption(String),
    /// An option with a missing or malformed value.
    #[error("option '{option}' needs {needs}")]
    BadValue {
        /// The option's name.
        option: &'static str,
        /// What the value has to be.
        needs: &'static str,
    },
    /// flang compiles nothing but Fortran, clang everything but.
    #[error(
        "Fortran and C or C++ inputs in one command: compile them with -c, then link the objects with 'pollyrs fc'"
    )]
    MixedFortran,
    /// The plugin or the run-time library is not where the executable is.
    #[error("{name} is neither beside the pollyrs executable ({dir}) nor in ../lib")]
    NotInstalled {
        /// File name looked for.
        name: &'static str,
        /// The executable's folder.
        dir: String,
    },
    /// A response file that cannot be read.
    #[error("response file '{path}': {source}")]
    Response {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Response files that include one another.
    #[error("response files nest deeper than {0} levels")]
    ResponseDepth(usize),
    /// The compiler did not start.
    #[error("cannot run '{program}': {source}")]
    Spawn {
        /// The compiler.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// The executable's own path or a temporary file.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Runs the compiler; the result is its exit status (128 + signal for a killed one, as shells have it).
pub fn run(mode: Mode, args: &DriverArgs) -> Result<u8, DriverError> {
    let words = response::expand(&args.args)?;
    let (options, rest) = options::take(&words)?;
    if options.help {
        output::print(options::HELP)?;
        return Ok(0);
    }
    let install = Install::locate()?;
    let line = command::build(mode, &options, &rest, &install)?;
    if is_idle(&options, &inputs::scan(&rest)) {
        output::tell("pollyrs: warning: nothing is offloaded at -O0, the default: -O1 and above offload\n");
    }
    execute(&line)
}

/// Whether source is compiled in a way in which the plugin does nothing, without anybody's having asked for
/// that.
fn is_idle(options: &options::Options, inputs: &inputs::Inputs) -> bool {
    let disabled = options.plugin.iter().any(|o| o.to_string_lossy().starts_with("-pollyrs-disable"));
    inputs.compiles_source() && !inputs.optimised && !disabled
}

/// Whether words for `pollyrs cc` name a file of tuned choices.
pub fn takes_tuned(words: &[OsString]) -> Result<bool, DriverError> {
    let (options, _) = options::take(&response::expand(words)?)?;
    Ok(options.plugin.iter().any(|o| o.to_string_lossy().starts_with("-pollyrs-tuned=")))
}

/// Longest command line passed as it is; beyond it a response file is written. Linux limits all arguments
/// together to a quarter of the stack limit (2 MiB by default) and the environment counts too.
const MAX_COMMAND_BYTES: usize = 256 * 1024;

fn execute(line: &command::CommandLine) -> Result<u8, DriverError> {
    let program = install::compiler_path(line.compiler);
    let bytes: usize = line.args.iter().map(|a| a.len() + 1).sum();
    let mut command = Command::new(&program);
    // The file has to live until the compiler has ended.
    let _file = if bytes > MAX_COMMAND_BYTES {
        let file = response::write(&line.args)?;
        let mut word = OsString::from("@");
        word.push(file.path());
        command.arg(word);
        Some(file)
    } else {
        command.args(&line.args);
        None
    };
    let status = command
        .status()
        .map_err(|source| DriverError::Spawn { program: program.to_string_lossy().into_owned(), source })?;
    Ok(exit_byte(status))
}

/// As shells have it: 128 + signal for a killed process.
pub fn exit_byte(status: std::process::ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => u8::try_from(code).unwrap_or(1),
        (None, Some(signal)) => u8::try_from(128 + signal).unwrap_or(1),
        (None, None) => 1,
    }
}

//! `pollyrs report`: what happened to each loop nest of files or of a whole build, and what could be done
//! about it.
//!
//! Files are compiled as with `pollyrs cc` and thrown away; a build is run with compilers in front of `PATH`
//! that add the plugin. The plugin writes its remarks to a file (its option `remark-file`), whichever
//! compiler it is in. From these come a text, a page, or JSON.
//!
//! Example, for `for (i = 0; i < n; i++) a[idx[i]] = 0;`:
//!
//! ```text
//! scatter.c: 1 loop nest, 0 offloaded
//!   line  function  result         what
//!      3  scatter   not offloaded  a subscript of a is not affine: it depends on idx [PRS106]
//!
//! scatter.c:3:46: a subscript of a is not affine: it depends on idx [PRS106]
//!     3 | void scatter(...) { for (i = 0; i < n; i++) a[idx[i]] = 0; }
//!       |                                             ^
//!       = help: subscripts have to be sums of loop counters and parameters times constants; ...
//! ```

pub mod collect;
mod estimate;
mod model;
mod page;
mod rust;
mod text;
mod tree;

use clap::ValueEnum;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

/// How much is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Level {
    /// A line for each file
    Summary,
    /// Each loop nest, and what to do about refusals
    #[default]
    Loops,
    /// What is assumed and checked as well, and loops of the standard library
    Everything,
}

/// What to report on.
#[derive(Clone, Debug, clap::Args)]
pub struct ReportArgs {
    /// How much to tell
    #[arg(long, value_enum, default_value_t)]
    pub level: Level,
    /// Write a page: the source with a mark at each loop nest
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// A profile that POLLYRS_RT_PROFILE or 'pollyrs profile' has written: the page and the table tell how
    /// long each loop nest took
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// Write the report as JSON to standard output, in place of text
    #[arg(long)]
    pub json: bool,
    /// The words are a command that builds a project (make, ninja, ...): report on all that it compiles
    #[arg(long)]
    pub build: bool,
    /// Report on all files of a compile_commands.json
    #[arg(long, short = 'p', value_name = "FILE", conflicts_with = "build")]
    pub compile_commands: Option<PathBuf>,
    /// Source files, and options of the compiler and of pollyrs (as for 'pollyrs cc')
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required_unless_present = "compile_commands")]
    pub args: Vec<OsString>,
}

/// What stops a report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file that cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Temporary files, standard output.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A command that does not start.
    #[error("cannot run '{program}': {source}")]
    Spawn {
        /// The command.
        program: String,
        /// Why.
        source: std::io::Error,
    },
    /// The plugin or the run-time library is not beside the command.
    #[error("{0}")]
    Install(String),
    /// The compiler has said why.
    #[error("the compiler failed for {0}")]
    Compiler(String),
    /// The command has said why.
    #[error("the build failed")]
    Build,
    /// A compile_commands.json of another form.
    #[error("{}: {source}", path.display())]
    CompileCommands {
        /// The file.
        path: PathBuf,
        /// What it is not.
        source: serde_json::Error,
    },
    /// A file that is none of Polly's.
    #[error("{}: {source}", path.display())]
    Jscop {
        /// The file.
        path: PathBuf,
        /// What it is not.
        source: serde_json::Error,
    },
    /// No word is a source file.
    #[error("no source file among the words (a command that builds a project needs --build)")]
    NoFile,
    /// A report does not become JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// Options of the report among the words for the compiler, which begin at the first word that is no option of
/// the report: `-O3 --level summary a.c`.
fn own_options(args: &ReportArgs) -> ReportArgs {
    let mut args = args.clone();
    // A command that builds something has options of its own.
    if args.build {
        return args;
    }
    let mut words = std::mem::take(&mut args.args).into_iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy().into_owned();
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(OsString::from(value))),
            None => (text, None),
        };
        match name.as_str() {
            "--json" => args.json = true,
            "--profile" => args.profile = value.or_else(|| words.next()).map(PathBuf::from),
            "--html" => args.html = value.or_else(|| words.next()).map(PathBuf::from),
            "--level" => {
                let value = value.or_else(|| words.next()).unwrap_or_default();
                match Level::from_str(&value.to_string_lossy(), false) {
                    Ok(level) => args.level = level,
                    // The compiler says that it does not know it.
                    Err(_) => args.args.extend([word, value]),
                }
            }
            _ => args.args.push(word),
        }
    }
    args
}

/// Compiles, and writes the report; the result is the exit status.
pub fn run(args: &ReportArgs) -> Result<u8, ReportError> {
    let args = &own_options(args);
    let remarks = collect::remarks(args)?;
    let mut report = model::report(remarks);
    if let Some(path) = &args.profile {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ReportError::File { path: path.clone(), source })?;
        model::add_times(&mut report, &crate::profile::times(&text));
    }
    if let Some(path) = &args.html {
        let page = page::page(&report, &|file| std::fs::read_to_string(file).ok());
        std::fs::write(path, page).map_err(|source| ReportError::File { path: path.clone(), source })?;
        eprintln!("page: {}", path.display());
    }
    let text = if args.json {
        serde_json::to_string_pretty(&report)? + "\n"
    } else {
        text::render(&report, args.level, text::width(), &|file| std::fs::read_to_string(file).ok())
    };
    // A reader that has seen enough is no error.
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(e.into()),
        _ => Ok(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_report_are_found_among_the_compilers() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let args = ReportArgs {
            level: Level::Loops,
            html: None,
            profile: None,
            json: false,
            build: false,
            compile_commands: None,
            args: words("-O3 --level summary a.c --html=x.html -DX=1 --json"),
        };
        let own = own_options(&args);
        assert_eq!((own.level, own.json, own.args), (Level::Summary, true, words("-O3 a.c -DX=1")));
        assert_eq!(own.html, Some("x.html".into()));
        let build = ReportArgs { build: true, args: words("make --json"), ..args };
        assert_eq!(own_options(&build).args, words("make --json"));
    }
}

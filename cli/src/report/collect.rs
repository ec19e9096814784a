//! Remarks of files, of a build, or of what a compile_commands.json lists.

use super::{ReportArgs, ReportError, rust};
use pollyrs_tuning::remark::{self, Remark};
use rayon::prelude::*;
use serde::Deserialize;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The plugin's option `remark-file` in the environment.
const REMARK_FILE: &str = "POLLYRS_REMARK_FILE";

/// The plugin's option `remark-details`.
const REMARK_DETAILS: &str = "POLLYRS_REMARK_DETAILS";

/// What the plugin is to tell of offloaded loop nests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Details {
    Estimate,
    Model,
    Code,
}

impl Details {
    fn value(self) -> &'static str {
        match self {
            Details::Estimate => "estimate",
            Details::Model => "model",
            Details::Code => "code",
        }
    }
}

/// Names of compilers that a build may call, and what stands in for them.
const COMPILERS: [(&str, &str); 9] = [
    ("cc", "cc"),
    ("c++", "c++"),
    ("clang", "cc"),
    ("clang++", "c++"),
    ("clang-22", "cc"),
    ("clang++-22", "c++"),
    ("flang", "fc"),
    ("flang-22", "fc"),
    ("flang-new", "fc"),
];

/// Endings of source files.
const SOURCES: [&str; 21] = [
    "c", "i", "cc", "cp", "cxx", "cpp", "c++", "C", "CPP", "ii", "f", "for", "f90", "f95", "f03", "f08",
    "F90", "F", "ll", "bc", "rs",
];

/// All remarks, in the order of the compilations.
pub fn remarks(args: &ReportArgs) -> Result<Vec<Remark>, ReportError> {
    let details = if args.html.is_some() { Details::Code } else { Details::Estimate };
    if let Some(path) = &args.compile_commands {
        let path = if path.is_dir() { path.join("compile_commands.json") } else { path.clone() };
        return listed(&path, details);
    }
    if args.build { build(&args.args, details) } else { files(&args.args, details) }
}

/// Each source among the words, with all words that are no sources.
pub fn files(words: &[OsString], details: Details) -> Result<Vec<Remark>, ReportError> {
    let (sources, options) = split(words);
    if sources.is_empty() {
        return Err(ReportError::NoFile);
    }
    let compile = |source: &&OsString| {
        let words = [options.as_slice(), &[(*source).clone()]].concat();
        compile(&words, None, details)
            .and_then(|found| found.ok_or(ReportError::Compiler(source.display().to_string())))
    };
    let found: Result<Vec<Vec<Remark>>, ReportError> = sources.par_iter().map(compile).collect();
    Ok(found?.concat())
}

/// The sources, and the options that matter to a compilation without linking.
fn split(words: &[OsString]) -> (Vec<&OsString>, Vec<OsString>) {
    let (mut sources, mut options) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    let mut value = false;
    while let Some(word) = words.next() {
        let bytes = word.as_encoded_bytes();
        if word == "-o" {
            words.next();
        } else if value {
            options.push(word.clone());
            value = false;
        } else if bytes.starts_with(b"-l") || bytes.starts_with(b"-L") || bytes.starts_with(b"-Wl,") {
            // For the linker.
        } else if bytes.starts_with(b"-") {
            value = ["-I", "-D", "-U", "-x", "-include", "-isystem", "-Xclang", "-mllvm", "--tuned"]
                .iter()
                .any(|o| word == o);
            options.push(word.clone());
        } else if is_source(word) {
            sources.push(word);
        } else if !Path::new(word).extension().is_some_and(|e| e == "o" || e == "a" || e == "so") {
            options.push(word.clone());
        }
    }
    (sources, options)
}

fn is_source(word: &OsStr) -> bool {
    Path::new(word).extension().is_some_and(|e| SOURCES.iter().any(|s| e == *s))
}

/// The remarks of one command of the driver's without an output; `None`: the compiler has said what is wrong.
fn compile(
    words: &[OsString],
    folder: Option<&Path>,
    details: Details,
) -> Result<Option<Vec<Remark>>, ReportError> {
    let record = tempfile::NamedTempFile::new()?;
    let mut command = Command::new(std::env::current_exe()?);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let output = tempfile::NamedTempFile::new()?;
    if words.last().is_some_and(|w| rust::is_rust(w)) {
        command = rust::compile(words, output.path())?;
    } else {
        // Names of variables come from debug information.
        command.arg("cc").args(["-O2", "-g"]).args(words).args(["-c", "-o", "/dev/null"]);
    }
    command.env(REMARK_FILE, record.path()).env(REMARK_DETAILS, details.value());
    let status = command.stdin(Stdio::null()).status()?;
    Ok(if status.success() { Some(read(record.path())?) } else { None })
}

fn read(path: &Path) -> Result<Vec<Remark>, ReportError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ReportError::File { path: path.to_owned(), source })?;
    Ok(remark::read(&text))
}

/// Runs a command that builds something, with our compilers in front of the others.
fn build(words: &[OsString], details: Details) -> Result<Vec<Remark>, ReportError> {
    let Some((program, words)) = words.split_first() else { return Err(ReportError::NoFile) };
    let folder = tempfile::tempdir()?;
    let record = folder.path().join("remarks.jsonl");
    std::fs::write(&record, "")?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    for (name, subcommand) in COMPILERS {
        stand_in(&folder.path().join(name), subcommand, &path)?;
    }
    let ours = std::iter::once(folder.path().to_owned()).chain(std::env::split_paths(&path));
    let mut command = Command::new(program);
    command.args(words).env(REMARK_FILE, &record).env(REMARK_DETAILS, details.value());
    command.env("PATH", std::env::join_paths(ours).map_err(std::io::Error::other)?);
    // Variables of make's are stronger than the environment.
    let is_make = Path::new(program).file_name().is_some_and(|n| n == "make" || n == "gmake");
    for (variable, name) in [("CC", "cc"), ("CXX", "c++"), ("FC", "flang-22")] {
        let given = words.iter().any(|w| w.as_encoded_bytes().starts_with(format!("{variable}=").as_bytes()));
        let compiler = folder.path().join(name);
        if is_make && !given {
            command.arg(format!("{variable}={}", compiler.display()));
        } else if !given && std::env::var_os(variable).is_none() {
            command.env(variable, compiler);
        }
    }
    // For cargo, which would not compile again what a former build has left.
    if Path::new(program).file_name().is_some_and(|n| n == "cargo") {
        let wrapper = folder.path().join("rustc-with-plugin");
        script(&wrapper, &rust::wrapper()?)?;
        command.env("RUSTC_WORKSPACE_WRAPPER", wrapper).env("CARGO_TARGET_DIR", folder.path().join("target"));
    }
    let status = command
        .status()
        .map_err(|source| ReportError::Spawn { program: program.to_string_lossy().into_owned(), source })?;
    if !status.success() {
        return Err(ReportError::Build);
    }
    let found = read(&record)?;
    if found.is_empty() {
        eprintln!(
            "pollyrs: nothing was compiled by cc, c++, clang, flang, rustc or pollyrs, or nothing of it has loops (make -B builds all again)"
        );
    }
    Ok(found)
}

/// A script that runs `pollyrs cc` with the former `PATH`, so that it finds the true compiler.
fn stand_in(at: &Path, subcommand: &str, path: &OsStr) -> Result<(), ReportError> {
    let quoted = |s: &OsStr| format!("'{}'", s.to_string_lossy().replace('\'', r"'\''"));
    let ours = std::env::current_exe()?;
    let text = format!(
        "#!/bin/sh\nPATH={} exec {} {subcommand} -g \"$@\"\n",
        quoted(path),
        quoted(ours.as_os_str())
    );
    script(at, &text)
}

/// Writes a file that can be called.
fn script(at: &Path, text: &str) -> Result<(), ReportError> {
    std::fs::write(at, text)?;
    Ok(std::fs::set_permissions(at, std::fs::Permissions::from_mode(0o755))?)
}

/// An entry of compile_commands.json (clang's "JSON Compilation Database Format Specification").
#[derive(Debug, Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default)]
    command: String,
}

fn listed(path: &Path, details: Details) -> Result<Vec<Remark>, ReportError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ReportError::File { path: path.to_owned(), source })?;
    let wrong = |source| ReportError::CompileCommands { path: path.to_owned(), source };
    let entries: Vec<Entry> = serde_json::from_str(&text).map_err(wrong)?;
    let compile = |entry: &Entry| {
        let words = if entry.arguments.is_empty() { words(&entry.command) } else { entry.arguments.clone() };
        let compiler = words_of_compiler(&words);
        let words: Vec<OsString> = words.into_iter().skip(compiler).map(OsString::from).collect();
        let (_, mut options) = split(&words);
        options.retain(|o| o != "-c");
        options.push(entry.file.clone().into());
        let found = compile(&options, Some(&entry.directory), details)?;
        // The rest of a project is worth a report, too.
        if found.is_none() {
            eprintln!("pollyrs: {} does not compile", entry.file.display());
        }
        Ok(found.unwrap_or_default())
    };
    let found: Result<Vec<Vec<Remark>>, ReportError> = entries.par_iter().map(compile).collect();
    Ok(found?.concat())
}

/// How many words of a command are the compiler's name: `clang`, `pollyrs cc`, `ccache clang`.
fn words_of_compiler(words: &[String]) -> usize {
    let mut count = 0;
    while let Some(word) = words.get(count) {
        count += 1;
        let name = Path::new(word).file_name().and_then(OsStr::to_str).unwrap_or(word);
        match name {
            "ccache" | "sccache" | "distcc" | "icecc" => {}
            "pollyrs" if words.get(count).is_some_and(|w| ["cc", "c++", "fc"].contains(&w.as_str())) => {
                return count + 1;
            }
            _ => return count,
        }
    }
    count
}

/// The words of a command line, quoted as a shell's.
fn words(line: &str) -> Vec<String> {
    let (mut all, mut word, mut any) = (Vec::new(), String::new(), false);
    let (mut quote, mut chars) = (None, line.chars());
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => word.extend(chars.next()),
            (c, Some(q)) if c == q => quote = None,
            (c, Some(_)) => word.push(c),
            ('"' | '\'', None) => {
                quote = Some(c);
                any = true;
            }
            (c, None) if c.is_whitespace() => {
                if any || !word.is_empty() {
                    all.push(std::mem::take(&mut word));
                    any = false;
                }
            }
            (c, None) => word.push(c),
        }
    }
    if any || !word.is_empty() {
        all.push(word);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_command_line() {
        let table: [(&str, &[&str]); 4] = [
            ("cc -c a.c", &["cc", "-c", "a.c"]),
            (r#"cc -DX=\"a\" "-DY=b c" '' d\ e"#, &["cc", "-DX=\"a\"", "-DY=b c", "", "d e"]),
            ("  ", &[]),
            ("'it''s'", &["its"]),
        ];
        for (line, want) in table {
            assert_eq!(words(line), want, "{line}");
        }
    }

    #[test]
    fn compilers_of_several_words() {
        let table = [
            ("clang-22 -c a.c", 1),
            ("/p/bin/pollyrs cc -c a.c", 2),
            ("pollyrs-cc -c a.c", 1),
            ("/usr/bin/ccache /usr/bin/clang++ -c a.cpp", 2),
            ("ccache pollyrs c++ -c a.cpp", 3),
            ("pollyrs", 1),
            ("", 0),
        ];
        for (line, want) in table {
            assert_eq!(words_of_compiler(&words(line)), want, "{line}");
        }
    }

    #[test]
    fn sources_are_told_from_options() {
        let line = "-O3 a.c -I inc -o out b.cpp -lm x.o -L/lib -Wl,-z -Dx -include c.c --pollyrs-arch=sm_90";
        let line: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let (sources, options) = split(&line);
        assert_eq!(sources, ["a.c", "b.cpp"]);
        assert_eq!(options, ["-O3", "-I", "inc", "-Dx", "-include", "c.c", "--pollyrs-arch=sm_90"]);
    }
}

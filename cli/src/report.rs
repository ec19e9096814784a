//! `pollyrs report`: what happened to each loop of a file, and what could be done about it.
//!
//! The file is compiled as with `pollyrs cc` and thrown away; LLVM's optimisation record says what the plugin did. Each remark becomes
//! a row of a table, and each refusal an excerpt of the source with a caret and advice.
//!
//! Example, for `for (i = 0; i < n; i++) a[idx[i]] = 0;`:
//!
//! ```text
//! scatter.c: 1 loop nest looked at, 0 offloaded
//!   line  function  result        why
//!      3  scatter   not offloaded a subscript of a is not affine: it depends on a value loaded from memory
//!
//! scatter.c:3:46: a subscript of a is not affine: it depends on a value loaded from memory
//!     3 | void scatter(...) { for (i = 0; i < n; i++) a[idx[i]] = 0; }
//!       |                                             ^
//!       = help: subscripts have to be sums of loop counters and parameters times constants; ...
//! ```

use crate::advice::advice;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

/// Words of the compiler, as for `pollyrs cc`.
#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// A source file, and options of the compiler and of pollyrs (as for 'pollyrs cc')
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    pub args: Vec<OsString>,
}

/// What stops a report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// Files, processes.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The compiler has said why.
    #[error("the compiler failed")]
    Compiler,
}

/// One remark of the plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Remark {
    /// `Passed`, `Missed` or `Analysis`.
    kind: String,
    /// `Offloaded`, `Subscript`, ...
    name: String,
    file: String,
    line: usize,
    column: usize,
    function: String,
    text: String,
}

/// Compiles, and prints the report; the result is the exit status.
pub fn run(args: &ReportArgs) -> Result<u8, ReportError> {
    let record = tempfile::NamedTempFile::new()?;
    let mut file_option = OsString::from("-foptimization-record-file=");
    file_option.push(record.path());
    let status = Command::new(std::env::current_exe()?)
        .arg("cc")
        // Names of variables come from debug information.
        .args(["-O2", "-g"])
        .args(&args.args)
        .args(["-fsave-optimization-record=yaml", "-foptimization-record-passes=pollyrs"])
        .arg(file_option)
        .args(["-c", "-o", "/dev/null"])
        .stdin(Stdio::null())
        .status()?;
    if !status.success() {
        return Err(ReportError::Compiler);
    }
    let remarks = parse(&std::fs::read_to_string(record.path())?);
    print!("{}", render(&remarks, &|file| source_of(file, &args.args)));
    Ok(0)
}

/// The text of a file that a remark names: as the compiler saw it, so perhaps relative to an input's folder.
fn source_of(file: &str, inputs: &[OsString]) -> Option<String> {
    let inputs = inputs.iter().map(Path::new);
    let beside =
        inputs.map(|input| if input.ends_with(file) { input.to_owned() } else { input.with_file_name(file) });
    std::iter::once(Path::new(file).to_owned())
        .chain(beside)
        .find_map(|path| std::fs::read_to_string(path).ok())
}

/// Reads LLVM's YAML record: documents of `Key: value` lines, and a list of arguments whose values make up the text.
fn parse(yaml: &str) -> Vec<Remark> {
    let mut remarks: Vec<Remark> = Vec::new();
    for line in yaml.lines() {
        if let Some(kind) = line.strip_prefix("--- !") {
            remarks.push(Remark { kind: kind.trim().to_owned(), ..Remark::default() });
            continue;
        }
        let (Some(remark), Some((key, value))) = (remarks.last_mut(), line.split_once(':')) else { continue };
        let value = value.trim();
        match key.trim() {
            "Name" => remark.name = unquote(value),
            "Function" => remark.function = demangled(&unquote(value)),
            "DebugLoc" => {
                let value = value.trim_matches(['{', '}', ' ']);
                // From the right: a file's name may hold anything.
                let Some((rest, column)) = value.rsplit_once(", Column: ") else { continue };
                let Some((file, line)) = rest.rsplit_once(", Line: ") else { continue };
                remark.file = unquote(file.strip_prefix("File: ").unwrap_or(file).trim());
                remark.line = line.trim().parse().unwrap_or(0);
                remark.column = column.trim().parse().unwrap_or(0);
            }
            "- String" => remark.text += &unquote(value),
            _ => {}
        }
    }
    remarks
}

/// A YAML scalar on one line.
fn unquote(value: &str) -> String {
    if let Some(inner) = value.strip_prefix('\'').and_then(|v| v.strip_suffix('\'')) {
        return inner.replace("''", "'");
    }
    match value.strip_prefix('"').and_then(|v| v.strip_suffix('"')) {
        Some(inner) => inner.replace("\\\"", "\"").replace("\\n", " ").replace("\\\\", "\\"),
        None => value.to_owned(),
    }
}

/// A function of C++ as its author knows it; others as they are.
fn demangled(name: &str) -> String {
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let symbol = cpp_demangle::Symbol::new(name).ok();
    symbol.and_then(|s| s.demangle_with_options(&options).ok()).unwrap_or_else(|| name.to_owned())
}

fn render(remarks: &[Remark], source: &dyn Fn(&str) -> Option<String>) -> String {
    let mut shown: Vec<&Remark> = remarks.iter().filter(|r| r.kind != "Analysis").collect();
    shown.sort_by(|a, b| (&a.file, a.line, a.column, &a.name).cmp(&(&b.file, b.line, b.column, &b.name)));
    shown.dedup();
    if shown.is_empty() {
        return "no loops found\n".to_owned();
    }
    let offloaded = shown.iter().filter(|r| r.kind == "Passed").count();
    let mut text = format!("{} loop nests looked at, {offloaded} offloaded\n", shown.len());
    let place =
        |r: &Remark| if r.file.is_empty() { "?".to_owned() } else { format!("{}:{}", r.file, r.line) };
    let wide = |cells: &mut dyn Iterator<Item = usize>, least: usize| cells.max().unwrap_or(0).max(least);
    let places = wide(&mut shown.iter().map(|r| place(r).chars().count()), 5);
    let functions = wide(&mut shown.iter().map(|r| r.function.chars().count()), 8);
    text += &format!("  {:places$}  {:functions$}  {:13}  why\n", "where", "function", "result");
    for r in &shown {
        let result = if r.kind == "Passed" { "offloaded" } else { "not offloaded" };
        text += &format!("  {:places$}  {:functions$}  {result:13}  {}\n", place(r), r.function, reason(r));
        for assumption in remarks.iter().filter(|a| {
            a.kind == "Analysis"
                && r.kind == "Passed"
                && (&a.file, a.line, &a.function) == (&r.file, r.line, &r.function)
        }) {
            text += &format!("  {:places$}  {:functions$}  {:13}  {}\n", "", "", "", assumption.text);
        }
    }
    for r in shown.iter().filter(|r| r.kind != "Passed") {
        text += &format!("\n{}:{}: {}\n", place(r), r.column, reason(r));
        let excerpt = source(&r.file).and_then(|s| s.lines().nth(r.line.checked_sub(1)?).map(str::to_owned));
        if let Some(line) = excerpt {
            // The caret stands under the same column, whatever the tabs before it.
            let before: String = line
                .chars()
                .take(r.column.saturating_sub(1))
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            text += &format!("{:5} | {line}\n      | {before}^\n", r.line);
        }
        if let Some(advice) = advice(&r.name, &r.text) {
            text += &format!("      = help: {advice}\n");
        }
    }
    text
}

/// The text without what the table says already.
fn reason(r: &Remark) -> &str {
    let text = r.text.strip_prefix("not offloaded: ").unwrap_or(&r.text);
    text.strip_prefix("offloaded ").unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = "\
--- !Missed
Pass:            pollyrs
Name:            Subscript
DebugLoc:        { File: 'dir, with/a.c', Line: 2, Column: 4 }
Function:        scatter
Args:
  - String:          'not offloaded: a subscript of it''s is not affine'
...
--- !Passed
Pass:            pollyrs
Name:            Offloaded
DebugLoc:        { File: b.c, Line: 1, Column: 1 }
Function:        f
Args:
  - String:          \"offloaded f#0: 1 loop\"
...
--- !Analysis
Pass:            pollyrs
Name:            AliasCheck
DebugLoc:        { File: b.c, Line: 1, Column: 1 }
Function:        f
Args:
  - String:          checks that A and B do not overlap
...
";

    #[test]
    fn records_are_read() {
        let remarks = parse(RECORD);
        assert_eq!(remarks.len(), 3);
        assert_eq!((remarks[0].file.as_str(), remarks[0].line, remarks[0].column), ("dir, with/a.c", 2, 4));
        assert_eq!(remarks[0].text, "not offloaded: a subscript of it's is not affine");
        assert_eq!((remarks[1].file.as_str(), remarks[1].text.as_str()), ("b.c", "offloaded f#0: 1 loop"));
    }

    #[test]
    fn a_refusal_has_its_place_and_advice() {
        let remarks = parse(&RECORD.replace("dir, with/a.c", "a.c"));
        let text =
            render(&remarks, &|file| (file == "a.c").then(|| "int x;\n\tfoo a[b[i]] = 0;\n".to_owned()));
        assert!(text.starts_with("2 loop nests looked at, 1 offloaded\n"), "{text}");
        assert!(
            text.contains("    2 | \tfoo a[b[i]] = 0;\n      | \t  ^\n      = help: subscripts"),
            "{text}"
        );
        assert!(text.contains("checks that A and B do not overlap"), "{text}");
        assert_eq!(render(&[], &|_| None), "no loops found\n");
    }
}

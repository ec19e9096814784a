//! `pollyrs schedule`: the loop nests of files as their model has them, with the program's order as a
//! schedule of isl's, in a file that `pollyrs cc --tuned` reads. A schedule that was changed there is checked
//! against the dependences, mapped, and proved like any other.
//!
//! `--polly` writes and `--from-polly` reads files as Polly's `-polly-export-jscop` has them, one for each
//! loop nest, with a map from instances to times for each statement; tools that change such files work with
//! them.

use crate::report::ReportError;
use crate::report::collect::{self, Details};
use pollyrs_tuning::remark::{Model, Statement};
use pollyrs_tuning::{Choice, Entry, Tuned};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Which schedules are written, and where to.
#[derive(Clone, Debug, clap::Args)]
pub struct ScheduleArgs {
    /// Write to this file, in place of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a file for each loop nest into this folder, as Polly's -polly-export-jscop does
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["output", "from_polly"])]
    polly: Option<PathBuf>,
    /// The words are such files, with other schedules: write what 'pollyrs cc --tuned' reads
    #[arg(long)]
    from_polly: bool,
    /// Source files, and options of the compiler and of pollyrs (as for 'pollyrs cc')
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    args: Vec<OsString>,
}

/// With the options that stand among the words for the compiler: `-O3 -o FILE.json x.c`.
fn own_options(args: &ScheduleArgs) -> ScheduleArgs {
    let mut args = args.clone();
    let mut words = std::mem::take(&mut args.args).into_iter();
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("-o" | "--output") => args.output = words.next().map(PathBuf::from),
            Some("--polly") => args.polly = words.next().map(PathBuf::from),
            Some("--from-polly") => args.from_polly = true,
            _ => args.args.push(word),
        }
    }
    args
}

/// Compiles, and writes what there is; the result is the exit status.
pub fn run(args: &ScheduleArgs) -> Result<u8, ReportError> {
    let args = own_options(args);
    if args.from_polly {
        return written(&imported(&args.args)?, args.output.as_deref());
    }
    let mut tuned = Tuned::new("");
    for remark in collect::files(&args.args, Details::Model)? {
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
    match &args.polly {
        Some(folder) => export(&tuned, folder),
        None => written(&tuned, args.output.as_deref()),
    }
}

/// Writes the file, or to standard output.
fn written(tuned: &Tuned, output: Option<&Path>) -> Result<u8, ReportError> {
    let text = tuned.text()?;
    match output {
        Some(path) => std::fs::write(path, text)
            .map_err(|source| ReportError::File { path: path.to_owned(), source })?,
        None => match std::io::stdout().write_all(text.as_bytes()) {
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => return Err(e.into()),
            _ => {}
        },
    }
    Ok(0)
}

/// A file of Polly's (`lib/Exchange/JSONExporter.cpp`), and by what a later compilation finds the loop nest.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Jscop {
    #[serde(default)]
    arrays: Vec<Array>,
    context: String,
    name: String,
    statements: Vec<Statement>,
    function: String,
    content: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Array {
    name: String,
    /// In the source.
    #[serde(default)]
    source: String,
}

fn jscop(entry: &Entry, model: &Model) -> Jscop {
    let arrays =
        model.arrays.iter().map(|(name, source)| Array { name: name.clone(), source: source.clone() });
    Jscop {
        arrays: arrays.collect(),
        context: model.context.clone(),
        name: entry.scop.clone(),
        statements: model.statements.clone(),
        function: entry.function.clone(),
        content: entry.content.clone(),
    }
}

/// `NEST.jscop` for each loop nest.
fn export(tuned: &Tuned, folder: &Path) -> Result<u8, ReportError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| ReportError::File { path, source }
    };
    std::fs::create_dir_all(folder).map_err(failed(folder))?;
    for entry in &tuned.entries {
        let Some(model) = &entry.model else { continue };
        let text = serde_json::to_string_pretty(&jscop(entry, model))? + "\n";
        let path = folder.join(format!("{}.jscop", entry.scop));
        std::fs::write(&path, text).map_err(failed(&path))?;
        eprintln!("pollyrs: {}", path.display());
    }
    Ok(0)
}

/// The schedules of files of Polly's.
fn imported(files: &[OsString]) -> Result<Tuned, ReportError> {
    let mut tuned = Tuned::new("");
    for path in files.iter().map(PathBuf::from) {
        let text = std::fs::read_to_string(&path)
            .map_err(|source| ReportError::File { path: path.clone(), source })?;
        let read: Jscop = serde_json::from_str(&text)
            .map_err(|source| ReportError::Jscop { path: path.clone(), source })?;
        tuned.entries.push(Entry {
            options: Choice::from([("schedule".to_owned(), times(&read.statements))]),
            function: read.function,
            content: read.content,
            scop: read.name,
            ms: None,
            model_ms: None,
            launches: 0,
            model: None,
        });
    }
    Ok(tuned)
}

/// The maps of all statements as one: `[n] -> { S0[i] -> [i, 0] }` and `[m] -> { S1[i] -> [i, 1] }` become
/// `[n, m] -> { S0[i] -> [i, 0]; S1[i] -> [i, 1] }`.
fn times(statements: &[Statement]) -> String {
    let (mut parameters, mut maps): (Vec<&str>, Vec<&str>) = Default::default();
    for s in statements {
        let (before, inside) = s.schedule.split_once('{').unwrap_or(("", &s.schedule));
        let listed = before.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        for name in listed.map_or("", |(names, _)| names).split(',').map(str::trim) {
            if !name.is_empty() && !parameters.contains(&name) {
                parameters.push(name);
            }
        }
        maps.push(inside.rsplit_once('}').map_or(inside, |(maps, _)| maps).trim());
    }
    format!("[{}] -> {{ {} }}", parameters.join(", "), maps.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(name: &str, schedule: &str) -> Statement {
        Statement { name: name.into(), schedule: schedule.into(), ..Statement::default() }
    }

    #[test]
    fn options_stand_among_the_compilers() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let given =
            |text: &str| ScheduleArgs { output: None, polly: None, from_polly: false, args: words(text) };
        let args = own_options(&given("-O3 -o a.json x.c --polly d"));
        assert_eq!((args.output, args.polly), (Some("a.json".into()), Some("d".into())));
        assert_eq!((args.from_polly, args.args), (false, words("-O3 x.c")));
        assert!(own_options(&given("a.jscop --from-polly")).from_polly);
    }

    #[test]
    fn maps_of_statements_are_one() {
        let table = [
            (vec!["[n] -> { S0[i] -> [i, 0] }"], "[n] -> { S0[i] -> [i, 0] }"),
            (
                vec!["[n] -> { S0[i] -> [i, 0] : i < n }", "[m, n] -> { S1[i] -> [i, 1] }"],
                "[n, m] -> { S0[i] -> [i, 0] : i < n; S1[i] -> [i, 1] }",
            ),
            (vec!["{ S0[] -> [0] }"], "[] -> { S0[] -> [0] }"),
        ];
        for (schedules, want) in table {
            let all: Vec<_> = schedules.iter().map(|s| statement("S", s)).collect();
            assert_eq!(times(&all), want);
        }
    }

    #[test]
    fn files_of_pollys_go_out_and_in() {
        let folder = tempfile::tempdir().unwrap();
        let model = Model {
            context: "[n] -> { : n > 0 }".into(),
            arrays: vec![("A".into(), "a".into())],
            statements: vec![statement("S0", "[n] -> { S0[i, j] -> [i, j] }")],
            ..Model::default()
        };
        let mut tuned = Tuned::new("");
        tuned.entries.push(Entry {
            function: "f".into(),
            content: "0123".into(),
            scop: "f.1".into(),
            options: Choice::new(),
            ms: None,
            model_ms: None,
            launches: 0,
            model: Some(model),
        });
        assert_eq!(export(&tuned, folder.path()).unwrap(), 0);
        let path = folder.path().join("f.1.jscop");
        let text = std::fs::read_to_string(&path).unwrap();
        for part in ["\"statements\"", "\"context\"", "\"domain\"", "\"accesses\"", "\"schedule\""] {
            assert!(text.contains(part), "{text}");
        }
        std::fs::write(&path, text.replace("[i, j] -> [i, j]", "[i, j] -> [j, i]")).unwrap();
        let read = imported(&[path.clone().into()]).unwrap();
        assert_eq!(read.find("f", "0123"), Some(0));
        assert_eq!(read.entries[0].options["schedule"], "[n] -> { S0[i, j] -> [j, i] }");
        std::fs::write(&path, "{}").unwrap();
        assert!(imported(&[path.into()]).is_err());
    }
}

//! `pollyrs tune`: measures other choices than the model's on the device, and writes the best to a file that
//! later compilations read.
//!
//! ```text
//! words ─build→ plain program, model's variant ─measure→ Search ─round→ choices ─build→ variants ─measure→ … ─chosen→ FILE.tune
//! ```
//! Each variant is the whole program with one choice for each loop nest, compiled by `pollyrs cc` with a file
//! of choices, and has to print what the plain program prints. `--build` and `--measure` divide the work
//! between two machines: where the compilers are, and where the GPU is; then there is one round, and `--from`
//! begins the next one at the file of the last.

mod build;
mod candidates;
mod measure;
mod search;

use crate::driver;
use crate::interrupt;
use crate::output::tell;
use build::{Key, Variant};
use indicatif::{ProgressBar, ProgressStyle};
use measure::{Measured, Output, RunError, Settings};
use pollyrs_rt::driver::Api;
use pollyrs_tuning::{Choice, Entry, Tuned};
use search::{GAIN, Search};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::{CStr, OsString};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What to tune, and how.
#[derive(Debug, clap::Args)]
pub struct TuneArgs {
    /// Write the choices to this file (default: the first source file's name with '.tune')
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Runs of each variant, of which the median counts
    #[arg(long, value_name = "N", default_value_t = 3)]
    runs: usize,
    /// Rounds of the search at most; the first one tries each dimension of the choice, the others go on from
    /// the best
    #[arg(long, value_name = "N", default_value_t = 4)]
    rounds: usize,
    /// Variants that are compiled at a time
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Another choice to try: options of the plugin, such as strategy=hybrid,tile=4x16x64; may be repeated
    #[arg(long = "try", value_name = "NAME=VALUE,...", value_parser = candidates::parse)]
    also: Vec<Choice>,
    /// A file that the program writes and that has to be the same in all variants; may be repeated
    #[arg(long, value_name = "FILE")]
    compare: Vec<PathBuf>,
    /// Do not compare what the program prints (it prints times, say)
    #[arg(long)]
    ignore_output: bool,
    /// Begin the search at the choices of this file
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Only compile the variants of one round, into this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "measure")]
    build: Option<PathBuf>,
    /// Only run what --build has put into this folder; all words are arguments of the program
    #[arg(long, value_name = "FOLDER")]
    measure: Option<PathBuf>,
    /// Options of the compiler and of pollyrs and the source files (as for 'pollyrs cc'); behind '--', the
    /// program's arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// What stops the tuning.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// Files, processes.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Of the choices.
    #[error("{}: cannot be written: {source}", path.display())]
    Output { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    File(#[from] pollyrs_tuning::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Words(#[from] driver::DriverError),
    /// With what it said.
    #[error("the compiler failed:\n{0}")]
    Compiler(String),
    #[error("no loop nest of the program is offloaded (pollyrs report FILE tells why)")]
    NothingOffloaded,
    #[error(
        "no loop nest of the program is offloaded: among the words is no -O, and at -O0 nothing is; add -O3"
    )]
    Unoptimized,
    #[error("no loop nest ran on a device: {0}")]
    NothingRan(&'static str),
    #[error(
        "the program prints something else each time it runs: --ignore-output leaves that out of the comparison"
    )]
    NotRepeatable,
    #[error("the program {0}")]
    Run(RunError),
    #[error("--pollyrs-tuned among the words: the search begins there with --from FILE")]
    TunedAmongWords,
    #[error("{0}: not a folder of 'pollyrs tune --build'")]
    Folder(PathBuf),
}

/// What `--build` leaves for `--measure`.
#[derive(Debug, Serialize, Deserialize)]
struct Plan {
    output: PathBuf,
    plain: PathBuf,
    model: Variant,
    variants: Vec<Variant>,
}

const PLAN: &str = "plan.json";

/// Tunes; the result is the exit status.
pub fn run(args: &TuneArgs) -> Result<u8, TuneError> {
    if let Some(folder) = &args.measure {
        return measure_folder(args, folder);
    }
    let at = args.args.iter().position(|w| w == "--");
    let (words, program_args) = args.args.split_at(at.unwrap_or(args.args.len()));
    if driver::takes_tuned(words)? {
        return Err(TuneError::TunedAmongWords);
    }
    let output = args.output.clone().unwrap_or_else(|| output_of(words));
    // Before anything takes long; what is there stays.
    let place = output.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    tempfile::NamedTempFile::new_in(place)
        .map_err(|source| TuneError::Output { path: output.clone(), source })?;
    interrupt::listen();
    let temporary;
    let folder = match &args.build {
        Some(folder) => {
            fs_err::create_dir_all(folder)?;
            folder.as_path()
        }
        None => {
            temporary = tempfile::tempdir()?;
            temporary.path()
        }
    };
    let jobs = args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let session = Session { args, words, folder, jobs };
    let plain = build::plain(words, folder)?;
    let model = build::variant(words, folder, "model", vec![])?;
    if model.told.is_empty() {
        return Err(if optimises(words) { TuneError::NothingOffloaded } else { TuneError::Unoptimized });
    }
    if args.build.is_some() {
        return session.build_only(output, plain, model);
    }
    let bench = Bench::new(args, program_args.get(1..).unwrap_or_default(), &plain, folder)?;
    let (bench, mut search) = bench.start(&model)?;
    session.search(&bench, &mut search)?;
    let device = device_name(&search);
    let last = session.confirm(&bench, &search, &model)?;
    finish(&output, &device, &search, last.as_ref())
}

/// Whether the last word on it asks for optimisation.
fn optimises(words: &[OsString]) -> bool {
    let level = words.iter().rev().find(|w| w.as_encoded_bytes().starts_with(b"-O"));
    level.is_some_and(|l| l != "-O0")
}

/// Options with a value, and without one.
const WITH_VALUE: [&str; 8] =
    ["--output", "--runs", "--rounds", "--jobs", "--try", "--compare", "--from", "--build"];
const ALONE: [&str; 1] = ["--ignore-output"];

/// The words of a command line with the options of `tune` first: they may stand among the compiler's, up to
/// `--`. With `--measure`, words are the program's.
pub fn in_order(words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_none_or(|w| w != "tune") || words.iter().any(|w| is_option(w, "--measure")) {
        return words;
    }
    let (mut own, mut rest) = (Vec::new(), Vec::new());
    let mut words = words.into_iter();
    let begin: Vec<OsString> = words.by_ref().take(2).collect();
    while let Some(word) = words.next() {
        if word == "--" {
            rest.push(word);
            rest.extend(words);
            break;
        }
        if WITH_VALUE.iter().any(|o| word == *o) {
            own.push(word);
            own.extend(words.next());
        } else if ALONE.iter().any(|o| word == *o) || WITH_VALUE.iter().any(|o| is_option(&word, o)) {
            own.push(word);
        } else {
            rest.push(word);
        }
    }
    [begin, own, rest].concat()
}

/// Whether a word is an option, with a value behind `=` or without.
fn is_option(word: &std::ffi::OsStr, option: &str) -> bool {
    let rest = word.as_encoded_bytes().strip_prefix(option.as_bytes());
    rest.is_some_and(|r| r.is_empty() || r[0] == b'=')
}

/// `stencil.tune` for `src/stencil.c`.
fn output_of(words: &[OsString]) -> PathBuf {
    let source = words.iter().map(Path::new).find(|w| w.extension().is_some() && w.is_file());
    let name = source.and_then(Path::file_stem).unwrap_or("program".as_ref());
    Path::new(name).with_extension("tune")
}

/// Where variants are compiled.
struct Session<'a> {
    args: &'a TuneArgs,
    words: &'a [OsString],
    folder: &'a Path,
    jobs: usize,
}

impl Session<'_> {
    fn compile(&self, label: &str, round: Vec<Vec<(Key, Choice)>>) -> Vec<Variant> {
        let bar = bar(round.len(), &format!("{label}: compiling"));
        let named = round.into_iter().enumerate().map(|(i, c)| (format!("{label}-{i}"), c)).collect();
        let variants = build::variants(self.words, self.folder, named, self.jobs, &|| bar.inc(1));
        bar.finish_and_clear();
        variants
    }

    /// A first round from the file's choices; `None`: there is no file.
    fn start(&self) -> Result<Option<Vec<(Key, Choice)>>, TuneError> {
        let Some(path) = &self.args.from else { return Ok(None) };
        let entries = Tuned::read(path)?.entries.into_iter().filter(|e| !e.options.is_empty());
        Ok(Some(entries.map(|e| ((e.function, e.content), e.options)).collect()))
    }

    fn search(&self, bench: &Bench<'_>, search: &mut Search) -> Result<(), TuneError> {
        if let Some(choices) = self.start()? {
            let variants = self.compile("start", vec![choices]);
            bench.all("start", &variants, search);
        }
        let from = usize::from(self.args.from.is_some());
        for number in from..self.args.rounds + from {
            if interrupt::happened() {
                break;
            }
            let round = search.round(number == 0, &self.args.also);
            if round.is_empty() {
                break;
            }
            let label = format!("round{}", number + 1 - from);
            let variants = self.compile(&label, round);
            bench.all(&label, &variants, search);
            for v in variants {
                fs_err::remove_file(self.folder.join(&v.program))?;
            }
        }
        Ok(())
    }

    /// The best choices of all nests together against the model's, run in turns: what counts in the end.
    fn confirm(
        &self,
        bench: &Bench<'_>,
        search: &Search,
        model: &Variant,
    ) -> Result<Option<Confirmed>, TuneError> {
        let chosen = search.chosen();
        if chosen.is_empty() || interrupt::happened() {
            return Ok(None);
        }
        let variants = self.compile("best", vec![chosen]);
        let Some(best) = variants.first() else { return Ok(None) };
        let again = bench.run(model).map_err(TuneError::Run)?;
        let measured = bench.run(best).map_err(TuneError::Run)?;
        Ok(Some(Confirmed::new(model, &again, best, &measured)))
    }

    fn build_only(&self, output: PathBuf, plain: PathBuf, model: Variant) -> Result<u8, TuneError> {
        // Nothing has run: every nest counts as if it had.
        let names: BTreeMap<String, Measured> =
            model.names().keys().map(|n| ((*n).to_owned(), Measured::default())).collect();
        let mut search = Search::new(&model, &names);
        let mut round = Vec::new();
        if let Some(choices) = self.start()? {
            let variants = self.compile("start", vec![choices]);
            for v in &variants {
                search.center(v);
            }
            round.extend(variants.into_iter().map(|v| v.choices));
        }
        round.extend(search.round(self.args.from.is_none(), &self.args.also));
        let variants = self.compile("round", round);
        let mut kept: Vec<Variant> = Vec::new();
        for v in variants {
            let same = |o: &Variant| v.told.iter().all(|t| o.told.iter().any(|u| u.code == t.code));
            if same(&model) || kept.iter().any(same) || v.told.iter().all(|t| t.refused.is_some()) {
                fs_err::remove_file(self.folder.join(&v.program))?;
            } else {
                kept.push(v);
            }
        }
        let name = plain.file_name().map(PathBuf::from).unwrap_or_default();
        tell(&format!("pollyrs: {} variants in {}\n", kept.len() + 1, self.folder.display()));
        let plan = Plan { output, plain: name, model, variants: kept };
        fs_err::write(self.folder.join(PLAN), serde_json::to_string_pretty(&plan)?)?;
        Ok(0)
    }
}

/// Runs variants against a reference.
struct Bench<'a> {
    folder: &'a Path,
    settings: Settings,
    reference: Output,
    /// Of a run of the plain program.
    limit: Duration,
    plain: PathBuf,
}

/// No variant may take longer than this; some candidates are a hundred times slower than the model's.
const LEAST_LIMIT: Duration = Duration::from_secs(20);

impl<'a> Bench<'a> {
    fn new(
        args: &TuneArgs,
        program_args: &[OsString],
        plain: &Path,
        folder: &'a Path,
    ) -> Result<Bench<'a>, TuneError> {
        let settings = Settings {
            args: program_args.to_vec(),
            runs: args.runs,
            files: args.compare.clone(),
            ignore_output: args.ignore_output,
        };
        let bar = bar(1, "running the plain program");
        let profile = tempfile::NamedTempFile::new()?;
        let result = measure::run_once(plain, &settings, profile.path(), Duration::MAX);
        bar.finish_and_clear();
        let (reference, took) = result.map_err(TuneError::Run)?;
        let limit = LEAST_LIMIT.max(10 * took);
        Ok(Bench { folder, settings, reference, limit, plain: plain.to_owned() })
    }

    /// The model's variant: what others are compared with.
    fn start(mut self, model: &Variant) -> Result<(Bench<'a>, Search), TuneError> {
        let profile = tempfile::NamedTempFile::new()?;
        let program = self.folder.join(&model.program);
        let run = |program: &Path| measure::run_once(program, &self.settings, profile.path(), Duration::MAX);
        let (first, took) = run(&program).map_err(TuneError::Run)?;
        if first != self.reference {
            let (again, _) = run(&self.plain).map_err(TuneError::Run)?;
            if again != self.reference {
                return Err(TuneError::NotRepeatable);
            }
            tell(
                "pollyrs: warning: the offloaded program prints something else than the plain one (functions such as exp may differ in the last \
                 bits); the variants are compared with the offloaded one\n",
            );
            self.reference = first;
        }
        self.limit = self.limit.max(10 * took);
        let measured = self.run(model).map_err(TuneError::Run)?;
        let search = Search::new(model, &measured);
        if search.nests.is_empty() {
            return Err(TuneError::NothingRan(
                "the program does not reach one, there is no device, or checks at run time fail (pollyrs profile tells)",
            ));
        }
        Ok((self, search))
    }

    fn run(&self, v: &Variant) -> Result<BTreeMap<String, Measured>, RunError> {
        let program = self.folder.join(&v.program);
        Ok(measure::measure(&program, &self.settings, Some(&self.reference), self.limit)?.0)
    }

    /// Measures what is new.
    fn all(&self, label: &str, variants: &[Variant], search: &mut Search) {
        let bar = bar(variants.len(), &format!("{label}: measuring"));
        for v in variants {
            if interrupt::happened() {
                break;
            }
            if search.is_news(v) {
                match self.run(v) {
                    Err(_) if interrupt::happened() => break,
                    Ok(measured) => search.note(v, &measured),
                    Err(why @ (RunError::Output(_) | RunError::Start(..))) => {
                        let chosen: Vec<String> =
                            v.choices.iter().map(|(_, c)| candidates::text(c)).collect();
                        bar.suspend(|| {
                            tell(&format!("pollyrs: warning: a variant {why} ({})\n", chosen.join("; ")))
                        });
                    }
                    Err(_) => {}
                }
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
    }
}

/// The last comparison: by nest, the model's and the choice's.
struct Confirmed(BTreeMap<Key, (Measured, Measured)>);

impl Confirmed {
    fn new(
        model: &Variant,
        before: &BTreeMap<String, Measured>,
        best: &Variant,
        after: &BTreeMap<String, Measured>,
    ) -> Confirmed {
        let names = best.names();
        let both = model.names().into_iter().filter_map(|(name, key)| {
            let now = names.iter().find(|(_, k)| **k == key)?.0;
            Some((key, (before.get(name)?.clone(), after.get(*now)?.clone())))
        });
        Confirmed(both.collect())
    }
}

fn measure_folder(args: &TuneArgs, folder: &Path) -> Result<u8, TuneError> {
    let text = fs_err::read_to_string(folder.join(PLAN)).map_err(|_| TuneError::Folder(folder.to_owned()))?;
    let plan: Plan = serde_json::from_str(&text)?;
    let program_args = args.args.strip_prefix(&["--".into()]).unwrap_or(&args.args);
    let bench = Bench::new(args, program_args, &folder.join(&plan.plain), folder)?;
    let (bench, mut search) = bench.start(&plan.model)?;
    bench.all("round", &plan.variants, &mut search);
    let output = args.output.clone().unwrap_or(plan.output);
    finish(&output, &device_name(&search), &search, None)
}

/// Writes the file and prints the table.
fn finish(output: &Path, device: &str, search: &Search, last: Option<&Confirmed>) -> Result<u8, TuneError> {
    let mut tuned = Tuned::new(device);
    let mut rows = Vec::new();
    for (key, nest) in &search.nests {
        let (model, best) = match last {
            None => (&nest.model.measured, &nest.best.measured),
            Some(last) => {
                last.0.get(key).map_or((&nest.model.measured, &nest.model.measured), |(m, b)| (m, b))
            }
        };
        let pays = model.score() >= GAIN * best.score();
        let (choice, best) = if pays { (&nest.best.choice, best) } else { (&nest.model.choice, model) };
        let ms = |m: &Measured| (!m.emulated).then_some(m.ms);
        let (function, content) = key.clone();
        let scop = nest.model.told.scop.clone();
        let options = choice.clone();
        rows.push((scop.clone(), model.clone(), best.clone(), nest.trials.len(), candidates::text(choice)));
        let (ms, model_ms, launches) = (ms(best), ms(model), best.launches);
        tuned.entries.push(Entry { function, content, scop, options, ms, model_ms, launches, model: None });
    }
    fs_err::write(output, tuned.text()?)?;
    tell(&table(&rows));
    if interrupt::happened() {
        tell("pollyrs: interrupted: the choices are the best of those that were measured\n");
    }
    tell(&format!("written to {}: compile with --pollyrs-tuned={0}\n", output.display()));
    Ok(if interrupt::happened() { interrupt::STATUS } else { 0 })
}

/// Name, the model's, the best, choices that ran, the choice.
type Row = (String, Measured, Measured, usize, String);

fn table(rows: &[Row]) -> String {
    let width = rows.iter().map(|r| r.0.chars().count()).max().unwrap_or(0).max(9);
    let what = if rows.iter().any(|r| r.1.emulated) { "launches" } else { "ms" };
    let mut text = format!(
        "{:width$}  {:>14} {:>14} {:>7} {:>6}  choice\n",
        "loop nest",
        format!("model {what}"),
        format!("best {what}"),
        "gain",
        "tried"
    );
    for (scop, model, best, tried, choice) in rows {
        let digits = if model.emulated { 0 } else { 3 };
        let gain = if best.score() > 0.0 { model.score() / best.score() } else { 1.0 };
        // Writing to a string can't fail.
        let _ = writeln!(
            text,
            "{scop:width$}  {:>14.digits$} {:>14.digits$} {gain:>6.2}x {tried:>6}  {choice}",
            model.score(),
            best.score()
        );
    }
    text
}

/// The driver's name of the device that programs use.
fn device_name(search: &Search) -> String {
    if search.nests.values().any(|n| n.model.measured.emulated) {
        return "emulated".to_owned();
    }
    let library = std::env::var_os("POLLYRS_RT_CUDA_LIBRARY").map(PathBuf::from);
    let ordinal = std::env::var("POLLYRS_RT_CUDA_DEVICE").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut name = [0; 128];
    let asked = Api::load(library.as_deref()).and_then(|api| {
        let mut device = 0;
        // SAFETY: out-pointers to local variables; the name's length is passed, less the NUL that stays.
        unsafe {
            api.init(0)?;
            api.device_get(&mut device, ordinal)?;
            api.device_name(name.as_mut_ptr(), name.len() as i32 - 1, device)
        }
    });
    match asked {
        // SAFETY: the array ends in a NUL that the driver was not told about.
        Ok(()) => unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned(),
        Err(_) => "unknown".to_owned(),
    }
}

/// Progress on standard error, where that is a terminal.
fn bar(n: usize, what: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} {eta}");
    let bar = ProgressBar::new(n as u64).with_message(what.to_owned());
    style.map_or_else(|_| bar.clone(), |s| bar.clone().with_style(s.progress_chars("=> ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(ms: f64, launches: u64, emulated: bool) -> Measured {
        Measured { ms, launches, executions: 1, emulated }
    }

    #[test]
    fn the_table_has_times_or_launches() {
        let row = |emulated| {
            vec![(
                "f".to_owned(),
                measured(3.0, 12, emulated),
                measured(1.5, 4, emulated),
                7,
                "tile=8".to_owned(),
            )]
        };
        let text = table(&row(false));
        assert!(text.contains("model ms") && text.contains(" 3.000 ") && text.contains("2.00x"), "{text}");
        let text = table(&row(true));
        assert!(text.contains("model launches") && text.contains(" 12 ") && text.contains("3.00x"), "{text}");
        assert!(text.ends_with("7  tile=8\n"), "{text}");
    }

    #[test]
    fn options_of_tune_stand_anywhere_before_the_programs_arguments() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let table = [
            (
                "pollyrs tune -O3 x.c --runs 5 -lm -- 7 --runs 2",
                "pollyrs tune --runs 5 -O3 x.c -lm -- 7 --runs 2",
            ),
            (
                "pollyrs tune -O3 --output=a.tune x.c --ignore-output",
                "pollyrs tune --output=a.tune --ignore-output -O3 x.c",
            ),
            ("pollyrs tune --measure d -O3 --runs 2", "pollyrs tune --measure d -O3 --runs 2"),
            ("pollyrs cc -O3 x.c --output x", "pollyrs cc -O3 x.c --output x"),
            ("pollyrs", "pollyrs"),
        ];
        for (given, want) in table {
            assert_eq!(in_order(words(given)), words(want), "{given}");
        }
        assert!(
            optimises(&words("-O0 x.c -O3"))
                && !optimises(&words("-O3 x.c -O0"))
                && !optimises(&words("x.c"))
        );
    }

    #[test]
    fn the_file_is_named_for_the_first_source() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("stencil.c");
        std::fs::write(&source, "").unwrap();
        let words = ["-O3".into(), "-DX=1.5".into(), source.into(), "-lm".into()];
        assert_eq!(output_of(&words), Path::new("stencil.tune"));
        assert_eq!(output_of(&["-O3".into()]), Path::new("program.tune"));
    }
}

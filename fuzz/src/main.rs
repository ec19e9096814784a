//! A differential fuzzer for pollyrs.
//!
//! Random programs without undefined behaviour are compiled plain and with the plugin, for the emulated
//! device, under several strategies; all memory must be the same in the end ([`check`]). A program that fails
//! is made small and written with the commands that show the failure. Kinds of programs ([`grammar`]):
//!
//! * single functions with affine nests ([`nests`]: [`generate`], [`evaluate`], [`shrink`]);
//! * sequences of events over the same memory ([`sequence`]), in C, C++ and Fortran;
//! * loops of one form each ([`forms`]): quotients, tables of rows, loaded subscripts, places of extremes,
//!   running totals, computed lengths;
//! * whole programs of another generator ([`csmith`]).
//!
//! Program k of a seed is the same in every run; only how many programs there are depends on the time.

mod ast;
mod bundle;
mod check;
mod csmith;
mod error;
mod evaluate;
mod forms;
mod generate;
mod grammar;
mod layout;
mod nests;
mod print;
mod process;
mod report;
mod rng;
mod sequence;
mod shrink;

use check::{Config, Kind, Outcome, Plain, Tools};
use clap::Parser;
use csmith::Csmith;
use error::{Error, Result, at};
use forms::{Form, Forms};
use grammar::{Grammar, Language};
use nests::Nests;
use report::Report;
use rng::Rng;
use sequence::Sequences;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Random programs, plain and with the plugin, compared bit for bit.
#[derive(Parser, Debug)]
#[command(name = "fuzz", args_override_self = true)]
struct Arguments {
    /// The kind of programs.
    #[arg(long, value_enum, default_value_t = Which::Nests)]
    kind: Which,
    /// Of sequences.
    #[arg(long, value_enum, default_value_t = Language::C)]
    language: Language,
    /// How long to start new programs.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// These seconds are processor time, of the fuzzer and all that it starts: the same on a machine that
    /// does something else.
    #[arg(long)]
    processor: bool,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The folder with libpollyrs.so and libpollyrs_rt.so.
    #[arg(long, default_value = "target/release")]
    build: PathBuf,
    /// Where failures go.
    #[arg(long, default_value = "build/fuzz")]
    out: PathBuf,
    #[arg(long, default_value = "clang-22")]
    clang: String,
    /// Programs a file.
    #[arg(long, default_value_t = 10)]
    batch: usize,
    /// Files at once; by default one for each core.
    #[arg(long)]
    jobs: Option<usize>,
    /// Failures that are made small; the rest are written as they are.
    #[arg(long, default_value_t = 12)]
    shrinks: usize,
    /// Seconds for making one failure small.
    #[arg(long, default_value_t = 40)]
    shrink_seconds: u64,
    /// Strategies each file is compiled with; files take turns.
    #[arg(long, default_value_t = 2)]
    strategies: usize,
    /// Starts with this file of the seed, to see a failure again.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Ends after so many files.
    #[arg(long)]
    files: Option<u64>,
    /// Leaves out programs with this feature, one of those that the report counts ("memory of two types",
    /// say): what other faults there are, behind one that is known. May be given several times.
    #[arg(long, value_name = "FEATURE")]
    without: Vec<String>,
    /// Starts no file after the first failure, and makes none small: whether there is one.
    #[arg(long)]
    stop: bool,
    /// Makes a bundle for a machine with a GPU of `--files` files in this folder, and ends.
    #[arg(long)]
    bundle: Option<PathBuf>,
    /// Prints the programs of the first file and ends.
    #[arg(long)]
    print: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Which {
    /// Functions with affine nests.
    Nests,
    /// Sequences of events over the same memory.
    Sequences,
    /// The same with arrays of indices.
    Indices,
    /// Quotients and remainders of counters.
    Quotients,
    /// Tables of pointers to rows.
    Tables,
    /// Subscripts and bounds that are loaded.
    Sparse,
    /// Extremes with their places, sines and cosines, iterators, records.
    Places,
    /// Running totals, and what is stored where they say.
    Totals,
    /// Computed lengths: parts of rows, random numbers, rows of any lengths; local arrays and promises.
    Lengths,
    /// Subscripts that are rounded from numbers.
    Rounded,
    /// Parts of one array at places that are arguments.
    Workspaces,
    /// Sums in order of terms that other loops have computed.
    Terms,
    /// Early returns, sizes between pointers, bounds of any sign
    Ends,
    /// Rows that overlap in memory that is only read.
    Frames,
    /// Whole programs from csmith.
    Csmith,
}

const STRATEGIES: [&str; 7] = ["auto", "original", "isl", "streaming", "hybrid", "diamond", "split"];

fn main() -> std::process::ExitCode {
    let arguments = Arguments::parse();
    let sequences = |indices| Sequences { language: arguments.language, indices };
    match arguments.kind {
        Which::Nests => with(&arguments, &Nests),
        Which::Sequences => with(&arguments, &sequences(false)),
        Which::Indices => with(&arguments, &sequences(true)),
        Which::Quotients => with(&arguments, &Forms(Form::Quotients)),
        Which::Tables => with(&arguments, &Forms(Form::Tables)),
        Which::Sparse => with(&arguments, &Forms(Form::Sparse)),
        Which::Places => with(&arguments, &Forms(Form::Places)),
        Which::Totals => with(&arguments, &Forms(Form::Totals)),
        Which::Lengths => with(&arguments, &Forms(Form::Lengths)),
        Which::Rounded => with(&arguments, &Forms(Form::Rounded)),
        Which::Workspaces => with(&arguments, &Forms(Form::Workspaces)),
        Which::Terms => with(&arguments, &Forms(Form::Terms)),
        Which::Ends => with(&arguments, &Forms(Form::Ends)),
        Which::Frames => with(&arguments, &Forms(Form::Frames)),
        // Each is a file of its own.
        Which::Csmith => match Csmith::new() {
            Ok(csmith) => with(&Arguments { batch: 1, ..arguments }, &csmith),
            Err(e) => failed(&e),
        },
    }
}

fn with<G: Grammar>(arguments: &Arguments, grammar: &G) -> std::process::ExitCode {
    if arguments.print {
        let programs =
            check_features(arguments, grammar).and_then(|()| programs(arguments, grammar, arguments.first));
        return match programs {
            Ok(programs) => {
                let sources = grammar.sources(&programs.iter().collect::<Vec<_>>());
                sources.files.iter().for_each(|file| println!("{file}"));
                std::process::ExitCode::SUCCESS
            }
            Err(e) => failed(&e),
        };
    }
    match fuzz(arguments, grammar) {
        Ok(_) if arguments.bundle.is_some() => std::process::ExitCode::SUCCESS,
        Ok(report) => {
            print!("{report}");
            std::process::ExitCode::from(u8::from(report.failed()))
        }
        Err(e) => failed(&e),
    }
}

fn failed(error: &Error) -> std::process::ExitCode {
    eprintln!("fuzz: {error}");
    std::process::ExitCode::from(2)
}

/// How many programs are drawn to know a kind's features, and in place of one that has what is left out.
const DRAWN: usize = 200;

/// Whether all features that are left out are some of this kind of programs.
fn check_features<G: Grammar>(arguments: &Arguments, grammar: &G) -> Result<()> {
    if arguments.without.is_empty() {
        return Ok(());
    }
    let mut known = std::collections::BTreeSet::new();
    let has_all = |known: &std::collections::BTreeSet<&str>| {
        arguments.without.iter().all(|name| known.contains(name.as_str()))
    };
    for n in 0..DRAWN as u64 {
        known.extend(grammar.features(&grammar.generate(&mut Rng::stream(arguments.seed, n))));
        if has_all(&known) {
            return Ok(());
        }
    }
    let unknown = arguments.without.iter().find(|name| !known.contains(name.as_str()));
    let known = known.into_iter().collect::<Vec<_>>().join(", ");
    Err(Error::Feature { name: unknown.cloned().unwrap_or_default(), known })
}

/// The programs of a file. One with a feature that is left out is replaced by what its random numbers lead to
/// next.
fn programs<G: Grammar>(arguments: &Arguments, grammar: &G, batch: u64) -> Result<Vec<G::Program>> {
    let unwanted = |program: &G::Program| {
        let features = grammar.features(program);
        arguments.without.iter().any(|name| features.contains(name.as_str()))
    };
    let program = |n: u64| {
        let mut rng = Rng::stream(arguments.seed, batch * arguments.batch as u64 + n);
        let drawn = (0..DRAWN).map(|_| grammar.generate(&mut rng)).find(|program| !unwanted(program));
        drawn.ok_or_else(|| Error::Everywhere(arguments.without.join(", ")))
    };
    (0..arguments.batch as u64).map(program).collect()
}

fn fuzz<G: Grammar>(arguments: &Arguments, grammar: &G) -> Result<Report> {
    check_features(arguments, grammar)?;
    let scratch = tempfile::tempdir().map_err(at(Path::new("a temporary folder")))?;
    let runtime_dir = std::path::absolute(&arguments.build).map_err(at(&arguments.build))?;
    let tools = Tools {
        plugin: runtime_dir.join("libpollyrs.so"),
        harness: scratch.path().join("harness.o"),
        clang: arguments.clang.clone(),
        runtime_dir,
    };
    for file in [&tools.plugin, &tools.runtime_dir.join("libpollyrs_rt.so")] {
        if !file.exists() {
            return Err(Error::Missing(file.display().to_string()));
        }
    }
    check::harness(&tools, grammar.harness(), &[], scratch.path())?;
    if let Some(dir) = &arguments.bundle {
        bundle::begin(&tools, dir)?;
        let files = arguments.first..arguments.first + arguments.files.unwrap_or(1);
        for file in files {
            let programs = programs(arguments, grammar, file)?;
            let sources = grammar.sources(&programs.iter().collect::<Vec<_>>());
            let strategy = STRATEGIES[file as usize % STRATEGIES.len()];
            bundle::add(&tools, &sources, file, strategy, dir, scratch.path())?;
        }
        return Ok(Report::new(arguments.seed));
    }
    std::fs::create_dir_all(&arguments.out).map_err(at(&arguments.out))?;
    let jobs =
        arguments.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into)).max(1);
    let shared = Shared {
        arguments,
        grammar,
        tools,
        started: Instant::now(),
        next: AtomicU64::new(arguments.first),
        shrinks: AtomicUsize::new(0),
        report: Mutex::new(Report::new(arguments.seed)),
    };
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs)
            .map(|job| {
                let dir = scratch.path().join(job.to_string());
                let shared = &shared;
                scope.spawn(move || worker(shared, &dir))
            })
            .collect();
        // A panic is an error of the fuzzer's, and ends it.
        let done = |w: std::thread::ScopedJoinHandle<'_, Result<()>>| {
            w.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().map(done).collect()
    });
    results.into_iter().collect::<Result<Vec<()>>>()?;
    let seconds = shared.started.elapsed().as_secs_f64();
    let mut report = shared.report.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    report.seconds = seconds;
    Ok(report)
}

struct Shared<'a, G> {
    arguments: &'a Arguments,
    grammar: &'a G,
    tools: Tools,
    started: Instant,
    next: AtomicU64,
    shrinks: AtomicUsize,
    report: Mutex<Report>,
}

impl<G> Shared<'_, G> {
    fn report(&self) -> std::sync::MutexGuard<'_, Report> {
        self.report.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Whether no further file is to be started.
    fn over(&self) -> bool {
        let spent = if self.arguments.processor { process::spent() } else { self.started.elapsed() };
        spent >= Duration::from_secs(self.arguments.seconds)
            || self.arguments.stop && self.report().failed_once()
    }
}

fn worker<G: Grammar>(shared: &Shared<'_, G>, dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir).map_err(at(dir))?;
    while !shared.over() {
        let batch = shared.next.fetch_add(1, Ordering::Relaxed);
        if shared.arguments.files.is_some_and(|n| batch >= shared.arguments.first + n) {
            break;
        }
        one_batch(shared, batch, dir)?;
    }
    Ok(())
}

fn one_batch<G: Grammar>(shared: &Shared<'_, G>, batch: u64, dir: &Path) -> Result<()> {
    let programs = programs(shared.arguments, shared.grammar, batch)?;
    let list: Vec<&G::Program> = programs.iter().collect();
    let sources = shared.grammar.sources(&list);
    let mut rng = Rng::stream(shared.arguments.seed ^ 0x5eed, batch);
    let configs: Vec<Config> = (0..shared.arguments.strategies)
        .map(|n| match shared.arguments.kind {
            Which::Nests => Config::random(&mut rng, STRATEGIES[(batch as usize + n) % STRATEGIES.len()]),
            Which::Csmith => Config::of_whole(&mut rng, batch as usize + n),
            _ => Config::of_sequence(&mut rng, batch as usize + n),
        })
        .collect();
    let expected = match check::plain(&shared.tools, &sources, "-O1", dir)? {
        Plain::Ran(expected) => expected,
        Plain::Failed(_) if shared.grammar.may_fail() => return Ok(()),
        Plain::Failed(text) => {
            let name = format!("generator-{}-{batch}", shared.arguments.seed);
            let path = shared.arguments.out.join(&name);
            std::fs::create_dir_all(&path).map_err(at(&path))?;
            check::write(&sources, &path)?;
            shared.report().failure(&Kind::Generator, "", &text, &path);
            return Ok(());
        }
    };
    let mut whole = Outcome::default();
    let mut failed = Vec::new();
    for config in &configs {
        let outcome = check::compare(&shared.tools, list.len(), &sources, &expected, config, dir)?;
        // A failure of the file as a whole, or a crash, hides others: each program by itself.
        let alone = outcome.failures.iter().any(|f| matches!(f.kind, Kind::Compile | Kind::Slow | Kind::Run));
        if alone {
            for (number, program) in list.iter().enumerate() {
                if let Some(outcome) = check_one(shared, program, config, dir)? {
                    failed.extend(
                        outcome.failures.iter().map(|f| (number, config, f.kind.clone(), f.text.clone())),
                    );
                }
            }
        } else {
            failed
                .extend(outcome.failures.iter().map(|f| (f.program, config, f.kind.clone(), f.text.clone())));
        }
        report::merge(&mut whole, outcome);
    }
    let features: Vec<_> = programs.iter().map(|p| shared.grammar.features(p)).collect();
    shared.report().batch(&features, &whole);
    let mut seen = std::collections::BTreeSet::new();
    for (number, config, kind, text) in failed {
        if seen.insert((number, kind.clone())) {
            write_failure(shared, &programs[number], (batch, number), config, (&kind, &text), dir)?;
        }
    }
    Ok(())
}

/// One program by itself; `None` if even the plain compiler has trouble, or at other levels comes to other
/// results.
fn check_one<G: Grammar>(
    shared: &Shared<'_, G>,
    program: &G::Program,
    config: &Config,
    dir: &Path,
) -> Result<Option<Outcome>> {
    let sources = shared.grammar.sources(&[program]);
    let Plain::Ran(expected) = check::plain(&shared.tools, &sources, "-O1", dir)? else { return Ok(None) };
    let outcome = check::compare(&shared.tools, 1, &sources, &expected, config, dir)?;
    if outcome.failures.iter().any(|f| matches!(f.kind, Kind::Mismatch | Kind::Run)) {
        let Plain::Ran(other) = check::plain(&shared.tools, &sources, config.level, dir)? else {
            return Ok(None);
        };
        if !other.same(&expected) {
            return Ok(None);
        }
    }
    Ok(Some(outcome))
}

/// Makes a failing program small and writes it.
fn write_failure<G: Grammar>(
    shared: &Shared<'_, G>,
    program: &G::Program,
    (batch, number): (u64, usize),
    config: &Config,
    (kind, text): (&Kind, &str),
    dir: &Path,
) -> Result<()> {
    let mut fails = |candidate: &G::Program| {
        let outcome = check_one(shared, candidate, config, dir).ok().flatten();
        outcome.is_some_and(|o| o.failures.iter().any(|f| f.kind == *kind && similar(&f.text, text, kind)))
    };
    // What takes long takes too long to be made small.
    let small = if *kind != Kind::Slow
        && !shared.arguments.stop
        && shared.shrinks.fetch_add(1, Ordering::Relaxed) < shared.arguments.shrinks
        && fails(program)
    {
        let deadline = Instant::now() + Duration::from_secs(shared.arguments.shrink_seconds);
        shared.grammar.shrink(program, deadline, &mut fails)
    } else {
        program.clone()
    };
    let arguments = shared.arguments;
    let name = format!("{kind:?}-{}-{batch}-{number}", arguments.seed).to_lowercase();
    let sources = shared.grammar.sources(&[&small]);
    let environment: Vec<String> =
        config.environment(sources.threads).iter().map(|(n, v)| format!("{n}={v}")).collect();
    let files = shared.grammar.reproducer(&small);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let (with_plugin, others): (Vec<&str>, Vec<&str>) = names.iter().partition(|n| **n != "harness.c");
    let compiler = shared.tools.compiler(sources.language);
    let flags = check::common(sources.language).iter().map(|f| (*f).to_owned()).chain(sources.flags);
    let (flags, names) = (flags.collect::<Vec<_>>().join(" "), names.join(" "));
    let commands = format!(
        "#!/bin/sh\n# {}\n# Program {number} of file {batch}: scripts/fuzz with --kind {:?} --seed {} --first {batch} --files 1\n\
         # FUZZ_DUMP=1 shows all elements.\n\
         cd \"$(dirname \"$0\")\" || exit 2\nB=${{POLLYRS_BUILD:-{}}}\n\
         {compiler} -O1 {flags} {names} -lm -lpthread -o plain && ./plain >plain.out\n\
         {compiler} {} {flags} -c {} && {compiler} {} *.o -L$B -Wl,-rpath,$B -lpollyrs_rt -lm -lpthread -o offloaded &&\n\
         {} ./offloaded >offloaded.out\ndiff plain.out offloaded.out\n",
        text.lines().next().unwrap_or(""),
        arguments.kind,
        arguments.seed,
        shared.tools.runtime_dir.display(),
        config
            .compiler_flags(&shared.tools)
            .join(" ")
            .replace(&shared.tools.runtime_dir.display().to_string(), "$B"),
        with_plugin.join(" "),
        others.join(" "),
        environment.join(" "),
    );
    let path = arguments.out.join(&name);
    std::fs::create_dir_all(&path).map_err(at(&path))?;
    for (name, text) in files.into_iter().chain([("run.sh".to_owned(), commands)]) {
        let file = path.join(name);
        std::fs::write(&file, text).map_err(at(&file))?;
    }
    shared.report().failure(kind, config.strategy, text, &path);
    Ok(())
}

/// Internal errors have to stay the same error: the text up to the first digit or quote.
fn similar(a: &str, b: &str, kind: &Kind) -> bool {
    let key = |t: &str| t.chars().filter(|c| !c.is_ascii_digit()).take(60).collect::<String>();
    *kind != Kind::Internal || key(a) == key(b)
}

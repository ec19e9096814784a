//! A differential fuzzer for pollyrs.
//!
//! Random affine C programs ([`generate`]) without undefined behaviour ([`evaluate`]) are compiled plain and with the plugin, for
//! the emulated device, under several strategies; after each call all memory, guard zones included, must be the same ([`check`]). A
//! program that fails is made small ([`shrink`]) and written as a C file with the commands that show the failure.
//!
//! Program k of a seed is the same in every run; only how many programs there are depends on the time.

mod ast;
mod bundle;
mod check;
mod error;
mod evaluate;
mod generate;
mod layout;
mod print;
mod process;
mod report;
mod rng;
mod shrink;

use ast::Program;
use check::{Config, Kind, Outcome, Tools};
use clap::Parser;
use error::{Error, Result, at};
use report::Report;
use rng::Rng;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Random affine programs, plain and with the plugin, compared bit for bit.
#[derive(Parser, Debug)]
#[command(name = "fuzz")]
struct Arguments {
    /// How long to start new programs.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
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
    /// Makes a bundle for a machine with a GPU of `--files` files in this folder, and ends.
    #[arg(long)]
    bundle: Option<PathBuf>,
    /// Prints the programs of the first file and ends.
    #[arg(long)]
    print: bool,
}

const STRATEGIES: [&str; 7] = ["auto", "original", "isl", "streaming", "hybrid", "diamond", "split"];

fn main() -> std::process::ExitCode {
    let arguments = Arguments::parse();
    if arguments.print {
        let programs = programs(&arguments, arguments.first);
        print!("{}", print::batch(&programs.iter().collect::<Vec<_>>()));
        return std::process::ExitCode::SUCCESS;
    }
    match fuzz(&arguments) {
        Ok(_) if arguments.bundle.is_some() => std::process::ExitCode::SUCCESS,
        Ok(report) => {
            print!("{report}");
            std::process::ExitCode::from(u8::from(report.failed()))
        }
        Err(e) => {
            eprintln!("fuzz: {e}");
            std::process::ExitCode::from(2)
        }
    }
}

fn programs(arguments: &Arguments, batch: u64) -> Vec<Program> {
    let numbers = 0..arguments.batch as u64;
    numbers
        .map(|n| generate::generate(&mut Rng::stream(arguments.seed, batch * arguments.batch as u64 + n)))
        .collect()
}

fn fuzz(arguments: &Arguments) -> Result<Report> {
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
    check::harness(&tools, scratch.path())?;
    if let Some(dir) = &arguments.bundle {
        bundle::begin(&tools, dir)?;
        let files = arguments.first..arguments.first + arguments.files.unwrap_or(1);
        for file in files {
            let programs = programs(arguments, file);
            let strategy = STRATEGIES[file as usize % STRATEGIES.len()];
            bundle::add(&tools, &programs.iter().collect::<Vec<_>>(), file, strategy, dir, scratch.path())?;
        }
        return Ok(Report::new(arguments.seed));
    }
    std::fs::create_dir_all(&arguments.out).map_err(at(&arguments.out))?;
    let jobs =
        arguments.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into)).max(1);
    let shared = Shared {
        arguments,
        tools,
        deadline: Instant::now() + Duration::from_secs(arguments.seconds),
        next: AtomicU64::new(arguments.first),
        shrinks: AtomicUsize::new(0),
        report: Mutex::new(Report::new(arguments.seed)),
    };
    let started = Instant::now();
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
    let mut report = shared.report.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    report.seconds = started.elapsed().as_secs_f64();
    Ok(report)
}

struct Shared<'a> {
    arguments: &'a Arguments,
    tools: Tools,
    deadline: Instant,
    next: AtomicU64,
    shrinks: AtomicUsize,
    report: Mutex<Report>,
}

impl Shared<'_> {
    fn report(&self) -> std::sync::MutexGuard<'_, Report> {
        self.report.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn worker(shared: &Shared, dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir).map_err(at(dir))?;
    while Instant::now() < shared.deadline {
        let batch = shared.next.fetch_add(1, Ordering::Relaxed);
        if shared.arguments.files.is_some_and(|n| batch >= shared.arguments.first + n) {
            break;
        }
        one_batch(shared, batch, dir)?;
    }
    Ok(())
}

fn one_batch(shared: &Shared, batch: u64, dir: &Path) -> Result<()> {
    let programs = programs(shared.arguments, batch);
    let list: Vec<&Program> = programs.iter().collect();
    let mut rng = Rng::stream(shared.arguments.seed ^ 0x5eed, batch);
    let configs: Vec<Config> = (0..shared.arguments.strategies)
        .map(|n| Config::random(&mut rng, STRATEGIES[(batch as usize + n) % STRATEGIES.len()]))
        .collect();
    let expected = match check::plain(&shared.tools, &list, dir)? {
        Ok(expected) => expected,
        Err(text) => {
            let path = shared.arguments.out.join(format!("generator-{}-{batch}.c", shared.arguments.seed));
            std::fs::write(&path, print::batch(&list)).map_err(at(&path))?;
            shared.report().failure(&Kind::Generator, "", &text, &path);
            return Ok(());
        }
    };
    let mut whole = Outcome::default();
    let mut failed = Vec::new();
    for config in &configs {
        let outcome = check::compare(&shared.tools, list.len(), &expected, config, dir)?;
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
            // The next configuration needs the whole file again.
            let source = dir.join("batch.c");
            std::fs::write(&source, print::batch(&list)).map_err(at(&source))?;
        } else {
            failed
                .extend(outcome.failures.iter().map(|f| (f.program, config, f.kind.clone(), f.text.clone())));
        }
        report::merge(&mut whole, outcome);
    }
    shared.report().batch(&programs, &whole);
    let mut seen = std::collections::BTreeSet::new();
    for (number, config, kind, text) in failed {
        if seen.insert((number, kind.clone())) {
            write_failure(shared, &programs[number], (batch, number), config, &kind, &text, dir)?;
        }
    }
    Ok(())
}

/// One program by itself; `None` if even the plain compiler has trouble.
fn check_one(shared: &Shared, program: &Program, config: &Config, dir: &Path) -> Result<Option<Outcome>> {
    match check::plain(&shared.tools, &[program], dir)? {
        Ok(expected) => Ok(Some(check::compare(&shared.tools, 1, &expected, config, dir)?)),
        Err(_) => Ok(None),
    }
}

/// Makes a failing program small and writes it.
fn write_failure(
    shared: &Shared,
    program: &Program,
    (batch, number): (u64, usize),
    config: &Config,
    kind: &Kind,
    text: &str,
    dir: &Path,
) -> Result<()> {
    let mut fails = |candidate: &Program| {
        let outcome = check_one(shared, candidate, config, dir).ok().flatten();
        outcome.is_some_and(|o| o.failures.iter().any(|f| f.kind == *kind && similar(&f.text, text, kind)))
    };
    // What takes long takes too long to be made small.
    let small = if *kind != Kind::Slow
        && shared.shrinks.fetch_add(1, Ordering::Relaxed) < shared.arguments.shrinks
        && fails(program)
    {
        let deadline = Instant::now() + Duration::from_secs(shared.arguments.shrink_seconds);
        shrink::shrink(program, deadline, &mut fails)
    } else {
        program.clone()
    };
    let arguments = shared.arguments;
    let name = format!("{kind:?}-{}-{batch}-{number}", arguments.seed).to_lowercase();
    let path = arguments.out.join(format!("{name}.c"));
    let environment: Vec<String> = config.environment().iter().map(|(n, v)| format!("{n}={v}")).collect();
    let head = format!(
        "{kind:?}: {text}\nclang-22 -O1 -ffp-contract=off -fno-math-errno -w {name}.c -lm -o plain && ./plain\n\
         B={}; clang-22 {} -ffp-contract=off -fno-math-errno -w -mllvm -pollyrs-only-function=p0 {name}.c -L$B \
         -Wl,-rpath,$B -lpollyrs_rt -lm -o offloaded && {} ./offloaded\n\
         FUZZ_DUMP=1 shows all elements. Program {number} of file {batch}: --seed {} --first {batch} --files 1",
        arguments.build.display(),
        config.compiler_flags(&shared.tools).join(" "),
        environment.join(" "),
        arguments.seed,
    );
    std::fs::write(&path, print::single(&small, &head)).map_err(at(&path))?;
    shared.report().failure(kind, config.strategy, text, &path);
    Ok(())
}

/// Internal errors have to stay the same error: the text up to the first digit or quote.
fn similar(a: &str, b: &str, kind: &Kind) -> bool {
    let key = |t: &str| t.chars().filter(|c| !c.is_ascii_digit()).take(60).collect::<String>();
    *kind != Kind::Internal || key(a) == key(b)
}

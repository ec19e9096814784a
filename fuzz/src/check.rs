//! Compiles a file of programs plain and with the plugin, runs both and says where they differ.

use crate::ast::Program;
use crate::error::{Error, Result, at};
use crate::print;
use crate::process::{self, Done};
use crate::rng::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Where everything is.
#[derive(Clone, Debug)]
pub struct Tools {
    pub plugin: PathBuf,
    pub runtime_dir: PathBuf,
    pub harness: PathBuf,
    pub clang: String,
}

/// One way to compile and run with the plugin.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub strategy: &'static str,
    pub tile: Option<String>,
    pub level: &'static str,
    /// Kernels report races, accesses out of bounds and undefined values.
    pub checked: bool,
    pub order: u64,
    pub threads: u32,
    /// isl operations of a stage; None: the default. Few programs need more than 300,000, and those take half of all time, often
    /// to be refused in the end: a file with the default costs as much as six with the smallest.
    pub budget: Option<u32>,
    /// An operation of the run-time library that fails: name and count. The original loop runs then, or the program says what it lost.
    pub fault: Option<String>,
    /// Launches go in so many slices, copies beside them.
    pub slices: Option<u32>,
}

impl Config {
    pub fn random(rng: &mut Rng, strategy: &'static str) -> Config {
        let sizes = [1, 2, 3, 4, 5, 7, 8, 16, 17, 32, 64];
        let tile = rng.chance(60).then(|| {
            let n = 1 + rng.below(3);
            // A block has 1024 threads at most.
            let mut left = 1024;
            let tile = (0..n).map(|_| {
                let size = (*rng.pick(&sizes)).min(left);
                left /= size;
                size.to_string()
            });
            tile.collect::<Vec<_>>().join("x")
        });
        Config {
            strategy,
            tile,
            level: ["-O3", "-O2", "-O1"][rng.weighted(&[60, 20, 20])],
            checked: rng.chance(85),
            order: rng.next() % 1000,
            threads: 1 + rng.below(2) as u32,
            budget: [Some(300_000), Some(1_500_000), None][rng.weighted(&[90, 7, 3])],
            fault: rng.chance(12).then(|| {
                let operation = rng.pick(&["alloc", "copy", "end-copy", "launch", "sync"]);
                format!("{operation}:{}", 1 + rng.below(60))
            }),
            slices: rng.chance(25).then(|| 2 + rng.below(3) as u32),
        }
    }

    pub fn compiler_flags(&self, tools: &Tools) -> Vec<String> {
        let mut flags = vec![self.level.to_owned(), format!("-fpass-plugin={}", tools.plugin.display())];
        let mut option =
            |name: &str, value: &str| flags.extend(["-mllvm".to_owned(), format!("-pollyrs-{name}={value}")]);
        option("targets", if self.checked { "emulated-checked" } else { "emulated" });
        option("strategy", self.strategy);
        if let Some(tile) = &self.tile {
            option("tile", tile);
        }
        if let Some(budget) = self.budget {
            option("budget", &budget.to_string());
        }
        flags
    }

    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let mut variables = vec![
            ("POLLYRS_RT_DEVICE", "emulated".to_owned()),
            ("POLLYRS_RT_OFFLOAD", "always".to_owned()),
            ("POLLYRS_RT_CHECK", "1".to_owned()),
            ("POLLYRS_RT_EMU_ORDER", self.order.to_string()),
            ("POLLYRS_RT_EMU_THREADS", self.threads.to_string()),
        ];
        variables.extend(self.fault.clone().map(|fault| ("POLLYRS_RT_FAULT", fault)));
        variables.extend(self.slices.map(|n| ("POLLYRS_RT_OVERLAP", n.to_string())));
        variables
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Mismatch,
    /// The compiled program crashed, hung or was ended by a check.
    Run,
    /// The compiler crashed.
    Compile,
    /// The compiler took too long.
    Slow,
    /// A remark `Internal`, with its message.
    Internal,
    /// The plain compiler or the plain program failed: an error of the fuzzer.
    Generator,
}

#[derive(Clone, Debug)]
pub struct Failure {
    pub program: usize,
    pub kind: Kind,
    pub text: String,
}

/// What happened to each program of a file.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub failures: Vec<Failure>,
    /// Programs with at least one execution on the device.
    pub on_device: BTreeSet<usize>,
    /// Programs with at least one versioned nest.
    pub versioned: BTreeSet<usize>,
    /// Names of missed remarks, with the programs.
    pub refused: BTreeMap<String, BTreeSet<usize>>,
    /// Reasons at run time.
    pub fell_back: BTreeMap<String, BTreeSet<usize>>,
    pub plain_cpu: Duration,
    pub plugin_cpu: Duration,
}

const COMPILE_LIMIT: Duration = Duration::from_secs(120);
const RUN_LIMIT: Duration = Duration::from_secs(60);
/// How many times the plain compiler's processor time a file may take: 10 seconds for one program, on a machine that does nothing else. On a
/// machine that does, both take longer.
const SLOW: u32 = 120;
/// The least that is measured.
const TICK: Duration = Duration::from_millis(10);

/// Compiles the harness once.
pub fn harness(tools: &Tools, dir: &Path) -> Result<()> {
    let source = dir.join("harness.c");
    std::fs::write(&source, print::HARNESS).map_err(at(&source))?;
    let mut command = Command::new(&tools.clang);
    command.args(["-O1", "-w", "-c"]).arg(&source).arg("-o").arg(&tools.harness);
    let done = process::run(&mut command, &dir.join("harness"), COMPILE_LIMIT)?;
    if done.ok() { Ok(()) } else { Err(Error::Harness(done.stderr)) }
}

/// The plain executable's output, line for line.
pub struct Expected {
    lines: BTreeMap<(usize, usize), String>,
    cpu: Duration,
}

pub const COMMON: [&str; 3] = ["-ffp-contract=off", "-fno-math-errno", "-w"];

/// Compiles and runs without the plugin. An inner error is the generator's.
pub fn plain(
    tools: &Tools,
    programs: &[&Program],
    dir: &Path,
) -> Result<std::result::Result<Expected, String>> {
    let source = dir.join("batch.c");
    std::fs::write(&source, print::batch(programs)).map_err(at(&source))?;
    let executable = dir.join("plain");
    let mut command = Command::new(&tools.clang);
    command.arg("-O1").args(COMMON).arg(&source).arg(&tools.harness).arg("-lm").arg("-o").arg(&executable);
    let compiled = process::run(&mut command, &dir.join("plain"), COMPILE_LIMIT)?;
    if !compiled.ok() {
        return Ok(Err(compiled.stderr));
    }
    let ran = process::run(&mut Command::new(&executable), &dir.join("plain"), RUN_LIMIT)?;
    Ok(if ran.ok() { Ok(Expected { lines: lines(&ran), cpu: compiled.cpu }) } else { Err(ran.why()) })
}

/// Compiles `batch.c` of [`plain`] with the plugin, runs it and compares.
///
/// All of LLVM's passes run at the configuration's level; instructions are then selected without optimization, which takes a third of
/// the time off: a checked kernel is a call at each access, long and slow to allocate registers for.
///
/// Only LLVM 22's vectorisation of straight lines is missing: it reads instructions that it has deleted where remarks are recorded, and ends the
/// compiler on unrolled sums of products of the host, with the plugin or without.
pub fn compare(
    tools: &Tools,
    n_programs: usize,
    expected: &Expected,
    config: &Config,
    dir: &Path,
) -> Result<Outcome> {
    let mut outcome = Outcome { plain_cpu: expected.cpu, ..Outcome::default() };
    let (source, executable) = (dir.join("batch.c"), dir.join("offloaded"));
    let bitcode = dir.join("offloaded.bc");
    let record = dir.join("record.yaml");
    let profile = dir.join("profile.jsonl");
    let _ = std::fs::remove_file(&profile);
    let _ = std::fs::remove_file(&record);
    let mut command = Command::new(&tools.clang);
    command
        .args(config.compiler_flags(tools))
        .args(COMMON)
        .arg(format!("-foptimization-record-file={}", record.display()))
        .args(["-foptimization-record-passes=pollyrs", "-fno-slp-vectorize"])
        .args(["-emit-llvm", "-c"])
        .arg(&source)
        .arg("-o")
        .arg(&bitcode);
    let compiled = process::run(&mut command, &dir.join("offloaded"), COMPILE_LIMIT)?;
    outcome.plugin_cpu = compiled.cpu;
    let whole = |kind: Kind, text: String| {
        (0..n_programs).map(move |program| Failure { program, kind: kind.clone(), text: text.clone() })
    };
    if compiled.timed_out || compiled.cpu > SLOW * expected.cpu.max(TICK) {
        outcome.failures.extend(whole(Kind::Slow, format!("{:.1} s", compiled.cpu.as_secs_f64())));
    }
    if compiled.timed_out {
        return Ok(outcome);
    }
    if !compiled.ok() {
        outcome.failures.extend(whole(Kind::Compile, compiled.why()));
        return Ok(outcome);
    }
    read_record(&record, &mut outcome)?;
    let mut command = Command::new(&tools.clang);
    command
        .args(["-O0", "-w", "-x", "ir"])
        .arg(&bitcode)
        .args(["-x", "none"])
        .arg(&tools.harness)
        .arg(format!("-L{}", tools.runtime_dir.display()))
        .arg(format!("-Wl,-rpath,{}", tools.runtime_dir.display()))
        .args(["-lpollyrs_rt", "-lm", "-o"])
        .arg(&executable);
    let linked = process::run(&mut command, &dir.join("offloaded"), COMPILE_LIMIT)?;
    outcome.plugin_cpu += linked.cpu;
    if !linked.ok() {
        outcome.failures.extend(whole(Kind::Compile, linked.why()));
        return Ok(outcome);
    }
    let mut command = Command::new(&executable);
    command.envs(config.environment()).env("POLLYRS_RT_PROFILE", &profile);
    let ran = process::run(&mut command, &dir.join("offloaded"), RUN_LIMIT)?;
    read_profile(&profile, &mut outcome);
    compare_lines(expected, &ran, config, &mut outcome);
    Ok(outcome)
}

/// How a program ends whose results were on the device only when it failed.
const LOST: [&str; 2] = ["results were lost while they", "a failure left arrays half changed"];

fn lines(done: &Done) -> BTreeMap<(usize, usize), String> {
    let parse = |line: &str| {
        let mut words = line.strip_prefix('p')?.splitn(3, ' ');
        let key = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some((key, words.next()?.to_owned()))
    };
    done.stdout.lines().filter_map(parse).collect()
}

/// Lines that differ, and the program that was running at a crash. A planned fault may end a program that says why.
fn compare_lines(expected: &Expected, ran: &Done, config: &Config, outcome: &mut Outcome) {
    let got = lines(ran);
    for (key, line) in &expected.lines {
        match got.get(key) {
            Some(other) if other == line => {}
            Some(other) => {
                if !outcome.failures.iter().any(|f| f.program == key.0 && f.kind == Kind::Mismatch) {
                    let text = format!("argument list {}: expected {line}, got {other}", key.1);
                    outcome.failures.push(Failure { program: key.0, kind: Kind::Mismatch, text });
                }
            }
            None if config.fault.is_some() && LOST.iter().any(|text| ran.stderr.contains(text)) => return,
            None => {
                let text = format!("argument list {}: {}", key.1, ran.why());
                outcome.failures.push(Failure { program: key.0, kind: Kind::Run, text });
                return;
            }
        }
    }
}

/// `p12`, `p12.cold` → 12
fn program_of(function: &str) -> Option<usize> {
    let digits: String = function
        .trim()
        .trim_matches('\'')
        .strip_prefix('p')?
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}

/// LLVM's YAML: one document a remark, with the fields Name, Function and the parts of the text.
fn read_record(path: &Path, outcome: &mut Outcome) -> Result<()> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(at(path)(e)),
    };
    for document in text.split("\n...") {
        let field = |name: &str| document.lines().find_map(|l| Some(l.strip_prefix(name)?.trim().to_owned()));
        let (Some(name), Some(program)) =
            (field("Name:"), field("Function:").as_deref().and_then(program_of))
        else {
            continue;
        };
        if document.contains("--- !Passed") {
            outcome.versioned.insert(program);
        } else if document.contains("--- !Missed") {
            outcome.refused.entry(name.clone()).or_default().insert(program);
        }
        if name == "Internal" {
            let words: Vec<&str> =
                document.lines().filter_map(|l| l.trim().strip_prefix("- String:")).map(str::trim).collect();
            let text = words.concat();
            outcome.failures.push(Failure { program, kind: Kind::Internal, text });
        }
    }
    Ok(())
}

fn read_profile(path: &Path, outcome: &mut Outcome) {
    // No file: nothing was versioned, or the program died early, which is noticed elsewhere.
    let text = std::fs::read_to_string(path).unwrap_or_default();
    for line in text.lines() {
        let Ok(value) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let Some(program) = value["scop"].as_str().and_then(program_of) else { continue };
        if value["device"] == "emulated" {
            outcome.on_device.insert(program);
        } else {
            let reason = value["reason"].as_str().unwrap_or("?").to_owned();
            // What the plugin says about its own code is wrong.
            if reason.starts_with("inconsistent") {
                outcome.failures.push(Failure { program, kind: Kind::Internal, text: reason.clone() });
            }
            outcome.fell_back.entry(reason).or_default().insert(program);
        }
    }
}

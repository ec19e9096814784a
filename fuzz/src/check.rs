//! Compiles a file of programs plain and with the plugin, runs both and says where they differ.

use crate::error::{Error, Result, at};
use crate::grammar::{Language, Sources};
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

impl Tools {
    /// clang-22 → clang++-22, flang-22
    pub fn compiler(&self, language: Language) -> String {
        match language {
            Language::C => self.clang.clone(),
            Language::Cpp => self.clang.replacen("clang", "clang++", 1),
            Language::Fortran => self.clang.replacen("clang", "flang", 1),
        }
    }
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
    /// isl operations of a stage; None: the default. Few programs need more than 300,000, and those take half
    /// of all time, often to be refused in the end: a file with the default costs as much as six with the
    /// smallest.
    pub budget: Option<u32>,
    /// An operation of the run-time library that fails: name and count. The original loop runs then, or the
    /// program says what it lost.
    pub fault: Option<String>,
    /// Launches go in so many slices, copies beside them.
    pub slices: Option<u32>,
    /// Arrays stay on the device between executions that know nothing of each other.
    pub resident: bool,
    /// Loops of few iterations, too.
    pub small: bool,
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
            resident: false,
            small: false,
        }
    }

    /// How many devices share launches, if several do: of every third configuration 2 to 4. (By what is drawn
    /// already, so that seeds keep their programs.)
    fn devices(&self) -> Option<u64> {
        self.order.is_multiple_of(3).then_some(2 + self.order / 3 % 3)
    }

    /// Of programs whose loops are simple.
    pub fn of_sequence(rng: &mut Rng, turn: usize) -> Config {
        let strategy = ["auto", "auto", "original", "isl"][rng.weighted(&[40, 30, 20, 10])];
        let mut config = Config::random(rng, strategy);
        // Both devices take turns.
        config.checked = turn.is_multiple_of(2);
        config.resident = rng.chance(10);
        config
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
        if self.small {
            option("min-work", "0");
        }
        if self.devices().is_some() {
            option("divide", "true");
        }
        if let Some(budget) = self.budget {
            option("budget", &budget.to_string());
        }
        flags
    }

    /// Of whole programs, whose loops are small.
    pub fn of_whole(rng: &mut Rng, turn: usize) -> Config {
        Config {
            small: true,
            level: if turn.is_multiple_of(3) { "-O1" } else { "-O3" },
            ..Config::of_sequence(rng, turn)
        }
    }

    /// `threads`: others touch what lies beside the results of an execution, which looks like a mistake of
    /// its own.
    pub fn environment(&self, threads: bool) -> Vec<(&'static str, String)> {
        let mut variables = vec![
            ("POLLYRS_RT_DEVICE", "emulated".to_owned()),
            ("POLLYRS_RT_OFFLOAD", "always".to_owned()),
            ("POLLYRS_RT_CHECK", if threads { "race,bounds,init" } else { "1" }.to_owned()),
            ("POLLYRS_RT_EMU_ORDER", self.order.to_string()),
            ("POLLYRS_RT_EMU_THREADS", self.threads.to_string()),
        ];
        variables.extend(self.fault.clone().map(|fault| ("POLLYRS_RT_FAULT", fault)));
        variables.extend(self.slices.map(|n| ("POLLYRS_RT_OVERLAP", n.to_string())));
        variables.extend(self.devices().map(|n| ("POLLYRS_RT_EMULATED_DEVICES", n.to_string())));
        variables.extend(self.resident.then(|| ("POLLYRS_RT_RESIDENT", "on".to_owned())));
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
    /// Programs that were not compared: they ran on and on, with more executions than [`MANY`].
    pub unfinished: usize,
    pub plain_cpu: Duration,
    pub plugin_cpu: Duration,
}

const COMPILE_LIMIT: Duration = Duration::from_secs(120);
pub const RUN_LIMIT: Duration = Duration::from_secs(60);
/// A whole program may run a small loop so often that the emulated device, which takes some microseconds for
/// each, takes minutes.
const MANY: usize = 20_000;
/// How much longer than the plain program such a program is waited for.
const PATIENCE: u32 = 10;
/// How many times the plain compiler's processor time a file may take: 10 seconds for one program, on a
/// machine that does nothing else. On a machine that does, both take longer.
const SLOW: u32 = 120;
/// The least that is measured.
const TICK: Duration = Duration::from_millis(10);

/// Compiles the harness once.
pub fn harness(tools: &Tools, text: &str, flags: &[&str], dir: &Path) -> Result<()> {
    let source = dir.join("harness.c");
    std::fs::write(&source, text).map_err(at(&source))?;
    let mut command = Command::new(&tools.clang);
    command.args(["-O1", "-w", "-c"]).args(flags).arg(&source).arg("-o").arg(&tools.harness);
    let done = process::run(&mut command, &dir.join("harness"), COMPILE_LIMIT)?;
    if done.ok() { Ok(()) } else { Err(Error::Harness(done.stderr)) }
}

/// The plain executable's output, line for line.
pub struct Expected {
    lines: BTreeMap<(usize, usize), String>,
    cpu: Duration,
}

impl Expected {
    pub fn same(&self, other: &Expected) -> bool {
        self.lines == other.lines
    }
}

/// What programs are compiled with in any case.
pub fn common(language: Language) -> &'static [&'static str] {
    match language {
        Language::C => &["-ffp-contract=off", "-fno-math-errno", "-w"],
        Language::Cpp => &["-std=c++20", "-ffp-contract=off", "-fno-math-errno", "-w"],
        Language::Fortran => &["-ffp-contract=off", "-w"],
    }
}

/// The files of a program, written to a folder.
pub fn write(sources: &Sources, dir: &Path) -> Result<Vec<PathBuf>> {
    let write = |(number, text): (usize, &String)| {
        let path = dir.join(format!("file{number}.{}", sources.language.extension()));
        std::fs::write(&path, text).map_err(at(&path))?;
        Ok(path)
    };
    sources.files.iter().enumerate().map(write).collect()
}

/// What the plain compiler makes of a file.
pub enum Plain {
    Ran(Expected),
    /// It refuses the file, or what it makes of it fails: the generator's error.
    Failed(String),
}

/// Compiles and runs without the plugin.
pub fn plain(tools: &Tools, sources: &Sources, level: &str, dir: &Path) -> Result<Plain> {
    let executable = dir.join("plain");
    let mut command = Command::new(tools.compiler(sources.language));
    command
        .arg(level)
        .args(common(sources.language))
        .args(&sources.flags)
        .args(write(sources, dir)?)
        .arg(&tools.harness)
        .args(["-lm", "-lpthread", "-o"])
        .arg(&executable)
        .current_dir(dir);
    let compiled = process::run(&mut command, &dir.join("plain"), COMPILE_LIMIT)?;
    if !compiled.ok() {
        return Ok(Plain::Failed(compiled.stderr));
    }
    let ran = process::run(&mut Command::new(&executable), &dir.join("plain"), sources.limit)?;
    Ok(match ran.ok() {
        true => Plain::Ran(Expected { lines: lines(&ran), cpu: compiled.cpu }),
        false => Plain::Failed(ran.why()),
    })
}

/// Compiles what [`plain`] did with the plugin, runs it and compares.
///
/// All of LLVM's passes run at the configuration's level; instructions are then selected without
/// optimization, which takes a third of the time off: a checked kernel is a call at each access, long and
/// slow to allocate registers for.
///
/// Only LLVM 22's vectorisation of straight lines is missing: it reads instructions that it has deleted where
/// remarks are recorded, and ends the compiler on unrolled sums of products of the host, with the plugin or
/// without.
pub fn compare(
    tools: &Tools,
    n_programs: usize,
    sources: &Sources,
    expected: &Expected,
    config: &Config,
    dir: &Path,
) -> Result<Outcome> {
    let mut outcome = Outcome { plain_cpu: expected.cpu, ..Outcome::default() };
    let executable = dir.join("offloaded");
    let profile = dir.join("profile.jsonl");
    let _ = std::fs::remove_file(&profile);
    let whole = |kind: Kind, text: String| {
        (0..n_programs).map(move |program| Failure { program, kind: kind.clone(), text: text.clone() })
    };
    let mut codes = Vec::new();
    for source in write(sources, dir)? {
        let (bitcode, record) = (source.with_extension("bc"), source.with_extension("yaml"));
        let _ = std::fs::remove_file(&record);
        let mut command = Command::new(tools.compiler(sources.language));
        command
            .args(config.compiler_flags(tools))
            .args(common(sources.language))
            .args(&sources.flags)
            .arg(format!("-foptimization-record-file={}", record.display()))
            .arg("-foptimization-record-passes=pollyrs")
            .args((sources.language != Language::Fortran).then_some("-fno-slp-vectorize"))
            .args(["-emit-llvm", "-c"])
            .arg(&source)
            .arg("-o")
            .arg(&bitcode)
            .current_dir(dir);
        let compiled = process::run(&mut command, &dir.join("offloaded"), COMPILE_LIMIT)?;
        outcome.plugin_cpu += compiled.cpu;
        if compiled.timed_out || outcome.plugin_cpu > SLOW * expected.cpu.max(TICK) {
            outcome.failures.extend(whole(Kind::Slow, format!("{:.1} s", outcome.plugin_cpu.as_secs_f64())));
        }
        if compiled.timed_out {
            return Ok(outcome);
        }
        if !compiled.ok() {
            outcome.failures.extend(whole(Kind::Compile, compiled.why()));
            return Ok(outcome);
        }
        read_record(&record, n_programs, &mut outcome)?;
        codes.push(bitcode);
    }
    let mut objects = Vec::new();
    for bitcode in codes {
        let object = bitcode.with_extension("o");
        let mut command = Command::new(&tools.clang);
        command.args(["-O0", "-w", "-c", "-x", "ir"]).arg(&bitcode).arg("-o").arg(&object);
        let selected = process::run(&mut command, &dir.join("offloaded"), COMPILE_LIMIT)?;
        outcome.plugin_cpu += selected.cpu;
        if !selected.ok() {
            outcome.failures.extend(whole(Kind::Compile, selected.why()));
            return Ok(outcome);
        }
        objects.push(object);
    }
    let mut command = Command::new(tools.compiler(sources.language));
    command
        .args(objects)
        .arg(&tools.harness)
        .arg(format!("-L{}", tools.runtime_dir.display()))
        .arg(format!("-Wl,-rpath,{}", tools.runtime_dir.display()))
        .args(["-lpollyrs_rt", "-lm", "-lpthread", "-o"])
        .arg(&executable);
    let linked = process::run(&mut command, &dir.join("offloaded"), COMPILE_LIMIT)?;
    outcome.plugin_cpu += linked.cpu;
    if !linked.ok() {
        outcome.failures.extend(whole(Kind::Compile, linked.why()));
        return Ok(outcome);
    }
    let mut command = Command::new(&executable);
    command.envs(config.environment(sources.threads)).env("POLLYRS_RT_PROFILE", &profile);
    let ran = process::run(&mut command, &dir.join("offloaded"), RUN_LIMIT.min(sources.limit * PATIENCE))?;
    let executions = read_profile(&profile, n_programs, &mut outcome);
    if ran.timed_out && executions > MANY {
        outcome.unfinished = n_programs;
    } else {
        compare_lines(expected, &ran, config, &mut outcome);
    }
    Ok(outcome)
}

/// How a program ends whose results were on the device only when it failed.
const LOST: [&str; 2] = ["results were lost while they", "a failure left arrays half changed"];

fn lines(done: &Done) -> BTreeMap<(usize, usize), String> {
    let parse = |line: &str| {
        if let Some(sum) = line.strip_prefix("checksum = ") {
            return Some(((0, 0), sum.to_owned()));
        }
        let mut words = line.strip_prefix('p')?.splitn(3, ' ');
        let key = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some((key, words.next()?.to_owned()))
    };
    done.stdout.lines().filter_map(parse).collect()
}

/// Lines that differ, and the program that was running at a crash. A planned fault may end a program that
/// says why.
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

/// `p12`, `p12.cold`, `p12_k0`, `_Z6p12_k0Pf`, `_QFPp12_k0` → 12
fn program_of(function: &str, n_programs: usize) -> Option<usize> {
    if n_programs == 1 {
        return Some(0);
    }
    let bytes = function.as_bytes();
    let begins = |at: &usize| {
        let before = at.checked_sub(1).map(|b| bytes[b]);
        bytes[*at] == b'p'
            && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
            && before.is_none_or(|b| !b.is_ascii_lowercase())
    };
    let at = (0..bytes.len()).find(begins)?;
    let digits: String = function[at + 1..].chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// LLVM's YAML: one document a remark, with the fields Name, Function and the parts of the text.
fn read_record(path: &Path, n_programs: usize, outcome: &mut Outcome) -> Result<()> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(at(path)(e)),
    };
    for document in text.split("\n...") {
        let field = |name: &str| document.lines().find_map(|l| Some(l.strip_prefix(name)?.trim().to_owned()));
        let (Some(name), Some(program)) =
            (field("Name:"), field("Function:").and_then(|f| program_of(&f, n_programs)))
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

/// How many executions there are, and where they ran.
fn read_profile(path: &Path, n_programs: usize, outcome: &mut Outcome) -> usize {
    // No file: nothing was versioned, or the program died early, which is noticed elsewhere.
    let text = std::fs::read_to_string(path).unwrap_or_default();
    for line in text.lines() {
        let Ok(value) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let Some(program) = value["scop"].as_str().and_then(|f| program_of(f, n_programs)) else { continue };
        if value["device"] == "emulated" {
            outcome.on_device.insert(program);
        } else {
            let reason = value["reason"].as_str().unwrap_or("?").to_owned();
            // What the plugin says about its own code is wrong.
            if reason.starts_with("inconsistent") {
                outcome.failures.push(Failure { program, kind: Kind::Internal, text: reason.clone() });
            }
            outcome.fell_back.entry(without_values(&reason)).or_default().insert(program);
        }
    }
    text.lines().count()
}

/// A reason without the values that its condition had.
fn without_values(reason: &str) -> String {
    let mut parts = reason.splitn(3, ": ");
    parts.by_ref().take(2).collect::<Vec<_>>().join(": ")
}

//! Counts of a run: programs offloaded, versioned, refused by reason; failures; compile times.

use crate::check::{Kind, Outcome};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::time::Duration;

#[derive(Debug)]
pub struct Report {
    seed: u64,
    pub seconds: f64,
    programs: usize,
    on_device: usize,
    versioned: usize,
    /// Programs with a missed remark of each name.
    refused: BTreeMap<String, usize>,
    /// Of those, programs of which nothing was versioned.
    refused_whole: BTreeMap<String, usize>,
    fell_back: BTreeMap<String, usize>,
    /// Programs with each kind of control flow, and how many of them ran on the device.
    features: BTreeMap<&'static str, (usize, usize)>,
    failures: Vec<String>,
    kinds: BTreeMap<Kind, usize>,
    /// Not compared.
    unfinished: usize,
    plain_cpu: Duration,
    plugin_cpu: Duration,
    slowest: Duration,
}

/// Adds what one configuration showed to what the others did.
pub fn merge(whole: &mut Outcome, one: Outcome) {
    whole.on_device.extend(one.on_device);
    whole.versioned.extend(one.versioned);
    for (map, other) in [(&mut whole.refused, one.refused), (&mut whole.fell_back, one.fell_back)] {
        for (name, programs) in other {
            map.entry(name).or_default().extend(programs);
        }
    }
    whole.unfinished += one.unfinished;
    whole.plain_cpu += one.plain_cpu;
    whole.plugin_cpu += one.plugin_cpu;
}

fn add(
    counts: &mut BTreeMap<String, usize>,
    found: &BTreeMap<String, BTreeSet<usize>>,
    keep: impl Fn(&usize) -> bool,
) {
    for (name, programs) in found {
        let n = programs.iter().filter(|p| keep(p)).count();
        if n > 0 {
            *counts.entry(name.clone()).or_default() += n;
        }
    }
}

impl Report {
    pub fn new(seed: u64) -> Report {
        Report {
            seed,
            seconds: 0.0,
            programs: 0,
            on_device: 0,
            versioned: 0,
            refused: BTreeMap::new(),
            refused_whole: BTreeMap::new(),
            fell_back: BTreeMap::new(),
            features: BTreeMap::new(),
            unfinished: 0,
            failures: Vec::new(),
            kinds: BTreeMap::new(),
            plain_cpu: Duration::ZERO,
            plugin_cpu: Duration::ZERO,
            slowest: Duration::ZERO,
        }
    }

    /// A file's programs, over all configurations.
    pub fn batch(&mut self, features: &[BTreeSet<&'static str>], outcome: &Outcome) {
        self.programs += features.len();
        for (number, features) in features.iter().enumerate() {
            for feature in features {
                let (all, on_device) = self.features.entry(feature).or_default();
                *all += 1;
                *on_device += usize::from(outcome.on_device.contains(&number));
            }
        }
        self.on_device += outcome.on_device.len();
        self.versioned += outcome.versioned.len();
        add(&mut self.refused, &outcome.refused, |_| true);
        add(&mut self.refused_whole, &outcome.refused, |p| !outcome.versioned.contains(p));
        add(&mut self.fell_back, &outcome.fell_back, |_| true);
        self.unfinished += outcome.unfinished;
        self.plain_cpu += outcome.plain_cpu;
        self.plugin_cpu += outcome.plugin_cpu;
        self.slowest = self.slowest.max(outcome.plugin_cpu);
    }

    pub fn failure(&mut self, kind: &Kind, strategy: &str, text: &str, path: &Path) {
        *self.kinds.entry(kind.clone()).or_default() += 1;
        let line = format!("{kind:?} ({strategy}) {}: {}", path.display(), text.lines().next().unwrap_or(""));
        eprintln!("fuzz: {line}");
        self.failures.push(line);
    }

    /// Whether something failed so far.
    pub fn failed_once(&self) -> bool {
        !self.failures.is_empty()
    }

    /// Whether the run as a whole did: something failed, or nothing was tried.
    pub fn failed(&self) -> bool {
        self.failed_once() || self.programs == 0
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |n: usize| 100.0 * n as f64 / self.programs.max(1) as f64;
        writeln!(f, "fuzz: seed {}, {} programs in {:.0} s", self.seed, self.programs, self.seconds)?;
        writeln!(
            f,
            "  ran on the device at least in part: {} ({:.0}%)",
            self.on_device,
            percent(self.on_device)
        )?;
        writeln!(f, "  versioned at least in part: {} ({:.0}%)", self.versioned, percent(self.versioned))?;
        writeln!(f, "  what they have, and on the device:")?;
        for (feature, (all, on_device)) in &self.features {
            writeln!(f, "    {all:5} {feature}, {on_device} of them on the device")?;
        }
        let ratio = self.plugin_cpu.as_secs_f64() / self.plain_cpu.as_secs_f64().max(1e-9);
        writeln!(
            f,
            "  compile time: {:.1} s, {ratio:.1} times the plain compiler's; slowest file {:.1} s for all strategies",
            self.plugin_cpu.as_secs_f64(),
            self.slowest.as_secs_f64()
        )?;
        for (title, counts) in [
            ("refused, by remark (a program may have several)", &self.refused),
            ("refused as a whole, by remark", &self.refused_whole),
            ("fell back at run time", &self.fell_back),
        ] {
            writeln!(f, "  {title}:")?;
            let mut sorted: Vec<_> = counts.iter().collect();
            sorted.sort_by_key(|(name, n)| (std::cmp::Reverse(**n), name.as_str()));
            for (name, n) in sorted {
                writeln!(f, "    {n:5} {name}")?;
            }
        }
        if self.unfinished > 0 {
            writeln!(
                f,
                "  not compared, for they ran on and on with very many executions: {}",
                self.unfinished
            )?;
        }
        for (kind, n) in &self.kinds {
            writeln!(f, "  {kind:?}: {n}")?;
        }
        for line in &self.failures {
            writeln!(f, "  FAILED {line}")?;
        }
        writeln!(
            f,
            "fuzz: {} passed, {} failed",
            self.programs.saturating_sub(self.failures.len()),
            self.failures.len()
        )
    }
}

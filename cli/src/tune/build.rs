//! Compiles the variants of a program: each is the program with one choice for every loop nest.
//!
//! A variant's choices reach the plugin as a file of tuned choices, as those of a later compilation will. So
//! what is measured is what will be compiled.

use super::TuneError;
use super::candidates;
use pollyrs_tuning::{Choice, Entry, Told, Tuned};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A function's name and a content.
pub type Key = (String, String);

/// A program with its choices.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Variant {
    /// In the folder of the variants.
    pub program: PathBuf,
    /// Nests that are not there have the model's.
    pub choices: Vec<(Key, Choice)>,
    /// What the plugin made of them.
    pub told: Vec<Told>,
}

impl Variant {
    pub fn choice(&self, key: &Key) -> Choice {
        self.choices.iter().find(|(k, _)| k == key).map_or_else(Choice::new, |(_, c)| c.clone())
    }

    /// What became of a nest; `None`: it stayed on the CPU.
    pub fn told(&self, key: &Key) -> Option<&Told> {
        self.told.iter().find(|t| key_of(t) == *key)
    }

    /// The nests by the names of their SCoPs. Names that two files of one program share say nothing.
    pub fn names(&self) -> BTreeMap<&str, Key> {
        let count = |name: &str| self.told.iter().filter(|t| t.scop == name).count();
        let told = self.told.iter().filter(|t| count(&t.scop) == 1);
        told.map(|t| (t.scop.as_str(), key_of(t))).collect()
    }
}

pub fn key_of(told: &Told) -> Key {
    (told.function.clone(), told.content.clone())
}

/// The program as the compiler alone makes it.
pub fn plain(words: &[OsString], folder: &Path) -> Result<PathBuf, TuneError> {
    let program = folder.join("plain");
    let done = compiler(words, &program)?.env("POLLYRS_DISABLE", "true").output()?;
    match done.status.success() {
        true => Ok(program),
        false => Err(TuneError::Compiler(String::from_utf8_lossy(&done.stderr).into_owned())),
    }
}

/// The program with these choices.
pub fn variant(
    words: &[OsString],
    folder: &Path,
    name: &str,
    choices: Vec<(Key, Choice)>,
) -> Result<Variant, TuneError> {
    let program = folder.join(name);
    let mut tuned = Tuned::new("");
    for ((function, content), options) in &choices {
        let (function, content) = (function.clone(), content.clone());
        let scop = function.clone();
        let options = options.clone();
        tuned.entries.push(Entry {
            function,
            content,
            scop,
            options,
            ms: None,
            model_ms: None,
            launches: 0,
            model: None,
        });
    }
    let file = folder.join(format!("{name}.tune"));
    fs_err::write(&file, tuned.text()?)?;
    let mut command = compiler(words, &program)?;
    if !tuned.entries.is_empty() {
        command.env("POLLYRS_TUNED", &file);
    }
    let done = command.env("POLLYRS_SHOW_CHOICES", "true").output()?;
    fs_err::remove_file(&file)?;
    let text = String::from_utf8_lossy(&done.stderr);
    if !done.status.success() {
        let chosen: Vec<String> = choices.iter().map(|(_, c)| candidates::text(c)).collect();
        return Err(TuneError::Compiler(format!("{}\n{text}", chosen.join("; "))));
    }
    let told = text.lines().filter_map(Told::read).collect();
    Ok(Variant { program: PathBuf::from(name), choices, told })
}

fn compiler(words: &[OsString], program: &Path) -> Result<Command, TuneError> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("cc").args(words).arg("-o").arg(program).stdin(Stdio::null());
    for name in ["POLLYRS_TUNED", "POLLYRS_SHOW_CHOICES", "POLLYRS_DISABLE"] {
        command.env_remove(name);
    }
    Ok(command)
}

/// Compiles several at a time; what does not compile is left out.
pub fn variants(
    words: &[OsString],
    folder: &Path,
    wanted: Vec<(String, Vec<(Key, Choice)>)>,
    jobs: usize,
    done: &(dyn Fn() + Sync),
) -> Vec<Variant> {
    let next = std::sync::Mutex::new(wanted.into_iter().enumerate());
    let out = std::sync::Mutex::new(BTreeMap::new());
    let work = || {
        loop {
            let taken = next.lock().unwrap_or_else(|e| e.into_inner()).next();
            let Some((at, (name, choices))) = taken else { return };
            if let Ok(v) = variant(words, folder, &name, choices) {
                out.lock().unwrap_or_else(|e| e.into_inner()).insert(at, v);
            }
            done();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(work);
        }
    });
    out.into_inner().unwrap_or_else(|e| e.into_inner()).into_values().collect()
}

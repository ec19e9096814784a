//! What the fuzzer's driver asks of a kind of programs.

use crate::rng::Rng;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Language {
    C,
    Cpp,
    Fortran,
}

impl Language {
    pub fn extension(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cpp => "cpp",
            Language::Fortran => "f90",
        }
    }
}

/// Files that make one executable, together with a harness.
#[derive(Clone, Debug)]
pub struct Sources {
    pub language: Language,
    pub files: Vec<String>,
    /// Threads of the program touch bytes next to those of an execution.
    pub threads: bool,
    /// Further ones for the compiler.
    pub flags: Vec<String>,
    /// For a run of the plain program.
    pub limit: Duration,
}

/// A kind of programs. Functions of program k are called `pk` or `pk_…`, and it prints lines `pk N TEXT`.
/// (Files of one program may have other names, and print `checksum = TEXT`.)
pub trait Grammar: Sync {
    type Program: Clone + Send + Sync;

    fn generate(&self, rng: &mut Rng) -> Self::Program;

    /// What a program has, for the report.
    fn features(&self, program: &Self::Program) -> BTreeSet<&'static str>;

    fn sources(&self, programs: &[&Self::Program]) -> Sources;

    /// C text that is compiled by itself, without the plugin.
    fn harness(&self) -> &'static str;

    /// Whether the plain program need not compile and end.
    fn may_fail(&self) -> bool {
        false
    }

    /// One program in as few files as possible; nothing else is needed.
    fn reproducer(&self, program: &Self::Program) -> Vec<(String, String)> {
        let sources = self.sources(&[program]);
        let name = |k: usize| format!("{}.{}", ["first", "second"][k.min(1)], sources.language.extension());
        let mut files: Vec<_> = sources.files.iter().enumerate().map(|(k, t)| (name(k), t.clone())).collect();
        files.push(("harness.c".to_owned(), self.harness().to_owned()));
        files
    }

    /// A smaller program that still fails, found until `deadline`.
    fn shrink(
        &self,
        program: &Self::Program,
        deadline: Instant,
        fails: &mut dyn FnMut(&Self::Program) -> bool,
    ) -> Self::Program;
}

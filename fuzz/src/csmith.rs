//! Whole C programs from csmith (Yang, Chen, Eide, Regehr: Finding and understanding bugs in C compilers,
//! PLDI 2011), with many loops over arrays; what they print is a checksum of all global variables. They are
//! defined by construction, but need not end.

use crate::error::{Error, Result};
use crate::grammar::{Grammar, Language, Sources};
use crate::rng::Rng;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// Statements that are loops over arrays go from a tenth to more than a third, at the cost of jumps; most
/// variables are arrays.
const PROBABILITIES: &str = "\
new_array_var_prob=70
select_deref_pointer_prob=20
[statement_prob,statement_assign_prob=100,statement_block_prob=0,statement_for_prob=25,statement_ifelse_prob=32,\
statement_return_prob=34,statement_continue_prob=36,statement_break_prob=37,statement_goto_prob=38,statement_arrayop_prob=75]
";

/// The kind of programs.
pub struct Csmith {
    probabilities: PathBuf,
    /// csmith leaves a file about the platform where it runs.
    folder: tempfile::TempDir,
}

#[derive(Clone)]
pub struct Program {
    seed: u64,
    text: String,
}

impl Csmith {
    pub fn new() -> Result<Csmith> {
        let missing = |_| Error::Csmith;
        if include_folder().is_none() {
            return Err(Error::Csmith);
        }
        let folder = tempfile::tempdir().map_err(missing)?;
        Command::new("csmith").arg("--version").current_dir(folder.path()).output().map_err(missing)?;
        let probabilities = folder.path().join("probabilities");
        std::fs::write(&probabilities, PROBABILITIES).map_err(missing)?;
        Ok(Csmith { probabilities, folder })
    }

    fn text(&self, rng: &mut Rng, seed: u64) -> Option<String> {
        let mut command = Command::new("csmith");
        command.current_dir(self.folder.path());
        command.args(["--seed", &seed.to_string(), "--probability-configuration"]).arg(&self.probabilities);
        command.args(["--no-volatiles", "--no-volatile-pointers", "--no-jumps", "--no-argc", "--concise"]);
        command.args(["--max-funcs", "4", "--max-array-dim", "2", "--max-array-len-per-dim", "40"]);
        command.args(["--max-expr-complexity", "4", "--max-block-depth", "3"]);
        if rng.chance(35) {
            command.arg("--float");
        }
        if rng.chance(35) {
            command.arg("--no-pointers");
        }
        if rng.chance(30) {
            command.arg("--no-structs").arg("--no-unions");
        }
        // Some seeds end it with an assertion.
        let done = command.output().ok()?;
        done.status.success().then(|| String::from_utf8_lossy(&done.stdout).into_owned())
    }
}

/// Where csmith.h is.
fn include_folder() -> Option<PathBuf> {
    let folders = ["/usr/include/csmith", "/usr/local/include/csmith", "/usr/include"];
    folders.iter().map(PathBuf::from).find(|f| f.join("csmith.h").exists())
}

impl Grammar for Csmith {
    type Program = Program;

    fn generate(&self, rng: &mut Rng) -> Program {
        loop {
            let seed = rng.next() % (1 << 31);
            if let Some(text) = self.text(rng, seed) {
                return Program { seed, text };
            }
        }
    }

    fn features(&self, program: &Program) -> BTreeSet<&'static str> {
        let has = |text: &str, name| program.text.contains(text).then_some(name);
        [
            has("union U", "unions"),
            has("struct S", "structures"),
            has("float", "floats"),
            has("**", "pointers to pointers"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn sources(&self, programs: &[&Program]) -> Sources {
        let include = include_folder().map(|f| format!("-I{}", f.display()));
        let flags = include.into_iter().chain(["-Wno-incompatible-pointer-types".to_owned()]).collect();
        let files = programs.iter().map(|p| format!("/* csmith --seed {} */\n{}", p.seed, p.text)).collect();
        Sources { language: Language::C, files, threads: false, flags, limit: Duration::from_secs(1) }
    }

    fn harness(&self) -> &'static str {
        ""
    }

    fn may_fail(&self) -> bool {
        true
    }

    fn shrink(&self, program: &Program, _: Instant, _: &mut dyn FnMut(&Program) -> bool) -> Program {
        program.clone()
    }
}

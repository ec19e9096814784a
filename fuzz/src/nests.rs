//! Single functions with affine nests: the fuzzer's first kind of programs ([`crate::ast`]).

use crate::ast::Program;
use crate::grammar::{Grammar, Language, Sources};
use crate::rng::Rng;
use crate::{check, generate, print, shrink};
use std::collections::BTreeSet;
use std::time::Instant;

/// The kind of programs.
pub struct Nests;

impl Grammar for Nests {
    type Program = Program;

    fn generate(&self, rng: &mut Rng) -> Program {
        generate::generate(rng)
    }

    fn features(&self, program: &Program) -> BTreeSet<&'static str> {
        program.features()
    }

    fn sources(&self, programs: &[&Program]) -> Sources {
        Sources {
            language: Language::C,
            files: vec![print::batch(programs)],
            threads: false,
            flags: Vec::new(),
            limit: check::RUN_LIMIT,
        }
    }

    fn harness(&self) -> &'static str {
        print::HARNESS
    }

    fn reproducer(&self, program: &Program) -> Vec<(String, String)> {
        vec![("program.c".to_owned(), print::single(program))]
    }

    fn shrink(
        &self,
        program: &Program,
        deadline: Instant,
        fails: &mut dyn FnMut(&Program) -> bool,
    ) -> Program {
        shrink::shrink(program, deadline, fails)
    }
}

//! Programs that are sequences of events over the same memory: functions with loops in one and in two files,
//! reads and writes of the host, copies, memory that changes its type, its size, its pages, threads, jumps.

mod ast;
mod bytes;
mod expressions;
mod generate;
mod kernels;
mod print_c;
mod print_cpp;
mod print_fortran;
mod shrink;
mod simulate;

#[cfg(test)]
mod tests;

use crate::grammar::{Grammar, Language, Sources};
use crate::rng::Rng;
use ast::{Elem, Event, Program, Spot, each_event};
use std::collections::BTreeSet;
use std::time::Instant;

/// What the programs call; compiled by itself.
pub const HARNESS: &str = include_str!("harness.c");

impl Language {
    fn has_unions(self) -> bool {
        self != Language::Fortran
    }

    /// Memory of pages, threads beside calls, other types in the same memory.
    fn has_pages(self) -> bool {
        self == Language::C
    }

    /// `longjmp` or exceptions.
    fn has_jumps(self) -> bool {
        self != Language::Fortran
    }

    /// Parts of arrays with steps, and members of all elements, as arguments.
    fn has_sections(self) -> bool {
        self == Language::Fortran
    }

    /// Whether an event has a counterpart.
    fn takes(self, program: &Program, event: &Event) -> bool {
        if self != Language::Fortran {
            return true;
        }
        let element = |spot: &Spot, bytes: i64| {
            let size = program.layout(program.objects[spot.object].elem).bytes;
            spot.offset % size == 0 && bytes % size == 0
        };
        let elem = |spot: &Spot| program.objects[spot.object].elem;
        match event {
            Event::Read(part) | Event::Write(part, _) => elem(&part.at) == part.elem && element(&part.at, 0),
            Event::Copy { to, from, bytes, .. } => {
                elem(to) == elem(from) && element(to, *bytes) && element(from, *bytes)
            }
            Event::Set { to, value, bytes } => {
                *value == 0 && matches!(elem(to), Elem::Scalar(_)) && element(to, *bytes)
            }
            _ => true,
        }
    }
}

/// The kind of programs.
pub struct Sequences {
    pub language: Language,
    /// With arrays of indices.
    pub indices: bool,
}

impl Grammar for Sequences {
    type Program = Program;

    fn generate(&self, rng: &mut Rng) -> Program {
        generate::generate(rng, self.language, self.indices)
    }

    fn features(&self, program: &Program) -> BTreeSet<&'static str> {
        program.features()
    }

    fn sources(&self, programs: &[&Program]) -> Sources {
        let threads = programs.iter().any(|p| {
            let mut found = false;
            each_event(&p.events, &mut |event| found |= matches!(event, Event::Beside { .. }));
            found
        });
        let files = match self.language {
            Language::C => print_c::files(programs),
            Language::Cpp => print_cpp::files(programs),
            Language::Fortran => print_fortran::files(programs),
        };
        Sources {
            language: self.language,
            files: files.to_vec(),
            threads,
            flags: Vec::new(),
            limit: crate::check::RUN_LIMIT,
        }
    }

    fn harness(&self) -> &'static str {
        HARNESS
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

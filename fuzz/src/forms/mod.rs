//! Programs of one form each: loops as they are in programs, of a kind that one part of the compiler is for,
//! with everything that this part has to tell apart. What they do is defined by construction, whatever is
//! decided ([`choices`]).
//!
//! In texts, `@` is the program's number, as `p7_`.

mod choices;
mod ends;
mod frames;
mod lengths;
mod places;
mod quotients;
mod rounded;
mod sparse;
mod tables;
mod terms;
mod text;
mod totals;
mod workspaces;

use crate::grammar::{Grammar, Language, Sources};
use crate::rng::Rng;
use choices::Choices;
use std::collections::BTreeSet;
use std::time::Instant;
use text::Text;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// Quotients and remainders of counters.
    Quotients,
    /// Tables of pointers to rows.
    Tables,
    /// Subscripts and bounds that are loaded.
    Sparse,
    /// Least and greatest values with their places, sines and cosines, iterators, records, sizes in globals.
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
    /// Early returns, sizes between pointers, bounds of any sign.
    Ends,
    /// Rows that overlap in memory that is only read.
    Frames,
}

#[derive(Clone)]
pub struct Program {
    decisions: Vec<u32>,
}

/// The kind of programs.
pub struct Forms(pub Form);

const DECLARATIONS: &str = "\
#define _GNU_SOURCE
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
int wanted(int argc, char **argv, int program);
void adopt(int number, void *start, int64_t bytes, int64_t from, const char *types);
void note(double value);
void note_bits(uint64_t value);
void tick(void);
void check(int program);
";

impl Forms {
    fn text(&self, choices: &mut Choices<'_>) -> Text {
        match self.0 {
            Form::Quotients => quotients::text(choices),
            Form::Tables => tables::text(choices),
            Form::Sparse => sparse::text(choices),
            Form::Places => places::text(choices),
            Form::Totals => totals::text(choices),
            Form::Lengths => lengths::text(choices),
            Form::Rounded => rounded::text(choices),
            Form::Workspaces => workspaces::text(choices),
            Form::Terms => terms::text(choices),
            Form::Ends => ends::text(choices),
            Form::Frames => frames::text(choices),
        }
    }

    fn of(&self, program: &Program) -> Text {
        self.text(&mut Choices::given(&program.decisions))
    }
}

impl Grammar for Forms {
    type Program = Program;

    fn generate(&self, rng: &mut Rng) -> Program {
        let mut choices = Choices::random(rng);
        self.text(&mut choices);
        Program { decisions: choices.taken }
    }

    fn features(&self, program: &Program) -> BTreeSet<&'static str> {
        self.of(program).features
    }

    fn sources(&self, programs: &[&Program]) -> Sources {
        let mut file = String::from(DECLARATIONS);
        let mut calls = String::new();
        for (number, program) in programs.iter().enumerate() {
            let Text { functions, driver, .. } = self.of(program);
            let head = "__attribute__((noinline)) static void @run(void)";
            let text = format!("\n{functions}{head} {{\n{driver}  check({number});\n}}\n");
            file.push_str(&text.replace('@', &format!("p{number}_")));
            calls.push_str(&format!("  if (wanted(argc, argv, {number}))\n    p{number}_run();\n"));
        }
        file.push_str(&format!("\nint main(int argc, char **argv) {{\n{calls}  return 0;\n}}\n"));
        Sources {
            language: Language::C,
            files: vec![file],
            threads: false,
            flags: Vec::new(),
            limit: crate::check::RUN_LIMIT,
        }
    }

    fn harness(&self) -> &'static str {
        crate::sequence::HARNESS
    }

    fn shrink(
        &self,
        program: &Program,
        deadline: Instant,
        fails: &mut dyn FnMut(&Program) -> bool,
    ) -> Program {
        let mut fails = |decisions: &[u32]| fails(&Program { decisions: decisions.to_vec() });
        Program { decisions: choices::shrink(&program.decisions, deadline, &mut fails) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_have_texts() {
        for form in [
            Form::Quotients,
            Form::Tables,
            Form::Sparse,
            Form::Places,
            Form::Totals,
            Form::Lengths,
            Form::Rounded,
            Form::Ends,
            Form::Frames,
        ] {
            let forms = Forms(form);
            let mut found = BTreeSet::new();
            for n in 0..300 {
                let program = forms.generate(&mut Rng::stream(1, n));
                let text = forms.of(&program);
                assert!(!text.functions.is_empty() && text.driver.contains("@f("), "{form:?} {n}");
                found.extend(text.features);
            }
            assert!(found.len() >= 6, "{form:?}: {found:?}");
            assert!(!forms.of(&Program { decisions: Vec::new() }).driver.is_empty());
        }
    }
}

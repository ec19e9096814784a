//! Codes of remarks.
//!
//! # Invariants
//! - A code's number never changes its meaning; the number of a remark that is gone is not used again.
//! - Each code has a page, `docs/reference/remarks/PRSnnn.md`, with a program that gets the remark.

use crate::{AssumptionKind, RejectReason};
use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $number:literal $name:ident,)*) => {
        /// What a remark is about. It is printed as `PRS106`; up to 99: what was done, assumed or checked;
        /// from 100 on: refusals.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Code {
            $($(#[$doc])* $name = $number,)*
        }

        impl Code {
            /// All codes, in ascending order of their numbers.
            pub const ALL: &'static [Code] = &[$(Code::$name),*];

            /// The stable name of the LLVM remark.
            pub fn name(self) -> &'static str {
                match self {
                    $(Code::$name => stringify!($name),)*
                }
            }
        }
    };
}

codes! {
    /// A loop nest runs on the device.
    1 Offloaded,
    /// Several steps of a time loop run in a launch.
    2 FusedSteps,
    /// The steps of a time loop run one a launch.
    3 StepsNotFused,
    /// A measured choice is taken.
    4 Tuned,
    /// A measured choice is not legal here.
    5 TunedRefused,
    /// A measured choice is of a loop nest that is not there any more.
    6 TunedStale,
    /// Devices of different architectures get different code.
    7 Generations,
    /// The driver compiles the kernels.
    8 NoMachineCode,
    /// Integer arithmetic does not wrap.
    20 NoWrap,
    /// A size is not negative.
    21 NonNegative,
    /// Subscripts stay inside of their rows.
    22 Delinearization,
    /// Iterations do not access what others write.
    23 Independence,
    /// A check of the program does not fail.
    24 ErrorBlock,
    /// Arrays do not overlap.
    40 AliasCheck,
    /// Stores do not change a bound or pointer in memory.
    41 UnwrittenCheck,
    /// Values in memory are looked at before each execution.
    42 Inspection,
    /// The program promises that iterations are independent.
    43 Promise,
    /// The number of iterations is not affine.
    101 LoopBound,
    /// A loop is left at several places.
    102 LoopExits,
    /// The control flow is not structured.
    103 ControlFlow,
    /// A branch on what is not affine.
    104 Condition,
    /// A check that ends the program depends on data.
    105 Check,
    /// A subscript is not affine.
    106 Subscript,
    /// An array's address changes in the loop.
    107 BaseChanges,
    /// Accesses of different widths to one array.
    108 ElementType,
    /// A call with effects that are not known.
    109 Call,
    /// Tables of tables of rows.
    110 NestedTables,
    /// Inline assembly.
    111 InlineAssembly,
    /// Volatile and atomic accesses.
    112 OrderedAccess,
    /// An instruction without a meaning on the device.
    113 Instruction,
    /// What the code generator lacks.
    114 Device,
    /// Exceptions, computed jumps, large switches.
    115 Terminator,
    /// A type that kernels lack.
    116 Type,
    /// Each iteration needs earlier ones.
    117 NoParallelism,
    /// A floating-point sum keeps its order.
    118 OrderedSum,
    /// A prefix sum.
    119 RunningTotal,
    /// Too few iterations.
    120 LittleWork,
    /// An analysis takes too long.
    121 Budget,
    /// A defect of pollyrs.
    122 Internal,
    /// It could run for trivial sizes only, or for none that memory holds.
    123 TrivialSizes,
    /// The source or an option leaves it to the CPU.
    124 SwitchedOff,
    /// Compiled without optimisation.
    125 Unoptimized,
    /// Copies and fillings alone.
    126 MovesOnly,
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PRS{:03}", *self as u16)
    }
}

impl From<AssumptionKind> for Code {
    fn from(kind: AssumptionKind) -> Code {
        match kind {
            AssumptionKind::NoWrap => Code::NoWrap,
            AssumptionKind::NonNegative => Code::NonNegative,
            AssumptionKind::Delinearization => Code::Delinearization,
            AssumptionKind::Independence => Code::Independence,
            AssumptionKind::ErrorBlock => Code::ErrorBlock,
        }
    }
}

impl From<&RejectReason> for Code {
    fn from(reason: &RejectReason) -> Code {
        match reason {
            RejectReason::LoopBound { .. } => Code::LoopBound,
            RejectReason::LoopExits { .. } => Code::LoopExits,
            RejectReason::ControlFlow => Code::ControlFlow,
            RejectReason::Condition { .. } => Code::Condition,
            RejectReason::Check { .. } | RejectReason::CheckBeside { .. } => Code::Check,
            RejectReason::Subscript { .. } => Code::Subscript,
            RejectReason::BaseChanges { .. } => Code::BaseChanges,
            RejectReason::ElementType { .. } => Code::ElementType,
            RejectReason::Call { .. } | RejectReason::ElsewhereCall { .. } => Code::Call,
            RejectReason::NestedTables { .. } => Code::NestedTables,
            RejectReason::InlineAssembly => Code::InlineAssembly,
            RejectReason::OrderedAccess { .. } => Code::OrderedAccess,
            RejectReason::Instruction { .. } => Code::Instruction,
            RejectReason::Device { .. } => Code::Device,
            RejectReason::Terminator { .. } | RejectReason::Throw => Code::Terminator,
            RejectReason::Type { .. } => Code::Type,
            RejectReason::NoParallelism { .. } | RejectReason::TileOrder => Code::NoParallelism,
            RejectReason::OrderedSum { .. } => Code::OrderedSum,
            RejectReason::RunningTotal { .. } => Code::RunningTotal,
            RejectReason::LittleWork { .. } => Code::LittleWork,
            RejectReason::MovesOnly => Code::MovesOnly,
            RejectReason::TrivialSizes { .. } => Code::TrivialSizes,
            RejectReason::SwitchedOff => Code::SwitchedOff,
            RejectReason::Given { .. } => Code::TunedRefused,
            RejectReason::Budget { .. } => Code::Budget,
            RejectReason::Internal { .. } => Code::Internal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the pages are.
    const PAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/remarks");

    #[test]
    fn each_code_has_a_page_that_the_book_lists() {
        let summary = std::fs::read_to_string(format!("{PAGES}/../../SUMMARY.md")).unwrap();
        for code in Code::ALL {
            let page = std::fs::read_to_string(format!("{PAGES}/{code}.md")).unwrap_or_default();
            assert!(page.starts_with(&format!("# {code}: ")), "{code} ({}) has no page", code.name());
            assert!(page.contains(code.name()), "the page of {code} lacks the name {}", code.name());
            assert!(summary.contains(&format!("reference/remarks/{code}.md")), "SUMMARY.md lacks {code}");
        }
    }

    #[test]
    fn each_page_has_a_code() {
        for entry in std::fs::read_dir(PAGES).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let known = Code::ALL.iter().any(|c| name == format!("{c}.md"));
            assert!(known || name == "README.md", "{name} is the page of no code");
        }
    }
}

//! How many isl operations each part of the work may use.
//!
//! Budgets nest: a stage's lies in its SCoP's, a SCoP's in its function's, a function's in the module's;
//! whichever ends first ends the work, and what is not done then keeps its original code, with a remark.
//! Operations are counted, never seconds, so that the same input gives the same output on every machine; isl
//! does about five million a second (bench/COMPILE_TIME.md).

use crate::base::options::Options;
use std::cell::Cell;

/// A stage of one SCoP unless the option `budget` says otherwise: about a second.
const STAGE: u64 = pollyrs_schedule::DEFAULT_BUDGET;
/// In stages. The attempts at one region; PolyBench's largest kernel takes one.
const ATTEMPT: u64 = 2;
/// The parts of a stage that an attempt has for each of some loops of which none is inside another one, and
/// at a region of nests of two. Of 2,332 such regions of the tests and benchmarks that are SCoPs none takes
/// more; of 528 in real code (bench/COMPILE_TIME.md) 35 did, which is as long as clang takes for 2,500
/// instructions.
const FLAT: (u64, u64) = (1, 4);
const PLANE: (u64, u64) = (4, 5);
/// The dependences of one SCoP: everything else waits for them, and a lattice-Boltzmann step with periodic
/// borders and exchanged grids (18 statements of 9 reads, each with cases at the borders) takes most of one.
/// Half of it is for all arrays together, the rest for one after the other.
const DEPENDENCES: u64 = 4;
/// All attempts at the regions of a function that were in vain, beside a quarter of what its instructions
/// give: a function with a hundred nests, of inlined functions, has all of them found.
const DETECTION: u64 = 3;
/// Everything from the dependences to the device code of one SCoP.
const SCOP: u64 = 5;
/// The part of what a function has left that several nests in a row may take as one SCoP.
const WHOLE: u64 = 2;
/// The code on the host for one SCoP, which is written when there is no way back but for the whole function.
const HOST: u64 = 1;
/// Of a function: some nests of ordinary size, and for each instruction half of what the module has.
const FUNCTION: u64 = 7;
/// For each loop of a function beside that: a product of matrices with its tiles takes twice as much for each
/// of its three.
const LOOP: u64 = 500_000;
/// Of a module: for a file with a few functions, and for each instruction. clang takes about 100 µs an
/// instruction at `-O3`, in which isl does
/// 500 operations; so no file takes much longer than a few times as long as without the plugin, or the time
/// of a few functions. (44 loop nests of all kinds, reductions among them, take 48 million operations, and a
/// dozen of reductions alone 49.)
const MODULE: u64 = 24;
const INSTRUCTION: u64 = 4_000;
/// What the rewriting of a function's working copy may take for each instruction, beside [`FUNCTION`] stages:
/// ordinary code takes a tenth of that.
const REWRITING: u64 = 4_000;
/// What is kept back for each of the functions that follow, in parts of a stage (a nest as users write it
/// takes a tenth), and what part of what is left may be kept back in all: a function that is searched in vain
/// does not cost the others their turn.
const KEPT: u64 = 4;
const MOST_KEPT: u64 = 2;

/// What is left.
pub struct Budgets {
    stage: u64,
    given: u64,
    module: Cell<u64>,
    function: Cell<u64>,
    kept: Cell<u64>,
    detection: Cell<u64>,
    tiles: Cell<u32>,
}

impl Budgets {
    /// For a module with so many instructions in functions with loops.
    pub fn new(options: &Options, instructions: u64) -> Budgets {
        let stage = options.budget.unwrap_or(STAGE);
        let given = options.module_budget.unwrap_or(MODULE * stage + INSTRUCTION * instructions);
        Budgets {
            stage,
            given,
            module: Cell::new(given),
            function: Cell::new(0),
            kept: Cell::new(0),
            detection: Cell::new(0),
            tiles: Cell::new(options.tiled),
        }
    }

    /// What was spent on functions before counts for the module alone from here on. This one has so many
    /// instructions, and so many functions follow.
    pub fn begin_function(&self, instructions: u64, later: usize) {
        let left = self.module.get();
        let kept = (self.stage / KEPT).saturating_mul(later as u64).min(left / MOST_KEPT);
        self.kept.set(kept);
        self.detection.set(DETECTION * self.stage + INSTRUCTION / 4 * instructions);
        self.function.set((FUNCTION * self.stage + INSTRUCTION / 2 * instructions).min(left - kept));
    }

    /// So many loops may be nests of functions that were inlined: each gets what it would take alone, as long
    /// as half of the module's is left, or all of it where no function follows.
    pub fn begin_search(&self, loops: usize) {
        let function = self.function.get();
        let wider = function.saturating_add(LOOP.saturating_mul(loops as u64));
        let left = self.module.get();
        let spare = if self.kept.get() == 0 { left } else { left / MOST_KEPT };
        self.function.set(wider.min(spare).max(function));
    }

    pub fn module_is_spent(&self) -> bool {
        self.module.get() == 0
    }

    /// Whether there is enough left of a function's to look for smaller regions.
    pub fn allows_another_search(&self) -> bool {
        self.function.get().min(self.module.get()) >= self.stage
    }

    pub fn stage(&self) -> u64 {
        self.within(self.stage)
    }

    pub fn dependences(&self) -> u64 {
        self.within(DEPENDENCES * self.stage)
    }

    pub fn attempt(&self) -> u64 {
        self.within(ATTEMPT * self.stage)
    }

    /// [`DetectOptions::flat_operations`](pollyrs_scop_detect::DetectOptions), and `plane_operations`.
    pub fn shallow_attempts(&self) -> (u64, u64) {
        let part = |(of, parts): (u64, u64)| (self.stage / parts).saturating_mul(of).max(1);
        (part(FLAT), part(PLANE))
    }

    pub fn detection(&self) -> u64 {
        self.within(self.detection.get())
    }

    /// Of several nests in a row the whole is worth a part of what the function has left: if that is not
    /// enough, there is some for smaller regions.
    pub fn scop(&self, several_nests: bool) -> u64 {
        let share = if several_nests { self.function.get() / WHOLE } else { u64::MAX };
        self.within((SCOP * self.stage).min(share.max(self.stage)))
    }

    /// The rewriting of a working copy with so many instructions: what is in proportion to these is never too
    /// much, but for the module.
    pub fn rewriting(&self, instructions: u64) -> u64 {
        (FUNCTION * self.stage + REWRITING * instructions).min(self.module.get()).max(1)
    }

    /// Not within the function's, which may be spent on what was found in vain: too little here would lose
    /// all of the function.
    pub fn host(&self) -> u64 {
        HOST * self.stage
    }

    /// To isl 0 means that there is no limit.
    fn within(&self, wish: u64) -> u64 {
        wish.min(self.function.get()).min(self.module.get()).max(1)
    }

    pub fn spend(&self, operations: u64) {
        for left in [&self.module, &self.function] {
            left.set(left.get().saturating_sub(operations));
        }
    }

    /// The same for work that is not taken from a function's regions: rewriting, and what comes when the next
    /// functions have begun.
    pub fn spend_beside(&self, operations: u64) {
        self.module.set(self.module.get().saturating_sub(operations));
    }

    /// Whether one more loop nest may get register tiles: unrolled, and in several shapes, they take the
    /// compilers twenty times as long as plain kernels (a third of a second each).
    pub fn may_tile(&self) -> bool {
        self.tiles.get() > 0
    }

    pub fn tiled(&self) {
        self.tiles.set(self.tiles.get().saturating_sub(1));
    }

    /// In the whole module.
    pub fn spent(&self) -> u64 {
        self.given - self.module.get()
    }
}

/// Looking for calls to inline in a function with so many instructions.
pub fn inlining(options: &Options, instructions: u64) -> u64 {
    FUNCTION * options.budget.unwrap_or(STAGE) + REWRITING * instructions
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Budgets of stages of 100 operations, for a module with so many instructions.
    fn budgets(module: Option<u64>, instructions: u64) -> Budgets {
        let options = Options { budget: Some(100), module_budget: module, ..Options::default() };
        Budgets::new(&options, instructions)
    }

    #[test]
    fn nothing_is_without_a_limit() {
        // (To isl 0 means that there is none.)
        let b = budgets(Some(0), 0);
        b.begin_function(0, 0);
        let all = [b.stage(), b.dependences(), b.attempt(), b.detection(), b.scop(true), b.rewriting(0)];
        assert_eq!(all, [1; 6]);
        assert!(b.module_is_spent() && !b.allows_another_search());
    }

    #[test]
    fn a_function_leaves_some_for_those_behind() {
        // (budget of the module, functions behind, what is left for this one)
        let table = [
            (1000, 0, 700),
            (700, 0, 700),
            (650, 0, 650),
            // A quarter of a stage each is kept back,
            (700, 2, 650),
            (700, 13, 375),
            // but no more than half.
            (700, 1000, 350),
            (1, usize::MAX, 1),
        ];
        for (module, later, expected) in table {
            let b = budgets(Some(module), 0);
            b.begin_function(0, later);
            assert_eq!(b.function.get(), expected, "{module} {later}");
        }
    }

    #[test]
    fn instructions_and_loops_add_to_what_a_function_has() {
        let b = budgets(None, 1000);
        assert_eq!(b.module.get(), MODULE * 100 + INSTRUCTION * 1000);
        b.begin_function(10, 0);
        assert_eq!(b.function.get(), FUNCTION * 100 + INSTRUCTION / 2 * 10);
        b.begin_search(2);
        assert_eq!(b.function.get(), FUNCTION * 100 + INSTRUCTION / 2 * 10 + 2 * LOOP);
        b.begin_search(usize::MAX);
        assert_eq!(b.function.get(), b.module.get());
        // With functions behind, half of the module's at most, and never less than before.
        let b = budgets(Some(1000), 0);
        b.begin_function(0, 1);
        b.begin_search(3);
        assert_eq!(b.function.get(), 700);
    }

    #[test]
    fn what_is_spent_is_gone() {
        let b = budgets(Some(1000), 0);
        b.begin_function(0, 0);
        b.spend(650);
        assert_eq!((b.spent(), b.stage(), b.dependences(), b.allows_another_search()), (650, 50, 50, false));
        b.spend_beside(340);
        assert_eq!((b.spent(), b.stage()), (990, 10));
        b.spend(u64::MAX);
        assert_eq!((b.spent(), b.stage(), b.module_is_spent()), (1000, 1, true));
        // The host's code has to be written: there is no way back.
        assert_eq!(b.host(), 100);
        // The next function has nothing of what is left.
        b.begin_function(0, 0);
        assert_eq!(b.stage(), 1);
    }

    #[test]
    fn several_nests_take_a_part_and_a_stage_at_least() {
        // (what the function has, of one nest, of several)
        for (left, one, several) in [(700, 500, 350), (400, 400, 200), (150, 150, 100), (50, 50, 50)] {
            let b = budgets(Some(left), 0);
            b.begin_function(0, 0);
            assert_eq!((b.scop(false), b.scop(true)), (one, several), "{left}");
        }
    }

    #[test]
    fn attempts_at_shallow_nests_have_parts_of_a_stage() {
        assert_eq!(budgets(None, 0).shallow_attempts(), (25, 80));
        let none = Budgets::new(&Options { budget: Some(0), ..Options::default() }, 0);
        assert_eq!(none.shallow_attempts(), (1, 1));
    }

    #[test]
    fn tiles_are_counted() {
        let b = Budgets::new(&Options { tiled: 2, ..Options::default() }, 0);
        b.tiled();
        assert!(b.may_tile());
        b.tiled();
        b.tiled();
        assert!(!b.may_tile());
    }
}

//! The working copy of a function, brought into the form that detection expects.
//!
//! Loops and subscripts are still what the programmer wrote at the start of the pipeline: no load-PRE, no
//! LICM, no idiom recognition has run, and none of them runs here. What detection cannot model is rewritten
//! instead, see [`pollyrs_llvm_shim`]'s module `prepare`.

pub mod contract;
mod permitted;
pub mod prospects;
mod sums;
mod vectors;

use crate::base::error::PluginError;
use pollyrs_llvm_shim::ir::Value;
use pollyrs_llvm_shim::{Hoisting, Session};

/// Local variables become values, and nothing else changes.
pub const VARIABLES: &str = "sroa";

/// The same, and what is computed twice is computed once.
const VALUES: &str = "lower-expect,sroa,early-cse<memssa>";

/// (A pass manager of text verifies the fixpoint of instcombine unless told otherwise, and ends the
/// compilation.)
const CANONICALISE: &str = "instcombine<no-verify-fixpoint>,jump-threading,simplifycfg,tailcallelim,simplifycfg,reassociate,\
     loop-mssa(loop-rotate),instcombine<no-verify-fixpoint>,loop-simplify,lcssa";

/// After loops are left by their headers alone.
const ROTATED: &str = "simplifycfg,loop-simplify,lcssa,loop-mssa(loop-rotate),instcombine<no-verify-fixpoint>,loop-simplify,lcssa";

/// After loads that steer loops have left them: trip counts and addresses are simplified once more.
const SIMPLIFY: &str = "early-cse<memssa>,loop(indvars),simplifycfg,loop-simplify,lcssa";

/// After loads have moved before loops: rotated loops have a load of the same place there.
const MERGE: &str = "early-cse<memssa>,lcssa";

/// The form that loops need after blocks have changed.
const LOOPS: &str = "loop-simplify,lcssa";

/// After loops are unrolled: their counters are numbers, and arrays that they walked through become values.
const UNROLLED: &str = "simplifycfg,early-cse<memssa>,instcombine<no-verify-fixpoint>,sroa,early-cse<memssa>,simplifycfg,loop-simplify,lcssa";

/// After copies of structures are taken apart: temporary ones become values.
const FIELDS: &str = "sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,lcssa";

/// After [`Session::promote_updates`]: what is counted in one of two ways is a sum with one of two numbers.
/// After [`Session::keep_latest`]: the greater one of two integers is a maximum.
const UPDATED: &str = "simplifycfg,instcombine<no-verify-fixpoint>,loop-simplify,lcssa";

/// How often loops are unrolled: those inside of others whose counters bound them come after these.
const MAX_UNROLLED: u32 = 4;

/// Switches with more cases stay; each case is a piece of a domain.
const MAX_SWITCH_CASES: u32 = 16;

/// Loops of a function that get a version for rows of tables.
const MAX_ROWS: u32 = 16;

/// Nests over tiles of a function that get a version over points.
const MAX_TILED: u32 = 16;

/// Loops of a function that get a version by places of sums, or with columns outside.
const MAX_GROUPED: u32 = 16;

/// Loops of a function that get versions for steps of windows.
const MAX_STEPS: u32 = 4;

/// Loops of a function that get a version for rows that all have one length, once for each level of rows.
const MAX_FLAT: u32 = 16;

/// Loops of a function that get a version for objects that do not overlap, or for arrays of one size.
const MAX_SEPARATED: u32 = 8;

/// Nests that are divided by what is known before them.
const MAX_UNSWITCHED: u32 = 4;

/// Loads that load from what others load.
const MAX_HOISTED: u32 = 12;

/// Instructions that a loop may have when iterations are joined for the sake of pointers that change places.
const MAX_ROTATED: u32 = 4000;

/// Accesses with selected addresses of a function that become branches; each may be the arm of another.
const MAX_DIVIDED: u32 = 64;

/// Canonicalises `f`, which means the same afterwards.
pub fn canonicalise(session: &Session, f: Value) -> Result<(), PluginError> {
    values(session, f)?;
    rewrite(session, f)?;
    session.mark_rows(f)?;
    session.restore_rows(f)?;
    session.split_effects(f)?;
    session.restore_tiles(f, true)?;
    session.restore_grouped(f, true)?;
    Ok(session.simplify_regions(f)?)
}

/// As [`canonicalise`] behind [`values`], and branches on data become straight-line code, branches to error
/// blocks calls, and calls that may set `errno` pure. Until [`restore`], `clone` may write memory that the
/// original does not, and its checks do nothing. Returns whether loads are taken for what their places held
/// before loops ([`Session::assume_invariant_loads`]).
pub fn flatten(session: &Session, clone: Value) -> Result<bool, PluginError> {
    rewrite(session, clone)?;
    if session.rejoin_ends(clone)? {
        session.run_passes(clone, LOOPS)?;
    }
    session.assume_no_errors(clone)?;
    session.assume_no_errno(clone)?;
    session.add_differences(clone)?;
    session.divide_checked_rows(clone, MAX_ROWS)?;
    session.mark_rows(clone)?;
    let assumed = session.assume_invariant_loads(clone)?;
    if assumed {
        session.rotate_assumed(clone, MAX_ROTATED)?;
    }
    // No pass may run from here on: error blocks are unreachable for now, and marked stores and calls must
    // stay what they are.
    session.divide_accesses(clone, MAX_DIVIDED)?;
    session.lift_updates(clone)?;
    // (Counts of what is stored first: their updates would be taken for masked ones.)
    session.divide_counts(clone)?;
    session.part_masked(clone)?;
    session.flatten_conditions(clone)?;
    session.number_last(clone)?;
    session.split_effects(clone)?;
    session.simplify_regions(clone)?;
    Ok(assumed)
}

/// Makes the code that is left for the host mean again what it did.
pub fn restore(session: &Session, clone: Value) -> Result<(), PluginError> {
    session.forget_origins(clone);
    session.restore_conditions(clone)?;
    session.restore_last(clone)?;
    session.restore_invariant_loads(clone)?;
    session.restore_rows(clone)?;
    session.restore_errno(clone)?;
    session.restore_errors(clone)?;
    // What runs tile by tile is copied as the program has it.
    session.restore_tiles(clone, false)?;
    Ok(session.restore_grouped(clone, false)?)
}

/// Of `rows[0].size()`, first the table moves before the loop, then the row's ends.
fn hoist_loads(session: &Session, f: Value) -> Result<(), PluginError> {
    let mut rounds = 0..MAX_HOISTED;
    for how in [Hoisting::Together, Hoisting::Any, Hoisting::Peeking] {
        while rounds.next().is_some() && session.hoist_loads(f, how)? {
            session.run_passes(f, MERGE)?;
        }
    }
    Ok(())
}

/// The cheap beginning: local variables are values, calls of known functions say what they do.
pub fn values(session: &Session, f: Value) -> Result<(), PluginError> {
    sums::split(session.module(), f);
    session.expand_complex_calls(f)?;
    session.split_sines(f)?;
    session.describe_math_calls(f)?;
    session.drop_initializations(f)?;
    session.drop_stack_saves(f)?;
    vectors::scalarise(session, f)?;
    session.run_passes(f, VALUES)?;
    // Sizes of arrays of variable length are numbers only now.
    if session.settle_arrays(f)? {
        session.drop_stack_saves(f)?;
        session.run_passes(f, VALUES)?;
    }
    if permitted::mark(session, f)? {
        sums::split(session.module(), f);
    }
    if session.split_words(f)? {
        session.run_passes(f, SIMPLIFY)?;
    }
    // Pointers to the results are values only now.
    if session.split_sines(f)? {
        session.describe_math_calls(f)?;
    }
    Ok(())
}

/// Only what analyses need: for a copy in which no SCoP is looked for.
pub fn plain(session: &Session, f: Value) -> Result<(), PluginError> {
    session.run_passes(f, VALUES)?;
    Ok(session.run_passes(f, LOOPS)?)
}

/// Runs passes that thread jumps, which leaves some loops two ends of which one follows from the other.
fn run(session: &Session, f: Value, passes: &str) -> Result<(), PluginError> {
    session.run_passes(f, passes)?;
    if session.settle_ends(f)? {
        session.run_passes(f, ROTATED)?;
    }
    Ok(())
}

/// Loops are rotated, and what is loaded in them is what a place holds.
fn canonical_loops(session: &Session, f: Value) -> Result<(), PluginError> {
    run(session, f, CANONICALISE)?;
    if session.rejoin_loads(f)? {
        session.run_passes(f, MERGE)?;
    }
    Ok(())
}

fn rewrite(session: &Session, f: Value) -> Result<(), PluginError> {
    session.join_back_edges(f)?;
    canonical_loops(session, f)?;
    rewrite_tables(session, f)?;
    rewrite_structures(session, f)?;
    rewrite_sizes(session, f)?;
    rewrite_iterations(session, f)?;
    session.drop_unread_locals(f)?;
    session.hoist_conditions(f)?;
    repeated(session, f, (MAX_UNSWITCHED, UPDATED), || session.unswitch_loops(f))?;
    session.share_tests(f)?;
    session.rewrite_exit_values(f)?;
    if session.lower_switches(f, MAX_SWITCH_CASES)? {
        session.run_passes(f, LOOPS)?;
    }
    session.separate_results(f)?;
    Ok(())
}

/// A rewriting of loops that is made again, on what it and the passes behind it left, up to `most` times.
fn repeated<E>(
    session: &Session,
    f: Value,
    (most, passes): (u32, &str),
    rewriting: impl Fn() -> Result<bool, E>,
) -> Result<u32, PluginError>
where
    PluginError: From<E>,
{
    let mut made = 0;
    while made < most && rewriting()? {
        session.run_passes(f, passes)?;
        made += 1;
    }
    Ok(made)
}

/// Tables on the stack, and loops that are divided by what their first iterations do.
fn rewrite_tables(session: &Session, f: Value) -> Result<(), PluginError> {
    // Of loops that run an iteration where control comes to them.
    if session.hoist_arrays(f)? {
        session.drop_stack_saves(f)?;
    }
    if repeated(session, f, (MAX_UNROLLED, UNROLLED), || session.unroll_tables(f))? > 0 {
        session.run_passes(f, VALUES)?;
        canonical_loops(session, f)?;
    }
    session.specialise_back_edges(f)?;
    if session.divide_intervals(f)? {
        session.run_passes(f, LOOPS)?;
    }
    Ok(())
}

/// Structures and pointers become values of their own.
fn rewrite_structures(session: &Session, f: Value) -> Result<(), PluginError> {
    repeated(session, f, (MAX_SEPARATED, FIELDS), || session.divide_assignments(f))?;
    if session.split_structures(f)? {
        session.run_passes(f, FIELDS)?;
    }
    repeated(session, f, (MAX_SEPARATED, LOOPS), || session.separate_pointers(f))?;
    if session.hoist_loads(f, Hoisting::Together)? {
        session.run_passes(f, MERGE)?;
    }
    session.promote_pointers(f)?;
    repeated(session, f, (MAX_SEPARATED, UPDATED), || session.promote_updates(f))?;
    Ok(())
}

/// Sizes, sides of grids, and pointers that change places.
fn rewrite_sizes(session: &Session, f: Value) -> Result<(), PluginError> {
    repeated(session, f, (MAX_SEPARATED, LOOPS), || session.divide_sizes(f))?;
    // Before bodies are copied: what is loaded in each of them is loaded once.
    hoist_loads(session, f)?;
    repeated(session, f, (MAX_SEPARATED, LOOPS), || session.equalise_sizes(f))?;
    if session.compute_sides(f)? {
        session.run_passes(f, UPDATED)?;
    }
    session.rotate_pointers(f, MAX_ROTATED)?;
    session.expand_memory_intrinsics(f)?;
    hoist_loads(session, f)
}

/// What an iteration takes over from another one, counters, and rows that lie anywhere.
fn rewrite_iterations(session: &Session, f: Value) -> Result<(), PluginError> {
    if session.join_ends(f)? {
        run(session, f, UPDATED)?;
    }
    if session.index_choices(f)? {
        run(session, f, SIMPLIFY)?;
    }
    if session.keep_latest(f)? {
        run(session, f, SIMPLIFY)?;
        run(session, f, UPDATED)?;
    }
    if session.forward_recurrences(f)? {
        run(session, f, SIMPLIFY)?;
    }
    repeated(session, f, (MAX_FLAT, UPDATED), || session.divide_counters(f))?;
    repeated(session, f, (MAX_TILED, UPDATED), || session.join_tiles(f))?;
    repeated(session, f, (MAX_STEPS, LOOPS), || session.divide_steps(f))?;
    session.hoist_arithmetic(f)?;
    session.count_chunks(f)?;
    session.advance_counters(f)?;
    run(session, f, SIMPLIFY)?;
    // Of what was a diamond of blocks before.
    if session.specialise_back_edges(f)? {
        run(session, f, SIMPLIFY)?;
    }
    if session.divide_rows(f, MAX_ROWS)? {
        run(session, f, SIMPLIFY)?;
    }
    repeated(session, f, (MAX_GROUPED, UPDATED), || session.take_columns_outside(f))?;
    repeated(session, f, (MAX_GROUPED, UPDATED), || session.group_sums(f, lists_are_apart()))?;
    Ok(())
}

/// Whether the bug is planted that what is written by a list is taken for memory apart from the list
/// (`runtime/src/base/planted.rs`).
fn lists_are_apart() -> bool {
    cfg!(feature = "planted") && std::env::var("POLLYRS_PLANT").is_ok_and(|name| name == "lists-apart")
}

//! Rewritings of the working copy that turn what detection cannot model into what it can.
//!
//! Switches, memory intrinsics and loads are rewritten for good: the copy means the same before and after.
//! Branches on data are different, as they have no equivalent without branches in which memory is *written*
//! only where the program writes it.
//!
//! **Problem.** `if (A[i] > 0) B[i] = x;` has no affine domain. On the device it can be
//! `B[i] = A[i] > 0 ? x : B[i]`, an unconditional read and write, which every later stage understands without
//! knowing of conditions.
//!
//! **Why that is right on the device.** The device works on copies. A kernel that stores the old value writes
//! what the copy holds, no statement order changes (the read and the write are accesses of the model like any
//! others), and what comes back to the host's memory is for every element what the original would have left
//! there: detection calls such a store a may-write, so only elements that the kernels changed come back. The
//! bytes that are copied must exist, though, where the original may not touch them: so a branch is flattened
//! only if each location its arms load or store *is accessed in every execution of the branch*, by the same
//! iteration, outside of the arms or in both of them (or LLVM proves it dereferenceable).
//!
//! Not flattened are branches that hold a branch on loop counters, a loop, or an error block in their arms.
//!
//! **Why it is not right on the host.** There another thread may write `B[i]` while the condition is false,
//! and the memory may be read-only. So the stores are marked, and [`Session::restore_conditions`] makes them
//! conditional again in the code that is left for the host; nothing between the two may change marked stores.
//! Loads and arithmetic stay unconditional: they are executed only where that is safe. Stores to a local
//! variable whose address goes nowhere need no mark: nobody sees that it is written once more.
//!
//! **Example.**
//! ```text
//! head:  br c, then, join          head:  old = load p
//! then:  store x, p         →             new = select c, x, old
//!        br join                          store new, p, !pollyrs.conditional
//! ```

//! Error blocks are handled alike: a loop that may be left to a panic has two exits and no trip count. The
//! branch becomes a call of [`CHECK`], and the branch comes back in the host's code. The device code has no
//! check at all, as it only runs when all of them are known to succeed.
//!
//! So is a branch by which the function returns early, with a number that it does not return otherwise, where
//! the loop stores something: `if (x[i] < 0) return -1; y[i] = sqrt(x[i]);` leaves for what is an error to
//! the program. (What a search finds is none.) The branch becomes a call of [`CHECK_RETURN`].

//! **Pointers that change places.** In `for (t) { step(a, b); tmp = a; a = b; b = tmp; }` the base of every
//! access changes. Two iterations of it have one base each:
//! `for (p) { step(A, B); if (2 * p + 1 < n) step(B, A); }`, where `A` and `B` are the pointers before the
//! loop. What they are behind the loop depends on its number of iterations modulo two. Pointers in memory
//! (`grid->now`, the members that `std::swap` exchanges) are made values of the loop before that, and so are
//! sizes that change places with them: copies of structures are taken apart for that. Mostly the sizes are
//! equal: there is a version of the loop for that, in which they do not change; the loop as it was stays on
//! the host.
//!
//! **Values advanced in inner loops.** In `for (i < n) for (j < m) A[k++] = 0;` scalar evolution does not see
//! that `k` grows by `max(m, 0)` in each iteration of the outer loop, since the inner one is skipped where
//! `m <= 0`. The value that the back edge carries is replaced by `k + max(m, 0)`: equal, as the inner loop's
//! number of iterations and step do not change in the outer one. A loop from `lo` to `hi` adds
//! `max(hi, lo) - lo`, and what is added beside it is added as well, so that an index may skip the borders of
//! a grid.
//!
//! **errno.** `exp(x)` of the C library sets `errno` where the result is too large or too small, `sqrt(x)`
//! for `x < 0`. Such calls are made pure ([`ERRNO`] marks them), so that they can be modelled; a kernel
//! computes the result and looks at the arguments, and reports what the program would have done to `errno`.
//! Where that is surely `ERANGE`, the run-time library does it when all is computed, unless what is loaded in
//! front of the loop (below: bounds in memory) might be `errno` itself; it never lies in one of the arrays.
//! Otherwise nothing that the device computed counts, and the original loop, whose calls are what they were,
//! runs. Such a call is never moved out of its condition, and in versions of a loop, or two iterations of its
//! body in one, each copy is what the call was.
//!
//! **Products of complex numbers.** Where both parts of `(a + bi) * (c + di)` are no numbers, compilers call
//! `__muldc3`, which looks for infinities in the operands. The call becomes the code that ISO C has for it
//! (annex G); only the bits of NaNs may differ. `cabs` becomes `hypot`.
//!
//! **The last that fits.** Of `if (x[i] < 0) { last = i; w = y[i]; }` each iteration takes over what the one
//! before left. That is a maximum with its place: of the numbers of iterations that satisfy the condition the
//! greatest is kept, and beside it what the program keeps. Values that are the same in all iterations are
//! chosen behind the loop, by whether there was one. The host's code has its condition back.
//!
//! **Selected addresses.** Of `wall[i] ? t[i] : t[i - 1]` LLVM makes one load from a selected address, which
//! is not affine. It becomes a branch again, with a load in either arm.
//!
//! **Bounds in memory.** In `for (y < im->height) im->pixels[y] = 0;` the stores of bytes might change
//! `im->height`. In front of the loop it is read once more, and in the loop the load is marked by
//! [`INVARIANT`] in a way that lets scalar evolution see the value from before. That this is what the loop
//! loads is checked at run time, by comparing the place with what the loop writes; in the host's code the
//! marks are taken off again.

//!
//! **Tables of rows.** In C and C++ a matrix is often a table of pointers (`double **a`, a vector of
//! vectors), one for each row, and `a[i][j]` loads one. Before the loop, the run-time library looks at the
//! part of the table that the loop reads (`pollyrs_rt_rows_anywhere`; memory that is not there is no error),
//! and answers with the first row and the distance: there is a version of the loop in which scalar evolution
//! knows `a[i]` as `first + i * distance` ([`ROW`]). Where the rows are not equally far apart, `first` is an
//! address that stands for them, in a range of the library's own, of which kernels alone make use; the host's
//! code gets its loads back. For that the library has to know which bytes of the rows are accessed: bounds of
//! what the loop adds to a row's address, by what is known before it, or by the largest of the counts that
//! stand in a table (`j < length[i]`, `pollyrs_rt_most`). Without these rows have to be equally far apart
//! (`pollyrs_rt_rows`). The loop as it was runs where the answer is no. Nothing in the loop may write to the
//! table, by alias analysis, which the library checks by address. Rows between two pointers (the beginning
//! and the end of a `vector`) are two tables in one, where all rows have one length
//! (`pollyrs_rt_row_length`).
//!
//! The lengths of rows may stand in the table beside the addresses, as bounds of loops, or since each access
//! is checked (Rust's `Vec<Vec<f64>>`). The version is for rows of one length (`pollyrs_rt_common_length`),
//! so that the check is one on values from before the loop. There no types say that a row is not the table:
//! what is written to rows or elsewhere is compared with the tables before the loop
//! (`pollyrs_rt_rows_leave`), by bounds of what the loop accesses. Such a version is made when error blocks
//! are taken out of the loop, and each copy of the loop has error blocks of its own.
//!
//! **Sums by places.** `for (e) f[node[e]] += v(e)` adds floating-point numbers to elements that a list
//! names. Those that are added to one element keep their order; those to different elements have none. The
//! library sorts the iterations by place, stably (`pollyrs_rt_places`): with its answer there is a version
//! `for (p) for (q = start[p]; q < start[p + 1]; q++) f[low + p] += v(order[q])`, a product of sparse rows in
//! form. Several updates of an iteration, or a loop of it through its part of the list, are numbered in their
//! order. An iteration computes new values of such elements (its targets: one or several of a place, in one
//! array or in several) from their old values and what it loads elsewhere, with conditions on data; with
//! several lists, the old values of one list's place become new ones of the same place only. A contribution
//! is the whole iteration again, with the values so far in the place of the targets. That no load sees a
//! target is left to the model, which compares the arrays before it runs, and the host's code is the
//! program's loop. What the model of the version does not see is tested before it: no list lies among the
//! targets, targets of different arrays and different places are apart, subscripts of 32 bits do not wrap,
//! and no check of an index fails that the loop makes and the version does not: what is compared is an
//! integer of a list, or a counter, and lies between two ends for which the check holds.
//!
//! **Columns outside.** In `for (k = r[i]; k < r[i + 1]; k++) for (c < m) y[i][c] += v[k] * x[p[k]][c]` a
//! loop that data counts is around one over columns. An element of the row is changed by each `k` in turn,
//! and by nobody else: with the loop over columns outside it is a value that is handed on, and rows and
//! columns are parallel. That the loads see none of these stores is left to the model, as above.
//!
//! **Windows with a step.** In `x[(i * s + p) * w + j * s + q]` (a convolution with a stride) the strides of
//! the counters are `s * w`, `w`, `s` and 1. Of a matrix each would be a multiple of the next, and no array
//! of several dimensions has these. With a number for `s` the strides are `w` and 1: there are versions of
//! the loop for 1 and 2; for other steps it stays on the host.
//!
//! **Tables of offsets.** In `for (k < 9) s += f[x - ex[k]][y - ey[k]]` (lattice methods, lists of
//! neighbours) the subscripts come from a constant table, in `for (r < 3) o = o * extent[r] + index[r]`
//! (views of any number of dimensions) from a variable of the function. Without the loop each is a number or
//! a value: such loops are unrolled. So are those that keep a pointer to one of several variables, as
//! `std::max({a, b, c})` does, and those that walk through an array which one iteration of the loop around
//! has for itself (`float v[9]`, sorted for a median): its elements become values.
//!
//! **Neighbours by loops.** Stencils of high order are written as
//! `for (d = 1; d <= R; d++) s += w[d] * (a[i - d] + a[i + d])`. A number of iterations that is known makes
//! this a sum of loads at constant distances, which is what temporal blocking looks for. Such a loop is
//! unrolled inside of a time loop: where it reads an object that the outermost loop stores to, and an
//! iteration leaves nothing but a value.
//!
//! **Every so many steps.** Programs print, check or save something in each hundredth step:
//! `for (t < n) { step(); if (t % 100 == 0) report(); }`. The call keeps the time loop on the host, a launch
//! or more a step. The number of steps until the next report is known when they begin: these have a loop of
//! their own, a copy of the loop without the report, and the loop as it was runs the iterations with one. It
//! may end the loop there, too.
//!
//! **Recurrences of fixed order.** `left = mid; mid = right; right = a[i + 2]` saves a host two of three
//! loads, and `flux = next` the half of a computation, but it makes an iteration wait for the one before.
//! Where all that such a value is computed from are loads of what the loop does not write and counters, each
//! iteration computes it anew: by a load of the element further back if what stands before the loop is a load
//! of it as well, else as in the first iteration, which is chosen by its number.
//!
//! **Assignments of whole arrays.** `u = v` for an allocatable `u` is a call of Fortran's run-time library,
//! which allocates `u` anew where the shapes differ, and changes the descriptor that each access of `u` goes
//! through. Where the shapes are equal before the loop and nothing else in it writes to the descriptors, they
//! are equal in every iteration: there is a version of the loop for that, with loops over elements in the
//! calls' place.
use crate::ir::Value;
use crate::{Session, ShimError, sys};

/// The function that stands for a branch to an error block: detection assumes that its argument is true,
/// which is checked before the kernels run; the host's version of the loop gets the branch back.
pub const CHECK: &str = "pollyrs.check";

/// The same for a branch out of a loop by which the function returns early.
pub const CHECK_RETURN: &str = "pollyrs.check.return";

/// Metadata on a store that stands for one under a condition on data.
pub const CONDITIONAL: &str = "pollyrs.conditional";

/// Metadata on such a store that keeps a minimum, a maximum or its place, and on a load of what it replaces
/// that need not be there.
pub const KEPT: &str = "pollyrs.kept";

/// Attribute of a call that is pure but for setting `errno`, which the device has to report. Its value is
/// empty where nothing that is loaded before the loop may be `errno`.
pub const ERRNO: &str = "pollyrs-errno";

/// Metadata on `select true, modelled, load`: the address of a row of a table, and what the model takes it
/// for.
pub const ROW: &str = "pollyrs.row";

/// Metadata of a call that is not inlined since it leads to one that can't be, with the name of what that
/// calls; or with no name, since its loop goes from record to record.
pub const LASTING: &str = "pollyrs.lasting";

/// Metadata on `select true, before, load`: a load and what its place held before the loop, which the model
/// takes it for.
pub const INVARIANT: &str = "pollyrs.invariant";

/// Loops that index by tables, in one function: how many are unrolled, and how many iterations and
/// instructions each may become. The largest common lattice has 27 velocities.
const MAX_TABLES: u32 = 32;
const MAX_TABLE: u32 = 32;
const MAX_UNROLLED: u32 = 2000;

/// Loops of a function that are divided by intervals, and their instructions.
const MAX_INTERVALS: u32 = 2;
const MAX_INTERVAL: u32 = 4000;

/// Loads moved in one function at most: analyses are renewed after each.
const MAX_LOADS: u32 = 64;

/// Which loads [`Session::hoist_loads`] moves. Each comes when the one before has no more: conditions that
/// change, as it seems, are found not to once other loads have moved and their values are merged; and of
/// loads of one place that moved one by one, nobody knows any more that they are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hoisting {
    /// Those of outermost loops, with all others of their place.
    Together,
    /// All that can.
    Any,
    /// Also those that nothing but the run-time library can make.
    Peeking,
}

/// Steps over a function that take nothing else. Each returns whether it changed something.
macro_rules! steps {
    ($($(#[$meta:meta])* $name:ident = $call:ident;)*) => { $(
        $(#[$meta])*
        #[track_caller]
        pub fn $name(&self, f: Value) -> Result<bool, ShimError> {
            Ok(sys::$call(self.raw(), self.require_idle(f)?))
        }
    )* };
}

impl Session {
    /// Switches inside loops, of at most `max_cases` cases, become comparisons. Returns whether there were
    /// any.
    pub fn lower_switches(&self, f: Value, max_cases: u32) -> Result<bool, ShimError> {
        Ok(sys::prs_lower_switches(self.raw(), self.require_idle(f)?, max_cases))
    }

    steps! {
        /// Calls of memset, memcpy and memmove with a length known at run time only become loops over the
        /// elements of the arrays, where the length is a multiple of the element size that other accesses of
        /// the array have.
        expand_memory_intrinsics = prs_expand_memory_intrinsics;
    }

    /// Moves loads that steer loops (bounds, base pointers) out of the outermost loop that does not write
    /// what they read, by alias analysis. A load that the loop executes under a condition which it does not
    /// change is executed under that condition before the loop. One under a condition that changes is made
    /// before deep nests of loops by the run-time library, which survives places that are not there
    /// ([`Hoisting::Peeking`]).
    pub fn hoist_loads(&self, f: Value, how: Hoisting) -> Result<bool, ShimError> {
        Ok(sys::prs_hoist_loads(self.raw(), self.require_idle(f)?, MAX_LOADS, how as u32))
    }

    steps! {
        /// Pointers and counters that outermost loops leave behind are computed from their numbers of
        /// iterations behind them: the device has no pointers to give back, and iterations that each leave a
        /// value behind cannot run in parallel.
        rewrite_exit_values = prs_rewrite_exit_values;

        /// What a loop over data leaves in a number (a sum, a count, a place) and what bounds, conditions,
        /// and subscripts behind it are made of is a number of its own, which scalar evolution does not look
        /// through: else a later nest's parameters would be values in an iteration of that loop.
        separate_results = prs_separate_results;

        /// A loop nest that accesses an array in one order or in another, by a number that is known before it
        /// (`if (forward) y[j * m + i] = x[i * n + j]; else y[i * n + j] = x[j * m +
        /// i];`), becomes a nest for each: no one shape is that of both. Divides one nest; returns whether it
        /// found one.
        unswitch_loops = prs_unswitch_loops;

        /// Branches on what loops do not change (`if (bias != NULL)`, `if (beta == 0)`) become branches on a
        /// number that is known before the loops, so that they are conditions on parameters.
        hoist_conditions = prs_hoist_conditions;

        /// Removes calls that initialize a variable of a derived type whose components have no initial
        /// values: flang has one for each value that a structure constructor or a function makes. The library
        /// would find that there is nothing to do; so does this, in the constant that describes the type,
        /// which must be known here.
        drop_initializations = prs_drop_initializations;

        /// Removes pairs that save and restore the stack pointer, where no variable of a size known at run
        /// time only comes in between: flang puts one around each iteration of `do concurrent` with `local`.
        drop_stack_saves = prs_drop_stack_saves;

        /// In innermost loops of others, values that are computed under a condition of counters only, `if (j
        /// > 0) least = min(least, a[j - 1])`, are computed everywhere and chosen: a load goes to a place of
        /// the same array that has been loaded before where the condition does not hold. What is computed has
        /// no other effects, and is little.
        compute_sides = prs_compute_sides;

        /// Makes a phi of loads of one place, which nothing stores to in between, a load again. Rotation of
        /// loops and jump threading make such phis; one behind a loop has a size of the next loop, say, which
        /// is then no longer what the place holds.
        rejoin_loads = prs_rejoin_loads;

        /// Removes stores to local variables that are only stored to.
        drop_unread_locals = prs_drop_unread_locals;

        /// Makes arrays of variable length whose size is a small number after all variables of the function,
        /// where each iteration of a loop gives its own back before it ends: `const int n = 8; float r[n];`
        /// in C. So are small arrays of the heap.
        settle_arrays = prs_settle_arrays;

        /// Moves arrays of variable length whose size does not change in the loops around them before these,
        /// where each iteration gives its own back before it ends.
        hoist_arrays = prs_hoist_arrays;

        /// Makes differences that loops take over from iteration to iteration sums: `total -= x` adds `-x`.
        add_differences = prs_add_differences;
    }

    /// Moves integer arithmetic on what a loop does not change before the loop: a size such as `h / 2` that
    /// is computed between two loops keeps scalar evolution from multiplying out subscripts. Divisions get a
    /// divisor other than 0 where they did not run.
    pub fn hoist_arithmetic(&self, f: Value) -> Result<bool, ShimError> {
        Ok(sys::prs_hoist_arithmetic(self.raw(), self.require_idle(f)?, false))
    }

    /// Moves tests of what a loop does not change before the loop, where others behind it take the result: of
    /// two loops that ask whether `m > 0`, the second one may have been given the answer of the first.
    pub fn share_tests(&self, f: Value) -> Result<bool, ShimError> {
        Ok(sys::prs_hoist_arithmetic(self.raw(), self.require_idle(f)?, true))
    }

    steps! {
        /// Branches inside loops to blocks that end the program (a failed bounds check, an assertion) become
        /// calls of [`CHECK`] with the condition under which they are not taken, and early returns calls of
        /// [`CHECK_RETURN`]. The error blocks stay in the function, unreachable.
        assume_no_errors = prs_assume_no_errors;
    }

    /// Makes the checks branches again.
    ///
    /// # Errors
    /// [`ShimError::Errors`] if one was lost; the function must not be used then.
    pub fn restore_errors(&self, f: Value) -> Result<(), ShimError> {
        if sys::prs_restore_errors(self.raw(), self.require_idle(f)?) {
            Ok(())
        } else {
            Err(ShimError::Errors)
        }
    }

    steps! {
        /// The back edges of a loop become one, before passes take those of `continue` for loops of their
        /// own.
        join_back_edges = prs_join_back_edges;

        /// Values that a back edge carries are computed for the outcome of the test that takes it: an
        /// iterator's `next = index + (index < len)` is `index + 1` there, which scalar evolution counts.
        specialise_back_edges = prs_specialise_back_edges;

        /// A value that loops inside of a loop advance (`k++`, `*to++ = *from++`) is advanced by the outer
        /// loop at once: by the number of iterations times the step, which is known before it.
        advance_counters = prs_advance_counters;

        /// Loops that end where what is left is less than what an iteration takes, which is an argument, get
        /// a counter, and so do those that take that or what is left, if that is less. Returns whether there
        /// was one.
        count_chunks = prs_count_chunks;
    }

    /// Unrolls loops of few iterations in which subscripts are computed from a constant table, or from an
    /// array on the stack, which choose a pointer to a variable, exchange two objects word by word (pointers
    /// become pointers again), or walk through an array of one iteration. Returns whether there was one: what
    /// is loaded is not simplified yet.
    pub fn unroll_tables(&self, f: Value) -> Result<bool, ShimError> {
        Ok(sys::prs_unroll_tables(self.raw(), self.require_idle(f)?, MAX_TABLES, MAX_TABLE, MAX_UNROLLED))
    }

    /// Loops in which something happens in every so many iterations only are divided into the iterations
    /// between, which get a loop of their own. Returns whether there was one: the loops have lost their
    /// simple form.
    pub fn divide_intervals(&self, f: Value) -> Result<bool, ShimError> {
        Ok(sys::prs_divide_intervals(self.raw(), self.require_idle(f)?, MAX_INTERVALS, MAX_INTERVAL))
    }

    steps! {
        /// A loop in which pointers to arrays with sizes of their own change places gets a version for equal
        /// sizes, in which the arrays have one shape. Returns whether there was one that had none: the loops
        /// have lost their simple form.
        equalise_sizes = prs_equalise_sizes;

        /// Pointers among which a loop chooses (`if (*p < *best) best = p`, as `std::min_element` has it)
        /// become indices of elements, counted from what `best` begins with. All that is chosen must be
        /// pointers that go through elements equally far apart, at constant distances from there. Returns
        /// whether there was one.
        index_choices = prs_index_choices;

        /// Loads of the element that an innermost loop has chosen so far (`if (x[j] > x[best]) best = j`)
        /// become values that are kept beside the index: what is chosen was loaded when it was. The loop must
        /// not write what they load. Where the index is an operand of the place, the others must be the same
        /// ones; else the distances from one object are compared, sums and products of the index and of what
        /// the loop does not change (`a[best * n + k]` and `a[j * n + k]`), in 64 bits: what is said not to
        /// wrap doesn't, as the load runs in each iteration. Of an element of which only one function is
        /// wanted (`fabs(x[best])`) that is kept. Returns whether there was one.
        keep_latest = prs_keep_latest;

        /// What the last iteration leaves that satisfies a condition on data (`if (x[i] < 0) { last = i; w =
        /// y[i]; }`) becomes what stands beside the greatest number of such an iteration; of a value that is
        /// the same in all iterations, whether there is one decides behind the loop. Conditions that depend
        /// on what was chosen before are left alone. The comparisons are conditions again after
        /// [`Session::restore_last`]. Returns whether there was one.
        number_last = prs_number_last;
    }

    /// Takes the numbers of [`Session::number_last`] out of the code that is left for the host.
    pub fn restore_last(&self, f: Value) -> Result<(), ShimError> {
        sys::prs_restore_last(self.raw(), self.require_idle(f)?);
        Ok(())
    }

    steps! {
        /// Values that a loop takes over from one of its last iterations, and that can be computed anew, are.
        /// Returns whether there was one.
        forward_recurrences = prs_forward_recurrences;

        /// A loop `for (k = 0; k < n; k++)` in which subscripts or branches depend on `k / w` and `k % w`,
        /// for a `w` that is known at run time only, gets a version for a positive `w` of which `n` is a
        /// multiple: two loops, over rows of `w` elements. Returns whether there was one that had none: the
        /// loops have lost their simple form.
        ///
        /// In the version `k` is `row * w + column`, the quotient is `row` and the remainder `column`; a
        /// quotient by `w * h` is `row / h`, for the next call. The number of rows is `n / w`, which is
        /// written without the factors that both have, and where `n` is one value it is that number times `w`
        /// from there on, so that shapes of arrays are seen: after `c * t / (t * d)` rows, `c` is `c / d *
        /// d`. A counter may go down to 0 as well, or begin at `i * m` in iteration `i` of a loop around,
        /// where `m` is a whole number of rows, too. All of it is checked before the outermost loop in which
        /// nothing of this changes; that there is a value to divide by as well, for the loop may never come
        /// to divide.
        divide_counters = prs_divide_counters;

        /// An innermost loop that is left where an iteration begins as well as where it ends is left at its
        /// end only: the first test is made there for the iteration to come, and once before the loop. It
        /// must be made of what can be computed at any time, without loads: `for (; a != end && b != stop;
        /// ++a, ++b)` is rotated for its first comparison alone. Returns whether there was one: the loops
        /// have lost their simple form.
        join_ends = prs_join_ends;

        /// A loop that other blocks leave on conditions of which the header knows in each iteration that they
        /// do not hold is left by the header alone. So threaded jumps leave `for (k = n - 1; k >= 0; k--)`
        /// around `for (i = 0; i < k; i++)`: that there is an inner iteration is that there is another outer
        /// one. Returns whether there was one: the loops have lost their simple form, and are rotated no
        /// more.
        settle_ends = prs_settle_ends;

        /// A loop that is left in the middle of an iteration by the very test that ends the iteration, and
        /// leaves nothing behind that could tell both ways apart, is left at its end alone: what comes after
        /// the early test is under its condition. Threaded jumps leave such loops where the second one of two
        /// inner loops runs under the condition that ends the outer one. Whoever threads jumps makes them
        /// again. Returns whether there was one: the loops have lost their simple form.
        rejoin_ends = prs_rejoin_ends;

        /// A nest over tiles of a size that is known at run time only, `for (t = a; t < n; t += s)` around
        /// `for (p = t; p < min(n, t + s); p++)`, gets a version in which each such pair of loops is one loop
        /// over `p`, whatever loops are in between; the other one stays on the host. Returns whether there
        /// was one that had none.
        ///
        /// What runs in the version is in another order than in the program where loops are between a pair's.
        /// So it must not run but as a whole and by a model of which `pollyrs_schedule::keeps_order` proves
        /// that the order makes no difference, and before the function is used [`Session::restore_tiles`]
        /// must have put the program's loops in its place. Checked before the loops: tiles have at least one
        /// point, the last one ends where the points do, and no counter comes near the end of its type.
        /// Nothing but the points' counters depends on those of tiles, and no value is handed on from one
        /// point to another, or leaves the nest, but through memory.
        join_tiles = prs_join_tiles;
    }

    /// What is left for the host of a version over points becomes a copy of the program's loops over tiles.
    /// The version's blocks stay without a way to them, unless they are to be erased.
    ///
    /// # Errors
    /// [`ShimError::Tiles`] if one of both was lost; the function must not be used then.
    pub fn restore_tiles(&self, f: Value, erase: bool) -> Result<(), ShimError> {
        if sys::prs_restore_tiles(self.raw(), self.require_idle(f)?, erase) {
            Ok(())
        } else {
            Err(ShimError::Tiles)
        }
    }

    /// A loop that adds floating-point numbers, in an order that counts, to elements that lists of integers
    /// name, or stores other numbers there, of which the last one stays, gets a version that goes through the
    /// elements, and for each through the numbers that are added to it or stored, in the program's order; the
    /// library says which these are. Returns whether there was one that had none: the loops have lost their
    /// simple form. `apart`: what is written lies in no list, untested (a bug that is planted).
    ///
    /// As with [`Session::join_tiles`], nothing but a model of the whole version may run, and one whose
    /// arrays are known to be apart, and before the function is used [`Session::restore_grouped`] must have
    /// put the program's loop in its place.
    pub fn group_sums(&self, f: Value, apart: bool) -> Result<bool, ShimError> {
        Ok(sys::prs_group_sums(self.raw(), self.require_idle(f)?, apart))
    }

    steps! {
        /// A loop whose iterations have one between bounds that they load, around one over columns, gets a
        /// version with the loop over columns outside of that between loaded bounds; the other one stays on
        /// the host. Returns whether there was one that had none: the loops have lost their simple form. What
        /// holds for the version is what holds for those of [`Session::group_sums`].
        take_columns_outside = prs_take_columns_outside;
    }

    /// What is left for the host of a version by places becomes a copy of the program's loop, as with
    /// [`Session::restore_tiles`]. Where nothing of the version runs on a device, the library is not asked.
    ///
    /// # Errors
    /// [`ShimError::Grouped`] if one of both was lost; the function must not be used then.
    pub fn restore_grouped(&self, f: Value, erase: bool) -> Result<(), ShimError> {
        if sys::prs_restore_grouped(self.raw(), self.require_idle(f)?, erase) {
            Ok(())
        } else {
            Err(ShimError::Grouped)
        }
    }

    steps! {
        /// A loop whose windows have a step that is known at run time only gets versions for steps of one and
        /// two. Returns whether there was one that had none: the loops have lost their simple form.
        divide_steps = prs_divide_steps;

        /// An outermost loop that keeps pointers in several objects which might overlap (two vectors passed
        /// by reference, and `std::swap`) gets a version for when they don't; the other one stays on the
        /// host. Returns whether there was one that had none: the loops have lost their simple form.
        separate_pointers = prs_separate_pointers;

        /// A loop with assignments of whole allocatable arrays gets a version for arrays of one shape; the
        /// other one stays on the host. Returns whether there was one that had none: the loops have lost
        /// their simple form, and descriptors that nobody reads are left.
        divide_assignments = prs_divide_assignments;

        /// Copies of structures that hold pointers become copies of their fields, inside loops. Returns
        /// whether there were any: local copies are no values yet.
        split_structures = prs_split_structures;

        /// A loop that passes sizes around together with pointers gets a version for equal ones; the other
        /// one stays on the host. Returns whether there was one that had none: the loops have lost their
        /// simple form.
        divide_sizes = prs_divide_sizes;

        /// A place in memory that an outermost loop updates under a condition, `*p = 0; for (...) if (c)
        /// ++*p;`, becomes a value, stored behind the loop; where nothing else in the loop touches it, and it
        /// is stored to in any case just before. Returns whether there was one: the loops have lost their
        /// simple form.
        promote_updates = prs_promote_updates;

        /// Pointers that a loop around loops loads and stores at one place in memory become values, stored
        /// once behind the loop; where nothing else in the loop touches the place, and the loop stores to it
        /// in any case. So do numbers that any loop counts at one place and that addresses are made of, such
        /// as the length of the vector to which Rust's `collect` appends.
        promote_pointers = prs_promote_pointers;
    }

    /// Loops that pass pointers around (`tmp = a; a = b; b = tmp`, also among three or four, and
    /// `now = 1 - now`) run as many iterations at once as it takes until all are back in their places: then
    /// each access has a base that does not change. Loops that would have more than `max_instructions`
    /// instructions stay.
    pub fn rotate_pointers(&self, f: Value, max_instructions: u32) -> Result<bool, ShimError> {
        Ok(sys::prs_rotate_pointers(self.raw(), self.require_idle(f)?, max_instructions, false))
    }

    /// The same behind [`Session::assume_invariant_loads`], for loops whose ends are known only then: what
    /// counts iterations is marked with [`INVARIANT`] as well, and is the program's own test where it is not.
    pub fn rotate_assumed(&self, f: Value, max_instructions: u32) -> Result<bool, ShimError> {
        Ok(sys::prs_rotate_pointers(self.raw(), self.require_idle(f)?, max_instructions, true))
    }

    steps! {
        /// Reads bounds and base pointers before the outermost loops that do nothing but store, where only
        /// the types or the names of pointers leave open whether the loop changes them, and marks the loads
        /// with [`INVARIANT`]. Returns whether there are any.
        assume_invariant_loads = prs_assume_invariant_loads;
    }

    /// Lets marked loads be known by what they load, and no longer be marked with [`INVARIANT`], until this
    /// is undone.
    pub fn suspend_invariant_loads(&self, f: Value, suspended: bool) -> Result<(), ShimError> {
        sys::prs_suspend_invariant_loads(self.raw(), self.require_idle(f)?, suspended);
        Ok(())
    }

    steps! {
        /// Takes the marks off, the suspended ones as well.
        restore_invariant_loads = prs_restore_invariant_loads;
    }

    /// Loops that load the addresses of rows from tables get a version for rows that are equally far apart,
    /// which is asked at run time; at most `limit` loops.
    pub fn divide_rows(&self, f: Value, limit: u32) -> Result<bool, ShimError> {
        Ok(sys::prs_divide_rows(self.raw(), self.require_idle(f)?, limit, false))
    }

    /// The same for loops whose accesses are checked ([`Session::assume_no_errors`]), where rows have one
    /// length and what is written leaves the tables alone; no pass may run until [`Session::restore_rows`].
    pub fn divide_checked_rows(&self, f: Value, limit: u32) -> Result<bool, ShimError> {
        Ok(sys::prs_divide_rows(self.raw(), self.require_idle(f)?, limit, true))
    }

    steps! {
        /// Rows of tables are known by where the model has them ([`ROW`]); no pass may run until
        /// [`Session::restore_rows`].
        mark_rows = prs_mark_rows;

        /// Rows of tables are what the tables say.
        restore_rows = prs_restore_rows;

        /// Calls of `sincos` become one of `sin`, one of `cos`, and two stores, so that places for the
        /// results are values. (The C library's results are the same bits: measured over every 97th float and
        /// 20 million doubles of glibc 2.36.)
        split_sines = prs_split_sines;

        /// Structures of a few bytes that calling conventions pass in one register (`struct { unsigned char
        /// r, g, b; }` as `i24`, `struct { float value; int place; }` as `i64`) are their members again,
        /// inside loops: what is stored of several numbers becomes a store of each, and a load of which parts
        /// are used a load of each. A number of a width that memory is accessed in stays one where nothing of
        /// its object is accessed in narrower ones: a pixel `a << 24 | r << 16 | g << 8 | b` is one. Nothing
        /// is done where memory has the highest byte first.
        split_words = prs_split_words;

        /// Tells LLVM of calls of the mathematical library what holds for all of them: they return, and write
        /// `errno` at most.
        describe_math_calls = prs_describe_math_calls;

        /// Calls of the mathematical library inside loops that may set `errno` are made pure and marked with
        /// [`ERRNO`].
        assume_no_errno = prs_assume_no_errno;
    }

    /// Makes marked calls, and copies of them, what they were.
    ///
    /// # Errors
    /// [`ShimError::Errno`] if one has lost its number; the function must not be used then.
    pub fn restore_errno(&self, f: Value) -> Result<(), ShimError> {
        if sys::prs_restore_errno(self.raw(), self.require_idle(f)?) { Ok(()) } else { Err(ShimError::Errno) }
    }

    steps! {
        /// Calls of `__muldc3` and `__mulsc3` become code, those of `cabs` calls of `hypot`.
        expand_complex_calls = prs_expand_complex_calls;

        /// Vectors that calls return which may throw are used behind a copy where the call returns to: LLVM's
        /// pass that takes vectors apart breaks the function otherwise. False if there is one that this
        /// cannot be done with.
        land_vectors = prs_land_vectors;
    }

    /// Of accesses in loops whose address is selected by data, `*(c ? p : q)`, each becomes two in the arms
    /// of a branch; at most `limit`.
    pub fn divide_accesses(&self, f: Value, limit: u32) -> Result<bool, ShimError> {
        Ok(sys::prs_divide_accesses(self.raw(), self.require_idle(f)?, limit))
    }

    steps! {
        /// Updates of a value behind branches on data become updates by a selected value, `if (c) n += 1;`
        /// one by `c ? 1 : 0`.
        lift_updates = prs_lift_updates;

        /// Updates behind branches on data that guard what they load, `if (mask[i]) sum += x[i];`, are made
        /// where the ways meet again: see `cpp/masked.cpp`.
        part_masked = prs_part_masked;

        /// Counts that go up where something is stored under them, `if (a && b) out[k++] = v;`, go up ahead
        /// of the stores: see `cpp/counts.cpp`.
        divide_counts = prs_divide_counts;

        /// Branches on data inside loops become straight-line code; see the module documentation for what may
        /// be done with it.
        flatten_conditions = prs_flatten_conditions;
    }

    /// Makes the stores of flattened branches conditional again.
    ///
    /// # Errors
    /// [`ShimError::Conditions`] if something changed them; the function must not be used then.
    pub fn restore_conditions(&self, f: Value) -> Result<(), ShimError> {
        if sys::prs_restore_conditions(self.raw(), self.require_idle(f)?) {
            Ok(())
        } else {
            Err(ShimError::Conditions)
        }
    }
}

//! Loops, regions, dominators, scalar evolution and alias analysis of one function.
//!
//! Lists are owned snapshots taken when the value is made; queries ask LLVM. [`Analyses::split_entry`] and
//! [`Analyses::expand`] change the function in ways that keep every *query* valid; the snapshots then lack
//! the new block.

use crate::ir::{Block, Value};
use crate::session::Uses;
use crate::source::read_location;
use crate::{ScevExpr, ScevHandle, Session, SourceLoc, Touch, scev, sys, underlying_objects};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// Index into [`Analyses::loops`].
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LoopId(pub usize);

/// A natural loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopData {
    pub parent: Option<LoopId>,
    /// From 1, outermost.
    pub depth: u32,
    pub header: Block,
    pub preheader: Option<Block>,
    pub latch: Option<Block>,
    pub exiting: Vec<Block>,
    /// The unique exit block.
    pub exit: Option<Block>,
    /// Header first; blocks of inner loops included.
    pub blocks: Vec<Block>,
    pub location: Option<SourceLoc>,
    /// The loop is finite if it does nothing observable: `llvm.loop.mustprogress`, or the function is
    /// `mustprogress` or `willreturn`.
    pub must_progress: bool,
    /// A version for rows that are not equally far apart ([`crate::Session::divide_rows`]).
    pub apart: bool,
    /// A version for what next to no program does, which stays on the host
    /// ([`crate::Session::promote_pointers`]).
    pub kept: bool,
    /// One for steps of windows that have no version ([`crate::Session::divide_steps`]), which stays there,
    /// too.
    pub other_steps: bool,
    /// A version for rows of which the last one is shorter ([`crate::Session::divide_counters`]).
    pub uneven_rows: bool,
    /// What was a call of memcpy, memmove or memset ([`crate::Session::expand_memory_intrinsics`]).
    pub moves: bool,
    /// A loop over tiles, which stays on the host, and the outermost loop of its version over points
    /// ([`crate::Session::join_tiles`]).
    pub tiles: bool,
    pub points: bool,
    /// The innermost loop of that version whose iterations were in another order.
    pub last_of_points: bool,
    /// A version that goes through sums place by place, or has columns outside, and the loop that it is of
    /// ([`crate::Session::group_sums`], [`crate::Session::take_columns_outside`]).
    pub grouped: bool,
    pub listed: bool,
    /// Of the latter, one that stays on the host: its parts are short.
    pub aside: bool,
}

/// A single-entry region of LLVM's region tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionData {
    /// Index into [`Analyses::regions`].
    pub parent: Option<usize>,
    pub entry: Block,
    /// Not part of the region; `None` for the whole function.
    pub exit: Option<Block>,
    /// In reverse postorder.
    pub blocks: Vec<Block>,
}

/// What an instruction may do to an object's memory.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryEffect {
    pub reads: bool,
    pub writes: bool,
    /// Anything at all, also to order this thread's accesses with another's or to leave the function.
    pub anything: bool,
}

/// See the module documentation.
pub struct Analyses<'s> {
    raw: NonNull<sys::RawAnalyses>,
    function: Value,
    loops: Vec<LoopData>,
    regions: Vec<RegionData>,
    order: Vec<Block>,
    uses: Uses,
    session: PhantomData<&'s Session>,
}

impl Analyses<'_> {
    pub(crate) fn new(raw: NonNull<sys::RawAnalyses>, function: Value, uses: Uses) -> Self {
        *uses.borrow_mut().entry(function).or_default() += 1;
        let mut made = Analyses {
            raw,
            function,
            loops: Vec::new(),
            regions: Vec::new(),
            order: Vec::new(),
            uses,
            session: PhantomData,
        };
        made.order = sys::collect(|into| sys::prs_reverse_postorder(made.raw(), into, sys::push));
        made.loops = (0..sys::prs_loop_count(made.raw())).map(|i| read_loop(made.raw(), i)).collect();
        made.regions = (0..sys::prs_region_count(made.raw())).map(|i| read_region(made.raw(), i)).collect();
        made
    }

    fn raw(&self) -> &sys::RawAnalyses {
        // SAFETY: made by `prs_analyses_new`, freed on drop; C++ changes it behind a cell.
        unsafe { self.raw.as_ref() }
    }

    fn expr(&self, handle: ScevHandle) -> ScevExpr {
        scev::snapshot(self.raw(), handle)
    }

    /// The handle of an expression that these analyses gave, by its address.
    ///
    /// # Safety
    /// They did, or the address is 0.
    pub unsafe fn handle_at(&self, address: usize) -> ScevHandle {
        ScevHandle::new(address)
    }

    pub fn function(&self) -> Value {
        self.function
    }

    /// In preorder; the index is the [`LoopId`]. Siblings in program order.
    pub fn loops(&self) -> &[LoopData] {
        &self.loops
    }

    pub fn loop_data(&self, id: LoopId) -> Option<&LoopData> {
        self.loops.get(id.0)
    }

    pub fn innermost_loop(&self, bb: Block) -> Option<LoopId> {
        some_index(sys::prs_innermost_loop(self.raw(), bb)).map(LoopId)
    }

    /// In preorder of the region tree; 0 is the whole function.
    pub fn regions(&self) -> &[RegionData] {
        &self.regions
    }

    /// Reachable blocks only.
    pub fn reverse_postorder(&self) -> &[Block] {
        &self.order
    }

    pub fn dominates(&self, a: Block, b: Block) -> bool {
        sys::prs_dominates(self.raw(), a, b)
    }

    /// Not kept up to date by [`Analyses::split_entry`].
    pub fn post_dominates(&self, a: Block, b: Block) -> bool {
        sys::prs_post_dominates(self.raw(), a, b)
    }

    /// `v` as seen from `scope` (`None`: after all loops); `CouldNotCompute` also for values that are neither
    /// integers nor pointers, and for expressions too large to be useful.
    pub fn scev(&self, v: Value, scope: Option<LoopId>) -> ScevExpr {
        self.expr(sys::prs_scev(self.raw(), v, scope.map_or(sys::NONE, |l| l.0)))
    }

    /// The exact number of times the back edge is taken.
    pub fn backedge_taken_count(&self, l: LoopId) -> ScevExpr {
        self.expr(sys::prs_backedge_taken_count(self.raw(), l.0))
    }

    /// An upper bound of the number of times the back edge is taken: the least of those of the exits that
    /// have one.
    pub fn backedge_taken_bound(&self, l: LoopId) -> ScevExpr {
        self.expr(sys::prs_backedge_taken_bound(self.raw(), l.0))
    }

    /// The product of integers of at most 64 bits, each sign-extended to 64; it wraps. `CouldNotCompute` for
    /// pointers and no factors.
    pub fn product(&self, factors: &[ScevHandle]) -> ScevExpr {
        // SAFETY: a list of so many handles of these analyses.
        self.expr(unsafe { sys::prs_scev_product(self.raw(), factors.as_ptr(), factors.len()) })
    }

    /// The sum of integers, each times its factor, in the narrowest of their types; it wraps.
    /// `CouldNotCompute` for pointers and no terms.
    pub fn sum(&self, terms: &[(ScevHandle, i64)]) -> ScevExpr {
        let (handles, factors): (Vec<ScevHandle>, Vec<i64>) = terms.iter().copied().unzip();
        // SAFETY: lists of one length, of handles of these analyses and of their factors.
        self.expr(unsafe { sys::prs_scev_sum(self.raw(), handles.as_ptr(), factors.as_ptr(), handles.len()) })
    }

    /// `scev` with divisors that may be 0 replaced by 1 there: the same value wherever the program computes
    /// it, and safe to compute elsewhere.
    pub fn safe_division(&self, scev: ScevHandle) -> ScevExpr {
        self.expr(sys::prs_scev_safe_division(self.raw(), scev))
    }

    /// The least and the largest value that `scev` may have, as a signed number; all of 64 bits where nothing
    /// is known of it.
    pub fn signed_range(&self, scev: ScevHandle) -> (i64, i64) {
        let (mut least, mut most) = (i64::MIN, i64::MAX);
        sys::prs_scev_range(self.raw(), scev, &mut least, &mut most);
        (least, most)
    }

    /// How often loop `l` went back to its header, in 64 bits; `CouldNotCompute` for an id of no loop.
    pub fn iteration(&self, l: LoopId) -> ScevExpr {
        self.expr(sys::prs_scev_iteration(self.raw(), l.0))
    }

    /// An integer, read without sign, in a type of `bits` bits, at most 64; `CouldNotCompute` where it is
    /// wider.
    pub fn zero_extended(&self, scev: ScevHandle, bits: u32) -> ScevExpr {
        self.expr(sys::prs_scev_zero_extended(self.raw(), scev, bits))
    }

    /// `scev / divisor`, rounded down, both unsigned; `CouldNotCompute` for a pointer or a divisor of 0.
    pub fn quotient(&self, scev: ScevHandle, divisor: u64) -> ScevExpr {
        self.expr(sys::prs_scev_udiv(self.raw(), scev, divisor))
    }

    /// `dividend / max(divisor, 1)` of 64 bits, rounded down, both read as unsigned after an extension of
    /// their signed values.
    pub fn quotient_by(&self, dividend: ScevHandle, divisor: ScevHandle) -> ScevExpr {
        self.expr(sys::prs_scev_quotient(self.raw(), dividend, divisor))
    }

    /// What [`Analyses::quotient_by`] leaves: `dividend - max(divisor, 1) * quotient`.
    pub fn remainder_by(&self, dividend: ScevHandle, divisor: ScevHandle) -> ScevExpr {
        self.expr(sys::prs_scev_remainder(self.raw(), dividend, divisor))
    }

    /// `left - right` modulo 2^bits, of integers of one type, or of the addresses of pointers in bytes; else
    /// `CouldNotCompute`.
    pub fn difference(&self, left: ScevHandle, right: ScevHandle) -> ScevExpr {
        self.expr(sys::prs_scev_difference(self.raw(), left, right))
    }

    /// 0 if a pointer is null, else 1.
    pub fn not_null(&self, pointer: ScevHandle) -> ScevExpr {
        self.expr(sys::prs_scev_not_null(self.raw(), pointer))
    }

    /// `(end - first + step - 1) / max(step, 1)` of integers of at most 64 bits, each sign-extended to 64,
    /// divided without sign: how often `step` can be added to `first` until `end` is reached.
    pub fn steps(&self, end: ScevHandle, first: ScevHandle, step: ScevHandle) -> ScevExpr {
        self.expr(sys::prs_scev_steps(self.raw(), end, first, step))
    }

    /// Provably `>= 0` as a signed number wherever it is defined.
    pub fn known_non_negative(&self, scev: ScevHandle) -> bool {
        sys::prs_scev_non_negative(self.raw(), scev)
    }

    /// Whether the program promises that iterations of `l` have different elements for `access` and others of
    /// its group, but for those that are only read.
    pub fn promised_apart(&self, l: LoopId, access: Value) -> bool {
        sys::prs_promised_apart(self.raw(), l.0, access)
    }

    pub fn is_loop_invariant(&self, scev: ScevHandle, l: LoopId) -> bool {
        sys::prs_scev_loop_invariant(self.raw(), scev, l.0)
    }

    /// Whether memory reached from `p` by any offset may overlap memory reached from `q`. Both pointers must
    /// have one value during the region asked about: alias analysis compares values of one moment, not of two
    /// iterations.
    pub fn may_alias(&self, p: Value, q: Value) -> bool {
        self.may_alias_accesses((p, None), (q, None))
    }

    /// As [`Analyses::may_alias`], narrowed by the alias tags of one access (load, store, memory intrinsic)
    /// each; sound only if asked for every pair of accesses of the two objects. Scope tags are used where no
    /// scope is declared inside a loop, as only then they hold between iterations. Types are not believed: a
    /// store changes the type of what it stores to. (flang's tags, which are of objects, are.)
    pub fn may_alias_accesses(&self, p: (Value, Option<Value>), q: (Value, Option<Value>)) -> bool {
        sys::prs_may_alias(self.raw(), p.0, p.1, q.0, q.1)
    }

    /// What one execution of `inst` may do to memory reached from `object` by any offset. `object` must have
    /// one value during an activation of the function; the instruction's own operands may change.
    pub fn memory_effect(&self, inst: Value, object: Value) -> MemoryEffect {
        let bits = sys::prs_memory_effect(self.raw(), inst.as_instruction(), object);
        MemoryEffect { reads: bits & 1 != 0, writes: bits & 2 != 0, anything: bits & 4 != 0 }
    }

    /// What alias analysis leaves open of [`Analyses::memory_effect`]; of anything else that `inst` may do it
    /// says nothing.
    pub fn touches(&self, inst: Value, object: Value) -> Touch {
        Touch::from_bits(sys::prs_mod_ref(self.raw(), inst.as_instruction(), object))
    }

    /// All values that `p` may be an offset from: `p` itself where nothing more is known.
    pub fn underlying_objects(&self, p: Value) -> Vec<Value> {
        underlying_objects(p)
    }

    /// An activation of the function ends once, at a `ret` or by unwinding: no `setjmp`, no `musttail` calls.
    pub fn leaves_plainly(&self) -> bool {
        sys::prs_leaves_plainly(self.function.as_function())
    }

    /// Whether `inst` (a load, say) can be executed before the instruction `before` without a new trap.
    pub fn can_speculate(&self, inst: Value, before: Value) -> bool {
        sys::prs_can_speculate(self.raw(), inst.as_instruction(), before.as_instruction())
    }

    pub fn can_expand(&self, scev: ScevHandle, before: Value) -> bool {
        sys::prs_can_expand(self.raw(), scev, before.as_instruction())
    }

    /// Instructions that compute `scev` before the instruction `before`; `None` where that is not safe. They
    /// use no value of `regions`' blocks of which nothing outside of its region made use before.
    pub fn expand(&self, scev: ScevHandle, before: Value, regions: &Regions) -> Option<Value> {
        let Regions { blocks, numbers } = regions;
        let (before, count) = (before.as_instruction(), blocks.len());
        // SAFETY: lists of one length.
        unsafe { sys::prs_expand(self.raw(), scev, before, blocks.as_ptr(), numbers.as_ptr(), count) }
    }

    /// Sends all edges from outside `blocks` into `entry` through a new block, which is returned and ends in
    /// `br entry`. If `entry` begins the function, its static allocas move to the new block. `None` where the
    /// edges cannot be redirected: from `indirectbr` or `callbr`, into an exception pad, or if there are
    /// none.
    pub fn split_entry(&self, entry: Block, blocks: &[Block]) -> Option<Block> {
        // SAFETY: a list of so many blocks.
        unsafe { sys::prs_split_entry(self.raw(), entry, blocks.as_ptr(), blocks.len()) }
    }
}

/// Disjoint regions of a function, as the list of all their blocks and the region of each.
#[derive(Debug, Default)]
pub struct Regions {
    blocks: Vec<Block>,
    numbers: Vec<u32>,
}

impl Regions {
    /// Adds a region.
    pub fn push(&mut self, blocks: impl IntoIterator<Item = Block>) {
        let number = self.numbers.last().map_or(0, |n| n + 1);
        self.blocks.extend(blocks);
        self.numbers.resize(self.blocks.len(), number);
    }
}

impl Drop for Analyses<'_> {
    fn drop(&mut self) {
        // SAFETY: `raw` came from `prs_analyses_new`; the session outlives it by the lifetime.
        unsafe { sys::prs_analyses_free(self.raw) };
        let mut uses = self.uses.borrow_mut();
        match uses.get_mut(&self.function) {
            Some(n) if *n > 1 => *n -= 1,
            _ => {
                uses.remove(&self.function);
            }
        }
    }
}

fn some_index(i: usize) -> Option<usize> {
    (i != sys::NONE).then_some(i)
}

/// What C++ says of a loop: its number is in range.
fn read_loop(raw: &sys::RawAnalyses, id: usize) -> LoopData {
    let mut r = sys::LoopRecord::default();
    let (mut exiting, mut blocks) = (Vec::new(), Vec::new());
    // SAFETY: a number in range.
    let location = unsafe {
        sys::prs_loop(raw, id, &mut r);
        sys::prs_loop_exiting(raw, id, &mut exiting, sys::push);
        sys::prs_loop_blocks(raw, id, &mut blocks, sys::push);
        read_location(|line, column, into, sink| sys::prs_loop_location(raw, id, line, column, into, sink))
    };
    LoopData {
        parent: some_index(r.parent).map(LoopId),
        depth: r.depth,
        header: some_block(r.header),
        preheader: r.preheader,
        latch: r.latch,
        exiting,
        exit: r.exit,
        blocks,
        location,
        must_progress: r.must_progress != 0,
        apart: r.apart != 0,
        kept: r.kept != 0,
        other_steps: r.other_steps != 0,
        uneven_rows: r.uneven_rows != 0,
        moves: r.moves != 0,
        tiles: r.tiles != 0,
        points: r.points != 0,
        last_of_points: r.last_of_points != 0,
        grouped: r.grouped != 0,
        listed: r.listed != 0,
        aside: r.listed > 1,
    }
}

/// What C++ says of a region: its number is in range.
fn read_region(raw: &sys::RawAnalyses, id: usize) -> RegionData {
    let mut r = sys::RegionRecord::default();
    let mut blocks = Vec::new();
    // SAFETY: a number in range.
    unsafe {
        sys::prs_region(raw, id, &mut r);
        sys::prs_region_blocks(raw, id, &mut blocks, sys::push);
    }
    RegionData { parent: some_index(r.parent), entry: some_block(r.entry), exit: r.exit, blocks }
}

/// A block that each loop and region has.
fn some_block(block: Option<Block>) -> Block {
    let Some(block) = block else { panic!("a loop or region without a first block") };
    block
}

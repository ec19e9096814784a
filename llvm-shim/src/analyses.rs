//! Loops, regions, dominators, scalar evolution and alias analysis of one function.
//!
//! Lists are owned snapshots taken when the value is made; queries ask LLVM. [`Analyses::split_entry`] and
//! [`Analyses::expand`] change the function in ways that keep every *query* valid; the snapshots then lack
//! the new block.

use crate::ir::{Block, Value};
use crate::session::Uses;
use crate::source::read_location;
use crate::{
    LLVMBasicBlockRef, LLVMValueRef, ScevExpr, ScevHandleRaw, Session, SourceLoc, Touch, scev, sys,
    underlying_objects,
};
use std::marker::PhantomData;

/// Index into [`Analyses::loops`].
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LoopId(pub usize);

/// A natural loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopData {
    pub parent: Option<LoopId>,
    /// From 1, outermost.
    pub depth: u32,
    pub header: LLVMBasicBlockRef,
    pub preheader: Option<LLVMBasicBlockRef>,
    pub latch: Option<LLVMBasicBlockRef>,
    pub exiting: Vec<LLVMBasicBlockRef>,
    /// The unique exit block.
    pub exit: Option<LLVMBasicBlockRef>,
    /// Header first; blocks of inner loops included.
    pub blocks: Vec<LLVMBasicBlockRef>,
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
}

/// A single-entry region of LLVM's region tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionData {
    /// Index into [`Analyses::regions`].
    pub parent: Option<usize>,
    pub entry: LLVMBasicBlockRef,
    /// Not part of the region; `None` for the whole function.
    pub exit: Option<LLVMBasicBlockRef>,
    /// In reverse postorder.
    pub blocks: Vec<LLVMBasicBlockRef>,
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
    raw: *mut sys::RawAnalyses,
    function: LLVMValueRef,
    loops: Vec<LoopData>,
    regions: Vec<RegionData>,
    order: Vec<LLVMBasicBlockRef>,
    uses: Uses,
    session: PhantomData<&'s Session>,
}

impl Analyses<'_> {
    pub(crate) fn new(raw: *mut sys::RawAnalyses, function: LLVMValueRef, uses: Uses) -> Self {
        *uses.borrow_mut().entry(function as usize).or_default() += 1;
        // SAFETY: `raw` is live; the sink gets the context of `collect_pointers`.
        let order =
            sys::collect_pointers(|ctx| unsafe { sys::prs_reverse_postorder(raw, ctx, sys::push_pointer) });
        // SAFETY: `raw` is live.
        let (loop_count, region_count) = unsafe { (sys::prs_loop_count(raw), sys::prs_region_count(raw)) };
        let loops = (0..loop_count).map(|i| read_loop(raw, i)).collect();
        let regions = (0..region_count).map(|i| read_region(raw, i)).collect();
        Analyses { raw, function, loops, regions, order, uses, session: PhantomData }
    }

    pub fn function(&self) -> LLVMValueRef {
        self.function
    }

    /// In preorder; the index is the [`LoopId`]. Siblings in program order.
    pub fn loops(&self) -> &[LoopData] {
        &self.loops
    }

    pub fn loop_data(&self, id: LoopId) -> Option<&LoopData> {
        self.loops.get(id.0)
    }

    pub fn innermost_loop(&self, bb: LLVMBasicBlockRef) -> Option<LoopId> {
        // SAFETY: live analyses and block.
        some_index(unsafe { sys::prs_innermost_loop(self.raw, bb) }).map(LoopId)
    }

    /// In preorder of the region tree; 0 is the whole function.
    pub fn regions(&self) -> &[RegionData] {
        &self.regions
    }

    /// Reachable blocks only.
    pub fn reverse_postorder(&self) -> &[LLVMBasicBlockRef] {
        &self.order
    }

    pub fn dominates(&self, a: LLVMBasicBlockRef, b: LLVMBasicBlockRef) -> bool {
        // SAFETY: live analyses and blocks.
        unsafe { sys::prs_dominates(self.raw, a, b) }
    }

    /// Not kept up to date by [`Analyses::split_entry`].
    pub fn post_dominates(&self, a: LLVMBasicBlockRef, b: LLVMBasicBlockRef) -> bool {
        // SAFETY: live analyses and blocks.
        unsafe { sys::prs_post_dominates(self.raw, a, b) }
    }

    /// `v` as seen from `scope` (`None`: after all loops); `CouldNotCompute` also for values that are neither
    /// integers nor pointers, and for expressions too large to be useful.
    pub fn scev(&self, v: LLVMValueRef, scope: Option<LoopId>) -> ScevExpr {
        // SAFETY: live analyses and value; an unknown loop number is rejected there.
        let handle = unsafe { sys::prs_scev(self.raw, v, scope.map_or(sys::NONE, |l| l.0)) };
        scev::snapshot(self.raw, handle)
    }

    /// The exact number of times the back edge is taken.
    pub fn backedge_taken_count(&self, l: LoopId) -> ScevExpr {
        // SAFETY: live analyses; an unknown loop number is rejected there.
        let handle = unsafe { sys::prs_backedge_taken_count(self.raw, l.0) };
        scev::snapshot(self.raw, handle)
    }

    /// An upper bound of the number of times the back edge is taken: the least of those of the exits that
    /// have one.
    pub fn backedge_taken_bound(&self, l: LoopId) -> ScevExpr {
        // SAFETY: live analyses; an unknown loop number is rejected there.
        let handle = unsafe { sys::prs_backedge_taken_bound(self.raw, l.0) };
        scev::snapshot(self.raw, handle)
    }

    /// The product of integers of at most 64 bits, each sign-extended to 64; it wraps. `CouldNotCompute` for
    /// pointers and no factors.
    pub fn product(&self, factors: &[ScevHandleRaw]) -> ScevExpr {
        // SAFETY: the factors are handles of these analyses or 0; C++ reads them during the call only.
        let handle = unsafe { sys::prs_scev_product(self.raw, factors.as_ptr(), factors.len()) };
        scev::snapshot(self.raw, handle)
    }

    /// The sum of integers, each times its factor, in the narrowest of their types; it wraps.
    /// `CouldNotCompute` for pointers and no terms.
    pub fn sum(&self, terms: &[(ScevHandleRaw, i64)]) -> ScevExpr {
        let (handles, factors): (Vec<ScevHandleRaw>, Vec<i64>) = terms.iter().copied().unzip();
        // SAFETY: handles of these analyses or 0; C++ reads both lists, which are as long, during the call
        // only.
        let handle =
            unsafe { sys::prs_scev_sum(self.raw, handles.as_ptr(), factors.as_ptr(), handles.len()) };
        scev::snapshot(self.raw, handle)
    }

    /// `scev` with divisors that may be 0 replaced by 1 there: the same value wherever the program computes
    /// it, and safe to compute elsewhere.
    pub fn safe_division(&self, scev: ScevHandleRaw) -> ScevExpr {
        // SAFETY: `scev` is a handle of these analyses or 0.
        let handle = unsafe { sys::prs_scev_safe_division(self.raw, scev) };
        scev::snapshot(self.raw, handle)
    }

    /// The least and the largest value that `scev` may have, as a signed number; all of 64 bits where nothing
    /// is known of it.
    pub fn signed_range(&self, scev: ScevHandleRaw) -> (i64, i64) {
        let (mut least, mut most) = (i64::MIN, i64::MAX);
        // SAFETY: `scev` is a handle of these analyses or 0; two numbers that live here are written.
        unsafe { sys::prs_scev_range(self.raw, scev, &raw mut least, &raw mut most) };
        (least, most)
    }

    /// How often loop `l` went back to its header, in 64 bits; `CouldNotCompute` for an id of no loop.
    pub fn iteration(&self, l: LoopId) -> ScevExpr {
        // SAFETY: an id of no loop is answered by no handle.
        let handle = unsafe { sys::prs_scev_iteration(self.raw, l.0) };
        scev::snapshot(self.raw, handle)
    }

    /// `scev / divisor`, rounded down, both unsigned; `CouldNotCompute` for a pointer or a divisor of 0.
    pub fn quotient(&self, scev: ScevHandleRaw, divisor: u64) -> ScevExpr {
        // SAFETY: `scev` is a handle of these analyses or 0.
        let handle = unsafe { sys::prs_scev_udiv(self.raw, scev, divisor) };
        scev::snapshot(self.raw, handle)
    }

    /// `dividend / max(divisor, 1)` of 64 bits, rounded down, both read as unsigned after an extension of
    /// their signed values.
    pub fn quotient_by(&self, dividend: ScevHandleRaw, divisor: ScevHandleRaw) -> ScevExpr {
        // SAFETY: handles of these analyses or 0.
        let handle = unsafe { sys::prs_scev_quotient(self.raw, dividend, divisor) };
        scev::snapshot(self.raw, handle)
    }

    /// What [`Analyses::quotient_by`] leaves: `dividend - max(divisor, 1) * quotient`.
    pub fn remainder_by(&self, dividend: ScevHandleRaw, divisor: ScevHandleRaw) -> ScevExpr {
        // SAFETY: handles of these analyses or 0.
        let handle = unsafe { sys::prs_scev_remainder(self.raw, dividend, divisor) };
        scev::snapshot(self.raw, handle)
    }

    /// `left - right` modulo 2^bits, of integers of one type, or of the addresses of pointers in bytes; else
    /// `CouldNotCompute`.
    pub fn difference(&self, left: ScevHandleRaw, right: ScevHandleRaw) -> ScevExpr {
        // SAFETY: handles of these analyses or 0.
        let handle = unsafe { sys::prs_scev_difference(self.raw, left, right) };
        scev::snapshot(self.raw, handle)
    }

    /// 0 if a pointer is null, else 1.
    pub fn not_null(&self, pointer: ScevHandleRaw) -> ScevExpr {
        // SAFETY: a handle of these analyses or 0.
        let handle = unsafe { sys::prs_scev_not_null(self.raw, pointer) };
        scev::snapshot(self.raw, handle)
    }

    /// `(end - first + step - 1) / max(step, 1)` of integers of at most 64 bits, each sign-extended to 64,
    /// divided without sign: how often `step` can be added to `first` until `end` is reached.
    pub fn steps(&self, end: ScevHandleRaw, first: ScevHandleRaw, step: ScevHandleRaw) -> ScevExpr {
        // SAFETY: handles of these analyses or 0.
        let handle = unsafe { sys::prs_scev_steps(self.raw, end, first, step) };
        scev::snapshot(self.raw, handle)
    }

    /// Provably `>= 0` as a signed number wherever it is defined.
    pub fn known_non_negative(&self, scev: ScevHandleRaw) -> bool {
        // SAFETY: `scev` is a handle of these analyses or 0.
        unsafe { sys::prs_scev_non_negative(self.raw, scev) }
    }

    /// Whether the program promises that iterations of `l` have different elements for `access` and others of
    /// its group, but for those that are only read.
    pub fn promised_apart(&self, l: LoopId, access: LLVMValueRef) -> bool {
        // SAFETY: a live value of the function; an unknown loop number is rejected there.
        unsafe { sys::prs_promised_apart(self.raw, l.0, access) }
    }

    pub fn is_loop_invariant(&self, scev: ScevHandleRaw, l: LoopId) -> bool {
        // SAFETY: `scev` is a handle of these analyses or 0; an unknown loop number is rejected there.
        unsafe { sys::prs_scev_loop_invariant(self.raw, scev, l.0) }
    }

    /// Whether memory reached from `p` by any offset may overlap memory reached from `q`. Both pointers must
    /// have one value during the region asked about: alias analysis compares values of one moment, not of two
    /// iterations.
    pub fn may_alias(&self, p: LLVMValueRef, q: LLVMValueRef) -> bool {
        self.may_alias_accesses((p, None), (q, None))
    }

    /// As [`Analyses::may_alias`], narrowed by the alias tags of one access (load, store, memory intrinsic)
    /// each; sound only if asked for every pair of accesses of the two objects. Scope tags are used where no
    /// scope is declared inside a loop, as only then they hold between iterations. Types are not believed: a
    /// store changes the type of what it stores to. (flang's tags, which are of objects, are.)
    pub fn may_alias_accesses(
        &self,
        p: (LLVMValueRef, Option<LLVMValueRef>),
        q: (LLVMValueRef, Option<LLVMValueRef>),
    ) -> bool {
        let raw = |access: Option<LLVMValueRef>| access.unwrap_or(std::ptr::null_mut());
        // SAFETY: live analyses, pointers and instructions; null means no access.
        unsafe { sys::prs_may_alias(self.raw, p.0, raw(p.1), q.0, raw(q.1)) }
    }

    /// What one execution of `inst` may do to memory reached from `object` by any offset. `object` must have
    /// one value during an activation of the function; the instruction's own operands may change.
    pub fn memory_effect(&self, inst: LLVMValueRef, object: LLVMValueRef) -> MemoryEffect {
        // SAFETY: live analyses, instruction and value.
        let bits = unsafe { sys::prs_memory_effect(self.raw, inst, object) };
        MemoryEffect { reads: bits & 1 != 0, writes: bits & 2 != 0, anything: bits & 4 != 0 }
    }

    /// What alias analysis leaves open of [`Analyses::memory_effect`]; of anything else that `inst` may do it
    /// says nothing.
    pub fn touches(&self, inst: LLVMValueRef, object: LLVMValueRef) -> Touch {
        // SAFETY: live analyses, instruction and value.
        Touch::from_bits(unsafe { sys::prs_mod_ref(self.raw, inst, object) })
    }

    /// All values that `p` may be an offset from: `p` itself where nothing more is known.
    pub fn underlying_objects(&self, p: LLVMValueRef) -> Vec<LLVMValueRef> {
        underlying_objects(p)
    }

    /// An activation of the function ends once, at a `ret` or by unwinding: no `setjmp`, no `musttail` calls.
    pub fn leaves_plainly(&self) -> bool {
        // SAFETY: a live function.
        unsafe { sys::prs_leaves_plainly(self.function) }
    }

    /// Whether `inst` (a load, say) can be executed before the instruction `before` without a new trap.
    pub fn can_speculate(&self, inst: LLVMValueRef, before: LLVMValueRef) -> bool {
        // SAFETY: live analyses and instructions.
        unsafe { sys::prs_can_speculate(self.raw, inst, before) }
    }

    pub fn can_expand(&self, scev: ScevHandleRaw, before: LLVMValueRef) -> bool {
        // SAFETY: `scev` is a handle of these analyses or 0; live instruction.
        unsafe { sys::prs_can_expand(self.raw, scev, before) }
    }

    /// Instructions that compute `scev` before the instruction `before`; `None` where that is not safe. They
    /// use no value of `regions`' blocks of which nothing outside of its region made use before.
    pub fn expand(&self, scev: ScevHandleRaw, before: Value, regions: &Regions) -> Option<Value> {
        let Regions { blocks, numbers } = regions;
        // SAFETY: as above; null where unsafe. C++ reads the lists, which are of one length, during the call
        // only.
        let value = unsafe {
            sys::prs_expand(self.raw, scev, before.raw(), blocks.as_ptr(), numbers.as_ptr(), blocks.len())
        };
        // SAFETY: a value of the live function.
        unsafe { Value::maybe(value) }
    }

    /// Sends all edges from outside `blocks` into `entry` through a new block, which is returned and ends in
    /// `br entry`. If `entry` begins the function, its static allocas move to the new block. `None` where the
    /// edges cannot be redirected: from `indirectbr` or `callbr`, into an exception pad, or if there are
    /// none.
    pub fn split_entry(
        &self,
        entry: LLVMBasicBlockRef,
        blocks: &[LLVMBasicBlockRef],
    ) -> Option<LLVMBasicBlockRef> {
        // SAFETY: live analyses and blocks; C++ reads `blocks` during the call only.
        some_block(unsafe { sys::prs_split_entry(self.raw, entry, blocks.as_ptr(), blocks.len()) })
    }
}

/// Disjoint regions of a function, as the list of all their blocks and the region of each.
#[derive(Debug, Default)]
pub struct Regions {
    blocks: Vec<LLVMBasicBlockRef>,
    numbers: Vec<u32>,
}

impl Regions {
    /// Adds a region.
    pub fn push(&mut self, blocks: impl IntoIterator<Item = Block>) {
        let number = self.numbers.last().map_or(0, |n| n + 1);
        self.blocks.extend(blocks.into_iter().map(Block::raw));
        self.numbers.resize(self.blocks.len(), number);
    }
}

impl Drop for Analyses<'_> {
    fn drop(&mut self) {
        // SAFETY: `raw` came from `prs_analyses_new`; the session outlives it by the lifetime.
        unsafe { sys::prs_analyses_free(self.raw) };
        let mut uses = self.uses.borrow_mut();
        let key = self.function as usize;
        match uses.get_mut(&key) {
            Some(n) if *n > 1 => *n -= 1,
            _ => {
                uses.remove(&key);
            }
        }
    }
}

fn some_index(i: usize) -> Option<usize> {
    (i != sys::NONE).then_some(i)
}

fn some_block(bb: LLVMBasicBlockRef) -> Option<LLVMBasicBlockRef> {
    (!bb.is_null()).then_some(bb)
}

fn read_loop(raw: *mut sys::RawAnalyses, id: usize) -> LoopData {
    let null = std::ptr::null_mut();
    let mut r = sys::LoopRecord {
        parent: sys::NONE,
        depth: 0,
        must_progress: 0,
        apart: 0,
        kept: 0,
        other_steps: 0,
        uneven_rows: 0,
        moves: 0,
        tiles: 0,
        points: 0,
        last_of_points: 0,
        header: null,
        preheader: null,
        latch: null,
        exit: null,
    };
    // SAFETY: live analyses, `id` in range, `r` valid for writing.
    unsafe { sys::prs_loop(raw, id, &raw mut r) };
    LoopData {
        parent: some_index(r.parent).map(LoopId),
        depth: r.depth,
        header: r.header,
        preheader: some_block(r.preheader),
        latch: some_block(r.latch),
        // SAFETY: live analyses, `id` in range, sink on its own context.
        exiting: sys::collect_pointers(|ctx| unsafe {
            sys::prs_loop_exiting(raw, id, ctx, sys::push_pointer)
        }),
        exit: some_block(r.exit),
        // SAFETY: as above.
        blocks: sys::collect_pointers(|ctx| unsafe { sys::prs_loop_blocks(raw, id, ctx, sys::push_pointer) }),
        // SAFETY: as above; line and column are valid for writing.
        location: read_location(|line, column, ctx, sink| unsafe {
            sys::prs_loop_location(raw, id, line, column, ctx, sink)
        }),
        must_progress: r.must_progress != 0,
        apart: r.apart != 0,
        kept: r.kept != 0,
        other_steps: r.other_steps != 0,
        uneven_rows: r.uneven_rows != 0,
        moves: r.moves != 0,
        tiles: r.tiles != 0,
        points: r.points != 0,
        last_of_points: r.last_of_points != 0,
    }
}

fn read_region(raw: *mut sys::RawAnalyses, id: usize) -> RegionData {
    let mut r =
        sys::RegionRecord { parent: sys::NONE, entry: std::ptr::null_mut(), exit: std::ptr::null_mut() };
    // SAFETY: live analyses, `id` in range, `r` valid for writing.
    unsafe { sys::prs_region(raw, id, &raw mut r) };
    RegionData {
        parent: some_index(r.parent),
        entry: r.entry,
        exit: some_block(r.exit),
        // SAFETY: live analyses, `id` in range, sink on its own context.
        blocks: sys::collect_pointers(|ctx| unsafe {
            sys::prs_region_blocks(raw, id, ctx, sys::push_pointer)
        }),
    }
}

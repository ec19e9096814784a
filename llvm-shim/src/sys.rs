//! The C functions of `cpp/`; layouts and constants mirror `cpp/shim.h` line by line.
//!
//! **Invariants.** A function that is `safe` here does with any handles what its name says, or nothing, as
//! long as they are live (which handles are) and of the kind that their type names ([`Function`], [`Call`],
//! [`Instruction`]). What takes raw memory, numbers that must be in a range, or ends the life of something
//! outside of a session is not. A list is filled by the sink beside it, which has its type.

use crate::ir::{Block, Call, Context, Function, Instruction, Module, Place, ScevHandle, Value};
use std::cell::UnsafeCell;
use std::ffi::{c_char, c_void};
use std::ptr::NonNull;

/// Opaque C++ session, which C++ changes.
#[repr(C)]
pub struct RawSession {
    _private: UnsafeCell<[u8; 0]>,
}

/// Opaque C++ analyses of one function.
#[repr(C)]
pub struct RawAnalyses {
    _private: UnsafeCell<[u8; 0]>,
}

/// Receives a byte string; the bytes are valid during the call only.
pub type ByteSink = unsafe extern "C" fn(into: &mut Vec<u8>, bytes: *const u8, len: usize);
/// Receives one string of a list, in order.
pub type StringSink = unsafe extern "C" fn(into: &mut Vec<Vec<u8>>, bytes: *const u8, len: usize);
/// Receives one handle of a list, in order.
pub type Sink<T> = extern "C" fn(into: &mut Vec<T>, handle: T);
/// Receives a loop: its parent's number, its header and its blocks, valid during the call only.
pub type LoopSink = unsafe extern "C" fn(
    into: &mut Vec<LoopParts>,
    parent: usize,
    header: Block,
    blocks: *const Block,
    count: usize,
);

/// A loop as C++ tells of it.
pub struct LoopParts {
    /// The number of its parent, or [`NONE`].
    pub parent: usize,
    pub header: Block,
    pub blocks: Vec<Block>,
}

/// "No parent", "no loop".
pub const NONE: usize = usize::MAX;

#[derive(Default)]
#[repr(C)]
pub struct LoopRecord {
    pub parent: usize,
    pub depth: u32,
    pub must_progress: u32,
    pub apart: u32,
    pub kept: u32,
    pub other_steps: u32,
    pub uneven_rows: u32,
    pub moves: u32,
    pub tiles: u32,
    pub points: u32,
    pub last_of_points: u32,
    pub grouped: u32,
    pub listed: u32,
    pub header: Option<Block>,
    pub preheader: Option<Block>,
    pub latch: Option<Block>,
    pub exit: Option<Block>,
}

#[derive(Default)]
#[repr(C)]
pub struct RegionRecord {
    pub parent: usize,
    pub entry: Option<Block>,
    pub exit: Option<Block>,
}

pub const SCEV_CONSTANT: u32 = 0;
pub const SCEV_UNKNOWN: u32 = 1;
pub const SCEV_ADD: u32 = 2;
pub const SCEV_MUL: u32 = 3;
pub const SCEV_UDIV: u32 = 4;
pub const SCEV_ADD_REC: u32 = 5;
pub const SCEV_ZERO_EXTEND: u32 = 6;
pub const SCEV_SIGN_EXTEND: u32 = 7;
pub const SCEV_TRUNCATE: u32 = 8;
pub const SCEV_SMAX: u32 = 9;
pub const SCEV_UMAX: u32 = 10;
pub const SCEV_SMIN: u32 = 11;
pub const SCEV_UMIN: u32 = 12;
pub const SCEV_SEQUENTIAL_UMIN: u32 = 13;
pub const SCEV_PTR_TO_INT: u32 = 14;
pub const SCEV_VSCALE: u32 = 15;
pub const SCEV_COULD_NOT_COMPUTE: u32 = 16;

pub const FLAG_NUW: u32 = 1;
pub const FLAG_NSW: u32 = 2;
pub const FLAG_POINTER: u32 = 4;

#[derive(Default)]
#[repr(C)]
pub struct ScevRecord {
    pub kind: u32,
    pub bits: u32,
    pub flags: u32,
    pub reserved: u32,
    /// Loop of an add recurrence.
    pub loop_id: usize,
    /// Value of an unknown.
    pub value: Option<Value>,
    /// Sign-extended constant.
    pub low: u64,
    pub high: i64,
}

#[derive(Default)]
#[repr(C)]
pub struct VersionRecord {
    pub offload: Option<Block>,
    pub host_begin: Option<Block>,
    pub host_end: Option<Block>,
    pub merge: Option<Block>,
}

/// Runs a registered pass; returns whether the module changed.
pub type PassCallback = extern "C" fn(module: Module, stage: u32, parameters: *const u8, len: usize) -> bool;

#[repr(C)]
pub struct PassRecord {
    pub name: *const c_char,
    pub stage: u32,
    /// Also run at the start of the host's optimisation pipelines.
    pub pipeline_start: u32,
    pub unoptimized: u32,
}

// The same numbers as in shim.h, whose structures these are.
const _: () = {
    use std::mem::{offset_of, size_of};
    assert!(size_of::<LoopRecord>() == 88 && offset_of!(LoopRecord, moves) == 32);
    assert!(offset_of!(LoopRecord, exit) == 80);
    assert!(size_of::<RegionRecord>() == 24 && offset_of!(RegionRecord, exit) == 16);
    assert!(size_of::<ScevRecord>() == 48 && offset_of!(ScevRecord, loop_id) == 16);
    assert!(offset_of!(ScevRecord, high) == 40);
    assert!(size_of::<VersionRecord>() == 32 && offset_of!(VersionRecord, merge) == 24);
    assert!(size_of::<PassRecord>() == 24 && offset_of!(PassRecord, unoptimized) == 16);
};

// Lists are Rust's own: C++ hands their addresses to the sinks and does not look at them.
#[allow(improper_ctypes)]
unsafe extern "C" {
    pub fn prs_session_new(module: Module) -> NonNull<RawSession>;
    pub fn prs_session_free(s: NonNull<RawSession>);
    /// NULL and a reason through `sink` where the function cannot be cloned.
    pub safe fn prs_clone_function(
        s: &RawSession,
        f: Function,
        into: &mut Vec<u8>,
        sink: ByteSink,
    ) -> Option<Value>;
    /// False if `clone` is not a clone of `f` made by this session.
    pub safe fn prs_adopt_body(s: &RawSession, f: Function, clone: Function) -> bool;
    pub safe fn prs_erase_function(s: &RawSession, clone: Function);
    /// False, with nothing done, where a name is defined in both.
    pub fn prs_move_definitions(from: Module, to: Module) -> bool;
    /// False where the bytes are no bitcode or do not fit the module.
    pub fn prs_link_needed(to: Module, bytes: *const u8, length: usize) -> bool;
    /// False and a message where the pipeline does not parse.
    pub fn prs_optimize(
        m: Module,
        machine: *mut c_void,
        text: *const u8,
        len: usize,
        into: &mut Vec<u8>,
        sink: ByteSink,
    ) -> bool;
    /// False and a message where the pipeline does not parse.
    pub fn prs_run_passes(
        s: &RawSession,
        f: Function,
        text: *const u8,
        len: usize,
        into: &mut Vec<u8>,
        sink: ByteSink,
    ) -> bool;
    pub safe fn prs_inline_calls_in_loops(
        s: &RawSession,
        f: Function,
        max_instructions: u32,
        max_rounds: u32,
        max_total: u32,
        aside: bool,
    ) -> u32;
    pub safe fn prs_lower_switches(s: &RawSession, f: Function, max_cases: u32) -> bool;
    pub safe fn prs_expand_memory_intrinsics(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_separate_results(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_rewrite_exit_values(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_hoist_conditions(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_settle_arrays(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_hoist_arrays(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_add_differences(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_index_choices(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_drop_initializations(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_drop_stack_saves(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_count_chunks(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_hoist_arithmetic(s: &RawSession, f: Function, only_shared: bool) -> bool;
    pub safe fn prs_hoist_loads(s: &RawSession, f: Function, max_loads: u32, how: u32) -> bool;
    pub safe fn prs_expand_complex_calls(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_land_vectors(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_divide_accesses(s: &RawSession, f: Function, limit: u32) -> bool;
    pub safe fn prs_join_back_edges(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_lift_updates(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_part_masked(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_divide_counts(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_flatten_conditions(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_assume_no_errors(s: &RawSession, f: Function) -> bool;
    /// False if a check was lost.
    pub safe fn prs_restore_errors(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_advance_counters(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_specialise_back_edges(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_divide_counters(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_settle_ends(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_rejoin_ends(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_join_ends(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_join_tiles(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_take_columns_outside(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_group_sums(s: &RawSession, f: Function, apart: bool) -> bool;
    /// False if a mark was lost.
    pub safe fn prs_restore_grouped(s: &RawSession, f: Function, erase: bool) -> bool;
    /// False if a mark was lost.
    pub safe fn prs_restore_tiles(s: &RawSession, f: Function, erase: bool) -> bool;
    pub safe fn prs_divide_steps(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_separate_pointers(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_divide_assignments(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_split_structures(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_divide_sizes(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_promote_pointers(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_promote_updates(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_compute_sides(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_rejoin_loads(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_drop_unread_locals(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_rotate_pointers(
        s: &RawSession,
        f: Function,
        max_instructions: u32,
        assumed: bool,
    ) -> bool;
    pub safe fn prs_divide_rows(s: &RawSession, f: Function, limit: u32, checked: bool) -> bool;
    pub safe fn prs_mark_rows(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_restore_rows(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_split_sines(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_split_words(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_unswitch_loops(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_describe_math_calls(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_assume_no_errno(s: &RawSession, f: Function) -> bool;
    /// False if a call was lost.
    pub safe fn prs_assume_invariant_loads(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_suspend_invariant_loads(s: &RawSession, f: Function, suspended: bool);
    pub safe fn prs_restore_invariant_loads(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_restore_errno(s: &RawSession, f: Function) -> bool;
    /// 0 where the expression is not of the kind.
    pub fn prs_scev_product(a: &RawAnalyses, factors: *const ScevHandle, count: usize) -> ScevHandle;
    /// False if a store that stands for a conditional one no longer has the shape it was given.
    pub safe fn prs_restore_conditions(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_unroll_tables(
        s: &RawSession,
        f: Function,
        loops: u32,
        iterations: u32,
        instructions: u32,
    ) -> bool;
    pub safe fn prs_divide_intervals(s: &RawSession, f: Function, loops: u32, instructions: u32) -> bool;
    pub safe fn prs_equalise_sizes(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_keep_latest(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_number_last(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_restore_last(s: &RawSession, f: Function);
    pub safe fn prs_forward_recurrences(s: &RawSession, f: Function) -> bool;
    pub safe fn prs_split_effects(s: &RawSession, f: Function);
    pub safe fn prs_simplify_regions(s: &RawSession, f: Function);
    pub safe fn prs_limit_work(s: &RawSession, operations: u64);
    pub safe fn prs_work(s: &RawSession) -> u64;
    /// False where too much was done.
    pub safe fn prs_begin_step(s: &RawSession, f: Function) -> bool;
    /// False and the verifier's text where the function is broken.
    pub safe fn prs_verify_function(f: Function, into: &mut Vec<u8>, sink: ByteSink) -> bool;
    pub safe fn prs_verify_module(m: Module, into: &mut Vec<u8>, sink: ByteSink) -> bool;
    pub safe fn prs_invalidate(s: &RawSession, f: Function);
    pub safe fn prs_can_extend(f: Function) -> bool;
    pub safe fn prs_extend(s: &RawSession, f: Function, first: Option<Value>, second: Option<Value>)
    -> Value;
    pub safe fn prs_redirect(call: Call, g: Function, first: Value, second: Value);
    pub safe fn prs_weaken_attributes(f: Function);
    pub fn prs_record_kept(
        s: &RawSession,
        f: Function,
        name: *const c_char,
        apart: *const c_char,
        kept: *const c_char,
        steps: *const c_char,
        uneven: *const c_char,
        tiles: *const c_char,
    );

    pub safe fn prs_has_loops(s: &RawSession, f: Function) -> bool;
    /// Outer loops before inner ones; blocks of no inner loop.
    pub safe fn prs_loops(s: &RawSession, f: Function, into: &mut Vec<LoopParts>, sink: LoopSink);
    pub safe fn prs_follows_links(s: &RawSession, header: Block) -> bool;
    /// 0: not known.
    pub safe fn prs_most_iterations(s: &RawSession, header: Block) -> u32;
    pub safe fn prs_stays_a_call(s: &RawSession, call: Call) -> bool;
    pub safe fn prs_wants_remarks(f: Function) -> bool;
    pub safe fn prs_analyses_new(s: &RawSession, f: Function) -> Option<NonNull<RawAnalyses>>;
    pub fn prs_analyses_free(a: NonNull<RawAnalyses>);
    pub safe fn prs_loop_count(a: &RawAnalyses) -> usize;
    pub fn prs_loop(a: &RawAnalyses, id: usize, out: &mut LoopRecord);
    pub fn prs_loop_blocks(a: &RawAnalyses, id: usize, into: &mut Vec<Block>, sink: Sink<Block>);
    pub fn prs_loop_exiting(a: &RawAnalyses, id: usize, into: &mut Vec<Block>, sink: Sink<Block>);
    pub safe fn prs_innermost_loop(a: &RawAnalyses, bb: Block) -> usize;
    pub safe fn prs_region_count(a: &RawAnalyses) -> usize;
    pub fn prs_region(a: &RawAnalyses, id: usize, out: &mut RegionRecord);
    pub fn prs_region_blocks(a: &RawAnalyses, id: usize, into: &mut Vec<Block>, sink: Sink<Block>);
    pub safe fn prs_reverse_postorder(a: &RawAnalyses, into: &mut Vec<Block>, sink: Sink<Block>);
    pub safe fn prs_dominates(a: &RawAnalyses, x: Block, y: Block) -> bool;
    pub safe fn prs_post_dominates(a: &RawAnalyses, x: Block, y: Block) -> bool;
    /// 0 stands for "could not compute".
    pub safe fn prs_scev(a: &RawAnalyses, v: Value, scope: usize) -> ScevHandle;
    pub safe fn prs_backedge_taken_count(a: &RawAnalyses, id: usize) -> ScevHandle;
    pub safe fn prs_backedge_taken_bound(a: &RawAnalyses, id: usize) -> ScevHandle;
    pub fn prs_scev_node(a: &RawAnalyses, scev: ScevHandle, out: &mut ScevRecord);
    pub fn prs_scev_operands(
        a: &RawAnalyses,
        scev: ScevHandle,
        into: &mut Vec<ScevHandle>,
        sink: Sink<ScevHandle>,
    );
    pub safe fn prs_scev_non_negative(a: &RawAnalyses, scev: ScevHandle) -> bool;
    pub fn prs_scev_sum(
        a: &RawAnalyses,
        handles: *const ScevHandle,
        factors: *const i64,
        count: usize,
    ) -> ScevHandle;
    pub safe fn prs_scev_difference(a: &RawAnalyses, left: ScevHandle, right: ScevHandle) -> ScevHandle;
    pub safe fn prs_scev_not_null(a: &RawAnalyses, pointer: ScevHandle) -> ScevHandle;
    pub safe fn prs_scev_steps(
        a: &RawAnalyses,
        end: ScevHandle,
        first: ScevHandle,
        step: ScevHandle,
    ) -> ScevHandle;
    pub safe fn prs_scev_quotient(a: &RawAnalyses, dividend: ScevHandle, divisor: ScevHandle) -> ScevHandle;
    pub safe fn prs_scev_remainder(a: &RawAnalyses, dividend: ScevHandle, divisor: ScevHandle) -> ScevHandle;
    pub safe fn prs_scev_safe_division(a: &RawAnalyses, scev: ScevHandle) -> ScevHandle;
    pub safe fn prs_scev_range(a: &RawAnalyses, scev: ScevHandle, least: &mut i64, most: &mut i64);
    pub safe fn prs_scev_iteration(a: &RawAnalyses, id: usize) -> ScevHandle;
    pub safe fn prs_scev_zero_extended(a: &RawAnalyses, scev: ScevHandle, bits: u32) -> ScevHandle;
    pub safe fn prs_scev_udiv(a: &RawAnalyses, scev: ScevHandle, divisor: u64) -> ScevHandle;
    pub safe fn prs_promised_apart(a: &RawAnalyses, loop_id: usize, access: Value) -> bool;
    pub safe fn prs_scev_loop_invariant(a: &RawAnalyses, scev: ScevHandle, id: usize) -> bool;
    pub safe fn prs_may_alias(
        a: &RawAnalyses,
        p: Value,
        p_access: Option<Value>,
        q: Value,
        q_access: Option<Value>,
    ) -> bool;
    pub safe fn prs_memory_effect(a: &RawAnalyses, inst: Instruction, object: Value) -> u32;
    pub safe fn prs_mod_ref(a: &RawAnalyses, inst: Instruction, object: Value) -> u32;
    pub safe fn prs_call_facts(call: Call) -> u32;
    pub safe fn prs_argument_effect(call: Call, index: u32) -> u32;
    /// NULL where the call is not a direct one of the right type.
    pub safe fn prs_callee(call: Call) -> Option<Value>;
    pub safe fn prs_may_be_captured(v: Value) -> bool;
    pub safe fn prs_note_not_captured(call: Call, index: u32);
    pub safe fn prs_is_final(f: Function) -> bool;
    pub safe fn prs_does_not_throw(f: Function) -> bool;
    pub safe fn prs_is_new_memory(v: Value) -> bool;
    pub safe fn prs_never_negative_zero(v: Value) -> bool;
    pub safe fn prs_underlying_objects(p: Value, into: &mut Vec<Value>, sink: Sink<Value>);
    pub safe fn prs_leaves_plainly(f: Function) -> bool;
    pub safe fn prs_can_speculate(a: &RawAnalyses, inst: Instruction, before: Instruction) -> bool;
    pub safe fn prs_can_expand(a: &RawAnalyses, scev: ScevHandle, before: Instruction) -> bool;
    pub fn prs_expand(
        a: &RawAnalyses,
        scev: ScevHandle,
        before: Instruction,
        blocks: *const Block,
        regions: *const u32,
        count: usize,
    ) -> Option<Value>;
    pub fn prs_split_entry(
        a: &RawAnalyses,
        entry: Block,
        blocks: *const Block,
        count: usize,
    ) -> Option<Block>;

    pub safe fn prs_location(
        v: Value,
        line: &mut u32,
        column: &mut u32,
        into: &mut Vec<u8>,
        sink: ByteSink,
    ) -> bool;
    pub safe fn prs_block_location(
        bb: Block,
        line: &mut u32,
        column: &mut u32,
        into: &mut Vec<u8>,
        sink: ByteSink,
    ) -> bool;
    pub safe fn prs_function_location(
        f: Function,
        line: &mut u32,
        column: &mut u32,
        into: &mut Vec<u8>,
        sink: ByteSink,
    ) -> bool;
    pub fn prs_loop_location(
        a: &RawAnalyses,
        id: usize,
        line: &mut u32,
        column: &mut u32,
        into: &mut Vec<u8>,
        sink: ByteSink,
    ) -> bool;
    pub safe fn prs_source_name(v: Value, into: &mut Vec<u8>, sink: ByteSink) -> bool;
    pub fn prs_remark(
        f: Function,
        kind: u32,
        name: *const u8,
        name_len: usize,
        at: Option<Place>,
        message: *const u8,
        message_len: usize,
    );

    pub safe fn prs_ends_whole_row(block: Block) -> bool;
    pub safe fn prs_remark_place(
        f: Function,
        at: Option<Place>,
        line: &mut u32,
        column: &mut u32,
        into: &mut Vec<u8>,
        sink: ByteSink,
    ) -> bool;
    pub safe fn prs_remark_library(
        f: Function,
        at: Option<Place>,
        into: &mut Vec<u8>,
        sink: ByteSink,
    ) -> bool;
    pub fn prs_error(context: Context, message: *const u8, len: usize);
    pub safe fn prs_forbid_contraction(instruction: Value);
    pub fn prs_warning(context: Context, message: *const u8, len: usize);

    /// False and a reason where the region does not qualify; then nothing was changed.
    pub fn prs_version_region(
        f: Function,
        check: Block,
        entry: Block,
        exit: Block,
        blocks: *const Block,
        count: usize,
        out: &mut VersionRecord,
        live_outs: &mut Vec<Value>,
        live_out_sink: Sink<Value>,
        into: &mut Vec<u8>,
        sink: ByteSink,
    ) -> bool;

    pub fn prs_register_passes(
        pass_builder: *mut c_void,
        passes: *const PassRecord,
        count: usize,
        callback: PassCallback,
    );
    /// `name=value` of every option given on the host's command line.
    pub safe fn prs_host_options(into: &mut Vec<Vec<u8>>, sink: StringSink);

    pub fn prs_origin(blocks: *const Block, count: usize) -> Option<Value>;
    pub safe fn prs_forget_origins(f: Function);

    pub safe fn prs_module_bitcode(module: Module, ordered: bool, into: &mut Vec<u8>, sink: ByteSink);
    pub fn prs_replace_module(module: Module, bytes: *const u8, len: usize) -> bool;
    pub safe fn prs_set_options(into: &mut Vec<Vec<u8>>, sink: StringSink);
}

/// Appends bytes.
///
/// # Safety
/// As many bytes at `bytes`.
pub unsafe extern "C" fn push_bytes(into: &mut Vec<u8>, bytes: *const u8, len: usize) {
    if len != 0 {
        // SAFETY: the caller's promise.
        into.extend_from_slice(unsafe { std::slice::from_raw_parts(bytes, len) });
    }
}

/// Appends a string.
///
/// # Safety
/// As many bytes at `bytes`.
pub unsafe extern "C" fn push_string(into: &mut Vec<Vec<u8>>, bytes: *const u8, len: usize) {
    let mut item = Vec::new();
    // SAFETY: the caller's promise.
    unsafe { push_bytes(&mut item, bytes, len) };
    into.push(item);
}

/// Appends a handle.
pub extern "C" fn push<T>(into: &mut Vec<T>, handle: T) {
    into.push(handle);
}

/// Appends a loop.
///
/// # Safety
/// As many blocks at `blocks`.
pub unsafe extern "C" fn push_loop(
    into: &mut Vec<LoopParts>,
    parent: usize,
    header: Block,
    blocks: *const Block,
    count: usize,
) {
    // SAFETY: the caller's promise; a loop has blocks, but perhaps none of its own.
    let blocks = if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(blocks, count) } };
    into.push(LoopParts { parent, header, blocks: blocks.to_vec() });
}

/// Runs `f` with a list for [`push_bytes`], and returns its result with the text.
pub fn collect_bytes<R>(f: impl FnOnce(&mut Vec<u8>) -> R) -> (R, String) {
    let mut bytes = Vec::new();
    let result = f(&mut bytes);
    (result, String::from_utf8_lossy(&bytes).into_owned())
}

/// Runs `f` with a list for [`push_string`].
pub fn collect_strings(f: impl FnOnce(&mut Vec<Vec<u8>>)) -> Vec<String> {
    collect(f).iter().map(|b| String::from_utf8_lossy(b).into_owned()).collect()
}

/// Runs `f` with a list, for [`push`] say.
pub fn collect<T>(f: impl FnOnce(&mut Vec<T>)) -> Vec<T> {
    let mut items = Vec::new();
    f(&mut items);
    items
}

//! The C functions of `cpp/`; layouts and constants mirror `cpp/shim.h` line by line.

use crate::{LLVMBasicBlockRef, LLVMContextRef, LLVMMetadataRef, LLVMModuleRef, LLVMValueRef};
use std::ffi::{c_char, c_void};

/// Opaque C++ session.
#[repr(C)]
pub struct RawSession {
    _private: [u8; 0],
}

/// Opaque C++ analyses of one function.
#[repr(C)]
pub struct RawAnalyses {
    _private: [u8; 0],
}

/// Receives a byte string; the bytes are valid during the call only.
pub type ByteSink = extern "C" fn(ctx: *mut c_void, bytes: *const u8, len: usize);
/// Changes a function, and says whether it did.
pub type Rewriting = unsafe extern "C" fn(s: *mut RawSession, f: LLVMValueRef) -> bool;
/// Receives one pointer of a list, in order.
pub type PointerSink = extern "C" fn(ctx: *mut c_void, pointer: *mut c_void);
/// Receives a loop: its parent's number, its header and its blocks, valid during the call only.
pub type LoopSink = extern "C" fn(
    ctx: *mut c_void,
    parent: usize,
    header: LLVMBasicBlockRef,
    blocks: *const LLVMBasicBlockRef,
    count: usize,
);

/// "No parent", "no loop".
pub const NONE: usize = usize::MAX;

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
    pub header: LLVMBasicBlockRef,
    pub preheader: LLVMBasicBlockRef,
    pub latch: LLVMBasicBlockRef,
    pub exit: LLVMBasicBlockRef,
}

#[repr(C)]
pub struct RegionRecord {
    pub parent: usize,
    pub entry: LLVMBasicBlockRef,
    pub exit: LLVMBasicBlockRef,
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

#[repr(C)]
pub struct ScevRecord {
    pub kind: u32,
    pub bits: u32,
    pub flags: u32,
    pub reserved: u32,
    /// Loop of an add recurrence.
    pub loop_id: usize,
    /// Value of an unknown.
    pub value: LLVMValueRef,
    /// Sign-extended constant.
    pub low: u64,
    pub high: i64,
}

#[repr(C)]
pub struct VersionRecord {
    pub offload: LLVMBasicBlockRef,
    pub host_begin: LLVMBasicBlockRef,
    pub host_end: LLVMBasicBlockRef,
    pub merge: LLVMBasicBlockRef,
}

/// Runs a registered pass; returns whether the module changed.
pub type PassCallback =
    extern "C" fn(module: LLVMModuleRef, stage: u32, parameters: *const u8, len: usize) -> bool;

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
    assert!(size_of::<LoopRecord>() == 80 && offset_of!(LoopRecord, moves) == 32);
    assert!(offset_of!(LoopRecord, exit) == 72);
    assert!(size_of::<RegionRecord>() == 24 && offset_of!(RegionRecord, exit) == 16);
    assert!(size_of::<ScevRecord>() == 48 && offset_of!(ScevRecord, loop_id) == 16);
    assert!(offset_of!(ScevRecord, high) == 40);
    assert!(size_of::<VersionRecord>() == 32 && offset_of!(VersionRecord, merge) == 24);
    assert!(size_of::<PassRecord>() == 24 && offset_of!(PassRecord, unoptimized) == 16);
};

unsafe extern "C" {
    pub fn prs_session_new(module: LLVMModuleRef) -> *mut RawSession;
    pub fn prs_session_free(s: *mut RawSession);
    /// NULL and a reason through `sink` where the function cannot be cloned.
    pub fn prs_clone_function(
        s: *mut RawSession,
        f: LLVMValueRef,
        ctx: *mut c_void,
        sink: ByteSink,
    ) -> LLVMValueRef;
    /// False if `clone` is not a clone of `f` made by this session.
    pub fn prs_adopt_body(s: *mut RawSession, f: LLVMValueRef, clone: LLVMValueRef) -> bool;
    pub fn prs_erase_function(s: *mut RawSession, clone: LLVMValueRef);
    /// False, with nothing done, where a name is defined in both.
    pub fn prs_move_definitions(from: LLVMModuleRef, to: LLVMModuleRef) -> bool;
    /// False where the bytes are no bitcode or do not fit the module.
    pub fn prs_link_needed(to: LLVMModuleRef, bytes: *const u8, length: usize) -> bool;
    /// False and a message where the pipeline does not parse.
    pub fn prs_optimize(
        m: LLVMModuleRef,
        machine: *mut c_void,
        text: *const u8,
        len: usize,
        ctx: *mut c_void,
        sink: ByteSink,
    ) -> bool;
    /// False and a message where the pipeline does not parse.
    pub fn prs_run_passes(
        s: *mut RawSession,
        f: LLVMValueRef,
        text: *const u8,
        len: usize,
        ctx: *mut c_void,
        sink: ByteSink,
    ) -> bool;
    pub fn prs_inline_calls_in_loops(
        s: *mut RawSession,
        f: LLVMValueRef,
        max_instructions: u32,
        max_rounds: u32,
        max_total: u32,
    ) -> u32;
    pub fn prs_lower_switches(s: *mut RawSession, f: LLVMValueRef, max_cases: u32) -> bool;
    pub fn prs_expand_memory_intrinsics(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_separate_results(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_rewrite_exit_values(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_hoist_conditions(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_settle_arrays(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_hoist_arrays(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_add_differences(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_index_choices(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_drop_initializations(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_drop_stack_saves(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_count_chunks(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_hoist_arithmetic(s: *mut RawSession, f: LLVMValueRef, only_shared: bool) -> bool;
    pub fn prs_hoist_loads(s: *mut RawSession, f: LLVMValueRef, max_loads: u32, how: u32) -> bool;
    pub fn prs_expand_complex_calls(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_land_vectors(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_divide_accesses(s: *mut RawSession, f: LLVMValueRef, limit: u32) -> bool;
    pub fn prs_join_back_edges(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_lift_updates(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_divide_counts(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_flatten_conditions(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_assume_no_errors(s: *mut RawSession, f: LLVMValueRef) -> bool;
    /// False if a check was lost.
    pub fn prs_restore_errors(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_advance_counters(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_specialise_back_edges(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_divide_counters(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_join_ends(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_join_tiles(s: *mut RawSession, f: LLVMValueRef) -> bool;
    /// False if a mark was lost.
    pub fn prs_restore_tiles(s: *mut RawSession, f: LLVMValueRef, erase: bool) -> bool;
    pub fn prs_divide_steps(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_separate_pointers(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_divide_assignments(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_split_structures(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_divide_sizes(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_promote_pointers(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_promote_updates(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_compute_sides(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_rejoin_loads(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_drop_unread_locals(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_rotate_pointers(s: *mut RawSession, f: LLVMValueRef, max_instructions: u32) -> bool;
    pub fn prs_divide_rows(s: *mut RawSession, f: LLVMValueRef, limit: u32, checked: bool) -> bool;
    pub fn prs_mark_rows(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_restore_rows(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_split_sines(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_split_words(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_unswitch_loops(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_describe_math_calls(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_assume_no_errno(s: *mut RawSession, f: LLVMValueRef) -> bool;
    /// False if a call was lost.
    pub fn prs_assume_invariant_loads(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_suspend_invariant_loads(s: *mut RawSession, f: LLVMValueRef, suspended: bool);
    pub fn prs_restore_invariant_loads(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_restore_errno(s: *mut RawSession, f: LLVMValueRef) -> bool;
    /// 0 where the expression is not of the kind.
    pub fn prs_scev_product(a: *mut RawAnalyses, factors: *const usize, count: usize) -> usize;
    /// False if a store that stands for a conditional one no longer has the shape it was given.
    pub fn prs_restore_conditions(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_unroll_tables(
        s: *mut RawSession,
        f: LLVMValueRef,
        loops: u32,
        iterations: u32,
        instructions: u32,
    ) -> bool;
    pub fn prs_divide_intervals(s: *mut RawSession, f: LLVMValueRef, loops: u32, instructions: u32) -> bool;
    pub fn prs_equalise_sizes(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_keep_latest(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_number_last(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_restore_last(s: *mut RawSession, f: LLVMValueRef);
    pub fn prs_forward_recurrences(s: *mut RawSession, f: LLVMValueRef) -> bool;
    pub fn prs_split_effects(s: *mut RawSession, f: LLVMValueRef);
    pub fn prs_simplify_regions(s: *mut RawSession, f: LLVMValueRef);
    pub fn prs_limit_work(s: *mut RawSession, operations: u64);
    pub fn prs_work(s: *mut RawSession) -> u64;
    /// False where too much was done.
    pub fn prs_begin_step(s: *mut RawSession, f: LLVMValueRef) -> bool;
    /// False and the verifier's text where the function is broken.
    pub fn prs_verify_function(f: LLVMValueRef, ctx: *mut c_void, sink: ByteSink) -> bool;
    pub fn prs_verify_module(m: LLVMModuleRef, ctx: *mut c_void, sink: ByteSink) -> bool;
    pub fn prs_invalidate(s: *mut RawSession, f: LLVMValueRef);
    pub fn prs_can_extend(f: LLVMValueRef) -> bool;
    pub fn prs_extend(
        s: *mut RawSession,
        f: LLVMValueRef,
        first: LLVMValueRef,
        second: LLVMValueRef,
    ) -> LLVMValueRef;
    pub fn prs_redirect(call: LLVMValueRef, g: LLVMValueRef, first: LLVMValueRef, second: LLVMValueRef);
    pub fn prs_weaken_attributes(f: LLVMValueRef);
    pub fn prs_record_kept(
        s: *mut RawSession,
        f: LLVMValueRef,
        name: *const c_char,
        apart: *const c_char,
        kept: *const c_char,
        steps: *const c_char,
        uneven: *const c_char,
        tiles: *const c_char,
    );

    pub fn prs_has_loops(s: *mut RawSession, f: LLVMValueRef) -> bool;
    /// Outer loops before inner ones; blocks of no inner loop.
    pub fn prs_loops(s: *mut RawSession, f: LLVMValueRef, ctx: *mut c_void, sink: LoopSink);
    pub fn prs_follows_links(s: *mut RawSession, header: LLVMBasicBlockRef) -> bool;
    /// 0: not known.
    pub fn prs_most_iterations(s: *mut RawSession, header: LLVMBasicBlockRef) -> u32;
    pub fn prs_stays_a_call(s: *mut RawSession, call: LLVMValueRef) -> bool;
    pub fn prs_wants_remarks(f: LLVMValueRef) -> bool;
    pub fn prs_analyses_new(s: *mut RawSession, f: LLVMValueRef) -> *mut RawAnalyses;
    pub fn prs_analyses_free(a: *mut RawAnalyses);
    pub fn prs_loop_count(a: *mut RawAnalyses) -> usize;
    pub fn prs_loop(a: *mut RawAnalyses, id: usize, out: *mut LoopRecord);
    pub fn prs_loop_blocks(a: *mut RawAnalyses, id: usize, ctx: *mut c_void, sink: PointerSink);
    pub fn prs_loop_exiting(a: *mut RawAnalyses, id: usize, ctx: *mut c_void, sink: PointerSink);
    pub fn prs_innermost_loop(a: *mut RawAnalyses, bb: LLVMBasicBlockRef) -> usize;
    pub fn prs_region_count(a: *mut RawAnalyses) -> usize;
    pub fn prs_region(a: *mut RawAnalyses, id: usize, out: *mut RegionRecord);
    pub fn prs_region_blocks(a: *mut RawAnalyses, id: usize, ctx: *mut c_void, sink: PointerSink);
    pub fn prs_reverse_postorder(a: *mut RawAnalyses, ctx: *mut c_void, sink: PointerSink);
    pub fn prs_dominates(a: *mut RawAnalyses, x: LLVMBasicBlockRef, y: LLVMBasicBlockRef) -> bool;
    pub fn prs_post_dominates(a: *mut RawAnalyses, x: LLVMBasicBlockRef, y: LLVMBasicBlockRef) -> bool;
    /// 0 stands for "could not compute".
    pub fn prs_scev(a: *mut RawAnalyses, v: LLVMValueRef, scope: usize) -> usize;
    pub fn prs_backedge_taken_count(a: *mut RawAnalyses, id: usize) -> usize;
    pub fn prs_backedge_taken_bound(a: *mut RawAnalyses, id: usize) -> usize;
    pub fn prs_scev_node(a: *mut RawAnalyses, scev: usize, out: *mut ScevRecord);
    pub fn prs_scev_operands(a: *mut RawAnalyses, scev: usize, ctx: *mut c_void, sink: PointerSink);
    pub fn prs_scev_non_negative(a: *mut RawAnalyses, scev: usize) -> bool;
    pub fn prs_scev_sum(
        a: *mut RawAnalyses,
        handles: *const usize,
        factors: *const i64,
        count: usize,
    ) -> usize;
    pub fn prs_scev_difference(a: *mut RawAnalyses, left: usize, right: usize) -> usize;
    pub fn prs_scev_not_null(a: *mut RawAnalyses, pointer: usize) -> usize;
    pub fn prs_scev_steps(a: *mut RawAnalyses, end: usize, first: usize, step: usize) -> usize;
    pub fn prs_scev_quotient(a: *mut RawAnalyses, dividend: usize, divisor: usize) -> usize;
    pub fn prs_scev_remainder(a: *mut RawAnalyses, dividend: usize, divisor: usize) -> usize;
    pub fn prs_scev_safe_division(a: *mut RawAnalyses, scev: usize) -> usize;
    pub fn prs_scev_range(a: *mut RawAnalyses, scev: usize, least: *mut i64, most: *mut i64);
    pub fn prs_scev_iteration(a: *mut RawAnalyses, id: usize) -> usize;
    pub fn prs_scev_udiv(a: *mut RawAnalyses, scev: usize, divisor: u64) -> usize;
    pub fn prs_promised_apart(a: *mut RawAnalyses, loop_id: usize, access: LLVMValueRef) -> bool;
    pub fn prs_scev_loop_invariant(a: *mut RawAnalyses, scev: usize, id: usize) -> bool;
    pub fn prs_may_alias(
        a: *mut RawAnalyses,
        p: LLVMValueRef,
        p_access: LLVMValueRef,
        q: LLVMValueRef,
        q_access: LLVMValueRef,
    ) -> bool;
    pub fn prs_memory_effect(a: *mut RawAnalyses, inst: LLVMValueRef, object: LLVMValueRef) -> u32;
    pub fn prs_mod_ref(a: *mut RawAnalyses, inst: LLVMValueRef, object: LLVMValueRef) -> u32;
    pub fn prs_call_facts(call: LLVMValueRef) -> u32;
    pub fn prs_argument_effect(call: LLVMValueRef, index: u32) -> u32;
    /// NULL where the call is not a direct one of the right type.
    pub fn prs_callee(call: LLVMValueRef) -> LLVMValueRef;
    pub fn prs_may_be_captured(v: LLVMValueRef) -> bool;
    pub fn prs_note_not_captured(call: LLVMValueRef, index: u32);
    pub fn prs_is_final(f: LLVMValueRef) -> bool;
    pub fn prs_does_not_throw(f: LLVMValueRef) -> bool;
    pub fn prs_is_new_memory(v: LLVMValueRef) -> bool;
    pub fn prs_never_negative_zero(v: LLVMValueRef) -> bool;
    pub fn prs_underlying_objects(p: LLVMValueRef, ctx: *mut c_void, sink: PointerSink);
    pub fn prs_leaves_plainly(f: LLVMValueRef) -> bool;
    pub fn prs_can_speculate(a: *mut RawAnalyses, inst: LLVMValueRef, before: LLVMValueRef) -> bool;
    pub fn prs_can_expand(a: *mut RawAnalyses, scev: usize, before: LLVMValueRef) -> bool;
    pub fn prs_expand(
        a: *mut RawAnalyses,
        scev: usize,
        before: LLVMValueRef,
        blocks: *const LLVMBasicBlockRef,
        regions: *const u32,
        count: usize,
    ) -> LLVMValueRef;
    pub fn prs_split_entry(
        a: *mut RawAnalyses,
        entry: LLVMBasicBlockRef,
        blocks: *const LLVMBasicBlockRef,
        count: usize,
    ) -> LLVMBasicBlockRef;

    pub fn prs_location(
        v: LLVMValueRef,
        line: *mut u32,
        column: *mut u32,
        ctx: *mut c_void,
        sink: ByteSink,
    ) -> bool;
    pub fn prs_block_location(
        bb: LLVMBasicBlockRef,
        line: *mut u32,
        column: *mut u32,
        ctx: *mut c_void,
        sink: ByteSink,
    ) -> bool;
    pub fn prs_function_location(
        f: LLVMValueRef,
        line: *mut u32,
        column: *mut u32,
        ctx: *mut c_void,
        sink: ByteSink,
    ) -> bool;
    pub fn prs_loop_location(
        a: *mut RawAnalyses,
        id: usize,
        line: *mut u32,
        column: *mut u32,
        ctx: *mut c_void,
        sink: ByteSink,
    ) -> bool;
    pub fn prs_source_name(v: LLVMValueRef, ctx: *mut c_void, sink: ByteSink) -> bool;
    pub fn prs_remark(
        f: LLVMValueRef,
        kind: u32,
        name: *const u8,
        name_len: usize,
        at: LLVMMetadataRef,
        message: *const u8,
        message_len: usize,
    );

    pub fn prs_ends_whole_row(block: LLVMBasicBlockRef) -> bool;
    pub fn prs_remark_place(
        f: LLVMValueRef,
        at: LLVMMetadataRef,
        line: *mut u32,
        column: *mut u32,
        ctx: *mut c_void,
        sink: ByteSink,
    ) -> bool;
    pub fn prs_error(context: LLVMContextRef, message: *const u8, len: usize);
    pub fn prs_forbid_contraction(instruction: LLVMValueRef);
    pub fn prs_warning(context: LLVMContextRef, message: *const u8, len: usize);

    /// False and a reason where the region does not qualify; then nothing was changed.
    pub fn prs_version_region(
        f: LLVMValueRef,
        check: LLVMBasicBlockRef,
        entry: LLVMBasicBlockRef,
        exit: LLVMBasicBlockRef,
        blocks: *const LLVMBasicBlockRef,
        count: usize,
        out: *mut VersionRecord,
        live_out_ctx: *mut c_void,
        live_outs: PointerSink,
        ctx: *mut c_void,
        sink: ByteSink,
    ) -> bool;

    pub fn prs_register_passes(
        pass_builder: *mut c_void,
        passes: *const PassRecord,
        count: usize,
        callback: PassCallback,
    );
    /// `name=value` of every option given on the host's command line.
    pub fn prs_host_options(ctx: *mut c_void, sink: ByteSink);

    pub fn prs_origin(blocks: *const LLVMBasicBlockRef, count: usize) -> LLVMValueRef;
    pub fn prs_forget_origins(f: LLVMValueRef);

    pub fn prs_module_bitcode(module: LLVMModuleRef, ordered: bool, ctx: *mut c_void, sink: ByteSink);
    pub fn prs_replace_module(module: LLVMModuleRef, bytes: *const u8, len: usize) -> bool;
    pub fn prs_set_options(ctx: *mut c_void, sink: ByteSink);
}

/// Appends to the `Vec<u8>` behind `ctx`.
pub extern "C" fn push_bytes(ctx: *mut c_void, bytes: *const u8, len: usize) {
    if len == 0 {
        return;
    }
    // SAFETY: `ctx` is the `Vec<u8>` of `collect_bytes`, alive and unaliased during the call; C++ passes a
    // valid slice.
    unsafe { (*ctx.cast::<Vec<u8>>()).extend_from_slice(std::slice::from_raw_parts(bytes, len)) }
}

/// Appends to the `Vec<Vec<u8>>` behind `ctx`.
pub extern "C" fn push_string(ctx: *mut c_void, bytes: *const u8, len: usize) {
    let mut item = Vec::new();
    push_bytes((&raw mut item).cast(), bytes, len);
    // SAFETY: `ctx` is the list of `collect_strings`, alive and unaliased during the call.
    unsafe { (*ctx.cast::<Vec<Vec<u8>>>()).push(item) }
}

/// Appends to the `Vec<*mut c_void>` behind `ctx`.
pub extern "C" fn push_pointer(ctx: *mut c_void, pointer: *mut c_void) {
    // SAFETY: `ctx` is the list of `collect_pointers`, alive and unaliased during the call.
    unsafe { (*ctx.cast::<Vec<*mut c_void>>()).push(pointer) }
}

/// Runs `f` with a context for [`push_bytes`] and returns its result with the text collected.
pub fn collect_bytes<R>(f: impl FnOnce(*mut c_void) -> R) -> (R, String) {
    let mut bytes: Vec<u8> = Vec::new();
    let result = f((&raw mut bytes).cast());
    (result, String::from_utf8_lossy(&bytes).into_owned())
}

/// Runs `f` with a context for [`push_string`].
pub fn collect_strings(f: impl FnOnce(*mut c_void)) -> Vec<String> {
    let mut items: Vec<Vec<u8>> = Vec::new();
    f((&raw mut items).cast());
    items.iter().map(|b| String::from_utf8_lossy(b).into_owned()).collect()
}

/// Runs `f` with a context for [`push_pointer`] and returns the pointers, cast to the handle type wanted.
pub fn collect_pointers<T>(f: impl FnOnce(*mut c_void)) -> Vec<*mut T> {
    let mut items: Vec<*mut c_void> = Vec::new();
    f((&raw mut items).cast());
    items.into_iter().map(<*mut c_void>::cast).collect()
}

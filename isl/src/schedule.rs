//! Schedule trees, the scheduler and dataflow analysis.

use crate::context::Result;
use crate::ffi::{Arg, Ret};
use crate::functions::MultiUnionPwAff;
use crate::list::UnionSetList;
use crate::relations::{Set, UnionMap, UnionSet};
use crate::spaces::{Id, MultiVal, Space, Val};
use std::ffi::c_int;

isl_types! {
    Schedule = isl_schedule_copy, isl_schedule_free;
    ScheduleNode = isl_schedule_node_copy, isl_schedule_node_free;
    ScheduleConstraints = isl_schedule_constraints_copy, isl_schedule_constraints_free;
    UnionAccessInfo = isl_union_access_info_copy, isl_union_access_info_free;
    UnionFlow = isl_union_flow_copy, isl_union_flow_free;
}

isl_text! {
    Schedule = isl_schedule_read_from_str, isl_schedule_to_str;
    ScheduleConstraints = isl_schedule_constraints_read_from_str, isl_schedule_constraints_to_str;
}
isl_display! {
    ScheduleNode = isl_schedule_node_to_str;
    UnionAccessInfo = isl_union_access_info_to_str;
    UnionFlow = isl_union_flow_to_str;
}

isl_conversions! {
    Schedule::from_domain(UnionSet) = isl_schedule_from_domain;
    Schedule::empty(Space) = isl_schedule_empty;
    ScheduleConstraints::on_domain(UnionSet) = isl_schedule_constraints_on_domain;
    UnionAccessInfo::from_sink(UnionMap) = isl_union_access_info_from_sink;
    ScheduleNode::from_domain(UnionSet) = isl_schedule_node_from_domain;
}

/// The kind of a schedule tree node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeType {
    Band,
    Context,
    Domain,
    Expansion,
    Extension,
    Filter,
    Leaf,
    Guard,
    Mark,
    Sequence,
    Set,
}

impl Ret for NodeType {
    type Raw = c_int;
    fn from_raw(raw: c_int, ctx: &crate::Context) -> Result<Self> {
        use NodeType::*;
        const KINDS: [NodeType; 11] =
            [Band, Context, Domain, Expansion, Extension, Filter, Leaf, Guard, Mark, Sequence, Set];
        usize::try_from(raw).ok().and_then(|i| KINDS.get(i).copied()).ok_or_else(|| ctx.take_error())
    }
}

/// How a band member's loop is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum AstLoopType {
    Default = 0,
    Atomic = 1,
    Unroll = 2,
    Separate = 3,
}

impl Arg for AstLoopType {
    type Raw = c_int;
    fn into_raw(self) -> c_int {
        self as c_int
    }
}

isl_methods! { Schedule
    keep {
        fn root() -> ScheduleNode = isl_schedule_get_root;
        fn domain() -> UnionSet = isl_schedule_get_domain;
        fn map() -> UnionMap = isl_schedule_get_map;
        fn plain_is_equal(o: &Schedule) -> bool = isl_schedule_plain_is_equal;
    }
    take {
        fn sequence(o: Schedule) -> Schedule = isl_schedule_sequence;
        fn set(o: Schedule) -> Schedule = isl_schedule_set;
        fn insert_partial_schedule(p: MultiUnionPwAff) -> Schedule = isl_schedule_insert_partial_schedule;
        fn insert_context(c: Set) -> Schedule = isl_schedule_insert_context;
        fn insert_guard(c: Set) -> Schedule = isl_schedule_insert_guard;
        fn intersect_domain(d: UnionSet) -> Schedule = isl_schedule_intersect_domain;
        fn gist_domain_params(c: Set) -> Schedule = isl_schedule_gist_domain_params;
        fn align_params(s: Space) -> Schedule = isl_schedule_align_params;
    }
}

isl_methods! { ScheduleNode
    keep {
        fn node_type() -> NodeType = isl_schedule_node_get_type;
        fn n_children() -> u32 = isl_schedule_node_n_children;
        fn has_children() -> bool = isl_schedule_node_has_children;
        fn has_parent() -> bool = isl_schedule_node_has_parent;
        fn schedule_depth() -> u32 = isl_schedule_node_get_schedule_depth;
        fn tree_depth() -> u32 = isl_schedule_node_get_tree_depth;
        fn schedule() -> Schedule = isl_schedule_node_get_schedule;
        fn get_child(pos: i32) -> ScheduleNode = isl_schedule_node_get_child;
        fn domain() -> UnionSet = isl_schedule_node_get_domain;
        fn universe_domain() -> UnionSet = isl_schedule_node_get_universe_domain;
        fn prefix_schedule_union_map() -> UnionMap = isl_schedule_node_get_prefix_schedule_union_map;
        fn prefix_schedule_relation() -> UnionMap = isl_schedule_node_get_prefix_schedule_relation;
        fn prefix_schedule_multi_union_pw_aff() -> MultiUnionPwAff
            = isl_schedule_node_get_prefix_schedule_multi_union_pw_aff;
        fn subtree_schedule_union_map() -> UnionMap = isl_schedule_node_get_subtree_schedule_union_map;
        fn band_n_member() -> u32 = isl_schedule_node_band_n_member;
        fn band_permutable() -> bool = isl_schedule_node_band_get_permutable;
        fn band_coincident(pos: i32) -> bool = isl_schedule_node_band_member_get_coincident;
        fn band_partial_schedule() -> MultiUnionPwAff = isl_schedule_node_band_get_partial_schedule;
        fn band_space() -> Space = isl_schedule_node_band_get_space;
        fn filter_filter() -> UnionSet = isl_schedule_node_filter_get_filter;
        fn domain_domain() -> UnionSet = isl_schedule_node_domain_get_domain;
        fn context_context() -> Set = isl_schedule_node_context_get_context;
        fn mark_id() -> Id = isl_schedule_node_mark_get_id;
    }
    take {
        fn child(pos: i32) -> ScheduleNode = isl_schedule_node_child;
        fn parent() -> ScheduleNode = isl_schedule_node_parent;
        fn ancestor(n: i32) -> ScheduleNode = isl_schedule_node_ancestor;
        fn to_root() -> ScheduleNode = isl_schedule_node_root;
        fn insert_partial_schedule(p: MultiUnionPwAff) -> ScheduleNode = isl_schedule_node_insert_partial_schedule;
        fn insert_context(c: Set) -> ScheduleNode = isl_schedule_node_insert_context;
        fn insert_filter(f: UnionSet) -> ScheduleNode = isl_schedule_node_insert_filter;
        fn insert_guard(c: Set) -> ScheduleNode = isl_schedule_node_insert_guard;
        fn insert_mark(id: Id) -> ScheduleNode = isl_schedule_node_insert_mark;
        fn insert_sequence(f: UnionSetList) -> ScheduleNode = isl_schedule_node_insert_sequence;
        fn insert_set(f: UnionSetList) -> ScheduleNode = isl_schedule_node_insert_set;
        fn band_tile(sizes: MultiVal) -> ScheduleNode = isl_schedule_node_band_tile;
        fn band_split(pos: i32) -> ScheduleNode = isl_schedule_node_band_split;
        fn band_set_permutable(v: bool) -> ScheduleNode = isl_schedule_node_band_set_permutable;
        fn band_set_coincident(pos: i32, v: bool) -> ScheduleNode = isl_schedule_node_band_member_set_coincident;
        fn band_set_ast_loop_type(pos: i32, t: AstLoopType) -> ScheduleNode
            = isl_schedule_node_band_member_set_ast_loop_type;
        fn band_set_ast_build_options(o: UnionSet) -> ScheduleNode = isl_schedule_node_band_set_ast_build_options;
        fn graft_before(g: ScheduleNode) -> ScheduleNode = isl_schedule_node_graft_before;
        fn graft_after(g: ScheduleNode) -> ScheduleNode = isl_schedule_node_graft_after;
        fn cut() -> ScheduleNode = isl_schedule_node_cut;
        fn delete() -> ScheduleNode = isl_schedule_node_delete;
    }
}

isl_methods! { ScheduleConstraints
    keep {}
    take {
        fn set_validity(m: UnionMap) -> ScheduleConstraints = isl_schedule_constraints_set_validity;
        fn set_coincidence(m: UnionMap) -> ScheduleConstraints = isl_schedule_constraints_set_coincidence;
        fn set_proximity(m: UnionMap) -> ScheduleConstraints = isl_schedule_constraints_set_proximity;
        fn set_context(c: Set) -> ScheduleConstraints = isl_schedule_constraints_set_context;
        fn compute_schedule() -> Schedule = isl_schedule_constraints_compute_schedule;
    }
}

isl_methods! { UnionAccessInfo
    keep {}
    take {
        fn set_must_source(m: UnionMap) -> UnionAccessInfo = isl_union_access_info_set_must_source;
        fn set_may_source(m: UnionMap) -> UnionAccessInfo = isl_union_access_info_set_may_source;
        fn set_kill(m: UnionMap) -> UnionAccessInfo = isl_union_access_info_set_kill;
        fn set_schedule(s: Schedule) -> UnionAccessInfo = isl_union_access_info_set_schedule;
        fn set_schedule_map(s: UnionMap) -> UnionAccessInfo = isl_union_access_info_set_schedule_map;
        fn compute_flow() -> UnionFlow = isl_union_access_info_compute_flow;
    }
}

isl_methods! { UnionFlow
    keep {
        fn must_dependence() -> UnionMap = isl_union_flow_get_must_dependence;
        fn may_dependence() -> UnionMap = isl_union_flow_get_may_dependence;
        fn full_must_dependence() -> UnionMap = isl_union_flow_get_full_must_dependence;
        fn full_may_dependence() -> UnionMap = isl_union_flow_get_full_may_dependence;
        fn must_no_source() -> UnionMap = isl_union_flow_get_must_no_source;
        fn may_no_source() -> UnionMap = isl_union_flow_get_may_no_source;
    }
    take {}
}

/// Tile sizes for [`ScheduleNode::band_tile`].
pub fn multi_val(space: Space, values: &[i64]) -> Result<MultiVal> {
    unsafe extern "C" {
        fn isl_multi_val_zero(s: *mut std::ffi::c_void) -> *mut std::ffi::c_void;
    }
    let ctx = space.context().clone();
    // SAFETY: the space is handed over.
    let mut mv = MultiVal::from_raw(unsafe { isl_multi_val_zero(space.into_raw()) }, &ctx)?;
    for (i, v) in values.iter().enumerate() {
        mv = mv.set_at(i as i32, Val::int(&ctx, *v)?)?;
    }
    Ok(mv)
}

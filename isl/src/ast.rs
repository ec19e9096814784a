//! AST generation (Grosser, Verdoolaege, Cohen, "Polyhedral AST generation is more than scanning polyhedra",
//! TOPLAS 2015).

use crate::context::{Context, RawCtx, Result};
use crate::ffi::Ret;
use crate::functions::{MultiPwAff, PwAff, PwMultiAff};
use crate::list::{AstNodeList, IdList};
use crate::relations::{Set, UnionMap};
use crate::schedule::{Schedule, ScheduleNode};
use crate::spaces::{Id, Val};
use std::ffi::{c_int, c_void};

isl_types! {
    AstBuild = isl_ast_build_copy, isl_ast_build_free;
    AstNode = isl_ast_node_copy, isl_ast_node_free;
    AstExpr = isl_ast_expr_copy, isl_ast_expr_free;
}

isl_display! {
    AstNode = isl_ast_node_to_C_str;
    AstExpr = isl_ast_expr_to_C_str;
}

isl_conversions! {
    AstBuild::from_context(Set) = isl_ast_build_from_context;
}

impl AstBuild {
    /// A build without any known constraint.
    pub fn new(ctx: &Context) -> Result<AstBuild> {
        unsafe extern "C" {
            fn isl_ast_build_alloc(ctx: *mut RawCtx) -> *mut c_void;
        }
        // SAFETY: live context.
        AstBuild::from_raw(unsafe { isl_ast_build_alloc(ctx.raw()) }, ctx)
    }
}

isl_methods! { AstBuild
    keep {
        fn expr_from_set(s: Set) -> AstExpr = isl_ast_build_expr_from_set;
        fn expr_from_pw_aff(p: PwAff) -> AstExpr = isl_ast_build_expr_from_pw_aff;
        fn access_from_pw_multi_aff(p: PwMultiAff) -> AstExpr = isl_ast_build_access_from_pw_multi_aff;
        fn access_from_multi_pw_aff(p: MultiPwAff) -> AstExpr = isl_ast_build_access_from_multi_pw_aff;
        fn node_from_schedule(s: Schedule) -> AstNode = isl_ast_build_node_from_schedule;
        fn node_from_schedule_map(s: UnionMap) -> AstNode = isl_ast_build_node_from_schedule_map;
        fn schedule() -> UnionMap = isl_ast_build_get_schedule;
    }
    take {
        fn set_options(o: UnionMap) -> AstBuild = isl_ast_build_set_options;
        fn set_iterators(ids: IdList) -> AstBuild = isl_ast_build_set_iterators;
        fn restrict(s: Set) -> AstBuild = isl_ast_build_restrict;
    }
}

/// The kind of an AST node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AstNodeType {
    For,
    If,
    Block,
    Mark,
    User,
}

impl Ret for AstNodeType {
    type Raw = c_int;
    fn from_raw(raw: c_int, ctx: &Context) -> Result<Self> {
        Ok(match raw {
            1 => AstNodeType::For,
            2 => AstNodeType::If,
            3 => AstNodeType::Block,
            4 => AstNodeType::Mark,
            5 => AstNodeType::User,
            _ => return Err(ctx.take_error()),
        })
    }
}

/// The kind of an AST expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AstExprType {
    Op,
    Id,
    Int,
}

impl Ret for AstExprType {
    type Raw = c_int;
    fn from_raw(raw: c_int, ctx: &Context) -> Result<Self> {
        Ok(match raw {
            0 => AstExprType::Op,
            1 => AstExprType::Id,
            2 => AstExprType::Int,
            _ => return Err(ctx.take_error()),
        })
    }
}

/// The operator of an AST expression; isl's `isl_ast_op_*` in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AstOp {
    And,
    AndThen,
    Or,
    OrElse,
    Max,
    Min,
    Minus,
    Add,
    Sub,
    Mul,
    /// Exact division.
    Div,
    /// Division rounded towards minus infinity.
    FdivQ,
    /// Division of a non-negative dividend.
    PdivQ,
    /// Remainder of a non-negative dividend.
    PdivR,
    /// Remainder that is only compared with zero.
    ZdivR,
    Cond,
    Select,
    Eq,
    Le,
    Lt,
    Ge,
    Gt,
    Call,
    Access,
    Member,
    AddressOf,
}

impl Ret for AstOp {
    type Raw = c_int;
    fn from_raw(raw: c_int, ctx: &Context) -> Result<Self> {
        use AstOp::*;
        const OPS: [AstOp; 26] = [
            And, AndThen, Or, OrElse, Max, Min, Minus, Add, Sub, Mul, Div, FdivQ, PdivQ, PdivR, ZdivR, Cond,
            Select, Eq, Le, Lt, Ge, Gt, Call, Access, Member, AddressOf,
        ];
        usize::try_from(raw).ok().and_then(|i| OPS.get(i).copied()).ok_or_else(|| ctx.take_error())
    }
}

isl_methods! { AstNode
    keep {
        fn node_type() -> AstNodeType = isl_ast_node_get_type;
        fn for_iterator() -> AstExpr = isl_ast_node_for_get_iterator;
        fn for_init() -> AstExpr = isl_ast_node_for_get_init;
        fn for_cond() -> AstExpr = isl_ast_node_for_get_cond;
        fn for_inc() -> AstExpr = isl_ast_node_for_get_inc;
        fn for_body() -> AstNode = isl_ast_node_for_get_body;
        fn for_is_degenerate() -> bool = isl_ast_node_for_is_degenerate;
        fn if_cond() -> AstExpr = isl_ast_node_if_get_cond;
        fn if_then() -> AstNode = isl_ast_node_if_get_then_node;
        fn if_has_else() -> bool = isl_ast_node_if_has_else_node;
        fn if_else() -> AstNode = isl_ast_node_if_get_else_node;
        fn block_children() -> AstNodeList = isl_ast_node_block_get_children;
        fn user_expr() -> AstExpr = isl_ast_node_user_get_expr;
        fn mark_id() -> Id = isl_ast_node_mark_get_id;
        fn mark_node() -> AstNode = isl_ast_node_mark_get_node;
    }
    take {}
}

isl_methods! { AstExpr
    keep {
        fn expr_type() -> AstExprType = isl_ast_expr_get_type;
        fn op() -> AstOp = isl_ast_expr_op_get_type;
        fn n_arg() -> u32 = isl_ast_expr_op_get_n_arg;
        fn arg(pos: i32) -> AstExpr = isl_ast_expr_op_get_arg;
        fn id() -> Id = isl_ast_expr_id_get_id;
        fn int() -> Val = isl_ast_expr_int_get_val;
    }
    take {}
}

impl ScheduleNode {
    /// The bands beneath this node, outermost first; a convenience for printers.
    pub fn children(&self) -> Result<Vec<ScheduleNode>> {
        (0..self.n_children()? as i32).map(|i| self.get_child(i)).collect()
    }
}

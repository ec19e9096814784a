//! isl's lists, only as a means to hand over or receive several values.

use crate::ast::{AstExpr, AstNode};
use crate::context::{Context, RawCtx, Result};
use crate::ffi::Ret;
use crate::functions::{Aff, PwAff, PwMultiAff, UnionPwAff};
use crate::relations::{BasicMap, BasicSet, Constraint, Map, Set, UnionSet};
use crate::spaces::Id;
use std::ffi::{c_int, c_void};

macro_rules! isl_lists {
    ($($list:ident of $el:ident = $copy:ident, $free:ident, $alloc:ident, $add:ident, $size:ident, $at:ident;)*) => { $(
        isl_types! {
            #[doc = concat!("A list of [`", stringify!($el), "`].")]
            $list = $copy, $free;
        }

        isl_methods! { $list
            keep {
                fn size() -> u32 = $size;
                fn at(pos: i32) -> $el = $at;
            }
            take {
                fn add(e: $el) -> $list = $add;
            }
        }

        impl $list {
            pub fn new(ctx: &Context, items: impl IntoIterator<Item = $el>) -> Result<$list> {
                unsafe extern "C" { fn $alloc(ctx: *mut RawCtx, n: c_int) -> *mut c_void; }
                // SAFETY: live context.
                let mut list = $list::from_raw(unsafe { $alloc(ctx.raw(), 0) }, ctx)?;
                for i in items {
                    list = list.add(i)?;
                }
                Ok(list)
            }

            pub fn to_vec(&self) -> Result<Vec<$el>> {
                (0..self.size()? as i32).map(|i| self.at(i)).collect()
            }
        }
    )* };
}

isl_lists! {
    IdList of Id = isl_id_list_copy, isl_id_list_free, isl_id_list_alloc, isl_id_list_add, isl_id_list_size,
        isl_id_list_get_at;
    AffList of Aff = isl_aff_list_copy, isl_aff_list_free, isl_aff_list_alloc, isl_aff_list_add, isl_aff_list_size,
        isl_aff_list_get_at;
    PwAffList of PwAff = isl_pw_aff_list_copy, isl_pw_aff_list_free, isl_pw_aff_list_alloc, isl_pw_aff_list_add,
        isl_pw_aff_list_size, isl_pw_aff_list_get_at;
    PwMultiAffList of PwMultiAff = isl_pw_multi_aff_list_copy, isl_pw_multi_aff_list_free, isl_pw_multi_aff_list_alloc,
        isl_pw_multi_aff_list_add, isl_pw_multi_aff_list_size, isl_pw_multi_aff_list_get_at;
    UnionPwAffList of UnionPwAff = isl_union_pw_aff_list_copy, isl_union_pw_aff_list_free, isl_union_pw_aff_list_alloc,
        isl_union_pw_aff_list_add, isl_union_pw_aff_list_size, isl_union_pw_aff_list_get_at;
    ConstraintList of Constraint = isl_constraint_list_copy, isl_constraint_list_free, isl_constraint_list_alloc,
        isl_constraint_list_add, isl_constraint_list_size, isl_constraint_list_get_at;
    BasicSetList of BasicSet = isl_basic_set_list_copy, isl_basic_set_list_free, isl_basic_set_list_alloc,
        isl_basic_set_list_add, isl_basic_set_list_size, isl_basic_set_list_get_at;
    BasicMapList of BasicMap = isl_basic_map_list_copy, isl_basic_map_list_free, isl_basic_map_list_alloc,
        isl_basic_map_list_add, isl_basic_map_list_size, isl_basic_map_list_get_at;
    SetList of Set = isl_set_list_copy, isl_set_list_free, isl_set_list_alloc, isl_set_list_add, isl_set_list_size,
        isl_set_list_get_at;
    MapList of Map = isl_map_list_copy, isl_map_list_free, isl_map_list_alloc, isl_map_list_add, isl_map_list_size,
        isl_map_list_get_at;
    UnionSetList of UnionSet = isl_union_set_list_copy, isl_union_set_list_free, isl_union_set_list_alloc,
        isl_union_set_list_add, isl_union_set_list_size, isl_union_set_list_get_at;
    AstExprList of AstExpr = isl_ast_expr_list_copy, isl_ast_expr_list_free, isl_ast_expr_list_alloc,
        isl_ast_expr_list_add, isl_ast_expr_list_size, isl_ast_expr_list_get_at;
    AstNodeList of AstNode = isl_ast_node_list_copy, isl_ast_node_list_free, isl_ast_node_list_alloc,
        isl_ast_node_list_add, isl_ast_node_list_size, isl_ast_node_list_get_at;
}

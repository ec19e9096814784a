//! Sets, maps and their unions.

use crate::context::{Context, RawCtx, Result};
use crate::ffi::Ret;
use crate::functions::{Aff, MultiAff, MultiPwAff, MultiUnionPwAff, PwAff, PwMultiAff, UnionPwMultiAff};
use crate::list::{BasicMapList, BasicSetList, ConstraintList, MapList, SetList};
use crate::spaces::{DimType, Id, LocalSpace, MultiVal, Space, Val};
use std::ffi::c_void;

isl_types! {
    /// An affine equality or inequality.
    Constraint = isl_constraint_copy, isl_constraint_free;
    /// The integer points of one polyhedron (with divisions).
    BasicSet = isl_basic_set_copy, isl_basic_set_free;
    /// A relation whose graph is a [`BasicSet`].
    BasicMap = isl_basic_map_copy, isl_basic_map_free;
    /// A union of [`BasicSet`]s in one space.
    Set = isl_set_copy, isl_set_free;
    /// A union of [`BasicMap`]s in one space.
    Map = isl_map_copy, isl_map_free;
    /// Sets of several spaces.
    UnionSet = isl_union_set_copy, isl_union_set_free;
    /// Maps of several spaces.
    UnionMap = isl_union_map_copy, isl_union_map_free;
    /// One integer point.
    Point = isl_point_copy, isl_point_free;
}

isl_text! {
    BasicSet = isl_basic_set_read_from_str, isl_basic_set_to_str;
    BasicMap = isl_basic_map_read_from_str, isl_basic_map_to_str;
    Set = isl_set_read_from_str, isl_set_to_str;
    Map = isl_map_read_from_str, isl_map_to_str;
    UnionSet = isl_union_set_read_from_str, isl_union_set_to_str;
    UnionMap = isl_union_map_read_from_str, isl_union_map_to_str;
}
isl_display! { Point = isl_point_to_str; }

isl_conversions! {
    BasicSet::universe(Space) = isl_basic_set_universe;
    BasicSet::from_constraint(Constraint) = isl_basic_set_from_constraint;
    BasicMap::universe(Space) = isl_basic_map_universe;
    Set::universe(Space) = isl_set_universe;
    Set::empty(Space) = isl_set_empty;
    Set::from_basic_set(BasicSet) = isl_set_from_basic_set;
    Set::from_union_set(UnionSet) = isl_set_from_union_set;
    Set::from_multi_aff(MultiAff) = isl_set_from_multi_aff;
    Set::from_pw_multi_aff(PwMultiAff) = isl_set_from_pw_multi_aff;
    Set::from_multi_pw_aff(MultiPwAff) = isl_set_from_multi_pw_aff;
    Set::from_point(Point) = isl_set_from_point;
    Set::nat_universe(Space) = isl_set_nat_universe;
    Map::universe(Space) = isl_map_universe;
    Map::empty(Space) = isl_map_empty;
    Map::identity(Space) = isl_map_identity;
    Map::from_basic_map(BasicMap) = isl_map_from_basic_map;
    Map::from_union_map(UnionMap) = isl_map_from_union_map;
    Map::from_aff(Aff) = isl_map_from_aff;
    Map::from_multi_aff(MultiAff) = isl_map_from_multi_aff;
    Map::from_pw_aff(PwAff) = isl_map_from_pw_aff;
    Map::from_pw_multi_aff(PwMultiAff) = isl_map_from_pw_multi_aff;
    Map::from_multi_pw_aff(MultiPwAff) = isl_map_from_multi_pw_aff;
    Map::from_domain(Set) = isl_map_from_domain;
    Map::from_range(Set) = isl_map_from_range;
    Map::lex_lt(Space) = isl_map_lex_lt;
    Map::lex_le(Space) = isl_map_lex_le;
    UnionSet::from_set(Set) = isl_union_set_from_set;
    UnionSet::from_basic_set(BasicSet) = isl_union_set_from_basic_set;
    UnionSet::empty_in(Space) = isl_union_set_empty;
    UnionMap::from_map(Map) = isl_union_map_from_map;
    UnionMap::from_domain(UnionSet) = isl_union_map_from_domain;
    UnionMap::from_range(UnionSet) = isl_union_map_from_range;
    UnionMap::from_union_pw_multi_aff(UnionPwMultiAff) = isl_union_map_from_union_pw_multi_aff;
    UnionMap::from_multi_union_pw_aff(MultiUnionPwAff) = isl_union_map_from_multi_union_pw_aff;
    UnionMap::empty_in(Space) = isl_union_map_empty;
    Constraint::equality(LocalSpace) = isl_constraint_alloc_equality;
    Constraint::inequality(LocalSpace) = isl_constraint_alloc_inequality;
}

impl Map {
    pub fn from_domain_and_range(domain: Set, range: Set) -> Result<Map> {
        domain.product_map(range)
    }

    pub fn set_tuple_name(self, ty: DimType, name: &str) -> Result<Map> {
        let id = Id::new(self.context(), name)?;
        self.set_tuple_id(ty, id)
    }

    pub fn tuple_name(&self, ty: DimType) -> Result<Option<String>> {
        self.space()?.tuple_name(ty)
    }

    /// The pieces of the union.
    pub fn basic_maps(&self) -> Result<Vec<BasicMap>> {
        self.basic_map_list()?.to_vec()
    }
}

impl Set {
    pub fn set_tuple_name(self, name: &str) -> Result<Set> {
        let id = Id::new(self.context(), name)?;
        self.set_tuple_id(id)
    }

    pub fn tuple_name(&self) -> Result<Option<String>> {
        self.space()?.tuple_name(DimType::Set)
    }

    /// The pieces of the union.
    pub fn basic_sets(&self) -> Result<Vec<BasicSet>> {
        self.basic_set_list()?.to_vec()
    }

    /// Names the `pos`-th dimension or parameter.
    pub fn set_dim_name(self, ty: DimType, pos: u32, name: &str) -> Result<Set> {
        let id = Id::new(self.context(), name)?;
        self.set_dim_id(ty, pos, id)
    }
}

impl UnionSet {
    pub fn empty(ctx: &Context) -> Result<UnionSet> {
        unsafe extern "C" {
            fn isl_union_set_empty_ctx(ctx: *mut RawCtx) -> *mut c_void;
        }
        // SAFETY: live context.
        UnionSet::from_raw(unsafe { isl_union_set_empty_ctx(ctx.raw()) }, ctx)
    }

    /// The sets of the union, sorted by their text so that the order is the same in every run.
    pub fn sets(&self) -> Result<Vec<Set>> {
        let mut v = self.set_list()?.to_vec()?;
        if v.len() > 1 {
            v.sort_by_cached_key(|s| s.to_string());
        }
        Ok(v)
    }
}

impl UnionMap {
    pub fn empty(ctx: &Context) -> Result<UnionMap> {
        unsafe extern "C" {
            fn isl_union_map_empty_ctx(ctx: *mut RawCtx) -> *mut c_void;
        }
        // SAFETY: live context.
        UnionMap::from_raw(unsafe { isl_union_map_empty_ctx(ctx.raw()) }, ctx)
    }

    /// The maps of the union, sorted by their text so that the order is the same in every run.
    pub fn maps(&self) -> Result<Vec<Map>> {
        let mut v = self.map_list()?.to_vec()?;
        if v.len() > 1 {
            v.sort_by_cached_key(|s| s.to_string());
        }
        Ok(v)
    }
}

impl BasicSet {
    pub fn constraints(&self) -> Result<Vec<Constraint>> {
        self.constraint_list()?.to_vec()
    }
}

isl_methods! { Constraint
    keep {
        fn is_equality() -> bool = isl_constraint_is_equality;
        fn aff() -> Aff = isl_constraint_get_aff;
        fn involves_dims(ty: DimType, first: u32, n: u32) -> bool = isl_constraint_involves_dims;
        fn coefficient(ty: DimType, pos: i32) -> Val = isl_constraint_get_coefficient_val;
        fn constant() -> Val = isl_constraint_get_constant_val;
        fn dim(ty: DimType) -> u32 = isl_constraint_dim;
    }
    take {
        fn set_constant_si(v: i32) -> Constraint = isl_constraint_set_constant_si;
        fn set_coefficient_si(ty: DimType, pos: i32, v: i32) -> Constraint = isl_constraint_set_coefficient_si;
        fn set_constant(v: Val) -> Constraint = isl_constraint_set_constant_val;
        fn set_coefficient(ty: DimType, pos: i32, v: Val) -> Constraint = isl_constraint_set_coefficient_val;
    }
}

isl_methods! { BasicSet
    keep {
        fn dim(ty: DimType) -> u32 = isl_basic_set_dim;
        fn space() -> Space = isl_basic_set_get_space;
        fn constraint_list() -> ConstraintList = isl_basic_set_get_constraint_list;
        fn is_empty() -> bool = isl_basic_set_is_empty;
        fn is_equal(o: &BasicSet) -> bool = isl_basic_set_is_equal;
        fn is_subset(o: &BasicSet) -> bool = isl_basic_set_is_subset;
        fn local_space() -> LocalSpace = isl_basic_set_get_local_space;
    }
    take {
        fn intersect(o: BasicSet) -> BasicSet = isl_basic_set_intersect;
        fn add_constraint(c: Constraint) -> BasicSet = isl_basic_set_add_constraint;
        fn remove_redundancies() -> BasicSet = isl_basic_set_remove_redundancies;
        fn detect_equalities() -> BasicSet = isl_basic_set_detect_equalities;
        fn gist(o: BasicSet) -> BasicSet = isl_basic_set_gist;
        fn params() -> BasicSet = isl_basic_set_params;
        fn remove_divs() -> BasicSet = isl_basic_set_remove_divs;
    }
}

isl_methods! { BasicMap
    keep {
        fn dim(ty: DimType) -> u32 = isl_basic_map_dim;
        fn space() -> Space = isl_basic_map_get_space;
        fn is_empty() -> bool = isl_basic_map_is_empty;
    }
    take {
        fn add_constraint(c: Constraint) -> BasicMap = isl_basic_map_add_constraint;
        fn wrap() -> BasicSet = isl_basic_map_wrap;
        fn domain() -> BasicSet = isl_basic_map_domain;
        fn range() -> BasicSet = isl_basic_map_range;
    }
}

isl_methods! { Set
    keep {
        fn dim(ty: DimType) -> u32 = isl_set_dim;
        fn space() -> Space = isl_set_get_space;
        fn is_empty() -> bool = isl_set_is_empty;
        fn plain_is_empty() -> bool = isl_set_plain_is_empty;
        fn plain_is_universe() -> bool = isl_set_plain_is_universe;
        fn is_equal(o: &Set) -> bool = isl_set_is_equal;
        fn plain_is_equal(o: &Set) -> bool = isl_set_plain_is_equal;
        fn is_subset(o: &Set) -> bool = isl_set_is_subset;
        fn is_strict_subset(o: &Set) -> bool = isl_set_is_strict_subset;
        fn is_disjoint(o: &Set) -> bool = isl_set_is_disjoint;
        fn is_bounded() -> bool = isl_set_is_bounded;
        fn is_singleton() -> bool = isl_set_is_singleton;
        fn is_params() -> bool = isl_set_is_params;
        fn is_box() -> bool = isl_set_is_box;
        fn involves_dims(ty: DimType, first: u32, n: u32) -> bool = isl_set_involves_dims;
        fn basic_set_list() -> BasicSetList = isl_set_get_basic_set_list;
        fn n_basic_set() -> u32 = isl_set_n_basic_set;
        fn dim_id(ty: DimType, pos: u32) -> Id = isl_set_get_dim_id;
        fn dim_name(ty: DimType, pos: u32) -> Option<String> = isl_set_get_dim_name;
        fn has_tuple_id() -> bool = isl_set_has_tuple_id;
        fn tuple_id() -> Id = isl_set_get_tuple_id;
        fn find_dim_by_id(ty: DimType, id: &Id) -> i32 = isl_set_find_dim_by_id;
        fn plain_get_val_if_fixed(ty: DimType, pos: u32) -> Val = isl_set_plain_get_val_if_fixed;
        fn dim_is_bounded(ty: DimType, pos: u32) -> bool = isl_set_dim_is_bounded;
        fn dim_has_lower_bound(ty: DimType, pos: u32) -> bool = isl_set_dim_has_lower_bound;
        fn dim_has_upper_bound(ty: DimType, pos: u32) -> bool = isl_set_dim_has_upper_bound;
        fn min_val(obj: &Aff) -> Val = isl_set_min_val;
        fn max_val(obj: &Aff) -> Val = isl_set_max_val;
        fn stride(pos: i32) -> Val = isl_set_get_stride;
    }
    take {
        fn intersect(o: Set) -> Set = isl_set_intersect;
        fn intersect_params(o: Set) -> Set = isl_set_intersect_params;
        fn union(o: Set) -> Set = isl_set_union;
        fn union_disjoint(o: Set) -> Set = isl_set_union_disjoint;
        fn subtract(o: Set) -> Set = isl_set_subtract;
        fn complement() -> Set = isl_set_complement;
        fn apply(o: Map) -> Set = isl_set_apply;
        fn preimage_multi_aff(o: MultiAff) -> Set = isl_set_preimage_multi_aff;
        fn preimage_pw_multi_aff(o: PwMultiAff) -> Set = isl_set_preimage_pw_multi_aff;
        fn preimage_multi_pw_aff(o: MultiPwAff) -> Set = isl_set_preimage_multi_pw_aff;
        fn params() -> Set = isl_set_params;
        fn project_out(ty: DimType, first: u32, n: u32) -> Set = isl_set_project_out;
        fn project_out_all_params() -> Set = isl_set_project_out_all_params;
        fn eliminate(ty: DimType, first: u32, n: u32) -> Set = isl_set_eliminate;
        fn drop_constraints_involving_dims(ty: DimType, first: u32, n: u32) -> Set
            = isl_set_drop_constraints_involving_dims;
        fn drop_constraints_not_involving_dims(ty: DimType, first: u32, n: u32) -> Set
            = isl_set_drop_constraints_not_involving_dims;
        fn remove_divs() -> Set = isl_set_remove_divs;
        fn remove_divs_involving_dims(ty: DimType, first: u32, n: u32) -> Set = isl_set_remove_divs_involving_dims;
        fn remove_redundancies() -> Set = isl_set_remove_redundancies;
        fn remove_unknown_divs() -> Set = isl_set_remove_unknown_divs;
        fn detect_equalities() -> Set = isl_set_detect_equalities;
        fn compute_divs() -> Set = isl_set_compute_divs;
        fn make_disjoint() -> Set = isl_set_make_disjoint;
        fn simple_hull() -> BasicSet = isl_set_simple_hull;
        fn unshifted_simple_hull() -> BasicSet = isl_set_unshifted_simple_hull;
        fn convex_hull() -> BasicSet = isl_set_convex_hull;
        fn affine_hull() -> BasicSet = isl_set_affine_hull;
        fn polyhedral_hull() -> BasicSet = isl_set_polyhedral_hull;
        fn bounded_simple_hull() -> BasicSet = isl_set_bounded_simple_hull;
        fn gist(o: Set) -> Set = isl_set_gist;
        fn gist_params(o: Set) -> Set = isl_set_gist_params;
        fn lexmin() -> Set = isl_set_lexmin;
        fn lexmax() -> Set = isl_set_lexmax;
        fn lexmin_pw_multi_aff() -> PwMultiAff = isl_set_lexmin_pw_multi_aff;
        fn lexmax_pw_multi_aff() -> PwMultiAff = isl_set_lexmax_pw_multi_aff;
        fn dim_min(pos: i32) -> PwAff = isl_set_dim_min;
        fn dim_max(pos: i32) -> PwAff = isl_set_dim_max;
        fn dim_min_val(pos: i32) -> Val = isl_set_dim_min_val;
        fn dim_max_val(pos: i32) -> Val = isl_set_dim_max_val;
        fn min_multi_pw_aff() -> MultiPwAff = isl_set_min_multi_pw_aff;
        fn max_multi_pw_aff() -> MultiPwAff = isl_set_max_multi_pw_aff;
        fn identity() -> Map = isl_set_identity;
        fn unwrap() -> Map = isl_set_unwrap;
        fn product_map(o: Set) -> Map = isl_map_from_domain_and_range;
        fn flat_product(o: Set) -> Set = isl_set_flat_product;
        fn product(o: Set) -> Set = isl_set_product;
        fn add_dims(ty: DimType, n: u32) -> Set = isl_set_add_dims;
        fn insert_dims(ty: DimType, pos: u32, n: u32) -> Set = isl_set_insert_dims;
        fn move_dims(dst: DimType, dst_pos: u32, src: DimType, src_pos: u32, n: u32) -> Set = isl_set_move_dims;
        fn align_params(s: Space) -> Set = isl_set_align_params;
        fn set_tuple_id(id: Id) -> Set = isl_set_set_tuple_id;
        fn reset_tuple_id() -> Set = isl_set_reset_tuple_id;
        fn set_dim_id(ty: DimType, pos: u32, id: Id) -> Set = isl_set_set_dim_id;
        fn reset_space(s: Space) -> Set = isl_set_reset_space;
        fn fix_si(ty: DimType, pos: u32, v: i32) -> Set = isl_set_fix_si;
        fn fix_val(ty: DimType, pos: u32, v: Val) -> Set = isl_set_fix_val;
        fn lower_bound_si(ty: DimType, pos: u32, v: i32) -> Set = isl_set_lower_bound_si;
        fn upper_bound_si(ty: DimType, pos: u32, v: i32) -> Set = isl_set_upper_bound_si;
        fn lower_bound_val(ty: DimType, pos: u32, v: Val) -> Set = isl_set_lower_bound_val;
        fn upper_bound_val(ty: DimType, pos: u32, v: Val) -> Set = isl_set_upper_bound_val;
        fn equate(t1: DimType, p1: i32, t2: DimType, p2: i32) -> Set = isl_set_equate;
        fn add_constraint(c: Constraint) -> Set = isl_set_add_constraint;
        fn sample_point() -> Point = isl_set_sample_point;
        fn from_params() -> Set = isl_set_from_params;
        fn flatten() -> Set = isl_set_flatten;
        fn lex_lt_set(o: Set) -> Map = isl_set_lex_lt_set;
        fn lex_le_set(o: Set) -> Map = isl_set_lex_le_set;
        fn lex_ge_set(o: Set) -> Map = isl_set_lex_ge_set;
        fn indicator_function() -> PwAff = isl_set_indicator_function;
    }
}

isl_methods! { Map
    keep {
        fn dim(ty: DimType) -> u32 = isl_map_dim;
        fn space() -> Space = isl_map_get_space;
        fn is_empty() -> bool = isl_map_is_empty;
        fn plain_is_empty() -> bool = isl_map_plain_is_empty;
        fn is_equal(o: &Map) -> bool = isl_map_is_equal;
        fn is_subset(o: &Map) -> bool = isl_map_is_subset;
        fn is_disjoint(o: &Map) -> bool = isl_map_is_disjoint;
        fn is_single_valued() -> bool = isl_map_is_single_valued;
        fn is_injective() -> bool = isl_map_is_injective;
        fn is_bijective() -> bool = isl_map_is_bijective;
        fn is_identity() -> bool = isl_map_is_identity;
        fn involves_dims(ty: DimType, first: u32, n: u32) -> bool = isl_map_involves_dims;
        fn basic_map_list() -> BasicMapList = isl_map_get_basic_map_list;
        fn n_basic_map() -> u32 = isl_map_n_basic_map;
        fn tuple_id(ty: DimType) -> Id = isl_map_get_tuple_id;
        fn has_tuple_id(ty: DimType) -> bool = isl_map_has_tuple_id;
        fn dim_id(ty: DimType, pos: u32) -> Id = isl_map_get_dim_id;
        fn find_dim_by_id(ty: DimType, id: &Id) -> i32 = isl_map_find_dim_by_id;
        fn plain_get_val_if_fixed(ty: DimType, pos: u32) -> Val = isl_map_plain_get_val_if_fixed;
    }
    take {
        fn intersect(o: Map) -> Map = isl_map_intersect;
        fn intersect_domain(o: Set) -> Map = isl_map_intersect_domain;
        fn intersect_range(o: Set) -> Map = isl_map_intersect_range;
        fn intersect_params(o: Set) -> Map = isl_map_intersect_params;
        fn subtract(o: Map) -> Map = isl_map_subtract;
        fn subtract_domain(o: Set) -> Map = isl_map_subtract_domain;
        fn union(o: Map) -> Map = isl_map_union;
        fn complement() -> Map = isl_map_complement;
        fn apply_range(o: Map) -> Map = isl_map_apply_range;
        fn apply_domain(o: Map) -> Map = isl_map_apply_domain;
        fn reverse() -> Map = isl_map_reverse;
        fn domain() -> Set = isl_map_domain;
        fn range() -> Set = isl_map_range;
        fn params() -> Set = isl_map_params;
        fn wrap() -> Set = isl_map_wrap;
        fn curry() -> Map = isl_map_curry;
        fn uncurry() -> Map = isl_map_uncurry;
        fn domain_map() -> Map = isl_map_domain_map;
        fn range_map() -> Map = isl_map_range_map;
        fn deltas() -> Set = isl_map_deltas;
        fn deltas_map() -> Map = isl_map_deltas_map;
        fn product(o: Map) -> Map = isl_map_product;
        fn range_product(o: Map) -> Map = isl_map_range_product;
        fn flat_range_product(o: Map) -> Map = isl_map_flat_range_product;
        fn domain_product(o: Map) -> Map = isl_map_domain_product;
        fn flat_product(o: Map) -> Map = isl_map_flat_product;
        fn flatten() -> Map = isl_map_flatten;
        fn flatten_range() -> Map = isl_map_flatten_range;
        fn flatten_domain() -> Map = isl_map_flatten_domain;
        fn project_out(ty: DimType, first: u32, n: u32) -> Map = isl_map_project_out;
        fn eliminate(ty: DimType, first: u32, n: u32) -> Map = isl_map_eliminate;
        fn detect_equalities() -> Map = isl_map_detect_equalities;
        fn compute_divs() -> Map = isl_map_compute_divs;
        fn gist(o: Map) -> Map = isl_map_gist;
        fn gist_domain(o: Set) -> Map = isl_map_gist_domain;
        fn gist_params(o: Set) -> Map = isl_map_gist_params;
        fn lexmin() -> Map = isl_map_lexmin;
        fn lexmax() -> Map = isl_map_lexmax;
        fn lexmin_pw_multi_aff() -> PwMultiAff = isl_map_lexmin_pw_multi_aff;
        fn lexmax_pw_multi_aff() -> PwMultiAff = isl_map_lexmax_pw_multi_aff;
        fn add_dims(ty: DimType, n: u32) -> Map = isl_map_add_dims;
        fn insert_dims(ty: DimType, pos: u32, n: u32) -> Map = isl_map_insert_dims;
        fn move_dims(dst: DimType, dst_pos: u32, src: DimType, src_pos: u32, n: u32) -> Map = isl_map_move_dims;
        fn align_params(s: Space) -> Map = isl_map_align_params;
        fn set_tuple_id(ty: DimType, id: Id) -> Map = isl_map_set_tuple_id;
        fn reset_tuple_id(ty: DimType) -> Map = isl_map_reset_tuple_id;
        fn set_dim_id(ty: DimType, pos: u32, id: Id) -> Map = isl_map_set_dim_id;
        fn fix_si(ty: DimType, pos: u32, v: i32) -> Map = isl_map_fix_si;
        fn lower_bound_si(ty: DimType, pos: u32, v: i32) -> Map = isl_map_lower_bound_si;
        fn upper_bound_si(ty: DimType, pos: u32, v: i32) -> Map = isl_map_upper_bound_si;
        fn equate(t1: DimType, p1: i32, t2: DimType, p2: i32) -> Map = isl_map_equate;
        fn order_lt(t1: DimType, p1: i32, t2: DimType, p2: i32) -> Map = isl_map_order_lt;
        fn order_le(t1: DimType, p1: i32, t2: DimType, p2: i32) -> Map = isl_map_order_le;
        fn order_gt(t1: DimType, p1: i32, t2: DimType, p2: i32) -> Map = isl_map_order_gt;
        fn add_constraint(c: Constraint) -> Map = isl_map_add_constraint;
        fn simple_hull() -> BasicMap = isl_map_simple_hull;
        fn unshifted_simple_hull() -> BasicMap = isl_map_unshifted_simple_hull;
        fn polyhedral_hull() -> BasicMap = isl_map_polyhedral_hull;
        fn preimage_domain_multi_aff(o: MultiAff) -> Map = isl_map_preimage_domain_multi_aff;
        fn preimage_range_multi_aff(o: MultiAff) -> Map = isl_map_preimage_range_multi_aff;
        fn preimage_domain_pw_multi_aff(o: PwMultiAff) -> Map = isl_map_preimage_domain_pw_multi_aff;
        fn dim_min(pos: i32) -> PwAff = isl_map_dim_min;
        fn dim_max(pos: i32) -> PwAff = isl_map_dim_max;
        fn zip() -> Map = isl_map_zip;
        fn range_factor_domain() -> Map = isl_map_range_factor_domain;
        fn range_factor_range() -> Map = isl_map_range_factor_range;
    }
}

isl_methods! { UnionSet
    keep {
        fn space() -> Space = isl_union_set_get_space;
        fn is_empty() -> bool = isl_union_set_is_empty;
        fn is_equal(o: &UnionSet) -> bool = isl_union_set_is_equal;
        fn is_subset(o: &UnionSet) -> bool = isl_union_set_is_subset;
        fn is_disjoint(o: &UnionSet) -> bool = isl_union_set_is_disjoint;
        fn is_params() -> bool = isl_union_set_is_params;
        fn n_set() -> u32 = isl_union_set_n_set;
        fn set_list() -> SetList = isl_union_set_get_set_list;
        fn extract_set(s: Space) -> Set = isl_union_set_extract_set;
        fn contains(s: &Space) -> bool = isl_union_set_contains;
        fn isa_set() -> bool = isl_union_set_isa_set;
    }
    take {
        fn add_set(o: Set) -> UnionSet = isl_union_set_add_set;
        fn intersect(o: UnionSet) -> UnionSet = isl_union_set_intersect;
        fn intersect_params(o: Set) -> UnionSet = isl_union_set_intersect_params;
        fn union(o: UnionSet) -> UnionSet = isl_union_set_union;
        fn subtract(o: UnionSet) -> UnionSet = isl_union_set_subtract;
        fn apply(o: UnionMap) -> UnionSet = isl_union_set_apply;
        fn params() -> Set = isl_union_set_params;
        fn universe() -> UnionSet = isl_union_set_universe;
        fn detect_equalities() -> UnionSet = isl_union_set_detect_equalities;
        fn compute_divs() -> UnionSet = isl_union_set_compute_divs;
        fn gist(o: UnionSet) -> UnionSet = isl_union_set_gist;
        fn gist_params(o: Set) -> UnionSet = isl_union_set_gist_params;
        fn identity() -> UnionMap = isl_union_set_identity;
        fn unwrap() -> UnionMap = isl_union_set_unwrap;
        fn lexmin() -> UnionSet = isl_union_set_lexmin;
        fn lexmax() -> UnionSet = isl_union_set_lexmax;
        fn project_out(ty: DimType, first: u32, n: u32) -> UnionSet = isl_union_set_project_out;
        fn product(o: UnionSet) -> UnionSet = isl_union_set_product;
        fn product_map(o: UnionSet) -> UnionMap = isl_union_map_from_domain_and_range;
        fn lex_lt_union_set(o: UnionSet) -> UnionMap = isl_union_set_lex_lt_union_set;
        fn align_params(s: Space) -> UnionSet = isl_union_set_align_params;
        fn preimage_multi_aff(o: MultiAff) -> UnionSet = isl_union_set_preimage_multi_aff;
        fn preimage_union_pw_multi_aff(o: UnionPwMultiAff) -> UnionSet = isl_union_set_preimage_union_pw_multi_aff;
    }
}

isl_methods! { UnionMap
    keep {
        fn space() -> Space = isl_union_map_get_space;
        fn is_empty() -> bool = isl_union_map_is_empty;
        fn plain_is_empty() -> bool = isl_union_map_plain_is_empty;
        fn is_equal(o: &UnionMap) -> bool = isl_union_map_is_equal;
        fn is_subset(o: &UnionMap) -> bool = isl_union_map_is_subset;
        fn is_disjoint(o: &UnionMap) -> bool = isl_union_map_is_disjoint;
        fn is_single_valued() -> bool = isl_union_map_is_single_valued;
        fn is_injective() -> bool = isl_union_map_is_injective;
        fn is_bijective() -> bool = isl_union_map_is_bijective;
        fn n_map() -> u32 = isl_union_map_n_map;
        fn map_list() -> MapList = isl_union_map_get_map_list;
        fn extract_map(s: Space) -> Map = isl_union_map_extract_map;
        fn isa_map() -> bool = isl_union_map_isa_map;
    }
    take {
        fn add_map(o: Map) -> UnionMap = isl_union_map_add_map;
        fn intersect(o: UnionMap) -> UnionMap = isl_union_map_intersect;
        fn intersect_domain(o: UnionSet) -> UnionMap = isl_union_map_intersect_domain_union_set;
        fn intersect_range(o: UnionSet) -> UnionMap = isl_union_map_intersect_range_union_set;
        fn intersect_params(o: Set) -> UnionMap = isl_union_map_intersect_params;
        fn union(o: UnionMap) -> UnionMap = isl_union_map_union;
        fn subtract(o: UnionMap) -> UnionMap = isl_union_map_subtract;
        fn subtract_domain(o: UnionSet) -> UnionMap = isl_union_map_subtract_domain;
        fn apply_range(o: UnionMap) -> UnionMap = isl_union_map_apply_range;
        fn apply_domain(o: UnionMap) -> UnionMap = isl_union_map_apply_domain;
        fn reverse() -> UnionMap = isl_union_map_reverse;
        fn domain() -> UnionSet = isl_union_map_domain;
        fn range() -> UnionSet = isl_union_map_range;
        fn params() -> Set = isl_union_map_params;
        fn wrap() -> UnionSet = isl_union_map_wrap;
        fn curry() -> UnionMap = isl_union_map_curry;
        fn uncurry() -> UnionMap = isl_union_map_uncurry;
        fn zip() -> UnionMap = isl_union_map_zip;
        fn domain_map() -> UnionMap = isl_union_map_domain_map;
        fn range_map() -> UnionMap = isl_union_map_range_map;
        fn deltas() -> UnionSet = isl_union_map_deltas;
        fn product(o: UnionMap) -> UnionMap = isl_union_map_product;
        fn range_product(o: UnionMap) -> UnionMap = isl_union_map_range_product;
        fn flat_range_product(o: UnionMap) -> UnionMap = isl_union_map_flat_range_product;
        fn domain_product(o: UnionMap) -> UnionMap = isl_union_map_domain_product;
        fn range_factor_domain() -> UnionMap = isl_union_map_range_factor_domain;
        fn range_factor_range() -> UnionMap = isl_union_map_range_factor_range;
        fn domain_factor_domain() -> UnionMap = isl_union_map_domain_factor_domain;
        fn universe() -> UnionMap = isl_union_map_universe;
        fn detect_equalities() -> UnionMap = isl_union_map_detect_equalities;
        fn compute_divs() -> UnionMap = isl_union_map_compute_divs;
        fn gist(o: UnionMap) -> UnionMap = isl_union_map_gist;
        fn gist_range(o: UnionSet) -> UnionMap = isl_union_map_gist_range;
        fn gist_domain(o: UnionSet) -> UnionMap = isl_union_map_gist_domain;
        fn gist_params(o: Set) -> UnionMap = isl_union_map_gist_params;
        fn lexmin() -> UnionMap = isl_union_map_lexmin;
        fn lexmax() -> UnionMap = isl_union_map_lexmax;
        fn lex_lt(o: UnionMap) -> UnionMap = isl_union_map_lex_lt_union_map;
        fn lex_le(o: UnionMap) -> UnionMap = isl_union_map_lex_le_union_map;
        fn lex_ge(o: UnionMap) -> UnionMap = isl_union_map_lex_ge_union_map;
        fn lex_lt_at_multi_union_pw_aff(o: MultiUnionPwAff) -> UnionMap
            = isl_union_map_lex_lt_at_multi_union_pw_aff;
        fn eq_at(o: MultiUnionPwAff) -> UnionMap = isl_union_map_eq_at_multi_union_pw_aff;
        fn project_out(ty: DimType, first: u32, n: u32) -> UnionMap = isl_union_map_project_out;
        fn align_params(s: Space) -> UnionMap = isl_union_map_align_params;
        fn preimage_domain_multi_aff(o: MultiAff) -> UnionMap = isl_union_map_preimage_domain_multi_aff;
        fn preimage_domain_union_pw_multi_aff(o: UnionPwMultiAff) -> UnionMap
            = isl_union_map_preimage_domain_union_pw_multi_aff;
        fn preimage_range_union_pw_multi_aff(o: UnionPwMultiAff) -> UnionMap
            = isl_union_map_preimage_range_union_pw_multi_aff;
        fn fixed_power_val(v: Val) -> UnionMap = isl_union_map_fixed_power_val;
    }
}

isl_methods! { Point
    keep {
        fn coordinate(ty: DimType, pos: i32) -> Val = isl_point_get_coordinate_val;
        fn is_void() -> bool = isl_point_is_void;
        fn multi_val() -> MultiVal = isl_point_get_multi_val;
    }
    take {}
}

isl_simplifications! {
    Set::coalesce = isl_set_coalesce;
    Map::coalesce = isl_map_coalesce;
    UnionSet::coalesce = isl_union_set_coalesce;
    UnionMap::coalesce = isl_union_map_coalesce;
}

//! Quasi-affine functions, piecewise and in tuples.

use crate::context::Result;
use crate::ffi::{Arg, Ret};
use crate::list::UnionPwAffList;
use crate::relations::{Map, Set, UnionMap, UnionSet};
use crate::spaces::{DimType, Id, LocalSpace, MultiVal, Space, Val};

isl_types! {
    /// A quasi-affine expression over a (local) space.
    Aff = isl_aff_copy, isl_aff_free;
    /// A piecewise quasi-affine expression.
    PwAff = isl_pw_aff_copy, isl_pw_aff_free;
    MultiAff = isl_multi_aff_copy, isl_multi_aff_free;
    PwMultiAff = isl_pw_multi_aff_copy, isl_pw_multi_aff_free;
    MultiPwAff = isl_multi_pw_aff_copy, isl_multi_pw_aff_free;
    UnionPwAff = isl_union_pw_aff_copy, isl_union_pw_aff_free;
    UnionPwMultiAff = isl_union_pw_multi_aff_copy, isl_union_pw_multi_aff_free;
    MultiUnionPwAff = isl_multi_union_pw_aff_copy, isl_multi_union_pw_aff_free;
}

isl_text! {
    Aff = isl_aff_read_from_str, isl_aff_to_str;
    PwAff = isl_pw_aff_read_from_str, isl_pw_aff_to_str;
    MultiAff = isl_multi_aff_read_from_str, isl_multi_aff_to_str;
    PwMultiAff = isl_pw_multi_aff_read_from_str, isl_pw_multi_aff_to_str;
    MultiPwAff = isl_multi_pw_aff_read_from_str, isl_multi_pw_aff_to_str;
    UnionPwAff = isl_union_pw_aff_read_from_str, isl_union_pw_aff_to_str;
    UnionPwMultiAff = isl_union_pw_multi_aff_read_from_str, isl_union_pw_multi_aff_to_str;
    MultiUnionPwAff = isl_multi_union_pw_aff_read_from_str, isl_multi_union_pw_aff_to_str;
}

isl_conversions! {
    Aff::zero(LocalSpace) = isl_aff_zero_on_domain;
    Aff::zero_on_domain_space(Space) = isl_aff_zero_on_domain_space;
    PwAff::from_aff(Aff) = isl_pw_aff_from_aff;
    MultiAff::from_aff(Aff) = isl_multi_aff_from_aff;
    MultiAff::zero(Space) = isl_multi_aff_zero;
    MultiAff::identity(Space) = isl_multi_aff_identity;
    MultiAff::identity_on_domain_space(Space) = isl_multi_aff_identity_on_domain_space;
    PwMultiAff::from_multi_aff(MultiAff) = isl_pw_multi_aff_from_multi_aff;
    PwMultiAff::from_map(Map) = isl_pw_multi_aff_from_map;
    PwMultiAff::from_set(Set) = isl_pw_multi_aff_from_set;
    PwMultiAff::from_pw_aff(PwAff) = isl_pw_multi_aff_from_pw_aff;
    PwMultiAff::from_multi_pw_aff(MultiPwAff) = isl_pw_multi_aff_from_multi_pw_aff;
    MultiPwAff::zero(Space) = isl_multi_pw_aff_zero;
    MultiPwAff::from_pw_aff(PwAff) = isl_multi_pw_aff_from_pw_aff;
    MultiPwAff::from_multi_aff(MultiAff) = isl_multi_pw_aff_from_multi_aff;
    MultiPwAff::from_pw_multi_aff(PwMultiAff) = isl_multi_pw_aff_from_pw_multi_aff;
    UnionPwAff::from_pw_aff(PwAff) = isl_union_pw_aff_from_pw_aff;
    UnionPwAff::empty(Space) = isl_union_pw_aff_empty;
    UnionPwMultiAff::from_union_map(UnionMap) = isl_union_pw_multi_aff_from_union_map;
    UnionPwMultiAff::from_multi_union_pw_aff(MultiUnionPwAff) = isl_union_pw_multi_aff_from_multi_union_pw_aff;
    UnionPwMultiAff::from_pw_multi_aff(PwMultiAff) = isl_union_pw_multi_aff_from_pw_multi_aff;
    MultiUnionPwAff::from_union_map(UnionMap) = isl_multi_union_pw_aff_from_union_map;
    MultiUnionPwAff::from_union_pw_aff(UnionPwAff) = isl_multi_union_pw_aff_from_union_pw_aff;
    MultiUnionPwAff::from_multi_pw_aff(MultiPwAff) = isl_multi_union_pw_aff_from_multi_pw_aff;
    MultiUnionPwAff::zero(Space) = isl_multi_union_pw_aff_zero;
}

impl Aff {
    /// The function that returns dimension `pos` of its domain.
    pub fn var_on_domain(ls: LocalSpace, ty: DimType, pos: u32) -> Result<Aff> {
        unsafe extern "C" {
            fn isl_aff_var_on_domain(ls: *mut std::ffi::c_void, ty: i32, pos: u32) -> *mut std::ffi::c_void;
        }
        let ctx = ls.context().clone();
        // SAFETY: the local space is handed over.
        Aff::from_raw(unsafe { isl_aff_var_on_domain(ls.into_raw(), ty as i32, pos) }, &ctx)
    }

    /// The constant `v` over `domain`.
    pub fn constant_on(domain: Space, v: i64) -> Result<Aff> {
        let v = Val::int(domain.context(), v)?;
        Aff::zero_on_domain_space(domain)?.set_constant(v)
    }

    /// The function that returns the named parameter, which `domain` must have.
    pub fn param_on_domain(domain: Space, id: Id) -> Result<Aff> {
        unsafe extern "C" {
            fn isl_aff_param_on_domain_space_id(
                s: *mut std::ffi::c_void,
                id: *mut std::ffi::c_void,
            ) -> *mut std::ffi::c_void;
        }
        let ctx = domain.context().clone();
        // SAFETY: both are handed over.
        Aff::from_raw(unsafe { isl_aff_param_on_domain_space_id(domain.into_raw(), id.into_raw()) }, &ctx)
    }
}

impl PwAff {
    /// `value` on `domain`, undefined elsewhere.
    pub fn alloc(domain: Set, value: Aff) -> Result<PwAff> {
        unsafe extern "C" {
            fn isl_pw_aff_alloc(d: *mut std::ffi::c_void, v: *mut std::ffi::c_void) -> *mut std::ffi::c_void;
        }
        let ctx = domain.context().clone();
        // SAFETY: both are handed over.
        PwAff::from_raw(unsafe { isl_pw_aff_alloc(domain.into_raw(), value.into_raw()) }, &ctx)
    }

    /// The constant `v` over `domain`'s space.
    pub fn constant_on(domain: Space, v: i64) -> Result<PwAff> {
        PwAff::from_aff(Aff::constant_on(domain, v)?)
    }
}

impl MultiUnionPwAff {
    /// The tuple of functions `list` in the set space `space`.
    pub fn from_list(space: Space, list: UnionPwAffList) -> Result<MultiUnionPwAff> {
        unsafe extern "C" {
            fn isl_multi_union_pw_aff_from_union_pw_aff_list(
                s: *mut std::ffi::c_void,
                l: *mut std::ffi::c_void,
            ) -> *mut std::ffi::c_void;
        }
        let ctx = space.context().clone();
        // SAFETY: both are handed over.
        let raw = unsafe { isl_multi_union_pw_aff_from_union_pw_aff_list(space.into_raw(), list.into_raw()) };
        MultiUnionPwAff::from_raw(raw, &ctx)
    }
}

isl_methods! { Aff
    keep {
        fn dim(ty: DimType) -> u32 = isl_aff_dim;
        fn space() -> Space = isl_aff_get_space;
        fn domain_space() -> Space = isl_aff_get_domain_space;
        fn constant() -> Val = isl_aff_get_constant_val;
        fn coefficient(ty: DimType, pos: i32) -> Val = isl_aff_get_coefficient_val;
        fn denominator() -> Val = isl_aff_get_denominator_val;
        fn div(pos: i32) -> Aff = isl_aff_get_div;
        fn is_cst() -> bool = isl_aff_is_cst;
        fn is_nan() -> bool = isl_aff_is_nan;
        fn plain_is_zero() -> bool = isl_aff_plain_is_zero;
        fn plain_is_equal(o: &Aff) -> bool = isl_aff_plain_is_equal;
        fn involves_dims(ty: DimType, first: u32, n: u32) -> bool = isl_aff_involves_dims;
    }
    take {
        fn add(o: Aff) -> Aff = isl_aff_add;
        fn sub(o: Aff) -> Aff = isl_aff_sub;
        fn mul(o: Aff) -> Aff = isl_aff_mul;
        fn div_by(o: Aff) -> Aff = isl_aff_div;
        fn neg() -> Aff = isl_aff_neg;
        fn floor() -> Aff = isl_aff_floor;
        fn ceil() -> Aff = isl_aff_ceil;
        fn modulo(v: Val) -> Aff = isl_aff_mod_val;
        fn scale(v: Val) -> Aff = isl_aff_scale_val;
        fn scale_down(v: Val) -> Aff = isl_aff_scale_down_val;
        fn set_constant(v: Val) -> Aff = isl_aff_set_constant_val;
        fn add_constant(v: Val) -> Aff = isl_aff_add_constant_val;
        fn add_constant_si(v: i32) -> Aff = isl_aff_add_constant_si;
        fn set_coefficient(ty: DimType, pos: i32, v: Val) -> Aff = isl_aff_set_coefficient_val;
        fn add_coefficient(ty: DimType, pos: i32, v: Val) -> Aff = isl_aff_add_coefficient_val;
        fn add_coefficient_si(ty: DimType, pos: i32, v: i32) -> Aff = isl_aff_add_coefficient_si;
        fn align_params(s: Space) -> Aff = isl_aff_align_params;
        fn gist(o: Set) -> Aff = isl_aff_gist;
        fn pullback(o: MultiAff) -> Aff = isl_aff_pullback_multi_aff;
    }
}

isl_methods! { PwAff
    keep {
        fn dim(ty: DimType) -> u32 = isl_pw_aff_dim;
        fn space() -> Space = isl_pw_aff_get_space;
        fn domain_space() -> Space = isl_pw_aff_get_domain_space;
        fn n_piece() -> u32 = isl_pw_aff_n_piece;
        fn isa_aff() -> bool = isl_pw_aff_isa_aff;
        fn is_cst() -> bool = isl_pw_aff_is_cst;
        fn is_empty() -> bool = isl_pw_aff_is_empty;
        fn is_equal(o: &PwAff) -> bool = isl_pw_aff_is_equal;
        fn plain_is_equal(o: &PwAff) -> bool = isl_pw_aff_plain_is_equal;
        fn involves_dims(ty: DimType, first: u32, n: u32) -> bool = isl_pw_aff_involves_dims;
        fn involves_nan() -> bool = isl_pw_aff_involves_nan;
    }
    take {
        fn as_aff() -> Aff = isl_pw_aff_as_aff;
        fn add(o: PwAff) -> PwAff = isl_pw_aff_add;
        fn sub(o: PwAff) -> PwAff = isl_pw_aff_sub;
        fn mul(o: PwAff) -> PwAff = isl_pw_aff_mul;
        fn neg() -> PwAff = isl_pw_aff_neg;
        fn min(o: PwAff) -> PwAff = isl_pw_aff_min;
        fn max(o: PwAff) -> PwAff = isl_pw_aff_max;
        fn union_min(o: PwAff) -> PwAff = isl_pw_aff_union_min;
        fn union_max(o: PwAff) -> PwAff = isl_pw_aff_union_max;
        fn union_add(o: PwAff) -> PwAff = isl_pw_aff_union_add;
        fn cond(t: PwAff, e: PwAff) -> PwAff = isl_pw_aff_cond;
        fn floor() -> PwAff = isl_pw_aff_floor;
        fn ceil() -> PwAff = isl_pw_aff_ceil;
        fn modulo(v: Val) -> PwAff = isl_pw_aff_mod_val;
        fn tdiv_q(o: PwAff) -> PwAff = isl_pw_aff_tdiv_q;
        fn tdiv_r(o: PwAff) -> PwAff = isl_pw_aff_tdiv_r;
        fn scale(v: Val) -> PwAff = isl_pw_aff_scale_val;
        fn scale_down(v: Val) -> PwAff = isl_pw_aff_scale_down_val;
        fn add_constant(v: Val) -> PwAff = isl_pw_aff_add_constant_val;
        fn domain() -> Set = isl_pw_aff_domain;
        fn params() -> Set = isl_pw_aff_params;
        fn intersect_domain(o: Set) -> PwAff = isl_pw_aff_intersect_domain;
        fn intersect_params(o: Set) -> PwAff = isl_pw_aff_intersect_params;
        fn subtract_domain(o: Set) -> PwAff = isl_pw_aff_subtract_domain;
        fn gist(o: Set) -> PwAff = isl_pw_aff_gist;
        fn gist_params(o: Set) -> PwAff = isl_pw_aff_gist_params;
        fn eq_set(o: PwAff) -> Set = isl_pw_aff_eq_set;
        fn ne_set(o: PwAff) -> Set = isl_pw_aff_ne_set;
        fn lt_set(o: PwAff) -> Set = isl_pw_aff_lt_set;
        fn le_set(o: PwAff) -> Set = isl_pw_aff_le_set;
        fn gt_set(o: PwAff) -> Set = isl_pw_aff_gt_set;
        fn ge_set(o: PwAff) -> Set = isl_pw_aff_ge_set;
        fn nonneg_set() -> Set = isl_pw_aff_nonneg_set;
        fn pos_set() -> Set = isl_pw_aff_pos_set;
        fn zero_set() -> Set = isl_pw_aff_zero_set;
        fn non_zero_set() -> Set = isl_pw_aff_non_zero_set;
        fn pullback_multi_aff(o: MultiAff) -> PwAff = isl_pw_aff_pullback_multi_aff;
        fn pullback_pw_multi_aff(o: PwMultiAff) -> PwAff = isl_pw_aff_pullback_pw_multi_aff;
        fn align_params(s: Space) -> PwAff = isl_pw_aff_align_params;
        fn add_dims(ty: DimType, n: u32) -> PwAff = isl_pw_aff_add_dims;
        fn insert_dims(ty: DimType, pos: u32, n: u32) -> PwAff = isl_pw_aff_insert_dims;
        fn move_dims(dst: DimType, dst_pos: u32, src: DimType, src_pos: u32, n: u32) -> PwAff = isl_pw_aff_move_dims;
        fn drop_dims(ty: DimType, first: u32, n: u32) -> PwAff = isl_pw_aff_drop_dims;
        fn project_domain_on_params() -> PwAff = isl_pw_aff_project_domain_on_params;
        fn set_tuple_id(ty: DimType, id: Id) -> PwAff = isl_pw_aff_set_tuple_id;
        fn reset_tuple_id(ty: DimType) -> PwAff = isl_pw_aff_reset_tuple_id;
        fn set_dim_id(ty: DimType, pos: u32, id: Id) -> PwAff = isl_pw_aff_set_dim_id;
        fn from_range() -> PwAff = isl_pw_aff_from_range;
        fn min_value() -> Val = isl_pw_aff_min_val;
        fn max_value() -> Val = isl_pw_aff_max_val;
    }
}

isl_methods! { MultiAff
    keep {
        fn dim(ty: DimType) -> u32 = isl_multi_aff_dim;
        fn size() -> u32 = isl_multi_aff_size;
        fn at(pos: i32) -> Aff = isl_multi_aff_get_at;
        fn space() -> Space = isl_multi_aff_get_space;
        fn domain_space() -> Space = isl_multi_aff_get_domain_space;
    }
    take {
        fn set_at(pos: i32, a: Aff) -> MultiAff = isl_multi_aff_set_at;
        fn add(o: MultiAff) -> MultiAff = isl_multi_aff_add;
        fn pullback(o: MultiAff) -> MultiAff = isl_multi_aff_pullback_multi_aff;
        fn range_product(o: MultiAff) -> MultiAff = isl_multi_aff_range_product;
        fn flat_range_product(o: MultiAff) -> MultiAff = isl_multi_aff_flat_range_product;
        fn set_tuple_id(ty: DimType, id: Id) -> MultiAff = isl_multi_aff_set_tuple_id;
    }
}

isl_methods! { PwMultiAff
    keep {
        fn dim(ty: DimType) -> u32 = isl_pw_multi_aff_dim;
        fn space() -> Space = isl_pw_multi_aff_get_space;
        fn at(pos: i32) -> PwAff = isl_pw_multi_aff_get_at;
        fn n_piece() -> u32 = isl_pw_multi_aff_n_piece;
    }
    take {
        fn domain() -> Set = isl_pw_multi_aff_domain;
        fn gist(o: Set) -> PwMultiAff = isl_pw_multi_aff_gist;
        fn intersect_domain(o: Set) -> PwMultiAff = isl_pw_multi_aff_intersect_domain;
        fn pullback_multi_aff(o: MultiAff) -> PwMultiAff = isl_pw_multi_aff_pullback_multi_aff;
        fn pullback_pw_multi_aff(o: PwMultiAff) -> PwMultiAff = isl_pw_multi_aff_pullback_pw_multi_aff;
        fn flat_range_product(o: PwMultiAff) -> PwMultiAff = isl_pw_multi_aff_flat_range_product;
        fn set_tuple_id(ty: DimType, id: Id) -> PwMultiAff = isl_pw_multi_aff_set_tuple_id;
        fn align_params(s: Space) -> PwMultiAff = isl_pw_multi_aff_align_params;
    }
}

isl_methods! { MultiPwAff
    keep {
        fn dim(ty: DimType) -> u32 = isl_multi_pw_aff_dim;
        fn size() -> u32 = isl_multi_pw_aff_size;
        fn at(pos: i32) -> PwAff = isl_multi_pw_aff_get_at;
        fn space() -> Space = isl_multi_pw_aff_get_space;
    }
    take {
        fn set_at(pos: i32, a: PwAff) -> MultiPwAff = isl_multi_pw_aff_set_at;
        fn domain() -> Set = isl_multi_pw_aff_domain;
        fn gist(o: Set) -> MultiPwAff = isl_multi_pw_aff_gist;
        fn set_tuple_id(ty: DimType, id: Id) -> MultiPwAff = isl_multi_pw_aff_set_tuple_id;
        fn pullback_multi_aff(o: MultiAff) -> MultiPwAff = isl_multi_pw_aff_pullback_multi_aff;
        fn flat_range_product(o: MultiPwAff) -> MultiPwAff = isl_multi_pw_aff_flat_range_product;
    }
}

isl_methods! { UnionPwAff
    keep {
        fn space() -> Space = isl_union_pw_aff_get_space;
        fn n_pw_aff() -> u32 = isl_union_pw_aff_n_pw_aff;
        fn extract_pw_aff(s: Space) -> PwAff = isl_union_pw_aff_extract_pw_aff;
    }
    take {
        fn add(o: UnionPwAff) -> UnionPwAff = isl_union_pw_aff_add;
        fn sub(o: UnionPwAff) -> UnionPwAff = isl_union_pw_aff_sub;
        fn union_add(o: UnionPwAff) -> UnionPwAff = isl_union_pw_aff_union_add;
        fn scale(v: Val) -> UnionPwAff = isl_union_pw_aff_scale_val;
        fn scale_down(v: Val) -> UnionPwAff = isl_union_pw_aff_scale_down_val;
        fn modulo(v: Val) -> UnionPwAff = isl_union_pw_aff_mod_val;
        fn floor() -> UnionPwAff = isl_union_pw_aff_floor;
        fn neg() -> UnionPwAff = isl_union_pw_aff_neg;
        fn domain() -> UnionSet = isl_union_pw_aff_domain;
        fn intersect_domain(o: UnionSet) -> UnionPwAff = isl_union_pw_aff_intersect_domain_union_set;
        fn zero_set() -> UnionSet = isl_union_pw_aff_zero_union_set;
        fn align_params(s: Space) -> UnionPwAff = isl_union_pw_aff_align_params;
    }
}

isl_methods! { UnionPwMultiAff
    keep {
        fn space() -> Space = isl_union_pw_multi_aff_get_space;
    }
    take {
        fn domain() -> UnionSet = isl_union_pw_multi_aff_domain;
        fn union_add(o: UnionPwMultiAff) -> UnionPwMultiAff = isl_union_pw_multi_aff_union_add;
        fn flat_range_product(o: UnionPwMultiAff) -> UnionPwMultiAff = isl_union_pw_multi_aff_flat_range_product;
        fn intersect_domain(o: UnionSet) -> UnionPwMultiAff = isl_union_pw_multi_aff_intersect_domain_union_set;
    }
}

isl_methods! { MultiUnionPwAff
    keep {
        fn dim(ty: DimType) -> u32 = isl_multi_union_pw_aff_dim;
        fn size() -> u32 = isl_multi_union_pw_aff_size;
        fn at(pos: i32) -> UnionPwAff = isl_multi_union_pw_aff_get_at;
        fn space() -> Space = isl_multi_union_pw_aff_get_space;
    }
    take {
        fn set_at(pos: i32, a: UnionPwAff) -> MultiUnionPwAff = isl_multi_union_pw_aff_set_at;
        fn domain() -> UnionSet = isl_multi_union_pw_aff_domain;
        fn intersect_domain(o: UnionSet) -> MultiUnionPwAff = isl_multi_union_pw_aff_intersect_domain;
        fn union_add(o: MultiUnionPwAff) -> MultiUnionPwAff = isl_multi_union_pw_aff_union_add;
        fn flat_range_product(o: MultiUnionPwAff) -> MultiUnionPwAff = isl_multi_union_pw_aff_flat_range_product;
        fn range_product(o: MultiUnionPwAff) -> MultiUnionPwAff = isl_multi_union_pw_aff_range_product;
        fn drop_dims(ty: DimType, first: u32, n: u32) -> MultiUnionPwAff = isl_multi_union_pw_aff_drop_dims;
        fn scale(v: MultiVal) -> MultiUnionPwAff = isl_multi_union_pw_aff_scale_multi_val;
        fn scale_down(v: MultiVal) -> MultiUnionPwAff = isl_multi_union_pw_aff_scale_down_multi_val;
        fn modulo(v: MultiVal) -> MultiUnionPwAff = isl_multi_union_pw_aff_mod_multi_val;
        fn floor() -> MultiUnionPwAff = isl_multi_union_pw_aff_floor;
        fn set_tuple_id(ty: DimType, id: Id) -> MultiUnionPwAff = isl_multi_union_pw_aff_set_tuple_id;
        fn reset_tuple_id(ty: DimType) -> MultiUnionPwAff = isl_multi_union_pw_aff_reset_tuple_id;
        fn gist(o: UnionSet) -> MultiUnionPwAff = isl_multi_union_pw_aff_gist;
        fn zero_set() -> UnionSet = isl_multi_union_pw_aff_zero_union_set;
        fn align_params(s: Space) -> MultiUnionPwAff = isl_multi_union_pw_aff_align_params;
    }
}

isl_simplifications! {
    PwAff::coalesce = isl_pw_aff_coalesce;
    PwMultiAff::coalesce = isl_pw_multi_aff_coalesce;
    UnionPwAff::coalesce = isl_union_pw_aff_coalesce;
}

//! Values, identifiers and spaces.

use crate::context::{Context, RawCtx, Result};
use crate::ffi::{Arg, Ret, c_string};
use std::ffi::{c_char, c_int, c_long, c_void};

/// A kind of dimension of a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum DimType {
    Cst = 0,
    Param = 1,
    In = 2,
    /// The output dimensions of a map and the dimensions of a set.
    Out = 3,
    Div = 4,
    All = 5,
}

impl DimType {
    #[allow(non_upper_case_globals)]
    pub const Set: DimType = DimType::Out;
}

impl Arg for DimType {
    type Raw = c_int;
    fn into_raw(self) -> c_int {
        self as c_int
    }
}

isl_types! {
    /// An exact rational, an infinity, or NaN.
    Val = isl_val_copy, isl_val_free;
    /// A vector of values in a space.
    MultiVal = isl_multi_val_copy, isl_multi_val_free;
    /// An interned name.
    Id = isl_id_copy, isl_id_free;
    /// Names and numbers of dimensions.
    Space = isl_space_copy, isl_space_free;
    /// A space with existentially quantified integer divisions.
    LocalSpace = isl_local_space_copy, isl_local_space_free;
}

isl_text! {
    Val = isl_val_read_from_str, isl_val_to_str;
    MultiVal = isl_multi_val_read_from_str, isl_multi_val_to_str;
}
isl_display! {
    Id = isl_id_to_str;
    Space = isl_space_to_str;
}

isl_methods! { Val
    keep {
        fn num_si() -> i64 = isl_val_get_num_si;
        fn den_si() -> i64 = isl_val_get_den_si;
        fn is_int() -> bool = isl_val_is_int;
        fn is_zero() -> bool = isl_val_is_zero;
        fn is_one() -> bool = isl_val_is_one;
        fn is_neg() -> bool = isl_val_is_neg;
        fn is_pos() -> bool = isl_val_is_pos;
        fn is_nonneg() -> bool = isl_val_is_nonneg;
        fn is_nan() -> bool = isl_val_is_nan;
        fn is_infty() -> bool = isl_val_is_infty;
        fn is_neginfty() -> bool = isl_val_is_neginfty;
        fn sgn() -> i32 = isl_val_sgn;
        fn eq(o: &Val) -> bool = isl_val_eq;
        fn lt(o: &Val) -> bool = isl_val_lt;
        fn le(o: &Val) -> bool = isl_val_le;
        fn cmp_si(o: i64) -> i32 = isl_val_cmp_si;
        fn is_divisible_by(o: &Val) -> bool = isl_val_is_divisible_by;
    }
    take {
        fn add(o: Val) -> Val = isl_val_add;
        fn sub(o: Val) -> Val = isl_val_sub;
        fn mul(o: Val) -> Val = isl_val_mul;
        fn div(o: Val) -> Val = isl_val_div;
        fn modulo(o: Val) -> Val = isl_val_mod;
        fn gcd(o: Val) -> Val = isl_val_gcd;
        fn min(o: Val) -> Val = isl_val_min;
        fn max(o: Val) -> Val = isl_val_max;
        fn neg() -> Val = isl_val_neg;
        fn abs() -> Val = isl_val_abs;
        fn floor() -> Val = isl_val_floor;
        fn ceil() -> Val = isl_val_ceil;
        fn pow2() -> Val = isl_val_pow2;
    }
}

impl Val {
    pub fn int(ctx: &Context, v: i64) -> Result<Val> {
        unsafe extern "C" {
            fn isl_val_int_from_si(ctx: *mut RawCtx, v: c_long) -> *mut c_void;
        }
        // SAFETY: live context.
        Val::from_raw(unsafe { isl_val_int_from_si(ctx.raw(), v) }, ctx)
    }

    /// The value as an `i64`, if it is an integer that fits.
    pub fn to_i64(&self) -> Option<i64> {
        if !self.is_int().ok()? {
            return None;
        }
        self.to_str().ok()?.parse().ok()
    }
}

isl_methods! { MultiVal
    keep {
        fn size() -> u32 = isl_multi_val_size;
        fn at(pos: i32) -> Val = isl_multi_val_get_at;
        fn space() -> Space = isl_multi_val_get_space;
    }
    take {
        fn set_at(pos: i32, v: Val) -> MultiVal = isl_multi_val_set_at;
    }
}

impl Id {
    /// The identifier named `name`; the same name gives the same identifier.
    pub fn new(ctx: &Context, name: &str) -> Result<Id> {
        unsafe extern "C" {
            fn isl_id_alloc(ctx: *mut RawCtx, name: *const c_char, user: *mut c_void) -> *mut c_void;
        }
        let name = c_string(name)?;
        // SAFETY: live context, NUL-terminated name, no user pointer.
        Id::from_raw(unsafe { isl_id_alloc(ctx.raw(), name.as_ptr(), std::ptr::null_mut()) }, ctx)
    }
}

isl_methods! { Id
    keep { fn get_name() -> Option<String> = isl_id_get_name; }
    take {}
}

impl Id {
    /// The name; empty for an identifier without one.
    pub fn name(&self) -> String {
        self.get_name().ok().flatten().unwrap_or_default()
    }
}

impl Space {
    /// A set space `[params] -> { [dims] }` with unnamed parameters.
    pub fn set_alloc(ctx: &Context, params: u32, dims: u32) -> Result<Space> {
        unsafe extern "C" {
            fn isl_space_set_alloc(ctx: *mut RawCtx, p: u32, d: u32) -> *mut c_void;
        }
        // SAFETY: live context.
        Space::from_raw(unsafe { isl_space_set_alloc(ctx.raw(), params, dims) }, ctx)
    }

    /// The parameter space with no parameters.
    pub fn unit(ctx: &Context) -> Result<Space> {
        unsafe extern "C" {
            fn isl_space_unit(ctx: *mut RawCtx) -> *mut c_void;
        }
        // SAFETY: live context.
        Space::from_raw(unsafe { isl_space_unit(ctx.raw()) }, ctx)
    }

    /// The parameter space with these parameters, in this order.
    pub fn params_named<'a>(ctx: &Context, names: impl IntoIterator<Item = &'a str>) -> Result<Space> {
        let mut space = Space::unit(ctx)?;
        for n in names {
            space = space.add_param_id(Id::new(ctx, n)?)?;
        }
        Ok(space)
    }

    pub fn set_tuple_name(self, ty: DimType, name: &str) -> Result<Space> {
        let id = Id::new(self.context(), name)?;
        self.set_tuple_id(ty, id)
    }

    /// The index of the named dimension.
    pub fn find_dim_by_name(&self, ty: DimType, name: &str) -> Result<Option<u32>> {
        let id = Id::new(self.context(), name)?;
        let at = self.find_dim_by_id(ty, &id)?;
        Ok(u32::try_from(at).ok())
    }
}

isl_methods! { Space
    keep {
        fn dim(ty: DimType) -> u32 = isl_space_dim;
        fn is_equal(o: &Space) -> bool = isl_space_is_equal;
        fn has_equal_tuples(o: &Space) -> bool = isl_space_has_equal_tuples;
        fn is_params() -> bool = isl_space_is_params;
        fn is_set() -> bool = isl_space_is_set;
        fn is_map() -> bool = isl_space_is_map;
        fn has_tuple_id(ty: DimType) -> bool = isl_space_has_tuple_id;
        fn tuple_id(ty: DimType) -> Id = isl_space_get_tuple_id;
        fn tuple_name(ty: DimType) -> Option<String> = isl_space_get_tuple_name;
        fn dim_id(ty: DimType, pos: u32) -> Id = isl_space_get_dim_id;
        fn has_dim_id(ty: DimType, pos: u32) -> bool = isl_space_has_dim_id;
        fn dim_name(ty: DimType, pos: u32) -> Option<String> = isl_space_get_dim_name;
        fn find_dim_by_id(ty: DimType, id: &Id) -> i32 = isl_space_find_dim_by_id;
        fn is_wrapping() -> bool = isl_space_is_wrapping;
    }
    take {
        fn params() -> Space = isl_space_params;
        fn domain() -> Space = isl_space_domain;
        fn range() -> Space = isl_space_range;
        fn wrap() -> Space = isl_space_wrap;
        fn unwrap() -> Space = isl_space_unwrap;
        fn reverse() -> Space = isl_space_reverse;
        fn join(o: Space) -> Space = isl_space_join;
        fn map_from_domain_and_range(o: Space) -> Space = isl_space_map_from_domain_and_range;
        fn map_from_set() -> Space = isl_space_map_from_set;
        fn set_from_params() -> Space = isl_space_set_from_params;
        fn from_domain() -> Space = isl_space_from_domain;
        fn from_range() -> Space = isl_space_from_range;
        fn add_dims(ty: DimType, n: u32) -> Space = isl_space_add_dims;
        fn drop_dims(ty: DimType, first: u32, n: u32) -> Space = isl_space_drop_dims;
        fn align_params(o: Space) -> Space = isl_space_align_params;
        fn add_param_id(id: Id) -> Space = isl_space_add_param_id;
        fn add_unnamed_tuple(dim: u32) -> Space = isl_space_add_unnamed_tuple_ui;
        fn add_named_tuple(id: Id, dim: u32) -> Space = isl_space_add_named_tuple_id_ui;
        fn set_tuple_id(ty: DimType, id: Id) -> Space = isl_space_set_tuple_id;
        fn reset_tuple_id(ty: DimType) -> Space = isl_space_reset_tuple_id;
        fn set_dim_id(ty: DimType, pos: u32, id: Id) -> Space = isl_space_set_dim_id;
        fn product(o: Space) -> Space = isl_space_product;
    }
}

isl_methods! { LocalSpace
    keep {
        fn dim(ty: DimType) -> u32 = isl_local_space_dim;
        fn space() -> Space = isl_local_space_get_space;
    }
    take {}
}

impl LocalSpace {
    /// A local space without divisions.
    pub fn from_space(space: Space) -> Result<LocalSpace> {
        unsafe extern "C" {
            fn isl_local_space_from_space(space: *mut c_void) -> *mut c_void;
        }
        let ctx = space.context().clone();
        // SAFETY: the space is handed over.
        LocalSpace::from_raw(unsafe { isl_local_space_from_space(space.into_raw()) }, &ctx)
    }
}

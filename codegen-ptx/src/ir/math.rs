//! Which functions a statement may call, and what they are on the device.
//!
//! Three groups. *Intrinsics* that every target of ours selects by itself. *Exact* functions of the C
//! library, whose result C and IEEE 754 define to the last bit: they become the intrinsic (`sqrt` is
//! `sqrt.rn`). *Library* functions (`exp`) have no exact definition; they come from libdevice or libclc and
//! may differ from the host's in the last bits.

use std::fmt::Write;

/// What a called function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callee {
    /// Says nothing that the device needs (`llvm.assume`, lifetimes, debug information).
    Ignored,
    /// A pure intrinsic.
    Intrinsic,
    /// A function of the C mathematical library.
    Math,
    Unknown,
}

/// Bases of intrinsics that the NVPTX back end selects exactly.
const NATIVE: &[&str] = &[
    "abs",
    "bitreverse",
    "bswap",
    "canonicalize",
    "ceil",
    "copysign",
    "ctlz",
    "ctpop",
    "cttz",
    "fabs",
    "floor",
    "fma",
    "fmuladd",
    "fptosi.sat",
    "fptoui.sat",
    "fshl",
    "fshr",
    "is.fpclass",
    "maximum",
    "maximumnum",
    "maxnum",
    "minimum",
    "minimumnum",
    "minnum",
    "nearbyint",
    "rint",
    "round",
    "roundeven",
    "sadd.sat",
    "sadd.with.overflow",
    "scmp",
    "smax",
    "sshl.sat",
    "smin",
    "smul.with.overflow",
    "sqrt",
    "ssub.sat",
    "ssub.with.overflow",
    "trunc",
    "uadd.sat",
    "uadd.with.overflow",
    "ucmp",
    "ushl.sat",
    "umax",
    "umin",
    "umul.with.overflow",
    "usub.sat",
    "usub.with.overflow",
];

/// Intrinsics that are calls of the mathematical library on the device: base and C name.
const LIBRARY: &[(&str, &str)] = &[
    ("acos", "acos"),
    ("asin", "asin"),
    ("atan", "atan"),
    ("atan2", "atan2"),
    ("cos", "cos"),
    ("cosh", "cosh"),
    ("exp", "exp"),
    ("exp10", "exp10"),
    ("exp2", "exp2"),
    ("ldexp", "ldexp"),
    ("log", "log"),
    ("log10", "log10"),
    ("log2", "log2"),
    ("pow", "pow"),
    ("powi", "powi"),
    ("sin", "sin"),
    ("sinh", "sinh"),
    ("tan", "tan"),
    ("tanh", "tanh"),
];

/// Functions of the C library that are exact: C name and intrinsic.
const EXACT: &[(&str, &str)] = &[
    ("sqrt", "sqrt"),
    ("fabs", "fabs"),
    ("floor", "floor"),
    ("ceil", "ceil"),
    ("trunc", "trunc"),
    ("rint", "rint"),
    ("nearbyint", "nearbyint"),
    ("round", "round"),
    ("roundeven", "roundeven"),
    ("fma", "fma"),
    ("fmin", "minnum"),
    ("fmax", "maxnum"),
    ("copysign", "copysign"),
];

/// Functions of the C library, and bases of intrinsics, that give the nearest integer as an integer, and the
/// intrinsic that gives it as a number.
const NEAREST: &[(&str, &str)] =
    &[("llrint", "rint"), ("llround", "round"), ("lrint", "rint"), ("lround", "round")];

/// The other functions of the C library: name and kinds of arguments (`f` the function's own type, `i` an
/// `int`).
const LIBM: &[(&str, &str)] = &[
    ("acos", "f"),
    ("acosh", "f"),
    ("asin", "f"),
    ("asinh", "f"),
    ("atan", "f"),
    ("atan2", "ff"),
    ("atanh", "f"),
    ("cbrt", "f"),
    ("cos", "f"),
    ("cosh", "f"),
    ("erf", "f"),
    ("erfc", "f"),
    ("exp", "f"),
    ("exp10", "f"),
    ("exp2", "f"),
    ("expm1", "f"),
    ("fdim", "ff"),
    ("fmod", "ff"),
    ("hypot", "ff"),
    ("ldexp", "fi"),
    ("log", "f"),
    ("log10", "f"),
    ("log1p", "f"),
    ("log2", "f"),
    ("pow", "ff"),
    ("powi", "fi"),
    ("remainder", "ff"),
    ("sin", "f"),
    ("sinh", "f"),
    ("tan", "f"),
    ("tanh", "f"),
    ("tgamma", "f"),
];

pub(crate) fn classify(name: &str) -> Callee {
    let Some(intrinsic) = name.strip_prefix("llvm.") else {
        let nearest = split(name).any(|(base, _)| nearest_integer(base).is_some());
        return if nearest || library_function(name).is_some() || exact_function(name).is_some() {
            Callee::Math
        } else {
            Callee::Unknown
        };
    };
    const IGNORED: &[&str] = &["assume", "lifetime.", "dbg.", "experimental.noalias.scope.decl", "donothing"];
    if IGNORED.iter().any(|p| intrinsic.starts_with(p)) {
        return Callee::Ignored;
    }
    let known = NATIVE.iter().any(|b| has_base(intrinsic, b))
        || NEAREST.iter().any(|(b, _)| has_base(intrinsic, b))
        || library_intrinsic(name).is_some();
    if known { Callee::Intrinsic } else { Callee::Unknown }
}

/// For a function of the family of `lround`, the base of the intrinsic that rounds the same way: `rint` for
/// `lrint`.
pub(crate) fn nearest_integer(base: &str) -> Option<&'static str> {
    NEAREST.iter().find(|(n, _)| *n == base).map(|(_, rounds)| *rounds)
}

/// The intrinsic that rounds as the function or intrinsic `name` does, if that gives an integer:
/// `llvm.round.f32` for `lroundf` and `llvm.lround.i64.f32`.
pub(crate) fn rounding(name: &str) -> Option<String> {
    let (base, ty) = match name.strip_prefix("llvm.") {
        Some(intrinsic) => {
            let (base, types) = intrinsic.split_once('.')?;
            (nearest_integer(base)?, types.rsplit('.').next()?)
        }
        None => split(name).find_map(|(n, precision)| {
            let ty = if precision == Precision::Single { "f32" } else { "f64" };
            Some((nearest_integer(n)?, ty))
        })?,
    };
    Some(format!("llvm.{base}.{ty}"))
}

/// Whether an intrinsic is one instruction of the device, or a few: of the native ones, all but roots.
pub(crate) fn is_instruction(name: &str) -> bool {
    let native = |intrinsic: &str| NATIVE.iter().any(|b| has_base(intrinsic, b) && *b != "sqrt");
    rounding(name).is_some() || name.strip_prefix("llvm.").is_some_and(native)
}

/// Whether `intrinsic` is `base` with a list of scalar types (`sqrt.f64`, not `sqrt.v2f64` nor `sqrtx`).
fn has_base(intrinsic: &str, base: &str) -> bool {
    intrinsic.strip_prefix(base).and_then(|r| r.strip_prefix('.')).is_some_and(|types| {
        types.split('.').all(|t| t == "bf16" || (t.starts_with(['i', 'f']) && t[1..].parse::<u32>().is_ok()))
    })
}

/// The precision of a function: `float` or `double`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    Single,
    Double,
}

/// A function of the mathematical library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LibraryFunction {
    pub name: &'static str,
    args: &'static str,
    pub precision: Precision,
}

/// The functions that the C function `name` may be: itself in double precision, or with a suffix in single
/// precision.
pub(crate) fn split(name: &str) -> impl Iterator<Item = (&str, Precision)> {
    let single = name.strip_suffix('f').map(|n| (n, Precision::Single));
    std::iter::once((name, Precision::Double)).chain(single)
}

/// The library function that the C function `name` is (`expf`), unless it is exact.
pub(crate) fn library_function(name: &str) -> Option<LibraryFunction> {
    split(name).find_map(|(base, precision)| find(base, precision).filter(|f| f.name != "powi"))
}

fn find(base: &str, precision: Precision) -> Option<LibraryFunction> {
    let (name, args) = LIBM.iter().find(|(n, _)| *n == base)?;
    Some(LibraryFunction { name, args, precision })
}

/// The library function that the intrinsic `name` (`llvm.exp.f32`) needs on the device.
pub(crate) fn library_intrinsic(name: &str) -> Option<LibraryFunction> {
    let (base, types) = name.strip_prefix("llvm.")?.split_once('.')?;
    let precision = match types.split('.').next()? {
        "f32" => Precision::Single,
        "f64" => Precision::Double,
        _ => return None,
    };
    let (_, c_name) = LIBRARY.iter().find(|(b, _)| *b == base)?;
    find(c_name, precision)
}

/// The intrinsic that the exact C function `name` is: `sqrtf` gives `llvm.sqrt.f32`.
pub(crate) fn exact_function(name: &str) -> Option<String> {
    split(name).find_map(|(base, precision)| {
        let (_, intrinsic) = EXACT.iter().find(|(n, _)| *n == base)?;
        let ty = if precision == Precision::Single { "f32" } else { "f64" };
        Some(format!("llvm.{intrinsic}.{ty}"))
    })
}

impl LibraryFunction {
    /// The remainder of C, which `frem` is.
    pub fn fmod(precision: Precision) -> LibraryFunction {
        LibraryFunction { name: "fmod", args: "ff", precision }
    }

    /// The name in NVIDIA's libdevice.
    pub fn libdevice(&self) -> String {
        let suffix = if self.precision == Precision::Single { "f" } else { "" };
        format!("__nv_{}{suffix}", self.name)
    }

    /// The name in libclc: OpenCL's, in the Itanium mangling.
    pub fn libclc(&self) -> String {
        let name = if self.name == "powi" { "pown" } else { self.name };
        let mut s = format!("_Z{}{name}", name.len());
        for a in self.args.chars() {
            let c = match (a, self.precision) {
                ('i', _) => 'i',
                (_, Precision::Single) => 'f',
                (_, Precision::Double) => 'd',
            };
            // Writing to a string cannot fail.
            let _ = s.write_char(c);
        }
        s
    }
}

//! For which arguments functions of one argument set `errno`: what ISO C, annex F, and the GNU C library say,
//! as numbers.
//!
//! **Invariants.** Wherever the library sets `errno`, an [`End`] holds. One that says [`Outcome::Range`]
//! holds only where it surely is `ERANGE`. In between, where the rounding of a result decides, versions of
//! the library may differ, or the standard leaves it open (a result below the normal numbers), the outcome is
//! [`Outcome::Perhaps`], and where it may be another number (`EDOM`) [`Outcome::Again`]: the program's own
//! call finds out.
//!
//! **Example.** `exp` underflows to zero below about -745.13, and overflows above about 709.78.

use crate::ir::math::Precision;

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It sets `errno` to `ERANGE`, and its result is that of the device.
    Range,
    /// It sets `errno` to `ERANGE` or leaves it alone.
    Perhaps,
    /// It may set `errno` to anything.
    Again,
}

/// An end of the arguments that leave `errno` alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    /// In double and in single precision.
    limit: [f64; 2],
    /// Whether the limit itself is beyond it.
    pub or_equal: bool,
    pub outcome: Outcome,
}

impl End {
    pub fn limit(&self, precision: Precision) -> f64 {
        self.limit[usize::from(precision == Precision::Single)]
    }
}

/// A function of one argument.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rule {
    /// Of the lower end, the outermost first: the first one that the argument is beyond counts.
    pub below: &'static [End],
    /// Of the upper end.
    pub above: &'static [End],
    /// The ends are those of the argument's absolute value.
    pub magnitude: bool,
    /// Whether the ends count for infinite arguments, too.
    pub infinite: bool,
    /// Whether the result for a subnormal argument is subnormal: versions of the library may set `errno`
    /// there.
    pub tiny: bool,
}

const fn range(double: f64, single: f64) -> End {
    End { limit: [double, single], or_equal: false, outcome: Outcome::Range }
}

const fn again(double: f64, single: f64) -> End {
    End { limit: [double, single], or_equal: false, outcome: Outcome::Again }
}

const fn perhaps(double: f64, single: f64) -> End {
    End { limit: [double, single], or_equal: false, outcome: Outcome::Perhaps }
}

const fn from(end: End) -> End {
    End { or_equal: true, ..end }
}

const NONE: Rule = Rule { below: &[], above: &[], magnitude: false, infinite: false, tiny: false };
const TINY: Rule = Rule { tiny: true, ..NONE };
/// Of infinities the domain error; all finite arguments are fine.
const FINITE: Rule =
    Rule { magnitude: true, infinite: true, above: &[from(again(f64::INFINITY, f64::INFINITY))], ..NONE };
const UNIT: Rule = Rule { magnitude: true, infinite: true, above: &[again(1.0, 1.0)], ..NONE };
const LOG: Rule = Rule { infinite: true, below: &[again(0.0, 0.0), from(range(0.0, 0.0))], ..NONE };
const HYPERBOLIC: Rule =
    Rule { magnitude: true, above: &[range(710.48, 89.42), perhaps(710.47, 89.41)], ..NONE };

/// The first float that `expf` and `expm1f` overflow behind (`log(2^128)`), and the one below which the
/// library says that `expf` underflows.
const OVERFLOW: f64 = 88.72283172607422;
const UNDERFLOW: f64 = -103.27892303466797;

const RULES: &[(&str, Rule)] = &[
    ("acos", UNIT),
    ("acosh", Rule { infinite: true, below: &[again(1.0, 1.0)], ..NONE }),
    ("asin", Rule { tiny: true, ..UNIT }),
    ("asinh", TINY),
    ("atan", TINY),
    (
        "atanh",
        Rule {
            magnitude: true,
            infinite: true,
            above: &[again(1.0, 1.0), from(range(1.0, 1.0))],
            tiny: true,
            ..NONE
        },
    ),
    ("cbrt", NONE),
    ("cos", FINITE),
    ("cosh", HYPERBOLIC),
    ("erf", TINY),
    ("erfc", Rule { above: &[range(28.0, 10.1), perhaps(27.2, 10.0)], ..NONE }),
    (
        "exp",
        Rule {
            below: &[range(-745.14, UNDERFLOW), perhaps(-745.13, UNDERFLOW)],
            above: &[range(709.79, OVERFLOW), perhaps(709.78, OVERFLOW)],
            ..NONE
        },
    ),
    (
        "exp10",
        Rule {
            below: &[range(-323.7, -45.2), perhaps(-323.6, -44.8)],
            above: &[range(308.26, 38.54), perhaps(308.25, 38.53)],
            ..NONE
        },
    ),
    (
        "exp2",
        Rule {
            below: &[range(-1075.1, -149.0), perhaps(-1074.9, -149.0)],
            above: &[from(range(1024.0, 128.0))],
            ..NONE
        },
    ),
    ("expm1", Rule { above: &[range(709.79, OVERFLOW), perhaps(709.78, OVERFLOW)], tiny: true, ..NONE }),
    ("log", LOG),
    ("log10", LOG),
    (
        "log1p",
        Rule { infinite: true, below: &[again(-1.0, -1.0), from(range(-1.0, -1.0))], tiny: true, ..NONE },
    ),
    ("log2", LOG),
    ("sin", Rule { tiny: true, ..FINITE }),
    ("sinh", Rule { tiny: true, ..HYPERBOLIC }),
    ("sqrt", Rule { infinite: true, below: &[again(0.0, 0.0)], ..NONE }),
    ("tan", Rule { tiny: true, ..FINITE }),
    ("tanh", TINY),
];

/// The rule for the C function without its suffix.
pub(crate) fn of_one_argument(base: &str) -> Option<Rule> {
    RULES.iter().find(|(name, _)| *name == base).map(|(_, rule)| *rule)
}

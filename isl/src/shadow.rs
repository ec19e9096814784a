//! Projections by elimination of variables, after Fourier and Motzkin.
//!
//! **Problem.** isl's projections are exact: a dimension that it projects out stays as an existentially
//! quantified variable unless that is trivial to avoid, and finding an extreme element of such a set is
//! parametric integer programming over all of them (Feautrier, "Parametric integer programming", RAIRO 1988).
//! Of the box around an access in a nest of six loops with clipped borders that takes a hundred times as long
//! as of its shadow, the constraints on the remaining dimensions that follow from the others in rational
//! numbers.
//!
//! **Invariant.** [`Set::shadow`] holds the projection, and is it where the variables are rational.
//! [`Set::range_of_last`] is the projection: a variable `x` is eliminated only where it has an equality
//! `x = ...`, or one of all its lower or of all its upper bounds is a whole number (coefficients of one):
//! then some whole `x` is between these whenever a rational one is (Pugh, "The Omega test", SC 1991).
//!
//! **Example.** `{ [i, k, a] : a = i + k - p, 0 <= i < n, 0 <= k < 3 }` without `k` and `i` is
//! `{ [a] : -p <= a <= n + 1 - p, n > 0 }`.

use crate::context::Result;
use crate::relations::{BasicSet, Set};
use crate::spaces::DimType;

impl Set {
    /// The values of one dimension, `{ [x] }`, or more where the others have to be whole for that.
    pub fn shadow(&self, dim: u32) -> Result<Set> {
        let behind = self.dim(DimType::Set)?.saturating_sub(dim + 1);
        let only = |set: Set| -> Result<Set> {
            set.project_out(DimType::Set, dim + 1, behind)?.project_out(DimType::Set, 0, dim)
        };
        let shadow =
            self.clone().eliminate(DimType::Set, dim + 1, behind)?.eliminate(DimType::Set, 0, dim)?;
        let shadow = only(shadow)?.remove_divs()?.remove_redundancies()?;
        let set = only(self.clone())?;
        // A bound by a quotient is lost with it.
        let bounded = |s: &Set| -> Result<(bool, bool)> {
            Ok((s.dim_has_lower_bound(DimType::Set, 0)?, s.dim_has_upper_bound(DimType::Set, 0)?))
        };
        Ok(if bounded(&set)? == bounded(&shadow)? { shadow } else { set })
    }

    /// The set without its first `n` dimensions, and without quantified variables; `None` if that takes more
    /// than eliminations that are exact.
    pub fn range_of_last(&self, n: u32) -> Result<Option<Set>> {
        let mut whole: Option<Set> = None;
        for part in self.basic_sets()? {
            let Some(part) = eliminated(part, n)? else { return Ok(None) };
            whole = Some(match whole {
                None => part,
                Some(all) => all.union(part)?,
            });
        }
        match whole {
            Some(all) => Ok(Some(all)),
            None => Ok(Some(self.clone().project_out(DimType::Set, 0, n)?)),
        }
    }
}

/// A polyhedron without its first `n` dimensions. Dimensions are eliminated before they are projected out:
/// isl makes definitions of quotients of some bounds of those that it projects out.
fn eliminated(part: BasicSet, n: u32) -> Result<Option<Set>> {
    // (The definitions of quotients are not among the constraints.)
    if part.dim(DimType::Div)? > 0 {
        return Ok(None);
    }
    let mut part = part;
    for left in (1..=n).rev() {
        let mut next = None;
        for at in 0..left {
            if is_whole(&part, at)? {
                next = Some(at);
                break;
            }
        }
        let Some(at) = next else { return Ok(None) };
        let set = Set::from_basic_set(part)?.eliminate(DimType::Set, at, 1)?;
        let mut parts = set.project_out(DimType::Set, at, 1)?.remove_redundancies()?.basic_sets()?;
        let (Some(only), true) = (parts.pop(), parts.is_empty()) else { return Ok(None) };
        part = only;
    }
    Ok(Some(Set::from_basic_set(part)?))
}

/// Whether a dimension has a whole value whenever it has a rational one.
fn is_whole(part: &BasicSet, at: u32) -> Result<bool> {
    let (mut lower, mut upper) = (true, true);
    for c in part.constraints()? {
        let factor = c.coefficient(DimType::Set, at as i32)?.to_i64();
        match factor {
            Some(0) => {}
            Some(1 | -1) if c.is_equality()? => return Ok(true),
            Some(f) if !c.is_equality()? => {
                lower &= f < 0 || f == 1;
                upper &= f > 0 || f == -1;
            }
            _ => return Ok(false),
        }
    }
    Ok(lower || upper)
}

#[cfg(test)]
mod tests {
    use crate::{Context, Set};

    #[test]
    fn exact_where_it_is_something() {
        let ctx = Context::new();
        // (a set, the dimensions that go, what is left)
        for (text, n, left) in [
            (
                "[n, p] -> { [i, k, a] : a = i + k - p and 0 <= i < n and 0 <= k < 3 }",
                2,
                Some("[n, p] -> { [a] : -p <= a <= n + 1 - p and n > 0 }"),
            ),
            // One of two whole bounds on each side is enough.
            ("[n] -> { [i, a] : 2a <= i <= n and a >= 0 }", 1, Some("[n] -> { [a] : 0 <= 2a <= n }")),
            ("[n] -> { [i, a] : 2a <= 3i and i <= n and a >= 0 }", 1, Some("[n] -> { [a] : 0 <= 2a <= 3n }")),
            // Even numbers, and thirds between halves.
            ("[n] -> { [i, a] : a = 2i and 0 <= i < n }", 1, None),
            ("[n] -> { [i, a] : 2a <= 3i and 2i <= n + a and a >= 0 }", 1, None),
            ("[n] -> { [i, a] : a = i and exists e : i = 2e }", 1, None),
            (
                "[n] -> { [i, a] : a = i and 0 <= i < n or a = i + 1 and n < i < 5 }",
                1,
                Some("[n] -> { [a] : 0 <= a < n or n < a - 1 < 5 }"),
            ),
            ("{ [i, a] : a = i and a > i }", 1, Some("{ [a] : false }")),
            (
                "[n] -> { [i, a] : a = i and 0 <= i <= floor(n / 2) }",
                1,
                Some("[n] -> { [a] : 0 <= 2a <= n }"),
            ),
        ] {
            let set = Set::read(&ctx, text).unwrap();
            let found = set.range_of_last(n).unwrap();
            match left {
                Some(left) => {
                    let (found, left) = (found.expect(text), Set::read(&ctx, left).unwrap());
                    assert!(found.is_equal(&left).unwrap(), "{text}: {found}");
                }
                None => assert!(found.is_none(), "{text}"),
            }
        }
    }

    #[test]
    fn shadows_hold_the_values() {
        let ctx = Context::new();
        let set = Set::read(&ctx, "[n] -> { [i, a] : a = 2i and 0 <= i < n }").unwrap();
        let shadow = Set::read(&ctx, "[n] -> { [a] : 0 <= a <= 2n - 2 }").unwrap();
        assert!(set.shadow(1).unwrap().is_equal(&shadow).unwrap());
        let half = Set::read(&ctx, "[n] -> { [i] : 0 <= i <= floor(n / 2) }").unwrap();
        assert!(half.shadow(0).unwrap().dim_max(0).is_ok());
    }
}

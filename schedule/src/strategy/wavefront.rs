//! Wavefronts (Lamport, "The parallel execution of DO loops", CACM 1974): where no loop is parallel, the
//! hyperplanes of equal sum of a permutable band's members are.
//!
//! **Argument.** Let every dependence have non-negative distances `d0 .. dp` along the band's members and let
//! `f = m0 + … + mp` run outside. A dependence with distance 0 along `f` has `d0 = … = dp = 0`: with `f` on
//! the host, all members are coincident. A chain of loops is first made permutable by skewing each member
//! with small multiples of the ones outside it. Skewing is triangular with ones on the diagonal, so distance
//! zero along all skewed members is distance zero along all members of the chain: those, without skew, are
//! what is mapped. The last one has factor 1 in `f`, so `f` and the others determine it.
//!
//! Example: Gauss-Seidel's `(t, i, j)` becomes `(t, t + i, 2t + i + j)`, hence `f = 4t + 2i + j`, with `t`
//! and `i` mapped.

use super::node::nonnegative;
use crate::Result;
use pollyrs_isl as isl;

/// Factors tried for skewing, in order of their sum.
const MAX_FACTOR: i64 = 2;

/// A wavefront schedule of the outermost members of a chain.
pub struct Wavefront {
    /// The sum, sequential.
    pub front: isl::UnionPwAff,
    /// How many members of the chain it replaces. All but the last of them are coincident beneath it, and
    /// determine the last.
    pub replaces: usize,
}

/// The wavefront of up to three outermost members, if they can be made permutable.
pub fn wavefront(chain: &[isl::UnionPwAff], deps: &isl::UnionMap) -> Result<Option<Wavefront>> {
    let mut skewed: Vec<isl::UnionPwAff> = Vec::new();
    for m in chain.iter().take(3) {
        match skew(m, &skewed, deps)? {
            Some(s) => skewed.push(s),
            None => break,
        }
    }
    if skewed.len() < 2 {
        return Ok(None);
    }
    let mut front = skewed[0].clone();
    for m in &skewed[1..] {
        front = front.add(m.clone())?;
    }
    Ok(Some(Wavefront { front, replaces: skewed.len() }))
}

/// `m` plus small multiples of the (skewed) outer members such that no dependence goes backwards.
fn skew(
    m: &isl::UnionPwAff,
    outer: &[isl::UnionPwAff],
    deps: &isl::UnionMap,
) -> Result<Option<isl::UnionPwAff>> {
    let mut factors: Vec<Vec<i64>> = vec![vec![]];
    for _ in outer {
        factors =
            factors.iter().flat_map(|f| (0..=MAX_FACTOR).map(|x| [f.as_slice(), &[x]].concat())).collect();
    }
    factors.sort_by_key(|f| (f.iter().sum::<i64>(), f.clone()));
    for f in factors {
        let mut candidate = m.clone();
        for (k, o) in f.iter().zip(outer) {
            if *k != 0 {
                candidate = candidate.add(o.clone().scale(isl::Val::int(m.context(), *k)?)?)?;
            }
        }
        if nonnegative(deps, &candidate)? {
            return Ok(Some(candidate));
        }
    }
    Ok(None)
}

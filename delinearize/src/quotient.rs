//! Subscripts by division (Section 13.3, step 3): the offset divided by the innermost size leaves the
//! innermost subscript as remainder; the quotient is divided by the next size, and so on.

use crate::poly::{Polynomial, Symbol, gcd};
use crate::shapes::Sizes;

/// Subscripts of all accesses in the shape `sizes`, `None` where one is not affine in 64 bits. With `adjust`,
/// the sizes may be multiplied by common divisors of the subscripts.
pub(crate) fn divide(
    offsets: &[Polynomial],
    sizes: &Sizes,
    adjust: bool,
) -> Option<(Sizes, Vec<Vec<Polynomial>>)> {
    // The symbol in which a size is divided by matters for subscripts that contain other symbols of it.
    let variants = sizes.iter().map(|s| s.symbols().len()).max().unwrap_or(1).max(1);
    let mut found = (0..variants).find_map(|v| {
        let all: Option<Vec<_>> = offsets.iter().map(|o| divide_one(o, sizes, v)).collect();
        Some((sizes.clone(), all?))
    })?;
    if adjust {
        scale_sizes(&mut found.0, &mut found.1);
    }
    let fits = |p: &Polynomial| p.terms().all(|(_, c)| i64::try_from(c).is_ok());
    (found.0.iter().all(fits) && found.1.iter().flatten().all(fits)).then_some(found)
}

fn divide_one(offset: &Polynomial, sizes: &Sizes, variant: usize) -> Option<Vec<Polynomial>> {
    let mut rest = offset.clone();
    let mut inner = Vec::new();
    for size in sizes.iter().rev() {
        let mut symbols: Vec<Symbol> = size.symbols().into_iter().collect();
        let coefficient = |s: &Symbol| size.powers_of(*s).get(&1).map_or(0, |c| c.content());
        symbols.sort_by_key(coefficient);
        let (q, r) = match symbols.get(variant % symbols.len().max(1)) {
            Some(x) => rest.div_rem_in(size, *x)?,
            None => rest.div_rem(size)?,
        };
        if !r.is_affine() {
            return None;
        }
        inner.push(r);
        rest = q;
    }
    inner.push(rest);
    inner.reverse();
    inner[0].is_affine().then_some(inner)
}

/// Sizes `b*P` (Section 13.3.3): where all subscripts of dimension `k` are multiples of `g`, they are divided
/// by it, the size of `k + 1` is multiplied by it, and (what the paper leaves out) the size of `k` is divided
/// by it, so `g` must divide that too. It weakens the condition on `k + 1` and keeps the one on `k`.
fn scale_sizes(sizes: &mut Sizes, subscripts: &mut [Vec<Polynomial>]) {
    for k in 0..sizes.len() {
        let mut g = subscripts.iter().fold(0, |g, f| gcd(g, f[k].content()));
        if k > 0 {
            g = gcd(g, sizes[k - 1].content());
        }
        if g <= 1 {
            continue;
        }
        for f in subscripts.iter_mut() {
            if let Some(q) = f[k].div_exact_constant(g) {
                f[k] = q;
            }
        }
        if k > 0
            && let Some(q) = sizes[k - 1].div_exact_constant(g)
        {
            sizes[k - 1] = q;
        }
        sizes[k] = sizes[k].scale(g);
    }
}

//! Guesses of array shapes, from the coefficients of the loop counters.
//!
//! In row-major order the coefficient of a counter that occurs in dimension `k` only is a multiple of the
//! dimension's *stride*, the product of the sizes of the dimensions inside it. So the coefficients, ordered
//! by exact division, are a chain of strides, and the quotients of neighbours are sizes: `4*R*S + 8*R + ...`
//! never has to be taken apart into a parameter and an offset.
//!
//! **Example.** `In[n][c][h + r][w + s]` of the sizes `[*][C][H + R - 1][W + S - 1]`: the counters `w`, `s`
//! have the coefficient 1, `h`, `r` have `W + S - 1`, `c` has `(H + R - 1)*(W + S - 1)`, `n` that times `C`;
//! the quotients are the sizes.
//!
//! This replaces Algorithm 2 of Section 13.4 of the paper (constants `alpha_k` from the coefficients of
//! products of size parameters), which needs distinct parameters; the paper's free `alpha_1` is known here
//! wherever some counter occurs in the outermost dimension only, and is searched for otherwise ([`shifted`]).
//! A quotient that is not affine (a dimension whose counter is missing, as in `A[i][0][k]`) is factored, and
//! all orders of the factors are guesses (Algorithm 1).
//!
//! A guess is never believed: [`crate::view`] derives subscripts and the condition. Everything here is
//! bounded and in a fixed order.

use crate::poly::{Monomial, Polynomial, Symbol};
use std::collections::{BTreeMap, BTreeSet};

/// Bounds on the search; larger problems than these (more than five dimensions, more than a dozen distinct
/// coefficients) are searched in part.
const MAX_STRIDES: usize = 12;
const MAX_CHAINS: usize = 256;
const MAX_SHAPES: usize = 128;
/// Offsets between which planes are looked for.
const MAX_PARTS: usize = 32;
/// Most dimensions inside the outermost for [`by_parameters`].
const MAX_DIAGONAL: u32 = 3;
/// Integer shifts tried when a square such as `(P + a)^2` is factored.
const MAX_SHIFT: i128 = 16;

/// Inner sizes, outermost first, all affine in parameters, none zero.
pub(crate) type Sizes = Vec<Polynomial>;

/// The coefficients of the counters of `offsets`, signs made positive, without numbers that are no strides
/// (zero, one). With `primitive`, divided by their contents.
fn strides(offsets: &[Polynomial], extra: bool, primitive: bool) -> Vec<Polynomial> {
    // With the number of times each occurs. The diagonal of a square array has a stride that could be a size,
    // too; for triangles both views are right, but only one has the program's rows.
    let mut found: BTreeMap<Polynomial, usize> = BTreeMap::new();
    for offset in offsets {
        for s in offset.symbols() {
            if matches!(s, Symbol::Iter(_))
                && let Some(c) = offset.powers_of(s).get(&1)
            {
                *found.entry(positive(c)).or_default() += 1;
            }
        }
        if extra {
            // A product of parameters alone: a subscript times a stride, in any assignment.
            for (m, _) in offset.terms().filter(|(m, _)| m.degree() > 1) {
                for (s, _) in m.factors().filter(|(s, _)| matches!(s, Symbol::Param(_))) {
                    if let Some(rest) = m.div(&Monomial::product([s])) {
                        found.entry(Polynomial::term(rest, 1)).or_default();
                    }
                }
            }
        }
    }
    if extra {
        for row in rows(offsets) {
            found.entry(row).or_default();
        }
    }
    for p in planes(offsets, found.keys()) {
        found.entry(p).or_default();
    }
    let mut counted: BTreeMap<Polynomial, usize> = BTreeMap::new();
    for (c, times) in found.into_iter().filter(|(c, _)| !c.is_zero() && !c.involves_iters()) {
        let c = if primitive { c.div_exact_constant(c.content()) } else { Some(c) };
        if let Some(c) = c.filter(|c| c.as_constant() != Some(1)) {
            *counted.entry(c).or_default() += times;
        }
    }
    let mut list: Vec<(Polynomial, usize)> = counted.into_iter().collect();
    // Outermost first; among equals the most frequent, then the polynomial's own order.
    list.sort_by(|(a, n), (b, m)| weight(b).cmp(&weight(a)).then(m.cmp(n)).then_with(|| a.cmp(b)));
    list.truncate(MAX_STRIDES);
    list.into_iter().map(|(c, _)| c).collect()
}

/// The parts of offsets that no counter changes, each once.
fn fixed_parts(offsets: &[Polynomial]) -> Vec<Polynomial> {
    let constant = |o: &Polynomial| {
        let fixed = |m: &Monomial| m.factors().all(|(s, _)| matches!(s, Symbol::Param(_)));
        o.terms()
            .filter(|(m, _)| fixed(m))
            .fold(Polynomial::default(), |sum, (m, c)| &sum + &Polynomial::term(m.clone(), c))
    };
    let parts: BTreeSet<Polynomial> = offsets.iter().map(constant).collect();
    parts.into_iter().take(MAX_PARTS).collect()
}

/// The distances between offsets that are sums of several parameters: a loop along the border of a grid with
/// a halo, `a[(g - 1) * (n + 2 * g) + i] = a[g
/// * (n + 2 * g) + i]`, has rows of which no counter is a multiple, nor any single product.
fn rows(offsets: &[Polynomial]) -> BTreeSet<Polynomial> {
    let parts = fixed_parts(offsets);
    let is_row = |d: &Polynomial| d.degree() == 1 && d.symbols().len() > 1;
    let distances =
        parts.iter().enumerate().flat_map(|(n, a)| parts.iter().take(n).map(move |b| positive(&(a - b))));
    distances.filter(is_row).collect()
}

/// The distances between offsets where only numbers say which plane is meant (`f[t % 2][3][i][j]` beside
/// `f[t % 2][4][i][j]`), of those that fit between the counters' strides: a whole number of rows, and a whole
/// number of them in what is further out. Such a dimension has no counter, and without it the planes would be
/// taken for rows of one.
fn planes<'a>(
    offsets: &[Polynomial],
    strides: impl Iterator<Item = &'a Polynomial> + Clone,
) -> BTreeSet<Polynomial> {
    let parts = fixed_parts(offsets);
    let rows = || strides.clone().filter(|s| s.degree() > 0 && !s.involves_iters());
    let fits = |d: &Polynomial| {
        d.degree() > 1
            && rows().any(|s| d.div_exact(s).is_some_and(|q| q.degree() == 1))
            && rows().all(|s| d.div_exact(s).is_some() || s.div_exact(d).is_some())
    };
    let found: BTreeSet<Polynomial> = parts
        .iter()
        .enumerate()
        .flat_map(|(n, a)| parts.iter().take(n).map(move |b| positive(&(a - b))))
        .filter(fits)
        .collect();
    // Two planes further is no size.
    let times = |d: &Polynomial, e: &Polynomial| d != e && d.div_exact(e).is_some_and(|q| q.degree() == 0);
    found.iter().filter(|d| !found.iter().any(|e| times(d, e))).cloned().collect()
}

/// An order that exact division respects: a divisor never weighs more.
fn weight(p: &Polynomial) -> (u32, u128) {
    (p.degree(), p.leading().map_or(0, |(_, c)| c.unsigned_abs()))
}

/// `p` or `-p`, the one whose coefficients (of parameters, if there are any) add up to a positive number.
/// Where they add up to zero (`hi - lo`), `p` as it is.
fn positive(p: &Polynomial) -> Polynomial {
    let sum = |skip_constant: bool| {
        p.terms()
            .filter(|(m, _)| !(skip_constant && m.degree() == 0))
            .fold(0i128, |s, (_, c)| s.saturating_add(c))
    };
    let total = if p.degree() == 0 { sum(false) } else { sum(true) };
    if total < 0 { -p } else { p.clone() }
}

/// All chains of exact division in `strides` (sorted by [`strides`]), longest first, the empty chain among
/// them.
fn chains(strides: &[Polynomial]) -> Vec<Vec<Polynomial>> {
    let mut all: Vec<Vec<Polynomial>> = vec![vec![]];
    for s in strides {
        for n in 0..all.len() {
            if all.len() >= MAX_CHAINS {
                break;
            }
            if all[n].last().is_none_or(|outer| outer.div_exact(s).is_some()) {
                let mut longer = all[n].clone();
                longer.push(s.clone());
                all.push(longer);
            }
        }
    }
    // Stable: chains of one length stay in the order in which they were found.
    all.sort_by_key(|c| std::cmp::Reverse(c.len()));
    all
}

/// Affine polynomials whose product is `p`. `hints` are tried as factors first.
fn factor(p: &Polynomial, hints: &[Polynomial]) -> Option<Vec<Polynomial>> {
    let content = p.content();
    let mut rest = p.div_exact_constant(content)?;
    let mut factors = Vec::new();
    let take = |rest: &mut Polynomial, f: &Polynomial, factors: &mut Vec<Polynomial>| {
        while let Some(q) = rest.div_exact(f) {
            factors.push(f.clone());
            *rest = q;
        }
    };
    for s in p.symbols() {
        take(&mut rest, &Polynomial::symbol(s), &mut factors);
    }
    for h in hints.iter().filter(|h| h.degree() == 1 && h.content() == 1) {
        take(&mut rest, h, &mut factors);
    }
    // p = A*x + B = A' * (a*x + B/A') where A = a*A', A' primitive.
    for x in p.symbols() {
        let powers = rest.powers_of(x);
        if let (Some(a), 1) = (powers.get(&1), powers.keys().max().copied().unwrap_or(0)) {
            let prim = a.div_exact_constant(a.content())?;
            let b = powers.get(&0).cloned().unwrap_or_default();
            if let Some(tail) = b.div_exact(&prim) {
                let f = &Polynomial::symbol(x).scale(a.content()) + &tail;
                if f.degree() == 1 {
                    take(&mut rest, &f, &mut factors);
                }
            }
        } else {
            for a in (1..=MAX_SHIFT).flat_map(|a| [a, -a]) {
                take(&mut rest, &(&Polynomial::symbol(x) + &Polynomial::constant(a)), &mut factors);
            }
        }
    }
    match rest.as_constant() {
        Some(1) => {}
        Some(-1) => {
            factors =
                vec![factors.first().map(|f| -f)?].into_iter().chain(factors.into_iter().skip(1)).collect()
        }
        Some(_) => return None,
        None if rest.degree() == 1 => factors.push(rest),
        None => return None,
    }
    factors.sort();
    if content != 1 {
        // Which factor the number belongs to is unknown: `orders` moves it.
        factors.push(Polynomial::constant(content));
    }
    Some(factors)
}

/// All orders of `factors`; a number among them is multiplied onto each of the others in turn.
fn orders(factors: Vec<Polynomial>) -> Vec<Sizes> {
    let (numbers, mut symbolic): (Vec<_>, Vec<_>) = factors.into_iter().partition(|f| f.degree() == 0);
    let number = numbers.iter().fold(Polynomial::constant(1), |a, b| &a * b);
    let mut out: Vec<Sizes> = Vec::new();
    permute(&mut symbolic, 0, &mut |order| {
        for at in 0..order.len() {
            let mut sizes = order.to_vec();
            sizes[at] = &sizes[at] * &number;
            if out.len() < MAX_SHAPES && !out.contains(&sizes) {
                out.push(sizes);
            }
        }
        out.len() < MAX_SHAPES
    });
    out
}

fn permute(items: &mut [Polynomial], from: usize, visit: &mut impl FnMut(&[Polynomial]) -> bool) -> bool {
    if from + 1 >= items.len() {
        return visit(items);
    }
    for n in from..items.len() {
        // A rotation keeps the rest in order, so the orders come out lexicographically.
        items[from..=n].rotate_right(1);
        let go_on = permute(items, from + 1, visit);
        items[from..=n].rotate_left(1);
        if !go_on {
            return false;
        }
    }
    true
}

/// The shapes that a chain of strides stands for.
fn shapes_of(chain: &[Polynomial], hints: &[Polynomial]) -> Vec<Sizes> {
    let one = Polynomial::constant(1);
    let mut shapes: Vec<Sizes> = vec![vec![]];
    for (outer, inner) in chain.iter().zip(chain.iter().skip(1).chain([&one])) {
        let Some(ratio) = outer.div_exact(inner).map(|r| positive(&r)) else { return vec![] };
        let options = if ratio.degree() <= 1 {
            vec![vec![ratio]]
        } else {
            match factor(&ratio, hints) {
                Some(f) => orders(f),
                None => return vec![],
            }
        };
        let mut longer = Vec::new();
        for s in &shapes {
            for o in &options {
                if longer.len() < MAX_SHAPES {
                    longer.push(s.iter().chain(o).cloned().collect());
                }
            }
        }
        shapes = longer;
    }
    shapes
}

/// Guesses for `offsets` (in elements), more dimensions first; the empty list of inner sizes (the linear
/// view) is not among them. With `extra`, products of parameters alone are strides too.
pub(crate) fn guesses(offsets: &[Polynomial], extra: bool) -> Vec<Sizes> {
    let mut out: Vec<Sizes> = Vec::new();
    for primitive in [false, true] {
        let strides = strides(offsets, extra, primitive);
        for chain in chains(&strides) {
            for sizes in shapes_of(&chain, &strides) {
                // `hi - lo` or `lo - hi`, `x - 2 * border` or what is less than nothing: the sign is not
                // known from a loop that may run downwards.
                let flipped: Sizes =
                    sizes.iter().map(|s| if ambiguous(s) { -s } else { s.clone() }).collect();
                for s in [sizes, flipped] {
                    if !s.is_empty() && out.len() < MAX_SHAPES && !out.contains(&s) {
                        out.push(s);
                    }
                }
            }
        }
    }
    // A counter that steps along a diagonal (`A[i][i + j]`) has the coefficient `m + 1`: plain sizes are
    // tried before such.
    let numbers = |s: &Sizes| {
        s.iter().filter(|p| p.degree() > 0).map(|p| p.constant_term().unsigned_abs()).sum::<u128>()
    };
    out.sort_by_key(|s| (std::cmp::Reverse(s.len()), numbers(s)));
    out
}

/// Whether parameters are added and subtracted: a row between two borders has `x - 2 * border` elements.
fn ambiguous(p: &Polynomial) -> bool {
    let has = |sign: fn(i128) -> bool| p.terms().any(|(m, c)| m.degree() > 0 && sign(c));
    has(|c| c > 0) && has(|c| c < 0)
}

/// The outermost inner size with small numbers added: the paper's search for `alpha_1` (Section 13.4), for
/// arrays of which every counter of the outermost dimension is in another dimension too, as in `A[i][n - i]`.
pub(crate) fn shifted(sizes: &Sizes) -> Vec<Sizes> {
    let Some(first) = sizes.first().filter(|s| s.degree() == 1) else { return vec![] };
    [1, -1, 2, -2]
        .into_iter()
        .map(|a| {
            let mut s = sizes.clone();
            s[0] = first + &Polynomial::constant(a);
            s
        })
        .collect()
}

/// Sizes of one parameter plus a small number each, from the parameters of the longest products (Algorithm 1
/// of Section 13.4 with all `alpha_k` searched for, small ones first): for arrays of which no counter is in
/// one dimension only, as in `A[i][i][i]`.
pub(crate) fn by_parameters(offsets: &[Polynomial]) -> Vec<Sizes> {
    let mut products = BTreeSet::new();
    for stride in strides(offsets, false, false) {
        if let Some((m, _)) = stride.leading().filter(|(m, _)| (1..=MAX_DIAGONAL).contains(&m.degree())) {
            products.insert((std::cmp::Reverse(m.degree()), m));
        }
    }
    let mut out: Vec<Sizes> = Vec::new();
    for (_, m) in products.into_iter().take(2) {
        let factors =
            m.factors().flat_map(|(s, e)| std::iter::repeat_n(Polynomial::symbol(s), e as usize)).collect();
        for order in orders(factors) {
            let mut shifts: Vec<Vec<i128>> = vec![vec![]];
            for _ in &order {
                shifts = shifts
                    .iter()
                    .flat_map(|s| [0, 1, -1, 2, -2].map(|a| s.iter().copied().chain([a]).collect()))
                    .collect();
            }
            for s in shifts {
                out.push(order.iter().zip(s).map(|(p, a)| p + &Polynomial::constant(a)).collect());
            }
        }
    }
    let weight = |s: &Sizes| s.iter().map(|p| p.constant_term().unsigned_abs()).sum::<u128>();
    out.sort_by_key(weight);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(i: usize) -> Polynomial {
        Polynomial::param(i)
    }
    fn c(v: i128) -> Polynomial {
        Polynomial::constant(v)
    }

    /// Row-major offset.
    fn offset(sizes: &[Polynomial], subscripts: &[Polynomial]) -> Polynomial {
        let mut sum = subscripts[0].clone();
        for (s, f) in sizes.iter().zip(&subscripts[1..]) {
            sum = &(&sum * s) + f;
        }
        sum
    }

    fn i(n: usize) -> Polynomial {
        Polynomial::iter(n)
    }

    #[test]
    fn shapes_from_strides() {
        let cases: Vec<(Sizes, Vec<Polynomial>)> = vec![
            (vec![p(0)], vec![i(0), i(1)]),
            (vec![p(0), p(1)], vec![i(0), i(1), i(2)]),
            (vec![p(0), p(0)], vec![i(0), i(1), i(2)]),
            (vec![p(0) + c(2), p(1) + c(2)], vec![i(0), i(1) - c(1), i(2) + c(1)]),
            (vec![p(0) + p(2) - c(1), p(1) + p(3) - c(1)], vec![i(0), i(1) + i(2), i(3) + i(4)]),
            (vec![p(0).scale(2), c(3)], vec![i(0), i(1), i(2)]),
            // The middle counter is missing: a product has to be factored.
            (vec![p(0) + c(2), p(1) + c(2)], vec![i(0), c(0), i(2)]),
            (vec![p(0) + c(1), p(0) + c(1)], vec![i(0), c(0), i(2)]),
            (vec![p(0) + p(2) - c(1), p(1).scale(2) + c(1)], vec![i(0), c(0), i(2)]),
            (vec![c(10), c(20)], vec![i(0), i(1), i(2)]),
            // Downwards.
            (vec![p(0)], vec![p(1) - c(1) - i(0), i(1)]),
            (vec![p(0) - p(1)], vec![i(0), i(1)]),
        ];
        for (sizes, subscripts) in cases {
            let found = guesses(&[offset(&sizes, &subscripts)], false);
            assert!(found.contains(&sizes), "{sizes:?} not in {found:?}");
        }
    }

    #[test]
    fn sizes_between_two_borders() {
        // `A[i][j]` in rows of `x - 2 * h`, and of `2 * x - 3 * h - y`.
        for row in [&p(0) - &(&c(2) * &p(1)), &(&c(2) * &p(0)) - &(&(&c(3) * &p(1)) + &p(2))] {
            let found = guesses(&[offset(std::slice::from_ref(&row), &[i(0), i(1)])], false);
            assert!(found.contains(&vec![row.clone()]) && found.contains(&vec![-&row]), "{row}");
        }
    }

    #[test]
    fn planes_without_a_counter() {
        // f[i][0 .. 3][j][k] of [9][n][m], and with halos.
        for (rows, columns) in [(p(0), p(1)), (p(0), p(0)), (p(0) + c(2), p(1) + c(2))] {
            let sizes = vec![c(9), rows, columns];
            let at = |plane, shift| offset(&sizes, &[i(0), c(plane), i(1) + c(shift), i(2)]);
            let found = guesses(&[at(0, 1), at(1, 1), at(2, 1), at(1, 0), at(2, 2)], false);
            assert_eq!(found.first(), Some(&sizes), "{found:?}");
        }
        // No plane: the distance is no number of whole rows, or does not fit what is further out.
        let square = &p(1) * &p(1);
        for other in [&square + &p(0), square.scale(2)] {
            let rows = &(&i(1) * &p(1)) + &i(2);
            let near = &(&i(0) * &square.scale(3)) + &rows;
            let far = &near + &other;
            assert!(planes(&[near, far], [square.scale(3), p(1)].iter()).is_empty(), "{other:?}");
        }
    }

    #[test]
    fn plain_sizes_before_those_of_diagonals() {
        // A[i][1 + i + j] beside A[i + j][i], all in A[*][m].
        let found = guesses(
            &[offset(&[p(0)], &[i(0), i(0) + i(1) + c(1)]), offset(&[p(0)], &[i(0) + i(1), i(0)])],
            false,
        );
        assert_eq!(found.first(), Some(&vec![p(0)]), "{found:?}");
    }

    #[test]
    fn orders_are_permutations_with_the_number_anywhere() {
        assert_eq!(orders(vec![p(0), p(1), p(2)]).len(), 6);
        assert_eq!(orders(vec![p(0), p(0)]).len(), 1);
        assert_eq!(orders(vec![p(0), p(1), c(3)]).len(), 4);
    }

    #[test]
    fn unfactorable_products_give_no_shape() {
        // p0*p1 + 1 is no product of affine polynomials.
        let found = guesses(&[&(&(&p(0) * &p(1)) + &c(1)) * &i(0)], false);
        assert!(found.is_empty(), "{found:?}");
    }
}

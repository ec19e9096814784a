//! Steps that compute every other element: `(i + j) % 2 == colour`, or a loop from a start that depends on
//! the parity of an outer one, with step 2 (red and black points, odd and even lines, four colours).
//!
//! **Example.** `{ S[t, i, j] : 1 <= i, j < n - 1 and (i + j) mod 2 = 1 }` is the box `1 .. n-2` by
//! `1 .. n-2` and the lattice `i + j + 1 = 0 (mod 2)` with `j` for its pivot.

use super::functions::{Domain, bounds, params, product};
use crate::Result;
use pollyrs_isl as isl;

/// Powers of two: remainders of 32-bit coordinates are masks, whatever their signs.
const MODULI: [i64; 2] = [2, 4];

/// The instances of a statement with `constant + sum of coefficients[d] * i_d = 0 (mod modulus)`, time being
/// `i_0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lattice {
    pub modulus: i64,
    /// By iterator, from 0 to `modulus - 1`; that of the pivot is 1, those behind it are 0.
    pub coefficients: Vec<i64>,
    pub constant: i64,
    /// An iterator of a space dimension: each `modulus` consecutive values of it hold one of the lattice,
    /// whatever the others are.
    pub pivot: usize,
}

impl Lattice {
    /// `{ S[i] : ... }` of the space of `domain`.
    fn points(&self, domain: &isl::Set) -> Result<isl::Set> {
        let names: Vec<String> = (0..self.coefficients.len()).map(|d| format!("i{d}")).collect();
        let terms: Vec<String> =
            names.iter().zip(&self.coefficients).map(|(n, c)| format!("{c} * {n}")).collect();
        let name = domain.tuple_name()?.unwrap_or_default();
        let sum = format!("({} + {}) mod {}", self.constant, terms.join(" + "), self.modulus);
        let text = format!("{{ {name}[{}] : {sum} = 0 }}", names.join(", "));
        Ok(isl::Set::read(domain.context(), &text)?)
    }
}

/// A set as the points of a box that are on lattices, if it is that and not a box. Along a pivot the box has
/// as many elements as the lattice's modulus, at least.
pub(super) fn of(domain: &isl::Set) -> Result<Option<Domain>> {
    let n = domain.dim(isl::DimType::Set)?;
    let mut lattices: Vec<Lattice> = Vec::new();
    for d in 1..n {
        let outer = domain.clone().project_out(isl::DimType::Set, d + 1, n - d - 1)?;
        let outer = outer.set_tuple_id(domain.tuple_id()?)?;
        let Some(modulus) = outer.stride(d as i32)?.to_i64().filter(|m| *m > 1) else { continue };
        if !MODULI.contains(&modulus) {
            return Ok(None);
        }
        let Some(found) = along(&outer, d as usize, modulus, n as usize)? else { return Ok(None) };
        lattices.push(found);
    }
    if lattices.is_empty() {
        return Ok(None);
    }
    // The bounds without remainders are those that the program has, mostly; where a row begins at its parity,
    // they may be one too wide.
    let Some((wide, _)) = bounds(&domain.clone().remove_divs()?.coalesce()?)? else { return Ok(None) };
    // Smaller grids would have bounds for each of their parities.
    let mut runs = domain.clone().remove_divs()?.params()?.coalesce()?;
    for l in &lattices {
        for (d, _) in l.coefficients.iter().enumerate().skip(1).filter(|(_, c)| **c != 0) {
            let (lower, upper) = wide[d].clone();
            let last = lower.add_constant(isl::Val::int(domain.context(), l.modulus)?)?;
            runs = runs.intersect(params(last.le_set(upper)?)?)?;
        }
    }
    let runs = runs.coalesce()?;
    let domain = domain.clone().intersect_params(runs.clone())?.coalesce()?;
    if domain.is_empty()? || !runs.is_subset(&domain.clone().params()?)? {
        return Ok(None);
    }
    let Some((narrow, _)) = bounds(&domain)? else { return Ok(None) };
    for bounds in [wide, narrow] {
        let mut points = product(&domain, &bounds)?.intersect_params(runs.clone())?;
        for l in &lattices {
            let (lower, upper) = bounds[l.pivot].clone();
            let last = lower.add_constant(isl::Val::int(domain.context(), l.modulus - 1)?)?;
            if !runs.is_subset(&params(last.le_set(upper)?)?)? {
                return Ok(None);
            }
            points = points.intersect(l.points(&domain)?)?;
        }
        if points.is_equal(&domain)? {
            return Ok(Some(Domain { bounds, runs, lattices }));
        }
    }
    Ok(None)
}

/// The lattice with pivot `d`, the last dimension of `domain`; `n` is the number of coefficients that it
/// gets.
fn along(domain: &isl::Set, d: usize, modulus: i64, n: usize) -> Result<Option<Lattice>> {
    // Few numbers are tried: 16 for red and black points in three dimensions.
    let (outer, choices) = (d as u32, modulus.pow(d as u32));
    for number in 0..choices {
        let mut coefficients: Vec<i64> = (0..outer).map(|k| number / modulus.pow(k) % modulus).collect();
        coefficients.push(1);
        for constant in 0..modulus {
            let lattice = Lattice { modulus, coefficients: coefficients.clone(), constant, pivot: d };
            if domain.is_subset(&lattice.points(domain)?)? {
                coefficients.resize(n, 0);
                return Ok(Some(Lattice { coefficients, ..lattice }));
            }
        }
    }
    Ok(None)
}

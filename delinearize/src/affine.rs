//! Between polynomials and isl: element offsets, affine functions, the linear view.

use crate::poly::{Polynomial, Symbol};
use crate::{Blocked, DelinearizeError, Origin, Problem, Shape};
use pollyrs_isl as isl;
use pollyrs_isl::DimType;

pub(crate) type Result<T> = std::result::Result<T, DelinearizeError>;

/// The offsets in elements. Every coefficient must be a multiple of the element size: an offset that is one
/// for some other reason, such as `2*i*(i+1)` for an element of four bytes, is not affine anyway.
pub(crate) fn element_offsets(problem: &Problem) -> Result<Vec<Polynomial>> {
    if problem.element_bytes == 0 || problem.accesses.is_empty() {
        return Err(DelinearizeError::Malformed("no accesses, or elements of no size"));
    }
    let bytes = i128::from(problem.element_bytes);
    problem
        .accesses
        .iter()
        .enumerate()
        .map(|(access, a)| {
            if a.offset.is_poisoned() {
                return Err(Blocked::Overflow { access }.into());
            }
            let bad = a.offset.terms().find(|(_, c)| c % bytes != 0);
            if let Some((m, c)) = bad {
                let term = display(&Polynomial::term(m.clone(), c), problem.params);
                return Err(Blocked::NotDivisible { access, term }.into());
            }
            a.offset.div_exact_constant(bytes).ok_or(Blocked::Overflow { access }.into())
        })
        .collect()
}

/// The text of `p` with the parameters' names.
pub(crate) fn display(p: &Polynomial, params: &[String]) -> String {
    p.display_with(|s| match s {
        Symbol::Param(n) => params.get(n).cloned().unwrap_or_else(|| s.to_string()),
        Symbol::Iter(_) => s.to_string(),
    })
}

/// The first product of symbols in `p`, as text.
pub(crate) fn product_in(p: &Polynomial, params: &[String]) -> Option<String> {
    let (m, c) = p.terms().find(|(m, _)| m.degree() > 1)?;
    Some(display(&Polynomial::term(m.clone(), c), params))
}

/// `p`, affine, as a function on `space`, which has all parameters and the dimensions that occur.
pub(crate) fn to_aff(p: &Polynomial, space: &isl::Space, params: &[String]) -> Result<isl::Aff> {
    let ctx = space.context();
    let int = |c: i128| -> Result<isl::Val> {
        let c = i64::try_from(c).map_err(|_| DelinearizeError::Range(c))?;
        Ok(isl::Val::int(ctx, c)?)
    };
    let domain = if space.is_params()? { space.clone().set_from_params()? } else { space.clone() };
    let mut aff = isl::Aff::zero_on_domain_space(domain)?;
    for (m, c) in p.terms() {
        let mut factors = m.factors();
        aff = match (factors.next(), factors.next()) {
            (None, _) => aff.add_constant(int(c)?)?,
            (Some((Symbol::Iter(d), 1)), None) => {
                let pos = dim_index(d, space.dim(DimType::Set)?)?;
                aff.add_coefficient(DimType::In, pos, int(c)?)?
            }
            (Some((Symbol::Param(n), 1)), None) => {
                let name = params.get(n).ok_or(DelinearizeError::Malformed("no such parameter"))?;
                let pos = space
                    .find_dim_by_name(DimType::Param, name)?
                    .and_then(|p| i32::try_from(p).ok())
                    .ok_or(DelinearizeError::Malformed("the space lacks a parameter"))?;
                aff.add_coefficient(DimType::Param, pos, int(c)?)?
            }
            _ => return Err(DelinearizeError::Malformed("not affine")),
        };
    }
    Ok(aff)
}

fn dim_index(d: usize, dims: u32) -> Result<i32> {
    match i32::try_from(d) {
        Ok(p) if (p as u32) < dims => Ok(p),
        _ => Err(DelinearizeError::Malformed("no such dimension in the domain")),
    }
}

pub(crate) fn to_pw_aff(p: &Polynomial, space: &isl::Space, params: &[String]) -> Result<isl::PwAff> {
    Ok(isl::PwAff::from_aff(to_aff(p, space, params)?)?)
}

/// The parameter space of the problem: its parameters in order, then any others of its context.
pub(crate) fn param_space(problem: &Problem) -> Result<isl::Space> {
    let names = problem.params.iter().map(String::as_str);
    let named = isl::Space::params_named(problem.context.context(), names)?;
    Ok(problem.context.clone().align_params(named)?.space()?.params()?)
}

/// The one-dimensional view: right without any condition, where all offsets are affine.
pub(crate) fn linear(problem: &Problem, offsets: &[Polynomial]) -> Result<Shape> {
    let params = param_space(problem)?;
    let mut subscripts = Vec::new();
    for (access, (a, offset)) in problem.accesses.iter().zip(offsets).enumerate() {
        if let Some(term) = product_in(offset, problem.params) {
            return Err(Blocked::NonAffineSubscript { access, term }.into());
        }
        if offset.terms().any(|(_, c)| i64::try_from(c).is_err()) {
            return Err(Blocked::Overflow { access }.into());
        }
        let space = a.domain.clone().align_params(params.clone())?.space()?;
        subscripts.push(vec![to_pw_aff(offset, &space, problem.params)?]);
    }
    let assumption = isl::Set::universe(params)?;
    let check = assumption.clone();
    Ok(Shape {
        sizes: vec![None],
        subscripts,
        assumption,
        check,
        overlapping: None,
        origin: Origin::Linear,
        likely: true,
        pinned: false,
        wraps: false,
    })
}

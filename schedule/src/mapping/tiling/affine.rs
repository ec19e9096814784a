//! Affine functions of points and loops: what the subscripts of an access are in terms of the mapped members
//! and the loops beneath.

use super::super::launch::product;
use crate::Result;
use crate::names::Param;
use crate::names::names;
use crate::tree::member_map;
use pollyrs_isl as isl;

/// `{ S[i] -> [m0, m1, ...] }` on the instances `set`; `None` without members.
pub(super) fn functions(members: &[isl::UnionPwAff], set: &isl::Set) -> Result<Option<isl::Map>> {
    let maps = members.iter().map(member_map).collect::<Result<Vec<_>>>()?;
    if maps.is_empty() {
        return Ok(None);
    }
    let all = product(maps)?.intersect_domain(isl::UnionSet::from_set(set.clone())?)?;
    Ok(if all.isa_map()? { Some(isl::Map::from_union_map(all)?) } else { None })
}

/// An affine function with integer coefficients.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub inputs: Vec<i64>,
    pub params: Vec<(String, i64)>,
    pub constant: i64,
}

/// The subscripts of an access as functions of `time: { S[i] -> [v, o, k] }`, which must be injective; `None`
/// if they are not affine.
pub(super) fn linear(time: &isl::Map, access: &isl::Map) -> Result<Option<Vec<Row>>> {
    rows(time, access, false)
}

/// The same; quotients of parameters (`t mod 2` of a time step) are parameters by their text.
pub(super) fn linear_with_quotients(time: &isl::Map, access: &isl::Map) -> Result<Option<Vec<Row>>> {
    rows(time, access, true)
}

fn rows(time: &isl::Map, access: &isl::Map, quotients: bool) -> Result<Option<Vec<Row>>> {
    if !time.is_injective()? {
        return Ok(None);
    }
    let map = time.clone().reverse()?.apply_range(access.clone())?;
    if !map.is_single_valued()? {
        return Ok(None);
    }
    let f = isl::PwMultiAff::from_map(map)?.coalesce()?;
    let mut rows = Vec::new();
    for d in 0..f.dim(isl::DimType::Out)? as i32 {
        let p = f.at(d)?.coalesce()?;
        if p.n_piece()? != 1 {
            return Ok(None);
        }
        let a = p.clone().gist(p.domain()?)?;
        let pieces = a.pieces()?;
        let Some((_, a)) = pieces.first() else { return Ok(None) };
        if a.denominator()?.to_i64() != Some(1) {
            return Ok(None);
        }
        let of = |ty: isl::DimType| -> Result<Option<Vec<i64>>> {
            let n = a.dim(ty)? as i32;
            (0..n).map(|i| Ok(a.coefficient(ty, i)?.to_i64())).collect::<Result<Option<Vec<_>>>>()
        };
        let (Some(inputs), Some(params), Some(divs)) =
            (of(isl::DimType::In)?, of(isl::DimType::Param)?, of(isl::DimType::Div)?)
        else {
            return Ok(None);
        };
        let Some(constant) = a.constant()?.to_i64() else { return Ok(None) };
        let space = a.domain_space()?;
        let mut named = Vec::new();
        for (i, c) in divs.into_iter().enumerate().filter(|(_, c)| *c != 0) {
            let div = a.div(i as i32)?;
            if !quotients || div.involves_dims(isl::DimType::In, 0, inputs.len() as u32)? {
                return Ok(None);
            }
            named.push((div.to_string(), c));
        }
        for (i, c) in params.into_iter().enumerate() {
            if c != 0 {
                named.push((space.dim_name(isl::DimType::Param, i as u32)?.unwrap_or_default(), c));
            }
        }
        named.sort();
        rows.push(Row { inputs, params: named, constant });
    }
    Ok(Some(rows))
}

/// `{ [x0, x1, ...] : min <= x <= max }` for bounds that are functions of the parameters.
pub(super) fn box_of(ctx: &isl::Context, bounds: &[(isl::PwAff, isl::PwAff)]) -> Result<isl::Set> {
    let (params, dims) = (Param::first(Param::Subscript, bounds.len()), names("x", bounds.len()));
    let equal: Vec<_> = params.iter().zip(&dims).map(|(p, d)| format!("{d} = {p}")).collect();
    let text = format!("[{}] -> {{ [{}] : {} }}", params.join(","), dims.join(","), equal.join(" and "));
    let mut out = isl::Set::read(ctx, &text)?;
    for (p, (min, max)) in params.iter().zip(bounds) {
        let x = isl::PwAff::read(ctx, &format!("[{p}] -> {{ [({p})] }}"))?;
        out = out.intersect_params(x.clone().ge_set(min.clone())?.intersect(x.le_set(max.clone())?)?)?;
    }
    for p in &params {
        if let Some(pos) = out.space()?.find_dim_by_name(isl::DimType::Param, p)? {
            out = out.project_out(isl::DimType::Param, pos, 1)?;
        }
    }
    Ok(out)
}

/// `set` without what `given` implies, whatever parameters the two name.
pub(super) fn gist(set: isl::Set, given: isl::Set) -> Result<isl::Set> {
    let set = set.align_params(given.space()?)?;
    let given = given.align_params(set.space()?)?;
    Ok(set.gist(given)?.coalesce()?)
}

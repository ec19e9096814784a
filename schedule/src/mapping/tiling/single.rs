//! A sum in order that nothing runs beside: one thread adds up, and the rest of its block brings the
//! operands.
//!
//! A thread that loads what it adds waits for memory every few additions, although it knows all addresses.
//! Here the loads are a block's, in strips to shared memory, a strip ahead of the one that is added up, as in
//! [`super::stream`]; so the sum takes what its additions wait for each other. To be tiled, the kernel gets a
//! member that is zero everywhere: its only point.
//!
//! # Example
//! `s += a[i]` over 65536 floats by one thread: 16 strips of 4096.

use super::super::site::Site;
use super::super::tile::{Shape, Tile};
use super::affine::{functions, linear};
use super::region::{leaves, written};
use super::stream::{RESIDENTS, SHARED_BYTES, STRIP_BYTES, THREADS};
use crate::Result;
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId, Scop};

/// The site with its point, and the tile; `None` if no innermost loop reads consecutive elements that the
/// launch does not write.
pub(super) fn shape(scop: &Scop, site: &Site) -> Result<Option<(Site, Tile)>> {
    if !site.members.is_empty() || site.nest || site.inner.depth() == 0 {
        return Ok(None);
    }
    let mut found = Vec::new();
    leaves(&site.inner, &site.domain, &mut vec![], &mut found)?;
    let written = written(scop, &site.domain)?;
    let mut best: Option<(isl::UnionPwAff, u32)> = None;
    for leaf in &found {
        let Some(member) = leaf.path.last() else { continue };
        let mut streams: Vec<ArrayId> = Vec::new();
        for set in leaf.domain.sets()? {
            let Some((_, s)) = scop.statement_named(&set.tuple_name()?.unwrap_or_default()) else {
                return Ok(None);
            };
            let Some(time) = functions(&leaf.path, &set)? else { continue };
            for a in s.accesses.iter().filter(|a| a.kind == AccessKind::Read) {
                let array = scop.array(a.array);
                if !array.is_memory() || array.dims() == 0 || written.contains(&a.array) {
                    continue;
                }
                let Some(rows) = linear(&time, &a.relation)? else { continue };
                let last = leaf.path.len() - 1;
                let along =
                    |(d, r): (usize, &super::affine::Row)| r.inputs[last] == i64::from(d + 1 == rows.len());
                if rows.iter().enumerate().all(along) && !streams.contains(&a.array) {
                    streams.push(a.array);
                }
            }
        }
        let bytes = streams.iter().map(|a| scop.array(*a).elem.bytes()).sum::<u32>();
        if bytes > 0 && best.as_ref().is_none_or(|b| bytes > b.1) {
            best = Some((member.clone(), bytes));
        }
    }
    let Some((member, bytes)) = best else { return Ok(None) };
    let tile = Tile {
        dims: vec![Shape::ONE],
        strip: 1 << (STRIP_BYTES / bytes).max(1).ilog2(),
        stages: 0,
        shared: SHARED_BYTES,
        residents: RESIDENTS,
        products: false,
        weight: 1,
        helpers: THREADS,
        repeats: true,
        stream: Some(member),
        unrolled: false,
        slides: None,
        wide: false,
    };
    Ok(Some((Site { members: vec![zero(&site.domain)?], ..site.clone() }, tile)))
}

/// `{ S[i] -> [(0)] }` for all statements of a domain.
fn zero(domain: &isl::UnionSet) -> Result<isl::UnionPwAff> {
    let mut out = isl::UnionPwAff::empty(domain.space()?)?;
    for set in domain.clone().universe()?.sets()? {
        let n = set.dim(isl::DimType::Set)?;
        let dims: Vec<_> = (0..n).map(|d| format!("i{d}")).collect();
        let name = set.tuple_name()?.unwrap_or_default();
        let text = format!("{{ {name}[{}] -> [(0)] }}", dims.join(","));
        out = out.union_add(isl::UnionPwAff::read(domain.context(), &text)?)?;
    }
    Ok(out)
}

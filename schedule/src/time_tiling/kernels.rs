//! From phases to kernels: the host's loop over time tiles, grids, blocks, and the schedule of a thread with its barriers.
//!
//! The bounds of grids, steps and launches come from a box around all points, projected rationally: a launch or a block may turn
//! out to have nothing to do, and a step no points. Kernels with steps may be launched idle, see rule 2 of [`crate::legality`].

use super::NotTiled;
use super::band::{Band, names};
use super::shape::Phase;
use crate::mapped::{BARRIER, BlockDim, GridDim, MappedKernel, MappedScop, Placement};
use crate::mapping::{aligned, simple};
use crate::tree::{ScheduleTree, Tree};
use crate::{Result, known};
use pollyrs_isl as isl;
use pollyrs_scop::Scop;

/// Threads of a block: enough to hide latency, few enough that several blocks share a multiprocessor.
const THREADS: i64 = 256;
const WARP: i64 = 32;

/// The mapped SCoP.
pub(super) fn build(
    scop: &Scop,
    band: &Band,
    phases: &[Phase],
) -> Result<std::result::Result<MappedScop, NotTiled>> {
    let ctx = &scop.ctx;
    let known = known(scop)?;
    let coordinates =
        band.coordinates.clone().intersect_domain(scop.domain()?)?.intersect_params(known.clone())?;
    let Some(points) = hull(band, &coordinates)? else { return Ok(Err(NotTiled::Bounds)) };
    let mut kernels = Vec::new();
    let (mut host, mut members) = (isl::UnionSet::empty(ctx)?, Vec::new());
    for (i, phase) in phases.iter().enumerate() {
        let name = format!("K{i}");
        let reach = points.clone().apply(phase.place.clone())?.remove_divs()?.coalesce()?;
        let out = reach.dim(isl::DimType::Set)?;
        let tiles = reach.clone().project_out(isl::DimType::Set, 1, out - 1)?.remove_divs()?.coalesce()?;
        host = host.add_set(tiles.set_tuple_name(&name)?.gist_params(known.clone())?)?;
        let kernel = kernel(scop, phase, &name, &known, &coordinates, reach)?;
        kernels.push(aligned(scop, kernel)?);
        members.push((isl::UnionSet::read(ctx, &format!("{{ {name}[T] }}"))?, Tree::Leaf));
    }
    let pieces: Vec<_> = kernels.iter().map(|k| format!("{}[T] -> [(T)]", k.name)).collect();
    let time = isl::UnionPwAff::read(ctx, &format!("{{ {} }}", pieces.join("; ")))?;
    let body = if members.len() == 1 { Tree::Leaf } else { Tree::Sequence(members) };
    let host = ScheduleTree { domain: host, root: body.under(vec![time]) }.to_isl()?;
    let placement = vec![Placement::Global; scop.arrays.len()];
    Ok(Ok(MappedScop { kernels, host, placement, choices: Vec::new() }))
}

/// A box around all points: `[params] -> { [logical time, space] }`; `None` where one interval does not bound a coordinate.
fn hull(band: &Band, coordinates: &isl::UnionMap) -> Result<Option<isl::Set>> {
    let ctx = coordinates.context();
    let all = names("x", band.dims + 1);
    let tuple = all.join(", ");
    let mut hull = isl::Set::read(ctx, &format!("{{ [{tuple}] }}"))?;
    for d in 0..=band.dims {
        let one = isl::UnionMap::read(ctx, &format!("{{ [{tuple}] -> [x{d}] }}"))?;
        let mut values = isl::UnionSet::empty(ctx)?;
        for map in coordinates.clone().apply_range(one)?.maps()? {
            values = values.add_set(map.range()?.remove_divs()?)?;
        }
        if values.is_empty()? {
            return Ok(None);
        }
        let values = isl::Set::from_union_set(values)?.coalesce()?;
        let around = isl::Set::from_basic_set(values.clone().simple_hull()?)?;
        let exact = match bounded(&values)? && values.n_basic_set()? > 1 {
            true => Some(interval(values)?),
            false => None,
        };
        // Where statements have bounds that can't be compared, the interval has several pieces, and one piece around it reaches as far
        // as the parameters' types do: a grid of millions of idle blocks.
        let values = match exact {
            Some(exact) if !bounded(&around)? || !around.is_subset(&exact)? => exact,
            _ if bounded(&around)? => around,
            _ => return Ok(None),
        };
        hull = hull.intersect(values.apply(isl::Map::read(ctx, &format!("{{ [x{d}] -> [{tuple}] }}"))?)?)?;
    }
    Ok(Some(hull))
}

/// All integers between the smallest and the largest one of `{ [v] }`.
fn interval(values: isl::Set) -> Result<isl::Set> {
    let (first, last) = (values.clone().dim_min(0)?.coalesce()?, values.dim_max(0)?.coalesce()?);
    let beyond = |end: isl::PwAff, sign: &str| -> Result<isl::Set> {
        let end = isl::Map::from_pw_aff(end.from_range()?)?.range()?;
        let map = isl::Map::read(end.context(), &format!("{{ [v] -> [x] : x {sign} v }}"))?;
        Ok(end.apply(map)?)
    };
    Ok(beyond(first, ">=")?.intersect(beyond(last, "<=")?)?.coalesce()?)
}

fn bounded(values: &isl::Set) -> Result<bool> {
    Ok(values.dim_has_lower_bound(isl::DimType::Set, 0)?
        && values.dim_has_upper_bound(isl::DimType::Set, 0)?)
}

/// Threads along each local coordinate: a warp along the last one, then what is left of a block.
fn threads(extents: &[i64]) -> Vec<i64> {
    let mut left = THREADS;
    let mut out = vec![1; extents.len()];
    for (i, extent) in extents.iter().enumerate().rev() {
        let most = if i + 1 == extents.len() && extents.len() > 1 { WARP.min(left) } else { left };
        // As few turns as possible, of equal length.
        let turns = (extent + most - 1) / most;
        out[i] = (extent + turns - 1) / turns;
        left = (left / out[i]).max(1);
    }
    out
}

/// The kernel of a phase. `reach` is what the hull of all points covers: `[params] -> { [T, blocks, steps, local] }`.
fn kernel(
    scop: &Scop,
    phase: &Phase,
    name: &str,
    known: &isl::Set,
    coordinates: &isl::UnionMap,
    reach: isl::Set,
) -> Result<MappedKernel> {
    let ctx = &scop.ctx;
    let local = phase.extents.len();
    let (b, c, l) = (names("b", phase.blocks), names("c", phase.steps), names("l", local));
    let out = [vec!["T".to_string()], b.clone(), c.clone(), l.clone()].concat().join(", ");
    let (h, bs, ts) = ("_h0".to_string(), names("_b", phase.blocks), names("_t", local));
    let sizes = threads(&phase.extents);
    // The points of one launch, of one tile, of one thread.
    let launch = format!("[{h}] -> {{ [{out}] : T = {h} }}");
    let tile: Vec<_> = b.iter().zip(&bs).map(|(b, p)| format!(" and {b} = {p}")).collect();
    let mut thread = Vec::new();
    for (d, (size, extent)) in sizes.iter().zip(&phase.extents).enumerate() {
        thread.push(if size == extent {
            format!(" and l{d} = _t{d}")
        } else {
            format!(" and exists (e{d} : l{d} = {size} * e{d} + _t{d})")
        });
    }
    let one = format!(
        "[{}] -> {{ [{out}] : T = {h}{}{} }}",
        [vec![h.clone()], bs.clone(), ts.clone()].concat().join(", "),
        tile.concat(),
        thread.concat(),
    );
    let at_tile = format!(
        "[{}] -> {{ [{out}] : T = {h}{} }}",
        [vec![h.clone()], bs.clone()].concat().join(", "),
        tile.concat()
    );

    let full = coordinates.clone().apply_range(isl::UnionMap::from_map(phase.place.clone())?)?;
    let full = full.intersect_range(isl::UnionSet::read(ctx, &launch)?)?.coalesce()?;
    let domain = full.clone().domain()?.coalesce()?;
    let to = |values: &[String]| -> Result<isl::UnionMap> {
        let map = isl::UnionMap::read(ctx, &format!("{{ [{out}] -> [{}] }}", values.join(", ")))?;
        Ok(full.clone().apply_range(map)?.coalesce()?)
    };
    let in_turns: Vec<_> = l
        .iter()
        .zip(&sizes)
        .zip(&phase.extents)
        .map(|((l, s), e)| if s == e { l.clone() } else { format!("{l} mod {s}") })
        .collect();

    // The grid, and the context: each coordinate by itself, so that the context is the grid's box.
    let fixed = reach.clone().intersect(isl::Set::read(ctx, &launch)?)?;
    let mut context = fixed.clone().params()?.remove_divs()?.coalesce()?.intersect(known.clone())?;
    let mut grid = Vec::new();
    for (d, p) in bs.iter().enumerate() {
        let map = isl::Map::read(ctx, &format!("{{ [{out}] -> [b{d}] }}"))?;
        let values = fixed.clone().apply(map)?.remove_divs()?.coalesce()?;
        let (lower, upper) = (values.clone().dim_min(0)?.coalesce()?, values.clone().dim_max(0)?.coalesce()?);
        let count = upper.sub(lower.clone())?.add_constant(isl::Val::int(ctx, 1)?)?.coalesce()?;
        let inside =
            values.intersect(isl::Set::read(ctx, &format!("[{p}] -> {{ [b] : b = {p} }}"))?)?.params()?;
        context = context.intersect(inside)?;
        grid.push(GridDim { param: p.clone(), lower, count });
    }
    let mut block = Vec::new();
    for (p, size) in ts.iter().zip(&sizes) {
        context = context.intersect(isl::Set::read(ctx, &format!("[{p}] -> {{ : 0 <= {p} < {size} }}"))?)?;
        block.push(BlockDim { param: p.clone(), size: *size as u32 });
    }
    let context = simple(context)?;

    // Barriers wherever the tile may have points.
    let steps = isl::Map::read(ctx, &format!("{{ [{out}] -> {BARRIER}[{}] }}", c.join(", ")))?;
    let barriers =
        reach.intersect(isl::Set::read(ctx, &at_tile)?)?.apply(steps)?.remove_divs()?.coalesce()?;

    let mine = full.clone().intersect_range(isl::UnionSet::read(ctx, &one)?)?;
    let schedule =
        thread_schedule(scop, &mine, &barriers, &context, &out, (&c, &l), (&sizes, &phase.extents))?;
    Ok(MappedKernel {
        name: name.into(),
        host_params: vec![h],
        domain: domain.gist_params(known.clone())?,
        grid,
        block,
        tile_map: to(&b)?,
        thread_map: to(&in_turns)?,
        schedule,
        context,
        tiling: None,
        steps: Some(to(&c)?),
    })
}

/// `for steps { for turns { statements }; barrier }`
#[allow(clippy::too_many_arguments)]
fn thread_schedule(
    scop: &Scop,
    mine: &isl::UnionMap,
    barriers: &isl::Set,
    context: &isl::Set,
    out: &str,
    (c, l): (&[String], &[String]),
    (sizes, extents): (&[i64], &[i64]),
) -> Result<isl::Schedule> {
    let ctx = &scop.ctx;
    let member = |value: &str| -> Result<isl::UnionPwAff> {
        let map = isl::UnionMap::read(ctx, &format!("{{ [{out}] -> [{value}] }}"))?;
        let map = mine.clone().apply_range(map)?;
        Ok(isl::MultiUnionPwAff::from_union_map(map)?.at(0)?)
    };
    let mut steps = Vec::new();
    for value in c {
        let barrier = format!("{{ {BARRIER}[{}] -> [({value})] }}", c.join(", "));
        steps.push(member(value)?.union_add(isl::UnionPwAff::read(ctx, &barrier)?)?);
    }
    let mut turns = Vec::new();
    for ((l, size), extent) in l.iter().zip(sizes).zip(extents) {
        if size != extent {
            turns.push(member(&format!("floor({l} / {size})"))?);
        }
    }
    let mut body = Vec::new();
    let mut all = isl::UnionSet::empty(ctx)?;
    for s in &scop.statements {
        let tuple =
            format!("{{ {}[{}] }}", s.name, names("i", s.domain.dim(isl::DimType::Set)? as usize).join(","));
        let tuple = isl::UnionSet::read(ctx, &tuple)?;
        all = all.union(tuple.clone())?;
        body.push((tuple, Tree::Leaf));
    }
    let body = if body.len() == 1 { Tree::Leaf } else { Tree::Sequence(body) };
    let barrier = isl::UnionSet::read(ctx, &format!("{{ {BARRIER}[{}] }}", c.join(", ")))?;
    let root = Tree::Sequence(vec![(all, body.under(turns)), (barrier, Tree::Leaf)]).under(steps);
    let instances = mine.clone().domain()?.coalesce()?.detect_equalities()?;
    let domain = instances.add_set(barriers.clone())?.gist_params(context.clone())?;
    let schedule = ScheduleTree { domain, root }.to_isl()?;
    // One loop a step coordinate, so that all threads meet at the same barriers.
    let mut node = schedule.root()?.child(0)?;
    for d in 0..c.len() {
        node = node.band_set_ast_loop_type(d as i32, isl::AstLoopType::Atomic)?;
    }
    Ok(node.schedule()?)
}

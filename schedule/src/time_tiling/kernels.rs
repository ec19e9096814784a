//! From phases to kernels: the host's loop over time tiles, grids, blocks, and the schedule of a thread with
//! its barriers.
//!
//! The bounds of grids, steps and launches come from a box around all points, projected rationally: a launch
//! or a block may turn out to have nothing to do, and a step no points. Kernels with steps may be launched
//! idle, see rule 2 of [`crate::legality`].

use super::band::{Band, Form};
use super::options::{NotTiled, Techniques, Tiled};
use super::shape::Phase;
use super::windows::{self, BEFORE, Staging};
use crate::domains::{aligned, simple};
use crate::mapped::{
    BlockDim, Core, GridDim, MappedKernel, MappedScop, Mode, Placement, Stages, Steps, StepsOf,
};
use crate::names::Param::{self, Block};
use crate::names::Tuple::{Barrier, Enter};
use crate::names::names;
use crate::planted::planted;
use crate::tree::{ScheduleTree, Tree};
use crate::{Dependences, Refusal, Result, known};
use pollyrs_isl as isl;
use pollyrs_scop::Scop;

/// Threads of a block: enough to hide latency, few enough that several blocks share a multiprocessor.
const THREADS: i64 = 256;
/// In three dimensions: there are fewer hexagons than multiprocessors, and each step of a stage is a plane of
/// a parallelogram. With 256, 512 and 1024 threads and tiles of 1x1x32x32 heat3d27 had 20, 30 and 40
/// GStencil/s on an H200.
const THREADS_3D: i64 = 1024;
const WARP: i64 = 32;
/// In two dimensions a thread has all rows of its columns: the rows of a step have the same bounds for all
/// threads, and a value in the window is loaded once for the points above and below it. There are about as
/// many hexagons as multiprocessors, so a block has one alone. On an H200 with tiles of 5x6 laplacian2d had
/// 352 GStencil/s with 4x128 threads, 436 with 1x256, 286 with 2x256, 200 with 1x512, which have 128
/// registers.
pub const ROW_2D: i64 = 256;
/// Fewer threads than these leave a multiprocessor idle: then rows are spread as well.
const FEW: i64 = 96;

/// The threads of a block, and those along a row, where rows are spread ([`Techniques::spread`]).
const SPREAD: i64 = 512;
pub const SPREAD_ROW: i64 = 128;

/// The mapped SCoP.
pub(super) fn build(
    scop: &Scop,
    deps: &Dependences,
    band: &Band,
    phases: &[Phase],
    techniques: Techniques,
) -> Tiled<MappedScop> {
    let ctx = &scop.ctx;
    let known = known(scop)?;
    let coordinates =
        band.coordinates.clone().intersect_domain(scop.domain()?)?.intersect_params(known.clone())?;
    let Some(points) = hull(band, &coordinates)? else { return Err(Refusal::Form(NotTiled::Bounds)) };
    let mut kernels = Vec::new();
    let (mut host, mut members) = (isl::UnionSet::empty(ctx)?, Vec::new());
    for (i, phase) in phases.iter().enumerate() {
        let name = format!("K{i}");
        let reach = points.clone().apply(phase.place.clone())?.remove_divs()?.coalesce()?;
        let out = reach.dim(isl::DimType::Set)?;
        let tiles = reach.clone().project_out(isl::DimType::Set, 1, out - 1)?.remove_divs()?.coalesce()?;
        let params = [phase.launch.clone()];
        let of = Launches { scop, deps, band, phase, known: &known, coordinates: &coordinates, techniques };
        let kernel = kernel(&of, (&name, &params), reach, None)?;
        let tiles = with_grid(tiles, &kernel)?;
        host = host.add_set(tiles.set_tuple_name(&name)?.gist_params(known.clone())?)?;
        kernels.push(aligned(scop, kernel)?);
        members.push((isl::UnionSet::read(ctx, &format!("{{ {name}[T] }}"))?, Tree::Leaf));
    }
    if planted("phases") {
        members.reverse();
    }
    let pieces: Vec<_> = kernels.iter().map(|k| format!("{}[T] -> [(T)]", k.name)).collect();
    let time = isl::UnionPwAff::read(ctx, &format!("{{ {} }}", pieces.join("; ")))?;
    let body = if members.len() == 1 { Tree::Leaf } else { Tree::Sequence(members) };
    let host = ScheduleTree { domain: host, root: body.under(vec![time]) }.to_isl()?;
    let placement = vec![Placement::Global; scop.arrays.len()];
    Ok(MappedScop {
        kernels,
        host,
        placement,
        choices: Vec::new(),
        nested: Vec::new(),
        late: None,
        divides: false,
    })
}

/// The launches of `tiles` that have a grid. Without integer divisions, `tiles` and the blocks of one launch
/// are each a little larger than what there is; where there is no block at all, the grid's bounds have no
/// value, and code that trusts the context would run for a block that it does not know.
fn with_grid(tiles: isl::Set, kernel: &MappedKernel) -> Result<isl::Set> {
    let mut all = tiles.clone();
    for g in &kernel.grid {
        all = all.intersect_params(g.lower.clone().add(g.count.clone())?.domain()?)?;
    }
    let ctx = tiles.context();
    for p in &kernel.host_params {
        all = all.intersect(isl::Set::read(ctx, &format!("[{p}] -> {{ [{p}] }}"))?)?;
        if let Some(pos) = all.space()?.find_dim_by_name(isl::DimType::Param, p)? {
            all = all.project_out(isl::DimType::Param, pos, 1)?;
        }
    }
    if tiles.is_subset(&all)? { Ok(tiles) } else { Ok(all.coalesce()?) }
}

/// What is around all points: `[params] -> { [logical time, space] }`, an interval of each form; `None` where
/// one does not bound a form.
pub(super) fn hull(band: &Band, coordinates: &isl::UnionMap) -> Result<Option<isl::Set>> {
    let ctx = coordinates.context();
    let all = names("x", band.dims + 1);
    let tuple = all.join(", ");
    let mut hull = isl::Set::read(ctx, &format!("{{ [{tuple}] }}"))?;
    for form in &band.forms {
        let Some(values) = values_of(form, band, coordinates)? else { return Ok(None) };
        let points = isl::Map::read(ctx, &format!("{{ [v] -> [{tuple}] : v = {} }}", form.of(&all)))?;
        hull = hull.intersect(values.apply(points)?)?;
    }
    Ok(Some(hull))
}

/// An interval around a form's values: `[params] -> { [v] }`; `None` if there is none.
pub(super) fn values_of(form: &Form, band: &Band, coordinates: &isl::UnionMap) -> Result<Option<isl::Set>> {
    let ctx = coordinates.context();
    let all = names("x", band.dims + 1);
    let one = isl::UnionMap::read(ctx, &format!("{{ [{}] -> [{}] }}", all.join(", "), form.of(&all)))?;
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
    // Where statements have bounds that can't be compared, the interval has several pieces, and one piece
    // around it reaches as far as the parameters' types do: a grid of millions of idle blocks.
    Ok(match exact {
        Some(exact) if !bounded(&around)? || !around.is_subset(&exact)? => Some(exact),
        _ if bounded(&around)? => Some(around),
        _ => None,
    })
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

/// Threads along each local coordinate: warps along the last one, then what is left of a block.
fn threads(extents: &[i64], spread: bool) -> Vec<i64> {
    let flat = extents.len() == 2 && !spread;
    let (mut left, row) = match extents.len() {
        2 if spread => (SPREAD, SPREAD_ROW),
        2 => (THREADS, ROW_2D),
        3 => (THREADS_3D, WARP),
        _ => (THREADS, WARP),
    };
    let mut out = vec![1; extents.len()];
    for (i, extent) in extents.iter().enumerate().rev() {
        let most = if i + 1 == extents.len() && extents.len() > 1 { row.min(left) } else { left };
        // As few turns as possible, of equal length.
        let turns = (extent + most - 1) / most;
        out[i] = (extent + turns - 1) / turns;
        left = if flat && out[i] >= FEW { 1 } else { (left / out[i]).max(1) };
    }
    out
}

/// A grid, and what is known in each of its blocks.
pub(super) struct Bounds {
    pub grid: Vec<GridDim>,
    /// `[params, _h*, _b*] -> { : ... }`
    pub context: isl::Set,
}

impl Bounds {
    /// Each coordinate by itself, so that the context is the grid's box.
    fn of(reach: &isl::Set, phase: &Phase, known: &isl::Set) -> Result<Bounds> {
        let ctx = reach.context();
        let (h, out) = (&phase.launch, windows::place_tuple(phase).join(", "));
        let launch = format!("[{h}] -> {{ [{out}] : T = {h} }}");
        let fixed = reach.clone().intersect(isl::Set::read(ctx, &launch)?)?;
        let mut context = fixed.clone().params()?.remove_divs()?.coalesce()?.intersect(known.clone())?;
        let mut grid = Vec::new();
        for (d, p) in Param::first(Block, phase.blocks).iter().enumerate() {
            let map = isl::Map::read(ctx, &format!("{{ [{out}] -> [b{d}] }}"))?;
            let values = fixed.clone().apply(map)?.remove_divs()?.coalesce()?;
            let (lower, upper) =
                (values.clone().dim_min(0)?.coalesce()?, values.clone().dim_max(0)?.coalesce()?);
            let count = upper.sub(lower.clone())?.add_constant(isl::Val::int(ctx, 1)?)?.coalesce()?;
            let inside =
                values.intersect(isl::Set::read(ctx, &format!("[{p}] -> {{ [b] : b = {p} }}"))?)?.params()?;
            context = context.intersect(inside)?;
            grid.push(GridDim { param: p.clone(), lower, count });
        }
        Ok(Bounds { grid, context })
    }
}

/// A band of time tiles of a SCoP, and a kernel of it.
pub(super) struct Launches<'a> {
    pub scop: &'a Scop,
    pub deps: &'a Dependences,
    pub band: &'a Band,
    pub phase: &'a Phase,
    pub known: &'a isl::Set,
    /// `{ S[i] -> [t, s...] }`
    pub coordinates: &'a isl::UnionMap,
    pub techniques: Techniques,
}

/// Texts of the tuple `[T, blocks, steps, local]` and of sets of it.
struct Text {
    b: Vec<String>,
    c: Vec<String>,
    l: Vec<String>,
    out: String,
    /// The points of one launch, of one tile, of one thread.
    launch: String,
    tile: String,
    thread: String,
}

impl Text {
    fn new(phase: &Phase, sizes: &[i64]) -> Text {
        let local = phase.extents.len();
        let (b, c, l) = (names("b", phase.blocks), names("c", phase.steps), names("l", local));
        let out = [vec!["T".to_string()], b.clone(), c.clone(), l.clone()].concat().join(", ");
        let (h, bs, ts) =
            (phase.launch.clone(), Param::first(Block, phase.blocks), Param::first(Param::Thread, local));
        let at_tile: String = b.iter().zip(&bs).map(|(b, p)| format!(" and {b} = {p}")).collect();
        let mut at_thread = String::new();
        for (d, (size, extent)) in sizes.iter().zip(&phase.extents).enumerate() {
            at_thread += &if size == extent {
                format!(" and l{d} = {}", Param::Thread(d))
            } else {
                format!(" and exists (e{d} : l{d} = {size} * e{d} + {})", Param::Thread(d))
            };
        }
        let of_tile = [vec![h.clone()], bs].concat();
        let of_thread = [of_tile.clone(), ts].concat().join(", ");
        Text {
            launch: format!("[{h}] -> {{ [{out}] : T = {h} }}"),
            tile: format!("[{}] -> {{ [{out}] : T = {h}{at_tile} }}", of_tile.join(", ")),
            thread: format!("[{of_thread}] -> {{ [{out}] : T = {h}{at_tile}{at_thread} }}"),
            b,
            c,
            l,
            out,
        }
    }
}

/// The kernel of a phase. `reach` is what the hull of all points covers:
/// `[params] -> { [T, blocks, steps, local] }`; the last one of the host's parameters is `T`.
pub(super) fn kernel(
    of: &Launches<'_>,
    (name, host): (&str, &[String]),
    reach: isl::Set,
    bounds: Option<Bounds>,
) -> Result<MappedKernel> {
    let Launches { scop, deps, band, phase, known, coordinates, techniques } = *of;
    let ctx = &scop.ctx;
    let sizes = threads(&phase.extents, techniques.spread);
    let text = Text::new(phase, &sizes);
    let Text { b, c, l, out, .. } = &text;

    let full = coordinates.clone().apply_range(isl::UnionMap::from_map(phase.place.clone())?)?;
    let full = full.intersect_range(isl::UnionSet::read(ctx, &text.launch)?)?.coalesce()?;
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

    let given = bounds.is_some();
    let Bounds { grid, mut context } = match bounds {
        Some(bounds) => bounds,
        None => Bounds::of(&reach, phase, known)?,
    };
    let mut block = Vec::new();
    for (p, size) in Param::first(Param::Thread, l.len()).iter().zip(&sizes) {
        context = context.intersect(isl::Set::read(ctx, &format!("[{p}] -> {{ : 0 <= {p} < {size} }}"))?)?;
        block.push(BlockDim { param: p.clone(), size: *size as u32 });
    }
    let context = simple(context)?;

    // Barriers wherever the tile may have points.
    let meet = isl::Map::read(ctx, &format!("{{ [{out}] -> {Barrier}[{}] }}", c.join(", ")))?;
    let barriers =
        reach.intersect(isl::Set::read(ctx, &text.tile)?)?.apply(meet)?.remove_divs()?.coalesce()?;
    let mut steps = to(c)?;
    let staging = if techniques.windows {
        let site = windows::Site {
            scop,
            deps,
            band,
            phase,
            known,
            full: &full,
            barriers: &barriers,
            threads: &sizes,
            idle: given,
            techniques,
        };
        Some(windows::plan(&site)?).filter(|s| !s.windows.is_empty())
    } else {
        None
    };
    if let Some(staging) = &staging {
        steps = steps.union(ahead_of_stages(ctx, c, staging)?)?;
    }

    let mine = full.clone().intersect_range(isl::UnionSet::read(ctx, &text.thread)?)?;
    let thread =
        Thread { scop, mine: &mine, barriers: &barriers, context: &context, threads: sizes.len(), out };
    let schedule = thread.schedule((c, l), (&sizes, &phase.extents), staging.as_ref())?;
    let core = Core {
        domain: domain.gist_params(known.clone())?,
        grid,
        block,
        tile_map: to(b)?,
        thread_map: to(&in_turns)?,
        schedule,
        context,
    };
    let full =
        staging.as_ref().filter(|s| techniques.unroll || given && s.passes_on()).map(|s| s.full.clone());
    let stages = Stages {
        windows: staging.map_or_else(Vec::new, |s| s.windows),
        full,
        unrolled: techniques.unroll,
        prefetch: techniques.prefetch,
    };
    let mode = Mode::Steps(Steps { order: steps, of: StepsOf::Tile(stages) });
    Ok(MappedKernel { mode, ..MappedKernel::new(name.into(), host.to_vec(), core) })
}

/// The steps of what fills shared memory: before all of a stage.
fn ahead_of_stages(ctx: &isl::Context, c: &[String], staging: &Staging) -> Result<isl::UnionMap> {
    let p = &c[..c.len() - 1];
    let before = [p, &[BEFORE.to_string()]].concat().join(", ");
    let mut maps = vec![format!("{Enter}[{}] -> [{before}]", p.join(", "))];
    for w in &staging.windows {
        let tuple = [p, &names("x", w.size.len())].concat();
        maps.push(format!("{}[{}] -> [{before}]", w.copy, tuple.join(", ")));
    }
    Ok(isl::UnionMap::read(ctx, &format!("{{ {} }}", maps.join("; ")))?)
}

/// What the schedule of a thread is made of.
struct Thread<'a> {
    scop: &'a Scop,
    /// `[params, _h0, _b*, _t*] -> { S[i] -> [T, blocks, steps, local] }`
    mine: &'a isl::UnionMap,
    /// `[params, _h0, _b*] -> { _barrier[c] }`
    barriers: &'a isl::Set,
    context: &'a isl::Set,
    /// Dimensions of the block.
    threads: usize,
    /// The tuple of `mine`'s range.
    out: &'a str,
}

impl Thread<'_> {
    /// `{ S[i] -> [(value)] }` for an expression of the names in `out`.
    fn member(&self, value: &str) -> Result<isl::UnionPwAff> {
        let threads = Param::first(Param::Thread, self.threads).join(", ");
        let map = format!("[{threads}] -> {{ [{}] -> [{value}] }}", self.out);
        let map = isl::UnionMap::read(&self.scop.ctx, &map)?;
        Ok(isl::MultiUnionPwAff::from_union_map(self.mine.clone().apply_range(map)?)?.at(0)?)
    }

    /// `for steps { for turns { statements }; barrier }`; with windows `for stages { _enter; for turns {
    /// copies }; barrier; for the last coordinate of steps { for turns { statements }; barrier } }`
    fn schedule(
        &self,
        (c, l): (&[String], &[String]),
        (sizes, extents): (&[i64], &[i64]),
        staging: Option<&Staging>,
    ) -> Result<isl::Schedule> {
        let ctx = &self.scop.ctx;
        let (p, c_all) = (&c[..c.len() - 1], c.join(", "));
        // Tuples of all that is no statement, by the names of their dimensions.
        let mut others = vec![format!("{Barrier}[{c_all}]")];
        let mut domain = self.mine.clone().domain()?.coalesce()?.detect_equalities()?;
        domain = domain.add_set(self.barriers.clone())?;
        let mut first = Vec::new();
        if let Some(s) = staging {
            let enter = format!("{Enter}[{}]", p.join(", "));
            let union = |text: &str| isl::UnionSet::read(ctx, &format!("{{ {text} }}"));
            first.push((union(&enter)?, Tree::Leaf));
            domain = domain.add_set(s.entered.clone())?;
            let before = [p, &[BEFORE.to_string()]].concat().join(", ");
            let ahead = isl::Map::read(ctx, &format!("{{ {enter} -> {Barrier}[{before}] }}"))?;
            domain = domain.add_set(s.entered.clone().apply(ahead)?)?;
            for (w, (copies, turns)) in s.windows.iter().zip(&s.copies) {
                let tuple = format!("{}[{}]", w.copy, [p, &names("x", w.size.len())].concat().join(", "));
                first.push((union(&tuple)?, Tree::Leaf.under(turns.clone())));
                domain = domain.add_set(copies.clone())?;
                others.push(tuple);
            }
            others.push(enter);
            first.push((union(&format!("{Barrier}[{c_all}] : {} = {BEFORE}", c[p.len()]))?, Tree::Leaf));
        }
        let step = |value: &String, others: &[String]| -> Result<isl::UnionPwAff> {
            let pieces: Vec<_> = others.iter().map(|t| format!("{t} -> [({value})]")).collect();
            let rest = isl::UnionPwAff::read(ctx, &format!("{{ {} }}", pieces.join("; ")))?;
            Ok(self.member(value)?.union_add(rest)?)
        };
        let mut turns = Vec::new();
        // What a thread does in a turn is an affine function of the turn: no division is left in its code.
        for (d, ((l, size), extent)) in l.iter().zip(sizes).zip(extents).enumerate() {
            if size != extent {
                turns.push(self.member(&format!("floor(({l} - {}) / {size})", Param::Thread(d)))?);
            }
        }
        let mut body = Vec::new();
        let mut all = isl::UnionSet::empty(ctx)?;
        for s in &self.scop.statements {
            let dims = names("i", s.domain.dim(isl::DimType::Set)? as usize);
            let tuple = isl::UnionSet::read(ctx, &format!("{{ {}[{}] }}", s.name, dims.join(",")))?;
            all = all.union(tuple.clone())?;
            body.push((tuple, Tree::Leaf));
        }
        let body = if body.len() == 1 { Tree::Leaf } else { Tree::Sequence(body) };
        let barrier = isl::UnionSet::read(ctx, &format!("{{ {Barrier}[{c_all}] }}"))?;
        let run = Tree::Sequence(vec![(all.clone(), body.under(turns)), (barrier, Tree::Leaf)]);
        let root = match staging {
            None => run.under(c.iter().map(|v| step(v, &others)).collect::<Result<_>>()?),
            Some(_) => {
                let last = step(&c[p.len()], &others[..1])?;
                let steps = isl::UnionSet::read(
                    ctx,
                    &format!("{{ {Barrier}[{c_all}] : {} > {BEFORE} }}", c[p.len()]),
                )?;
                first.push((all.union(steps)?, run.under(vec![last])));
                let stages = p.iter().map(|v| step(v, &others)).collect::<Result<_>>()?;
                Tree::Sequence(first).under(stages)
            }
        };
        let schedule = ScheduleTree { domain: domain.gist_params(self.context.clone())?, root }.to_isl()?;
        // One loop a step coordinate, so that all threads meet at the same barriers.
        let node = atomic(schedule.root()?.child(0)?)?;
        if staging.is_none() {
            return Ok(node.schedule()?);
        }
        let node = if p.is_empty() { node } else { node.child(0)? };
        let last = node.n_children()? as i32 - 1;
        Ok(atomic(node.child(last)?.child(0)?)?.schedule()?)
    }
}

/// One loop for each member of a band, if it is one.
fn atomic(node: isl::ScheduleNode) -> Result<isl::ScheduleNode> {
    if node.node_type()? != isl::NodeType::Band {
        return Ok(node);
    }
    let mut node = node;
    for d in 0..node.band_n_member()? {
        node = node.band_set_ast_loop_type(d as i32, isl::AstLoopType::Atomic)?;
    }
    Ok(node)
}

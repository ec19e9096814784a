//! The mapping of a placed schedule tree to launches, blocks and threads.
//!
//! The tree is walked from its root. Bands and sequences above the marks become the host schedule; each mark becomes a kernel:
//! beneath [`KERNEL`](crate::strategy::KERNEL) the members of the band are cut into tiles, the tile's coordinate is the block and the
//! point in the tile the thread; beneath [`SERIAL`](crate::strategy::SERIAL) one block of one thread runs everything (its grid and its block have
//! one dimension of size one, so that every kernel looks the same); beneath [`NEST`] the host's schedule itself is part of a kernel (`nest`), and beneath
//! [`EITHER`] a parameter says which of two forms is launched.
//!
//! # Invariants
//! - With member `m`, tile size `s` and `p` threads (`p` divides `s`): `_b = floor(m / s)`, `_t = m mod p`. With `s = p` that is
//!   `m = s _b + _t`; with a larger tile a thread runs the points of its residue class, in order.
//! - The band has any number of members; at most three of them have more than one thread.
//! - The grid is the exact box around the tiles of one launch. Blocks and threads without instances do nothing: their part of the
//!   domain is empty.
//! - No barrier: all members that are mapped are coincident, so no dependence joins two threads of a launch.
//! - The domain of a kernel in the host schedule holds exactly the host iterations in which it has an instance.
//!
//! # Example
//! `for t { for i: S0[t, i] : 1 <= i < n - 1 }` with `t` on the host and 256 threads:
//! ```text
//! K0[_h0]   { S0[t, i] : t = _h0 and 0 <= _h0 < T and 1 <= i < n - 1 }
//! grid      _b0 from 0, count floor((n - 2) / 256) + 1
//! tile      { S0[t, i] -> [floor(i / 256)] },   thread { S0[t, i] -> [i mod 256] }
//! schedule  domain [_h0, _b0, _t0] -> { S0[t, i] : t = _h0 and i = 256 _b0 + _t0 and ... }
//! ```

mod counters;
mod early;
mod graph;
mod kernel;
mod lanes;
mod nest;
mod placement;
mod promotion;
mod rows;
pub(crate) mod task;
mod team;
mod tiling;

pub use tiling::{TileShape, TilingOptions, UNROLLED};

use crate::mapped::{Alternative, Choice, Cut, Late, MappedKernel, MappedScop, Placement};
use crate::strategy::{EITHER, GRAPH, KERNEL, NEST, ROWS, SERIAL, place};
use crate::time_tiling::waves;
use crate::tree::{Band, ScheduleTree, Tree};
use crate::{Dependences, Result, ScheduleError, budgeted, is_quota, known};
use pollyrs_isl as isl;
use pollyrs_scop::{ArrayId, Scop, StmtId};

/// Where the nests of a placed tree run in blocks ([`crate::strategy::NEST`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nests {
    /// Where they are estimated to be faster, for the sizes of an execution.
    Auto,
    Never,
    Always,
}

/// Sizes of tiles and blocks, and the budget.
#[derive(Clone, Debug)]
pub struct MapOptions {
    /// Threads along the dimensions of a block with one, two and three dimensions, outermost first. At most 1024 in all.
    pub threads: [Vec<u32>; 3],
    /// Threads of a block with one dimension in which every thread runs a loop.
    pub looped: u32,
    /// Points of a tile for each thread along each dimension; 1 everywhere unless a strategy reuses data between them.
    pub points: [Vec<u32>; 3],
    /// Kernels with reuse along two dimensions compute several points a thread; `None`: never.
    pub tiling: Option<TilingOptions>,
    /// Tiles of wavefronts: points along each loop, outermost first, what is missing is chosen; `None`: a launch for each front.
    pub waves: Option<Vec<i64>>,
    pub nests: Nests,
    /// Where loops of launches are one launch whose blocks wait for each other ([`crate::strategy::GRAPH`]).
    pub graphs: Nests,
    /// Tiles have a plain kernel beside them that runs while their code isn't there ([`MappedScop::late`]).
    pub late: bool,
    /// Neighbouring points share loads in kernels that a loop of the host launches as well. (Time steps that are fused have no use for that.)
    pub neighbours_in_steps: bool,
    /// Statements that do nothing but fuse a product of doubles into a sum: `c = fma(a, b, c)`.
    pub products: Vec<StmtId>,
    /// Statements whose last operation waits for another one of the same instance: `t = a * b; c = c + t`, without contraction.
    pub chained: Vec<StmtId>,
    /// Whether some statement divides integers, which must not happen at points that do not exist.
    pub divides: bool,
    /// By statement: instructions of the device that its divisions and functions are. Statements that are not listed have none.
    pub bulk: Vec<u32>,
    /// isl operations.
    pub budget: u64,
}

impl Default for MapOptions {
    /// Warps along x, eight of them a block: enough to hide latency at any register count the kernels reach, small enough
    /// that partial tiles waste little. In three dimensions four, with the outermost dimension the block's, not the thread's: what depends on it
    /// alone is computed once a warp, not by each thread, where index arithmetic is most of the instructions (bench/notes/016-sizes-and-steps.md:
    /// on an H200 stencils are 10 to 16% faster than with 4x4x32, and nothing is slower; 8 along y idle where the middle loop is short).
    fn default() -> Self {
        MapOptions {
            threads: [vec![256], vec![8, 32], vec![1, 4, 32]],
            // Few iterations, each long: blocks of a warp spread them over most multiprocessors, and where there are many, 32 blocks of a
            // warp still share one.
            looped: 32,
            points: [vec![1], vec![1, 1], vec![1, 1, 1]],
            tiling: Some(TilingOptions::default()),
            waves: Some(Vec::new()),
            nests: Nests::Auto,
            graphs: Nests::Never,
            late: false,
            neighbours_in_steps: true,
            products: Vec::new(),
            chained: Vec::new(),
            divides: false,
            bulk: Vec::new(),
            budget: crate::DEFAULT_BUDGET,
        }
    }
}

impl MapOptions {
    /// `(tile size, threads)` along dimension `d` of `n`; beyond three dimensions, only the innermost three have threads.
    fn sizes(&self, n: usize, d: usize) -> (u32, u32) {
        let Some(d) = d.checked_sub(n.saturating_sub(3)) else { return (1, 1) };
        let n = n.min(3);
        let at =
            |v: &[Vec<u32>; 3], default: u32| v.get(n - 1).and_then(|v| v.get(d)).copied().unwrap_or(default);
        let threads = at(&self.threads, 1).max(1);
        (threads * at(&self.points, 1).max(1), threads)
    }
}

/// A kernel before its isl objects are made.
#[derive(Clone)]
struct Site {
    name: String,
    /// The members of the host bands above, outermost first.
    host: Vec<isl::UnionPwAff>,
    domain: isl::UnionSet,
    /// The members that are mapped, outermost first; none for a serial kernel.
    members: Vec<isl::UnionPwAff>,
    /// What a thread runs.
    inner: Tree,
    /// How the members are tiled, if several points run side by side in a thread.
    tile: Option<tiling::Tile>,
    /// Threads along the last members, if not the usual ones.
    threads: Option<Vec<u32>>,
    /// Set if blocks have counters of their own.
    count: Option<counters::Count>,
    /// Threads for an instance: [`MappedKernel::team`].
    team: u32,
    /// Set if one of several sites is launched.
    alternative: Option<Variant>,
    /// Whether the last host loop is around this launch alone.
    alone: bool,
    /// `inner` is a block's schedule of steps, with marks.
    nest: bool,
    /// Arrays of rows are in shared memory meanwhile.
    rows: bool,
    /// The members are tasks, and wait for each other in the steps of the outermost loop.
    graph: bool,
    /// Set if this is one of two forms of the same instances.
    either: Option<Either>,
}

/// Of two forms, a nest and launches, or tiles and a plain kernel, the parameter says which one runs.
#[derive(Clone)]
struct Either {
    param: String,
    /// Of the two, this is the nest, or the tiles.
    nested: bool,
}

/// The parameter of [`Late`].
const LATE: &str = "_late";

impl Either {
    fn late(tiles: bool) -> Either {
        Either { param: LATE.to_owned(), nested: tiles }
    }

    /// `[params, _n0] -> { : ... }`
    fn condition(&self, ctx: &isl::Context) -> Result<isl::Set> {
        let side = if self.nested { "<= 0" } else { ">= 1" };
        Ok(isl::Set::read(ctx, &format!("[{0}] -> {{ : {0} {side} }}", self.param))?)
    }
}

/// The part of the budget that the search for tiles may take.
const TILES: u64 = 2;

/// Maps `tree` (placing it first if it has no marks).
pub fn map(scop: &Scop, deps: &Dependences, tree: &ScheduleTree, options: &MapOptions) -> Result<MappedScop> {
    budgeted(&scop.ctx, "mapping", options.budget, || {
        let placed;
        let tree = if tree.root.has_mark(KERNEL) || tree.root.has_mark(SERIAL) {
            tree
        } else {
            placed = place(scop, deps, tree)?.tree;
            &placed
        };
        if !tree.root.has_mark(KERNEL) {
            return Err(ScheduleError::NoParallelism);
        }
        map_marked(scop, deps, tree, options)
    })
}

fn map_marked(
    scop: &Scop,
    deps: &Dependences,
    tree: &ScheduleTree,
    options: &MapOptions,
) -> Result<MappedScop> {
    let known = known(scop)?;
    let mut sites = Vec::new();
    let domain = tree.domain.clone().intersect_params(known.clone())?.coalesce()?;
    let mut around = Around { host: vec![], nests: options.nests, graphs: options.graphs, either: None };
    let mut host = collect(&tree.root, &domain, &mut around, &mut sites, false)?;
    let mut nested = Vec::new();
    for site in &sites {
        if let Some(either) = site.either.as_ref().filter(|e| e.nested) {
            nested.push(nest::nested(scop, &sites, &either.param, options)?);
        }
    }
    let private = |placement: &[Placement]| {
        (0..placement.len()).filter(|i| placement[*i] == Placement::Private).map(ArrayId).collect::<Vec<_>>()
    };
    if let (Some(h), Some(_)) = (&mut host, &options.tiling) {
        let private = private(&placement::placement(scop, deps, &sites)?);
        let mut tiled = sites.clone();
        let chosen = budgeted(&scop.ctx, "tiles", options.budget / TILES, || {
            tiling::choose(scop, &known, options, &private, h.clone(), &mut tiled)
        });
        match chosen {
            Ok(chosen) => (*h, sites) = (chosen, tiled),
            // Plain kernels are better than none.
            Err(e) if is_quota(&e) => {}
            Err(e) => return Err(e),
        }
    }
    let placement = placement::placement(scop, deps, &sites)?;
    let private = private(&placement);

    let mut kernels: Vec<MappedKernel> = Vec::new();
    let mut host_domain = isl::UnionSet::empty(&scop.ctx)?;
    for site in &sites {
        if let Some((kernel, launches)) = tiles_of_front(scop, deps, site, &known, options)? {
            let launches = match &site.either {
                Some(either) => launches.intersect_params(either.condition(&scop.ctx)?)?,
                None => launches,
            };
            kernels.push(kernel);
            host_domain = host_domain.union(launches)?;
            continue;
        }
        let mut kernel = match site.nest {
            true => nest::kernel(scop, deps, site, &known, options, &private)?,
            false => kernel::build(scop, site, &known, options, &private)?,
        };
        kernel.early = early::reads(scop, deps, &kernel)?;
        kernels.push(kernel);
        host_domain = host_domain.union(kernel::host_domain(site, &known)?)?;
    }
    let host = match host {
        Some(h) => host_tree(&scop.ctx, &h, &sites, 0)?.0,
        None => return Err(ScheduleError::NoParallelism),
    };
    let host = ScheduleTree { domain: host_domain, root: host }.to_isl()?;
    let choices = choices(&sites, &known, options)?;
    let is_late = |s: &Site| s.either.as_ref().is_some_and(|e| e.param == LATE && e.nested);
    let late: Vec<usize> = (0..sites.len()).filter(|i| is_late(&sites[*i])).collect();
    let late = (!late.is_empty()).then(|| Late { param: LATE.to_owned(), kernels: late });
    Ok(MappedScop { kernels, host, placement, choices, nested, late, divides: false })
}

/// The kernel of a wavefront's tiles, and its launches.
fn tiles_of_front(
    scop: &Scop,
    deps: &Dependences,
    site: &Site,
    known: &isl::Set,
    options: &MapOptions,
) -> Result<Option<(MappedKernel, isl::UnionSet)>> {
    let Some(sizes) = options.waves.as_ref().filter(|_| site.alone && !site.nest) else { return Ok(None) };
    let front = waves::Front {
        name: &site.name,
        host: &site.host,
        parallel: &site.members,
        domain: &site.domain,
        inner: &site.inner,
    };
    waves::kernel(scop, deps, &front, known, sizes)
}

/// One of several sites with the same instances: the parameter of the choice (named after the first site) says which is launched, or where
/// the instances of the first end and those of the second begin.
#[derive(Clone)]
struct Variant {
    /// Index of the first site.
    choice: usize,
    at: usize,
    of: usize,
    cut: Option<CutAt>,
}

/// Of two sites, the first has the instances whose member `dim` is less than the choice, the second the others. The choice is a multiple of the second
/// one's tiles not below the member's smallest value and below its largest plus one, or the latter; else the second site has all.
#[derive(Clone)]
struct CutAt {
    dim: usize,
    /// Points of a tile of the first site along the member: the choice should be a multiple.
    tile: u32,
    /// The same of the second site.
    part: u32,
    /// `[params] -> { [v] }`
    first: isl::PwAff,
    end: isl::PwAff,
}

impl CutAt {
    /// The first tile of the second site that may have points.
    fn lowest(&self) -> Result<isl::PwAff> {
        let part = isl::Val::int(self.first.context(), self.part.into())?;
        Ok(self.first.clone().scale_down(part)?.floor()?)
    }
}

/// `[p] -> { [scale p] }`
fn scaled(ctx: &isl::Context, p: &str, scale: u32) -> Result<isl::PwAff> {
    Ok(isl::PwAff::read(ctx, &format!("[{p}] -> {{ [({scale} * {p})] }}"))?)
}

impl Variant {
    fn param(&self) -> String {
        format!("_c{}", self.choice)
    }

    /// `[_h0] -> { [v] : ... }`: values of the cut member in the site's launch. The first site's parameter is the point behind its last one, so that its
    /// bounds have no cases, the second one's a tile coordinate, so that its first tile begins with a point of its own.
    fn side(&self, cut: &CutAt) -> String {
        match self.at {
            0 => "[_h0] -> { [v] : v < _h0 }".into(),
            _ => format!("[_h0] -> {{ [v] : v >= {} * _h0 }}", cut.part),
        }
    }

    /// `[params, _h0] -> { : ... }`: what holds of the host parameter of a site where a launch may be cut.
    fn places(&self, cut: &CutAt) -> Result<isl::Set> {
        let ctx = cut.first.context();
        let (scale, lowest) = if self.at == 0 { (1, cut.first.clone()) } else { (cut.part, cut.lowest()?) };
        let least = scaled(ctx, "_h0", 1)?.ge_set(lowest)?;
        Ok(least.intersect(scaled(ctx, "_h0", scale)?.le_set(cut.end.clone())?)?)
    }

    /// `[params, _c0] -> { : ... }`: the conditions of all alternatives are a partition of the integers. Where a launch is cut is its host parameter.
    fn condition(&self, ctx: &isl::Context) -> Result<isl::Set> {
        let p = self.param();
        if let Some(cut) = &self.cut {
            let at = scaled(ctx, &p, 1)?;
            let end = at.clone().eq_set(cut.end.clone())?;
            let whole = isl::Set::read(ctx, &format!("[{p}] -> {{ : {p} mod {} = 0 }}", cut.part))?;
            let inside =
                at.clone().ge_set(cut.first.clone())?.intersect(at.clone().lt_set(cut.end.clone())?)?;
            let places = whole.intersect(inside)?;
            if self.at == 0 {
                return Ok(at.eq_set(scaled(ctx, "_h0", 1)?)?.intersect(places.union(end)?)?);
            }
            let own = at.eq_set(scaled(ctx, "_h0", cut.part)?)?.intersect(places.clone())?;
            let all = scaled(ctx, "_h0", 1)?.eq_set(cut.lowest()?)?.subtract(places)?.subtract(end)?;
            return Ok(own.union(all)?);
        }
        let condition = match self.at {
            0 => format!("{p} <= 0"),
            at if at + 1 == self.of => format!("{p} >= {at}"),
            at => format!("{p} = {at}"),
        };
        Ok(isl::Set::read(ctx, &format!("[{p}] -> {{ : {condition} }}"))?)
    }
}

/// The choices among tiled sites.
fn choices(sites: &[Site], known: &isl::Set, options: &MapOptions) -> Result<Vec<Choice>> {
    let multiprocessors = options.tiling.as_ref().map_or(1, |t| t.multiprocessors);
    let mut out: Vec<Choice> = Vec::new();
    for (kernel, site) in sites.iter().enumerate() {
        let (Some(a), Some(tile)) = (&site.alternative, &site.tile) else { continue };
        let param = a.param();
        let alternative = Alternative { kernel, weight: tile.weight, residents: tile.residents };
        match out.iter_mut().find(|c| c.param == param) {
            Some(c) => c.kernels.push(alternative),
            None => {
                let cut = a.cut.as_ref().map(|cut| Cut {
                    dim: cut.dim,
                    tile: cut.tile,
                    ratio: 1,
                    first: cut.first.clone(),
                    end: cut.end.clone(),
                    grids: [vec![], vec![]],
                });
                out.push(Choice { param, kernels: vec![alternative], multiprocessors, cut });
            }
        }
        let Some(cut) = out.iter_mut().find(|c| c.param == a.param()).and_then(|c| c.cut.as_mut()) else {
            continue;
        };
        if let Some(at) = &a.cut {
            cut.ratio = at.tile / tile.dims[at.dim].tile();
        }
        // Without the cut, in the shape of this site.
        let whole = Site { alternative: None, ..site.clone() };
        let domain = kernel::launch_domain(&whole)?;
        let around = domain.clone().params()?.coalesce()?.intersect(known.clone())?.coalesce()?;
        for (m, d) in whole.members.iter().zip(&tile.dims) {
            let values = kernel::values(&domain, m)?;
            cut.grids[a.at].push(kernel::tiles(&values, d.tile(), &around)?);
        }
    }
    Ok(out)
}

/// The host's loops and sequences.
#[derive(Clone)]
enum Host {
    Loops(usize, Box<Host>),
    Sequence(Vec<Host>),
    /// Index into the sites.
    Launch(usize),
}

/// What is above a part of a tree.
struct Around {
    /// The members of bands.
    host: Vec<isl::UnionPwAff>,
    nests: Nests,
    graphs: Nests,
    either: Option<Either>,
}

/// Collects the kernels beneath `tree` in order; `None` if nothing is there to execute.
fn collect(
    tree: &Tree,
    domain: &isl::UnionSet,
    around: &mut Around,
    sites: &mut Vec<Site>,
    alone: bool,
) -> Result<Option<Host>> {
    if domain.is_empty()? {
        return Ok(None);
    }
    let mut site = |members: Vec<isl::UnionPwAff>,
                    inner: &Tree,
                    around: &Around,
                    (nest, rows, graph): (bool, bool, bool)| {
        let name = format!("K{}", sites.len());
        let domain = domain.clone();
        sites.push(Site {
            name,
            host: around.host.clone(),
            domain,
            members,
            inner: inner.clone(),
            tile: None,
            threads: None,
            count: None,
            team: 1,
            alternative: None,
            alone,
            nest,
            rows,
            graph,
            either: around.either.clone(),
        });
        Ok(Some(Host::Launch(sites.len() - 1)))
    };
    match tree {
        // Without steps the kernels beneath are launches.
        Tree::Mark(m, child) if m == ROWS && around.nests == Nests::Never => match &**child {
            Tree::Band(b) => collect(&b.child, domain, around, sites, false),
            _ => Err(ScheduleError::Unsupported("rows need a band")),
        },
        Tree::Mark(m, child) if [KERNEL, NEST, ROWS, GRAPH].contains(&m.as_str()) => match &**child {
            Tree::Band(b) => site(b.members.clone(), &b.child, around, (m != KERNEL, m == ROWS, m == GRAPH)),
            _ => Err(ScheduleError::Unsupported("a kernel mark needs a band")),
        },
        Tree::Mark(m, child) if m == SERIAL => site(vec![], child, around, (false, false, false)),
        Tree::Mark(m, child) if m == EITHER => {
            let Tree::Sequence(forms) = &**child else {
                return Err(ScheduleError::Unsupported("two forms that are no sequence"));
            };
            let param = format!("_n{}", sites.len());
            let mut out = Vec::new();
            let graph = forms.first().is_some_and(|(_, f)| matches!(f, Tree::Mark(m, _) if m == GRAPH));
            let wanted = if graph { around.graphs } else { around.nests };
            for ((_, form), nested) in forms.iter().zip([true, false]) {
                around.either = match (wanted, nested) {
                    (Nests::Never, true) | (Nests::Always, false) => continue,
                    (Nests::Auto, _) => Some(Either { param: param.clone(), nested }),
                    _ => None,
                };
                let found = collect(form, domain, around, sites, false);
                around.either = None;
                out.extend(found?);
            }
            Ok(if out.is_empty() { None } else { Some(Host::Sequence(out)) })
        }
        Tree::Leaf => site(vec![], &Tree::Leaf, around, (false, false, false)),
        Tree::Mark(_, child) => collect(child, domain, around, sites, false),
        Tree::Band(Band { members, child, .. }) => {
            around.host.extend(members.iter().cloned());
            let kernel = matches!(&**child, Tree::Mark(m, _) if m == KERNEL);
            let inner = collect(child, domain, around, sites, members.len() == 1 && kernel);
            around.host.truncate(around.host.len() - members.len());
            Ok(inner?.map(|h| Host::Loops(members.len(), Box::new(h))))
        }
        Tree::Sequence(children) => {
            let mut out = Vec::new();
            for (filter, child) in children {
                let inside = domain.clone().intersect(filter.clone())?;
                out.extend(collect(child, &inside, around, sites, false)?);
            }
            Ok(if out.is_empty() { None } else { Some(Host::Sequence(out)) })
        }
    }
}

/// The schedule tree over the kernels' tuples, and the kernels in it.
fn host_tree(ctx: &isl::Context, host: &Host, sites: &[Site], depth: usize) -> Result<(Tree, Vec<usize>)> {
    Ok(match host {
        Host::Launch(k) => (Tree::Leaf, vec![*k]),
        Host::Loops(n, child) => {
            let (tree, kernels) = host_tree(ctx, child, sites, depth + n)?;
            let mut members = Vec::new();
            for d in depth..depth + n {
                let pieces: Vec<_> =
                    kernels.iter().map(|k| format!("{} -> [(_h{d})]", sites[*k].tuple())).collect();
                members.push(isl::UnionPwAff::read(ctx, &format!("{{ {} }}", pieces.join("; ")))?);
            }
            (tree.under(members), kernels)
        }
        Host::Sequence(children) => {
            let (mut out, mut all) = (Vec::new(), Vec::new());
            for c in children {
                let (tree, kernels) = host_tree(ctx, c, sites, depth)?;
                let tuples: Vec<_> = kernels.iter().map(|k| sites[*k].tuple()).collect();
                out.push((isl::UnionSet::read(ctx, &format!("{{ {} }}", tuples.join("; ")))?, tree));
                all.extend(kernels);
            }
            if crate::planted::planted("swap-launches") {
                out.reverse();
            }
            let tree = if out.len() == 1 { out.remove(0).1 } else { Tree::Sequence(out) };
            (tree, all)
        }
    })
}

impl Site {
    /// `_h0, _h1, ...`: the host loops around, or where a launch is cut.
    fn host_params(&self) -> Vec<String> {
        let cut = self.alternative.as_ref().is_some_and(|a| a.cut.is_some());
        (0..self.host.len() + usize::from(cut)).map(|i| format!("_h{i}")).collect()
    }

    /// `K0[_h0, _h1]`
    fn tuple(&self) -> String {
        format!("{}[{}]", self.name, self.host_params().join(", "))
    }
}

#[cfg(test)]
mod tests;

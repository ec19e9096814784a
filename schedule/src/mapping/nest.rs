//! Nests as kernels with steps ([`crate::strategy::NEST`]): an iteration of the outer members is a block,
//! what would be the host's schedule of launches is the block's schedule of steps, and the members of what
//! would be a launch are threads, in turns where there are more of them.
//!
//! ```text
//! step    [place in the sequence, loop counter, ...], in the order of the tree; what has fewer coordinates is filled with zeros
//! thread  of the last two members (u, v):  [u mod p, v mod q];   of one:  [floor(v / q) mod p, v mod q];   of none:  [0, 0]
//! ```
//! Behind each step is a barrier, wherever the block may have an instance of it. Arrays stay in global
//! memory, whose accesses a barrier orders within a block.
//!
//! # Invariants
//! - What orders two instances of a block is either a loop or sequence above their kernels, hence a step
//!   coordinate, or the order within one thread.
//! - Barriers are the same for all threads of a block: their set mentions none.
//!
//! # Example
//! `for b (parallel) { for k { for i > k: S0[b, k, i]; for i > k, j > k: S1[b, k, i, j] } }`:
//! ```text
//! tile    S0[b, k, i], S1[b, k, i, j] -> [b]
//! step    S0[b, k, i] -> [k, 0],  S1[b, k, i, j] -> [k, 1]
//! thread  S0[b, k, i] -> [floor(i / 32) mod 8, i mod 32],  S1[b, k, i, j] -> [i mod 8, j mod 32]
//! code    for k { for i: S0; _barrier[k, 0]; for i, j: S1; _barrier[k, 1] }
//! ```

use super::launch::{launch_domain, product, values};
use super::leaf::{At, Leaf, leaves, parts};
use super::options::MapOptions;
use super::promotion::promote;
use super::rows::{self, BEFORE};
use super::site::Site;
use super::{graph, task};
use crate::domains::{aligned, simple};
use crate::mapped::{self, BlockDim, Core, GridDim, MappedKernel, Mode, Promotion, StepsOf};
use crate::names::Tuple::{self, Barrier};
use crate::names::{Mark, Param};
use crate::planted::planted;
use crate::strategy::{KERNEL, SERIAL, extent_of};
use crate::task::TaskMemory;
use crate::tree::{ScheduleTree, Tree, member_map};
use crate::{Dependences, Result, ScheduleError};
use pollyrs_isl as isl;
use pollyrs_scop::{ArrayId, Scop};

/// `{ S[i] -> [c] }` of a leaf with `n` coordinates.
fn step(leaf: &Leaf, n: usize) -> Result<isl::UnionMap> {
    let ctx = leaf.domain.context();
    let constant = |v: i64| -> Result<isl::UnionMap> {
        Ok(leaf.domain.clone().product_map(isl::UnionSet::read(ctx, &format!("{{ [{v}] }}"))?)?)
    };
    let mut maps = Vec::new();
    for at in &leaf.at {
        maps.push(match at {
            At::Loop(m) => member_map(m)?.intersect_domain(leaf.domain.clone())?,
            At::Place(place) => constant(*place)?,
        });
    }
    for _ in maps.len()..n {
        maps.push(constant(0)?);
    }
    product(maps)
}

/// Threads along the dimensions of the block, one or two, outermost first.
pub(super) fn threads(scop: &Scop, leaves: &[Leaf], options: &MapOptions) -> Result<Vec<u32>> {
    let flat = leaves.iter().all(|l| l.members.len() < 2);
    let most = |n: usize, d: usize| options.threads[n - 1].get(d).copied().unwrap_or(1).max(1);
    let (mut along, mut line) = ([1.0_f64; 2], 1.0_f64);
    for l in leaves {
        let mut extents = Vec::new();
        for m in l.members.iter().rev().take(2) {
            extents.push(extent_of(scop, m, &l.domain)?);
        }
        match extents[..] {
            [v] => line = line.max(v),
            [v, u] => along = [along[0].max(u), along[1].max(v)],
            _ => {}
        }
    }
    let wide = |extent: f64, most: u32| (extent as u32).max(1).next_power_of_two().min(most);
    if flat {
        return Ok(vec![wide(line, most(1, 0))]);
    }
    let q = wide(along[1], most(2, 1));
    let p = wide(along[0].max(line / f64::from(q)), most(2, 0).max(most(2, 0) * most(2, 1) / q));
    Ok(vec![p, q])
}

/// The thread that has an instance, as the text of a map from the members that are spread, and the same for
/// one thread `_t*`.
fn spread(sizes: &[u32], members: usize) -> Option<(String, String)> {
    let (t, s) = (Param::Thread(0), Param::Thread(1));
    Some(match (sizes, members) {
        (_, 0) => return None,
        ([q], 1) => (
            format!("{{ [v] -> [v mod {q}] }}"),
            format!("[{t}] -> {{ [v] : exists e : v = {q} * e + {t} }}"),
        ),
        ([p, q], 1) => (
            format!("{{ [v] -> [floor(v / {q}) mod {p}, v mod {q}] }}"),
            format!("[{t}, {s}] -> {{ [v] : exists e : v = {} * e + {q} * {t} + {s} }}", p * q),
        ),
        ([p, q], _) => (
            format!("{{ [u, v] -> [u mod {p}, v mod {q}] }}"),
            format!("[{t}, {s}] -> {{ [u, v] : exists e, f : u = {p} * e + {t} and v = {q} * f + {s} }}"),
        ),
        _ => return None,
    })
}

/// The blocks of a launch.
struct Blocks {
    names: Vec<String>,
    grid: Vec<GridDim>,
    tiles: Vec<isl::UnionMap>,
    /// `[params, _h*, _b*] -> { S[i] }`: the instances of one block.
    one_tile: isl::UnionSet,
    /// `[params, _h*, _b*] -> { : ... }`
    context: isl::Set,
}

/// One block for each value of the site's members.
fn blocks(site: &Site, domain: &isl::UnionSet, around: isl::Set) -> Result<Blocks> {
    let ctx = &around.context().clone();
    let names = Param::first(Param::Block, site.members.len());
    let mut context = around.clone();
    let (mut grid, mut tiles) = (Vec::new(), Vec::new());
    let mut one_tile = domain.clone();
    for (m, b) in site.members.iter().zip(&names) {
        let values = values(domain, m)?;
        let bound =
            |p: isl::PwAff| -> Result<isl::PwAff> { Ok(p.coalesce()?.gist(around.clone())?.coalesce()?) };
        let (lower, upper) = (bound(values.clone().dim_min(0)?)?, bound(values.dim_max(0)?)?);
        let at = isl::PwAff::read(ctx, &format!("[{b}] -> {{ [({b})] }}"))?;
        context =
            context.intersect(at.clone().ge_set(lower.clone())?)?.intersect(at.le_set(upper.clone())?)?;
        let count = upper.sub(lower.clone())?.add_constant(isl::Val::int(ctx, 1)?)?.coalesce()?;
        let here = isl::UnionSet::read(ctx, &format!("[{b}] -> {{ [v] : v = {b} }}"))?;
        one_tile = one_tile.intersect(member_map(m)?.intersect_range(here)?.domain()?)?;
        tiles.push(member_map(m)?);
        grid.push(GridDim { param: b.clone(), lower, count });
    }
    Ok(Blocks { names, grid, tiles, one_tile, context })
}

/// The threads of a block.
struct Lanes {
    names: Vec<String>,
    sizes: Vec<u32>,
}

impl Lanes {
    fn new(sizes: Vec<u32>) -> Lanes {
        Lanes { names: Param::first(Param::Thread, sizes.len()), sizes }
    }

    /// What is known in a thread, of what is known in its block.
    fn context(&self, of_block: isl::Set) -> Result<isl::Set> {
        let mut context = of_block;
        for (t, size) in self.names.iter().zip(&self.sizes) {
            let own = format!("[{t}] -> {{ : 0 <= {t} < {size} }}");
            let own = isl::Set::read(context.context(), &own)?;
            context = context.intersect(own)?;
        }
        simple(context)
    }

    fn block(&self) -> Vec<BlockDim> {
        let dim = |(t, size): (&String, &u32)| BlockDim { param: t.clone(), size: *size };
        self.names.iter().zip(&self.sizes).map(dim).collect()
    }

    /// The thread that has each instance of a leaf, and the instances among those of one block that thread
    /// `_t*` has.
    fn spread(&self, leaf: &Leaf, here: isl::UnionSet) -> Result<(isl::UnionMap, isl::UnionSet)> {
        let ctx = leaf.domain.context();
        let members = &leaf.members[leaf.members.len().saturating_sub(self.sizes.len().min(2))..];
        let Some((map, one)) = spread(&self.sizes, members.len()) else {
            let zeros = vec!["0"; self.sizes.len()].join(", ");
            let first = isl::UnionSet::read(ctx, &format!("{{ [{zeros}] }}"))?;
            let only: Vec<_> = self.names.iter().map(|t| format!("{t} = 0")).collect();
            let only = format!("[{}] -> {{ : {} }}", self.names.join(", "), only.join(" and "));
            let mine = here.intersect_params(isl::Set::read(ctx, &only)?)?;
            return Ok((leaf.domain.clone().product_map(first)?, mine));
        };
        let values = product(members.iter().map(member_map).collect::<Result<_>>()?)?
            .intersect_domain(leaf.domain.clone())?;
        let one = values.clone().intersect_range(isl::UnionSet::read(ctx, &one)?)?.domain()?;
        Ok((values.apply_range(isl::UnionMap::read(ctx, &map)?)?, here.intersect(one)?))
    }
}

/// When and where the instances of a nest run.
struct Order {
    steps: isl::UnionMap,
    thread_map: isl::UnionMap,
    /// The instances of one thread.
    mine: isl::UnionSet,
    barriers: isl::UnionSet,
}

/// Steps of `n` coordinates, with a barrier behind each one that a block may have an instance of.
fn order(
    found: &[Leaf],
    n: usize,
    one_tile: &isl::UnionSet,
    own: &dyn Fn(usize, isl::UnionSet) -> Result<(isl::UnionMap, isl::UnionSet)>,
) -> Result<Order> {
    let ctx = one_tile.context();
    let (mut steps, mut thread_map) = (isl::UnionMap::empty(ctx)?, isl::UnionMap::empty(ctx)?);
    let (mut mine, mut barriers) = (isl::UnionSet::empty(ctx)?, isl::UnionSet::empty(ctx)?);
    let c = coordinates(n);
    let meet = isl::UnionMap::read(ctx, &format!("{{ [{c}] -> {Barrier}[{c}] }}"))?;
    for (number, leaf) in found.iter().enumerate() {
        let step = step(leaf, n)?;
        let here = leaf.domain.clone().intersect(one_tile.clone())?;
        for set in here.clone().apply(step.clone().apply_range(meet.clone())?)?.sets()? {
            barriers = barriers.add_set(set.remove_divs()?.coalesce()?)?;
        }
        steps = steps.union(step)?;
        let (threads, of_thread) = own(number, here)?;
        thread_map = thread_map.union(threads)?;
        mine = mine.union(of_thread)?;
    }
    Ok(Order { steps, thread_map, mine, barriers })
}

/// `{ _carried0[c] }`, the steps of carried updates, and when they are: `{ _carried0[c] -> [c] }`.
fn carried_steps(
    found: &[Leaf],
    n: usize,
    one_tile: &isl::UnionSet,
    memory: &TaskMemory,
    carried: &[Option<usize>],
) -> Result<(isl::UnionSet, isl::UnionMap)> {
    let ctx = one_tile.context();
    let (mut all, mut when) = (isl::UnionSet::empty(ctx)?, isl::UnionMap::empty(ctx)?);
    let c = coordinates(n);
    for (leaf, number) in found.iter().zip(carried) {
        let Some(update) = number.and_then(|number| memory.carried.get(number)) else { continue };
        let tuple = update.tuple();
        let own = isl::UnionMap::read(ctx, &format!("{{ {tuple}[{c}] -> [{c}] }}"))?;
        let here = leaf.domain.clone().intersect(one_tile.clone())?;
        for set in here.apply(step(leaf, n)?.apply_range(own.clone().reverse()?)?)?.sets()? {
            all = all.add_set(set.remove_divs()?.coalesce()?)?;
        }
        when = when.union(own)?;
    }
    Ok((all, when))
}

/// `c0, c1, ...`
fn coordinates(n: usize) -> String {
    (0..n).map(|d| format!("c{d}")).collect::<Vec<_>>().join(", ")
}

/// What a thread runs in the step of a leaf, and the cells that stay in registers meanwhile.
struct Bodies<'a> {
    scop: &'a Scop,
    site: &'a Site,
    private: &'a [ArrayId],
    memory: &'a TaskMemory,
    /// By leaf: the update of a task that it is, or the carried one.
    updates: &'a [Option<usize>],
    carried: &'a [Option<usize>],
}

impl Bodies<'_> {
    /// Of a carried update, the tuple of its steps as well.
    #[allow(clippy::type_complexity)]
    fn all(
        &self,
        domain: &isl::UnionSet,
        found: &[Leaf],
    ) -> Result<(Vec<(Tree, Option<Tuple>)>, Vec<Promotion>)> {
        let (mut bodies, mut promotions) = (Vec::new(), Vec::new());
        let all = parts(&Site { domain: domain.clone(), ..self.site.clone() })?;
        for (number, (leaf, part)) in found.iter().zip(all).enumerate() {
            let (inner, more) = match self.site.rows {
                true => (leaf.inner.clone(), Vec::new()),
                false => promote(self.scop, &part, &leaf.domain, self.private, promotions.len())?,
            };
            promotions.extend(more);
            let together = task::is_leaf(&inner) && !leaf.members.is_empty();
            let body = inner.under(leaf.members.clone());
            let update = self.updates.get(number).copied().flatten().and_then(|u| self.memory.updates.get(u));
            let carried = self.carried.get(number).copied().flatten();
            let carried = carried.and_then(|c| self.memory.carried.get(c));
            let body = match (update, carried) {
                (Some(u), _) => body.marked(u.mark()),
                (None, Some(c)) => body.marked(c.mark()),
                _ if together && !self.memory.homes.is_empty() => body.marked(Mark::Together),
                _ => body,
            };
            bodies.push((body, carried.map(|c| c.tuple())));
        }
        Ok((bodies, promotions))
    }
}

/// The kernel of a nest.
pub(super) fn kernel(
    scop: &Scop,
    deps: &Dependences,
    site: &Site,
    known: &isl::Set,
    options: &MapOptions,
    private: &[ArrayId],
) -> Result<MappedKernel> {
    let ctx = &scop.ctx;
    let domain = launch_domain(site)?;
    let around = simple(domain.clone().params()?.coalesce()?.intersect(known.clone())?.coalesce()?)?;
    let mut found = Vec::new();
    leaves(&site.inner, &domain, &mut vec![], &mut found)?;
    let n = found.iter().map(|l| l.at.len()).max().unwrap_or(0);
    if n == 0 {
        return Err(ScheduleError::Unsupported("a nest without steps"));
    }
    let lanes = Lanes::new(match site.graph {
        true => graph::threads(&found, options),
        false => threads(scop, &found, options)?,
    });
    let blocks = blocks(site, &domain, around)?;
    let context = lanes.context(blocks.context.clone())?;

    let tasks = graph::Tasks {
        deps,
        scop,
        site,
        domain: &domain,
        blocks: &blocks.names,
        threads: &lanes.names,
        steps: n,
    };
    let of_blocks = task::Kernel {
        leaves: &found,
        one_tile: &blocks.one_tile,
        context: &blocks.context,
        threads: lanes.sizes.iter().product(),
    };
    let (memory, updates, carried) = match site.graph {
        true => tasks.kept(&of_blocks, &options.bulk)?,
        false => Default::default(),
    };

    let own = |leaf: usize, here: isl::UnionSet| match carried.get(leaf).copied().flatten() {
        Some(c) => tasks.owners(&memory.carried[c], &lanes.sizes, here),
        None => lanes.spread(&found[leaf], here),
    };
    let Order { mut steps, thread_map, mine, mut barriers } = order(&found, n, &blocks.one_tile, &own)?;
    let (of_carried, when) = carried_steps(&found, n, &blocks.one_tile, &memory, &carried)?;
    let bodies = Bodies { scop, site, private, memory: &memory, updates: &updates, carried: &carried };
    let (bodies, promotions) = bodies.all(&domain, &found)?;
    let staging = match site.rows {
        true => rows::staging(scop, deps, site, &domain, &found, &lanes.sizes)?,
        false => None,
    };
    if staging.is_some() {
        barriers = barriers.union(isl::UnionSet::read(ctx, &format!("{{ {Barrier}[{BEFORE}] }}"))?)?;
    }
    let mut barriers = barriers.coalesce()?;
    if planted("nest-barrier") {
        // The last step of each iteration has none behind it.
        let last = format!("{{ {Barrier}[{}] : c{} >= 1 }}", coordinates(n), n - 1);
        barriers = barriers.subtract(isl::UnionSet::read(ctx, &last)?)?;
    }
    steps = steps.union(when)?;
    let tuples: Vec<_> = memory.carried.iter().map(|c| c.tuple()).chain([Barrier]).collect();
    let root = Steps { ctx, n, tuples: &tuples }.tree(&site.inner, &domain, 0, &mut bodies.into_iter())?;
    let mut schedule_domain = mine.coalesce()?.detect_equalities()?.union(barriers)?.union(of_carried)?;
    let mut root = root.ok_or(ScheduleError::NoParallelism)?;
    let of = if site.graph {
        let ahead = tasks.ahead(&of_blocks, &memory, &updates)?;
        (root, schedule_domain, steps) = tasks.waiting(root, schedule_domain, steps, &ahead)?;
        StepsOf::Task(memory)
    } else if let Some(staging) = staging {
        (root, schedule_domain, steps) = staging.ahead_of(root, schedule_domain, steps)?;
        StepsOf::Rows(staging.windows)
    } else {
        StepsOf::Nest
    };
    let schedule_domain = schedule_domain.gist_params(context.clone())?;
    let schedule = ScheduleTree { domain: schedule_domain, root }.to_isl()?;
    let core = Core {
        tile_map: product(blocks.tiles)?.intersect_domain(domain.clone())?.gist_params(known.clone())?,
        thread_map: thread_map.gist_params(known.clone())?,
        domain: domain.gist_params(known.clone())?,
        grid: blocks.grid,
        block: lanes.block(),
        schedule: atomic(schedule.root()?.child(0)?)?.schedule()?,
        context,
    };
    let kernel = MappedKernel {
        mode: Mode::Steps(mapped::Steps { order: steps.gist_params(known.clone())?, of }),
        promotions,
        ..MappedKernel::new(site.name.clone(), site.host_params(), core)
    };
    aligned(scop, kernel)
}

/// Makes the tree of a thread.
struct Steps<'a> {
    ctx: &'a isl::Context,
    /// Coordinates of a step.
    n: usize,
    /// What has such coordinates.
    tuples: &'a [Tuple],
}

impl Steps<'_> {
    fn of_step(&self, tuple: Tuple) -> String {
        format!("{tuple}[{}]", coordinates(self.n))
    }

    /// The tree of the nest with barriers, and with `bodies` for its leaves, those of an empty domain left
    /// out.
    fn tree(
        &self,
        tree: &Tree,
        domain: &isl::UnionSet,
        at: usize,
        bodies: &mut dyn Iterator<Item = (Tree, Option<Tuple>)>,
    ) -> Result<Option<Tree>> {
        if domain.is_empty()? {
            return Ok(None);
        }
        let is_leaf = match tree {
            Tree::Mark(m, _) => m == KERNEL || m == SERIAL,
            Tree::Leaf => true,
            _ => false,
        };
        Ok(Some(match tree {
            _ if is_leaf => {
                let (body, carried) =
                    bodies.next().ok_or(ScheduleError::Unsupported("a nest without a body"))?;
                let own = |tuple: Tuple| -> Result<(isl::UnionSet, Tree)> {
                    Ok((
                        isl::UnionSet::read(self.ctx, &format!("{{ {} }}", self.of_step(tuple)))?,
                        Tree::Leaf,
                    ))
                };
                let mut all = carried.into_iter().map(own).collect::<Result<Vec<_>>>()?;
                all.push((domain.clone().universe()?, body));
                all.push(own(Barrier)?);
                Tree::Sequence(all)
            }
            Tree::Leaf => Tree::Leaf,
            Tree::Mark(_, child) => return self.tree(child, domain, at, bodies),
            Tree::Band(b) => {
                let Some(child) = self.tree(&b.child, domain, at + b.members.len(), bodies)? else {
                    return Ok(None);
                };
                let mut members = Vec::new();
                for (m, d) in b.members.iter().zip(at..) {
                    let mut own = m.clone().intersect_domain(domain.clone().universe()?)?;
                    for tuple in self.tuples {
                        let text = format!("{{ {} -> [(c{d})] }}", self.of_step(*tuple));
                        own = own.union_add(isl::UnionPwAff::read(self.ctx, &text)?)?;
                    }
                    members.push(own);
                }
                child.under(members)
            }
            Tree::Sequence(children) => {
                let mut out = Vec::new();
                for ((filter, child), place) in children.iter().zip(0..) {
                    let inside = domain.clone().intersect(filter.clone())?;
                    let Some(child) = self.tree(child, &inside, at + 1, bodies)? else { continue };
                    let mut own = filter.clone();
                    for tuple in self.tuples {
                        let text = format!("{{ {} : c{at} = {place} }}", self.of_step(*tuple));
                        own = own.union(isl::UnionSet::read(self.ctx, &text)?)?;
                    }
                    out.push((own, child));
                }
                Tree::Sequence(out)
            }
        }))
    }
}

/// One loop for each coordinate of a step, so that all threads meet at the same barriers.
fn atomic(node: isl::ScheduleNode) -> Result<isl::ScheduleNode> {
    let mut barriers = false;
    for set in node.universe_domain()?.sets()? {
        barriers = barriers || Tuple::of_set(&set)? == Some(Barrier);
    }
    if !barriers {
        return Ok(node);
    }
    Ok(match node.node_type()? {
        isl::NodeType::Band => {
            let mut node = node;
            for d in 0..node.band_n_member()? {
                node = node.band_set_ast_loop_type(d as i32, isl::AstLoopType::Atomic)?;
            }
            atomic(node.child(0)?)?.parent()?
        }
        isl::NodeType::Filter | isl::NodeType::Mark => atomic(node.child(0)?)?.parent()?,
        isl::NodeType::Sequence => {
            let mut node = node;
            for i in 0..node.n_children()? {
                node = atomic(node.child(i as i32)?)?.parent()?;
            }
            node
        }
        _ => node,
    })
}

#[cfg(test)]
mod tests {
    use crate::legality::{Rule, check};
    use crate::mapped::MappedKernel;
    use crate::mapping::{MapOptions, Nests};
    use crate::testing::scop;
    use pollyrs_isl as isl;

    /// The rules that the only kernel of many factorisations breaks after a change.
    fn spoilt(change: &dyn Fn(&mut MappedKernel)) -> Vec<Rule> {
        let s = scop(
            "param m n; array A m n n;
             for b : 0 <= b < m { for k : 0 <= k < n {
               for i : k < i < n { S0 : A[b,i,k] = A[b,i,k], A[b,k,k]; }
               for i : k < i < n { for j : k < j < n { S1 : A[b,i,j] = A[b,i,j], A[b,i,k], A[b,k,j]; } } } }",
        );
        let deps = crate::dependences(&s).unwrap();
        let tree = crate::schedule(&s, &deps, &Default::default()).unwrap();
        let options = MapOptions { nests: Nests::Always, ..Default::default() };
        let mut mapped = crate::map(&s, &deps, &tree, &options).unwrap();
        assert_eq!(mapped.kernels.len(), 1);
        change(&mut mapped.kernels[0]);
        let mut rules: Vec<_> = check(&s, &deps, &mapped).unwrap().into_iter().map(|v| v.rule).collect();
        rules.sort_unstable();
        rules.dedup();
        rules
    }

    #[test]
    fn what_orders_steps_is_proved() {
        assert_eq!(spoilt(&|_| ()), []);
        // No barrier behind the second step of each iteration.
        let dropped = |k: &mut MappedKernel| {
            let gone = isl::UnionSet::read(k.domain.context(), "{ _barrier[c, 1] }").unwrap();
            let kept = k.schedule.domain().unwrap().subtract(gone).unwrap();
            k.schedule = k.schedule.clone().intersect_domain(kept).unwrap();
        };
        assert!(spoilt(&dropped).contains(&Rule::Barrier));
        // Both steps as one.
        let joined = |k: &mut MappedKernel| {
            let one = isl::UnionMap::read(k.domain.context(), "{ [c, d] -> [c, 1] }").unwrap();
            let order = &mut k.steps_mut().order;
            *order = order.clone().apply_range(one).unwrap();
        };
        assert!(!spoilt(&joined).is_empty());
        // A thread that one of the first barriers leaves out.
        let apart = |k: &mut MappedKernel| {
            let text = "[_t1] -> { _barrier[0, 0] : _t1 = 3 }";
            let gone = isl::UnionSet::read(k.domain.context(), text).unwrap();
            let kept = k.schedule.domain().unwrap().subtract(gone).unwrap();
            k.schedule = k.schedule.clone().intersect_domain(kept).unwrap();
        };
        assert!(spoilt(&apart).contains(&Rule::Barrier));
    }
}

//! Windows of shared memory for the values that pass between the steps of a tile ([`Window`]).
//!
//! A *stage* is what a block runs between two moves of its windows: the steps that differ in their last
//! coordinate only. A tile of hexagons or diamonds is one stage where there is one space dimension, and one
//! for each parallelogram else; a trapezoid in all dimensions is one stage.
//!
//! # Shape
//! Tiles of a phase are translations of one another, so the smallest and largest coordinates of the points of
//! a stage are affine in the tile, and as far apart in all of them. A subscript that is a coordinate plus a
//! bounded distance gives a window that moves with the stage; one that takes few values (the plane of
//! `A[t % 2][i]`) one that stays. An array with any other subscript has no window.
//!
//! # What is copied in
//! The part of the box that the SCoP reads at all: few loops, and no address that it does not touch. Where
//! another block of the launch may write there, only what the stage reads: then no value is loaded that
//! changes.
//!
//! # Example
//! `for t, for i: A[(t+1)%2][i] = f(A[t%2][i-1 .. i+1])`, hexagons with `h = 1`, `w = 1`: boxes of 6 points,
//! a window of 2 times 6.
//! ```text
//! thread    _enter(); for x0, x1 { _in0(x0, x1) }; _barrier(-1); for a { if (…) S(…); _barrier(a) }
//! ```

use super::Techniques;
use super::band::Band;
use super::shape::Phase;
use crate::mapped::Window;
use crate::names::Param::{self, Block, Thread};
use crate::names::Tuple::{self, Barrier, Enter};
use crate::names::names;
use crate::{Dependences, Result};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, AccessValue, ArrayId, Scop, Within};

/// Shared memory of a block at most: that of compute capability 9.0.
const MAX_BYTES: u64 = 227 * 1024;
/// The step of copies, ahead of all others.
pub(super) const BEFORE: i64 = -1;

/// The windows of a kernel and the copies of one thread.
pub(super) struct Staging {
    pub windows: Vec<Window>,
    /// By window: `[params, _h0, _b*, _t*] -> { _in0[p, s] }`, and the thread's turn along each dimension.
    pub copies: Vec<(isl::Set, Vec<isl::UnionPwAff>)>,
    /// `[params, _h0, _b*] -> { _enter[p] }`
    pub entered: isl::Set,
    /// Those among them that most likely have all points of their tile, and copy all elements of their
    /// windows.
    pub full: isl::Set,
}

impl Staging {
    /// Whether full stages keep values to themselves.
    pub fn passes_on(&self) -> bool {
        self.windows.iter().any(|w| w.passing.is_empty().is_ok_and(|none| !none))
    }

    fn none(entered: isl::Set) -> Staging {
        Staging { windows: Vec::new(), copies: Vec::new(), full: entered.clone(), entered }
    }
}

/// What [`plan`] needs to know of a kernel.
pub(super) struct Site<'a> {
    pub scop: &'a Scop,
    pub deps: &'a Dependences,
    pub band: &'a Band,
    pub phase: &'a Phase,
    pub known: &'a isl::Set,
    /// `[params, _h0] -> { S[i] -> [T, blocks, steps, local] }`: a launch.
    pub full: &'a isl::UnionMap,
    /// `[params, _h0, _b*] -> { _barrier[c] }`
    pub barriers: &'a isl::Set,
    /// Threads along each local coordinate.
    pub threads: &'a [i64],
    /// Whether many blocks have no step.
    pub idle: bool,
    pub techniques: Techniques,
}

/// Stages without a step that a kernel may go through for its windows' sake.
const MAX_IDLE: i64 = 64;

/// One dimension of a window: the smallest subscript over `[T, blocks, p]`, and elements.
type Side = (isl::PwAff, i64);

/// The windows of a kernel; none where nothing passes between its steps in a way that fits.
pub(super) fn plan(site: &Site<'_>) -> Result<Staging> {
    let Site { scop, phase, .. } = site;
    let ctx = &scop.ctx;
    let p = names("c", phase.steps - 1);
    let c = names("c", phase.steps).join(", ");
    let enter = isl::Map::read(ctx, &format!("{{ {Barrier}[{c}] -> {Enter}[{}] }}", p.join(", ")))?;
    // One polyhedron, so that the loops over stages need no condition around what begins a stage; some may
    // have no step.
    let entered = site.barriers.clone().apply(enter)?.remove_divs()?.coalesce()?;
    let around = isl::Set::from_basic_set(entered.clone().simple_hull()?)?;
    let entered = if p.is_empty() { isl::Set::universe(entered.space()?)? } else { around.clone() };
    // Statements with bounds that can't be compared have no such polyhedron: loops over its stages would not
    // end.
    for d in 0..p.len() as u32 {
        let bounded = entered.dim_has_lower_bound(isl::DimType::Set, d)?
            && entered.dim_has_upper_bound(isl::DimType::Set, d)?;
        if !bounded {
            return Ok(Staging::none(entered));
        }
        // Or it reaches as far as the parameters' types do: loops over millions of stages without a step.
        if idle_stages(&entered, site.barriers, d)?.is_none_or(|n| n > MAX_IDLE) {
            return Ok(Staging::none(entered));
        }
    }
    let mut found = Vec::new();
    let box_ = stage_box(site)?;
    let mut present = Vec::new();
    for set in site.full.clone().domain()?.sets()? {
        if !set.is_empty()? {
            present.extend(set.tuple_name()?);
        }
    }
    for id in (0..scop.arrays.len()).map(ArrayId) {
        if !passes_values(scop, &present, id) {
            continue;
        }
        let Some(sides) = sides(site, &box_, id)? else { continue };
        let bytes = sides.iter().map(|(_, n)| *n as u64).product::<u64>();
        found.push((bytes * u64::from(scop.array(id).elem.bytes()), id, sides));
    }
    // The largest ones stay in global memory if not all fit.
    found.sort_by_key(|(bytes, id, _)| (*bytes, id.0));
    // Some bytes more than the windows, for what is loaded for nothing.
    let (mut used, mut windows, mut copies) = (16, Vec::new(), Vec::new());
    let mut full = inner(site, &box_, &entered)?;
    for (bytes, id, sides) in found {
        if used + bytes + 16 > MAX_BYTES {
            continue;
        }
        used += bytes + 16;
        full = amid(site, full, id, &sides)?;
        let window = window(site, windows.len(), id, sides)?;
        // Blocks without steps have nothing to copy.
        copies.push(copy(site, &window, if site.idle { &around } else { &entered })?);
        windows.push(window);
    }
    let full = full.intersect_params(site.known.clone())?.coalesce()?;
    for w in &mut windows {
        if site.techniques.passing {
            w.passing = super::passing::writes(site, w.array, &full)?;
        }
        w.disturbed = super::absent::meet_writes(scop, site.band, site.known, w.array)?;
    }
    Ok(Staging { windows, copies, entered, full })
}

/// How far along one coordinate of `entered`, at most, stages of `{ _enter[p] }` go on in front of the first
/// and behind the last `{ _barrier[c] }`; `None` where no constant bounds it.
fn idle_stages(entered: &isl::Set, barriers: &isl::Set, d: u32) -> Result<Option<i64>> {
    let d = d as i32;
    let before = barriers.clone().dim_min(d)?.sub(entered.clone().dim_min(d)?)?.max_value()?;
    let behind = entered.clone().dim_max(d)?.sub(barriers.clone().dim_max(d)?)?.max_value()?;
    Ok(before.to_i64().zip(behind.to_i64()).map(|(before, behind)| before.max(behind)))
}

/// Whether the statements of these names, those of a phase, read and write an array, and all statements by
/// loads and stores.
fn passes_values(scop: &Scop, present: &[String], id: ArrayId) -> bool {
    let array = scop.array(id);
    if !array.is_memory() || array.dims() == 0 {
        return false;
    }
    let (mut read, mut written) = (false, false);
    for statement in &scop.statements {
        for a in statement.accesses.iter().filter(|a| a.array == id) {
            let once = a.within.as_ref().is_none_or(Within::is_function);
            if !matches!(a.value, AccessValue::Instruction(_)) || !once {
                return false;
            }
            let here = present.contains(&statement.name);
            read |= here && a.kind == AccessKind::Read;
            written |= here && a.kind != AccessKind::Read;
        }
    }
    read && written
}

/// For each form of the band over a stage's points: the smallest value over `[T, blocks, p]`, and how many
/// there are.
fn stage_box(site: &Site<'_>) -> Result<Vec<Option<Side>>> {
    let Site { band, phase, .. } = site;
    let kept = (phase.blocks + phase.steps) as u32;
    let rest = phase.place.dim(isl::DimType::Out)? - kept;
    let points = phase.place.clone().project_out(isl::DimType::Out, kept, rest)?.reverse()?;
    let mut out = Vec::new();
    let y = names("y", band.dims + 1);
    for form in &band.forms {
        let value =
            isl::Map::read(points.context(), &format!("{{ [{}] -> [{}] }}", y.join(", "), form.of(&y)))?;
        let values = points.clone().apply_range(value)?;
        let (low, high) = (values.clone().dim_min(0)?.coalesce()?, values.dim_max(0)?.coalesce()?);
        let extent = high.sub(low.clone())?.max_value()?.to_i64();
        out.push(extent.map(|e| (low, e + 1)));
    }
    Ok(out)
}

/// The smallest and the largest of the values `[params] -> { [v] }`, if they are bounded whatever the
/// parameters are.
fn ends(values: isl::Set) -> Result<Option<(i64, i64)>> {
    let values = values.project_out_all_params()?.remove_divs()?;
    if values.is_empty()?
        || !values.dim_has_lower_bound(isl::DimType::Set, 0)?
        || !values.dim_has_upper_bound(isl::DimType::Set, 0)?
    {
        return Ok(None);
    }
    let low = values.clone().dim_min(0)?.min_value()?.to_i64();
    let high = values.dim_max(0)?.max_value()?.to_i64();
    Ok(low.zip(high))
}

/// The dimensions of an array's window; `None` if a subscript neither follows a coordinate nor has few
/// values.
fn sides(site: &Site<'_>, box_: &[Option<Side>], id: ArrayId) -> Result<Option<Vec<Side>>> {
    let Site { scop, band, phase, known, .. } = site;
    let ctx = &scop.ctx;
    let array = scop.array(id);
    let accesses = scop.accesses(|_, a| a.array == id)?.intersect_params((*known).clone())?;
    let touched = band.coordinates.clone().reverse()?.apply_range(accesses)?.coalesce()?;
    let touched = isl::Map::from_union_map(touched)?.wrap()?;
    let (at, subscripts) = (names("y", band.dims + 1), names("x", array.dims()));
    let origin =
        [vec!["T".into()], names("b", phase.blocks), names("c", phase.steps - 1)].concat().join(", ");
    let (mut out, mut steps): (Vec<Side>, Vec<i64>) = (Vec::new(), Vec::new());
    for d in 0..array.dims() {
        let distances = |value: String| -> Result<Option<(i64, i64)>> {
            let text = format!(
                "{{ [[{}] -> {}[{}]] -> [{value}] }}",
                at.join(", "),
                array.name,
                subscripts.join(", ")
            );
            ends(touched.clone().apply(isl::Map::read(ctx, &text)?)?)
        };
        let mut best: Option<(Side, i64)> = None;
        let mut offer = |side: Side, step: i64| {
            if best.as_ref().is_none_or(|b| side.1 < b.0.1) {
                best = Some((side, step));
            }
        };
        if let Some((low, high)) = distances(format!("x{d}"))? {
            offer((isl::PwAff::read(ctx, &format!("{{ [{origin}] -> [({low})] }}"))?, high - low + 1), 0);
        }
        for (form, side) in band.forms.iter().zip(box_) {
            let Some((first, extent)) = side else { continue };
            // Logical time advances by the number of levels where a subscript advances by one.
            let unit = form.unit;
            let Some((low, high)) = distances(format!("{unit} * x{d} - ({})", form.of(&at)))? else {
                continue;
            };
            let lower = first.clone().add_constant(isl::Val::int(ctx, low)?)?;
            let lower = lower.scale_down(isl::Val::int(ctx, unit)?)?.floor()?;
            let more = if unit == 1 { 1 } else { 2 };
            let step = form.weights.last().map_or(0, |w| w / unit);
            offer((lower, (extent - 1 + high - low).div_euclid(unit) + more), step);
        }
        match best {
            Some(((lower, size), step)) if size <= MAX_BYTES as i64 => {
                out.push((lower, size));
                steps.push(step);
            }
            _ => return Ok(None),
        }
    }
    // Neighbouring threads, which are neighbours along the last coordinate, use different banks if their
    // elements are an odd number apart (no more than one of the last two subscripts moves with them, or a row
    // more changes it).
    let apart = |out: &[Side]| out.iter().zip(&steps).fold(0, |at, ((_, n), step)| at * n + step);
    if apart(&out) % 2 == 0 {
        let last = out.len() - 1;
        out[last].1 += 1;
        if apart(&out) % 2 == 0 {
            out[last].1 -= 1;
        }
    }
    Ok(Some(out))
}

/// `[_h0, _b*] -> { [T, blocks, p] -> _enter[p] }` of the block that the parameters describe, as text.
pub(super) fn at_block(phase: &Phase) -> String {
    let (b, bs, p) =
        (names("b", phase.blocks), Param::first(Block, phase.blocks), names("c", phase.steps - 1));
    let equal: String = b.iter().zip(&bs).map(|(b, p)| format!(" and {b} = {p}")).collect();
    format!(
        "[{}] -> {{ [{}] -> {Enter}[{}] : T = {}{equal} }}",
        [vec![phase.launch.clone()], bs].concat().join(", "),
        [vec!["T".to_string()], b, p.clone()].concat().join(", "),
        p.join(", "),
        phase.launch
    )
}

fn window(site: &Site<'_>, number: usize, array: ArrayId, sides: Vec<Side>) -> Result<Window> {
    let enter = isl::Map::read(&site.scop.ctx, &at_block(site.phase))?;
    let (mut lower, mut size) = (Vec::new(), Vec::new());
    for (low, n) in sides {
        let low = enter.clone().reverse()?.apply_range(isl::Map::from_pw_aff(low)?)?;
        lower.push(isl::PwMultiAff::from_map(low)?.at(0)?.coalesce()?);
        size.push(n as u32);
    }
    let passing = isl::UnionMap::empty(&site.scop.ctx)?;
    Ok(Window { array, copy: Tuple::Window(number), lower, size, passing, disturbed: Vec::new() })
}

/// The stages of a set of which some coordinate's values from `low` on, as many as the extent, are in a set
/// for parameters: `{ [v] }`.
fn between(site: &Site<'_>, stages: isl::Set, (low, extent): &Side, values: isl::Set) -> Result<isl::Set> {
    let at = isl::Map::read(&site.scop.ctx, &at_block(site.phase))?;
    let mut stages = stages;
    // An interval around the values.
    let values = isl::Set::from_basic_set(values.remove_divs()?.simple_hull()?)?;
    for end in [0, extent - 1] {
        let end = low.clone().add_constant(isl::Val::int(&site.scop.ctx, end)?)?;
        let inside = isl::Map::from_pw_aff(end)?.intersect_range(values.clone())?.domain()?;
        stages = stages.intersect(inside.apply(at.clone())?)?;
    }
    Ok(stages)
}

/// The stages whose box of points is in a box around the points of each statement: one polyhedron, so that
/// its test is short. That they have all points of the tile decides nothing but which code is the faster one.
fn inner(site: &Site<'_>, box_: &[Option<Side>], entered: &isl::Set) -> Result<isl::Set> {
    let mut stages = entered.clone();
    let all = names("y", site.band.dims + 1);
    for points in site.band.coordinates.clone().intersect_params(site.known.clone())?.maps()? {
        let points = points.range()?;
        for (form, side) in site.band.forms.iter().zip(box_) {
            let Some(side) = side else { return Ok(isl::Set::empty(entered.space()?)?) };
            let one = format!("{{ [{}] -> [{}] }}", all.join(", "), form.of(&all));
            let one = isl::Map::read(&site.scop.ctx, &one)?;
            stages = between(site, stages, side, points.clone().apply(one)?)?;
        }
    }
    Ok(stages)
}

/// Those whose copies are in the box of elements that the SCoP writes, most of which it reads.
fn amid(site: &Site<'_>, stages: isl::Set, array: ArrayId, sides: &[Side]) -> Result<isl::Set> {
    let scop = site.scop;
    let writes = scop.accesses(|_, a| a.array == array && a.kind != AccessKind::Read)?;
    let written = isl::Set::from_union_set(writes.intersect_params(site.known.clone())?.range()?)?;
    let all = names("x", sides.len());
    let mut stages = stages;
    for (d, side) in sides.iter().enumerate() {
        let text = format!("{{ {}[{}] -> [x{d}] }}", scop.array(array).name, all.join(", "));
        stages = between(site, stages, side, written.clone().apply(isl::Map::read(&scop.ctx, &text)?)?)?;
    }
    Ok(stages)
}

/// `[params, _h0, _b*, _t*] -> { _in0[p, s] }`: what one thread copies, and its turns.
fn copy(site: &Site<'_>, w: &Window, entered: &isl::Set) -> Result<(isl::Set, Vec<isl::UnionPwAff>)> {
    let Site { scop, phase, known, .. } = site;
    let ctx = &scop.ctx;
    let name = &scop.array(w.array).name;
    let p = names("c", phase.steps - 1).join(", ");
    let x = names("x", w.size.len());
    let mut box_ = isl::Map::read(ctx, &format!("{{ {Enter}[{p}] -> {name}[{}] }}", x.join(", ")))?;
    for (d, (lower, size)) in w.lower.iter().zip(&w.size).enumerate() {
        let text = format!("{{ [l] -> {name}[{}] : l <= x{d} < l + {size} }}", x.join(", "));
        let side = isl::Map::from_pw_aff(lower.clone())?.apply_range(isl::Map::read(ctx, &text)?)?;
        box_ = box_.intersect(side)?;
    }
    let reads = scop.accesses(|_, a| a.array == w.array && a.kind == AccessKind::Read)?;
    let safe = reads.clone().intersect_params((*known).clone())?.range()?.coalesce()?;
    let safe = isl::Set::from_union_set(safe)?;
    let mut copied = box_.clone().intersect_range(safe.clone())?;
    copied = copied.intersect_domain(entered.clone())?.coalesce()?;
    let stage = || -> Result<isl::UnionMap> {
        let stage = isl::UnionMap::from_map(isl::Map::read(ctx, &at_block(phase))?)?;
        let kept = format!(
            "{{ [{}] -> [{}] }}",
            place_tuple(phase).join(", "),
            place_tuple(phase)[..phase.blocks + phase.steps].join(", ")
        );
        Ok(site.full.clone().apply_range(isl::UnionMap::read(ctx, &kept)?)?.apply_range(stage)?)
    };
    let local = phase.extents.len();
    let around = if site.idle { brought_in(site, w.array, &stage()?, &reads)? } else { None };
    // Along all sides of a rim.
    let diagonal = around.is_some() && local == 1 && x.len() > 1;
    if let Some(around) = around {
        copied = around.intersect_domain(entered.clone())?.coalesce()?;
    } else if others_write(site, w.array, &copied)? {
        let exact = stage()?.reverse()?.apply_range(reads)?;
        let exact = isl::Map::from_union_map(exact)?.intersect_domain(entered.clone())?.coalesce()?;
        // One polyhedron around it has less code.
        let around =
            isl::Set::from_basic_set(exact.clone().wrap()?.remove_divs()?.simple_hull()?)?.unwrap()?;
        let around =
            around.intersect(box_)?.intersect_range(safe)?.intersect_domain(entered.clone())?.coalesce()?;
        copied = if site.idle && !others_write(site, w.array, &around)? { around } else { exact };
    }
    // Threads lie along the last dimensions of the array, from the window's first element on:
    // `s = lower + size e + _t` in turn `e`.
    let mut own = copied;
    for (i, size) in site.threads.iter().enumerate().take(local.saturating_sub(x.len())) {
        debug_assert!(*size > 0);
        own = own.intersect_params(isl::Set::read(ctx, &format!("[{0}] -> {{ : {0} = 0 }}", Thread(i)))?)?;
    }
    let mut turns = Vec::new();
    let all = [names("c", phase.steps - 1), x.clone()].concat().join(", ");
    for (d, lower) in w.lower.iter().enumerate() {
        let along = (d + local).checked_sub(x.len()).map(|i| (i, site.threads[i]));
        let of = |value: String, params: String| -> Result<isl::Map> {
            let tuple = format!("[[l] -> {name}[{}]]", x.join(", "));
            Ok(isl::Map::read(ctx, &format!("{params} -> {{ {tuple} -> [e] : {value} }}"))?)
        };
        let (mut lower, mut at) = (lower.clone(), format!("x{d}"));
        if diagonal && along.is_some() {
            for (low, x) in w.lower[..d].iter().zip(&x) {
                (lower, at) = (lower.add(low.clone())?, format!("{x} + {at}"));
            }
        }
        let (mine, turn) = match along {
            Some((i, size)) => {
                let t = Thread(i);
                (
                    of(format!("{at} = l + {size} * e + {t}"), format!("[{t}]"))?,
                    of(format!("e = floor(({at} - l - {t}) / {size})"), format!("[{t}]"))?,
                )
            }
            None => (of(format!("e = x{d}"), "[]".into())?, of(format!("e = x{d}"), "[]".into())?),
        };
        // { [_enter[p] -> A[s]] -> [[lower] -> A[s]] }
        let each = isl::Map::read(ctx, &format!("{{ {name}[{0}] -> {name}[{0}] }}", x.join(", ")))?;
        let begin = isl::Map::from_pw_aff(lower)?.product(each)?;
        own = own.wrap()?.intersect(begin.clone().apply_range(mine)?.domain()?)?.unwrap()?;
        let flat = format!("{{ {}[{all}] -> [{Enter}[{p}] -> {name}[{}]] }}", w.copy, x.join(", "));
        let turn = isl::Map::read(ctx, &flat)?.apply_range(begin.apply_range(turn)?)?;
        turns.push(isl::MultiUnionPwAff::from_union_map(isl::UnionMap::from_map(turn)?)?.at(0)?);
    }
    // Where a stage takes a while and there is but one, a thread's loads of a turn, one a row, are all on
    // their way at once.
    if site.idle {
        turns.rotate_right(local.min(x.len()));
    }
    let own = own.wrap()?.flatten()?.set_tuple_name(&w.copy.to_string())?;
    Ok((own, turns))
}

/// `{ _enter[] -> A[s] }`: what the only stage of a block reads and does not compute itself, if it writes
/// nothing of that: then it is a rim of the window, not all of it.
fn brought_in(
    site: &Site<'_>,
    array: ArrayId,
    stage: &isl::UnionMap,
    reads: &isl::UnionMap,
) -> Result<Option<isl::Map>> {
    let Site { scop, deps, phase, .. } = site;
    // What may or may not be written in the stage may have to be brought in as well.
    let perhaps = scop.accesses(|_, a| a.array == array && a.kind == AccessKind::MayWrite)?;
    if phase.steps > 1 || !perhaps.is_empty()? {
        return Ok(None);
    }
    let own = stage.clone().domain()?;
    let reads = reads.clone().intersect_domain(own.clone())?;
    let computed = deps.tagged_flow.clone().intersect_domain(own.clone())?.range()?.unwrap()?;
    let needed = stage.clone().reverse()?.apply_range(reads.subtract(computed)?)?.coalesce()?;
    let writes = scop.accesses(|_, a| a.array == array && a.kind != AccessKind::Read)?;
    let written = stage.clone().reverse()?.apply_range(writes)?;
    if needed.is_empty()? || !written.is_disjoint(&needed)? {
        return Ok(None);
    }
    Ok(Some(isl::Map::from_union_map(needed)?))
}

/// `T, blocks, steps, local`
pub(super) fn place_tuple(phase: &Phase) -> Vec<String> {
    let local = names("l", phase.extents.len());
    [vec!["T".to_string()], names("b", phase.blocks), names("c", phase.steps), local].concat()
}

/// Whether other blocks of the launch write what a block copies:
/// `[params, _h0, _b*] -> { _enter[p] -> A[s] }`.
fn others_write(site: &Site<'_>, array: ArrayId, copied: &isl::Map) -> Result<bool> {
    let Site { scop, phase, .. } = site;
    let ctx = &scop.ctx;
    let (b, bs) = (names("b", phase.blocks).join(", "), Param::first(Block, phase.blocks));
    let equal: Vec<_> = bs.iter().enumerate().map(|(d, p)| format!("b{d} = {p}")).collect();
    let own = isl::Set::read(ctx, &format!("[{}] -> {{ [{b}] : {} }}", bs.join(", "), equal.join(" and ")))?;
    let mut loads = isl::Map::from_domain_and_range(own, copied.clone().range()?)?;
    for p in &bs {
        if let Some(at) = loads.space()?.find_dim_by_name(isl::DimType::Param, p)? {
            loads = loads.project_out(isl::DimType::Param, at, 1)?;
        }
    }
    let block = format!("{{ [{}] -> [{b}] }}", place_tuple(phase).join(", "));
    let block = site.full.clone().apply_range(isl::UnionMap::read(ctx, &block)?)?;
    let writes = scop.accesses(|_, a| a.array == array && a.kind != AccessKind::Read)?;
    let writes = block.reverse()?.apply_range(writes)?;
    let met = isl::UnionMap::from_map(loads)?.apply_range(writes.reverse()?)?;
    let same = isl::UnionMap::read(ctx, &format!("{{ [{b}] -> [{b}] }}"))?;
    let met = met.intersect_params(site.known.clone())?;
    Ok(!met.subtract(same)?.is_empty()?)
}

//! Tiles of wavefronts: where no loop is parallel, but a sum of permutable loops carries every dependence
//! ([`crate::strategy`]'s wavefronts, Lamport, "The parallel execution of DO loops", CACM 1974), boxes of the
//! permutable loops are tiles, and tiles of one sum are a launch (Wolfe, "More iteration space tiling", SC
//! 1989; Irigoin and Triolet, "Supernode partitioning", POPL 1988).
//!
//! ```text
//! x_k = n_k b_k + l_k, 0 <= l_k < n_k,   T = b_0 + … + b_m,   a = l_0 + … + l_m
//! ```
//! No dependence lowers an `x_k`. From one tile to another one `b_k` rises at least, hence `T`; in a tile the
//! sum `a` of the local coordinates does: a step. A launch for each `T`, of which there are fewer by the size
//! of a tile, and values that pass between the steps of a tile stay in shared memory. (With two loops these
//! are diamonds of the skewed space.)
//!
//! Statements of one iteration that follow each other are levels of a step, as in [`super::band`].
//!
//! # Example
//! `for i, for j: A[i][j] = f(A[i-1][j], A[i][j-1])`, tiles of 64 x 64: 2 n / 64 launches of up to n / 64
//! blocks, each with 127 steps of up to 64 points.

use super::band::{Band, Form};
use super::kernels::Bounds;
use super::shape::Phase;
use super::{Techniques, kernels};
use crate::mapped::{GridDim, MappedKernel};
use crate::names::Param;
use crate::names::names;
use crate::strategy::{linear, nonnegative};
use crate::tree::{Tree, member_map, members_mupa};
use crate::{Dependences, Result};
use pollyrs_isl as isl;
use pollyrs_scop::Scop;

/// A launch for each value of a host loop.
pub(crate) struct Front<'a> {
    pub name: &'a str,
    /// The host loops around; the last one is around the launch alone.
    pub host: &'a [isl::UnionPwAff],
    /// The loops that are parallel beneath them.
    pub parallel: &'a [isl::UnionPwAff],
    pub domain: &'a isl::UnionSet,
    pub inner: &'a Tree,
}

/// Points of a tile along each loop of two and of three.
const SIZES: [&[i64]; 2] = [&[64, 64], &[16, 16, 64]];
/// More levels than these are no step.
const MAX_LEVELS: usize = 8;
/// Factors by which a loop may be skewed against another, as in [`crate::strategy`].
const MAX_FACTOR: i64 = 2;

/// The kernel of a front's tiles and its launches, `{ K[outer, T] }`; `None` if it has no such tiles.
/// `sizes`: of tiles, outermost first; what is missing is chosen.
pub(crate) fn kernel(
    scop: &Scop,
    deps: &Dependences,
    front: &Front<'_>,
    known: &isl::Set,
    sizes: &[i64],
) -> Result<Option<(MappedKernel, isl::UnionSet)>> {
    let ctx = &scop.ctx;
    let Some((last, outer)) = front.host.split_last() else { return Ok(None) };
    if !is_skewed(last, front.domain)? {
        return Ok(None);
    }
    let whole = outer.is_empty() && scop.domain()?.is_subset(front.domain)?;
    let mut active =
        deps.all(scop)?.intersect_domain(front.domain.clone())?.intersect_range(front.domain.clone())?;
    // One iteration of the loops around.
    let mut domain = front.domain.clone();
    let host = Param::first(Param::Host, front.host.len());
    for (m, p) in outer.iter().zip(&host) {
        active = active.eq_at(crate::tree::member_mupa(m)?)?;
        let at = isl::UnionSet::read(ctx, &format!("[{p}] -> {{ [v] : v = {p} }}"))?;
        domain = domain.intersect(member_map(m)?.intersect_range(at)?.domain()?)?;
    }
    let Some(permutable) = permutable(last, front.parallel, &active)? else { return Ok(None) };
    let Some(band) = band(ctx, front.inner, &domain, &permutable)? else { return Ok(None) };
    let n = permutable.len();
    let Some(default) = SIZES.get(n - 2) else { return Ok(None) };
    let size = |k: usize| sizes.get(k).copied().unwrap_or(default[k]).max(1);
    let Some(launch) = host.last() else { return Ok(None) };
    let sizes: Vec<_> = (0..n).map(size).collect();
    let phase = phase(ctx, &sizes, band.levels, launch)?;
    let techniques =
        Techniques { windows: true, unroll: false, passing: whole, prefetch: false, spread: false };
    let coordinates = band.coordinates.clone().intersect_params(known.clone())?;
    let Some(points) = kernels::hull(&band, &coordinates)? else { return Ok(None) };
    let reach = points.apply(phase.place.clone())?.remove_divs()?.coalesce()?;
    let Some((bounds, launched)) = bounds(&band, &coordinates, &sizes, launch, known)? else {
        return Ok(None);
    };
    let of = kernels::Launches {
        scop,
        deps,
        band: &band,
        phase: &phase,
        known,
        coordinates: &coordinates,
        techniques,
    };
    let kernel = kernels::kernel(&of, (front.name, &host), reach, Some(bounds))?;
    let launches = launches(&kernel, launched, known)?;
    Ok(Some((crate::domains::aligned(scop, kernel)?, launches)))
}

/// The grid of each launch, and the launches, `[params, _h*] -> { : ... }`, by the tiles of a box around the
/// permutable loops' values: `T` is between the sums of their first and of their last ones, and one tile
/// coordinate is what the others leave of it.
fn bounds(
    band: &Band,
    coordinates: &isl::UnionMap,
    sizes: &[i64],
    launch: &str,
    known: &isl::Set,
) -> Result<Option<(Bounds, isl::Set)>> {
    let ctx = coordinates.context();
    let tile = |v: isl::PwAff, n: i64| -> Result<isl::PwAff> {
        Ok(v.coalesce()?.scale_down(isl::Val::int(ctx, n)?)?.floor()?.coalesce()?)
    };
    let (mut first, mut last) = (Vec::new(), Vec::new());
    let rest = rest(band.dims, band.levels);
    for (k, n) in sizes.iter().enumerate() {
        let (form, unit) = if k < band.dims { (&band.forms[k + 1], 1) } else { (&rest, band.levels) };
        let Some(values) = kernels::values_of(form, band, coordinates)? else { return Ok(None) };
        first.push(tile(values.clone().dim_min(0)?, n * unit)?);
        last.push(tile(values.dim_max(0)?, n * unit)?);
    }
    let sum = |ends: &[isl::PwAff], but: Option<usize>| -> Result<isl::PwAff> {
        let mut sum = isl::PwAff::read(ctx, "{ [(0)] }")?;
        for (_, e) in ends.iter().enumerate().filter(|(k, _)| Some(*k) != but) {
            sum = sum.add(e.clone())?;
        }
        Ok(sum.coalesce()?)
    };
    let at =
        |p: &str| -> Result<isl::PwAff> { Ok(isl::PwAff::read(ctx, &format!("[{p}] -> {{ [({p})] }}"))?) };
    let launched =
        at(launch)?.ge_set(sum(&first, None)?)?.intersect(at(launch)?.le_set(sum(&last, None)?)?)?;
    let launched = launched.coalesce()?;
    let mut context = launched.clone().intersect(known.clone())?;
    let mut grid = Vec::new();
    for (d, param) in Param::first(Param::Block, band.dims).into_iter().enumerate() {
        let lower = first[d].clone().max(at(launch)?.sub(sum(&last, Some(d))?)?)?.coalesce()?;
        let upper = last[d].clone().min(at(launch)?.sub(sum(&first, Some(d))?)?)?.coalesce()?;
        let inside = at(&param)?.ge_set(lower.clone())?.intersect(at(&param)?.le_set(upper.clone())?)?;
        context = context.intersect(inside)?;
        let count = upper.sub(lower.clone())?.add_constant(isl::Val::int(ctx, 1)?)?;
        let around = launched.clone().intersect(known.clone())?;
        let (lower, count) = (lower.gist(around.clone())?.coalesce()?, count.gist(around)?.coalesce()?);
        grid.push(GridDim { param, lower, count });
    }
    Ok(Some((Bounds { grid, context: context.remove_divs()?.coalesce()? }, launched)))
}

/// `{ K[h] }` for `[params, _h*] -> { : the launches }`.
fn launches(kernel: &MappedKernel, launched: isl::Set, known: &isl::Set) -> Result<isl::UnionSet> {
    let (x, equal): (Vec<_>, Vec<_>) =
        kernel.host_params.iter().enumerate().map(|(i, p)| (format!("x{i}"), format!("x{i} = {p}"))).unzip();
    let text = format!(
        "[{}] -> {{ {}[{}] : {} }}",
        kernel.host_params.join(", "),
        kernel.name,
        x.join(", "),
        equal.join(" and ")
    );
    let mut out = isl::UnionSet::read(known.context(), &text)?.intersect_params(launched)?;
    for p in &kernel.host_params {
        let Some(pos) = out.space()?.find_dim_by_name(isl::DimType::Param, p)? else { continue };
        out = out.project_out(isl::DimType::Param, pos, 1)?;
    }
    Ok(out.coalesce()?.gist_params(known.clone())?)
}

/// Whether a loop's counter has several of the program's in it, for every statement.
fn is_skewed(sum: &isl::UnionPwAff, domain: &isl::UnionSet) -> Result<bool> {
    let maps = member_map(sum)?.intersect_domain(domain.clone())?.maps()?;
    let mut skewed = !maps.is_empty();
    for map in maps {
        let rows = linear(&map)?;
        skewed &= rows.iter().all(|row| row.iter().filter(|c| **c != 0.0).count() > 1);
    }
    Ok(skewed)
}

/// Loops along which no dependence goes backwards and that determine the front and those beneath it: these,
/// skewed against each other, and what is left of the front without as much of them as may be.
fn permutable(
    front: &isl::UnionPwAff,
    parallel: &[isl::UnionPwAff],
    deps: &isl::UnionMap,
) -> Result<Option<Vec<isl::UnionPwAff>>> {
    let times = |m: &isl::UnionPwAff, by: i64| -> Result<isl::UnionPwAff> {
        Ok(m.clone().scale(isl::Val::int(m.context(), by)?)?)
    };
    let orders: Vec<Vec<&isl::UnionPwAff>> = match parallel {
        [one] => vec![vec![one]],
        [one, two] => vec![vec![one, two], vec![two, one]],
        _ => return Ok(None),
    };
    'order: for order in orders {
        let mut all: Vec<isl::UnionPwAff> = Vec::new();
        for m in order {
            let mut found = None;
            for factor in 0..=if all.is_empty() { 0 } else { MAX_FACTOR } {
                let mut skewed = m.clone();
                if let Some(outer) = all.first() {
                    skewed = skewed.add(times(outer, factor)?)?;
                }
                if nonnegative(deps, &skewed)? {
                    found = Some(skewed);
                    break;
                }
            }
            let Some(found) = found else { continue 'order };
            all.push(found);
        }
        let mut shares: Vec<Vec<i64>> = vec![vec![]];
        for _ in &all {
            shares =
                shares.iter().flat_map(|s| (0..=MAX_FACTOR).map(|x| [s.as_slice(), &[x]].concat())).collect();
        }
        shares.sort_by_key(|s| std::cmp::Reverse(s.iter().sum::<i64>()));
        for share in shares {
            let mut rest = front.clone();
            for (m, by) in all.iter().zip(share) {
                rest = rest.sub(times(m, by)?)?;
            }
            if nonnegative(deps, &rest)? {
                all.push(rest);
                return Ok(Some(all));
            }
        }
    }
    Ok(None)
}

/// The band of logical time, `levels` times the sum of the permutable loops plus the level, and all of them
/// but the last; `None` if statements have loops of their own beneath.
fn band(
    ctx: &isl::Context,
    inner: &Tree,
    domain: &isl::UnionSet,
    permutable: &[isl::UnionPwAff],
) -> Result<Option<Band>> {
    let Some((last, space)) = permutable.split_last() else { return Ok(None) };
    let mut sum = last.clone();
    for m in space {
        sum = sum.add(m.clone())?;
    }
    let parts = match inner {
        Tree::Leaf => vec![domain.clone()],
        Tree::Sequence(children) if children.len() <= MAX_LEVELS => {
            let mut parts = Vec::new();
            for (filter, child) in children {
                if !matches!(child, Tree::Leaf) {
                    return Ok(None);
                }
                parts.push(domain.clone().intersect(filter.clone())?);
            }
            parts
        }
        _ => return Ok(None),
    };
    let (dims, levels) = (space.len(), parts.len() as i64);
    let place = [&[sum], space].concat();
    let place = isl::UnionMap::from_multi_union_pw_aff(members_mupa(&place)?)?;
    let x = names("x", dims).join(", ");
    let mut coordinates = isl::UnionMap::empty(ctx)?;
    let mut forms = Form::coordinates(dims, levels);
    for (level, part) in parts.into_iter().enumerate() {
        let here = place.clone().intersect_domain(part)?;
        for map in here.maps()? {
            if !map.is_injective()? {
                return Ok(None);
            }
            for form in counters(&map, levels)? {
                if !forms.contains(&form) {
                    forms.push(form);
                }
            }
        }
        let at = format!("{{ [f, {x}] -> [{levels} * f + {level}, {x}] }}");
        coordinates = coordinates.union(here.apply_range(isl::UnionMap::read(ctx, &at)?)?)?;
    }
    let rest = rest(dims, levels);
    if !forms.contains(&rest) {
        forms.push(rest);
    }
    Ok(Some(Band { dims, levels, coordinates, slopes: Vec::new(), forms }))
}

/// The last of the permutable loops, in levels.
fn rest(dims: usize, levels: i64) -> Form {
    Form { weights: (0..=dims).map(|k| if k == 0 { 1 } else { -levels }).collect(), unit: levels }
}

/// The counters of a statement's loops as forms, from `{ S[i] -> [sum, space] }`.
fn counters(place: &isl::Map, levels: i64) -> Result<Vec<Form>> {
    let back = isl::PwMultiAff::from_map(place.clone().reverse()?)?;
    let mut out = Vec::new();
    for o in 0..back.dim(isl::DimType::Out)? as i32 {
        let Some((_, aff)) = back.at(o)?.pieces()?.into_iter().next() else { continue };
        let mut weights = Vec::new();
        for i in 0..back.dim(isl::DimType::In)? as i32 {
            let v = aff.coefficient(isl::DimType::In, i)?;
            if v.den_si()? != 1 {
                break;
            }
            weights.push(v.num_si()?);
        }
        let whole = weights.len() == back.dim(isl::DimType::In)? as usize;
        let Some(in_time) = weights.first().map(|w| *w != 0) else { continue };
        if !whole || weights.iter().all(|w| *w == 0) {
            continue;
        }
        // Logical time counts levels: with it the counter is a form's value by their number.
        let unit = if in_time { levels } else { 1 };
        for w in &mut weights[1..] {
            *w *= unit;
        }
        out.push(Form { weights, unit });
    }
    Ok(out)
}

/// Boxes of these sizes; see the module documentation.
fn phase(ctx: &isl::Context, sizes: &[i64], levels: i64, launch: &str) -> Result<Phase> {
    let space = sizes.len() - 1;
    let (s, b, l) = (names("s", space), names("b", space), names("l", space));
    let last = sizes[space];
    // Where the tile begins: its first sum.
    let first: Vec<_> = b.iter().zip(sizes).map(|(b, n)| format!("{} * {b}", n - last)).collect();
    let first = format!("({last} * T + {})", first.join(" + "));
    let steps = levels * (sizes.iter().map(|n| n - 1).sum::<i64>() + 1);
    let mut that = vec![format!("a = t - {levels} * {first} and 0 <= a < {steps}")];
    for (d, n) in sizes.iter().enumerate().take(space) {
        that.push(format!("l{d} = s{d} - {n} * b{d} and 0 <= l{d} < {n}"));
    }
    let local = l.join(" + ");
    that.push(format!("{levels} * ({local}) <= a < {levels} * ({local} + {last})"));
    let text = format!(
        "{{ [t, {}] -> [T, {}, a, {}] : {} }}",
        s.join(", "),
        b.join(", "),
        l.join(", "),
        that.join(" and ")
    );
    Ok(Phase {
        place: isl::Map::read(ctx, &text)?,
        blocks: space,
        steps: 1,
        extents: sizes[..space].to_vec(),
        launch: launch.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time_tiling::testing;

    #[test]
    fn boxes_cover_and_keep_the_order() {
        let ctx = isl::Context::new();
        for sizes in [&[1, 1][..], &[4, 3], &[2, 5], &[2, 3, 4], &[1, 4, 2]] {
            for levels in [1, 2] {
                let phase = phase(&ctx, sizes, levels, "_h0").unwrap();
                testing::assert_partition(std::slice::from_ref(&phase), sizes.len() - 1);
                let points = testing::points_of_tile(&phase, &vec![0; sizes.len()]).len() as i64;
                assert_eq!(points, levels * sizes.iter().product::<i64>());
            }
        }
    }

    /// The permutable loops of a nest of one statement whose wavefront `front` is, if they are found, and
    /// whether `front` is skewed.
    fn loops(text: &str, front: &str, parallel: &[&str]) -> Option<Vec<String>> {
        let scop = crate::testing::scop(text);
        let deps = crate::dependences(&scop).unwrap();
        let domain = scop.domain().unwrap();
        let member = |m: &str| {
            let m = isl::UnionPwAff::read(&scop.ctx, m).unwrap();
            m.intersect_domain(domain.clone()).unwrap()
        };
        assert!(is_skewed(&member(front), &domain).unwrap());
        let parallel: Vec<_> = parallel.iter().map(|m| member(m)).collect();
        let all = permutable(&member(front), &parallel, &deps.all(&scop).unwrap()).unwrap()?;
        let sum = |m: &isl::UnionPwAff| linear(&member_map(m).unwrap().maps().unwrap()[0]).unwrap();
        Some(all.iter().map(|m| format!("{:?}", sum(m)[0])).collect())
    }

    #[test]
    fn loops_are_skewed_until_nothing_goes_back() {
        let table = "param n; array A n n;
             for i : 1 <= i < n { for j : 1 <= j < n { S : A[i,j] = A[i-1,j], A[i,j-1]; } }";
        assert_eq!(
            loops(table, "{ S[i,j] -> [(i + j)] }", &["{ S[i,j] -> [(i)] }"]).unwrap(),
            ["[1.0, 0.0]", "[0.0, 1.0]"]
        );
        let gauss = "param n; array A n n;
             for t : 0 <= t < n { for i : 1 <= i < n - 1 { for j : 1 <= j < n - 1 {
               S : A[i,j] = A[i-1,j], A[i+1,j], A[i,j-1], A[i,j+1]; } } }";
        // isl's wavefront, and Lamport's.
        for front in ["{ S[t,i,j] -> [(2t + i + j)] }", "{ S[t,i,j] -> [(3t + i + j)] }"] {
            assert_eq!(
                loops(gauss, front, &["{ S[t,i,j] -> [(i)] }", "{ S[t,i,j] -> [(t)] }"]).unwrap(),
                ["[1.0, 0.0, 0.0]", "[1.0, 1.0, 0.0]", "[1.0, 0.0, 1.0]"]
            );
        }
        // A dependence along which the second loop falls by three: more than it is skewed by.
        let steep = "param n; array A n n;
             for i : 1 <= i < n { for j : 0 <= j < n - 3 { S : A[i,j] = A[i-1,j+3], A[i,j-1]; } }";
        assert!(loops(steep, "{ S[i,j] -> [(4i + j)] }", &["{ S[i,j] -> [(j)] }"]).is_none());
    }

    /// What the checker finds in the tiles of a table, and in those of sweeps in place, after a change to
    /// their kernels.
    fn spoilt(change: &dyn Fn(&mut MappedKernel)) -> Vec<Vec<crate::legality::Rule>> {
        let nests = [
            "param n; array A n n;
             for i : 1 <= i < n { for j : 1 <= j < n { S : A[i,j] = A[i-1,j], A[i,j-1]; } }",
            "param n; array A n n;
             for i : 1 <= i < n - 1 { for j : 1 <= j < n - 1 { S : A[i,j] = A[i-1,j], A[i+1,j], A[i,j-1], A[i,j+1]; } }",
        ];
        nests
            .iter()
            .map(|text| {
                let scop = crate::testing::scop(text);
                let deps = crate::dependences(&scop).unwrap();
                let tree = crate::schedule(&scop, &deps, &Default::default()).unwrap();
                let mut mapped = crate::map(&scop, &deps, &tree, &crate::MapOptions::default()).unwrap();
                assert_eq!((mapped.kernels.len(), mapped.kernels[0].windows().len()), (1, 1));
                change(&mut mapped.kernels[0]);
                let mut rules: Vec<_> = crate::legality::check(&scop, &deps, &mapped)
                    .unwrap()
                    .into_iter()
                    .map(|v| v.rule)
                    .collect();
                rules.dedup();
                rules
            })
            .collect()
    }

    /// Leaves out a part of what a thread copies.
    fn without(k: &mut MappedKernel, part: &str) {
        let params = "_h0, _b0, _t0";
        let gone =
            isl::UnionSet::read(k.domain.context(), &format!("[{params}] -> {{ _in0[x0, x1] : {part} }}"));
        let kept = k.schedule.domain().unwrap().subtract(gone.unwrap()).unwrap();
        k.schedule = k.schedule.clone().intersect_domain(kept).unwrap();
    }

    #[test]
    fn what_is_not_copied_is_found() {
        use crate::legality::Rule::Window;
        assert_eq!(spoilt(&|_| ()), [vec![], vec![]]);
        // The row ahead of the tile, an element of its first column, and one of its inside, which a table
        // computes first.
        assert_eq!(spoilt(&|k| without(k, "x0 = 64 _b0")), [vec![Window], vec![Window]]);
        assert_eq!(
            spoilt(&|k| without(k, "x0 = 64 _b0 + 7 and x1 = 64 _h0 - 64 _b0")),
            [vec![Window], vec![Window]]
        );
        assert_eq!(
            spoilt(&|k| without(k, "x0 = 64 _b0 + 7 and x1 = 64 _h0 - 64 _b0 + 7")),
            [vec![], vec![Window]]
        );
        assert_eq!(spoilt(&|k| k.windows_mut()[0].size[0] -= 1), [vec![Window], vec![Window]]);
        // No barrier between two steps.
        let steps = |k: &mut MappedKernel| {
            let gone = isl::UnionSet::read(k.domain.context(), "{ _barrier[c] : c >= 0 }").unwrap();
            let kept = k.schedule.domain().unwrap().subtract(gone).unwrap();
            k.schedule = k.schedule.clone().intersect_domain(kept).unwrap();
        };
        assert!(spoilt(&steps).iter().all(|rules| rules.contains(&crate::legality::Rule::Barrier)));
    }
}

//! The band that time tilings start from: a logical time that carries every dependence, and space dimensions.
//!
//! Statement `S_i` at time iteration `t` runs at the logical time `levels · t + level(i)` (Grosser, Cohen,
//! Kelly, Ramanujam, Sadayappan, Verdoolaege, "Split tiling for GPUs", GPGPU-6 2013, section 3.3): statements
//! of one iteration that don't depend on each other share a level. The space coordinates of an instance are
//! those of the element that it writes, the last subscripts, so that loops which count from different bounds
//! line up; where that doesn't bound the slopes, they are the loops' counters.
//!
//! # Invariants
//! - Every dependence goes forward in logical time, by at least 1.
//! - With `(dt, ds)` the distance of any dependence along a space dimension:
//!   `-backward dt <= ds <= forward dt`.

use super::options::{NotTiled, Tiled};
use crate::names::names;
use crate::{Dependences, Refusal, Result, known};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, Scop, Statement};

/// More statements than this are no stencil.
const MAX_STATEMENTS: usize = 16;
/// Blocks have three dimensions.
const MAX_DIMS: usize = 3;

/// Of numerators and denominators of slopes.
const MAX_SLOPE: i64 = 1 << 10;

/// A rational number, reduced, the denominator positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    pub num: i64,
    pub den: i64,
}

impl Ratio {
    pub const ZERO: Ratio = Ratio { num: 0, den: 1 };

    pub fn new(num: i64, den: i64) -> Ratio {
        let g = gcd(num.unsigned_abs().into(), den.unsigned_abs().into()).max(1) as i64 * den.signum();
        Ratio { num: num / g, den: den / g }
    }

    /// The largest integer that is at most `n` times the number.
    pub fn floor_of(self, n: i64) -> i64 {
        (self.num * n).div_euclid(self.den)
    }

    /// The smallest integer that is at least `n` times the number.
    pub fn ceil_of(self, n: i64) -> i64 {
        -(-self.num * n).div_euclid(self.den)
    }

    pub fn max(self, o: Ratio) -> Ratio {
        if i128::from(self.num) * i128::from(o.den) >= i128::from(o.num) * i128::from(self.den) {
            self
        } else {
            o
        }
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// How far dependences reach along a space dimension in one unit of logical time, never negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slopes {
    /// δ⁰ of the literature: towards higher coordinates.
    pub forward: Ratio,
    /// δ¹: towards lower ones.
    pub backward: Ratio,
}

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct Band {
    /// Space dimensions.
    pub dims: usize,
    /// Logical times of one iteration of the time loop.
    pub levels: i64,
    /// `[params] -> { S[t, x] -> [logical time, space coordinates] }`
    pub coordinates: isl::UnionMap,
    /// By space dimension.
    pub slopes: Vec<Slopes>,
    /// What subscripts follow, and points are bounded by: at least the coordinates themselves.
    pub forms: Vec<Form>,
}

/// A linear form over a band's coordinates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// By coordinate, logical time first.
    pub weights: Vec<i64>,
    /// By how much it grows where what it stands for, a counter, grows by one: the levels, where it has to do
    /// with logical time.
    pub unit: i64,
}

impl Form {
    /// The form of names.
    pub fn of(&self, coordinates: &[String]) -> String {
        let terms = self.weights.iter().zip(coordinates).filter(|(w, _)| **w != 0);
        let terms: Vec<_> = terms.map(|(w, c)| format!("{w} * {c}")).collect();
        if terms.is_empty() { "0".into() } else { terms.join(" + ") }
    }

    /// Those of the coordinates.
    pub fn coordinates(dims: usize, levels: i64) -> Vec<Form> {
        let one = |k: usize| (0..=dims).map(|i| i64::from(i == k)).collect();
        (0..=dims).map(|k| Form { weights: one(k), unit: if k == 0 { levels } else { 1 } }).collect()
    }
}

/// The band of a SCoP, or why it has none.
pub fn recognise(scop: &Scop, deps: &Dependences) -> Tiled<Band> {
    let mut dims = 0;
    for s in &scop.statements {
        dims = dims.max((s.domain.dim(isl::DimType::Set)? as usize).saturating_sub(1));
        if s.domain.dim(isl::DimType::Set)? == 0 || !s.is_plain() {
            return Err(Refusal::Form(NotTiled::Shape));
        }
    }
    if !(1..=MAX_DIMS).contains(&dims) || scop.statements.len() > MAX_STATEMENTS {
        return Err(Refusal::Form(NotTiled::Shape));
    }
    let all = deps.all(scop)?;
    let Some(level) = levels(scop, &all)? else { return Err(Refusal::Form(NotTiled::Order)) };
    let levels = level.iter().max().map_or(1, |l| l + 1);
    let known = known(scop)?;
    let mut why = NotTiled::Shape;
    for space in [written as fn(&Scop, &Statement, usize) -> Result<Option<isl::Map>>, counters] {
        let mut coordinates = isl::UnionMap::empty(&scop.ctx)?;
        let mut found = true;
        for (s, level) in scop.statements.iter().zip(&level) {
            let Some(x) = space(scop, s, dims)? else {
                found = false;
                break;
            };
            let names = names("i", s.domain.dim(isl::DimType::Set)? as usize);
            let time = format!("{{ {}[{}] -> [{levels} * i0 + {level}] }}", s.name, names.join(","));
            let map = isl::Map::read(&scop.ctx, &time)?.flat_range_product(x)?;
            let map = map.intersect_domain(s.domain.clone())?.intersect_params(known.clone())?;
            // Two instances of a statement at one place and time would be one point of a tile.
            found &= map.is_injective()?;
            coordinates = coordinates.add_map(map)?;
        }
        if !found {
            continue;
        }
        match slopes(&all, &coordinates, dims) {
            Ok(slopes) => {
                let forms = Form::coordinates(dims, levels);
                return Ok(Band { dims, levels, coordinates, slopes, forms });
            }
            Err(refusal) => why = refusal.form()?,
        }
    }
    Err(Refusal::Form(why))
}

/// For each statement the longest chain of dependences within one time iteration that ends in it; `None` if
/// there is a circle, or a dependence of a statement on itself.
fn levels(scop: &Scop, deps: &isl::UnionMap) -> Result<Option<Vec<i64>>> {
    let n = scop.statements.len();
    let mut edges = Vec::new();
    for m in deps.maps()? {
        let dims = |ty| -> Result<Vec<String>> { Ok(names("", m.dim(ty)? as usize)) };
        let tuple = |ty, prefix: &str| -> Result<(usize, String)> {
            let name = m.tuple_name(ty)?.unwrap_or_default();
            let at = scop.statements.iter().position(|s| s.name == name);
            let at =
                at.ok_or(crate::ScheduleError::Unsupported("a dependence between unknown statements"))?;
            let dims: Vec<_> = dims(ty)?.iter().map(|d| format!("{prefix}{d}")).collect();
            Ok((at, format!("{name}[{}]", dims.join(","))))
        };
        let ((from, source), (to, sink)) = (tuple(isl::DimType::In, "i")?, tuple(isl::DimType::Out, "j")?);
        let same = isl::Map::read(&scop.ctx, &format!("{{ {source} -> {sink} : i0 = j0 }}"))?;
        if !m.is_disjoint(&same)? {
            edges.push((from, to));
        }
    }
    let mut level = vec![0; n];
    for _ in 0..=n {
        let mut changed = false;
        for (from, to) in &edges {
            if level[*to] < level[*from] + 1 {
                level[*to] = level[*from] + 1;
                changed = true;
            }
        }
        if !changed {
            return Ok(Some(level));
        }
    }
    Ok(None)
}

/// `{ S[i] -> [last subscripts of the element that it writes] }`
fn written(scop: &Scop, s: &Statement, dims: usize) -> Result<Option<isl::Map>> {
    let Some(write) = s.accesses.iter().find(|a| a.kind != AccessKind::Read && a.within.is_none()) else {
        return Ok(None);
    };
    let array = scop.array(write.array);
    let Some(lead) = array.dims().checked_sub(dims) else { return Ok(None) };
    let all = names("x", array.dims());
    let text = format!("{{ {}[{}] -> [{}] }}", array.name, all.join(","), all[lead..].join(","));
    let map = write.relation.clone().apply_range(isl::Map::read(&scop.ctx, &text)?)?;
    Ok(if map.is_single_valued()? { Some(map) } else { None })
}

/// `{ S[t, i] -> [i] }`
fn counters(scop: &Scop, s: &Statement, dims: usize) -> Result<Option<isl::Map>> {
    let all = names("i", s.domain.dim(isl::DimType::Set)? as usize);
    if all.len() != dims + 1 {
        return Ok(None);
    }
    let text = format!("{{ {}[{}] -> [{}] }}", s.name, all.join(","), all[1..].join(","));
    Ok(Some(isl::Map::read(&scop.ctx, &text)?))
}

/// The slopes of the dependences, if time carries all of them and they are bounded.
fn slopes(deps: &isl::UnionMap, coordinates: &isl::UnionMap, dims: usize) -> Tiled<Vec<Slopes>> {
    let moved = deps.clone().apply_domain(coordinates.clone())?.apply_range(coordinates.clone())?;
    let mut slopes = vec![Slopes { forward: Ratio::ZERO, backward: Ratio::ZERO }; dims];
    for map in moved.maps()? {
        let distances = map.deltas()?.project_out_all_params()?.remove_divs()?.coalesce()?;
        let ctx = distances.context().clone();
        let all = names("d", dims + 1);
        let late = isl::Set::read(&ctx, &format!("{{ [{}] : d0 <= 0 }}", all.join(",")))?;
        if !distances.is_disjoint(&late)? {
            return Err(Refusal::Form(NotTiled::Order));
        }
        for (d, slope) in slopes.iter_mut().enumerate() {
            let text = format!("{{ [{}] -> [d0, d{}] }}", all.join(","), d + 1);
            let plane = distances.clone().apply(isl::Map::read(&ctx, &text)?)?.remove_divs()?;
            for piece in plane.basic_sets()? {
                if piece.is_empty()? {
                    continue;
                }
                let (Some(up), Some(down)) = (steepest(&piece, 1)?, steepest(&piece, -1)?) else {
                    return Err(Refusal::Form(NotTiled::Unbounded));
                };
                slope.forward = slope.forward.max(up);
                slope.backward = slope.backward.max(down);
            }
        }
    }
    Ok(slopes)
}

/// The largest `sign · ds / dt` over the distances `{ [dt, ds] }`, of which all have `dt >= 1`; `None` if
/// there is none.
///
/// With `r = ds / dt` and `y = 1 / dt` a constraint `a dt + b ds + c >= 0` becomes `a + b r + c y >= 0`: a
/// linear program (Charnes and Cooper, "Programming with linear fractional functionals", 1962), rational, of
/// two variables. isl's sets are of integers, so the vertices are looked at here.
fn steepest(distances: &isl::BasicSet, sign: i64) -> Result<Option<Ratio>> {
    let set = isl::DimType::Set;
    // 0 <= y <= 1
    let mut program: Vec<[i128; 3]> = vec![[0, 0, 1], [1, 0, -1]];
    for c in distances.constraints()? {
        let number = |v: isl::Val| v.to_i64().filter(|v| v.unsigned_abs() < 1 << 40).map(i128::from);
        let all = (number(c.coefficient(set, 0)?), number(c.coefficient(set, 1)?), number(c.constant()?));
        let (Some(a), Some(b), Some(c0)) = all else { return Ok(None) };
        let b = b * i128::from(sign);
        program.push([a, b, c0]);
        if c.is_equality()? {
            program.push([-a, -b, -c0]);
        }
    }
    if program.iter().all(|[_, b, _]| *b >= 0) {
        return Ok(None);
    }
    let mut best: Option<(i128, i128)> = None;
    for (i, [a, b, c]) in program.iter().enumerate() {
        for [d, e, f] in &program[..i] {
            let (mut det, mut r, mut y) = (b * f - c * e, c * d - a * f, a * e - b * d);
            if det < 0 {
                (det, r, y) = (-det, -r, -y);
            }
            let inside = det > 0 && program.iter().all(|[a, b, c]| a * det + b * r + c * y >= 0);
            if !inside {
                continue;
            }
            let common = gcd(r.unsigned_abs(), det.unsigned_abs()).max(1) as i128;
            (r, det) = (r / common, det / common);
            let Some((n, m)) = best else {
                best = Some((r, det));
                continue;
            };
            let (Some(new), Some(old)) = (r.checked_mul(m), n.checked_mul(det)) else { return Ok(None) };
            if new > old {
                best = Some((r, det));
            }
        }
    }
    // Negative ones, which may be as small as one over the number of iterations, are clamped by the caller.
    if best.is_some_and(|(n, _)| n < 0) {
        return Ok(Some(Ratio::ZERO));
    }
    // Steeper ones would make tiles of thousands of points.
    let reduced = |(n, d): (i128, i128)| Some(Ratio::new(i64::try_from(n).ok()?, i64::try_from(d).ok()?));
    Ok(best.and_then(reduced).filter(|r| r.num.abs() < MAX_SLOPE && r.den < MAX_SLOPE))
}

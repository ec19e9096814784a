//! What a launch a step costs, for the comparison with fused steps.
//!
//! Cycles of a multiprocessor for a point of a statement, the fourth root of the sum of fourth powers (near
//! the balance of two limits each slows the other) of
//! ```text
//! memory        each array read once, each written once                                       11 bytes a cycle
//! second level  what comes from there: of each array the planes that a point reads (in two
//!               dimensions, where blocks have several rows, the array once), and what it writes  22 bytes a cycle
//! instructions  1.2 for each of the arithmetic, 5 for a load                                     128 a cycle
//! ```
//! Neighbouring points of a thread share loads ([`crate::sharing`]): then loads and planes are those that
//! remain.
//!
//! Fitted to 45 stencils in two and three dimensions on an H100 (bench/notes/034-literature.md): most are
//! within 20%. Boxes of 5^3 and 7^3 points, which are not shared, take four to five times as long.

use super::plan::{HEAVY_WORK, StencilPlan};
use super::{Step, StepAccess, instances};
use crate::sharing::{LEAST_LOADS, POINTS, shares};
use pollyrs_scop::Scop;
use std::collections::{BTreeMap, BTreeSet};

const MEMORY: f64 = 11.0;
const SECOND_LEVEL: f64 = 22.0;
const LANES: f64 = 128.0;
const ARITHMETIC: f64 = 1.2;
const LOAD: f64 = 5.0;
/// Of less than a word, which is extended (life and erosion of bytes: 0.38 cycles).
const NARROW_LOAD: f64 = 9.0;

/// How much longer fused steps take than their model says, in three dimensions: it was fitted on an H200, and
/// an H100's memory is slower (star3d_r1 to star3d_r3, box3d_r1, maxwell3d: 1.4 to 1.7, others up to 2.7, two
/// of them as modelled).
const SLOWER_IN_SPACE: f64 = 1.5;
/// The same where arithmetic hides that, as that of exact divisions does.
const SLOWER_WITH_WORK: f64 = 1.2;
/// And there where steps read arrays that none writes (acoustic3d_o4 2.0, smooth3d 1.9).
const SLOWER_WITH_ARRAYS: f64 = 1.25;

/// Elements that a point reads of an array: by array and selectors, their offsets.
type Offsets<'a> = BTreeMap<usize, BTreeSet<&'a [i64]>>;

/// Loads that remain for each of the points of a thread along a dimension.
fn remaining(reads: &Offsets<'_>, dim: usize) -> f64 {
    let of = |at: &BTreeSet<&[i64]>| {
        let along = |o: &&[i64]| {
            let o = o.to_vec();
            (0..i64::from(POINTS)).map(move |p| {
                let mut o = o.clone();
                o[dim] += p;
                o
            })
        };
        at.iter().flat_map(along).collect::<BTreeSet<_>>().len()
    };
    reads.values().map(of).sum::<usize>() as f64 / f64::from(POINTS)
}

/// Cycles of one statement at one time; `outputs`: the arrays that it writes.
fn of_statement(scop: &Scop, dims: usize, step: &Step, outputs: usize, work: &[f64]) -> f64 {
    let s = &scop.statements[step.stmt.0];
    let (mut reads, mut others) = (Offsets::new(), BTreeSet::new());
    let mut plain = 0;
    for (a, access) in s.accesses.iter().zip(&step.accesses) {
        match access {
            StepAccess::Buffer { buffer, offset } => {
                reads.entry(*buffer).or_default().insert(offset.as_slice());
            }
            StepAccess::Plain => {
                plain += 1;
                others.insert(a.array);
            }
            StepAccess::Write => {}
        }
    }
    // What all points read is in registers, or in the cache; of arrays that are read in that way, nothing
    // else is counted.
    let varying = plain - step.held;
    let others = if varying == 0 { 0 } else { others.len().min(varying) } as f64;
    let bytes = f64::from(scop.array(s.accesses[step.write].array).elem.bytes());
    let words = (bytes / 4.0).ceil();
    let alone: usize = reads.values().map(BTreeSet::len).sum();
    let all = alone + plain;
    let mut planes: f64 = match dims {
        3 => reads.values().map(|at| at.iter().map(|o| o[0]).collect::<BTreeSet<_>>().len()).sum::<usize>()
            as f64,
        _ => reads.len() as f64,
    };
    let mut loads = all as f64;
    let share = (0..dims - 1).map(|d| remaining(&reads, d)).fold(f64::MAX, f64::min);
    let share = share + varying as f64 + step.held as f64 / f64::from(POINTS);
    if all >= LEAST_LOADS && shares(all, share) {
        loads = share;
        if dims == 3 {
            planes = reads.values().map(|at| extended(at)).sum();
        }
    }
    let outputs = outputs as f64;
    let memory = bytes * (reads.len() as f64 + others + outputs) / MEMORY;
    let second = bytes * (planes + others + outputs) / SECOND_LEVEL;
    let work = work.get(step.stmt.0).copied().unwrap_or(1.0);
    let load = if bytes < 4.0 { NARROW_LOAD } else { LOAD };
    let instructions = words * (ARITHMETIC * work + load * loads) / LANES;
    (memory.powi(4) + second.powi(4) + instructions.powi(4)).powf(0.25)
}

/// Planes that each of the points of a thread reads, which lie along the outermost dimension.
fn extended(at: &BTreeSet<&[i64]>) -> f64 {
    let (low, high) = at.iter().fold((i64::MAX, i64::MIN), |(l, h), o| (l.min(o[0]), h.max(o[0])));
    (high - low) as f64 / f64::from(POINTS) + 1.0
}

/// Cycles of a multiprocessor for one point and all steps of a period: with a launch for each, and with those
/// of a plan.
fn both(scop: &Scop, p: &StencilPlan, work: &[f64]) -> [f64; 2] {
    let s = &p.stencil;
    let together = instances(&s.steps);
    let inner = together.iter().filter(|r| s.steps[r.start].thin.is_empty());
    let alone = inner.map(|r| of_statement(scop, s.dims, &s.steps[r.start], r.len(), work)).sum();
    let mut fused = p.model.point * together.len() as f64;
    if s.dims == 3 {
        let most = s.steps.iter().filter_map(|step| work.get(step.stmt.0)).fold(0.0, |a, b| f64::max(a, *b));
        fused *= if most < HEAVY_WORK { SLOWER_IN_SPACE } else { SLOWER_WITH_WORK };
    }
    let varying = |step: &Step| step.accesses.iter().filter(|a| **a == StepAccess::Plain).count() > step.held;
    if s.dims == 3 && s.steps.iter().any(varying) {
        fused *= SLOWER_WITH_ARRAYS;
    }
    [alone, fused]
}

/// Whether a launch a step is faster than the steps of a plan. In one dimension it never is: launches take
/// longer than their points.
pub fn better_alone(scop: &Scop, p: &StencilPlan, work: &[f64]) -> bool {
    let [alone, fused] = both(scop, p, work);
    p.stencil.dims > 1 && fused > alone
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dependences;
    use crate::stencil::cost::model;
    use crate::stencil::plan::with_config;
    use crate::stencil::{Config, Wish, plans, recognise};
    use crate::testing::scop;
    use pollyrs_scop::ElemType;

    /// Reads of `a` at all offsets, in so many dimensions, that a shape has within a radius.
    fn reads(a: &str, dims: usize, radius: i64, shape: impl Fn(&[i64]) -> bool) -> String {
        let mut all = vec![vec![]];
        for _ in 0..dims {
            let more = |o: &Vec<i64>| {
                (-radius..=radius).map(move |v| [o.as_slice(), &[v]].concat()).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(more).collect();
        }
        let one = |o: &Vec<i64>| {
            let at = o.iter().zip(["i", "j", "k"]).map(|(o, x)| format!("{x} + {o}").replace("+ -", "- "));
            format!("{a}[{}]", at.collect::<Vec<_>>().join(", "))
        };
        all.iter().filter(|o| shape(o)).map(one).collect::<Vec<_>>().join(", ")
    }

    fn star(o: &[i64]) -> bool {
        o.iter().filter(|o| **o != 0).count() <= 1
    }

    /// From `a` to `b` and back: arithmetic of a point, and what else it reads.
    fn turns(dims: usize, radius: i64, shape: fn(&[i64]) -> bool, others: &str) -> String {
        let nest = |x: &str, name: &str, to: &str, from: &str| {
            let loops: String = ["i", "j", "k"][..dims]
                .iter()
                .map(|v| format!("for {v} : {radius} <= {v} < n - {radius} {{ "))
                .collect();
            let at = ["i", "j", "k"][..dims].join(",");
            format!(
                "{loops} {name}{x} : {to}[{at}] = {}{others}; {}",
                reads(from, dims, radius, shape),
                "} ".repeat(dims)
            )
        };
        let sizes = "n ".repeat(dims);
        format!(
            "param T n; array a {sizes}; array b {sizes}; array u {sizes}; array v {sizes}; array w 9 9; for t : 0 <= t < T {{ {} {} }}",
            nest("0", "S", "b", "a"),
            nest("1", "S", "a", "b")
        )
    }

    /// Fused steps' time by that of a launch a step.
    fn ratio(text: &str, elem: ElemType, work: f64) -> f64 {
        let mut s = scop(text);
        s.arrays.iter_mut().for_each(|a| a.elem = elem);
        let found = recognise(&s, &dependences(&s).unwrap()).unwrap();
        let work = vec![work; s.statements.len()];
        let plans = plans(&s, &found, &Wish::default(), &work).unwrap();
        let [alone, fused] = both(&s, &plans[0], &work);
        fused / alone
    }

    /// Stencils of bench/literature on an H100, with their ratio there (results 22): the model has the same
    /// side, and the order of those that are far apart.
    #[test]
    fn sides_are_those_measured() {
        let weights = |r: i64| {
            (0..(2 * r + 1) * (2 * r + 1)).map(|p| format!(", w[{}, {}]", p / 9, p % 9)).collect::<String>()
        };
        let all: fn(&[i64]) -> bool = |_| true;
        let rows = [
            ("star2d_r1", turns(2, 1, star, ""), ElemType::F32, 5.0, 0.17),
            ("star2d_r4", turns(2, 4, star, ""), ElemType::F32, 17.0, 0.56),
            ("compact9", turns(2, 1, all, ""), ElemType::F64, 16.0, 0.39),
            ("box2d_r4", turns(2, 4, all, &weights(4)), ElemType::F32, 81.0, 3.94),
            ("star3d_r1", turns(3, 1, star, ""), ElemType::F32, 7.0, 0.51),
            ("star3d_r2", turns(3, 2, star, ""), ElemType::F32, 13.0, 0.71),
            ("star3d_r4", turns(3, 4, star, ""), ElemType::F32, 25.0, 2.14),
            ("box3d_r1", turns(3, 1, all, ""), ElemType::F32, 31.0, 1.10),
        ];
        let found: Vec<f64> = rows.iter().map(|(_, text, elem, work, _)| ratio(text, *elem, *work)).collect();
        for (row, ratio) in rows.iter().zip(&found) {
            assert_eq!(*ratio > 1.0, row.4 > 1.0, "{}: {ratio}, measured {}", row.0, row.4);
            for (other, below) in rows.iter().zip(&found).filter(|(other, _)| 2.0 * other.4 < row.4) {
                assert!(below < ratio, "{}: {ratio}, {}: {below}", row.0, other.0);
            }
        }
    }

    /// Arrays that no step writes take registers of their own: fewer steps are fused, not more than there are
    /// registers for.
    #[test]
    fn arrays_take_registers() {
        let plan = |others: &str| {
            let s = scop(&turns(2, 1, star, others));
            let found = recognise(&s, &dependences(&s).unwrap()).unwrap();
            let config = Config { fuse: 7, threads: [1, 256], cells: [1, 2], ..Config::PLAIN };
            let mut p = with_config(&found, config);
            p.model = model(&s, &p, &[14.0; 2]);
            p
        };
        let (alone, with) = (plan(""), plan(", u[i,j], v[i,j]"));
        assert_eq!(with.stencil.steps[0].held, 0);
        assert_eq!(
            with.model.registers,
            alone.model.registers + 14 * 2 * 2 * 2,
            "steps, columns, arrays, words"
        );
        let held = plan(", w[0,0], w[0,1]");
        assert_eq!(held.stencil.steps[0].held, 2);
        assert_eq!(held.model.registers, alone.model.registers + 2 * 2);
    }
}

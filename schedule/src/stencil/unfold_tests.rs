use super::check::Rule;
use super::*;
use crate::testing::scop;
use crate::{Refusal, dependences};
use pollyrs_isl as isl;

/// The stencil behind [`unfold()`], if there is one, and whether it was needed.
fn unfolded(text: &str) -> std::result::Result<(Stencil, bool), NotStencil> {
    let s = scop(text);
    let deps = dependences(&s).unwrap();
    let form = |refusal: Refusal<NotStencil>| refusal.form().unwrap();
    let why = match recognise(&s, &deps) {
        Ok(found) => return Ok((found, false)),
        Err(refusal) => form(refusal),
    };
    match unfold(&s, &deps).unwrap() {
        Some((s, deps)) => recognise(&s, &deps).map(|found| (found, true)).map_err(form),
        None => Err(why),
    }
}

const READS: &str = "x[i,j], x[i-1,j], x[i+1,j], x[i,j-1], x[i,j+1], f[i,j]";

fn arrays(loops: &str) -> String {
    format!("param T n; array x n n; array f n n; for t : 0 <= t < T {{ {loops} }}")
}

/// A loop over two colours, each of whose rows begins where the parity of the row says and has steps of two.
fn strided() -> String {
    let at = |y: &str, x: i32| format!("x[i + 1{y}, {} + 2*k + ((i + c + 1) mod 2)]", 1 + x);
    let reads = [at("", 0), at(" - 1", 0), at(" + 1", 0), at("", -1), at("", 1)].join(", ");
    arrays(&format!(
        "for c : 0 <= c < 2 {{ for i : 0 <= i < n - 2 {{ for k : 0 <= k and 1 + 2*k + ((i + c + 1) mod 2) < n - 1 {{
         S0 : {} = {reads}, {}; }} }} }}",
        at("", 0),
        at("", 0).replacen('x', "f", 1)
    ))
}

fn lattices(s: &Stencil) -> Vec<(Vec<i64>, i64)> {
    let of =
        |step: &Step| step.lattices.iter().map(|l| (l.coefficients.clone(), l.constant)).collect::<Vec<_>>();
    s.steps.iter().flat_map(of).collect()
}

#[test]
fn colours_in_all_forms() {
    let guarded = |c: &str| {
        format!(
            "for i : 1 <= i < n - 1 {{ for j : 1 <= j < n - 1 and (i + j + {c}) mod 2 = 0 {{ S_ : x[i,j] = {READS}; }} }}"
        )
    };
    let two = arrays(&format!("{} {}", guarded("0").replace("S_", "S0"), guarded("1").replace("S_", "S1")));
    let colour = arrays(&format!("for c : 0 <= c < 2 {{ {} }}", guarded("c").replace("S_", "S0")));
    let by_time = arrays(&guarded("t").replace("S_", "S0"));
    for (what, text, steps, needed, expected) in [
        ("strided", strided(), 2, true, vec![(vec![0, 1, 1], 1), (vec![0, 1, 1], 0)]),
        ("two nests", two, 2, false, vec![(vec![0, 1, 1], 0), (vec![0, 1, 1], 1)]),
        ("guarded", colour, 2, true, vec![(vec![0, 1, 1], 0), (vec![0, 1, 1], 1)]),
        ("by time", by_time, 1, false, vec![(vec![1, 1, 1], 0)]),
    ] {
        let (s, unfolded) = unfolded(&text).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!((s.steps.len(), s.period, s.buffers.len(), unfolded), (steps, 1, 2 - 1, needed), "{what}");
        assert_eq!(lattices(&s), expected, "{what}");
        assert!(s.steps.iter().all(|s| s.partial && s.thin.is_empty()), "{what}");
        assert!(s.buffers[0].live && s.buffers[0].has_border, "{what}");
        assert!(s.steps.iter().all(|s| s.iterators == [(0, 0), (1, 0)]), "{what}");
        let offsets: Vec<_> = s.steps[0]
            .accesses
            .iter()
            .filter_map(|a| match a {
                StepAccess::Buffer { offset, .. } => Some(offset.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(offsets, [[0, 0], [-1, 0], [1, 0], [0, -1], [0, 1]], "{what}");
        assert_eq!(s.steps[0].accesses.iter().filter(|a| **a == StepAccess::Plain).count(), 1, "{what}");
    }
}

#[test]
fn boxes_of_lattices() {
    let (s, _) = unfolded(&strided()).unwrap();
    let ctx = s.runs.context().clone();
    let corner = |text: &str| isl::PwAff::read(&ctx, &format!("[T, n] -> {{ [({text})] }}")).unwrap();
    for step in &s.steps {
        for d in 0..2 {
            for (bound, expected) in [(&step.lower[d], "1"), (&step.upper[d], "n - 2")] {
                assert!(functions::equal(bound, &corner(expected), &s.runs).unwrap(), "{bound}");
            }
        }
    }
    // A point that is moved onto the lattice stays in the box; of smaller grids no steps are fused.
    let sizes = isl::Set::read(&ctx, "[T, n] -> { : T >= 1 and n >= 5 }").unwrap();
    assert!(s.runs.is_equal(&sizes).unwrap(), "{}", s.runs);
}

#[test]
fn the_proof_of_colours_finds_mutations() {
    let (s, _) = unfolded(&strided()).unwrap();
    let config = Config { fuse: 3, threads: [1, 128], cells: [1, 2], ..Config::PLAIN };
    let plan = plan::with_config(&s, config);
    assert!(check(&plan).unwrap().is_empty());
    assert_eq!(plan.nodes.len(), 7);
    let broken = |f: &dyn Fn(&mut StencilPlan), rule: Rule| {
        let mut p = plan.clone();
        f(&mut p);
        assert!(check(&p).unwrap().iter().any(|v| v.rule == rule), "{rule:?} not found");
    };
    // The other colour is kept, from the step before.
    broken(&|p| p.nodes[3].keep = None, Rule::Version);
    broken(&|p| p.nodes[3].keep = Some(1), Rule::Version);
    broken(&|p| p.nodes[2].hi[2] -= 1, Rule::Region);
    broken(&|p| p.stencil.steps[0].partial = false, Rule::Version);
    broken(&|p| p.nodes[4].lag -= 1, Rule::Time);
}

#[test]
fn components_become_statements() {
    // Each of two fields reads the other: the loop over them is no space dimension.
    let text = "param T n; array A 2 n; array B 2 n; for t : 0 <= t < T {
        for c : 0 <= c < 2 { for i : 1 <= i < n - 1 { S0 : B[c,i] = A[1-c,i-1], A[c,i+1]; } }
        for c : 0 <= c < 2 { for i : 1 <= i < n - 1 { S1 : A[c,i] = B[c,i]; } } }";
    let (s, needed) = unfolded(text).unwrap();
    assert_eq!((s.dims, s.steps.len(), s.buffers.len(), needed), (1, 4, 4, true));
    let mut live: Vec<_> = s.buffers.iter().filter(|b| b.live).map(|b| b.selectors.clone()).collect();
    live.sort();
    assert_eq!(live, [[0], [1]]);
}

#[test]
fn lattices_in_two_directions() {
    // Four colours: each line and column by its parity.
    let nest = |n: usize, y: i32, x: i32| {
        format!(
            "for i : 1 <= i < n - 1 and (i + {y}) mod 2 = 0 {{ for j : 1 <= j < n - 1 and (j + {x}) mod 2 = 0 {{
             S{n} : x[i,j] = {READS}, x[i-1,j-1], x[i+1,j+1]; }} }}"
        )
    };
    let text = arrays(&[nest(0, 1, 1), nest(1, 0, 1), nest(2, 1, 0), nest(3, 0, 0)].join(" "));
    let (s, needed) = unfolded(&text).unwrap();
    assert_eq!((s.steps.len(), needed), (4, false));
    assert_eq!(lattices(&s)[..2], [(vec![0, 1, 0], 1), (vec![0, 0, 1], 1)]);
}

#[test]
fn refusals() {
    let of = |loops: &str| unfolded(&arrays(loops)).map(|_| ()).unwrap_err();
    // Every third element: its remainders are no masks.
    let third = format!(
        "for i : 1 <= i < n - 1 {{ for j : 1 <= j < n - 1 and j mod 3 = 0 {{ S0 : x[i,j] = {READS}; }} }}"
    );
    assert_eq!(of(&third), NotStencil::Domain);
    // Where a row begins is a number that only the program knows.
    let unknown = format!(
        "for i : 1 <= i < n - 1 {{ for j : 1 <= j < n - 1 and (j + n) mod 2 = 0 {{ S0 : x[i,j] = {READS}; }} }}"
    );
    assert_eq!(of(&unknown), NotStencil::Domain);
    // Points of one colour that need each other.
    let same = format!(
        "for i : 1 <= i < n - 1 {{ for j : 1 <= j < n - 1 and (i + j) mod 2 = 0 {{ S0 : x[i,j] = {READS}, x[i-1,j-1]; }} }}"
    );
    assert_eq!(of(&same), NotStencil::Flow);
    // Two instances for each element: none is named by it.
    let twice = format!(
        "for i : 1 <= i < n - 1 {{ for j : i <= j < n - 1 {{ for k : 1 <= k < n {{ S0 : x[i,j] = {READS}; }} }} }}"
    );
    assert_eq!(of(&twice), NotStencil::Domain);
}

#[test]
fn loops_of_steps_count_turns() {
    let text = "param T n; array x n; array f n; for t : 0 <= t < T {
        for k : 0 <= k and 1 + 2*k < n - 1 { S0 : x[2*k+1] = x[2*k], x[2*k+2], f[2*k+1]; }
        for k : 0 <= k and 2 + 2*k < n - 1 { S1 : x[2*k+2] = x[2*k+1], x[2*k+3], f[2*k+2]; } }";
    let (s, needed) = unfolded(text).unwrap();
    assert_eq!((s.steps.len(), needed, lattices(&s)), (2, true, vec![(vec![0, 1], 1), (vec![0, 1], 0)]));
}

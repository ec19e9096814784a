//! Statements that become two, by sizes.

use super::super::versions;
use super::*;
use pollyrs_isl as isl;

/// Sums of rows, and what is made of them.
const SUMS: &str = "param n m; array x n m; scalar s n; array y n m;
    for i : 0 <= i < n { S0 : s[i] = ; for j : 0 <= j < m { S1 : s[i] = s[i], x[i,j]; }
      for j : 0 <= j < m { S2 : y[i,j] = x[i,j], s[i]; } }";

fn set(s: &Scop, text: &str) -> isl::Set {
    isl::Set::read(&s.ctx, text).unwrap()
}

/// What the proof says of a division after a change.
fn spoilt(change: &dyn Fn(&mut Made)) -> Vec<String> {
    let s = reduction(SUMS, true);
    let deps = dependences(&s).unwrap();
    let mut made = versions::divided(&s, 1, &set(&s, "[m] -> { : 128 <= m <= 1024 }")).unwrap().unwrap();
    change(&mut made);
    let new_deps = dependences(&made.scop).unwrap();
    check::check(&s, &deps, &made, &new_deps, crate::DEFAULT_BUDGET).unwrap()
}

#[test]
fn statements_are_divided_by_sizes() {
    let s = reduction(SUMS, true);
    let made = versions::divided(&s, 1, &set(&s, "[m] -> { : 128 <= m <= 1024 }")).unwrap().unwrap();
    pollyrs_scop::verify(&made.scop).unwrap();
    let [first, second] = [1, 3].map(|n| made.scop.statements[n].domain.clone());
    let text = "[n, m] -> { S3[i, j] : 0 <= i < n and 0 <= j < m and 128 <= m <= 1024 }";
    assert!(second.is_equal(&set(&s, text)).unwrap());
    assert!(first.clone().params().unwrap().is_disjoint(&second.params().unwrap()).unwrap());
    assert_eq!(spoilt(&|_| ()), Vec::<String>::new());
    // All sizes there are: nothing is left to divide.
    assert!(versions::divided(&s, 1, &set(&s, "{ : }")).unwrap().is_none());
}

/// Instances that run twice or not at all, another element, another order, and what is no division.
#[test]
fn the_proof_of_divisions_sees_mistakes() {
    let broken = |change: &dyn Fn(&mut Made)| assert!(!spoilt(change).is_empty());
    broken(&|m| {
        m.scop.statements[1].domain = set(&m.scop, "[n, m] -> { S1[i, j] : 0 <= i < n and 0 <= j < m }");
    });
    broken(&|m| {
        let s = &mut m.scop.statements[3];
        s.domain = s.domain.clone().lower_bound_si(isl::DimType::Set, 1, 1).unwrap();
    });
    broken(&|m| {
        let other = isl::Map::read(&m.scop.ctx, "{ S3[i, j] -> x[i, j + 1] }").unwrap();
        m.scop.statements[3].accesses[1].relation = other;
    });
    broken(&|m| m.scop.statements[3].body.push(crate::testing::value(5)));
    broken(&|m| m.scop.statements[3].reduction = None);
    broken(&|m| m.versions.clear());
    broken(&|m| {
        // The statement's new form behind what reads the sums.
        let tree = ScheduleTree::from_isl(&m.scop.schedule).unwrap();
        let own = isl::UnionSet::from_set(m.scop.statements[3].domain.clone()).unwrap();
        let rest = tree.domain.clone().subtract(own.clone()).unwrap();
        let (own, rest) = (own.universe().unwrap(), rest.universe().unwrap());
        let late = crate::Tree::Sequence(vec![
            (rest.clone(), parts::restricted(&tree.root, &rest).unwrap()),
            (own.clone(), parts::restricted(&tree.root, &own).unwrap()),
        ]);
        m.scop.schedule = ScheduleTree { domain: tree.domain, root: late }.to_isl().unwrap();
    });
}

/// Sums of rows that a block has are in parts, for sizes for which there are such rows; not where the order
/// of all counts.
#[test]
fn sums_of_rows_are_in_parts() {
    for (regroups, arrays) in [(true, 4), (false, 3)] {
        let mut s = reduction(SUMS, true);
        if !regroups {
            s.statements[1].reduction = None;
        }
        let deps = dependences(&s).unwrap();
        let done = schedule(s, deps, &Default::default()).unwrap();
        assert_eq!(done.scop.arrays.len(), arrays);
        let mapped = crate::map(&done.scop, &done.deps, &done.tree, &Default::default()).unwrap();
        assert_eq!(crate::check(&done.scop, &done.deps, &mapped).unwrap(), []);
        assert!(mapped.kernels.iter().any(|k| !k.windows().is_empty()));
    }
}

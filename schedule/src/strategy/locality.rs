//! Which loop's neighbouring iterations touch neighbouring addresses: that one becomes thread x.
//!
//! For a band with members `m0 .. mp` the step along `m_d` is an iteration vector `v` with `m_d · v = 1` and
//! `m_e · v = 0` for the others, loops beneath the band kept. An access then moves by its linear part times
//! `v`: by nothing (*invariant*), by one in the last subscript only (*adjacent*), or otherwise (*strided*; a
//! few elements in the last subscript only are partly that: neighbours share cache lines). Only first pieces
//! are looked at; this is a heuristic.
//!
//! Example: in gemm's `C[i,j] += A[i,k] * B[k,j]` a step of `j` is adjacent for C and B and invariant for A.

use super::cost::Model;
use crate::{Result, tree::member_map};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId, Within};

/// Shares of the accesses to memory, averaged over the instances; those that access none count as zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    pub adjacent: f64,
    pub invariant: f64,
    pub strided: f64,
    /// Of `strided`, what is written.
    pub strided_writes: f64,
}

/// Elements of a cache line's sector; from this distance on, each access is one of its own.
const SECTOR: f64 = 8.0;

impl Step {
    /// How well the member serves as thread x.
    pub fn score(self) -> f64 {
        self.adjacent + 0.5 * self.invariant
    }
}

/// An access of a statement beneath a band.
pub struct Movement {
    /// Instances of the statement.
    pub instances: f64,
    /// Accesses of the statement to memory.
    pub accesses: usize,
    pub array: ArrayId,
    pub bytes: u32,
    pub writes: bool,
    /// By member: how a step moves the access, the last subscript last; `None` if nothing is a step along
    /// that member alone.
    pub steps: Vec<Option<Vec<f64>>>,
}

/// How each access to memory moves along the members; and the number of instances.
pub fn movements(
    model: &Model,
    domain: &isl::UnionSet,
    members: &[isl::UnionPwAff],
) -> Result<(Vec<Movement>, f64)> {
    let maps = members.iter().map(|m| Ok(member_map(m)?.maps()?)).collect::<Result<Vec<_>>>()?;
    let (mut out, mut all) = (Vec::new(), 0.0);
    for (id, instances) in model.weights(domain)? {
        all += instances;
        let stmt = &model.scop.statements[id.0];
        let mut rows = Vec::new();
        for maps in &maps {
            for map in maps {
                if map.tuple_name(isl::DimType::In)?.as_deref() == Some(&stmt.name) {
                    rows.extend(linear(map)?);
                    break;
                }
            }
        }
        if rows.len() != members.len() {
            continue;
        }
        let along: Vec<_> = (0..members.len()).map(|pos| solve(&rows, pos)).collect();
        let from = out.len();
        for a in &stmt.accesses {
            // (What an instance touches in a loop of its own is no function.)
            let function = a.within.as_ref().is_none_or(Within::is_function);
            let array = model.scop.array(a.array);
            if function && array.is_memory() {
                let access = linear(&a.relation.clone().intersect_domain(stmt.domain.clone())?)?;
                let step =
                    |v: &Option<Vec<f64>>| v.as_ref().map(|v| access.iter().map(|row| dot(row, v)).collect());
                let steps = along.iter().map(step).collect();
                let writes = a.kind != AccessKind::Read;
                let bytes = array.elem.bytes();
                out.push(Movement { instances, accesses: 0, array: a.array, bytes, writes, steps });
            }
        }
        let accesses = out.len() - from;
        out[from..].iter_mut().for_each(|m| m.accesses = accesses);
    }
    Ok((out, all))
}

/// The steps along each member.
pub fn steps(model: &Model, domain: &isl::UnionSet, members: &[isl::UnionPwAff]) -> Result<Vec<Step>> {
    let mut out = vec![Step::default(); members.len()];
    let (movements, instances) = movements(model, domain, members)?;
    for m in movements {
        let weight = m.instances / m.accesses as f64;
        for (step, delta) in out.iter_mut().zip(m.steps) {
            let Some(delta) = delta else { continue };
            let (last, outer) = match delta.split_last() {
                Some((l, o)) => (*l, o.iter().any(|d| *d != 0.0)),
                None => (0.0, false),
            };
            let before = step.strided;
            match (outer, last.abs()) {
                (false, 0.0) => step.invariant += weight,
                (false, d) if d < SECTOR => {
                    let far = (d - 1.0).max(0.0) / (SECTOR - 1.0);
                    step.adjacent += (1.0 - far) * weight;
                    step.strided += far * weight;
                }
                _ => step.strided += weight,
            }
            if m.writes {
                step.strided_writes += step.strided - before;
            }
        }
    }
    if instances > 0.0 {
        for s in &mut out {
            *s = Step {
                adjacent: s.adjacent / instances,
                invariant: s.invariant / instances,
                strided: s.strided / instances,
                strided_writes: s.strided_writes / instances,
            };
        }
    }
    Ok(out)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The linear part of a function, a row for each output.
pub(crate) fn linear(map: &isl::Map) -> Result<Vec<Vec<f64>>> {
    let f = isl::PwMultiAff::from_map(map.clone())?;
    let inputs = f.dim(isl::DimType::In)?;
    let mut rows = Vec::new();
    for o in 0..f.dim(isl::DimType::Out)? as i32 {
        let mut row = vec![0.0; inputs as usize];
        if let Some((_, aff)) = f.at(o)?.pieces()?.first() {
            for (i, c) in row.iter_mut().enumerate() {
                let v = aff.coefficient(isl::DimType::In, i as i32)?;
                *c = v.num_si()? as f64 / v.den_si()? as f64;
            }
        }
        rows.push(row);
    }
    Ok(rows)
}

/// A solution of `rows · v = e_pos` with free unknowns zero; the last iterators are the free ones.
fn solve(rows: &[Vec<f64>], pos: usize) -> Option<Vec<f64>> {
    let cols = rows.first()?.len();
    let mut m: Vec<Vec<f64>> = rows.to_vec();
    for (i, r) in m.iter_mut().enumerate() {
        r.push(if i == pos { 1.0 } else { 0.0 });
    }
    let (mut rank, mut pivots) = (0, Vec::new());
    for c in 0..cols {
        let Some(p) = (rank..m.len()).find(|r| m[*r][c].abs() > 1e-9) else { continue };
        m.swap(rank, p);
        let scale = m[rank][c];
        m[rank].iter_mut().for_each(|x| *x /= scale);
        let pivot = m[rank].clone();
        for (r, row) in m.iter_mut().enumerate() {
            if r != rank && row[c].abs() > 1e-9 {
                let f = row[c];
                row.iter_mut().zip(&pivot).for_each(|(x, y)| *x -= f * y);
            }
        }
        pivots.push(c);
        rank += 1;
        if rank == m.len() {
            break;
        }
    }
    if m[rank..].iter().any(|r| r[cols].abs() > 1e-9) {
        return None;
    }
    let mut v = vec![0.0; cols];
    for (r, c) in pivots.iter().enumerate() {
        v[*c] = m[r][cols];
    }
    Some(v)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_skewed_bands() {
        // Members (i + j, j): a step of the first alone is (1, 0), of the second alone (-1, 1).
        let rows = vec![vec![1.0, 1.0], vec![0.0, 1.0]];
        assert_eq!(solve(&rows, 0), Some(vec![1.0, 0.0]));
        assert_eq!(solve(&rows, 1), Some(vec![-1.0, 1.0]));
        assert_eq!(solve(&[vec![1.0], vec![1.0]], 0), None);
    }

    #[test]
    fn gemm_prefers_the_columns() {
        let scop = crate::testing::scop(
            "param n; array A n n; array B n n; array C n n;
             for i : 0 <= i < n { for j : 0 <= j < n { for k : 0 <= k < n { S : C[i,j] = C[i,j], A[i,k], B[k,j]; } } }",
        );
        let model = Model::new(&scop).unwrap();
        let members: Vec<_> = ["i", "j"]
            .iter()
            .map(|m| isl::UnionPwAff::read(&scop.ctx, &format!("{{ S[i,j,k] -> [({m})] }}")).unwrap())
            .collect();
        let s = steps(&model, &scop.domain().unwrap(), &members).unwrap();
        assert_eq!(s[0], Step { adjacent: 0.0, invariant: 0.25, strided: 0.75, strided_writes: 0.25 });
        assert_eq!(s[1], Step { adjacent: 0.75, invariant: 0.25, strided: 0.0, strided_writes: 0.0 });
    }
}

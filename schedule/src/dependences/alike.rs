//! Readers that see the same: their dataflow is found for one of them.
//!
//! **Problem.** The nine stores of a lattice-Boltzmann step are nine statements, each of which reads all nine
//! neighbours, with cases at periodic borders. The dataflow analysis looks at each pair of a reader and a
//! writer, piece by piece; eight ninths of that finds what is known.
//!
//! **Invariants.** Two statements are alike for an array if their instances have the same iterations, read
//! the same elements of it in each, and are before and after the same instances of all its writers: their
//! schedules agree in leading dimensions in which they never agree with that of a writer. So a writer's
//! instance is the last one before both or none, and what is found for one holds for the other under its
//! name.
//!
//! **Example.** `for (t) { for (i) { S: B[i] = A[i-1] + A[i]; T: C[i] = A[i-1] + A[i]; } for (i) U: A[i] =
//! B[i] + C[i]; }` has the schedules `S[t,i] -> [t,0,i,0]`, `T[t,i] -> [t,0,i,1]`, `U[t,i] -> [t,1,i,0]`: S
//! and T agree in three dimensions, of which U differs in the second.

use crate::Result;
use isl::DimType;
use pollyrs_isl as isl;
use pollyrs_scop::Scop;
use std::collections::BTreeMap;

/// Fewer pieces are not worth a look.
const MIN_PIECES: u32 = 4;

/// The reads to analyse, and for those that were left out whose results are theirs.
pub(super) struct Readers {
    pub reads: isl::UnionMap,
    alike: Vec<Alike>,
}

struct Alike {
    /// `{ representative[i] -> other[i] }`
    renamed: isl::Map,
    /// `{ [representative[i] -> A[a]] -> [other[i] -> A[a]] }`
    tagged: isl::Map,
}

impl Readers {
    pub fn new(scop: &Scop, reads: &isl::UnionMap, writes: &isl::UnionMap) -> Result<Readers> {
        let mut by_array: BTreeMap<String, Vec<isl::Map>> = BTreeMap::new();
        for m in reads.maps()? {
            by_array.entry(m.tuple_name(DimType::Out)?.unwrap_or_default()).or_default().push(m);
        }
        let mut out = Readers { reads: isl::UnionMap::empty(&scop.ctx)?, alike: Vec::new() };
        let mut order: Option<BTreeMap<String, isl::Map>> = None;
        for (array, maps) in by_array {
            let mut chosen: Vec<isl::Map> = Vec::new();
            for m in maps {
                let mut found = None;
                for c in chosen.iter().filter(|_| m.n_basic_map().is_ok_and(|n| n >= MIN_PIECES)) {
                    if !same_but_name(c, &m)? {
                        continue;
                    }
                    let order = match &mut order {
                        Some(order) => order,
                        None => order.insert(schedules(scop)?),
                    };
                    if together(order, (c, &m), &array, writes)? {
                        found = Some(Alike::new(c, &m)?);
                        break;
                    }
                }
                match found {
                    Some(a) => out.alike.push(a),
                    None => {
                        out.reads = out.reads.add_map(m.clone())?;
                        chosen.push(m);
                    }
                }
            }
        }
        Ok(out)
    }

    /// `{ writer -> [reader -> A[a]] }` for all readers.
    pub fn all_tagged(&self, found: isl::UnionMap) -> Result<isl::UnionMap> {
        let mut all = found.clone();
        for a in &self.alike {
            let own = found.clone().apply_range(isl::UnionMap::from_map(a.tagged.clone())?)?;
            all = all.union(own)?;
        }
        Ok(all)
    }

    /// `{ reader -> A[a] }` for all readers.
    pub fn all_reads(&self, found: isl::UnionMap) -> Result<isl::UnionMap> {
        let mut all = found.clone();
        for a in &self.alike {
            // Of this array alone.
            let of = a.tagged.clone().domain()?.unwrap()?;
            let own = found.clone().intersect(isl::UnionMap::from_map(of)?)?;
            all = all.union(own.apply_domain(isl::UnionMap::from_map(a.renamed.clone())?)?)?;
        }
        Ok(all)
    }
}

impl Alike {
    /// Of accesses of one array.
    fn new(representative: &isl::Map, other: &isl::Map) -> Result<Alike> {
        let name = other.tuple_name(DimType::In)?.unwrap_or_default();
        let domain = isl::Set::universe(representative.clone().domain()?.space()?)?;
        let renamed = domain.identity()?.set_tuple_name(DimType::Out, &name)?;
        let elements = isl::Set::universe(representative.clone().range()?.space()?)?.identity()?;
        Ok(Alike { tagged: renamed.clone().product(elements)?, renamed })
    }
}

/// Whether the instances of two statements read the same elements.
fn same_but_name(a: &isl::Map, b: &isl::Map) -> Result<bool> {
    if a.dim(DimType::In)? != b.dim(DimType::In)? || a.n_basic_map()? != b.n_basic_map()? {
        return Ok(false);
    }
    let name = a.tuple_name(DimType::In)?.unwrap_or_default();
    let b = b.clone().set_tuple_name(DimType::In, &name)?;
    Ok(a.clone().wrap()?.plain_is_equal(&b.wrap()?)?)
}

/// `{ S[i] -> [t...] }` of each statement, by name.
fn schedules(scop: &Scop) -> Result<BTreeMap<String, isl::Map>> {
    let mut out = BTreeMap::new();
    for m in scop.schedule.map()?.maps()? {
        let name = m.tuple_name(DimType::In)?.unwrap_or_default();
        let domain = scop.statement_named(&name).map(|(_, s)| s.domain.clone());
        if let Some(domain) = domain {
            out.insert(name, m.intersect_domain(domain)?);
        }
    }
    Ok(out)
}

/// Whether leading dimensions of the schedule are the same for two readers, and never those of a writer.
fn together(
    schedules: &BTreeMap<String, isl::Map>,
    (a, b): (&isl::Map, &isl::Map),
    array: &str,
    writes: &isl::UnionMap,
) -> Result<bool> {
    let own = |m: &isl::Map| -> Result<Option<&isl::Map>> {
        Ok(schedules.get(&m.tuple_name(DimType::In)?.unwrap_or_default()))
    };
    let (Some(first), Some(second)) = (own(a)?, own(b)?) else { return Ok(false) };
    let leading = |m: &isl::Map, n: u32| -> Result<isl::Map> {
        let all = m.dim(DimType::Out)?;
        Ok(m.clone().project_out(DimType::Out, n, all - n)?)
    };
    let name = first.tuple_name(DimType::In)?.unwrap_or_default();
    let second = second.clone().set_tuple_name(DimType::In, &name)?;
    let mut same = 0;
    for n in 1..=first.dim(DimType::Out)?.min(second.dim(DimType::Out)?) {
        if !leading(first, n)?.is_equal(&leading(&second, n)?)? {
            break;
        }
        same = n;
    }
    for w in writes.maps()? {
        if w.tuple_name(DimType::Out)?.as_deref() != Some(array) {
            continue;
        }
        let Some(writer) = own(&w)? else { return Ok(false) };
        let n = same.min(writer.dim(DimType::Out)?);
        if n == 0 || !leading(first, n)?.range()?.is_disjoint(&leading(writer, n)?.range()?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

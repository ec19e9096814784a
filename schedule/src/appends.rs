//! The proof that stores to elements that a running total gives are apart ([`Append`]).
//!
//! Of `for (i) if (a[i] > 0) out[k++] = a[i];` the total is `T[i]: k += a[i] > 0`, and the store `S[i]` has
//! the place `{ S[i] -> place[i] }`. Detection says what instructions add: at least 0, and at least the step
//! where a store is made whose place is the instance. The rest is proved, of the SCoP as detection has it:
//!
//! 1. *Chains.* Each instance of the total but the first of its loop reads what the one before wrote: along a
//!    *chain*, the instances with the same outer iterators, the cell never falls. No instance has two values
//!    to begin with.
//! 2. *Values.* Each access of the array is a write whose subscripts one value chooses, which is read from
//!    the cell, or from a copy of it. That read sees what the total reads in the instance that is the
//!    access's place.
//! 3. *Apart.* One subscript is the value and an offset, the same for all accesses. Accesses whose other
//!    subscripts are equal have places in one chain.
//!
//! So of two accesses with different places in one chain, the later one's subscript is larger by at least the
//! step.

use crate::planted::planted;
use crate::{Dependences, Result, budgeted, dependences, known};
use pollyrs_isl as isl;
use pollyrs_scop::{Access, AccessKind, AccessValue, Append, ArrayId, Scop, Statement, Within};

/// What is not proved of the arrays that are appended to, in words for developers.
pub fn check(scop: &Scop, deps: &Dependences, budget: u64) -> Result<Vec<String>> {
    let mut found = Vec::new();
    if scop.appends.is_empty() {
        return Ok(found);
    }
    budgeted(&scop.ctx, "checking what is appended", budget, || {
        for a in &scop.appends {
            if let Some(why) = broken(scop, deps, a)? {
                found.push(format!("{} is not appended to: {why}", scop.array(a.array).name));
            }
        }
        Ok(found)
    })
}

/// The SCoP with a bug: all stores read the count of the first iteration.
pub(crate) fn planted_bug(mut scop: Scop, deps: Dependences) -> Result<(Scop, Dependences)> {
    if !planted("append-count") || scop.appends.is_empty() {
        return Ok((scop, deps));
    }
    for s in &mut scop.statements {
        let chosen: Vec<_> =
            s.accesses.iter().filter(|a| a.place.is_some()).filter_map(|a| a.within.clone()).collect();
        let values: Vec<_> =
            chosen.iter().flat_map(|w| &w.values).map(|v| AccessValue::ScalarRead(v.value)).collect();
        for a in s.accesses.iter_mut().filter(|a| values.contains(&a.value)) {
            let (dims, cell) = (s.domain.dim(isl::DimType::Set)?, &scop.arrays[a.array.0]);
            let tuple = |n: u32, f: &dyn Fn(u32) -> String| (0..n).map(f).collect::<Vec<_>>().join(",");
            let (own, first) =
                (tuple(dims, &|d| format!("i{d}")), tuple(cell.dims() as u32, &|_| "0".into()));
            a.relation =
                isl::Map::read(&scop.ctx, &format!("{{ {}[{own}] -> {}[{first}] }}", s.name, cell.name))?;
        }
    }
    let deps = dependences(&scop)?;
    Ok((scop, deps))
}

fn broken(scop: &Scop, deps: &Dependences, append: &Append) -> Result<Option<&'static str>> {
    let Some(total) = scop.statements.get(append.total.0) else { return Ok(Some("no total")) };
    let Some(cell) = cell_of(scop, total)? else { return Ok(Some("no total")) };
    if append.step < 1 {
        return Ok(Some("no step"));
    }
    let sees = through(scop, deps, cell)?;
    let domain = total.domain.clone().intersect_params(known(scop)?)?;
    let outer = domain.dim(isl::DimType::Set)?.saturating_sub(1);
    // { writer of the cell -> T }
    let before = sees.clone().intersect_range(all_of(total)?)?;
    let chain = isl::UnionMap::from_map(next(&domain)?)?;
    let all = isl::UnionSet::from_set(domain.clone())?;
    let chained = before.clone().intersect_domain(all_of(total)?)?.is_equal(&chain)?
        && before.clone().reverse()?.is_single_valued()?
        && all.is_subset(&before.clone().range()?)?;
    if !chained {
        return Ok(Some("the total has no chains"));
    }
    let accesses: Vec<(&Statement, &Access)> = (scop.statements.iter())
        .flat_map(|s| s.accesses.iter().map(move |a| (s, a)))
        .filter(|(_, a)| a.array == append.array)
        .collect();
    let (mut key, mut others) = (None, Vec::new());
    for (s, a) in accesses {
        let (Some(w), Some(place)) = (&a.within, &a.place) else {
            return Ok(Some("an access without a place"));
        };
        let to_total = place.clone().set_tuple_name(isl::DimType::Out, &total.name)?;
        let to_total = to_total.intersect_domain(s.domain.clone().intersect_params(known(scop)?)?)?;
        let placed = a.kind != AccessKind::Read
            && to_total.is_single_valued()?
            && to_total.clone().range()?.is_subset(&domain)?
            && s.domain.clone().intersect_params(known(scop)?)?.is_subset(&to_total.clone().domain()?)?;
        if !placed {
            return Ok(Some("an access without a place"));
        }
        let Some(seen) = seen_by(scop, deps, (s, w), (cell, &sees))? else {
            return Ok(Some("another value"));
        };
        let to_total = isl::UnionMap::from_map(to_total)?;
        if !seen.is_equal(&before.clone().apply_range(to_total.clone().reverse()?)?)? {
            return Ok(Some("another value"));
        }
        let Some((at, offset, rest)) = divided(w, s)? else { return Ok(Some("another subscript")) };
        match &key {
            None => key = Some((at, offset)),
            Some((k, o)) if *k == at && o.is_equal(&offset)? => {}
            Some(_) => return Ok(Some("another subscript")),
        }
        // { T -> others }
        others.push(to_total.reverse()?.apply_range(isl::UnionMap::from_map(rest)?)?);
    }
    // { T[o, d] -> T[o, d'] }
    let same = domain.clone().identity()?.project_out(
        isl::DimType::Out,
        outer,
        domain.dim(isl::DimType::Set)? - outer,
    )?;
    let same = isl::UnionMap::from_map(same.clone().apply_range(same.reverse()?)?)?;
    for a in &others {
        for b in &others {
            if !a.clone().apply_range(b.clone().reverse()?)?.is_subset(&same)? {
                return Ok(Some("elements of several chains"));
            }
        }
    }
    Ok(None)
}

/// `{ T[o, d] -> T[o, d'] }`: the next instance with the same outer iterators.
fn next(domain: &isl::Set) -> Result<isl::Map> {
    let (dims, name) = (domain.dim(isl::DimType::Set)?, domain.tuple_name()?.unwrap_or_default());
    let tuple = |v: &str| (0..dims).map(|d| format!("{v}{d}")).collect::<Vec<_>>().join(",");
    let last = dims.saturating_sub(1);
    let conditions: Vec<_> =
        (0..last).map(|d| format!("a{d} = b{d}")).chain([format!("a{last} < b{last}")]).collect();
    let text =
        format!("{{ {name}[{}] -> {name}[{}] : {} }}", tuple("a"), tuple("b"), conditions.join(" and "));
    let later = isl::Map::read(domain.context(), &text)?.intersect_domain(domain.clone())?;
    Ok(later.intersect_range(domain.clone())?.lexmin()?)
}

/// The cell of a statement that is a total.
fn cell_of(scop: &Scop, s: &Statement) -> Result<Option<ArrayId>> {
    let Some(r) = s.reduction.as_ref().filter(|r| !r.regrouped && r.companions.is_empty()) else {
        return Ok(None);
    };
    let (read, write) = (&s.accesses[r.read], &s.accesses[r.write]);
    let plain = s.is_plain() && s.updates.is_empty() && s.domain.dim(isl::DimType::Set)? > 0;
    let own = write.kind == AccessKind::MustWrite
        && read.array == write.array
        && !scop.array(read.array).is_memory();
    Ok((plain && own && read.relation.is_equal(&write.relation)?).then_some(read.array))
}

/// `{ writer of the cell -> reader }`, of what a read of the value that chooses an element sees, be it
/// through a copy.
fn seen_by(
    scop: &Scop,
    deps: &Dependences,
    (s, w): (&Statement, &Within),
    (cell, sees): (ArrayId, &isl::UnionMap),
) -> Result<Option<isl::UnionMap>> {
    let [chosen] = &w.values[..] else { return Ok(None) };
    let of_value = |a: &&Access| a.value == AccessValue::ScalarRead(chosen.value);
    let reads: Vec<&Access> = s.accesses.iter().filter(of_value).collect();
    let [read] = reads[..] else { return Ok(None) };
    let own = all_of(s)?;
    if read.array == cell {
        let seen = sees.clone().intersect_range(own)?;
        return Ok(Some(seen));
    }
    // { copy -> s }
    let copied = through(scop, deps, read.array)?.intersect_range(own)?;
    let mut copies = isl::UnionMap::empty(&scop.ctx)?;
    for c in &scop.statements {
        if is_copy(c, cell, read.array)? {
            copies = copies.union(sees.clone().intersect_range(all_of(c)?)?)?;
        }
    }
    let one = copied.clone().reverse()?.is_single_valued()?
        && copied.clone().domain()?.is_subset(&copies.clone().range()?)?;
    Ok(if one { Some(copies.apply_range(copied)?) } else { None })
}

/// Whether a statement does nothing but copy one cell to another.
fn is_copy(s: &Statement, from: ArrayId, to: ArrayId) -> Result<bool> {
    let [a, b] = &s.accesses[..] else { return Ok(false) };
    let (read, write) = if a.kind == AccessKind::Read { (a, b) } else { (b, a) };
    let value = match (read.value, write.value) {
        (AccessValue::ScalarRead(v), AccessValue::ScalarWrite(w)) => v == w,
        _ => false,
    };
    Ok(value
        && (read.kind, write.kind) == (AccessKind::Read, AccessKind::MustWrite)
        && (read.array, write.array) == (from, to)
        && s.body.is_empty()
        && s.is_plain())
}

/// The number of the subscript with the value, what is added to it, and `{ S -> [other subscripts] }`.
fn divided(w: &Within, s: &Statement) -> Result<Option<(u32, isl::PwAff, isl::Map)>> {
    let dims = s.domain.dim(isl::DimType::Set)?;
    if !w.counters.is_empty() || w.relation.dim(isl::DimType::In)? != dims + 1 {
        return Ok(None);
    }
    let subs = isl::PwMultiAff::from_map(w.relation.clone())?;
    let mut found = None;
    for at in 0..w.relation.dim(isl::DimType::Out)? {
        let f = subs.at(at as i32)?;
        if !f.involves_dims(isl::DimType::In, dims, 1)? {
            continue;
        }
        let local = isl::LocalSpace::from_space(f.domain_space()?)?;
        let value = isl::PwAff::from_aff(isl::Aff::var_on_domain(local, isl::DimType::Set, dims)?)?;
        let offset = f.sub(value)?.coalesce()?;
        if found.is_some() || offset.involves_dims(isl::DimType::In, 0, dims + 1)? {
            return Ok(None);
        }
        found = Some((at, offset.project_domain_on_params()?));
    }
    let Some((at, offset)) = found else { return Ok(None) };
    let rest =
        w.relation.clone().project_out(isl::DimType::Out, at, 1)?.project_out(isl::DimType::In, dims, 1)?;
    let rest = rest.set_tuple_name(isl::DimType::In, &s.name)?.set_tuple_name(isl::DimType::Out, "others")?;
    Ok(Some((at, offset, rest)))
}

/// `{ writer -> reader }` through one array.
fn through(scop: &Scop, deps: &Dependences, array: ArrayId) -> Result<isl::UnionMap> {
    let name = &scop.array(array).name;
    let mut flow = isl::UnionMap::empty(&scop.ctx)?;
    for m in deps.tagged_flow.maps()? {
        let cell = m.clone().range()?.unwrap()?.tuple_name(isl::DimType::Out)?;
        if cell.as_ref() == Some(name) {
            flow = flow.add_map(m.range_factor_domain()?)?;
        }
    }
    Ok(flow.intersect_params(known(scop)?)?)
}

fn all_of(s: &Statement) -> Result<isl::UnionSet> {
    Ok(isl::UnionSet::from_set(isl::Set::universe(s.domain.space()?)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::scop;
    use pollyrs_scop::{DataSubscript, StmtId};

    /// `if (c) out[k] = v` in statements `S`, which read the count from the cell that is their last read,
    /// with `T` as the total.
    fn appended(text: &str) -> Scop {
        let mut s = scop(text);
        let total = StmtId(s.statements.iter().position(|s| s.name == "T").unwrap());
        let t = &mut s.statements[total.0];
        let write = t.accesses.len() - 1;
        t.reduction = Some(crate::testing::sum(write));
        for s in &mut s.statements {
            s.body.clear();
        }
        let out = ArrayId(s.arrays.iter().position(|a| a.name == "out").unwrap());
        let value = crate::testing::value(1000);
        for c in s.statements.iter_mut().filter(|s| s.name.starts_with('C')) {
            c.accesses[0].value = AccessValue::ScalarRead(value);
            c.accesses[1].value = AccessValue::ScalarWrite(value);
        }
        let ctx = s.ctx.clone();
        for s in s.statements.iter_mut().filter(|s| s.name.starts_with('S')) {
            let (name, dims) = (s.name.clone(), s.domain.dim(isl::DimType::Set).unwrap());
            let own = (0..dims).map(|d| format!("i{d}")).collect::<Vec<_>>().join(",");
            let read = s.accesses.len() - 2;
            s.accesses[read].value = AccessValue::ScalarRead(value);
            let out_access = s.accesses.iter_mut().find(|a| a.array == out).unwrap();
            let rows = if out_access.relation.dim(isl::DimType::Out).unwrap() == 2 { "i0," } else { "" };
            let within = format!("{{ {name}[{own},v] -> out[{rows}v] }}");
            let values = vec![DataSubscript { value, unsigned: false }];
            let relation = isl::Map::read(&ctx, &within).unwrap();
            out_access.within = Some(Within { counters: vec![], values, relation });
            let place = format!("{{ {name}[{own}] -> out_place[{own}] }}");
            out_access.place = Some(isl::Map::read(&ctx, &place).unwrap());
        }
        s.appends = vec![Append { array: out, total, step: 1 }];
        s
    }

    fn found(s: &Scop) -> Vec<String> {
        check(s, &dependences(s).unwrap(), crate::DEFAULT_BUDGET).unwrap()
    }

    const PLAIN: &str = "param n; array a n; array out n; scalar x; scalar k n; I : x[] = a[0];
        for i : 0 <= i < n { C : k[i] = x[]; S : out[i] ?= a[i], k[i]; T : x[] = x[], a[i]; }";

    #[test]
    fn stores_by_a_count_are_apart() {
        for text in [
            PLAIN,
            "param n; array a n; array out n; scalar x; I : x[] = a[0];
             for i : 0 <= i < n { S : out[i] ?= a[i], x[]; T : x[] = x[], a[i]; }",
            "param n m; array a n m; array out n m; scalar x n; scalar k n m;
             for i : 0 <= i < n { I : x[i] = a[i,0];
               for j : 0 <= j < m { C : k[i,j] = x[i]; S : out[i,j] ?= a[i,j], k[i,j]; T : x[i] = x[i], a[i,j]; } }",
        ] {
            assert_eq!(found(&appended(text)), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn others_are_not() {
        for (text, why) in [
            // The count behind the update is that of the next iteration.
            (
                "param n; array a n; array out n; scalar x; scalar k n; I : x[] = a[0];
                 for i : 0 <= i < n { T : x[] = x[], a[i]; C : k[i] = x[]; S : out[i] ?= a[i], k[i]; }",
                "another value",
            ),
            // Something else sets the cell.
            (
                "param n; array a n; array out n; scalar x; scalar k n; I : x[] = a[0];
                 for i : 0 <= i < n { C : k[i] = x[]; S : out[i] ?= a[i], k[i]; T : x[] = x[], a[i]; J : x[] = a[i]; }",
                "no chains",
            ),
            // All rows are in the same elements.
            (
                "param n m; array a n m; array out m; scalar x n; scalar k n m;
                 for i : 0 <= i < n { I : x[i] = a[i,0];
                   for j : 0 <= j < m { C : k[i,j] = x[i]; S : out[j] ?= a[i,j], k[i,j]; T : x[i] = x[i], a[i,j]; } }",
                "several chains",
            ),
        ] {
            let found = found(&appended(text));
            assert!(found.iter().any(|f| f.contains(why)), "{text}: {found:?}");
        }
    }

    #[test]
    fn places_and_subscripts_are_those_of_the_count() {
        type Break = fn(&mut Scop);
        let table: [(Break, &str); 4] = [
            (
                |s| {
                    let later = isl::Map::read(&s.ctx, "{ S[i] -> out_place[i + 1] }").unwrap();
                    s.statements[2].accesses.iter_mut().find(|a| a.place.is_some()).unwrap().place =
                        Some(later);
                },
                "without a place",
            ),
            (
                |s| {
                    let twice = isl::Map::read(&s.ctx, "{ S[i,v] -> out[2v] }").unwrap();
                    let a = s.statements[2].accesses.iter_mut().find(|a| a.place.is_some()).unwrap();
                    a.within.as_mut().unwrap().relation = twice;
                },
                "another subscript",
            ),
            (|s| s.appends[0].total = StmtId(0), "no total"),
            (|s| s.appends[0].step = 0, "no step"),
        ];
        for (spoil, why) in table {
            let mut s = appended(PLAIN);
            let deps = dependences(&s).unwrap();
            spoil(&mut s);
            let found = check(&s, &deps, crate::DEFAULT_BUDGET).unwrap();
            assert!(found.iter().any(|f| f.contains(why)), "{why}: {found:?}");
        }
    }
}

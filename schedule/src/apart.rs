//! Parts of one array that lie apart for the sizes that a program has.
//!
//! **Problem.** `g.y[i] = 2 * g.x[i]`, where both members are arrays of 1000 elements in one structure (or in
//! one COMMON block) and the bound is an argument, is a loop over one array: for a bound above 1000 the loop
//! would read what it wrote before. No such bound exists in the program, but only the source says so.
//!
//! **What is assumed.** Of two accesses whose elements are a constant distance from each other, the same in
//! each iteration and at least [`FAR`] in some dimension, that they touch no common element at all. Of two
//! whose elements are as far from each other as parameters say that bound no loop around them, that no
//! iteration touches what another one does ([`AssumptionKind::Independence`]): `work[p + i] = work[q + i]`
//! and `u[now][i] = u[old][i - 1]`, where the program hands in which parts it means. Both are conditions on
//! the parameters, checked before each execution like any other. They are asked for only where nothing runs
//! in parallel without them, and made only if they leave sizes for which something is worth doing: a
//! recurrence over 20 elements is none of two arrays, and one over `k`, which begins at `k`, none of two
//! parts.
//!
//! **Examples.** `h[1000 + i] = 2 * h[i]` for `0 <= i < n`: common elements need `n > 1000`; what is assumed
//! is `n <= 1000`. `w[p + i] = 2 * w[q + i]`: two iterations have a common element where `0 < p - q < n` or
//! `0 < q - p < n`; what is assumed is that it is neither.

use crate::base::{Result, budgeted, known};
use pollyrs_isl as isl;
use pollyrs_scop::{Access, AccessKind, ArrayKind, Assumption, AssumptionKind, Scop, Statement};

/// Elements between two parts, and that the written one must have room for.
const FAR: i64 = 16;

/// Elements along some dimension, of what is written, that conditions on places have to leave.
const MANY: i64 = 1 << 16;

/// Cases of such conditions, of one, and of all together: before, behind, and at the same place, of two
/// pairs.
const MAX_CASES: u32 = 5;
const MAX_ALL_CASES: u32 = 12;

/// Pairs of accesses that are looked at.
const MAX_PAIRS: usize = 200;

/// What has to be assumed so that parts of arrays of `scop` do not overlap, with at most `budget` isl
/// operations; empty if there is nothing of the kind.
pub fn apart(scop: &Scop, budget: u64) -> Result<Vec<Assumption>> {
    assumed(scop, budget, false)
}

/// The same for planes of arrays alone: rows, say, that a number chooses which no loop changes.
pub(crate) fn planes(scop: &Scop, budget: u64) -> Result<Vec<Assumption>> {
    assumed(scop, budget, true)
}

fn assumed(scop: &Scop, budget: u64, planes: bool) -> Result<Vec<Assumption>> {
    budgeted(&scop.ctx, "parts of arrays", budget, || {
        let known = known(scop)?;
        let mut found: Vec<Assumption> = Vec::new();
        let universe = isl::Set::universe(known.space()?)?;
        let (mut together, mut few) = (universe.clone(), true);
        let all = || scop.statements.iter().flat_map(|s| s.accesses.iter().map(move |a| (s, a)));
        let mut left = MAX_PAIRS;
        for (s, a) in all().filter(|(_, a)| a.kind != AccessKind::Read) {
            if !matches!(scop.array(a.array).kind, ArrayKind::Memory { .. }) {
                continue;
            }
            for (t, b) in all().filter(|(_, b)| b.array == a.array) {
                if left == 0 {
                    return Ok(found);
                }
                left -= 1;
                let pair = Pair { written: (s, a), other: (t, b), known: &known };
                let name = &scop.array(a.array).display;
                if planes && !pair.in_planes()? {
                    continue;
                }
                let assumed = match (pair.separated()?, pair.placed()?) {
                    (Some(set), _) if !planes => Some((
                        AssumptionKind::Delinearization,
                        set,
                        format!("parts of {name} do not overlap"),
                    )),
                    (_, Some(set)) if few => Some((
                        AssumptionKind::Independence,
                        set,
                        format!("no iteration accesses what another one writes of {name}"),
                    )),
                    _ => None,
                };
                let Some((kind, set, note)) = assumed else { continue };
                let both = together.clone().intersect(set.clone())?.coalesce()?;
                if both.n_basic_set()? > MAX_ALL_CASES {
                    // Some of the places are of no use without the others.
                    few = false;
                    found.retain(|f| f.kind != AssumptionKind::Independence);
                    together = found.iter().try_fold(universe.clone(), |t, f| t.intersect(f.set.clone()))?;
                    continue;
                }
                if !together.is_subset(&set)? {
                    together = both;
                    found.push(Assumption { kind, set, location: s.location.clone(), note });
                }
            }
        }
        Ok(found)
    })
}

/// A write, and an access of the same array.
struct Pair<'a> {
    written: (&'a Statement, &'a Access),
    other: (&'a Statement, &'a Access),
    /// Of parameters.
    known: &'a isl::Set,
}

impl Pair<'_> {
    /// What both touch, `{ S[i] -> A[s] }`; `None` if that is not known exactly.
    fn touched(&self) -> Result<Option<[isl::Map; 2]>> {
        if self.written.1.within.is_some() || self.other.1.within.is_some() {
            return Ok(None);
        }
        let touched = |(s, a): (&Statement, &Access)| -> Result<isl::Map> {
            Ok(a.relation
                .clone()
                .intersect_domain(s.domain.clone())?
                .intersect_params(self.known.clone())?
                .reset_tuple_id(isl::DimType::In)?)
        };
        Ok(Some([touched(self.written)?, touched(self.other)?]))
    }

    fn in_one_nest(&self) -> Result<bool> {
        let [s, t] = [self.written.0, self.other.0];
        Ok(s.domain.dim(isl::DimType::Set)? == t.domain.dim(isl::DimType::Set)?)
    }

    /// The sizes for which both touch nothing in common, if they are a constant distance apart.
    fn separated(&self) -> Result<Option<isl::Set>> {
        let (Some([x, y]), true) = (self.touched()?, self.in_one_nest()?) else { return Ok(None) };
        let distance = x.clone().reverse()?.apply_range(y.clone())?.deltas()?;
        if distance.is_empty()? {
            return Ok(None);
        }
        let mut far = false;
        for d in 0..distance.dim(isl::DimType::Set)? as i32 {
            match (distance.clone().dim_min_val(d)?.to_i64(), distance.clone().dim_max_val(d)?.to_i64()) {
                (Some(least), Some(most)) if least == most => far |= least.abs() >= FAR,
                _ => return Ok(None),
            }
        }
        let (written, other) = (x.range()?, y.range()?);
        let common = written.clone().intersect(other.clone())?.params()?;
        if !far || common.is_empty()? {
            return Ok(None);
        }
        let good = complement(common, written.clone().params()?.intersect(other.params()?)?)?;
        if good.n_basic_set()? != 1 || !self.has_room(written, &good, FAR)? {
            return Ok(None);
        }
        Ok(Some(good))
    }

    /// The places for which no iteration touches what another one does, if parameters say how far from each
    /// other both are that bound no loop.
    fn placed(&self) -> Result<Option<isl::Set>> {
        let Some([x, y]) = self.touched()? else { return Ok(None) };
        let mut common = x.clone().apply_range(y.clone().reverse()?)?;
        if self.in_one_nest()? {
            let same = common.clone().domain()?.identity()?;
            common = common.subtract(same)?;
        }
        let common = common.params()?;
        let executed = x.clone().domain()?.params()?.intersect(y.clone().domain()?.params()?)?;
        // What is known of places, that they are not negative say, is no condition on them.
        if common.is_empty()? || !self.says_places(&common.clone().gist(executed.clone())?)? {
            return Ok(None);
        }
        let good = complement(common, executed)?;
        if good.n_basic_set()? > MAX_CASES
            || self.just_touch(&good, [&x, &y])?
            || !self.leaves_many(x.range()?, &good)?
        {
            return Ok(None);
        }
        Ok(Some(good))
    }

    /// Whether a condition has a case in which both parts are exactly as far from each other as they are long
    /// (and not the same part): what is known excludes larger distances then, which would be in that case.
    /// What a rotation exchanges by pairs overlaps but for one place, in the middle, which programs treat by
    /// itself.
    fn just_touch(&self, good: &isl::Set, [x, y]: [&isl::Map; 2]) -> Result<bool> {
        for case in good.clone().intersect(self.known.clone())?.coalesce()?.basic_sets()? {
            let Some(exact) = self.exact_places(isl::Set::from_basic_set(case)?)? else { continue };
            let exact = exact.intersect(self.known.clone())?;
            if !exact.is_subset(good)? {
                continue;
            }
            let [x, y] = [x, y].map(|m| m.clone().intersect_params(exact.clone()));
            if !self.in_one_nest()? || !x?.is_equal(&y?)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The equations of a case, beyond what is known, that say where a part is. (That it is at every other
    /// place is as good as that it may be at every place.)
    fn exact_places(&self, case: isl::Set) -> Result<Option<isl::Set>> {
        let mut exact: Option<isl::Set> = None;
        for c in case.affine_hull()?.constraints()? {
            let divs = c.dim(isl::DimType::Div)?;
            if divs > 0 && c.involves_dims(isl::DimType::Div, 0, divs)? {
                continue;
            }
            let equation = isl::Set::from_basic_set(isl::BasicSet::from_constraint(c)?)?;
            if self.says_places(&equation)? && !self.known.is_subset(&equation)? {
                exact = Some(match exact {
                    Some(others) => others.intersect(equation)?,
                    None => equation,
                });
            }
        }
        Ok(exact)
    }

    /// Whether some subscript is the same in all iterations, of each access.
    fn in_planes(&self) -> Result<bool> {
        let Some(touched) = self.touched()? else { return Ok(false) };
        let dims = touched[0].dim(isl::DimType::Out)?;
        for d in 0..dims {
            let mut one = true;
            for t in &touched {
                let values = t.clone().range()?.project_out(isl::DimType::Set, d + 1, dims - d - 1)?;
                let values = values.project_out(isl::DimType::Set, 0, d)?;
                one &= isl::Map::from_range(values)?.is_single_valued()?;
            }
            if one {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a condition is on a parameter that is in subscripts and bounds no loop of either statement.
    fn says_places(&self, condition: &isl::Set) -> Result<bool> {
        let param = isl::DimType::Param;
        let space = condition.space()?;
        for p in 0..space.dim(param)? {
            if !condition.involves_dims(param, p, 1)? {
                continue;
            }
            let Some(name) = space.dim_name(param, p)? else { continue };
            let mut bounds = false;
            for (s, _) in [self.written, self.other] {
                if let Some(own) = s.domain.space()?.find_dim_by_name(param, &name)? {
                    bounds |= s.domain.involves_dims(param, own, 1)?;
                }
            }
            if !bounds {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether for some of the sizes elements are written that are as far from each other in some dimension;
    /// of what never has as many, at least [`FAR`].
    fn leaves_many(&self, written: isl::Set, sizes: &isl::Set) -> Result<bool> {
        let ever = self.has_room(written.clone(), self.known, MANY)?;
        self.has_room(written, sizes, if ever { MANY } else { FAR })
    }

    /// Whether for some of the sizes elements are written that are as far from each other in some dimension.
    fn has_room(&self, written: isl::Set, sizes: &isl::Set, far: i64) -> Result<bool> {
        let written = written.intersect_params(sizes.clone().intersect(self.known.clone())?)?;
        let distances = isl::Map::from_domain_and_range(written.clone(), written)?.deltas()?;
        for d in 0..distances.dim(isl::DimType::Set)? {
            let far = isl::Val::int(distances.context(), far)?;
            if !distances.clone().lower_bound_val(isl::DimType::Set, d, far)?.is_empty()? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Where a condition does not hold; that the loops run at all is not negated along.
fn complement(condition: isl::Set, executed: isl::Set) -> Result<isl::Set> {
    Ok(condition.gist(executed.clone())?.complement()?.gist(executed)?.coalesce()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::scop_i32;

    /// What is assumed of a loop, joined.
    fn assumed(text: &str) -> Option<String> {
        let s = scop_i32(text);
        let found = apart(&s, crate::DEFAULT_BUDGET).unwrap();
        let all = found.iter().map(|a| a.set.clone()).reduce(|a, b| a.intersect(b).unwrap())?;
        let text = all.coalesce().unwrap().to_string();
        text.split_once("{  : ").map(|(_, condition)| condition.trim_end_matches(" }").to_owned())
    }

    #[test]
    fn only_parts_at_a_constant_distance_with_room_between() {
        let table = [
            ("A[i + 1000] = A[i]", Some("n <= 1000")),
            ("A[i] = A[i + 1000], A[i + 2000]", Some("n <= 1000")),
            // Recurrences, however long.
            ("A[i + 1] = A[i]", None),
            ("A[i + 16] = A[i]", None),
            // No constant distance.
            ("A[2 * i] = A[i + 1000]", None),
            ("A[i] = A[i + n]", None),
            // A place: before, behind, or the same; more than one of them.
            ("A[i + p] = A[i]", Some("p <= -n or p >= n or p = 0")),
            ("A[i] = A[i + p]", Some("p <= -n or p >= n or p = 0")),
            ("A[i + p] = A[i + q]", Some("q >= n + p or q <= -n + p or q = p")),
            ("A[i + n] = A[i + m]", Some("m >= 2n or m <= 0 or m = n")),
            (
                "A[2 * i] = A[2 * i + p]",
                Some("p = 0 or (p) mod 2 = 1 or ((p) mod 2 = 0 and p <= -2n) or ((p) mod 2 = 0 and p >= 2n)"),
            ),
            // Too many cases for more than two places; what is a constant distance away is left.
            ("A[i + p] = A[i + q], A[i + r], A[i + m]", None),
            ("A[i + p] = A[i + q], A[i + r], A[i + m], A[i + p + 1000]", Some("n <= 1000")),
        ];
        for (body, want) in table {
            let text = format!("param n m p q r; array A n; for i : 0 <= i < n {{ S0 : {body}; }}");
            assert_eq!(assumed(&text).as_deref(), want, "{body}");
        }
        // A sum into a part whose place is not negative says nothing of two places.
        let text = "param n m p; context p >= 0 and n >= 1; array A n; array B m;
            for i : 0 <= i < n { for j : 0 <= j < m { S0 : A[p + i] = A[p + i], B[j]; } }";
        assert_eq!(assumed(text), None);
        // Exchanged by pairs, backwards: `swap(A[p - 1 - i], A[n - 1 - i])`.
        let rotated = |context: &str| {
            let body = "S0 : A[p - 1 - i] = A[n - 1 - i]; S1 : A[n - 1 - i] = A[p - 1 - i];";
            let text = format!("param n p; context {context}; array A n; for i : 0 <= i < p {{ {body} }}");
            assumed(&text)
        };
        assert_eq!(rotated("n >= p").as_deref(), Some("2p <= n or p = n"));
        assert_eq!(rotated("p > 0 and n <= 2 * p"), None);
        assert_eq!(rotated("p > 0 and n <= p").as_deref(), Some("n <= 0 or p = n"));
        // Planes: of an array of one row, different rows of the same plane would be apart, too.
        let text =
            "param p q m; context m >= 1; array A 4 99; for i : 1 <= i < m { S0 : A[p, i] = A[q, i - 1]; }";
        assert_eq!(assumed(text).as_deref(), Some("q > p or q < p or (q = p and m = 2)"));
        // Planes of a constant size.
        let text = "param p q; array A 2 99; for i : 0 <= i < 99 { S0 : A[p, i] = A[q, i], A[q, i + 1]; }";
        assert_eq!(assumed(text).as_deref(), Some("q > p or q < p"));
        let rows = "param n m; array A 76 40; for i : 0 <= i < n { for j : 0 <= j < m { S0 : A[i + 38, j] = A[i, j]; } }";
        assert_eq!(assumed(rows).as_deref(), Some("n <= 38"));
    }
}

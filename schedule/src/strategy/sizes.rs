//! Sizes that the program fixes, as parameters.
//!
//! **Problem.** The elimination behind Farkas' lemma is exponential in constraints with large constants:
//! isl's scheduler takes minutes where all sizes are constants, and none where they are parameters.
//! Constraints that are simplified by the domain first are quick, yet hide parallelism (a Cholesky
//! factorisation of 4000 × 4000 elements has none left).
//!
//! **Method.** Every constant `c` of a constraint that is near a large one is written as that size and a
//! small rest, and the size becomes a parameter, of which only its place in the order of sizes is known. What
//! is valid for all values of the parameters is so for the program's: the schedule is found for the
//! parameters, and they are then replaced by their values. Nothing rests on it: the mapped schedule is proved
//! with the constants.

use crate::tree::{Tree, member_map};
use crate::{Band, Result, ScheduleTree};
use pollyrs_isl as isl;

/// Constants below this are coefficients and offsets, not sizes.
const SIZE: i64 = 32;
/// How far from a size a constant may be to be named by it.
const NEAR: i64 = 8;
/// More sizes than this are left alone.
const MOST: usize = 8;

/// The sizes of a program without parameters, ascending.
pub struct Sizes {
    values: Vec<i64>,
}

impl Sizes {
    /// The sizes in these relations; `None` if there is none, or too many.
    pub fn of(domain: &isl::UnionSet, dependences: &isl::UnionMap) -> Result<Option<Sizes>> {
        let mut constants = Vec::new();
        for set in domain.sets()?.into_iter().chain(dependences.clone().wrap()?.sets()?) {
            for part in set.basic_sets()? {
                for c in part.constraints()? {
                    constants
                        .extend(c.constant()?.to_i64().and_then(i64::checked_abs).filter(|&c| c >= SIZE));
                }
            }
        }
        constants.sort_unstable();
        let mut values: Vec<i64> = Vec::new();
        let mut previous = None;
        for c in constants {
            match (previous, values.last_mut()) {
                (Some(p), Some(last)) if c - p <= NEAR => *last = c,
                _ => values.push(c),
            }
            previous = Some(c);
        }
        Ok((!values.is_empty() && values.len() <= MOST).then_some(Sizes { values }))
    }

    /// The size that `constant` is near, and what remains.
    fn name(&self, constant: i64) -> Option<(usize, i64, i64)> {
        let (sign, value) = (constant.signum(), constant.checked_abs()?);
        let at = self.values.iter().position(|&v| v >= value)?;
        let rest = value - self.values[at];
        (value >= SIZE && rest >= -4 * NEAR).then_some((at, sign, sign * rest))
    }

    /// `set` with parameters for sizes; at their values it is what it was, or more.
    fn named(&self, set: isl::Set) -> Result<isl::Set> {
        let mut set = set.compute_divs()?.add_dims(isl::DimType::Param, self.values.len() as u32)?;
        for i in 0..self.values.len() {
            set = set.set_dim_name(isl::DimType::Param, i as u32, &format!("size{i}"))?;
        }
        let mut named = isl::Set::empty(set.space()?)?;
        for part in set.basic_sets()? {
            let mut result = isl::BasicSet::universe(part.space()?)?;
            for c in part.constraints()? {
                let c = match c.constant()?.to_i64().and_then(|c| self.name(c)) {
                    Some((at, sign, rest)) => {
                        let number = |n| isl::Val::int(set.context(), n);
                        c.set_constant(number(rest)?)?.set_coefficient(
                            isl::DimType::Param,
                            at as i32,
                            number(sign)?,
                        )?
                    }
                    None => c,
                };
                result = result.add_constraint(c)?;
            }
            named = named.union(isl::Set::from_basic_set(result)?)?;
        }
        Ok(named)
    }

    /// A domain with parameters for sizes.
    pub fn named_set(&self, set: &isl::UnionSet) -> Result<isl::UnionSet> {
        let mut named = isl::UnionSet::empty(set.context())?;
        for s in set.sets()? {
            named = named.union(isl::UnionSet::from_set(self.named(s)?)?)?;
        }
        Ok(named)
    }

    /// A relation with parameters for sizes.
    pub fn named_map(&self, map: &isl::UnionMap) -> Result<isl::UnionMap> {
        Ok(self.named_set(&map.clone().wrap()?)?.unwrap()?)
    }

    /// `[sizes] -> { : what is known of them }`, or their values.
    fn parameters(&self, ctx: &isl::Context, condition: impl Fn(usize) -> String) -> Result<isl::Set> {
        let names: Vec<String> = (0..self.values.len()).map(|i| format!("size{i}")).collect();
        let conditions: Vec<String> = (0..self.values.len()).map(condition).collect();
        Ok(isl::Set::read(ctx, &format!("[{}] -> {{ : {} }}", names.join(", "), conditions.join(" and ")))?)
    }

    /// The order of the sizes.
    pub fn context(&self, ctx: &isl::Context) -> Result<isl::Set> {
        self.parameters(ctx, |i| match i {
            0 => format!("size0 >= {SIZE}"),
            _ => format!("size{i} > {NEAR} + size{}", i - 1),
        })
    }

    /// The schedule of the program of a schedule for all sizes.
    pub fn fixed(&self, tree: ScheduleTree, domain: &isl::UnionSet) -> Result<ScheduleTree> {
        let values = self.parameters(domain.context(), |i| format!("size{i} = {}", self.values[i]))?;
        Ok(ScheduleTree { domain: domain.clone(), root: self.fixed_tree(tree.root, &values)? })
    }

    fn fixed_tree(&self, tree: Tree, values: &isl::Set) -> Result<Tree> {
        let n = self.values.len() as u32;
        Ok(match tree {
            Tree::Leaf => Tree::Leaf,
            Tree::Mark(name, child) => Tree::Mark(name, Box::new(self.fixed_tree(*child, values)?)),
            Tree::Sequence(children) => {
                let mut fixed = Vec::new();
                for (filter, child) in children {
                    let filter =
                        filter.intersect_params(values.clone())?.project_out(isl::DimType::Param, 0, n)?;
                    fixed.push((filter, self.fixed_tree(child, values)?));
                }
                Tree::Sequence(fixed)
            }
            Tree::Band(band) => {
                let mut members = Vec::new();
                for m in &band.members {
                    let map = member_map(m)?.intersect_params(values.clone())?.project_out(
                        isl::DimType::Param,
                        0,
                        n,
                    )?;
                    members.push(isl::MultiUnionPwAff::from_union_map(map)?.at(0)?);
                }
                Tree::Band(Band { members, child: Box::new(self.fixed_tree(*band.child, values)?), ..band })
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOMAIN: &str =
        "{ S[i, j] : 0 <= i <= 3999 and 0 <= j <= 3998 - i; T[i] : 1 <= i < 700 and exists e : i = 3e }";
    const ORDER: &str =
        "{ S[i, j] -> S[i + 1, j] : i <= 3998; S[i, j] -> T[i] : i < 700; T[i] -> S[4000 - i, 0] }";

    fn sizes(ctx: &isl::Context) -> (isl::UnionSet, isl::UnionMap, Sizes) {
        let domain = isl::UnionSet::read(ctx, DOMAIN).unwrap();
        let order = isl::UnionMap::read(ctx, ORDER).unwrap();
        let sizes = Sizes::of(&domain, &order).unwrap().unwrap();
        (domain, order, sizes)
    }

    #[test]
    fn constants_near_each_other_are_one_size() {
        let ctx = isl::Context::new();
        let (_, _, sizes) = sizes(&ctx);
        assert_eq!(sizes.values, [699, 4000]);
        for (constant, expected) in [
            (3998, Some((1, 1, -2))),
            (-4000, Some((1, -1, 0))),
            (699, Some((0, 1, 0))),
            (63, None),
            (5000, None),
            (1000, None),
        ] {
            assert_eq!(sizes.name(constant), expected, "{constant}");
        }
    }

    #[test]
    fn nothing_or_too_much_has_no_sizes() {
        let ctx = isl::Context::new();
        let none = isl::UnionMap::read(&ctx, "{ S[i] -> S[i + 1] }").unwrap();
        for text in [
            "{ S[i] : 0 <= i <= 31 }".to_string(),
            format!(
                "{{ {} }}",
                (1..=9).map(|k| format!("S{k}[i] : 0 <= i <= {}", 100 * k)).collect::<Vec<_>>().join("; ")
            ),
        ] {
            assert!(
                Sizes::of(&isl::UnionSet::read(&ctx, &text).unwrap(), &none).unwrap().is_none(),
                "{text}"
            );
        }
    }

    #[test]
    fn at_the_program_s_sizes_all_is_as_it_was() {
        let ctx = isl::Context::new();
        let (domain, order, sizes) = sizes(&ctx);
        let values = sizes.parameters(&ctx, |i| format!("size{i} = {}", sizes.values[i])).unwrap();
        assert!(values.is_subset(&sizes.context(&ctx).unwrap()).unwrap());
        let fixed = sizes.named_set(&domain).unwrap().intersect_params(values.clone()).unwrap();
        assert!(fixed.project_out(isl::DimType::Param, 0, 2).unwrap().is_equal(&domain).unwrap());
        let fixed = sizes.named_map(&order).unwrap().intersect_params(values).unwrap();
        assert!(fixed.project_out(isl::DimType::Param, 0, 2).unwrap().is_equal(&order).unwrap());
        // They are parameters indeed: nothing large is left.
        let text = sizes.named_set(&domain).unwrap().to_string();
        assert!(text.contains("size1") && !text.contains("399"), "{text}");
    }

    #[test]
    fn schedules_for_all_sizes_are_fixed_at_the_program_s() {
        let ctx = isl::Context::new();
        let (domain, _, sizes) = sizes(&ctx);
        let read = |text: &str| isl::UnionPwAff::read(&ctx, text).unwrap();
        let filter = |text: &str| isl::UnionSet::read(&ctx, text).unwrap();
        let band = Band {
            members: vec![read("[size0, size1] -> { S[i, j] -> [(size1 - i)] }")],
            permutable: true,
            coincident: vec![true],
            child: Box::new(Tree::Leaf),
        };
        let root = Tree::Sequence(vec![
            (filter("[size0, size1] -> { S[i, j] : i < size0 }"), Tree::Band(band)),
            (filter("[size0, size1] -> { S[i, j] : i >= size0; T[i] }"), Tree::Leaf),
        ]);
        let fixed = sizes.fixed(ScheduleTree { domain: domain.clone(), root }, &domain).unwrap();
        let Tree::Sequence(children) = fixed.root else { panic!("a sequence") };
        assert!(children[0].0.is_equal(&filter("{ S[i, j] : i < 699 }")).unwrap());
        let Tree::Band(b) = &children[0].1 else { panic!("a band") };
        let expected = isl::UnionMap::read(&ctx, "{ S[i, j] -> [4000 - i] }").unwrap();
        assert!(member_map(&b.members[0]).unwrap().is_equal(&expected).unwrap());
        assert!(b.permutable && b.coincident == [true]);
    }
}

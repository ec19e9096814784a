//! The original execution order as a schedule tree: one band of one member for each loop, sequences between.

use crate::base::found::Draft;
use isl::{DimType, LocalSpace, MultiUnionPwAff, PwAff, Schedule, UnionPwAff, UnionSet};
use pollyrs_isl as isl;

/// `drafts` are in program order, the statements of a loop together.
///
/// ```text
/// for i { S0; for j S1; }   =>   domain { S0[i], S1[i, j] }
///                                band   [ i ]
///                                sequence { S0 }, { S1 } -> band [ j ]
/// ```
pub(crate) fn original_schedule(ctx: &isl::Context, drafts: &[Draft]) -> isl::Result<Schedule> {
    match level(drafts, 0)? {
        Some(s) => Ok(s),
        None => Schedule::empty(isl::Space::unit(ctx)?),
    }
}

fn level(drafts: &[Draft], depth: usize) -> isl::Result<Option<Schedule>> {
    let mut schedule: Option<Schedule> = None;
    let mut rest = drafts;
    while let Some(first) = rest.first() {
        let (run, part) = match first.loops.get(depth) {
            None => (1, Schedule::from_domain(UnionSet::from_set(first.statement.domain.clone())?)?),
            Some(l) => {
                let run = rest.iter().take_while(|d| d.loops.get(depth) == Some(l)).count();
                let Some(inner) = level(&rest[..run], depth + 1)? else { break };
                (run, inner.insert_partial_schedule(counter(&rest[..run], depth)?)?)
            }
        };
        rest = &rest[run..];
        schedule = Some(match schedule {
            None => part,
            Some(s) => s.sequence(part)?,
        });
    }
    Ok(schedule)
}

/// `{ S[i0, ...] -> [i_depth] }` for all of `drafts`.
fn counter(drafts: &[Draft], depth: usize) -> isl::Result<MultiUnionPwAff> {
    let mut all: Option<UnionPwAff> = None;
    for d in drafts {
        let ls = LocalSpace::from_space(d.statement.domain.space()?)?;
        let i = PwAff::from_aff(isl::Aff::var_on_domain(ls, DimType::Set, depth as u32)?)?;
        let i = UnionPwAff::from_pw_aff(i)?;
        all = Some(match all {
            None => i,
            Some(a) => a.union_add(i)?,
        });
    }
    match all {
        Some(a) => MultiUnionPwAff::from_union_pw_aff(a),
        None => Err(isl::Error::Argument("a loop without statements")),
    }
}

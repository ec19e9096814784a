//! The expressions of a statement, made once a kernel.

use crate::affine::expr::{parameterize, parameterize_set, pw_aff_expr};
use crate::ir::error::Result;
use crate::kernel::builder::KernelBuilder;
use pollyrs_isl as isl;
use pollyrs_schedule::Placement;
use pollyrs_scop::{Access, Statement, StmtId, Within};
use std::collections::BTreeMap;

/// The expressions of a statement, over the parameters and `_i0`, `_i1`, ...; made once a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) dims: usize,
    /// The subscripts of each access; those of a subregion over the counters of its loops, too.
    pub(crate) subscripts: Vec<Vec<isl::AstExpr>>,
    /// By host value.
    pub(crate) synthesized: BTreeMap<usize, isl::AstExpr>,
}

impl Plan {
    pub(crate) fn new<S>(k: &KernelBuilder<'_, S>, s: &Statement) -> Result<Plan> {
        let executed = match &k.launch.domain {
            None => s.domain.clone(),
            Some(domain) => domain.extract_set(s.domain.space()?)?,
        };
        let context = k.launch.context.clone().params()?;
        let mut simplified =
            Simplified { known: parameterize_set(&executed)?.intersect(context)?, made: Vec::new() };
        let mut subscripts = Vec::new();
        for a in &s.accesses {
            let relation = match &a.within {
                Some(Within { counters, values, relation }) => {
                    let more = (counters.len() + values.len()) as u32;
                    let more = executed.clone().add_dims(isl::DimType::Set, more)?;
                    relation.clone().intersect_domain(more.set_tuple_name(&s.name)?)?
                }
                None => a.relation.clone().intersect_domain(executed.clone())?,
            };
            let function = isl::PwMultiAff::from_map(relation)?;
            let dims = k.scop.array(a.array).dims();
            let private = is_private(k, a);
            subscripts.push(
                (0..if private { 0 } else { dims as i32 })
                    .map(|d| simplified.expression(parameterize(&function.at(d)?)?))
                    .collect::<Result<_>>()?,
            );
        }
        let mut synthesized = BTreeMap::new();
        for y in &s.synthesized {
            let f = y.function.clone().intersect_domain(executed.clone())?;
            synthesized.insert(y.value.address(), simplified.expression(parameterize(&f)?)?);
        }
        Ok(Plan { dims: executed.dim(isl::DimType::Set)? as usize, subscripts, synthesized })
    }
}

/// Expressions under what is known of a statement's instances, each made once: a stencil reads one array at
/// many distances, of which each subscript has few, and simplifying one takes longer than all comparisons.
pub(crate) struct Simplified {
    pub(crate) known: isl::Set,
    pub(crate) made: Vec<(isl::PwAff, isl::AstExpr)>,
}

impl Simplified {
    /// The expression of a function of the parameters and `_i0`, `_i1`, ...
    pub(crate) fn expression(&mut self, f: isl::PwAff) -> Result<isl::AstExpr> {
        for (g, e) in &self.made {
            if f.plain_is_equal(g)? {
                return Ok(e.clone());
            }
        }
        let e = pw_aff_expr(&f, Some(&self.known))?;
        self.made.push((f, e.clone()));
        Ok(e)
    }
}

pub(crate) fn is_private<S>(k: &KernelBuilder<'_, S>, a: &Access) -> bool {
    k.mapped.placement.get(a.array.0) == Some(&Placement::Private)
}

pub(crate) fn plan<S>(k: &mut KernelBuilder<'_, S>, id: StmtId, s: &Statement) -> Result<Plan> {
    if let Some(p) = k.plans.get(&id) {
        return Ok(p.clone());
    }
    let p = Plan::new(k, s)?;
    k.plans.insert(id, p.clone());
    Ok(p)
}

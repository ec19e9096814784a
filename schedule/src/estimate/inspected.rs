//! Which memory the host looks at for a [`pollyrs_scop::Inspection`] or a [`pollyrs_scop::Rounding`].
//!
//! A box around the elements: what lies between them is looked at as well, which makes the range that is
//! found wider, not wrong. Nobody knows whether all of a box is there, so that the host reads it in the way
//! that survives missing pages.

use super::Corner;
use crate::{Result, budgeted};
use pollyrs_isl as isl;
use pollyrs_scop::{Scop, TermKind};

/// The elements that an inspection looks at.
#[derive(Clone, Debug)]
pub struct InspectedBox {
    /// Functions of the parameters where `nonempty` holds.
    pub corner: Corner,
    /// `[params] -> { : ... }`
    pub nonempty: isl::Set,
}

/// The boxes of all inspections of a SCoP, and then those of what its roundings load, one behind the other.
pub fn inspected(scop: &Scop) -> Result<Vec<InspectedBox>> {
    budgeted(&scop.ctx, "inspection", crate::DEFAULT_BUDGET, || {
        let numbers = scop.roundings.iter().flat_map(|r| &r.terms).filter_map(|t| match &t.kind {
            TermKind::Memory { elements, .. } => Some(elements),
            _ => None,
        });
        let lists = scop.inspections.iter().map(|i| &i.elements);
        lists.chain(numbers).map(|elements| box_of(scop, elements)).collect()
    })
}

fn box_of(scop: &Scop, elements: &isl::Set) -> Result<InspectedBox> {
    // What is known of inspected values does not hold before they are: the context says nothing of them but
    // that the least is not the largest.
    let elements = elements.clone().coalesce()?;
    let nonempty = elements.clone().params()?.coalesce()?;
    let mut corner = Corner { min: Vec::new(), max: Vec::new() };
    let dims = elements.dim(isl::DimType::Set)?;
    for d in 0..dims {
        let values = elements.shadow(d)?;
        let values = match values.n_basic_set()? {
            0 | 1 => values,
            _ => {
                let hull = isl::Set::from_basic_set(values.clone().simple_hull()?)?;
                let ends = hull.dim_has_lower_bound(isl::DimType::Set, 0)?
                    && hull.dim_has_upper_bound(isl::DimType::Set, 0)?;
                if ends { hull } else { values }
            }
        };
        let context = scop.facts()?.intersect(nonempty.clone())?;
        let tidy = |f: isl::PwAff| -> Result<isl::PwAff> { Ok(f.gist_params(context.clone())?.coalesce()?) };
        corner.min.push(tidy(values.clone().dim_min(0)?)?);
        corner.max.push(tidy(values.dim_max(0)?)?);
    }
    Ok(InspectedBox { corner, nonempty: nonempty.gist(scop.context.clone())? })
}

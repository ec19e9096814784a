//! Where the arrays of one call lie: as large as what is touched, those that overlap on purpose in one
//! region.

use crate::ast::{ArgSet, Elem, Program};
use crate::evaluate::{Bad, Trace, evaluate};

#[derive(Debug, PartialEq)]
pub struct Layout {
    /// Type and number of elements.
    pub regions: Vec<(Elem, i64)>,
    /// Region, and offset of subscript 0 in elements, of each array. The offset may lie outside.
    pub bases: Vec<(usize, i64)>,
}

/// The layout for one argument list.
pub fn layout(program: &Program, set: &ArgSet) -> Result<Layout, Bad> {
    let trace = evaluate(program, set)?;
    Ok(of_trace(program, set, &trace))
}

fn of_trace(program: &Program, set: &ArgSet, trace: &Trace) -> Layout {
    // The extent of each array that has a region, relative to its subscript 0.
    let mut extents: Vec<(i64, i64)> = trace.touched.iter().map(|t| t.unwrap_or((0, 0))).collect();
    for (array, alias) in set.alias.iter().enumerate() {
        if let Some((owner, distance)) = alias {
            let (low, high) = extents[array];
            let whole = &mut extents[*owner];
            *whole = (whole.0.min(low + distance), whole.1.max(high + distance));
        }
    }
    let mut layout = Layout { regions: Vec::new(), bases: Vec::new() };
    for (array, alias) in set.alias.iter().enumerate() {
        let base = match alias {
            Some((owner, distance)) => {
                let (region, offset) = layout.bases[*owner];
                (region, offset + distance)
            }
            None => {
                let (low, high) = extents[array];
                layout.regions.push((program.arrays[array].elem, high - low + 1));
                (layout.regions.len() - 1, -low)
            }
        };
        layout.bases.push(base);
    }
    layout
}

//! Bounds and base pointers that are loaded from memory which the region's own stores might change.
//!
//! **Problem.** `for (y < im->height) for (x < im->width) im->pixels[y * im->width + x] = 0;` stores bytes,
//! which may lie anywhere, in `*im` too: then the bound changes. Nobody means that. The working copy reads
//! such values before the loop ([`pollyrs_llvm_shim::Session::assume_invariant_loads`]); where the places
//! that they were read from lie outside of what the region writes, which is checked at run time, they are
//! what the loop would read.
//!
//! **Invariants.** Scalar evolution knows the loads of the loop *L* that a value was read for by this value,
//! so everything it says of *L* and its inside holds under the check only. A region has all of such a loop,
//! and the value was read before the region, or it has nothing of it. (What *L* leaves behind for others does
//! not depend on such values: the shim leaves other loops alone.)

use crate::base::builder::Builder;
use crate::base::fail::Fail;
use crate::base::ir::{self, Block, Value};
use crate::base::region::Candidate;
use pollyrs_llvm_shim::{Analyses, LoopId};
use pollyrs_scop::{ArrayId, InvariantLoad, RejectReason};
use std::collections::{BTreeMap, BTreeSet};

/// A load that is known by a value read before a loop.
struct Known {
    load: Value,
    before: Value,
}

/// The loops of a function for which values were read before, and the loads in them.
pub(crate) struct Assumed {
    loops: BTreeMap<LoopId, Vec<Known>>,
}

impl Assumed {
    pub fn new(an: &Analyses<'_>, blocks: &[Block]) -> Assumed {
        let mut loops: BTreeMap<LoopId, Vec<Known>> = BTreeMap::new();
        let marked = blocks.iter().flat_map(|b| ir::instructions(*b)).filter(|v| ir::is_invariant_load(*v));
        for v in marked {
            let (before, load) = (ir::operand(v, 1), ir::operand(v, 2));
            // The outermost loop around the load that is not around the value.
            let mut around = ir::parent(v).and_then(|b| an.innermost_loop(b));
            let mut own = None;
            while let Some(l) = around {
                let data = &an.loops()[l.0];
                if ir::parent(before).is_some_and(|b| data.blocks.contains(&b)) {
                    break;
                }
                own = Some(l);
                around = data.parent;
            }
            if let Some(l) = own {
                loops.entry(l).or_default().push(Known { load, before });
            }
        }
        Assumed { loops }
    }

    /// The blocks of which something depends on values read before: on one of them, or on how often a loop
    /// runs that one of them ends.
    pub fn affected(an: &Analyses<'_>, blocks: &[Block]) -> BTreeSet<Block> {
        let marked = blocks.iter().flat_map(|b| ir::instructions(*b)).filter(|v| ir::is_invariant_load(*v));
        let (mut work, mut seen) = (marked.collect::<Vec<_>>(), BTreeSet::new());
        let mut affected = BTreeSet::new();
        while let Some(v) = work.pop() {
            let Some(block) = ir::parent(v).filter(|_| seen.insert(v)) else { continue };
            affected.insert(block);
            work.extend(ir::uses(v).into_iter().map(|(user, _)| user));
            let ends = ir::terminator(block) == Some(v);
            let ended = an.loops().iter().filter(|l| ends && l.exiting.contains(&block));
            work.extend(ended.flat_map(|l| &l.blocks).flat_map(|b| ir::instructions(*b)));
        }
        affected
    }

    /// Whether the region is a part of a loop.
    pub fn divides(&self, an: &Analyses<'_>, region: &Candidate) -> bool {
        self.loops.keys().map(|l| &an.loops()[l.0]).any(|data| {
            data.blocks.contains(&region.entry) && !data.blocks.iter().all(|b| region.blocks.contains(b))
        })
    }

    /// Refuses a region that has a part of a loop, or the values read before it.
    pub fn check(&self, an: &Analyses<'_>, region: &Candidate) -> Result<(), Fail> {
        for (l, loads) in &self.loops {
            let data = &an.loops()[l.0];
            let has = region.blocks.contains(&data.header);
            let whole = has && data.blocks.iter().all(|b| region.blocks.contains(b));
            let part = !has && data.blocks.contains(&region.entry);
            let late =
                loads.iter().find(|k| ir::parent(k.before).is_some_and(|b| region.blocks.contains(&b)));
            if part || has && !whole || whole && late.is_some() {
                let block = late.and_then(|k| ir::parent(k.before)).unwrap_or(region.entry);
                let name = late.or(loads.first()).and_then(|k| pollyrs_llvm_shim::source_name(k.before));
                let array = name.unwrap_or_else(|| "a value loaded from memory".into());
                return Err(Fail::new(RejectReason::BaseChanges { array }, block));
            }
        }
        Ok(())
    }

    /// The loads of the region.
    fn within<'a>(&'a self, b: &'a Builder<'_>) -> impl Iterator<Item = &'a Known> {
        self.loops.iter().filter(|(l, _)| b.given.inside(**l)).flat_map(|(_, loads)| loads)
    }
}

impl Builder<'_> {
    /// The places that the region takes for unwritten. `writes` are the stores to each array.
    pub fn invariant_loads(&self, writes: &[(ArrayId, Value, Value)]) -> Vec<InvariantLoad> {
        let mut places: Vec<(Value, InvariantLoad)> = Vec::new();
        for Known { load, before } in self.given.invariant_loads.within(self) {
            let Some(address) = ir::address(*before) else { continue };
            let at = places.iter().position(|(v, _)| v == before).unwrap_or_else(|| {
                let bytes = if ir::is_pointer(*before) { 64 } else { ir::int_bits(*before).unwrap_or(64) }
                    .div_ceil(8);
                let display = self.name_of(*before);
                places.push((
                    *before,
                    InvariantLoad { address: ir::handle(address), bytes, display, arrays: Vec::new() },
                ));
                places.len() - 1
            });
            let arrays = &mut places[at].1.arrays;
            for (array, base, store) in writes {
                let clash =
                    || self.given.an.may_alias_accesses((*base, Some(*store)), (address, Some(*load)));
                if !arrays.contains(array) && clash() {
                    arrays.push(*array);
                }
            }
        }
        places.into_iter().map(|(_, u)| u).filter(|u| !u.arrays.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{function, to, with_analyses};

    #[test]
    fn what_depends_on_a_value_read_before_is_affected() {
        let known = "%v = load i64, ptr %t; %k = select i1 true, i64 %m, i64 %v, !pollyrs.invariant !0";
        // (behind the load, how many blocks of the loop are affected)
        let table = [
            ("", 1),
            ("a[%k] = 1.0", 1),
            ("%c = fcmp ogt double 1.0, 2.0; if %c: a[%k] = 1.0", 2),
            // How often the loop runs depends on it.
            ("%c = icmp eq i64 %k, 5; stop if %c", 3),
        ];
        for (rest, expected) in table {
            let text = function(&[to("i", "%n")], &format!("{known}; {rest}")) + "!0 = !{}\n";
            with_analyses(&text, |analyses| {
                let blocks = analyses.reverse_postorder().to_vec();
                assert_eq!(Assumed::affected(analyses, &blocks).len(), expected, "{rest}");
            });
        }
    }
}

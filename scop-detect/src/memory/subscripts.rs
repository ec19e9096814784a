//! Subscripts of accesses to arrays whose shapes are known.

use crate::base::ir::{self, Value};
use crate::base::place::Place;
use isl::PwAff;
use pollyrs_isl as isl;
use pollyrs_scop::{Access, AccessValue};

/// The subscripts of an access, over the iteration and the values that choose its element.
pub(crate) struct Subscripts {
    pub draft: usize,
    pub instruction: Value,
    pub place: Place,
    pub subs: Vec<PwAff>,
}

/// The load or store that an access stands for.
pub(crate) fn instruction(a: &Access) -> Option<Value> {
    match a.value {
        AccessValue::Instruction(v) => Some(ir::value(v)),
        _ => None,
    }
}

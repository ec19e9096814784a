//! The data of a SCoP.

mod access;
mod array;
mod condition;
mod rounding;
mod statement;

pub use access::*;
pub use array::*;
pub use condition::*;
pub use rounding::*;
pub use statement::*;

use pollyrs_isl as isl;
use std::fmt;

/// The index of a statement in `Scop::statements`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StmtId(pub usize);

/// The index of an array in `Scop::arrays`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArrayId(pub usize);

/// A value or basic block of the host IR (an `LLVMValueRef` or `LLVMBasicBlockRef` as an integer). Opaque
/// here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueHandle(usize);

impl ValueHandle {
    /// A handle of what is at an address.
    ///
    /// # Safety
    /// A value or basic block of the host IR is there for as long as a SCoP with the handle is used, or
    /// nobody looks: in tests.
    pub const unsafe fn new(address: usize) -> ValueHandle {
        ValueHandle(address)
    }

    /// Where it is, which tells it from others.
    pub const fn address(self) -> usize {
        self.0
    }
}

/// A scalar-evolution expression of the host IR (a `const SCEV *` as an integer). Opaque here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScevHandle(usize);

impl ScevHandle {
    /// A handle of what is at an address.
    ///
    /// # Safety
    /// An expression of the analyses that the SCoP was found with is there, or nobody looks: in tests.
    pub const unsafe fn new(address: usize) -> ScevHandle {
        ScevHandle(address)
    }

    /// Where it is.
    pub const fn address(self) -> usize {
        self.0
    }
}

/// A place in the user's source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 where unknown.
    pub column: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A symbolic constant: an integer that does not change while the SCoP runs.
#[derive(Clone, Debug)]
pub struct Param {
    /// isl's name for it; unique, a C identifier, no leading underscore.
    pub name: String,
    /// The source's name for it, for messages.
    pub display: String,
    /// Width of the host value in bits, at most 64. The mathematical value is its *signed* value.
    pub bits: u32,
    /// The host computes it from this expression before the SCoP.
    pub scev: ScevHandle,
    /// The host finds it by an [`Inspection`] instead.
    pub inspected: bool,
}

impl Param {
    /// The values that detection lets it have: those of its type, of 64 bits those that the host checks for.
    pub fn range(&self) -> (i64, i64) {
        match self.bits {
            64.. => (-(1 << 46), 1 << 46),
            bits => (-(1 << (bits.max(1) - 1)), (1 << (bits.max(1) - 1)) - 1),
        }
    }
}

/// A value that does not change while the SCoP runs and that statement bodies use as it is (`alpha` of gemm).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invariant {
    pub value: ValueHandle,
    pub display: String,
}

/// Where the SCoP is in the host function. Handles are basic blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The first block; it is entered from outside only.
    pub entry: ValueHandle,
    /// The block after the region; not part of it.
    pub exit: ValueHandle,
    /// All blocks of the region, `entry` included.
    pub blocks: Vec<ValueHandle>,
}

/// Statements with one nest around them, over points in tiles of a size that is known at run time only. The
/// dimensions of the points are `first` to `last` of each of their domains. In the program the instances of
/// one execution of the nest are in the order of their tiles, which go up in each of these dimensions; in
/// each tile, and in dimensions without tiles, the points do as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reordered {
    pub first: usize,
    pub last: usize,
    pub statements: Vec<StmtId>,
}

/// A static control part.
#[derive(Clone, Debug)]
pub struct Scop {
    /// `function` or `function.N` for the N-th of a function (from 1), unique in the module.
    pub name: String,
    pub function: String,
    pub location: Option<Location>,
    pub ctx: isl::Context,
    pub params: Vec<Param>,
    /// `[params] -> { : ... }`: what is known to hold whenever the region is entered, the types' ranges
    /// included.
    pub context: isl::Set,
    pub assumptions: Vec<Assumption>,
    /// Further assumptions.
    pub ranges: Vec<ProductRange>,
    pub invariants: Vec<Invariant>,
    pub arrays: Vec<Array>,
    pub statements: Vec<Statement>,
    /// The original execution order.
    pub schedule: isl::Schedule,
    pub region: Region,
    /// Pairs of memory arrays that may overlap and of which at least one is written: their touched ranges are
    /// compared at run time.
    pub alias_checks: Vec<(ArrayId, ArrayId)>,
    /// Those of `alias_checks` that may also be one array, as in a call `f(n, b, b)`: with equal bases and
    /// equal inner sizes no read of the one, which is not written, sees a store to the other. Both have the
    /// same shape but for the sizes.
    pub in_place: Vec<(ArrayId, ArrayId)>,
    /// Values that were read before the region for what is loaded in it.
    pub invariant_loads: Vec<InvariantLoad>,
    /// In the order in which they are made.
    pub inspections: Vec<Inspection>,
    /// In the order in which they are made.
    pub roundings: Vec<Rounding>,
    pub appends: Vec<Append>,
    /// Arrays of which the program promises that different iterations of the outermost loop around their
    /// accesses have different elements, but for those that are only read: what [`Access::place`] of them
    /// relies on. All their accesses are under that loop, and their place is its counter.
    pub promised: Vec<ArrayId>,
    /// Nests whose points the program runs through tile by tile: `schedule` has another order, which must be
    /// proved to be as good.
    pub reordered: Vec<Reordered>,
    /// Source lines of the loops inside, for messages; one entry a loop.
    pub loops: Vec<Option<Location>>,
    /// Made of loops of their own that were cut into runs, which only long ones are worth: estimates take
    /// them for such.
    pub long: bool,
}

impl Scop {
    pub fn array(&self, id: ArrayId) -> &Array {
        &self.arrays[id.0]
    }

    /// Whether the arrays of a pair of [`Scop::alias_checks`], or what they are copies of, may be one array.
    pub fn may_be_one(&self, a: ArrayId, b: ArrayId) -> isl::Result<bool> {
        let same =
            |p: ArrayId, q: ArrayId| Ok::<_, isl::Error>(p == q || self.array(p).same_place(self.array(q))?);
        for (p, q) in self.in_place.iter().copied() {
            if same(p, a)? && same(q, b)? || same(p, b)? && same(q, a)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The statement whose tuple is named `name`.
    pub fn statement_named(&self, name: &str) -> Option<(StmtId, &Statement)> {
        self.statements.iter().enumerate().find(|(_, s)| s.name == name).map(|(i, s)| (StmtId(i), s))
    }

    /// The parameter space `[p0, p1, ...]` in the order of `params`.
    pub fn param_space(&self) -> isl::Result<isl::Space> {
        isl::Space::params_named(&self.ctx, self.params.iter().map(|p| p.name.as_str()))
    }

    /// The context without the ranges of the parameters' types. Only proofs that nothing wraps need these;
    /// everywhere else they make each system of constraints larger, with numbers beyond isl's fast 32-bit
    /// arithmetic.
    pub fn facts(&self) -> isl::Result<isl::Set> {
        let mut ranges = isl::Set::universe(self.param_space()?)?;
        for (p, at) in self.params.iter().zip(0..) {
            let (low, high) = p.range();
            ranges = ranges
                .lower_bound_val(isl::DimType::Param, at, isl::Val::int(&self.ctx, low)?)?
                .upper_bound_val(isl::DimType::Param, at, isl::Val::int(&self.ctx, high)?)?;
        }
        self.context.clone().gist(ranges)
    }

    /// The union of all domains, under what is known of the parameters.
    pub fn domain(&self) -> isl::Result<isl::UnionSet> {
        let mut u = isl::UnionSet::empty(&self.ctx)?;
        for s in &self.statements {
            u = u.add_set(s.domain.clone())?;
        }
        u.intersect_params(self.facts()?)
    }

    /// The union of the access relations that `keep` selects, restricted to the domains: `{ S[i] -> A[a] }`.
    pub fn accesses(&self, keep: impl Fn(&Statement, &Access) -> bool) -> isl::Result<isl::UnionMap> {
        let mut u = isl::UnionMap::empty(&self.ctx)?;
        for s in &self.statements {
            for a in &s.accesses {
                if keep(s, a) {
                    u = u.add_map(a.relation.clone().intersect_domain(s.domain.clone())?)?;
                }
            }
        }
        u.intersect_params(self.facts()?)
    }

    /// What orders instances: as [`Scop::accesses`], without updates, which any order is fine for, and of
    /// accesses that have a place this.
    pub fn ordered_accesses(&self, keep: impl Fn(&Statement, &Access) -> bool) -> isl::Result<isl::UnionMap> {
        let mut u = isl::UnionMap::empty(&self.ctx)?;
        for s in &self.statements {
            for a in s.accesses.iter().filter(|a| s.update_of(a).is_none() && keep(s, a)) {
                let relation = a.place.as_ref().unwrap_or(&a.relation);
                u = u.add_map(relation.clone().intersect_domain(s.domain.clone())?)?;
            }
        }
        u.intersect_params(self.facts()?)
    }

    /// Whether a loop that became part of a statement stores to memory.
    pub fn stores_in_subregion_loop(&self) -> bool {
        let stores = |a: &Access| {
            a.kind != AccessKind::Read && a.within.as_ref().is_some_and(|w| !w.counters.is_empty())
        };
        self.statements.iter().flat_map(|s| &s.accesses).any(stores)
    }

    /// The conjunction of all assumptions, simplified under the context: `[params] -> { : ... }`.
    pub fn assumed(&self) -> isl::Result<isl::Set> {
        let mut set = isl::Set::universe(self.param_space()?)?;
        for a in &self.assumptions {
            set = set.intersect(a.set.clone())?;
        }
        set.coalesce()?.gist(self.context.clone())
    }
}

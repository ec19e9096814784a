//! The data of a SCoP.

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
pub struct ScevHandle(pub usize);

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

/// The type of an array's elements. Sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElemType {
    F16,
    BF16,
    F32,
    F64,
    /// An integer of 8, 16, 32 or 64 bits.
    Int(u32),
}

impl ElemType {
    /// Size in bytes.
    pub fn bytes(self) -> u32 {
        match self {
            ElemType::F16 | ElemType::BF16 => 2,
            ElemType::F32 => 4,
            ElemType::F64 => 8,
            ElemType::Int(bits) => bits / 8,
        }
    }
}

impl fmt::Display for ElemType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElemType::F16 => f.write_str("half"),
            ElemType::BF16 => f.write_str("bfloat"),
            ElemType::F32 => f.write_str("float"),
            ElemType::F64 => f.write_str("double"),
            ElemType::Int(bits) => write!(f, "i{bits}"),
        }
    }
}

/// What an array stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArrayKind {
    /// Memory of the program; the element with all subscripts zero is at the address `base`, a pointer that
    /// does not change while the SCoP runs, plus [`Array::shift`].
    Memory { base: ValueHandle },
    /// An SSA value that lives across statements, one cell for each iteration of the loops common to its
    /// definition and all its uses. It exists on the device only.
    Scalar { value: ValueHandle, live_out: bool },
    /// A PHI node: written by the statements it joins, read by its own. As `Scalar` otherwise.
    Phi { phi: ValueHandle, live_out: bool },
    /// A cell that a kernel sets where the program would do what the model lacks (set `errno`): then the
    /// execution on the device does not count, nothing comes back, and the original runs. No statement
    /// accesses it.
    ///
    /// `leaves`: that may also be the program's end, or a jump out of the loops, in any iteration. No access
    /// is certain then: what follows the iteration runs on the device alone.
    Fault { leaves: bool },
}

/// An array: `dims` dimensions, outermost first.
#[derive(Clone, Debug)]
pub struct Array {
    /// isl's tuple name.
    pub name: String,
    /// The source's name for it.
    pub display: String,
    pub elem: ElemType,
    /// Size of each dimension in elements, functions on the parameter space
    /// `[params] -> { [...] }`. `None` where no size is
    /// needed to compute an address (the outermost dimension of memory).
    pub sizes: Vec<Option<isl::PwAff>>,
    pub kind: ArrayKind,
    /// Of memory: the bytes from its base to the element with all subscripts zero, a function on the
    /// parameter space; `None` is 0. Several arrays in one allocation have one base and different shifts.
    pub shift: Option<isl::PwAff>,
}

impl Array {
    /// Number of dimensions; 0 for a scalar cell.
    pub fn dims(&self) -> usize {
        self.sizes.len()
    }

    pub fn is_memory(&self) -> bool {
        matches!(self.kind, ArrayKind::Memory { .. })
    }

    /// Whether both are memory from the same address on, with elements as wide. (Members of a structure may
    /// be arrays of two widths.)
    pub fn same_place(&self, other: &Array) -> isl::Result<bool> {
        Ok(self.is_memory()
            && self.kind == other.kind
            && self.elem.bytes() == other.elem.bytes()
            && match (&self.shift, &other.shift) {
                (None, None) => true,
                (Some(a), Some(b)) => a.is_equal(b)?,
                _ => false,
            })
    }

    /// Whether a value must come back to the host although the array is not memory.
    pub fn live_out(&self) -> bool {
        matches!(self.kind, ArrayKind::Scalar { live_out: true, .. } | ArrayKind::Phi { live_out: true, .. })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessKind {
    Read,
    MustWrite,
    MayWrite,
}

/// How an access shows in the statement's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessValue {
    /// This load or store of the body.
    Instruction(ValueHandle),
    /// Before the body, the cell is read; uses of this SSA value in the body mean what was read.
    ScalarRead(ValueHandle),
    /// After the body, this SSA value (of the body, synthesised, constant, or read) is written to the cell.
    ScalarWrite(ValueHandle),
}

/// One access of a statement.
#[derive(Clone, Debug)]
pub struct Access {
    pub kind: AccessKind,
    pub array: ArrayId,
    /// `[params] -> { Stmt[i...] -> Array[subscripts...] }`, single-valued, not restricted to the domain.
    /// Piecewise where the subscripts are.
    pub relation: isl::Map,
    pub value: AccessValue,
    /// Every instance of the statement touches its elements. Not so where control flow inside the statement
    /// decides.
    pub certain: bool,
    /// For accesses of the statement's [`Subregion`], and those whose subscripts depend on data: which
    /// element one execution of the instruction touches. `relation` holds all that the instance may touch and
    /// need not be single-valued nor total.
    pub within: Option<Within>,
    /// `[params] -> { Stmt[i...] -> place[p...] }`, where data chooses the element and an inspection or a
    /// count ([`Append`]) proves that different places have different elements: two accesses of the array
    /// meet only where their places do. All accesses of the array have one then.
    pub place: Option<isl::Map>,
}

impl Access {
    /// An access of straight-line code.
    pub fn new(kind: AccessKind, array: ArrayId, relation: isl::Map, value: AccessValue) -> Access {
        Access {
            kind,
            array,
            relation,
            value,
            certain: kind != AccessKind::MayWrite,
            within: None,
            place: None,
        }
    }
}

/// The element that an instruction touches in one iteration of the subregion's loops around it, for the
/// values that choose it.
#[derive(Clone, Debug)]
pub struct Within {
    /// Indices into [`Subregion::loops`], outermost first; each counts from 0 by 1.
    pub counters: Vec<usize>,
    /// Values of the statement that choose the element.
    pub values: Vec<DataSubscript>,
    /// `[params] -> { Stmt[i..., counters..., values...] -> Array[subscripts...] }`, single-valued and total.
    pub relation: isl::Map,
}

impl Within {
    /// Whether an instance touches one element at most, known before it runs.
    pub fn is_function(&self) -> bool {
        self.counters.is_empty() && self.values.is_empty()
    }
}

/// An integer that the statement computes, reads or is given, and that a subscript depends on: `in[i]` of
/// `table[in[i]]`. What values it may have is part of [`Access::relation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataSubscript {
    pub value: ValueHandle,
    /// Read as an unsigned number.
    pub unsigned: bool,
}

/// Control flow inside a statement that depends on data: a part of the host's control-flow graph with one way
/// in and one way out, executed as a whole (Polly's non-affine subregion).
///
/// ```text
/// head:  its instructions in the body run first; its branch leads into `blocks`, or past them to `exit`
/// blocks ... exit     PHIs of `exit` that the statement writes to cells are values of the statement
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subregion {
    pub head: ValueHandle,
    /// Every definition before its uses outside of PHIs.
    pub blocks: Vec<ValueHandle>,
    pub exit: ValueHandle,
    pub loops: Vec<SubregionLoop>,
}

/// A loop of a subregion. How often it runs is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubregionLoop {
    pub header: ValueHandle,
    /// The header included.
    pub blocks: Vec<ValueHandle>,
    /// Set if its iterations may be computed side by side, but for what one hands on to the next.
    pub spread: Option<Spread>,
}

/// A loop of one block, which stores nothing and whose number of iterations is known ahead of it. Some of its
/// instructions need what the iteration before hands on; all others, with the loads, an iteration computes
/// alone.
///
/// **Example.** Of `for (k = a; k < b; k++) s += val[k] * x[col[k]]` the loads and the product are computed
/// alone, the sum is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spread {
    /// PHIs that count, the value of each in the next iteration, and how much larger that is.
    pub counting: Vec<(ValueHandle, ValueHandle, i64)>,
    /// What the first of these, which counts by one, is after the last iteration. There is at least one
    /// iteration.
    pub end: ValueHandle,
    /// PHIs whose values are handed on.
    pub loop_carried: Vec<LoopCarried>,
    /// What needs a carried value, in program order: no loads, and nothing that can fail.
    pub after: Vec<ValueHandle>,
}

/// A value that iterations hand on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopCarried {
    pub phi: ValueHandle,
    /// Its value in the next iteration.
    pub next: ValueHandle,
    /// Set if `next` is `op(phi, value)` with a value that the iteration computes alone, and the program lets
    /// such updates be regrouped: the operation by which two results are combined, and the constant to begin
    /// with.
    pub regrouped: Option<(UpdateOp, ValueHandle)>,
}

/// An integer SSA value that is an affine function of the iteration and the parameters; code generation
/// computes it instead of copying the instructions it came from.
#[derive(Clone, Debug)]
pub struct Synthesized {
    pub value: ValueHandle,
    /// `[params] -> { Stmt[i...] -> [value] }`.
    pub function: isl::PwAff,
}

/// An update `cell = op(cell, value)` of an operation that may be regrouped: a chain of updates gives the
/// same cell if consecutive ones are first combined among themselves, starting from the identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// Numbers of the accesses that read and write the cell.
    pub read: usize,
    pub write: usize,
    /// The value that is combined with the cell, not computed from it.
    pub value: ValueHandle,
    /// The constant with `op(identity, value) = value`.
    pub identity: ValueHandle,
    /// The instructions from the cell and the value to the new cell, in program order; the load and the store
    /// of the cell are among them where it is memory. Nothing else of the statement uses what they compute.
    pub update: Vec<ValueHandle>,
    /// Whether the updates may also be reordered.
    pub commutative: bool,
    /// Whether they may only be regrouped where no value is a NaN, which the device reports otherwise.
    pub numbers: bool,
    /// Whether they were regrouped: integers then wrap, whatever the instructions claim.
    pub regrouped: bool,
    /// Further cells of a minimum or maximum: where the update takes its value, each takes one of its own,
    /// and where the cell is kept, so are they.
    pub companions: Vec<Cell>,
}

/// An update like that of a [`Reduction`], of a cell which the statement looks at in other ways as well: of
/// `s += y[i]; y[i] = s;` in one statement.
///
/// The cell may be memory, and another element may be read than is written: of `y[i] = y[i - 1] + x[i]` the
/// cell is `y[i - 1]`, then `y[i]`. Such a total is one where the next instance reads what this one wrote,
/// which the dependences tell. The load and the store of the cell are not among the instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    pub update: Reduction,
    /// The instructions of the body that the update needs, with its own, in program order.
    pub needs: Vec<ValueHandle>,
    /// What the cell becomes.
    pub stored: ValueHandle,
}

/// A cell of a [`Reduction`]: numbers of the accesses that read and write it, what it is updated with, and
/// the constant that a part begins with.
///
/// **Example.** Of `if (x[i] < m) { m = x[i]; k = i; }` the cell `m` is updated with `x[i]`, and its
/// companion `k` with `i`. A part begins with the pair of infinity and zero, of which the zero is seen by
/// nothing: what is not below infinity is below no `m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub read: usize,
    pub write: usize,
    pub value: ValueHandle,
    pub identity: ValueHandle,
}

impl Reduction {
    /// All cells, that of the update first.
    pub fn cells(&self) -> Vec<Cell> {
        let Reduction { read, write, value, identity, .. } = *self;
        std::iter::once(Cell { read, write, value, identity })
            .chain(self.companions.iter().copied())
            .collect()
    }
}

/// How an [`Update`] combines an element with a value. Any order of updates gives the same integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UpdateOp {
    /// Modulo 2^bits.
    Add,
    And,
    Or,
    Xor,
    SMin,
    SMax,
    UMin,
    UMax,
    /// Of floating-point numbers whose sums the program lets be regrouped.
    FAdd,
}

/// An update `a[k] = op(a[k], value)` of an element that data chooses. Nothing else is done to the array but
/// updates with the same operation, and nobody looks at what is there in between, so that they may be made in
/// any order, each as a whole.
///
/// **Example.** `h[p[i]] -= w[i]` is [`UpdateOp::Add`] with `chain` the subtraction: with the identity in
/// place of what is loaded it gives what is to be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    pub load: ValueHandle,
    pub store: ValueHandle,
    /// The instructions from what is loaded to what is stored, in program order. Nothing else uses what they
    /// compute.
    pub chain: Vec<ValueHandle>,
    pub op: UpdateOp,
    /// The constant with `op(identity, value) = value`.
    pub identity: ValueHandle,
}

/// A statement: instructions that run once for each point of its domain.
#[derive(Clone, Debug)]
pub struct Statement {
    /// isl's tuple name (`S0`, `S1`, ... in program order).
    pub name: String,
    /// `[params] -> { Stmt[i0, ...] : ... }`, outermost loop first; each loop counts from 0 by 1.
    pub domain: isl::Set,
    pub accesses: Vec<Access>,
    /// The instructions to execute, in program order; loads and stores are also in `accesses`.
    pub body: Vec<ValueHandle>,
    pub synthesized: Vec<Synthesized>,
    pub reduction: Option<Reduction>,
    /// Set only without a reduction, or where another element of an array is read than is written.
    pub running: Option<Running>,
    /// Of elements that data chooses.
    pub updates: Vec<Update>,
    /// Control flow that depends on data. Instructions of its blocks are in `body`, behind all others.
    pub subregion: Option<Subregion>,
    pub location: Option<Location>,
}

impl Statement {
    /// Whether each instance runs the same instructions on elements known beforehand: no control flow, and no
    /// subscript, depends on data.
    pub fn is_plain(&self) -> bool {
        self.subregion.is_none() && self.accesses.iter().all(|a| a.within.is_none())
    }

    /// The update that an access is a part of.
    pub fn update_of(&self, a: &Access) -> Option<&Update> {
        let AccessValue::Instruction(v) = a.value else { return None };
        self.updates.iter().find(|u| u.load == v || u.store == v)
    }
}

/// Why an assumption is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AssumptionKind {
    /// Integer arithmetic does not wrap.
    NoWrap,
    /// An integer that the program reads as unsigned is not negative as a signed one, or a size is not
    /// negative.
    NonNegative,
    /// Subscripts stay inside the recovered array shape (Grosser et al., ICS 2015).
    Delinearization,
    /// An error block (a failed bounds check, an assertion) is not reached.
    ErrorBlock,
}

impl fmt::Display for AssumptionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AssumptionKind::NoWrap => "no wrap",
            AssumptionKind::NonNegative => "not negative",
            AssumptionKind::Delinearization => "delinearization",
            AssumptionKind::ErrorBlock => "error block not reached",
        })
    }
}

/// A condition on the parameters under which the model is right; checked at run time unless the context
/// implies it.
#[derive(Clone, Debug)]
pub struct Assumption {
    pub kind: AssumptionKind,
    /// `[params] -> { : ... }`
    pub set: isl::Set,
    pub location: Option<Location>,
    /// What is assumed, in the user's terms ("subscript of A stays inside its row").
    pub note: String,
}

/// That a polynomial in the parameters, which isl cannot express, lies in a range wherever the SCoP computes
/// it. The host evaluates it with overflow checks: `low <= v + offset <= high` for all values `v` of the sum
/// of `terms` and both ends of `offsets`.
///
/// **Example.** `A[i * n + j]` with an index of 32 bits and `0 <= i < n`, `0 <= j < m` needs
/// `(n - 1) * n + m - 1 < 2^32`: the terms are `n * x` for `x` between `0` and `n - 1`, and `x` between `0`
/// and `m - 1`.
#[derive(Clone, Debug)]
pub struct ProductRange {
    pub kind: AssumptionKind,
    /// `[params] -> { : ... }`: where anything is executed that needs it.
    pub executed: isl::Set,
    pub terms: Vec<ProductTerm>,
    pub offsets: (i64, i64),
    pub low: i64,
    pub high: i64,
    pub location: Option<Location>,
    /// What is assumed, in the user's terms.
    pub note: String,
}

/// `coefficient * x` for every `x` of a range; without one, for `x = 1`. Functions are `[params] -> { [(f)]
/// }`.
#[derive(Clone, Debug)]
pub struct ProductTerm {
    /// A sum of products, a number before each.
    pub coefficient: Vec<(i64, Vec<isl::PwAff>)>,
    pub between: Option<(isl::PwAff, isl::PwAff)>,
}

impl ProductTerm {
    /// All functions of the term.
    pub fn functions_mut(&mut self) -> impl Iterator<Item = &mut isl::PwAff> {
        let range = self.between.iter_mut().flat_map(|(a, b)| [a, b]);
        self.coefficient.iter_mut().flat_map(|(_, factors)| factors).chain(range)
    }
}

impl fmt::Display for ProductTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, (number, factors)) in self.coefficient.iter().enumerate() {
            write!(f, "{}{number}", if n == 0 { "" } else { " + " })?;
            factors.iter().try_for_each(|x| write!(f, " * {x}"))?;
        }
        match &self.between {
            Some((low, high)) => write!(f, ", times {low} to {high}"),
            None => Ok(()),
        }
    }
}

/// A value that was read before the region in place of loads in it. They give the same if no store to
/// `arrays` touches the place, which is compared with the arrays' touched ranges at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvariantLoad {
    /// The place: a pointer, known before the region.
    pub address: ValueHandle,
    pub bytes: u32,
    /// What the source calls the value.
    pub display: String,
    pub arrays: Vec<ArrayId>,
}

/// Integers that the SCoP loads and never stores, looked at before it runs: the host finds the least and the
/// largest of them, which bound what subscripts made of them may be.
///
/// **Example.** `y[i] = x[idx[i]]` for `i < n` has the parameters `idx_min` and `idx_max`, the least and the
/// largest of `{ idx[a] : 0 <= a < n }`, and reads `{ x[a] : idx_min <= a <= idx_max }`.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// Memory that no statement writes.
    pub array: ArrayId,
    /// `[params] -> { array[a] }`: all elements that are loaded, and perhaps more. Depends on no parameter of
    /// this inspection or a later one.
    pub elements: isl::Set,
    /// Parameters, by index: the least and the largest signed value of the elements; any number where there
    /// are none.
    pub low: usize,
    pub high: usize,
    /// No two elements are equal: what [`Access::place`] relies on.
    pub distinct: bool,
    /// What the source calls the array.
    pub display: String,
}

/// Stores to elements that a running total gives, which goes up wherever one is made: what [`Access::place`]
/// of them relies on.
///
/// **Example.** Of `for (i) if (a[i] > 0) out[k++] = a[i];` the total is the statement `k += a[i] > 0`, and
/// the store has the place `{ S[i] -> place[i] }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Append {
    /// Memory that nothing else accesses.
    pub array: ArrayId,
    /// Each instance adds to its cell: 0 or more without wrapping, and `step` or more where an access of the
    /// array is made whose place is the instance.
    pub total: StmtId,
    /// At least 1.
    pub step: i64,
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
    pub appends: Vec<Append>,
    /// Arrays of which the program promises that different iterations of the outermost loop around their
    /// accesses have different elements, but for those that are only read: what [`Access::place`] of them
    /// relies on. All their accesses are under that loop, and their place is its counter.
    pub promised: Vec<ArrayId>,
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

//! A generated function: loops, conditions and assignments over arrays, with the argument lists it is called
//! with.
//!
//! Two kinds of expressions are kept apart. [`Index`] expressions (bounds, subscripts, conditions) depend on
//! loop counters and sizes only, have C's integer types and are evaluated by the generator, so every access
//! is known before the program runs. [`Data`] expressions are never evaluated by the generator; their
//! operators cannot have undefined behaviour.

use std::collections::BTreeSet;

/// C's integer types of counters and sizes, by conversion rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IntTy {
    Int,
    Unsigned,
    Long,
    SizeT,
}

impl IntTy {
    pub const ALL: [IntTy; 4] = [IntTy::Int, IntTy::Unsigned, IntTy::Long, IntTy::SizeT];

    pub fn name(self) -> &'static str {
        match self {
            IntTy::Int => "int",
            IntTy::Unsigned => "unsigned",
            IntTy::Long => "long",
            IntTy::SizeT => "size_t",
        }
    }

    pub fn is_signed(self) -> bool {
        matches!(self, IntTy::Int | IntTy::Long)
    }
}

/// Element types of arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elem {
    F32,
    F64,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

impl Elem {
    pub const ALL: [Elem; 10] = [
        Elem::F32,
        Elem::F64,
        Elem::I8,
        Elem::U8,
        Elem::I16,
        Elem::U16,
        Elem::I32,
        Elem::U32,
        Elem::I64,
        Elem::U64,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Elem::F32 => "float",
            Elem::F64 => "double",
            Elem::I8 => "int8_t",
            Elem::U8 => "uint8_t",
            Elem::I16 => "int16_t",
            Elem::U16 => "uint16_t",
            Elem::I32 => "int32_t",
            Elem::U32 => "uint32_t",
            Elem::I64 => "int64_t",
            Elem::U64 => "uint64_t",
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Elem::F32 | Elem::F64)
    }

    /// The type that values are computed in: unsigned for integers, so that nothing overflows.
    pub fn compute(self) -> Elem {
        match self {
            Elem::F32 | Elem::F64 => self,
            Elem::I64 | Elem::U64 => Elem::U64,
            _ => Elem::U32,
        }
    }
}

/// Index of a counter, size or index variable in [`Program::vars`].
pub type VarId = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cmp {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

impl Cmp {
    pub fn text(self) -> &'static str {
        match self {
            Cmp::Lt => "<",
            Cmp::Le => "<=",
            Cmp::Gt => ">",
            Cmp::Ge => ">=",
            Cmp::Eq => "==",
            Cmp::Ne => "!=",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexOp {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Min,
    Max,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Index {
    Const(i64),
    Var(VarId),
    Bin(IndexOp, Box<Index>, Box<Index>),
    Cast(IntTy, Box<Index>),
}

impl Index {
    pub fn bin(op: IndexOp, a: Index, b: Index) -> Index {
        Index::Bin(op, Box::new(a), Box::new(b))
    }

    /// `self + offset`, without a term for 0.
    pub fn plus(self, offset: i64) -> Index {
        match offset {
            0 => self,
            1.. => Index::bin(IndexOp::Add, self, Index::Const(offset)),
            _ => Index::bin(IndexOp::Sub, self, Index::Const(-offset)),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Cond {
    pub cmp: Cmp,
    pub a: Index,
    pub b: Index,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    pub array: usize,
    /// As many as the array's shape has dimensions.
    pub subscripts: Vec<Index>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataOp {
    Add,
    Sub,
    Mul,
    /// Integers only.
    Xor,
    And,
    Shr,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Thousandths for floating point.
    Const(i64),
    Load(Access),
    Scalar(usize),
    /// A counter's or size's value.
    Index(Index),
    Bin(DataOp, Box<Data>, Box<Data>),
    /// Division by a constant other than 0.
    DivBy(Box<Data>, i64),
    /// `a cmp b ? c : d`
    Select(Cmp, Box<[Data; 4]>),
    Abs(Box<Data>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    Array(Access),
    Scalar(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopForm {
    For,
    While,
    /// Behind an `if` with the condition.
    DoWhile,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    pub var: VarId,
    pub low: Index,
    /// Compares the counter with `high`.
    pub cmp: Cmp,
    pub high: Index,
    /// Not 0.
    pub step: i64,
    pub form: LoopForm,
    pub body: Vec<Node>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Break,
    Return,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    Loop(Loop),
    If(Cond, Vec<Node>, Vec<Node>),
    /// On data; the generator's bounds take both ways.
    IfData(Cmp, Data, Data, Vec<Node>, Vec<Node>),
    Continue(Cond),
    /// `if (a cmp b)` the loop or the function ends. On data; the generator's bounds hold if it never does.
    Exit(Exit, Cmp, Data, Data),
    /// `if (!cond) abort();` with a condition that holds.
    Check(Cond),
    /// `if (value > limit) abort();` with a limit that no value passes, which the compiler does not know.
    CheckData(Data),
    /// `op` None: plain assignment.
    Assign(Target, Option<DataOp>, Data),
    /// Declares a scalar.
    Scalar(usize, Data),
    /// Declares an index variable.
    Declare(VarId, Index),
    Advance(VarId, i64),
    /// Two array parameters change places.
    Swap(usize, usize),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Var {
    pub name: String,
    pub ty: IntTy,
    /// A parameter that is handed over as a pointer to it, which no array overlaps.
    pub by_pointer: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    pub name: String,
    pub elem: Elem,
    /// Outermost first; empty for a plain pointer with one linear subscript.
    pub dims: Vec<Index>,
    pub restrict: bool,
}

/// One argument list.
#[derive(Clone, Debug, PartialEq)]
pub struct ArgSet {
    pub params: Vec<i64>,
    /// For each array: lies at this distance (elements) from an earlier array of the same type, or on its
    /// own.
    pub alias: Vec<Option<(usize, i64)>>,
    /// Seed of the data.
    pub seed: u64,
}

/// How much a program may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    #[default]
    Usual,
    /// Many time steps.
    Steps,
    /// Large arrays.
    Wide,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The first `n_params` are parameters.
    pub vars: Vec<Var>,
    pub n_params: usize,
    pub arrays: Vec<Array>,
    /// Types of scalar data; the first `n_alphas` are parameters.
    pub scalars: Vec<Elem>,
    pub n_alphas: usize,
    pub body: Vec<Node>,
    /// The scalar returned.
    pub result: Option<usize>,
    pub sets: Vec<ArgSet>,
    pub scale: Scale,
}

/// Calls `f` for each node, outer ones first.
pub fn each_node<'a>(nodes: &'a [Node], f: &mut dyn FnMut(&'a Node)) {
    for node in nodes {
        f(node);
        match node {
            Node::Loop(l) => each_node(&l.body, f),
            Node::If(_, then, other) | Node::IfData(_, _, _, then, other) => {
                each_node(then, f);
                each_node(other, f);
            }
            _ => {}
        }
    }
}

impl Program {
    /// Which kinds of control flow it has, for the report.
    pub fn features(&self) -> BTreeSet<&'static str> {
        let mut found = BTreeSet::new();
        each_node(&self.body, &mut |node| {
            found.extend(match node {
                Node::IfData(..) => Some("branch on data"),
                Node::Exit(Exit::Break, ..) => Some("loop left on data"),
                Node::Exit(Exit::Return, ..) => Some("return on data"),
                Node::Check(_) => Some("check of subscripts"),
                Node::CheckData(_) => Some("check on data"),
                Node::Swap(..) => Some("pointers swapped"),
                _ => None,
            });
        });
        found
    }
}

/// Calls `f` for each access of a data expression.
pub fn accesses<'a>(data: &'a Data, f: &mut dyn FnMut(&'a Access)) {
    match data {
        Data::Load(access) => f(access),
        Data::Bin(_, a, b) => {
            accesses(a, f);
            accesses(b, f);
        }
        Data::DivBy(a, _) | Data::Abs(a) => accesses(a, f),
        Data::Select(_, parts) => parts.iter().for_each(|p| accesses(p, f)),
        Data::Const(_) | Data::Scalar(_) | Data::Index(_) => {}
    }
}

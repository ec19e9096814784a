//! A program as a sequence of events: structures, objects of memory, functions with loops over them
//! ([`Kernel`]), and what a driver does one after the other ([`Event`]).
//!
//! ```text
//! object 0: 4800 bytes of struct S0, static          p3_k0(p3_o0 + 3, 120, 2, 64, 1);
//! object 1: 8192 bytes of float, malloc              note(p3_o0[7].m1.m0);
//!                                                    memcpy((char *)o1 + 64, (char *)p3_o0, 512);
//! ```
//! Offsets and sizes are in bytes unless they are said to be elements. What is defined C is decided by
//! [`super::simulate`].

use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Scalar {
    pub const ALL: [Scalar; 10] = [
        Scalar::I8,
        Scalar::U8,
        Scalar::I16,
        Scalar::U16,
        Scalar::I32,
        Scalar::U32,
        Scalar::I64,
        Scalar::U64,
        Scalar::F32,
        Scalar::F64,
    ];

    pub fn bytes(self) -> i64 {
        match self {
            Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F32 | Scalar::F64)
    }

    /// Whether an object of one may be read as the other: types that differ in their sign only.
    pub fn like(self, other: Scalar) -> bool {
        self.bytes() == other.bytes() && self.is_float() == other.is_float()
    }

    pub fn c(self) -> &'static str {
        match self {
            Scalar::I8 => "int8_t",
            Scalar::U8 => "uint8_t",
            Scalar::I16 => "int16_t",
            Scalar::U16 => "uint16_t",
            Scalar::I32 => "int32_t",
            Scalar::U32 => "uint32_t",
            Scalar::I64 => "int64_t",
            Scalar::U64 => "uint64_t",
            Scalar::F32 => "float",
            Scalar::F64 => "double",
        }
    }

    /// Fortran has no types without a sign.
    pub fn fortran(self) -> &'static str {
        match self {
            Scalar::I8 | Scalar::U8 => "integer(1)",
            Scalar::I16 | Scalar::U16 => "integer(2)",
            Scalar::I32 | Scalar::U32 => "integer(4)",
            Scalar::I64 | Scalar::U64 => "integer(8)",
            Scalar::F32 => "real(4)",
            Scalar::F64 => "real(8)",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Struct {
    pub members: Vec<Member>,
    pub packed: bool,
    pub union: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Member {
    One(Scalar),
    Array(Scalar, usize),
    /// Three bit-fields of these widths, 32 bits together.
    Bits([u32; 3]),
    /// A structure before this one.
    Nested(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Elem {
    Scalar(Scalar),
    Struct(usize),
}

/// A scalar, a row of scalars or a bit-field somewhere in a structure.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// `m0.m2`
    pub path: String,
    pub scalar: Scalar,
    pub offset: i64,
    /// Elements of a member that is an array, else 1.
    pub count: usize,
    pub array: bool,
    pub bits: bool,
}

#[derive(Clone, Debug)]
pub struct Layout {
    pub bytes: i64,
    pub align: i64,
    pub leaves: Vec<Leaf>,
}

/// As the x86-64 ABI of System V lays it out.
pub fn layout(structs: &[Struct], id: usize) -> Layout {
    let this = &structs[id];
    let mut out = Layout { bytes: 0, align: 1, leaves: Vec::new() };
    for (number, member) in this.members.iter().enumerate() {
        let (bytes, align, leaves) = match member {
            Member::One(s) => (s.bytes(), s.bytes(), vec![plain_leaf(*s, 1, false)]),
            Member::Array(s, n) => (s.bytes() * *n as i64, s.bytes(), vec![plain_leaf(*s, *n, true)]),
            Member::Bits(_) => {
                let field = |k: usize| Leaf {
                    path: format!("_{k}"),
                    bits: true,
                    ..plain_leaf(Scalar::U32, 1, false)
                };
                (4, 4, (0..3).map(field).collect())
            }
            Member::Nested(inner) => {
                let inner = layout(structs, *inner);
                let leaves = inner.leaves.into_iter().map(|l| Leaf { path: format!(".{}", l.path), ..l });
                (inner.bytes, inner.align, leaves.collect())
            }
        };
        let align = if this.packed { 1 } else { align };
        let offset = if this.union { 0 } else { (out.bytes + align - 1) / align * align };
        out.bytes = out.bytes.max(offset + bytes);
        out.align = out.align.max(align);
        out.leaves.extend(leaves.into_iter().map(|l| Leaf {
            path: format!("m{number}{}", l.path),
            offset: l.offset + offset,
            ..l
        }));
    }
    out.bytes = (out.bytes + out.align - 1) / out.align * out.align;
    out
}

fn plain_leaf(scalar: Scalar, count: usize, array: bool) -> Leaf {
    Leaf { path: String::new(), scalar, offset: 0, count, array, bits: false }
}

/// How an object comes to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// A global array; its types never change.
    Static,
    /// An array of the driver's own.
    Local,
    Malloc,
    /// Ends where a page that nobody may touch begins.
    EdgeEnd,
    /// Begins behind a page that nobody may touch.
    EdgeStart,
    /// Of 2·k pages every second one can't be touched.
    Holes,
    /// Its first half is mapped a second time as its second half.
    Ring,
    /// A container's: a vector of C++, an allocatable array of Fortran.
    Vector,
}

impl Home {
    /// Its types are declared, and stores do not change them.
    pub fn declared(self) -> bool {
        matches!(self, Home::Static | Home::Local | Home::Vector)
    }
}

pub const PAGE: i64 = 4096;

#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    pub home: Home,
    pub bytes: i64,
    pub elem: Elem,
    /// What it holds at the start, if it is an array of indices (`int32_t`); the program has them as an
    /// initialiser.
    pub values: Option<Vec<i32>>,
}

/// A value of each call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sym {
    N,
    M,
    L,
    K,
}

impl Sym {
    pub const ALL: [Sym; 4] = [Sym::N, Sym::M, Sym::L, Sym::K];

    pub fn name(self) -> &'static str {
        match self {
            Sym::N => "n",
            Sym::M => "m",
            Sym::L => "l",
            Sym::K => "k",
        }
    }
}

/// `coefficient · sym · var`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    pub coefficient: i64,
    pub sym: Option<Sym>,
    pub var: Option<usize>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Index {
    pub constant: i64,
    pub terms: Vec<Term>,
    /// `parameter[index]` is added: an array of indices.
    pub through: Option<(usize, Box<Index>)>,
}

/// `param[index].leaf[sub]`, in elements of the parameter's type.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub param: usize,
    pub index: Index,
    pub leaf: usize,
    pub sub: Option<Index>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Xor,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Const(i64),
    Var(usize),
    Load(Place),
    Bin(Op, Box<Value>, Box<Value>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// `for (var = low; var < high; var += step)`, or the other way round.
    Loop {
        var: usize,
        low: i64,
        high: Sym,
        step: i64,
        down: bool,
        body: Vec<Node>,
    },
    /// A loop of a constant number of iterations around others.
    Repeat {
        times: i64,
        body: Vec<Node>,
    },
    /// The operation, if there is one, is an update in place.
    Assign {
        to: Place,
        update: Option<Op>,
        value: Value,
    },
    IfData {
        place: Place,
        above: i64,
        body: Vec<Node>,
    },
    /// Leaves the function by `longjmp` or an exception, if `k` is [`LEAVE`].
    Leave,
    /// A call that may do anything, and does nothing.
    Tick,
    /// The host reads one value.
    Note(Place),
}

/// The value of `k` for which [`Node::Leave`] leaves.
pub const LEAVE: i64 = 77;

#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    pub elem: Elem,
    /// Its values are indices.
    pub index: bool,
    pub restrict: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    pub params: Vec<Param>,
    pub body: Vec<Node>,
    /// In the second file.
    pub second: bool,
    /// The compiler may put it into its callers.
    pub inline: bool,
    /// Sizes are `long`, else `int`.
    pub long: bool,
}

/// A part of an object, as elements of some type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    pub object: usize,
    pub offset: i64,
    /// Bytes from element to element of a section, or 0 where they lie side by side.
    pub stride: i64,
}

/// `count` members, `step` elements apart, that the host touches.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub at: Spot,
    pub elem: Elem,
    pub leaf: usize,
    pub count: i64,
    pub step: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub kernel: usize,
    pub args: Vec<Spot>,
    /// n, m, l, k
    pub sizes: [i64; 4],
}

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Call(Call),
    Read(Part),
    Write(Part, i64),
    Copy {
        to: Spot,
        from: Spot,
        bytes: i64,
        overlap: bool,
    },
    Set {
        to: Spot,
        value: u8,
        bytes: i64,
    },
    /// `realloc`
    Resize {
        object: usize,
        bytes: i64,
    },
    /// `free`, then `malloc`; the new block may be without values.
    Renew {
        object: usize,
        bytes: i64,
        elem: Elem,
        fill: bool,
    },
    /// Pages lose their contents: by `madvise`, or by another mapping in their place.
    Clear {
        object: usize,
        page: i64,
        pages: i64,
        map: bool,
    },
    /// Pages can't be touched, or again.
    Protect {
        object: usize,
        page: i64,
        open: bool,
    },
    /// A thread stores to these bytes of an object while the call runs.
    Beside {
        object: usize,
        bytes: Vec<i64>,
        call: Call,
    },
    /// A function of its own; with `leaves`, it is left in the end by `longjmp` or an exception.
    Sub {
        events: Vec<Event>,
        leaves: bool,
    },
    Repeat {
        times: i64,
        events: Vec<Event>,
    },
    /// All memory goes into a hash that is printed.
    Check,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    pub structs: Vec<Struct>,
    pub objects: Vec<Object>,
    pub kernels: Vec<Kernel>,
    pub events: Vec<Event>,
    /// Pointers to the objects are global variables.
    pub globals: bool,
}

impl Program {
    pub fn layout(&self, elem: Elem) -> Layout {
        match elem {
            Elem::Scalar(s) => {
                Layout { bytes: s.bytes(), align: s.bytes(), leaves: vec![plain_leaf(s, 1, false)] }
            }
            Elem::Struct(id) => layout(&self.structs, id),
        }
    }

    /// Whether one object is two arguments of different types.
    fn retypes(&self, call: &Call) -> bool {
        let params = self.kernels.get(call.kernel).map_or(&[][..], |kernel| &kernel.params);
        let args: Vec<(Elem, usize)> =
            params.iter().map(|p| p.elem).zip(call.args.iter().map(|a| a.object)).collect();
        args.iter().any(|(elem, object)| args.iter().any(|(other, same)| object == same && elem != other))
    }

    /// What it has, for the report.
    pub fn features(&self) -> BTreeSet<&'static str> {
        let mut found = BTreeSet::new();
        for s in &self.structs {
            found.insert("structures");
            if s.union {
                found.insert("unions");
            }
            if s.packed {
                found.insert("packed structures");
            }
            if s.members.iter().any(|m| matches!(m, Member::Bits(_))) {
                found.insert("bit-fields");
            }
        }
        for object in &self.objects {
            match object.home {
                Home::EdgeEnd | Home::EdgeStart => found.insert("arrays at ends of pages"),
                Home::Holes => found.insert("holes"),
                Home::Ring => found.insert("double mappings"),
                _ => object.values.is_some() && found.insert("indices"),
            };
        }
        each_event(&self.events, &mut |event| {
            if let Event::Call(call) | Event::Beside { call, .. } = event
                && self.retypes(call)
            {
                found.insert("memory of two types");
            }
            found.insert(match event {
                Event::Beside { .. } => "threads",
                Event::Sub { leaves: true, .. } => "longjmp or exceptions",
                Event::Sub { .. } => "functions of calls",
                Event::Resize { .. } => "realloc",
                Event::Renew { .. } => "free and malloc",
                Event::Copy { .. } | Event::Set { .. } => "memcpy or memset",
                Event::Clear { .. } | Event::Protect { .. } => "pages that change",
                Event::Read(_) => "reads of the host",
                Event::Write(..) => "writes of the host",
                _ => return,
            });
        });
        if self.kernels.iter().any(|k| k.second) {
            found.insert("two files");
        }
        found
    }
}

pub fn each_event<'a>(events: &'a [Event], f: &mut dyn FnMut(&'a Event)) {
    for event in events {
        f(event);
        if let Event::Sub { events, .. } | Event::Repeat { events, .. } = event {
            each_event(events, f);
        }
    }
}

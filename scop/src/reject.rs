//! Why something is not a SCoP: reasons are data.

use crate::{Code, Location};
use std::fmt;

/// What is behind the name of a recursive function that is called.
pub const CALLS_ITSELF: &str = ", which calls itself";

/// Why an access has its place among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    Volatile,
    Atomic,
    Fence,
}

/// The reason a region is not offloaded. Each variant has a stable remark name, a text for users, and a lit
/// test.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RejectReason {
    /// The number of iterations is not an affine function of outer counters and parameters.
    LoopBound { blocker: String },
    /// The loop has several exits or an exit in its middle that is not modelled; what the early one depends
    /// on, where that is known.
    LoopExits { blocker: Option<String> },
    /// The control flow has no single entry and exit, or is irreducible.
    ControlFlow,
    /// A branch depends on data or on a non-affine expression.
    Condition { blocker: String },
    /// A check that ends the program where it fails (of bounds, an assertion) depends on data or on a
    /// non-affine expression.
    Check { blocker: String },
    /// As [`RejectReason::Check`], on what the device could evaluate and report, if the loop did not have an
    /// `obstacle` beside it: what would go wrong in iterations that the program does not get to.
    CheckBeside { blocker: String, obstacle: String },
    /// A subscript is not affine.
    Subscript { array: String, blocker: String },
    /// The base pointer changes inside the region.
    BaseChanges { array: String },
    /// Accesses to one array have incompatible element types or sizes: two of them in bytes, where these are
    /// what is wrong.
    ElementType { array: String, bytes: Option<(u32, u32)> },
    /// A call that may have side effects or that is not known.
    Call { callee: String },
    /// A call that changes nothing, of a function whose code is elsewhere, as that of `strcmp`.
    ElsewhereCall { callee: String },
    /// Rows are found through a table whose own place is in a table.
    NestedTables { table: Option<String> },
    /// Inline assembly.
    InlineAssembly,
    /// An access whose order counts: a volatile or an atomic one, or a fence, which accesses nothing.
    OrderedAccess { order: Order, object: Option<String> },
    /// An instruction that has no meaning on the device.
    Instruction { opcode: String },
    /// Code generation found something that the device cannot run.
    Device { what: String },
    /// A terminator other than a branch (switch, invoke, indirect branch ...), and what an invoke calls.
    Terminator { opcode: String, callee: Option<String> },
    /// The loop throws an exception or ends the program, so that it is not known how often it runs.
    Throw,
    /// A type that kernels cannot hold, and what has it in the source, where that is known.
    Type { ty: String, object: Option<String> },
    /// No loop can run in parallel; the values that iterations need of earlier ones, where these are known,
    /// and what chooses the elements of an array among them, if data does.
    NoParallelism { values: Vec<String>, chooser: Option<String> },
    /// The program runs through the points of a nest tile by tile, and the order counts.
    TileOrder,
    /// No loop can run in parallel unless a floating-point sum or product may be regrouped.
    OrderedSum { value: String },
    /// No loop can run in parallel: each iteration stores what was added up so far.
    RunningTotal { value: String },
    /// A constant bounds the number of statement instances, and a launch takes longer than executing them.
    LittleWork { instances: u64 },
    /// Calls of memcpy, memmove or memset alone: no loop beside them works with what they copy or fill.
    MovesOnly,
    /// What has to hold for the model leaves loops of a few iterations only, or of more than memory has
    /// elements.
    TrivialSizes { condition: String },
    /// The source switches a loop off.
    SwitchedOff,
    /// A schedule that a file gives is none of this loop nest, or not legal.
    Given { why: String },
    /// An analysis went over its operation budget.
    Budget { stage: String },
    /// The model is right but later stages failed: an internal error.
    Internal { stage: String, message: String },
}

impl RejectReason {
    /// Generated code would compute with a number that does not fit 64 bits.
    pub fn wide_number(value: &str) -> RejectReason {
        RejectReason::Device { what: format!("arithmetic with {value}, which does not fit 64 bits") }
    }

    /// The stable name of the LLVM remark.
    pub fn remark_name(&self) -> &'static str {
        Code::from(self).name()
    }
}

impl fmt::Display for RejectReason {
    /// The text for users.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RejectReason::LoopBound { blocker } => {
                write!(f, "the number of iterations is not affine: it depends on {blocker}")
            }
            RejectReason::LoopExits { blocker } => {
                f.write_str("the loop can be left at more than one place")?;
                blocker.as_ref().map_or(Ok(()), |b| write!(f, ": where it ends depends on {b}"))
            }
            RejectReason::ControlFlow => f.write_str("the control flow is not structured"),
            RejectReason::Condition { blocker } => {
                write!(
                    f,
                    "a branch depends on {blocker}, which is not affine in loop counters and parameters"
                )
            }
            RejectReason::Check { blocker } => {
                write!(
                    f,
                    "a check that may end the program depends on {blocker}, which is not affine in loop counters and parameters"
                )
            }
            RejectReason::CheckBeside { blocker, obstacle } => {
                write!(f, "a check that may end the program depends on {blocker}, and beside it {obstacle}")
            }
            RejectReason::Subscript { array, blocker } => {
                write!(f, "a subscript of {array} is not affine: it depends on {blocker}")
            }
            RejectReason::BaseChanges { array } => {
                write!(f, "the base address of {array} changes inside the loop")
            }
            RejectReason::ElementType { array, bytes: None } => {
                write!(f, "{array} is accessed with element types that do not fit one array")
            }
            RejectReason::ElementType { array, bytes: Some((a, b)) } => {
                let many = |n: &u32| if *n == 1 { "1 byte".to_owned() } else { format!("{n} bytes") };
                write!(
                    f,
                    "{array} is accessed in elements of {} and of {}, which do not fit one array",
                    many(a),
                    many(b)
                )
            }
            RejectReason::Call { callee } if callee.starts_with("_FortranAio") => {
                f.write_str(match (callee.contains("Input"), callee.contains("Output")) {
                    (true, false) => "a statement of input (read)",
                    (false, true) => "a statement of output (print, write)",
                    _ => "a statement of input or output (print, write, read)",
                })
            }
            RejectReason::Call { callee } if callee.starts_with("_FortranA") => {
                let name = callee.trim_start_matches("_FortranA");
                write!(f, "the call of {name} of Fortran's library ({callee}) may have side effects")
            }
            RejectReason::Call { callee } => match helper(callee) {
                Some((what, instead)) => write!(f, "{what} is the call of {callee} ({instead})"),
                None if is_lacking(callee) => {
                    write!(f, "the call of {callee} may have side effects: the device lacks this function")
                }
                None if callee.ends_with(CALLS_ITSELF) => write!(f, "the call of {callee}"),
                None => write!(f, "the call of {callee} may have side effects"),
            },
            RejectReason::ElsewhereCall { callee } => {
                write!(
                    f,
                    "the call of {callee}: it changes nothing, but its code is not there for the device"
                )
            }
            RejectReason::NestedTables { table } => {
                let of = table.as_ref().map_or(String::new(), |t| format!(" of {t}"));
                write!(f, "rows{of} are found through a table of tables (a pointer to pointers to pointers)")
            }
            RejectReason::InlineAssembly => f.write_str("inline assembly"),
            RejectReason::OrderedAccess { order, object } => {
                f.write_str(match order {
                    Order::Volatile => "a volatile access",
                    Order::Atomic => "an atomic access",
                    Order::Fence => "a fence",
                })?;
                object.as_ref().map_or(Ok(()), |o| write!(f, " to {o}"))
            }
            RejectReason::Instruction { opcode } if opcode == "extractvalue" || opcode == "insertvalue" => {
                write!(
                    f,
                    "values that consist of several, such as what a call returns, cannot be on the device ({opcode})"
                )
            }
            RejectReason::Instruction { opcode } => {
                write!(f, "the instruction {opcode} cannot run on the device")
            }
            RejectReason::Device { what } => write!(f, "the device cannot run {what}"),
            RejectReason::Throw => f.write_str(
                "the loop may throw an exception, end the program or return before it has counted to its end",
            ),
            RejectReason::Terminator { opcode, callee } => match opcode.as_str() {
                "invoke" => {
                    let what = callee.as_ref().map_or("a call".to_owned(), |c| format!("the call of {c}"));
                    write!(f, "{what} may throw an exception that is handled here")
                }
                "indirectbr" => f.write_str("a computed goto"),
                "switch" => f.write_str("a switch with many cases"),
                _ => write!(f, "the terminator {opcode} is not a branch"),
            },
            RejectReason::Type { ty, object } => {
                let of = object.as_ref().map_or(String::new(), |o| format!(", such as {o},"));
                match source_type(ty) {
                    Some(name) => write!(f, "values of type {name} ({ty}){of} cannot be held on the device"),
                    None => write!(f, "values of type {ty}{of} cannot be held on the device"),
                }
            }
            RejectReason::NoParallelism { values, chooser } => {
                f.write_str("no loop can run in parallel")?;
                let need = if chooser.is_some() { "may need" } else { "need" };
                match &values[..] {
                    [] => return Ok(()),
                    [one] => write!(f, ": iterations {need} {one} of earlier ones")?,
                    [first @ .., last] => {
                        write!(f, ": iterations {need} {} and {last} of earlier ones", first.join(", "))?;
                    }
                }
                chooser.as_ref().map_or(Ok(()), |c| write!(f, ", where {c} chooses the elements"))
            }
            RejectReason::TileOrder => f.write_str(
                "no loop can run in parallel: what points of different tiles do depends on the tiles' order",
            ),
            RejectReason::OrderedSum { value } => {
                // A value without a name in the source is described, which would not say more.
                let value = if value.starts_with("a value") { "it" } else { value };
                write!(
                    f,
                    "no loop can run in parallel: {value} is a sum of floating-point numbers, which keeps its order without -fassociative-math"
                )
            }
            RejectReason::Given { why } => write!(f, "the schedule that was given does not fit: {why}"),
            RejectReason::RunningTotal { value } => write!(
                f,
                "no loop can run in parallel: each iteration uses {value} as it was added up so far (a prefix sum)"
            ),
            RejectReason::LittleWork { instances } => {
                write!(f, "too little work for the device: at most {instances} executions of statements")
            }
            RejectReason::MovesOnly => f.write_str(
                "it only copies or fills memory, and no loop beside it works with that on the device",
            ),
            RejectReason::TrivialSizes { condition } => {
                write!(f, "it could run on the device for no ordinary sizes: it assumes that {condition}")
            }
            RejectReason::SwitchedOff => f.write_str("switched off by a pragma of the loop"),
            RejectReason::Budget { stage } => {
                let option = if stage == "the module" { "module-budget" } else { "budget" };
                write!(f, "the operation budget of {stage} is spent (the option {option}=N raises it)")
            }
            RejectReason::Internal { stage, message } => write!(f, "internal error in {stage}: {message}"),
        }
    }
}

/// What the source has where the compiler puts the call of a function of its own, and what can be done about
/// it.
fn helper(callee: &str) -> Option<(&'static str, &'static str)> {
    Some(match callee {
        "__divsc3" | "__divdc3" => (
            "a division of complex numbers",
            "-fcomplex-arithmetic=improved and -ffast-math compute it in place",
        ),
        "__divxc3" | "__divtc3" => ("a division of complex numbers of type long double", "use double"),
        "__mulxc3" | "__multc3" => ("a product of complex numbers of type long double", "use double"),
        "__divti3" | "__udivti3" | "__modti3" | "__umodti3" => {
            ("a division of 128-bit integers", "use integers up to 64 bits")
        }
        _ => return None,
    })
}

/// Functions of C's mathematical library that kernels do not compute.
const LACKING: [&str; 16] = [
    "lgamma",
    "tgamma",
    "gamma",
    "j0",
    "j1",
    "jn",
    "y0",
    "y1",
    "yn",
    "logb",
    "ilogb",
    "nextafter",
    "scalbn",
    "scalbln",
    "frexp",
    "remquo",
];

fn is_lacking(callee: &str) -> bool {
    LACKING.contains(&callee) || callee.strip_suffix(['f', 'l']).is_some_and(|name| LACKING.contains(&name))
}

/// What C calls a type of LLVM's that users do not know by its name there.
fn source_type(ty: &str) -> Option<&'static str> {
    Some(match ty {
        "x86_fp80" => "long double",
        "fp128" => "__float128",
        "i128" => "__int128",
        "ptr" => "pointer",
        _ if ty.starts_with('<') => "SIMD vector",
        _ => return None,
    })
}

/// A region that is not offloaded, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    pub reason: RejectReason,
    pub function: String,
    /// Where the reason is.
    pub location: Option<Location>,
    /// The loop that is not offloaded for it.
    pub loop_location: Option<Location>,
    /// How many loops are one inside of the other there; 0: not known.
    pub depth: u32,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.reason)
    }
}

//! The names that mapping gives what the SCoP does not have: parameters and tuples of isl's sets, and marks
//! of schedule trees. They are printed and parsed here; everything else matches on what they are.
//!
//! ```text
//! for (i) for (j) S(i, j)    [N, _b0, _t0] -> { S[i, j] : i = 32 * _b0 + _t0; _barrier[c0]; _in0[p, s] }
//! ```
//! A SCoP's names do not begin with an underscore: [`is_statement`].

use std::fmt;

/// A parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    /// A loop of the host around a launch.
    Host(usize),
    /// A coordinate of a block in its grid.
    Block(usize),
    /// A coordinate of a thread in its block.
    Thread(usize),
    /// A coordinate of a thread's point, of kernels with register tiles.
    Point(usize),
    /// A subscript of an element, while its bounds are functions of the other parameters.
    Subscript(usize),
    /// Which of several kernels runs; numbered by the first one's place.
    Choice(usize),
    /// Whether a nest runs as a kernel or as launches; numbered by its place.
    Form(usize),
    /// Whether tiles run or a plain kernel, where that is known behind all other choices.
    Late,
    /// The first tile coordinate that is in no slice, or part, up to the cut.
    Border,
    /// A step of a task.
    Step,
    /// A coordinate of a stage: of code for full ones.
    Stage(usize),
    /// A dimension of a statement's domain.
    Iterator(usize),
}

/// A tuple of a thread's schedule that is no statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tuple {
    /// All threads of a block wait for each other.
    Barrier,
    /// A task waits for another one.
    Wait,
    /// Windows move.
    Enter,
    /// The stages of a task are filled.
    Fill,
    /// An update of a task; around its instances is a mark of the same name.
    Update(usize),
    /// A step of a carried update, likewise.
    Carried(usize),
    /// An operand tile is filled.
    Copy(usize),
    /// An element is copied to a window.
    Window(usize),
}

/// A mark of a thread's schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Above a loop while which a cell stays in a register.
    Promoted(usize),
    /// Above loops whose iterations, for fixed values of all loops around it, don't depend on each other: a
    /// thread may load for some of them before it stores the first.
    Together,
    /// Around the instances of an update, which code leaves out.
    Update(usize),
    /// Around those of a carried update, likewise.
    Carried(usize),
}

/// Names with a number behind them, and names without.
type Numbered<T> = (&'static str, fn(usize) -> T);
type Plain<T> = (&'static str, T);

const PARAMS: (&[Numbered<Param>], &[Plain<Param>]) = (
    &[
        ("_h", Param::Host),
        ("_b", Param::Block),
        ("_t", Param::Thread),
        ("_v", Param::Point),
        ("_x", Param::Subscript),
        ("_c", Param::Choice),
        ("_n", Param::Form),
        ("_p", Param::Stage),
        ("_i", Param::Iterator),
    ],
    &[("_late", Param::Late), ("_s", Param::Border), ("_k", Param::Step)],
);

const TUPLES: (&[Numbered<Tuple>], &[Plain<Tuple>]) = (
    &[
        ("_update", Tuple::Update),
        ("_carried", Tuple::Carried),
        ("_copy", Tuple::Copy),
        ("_in", Tuple::Window),
    ],
    &[
        ("_barrier", Tuple::Barrier),
        ("_wait", Tuple::Wait),
        ("_enter", Tuple::Enter),
        ("_stage", Tuple::Fill),
    ],
);

const MARKS: (&[Numbered<Mark>], &[Plain<Mark>]) = (
    &[("register", Mark::Promoted), ("_update", Mark::Update), ("_carried", Mark::Carried)],
    &[("together", Mark::Together)],
);

/// What a name stands for.
fn parse<T: Copy>((numbered, plain): (&[Numbered<T>], &[Plain<T>]), text: &str) -> Option<T> {
    if let Some((_, found)) = plain.iter().find(|(name, _)| *name == text) {
        return Some(*found);
    }
    let prefix = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = &text[prefix.len()..];
    let (_, of) = numbered.iter().find(|(name, _)| *name == prefix)?;
    // One name for one number.
    (number == "0" || !number.starts_with('0')).then(|| number.parse().ok().map(of))?
}

/// The name, whose number is `n` if it has one.
fn print<T: PartialEq + Copy>(
    f: &mut fmt::Formatter<'_>,
    (numbered, plain): (&[Numbered<T>], &[Plain<T>]),
    of: T,
    n: usize,
) -> fmt::Result {
    if let Some((name, _)) = plain.iter().find(|(_, found)| *found == of) {
        return f.write_str(name);
    }
    match numbered.iter().find(|(_, make)| make(n) == of) {
        Some((name, _)) => write!(f, "{name}{n}"),
        None => Err(fmt::Error),
    }
}

impl Param {
    /// The parameter of this name; `None` for all others.
    pub fn of(name: &str) -> Option<Param> {
        parse(PARAMS, name)
    }

    /// The names of `kind(0)` to `kind(n - 1)`.
    pub fn first(kind: fn(usize) -> Param, n: usize) -> Vec<String> {
        (0..n).map(|d| kind(d).to_string()).collect()
    }
}

impl Tuple {
    /// The tuple of this name; `None` for statements and all others.
    pub fn of(name: &str) -> Option<Tuple> {
        parse(TUPLES, name)
    }

    /// The tuple of a set.
    pub fn of_set(set: &pollyrs_isl::Set) -> pollyrs_isl::Result<Option<Tuple>> {
        Ok(set.tuple_name()?.as_deref().and_then(Tuple::of))
    }
}

impl Mark {
    /// The mark of this name; `None` for all others.
    pub fn of(name: &str) -> Option<Mark> {
        parse(MARKS, name)
    }
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Param::*;
        let n = match *self {
            Host(n) | Block(n) | Thread(n) | Point(n) | Subscript(n) => n,
            Choice(n) | Form(n) | Stage(n) | Iterator(n) => n,
            Late | Border | Step => 0,
        };
        print(f, PARAMS, *self, n)
    }
}

impl fmt::Display for Tuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = match *self {
            Tuple::Update(n) | Tuple::Carried(n) | Tuple::Copy(n) | Tuple::Window(n) => n,
            Tuple::Barrier | Tuple::Wait | Tuple::Enter | Tuple::Fill => 0,
        };
        print(f, TUPLES, *self, n)
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = match *self {
            Mark::Promoted(n) | Mark::Update(n) | Mark::Carried(n) => n,
            Mark::Together => 0,
        };
        print(f, MARKS, *self, n)
    }
}

/// Whether a tuple of a thread's schedule is one of the SCoP's statements; all others start like no statement
/// does.
pub fn is_statement(tuple: &str) -> bool {
    !tuple.starts_with('_')
}

/// `prefix0`, `prefix1`, ...: dimensions of a tuple.
pub fn names(prefix: &str, n: usize) -> Vec<String> {
    (0..n).map(|d| format!("{prefix}{d}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_parsed() {
        let params =
            [Param::Host(0), Param::Block(1), Param::Thread(10), Param::Point(2), Param::Subscript(3)];
        let more = [Param::Choice(4), Param::Form(12), Param::Stage(1), Param::Iterator(0)];
        for p in params.into_iter().chain(more).chain([Param::Late, Param::Border, Param::Step]) {
            assert_eq!(Param::of(&p.to_string()), Some(p));
        }
        let plain = [Tuple::Barrier, Tuple::Wait, Tuple::Enter, Tuple::Fill];
        for t in
            plain.into_iter().chain([Tuple::Update(0), Tuple::Carried(1), Tuple::Copy(11), Tuple::Window(3)])
        {
            assert_eq!(Tuple::of(&t.to_string()), Some(t));
            assert!(!is_statement(&t.to_string()));
        }
        for m in [Mark::Promoted(0), Mark::Together, Mark::Update(7), Mark::Carried(2)] {
            assert_eq!(Mark::of(&m.to_string()), Some(m));
        }
        assert_eq!(Param::first(Param::Block, 2), ["_b0", "_b1"]);
    }

    #[test]
    fn other_names_are_nothing() {
        for text in
            ["", "S1", "n", "_", "_t", "_t01", "_t0x", "t0", "_tile0", "_t99999999999999999999", "_h-1"]
        {
            assert_eq!(Param::of(text), None, "{text}");
        }
        for text in ["S1", "_barrier0", "_barriers", "_in", "_inner0", "copy0", "_update"] {
            assert_eq!(Tuple::of(text), None, "{text}");
        }
        for text in ["kernel", "register", "registers0", "_update", "together1"] {
            assert_eq!(Mark::of(text), None, "{text}");
        }
    }
}

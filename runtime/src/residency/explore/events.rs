//! What may happen: executions, what the program does itself, calls.

use crate::base::abi::{
    ARRAY_CHANGED, ARRAY_COPY_IN, ARRAY_COPY_OUT, ARRAY_GUARDED, ARRAY_HELD, ARRAY_MASK_SHIFT, ARRAY_ROWS,
    ARRAY_WINDOW, Array,
};

/// The arrays of the program: the caller's X and Y, the callee's own Z. Bytes of memory, numbered by the
/// model.
pub const X: (u64, u64) = (0, 6);
pub const Y: (u64, u64) = (6, 8);
pub const Z: (u64, u64) = (8, 10);
pub const BYTES: usize = 10;
/// The address of the first byte.
pub const BASE: u64 = 0x1000;

/// One event.
pub struct Event {
    pub name: String,
    pub what: What,
}

pub enum What {
    Execution {
        arrays: Vec<Access>,
        course: Course,
    },
    /// Behind a release the program reads, and writes some of the bytes. `depth`: whose numbers the masks
    /// are.
    Host {
        depth: usize,
        read: u32,
        write: u32,
        reads: Vec<u64>,
        writes: Vec<u64>,
    },
    /// Behind a look the program reads some bytes of X.
    Look {
        first: u64,
        bytes: u64,
        step: i64,
        times: u64,
    },
    /// The program says which byte it writes, and does.
    Store {
        at: u64,
    },
    /// X is freed, and memory with other contents is there.
    Free,
    /// The callee is called. `releases`: it touches X itself as well, so the caller released it.
    Call {
        releases: bool,
    },
    /// It returns, or throws.
    Return {
        throws: bool,
    },
}

/// How an execution goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Course {
    Succeeds,
    /// As well, but each store is of what is there.
    ChangesNothing,
    /// As well, but each store is of what was there at the very beginning.
    ChangesBack,
    /// After the launches.
    Fails,
    /// At so many operations of the carrier.
    Stops(u32),
    /// As well, of memory only: there is none.
    NoMemory(u32),
}

/// An array of an execution, and which of its bytes are read and written.
#[derive(Clone)]
pub struct Access {
    pub array: Array,
    pub reads: Vec<u64>,
    pub writes: Vec<u64>,
}

/// How an array is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Read,
    /// Read and written as a whole.
    Update,
    /// Written as a whole.
    Write,
    /// All is read, every other byte is written.
    Rows,
    /// Every other byte is all that is touched.
    ReadWindow,
    WriteWindow,
    UpdateWindow,
    /// The first or the last byte is written, of those that might be.
    Changed,
}

fn access(form: Form, (start, end): (u64, u64), held: bool, mask: u32) -> Access {
    let bytes = end - start;
    let (every, other): (Vec<u64>, Vec<u64>) = ((start..end).collect(), (start..end).step_by(2).collect());
    let (reads, writes, flags) = match form {
        Form::Read => (every, vec![], ARRAY_COPY_IN),
        Form::Update => (every.clone(), every, ARRAY_COPY_IN | ARRAY_COPY_OUT),
        Form::Write => (vec![], every, ARRAY_COPY_OUT),
        Form::Rows => (every, other, ARRAY_COPY_IN | ARRAY_COPY_OUT | ARRAY_ROWS),
        Form::ReadWindow => (other, vec![], ARRAY_COPY_IN | ARRAY_WINDOW),
        Form::WriteWindow => (vec![], other, ARRAY_COPY_OUT | ARRAY_WINDOW),
        Form::UpdateWindow => (other.clone(), other, ARRAY_COPY_IN | ARRAY_COPY_OUT | ARRAY_WINDOW),
        Form::Changed => (every, vec![start, end - 1], ARRAY_COPY_IN | ARRAY_COPY_OUT | ARRAY_CHANGED),
    };
    // Rows begin with the range, and a window ends with its last row.
    let window = flags & ARRAY_WINDOW == ARRAY_WINDOW;
    let bytes = if window { (bytes - 1) / 2 * 2 + 1 } else { bytes };
    let held = if held { ARRAY_HELD | mask << ARRAY_MASK_SHIFT } else { 0 };
    let array = Array {
        start: std::ptr::without_provenance_mut((BASE + start) as usize),
        bytes,
        bias: 0,
        out_offset: 0,
        out_bytes: bytes,
        flags: flags | held,
        element_bytes: 1,
        row_bytes: 1,
        row_count: [1, 1, (end - start).div_ceil(2)],
        row_stride: [0, 0, 2],
    };
    Access { array, reads, writes }
}

/// A range that is read, of which the bytes of `own` are the array's and others may be any object's.
fn loose(span: (u64, u64), own: (u64, u64), mask: u32) -> Access {
    let mut access = access(Form::Read, span, true, mask);
    access.array.flags |= ARRAY_GUARDED;
    access.reads.retain(|byte| (own.0..own.1).contains(byte));
    access
}

/// All events.
pub fn all() -> Vec<Event> {
    use Form::*;
    let mut events = Vec::new();
    let mut add = |name: String, what: What| events.push(Event { name, what });
    let execution = |arrays: Vec<Access>| What::Execution { arrays, course: Course::Succeeds };
    // In the caller X is object 1, in the callee object 2; both at once where the compiler does not know.
    let x = |form, from, to| access(form, (from, to), true, 1);
    let y = |form| access(form, Y, true, 2);
    for form in [Read, Update, Write, Rows, ReadWindow, WriteWindow, UpdateWindow, Changed] {
        for (from, to) in [(0, 6), (0, 4), (2, 6), (3, 6)] {
            add(format!("{form:?} X[{from}..{to}]"), execution(vec![x(form, from, to)]));
        }
    }
    // Beside others.
    for (form, from, to) in [(Read, 4, 6), (Update, 4, 6), (Write, 4, 6), (Changed, 4, 6), (Update, 0, 2)] {
        add(format!("{form:?} X[{from}..{to}]"), execution(vec![x(form, from, to)]));
    }
    for (form, held) in [(Read, false), (Rows, false), (Changed, false)] {
        add(format!("{form:?} X[1..5], not held"), execution(vec![access(form, (1, 5), held, 0)]));
    }
    // Two arrays of an execution: apart, in place, and members of structures.
    let pairs = [
        (Read, (0, 6), Write, Y),
        (Write, (0, 6), Read, Y),
        (Changed, (0, 6), Rows, Y),
        (Write, (0, 3), Read, (3, 6)),
        (Changed, (0, 3), Update, (3, 6)),
        (Update, (0, 6), Read, (0, 6)),
        (Write, (2, 6), Read, (0, 6)),
        (Rows, (0, 6), Read, (0, 4)),
        (Changed, (0, 6), Read, (2, 6)),
        (UpdateWindow, (0, 6), Read, (0, 6)),
        (WriteWindow, (0, 5), WriteWindow, (1, 6)),
        (UpdateWindow, (1, 6), ReadWindow, (0, 6)),
        (Rows, (0, 6), WriteWindow, (1, 4)),
        (Rows, (1, 5), UpdateWindow, (0, 6)),
        (Rows, (0, 4), Rows, (1, 6)),
        (Changed, (0, 6), WriteWindow, (1, 4)),
    ];
    for (form, (from, to), other, (begin, end)) in pairs {
        let mut second = if (begin, end) == Y { y(other) } else { x(other, begin, end) };
        let mut first = x(form, from, to);
        // What is written through the one is not accessed through the other, but that one which is only read
        // may be asked for what was there.
        first.reads.retain(|byte| !second.writes.contains(byte));
        first.writes.retain(|byte| !second.writes.contains(byte));
        if !second.writes.is_empty() {
            second.reads.retain(|byte| !first.writes.contains(byte));
        }
        let arrays = vec![first, second];
        add(format!("{form:?} X[{from}..{to}] and {other:?} [{begin}..{end}]"), execution(arrays));
    }
    for span in [(0, 6), (2, 8)] {
        add(format!("Read X in [{}..{}]", span.0, span.1), execution(vec![loose(span, X, 1)]));
    }
    add("Read Y in [4..10]".into(), execution(vec![loose((4, 10), Y, 2)]));
    add("Read X in [0..8] and Write Y".into(), execution(vec![y(Write), loose((0, 8), X, 1)]));
    // One that the compiler can't tell from another.
    for (from, to) in [(0, 4), (2, 4), Y] {
        add(format!("Update [{from}..{to}], X or Y"), execution(vec![access(Update, (from, to), true, 3)]));
    }
    for (form, from, to) in [(Changed, 0, 6), (Rows, 0, 4), (Update, 2, 6), (WriteWindow, 0, 6)] {
        let arrays = || vec![x(form, from, to), y(Update)];
        let courses =
            [(Course::ChangesNothing, "changes nothing"), (Course::Fails, "fails")].into_iter().chain(
                (0..3)
                    .map(|n| (Course::Stops(n), "stops"))
                    .chain((0..2).map(|n| (Course::NoMemory(n), "no memory"))),
            );
        for (course, name) in courses {
            let number = match course {
                Course::Stops(n) | Course::NoMemory(n) => format!(" at {n}"),
                _ => String::new(),
            };
            let what = What::Execution { arrays: arrays(), course };
            add(format!("{form:?} X[{from}..{to}] and Update Y: {name}{number}"), what);
        }
    }
    for (form, from, to) in [(Changed, 0, 6), (Rows, 0, 4), (Write, 0, 2), (WriteWindow, 0, 6)] {
        let what = What::Execution { arrays: vec![x(form, from, to)], course: Course::ChangesBack };
        add(format!("{form:?} X[{from}..{to}]: changes back"), what);
    }
    let host = |depth, read, write, reads: (u64, u64), writes: Vec<u64>| What::Host {
        depth,
        read,
        write,
        reads: (reads.0..reads.1).collect(),
        writes,
    };
    add("the program reads X".into(), host(0, 1, 0, X, vec![]));
    add("the program reads Y".into(), host(0, 2, 0, Y, vec![]));
    add("the program writes X[2]".into(), host(0, 0, 1, X, vec![2]));
    add("the program writes Y".into(), host(0, 0, 2, Y, vec![6, 7]));
    add("the original loop runs".into(), host(0, u32::MAX, u32::MAX, (0, 8), vec![0, 4, 7]));
    for (first, bytes, step, times) in [(0, 1, 0, 0), (3, 2, 0, 0), (0, 1, 2, 2), (5, 1, -2, 1)] {
        let name =
            format!("the program looks at X[{first}..{}], {times} times more by {step}", first + bytes);
        add(name, What::Look { first, bytes, step, times });
    }
    for at in [3, 6] {
        add(format!("the program stores to byte {at}"), What::Store { at });
    }
    add("X is freed".into(), What::Free);
    add("call".into(), What::Call { releases: false });
    add("call of one that touches X itself".into(), What::Call { releases: true });
    add("return".into(), What::Return { throws: false });
    add("throw".into(), What::Return { throws: true });
    // In the callee.
    let inner = |form, (from, to), mask: u32| access(form, (from, to), true, mask << 8);
    for (form, span, mask) in
        [(Update, (0, 6), 2), (Rows, (2, 6), 2), (Changed, (0, 4), 2), (Write, Z, 1), (Update, Z, 1)]
    {
        add(format!("callee: {form:?} [{}..{}]", span.0, span.1), execution(vec![inner(form, span, mask)]));
    }
    add("callee: Read X in [0..10]".into(), execution(vec![loose((0, 10), X, 2 << 8)]));
    add("callee: Read Z in [4..10]".into(), execution(vec![loose((4, 10), Z, 1 << 8)]));
    add("callee reads Z".into(), host(1, 1, 0, Z, vec![]));
    add("callee writes Z".into(), host(1, 0, 1, Z, vec![8]));
    add("callee reads X".into(), host(1, 2, 0, X, vec![]));
    add("callee writes X[5]".into(), host(1, 0, 2, X, vec![5]));
    events
}

impl Access {
    /// Whose numbers the masks are; those of the callee are kept eight bits higher.
    pub fn depth(&self) -> Option<usize> {
        self.array.held().then(|| usize::from(self.array.mask() >= 1 << 8))
    }

    /// As the library gets it.
    pub fn array(&self) -> Array {
        let mut array = self.array;
        if self.depth() == Some(1) {
            let mask = array.mask() >> 8;
            array.flags = array.flags & ((1 << ARRAY_MASK_SHIFT) - 1) | mask << ARRAY_MASK_SHIFT;
        }
        array
    }
}

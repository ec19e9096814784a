//! What functions of the C library, and of flang's, do to the arrays of a program.
//!
//! Problem: a program prints and takes the time between its loop nests. To alias analysis `printf` is an
//! unknown function, so every array that was ever passed to anybody would have to leave the device before it,
//! and be copied again after it.
//!
//! What the table says of a function, beyond what it does through its pointer arguments: it touches no memory
//! of the program (`errno` apart), calls nothing of the program's back, and does not throw. Then there are
//! three kinds:
//!
//! - *quiet*: nobody learns of the call (`rand`, `clock`, `exp`, `malloc`);
//! - *publishing*: another thread or process may learn that it happened, by what it prints, and then read
//!   what this thread wrote before. So results have to be in memory by then. Its own thread learns nothing
//!   from the call of what others wrote, so what the device has stays valid;
//! - *last*: as publishing, and the call does not return.
//!
//! Functions that tell their caller something of others (`read`, `getchar`, locks, `sleep`) are not in the
//! table: they may do anything. Nor are functions of the C++ library, whose streams may run code of the
//! program's.
//!
//! A stream may be one that writes to memory of the program (`fmemopen`, `fopencookie`); so functions on
//! streams count only with `stdout` or `stderr`, which are taken to be files.

use pollyrs_llvm_shim::Touch;

/// What a function does; see the module documentation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// Letters for the parameters, see [`Library::argument`].
    arguments: &'static str,
    pub publishes: bool,
    /// No copy of a pointer argument is left behind or returned.
    pub forgets: bool,
}

/// What a parameter is good for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// No pointer into the program's memory, or one that is not followed.
    Plain,
    Pointer(Touch),
    /// Has to be `stdout` or `stderr`.
    Stream,
}

impl Library {
    /// The function of a name.
    pub fn of(name: &str) -> Option<Library> {
        let find =
            |table: &[(&str, &'static str)]| table.iter().find(|(known, _)| *known == name).map(|row| row.1);
        // Those of strings and of memory return pointers, or store them.
        let forgets = !name.contains("str") && !name.starts_with("mem");
        let quiet = |arguments| Library { arguments, publishes: false, forgets };
        if let Some(arguments) = find(PUBLISHING) {
            return Some(Library { arguments, publishes: true, forgets });
        }
        find(QUIET).map(quiet).or_else(|| is_math(name).then_some(quiet("")))
    }

    pub fn argument(&self, index: usize) -> Argument {
        let letters = self.arguments.as_bytes();
        // A last '*' stands for what is passed beyond: strings to print, or where "%n" stores.
        let letter = match letters.get(index) {
            Some(letter) if *letter != b'*' => *letter,
            _ if letters.last() == Some(&b'*') => b'b',
            _ => b'-',
        };
        match letter {
            b'r' => Argument::Pointer(Touch::READ),
            b'w' => Argument::Pointer(Touch::WRITE),
            b'b' => Argument::Pointer(Touch::BOTH),
            b's' => Argument::Stream,
            _ => Argument::Plain,
        }
    }
}

/// Name, and a letter for each parameter: `-` plain, `r`, `w`, `b` a pointer that is read, written or both,
/// `s` a stream.
const PUBLISHING: &[(&str, &str)] = &[
    ("printf", "r*"),
    ("vprintf", "rb"),
    ("puts", "r"),
    ("putchar", "-"),
    ("putchar_unlocked", "-"),
    ("perror", "r"),
    ("fprintf", "sr*"),
    ("vfprintf", "srb"),
    ("fputs", "rs"),
    ("fputc", "-s"),
    ("putc", "-s"),
    ("fwrite", "r--s"),
    ("fflush", "s"),
    ("__printf_chk", "-r*"),
    ("__fprintf_chk", "s-r*"),
    // These don't return; what is registered for the end of the program may look at arrays.
    ("exit", "-"),
    ("_exit", "-"),
    ("_Exit", "-"),
    ("abort", ""),
    ("__assert_fail", "rr-r"),
    // flang's run-time library: an output statement on a unit.
    ("_FortranAioBeginExternalListOutput", "-r-"),
    ("_FortranAioEndIoStatement", "-"),
    ("_FortranAioOutputInteger8", "--"),
    ("_FortranAioOutputInteger16", "--"),
    ("_FortranAioOutputInteger32", "--"),
    ("_FortranAioOutputInteger64", "--"),
    ("_FortranAioOutputReal32", "--"),
    ("_FortranAioOutputReal64", "--"),
    ("_FortranAioOutputLogical", "--"),
    ("_FortranAioOutputAscii", "-r-"),
];

const QUIET: &[(&str, &str)] = &[
    ("pollyrs_rt_rows", "r---"),
    ("pollyrs_rt_rows_anywhere", "r-----"),
    ("pollyrs_rt_row_length", "r---"),
    ("pollyrs_rt_common_length", "r--"),
    ("pollyrs_rt_most", "r---"),
    ("pollyrs_rt_rows_leave", "r------"),
    ("pollyrs_rt_grouped", "rrrr-----"),
    ("pollyrs_rt_places", "rrrr------"),
    ("pollyrs_rt_wanted", ""),
    ("clock", ""),
    ("time", "w"),
    ("clock_gettime", "-w"),
    ("clock_getres", "-w"),
    ("gettimeofday", "ww"),
    ("timespec_get", "w-"),
    ("difftime", "--"),
    ("omp_get_wtime", ""),
    ("_ZNSt6chrono3_V212steady_clock3nowEv", ""),
    ("_ZNSt6chrono3_V212system_clock3nowEv", ""),
    ("_FortranACpuTime", ""),
    ("_FortranASystemClockCount", "-"),
    ("_FortranASystemClockCountRate", "-"),
    ("rand", ""),
    ("srand", "-"),
    ("rand_r", "b"),
    ("random", ""),
    ("srandom", "-"),
    ("drand48", ""),
    ("lrand48", ""),
    ("mrand48", ""),
    ("srand48", "-"),
    ("erand48", "b"),
    ("nrand48", "b"),
    ("abs", "-"),
    ("labs", "-"),
    ("atoi", "r"),
    ("atol", "r"),
    ("atoll", "r"),
    ("atof", "r"),
    ("strtol", "rw-"),
    ("strtoul", "rw-"),
    ("strtoll", "rw-"),
    ("strtoull", "rw-"),
    ("strtod", "rw"),
    ("strtof", "rw"),
    ("strlen", "r"),
    ("strcmp", "rr"),
    ("strncmp", "rr-"),
    ("strchr", "r-"),
    ("strcpy", "wr"),
    ("strncpy", "wr-"),
    ("memcmp", "rr-"),
    ("memcpy", "wr-"),
    ("memmove", "wr-"),
    ("memset", "w--"),
    ("snprintf", "w-r*"),
    ("getenv", "r"),
    // What was there is read; new memory is nobody's.
    ("malloc", "-"),
    ("calloc", "--"),
    ("aligned_alloc", "--"),
    ("posix_memalign", "w--"),
    ("realloc", "b-"),
    ("free", "b"),
];

/// Functions of numbers alone, in three precisions.
const MATH: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "ldexp",
    "llrint",
    "llround",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "lrint",
    "lround",
    "nearbyint",
    "nextafter",
    "pow",
    "remainder",
    "rint",
    "round",
    "scalbn",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
];

fn is_math(name: &str) -> bool {
    let stem = name.strip_suffix(['f', 'l']).unwrap_or(name);
    MATH.contains(&name) || MATH.contains(&stem)
}

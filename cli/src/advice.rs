//! What a user can do about a refusal.
//!
//! A remark's name says what kind of obstacle there is, its text which one. The first row that fits both is
//! the advice; the last row of each name fits every text.

/// What is known of a refusal.
#[derive(Clone, Copy, Debug)]
pub struct Refusal<'a> {
    /// The remark's name.
    pub name: &'a str,
    /// Its text, with names as their authors know them.
    pub text: &'a str,
    /// What is called of a library, which is the one that loops or calls.
    pub inside: Option<&'a str>,
    pub language: Language,
}

/// How the file's author would write something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Fortran,
    Rust,
}

impl Language {
    /// Of the file of this name.
    pub fn of(file: &str) -> Language {
        let extension = file.rsplit_once('.').map(|(_, e)| e.to_ascii_lowercase()).unwrap_or_default();
        match extension.as_str() {
            "rs" => Language::Rust,
            "f" | "for" | "f90" | "f95" | "f03" | "f08" => Language::Fortran,
            _ => Language::C,
        }
    }
}

/// Help on a refusal; `None` for names that are no refusals.
pub fn advice(refusal: Refusal<'_>) -> Option<&'static str> {
    in_language(refusal).or_else(|| of_library(refusal)).or_else(|| {
        let fits = |row: &&(&str, &[&str], &str)| {
            row.0 == refusal.name && (row.1.is_empty() || has(refusal.text, row.1))
        };
        ADVICE.iter().find(fits).map(|row| row.2)
    })
}

/// Whether one of the parts is in the text; a part behind `=` is a function's whole name.
fn has(text: &str, parts: &[&str]) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    parts.iter().any(|part| match part.strip_prefix('=') {
        Some(name) => text.split(|c| !is_name(c)).any(|word| word == name),
        None => text.contains(part),
    })
}

/// What is written in another way in this language than in C and C++.
fn in_language(r: Refusal<'_>) -> Option<&'static str> {
    Some(match (r.language, r.name) {
        (Language::Rust, "OrderedSum") => {
            "Rust has no flag by which floating-point sums may run in parts: sums of several rows run side by side, and sums of integers do; or write the parts \
             out, a sum for every 1000 elements, say, in an array, and add these up"
        }
        (Language::Rust, "Terminator") if r.text.contains("handled here") => {
            "something in the loop may panic or allocate (push, format, a call that is not inlined): move it in front of the loop, and store to elements that \
             are there ('let mut out = vec![0.0; n]; for (o, x) in out.iter_mut().zip(x) { *o = 2.0 * x; }')"
        }
        (Language::Rust, "LoopExits") if r.inside.is_none() && !r.text.contains("the result of") => {
            "'break', 'return' and '?' out of a loop keep it on the CPU: let the loop run to its end and remember what was found, the first place by a \
             minimum: 'let c = if hit { i } else { n }; first = if c < first { c } else { first };', with first = n before the loop"
        }
        (Language::Rust, "Call") if r.text.contains("a function pointer") && r.inside.is_none() => {
            "take the type as a parameter ('op: &impl Op', 'f: impl Fn(f64) -> f64') in place of 'dyn' or 'fn', so that the compiler can inline it; objects of \
             several types belong in a list for each"
        }
        (Language::Fortran, "LoopExits") => {
            "'exit', 'return' and 'goto' out of a loop keep it on the CPU: let the loop run to its end and remember what was found, the first place by a \
             minimum: 'first = min(first, merge(i, n + 1, hit))', with first = n + 1 before the loop"
        }
        (Language::Fortran, "Call") if r.text.contains("a function pointer") => {
            "call the procedure by its name, or declare the object with 'type(...)' in place of 'class(...)', so that the compiler can inline what is called"
        }
        (Language::Fortran, "Call") if has(r.text, &["=malloc", "=realloc", "=free"]) => {
            "something is allocated here: an allocatable array takes another size, or an expression over an array needs a place for its result; allocate in \
             front of the loop, and assign element by element ('do k = 1, m')"
        }
        _ => return None,
    })
}

/// What libraries do inside of what is called: the call itself is all that an author sees.
fn of_library(r: Refusal<'_>) -> Option<&'static str> {
    const LOOPS: [&str; 3] = ["LoopBound", "LoopExits", "ControlFlow"];
    const REACHED: [&str; 10] = [
        "LoopBound",
        "LoopExits",
        "ControlFlow",
        "Call",
        "Terminator",
        "Type",
        "Condition",
        "Check",
        "Subscript",
        "BaseChanges",
    ];
    if !REACHED.contains(&r.name) {
        return None;
    }
    // (What is called may be named by the text alone.)
    let called = r.inside.unwrap_or(if matches!(r.name, "Call" | "Terminator") { r.text } else { "" });
    let rust = r.language == Language::Rust;
    if r.inside.is_some()
        && has(called, &["=push_back", "=emplace_back", "=push", "=push_mut", "=grow_one", "=push_str"])
    {
        return Some(match rust {
            true => {
                "'push' makes room as it goes: let the elements be there before the loop, and store to them ('let mut out = vec![0; a.len()]; for (o, x) in \
                 out.iter_mut().zip(a) { *o = x * x; }'); where data chooses what is kept, pack it in a loop of its own"
            }
            false => {
                "'push_back' makes room as it goes: give the container its size before the loop ('out.resize(n)'), and store by subscript ('out[i] = x'); \
                 where data chooses what is kept, pack it in a loop of its own"
            }
        });
    }
    if has(called, &["=lock", "=lock_contended", "pthread_mutex", "std::mutex", "lock_guard", "unique_lock"])
    {
        return Some(match rust {
            true => {
                "take the lock once, before the loop, and a slice of what it guards ('let mut guard = m.lock().unwrap(); for (v, x) in guard[..].iter_mut().zip(a) { *v += x; }')"
            }
            false => {
                "take the lock once, before the loop, or let the loop store to an array of its own, and add that to the shared one behind it"
            }
        });
    }
    if is_lookup(called) {
        return Some(
            "a tree, list or hash table stays on the CPU: copy its values to an array before the loop, or look things up in a loop of their own, and compute \
             with plain arrays and subscripts made of loop counters",
        );
    }
    if has(
        called,
        &["basic_string", "std::stoi", "std::stod", "std::to_string", "str::", "=parse", "=format"],
    ) {
        return Some(
            "texts are read and written on the CPU: turn them into numbers, or numbers into texts, in a loop of its own with an array of numbers, and compute \
             with that array",
        );
    }
    (r.inside.is_some() && LOOPS.contains(&r.name)).then_some(
        "the loop is one of the library's: what is called here searches, sorts, or follows a list, tree or hash table, which stays on the CPU; call it in a \
         loop of its own, and keep what is computed with in plain arrays with subscripts made of loop counters",
    )
}

/// Whether a library's function works on a container whose elements are linked or hashed, by its name.
pub fn is_lookup(name: &str) -> bool {
    const PARTS: [&str; 17] = [
        "std::map",
        "std::multimap",
        "std::set",
        "std::multiset",
        "std::list",
        "std::unordered_",
        "_Rb_tree",
        "_List_",
        "_Hashtable",
        "_rehash",
        "HashMap",
        "HashSet",
        "BTree",
        "btree::",
        "LinkedList",
        "hashbrown",
        "hash::",
    ];
    PARTS.iter().any(|part| name.contains(part))
}

/// Names of remarks, parts of texts of which one has to be there (none: any text), and the advice.
const ADVICE: &[(&str, &[&str], &str)] = &[
    (
        "LoopBound",
        &["the step of"],
        "a loop that advances by the counter of another one is offloaded in a function of its own that is not inlined ('__attribute__((noinline)) \
         void mark(int first, int step, ...)'): the step is a plain number there",
    ),
    (
        "LoopBound",
        &["floating-point data"],
        "a loop that runs until a computed value is small enough stays on the CPU; the loops inside are offloaded, and a loop around it \
         over independent elements would be: write it as 'for' over the elements with the search inside",
    ),
    (
        "LoopBound",
        &[" * ", " / ", " >> ", " << "],
        "compute the number of iterations before the loop ('int last = sqrt(n); for (p = 2; p <= last; p++)'): bounds have to be sums of \
         counters and parameters",
    ),
    (
        "LoopBound",
        &[],
        "let the loop run over a fixed range: copy a bound from memory into a local variable before the loop, and change neither it nor the \
         counter inside other than by a constant step; of a text, find its length first ('n = strlen(s)'), of a linked list, copy its values to an \
         array; counters that are doubled or halved, and 'while' loops that end by a computed value stay on the CPU, the loops inside of them are \
         offloaded",
    ),
    (
        "LoopExits",
        &["setjmp"],
        "a loop that 'longjmp' may come back to stays on the CPU: call 'setjmp' before the loop, and move what may jump into a loop of its own",
    ),
    (
        "LoopExits",
        &["the result of"],
        "ask the function behind the loop, or in a loop of its own that stores its results to an array; as to the rest, let the loop run to its end and \
         remember what was found, the first place by a minimum: 'c = hit ? i : n; first = c < first ? c : first', with first = n before the loop",
    ),
    (
        "LoopExits",
        &[],
        "'break', 'return' and 'goto' out of a loop keep it on the CPU: let the loop run to its end and remember what was found, the first \
         place by a minimum: 'c = hit ? i : n; first = c < first ? c : first', with first = n before the loop",
    ),
    (
        "ControlFlow",
        &[],
        "replace jumps into or across loops by structured 'for' and 'if'; what allocates or may throw belongs in front of the loops",
    ),
    (
        "Condition",
        &[],
        "a condition may depend on data only around stores to elements that the iteration touches anyway; write 'x = c ? a : x' instead of \
         guarding reads of other elements; where elements are collected ('if (keep) out[k++] = x'), compute 'keep' and 'x' into arrays in one loop, and pack \
         them in a second one",
    ),
    (
        "Check",
        &["the length of a row"],
        "rows that have lengths of their own (a vector of vectors) may end anywhere: keep all elements in one vector, 'a[i*m + j]'",
    ),
    (
        "Check",
        &[],
        "checks of subscripts and sizes can be verified before the loop, checks of data (an assertion on an element) can't: move them \
         into a loop of their own",
    ),
    (
        "Subscript",
        &["a power of"],
        "squares of a counter and packed triangular storage (i*(i+1)/2 + j) are not affine: use rows of full length, 'A[i*n + j]' with j <= i",
    ),
    (
        "Subscript",
        &["another view of the same memory"],
        "one loop goes through the array with one subscript, another one with several: write both alike, two nested loops instead of \
         one over n*n elements",
    ),
    (
        "Subscript",
        &["a pointer that moves"],
        "compute the address from the loop counters ('p[i*stride + j]') instead of advancing a pointer by a step that is loaded or changes",
    ),
    (
        "Subscript",
        &["takes over from the one before"],
        "an index that moves by data ('if (keep) out[m++] = x') puts the iterations in order: compute 'x' and 'keep' into arrays with a place \
         for each iteration, in a loop that runs in parallel, and pack them in a second one",
    ),
    (
        "Subscript",
        &[" % ", " / "],
        "quotients and remainders have to be of a counter that begins at 0, by constants, or by the size of a ring that a counter goes around at most once or \
         twice ('(first + i) % n'); otherwise use a counter for each part: two nested loops instead of 'k / n' and 'k % n'",
    ),
    (
        "Subscript",
        &[" ^ ", " & ", " | ", " << ", " >> "],
        "subscripts made of bits are not affine: use sums of loop counters and parameters times constants",
    ),
    (
        "Subscript",
        &["the product"],
        "a counter may be multiplied by constants and by sizes that do not change in the loop nest, and not by another counter; strides \
         that are arguments have to be multiples of each other, or constants",
    ),
    (
        "Subscript",
        &[],
        "subscripts have to be sums of loop counters and parameters times constants (one size a dimension). Where the index of a \
         store comes from memory (a scatter), that loop stays on the CPU: turn it around, so that each iteration stores to its own element, or move \
         other work into loops of its own",
    ),
    ("BaseChanges", &[], "keep the array's address in a local variable that the loop does not change"),
    (
        "ElementType",
        &[],
        "keep values of different widths in arrays or members of their own, and take a wider element apart with shifts; one width seen as \
         two types (float and unsigned) is no obstacle",
    ),
    (
        "Call",
        &["of input (read)"],
        "read all values in front of the loop, as an array ('read (u) x'), or in a loop of its own",
    ),
    (
        "Call",
        &["of RandomNumber of Fortran's library"],
        "fill an array by one call before the loop ('call random_number(r)' for an array r), and read it inside",
    ),
    (
        "Call",
        &["of Fortran's library"],
        "what the compiler leaves to Fortran's run-time library (transfer, character functions, assignments of derived types, intrinsics over whole \
         arrays) stays on the CPU: write it as a loop over elements, or in a loop of its own",
    ),
    (
        "Call",
        &["=strlen", "=wcslen", "=strnlen"],
        "find the length once, before the loop ('size_t n = strlen(s); for (size_t i = 0; i < n; i++)')",
    ),
    (
        "Call",
        &["it changes nothing"],
        "the device has no code of this function: write the comparison or search as a loop over elements ('equal &= a[k] == b[k]'), let the compiler see \
         the function (same file, 'static' or 'inline'), or compute its results into an array before",
    ),
    (
        "Call",
        &["marked not to be inlined"],
        "take 'noinline' (or 'pollyrs: off') from the function, so that it becomes a part of the loop; what changes a global variable stays a matter of order, \
         and belongs in a loop of its own",
    ),
    (
        "Call",
        &[
            "=sprintf",
            "=snprintf",
            "=strcpy",
            "=strncpy",
            "=stpcpy",
            "=strcat",
            "=strncat",
            "=strtok",
            "=strdup",
            "=strtod",
            "=strtol",
            "=strtoll",
            "=strtoul",
            "=atoi",
            "=atof",
            "=sscanf",
            "__isoc99_sscanf",
            "__isoc23_s",
            "__sprintf_chk",
            "__snprintf_chk",
            "__strcpy_chk",
            "__strcat_chk",
        ],
        "texts are read and written on the CPU, in a loop of its own; characters of rows of one width are plain numbers, which a loop over elements copies on the \
         device ('for (k = 0; k < 32; k++) out[i][k] = in[i][k]')",
    ),
    (
        "Call",
        &[
            "=scanf",
            "=fscanf",
            "__isoc99_",
            "__isoc23_",
            "=getc",
            "=fgetc",
            "=getchar",
            "=fgets",
            "=fread",
            "=read",
            "=getline",
            "=feof",
            "=ferror",
            "std::istream",
            "std::operator>>",
            "std::getline",
        ],
        "read all values in front of the loop, into an array, or in a loop of its own",
    ),
    (
        "Call",
        &[
            "=printf",
            "=fprintf",
            "=vprintf",
            "=vfprintf",
            "=dprintf",
            "__printf_chk",
            "__fprintf_chk",
            "=putc",
            "=putchar",
            "=fputc",
            "=puts",
            "=fputs",
            "=fwrite",
            "=write",
            "=fflush",
            "=perror",
            "ostream",
            "std::operator<<",
            "std::endl",
            "std::print",
            "FortranAio",
            "=_print",
            "=_eprint",
        ],
        "store what is printed in an array, and print it in a loop behind this one",
    ),
    (
        "Call",
        &["of rand", "random", "rand48", "rand_r", "_distribution", "mersenne", "RandomNumber"],
        "a generator with a state gives its numbers in order: fill an array in a loop of its own, or compute each number from its index (a \
         hash of the counter)",
    ),
    (
        "Call",
        &[
            "=malloc",
            "=calloc",
            "=realloc",
            "=aligned_alloc",
            "=posix_memalign",
            "=alloc",
            "=free",
            "operator new",
            "operator delete",
            "=__rust_alloc",
            "=__rust_alloc_zeroed",
            "=__rust_realloc",
            "=__rust_dealloc",
            "=grow_one",
            "=do_reserve_and_handle",
            "shared_ptr",
        ],
        "allocate and free outside of the loop: one block for all iterations",
    ),
    (
        "Call",
        &["which calls itself"],
        "a recursion stays on the CPU: write the function as a loop, or fill a table of its values in a loop of its own and read that ('out[i] = f[k]'); of a tree, \
         keep the nodes in arrays, level by level",
    ),
    (
        "Call",
        &[
            "=qsort",
            "=bsearch",
            "=sort",
            "std::sort",
            "std::__sort",
            "=sort_by",
            "introsort",
            "__adjust_heap",
        ],
        "sorting and searching by a comparison that is called stay on the CPU, in a loop of their own; what computes beside them belongs in another one",
    ),
    (
        "Call",
        &["a function pointer"],
        "call the function by its name, or pass a lambda to a template, so that the compiler can inline it",
    ),
    (
        "Call",
        &["a virtual function"],
        "keep objects of one class together and call its function by name, or make what they compute plain data ('double area[n]'), so that the compiler can \
         inline it",
    ),
    (
        "Call",
        &["lacks this function"],
        "this function stays on the CPU: compute its values in a loop of their own",
    ),
    ("Call", &["complex numbers of type long double"], "use 'double complex'"),
    (
        "Call",
        &["complex numbers"],
        "-fcomplex-arithmetic=improved computes quotients of complex numbers in place (so does -ffast-math): the same formula, without the \
         search for infinities and NaNs afterwards",
    ),
    ("Call", &["128-bit"], "use integers up to 64 bits"),
    ("Call", &["errno"], "-fno-math-errno (part of -ffast-math) says that nobody looks at errno"),
    (
        "Call",
        &[],
        "let the compiler see the function (same file, 'static' or 'inline', small enough to be inlined); what a library does (sorting, \
         input, output, allocation, locks) belongs in a loop of its own",
    ),
    (
        "NestedTables",
        &[],
        "allocate all elements as one block and compute the index, 'a[(i*n + j)*m + k]', or use arrays of arrays, 'double (*a)[n][m]'; with a pointer \
         to pointers, 'double **', rows are found",
    ),
    ("InlineAssembly", &[], "move inline assembly out of the loop"),
    (
        "OrderedAccess",
        &["volatile"],
        "each volatile access happens where it is written, on the CPU: copy to or from a plain variable, in front of the loop if it stays the same there, or in \
         a loop of its own",
    ),
    (
        "OrderedAccess",
        &[],
        "atomic accesses and fences stay on the CPU: use plain variables inside the loop, where sums and histograms of plain integers run on the device, and add \
         them to what threads share behind it",
    ),
    (
        "Instruction",
        &[],
        "move this operation out of the loop, or use float, double or integers up to 64 bits",
    ),
    ("Device", &[], "move this operation out of the loop, or use float, double or integers up to 64 bits"),
    (
        "Type",
        &["behind '...'"],
        "a function of any number of arguments finds them one by one, on the CPU: copy them to an array in a loop of its own, or take an array and its length",
    ),
    (
        "Type",
        &["(ptr)"],
        "the loop computes or exchanges pointers: use subscripts; exchange arrays by plain assignments of pointer variables ('t = a; a = b; \
         b = t') in the function that has the time loop",
    ),
    (
        "Type",
        &["long double", "float128"],
        "use double (literals without the suffix L, functions without it)",
    ),
    ("Type", &[], "use float, double or integers up to 64 bits"),
    (
        "Terminator",
        &["handled here"],
        "something in the loop may throw an exception (an allocation as of push_back, a call that is not inlined): move it in front of the loop, and \
         store to elements that are there ('out[i] = x'); -fno-exceptions helps where nothing throws",
    ),
    (
        "Terminator",
        &["the loop may throw"],
        "count with an index ('for (i = 0; i < n; i++)' in place of iterators), or look for bad values in a loop of its own ('int bad = 0; for (...) bad |= v[i] < 0;'), throw behind it, and compute in a second loop",
    ),
    ("Terminator", &[], "replace 'switch' on data and computed jumps by conditions"),
    (
        "NoParallelism",
        &["chooses the elements"],
        "data decides which elements are read, and others may have written them: let the loop read a copy of the array, or write its results to another one \
         ('out[i] = f(a[i + offset[i]])')",
    ),
    (
        "NoParallelism",
        &[],
        "each iteration needs the one before it: independent work (several rows, several systems) around or inside would run in parallel; \
         what does not need earlier iterations belongs in a loop of its own",
    ),
    (
        "RunningTotal",
        &[],
        "what each iteration makes of the last one's result can't be regrouped: sums, products, minima and maxima run in parts; several rows at a \
         time run in parallel, and other work belongs in a loop of its own",
    ),
    (
        "OrderedSum",
        &[],
        "'#pragma clang loop vectorize(enable)' or '#pragma omp simd reduction(+:s)' (with -fopenmp-simd) in front of this loop, or -fassociative-math \
         -fno-signed-zeros (both are part of -ffast-math) for all, let floating-point sums and products run in parts, side by side; the last bits of the \
         result change",
    ),
    (
        "LittleWork",
        &[],
        "the loops around it are the ones to offload: their refusal says why they are not; --pollyrs-option=min-work=0 offloads loops of \
         any size",
    ),
    (
        "MovesOnly",
        &[],
        "the C library copies and fills memory faster than a device gets it over the link: beside a loop over the same array, in one function, \
         it runs on the device; a loop over elements in its place always does",
    ),
    (
        "TrivialSizes",
        &[],
        "the condition can't hold for ordinary sizes: say what ties the sizes to each other, such as a row's length in the loop's bound",
    ),
    ("Budget", &["module"], "split the file, or raise the limit: --pollyrs-option=module-budget=N"),
    (
        "Budget",
        &[],
        "split the loop nest into smaller functions, or raise the limit: --pollyrs-option=budget=N",
    ),
    (
        "SwitchedOff",
        &[],
        "the source has a pragma or an attribute that leaves it to the CPU, or --pollyrs-option=ignore-function names the function",
    ),
    ("Unoptimized", &[], "compile with -O1 or above; with CMake, -DCMAKE_BUILD_TYPE=Release"),
    ("Internal", &[], "this is a defect of pollyrs: please report it with the file"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal<'a>(name: &'a str, text: &'a str) -> Refusal<'a> {
        Refusal { name, text, inside: None, language: Language::C }
    }

    #[test]
    fn advice_for_every_reason() {
        let names = [
            "LoopBound",
            "LoopExits",
            "ControlFlow",
            "Condition",
            "Check",
            "Subscript",
            "BaseChanges",
            "ElementType",
            "Call",
            "NestedTables",
            "InlineAssembly",
            "OrderedAccess",
            "Instruction",
            "Device",
            "Terminator",
            "Type",
            "NoParallelism",
            "OrderedSum",
            "RunningTotal",
            "LittleWork",
            "MovesOnly",
            "TrivialSizes",
            "Budget",
            "SwitchedOff",
            "Unoptimized",
            "Internal",
        ];
        for name in names {
            assert!(advice(refusal(name, "")).is_some(), "{name}");
        }
        assert!(advice(refusal("Offloaded", "")).is_none());
        assert!(ADVICE.iter().all(|row| names.contains(&row.0)));
    }

    #[test]
    fn advice_names_the_way_out_of_this_obstacle() {
        let table = [
            ("Call", "not offloaded: the call of printf may have side effects", "print it in a loop behind"),
            ("Call", "not offloaded: the call of rand may have side effects", "hash of the counter"),
            ("Call", "not offloaded: the call of a function pointer may have side effects", "lambda"),
            ("Call", "not offloaded: the call of freeze_layer may have side effects", "same file"),
            (
                "Subscript",
                "a subscript of p is not affine: it depends on a power of i, as packed",
                "full length",
            ),
            ("Subscript", "a subscript of a is not affine: it depends on i % b", "two nested loops"),
            (
                "Subscript",
                "of out is not affine: it depends on m, which each iteration takes over from the one before",
                "in a second one",
            ),
            ("LoopBound", "not affine: it depends on the step of k, p", "function of its own"),
            ("Subscript", "a subscript of h is not affine: it depends on x", "a scatter"),
            ("LoopBound", "the number of iterations is not affine: it depends on p * p", "before the loop"),
            ("LoopBound", "the number of iterations is not affine: it depends on p", "fixed range"),
            (
                "LoopExits",
                "the loop can be left at more than one place",
                "c = hit ? i : n; first = c < first ? c : first",
            ),
            (
                "ElementType",
                "a is accessed with element types that do not fit one array",
                "members of their own",
            ),
            (
                "Call",
                "a division of complex numbers is the call of __divdc3",
                "-fcomplex-arithmetic=improved",
            ),
            (
                "Call",
                "the call of nextafter may have side effects: the device lacks this function",
                "loop of their own",
            ),
            (
                "Call",
                "the call of exp (it may set errno; compile with -fno-math-errno) may",
                "-fno-math-errno",
            ),
            ("Type", "values of type long double (x86_fp80) cannot be held on the device", "use double"),
            ("Type", "values of type pointer (ptr) cannot be held on the device", "subscripts"),
            (
                "Call",
                "not offloaded: the call of strcmp: it changes nothing, but its code is not there",
                "loop over elements",
            ),
            ("Call", "not offloaded: a statement of input (read)", "in front of the loop"),
            (
                "Call",
                "the call of Transfer of Fortran's library (_FortranATransfer) may have side effects",
                "a loop over elements",
            ),
            ("Call", "the call of f (marked not to be inlined) may have side effects", "take 'noinline'"),
            (
                "NoParallelism",
                "iterations may need a of earlier ones, where p chooses the elements",
                "a copy of the array",
            ),
            ("NoParallelism", "iterations need a of earlier ones", "the one before it"),
            (
                "RunningTotal",
                "each iteration uses s as it was added up so far (a prefix sum)",
                "can't be regrouped",
            ),
        ];
        for (name, text, part) in table {
            assert!(advice(refusal(name, text)).is_some_and(|a| a.contains(part)), "{text}");
        }
    }

    #[test]
    fn names_are_whole() {
        let printed = "print it in a loop behind";
        for (text, fits) in [
            ("the call of fprintf may have side effects", true),
            ("the call of std::ostream::operator<< may have side effects", true),
            ("the call of rewrite_row may have side effects", false),
            ("the call of putcells may have side effects", false),
        ] {
            assert_eq!(advice(refusal("Call", text)).is_some_and(|a| a.contains(printed)), fits, "{text}");
        }
        // (A function of the program whose name has "alloc" in it.)
        assert!(
            advice(refusal("Call", "the call of local_locate may have side effects"))
                .is_some_and(|a| a.contains("same file"))
        );
    }

    #[test]
    fn advice_for_calls_of_c_s_library() {
        let table = [
            (
                "Call",
                "the call of strlen: it changes nothing, but its code is not there for the device",
                "size_t n = strlen(s)",
            ),
            ("Call", "the call of strcpy may have side effects", "texts are read"),
            ("Call", "the call of qsort may have side effects", "sorting"),
            ("Call", "the call of __isoc99_fscanf may have side effects", "in front of the loop"),
            ("Call", "the call of calloc may have side effects", "one block"),
            ("Call", "the call of operator new[] may have side effects", "one block"),
            ("Call", "the call of fibs, which calls itself", "a recursion"),
            ("LoopExits", "where it ends depends on the result of _setjmp", "before the loop"),
            ("LoopExits", "where it ends depends on the result of ferror", "ask the function behind"),
            ("OrderedAccess", "a volatile access to port", "volatile"),
            ("OrderedAccess", "an atomic access to bins", "histograms"),
            (
                "Type",
                "values of type pointer (ptr), such as the arguments behind '...', cannot be held",
                "take an array",
            ),
        ];
        for (name, text, part) in table {
            assert!(advice(refusal(name, text)).is_some_and(|a| a.contains(part)), "{text}");
        }
    }

    #[test]
    fn advice_for_loops_of_libraries_and_other_languages() {
        use Language::*;
        let handled = "the call of f may throw an exception that is handled here";
        let pointer = "the call of a function pointer (o) may have side effects";
        let table = [
            ("LoopExits", "", Some("std::find"), C, "one of the library's"),
            ("LoopExits", "", None, C, "first place by a minimum"),
            ("LoopExits", "", None, Rust, "if hit { i } else { n }"),
            ("LoopExits", "", None, Fortran, "merge(i, n + 1, hit)"),
            ("Terminator", handled, Some("std::f"), C, "-fno-exceptions"),
            ("Terminator", handled, Some("std::map::operator[]"), C, "hash table"),
            ("Terminator", handled, None, Rust, "may panic"),
            ("OrderedSum", "", None, Rust, "Rust has no flag"),
            ("OrderedSum", "", None, C, "vectorize(enable)"),
            (
                "Type",
                "values of type pointer (ptr), such as out",
                Some("std::vector::push_back"),
                C,
                "out.resize(n)",
            ),
            (
                "Call",
                "the call of RawVec::grow_one may have side effects",
                Some("Vec::push"),
                Rust,
                "out.iter_mut()",
            ),
            (
                "Call",
                "the call of Mutex::lock, which calls Mutex::lock_contended, may",
                None,
                Rust,
                "take the lock once",
            ),
            ("Call", "the call of std::_Rb_tree_increment may have side effects", None, C, "hash table"),
            (
                "Call",
                "the call of a function pointer may have side effects",
                Some("HashSet::insert"),
                Rust,
                "hash table",
            ),
            (
                "Call",
                "the call of a function pointer (f) may",
                Some("std::function::operator()"),
                C,
                "lambda",
            ),
            (
                "Call",
                "the call of RandomNumber of Fortran's library (_FortranARandomNumber) may",
                None,
                Fortran,
                "one call",
            ),
            ("Call", pointer, None, Rust, "impl Op"),
            ("Call", pointer, None, Fortran, "type(...)"),
            ("Call", "the call of malloc may have side effects", None, Fortran, "element by element"),
        ];
        for (name, text, inside, language, part) in table {
            let got = advice(Refusal { name, text, inside, language });
            assert!(got.is_some_and(|a| a.contains(part)), "{name} {inside:?} {language:?}: {got:?}");
        }
        assert_eq!(Language::of("/p/x.F90"), Fortran);
        assert_eq!(Language::of("/p/x.rs"), Rust);
        assert_eq!(Language::of("/p/x"), C);
    }
}

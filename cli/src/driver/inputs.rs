//! What a compiler command line compiles and whether it links: the input files, their languages, and the
//! phase it stops after.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What an input file is to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// C, Objective-C.
    C,
    /// C++.
    Cxx,
    /// Fortran.
    Fortran,
    /// LLVM assembly or bitcode: optimised by clang like a source file.
    Ir,
    /// Assembler source, preprocessed or not.
    Assembler,
    /// Objects, libraries, linker scripts: nothing for the plugin to see.
    Object,
}

/// The last phase that the command line asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// `-E`, `-M`, `-fsyntax-only`: no code is generated.
    Front,
    /// `-c`, `-S`.
    Compile,
    /// A program or a shared library.
    Link,
    /// `-r`: an object file of objects. The run-time library must not go in, or a program of several would
    /// hold it twice.
    PartialLink,
}

/// A command line, as far as the driver looks into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inputs {
    /// Kinds of the input files, in order.
    pub kinds: Vec<Kind>,
    /// Where it stops.
    pub phase: Phase,
    /// `-static`, `-static-pie`.
    pub static_link: bool,
    /// Code is optimised: any `-O` but `-O0`, which is the default.
    pub optimised: bool,
    /// Intermediate files are kept.
    pub saves_temps: bool,
}

impl Inputs {
    /// Whether something is compiled that the plugin sees.
    pub fn compiles(&self) -> bool {
        self.phase != Phase::Front && self.kinds.iter().any(|k| !matches!(k, Kind::Object | Kind::Assembler))
    }

    /// Whether source text is compiled; IR may have been through all before.
    pub fn compiles_source(&self) -> bool {
        self.compiles() && self.kinds.iter().any(|k| matches!(k, Kind::C | Kind::Cxx | Kind::Fortran))
    }
}

/// Options whose value is the next word (clang's and flang's; gcc's spellings that clang accepts).
const SEPARATE_VALUE: &[&str] = &[
    "-o",
    "-x",
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-B",
    "-F",
    "-J",
    "-T",
    "-e",
    "-u",
    "-z",
    "-A",
    "-G",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-isysroot",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-include-pch",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-Xclang",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xanalyzer",
    "-Xflang",
    "-Xopenmp-target",
    "-mllvm",
    "-mmlir",
    "-target",
    "-arch",
    "-framework",
    "-rpath",
    "-soname",
    "-resource-dir",
    "-module-dir",
    "-dumpbase",
    "-dumpdir",
    "-aux-info",
    "--param",
    "--sysroot",
    "-working-directory",
    "--config",
    "-serialize-diagnostics",
    "-ivfsoverlay",
    "-gen-cdb-fragment-path",
];

/// Reads a command line without driver options.
pub fn scan(words: &[OsString]) -> Inputs {
    let (kinds, phase) = (Vec::new(), Phase::Link);
    let mut inputs = Inputs { kinds, phase, static_link: false, optimised: false, saves_temps: false };
    // Set by -x, for the inputs that follow.
    let mut language: Option<Kind> = None;
    let mut only_files = false;
    let mut iter = words.iter();
    while let Some(word) = iter.next() {
        let bytes = word.as_bytes();
        if only_files || bytes == b"-" || !bytes.starts_with(b"-") {
            inputs.kinds.push(language.unwrap_or_else(|| kind_of_file(word)));
            continue;
        }
        match word.to_str().unwrap_or("") {
            "--" => only_files = true,
            "-c" | "-S" if inputs.phase != Phase::Front => inputs.phase = Phase::Compile,
            "-E" | "-M" | "-MM" | "-fsyntax-only" | "--precompile" => inputs.phase = Phase::Front,
            "-r" if inputs.phase == Phase::Link => inputs.phase = Phase::PartialLink,
            "-static" | "-static-pie" | "--static" => inputs.static_link = true,
            option if is_level(option) => inputs.optimised = option != "-O0",
            "-save-temps" | "--save-temps" => inputs.saves_temps = true,
            option if option.starts_with("-save-temps=") => inputs.saves_temps = true,
            "-x" => language = iter.next().and_then(|l| kind_of_language(l)),
            option if SEPARATE_VALUE.contains(&option) => {
                iter.next();
            }
            option if option.starts_with("-x") && option.len() > 2 && !option.starts_with("-xa") => {
                language = kind_of_language(OsStr::new(&option[2..]));
            }
            // Libraries are inputs for the linker, wherever the file is.
            option if option.starts_with("-l") => inputs.kinds.push(Kind::Object),
            _ => {}
        }
    }
    inputs
}

/// `-O`, `-O2`, `-Os`, `-Ofast`, and not `-ObjC`.
fn is_level(option: &str) -> bool {
    option.strip_prefix("-O").is_some_and(|level| {
        matches!(level, "" | "s" | "z" | "g" | "fast") || level.bytes().all(|b| b.is_ascii_digit())
    })
}

fn kind_of_file(path: &OsStr) -> Kind {
    let extension = Path::new(path).extension().and_then(OsStr::to_str).unwrap_or("");
    match extension {
        "c" | "i" | "m" | "mi" => Kind::C,
        "C" | "cc" | "cp" | "cpp" | "cxx" | "c++" | "CC" | "CPP" | "CXX" | "ii" | "iim" | "cppm" | "ixx"
        | "mm" | "M" | "mii" => Kind::Cxx,
        "ll" | "bc" => Kind::Ir,
        "s" | "S" | "sx" | "asm" => Kind::Assembler,
        other => match other.to_ascii_lowercase().as_str() {
            "f" | "for" | "ftn" | "fpp" | "f77" | "f90" | "f95" | "f03" | "f08" | "f18" => Kind::Fortran,
            _ => Kind::Object,
        },
    }
}

/// The kind behind `-x LANGUAGE`; `None` for `-x none`.
fn kind_of_language(language: &OsStr) -> Option<Kind> {
    match language.to_str().unwrap_or("") {
        "none" => None,
        "c" | "cpp-output" | "c-header" | "objective-c" => Some(Kind::C),
        "ir" => Some(Kind::Ir),
        l if l.starts_with("assembler") => Some(Kind::Assembler),
        l if l.contains("c++") => Some(Kind::Cxx),
        l if l.starts_with('f') => Some(Kind::Fortran),
        _ => Some(Kind::Object),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(text: &str) -> Inputs {
        scan(&text.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn kinds_and_phases() {
        use Kind::*;
        let table: &[(&str, &[Kind], Phase)] = &[
            ("a.c", &[C], Phase::Link),
            ("-O3 -c a.c -o b.cpp", &[C], Phase::Compile),
            ("-S a.cpp b.f90 d.F c.ll", &[Cxx, Fortran, Fortran, Ir], Phase::Compile),
            ("-E -c a.c", &[C], Phase::Front),
            ("-c -MM a.c", &[C], Phase::Front),
            ("-x c++ a.c -x none b.c -xf95 c", &[Cxx, C, Fortran], Phase::Link),
            ("-xc - -o x", &[C], Phase::Link),
            ("a.o -lm libx.a b.so.1", &[Object; 4], Phase::Link),
            ("a.s b.S -x assembler c -x assembler-with-cpp d", &[Assembler; 4], Phase::Link),
            ("-r a.o b.o -o c.o", &[Object; 2], Phase::PartialLink),
            ("-I inc.c -D x.c -include y.c -mllvm z.c -Xclang w.c --sysroot v.c u.c", &[C], Phase::Link),
            ("--version", &[], Phase::Link),
            ("-MD -MF a.c -MT b.c -c c.c", &[C], Phase::Compile),
            ("-c -- -odd.c", &[C], Phase::Compile),
        ];
        for (text, kinds, phase) in table {
            let got = scanned(text);
            assert_eq!(got.kinds, *kinds, "{text}");
            assert_eq!(got.phase, *phase, "{text}");
        }
        assert!(scanned("-static a.c").static_link && scanned("-static-pie a.c").static_link);
        assert!(scanned("-save-temps=obj a.c").saves_temps);
        assert!(!scanned("a.s").compiles() && scanned("a.s b.ll").compiles());
        assert!(!scanned("b.ll").compiles_source() && scanned("b.ll c.c").compiles_source());
        let levels = ["-O a.c", "-O0 -O2 a.c", "-Os a.c", "-Ofast a.c", "-O2 -ObjC a.c"];
        assert!(levels.iter().all(|line| scanned(line).optimised));
        assert!(
            ["a.c", "-O2 -O0 a.c", "-ObjC a.c", "-o -O2 a.c"].iter().all(|line| !scanned(line).optimised)
        );
    }
}

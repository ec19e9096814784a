//! Builds the compiler's command line.

use super::inputs::{Inputs, Kind, Phase, scan};
use super::install::Install;
use super::options::Options;
use super::{DriverError, Mode};
use std::ffi::OsString;
use std::path::Path;

/// The compilers the driver runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    /// clang.
    Clang,
    /// clang++.
    ClangXx,
    /// flang.
    Flang,
}

impl Compiler {
    /// Debian's versioned executable.
    pub fn versioned_name(self) -> &'static str {
        match self {
            Compiler::Clang => "clang-22",
            Compiler::ClangXx => "clang++-22",
            Compiler::Flang => "flang-22",
        }
    }

    /// The executable's name inside LLVM's own folder.
    pub fn plain_name(self) -> &'static str {
        match self {
            Compiler::Clang => "clang",
            Compiler::ClangXx => "clang++",
            Compiler::Flang => "flang",
        }
    }
}

/// A compiler and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// What to run.
    pub compiler: Compiler,
    /// With what.
    pub args: Vec<OsString>,
}

/// What a Rust static library needs from the system (`rustc --print native-static-libs`).
const SYSTEM_LIBRARIES: [&str; 6] = ["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl"];

/// The command line for the given words, which hold no driver options any more.
pub fn build(
    mode: Mode,
    options: &Options,
    words: &[OsString],
    install: &Install,
) -> Result<CommandLine, DriverError> {
    let inputs = scan(words);
    let compiler = choose(mode, &inputs)?;
    let mut args = Vec::new();
    if inputs.compiles() {
        args.push(with_path("-fpass-plugin=", &install.plugin));
        // For the compiler alone: a bare -mllvm goes to the assembler, too, which loads no plugins and knows
        // none of these options.
        let only = if compiler == Compiler::Flang { "-Xflang" } else { "-Xclang" };
        for option in &options.plugin {
            args.extend([only.into(), "-mllvm".into(), only.into(), option.clone()]);
        }
        if options.remarks {
            args.extend(
                ["-Rpass=pollyrs", "-Rpass-missed=pollyrs", "-Rpass-analysis=pollyrs"].map(OsString::from),
            );
        }
    }
    // flang has no assembler of its own.
    if compiler == Compiler::Flang && (inputs.saves_temps || inputs.kinds.contains(&Kind::Assembler)) {
        args.push("-fno-integrated-as".into());
    }
    args.extend(words.iter().cloned());
    if inputs.phase == Phase::Link && !inputs.kinds.is_empty() {
        link(&mut args, compiler, &inputs, options, install);
    }
    Ok(CommandLine { compiler, args })
}

fn choose(mode: Mode, inputs: &Inputs) -> Result<Compiler, DriverError> {
    let has = |kind| inputs.kinds.contains(&kind);
    match mode {
        // flang compiles nothing but Fortran and clang everything but.
        _ if has(Kind::Fortran) && (has(Kind::C) || has(Kind::Cxx)) => Err(DriverError::MixedFortran),
        Mode::Fortran if has(Kind::C) || has(Kind::Cxx) => Err(DriverError::MixedFortran),
        Mode::Cxx if has(Kind::Fortran) => Err(DriverError::MixedFortran),
        Mode::Fortran => Ok(Compiler::Flang),
        Mode::Cxx => Ok(Compiler::ClangXx),
        Mode::ByInput if has(Kind::Fortran) => Ok(Compiler::Flang),
        // clang++ would take C files for C++; clang compiles each by its own language and `link` adds the C++
        // library.
        Mode::ByInput if has(Kind::Cxx) && !has(Kind::C) => Ok(Compiler::ClangXx),
        Mode::ByInput => Ok(Compiler::Clang),
    }
}

fn link(args: &mut Vec<OsString>, compiler: Compiler, inputs: &Inputs, options: &Options, install: &Install) {
    name_files_after_dashes(args);
    let mut tail = Vec::<OsString>::new();
    // The library is an object whatever -x said about earlier inputs.
    if args.iter().any(|a| a.as_encoded_bytes().starts_with(b"-x")) {
        tail.extend(["-x".into(), "none".into()]);
    }
    if options.shared_runtime {
        // By name, so that a program can be moved together with the library and another rpath.
        if let (Some(dir), Some(name)) = (install.shared_runtime.parent(), install.shared_runtime.file_name())
        {
            tail.push(with_path("-L", dir));
            tail.push(with_path("-l:", Path::new(name)));
            tail.push(with_path("-Wl,-rpath,", dir));
        }
    } else {
        // A Rust library carries functions for complex numbers and integers that the compiler's own library
        // has as well, with other last bits: what the program needs of them comes from there.
        if !args.iter().any(|a| is_rtlib_of_llvm(&a.to_string_lossy())) {
            tail.push("-lgcc".into());
        }
        tail.push(install.static_runtime.clone().into());
        // There is no static libgcc_s; its functions are in libgcc_eh.
        let skip_shared_unwinder = inputs.static_link;
        tail.extend(
            SYSTEM_LIBRARIES
                .iter()
                .map(|l| if skip_shared_unwinder && *l == "-lgcc_s" { "-lgcc_eh" } else { l })
                .map(OsString::from),
        );
    }
    if compiler == Compiler::Clang && inputs.kinds.contains(&Kind::Cxx) {
        tail.extend(["-lstdc++", "-lm"].map(OsString::from));
    }
    args.extend(tail);
}

/// Whether the compiler's own library is LLVM's, which is the one that Rust libraries carry.
fn is_rtlib_of_llvm(word: &str) -> bool {
    matches!(word, "-rtlib=compiler-rt" | "--rtlib=compiler-rt")
}

/// Behind `--` all words are files, and no option can follow: the files get names that are no options.
fn name_files_after_dashes(args: &mut Vec<OsString>) {
    let Some(at) = args.iter().position(|a| a == "--") else { return };
    args.remove(at);
    for word in &mut args[at..] {
        if word.as_encoded_bytes().starts_with(b"-") {
            *word = with_path("./", Path::new(&*word));
        }
    }
}

fn with_path(prefix: &str, path: &Path) -> OsString {
    let mut word = OsString::from(prefix);
    word.push(path);
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(mode: Mode, text: &str) -> Result<String, DriverError> {
        let install = Install {
            plugin: "/p/libpollyrs.so".into(),
            static_runtime: "/p/libpollyrs_rt.a".into(),
            shared_runtime: "/p/libpollyrs_rt.so".into(),
        };
        let words: Vec<OsString> = text.split_whitespace().map(OsString::from).collect();
        let (options, rest) = super::super::options::take(&words)?;
        let line = build(mode, &options, &rest, &install)?;
        let args: Vec<_> = line.args.iter().map(|a| a.to_string_lossy().into_owned()).collect();
        Ok(format!("{} {}", line.compiler.versioned_name(), args.join(" ")).trim().to_owned())
    }

    const LIBS: &str = "-lgcc /p/libpollyrs_rt.a -lgcc_s -lutil -lrt -lpthread -lm -ldl";

    #[test]
    fn compile_and_link() {
        let table = [
            ("-O3 a.c -o a", format!("clang-22 -fpass-plugin=/p/libpollyrs.so -O3 a.c -o a {LIBS}")),
            ("-c a.cpp", "clang++-22 -fpass-plugin=/p/libpollyrs.so -c a.cpp".to_owned()),
            ("-S -emit-llvm a.c", "clang-22 -fpass-plugin=/p/libpollyrs.so -S -emit-llvm a.c".to_owned()),
            ("-c a.f90", "flang-22 -fpass-plugin=/p/libpollyrs.so -c a.f90".to_owned()),
            ("a.ll", format!("clang-22 -fpass-plugin=/p/libpollyrs.so a.ll {LIBS}")),
            ("a.o b.o -o a", format!("clang-22 a.o b.o -o a {LIBS}")),
            ("-shared a.o -o a.so", format!("clang-22 -shared a.o -o a.so {LIBS}")),
            ("-### a.o", format!("clang-22 -### a.o {LIBS}")),
            ("-E a.c", "clang-22 -E a.c".to_owned()),
            ("-fsyntax-only a.c", "clang-22 -fsyntax-only a.c".to_owned()),
            ("-r a.o -o b.o", "clang-22 -r a.o -o b.o".to_owned()),
            ("--version", "clang-22 --version".to_owned()),
            ("", "clang-22".to_owned()),
            ("-c a.s", "clang-22 -c a.s".to_owned()),
            ("-c -x assembler a.t", "clang-22 -c -x assembler a.t".to_owned()),
            ("-c a.s b.c", "clang-22 -fpass-plugin=/p/libpollyrs.so -c a.s b.c".to_owned()),
            (
                "-c a.s b.f90",
                "flang-22 -fpass-plugin=/p/libpollyrs.so -fno-integrated-as -c a.s b.f90".to_owned(),
            ),
            ("-static-pie a.o", format!("clang-22 -static-pie a.o {}", LIBS.replace("-lgcc_s", "-lgcc_eh"))),
            ("-x c a.txt", format!("clang-22 -fpass-plugin=/p/libpollyrs.so -x c a.txt -x none {LIBS}")),
            ("-static a.o", format!("clang-22 -static a.o {}", LIBS.replace("-lgcc_s", "-lgcc_eh"))),
            ("a.c b.cpp", format!("clang-22 -fpass-plugin=/p/libpollyrs.so a.c b.cpp {LIBS} -lstdc++ -lm")),
        ];
        for (text, want) in table {
            assert_eq!(line(Mode::ByInput, text).unwrap(), want, "{text}");
        }
    }

    #[test]
    fn explicit_compilers() {
        assert!(line(Mode::Cxx, "a.c").unwrap().starts_with("clang++-22 -fpass-plugin"));
        assert_eq!(line(Mode::Fortran, "a.o").unwrap(), format!("flang-22 a.o {LIBS}"));
        assert!(line(Mode::Fortran, "a.c").is_err());
        assert!(line(Mode::Cxx, "a.f90").is_err());
        assert!(line(Mode::ByInput, "a.c b.f90").is_err());
    }

    #[test]
    fn driver_options() {
        assert_eq!(
            line(
                Mode::ByInput,
                "--pollyrs-targets=cuda,emulated --pollyrs-remarks --pollyrs-option=tile=8 -c a.c"
            )
            .unwrap(),
            "clang-22 -fpass-plugin=/p/libpollyrs.so -Xclang -mllvm -Xclang -pollyrs-targets=cuda,emulated \
             -Xclang -mllvm -Xclang -pollyrs-tile=8 -Rpass=pollyrs -Rpass-missed=pollyrs -Rpass-analysis=pollyrs -c a.c"
        );
        // Nothing is compiled: options of the plugin would be unknown to a compiler that has not loaded it.
        assert_eq!(
            line(Mode::ByInput, "--pollyrs-targets=cuda --pollyrs-shared-rt a.o").unwrap(),
            "clang-22 a.o -L/p -l:libpollyrs_rt.so -Wl,-rpath,/p"
        );
    }

    #[test]
    fn files_after_two_dashes_stay_files() {
        let got = line(Mode::ByInput, "-o a -- a.c -b.c").unwrap();
        assert_eq!(got, format!("clang-22 -fpass-plugin=/p/libpollyrs.so -o a a.c ./-b.c {LIBS}"));
        assert!(line(Mode::ByInput, "-c -- a.c").unwrap().ends_with("-- a.c"));
    }

    #[test]
    fn functions_of_the_compilers_own_library_come_from_there() {
        let got = line(Mode::ByInput, "--rtlib=compiler-rt a.o").unwrap();
        assert!(!got.contains("-lgcc ") && got.contains(" /p/libpollyrs_rt.a"), "{got}");
    }
}

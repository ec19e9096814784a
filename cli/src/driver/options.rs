//! The driver's own options, taken out of the command line before the compiler sees it.

use super::DriverError;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Printed by `--pollyrs-help`.
pub const HELP: &str = "\
Usage: pollyrs cc|c++|fc [options] [compiler options] FILE...

Runs clang-22, clang++-22 or flang-22 with the pollyrs plugin, and links the run-time library. Everything that is not listed
here goes to the compiler. Loops are offloaded at -O1 and above.

  --pollyrs-targets=LIST          devices to compile kernels for: cuda, emulated, emulated-checked (default: cuda)
  --pollyrs-arch=sm_NN            oldest GPU architecture the kernels have to run on
  --pollyrs-remarks               say what was offloaded, what was not and why
                                  (-Rpass=pollyrs -Rpass-missed=pollyrs -Rpass-analysis=pollyrs)
  --pollyrs-option=NAME=VALUE     any option of the plugin: NAME=VALUE, or NAME alone for a flag
  --pollyrs-tuned=FILE            take the choices that 'pollyrs tune' has written to FILE (also: --tuned FILE)
  --pollyrs-shared-rt             link libpollyrs_rt.so instead of the static library
  --pollyrs-help                  this text
";

/// Those that LLVM 22 has, as `sm_NN`.
const ARCHITECTURES: [u32; 18] =
    [60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121];

/// What the `--pollyrs-…` options ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Options of the plugin, each `-pollyrs-name=value`, in the order given.
    pub plugin: Vec<OsString>,
    /// `--pollyrs-remarks`.
    pub remarks: bool,
    /// `--pollyrs-shared-rt`.
    pub shared_runtime: bool,
    /// `--pollyrs-help`.
    pub help: bool,
}

/// Splits the words into the driver's options and the compiler's words.
pub fn take(words: &[OsString]) -> Result<(Options, Vec<OsString>), DriverError> {
    let mut options = Options::default();
    let mut rest = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--tuned" {
            let file = words.next().filter(|f| !f.is_empty());
            let file = file.ok_or(DriverError::BadValue { option: "--tuned", needs: "a file" })?;
            options.plugin.push(tuned(file));
            continue;
        }
        if let Some(file) = word.as_bytes().strip_prefix(b"--pollyrs-tuned=").filter(|f| !f.is_empty()) {
            options.plugin.push(tuned(OsStr::from_bytes(file)));
            continue;
        }
        if !word.as_bytes().starts_with(b"--pollyrs-") {
            rest.push(word.clone());
            continue;
        }
        let text =
            word.to_str().ok_or_else(|| DriverError::UnknownOption(word.to_string_lossy().into_owned()))?;
        match text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value))) {
            ("--pollyrs-targets", value) => {
                let value =
                    list(value, "--pollyrs-targets", "a list of 'cuda', 'emulated' and 'emulated-checked'")?;
                if value.split(',').any(|t| !["cuda", "emulated", "emulated-checked"].contains(&t)) {
                    return Err(DriverError::BadValue {
                        option: "--pollyrs-targets",
                        needs: "a list of 'cuda', 'emulated' and 'emulated-checked'",
                    });
                }
                options.plugin.push(format!("-pollyrs-targets={value}").into());
            }
            ("--pollyrs-arch", value) => {
                const NEEDS: &str = "an architecture from sm_60 on, such as sm_70 or sm_90";
                let value = list(value, "--pollyrs-arch", NEEDS)?;
                let known = value.strip_prefix("sm_").and_then(|n| n.parse().ok());
                if !known.is_some_and(|n: u32| ARCHITECTURES.contains(&n)) {
                    return Err(DriverError::BadValue { option: "--pollyrs-arch", needs: NEEDS });
                }
                options.plugin.push(format!("-pollyrs-arch={value}").into());
            }
            ("--pollyrs-option", value) => {
                let value = list(value, "--pollyrs-option", "NAME=VALUE")?;
                options.plugin.push(format!("-pollyrs-{value}").into());
            }
            ("--pollyrs-remarks", None) => options.remarks = true,
            ("--pollyrs-shared-rt", None) => options.shared_runtime = true,
            ("--pollyrs-help", None) => options.help = true,
            _ => return Err(DriverError::UnknownOption(text.to_owned())),
        }
    }
    Ok((options, rest))
}

fn tuned(file: &OsStr) -> OsString {
    let mut word = OsString::from("-pollyrs-tuned=");
    word.push(file);
    word
}

fn list<'a>(
    value: Option<&'a str>,
    option: &'static str,
    needs: &'static str,
) -> Result<&'a str, DriverError> {
    value.filter(|v| !v.is_empty()).ok_or(DriverError::BadValue { option, needs })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn options_are_taken_out_and_the_rest_keeps_its_order() {
        let line = "-O3 --pollyrs-targets=cuda,emulated a.c --pollyrs-remarks -o a --pollyrs-arch=sm_80 --pollyrs-option=tile=16,32 \
                    --pollyrs-option=verbose --pollyrs-shared-rt --tuned x.tune";
        let (options, rest) = take(&words(line)).unwrap();
        assert_eq!(rest, words("-O3 a.c -o a"));
        assert_eq!(
            options.plugin,
            words(
                "-pollyrs-targets=cuda,emulated -pollyrs-arch=sm_80 -pollyrs-tile=16,32 -pollyrs-verbose -pollyrs-tuned=x.tune"
            )
        );
        assert!(options.remarks && options.shared_runtime && !options.help);
    }

    #[test]
    fn mistakes_are_errors_not_words_for_the_compiler() {
        for line in [
            "--pollyrs-target=cuda",
            "--pollyrs-targets=",
            "--pollyrs-targets=cuda,opencl",
            "--pollyrs-targets",
            "--pollyrs-option",
            "--pollyrs-arch=hopper",
            "--pollyrs-arch=sm_71",
            "--pollyrs-arch=90",
            "--pollyrs-arch=sm_35",
            "--pollyrs-remarks=yes",
            "--pollyrs-tuned=",
            "a.c --tuned",
        ] {
            assert!(take(&words(line)).is_err(), "{line}");
        }
    }

    #[test]
    fn words_that_are_not_unicode_pass() {
        use std::os::unix::ffi::OsStringExt;
        let word = OsString::from_vec(vec![b'a', 0xff, b'.', b'c']);
        let (_, rest) = take(std::slice::from_ref(&word)).unwrap();
        assert_eq!(rest, [word]);
    }
}

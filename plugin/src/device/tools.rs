//! Where the programs are that the plugin runs.

use inkwell::llvm_sys::core::LLVMContextCreate;
use std::collections::BTreeMap;
use std::ffi::{CStr, OsString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

#[repr(C)]
struct DlInfo {
    file: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

unsafe extern "C" {
    fn dladdr(address: *const c_void, info: *mut DlInfo) -> c_int;
}

/// The executable or library that holds a function.
fn file_of(function: *const c_void) -> Option<PathBuf> {
    let mut info = DlInfo {
        file: std::ptr::null(),
        base: std::ptr::null_mut(),
        symbol: std::ptr::null(),
        address: std::ptr::null_mut(),
    };
    // SAFETY: an address of a function; on success `file` is a NUL-terminated path that lives as long as the
    // library.
    unsafe {
        if dladdr(function, &mut info) == 0 || info.file.is_null() {
            return None;
        }
        Some(PathBuf::from(CStr::from_ptr(info.file).to_string_lossy().into_owned()))
    }
}

/// The folder this plugin was loaded from.
fn plugin_folder() -> Option<PathBuf> {
    Some(file_of(plugin_folder as *const c_void)?.parent()?.to_path_buf())
}

/// The files whose code decides what device code looks like: this plugin, and the LLVM that it runs in.
pub fn makers() -> Option<[PathBuf; 2]> {
    Some([file_of(plugin_folder as *const c_void)?, file_of(LLVMContextCreate as *const c_void)?])
}

/// Words of the host's command line that may set options of LLVM's back end: behind `-mllvm`, of rustc's
/// `llvm-args`, and those of `opt` that name it.
pub fn back_end_options() -> impl Iterator<Item = OsString> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let before = std::iter::once(OsString::new()).chain(words.clone());
    let chosen = |(before, word): &(OsString, OsString)| {
        let text = word.to_string_lossy();
        let ours = text.starts_with("-pollyrs-");
        (before == "-mllvm" && !ours) || text.contains("llvm-args=") || text.contains("nvptx")
    };
    before.zip(words).filter(chosen).map(|(_, word)| word)
}

/// The words of the host's command line that may set options of LLVM. `None`: an option was set that none of
/// them names, so that nobody can tell what it is (in a file of the host's options, by the host itself).
pub fn llvm_options() -> Option<Vec<OsString>> {
    // Ours are options of their own.
    let may = |word: &OsString| {
        let bytes = word.as_encoded_bytes();
        matches!(bytes, [b'-' | b'@', ..]) && !bytes.starts_with(b"-pollyrs-")
    };
    let words: Vec<OsString> = std::env::args_os().skip(1).filter(may).collect();
    let texts: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let told = |option: &String| {
        let name = format!("-{option}");
        texts.iter().any(|text| {
            text.match_indices(&name)
                .any(|(at, _)| matches!(text.as_bytes().get(at + name.len()), None | Some(b'=' | b' ')))
        })
    };
    let in_a_file = texts.iter().any(|text| text.starts_with('@'));
    let mut set =
        pollyrs_llvm_shim::module::set_options().into_iter().filter(|name| !name.starts_with("pollyrs-"));
    set.all(|option| !in_a_file && told(&option)).then_some(words)
}

/// What tests plant in this process, where that is built in.
pub fn plants() -> Vec<OsString> {
    ["POLLYRS_PLANT", "POLLYRS_UNPROVED"]
        .into_iter()
        .map(|name| std::env::var_os(name).unwrap_or_default())
        .collect()
}

/// `ptxas`: what `POLLYRS_PTXAS` names, in `tools/` beside the plugin or in the folders above it, on the
/// path, or of an installed CUDA.
pub fn ptxas() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("POLLYRS_PTXAS") {
        return Some(PathBuf::from(named)).filter(|p| p.is_file());
    }
    let folder = plugin_folder();
    let beside = folder
        .iter()
        .flat_map(|f| f.ancestors().take(4))
        .flat_map(|f| [f.join("tools/ptxas"), f.join("build/tools/ptxas"), f.join("build/tools/bin/ptxas")]);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path: Vec<PathBuf> = std::env::split_paths(&path).map(|p| p.join("ptxas")).collect();
    let installed = [PathBuf::from("/usr/local/cuda/bin/ptxas")];
    beside.chain(on_path).chain(installed).find(|p| p.is_file())
}

/// The release of a ptxas, 13 for 13.0; 0 if it does not say.
pub fn release(ptxas: &Path) -> u32 {
    static KNOWN: Mutex<BTreeMap<PathBuf, u32>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry(ptxas.to_path_buf()).or_insert_with(|| {
        let said = std::process::Command::new(ptxas).arg("--version").output();
        said.ok().and_then(|said| release_in(&String::from_utf8_lossy(&said.stdout))).unwrap_or(0)
    })
}

fn release_in(said: &str) -> Option<u32> {
    let after = said.split_once("release ")?.1;
    after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::release_in;

    #[test]
    fn releases_of_ptxas() {
        let said =
            "ptxas: NVIDIA (R) Ptx optimizing assembler\nCuda compilation tools, release 12.9, V12.9.86\n";
        assert_eq!(release_in(said), Some(12));
        assert_eq!(release_in("Cuda compilation tools, release 13.0, V13.0.88"), Some(13));
        assert_eq!((release_in("release "), release_in("")), (None, None));
    }
}

//! What a run makes of a module, kept from build to build: a module that is compiled again unchanged is not
//! thought through again.
//!
//! # Invariants
//! - The key is everything that a run reads: the module as bitcode, with all functions, types, initialisers,
//!   metadata and its data layout; the options; the content of the file of tuned choices; the plugin, the
//!   LLVM that it runs in, with the options that were set there, `ptxas` and the mathematical library.
//! - Where part of that can't be told (an option of LLVM that no word of the command line names), nothing is
//!   kept or taken.
//! - Where somebody listens to remarks or diagnostics, the run takes place.
//! - What a failure of a moment may have had a part in (`ptxas` that ended with an error, an internal error)
//!   is not kept.
//! - What is taken is what was kept, to the order of uses: the object file is the same, byte for byte.

use crate::base::error::PluginError;
use crate::base::options::Options;
use crate::base::stage::Stage;
use crate::device::tools;
use crate::driver::Done;
use crate::ir;
use pollyrs_cache::{Cache, Key};
use pollyrs_codegen_ptx::{MathLibrary, find_math_library};
use pollyrs_llvm_shim::ir::Module;
use pollyrs_llvm_shim::{module as whole, wants_remarks};
use std::path::PathBuf;

/// Behind what is kept: the module stayed as it was, and nothing else is there; or it became the bitcode in
/// front.
const SAME: u8 = 0;
const CHANGED: u8 = 1;

/// Takes the outcome of `run` over the module from the cache, or runs it and keeps what it did. Returns
/// whether the module changed.
///
/// # Errors
/// Those of the run.
pub fn taken_or_made(
    module: Module,
    (stage, options): (Stage, &Options),
    run: impl FnOnce() -> Result<Done, PluginError>,
) -> Result<bool, PluginError> {
    let place = if stage == Stage::Run { place(module, options) } else { None };
    let Some((cache, key)) = place else { return run().map(|done| done.changed) };
    let kept = cache.get(&key);
    let taken = kept.as_deref().and_then(<[u8]>::split_last).and_then(|kept| match kept {
        (&SAME, []) => Some(false),
        // SAFETY: nobody has handles of the module's parts yet.
        (&CHANGED, bitcode) => unsafe { whole::replace(module, bitcode) }.then_some(true),
        _ => None,
    });
    if let Some(changed) = taken {
        return Ok(changed);
    }
    let done = run()?;
    if done.lasting {
        let mut content = if done.changed { whole::bitcode(module, true) } else { Vec::new() };
        content.push(if done.changed { CHANGED } else { SAME });
        cache.put(&key, &content);
    }
    Ok(done.changed)
}

/// Where the outcome is kept; `None`: nowhere.
fn place(module: Module, options: &Options) -> Option<(Cache, Key)> {
    let cache = options.cache()?;
    let told = options.verbose
        || options.verify
        || options.show_tiles
        || options.show_choices
        || options.time
        || options.stats
        || options.log.is_some()
        || options.remark_file.is_some();
    // The answer is the same for all functions of a context.
    if told || ir::functions(module).first().is_none_or(|f| wants_remarks(*f)) {
        return None;
    }
    Some((cache, key(module, options)?))
}

fn key(module: Module, options: &Options) -> Option<Key> {
    let [plugin, llvm] = tools::makers()?;
    let key = Key::new("outcome").with_file(&plugin).with_file(&llvm);
    let key = tools::llvm_options()?.iter().fold(key, |key, word| key.with(word.as_encoded_bytes()));
    let ptxas = tools::ptxas();
    let home = std::env::var_os("CUDA_HOME").map(PathBuf::from);
    let library = find_math_library(home.as_deref(), ptxas.as_deref()).map(|library| match library {
        MathLibrary::Libdevice(path) | MathLibrary::Libclc(path) => path,
    });
    let key = [ptxas, library].into_iter().fold(key, |key, file| match file {
        Some(path) => key.with_file(&path),
        None => key.with(b"none"),
    });
    // Where it is kept, and how much of that there may be, is no part of it.
    let options = Options { cache: String::new(), cache_size: None, ..options.clone() };
    let tuned = match &options.tuned {
        Some(path) => std::fs::read(path).ok()?,
        None => Vec::new(),
    };
    let key = key.with(format!("{options:?}").as_bytes()).with(&tuned);
    let key = tools::plants().iter().fold(key, |key, word| key.with(word.as_encoded_bytes()));
    Some(key.with(module.name().as_bytes()).with(&whole::bitcode(module, false)))
}

//! How LLVM finds the plugin and calls its passes.

use crate::base::error::PluginError;
use crate::base::options::{self, Contract, Options};
use crate::base::stage::Stage;
use crate::driver::{self, Done};
use crate::outcome;
use crate::prepare::contract;
use crate::selftest::{self, Size};
use crate::switches;
use pollyrs_llvm_shim::ir::Module;
use pollyrs_llvm_shim::{RegisteredPass, emit_error, emit_warning, register_passes};
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// The index is the stage number that C++ passes back.
const PASSES: [(&CStr, Stage); 14] = [
    (c"pollyrs", Stage::Run),
    (c"print<pollyrs-detect>", Stage::Detect),
    (c"print<pollyrs-scop>", Stage::Scop),
    (c"print<pollyrs-deps>", Stage::Deps),
    (c"print<pollyrs-schedule>", Stage::Schedule),
    (c"print<pollyrs-mapping>", Stage::Mapping),
    (c"print<pollyrs-kernel>", Stage::Kernel),
    (c"print<pollyrs-ptx>", Stage::Ptx),
    (c"print<pollyrs-host>", Stage::Host),
    (c"pollyrs-canonicalise", Stage::Canonicalise),
    (c"pollyrs-test-version", Stage::TestVersion),
    (c"pollyrs-test-version-largest", Stage::TestVersionLargest),
    (c"pollyrs-test-version-innermost", Stage::TestVersionInnermost),
    (c"pollyrs-unoptimized", Stage::Unoptimized),
];

/// `llvm::PassPluginLibraryInfo` of plugin API 2 (LLVM 22, `llvm/Plugins/PassPlugin.h`): 40 bytes, returned
/// by value.
#[repr(C)]
pub struct PassPluginLibraryInfo {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: extern "C" fn(*mut c_void),
    /// `PreCodeGenCallback`, which we don't use.
    pre_codegen: *const c_void,
}

const PLUGIN_API_VERSION: u32 = 2;
/// Bytes of a pointer, whatever the triple says: a module may have a data layout of its own.
const HOST_POINTER: u32 = 8;
const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(v) => v,
    Err(_) => c"",
};

/// The symbol that hosts look up. Defined in Rust: a cdylib's version script hides symbols of C++ objects.
#[unsafe(no_mangle)]
#[allow(non_snake_case)] // LLVM's name
pub extern "C" fn llvmGetPassPluginInfo() -> PassPluginLibraryInfo {
    PassPluginLibraryInfo {
        api_version: PLUGIN_API_VERSION,
        name: c"pollyrs".as_ptr(),
        version: VERSION.as_ptr(),
        register,
        pre_codegen: std::ptr::null(),
    }
}

extern "C" fn register(pass_builder: *mut c_void) {
    let passes: Vec<RegisteredPass> = PASSES
        .iter()
        .zip(0..)
        .map(|(&(name, stage), number)| RegisteredPass {
            name,
            stage: number,
            pipeline_start: stage == Stage::Run,
            unoptimized: stage == Stage::Unoptimized,
        })
        .collect();
    // SAFETY: the host hands its pass builder to this callback.
    unsafe { register_passes(pass_builder, &passes, run_stage) }
}

/// Called by the pass manager; returns whether the module changed.
extern "C" fn run_stage(module: Module, number: u32, parameters: *const u8, len: usize) -> bool {
    let run = || {
        let Some(&(_, stage)) = PASSES.get(number as usize) else { return Ok(false) };
        let bytes = if len == 0 {
            &[]
        } else {
            // SAFETY: C++ passes the parameter text, alive during the call.
            unsafe { std::slice::from_raw_parts(parameters, len) }
        };
        run_in_module(module, stage, &String::from_utf8_lossy(bytes))
    };
    // The module is reached through raw handles only; the driver's session erases working copies when it is
    // unwound.
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(changed)) => changed,
        Ok(Err(e)) => {
            emit_error(module.context(), &format!("pollyrs: {e}"));
            false
        }
        // The panic hook has printed the message. Nothing is known about what changed.
        Err(_) => true,
    }
}

fn run_in_module(module: Module, stage: Stage, parameters: &str) -> Result<bool, PluginError> {
    let options = Options::collect(parameters)?;
    if options.disable || !is_host_triple(&module.target()) || module.pointer_size() != HOST_POINTER {
        return Ok(false);
    }
    warn(module, &options);
    if stage == Stage::Unoptimized {
        driver::say_unoptimized(module, &options)?;
        return Ok(false);
    }
    outcome::taken_or_made(module, (stage, &options), || {
        let fuses = options.contract != Contract::Late;
        if fuses {
            contract::expressions(module);
        }
        let done = match stage {
            _ if options.contract == Contract::Only => Done::plain(true),
            Stage::TestVersion => Done::plain(selftest::version_loop_regions(module, Size::Smallest)?),
            Stage::TestVersionLargest => Done::plain(selftest::version_loop_regions(module, Size::Largest)?),
            Stage::TestVersionInnermost => {
                Done::plain(selftest::version_loop_regions(module, Size::Innermost)?)
            }
            _ => driver::run(module, stage, &options)?,
        };
        Ok(Done { changed: done.changed | fuses, ..done })
    })
}

/// Tells of settings that mean nothing: those of the process once.
fn warn(module: Module, options: &Options) {
    static SAID: Once = Once::new();
    let mut texts = switches::unmatched(module, options);
    SAID.call_once(|| {
        let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
        texts.extend(options::unknown_variables(names));
    });
    for text in texts {
        emit_warning(module.context(), &format!("pollyrs: {text}"));
    }
}

/// Whether code for `triple` runs where our runtime does: on 64-bit x86 or ARM with 64-bit pointers, under
/// Linux. A module without a triple, as tests have, is the host's.
fn is_host_triple(triple: &str) -> bool {
    let mut parts = triple.split('-');
    let arch = parts.next().unwrap_or_default();
    let narrow = triple.ends_with("x32") || triple.ends_with("_ilp32");
    let is_host = matches!(arch, "x86_64" | "aarch64" | "arm64") && !narrow && parts.any(|p| p == "linux");
    triple.is_empty() || is_host
}

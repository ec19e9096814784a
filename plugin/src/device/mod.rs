//! The device code of a SCoP's kernels, made beside the search.

pub mod assembler;
pub mod tools;

use crate::base::options::{CubinMode, Options};
use crate::base::timing::Phase;
use crate::device::assembler::{Assembler, Assembling, CubinJob, Job, Text};
use pollyrs_codegen_ptx as codegen;

/// Cubins are made for this architecture unless told otherwise: Hopper, where the project measures.
const DEFAULT_CUBIN_ARCH: u32 = 90;

/// Starts on the device code for the targets asked for. `None`: none is asked for.
///
/// # Errors
/// What user code can cause, and nothing later: see [`codegen::prepare_ptx`].
pub fn device_code(
    kernels: &codegen::KernelModule,
    options: &Options,
    assembler: &Assembler,
) -> Result<Option<Assembling>, codegen::CodegenError> {
    if !options.targets.cuda {
        return Ok(None);
    }
    let module_for = |arch: u32| {
        let ptx_options = codegen::PtxOptions { arch, ptxas: tools::ptxas(), ..Default::default() };
        Phase::Device.time(|| codegen::prepare_ptx(kernels, &ptx_options))
    };
    let later = kernels.generations().iter().copied().filter(|g| *g > options.arch);
    let texts = std::iter::once(options.arch).chain(later);
    let texts = texts.map(|arch| Ok(Text { arch, module: module_for(arch)? }));
    let texts = texts.collect::<Result<Vec<_>, codegen::CodegenError>>()?;
    let cubin = cubin(options, assembler, &texts);
    Ok(Some(assembler.start(Job { texts, cubin })))
}

/// The cubin that is to be made of one of these texts, or why none is.
fn cubin(options: &Options, assembler: &Assembler, texts: &[Text]) -> Result<CubinJob, String> {
    let arch = match options.cubin {
        CubinMode::Off => return Err("cubin=off".into()),
        CubinMode::Auto => DEFAULT_CUBIN_ARCH.max(options.arch),
        CubinMode::Arch(arch) => arch,
    };
    let ptxas = tools::ptxas().ok_or("no ptxas was found")?;
    let text = texts.iter().rposition(|t| t.arch <= arch).unwrap_or(0);
    // An architecture that is asked for is always there.
    if options.cubin == CubinMode::Auto && !assembler.admits(&texts[text].module) {
        return Err("ptxas gets no more code of this file".into());
    }
    Ok(CubinJob { ptxas, arch, text })
}

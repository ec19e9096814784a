//! The device code of a SCoP's kernels, made beside the search.

pub mod assembler;
pub mod tools;

use crate::base::options::{CubinMode, Options, Tiles};
use crate::base::timing::Phase;
use crate::device::assembler::{Assembler, Assembling, CubinJob, Early, Job, Text};
use pollyrs_codegen_ptx as codegen;

/// Cubins are made for this architecture unless told otherwise: Hopper, where the project measures.
const DEFAULT_CUBIN_ARCH: u32 = 90;

/// Modules with less bitcode than this have no late kernels: the driver's compiler would save less than it
/// costs.
const CHEAP: usize = 24 << 10;

/// Whether the expensive variants of the next SCoP are to be late.
pub fn are_late(options: &Options, assembler: &Assembler) -> bool {
    match options.tiles {
        Tiles::Now => false,
        Tiles::Late => true,
        Tiles::Auto => options.cubin == CubinMode::Auto && !assembler.has_time(),
    }
}

/// Starts on the device code for the targets asked for. `None`: none is asked for.
///
/// # Errors
/// What user code can cause, and nothing later: see [`codegen::prepare_ptx`].
pub fn device_code(
    kernels: &mut codegen::KernelModule,
    options: &Options,
    assembler: &Assembler,
) -> Result<Option<Assembling>, codegen::CodegenError> {
    if !options.targets.cuda {
        return Ok(None);
    }
    let ptx_options = |arch: u32| codegen::PtxOptions { arch, ptxas: tools::ptxas(), ..Default::default() };
    let module_for = |arch: u32| Phase::Device.time(|| codegen::prepare_ptx(kernels, &ptx_options(arch)));
    let later = kernels.generations().iter().copied().filter(|g| *g > options.arch);
    let texts = std::iter::once(options.arch).chain(later);
    let texts = texts.map(|arch| Ok(Text { arch, module: module_for(arch)? }));
    let texts = texts.collect::<Result<Vec<_>, codegen::CodegenError>>()?;
    let (arch, ptxas) = (DEFAULT_CUBIN_ARCH.max(options.arch), tools::ptxas());
    let ptxas = ptxas.filter(|_| options.cubin == CubinMode::Auto);
    let size = texts.iter().map(|t| t.module.size()).max().unwrap_or(0);
    if size < CHEAP || (ptxas.is_none() && options.tiles == Tiles::Auto) {
        kernels.clear_late();
    }
    let early = match ptxas.filter(|_| kernels.has_late()) {
        Some(ptxas) => {
            let module = texts.iter().rev().find(|t| t.arch <= arch).map_or(options.arch, |t| t.arch);
            let module = Phase::Device.time(|| codegen::prepare_early_ptx(kernels, &ptx_options(module)))?;
            Some(Early { module, ptxas, arch })
        }
        None => None,
    };
    if let Some((known, names)) = assembler.known(&texts, early.as_ref()) {
        kernels.take_code_of(&names);
        return Ok(Some(known));
    }
    let cubin = match &early {
        Some(_) => Err("tiles are late".into()),
        None => cubin(options, assembler, &texts),
    };
    if cubin.is_ok() && size >= CHEAP {
        assembler.spend(size);
    }
    Ok(Some(assembler.start(Job { texts, cubin, early }, kernels.names())))
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

//! Kernels with the same code: one function for all of them.
//!
//! `E = A B; F = C D; G = E F` has three products of matrices, each with tiles in two shapes: nine kernels of
//! which three differ, in what their arguments are called. A descriptor has arguments of its own, so that
//! several may name one function; LLVM and `ptxas` then see it once.
//!
//! # Invariants
//! - Functions are the same if their text is, with parameters numbered, names of arrays for reports left out;
//!   whatever a launch of the one needs the other one needs, too.
//! - Reports of the checked emulated device name arrays of the kernel that was built: sharing is for other
//!   targets.

use crate::ir::builder::SITE;
use crate::ir::llvm::*;
use crate::kernel::module::{KernelInfo, KernelModule};
use inkwell::llvm_sys::LLVMOpcode;
use std::cell::OnceCell;

impl KernelModule {
    /// Lets kernels with the same code share a function.
    pub fn share(&mut self) {
        // With their text once it is asked for: printing takes LLVM longer than building them took.
        let mut kept: Vec<(usize, Vec<LLVMOpcode>, OnceCell<String>)> = Vec::new();
        for at in 0..self.kernels.len() {
            let Some(f) = self.module().function(&self.kernels[at].name) else { continue };
            let like = |other: &KernelInfo| same_launch(other, &self.kernels[at]);
            if !self.kernels.iter().enumerate().any(|(i, other)| i != at && like(other)) {
                continue;
            }
            let opcodes: Vec<_> = f.instructions().into_iter().map(Value::opcode).collect();
            let code = OnceCell::new();
            let same = |(i, others, other): &&(usize, Vec<LLVMOpcode>, OnceCell<String>)| {
                let kept = &self.kernels[*i];
                like(kept)
                    && *others == opcodes
                    && self
                        .module()
                        .function(&kept.name)
                        .is_some_and(|k| other.get_or_init(|| text(k)) == code.get_or_init(|| text(f)))
            };
            match kept.iter().find(same) {
                Some((i, ..)) => {
                    self.kernels[at].name = self.kernels[*i].name.clone();
                    // SAFETY: a kernel, which nothing calls; its descriptor names another function now.
                    unsafe { f.delete_function() };
                }
                None => kept.push((at, opcodes, code)),
            }
        }
    }
}

/// Whether two kernels are launched alike.
fn same_launch(a: &KernelInfo, b: &KernelInfo) -> bool {
    a.arrays.len() == b.arrays.len()
        && a.scalars.len() == b.scalars.len()
        && a.block == b.block
        && a.has_barrier == b.has_barrier
        && a.shared_bytes == b.shared_bytes
        && a.plain_shared_bytes == b.plain_shared_bytes
        && a.exchange_bytes == b.exchange_bytes
}

/// A function's text from its parameters on, with these numbered, and without the metadata of reports.
fn text(function: Value) -> String {
    // Parameters get their names back.
    let parameters = function.params();
    let names: Vec<_> = parameters.iter().map(|p| p.name()).collect();
    for (i, p) in parameters.iter().enumerate() {
        p.set_name(&format!("pollyrs.parameter.{i}"));
    }
    let text = function.text();
    for (p, name) in parameters.into_iter().zip(names) {
        p.set_name(&name);
    }
    let mark = format!(", !{SITE} !");
    let own = format!("@{}(", function.name());
    let mut out = String::with_capacity(text.len());
    // Nothing else has the name: a kernel does not call itself.
    let mut rest = match text.split_once(&own) {
        Some((before, rest)) => {
            out += before;
            out += "@(";
            rest
        }
        None => text.as_str(),
    };
    while let Some((before, site)) = rest.split_once(&mark) {
        out += before;
        rest = site.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    out + rest
}

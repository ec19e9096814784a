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
use crate::ir::calls::find_function;
use crate::ir::llvm::{instructions, name_of, opcode, take_message};
use crate::kernel::module::{KernelInfo, KernelModule};
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use std::cell::OnceCell;

impl KernelModule {
    /// Lets kernels with the same code share a function.
    pub fn share(&mut self) {
        // With their text once it is asked for: printing takes LLVM longer than building them took.
        let mut kept: Vec<(usize, Vec<LLVMOpcode>, OnceCell<String>)> = Vec::new();
        for at in 0..self.kernels.len() {
            let Some(f) = find_function(self.module(), &self.kernels[at].name) else { continue };
            let like = |other: &KernelInfo| same_launch(other, &self.kernels[at]);
            if !self.kernels.iter().enumerate().any(|(i, other)| i != at && like(other)) {
                continue;
            }
            let opcodes: Vec<_> = instructions(f).into_iter().map(opcode).collect();
            let code = OnceCell::new();
            let same = |(i, others, other): &&(usize, Vec<LLVMOpcode>, OnceCell<String>)| {
                let kept = &self.kernels[*i];
                like(kept)
                    && *others == opcodes
                    && find_function(self.module(), &kept.name)
                        .is_some_and(|k| other.get_or_init(|| text(k)) == code.get_or_init(|| text(f)))
            };
            match kept.iter().find(same) {
                Some((i, ..)) => {
                    self.kernels[at].name = self.kernels[*i].name.clone();
                    // SAFETY: a kernel, which nothing calls; its descriptor names another function now.
                    unsafe { LLVMDeleteFunction(f) };
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
fn text(function: LLVMValueRef) -> String {
    // SAFETY: a live function, whose parameters get their names back.
    let text = unsafe {
        let parameters: Vec<_> = (0..LLVMCountParams(function)).map(|i| LLVMGetParam(function, i)).collect();
        let names: Vec<_> = parameters.iter().map(|p| name_of(*p)).collect();
        let rename = |p: LLVMValueRef, name: &str| LLVMSetValueName2(p, name.as_ptr().cast(), name.len());
        for (i, p) in parameters.iter().enumerate() {
            rename(*p, &format!("pollyrs.parameter.{i}"));
        }
        let text = take_message(LLVMPrintValueToString(function));
        for (p, name) in parameters.into_iter().zip(names) {
            rename(p, &name);
        }
        text
    };
    let mark = format!(", !{SITE} !");
    let own = format!("@{}(", name_of(function));
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

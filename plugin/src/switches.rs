//! What the program's source and the options switch off or on: functions and loops.
//!
//! A function has `__attribute__((annotate("pollyrs: off")))` or `("pollyrs: on")`, which clang puts into
//! `llvm.global.annotations`. A loop has a pragma that says nothing else on a CPU, or a property of its own
//! where a front end can write one:
//!
//! | | in C and C++ | property of `llvm.loop` |
//! |---|---|---|
//! | off | `#pragma clang loop pipeline(disable)` | `pollyrs.off`, `llvm.loop.pipeline.disable` |
//! | on | `#pragma clang loop pipeline_initiation_interval(1)` | `pollyrs.on`, `llvm.loop.pipeline.initiationinterval` |
//!
//! `off`: nothing of it runs on a device, also where it was inlined. `on`: it is not too small
//! ([`crate::search::worth`]). `pollyrs.h` has macros for all.
//!
//! The option `only-function` takes names or patterns with `*`, `ignore-function` as well; the latter is
//! stronger.

use crate::base::options::Options;
use crate::base::patterns::stands_for;
use crate::ir::instructions;
use crate::ir::{functions, name_of};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use std::collections::BTreeMap;
use std::ffi::c_uint;

/// Patterns of the options that no function of the module has, as texts for warnings.
pub fn unmatched(module: LLVMModuleRef, options: &Options) -> Vec<String> {
    let names: Vec<String> = functions(module).into_iter().map(name_of).collect();
    let lists = [
        ("only-function", options.only_function.as_ref()),
        ("ignore-function", Some(&options.ignore_function)),
    ];
    let mut texts = Vec::new();
    for (option, list) in lists {
        for pattern in list.iter().flat_map(|l| &l.0) {
            if !names.iter().any(|name| stands_for(pattern.as_bytes(), name.as_bytes())) {
                texts.push(format!("option '{option}': no function of this file is named '{pattern}'"));
            }
        }
    }
    texts
}

/// Off or on; off comes first.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Switch {
    Off,
    On,
}

/// The functions that the source or the options switch.
#[derive(Debug, Default)]
pub struct Switches(BTreeMap<usize, Switch>);

impl Switches {
    /// Of a module.
    pub fn of(module: LLVMModuleRef, options: &Options) -> Switches {
        let mut found = BTreeMap::new();
        for (f, text) in annotations(module) {
            let switch = match text.trim().strip_prefix("pollyrs:").map(str::trim) {
                Some("off") => Switch::Off,
                Some("on") => Switch::On,
                _ => continue,
            };
            found.insert(f as usize, switch);
        }
        for f in functions(module) {
            if options.ignore_function.matches(&name_of(f)) {
                found.insert(f as usize, Switch::Off);
            }
        }
        Switches(found)
    }

    /// What is said of a function.
    pub fn function(&self, f: LLVMValueRef) -> Option<Switch> {
        self.0.get(&(f as usize)).copied()
    }

    /// Functions that are off are not inlined for the analysis until the returned value is gone.
    pub fn keep_apart(&self, module: LLVMModuleRef) -> KeptApart {
        let off = functions(module).into_iter().filter(|f| self.function(*f) == Some(Switch::Off));
        // SAFETY: live functions; the name lives through the call.
        let kind = unsafe { LLVMGetEnumAttributeKindForName(NOINLINE.as_ptr().cast(), NOINLINE.len()) };
        let mut marked = Vec::new();
        for f in off.filter(|f| !has(*f, NOINLINE) && !has(*f, "alwaysinline")) {
            // SAFETY: a live function of this context.
            unsafe {
                let attribute = LLVMCreateEnumAttribute(LLVMGetModuleContext(module), kind, 0);
                LLVMAddAttributeAtIndex(f, inkwell::llvm_sys::LLVMAttributeFunctionIndex, attribute);
            }
            marked.push(f);
        }
        KeptApart { kind, marked }
    }
}

const NOINLINE: &str = "noinline";

fn has(f: LLVMValueRef, attribute: &str) -> bool {
    // SAFETY: a live function; the name lives through the call.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(attribute.as_ptr().cast(), attribute.len());
        !LLVMGetEnumAttributeAtIndex(f, inkwell::llvm_sys::LLVMAttributeFunctionIndex, kind).is_null()
    }
}

/// See [`Switches::keep_apart`].
pub struct KeptApart {
    kind: c_uint,
    marked: Vec<LLVMValueRef>,
}

impl Drop for KeptApart {
    fn drop(&mut self) {
        for f in &self.marked {
            // SAFETY: functions that are off are neither rewritten nor erased, so they live as long as the
            // module.
            unsafe {
                LLVMRemoveEnumAttributeAtIndex(*f, inkwell::llvm_sys::LLVMAttributeFunctionIndex, self.kind)
            }
        }
    }
}

/// Functions with the texts that clang annotates them with.
fn annotations(module: LLVMModuleRef) -> Vec<(LLVMValueRef, String)> {
    // SAFETY: a live module; constants are looked into only after their kind was asked for.
    unsafe {
        let global = LLVMGetNamedGlobal(module, c"llvm.global.annotations".as_ptr());
        if global.is_null() || LLVMGetInitializer(global).is_null() {
            return Vec::new();
        }
        let list = LLVMGetInitializer(global);
        let entries = (0..LLVMGetNumOperands(list).max(0) as c_uint).map(|i| LLVMGetOperand(list, i));
        let pairs = entries.filter(|e| LLVMGetNumOperands(*e) >= 2);
        let pairs = pairs.map(|e| (LLVMGetOperand(e, 0), LLVMGetOperand(e, 1)));
        pairs
            .filter(|(f, _)| !LLVMIsAFunction(*f).is_null())
            .filter_map(|(f, text)| Some((f, text_of(text)?)))
            .collect()
    }
}

/// The text of a constant string's global, without its NUL.
unsafe fn text_of(global: LLVMValueRef) -> Option<String> {
    // SAFETY: the caller's promise of a live constant; LLVM returns pointer and length of the text.
    unsafe {
        if LLVMIsAGlobalVariable(global).is_null() {
            return None;
        }
        let data = LLVMGetInitializer(global);
        if data.is_null() || LLVMIsAConstantDataArray(data).is_null() || LLVMIsConstantString(data) == 0 {
            return None;
        }
        let mut len = 0;
        let p = LLVMGetAsString(data, &mut len);
        let bytes = std::slice::from_raw_parts(p.cast::<u8>(), len);
        Some(String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned())
    }
}

/// What is said of the loop whose latch a block is.
pub fn of_latch(block: LLVMBasicBlockRef) -> Option<Switch> {
    // SAFETY: a live block; metadata is looked into only after its kind was asked for.
    unsafe {
        let end = LLVMGetBasicBlockTerminator(block);
        if end.is_null() {
            return None;
        }
        let context = LLVMGetModuleContext(LLVMGetGlobalParent(LLVMGetBasicBlockParent(block)));
        let properties = LLVMGetMetadata(
            end,
            LLVMGetMDKindIDInContext(context, c"llvm.loop".as_ptr(), "llvm.loop".len() as c_uint),
        );
        if properties.is_null() {
            return None;
        }
        let names: Vec<String> = operands(properties)
            .into_iter()
            .filter(|p| *p != properties && !LLVMIsAMDNode(*p).is_null())
            .filter_map(|p| name_of_property(*operands(p).first()?))
            .collect();
        let any = |known: [&str; 2]| names.iter().any(|name| known.contains(&name.as_str()));
        if any(["pollyrs.off", "llvm.loop.pipeline.disable"]) {
            Some(Switch::Off)
        } else if any(["pollyrs.on", "llvm.loop.pipeline.initiationinterval"]) {
            Some(Switch::On)
        } else {
            None
        }
    }
}

unsafe fn operands(node: LLVMValueRef) -> Vec<LLVMValueRef> {
    // SAFETY: the caller's promise of a live metadata node; room for all operands.
    unsafe {
        let mut all = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
        LLVMGetMDNodeOperands(node, all.as_mut_ptr());
        all.retain(|operand| !operand.is_null());
        all
    }
}

unsafe fn name_of_property(v: LLVMValueRef) -> Option<String> {
    // SAFETY: the caller's promise of a live value; LLVM returns pointer and length of a string's text.
    unsafe {
        if LLVMIsAMDString(v).is_null() {
            return None;
        }
        let mut len = 0;
        let p = LLVMGetMDString(v, &mut len);
        Some(String::from_utf8_lossy(std::slice::from_raw_parts(p.cast::<u8>(), len as usize)).into_owned())
    }
}

/// Whether a loop of `f` is on.
pub fn has_loop_that_is_on(f: LLVMValueRef) -> bool {
    // SAFETY: a live function and its blocks.
    unsafe {
        let mut block = LLVMGetFirstBasicBlock(f);
        while !block.is_null() {
            if !instructions(block).is_empty() && of_latch(block) == Some(Switch::On) {
                return true;
            }
            block = LLVMGetNextBasicBlock(block);
        }
    }
    false
}

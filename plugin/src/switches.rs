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
use crate::ir::functions;
use pollyrs_llvm_shim::ir::{Block, FUNCTION, Module, Value};
use std::collections::BTreeMap;

/// Patterns of the options that no function of the module has, as texts for warnings.
pub fn unmatched(module: Module, options: &Options) -> Vec<String> {
    let names: Vec<String> = functions(module).into_iter().map(Value::name).collect();
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
pub struct Switches(BTreeMap<Value, Switch>);

impl Switches {
    /// Of a module.
    pub fn of(module: Module, options: &Options) -> Switches {
        let mut found = BTreeMap::new();
        for (f, text) in annotations(module) {
            let switch = match text.trim().strip_prefix("pollyrs:").map(str::trim) {
                Some("off") => Switch::Off,
                Some("on") => Switch::On,
                _ => continue,
            };
            found.insert(f, switch);
        }
        for f in functions(module) {
            if options.ignore_function.matches(&f.name()) {
                found.insert(f, Switch::Off);
            }
        }
        Switches(found)
    }

    /// What is said of a function.
    pub fn function(&self, f: Value) -> Option<Switch> {
        self.0.get(&f).copied()
    }

    /// Functions that are off are not inlined for the analysis until the returned value is gone.
    pub fn keep_apart(&self, module: Module) -> KeptApart {
        let off = functions(module).into_iter().filter(|f| self.function(*f) == Some(Switch::Off));
        let marked: Vec<Value> = off.filter(|f| !has(*f, NOINLINE) && !has(*f, "alwaysinline")).collect();
        marked.iter().for_each(|f| f.add_attribute(FUNCTION, NOINLINE, 0));
        KeptApart(marked)
    }
}

const NOINLINE: &str = "noinline";

fn has(f: Value, attribute: &str) -> bool {
    f.attribute(FUNCTION, attribute).is_some()
}

/// See [`Switches::keep_apart`]. Functions that are off are neither rewritten nor erased.
pub struct KeptApart(Vec<Value>);

impl Drop for KeptApart {
    fn drop(&mut self) {
        self.0.iter().for_each(|f| f.remove_attribute(FUNCTION, NOINLINE));
    }
}

/// Functions with the texts that clang annotates them with.
fn annotations(module: Module) -> Vec<(Value, String)> {
    let Some(list) = module.global("llvm.global.annotations").and_then(Value::initializer) else {
        return Vec::new();
    };
    let entries = list.operands().into_iter().filter(|e| e.operand_count() >= 2);
    let pairs = entries.map(|e| (e.operand(0), e.operand(1))).filter(|(f, _)| f.is_function());
    pairs.filter_map(|(f, text)| Some((f, text_of(text)?))).collect()
}

/// The text of a constant string's global, without its NUL.
fn text_of(global: Value) -> Option<String> {
    let text = global.is_variable().then(|| global.initializer())??.constant_text()?;
    Some(text.trim_end_matches('\0').to_owned())
}

/// What is said of the loop whose latch a block is.
pub fn of_latch(block: Block) -> Option<Switch> {
    let end = block.terminator()?;
    let properties = end.metadata(end.context().kind("llvm.loop"))?;
    let names: Vec<String> = properties
        .node_operands()
        .into_iter()
        .flatten()
        .filter(|p| *p != properties)
        .filter_map(|p| (*p.node_operands().first()?)?.node_text())
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

/// Whether a loop of `f` is on.
pub fn has_loop_that_is_on(f: Value) -> bool {
    f.blocks().into_iter().any(|block| of_latch(block) == Some(Switch::On))
}

//! The program of the unit tests: the modules of the plugin, linked with LLVM, which the plugin itself has
//! from its host.

mod base;
mod commit;
mod compiled;
mod details;
mod device;
mod driver;
mod entry;
mod ir;
mod outcome;
mod pipeline;
mod prepare;
mod remarks;
mod residency;
mod run;
mod search;
mod selftest;
mod switches;
mod testing;

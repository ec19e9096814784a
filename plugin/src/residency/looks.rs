//! Loads and stores that say which bytes they access.
//!
//! Problem: `if (a[k][k] == 0) return;` between two SCoPs that share `a` would bring all of `a` back in each
//! iteration. The load says which bytes it reads, so that the run-time library can bring these alone
//! (`pollyrs_rt_access`). `piv[k] = p` may be to `a` by all that is known when it is compiled, and is not:
//! the store says where it goes, and all of `a` stays.
//!
//! ```text
//! S1: a = f(a)                  begin_held(a: object 0)
//! if (a[k][k] == 0) break;      access(&a[k][k], 8, 0) before the load
//! piv[k] = p;                   access(&piv[k], 4, object 0) before the store
//! S2: a = g(a)                  begin_held(a)
//! ```
//!
//! What a block releases anyway it does not look at: the release moves up to the first such access of its
//! part.

use crate::residency::END;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::{LLVMGetModuleDataLayout, LLVMStoreSizeOfType};
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMOpcode, LLVMTypeKind};
use pollyrs_codegen_ptx::Release;
use std::collections::BTreeMap;

/// A part of a block: its number, and that of the part of it.
type Key = (usize, usize);

/// Looks of a part, each of which waits for the device; more of them are one release.
const MOST: usize = 4;

/// The releases of a function, while its instructions are gone through in order.
#[derive(Default)]
pub struct Found {
    releases: BTreeMap<Key, Release>,
    looks: BTreeMap<Key, Vec<Look>>,
}

struct Look {
    release: Release,
    /// The part's release is behind it.
    first: bool,
}

impl Found {
    /// One release serves a part.
    pub fn add(&mut self, key: Key, release: Release) {
        let known = self.releases.entry(key).or_insert(release);
        known.read |= release.read;
        known.write |= release.write;
    }

    /// Before an access for which [`is_look`] holds.
    pub fn look(&mut self, key: Key, release: Release) {
        let first = !self.releases.contains_key(&key);
        self.looks.entry(key).or_default().push(Look { release, first });
    }

    /// In block order.
    pub fn releases(self) -> Vec<Release> {
        let Found { mut releases, looks } = self;
        let mut found: Vec<(Key, Release)> = Vec::new();
        for (key, looks) in looks {
            // Where nothing stays behind the block, everything comes back at once.
            let leaves = releases.get(&(key.0, END)).is_some_and(Release::leaves);
            let all = leaves || looks.len() > MOST;
            let mut moved = false;
            for Look { release: look, first } in looks {
                let known = releases.get_mut(&key);
                let serves = |r: &Release| {
                    (r.read | r.write) & look.read == look.read && r.write & look.write == look.write
                };
                match known {
                    Some(release) if all || serves(release) => {
                        release.read |= look.read;
                        release.write |= look.write;
                        if first && !moved {
                            release.before = look.before;
                        }
                        moved = true;
                    }
                    None if all => {
                        releases.insert(key, look);
                        moved = true;
                    }
                    _ => found.push((key, Release { look: true, ..look })),
                }
            }
        }
        found.extend(releases);
        found.sort_by_key(|(key, _)| *key);
        found.into_iter().map(|(_, release)| release).collect()
    }
}

/// Bytes of the widest look.
const WIDEST: u64 = 64;

/// Whether an instruction is a plain load or store of a few bytes, whose address is known where it stands.
pub fn is_look(instruction: LLVMValueRef) -> bool {
    // SAFETY: a live instruction of a module.
    unsafe {
        let (value, pointer) = match LLVMGetInstructionOpcode(instruction) {
            LLVMOpcode::LLVMLoad => (instruction, LLVMGetOperand(instruction, 0)),
            LLVMOpcode::LLVMStore => (LLVMGetOperand(instruction, 0), LLVMGetOperand(instruction, 1)),
            _ => return false,
        };
        if LLVMGetVolatile(instruction) != 0
            || LLVMGetOrdering(instruction) != LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
        {
            return false;
        }
        let (ty, pointer) = (LLVMTypeOf(value), LLVMTypeOf(pointer));
        let plain = matches!(
            LLVMGetTypeKind(ty),
            LLVMTypeKind::LLVMIntegerTypeKind
                | LLVMTypeKind::LLVMHalfTypeKind
                | LLVMTypeKind::LLVMFloatTypeKind
                | LLVMTypeKind::LLVMDoubleTypeKind
                | LLVMTypeKind::LLVMPointerTypeKind
                | LLVMTypeKind::LLVMVectorTypeKind
        );
        if !plain || LLVMGetPointerAddressSpace(pointer) != 0 {
            return false;
        }
        let module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction)));
        (1..=WIDEST).contains(&LLVMStoreSizeOfType(LLVMGetModuleDataLayout(module), ty))
    }
}

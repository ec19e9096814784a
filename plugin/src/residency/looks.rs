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
use inkwell::llvm_sys::LLVMTypeKind;
use pollyrs_codegen_ptx::{Release, Strip};
use pollyrs_llvm_shim::ir::{Block, Value};
use pollyrs_llvm_shim::{Analyses, Regions, ScevExpr, ScevHandle, ScevKind};
use std::collections::BTreeMap;

/// A part of a block: its number, and that of the part of it.
type Key = (usize, usize);

/// Looks of a part, each of which waits for the device; more of them are one release.
const MOST: usize = 4;

/// The releases of a function, while its instructions are gone through in order.
#[derive(Default)]
pub struct Found {
    releases: BTreeMap<Key, Release>,
    ranges: BTreeMap<Key, Vec<(Release, Range)>>,
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

    /// Before a loop that reads no more than that of the objects.
    pub fn range(&mut self, key: Key, release: Release, range: Range) {
        let known = self.ranges.entry(key).or_default();
        match known.iter_mut().find(|(_, other)| *other == range) {
            Some((other, _)) => other.read |= release.read,
            None => known.push((release, range)),
        }
    }

    /// In block order, with what loops read.
    pub fn releases(self) -> Vec<(Release, Option<Range>)> {
        let Found { mut releases, looks, ranges } = self;
        let mut found: Vec<(Key, Release, Option<Range>)> = Vec::new();
        for (key, ranges) in ranges {
            let all = ranges.len() > MOST;
            for (release, range) in ranges {
                match releases.get_mut(&key) {
                    Some(known) if all || (known.read | known.write) & release.read == release.read => {
                        known.read |= release.read;
                    }
                    None if all => {
                        releases.insert(key, release);
                    }
                    _ => found.push((key, release, Some(range))),
                }
            }
        }
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
                    _ => found.push((key, Release { look: true, ..look }, None)),
                }
            }
        }
        found.extend(releases.into_iter().map(|(key, release)| (key, release, None)));
        found.sort_by_key(|(key, ..)| *key);
        found.into_iter().map(|(_, release, range)| (release, range)).collect()
    }
}

/// What a loop reads by a load: its address in the first iteration, how far it goes in each, and how often.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Range {
    start: ScevHandle,
    step: ScevHandle,
    times: ScevHandle,
    bytes: u64,
}

impl Range {
    /// Of a load for which [`is_look`] holds, in a loop that is entered from `preheader`.
    pub fn of(analyses: &Analyses<'_>, load: Value, preheader: Block) -> Option<Range> {
        let (pointer, l) = (load.accessed()?, analyses.innermost_loop(load.block())?);
        let end = preheader.end();
        if analyses.loop_data(l)?.preheader != Some(preheader) {
            return None;
        }
        let address = analyses.scev(pointer, Some(l));
        let ScevKind::AddRec { loop_id, operands } = &address.kind else { return None };
        let [start, step] = &operands[..] else { return None };
        let times = analyses.backedge_taken_count(l);
        let safe = |scev: &ScevExpr| !scev.handle.is_none() && analyses.can_expand(scev.handle, end);
        let known = *loop_id == l && start.is_pointer && step.bits == 64 && (1..=64).contains(&times.bits);
        (known && safe(start) && safe(step) && safe(&times)).then(|| Range {
            start: start.handle,
            step: step.handle,
            times: times.handle,
            bytes: bytes_of(load),
        })
    }

    /// Computed in front of the loop.
    pub fn expand(&self, analyses: &Analyses<'_>, before: Value, regions: &Regions) -> Option<Strip> {
        let value = |scev| analyses.expand(scev, before, regions);
        let (start, step, times) = (value(self.start)?, value(self.step)?, value(self.times)?);
        Some(Strip { start, step, times, bytes: self.bytes })
    }
}

fn bytes_of(load: Value) -> u64 {
    load.block().function().module().store_size(load.ty())
}

/// Bytes of the widest look.
const WIDEST: u64 = 64;

/// Whether an instruction is a plain load or store of a few bytes, whose address is known where it stands.
pub fn is_look(instruction: Value) -> bool {
    let Some(pointer) = instruction.accessed().filter(|_| instruction.is_simple_access()) else {
        return false;
    };
    let ty = if instruction.is_store() { instruction.operand(0).ty() } else { instruction.ty() };
    let plain = matches!(
        ty.kind(),
        LLVMTypeKind::LLVMIntegerTypeKind
            | LLVMTypeKind::LLVMHalfTypeKind
            | LLVMTypeKind::LLVMFloatTypeKind
            | LLVMTypeKind::LLVMDoubleTypeKind
            | LLVMTypeKind::LLVMPointerTypeKind
            | LLVMTypeKind::LLVMVectorTypeKind
    );
    plain
        && pointer.ty().address_space() == Some(0)
        && (1..=WIDEST).contains(&instruction.block().function().module().store_size(ty))
}

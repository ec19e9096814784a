//! Where a function's arrays may stay on the device between its SCoPs.
//!
//! Problem: a host loop around SCoPs moves the same arrays back and forth, although nobody looks at them in
//! between. The run-time library keeps them where it may (`pollyrs_rt_begin_held`); this module finds the
//! instructions before which it may not any more.
//!
//! ```text
//! do {                                   // err is read each time round, u and v are not
//!   S1: v = f(u), err = ...              begin_held(u: object 0, v: object 1)
//!   S2: u = v                            begin_held(u, v)
//!   if (step++ % 10 == 0) log(u[0]);     leave: a call that may do anything
//! } while (err > eps);
//! return u[n/2];                         release(read: object 0) before the load, leave before the return
//! ```
//!
//! # Invariants
//! - An array is held only if all objects that its base may point into are values that an activation of the
//!   function computes at most once; so what alias analysis says of an object and an instruction holds for
//!   all executions of the instruction.
//! - Every instruction outside of SCoPs that may touch an object, may order this thread's accesses with
//!   another's, or may leave the function, has a release before it, unless no SCoP can have run by then. The
//!   original loops have theirs in the host plan.
//! - A load or store says which bytes it accesses, in place of a release, where nothing of its block releases
//!   the object ([`looks`]).
//! - A release in a loop without SCoPs stands before the loop: nothing becomes resident in between.
//! - A function with SCoPs may work with its caller's hold ([`Borrower`]): the call is a SCoP to the caller,
//!   with the effects of what the callee does outside of its SCoPs. Before what may do anything the callee
//!   leaves, wherever it is, which empties the hold for its callers, too. What lies in objects that the
//!   caller can't name comes back when the callee returns.
//! - Of calls this module knows what [`crate::residency::effects`] says. One that publishes is a read of all
//!   objects that others may know: results come back, and the device's copies stay valid.

pub mod effects;
mod library;
mod looks;

use crate::ir::is_call;
use crate::residency::effects::{Effects, Summaries, pointers};
use crate::residency::looks::{Found, Range};
use inkwell::llvm_sys::LLVMOpcode;
use pollyrs_codegen_ptx::{
    self as codegen, ALL_OBJECTS, Borrowing, MAX_OBJECTS, Release, host_block, host_value,
};
use pollyrs_llvm_shim::ir::{Block, Value};
use pollyrs_llvm_shim::{self as shim, Analyses, Regions, Touch};
use pollyrs_scop::{ArrayId, ArrayKind, Scop};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// See the module documentation.
pub struct Plan {
    /// For each SCoP, the objects that each held array may belong to, a bit each.
    pub masks: Vec<BTreeMap<ArrayId, u32>>,
    /// In block order.
    pub releases: Vec<Release>,
    /// What the loops behind some of them read, until that is computed.
    ranges: Vec<(usize, Range)>,
    /// Calls that get the hold.
    pub lends: Vec<Lend>,
    /// What callers that lend theirs have to know.
    pub borrows: Option<Rc<Borrower>>,
    /// Something stays even if no caller lends its hold.
    pub own: bool,
}

impl Plan {
    /// Computes what loops read in front of them. `regions` are the SCoPs'.
    pub fn expand(&mut self, analyses: &Analyses<'_>, regions: &Regions) {
        for (at, range) in std::mem::take(&mut self.ranges) {
            let before = self.releases[at].before;
            self.releases[at].strip = range.expand(analyses, before, regions);
        }
    }

    /// How the function works with the hold of a caller, if it may.
    pub fn borrowing(&self) -> Option<Borrowing> {
        let objects = self.borrows.as_ref()?.objects.len().min(MAX_OBJECTS) as u32;
        Some(Borrowing { objects, own: self.own })
    }
}

/// A call that gets the hold.
pub struct Lend {
    pub call: Value,
    pub callee: Value,
    /// For each object of the callee's, this function's that it may be part of.
    pub known: Vec<u32>,
}

/// A function that can work with its caller's hold.
pub struct Borrower {
    /// Its objects, in order.
    objects: Vec<Source>,
    /// What its instructions outside of SCoPs do, apart from those before which it leaves.
    host: Effects,
    throws: bool,
}

/// Where a function's object comes from.
enum Source {
    Parameter(u32),
    Global(Value),
    /// Nobody else's, or not known.
    Own,
}

/// The functions of a module that were searched so far and can work with a caller's hold.
pub type Borrowers = BTreeMap<Value, Rc<Borrower>>;

/// What a plan is made from.
pub struct Request<'a> {
    pub analyses: &'a Analyses<'a>,
    pub summaries: &'a Summaries<'a>,
    pub borrowers: &'a Borrowers,
    /// The function whose working copy is looked at, if callers may lend it their holds.
    pub borrows: Option<Value>,
}

impl Request<'_> {
    /// What a function that works with its caller's hold does outside of its SCoPs.
    fn host_of(&self, callee: Value) -> Option<&Effects> {
        self.borrowers.get(&callee).map(|borrower| &borrower.host)
    }
}

/// `None`: nothing could stay. `scops` are those of the function.
pub fn plan(request: &Request<'_>, scops: &[&Scop]) -> Option<Plan> {
    let analyses = request.analyses;
    let inside: BTreeSet<Block> = scops.iter().flat_map(|s| codegen::blocks(s)).collect();
    let calls = lent_calls(request, &inside);
    let cfg = Cfg::new(analyses, inside, &calls);
    // A first look that costs nothing: does a SCoP run after a SCoP?
    let own = cfg.meets(scops, &calls, &BTreeSet::new());
    let borrows = request.borrows.filter(|_| !scops.is_empty() || !calls.is_empty());
    if !(own || borrows.is_some()) || !analyses.leaves_plainly() {
        return None;
    }
    let mut objects = Vec::new();
    let masks: Vec<BTreeMap<ArrayId, u32>> =
        scops.iter().map(|scop| masks(analyses, scop, &mut objects)).collect();
    let lends = calls.iter().map(|(call, callee)| lend(request, *call, *callee, &mut objects)).collect();
    if objects.is_empty() {
        return None;
    }
    let mut host = Effects::default();
    let found = releases(request, &cfg, &objects, scops, borrows.map(|_| &mut host));
    let leaves =
        found.iter().map(|(release, _)| release).filter(|r| r.leaves()).map(|r| block_of(r.before)).collect();
    // Blocks with calls may have several, with or without a release in between.
    let own = own && (!calls.is_empty() || cfg.meets(scops, &calls, &leaves));
    let borrower = borrows.and_then(|f| {
        let throws = request.summaries.throws(f)?;
        let sources: Vec<Source> = objects.iter().map(|o| source(*o)).collect();
        let known = sources.iter().any(|s| !matches!(s, Source::Own));
        known.then(|| Rc::new(Borrower { objects: sources, host, throws }))
    });
    if !own && borrower.is_none() {
        return None;
    }
    let ranges = found.iter().enumerate().filter_map(|(i, (_, range))| Some((i, (*range)?))).collect();
    let releases = found.into_iter().map(|(release, _)| release).collect();
    Some(Plan { masks, releases, ranges, lends, borrows: borrower, own })
}

fn source(object: Value) -> Source {
    if object.is_argument() {
        return object.argument_index().map_or(Source::Own, Source::Parameter);
    }
    if object.is_variable() { Source::Global(object) } else { Source::Own }
}

/// Calls of functions that can work with this function's hold, and these.
fn lent_calls(request: &Request<'_>, inside: &BTreeSet<Block>) -> Vec<(Value, Value)> {
    if request.borrowers.is_empty() {
        return Vec::new();
    }
    let analyses = request.analyses;
    let blocks = analyses.reverse_postorder().iter().filter(|b| !inside.contains(&**b));
    let calls = blocks.flat_map(|b| b.instructions()).filter_map(|call| {
        if !is_call(call) {
            return None;
        }
        let callee = shim::callee(call)?;
        let borrower = request.borrowers.get(&callee)?;
        let stays = !shim::call_facts(call).bundles && (!borrower.throws || catches(analyses, call));
        stays.then_some((call, callee))
    });
    calls.collect()
}

/// No exception of the call's ends the activation.
fn catches(analyses: &Analyses<'_>, call: Value) -> bool {
    call.is_invoke() || shim::call_facts(call).no_throw || shim::does_not_throw(analyses.function())
}

/// What the callee's objects are to this function; new objects get the next numbers.
fn lend(request: &Request<'_>, call: Value, callee: Value, objects: &mut Vec<Value>) -> Lend {
    let analyses = request.analyses;
    let sources = request.borrowers.get(&callee).map_or(&[][..], |b| &b.objects);
    let mut of = |pointer: Value| {
        let all = analyses.underlying_objects(pointer);
        let known = !all.is_empty() && all.iter().all(|v| computed_once(analyses, *v));
        if known { all.into_iter().fold(0, |mask, v| mask | number(objects, v)) } else { 0 }
    };
    let mut known: Vec<u32> = sources
        .iter()
        .map(|source| match source {
            Source::Parameter(index) => of(call.operand(*index)),
            Source::Global(global) => of(*global),
            Source::Own => 0,
        })
        .collect();
    // The last bit stands for several.
    if let Some(shared) = known.get_mut(MAX_OBJECTS - 1) {
        *shared = 0;
    }
    known.truncate(MAX_OBJECTS);
    Lend { call, callee, known }
}

/// The bit of an object, which gets the next number if it has none.
fn number(objects: &mut Vec<Value>, object: Value) -> u32 {
    bit(objects.iter().position(|o| *o == object).unwrap_or_else(|| {
        objects.push(object);
        objects.len() - 1
    }))
}

/// The arrays of a SCoP that may be held; new objects get the next numbers.
fn masks(analyses: &Analyses<'_>, scop: &Scop, objects: &mut Vec<Value>) -> BTreeMap<ArrayId, u32> {
    let mut masks = BTreeMap::new();
    for (i, array) in scop.arrays.iter().enumerate() {
        let ArrayKind::Memory { base } = array.kind else { continue };
        let own = analyses.underlying_objects(host_value(base));
        if own.is_empty() || !own.iter().all(|v| computed_once(analyses, *v)) {
            continue;
        }
        let mask = own.into_iter().fold(0, |mask, object| mask | number(objects, object));
        masks.insert(ArrayId(i), mask);
    }
    masks
}

/// The last bit stands for all objects from its number on.
fn bit(number: usize) -> u32 {
    1 << number.min(MAX_OBJECTS - 1)
}

fn computed_once(analyses: &Analyses<'_>, v: Value) -> bool {
    v.ty().is_pointer()
        && (!v.is_instruction() || v.parent().is_some_and(|b| analyses.innermost_loop(b).is_none()))
}

/// What is needed of the control flow graph. Blocks are keys; everything that leaves this module is in block
/// order.
struct Cfg {
    blocks: Vec<Block>,
    successors: BTreeMap<Block, Vec<Block>>,
    /// Blocks of SCoPs.
    inside: BTreeSet<Block>,
    /// Error blocks that are connected again later, and what only they lead to.
    cut: BTreeSet<Block>,
    /// Where the releases of a block's loop without SCoPs go: the preheader.
    hoisted: BTreeMap<Block, Block>,
}

impl Cfg {
    fn new(analyses: &Analyses<'_>, inside: BTreeSet<Block>, calls: &[(Value, Value)]) -> Cfg {
        let blocks = analyses.function().blocks();
        let successors = blocks.iter().map(|b| (*b, b.successors())).collect();
        let reachable: BTreeSet<Block> = analyses.reverse_postorder().iter().copied().collect();
        let cut = blocks.iter().copied().filter(|b| !reachable.contains(b)).collect();
        let mut hoisted = BTreeMap::new();
        // Outer loops come first and win.
        for l in analyses.loops() {
            let calls = |block: Block| calls.iter().any(|(call, _)| block_of(*call) == block);
            let free = l.blocks.iter().all(|b| !inside.contains(b) && !calls(*b));
            let Some(preheader) = l.preheader.filter(|p| free && !inside.contains(p)) else {
                continue;
            };
            for b in &l.blocks {
                hoisted.entry(*b).or_insert(preheader);
            }
        }
        Cfg { blocks, successors, inside, cut, hoisted }
    }

    /// Blocks that can run after a SCoP or a call that gets the hold, with no block of `barriers` in between.
    fn after(
        &self,
        scops: &[&Scop],
        calls: &[(Value, Value)],
        barriers: &BTreeSet<Block>,
    ) -> BTreeSet<Block> {
        let mut reached = BTreeSet::new();
        let mut work: Vec<Block> = scops.iter().filter_map(|s| host_block(s.region.exit)).collect();
        let next = |block| self.successors.get(&block).into_iter().flatten().copied();
        work.extend(calls.iter().flat_map(|(call, _)| next(block_of(*call))));
        while let Some(block) = work.pop() {
            if reached.insert(block) && !barriers.contains(&block) {
                work.extend(next(block));
            }
        }
        reached
    }

    /// Whether a SCoP, or a call that gets the hold, can run after another, or itself.
    fn meets(&self, scops: &[&Scop], calls: &[(Value, Value)], barriers: &BTreeSet<Block>) -> bool {
        let after = self.after(scops, calls, barriers);
        let blocks: Vec<Block> = calls.iter().map(|(call, _)| block_of(*call)).collect();
        scops.iter().filter_map(|s| host_block(s.region.entry)).any(|b| after.contains(&b))
            || blocks.iter().enumerate().any(|(i, b)| after.contains(b) || blocks[..i].contains(b))
    }
}

/// The position of a block's end, where hoisted releases are.
const END: usize = usize::MAX;

/// In block order. `host`: gets what is done to memory outside of SCoPs, for callers that lend their holds;
/// then what may do anything has a release wherever it is.
fn releases(
    request: &Request<'_>,
    cfg: &Cfg,
    objects: &[Value],
    scops: &[&Scop],
    mut host: Option<&mut Effects>,
) -> Vec<(Release, Option<Range>)> {
    let calls: Vec<(Value, Value)> = lent_calls(request, &cfg.inside);
    let mut after = cfg.after(scops, &calls, &BTreeSet::new());
    after.extend(calls.iter().map(|(call, _)| block_of(*call)));
    let number: BTreeMap<Block, usize> = cfg.blocks.iter().enumerate().map(|(i, b)| (*b, i)).collect();
    let mut found = Found::default();
    let analyses = request.analyses;
    for (i, block) in cfg.blocks.iter().enumerate() {
        let key = *block;
        let cut = cfg.cut.contains(&key);
        if cfg.inside.contains(&key) || !(cut || host.is_some() || after.contains(&key)) {
            continue;
        }
        // A release serves a block up to the next call that gets the hold, or that frees an object: what is
        // dead there may be in use before.
        let mut parts = 0;
        for instruction in block.instructions() {
            if exits(instruction) {
                found.add((i, END), Release::all(instruction));
                continue;
            }
            let lent = calls.iter().find(|(call, _)| *call == instruction).map(|(_, callee)| *callee);
            let (mut read, mut write) = effect(request, instruction, lent, objects);
            let mut touches = read | write != 0;
            let dead = if cut { 0 } else { freed(request, instruction, objects) };
            parts += usize::from(dead != 0);
            let part = parts;
            parts += usize::from(lent.is_some());
            if let Some(host) = host.as_deref_mut()
                && !request.summaries.add_to(host, instruction, lent.and_then(|f| request.host_of(f)))
            {
                (read, write, touches) = (ALL_OBJECTS, ALL_OBJECTS, true);
            }
            if cut && (touches || host.is_some() && touches_memory(instruction)) {
                // Whatever it is, it is on the way out.
                (read, write, touches) = (ALL_OBJECTS, ALL_OBJECTS, true);
            }
            if !touches {
                continue;
            }
            match cfg.hoisted.get(&key) {
                Some(to) => {
                    let at = (number[to], END);
                    let release = Release { read, write, ..Release::none(to.end()) };
                    let reads = write == 0 && looks::is_look(instruction);
                    match reads.then(|| Range::of(analyses, instruction, *to)).flatten() {
                        Some(range) => found.range(at, release, range),
                        None => found.add(at, release),
                    }
                }
                None if write != ALL_OBJECTS && dead == 0 && looks::is_look(instruction) => {
                    found.look((i, part), Release { read, write, ..Release::none(instruction) })
                }
                None => found.add((i, part), Release { read, write, dead, ..Release::none(instruction) }),
            }
        }
    }
    found.releases()
}

/// The object that an instruction frees, if it is one and has a bit of its own. Arrays that lie in no other
/// are dead behind it: an activation computes the object once, so that all of them lie in the memory that is
/// freed.
fn freed(request: &Request<'_>, instruction: Value, objects: &[Value]) -> u32 {
    if !is_call(instruction) || !request.summaries.frees(instruction) {
        return 0;
    }
    let all = request.analyses.underlying_objects(instruction.operand(0));
    let [object] = all[..] else { return 0 };
    let number = objects.iter().position(|o| *o == object);
    number.filter(|n| *n < MAX_OBJECTS - 1).map_or(0, bit)
}

/// The objects that an instruction may read and write; all of them where it may do anything.
fn effect(request: &Request<'_>, instruction: Value, lent: Option<Value>, objects: &[Value]) -> (u32, u32) {
    let analyses = request.analyses;
    let (mut read, mut write) = (0, 0);
    let summary = match lent.and_then(|callee| request.host_of(callee)) {
        Some(host) => Some(Rc::new(host.clone())),
        None if is_call(instruction) => request.summaries.of_call(instruction),
        None => None,
    };
    if let Some(effects) = summary {
        if effects.anything || (effects.throws && !catches(analyses, instruction)) {
            return (ALL_OBJECTS, ALL_OBJECTS);
        }
        for (number, object) in objects.iter().enumerate() {
            let touch = call_effect(analyses, instruction, &effects, *object);
            read |= if touch.read { bit(number) } else { 0 };
            write |= if touch.write { bit(number) } else { 0 };
        }
        return (read, write);
    }
    for (number, object) in objects.iter().enumerate() {
        let effect = analyses.memory_effect(instruction, *object);
        if effect.anything {
            return (ALL_OBJECTS, ALL_OBJECTS);
        }
        read |= if effect.reads { bit(number) } else { 0 };
        write |= if effect.writes { bit(number) } else { 0 };
    }
    (read, write)
}

/// What a call with a summary does to an object.
fn call_effect(analyses: &Analyses<'_>, call: Value, effects: &Effects, object: Value) -> Touch {
    // A `restrict` argument is known to others: to those that called this function.
    let private = object.is_alloca() || shim::is_new_memory(object);
    let possible = analyses.touches(call, object);
    let published = effects.publishes && (possible.any() || !private);
    // Without what alias analysis says a summary would have to know what escaped.
    let mut touch = effects.other;
    for (global, by) in &effects.globals {
        if analyses.may_alias(*global, object) {
            touch |= *by;
        }
    }
    for (index, pointer) in pointers(call) {
        let by = effects.arguments.get(index as usize).copied().unwrap_or_default();
        if by.any() && analyses.may_alias(pointer, object) {
            touch |= by;
        }
    }
    touch = touch.and(possible);
    touch.read |= published;
    touch
}

fn touches_memory(instruction: Value) -> bool {
    matches!(
        instruction.opcode(),
        LLVMOpcode::LLVMCall
            | LLVMOpcode::LLVMInvoke
            | LLVMOpcode::LLVMLoad
            | LLVMOpcode::LLVMStore
            | LLVMOpcode::LLVMFence
            | LLVMOpcode::LLVMAtomicRMW
            | LLVMOpcode::LLVMAtomicCmpXchg
    )
}

/// Ends the activation.
fn exits(instruction: Value) -> bool {
    match instruction.opcode() {
        LLVMOpcode::LLVMRet | LLVMOpcode::LLVMResume => true,
        // Without a successor it unwinds to the caller.
        LLVMOpcode::LLVMCleanupRet | LLVMOpcode::LLVMCatchSwitch => instruction.successor_count() == 0,
        _ => false,
    }
}

fn block_of(instruction: Value) -> Block {
    instruction.block()
}

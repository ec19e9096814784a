//! Windows of shared memory in the code of a kernel with steps ([`Window`]).
//!
//! Where a stage begins, `_enter(p)` computes for each window where the element with all subscripts zero
//! would lie: from there on the place of an element is a sum of subscripts times constants, so that those of
//! neighbours differ by constants.
//! ```text
//! origin = shared + start - 4 (stride0 lower0(p) + stride1 lower1(p))
//! _in0(p, s0, s1)    origin[stride0 s0 + stride1 s1] = A[s0, s1]
//! S                  loads from origin[...]; stores to origin[...] and to A[...]
//! ```
//!
//! # Invariant
//! Code that uses a window follows, in a block of the AST or one around it, the `_enter` of its stage
//! ([`scoped`] sees to it). The checker proves that stages run one after the other, so this is also the last
//! one that ran.

use crate::affine::barriers::meetings;
use crate::affine::expr::{ExprEmitter, parameterize_set};
use crate::affine::nodes::tuple_of;
use crate::affine::sums::Sum;
use crate::ir::error::{Result, internal};
use crate::ir::intrinsics::SHARED;
use crate::ir::llvm::*;
use crate::ir::types::llvm_elem;
use crate::kernel::builder;
use crate::ops::copies;
use crate::staged::groups::{self, Batch};
use crate::staged::state::KernelBuilder;
use pollyrs_isl as isl;
use pollyrs_schedule::Tuple::{self, Enter};
use pollyrs_schedule::{MappedKernel, Param, Window};
use pollyrs_scop::{AccessKind, ArrayId, Scop, Statement, StmtId};
use std::collections::{BTreeMap, BTreeSet};

/// Alignment of windows, more than any element needs.
const ALIGN: u64 = 16;
/// The most shared memory of a block.
const MAX_BYTES: u64 = 227 * 1024;

/// The windows of a kernel while its code is emitted.
#[derive(Default)]
pub(crate) struct Windows {
    places: Vec<Place>,
    pub shared_bytes: u32,
    pub batch: Option<Batch>,
    /// The values that stand for coordinates of the thread, and the threads along them.
    lanes: BTreeMap<usize, i64>,
    /// Where in shared memory nobody writes: what is loaded for nothing comes from there.
    spare: u64,
    /// While a full stage is emitted: by array and statement, whether a write is one that needs no store.
    pub passing: Option<Passing>,
}

/// `[_p*, _h*, _b*, _i*] -> { : ... }`
pub(crate) type Passing = BTreeMap<(ArrayId, StmtId), isl::Set>;

struct Place {
    array: ArrayId,
    /// In shared memory, in bytes.
    start: u64,
    end: u64,
    sizes: Vec<u32>,
    strides: Vec<u64>,
    /// Statements whose loads for nothing, by their subscripts, may meet stores ([`Window::disturbed`]).
    disturbed: BTreeSet<StmtId>,
    /// Statements between whose barriers there are stores to the window.
    written: BTreeSet<StmtId>,
    /// Where the stage that is emitted has it.
    origin: Option<Origin>,
}

struct Origin {
    shared: Value,
    /// Where in shared memory the element with all subscripts zero would be, in bytes.
    begin: Sum,
    /// The smallest subscripts.
    lower: Vec<Sum>,
}

impl Windows {
    pub fn new(scop: &Scop, kernel: &MappedKernel) -> Result<Windows> {
        let (mut places, mut end) = (Vec::new(), 0);
        for w in kernel.windows() {
            let bytes = w.elements() * u64::from(scop.array(w.array).elem.bytes());
            places.push(Place {
                array: w.array,
                start: end,
                end: end + bytes,
                sizes: w.size.clone(),
                strides: w.strides(),
                disturbed: BTreeSet::new(),
                written: BTreeSet::new(),
                origin: None,
            });
            end = (end + bytes).next_multiple_of(ALIGN);
        }
        let spare = end;
        if kernel.full().is_some() {
            end += ALIGN;
        }
        if end > MAX_BYTES {
            return internal(format!("windows of {end} bytes"));
        }
        Ok(Windows { places, shared_bytes: end as u32, spare, ..Windows::default() })
    }

    /// Learns from a kernel's code which loads for nothing may meet stores.
    pub fn disturb(&mut self, scop: &Scop, kernel: &MappedKernel, tree: &isl::AstNode) -> Result<()> {
        if kernel.full().is_none() {
            return Ok(());
        }
        let met = meetings(tree)?;
        let meet = |a: &str, b: &str| met.contains(&(a.to_owned(), b.to_owned()));
        for (place, w) in self.places.iter_mut().zip(kernel.windows()) {
            let writes =
                |s: &&Statement| s.accesses.iter().any(|a| a.array == w.array && a.kind != AccessKind::Read);
            let writers: Vec<_> = scop.statements.iter().filter(writes).collect();
            for (i, s) in scop.statements.iter().enumerate() {
                let disturbs =
                    |(r, w): &(StmtId, StmtId)| r.0 == i && meet(&s.name, &scop.statements[w.0].name);
                let copied = meet(&s.name, &w.copy.to_string());
                if copied || w.disturbed.iter().any(disturbs) {
                    place.disturbed.insert(StmtId(i));
                }
                if copied || writers.iter().any(|writer| meet(&s.name, &writer.name)) {
                    place.written.insert(StmtId(i));
                }
            }
        }
        Ok(())
    }
}

/// Forgets what the optimizer knows of the thread's coordinates, and with `block` of the block's. Else it
/// would compute ahead of all stages, or once for many steps, what the rows of each step need: hundreds of
/// values to keep, where registers are what lets loads be on their way at once.
pub(crate) fn forget(k: &mut KernelBuilder<'_>, emit: &mut ExprEmitter<'_>, block: bool) -> Result<()> {
    let kernel = k.kernel();
    if kernel.full().is_none() {
        return Ok(());
    }
    let mut names = Vec::new();
    if block {
        names.extend(kernel.grid.iter().map(|g| (g.param.as_str(), None)));
        names.extend(kernel.host_params.iter().map(|h| (h.as_str(), None)));
    }
    names.extend(kernel.block.iter().map(|b| (b.param.as_str(), Some(b.size))));
    for (name, size) in names {
        let Some(v) = k.emit.names.get(name).copied() else { continue };
        let v = k.opaque(v);
        // Still a number of few bits.
        let v = match size {
            Some(size) => {
                let v = k.ir.and(v, k.ir.int(i64::from(size.next_power_of_two()) - 1));
                k.storage.windows.lanes.insert(v.address(), i64::from(size));
                v
            }
            None => v,
        };
        emit.names.insert(name.into(), v);
    }
    Ok(())
}

/// The beginning of the stage `p`.
pub(crate) fn enter(k: &mut KernelBuilder<'_>, emit: &mut ExprEmitter<'_>, p: &[Value]) -> Result<()> {
    let ir = k.ir;
    let kernel = k.kernel();
    forget(k, emit, true)?;
    let mut emit = emit.clone();
    for (d, v) in p.iter().enumerate() {
        emit.names.insert(crate::affine::expr::iterator_name(d as u32), *v);
    }
    for (i, w) in kernel.windows().iter().enumerate() {
        let bytes = u64::from(k.scop.array(w.array).elem.bytes());
        let mut begin = Sum::number(k.storage.windows.places[i].start as i64);
        let mut sums = Vec::new();
        for (lower, stride) in w.lower.iter().zip(w.strides()) {
            let lower = crate::affine::expr::parameterize(lower)?;
            let lower = emit.emit_int(&crate::affine::expr::pw_aff_expr(&lower, None)?)?;
            let lower = emit.sum_of(lower);
            begin = begin.plus(&lower, -((stride * bytes) as i64));
            sums.push(lower);
        }
        let shared = k.abstract_call(SHARED, ir.ptr_type());
        k.storage.windows.places[i].origin = Some(Origin { shared, begin, lower: sums });
    }
    Ok(())
}

/// The address of an element in its window, for a statement or a copy; `None` if its array has none.
pub(crate) fn address(
    k: &KernelBuilder<'_>,
    array: ArrayId,
    subscripts: &[Value],
    statement: Option<StmtId>,
) -> Result<Option<Value>> {
    let Some(place) = k.storage.windows.places.iter().find(|p| p.array == array) else { return Ok(None) };
    let Some(Origin { shared, begin, lower }) = &place.origin else {
        return internal("an access outside of its window's stage");
    };
    let bytes = i64::from(k.scop.array(array).elem.bytes());
    let subscripts: Vec<Sum> = subscripts.iter().map(|s| k.emit.sum_of(*s)).collect();
    let mut at = begin.clone();
    for (s, stride) in subscripts.iter().zip(&place.strides) {
        at = at.plus(s, *stride as i64 * bytes);
    }
    // What might not happen still loads from shared memory: the thread's coordinates are all that most
    // addresses depend on. But not what others write in this step.
    let lanes = |v: Value| k.storage.windows.lanes.get(&v.address()).copied();
    let all = i64::from(k.storage.windows.shared_bytes);
    let calm = || {
        let Some((first, last)) = at.range(&lanes) else { return false };
        let meets = |with: &BTreeSet<StmtId>| statement.is_some_and(|s| with.contains(&s));
        let mut beside = k.storage.windows.places.iter().filter(|p| p.array != array && meets(&p.written));
        let own = || {
            let within = |((s, lower), size): ((&Sum, &Sum), &u32)| {
                let range = s.clone().plus(lower, -1).range(&lanes);
                range.is_some_and(|(first, last)| first >= 0 && last < i64::from(*size))
            };
            subscripts.iter().zip(lower).zip(&place.sizes).all(within)
        };
        first >= 0
            && last + bytes <= all
            && !meets(&place.disturbed)
            // Behind its window's end, or in the next row of it, lies what others may write although nothing
            // has its subscripts.
            && !beside.any(|p| first < p.end as i64 && p.start as i64 <= last)
            && (!meets(&place.written) || own())
    };
    if let Some(happens) = groups::happens(k).filter(|_| !calm()) {
        let (sum, number) = at.emit(k.ir);
        let offset = k.ir.add(sum, k.ir.int(number));
        let offset = k.ir.select(happens, offset, k.ir.int(k.storage.windows.spare as i64));
        return Ok(Some(k.ir.byte_offset(*shared, offset)));
    }
    // The number last: neighbours share the rest.
    let (sum, number) = at.emit(k.ir);
    Ok(Some(k.ir.byte_offset(k.ir.byte_offset(*shared, sum), k.ir.int(number))))
}

/// The AST of one full stage `_p*`, from the thread's schedule restricted to it: bounds that hold in full
/// stages are left out, and what a thread does in turns is unrolled. `None` if the kernel has no such code.
pub(crate) fn full_stage(kernel: &MappedKernel) -> Result<Option<isl::AstNode>> {
    let Some(full) = kernel.full().filter(|f| matches!(f.is_empty(), Ok(false))) else {
        return Ok(None);
    };
    let ctx = full.context();
    let n = full.dim(isl::DimType::Set)? as usize;
    let names = Param::first(Param::Stage, n);
    let equal: Vec<_> = names.iter().enumerate().map(|(d, p)| format!("c{d} = {p}")).collect();
    let tuple: Vec<_> = (0..n).map(|d| format!("c{d}")).collect();
    let condition = if n == 0 { "true".to_owned() } else { equal.join(" and ") };
    let at = format!("[{}] -> {{ [{}] : {condition} }}", names.join(","), tuple.join(","));
    let here =
        isl::Set::read(ctx, &at)?.set_tuple_name(&Enter.to_string())?.intersect(full.clone())?.params()?;
    let context = kernel.context.clone().params()?.intersect(here)?;
    let mut schedule = kernel.schedule.clone();
    if n > 0 {
        let stages = schedule.root()?.child(0)?.band_partial_schedule()?;
        let stages = isl::UnionMap::from_multi_union_pw_aff(stages)?;
        let at = isl::UnionSet::read(ctx, &at)?;
        let part = stages.intersect_range(at)?.domain()?.gist(schedule.domain()?)?;
        schedule = schedule.intersect_domain(part)?;
    }
    if kernel.stages().is_some_and(|s| s.unrolled) {
        schedule = unrolled(schedule.root()?.child(0)?, n, true)?.schedule()?;
    }
    let tree = isl::AstBuild::from_context(context)?.node_from_schedule(schedule)?;
    // Without code of their own, full stages run that of all.
    Ok(crate::affine::barriers::same_barriers(&tree)?.then_some(tree))
}

/// A thread's schedule for the stages that are not full. Where full ones have unrolled code, these have as
/// well: a launch ends with its slowest block, and the blocks at the borders have no full stage.
pub(crate) fn general(kernel: &MappedKernel) -> Result<isl::Schedule> {
    let schedule = kernel.schedule.clone();
    let Some(full) = kernel.full().filter(|_| kernel.stages().is_some_and(|s| s.unrolled)) else {
        return Ok(schedule);
    };
    let n = full.dim(isl::DimType::Set)? as usize;
    Ok(unrolled(schedule.root()?.child(0)?, n, true)?.schedule()?)
}

/// The bands beneath those of stages, unrolled: the turns of a thread, and with `steps` those that hold
/// barriers.
fn unrolled(node: isl::ScheduleNode, stages: usize, steps: bool) -> Result<isl::ScheduleNode> {
    let mut node = node;
    if node.node_type()? == isl::NodeType::Band && node.schedule_depth()? as usize >= stages {
        let mut meets = false;
        for set in node.universe_domain()?.sets()? {
            meets |= Tuple::of_set(&set)? == Some(Tuple::Barrier);
        }
        if !meets || steps {
            for d in 0..node.band_n_member()? {
                node = node.band_set_ast_loop_type(d as i32, isl::AstLoopType::Unroll)?;
            }
        }
    }
    for i in 0..if node.has_children()? { node.n_children()? as i32 } else { 0 } {
        node = unrolled(node.child(i)?, stages, steps)?.parent()?;
    }
    Ok(node)
}

/// The writes of the full stage `_p*`, or of a block's only stage, that need no store, as conditions on
/// instances.
pub(crate) fn passing(k: &KernelBuilder<'_>) -> Result<Passing> {
    let kernel = k.kernel();
    let mut out = Passing::new();
    let Some(steps) = kernel.steps() else { return Ok(out) };
    let only = isl::Set::read(steps.context(), &format!("{{ {Enter}[] }}"))?;
    let full = match kernel.full() {
        Some(full) => full,
        None if has_one_stage(kernel)? => &only,
        None => return Ok(out),
    };
    let ctx = full.context();
    let n = full.dim(isl::DimType::Set)? as usize;
    let (p, c) = (Param::first(Param::Stage, n), (0..=n).map(|d| format!("c{d}")).collect::<Vec<_>>());
    let equal: Vec<_> = p.iter().zip(&c).map(|(p, c)| format!("{c} = {p}")).collect();
    let here = if n == 0 { "true".to_owned() } else { equal.join(" and ") };
    let at = isl::UnionSet::read(
        ctx,
        &format!("[{}] -> {{ {Enter}[{}] : {here} }}", p.join(","), c[..n].join(",")),
    )?;
    let at = at.intersect(isl::UnionSet::from_set(full.clone())?)?;
    let to_stage = format!("{{ [{}] -> {Enter}[{}] }}", c.join(","), c[..n].join(","));
    let to_stage = isl::UnionMap::read(ctx, &to_stage)?;
    let b: Vec<_> = kernel.grid.iter().map(|g| g.param.as_str()).collect();
    let block: Vec<_> = b.iter().enumerate().map(|(d, b)| format!("b{d} = {b}")).collect();
    let tuple: Vec<_> = (0..b.len()).map(|d| format!("b{d}")).collect();
    let block = format!("[{}] -> {{ [{}] : {} }}", b.join(","), tuple.join(","), block.join(" and "));
    let block = kernel.tile_map.clone().intersect_range(isl::UnionSet::read(ctx, &block)?)?.domain()?;
    // The instances of the stage.
    let all =
        steps.clone().intersect_domain(kernel.domain.clone().intersect(block)?)?.apply_range(to_stage)?;
    let all = all.intersect_range(at.clone())?.domain()?;
    for w in kernel.windows() {
        let left = w.passing.clone().intersect_range(at.clone())?.domain()?;
        for set in left.sets()? {
            let name = set.tuple_name()?.unwrap_or_default();
            let Some((id, s)) = k.scop.statement_named(&name) else { continue };
            let known = all.extract_set(s.domain.space()?)?.coalesce()?;
            let set = parameterize_set(&set)?.coalesce()?.gist_params(parameterize_set(&known)?)?;
            out.insert((w.array, id), set);
        }
    }
    Ok(out)
}

/// Whether the steps of a block are one stage, with one coordinate: rows.
fn has_one_stage(kernel: &MappedKernel) -> Result<bool> {
    let Some(steps) = kernel.steps() else { return Ok(false) };
    for m in steps.maps()? {
        if m.dim(isl::DimType::Out)? != 1 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether threads go on while what they copy is on its way ([`copies::copy_element`]). Who reads it, the
/// thread itself too, does so behind a barrier, as the copies are a step of their own; in front of each
/// barrier a thread waits for what it copies ([`crate::staged::element`]). Stages have groups, by which a
/// thread waits for many of its loads at once.
pub(crate) fn copies_without_waiting(kernel: &MappedKernel) -> Result<bool> {
    Ok(!kernel.windows().is_empty() && kernel.full().is_none() && has_one_stage(kernel)?)
}

/// Whether the stage `p` is full; `emit` learns its coordinates.
pub(crate) fn is_full(
    kernel: &MappedKernel,
    emit: &mut ExprEmitter<'_>,
    p: &[Value],
) -> Result<Option<Value>> {
    let Some(full) = kernel.full() else { return Ok(None) };
    for (d, (v, name)) in p.iter().zip(Param::first(Param::Stage, p.len())).enumerate() {
        emit.names.insert(crate::affine::expr::iterator_name(d as u32), *v);
        emit.names.insert(name, *v);
    }
    Ok(Some(emit.emit_set(&parameterize_set(full)?)?))
}

/// Asks the optimizer to unroll the loops that run a constant number of times, which the steps of a full
/// stage do.
pub(crate) fn unroll_steps(function: Value) {
    hint_loops(function, "llvm.loop.unroll.full", None, counts_to_constant);
    // The assembler would unroll the loop over stages, which has thousands of instructions.
    hint_loops(function, "llvm.loop.unroll.disable", None, |end| {
        end.successor_count() == 2 && !end.has_metadata() && ends_loop(end)
    });
}

/// Whether a branch is the end of a loop from one constant to another, as [`crate::affine::walk`] makes them.
fn counts_to_constant(end: Value) -> bool {
    if !ends_loop(end) {
        return false;
    }
    let test = end.condition();
    test.operand(1).is_constant_int() && test.operand(0).incoming_value(0).is_constant_int()
}

/// Whether a branch is the end of a loop as [`crate::affine::walk`] makes them.
fn ends_loop(end: Value) -> bool {
    if !end.is_conditional() || !end.condition().is_icmp() {
        return false;
    }
    let counter = end.condition().operand(0);
    counter.is_phi() && end.successor(1) == counter.block()
}

/// Emits the copy `_in0(p, s)` of an element.
pub(crate) fn copy(k: &mut KernelBuilder<'_>, tuple: Tuple, args: &[Value]) -> Result<()> {
    let kernel = k.kernel();
    let Some(w) = kernel.windows().iter().find(|w| w.copy == tuple) else {
        return internal(format!("{tuple} is of no window"));
    };
    let ir = k.ir;
    let Some(first) = args.len().checked_sub(w.size.len()) else {
        return internal("a copy with too few dimensions");
    };
    let subscripts = &args[first..];
    let array = k.scop.array(w.array);
    let (ty, align) = (llvm_elem(ir, array.elem), builder::alignment(k, w.array));
    let Some(base) = k.arrays.get(&w.array).copied() else { return internal("a window without an array") };
    let mut offset = subscripts[0];
    for (d, s) in subscripts.iter().enumerate().skip(1) {
        let size = k.size(w.array, d)?;
        offset = ir.add(ir.mul(offset, size), *s);
    }
    let Some(to) = address(k, w.array, subscripts, None)? else { return internal("a copy without a window") };
    ir.note("a copy to shared memory", &array.display);
    let from = ir.element(ty, base, offset);
    let bytes = array.elem.bytes();
    if copies_without_waiting(kernel)? && align == bytes && copies::copy_element(k, bytes, to, from) {
        return Ok(());
    }
    let Some(v) = groups::batched(k, ty, |ir| Ok(ir.load_aligned(ty, from, align)))? else { return Ok(()) };
    ir.note("a copy to shared memory", &array.display);
    ir.store_aligned(v, to, array.elem.bytes());
    Ok(())
}

/// Whether everything but barriers follows the beginning of its stage, which runs where it does; see the
/// module documentation.
pub(crate) fn scoped(windows: &[Window], node: &isl::AstNode) -> Result<bool> {
    if windows.is_empty() {
        return Ok(true);
    }
    Ok(begun(node, false)?.is_some())
}

/// Whether a stage has begun behind the node, if it had `before` it; `None` if something runs outside of any.
fn begun(node: &isl::AstNode, before: bool) -> Result<Option<bool>> {
    Ok(match node.node_type()? {
        isl::AstNodeType::Block => {
            let mut now = before;
            for child in node.block_children()?.to_vec()? {
                match begun(&child, now)? {
                    Some(then) => now = then,
                    None => return Ok(None),
                }
            }
            Some(now)
        }
        isl::AstNodeType::Mark => begun(&node.mark_node()?, before)?,
        isl::AstNodeType::User => match tuple_of(node)? {
            Some(Enter) => Some(true),
            tuple => (before || tuple == Some(Tuple::Barrier)).then_some(before),
        },
        // What begins in a branch or a loop ends there.
        isl::AstNodeType::If => {
            let mut children = vec![node.if_then()?];
            if node.if_has_else()? {
                children.push(node.if_else()?);
            }
            ends(&children, before)?
        }
        isl::AstNodeType::For => ends(&[node.for_body()?], before)?,
    })
}

/// The same for children whose stages must not reach beyond them.
fn ends(children: &[isl::AstNode], before: bool) -> Result<Option<bool>> {
    for child in children {
        // A stage that begins inside of another one would leave what follows in the wrong one.
        if begun(child, before && !enters(child)?)?.is_none() {
            return Ok(None);
        }
    }
    let mut inner = false;
    for child in children {
        inner |= enters(child)?;
    }
    Ok(Some(before && !inner))
}

fn enters(node: &isl::AstNode) -> Result<bool> {
    Ok(match node.node_type()? {
        isl::AstNodeType::Block => {
            for child in node.block_children()?.to_vec()? {
                if enters(&child)? {
                    return Ok(true);
                }
            }
            false
        }
        isl::AstNodeType::Mark => enters(&node.mark_node()?)?,
        isl::AstNodeType::User => tuple_of(node)? == Some(Enter),
        isl::AstNodeType::If => enters(&node.if_then()?)? || node.if_has_else()? && enters(&node.if_else()?)?,
        isl::AstNodeType::For => enters(&node.for_body()?)?,
    })
}

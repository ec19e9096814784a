//! The state while one kernel is built, and what all code of a kernel asks of it.

use crate::affine::expr::ExprEmitter;
use crate::ir::builder::Ir;
use crate::ir::error::{Result, internal, unsupported};
use crate::ir::intrinsics::{BARRIER, OPAQUE};
use crate::ir::llvm::*;
use crate::kernel::plan::Plan;
use crate::kernel::storage::OfMapping;
use pollyrs_isl as isl;
use pollyrs_schedule::{MappedKernel, MappedScop};
use pollyrs_scop::{ArrayId, Scop, StmtId};
use std::collections::BTreeMap;

/// The state while one kernel is built.
pub(crate) struct KernelBuilder<'a, S> {
    pub scop: &'a Scop,
    pub mapped: &'a MappedScop,
    pub launch: Launch<'a>,
    pub module: Module,
    pub ir: &'a Ir,
    /// Parameters and mapping parameters: what is known in the entry block.
    pub emit: ExprEmitter<'a>,
    /// The address of `[0, ..., 0]`, or of the thread's cell.
    pub arrays: BTreeMap<ArrayId, Value>,
    /// By host value.
    pub invariants: BTreeMap<usize, Value>,
    /// Sizes of array dimensions, computed in the entry block.
    pub sizes: BTreeMap<(ArrayId, usize), Value>,
    /// The branch that ends the entry block.
    pub entry_end: Value,
    pub plans: BTreeMap<StmtId, Plan>,
    pub has_barrier: bool,
    /// Set if the blocks are tasks of a graph.
    pub task: Option<Task>,
    /// Whether what happens at the instance at hand is reported: its point is one that the program computes,
    /// from values that it has there. `None`: all are.
    pub counts: Option<Value>,
    /// By byte of the fault cell: the register that holds whether the thread reports it.
    pub reports: BTreeMap<i64, Value>,
    /// Where elements are that statements access ([`Storage`](crate::kernel::storage::Storage)).
    pub storage: S,
}

/// What a block knows that waits for others ([`pollyrs_schedule::StepsOf::Task`]).
pub(crate) struct Task {
    /// The counter and the flags.
    pub flags: Value,
    /// The linear index of the thread, an `i32`.
    pub thread: Value,
    /// The number of the block.
    pub own: Value,
    /// The smallest coordinate and the number of tiles along each dimension of the grid, but for the number
    /// along the first.
    pub grid: Vec<(Value, Value)>,
}

/// What statements ask of the launch that runs them.
pub(crate) struct Launch<'a> {
    /// The instances, where these tell subscripts something.
    pub domain: Option<isl::UnionSet>,
    /// What holds in every thread.
    pub context: &'a isl::Set,
    /// [`MappedKernel::hoistable`]
    pub hoistable: &'a [(StmtId, usize)],
    /// Threads that run an instance together.
    pub team: u32,
}

impl<'a> Launch<'a> {
    pub fn of(kernel: &'a MappedKernel) -> Launch<'a> {
        // The instances of a time tile are a complicated set that tells subscripts nothing.
        let domain = kernel.steps().is_none().then(|| kernel.domain.clone());
        Launch { domain, context: &kernel.context, hoistable: &kernel.hoistable, team: kernel.team() }
    }
}

impl<'a, S: OfMapping<'a>> KernelBuilder<'a, S> {
    /// The kernel of a mapping; fused steps have none.
    pub fn kernel(&self) -> &'a MappedKernel {
        self.storage.kernel()
    }
}

impl<'a, S> KernelBuilder<'a, S> {
    /// The same, with other storage, for what comes next.
    pub fn with_storage<T>(self, make: impl FnOnce(&Self) -> Result<T>) -> Result<KernelBuilder<'a, T>> {
        let storage = make(&self)?;
        Ok(KernelBuilder {
            scop: self.scop,
            mapped: self.mapped,
            launch: self.launch,
            module: self.module,
            ir: self.ir,
            emit: self.emit,
            arrays: self.arrays,
            invariants: self.invariants,
            sizes: self.sizes,
            entry_end: self.entry_end,
            plans: self.plans,
            has_barrier: self.has_barrier,
            task: self.task,
            counts: self.counts,
            reports: self.reports,
            storage,
        })
    }

    /// Emits at the end of the entry block, then goes back.
    pub(crate) fn at_entry<T>(&self, f: impl FnOnce() -> Result<T>) -> Result<T> {
        let back = self.ir.block();
        self.ir.before(self.entry_end);
        let v = f();
        self.ir.at_end(back);
        v
    }

    /// The number of elements along dimension `d` of an array.
    pub fn size(&mut self, id: ArrayId, d: usize) -> Result<Value> {
        if let Some(v) = self.sizes.get(&(id, d)) {
            return Ok(*v);
        }
        let array = self.scop.array(id);
        let Some(Some(size)) = array.sizes.get(d) else {
            return internal(format!("{} has no size in dimension {d}", array.name));
        };
        let e = crate::affine::expr::pw_aff_expr(size, Some(&self.launch.context.clone().params()?))?;
        let v = self.at_entry(|| self.emit.emit_int(&e))?;
        self.sizes.insert((id, d), v);
        Ok(v)
    }

    /// Goes on in a block that is skipped if `c` holds; what is skipped has to end with a branch to the block
    /// that is given.
    pub(crate) fn unless(&self, c: Value) -> Block {
        let function = self.ir.block().function();
        let (then, after) =
            (self.ir.append_block(function, "store"), self.ir.append_block(function, "stored"));
        self.ir.cond_br(c, after, then);
        self.ir.at_end(then);
        after
    }

    /// `v`, as something that the optimizer knows nothing of.
    pub(crate) fn opaque(&self, v: Value) -> Value {
        let ty = self.ir.i64_type();
        let f = self.module.declare(OPAQUE, ty.function(&[ty]));
        for a in ["nounwind", "willreturn"] {
            f.add_attribute(FUNCTION, a, 0);
        }
        self.ir.call_function(f, &[v])
    }

    /// An abstract function of the target.
    pub fn abstract_call(&self, name: &str, ret: Type) -> Value {
        let f = self.module.declare(name, ret.function(&[]));
        f.add_attribute(FUNCTION, "nounwind", 0);
        f.add_attribute(FUNCTION, "willreturn", 0);
        if name == BARRIER {
            f.add_attribute(FUNCTION, "convergent", 0);
        } else {
            // memory(none)
            f.add_attribute(FUNCTION, "memory", 0);
        }
        self.ir.call_function(f, &[])
    }
}

/// The value of a function that has the same one everywhere.
pub(crate) fn constant<S>(k: &KernelBuilder<'_, S>, f: &isl::PwAff) -> Result<Option<Value>> {
    let e = crate::affine::expr::pw_aff_expr(f, None)?;
    Ok(if e.expr_type()? == isl::AstExprType::Int { Some(k.emit.emit_int(&e)?) } else { None })
}

/// The value of an invariant.
pub(crate) fn invariant<S>(k: &KernelBuilder<'_, S>, v: Value) -> Result<Option<Value>> {
    if let Some(v) = k.invariants.get(&v.address()) {
        return Ok(Some(*v));
    }
    if k.scop.invariants.iter().any(|i| i.value.address() == v.address()) {
        return unsupported(format!("the value {}", v.text()));
    }
    Ok(None)
}

/// The alignment that all accesses of the program claim for an array's elements.
pub(crate) fn alignment<S>(k: &KernelBuilder<'_, S>, id: ArrayId) -> u32 {
    let array = k.scop.array(id);
    let mut align = array.elem.bytes();
    if !array.is_memory() {
        return align;
    }
    for s in &k.scop.statements {
        for a in s.accesses.iter().filter(|a| a.array == id) {
            if let pollyrs_scop::AccessValue::Instruction(i) = a.value {
                align = align.min(host_value(i).alignment());
            }
        }
    }
    align
}

//! One cut of a reduction: the arrays of partial results, the statement on its parts, the one that starts
//! them and the one that applies them.

use super::graft::Graft;
use super::{Chain, PARTS, PARTS_IN_TURN, PARTS_OF_MANY, RUNS};
use crate::planted::planted;
use crate::rewrite::made::Made;
use crate::rewrite::parts::{self, fresh, push};
use crate::tree::ScheduleTree;
use crate::{Result, ScheduleError};
use pollyrs_isl as isl;
use pollyrs_scop::{
    Access, AccessKind, AccessValue, Array, ArrayId, ArrayKind, Cell, Reduction, Scop, Statement, StmtId,
};

/// The SCoP with the chains cut once, with a partial result for each chain, or for those that run side by
/// side where these are `shared`; `None` if that is not possible or has been done often enough.
pub(super) fn into_parts(scop: &Scop, chain: Chain, shared: bool) -> Result<Option<Made>> {
    let s = &scop.statements[chain.statement];
    let Some(update) = &s.reduction else { return Ok(None) };
    let Some(cut) = Cut::new(scop, (s, update), chain, shared)? else { return Ok(None) };
    // Chains of many cells, each with parts, could need far more memory than the program has.
    let kept = chain.kept(shared);
    let Some(sizes) = parts::sizes(scop, &cut.cells, (chain.outer, &kept))? else { return Ok(None) };
    let mut new = scop.clone();
    let partials = cut.partials(&mut new, &sizes);
    let start = fresh(&new, &format!("S{}", new.statements.len()));
    let rest = fresh(&new, &format!("S{}", new.statements.len() + 1));
    cut.run_on_parts(&mut new.statements[chain.statement], &partials)?;
    new.statements.push(cut.start(&start, &partials)?);
    new.statements.push(cut.rest(&rest, &partials)?);
    let Some(tree) = cut.tree(&new)? else { return Ok(None) };
    new.schedule = tree.to_isl()?;
    // What is left of runs is as long as the loop is; parts are as many for every length.
    new.long = scop.long || !cut.commutes && crate::strategy::single_loops(scop)?;
    let instances = [(StmtId(chain.statement), cut.old_of_new)].into_iter().collect();
    Ok(Some(Made { instances, ..Made::from(new) }))
}

/// What is known of a cut before anything is made of it. `S` is the statement, `S'` the same on parts, `p`
/// numbers these.
struct Cut<'a> {
    scop: &'a Scop,
    /// `S`
    statement: &'a Statement,
    update: &'a Reduction,
    chain: Chain,
    /// `{ S'[o, p, ...] -> S[o, ...] }`
    old_of_new: isl::Map,
    /// `{ [o, p] }` of these.
    cells: isl::Set,
    /// `{ S'[o, p, ...] -> [o, p] }`
    wide: isl::Map,
    /// Parts are taken in turn; else they are runs.
    commutes: bool,
    /// The outer iterators that partial results have no subscript for, the last one first.
    dropped: Vec<u32>,
}

/// The partial results of one cell of the update.
struct Partial {
    cell: Cell,
    array: ArrayId,
    name: String,
}

impl<'a> Cut<'a> {
    /// `None` if it has been cut often enough.
    fn new(
        scop: &'a Scop,
        (statement, update): (&'a Statement, &'a Reduction),
        chain: Chain,
        shared: bool,
    ) -> Result<Option<Cut<'a>>> {
        let parts = match () {
            () if chain.is_alone() => PARTS.as_slice(),
            () if shared => PARTS_IN_TURN.as_slice(),
            () => PARTS_OF_MANY.as_slice(),
        };
        let commutes = update.commutative || planted("pair-order");
        let sizes = if commutes { parts } else { RUNS.as_slice() };
        let Some(size) = chain.size.or_else(|| sizes.get(chain.level).copied()) else { return Ok(None) };
        let outer = chain.outer;
        let old_of_new = if is_single(statement, outer)? {
            in_parts_of(statement, outer, size, commutes)?
        } else {
            isl::Set::universe(statement.domain.space()?)?.identity()?
        };
        let domain = statement.domain.clone().apply(old_of_new.clone().reverse()?)?.coalesce()?;
        let inner = domain.dim(isl::DimType::Set)? - outer - 1;
        let cells = domain.clone().project_out(isl::DimType::Set, outer + 1, inner)?.coalesce()?;
        let wide = isl::Set::universe(domain.space()?)?.identity()?;
        let wide = wide.project_out(isl::DimType::Out, outer + 1, inner)?;
        let kept = chain.kept(shared);
        let dropped = (0..outer).rev().filter(|d| !kept.contains(d)).collect();
        Ok(Some(Cut { scop, statement, update, chain, old_of_new, cells, wide, commutes, dropped }))
    }

    /// New arrays for the partial results, and for the news of a NaN where the program has no cell for that.
    fn partials(&self, new: &mut Scop, sizes: &[Option<isl::PwAff>]) -> Vec<Partial> {
        let mut partials = Vec::new();
        for cell in self.update.cells() {
            let target = self.scop.array(self.statement.accesses[cell.write].array);
            let name = fresh(new, &format!("{}_part", target.name));
            let array = Array {
                name: name.clone(),
                display: target.display.clone(),
                elem: target.elem,
                sizes: sizes.to_vec(),
                kind: ArrayKind::Scalar { value: cell.value, live_out: false },
                shift: None,
                apart: None,
            };
            partials.push(Partial { cell, array: push(new, array), name });
        }
        if self.update.numbers {
            parts::add_nan_flag(new);
        }
        partials
    }

    /// `{ S'[o, p, ...] -> P[o, p] }` or `{ X[o, p] -> P[o, p] }`, as `all` is, with the iterators that `P`
    /// has.
    fn partial_of(&self, all: isl::Map, partial: &Partial) -> Result<isl::Map> {
        let mut cell = all;
        for d in &self.dropped {
            cell = cell.project_out(isl::DimType::Out, *d, 1)?;
        }
        Ok(cell.set_tuple_name(isl::DimType::Out, &partial.name)?)
    }

    /// The cell of the instances of a new statement: `{ X[o, p] -> P[o, p] }`
    fn partial_of_new(&self, name: &str, partial: &Partial) -> Result<isl::Map> {
        let all = isl::Set::universe(self.instances(name)?.space()?)?.identity()?;
        self.partial_of(all, partial)
    }

    /// The instances of a new statement, one for each part: `{ X[o, p] }`
    fn instances(&self, name: &str) -> Result<isl::Set> {
        Ok(self.cells.clone().set_tuple_name(name)?)
    }

    /// `S` becomes `S'`.
    fn run_on_parts(&self, s: &mut Statement, partials: &[Partial]) -> Result<()> {
        parts::under(s, &self.old_of_new)?;
        for p in partials {
            for i in [p.cell.read, p.cell.write] {
                s.accesses[i].array = p.array;
                s.accesses[i].relation = self.partial_of(self.wide.clone(), p)?;
            }
        }
        if let Some(r) = &mut s.reduction {
            r.regrouped = true;
        }
        Ok(())
    }

    /// The statement that sets partial results to the identity.
    fn start(&self, name: &str, partials: &[Partial]) -> Result<Statement> {
        let mut accesses = Vec::new();
        for p in partials {
            let value = AccessValue::ScalarWrite(p.cell.identity);
            accesses.push(Access::new(AccessKind::MustWrite, p.array, self.partial_of_new(name, p)?, value));
        }
        self.statement(name, accesses)
    }

    /// The statement that applies partial results to the original cells.
    fn rest(&self, name: &str, partials: &[Partial]) -> Result<Statement> {
        // { R[o, p] -> S[o, ...] }: all instances of the part. The cell depends on o only.
        let members = self.old_of_part(name)?;
        let s = self.statement;
        let on_cell = |i: usize| -> Result<Access> {
            let own = members.clone().intersect_range(s.domain.clone())?;
            let relation = own.apply_range(s.accesses[i].relation.clone())?.coalesce()?;
            Ok(Access { relation, ..s.accesses[i].clone() })
        };
        let (mut accesses, mut companions) = (Vec::new(), Vec::new());
        for p in partials {
            let (read, write) = (accesses.len(), accesses.len() + 1);
            accesses.extend([on_cell(p.cell.read)?, on_cell(p.cell.write)?]);
            let value = AccessValue::ScalarRead(p.cell.value);
            accesses.push(Access::new(AccessKind::Read, p.array, self.partial_of_new(name, p)?, value));
            if read > 0 {
                companions.push(Cell { read, write, ..p.cell });
            }
        }
        let update = self.update.clone();
        Ok(Statement {
            body: update.update.clone(),
            reduction: Some(Reduction { read: 0, write: 1, companions, regrouped: true, ..update }),
            ..self.statement(name, accesses)?
        })
    }

    /// A statement with an instance for each part that only copies values.
    fn statement(&self, name: &str, accesses: Vec<Access>) -> Result<Statement> {
        Ok(parts::plain(name, self.instances(name)?, accesses, self.statement))
    }

    /// `{ X[o, p] -> S[o, ...] }`, the instances of `S` that a new statement stands for.
    fn old_of_part(&self, name: &str) -> Result<isl::Map> {
        let all = self.wide.clone().reverse()?.apply_range(self.old_of_new.clone())?;
        Ok(all.set_tuple_name(isl::DimType::In, name)?)
    }

    /// The schedule with the new statements of `new`; `None` if the loop to be cut is not found.
    fn tree(&self, new: &Scop) -> Result<Option<ScheduleTree>> {
        let s = self.statement;
        let [start, rest] = &new.statements[self.scop.statements.len()..] else {
            return Err(ScheduleError::Unsupported("a reduction without parts"));
        };
        let targets: Vec<_> = self.update.cells().iter().map(|c| s.accesses[c.write].array).collect();
        let graft = Graft {
            users: self.scop.accesses(|t, a| targets.contains(&a.array) && t.name != s.name)?.domain()?,
            at: self.chain.outer,
            all: parts::all_of(s)?,
            views: vec![
                (start.name.clone(), self.old_of_part(&start.name)?),
                (s.name.clone(), self.old_of_new.clone()),
                (rest.name.clone(), self.old_of_part(&rest.name)?),
            ],
            statements: vec![start.clone(), rest.clone()],
            new: new.statements[self.chain.statement].clone(),
            single: is_single(s, self.chain.outer)?,
        };
        let old = ScheduleTree::from_isl(&self.scop.schedule)?;
        let Some(root) = graft.tree(&old.root, &old.domain)? else { return Ok(None) };
        Ok(Some(ScheduleTree { domain: parts::domain_of(new)?, root }))
    }
}

/// Whether the chains, told apart by `outer` iterators, run over one loop.
fn is_single(s: &Statement, outer: u32) -> Result<bool> {
    Ok(s.domain.dim(isl::DimType::Set)? == outer + 1)
}

/// `{ S'[o, p, t] -> S[o, k] }`: parts of the loop over `k`, `k mod size` of them, or runs of `size`
/// iterations where their order counts.
fn in_parts_of(s: &Statement, outer: u32, size: u32, commutes: bool) -> Result<isl::Map> {
    let o: String = (0..outer).map(|d| format!("o{d},")).collect();
    let (k, short) =
        if commutes { (format!("{size} * t + p"), "p") } else { (format!("{size} * p + t"), "t") };
    let name = &s.name;
    let text = format!("{{ {name}[{o}p,t] -> {name}[{o}({k})] : 0 <= {short} < {size} }}");
    Ok(isl::Map::read(s.domain.context(), &text)?)
}

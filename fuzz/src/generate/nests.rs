//! Loop nests: which loops, what stands beside them, which statements are inside.

use super::{Counter, Gen, Size};
use crate::ast::{Cmp, Cond, Data, DataOp, Exit, Index, IndexOp, IntTy, Loop, LoopForm, Node, Target, VarId};

impl Gen<'_> {
    /// Loops around one or more assignments to an array.
    pub(super) fn nest(&mut self) -> Vec<Node> {
        let target = self.rng.below(self.program.arrays.len());
        let mut order: Vec<Size> = self.shapes[target].clone();
        // A leading time index gets no loop.
        if order.len() > 1 && order[0].param.is_none() && order[0].plus < 4 && self.rng.chance(85) {
            order.remove(0);
        }
        if order.len() > 1 && self.rng.chance(12) {
            let (a, b) = (self.rng.below(order.len()), self.rng.below(order.len()));
            order.swap(a, b);
        }
        if order.len() < 4 && self.rng.chance(22) {
            let extra = Size { param: Some(self.rng.below(self.program.n_params)), plus: 0 };
            order.push(extra);
        }
        let counters = self.counters.len();
        let scalars = self.scalars.len();
        let nodes = self.level(target, &order);
        self.counters.truncate(counters);
        self.scalars.truncate(scalars);
        nodes
    }

    pub(super) fn level(&mut self, target: usize, order: &[Size]) -> Vec<Node> {
        let Some((size, inner)) = order.split_first() else { return self.innermost(target) };
        let scalars = self.scalars.len();
        let mut nodes = Vec::new();
        // An accumulator around the loop, or a statement beside it.
        let accumulator = (!self.counters.is_empty() && inner.is_empty() && self.rng.chance(25)).then(|| {
            let (scalar, node) = self.declare_scalar(target);
            nodes.push(node);
            scalar
        });
        if !self.counters.is_empty() && accumulator.is_none() && self.rng.chance(12) {
            nodes.push(self.assign(target));
        }
        // Values of the iterations before, the last one first.
        let mut carried = Vec::new();
        if inner.is_empty() && accumulator.is_none() && self.rng.chance(10) {
            for _ in 0..1 + self.rng.weighted(&[70, 25, 5]) {
                let (scalar, mut node) = self.declare_scalar(target);
                if self.rng.chance(50) {
                    self.scalars.pop();
                    node = Node::Scalar(scalar, self.rhs(self.program.scalars[scalar], None));
                    self.scalars.push(scalar);
                }
                nodes.push(node);
                carried.push(scalar);
            }
        }
        let induction = self.rng.chance(self.oddness / 4).then(|| {
            let ty = if self.rng.chance(70) { IntTy::Int } else { self.counter_ty };
            let var = self.variable("k", ty);
            let start = self.rng.range(0, 3);
            nodes.push(Node::Declare(var, Index::Const(start)));
            var
        });
        let mut l = if self.rng.chance(70u32.saturating_sub(self.oddness)) {
            self.plain_loop(*size)
        } else {
            self.odd_loop(*size)
        };
        self.in_for = l.form == LoopForm::For;
        if let Some(var) = induction {
            self.counters.push(Counter { var, param: size.param, margin: 0, time: false });
        }
        let held = self.counters.len();
        l.body = match accumulator {
            Some(scalar) => {
                let value = self.rhs(self.program.scalars[scalar], None);
                let op = if self.program.scalars[scalar].is_float() || self.rng.chance(70) {
                    DataOp::Add
                } else {
                    DataOp::Xor
                };
                let mut body = vec![Node::Assign(Target::Scalar(scalar), Some(op), value)];
                if self.rng.chance(8) {
                    let exit = self.exit(target);
                    body.insert(self.rng.below(2), exit);
                }
                body
            }
            None => {
                let mut body = self.level(target, inner);
                // Two nests in an iteration, as the steps of an elimination have them.
                if !inner.is_empty() && self.rng.chance(10) {
                    body.extend(self.level(target, inner));
                }
                body
            }
        };
        self.counters.truncate(held);
        l.body.extend(self.carry(target, &carried));
        if let Some(var) = induction {
            let by = self.rng.range(1, 2);
            l.body.push(Node::Advance(var, by));
            self.counters.pop();
        }
        self.counters.pop();
        nodes.push(Node::Loop(l));
        if let Some(scalar) = accumulator {
            let access = self.written(target);
            let elem = self.program.arrays[target].elem;
            let op = self.rng.chance(30).then_some(DataOp::Add);
            let scale = Data::Bin(
                DataOp::Mul,
                Box::new(Data::Scalar(scalar)),
                Box::new(Data::Const(self.rng.range(1, 9) * 63)),
            );
            let value = if elem.is_float() { scale } else { Data::Scalar(scalar) };
            nodes.push(Node::Assign(Target::Array(access), op, value));
        } else if !self.counters.is_empty() && self.rng.chance(10) {
            nodes.push(self.assign(target));
        }
        self.scalars.truncate(scalars);
        nodes
    }

    /// The use of a carried value, and what the next iteration finds.
    fn carry(&mut self, target: usize, carried: &[usize]) -> Vec<Node> {
        let (Some(newest), Some(oldest)) = (carried.first(), carried.last()) else { return Vec::new() };
        let ty = self.program.scalars[*newest];
        let (access, value) = (self.written(target), self.rhs(ty, None));
        let sum = Data::Bin(DataOp::Add, Box::new(Data::Scalar(*oldest)), Box::new(value));
        let mut nodes = vec![Node::Assign(Target::Array(access), None, sum)];
        for pair in carried.windows(2).rev() {
            nodes.push(Node::Assign(Target::Scalar(pair[1]), None, Data::Scalar(pair[0])));
        }
        // Mostly not the value itself, which no iteration could compute anew.
        let held = std::mem::take(&mut self.scalars);
        nodes.push(Node::Assign(Target::Scalar(*newest), None, self.rhs(ty, None)));
        self.scalars = held;
        nodes
    }

    pub(super) fn innermost(&mut self, target: usize) -> Vec<Node> {
        let mut nodes = Vec::new();
        let scalars = self.scalars.len();
        if self.odd() && self.in_for && self.rng.chance(30) {
            nodes.push(Node::Continue(self.cond()));
        }
        let derived = (self.rng.chance(8) && !self.counters.is_empty()).then(|| {
            let value = self.any_index();
            let ty = if self.rng.chance(60) { self.counter_ty } else { IntTy::Int };
            let var = self.variable("d", ty);
            nodes.push(Node::Declare(var, value));
            self.counters.push(Counter { var, param: None, margin: 0, time: false });
        });
        if self.rng.chance(12) {
            let scalar = self.program.scalars.len();
            let ty = self.program.arrays[target].elem.compute();
            let value = self.rhs(ty, None);
            self.program.scalars.push(ty);
            nodes.push(Node::Scalar(scalar, value));
            self.scalars.push(scalar);
        }
        match self.rng.weighted(&[89, 5, 4, 2]) {
            1 => nodes.push(self.exit(target)),
            2 => nodes.extend(self.check()),
            3 => {
                let access = self.written(target);
                nodes.push(Node::CheckData(Data::Load(access)));
            }
            _ => {}
        }
        for extra in 0..1 + self.rng.weighted(&[70, 20, 10]) {
            let target = if extra == 0 || self.rng.chance(50) {
                target
            } else {
                self.rng.below(self.program.arrays.len())
            };
            let statement = self.assign(target);
            nodes.push(self.guarded(statement, target));
        }
        if let Some(scalar) = self.program.result.filter(|_| self.rng.chance(40)) {
            let value = self.rhs(self.program.scalars[scalar], None);
            nodes.push(Node::Assign(Target::Scalar(scalar), Some(DataOp::Add), value));
        }
        if derived.is_some() {
            self.counters.pop();
        }
        self.scalars.truncate(scalars);
        nodes
    }

    /// The statement, now and then under a condition.
    pub(super) fn guarded(&mut self, statement: Node, target: usize) -> Node {
        if self.rng.chance(10 + self.oddness) && !self.counters.is_empty() {
            let cond = self.cond();
            let other = if self.rng.chance(30) { vec![self.assign(target)] } else { Vec::new() };
            Node::If(cond, vec![statement], other)
        } else if self.rng.chance(8) {
            // Arms may store to different elements and arrays, and load what the other does not.
            let (a, b) = (self.written(target), Data::Const(self.rng.range(-300, 300).abs()));
            let mut then = vec![statement];
            if self.rng.chance(25) {
                let more = self.rng.below(self.program.arrays.len());
                then.push(self.assign(more));
            }
            let other = match self.rng.weighted(&[40, 35, 25]) {
                0 => Vec::new(),
                1 => vec![self.assign(target)],
                _ => {
                    let array = self.rng.below(self.program.arrays.len());
                    vec![self.assign(array)]
                }
            };
            Node::IfData(*self.rng.pick(&[Cmp::Lt, Cmp::Gt]), Data::Load(a), b, then, other)
        } else {
            statement
        }
    }

    /// Leaves the loop, or now and then the function, at some of the values of an array.
    fn exit(&mut self, array: usize) -> Node {
        let exit = if self.rng.chance(80) { Exit::Break } else { Exit::Return };
        let load = Data::Load(self.written(array));
        if self.program.arrays[array].elem.is_float() {
            return Node::Exit(exit, Cmp::Gt, load, Data::Const(self.rng.range(900, 999)));
        }
        let masked = Data::Bin(DataOp::And, Box::new(load), Box::new(Data::Const(63)));
        Node::Exit(exit, Cmp::Eq, masked, Data::Const(self.rng.range(0, 63)))
    }

    /// That a counter lies below its size, as languages with checked subscripts have it.
    fn check(&mut self) -> Option<Node> {
        let counter = self.counters.iter().rev().find(|c| c.param.is_some() && !c.time)?;
        let (var, size) = (Index::Var(counter.var), Index::Var(counter.param?));
        let offset = if self.rng.chance(80) { 0 } else { 1 };
        Some(Node::Check(Cond { cmp: Cmp::Lt, a: var, b: size.plus(offset) }))
    }

    /// `for (v = margin; v < size - margin; v++)`
    pub(super) fn plain_loop(&mut self, size: Size) -> Loop {
        let ty = self.counter_ty;
        let var = self.variable("i", ty);
        let margin = [0, 1, 2][self.rng.weighted(&[70, 25, 5])];
        self.counters.push(Counter {
            var,
            param: size.param,
            margin: margin + i64::from(size.plus > 0),
            time: false,
        });
        let unsigned = size.param.is_some_and(|p| !self.program.vars[p].ty.is_signed());
        // `n - 1` of an unsigned n may wrap: as often as not written so that it does not.
        let (low, high) = match size.param {
            Some(p) if margin > 0 && unsigned && self.rng.chance(70) => (margin, Index::Var(p)),
            Some(p) => (margin, Index::Var(p).plus(-margin)),
            None => (margin.min(1), Index::Const((size.plus - margin).max(1))),
        };
        Loop {
            var,
            low: Index::Const(low),
            cmp: Cmp::Lt,
            high,
            step: 1,
            form: LoopForm::For,
            body: Vec::new(),
        }
    }

    pub(super) fn odd_loop(&mut self, size: Size) -> Loop {
        let mut l = self.plain_loop(size);
        let outer: Vec<VarId> = self.counters[..self.counters.len() - 1]
            .iter()
            .filter(|c| c.param == size.param && !c.time)
            .map(|c| c.var)
            .collect();
        match self.rng.below(9) {
            // Triangular.
            0 | 1 if !outer.is_empty() => {
                let var = Index::Var(*self.rng.pick(&outer));
                if self.rng.chance(50) {
                    l.low = var.plus(self.rng.range(0, 1));
                } else {
                    l.high = var.plus(self.rng.range(0, 1));
                }
            }
            2 => l.step = self.rng.range(2, 4),
            // Backwards.
            3 | 0 => {
                let low = std::mem::replace(&mut l.low, l.high.clone().plus(-1));
                l.high = low;
                l.cmp = Cmp::Ge;
                l.step = if self.rng.chance(70) { -1 } else { -2 };
            }
            4 => {
                let bound = match outer.first() {
                    Some(v) if self.rng.chance(60) => Index::Var(*v).plus(self.rng.range(2, 5)),
                    _ => Index::Const(self.rng.range(2, 12)),
                };
                l.high = Index::bin(IndexOp::Min, l.high, bound);
            }
            5 => {
                let bound = match outer.first() {
                    Some(v) => Index::Var(*v).plus(-self.rng.range(1, 3)),
                    None => Index::Const(self.rng.range(1, 4)),
                };
                l.low = Index::bin(IndexOp::Max, l.low, bound);
            }
            6 => {
                l.cmp = Cmp::Le;
                l.high = l.high.plus(-1);
            }
            7 => {
                let by = self.rng.range(2, 3);
                l.high = Index::bin(IndexOp::Div, l.high, Index::Const(by));
            }
            _ => l.cmp = if self.rng.chance(40) { Cmp::Ne } else { Cmp::Lt },
        }
        l.form = [LoopForm::For, LoopForm::While, LoopForm::DoWhile][self.rng.weighted(&[70, 18, 12])];
        l
    }
}

//! Random programs. Nests are built around the array they write: one loop for each of its dimensions, so that most subscripts are
//! what a programmer writes and stay inside, mixed with a share of everything that is not.

use crate::ast::{
    Access, ArgSet, Array, Cmp, Cond, Data, DataOp, Elem, Index, IndexOp, IntTy, Loop, LoopForm, Node,
    Program, Target, Var, VarId,
};
use crate::evaluate::evaluate;
use crate::rng::Rng;

/// A program with at least two argument lists, one of which does some work.
pub fn generate(rng: &mut Rng) -> Program {
    loop {
        let mut program = Gen::new(rng).program();
        program.sets = argument_sets(&program, rng);
        let work = program.sets.iter().filter_map(|s| evaluate(&program, s).ok()).map(|t| t.work).max();
        if program.sets.len() >= 2 && work.unwrap_or(0) >= 8 {
            return program;
        }
    }
}

/// A dimension of an array: parameter (if any) and what is added to it.
#[derive(Clone, Copy, Debug)]
struct Size {
    param: Option<VarId>,
    plus: i64,
}

impl Size {
    fn index(self) -> Index {
        match self.param {
            Some(p) => Index::Var(p).plus(self.plus),
            None => Index::Const(self.plus),
        }
    }
}

/// A counter in scope.
#[derive(Clone, Copy, Debug)]
struct Counter {
    var: VarId,
    param: Option<VarId>,
    /// How far `var ± c` stays inside.
    margin: i64,
    /// Counts time steps.
    time: bool,
}

struct Gen<'r> {
    rng: &'r mut Rng,
    program: Program,
    /// The logical shape of each array.
    shapes: Vec<Vec<Size>>,
    counters: Vec<Counter>,
    /// Scalars in scope.
    scalars: Vec<usize>,
    counter_ty: IntTy,
    /// Subscripts of linear arrays are computed in this type.
    linear_ty: Option<IntTy>,
    /// Percent of odd shapes in bounds, subscripts and conditions.
    oddness: u32,
    steps: Option<VarId>,
    in_for: bool,
}

impl<'r> Gen<'r> {
    fn new(rng: &'r mut Rng) -> Gen<'r> {
        let program = Program {
            vars: Vec::new(),
            n_params: 0,
            arrays: Vec::new(),
            scalars: Vec::new(),
            n_alphas: 0,
            body: Vec::new(),
            result: None,
            sets: Vec::new(),
        };
        let counter_ty = IntTy::ALL[rng.weighted(&[60, 10, 12, 18])];
        let linear_ty = [None, Some(IntTy::Unsigned), Some(IntTy::Long), Some(IntTy::SizeT)]
            [rng.weighted(&[50, 8, 20, 22])];
        let oddness = [0, 8, 25][rng.weighted(&[35, 45, 20])];
        Gen {
            rng,
            program,
            shapes: Vec::new(),
            counters: Vec::new(),
            scalars: Vec::new(),
            counter_ty,
            linear_ty,
            oddness,
            steps: None,
            in_for: true,
        }
    }

    fn odd(&mut self) -> bool {
        self.rng.chance(self.oddness)
    }

    fn variable(&mut self, prefix: &str, ty: IntTy) -> VarId {
        let id = self.program.vars.len();
        self.program.vars.push(Var { name: format!("{prefix}{id}"), ty, by_pointer: false });
        id
    }

    fn program(mut self) -> Program {
        let n_sizes = 1 + self.rng.weighted(&[30, 40, 20]);
        let size_ty = IntTy::ALL[self.rng.weighted(&[65, 8, 10, 17])];
        for _ in 0..n_sizes {
            let ty = if self.rng.chance(90) { size_ty } else { *self.rng.pick(&IntTy::ALL) };
            self.variable("n", ty);
        }
        let timed = self.rng.chance(30);
        if timed {
            let ty = if self.rng.chance(70) { IntTy::Int } else { size_ty };
            self.steps = Some(self.variable("t", ty));
        }
        self.program.n_params = self.program.vars.len();
        if self.rng.chance(12) {
            for var in &mut self.program.vars {
                var.by_pointer = self.rng.chance(70);
            }
        }
        self.arrays(n_sizes, timed);
        if self.rng.chance(30) {
            self.program.scalars.push(self.program.arrays[0].elem.compute());
            self.scalars.push(0);
            self.program.n_alphas = 1;
        }
        let returned = self.rng.chance(12).then(|| self.declare_scalar(0));
        let mut body = Vec::new();
        if let Some((scalar, node)) = returned {
            body.push(node);
            self.program.result = Some(scalar);
        }
        let n_nests = 1 + self.rng.weighted(&[65, 27, 8]);
        if timed && self.rng.chance(85) {
            body.push(self.time_loop(n_nests));
        } else {
            for _ in 0..n_nests {
                let nest = self.nest();
                body.extend(nest);
            }
        }
        self.program.body = body;
        self.program
    }

    fn arrays(&mut self, n_sizes: usize, timed: bool) {
        let main = Elem::ALL[self.rng.weighted(&[20, 40, 3, 6, 3, 4, 12, 5, 5, 2])];
        let depth = 1 + self.rng.weighted(&[30, 45, 18, 7]);
        // 0 variable length, 1 linear, 2 constant inner dimensions
        let form = self.rng.weighted(&[45, 40, 15]);
        let base: Vec<Size> = (0..depth).map(|_| self.size(n_sizes)).collect();
        let restrict = self.rng.chance(25);
        for number in 0..1 + self.rng.weighted(&[12, 40, 32, 16]) {
            let elem = if self.rng.chance(85) { main } else { Elem::ALL[self.rng.below(10)] };
            let mut shape = base.clone();
            if number > 0 && self.rng.chance(30) {
                let n = 1 + self.rng.below(depth);
                shape = (0..n)
                    .map(|_| if self.rng.chance(80) { *self.rng.pick(&base) } else { self.size(n_sizes) })
                    .collect();
            }
            if timed && number == 0 && shape.len() < 4 && self.rng.chance(25) {
                shape.insert(0, Size { param: None, plus: self.rng.range(2, 3) });
            }
            let form = if self.rng.chance(90) { form } else { self.rng.below(3) };
            if form == 2 {
                for size in shape.iter_mut().skip(1) {
                    *size = Size { param: None, plus: *self.rng.pick(&[5, 8, 12, 16, 17]) };
                }
            }
            let dims = if form == 1 { Vec::new() } else { shape.iter().map(|s| s.index()).collect() };
            let name = char::from(b'A' + number as u8).to_string();
            self.program.arrays.push(Array { name, elem, dims, restrict });
            self.shapes.push(shape);
        }
    }

    fn size(&mut self, n_sizes: usize) -> Size {
        let plus = if self.rng.chance(85) { 0 } else { self.rng.range(1, 4) };
        Size { param: Some(self.rng.below(n_sizes)), plus }
    }

    fn declare_scalar(&mut self, array: usize) -> (usize, Node) {
        let scalar = self.program.scalars.len();
        self.program.scalars.push(self.program.arrays[array].elem.compute());
        let start = self.rng.range(-3, 9) * 125;
        self.scalars.push(scalar);
        (scalar, Node::Scalar(scalar, Data::Const(start)))
    }

    fn time_loop(&mut self, n_nests: usize) -> Node {
        let ty = if self.rng.chance(80) { IntTy::Int } else { self.counter_ty };
        let var = self.variable("t", ty);
        let high = self.steps.map_or(Index::Const(3), Index::Var);
        self.counters.push(Counter { var, param: None, margin: 0, time: true });
        let mut body = Vec::new();
        for _ in 0..n_nests {
            let nest = self.nest();
            body.extend(nest);
        }
        let (a, b) = (0, 1);
        let alike = self.program.arrays.len() > 1
            && self.program.arrays[a].elem == self.program.arrays[b].elem
            && self.program.arrays[a].dims == self.program.arrays[b].dims;
        if alike && self.rng.chance(35) {
            if self.rng.chance(60) {
                body.push(Node::Swap(a, b));
                self.program.arrays.iter_mut().for_each(|array| array.restrict = false);
            } else if self.shapes[a].len() == self.shapes[b].len() {
                let copy = self.copy(a, b);
                body.extend(copy);
            }
        }
        self.counters.pop();
        Node::Loop(Loop { var, low: Index::Const(0), cmp: Cmp::Lt, high, step: 1, form: LoopForm::For, body })
    }

    /// `to = from`, element by element.
    fn copy(&mut self, to: usize, from: usize) -> Vec<Node> {
        let shape = self.shapes[to].clone();
        let held = self.counters.len();
        let loops: Vec<Loop> = shape.iter().map(|size| self.plain_loop(*size)).collect();
        let subscripts: Vec<Index> = loops.iter().map(|l| Index::Var(l.var)).collect();
        let target = self.access_of(to, subscripts.clone());
        let source = self.access_of(from, subscripts);
        let node = if self.program.arrays[to].elem.is_float() || !self.program.arrays[from].elem.is_float() {
            Node::Assign(Target::Array(target), None, Data::Load(source))
        } else {
            Node::Assign(Target::Array(target), None, Data::Const(7))
        };
        self.counters.truncate(held);
        loops.into_iter().rev().fold(vec![node], |body, mut l| {
            l.body = body;
            vec![Node::Loop(l)]
        })
    }

    /// Loops around one or more assignments to an array.
    fn nest(&mut self) -> Vec<Node> {
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

    fn level(&mut self, target: usize, order: &[Size]) -> Vec<Node> {
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
                vec![Node::Assign(Target::Scalar(scalar), Some(op), value)]
            }
            None => self.level(target, inner),
        };
        self.counters.truncate(held);
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

    fn innermost(&mut self, target: usize) -> Vec<Node> {
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
    fn guarded(&mut self, statement: Node, target: usize) -> Node {
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

    /// `for (v = margin; v < size - margin; v++)`
    fn plain_loop(&mut self, size: Size) -> Loop {
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

    fn odd_loop(&mut self, size: Size) -> Loop {
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

    fn any_counter(&mut self) -> Option<Counter> {
        if self.counters.is_empty() { None } else { Some(*self.rng.pick(&self.counters)) }
    }

    fn any_index(&mut self) -> Index {
        let Some(counter) = self.any_counter() else { return Index::Const(self.rng.range(0, 3)) };
        let var = Index::Var(counter.var);
        match self.rng.below(10) {
            0 => Index::bin(IndexOp::Mul, Index::Const(self.rng.range(2, 3)), var),
            1 => Index::bin(IndexOp::Mod, var, Index::Const(self.rng.range(2, 5))),
            2 => Index::bin(IndexOp::Div, var, Index::Const(self.rng.range(2, 4))),
            3 => match self.any_counter() {
                Some(other) => Index::bin(IndexOp::Add, var, Index::Var(other.var)),
                None => var,
            },
            4 => match self.any_counter() {
                Some(other) => Index::bin(IndexOp::Sub, var, Index::Var(other.var)),
                None => var,
            },
            5 => {
                let param = self.rng.below(self.program.n_params);
                Index::bin(IndexOp::Sub, Index::Var(param), var).plus(-1)
            }
            6 => Index::bin(IndexOp::Min, var, Index::Const(self.rng.range(3, 9))),
            7 => {
                let sum = Index::bin(IndexOp::Add, var, Index::Const(self.rng.range(1, 3)));
                Index::bin(IndexOp::Mod, sum, Index::Const(self.rng.range(2, 4)))
            }
            _ => var.plus(self.rng.range(-1, 2)),
        }
    }

    fn cond(&mut self) -> Cond {
        let counter = self.any_counter().map_or(Index::Const(1), |c| Index::Var(c.var));
        match self.rng.below(6) {
            0 | 1 => {
                let by = self.rng.range(2, 4);
                let a = if self.rng.chance(60) { counter } else { self.any_index() };
                let cmp = if self.rng.chance(60) { Cmp::Eq } else { Cmp::Ne };
                Cond {
                    cmp,
                    a: Index::bin(IndexOp::Mod, a, Index::Const(by)),
                    b: Index::Const(self.rng.range(0, by - 1)),
                }
            }
            2 => Cond {
                cmp: *self.rng.pick(&[Cmp::Gt, Cmp::Ge, Cmp::Ne]),
                a: counter,
                b: Index::Const(self.rng.range(0, 6)),
            },
            3 => {
                let b = self.any_counter().map_or(Index::Const(2), |c| Index::Var(c.var));
                Cond { cmp: *self.rng.pick(&[Cmp::Lt, Cmp::Le, Cmp::Eq, Cmp::Ne]), a: counter, b }
            }
            4 => {
                let param = Index::Var(self.rng.below(self.program.n_params)).plus(-1);
                Cond { cmp: *self.rng.pick(&[Cmp::Lt, Cmp::Eq, Cmp::Ne]), a: counter, b: param }
            }
            _ => {
                let a = self.any_index();
                Cond {
                    cmp: *self.rng.pick(&[Cmp::Lt, Cmp::Gt, Cmp::Ge]),
                    a,
                    b: Index::Const(self.rng.range(1, 9)),
                }
            }
        }
    }

    /// The subscript of one dimension.
    fn subscript(&mut self, size: Size, taken: &mut Vec<VarId>, moved: bool) -> Index {
        if self.rng.chance(self.oddness / 2) {
            return self.any_index();
        }
        if size.param.is_none() && size.plus < 4 {
            // Time modulo, if there is a time loop.
            let time = self.counters.first().filter(|c| c.time).copied();
            return match time {
                Some(t) => {
                    let sum = Index::Var(t.var).plus(self.rng.range(0, 1));
                    Index::bin(IndexOp::Mod, sum, Index::Const(size.plus))
                }
                None => Index::Const(self.rng.range(0, size.plus - 1)),
            };
        }
        let fitting: Vec<Counter> = self
            .counters
            .iter()
            .filter(|c| c.param == size.param && !c.time && !taken.contains(&c.var))
            .copied()
            .collect();
        let Some(counter) =
            fitting.first().filter(|_| self.rng.chance(80)).or_else(|| fitting.last()).copied()
        else {
            return match (self.rng.below(4), size.param) {
                (0, Some(p)) => Index::Var(p).plus(-1),
                (1, _) => self.any_index(),
                _ => Index::Const(self.rng.range(0, 1)),
            };
        };
        taken.push(counter.var);
        let offset = if !moved {
            0
        } else if counter.margin > 0 {
            self.rng.range(-counter.margin, counter.margin)
        } else {
            [0, -1, 1][self.rng.weighted(&[92, 4, 4])]
        };
        Index::Var(counter.var).plus(offset)
    }

    fn access_of(&mut self, array: usize, subscripts: Vec<Index>) -> Access {
        let shape = self.shapes[array].clone();
        if !self.program.arrays[array].dims.is_empty() {
            return Access { array, subscripts };
        }
        let mut linear: Option<Index> = None;
        for (subscript, size) in subscripts.into_iter().zip(shape) {
            linear = Some(match linear {
                None => match self.linear_ty {
                    Some(ty) => Index::Cast(ty, Box::new(subscript)),
                    None => subscript,
                },
                Some(outer) => {
                    Index::bin(IndexOp::Add, Index::bin(IndexOp::Mul, outer, size.index()), subscript)
                }
            });
        }
        Access { array, subscripts: vec![linear.unwrap_or(Index::Const(0))] }
    }

    fn written(&mut self, array: usize) -> Access {
        let moved = self.rng.chance(15);
        self.some_access(array, moved)
    }

    fn some_access(&mut self, array: usize, moved: bool) -> Access {
        let mut taken = Vec::new();
        let shape = self.shapes[array].clone();
        let subscripts = shape.iter().map(|size| self.subscript(*size, &mut taken, moved)).collect();
        self.access_of(array, subscripts)
    }

    fn assign(&mut self, target: usize) -> Node {
        let access = self.written(target);
        let elem = self.program.arrays[target].elem;
        let op = match self.rng.weighted(&[60, 30, 4, 6]) {
            0 => None,
            1 => Some(DataOp::Add),
            2 => Some(DataOp::Sub),
            _ if elem.is_float() => Some(DataOp::Add),
            _ => Some(DataOp::Xor),
        };
        let value = self.rhs(elem.compute(), Some((target, &access)));
        Node::Assign(Target::Array(access), op, value)
    }

    /// A sum of terms that stay of moderate size.
    fn rhs(&mut self, ty: Elem, written: Option<(usize, &Access)>) -> Data {
        let mut sum = self.term(ty, written);
        for _ in 0..self.rng.weighted(&[30, 35, 20, 15]) {
            let term = self.term(ty, written);
            let op = match self.rng.below(8) {
                0 => DataOp::Sub,
                1 if !ty.is_float() => DataOp::Xor,
                2 if !ty.is_float() => DataOp::And,
                _ => DataOp::Add,
            };
            sum = Data::Bin(op, Box::new(sum), Box::new(term));
        }
        match self.rng.below(24) {
            0 => Data::Abs(Box::new(sum)),
            1 if ty.is_float() => Data::DivBy(Box::new(sum), 3_300),
            1 => Data::DivBy(Box::new(sum), self.rng.range(2, 9)),
            2 if !ty.is_float() => {
                Data::Bin(DataOp::Shr, Box::new(sum), Box::new(Data::Const(self.rng.range(1, 7))))
            }
            3 => {
                let other = self.load(ty, None);
                let cmp = *self.rng.pick(&[Cmp::Lt, Cmp::Gt, Cmp::Le]);
                Data::Select(cmp, Box::new([sum.clone(), other.clone(), sum, other]))
            }
            _ => sum,
        }
    }

    fn load(&mut self, ty: Elem, written: Option<(usize, &Access)>) -> Data {
        // No conversion from floating point to integers: it is undefined out of range.
        let fitting: Vec<usize> = (0..self.program.arrays.len())
            .filter(|a| ty.is_float() || !self.program.arrays[*a].elem.is_float())
            .collect();
        if fitting.is_empty() {
            return Data::Const(self.rng.range(-9, 99));
        }
        let array = *self.rng.pick(&fitting);
        if let Some((target, access)) = written
            && target == array
            && self.rng.chance(50)
        {
            return Data::Load(access.clone());
        }
        let moved = self.rng.chance(55);
        Data::Load(self.some_access(array, moved))
    }

    fn term(&mut self, ty: Elem, written: Option<(usize, &Access)>) -> Data {
        let scalars: Vec<usize> = self
            .scalars
            .iter()
            .copied()
            .filter(|s| ty.is_float() || !self.program.scalars[*s].is_float())
            .collect();
        let factor = Data::Const(self.rng.range(1, 19) * if self.rng.chance(80) { 25 } else { -25 });
        let product = |a: Data, b: Data| Data::Bin(DataOp::Mul, Box::new(a), Box::new(b));
        match self.rng.weighted(&[45, 20, 12, 12, 6]) {
            0 => {
                let load = self.load(ty, written);
                if ty.is_float() || self.rng.chance(40) { product(load, factor) } else { load }
            }
            1 => {
                let (a, b) = (self.load(ty, written), self.load(ty, written));
                product(a, b)
            }
            2 if !scalars.is_empty() => {
                let scalar = Data::Scalar(*self.rng.pick(&scalars));
                let load = self.load(ty, written);
                product(scalar, load)
            }
            3 => {
                let index = if self.rng.chance(70) {
                    self.any_counter().map_or(Index::Const(1), |c| Index::Var(c.var))
                } else {
                    self.any_index()
                };
                product(Data::Index(index), Data::Const(self.rng.range(1, 9)))
            }
            _ => factor,
        }
    }
}

/// Typical sizes first, then tiny and odd ones, then overlapping arrays; those with undefined behaviour are left out.
fn argument_sets(program: &Program, rng: &mut Rng) -> Vec<ArgSet> {
    let mut sets = Vec::new();
    let common = [7, 8, 9, 12, 15, 16, 17, 20, 24, 31, 32, 33, 40];
    let none = vec![None; program.arrays.len()];
    for kind in 0..6 {
        for attempt in 0..5 {
            let params = (0..program.n_params)
                .map(|p| {
                    let signed = program.vars[p].ty.is_signed();
                    if program.vars[p].name.starts_with('t') {
                        return *rng.pick(&[1, 2, 3, 5, 4, 0]);
                    }
                    match kind {
                        1 => rng.range(0, 4),
                        2 if signed && rng.chance(20) => -rng.range(1, 5),
                        2 => *rng.pick(&[1, 0, 2, 64, 65, 5]),
                        _ if attempt > 2 => rng.range(2, 8),
                        _ => *rng.pick(&common),
                    }
                })
                .collect();
            let alias = if kind >= 4 { overlap(program, rng) } else { none.clone() };
            if kind >= 4 && alias == none {
                break;
            }
            let set = ArgSet { params, alias, seed: rng.next() };
            if evaluate(program, &set).is_ok() {
                sets.push(set);
                break;
            }
        }
    }
    sets
}

/// Two or more arrays of one type in the same memory; `restrict` forbids it.
fn overlap(program: &Program, rng: &mut Rng) -> Vec<Option<(usize, i64)>> {
    let mut alias = vec![None; program.arrays.len()];
    for array in 1..program.arrays.len() {
        let owner = rng.below(array);
        let (a, b) = (&program.arrays[array], &program.arrays[owner]);
        if a.elem == b.elem && !a.restrict && !b.restrict && alias[owner].is_none() && rng.chance(70) {
            let distance = *rng.pick(&[0, 0, 1, -1, 3, -2, 17, -33, 100, -150]);
            alias[array] = Some((owner, distance));
        }
    }
    alias
}

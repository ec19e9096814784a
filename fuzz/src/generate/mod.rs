//! Random programs. Nests are built around the array they write: one loop for each of its dimensions, so that
//! most subscripts are what a programmer writes and stay inside, mixed with a share of everything that is
//! not.

mod nests;
mod sets;
mod shapes;
mod values;

use crate::ast::{
    Array, Cmp, Data, Elem, Index, IntTy, Loop, LoopForm, Node, Program, Scale, Target, Var, VarId,
};
use crate::rng::Rng;

/// A program with at least two argument lists, one of which does some work.
pub fn generate(rng: &mut Rng) -> Program {
    loop {
        let mut program = match rng.weighted(&[84, 14, 2]) {
            0 => Gen::new(rng).program(),
            1 => Gen::new(rng).stencil(),
            _ => Gen::new(rng).product(),
        };
        let (sets, work) = sets::argument_sets(&program, rng);
        program.sets = sets;
        let wanted = if program.scale == Scale::Usual { 2 } else { 1 };
        if program.sets.len() >= wanted && work >= 8 {
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
            scale: Scale::Usual,
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
}

//! Programs of a shape that a special strategy takes: stencils over time, which are fused, and products,
//! which are tiled. Chance alone hardly ever makes one.

use super::{Gen, Size};
use crate::ast::{
    Access, Array, Cmp, Data, DataOp, Elem, Index, IndexOp, IntTy, Loop, LoopForm, Node, Program, Scale,
    Target, VarId,
};

impl Gen<'_> {
    /// `for t: A[(t+1)%2][i][j] = sum of neighbours in A[t%2]`, or two arrays and a copy back; one to three
    /// dimensions.
    pub(super) fn stencil(mut self) -> Program {
        let dims = 1 + self.rng.weighted(&[30, 55, 15]);
        let sizes: Vec<VarId> = (0..dims).map(|_| self.variable("n", IntTy::Int)).collect();
        let steps = self.variable("t", IntTy::Int);
        self.program.n_params = self.program.vars.len();
        self.program.scale = Scale::Steps;
        let elem = [Elem::F32, Elem::F64, Elem::I32][self.rng.weighted(&[45, 45, 10])];
        let form = self.rng.below(3);
        let shape: Vec<Index> = sizes.iter().map(|n| Index::Var(*n)).collect();
        let planes = if form == 0 { vec![vec![Index::Const(2)]] } else { vec![Vec::new(), Vec::new()] };
        for (number, mut front) in planes.into_iter().enumerate() {
            front.extend(shape.iter().cloned());
            let name = char::from(b'A' + number as u8).to_string();
            self.program.arrays.push(Array { name, elem, dims: front, restrict: false });
            self.shapes.push(sizes.iter().map(|n| Size { param: Some(*n), plus: 0 }).collect());
        }
        let time = self.variable("t", IntTy::Int);
        let (near, far) = if self.rng.chance(75) { (1, 1) } else { (2, 1) };
        let body = match form {
            0 => {
                let plane =
                    |plus: i64| vec![Index::bin(IndexOp::Mod, Index::Var(time).plus(plus), Index::Const(2))];
                self.sweep(&sizes, (0, plane(1)), (0, plane(0)), near, far)
            }
            _ => {
                let mut body = self.sweep(&sizes, (1, vec![]), (0, vec![]), near, far);
                body.extend(if form == 1 {
                    self.sweep(&sizes, (0, vec![]), (1, vec![]), 0, 0)
                } else {
                    self.sweep(&sizes, (0, vec![]), (1, vec![]), near, far)
                });
                body
            }
        };
        let (low, high) = (Index::Const(0), Index::Var(steps));
        self.program.body =
            vec![Node::Loop(Loop { var: time, low, cmp: Cmp::Lt, high, step: 1, form: LoopForm::For, body })];
        self.program
    }

    /// One step: `to[i] = sum of c * from[i + o]`; both with leading subscripts.
    fn sweep(
        &mut self,
        sizes: &[VarId],
        to: (usize, Vec<Index>),
        from: (usize, Vec<Index>),
        low: i64,
        high: i64,
    ) -> Vec<Node> {
        let counters: Vec<VarId> = sizes.iter().map(|_| self.variable("i", IntTy::Int)).collect();
        let elem = self.program.arrays[0].elem;
        let at = |(array, front): &(usize, Vec<Index>), offsets: &[i64]| {
            let mut subscripts = front.clone();
            subscripts.extend(counters.iter().zip(offsets).map(|(c, o)| Index::Var(*c).plus(*o)));
            Access { array: *array, subscripts }
        };
        let mut offsets = vec![vec![0; sizes.len()]];
        for _ in 0..if low + high == 0 { 0 } else { 1 + self.rng.below(5) } {
            let star = self.rng.chance(70);
            let along = self.rng.below(sizes.len());
            let offset = (0..sizes.len())
                .map(|d| if star && d != along { 0 } else { self.rng.range(-low, high) })
                .collect();
            offsets.push(offset);
        }
        let terms = offsets.iter().map(|o| {
            let load = Data::Load(at(&from, o));
            if low + high == 0 {
                return load;
            }
            // Never to zero or to a constant.
            let factor = if elem.is_float() { self.rng.range(90, 240) } else { self.rng.range(1, 7) };
            Data::Bin(DataOp::Mul, Box::new(load), Box::new(Data::Const(factor)))
        });
        let terms: Vec<Data> = terms.collect();
        let sum = terms.into_iter().reduce(|a, b| Data::Bin(DataOp::Add, Box::new(a), Box::new(b)));
        let value = sum.unwrap_or(Data::Const(1));
        let node = Node::Assign(Target::Array(at(&to, &vec![0; sizes.len()])), None, value);
        counters.iter().zip(sizes).rev().fold(vec![node], |body, (var, size)| {
            let (low, high) = (Index::Const(low), Index::Var(*size).plus(-high));
            vec![Node::Loop(Loop { var: *var, low, cmp: Cmp::Lt, high, step: 1, form: LoopForm::For, body })]
        })
    }

    /// `C[i][j] += A[i][k] * B[k][j]`, operands transposed now and then, a scaling in front.
    pub(super) fn product(mut self) -> Program {
        let [n, m, k] = [0; 3].map(|_| self.variable("n", IntTy::Int));
        self.program.n_params = self.program.vars.len();
        self.program.scale = Scale::Wide;
        let elem = [Elem::F32, Elem::F64][self.rng.below(2)];
        let (across_a, across_b) = (self.rng.chance(35), self.rng.chance(35));
        let mut array = |name: &str, sizes: [VarId; 2], across: bool| {
            let mut dims = sizes.map(Index::Var).to_vec();
            if across {
                dims.reverse();
            }
            self.program.arrays.push(Array { name: name.into(), elem, dims, restrict: false });
            self.shapes.push(Vec::new());
        };
        array("A", [n, k], across_a);
        array("B", [k, m], across_b);
        array("C", [n, m], false);
        let [i, j, l] = [0; 3].map(|_| self.variable("i", IntTy::Int));
        let access = |array, subscripts: [VarId; 2], across: bool| {
            let mut subscripts = subscripts.map(Index::Var).to_vec();
            if across {
                subscripts.reverse();
            }
            Access { array, subscripts }
        };
        let load = |array, subscripts, across| Box::new(Data::Load(access(array, subscripts, across)));
        let mut value = Data::Bin(DataOp::Mul, load(0, [i, l], across_a), load(1, [l, j], across_b));
        if self.rng.chance(40) {
            value = Data::Bin(DataOp::Mul, Box::new(value), Box::new(Data::Const(370)));
        }
        let sum = Node::Assign(Target::Array(access(2, [i, j], false)), Some(DataOp::Add), value);
        let around = |var, size, body| {
            let (low, high) = (Index::Const(0), Index::Var(size));
            Node::Loop(Loop { var, low, cmp: Cmp::Lt, high, step: 1, form: LoopForm::For, body })
        };
        let mut inner = vec![around(l, k, vec![sum])];
        if self.rng.chance(50) {
            let scaled = Data::Bin(DataOp::Mul, load(2, [i, j], false), Box::new(Data::Const(700)));
            inner.insert(0, Node::Assign(Target::Array(access(2, [i, j], false)), None, scaled));
        }
        self.program.body = vec![around(i, n, vec![around(j, m, inner)])];
        self.program
    }
}

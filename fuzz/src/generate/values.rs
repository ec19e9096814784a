//! Expressions: subscripts, conditions, right-hand sides.

use super::{Counter, Gen, Size};
use crate::ast::{Access, Cmp, Cond, Data, DataOp, Elem, Index, IndexOp, Node, Target, VarId};

impl Gen<'_> {
    pub(super) fn any_counter(&mut self) -> Option<Counter> {
        if self.counters.is_empty() { None } else { Some(*self.rng.pick(&self.counters)) }
    }

    pub(super) fn any_index(&mut self) -> Index {
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

    pub(super) fn cond(&mut self) -> Cond {
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
    pub(super) fn subscript(&mut self, size: Size, taken: &mut Vec<VarId>, moved: bool) -> Index {
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

    pub(super) fn access_of(&mut self, array: usize, subscripts: Vec<Index>) -> Access {
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

    pub(super) fn written(&mut self, array: usize) -> Access {
        let moved = self.rng.chance(15);
        self.some_access(array, moved)
    }

    pub(super) fn some_access(&mut self, array: usize, moved: bool) -> Access {
        let mut taken = Vec::new();
        let shape = self.shapes[array].clone();
        let subscripts = shape.iter().map(|size| self.subscript(*size, &mut taken, moved)).collect();
        self.access_of(array, subscripts)
    }

    pub(super) fn assign(&mut self, target: usize) -> Node {
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
    pub(super) fn rhs(&mut self, ty: Elem, written: Option<(usize, &Access)>) -> Data {
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

    pub(super) fn load(&mut self, ty: Elem, written: Option<(usize, &Access)>) -> Data {
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

    pub(super) fn term(&mut self, ty: Elem, written: Option<(usize, &Access)>) -> Data {
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

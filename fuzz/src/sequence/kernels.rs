//! Random kernels of a sequence.

use super::Language;
use super::ast::{
    Elem, Home, Index, Kernel, Node, Op, PAGE, Param, Place, Program, Scalar, Sym, Term, Value,
};
use crate::rng::Rng;

pub(super) fn kernel(rng: &mut Rng, program: &Program, language: Language, indices: bool) -> Kernel {
    let mut params: Vec<Param> = (0..1 + rng.weighted(&[25, 50, 25]))
        .map(|_| Param { elem: elem_of_objects(rng, program), index: false, restrict: rng.chance(15) })
        .collect();
    if language.has_pages() && rng.chance(15) {
        return retyping(rng);
    }
    if let Some(kernel) = rng.chance(25).then(|| over_a_hole(rng, program)).flatten() {
        return kernel;
    }
    let through = (indices && rng.chance(75)).then(|| {
        params.push(Param { elem: Elem::Scalar(Scalar::I32), index: true, restrict: false });
        params.len() - 1
    });
    let mut shape = Shape { params, program, through };
    let mut body = Vec::new();
    for _ in 0..1 + rng.weighted(&[35, 40, 25]) {
        let node = match rng.weighted(&[80, 7, 5, 8]) {
            1 => Node::Tick,
            2 if language.has_jumps() => Node::Leave,
            3 => {
                let zero = Index::default();
                Node::Note(shape.place(rng, &zero, None))
            }
            _ => shape.nest(rng),
        };
        body.push(node);
    }
    if !body.iter().any(|n| matches!(n, Node::Loop { .. })) {
        body.push(shape.nest(rng));
    }
    if rng.chance(12) {
        body = vec![Node::Repeat { times: 2 + rng.below(2) as i64, body }];
    }
    let params = std::mem::take(&mut shape.params);
    Kernel { params, body, second: rng.chance(25), inline: rng.chance(25), long: rng.chance(40) }
}

/// Stores to what may be the same memory in two types.
fn retyping(rng: &mut Rng) -> Kernel {
    let types = [Scalar::I32, Scalar::F32, Scalar::I64, Scalar::F64, Scalar::U16];
    let first = rng.below(types.len());
    let second = (first + 1 + rng.below(types.len() - 1)) % types.len();
    let params =
        [first, second].map(|t| Param { elem: Elem::Scalar(types[t]), index: false, restrict: false });
    let at = |param, offset: bool| {
        let mut index = Index { terms: vec![term(1, None, Some(0))], ..Index::default() };
        index.terms.extend(offset.then(|| term(1, Some(Sym::K), None)));
        Place { param, index, leaf: 0, sub: None }
    };
    let store = |to, value| vec![Node::Assign { to, update: None, value }];
    let simple = if rng.chance(50) { Value::Var(0) } else { Value::Const(rng.range(1, 90)) };
    let again = match rng.weighted(&[60, 20, 20]) {
        0 => Value::Var(0),
        1 => Value::Load(at(0, false)),
        _ => Value::Bin(Op::Add, Box::new(Value::Load(at(0, false))), Box::new(Value::Var(0))),
    };
    let nest = |body| Node::Loop { var: 0, low: 0, high: Sym::N, step: 1, down: false, body };
    let mut body = vec![nest(store(at(0, false), simple)), nest(store(at(1, rng.chance(40)), again))];
    match rng.below(5) {
        0 => body.insert(1, Node::Tick),
        1 => body.push(nest(store(at(0, false), Value::Var(0)))),
        _ => {}
    }
    Kernel {
        params: params.to_vec(),
        body,
        second: rng.chance(25),
        inline: rng.chance(25),
        long: rng.chance(40),
    }
}

/// Elements on both sides of a page that nobody may touch: one array, from the first to the last of them.
fn over_a_hole(rng: &mut Rng, program: &Program) -> Option<Kernel> {
    let object = program.objects.iter().find(|o| o.home == Home::Holes)?;
    let bytes = program.layout(object.elem).bytes;
    if 2 * PAGE % bytes != 0 {
        return None;
    }
    let params = vec![Param { elem: object.elem, index: false, restrict: false }];
    let far = 2 * PAGE / bytes;
    let mut shape = Shape { params, program, through: None };
    let mut at = |rng: &mut Rng, constant| {
        let index = Index { constant, terms: vec![term(1, None, Some(0))], through: None };
        shape.place(rng, &index, Some(0))
    };
    let store = |to, value| {
        let body = vec![Node::Assign { to, update: None, value }];
        Node::Loop { var: 0, low: 0, high: Sym::N, step: 1, down: false, body }
    };
    let (near, behind) = (at(rng, 0), at(rng, far));
    let body = match rng.weighted(&[70, 15, 15]) {
        0 => vec![store(near, Value::Var(0)), store(behind, Value::Const(rng.range(1, 90)))],
        1 => vec![store(near, Value::Load(behind))],
        _ => vec![store(behind, Value::Bin(Op::Add, Box::new(Value::Load(near)), Box::new(Value::Var(0))))],
    };
    Some(Kernel {
        params: shape.params,
        body,
        second: rng.chance(25),
        inline: rng.chance(25),
        long: rng.chance(40),
    })
}

/// A type that is likely to lie somewhere.
fn elem_of_objects(rng: &mut Rng, program: &Program) -> Elem {
    let object = &program.objects[rng.below(program.objects.len())];
    match object.elem {
        Elem::Struct(id) if rng.chance(20) => {
            let layout = super::ast::layout(&program.structs, id);
            Elem::Scalar(layout.leaves[rng.below(layout.leaves.len())].scalar)
        }
        e => e,
    }
}

struct Shape<'a> {
    params: Vec<Param>,
    program: &'a Program,
    /// The parameter with indices.
    through: Option<usize>,
}

fn term(coefficient: i64, sym: Option<Sym>, var: Option<usize>) -> Term {
    Term { coefficient, sym, var }
}

impl Shape<'_> {
    fn nest(&mut self, rng: &mut Rng) -> Node {
        let low = if rng.chance(80) { 0 } else { rng.range(1, 3) };
        let step = if rng.chance(88) { 1 } else { 2 };
        let down = rng.chance(8);
        let outer = |body| Node::Loop { var: 0, low, high: Sym::N, step, down, body };
        if rng.chance(30) {
            // Rows.
            let inner = Node::Loop {
                var: 1,
                low: 0,
                high: Sym::M,
                step: 1,
                down: false,
                body: self.statements(rng, 2),
            };
            outer(vec![inner])
        } else {
            outer(self.statements(rng, 1))
        }
    }

    fn statements(&mut self, rng: &mut Rng, depth: usize) -> Vec<Node> {
        (0..1 + rng.weighted(&[50, 35, 15]))
            .map(|_| {
                let to_index = self.index(rng, depth, true);
                let to = self.place(rng, &to_index, Some(depth - 1));
                let value = self.value(rng, depth, 2);
                let update = rng.chance(25).then(|| *rng.pick(&[Op::Add, Op::Sub, Op::Xor]));
                let assign = Node::Assign { to, update, value };
                if rng.chance(10) {
                    let index = self.index(rng, depth, false);
                    let place = self.place(rng, &index, Some(depth - 1));
                    Node::IfData { place, above: rng.range(-3, 60), body: vec![assign] }
                } else {
                    assign
                }
            })
            .collect()
    }

    /// An index in elements.
    fn index(&mut self, rng: &mut Rng, depth: usize, store: bool) -> Index {
        let mut index =
            Index { constant: if rng.chance(70) { 0 } else { rng.range(0, 4) }, ..Index::default() };
        if let Some(param) = self.through
            && rng.chance(if store { 35 } else { 55 })
        {
            let inner = Index { terms: vec![term(1, None, Some(depth - 1))], ..Index::default() };
            index.through = Some((param, Box::new(inner)));
            return index;
        }
        if depth == 2 {
            index.terms.push(term(1, Some(Sym::L), Some(0)));
            index.terms.push(term(1, None, Some(1)));
        } else if rng.chance(15) {
            index.constant -= 1;
            index.terms.push(term(1, Some(Sym::N), None));
            index.terms.push(term(-1, None, Some(0)));
        } else {
            let coefficient = [1, 2, 3][rng.weighted(&[85, 10, 5])];
            index.terms.push(term(coefficient, None, Some(0)));
        }
        if rng.chance(12) {
            index.terms.push(term(1, Some(Sym::K), None));
        }
        index
    }

    /// `var`: the innermost loop.
    fn place(&mut self, rng: &mut Rng, index: &Index, var: Option<usize>) -> Place {
        let data: Vec<usize> = (0..self.params.len()).filter(|p| !self.params[*p].index).collect();
        let param = *rng.pick(&data);
        let layout = self.program.layout(self.params[param].elem);
        let leaf = rng.below(layout.leaves.len());
        let mut index = index.clone();
        // A member seen as an array of scalars.
        if let (Elem::Scalar(s), Some(Term { coefficient: 1, sym: None, var: Some(_) })) =
            (self.params[param].elem, index.terms.first())
            && rng.chance(25)
            && let Some(id) = (0..self.program.structs.len()).find(|_| true)
        {
            let bytes = super::ast::layout(&self.program.structs, id).bytes;
            if bytes % s.bytes() == 0 {
                index.terms[0].coefficient = bytes / s.bytes();
            }
        }
        let sub = layout.leaves[leaf].array.then(|| {
            let count = layout.leaves[leaf].count;
            let _ = var;
            Index { constant: rng.below(count) as i64, ..Index::default() }
        });
        Place { param, index, leaf, sub }
    }

    fn value(&mut self, rng: &mut Rng, depth: usize, height: usize) -> Value {
        match rng.weighted(&[15, 15, 45, if height > 0 { 35 } else { 0 }]) {
            0 => Value::Const(rng.range(-9, 99)),
            1 => Value::Var(rng.below(depth)),
            2 => {
                let index = self.index(rng, depth, false);
                Value::Load(self.place(rng, &index, Some(depth - 1)))
            }
            _ => {
                let op = *rng.pick(&[Op::Add, Op::Sub, Op::Mul, Op::Xor]);
                let a = self.value(rng, depth, height - 1);
                let b = self.value(rng, depth, height - 1);
                Value::Bin(op, Box::new(a), Box::new(b))
            }
        }
    }
}

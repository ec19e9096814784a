//! Makes a failing program small: tries one change after the other and keeps those after which it still fails
//! in the same way.

use crate::ast::{Data, Elem, Index, LoopForm, Node, Program, Target};
use crate::evaluate::evaluate;
use std::time::Instant;

/// The smallest program found until `deadline`; `fails` runs a candidate.
pub fn shrink(program: &Program, deadline: Instant, fails: &mut dyn FnMut(&Program) -> bool) -> Program {
    let mut best = program.clone();
    loop {
        let mut changed = false;
        let mut position = 0;
        while Instant::now() < deadline {
            let Some(candidate) = candidate(&best, position) else { break };
            // An illegal change is as good as one after which nothing fails.
            if candidate != best && valid(&candidate) && fails(&candidate) {
                best = candidate;
                changed = true;
            } else {
                position += 1;
            }
        }
        if !changed || Instant::now() >= deadline {
            return best;
        }
    }
}

fn valid(program: &Program) -> bool {
    !program.sets.is_empty() && program.sets.iter().all(|set| evaluate(program, set).is_ok())
}

/// The n-th change of a program, coarse ones first; `None` behind the last.
fn candidate(program: &Program, n: usize) -> Option<Program> {
    let mut p = program.clone();
    let mut left = n;
    // One argument list.
    if p.sets.len() > 1 {
        if left < p.sets.len() {
            p.sets = vec![p.sets[left].clone()];
            return Some(p);
        }
        left -= p.sets.len();
    }
    // Nodes and expressions, by counting the places where something can be done.
    let mut edit = Edit { left, done: false };
    edit.nodes(&mut p.body);
    if edit.done {
        return Some(p);
    }
    left = edit.left;
    // Sizes, overlaps.
    for s in 0..p.sets.len() {
        for k in 0..p.sets[s].params.len() {
            let value = p.sets[s].params[k];
            for smaller in [0, 1, 2, 3, value / 2, value - 1] {
                if smaller.abs() < value.abs() {
                    if left == 0 {
                        p.sets[s].params[k] = smaller;
                        return Some(p);
                    }
                    left -= 1;
                }
            }
        }
        for k in 0..p.sets[s].alias.len() {
            for other in [
                None,
                p.sets[s].alias[k].map(|(a, _)| (a, 0)),
                p.sets[s].alias[k].map(|(a, d)| (a, d.signum())),
            ] {
                if p.sets[s].alias[k] != other {
                    if left == 0 {
                        p.sets[s].alias[k] = other;
                        return Some(p);
                    }
                    left -= 1;
                }
            }
        }
    }
    if p.result.is_some() {
        if left == 0 {
            p.result = None;
            return Some(p);
        }
        left -= 1;
    }
    for v in 0..p.n_params {
        if p.vars[v].by_pointer {
            if left == 0 {
                p.vars[v].by_pointer = false;
                return Some(p);
            }
            left -= 1;
        }
    }
    for a in 0..p.arrays.len() {
        let array = &mut p.arrays[a];
        if array.elem != Elem::F64 && array.elem != Elem::I32 {
            if left == 0 {
                array.elem = if array.elem.is_float() { Elem::F64 } else { Elem::I32 };
                return Some(p);
            }
            left -= 1;
        }
    }
    drop_last_array(p, left)
}

/// An array nobody uses goes, if it is the last.
fn drop_last_array(mut p: Program, left: usize) -> Option<Program> {
    let text = format!("{:?}", p.body);
    let last = p.arrays.len().checked_sub(1)?;
    let used = text.contains(&format!("array: {last},")) || text.contains("Swap(");
    if used || left > 0 || last == 0 {
        return None;
    }
    p.arrays.pop();
    p.sets.iter_mut().for_each(|s| s.alias.truncate(last));
    Some(p)
}

/// Walks over a program, counts the changes that are possible and makes the one asked for.
struct Edit {
    left: usize,
    done: bool,
}

impl Edit {
    /// Whether it is this one's turn.
    fn turn(&mut self) -> bool {
        if self.done {
            return false;
        }
        if self.left == 0 {
            self.done = true;
            return true;
        }
        self.left -= 1;
        false
    }

    fn nodes(&mut self, nodes: &mut Vec<Node>) {
        for at in 0..nodes.len() {
            if self.turn() {
                nodes.remove(at);
                return;
            }
        }
        for at in 0..nodes.len() {
            match &mut nodes[at] {
                Node::Loop(l) => {
                    if self.turn() {
                        // One iteration.
                        let (var, low, mut body) = (l.var, l.low.clone(), std::mem::take(&mut l.body));
                        body.insert(0, Node::Declare(var, low));
                        nodes.splice(at..=at, body);
                        return;
                    }
                    if l.form != LoopForm::For && self.turn() {
                        l.form = LoopForm::For;
                        return;
                    }
                    if l.step.abs() != 1 && self.turn() {
                        l.step = l.step.signum();
                        return;
                    }
                    self.index(&mut l.low);
                    self.index(&mut l.high);
                    self.nodes(&mut l.body);
                }
                Node::If(cond, then, other) => {
                    if self.turn() {
                        let body = std::mem::take(then);
                        nodes.splice(at..=at, body);
                        return;
                    }
                    if !other.is_empty() && self.turn() {
                        let body = std::mem::take(other);
                        nodes.splice(at..=at, body);
                        return;
                    }
                    self.index(&mut cond.a);
                    self.index(&mut cond.b);
                    self.nodes(then);
                    self.nodes(other);
                }
                Node::IfData(_, a, b, then, other) => {
                    if self.turn() {
                        let body = std::mem::take(then);
                        nodes.splice(at..=at, body);
                        return;
                    }
                    if !other.is_empty() && self.turn() {
                        other.clear();
                        return;
                    }
                    self.data(a);
                    self.data(b);
                    self.nodes(then);
                    self.nodes(other);
                }
                Node::Assign(target, op, value) => {
                    if op.is_some() && self.turn() {
                        *op = None;
                        return;
                    }
                    if let Target::Array(access) = target {
                        access.subscripts.iter_mut().for_each(|s| self.index(s));
                    }
                    self.data(value);
                }
                Node::Scalar(_, value) => self.data(value),
                Node::Declare(_, value) => self.index(value),
                Node::Exit(_, _, a, b) => {
                    self.data(a);
                    self.data(b);
                }
                Node::CheckData(value) => self.data(value),
                Node::Continue(cond) | Node::Check(cond) => {
                    self.index(&mut cond.a);
                    self.index(&mut cond.b);
                }
                Node::Advance(..) | Node::Swap(..) => {}
            }
            if self.done {
                return;
            }
        }
    }

    fn index(&mut self, index: &mut Index) {
        match index {
            Index::Const(c) => {
                if *c != 0 && self.turn() {
                    *c = 0;
                } else if c.abs() > 1 && self.turn() {
                    *c /= 2;
                }
            }
            Index::Var(_) => {}
            Index::Cast(_, inner) => {
                if self.turn() {
                    *index = (**inner).clone();
                } else {
                    self.index(inner);
                }
            }
            Index::Bin(_, a, b) => {
                if self.turn() {
                    *index = (**a).clone();
                } else if self.turn() {
                    *index = (**b).clone();
                } else {
                    self.index(a);
                    self.index(b);
                }
            }
        }
    }

    fn data(&mut self, data: &mut Data) {
        match data {
            Data::Const(_) | Data::Scalar(_) => {}
            Data::Load(access) => {
                if self.turn() {
                    *data = Data::Const(500);
                } else {
                    access.subscripts.iter_mut().for_each(|s| self.index(s));
                }
            }
            Data::Index(index) => self.index(index),
            Data::Bin(_, a, b) => {
                if self.turn() {
                    *data = (**a).clone();
                } else if self.turn() {
                    *data = (**b).clone();
                } else {
                    self.data(a);
                    self.data(b);
                }
            }
            Data::DivBy(a, _) | Data::Abs(a) => {
                if self.turn() {
                    *data = (**a).clone();
                } else {
                    self.data(a);
                }
            }
            Data::Select(_, parts) => {
                if self.turn() {
                    *data = parts[2].clone();
                } else if self.turn() {
                    *data = parts[3].clone();
                } else {
                    parts.iter_mut().for_each(|p| self.data(p));
                }
            }
        }
    }
}

//! Makes a failing sequence small: events go, then parts of functions, sizes, what is not used.

use super::ast::{Call, Event, Index, Node, Program, Value};
use super::simulate::simulate;
use std::time::Instant;

/// The smallest program found until `deadline`; `fails` runs a candidate.
pub fn shrink(program: &Program, deadline: Instant, fails: &mut dyn FnMut(&Program) -> bool) -> Program {
    let mut best = program.clone();
    loop {
        let mut changed = false;
        let mut position = 0;
        while Instant::now() < deadline {
            let Some(candidate) = candidate(&best, position) else { break };
            if candidate != best && simulate(&candidate).is_ok() && fails(&candidate) {
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

/// The n-th change of a program, coarse ones first; `None` behind the last.
fn candidate(program: &Program, n: usize) -> Option<Program> {
    let mut p = program.clone();
    let mut edit = Edit { left: n, done: false };
    edit.events(&mut p.events);
    for kernel in &mut p.kernels {
        edit.nodes(&mut kernel.body);
    }
    edit.sizes(&mut p.events);
    for k in 0..p.kernels.len() {
        let kernel = &mut p.kernels[k];
        for flag in [&mut kernel.second, &mut kernel.inline, &mut kernel.long] {
            if *flag && edit.turn() {
                *flag = false;
            }
        }
        for param in &mut kernel.params {
            if param.restrict && edit.turn() {
                param.restrict = false;
            }
        }
    }
    if p.globals && edit.turn() {
        p.globals = false;
    }
    for k in (0..p.kernels.len()).rev() {
        if !edit.done && !uses_kernel(&p.events, k) && edit.turn() {
            p.kernels.remove(k);
            each_call(&mut p.events, &mut |call| call.kernel -= usize::from(call.kernel > k));
        }
    }
    for o in (0..p.objects.len()).rev() {
        if !edit.done && p.objects.len() > 1 && !uses_object(&mut p.events, o) && edit.turn() {
            p.objects.remove(o);
            each_object(&mut p.events, &mut |object| *object -= usize::from(*object > o));
        }
    }
    edit.done.then_some(p)
}

fn uses_kernel(events: &[Event], k: usize) -> bool {
    let mut used = false;
    super::ast::each_event(events, &mut |event| {
        if let Event::Call(call) | Event::Beside { call, .. } = event {
            used |= call.kernel == k;
        }
    });
    used
}

fn uses_object(events: &mut [Event], o: usize) -> bool {
    let mut used = false;
    each_object(events, &mut |object| used |= *object == o);
    used
}

fn each_call(events: &mut [Event], f: &mut dyn FnMut(&mut Call)) {
    for event in events {
        match event {
            Event::Call(call) | Event::Beside { call, .. } => f(call),
            Event::Sub { events, .. } | Event::Repeat { events, .. } => each_call(events, f),
            _ => {}
        }
    }
}

fn each_object(events: &mut [Event], f: &mut dyn FnMut(&mut usize)) {
    for event in events {
        match event {
            Event::Call(call) => call.args.iter_mut().for_each(|a| f(&mut a.object)),
            Event::Beside { object, call, .. } => {
                f(object);
                call.args.iter_mut().for_each(|a| f(&mut a.object));
            }
            Event::Read(part) | Event::Write(part, _) => f(&mut part.at.object),
            Event::Copy { to, from, .. } => {
                f(&mut to.object);
                f(&mut from.object);
            }
            Event::Set { to, .. } => f(&mut to.object),
            Event::Resize { object, .. }
            | Event::Renew { object, .. }
            | Event::Clear { object, .. }
            | Event::Protect { object, .. } => f(object),
            Event::Sub { events, .. } | Event::Repeat { events, .. } => each_object(events, f),
            Event::Check => {}
        }
    }
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

    fn events(&mut self, events: &mut Vec<Event>) {
        for at in 0..events.len() {
            if self.turn() {
                events.remove(at);
                return;
            }
        }
        for at in 0..events.len() {
            match &mut events[at] {
                Event::Sub { events: inner, .. } | Event::Repeat { events: inner, .. } => {
                    if self.turn() {
                        let inner = std::mem::take(inner);
                        events.splice(at..=at, inner);
                        return;
                    }
                    self.events(inner);
                }
                Event::Beside { call, .. } if self.turn() => {
                    events[at] = Event::Call(call.clone());
                    return;
                }
                Event::Read(part) | Event::Write(part, _) if part.count > 1 && self.turn() => {
                    part.count = 1;
                }
                _ => {}
            }
            if self.done {
                return;
            }
        }
    }

    fn sizes(&mut self, events: &mut [Event]) {
        each_call(events, &mut |call| {
            for k in 0..call.sizes.len() {
                let value = call.sizes[k];
                for smaller in [0, value / 2, value - 1] {
                    if smaller < value && value != super::ast::LEAVE && self.turn() {
                        call.sizes[k] = smaller;
                    }
                }
            }
            for arg in &mut call.args {
                if arg.offset > 0 && self.turn() {
                    arg.offset = 0;
                }
            }
        });
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
                Node::Loop { step, down, body, low, .. } => {
                    if *step != 1 && self.turn() {
                        *step = 1;
                    }
                    if *down && self.turn() {
                        *down = false;
                    }
                    if *low != 0 && self.turn() {
                        *low = 0;
                    }
                    self.nodes(body);
                }
                Node::Repeat { body, .. } | Node::IfData { body, .. } => {
                    if self.turn() {
                        let body = std::mem::take(body);
                        nodes.splice(at..=at, body);
                        return;
                    }
                    self.nodes(body);
                }
                Node::Assign { to, update, value } => {
                    if update.is_some() && self.turn() {
                        *update = None;
                    }
                    self.index(&mut to.index);
                    self.value(value);
                }
                Node::Leave | Node::Tick | Node::Note(_) => {}
            }
            if self.done {
                return;
            }
        }
    }

    fn index(&mut self, index: &mut Index) {
        if index.constant != 0 && self.turn() {
            index.constant = 0;
        }
        for at in 0..index.terms.len() {
            if self.turn() {
                index.terms.remove(at);
                return;
            }
            if index.terms[at].coefficient > 1 && self.turn() {
                index.terms[at].coefficient = 1;
            }
        }
    }

    fn value(&mut self, value: &mut Value) {
        match value {
            Value::Const(_) => {}
            Value::Var(_) => {
                if self.turn() {
                    *value = Value::Const(3);
                }
            }
            Value::Load(place) => {
                if self.turn() {
                    *value = Value::Const(3);
                } else {
                    self.index(&mut place.index);
                }
            }
            Value::Bin(_, a, b) => {
                if self.turn() {
                    *value = (**a).clone();
                } else if self.turn() {
                    *value = (**b).clone();
                } else {
                    self.value(a);
                    self.value(b);
                }
            }
        }
    }
}

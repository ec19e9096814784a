//! Runs a program's loops and subscripts, without its data, to know what it touches: the generator keeps an
//! argument list only if C defines everything the program does with it.
//!
//! Integers follow C: usual arithmetic conversions, unsigned types wrap; a signed overflow, a division by
//! zero and an access far outside are errors. Values are kept as `i128`, in the range of their type.

use crate::ast::{
    Access, ArgSet, Array, Cmp, Cond, Data, Index, IndexOp, IntTy, Loop, LoopForm, Node, Program, Scale,
    Target,
};

/// Why an argument list is no good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    Undefined,
    /// More than [`max_work`] steps.
    TooLong,
    /// An access more than [`max_reach`] elements away from its array's start.
    TooFar,
}

/// Executed statements and loop iterations.
pub fn max_work(scale: Scale) -> u64 {
    match scale {
        Scale::Usual => 12_000,
        Scale::Steps => 250_000,
        Scale::Wide => 12_000_000,
    }
}

fn max_reach(scale: Scale) -> i128 {
    if scale == Scale::Wide { 1 << 20 } else { 1 << 16 }
}

/// What one call does.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// First and last element touched through each array parameter's argument.
    pub touched: Vec<Option<(i64, i64)>>,
    /// Executed assignments.
    pub work: u64,
}

/// Evaluates one call.
pub fn evaluate(program: &Program, set: &ArgSet) -> Result<Trace, Bad> {
    let mut env = vec![0i128; program.vars.len()];
    for (id, value) in set.params.iter().enumerate() {
        let value = i128::from(*value);
        if !fits(value, program.vars[id].ty) {
            return Err(Bad::Undefined);
        }
        env[id] = value;
    }
    let mut run = Run {
        program,
        env,
        arrays: (0..program.arrays.len()).collect(),
        trace: Trace { touched: vec![None; program.arrays.len()], work: 0 },
        steps: 0,
        strides: Vec::new(),
    };
    for array in &program.arrays {
        let strides = run.strides(array)?;
        run.strides.push(strides);
    }
    run.nodes(&program.body)?;
    Ok(run.trace)
}

struct Run<'a> {
    program: &'a Program,
    env: Vec<i128>,
    /// Which argument an array parameter points to.
    arrays: Vec<usize>,
    trace: Trace,
    steps: u64,
    strides: Vec<Vec<i128>>,
}

#[derive(PartialEq)]
enum Flow {
    Next,
    Continue,
}

impl Run<'_> {
    /// Elements between neighbours of each dimension.
    fn strides(&self, array: &Array) -> Result<Vec<i128>, Bad> {
        let mut strides = vec![1i128; array.dims.len().max(1)];
        for (position, dim) in array.dims.iter().enumerate().skip(1).rev() {
            let (size, _) = self.index(dim)?;
            // A negative size is undefined; 0 is as well, but compilers give it the obvious meaning.
            if !(0..1 << 12).contains(&size) {
                return Err(Bad::Undefined);
            }
            strides[position - 1] = strides[position] * size;
        }
        Ok(strides)
    }

    fn step(&mut self) -> Result<(), Bad> {
        self.steps += 1;
        if self.steps > max_work(self.program.scale) { Err(Bad::TooLong) } else { Ok(()) }
    }

    fn nodes(&mut self, nodes: &[Node]) -> Result<Flow, Bad> {
        for node in nodes {
            if self.node(node)? == Flow::Continue {
                return Ok(Flow::Continue);
            }
        }
        Ok(Flow::Next)
    }

    fn node(&mut self, node: &Node) -> Result<Flow, Bad> {
        match node {
            Node::Loop(l) => self.run_loop(l)?,
            Node::If(cond, then, other) => {
                let taken = if self.cond(cond)? { then } else { other };
                return self.nodes(taken);
            }
            Node::IfData(_, a, b, then, other) => {
                self.data(a)?;
                self.data(b)?;
                self.nodes(other)?;
                return self.nodes(then);
            }
            Node::Continue(cond) => {
                if self.cond(cond)? {
                    return Ok(Flow::Continue);
                }
            }
            // As if it were not taken: then most is touched.
            Node::Exit(_, _, a, b) => {
                self.data(a)?;
                self.data(b)?;
            }
            Node::Check(cond) => {
                if !self.cond(cond)? {
                    return Err(Bad::Undefined);
                }
            }
            Node::CheckData(value) => self.data(value)?,
            Node::Assign(target, _, value) => {
                self.step()?;
                self.trace.work += 1;
                self.data(value)?;
                if let Target::Array(access) = target {
                    self.access(access)?;
                }
            }
            Node::Scalar(_, value) => {
                self.step()?;
                self.data(value)?;
            }
            Node::Declare(var, value) => {
                let (value, _) = self.index(value)?;
                self.env[*var] = wrap(value, self.program.vars[*var].ty)?;
            }
            Node::Advance(var, by) => {
                let sum = self.env[*var] + i128::from(*by);
                self.env[*var] = wrap(sum, self.program.vars[*var].ty)?;
            }
            Node::Swap(a, b) => self.arrays.swap(*a, *b),
        }
        Ok(Flow::Next)
    }

    fn run_loop(&mut self, l: &Loop) -> Result<(), Bad> {
        let ty = self.program.vars[l.var].ty;
        let (low, _) = self.index(&l.low)?;
        self.env[l.var] = wrap(low, ty)?;
        let test = Cond { cmp: l.cmp, a: Index::Var(l.var), b: l.high.clone() };
        while self.cond(&test)? {
            self.step()?;
            // In the other forms `continue` would skip the step; the generator does not put it there.
            let flow = self.nodes(&l.body)?;
            if flow == Flow::Continue && l.form != LoopForm::For {
                return Err(Bad::Undefined);
            }
            self.env[l.var] = wrap(self.env[l.var] + i128::from(l.step), ty)?;
        }
        Ok(())
    }

    fn cond(&self, cond: &Cond) -> Result<bool, Bad> {
        let (a, ta) = self.index(&cond.a)?;
        let (b, tb) = self.index(&cond.b)?;
        let ty = ta.max(tb);
        let (a, b) = (convert(a, ty), convert(b, ty));
        Ok(match cond.cmp {
            Cmp::Lt => a < b,
            Cmp::Le => a <= b,
            Cmp::Gt => a > b,
            Cmp::Ge => a >= b,
            Cmp::Eq => a == b,
            Cmp::Ne => a != b,
        })
    }

    fn index(&self, index: &Index) -> Result<(i128, IntTy), Bad> {
        Ok(match index {
            Index::Const(c) => (i128::from(*c), IntTy::Int),
            Index::Var(id) => (self.env[*id], self.program.vars[*id].ty),
            Index::Cast(ty, inner) => (convert(self.index(inner)?.0, *ty), *ty),
            Index::Bin(op, a, b) => {
                let (a, ta) = self.index(a)?;
                let (b, tb) = self.index(b)?;
                let ty = ta.max(tb);
                let (a, b) = (convert(a, ty), convert(b, ty));
                let value = match op {
                    IndexOp::Add => a + b,
                    IndexOp::Sub => a - b,
                    // Of unsigned 64 bits; modulo 2^128 is modulo 2^64, too.
                    IndexOp::Mul => a.wrapping_mul(b),
                    IndexOp::Div | IndexOp::Mod if b == 0 => return Err(Bad::Undefined),
                    IndexOp::Div => a / b,
                    IndexOp::Mod => a % b,
                    IndexOp::Min => a.min(b),
                    IndexOp::Max => a.max(b),
                };
                (wrap(value, ty)?, ty)
            }
        })
    }

    /// Touches what is loaded; counters used as values may overflow.
    fn data(&mut self, data: &Data) -> Result<(), Bad> {
        match data {
            Data::Load(access) => self.access(access),
            Data::Index(index) => self.index(index).map(|_| ()),
            Data::Bin(_, a, b) => {
                self.data(a)?;
                self.data(b)
            }
            Data::DivBy(a, _) | Data::Abs(a) => self.data(a),
            Data::Select(_, parts) => parts.iter().try_for_each(|p| self.data(p)),
            Data::Const(_) | Data::Scalar(_) => Ok(()),
        }
    }

    fn access(&mut self, access: &Access) -> Result<(), Bad> {
        let mut offset = 0i128;
        for (position, subscript) in access.subscripts.iter().enumerate() {
            // A subscript that wrapped is as large as it says: C and LLVM's `nuw` take it for no negative
            // distance.
            let (value, _) = self.index(subscript)?;
            let step = value.checked_mul(self.strides[access.array][position]).ok_or(Bad::TooFar)?;
            offset = offset.checked_add(step).ok_or(Bad::TooFar)?;
        }
        if offset.abs() > max_reach(self.program.scale) {
            return Err(Bad::TooFar);
        }
        let offset = offset as i64;
        let touched = &mut self.trace.touched[self.arrays[access.array]];
        *touched = Some(touched.map_or((offset, offset), |(a, b)| (a.min(offset), b.max(offset))));
        Ok(())
    }
}

fn fits(value: i128, ty: IntTy) -> bool {
    match ty {
        IntTy::Int => i32::try_from(value).is_ok(),
        IntTy::Unsigned => u32::try_from(value).is_ok(),
        IntTy::Long => i64::try_from(value).is_ok(),
        IntTy::SizeT => u64::try_from(value).is_ok(),
    }
}

/// A conversion to a type: modulo its size.
fn convert(value: i128, ty: IntTy) -> i128 {
    match ty {
        IntTy::Int => i128::from(value as i32),
        IntTy::Unsigned => i128::from(value as u32),
        IntTy::Long => i128::from(value as i64),
        IntTy::SizeT => i128::from(value as u64),
    }
}

/// The result of an operation in a type.
fn wrap(value: i128, ty: IntTy) -> Result<i128, Bad> {
    if ty.is_signed() && !fits(value, ty) { Err(Bad::Undefined) } else { Ok(convert(value, ty)) }
}

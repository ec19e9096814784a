//! Whether a program is defined C: follows each access, without values.
//!
//! Each byte of memory has the type that it was stored with (C11 6.5p6: a store to memory without a declared
//! type gives it the type of the store), and a load has to be of that type. Types are finer than the
//! standard's: members of different structures are never one, as a compiler's alias analysis takes them to
//! be. Accesses stay inside of objects and of pages that may be touched, nothing is read that has no value,
//! what a thread stores to is touched by nobody else, and memory that is mapped twice is touched in one call
//! through one mapping only, unless it is only read.

use super::ast::{
    Call, Elem, Event, Home, Index, LEAVE, Node, PAGE, Param, Part, Place, Program, Scalar, Sym, Term, Value,
};
use super::bytes::{Bad, Check, NONE, PLAIN, RAW, State, code};
use std::collections::BTreeMap;

/// Accesses of a call.
const STEPS: u64 = 60_000;
/// What a call did to each byte of an object: bits 0 to 7 say by which parameter it was read, 8 to 15
/// written, 16 and 17 through which half of a ring.
type Touched = BTreeMap<usize, Vec<u32>>;

enum Flow {
    On,
    Left,
}

/// Follows all of a program.
pub fn simulate(program: &Program) -> Check {
    let mut state = State::new(program);
    match state.events(program, &program.events, false)? {
        Flow::On => state.event(program, &Event::Check),
        Flow::Left => Err(Bad::Form),
    }
}

impl State {
    fn events(&mut self, program: &Program, events: &[Event], in_sub: bool) -> Result<Flow, Bad> {
        for event in events {
            if let Flow::Left = self.one(program, event, in_sub)? {
                return Ok(Flow::Left);
            }
        }
        Ok(Flow::On)
    }

    /// One more event at the end.
    pub fn event(&mut self, program: &Program, event: &Event) -> Check {
        match self.one(program, event, false)? {
            Flow::On => Ok(()),
            Flow::Left => Err(Bad::Form),
        }
    }

    fn one(&mut self, program: &Program, event: &Event, in_sub: bool) -> Result<Flow, Bad> {
        match event {
            Event::Call(call) => return self.call(program, call, &mut Touched::new()),
            Event::Read(part) => {
                self.part(program, part, |state, object, at, ty| state.read(object, at, ty))?
            }
            Event::Write(part, value) => {
                if self.memory[part.at.object].values.is_some() {
                    self.change(program, part, *value)?;
                } else {
                    self.part(program, part, |state, object, at, ty| state.write(object, at, ty, true))?;
                }
            }
            Event::Copy { to, from, bytes, overlap } => self.copy(*to, *from, *bytes, *overlap)?,
            Event::Set { to, value, bytes } => self.set(*to, *value, *bytes)?,
            Event::Resize { object, bytes } => {
                self.movable(program, *object, in_sub)?;
                let whole = self.codes(program.objects[*object].elem, *bytes);
                let memory = &mut self.memory[*object];
                let kept = memory.codes.len().min(whole.len());
                memory.codes.truncate(kept);
                memory.codes.extend(&whole[kept..]);
                memory.bytes = *bytes;
            }
            Event::Renew { object, bytes, elem, fill } => {
                self.movable(program, *object, in_sub)?;
                let filled = *fill || self.memory[*object].home == Home::Vector;
                let codes = if filled { self.codes(*elem, *bytes) } else { vec![NONE; *bytes as usize] };
                let memory = &mut self.memory[*object];
                (memory.codes, memory.bytes, memory.elem) = (codes, *bytes, *elem);
            }
            Event::Clear { object, page, pages, .. } => {
                self.paged(*object, *page + *pages - 1)?;
                let memory = &mut self.memory[*object];
                memory.open(page * PAGE, pages * PAGE)?;
                for stored in &mut memory.codes[(page * PAGE) as usize..((page + pages) * PAGE) as usize] {
                    if *stored / 8 == NONE {
                        *stored = code(RAW, 0);
                    }
                }
            }
            Event::Protect { object, page, open } => {
                self.paged(*object, *page)?;
                let memory = &mut self.memory[*object];
                let pages = (memory.bytes / PAGE) as usize;
                memory.closed.resize(pages, false);
                memory.closed[*page as usize] = !open;
            }
            Event::Beside { object, bytes, call } => {
                let mut touched = Touched::new();
                let flow = self.call(program, call, &mut touched)?;
                let memory = &self.memory[*object];
                for byte in bytes {
                    memory.open(*byte, 1)?;
                    let at = memory.physical(*byte);
                    if touched.get(object).is_some_and(|t| t[at] != 0) {
                        return Err(Bad::Conflict);
                    }
                    let stored = memory.codes[at];
                    let padding = stored / 8 == RAW && matches!(memory.elem, Elem::Struct(_));
                    if stored / 8 == NONE || self.is_float(stored) || padding || memory.values.is_some() {
                        return Err(Bad::Type);
                    }
                }
                return if matches!(flow, Flow::Left) { Err(Bad::Form) } else { Ok(flow) };
            }
            Event::Sub { events, leaves } => {
                return match self.events(program, events, true)? {
                    Flow::Left if !leaves => Err(Bad::Form),
                    _ => Ok(Flow::On),
                };
            }
            Event::Repeat { times, events } => {
                for _ in 0..*times {
                    if let Flow::Left = self.events(program, events, in_sub)? {
                        return Ok(Flow::Left);
                    }
                }
            }
            Event::Check => self.all_valued()?,
        }
        Ok(Flow::On)
    }

    fn part(
        &mut self,
        program: &Program,
        part: &Part,
        mut f: impl FnMut(&mut State, usize, i64, u16) -> Check,
    ) -> Check {
        let layout = program.layout(part.elem);
        let leaf = layout.leaves.get(part.leaf).ok_or(Bad::Form)?;
        if part.at.offset % layout.align != 0 {
            return Err(Bad::Type);
        }
        let ty = self.ty(part.elem, part.leaf);
        for k in 0..part.count {
            let at = part.at.offset + k * part.step * layout.bytes + leaf.offset;
            f(self, part.at.object, at, ty)?;
            self.step()?;
        }
        Ok(())
    }

    /// The host stores an index.
    fn change(&mut self, program: &Program, part: &Part, value: i64) -> Check {
        self.part(program, part, |state, object, at, ty| {
            state.read(object, at, ty)?;
            let values = state.memory[object].values.as_mut().ok_or(Bad::Form)?;
            if ty != PLAIN + 4 || at % 4 != 0 {
                return Err(Bad::Type);
            }
            values[(at / 4) as usize] = value as i32;
            Ok(())
        })
    }

    fn call(&mut self, program: &Program, call: &Call, touched: &mut Touched) -> Result<Flow, Bad> {
        let kernel = program.kernels.get(call.kernel).ok_or(Bad::Form)?;
        if kernel.params.len() != call.args.len() {
            return Err(Bad::Form);
        }
        for (param, arg) in kernel.params.iter().zip(&call.args) {
            let memory = &self.memory[arg.object];
            let aligned = arg.offset % program.layout(param.elem).align == 0;
            let ring = memory.home == Home::Ring && kernel.inline || param.index && arg.stride > 0;
            if !aligned
                || ring
                || param.index && memory.values.is_none()
                || arg.offset < 0
                || arg.offset > memory.bytes
            {
                return Err(Bad::Form);
            }
            touched.entry(arg.object).or_insert_with(|| vec![0; memory.codes.len()]);
        }
        let limit = self.steps + STEPS;
        let mut run = Run { call, params: &kernel.params, vars: [0; 8], limit, touched };
        let flow = self.nodes(&mut run, &kernel.body, true)?;
        // A byte is not reached through both mappings if one of them stores, nor through a restricted pointer
        // and another.
        for bits in touched.values().flatten().filter(|b| **b != 0) {
            let (read, written, halves) = (bits & 0xff, bits >> 8 & 0xff, bits >> 16);
            let by = read | written;
            let restricted =
                kernel.params.iter().enumerate().any(|(p, param)| param.restrict && by & (1 << p) != 0);
            if written != 0 && (halves == 3 || restricted && by.count_ones() > 1) {
                return Err(Bad::Conflict);
            }
        }
        Ok(flow)
    }

    fn nodes(&mut self, run: &mut Run<'_>, nodes: &[Node], certain: bool) -> Result<Flow, Bad> {
        for node in nodes {
            match node {
                Node::Loop { var, low, high, step, down, body } => {
                    let high = run.call.sizes[*high as usize];
                    let mut at = if *down { high - 1 } else { *low };
                    while if *down { at >= *low } else { at < high } {
                        run.vars[*var] = at;
                        if let Flow::Left = self.nodes(run, body, certain)? {
                            return Ok(Flow::Left);
                        }
                        at += if *down { -step } else { *step };
                    }
                }
                Node::Repeat { times, body } => {
                    for _ in 0..*times {
                        if let Flow::Left = self.nodes(run, body, certain)? {
                            return Ok(Flow::Left);
                        }
                    }
                }
                Node::Assign { to, update, value } => {
                    self.value(run, value)?;
                    if update.is_some() {
                        self.place(run, to, Access::Read)?;
                    }
                    self.place(run, to, Access::Write(certain))?;
                }
                Node::IfData { place, body, .. } => {
                    self.place(run, place, Access::Read)?;
                    if let Flow::Left = self.nodes(run, body, false)? {
                        return Err(Bad::Form);
                    }
                }
                Node::Leave if run.call.sizes[3] == LEAVE => return Ok(Flow::Left),
                Node::Leave | Node::Tick => {}
                Node::Note(place) => self.place(run, place, Access::Read)?,
            }
        }
        Ok(Flow::On)
    }

    fn value(&mut self, run: &mut Run<'_>, value: &Value) -> Check {
        match value {
            Value::Const(_) | Value::Var(_) => Ok(()),
            Value::Load(place) => self.place(run, place, Access::Read),
            Value::Bin(_, a, b) => {
                self.value(run, a)?;
                self.value(run, b)
            }
        }
    }

    fn index(&mut self, run: &mut Run<'_>, index: &Index) -> Result<i64, Bad> {
        let term = |t: &Term| {
            t.coefficient
                * t.sym.map_or(1, |s: Sym| run.call.sizes[s as usize])
                * t.var.map_or(1, |v| run.vars[v])
        };
        let mut sum = index.constant + index.terms.iter().map(term).sum::<i64>();
        if let Some((param, inner)) = &index.through {
            let at = self.index(run, inner)?;
            let arg = run.call.args[*param];
            self.access(run, *param, arg.offset + at * 4, PLAIN + 4, Access::Read)?;
            let values = self.memory[arg.object].values.as_ref().ok_or(Bad::Form)?;
            if arg.offset % 4 != 0 {
                return Err(Bad::Form);
            }
            sum += i64::from(*values.get((arg.offset / 4 + at) as usize).ok_or(Bad::Bounds)?);
        }
        Ok(sum)
    }

    fn place(&mut self, run: &mut Run<'_>, place: &Place, access: Access) -> Check {
        let elem = run.params.get(place.param).ok_or(Bad::Form)?.elem;
        let index = self.index(run, &place.index)?;
        let (bytes, leaf_offset, leaf_count, scalar) = match elem {
            Elem::Scalar(s) => (s.bytes(), 0, 1, s.bytes()),
            Elem::Struct(id) => {
                let leaf = self.layouts[id].leaves.get(place.leaf).ok_or(Bad::Form)?;
                (self.layouts[id].bytes, leaf.offset, leaf.count as i64, leaf.scalar.bytes())
            }
        };
        let sub = match &place.sub {
            Some(sub) => self.index(run, sub)?,
            None => 0,
        };
        if sub < 0 || sub >= leaf_count {
            return Err(Bad::Bounds);
        }
        let arg = run.call.args[place.param];
        let bytes = if arg.stride > 0 { arg.stride } else { bytes };
        let at = arg.offset + index * bytes + leaf_offset + sub * scalar;
        self.access(run, place.param, at, self.ty(elem, place.leaf), access)?;
        // A bit-field is stored into what its group holds.
        if let (Elem::Struct(id), Access::Write(_)) = (elem, access)
            && self.layouts[id].leaves[place.leaf].bits
        {
            self.access(run, place.param, at, self.ty(elem, place.leaf), Access::Read)?;
        }
        Ok(())
    }

    fn access(&mut self, run: &mut Run<'_>, param: usize, at: i64, ty: u16, access: Access) -> Check {
        self.step()?;
        if self.steps > run.limit {
            return Err(Bad::Long);
        }
        let object = run.call.args[param].object;
        let mut bits = match access {
            Access::Read => 1 << param,
            Access::Write(_) => 1 << (param + 8),
        };
        match access {
            Access::Read => self.read(object, at, ty)?,
            Access::Write(certain) => self.write(object, at, ty, certain)?,
        }
        let memory = &self.memory[object];
        if memory.home == Home::Ring {
            bits |= if at >= memory.codes.len() as i64 { 1 << 17 } else { 1 << 16 };
        }
        if let Some(touched) = run.touched.get_mut(&object) {
            for byte in 0..self.scalars[ty as usize].map_or(1, Scalar::bytes) {
                touched[memory.physical(at + byte)] |= bits;
            }
        }
        Ok(())
    }

    /// The object's bytes that a call leaves alone and a thread may store to.
    pub fn free_bytes(&self, program: &Program, call: &Call, object: usize) -> Vec<i64> {
        let mut after = self.clone();
        let mut touched = Touched::new();
        if after.call(program, call, &mut touched).is_err() {
            return Vec::new();
        }
        let Some(touched) = touched.get(&object) else { return Vec::new() };
        let memory = &after.memory[object];
        let free = |at: &i64| {
            let stored = memory.codes[*at as usize];
            let bits = match memory.elem {
                Elem::Struct(id) => (self.layouts[id].leaves.iter().enumerate())
                    .any(|(number, leaf)| leaf.bits && self.ty(memory.elem, number) == stored / 8),
                Elem::Scalar(_) => false,
            };
            touched[*at as usize] == 0
                && stored / 8 > RAW
                && !self.is_float(stored)
                && !bits
                && memory.open(*at, 1).is_ok()
        };
        // Between the first and the last byte that it touches.
        let (first, last) = (touched.iter().position(|t| *t != 0), touched.iter().rposition(|t| *t != 0));
        let (Some(first), Some(last)) = (first, last) else { return Vec::new() };
        (first as i64..last as i64).filter(free).collect()
    }
}

/// A call that is followed.
struct Run<'a> {
    call: &'a Call,
    params: &'a [Param],
    vars: [i64; 8],
    limit: u64,
    touched: &'a mut Touched,
}

#[derive(Clone, Copy)]
enum Access {
    Read,
    Write(bool),
}

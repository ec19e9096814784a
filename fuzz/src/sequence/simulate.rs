//! Whether a program is defined C: follows each access, without values.
//!
//! Each byte of memory has the type that it was stored with (C11 6.5p6: a store to memory without a declared
//! type gives it the type of the store), and a load has to be of that type. Types are finer than the
//! standard's: members of different structures are never one, as a compiler's alias analysis takes them to
//! be. Accesses stay inside of objects and of pages that may be touched, nothing is read that has no value,
//! what a thread stores to is touched by nobody else, and memory that is mapped twice is touched in one call
//! through one mapping only, unless it is only read.

use super::ast::{
    Call, Elem, Event, Home, Index, LEAVE, Layout, Node, Object, PAGE, Param, Part, Place, Program, Scalar,
    Spot, Sym, Term, Value,
};
use std::collections::BTreeMap;

/// Why a program is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    Bounds,
    Type,
    Empty,
    Conflict,
    Long,
    Form,
}

type Check = Result<(), Bad>;

/// Accesses of a call, and of a program.
const STEPS: u64 = 60_000;
const ALL_STEPS: u64 = 400_000;

/// No value.
const NONE: u16 = 0;
/// Bytes that were stored one by one.
const RAW: u16 = 1;
const PLAIN: u16 = 2;
const FIRST_LEAF: u16 = PLAIN + Scalar::ALL.len() as u16;

/// Types have a number; a byte's code is that and its place in the value.
fn code(ty: u16, byte: i64) -> u16 {
    ty * 8 + byte as u16
}

#[derive(Clone, Debug)]
struct Memory {
    home: Home,
    bytes: i64,
    elem: Elem,
    /// A code a byte; of a ring, of its one half.
    codes: Vec<u16>,
    /// Pages that can't be touched.
    closed: Vec<bool>,
    values: Option<Vec<i32>>,
}

impl Memory {
    fn physical(&self, at: i64) -> usize {
        (at % self.codes.len() as i64) as usize
    }

    fn open(&self, at: i64, bytes: i64) -> Check {
        if at < 0 || bytes < 0 || at + bytes > self.bytes {
            return Err(Bad::Bounds);
        }
        let pages = at / PAGE..=(at + bytes - 1).max(at) / PAGE;
        let closed = pages.into_iter().any(|p| self.closed.get(p as usize).is_some_and(|c| *c));
        if closed { Err(Bad::Bounds) } else { Ok(()) }
    }
}

/// What a call did to each byte of an object: bits 0 to 7 say by which parameter it was read, 8 to 15
/// written, 16 and 17 through which half of a ring.
type Touched = BTreeMap<usize, Vec<u32>>;

#[derive(Clone)]
pub struct State {
    memory: Vec<Memory>,
    layouts: Vec<Layout>,
    /// The number of a structure's first leaf, and the scalar of each type.
    first: Vec<u16>,
    scalars: Vec<Option<Scalar>>,
    steps: u64,
}

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
    pub fn new(program: &Program) -> State {
        let layouts: Vec<Layout> =
            (0..program.structs.len()).map(|s| program.layout(Elem::Struct(s))).collect();
        let mut scalars = vec![None, None];
        scalars.extend(Scalar::ALL.map(Some));
        let mut first = Vec::new();
        for layout in &layouts {
            first.push(scalars.len() as u16);
            scalars.extend(layout.leaves.iter().map(|l| Some(l.scalar)));
        }
        let mut state = State { memory: Vec::new(), layouts, first, scalars, steps: 0 };
        debug_assert_eq!(state.first.first().copied().unwrap_or(FIRST_LEAF), FIRST_LEAF);
        for object in &program.objects {
            let memory = state.object(object);
            state.memory.push(memory);
        }
        state
    }

    fn object(&self, object: &Object) -> Memory {
        let half = if object.home == Home::Ring { object.bytes / 2 } else { object.bytes };
        let mut codes = self.codes(object.elem, half);
        let pages = object.bytes / PAGE;
        let closed =
            if object.home == Home::Holes { (0..pages).map(|p| p % 2 == 1).collect() } else { Vec::new() };
        for (page, _) in closed.iter().enumerate().filter(|(_, c)| **c) {
            codes[page * PAGE as usize..(page + 1) * PAGE as usize].fill(code(RAW, 0));
        }
        Memory {
            home: object.home,
            bytes: object.bytes,
            elem: object.elem,
            codes,
            closed,
            values: object.values.clone(),
        }
    }

    /// The bytes of an array.
    fn codes(&self, elem: Elem, bytes: i64) -> Vec<u16> {
        let mut one = match elem {
            Elem::Scalar(s) => (0..s.bytes()).map(|b| code(self.ty(elem, 0), b)).collect(),
            Elem::Struct(id) => vec![code(RAW, 0); self.layouts[id].bytes as usize],
        };
        if let Elem::Struct(id) = elem {
            for (number, leaf) in self.layouts[id].leaves.iter().enumerate() {
                for byte in 0..leaf.scalar.bytes() * leaf.count as i64 {
                    one[(leaf.offset + byte) as usize] =
                        code(self.ty(elem, number), byte % leaf.scalar.bytes());
                }
            }
        }
        (0..bytes as usize)
            .map(
                |b| {
                    if b / one.len() < bytes as usize / one.len() { one[b % one.len()] } else { code(RAW, 0) }
                },
            )
            .collect()
    }

    fn ty(&self, elem: Elem, leaf: usize) -> u16 {
        match elem {
            Elem::Scalar(s) => PLAIN + Scalar::ALL.iter().position(|other| *other == s).unwrap_or(0) as u16,
            Elem::Struct(id) => {
                // Bit-fields of a group have one type.
                let leaves = &self.layouts[id].leaves;
                let same =
                    |l: &super::ast::Leaf| l.bits && leaves[leaf].bits && l.offset == leaves[leaf].offset;
                self.first[id] + leaves.iter().position(same).unwrap_or(leaf) as u16
            }
        }
    }

    fn scalar(&self, ty: u16) -> Option<Scalar> {
        self.scalars[ty as usize]
    }

    fn is_float(&self, code: u16) -> bool {
        self.scalar(code / 8).is_some_and(Scalar::is_float)
    }

    /// Whether a byte of this code is byte `at` of a value of the type.
    fn is_of(&self, stored: u16, ty: u16, at: i64) -> bool {
        let Some(scalar) = self.scalar(ty) else { return false };
        let old = stored / 8;
        match self.scalar(old) {
            _ if old == NONE => false,
            _ if scalar.bytes() == 1 => true,
            None => !scalar.is_float(),
            Some(other) => {
                let apart = old >= FIRST_LEAF && ty >= FIRST_LEAF && old != ty;
                scalar.like(other) && !apart && i64::from(stored % 8) == at
            }
        }
    }

    fn read(&self, object: usize, at: i64, ty: u16) -> Check {
        let memory = &self.memory[object];
        let bytes = self.scalar(ty).map_or(1, Scalar::bytes);
        memory.open(at, bytes)?;
        for byte in 0..bytes {
            let stored = memory.codes[memory.physical(at + byte)];
            if !self.is_of(stored, ty, byte) {
                return Err(if stored / 8 == NONE { Bad::Empty } else { Bad::Type });
            }
        }
        Ok(())
    }

    /// `certain`: the store happens.
    fn write(&mut self, object: usize, at: i64, ty: u16, certain: bool) -> Check {
        let bytes = self.scalar(ty).map_or(1, Scalar::bytes);
        self.memory[object].open(at, bytes)?;
        if self.memory[object].values.is_some() {
            return Err(Bad::Form);
        }
        for byte in 0..bytes {
            let index = self.memory[object].physical(at + byte);
            let stored = self.memory[object].codes[index];
            let fits = self.is_of(stored, ty, byte) && !(bytes == 1 && self.is_float(stored));
            if self.memory[object].home.declared() || !certain {
                if !fits {
                    return Err(Bad::Type);
                }
            } else if bytes == 1 {
                // A character leaves the type of what it is stored to.
                if !fits {
                    self.memory[object].codes[index] = code(if ty >= FIRST_LEAF { ty } else { RAW }, 0);
                }
            } else {
                self.memory[object].codes[index] = code(ty, byte);
            }
        }
        Ok(())
    }

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

    fn all_valued(&self) -> Check {
        for memory in &self.memory {
            let valued = |(at, stored): (usize, &u16)| {
                *stored / 8 != NONE || memory.closed.get(at / PAGE as usize).is_some_and(|c| *c)
            };
            if !memory.codes.iter().enumerate().all(valued) {
                return Err(Bad::Empty);
            }
        }
        Ok(())
    }

    fn movable(&self, program: &Program, object: usize, in_sub: bool) -> Check {
        let movable =
            matches!(self.memory[object].home, Home::Malloc | Home::Vector) && (program.globals || !in_sub);
        if movable { Ok(()) } else { Err(Bad::Form) }
    }

    fn paged(&self, object: usize, last: i64) -> Check {
        let memory = &self.memory[object];
        let paged = matches!(memory.home, Home::Holes | Home::EdgeStart);
        if paged && (last + 1) * PAGE <= memory.bytes { Ok(()) } else { Err(Bad::Form) }
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

    fn copy(&mut self, to: Spot, from: Spot, bytes: i64, overlap: bool) -> Check {
        self.memory[to.object].open(to.offset, bytes)?;
        self.memory[from.object].open(from.offset, bytes)?;
        let ring = |s: Spot| self.memory[s.object].home == Home::Ring;
        let same = to.object == from.object;
        if same && (ring(to) || !overlap && (to.offset - from.offset).abs() < bytes) {
            return Err(Bad::Conflict);
        }
        let codes: Vec<u16> = {
            let source = &self.memory[from.object];
            (0..bytes).map(|b| source.codes[source.physical(from.offset + b)]).collect()
        };
        if codes.iter().any(|c| *c / 8 == NONE) {
            return Err(Bad::Empty);
        }
        if self.memory[to.object].values.is_some() {
            return Err(Bad::Form);
        }
        for (byte, stored) in codes.into_iter().enumerate() {
            let at = self.memory[to.object].physical(to.offset + byte as i64);
            let old = self.memory[to.object].codes[at];
            if self.memory[to.object].home.declared() {
                // Only values of the declared type, and bytes of no type for integers.
                let bytes = stored / 8 == RAW && !self.is_float(old) || old / 8 == RAW;
                if old != stored && !bytes {
                    return Err(Bad::Type);
                }
            } else {
                self.memory[to.object].codes[at] = stored;
            }
        }
        Ok(())
    }

    fn set(&mut self, to: Spot, value: u8, bytes: i64) -> Check {
        self.memory[to.object].open(to.offset, bytes)?;
        if self.memory[to.object].values.is_some() {
            return Err(Bad::Form);
        }
        for byte in 0..bytes {
            let at = self.memory[to.object].physical(to.offset + byte);
            let old = self.memory[to.object].codes[at];
            if old / 8 == NONE {
                self.memory[to.object].codes[at] = code(RAW, 0);
            } else if self.is_float(old) && value != 0 {
                return Err(Bad::Type);
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Check {
        self.steps += 1;
        if self.steps > ALL_STEPS { Err(Bad::Long) } else { Ok(()) }
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

    pub fn bytes(&self, object: usize) -> i64 {
        self.memory[object].bytes
    }

    /// The type whose value a byte is part of now, where it is a scalar of its own.
    pub fn scalar_at(&self, object: usize, at: i64) -> Option<Scalar> {
        let memory = &self.memory[object];
        let stored = memory.codes.get(memory.physical(at.max(0))).copied()? / 8;
        if stored < FIRST_LEAF { self.scalar(stored) } else { None }
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

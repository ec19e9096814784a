//! The bytes of a program's objects, by the types that they were stored with; `simulate` follows what a
//! program does to them.

use super::ast::{Elem, Home, Layout, Object, PAGE, Program, Scalar, Spot};

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

pub(super) type Check = Result<(), Bad>;

/// Accesses of a program.
const ALL_STEPS: u64 = 400_000;

/// No value.
pub(super) const NONE: u16 = 0;
/// Bytes that were stored one by one.
pub(super) const RAW: u16 = 1;
pub(super) const PLAIN: u16 = 2;
pub(super) const FIRST_LEAF: u16 = PLAIN + Scalar::ALL.len() as u16;

/// Types have a number; a byte's code is that and its place in the value.
pub(super) fn code(ty: u16, byte: i64) -> u16 {
    ty * 8 + byte as u16
}

#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) home: Home,
    pub(super) bytes: i64,
    pub(super) elem: Elem,
    /// A code a byte; of a ring, of its one half.
    pub(super) codes: Vec<u16>,
    /// Pages that can't be touched.
    pub(super) closed: Vec<bool>,
    pub(super) values: Option<Vec<i32>>,
}

impl Memory {
    pub(super) fn physical(&self, at: i64) -> usize {
        (at % self.codes.len() as i64) as usize
    }

    pub(super) fn open(&self, at: i64, bytes: i64) -> Check {
        if at < 0 || bytes < 0 || at + bytes > self.bytes {
            return Err(Bad::Bounds);
        }
        let pages = at / PAGE..=(at + bytes - 1).max(at) / PAGE;
        let closed = pages.into_iter().any(|p| self.closed.get(p as usize).is_some_and(|c| *c));
        if closed { Err(Bad::Bounds) } else { Ok(()) }
    }
}

#[derive(Clone)]
pub struct State {
    pub(super) memory: Vec<Memory>,
    pub(super) layouts: Vec<Layout>,
    /// The number of a structure's first leaf, and the scalar of each type.
    pub(super) first: Vec<u16>,
    pub(super) scalars: Vec<Option<Scalar>>,
    pub(super) steps: u64,
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

    pub(super) fn object(&self, object: &Object) -> Memory {
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
    pub(super) fn codes(&self, elem: Elem, bytes: i64) -> Vec<u16> {
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

    pub(super) fn ty(&self, elem: Elem, leaf: usize) -> u16 {
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

    pub(super) fn scalar(&self, ty: u16) -> Option<Scalar> {
        self.scalars[ty as usize]
    }

    pub(super) fn is_float(&self, code: u16) -> bool {
        self.scalar(code / 8).is_some_and(Scalar::is_float)
    }

    /// Whether a byte of this code is byte `at` of a value of the type.
    pub(super) fn is_of(&self, stored: u16, ty: u16, at: i64) -> bool {
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

    pub(super) fn read(&self, object: usize, at: i64, ty: u16) -> Check {
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
    pub(super) fn write(&mut self, object: usize, at: i64, ty: u16, certain: bool) -> Check {
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

    pub(super) fn all_valued(&self) -> Check {
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

    pub(super) fn movable(&self, program: &Program, object: usize, in_sub: bool) -> Check {
        let movable =
            matches!(self.memory[object].home, Home::Malloc | Home::Vector) && (program.globals || !in_sub);
        if movable { Ok(()) } else { Err(Bad::Form) }
    }

    pub(super) fn paged(&self, object: usize, last: i64) -> Check {
        let memory = &self.memory[object];
        let paged = matches!(memory.home, Home::Holes | Home::EdgeStart);
        if paged && (last + 1) * PAGE <= memory.bytes { Ok(()) } else { Err(Bad::Form) }
    }

    pub(super) fn copy(&mut self, to: Spot, from: Spot, bytes: i64, overlap: bool) -> Check {
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

    pub(super) fn set(&mut self, to: Spot, value: u8, bytes: i64) -> Check {
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

    pub(super) fn step(&mut self) -> Check {
        self.steps += 1;
        if self.steps > ALL_STEPS { Err(Bad::Long) } else { Ok(()) }
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

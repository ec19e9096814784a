//! Random sequences. Functions are drawn first, with accesses that often fit; each event is then drawn until
//! it is defined in the state that the ones before it leave ([`State`]).

use super::Language;
use super::ast::{
    Call, Elem, Event, Home, LEAVE, Member, Object, PAGE, Param, Part, Program, Scalar, Spot, Struct,
};
use super::bytes::State;
use super::kernels::kernel;
use super::simulate::simulate;
use crate::rng::Rng;

/// How often an event is drawn anew.
const TRIES: usize = 14;

pub fn generate(rng: &mut Rng, language: Language, indices: bool) -> Program {
    loop {
        let program = attempt(rng, language, indices);
        // Too little happens, or a loop does more than it did alone.
        if program.events.len() > 1 && simulate(&program).is_ok() {
            return program;
        }
    }
}

fn attempt(rng: &mut Rng, language: Language, indices: bool) -> Program {
    let mut program = Program {
        structs: structs(rng, language),
        objects: Vec::new(),
        kernels: Vec::new(),
        events: Vec::new(),
        globals: rng.chance(30),
    };
    for _ in 0..2 + rng.below(3) {
        let object = object(rng, &program, language);
        program.objects.push(object);
    }
    if indices {
        for _ in 0..1 + rng.below(2) {
            let object = index_object(rng, language);
            program.objects.push(object);
        }
    }
    for _ in 0..2 + rng.below(3) {
        let kernel = kernel(rng, &program, language, indices);
        program.kernels.push(kernel);
    }
    let mut state = State::new(&program);
    for _ in 0..3 + rng.below(8) {
        if let Some(event) = event(rng, &program, &mut state, language, 0) {
            program.events.push(event);
        }
    }
    program
}

fn structs(rng: &mut Rng, language: Language) -> Vec<Struct> {
    let mut all: Vec<Struct> = Vec::new();
    for _ in 0..rng.weighted(&[20, 45, 25, 10]) {
        let union = language.has_unions() && rng.chance(12);
        let packed = language.has_unions() && !union && rng.chance(15);
        let count = 2 + rng.below(4);
        if language == Language::Fortran {
            all.push(even_struct(rng, all.len()));
            continue;
        }
        let members = (0..count).map(|_| match rng.weighted(&[70, 12, 8, 10]) {
            1 => Member::Array(*rng.pick(&Scalar::ALL), 2 + rng.below(3)),
            2 if language.has_unions() && !packed && !union => {
                let a = 1 + rng.below(14) as u32;
                let b = 1 + rng.below(14) as u32;
                Member::Bits([a, b, 32 - a - b])
            }
            3 if !all.is_empty() => Member::Nested(rng.below(all.len())),
            _ => Member::One(*rng.pick(&Scalar::ALL)),
        });
        let members = members.collect();
        all.push(Struct { members, packed, union });
    }
    all
}

/// A structure without padding, of which assignment keeps no value.
fn even_struct(rng: &mut Rng, before: usize) -> Struct {
    let member = |rng: &mut Rng| match rng.below(6) {
        0 => Member::One(Scalar::I64),
        1 => Member::Array(Scalar::F32, 2),
        2 => Member::Array(Scalar::I32, 2),
        3 => Member::Array(Scalar::I16, 4),
        4 if before > 0 => Member::Nested(rng.below(before)),
        _ => Member::One(Scalar::F64),
    };
    let members = (0..2 + rng.below(3)).map(|_| member(rng)).collect();
    Struct { members, packed: false, union: false }
}

fn elem(rng: &mut Rng, program: &Program) -> Elem {
    if !program.structs.is_empty() && rng.chance(60) {
        return Elem::Struct(rng.below(program.structs.len()));
    }
    let usual = [Scalar::F32, Scalar::I32, Scalar::F64, Scalar::U8, Scalar::I64, Scalar::I16, Scalar::U32];
    Elem::Scalar(usual[rng.weighted(&[30, 25, 20, 8, 6, 6, 5])])
}

fn object(rng: &mut Rng, program: &Program, language: Language) -> Object {
    let elem = elem(rng, program);
    let moved = if language == Language::C { Home::Malloc } else { Home::Vector };
    let homes = [Home::Static, moved, Home::Holes, Home::Ring, Home::EdgeEnd, Home::EdgeStart, Home::Local];
    let weights: &[u32] = if language.has_pages() { &[25, 30, 13, 13, 6, 6, 7] } else { &[45, 55] };
    let home = homes[rng.weighted(weights)];
    let size = program.layout(elem).bytes;
    let bytes = match home {
        Home::Holes => PAGE * (4 + 2 * rng.below(3) as i64),
        Home::Ring => 2 * PAGE * (1 + rng.below(2) as i64),
        _ => size * rng.range(150, 700).min(24_000 / size),
    };
    let bytes = if home == Home::EdgeEnd { (bytes + 15) / 16 * 16 } else { bytes };
    Object { home, bytes, elem, values: None }
}

/// Permutations, with or without repeats, and values next to the range that programs use.
fn index_object(rng: &mut Rng, language: Language) -> Object {
    let count = rng.range(130, 500);
    let mut values: Vec<i32> = (0..count as i32).collect();
    for at in (1..values.len()).rev() {
        values.swap(at, rng.below(at + 1));
    }
    match rng.weighted(&[30, 20, 20, 15, 15]) {
        1 => (0..10).for_each(|_| {
            let from = values[rng.below(values.len())];
            let to = rng.below(values.len());
            values[to] = from;
        }),
        2 => values.iter_mut().enumerate().for_each(|(at, v)| *v = at as i32 / 2),
        3 => {
            let at = rng.below(values.len());
            values[at] = count as i32;
        }
        4 => {
            let at = rng.below(values.len());
            values[at] = -1;
        }
        _ => {}
    }
    let moved = if language == Language::C { Home::Malloc } else { Home::Vector };
    let home = if rng.chance(60) { Home::Static } else { moved };
    Object { home, bytes: count * 4, elem: Elem::Scalar(Scalar::I32), values: Some(values) }
}

/// An event that is defined now; the state goes on behind it.
fn event(
    rng: &mut Rng,
    program: &Program,
    state: &mut State,
    language: Language,
    depth: usize,
) -> Option<Event> {
    for _ in 0..TRIES {
        let Some(event) = draw(rng, program, state, language, depth) else { continue };
        if !language.takes(program, &event) {
            continue;
        }
        if let Some(event) = accept(program, state, event) {
            return Some(event);
        }
    }
    None
}

/// The event, or a call with a smaller size, if that is defined now.
fn accept(program: &Program, state: &mut State, mut event: Event) -> Option<Event> {
    for _ in 0..4 {
        let mut next = state.clone();
        if next.event(program, &event).is_ok() {
            *state = next;
            return Some(event);
        }
        let (Event::Call(call) | Event::Beside { call, .. }) = &mut event else { return None };
        call.sizes[0] = call.sizes[0] * 2 / 3;
        // Loops that are too small stay where they are.
        if call.sizes[0] * call.sizes[1] < 40 {
            return None;
        }
    }
    None
}

fn draw(rng: &mut Rng, program: &Program, state: &State, language: Language, depth: usize) -> Option<Event> {
    let object = rng.below(program.objects.len());
    let home = program.objects[object].home;
    let nested = if depth == 0 { 1 } else { 0 };
    let event = match rng.weighted(&[50, 12, 12, 7, 3, 4, 6, 4, 4, 7, 9 * nested, 5 * nested, 4]) {
        0 => {
            let first = call(rng, program, state, language)?;
            match other_half(rng, program, state, language, &first) {
                Some(second) if depth == 0 => {
                    Event::Sub { events: vec![Event::Call(first), Event::Call(second)], leaves: false }
                }
                _ => Event::Call(first),
            }
        }
        1 => Event::Read(part(rng, program, state, object)),
        2 => Event::Write(part(rng, program, state, object), rng.range(-5, 60)),
        3 => {
            let from = rng.below(program.objects.len());
            let bytes = rng.range(1, 60) * 8;
            let from = spot(rng, program, state, from, bytes);
            let to = if rng.chance(30) {
                Spot { object: from.object, ..from }
            } else {
                spot(rng, program, state, object, bytes)
            };
            let to =
                if to.object == from.object { spot(rng, program, state, from.object, bytes) } else { to };
            Event::Copy { to, from, bytes, overlap: rng.chance(30) }
        }
        4 => {
            let bytes = rng.range(1, 400);
            let value = if rng.chance(60) { 0 } else { 0x5a };
            Event::Set { to: spot(rng, program, state, object, bytes), value, bytes }
        }
        5 if matches!(home, Home::Malloc | Home::Vector) && program.objects[object].values.is_none() => {
            let bytes = (state.bytes(object) * rng.range(1, 4) / 2).clamp(64, 30_000) / 8 * 8;
            Event::Resize { object, bytes }
        }
        6 if matches!(home, Home::Malloc | Home::Vector) && program.objects[object].values.is_none() => {
            let keep = home == Home::Vector || rng.chance(50);
            let elem = if keep { program.objects[object].elem } else { elem(rng, program) };
            let bytes = if rng.chance(60) { state.bytes(object) } else { rng.range(100, 2000) * 8 };
            Event::Renew { object, bytes, elem, fill: rng.chance(60) }
        }
        7 if matches!(home, Home::Holes | Home::EdgeStart) => {
            let page = rng.range(0, program.objects[object].bytes / PAGE);
            Event::Clear { object, page, pages: 1, map: rng.chance(50) }
        }
        8 if matches!(home, Home::Holes | Home::EdgeStart) => {
            let page = rng.range(0, program.objects[object].bytes / PAGE);
            Event::Protect { object, page, open: rng.chance(60) }
        }
        9 if language.has_pages() => {
            let call = call(rng, program, state, language)?;
            let object = call.args[rng.below(call.args.len())].object;
            let free = state.free_bytes(program, &call, object);
            if free.is_empty() {
                return None;
            }
            let mut bytes: Vec<i64> = (0..40).map(|_| *rng.pick(&free)).collect();
            bytes.sort_unstable();
            bytes.dedup();
            Event::Beside { object, bytes, call }
        }
        10 | 11 => {
            let mut inner = state.clone();
            let count = 2 + rng.below(3);
            let events: Vec<Event> =
                (0..count).filter_map(|_| event(rng, program, &mut inner, language, depth + 1)).collect();
            if events.is_empty() {
                return None;
            }
            if rng.chance(35) {
                Event::Repeat { times: 2 + rng.below(3) as i64, events }
            } else {
                Event::Sub { events, leaves: language.has_jumps() && rng.chance(60) }
            }
        }
        12 => Event::Check,
        _ => return None,
    };
    // What leaves is called in a function that is left.
    if let Event::Call(call) = &event
        && call.sizes[3] == LEAVE
    {
        return (depth == 0).then(|| Event::Sub { events: vec![event], leaves: true });
    }
    Some(event)
}

fn spot(rng: &mut Rng, program: &Program, state: &State, object: usize, bytes: i64) -> Spot {
    let size = program.layout(program.objects[object].elem).bytes;
    let last = (state.bytes(object) - bytes).max(0) / size;
    let offset = if rng.chance(40) { 0 } else { rng.range(0, last) * size };
    Spot { object, offset, stride: 0 }
}

fn part(rng: &mut Rng, program: &Program, state: &State, object: usize) -> Part {
    let elem = match state.scalar_at(object, 0) {
        Some(s) if rng.chance(80) => Elem::Scalar(s),
        _ => program.objects[object].elem,
    };
    let layout = program.layout(elem);
    let count = if rng.chance(60) { 1 } else { rng.range(2, 9) };
    let step = rng.range(1, 7);
    let last = (state.bytes(object) / layout.bytes - (count - 1) * step - 1).max(0);
    let offset = rng.range(0, last) * layout.bytes;
    Part { at: Spot { object, offset, stride: 0 }, elem, leaf: rng.below(layout.leaves.len()), count, step }
}

/// Behind a call with memory that is mapped twice, one that reaches the same bytes at their other address.
fn other_half(
    rng: &mut Rng,
    program: &Program,
    state: &State,
    language: Language,
    first: &Call,
) -> Option<Call> {
    let on_ring = |spot: &Spot| program.objects[spot.object].home == Home::Ring;
    let ring = *first.args.iter().find(|spot| on_ring(spot)).filter(|_| rng.chance(60))?;
    let half = state.bytes(ring.object) / 2;
    let mut second = if rng.chance(50) { first.clone() } else { call(rng, program, state, language)? };
    let begin = if ring.offset < half { half } else { 0 };
    second
        .args
        .iter_mut()
        .filter(|spot| on_ring(spot))
        .for_each(|spot| spot.offset = begin + spot.offset % half);
    Some(second)
}

/// The part of the object as Fortran has it: of its type, or a member of each element; sometimes every second
/// one.
fn section(rng: &mut Rng, program: &Program, spot: Spot, param: &Param) -> Option<Spot> {
    let elem = program.objects[spot.object].elem;
    let layout = program.layout(elem);
    let first = spot.offset / layout.bytes * layout.bytes;
    if elem == param.elem {
        let stride = if !param.index && rng.chance(12) { 2 * layout.bytes } else { 0 };
        return Some(Spot { offset: first, stride, ..spot });
    }
    let Elem::Scalar(scalar) = param.elem else { return None };
    let of_type = |l: &&super::ast::Leaf| l.scalar == scalar && !l.array;
    let leaves: Vec<&super::ast::Leaf> = layout.leaves.iter().filter(of_type).collect();
    if leaves.is_empty() || param.index {
        return None;
    }
    let leaf = *rng.pick(&leaves);
    Some(Spot { offset: first + leaf.offset, stride: layout.bytes, ..spot })
}

/// Whether an object may be what a parameter points to.
fn fits(param: &Param, object: &Object) -> bool {
    if param.index {
        return object.values.is_some();
    }
    object.elem == param.elem || matches!(param.elem, Elem::Scalar(_)) && object.values.is_none()
}

/// Arguments for some function.
fn call(rng: &mut Rng, program: &Program, state: &State, language: Language) -> Option<Call> {
    let number = rng.below(program.kernels.len());
    let kernel = &program.kernels[number];
    let rows = program.objects.iter().position(|o| o.home == Home::Holes);
    let mut args = Vec::new();
    let differ = kernel.params.len() == 2 && kernel.params[0].elem != kernel.params[1].elem;
    let untyped = program.objects.iter().position(|o| o.home == Home::Malloc && o.values.is_none());
    let ring = program.objects.iter().position(|o| o.home == Home::Ring);
    let same = match (untyped, ring) {
        (Some(object), _) if differ && rng.chance(60) => Some(object),
        (_, Some(object)) if rng.chance(40) => Some(object),
        _ => rng.chance(35).then(|| rng.below(program.objects.len())),
    };
    // All arguments in the same half: a call reaches no byte at both of its addresses.
    let in_second_half = rng.chance(50);
    let mut smallest = i64::MAX;
    for param in &kernel.params {
        let size = program.layout(param.elem).bytes;
        let fits: Vec<usize> =
            (0..program.objects.len()).filter(|o| fits(param, &program.objects[*o])).collect();
        if fits.is_empty() {
            return None;
        }
        // Mostly of the very type.
        let exact: Vec<usize> =
            fits.iter().copied().filter(|o| program.objects[*o].elem == param.elem || param.index).collect();
        let from = if exact.is_empty() || rng.chance(25) { &fits } else { &exact };
        let object = same.filter(|s| fits.contains(s)).unwrap_or(*rng.pick(from));
        let bytes = state.bytes(object);
        let place = match rng.weighted(&[55, 25, 20]) {
            0 => 0,
            1 => rng.range(0, 8) * size,
            _ => rng.range(0, bytes / size / 2) * size,
        };
        // Into structures at one of their members; behind a hole.
        let offset = match (param.elem, program.objects[object].elem) {
            (Elem::Scalar(s), Elem::Struct(id)) if rng.chance(70) => {
                let layout = super::ast::layout(&program.structs, id);
                let like: Vec<i64> =
                    layout.leaves.iter().filter(|l| l.scalar.like(s)).map(|l| l.offset).collect();
                if like.is_empty() { place } else { *rng.pick(&like) + rng.range(0, 3) * layout.bytes }
            }
            _ if program.objects[object].home == Home::Holes && rng.chance(60) => {
                2 * PAGE * rng.range(0, bytes / PAGE / 2 - 1)
            }
            _ if program.objects[object].home == Home::Ring && rng.chance(70) => {
                let half = bytes / 2;
                place.min(half / 2) + if in_second_half && half % size == 0 { half } else { 0 }
            }
            _ => place,
        };
        let room = match program.objects[object].home {
            Home::Holes => PAGE,
            Home::Ring => bytes / 2 - offset % (bytes / 2),
            _ => bytes - offset,
        };
        smallest = smallest.min(room / size);
        let mut spot = Spot { object, offset, stride: 0 };
        if language.has_sections() {
            spot = section(rng, program, spot, param)?;
        }
        args.push(spot);
    }
    let bytes = kernel.params.first().map_or(4, |p| program.layout(p.elem).bytes);
    let holes = args.iter().any(|a| Some(a.object) == rows) && 2 * PAGE % bytes == 0;
    let nested = format!("{:?}", kernel.body).contains("high: M");
    let (mut n, mut m) = (rng.range(smallest / 3, smallest.max(4)), rng.range(3, 40));
    let mut l = m + rng.range(0, 12);
    if nested {
        if holes {
            l = 2 * PAGE / bytes;
            m = rng.range(PAGE / bytes / 4, PAGE / bytes);
            smallest *= 4;
        }
        n = (smallest / l.max(1)).clamp(1, 60);
    }
    if rng.chance(8) {
        n = rng.range(0, 3);
    }
    // Something smaller often fits where this does not.
    n = match rng.weighted(&[50, 30, 20]) {
        0 => n,
        1 => n / 2,
        _ => n - n / 4,
    };
    let k = if format!("{:?}", kernel.body).contains("Leave") && rng.chance(40) {
        LEAVE
    } else {
        rng.range(0, 5)
    };
    m = m.max(1);
    Some(Call { kernel: number, args, sizes: [n, m, l, k] })
}

//! What counts as defined C, and that programs are drawn, printed and made small.

use super::ast::{
    Call, Elem, Event, Home, Index, Kernel, LEAVE, Member, Node, Object, PAGE, Param, Part, Place, Program,
    Scalar, Spot, Struct, Sym, Term, Value, layout,
};
use super::bytes::Bad;
use super::simulate::simulate;
use super::{Language, Sequences};
use crate::grammar::Grammar;
use crate::rng::Rng;

const fn spot(object: usize, offset: i64) -> Spot {
    Spot { object, offset, stride: 0 }
}

fn at(param: usize, constant: i64) -> Place {
    let terms = vec![Term { coefficient: 1, sym: None, var: Some(0) }];
    Place { param, index: Index { constant, terms, through: None }, leaf: 0, sub: None }
}

fn nest(to: Place, value: Value) -> Node {
    let body = vec![Node::Assign { to, update: None, value }];
    Node::Loop { var: 0, low: 0, high: Sym::N, step: 1, down: false, body }
}

fn kernel(types: &[Scalar], body: Vec<Node>) -> Kernel {
    let params = types.iter().map(|s| Param { elem: Elem::Scalar(*s), index: false, restrict: false });
    Kernel { params: params.collect(), body, second: false, inline: false, long: false }
}

fn call(kernel: usize, args: &[Spot], n: i64) -> Event {
    Event::Call(Call { kernel, args: args.to_vec(), sizes: [n, 1, 1, 0] })
}

fn object(home: Home, bytes: i64, scalar: Scalar) -> Object {
    Object { home, bytes, elem: Elem::Scalar(scalar), values: None }
}

fn program(objects: Vec<Object>, events: Vec<Event>) -> Program {
    let kernels = vec![
        kernel(&[Scalar::I32], vec![nest(at(0, 0), Value::Var(0))]),
        kernel(&[Scalar::F32, Scalar::F32], vec![nest(at(0, 0), Value::Load(at(1, 0)))]),
        kernel(&[Scalar::F32], vec![nest(at(0, 0), Value::Const(1))]),
        kernel(&[Scalar::I32], vec![Node::Leave]),
        kernel(&[Scalar::U8], vec![nest(at(0, 0), Value::Var(0))]),
    ];
    Program { structs: Vec::new(), objects, kernels, events, globals: false }
}

#[test]
fn what_is_defined() {
    let floats = |home| vec![object(home, 4 * PAGE, Scalar::F32)];
    let read = |offset| {
        Event::Read(Part { at: spot(0, offset), elem: Elem::Scalar(Scalar::F32), leaf: 0, count: 1, step: 1 })
    };
    let renew = |fill| Event::Renew { object: 0, bytes: 400, elem: Elem::Scalar(Scalar::F32), fill };
    let copy = |to, bytes, overlap| Event::Copy { to: spot(0, to), from: spot(0, 0), bytes, overlap };
    let leave = Event::Call(Call { kernel: 3, args: vec![spot(0, 0)], sizes: [0, 0, 0, LEAVE] });
    let cases = [
        ("a load of what is there", Home::Malloc, vec![read(0)], Ok(())),
        (
            "behind the end",
            Home::Malloc,
            vec![call(1, &[spot(0, 0), spot(0, 8)], 4 * 1024)],
            Err(Bad::Bounds),
        ),
        ("a store changes the type", Home::Malloc, vec![call(0, &[spot(0, 0)], 9), read(40)], Ok(())),
        ("a load of the old type", Home::Malloc, vec![call(0, &[spot(0, 0)], 9), read(32)], Err(Bad::Type)),
        (
            "and back",
            Home::Malloc,
            vec![call(0, &[spot(0, 0)], 9), call(2, &[spot(0, 0)], 9), read(32)],
            Ok(()),
        ),
        ("half of a value", Home::Malloc, vec![read(2)], Err(Bad::Type)),
        ("a declared type stays", Home::Static, vec![call(0, &[spot(0, 0)], 9)], Err(Bad::Type)),
        ("bytes of a float", Home::Malloc, vec![call(4, &[spot(0, 0)], 9), read(8)], Err(Bad::Type)),
        ("no values", Home::Malloc, vec![renew(false)], Err(Bad::Empty)),
        ("values", Home::Malloc, vec![renew(true)], Ok(())),
        ("up to the hole", Home::Holes, vec![call(2, &[spot(0, 0)], 1024)], Ok(())),
        ("into the hole", Home::Holes, vec![call(2, &[spot(0, 0)], 1025)], Err(Bad::Bounds)),
        ("over the hole", Home::Holes, vec![call(1, &[spot(0, 0), spot(0, 2 * PAGE)], 1024)], Ok(())),
        ("one mapping", Home::Ring, vec![call(1, &[spot(0, 0), spot(0, 16)], 100)], Ok(())),
        (
            "both mappings",
            Home::Ring,
            vec![call(1, &[spot(0, 0), spot(0, 2 * PAGE + 16)], 100)],
            Err(Bad::Conflict),
        ),
        ("memcpy over itself", Home::Malloc, vec![copy(8, 16, false)], Err(Bad::Conflict)),
        ("memmove over itself", Home::Malloc, vec![copy(8, 16, true)], Ok(())),
        ("nobody to leave to", Home::Malloc, vec![leave.clone()], Err(Bad::Form)),
        (
            "somebody to leave to",
            Home::Malloc,
            vec![Event::Sub { events: vec![leave], leaves: true }],
            Ok(()),
        ),
        (
            "a closed page",
            Home::EdgeStart,
            vec![Event::Protect { object: 0, page: 1, open: false }, call(2, &[spot(0, 0)], 1025)],
            Err(Bad::Bounds),
        ),
    ];
    for (name, home, events, expected) in cases {
        assert_eq!(simulate(&program(floats(home), events)), expected, "{name}");
    }
}

#[test]
fn a_thread_beside_a_call() {
    let objects = vec![object(Home::Malloc, 800, Scalar::I32)];
    let body = vec![nest(
        Place {
            index: Index {
                terms: vec![Term { coefficient: 2, sym: None, var: Some(0) }],
                ..Index::default()
            },
            ..at(0, 0)
        },
        Value::Var(0),
    )];
    let mut p = program(objects, Vec::new());
    p.kernels.push(kernel(&[Scalar::I32], body));
    let call = Call { kernel: 5, args: vec![spot(0, 0)], sizes: [50, 1, 1, 0] };
    for (byte, expected) in [(4, Ok(())), (7, Ok(())), (8, Err(Bad::Conflict))] {
        p.events = vec![Event::Beside { object: 0, bytes: vec![byte], call: call.clone() }];
        assert_eq!(simulate(&p), expected, "{byte}");
    }
}

#[test]
fn structures_are_laid_out() {
    use Member::{Array, Bits, Nested, One};
    let one = |members| Struct { members, packed: false, union: false };
    let structs = [
        one(vec![One(Scalar::U8), One(Scalar::F64), One(Scalar::I16)]),
        one(vec![One(Scalar::U8), Bits([3, 20, 9]), Nested(0)]),
        Struct { packed: true, ..one(vec![One(Scalar::U8), One(Scalar::F64), Array(Scalar::I16, 3)]) },
        Struct { union: true, ..one(vec![One(Scalar::U16), One(Scalar::F32), Array(Scalar::U8, 5)]) },
    ];
    let expected: [(i64, &[i64]); 4] =
        [(24, &[0, 8, 16]), (32, &[0, 4, 4, 4, 8, 16, 24]), (15, &[0, 1, 9]), (8, &[0, 0, 0])];
    for (id, (bytes, offsets)) in expected.into_iter().enumerate() {
        let layout = layout(&structs, id);
        assert_eq!(layout.bytes, bytes, "{id}");
        assert_eq!(layout.leaves.iter().map(|l| l.offset).collect::<Vec<_>>(), offsets, "{id}");
    }
}

#[test]
fn programs_are_drawn() {
    for language in [Language::C, Language::Cpp, Language::Fortran] {
        for indices in [false, true] {
            let kind = Sequences { language, indices };
            let draw = |k| kind.generate(&mut Rng::stream(7, k));
            for k in 0..10 {
                let program = draw(k);
                assert_eq!(program, draw(k), "a seed is one program");
                assert_eq!(simulate(&program), Ok(()));
                assert_eq!(kind.sources(&[&program]).files.len(), 2);
            }
        }
    }
}

#[test]
fn programs_are_made_small() {
    let kind = Sequences { language: Language::C, indices: false };
    let program = kind.generate(&mut Rng::stream(3, 1));
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let small = kind.shrink(&program, deadline, &mut |p| !p.kernels.is_empty());
    assert!(small.events.is_empty() && small.objects.len() == 1, "{small:?}");
}

//! C and C++ text of what is inside of functions. Values stay finite and bounded: sums of floats are halved,
//! and what is converted between integers and floats is small.

use super::ast::{Elem, Index, Kernel, Node, Op, Place, Program, Scalar, Sym, Term, Value};
use std::fmt::Write;

pub const VARS: [&str; 3] = ["i", "j", "h"];

pub fn elem_name(number: usize, elem: Elem) -> String {
    match elem {
        Elem::Scalar(s) => s.c().to_owned(),
        Elem::Struct(id) => format!("struct p{number}_S{id}"),
    }
}

pub fn index(index: &Index) -> String {
    let mut text = String::new();
    for Term { coefficient, sym, var } in &index.terms {
        let mut parts = Vec::new();
        if coefficient.abs() != 1 || sym.is_none() && var.is_none() {
            parts.push(coefficient.abs().to_string());
        }
        parts.extend(sym.map(|s: Sym| s.name().to_owned()));
        parts.extend(var.map(|v| VARS[v].to_owned()));
        let sign = match (text.is_empty(), *coefficient < 0) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        let _ = write!(text, "{sign}{}", parts.join(" * "));
    }
    if let Some((param, inner)) = &index.through {
        let sign = if text.is_empty() { "" } else { " + " };
        let _ = write!(text, "{sign}p{param}[{}]", self::index(inner));
    }
    match (index.constant, text.is_empty()) {
        (c, true) => c.to_string(),
        (0, false) => text,
        (c, false) if c < 0 => format!("{text} - {}", -c),
        (c, false) => format!("{text} + {c}"),
    }
}

/// Text and type.
pub fn place(program: &Program, kernel: &Kernel, place: &Place) -> (String, Scalar) {
    let elem = kernel.params[place.param].elem;
    let leaf = &program.layout(elem).leaves[place.leaf];
    let member = if leaf.path.is_empty() { String::new() } else { format!(".{}", leaf.path) };
    let sub = place.sub.as_ref().map_or(String::new(), |s| format!("[{}]", index(s)));
    (format!("p{}[{}]{member}{sub}", place.param, index(&place.index)), leaf.scalar)
}

/// What a value of this type is computed in.
pub fn domain(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::F32 | Scalar::F64 => scalar,
        Scalar::I64 | Scalar::U64 => Scalar::U64,
        _ => Scalar::U32,
    }
}

pub fn constant(c: i64, ty: Scalar) -> String {
    match ty {
        Scalar::F32 => format!("({:?}f)", c as f64 / 4.0),
        Scalar::F64 => format!("({:?})", c as f64 / 4.0),
        Scalar::U64 => format!("(uint64_t)({c})"),
        _ => format!("(uint32_t)({c})"),
    }
}

/// A value of `ty`, one of those of [`domain`].
fn value(program: &Program, kernel: &Kernel, v: &Value, ty: Scalar) -> String {
    let suffix = if ty == Scalar::F32 { "f" } else { "" };
    match v {
        Value::Const(c) => constant(*c, ty),
        Value::Var(var) => format!("({}){}", ty.c(), VARS[*var]),
        Value::Load(at) => {
            let (text, from) = place(program, kernel, at);
            match (ty.is_float(), from.is_float()) {
                (true, true) if ty == from => text,
                (true, false) => format!("({})({text} & 1023)", ty.c()),
                (false, true) => format!("({text} > 1.5 ? ({0})77 : ({0})2)", ty.c()),
                _ => format!("({}){text}", ty.c()),
            }
        }
        Value::Bin(op, a, b) => {
            let (a, b) = (value(program, kernel, a, ty), value(program, kernel, b, ty));
            match (op, ty.is_float()) {
                (Op::Add, true) => format!("(({a} + {b}) * 0.5{suffix})"),
                (Op::Sub, true) => format!("(({a} - {b}) * 0.5{suffix})"),
                (Op::Mul, true) => format!("({a} * 0.25{suffix} - {b} * 0.75{suffix})"),
                (Op::Xor, true) => format!("({a} < {b} ? {a} : {b})"),
                (op, false) => format!("({a} {} {b})", op_text(*op)),
            }
        }
    }
}

fn op_text(op: Op) -> &'static str {
    match op {
        Op::Add => "+",
        Op::Sub => "-",
        Op::Mul => "*",
        Op::Xor => "^",
    }
}

/// No value in memory that is one of floating point goes into it.
fn is_bounded(program: &Program, kernel: &Kernel, v: &Value) -> bool {
    match v {
        Value::Const(_) | Value::Var(_) => true,
        Value::Load(at) => !place(program, kernel, at).1.is_float(),
        Value::Bin(_, a, b) => is_bounded(program, kernel, a) && is_bounded(program, kernel, b),
    }
}

pub fn note(text: &str, scalar: Scalar) -> String {
    if scalar.is_float() { format!("note((double){text})") } else { format!("note_bits((uint64_t){text})") }
}

pub fn nodes(out: &mut String, program: &Program, kernel: &Kernel, list: &[Node], depth: usize) {
    let pad = "  ".repeat(depth);
    let size = if kernel.long { "long" } else { "int" };
    for node in list {
        let _ = match node {
            Node::Loop { var, low, high, step, down, body } => {
                let (v, high) = (VARS[*var], high.name());
                let advance =
                    |op: &str| if *step == 1 { format!("{v}{op}{op}") } else { format!("{v} {op}= {step}") };
                let _ = if *down {
                    writeln!(out, "{pad}for ({size} {v} = {high} - 1; {v} >= {low}; {}) {{", advance("-"))
                } else {
                    writeln!(out, "{pad}for ({size} {v} = {low}; {v} < {high}; {}) {{", advance("+"))
                };
                nodes(out, program, kernel, body, depth + 1);
                writeln!(out, "{pad}}}")
            }
            Node::Repeat { times, body } => {
                let _ = writeln!(out, "{pad}for (int t = 0; t < {times}; t++) {{");
                nodes(out, program, kernel, body, depth + 1);
                writeln!(out, "{pad}}}")
            }
            Node::Assign { to, update, value: v } => {
                let (text, scalar) = place(program, kernel, to);
                let ty = domain(scalar);
                let new = value(program, kernel, v, ty);
                match update {
                    None => writeln!(out, "{pad}{text} = {new};"),
                    Some(Op::Add) if ty.is_float() && is_bounded(program, kernel, v) => {
                        writeln!(out, "{pad}{text} += {new};")
                    }
                    Some(_) if ty.is_float() => {
                        writeln!(out, "{pad}{text} = ({text} + {new}) * ({})0.5;", ty.c())
                    }
                    Some(op) => writeln!(out, "{pad}{text} {}= {new};", op_text(*op)),
                }
            }
            Node::IfData { place: at, above, body } => {
                let (text, _) = place(program, kernel, at);
                let _ = writeln!(out, "{pad}if ({text} > {above}) {{");
                nodes(out, program, kernel, body, depth + 1);
                writeln!(out, "{pad}}}")
            }
            Node::Leave => writeln!(out, "{pad}if (k == {})\n{pad}  leave();", super::ast::LEAVE),
            Node::Tick => writeln!(out, "{pad}tick();"),
            Node::Note(at) => {
                let (text, scalar) = place(program, kernel, at);
                writeln!(out, "{pad}{};", note(&text, scalar))
            }
        };
    }
}

//! C text of programs. A file holds several functions and a `main` that calls each with all its argument
//! lists and prints a hash of all memory after each call: `p3 1 9f0c…`. Arguments name one function, or one
//! function and one list.

use crate::ast::{
    Access, Array, Cond, Data, DataOp, Elem, Exit, Index, IndexOp, Loop, LoopForm, Node, Program, Target,
    each_node,
};
use crate::layout::{Layout, layout};
use std::fmt::Write;

/// Declarations of what [`HARNESS`] defines.
pub const DECLARATIONS: &str = "\
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
int wanted(int argc, char **argv, int program, int set);
void start(uint64_t seed);
void *region(int elem, uint64_t count);
void finish(int program, int set, double result);
";

/// Memory with guard zones, random data and hashes. Compiled by itself, without the plugin; its functions are
/// not optimized where it is part of a reproducer.
pub const HARNESS: &str = include_str!("harness.c");

/// A source file that needs the harness beside it.
pub fn batch(programs: &[&Program]) -> String {
    let mut out = String::from(DECLARATIONS);
    out.push('\n');
    for (number, program) in programs.iter().enumerate() {
        function(&mut out, program, number);
        out.push('\n');
    }
    out.push_str("int main(int argc, char **argv) {\n");
    for (number, program) in programs.iter().enumerate() {
        calls(&mut out, program, number);
    }
    out.push_str("  return 0;\n}\n");
    out
}

/// One program in a file that needs nothing else.
pub fn single(program: &Program) -> String {
    let whole = batch(&[program]);
    // The definitions go first, in place of the declarations.
    format!("{HARNESS}\n{}", whole.strip_prefix(DECLARATIONS).unwrap_or(&whole))
}

fn function(out: &mut String, program: &Program, number: usize) {
    let result = program.result.map_or("void", |s| program.scalars[s].name());
    let mut parameters: Vec<String> = program.vars[..program.n_params]
        .iter()
        .map(|v| format!("{} {}{}", v.ty.name(), if v.by_pointer { "*" } else { "" }, v.name))
        .collect();
    parameters.extend(
        program.scalars[..program.n_alphas].iter().enumerate().map(|(i, e)| format!("{} s{i}", e.name())),
    );
    if has_limit(program) {
        parameters.push("double limit".to_owned());
    }
    parameters.extend(program.arrays.iter().map(|a| array_parameter(program, a)));
    let _ =
        writeln!(out, "__attribute__((noinline)) static {result} p{number}({}) {{", parameters.join(", "));
    nodes(out, program, &program.body, 1);
    if let Some(scalar) = program.result {
        let _ = writeln!(out, "  return s{scalar};");
    }
    out.push_str("}\n");
}

/// Whether there is a check on data.
fn has_limit(program: &Program) -> bool {
    let mut found = false;
    each_node(&program.body, &mut |node| found |= matches!(node, Node::CheckData(_)));
    found
}

fn array_parameter(program: &Program, array: &Array) -> String {
    let restrict = if array.restrict { "restrict " } else { "" };
    let Some((first, rest)) = array.dims.split_first() else {
        return format!("{} *{restrict}{}", array.elem.name(), array.name);
    };
    let rest: String = rest.iter().map(|d| format!("[{}]", index(program, d))).collect();
    format!("{} {}[{restrict}{}]{rest}", array.elem.name(), array.name, index(program, first))
}

fn calls(out: &mut String, program: &Program, number: usize) {
    for (position, set) in program.sets.iter().enumerate() {
        let Ok(Layout { regions, bases }) = layout(program, set) else { continue };
        let _ = writeln!(
            out,
            "  if (wanted(argc, argv, {number}, {position})) {{\n    start({}u);",
            set.seed & 0xffff_ffff
        );
        for (region, (elem, count)) in regions.iter().enumerate() {
            let _ = writeln!(out, "    {} *r{region} = region({}, {count});", elem.name(), *elem as u8);
        }
        let mut arguments: Vec<String> = (set.params.iter().zip(&program.vars))
            .map(|(n, v)| if v.by_pointer { format!("&({}){{{n}}}", v.ty.name()) } else { n.to_string() })
            .collect();
        arguments.extend(program.scalars[..program.n_alphas].iter().map(|e| match e.is_float() {
            true => "0.37".to_owned(),
            false => "2654435761u".to_owned(),
        }));
        if has_limit(program) {
            arguments.push("HUGE_VAL".to_owned());
        }
        arguments.extend(bases.iter().map(|(region, offset)| format!("(void *)(r{region} + {offset})")));
        let call = format!("p{number}({})", arguments.join(", "));
        let _ = match program.result {
            Some(_) => writeln!(out, "    finish({number}, {position}, (double){call});\n  }}"),
            None => writeln!(out, "    {call};\n    finish({number}, {position}, 0);\n  }}"),
        };
    }
}

fn nodes(out: &mut String, program: &Program, list: &[Node], depth: usize) {
    for one in list {
        node(out, program, one, depth);
    }
}

fn node(out: &mut String, program: &Program, one: &Node, depth: usize) {
    let pad = "  ".repeat(depth);
    let _ = match one {
        Node::Loop(l) => return print_loop(out, program, l, depth),
        Node::If(c, then, other) => {
            let _ = writeln!(out, "{pad}if ({}) {{", cond(program, c));
            nodes(out, program, then, depth + 1);
            if !other.is_empty() {
                let _ = writeln!(out, "{pad}}} else {{");
                nodes(out, program, other, depth + 1);
            }
            writeln!(out, "{pad}}}")
        }
        Node::IfData(cmp, a, b, then, other) => {
            let ty = data_type(program, a);
            let (a, b) = (data(program, a, ty), data(program, b, ty));
            let _ = writeln!(out, "{pad}if ({a} {} {b}) {{", cmp.text());
            nodes(out, program, then, depth + 1);
            if !other.is_empty() {
                let _ = writeln!(out, "{pad}}} else {{");
                nodes(out, program, other, depth + 1);
            }
            writeln!(out, "{pad}}}")
        }
        Node::Exit(exit, cmp, a, b) => {
            let ty = data_type(program, a);
            let (a, b) = (data(program, a, ty), data(program, b, ty));
            let leave = match (exit, program.result) {
                (Exit::Break, _) => "break".to_owned(),
                (Exit::Return, Some(scalar)) => format!("return s{scalar}"),
                (Exit::Return, None) => "return".to_owned(),
            };
            writeln!(out, "{pad}if ({a} {} {b})\n{pad}  {leave};", cmp.text())
        }
        Node::Check(c) => writeln!(out, "{pad}if (!({}))\n{pad}  abort();", cond(program, c)),
        Node::CheckData(value) => {
            let value = data(program, value, data_type(program, value));
            writeln!(out, "{pad}if ((double){value} > limit)\n{pad}  abort();")
        }
        Node::Continue(c) => writeln!(out, "{pad}if ({})\n{pad}  continue;", cond(program, c)),
        Node::Assign(Target::Array(access), op, value) => {
            let elem = program.arrays[access.array].elem;
            let value = data(program, value, elem.compute());
            let value = if elem == elem.compute() || op.is_some() {
                value
            } else {
                format!("({})({value})", elem.name())
            };
            writeln!(out, "{pad}{} {}= {value};", self::access(program, access), op.map_or("", op_text))
        }
        Node::Assign(Target::Scalar(s), op, value) => {
            writeln!(
                out,
                "{pad}s{s} {}= {};",
                op.map_or("", op_text),
                data(program, value, program.scalars[*s])
            )
        }
        Node::Scalar(s, value) => {
            let ty = program.scalars[*s];
            writeln!(out, "{pad}{} s{s} = {};", ty.name(), data(program, value, ty))
        }
        Node::Declare(var, value) => {
            let v = &program.vars[*var];
            writeln!(out, "{pad}{} {} = {};", v.ty.name(), v.name, index(program, value))
        }
        Node::Advance(var, by) => writeln!(out, "{pad}{} += {by};", program.vars[*var].name),
        Node::Swap(a, b) => {
            let (a, b) = (&program.arrays[*a].name, &program.arrays[*b].name);
            writeln!(out, "{pad}{{ __typeof__({a}) swap = {a}; {a} = {b}; {b} = swap; }}")
        }
    };
}

fn print_loop(out: &mut String, program: &Program, l: &Loop, depth: usize) {
    let pad = "  ".repeat(depth);
    let v = &program.vars[l.var];
    let (name, low) = (&v.name, index(program, &l.low));
    let test = format!("{name} {} {}", l.cmp.text(), index(program, &l.high));
    let step = match l.step {
        1 => format!("{name}++"),
        -1 => format!("{name}--"),
        s @ 2.. => format!("{name} += {s}"),
        s => format!("{name} -= {}", -s),
    };
    let open = match l.form {
        LoopForm::For => format!("for ({} {name} = {low}; {test}; {step}) {{", v.ty.name()),
        LoopForm::While => format!("{{ {} {name} = {low}; while ({test}) {{", v.ty.name()),
        LoopForm::DoWhile => format!("{{ {} {name} = {low}; if ({test}) do {{", v.ty.name()),
    };
    let _ = writeln!(out, "{pad}{open}");
    nodes(out, program, &l.body, depth + 1);
    let _ = match l.form {
        LoopForm::For => writeln!(out, "{pad}}}"),
        LoopForm::While => writeln!(out, "{pad}  {step};\n{pad}}} }}"),
        LoopForm::DoWhile => writeln!(out, "{pad}  {step};\n{pad}}} while ({test}); }}"),
    };
}

fn cond(program: &Program, c: &Cond) -> String {
    format!("{} {} {}", index(program, &c.a), c.cmp.text(), index(program, &c.b))
}

fn access(program: &Program, a: &Access) -> String {
    let subscripts: String = a.subscripts.iter().map(|s| format!("[{}]", bare(index(program, s)))).collect();
    format!("{}{subscripts}", program.arrays[a.array].name)
}

/// Without the parentheses around the whole.
fn bare(text: String) -> String {
    let mut depth = 0;
    let closes_early = text.char_indices().any(|(at, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0 && at + 1 < text.len()
    });
    match text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        Some(inner) if !closes_early => inner.to_owned(),
        _ => text,
    }
}

fn index(program: &Program, i: &Index) -> String {
    match i {
        Index::Const(c @ 0..) => c.to_string(),
        Index::Const(c) => format!("({c})"),
        Index::Var(id) if program.vars[*id].by_pointer => format!("(*{})", program.vars[*id].name),
        Index::Var(id) => program.vars[*id].name.clone(),
        Index::Cast(ty, inner) => format!("({}){}", ty.name(), index(program, inner)),
        Index::Bin(op, a, b) => {
            let (a, b) = (index(program, a), index(program, b));
            match op {
                IndexOp::Add => format!("({a} + {b})"),
                IndexOp::Sub => format!("({a} - {b})"),
                IndexOp::Mul => format!("({a} * {b})"),
                IndexOp::Div => format!("({a} / {b})"),
                IndexOp::Mod => format!("({a} % {b})"),
                IndexOp::Min => format!("({a} < {b} ? {a} : {b})"),
                IndexOp::Max => format!("({a} > {b} ? {a} : {b})"),
            }
        }
    }
}

fn op_text(op: DataOp) -> &'static str {
    match op {
        DataOp::Add => "+",
        DataOp::Sub => "-",
        DataOp::Mul => "*",
        DataOp::Xor => "^",
        DataOp::And => "&",
        DataOp::Shr => ">>",
    }
}

/// The type that a comparison of data is done in.
fn data_type(program: &Program, d: &Data) -> Elem {
    let mut ty = Elem::U64;
    crate::ast::accesses(d, &mut |a| ty = program.arrays[a.array].elem.compute());
    ty
}

fn constant(c: i64, ty: Elem) -> String {
    match ty {
        Elem::F64 => format!("{:?}", c as f64 / 1000.0),
        Elem::F32 => format!("{:?}f", c as f64 / 1000.0),
        Elem::U64 => format!("(uint64_t){c}"),
        _ => format!("{c}u"),
    }
}

/// A value of type `ty`, one of those that [`Elem::compute`] returns.
fn data(program: &Program, d: &Data, ty: Elem) -> String {
    let cast = |from: Elem, text: String| if from == ty { text } else { format!("({}){text}", ty.name()) };
    match d {
        Data::Const(c) if *c < 0 => format!("({})", constant(*c, ty)),
        Data::Const(c) => constant(*c, ty),
        Data::Load(a) => cast(program.arrays[a.array].elem, access(program, a)),
        Data::Scalar(s) => cast(program.scalars[*s], format!("s{s}")),
        Data::Index(i) => format!("({}){}", ty.name(), index(program, i)),
        Data::Bin(DataOp::Shr, a, b) => {
            let by = if let Data::Const(c) = **b { c.rem_euclid(31) } else { 1 };
            format!("({} >> {by})", data(program, a, ty))
        }
        Data::Bin(op, a, b) => {
            format!("({} {} {})", data(program, a, ty), op_text(*op), data(program, b, ty))
        }
        Data::DivBy(a, c) => format!("({} / {})", data(program, a, ty), constant(*c, ty)),
        Data::Select(cmp, parts) => {
            let [a, b, c, e] = &**parts;
            let [a, b, c, e] = [a, b, c, e].map(|p| data(program, p, ty));
            format!("({a} {} {b} ? {c} : {e})", cmp.text())
        }
        Data::Abs(a) => match ty {
            Elem::F32 => format!("fabsf({})", data(program, a, ty)),
            Elem::F64 => format!("fabs({})", data(program, a, ty)),
            _ => format!("(({})0 - {})", ty.name(), data(program, a, ty)),
        },
    }
}

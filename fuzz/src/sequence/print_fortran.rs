//! Fortran text: objects are allocatable arrays and arrays of a module, functions subroutines with
//! assumed-shape dummies or pointers, in one module for each file. Integers have a sign and stay small: what
//! is computed is masked.
//!
//! A parameter that is marked `restrict` is an ordinary dummy, which the language forbids to overlap with
//! others where something is stored; the others are pointers.

use super::ast::{
    Call, Elem, Event, Home, Index, Kernel, LEAVE, Member, Node, Op, Part, Place, Program, Scalar, Spot, Sym,
    Term, Value,
};
use super::expressions::VARS;
use super::print_c::types;
use std::fmt::Write;

const INTERFACES: &str = "\
  interface
    subroutine begin_program(number) bind(c)
      import
      integer(c_int), value :: number
    end subroutine
    subroutine adopt(number, start, bytes, from, types) bind(c)
      import
      integer(c_int), value :: number
      type(c_ptr), value :: start
      integer(c_int64_t), value :: bytes, from
      character(kind=c_char) :: types(*)
    end subroutine
    subroutine resized(number, start, bytes, types) bind(c)
      import
      integer(c_int), value :: number
      type(c_ptr), value :: start
      integer(c_int64_t), value :: bytes
      character(kind=c_char) :: types(*)
    end subroutine
    subroutine note(x) bind(c)
      import
      real(c_double), value :: x
    end subroutine
    subroutine note_bits(x) bind(c)
      import
      integer(c_int64_t), value :: x
    end subroutine
    subroutine tick() bind(c)
    end subroutine
    subroutine check(number) bind(c)
      import
      integer(c_int), value :: number
    end subroutine
  end interface
";

/// The texts of both files; the first has a module that the second uses.
pub fn files(programs: &[&Program]) -> [String; 2] {
    let begin =
        |name: &str, uses: &str| format!("module {name}\n  use iso_c_binding\n{uses}  implicit none\n");
    let mut first = begin("programs_b", "");
    first.push_str(INTERFACES);
    let mut second = begin("programs_a", "  use programs_b\n");
    let mut bodies = [String::new(), String::new()];
    for (number, program) in programs.iter().enumerate() {
        structs(&mut first, number, program);
        for (o, object) in program.objects.iter().enumerate() {
            let size = program.layout(object.elem).bytes;
            let last = (object.bytes + size - 1) / size - 1;
            let name = elem_name(number, object.elem);
            if let Some(values) = &object.values {
                let lines: Vec<String> = values
                    .chunks(12)
                    .map(|c| c.iter().map(i32::to_string).collect::<Vec<_>>().join(", "))
                    .collect();
                let _ = writeln!(
                    second,
                    "  integer(4), parameter :: p{number}_v{o}(0:{last}) = [ &\n    {}]",
                    lines.join(", &\n    ")
                );
            }
            if object.home == Home::Static {
                let _ = writeln!(second, "  {name}, target :: p{number}_o{o}(0:{last})");
            } else if program.globals {
                let _ = writeln!(second, "  {name}, allocatable, target :: p{number}_o{o}(:)");
            }
        }
        for (k, kernel) in program.kernels.iter().enumerate() {
            self::kernel(&mut bodies[usize::from(!kernel.second)], program, number, k);
        }
        Driver { program, number, subs: String::new(), count: 0 }.print(&mut bodies[1]);
    }
    let [body_b, body_a] = bodies;
    let _ = write!(first, "contains\n{body_b}end module\n");
    let _ = write!(second, "contains\n{body_a}end module\n\nprogram main\n  use programs_a\n");
    for number in 0..programs.len() {
        let _ = writeln!(second, "  call p{number}_run()");
    }
    second.push_str("end program\n");
    [first, second]
}

fn elem_name(number: usize, elem: Elem) -> String {
    match elem {
        Elem::Scalar(s) => s.fortran().to_owned(),
        Elem::Struct(id) => format!("type(p{number}_S{id})"),
    }
}

fn structs(out: &mut String, number: usize, program: &Program) {
    for (id, s) in program.structs.iter().enumerate() {
        let _ = writeln!(out, "  type, bind(c) :: p{number}_S{id}");
        for (m, member) in s.members.iter().enumerate() {
            let _ = match member {
                Member::One(s) => writeln!(out, "    {} :: m{m}", s.fortran()),
                Member::Array(s, n) => writeln!(out, "    {} :: m{m}(0:{})", s.fortran(), n - 1),
                Member::Nested(inner) => writeln!(out, "    type(p{number}_S{inner}) :: m{m}"),
                Member::Bits(_) => Ok(()),
            };
        }
        out.push_str("  end type\n");
    }
}

fn kernel(out: &mut String, program: &Program, number: usize, k: usize) {
    let kernel = &program.kernels[k];
    let names: Vec<String> = (0..kernel.params.len())
        .map(|p| format!("p{p}"))
        .chain(Sym::ALL.iter().map(|s| s.name().to_owned()))
        .collect();
    let _ = writeln!(out, "  subroutine p{number}_k{k}({})", names.join(", "));
    for (p, param) in kernel.params.iter().enumerate() {
        let name = elem_name(number, param.elem);
        let _ = if param.restrict {
            writeln!(out, "    {name}, intent(inout) :: p{p}(0:)")
        } else {
            writeln!(out, "    {name}, pointer :: p{p}(:)")
        };
    }
    let kind = if kernel.long { 8 } else { 4 };
    let _ = writeln!(out, "    integer({kind}), value :: n, m, l, k");
    let _ = writeln!(out, "    integer({kind}) :: i, j\n    integer :: t");
    nodes(out, program, kernel, &kernel.body, 2);
    out.push_str("  end subroutine\n");
}

fn index(index: &Index) -> String {
    let mut text = index.constant.to_string();
    for Term { coefficient, sym, var } in &index.terms {
        let mut parts = vec![coefficient.abs().to_string()];
        parts.extend(sym.map(|s: Sym| s.name().to_owned()));
        parts.extend(var.map(|v| VARS[v].to_owned()));
        if coefficient.abs() == 1 && parts.len() > 1 {
            parts.remove(0);
        }
        let _ = write!(text, " {} {}", if *coefficient < 0 { "-" } else { "+" }, parts.join(" * "));
    }
    if let Some((param, inner)) = &index.through {
        let _ = write!(text, " + p{param}({})", self::index(inner));
    }
    match text.strip_prefix("0 + ") {
        Some(rest) => rest.to_owned(),
        None => text,
    }
}

fn member(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("%{}", path.replace('.', "%")) }
}

fn place(program: &Program, kernel: &Kernel, place: &Place) -> (String, Scalar) {
    let leaf = &program.layout(kernel.params[place.param].elem).leaves[place.leaf];
    let sub = place.sub.as_ref().map_or(String::new(), |s| format!("({})", index(s)));
    (format!("p{}({}){}{sub}", place.param, index(&place.index), member(&leaf.path)), leaf.scalar)
}

/// The kind of what a value of a type is computed in.
fn kind(scalar: Scalar) -> i64 {
    scalar.bytes().max(4)
}

fn constant(c: i64, scalar: Scalar) -> String {
    if scalar.is_float() {
        format!("({:?}_{})", c as f64 / 4.0, kind(scalar))
    } else {
        format!("({c}_{})", kind(scalar))
    }
}

/// A value of the type that `ty` is computed in; integers between -1024 and 1023.
fn value(program: &Program, kernel: &Kernel, v: &Value, ty: Scalar) -> String {
    let kind = kind(ty);
    match v {
        Value::Const(c) => constant(*c, ty),
        Value::Var(var) if ty.is_float() => format!("real({}, {kind})", VARS[*var]),
        Value::Var(var) => {
            format!("int(iand({}, {}), {kind})", VARS[*var], if kernel.long { "1023_8" } else { "1023" })
        }
        Value::Load(at) => {
            let (text, from) = place(program, kernel, at);
            let small =
                format!("iand({text}, {}_{})", if from.bytes() == 1 { 127 } else { 1023 }, from.bytes());
            match (ty.is_float(), from.is_float()) {
                (true, true) if ty == from => text,
                (true, true) => format!("real({text}, {kind})"),
                (true, false) => format!("real({small}, {kind})"),
                (false, true) => format!("merge(77_{kind}, 2_{kind}, {text} > 1.5_{})", from.bytes()),
                (false, false) => format!("int({small}, {kind})"),
            }
        }
        Value::Bin(op, a, b) => {
            let (a, b) = (value(program, kernel, a, ty), value(program, kernel, b, ty));
            let half = format!("0.5_{kind}");
            match (op, ty.is_float()) {
                (Op::Add, true) => format!("(({a} + {b}) * {half})"),
                (Op::Sub, true) => format!("(({a} - {b}) * {half})"),
                (Op::Mul, true) => format!("({a} * 0.25_{kind} - {b} * 0.75_{kind})"),
                (Op::Xor, true) => format!("merge({a}, {b}, {a} < {b})"),
                (op, false) => masked(*op, &a, &b, kind),
            }
        }
    }
}

fn masked(op: Op, a: &str, b: &str, kind: i64) -> String {
    match op {
        Op::Add => format!("iand({a} + {b}, 1023_{kind})"),
        Op::Sub => format!("iand({a} - {b}, 1023_{kind})"),
        Op::Mul => format!("iand({a} * {b}, 1023_{kind})"),
        Op::Xor => format!("ieor({a}, {b})"),
    }
}

/// As a value of the type in memory.
fn narrowed(text: String, scalar: Scalar) -> String {
    match scalar.bytes() {
        1 => format!("int(iand({text}, 127), 1)"),
        2 => format!("int({text}, 2)"),
        _ => text,
    }
}

fn note(text: &str, scalar: Scalar) -> String {
    if scalar.is_float() {
        format!("call note(real({text}, 8))")
    } else {
        format!("call note_bits(int({text}, 8))")
    }
}

fn nodes(out: &mut String, program: &Program, kernel: &Kernel, list: &[Node], depth: usize) {
    let pad = "  ".repeat(depth);
    for node in list {
        let _ = match node {
            Node::Loop { var, low, high, step, down, body } => {
                let (v, high) = (VARS[*var], high.name());
                let _ = if *down {
                    writeln!(out, "{pad}do {v} = {high} - 1, {low}, -{step}")
                } else {
                    writeln!(out, "{pad}do {v} = {low}, {high} - 1, {step}")
                };
                nodes(out, program, kernel, body, depth + 1);
                writeln!(out, "{pad}end do")
            }
            Node::Repeat { times, body } => {
                let _ = writeln!(out, "{pad}do t = 1, {times}");
                nodes(out, program, kernel, body, depth + 1);
                writeln!(out, "{pad}end do")
            }
            Node::Assign { to, update, value: v } => {
                let (text, ty) = place(program, kernel, to);
                let new = value(program, kernel, v, ty);
                // What was there is the first operand, so that long lines are broken.
                let old = value(program, kernel, &Value::Load(to.clone()), ty);
                let new = match update {
                    None => new,
                    Some(_) if ty.is_float() => format!("({text} + &\n{pad}  {new}) * 0.5_{}", kind(ty)),
                    Some(op) => masked(*op, &old, &format!("&\n{pad}  {new}"), kind(ty)),
                };
                writeln!(out, "{pad}{text} = &\n{pad}  {}", narrowed(new, ty))
            }
            Node::IfData { place: at, above, body } => {
                let (text, scalar) = place(program, kernel, at);
                let bound =
                    if scalar.is_float() { format!("{above}.0_{}", kind(scalar)) } else { above.to_string() };
                let _ = writeln!(out, "{pad}if ({text} > {bound}) then");
                nodes(out, program, kernel, body, depth + 1);
                writeln!(out, "{pad}end if")
            }
            Node::Leave => writeln!(out, "{pad}if (k == {LEAVE}) return"),
            Node::Tick => writeln!(out, "{pad}call tick()"),
            Node::Note(at) => {
                let (text, scalar) = place(program, kernel, at);
                writeln!(out, "{pad}{}", note(&text, scalar))
            }
        };
    }
}

struct Driver<'a> {
    program: &'a Program,
    number: usize,
    subs: String,
    count: usize,
}

impl Driver<'_> {
    fn print(mut self, out: &mut String) {
        let number = self.number;
        let (mut declared, mut body) = (String::new(), String::new());
        for (o, object) in self.program.objects.iter().enumerate() {
            let base = self.base(o);
            if self.is_passed(o) {
                let _ = writeln!(
                    declared,
                    "    {}, allocatable, target :: {base}(:)",
                    elem_name(number, object.elem)
                );
            }
            if object.home != Home::Static {
                let _ = writeln!(body, "    allocate({base}(0:{}))", self.elements(o, object.bytes) - 1);
            }
            let types = match object.values {
                Some(_) => {
                    let _ = writeln!(body, "    {base} = p{number}_v{o}");
                    "-".to_owned()
                }
                None => types(self.program, object.elem),
            };
            let _ = writeln!(
                body,
                "    call adopt({o}, c_loc({base}), {}_8, 0_8, &\n      \"{types}\"//c_null_char)",
                object.bytes
            );
        }
        self.events(&mut body, &self.program.events, 2);
        out.push_str(&self.subs);
        let _ = writeln!(
            out,
            "  subroutine p{number}_run()\n{declared}    integer :: h, t2, t3, t4\n    call begin_program({number})\n\
             {body}    call check({number})\n  end subroutine"
        );
    }

    fn size(&self, elem: Elem) -> i64 {
        self.program.layout(elem).bytes
    }

    fn elements(&self, object: usize, bytes: i64) -> i64 {
        let size = self.size(self.program.objects[object].elem);
        (bytes + size - 1) / size
    }

    fn is_passed(&self, object: usize) -> bool {
        self.program.objects[object].home != Home::Static && !self.program.globals
    }

    fn base(&self, object: usize) -> String {
        if self.is_passed(object) { format!("o{object}") } else { format!("p{}_o{object}", self.number) }
    }

    fn element(&self, spot: Spot) -> i64 {
        spot.offset / self.size(self.program.objects[spot.object].elem)
    }

    /// A section of an object, or of a member of it.
    fn section(&self, spot: Spot, elem: Elem) -> String {
        let size = self.size(self.program.objects[spot.object].elem);
        let first = spot.offset / size;
        let path = match self.program.objects[spot.object].elem {
            Elem::Struct(_) if matches!(elem, Elem::Scalar(_)) => {
                let layout = self.program.layout(self.program.objects[spot.object].elem);
                let leaf = layout.leaves.into_iter().find(|l| l.offset == spot.offset % size);
                leaf.map_or(String::new(), |l| member(&l.path))
            }
            _ => String::new(),
        };
        let step = if spot.stride > size { format!(":{}", spot.stride / size) } else { String::new() };
        format!("{}({first}:{step}){path}", self.base(spot.object))
    }

    fn call(&self, out: &mut String, call: &Call, pad: &str) {
        let kernel = &self.program.kernels[call.kernel];
        let (mut declared, mut set, mut arguments) = (String::new(), String::new(), Vec::new());
        for (a, (spot, param)) in call.args.iter().zip(&kernel.params).enumerate() {
            let section = self.section(*spot, param.elem);
            if param.restrict {
                let whole = spot.offset == 0 && spot.stride == 0;
                arguments.push(if whole { self.base(spot.object) } else { section });
            } else {
                let name = elem_name(self.number, param.elem);
                let _ = writeln!(declared, "{pad}  {name}, pointer :: a{a}(:)");
                let _ = writeln!(set, "{pad}  a{a}(0:) => {section}");
                arguments.push(format!("a{a}"));
            }
        }
        let kind = if kernel.long { "_8" } else { "" };
        arguments.extend(call.sizes.iter().map(|s| format!("{s}{kind}")));
        let line = format!("call p{}_k{}({})", self.number, call.kernel, arguments.join(", "));
        let _ = if declared.is_empty() {
            writeln!(out, "{pad}{line}")
        } else {
            writeln!(out, "{pad}block\n{declared}{set}{pad}  {line}\n{pad}end block")
        };
    }

    fn part(&self, part: &Part) -> (String, Scalar) {
        let leaf = &self.program.layout(part.elem).leaves[part.leaf];
        let sub = if leaf.array { "(0)" } else { "" };
        let q = self.element(part.at);
        let index = if part.count == 1 { q.to_string() } else { format!("{q} + h * {}", part.step) };
        (format!("{}({index}){}{sub}", self.base(part.at.object), member(&leaf.path)), leaf.scalar)
    }

    fn events(&mut self, out: &mut String, events: &[Event], depth: usize) {
        for event in events {
            self.event(out, event, depth);
        }
    }

    fn event(&mut self, out: &mut String, event: &Event, depth: usize) {
        let pad = "  ".repeat(depth);
        let repeated = |count: i64, line: String| match count {
            1 => format!("{pad}{line}"),
            n => format!("{pad}do h = 0, {}\n{pad}  {line}\n{pad}end do", n - 1),
        };
        let _ = match event {
            Event::Call(call) => {
                self.call(out, call, &pad);
                Ok(())
            }
            Event::Read(part) => {
                let (text, scalar) = self.part(part);
                writeln!(out, "{}", repeated(part.count, note(&text, scalar)))
            }
            Event::Write(part, value) => {
                let (text, scalar) = self.part(part);
                let new = if scalar.is_float() || scalar.bytes() > 2 {
                    constant(*value, scalar)
                } else {
                    format!("int({value}, {})", scalar.bytes())
                };
                writeln!(out, "{}", repeated(part.count, format!("{text} = {new}")))
            }
            Event::Copy { to, from, bytes, .. } => {
                let count = bytes / self.size(self.program.objects[to.object].elem);
                let (q, r) = (self.element(*to), self.element(*from));
                let (to, from) = (self.base(to.object), self.base(from.object));
                writeln!(out, "{pad}{to}({q}:{}) = {from}({r}:{})", q + count - 1, r + count - 1)
            }
            Event::Set { to, bytes, .. } => {
                let elem = self.program.objects[to.object].elem;
                let (q, count) = (self.element(*to), bytes / self.size(elem));
                writeln!(out, "{pad}{}({q}:{}) = 0", self.base(to.object), q + count - 1)
            }
            Event::Resize { object, bytes } => {
                let this = &self.program.objects[*object];
                let (base, last) = (self.base(*object), self.elements(*object, *bytes) - 1);
                let name = elem_name(self.number, this.elem);
                writeln!(
                    out,
                    "{pad}block\n{pad}  {name}, allocatable :: new(:)\n{pad}  allocate(new(0:{last}))\n\
                     {pad}  h = min({last}, ubound({base}, 1))\n{pad}  new(0:h) = {base}(0:h)\n\
                     {pad}  call move_alloc(new, {base})\n{pad}end block\n\
                     {pad}call resized({object}, c_loc({base}), {bytes}_8, &\n{pad}  \"{}\"//c_null_char)",
                    types(self.program, this.elem)
                )
            }
            Event::Renew { object, bytes, elem, .. } => {
                let (base, last) = (self.base(*object), self.elements(*object, *bytes) - 1);
                writeln!(
                    out,
                    "{pad}deallocate({base})\n{pad}allocate({base}(0:{last}))\n\
                     {pad}call adopt({object}, c_loc({base}), {bytes}_8, 0_8, &\n{pad}  \"{}\"//c_null_char)",
                    types(self.program, *elem)
                )
            }
            Event::Sub { events, .. } => {
                self.sub(out, events, &pad);
                Ok(())
            }
            Event::Repeat { times, events } => {
                let _ = writeln!(out, "{pad}do t{depth} = 1, {times}");
                self.events(out, events, depth + 1);
                writeln!(out, "{pad}end do")
            }
            Event::Check => writeln!(out, "{pad}call check({})", self.number),
            // Not of this language.
            Event::Clear { .. } | Event::Protect { .. } | Event::Beside { .. } => Ok(()),
        };
    }

    fn sub(&mut self, out: &mut String, events: &[Event], pad: &str) {
        let mut body = String::new();
        self.events(&mut body, events, 2);
        let (number, sub) = (self.number, self.count);
        self.count += 1;
        let passed: Vec<usize> = (0..self.program.objects.len()).filter(|o| self.is_passed(*o)).collect();
        let arguments: Vec<String> = passed.iter().map(|o| format!("o{o}")).collect();
        let arguments = arguments.join(", ");
        let _ = writeln!(self.subs, "  subroutine p{number}_sub{sub}({arguments})");
        for o in &passed {
            let name = elem_name(number, self.program.objects[*o].elem);
            let _ = writeln!(self.subs, "    {name}, allocatable, target :: o{o}(:)");
        }
        let _ = writeln!(self.subs, "    integer :: h, t2, t3, t4\n{body}  end subroutine");
        let _ = writeln!(out, "{pad}call p{number}_sub{sub}({arguments})");
    }
}

//! C++ text: objects are vectors and arrays, functions of the first file templates over what they are called
//! with (a container, a span, a pointer); those of the second file get pointers. What leaves a function is an
//! exception.

use super::ast::{Call, Elem, Event, Home, Kernel, Part, Program, Scalar, Spot, Sym};
use super::expressions::{constant, domain, elem_name, nodes, note};
use super::print_c::{structs, types};
use std::fmt::Write;

const DECLARATIONS: &str = "\
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>
#define _Static_assert static_assert
extern \"C\" {
int wanted(int argc, char **argv, int program);
void adopt(int number, void *start, int64_t bytes, int64_t from, const char *types);
void resized(int number, void *start, int64_t bytes, const char *types);
void note(double value);
void note_bits(uint64_t value);
void tick(void);
void check(int program);
}
struct Jump {};
[[noreturn]] void leave();
";

/// The texts of both files.
pub fn files(programs: &[&Program]) -> [String; 2] {
    let mut first = String::from(DECLARATIONS);
    let mut second = first.clone();
    second.push_str("void leave() { throw Jump{}; }\n");
    for (number, program) in programs.iter().enumerate() {
        for out in [&mut first, &mut second] {
            out.push('\n');
            structs(out, number, program);
        }
        for (k, kernel) in program.kernels.iter().enumerate() {
            let head = head(number, k, kernel);
            let out = if kernel.second {
                let _ = writeln!(first, "{head};");
                &mut second
            } else {
                &mut first
            };
            let _ = writeln!(out, "{head} {{");
            nodes(out, program, kernel, &kernel.body, 1);
            out.push_str("}\n");
        }
        Driver { program, number, subs: String::new(), count: 0 }.print(&mut first);
    }
    first.push_str("\nint main(int argc, char **argv) {\n");
    for number in 0..programs.len() {
        let _ = writeln!(first, "  if (wanted(argc, argv, {number}))\n    p{number}_run();");
    }
    first.push_str("  return 0;\n}\n");
    [first, second]
}

fn head(number: usize, k: usize, kernel: &Kernel) -> String {
    let size = if kernel.long { "long" } else { "int" };
    let mut parameters = Vec::new();
    for (p, param) in kernel.params.iter().enumerate() {
        let restrict = if param.restrict { "__restrict " } else { "" };
        parameters.push(if kernel.second {
            format!("{} *{restrict}p{p}", elem_name(number, param.elem))
        } else {
            format!("T{p} &&p{p}")
        });
    }
    parameters.extend(Sym::ALL.iter().map(|s| format!("{size} {}", s.name())));
    let inline = if kernel.inline { "" } else { "__attribute__((noinline)) " };
    let template = if kernel.second {
        String::new()
    } else {
        let names: Vec<String> = (0..kernel.params.len()).map(|p| format!("class T{p}")).collect();
        format!("template <{}>\n", names.join(", "))
    };
    let linkage = if kernel.second { "" } else { "static " };
    format!("{template}{inline}{linkage}void p{number}_k{k}({})", parameters.join(", "))
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
        let mut body = String::new();
        for (o, object) in self.program.objects.iter().enumerate() {
            let (ty, count) = (self.container(o), self.elements(o, object.bytes));
            let base = self.base(o);
            let fixed = object.home == Home::Static && o.is_multiple_of(2);
            let _ = if self.is_passed(o) {
                writeln!(body, "  {ty} {base}({count});")
            } else if fixed {
                writeln!(out, "static {ty} {base};")
            } else {
                let _ = writeln!(out, "static {ty} {base};");
                writeln!(body, "  {base} = {ty}({count});")
            };
            let types = match &object.values {
                Some(values) => {
                    let list: Vec<String> = values.iter().map(i32::to_string).collect();
                    let _ = writeln!(out, "static const int32_t p{number}_v{o}[] = {{{}}};", list.join(", "));
                    let _ = writeln!(body, "  std::copy_n(p{number}_v{o}, {count}, {base}.data());");
                    "nullptr".to_owned()
                }
                None => format!("\"{}\"", types(self.program, object.elem)),
            };
            let _ = writeln!(body, "  adopt({o}, {base}.data(), {}, 0, {types});", object.bytes);
        }
        self.events(&mut body, &self.program.events, 1);
        out.push_str(&self.subs);
        let _ = writeln!(
            out,
            "__attribute__((noinline)) static void p{number}_run() {{\n{body}  check({number});\n}}"
        );
    }

    fn size(&self, elem: Elem) -> i64 {
        self.program.layout(elem).bytes
    }

    fn elements(&self, object: usize, bytes: i64) -> i64 {
        let size = self.size(self.program.objects[object].elem);
        (bytes + size - 1) / size
    }

    fn container(&self, object: usize) -> String {
        let this = &self.program.objects[object];
        let name = elem_name(self.number, this.elem);
        if this.home == Home::Static && object.is_multiple_of(2) {
            format!("std::array<{name}, {}>", self.elements(object, this.bytes))
        } else {
            format!("std::vector<{name}>")
        }
    }

    fn is_passed(&self, object: usize) -> bool {
        self.program.objects[object].home != Home::Static && !self.program.globals
    }

    fn base(&self, object: usize) -> String {
        if self.is_passed(object) { format!("o{object}") } else { format!("p{}_o{object}", self.number) }
    }

    fn byte(&self, spot: Spot) -> String {
        format!("reinterpret_cast<char *>({}.data()) + {}", self.base(spot.object), spot.offset)
    }

    /// Whether it is an element of the object's own type: which one.
    fn element(&self, spot: Spot, elem: Elem) -> Option<i64> {
        let size = self.size(elem);
        (self.program.objects[spot.object].elem == elem && spot.offset % size == 0)
            .then(|| spot.offset / size)
    }

    fn pointer(&self, spot: Spot, elem: Elem) -> String {
        let base = self.base(spot.object);
        match self.element(spot, elem) {
            Some(0) => format!("{base}.data()"),
            Some(q) => format!("{base}.data() + {q}"),
            None => format!("reinterpret_cast<{} *>({})", elem_name(self.number, elem), self.byte(spot)),
        }
    }

    fn argument(&self, spot: Spot, elem: Elem, second: bool) -> String {
        let base = self.base(spot.object);
        match self.element(spot, elem) {
            Some(0) if !second => base,
            Some(q) if !second && q & 1 == 0 => format!("std::span({base}).subspan({q})"),
            _ => self.pointer(spot, elem),
        }
    }

    fn call(&self, call: &Call) -> String {
        let kernel = &self.program.kernels[call.kernel];
        let arguments = call.args.iter().zip(&kernel.params);
        let mut arguments: Vec<String> =
            arguments.map(|(a, p)| self.argument(*a, p.elem, kernel.second)).collect();
        arguments.extend(call.sizes.iter().map(i64::to_string));
        format!("p{}_k{}({})", self.number, call.kernel, arguments.join(", "))
    }

    fn part(&self, part: &Part) -> (String, Scalar) {
        let leaf = &self.program.layout(part.elem).leaves[part.leaf];
        let member = if leaf.path.is_empty() { String::new() } else { format!(".{}", leaf.path) };
        let sub = if leaf.array { "[0]" } else { "" };
        let (base, q) = match self.element(part.at, part.elem) {
            Some(q) => (self.base(part.at.object), q),
            None => (format!("({})", self.pointer(part.at, part.elem)), 0),
        };
        let index = if part.count == 1 { q.to_string() } else { format!("{q} + h * {}", part.step) };
        (format!("{base}[{index}]{member}{sub}"), leaf.scalar)
    }

    fn events(&mut self, out: &mut String, events: &[Event], depth: usize) {
        for event in events {
            self.event(out, event, depth);
        }
    }

    fn event(&mut self, out: &mut String, event: &Event, depth: usize) {
        let pad = "  ".repeat(depth);
        let repeat = |count: i64| match count {
            1 => String::new(),
            n => format!("for (int h = 0; h < {n}; h++) "),
        };
        let _ = match event {
            Event::Call(call) => writeln!(out, "{pad}{};", self.call(call)),
            Event::Read(part) => {
                let (text, scalar) = self.part(part);
                writeln!(out, "{pad}{}{};", repeat(part.count), note(&text, scalar))
            }
            Event::Write(part, value) => {
                let (text, scalar) = self.part(part);
                writeln!(out, "{pad}{}{text} = {};", repeat(part.count), constant(*value, domain(scalar)))
            }
            Event::Copy { to, from, bytes, overlap } => {
                let elem = self.program.objects[to.object].elem;
                let whole = bytes % self.size(elem) == 0;
                match (self.element(*to, elem), self.element(*from, elem)) {
                    (Some(q), Some(r)) if whole && !overlap => writeln!(
                        out,
                        "{pad}std::copy_n({}.begin() + {r}, {}, {}.begin() + {q});",
                        self.base(from.object),
                        bytes / self.size(elem),
                        self.base(to.object)
                    ),
                    _ => {
                        let f = if *overlap { "memmove" } else { "memcpy" };
                        writeln!(out, "{pad}std::{f}({}, {}, {bytes});", self.byte(*to), self.byte(*from))
                    }
                }
            }
            Event::Set { to, value, bytes } => {
                writeln!(out, "{pad}std::memset({}, {value}, {bytes});", self.byte(*to))
            }
            Event::Resize { object, bytes } => {
                let (base, types) =
                    (self.base(*object), types(self.program, self.program.objects[*object].elem));
                let _ = writeln!(out, "{pad}{base}.resize({});", self.elements(*object, *bytes));
                writeln!(out, "{pad}resized({object}, {base}.data(), {bytes}, \"{types}\");")
            }
            Event::Renew { object, bytes, elem, fill } => {
                let (base, count) = (self.base(*object), self.elements(*object, *bytes));
                let _ = if *fill {
                    writeln!(out, "{pad}{base} = {}({count});", self.container(*object))
                } else {
                    writeln!(
                        out,
                        "{pad}{base}.clear();\n{pad}{base}.shrink_to_fit();\n{pad}{base}.resize({count});"
                    )
                };
                let types =
                    if *fill { format!("\"{}\"", types(self.program, *elem)) } else { "nullptr".to_owned() };
                writeln!(out, "{pad}adopt({object}, {base}.data(), {bytes}, 0, {types});")
            }
            Event::Sub { events, leaves } => return self.sub(out, events, *leaves, &pad),
            Event::Repeat { times, events } => {
                let _ = writeln!(out, "{pad}for (int t{depth} = 0; t{depth} < {times}; t{depth}++) {{");
                self.events(out, events, depth + 1);
                writeln!(out, "{pad}}}")
            }
            Event::Check => writeln!(out, "{pad}check({});", self.number),
            // Not of this language.
            Event::Clear { .. } | Event::Protect { .. } | Event::Beside { .. } => Ok(()),
        };
    }

    fn sub(&mut self, out: &mut String, events: &[Event], leaves: bool, pad: &str) {
        let mut body = String::new();
        self.events(&mut body, events, 1);
        let (number, sub) = (self.number, self.count);
        self.count += 1;
        let passed: Vec<usize> = (0..self.program.objects.len()).filter(|o| self.is_passed(*o)).collect();
        let parameters: Vec<String> =
            passed.iter().map(|o| format!("{} &o{o}", self.container(*o))).collect();
        let arguments: Vec<String> = passed.iter().map(|o| format!("o{o}")).collect();
        let (parameters, arguments) = (parameters.join(", "), arguments.join(", "));
        let end = if leaves { "  leave();\n" } else { "" };
        let _ = writeln!(
            self.subs,
            "__attribute__((noinline)) static void p{number}_sub{sub}({parameters}) {{\n{body}{end}}}"
        );
        let _ = if leaves {
            writeln!(
                out,
                "{pad}try {{\n{pad}  p{number}_sub{sub}({arguments});\n{pad}}} catch (const Jump &) {{\n{pad}}}"
            )
        } else {
            writeln!(out, "{pad}p{number}_sub{sub}({arguments});")
        };
    }
}

//! C text: two files, of which the first has the drivers and `main`.

use super::ast::{Call, Elem, Event, Home, Kernel, Member, PAGE, Part, Program, Scalar, Spot, Sym};
use super::expressions::{constant, domain, elem_name, nodes, note};
use std::fmt::Write;

const DECLARATIONS: &str = "\
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
int wanted(int argc, char **argv, int program);
void adopt(int number, void *start, int64_t bytes, int64_t from, const char *types);
void resized(int number, void *start, int64_t bytes, const char *types);
char *pages(int number, char home, int64_t bytes, const char *types);
void protect(int number, int64_t page, int open);
void note(double value);
void note_bits(uint64_t value);
void tick(void);
void check(int program);
void attempt(void (*f)(void *), void *argument);
__attribute__((noreturn)) void leave(void);
void beside(void *start, const uint32_t *bytes, int count);
void joined(void);
";

/// The texts of both files.
pub fn files(programs: &[&Program]) -> [String; 2] {
    let mut first = String::from(DECLARATIONS);
    let mut second = first.clone();
    for (number, program) in programs.iter().enumerate() {
        for out in [&mut first, &mut second] {
            out.push('\n');
            structs(out, number, program);
        }
        for (k, kernel) in program.kernels.iter().enumerate() {
            let head = head(number, k, kernel);
            if kernel.second {
                let _ = writeln!(first, "{head};");
                self::kernel(&mut second, program, number, k);
            } else {
                self::kernel(&mut first, program, number, k);
            }
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

pub fn structs(out: &mut String, number: usize, program: &Program) {
    for (id, s) in program.structs.iter().enumerate() {
        let kind = if s.union { "union" } else { "struct" };
        // A structure around it, so that all have names of one kind.
        let name = format!("p{number}_S{id}");
        let mut members = String::new();
        for (m, member) in s.members.iter().enumerate() {
            let _ = match member {
                Member::One(s) => write!(members, " {} m{m};", s.c()),
                Member::Array(s, n) => write!(members, " {} m{m}[{n}];", s.c()),
                Member::Bits(widths) => {
                    members.push_str(" unsigned : 0;");
                    for (k, width) in widths.iter().enumerate() {
                        let _ = write!(members, " unsigned m{m}_{k} : {width};");
                    }
                    Ok(())
                }
                Member::Nested(inner) => write!(members, " struct p{number}_S{inner} m{m};"),
            };
        }
        let packed = if s.packed { " __attribute__((packed))" } else { "" };
        let layout = program.layout(Elem::Struct(id));
        let _ = if s.union {
            writeln!(out, "struct {name} {{ {kind} {{{members} }}; }};")
        } else {
            writeln!(out, "struct {name} {{{members} }}{packed};")
        };
        let _ = writeln!(out, "_Static_assert(sizeof(struct {name}) == {}, \"\");", layout.bytes);
        for leaf in layout.leaves.iter().filter(|l| !l.bits) {
            let _ = writeln!(
                out,
                "_Static_assert(offsetof(struct {name}, {}) == {}, \"\");",
                leaf.path, leaf.offset
            );
        }
    }
}

fn head(number: usize, k: usize, kernel: &Kernel) -> String {
    let mut parameters: Vec<String> = Vec::new();
    for (p, param) in kernel.params.iter().enumerate() {
        let constant = if param.index { "const " } else { "" };
        let restrict = if param.restrict { "restrict " } else { "" };
        parameters.push(format!("{constant}{} *{restrict}p{p}", elem_name(number, param.elem)));
    }
    let size = if kernel.long { "long" } else { "int" };
    parameters.extend(Sym::ALL.iter().map(|s| format!("{size} {}", s.name())));
    let inline = if kernel.inline { "" } else { "__attribute__((noinline)) " };
    let linkage = if kernel.second { "" } else { "static " };
    format!("{inline}{linkage}void p{number}_k{k}({})", parameters.join(", "))
}

fn kernel(out: &mut String, program: &Program, number: usize, k: usize) {
    let kernel = &program.kernels[k];
    let _ = writeln!(out, "{} {{", head(number, k, kernel));
    nodes(out, program, kernel, &kernel.body, 1);
    out.push_str("}\n");
}

/// `24:d0,f8,`: what [`super::HARNESS`] fills an array with.
pub fn types(program: &Program, elem: Elem) -> String {
    let layout = program.layout(elem);
    let mut text = format!("{}:", layout.bytes);
    for leaf in &layout.leaves {
        let letter = match leaf.scalar {
            Scalar::F32 => 'f',
            Scalar::F64 => 'd',
            _ => continue,
        };
        for k in 0..leaf.count as i64 {
            let _ = write!(text, "{letter}{},", leaf.offset + k * leaf.scalar.bytes());
        }
    }
    text
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
            let name = elem_name(number, object.elem);
            let count = (object.bytes + self.size(object.elem) - 1) / self.size(object.elem);
            let values =
                object.values.as_ref().map(|v| v.iter().map(i32::to_string).collect::<Vec<_>>().join(", "));
            let types = match values {
                Some(_) => "0".to_owned(),
                None => format!("\"{}\"", types(self.program, object.elem)),
            };
            let target = self.base(o);
            let _ = match object.home {
                Home::Static => {
                    let initial = values.map_or(String::new(), |v| format!(" = {{{v}}}"));
                    let _ = writeln!(out, "static _Alignas(16) {name} p{number}_o{o}[{count}]{initial};");
                    writeln!(body, "  adopt({o}, {target}, {}, 0, {types});", object.bytes)
                }
                Home::Local => {
                    let _ = writeln!(body, "  _Alignas(16) {name} o{o}[{count}];");
                    writeln!(body, "  adopt({o}, o{o}, {}, 0, {types});", object.bytes)
                }
                home => {
                    if self.program.globals {
                        let _ = writeln!(out, "static char *p{number}_o{o};");
                    } else {
                        let _ = writeln!(body, "  char *{target};");
                    }
                    match home {
                        Home::Malloc | Home::Vector => {
                            let _ = writeln!(body, "  {target} = malloc({});", object.bytes);
                            if let Some(values) = values {
                                let _ =
                                    writeln!(out, "static const int32_t p{number}_v{o}[] = {{{values}}};");
                                let _ =
                                    writeln!(body, "  memcpy({target}, p{number}_v{o}, {});", object.bytes);
                            }
                            writeln!(body, "  adopt({o}, {target}, {}, 0, {types});", object.bytes)
                        }
                        _ => {
                            let letter = match home {
                                Home::EdgeEnd => 'e',
                                Home::Holes => 'h',
                                Home::Ring => 'r',
                                _ => 's',
                            };
                            writeln!(body, "  {target} = pages({o}, '{letter}', {}, {types});", object.bytes)
                        }
                    }
                }
            };
        }
        self.events(&mut body, &self.program.events, 1);
        out.push_str(&self.subs);
        let _ = writeln!(
            out,
            "__attribute__((noinline)) static void p{number}_run(void) {{\n{body}  check({number});\n}}"
        );
    }

    fn size(&self, elem: Elem) -> i64 {
        self.program.layout(elem).bytes
    }

    fn home(&self, object: usize) -> Home {
        self.program.objects[object].home
    }

    /// Functions of events get it.
    fn is_passed(&self, object: usize) -> bool {
        match self.home(object) {
            Home::Static => false,
            Home::Local => true,
            _ => !self.program.globals,
        }
    }

    fn base(&self, object: usize) -> String {
        if self.is_passed(object) { format!("o{object}") } else { format!("p{}_o{object}", self.number) }
    }

    fn byte(&self, spot: Spot) -> String {
        let cast = if self.home(spot.object).declared() { "(char *)" } else { "" };
        let base = self.base(spot.object);
        if spot.offset == 0 { format!("{cast}{base}") } else { format!("{cast}{base} + {}", spot.offset) }
    }

    fn pointer(&self, spot: Spot, elem: Elem) -> String {
        let size = self.size(elem);
        if self.home(spot.object).declared()
            && self.program.objects[spot.object].elem == elem
            && spot.offset % size == 0
        {
            let base = self.base(spot.object);
            return if spot.offset == 0 { base } else { format!("{base} + {}", spot.offset / size) };
        }
        format!("({} *)({})", elem_name(self.number, elem), self.byte(spot))
    }

    fn call(&self, call: &Call) -> String {
        let kernel = &self.program.kernels[call.kernel];
        let mut arguments: Vec<String> =
            call.args.iter().zip(&kernel.params).map(|(a, p)| self.pointer(*a, p.elem)).collect();
        arguments.extend(call.sizes.iter().map(i64::to_string));
        format!("p{}_k{}({})", self.number, call.kernel, arguments.join(", "))
    }

    /// The text of one of them, with `h` for its number where there are several.
    fn part(&self, part: &Part) -> (String, Scalar) {
        let leaf = &self.program.layout(part.elem).leaves[part.leaf];
        let member = if leaf.path.is_empty() { String::new() } else { format!(".{}", leaf.path) };
        let sub = if leaf.array { "[0]" } else { "" };
        let base = self.pointer(part.at, part.elem);
        let index = match (part.count, part.step) {
            (1, _) => "0".to_owned(),
            (_, 1) => "h".to_owned(),
            (_, step) => format!("h * {step}"),
        };
        (format!("({base})[{index}]{member}{sub}"), leaf.scalar)
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
                let f = if *overlap { "memmove" } else { "memcpy" };
                writeln!(out, "{pad}{f}({}, {}, {bytes});", self.byte(*to), self.byte(*from))
            }
            Event::Set { to, value, bytes } => {
                writeln!(out, "{pad}memset({}, {value}, {bytes});", self.byte(*to))
            }
            Event::Resize { object, bytes } => {
                let (base, o) = (self.base(*object), *object);
                let types = types(self.program, self.program.objects[o].elem);
                let _ = writeln!(out, "{pad}{base} = realloc({base}, {bytes});");
                writeln!(out, "{pad}resized({o}, {base}, {bytes}, \"{types}\");")
            }
            Event::Renew { object, bytes, elem, fill } => {
                let (base, o) = (self.base(*object), *object);
                let types =
                    if *fill { format!("\"{}\"", types(self.program, *elem)) } else { "0".to_owned() };
                let _ = writeln!(out, "{pad}free({base});\n{pad}{base} = malloc({bytes});");
                writeln!(out, "{pad}adopt({o}, {base}, {bytes}, 0, {types});")
            }
            Event::Clear { object, page, pages, map } => {
                let at = self.byte(Spot { object: *object, offset: page * PAGE, stride: 0 });
                let bytes = pages * PAGE;
                if *map {
                    let protection = "PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED";
                    writeln!(out, "{pad}mmap({at}, {bytes}, {protection}, -1, 0);")
                } else {
                    writeln!(out, "{pad}madvise({at}, {bytes}, MADV_DONTNEED);")
                }
            }
            Event::Protect { object, page, open } => {
                writeln!(out, "{pad}protect({object}, {page}, {});", i32::from(*open))
            }
            Event::Beside { object, bytes, call } => {
                let list: Vec<String> = bytes.iter().map(i64::to_string).collect();
                let start = self.byte(Spot { object: *object, offset: 0, stride: 0 });
                let _ =
                    writeln!(out, "{pad}{{\n{pad}  static const uint32_t bytes[] = {{{}}};", list.join(", "));
                let _ = writeln!(out, "{pad}  beside({start}, bytes, {});", bytes.len());
                writeln!(out, "{pad}  {};\n{pad}  joined();\n{pad}}}", self.call(call))
            }
            Event::Sub { events, leaves } => return self.sub(out, events, *leaves, &pad),
            Event::Repeat { times, events } => {
                let _ = writeln!(out, "{pad}for (int t{depth} = 0; t{depth} < {times}; t{depth}++) {{");
                self.events(out, events, depth + 1);
                writeln!(out, "{pad}}}")
            }
            Event::Check => writeln!(out, "{pad}check({});", self.number),
        };
    }

    fn sub(&mut self, out: &mut String, events: &[Event], leaves: bool, pad: &str) {
        let mut body = String::new();
        self.events(&mut body, events, 1);
        let (number, sub) = (self.number, self.count);
        self.count += 1;
        let passed: Vec<usize> = (0..self.program.objects.len()).filter(|o| self.is_passed(*o)).collect();
        let name = |o: &usize| match self.home(*o) {
            Home::Local => format!("{} *o{o}", elem_name(number, self.program.objects[*o].elem)),
            _ => format!("char *o{o}"),
        };
        let declared: Vec<String> = passed.iter().map(name).collect();
        let list = |f: &dyn Fn(&usize) -> String| passed.iter().map(f).collect::<Vec<_>>().join(", ");
        let arguments = list(&|o| format!("o{o}"));
        let members = list(&|o| format!("s->o{o}"));
        let parameters = if declared.is_empty() { "void".to_owned() } else { declared.join(", ") };
        let end = if leaves { "  leave();\n" } else { "" };
        let _ = writeln!(
            self.subs,
            "__attribute__((noinline)) static void p{number}_sub{sub}({parameters}) {{\n{body}{end}}}"
        );
        if !leaves {
            let _ = writeln!(out, "{pad}p{number}_sub{sub}({arguments});");
            return;
        }
        let fields: String = declared.iter().map(|d| format!(" {d};")).collect();
        let _ = writeln!(
            self.subs,
            "struct p{number}_a{sub} {{ int unused;{fields} }};\n\
             static void p{number}_enter{sub}(void *argument) {{\n  struct p{number}_a{sub} *s = argument;\n  \
             (void)s;\n  p{number}_sub{sub}({members});\n}}"
        );
        let all = if arguments.is_empty() { String::new() } else { format!(", {arguments}") };
        let _ = writeln!(
            out,
            "{pad}{{\n{pad}  struct p{number}_a{sub} a = {{0{all}}};\n{pad}  attempt(p{number}_enter{sub}, &a);\n{pad}}}"
        );
    }
}

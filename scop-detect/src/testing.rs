//! For unit tests: functions of one loop nest in LLVM's IR, from a few words, and what detection makes of
//! them.

use crate::{DetectOptions, Detection, detect};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use pollyrs_llvm_shim::ir::Module;
use pollyrs_llvm_shim::{Analyses, Session};

/// `for (long NAME = first; NAME < end; NAME += step)`; all of it text of the IR.
#[derive(Clone, Copy)]
pub struct Count<'a> {
    pub name: &'a str,
    pub first: &'a str,
    pub end: &'a str,
    pub step: i64,
}

/// `for (long NAME = 0; NAME < end; NAME++)`.
pub fn to<'a>(name: &'a str, end: &'a str) -> Count<'a> {
    Count { name, first: "0", end, step: 1 }
}

/// One instruction of a body: `%x = a[%i]` loads a double, `a[%i] = %x` stores one; `if %c: INSTRUCTION` has
/// it in a block of its own, `stop if %c` calls a function that does not return; anything else is the IR's.
fn instruction(line: &str, number: usize) -> String {
    if let Some((condition, rest)) = line.strip_prefix("if ").and_then(|l| l.split_once(": ")) {
        return format!(
            "  br i1 {condition}, label %then{number}, label %after{number}\nthen{number}:\n{}  \
             br label %after{number}\nafter{number}:\n",
            instruction(rest, number)
        );
    }
    if let Some(condition) = line.strip_prefix("stop if ") {
        return format!(
            "  br i1 {condition}, label %stop{number}, label %on{number}\nstop{number}:\n  call void @panic()\n  \
             unreachable\non{number}:\n"
        );
    }
    let place = |place: &str| {
        let (array, index) = place.strip_suffix(']')?.split_once('[')?;
        let address = format!("  %at{number} = getelementptr inbounds double, ptr %{array}, i64 {index}\n");
        array.chars().all(char::is_alphanumeric).then_some(address)
    };
    match line.split_once(" = ") {
        Some((value, from)) if place(from).is_some() => {
            place(from).unwrap() + &format!("  {value} = load double, ptr %at{number}, align 8\n")
        }
        Some((to, value)) if place(to).is_some() => {
            place(to).unwrap() + &format!("  store double {value}, ptr %at{number}, align 8\n")
        }
        _ => format!("  {line}\n"),
    }
}

/// `void f(double *restrict a, double *restrict b, int *restrict t, long n, long m)` with a body of
/// instructions, separated by `;`, in loops, outermost first. Each loop has its guard, preheader, latch and
/// exit in blocks of their own.
pub fn function(loops: &[Count<'_>], body: &str) -> String {
    let mut text = String::from(
        "declare void @other()\ndeclare void @panic() noreturn\ndeclare double @unknown(double)\n\
         define void @f(ptr noalias %a, ptr noalias %b, ptr noalias %t, i64 %n, i64 %m) {\n\
         entry:\n  br label %guard0\n",
    );
    for (k, Count { name, first, end, .. }) in loops.iter().enumerate() {
        text += &format!(
            "guard{k}:\n  %some{k} = icmp slt i64 {first}, {end}\n  br i1 %some{k}, label %before{k}, label %behind{k}\n\
             before{k}:\n  br label %head{k}\n\
             head{k}:\n  %{name} = phi i64 [ {first}, %before{k} ], [ %next{k}, %latch{k} ]\n"
        );
        let last = k + 1 == loops.len();
        match last {
            false => text += &format!("  br label %guard{}\n", k + 1),
            true => {
                let lines = body.split(';').map(str::trim).filter(|l| !l.is_empty());
                text.extend(lines.enumerate().map(|(n, line)| instruction(line, n)));
                text += &format!("  br label %latch{k}\n");
            }
        }
    }
    for (k, Count { name, end, step, .. }) in loops.iter().enumerate().rev() {
        text += &format!(
            "latch{k}:\n  %next{k} = add nsw i64 %{name}, {step}\n  %more{k} = icmp slt i64 %next{k}, {end}\n  \
             br i1 %more{k}, label %head{k}, label %exit{k}\n\
             exit{k}:\n  br label %behind{k}\n\
             behind{k}:\n"
        );
        text += &match k {
            0 => "  ret void\n".to_string(),
            _ => format!("  br label %latch{}\n", k - 1),
        };
    }
    text + "}\n"
}

/// Calls `f` with the analyses of a function `f` of this text.
pub fn with_analyses<T>(text: &str, f: impl FnOnce(&Analyses<'_>) -> T) -> T {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
    let module = context.create_module_from_ir(buffer).unwrap_or_else(|e| panic!("{e}:\n{text}"));
    // SAFETY: the module outlives the session.
    let session = unsafe { Session::new(Module::new(module.as_mut_ptr())) };
    let function = session.module().function("f").unwrap();
    let analyses = session.analyses(function).unwrap();
    f(&analyses)
}

/// What detection finds in such a function.
pub fn detected(loops: &[Count<'_>], body: &str) -> Detection {
    with_analyses(&function(loops, body), |analyses| detect(analyses, &DetectOptions::default()))
}

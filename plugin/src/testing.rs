//! For unit tests: functions of loop nests from text, with a session and analyses, and runs over them.

use crate::base::budget::Budgets;
use crate::base::options::{CubinMode, Options};
use crate::base::stage::Stage;
use crate::device::assembler::Assembler;
use crate::residency::effects::Summaries;
use crate::run::{Progress, Run, Tuned};
use crate::switches::Switches;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use pollyrs_llvm_shim::ir::{Module, Value};
use pollyrs_llvm_shim::{Analyses, Session};
use pollyrs_scop::Scop;
use pollyrs_scop_detect as detect;

/// A loop that doubles an array's elements, and what stands behind it.
pub struct Doubling<'a> {
    /// `%a` or `%b`.
    pub array: &'a str,
    /// How often it runs: a number, or `%n`.
    pub iterations: &'a str,
    /// Whether a call follows that nobody knows.
    pub call: bool,
    /// What the loop says of itself, `!0` to `!2`: nothing, off, on.
    pub switch: u32,
}

impl<'a> Doubling<'a> {
    pub fn of(array: &'a str, iterations: &'a str) -> Doubling<'a> {
        Doubling { array, iterations, call: false, switch: 0 }
    }
}

/// `void f(double *a, double *b, long n)` with these loops in a row, in a loop that runs so often where that
/// is more than once.
pub fn function(loops: &[Doubling<'_>], times: u32) -> String {
    let mut text = String::from(
        "declare void @other()\n\
         define void @f(ptr noalias %a, ptr noalias %b, i64 %n) {\n\
         entry:\n  %some = icmp sgt i64 %n, 0\n  br i1 %some, label %around, label %end\n",
    );
    let last = loops.len();
    text += "around:\n";
    if times > 1 {
        text += &format!("  %t = phi i64 [ 0, %entry ], [ %t.next, %before{last} ]\n");
    }
    text += "  br label %before0\n";
    for (k, l) in loops.iter().enumerate() {
        let Doubling { array, iterations, call, switch } = l;
        let call = if *call { "  call void @other()\n" } else { "" };
        text += &format!(
            "before{k}:\n  br label %l{k}\n\
             l{k}:\n  %i{k} = phi i64 [ 0, %before{k} ], [ %next{k}, %l{k} ]\n\
             \x20 %p{k} = getelementptr inbounds double, ptr %{array}, i64 %i{k}\n\
             \x20 %v{k} = load double, ptr %p{k}, align 8\n  %w{k} = fadd double %v{k}, %v{k}\n\
             \x20 store double %w{k}, ptr %p{k}, align 8\n  %next{k} = add nuw nsw i64 %i{k}, 1\n\
             \x20 %done{k} = icmp eq i64 %next{k}, {iterations}\n\
             \x20 br i1 %done{k}, label %behind{k}, label %l{k}, !llvm.loop !{}\n\
             behind{k}:\n{call}  br label %before{}\n",
            switch + 3,
            k + 1
        );
    }
    text += &format!("before{last}:\n");
    text += &match times {
        ..=1 => "  br label %end\n".to_string(),
        _ => format!(
            "  %t.next = add nuw nsw i64 %t, 1\n  %t.done = icmp eq i64 %t.next, {times}\n  \
             br i1 %t.done, label %end, label %around\n"
        ),
    };
    text + "end:\n  ret void\n}\n\
        !0 = !{!\"llvm.loop.mustprogress\"}\n!1 = !{!\"pollyrs.off\"}\n!2 = !{!\"pollyrs.on\"}\n\
        !3 = distinct !{!3, !0}\n!4 = distinct !{!4, !0, !1}\n!5 = distinct !{!5, !0, !2}\n"
}

/// A test on the function `f` of a module.
pub fn with_function(text: &str, test: impl FnOnce(&Session, Value)) {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
    let module = context.create_module_from_ir(buffer).unwrap();
    // SAFETY: the module outlives the session.
    let session = unsafe { Session::new(Module::new(module.as_mut_ptr())) };
    let f = session.module().function("f").unwrap();
    test(&session, f);
}

/// The same with the analyses of `f`.
pub fn with_analyses(text: &str, test: impl FnOnce(&Analyses<'_>)) {
    with_function(text, |session, f| test(&session.analyses(f).unwrap()));
}

/// What detection finds.
pub fn scops(analyses: &Analyses<'_>) -> Vec<Scop> {
    detect::detect(analyses, &detect::DetectOptions::default()).scops
}

/// A run over the module of a session, without machine code.
pub fn with_run(session: &Session, options: Options, test: impl FnOnce(&Run<'_>)) {
    let options = Options { cubin: CubinMode::Off, cache: "off".into(), ..options };
    let run = Run {
        session,
        stage: Stage::Run,
        options: &options,
        switches: Switches::of(session.module(), &options),
        budgets: Budgets::new(&options, 100),
        tuned: Tuned::load(&options).unwrap(),
        assembler: Assembler::new(options.cache()),
        summaries: Summaries::new(session),
        progress: Progress::default(),
    };
    run.budgets.begin_function(100, 0);
    test(&run);
}

//! Statement bodies: scalars, PHIs, synthesized integers, mathematical functions, what is refused.

use crate::fixture::*;
use inkwell::context::Context;
use pollyrs_codegen_ptx::*;
use pollyrs_scop::AccessKind::*;
use pollyrs_scop::AccessValue::*;
use pollyrs_scop::{ElemType, ValueHandle};

const LAYOUT: &str = "target triple = \"x86_64-pc-linux-gnu\"\n\
    target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n";

/// `for (i = 0; i < n; i++) body` with one thread an iteration, 32 threads a block; `n` is the first
/// parameter.
fn line_kernel(f: &mut Fixture, statement: &str) {
    let p = "[n, _b0, _t0]";
    f.kernel(
        &[],
        &[("_b0", "{ [] -> [0] }", "[n] -> { [] -> [floor((n + 31)/32)] }")],
        &[("_t0", 32)],
        &format!("{p} -> {{ : 0 <= _t0 < 32 and _b0 >= 0 and 32*_b0 < n }}"),
        &format!(
            "{{ domain: \"{p} -> {{ {statement}[i] : 32*_b0 + _t0 = i and 0 <= i < n }}\",
                child: {{ schedule: \"[{{ {statement}[i] -> [(i)] }}]\" }} }}"
        ),
    );
}

/// Arguments of a kernel over arrays `addresses` with the one parameter `n`.
fn line_args(info: &KernelInfo, addresses: &[u64], n: usize) -> Vec<u64> {
    let arrays = info.arrays.iter().map(|a| addresses[a.0]);
    let scalars = info.scalars.iter().map(|s| match s {
        ScalarArg::Param(_) => n as u64,
        ScalarArg::TileLower(_) | ScalarArg::FirstBlock | ScalarArg::Stencil(_) => 0,
        ScalarArg::TileCount(_) => n.div_ceil(32) as u64,
        ScalarArg::TileFactor(_) => factor(n.div_ceil(32)),
        other => panic!("{other:?}"),
    });
    arrays.chain(scalars).collect()
}

/// A kernel `out[i] = function(in[i])` whose body is all instructions of `f` up to the store.
fn map_kernel<'c>(context: &'c Context, ir: &str, elem: ElemType, body: &[&str]) -> Fixture<'c> {
    let mut f = Fixture::new(context, &format!("{LAYOUT}{ir}"), &["n"]);
    let from = f.array("in", elem, &[""], false);
    let to = f.array("out", elem, &[""], false);
    let (load, store) = (Instruction(f.value("x")), Instruction(f.value("store 0")));
    f.statement(
        "[n] -> { S0[i] : 0 <= i < n }",
        &[(Read, from, "{ S0[i] -> in[i] }", load), (MustWrite, to, "{ S0[i] -> out[i] }", store)],
        body,
        &[],
    );
    line_kernel(&mut f, "S0");
    f
}

#[test]
fn mathematical_functions_come_from_the_device_library() {
    let context = Context::create();
    let ir = r#"
declare double @exp(double)
declare double @pow(double, double)
declare double @sqrt(double)
declare double @llvm.log.f64(double)
declare double @llvm.fabs.f64(double)
declare void @llvm.assume(i1)
define void @f(ptr %p) {
  %x = load double, ptr %p, align 8
  %e = call double @exp(double noundef %x) #0
  %r = frem double %e, 7.5e-1
  %w = call double @pow(double %e, double %r)
  %a = call double @llvm.fabs.f64(double %x)
  %l = call fast double @llvm.log.f64(double %a)
  %s = call double @sqrt(double %a)
  %t = fadd double %w, %l
  %u = fadd double %t, %s
  %c = fcmp oge double %u, 0.0
  call void @llvm.assume(i1 %c)
  store double %u, ptr %p, align 8
  ret void
}
attributes #0 = { "no-trapping-math"="true" }
"#;
    let body = ["x", "e", "r", "w", "a", "l", "s", "t", "u", "c", "store 0"];
    let f = map_kernel(&context, ir, ElemType::F64, &body);
    let km = f.build().unwrap();
    let n = 45;
    let input: Vec<f64> = noise(7).take(n).map(|v| v * 3.0).collect();
    let mut output = vec![0.0; n];
    let args = line_args(&km.kernels()[0], &[input.as_ptr() as u64, output.as_mut_ptr() as u64], n);
    launch(&f, &km, 0, 2, &args);
    for (x, y) in input.iter().zip(&output) {
        let e = x.exp();
        let expected = e.powf(e % 0.75) + x.abs().ln() + x.abs().sqrt();
        assert!((expected - y).abs() <= 1e-14 * expected.abs().max(1.0), "{x}: {expected} {y}");
    }
    let mut libraries: Vec<_> = find_math_library(None, None).into_iter().collect();
    libraries.extend(std::env::var_os("POLLYRS_LIBDEVICE").map(|p| MathLibrary::Libdevice(p.into())));
    for library in libraries {
        for arch in [70, 90] {
            let options = PtxOptions { arch, math_library: Some(library.clone()), ..Default::default() };
            let ptx = lower_ptx(&km, &options).unwrap();
            assert!(!ptx.contains(".extern .func"), "{ptx}");
            assert_eq!(ptx.matches(".entry").count(), 1);
            assert!(ptx.contains("sqrt.rn.f64"));
            // The 64-bit seeds of libdevice's divisions exist with .ftz only.
            assert!(!ptx.replace(".approx.ftz.f64", "").contains(".ftz"), "{ptx}");
            if let Some(ptxas) = ptxas() {
                assemble(ptx.as_bytes(), &ptxas, arch).unwrap();
            }
        }
    }
    let missing = PtxOptions {
        math_library: Some(MathLibrary::Libdevice("/nonexistent".into())),
        ..Default::default()
    };
    assert!(lower_ptx(&km, &missing).is_err());
}

#[test]
fn every_library_function_has_device_code() {
    let one = "acos acosh asin asinh atan atanh cbrt cos cosh erf erfc exp exp10 exp2 expm1 log log10 log1p log2 sin sinh tan \
               tanh tgamma sqrt fabs floor ceil trunc rint nearbyint round roundeven";
    let two = "atan2 fdim fmod hypot pow remainder fmin fmax copysign";
    let mut libraries: Vec<_> = find_math_library(None, None).into_iter().collect();
    libraries.extend(std::env::var_os("POLLYRS_LIBDEVICE").map(|p| MathLibrary::Libdevice(p.into())));
    for (names, args) in [(one, 1), (two, 2)] {
        for (name, ty, elem) in names.split_whitespace().flat_map(|n| {
            [(n.to_string(), "double", ElemType::F64), (format!("{n}f"), "float", ElemType::F32)]
        }) {
            let (params, values) = (vec![ty; args].join(", "), vec![format!("{ty} %x"); args].join(", "));
            let ir = format!(
                "declare {ty} @{name}({params})
                define void @f(ptr %p) {{
                  %x = load {ty}, ptr %p
                  %y = call {ty} @{name}({values})
                  store {ty} %y, ptr %p
                  ret void
                }}"
            );
            let context = Context::create();
            let km = map_kernel(&context, &ir, elem, &["x", "y", "store 0"]).build().unwrap();
            for library in &libraries {
                let options = PtxOptions { math_library: Some(library.clone()), ..Default::default() };
                let ptx = lower_ptx(&km, &options).unwrap_or_else(|e| panic!("{name}, {library:?}: {e}"));
                assert!(!ptx.contains(".extern"), "{name}, {library:?}");
            }
        }
    }
}

#[test]
fn contraction_only_where_the_flags_allow_it() {
    for (flags, fused) in [("", false), ("contract ", true)] {
        let context = Context::create();
        let ir = format!(
            "define void @f(ptr %p) {{
              %x = load float, ptr %p, align 4
              %m = fmul {flags}float %x, %x
              %s = fadd {flags}float %m, 1.25
              %d = fdiv {flags}float %s, %x
              store float %d, ptr %p, align 4
              ret void
            }}"
        );
        let f = map_kernel(&context, &ir, ElemType::F32, &["x", "m", "s", "d", "store 0"]);
        let ptx = lower_ptx(&f.build().unwrap(), &PtxOptions::default()).unwrap();
        assert_eq!(ptx.contains("fma.rn.f32"), fused, "{ptx}");
        assert_eq!(ptx.contains("mul.rn.f32") && ptx.contains("add.rn.f32"), !fused, "{ptx}");
        assert!(ptx.contains("div.rn.f32"));
    }
}

#[test]
fn what_the_device_cannot_do_is_refused() {
    for (decl, instruction, expected) in [
        ("declare float @rand_like(float)", "call float @rand_like(float %x)", "a call of rand_like"),
        ("@g = global float 0.0", "load volatile float, ptr %p, align 4", "volatile"),
        ("declare float @llvm.exp.f32(float)", "va_arg ptr %p, float", "the instruction"),
        ("@g = global float 0.0", "bitcast i32 ptrtoint (ptr @g to i32) to float", "the constant"),
    ] {
        let context = Context::create();
        let ir = format!(
            "{decl}\ndefine void @f(ptr %p) {{
              %x = load float, ptr %p, align 4
              %y = {instruction}
              store float %y, ptr %p, align 4
              ret void
            }}"
        );
        let f = map_kernel(&context, &ir, ElemType::F32, &["x", "y", "store 0"]);
        let before = f.module.to_string();
        let error = f.build().unwrap_err();
        assert!(matches!(error, CodegenError::Unsupported(_)), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(f.module.to_string(), before, "the host module stays as it was");
    }
}

/// `t = in[i]; acc = i % 3 odd ... ` across two statements: a private scalar, a synthesized index, a narrow
/// integer.
#[test]
fn scalars_live_in_registers_and_synthesized_integers_are_computed() {
    let context = Context::create();
    let ir = r#"
define void @f(ptr %p, i32 %iv, i64 %wide) {
  %x = load i32, ptr %p, align 4
  %c = icmp sgt i32 %x, 0
  %y = load i32, ptr %p, align 4
  %z = zext i1 %c to i32
  %s = add i32 %y, %z
  %t = add i32 %s, %iv
  %v = trunc i64 %wide to i32
  %u = sub i32 %t, %v
  store i32 %u, ptr %p, align 4
  ret void
}
"#;
    let mut f = Fixture::new(&context, &format!("{LAYOUT}{ir}"), &["n"]);
    let from = f.array("in", ElemType::Int(32), &[""], false);
    let to = f.array("out", ElemType::Int(32), &["", "[n] -> { [] -> [2] }"], false);
    let cell = f.array("c", ElemType::Int(8), &[], true);
    let [x, y, store] = ["x", "y", "store 0"].map(|v| Instruction(f.value(v)));
    let c: ValueHandle = f.value("c");
    f.statement(
        "[n] -> { S0[i] : 0 <= i < n }",
        &[(Read, from, "{ S0[i] -> in[i] }", x), (MustWrite, cell, "{ S0[i] -> c[] }", ScalarWrite(c))],
        &["x", "c"],
        &[],
    );
    f.statement(
        "[n] -> { S1[i] : 0 <= i < n }",
        &[
            (Read, cell, "{ S1[i] -> c[] }", ScalarRead(c)),
            (Read, from, "[n] -> { S1[i] -> in[n - 1 - i] : 2i >= n; S1[i] -> in[i] : 2i < n }", y),
            (MustWrite, to, "{ S1[i] -> out[i - 3, 1] }", store),
        ],
        &["y", "z", "s", "t", "v", "u", "store 0"],
        &[("iv", "{ S1[i] -> [floor((2i - 9)/4)] }"), ("wide", "[n] -> { S1[i] -> [n - i] }")],
    );
    let p = "[n, _b0, _t0]";
    f.kernel(
        &[],
        &[("_b0", "{ [] -> [0] }", "[n] -> { [] -> [floor((n + 31)/32)] }")],
        &[("_t0", 32)],
        &format!("{p} -> {{ : 0 <= _t0 < 32 and _b0 >= 0 and 32*_b0 < n }}"),
        &format!(
            "{{ domain: \"{p} -> {{ S0[i] : 32*_b0 + _t0 = i and 0 <= i < n; S1[i] : 32*_b0 + _t0 = i and 0 <= i < n }}\",
                child: {{ schedule: \"[{{ S0[i] -> [(i)]; S1[i] -> [(i)] }}]\",
                  child: {{ sequence: [ {{ filter: \"{{ S0[i] }}\" }}, {{ filter: \"{{ S1[i] }}\" }} ] }} }} }}"
        ),
    );
    let km = f.build().unwrap();
    let info = &km.kernels()[0];
    assert_eq!(info.arrays.len(), 2, "the cell is no argument");
    let n = 41usize;
    let input: Vec<i32> = noise(5).take(n).map(|v| (v * 100.0) as i32).collect();
    // Three rows before the base and two elements a row: subscripts may be negative.
    let mut output = vec![0i32; 2 * n];
    let base = output.as_mut_ptr().wrapping_add(6) as u64;
    launch(&f, &km, 0, 2, &line_args(info, &[input.as_ptr() as u64, base], n));
    for i in 0..n {
        let y = if 2 * i >= n { input[n - 1 - i] } else { input[i] };
        let expected = y + i32::from(input[i] > 0) + (2 * i as i32 - 9).div_euclid(4) - (n - i) as i32;
        assert_eq!((output[2 * i], output[2 * i + 1]), (0, expected), "{i}");
    }
    let ptx = lower_ptx(&km, &PtxOptions::default()).unwrap();
    assert!(!ptx.contains(".local"), "{ptx}");
}

/// Loops with steps, guards and host parameters: tiles of 4 with a cut-off, started by the host at `_h0`.
#[test]
fn loops_with_steps_run_the_right_iterations() {
    let context = Context::create();
    let ir = "define void @f(ptr %p) {
      %x = load i64, ptr %p, align 8
      %m = mul i64 %x, 3
      %y = add i64 %m, 1
      store i64 %y, ptr %p, align 8
      ret void
    }";
    let mut f = Fixture::new(&context, &format!("{LAYOUT}{ir}"), &["n", "lo"]);
    let a = f.array("A", ElemType::Int(64), &[""], false);
    let (load, store) = (Instruction(f.value("x")), Instruction(f.value("store 0")));
    f.statement(
        "[n, lo] -> { S0[i] : lo <= i < n }",
        &[(Read, a, "{ S0[i] -> A[i] }", load), (MustWrite, a, "{ S0[i] -> A[i] }", store)],
        &["x", "m", "y", "store 0"],
        &[],
    );
    f.kernel(
        &["_h0"],
        &[("_b0", "[_h0] -> { [] -> [_h0] }", "{ [] -> [1] }")],
        &[("_t0", 1)],
        "[n, lo, _h0, _b0, _t0] -> { : _t0 = 0 and _b0 = _h0 }",
        "{ domain: \"[n, lo, _h0, _b0, _t0] -> { S0[i] : lo <= i < n and i >= _h0 and (i - _h0) mod 3 = 0 }\",
           child: { schedule: \"[{ S0[i] -> [(4*floor(i/4))] }, { S0[i] -> [(i)] }]\" } }",
    );
    let km = f.build().unwrap();
    let info = &km.kernels()[0];
    for (n, lo, h) in [(20i64, 0i64, 0i64), (20, 7, 2), (5, 5, 1), (1, 0, 0), (3, 0, 3), (23, 1, 5)] {
        let mut data: Vec<i64> = (0..32).collect();
        let mut expected = data.clone();
        for i in lo.max(h)..n {
            if (i - h) % 3 == 0 {
                expected[i as usize] = expected[i as usize] * 3 + 1;
            }
        }
        let mut args = vec![data.as_mut_ptr() as u64];
        args.extend(info.scalars.iter().map(|s| match s {
            ScalarArg::Param(p) => [n, lo][*p] as u64,
            ScalarArg::HostParam(_) | ScalarArg::TileLower(_) | ScalarArg::Stencil(_) => h as u64,
            ScalarArg::TileCount(_) => 1,
            ScalarArg::TileFactor(_) => factor(1),
            ScalarArg::FirstBlock => 0,
            ScalarArg::Invariant(_) => unreachable!(),
        }));
        launch(&f, &km, 0, 1, &args);
        assert_eq!(data, expected, "n = {n}, lo = {lo}, _h0 = {h}");
    }
}

#[test]
fn barriers_are_barriers_of_the_target() {
    let context = Context::create();
    let ir = "define void @f(ptr %p) {
      %x = load float, ptr %p, align 4
      store float %x, ptr %p, align 4
      ret void
    }";
    let mut f = map_kernel(&context, ir, ElemType::F32, &["x", "store 0"]);
    f.kernels.clear();
    let p = "[n, _b0, _t0]";
    f.kernel(
        &[],
        &[("_b0", "{ [] -> [0] }", "{ [] -> [1] }")],
        &[("_t0", 32)],
        &format!("{p} -> {{ : 0 <= _t0 < 32 and _b0 = 0 }}"),
        &format!(
            "{{ domain: \"{p} -> {{ S0[i] : _t0 = i and 0 <= i < n }}\",
                child: {{ extension: \"{p} -> {{ [] -> _barrier[] }}\",
                  child: {{ sequence: [ {{ filter: \"{{ _barrier[] }}\" }}, {{ filter: \"{{ S0[i] }}\",
                    child: {{ schedule: \"[{{ S0[i] -> [(i)] }}]\" }} }} ] }} }} }}"
        ),
    );
    let km = f.build().unwrap();
    assert!(km.kernels()[0].has_barrier);
    let ptx = lower_ptx(&km, &PtxOptions::default()).unwrap();
    assert!(ptx.contains("bar.sync") || ptx.contains("barrier.sync"), "{ptx}");
    let functions = lower_emulated(&km, f.ir(), false).unwrap();
    assert_eq!(functions.len(), 1);
    let text = f.module.to_string();
    assert!(text.contains("call void @pollyrs_rt_emu_barrier(ptr %thread)"), "{text}");
    assert!(text.contains("define internal void @pollyrs.emu.f_1_K0(ptr %thread, ptr %args)"), "{text}");
    assert!(text.contains(&format!("\"{KERNEL_ATTRIBUTE}\"")), "{text}");
    f.module.verify().unwrap();
}

//! Expressions against isl: every function and set, evaluated by the emitted code at many points.

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::targets::{InitializationConfig, Target};
use pollyrs_codegen_ptx::Result;
use pollyrs_codegen_ptx::testing::{Expression, add_evaluator};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::ir;

/// The expression as a function of n and m.
fn evaluator(context: &Context, expression: Expression) -> Result<impl Fn(i64, i64) -> i64> {
    Target::initialize_native(&InitializationConfig::default()).unwrap();
    let module = context.create_module("expressions");
    // SAFETY: a live, empty module.
    unsafe { add_evaluator(ir::Module::new(module.as_mut_ptr()), &["n", "m"], expression) }?;
    module.verify().unwrap();
    let engine = module.create_jit_execution_engine(OptimizationLevel::None).unwrap();
    let address = engine.get_function_address("eval").unwrap();
    // SAFETY: the function has this signature; the engine lives as long as the closure.
    let function: extern "C" fn(i64, i64) -> i64 = unsafe { std::mem::transmute(address) };
    Ok(move |n, m| {
        let _keep = &engine;
        function(n, m)
    })
}

fn point(ctx: &isl::Context, n: i64, m: i64) -> isl::Set {
    isl::Set::read(ctx, &format!("[n, m] -> {{ : n = {n} and m = {m} }}")).unwrap()
}

#[test]
fn functions_of_the_parameters() {
    let functions = [
        "[n, m] -> { [] -> [n + 2m - 7] }",
        "[n, m] -> { [] -> [floor(n/32)] }",
        "[n, m] -> { [] -> [floor((n - 3m)/7)] }",
        "[n, m] -> { [] -> [n mod 5] }",
        "[n, m] -> { [] -> [(n - m) mod 8] }",
        "[n, m] -> { [] -> [n] : n >= m; [] -> [m] : n < m }",
        "[n, m] -> { [] -> [3] : n > 0 and m > 0; [] -> [floor(m/3)] : n <= 0 or m <= 0 }",
        "[n, m] -> { [] -> [floor((5 + 2*floor((n + m)/4))/3)] }",
        "[n, m] -> { [(n + 15 - floor((n + 15)/16))] }",
        "[n] -> { [] -> [0 - n] }",
        "{ [] -> [0] }",
        "{ [] -> [-9223372036854775807] }",
    ];
    for text in functions {
        let context = Context::create();
        let ctx = isl::Context::new();
        let f = isl::PwAff::read(&ctx, text).unwrap();
        let eval = evaluator(&context, Expression::PwAff(&f)).unwrap();
        for n in -19..20 {
            for m in [-9, -8, -1, 0, 1, 2, 5, 16] {
                let at = f.clone().intersect_params(point(&ctx, n, m)).unwrap();
                let expected = at.max_value().unwrap().to_i64().unwrap();
                assert_eq!(eval(n, m), expected, "{text} at n = {n}, m = {m}");
            }
        }
    }
}

#[test]
fn sets_of_the_parameters() {
    let sets = [
        "[n, m] -> { : n >= m }",
        "[n, m] -> { : 0 < n < m or n = -m }",
        "[n, m] -> { : exists e : n = 3e }",
        "[n, m] -> { : exists e : n + m = 4e and e >= 0 }",
        "[n, m] -> { : n mod 8 >= 3 and m != 0 }",
        "[n, m] -> { : n < 0 or m mod 2 = 1 or n > 2m }",
        "[n, m] -> { : 1 = 0 }",
        "[n, m] -> { : }",
        "[n] -> { : n >= 3 }",
    ];
    for text in sets {
        let context = Context::create();
        let ctx = isl::Context::new();
        let s = isl::Set::read(&ctx, text).unwrap();
        let eval = evaluator(&context, Expression::Set(&s)).unwrap();
        for n in -9..10 {
            for m in -5..6 {
                let holds = !s.clone().intersect(point(&ctx, n, m)).unwrap().is_empty().unwrap();
                assert_eq!(eval(n, m) == 1, holds, "{text} at n = {n}, m = {m}");
            }
        }
    }
}

#[test]
fn integers_beyond_64_bits_are_errors() {
    let context = Context::create();
    let ctx = isl::Context::new();
    let f = isl::PwAff::read(&ctx, "[n] -> { [] -> [n + 9223372036854775808] }").unwrap();
    assert!(evaluator(&context, Expression::PwAff(&f)).is_err());
}

//! Kernels built from hand-made SCoPs: run on the emulated device against plain Rust, and checked as PTX.

mod expressions;
mod fixture;
mod statements;

use fixture::*;
use inkwell::context::Context;
use pollyrs_codegen_ptx::*;
use pollyrs_scop::AccessKind::*;
use pollyrs_scop::AccessValue::*;
use pollyrs_scop::ElemType;

const GEMM: &str = r#"
target triple = "x86_64-pc-linux-gnu"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
define void @f(float %alpha, float %beta, ptr %C, ptr %A, ptr %B) "target-cpu"="x86-64" {
  %c0 = load float, ptr %C, align 4, !tbaa !0
  %s = fmul float %beta, %c0
  store float %s, ptr %C, align 4
  %a = load float, ptr %A, align 4
  %aa = fmul float %alpha, %a
  %b = load float, ptr %B, align 4
  %p = fmul float %aa, %b
  %c1 = load float, ptr %C, align 4
  %sum = fadd float %c1, %p
  store float %sum, ptr %C, align 4
  ret void
}
!0 = !{!1, !1, i64 0}
!1 = !{!"float", !2}
!2 = !{!"root"}
"#;

/// `C = beta*C; for k: C += alpha*A*B` in tiles of 16 by 16, one element a thread.
fn gemm(context: &Context) -> Fixture<'_> {
    let mut f = Fixture::new(context, GEMM, &["ni", "nj", "nk"]);
    let c = f.array("C", ElemType::F32, &["", "[nj] -> { [] -> [nj] }"], false);
    let a = f.array("A", ElemType::F32, &["", "[nk] -> { [] -> [nk] }"], false);
    let b = f.array("B", ElemType::F32, &["", "[nj] -> { [] -> [nj] }"], false);
    f.invariant("alpha");
    f.invariant("beta");
    let [c0, st0, va, vb, c1, st1] =
        ["c0", "store 0", "a", "b", "c1", "store 1"].map(|n| Instruction(f.value(n)));
    let d0 = "[ni, nj, nk] -> { S0[i, j] : 0 <= i < ni and 0 <= j < nj }";
    let d1 = "[ni, nj, nk] -> { S1[i, j, k] : 0 <= i < ni and 0 <= j < nj and 0 <= k < nk }";
    f.statement(
        d0,
        &[(Read, c, "{ S0[i,j] -> C[i,j] }", c0), (MustWrite, c, "{ S0[i,j] -> C[i,j] }", st0)],
        &["c0", "s", "store 0"],
        &[],
    );
    f.statement(
        d1,
        &[
            (Read, a, "{ S1[i,j,k] -> A[i,k] }", va),
            (Read, b, "{ S1[i,j,k] -> B[k,j] }", vb),
            (Read, c, "{ S1[i,j,k] -> C[i,j] }", c1),
            (MustWrite, c, "{ S1[i,j,k] -> C[i,j] }", st1),
        ],
        &["a", "aa", "b", "p", "c1", "sum", "store 1"],
        &[],
    );
    let at = "16*_b0 + _t0 = i and 16*_b1 + _t1 = j and 0 <= i < ni and 0 <= j < nj";
    let p = "[ni, nj, nk, _b0, _b1, _t0, _t1]";
    let schedule = format!(
        "{{ domain: \"{p} -> {{ S0[i,j] : {at}; S1[i,j,k] : {at} and 0 <= k < nk }}\",
            child: {{ schedule: \"[{{ S0[i,j] -> [(i)]; S1[i,j,k] -> [(i)] }}, {{ S0[i,j] -> [(j)]; S1[i,j,k] -> [(j)] }}]\",
              child: {{ sequence: [ {{ filter: \"{{ S0[i,j] }}\" }},
                {{ filter: \"{{ S1[i,j,k] }}\", child: {{ schedule: \"[{{ S1[i,j,k] -> [(k)] }}]\" }} }} ] }} }} }}"
    );
    f.kernel(
        &[],
        &[
            ("_b0", "{ [] -> [0] }", "[ni] -> { [] -> [floor((ni + 15)/16)] : ni > 0 }"),
            ("_b1", "{ [] -> [0] }", "[nj] -> { [] -> [floor((nj + 15)/16)] : nj > 0 }"),
        ],
        &[("_t0", 16), ("_t1", 16)],
        &format!("{p} -> {{ : 0 <= _t0 < 16 and 0 <= _t1 < 16 and _b0 >= 0 and _b1 >= 0 and 16*_b0 < ni and 16*_b1 < nj }}"),
        &schedule,
    );
    f
}

#[test]
fn gemm_gives_the_bits_of_the_loop() {
    let context = Context::create();
    let f = gemm(&context);
    let km = f.build().unwrap();
    println!("{km}");
    let info = &km.kernels()[0];
    assert_eq!(info.block, [16, 16, 1]);
    assert_eq!(info.name, "f_1_K0");
    for (ni, nj, nk) in [(1, 1, 1), (16, 16, 3), (17, 33, 5), (5, 40, 0)] {
        let fill = |seed, n: usize| noise(seed).take(n.max(1)).map(|v| v as f32).collect::<Vec<_>>();
        let (a, b, mut c) = (fill(1, ni * nk), fill(2, nk * nj), fill(3, ni * nj));
        let (alpha, beta) = (1.5f32, 0.7f32);
        let mut expected = c.clone();
        for i in 0..ni {
            for j in 0..nj {
                expected[i * nj + j] *= beta;
                for k in 0..nk {
                    expected[i * nj + j] += alpha * a[i * nk + k] * b[k * nj + j];
                }
            }
        }
        let (bi, bj) = (ni.div_ceil(16), nj.div_ceil(16));
        let mut args = vec![c.as_mut_ptr() as u64, a.as_ptr() as u64, b.as_ptr() as u64];
        for s in &info.scalars {
            args.push(match *s {
                ScalarArg::Param(p) => [ni, nj, nk][p] as u64,
                // The upper half of a slot may hold anything.
                ScalarArg::Invariant(i) => u64::from([alpha, beta][i].to_bits()) | 0xdead_0000_0000,
                ScalarArg::TileLower(_) | ScalarArg::FirstBlock | ScalarArg::Stencil(_) => 0,
                ScalarArg::TileCount(d) => [bi, bj][d] as u64,
                ScalarArg::TileFactor(d) => factor([bi, bj][d]),
                ScalarArg::HostParam(_) => unreachable!(),
            });
        }
        launch(&f, &km, 0, (bi * bj) as u64, &args);
        let bits = |v: &[f32]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&c), bits(&expected), "{ni} {nj} {nk}");
    }
}

#[test]
fn gemm_as_ptx_accumulates_in_a_register() {
    let context = Context::create();
    let km = gemm(&context).build().unwrap();
    let ptx = lower_ptx(&km, &PtxOptions::default()).unwrap();
    println!("{ptx}");
    assert!(ptx.contains(".visible .entry f_1_K0("));
    assert!(ptx.contains(".reqntid 16, 16, 1"));
    assert!(ptx.contains("ld.global.nc"), "read-only arrays go through the read-only path");
    assert!(!ptx.contains("fma."), "nothing in the program allows contraction");
    assert_eq!(ptx.matches("st.global").count(), 2, "one store each of S0 and of the sum");
    assert!(!ptx.ends_with('\0'));
    for arch in [70, 80, 90] {
        if let Some(ptxas) = ptxas() {
            let options = PtxOptions { arch, ..Default::default() };
            let cubin = assemble(lower_ptx(&km, &options).unwrap().as_bytes(), &ptxas, arch).unwrap();
            assert_eq!(&cubin[..4], b"\x7fELF");
        }
    }
}

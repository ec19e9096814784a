// The kernels of program.c for a real device. kernels.ptx is made from this file by
//
//   clang-22 -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib -nogpulib -O2 -ffp-contract=off \
//     -Xclang -target-feature -Xclang +ptx63 -S kernels.cu -o kernels.ptx
#define KERNEL extern "C" __attribute__((global))
#define SHARED __attribute__((shared))
typedef long long i64;

static __attribute__((device)) i64 block() { return __nvvm_read_ptx_sreg_ctaid_x(); }
static __attribute__((device)) int x() { return __nvvm_read_ptx_sreg_tid_x(); }

KERNEL void plain(double *A, double *B, i64 lo, i64 hi, float s) {
  i64 i = lo + block() * 32 + x();
  if (i < hi)
    B[i] = 0.5 * B[i] + s * A[i - 1] + B[hi + i % 3];
}
KERNEL void first(double *A, double *T, double *, i64 n) {
  i64 i = block() * 32 + x();
  if (i < n)
    T[i] = A[i] + 1;
}
KERNEL void second(double *T, double *B, i64 n) {
  i64 i = block() * 32 + x();
  if (i < n)
    B[i] = T[n - 1 - i] * 2;
}
KERNEL void both(double *A, double *B, i64 n) {
  i64 i = block() * 32 + x();
  if (i < n) {
    A[i] += 1;
    B[i] *= 2;
  }
}
KERNEL void scale(double *A, i64 lo, i64 hi, double k) {
  i64 i = lo + block() * 32 + x();
  if (i < hi)
    A[i] = A[i] * 0.5 + k;
}
KERNEL void reflect(double *A, double *B, i64 n, double k) {
  i64 i = block() * 16 + x() + 4 * __nvvm_read_ptx_sreg_tid_y();
  if (i < n)
    B[i] = A[n - 1 - i] + k * B[i];
}
KERNEL void rotate(double *A, i64) {
  SHARED static double shared[64];
  int t = (__nvvm_read_ptx_sreg_tid_z() * 4 + __nvvm_read_ptx_sreg_tid_y()) * 8 + x();
  A += 64 * block();
  shared[63 - t] = A[t];
  __syncthreads();
  double sum = shared[t] + shared[(t + 63) % 64];
  __syncthreads();
  shared[t] = sum;
  __syncthreads();
  A[t] = shared[(t + 1) % 64] * 0.5;
}

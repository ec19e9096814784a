// ptxas takes the text for every architecture without a word.
//
// REQUIRES: ptxas
// RUN: %clang -O0 -Xclang -disable-O0-optnone -fno-math-errno -emit-llvm -S %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx;arch=sm_70;only-function=norm>' %t.ll -disable-output 2> %t.ptx
// RUN: %ptxas -arch=sm_70 %t.ptx -o %t.cubin 2>&1 | count 0
// RUN: %opt -passes='print<pollyrs-ptx;arch=sm_80;only-function=norm>' %t.ll -disable-output 2> %t.ptx
// RUN: %ptxas -arch=sm_80 %t.ptx -o %t.cubin 2>&1 | count 0
// RUN: %opt -passes='print<pollyrs-ptx;arch=sm_90;only-function=norm>' %t.ll -disable-output 2> %t.ptx
// RUN: %ptxas -arch=sm_90 %t.ptx -o %t.cubin 2>&1 | count 0
// RUN: %opt -passes='print<pollyrs-ptx;arch=sm_80;only-function=product>' %t.ll -disable-output 2> %t.ptx
// RUN: %ptxas -arch=sm_80 %t.ptx -o %t.cubin 2>&1 | count 0
// RUN: %opt -passes='print<pollyrs-ptx;arch=sm_86;only-function=product>' %t.ll -disable-output 2> %t.ptx
// RUN: %ptxas -arch=sm_86 %t.ptx -o %t.cubin 2>&1 | count 0
// RUN: %opt -passes='print<pollyrs-ptx;arch=sm_90;only-function=product>' %t.ll -disable-output 2> %t.ptx
// RUN: %ptxas -arch=sm_90 %t.ptx -o %t.cubin 2>&1 | count 0
// RUN: %opt -passes='print<pollyrs-ptx;arch=sm_100;only-function=product>' %t.ll -disable-output 2> %t.ptx
// RUN: %ptxas -arch=sm_100 %t.ptx -o %t.cubin 2>&1 | count 0
double sqrt(double);

void norm(long n, long m, double r[n], double a[n][m]) {
  for (long i = 0; i < n; i++) {
    double s = 0;
    for (long j = 0; j < m; j++)
      s += a[i][j] * a[i][j] / (1 + j);
    r[i] = sqrt(s);
  }
}

void product(long n, double c[n][n], double a[n][n], double b[n][n]) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++)
      for (long k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
}

// A strip of a product is computed before the next one's operands are stored to shared memory: LLVM would move what only one point uses, products of which two are added
// here, behind the branch around those stores, and all operands of the strip would wait in registers.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -ffp-contract=on -emit-llvm -S %s -o - | %opt -passes='print<pollyrs-ptx>' -disable-output -o /dev/null 2>&1 \
// RUN:   | awk '/ld.shared/ { n++; if (n > most) most = n; next } /fma|mul.rn|add.rn|bar.sync|bra/ { n = 0 } END { print "loads in a row: " most }' | FileCheck %s

// CHECK: loads in a row: {{[0-9]$|[123][0-9]$}}
void both(int n, int m, float alpha, float C[restrict n][n], const float A[restrict n][m], const float B[restrict n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < m; k++)
        C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
}

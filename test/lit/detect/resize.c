// Subscript: the nearest neighbour in an image of another size; the product of a counter and a size is divided.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-NOT: scop
// CHECK: rejected Subscript at {{.*}}resize.c:{{[0-9]+}}: a subscript of from is not affine: it depends on the product {{y\*h|x\*w}}
void resize(int w, int h, int w2, int h2, const unsigned char *from, unsigned char *to) {
  for (int y = 0; y < h2; y++)
    for (int x = 0; x < w2; x++)
      to[y * w2 + x] = from[(y * h / h2) * w + x * w / w2];
}

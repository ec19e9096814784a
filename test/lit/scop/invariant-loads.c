// Bounds in a structure that stores of bytes might change are read before the loops; that no store touches them is a check.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-scop>' -disable-output %t.ll 2>&1 | FileCheck %s
//
// CHECK: scop fill
// CHECK: check 4 bytes of im->width unwritten by
// CHECK: check 8 bytes of {{.*}} unwritten by
// CHECK: check 4 bytes of im->height unwritten by
// CHECK: statement S0
// CHECK-NOT: statement
struct image {
  int width, height;
  unsigned char *pixels;
};

void fill(struct image *im) {
  for (int y = 0; y < im->height; ++y)
    for (int x = 0; x < im->width; ++x)
      im->pixels[y * im->width + x] = x + y;
}

// A bound that the loop itself stores to is none.
//
// CHECK-NOT: scop shrink
void shrink(struct image *im) {
  for (int y = 0; y < im->height; ++y) {
    im->pixels[y] = y;
    im->height -= y & 1;
  }
}

// Nor is an element of the array that is stored to.
//
// CHECK: scop first
// CHECK-NOT: check {{.*}} unwritten by
void first(int n, unsigned char *a) {
  for (int i = 0; i < n; ++i)
    if (a[0] > 3)
      a[i] = 5;
}

// The bound of the innermost loop is first read below the guard of the loop around it, before any store; that guard and this one are what the
// program looks at first.
//
// CHECK: scop channels
// CHECK-DAG: check 4 bytes of im->width unwritten by
// CHECK-DAG: check 4 bytes of {{.*}} unwritten by
// CHECK-DAG: check 8 bytes of {{.*}} unwritten by
// CHECK-DAG: check 4 bytes of im->height unwritten by
// CHECK: statement S0
// CHECK-NOT: statement
struct coloured {
  int width, height, channels;
  unsigned char *pixels;
};

void channels(struct coloured *im) {
  for (int y = 0; y < im->height; ++y)
    for (int x = 0; x < im->width; ++x)
      for (int c = 0; c < im->channels; ++c)
        im->pixels[(y * im->width + x) * im->channels + c] = x + y + c;
}

// Behind a store the bound may be another one in the first iteration already: it is not read before the loop.
//
// CHECK-NOT: scop late
void late(struct coloured *im, unsigned char *flags) {
  for (int y = 0; y < im->height; ++y) {
    flags[y] = 1;
    if (im->width > 3)
      for (int c = 0; c < im->channels; ++c)
        im->pixels[y * im->channels + c] = y + c;
  }
}

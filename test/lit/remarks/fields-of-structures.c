// A field of a structure has a name of its own in remarks, also behind another pointer. It is one value for two nests that read it under conditions of their own: with two of them, an array would be two, which overlap.
//
// RUN: %clang -O3 -S -emit-llvm -fpass-plugin=%plugin -mllvm -pollyrs-targets=emulated -Rpass=pollyrs -Rpass-analysis=pollyrs %s -o %t.ll 2>&1 | FileCheck %s

struct image {
  int w, h;
  unsigned char *data, *copy;
};

struct scene {
  long number;
  struct image *image;
};

// CHECK: remark: offloaded blur: 5 loops, 2 statements, 2 arrays
// CHECK-DAG: remark: checks that the field at byte 8 of argument 0 and the field at byte 16 of argument 0 do not overlap
// CHECK-DAG: remark: checks that stores to the field at byte 16 of argument 0 and the field at byte 8 of argument 0 do not change the field at byte 4 of argument 0
void blur(struct image *a, int times) {
  for (int t = 0; t < times; t++) {
    for (int y = 0; y < a->h; y++)
      for (int x = 1; x < a->w - 1; x++)
        a->copy[y * a->w + x] = (a->data[y * a->w + x - 1] + a->data[y * a->w + x] + a->data[y * a->w + x + 1]) / 3;
    for (int y = 1; y < a->h - 1; y++)
      for (int x = 0; x < a->w; x++)
        a->data[y * a->w + x] = (a->copy[(y - 1) * a->w + x] + a->copy[y * a->w + x] + a->copy[(y + 1) * a->w + x]) / 3;
  }
}

// CHECK: remark: offloaded invert
// CHECK-DAG: remark: checks that stores to the field at byte 8 of the field at byte 8 of argument 0 do not change the field at byte 0 of the field at byte 8 of argument 0
void invert(struct scene *s) {
  for (int y = 0; y < s->image->h; y++)
    for (int x = 0; x < s->image->w; x++)
      s->image->data[y * s->image->w + x] = 255 - s->image->data[y * s->image->w + x];
}

// A copy of constant length is a loop nest over the rows and elements of the array: the time loop around it is part of the model.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-detect>' -disable-output %t.ll 2>&1 | FileCheck %s

unsigned char grid[64][96], next[64][96];

// CHECK: scop step at {{.*}}: 2 statements, 2 arrays, 5 loops
void step(int steps) {
  for (int t = 0; t < steps; t++) {
    for (int y = 1; y < 63; y++)
      for (int x = 1; x < 95; x++)
        next[y][x] = grid[y][x - 1] ^ grid[y][x + 1] ^ grid[y - 1][x] ^ grid[y + 1][x];
    __builtin_memcpy(grid, next, sizeof grid);
  }
}

struct header { long fields[16]; } headers[1000];

// A structure is copied word by word.
// CHECK: scop spread at {{.*}}: {{[0-9]+}} statements, 2 arrays, 1 loops
void spread(int n, const struct header *h) {
  for (int i = 0; i < n; i++)
    headers[i] = *h;
}

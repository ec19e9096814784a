// What is deleted does not come back: of two arrays, and of two objects, of which the second has a known size, only the one that is read does.
// ARGS: 1000
// ARGS: 1
// ARGS: 0
// OFFLOAD: yes
// MOVED: 0 18400
#include <cstdio>
#include <cstdlib>

#define OWN __attribute__((noinline)) static

OWN void print(const double *p, int n) {
  for (int i = 0; i < n; i += n / 3 + 1)
    std::printf("%.17g\n", p[i]);
}

OWN void of_new(int n) {
  double *a = new double[n], *b = new double[n];
  for (int i = 0; i < n; ++i)
    a[i] = i * 0.25 + 1;
  int draw = std::rand();
  for (int i = 0; i < n; ++i)
    b[i] = a[n - 1 - i] * 0.5 + i + (draw < 0);
  delete[] a;
  print(b, n);
  delete[] b;
}

struct Block {
  double of[1300];
};

OWN void of_blocks() {
  Block *a = new Block, *b = new Block;
  for (int i = 0; i < 1300; ++i)
    a->of[i] = i * 0.5 + 3;
  int draw = std::rand();
  for (int i = 0; i < 1300; ++i)
    b->of[i] = a->of[1299 - i] * 0.5 + i + (draw < 0);
  delete a;
  print(b->of, 1300);
  delete b;
}

int main(int argc, char **argv) {
  of_new(argc > 1 ? std::atoi(argv[1]) : 100);
  of_blocks();
}

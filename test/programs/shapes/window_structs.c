// Windows that are cut off by `continue`, over pixels whose stores may change the structures that hold sizes and pointers: these are looked at before the loop,
// wherever they can be read, though the loop reads them under conditions that change. In the end an image lies over the sizes, and one has no structure.
// ARGS: 23 17 2
// ARGS: 1 1 3
// ARGS: 40 33 1
// OFFLOAD: partial
// FALLBACK: stores to the field
// KERNELS: box
// STAYS: changes: its stores reach the structure with its sizes
#include "example.h"

typedef struct {
  int width, height, stride;
  unsigned char *data;
} Image;

__attribute__((noinline)) static void box(const Image *from, Image *to, int r) {
  for (int y = 0; y < from->height; ++y)
    for (int x = 0; x < from->width; ++x) {
      int sum = 0, count = 0;
      for (int j = -r; j <= r; ++j) {
        if (y + j < 0 || y + j >= from->height)
          continue;
        for (int i = -r; i <= r; ++i) {
          if (x + i < 0 || x + i >= from->width)
            continue;
          sum += from->data[(y + j) * from->stride + x + i];
          ++count;
        }
      }
      to->data[y * to->stride + x] = (unsigned char)(sum / count);
    }
}

__attribute__((noinline)) static void changes(const Image *from, Image *to, int r) {
  for (int y = 0; y < from->height; ++y)
    for (int x = 0; x < from->width; ++x) {
      int sum = 0, count = 0;
      for (int j = -r; j <= r; ++j) {
        if (y + j < 0 || y + j >= from->height)
          continue;
        for (int i = -r; i <= r; ++i) {
          if (x + i < 0 || x + i >= from->width)
            continue;
          sum += from->data[(y + j) * from->stride + x + i];
          ++count;
        }
      }
      to->data[y * to->stride + x] = (unsigned char)(sum / count / 256);
    }
}

// The other image is there only if it is needed.
__attribute__((noinline)) static void spread(int w, int h, unsigned char *out, const Image *other, int from_row, int times) {
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      int sum = x;
      for (int i = 0; i < times; ++i)
        if (y >= from_row)
          sum += other->data[y * other->stride + x] * i;
      out[y * w + x] = (unsigned char)sum;
    }
}

int main(int argc, char **argv) {
  int w = (int)example_arg(argc, argv, 1, 23), h = (int)example_arg(argc, argv, 2, 17), r = (int)example_arg(argc, argv, 3, 2);
  int stride = w + 3;
  size_t all = (size_t)stride * (size_t)h;
  Image a = {w, h, stride, calloc(all, 1)}, b = {w, h, stride, calloc(all, 1)};
  for (size_t i = 0; i < all; ++i)
    a.data[i] = (unsigned char)(256 * example_uniform());
  box(&a, &b, r);
  printf("box %016llx\n", (unsigned long long)example_hash(b.data, all));
  spread(w, h, b.data, &a, h / 2, r + 1);
  printf("spread %016llx\n", (unsigned long long)example_hash(b.data, all));
  spread(w, h, b.data, NULL, h, r + 1);
  printf("alone %016llx\n", (unsigned long long)example_hash(b.data, all));

  // The last bytes that are stored to are the structure's sizes.
  unsigned char *memory = calloc(all + sizeof(Image) + 64, 1);
  Image *inside = (Image *)(memory + (all - 4) / 8 * 8);
  *inside = a;
  Image to = {w, h, stride, memory + 3};
  changes(inside, &to, r);
  printf("changes %016llx\n", (unsigned long long)example_hash(memory, (all - 4) / 8 * 8));
  free(memory);
  free(a.data);
  free(b.data);
  return 0;
}

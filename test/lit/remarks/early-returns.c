// A loop that stores and returns early, with another number than behind its end, is offloaded, and the remark says on what that depends. A search, and a loop
// that goes on to the same code, can be left at more than one place.
//
// RUN: %clang -O3 -g -Rpass=pollyrs -Rpass-missed=pollyrs -fpass-plugin=%plugin -c %s -o /dev/null 2>&1 | FileCheck %s

// CHECK: early-returns.c:[[# @LINE + 2]]:3: remark: offloaded halves: {{.*}}, where no iteration returns early
int halves(int n, const double *v, double *out) {
  for (int i = 0; i < n; ++i) {
    if (v[i] < 0)
      return -1;
    out[i] = v[i] / 2;
  }
  return 0;
}

// CHECK: early-returns.c:[[# @LINE + 2]]:3: remark: offloaded places: {{.*}}, where no iteration returns early
int places(int n, int m, const double *v, double *out) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      if (v[i * m + j] < 0)
        return i;
      out[i * m + j] = v[i * m + j] / 2;
    }
  return -1;
}

// Constants of other types, and what only the early return stores.
// CHECK: early-returns.c:[[# @LINE + 2]]:3: remark: offloaded number: {{.*}}, where no iteration returns early
double number(int n, const double *v, double *out) {
  for (int i = 0; i < n; ++i) {
    if (v[i] < 0)
      return -1.0;
    out[i] = v[i] / 2;
  }
  return 1.0;
}

// CHECK: early-returns.c:[[# @LINE + 2]]:3: remark: offloaded message: {{.*}}, where no iteration returns early
const char *message(int n, const double *v, double *out) {
  for (int i = 0; i < n; ++i) {
    if (v[i] < 0)
      return "negative";
    out[i] = v[i] / 2;
  }
  return 0;
}

// CHECK: early-returns.c:[[# @LINE + 3]]:3: remark: offloaded stored: {{.*}}, where no iteration returns early
void stored(int n, const double *restrict v, double *restrict out, int *restrict info) {
  *info = 0;
  for (int i = 0; i < n; ++i) {
    if (v[i] < 0) {
      *info = i + 1;
      return;
    }
    out[i] = v[i] / 2;
  }
}

// Between pointers, which are a whole number of elements apart, or the loop stays.
// CHECK: early-returns.c:[[# @LINE + 2]]:3: remark: offloaded between: {{.*}}, where no iteration returns early
int between(const double *v, const double *end, double *restrict out) {
  for (; v != end; ++v, ++out) {
    if (*v < 0)
      return 0;
    *out = *v / 2;
  }
  return 1;
}

// CHECK: early-returns.c:[[# @LINE + 2]]:3: remark: offloaded below: {{.*}}, where no iteration returns early
int below(const double *v, const double *end, double *restrict out) {
  for (; v < end; ++v, ++out) {
    if (*v < 0)
      return 0;
    *out = *v / 2;
  }
  return 1;
}

// CHECK: early-returns.c:[[# @LINE + 3]]:{{.*}}: remark: not offloaded: the loop can be left at more than one place
int search(int n, const double *v) {
  for (int i = 0; i < n; ++i)
    if (v[i] < 0)
      return i;
  return -1;
}

// CHECK: early-returns.c:[[# @LINE + 3]]:{{.*}}: remark: not offloaded: the loop can be left at more than one place
void until(int n, const double *v, double *out) {
  for (int i = 0; i < n; ++i) {
    if (v[i] < 0)
      break;
    out[i] = v[i] / 2;
  }
}

// How far it came is what the function returns anyway.
// CHECK: early-returns.c:[[# @LINE + 4]]:{{.*}}: remark: not offloaded: the loop can be left at more than one place
int count(int n, const double *v, double *out) {
  int i;
  for (i = 0; i < n; ++i) {
    if (v[i] < 0)
      return i;
    out[i] = v[i] / 2;
  }
  return i;
}

// Members of a structure at a constant distance are assumed to lie apart where nothing is parallel otherwise; a recurrence over a short distance, or one of any length, is none
// of two arrays.
//
// RUN: %clang -O2 -g -fpass-plugin=%plugin -mllvm -pollyrs-cubin=off -Rpass=pollyrs -Rpass-missed=pollyrs -Rpass-analysis=pollyrs -c %s -o /dev/null 2>&1 | FileCheck %s

struct line {
  double x[1000], y[1000];
};

void members(struct line *l, int n) {
  double *x = l->x, *y = l->y;
  for (int i = 0; i < n; i++)
    y[i] = 2 * x[i];
}

// CHECK: [[#@LINE-4]]:{{.*}} offloaded members
// CHECK: [[#@LINE-5]]:{{.*}} assumes delinearization: parts of {{l|x}} do not overlap

void lag(double *a, int n) {
  for (int i = 8; i < n; i++)
    a[i] = 2 * a[i - 8];
}

// CHECK: [[#@LINE-4]]:{{.*}} not offloaded: no loop can run in parallel

void any_lag(double *a, int n, int k) {
  for (int i = k; i < n; i++)
    a[i] = 2 * a[i - k];
}

// CHECK: [[#@LINE-4]]:{{.*}} not offloaded: no loop can run in parallel

// Places that no loop has in its bounds are those of two parts; planes as well, where the loop would be a wavefront.
void workspace(float *work, int n, int p, int q) {
  for (int i = 0; i < n; i++)
    work[p + i] = 2 * work[q + i];
}

// CHECK: [[#@LINE-4]]:{{.*}} offloaded workspace: {{.*}}, where no iteration accesses what another one writes of work [PRS001]
// CHECK: [[#@LINE-5]]:{{.*}} assumes independence: no iteration accesses what another one writes of work [PRS023]

void step(float *grid, int m, int n, int now, int old) {
  float(*u)[m][n] = (void *)grid;
  for (int i = 1; i < m - 1; i++)
    for (int j = 1; j < n - 1; j++)
      u[now][i][j] = u[old][i - 1][j] + u[old][i + 1][j] + u[old][i][j - 1] + u[old][i][j + 1];
}

// CHECK: [[#@LINE-5]]:{{.*}} offloaded step: 2 loops, 1 statement, 1 array, 1 kernel, where no iteration accesses what another one writes of {{u|grid}} [PRS001]

// Rows that are exchanged are parallel whichever they are: nothing is assumed.
void exchange(int r, int s, int n, float a[n][n]) {
  for (int j = 0; j < n; j++) {
    float t = a[r][j];
    a[r][j] = a[s][j];
    a[s][j] = t;
  }
}

// CHECK: [[#@LINE-7]]:{{.*}} offloaded exchange: 1 loop, {{[0-9]+}} statement{{s?}}, 1 array, 1 kernel [PRS001]

// The loop that is left for the host is as good as without the plugin. The load of what both branches multiply stays in front of them, and the loop has
// vectors: threads of jumps that come before branches become selections would leave the load in one of the branches.
//
// RUN: %clangxx -O3 -S -emit-llvm %s -o - | FileCheck %s

// CHECK-LABEL: define {{.*}}gradient
// CHECK: fsub <4 x float>
// CHECK: select <4 x i1>
void gradient(int n, const int *label, const float *x1, const float *x2, const float *o, float margin, float *__restrict d1, float *__restrict d2) {
  for (int i = 0; i < n; i++) {
    float y = label[i], w = o[i], distance = -y * (x1[i] - x2[i]) + margin;
    d1[i] = distance < 0.f ? 0.f : -y * w;
    d2[i] = distance < 0.f ? 0.f : y * w;
  }
}

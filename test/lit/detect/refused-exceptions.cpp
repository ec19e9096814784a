// What throws, allocates or dispatches.
//
// RUN: %clangxx -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

#include <cstddef>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

void throws(int n, float *A) {
  for (int i = 0; i < n; i++) {
    if (A[i] < 0)
      throw std::runtime_error("negative");
    A[i] += 1;
  }
}

// The device reports where that would happen.
// CHECK: scop _Z6throwsiPf at {{.*}}exceptions.cpp:[[#@LINE-8]]:

void may_throw(float);
void catches(int n, float *A) {
  for (int i = 0; i < n; i++)
    try {
      may_throw(A[i]);
    } catch (...) {
      A[i] = 0;
    }
}

// CHECK: rejected Terminator at {{.*}}exceptions.cpp:[[#@LINE-8]]: the call of _Z9may_throwf may throw an exception that is handled here (at {{.*}}exceptions.cpp:[[#@LINE-6]])

struct Shape {
  virtual float area() const;
};
void dispatches(int n, Shape *const *S, float *A) {
  for (int i = 0; i < n; i++)
    A[i] = S[i]->area();
}

// CHECK: rejected Call at {{.*}}exceptions.cpp:[[#@LINE-4]]: the call of a virtual function (S) may have side effects (at {{.*}}exceptions.cpp:[[#@LINE-3]])

void appends(int n, std::vector<float> &A) {
  for (int i = 0; i < n; i++)
    A.push_back(i);
}

// CHECK: rejected Type at {{.*}}exceptions.cpp:[[#@LINE-4]]: values of type pointer (ptr), such as A, cannot be held on the device

void looks_up(int n, const std::map<int, float> &M, float *A) {
  for (int i = 0; i < n; i++) {
    auto at = M.find(i);
    A[i] = at == M.end() ? 0 : at->second;
  }
}

void shares(int n, std::shared_ptr<float> *P, const std::shared_ptr<float> &q) {
  for (int i = 0; i < n; i++)
    P[i] = q;
}

// CHECK: rejected Call at {{.*}}exceptions.cpp:[[#@LINE-4]]: the call of {{.*}}shared_ptr{{.*}}, which calls a function pointer, may have side effects

void nested_vectors(int n, std::vector<std::vector<float>> &A) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] = 1;
}

// Both loops for rows that are equally far apart, and the inner one for others.
// CHECK: scop _Z14nested_vectorsiRSt6vectorIS_IfSaIfEESaIS1_EE.1 at {{.*}}exceptions.cpp:[[#@LINE-6]]: 1 statements, 1 arrays, 2 loops
// CHECK: scop _Z14nested_vectorsiRSt6vectorIS_IfSaIfEESaIS1_EE.2 at {{.*}}exceptions.cpp:[[#@LINE-6]]: 1 statements, 1 arrays, 1 loops

void makes(int n, float **A) {
  for (int i = 0; i < n; i++)
    A[i] = new float[4];
}

// CHECK: rejected Call at {{.*}}exceptions.cpp:[[#@LINE-4]]: the call of _Znam may have side effects (at {{.*}}exceptions.cpp:[[#@LINE-3]])

struct Noisy {
  ~Noisy();
};
void destroys(int n, float *A) {
  for (int i = 0; i < n; i++) {
    Noisy noisy;
    A[i] = 1;
  }
}

// CHECK: rejected Call at {{.*}}exceptions.cpp:[[#@LINE-6]]: the call of _ZN5NoisyD1Ev may have side effects (at {{.*}}exceptions.cpp:[[#@LINE-3]])

int once();
void static_in_loop(int n, int *A) {
  for (int i = 0; i < n; i++) {
    static int first = once();
    A[i] = first;
  }
}

// CHECK: rejected Terminator at {{.*}}exceptions.cpp:[[#@LINE-6]]: the call of _Z4oncev may throw an exception that is handled here

// Downwards no end is assumed to be met, where an exception may end the loop before.
void downwards(float *begin, float *p) {
  while (p != begin) {
    if (*--p < 0)
      throw std::runtime_error("negative");
    *p += 1;
  }
}

// CHECK: rejected Terminator at {{.*}}exceptions.cpp:[[#@LINE-7]]: the loop may throw an exception, end the program or return before it has counted to its end

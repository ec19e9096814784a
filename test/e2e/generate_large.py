#!/usr/bin/env python3
"""Writes a long C file of many functions with loop nests of many kinds, for compile-time and robustness tests.

The same seed gives the same text. Every function is called, and the program prints a checksum of all arrays, so that a wrong
loop shows. Values stay bounded: each statement halves what it adds up.
"""

import random
import sys

PROLOGUE = """#include "example.h"

static int n;
static TYPE *a, *b, *c;
"""

STATEMENTS = [
    "A[{i}][{j}] = 0.5 * (A[{i}][{j}] + B[{j}][{i}])",
    "B[{i}][{j}] = 0.25 * B[{i}][{j}] + 0.5 * C[{i}][{j}]",
    "C[{i}][{j}] = 0.5 * C[{i}][{j}] - 0.25 * A[{i}][{j}]",
    "A[{i}][{j}] = 0.5 * A[{i}][{j}] + (double)({i} + 2 * {j}) * 0.0078125",
    "C[{i}][{j}] = A[{i}][{j}] < B[{i}][{j}] ? A[{i}][{j}] : 0.5 * C[{i}][{j}]",
]
STENCILS = [
    "A[{i}][{j}] = 0.2 * (B[{i} - 1][{j}] + B[{i} + 1][{j}] + B[{i}][{j} - 1] + B[{i}][{j} + 1] + B[{i}][{j}])",
    "B[{i}][{j}] = 0.3 * A[{i}][{j}] + 0.2 * A[{i} - 1][{j} - 1] + 0.1 * C[{i} + 1][{j} + 1]",
]


def function(rng, number):
    """One function: three arrays as variable-length matrices, a few loop nests of one kind each."""
    lines = [f"/* Number {number}. */", f"__attribute__((noinline)) static void f{number}(int n, TYPE A[n][n], TYPE B[n][n], TYPE C[n][n]) {{"]
    for _ in range(rng.randint(1, 4)):
        kind = rng.randrange(7)
        if kind == 0:  # a rectangle
            low = rng.randint(0, 3)
            lines += [f"  for (int i = {low}; i < n; ++i)", f"    for (int j = 0; j < n - {rng.randint(0, 3)}; ++j)",
                      f"      {rng.choice(STATEMENTS).format(i='i', j='j')};"]
        elif kind == 1:  # a triangle
            lines += ["  for (int i = 0; i < n; ++i)", f"    for (int j = {rng.choice(['i', '0'])}; j < {rng.choice(['n', 'i'])}; ++j)",
                      f"      {rng.choice(STATEMENTS).format(i='i', j='j')};"]
        elif kind == 2:  # a stencil
            lines += ["  for (int i = 1; i < n - 1; ++i)", "    for (int j = 1; j < n - 1; ++j)",
                      f"      {rng.choice(STENCILS).format(i='i', j='j')};"]
        elif kind == 3:  # a product
            lines += ["  for (int i = 0; i < n; ++i)", "    for (int j = 0; j < n; ++j) {", "      double sum = 0;",
                      "      for (int k = 0; k < n; ++k)", "        sum += A[i][k] * B[k][j];",
                      "      C[i][j] = sum / (double)n * 0.5;", "    }"]
        elif kind == 4:  # several statements and a condition
            lines += ["  for (int i = 0; i < n; ++i)", "    for (int j = 0; j < n; ++j) {",
                      f"      {rng.choice(STATEMENTS).format(i='i', j='j')};", f"      if (i {rng.choice(['<', '==', '>='])} j)",
                      f"        {rng.choice(STATEMENTS).format(i='i', j='j')};", "    }"]
        elif kind == 5:  # one dimension, a recurrence
            lines += ["  for (int i = 1; i < n; ++i)", "    A[i][0] = 0.5 * A[i - 1][0] + 0.25 * B[i][0];"]
        else:  # data-dependent: stays on the host
            lines += ["  for (int i = 0; i < n; ++i) {", "    int k = (int)(A[i][0] * 100.0);", "    if (k < 0)", "      k = -k;",
                      "    B[i][k % n] += 0.0625;", "  }"]
    return lines + ["}", ""]


def generate(lines, seed):
    """The text of a program of about so many lines."""
    rng = random.Random(seed)
    text, functions = PROLOGUE.splitlines() + [""], 0
    while len(text) + functions + 20 < lines:
        text += function(rng, functions)
        functions += 1
    text += ["int main(int argc, char **argv) {", "  n = (int)example_arg(argc, argv, 1, 20);",
             "  size_t count = (size_t)n * n;", "  a = example_array(count);", "  b = example_array(count);",
             "  c = example_array(count);", "  example_fill(a, count);", "  example_fill(b, count);", "  example_fill(c, count);",
             "  if (n <= 0)", "    return 0;"]
    text += [f"  f{i}(n, (TYPE(*)[n])a, (TYPE(*)[n])b, (TYPE(*)[n])c);" for i in range(functions)]
    text += ['  example_print("A", a, count);', '  example_print("B", b, count);', '  example_print("C", c, count);', "  return 0;", "}"]
    return "\n".join(text) + "\n"


if __name__ == "__main__":
    sys.stdout.write(generate(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, int(sys.argv[2]) if len(sys.argv) > 2 else 1))

"""Programs that are hard on a polyhedral compiler: one shape each, pushed far beyond what people write.

The aim of each is to be compiled within its limit of time, not to be offloaded: where an operation budget ends the analysis, a
remark has to say so. `programs()` gives the name and the C text of each; `scripts/compile-time --check` compiles them.
"""

DIMS = "ijklmopq"


def nest(bounds, body, kind="int"):
    """Loops around a body; `bounds` are (variable, first, end)."""
    lines = [f"{'  ' * (d + 1)}for ({kind} {v} = {lo}; {v} < {hi}; ++{v})" for d, (v, lo, hi) in enumerate(bounds)]
    inside = "  " * (len(bounds) + 1)
    return "\n".join(lines + [inside + "{"] + [inside + "  " + line for line in body] + [inside + "}"])


def function(parameters, text, name="f"):
    return f"void {name}({parameters})\n{{\n{text}\n}}\n"


def at(array, subscripts):
    return array + "".join(f"[{s}]" for s in subscripts)


def deep_nest(depth, size):
    """A stencil in `depth` dimensions, of constant or parametric size."""
    names = list(DIMS[:depth])
    body = [f"{at('A', names)} = 0.5 * ({at('A', [n + ' - 1' for n in names])} + {at('B', names)});"]
    dims = "".join(f"[{size}]" for _ in names)
    return function(f"int n, double A{dims}, double B{dims}", nest([(v, 1, size) for v in names], body))


def contraction(depth):
    """A product of two tensors: half of the loops are summed over."""
    half = depth // 2
    out, inner = list(DIMS[:half]), list(DIMS[half:depth])
    dims = "".join("[n]" for _ in range(half))
    wide = "".join("[n]" for _ in range(depth))
    body = [f"{at('C', out)} += {at('A', out + inner)} * {at('B', inner + out)};"]
    parameters = f"int n, double C{dims}, double A{wide}, double B{wide}"
    return function(parameters, nest([(v, 0, "n") for v in out + inner], body))


def linearised(depth):
    """Subscripts that are polynomials: `depth` dimensions with sizes of their own in one."""
    names, sizes = list(DIMS[:depth]), [f"n{d}" for d in range(depth)]

    def index(subscripts):
        text = subscripts[0]
        for s, size in zip(subscripts[1:], sizes[1:]):
            text = f"({text}) * {size} + {s}"
        return text

    body = [f"A[{index(names)}] = A[{index(names[:-1] + [names[-1] + ' + 1'])}] + B[{index(names)}];"]
    parameters = ", ".join(f"long {s}" for s in sizes) + ", double *A, double *B"
    bounds = [(v, 0, s + (" - 1" if v == names[-1] else "")) for v, s in zip(names, sizes)]
    return function(parameters, nest(bounds, body))


def many_parameters(count):
    """Offsets, bounds and conditions of `count` parameters."""
    names = [f"p{k}" for k in range(count)]
    shift = " + ".join(names)
    conditions = " && ".join(f"i + {k} < {p}" for k, p in enumerate(names[: count // 2]))
    body = [f"A[i][j] = A[i][j] + B[i + {shift}][j];", f"if ({conditions})", "  B[i][j + p0] = C[j][i + p1];"]
    parameters = ", ".join(f"long {p}" for p in names) + ", int n, double A[n][n], double B[n][n], double C[n][n]"
    return function(parameters, nest([("i", "p2", "n"), ("j", "p3 - p4", "n")], body))


def bounds_of_parameters(count):
    """Each of a row of loops runs from one parameter to the next, over the same array."""
    text = "".join(nest([("i", f"p{k}", f"p{k + 1}")], [f"A[i] = A[i + p{(k + 7) % count}] + {k};"]) + "\n" for k in range(count - 1))
    return function(", ".join(f"int p{k}" for k in range(count)) + ", double *A", text)


def huge_constants():
    body = [
        "A[1073741824 * i + 536870911 * j + 1000003] = B[2147483629 * i - 1073741789 * j + 4294967291];",
        "B[99999999977 * i + j] = A[i + 68719476731] + A[1099511627689 - j];",
    ]
    bounds = [("i", 0, "n"), ("j", "1234567891 - n", "n + 2305843009213")]
    return function("long n, double *A, double *B", nest(bounds, body, "long"))


def many_statements(count, arrays):
    """One nest of `count` statements, each of which reads what two before it wrote."""
    body = []
    for k in range(count):
        a, b, c = (at(f"A{x % arrays}", [f"i + {1 + x % 2}", f"j + {1 + x % 3}"]) for x in (k, k + 1, k * 7 + 3))
        body.append(f"{a} = 0.5 * {b} + {c};")
    parameters = "int n, " + ", ".join(f"double A{x}[n][n]" for x in range(arrays))
    return function(parameters, nest([("i", 0, "n - 3"), ("j", 0, "n - 4")], body))


def many_scalars(count):
    """One nest of `count` scalars that are live across statements."""
    body = [f"double s{k} = A[i][j + {k}]{f' * s{k - 1}' if k else ''};" for k in range(count)]
    body += [f"A[i][j + {k}] = s{k} + s{count - 1 - k};" for k in range(count)]
    return function("int n, double A[n][n]", nest([("i", 0, "n"), ("j", 0, f"n - {count}")], body))


def many_arrays(count):
    """`count` pointers that may all overlap."""
    reads = " + ".join(f"A{k}[i][j]" for k in range(count // 2))
    body = [f"A{k}[i][j] = {reads};" for k in range(count // 2, count)]
    parameters = "int n, " + ", ".join(f"double A{k}[n][n]" for k in range(count))
    return function(parameters, nest([("i", 0, "n"), ("j", 0, "n")], body))


def many_nests(count):
    """A row of nests in a time loop, each of which needs all of the one before it."""
    text = "for (int t = 0; t < T; ++t) {\n"
    for k in range(count):
        text += nest([("i", 1, "n - 1"), ("j", 1, "n - 1")], [f"A{(k + 1) % 4}[i][j] = A{k % 4}[j][i - 1] + A{k % 4}[j][i + 1];"]) + "\n"
    return function("int T, int n, " + ", ".join(f"double A{k}[n][n]" for k in range(4)), text + "}")


def chain(count, condition):
    """`if … else if … else`, `count` times."""
    body = []
    for k in range(count):
        body += [f"{'else ' if k else ''}if ({condition(k)})", f"  A[i][j] = {k} + B[i][j + {k}];"]
    return function("int n, int m, double A[n][n], double B[n][n]", nest([("i", 0, "n"), ("j", 0, f"n - {count}")], body + ["else", "  A[i][j] = 0;"]))


def paths(count):
    """`count` conditions in sequence: twice as many paths with each."""
    body = ["double s = A[i][j];"]
    body += [f"if ({['i', 'j', 'i + j', 'i - j'][k % 4]} {['<', '!=', '>='][k % 3]} {k} * m)\n        s = s * {k + 2} + B[i][j + {k}];" for k in range(count)]
    return function("int n, int m, double A[n][n], double B[n][n]", nest([("i", 0, "n"), ("j", 0, f"n - {count}")], body + ["A[i][j] = s;"]))


def moduli():
    body = [
        "A[(i * 7 + j * 3) % 1009][(i + 5 * j) % 997] = B[i % 127][j % 131] + B[(i + j) % 509][(i / 17 + j / 19) % 23];",
        "if ((i * 3 + j) % 61 == 7 || (i + j * 5) % 53 < 11)",
        "  B[(i + 1) % 127][(j + 1) % 131] = A[i % 1009][(j * 11) % 997];",
    ]
    return function("int n, double A[1009][997], double B[1009][997]", nest([("i", 0, "n"), ("j", 0, "n")], body))


def divisions(count):
    """Divisions of divisions."""
    text, subscript = [], "i + j"
    for k in range(count):
        subscript = f"({subscript}) / {k + 2} + {['i', 'j'][k % 2]} % {2 * k + 3}"
        text.append(f"A[{subscript}] += B[i][j + {k}];")
    return function("unsigned n, double *A, double B[n][n]", nest([("i", 0, "n"), ("j", 0, "n")], text, "unsigned"))


def triangles():
    """Imperfect triangular nests in several directions, around one another."""
    return function("int n, double A[n][n], double B[n][n], double x[n]", """
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      for (int k = 0; k < j; ++k) {
        A[i][j] -= A[i][k] * A[j][k];
        for (int l = k; l < i - j; ++l)
          B[l][k] -= A[j][l] * B[i - l][k];
      }
      A[i][j] /= A[j][j];
      for (int k = i + j; k < n; ++k)
        B[k][i] += A[k][j] * x[j];
    }
    for (int k = n - 1; k >= i; --k) {
      for (int l = i; l <= k; ++l)
        for (int m = l; m <= k - l; ++m)
          A[k][m] += A[l][m] * B[m][k - m];
      x[k] -= A[i][k] * x[i];
    }
    A[i][i] += x[i];
  }""")


def constant_stencil(radius, sizes):
    """In place, over all neighbours, with constant sizes in a constant time loop."""
    names = list(DIMS[: len(sizes)])
    reads = [""]
    for n in names:
        reads = [f"{r}[{n} + {d}]" for r in reads for d in range(2 * radius + 1)]
    body = [f"{at('A', [f'{n} + {radius}' for n in names])} = 0.01 * (" + " + ".join("A" + r for r in reads) + ");"]
    dims = "".join(f"[{s}]" for s in sizes)
    bounds = [("t", 0, 997)] + [(n, 0, s - 2 * radius) for n, s in zip(names, sizes)]
    return function(f"double A{dims}", nest(bounds, body))


def extremes(count):
    """Bounds that are the least and the largest of many."""
    low, high = "0", "n"
    for k in range(count):
        low, high = f"MAX({low}, {'ij'[k % 2]} - p{k})", f"MIN({high}, p{k} + {k} * {'ij'[k % 2]})"
    body = ["A[k] += B[i][j];"]
    head = "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n#define MIN(a, b) ((a) < (b) ? (a) : (b))\n"
    parameters = "int n, " + ", ".join(f"int p{k}" for k in range(count)) + ", double *A, double B[n][n]"
    return head + function(parameters, nest([("i", 0, "n"), ("j", 0, "n"), ("k", low, high)], body))


def unrolled(count):
    """A recurrence unrolled by hand."""
    body = [f"A[{count} * i + {k}] = 0.5 * A[{count} * i + {k} - 1] + B[{count} * j + {k}];" for k in range(1, count + 1)]
    return function("int n, double *A, double *B", nest([("i", 0, "n"), ("j", 0, "n")], body))


def many_functions(count):
    """Small functions with two loops, each of which calls the one before it inside."""
    text = "static inline double g0(double x) { return x; }\n"
    for k in range(1, count):
        text += f"static inline double g{k}(double x) {{ return g{k - 1}(x) * {k} + {k + 1}; }}\n"
        text += function("int n, double A[n][n]", nest([("i", 0, "n"), ("j", 0, f"n - {k % 5}")], [f"A[i][j + {k % 5}] = g{k}(A[i][j]);"]), f"f{k}")
    return text


def many_counts(count):
    """Functions that count the bytes of one of several classes in a text of known length: each is a sum in stages."""
    return "#include <stddef.h>\n" + "".join(
        f"size_t f{n}(const char *text, size_t length)\n{{\n  size_t found = 0;\n  for (size_t i = 0; i < length; ++i)\n"
        f"    found += text[i] == '<' || text[i] == '\\\\' || (unsigned char)text[i] < {n + 32};\n  return found;\n}}\n"
        for n in range(count)
    )


def products_of(combine, kind):
    """A product of matrices whose points take long to compute: unrolled tiles of these are too much for every compiler."""
    body = [f"C[i][j] = {combine};"]
    parameters = ", ".join(["int n"] + [f"{kind} {a}[n][n]" for a in "ABC"])
    return function(parameters, nest([(v, 0, "n") for v in "ijk"], body))


def lattice(size):
    """Two lattice-Boltzmann steps (D3Q19, periodic) that are inlined into a time loop, with what comes before and after."""
    near = [-1, 0, 1]
    velocities = [(x, y, z) for x in near for y in near for z in near if abs(x) + abs(y) + abs(z) < 3]
    tables = ", ".join(f"e{a}[Q] = {{{', '.join(str(v[k]) for v in velocities)}}}" for k, a in enumerate("xyz"))
    grid = f"{at('', ['N'] * 3)}[Q]"
    place = "".join(f"[({a} - e{a}[k] + N) % N]" for a in "xyz")
    points = "\n".join(f"  for (int {a} = 0; {a} < N; ++{a})" for a in "xyz")
    return f"""#define N {size}
#define Q {len(velocities)}
static const int {tables};
static double f{grid}, g{grid}, w[Q];
static void step(double to{grid}, double from{grid}, double omega)
{{
{points} {{
    double p[Q], rho = 0, ux = 0, uy = 0, uz = 0;
    for (int k = 0; k < Q; ++k) {{
      p[k] = from{place}[k];
      rho += p[k];
      ux += p[k] * ex[k];
      uy += p[k] * ey[k];
      uz += p[k] * ez[k];
    }}
    for (int k = 0; k < Q; ++k) {{
      double eu = (ex[k] * ux + ey[k] * uy + ez[k] * uz) / rho;
      to[x][y][z][k] = p[k] - omega * (p[k] - w[k] * rho * (1 + 3 * eu + 4.5 * eu * eu));
    }}
  }}
}}
int main(int argc, char **argv)
{{
{points}
  for (int k = 0; k < Q; ++k)
    f[x][y][z][k] = w[k] * (1 + 0.01 * ((x * 7 + y * 5 + z * 3) % 11));
  for (int t = 0; t < argc * 100; ++t) {{
    step(g, f, 1.2);
    step(f, g, 1.2);
  }}
  double sum = 0;
{points}
  for (int k = 0; k < Q; ++k)
    sum += f[x][y][z][k] * (k + 1);
  return sum > 1;
}}
"""


def programs():
    """Name and text, in order."""
    return {
        "deep-6": deep_nest(6, "n"),
        "deep-8": deep_nest(8, "n"),
        "deep-8-constant": deep_nest(8, 12),
        "contraction-6": contraction(6),
        "contraction-8": contraction(8),
        "linearised-4": linearised(4),
        "linearised-6": linearised(6),
        "parameters-30": many_parameters(30),
        "parameter-bounds-30": bounds_of_parameters(30),
        "huge-constants": huge_constants(),
        "statements-200": many_statements(200, 40),
        "statements-200-array": many_statements(200, 3),
        "scalars-60": many_scalars(60),
        "arrays-60": many_arrays(60),
        "nests-24": many_nests(24),
        "if-chain-60": chain(60, lambda k: f"i + {k} * j < {k} * m"),
        "if-chain-60-data": chain(60, lambda k: f"B[i][j] < {k}"),
        "if-chain-60-equal": chain(60, lambda k: f"i == {k} || j == m + {k}"),
        "paths-24": paths(24),
        "moduli": moduli(),
        "divisions-8": divisions(8),
        "triangles": triangles(),
        "constant-stencil-1d": constant_stencil(4, [1021]),
        "constant-stencil-2d": constant_stencil(1, [509, 251]),
        "constant-stencil-3d": constant_stencil(1, [61, 53, 47]),
        "extremes-8": extremes(8),
        "unrolled-64": unrolled(64),
        "functions-120": many_functions(120),
        "counts-12": many_counts(12),
        "product-pow": "#include <math.h>\n" + products_of("C[i][j] + pow(A[i][k], B[k][j]) * exp(A[i][k] - B[k][j])", "double"),
        "product-powf": "#include <math.h>\n" + products_of("C[i][j] + powf(A[i][k], B[k][j]) * expf(A[i][k] - B[k][j])", "float"),
        "product-remainder": products_of("(C[i][j] + A[i][k] * B[k][j]) % 1000000007", "long"),
        "product-division": products_of("C[i][j] + A[i][k] / B[k][j] + B[k][j] / (1 + A[i][k] * A[i][k])", "double"),
        "lattice-boltzmann": lattice(32),
    }

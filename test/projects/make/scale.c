void scale(int n, double *restrict y, const double *restrict x) {
  for (int i = 0; i < n; i++)
    y[i] = 2 * x[i] + 1;
}

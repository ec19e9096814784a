#include <vector>

// A second language in the same program.
void shift(std::vector<double> &v, double by) {
  for (double &x : v)
    x += by;
}

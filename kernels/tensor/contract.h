// A contraction of one tensor with a matrix, by plain loops: what the references are made of.
#pragma once

#include <vector>

namespace tensormg::tensor
{
/// out_i += sum_a matrix[i n + a] in_a (transposed: matrix[a n + i]) along direction d (0 is x, the fastest
/// index) of a tensor with n^dim entries.
inline void add_contraction(int dim, int n, int d, const double *matrix, bool transposed,
    const std::vector<double> &in, std::vector<double> &out)
{
  int stride = 1;
  for (int e = 0; e < d; ++e)
    stride *= n;
  int size = 1;
  for (int e = 0; e < dim; ++e)
    size *= n;
  for (int at = 0; at < size; ++at)
  {
    const int i = at / stride % n;
    double sum = 0.;
    for (int a = 0; a < n; ++a)
      sum += matrix[transposed ? a * n + i : i * n + a] * in[at + (a - i) * stride];
    out[at] += sum;
  }
}
} // namespace tensormg::tensor

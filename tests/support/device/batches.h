// How kernels on batches of tensors are tested on a device: which batches, how large the error may be.
#pragma once

#include <cmath>
#include <vector>

#include "kernels/core/block.h"
#include "kernels/tensor/arithmetic.h"
#include "tests/support/few_cases.h"
#include "tests/support/guarded_array.h"
#include "tests/support/tensor_batches.h"

namespace tensormg::test
{
/// Relative error in the Euclidean norm, random matrices. Half as a number in memory rounds the result.
inline double tolerance(tensor::Arithmetic arithmetic, std::size_t bytes)
{
  switch (arithmetic)
  {
    case tensor::Arithmetic::fp64:
      return 1e-14;
    case tensor::Arithmetic::fp32:
      return bytes == 2 ? 5e-4 : 2e-6;
    case tensor::Arithmetic::tf32x3:
    case tensor::Arithmetic::fp16x3:
      return 4e-6;
    default:
      return 2e-3;
  }
}

/// Cells in numbers that leave a part of most blocks empty; patches with all ends and of odd colours.
inline std::vector<BatchCase> cases_of_size(int dim, int n)
{
  std::vector<BatchCase> cases;
  if (n <= max_n)
  {
    const std::int64_t many = n <= 4 || dim == 2 ? 301 : 29;
    for (const std::int64_t cells : {std::int64_t(1), std::int64_t(3), many})
      if (!is_sanitized() || cells == many)
        cases.push_back(cell_case(dim, n - 1, cells));
  }
  if (n % 2 == 0 && n > 2)
  {
    const int degree = n / 2 - 1;
    if (is_sanitized())
      cases.push_back(dim == 2 ? patch_case(2, degree, {7, 6, 1}, {1, 0, 0})
                               : patch_case(3, degree, {3, 4, 3}, {0, 1, 0}));
    else if (dim == 2)
    {
      cases.push_back(patch_case(2, degree, {2, 2, 1}, {0, 0, 0}));
      cases.push_back(patch_case(2, degree, {7, 6, 1}, {1, 0, 0}));
      cases.push_back(patch_case(2, degree, {5, 23, 1}, {0, 1, 0}));
    }
    else
    {
      cases.push_back(patch_case(3, degree, {2, 2, 2}, {0, 0, 0}));
      cases.push_back(patch_case(3, degree, {7, 5, 4}, {0, 1, 0}));
      if (n <= 8)
        cases.push_back(patch_case(3, degree, {6, 7, 7}, {1, 0, 1}));
    }
  }
  return cases;
}

template <typename Number>
double difference(const std::vector<Number> &found, const std::vector<Number> &expected)
{
  const std::vector<double> x = as_double(found), y = as_double(expected);
  double error = 0., norm = 0.;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!(std::isnan(x[i]) && std::isnan(y[i]))) // where no tensor is
    {
      error += (x[i] - y[i]) * (x[i] - y[i]);
      norm += y[i] * y[i];
    }
  return std::sqrt(error / norm);
}
} // namespace tensormg::test

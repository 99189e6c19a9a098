// Matrices of one direction between the n Gauss points of a cell and its ends.
#pragma once

#include <array>

#include "kernels/basis/cell_basis.h"
#include "kernels/laplace/pointwise/pointwise.h"

namespace tensormg::laplace
{
/// Of the polynomials l_p with l_p(x_q) = delta_pq: sums over the modes, which are orthonormal, so that mode i has the numbers weight[p] value[p * n + i] in l_p.
struct PointMatrices
{
  std::array<double, max_n * max_n> derivative{}; ///< derivative[q * n + p] = l_p'(x_q)
  std::array<double, max_n> end{};                ///< l_p(1); l_p(0) is that of n - 1 - p
  std::array<double, max_n> slope{};              ///< l_p'(1); -l_p'(0) likewise

  PointMatrices(const CellBasis &basis, const PointTables &tables)
  {
    const auto n = static_cast<std::size_t>(basis.n);
    const auto product = [&](std::size_t p, const auto &of_mode) {
      double sum = 0.;
      for (std::size_t i = 0; i < n; ++i)
        sum += of_mode(i) * tables.weight[p] * tables.value[p * n + i];
      return sum;
    };
    for (std::size_t p = 0; p < n; ++p)
    {
      for (std::size_t q = 0; q < n; ++q)
        derivative[q * n + p] =
            product(p, [&](std::size_t i) { return tables.derivative[q * n + i]; });
      end[p] = product(p, [&](std::size_t i) { return basis.v[i]; });
      slope[p] = product(p, [&](std::size_t i) { return 2. * basis.h[i]; });
    }
  }
};
} // namespace tensormg::laplace

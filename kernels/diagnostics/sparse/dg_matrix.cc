// The operator of this project as a sparse matrix: what it would cost to store it.
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/diagnostics/sparse/generators.h"

namespace tensormg::sparse
{
namespace
{
  /// Entries that couple mode i of a cell with mode j of the cell at its left (side 0) or right (1) side, or,
  /// at a Dirichlet side, with mode j of its own line: the ghost's value is the negative of the own one.
  double coupling(const CellBasis &basis, int side, bool boundary, int i, int j)
  {
    const auto sign = [](int mode) { return mode % 2 == 0 ? 1. : -1.; };
    const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
    const double first = basis.v[a] * basis.h[b], second = basis.g[a] * basis.v[b];
    // Some modes do not couple: what rounding leaves of their sum is no entry.
    const bool cancels = std::abs(first + second) < 1e-13 * (std::abs(first) + std::abs(second));
    const double product = cancels ? 0. : first + second;
    const double neighbour = (side == 0 ? sign(i) : sign(j)) * product;
    return boundary ? (side == 0 ? -sign(i) * sign(j) : -1.) * product : neighbour;
  }
} // namespace

SparseMatrix<double> dg_matrix(int degree, std::int64_t cells, const ForParts &for_parts)
{
  const CellBasis basis = make_cell_basis(degree);
  const int n = basis.n;
  const std::int64_t per_cell = std::int64_t(n) * n * n;
  const std::int64_t rows = cells * cells * cells * per_cell;
  const std::array<std::int64_t, 3> cell_stride{1, cells, cells * cells};
  const std::array<std::int64_t, 3> mode_stride{1, n, std::int64_t(n) * n};
  return build_by_rows(
      rows, rows,
      [&](std::int64_t row, const Emit &emit) {
        const std::int64_t cell = row / per_cell, mode = row % per_cell;
        std::array<std::int64_t, 3> c{};
        std::array<int, 3> m{};
        std::vector<double> own(static_cast<std::size_t>(per_cell), 0.); // of the row's cell
        for (std::size_t d = 0; d < 3; ++d)
        {
          c[d] = cell / cell_stride[d] % cells;
          m[d] = static_cast<int>(mode / mode_stride[d] % n);
          own[static_cast<std::size_t>(mode)] += basis.lambda[static_cast<std::size_t>(m[d])];
        }
        const auto line = [&](std::size_t d, int j) { return mode + (j - m[d]) * mode_stride[d]; };
        for (std::size_t d = 0; d < 3; ++d)
          for (const int side : {0, 1})
            if (c[d] == (side == 0 ? 0 : cells - 1))
              for (int j = 0; j < n; ++j)
                own[static_cast<std::size_t>(line(d, j))] += coupling(basis, side, true, m[d], j);

        const auto neighbour = [&](std::size_t d, int side) {
          if (c[d] == (side == 0 ? 0 : cells - 1))
            return;
          const std::int64_t other = cell + (side == 0 ? -1 : 1) * cell_stride[d];
          for (int j = 0; j < n; ++j)
            if (const double entry = coupling(basis, side, false, m[d], j); entry != 0.)
              emit(other * per_cell + line(d, j), entry);
        };
        for (const std::size_t d : {2, 1, 0})
          neighbour(d, 0);
        for (std::int64_t k = 0; k < per_cell; ++k)
          if (own[static_cast<std::size_t>(k)] != 0.)
            emit(cell * per_cell + k, own[static_cast<std::size_t>(k)]);
        for (const std::size_t d : {0, 1, 2})
          neighbour(d, 1);
      },
      for_parts);
}
} // namespace tensormg::sparse

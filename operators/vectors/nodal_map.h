// Nodal vectors of callers, cell by cell, and vectors of modes in the storage order of Block.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// With P[q][i] = phi_i(x_q) in each direction: values at nodes u = P c of a function with the coefficients c, and the dual of
/// that, r_i = sum_q P[q][i] s_q, for integrals with basis functions. Nodal vectors are [cell][k][j][i] (tensormg/solver.h).
class NodalMap
{
public:
  /// n nodes in [0, 1], different from each other.
  NodalMap(const CellBasis &basis, const std::vector<double> &nodes);

  using Matrix = std::vector<double>; ///< n x n, rows one after the other

  const std::vector<double> &nodes() const { return nodes_; }
  const Matrix &modes_of_values() const { return inverse_; }               ///< P^-1
  const Matrix &values_of_modes() const { return values_; }                ///< P
  const Matrix &modes_of_integrals() const { return transposed_; }         ///< P^T
  const Matrix &integrals_of_modes() const { return inverse_transposed_; } ///< P^-T

private:
  int n_;
  std::vector<double> nodes_;
  Matrix values_, inverse_, transposed_, inverse_transposed_;
};

/// Which cells of a box lie one after the other in nodal vectors: rows of the whole box, or those of blocks.
struct CellOrder
{
  std::int64_t per_block =
      0; ///< the box is cubes of so many cells per direction, side by side in x; 0: one whole

  /// Calls use(first cell of a row, cells in the row, number of the first one among all cells).
  template <typename Use>
  void for_rows(const Block &block, const Use &use) const
  {
    const std::int64_t length = per_block > 0 ? per_block : block.cells[0];
    for (std::int64_t first = 0, number = 0; first < block.cells[0]; first += length)
      for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
        for (std::int64_t cy = 0; cy < block.cells[1]; ++cy, number += length)
          use(std::array<std::int64_t, 3>{first, cy, cz}, length, number);
  }
};

/// modes = factor times the matrix in every direction applied to `nodal`, in host memory.
void nodes_to_modes(const NodalMap::Matrix &matrix, double factor, const double *nodal,
    Vector<double> &modes, const CellOrder &order = {});
/// nodal = factor times that of modes
void modes_to_nodes(const NodalMap::Matrix &matrix, double factor, const Vector<double> &modes,
    double *nodal, const CellOrder &order = {});
} // namespace tensormg

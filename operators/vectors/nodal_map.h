// Nodal vectors of callers, cell by cell, and vectors of modes in the storage order of Block.
#pragma once

#include <array>
#include <cstdint>
#include <span>
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

  const std::vector<double> &nodes() const { return nodes_; }
  /// modes = factor P^-1 values
  void from_values(std::span<const double> values, double factor, Vector<double> &modes) const;
  /// values = P modes
  void to_values(const Vector<double> &modes, std::span<double> values) const;
  /// modes = factor P^T integrals
  void from_integrals(
      std::span<const double> integrals, double factor, Vector<double> &modes) const;
  /// integrals = factor P^-T modes
  void to_integrals(const Vector<double> &modes, double factor, std::span<double> integrals) const;

private:
  using Matrix = std::vector<double>; ///< [row][column]

  int n_;
  std::vector<double> nodes_;
  Matrix values_, inverse_, transposed_, inverse_transposed_;
};
} // namespace tensormg

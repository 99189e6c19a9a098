// A level with few unknowns as a dense matrix, for coarsest levels.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
struct DenseLevel
{
  static constexpr std::int64_t most_unknowns = 1500;
  /// Whether a level may be one: all of it is here, with few unknowns.
  static bool suits(const LevelGrid &level);

  std::vector<std::int64_t> places; ///< of the unknowns in vectors
  std::vector<double>
      matrix; ///< symmetric; where B is singular with `shift` c c' more, c the coefficients of 1 of norm 1
  std::vector<double> constant; ///< c; empty where B is not singular
  double shift = 0.;

  using Multiply = std::function<void(Vector<double> &y, const Vector<double> &x)>;
  DenseLevel(
      const LevelGrid &level, const CellBasis &basis, const Multiply &multiply, bool is_singular);
};
} // namespace tensormg

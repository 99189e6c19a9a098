// A level with few unknowns as a dense matrix, for coarsest levels.
#pragma once

#include <cstdint>
#include <vector>

#include "operators/constant/laplace_operator.h"

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

  DenseLevel(LaplaceOperator<double> &op, bool is_singular);
};
} // namespace tensormg

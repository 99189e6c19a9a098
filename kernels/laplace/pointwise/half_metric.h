// Numbers of points (kernels/laplace/pointwise/pointwise.h) in half precision, with powers of two for each cell.
#pragma once

#include <cstdint>

#include "kernels/core/array.h"
#include "kernels/laplace/pointwise/pointwise.h"

namespace tensormg::laplace
{
/// Of a cell G of volume and sides, the reaction and T of each side are divided by powers of two of their own, with which the largest is in
/// [2^14, 2^15): T is that of both cells of a face, of which one may be far larger than G here. Both sides of a face have the same T, so
/// the same power and the same rounding, and the operator stays symmetric.
class HalfMetric
{
public:
  HalfMetric(const Block &block, const PointNumbers<double> &numbers);

  PointNumbers<Half> view() const;
  static std::int64_t bytes(const Block &block, bool has_reaction);

private:
  void round_cell(
      const Block &block, const PointNumbers<double> &numbers, std::int64_t row, std::int64_t cx);

  Array<Half> volume_, face_, reaction_;
  Array<float> powers_;
};

/// Whether rounding changes (G grad u, grad u) little: at all points of cells det G is at least 1/32 of the product of the G_aa, so that G as rounded
/// is at most 10 % from G in any direction, and no G_aa and no T but zero is below the range of such a number.
bool holds_in_half(const Block &block, const PointNumbers<double> &numbers);
} // namespace tensormg::laplace

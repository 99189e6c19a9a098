// The operator of the symmetric interior penalty method as a user of deal.II would write it with MatrixFree, to race against.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>

namespace tensormg
{
/// -div(grad u) with u = 0 on the boundary, on cells^3 cells of the unit cube that are moved by a map: loops over cells, faces and boundary
/// faces with FEEvaluation and FEFaceEvaluation, elements FE_DGQ and geometry of the same degree, Gauss points degree + 1 in each direction.
/// Source: deal.II's tutorial, step-59, with its penalty but for general cells.
class DealiiLaplace
{
public:
  using Point = std::array<double, 3>;

  static constexpr int max_degree = 7;

  /// Throws std::invalid_argument for degrees above max_degree.
  DealiiLaplace(int degree, std::int64_t cells, const std::function<Point(const Point &)> &map);
  ~DealiiLaplace();
  DealiiLaplace(const DealiiLaplace &) = delete;
  DealiiLaplace &operator=(const DealiiLaplace &) = delete;

  /// A function that is a product of one of each direction, linear in each cell: its values at the lower and the upper end of the cells with this
  /// number in the direction.
  using Lines = std::function<std::array<double, 2>(int direction, std::int64_t cell)>;
  void set(const Lines &u);
  /// A u into the result.
  void apply();
  /// The product of the result with v.
  double product_with(const Lines &v) const;

  class Implementation;

private:
  std::unique_ptr<Implementation> implementation_;
};
} // namespace tensormg

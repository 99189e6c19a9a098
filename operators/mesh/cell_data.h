// Numbers that the cells of a level have of their own.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/core/block.h"

namespace tensormg
{
struct LevelGrid;

/// One number for each local cell and for those around the block: cell (cx, cy, cz) at first + cx + cy * row + cz * plane, from
/// -1 to the number of cells in each direction, in x to the padded one; in 2D there is no layer in z. What belongs to no cell is 1.
class CellArray
{
public:
  CellArray() = default;
  explicit CellArray(const Block &block);
  /// How many numbers an array has.
  static std::int64_t size(const Block &block);

  bool empty() const { return numbers_.empty(); }
  std::int64_t row() const { return row_; }
  std::int64_t plane() const { return plane_; }
  /// Of cell (0, 0, 0), and of all.
  std::int64_t first() const { return first_; }
  const std::vector<double> &numbers() const { return numbers_; }

  double &operator()(std::int64_t cx, std::int64_t cy, std::int64_t cz)
  {
    return numbers_[static_cast<std::size_t>(first_ + cx + cy * row_ + cz * plane_)];
  }
  double operator()(std::int64_t cx, std::int64_t cy, std::int64_t cz) const
  {
    return numbers_[static_cast<std::size_t>(first_ + cx + cy * row_ + cz * plane_)];
  }

  /// Sets the cells around the block: the neighbours' where there are such, otherwise copies of the cells at the side.
  /// Collective over the level's communicator.
  void close(const LevelGrid &level);

private:
  void close_between(const LevelGrid &level, int d);

  std::int64_t row_ = 0, plane_ = 0, first_ = 0;
  std::vector<double> numbers_;
};

/// Calls use(cx, cy, cz) for the cells at side s of the block, the first of the directions along it fastest.
template <typename Use>
void for_side_cells(const Block &block, int side, const Use &use)
{
  const int d = side / 2;
  std::array<std::int64_t, 3> begin{0, 0, 0}, end = block.cells;
  begin[d] = side % 2 == 0 ? 0 : end[d] - 1;
  end[d] = begin[d] + 1;
  for (std::int64_t cz = begin[2]; cz < end[2]; ++cz)
    for (std::int64_t cy = begin[1]; cy < end[1]; ++cy)
      for (std::int64_t cx = begin[0]; cx < end[0]; ++cx)
        use(cx, cy, cz);
}

/// K_a and c of a cell as a product of one number of its column, row and layer each, times that of the first cell: then the operator
/// is a sum of tensor products, and fast diagonalisation solves it.
struct Separation
{
  std::array<std::vector<double>, 3>
      factor;                    ///< of all cells of the direction, that of the first one is 1
  std::array<double, 3> k{};     ///< K_a of the first cell
  double reaction = 0.;          ///< of the first cell
  std::array<double, 6> kappa{}; ///< r h_a / K_a of all faces on a Robin side
};

/// Of a level whose cells differ.
struct CellData
{
  /// K_a; of a scalar coefficient k[0] alone.
  std::array<CellArray, 3> k;
  CellArray reaction; ///< empty: there is none
  /// Robin coefficients of the local faces on a side of the box, as for_side_cells() counts them; empty: none are here.
  std::array<std::vector<double>, 6> robin;
  double largest_k = 0., smallest_k = 0.; ///< of the finest level, all ranks
  /// Largest quotient of coefficients on the sides of a face, and per direction of K_a / h_a^2 and the smallest of the directions
  /// in a cell; of the finest level, all ranks.
  double largest_jump = 1.;
  std::array<double, 3> strength{1., 1., 1.};
  /// Of Robin sides: the largest r, and r h / K with h across the side; of the finest level, all ranks.
  double largest_r = 0., largest_kappa = 0.;
  /// By which the operator is made dimensionless: a power of two near the mean of K.
  double reference = 1.;
  /// Of the finest level, where K and c are such products.
  std::optional<Separation> separation;

  const CellArray &of_direction(int d) const { return k[d].empty() ? k[0] : k[d]; }
};
} // namespace tensormg

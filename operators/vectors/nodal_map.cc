#include "operators/vectors/nodal_map.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <deal.II/lac/full_matrix.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/vectors/contract.h"

namespace tensormg
{
namespace
{
  /// Cells of a row that are worked on together.
  constexpr std::int64_t group = 16;

  /// The matrix in every direction of the cells of a group, [k][j][i][cell]; `other` is as large.
  void transform(const Block &block, std::int64_t count, const double *matrix,
      std::vector<double> &numbers, std::vector<double> &other)
  {
    const int n = block.n, nz = block.nz();
    contract(nz * n, n, n, count, matrix, numbers.data(), other.data());
    contract(nz, n, n, n * count, matrix, other.data(), numbers.data());
    if (block.dim == 3)
    {
      contract(1, n, n, n * n * count, matrix, numbers.data(), other.data());
      numbers.swap(other);
    }
  }

  /// Calls use(first cell, count, its number among all cells) for the groups of all rows.
  template <typename Use>
  void for_each_group(const Block &block, const CellOrder &order, const Use &use)
  {
    order.for_rows(block, [&](const auto &first, std::int64_t length, std::int64_t number) {
      for (std::int64_t x = 0; x < length; x += group)
        use(std::array<std::int64_t, 3>{first[0] + x, first[1], first[2]},
            std::min(group, length - x), number + x);
    });
  }

  /// Calls use(place of the cell's mode, number of the mode) for all modes.
  template <typename Use>
  void for_each_mode(const Block &block, const std::array<std::int64_t, 3> &cell, const Use &use)
  {
    std::int64_t node = 0;
    for (int k = 0; k < block.nz(); ++k)
      for (int j = 0; j < block.n; ++j)
        for (int i = 0; i < block.n; ++i, ++node)
          use(block.index(cell[0], cell[1], cell[2], i, j, k), node);
  }
} // namespace

NodalMap::NodalMap(const CellBasis &basis, const std::vector<double> &nodes)
  : n_(basis.n)
  , nodes_(nodes)
  , values_(mode_value_matrix(basis, nodes))
  , inverse_(values_.size())
  , transposed_(values_.size())
  , inverse_transposed_(values_.size())
{
  dealii::FullMatrix<double> matrix(n_, n_), inverse(n_, n_);
  for (int q = 0; q < n_; ++q)
    for (int i = 0; i < n_; ++i)
      matrix(q, i) = values_[q * n_ + i];
  inverse.invert(matrix);
  for (int q = 0; q < n_; ++q)
    for (int i = 0; i < n_; ++i)
    {
      transposed_[i * n_ + q] = matrix(q, i);
      inverse_[q * n_ + i] = inverse(q, i);
      inverse_transposed_[i * n_ + q] = inverse(q, i);
    }
}

void nodes_to_modes(const NodalMap::Matrix &matrix, double factor, const double *nodal,
    Vector<double> &modes, const CellOrder &order)
{
  const Block &block = modes.block();
  const std::int64_t dofs = block.dofs_per_cell();
  std::vector<double> numbers(dofs * group), other(dofs * group);
  for_each_group(block, order, [&](const auto &cell, std::int64_t count, std::int64_t number) {
    const double *const from = nodal + number * dofs;
    for (std::int64_t node = 0; node < dofs; ++node)
      for (std::int64_t c = 0; c < count; ++c)
        numbers[node * count + c] = factor * from[c * dofs + node];
    transform(block, count, matrix.data(), numbers, other);
    for_each_mode(block, cell, [&](std::int64_t row, std::int64_t node) {
      std::copy_n(numbers.data() + node * count, count, modes.data() + row);
    });
  });
}

void modes_to_nodes(const NodalMap::Matrix &matrix, double factor, const Vector<double> &modes,
    double *nodal, const CellOrder &order)
{
  const Block &block = modes.block();
  const std::int64_t dofs = block.dofs_per_cell();
  std::vector<double> numbers(dofs * group), other(dofs * group);
  for_each_group(block, order, [&](const auto &cell, std::int64_t count, std::int64_t number) {
    for_each_mode(block, cell, [&](std::int64_t row, std::int64_t node) {
      std::copy_n(modes.data() + row, count, numbers.data() + node * count);
    });
    transform(block, count, matrix.data(), numbers, other);
    double *const to = nodal + number * dofs;
    for (std::int64_t node = 0; node < dofs; ++node)
      for (std::int64_t c = 0; c < count; ++c)
        to[c * dofs + node] = factor * numbers[node * count + c];
  });
}
} // namespace tensormg

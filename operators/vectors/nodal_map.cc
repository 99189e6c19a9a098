#include "operators/vectors/nodal_map.h"

#include <algorithm>

#include <deal.II/lac/full_matrix.h>

#include "kernels/basis/make_cell_basis.h"

namespace tensormg
{
namespace
{
  /// Cells of a row that are worked on together.
  constexpr std::int64_t group = 16;

  /// out[r][o][l] = sum_q matrix[o][q] in[r][q][l], l < length.
  void contract(std::int64_t outer, int n, std::int64_t length, const double *matrix,
      const double *in, double *out)
  {
    for (std::int64_t r = 0; r < outer; ++r, in += n * length, out += n * length)
      for (int o = 0; o < n; ++o)
      {
        double *const to = out + o * length;
        std::fill_n(to, length, 0.);
        for (int q = 0; q < n; ++q)
          for (std::int64_t l = 0; l < length; ++l)
            to[l] += matrix[o * n + q] * in[q * length + l];
      }
  }

  /// The matrix in every direction of the cells of a group, [k][j][i][cell]; `other` is as large.
  void transform(const Block &block, std::int64_t count, const double *matrix,
      std::vector<double> &numbers, std::vector<double> &other)
  {
    const int n = block.n, nz = block.nz();
    contract(nz * n, n, count, matrix, numbers.data(), other.data());
    contract(nz, n, n * count, matrix, other.data(), numbers.data());
    if (block.dim == 3)
    {
      contract(1, n, n * n * count, matrix, numbers.data(), other.data());
      numbers.swap(other);
    }
  }

  /// Calls use(first cell, count, its number among all cells) for the groups of all rows.
  template <typename Use>
  void for_each_group(const Block &block, const Use &use)
  {
    for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
      for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
        for (std::int64_t cx = 0; cx < block.cells[0]; cx += group)
          use(std::array<std::int64_t, 3>{cx, cy, cz}, std::min(group, block.cells[0] - cx),
              (cz * block.cells[1] + cy) * block.cells[0] + cx);
  }

  /// Calls use(place in [k][j][i][cell], row of modes from `cell` on, node) for all modes.
  template <typename Use>
  void for_each_mode(const Block &block, std::int64_t count,
      const std::array<std::int64_t, 3> &cell, const Use &use)
  {
    std::int64_t node = 0;
    for (int k = 0; k < block.nz(); ++k)
      for (int j = 0; j < block.n; ++j)
        for (int i = 0; i < block.n; ++i, ++node)
          use(node * count, block.index(cell[0], cell[1], cell[2], i, j, k), node);
  }

  void to_modes(
      std::span<const double> nodal, const double *matrix, double factor, Vector<double> &modes)
  {
    const Block &block = modes.block();
    const std::int64_t dofs = block.dofs_per_cell();
    std::vector<double> numbers(dofs * group), other(dofs * group);
    for_each_group(block, [&](const auto &cell, std::int64_t count, std::int64_t number) {
      const double *const from = nodal.data() + number * dofs;
      for (std::int64_t node = 0; node < dofs; ++node)
        for (std::int64_t c = 0; c < count; ++c)
          numbers[node * count + c] = factor * from[c * dofs + node];
      transform(block, count, matrix, numbers, other);
      for_each_mode(block, count, cell, [&](std::int64_t at, std::int64_t row, std::int64_t) {
        std::copy_n(numbers.data() + at, count, modes.data() + row);
      });
    });
  }

  void to_nodes(
      const Vector<double> &modes, const double *matrix, double factor, std::span<double> nodal)
  {
    const Block &block = modes.block();
    const std::int64_t dofs = block.dofs_per_cell();
    std::vector<double> numbers(dofs * group), other(dofs * group);
    for_each_group(block, [&](const auto &cell, std::int64_t count, std::int64_t number) {
      for_each_mode(block, count, cell, [&](std::int64_t at, std::int64_t row, std::int64_t) {
        std::copy_n(modes.data() + row, count, numbers.data() + at);
      });
      transform(block, count, matrix, numbers, other);
      double *const to = nodal.data() + number * dofs;
      for (std::int64_t node = 0; node < dofs; ++node)
        for (std::int64_t c = 0; c < count; ++c)
          to[c * dofs + node] = factor * numbers[node * count + c];
    });
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

void NodalMap::from_values(
    std::span<const double> values, double factor, Vector<double> &modes) const
{
  to_modes(values, inverse_.data(), factor, modes);
}
void NodalMap::to_values(const Vector<double> &modes, std::span<double> values) const
{
  to_nodes(modes, values_.data(), 1., values);
}
void NodalMap::from_integrals(
    std::span<const double> integrals, double factor, Vector<double> &modes) const
{
  to_modes(integrals, transposed_.data(), factor, modes);
}
void NodalMap::to_integrals(
    const Vector<double> &modes, double factor, std::span<double> integrals) const
{
  to_nodes(modes, inverse_transposed_.data(), factor, integrals);
}
} // namespace tensormg

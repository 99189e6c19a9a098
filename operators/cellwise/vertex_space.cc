#include "operators/cellwise/vertex_space.h"

#include <algorithm>
#include <limits>

#include "kernels/basis/make_cell_basis.h"
#include "operators/data/tensor_rule.h"

namespace tensormg
{
VertexSpace::VertexSpace(const LevelGrid &level, const CellBasis &basis, const Problem &problem)
  : level_(level)
  , boundary_(problem.boundary)
{
  for (int d = 0; d < level.block.dim; ++d)
  {
    grid_.periodic[d] = boundary_[2 * d] == BoundaryKind::periodic;
    grid_.count[d] = level.global_cells[d] + (grid_.periodic[d] ? 0 : 1);
  }
  const LineRule rule = gauss_rule(basis, basis.n);
  for (int end = 0; end < 2; ++end)
    for (int i = 0; i < basis.n; ++i)
    {
      double sum = 0.;
      for (int q = 0; q < rule.n_points(); ++q)
        sum += rule.projection[i * rule.n_points() + q] *
            (end == 0 ? 1. - rule.points[q] : rule.points[q]);
      hats_[end].push_back(sum);
    }
}

bool VertexSpace::has_unknown(const std::array<std::int64_t, 3> &vertex) const
{
  for (int d = 0; d < level_.block.dim; ++d)
    if ((vertex[d] == 0 && boundary_[2 * d] == BoundaryKind::dirichlet) ||
        (vertex[d] == grid_.count[d] - 1 && boundary_[2 * d + 1] == BoundaryKind::dirichlet))
      return false;
  return true;
}

std::int64_t VertexSpace::place(std::int64_t cx, std::int64_t cy, std::int64_t cz, int corner) const
{
  std::array<std::int64_t, 3> vertex{cx, cy, cz};
  for (int d = 0; d < level_.block.dim; ++d)
  {
    vertex[d] += level_.offset[d] + (corner >> d & 1);
    if (grid_.periodic[d])
      vertex[d] %= grid_.count[d];
  }
  return has_unknown(vertex) ? grid_.place(vertex[0], vertex[1], vertex[2]) : -1;
}

void VertexSpace::sum_over_ranks(std::vector<double> &numbers) const
{
  if (level_.communicator == MPI_COMM_SELF)
    return;
  constexpr std::size_t most = std::numeric_limits<int>::max();
  for (std::size_t at = 0; at < numbers.size(); at += most)
    MPI_Allreduce(MPI_IN_PLACE, numbers.data() + at,
        static_cast<int>(std::min(most, numbers.size() - at)), MPI_DOUBLE, MPI_SUM,
        level_.communicator);
}

VertexMatrix VertexSpace::matrix(const CellNumbersOf<double> &numbers) const
{
  const Block &block = level_.block;
  const laplace::CellNumbers<double> &cells = numbers.view();
  VertexMatrix result(grid_);
  const int corners = 1 << block.dim;
  const auto mass = [](int a, int b) { return a == b ? 1. / 3. : 1. / 6.; };
  for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
    for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
      for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
      {
        const std::int64_t at = cx + cy * cells.row + cz * cells.plane;
        for (int row = 0; row < corners; ++row)
          for (int column = 0; column < corners; ++column)
          {
            const std::int64_t from = place(cx, cy, cz, row);
            if (from < 0 || place(cx, cy, cz, column) < 0)
              continue;
            double all = 1., sum = 0.;
            int neighbour = 0;
            for (int d = 2; d >= 0; --d)
            {
              const int a = row >> d & 1, b = column >> d & 1;
              neighbour = 3 * neighbour + 1 + b - a;
              all *= d < block.dim ? mass(a, b) : 1.;
            }
            for (int d = 0; d < block.dim; ++d)
            {
              const int a = row >> d & 1, b = column >> d & 1;
              sum += cells.c[d][at] * (a == b ? 1. : -1.) / mass(a, b);
            }
            result.entries[neighbour][from] += all * (sum + cells.reaction[at]);
          }
      }
  for (std::vector<double> &entries : result.entries)
    sum_over_ranks(entries);
  for (std::int64_t z = 0; z < grid_.count[2]; ++z)
    for (std::int64_t y = 0; y < grid_.count[1]; ++y)
      for (std::int64_t x = 0; x < grid_.count[0]; ++x)
        if (!has_unknown({x, y, z}))
          result.entries[VertexMatrix::centre][grid_.place(x, y, z)] = 1.;
  return result;
}

template <typename Number>
void VertexSpace::restrict_to(std::vector<double> &to, const Vector<Number> &r) const
{
  using C = Compute<Number>;
  const Block &block = level_.block;
  const int n = block.n, corners = 1 << block.dim;
  to.assign(static_cast<std::size_t>(grid_.size()), 0.);
  std::vector<double> sums(static_cast<std::size_t>(corners * block.cells[0]));
  for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
    for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
    {
      std::fill(sums.begin(), sums.end(), 0.);
      for (int k = 0; k < block.nz(); ++k)
        for (int j = 0; j < n; ++j)
          for (int i = 0; i < n; ++i)
          {
            const Number *row = r.data() + block.index(0, cy, cz, i, j, k);
            for (int corner = 0; corner < corners; ++corner)
            {
              const double weight = hats_[corner & 1][i] * hats_[corner >> 1 & 1][j] *
                  (block.dim == 3 ? hats_[corner >> 2][k] : 1.);
              double *sum = sums.data() + corner * block.cells[0];
              for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
                sum[cx] += weight * static_cast<double>(static_cast<C>(row[cx]));
            }
          }
      for (int corner = 0; corner < corners; ++corner)
        for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
          if (const std::int64_t at = place(cx, cy, cz, corner); at >= 0)
            to[at] += sums[static_cast<std::size_t>(corner * block.cells[0] + cx)];
    }
  sum_over_ranks(to);
}

template <typename Number>
void VertexSpace::add_prolonged(Vector<Number> &x, std::vector<double> &from) const
{
  using C = Compute<Number>;
  const Block &block = level_.block;
  const int n = block.n, corners = 1 << block.dim;
  std::vector<double> values(static_cast<std::size_t>(corners * block.cells[0]));
  for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
    for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
    {
      for (int corner = 0; corner < corners; ++corner)
        for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
        {
          const std::int64_t at = place(cx, cy, cz, corner);
          values[static_cast<std::size_t>(corner * block.cells[0] + cx)] = at >= 0 ? from[at] : 0.;
        }
      for (int k = 0; k < block.nz(); ++k)
        for (int j = 0; j < n; ++j)
          for (int i = 0; i < n; ++i)
          {
            Number *row = x.data() + block.index(0, cy, cz, i, j, k);
            for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
            {
              double sum = 0.;
              for (int corner = 0; corner < corners; ++corner)
                sum += hats_[corner & 1][i] * hats_[corner >> 1 & 1][j] *
                    (block.dim == 3 ? hats_[corner >> 2][k] : 1.) *
                    values[static_cast<std::size_t>(corner * block.cells[0] + cx)];
              row[cx] = Number(static_cast<C>(static_cast<C>(row[cx]) + static_cast<C>(sum)));
            }
          }
    }
}

template void VertexSpace::restrict_to(std::vector<double> &, const Vector<double> &) const;
template void VertexSpace::restrict_to(std::vector<double> &, const Vector<float> &) const;
template void VertexSpace::restrict_to(std::vector<double> &, const Vector<Half> &) const;
template void VertexSpace::add_prolonged(Vector<double> &, std::vector<double> &) const;
template void VertexSpace::add_prolonged(Vector<float> &, std::vector<double> &) const;
template void VertexSpace::add_prolonged(Vector<Half> &, std::vector<double> &) const;
} // namespace tensormg

#include "operators/cellwise/vertex_space.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/basis/make_cell_basis.h"
#include "operators/data/tensor_rule.h"

namespace tensormg
{
VertexSpace::VertexSpace(const LevelGrid &level, const CellBasis &basis, const Problem &problem)
  : level_(level)
  , penalty_(basis.penalty)
  , boundary_(problem.boundary)
{
  grid_.dim = level.block.dim;
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

vertices::Layout VertexSpace::layout() const
{
  vertices::Layout layout;
  layout.block = level_.block;
  layout.offset = level_.offset;
  layout.count = grid_.count;
  layout.periodic = grid_.periodic;
  for (int s = 0; s < 2 * level_.block.dim; ++s)
    layout.fixed[s] = boundary_[s] == BoundaryKind::dirichlet;
  for (int end = 0; end < 2; ++end)
    std::copy(hats_[end].begin(), hats_[end].end(), layout.hats[end]);
  return layout;
}

std::vector<std::int32_t> VertexSpace::splits() const
{
  std::vector<std::int32_t> result;
  grid_.for_each([&](const std::array<std::int64_t, 3> &v) {
    result.push_back(splits_.of_vertex(grid_.place(v[0], v[1], v[2])));
  });
  return result;
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
  if (!has_unknown(vertex))
    return -1;
  const std::int64_t usual = grid_.place(vertex[0], vertex[1], vertex[2]);
  const std::int64_t split = splits_.of(usual, 7 - corner);
  return split < 0 ? usual : grid_.size() + split;
}

void VertexSpace::split(const CellNumbersOf<double> &numbers)
{
  splits_ = VertexSplits(level_, grid_, numbers.view());
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

namespace
{
  /// Of two hat functions in a direction of a cell.
  constexpr double mass(int a, int b) { return a == b ? 1. / 3. : 1. / 6.; }

  /// Where the vertex of corner b is seen from that of corner a.
  constexpr int neighbour_of(int a, int b)
  {
    int neighbour = 0;
    for (int d = 2; d >= 0; --d)
      neighbour = 3 * neighbour + 1 + (b >> d & 1) - (a >> d & 1);
    return neighbour;
  }
} // namespace

void VertexSpace::add(
    VertexMatrix &to, const std::array<std::int64_t, 2> &places, int neighbour, double value) const
{
  const auto [row, column] = places;
  if (row < 0 || column < 0)
    return;
  if (row < grid_.size() && column < grid_.size())
    to.entries[neighbour][row] += value;
  else
    to.further.push_back({row, column, value});
}

void VertexSpace::add_cell(VertexMatrix &to, const laplace::CellNumbers<double> &cells,
    const std::array<std::int64_t, 3> &cell) const
{
  const auto &[cx, cy, cz] = cell;
  const std::int64_t at = cx + cy * cells.row + cz * cells.plane;
  const int dim = level_.block.dim, corners = 1 << dim;
  std::array<std::int64_t, 8> places{};
  for (int corner = 0; corner < corners; ++corner)
    places[corner] = place(cx, cy, cz, corner);
  // The matrix of two hat functions in each direction, divided by their masses.
  double line[3][2][2] = {};
  for (int d = 0; d < dim; ++d)
    for (int a = 0; a < 2; ++a)
    {
      line[d][a][1 - a] = -cells.c[d][at] / mass(0, 1);
      line[d][a][a] = cells.c[d][at] * (1. + behind_end(cell, cells, d, a)) / mass(0, 0);
    }
  for (int row = 0; row < corners; ++row)
    for (int column = 0; column < corners; ++column)
    {
      double all = 1., sum = cells.reaction[at];
      for (int d = 0; d < dim; ++d)
      {
        const int a = row >> d & 1, b = column >> d & 1;
        all *= mass(a, b);
        sum += line[d][a][b];
      }
      add(to, {places[row], places[column]}, neighbour_of(row, column), all * sum);
    }
}

/// The face between a cell and the next one in direction d, where functions jump because a vertex is split: with the jump j and the mean flux F
///   penalty (c + c') / 2 (j, j') - (F, j') - (j, F').
void VertexSpace::add_jumps(VertexMatrix &to, const laplace::CellNumbers<double> &cells,
    const std::array<std::int64_t, 3> &cell, int d) const
{
  std::array<std::int64_t, 3> next = cell;
  ++next[d];
  // Corners 0-7 of the cell, then those of the next one.
  std::array<std::int64_t, 16> places{};
  bool jumps = false;
  for (int corner = 0; corner < 8; ++corner)
  {
    places[corner] = place(cell[0], cell[1], cell[2], corner);
    places[8 + corner] = place(next[0], next[1], next[2], corner);
  }
  const int normal = 1 << d;
  for (int corner = 0; corner < 8; ++corner)
    jumps = jumps || ((corner & normal) == 0 && places[corner + normal] != places[8 + corner]);
  if (!jumps)
    return;
  const std::int64_t at = cell[0] + cell[1] * cells.row + cell[2] * cells.plane;
  const double own = cells.c[d][at], other = cells.c[d][at + cells.stride(d)];
  std::array<std::array<double, 16>, 8> jump{},
      flux{}; // at the corners of the face, of every unknown
  for (int f = 0; f < 8; ++f)
    if ((f & normal) == 0)
    {
      const int upper = f + normal;
      if (places[upper] != places[8 + f])
      {
        jump[f][upper] = 1.;
        jump[f][8 + f] = -1.;
      }
      flux[f][upper] = 0.5 * own;
      flux[f][f] = -0.5 * own;
      flux[f][8 + upper] = 0.5 * other;
      flux[f][8 + f] = -0.5 * other;
    }
  const double tau = 0.5 * penalty_ * (own + other);
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 16; ++column)
    {
      double sum = 0.;
      for (int f = 0; f < 8; ++f)
        for (int g = 0; g < 8; ++g)
          if ((f & normal) == 0 && (g & normal) == 0)
          {
            double on_face = 1.;
            for (int e = 0; e < 3; ++e)
              on_face *= e == d ? 1. : mass(f >> e & 1, g >> e & 1);
            sum += on_face *
                (tau * jump[f][row] * jump[g][column] - flux[f][row] * jump[g][column] -
                    jump[f][row] * flux[g][column]);
          }
      if (sum == 0.)
        continue;
      // In the direction d the next cell lies one vertex further.
      int neighbour = neighbour_of(row % 8, column % 8);
      for (int e = 0, step = 1; e < 3; ++e, step *= 3)
        neighbour += e == d ? step * (column / 8 - row / 8) : 0;
      add(to, {places[row], places[column]}, neighbour, sum);
    }
}

double VertexSpace::behind_end(const std::array<std::int64_t, 3> &cell,
    const laplace::CellNumbers<double> &cells, int d, int end) const
{
  if (cell[d] != (end == 0 ? 0 : level_.block.cells[d] - 1))
    return 0.;
  const std::int64_t at = cell[0] + cell[1] * cells.row + cell[2] * cells.plane;
  return cells.jump[d][at + (end == 0 ? -1 : 1) * cells.stride(d)];
}

VertexMatrix VertexSpace::matrix(const CellNumbersOf<double> &numbers) const
{
  const Block &block = level_.block;
  VertexMatrix result(grid_);
  for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
    for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
      for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
      {
        const std::array cell{cx, cy, cz};
        add_cell(result, numbers.view(), cell);
        for (int d = 0; n_splits() > 0 && d < 3; ++d)
          if (grid_.periodic[d] || level_.offset[d] + cell[d] + 1 < level_.global_cells[d])
            add_jumps(result, numbers.view(), cell, d);
      }
  for (std::vector<double> &entries : result.entries)
    sum_over_ranks(entries);
  gather(result.further);
  for (std::int64_t z = 0; z < grid_.count[2]; ++z)
    for (std::int64_t y = 0; y < grid_.count[1]; ++y)
      for (std::int64_t x = 0; x < grid_.count[0]; ++x)
        if (!has_unknown({x, y, z}))
          result.entries[VertexMatrix::centre][grid_.place(x, y, z)] = 1.;
  return result;
}

void VertexSpace::gather(std::vector<VertexMatrix::Entry> &entries) const
{
  if (level_.communicator == MPI_COMM_SELF)
    return;
  int n_ranks = 1;
  MPI_Comm_size(level_.communicator, &n_ranks);
  const auto bytes = static_cast<int>(entries.size() * sizeof(VertexMatrix::Entry));
  std::vector<int> sizes(static_cast<std::size_t>(n_ranks)), begins(sizes.size());
  MPI_Allgather(&bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, level_.communicator);
  for (std::size_t r = 1; r < sizes.size(); ++r)
    begins[r] = begins[r - 1] + sizes[r - 1];
  std::vector<VertexMatrix::Entry> all(
      static_cast<std::size_t>(begins.back() + sizes.back()) / sizeof(VertexMatrix::Entry));
  MPI_Allgatherv(entries.data(), bytes, MPI_BYTE, all.data(), sizes.data(), begins.data(), MPI_BYTE,
      level_.communicator);
  entries = std::move(all);
}

template <typename Number>
void VertexSpace::restrict_to(std::vector<double> &to, const Vector<Number> &r) const
{
  using C = Compute<Number>;
  const Block &block = level_.block;
  const int n = block.n, corners = 1 << block.dim;
  to.assign(static_cast<std::size_t>(grid_.size() + n_splits()), 0.);
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

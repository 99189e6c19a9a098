#include "operators/cellwise/vertex_multigrid.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solvers/chebyshev.h"

namespace tensormg
{
namespace
{
  constexpr std::int64_t most_direct = 400;
  constexpr int smoothing_steps = VertexHierarchy::smoothing_steps;

  std::int64_t place(const VertexGrid &grid, const std::array<std::int64_t, 3> &v)
  {
    return grid.place(v[0], v[1], v[2]);
  }

  int neighbours_begin(const VertexGrid &grid) { return grid.is_3d() ? 0 : 9; }
  int neighbours_end(const VertexGrid &grid) { return grid.is_3d() ? 27 : 18; }
  std::array<int, 3> offset(int neighbour)
  {
    return {neighbour % 3 - 1, neighbour / 3 % 3 - 1, neighbour / 9 - 1};
  }

  /// Periodic directions: the layer around the vertices gets the numbers of the opposite ones; elsewhere it stays.
  void close(const VertexGrid &grid, std::vector<double> &x)
  {
    for (int d = 0; d < 3; ++d)
    {
      if (!grid.periodic[d])
        continue;
      std::array<std::int64_t, 3> begin{0, 0, 0}, end = grid.count;
      for (int a = 0; a < d; ++a) // with what has been closed before
        if (grid.periodic[a])
        {
          begin[a] = -1;
          end[a] = grid.count[a] + 1;
        }
      begin[d] = 0;
      end[d] = 1;
      std::array<std::int64_t, 3> v{};
      for (v[2] = begin[2]; v[2] < end[2]; ++v[2])
        for (v[1] = begin[1]; v[1] < end[1]; ++v[1])
          for (v[0] = begin[0]; v[0] < end[0]; ++v[0])
          {
            auto from = v, to = v;
            from[d] = grid.count[d] - 1;
            to[d] = -1;
            x[place(grid, to)] = x[place(grid, from)];
            from[d] = 0;
            to[d] = grid.count[d];
            x[place(grid, to)] = x[place(grid, from)];
          }
    }
  }

  /// y = A x on all places from the first to the last vertex; x is closed.
  void multiply(const VertexMatrix &matrix, std::vector<double> &x, std::vector<double> &y)
  {
    const VertexGrid &grid = matrix.grid;
    close(grid, x);
    const std::int64_t begin = grid.first(),
                       end =
                           grid.place(grid.count[0] - 1, grid.count[1] - 1, grid.count[2] - 1) + 1;
    constexpr std::int64_t block = 2048; // whose y stays in the cache
    for (std::int64_t at = begin; at < end; at += block)
    {
      const std::int64_t stop = std::min(at + block, end);
      std::fill(y.begin() + at, y.begin() + stop, 0.);
      for (int o = neighbours_begin(grid); o < neighbours_end(grid); ++o)
      {
        const double *a = matrix.entries[o].data(), *from = x.data() + grid.step(o);
        double *to = y.data();
        for (std::int64_t i = at; i < stop; ++i)
          to[i] += a[i] * from[i];
      }
    }
  }

  /// Which of the directions of a level are halved: strong ones first, by the sums of the couplings along them, as the smoother leaves
  /// what is smooth in these alone.
  std::array<bool, 3> directions_to_halve(const VertexMatrix &matrix)
  {
    constexpr double strong = 0.2;
    const VertexGrid &grid = matrix.grid;
    std::array<double, 3> strength{};
    std::array<bool, 3> can_be{}, result{};
    for (int d = 0; d < 3; ++d)
      can_be[d] = grid.count[d] >= (grid.periodic[d] && grid.count[d] % 2 == 1 ? 5 : 4);
    grid.for_each([&](const auto &v) {
      for (int o = neighbours_begin(grid); o < neighbours_end(grid); ++o)
        for (int d = 0; d < 3; ++d)
          if (can_be[d] && offset(o)[d] == 1)
            strength[d] -= matrix.entries[o][place(grid, v)];
    });
    const double strongest = *std::max_element(strength.begin(), strength.end());
    for (int d = 0; d < 3; ++d)
      result[d] = can_be[d] && (strongest <= 0. || strength[d] >= strong * strongest);
    return result;
  }

  VertexGrid coarser(const VertexGrid &grid, const std::array<bool, 3> &halved)
  {
    VertexGrid result = grid;
    for (int d = 0; d < 3; ++d)
      if (halved[d])
        result.count[d] = (grid.count[d] + 1) / 2;
    return result;
  }

  /// Interpolation of a matrix.
  class Interpolation
  {
  public:
    Interpolation(const VertexMatrix &matrix, const std::array<bool, 3> &halved,
        std::array<std::vector<double>, 8> &weights)
      : matrix_(matrix)
      , grid_(matrix.grid)
      , halved_(halved)
      , weights_(weights)
    {
      for (std::vector<double> &weight : weights_)
        weight.assign(static_cast<std::size_t>(grid_.size()), 0.);
      for (int n_odd = 0; n_odd <= 3; ++n_odd)
        grid_.for_each([&](const auto &v) {
          const auto odd = odd_directions(v);
          if (odd[0] + odd[1] + odd[2] == n_odd && !is_eliminated(place(grid_, v)))
            interpolate(v, odd);
        });
    }

  private:
    std::array<bool, 3> odd_directions(const std::array<std::int64_t, 3> &v) const
    {
      std::array<bool, 3> odd{};
      for (int d = 0; d < 3; ++d)
        odd[d] = halved_[d] && v[d] % 2 == 1;
      return odd;
    }
    bool is_eliminated(std::int64_t at) const
    {
      for (int o = neighbours_begin(grid_); o < neighbours_end(grid_); ++o)
        if (o != VertexMatrix::centre && matrix_.entries[o][at] != 0.)
          return false;
      return true;
    }

    void interpolate(const std::array<std::int64_t, 3> &v, const std::array<bool, 3> &odd)
    {
      const std::int64_t at = place(grid_, v);
      if (!odd[0] && !odd[1] && !odd[2])
      {
        weights_[0][at] = 1.;
        return;
      }
      // By the offset in the odd directions, the others summed.
      std::array<double, 27> collapsed{};
      for (int o = neighbours_begin(grid_); o < neighbours_end(grid_); ++o)
      {
        int to = 0;
        for (int d = 2; d >= 0; --d)
          to = 3 * to + (odd[d] ? offset(o)[d] : 0) + 1;
        collapsed[to] += matrix_.entries[o][at];
      }
      const double diagonal = collapsed[VertexMatrix::centre] > 0.
          ? collapsed[VertexMatrix::centre]
          : matrix_.entries[VertexMatrix::centre][at];
      for (int o = 0; o < 27; ++o)
        if (o != VertexMatrix::centre && collapsed[o] != 0.)
          take(v, odd, o, -collapsed[o] / diagonal);
    }

    /// Adds the interpolation of the neighbour, times a factor.
    void take(const std::array<std::int64_t, 3> &v, const std::array<bool, 3> &odd, int neighbour,
        double factor)
    {
      const auto step = offset(neighbour);
      std::array<std::int64_t, 3> other = v;
      int fixed = 0,
          free = 0; // bits of corners that the neighbour decides, and those that it leaves
      for (int d = 0; d < 3; ++d)
      {
        other[d] += step[d];
        if (grid_.periodic[d])
          other[d] = (other[d] + grid_.count[d]) % grid_.count[d];
        else if (other[d] < 0 || other[d] >= grid_.count[d])
          return;
        if (step[d] == 1)
          fixed |= 1 << d;
        if (odd[d] && step[d] == 0)
          free |= 1 << d;
      }
      const std::int64_t at = place(grid_, v), from = place(grid_, other);
      for (int corner = 0; corner < 8; ++corner)
        if ((corner & ~free) == 0)
          weights_[corner | fixed][at] += factor * weights_[corner][from];
    }

    const VertexMatrix &matrix_;
    const VertexGrid &grid_;
    std::array<bool, 3> halved_;
    std::array<std::vector<double>, 8> &weights_;
  };

  /// The coarser vertex at a corner of v.
  std::array<std::int64_t, 3> corner_of(const std::array<std::int64_t, 3> &v, int corner,
      const std::array<bool, 3> &halved, const VertexGrid &coarse)
  {
    std::array<std::int64_t, 3> result = v;
    for (int d = 0; d < 3; ++d)
      if (halved[d])
      {
        result[d] = v[d] / 2 + (corner >> d & 1);
        if (coarse.periodic[d])
          result[d] %= coarse.count[d];
      }
    return result;
  }

  /// P'AP
  VertexMatrix galerkin(const VertexMatrix &fine, const std::array<bool, 3> &halved,
      const std::array<std::vector<double>, 8> &weights)
  {
    const VertexGrid &grid = fine.grid;
    VertexMatrix result(coarser(grid, halved));
    const auto neighbour_of = [&](const auto &from, const auto &to) {
      int number = 0;
      for (int d = 2; d >= 0; --d)
      {
        std::int64_t step = to[d] - from[d];
        if (result.grid.periodic[d] && std::abs(step) > 1)
          step += step > 0 ? -result.grid.count[d] : result.grid.count[d];
        number = 3 * number + static_cast<int>(step) + 1;
      }
      return number;
    };
    // What a fine vertex is interpolated from.
    struct Corner
    {
      std::array<std::int64_t, 3> vertex;
      double weight;
    };
    const auto corners_of = [&](const auto &v, std::array<Corner, 8> &corners) {
      const std::int64_t at = place(grid, v);
      int count = 0;
      for (int corner = 0; corner < 8; ++corner)
        if (const double weight = weights[corner][at]; weight != 0.)
          corners[count++] = {corner_of(v, corner, halved, result.grid), weight};
      return count;
    };
    std::array<Corner, 8> rows{}, columns{};
    grid.for_each([&](const auto &v) {
      const std::int64_t at = place(grid, v);
      const int n_rows = corners_of(v, rows);
      for (int o = neighbours_begin(grid); o < neighbours_end(grid) && n_rows > 0; ++o)
      {
        const double entry = fine.entries[o][at];
        if (entry == 0.)
          continue;
        const int n_columns = corners_of(grid.neighbour(v, o), columns);
        for (int j = 0; j < n_columns; ++j)
          for (int i = 0; i < n_rows; ++i)
            result.entries[neighbour_of(rows[i].vertex, columns[j].vertex)][place(
                result.grid, rows[i].vertex)] += rows[i].weight * (entry * columns[j].weight);
      }
    });
    result.grid.for_each([&](const auto &v) {
      double &diagonal = result.entries[VertexMatrix::centre][place(result.grid, v)];
      diagonal = diagonal == 0. ? 1. : diagonal; // no finer vertex depends on it
    });
    return result;
  }
} // namespace

VertexMatrix::VertexMatrix(const VertexGrid &grid_)
  : grid(grid_)
{
  for (int o = neighbours_begin(grid); o < neighbours_end(grid); ++o)
    entries[o].assign(static_cast<std::size_t>(grid.size()), 0.);
}

VertexMultigrid::VertexMultigrid(VertexMatrix matrix, bool is_singular)
  : is_singular_(is_singular)
{
  levels_.emplace_back(std::move(matrix));
  while (true)
  {
    Level &level = levels_.back();
    const VertexGrid &grid = level.matrix.grid;
    const auto size = static_cast<std::size_t>(grid.size());
    for (std::vector<double> *vector : {&level.x, &level.b, &level.work, &level.old})
      vector->assign(size, 0.);
    level.inverse_diagonal.assign(size, 0.);
    grid.for_each([&](const auto &v) {
      const std::int64_t at = place(grid, v);
      double sum = 0.;
      for (int o = neighbours_begin(grid); o < neighbours_end(grid); ++o)
        sum += std::abs(level.matrix.entries[o][at]);
      const double diagonal = level.matrix.entries[VertexMatrix::centre][at];
      level.inverse_diagonal[at] = 1. / diagonal;
      level.lambda_max = std::max(level.lambda_max, sum / diagonal); // Gershgorin
    });
    const std::array<bool, 3> halved = directions_to_halve(level.matrix);
    if (grid.count[0] * grid.count[1] * grid.count[2] <= most_direct ||
        !(halved[0] || halved[1] || halved[2]))
      break;
    level.halved = halved;
    const Interpolation interpolation(level.matrix, halved, level.weights);
    levels_.emplace_back(galerkin(level.matrix, halved, level.weights));
  }
  factorise();
}

void VertexMultigrid::cycle(std::vector<double> &x, const std::vector<double> &b)
{
  levels_.front().b = b;
  cycle(0);
  x = levels_.front().x;
}

void VertexMultigrid::solve(std::vector<double> &x, const std::vector<double> &b)
{
  const VertexMatrix &matrix = levels_.front().matrix;
  const auto dot = [&](const std::vector<double> &u, const std::vector<double> &v) {
    double sum = 0.;
    matrix.grid.for_each([&](const auto &vertex) {
      const std::int64_t at = place(matrix.grid, vertex);
      sum += u[at] * v[at];
    });
    return sum;
  };
  x.assign(b.size(), 0.);
  r_ = b;
  if (is_singular_)
  {
    double mean = 0.;
    const auto &[nx, ny, nz] = matrix.grid.count;
    matrix.grid.for_each([&](const auto &vertex) { mean += b[place(matrix.grid, vertex)]; });
    mean /= static_cast<double>(nx * ny * nz);
    matrix.grid.for_each([&](const auto &vertex) { r_[place(matrix.grid, vertex)] -= mean; });
  }
  p_.assign(b.size(), 0.);
  q_.assign(b.size(), 0.);
  double first = 0., last = 1.;
  for (int step = 0; step < most_vertex_iterations; ++step)
  {
    cycle(z_, r_);
    const double product = dot(r_, z_);
    if (step == 0)
      first = product;
    if (!(product > vertex_accuracy * vertex_accuracy * first))
      return;
    for (std::size_t i = 0; i < p_.size(); ++i)
      p_[i] = z_[i] + (step == 0 ? 0. : product / last) * p_[i];
    last = product;
    multiply(matrix, p_, q_);
    const double alpha = product / dot(p_, q_);
    for (std::size_t i = 0; i < p_.size(); ++i)
    {
      x[i] += alpha * p_[i];
      r_[i] -= alpha * q_[i];
    }
  }
}

void VertexMultigrid::cycle(std::size_t l)
{
  if (l + 1 == levels_.size())
    return solve_coarsest();
  Level &level = levels_[l], &coarse = levels_[l + 1];
  smooth(level, true);
  multiply(level.matrix, level.x, level.work);
  for (std::size_t i = 0; i < level.work.size(); ++i)
    level.work[i] = level.b[i] - level.work[i];
  restrict_to(level, coarse);
  cycle(l + 1);
  prolongate(level, coarse);
  smooth(level, false);
}

void VertexMultigrid::smooth(Level &level, bool zero_start)
{
  const std::vector<ThreeTermStep> steps = chebyshev_fourth_kind(smoothing_steps, level.lambda_max);
  std::vector<double> &x = level.x, &old = level.old, &work = level.work;
  if (zero_start)
    std::fill(x.begin(), x.end(), 0.);
  std::copy(x.begin(), x.end(), old.begin());
  for (std::size_t k = 0; k < steps.size(); ++k)
  {
    if (zero_start && k == 0)
      std::fill(work.begin(), work.end(), 0.);
    else
      multiply(level.matrix, x, work);
    const auto [theta, alpha] = steps[k];
    for (std::size_t i = 0; i < x.size(); ++i)
    {
      const double next = x[i] + theta * (x[i] - old[i]) +
          alpha * level.inverse_diagonal[i] * (level.b[i] - work[i]);
      old[i] = x[i];
      x[i] = next;
    }
  }
}

void VertexMultigrid::restrict_to(const Level &fine, Level &coarse) const
{
  std::fill(coarse.b.begin(), coarse.b.end(), 0.);
  fine.matrix.grid.for_each([&](const auto &v) {
    const std::int64_t at = place(fine.matrix.grid, v);
    for (int corner = 0; corner < 8; ++corner)
      if (fine.weights[corner][at] != 0.)
        coarse
            .b[place(coarse.matrix.grid, corner_of(v, corner, fine.halved, coarse.matrix.grid))] +=
            fine.weights[corner][at] * fine.work[at];
  });
}

void VertexMultigrid::prolongate(Level &fine, const Level &coarse) const
{
  fine.matrix.grid.for_each([&](const auto &v) {
    const std::int64_t at = place(fine.matrix.grid, v);
    for (int corner = 0; corner < 8; ++corner)
      if (fine.weights[corner][at] != 0.)
        fine.x[at] += fine.weights[corner][at] *
            coarse.x[place(
                coarse.matrix.grid, corner_of(v, corner, fine.halved, coarse.matrix.grid))];
  });
}

SparseRows VertexMultigrid::matrix_rows(const Level &level) const
{
  const VertexGrid &grid = level.matrix.grid;
  SparseRows rows;
  grid.for_each([&](const auto &v) {
    for (int o = neighbours_begin(grid); o < neighbours_end(grid); ++o)
      if (const double entry = level.matrix.entries[o][place(grid, v)]; entry != 0.)
        rows.add(grid.number(grid.neighbour(v, o)), entry);
    rows.end_row();
  });
  return rows;
}

SparseRows VertexMultigrid::prolongation_rows(const Level &fine, const Level &coarse) const
{
  SparseRows rows;
  fine.matrix.grid.for_each([&](const auto &v) {
    const std::int64_t at = place(fine.matrix.grid, v);
    for (int corner = 0; corner < 8; ++corner)
      if (const double weight = fine.weights[corner][at]; weight != 0.)
        rows.add(coarse.matrix.grid.number(corner_of(v, corner, fine.halved, coarse.matrix.grid)),
            weight);
    rows.end_row();
  });
  return rows;
}

VertexHierarchy VertexMultigrid::hierarchy() const
{
  VertexHierarchy result;
  for (std::size_t l = 0; l < levels_.size(); ++l)
  {
    VertexHierarchy::Level &level = result.add_level(matrix_rows(levels_[l]));
    if (l + 1 < levels_.size())
      level.prolongation = prolongation_rows(levels_[l], levels_[l + 1]);
  }
  result.coarsest_inverse = factor_.inverse();
  return result;
}

void VertexMultigrid::factorise()
{
  const VertexMatrix &matrix = levels_.back().matrix;
  const VertexGrid &grid = matrix.grid;
  grid.for_each([&](const auto &v) { places_.push_back(place(grid, v)); });
  const std::size_t size = places_.size();
  std::vector<double> dense(size * size, 0.);
  dense_.resize(size);
  double trace = 0.;
  grid.for_each([&](const auto &v) {
    const auto row = static_cast<std::size_t>(grid.number(v));
    for (int o = neighbours_begin(grid); o < neighbours_end(grid); ++o)
    {
      const double entry = matrix.entries[o][place(grid, v)];
      if (entry == 0.)
        continue;
      dense[static_cast<std::size_t>(grid.number(grid.neighbour(v, o))) * size + row] += entry;
    }
    trace += matrix.entries[VertexMatrix::centre][place(grid, v)];
  });
  if (is_singular_) // interpolation keeps constants; their part of a solution is of no interest
    for (double &entry : dense)
      entry += trace / static_cast<double>(size * size);
  factor_ = Cholesky(std::move(dense), "the matrix on the coarsest vertices");
}

void VertexMultigrid::solve_coarsest()
{
  Level &level = levels_.back();
  for (std::size_t i = 0; i < places_.size(); ++i)
    dense_[i] = level.b[places_[i]];
  factor_.solve(dense_);
  for (std::size_t i = 0; i < places_.size(); ++i)
    level.x[places_[i]] = dense_[i];
}
} // namespace tensormg

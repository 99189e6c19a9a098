// ranks: 1 2 3 4
// Patch smoothing of a level is the same however the level is divided over the ranks.
#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "tests/support/patch_smoother.h"
#include "tests/support/random_vector.h"

namespace tensormg
{
namespace
{
  struct Case
  {
    int dim;
    std::array<std::int64_t, 3> cells;
    std::array<BoundaryKind, 3> boundary;
  };
  constexpr auto D = BoundaryKind::dirichlet, N = BoundaryKind::neumann, P = BoundaryKind::periodic;
  // Thin blocks, odd periodic counts, patches whose upper cell ends the domain on the next rank.
  const Case cases[] = {
      {3, {3, 4, 4}, {D, D, D}},
      {3, {4, 5, 7}, {D, P, P}},
      {3, {2, 4, 5}, {P, N, P}},
      {3, {3, 7, 4}, {N, P, N}},
      {3, {1, 6, 2}, {D, D, P}},
      {3, {2, 2, 6}, {P, P, D}},
      {2, {9, 4, 1}, {D, D, D}},
      {2, {6, 5, 1}, {P, P, D}},
      {2, {5, 8, 1}, {D, N, D}},
  };

  /// The level of the case, cut into parts_y x parts_z blocks, as `rank` sees it.
  LevelGrid make_level(
      const Case &c, int degree, std::array<int, 3> parts, int rank, MPI_Comm communicator)
  {
    LevelGrid level;
    level.global_cells = c.cells;
    for (int d = 0; d < 3; ++d)
      level.axis[d] =
          Axis(0., std::array{0.5, 0.4, 0.7}[d] * static_cast<double>(c.cells[d]), c.cells[d]);
    level.communicator = communicator;
    std::array<std::int64_t, 3> cells = c.cells;
    const std::array<int, 3> part{0, rank % parts[1], rank / parts[1]};
    for (int d = 0; d < c.dim; ++d)
    {
      level.offset[d] = c.cells[d] * part[d] / parts[d];
      cells[d] = c.cells[d] * (part[d] + 1) / parts[d] - level.offset[d];
      for (int upper = 0; upper < 2; ++upper)
      {
        const int s = 2 * d + upper;
        if (c.boundary[d] != P && part[d] == (upper ? parts[d] - 1 : 0))
          level.sides[s] = c.boundary[d] == D || upper ? Side::dirichlet : Side::neumann;
        else if (d == 0)
          level.sides[s] = Side::wrap;
        else
        {
          std::array<int, 3> other = part;
          other[d] = (part[d] + (upper ? 1 : parts[d] - 1)) % parts[d];
          level.sides[s] = Side::ghost;
          level.neighbour[s] = other[1] + parts[1] * other[2];
        }
      }
    }
    level.block = Block(c.dim, degree, cells);
    return level;
  }

  /// The part of a vector of the whole level that a rank has.
  template <typename Number>
  Vector<Number> part_of(const Vector<Number> &whole, const LevelGrid &level)
  {
    Vector<Number> part(level.block);
    const Block &b = level.block;
    const auto [nx, ny, nz] = b.cells;
    for (std::int64_t cz = 0; cz < nz; ++cz)
      for (std::int64_t cy = 0; cy < ny; ++cy)
        for (std::int64_t cx = 0; cx < nx; ++cx)
          for (int k = 0; k < b.nz(); ++k)
            for (int j = 0; j < b.n; ++j)
              for (int i = 0; i < b.n; ++i)
                part[b.index(cx, cy, cz, i, j, k)] = whole[whole.block().index(
                    cx, cy + level.offset[1], cz + level.offset[2], i, j, k)];
    return part;
  }

  /// Two smoothing steps, forward from zero, then backward.
  template <typename Number>
  Vector<Number> smoothed(
      const LevelGrid &level, const CellBasis &basis, const Vector<Number> &b, SchwarzKind kind)
  {
    LaplaceOperator<Number> op(level, basis, laplace::Backend::cpu);
    PatchSmoother<Number> smoother(op, kind, 2, 0.);
    Vector<Number> x = op.make_vector(), work = op.make_vector();
    smoother.smooth(x, b, work, true, true);
    smoother.smooth(x, b, work, false, false);
    return x;
  }

  template <typename Number>
  void compare(double tolerance)
  {
    int rank = 0, n_ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    const int degree = 2;
    const CellBasis basis = make_cell_basis(degree);
    for (const Case &c : cases)
      for (int parts_z = 1; parts_z <= n_ranks; ++parts_z)
      {
        const std::array<int, 3> parts{1, n_ranks / parts_z, parts_z};
        if (n_ranks % parts_z != 0 || parts[1] > c.cells[1] || parts_z > c.cells[2])
          continue;
        SCOPED_TRACE(testing::Message() << "dim " << c.dim << " cells " << c.cells[1] << "x"
                                        << c.cells[2] << " parts " << parts[1] << "x" << parts[2]);
        const LevelGrid whole = make_level(c, degree, {1, 1, 1}, 0, MPI_COMM_SELF);
        const LevelGrid part = make_level(c, degree, parts, rank, MPI_COMM_WORLD);
        const auto b = test::random_vector<Number>(whole.block, 1);
        for (const SchwarzKind kind : {SchwarzKind::multiplicative, SchwarzKind::additive})
        {
          const Vector<Number> expected = smoothed(whole, basis, b, kind);
          const Vector<Number> found = smoothed(part, basis, part_of(b, part), kind);
          EXPECT_LT(test::relative_difference(found, part_of(expected, part)), tolerance);
          EXPECT_TRUE(test::padding_is_zero(found));
        }
      }
  }

  TEST(PatchRanks, DoubleEqualsOneRank) { compare<double>(1e-12); }

  TEST(PatchRanks, SingleEqualsOneRank) { compare<float>(1e-4); }

  TEST(PatchRanks, HalfEqualsOneRank) { compare<Half>(3e-2); }
} // namespace
} // namespace tensormg

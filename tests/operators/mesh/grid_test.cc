// The levels of a box and their partition: every cell once, neighbours agree, borders nested.
// ranks: 1 2 3 4 5 8
#include "operators/mesh/grid.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/boxes.h"

namespace tensormg
{
namespace
{
  using Cells = std::array<std::int64_t, 3>;

  struct Case
  {
    int dim;
    int degree;
    Cells coarse;
    int refinements;
    const char *boundary;
  };

  const Case cases[] = {
      {2, 1, {1, 1, 1}, 0, "DD"}, {2, 3, {2, 1, 1}, 4, "DNPP"}, {2, 2, {1, 5, 1}, 2, "PPNN"},
      {2, 4, {1, 1, 1}, 8, "PP"}, {3, 2, {1, 1, 1}, 0, "DN"}, {3, 3, {1, 1, 1}, 4, "DDNDPP"},
      {3, 1, {2, 3, 1}, 3, "PPPPDN"}, {3, 2, {1, 2, 7}, 2, "NN"}, {3, 1, {3, 7, 5}, 0, "PP"},
      {3, 5, {1, 1, 3}, 3, "DD"}, {3, 3, {24, 3, 1}, 2, "DDNNPP"}, // stretched: x is short
      {3, 2, {2, 1, 16}, 3, "DNNNPP"},                             // z is
  };

  /// What the other ranks need to know of a block.
  struct Piece
  {
    Cells offset, cells;
    std::array<std::int64_t, 6> sides, neighbour;
  };

  std::vector<Piece> all_pieces(const LevelGrid &level, int n_ranks)
  {
    Piece mine{level.offset, level.block.cells, {}, {}};
    for (int s = 0; s < 6; ++s)
    {
      mine.sides[s] = static_cast<std::int64_t>(level.sides[s]);
      mine.neighbour[s] = level.neighbour[s];
    }
    std::vector<Piece> pieces(n_ranks);
    MPI_Allgather(
        &mine, sizeof(Piece), MPI_BYTE, pieces.data(), sizeof(Piece), MPI_BYTE, MPI_COMM_WORLD);
    return pieces;
  }

  void expect_every_cell_once(const LevelGrid &level, const std::vector<Piece> &pieces)
  {
    std::map<Cells, int> count;
    for (const Piece &p : pieces)
      for (std::int64_t z = 0; z < p.cells[2]; ++z)
        for (std::int64_t y = 0; y < p.cells[1]; ++y)
          for (std::int64_t x = 0; x < p.cells[0]; ++x)
            ++count[{p.offset[0] + x, p.offset[1] + y, p.offset[2] + z}];
    const Cells &global = level.global_cells;
    EXPECT_EQ(static_cast<std::int64_t>(count.size()), global[0] * global[1] * global[2]);
    for (const auto &[cell, times] : count)
    {
      ASSERT_EQ(times, 1) << cell[0] << ' ' << cell[1] << ' ' << cell[2];
      for (int d = 0; d < 3; ++d)
        ASSERT_TRUE(cell[d] >= 0 && cell[d] < global[d]);
    }
  }

  /// Sides of the box have the problem's kind; at all others the neighbour lies on the other side
  /// of the face and says the same of this block.
  void expect_sides(
      const Problem &problem, const LevelGrid &level, const std::vector<Piece> &pieces)
  {
    for (std::size_t r = 0; r < pieces.size(); ++r)
      for (int s = 0; s < 2 * problem.dim; ++s)
      {
        const Piece &p = pieces[r];
        const int d = s / 2;
        const bool upper = s % 2 == 1;
        const Side side = static_cast<Side>(p.sides[s]);
        const std::int64_t border = upper ? p.offset[d] + p.cells[d] : p.offset[d];
        const bool at_end = border == (upper ? level.global_cells[d] : 0);
        if (at_end && problem.boundary[s] == BoundaryKind::dirichlet)
          EXPECT_EQ(side, Side::dirichlet);
        else if (at_end && problem.boundary[s] == BoundaryKind::neumann)
          EXPECT_EQ(side, Side::neumann);
        else if (d == 0)
          EXPECT_EQ(side, Side::wrap);
        else
        {
          ASSERT_EQ(side, Side::ghost) << "rank " << r << ", side " << s;
          const std::int64_t other = p.neighbour[s];
          ASSERT_TRUE(other >= 0 && other < static_cast<std::int64_t>(pieces.size()));
          const Piece &q = pieces[other];
          EXPECT_EQ(q.neighbour[s ^ 1], static_cast<std::int64_t>(r));
          EXPECT_EQ(static_cast<Side>(q.sides[s ^ 1]), Side::ghost);
          const std::int64_t facing = upper ? q.offset[d] : q.offset[d] + q.cells[d];
          EXPECT_EQ((facing - border) % level.global_cells[d], 0);
          for (int e = 0; e < 3; ++e)
            EXPECT_TRUE(e == d || (p.offset[e] == q.offset[e] && p.cells[e] == q.cells[e]));
        }
      }
  }

  TEST(Grid, PartitionIsOne)
  {
    int n_ranks = 1, rank = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (const Case &c : cases)
    {
      SCOPED_TRACE(testing::Message()
          << "dim " << c.dim << ", coarse cells " << c.coarse[0] << " x " << c.coarse[1] << " x "
          << c.coarse[2] << ", refinements " << c.refinements << ", " << c.boundary);
      const Problem problem = test::box(c.dim, c.degree, c.coarse, c.refinements, c.boundary);
      const Grid grid = make_grid(problem, MPI_COMM_WORLD);
      EXPECT_EQ(grid.rank, rank);
      EXPECT_EQ(grid.n_ranks, n_ranks);
      const std::vector<LevelShape> shapes = level_shapes(problem);
      ASSERT_EQ(grid.levels.size(), shapes.size());
      for (std::size_t l = 0; l < shapes.size(); ++l)
      {
        SCOPED_TRACE(testing::Message() << "level " << l);
        const LevelGrid &level = grid.levels[l];
        EXPECT_EQ(level.block, Block(c.dim, c.degree, level.block.cells));
        std::int64_t dofs = level.block.dofs_per_cell();
        for (int d = 0; d < 3; ++d)
        {
          EXPECT_EQ(level.global_cells[d], shapes[l].cells[d]);
          EXPECT_TRUE(!level.exact[d] || level.block.cells[d] == level.global_cells[d])
              << "an exact direction is whole on every rank";
          EXPECT_EQ(level.axis[d].lower(), d < c.dim ? problem.lower[d] : 0.);
          const double length = d < c.dim ? problem.upper[d] - problem.lower[d] : 1.;
          EXPECT_NEAR(
              level.mean_cell_size(d) * static_cast<double>(level.global_cells[d]), length, 1e-13);
          dofs *= level.global_cells[d];
        }
        EXPECT_EQ(level.global_dofs(), dofs);

        const bool shared = n_ranks > 1 && !level.replicated;
        EXPECT_EQ(level.communicator == MPI_COMM_SELF, !shared);
        std::vector<Piece> pieces = all_pieces(level, n_ranks);
        if (!shared)
        {
          // Every rank holds everything and is its own neighbour.
          for (const Piece &p : pieces)
          {
            EXPECT_EQ(p.cells, level.global_cells);
            EXPECT_EQ(p.offset, Cells({0, 0, 0}));
          }
          for (int s = 0; s < 6; ++s)
            EXPECT_EQ(level.neighbour[s], level.sides[s] == Side::ghost ? rank : -1);
          pieces.resize(1);
          pieces[0] = {level.offset, level.block.cells, pieces[0].sides, {}};
        }
        expect_every_cell_once(level, pieces);
        expect_sides(problem, level, pieces);

        if (l > 0)
        {
          const LevelGrid &coarser = grid.levels[l - 1];
          EXPECT_FALSE(level.replicated && !coarser.replicated)
              << "coarse levels are replicated first";
          if (shared)
            for (int d = 0; d < c.dim; ++d)
            {
              const std::int64_t ratio = level.global_cells[d] / coarser.global_cells[d];
              EXPECT_EQ(level.offset[d] % ratio, 0);
              EXPECT_EQ(level.block.cells[d] % ratio, 0);
              if (!coarser.replicated) // a rank owns the children of its own cells
              {
                EXPECT_EQ(level.offset[d], ratio * coarser.offset[d]);
                EXPECT_EQ(level.block.cells[d], ratio * coarser.block.cells[d]);
              }
            }
        }
      }
    }
  }

  /// As "16x1x4(xz) 16x2x4": coarsest first, in parentheses the exact directions.
  std::string shapes_of(int dim, Cells coarse, int refinements, std::array<double, 3> lengths)
  {
    Problem problem = test::cubes(dim, 1, coarse, refinements, "DD");
    problem.lower = {3., -2., 1.};
    for (int d = 0; d < dim; ++d)
      problem.upper[d] = problem.lower[d] + lengths[d];
    std::string text;
    for (const LevelShape &shape : level_shapes(problem))
    {
      text += text.empty() ? "" : " ";
      for (int d = 0; d < dim; ++d)
        text += (d > 0 ? "x" : "") + std::to_string(shape.cells[d]);
      std::string exact;
      for (int d = 0; d < dim; ++d)
        if (shape.exact[d])
          exact += "xyz"[d];
      text += exact.empty() ? "" : "(" + exact + ")";
    }
    return text;
  }

  TEST(LevelShapes, CubesAreHalvedInAllDirections)
  {
    EXPECT_EQ(shapes_of(3, {1, 1, 1}, 3, {1., 1., 1.}), "1x1x1 2x2x2 4x4x4 8x8x8");
    EXPECT_EQ(shapes_of(2, {3, 5, 1}, 2, {3., 5., 1.}), "3x5 6x10 12x20");
    EXPECT_EQ(shapes_of(2, {3, 3, 1}, 2, {1., 1.49, 1.}), "3x3 6x6 12x12") << "about cubes";
    EXPECT_EQ(shapes_of(3, {7, 5, 3}, 0, {7., 5., 3.}), "7x5x3") << "nothing to halve";
    EXPECT_EQ(shapes_of(3, {8, 8, 8}, 0, {1., 1., 1.}), "8x8x8") << "coarse_cells is the end";
    EXPECT_EQ(shapes_of(2, {1, 1, 1}, 0, {1., 1000., 1.}), "1x1");
  }

  TEST(LevelShapes, ShortDirectionsAreHalvedFirst)
  {
    EXPECT_EQ(shapes_of(2, {1, 1, 1}, 2, {1., 1.6, 1.}), "1x1 1x2 2x4 4x4");
    EXPECT_EQ(shapes_of(2, {1, 1, 1}, 4, {1., 4., 1.}), "1x1 1x2(x) 1x4 2x8 4x16 8x16 16x16");
    EXPECT_EQ(shapes_of(2, {1, 1, 1}, 4, {1., 1000., 1.}),
        "1x1 1x2(x) 1x4(x) 1x8(x) 1x16(x) 2x16 4x16 8x16 16x16");
    EXPECT_EQ(shapes_of(3, {1, 1, 1}, 3, {1., 1., 0.01}),
        "1x1x1 2x2x1(z) 4x4x1(z) 8x8x1(z) 8x8x2 8x8x4 8x8x8");
    EXPECT_EQ(shapes_of(3, {1, 1, 1}, 2, {1., 10., 100.}),
        "1x1x1 1x1x2(xy) 1x1x4(xy) 1x2x4(x) 1x4x4(x) 2x4x4 4x4x4");
    EXPECT_EQ(
        shapes_of(3, {8, 8, 8}, 1, {1., 1., 0.1}), "8x8x1 8x8x2 16x16x2 16x16x4 16x16x8 16x16x16")
        << "the others go down to coarse_cells only";
    EXPECT_EQ(shapes_of(3, {1000, 1, 1}, 0, {1., 1., 1.}), "125x1x1 250x1x1 500x1x1 1000x1x1");
  }

  TEST(LevelShapes, OddNumbersOfShortCellsAreExact)
  {
    EXPECT_EQ(shapes_of(3, {1, 1, 3}, 2, {1., 1., 0.01}), "1x1x3 2x2x3(z) 4x4x3(z) 4x4x6 4x4x12");
    EXPECT_EQ(shapes_of(3, {7, 1, 2}, 0, {1., 1., 1.}), "7x1x1 7x1x2(x)");
    EXPECT_EQ(shapes_of(2, {3, 1, 1}, 2, {0.01, 1., 1.}), "3x1 3x2(x) 3x4(x) 6x4 12x4");
  }

  TEST(Grid, UsesTheRanksWhereItCan)
  {
    int n_ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    const Grid large = make_grid(test::cubes(3, 3, {1, 1, 1}, 5, "DD"), MPI_COMM_WORLD);
    EXPECT_FALSE(large.finest().replicated);
    EXPECT_EQ(large.ranks_per_direction[1] * large.ranks_per_direction[2], n_ranks);
    // No rank holds more than its share and a layer.
    const Cells cells = large.finest().block.cells;
    EXPECT_LE(cells[0] * cells[1] * cells[2], 32 * 32 * 32 / n_ranks * 3 / 2);
    EXPECT_EQ(large.levels.front().replicated, n_ranks > 1);
    const Grid single = make_grid(test::cubes(3, 3, {4, 1, 1}, 0, "DD"), MPI_COMM_WORLD);
    EXPECT_EQ(single.finest().replicated, n_ranks > 1) << "fewer cells in y and z than ranks";
  }

  // On devices: layers, where there are enough, and small levels on every rank.
  TEST(Grid, DividesAsItIsTold)
  {
    int n_ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (n_ranks == 1)
      return;
    const Problem problem = test::cubes(3, 1, {2, 2, 2 * n_ranks}, 4, "DD");
    const Grid layers = make_grid(problem, MPI_COMM_WORLD, {0, 32});
    EXPECT_EQ(layers.ranks_per_direction, (std::array<int, 3>{1, 1, n_ranks}));
    EXPECT_FALSE(layers.levels[3].replicated);
    const Grid few = make_grid(problem, MPI_COMM_WORLD, {0, 33}),
               usual = make_grid(problem, MPI_COMM_WORLD);
    EXPECT_EQ(few.ranks_per_direction, usual.ranks_per_direction);
    const std::int64_t of_second = layers.levels[3].global_dofs();
    const Grid replicated = make_grid(problem, MPI_COMM_WORLD, {of_second, 32});
    EXPECT_TRUE(replicated.levels[3].replicated);
    EXPECT_FALSE(replicated.finest().replicated);
    EXPECT_EQ(replicated.levels[3].block.cells, replicated.levels[3].global_cells);
    EXPECT_EQ(replicated.finest().offset[2] % 2, 0);
    EXPECT_TRUE(make_grid(problem, MPI_COMM_WORLD, {layers.finest().global_dofs(), 32})
                    .finest()
                    .replicated);
  }

  TEST(Grid, NumbersAreDimensionless)
  {
    const Problem problem = test::box(3, 2, {3, 1, 2}, 1, "DD");
    const LevelGrid level = make_grid(problem, MPI_COMM_SELF).levels[1];
    const std::array<double, 3> h{2.25 / 6., 0.75 / 2., 1.5 / 4.};
    EXPECT_NEAR(level.reference_length(), 0.375, 1e-15);
    for (int d = 0; d < 3; ++d)
      EXPECT_NEAR(level.direction_factors()[d], 0.375 * 0.375 / (h[d] * h[d]), 1e-14);
    const LevelGrid flat = make_grid(test::box(2, 2, {1, 1, 1}, 3, "DD"), MPI_COMM_SELF).levels[0];
    EXPECT_NEAR(flat.reference_length(), 0.75, 1e-15);
    EXPECT_NEAR(flat.direction_factors()[0], 1. / 9., 1e-14);
    EXPECT_NEAR(flat.direction_factors()[1], 1., 1e-14);
    EXPECT_EQ(flat.direction_factors()[2], 0.) << "2D has no third direction";
  }

  TEST(Grid, CountsBeyond32Bits)
  {
    const Grid grid = make_grid(test::cubes(3, 7, {1, 1, 1}, 12, "DD"), MPI_COMM_SELF);
    EXPECT_EQ(grid.finest().global_dofs(), std::int64_t(1) << 45);
    EXPECT_EQ(grid.finest().block.size(), std::int64_t(1) << 45);
  }
} // namespace
} // namespace tensormg

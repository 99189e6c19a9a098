// Blocks divided among ranks have the operators, smoothers and transfers of one rank, and their solves its solution.
//
// ranks: 1 2 3 4
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "operators/block_multigrid/block_family.h"
#include "operators/block_solver/block_solver.h"
#include "operators/blocks/periodic.h"
#include "operators/division/block_division.h"
#include "tests/operators/pointwise/setting.h"

namespace tensormg
{
namespace
{
  using test::Numbers;
  using test::Point;
  using test::Setting;

  int n_ranks()
  {
    int n = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    return n;
  }

  Setting split(const Setting &s)
  {
    Setting result = s;
    result.blocks = split_blocks(s.blocks);
    result.geometry = s.geometry.split();
    result.level.per_direction /= 2;
    return result;
  }

  BlockLevels::Options options_of(const Setting &s, MPI_Comm communicator)
  {
    int refinements = 0;
    while (std::int64_t{1} << refinements < s.level.per_direction)
      ++refinements;
    return {.degree = s.degree,
        .mapping_degree = s.level.mapping_degree,
        .refinements = refinements,
        .side = s.kind,
        .communicator = communicator,
        .replicated_dofs = 0};
  }

  /// Of a quarter of a ring with a reaction, whose straight sides are joined.
  Setting sector()
  {
    Setting s = test::generated(2, "quarter_hyper_shell", "0,0 : 0.5 : 1 : 0 : true", 3, 4);
    s.k = [](std::int64_t, const Point &) { return SymmetricTensor{1., 1., 1., 0., 0., 0.}; };
    const RigidMotion motion = motion_between(s.blocks, 2, 3, {"2", "3"});
    join_boundaries(s.blocks, 2, 3, motion, {"2", "3"});
    return s;
  }

  SymmetricTensor of_place(std::int64_t, const Point &x) { return test::tensor(0, x); }

  Setting mapped_box()
  {
    const BlockMesh mesh = make_block_mesh(box_cells(3, {1, 1, 1}, {0., 0., 0.}, {1., 1., 1.}));
    const BlockGeometry geometry = BlockGeometry(mesh).moved([](std::vector<Point> &points) {
      for (Point &x : points)
        x = {x[0] + 0.1 * std::sin(3. * x[1]), x[1] + 0.1 * x[2] * x[2], x[2] * (1. + 0.2 * x[0])};
    });
    return {mesh, geometry, {8, 2}, 2, of_place};
  }

  Setting with_closed_sides(Setting s)
  {
    s.kind = [](int boundary) { return boundary == 0 ? Side::neumann : Side::dirichlet; };
    s.reaction = [](std::int64_t, int, const std::vector<Point> &points) {
      std::vector<double> c;
      for (const Point &x : points)
        c.push_back(2. + x[0] + x[1] * x[2]);
      return c;
    };
    s.robin = [](std::int64_t, int boundary, const std::vector<Point> &points) {
      return std::vector<double>(points.size(), 3. + boundary);
    };
    return s;
  }

  std::vector<Setting> settings()
  {
    std::vector<Setting> result{test::generated(2, "hyper_shell", "0,0 : 0.5 : 1 : 5 : true", 3, 8),
        test::generated(3, "hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true", 2, 4),
        test::generated(3, "hyper_ball", "0,0,0 : 1 : false", 2, 4), sector(), mapped_box()};
    for (Setting &s : result)
      s.k = of_place;
    result.push_back(with_closed_sides(result[2]));
    for (Setting &s : result)
    {
      s = split(s);
      const std::vector<std::int64_t> order = order_along_curve(s.blocks);
      s.blocks = reordered(s.blocks, order);
      s.geometry = s.geometry.reordered(order);
    }
    return result;
  }

  /// What this rank has of a vector of one rank.
  Vector<double> part_of(const Vector<double> &whole, const LevelGrid &grid)
  {
    Vector<double> part(grid.block);
    const Block &from = whole.block();
    for (std::int64_t row = 0; row < part.size() / grid.block.pitch; ++row)
      for (std::int64_t cx = 0; cx < grid.block.cells[0]; ++cx)
        part[row * grid.block.pitch + cx] = whole[row * from.pitch + grid.offset[0] + cx];
    return part;
  }

  double distance(const Vector<double> &x, const Vector<double> &y, const VectorSpace &space)
  {
    Vector<double> difference = space.make_vector();
    space.axpby(1., x, 0., difference);
    space.axpby(-1., y, 1., difference);
    return space.norm(difference) / space.norm(y);
  }

  TEST(BlockRanks, SplitBlocksHaveTheSameOperator)
  {
    for (const Setting &s : {test::generated(3, "hyper_ball", "0,0,0 : 1 : false", 2, 2),
             test::generated(2, "hyper_ball", "0,0 : 1 : false", 3, 4), sector(), mapped_box()})
    {
      Setting before = s;
      before.k = of_place;
      const Setting after = split(before);
      const std::int64_t n = after.level.per_direction,
                         per_cell =
                             before.level.cells(before.geometry, before.degree).dofs_per_cell();
      // Where in the order of `after` the cells of `before` are.
      std::vector<std::int64_t> places;
      test::for_cells(before, [&](std::int64_t b, const std::array<std::int64_t, 3> &cell) {
        std::int64_t block = b << s.blocks.dim, inside = 0;
        for (int d = s.blocks.dim - 1; d >= 0; --d)
        {
          block += cell[d] / n << d;
          inside = inside * n + cell[d] % n;
        }
        places.push_back(block * static_cast<std::int64_t>(std::pow(n, s.blocks.dim)) + inside);
      });
      const Numbers u = test::random_numbers(before, 3);
      const auto reorder = [&](const Numbers &from, bool back) {
        Numbers to(from.size());
        for (std::size_t c = 0; c < places.size(); ++c)
          for (std::int64_t i = 0; i < per_cell; ++i)
          {
            const auto here = c * static_cast<std::size_t>(per_cell) + static_cast<std::size_t>(i),
                       there = static_cast<std::size_t>(places[c] * per_cell + i);
            to[back ? here : there] = from[back ? there : here];
          }
        return to;
      };
      EXPECT_LT(test::relative_difference(reorder(test::applied(after, reorder(u, false)), true),
                    test::applied(before, u)),
          1e-12);
    }
  }

  TEST(BlockRanks, OperatorsAndSmoothers)
  {
    for (const Setting &s : settings())
    {
      const BlockLevels one(s.blocks, s.geometry, s.data(), options_of(s, MPI_COMM_SELF)),
          all(s.blocks, s.geometry, s.data(), options_of(s, MPI_COMM_WORLD));
      EXPECT_EQ(all.is_distributed(), n_ranks() > 1);
      ASSERT_EQ(all.levels().size(), one.levels().size());
      const MultigridOptions cells{.relaxation = Relaxation::cells};
      const BlockFamily<> of_one(one, cells), of_all(all, cells);
      for (std::size_t l = 0; l < one.levels().size(); ++l)
      {
        const LevelGrid &grid = all.levels()[l].grid;
        const VectorSpace space = of_all.make_space(l);
        EXPECT_EQ(all.levels()[l].scale, one.levels()[l].scale);
        EXPECT_LT(
            distance(all.levels()[l].diagonal, part_of(one.levels()[l].diagonal, grid), space),
            1e-13);
        const auto x = of_one.make_start_vector(l);
        Vector<double> y(x.block()), z(grid.block);
        const auto op = of_one.make_operator<double>(l), other = of_all.make_operator<double>(l);
        op->vmult(y, x);
        other->vmult(z, part_of(x, grid));
        EXPECT_LT(distance(z, part_of(y, grid), space), 1e-13) << "level " << l;
        const auto expect_the_same_step = [&](auto &alone, auto &together) {
          const Vector<double> part = part_of(x, grid);
          alone.chebyshev_step(y, x, nullptr, x, 0.5, 0.7);
          together.chebyshev_step(z, part, nullptr, part, 0.5, 0.7);
          EXPECT_LT(distance(z, part_of(y, grid), space), 1e-13) << "level " << l;
        };
        expect_the_same_step(*op, *other);
        PointwiseOperator<double> with_diagonal(one, l), other_with_diagonal(all, l);
        expect_the_same_step(with_diagonal, other_with_diagonal);
        const auto with_means = [&](const BlockLevels &levels) {
          return PointwiseOperator<double>(
              levels, l, nullptr, std::make_unique<CellMeanKernel<double>>(levels.levels()[l]));
        };
        PointwiseOperator<double> of_means = with_means(one), other_of_means = with_means(all);
        expect_the_same_step(of_means, other_of_means);
        EXPECT_EQ(of_all.cycle_operator().reason, of_one.cycle_operator().reason);
        EXPECT_EQ(of_all.relaxation(l).reason, of_one.relaxation(l).reason);
      }
      for (std::size_t l = 1; l < one.levels().size(); ++l)
      {
        const LevelGrid &fine = all.levels()[l].grid, &coarse = all.levels()[l - 1].grid;
        const auto transfer = of_one.make_transfer<double>(l),
                   other = of_all.make_transfer<double>(l);
        const auto x = of_one.make_start_vector(l);
        Vector<double> y(of_one.block(l - 1)), z(coarse.block), up(x.block()),
            up_of_all(fine.block);
        transfer->restrict_to(y, x, 1.);
        other->restrict_to(z, part_of(x, fine), 1.);
        EXPECT_LT(distance(z, part_of(y, coarse), of_all.make_space(l - 1)), 1e-14);
        transfer->prolongate(up, y, 1., false);
        other->prolongate(up_of_all, z, 1., false);
        EXPECT_LT(distance(up_of_all, part_of(up, fine), of_all.make_space(l)), 1e-14);
      }
    }
  }

  // Lines end where ranks meet.
  TEST(BlockRanks, Solves)
  {
    for (const Setting &s : settings())
      for (const Relaxation relaxation :
          {Relaxation::automatic, Relaxation::diagonal, Relaxation::lines})
      {
        const BlockLevels one(s.blocks, s.geometry, s.data(), options_of(s, MPI_COMM_SELF)),
            all(s.blocks, s.geometry, s.data(), options_of(s, MPI_COMM_WORLD));
        SolverOptions options;
        options.tolerance = 1e-13;
        options.multigrid.relaxation = relaxation;
        const LevelGrid &grid = all.levels().back().grid;
        const Vector<double> b = pseudo_random_vector(one.levels().back().grid);
        Vector<double> x(b.block()), y(grid.block);
        const Vector<double> part = part_of(b, grid);
        const auto of_one = make_block_solver(one, options, x, b),
                   of_all = make_block_solver(all, options, y, part);
        const SolveReport report = of_one->solve(x, b, Start::zero),
                          other = of_all->solve(y, part, Start::zero);
        EXPECT_TRUE(other.converged()) << other.detail;
        EXPECT_NEAR(other.iterations, report.iterations, 2);
        EXPECT_LT(distance(y, part_of(x, grid), of_all->space()), 1e-10);
      }
  }

  // K jumps inside blocks; the vertices are on all ranks.
  TEST(BlockRanks, Vertices)
  {
    Setting s = settings().front();
    s.k = [](std::int64_t, const Point &x) {
      const double k = std::sin(9. * x[0]) * std::sin(9. * x[1]) > 0. ? 1. : 3.;
      return SymmetricTensor{k, k, k, 0., 0., 0.};
    };
    BlockLevels::Options options = options_of(s, MPI_COMM_SELF);
    options.coarsening = Coarsening::vertices;
    const BlockLevels one(s.blocks, s.geometry, s.data(), options);
    options.communicator = MPI_COMM_WORLD;
    const BlockLevels all(s.blocks, s.geometry, s.data(), options);
    EXPECT_EQ(all.levels().front().shared != nullptr, n_ranks() > 1);
    const SparseRows matrix = one.vertices()->matrix(one), other = all.vertices()->matrix(all);
    ASSERT_EQ(other.columns, matrix.columns);
    const double largest = *std::max_element(matrix.values.begin(), matrix.values.end());
    for (std::size_t e = 0; e < matrix.values.size(); ++e)
      EXPECT_NEAR(other.values[e], matrix.values[e], 1e-13 * largest);
    const LevelGrid &grid = all.levels().back().grid;
    const Vector<double> b = pseudo_random_vector(one.levels().back().grid);
    Vector<double> x(b.block()), y(grid.block);
    const Vector<double> part = part_of(b, grid);
    const auto of_one = make_block_solver(one, {}, x, b),
               of_all = make_block_solver(all, {}, y, part);
    const SolveReport report = of_one->solve(x, b, Start::zero),
                      of_ranks = of_all->solve(y, part, Start::zero);
    EXPECT_TRUE(of_ranks.converged()) << of_ranks.detail;
    EXPECT_EQ(of_ranks.iterations, report.iterations);
    EXPECT_LT(distance(y, part_of(x, grid), of_all->space()), 1e-6);
  }

  TEST(BlockRanks, MistakesOfOneRankAreThoseOfAll)
  {
    const Setting s = settings().front();
    const std::int64_t last = s.blocks.n_blocks() - 1;
    const DiffusionTensor k([last](std::int64_t block, const Point &) {
      const double value = block == last ? -1. : 1.;
      return SymmetricTensor{value, value, value, 0., 0., 0.};
    });
    BlockLevels::Options options = options_of(s, MPI_COMM_WORLD);
    EXPECT_THROW(BlockLevels(s.blocks, s.geometry, k, options), CoefficientError);
    int seen = 0;
    const auto fail = [&] {
      int rank = 0;
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      if (rank == n_ranks() - 1)
        throw MeshError("folded");
    };
    try
    {
      act_alike(MPI_COMM_WORLD, fail);
    }
    catch (const MeshError &error)
    {
      EXPECT_STREQ(error.what(), "folded");
      seen = 1;
    }
    EXPECT_EQ(seen, 1);
    EXPECT_THROW(act_alike(MPI_COMM_WORLD,
                     [] {
                       int rank = 0;
                       MPI_Comm_rank(MPI_COMM_WORLD, &rank);
                       if (rank == n_ranks() - 1)
                         throw std::bad_alloc();
                     }),
        std::bad_alloc);
  }

  TEST(BlockRanks, PartsAreAlike)
  {
    EXPECT_TRUE(is_too_coarse(6, 2));
    EXPECT_TRUE(is_too_coarse(9, 2)); // 5 of 4.5
    EXPECT_FALSE(is_too_coarse(8, 2));
    EXPECT_FALSE(is_too_coarse(48, 4));
    EXPECT_EQ(divide_blocks(10, 4), (std::vector<std::int64_t>{0, 2, 5, 7, 10}));
  }
} // namespace
} // namespace tensormg

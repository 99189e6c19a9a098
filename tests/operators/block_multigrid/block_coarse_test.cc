// Multigrid below one cell per block: lower degrees, then continuous linear functions on the blocks.
#include <cmath>
#include <memory>
#include <numbers>
#include <tuple>

#include <gtest/gtest.h>

#include "kernels/vector/vector.h"
#include "operators/block_multigrid/block_family.h"
#include "solvers/cg.h"
#include "solvers/fgmres.h"
#include "tests/operators/multigrid/family_checks.h"
#include "tests/operators/pointwise/setting.h"
#include "tests/support/sanitized.h"

namespace tensormg
{
namespace
{
  using test::rounding;

  SymmetricTensor one(std::int64_t /*block*/, const test::Point & /*x*/)
  {
    return {1., 1., 1., 0., 0., 0.};
  }

  struct Mesh
  {
    BlockMesh blocks;
    BlockGeometry geometry;
  };

  Mesh moved_box(int dim, std::int64_t n)
  {
    const BlockMesh blocks = make_block_mesh(box_cells(dim, {n, n, n}, {0., 0., 0.}, {1., 1., 1.}));
    const auto moved = [dim](const test::Point &x) {
      double by = 0.06;
      for (int d = 0; d < dim; ++d)
        by *= std::sin(2. * std::numbers::pi * x[d]);
      return test::Point{x[0] + by, x[1] + by, x[2] + by};
    };
    return {blocks, BlockGeometry(blocks).mapped(6, moved)};
  }

  Mesh shell(int dim, int cells)
  {
    auto mesh = generate_mesh(dim, "hyper_shell",
        (dim == 3 ? "0,0,0 : 0.5 : 1 : " : "0,0 : 0.5 : 1 : ") + std::to_string(cells) + " : false",
        6);
    return {std::move(mesh.blocks), std::move(mesh.geometry)};
  }

  BlockLevels::Options options_of(int degree, int refinements)
  {
    return {.degree = degree, .mapping_degree = degree, .refinements = refinements};
  }

  TEST(BlockDegrees, GoDownToTheDenseSolver)
  {
    using Degrees = std::vector<int>;
    EXPECT_EQ(degrees_of_blocks(3, 3, 7), (Degrees{3}));
    EXPECT_EQ(degrees_of_blocks(3, 5, 7), (Degrees{2, 5}));
    EXPECT_EQ(degrees_of_blocks(3, 5, 96), (Degrees{1, 2, 5}));
    EXPECT_EQ(degrees_of_blocks(3, 8, 1000), (Degrees{1, 2, 4, 8}));
    EXPECT_EQ(degrees_of_blocks(2, 1, 1000), (Degrees{1}));
    EXPECT_EQ(degrees_of_blocks(2, 3, 94), (Degrees{1, 3}));
    EXPECT_EQ(degrees_of_blocks(2, 3, 93), (Degrees{3}));
  }

  template <typename Number>
  class LowerDegrees : public testing::Test
  {};
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(LowerDegrees, Numbers);

  TYPED_TEST(LowerDegrees, AreAFamily)
  {
    for (const auto &[mesh, degree, refinements, size] : {std::tuple{moved_box(2, 20), 3, 1, 3u},
             {moved_box(3, 6), 3, 0, 2u}, {shell(3, 96), 2, 1, 3u}, {moved_box(3, 6), 1, 1, 2u}})
    {
      const BlockLevels levels(
          mesh.blocks, mesh.geometry, test::tensor, options_of(degree, refinements));
      const BlockFamily<> family(levels);
      EXPECT_EQ(family.size(), size);
      for (std::size_t l = 0; l < family.size(); ++l)
        test::check_operator<TypeParam>(family, l, true, rounding<TypeParam>);
      for (std::size_t l = 1; l < family.size(); ++l)
        test::check_transfer<TypeParam>(family, l, rounding<TypeParam>);
      test::check_cycles<TypeParam>(family, {}, 0.4);
      test::check_cycles<TypeParam>(family, {.cycle = Cycle::w}, 0.4);
    }
  }

  /// (C x, y) = (x, C y), and C is about B^-1.
  void expect_symmetric_coarse_solver(const BlockLevels &levels, double accuracy)
  {
    const BlockFamily<> family(levels);
    const auto solver = family.make_coarse_solver<double>(0);
    const test::FamilyLevel<double, BlockFamily<>> level(family, 0, true);
    auto x = level.rounded(level.random), y = level.another();
    if (levels.is_singular())
      for (auto *v : {&x, &y})
      {
        auto constant = level.op->make_vector();
        vector_kernels::add_constant(
            family.block(0), levels.levels()[0].basis, 1., constant.data());
        level.space.axpby(
            -level.space.dot(constant, *v) / level.space.dot(constant, constant), constant, 1., *v);
      }
    auto cx = level.op->make_vector(), cy = level.op->make_vector(), b = level.op->make_vector();
    solver->solve(cx, x);
    solver->solve(cy, y);
    EXPECT_NEAR(level.product(cx, y), level.product(x, cy),
        1e-9 * std::sqrt(level.product(cx, cx) * level.product(y, y)));
    EXPECT_GT(level.product(cx, x), 0.);
    level.op->vmult(b, x);
    solver->solve(cx, b);
    EXPECT_LT(level.difference(cx, x), accuracy);
    // The same each time.
    solver->solve(cy, b);
    EXPECT_EQ(level.difference(cx, cy), 0.);
  }

  TEST(VertexCoarseSolver, IsSymmetricAndTheSameEachTime)
  {
    for (const Side kind : {Side::dirichlet, Side::neumann})
      for (const Mesh &mesh : {moved_box(2, 20), moved_box(3, 6), moved_box(3, 13), shell(3, 384)})
      {
        BlockLevels::Options options = options_of(1, 0);
        options.side = [kind](int) { return kind; };
        const BlockLevels levels(mesh.blocks, mesh.geometry, one, options);
        ASSERT_NE(levels.vertices(), nullptr);
        expect_symmetric_coarse_solver(levels, 0.2);
      }
  }

  TEST(VertexCoarseSolver, IsNamed)
  {
    const Mesh mesh = moved_box(3, 6);
    const auto text = [](const Mesh &of, int degree) {
      return BlockLevels(of.blocks, of.geometry, one, options_of(degree, 0)).coarse_text();
    };
    EXPECT_EQ(text(mesh, 3), "degrees 3, 1 and 125 vertices, dense direct solver");
    EXPECT_EQ(text(mesh, 1), "degree 1 and 125 vertices, dense direct solver");
    EXPECT_EQ(text(moved_box(3, 2), 2), "degree 2, 216 unknowns, dense direct solver");
    EXPECT_EQ(text(shell(3, 384), 2),
        "degrees 2, 1, smoothing alone, since all vertices are on Dirichlet sides");
  }

  /// Of FGMRES to 1e-8 for a right-hand side without a structure.
  template <typename Number, typename Solver = Fgmres<VectorSpace>>
  int iterations(const BlockLevels &levels)
  {
    const BlockFamily<> family(levels);
    const std::size_t finest = family.size() - 1;
    MultigridImplementation<BlockFamily<>, Number> multigrid(family, {}, {});
    const VectorSpace space = family.make_space(finest);
    const auto op = family.make_operator<double>(finest);
    auto b = family.make_start_vector(finest), x = space.make_vector();
    if (levels.is_singular())
    {
      auto constant = space.make_vector();
      vector_kernels::add_constant(family.block(finest), levels.basis(), 1., constant.data());
      space.axpby(-space.dot(constant, b) / space.dot(constant, constant), constant, 1., b);
    }
    const auto solver = [&] {
      if constexpr (std::is_same_v<Solver, Fgmres<VectorSpace>>)
        return Solver(space, 1e-8, 100, 50);
      else
        return Solver(space, 1e-8, 100);
    };
    const SolveReport report = solver().solve(*op, multigrid, x, b);
    EXPECT_TRUE(report.converged()) << report.detail;
    return report.iterations;
  }

  struct Case
  {
    int degree, refinements, most;
  };

  void expect_iterations(const Mesh &mesh, const std::vector<Case> &cases)
  {
    for (const Case &c : cases)
    {
      SCOPED_TRACE(
          testing::Message() << "degree " << c.degree << ", refinements " << c.refinements);
      const BlockLevels levels(
          mesh.blocks, mesh.geometry, one, options_of(c.degree, c.refinements));
      EXPECT_LE(iterations<float>(levels), c.most);
    }
  }

  // Of the same mesh refined with an exact coarse solver: 6, 7, 8, 9 for degrees 1 to 4.
  TEST(BelowBlocks, MovedCubes)
  {
    if (test::is_sanitized)
      return;
    expect_iterations(moved_box(3, 12), {{1, 0, 5}, {2, 0, 7}, {3, 0, 9}, {1, 1, 6}});
    expect_iterations(moved_box(3, 7), {{4, 0, 8}, {5, 0, 11}, {2, 1, 7}, {3, 1, 8}, {4, 1, 9}});
  }

  TEST(BelowBlocks, MovedSquares)
  {
    if (test::is_sanitized)
      return;
    const Mesh mesh = moved_box(2, 40);
    expect_iterations(mesh,
        {{1, 0, 5}, {2, 0, 7}, {3, 0, 8}, {4, 0, 8}, {5, 0, 9}, {1, 1, 6}, {2, 1, 6}, {3, 1, 7},
            {4, 1, 8}, {5, 1, 9}});
  }

  // Of 96 blocks on which degree 1 is solved directly.
  TEST(BelowBlocks, Shells)
  {
    if (test::is_sanitized)
      return;
    expect_iterations(shell(3, 96),
        {{2, 0, 6}, {3, 0, 8}, {4, 0, 8}, {5, 0, 10}, {1, 1, 6}, {2, 1, 6}, {3, 1, 7}, {4, 1, 8}});
  }

  // In half precision, in double, with cg, and where constants are in the kernel.
  TEST(BelowBlocks, NumbersAndMethods)
  {
    const Mesh mesh = moved_box(3, 6);
    for (const Side kind : {Side::dirichlet, Side::neumann})
      for (const int refinements : {0, 1})
      {
        BlockLevels::Options options = options_of(refinements == 0 ? 3 : 2, refinements);
        options.side = [kind](int) { return kind; };
        const BlockLevels levels(mesh.blocks, mesh.geometry, one, options);
        const int of_double = iterations<double>(levels);
        EXPECT_LE(of_double, kind == Side::neumann ? 10 : 9);
        EXPECT_LE(iterations<float>(levels), of_double);
        EXPECT_LE(iterations<Half>(levels), of_double + 1);
        EXPECT_LE((iterations<double, ConjugateGradients<VectorSpace>>(levels)), of_double + 1);
      }
  }

  // By 1e4: two halves, soft blocks among others, and stiff ones that meet in corners, where they have vertices of their own: tied to each other they take 22.
  TEST(BelowBlocks, CoefficientsThatJump)
  {
    if (test::is_sanitized)
      return;
    constexpr std::int64_t n = 7;
    const BlockMesh mesh = make_block_mesh(box_cells(3, {n, n, n}, {0., 0., 0.}, {1., 1., 1.}));
    const auto halves = [](std::int64_t b) { return b % n < n / 2 ? 1e4 : 1.; };
    const auto soft = [](std::int64_t b) { return b % 5 == 0 ? 1e-4 : 1.; };
    const auto stiff = [](std::int64_t b) { return b % 5 == 0 ? 1e4 : 1.; };
    const auto expect = [&](const auto &k_of, int refinements, int most) {
      const auto k = [&](std::int64_t b, const test::Point & /*x*/) {
        return SymmetricTensor{k_of(b), k_of(b), k_of(b), 0., 0., 0.};
      };
      const BlockLevels levels(mesh, BlockGeometry(mesh), k, options_of(2, refinements));
      EXPECT_LE(iterations<float>(levels), most);
      EXPECT_LE(iterations<Half>(levels), most + most / 2);
    };
    for (const int refinements : {0, 1})
    {
      expect(halves, refinements, 6);
      expect(stiff, refinements, 11);
    }
    expect(soft, 0, 7);
  }

  /// Curved in such a way that degree 2 has it exactly, so that cells end where K does.
  Mesh sheared_box(int dim, std::int64_t n)
  {
    const BlockMesh blocks = make_block_mesh(box_cells(dim, {n, n, n}, {0., 0., 0.}, {1., 1., 1.}));
    const auto moved = [](const test::Point &x) {
      return test::Point{x[0] + 0.4 * x[1] * (1. - x[1]), x[1] + 0.3 * x[2] * (1. - x[2]), x[2]};
    };
    return {blocks, BlockGeometry(blocks).mapped(2, moved)};
  }

  /// k of the number of a cell of the sheared box with n of them per direction, and the sum of its coordinates.
  template <typename K>
  DiffusionTensor of_sheared_cells(std::int64_t n, const K &k)
  {
    return [n, k](std::int64_t, const test::Point &x) {
      const double y = x[1] - 0.3 * x[2] * (1. - x[2]);
      std::int64_t number = 0, sum = 0;
      for (const double at : {x[2], y, x[0] - 0.4 * y * (1. - y)})
      {
        const auto place = static_cast<std::int64_t>(at * static_cast<double>(n));
        number = number * n + place;
        sum += place;
      }
      const double value = k(number, sum);
      return SymmetricTensor{value, value, value, 0., 0., 0.};
    };
  }

  double checkerboard(std::int64_t /*number*/, std::int64_t sum) { return sum % 2 == 0 ? 1e4 : 1.; }
  /// A fifth of the cells is stiff.
  double scattered(std::int64_t number, std::int64_t /*sum*/)
  {
    return vector_kernels::pseudo_random(static_cast<std::uint64_t>(number)) > 0.6 ? 1e4 : 1.;
  }
  /// From 1e-2 to 1e2, logarithms equally likely.
  double random_cells(std::int64_t number, std::int64_t /*sum*/)
  {
    return std::pow(1e2, vector_kernels::pseudo_random(static_cast<std::uint64_t>(number)));
  }

  // With coarser cells the second does not end.
  TEST(InsideBlocks, CoefficientsThatJump)
  {
    if (test::is_sanitized)
      return;
    const auto expect = [](int dim, int refinements, const auto &k, int most) {
      const Mesh mesh = sheared_box(dim, 2);
      BlockLevels::Options options = options_of(2, refinements);
      options.coarsening = Coarsening::automatic;
      const BlockLevels levels(
          mesh.blocks, mesh.geometry, of_sheared_cells(std::int64_t{2} << refinements, k), options);
      EXPECT_TRUE(levels.coarsening().vertices);
      EXPECT_LE(iterations<float>(levels), most) << dim << "D";
    };
    expect(2, 5, checkerboard, 13);
    expect(2, 5, scattered, 14);
    expect(2, 5, random_cells, 11);
    expect(3, 2, checkerboard, 9);
    expect(3, 3, scattered, 13);
    expect(3, 2, random_cells, 11);
  }

  TEST(InsideBlocks, WhatServesThemIsChosen)
  {
    const Mesh mesh = sheared_box(2, 2);
    const auto coarsening = [&](double contrast, const BlockLevels::Options &options) {
      const auto k = [&](std::int64_t, std::int64_t sum) { return sum % 2 == 0 ? contrast : 1.; };
      return BlockLevels(mesh.blocks, mesh.geometry, of_sheared_cells(8, k), options);
    };
    BlockLevels::Options options = options_of(3, 2);
    EXPECT_FALSE(coarsening(20., options).coarsening().vertices);
    options.coarsening = Coarsening::automatic;
    EXPECT_FALSE(coarsening(9., options).coarsening().vertices);
    const BlockLevels levels = coarsening(20., options);
    EXPECT_TRUE(levels.coarsening().vertices);
    EXPECT_EQ(
        levels.coarsening().reason, "the coefficient of neighbours in a block differs by up to 20");
    EXPECT_EQ(levels.coarse_text(), "degrees 3, 1 and 49 vertices, dense direct solver");
    options.has_room_for_vertices = false;
    EXPECT_FALSE(coarsening(20., options).coarsening().vertices);
    options.coarsening = Coarsening::vertices;
    EXPECT_TRUE(coarsening(1., options).coarsening().vertices);
    options.coarsening = Coarsening::vertices_and_lines;
    EXPECT_THROW(coarsening(1., options), std::invalid_argument);
  }
} // namespace
} // namespace tensormg

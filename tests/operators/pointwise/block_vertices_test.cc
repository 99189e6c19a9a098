// The vertices of blocks: how many there are, and that their matrix is the operator between continuous linear functions.
#include "operators/pointwise/block_vertices.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "operators/blocks/periodic.h"
#include "operators/curved/pointwise_operator.h"
#include "operators/pointwise/block_levels.h"
#include "tests/operators/pointwise/setting.h"

namespace tensormg
{
namespace
{
  using test::Setting;

  /// As test::tensor(), by 1e4 more in every third block.
  SymmetricTensor jumping(std::int64_t block, const test::Point &x)
  {
    SymmetricTensor k = test::tensor(block, x);
    for (double &entry : k)
      entry *= block % 3 == 0 ? 1e4 : 1.;
    return k;
  }

  Side only_zero(int boundary) { return boundary == 0 ? Side::dirichlet : Side::neumann; }

  Setting box(int dim, const std::function<Side(int)> &kind)
  {
    const BlockMesh mesh = make_block_mesh(box_cells(dim, {4, 3, 2}, {0., 0., 0.}, {1., 2., 1.5}));
    const auto moved = [](const test::Point &x) {
      return test::Point{
          x[0] + 0.1 * std::sin(3. * x[1]), x[1] + 0.05 * x[0] * x[0], x[2] + 0.1 * x[0]};
    };
    return {mesh, BlockGeometry(mesh).mapped(3, moved), {1, 1}, 1, jumping, kind};
  }

  Setting with_kind(Setting s, const std::function<Side(int)> &kind)
  {
    s.kind = kind;
    return s;
  }

  BlockLevels levels_of(const Setting &s, int refinements)
  {
    return BlockLevels(s.blocks, s.geometry, s.data(),
        {.degree = 1,
            .mapping_degree = 1,
            .refinements = refinements,
            .coarsening = Coarsening::vertices,
            .is_singular = false,
            .side = s.kind});
  }

  /// Two blocks that meet in a corner are stiff.
  Setting opposite_corners()
  {
    const BlockMesh mesh = make_block_mesh(box_cells(3, {2, 2, 2}, {0., 0., 0.}, {1., 1., 1.}));
    const auto k = [](std::int64_t b, const test::Point &x) {
      return b % 7 == 0 ? jumping(0, x) : test::tensor(1, x);
    };
    return {mesh, BlockGeometry(mesh), {1, 1}, 1, k, [](int) { return Side::neumann; }};
  }

  Side neumann(int /*boundary*/) { return Side::neumann; }
  Side dirichlet(int /*boundary*/) { return Side::dirichlet; }

  TEST(BlockVertices, AreCounted)
  {
    const auto count = [](const Setting &s) {
      return BlockVertices(s.blocks.dim, test::links_of(s)).size();
    };
    EXPECT_EQ(count(box(2, neumann)), 5 * 4);
    EXPECT_EQ(count(box(2, only_zero)), 4 * 4);
    EXPECT_EQ(count(box(3, neumann)), 5 * 4 * 3);
    EXPECT_EQ(count(box(3, dirichlet)), 3 * 2 * 1);
    // A square of which one side has a neighbour each, turned in different ways, and a cube likewise.
    const Setting disc = test::generated(2, "hyper_ball", "0,0 : 1 : false", 1, 1),
                  ball = test::generated(3, "hyper_ball", "0,0,0 : 1 : false", 1, 1);
    EXPECT_EQ(count(disc), 4);
    EXPECT_EQ(count(with_kind(disc, neumann)), 8);
    EXPECT_EQ(count(ball), 8);
    EXPECT_EQ(count(with_kind(ball, neumann)), 16);
    EXPECT_EQ(count(test::generated(3, "hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true", 1, 1)), 0);
  }

  // Vertices, and those of the edges, faces and cells of the mesh.
  TEST(BlockVertices, OfCellsOfBlocks)
  {
    const auto count = [](const Setting &s, std::int64_t n) {
      return BlockVertices(s.blocks.dim, test::links_of(s), n).size();
    };
    const Setting disc =
                      with_kind(test::generated(2, "hyper_ball", "0,0 : 1 : false", 1, 1), neumann),
                  ball = with_kind(
                      test::generated(3, "hyper_ball", "0,0,0 : 1 : false", 1, 1), neumann);
    EXPECT_EQ(count(disc, 2), 8 + 12 + 5);
    EXPECT_EQ(count(disc, 4), 8 + 12 * 3 + 5 * 9);
    EXPECT_EQ(count(ball, 2), 16 + 32 + 24 + 7);
    EXPECT_EQ(count(ball, 4), 16 + 32 * 3 + 24 * 9 + 7 * 27);
    EXPECT_EQ(count(with_kind(ball, dirichlet), 2), 8 + 20 + 18 + 7);
    EXPECT_EQ(count(box(2, only_zero), 2), 8 * 7);
  }

  TEST(BlockVertices, StiffCellsThatMeetInACornerHaveTwo)
  {
    const Setting s = opposite_corners();
    const auto size = [&](const std::vector<double> &strengths) {
      return BlockVertices(3, test::links_of(s), 1, strengths).size();
    };
    EXPECT_EQ(size({}), 27);
    EXPECT_EQ(size({9., 1., 1., 1., 1., 1., 1., 8.}), 28);
    EXPECT_EQ(size({1., 1., 9., 1., 1., 8., 1., 1.}), 28);
    EXPECT_EQ(size({9., 1., 1., 1., 1., 1., 1., 4.}), 27);
    EXPECT_EQ(size({9., 8., 1., 1., 1., 1., 1., 8.}), 27) << "in an edge";
    EXPECT_EQ(size({9., 1., 1., 9., 9., 1., 1., 9.}), 27) << "in edges";
    EXPECT_EQ(levels_of(s, 0).vertices()->size(), 28);
    EXPECT_EQ(levels_of(s, 1).vertices()->size(), 126);
  }

  // A square behind whose right side is its left one.
  TEST(BlockVertices, PeriodicSidesJoinThem)
  {
    using laplace::BlockLink;
    const BlockLink closed{Side::neumann, -1, 0, {}, 0};
    EXPECT_EQ(BlockVertices(2,
                  {BlockLink{Side::ghost, 0, 1, {}, 0}, BlockLink{Side::ghost, 0, 0, {}, 0}, closed,
                      closed})
                  .size(),
        2);
    const FaceMap flipped{false, {true, false}};
    EXPECT_EQ(BlockVertices(2,
                  {BlockLink{Side::ghost, 0, 1, flipped, 0},
                      BlockLink{Side::ghost, 0, 0, flipped, 0}, closed, closed})
                  .size(),
        2);
  }

  /// Column by column.
  void expect_galerkin(const Setting &s, int refinements = 0)
  {
    const BlockLevels levels = levels_of(s, refinements);
    ASSERT_NE(levels.vertices(), nullptr);
    const BlockVertices &vertices = *levels.vertices();
    const SparseRows a = vertices.matrix(levels);
    const auto size = static_cast<std::size_t>(vertices.size());
    ASSERT_EQ(a.rows(), vertices.size());
    std::vector<double> dense(size * size, 0.);
    double largest = 0.;
    for (std::size_t row = 0; row < size; ++row)
      for (std::int64_t e = a.begin[row]; e < a.begin[row + 1]; ++e)
      {
        double &entry = dense[row * size + static_cast<std::size_t>(a.columns[e])];
        EXPECT_EQ(entry, 0.) << "twice";
        entry = a.values[e];
        largest = std::max(largest, std::abs(entry));
      }
    PointwiseOperator<double> op(levels, 0);
    const CellBasis &basis = levels.basis();
    auto x = op.make_vector(), y = op.make_vector();
    std::vector<double> unit(size, 0.), column;
    for (std::size_t j = 0; j < size; ++j)
    {
      std::fill_n(x.data(), x.size(), 0.);
      unit[j] = 1.;
      vertices.add_prolonged(basis, x, unit);
      unit[j] = 0.;
      op.vmult(y, x);
      vertices.restrict_to(basis, column, y);
      for (std::size_t i = 0; i < size; ++i)
        EXPECT_NEAR(dense[i * size + j], column[i], 1e-13 * largest) << i << ' ' << j;
    }
  }

  // Left and right are one.
  TEST(BlockVertices, AcrossPeriodicSides)
  {
    for (const int dim : {2, 3})
    {
      Setting s = box(dim, neumann);
      s.geometry = BlockGeometry(s.blocks);
      join_boundaries(
          s.blocks, 0, 1, motion_between(s.blocks, 0, 1, {"left", "right"}), {"left", "right"});
      EXPECT_EQ(BlockVertices(dim, test::links_of(s)).size(), dim == 2 ? 4 * 4 : 4 * 4 * 3);
      for (const int refinements : {0, 1})
        expect_galerkin(s, refinements);
    }
  }

  TEST(BlockVertices, ConstantsAreInTheKernel)
  {
    for (const Setting &s :
        {with_kind(test::generated(3, "hyper_ball", "0,0,0 : 1 : false", 1, 1), neumann),
            opposite_corners()})
    {
      const BlockLevels levels = levels_of(s, 1);
      const SparseRows a = levels.vertices()->matrix(levels);
      for (std::int64_t row = 0; row < a.rows(); ++row)
      {
        double sum = 0., size = 0.;
        for (std::int64_t e = a.begin[row]; e < a.begin[row + 1]; ++e)
        {
          sum += a.values[e];
          size += std::abs(a.values[e]);
        }
        EXPECT_LT(std::abs(sum), 1e-12 * size);
        EXPECT_GT(size, 0.);
      }
    }
  }

  TEST(BlockVertices, TheirMatrixIsThatOfTheOperator)
  {
    for (const int dim : {2, 3})
    {
      expect_galerkin(box(dim, dirichlet));
      expect_galerkin(box(dim, neumann));
      expect_galerkin(test::with_reaction(box(dim, only_zero)));
    }
    for (const auto &kind : {neumann, dirichlet})
      for (const int n : {0, 1})
      {
        expect_galerkin(
            with_kind(test::generated(2, "hyper_ball", "0,0 : 1 : false", 1, 1), kind), 2 * n);
        expect_galerkin(
            with_kind(test::generated(3, "hyper_ball", "0,0,0 : 1 : false", 1, 1), kind), n);
      }
    for (const int refinements : {0, 1})
      expect_galerkin(test::with_reaction(opposite_corners()), refinements);
    expect_galerkin(test::with_reaction(with_kind(
        test::generated(3, "hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true", 1, 1), only_zero)));
  }
} // namespace
} // namespace tensormg

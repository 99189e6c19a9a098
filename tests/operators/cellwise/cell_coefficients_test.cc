// Coefficients that are constant in voxels: exact means, and what is refused. Every rank has a part.
// ranks: 1 2
#include "operators/cellwise/cell_coefficients.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/data/functions.h"
#include "tensormg/voxels.h"

namespace tensormg
{
namespace
{
  Problem box(int dim, std::array<std::int64_t, 3> cells)
  {
    Problem problem;
    problem.dim = dim;
    problem.degree = 1;
    problem.lower = {-0.5, 1., 0.};
    problem.upper = {1., 2., 0.75};
    problem.coarse_cells = cells;
    problem.refinements = 0;
    problem.cell_coefficient[0] = "k";
    problem.coefficient_in_cell = InCell::mean;
    return problem;
  }

  std::vector<double> numbers(const std::array<std::int64_t, 3> &count)
  {
    std::vector<double> result;
    for (std::int64_t i = 0; i < count[0] * count[1] * count[2]; ++i)
      result.push_back(1.5 + std::sin(static_cast<double>(i * i % 101)));
    return result;
  }

  /// By lengths of overlaps.
  double mean(const std::array<std::int64_t, 3> &cells, const std::array<std::int64_t, 3> &voxels,
      const std::vector<double> &k, const std::array<std::int64_t, 3> &cell)
  {
    const auto overlap = [&](int d, std::int64_t v) {
      const double cell_size = 1. / double(cells[d]), voxel_size = 1. / double(voxels[d]);
      return std::max(0.,
                 std::min(double(cell[d] + 1) * cell_size, double(v + 1) * voxel_size) -
                     std::max(double(cell[d]) * cell_size, double(v) * voxel_size)) /
          cell_size;
    };
    double sum = 0.;
    for (std::int64_t z = 0; z < voxels[2]; ++z)
      for (std::int64_t y = 0; y < voxels[1]; ++y)
        for (std::int64_t x = 0; x < voxels[0]; ++x)
          sum += overlap(0, x) * overlap(1, y) * overlap(2, z) *
              k[static_cast<std::size_t>((z * voxels[1] + y) * voxels[0] + x)];
    return sum;
  }

  void expect_means(int dim, std::array<std::int64_t, 3> cells, std::array<std::int64_t, 3> voxels)
  {
    SCOPED_TRACE(testing::Message() << testing::PrintToString(cells) << " cells, "
                                    << testing::PrintToString(voxels) << " voxels");
    Problem problem = box(dim, cells);
    const std::vector<double> k = numbers(voxels);
    set_voxels(problem, "k", voxels, k);
    Grid grid = make_grid(problem, MPI_COMM_WORLD);
    add_cell_coefficients(grid, make_cell_basis(1));
    const LevelGrid &level = grid.finest();
    for (std::int64_t cz = 0; cz < level.block.cells[2]; ++cz)
      for (std::int64_t cy = 0; cy < level.block.cells[1]; ++cy)
        for (std::int64_t cx = 0; cx < level.block.cells[0]; ++cx)
          EXPECT_NEAR(level.cells->k[0](cx, cy, cz),
              mean(cells, voxels, k,
                  {cx + level.offset[0], cy + level.offset[1], cz + level.offset[2]}),
              1e-13);
  }

  TEST(CellCoefficients, MeansOfVoxelsAreExact)
  {
    expect_means(2, {4, 8, 1}, {4, 8, 1});
    expect_means(2, {4, 8, 1}, {2, 4, 1});
    expect_means(2, {4, 8, 1}, {3, 5, 1});
    expect_means(2, {4, 8, 1}, {40, 7, 1});
    expect_means(3, {2, 4, 8}, {3, 4, 5});
    expect_means(3, {2, 4, 8}, {20, 13, 9});
  }

  std::string complaint_about(const Problem &problem, MPI_Comm communicator = MPI_COMM_SELF)
  {
    Grid grid = make_grid(problem, communicator);
    try
    {
      add_cell_coefficients(grid, make_cell_basis(problem.degree));
    }
    catch (const ExpressionError &error)
    {
      return error.what();
    }
    return "";
  }

  TEST(CellCoefficients, VoxelsThatCellsDivideAreConstantInThem)
  {
    Problem problem = box(2, {4, 8, 1});
    problem.coefficient_in_cell = InCell::constant;
    set_voxels(problem, "k", {2, 4, 1}, numbers({2, 4, 1}));
    EXPECT_EQ(complaint_about(problem), "");
    // Finer ones, of one value in each cell.
    std::vector<double> alike(8 * 16);
    for (std::size_t i = 0; i < alike.size(); ++i)
      alike[i] = 1. + double(i % 8 / 2) + double(i / 16);
    set_voxels(problem, "k", {8, 16, 1}, alike);
    EXPECT_EQ(complaint_about(problem), "");
    // One that neither the middle nor the corners of a cell see.
    std::vector<double> fine(16 * 32, 1.);
    fine[16 * 1 + 4 * 1 + 1] = 2.;
    set_voxels(problem, "k", {16, 32, 1}, fine);
    EXPECT_NE(complaint_about(problem).find(
                  "problem.coefficient = 'k' is 1 at (-0.078125, 1.015625) and 2 at "),
        std::string::npos)
        << complaint_about(problem);
  }

  TEST(CellCoefficients, NoMeanHidesAVoxel)
  {
    Problem problem = box(2, {2, 2, 1});
    std::vector<double> k(16, 3.);
    k[9] = -1.;
    set_voxels(problem, "k", {4, 4, 1}, k);
    EXPECT_NE(
        complaint_about(problem).find("is -1, allowed: > 0, at (0.0625, 1.625)"), std::string::npos)
        << complaint_about(problem);
    k[9] = INFINITY;
    set_voxels(problem, "k", {4, 4, 1}, k);
    EXPECT_NE(complaint_about(problem).find("is infinite or not a number at (0.0625, 1.625)"),
        std::string::npos);
    problem.cell_coefficient[0] = "x";
    problem.voxels.clear();
    EXPECT_NE(complaint_about(problem).find("allowed: > 0, in the cell at (-0.125, 1.25)"),
        std::string::npos)
        << complaint_about(problem);
    problem.cell_coefficient[0] = "2*w";
    EXPECT_NE(complaint_about(problem).find("problem.coefficient = '2*w' cannot be parsed"),
        std::string::npos);
  }

  // Also those whose own cells are good, or they would wait for the others.
  TEST(CellCoefficients, AllRanksThrow)
  {
    Problem problem = box(2, {2, 8, 1});
    for (const int bad : {0, 15})
    {
      std::vector<double> k(16, 3.);
      k[static_cast<std::size_t>(bad)] = 0.;
      set_voxels(problem, "k", {2, 8, 1}, k);
      EXPECT_NE(complaint_about(problem, MPI_COMM_WORLD)
                    .find(bad == 0 ? "is 0, allowed: > 0, at (-0.125, 1.0625)"
                                   : "is 0, allowed: > 0, at (0.625, 1.9375)"),
          std::string::npos);
    }
  }

  TEST(CellCoefficients, ReactionOfZeroFixesNothing)
  {
    Problem problem = box(2, {2, 2, 1});
    problem.cell_coefficient[0].clear();
    problem.reaction = "0*x";
    EXPECT_EQ(complaint_about(problem), "");
    problem.boundary.fill(BoundaryKind::neumann);
    EXPECT_NE(complaint_about(problem).find("problem.reaction = '0*x' is zero in all cells"),
        std::string::npos);
    problem.reaction = "if(x<0.25,0,1)";
    EXPECT_EQ(complaint_about(problem), "");
  }

  TEST(CellCoefficients, VoxelsAreChecked)
  {
    Problem problem = box(2, {2, 2, 1});
    EXPECT_THROW(set_voxels(problem, "k", {2, 2, 1}, {1., 2., 3.}), ArgumentError);
    EXPECT_THROW(set_voxels(problem, "k", {2, 0, 1}, {}), ArgumentError);
  }
} // namespace
} // namespace tensormg

// Where voxels divide cells: pieces without overlap, of one voxel each, whatever divides what.
#include "operators/data/voxel_pieces.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  TEST(VoxelPieces, AreOfOneVoxelAndOneCell)
  {
    Problem problem;
    problem.dim = 2;
    problem.lower = {-1., 0., 0.};
    problem.upper = {2., 1., 1.};
    problem.refinements = 0;
    for (const std::int64_t cells : {1, 2, 3, 8, 12})
      for (const std::int64_t voxels : {1, 2, 3, 5, 12, 100})
      {
        SCOPED_TRACE(testing::Message() << cells << " cells, " << voxels << " voxels");
        problem.coarse_cells = {cells, 1, 1};
        const Grid grid = make_grid(problem, MPI_COMM_SELF);
        const VoxelPieces pieces = voxel_pieces(grid.finest(), 0, voxels);
        EXPECT_EQ(std::int64_t(pieces.middle.size()), cells + voxels - std::gcd(cells, voxels));
        ASSERT_EQ(std::int64_t(pieces.first.size()), cells + 1);
        for (std::int64_t c = 0; c < cells; ++c)
        {
          double sum = 0.;
          double begin = -1. + 3. * double(c) / double(cells);
          for (std::size_t i = pieces.first[c]; i < pieces.first[c + 1]; ++i)
          {
            const double width = pieces.part[i] * 3. / double(cells);
            EXPECT_NEAR(pieces.middle[i], begin + 0.5 * width, 1e-14);
            const auto voxel = [&](double x) { return std::floor((x + 1.) / 3. * double(voxels)); };
            EXPECT_EQ(voxel(begin + 1e-9), voxel(begin + width - 1e-9));
            begin += width;
            sum += pieces.part[i];
          }
          EXPECT_NEAR(sum, 1., 1e-14);
        }
      }
  }
} // namespace
} // namespace tensormg

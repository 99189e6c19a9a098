// ranks: 1 2
// The bound holds, and is not far from the eigenvalue.
#include "operators/block_multigrid/block_eigenvalues.h"

#include <tuple>

#include <gtest/gtest.h>

#include "operators/constant/start_vector.h"
#include "operators/curved/pointwise_operator.h"
#include "tests/operators/pointwise/setting.h"

namespace tensormg
{
namespace
{
  /// By the power method, from below.
  double largest_eigenvalue(const BlockLevels &levels)
  {
    const LevelGrid &grid = levels.levels().back().grid;
    const VectorSpace space(grid.block, grid.communicator);
    PointwiseOperator<double> op(levels, levels.levels().size() - 1);
    Vector<double> x = pseudo_random_vector(grid), y = space.make_vector();
    double value = 0.;
    for (int step = 0; step < 500; ++step)
    {
      space.axpby(1. / space.norm(x), x, 0., x);
      op.vmult(y, x);
      value = space.dot(x, y);
      x.swap(y);
    }
    return value;
  }

  // K and sizes of cells vary by about ten each.
  TEST(BlockEigenvalues, BoundIsOneAndNotFarAway)
  {
    const auto k = [](std::int64_t, const std::array<double, 3> &x) {
      const double value = x[0] > 0. ? 10. : 1.;
      return SymmetricTensor{value, value, value, 0., 0., 0.};
    };
    for (const auto &[dim, name, arguments] :
        {std::tuple{2, "eccentric_hyper_shell", "0.3,0 : 0,0 : 0.5 : 1 : 8"},
            {3, "hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true"}})
      for (const int degree : {1, 3})
      {
        SCOPED_TRACE(testing::Message() << name << " degree " << degree);
        const NamedMesh mesh = generate_mesh(dim, name, arguments, 4);
        const BlockLevels levels(mesh.blocks, mesh.geometry, k,
            {.degree = degree,
                .mapping_degree = degree,
                .refinements = dim == 2 ? 3 : 1,
                .communicator = MPI_COMM_WORLD,
                .replicated_dofs = 0});
        PointwiseOperator<double> op(levels, levels.levels().size() - 1);
        const double bound = largest_eigenvalue_bound(levels, op),
                     value = largest_eigenvalue(levels);
        EXPECT_GE(bound, value);
        EXPECT_LE(bound, 4. * value);
      }
  }
} // namespace
} // namespace tensormg

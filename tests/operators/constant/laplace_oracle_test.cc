// The operator against the SIPG matrix that deal.II assembles, entry by entry: 2D and 3D, stretched
// cells, every kind of boundary and mixtures of them.
#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/constant/laplace_operator.h"
#include "tests/support/boxes.h"
#include "tests/support/sanitized.h"
#include "tests/support/sipg_oracle.h"

namespace tensormg
{
namespace
{
  /// Calls f(position in the block, number in the oracle's matrix) for every degree of freedom.
  template <typename Function>
  void for_each_pair(const Problem &problem, const Block &block, Function &&f)
  {
    for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
      for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
        for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
          for (int k = 0; k < block.nz(); ++k)
            for (int j = 0; j < block.n; ++j)
              for (int i = 0; i < block.n; ++i)
                f(block.index(cx, cy, cz, i, j, k),
                    static_cast<unsigned int>(test::sipg_index(problem, {cx, cy, cz}, {i, j, k})));
  }

  /// Largest difference of an entry, relative to the largest entry.
  double matrix_difference(const Problem &problem, laplace::Backend backend,
      const dealii::FullMatrix<double> &expected, const CellBasis &basis)
  {
    const Grid grid = make_grid(problem, MPI_COMM_SELF);
    LaplaceOperator<double> op(grid.finest(), basis, backend);
    Vector<double> unit = op.make_vector(), column = op.make_vector();
    double difference = 0., largest = 0.;
    for_each_pair(problem, unit.block(), [&](std::int64_t at, unsigned int j) {
      unit[at] = 1.;
      op.vmult(column, unit);
      unit[at] = 0.;
      for_each_pair(problem, unit.block(), [&](std::int64_t row, unsigned int i) {
        const double error = std::abs(column[row] - expected(i, j));
        // Written so that NaN counts.
        difference = error <= difference ? difference : error;
        largest = std::max(largest, std::abs(expected(i, j)));
      });
    });
    return difference / largest;
  }

  struct Case
  {
    int dim;
    std::array<std::int64_t, 3> cells;
    const char *boundary;
  };

  const Case cases[] = {
      {2, {1, 1, 1}, "DD"},
      {2, {3, 2, 1}, "DD"},
      {2, {2, 3, 1}, "NN"},
      {2, {2, 4, 1}, "PP"},
      {2, {3, 2, 1}, "PPDN"},
      {2, {1, 3, 1}, "NDPP"},
      {2, {1, 2, 1}, "PPDN"},
      {3, {2, 1, 3}, "DD"},
      {3, {1, 2, 2}, "NN"},
      {3, {2, 2, 2}, "PP"},
      {3, {3, 2, 1}, "PPDNND"},
      {3, {1, 3, 2}, "NDPPDN"},
      {3, {1, 2, 3}, "DNNDPP"},
      {3, {2, 1, 1}, "NDPPPP"},
  };

  class LaplaceOracle : public testing::TestWithParam<int>
  {};

  TEST_P(LaplaceOracle, EveryEntryIsThatOfDealii)
  {
    const int degree = GetParam();
    const CellBasis basis = make_cell_basis(degree);
    for (const Case &c : cases)
    {
      SCOPED_TRACE(testing::Message() << "dim " << c.dim << ", cells " << c.cells[0] << " x "
                                      << c.cells[1] << " x " << c.cells[2]);
      const Problem problem = test::box(c.dim, degree, c.cells, 0, c.boundary);
      const dealii::FullMatrix<double> expected = test::assemble_sipg(problem, basis);
      ASSERT_GT(expected.linfty_norm(), 1.);
      EXPECT_LT(matrix_difference(problem, laplace::Backend::reference, expected, basis), 1e-12);
      EXPECT_LT(matrix_difference(problem, laplace::Backend::cpu, expected, basis), 1e-12);
    }
  }
  // Degree 4 takes four fifths of the time.
  INSTANTIATE_TEST_SUITE_P(Degree, LaplaceOracle, testing::Range(1, test::is_sanitized ? 4 : 5),
      [](const auto &info) { return std::to_string(info.param); });

  /// A cell that is its own neighbour: three periods of it are the same problem.
  TEST(LaplaceOperator, OnePeriodicCellIsThreeRepeated)
  {
    for (int dim = 2; dim <= 3; ++dim)
      for (int direction = 0; direction < dim; ++direction)
      {
        std::string boundary = "DDNDNN";
        boundary[2 * direction] = boundary[2 * direction + 1] = 'P';
        std::array<std::int64_t, 3> cells{2, 3, dim == 3 ? 2 : 1};
        cells[direction] = 1;
        Problem one = test::box(dim, 2, cells, 0, boundary), three = one;
        three.coarse_cells[direction] = 3;
        three.upper[direction] += 2. * (one.upper[direction] - one.lower[direction]);
        const CellBasis basis = make_cell_basis(2);
        const Grid grid_one = make_grid(one, MPI_COMM_SELF),
                   grid_three = make_grid(three, MPI_COMM_SELF);
        for (const laplace::Backend backend : {laplace::Backend::reference, laplace::Backend::cpu})
        {
          LaplaceOperator<double> op_one(grid_one.finest(), basis, backend);
          LaplaceOperator<double> op_three(grid_three.finest(), basis, backend);
          const auto u = test::random_vector<double>(grid_one.finest().block, 7);
          Vector<double> repeated = op_three.make_vector(), found = op_one.make_vector(),
                         expected = op_three.make_vector();
          const Block &large = repeated.block();
          const auto for_each_copy = [&](auto &&f) {
            for (std::int64_t z = 0; z < large.cells[2]; ++z)
              for (std::int64_t y = 0; y < large.cells[1]; ++y)
                for (std::int64_t x = 0; x < large.cells[0]; ++x)
                  for (int k = 0; k < large.nz(); ++k)
                    for (int j = 0; j < large.n; ++j)
                      for (int i = 0; i < large.n; ++i)
                      {
                        std::array<std::int64_t, 3> cell{x, y, z};
                        cell[direction] = 0;
                        f(large.index(x, y, z, i, j, k),
                            u.block().index(cell[0], cell[1], cell[2], i, j, k));
                      }
          };
          for_each_copy([&](std::int64_t to, std::int64_t from) { repeated[to] = u[from]; });
          op_one.vmult(found, u);
          op_three.vmult(expected, repeated);
          for_each_copy([&](std::int64_t many, std::int64_t single) {
            ASSERT_NEAR(found[single], expected[many], 1e-11)
                << "dim " << dim << ", direction " << direction;
          });
        }
      }
  }
} // namespace
} // namespace tensormg

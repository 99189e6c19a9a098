// Transfer between levels that may be distributed: embedding and L2 projection, adjoint to each
// other.
// ranks: 1 2 3 4
#include "operators/constant/transfer_operator.h"

#include <cmath>
#include <type_traits>
#include <vector>

#include <deal.II/base/quadrature_lib.h>
#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/vectors/vector_space.h"
#include "tests/support/boxes.h"

namespace tensormg
{
namespace
{
  using laplace::Backend;

  // On several ranks the first two have distributed levels above distributed and above replicated
  // ones, the others a distributed finest level at most.
  const Problem problems[] = {test::box(3, 3, {3, 1, 1}, 4, "DNPPDD"),
      test::box(2, 4, {3, 1, 1}, 5, "DDPP"), test::box(3, 1, {1, 3, 2}, 3, "PP"),
      test::box(2, 8, {5, 1, 1}, 1, "NN"), test::box(3, 2, {2, 1, 1}, 2, "DD"),
      test::box(2, 1, {39, 1, 1}, 3, "DDPP")};

  /// A polynomial of the degree of the space in each direction.
  double polynomial(int degree, double x, double y, double z)
  {
    return std::pow(x - 0.3, degree) * (1. + y) + std::pow(y, degree) - 0.5 * z * x +
        std::pow(0.5 * z, degree);
  }

  /// The coefficients of the polynomial on this rank's cells, by quadrature.
  template <typename Number>
  Vector<Number> coefficients(const LevelGrid &level, const CellBasis &basis)
  {
    const Block &b = level.block;
    const dealii::QGauss<1> gauss(b.n + 1);
    const std::size_t points = gauss.size(), points_z = b.dim == 3 ? points : 1;
    std::vector<double> abscissae;
    for (const dealii::Point<1> &point : gauss.get_points())
      abscissae.push_back(point[0]);
    const std::vector<double> phi = mode_value_matrix(basis, abscissae);
    Vector<Number> u(b);
    for (std::int64_t cz = 0; cz < b.cells[2]; ++cz)
      for (std::int64_t cy = 0; cy < b.cells[1]; ++cy)
        for (std::int64_t cx = 0; cx < b.cells[0]; ++cx)
        {
          const std::array<std::int64_t, 3> cell{cx, cy, cz};
          const auto at = [&](int d, std::size_t q) {
            return level.axis[d].coordinate(level.offset[d] + cell[d], abscissae[q]);
          };
          std::vector<double> sum(b.dofs_per_cell(), 0.);
          for (std::size_t qz = 0; qz < points_z; ++qz)
            for (std::size_t qy = 0; qy < points; ++qy)
              for (std::size_t qx = 0; qx < points; ++qx)
              {
                double value = gauss.weight(qx) * gauss.weight(qy) *
                    polynomial(b.degree(), at(0, qx), at(1, qy), b.dim == 3 ? at(2, qz) : 0.);
                if (b.dim == 3)
                  value *= gauss.weight(qz);
                std::size_t mode = 0;
                for (int k = 0; k < b.nz(); ++k)
                  for (int j = 0; j < b.n; ++j)
                    for (int i = 0; i < b.n; ++i)
                      sum[mode++] += value * phi[qx * b.n + i] * phi[qy * b.n + j] *
                          (b.dim == 3 ? phi[qz * b.n + k] : 1.);
              }
          std::size_t mode = 0;
          for (int k = 0; k < b.nz(); ++k)
            for (int j = 0; j < b.n; ++j)
              for (int i = 0; i < b.n; ++i)
                u[b.index(cx, cy, cz, i, j, k)] = test::from_double<Number>(sum[mode++]);
        }
    return u;
  }

  /// Calls f(transfer, fine level, coarse level, basis) for all pairs of levels of all problems.
  template <typename Number, typename Function>
  void for_each_transfer(Backend backend, Function &&f)
  {
    for (const Problem &problem : problems)
    {
      const Grid grid = make_grid(problem, MPI_COMM_WORLD);
      const CellBasis basis = make_cell_basis(problem.degree);
      for (std::size_t l = grid.levels.size() - 1; l > 0; --l)
      {
        SCOPED_TRACE(testing::Message()
            << "dim " << problem.dim << ", degree " << problem.degree << ", level " << l);
        const LevelGrid &fine = grid.levels[l], &coarse = grid.levels[l - 1];
        TransferOperator<Number> transfer(fine, coarse, basis, backend);
        f(transfer, fine, coarse, basis);
      }
    }
  }

  template <typename Number>
  class TransferOperatorTest : public testing::Test
  {};
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(TransferOperatorTest, Numbers);

  TYPED_TEST(TransferOperatorTest, PolynomialsStayWhatTheyAre)
  {
    const double tolerance = std::is_same_v<TypeParam, double> ? 1e-12
        : std::is_same_v<TypeParam, float>                     ? 2e-6
                                                               : 4e-3;
    for_each_transfer<TypeParam>(Backend::cpu,
        [&](auto &transfer, const LevelGrid &fine, const LevelGrid &coarse,
            const CellBasis &basis) {
          const auto on_coarse = coefficients<TypeParam>(coarse, basis);
          const auto on_fine = coefficients<TypeParam>(fine, basis);
          Vector<TypeParam> u(fine.block), v(coarse.block);
          test::poison(u);
          test::poison(v);
          transfer.prolongate(u, on_coarse, 1., false);
          EXPECT_LT(test::relative_difference(u, on_fine), tolerance);
          transfer.prolongate(u, on_coarse, -0.5, true);
          transfer.prolongate(u, on_coarse, 0.5, true);
          EXPECT_LT(test::relative_difference(u, on_fine), 2. * tolerance);
          transfer.restrict_to(v, on_fine, 1.);
          EXPECT_LT(test::relative_difference(v, on_coarse), tolerance);
          EXPECT_TRUE(test::padding_is_zero(u) && test::padding_is_zero(v));
        });
  }

  TEST(TransferOperator, RestrictionIsTheScaledAdjoint)
  {
    for (const Backend backend : {Backend::reference, Backend::cpu})
      for_each_transfer<double>(backend,
          [&](auto &transfer, const LevelGrid &fine, const LevelGrid &coarse, const CellBasis &) {
            if (backend == Backend::reference && fine.global_dofs() > 100000)
              return; // the plain loops take their time
            const auto u = test::hashed_vector<double>(coarse, 1);
            const auto w = test::hashed_vector<double>(fine, 2);
            Vector<double> pu(fine.block), rw(coarse.block);
            transfer.prolongate(pu, u, 2., false);
            transfer.restrict_to(rw, w, 2.);
            const VectorSpace on_fine(fine.block, fine.communicator),
                on_coarse(coarse.block, coarse.communicator);
            const double scale = on_fine.norm(pu) * on_fine.norm(w);
            double children = 1.;
            for (int d = 0; d < fine.block.dim; ++d)
              children *= fine.global_cells[d] / coarse.global_cells[d];
            EXPECT_NEAR(on_fine.dot(pu, w), children * on_coarse.dot(u, rw), 1e-13 * scale);
            // The L2 projection leaves the coarse space alone.
            transfer.restrict_to(rw, pu, 0.5);
            EXPECT_LT(test::relative_difference(rw, u), 1e-12);
          });
  }
} // namespace
} // namespace tensormg

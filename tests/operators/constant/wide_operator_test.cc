// The operator for vectors stored in FP32 with arithmetic in FP64, on any number of ranks: every entry is the FP64
// result rounded once.
// ranks: 1 3
#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/constant/laplace_operator.h"
#include "tests/support/boxes.h"
#include "tests/support/wide_laplace.h"

namespace tensormg
{
namespace
{
  using laplace::Backend;

  // Only the product exists: everything else would need vectors and forms that there are not.
  template <typename Operator>
  concept HasResidual = requires(Operator op, typename Operator::VectorType v)
  {
    op.residual(v, v, v);
  };
  static_assert(HasResidual<LaplaceOperator<float>> && !HasResidual<LaplaceOperator<WideFloat>>);

  TEST(WideOperator, ProductIsRoundedOnce)
  {
    for (const char *boundary : {"DDDDDD", "NNPPDN", "PPPPPP"})
      for (const int dim : {2, 3})
        for (const Backend backend : {Backend::reference, Backend::cpu})
        {
          SCOPED_TRACE(testing::Message()
              << "dim " << dim << ' ' << boundary << ' ' << laplace::to_string(backend));
          const Problem problem = test::box(dim, 3, {5, 4, 7}, 0, boundary);
          const Grid grid = make_grid(problem, MPI_COMM_WORLD);
          const LevelGrid &level = grid.finest();
          const CellBasis basis = make_cell_basis(problem.degree);
          const auto z = test::hashed_vector<WideFloat>(level, 1);
          Vector<double> u(level.block), exact(level.block);
          for (std::int64_t at = 0; at < z.size(); ++at)
            u[at] = z[at].value;
          LaplaceOperator<double>(level, basis, backend).vmult(exact, u);
          LaplaceOperator<WideFloat> op(level, basis, backend);
          Vector<WideFloat> found = op.make_vector();
          test::poison(found);
          op.vmult(found, z);
          EXPECT_EQ(test::not_rounded_once(found, exact), 0);
          EXPECT_TRUE(test::padding_is_zero(found));
        }
  }
} // namespace
} // namespace tensormg

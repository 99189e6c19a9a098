// The operator in device memory for vectors stored in FP32 with arithmetic in FP64: every entry is the FP64 result of
// the host rounded once, also across periodic sides.
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

  template <typename Operator>
  concept HasResidual = requires(Operator op, typename Operator::VectorType v)
  {
    op.residual(v, v, v);
  };
  static_assert(HasResidual<LaplaceOperator<float, DeviceContext>> &&
      !HasResidual<LaplaceOperator<WideFloat, DeviceContext>>);

  TEST(WideDeviceOperator, ProductIsRoundedOnce)
  {
    if (device_count() == 0)
      GTEST_SKIP() << why_no_device();
    const OwnedStream stream;
    for (const char *boundary : {"DDDDDD", "NNPPDN", "PPPPPP"})
      for (const int dim : {2, 3})
        for (const int degree : {1, 3, 4})
        {
          SCOPED_TRACE(testing::Message() << "dim " << dim << " degree " << degree << boundary);
          const Problem problem = test::box(dim, degree, {5, 4, 3}, 0, boundary);
          const Grid grid = make_grid(problem, MPI_COMM_SELF);
          const LevelGrid &level = grid.finest();
          const CellBasis basis = make_cell_basis(degree);
          const auto z = test::hashed_vector<WideFloat>(level, 1);
          Vector<double> u(level.block), exact(level.block);
          for (std::int64_t at = 0; at < z.size(); ++at)
            u[at] = z[at].value;
          LaplaceOperator<double>(level, basis, Backend::cpu).vmult(exact, u);
          LaplaceOperator<WideFloat, DeviceContext> op(
              level, basis, Backend::automatic, stream.get());
          DeviceVector<WideFloat> dz = op.make_vector(), dw = op.make_vector();
          copy_to_device(z, dz, stream.get());
          op.vmult(dw, dz);
          Vector<WideFloat> found(level.block);
          copy_to_host(dw, found, stream.get());
          EXPECT_EQ(test::not_rounded_once(found, exact), 0);
          EXPECT_TRUE(test::padding_is_zero(found));
        }
    const Grid grid = make_grid(test::box(3, 2, {3, 2, 2}, 0, "D"), MPI_COMM_SELF);
    const CellBasis basis = make_cell_basis(2);
    EXPECT_THROW((LaplaceOperator<WideFloat, DeviceContext>(
                     grid.finest(), basis, Backend::device_reference, stream.get())),
        std::invalid_argument);
  }
} // namespace
} // namespace tensormg
